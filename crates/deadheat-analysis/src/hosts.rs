//! The effect of a run that was merged of the parts of several hosts: an estimate from each host,
//! and one from all of them.
//!
//! Hosts that raced the same plan are the observations, however many replicates each has: of six
//! and more the verdict speaks of hosts like these, of fewer of these alone. Where parts are
//! missing, who merged them may have merged before, and will again: then an interval over hosts
//! like these holds at every moment at once, and one over these hosts pays for as many moments as
//! there are parts.

use deadheat_model::{
    AcrossHosts, Conditions, Estimate, Host, HostKind, HostRow, Interval, LogRatio, Samples,
};
use deadheat_stats::dist::{t_critical, t_two_sided_p};
use deadheat_stats::{
    Call, Clusters, DEFAULT_G, Floor, HostEffect, MIN_BLOCKS, MeanOfHosts, PooledEstimate,
    critical_t, e_value, heterogeneity, pooled_huber, replicates_to_settle,
};

use crate::effect_estimate::{EffectEstimate, Formula, Level, call_of, estimate_effect};
use crate::effects::Effects;
use crate::machines::Machines;

/// Hosts from which on a verdict speaks of hosts like these.
const HOSTS_LIKE_THESE: usize = 6;

/// The estimate of one machine.
struct OfMachine {
    machine: usize,
    pooled: PooledEstimate,
}

impl OfMachine {
    /// Its effect, with the error that its interval at this level is made of: where a replicate has
    /// few blocks that is more than the standard error, without which the mean of two hosts with ten
    /// launches each held the truth in 94.0 % of 4,000 simulated runs.
    fn effect(&self, level: f64, formula: Formula) -> HostEffect {
        let pooled = &self.pooled;
        let stretch = match pooled.replicates {
            0 | 1 => 1.0,
            _ => {
                let t = t_critical(level, pooled.df);
                formula.statistic_as_rare_as(t, pooled) / t
            }
        };
        HostEffect {
            theta: pooled.theta,
            // A timer that says the same each time leaves a tick open.
            se: (pooled.se * stretch).max(pooled.least_half_width.unwrap_or(0.0)),
            df: pooled.df,
        }
    }
}

/// The estimates of all machines that have an effect, in the order of their first parts.
fn of_machines(effects: &Effects, machines: &Machines, floor: Floor) -> Vec<OfMachine> {
    let mut gathered: Vec<(Vec<f64>, Vec<usize>)> = vec![Default::default(); machines.count()];
    for (replicate, blocks) in effects.of_replicates() {
        if let Some(machine) = machines.of_replicate(replicate) {
            let (all, sizes) = &mut gathered[machine];
            all.extend_from_slice(blocks);
            sizes.push(blocks.len());
        }
    }
    let estimates = gathered
        .iter()
        .enumerate()
        .filter_map(|(machine, (all, sizes))| {
            let clusters = Clusters::new(all, sizes).ok()?;
            let pooled = pooled_huber(&clusters, floor).ok()?;
            Some(OfMachine { machine, pooled })
        });
    estimates.collect()
}

/// The mean over machines, and its interval.
struct Judged {
    mean: MeanOfHosts,
    interval: Option<(f64, f64)>,
    p_value: Option<f64>,
    /// The two-sided level of the t interval that is as wide.
    level: f64,
}

fn judged(of: &[OfMachine], machines: &Machines, level: Level, formula: Formula) -> Option<Judged> {
    let (Level::Nominal(stated) | Level::Anytime(stated)) = level;
    let effect = |one: &OfMachine| one.effect(stated, formula);
    let hosts: Vec<HostEffect> = of.iter().map(effect).collect();
    let again = !machines.missing().is_empty() || matches!(level, Level::Anytime(_));
    if hosts.len() < HOSTS_LIKE_THESE {
        let mean = MeanOfHosts::of_these(&hosts)?;
        let moments = if again {
            f64::from(machines.parts())
        } else {
            1.0
        };
        let level = stated / moments;
        return Some(Judged {
            interval: mean.interval(level),
            p_value: mean.p_value().map(|p| (p * moments).min(1.0)),
            mean,
            level,
        });
    }
    let mean = MeanOfHosts::like_these(&hosts)?;
    if !again {
        return Some(Judged {
            interval: mean.interval(stated),
            p_value: mean.p_value(),
            mean,
            level: stated,
        });
    }
    let critical = critical_t(hosts.len(), stated, DEFAULT_G)?;
    let t = mean.t_statistic();
    let level = t_two_sided_p(critical, mean.df);
    let e_value = |t| (1.0 / e_value(t, hosts.len(), DEFAULT_G)).min(1.0);
    Some(Judged {
        interval: mean.interval(level),
        p_value: t.map(e_value).filter(|p: &f64| p.is_finite()),
        mean,
        level,
    })
}

/// Judges the hosts of a merged run together, and the first `replicates` replicates of any other.
/// `None` when there is nothing to form an effect from.
pub(crate) fn estimate_over_hosts(
    effects: &Effects,
    samples: &Samples,
    replicates: usize,
    level: Level,
    formula: Formula,
    margin: f64,
) -> Option<EffectEstimate> {
    let Some(machines) = effects.machines() else {
        return estimate_effect(effects, samples, replicates, level, formula, margin);
    };
    if effects.too_many_zeros(replicates) {
        return None;
    }
    let all = effects.replicates();
    let of = of_machines(effects, machines, effects.floor(samples, all));
    let judged = judged(&of, machines, level, formula)?;
    let (Level::Nominal(stated) | Level::Anytime(stated)) = level;
    let blocks: usize = of.iter().map(|one| one.pooled.blocks).sum();
    let interval = judged.interval.filter(|_| blocks >= MIN_BLOCKS);
    Some(EffectEstimate {
        pooled: PooledEstimate {
            theta: judged.mean.theta,
            scale: judged.mean.spread.unwrap_or(judged.mean.se),
            se: judged.mean.se,
            df: judged.mean.df,
            replicates: of.iter().map(|one| one.pooled.replicates).sum(),
            blocks,
            inliers: of.iter().map(|one| one.pooled.inliers).sum(),
            timer_limited: false,
            least_half_width: None,
        },
        interval,
        confidence: 1.0 - stated,
        asked: level,
        plain_level: judged.level,
        formula,
        p_value: judged.p_value,
        call: interval.map(|interval| call_of(effects.better(), interval, margin)),
        replicates: all,
        dropped: 0,
        with_dropped: None,
        kept_because: None,
    })
}

/// The facts about the hosts beside the verdict over all of them; `None` for a run of one host.
pub(crate) fn across_hosts(
    effects: &Effects,
    samples: &Samples,
    judged_by: &EffectEstimate,
    alpha: f64,
    margin: f64,
) -> Option<AcrossHosts> {
    let machines = effects.machines()?;
    let of = of_machines(
        effects,
        machines,
        effects.floor(samples, effects.replicates()),
    );
    let found = judged(&of, machines, judged_by.asked, judged_by.formula)?;
    let like_these = of.len() >= HOSTS_LIKE_THESE;
    let host = |one: &OfMachine| {
        let hosts: Vec<&Host> = machines.hosts(one.machine).collect();
        HostRow {
            parts: hosts.iter().map(|host| host.shard).collect(),
            cpu: hosts.first().and_then(|host| host.cpu.clone()),
            conditions: Conditions::of_all(hosts.iter().map(|host| &host.conditions)),
            estimate: Estimate {
                effect: LogRatio(one.pooled.theta),
                interval: MeanOfHosts::of_these(&[one.effect(alpha, judged_by.formula)])
                    .and_then(|alone| alone.interval(alpha))
                    .map(|ends| interval(ends, alpha)),
                p_value: None,
                replicates: one.pooled.replicates,
                blocks: one.pooled.blocks,
            },
        }
    };
    let hosts: Vec<HostRow> = of.iter().map(host).collect();
    let effect = |one: &OfMachine| one.effect(alpha, judged_by.formula);
    let effects: Vec<HostEffect> = of.iter().map(effect).collect();
    let differ = heterogeneity(&effects);
    let is_open = like_these && judged_by.call == Some(Call::Undecided);
    let margin = LogRatio::from_change(margin).0;
    let (theta, se) = (found.mean.theta, found.mean.se);
    let to_settle = || replicates_to_settle(theta, se, of.len(), margin, found.level);
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
        kinds: kinds(&hosts, &effects, alpha),
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

/// Hosts of a kind from which on it is worth telling apart.
const HOSTS_OF_A_KIND: usize = 2;

/// The means of the models of processors that several hosts have, where there are several, each
/// with an interval at its share of the level.
fn kinds(hosts: &[HostRow], effects: &[HostEffect], alpha: f64) -> Vec<HostKind> {
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
