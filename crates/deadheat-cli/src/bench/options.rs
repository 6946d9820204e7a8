//! Options of all races of builds, whoever made these.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use deadheat::exit::Failure;
use deadheat::model::{Metric, Pinning};
use deadheat::rules::{CliOverrides, Rules};
use deadheat::settings::{Ignored, Placement, Selection, duration, fraction, pinning, random_seed};
use deadheat::{RaceOutcome, Resumable, ResumeOptions, WorkerRace};

use crate::exports::ExportArgs;
use crate::options::AnswerArgs;
use crate::resume::resume;
use crate::typed;

/// What a sample may take when nobody says: a benchmark that hangs must not
/// hang a night's worth of CI.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Replicates of each benchmark at most, where nobody says.
const MAX_REPLICATES: u32 = 40;

/// How builds are raced and what becomes of the answer.
#[derive(Clone, Debug, Args)]
pub struct BenchOptions {
    /// Parts of the names of benchmarks that are meant; all when there are none.
    #[arg(skip)]
    pub filters: Vec<String>,
    /// Filters and --skip are whole names
    #[arg(long, help_heading = "Which benchmarks")]
    exact: bool,
    /// Leave out benchmarks whose names contain this
    #[arg(long, value_name = "FILTER", help_heading = "Which benchmarks")]
    skip: Vec<String>,
    /// Only benchmarks that are marked as ignored
    #[arg(
        long,
        help_heading = "Which benchmarks",
        conflicts_with = "include_ignored"
    )]
    ignored: bool,
    /// Those too
    #[arg(long, help_heading = "Which benchmarks")]
    include_ignored: bool,
    /// Name the pairs and what is left out, and stop
    #[arg(long, help_heading = "Which benchmarks")]
    pub list: bool,

    /// Smallest change worth acting on [default: 1%]
    #[arg(long, value_name = "CHANGE", value_parser = fraction, help_heading = "Design", allow_hyphen_values = true)]
    margin: Option<f64>,
    /// Accepted chance of a wrong verdict [default: 0.05]
    #[arg(long, value_name = "P", value_parser = fraction, help_heading = "Design", allow_hyphen_values = true)]
    alpha: Option<f64>,
    /// Replicates of each benchmark at most, each in fresh processes [default: 40]
    #[arg(long, value_name = "N", help_heading = "Design")]
    max_replicates: Option<u32>,
    /// Blocks in a replicate [default: found by a pilot]
    #[arg(long, value_name = "N", help_heading = "Design")]
    pub blocks: Option<u32>,
    /// Race each baseline against a second copy of itself as well; verdicts are provisional when
    /// the two seem to differ
    #[arg(long, help_heading = "Design")]
    pub control: bool,
    /// Start no block after this much time
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Design")]
    budget: Option<Duration>,
    /// What a sample lasts at least [default: found by a pilot]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Design")]
    pub sample_time: Option<Duration>,
    /// Kill what takes longer for a single sample, or none [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = timeout, help_heading = "Design")]
    timeout: Option<Timeout>,
    /// What is judged: wall, cpu, … or what the programs measure themselves [default: wall]
    #[arg(long, value_name = "METRIC", help_heading = "Design")]
    metric: Option<String>,
    /// What is asked of the benchmarks, once the rules file is read.
    #[arg(skip)]
    pub rules: Rules,
    /// Cores of the programs: auto (one core per replicate, drawn), none or a list
    #[arg(long, value_name = "CORES", default_value = "auto", value_parser = pinning, help_heading = "Design")]
    pub pin: Pinning,
    /// Which links are raced: neutral (of programs linked through 'deadheat link', another one
    /// per replicate and side) or own (as they are)
    #[arg(long, value_name = "WHICH", default_value = "neutral", value_parser = Placement::parse, help_heading = "Design")]
    placement: Placement,
    /// Source of every random choice [default: drawn and recorded]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Design",
        allow_negative_numbers = true
    )]
    seed: Option<u64>,

    /// Record the run here [default: .deadheat/runs/TIME-SEED.jsonl]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub save: Option<PathBuf>,
    /// Files beside the answer.
    #[command(flatten)]
    pub exports: ExportArgs,

    /// The answer.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// Show what the programs print, on standard error
    #[arg(long, help_heading = "Answer")]
    pub nocapture: bool,
    /// No progress on standard error
    #[arg(short = 'q', long, help_heading = "Answer")]
    pub quiet: bool,
}

/// A limit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Timeout(Option<Duration>);

fn timeout(text: &str) -> Result<Timeout, String> {
    match text {
        "none" => Ok(Timeout(None)),
        time => duration(time).map(|time| Timeout(Some(time))),
    }
}

impl BenchOptions {
    /// Reads the rules file, to be called before anything else.
    pub fn read_rules(&mut self) -> Result<(), Failure> {
        let part = self.exact || self.ignored || !self.skip.is_empty();
        let asked = CliOverrides {
            margin: self.margin,
            alpha: self.alpha,
            metric: self.metric.as_deref().map(Metric::from_name),
            budget: self.budget,
            max_replicates: self.max_replicates,
            fail_on: self.answer.fail_on.clone(),
            names: !self.filters.is_empty(),
            whole: self.filters.is_empty() && !part,
        };
        self.rules = self.answer.rules.read(asked)?;
        self.answer.gate = self.rules.gate();
        Ok(())
    }

    /// Which benchmarks are meant.
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

    /// What a sample may take.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout.map_or(Some(TIMEOUT), |timeout| timeout.0)
    }

    /// Replicates of each benchmark at most.
    pub fn max_replicates(&self) -> u32 {
        self.rules.max_replicates().unwrap_or(MAX_REPLICATES)
    }

    /// The source of every random choice.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(random_seed)
    }

    /// The program that makes neutral links, which is this very one. Where it
    /// cannot be found, as when it was replaced meanwhile, programs run as they
    /// were linked.
    pub fn placements(&self) -> Option<PathBuf> {
        match self.placement {
            Placement::Neutral => std::env::current_exe().ok(),
            Placement::Own => None,
        }
    }

    /// Goes on with a recorded race of programs.
    pub fn resume(&self, path: &Path) -> Result<RaceOutcome, Failure> {
        let how = ResumeOptions {
            budget: self.budget,
            timeout: self.timeout(),
            programs_shown: self.nocapture,
            placements: self.placements(),
            ..ResumeOptions::default()
        };
        let programs = [Resumable::Workers, Resumable::GoogleBenchmark];
        resume(path, &programs, self.max_replicates, how, self.quiet)
    }

    /// A race of workers by these options.
    pub fn worker_race(&self) -> WorkerRace {
        let seed = self.seed();
        WorkerRace {
            command: typed::again(seed),
            program: None,
            shown: self.nocapture,
            margin: self.rules.margin(),
            alpha: self.rules.alpha(),
            max_replicates: self.max_replicates(),
            blocks: self.blocks,
            control: self.control,
            budget: self.rules.budget(),
            sample_time: self.sample_time,
            timeout: self.timeout(),
            seed,
            judged: self.rules.judged(),
            pinning: self.pin.clone(),
            save: self.save.clone(),
            folder: PathBuf::new(),
            placements: self.placements(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_may_take_a_minute_more_or_less_or_as_long_as_it_likes() {
        assert_eq!(timeout("none"), Ok(Timeout(None)));
        let seconds = Timeout(Some(Duration::from_secs(5)));
        assert_eq!(timeout("5s"), Ok(seconds));
        assert!(timeout("soon").is_err());
    }
}
