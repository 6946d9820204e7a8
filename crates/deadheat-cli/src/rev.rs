//! `deadheat rev` and `cargo deadheat BASE`: race git revisions.

use std::ffi::OsString;

use clap::{Args, CommandFactory, Parser};
use deadheat::parts::RaceOutcome;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{Commit, Program};
use deadheat::parts::pairing::Target;
use deadheat::parts::terminal::to_stderr;
use deadheat_build::{
    BenchesFrom, BuildError, CargoBuild, Interruption, Recipe, Request, Revisions, Side, Sides,
    build,
};

use crate::bench::{BenchOptions, BuildPrograms, race, race_silently};
use crate::build_options::{BuildOptions, RecipeOptions, word_for_head};
use crate::cargo_arguments::{Arguments, Bench};
use crate::changed_suite::ChangedSuite;
use crate::environments::note_environments;
use crate::history_index::KeepArgs;
use crate::repository::{commit, failure, here, interrupts};
use crate::suite_race::SuiteRace;
use crate::usage_error;

/// Shown at the end of `deadheat rev --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat rev main
  deadheat rev HEAD~1 parse --margin 2% -- --bench text
  deadheat rev v1.0..v1.1 -- -p parser --features simd
  deadheat rev main --build 'make bench' --exe build/bench
  deadheat rev main --go ./parse -- -test.cpu=4
  deadheat rev main --pytest tests/bench --install '.[test]'
  deadheat rev HEAD..HEAD --build make --cand-build 'make CFLAGS=-O3' --exe build/bench
  deadheat rev HEAD..HEAD --cand-env RUSTFLAGS='-C target-cpu=native'";

/// Options of `deadheat rev`.
#[derive(Debug, Args)]
pub struct RevArgs {
    /// The baseline, a revision of git; it is raced against the working tree as it is, or
    /// against HEAD
    #[arg(value_name = "BASE[..HEAD]")]
    revisions: String,

    #[command(flatten)]
    pub race: CommitRaceArgs,
    /// Build the candidate by this command, in place of --build
    #[arg(long, value_name = "CMD", help_heading = "Build", requires = "build")]
    cand_build: Option<String>,
    #[command(flatten)]
    ways: BuildOptions,
    /// Build both sides, tell where the executables are, and race nothing
    #[arg(long, help_heading = "Build")]
    no_run: bool,

    #[command(flatten)]
    keep: KeepArgs,
}

/// Options of races of commits: what is built of each, and how that is raced.
#[derive(Debug, Args)]
pub struct CommitRaceArgs {
    #[command(flatten)]
    pub recipe: RecipeOptions,
    /// Parts of the names of benchmarks that are meant [default: all]
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    #[command(flatten)]
    pub options: BenchOptions,

    /// Options of cargo bench that say what is built; with --go, arguments of the executables; with
    /// --pytest, options of pytest
    #[arg(last = true, value_name = "CARGO BENCH ARGS")]
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
            Some(recipe) => Ok(recipe),
            None => in_both("cargo".into(), of_cargo(&self.cargo)?).map(Recipe::Cargo),
        }
    }

    /// The arguments of the executables.
    pub fn arguments(&mut self) -> Vec<String> {
        self.recipe.arguments(&self.cargo, &mut self.options)
    }
}

/// Builds and races.
pub fn rev(mut args: RevArgs) -> Result<Status, Failure> {
    args.race.select();
    args.race.options.history = args.keep.history;
    args.race.options.read_rules()?;
    let Some(recipes) = args.recipes()? else {
        return args.cargo_race()?.race();
    };
    let is_pytest = matches!(recipes, [Recipe::Pytest(_), _]);
    let of_benches = args.ways.benches_option().filter(|_| !is_pytest);
    if let Some(option) = args.ways.needs_cargo().or(of_benches) {
        return Err(Failure::Usage(format!(
            "{option} is for `cargo bench`, which builds nothing here\nhelp: --base-env, --cand-env and, \
             with --build, --cand-build say what differs"
        )));
    }
    let arguments = args.race.arguments();
    let revisions = parsed(&args.revisions)?;
    let benches = args.ways.benches(&revisions)?;
    let mut sides = built(&revisions, &recipes, BenchesFrom::Own, "")?;
    let mut options = args.race.options;
    if let Recipe::Pytest(build) = &recipes[0] {
        note_environments(&sides, &mut options.surroundings)?;
        let race = SuiteRace {
            recipe: &recipes[0],
            tests: &build.tests,
            arguments: &arguments,
            revisions: &revisions,
        };
        race.settle(&mut sides, benches, &mut options)?;
        args.race
            .recipe
            .suite
            .check(&[&sides.baseline, &sides.candidate])
            .map_err(failure)?;
    }
    options.changed_suite = ChangedSuite::between(&sides, &recipes[0])?;
    let ways = args.ways.in_words(args.cand_build.as_deref());
    let options = (!args.no_run).then_some(options);
    raced(&sides, ways, &arguments, options)
}

impl RevArgs {
    /// The ways to build both sides without cargo; `None` where cargo builds them.
    fn recipes(&self) -> Result<Option<[Recipe; 2]>, Failure> {
        let [base, cand] = self.ways.variables();
        let base = self.race.recipe.recipe(None, base)?;
        let cand = self.race.recipe.recipe(self.cand_build.as_deref(), cand)?;
        Ok(base.zip(cand).map(|(base, cand)| [base, cand]))
    }

    fn cargo_race(self) -> Result<CargoRace, Failure> {
        let bench = of_cargo(&self.race.cargo)?;
        Ok(CargoRace {
            cargo: "cargo".into(),
            revisions: parsed(&self.revisions)?,
            options: (!bench.no_run && !self.no_run).then_some(self.race.options),
            ways: self.ways,
            bench,
            hint: "",
        })
    }
}

/// Options of `cargo bench` behind `--` that say what is built.
fn of_cargo(words: &[OsString]) -> Result<Bench, Failure> {
    let bench = match Arguments::read(words) {
        Arguments::Bench(bench) => bench,
        Arguments::Stray(word) => return Err(stray(&word)),
        Arguments::Help | Arguments::Version => {
            return Err(Failure::Usage(
                "options behind `--` are those of `cargo bench` that say what is built\nhelp: see `cargo bench --help`"
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
fn in_both(cargo: OsString, bench: Bench) -> Result<CargoBuild, Failure> {
    if bench.message_format {
        return Err(Failure::Usage(
            "--message-format: what cargo says to programs is read here\nhelp: leave it out"
                .to_owned(),
        ));
    }
    let program = std::env::current_exe()
        .map_err(|problem| Failure::Internal(format!("deadheat cannot find itself: {problem}")))?;
    Ok(CargoBuild {
        cargo,
        program,
        arguments: bench.building,
        target_dir: bench.target_dir,
        metadata: bench.metadata,
        toolchain: None,
        variables: Vec::new(),
    })
}

fn stray(word: &str) -> Failure {
    Failure::Usage(format!(
        "behind `--` stand options of `cargo bench`, and '{word}' is none\nhelp: names of benchmarks and \
         options of the race stand before it"
    ))
}

/// What stands behind `--` of `cargo deadheat BASE`.
#[derive(Debug, Parser)]
#[command(
    name = "cargo deadheat BASE [OPTIONS OF cargo bench] --",
    max_term_width = 100
)]
struct RaceArgs {
    /// Parts of the names of benchmarks that are meant [default: all]
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    options: BenchOptions,
}

/// Two revisions whose bench targets are raced.
#[derive(Debug)]
pub struct CargoRace {
    /// The arguments for cargo.
    pub bench: Bench,
    /// Cargo itself.
    pub cargo: OsString,
    /// The two sides.
    pub revisions: Revisions,
    /// The ways in which they are built.
    pub ways: BuildOptions,
    /// The options of the race; `None` when the revisions are only built.
    pub options: Option<BenchOptions>,
    /// The hint added to the error where there is no such revision.
    pub hint: &'static str,
}

impl CargoRace {
    /// The race that `cargo deadheat BASE` asks for.
    pub fn of(bench: Bench, cargo: OsString, revisions: Revisions) -> Result<Self, Failure> {
        let name = OsString::from("cargo deadheat BASE");
        let words: Vec<OsString> = std::iter::once(&name).chain(&bench.race).cloned().collect();
        let mut race = RaceArgs::try_parse_from(&words)
            .or_else(|error| usage_error::refuse(&error, &RaceArgs::command(), &words))?;
        race.options.filters = race.filters;
        race.options.history = race.keep.history;
        race.options.read_rules()?;
        Ok(Self {
            cargo,
            revisions,
            ways: BuildOptions::read(&bench.ways)?,
            options: (!bench.no_run).then_some(race.options),
            bench,
            hint: "\nhelp: to race only the benchmarks whose names contain a word, put that behind \
                   `--`: cargo deadheat -- ",
        })
    }

    /// The options that may stand behind `--`, for the manual.
    pub fn options() -> clap::Command {
        RaceArgs::command()
    }

    /// Builds and races.
    pub fn race(self) -> Result<Status, Failure> {
        let both = in_both(self.cargo, self.bench)?;
        let recipes = self.ways.cargo_builds(&both)?.map(Recipe::Cargo);
        let benches = self.ways.benches(&self.revisions)?.unwrap_or_default();
        let sides = built(&self.revisions, &recipes, benches, self.hint)?;
        let mut options = self.options;
        if let Some(options) = &mut options {
            options.changed_suite = ChangedSuite::between(&sides, &recipes[0])?;
            options.surroundings.benches_from = Some(word_for_head(&self.revisions).to_owned());
        }
        raced(&sides, self.ways.in_words(None), &[], options)
    }
}

/// Races what was built, with these arguments, or tells where it is. `ways` says how each side was
/// built, where these are two ways.
fn raced(
    sides: &Sides,
    ways: Vec<String>,
    arguments: &[String],
    options: Option<BenchOptions>,
) -> Result<Status, Failure> {
    match options {
        Some(options) => {
            let both = [&sides.baseline, &sides.candidate];
            let (entrants, options) = ready(both, ways, arguments, options);
            if options.history && options.commits.is_empty() {
                return Err(Failure::Usage(
                    "--history: a side is no commit, or is built in a way of its own\nhelp: race two \
                     commits, or commit what is changed"
                        .to_owned(),
                ));
            }
            race(&entrants, &options)
        }
        None => {
            to_stdout(&places(sides))?;
            Ok(Status::Done)
        }
    }
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
fn ready(
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

/// Reads `BASE` or `BASE..HEAD`.
pub fn parsed(text: &str) -> Result<Revisions, Failure> {
    Revisions::parse(text).map_err(|error| Failure::Usage(error.to_string()))
}

/// Builds both sides, and lets those who ask to stop have their way. `hint` and the text of the
/// revisions follow where there are no such revisions.
fn built(
    revisions: &Revisions,
    recipes: &[Recipe; 2],
    benches: BenchesFrom,
    hint: &str,
) -> Result<Sides, Failure> {
    let directory = here()?;
    let request = Request {
        directory: &directory,
        revisions,
        recipes: recipes.each_ref(),
        benches,
    };
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    let built = build(&request, Interruption(&is_interrupted), &mut |note| {
        to_stderr("deadheat", &note.to_string());
    });
    built.map_err(|error| match (error, interrupts.requested()) {
        (BuildError::Interrupted, Some(signal)) => Failure::Interrupted {
            text: BuildError::Interrupted.to_string(),
            signal,
        },
        (error @ (BuildError::NoRepository { .. } | BuildError::UnknownRevision { .. }), _)
            if !hint.is_empty() =>
        {
            let text = revisions.to_string();
            Failure::Usage(format!("{error}{hint}{text}"))
        }
        (error, _) => failure(error),
    })
}

/// Where the executables of both sides are, a line each.
fn places(sides: &Sides) -> String {
    let mut text = String::new();
    for side in [&sides.baseline, &sides.candidate] {
        for executable in &side.executables {
            let path = executable.path.display();
            text += &format!("{}\t{}\t{path}\n", side.name, executable.name);
        }
    }
    text
}
