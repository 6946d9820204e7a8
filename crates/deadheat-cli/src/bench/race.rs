//! The race: programs in, answer out; of workers, or of Google Benchmark executables.

use std::path::PathBuf;

use deadheat::answer::to_stdout;
use deadheat::exit::{Failure, Status};
use deadheat::model::{LeftOut, Program};
use deadheat::pairing::{self, NamedTarget, Pairing, pair_names};
use deadheat::settings::{Ignored, Selection};
use deadheat::{
    Entries, GoogleBenchmarkRace, GoogleEntry, GoogleSide, families, families_between,
    race_google_benchmark, race_workers,
};

use super::options::BenchOptions;
use super::programs::{
    Entrants, Field, Launched, Target, inspect, listing, nothing_in_common, nothing_selected,
};
use crate::progress::LiveProgress;
use crate::races::{again, tell};

/// Races two builds, and answers.
pub fn race(entrants: &Entrants, options: &BenchOptions) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let sides = &entrants.names;
    match inspect(&entrants.targets, options)? {
        Field::Workers(targets) => {
            let pair = |selection: &Selection| pairing::pair(&targets, sides, selection);
            workers(pair, Some(sides), options)
        }
        Field::GoogleBenchmark(targets) => google_pairs(&targets, sides, options),
    }
}

/// Races the contenders of one program against each other.
pub fn race_alone(program: Program, options: &BenchOptions) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let target = Target {
        baseline: Some(program),
        ..Target::default()
    };
    match inspect(&[target], options)? {
        Field::Workers(targets) => {
            let pair = |selection: &Selection| pairing::race_alone(&targets, selection);
            workers(pair, None, options)
        }
        Field::GoogleBenchmark(targets) => match &targets[..] {
            [target, ..] => google_alone(target, options),
            [] => Err(Failure::Internal("nobody was asked".to_owned())),
        },
    }
}

/// Races a family of one program against a family of another.
pub fn race_families(
    entrants: &Entrants,
    filters: &[String; 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    options.exports.check(None)?;
    match inspect(&entrants.targets, options)? {
        Field::GoogleBenchmark(targets) => match &targets[..] {
            [target, ..] => google_families(target, filters, &entrants.names, options),
            [] => Err(Failure::Internal("nobody was asked".to_owned())),
        },
        Field::Workers(_) => Err(Failure::Usage(
            "families are chosen by filters in Google Benchmark executables only; workers have \
             contenders for that"
                .to_owned(),
        )),
    }
}

fn workers(
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
    if options.list {
        let names = pairing.benchmarks.iter().map(|one| one.name.as_str());
        to_stdout(&listing(names, &pairing.left_out))?;
        return Ok(Status::Done);
    }
    let mut progress = LiveProgress::new(&pairing.benchmarks, options.quiet);
    let entries = Entries {
        benchmarks: pairing.benchmarks,
        metrics: pairing.metrics,
        left_out: pairing.left_out,
        rules: options.rules.some(),
    };
    let outcome = race_workers(&options.worker_race(), entries, &mut progress)
        .map_err(|error| options.rules.blame(error))?;
    progress.finish();
    tell(&outcome, &options.answer, &options.exports)
}

/// What is raced, and what is not.
struct GoogleField {
    sides: Vec<GoogleSide>,
    entries: Vec<GoogleEntry>,
    left_out: Vec<LeftOut>,
}

/// Races two builds, which are called by `names`.
fn google_pairs(
    targets: &[Launched],
    names: &[String; 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let everything = Selection {
        ignored: Ignored::In,
        ..Selection::default()
    };
    let all = pairs_of(targets, names, &everything);
    if all.entries.is_empty() {
        return Err(nothing_in_common(&all.left_out, names));
    }
    let field = pairs_of(targets, names, &options.selection());
    if field.entries.is_empty() {
        let held = all.entries.iter().map(|entry| entry.name.as_str());
        return Ok(nothing_selected(held, &all.left_out));
    }
    race_google(field, options)
}

fn pairs_of(targets: &[Launched], names: &[String; 2], selection: &Selection) -> GoogleField {
    let named: Vec<NamedTarget> = targets
        .iter()
        .map(|target| NamedTarget {
            name: target.name.clone(),
            sides: [0, 1].map(|side| target.sides[side].as_ref().map(|(_, held)| held.clone())),
        })
        .collect();
    let (pairs, left_out) = pair_names(&named, names, selection);
    let mut sides = Vec::new();
    let mut entries = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let [Some((old, _)), Some((new, _))] = &target.sides else {
            continue;
        };
        let first = sides.len();
        for (name, program) in names.iter().zip([old, new]) {
            sides.push(GoogleSide {
                name: name.clone(),
                program: program.clone(),
            });
        }
        let of_target = pairs.iter().filter(|pair| pair.target == place);
        entries.extend(of_target.map(|pair| GoogleEntry {
            name: pair.shown.clone(),
            in_sides: vec![pair.benchmark.clone(); 2],
            sides: vec![first, first + 1],
        }));
    }
    GoogleField {
        sides,
        entries,
        left_out,
    }
}

/// Races two families of one program, which two filters name; with any other
/// number of filters every benchmark is measured for itself.
fn google_alone(target: &Launched, options: &BenchOptions) -> Result<Status, Failure> {
    let Some((program, held)) = target.sides.iter().flatten().next() else {
        return Err(Failure::Internal("nobody was asked".to_owned()));
    };
    let side = |name: &str| GoogleSide {
        name: name.to_owned(),
        program: program.clone(),
    };
    let mut selection = options.selection();
    let field = match (&options.filters[..], selection.exact) {
        ([baseline, candidate], false) => {
            selection.filters.clear();
            let mut held = held.clone();
            held.retain(|name| selection.names(name));
            let found = families(&held, baseline, candidate)
                .map_err(|problem| Failure::Usage(problem.to_string()))?;
            if found.pairs.is_empty() {
                let names = [baseline.clone(), candidate.clone()];
                return Err(nothing_in_common(&found.left_out, &names));
            }
            let entry = |(name, in_sides): (String, [String; 2])| GoogleEntry {
                name,
                in_sides: in_sides.to_vec(),
                sides: vec![0, 1],
            };
            GoogleField {
                sides: vec![side(baseline), side(candidate)],
                entries: found.pairs.into_iter().map(entry).collect(),
                left_out: found.left_out,
            }
        }
        _ => {
            let selected = held.iter().filter(|name| selection.names(name));
            let entry = |name: &String| GoogleEntry {
                name: name.clone(),
                in_sides: vec![name.clone()],
                sides: vec![0],
            };
            let file = program.executable.file_name().unwrap_or_default();
            GoogleField {
                sides: vec![side(&file.to_string_lossy())],
                entries: selected.map(entry).collect(),
                left_out: Vec::new(),
            }
        }
    };
    if field.entries.is_empty() {
        return Ok(nothing_selected(held.iter().map(String::as_str), &[]));
    }
    race_google(field, options)
}

/// Races a family of one program against a family of another: each of the
/// filters chooses among the benchmarks of its side.
fn google_families(
    target: &Launched,
    filters: &[String; 2],
    names: &[String; 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let [Some((old, held_by_old)), Some((new, held_by_new))] = &target.sides else {
        return Err(Failure::Internal("a side was not asked".to_owned()));
    };
    let [baseline, candidate] = filters;
    let found = families_between([held_by_old, held_by_new], baseline, candidate)
        .map_err(|problem| Failure::Usage(problem.to_string()))?;
    if found.pairs.is_empty() {
        return Err(nothing_in_common(&found.left_out, filters));
    }
    let side = |name: &String, program: &Program| GoogleSide {
        name: name.clone(),
        program: program.clone(),
    };
    let entry = |(name, in_sides): (String, [String; 2])| GoogleEntry {
        name,
        in_sides: in_sides.to_vec(),
        sides: vec![0, 1],
    };
    let field = GoogleField {
        sides: vec![side(&names[0], old), side(&names[1], new)],
        entries: found.pairs.into_iter().map(entry).collect(),
        left_out: found.left_out,
    };
    race_google(field, options)
}

fn race_google(field: GoogleField, options: &BenchOptions) -> Result<Status, Failure> {
    if options.list {
        let names = field.entries.iter().map(|entry| entry.name.as_str());
        to_stdout(&listing(names, &field.left_out))?;
        return Ok(Status::Done);
    }
    if options.design.0.sample_time.is_some() {
        return Err(Failure::Usage(
            "--sample-time: how long a sample of a Google Benchmark executable is, \
             --benchmark_min_time says"
                .to_owned(),
        ));
    }
    let settings = options.settings();
    let race = GoogleBenchmarkRace {
        command: again(settings.seed()),
        sides: field.sides,
        benchmarks: field.entries,
        left_out: field.left_out,
        settings,
        save: options.save.clone(),
        folder: PathBuf::new(),
        placements: options.placements(),
        shown: options.nocapture,
        rules: options.rules.some(),
    };
    // Nobody has more than one candidate, so none needs to be named.
    let mut progress = LiveProgress::new(&[], options.quiet);
    let outcome =
        race_google_benchmark(&race, &mut progress).map_err(|error| options.rules.blame(error))?;
    progress.finish();
    tell(&outcome, &options.answer, &options.exports)
}
