//! The race: programs in, answer out; of workers, or of Google Benchmark executables.

use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::Program;
use deadheat::parts::pairing::{
    self, Families, FamilyProblem, NamedTarget, Pairing, families, families_between, pair_names,
};
use deadheat::parts::settings::{Ignored, Selection};
use deadheat::parts::{
    BenchmarkRace, Entries, google_benchmark, race_benchmarks, refuse_old_confirmation,
};

use super::options::BenchOptions;
use super::programs::{
    Entrants, Field, Launched, Target, inspect, listing, nothing_in_common, nothing_selected,
};
use crate::progress::LiveProgress;
use crate::races::confirm_and_tell;

/// Races two builds, and answers.
pub fn race(entrants: &Entrants, options: &BenchOptions) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let sides = &entrants.names;
    match inspect(&entrants.targets, options)? {
        Field::Workers(targets) => {
            let pair = |selection: &Selection| pairing::pair(&targets, sides, selection);
            race_selected(pair, Some(sides), options)
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
            race_selected(pair, None, options)
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
    let confirm = options.settings().confirm();
    if confirm {
        refuse_old_confirmation(options.save.as_deref())?;
    }
    let entries = Entries {
        benchmarks: pairing.benchmarks,
        metrics: pairing.metrics,
        left_out: pairing.left_out,
        rules: options.rules.some(),
    };
    let once = |race: &BenchmarkRace, entries: Entries| {
        let mut progress = LiveProgress::new(&entries.benchmarks, options.quiet);
        let outcome = race_benchmarks(race, entries, &mut progress)
            .map_err(|error| error.into_failure(&options.rules))?;
        progress.finish();
        Ok(outcome)
    };
    let race = options.race();
    let mut again = entries.clone();
    let outcome = once(&race, entries)?;
    let answered = (&options.answer, &options.exports);
    confirm_and_tell(&outcome, confirm, options.quiet, answered, |second| {
        again.benchmarks.retain(|one| second.races(one));
        again.rules = second.rules(again.rules);
        let race = BenchmarkRace {
            settings: second.settings(race.settings.clone()),
            save: Some(second.save.clone()),
            ..race.clone()
        };
        once(&race, again)
    })
}

/// Races two builds, which are called by `names`.
fn google_pairs(
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
fn google_alone(target: &Launched, options: &BenchOptions) -> Result<Status, Failure> {
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
fn google_families(
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
