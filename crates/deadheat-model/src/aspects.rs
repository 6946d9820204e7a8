//! The aspects of a comparison: what is known of how its sides were measured, besides the verdict.
//!
//! Each has a file of its own in `aspects/` of deadheat-analysis, which finds it, and of
//! deadheat-report, which writes it.

use crate::benchmark::TurnsReason;
use crate::estimate::{BlockDiagnostics, Control, Estimate, Interval, LogRatio, Verdict};
use crate::observed::ObservedProcess;
use crate::shard::Conditions;

/// The aspects of a comparison. None of them decides the verdict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aspects {
    /// The baseline against a second copy of itself in the same blocks.
    pub control: Option<Control>,
    /// The hosts of a merged run that each raced it; `None` for a run of one host.
    pub hosts: Option<AcrossHosts>,
    /// The time spent waiting for a core; `None` if it was not recorded, or if another metric than
    /// wall time is judged.
    pub waiting: Option<WaitingShare>,
    /// The effect as the user's own link placed the code, next to that of neutral links.
    pub own_link: Option<Estimate>,
    /// True if the two are builds that were matched in every replicate: the code that they share had
    /// the same addresses in both.
    pub matched: bool,
    /// What was observed of the processes of the baseline and of the candidate in every judged
    /// replicate; empty if nothing was observed.
    pub processes: Vec<ObservedProcess>,
    /// The spreads that the block effects vary by.
    pub spreads: Option<Spreads>,
    /// The reason why launches took turns, if trials were made to run them side by side.
    pub turns_because: Option<TurnsReason>,
    /// Set if the launches of a block ran side by side.
    pub side_by_side: Option<RacedSideBySide>,
    /// Order effects; `None` without ABBA blocks.
    pub order_effects: Option<BlockDiagnostics>,
    /// The blocks that were left out; `None` if all count.
    pub dropped: Option<DroppedBlocks>,
    /// What would settle an open verdict.
    pub settling: Option<Settling>,
}

impl Aspects {
    /// The number of blocks that were left out.
    pub fn dropped_blocks(&self) -> usize {
        self.dropped.map_or(0, |dropped| dropped.blocks)
    }
}

/// Blocks left out: disturbed, or cut short by the harness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DroppedBlocks {
    /// Their number.
    pub blocks: usize,
    /// The effect with them.
    pub effect_with_them: Option<LogRatio>,
}

/// What would settle an open verdict, if the estimate stays where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Number of further replicates.
    pub replicates: usize,
    /// The seconds these would take, at the pace of the run; `None` for a recording.
    pub seconds: Option<f64>,
}

/// The time that the contenders of a comparison spent waiting for a core.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingShare {
    /// Its share of the baseline's wall time.
    pub baseline: f64,
    /// Its share of the candidate's; `None` when the contender ran alone.
    pub candidate: Option<f64>,
    /// True if it was taken out of every sample.
    pub taken_out: bool,
    /// The estimate with it kept, where it was taken out.
    pub kept: Option<Estimate>,
    /// The verdict of that estimate.
    pub verdict_kept: Option<Verdict>,
}

/// What is known of a race side by side beyond its estimate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RacedSideBySide {
    /// The effect on the same metric in turns; `None` where it was not raced in turns, too.
    pub in_turns: Option<Estimate>,
    /// Share of its time that the longer of the two ran alone, after the other one had ended.
    pub alone: f64,
}

/// A comparison over several hosts, which are the observations that its estimate is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct AcrossHosts {
    /// True where the verdict speaks of hosts like these; of fewer than six it speaks of these
    /// alone.
    pub like_these: bool,
    /// Where the effect on the next host lies, where hosts like these are spoken of.
    pub next_host: Option<Interval>,
    /// Cochran's Q of the hosts' effects; `None` where one of them shows no error.
    pub q: Option<f64>,
    /// The share of Q beyond what the errors of measurement give.
    pub i_squared: Option<f64>,
    /// The p-value of equal effects on all of these hosts, by Welch's test.
    pub p_differ: Option<f64>,
    /// The standard deviation of the true effects from host to host.
    pub host_sd: Option<LogRatio>,
    /// Number of further hosts that would settle an open verdict, if the estimate stays where it
    /// is.
    pub hosts_to_settle: Option<usize>,
    /// The models of processors that several hosts have, where there are several.
    pub kinds: Vec<HostKind>,
    /// The hosts that have an effect, in the order of their parts.
    pub hosts: Vec<HostRow>,
    /// The numbers of the parts that the run lacks.
    pub missing: Vec<u32>,
}

impl AcrossHosts {
    /// The hosts that the estimate rests on.
    pub fn kept(&self) -> impl Iterator<Item = &HostRow> {
        self.hosts.iter().filter(|host| !host.left_out)
    }

    /// The hosts whose control race found a difference. If there are too many such hosts, all hosts
    /// count.
    pub fn told_apart(&self) -> impl Iterator<Item = &HostRow> {
        let is_told = |host: &&HostRow| host.control.is_some_and(|control| control.separated);
        self.hosts.iter().filter(is_told)
    }
}

/// A host of a comparison over several.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    /// The numbers of the parts that it raced.
    pub parts: Vec<u32>,
    /// Its model of processor.
    pub cpu: Option<String>,
    /// The conditions that it measured under.
    pub conditions: Conditions,
    /// The effect it showed by itself.
    pub estimate: Estimate,
    /// The baseline against its second copy on this host, at the level that all hosts share;
    /// `None` without a control.
    pub control: Option<Control>,
    /// True if the estimate over hosts excludes this host, because its control race found a
    /// difference.
    pub left_out: bool,
}

/// The hosts of one model of processor.
#[derive(Clone, Debug, PartialEq)]
pub struct HostKind {
    /// The model.
    pub cpu: String,
    /// The number of hosts.
    pub hosts: usize,
    /// The mean of their effects.
    pub effect: LogRatio,
    /// Its interval, at the level at which those of all models hold together.
    pub interval: Option<Interval>,
}

/// The spreads of a block's effect: standard deviations of its parts, in log-ratio units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    /// From one neutral link to the next; `None` if the race had a single link, or if this spread
    /// cannot be separated from that of the process.
    pub placement: Option<f64>,
    /// From one process to the next; `None` if this spread cannot be separated from that of the
    /// placement, or if every block is a process of its own.
    pub process: Option<f64>,
    /// From block to block within a process.
    pub block: f64,
}
