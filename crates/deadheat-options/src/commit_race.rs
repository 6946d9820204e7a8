//! Races of commits: the options of all of them, and a race of two commits that were built.

use std::ffi::OsString;

use clap::Args;
use deadheat::parts::RaceOutcome;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{Commit, Program};
use deadheat::parts::pairing::Target;
use deadheat_build::{CargoBuild, LibraryChoice, Recipe, Side};

use crate::bench_options::BenchOptions;
use crate::build_race::{BuildPrograms, race_silently};
use crate::cargo_arguments::{Arguments, Bench};
use crate::library_option::CriterionArgs;
use crate::recipe::{RecipeOptions, this_program};
use crate::repository::commit;

/// Options of races of commits: what is built of each, and how that is raced.
#[derive(Debug, Args)]
pub struct CommitRaceArgs {
    /// What is built of each commit.
    #[command(flatten)]
    pub recipe: RecipeOptions,
    /// Race only benchmarks whose names contain this [default: all]
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Whose criterion suites race with.
    #[command(flatten)]
    pub criterion: CriterionArgs,
    /// How that is raced.
    #[command(flatten)]
    pub options: BenchOptions,

    /// Options of cargo bench that say what is built; with --cmake or --go, arguments of the
    /// executables; with --pytest, options of pytest; with --vitest or --node, arguments of the suite
    #[arg(last = true, value_name = "CARGO BENCH ARGS", help_heading = "Build")]
    pub cargo: Vec<OsString>,
}

impl CommitRaceArgs {
    /// Tells the options of the race which benchmarks are meant.
    pub fn select(&mut self) {
        self.options.filters = std::mem::take(&mut self.filters);
    }

    /// The way to build every commit, of which there may be many.
    pub fn recipe(&self) -> Result<Recipe, Failure> {
        match self.recipe.recipe(None, Vec::new())? {
            Some(recipe) => self.criterion.refuse_without_cargo().map(|()| recipe),
            None => {
                let choice = self.criterion.choice();
                in_both("cargo".into(), of_cargo(&self.cargo)?, choice).map(Recipe::Cargo)
            }
        }
    }

    /// The arguments of the executables.
    pub fn arguments(&mut self) -> Vec<String> {
        self.recipe.arguments(&self.cargo, &mut self.options)
    }
}

/// Options of `cargo bench` behind `--` that say what is built.
pub fn of_cargo(words: &[OsString]) -> Result<Bench, Failure> {
    let bench = match Arguments::read(words) {
        Arguments::Bench(bench) => bench,
        Arguments::Stray(word) => return Err(stray(&word)),
        Arguments::Help | Arguments::Version => {
            return Err(Failure::Usage(
                "after `--`, only those options of `cargo bench` are allowed that select what is \
                 built\nhelp: see `cargo bench --help`"
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

/// The build by cargo that both sides have in common.
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

/// Races what the options select of two sides that were built, and answers nothing: one race of a
/// history or of a search.
pub fn race_sides(
    sides: [&Side; 2],
    ways: Vec<String>,
    arguments: &[String],
    options: BenchOptions,
) -> Result<RaceOutcome, Failure> {
    let (entrants, options) = ready(sides, ways, arguments, options);
    race_silently(&entrants, &options)
}

/// The programs of two sides, and the options with what is known of them.
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

/// The commits of both sides; none where one is a working tree with changes, or where they were
/// built in two ways, whose difference no commit made.
fn commits([old, new]: [&Side; 2], ways: &[String]) -> Vec<Commit> {
    let of = |side: &Side| side.commit.as_ref().map(commit);
    let both = of(old).zip(of(new));
    let one_way = ways.iter().all(String::is_empty);
    both.filter(|_| one_way)
        .map_or_else(Vec::new, |(old, new)| vec![old, new])
}

/// Executables of the same name race against each other.
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
