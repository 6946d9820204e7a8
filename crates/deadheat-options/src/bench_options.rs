//! Options of all races of builds, made by the user or by deadheat.

use std::path::PathBuf;

use clap::Args;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::{Commit, Harness, Surroundings, Until};
use deadheat::parts::rules::{CliOverrides, Rules};
use deadheat::parts::settings::{Front, Ignored, Selection};
use deadheat::parts::{PlanUse, settle_shard};

use crate::answer::{AnswerArgs, ExportArgs, SettingsArgs};
#[cfg(target_os = "linux")]
use crate::changed_suite::ChangedSuite;
use crate::saved_plan::check_plan;

/// Options of races of builds and of their answers.
#[derive(Clone, Debug, Args)]
pub struct BenchOptions {
    /// Filters, which are parts of benchmark names; all benchmarks if empty.
    #[arg(skip)]
    pub filters: Vec<String>,
    /// The filters and --skip must match whole names
    #[arg(long, help_heading = "Which benchmarks")]
    exact: bool,
    /// Skip benchmarks whose names contain this
    #[arg(long, value_name = "FILTER", help_heading = "Which benchmarks")]
    skip: Vec<String>,
    /// Race only benchmarks that are marked as ignored
    #[arg(
        long,
        help_heading = "Which benchmarks",
        conflicts_with = "include_ignored"
    )]
    ignored: bool,
    /// Race benchmarks that are marked as ignored, too
    #[arg(long, help_heading = "Which benchmarks")]
    include_ignored: bool,
    /// The harness of the programs [default: detected]
    #[arg(long, value_name = "NAME", value_parser = harness, help_heading = "Which benchmarks")]
    pub harness: Option<Harness>,
    /// List the pairs and the skipped benchmarks, and stop
    #[arg(long, help_heading = "Which benchmarks")]
    pub list: bool,

    /// The options that say how benchmarks race and are judged.
    #[command(flatten)]
    pub design: SettingsArgs<{ Front::Bench as usize }>,
    /// How each side is built, if the sides are built in two ways.
    #[arg(skip)]
    pub builds: Vec<String>,
    /// Differences between the sides besides the code under test.
    #[arg(skip)]
    pub surroundings: Surroundings,
    /// The source files of benchmarks that differ between the sides.
    #[cfg(target_os = "linux")]
    #[arg(skip)]
    pub changed_suite: ChangedSuite,
    /// The commits that the sides were built from; empty if a side is not a commit.
    #[arg(skip)]
    pub commits: Vec<Commit>,
    /// The command line that repeats the race, if that of this process does not repeat it.
    #[arg(skip)]
    pub again: Option<Vec<String>>,
    /// True if the run is added to the index of a history.
    #[arg(skip)]
    pub history: bool,
    /// The condition at which the race of a benchmark ends, in place of a verdict.
    #[arg(skip)]
    pub until: Option<Until>,
    /// The settings of the benchmarks, after the rules file is read.
    #[arg(skip)]
    pub rules: Rules,

    /// The use of the plan: to be raced, or to be saved to a file.
    #[arg(skip)]
    pub use_of_plan: PlanUse,

    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// Show what the programs print, on standard error
    #[arg(long, help_heading = "Answer")]
    pub nocapture: bool,
    /// Print no progress on standard error
    #[arg(short = 'q', long, help_heading = "Answer")]
    pub quiet: bool,

    /// Record the run here [default: .deadheat/runs/TIME-SEED.jsonl]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub save: Option<PathBuf>,
    /// Output files next to the answer.
    #[command(flatten)]
    pub exports: ExportArgs,
}

fn harness(word: &str) -> Result<Harness, String> {
    let mut all = Harness::ALL.into_iter();
    let found = all.find(|harness| harness.key().replace('_', "-") == word);
    found.ok_or_else(|| {
        let words = Harness::ALL.map(|harness| harness.key().replace('_', "-"));
        format!("there are {}", words.join(", "))
    })
}

impl BenchOptions {
    /// Reads the rules file. Call it before any other method.
    pub fn read_rules(&mut self) -> Result<(), Failure> {
        if self.use_of_plan == PlanUse::Save {
            check_plan(&self.design.0, self.save.as_deref(), &self.exports)?;
        }
        self.design.0 = settle_shard(std::mem::take(&mut self.design.0))?;
        let part = self.exact || self.ignored || !self.skip.is_empty();
        let asked = CliOverrides {
            names: !self.filters.is_empty(),
            whole: self.filters.is_empty() && !part,
            ..CliOverrides::default()
        };
        self.rules = self.answer.read_rules(&self.design.0, asked)?;
        Ok(())
    }

    /// Narrows the selection to the benchmark with this name.
    pub fn only(&mut self, name: &str) {
        self.filters = vec![name.to_owned()];
        self.skip.clear();
        self.exact = true;
    }

    /// Returns the selection of benchmarks by these options and the rules file.
    pub fn selection(&self) -> Selection {
        self.rules.selection(Selection {
            filters: self.filters.clone(),
            skips: self.skip.clone(),
            exact: self.exact,
            ignored: match (self.ignored, self.include_ignored) {
                (true, _) => Ignored::Only,
                (_, true) => Ignored::In,
                _ => Ignored::Out,
            },
            ..Selection::default()
        })
    }
}
