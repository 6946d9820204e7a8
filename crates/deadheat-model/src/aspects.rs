//! The aspects of a comparison: facts about how its sides were measured, apart from the verdict.
//!
//! Each aspect has a file in `aspects/` of deadheat-analysis, which computes it, and a file in
//! `aspects/` of deadheat-report, which prints it.

use crate::benchmark::TurnsReason;
use crate::estimate::{BlockDiagnostics, Control, Estimate, Interval, LogRatio, Verdict};
use crate::observed::ObservedProcess;
use crate::shard::Conditions;

/// The aspects of a comparison. None of them decides the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aspects {
    /// The control race: the baseline against a second copy of itself in the same blocks.
    pub control: Option<Control>,
    /// The effects on each host of a merged run; `None` for a run of one host.
    pub hosts: Option<AcrossHosts>,
    /// The time spent waiting for a core; `None` if it was not recorded, or if the judged metric is
    /// not wall time.
    pub waiting: Option<WaitingShare>,
    /// The effect with the user's own link, for comparison with the effect on neutral links.
    pub own_link: Option<Estimate>,
    /// True if the two sides are builds whose links were matched in every replicate, so that code
    /// they share had the same addresses in both.
    pub matched: bool,
    /// Observed properties of the processes of the baseline and of the candidate, over all judged
    /// replicates; empty if nothing was observed.
    pub processes: Vec<ObservedProcess>,
    /// The components of the variation of block effects.
    pub spreads: Option<Spreads>,
    /// The reason why launches took turns, if running them side by side was tried.
    pub turns_because: Option<TurnsReason>,
    /// Set if the launches of a block ran side by side.
    pub side_by_side: Option<RacedSideBySide>,
    /// Effects of the order within blocks; `None` without ABBA blocks.
    pub order_effects: Option<BlockDiagnostics>,
    /// The excluded blocks; `None` if no block was excluded.
    pub dropped: Option<DroppedBlocks>,
    /// The number of further replicates that would settle an open verdict.
    pub settling: Option<Settling>,
}

impl Aspects {
    /// Returns the number of excluded blocks.
    pub fn dropped_blocks(&self) -> usize {
        self.dropped.map_or(0, |dropped| dropped.blocks)
    }
}

/// Blocks excluded from the estimate, because they were disturbed or the harness cut them short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DroppedBlocks {
    /// Number of excluded blocks.
    pub blocks: usize,
    /// The effect if the excluded blocks were included.
    pub effect_with_them: Option<LogRatio>,
}

/// The further effort that would settle an open verdict, if the estimate does not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Number of further replicates needed to settle the verdict.
    pub replicates: usize,
    /// Seconds that the further replicates would take at the pace of the run; `None` for a
    /// recording.
    pub seconds: Option<f64>,
    /// The option by which the user limited the launches, `-r` or `-M`, if it was given. It cannot
    /// be combined with `--max-replicates`, so advice says to replace it.
    pub in_place_of: Option<&'static str>,
}

/// The time that the contenders of a comparison spent waiting for a core.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingShare {
    /// Waiting time as a share of the baseline's wall time.
    pub baseline: f64,
    /// Waiting time as a share of the candidate's wall time; `None` if the benchmark has only one
    /// contender.
    pub candidate: Option<f64>,
    /// True if the waiting time was subtracted from every sample.
    pub taken_out: bool,
    /// The estimate with the waiting time left in the wall times; `None` if no waiting time was
    /// subtracted.
    pub kept: Option<Estimate>,
    /// The verdict with the waiting time left in the wall times; `None` if `kept` is missing or
    /// gives no verdict.
    pub verdict_kept: Option<Verdict>,
}

/// Details of a comparison whose launches ran side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RacedSideBySide {
    /// The effect on the same metric in a race in turns; `None` without such a race.
    pub in_turns: Option<Estimate>,
    /// Share of its run time that the longer launch ran alone, after the other had ended.
    pub alone: f64,
}

/// A comparison over several hosts. Its estimate treats the effect on each host as one observation.
#[derive(Clone, Debug, PartialEq)]
pub struct AcrossHosts {
    /// True if the verdict also applies to other hosts like the measured ones, which requires at
    /// least six hosts. Otherwise the verdict applies only to the hosts that raced.
    pub like_these: bool,
    /// The prediction interval for the effect on another host; `None` if the verdict applies only
    /// to the hosts that raced.
    pub next_host: Option<Interval>,
    /// Cochran's Q of the hosts' effects; `None` if a host shows no measurement error.
    pub q: Option<f64>,
    /// I²: the share of Q that exceeds the value expected from measurement errors alone, at least
    /// 0.
    pub i_squared: Option<f64>,
    /// The p-value of equal effects on all hosts, by Welch's test.
    pub p_differ: Option<f64>,
    /// The standard deviation of the true effects from host to host.
    pub host_sd: Option<LogRatio>,
    /// Number of further hosts that would settle an open verdict, if the estimate does not change.
    pub hosts_to_settle: Option<usize>,
    /// The processor models that at least two hosts have; empty unless there are several such
    /// models.
    pub kinds: Vec<HostKind>,
    /// The hosts that have an effect, in the order of their parts of the run.
    pub hosts: Vec<HostRow>,
    /// Numbers of the parts of the divided race that the merged run lacks.
    pub missing: Vec<u32>,
}

impl AcrossHosts {
    /// Returns the hosts that the estimate uses.
    pub fn kept(&self) -> impl Iterator<Item = &HostRow> {
        self.hosts.iter().filter(|host| !host.left_out)
    }

    /// Returns the hosts whose control race found a difference. The estimate still uses these hosts
    /// if there are too many of them to exclude.
    pub fn told_apart(&self) -> impl Iterator<Item = &HostRow> {
        let is_told = |host: &&HostRow| host.control.is_some_and(|control| control.separated);
        self.hosts.iter().filter(is_told)
    }
}

/// One host of a comparison over several hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    /// Numbers of the parts of the divided race that this host ran.
    pub parts: Vec<u32>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Measurement conditions on the host.
    pub conditions: Conditions,
    /// The effect on this host alone.
    pub estimate: Estimate,
    /// The control race on this host: the baseline against its second copy, at a level corrected
    /// for the number of hosts. `None` without a control.
    pub control: Option<Control>,
    /// True if the estimate over hosts excludes this host, because its control race found a
    /// difference.
    pub left_out: bool,
}

/// A group of hosts with the same processor model.
#[derive(Clone, Debug, PartialEq)]
pub struct HostKind {
    /// Processor model.
    pub cpu: String,
    /// Number of hosts with this processor model.
    pub hosts: usize,
    /// Mean effect on the hosts with this processor model.
    pub effect: LogRatio,
    /// The confidence interval of the mean. For n processor models, its level is 1 − α/n, so that
    /// all n intervals together have the level 1 − α.
    pub interval: Option<Interval>,
}

/// The components of the variation of a block's effect: standard deviations in log-ratio units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    /// Standard deviation between neutral links; `None` if the race had a single link, or if the
    /// data cannot separate the variation between links from that between processes.
    pub placement: Option<f64>,
    /// Standard deviation between processes; `None` if the data cannot separate the variation
    /// between processes from that between links, or if every block is a separate process.
    pub process: Option<f64>,
    /// Standard deviation between blocks of one process.
    pub block: f64,
}
