//! Converts a run into its row in the index: commits, machine, and measured effects.

use std::fmt;

use deadheat::parts::analysis::{Options, analyse, measured_effects};
use deadheat::parts::model::{Analysis, Commit, Comparison, MeasuredEffect, Origin, Run};

use crate::files_store::StoredRun;
use crate::timeline::{HistoryMachine, HistoryRace, HistoryRun, HistorySeries};

/// A reason why a file cannot become part of a history. The text follows the name of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// The results are not from a race.
    NoRace,
    /// The file is one part of a distributed race.
    Part {
        /// The number of the part, from 1.
        index: u32,
        /// The number of parts.
        count: u32,
    },
    /// The run does not record the commits of its sides.
    NoCommits,
    /// The run records other commits than the user names.
    OtherCommits,
    /// Both sides were built from this commit.
    OneCommit(String),
    /// No benchmark has an effect with a standard error.
    NoEffect,
}

impl fmt::Display for NotStored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRace => write!(
                f,
                "holds results of another tool or a recording; a history is made of races"
            ),
            Self::Part { index, count } => write!(
                f,
                "is part {index} of {count} of a race; merge the parts by `deadheat merge` and \
                 add the result"
            ),
            Self::NoCommits => write!(
                f,
                "does not record the commits of its sides; `deadheat rev OLD..NEW` records them, \
                 and --commits OLD..NEW names those of one file"
            ),
            Self::OtherCommits => write!(
                f,
                "records other commits than those of --commits; leave --commits out"
            ),
            Self::OneCommit(commit) => write!(
                f,
                "races {commit} against itself, which says nothing about commits"
            ),
            Self::NoEffect => write!(
                f,
                "has no change with a standard error, for example because every benchmark failed or has \
                 only one replicate"
            ),
        }
    }
}

impl std::error::Error for NotStored {}

/// Returns the row of a run. `named` are its commits if the run does not record them.
///
/// # Errors
///
/// Fails if the run is not a race of two commits with a measured effect.
pub fn stored_run(
    file: &StoredRun,
    run: &Run,
    path: String,
    named: Option<&[Commit; 2]>,
) -> Result<HistoryRun, NotStored> {
    let header = &run.header;
    if header.origin != Origin::Race {
        return Err(NotStored::NoRace);
    }
    let environment = &header.environment;
    let shard = header
        .plan
        .design
        .shard
        .filter(|_| environment.merged.is_none());
    if let Some(shard) = shard {
        return Err(NotStored::Part {
            index: shard.index,
            count: shard.count,
        });
    }
    let is_same = |one: &[Commit; 2], two: &[Commit]| {
        two.iter()
            .map(|commit| &commit.id)
            .eq(one.iter().map(|commit| &commit.id))
    };
    let commits = match (named, &environment.commits[..]) {
        (Some(named), [_, _]) if !is_same(named, &environment.commits) => {
            return Err(NotStored::OtherCommits);
        }
        (Some(named), _) => named.clone(),
        (None, [old, new]) => [old.clone(), new.clone()],
        (None, _) => return Err(NotStored::NoCommits),
    };
    if commits[0].id == commits[1].id {
        return Err(NotStored::OneCommit(commits[0].short().to_owned()));
    }
    let analysis = analyse(
        run,
        Options {
            without_figures: true,
            ..Options::default()
        },
    );
    let effects = measured_effects(run);
    let races = effects
        .iter()
        .filter_map(|effect| race(run, &analysis, effect));
    let races: Vec<HistoryRace> = races.collect();
    if races.is_empty() {
        return Err(NotStored::NoEffect);
    }
    let name = match &environment.merged {
        Some(merged) => format!("{} hosts", merged.hosts.len()),
        None => environment.machine.clone().unwrap_or_default(),
    };
    Ok(HistoryRun {
        identity: file.identity.clone(),
        content: file.content.clone(),
        length: file.complete().len() as u64,
        path,
        started_at: header.started_at,
        commits,
        machine: HistoryMachine {
            name,
            cpu: environment.cpu.clone().unwrap_or_default(),
        },
        tool_version: header.tool_version.clone(),
        command: shell_words::join(&header.command),
        selection: environment
            .surroundings
            .selection
            .clone()
            .unwrap_or_default(),
        unmeasured: unmeasured(run, &effects).len(),
        races,
    })
}

/// Returns the names of the benchmarks without a measured effect, without reruns.
pub(crate) fn unmeasured<'a>(run: &'a Run, effects: &[MeasuredEffect]) -> Vec<&'a str> {
    let benchmarks = run.header.plan.benchmarks.iter().enumerate();
    let raced = benchmarks.filter(|(_, one)| one.rerun.is_none() && one.contenders.len() > 1);
    let is_measured = |index| effects.iter().any(|effect| effect.benchmark == index);
    let missing = raced.filter(|(index, _)| !is_measured(*index));
    missing.map(|(_, one)| one.name.as_str()).collect()
}

/// Returns an effect with its verdict and warnings. `None` if the analysis has no comparison for
/// it, for example because a benchmark failed.
fn race(run: &Run, analysis: &Analysis, measured: &MeasuredEffect) -> Option<HistoryRace> {
    let benchmark = &run.header.plan.benchmarks[measured.benchmark];
    let is_of_it = |one: &&Comparison| {
        one.benchmark == benchmark.name
            && one.details.parameters == benchmark.parameters
            && one.candidate.is_some()
    };
    let mut comparisons = analysis.comparisons.iter().filter(is_of_it);
    let comparison = comparisons.nth(measured.candidate)?;
    Some(HistoryRace {
        series: HistorySeries {
            benchmark: benchmark.name.clone(),
            parameters: benchmark.parameters.clone(),
            metric: comparison.terms.metric.clone(),
        },
        candidate: measured.candidate,
        effect: measured.effect,
        se: measured.se,
        df: measured.df,
        replicates: measured.replicates,
        verdict: comparison.verdict,
        warnings: comparison
            .warnings
            .iter()
            .map(|warning| warning.code().to_owned())
            .collect(),
    })
}
