//! `deadheat rev` and `cargo deadheat BASE`: race git revisions.

use std::ffi::OsString;

use clap::{Args, CommandFactory, FromArgMatches, Parser};
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::report::escape;
use deadheat::parts::terminal::{self, to_stderr};
use deadheat_build::{
    BenchesFrom, BuildError, EqualBuilds, Interruption, Library, LibraryChoice, Recipe, Request,
    Revisions, Sides, build, is_clean,
};
use deadheat_history::{KeepArgs, keep_in_history};
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::build_race::race;
use deadheat_options::cargo_arguments::Bench;
use deadheat_options::changed_suite::ChangedSuite;
use deadheat_options::commit_command::{CommitCommand, RaceOfCommand};
use deadheat_options::commit_race::{CommitRaceArgs, in_both, of_cargo, ready};
use deadheat_options::repository::{
    failure, here, interrupts, refuse_path, refuse_second_revision,
};

use crate::build_options::{BuildOptions, word_for_head};
use crate::environments::note_environments;
use crate::file_roles::refuse_collisions;
use crate::suite_race::SuiteRace;
use crate::usage_error;

pub const EXAMPLES: &str = "\
Examples:
  deadheat rev main
  deadheat rev main --build 'make bench' --exe build/bench
  deadheat rev v1.0..v1.1 --build make --run './tool input.json'
  deadheat rev v1.0..v1.1 -- -p parser --features simd
  deadheat rev HEAD~1 parse --margin 2% -- --bench text
  deadheat rev main --go ./parse -- -test.cpu=4
  deadheat rev v3.1..v3.2 --cmake bench_fuzz --configure -DBUILD_BENCHMARKS=ON
  deadheat rev main --pytest tests/bench --install '.[test]'
  deadheat rev main --vitest
  deadheat rev main --node 'bench/*.mjs'
  deadheat rev HEAD..HEAD --build make --cand-build 'make CFLAGS=-O3' --exe build/bench
  deadheat rev HEAD..HEAD --cand-env RUSTFLAGS='-C target-cpu=native'";

/// Options of `deadheat rev`.
#[derive(Debug, Args)]
pub struct RevArgs {
    /// The baseline, a git revision, which races against the working tree, or against HEAD if that
    /// is given
    #[arg(value_name = "BASE[..HEAD]")]
    revisions: String,

    #[command(flatten)]
    pub race: CommitRaceArgs,
    /// Build the candidate with this command instead of the command of --build
    #[arg(long, value_name = "CMD", help_heading = "Build", requires = "build")]
    cand_build: Option<String>,
    /// The command that is raced instead of benchmarks.
    #[command(flatten)]
    run: CommitCommand,
    #[command(flatten)]
    ways: BuildOptions,
    /// Build both sides, print the paths of the executables, and race nothing
    #[arg(long, help_heading = "Build")]
    no_run: bool,

    #[command(flatten)]
    keep: KeepArgs,
}

pub fn rev(mut args: RevArgs) -> Result<Status, Failure> {
    refuse_path(&args.revisions, &args.race.filters, "a commit")?;
    refuse_second_revision(&args.revisions, &args.race.filters)?;
    args.race.select();
    args.check_command()?;
    args.race.options.history = args.keep.history;
    args.race.options.read_rules()?;
    let Some(recipes) = args.recipes()? else {
        return args.cargo_race()?.race();
    };
    let is_pytest = matches!(recipes, [Recipe::Pytest(_), _]);
    let of_benches = args.ways.benches_option().filter(|_| !is_pytest);
    if let Some(option) = args.ways.needs_cargo().or(of_benches) {
        return Err(Failure::Usage(format!(
            "{option} applies only to builds by `cargo bench`, and this command line builds in another \
             way\nhelp: --base-env, --cand-env and, with --build, --cand-build set how the two builds differ"
        )));
    }
    args.race.criterion.refuse_without_cargo()?;
    let arguments = args.race.arguments();
    let revisions = parsed(&args.revisions)?;
    let benches = args.ways.benches(&revisions)?;
    let ways = args.ways.in_words(args.cand_build.as_deref());
    let races = !args.no_run;
    check_outputs(
        &revisions,
        &ways,
        Some(&args.race.options).filter(|_| races),
    )?;
    let mut sides = built(&revisions, &recipes, None, EqualBuilds::default(), "")?;
    let mut options = args.race.options;
    note_environments(&sides, &mut options.surroundings)?;
    if let Recipe::Pytest(build) = &recipes[0] {
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
    if let Some(command) = args.run.command.as_deref().filter(|_| !args.no_run) {
        let both = [&sides.baseline, &sides.candidate];
        return RaceOfCommand::new(both, command, &options)?.race_and_tell();
    }
    options.changed_suite = ChangedSuite::between(&sides, &recipes[0])?;
    let options = races.then_some(options);
    raced(&sides, ways, &arguments, options)
}

impl RevArgs {
    /// Refuses options that a race of a command does not support.
    fn check_command(&self) -> Result<(), Failure> {
        let options = &self.race.options;
        for (is_given, flag, why) in [
            (options.list, "--list", "a command has no benchmarks"),
            (
                self.keep.history,
                "--history",
                "a history records benchmarks, not commands",
            ),
        ] {
            if is_given && self.run.command.is_some() {
                return Err(Failure::Usage(format!(
                    "{flag} and --run cannot be combined: {why}\nhelp: leave {flag} out"
                )));
            }
        }
        self.run.check(&options.filters)
    }

    /// Returns how to build both sides without cargo, or `None` if cargo builds them.
    fn recipes(&self) -> Result<Option<[Recipe; 2]>, Failure> {
        let [base, cand] = self.ways.variables();
        let build = self.race.recipe.build.as_deref();
        if let Some(of_base) = self.run.recipe(build, base.clone()) {
            let of_cand = self
                .run
                .recipe(self.cand_build.as_deref().or(build), cand.clone());
            return Ok(of_cand.map(|of_cand| [of_base, of_cand]));
        }
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
            criterion: self.race.criterion.choice(),
            bench,
            hint: "",
        })
    }
}

/// The options after `--` of `cargo deadheat BASE`.
#[derive(Debug, Parser)]
#[command(
    name = "cargo deadheat BASE [OPTIONS OF cargo bench] --",
    max_term_width = 100
)]
struct RaceArgs {
    /// Race only benchmarks whose names contain this [default: all]
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    #[command(flatten)]
    keep: KeepArgs,
    #[command(flatten)]
    options: BenchOptions,
}

/// A race of the bench targets of two revisions.
#[derive(Debug)]
pub struct CargoRace {
    pub bench: Bench,
    pub cargo: OsString,
    pub revisions: Revisions,
    pub ways: BuildOptions,
    /// The criterion library that the benchmarks are compiled with.
    pub criterion: LibraryChoice,
    /// The options of the race; `None` if the revisions are only built.
    pub options: Option<BenchOptions>,
    /// The advice that is appended to the error about an unknown revision.
    pub hint: &'static str,
}

impl CargoRace {
    pub fn of(bench: Bench, cargo: OsString, revisions: Revisions) -> Result<Self, Failure> {
        let name = OsString::from("cargo deadheat BASE");
        let words: Vec<OsString> = std::iter::once(&name).chain(&bench.race).cloned().collect();
        let mut command = RaceArgs::command();
        let read = command.try_get_matches_from_mut(&words);
        let read = read.and_then(|matches| Ok((RaceArgs::from_arg_matches(&matches)?, matches)));
        let (mut race, matches) =
            read.or_else(|error| usage_error::refuse(&error, &RaceArgs::command(), &words))?;
        refuse_collisions(&command, &matches)?;
        race.options.filters = race.filters;
        race.options.history = race.keep.history;
        race.options.read_rules()?;
        let (ways, criterion) = BuildOptions::read(&bench.ways)?;
        Ok(Self {
            cargo,
            revisions,
            ways,
            criterion,
            options: (!bench.no_run).then_some(race.options),
            bench,
            hint: "\nhelp: to race only the benchmarks whose names contain a word, put that after \
                   `--`: cargo deadheat -- ",
        })
    }

    /// Returns the options that are accepted after `--`, for the manual.
    pub fn options() -> clap::Command {
        RaceArgs::command()
    }

    pub fn race(self) -> Result<Status, Failure> {
        let both = in_both(self.cargo, self.bench, self.criterion)?;
        let recipes = self.ways.cargo_builds(&both)?.map(Recipe::Cargo);
        let benches = self.ways.benches(&self.revisions)?;
        let equal = self.ways.equal_builds(&self.revisions)?;
        let is_profile = |word: &OsString| {
            let word = word.to_string_lossy();
            word == "--profile" || word.starts_with("--profile=")
        };
        if equal.profile && both.arguments.iter().any(is_profile) {
            return Err(Failure::Usage(
                "--same-profile applies to the profile bench, but --profile selects another\nhelp: \
                 leave out one of the two"
                    .to_owned(),
            ));
        }
        let ways = self.ways.in_words(None);
        check_outputs(&self.revisions, &ways, self.options.as_ref())?;
        let sides = built(&self.revisions, &recipes, benches, equal, self.hint)?;
        let mut options = self.options;
        if let Some(options) = &mut options {
            options.changed_suite = ChangedSuite::between(&sides, &recipes[0])?;
            options.surroundings.benches_from = Some(word_for_head(&self.revisions).to_owned());
        }
        raced(&sides, ways, &[], options)
    }
}

/// Races the built sides with `arguments`, or prints the paths of the executables if `options` is
/// `None`. `ways` describes how each side was built, if the two builds differ.
fn raced(
    sides: &Sides,
    ways: Vec<String>,
    arguments: &[String],
    options: Option<BenchOptions>,
) -> Result<Status, Failure> {
    match options {
        Some(options) => {
            if ways.is_empty() {
                warn_of_one_commit(sides);
            }
            let both = [&sides.baseline, &sides.candidate];
            let (entrants, options) = ready(both, ways, arguments, options);
            if options.history && options.commits.is_empty() {
                return Err(no_commits());
            }
            let library = sides.candidate.swapped_library();
            let done = race(&entrants, &options).map_err(|failure| with_hint(failure, library))?;
            if options.history && !done.files.is_empty() {
                keep_in_history(&done.files, options.quiet)?;
            }
            Ok(done.status)
        }
        None => {
            to_stdout(&places(sides))?;
            Ok(Status::Done)
        }
    }
}

/// Refuses output files that cannot be written, and `--history` without two commits, before anything
/// is built. `options` is `None` if nothing is raced.
fn check_outputs(
    revisions: &Revisions,
    ways: &[String],
    options: Option<&BenchOptions>,
) -> Result<(), Failure> {
    let Some(options) = options else {
        return Ok(());
    };
    options.exports.check(None)?;
    // If git fails, the build reports the error.
    let directory = here()?;
    let is_commit = || {
        let is_clean = || is_clean(&directory, Interruption(&|| false));
        revisions.head.is_some() || is_clean().unwrap_or(true)
    };
    if options.history && !(ways.is_empty() && revisions.base.is_some() && is_commit()) {
        return Err(no_commits());
    }
    Ok(())
}

fn no_commits() -> Failure {
    Failure::Usage(
        "--history: a side is not a commit, or its build differs from the other side's\nhelp: race \
         two commits, or commit your changes"
            .to_owned(),
    )
}

/// Adds the option that races with the suite's own library to an error about a program in which
/// deadheat replaced `library`: the program may depend on something that the replacement does
/// differently.
fn with_hint(failure: Failure, library: Option<Library>) -> Failure {
    match (failure, library) {
        (Failure::Contender(text), Some(library)) => {
            let advice = match text.contains("\nhelp: ") {
                true => "; ",
                false => "\nhelp: ",
            };
            let (option, name) = (library.option(), library.name());
            Failure::Contender(format!(
                "{text}{advice}{option} own races the suite with its own {name}"
            ))
        }
        (failure, _) => failure,
    }
}

/// Warns if both sides are the same commit with the same build: a user who forgot to change
/// something would wait for a race that can show only noise.
fn warn_of_one_commit(sides: &Sides) {
    let [base, head] = [&sides.baseline, &sides.candidate];
    if let (Some(one), Some(other)) = (&base.commit, &head.commit)
        && one.id == other.id
    {
        to_stderr(
            "warning",
            &format!(
                "'{}' and '{}' are the same commit with the same build, so the race can show \
                 only noise; name an older commit as BASE, such as HEAD~1",
                base.name, head.name
            ),
        );
    }
}

/// Reads `BASE` or `BASE..HEAD`.
pub fn parsed(text: &str) -> Result<Revisions, Failure> {
    Revisions::parse(text).map_err(|error| Failure::Usage(error.to_string()))
}

/// Builds both sides; Ctrl-C stops the build. The error about an unknown revision ends with `hint`
/// and the revisions.
fn built(
    revisions: &Revisions,
    recipes: &[Recipe; 2],
    benches: Option<BenchesFrom>,
    equal: EqualBuilds,
    hint: &str,
) -> Result<Sides, Failure> {
    let directory = here()?;
    let request = Request {
        directory: &directory,
        revisions,
        recipes: recipes.each_ref(),
        benches,
        equal,
    };
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    let built = build(&request, Interruption(&is_interrupted), &mut |note| {
        to_stderr("deadheat", &note.to_string());
    });
    built.map_err(|error| match (error, interrupts.requested()) {
        (BuildError::Interrupted, Some(signal)) => Failure::Interrupted {
            text: "interrupted while building; nothing was raced".to_owned(),
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

/// Returns the paths of all executables, one per line.
fn places(sides: &Sides) -> String {
    let glyphs = terminal::glyphs_of_stdout();
    let mut text = String::new();
    for side in [&sides.baseline, &sides.candidate] {
        for executable in &side.executables {
            let path = executable.path.to_string_lossy();
            let cells = [&*side.name, &*executable.name, &*path];
            let cells = cells.map(|cell| escape(cell, glyphs));
            text += &format!("{}\n", cells.join("\t"));
        }
    }
    text
}
