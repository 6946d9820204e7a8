//! Races of two programs that the user gave `deadheat compare` in place of results.

use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::pairing::{Target, side_names};
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::build_race::{BuildPrograms, race as race_two, race_alone, race_families};

use super::sides::{ProgramSide, times};

/// Races two programs, or two families of their benchmarks, as `deadheat bench` does.
pub fn race_programs(
    programs: &[ProgramSide; 2],
    names: &[String],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let [old, new] = programs;
    let filters = old.filter.clone().zip(new.filter.clone());
    if let (Some((ours, theirs)), true) = (&filters, old.named == new.named) {
        let mut options = options.clone();
        options.filters = vec![ours.clone(), theirs.clone()];
        return race_alone(old.program.clone(), &options).map(|done| done.status);
    }
    let names = match names {
        [] => side_names([&old.named, &new.named]),
        [old, new] if old != new => [old.clone(), new.clone()],
        names => {
            return Err(Failure::Usage(format!(
                "--name was given {} for 2 programs\nhelp: give it twice, with names that differ",
                times(names.len())
            )));
        }
    };
    let entrants = BuildPrograms {
        targets: vec![Target {
            name: None,
            sides: [Some(old.program.clone()), Some(new.program.clone())],
        }],
        names,
    };
    let done = match filters {
        Some((ours, theirs)) => race_families(&entrants, &[ours, theirs], options),
        None => race_two(&entrants, options),
    };
    done.map(|done| done.status)
}
