//! Remedies for disturbances: a sentence, and a shell command if there is one. deadheat prints the
//! command, and the user decides whether to run it.

use deadheat_model::doctor::{
    Checkup, EffectKind, Facts, Finding, Host, Refused, Scheduler, SharingFlaw, State, Topic,
    TurboSwitch,
};

use super::numbers::list;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remedy {
    pub(super) words: String,
    pub(super) command: Option<String>,
}

/// If a device causes at least this many interrupts per second, the checkup advises moving its
/// interrupts to another core.
const WORTH_MOVING: f64 = 20.0;

/// The time slice that kernels use on machines with many cores, in nanoseconds.
const SLICE_NS: u32 = 3_000_000;

/// The highest value of the kernel setting `perf_event_paranoid` at which users may count events of
/// their own processes.
const PARANOID_ENOUGH: i32 = 2;

pub(super) fn remedy(finding: &Finding, checkup: &Checkup) -> Option<Remedy> {
    let words = |words: &str| Remedy {
        words: words.to_owned(),
        command: None,
    };
    let run = |words: &str, command: String| Remedy {
        words: words.to_owned(),
        command: Some(command),
    };
    let mends_itself = matches!(finding.state, State::Fine | State::Unknown);
    if mends_itself {
        return None;
    }
    let cores = "/sys/devices/system/cpu";
    match &finding.facts {
        // The remedies below are about the time stamp counter of x86-64.
        Facts::Clock { .. } if !checkup.system.ends_with("x86_64") => None,
        Facts::Clock {
            kernel, available, ..
        } => {
            let has = |name: &str| available.iter().any(|one| one == name);
            let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            match kernel.as_deref() {
                Some("tsc") => None,
                _ if has("tsc") => Some(run(
                    "Let the kernel keep time by the time stamp counter.",
                    format!("echo tsc | sudo tee {file}"),
                )),
                _ => Some(words(
                    "The kernel has dropped the time stamp counter. If the hardware is known to \
                     keep time, the boot option tsc=reliable brings it back.",
                )),
            }
        }
        Facts::Speeds { avoided: true, .. } => None,
        Facts::Speeds { fast, .. } => Some(run(
            "Keep commands on the fast cores.",
            format!("deadheat run --pin {} -- './old' './new'", list(fast)),
        )),
        Facts::Governor { governors, .. } if governors.is_empty() => Some(match host(checkup) {
            Some(Host::VirtualMachine(_)) => words(
                "Only the host of this virtual machine can hold its frequency. Race when the host \
                 is quiet.",
            ),
            _ => words("Race when nothing else runs."),
        }),
        Facts::Governor { governors, .. } => {
            let steady = governors.iter().all(|one| one == "performance");
            (!steady).then(|| {
                run(
                    "Keep the frequency high.",
                    format!("echo performance | sudo tee {cores}/cpu*/cpufreq/scaling_governor"),
                )
            })
        }
        Facts::Turbo { switch, .. } => {
            let file = match switch {
                Some(TurboSwitch::NoTurbo) => "1 | sudo tee {}/intel_pstate/no_turbo",
                Some(TurboSwitch::Boost) => "0 | sudo tee {}/cpufreq/boost",
                Some(TurboSwitch::BoostOfCores) => "0 | sudo tee {}/cpu*/cpufreq/boost",
                None => return Some(words("Leave the other cores idle while races run.")),
            };
            Some(run(
                "Stay at the nominal frequency.",
                format!("echo {}", file.replace("{}", cores)),
            ))
        }
        Facts::Smt { .. } => Some(run(
            "Leave the other thread idle, or switch SMT off.",
            format!("echo off | sudo tee {cores}/smt/control"),
        )),
        Facts::Steal { .. } => Some(words(
            "Only the host can change that: ask for dedicated cores, or race at a quieter hour.",
        )),
        Facts::Load { .. } => Some(run(
            "See what else runs, and stop it.",
            "ps -eo pcpu,pid,comm --sort=-pcpu | head".to_owned(),
        )),
        Facts::Isolation {
            isolated,
            reachable,
            ..
        } => Some(match (isolated.is_empty(), reachable) {
            (false, true) => words("Race on the isolated core, as advised below."),
            (false, false) => words(
                "Let this process use the isolated cores, which its container or cpuset \
                 excludes.",
            ),
            (true, _) => {
                let core = checkup
                    .measured_on
                    .or_else(|| checkup.online.last().copied());
                match core {
                    Some(core) => words(&format!(
                        "Isolate a core with the boot options isolcpus=managed_irq,domain,{core} \
                         nohz_full={core}."
                    )),
                    None => words("Isolate a core with the boot options isolcpus and nohz_full."),
                }
            }
        }),
        Facts::Interrupts {
            busiest,
            other_core,
        } => {
            let device = finding.effect(EffectKind::DeviceInterrupts).unwrap_or(0.0);
            match busiest.as_ref().zip(*other_core) {
                Some((line, other)) if device >= WORTH_MOVING => Some(run(
                    "Route the interrupts of the busiest device to another core; stop irqbalance, \
                     which would undo that.",
                    format!(
                        "echo {other} | sudo tee /proc/irq/{}/smp_affinity_list",
                        line.label
                    ),
                )),
                // Without counts of waiting tasks, other tasks may be the cause.
                _ if checkup.watch().is_none_or(|watch| watch.waiting.is_none()) => Some(words(
                    "The cause is hidden: other tasks, a quota or interrupts. Fix the visible \
                     findings first.",
                )),
                _ => match host(checkup) {
                    Some(Host::VirtualMachine(_)) => Some(words(
                        "No device causes the interruptions, but timer, hypervisor and firmware \
                         do. Only a quieter host helps.",
                    )),
                    _ => Some(words(
                        "No device causes the interruptions, but timer and firmware do. An \
                         isolated core (isolcpus, nohz_full) has fewer.",
                    )),
                },
            }
        }
        Facts::Sharing {
            scheduler, flaws, ..
        } => flaws.first().map(|flaw| match flaw {
            SharingFlaw::RealTime => words(
                "Start deadheat without a real-time policy (chrt): commands inherit it, and one \
                 may then run until it ends before the other one begins.",
            ),
            SharingFlaw::OneAfterTheOther if *scheduler == Some(Scheduler::Eevdf) => run(
                "The kernel's time slice is as long as the loops. Shorten it, or race with \
                 --arrangement turns.",
                format!("echo {SLICE_NS} | sudo tee /sys/kernel/debug/sched/base_slice_ns"),
            ),
            SharingFlaw::OneAfterTheOther => words(
                "The kernel's time slice is as long as the loops of this check (8 ms). Some profiles \
                 of tuned lengthen it: choose another profile, or race with --arrangement turns.",
            ),
            SharingFlaw::Biased => words(
                "This kernel favours one of two equal loops. Race with --arrangement turns, and \
                 report this result to the authors of deadheat.",
            ),
            SharingFlaw::Scattered => words(
                "Race when the machine is quieter, or with --arrangement turns if it stays busy.",
            ),
            SharingFlaw::Nice => words(
                "Start deadheat without nice: other tasks get more of the core, so races take \
                 longer.",
            ),
        }),
        Facts::Aslr { switched_off, .. } => Some(if *switched_off {
            words("Start deadheat without setarch -R (a debugger does that too).")
        } else {
            run(
                "Give every process random addresses.",
                "sudo sysctl kernel.randomize_va_space=2".to_owned(),
            )
        }),
        Facts::HugePages { .. } => Some(run(
            "Give huge pages only to programs that ask for them.",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        )),
        Facts::Swap { .. } => Some(run(
            "Move swapped pages back into memory.",
            "sudo swapoff -a".to_owned(),
        )),
        Facts::Thermal { .. } => Some(words(
            "Let the processor cool, or limit its frequency to what it can sustain.",
        )),
        Facts::Virtualisation { .. } => Some(words(
            "For the smallest differences, race on hardware of your own.",
        )),
        Facts::Container { kind, quota, .. } => {
            let lift = quota.as_ref().map(|quota| {
                let none = if quota.file.ends_with("cpu.max") {
                    "max"
                } else {
                    "-1"
                };
                format!("echo {none} | sudo tee {}", quota.file)
            });
            Some(Remedy {
                words: match kind {
                    Some(_) => "Start the container without a CPU limit, or lift the quota.",
                    None => "Lift the quota.",
                }
                .to_owned(),
                command: lift,
            })
        }
        Facts::Counters { paranoid, refused } => match refused {
            Some(Refused::NotPermitted) if paranoid.is_none_or(|set| set > PARANOID_ENOUGH) => {
                Some(run(
                    "Allow programs to use hardware counters.",
                    format!("sudo sysctl kernel.perf_event_paranoid={PARANOID_ENOUGH}"),
                ))
            }
            Some(Refused::NotPermitted) => Some(words(
                "The kernel allows hardware counters, but a sandbox does not: start the container \
                 with --cap-add PERFMON, or a seccomp profile that lets perf_event_open pass.",
            )),
            _ => None,
        },
        Facts::Build { .. } => Some(run(
            "Build deadheat in release mode.",
            "cargo build --release".to_owned(),
        )),
    }
}

/// Returns the command with which the user must start deadheat so that it may use the recommended
/// cores; `None` if deadheat may already use them.
pub(super) fn start_with(checkup: &Checkup) -> Option<String> {
    let cores = &checkup.advice.start_with;
    (!cores.is_empty()).then(|| format!("taskset -c {}", list(cores)))
}

fn host(checkup: &Checkup) -> Option<&Host> {
    match &checkup.finding(Topic::Virtualisation)?.facts {
        Facts::Virtualisation { host } => Some(host),
        _ => None,
    }
}
