//! Races of Google Benchmark executables.

use deadheat::exit::{Failure, Status};
use deadheat::google_benchmark;
use deadheat::model::Program;
use deadheat::pairing::{
    Families, FamilyProblem, NamedTarget, Pairing, families, families_between, pair_names,
};
use deadheat::settings::Selection;

use super::entries::{nothing_in_common, nothing_selected};
use super::inspection::Launched;
use super::options::BenchOptions;
use super::race::{race_pairing, race_selected};

/// Races two builds, which are called by `names`.
pub fn pairs(
    targets: &[Launched],
    names: &[String; 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    refuse_sample_time(options)?;
    race_selected(
        |selection| pairs_of(targets, names, selection),
        Some(names),
        options,
    )
}

fn pairs_of(targets: &[Launched], names: &[String; 2], selection: &Selection) -> Pairing {
    let named: Vec<NamedTarget> = targets
        .iter()
        .map(|target| NamedTarget {
            name: target.name.clone(),
            sides: [0, 1].map(|side| target.sides[side].as_ref().map(|(_, held)| held.clone())),
        })
        .collect();
    let (pairs, left_out) = pair_names(&named, names, selection);
    let mut benchmarks = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let [Some((old, _)), Some((new, _))] = &target.sides else {
            continue;
        };
        for pair in pairs.iter().filter(|pair| pair.target == place) {
            let sides = names.iter().zip([old, new]);
            let sides = sides.map(|(name, program)| (name.as_str(), program, &*pair.benchmark));
            benchmarks.push(google_benchmark(&pair.shown, sides));
        }
    }
    Pairing {
        benchmarks,
        left_out,
        metrics: Vec::new(),
    }
}

/// Races two families of one program, which two filters name; with any other
/// number of filters every benchmark is measured for itself.
pub fn alone(target: &Launched, options: &BenchOptions) -> Result<Status, Failure> {
    refuse_sample_time(options)?;
    let Some((program, held)) = target.sides.iter().flatten().next() else {
        return Err(Failure::Internal("nobody was asked".to_owned()));
    };
    let mut selection = options.selection();
    if let ([baseline, candidate], false) = (&options.filters[..], selection.exact) {
        selection.filters.clear();
        let mut held = held.clone();
        held.retain(|name| selection.names(name));
        let found = families(&held, baseline, candidate);
        let sides = [(baseline, program), (candidate, program)];
        return race_found(
            found,
            [baseline, candidate].map(Clone::clone),
            sides,
            options,
        );
    }
    let file = program.executable.file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let selected = held.iter().filter(|name| selection.names(name));
    let benchmarks = selected.map(|name| google_benchmark(name, [(&*file, program, &**name)]));
    let pairing = Pairing {
        benchmarks: benchmarks.collect(),
        ..Pairing::default()
    };
    if pairing.benchmarks.is_empty() {
        return Ok(nothing_selected(held.iter().map(String::as_str), &[]));
    }
    race_pairing(pairing, options)
}

/// Races a family of one program against a family of another: each of the
/// filters chooses among the benchmarks of its side.
pub fn filtered(
    target: &Launched,
    filters: &[String; 2],
    names: &[String; 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    refuse_sample_time(options)?;
    let [Some((old, held_by_old)), Some((new, held_by_new))] = &target.sides else {
        return Err(Failure::Internal("a side was not asked".to_owned()));
    };
    let [baseline, candidate] = filters;
    let found = families_between([held_by_old, held_by_new], baseline, candidate);
    let sides = [(&names[0], old), (&names[1], new)];
    race_found(found, filters.clone(), sides, options)
}

/// Races the families that two filters found, with a name and a program for either.
fn race_found(
    found: Result<Families, FamilyProblem>,
    filters: [String; 2],
    sides: [(&String, &Program); 2],
    options: &BenchOptions,
) -> Result<Status, Failure> {
    let found = found.map_err(|problem| Failure::Usage(problem.to_string()))?;
    if found.pairs.is_empty() {
        return Err(nothing_in_common(&found.left_out, &filters));
    }
    let benchmark = |(shown, in_sides): &(String, [String; 2])| {
        let sides = sides.iter().zip(in_sides);
        let sides = sides.map(|((name, program), known)| (name.as_str(), *program, &**known));
        google_benchmark(shown, sides)
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
        "--sample-time: how long a sample of a Google Benchmark executable is, \
         --benchmark_min_time says"
            .to_owned(),
    ))
}
