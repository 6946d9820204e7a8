//! Options for how the two sides of a race of revisions are built: which side's benchmarks are
//! compiled, and options for one side only.

use std::ffi::OsString;

use clap::{Args, CommandFactory, Parser};
use deadheat::parts::exit::Failure;
use deadheat_build::{
    BenchesFrom, CargoBuild, EqualBuilds, LibraryChoice, OneSide, Revisions, Variables,
};
use deadheat_options::cargo_arguments::{Arguments, Bench};
use deadheat_options::library_option::CriterionArgs;

use crate::usage_error;

/// Options of builds, for `deadheat rev` and `cargo deadheat` alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct BuildOptions {
    /// Take the benchmarks of both sides from this revision or 'working-tree', or each side's from
    /// its 'own' sources [default: own, plus those that only the candidate has; with --pytest those
    /// of the candidate]
    #[arg(long, value_name = "REV", help_heading = "Build")]
    benches_from: Option<String>,
    /// Build the baseline with the candidate's cargo profile (lto, opt-level and so on)
    #[arg(long, help_heading = "Build")]
    same_profile: bool,
    /// Build both sides with the Cargo.lock of this revision or 'working-tree', so that they have
    /// the same dependencies
    #[arg(long, value_name = "REV", help_heading = "Build")]
    lock_from: Option<String>,
    /// Options of cargo bench for the baseline alone
    #[arg(
        long,
        value_name = "ARGS",
        help_heading = "Build",
        allow_hyphen_values = true
    )]
    base_args: Option<String>,
    /// Options of cargo bench for the candidate alone
    #[arg(
        long,
        value_name = "ARGS",
        help_heading = "Build",
        allow_hyphen_values = true
    )]
    cand_args: Option<String>,
    /// An environment variable for the build of the baseline (may be repeated)
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Build")]
    base_env: Vec<(String, String)>,
    /// An environment variable for the build of the candidate (may be repeated)
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Build")]
    cand_env: Vec<(String, String)>,
    /// The rustup toolchain that builds the baseline
    #[arg(long, value_name = "NAME", help_heading = "Build")]
    base_toolchain: Option<String>,
    /// The rustup toolchain that builds the candidate
    #[arg(long, value_name = "NAME", help_heading = "Build")]
    cand_toolchain: Option<String>,
}

/// The value of `--benches-from` that gives each side its own benchmarks.
const OWN: &str = "own";

/// Returns the value of `--benches-from` that names the candidate.
pub fn word_for_head(revisions: &Revisions) -> &str {
    revisions.head.as_deref().unwrap_or("working-tree")
}

/// Returns the side that the user means by `named`.
fn side_named(named: &str, revisions: &Revisions) -> Option<OneSide> {
    let [base, head] = revisions.names();
    if named == base {
        return Some(OneSide::Baseline);
    }
    (named == head || named == word_for_head(revisions)).then_some(OneSide::Candidate)
}

fn sides_in_words(revisions: &Revisions) -> String {
    let [base, _] = revisions.names();
    format!("'{base}' or '{}'", word_for_head(revisions))
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// The build options of `cargo deadheat`, which occur among the options of cargo.
#[derive(Debug, Parser)]
#[command(name = "cargo deadheat", disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    options: BuildOptions,
    #[command(flatten)]
    criterion: CriterionArgs,
}

/// The options of one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Way<'a> {
    arguments: Option<&'a str>,
    variables: &'a [(String, String)],
    toolchain: Option<&'a str>,
    /// The candidate's own build command, instead of the command for both sides.
    command: Option<&'a str>,
}

impl BuildOptions {
    /// Parses the build options of `cargo deadheat` and the choice of the criterion library.
    pub fn read(words: &[OsString]) -> Result<(Self, LibraryChoice), Failure> {
        let name = OsString::from("cargo deadheat");
        let words: Vec<OsString> = std::iter::once(&name).chain(words).cloned().collect();
        let read = Words::try_parse_from(&words)
            .or_else(|error| usage_error::refuse(&error, &Words::command(), &words))?;
        Ok((read.options, read.criterion.choice()))
    }

    /// Returns the first option that needs cargo, if the user gave one.
    pub fn needs_cargo(&self) -> Option<&'static str> {
        [
            ("--same-profile", self.same_profile),
            ("--lock-from", self.lock_from.is_some()),
            ("--base-args", self.base_args.is_some()),
            ("--cand-args", self.cand_args.is_some()),
            ("--base-toolchain", self.base_toolchain.is_some()),
            ("--cand-toolchain", self.cand_toolchain.is_some()),
        ]
        .into_iter()
        .find_map(|(option, is_given)| is_given.then_some(option))
    }

    pub fn variables(&self) -> [Variables; 2] {
        [self.base_env.clone(), self.cand_env.clone()]
    }

    fn sides<'a>(&'a self, command: Option<&'a str>) -> [Way<'a>; 2] {
        let base = Way {
            arguments: self.base_args.as_deref(),
            variables: &self.base_env,
            toolchain: self.base_toolchain.as_deref(),
            command: None,
        };
        let cand = Way {
            arguments: self.cand_args.as_deref(),
            variables: &self.cand_env,
            toolchain: self.cand_toolchain.as_deref(),
            command,
        };
        [base, cand]
    }

    /// Describes how each side is built; empty if both are built in the same way. `command` is the
    /// candidate's own build command, if it has one.
    pub fn in_words(&self, command: Option<&str>) -> Vec<String> {
        let [base, cand] = self.sides(command);
        if base == cand {
            return Vec::new();
        }
        vec![base.in_words(), cand.in_words()]
    }

    /// Returns the side whose benchmarks both sides race, if the user chose one.
    pub fn benches(&self, revisions: &Revisions) -> Result<Option<BenchesFrom>, Failure> {
        let Some(named) = &self.benches_from else {
            return Ok(None);
        };
        match side_named(named, revisions) {
            Some(OneSide::Baseline) => Ok(Some(BenchesFrom::Baseline)),
            Some(OneSide::Candidate) => Ok(Some(BenchesFrom::Candidate)),
            None if named == OWN => Ok(Some(BenchesFrom::Own)),
            None => Err(Failure::Usage(format!(
                "--benches-from {named}: name a side of the race, {}, or '{OWN}' for each side's \
                 own",
                sides_in_words(revisions)
            ))),
        }
    }

    pub fn equal_builds(&self, revisions: &Revisions) -> Result<EqualBuilds, Failure> {
        let option = match &self.lock_from {
            Some(_) => Some("--lock-from"),
            None => self.same_profile.then_some("--same-profile"),
        };
        if let (Some(option), None) = (option, &revisions.base) {
            return Err(Failure::Usage(format!(
                "{option}: both sides are builds of the working tree\nhelp: name a revision to \
                 race against, as in cargo deadheat main {option}"
            )));
        }
        let side = |named: &String| {
            side_named(named, revisions).ok_or_else(|| {
                Failure::Usage(format!(
                    "--lock-from {named}: name a side of the race, {}",
                    sides_in_words(revisions)
                ))
            })
        };
        Ok(EqualBuilds {
            profile: self.same_profile,
            lock_from: self.lock_from.as_ref().map(side).transpose()?,
        })
    }

    /// Returns `--benches-from` if the user gave it; only cargo and pytest support that option.
    pub fn benches_option(&self) -> Option<&'static str> {
        self.benches_from.as_ref().map(|_| "--benches-from")
    }

    pub fn cargo_builds(&self, both: &CargoBuild) -> Result<[CargoBuild; 2], Failure> {
        let [base, cand] = self.sides(None);
        Ok([
            base.cargo_build(both, "--base-args")?,
            cand.cargo_build(both, "--cand-args")?,
        ])
    }
}

impl Way<'_> {
    fn in_words(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.command.map(|command| format!("`{command}`")));
        words.extend(self.toolchain.map(|name| match name.starts_with('+') {
            true => name.to_owned(),
            false => format!("+{name}"),
        }));
        let variables = self.variables.iter();
        words.extend(variables.map(|(name, value)| format!("{name}={value}")));
        words.extend(self.arguments.map(str::to_owned));
        words.join(" ")
    }

    fn cargo_build(&self, both: &CargoBuild, option: &str) -> Result<CargoBuild, Failure> {
        let mut build = both.clone();
        build.toolchain = self.toolchain.map(str::to_owned);
        build.variables = self.variables.to_vec();
        let Some(arguments) = self.arguments else {
            return Ok(build);
        };
        let words = shell_words::split(arguments)
            .map_err(|problem| Failure::Usage(format!("{option}: {problem}")))?;
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let stray = |what: &str| {
            Failure::Usage(format!(
                "{option}: it takes those options of `cargo bench` that select what is built, \
                 but '{what}' is not one"
            ))
        };
        let bench = match Arguments::read(&words) {
            Arguments::Bench(bench) => bench,
            Arguments::Stray(word) => return Err(stray(&word)),
            Arguments::Help | Arguments::Version => return Err(stray(arguments)),
        };
        let Bench {
            base,
            target_dir,
            metadata,
            building,
            ways,
            no_run,
            message_format,
            race,
        } = bench;
        if let Some(word) = &base {
            return Err(stray(word));
        }
        let is_more = no_run || message_format || !race.is_empty() || !ways.is_empty();
        if is_more || target_dir.is_some() {
            return Err(stray(arguments));
        }
        build.arguments.extend(building);
        build.metadata.extend(metadata);
        Ok(build)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> BuildOptions {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        BuildOptions::read(&words).unwrap().0
    }

    fn both() -> CargoBuild {
        CargoBuild {
            cargo: "cargo".into(),
            program: "/p".into(),
            arguments: vec!["-p".into(), "one".into()],
            target_dir: None,
            metadata: vec![],
            toolchain: None,
            variables: vec![],
            criterion: LibraryChoice::Own,
        }
    }

    #[test]
    fn cargo_deadheat_knows_them_all() {
        let command = <Words as clap::CommandFactory>::command();
        let options = command.get_arguments().filter_map(clap::Arg::get_long);
        assert_eq!(
            options.collect::<Vec<_>>(),
            deadheat_options::cargo_arguments::OF_BUILDS.map(|(name, _)| name)
        );
    }

    #[test]
    fn a_side_is_built_with_what_both_have_and_with_its_own() {
        let options = read(&[
            "--base-args",
            "--features 'a b'",
            "--cand-env=RUSTFLAGS=-C target-cpu=native",
            "--cand-toolchain",
            "+nightly",
        ]);
        let [base, cand] = options.cargo_builds(&both()).unwrap();
        assert_eq!(base.arguments, ["-p", "one", "--features", "a b"]);
        assert_eq!(cand.arguments, ["-p", "one"]);
        assert_eq!(cand.toolchain.as_deref(), Some("+nightly"));
        let words = [
            "--features 'a b'",
            "+nightly RUSTFLAGS=-C target-cpu=native",
        ];
        assert_eq!(options.in_words(None), words);
        assert!(read(&[]).in_words(None).is_empty());
        assert_eq!(read(&[]).in_words(Some("make")), ["", "`make`"]);
    }

    #[test]
    fn what_is_not_built_is_refused_by_its_option() {
        for arguments in ["stray", "--no-run", "-- x", "--target-dir t", "'", "--help"] {
            let options = read(&["--cand-args", arguments]);
            let Err(Failure::Usage(text)) = options.cargo_builds(&both()) else {
                panic!("{arguments} passed");
            };
            assert!(text.starts_with("--cand-args: "), "{text}");
        }
    }

    #[test]
    fn benches_are_those_of_one_side_by_its_name() {
        let of = |name: &str, revisions: &str| {
            let revisions = Revisions::parse(revisions).unwrap();
            read(&["--benches-from", name]).benches(&revisions)
        };
        let tree = Some(BenchesFrom::Candidate);
        assert_eq!(of("working-tree", "main").unwrap(), tree);
        assert_eq!(of("working-tree", "HEAD").unwrap(), tree);
        assert_eq!(of("HEAD", "HEAD").unwrap(), Some(BenchesFrom::Baseline));
        assert_eq!(of("main", "main").unwrap(), Some(BenchesFrom::Baseline));
        assert_eq!(of("b", "a..b").unwrap(), Some(BenchesFrom::Candidate));
        assert_eq!(of("own", "a..b").unwrap(), Some(BenchesFrom::Own));
        let unnamed = read(&[]).benches(&Revisions::parse("a").unwrap());
        assert_eq!(unnamed.unwrap(), None);
        assert!(of("HEAD", "a..b").is_err());
        assert!(of("HEAD", "main").is_err());
    }
}
