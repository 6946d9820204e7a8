//! What the programs hold: asked of each of them once.

use deadheat::engine::{Inspected, WorkerProgram};
use deadheat::exit::Failure;
use deadheat::model::Program;
use deadheat::pairing::{self, Listed};
use deadheat::settings::Front;
use deadheat::terminal::to_stderr;
use deadheat::{RaceError, inspect_program};

use super::entrants::Target;
use super::options::BenchOptions;

/// What the programs are, and what they hold.
pub enum Field {
    /// Workers.
    Workers(Vec<pairing::Target>),
    /// Google Benchmark executables, with the names of their benchmarks.
    GoogleBenchmark(Vec<Launched>),
}

/// A target whose programs are Google Benchmark executables.
pub struct Launched {
    /// Its name, where there are several.
    pub name: Option<String>,
    /// Either side, if it was built.
    pub sides: [Option<(Program, Vec<String>)>; 2],
}

/// Asks all programs what they hold. One alone must know; of several targets
/// those that hold no benchmarks of any kind are told and passed over.
pub fn inspect(targets: &[Target], options: &BenchOptions) -> Result<Field, Failure> {
    let mut workers = Vec::new();
    let mut launched = Vec::new();
    let mut failure = None;
    for target in targets {
        let sides = [&target.baseline, &target.candidate];
        let mut found = [None, None];
        for (side, program) in found.iter_mut().zip(sides) {
            let Some(program) = program else { continue };
            match ask(program, options) {
                Ok(inspected) => *side = Some((program, inspected)),
                Err(error @ RaceError::Interrupted { .. }) => return Err(error.into()),
                Err(error) if targets.len() == 1 => return Err(error.into()),
                Err(error) => {
                    if !options.quiet {
                        to_stderr("deadheat", &format!("{error}; it is left out"));
                    }
                    failure.get_or_insert(error);
                }
            }
        }
        match found {
            [None, None] => {}
            [
                Some((old, Inspected::Worker(_))),
                Some((new, Inspected::GoogleBenchmark(_))),
            ] => {
                return Err(mixed(old, new));
            }
            [
                Some((old, Inspected::GoogleBenchmark(_))),
                Some((new, Inspected::Worker(_))),
            ] => {
                return Err(mixed(new, old));
            }
            sides => sort(target, sides, &mut workers, &mut launched),
        }
    }
    match (workers.first(), launched.first(), failure) {
        (None, None, Some(error)) => Err(error.into()),
        (Some(worker), Some(google), _) => Err(mixed(first_of(worker), google.first())),
        (None, Some(_), _) => Ok(Field::GoogleBenchmark(launched)),
        _ => Ok(Field::Workers(workers)),
    }
}

fn sort(
    target: &Target,
    sides: [Option<(&Program, Inspected)>; 2],
    workers: &mut Vec<pairing::Target>,
    launched: &mut Vec<Launched>,
) {
    let mut listed = [None, None];
    let mut names = [None, None];
    for (place, side) in sides.into_iter().enumerate() {
        match side {
            Some((program, Inspected::Worker(listing))) => {
                let program = program.clone();
                listed[place] = Some(Listed { program, listing });
            }
            Some((program, Inspected::GoogleBenchmark(held))) => {
                names[place] = Some((program.clone(), held));
            }
            None => {}
        }
    }
    let name = target.name.clone();
    if names.iter().any(Option::is_some) {
        launched.push(Launched { name, sides: names });
    } else {
        let [baseline, candidate] = listed;
        workers.push(pairing::Target {
            name,
            baseline,
            candidate,
        });
    }
}

fn ask(program: &Program, options: &BenchOptions) -> Result<Inspected, RaceError> {
    let program = WorkerProgram {
        executable: program.executable.clone(),
        arguments: program.arguments.iter().map(Into::into).collect(),
        shown: options.nocapture,
    };
    inspect_program(&program, options.settings().timeout(Front::Bench))
}

fn mixed(worker: &Program, google: &Program) -> Failure {
    Failure::Usage(format!(
        "'{}' is a worker and '{}' a Google Benchmark executable; only programs of one kind can \
         be raced against each other",
        worker.executable.display(),
        google.executable.display()
    ))
}

fn first_of(target: &pairing::Target) -> &Program {
    let mut sides = [&target.baseline, &target.candidate].into_iter().flatten();
    &sides.next().expect("a target with a side").program
}

impl Launched {
    fn first(&self) -> &Program {
        let mut sides = self.sides.iter().flatten();
        &sides.next().expect("a target with a side").0
    }
}
