//! The effect of a run that was merged from the parts of several hosts: an estimate from each host,
//! and one from all of them.
//!
//! Hosts that raced the same plan are the observations, regardless of their numbers of replicates.
//! With six hosts or more the verdict also covers similar hosts, with fewer only these. If parts
//! are missing, the user may have merged before and may merge again. Then the interval is valid
//! after any number of analyses if at least six hosts are kept. With fewer hosts, it is adjusted
//! for as many analyses as there are parts.
//!
//! A host on which the control separates finds a difference between two copies of the baseline, and
//! may find a false one for a candidate. Such a host is left out. The effect of a host is never a
//! reason to leave the host out, because a host with a different effect may be right.

use std::collections::HashMap;

use deadheat_model::{
    AcrossHosts, Conditions, Control, Estimate, Host, HostKind, HostRow, Interval, LogRatio,
    Samples, Verdict,
};
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::{
    BlockFlags, Clusters, DEFAULT_G, Dropping, Floor, Formula, HostEffect, Level, MIN_BLOCKS,
    MIN_REPLICATES_FOR_VERDICT, MeanOfHosts, PooledEstimate, critical_t, e_value, heterogeneity,
    pooled_huber, replicates_to_settle,
};

use crate::effects::{EffectEstimate, Effects, WithDropped, estimate_effect};
use crate::raced::Machines;

/// The smallest number of hosts for which a verdict also covers similar hosts.
const HOSTS_LIKE_THESE: usize = 6;

struct OfMachine {
    machine: usize,
    pooled: PooledEstimate,
    formula: Formula,
}

impl OfMachine {
    /// Returns the effect with the error on which its interval at this level is based. If a
    /// replicate has few blocks, this error is larger than the standard error. With the standard
    /// error itself, intervals for the mean of two hosts with ten launches each contained the truth
    /// in only 94.0 % of 4,000 simulated runs.
    fn effect(&self, level: f64) -> HostEffect {
        let pooled = &self.pooled;
        let stretch = match pooled.replicates {
            0 | 1 => 1.0,
            _ => {
                let t = t_critical(level, pooled.df);
                self.formula.statistic_as_rare_as(t, pooled) / t
            }
        };
        HostEffect {
            theta: pooled.theta,
            // If a timer always shows the same value, the effect may be wrong by one step of the
            // clock.
            se: (pooled.se * stretch).max(pooled.least_half_width.unwrap_or(0.0)),
            df: pooled.df,
        }
    }

    fn estimate(&self, level: f64) -> Estimate {
        let alone = MeanOfHosts::of_these(&[self.effect(level)]);
        let ends = alone.and_then(|alone| alone.interval(level));
        Estimate {
            effect: LogRatio(self.pooled.theta),
            interval: ends.map(|ends| interval(ends, level)),
            p_value: None,
            replicates: self.pooled.replicates,
            blocks: self.pooled.blocks,
        }
    }
}

/// Returns the ascending indices of the blocks of the first `replicates` replicates that are
/// dropped because they were disturbed or cut short. This is decided for each machine of a merged
/// run separately, and for all blocks of any other run together.
pub(crate) fn dropped_blocks(effects: &Effects, replicates: usize) -> Vec<usize> {
    let Some(flags) = effects.flags(replicates) else {
        return Vec::new();
    };
    let gone = |flags: &[BlockFlags], sizes: &[usize]| match effects.keep_or_drop(flags, sizes) {
        Dropping::Drop(gone) => gone,
        Dropping::None | Dropping::KeepAll(_) => Vec::new(),
    };
    let Some(machines) = effects.machines() else {
        return gone(flags, effects.sizes(replicates));
    };
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); machines.count()];
    let mut sizes: Vec<Vec<usize>> = places.clone();
    let mut first = 0;
    for (replicate, blocks) in effects.of_replicates() {
        if let Some(machine) = machines.of_replicate(replicate) {
            places[machine].extend(first..first + blocks.len());
            sizes[machine].push(blocks.len());
        }
        first += blocks.len();
    }
    let of_machine = |(places, sizes): (&Vec<usize>, &Vec<usize>)| {
        let flags: Vec<BlockFlags> = places.iter().map(|place| flags[*place]).collect();
        let gone = gone(&flags, sizes).into_iter();
        gone.map(|block| places[block]).collect::<Vec<usize>>()
    };
    let mut dropped: Vec<usize> = places.iter().zip(&sizes).flat_map(of_machine).collect();
    dropped.sort_unstable();
    dropped
}

/// Returns the estimates of all machines that have an effect without the `dropped` blocks, in the
/// order of their first parts.
fn of_machines(
    effects: &Effects,
    machines: &Machines,
    floor: Floor,
    dropped: &[usize],
) -> Vec<OfMachine> {
    let mut gathered: Vec<(Vec<f64>, Vec<usize>)> = vec![Default::default(); machines.count()];
    let mut dropped = dropped.iter().copied().peekable();
    let mut block = 0;
    for (replicate, blocks) in effects.of_replicates() {
        let mut kept: Vec<f64> = Vec::with_capacity(blocks.len());
        for effect in blocks {
            if dropped.next_if_eq(&block).is_none() {
                kept.push(*effect);
            }
            block += 1;
        }
        if let Some(machine) = machines
            .of_replicate(replicate)
            .filter(|_| !kept.is_empty())
        {
            let (all, sizes) = &mut gathered[machine];
            sizes.push(kept.len());
            all.append(&mut kept);
        }
    }
    let estimates = gathered
        .iter()
        .enumerate()
        .filter_map(|(machine, (all, sizes))| {
            let clusters = Clusters::new(all, sizes).ok()?;
            let pooled = pooled_huber(&clusters, floor).ok()?;
            Some(OfMachine {
                machine,
                pooled,
                formula: effects.formula(),
            })
        });
    estimates.collect()
}

/// The smallest number of replicates for which the control of a host is judged.
const REPLICATES_OF_CONTROL: usize = MIN_REPLICATES_FOR_VERDICT;

/// The probability that chance alone separates the control of any host. Each host gets an equal
/// share.
const TOLD_APART_BY_CHANCE: f64 = 0.01;

/// If fewer hosts than this would be kept, none is left out.
const KEPT_AT_LEAST: usize = 2;
/// Hosts are left out only if the controls of at most one host in this many separate. If more
/// separate, the cause is the race itself, not a host.
const ONE_LEFT_OUT_OF: usize = 3;

struct Hosts {
    of: Vec<OfMachine>,
    /// The control of each host; `None` if it is missing or has too few replicates.
    controls: Vec<Option<Control>>,
    left_out: Vec<bool>,
    /// The number of blocks that are dropped because they were disturbed or cut short.
    dropped: usize,
}

impl Hosts {
    /// Computes the estimates from all blocks if `keep_all`, else without the dropped blocks.
    fn of(effects: &Effects, samples: &Samples, machines: &Machines, keep_all: bool) -> Self {
        let of_all = |effects: &Effects| {
            let replicates = effects.replicates();
            let floor = effects.floor(samples, replicates);
            let dropped = match keep_all {
                true => Vec::new(),
                false => dropped_blocks(effects, replicates),
            };
            let of = of_machines(effects, machines, floor, &dropped);
            (of, dropped.len())
        };
        let (of, dropped) = of_all(effects);
        let mut of_control: HashMap<usize, OfMachine> = HashMap::new();
        for one in effects.control().map(of_all).unwrap_or_default().0 {
            if one.pooled.replicates >= REPLICATES_OF_CONTROL {
                of_control.insert(one.machine, one);
            }
        }
        let level = TOLD_APART_BY_CHANCE / of.len().max(1) as f64;
        let control = |one: &OfMachine| {
            let estimate = of_control.get(&one.machine)?.estimate(level);
            let apart = |ends: Interval| ends.low.0 > 0.0 || ends.high.0 < 0.0;
            Some(Control {
                separated: estimate.interval.is_some_and(apart),
                estimate,
            })
        };
        let controls: Vec<Option<Control>> = of.iter().map(control).collect();
        let apart = |control: &Option<Control>| control.is_some_and(|control| control.separated);
        let count = controls.iter().filter(|one| apart(one)).count();
        let few = count * ONE_LEFT_OUT_OF <= of.len() && of.len() - count >= KEPT_AT_LEAST;
        Self {
            left_out: controls.iter().map(|one| few && apart(one)).collect(),
            controls,
            of,
            dropped,
        }
    }

    /// Returns true if the verdict also covers similar hosts. This depends on the number of all
    /// hosts, not of the kept ones, so that the controls do not change the question.
    fn like_these(&self) -> bool {
        self.of.len() >= HOSTS_LIKE_THESE
    }

    fn kept(&self) -> impl Iterator<Item = &OfMachine> {
        let all = self.of.iter().zip(&self.left_out);
        all.filter(|(_, left_out)| !**left_out).map(|(one, _)| one)
    }
}

/// The mean over the hosts that are not left out, and its interval.
struct Judged {
    mean: MeanOfHosts,
    interval: Option<(f64, f64)>,
    p_value: Option<f64>,
    /// The two-sided level at which a t interval has the same width as `interval`.
    level: f64,
}

fn judged(of: &Hosts, machines: &Machines, level: Level) -> Option<Judged> {
    let stated = level.stated();
    let effect = |one: &OfMachine| one.effect(stated);
    let hosts: Vec<HostEffect> = of.kept().map(effect).collect();
    let again = !machines.missing().is_empty() || matches!(level, Level::Anytime(_));
    let mean = if of.like_these() {
        MeanOfHosts::like_these(&hosts)?
    } else {
        MeanOfHosts::of_these(&hosts)?
    };
    // With fewer hosts an interval cannot be valid at any time.
    if again && hosts.len() >= HOSTS_LIKE_THESE {
        let critical = critical_t(hosts.len(), stated, DEFAULT_G)?;
        let t = mean.t_statistic();
        let level = t_two_sided_p(critical, mean.df);
        let e_value = |t| (1.0 / e_value(t, hosts.len(), DEFAULT_G)).min(1.0);
        return Some(Judged {
            interval: mean.interval(level),
            p_value: t.map(e_value).filter(|p: &f64| p.is_finite()),
            mean,
            level,
        });
    }
    let moments = if again {
        f64::from(machines.parts())
    } else {
        1.0
    };
    let level = stated / moments;
    Some(Judged {
        interval: mean.interval(level),
        p_value: mean.p_value().map(|p| (p * moments).min(1.0)),
        mean,
        level,
    })
}

/// Judges the hosts of a merged run together, or the first `replicates` replicates of any other
/// run. `None` if no effect could be computed.
pub(crate) fn estimate_over_hosts(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
    level: Level,
) -> Option<EffectEstimate> {
    let Some(machines) = effects.machines() else {
        return estimate_effect(effects, samples, replicates, level);
    };
    if effects.too_many_zeros(replicates) {
        return None;
    }
    let all = effects.replicates();
    let of = Hosts::of(effects, samples, machines, false);
    let judged_by_all = || {
        let of = Hosts::of(effects, samples, machines, true);
        judged(&of, machines, level)
    };
    let with_dropped = (of.dropped > 0).then(judged_by_all).flatten();
    let judged = judged(&of, machines, level)?;
    let blocks: usize = of.kept().map(|one| one.pooled.blocks).sum();
    let interval = judged.interval.filter(|_| blocks >= MIN_BLOCKS);
    Some(EffectEstimate {
        pooled: PooledEstimate {
            theta: judged.mean.theta,
            scale: judged.mean.spread.unwrap_or(judged.mean.se),
            se: judged.mean.se,
            df: judged.mean.df,
            replicates: of.kept().map(|one| one.pooled.replicates).sum(),
            blocks,
            inliers: of.kept().map(|one| one.pooled.inliers).sum(),
            timer_limited: false,
            least_half_width: None,
        },
        interval,
        asked: level,
        plain_level: judged.level,
        p_value: judged.p_value,
        verdict: interval.map(|ends| effects.verdict_of(ends)),
        replicates: all,
        dropped: of.dropped,
        with_dropped: with_dropped.map(|all| WithDropped {
            theta: all.mean.theta,
            verdict: all.interval.map(|ends| effects.verdict_of(ends)),
        }),
        kept_because: None,
    })
}

/// Returns the facts about the hosts of a merged run for its report; `None` for a run of one host.
pub(crate) fn across_hosts(
    effects: &Effects,
    samples: &Samples,
    judged_by: &EffectEstimate,
    alpha: f64,
) -> Option<AcrossHosts> {
    let machines = effects.machines()?;
    let of = Hosts::of(effects, samples, machines, false);
    let found = judged(&of, machines, judged_by.asked)?;
    let like_these = of.like_these();
    let host = |((one, control), left_out): ((&OfMachine, &Option<Control>), &bool)| {
        let hosts: Vec<&Host> = machines.hosts(one.machine).collect();
        HostRow {
            parts: hosts.iter().map(|host| host.shard).collect(),
            cpu: hosts.first().and_then(|host| host.cpu.clone()),
            conditions: Conditions::of_all(hosts.iter().map(|host| &host.conditions)),
            estimate: one.estimate(alpha),
            control: *control,
            left_out: *left_out,
        }
    };
    let rows = of.of.iter().zip(&of.controls).zip(&of.left_out);
    let hosts: Vec<HostRow> = rows.map(host).collect();
    let kept: Vec<&HostRow> = hosts.iter().filter(|host| !host.left_out).collect();
    let each: Vec<HostEffect> = of.kept().map(|one| one.effect(alpha)).collect();
    let differ = heterogeneity(&each);
    let is_open = like_these && judged_by.verdict == Some(Verdict::Inconclusive);
    let margin = LogRatio::from_change(effects.margin()).0;
    let (theta, se) = (found.mean.theta, found.mean.se);
    let to_settle = || replicates_to_settle(theta, se, kept.len(), margin, found.level);
    Some(AcrossHosts {
        like_these,
        next_host: found
            .mean
            .next_host(alpha)
            .filter(|_| like_these)
            .map(|ends| interval(ends, alpha)),
        q: differ.map(|found| found.q),
        i_squared: differ.map(|found| found.i_squared),
        p_differ: differ.map(|found| found.p_value),
        host_sd: differ.map(|found| LogRatio(found.host_sd)),
        hosts_to_settle: is_open.then(to_settle).flatten(),
        kinds: kinds(&kept, &each, alpha),
        hosts,
        missing: machines.missing(),
    })
}

fn interval((low, high): (f64, f64), level: f64) -> Interval {
    Interval {
        low: LogRatio(low),
        high: LogRatio(high),
        confidence: 1.0 - level,
    }
}

/// The smallest number of hosts of a processor model for which the model gets its own mean.
const HOSTS_OF_A_KIND: usize = 2;

/// Returns the mean effect of each processor model with [`HOSTS_OF_A_KIND`] hosts or more, with an
/// interval at an equal share of `alpha`; empty unless there are two such models.
fn kinds(hosts: &[&HostRow], effects: &[HostEffect], alpha: f64) -> Vec<HostKind> {
    let mut groups: Vec<(&str, Vec<HostEffect>)> = Vec::new();
    for (host, effect) in hosts.iter().zip(effects) {
        let Some(cpu) = host.cpu.as_deref() else {
            continue;
        };
        match groups.iter_mut().find(|(of, _)| *of == cpu) {
            Some((_, some)) => some.push(*effect),
            None => groups.push((cpu, vec![*effect])),
        }
    }
    groups.retain(|(_, some)| some.len() >= HOSTS_OF_A_KIND);
    if groups.len() < 2 {
        return Vec::new();
    }
    let level = alpha / groups.len() as f64;
    let kind = |(cpu, some): &(&str, Vec<HostEffect>)| {
        let mean = MeanOfHosts::like_these(some)?;
        Some(HostKind {
            cpu: (*cpu).to_owned(),
            hosts: some.len(),
            effect: LogRatio(mean.theta),
            interval: mean.interval(level).map(|ends| interval(ends, level)),
        })
    };
    groups.iter().filter_map(kind).collect()
}
