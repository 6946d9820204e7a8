//! Races of commits: their common options, and a race of two commits that were built.

use std::ffi::OsString;

use clap::Args;
use deadheat::parts::RaceOutcome;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{Commit, Program};
use deadheat::parts::pairing::Target;
use deadheat_build::{CargoBuild, LibraryChoice, Recipe, Side};

use crate::bench_options::BenchOptions;
use crate::build_race::{BuildPrograms, FailedTarget, race_silently};
use crate::cargo_arguments::{Arguments, Bench};
use crate::library_option::CriterionArgs;
use crate::own_path::this_program;
use crate::recipe::RecipeOptions;
use crate::repository::commit;

/// Options of races of commits: the build of each commit, and the race.
#[derive(Debug, Args)]
pub struct CommitRaceArgs {
    /// The build of each commit.
    #[command(flatten)]
    pub recipe: RecipeOptions,
    /// Race only benchmarks whose names contain this [default: all]
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// The criterion library of the suites.
    #[command(flatten)]
    pub criterion: CriterionArgs,
    /// The options of the race.
    #[command(flatten)]
    pub options: BenchOptions,

    /// Options of cargo bench that select what is built; with --cmake or --go, arguments of the
    /// executables; with --pytest, options of pytest; with --vitest or --node, arguments of the suite
    #[arg(last = true, value_name = "CARGO BENCH ARGS", help_heading = "Build")]
    pub cargo: Vec<OsString>,
}

impl CommitRaceArgs {
    /// Passes the filters on to the options of the race.
    pub fn select(&mut self) {
        self.options.filters = std::mem::take(&mut self.filters);
    }

    /// Returns the recipe by which every commit is built.
    pub fn recipe(&self) -> Result<Recipe, Failure> {
        match self.recipe.recipe(None, Vec::new())? {
            Some(recipe) => self.criterion.refuse_without_cargo().map(|()| recipe),
            None => {
                let choice = self.criterion.choice();
                in_both("cargo".into(), of_cargo(&self.cargo)?, choice).map(Recipe::Cargo)
            }
        }
    }

    /// Returns the arguments of the raced executables.
    pub fn arguments(&mut self) -> Vec<String> {
        self.recipe.arguments(&self.cargo, &mut self.options)
    }
}

/// Reads the words after `--`; only options of `cargo bench` that determine what is built are
/// allowed.
pub fn of_cargo(words: &[OsString]) -> Result<Bench, Failure> {
    let bench = match Arguments::read(words) {
        Arguments::Bench(bench) => bench,
        Arguments::Stray(word) => return Err(stray(&word)),
        Arguments::Help | Arguments::Version => {
            return Err(Failure::Usage(
                "after `--`, deadheat expects options of `cargo bench` that select what is built\n\
                 help: see `cargo bench --help`"
                    .to_owned(),
            ));
        }
    };
    let race = bench.race.first().map(|word| word.to_string_lossy());
    let ours = bench.ways.first().map(|word| word.to_string_lossy());
    let others = race.as_deref().or(ours.as_deref());
    if let Some(word) = bench.base.as_deref().or(others) {
        return Err(stray(word));
    }
    Ok(bench)
}

/// Returns the cargo build that both sides have in common.
pub fn in_both(
    cargo: OsString,
    bench: Bench,
    criterion: LibraryChoice,
) -> Result<CargoBuild, Failure> {
    if bench.message_format {
        return Err(Failure::Usage(
            "--message-format: deadheat reads this output itself\nhelp: leave it out".to_owned(),
        ));
    }
    Ok(CargoBuild {
        cargo,
        program: this_program()?,
        arguments: bench.building,
        target_dir: bench.target_dir,
        metadata: bench.metadata,
        toolchain: None,
        variables: Vec::new(),
        criterion,
    })
}

fn stray(word: &str) -> Failure {
    Failure::Usage(format!(
        "after `--`, deadheat expects options of `cargo bench`, but '{word}' is not one\nhelp: \
         put names of benchmarks \
         and options of the race before `--`"
    ))
}

/// Races the selected benchmarks of two built sides without printing an answer, as one race of a
/// history or of a bisection. Also returns the targets that failed before the race.
pub fn race_sides(
    sides: [&Side; 2],
    ways: Vec<String>,
    arguments: &[String],
    options: BenchOptions,
) -> Result<(RaceOutcome, Vec<FailedTarget>), Failure> {
    let (entrants, options) = ready(sides, ways, arguments, options);
    race_silently(&entrants, &options)
}

/// Returns the programs of two sides, and `options` with the commits and the builds of the sides
/// added.
pub fn ready(
    sides: [&Side; 2],
    ways: Vec<String>,
    arguments: &[String],
    mut options: BenchOptions,
) -> (BuildPrograms, BenchOptions) {
    let entrants = entrants(sides, &ways, arguments);
    options.commits = commits(sides, &ways);
    options.builds = ways;
    (entrants, options)
}

/// Returns the commits of both sides. Empty if a side is a working tree with changes, or if the
/// sides were built in two ways, because then the commits do not explain the difference.
fn commits([old, new]: [&Side; 2], ways: &[String]) -> Vec<Commit> {
    let of = |side: &Side| side.commit.as_ref().map(commit);
    let both = of(old).zip(of(new));
    let one_way = ways.iter().all(String::is_empty);
    both.filter(|_| one_way)
        .map_or_else(Vec::new, |(old, new)| vec![old, new])
}

/// Pairs the executables of both sides by their names.
fn entrants([old, new]: [&Side; 2], ways: &[String], arguments: &[String]) -> BuildPrograms {
    let named = |side: &Side, name: &str| {
        let found = side.executables.iter().find(|one| one.name == name)?;
        Some(Program {
            executable: found.path.clone(),
            arguments: arguments.to_vec(),
            directory: found.directory.clone(),
        })
    };
    let mut names: Vec<&str> = Vec::new();
    for executable in new.executables.iter().chain(&old.executables) {
        if !names.contains(&&*executable.name) {
            names.push(&executable.name);
        }
    }
    let is_alone = names.len() == 1;
    let targets = names.into_iter().map(|name| Target {
        name: (!is_alone).then(|| name.to_owned()),
        sides: [named(old, name), named(new, name)],
    });
    let called = |side: &Side, way: Option<&String>| match way.filter(|way| !way.is_empty()) {
        Some(way) => format!("{}, {way}", side.name),
        None => side.name.clone(),
    };
    let (baseline, mut candidate) = (called(old, ways.first()), called(new, ways.get(1)));
    if candidate == baseline {
        candidate += " again";
    }
    BuildPrograms {
        targets: targets.collect(),
        names: [baseline, candidate],
    }
}
