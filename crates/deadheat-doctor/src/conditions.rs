//! The conditions of a host in a distributed race: the limits of its container, and what system
//! files report about disturbances. This module measures nothing, so it delays the race by only a
//! few milliseconds; `deadheat doctor` reports more.

use deadheat_engine::cores_of_this_thread;
use deadheat_model::doctor::{CoreWatch, Facts, Finding, NotMeasured, State};
use deadheat_model::{Conditions, Disturbance, Limits};

use crate::cores::Topology;
use crate::examine::load;
use crate::findings::{Measured, PRESSURE, findings};
use crate::frequency::{hottest, throttled};
use crate::host::Groups;
use crate::memory::aslr;
use crate::procfs::{Root, stat};
use crate::watch::Watched;

/// Reads the limits of this process and the disturbances of its host. Values that the system does
/// not report are left out.
pub fn conditions(root: &Root) -> Conditions {
    let topology = Topology::of(root);
    let allowed = cores_of_this_thread().unwrap_or_default();
    let stolen = root.read("proc/stat", stat);
    let stolen = stolen.and_then(|stat| stat.all.stolen_share());
    let groups = |controller| Groups::of(root, controller);
    let limits = Limits {
        cores: groups("cpu").and_then(|groups| Some(groups.quota(root)?.cores)),
        memory: groups("memory").and_then(|groups| groups.memory_limit(root)),
    };
    let facts = vec![
        Facts::Steal {
            since_start: stolen,
        },
        load(root, &topology, &allowed),
        Facts::Thermal {
            hottest: hottest(root),
            throttled: throttled(root, &topology.online),
        },
        aslr(root),
    ];
    let found = findings(facts, &read(stolen));
    let disturbs = found.iter().filter(|one| one.state == State::Disturbs);
    Conditions {
        limits,
        disturbances: disturbs.filter_map(disturbance).collect(),
    }
}

/// Returns the values of a checkup in which nothing was measured. Only the share of time that the
/// hypervisor has taken is known: `stolen`, the share since boot, takes the place of a measured
/// share.
fn read(stolen: Option<f64>) -> Measured {
    Measured {
        watched: Watched {
            watch: CoreWatch {
                core: None,
                seconds: 0.0,
                taken_away: 0.0,
                longest_ns: 0.0,
                lost: 0.0,
                waiting: None,
                stolen,
                interrupts: None,
                isolated: false,
            },
            timer: None,
            device: None,
            busiest: None,
            busy: Vec::new(),
        },
        clock_resolution_ns: 0.0,
        clock_cost_ns: 0.0,
        system_clock_cost_ns: 0.0,
        evenness: None,
        sibling: Err(NotMeasured::Hidden),
        other: Err(NotMeasured::Hidden),
        pages: Err(NotMeasured::Hidden),
        shared: Err(NotMeasured::Hidden),
        swapped_pages: None,
        throttle_events: None,
        quota_throttled: None,
    }
}

fn disturbance(finding: &Finding) -> Option<Disturbance> {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let found = match &finding.facts {
        Facts::Steal { since_start } => {
            format!("{} of the time since the start", percent((*since_start)?))
        }
        Facts::Load {
            pressure: Some(share),
            ..
        } if *share >= PRESSURE[1] => {
            format!("tasks wait for a core {} of the time", percent(*share))
        }
        Facts::Load {
            one_minute, cores, ..
        } => {
            let each = (*one_minute)? / f64::from((*cores).max(1));
            format!("{each:.1} tasks per core")
        }
        Facts::Thermal { hottest, .. } => {
            format!("{:.0} degrees Celsius", hottest.as_ref()?.celsius)
        }
        Facts::Aslr { .. } => "off".to_owned(),
        _ => return None,
    };
    Some(Disturbance {
        name: finding.topic().name().to_owned(),
        found,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::procfs::fake::machine;

    const UNIFIED: [(&str, &str); 2] = [
        ("proc/self/cgroup", "0::/job\n"),
        (
            "proc/self/mountinfo",
            "34 24 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
    ];

    fn named(conditions: &Conditions) -> Vec<(&str, &str)> {
        let all = conditions.disturbances.iter();
        all.map(|one| (&*one.name, &*one.found)).collect()
    }

    #[test]
    fn conditions_list_limits_and_disturbances_in_the_order_of_fixes() {
        let files = [
            ("sys/fs/cgroup/job/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/job/memory.max", "max\n"),
            ("sys/fs/cgroup/memory.max", "536870912\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("proc/stat", "cpu  100 0 0 800 0 0 0 100\n"),
            ("proc/loadavg", "9.60 1.00 1.00 1/100 1\n"),
            ("proc/sys/kernel/randomize_va_space", "0\n"),
            ("sys/class/thermal/thermal_zone0/type", "cpu\n"),
            ("sys/class/thermal/thermal_zone0/temp", "97000\n"),
            (
                "sys/class/thermal/thermal_zone0/trip_point_0_type",
                "critical\n",
            ),
            (
                "sys/class/thermal/thermal_zone0/trip_point_0_temp",
                "100000\n",
            ),
        ];
        let (_folder, root) = machine(&[&UNIFIED[..], &files[..]].concat());
        let found = conditions(&root);
        let limits = Limits {
            cores: Some(1.5),
            memory: Some(536_870_912),
        };
        assert_eq!(found.limits, limits);
        let expected = [
            ("steal", "10% of the time since the start"),
            ("load", "2.4 tasks per core"),
            ("thermal", "97 degrees Celsius"),
            ("aslr", "off"),
        ];
        assert_eq!(named(&found), expected);
    }

    #[test]
    fn pressure_takes_precedence_over_load() {
        let files = [
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("proc/loadavg", "9.60 1.00 1.00 1/100 1\n"),
            ("proc/pressure/cpu", "some avg10=35.00 avg60=1.00\n"),
        ];
        let (_folder, root) = machine(&files);
        let found = conditions(&root);
        assert_eq!(
            named(&found),
            [("load", "tasks wait for a core 35% of the time")]
        );
    }

    #[test]
    fn reads_limits_of_both_versions_of_control_groups() {
        let mounts = "\
31 29 0:27 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu
32 29 0:28 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
";
        let limited = |memory: &str| {
            let (_folder, root) = machine(&[
                ("proc/self/cgroup", "5:cpu:/\n3:memory:/\n"),
                ("proc/self/mountinfo", mounts),
                ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", memory),
            ]);
            conditions(&root).limits
        };
        let cores = Some(0.5);
        let memory = Some(4096);
        assert_eq!(limited("4096\n"), Limits { cores, memory });
        let unlimited = limited("9223372036854771712\n");
        assert_eq!(
            unlimited,
            Limits {
                cores,
                memory: None
            }
        );
    }

    #[test]
    fn quiet_and_hidden_hosts_report_no_conditions() {
        let (_folder, hidden) = machine(&[]);
        assert_eq!(conditions(&hidden), Conditions::default());
        let (_folder, quiet) = machine(&[
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("proc/stat", "cpu  100 0 0 899 0 0 0 1\n"),
            ("proc/loadavg", "0.60 1.00 1.00 1/100 1\n"),
            ("proc/sys/kernel/randomize_va_space", "2\n"),
        ]);
        assert_eq!(conditions(&quiet), Conditions::default());
    }

    #[test]
    fn reading_conditions_is_fast() {
        let began = Instant::now();
        let _ = conditions(&Root::real());
        // It takes some milliseconds; the limit allows for a loaded machine.
        let took = began.elapsed();
        assert!(took.as_millis() < 1_000, "{took:?}");
    }
}
