//! The commits of a search, built one at a time and raced as those of `deadheat rev`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use deadheat::parts::analysis::{Options, analyse, measured_effects};
use deadheat::parts::bisect::{
    BisectEvent, BisectNews, BisectRequest, BisectSides, RaceEnd, RaceOfCommits, RacedBenchmark,
    SideBuilt,
};
use deadheat::parts::command_race::CommandRaceSpec;
use deadheat::parts::engine::{Clock as _, Interrupts, OsClock, contents, unix_seconds};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{create_run_folder, default_run_path, read_run};
use deadheat::parts::model::{
    Benchmark, Comparison, Conditions, EndReason, Metric, Run, Scope, Verdict, in_one_line,
};
use deadheat::parts::repetition::derived_seed;
use deadheat::parts::report::{Glyphs, bisect as words};
use deadheat::parts::terminal::{self, to_stderr};
use deadheat::parts::{LiveProgress, PlanUse, RaceOptions, RaceOutcome, race_commands};
use deadheat_build::{BuildError, CommitBuilder, CommitInfo, Note, Recipe, Side};

use super::arguments::as_rev;
use crate::bench::BenchOptions;
use crate::build_options::RecipeOptions;
use crate::races::placements;
use crate::repository::{commit, failure};
use crate::rev::race_sides;

/// The commits of a range, as they are built and raced.
pub struct Commits<'a> {
    pub commit_builder: CommitBuilder<'a>,
    pub recipe: &'a Recipe,
    pub recipe_options: &'a RecipeOptions,
    /// By number.
    pub commits: Vec<CommitInfo>,
    /// The words of the search.
    pub words: Vec<String>,
    /// What was built in this sitting, held against removal.
    pub built: BTreeMap<usize, Side>,
    pub options: BenchOptions,
    pub arguments: Vec<String>,
    /// The command that races in the folder of each commit, in place of executables.
    pub command: Option<String>,
    pub interrupts: &'a Interrupts,
    pub clock: OsClock,
    /// What was told already: a note on every build would be said a dozen times.
    pub told: BTreeSet<String>,
}

impl Commits<'_> {
    fn say(&self, text: &str) {
        if !self.options.quiet {
            to_stderr("deadheat", text);
        }
    }

    /// Builds a commit, or finds its build.
    fn side(&mut self, number: usize) -> Result<Side, BuildError> {
        let (quiet, told) = (self.options.quiet, &mut self.told);
        let built = self
            .commit_builder
            .build(&self.commits[number], &mut |note| {
                // What is built, and for what, was said.
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

    /// Builds a commit that is not built yet, and holds it.
    fn hold(&mut self, number: usize) -> Result<(), BuildError> {
        let last = self.commits.len() - 1;
        // Bench targets that a commit lacks are those of BAD, for all of them alike.
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

    /// An error of a build, or the signal that broke it off.
    fn failure(&self, error: BuildError) -> Failure {
        match (error, self.interrupts.requested()) {
            (BuildError::Interrupted, Some(signal)) => interrupted(signal),
            (error, _) => failure(error),
        }
    }

    /// A digest of the executables of a build, where these are all that matters.
    fn digest(&self, side: &Side) -> Option<String> {
        if self.command.is_some() || !side.is_self_contained() {
            return None;
        }
        let digest = |path: &Path| Some(contents(path, &[]).into_iter().next()?.1);
        let executables = side.executables.iter();
        let digests: Option<Vec<String>> = executables.map(|one| digest(&one.path)).collect();
        digests.map(|digests| digests.join("-"))
    }

    /// Races the command in the folders of two commits.
    fn race_command(
        &self,
        [old, new]: [&Side; 2],
        text: &str,
        options: &BenchOptions,
    ) -> Result<RaceOutcome, Failure> {
        let settings = options.rules.seeded();
        let placements = placements(settings.placement);
        let spec = CommandRaceSpec {
            commands: vec![text.to_owned(); 2],
            names: vec![old.name.clone(), new.name.clone()],
            directories: vec![old.directory.clone(), new.directory.clone()],
            settings,
            rules: options.rules.some(),
            ..CommandRaceSpec::default()
        };
        let plan = spec.plan()?;
        // The races of a search are compared with each other, so no pilot chooses for each.
        let arrangement = spec.arrangement(&plan, false)?;
        let commits = [old, new].map(|side| side.commit.as_ref().map(commit));
        let race = RaceOptions {
            command: Vec::new(),
            save: options.save.clone(),
            folder: PathBuf::new(),
            shown: 2,
            arrangement,
            placements,
            open: spec.is_open(),
            in_launches: spec.is_in_launches(),
            commits: commits.into_iter().flatten().collect(),
            until: options.until.clone(),
            use_of_plan: PlanUse::Race,
            conditions: Conditions::default(),
        };
        let mut progress = LiveProgress::new(&plan.benchmarks, options.quiet);
        let outcome = race_commands(plan, &race, &mut progress)
            .map_err(|error| error.into_failure(&options.rules))?;
        progress.finish();
        Ok(outcome)
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
        free.ok_or_else(|| Failure::Internal("every name of a run is taken".to_owned()))
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
            Some(text) => self.race_command(sides, text, &options),
            None => race_sides(sides, Vec::new(), &self.arguments, options),
        };
        let run = match raced {
            Ok(outcome) => outcome.run,
            Err(Failure::Contender(text)) => return Ok(RaceEnd::CannotRace(in_one_line(&text))),
            // It lacks the benchmark.
            Err(Failure::Usage(text)) if !is_first => {
                return Ok(RaceEnd::CannotRace(in_one_line(&text)));
            }
            Err(error) => return Err(error),
        };
        if let Some(EndReason::Interrupted(signal)) = run.end.as_ref().map(|end| &end.reason) {
            return Err(interrupted(*signal));
        }
        let measured = raced_benchmarks(&run);
        match run.failures.first() {
            Some(failed) if measured.is_empty() => Ok(RaceEnd::CannotRace(failed.message.clone())),
            _ => Ok(RaceEnd::Raced(measured)),
        }
    }

    fn measured(&mut self, file: &Path) -> Vec<RacedBenchmark> {
        read_run(file).map_or_else(|_| Vec::new(), |run| raced_benchmarks(&run))
    }

    fn seconds(&mut self) -> f64 {
        self.clock.elapsed_ns() as f64 / 1e9
    }

    fn tell(&mut self, request: &BisectRequest, news: BisectNews<'_>) {
        let glyphs = Glyphs::new(terminal::speaks_unicode());
        let said = match news {
            BisectNews::Builds(commit, other) => {
                Some(words::building(request, (commit, other), glyphs))
            }
            BisectNews::Races(from, to, standing) => {
                Some(words::racing(request, (from, to), standing, glyphs))
            }
            BisectNews::WasCut(begun, replicates, counts) => {
                Some(words::was_cut(request, begun, replicates, counts, glyphs))
            }
            // That it is going to be built was said.
            BisectNews::Happened(BisectEvent::Built(_), _) => None,
            BisectNews::Happened(event, standing) => {
                words::story_line(request, event, Some(standing), glyphs)
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

/// The name of a benchmark among the others of its run.
fn name_of(benchmark: &Benchmark) -> String {
    let values = benchmark.parameters.iter();
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match values.is_empty() {
        true => benchmark.name.clone(),
        false => format!("{} [{}]", benchmark.name, values.join(", ")),
    }
}

/// The same without its parameters, as filters know it.
fn plain_name(name: &str) -> &str {
    match name.rsplit_once(" [") {
        Some((plain, rest)) if rest.ends_with(']') => plain,
        _ => name,
    }
}

/// What the complete replicates of a run show of every benchmark.
fn raced_benchmarks(run: &Run) -> Vec<RacedBenchmark> {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    let analysis = analyse(run, options);
    let judged = |benchmark: &Benchmark| {
        analysis.comparisons.iter().find(|one| {
            let same = one.benchmark == benchmark.name && one.parameters == benchmark.parameters;
            same && one.candidate.is_some()
        })
    };
    let benchmarks = &run.header.plan.benchmarks;
    let mut raced: Vec<RacedBenchmark> = Vec::new();
    for found in measured_effects(run)
        .iter()
        .filter(|one| one.candidate == 0)
    {
        let benchmark = &benchmarks[found.benchmark];
        raced.push(RacedBenchmark {
            name: name_of(benchmark),
            effect: found.effect,
            se: found.se,
            df: found.df,
            replicates: found.replicates,
            is_called: judged(benchmark)
                .is_some_and(|one| matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower))),
            is_placed: judged(benchmark).is_some_and(speaks_of_the_source),
        });
    }
    raced.extend(exact(run, &analysis, &raced));
    raced
}

/// Returns true if no place of code can be the culprit: each was drawn anew, or instructions are
/// counted, which are as many wherever they lie.
fn speaks_of_the_source(comparison: &Comparison) -> bool {
    comparison.scope == Scope::Source || comparison.metric == Metric::Instructions
}

/// Counts that are the same in all replicates have no error: that is no lack of one.
fn exact(
    run: &Run,
    analysis: &deadheat::parts::model::Analysis,
    known: &[RacedBenchmark],
) -> Vec<RacedBenchmark> {
    let benchmarks = run.header.plan.benchmarks.iter();
    let unknown = benchmarks.filter(|one| {
        let name = name_of(one);
        one.rerun.is_none() && !known.iter().any(|known| known.name == name)
    });
    let found = unknown.filter_map(|benchmark| {
        let comparison = analysis.comparisons.iter().find(|one| {
            one.benchmark == benchmark.name && one.parameters == benchmark.parameters
        })?;
        let estimate = comparison.estimate.as_ref()?;
        let is_count = !comparison.metric.is_pace();
        (is_count && estimate.replicates >= 2).then(|| RacedBenchmark {
            name: name_of(benchmark),
            effect: estimate.effect,
            se: 0.0,
            df: (estimate.replicates - 1) as f64,
            replicates: estimate.replicates,
            is_called: estimate.effect.0 != 0.0,
            is_placed: speaks_of_the_source(comparison),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_with_parameters_is_found_by_its_name_alone() {
        let benchmark = Benchmark {
            name: "sort".to_owned(),
            parameters: vec![("n".to_owned(), "10".to_owned())],
            ..Benchmark::default()
        };
        assert_eq!(name_of(&benchmark), "sort [n=10]");
        assert_eq!(plain_name("sort [n=10]"), "sort");
        assert_eq!(plain_name("a[0]"), "a[0]");
    }
}
