//! Programs on both sides: they race, instead of one running after the other.

use deadheat::exit::{Failure, Status};
use deadheat::pairing::side_names;

use super::sides::ProgramSide;
use crate::bench::{BenchOptions, Entrants, Target, race as race_two, race_alone, race_families};

/// Races two programs, or two families of their benchmarks, as `deadheat
/// bench` does.
pub fn race(
    programs: &[ProgramSide; 2],
    names: &[String],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let [old, new] = programs;
    let filters = old.filter.clone().zip(new.filter.clone());
    if let (Some((ours, theirs)), true) = (&filters, old.named == new.named) {
        let mut options = options.clone();
        options.filters = vec![ours.clone(), theirs.clone()];
        return race_alone(old.program.clone(), &options);
    }
    let names = match names {
        [] => side_names([&old.named, &new.named]),
        [old, new] if old != new => [old.clone(), new.clone()],
        names => {
            return Err(Failure::Usage(format!(
                "--name was given {} times for 2 programs; give it twice, with names that differ",
                names.len()
            )));
        }
    };
    let entrants = Entrants {
        targets: vec![Target {
            name: None,
            baseline: Some(old.program.clone()),
            candidate: Some(new.program.clone()),
        }],
        names,
    };
    match filters {
        Some((ours, theirs)) => race_families(&entrants, &[ours, theirs], options),
        None => race_two(&entrants, options),
    }
}
