//! The race: programs in, answer out.

use deadheat::answer::to_stdout;
use deadheat::exit::{Failure, Status};
use deadheat::model::Program;
use deadheat::pairing::{self, Pairing};
use deadheat::settings::{Ignored, Selection};
use deadheat::{Entries, race_benchmarks};

use super::entrants::{Entrants, Target};
use super::entries::{listing, nothing_in_common, nothing_selected};
use super::google;
use super::inspection::{Field, inspect};
use super::options::BenchOptions;
use crate::answering::tell;
use crate::progress::LiveProgress;

/// Races two builds, and answers.
pub fn race(entrants: &Entrants, options: &BenchOptions) -> Result<Status, Failure> {
    options.exports.check(None)?;
    let sides = &entrants.names;
    match inspect(&entrants.targets, options)? {
        Field::Workers(targets) => {
            let pair = |selection: &Selection| pairing::pair(&targets, sides, selection);
            race_selected(pair, Some(sides), options)
        }
        Field::GoogleBenchmark(targets) => google::pairs(&targets, sides, options),
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
            [target, ..] => google::alone(target, options),
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
            [target, ..] => google::filtered(target, filters, &entrants.names, options),
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
pub(super) fn race_selected(
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
pub(super) fn race_pairing(pairing: Pairing, options: &BenchOptions) -> Result<Status, Failure> {
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
    let outcome = race_benchmarks(&options.race(), entries, &mut progress)
        .map_err(|error| error.into_failure(&options.rules))?;
    progress.finish();
    tell(&outcome, &options.answer, &options.exports)
}
