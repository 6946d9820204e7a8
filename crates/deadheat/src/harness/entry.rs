//! The `main` of a bench target.

use std::ffi::OsString;
use std::path::PathBuf;

use deadheat_engine::{PLACEMENTS_VARIABLE, WorkerPipes, WorkerProgram, serve};

use super::arguments::{Arguments, Mode, help};
use super::modes::{listing, race, smoke};
use crate::answer::{Format, to_stdout};
use crate::exit::{Failure, Status};
use crate::race::BenchmarkRace;
use crate::repetition::{of_a_bench_target, this_program, words_of_this_process};
use crate::rules::Rules;
use crate::settings::Placement;
use crate::suite::Suite;

#[allow(
    clippy::needless_doctest_main,
    reason = "the example shows a whole bench target"
)]
/// Races the functions that `build` puts into the suite: all there is to do
/// for a bench target with `harness = false`.
///
/// ```no_run
/// fn main() {
///     deadheat::main(|suite| {
///         suite
///             .benchmark("sum")
///             .input(|seed| (0..1_000).map(|i| i + seed % 1_000).collect::<Vec<u64>>())
///             .baseline("forwards", |numbers| numbers.iter().sum::<u64>())
///             .candidate("backwards", |numbers| numbers.iter().rev().sum::<u64>());
///     });
/// }
/// ```
///
/// `cargo bench` races, `cargo test --benches` calls everything once, and
/// `cargo bench -- --help` lists the options. The program starts itself anew
/// for every replicate, so `build` runs often and must put the same benchmarks
/// into the suite every time.
///
/// Ends the process with one of the exit codes of deadheat.
pub fn main(build: impl FnOnce(&mut Suite)) {
    let worker = WorkerPipes::inherited();
    let mut suite = Suite::new();
    build(&mut suite);
    let code = match worker {
        Some(pipes) => {
            serve(pipes, suite);
            0
        }
        None => match run(&suite, std::env::args_os().skip(1)) {
            Ok(status) => status.code(),
            Err(failure) => failure.report(),
        },
    };
    std::process::exit(i32::from(code));
}

fn run(suite: &Suite, words: impl Iterator<Item = OsString>) -> Result<Status, Failure> {
    let arguments = Arguments::parse(words).map_err(Failure::Usage)?;
    if let Some(name) = suite.ambiguous() {
        return Err(Failure::Usage(format!(
            "two benchmarks are named '{name}'; a name must be the only one of its suite"
        )));
    }
    match arguments.mode {
        Mode::Help => to_stdout(&help()).map(|()| Status::Done),
        Mode::List => {
            let terse = arguments.answer.format == Format::Terse;
            to_stdout(&listing(suite.registered(), &arguments.selection, terse))
                .map(|()| Status::Done)
        }
        Mode::Smoke => {
            let rules = Rules::new(arguments.asked.clone(), None);
            let race = worker_race(suite, &arguments, &rules)?;
            smoke(&race, suite.registered(), &arguments.selection, to_stdout)
        }
        Mode::Race => {
            let rules = Rules::read(arguments.asked.clone(), &arguments.source)?;
            let racing = worker_race(suite, &arguments, &rules)?;
            race(&racing, suite, &arguments.by(&rules), &rules)
        }
    }
}

fn worker_race(
    suite: &Suite,
    arguments: &Arguments,
    rules: &Rules,
) -> Result<BenchmarkRace, Failure> {
    let mut settings = rules.seeded();
    let seed = settings.seed();
    settings.control = Some(settings.control() || suite.has_controls());
    let placement = settings.placement.unwrap_or_default();
    let words = words_of_this_process();
    let placed = std::env::var_os(PLACEMENTS_VARIABLE).is_some();
    let package = std::env::var("CARGO_PKG_NAME").ok();
    Ok(BenchmarkRace {
        command: of_a_bench_target(&words, package.as_deref(), placed, seed),
        program: Some(WorkerProgram {
            executable: this_program()?,
            arguments: Vec::new(),
            shown: arguments.shown,
        }),
        shown: arguments.shown,
        settings,
        save: arguments.save.clone(),
        folder: PathBuf::new(),
        placements: match placement {
            Placement::Neutral => std::env::var_os(PLACEMENTS_VARIABLE).map(PathBuf::from),
            Placement::Own => None,
        },
    })
}
