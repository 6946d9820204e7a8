//! Chooses between a race in turns and a race side by side for commands, from trial launches.

use std::time::Duration;

use deadheat_engine::{CommandTrial, LaunchUsage, can_set_slices};
use deadheat_model::{Arrangement, Benchmark, Metric, Plan, SideBySide, TurnsReason, Workload};

use super::planning::add_rerun_in_turns;

/// The time for the rerun in turns of a benchmark that races side by side: an eighth of the time of
/// most races.
const TURNS_TIME: Duration = Duration::from_millis(600);
/// Minimum number of replicates of the rerun in turns.
const FEWEST_TURNS: u32 = 2;
/// Maximum number of replicates of the rerun in turns.
const MOST_TURNS: u32 = 6;

/// The requested time slice is short enough that a launch spans at least this many slices, so that
/// both sides meet the same disturbances. The effects of `gzip`, which takes 200 ms, scattered by
/// 0.2% with slices of 10 ms and by 0.8% with slices of 50 ms.
const SLICES: u32 = 20;
/// The range of requested time slices, in milliseconds. A shorter slice is close to the kernel's
/// default slice, and with a longer slice, effects scatter as much as with the default.
const SLICE_MS: std::ops::RangeInclusive<u128> = 8..=20;

/// Minimum CPU time of a launch side by side, in nanoseconds. A shorter launch spans little more
/// than one default slice of the kernel, which is about 3 ms.
const LEAST_CPU_NS: f64 = 5e6;
/// Maximum difference between the wall time of a busy launch, without scheduling delay, and its CPU
/// time, as a share of the CPU time, if the wall time exceeds it by more than [`STARTING_NS`].
const NOT_BUSY: f64 = 0.05;
/// In addition to [`NOT_BUSY`], the wall time of a busy launch may exceed its CPU time by this many
/// nanoseconds: the launch must start and end, and may wait for a short time.
const STARTING_NS: f64 = 1e6;
/// Sides whose CPU times or peak memory differ by more than this factor take turns. The cost of
/// sharing a core cancels only if the sides are similar. If they differ more, a race in turns finds
/// the change as well.
pub(super) const ALIKE: f64 = 1.1;
/// The peak memory of the loader in bytes, which is similar in all commands and is subtracted
/// before their peak memory is compared.
const MEMORY_OF_LOADER: f64 = 512.0 * 1024.0;
/// Maximum difference in page faults that random addresses alone can cause. Page faults are
/// compared because the peak memory of small programs is that of the launcher before `exec`, so it
/// does not show their difference. A race of reads in 16 KB against reads in 512 KB measured +0.5%
/// side by side and −4.2% in turns.
const FAULTS_OF_ADDRESSES: f64 = 16.0;
/// Maximum ratio between the wall times of two commands that share a core evenly. These times can
/// differ, because one command may end a slice or two before the other. A command with a higher
/// nice value runs alone for most of its time, so it meets other disturbances than its rival.
const TOGETHER: f64 = 1.4;
/// Maximum factor by which sharing a core may increase the CPU time of a command. A larger increase
/// means that the other side evicts the caches of the command: a race of random reads in 8 MB
/// against 32 MB measured −13% side by side and +28% in turns.
pub(super) const MOST_SHARING_COST: f64 = 1.15;

/// Maximum number of trials per benchmark.
const TRIALS: usize = 5;
/// The time after which no further trial of a benchmark starts.
const TRIALS_TIME: Duration = Duration::from_secs(1);

/// Maximum time of the trials, as a share of the remaining budget.
const TRIALS_SHARE: f64 = 0.1;
/// The time of a trial of two commands, as a share of the time of a replicate in turns: a trial has
/// four launches, a replicate five.
const TRIAL_OF_REPLICATE: f64 = 0.8;

/// Chooses how a benchmark races, and stores the choice in the plan. Returns the time of a
/// replicate in nanoseconds, if it is known. `in_turns_ns` is the time of a replicate in turns, and
/// `left` is the remaining budget. If `is_rerun` is true, a benchmark that races side by side also
/// gets a rerun in turns.
pub(super) fn arrange<E>(
    plan: &mut Plan,
    benchmark: usize,
    (in_turns_ns, left): (Option<f64>, Option<Duration>),
    is_rerun: bool,
    asked: Arrangement,
    mut try_side_by_side: impl FnMut(SideBySide) -> Result<Option<CommandTrial>, E>,
) -> Result<Option<f64>, E> {
    let of = &plan.benchmarks[benchmark];
    let is_forced = asked == Arrangement::SideBySide;
    if asked == Arrangement::Turns || of.rerun.is_some() || of.contenders.len() < 2 {
        return Ok(in_turns_ns);
    }
    let trials_ns = left.map(|left| TRIALS_SHARE * left.as_nanos() as f64);
    let is_affordable =
        |cost_ns: f64| trials_ns.is_none_or(|most| TRIAL_OF_REPLICATE * cost_ns <= most);
    let may_be_tried = in_turns_ns.is_some_and(is_affordable) && (is_forced || !has_hooks(of));
    let mut trial = None;
    let mut reason = None;
    let mut spent_ns = 0.0;
    // A disturbance can only make a launch longer, so the shortest launch of several trials is
    // judged.
    for _ in 0..if may_be_tried { TRIALS } else { 0 } {
        let slice = trial.as_ref().and_then(slice).filter(|_| can_set_slices());
        let Some(next) = try_side_by_side(SideBySide { slice })? else {
            break;
        };
        spent_ns += wall_ns(&next);
        let least = match trial.take() {
            Some(before) => least(before, next),
            None => next,
        };
        reason = why_turns(&least);
        trial = Some(least);
        let most_ns = (TRIALS_TIME.as_nanos() as f64).min(trials_ns.unwrap_or(f64::INFINITY));
        if is_forced || reason.is_none() || spent_ns > most_ns {
            break;
        }
    }
    let is_fit = trial.is_some() && reason.is_none();
    if !is_forced && !is_fit {
        plan.benchmarks[benchmark].turns_because = reason;
        return Ok(in_turns_ns);
    }
    let slice = trial.as_ref().and_then(slice).filter(|_| can_set_slices());
    race_side_by_side(plan, benchmark, SideBySide { slice });
    if is_rerun {
        let turns = in_turns_ns.map_or(f64::from(FEWEST_TURNS), |cost_ns| {
            TURNS_TIME.as_nanos() as f64 / cost_ns
        });
        let turns = (turns as u32).clamp(FEWEST_TURNS, MOST_TURNS);
        add_rerun_in_turns(plan, benchmark, turns);
    }
    Ok(trial.as_ref().map(cost_ns))
}

/// Returns true if hooks run before or after each launch. Such hooks may require that the launches
/// do not overlap.
fn has_hooks(benchmark: &Benchmark) -> bool {
    benchmark.contenders.iter().any(|contender| {
        matches!(&contender.workload, Workload::Command(command)
            if command.hooks.prepare.is_some() || command.hooks.conclude.is_some())
    })
}

/// Changes the plan so that a benchmark races side by side. If its judged metric is wall time, the
/// metric becomes CPU time.
fn race_side_by_side(plan: &mut Plan, benchmark: usize, how: SideBySide) {
    let is_wall = *plan.judged(benchmark) == Metric::Wall;
    let of = &mut plan.benchmarks[benchmark];
    of.side_by_side = Some(how);
    if is_wall {
        of.overrides.judged = Some(Metric::Cpu);
    }
}

/// Returns the duration of a trial, in nanoseconds: its launches in turns, then its launches side
/// by side.
fn wall_ns(trial: &CommandTrial) -> f64 {
    let together = trial.together.iter().flatten().map(|one| one.wall_ns);
    let alone: f64 = trial.alone.iter().map(|one| one.wall_ns).sum();
    alone + together.fold(0.0, f64::max)
}

/// Estimates the time of a replicate side by side, in nanoseconds: the sum of the CPU times of one
/// launch of each command.
fn cost_ns(trial: &CommandTrial) -> f64 {
    trial.alone.iter().map(|one| one.cpu_ns).sum()
}

/// Returns the time slice to request from the kernel; `None` keeps the kernel's default.
fn slice(trial: &CommandTrial) -> Option<Duration> {
    let shortest_ns = trial
        .alone
        .iter()
        .map(|one| one.cpu_ns)
        .fold(f64::INFINITY, f64::min);
    let slice_ms = (shortest_ns / f64::from(SLICES) / 1e6) as u128;
    let slice_ms = slice_ms.min(*SLICE_MS.end());
    SLICE_MS
        .contains(&slice_ms)
        .then(|| Duration::from_millis(slice_ms as u64))
}

/// Combines two trials: for each launch, takes the trial in which the launch used less CPU time.
fn least(one: CommandTrial, other: CommandTrial) -> CommandTrial {
    let least = |one: Vec<LaunchUsage>, other: Vec<LaunchUsage>| {
        let pairs = one.into_iter().zip(other);
        pairs
            .map(|(one, other)| {
                if one.cpu_ns <= other.cpu_ns {
                    one
                } else {
                    other
                }
            })
            .collect()
    };
    CommandTrial {
        alone: least(one.alone, other.alone),
        together: one
            .together
            .zip(other.together)
            .map(|(one, other)| least(one, other)),
    }
}

/// Returns the reason why a race of these commands side by side could have another verdict than a
/// race in turns; `None` if there is none.
fn why_turns(trial: &CommandTrial) -> Option<TurnsReason> {
    let Some(together) = &trial.together else {
        return Some(TurnsReason::Fails);
    };
    let each = || trial.alone.iter().chain(together);
    let is_busy = |one: &LaunchUsage| {
        let awake_ns = one.wall_ns - one.delay_ns.unwrap_or(0.0);
        (awake_ns - one.cpu_ns).abs() <= NOT_BUSY * one.cpu_ns + STARTING_NS
    };
    // Side by side, a launch that sleeps or waits for I/O may be waiting for the other command.
    let is_busy_together = |one: &LaunchUsage| one.delay_ns.is_none() || is_busy(one);
    let mut shares = trial.alone.iter().zip(together);
    let memory = |one: &LaunchUsage| (one.peak_rss_bytes - MEMORY_OF_LOADER).max(MEMORY_OF_LOADER);
    let conditions = [
        (TurnsReason::WritesFiles, !each().any(|one| one.wrote_files)),
        (
            TurnsReason::Short,
            trial.alone.iter().all(|one| one.cpu_ns >= LEAST_CPU_NS),
        ),
        (
            TurnsReason::NotBusy,
            trial.alone.iter().all(is_busy) && together.iter().all(is_busy_together),
        ),
        (
            TurnsReason::DifferentTimes,
            are_within(together.iter().map(|one| one.cpu_ns), ALIKE),
        ),
        (
            TurnsReason::DifferentMemory,
            are_within(together.iter().map(memory), ALIKE) && alike_faults(together),
        ),
        (
            TurnsReason::Uneven,
            are_within(together.iter().map(|one| one.wall_ns), TOGETHER),
        ),
        (
            TurnsReason::SharingCosts,
            shares.all(|(alone, shared)| shared.cpu_ns <= MOST_SHARING_COST * alone.cpu_ns),
        ),
    ];
    let failed = conditions.into_iter().find(|(_, holds)| !holds);
    failed.map(|(reason, _)| reason)
}

fn alike_faults(launches: &[LaunchUsage]) -> bool {
    let faults = || launches.iter().map(|one| one.minor_faults);
    let least = faults().fold(f64::INFINITY, f64::min);
    faults().all(|faults| faults <= ALIKE * least + FAULTS_OF_ADDRESSES)
}

/// Returns true if the largest value is at most `factor` times the smallest.
fn are_within(values: impl Iterator<Item = f64> + Clone, factor: f64) -> bool {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    most <= factor * least
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1048576.0;

    /// Returns the usage of a launch that takes 50 ms and meets all conditions for a race side by
    /// side.
    fn usage() -> LaunchUsage {
        LaunchUsage {
            wall_ns: 51e6,
            cpu_ns: 50e6,
            delay_ns: Some(0.5e6),
            peak_rss_bytes: 10.0 * MB,
            minor_faults: 150.0,
            wrote_files: false,
        }
    }

    fn shared() -> LaunchUsage {
        LaunchUsage {
            wall_ns: 101e6,
            delay_ns: Some(50e6),
            ..usage()
        }
    }

    fn trial(change: impl Fn(&mut LaunchUsage)) -> CommandTrial {
        let mut trial = CommandTrial {
            alone: vec![usage(); 2],
            together: Some(vec![shared(); 2]),
        };
        change(&mut trial.alone[1]);
        if let Some(together) = &mut trial.together {
            change(&mut together[1]);
        }
        trial
    }

    #[test]
    fn busy_commands_that_are_alike_run_side_by_side() {
        assert_eq!(why_turns(&trial(|_| {})), None);
        assert_eq!(why_turns(&trial(|one| one.cpu_ns *= 0.99)), None);
        assert_eq!(
            why_turns(&trial(|one| one.peak_rss_bytes += 0.5 * MB)),
            None
        );
        assert_eq!(why_turns(&trial(|one| one.minor_faults += 20.0)), None);
    }

    #[test]
    fn each_obstacle_is_a_reason_for_turns() {
        let reason = |change: fn(&mut LaunchUsage)| why_turns(&trial(change));
        let scaled = |one: &mut LaunchUsage, factor: f64| {
            one.cpu_ns *= factor;
            one.wall_ns *= factor;
            one.delay_ns = one.delay_ns.map(|ns| ns * factor);
        };
        let all_scaled = |together_only: bool, factor: f64| {
            let mut trial = trial(|_| {});
            let together = trial.together.iter_mut().flatten();
            let alone = trial.alone.iter_mut().filter(|_| !together_only);
            alone.chain(together).for_each(|one| scaled(one, factor));
            why_turns(&trial)
        };
        assert_eq!(
            reason(|one| one.wall_ns += 10e6),
            Some(TurnsReason::NotBusy)
        );
        let two_threads = reason(|one| one.cpu_ns *= 2.0);
        assert_eq!(two_threads, Some(TurnsReason::NotBusy));
        assert_eq!(
            reason(|one| one.wrote_files = true),
            Some(TurnsReason::WritesFiles)
        );
        let larger = reason(|one| one.peak_rss_bytes += 2.0 * MB);
        assert_eq!(larger, Some(TurnsReason::DifferentMemory));
        let more_pages = reason(|one| one.minor_faults += 124.0);
        assert_eq!(more_pages, Some(TurnsReason::DifferentMemory));
        let longer = trial(|one| scaled(one, 1.2));
        assert_eq!(why_turns(&longer), Some(TurnsReason::DifferentTimes));
        assert_eq!(all_scaled(true, 1.3), Some(TurnsReason::SharingCosts));
        assert_eq!(all_scaled(false, 0.09), Some(TurnsReason::Short));
        let fails = CommandTrial {
            together: None,
            ..trial(|_| {})
        };
        assert_eq!(why_turns(&fails), Some(TurnsReason::Fails));
        let mut uneven = trial(|_| {});
        for one in uneven.together.iter_mut().flatten().take(1) {
            one.wall_ns -= 40e6;
            one.delay_ns = one.delay_ns.map(|ns| ns - 40e6);
        }
        assert_eq!(why_turns(&uneven), Some(TurnsReason::Uneven));
    }

    #[test]
    fn long_launches_get_longer_slices() {
        let of = |cpu_ns: f64| {
            let trial = trial(|_| {});
            let alone = trial.alone.iter().map(|one| LaunchUsage { cpu_ns, ..*one });
            slice(&CommandTrial {
                alone: alone.collect(),
                ..trial.clone()
            })
        };
        assert_eq!(of(50e6), None);
        assert_eq!(of(200e6), Some(Duration::from_millis(10)));
        assert_eq!(of(5e9), Some(Duration::from_millis(20)));
    }
}
