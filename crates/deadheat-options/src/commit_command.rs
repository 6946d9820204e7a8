//! Races of one command in the folders of two commits.

use std::path::PathBuf;

use clap::Args;
use deadheat::parts::command_race::CommandRaceSpec;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{Conditions, HELP, Plan, without_help};
use deadheat::parts::{LiveProgress, PlanUse, RaceOptions, RaceOutcome, SecondRace, race_commands};
use deadheat_build::{CommandBuild, Racing, Recipe, Side, Variables};

use crate::bench_options::BenchOptions;
use crate::races::{again, placements, race_and_tell};
use crate::repository::commit;

/// The command that is raced in the folder of each commit, instead of executables with benchmarks.
#[derive(Debug, Args)]
pub struct CommitCommand {
    /// Race this command without a shell, in the folder of each commit after --build has run there
    #[arg(
        id = "run_command",
        long = "run",
        value_name = "CMD",
        help_heading = "Build",
        conflicts_with_all = [
            "exe", "cmake", "go", "pytest", "node", "vitest", "cargo", "exact", "skip", "ignored", "include_ignored",
            "harness", "nocapture",
        ]
    )]
    pub command: Option<String>,
}

impl CommitCommand {
    /// Refuses filters, which select benchmarks, and a command that cannot be raced. Call it before
    /// anything is built.
    pub fn check(&self, filters: &[String]) -> Result<(), Failure> {
        let Some(command) = &self.command else {
            return Ok(());
        };
        if !filters.is_empty() {
            return Err(Failure::Usage(format!(
                "'{}': filters select benchmarks, and --run races a command{HELP}leave them out, \
                 or put them into the command: --run './tool {}'",
                filters.join("', '"),
                filters.join(" ")
            )));
        }
        let spec = CommandRaceSpec {
            commands: vec![command.clone()],
            ..CommandRaceSpec::default()
        };
        match spec.plan() {
            // The advice in `why` names an option that only other subcommands have.
            Err(Failure::Usage(why)) if why.contains("shell") => Err(Failure::Usage(format!(
                "--run {}{HELP}--run \"sh -c '…'\" races a shell with all that it starts; --build \
                 CMD is a line for a shell and builds each commit",
                without_help(&why)
            ))),
            checked => checked.map(|_| ()),
        }
    }

    /// Returns the recipe that builds a commit before the command runs. Without `build`, this
    /// recipe does nothing. Returns `None` if benchmarks are raced.
    pub fn recipe(&self, build: Option<&str>, variables: Variables) -> Option<Recipe> {
        self.command.as_ref()?;
        Some(Recipe::Command(CommandBuild {
            command: build.unwrap_or(":").to_owned(),
            racing: Racing::Commands,
            variables,
        }))
    }
}

/// A race of a command in the folders of two sides that were built.
pub struct RaceOfCommand<'a> {
    spec: CommandRaceSpec,
    plan: Plan,
    race: RaceOptions,
    options: &'a BenchOptions,
}

impl<'a> RaceOfCommand<'a> {
    /// Plans the race.
    ///
    /// # Errors
    ///
    /// Fails if the command or the options cannot be raced.
    pub fn new(
        [old, new]: [&Side; 2],
        command: &str,
        options: &'a BenchOptions,
    ) -> Result<Self, Failure> {
        let settings = options.rules.seeded();
        let placements = placements(settings.placement);
        let again = if new.name == old.name { " again" } else { "" };
        let spec = CommandRaceSpec {
            commands: vec![command.to_owned(); 2],
            names: vec![old.name.clone(), format!("{}{again}", new.name)],
            directories: vec![old.directory.clone(), new.directory.clone()],
            settings,
            rules: options.rules.some(),
            ..CommandRaceSpec::default()
        };
        let plan = spec.plan()?;
        let commits = [old, new].map(|side| side.commit.as_ref().map(commit));
        let both = commits.iter().all(Option::is_some);
        let race = RaceOptions {
            command: Vec::new(),
            save: options.save.clone(),
            folder: PathBuf::new(),
            shown: 2,
            arrangement: spec.arrangement(&plan, false)?,
            placements,
            open: spec.is_open(),
            in_launches: spec.is_in_launches(),
            commits: commits.into_iter().flatten().filter(|_| both).collect(),
            until: options.until.clone(),
            use_of_plan: PlanUse::Race,
            conditions: Conditions::default(),
        };
        Ok(Self {
            spec,
            plan,
            race,
            options,
        })
    }

    /// Races, and prints the answer.
    pub fn race_and_tell(mut self) -> Result<Status, Failure> {
        self.options.exports.check(None)?;
        self.race.command = again(self.plan.seed);
        // All races of a bisection use the same arrangement; a single race uses the best one for
        // its commands.
        self.race.arrangement = self.spec.arrangement(&self.plan, true)?;
        let answered = (&self.options.answer, &self.options.exports);
        let (save, quiet) = (self.options.save.as_deref(), self.options.quiet);
        race_and_tell(&self.spec.settings, save, quiet, answered, |second| {
            self.race(second)
        })
    }

    /// Races without printing an answer. `second` describes a race that confirms the first one.
    pub fn race(&self, second: Option<&SecondRace>) -> Result<RaceOutcome, Failure> {
        let (mut plan, mut race) = (self.plan.clone(), self.race.clone());
        if let Some(second) = second {
            let mut spec = self.spec.clone();
            spec.settings = second.settings(spec.settings);
            spec.rules = second.rules(spec.rules);
            plan = spec.plan()?;
            plan.benchmarks.retain(|one| second.races(one));
            race.save = Some(second.save.clone());
        }
        let mut progress = LiveProgress::new(&plan.benchmarks, self.options.quiet);
        let outcome = race_commands(plan, &race, &mut progress)
            .map_err(|error| error.into_failure(&self.options.rules))?;
        progress.finish();
        Ok(outcome)
    }
}
