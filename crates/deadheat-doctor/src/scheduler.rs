//! The kernel's scheduler, the settings that commands inherit from deadheat, and the problems that
//! both cause for commands on one core.

use deadheat_engine::{can_set_slices, can_share_memory};
use deadheat_model::doctor::{Facts, Policy, Scheduler, SharingFlaw};

use crate::procfs::{Root, nice_and_policy};
use crate::sharing::{LOOP_NS, Shared};

/// Returns the facts about sharing a core between two commands, with the reasons why such a race
/// may be biased or imprecise. `core` is the measured core.
pub(crate) fn sharing_facts(root: &Root, core: Option<u32>, shared: Option<&Shared>) -> Facts {
    let (nice, policy) = root.read("proc/self/stat", nice_and_policy).unzip();
    let policy = policy.and_then(policy_of);
    Facts::Sharing {
        core,
        loop_ms: LOOP_NS / 1e6,
        scheduler: scheduler(root),
        slices: can_set_slices(),
        forks: !can_share_memory(),
        autogroup: root
            .number::<u8>("proc/sys/kernel/sched_autogroup_enabled")
            .map(|enabled| enabled != 0),
        nice,
        policy,
        real_time_share: real_time_share(root),
        flaws: flaws(shared, nice, policy),
    }
}

fn scheduler(root: &Root) -> Option<Scheduler> {
    if root.line("sys/kernel/sched_ext/state").as_deref() == Some("enabled") {
        return Some(Scheduler::SchedExt);
    }
    let release = root.line("proc/sys/kernel/osrelease")?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    let version = (next()?, next()?);
    Some(if version >= (6, 6) {
        Scheduler::Eevdf
    } else {
        Scheduler::Cfs
    })
}

fn policy_of(number: u32) -> Option<Policy> {
    Some(match number {
        0 => Policy::Other,
        1 => Policy::Fifo,
        2 => Policy::RoundRobin,
        3 => Policy::Batch,
        5 => Policy::Idle,
        6 => Policy::Deadline,
        _ => return None,
    })
}

/// Returns the share of the time that real-time tasks may take; 1 without a limit.
fn real_time_share(root: &Root) -> Option<f64> {
    let runtime: f64 = root.number("proc/sys/kernel/sched_rt_runtime_us")?;
    let period: f64 = root.number("proc/sys/kernel/sched_rt_period_us")?;
    Some(match runtime {
        runtime if runtime < 0.0 || period <= 0.0 => 1.0,
        runtime => (runtime / period).min(1.0),
    })
}

/// The two loops hardly took turns if the loop that ended first had used at least this share of the
/// CPU time of both until its end. If the loops alternate in time slices of half a loop, the share
/// is two thirds.
const ALONE: f64 = 0.9;

/// The smallest mean difference that counts as a bias, half of the default margin.
const BIAS: f64 = 0.005;
/// The number of standard errors by which a bias must differ from 0.
const CLEARLY: f64 = 3.0;

/// If the time ratio of two commands that share a core varies from pair to pair with at least this
/// standard deviation, sharing is not better than taking turns: in turns, blocks of four launches
/// of 15 ms vary by 8%. Pairs of loops of 8 ms varied by 1 to 3% on a virtual machine with two
/// cores and four busy tasks.
const SCATTER: f64 = 0.08;

/// Returns the reasons why a race of two commands on one core may be biased or imprecise, the worst
/// first.
fn flaws(shared: Option<&Shared>, nice: Option<i32>, policy: Option<Policy>) -> Vec<SharingFlaw> {
    let is_real_time = policy.is_some_and(Policy::is_real_time);
    let measured = |is_wrong: &dyn Fn(&Shared) -> bool| shared.is_some_and(is_wrong);
    let is_biased = |shared: &Shared| {
        let size = shared.difference.abs();
        size >= BIAS && size > CLEARLY * shared.error
    };
    let all = [
        (SharingFlaw::RealTime, is_real_time),
        (
            SharingFlaw::OneAfterTheOther,
            measured(&|shared| shared.first >= ALONE),
        ),
        (SharingFlaw::Biased, measured(&is_biased)),
        (
            SharingFlaw::Scattered,
            measured(&|shared| shared.scatter >= SCATTER),
        ),
        (SharingFlaw::Nice, nice.is_some_and(|nice| nice > 0)),
    ];
    let wrong = all.into_iter().filter(|(_, is_wrong)| *is_wrong);
    wrong.map(|(flaw, _)| flaw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procfs::fake::machine;

    fn fair() -> Shared {
        Shared {
            pairs: 100,
            difference: 0.0002,
            error: 0.0003,
            scatter: 0.003,
            first: 0.62,
            switches: 160.0,
            turn_ns: 4e6,
        }
    }

    #[test]
    fn a_fair_kernel_has_no_flaw_and_each_flaw_has_its_limit() {
        let of = |shared: Shared| flaws(Some(&shared), Some(0), Some(Policy::Other));
        assert_eq!(of(fair()), []);
        let sequential = Shared {
            first: 1.0,
            ..fair()
        };
        assert_eq!(of(sequential), [SharingFlaw::OneAfterTheOther]);
        let biased = Shared {
            difference: -0.008,
            ..fair()
        };
        assert_eq!(of(biased), [SharingFlaw::Biased]);
        let unclear = Shared {
            error: 0.004,
            ..biased
        };
        assert_eq!(of(unclear), [], "it may be chance");
        let small = Shared {
            difference: 0.002,
            error: 0.0001,
            ..fair()
        };
        assert_eq!(of(small), [], "it is too small to matter");
        let scattered = Shared {
            scatter: 0.1,
            ..fair()
        };
        assert_eq!(of(scattered), [SharingFlaw::Scattered]);
    }

    #[test]
    fn what_commands_inherit_is_judged_without_a_measurement() {
        let of = |nice, policy| flaws(None, Some(nice), Some(policy));
        assert_eq!(of(0, Policy::Batch), []);
        assert_eq!(of(-5, Policy::Other), []);
        assert_eq!(of(10, Policy::Other), [SharingFlaw::Nice]);
        let both = [SharingFlaw::RealTime, SharingFlaw::Nice];
        assert_eq!(of(10, Policy::Fifo), both);
        assert_eq!(flaws(None, None, None), []);
    }

    #[test]
    fn the_scheduler_is_known_by_the_version_of_the_kernel() {
        let of = |release: &str| {
            let (_folder, root) = machine(&[("proc/sys/kernel/osrelease", release)]);
            scheduler(&root)
        };
        assert_eq!(of("6.8.0-45-generic\n"), Some(Scheduler::Eevdf));
        assert_eq!(of("6.6\n"), Some(Scheduler::Eevdf));
        assert_eq!(of("6.5.13\n"), Some(Scheduler::Cfs));
        assert_eq!(of("5.15.0\n"), Some(Scheduler::Cfs));
        assert_eq!(of("unknown\n"), None);
        let (_folder, root) = machine(&[
            ("proc/sys/kernel/osrelease", "6.12.1\n"),
            ("sys/kernel/sched_ext/state", "enabled\n"),
        ]);
        assert_eq!(scheduler(&root), Some(Scheduler::SchedExt));
        let (_folder, hidden) = machine(&[]);
        assert_eq!(scheduler(&hidden), None);
    }

    #[test]
    fn settings_of_the_scheduler_are_read() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194304 90 0 0 0 0 0 0 0 25 5 1 0 99 \
                    1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 17 1 0 3 0 0 0\n";
        let (_folder, root) = machine(&[
            ("proc/self/stat", stat),
            ("proc/sys/kernel/sched_autogroup_enabled", "1\n"),
            ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
            ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ]);
        let facts = sharing_facts(&root, Some(1), None);
        let Facts::Sharing {
            autogroup,
            nice,
            policy,
            real_time_share,
            flaws,
            ..
        } = facts
        else {
            panic!("they are about sharing");
        };
        assert_eq!((autogroup, nice), (Some(true), Some(5)));
        assert_eq!(policy, Some(Policy::Batch));
        assert_eq!(real_time_share, Some(0.95));
        assert_eq!(flaws, [SharingFlaw::Nice]);
    }
}
