//! Builds the commits of a search one by one, and races them like `deadheat rev`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use deadheat::parts::engine::{Clock as _, Interrupts, OsClock, contents, unix_seconds};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{create_run_folder, default_run_path, read_run};
use deadheat::parts::model::{EndReason, in_one_line, without_help};
use deadheat::parts::repetition::derived_seed;
use deadheat::parts::report::Glyphs;
use deadheat::parts::terminal::{self, to_stderr};
use deadheat_build::{BuildError, CommitBuilder, CommitInfo, Note, Recipe, Side};
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::commit_command::RaceOfCommand;
use deadheat_options::commit_race::race_sides;
use deadheat_options::recipe::RecipeOptions;
use deadheat_options::repository::failure;

use crate::advice::as_rev;
use crate::log::{BisectEvent, BisectRequest, UnmeasuredBenchmark, UnmeasuredReason};
use crate::raced::{plain_name, race_results};
use crate::session::{BisectNews, BisectSides, RaceEnd, RaceOfCommits, RaceResults, SideBuilt};
use crate::story::{building, racing, story_line, was_cut};

pub(crate) struct Commits<'a> {
    pub(crate) commit_builder: CommitBuilder<'a>,
    pub(crate) recipe: &'a Recipe,
    pub(crate) recipe_options: &'a RecipeOptions,
    /// All commits, indexed by their number.
    pub(crate) commits: Vec<CommitInfo>,
    /// The command line of the search.
    pub(crate) words: Vec<String>,
    /// The builds of this process. The store does not remove a build that is held here.
    pub(crate) built: BTreeMap<usize, Side>,
    pub(crate) options: BenchOptions,
    pub(crate) arguments: Vec<String>,
    /// The command that races in the folder of each commit instead of executables.
    pub(crate) command: Option<String>,
    pub(crate) interrupts: &'a Interrupts,
    pub(crate) clock: OsClock,
    /// Messages about builds that were printed already. Many builds cause the same message, which
    /// is printed once.
    pub(crate) told: BTreeSet<String>,
}

impl Commits<'_> {
    fn say(&self, text: &str) {
        if !self.options.quiet {
            to_stderr("deadheat", text);
        }
    }

    fn side(&mut self, number: usize) -> Result<Side, BuildError> {
        let (quiet, told) = (self.options.quiet, &mut self.told);
        let built = self
            .commit_builder
            .build(&self.commits[number], &mut |note| {
                // `BisectNews::Builds` already reports the build.
                let is_new =
                    !matches!(note, Note::Building { .. }) && told.insert(note.to_string());
                if is_new && !quiet {
                    to_stderr("deadheat", &note.to_string());
                }
            })?;
        if let Recipe::Pytest(_) = self.recipe {
            self.recipe_options.suite.check(&[&built])?;
        }
        Ok(built)
    }

    /// Builds a commit unless this process has built it, and keeps the build.
    fn hold(&mut self, number: usize) -> Result<(), BuildError> {
        let last = self.commits.len() - 1;
        // Commits that lack a bench target get the target of BAD, so BAD is built first.
        if number != last && !self.built.contains_key(&last) && self.is_cargo() {
            self.hold(last)?;
        }
        if !self.built.contains_key(&number) {
            let side = self.side(number)?;
            if number == last && self.is_cargo() {
                self.commit_builder.take_benches_of(&side);
            }
            self.built.insert(number, side);
        }
        Ok(())
    }

    fn is_cargo(&self) -> bool {
        matches!(self.recipe, Recipe::Cargo(_))
    }

    fn failure(&self, error: BuildError) -> Failure {
        match (error, self.interrupts.requested()) {
            (BuildError::Interrupted, Some(signal)) => interrupted(signal),
            (error, _) => failure(error),
        }
    }

    /// Returns a digest of the executables of a build; `None` if the race also depends on other
    /// files.
    fn digest(&self, side: &Side) -> Option<String> {
        if self.command.is_some() || !side.is_self_contained() {
            return None;
        }
        let digest = |path: &Path| Some(contents(path, &[]).into_iter().next()?.1);
        let executables = side.executables.iter();
        let digests: Option<Vec<String>> = executables.map(|one| digest(&one.path)).collect();
        digests.map(|digests| digests.join("-"))
    }
}

impl BisectSides for Commits<'_> {
    fn build(&mut self, commit: usize) -> Result<SideBuilt, Failure> {
        match self.hold(commit) {
            Ok(()) => {}
            Err(error) if error.is_of_one_commit() => {
                return Ok(SideBuilt::Unbuildable(in_one_line(&error.to_string())));
            }
            Err(error) => return Err(self.failure(error)),
        }
        let side = &self.built[&commit];
        Ok(SideBuilt::Ready {
            was_kept: side.was_kept,
            digest: self.digest(side),
        })
    }

    fn run_file(&mut self) -> Result<PathBuf, Failure> {
        create_run_folder(Path::new("")).map_err(|error| Failure::writing("run file", error))?;
        let now = unix_seconds().unwrap_or_default();
        let seed = self.options.rules.settings().seed.unwrap_or_default();
        let named = |number| default_run_path(Path::new(""), now, seed, number);
        let mut names = (1..).map(named);
        let free = names.find(|path| !path.exists());
        free.ok_or_else(|| Failure::Internal("all names for the run file are taken".to_owned()))
    }

    fn race(&mut self, race: RaceOfCommits<'_>) -> Result<RaceEnd, Failure> {
        let (from, to) = race.sides;
        let is_first = race.benchmark.is_none();
        let mut options = self.options.clone();
        let design = &mut options.design.0;
        let seed = self.options.rules.settings().seed;
        design.seed = seed.map(|seed| derived_seed(seed, race.number as u64));
        design.budget = race.limit;
        options.read_rules()?;
        options.save = Some(race.file.to_owned());
        let range = [from, to].map(|side| self.commits[side].short());
        let again = as_rev(&self.words, &range.join(".."));
        options.again = Some(again.unwrap_or_default());
        options.until = Some(race.until);
        if let Some(name) = race.benchmark.filter(|_| self.command.is_none()) {
            options.only(plain_name(name));
        }
        let sides = [&self.built[&from], &self.built[&to]];
        let raced = match &self.command {
            Some(text) => {
                let race = RaceOfCommand::new(sides, text, &options);
                let outcome = race.and_then(|race| race.race(None));
                outcome.map(|outcome| (outcome, Vec::new()))
            }
            None => race_sides(sides, Vec::new(), &self.arguments, options),
        };
        let (run, failed) = match raced {
            Ok((outcome, failed)) => (outcome.run, failed),
            // The advice of the error is about other commands, whose options a search lacks.
            Err(Failure::Contender(text)) => {
                let reason = in_one_line(without_help(&text));
                return Ok(RaceEnd::CannotRace(reason));
            }
            // The commit lacks the benchmark.
            Err(Failure::Usage(text) | Failure::NothingSelected(text)) if !is_first => {
                return Ok(RaceEnd::CannotRace(in_one_line(&text)));
            }
            Err(error) => return Err(error),
        };
        let ended = run.end.as_ref().map(|end| &end.reason);
        if let Some(EndReason::Interrupted(signal)) = ended {
            return Err(interrupted(*signal));
        }
        // Without a limit, only the budget of a single benchmark can have ended.
        let was_cut = race.limit.is_some() && ended == Some(&EndReason::Budget);
        let mut results = race_results(&run, was_cut);
        let failed = failed.into_iter().map(|target| UnmeasuredBenchmark {
            benchmark: target.name,
            reason: UnmeasuredReason::Failed(target.message),
        });
        results.unmeasured.extend(failed);
        match run.failures.first() {
            Some(failed) if results.benchmarks.is_empty() && !was_cut => {
                Ok(RaceEnd::CannotRace(failed.message.clone()))
            }
            _ => Ok(RaceEnd::Raced(results)),
        }
    }

    fn measured(&mut self, file: &Path) -> Option<RaceResults> {
        Some(race_results(&read_run(file).ok()?, true))
    }

    fn seconds(&mut self) -> f64 {
        self.clock.elapsed_ns() as f64 / 1e9
    }

    fn tell(&mut self, request: &BisectRequest, news: BisectNews<'_>) {
        let glyphs = Glyphs::new(terminal::speaks_unicode());
        let said = match news {
            BisectNews::Builds(commit, other) => Some(building(request, (commit, other), glyphs)),
            BisectNews::Races(from, to, standing) => {
                Some(racing(request, (from, to), standing, glyphs))
            }
            BisectNews::WasCut(begun, replicates) => {
                Some(was_cut(request, begun, replicates, glyphs))
            }
            // The message before the build is enough.
            BisectNews::Happened(BisectEvent::Built(_), _) => None,
            BisectNews::Happened(event, standing) => {
                story_line(request, event, Some(standing), glyphs)
            }
        };
        if let Some(said) = said {
            self.say(&said);
        }
    }
}

fn interrupted(signal: i32) -> Failure {
    Failure::Interrupted {
        text: "interrupted".to_owned(),
        signal,
    }
}
