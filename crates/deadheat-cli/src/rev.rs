//! `deadheat rev` and `cargo deadheat BASE`: race git revisions.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use deadheat::engine::Interrupts;
use deadheat::exit::{Failure, Status};
use deadheat_build::{
    BuildError, CargoBuild, CommandBuild, Fault, Interruption, Recipe, Request, Revisions, Sides,
    build,
};

use crate::cargo_deadheat::{Arguments, Bench};

/// Shown at the end of `deadheat rev --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat rev main
  deadheat rev HEAD~1 -- --bench text
  deadheat rev v1.0..v1.1 -- -p parser --features simd
  deadheat rev main --build 'make bench' --exe build/bench";

/// Options of `deadheat rev`.
#[derive(Debug, Args)]
pub struct RevArgs {
    /// The baseline, a revision of git; it is raced against the working tree as it is, or
    /// against HEAD
    #[arg(value_name = "BASE[..HEAD]")]
    revisions: String,

    /// Build both sides by this command, run by 'sh -c' in this folder of each [default: cargo
    /// bench --no-run]
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Build",
        conflicts_with = "cargo"
    )]
    build: Option<String>,
    /// An executable with benchmarks that --build makes (may be repeated)
    #[arg(long, value_name = "PATH", help_heading = "Build", requires = "build")]
    exe: Vec<PathBuf>,
    /// Build both sides, tell where the executables are, and race nothing
    #[arg(long, help_heading = "Build")]
    no_run: bool,

    /// Options of cargo bench that say what is built
    #[arg(last = true, value_name = "CARGO BENCH ARGS")]
    cargo: Vec<OsString>,
}

/// Builds and races.
pub fn rev(args: &RevArgs) -> Result<Status, Failure> {
    let Some(command) = &args.build else {
        return args.cargo_race()?.race();
    };
    let recipe = Recipe::Command(CommandBuild {
        command: command.clone(),
        executables: args.exe.clone(),
    });
    let sides = built(&args.revisions, &recipe)?;
    show(&sides);
    Ok(Status::Done)
}

impl RevArgs {
    fn cargo_race(&self) -> Result<CargoRace, Failure> {
        let bench = match Arguments::read(&self.cargo) {
            Arguments::Bench(bench) => bench,
            Arguments::Stray(word) => return Err(stray(&word)),
            Arguments::Help | Arguments::Version => {
                return Err(Failure::Usage(
                    "options behind `--` are those of `cargo bench` that say what is built; see \
                     `cargo bench --help`"
                        .to_owned(),
                ));
            }
        };
        let race = bench.race.first().map(|word| word.to_string_lossy());
        if let Some(word) = bench.base.as_deref().or(race.as_deref()) {
            return Err(stray(word));
        }
        Ok(CargoRace {
            bench: Bench {
                no_run: bench.no_run || self.no_run,
                ..bench
            },
            cargo: "cargo".into(),
            revisions: self.revisions.clone(),
        })
    }
}

fn stray(word: &str) -> Failure {
    Failure::Usage(format!(
        "behind `--` stand options of `cargo bench`, and '{word}' is none; names of benchmarks and \
         options of the race stand before it"
    ))
}

/// Two revisions whose bench targets are raced.
#[derive(Debug)]
pub struct CargoRace {
    /// What is asked of cargo.
    pub bench: Bench,
    /// Cargo itself.
    pub cargo: OsString,
    /// `BASE` or `BASE..HEAD`.
    pub revisions: String,
}

impl CargoRace {
    /// Builds and races.
    pub fn race(self) -> Result<Status, Failure> {
        if self.bench.message_format {
            return Err(Failure::Usage(
                "--message-format: what cargo says to programs is read here; leave it out"
                    .to_owned(),
            ));
        }
        let program = std::env::current_exe().map_err(|problem| {
            Failure::Internal(format!("deadheat cannot find itself: {problem}"))
        })?;
        let recipe = Recipe::Cargo(CargoBuild {
            cargo: self.cargo,
            program,
            arguments: self.bench.building,
            target_dir: self.bench.target_dir,
            metadata: self.bench.metadata,
        });
        let sides = built(&self.revisions, &recipe)?;
        show(&sides);
        Ok(Status::Done)
    }
}

/// Builds both sides, and lets those who ask to stop have their way.
fn built(revisions: &str, recipe: &Recipe) -> Result<Sides, Failure> {
    let revisions =
        Revisions::parse(revisions).map_err(|error| Failure::Usage(error.to_string()))?;
    let directory = std::env::current_dir()
        .map_err(|problem| Failure::Internal(format!("the current folder: {problem}")))?;
    let request = Request {
        directory: &directory,
        revisions: &revisions,
        recipe,
    };
    let interrupts = Interrupts::install()
        .map_err(|problem| Failure::Internal(format!("signals: {problem}")))?;
    let is_interrupted = || interrupts.requested().is_some();
    let built = build(&request, Interruption(&is_interrupted), &mut |note| {
        eprintln!("deadheat: {note}");
    });
    built.map_err(|error| match (failure(error), interrupts.requested()) {
        (Failure::Interrupted { text, .. }, Some(signal)) => Failure::Interrupted { text, signal },
        (failure, _) => failure,
    })
}

/// Tells where the executables of both sides are.
fn show(sides: &Sides) {
    for side in [&sides.baseline, &sides.candidate] {
        for executable in &side.executables {
            let path = executable.path.display();
            println!("{}\t{}\t{path}", side.name, executable.name);
        }
    }
}

/// Whose fault it is that there is no build.
pub fn failure(error: BuildError) -> Failure {
    let text = error.to_string();
    match error.fault() {
        Fault::Request => Failure::Usage(text),
        Fault::Side => Failure::Contender(text),
        Fault::Internal => Failure::Internal(text),
        Fault::Interruption => Failure::Interrupted { text, signal: 2 },
    }
}
