//! The race: programs in, answer out; of workers, or of executables of harnesses.

use deadheat::parts::answer::to_stdout;
use deadheat::parts::engine::HarnessListing;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::Program;
use deadheat::parts::pairing::{
    self, Families, Listed, Pairing, Target, families, families_between, pair_names,
};
use deadheat::parts::settings::{Ignored, Selection};
use deadheat::parts::{
    BenchmarkRace, Entries, LiveProgress, PlanUse, RaceOutcome, harness_benchmark, race_benchmarks,
};

use super::options::BenchOptions;
use super::programs::{Entrants, Field, inspect, listing, nothing_in_common, nothing_selected};
use crate::history_index::keep_in_history;
use crate::plan::tell_of_plan;
use crate::races::{race_and_tell, tell_of_one};

/// Races two builds, and answers.
pub fn race(entrants: &Entrants, options: &BenchOptions) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let sides = &entrants.names;
    let field = inspect(&entrants.targets, options)?;
    if matches!(field, Field::Harness(_)) {
        refuse_sample_time(options)?;
    }
    let pair = |selection: &Selection| pair_builds(&field, sides, selection);
    race_selected(pair, Some(sides), options)
}

/// Races what the options select of two builds, one race of many: nothing is answered here.
pub fn race_silently(entrants: &Entrants, options: &BenchOptions) -> Result<RaceOutcome, Failure> {
    let field = inspect(&entrants.targets, options)?;
    if matches!(field, Field::Harness(_)) {
        refuse_sample_time(options)?;
    }
    let pairing = pair_builds(&field, &entrants.names, &options.selection());
    if pairing.benchmarks.is_empty() {
        return Err(nothing_in_common(&pairing.left_out, &entrants.names));
    }
    race_entries(&options.race(), entries(pairing, options), options)
}

/// The benchmarks that two builds have in common and that are selected.
fn pair_builds(field: &Field, sides: &[String; 2], selection: &Selection) -> Pairing {
    match field {
        Field::Workers(targets) => pairing::pair(targets, sides, selection),
        Field::Harness(targets) => pair_names(targets, sides, selection),
    }
}

/// Races the contenders of one program against each other.
pub fn race_alone(program: Program, options: &BenchOptions) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let target = Target {
        name: None,
        sides: [Some(program), None],
    };
    match inspect(&[target], options)? {
        Field::Workers(targets) => {
            let pair = |selection: &Selection| pairing::race_alone(&targets, selection);
            race_selected(pair, None, options)
        }
        Field::Harness(targets) => {
            let mut sides = targets
                .iter()
                .flat_map(|target| target.sides.iter().flatten());
            match sides.next() {
                Some(listed) => harness_alone(listed, options),
                None => Err(Failure::Internal("nobody was asked".to_owned())),
            }
        }
    }
}

/// Races a family of one program against a family of another: each of the
/// filters chooses among the benchmarks of its side.
pub fn race_families(
    entrants: &Entrants,
    filters: &[String; 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let Field::Harness(targets) = inspect(&entrants.targets, options)? else {
        return Err(Failure::Usage(
            "families are chosen by filters in executables of harnesses only; workers have \
             contenders for that"
                .to_owned(),
        ));
    };
    refuse_sample_time(options)?;
    let Some([Some(old), Some(new)]) = targets.first().map(|target| &target.sides) else {
        return Err(Failure::Internal("a side was not asked".to_owned()));
    };
    let [baseline, candidate] = filters;
    let found = families_between(
        [&old.listing.names, &new.listing.names],
        baseline,
        candidate,
    )?;
    let names = &entrants.names;
    let sides = [(&names[0], old), (&names[1], new)];
    race_found(found, filters, sides, options)
}

/// Races what the options select of all that `pair` finds.
fn race_selected(
    pair: impl Fn(&Selection) -> Pairing,
    sides: Option<&[String; 2]>,
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let all = pair(&Selection {
        ignored: Ignored::In,
        ..Selection::default()
    });
    if all.benchmarks.is_empty() {
        return Err(match sides {
            Some(sides) => nothing_in_common(&all.left_out, sides),
            None => Failure::Usage("the program holds no benchmark".to_owned()),
        });
    }
    let pairing = pair(&options.selection());
    if pairing.benchmarks.is_empty() {
        let names = all.benchmarks.iter().map(|one| one.name.as_str());
        return Ok(nothing_selected(names, &all.left_out));
    }
    race_pairing(pairing, options)
}

/// Races these benchmarks, or lists them, and answers.
fn race_pairing(pairing: Pairing, options: &BenchOptions) -> Result<Status, Failure> {
    if options.list {
        let names = pairing.benchmarks.iter().map(|one| one.name.as_str());
        to_stdout(&listing(names, &pairing.left_out))?;
        return Ok(Status::Done);
    }
    let entries = entries(pairing, options);
    let first = options.race();
    let (save, quiet) = (options.save.as_deref(), options.quiet);
    let answered = (&options.answer, &options.exports);
    if options.use_of_plan == PlanUse::Save {
        return tell_of_plan(&race_entries(&first, entries, options)?);
    }
    if let Some(outcome) = options.begun_part(&first)? {
        return tell_of_one(outcome, &options.answer, &options.exports);
    }
    let mut recorded = Vec::new();
    let status = race_and_tell(&first.settings, save, quiet, answered, |second| {
        let (race, entries) = match second {
            None => (first.clone(), entries.clone()),
            Some(second) => second.of_benchmarks(&first, entries.clone()),
        };
        let outcome = race_entries(&race, entries, options)?;
        recorded.push(outcome.path.clone());
        Ok(outcome)
    })?;
    if options.history {
        keep_in_history(&recorded, quiet)?;
    }
    Ok(status)
}

fn entries(pairing: Pairing, options: &BenchOptions) -> Entries {
    Entries {
        benchmarks: pairing.benchmarks,
        metrics: pairing.metrics,
        left_out: pairing.left_out,
        rules: options.rules.some(),
    }
}

/// Races, and shows how far it is.
fn race_entries(
    race: &BenchmarkRace,
    entries: Entries,
    options: &BenchOptions,
) -> Result<RaceOutcome, Failure> {
    let mut progress = LiveProgress::new(&entries.benchmarks, options.quiet);
    let outcome = race_benchmarks(race, entries, &mut progress)
        .map_err(|error| error.into_failure(&options.rules))?;
    progress.finish();
    Ok(outcome)
}

/// Races two families of one program, which two filters name; with any other
/// number of filters every benchmark is measured for itself.
fn harness_alone(
    listed: &Listed<HarnessListing>,
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let Listed { program, listing } = listed;
    let names = &listing.names;
    refuse_sample_time(options)?;
    let mut selection = options.selection();
    if let ([baseline, candidate], false) = (&options.filters[..], selection.exact) {
        selection.filters.clear();
        let mut held = names.clone();
        held.retain(|name| selection.names(name));
        let found = families(&held, baseline, candidate)?;
        let sides = [(baseline, listed), (candidate, listed)];
        let filters = [baseline, candidate].map(Clone::clone);
        return race_found(found, &filters, sides, options);
    }
    let file = program.executable.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let selected = names.iter().filter(|name| selection.names(name));
    let benchmarks = selected.map(|name| {
        let side = (&*file, program, listing.known_as(name));
        harness_benchmark(name, listing.harness, [side])
    });
    let pairing = Pairing {
        benchmarks: benchmarks.collect(),
        ..Pairing::default()
    };
    if pairing.benchmarks.is_empty() {
        return Ok(nothing_selected(names.iter().map(String::as_str), &[]));
    }
    race_pairing(pairing, options)
}

/// Races the families that two filters found, with a name and a program for either.
fn race_found(
    found: Families,
    filters: &[String; 2],
    sides: [(&String, &Listed<HarnessListing>); 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    if found.pairs.is_empty() {
        return Err(nothing_in_common(&found.left_out, filters));
    }
    let harness = sides[0].1.listing.harness;
    let benchmark = |(shown, in_sides): &(String, [String; 2])| {
        let sides = sides.iter().zip(in_sides);
        let sides = sides.map(|((name, listed), known)| {
            let known = listed.listing.known_as(known);
            (name.as_str(), &listed.program, known)
        });
        harness_benchmark(shown, harness, sides)
    };
    let pairing = Pairing {
        benchmarks: found.pairs.iter().map(benchmark).collect(),
        left_out: found.left_out,
        metrics: Vec::new(),
    };
    race_pairing(pairing, options)
}

fn refuse_sample_time(options: &BenchOptions) -> Result<(), Failure> {
    if options.design.0.sample_time.is_none() || options.list {
        return Ok(());
    }
    Err(Failure::Usage(
        "--sample-time: how long a sample of an executable of a harness is, an option of that \
         harness says, such as --benchmark_min_time (docs/suites.md)"
            .to_owned(),
    ))
}
