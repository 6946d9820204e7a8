//! Sentences about the facts that the system reports about the machine, and about the measured
//! effects of these facts.

use deadheat_model::doctor::{
    Checkup, EffectKind, Facts, Finding, Host, NotMeasured, Policy, Refused, Scheduler, Topic,
};

use super::numbers::{change, cores, count, degrees, frequency, share, signed, time};
use crate::glyphs::Glyphs;
use crate::names::sentence_case;
use crate::units::{bytes, counted};

pub(super) fn fact(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> String {
    match &finding.facts {
        Facts::Clock {
            source,
            fallback,
            kernel,
            ..
        } => {
            let counter = match source.as_str() {
                "tsc" => "the time stamp counter",
                "cntvct" => "the virtual counter of the processor",
                _ => "the clock of the operating system",
            };
            let why = match fallback {
                Some(why) => format!(", because {why}"),
                None => String::new(),
            };
            let kernel = match kernel {
                Some(kernel) if fallback.is_none() => {
                    format!("; the kernel keeps time by {kernel}")
                }
                _ => String::new(),
            };
            format!("Functions are timed by {counter}{why}{kernel}.")
        }
        Facts::Speeds { slowest: None, .. } => "The system reports no slow core.".to_owned(),
        Facts::Speeds {
            fast,
            slow,
            slowest: Some(slowest),
            ..
        } => {
            let verb = if slow.len() == 1 { "is" } else { "are" };
            format!(
                "{} {verb} slow: down to {} of the speed of {}.",
                sentence_case(&cores(slow)),
                share(*slowest),
                cores(fast)
            )
        }
        Facts::Governor {
            governors,
            driver,
            range_khz,
        } => {
            if governors.is_empty() {
                return "The system shows no governor, so it is unknown what sets the frequency."
                    .to_owned();
            }
            let driver = match driver {
                Some(driver) => format!(" ({driver})"),
                None => String::new(),
            };
            let range = match range_khz {
                Some((low, high)) => {
                    format!(", from {} to {}", frequency(*low), frequency(*high))
                }
                None => String::new(),
            };
            format!(
                "The governor is {}{driver}{range}.",
                governors.join(" and ")
            )
        }
        Facts::Turbo { on, .. } => match on {
            Some(true) => "Frequencies above the nominal one are allowed.".to_owned(),
            Some(false) => "Frequencies above the nominal one are switched off.".to_owned(),
            None => {
                "It is unknown whether frequencies above the nominal one are allowed.".to_owned()
            }
        },
        Facts::Smt {
            active, siblings, ..
        } => match (siblings.is_empty(), active) {
            (false, _) => format!(
                "{} shares a physical core with {}.",
                this_core(checkup),
                cores(siblings)
            ),
            (true, Some(false)) => "No threads share a core, according to the system.".to_owned(),
            (true, Some(true)) => format!(
                "Cores of this machine run several threads each, but {} runs only one.",
                this_core(checkup).to_lowercase()
            ),
            (true, None) => "It is unknown whether threads share cores.".to_owned(),
        },
        Facts::Steal { since_start } => match since_start {
            Some(stolen) if *stolen == 0.0 => {
                "No hypervisor took time since the system started.".to_owned()
            }
            Some(stolen) => format!(
                "Since the system started, a hypervisor gave {} of the time to other guests.",
                share(*stolen)
            ),
            None => "It is unknown whether a hypervisor gives time to other guests.".to_owned(),
        },
        Facts::Load {
            one_minute,
            running,
            pressure,
            cores,
        } => {
            let number = counted(u64::from(*cores), "core", "cores");
            let mut text = match one_minute {
                Some(load) => format!("Load {load:.2} on {number} over the last minute"),
                None => format!("The load of {number} is unknown"),
            };
            if let Some(running) = running {
                let tasks = counted(u64::from(*running), "task", "tasks");
                text += &format!("; {tasks} running or runnable at the start, doctor included");
            }
            if let Some(waited) = pressure {
                text += &format!(
                    "; tasks waited for a core during {} of the last 10 s",
                    share(*waited)
                );
            }
            text + "."
        }
        Facts::Isolation {
            isolated,
            tickless,
            reachable,
        } => {
            let mut text = if isolated.is_empty() {
                "No core is isolated from other tasks.".to_owned()
            } else {
                format!("Isolated from other tasks: {}.", cores(isolated))
            };
            if !tickless.is_empty() {
                text += &format!(
                    " No timer tick while only one task runs: {}.",
                    cores(tickless)
                );
            }
            if !isolated.is_empty() && !reachable {
                text += " deadheat is not allowed to use the isolated cores.";
            }
            text
        }
        Facts::Interrupts { busiest, .. } => {
            let Some(all) = finding.effect(EffectKind::Interrupts) else {
                return "The system does not report the sources of interrupts.".to_owned();
            };
            let of = |kind| count(finding.effect(kind).unwrap_or(0.0));
            let most = match busiest {
                Some(line) => format!(" (the busiest: {}, interrupt {})", line.name, line.label),
                None => String::new(),
            };
            format!(
                "{} took {} interrupts a second: {} from the timer, {} from devices{most}.",
                this_core(checkup),
                count(all),
                of(EffectKind::TimerInterrupts),
                of(EffectKind::DeviceInterrupts),
            )
        }
        Facts::Sharing {
            scheduler,
            slices,
            forks,
            autogroup,
            nice,
            policy,
            real_time_share,
            ..
        } => {
            let name = match scheduler {
                Some(Scheduler::Eevdf) => "The scheduler is EEVDF",
                Some(Scheduler::Cfs) => "The scheduler is CFS",
                Some(Scheduler::SchedExt) => "The scheduler is a BPF program (sched_ext)",
                None => "The scheduler is unknown",
            };
            let slices = match slices {
                // Real-time tasks have no time slice, so there is none to report.
                _ if policy.is_some_and(Policy::is_real_time) => "",
                true => ", and a program may choose its time slice",
                false => ", and no program may choose its time slice",
            };
            let mut text = format!("{name}{slices}.");
            if *forks {
                text += " Commands start by fork, because the system refuses the clone flags that would start them faster.";
            }
            match autogroup {
                Some(true) => text += " Autogroup is on.",
                Some(false) => text += " Autogroup is off.",
                None => {}
            }
            if let Some(nice) = nice.filter(|nice| *nice != 0) {
                text += &format!(
                    " deadheat runs with a nice value of {}.",
                    whole(nice, glyphs)
                );
            }
            if let Some(policy) = policy.filter(|policy| *policy != Policy::Other) {
                let name = policy.name().to_uppercase();
                text += &format!(" deadheat runs with the scheduling policy SCHED_{name}");
                text += &match real_time_share.filter(|_| policy.is_real_time()) {
                    Some(limit) if limit < 1.0 => format!(
                        ", and the kernel stops such tasks after {} of each period.",
                        share(limit)
                    ),
                    Some(_) => ", and the kernel never stops such tasks.".to_owned(),
                    None => ".".to_owned(),
                };
            }
            text
        }
        Facts::Aslr {
            setting,
            switched_off,
        } => match setting {
            _ if *switched_off => {
                "This process was started without random addresses (setarch -R).".to_owned()
            }
            Some(0) => "Every process gets the same addresses.".to_owned(),
            Some(1) => {
                "Stack and libraries get random addresses, but the heap does not.".to_owned()
            }
            Some(_) => "Every process gets random addresses, unless its program turns that \
                        off."
                .to_owned(),
            None => "It is unknown whether addresses are random.".to_owned(),
        },
        Facts::HugePages { enabled, defrag } => match enabled {
            Some(enabled) => {
                let defrag = match defrag {
                    Some(defrag) => format!(" (defrag: {defrag})"),
                    None => String::new(),
                };
                format!("Transparent huge pages are set to {enabled}{defrag}.")
            }
            None => "It is unknown whether there are transparent huge pages.".to_owned(),
        },
        Facts::Swap { total, used } => match (total, used) {
            (Some(0), _) => "There is no swap.".to_owned(),
            (Some(total), Some(used)) => {
                format!("{} of {} of swap are in use.", bytes(*used), bytes(*total))
            }
            (Some(total), None) => format!("There are {} of swap.", bytes(*total)),
            (None, _) => "It is unknown whether there is swap.".to_owned(),
        },
        Facts::Thermal { hottest, throttled } => {
            let sensor = match hottest {
                Some(heat) => {
                    let critical = match heat.critical.filter(|critical| *critical > 0.0) {
                        Some(critical) => format!(" of at most {}", degrees(critical, glyphs)),
                        None => String::new(),
                    };
                    let shown = degrees(heat.celsius, glyphs);
                    format!("{} shows {shown}{critical}.", heat.name)
                }
                None => "No sensor can be read.".to_owned(),
            };
            match throttled {
                Some(0) => format!("{sensor} The processor never slowed itself down for heat."),
                Some(times) => format!(
                    "{sensor} The processor slowed itself down for heat {} since the start.",
                    counted(*times, "time", "times")
                ),
                None => sensor,
            }
        }
        Facts::Virtualisation { host } => match host {
            Host::Hardware => "No hypervisor was found: this is hardware.".to_owned(),
            Host::VirtualMachine(Some(maker)) => format!("This is a virtual machine ({maker})."),
            Host::VirtualMachine(None) => "This is a virtual machine.".to_owned(),
            Host::Unknown => "It is unknown whether this is a virtual machine.".to_owned(),
        },
        Facts::Container {
            kind,
            version,
            quota,
        } => {
            let place = match kind {
                Some(kind) => format!("This is a container ({kind})"),
                None => "Not in a container".to_owned(),
            };
            match (quota, version) {
                (Some(quota), _) => {
                    let period = time(quota.period_ms * 1e6, glyphs);
                    format!(
                        "{place}; a CPU quota allows {} cores' worth of time in every {period}.",
                        trimmed(quota.cores)
                    )
                }
                (None, Some(_)) => format!("{place}; no CPU quota applies."),
                (None, None) => format!("{place}; whether a CPU quota applies is hidden."),
            }
        }
        Facts::Counters { paranoid, refused } => {
            let setting = match paranoid {
                Some(level) => format!(" (perf_event_paranoid is {level})"),
                None => String::new(),
            };
            match refused {
                None => format!("Hardware counters can be read{setting}."),
                Some(Refused::NotPermitted) => {
                    format!(
                        "This machine has hardware counters, but programs may not read \
                         them{setting}."
                    )
                }
                Some(Refused::NotThere) => {
                    "This machine has no hardware counters, like most virtual machines.".to_owned()
                }
                Some(Refused::NotBuilt) => {
                    "The kernel was built without hardware counters.".to_owned()
                }
                Some(Refused::Other(words)) => {
                    format!("Hardware counters could not be opened: {words}.")
                }
            }
        }
        Facts::Build { debug_assertions } => {
            if *debug_assertions {
                "deadheat itself was built with debug assertions.".to_owned()
            } else {
                "deadheat itself was built without debug assertions.".to_owned()
            }
        }
    }
}

fn whole(value: i32, glyphs: Glyphs) -> String {
    let sign = if value < 0 { glyphs.minus() } else { "" };
    format!("{sign}{}", value.unsigned_abs())
}

/// Formats a number with at most two decimals, without trailing zeros.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Names the core on which doctor measured, to begin a sentence.
pub(super) fn this_core(checkup: &Checkup) -> String {
    match checkup.measured_on {
        Some(core) => format!("Core {core}"),
        None => "The core".to_owned(),
    }
}

/// If work on a second core slows down the measured core by at least this share, the text says that
/// the two cores behave like threads of one core, even if the machine reports another topology.
const LIKE_SIBLINGS: f64 = 0.2;

/// Slowdowns below this share are reported as no change.
const NO_CHANGE: f64 = 0.005;

/// Returns the measured effect of a finding, or the reason why it was not measured; `None` if the
/// finding has nothing to measure.
pub(super) fn effect(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> Option<String> {
    let measured = measured(finding, checkup, glyphs);
    measured.or_else(|| finding.not_measured.map(|why| not_measured(why).to_owned()))
}

fn measured(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> Option<String> {
    let effect = |kind| finding.effect(kind);
    match &finding.facts {
        Facts::Clock { .. } => Some(format!(
            "The clock advances in steps of {}, an empty sample takes {}, and a reading of the \
             system's clock takes {}.",
            time(effect(EffectKind::ClockResolution)?, glyphs),
            time(effect(EffectKind::ClockCost)?, glyphs),
            time(effect(EffectKind::SystemClockCost)?, glyphs),
        )),
        Facts::Governor { .. } => Some(format!(
            "doctor repeated the same piece of work: its times spread by {} (the middle 80% of \
             them) and drifted by {}.",
            share(effect(EffectKind::WorkSpread)?),
            change(effect(EffectKind::WorkDrift)?, glyphs),
        )),
        Facts::Turbo { other_core, .. } => {
            let slowdown = effect(EffectKind::OtherSlowdown)?;
            let other = cores(&other_core.iter().copied().collect::<Vec<u32>>());
            let alike = if slowdown >= LIKE_SIBLINGS {
                ", as if both were threads of one core"
            } else {
                ""
            };
            Some(format!(
                "With {other} busy as well, the same work takes {}{alike}.",
                longer(slowdown, glyphs)
            ))
        }
        Facts::Smt { siblings_busy, .. } => {
            let own = match siblings_busy {
                Some(busy) => format!(
                    "other tasks used the other thread for {} of the time",
                    share(*busy)
                ),
                None => String::new(),
            };
            match effect(EffectKind::SiblingSlowdown) {
                Some(slowdown) => {
                    let own = if own.is_empty() {
                        own
                    } else {
                        format!("; {own}")
                    };
                    Some(format!(
                        "With the other thread busy, the same work takes {}{own}.",
                        longer(slowdown, glyphs)
                    ))
                }
                None => {
                    let why = not_measured(finding.not_measured?);
                    Some(if own.is_empty() {
                        why.to_owned()
                    } else {
                        format!("{why} {}.", sentence_case(&own))
                    })
                }
            }
        }
        Facts::Steal { .. } => {
            let stolen = effect(EffectKind::Stolen)?;
            Some(if stolen < 0.000_05 {
                "The hypervisor took no time while doctor watched.".to_owned()
            } else {
                format!(
                    "The hypervisor took {} of the time while doctor watched.",
                    share(stolen)
                )
            })
        }
        Facts::Load { .. } => Some(format!(
            "{} used {} for {} of the time.",
            if quota_held_back(checkup) {
                "Other tasks or the quota"
            } else {
                "Other tasks"
            },
            this_core(checkup).to_lowercase(),
            share(effect(EffectKind::Waiting)?)
        )),
        Facts::Isolation { .. } => {
            let watch = checkup.watch()?;
            Some(format!(
                "{} lost {} of the time to interruptions, other tasks {}.",
                this_core(checkup),
                share(watch.lost_to_interrupts()),
                match watch.waiting {
                    Some(_) => "not counted",
                    None => "included",
                }
            ))
        }
        Facts::Interrupts { .. } => {
            let watch = checkup.watch()?;
            let without = match watch.waiting {
                Some(waiting) if waiting > 0.0 => {
                    format!(
                        "; {} if other tasks are not counted",
                        share(watch.lost_to_interrupts())
                    )
                }
                _ => String::new(),
            };
            Some(format!(
                "Interruptions took the core away {} times a second, for at most {} each time and \
                 {} of the time in total{without}.",
                count(watch.taken_away),
                time(watch.longest_ns, glyphs),
                share(watch.lost),
            ))
        }
        Facts::Sharing { core, loop_ms, .. } => {
            let pairs = effect(EffectKind::SharingPairs)? as u64;
            let core = cores(&core.iter().copied().collect::<Vec<u32>>());
            Some(format!(
                "Two equal loops of {} started together on {core}, {}: their CPU times differed \
                 by {} on average (standard error {}, standard deviation {}). They took turns of \
                 {} ({} switches per second of CPU time). When the first loop ended, it had used \
                 {} of the CPU time of both.",
                time(loop_ms * 1e6, glyphs),
                counted(pairs, "time", "times"),
                signed(effect(EffectKind::SharingDifference)?, glyphs),
                share(effect(EffectKind::SharingError)?),
                share(effect(EffectKind::SharingScatter)?),
                time(effect(EffectKind::SharingTurn)?, glyphs),
                count(effect(EffectKind::SharingSwitches)?),
                share(effect(EffectKind::SharingFirst)?),
            ))
        }
        Facts::HugePages { .. } => {
            let small = effect(EffectKind::SmallPageRead)?;
            let huge = effect(EffectKind::HugePageRead).filter(|huge| *huge > 0.0)?;
            Some(format!(
                "A random read from 32 MiB takes {} in small pages and {} in huge ones ({}).",
                time(small, glyphs),
                time(huge, glyphs),
                change(huge / small - 1.0, glyphs),
            ))
        }
        Facts::Swap { .. } => {
            let pages = effect(EffectKind::SwappedPages)?;
            Some(if pages == 0.0 {
                "The system swapped no page while doctor watched.".to_owned()
            } else {
                format!(
                    "{} swapped while doctor watched.",
                    counted(pages as u64, "page was", "pages were")
                )
            })
        }
        Facts::Thermal { .. } => {
            let events = effect(EffectKind::ThrottleEvents)?;
            Some(if events == 0.0 {
                "The processor did not slow down while doctor measured.".to_owned()
            } else {
                format!(
                    "The processor slowed down {} while doctor measured.",
                    counted(events as u64, "time", "times")
                )
            })
        }
        Facts::Container { quota, .. } => {
            let held = effect(EffectKind::QuotaThrottled)?;
            quota.as_ref()?;
            Some(if held < 0.000_05 {
                "The quota did not hold doctor back.".to_owned()
            } else {
                format!(
                    "The quota held doctor back for {} of the time.",
                    share(held)
                )
            })
        }
        Facts::Aslr { .. }
        | Facts::Speeds { .. }
        | Facts::Virtualisation { .. }
        | Facts::Counters { .. }
        | Facts::Build { .. } => None,
    }
}

fn not_measured(why: NotMeasured) -> &'static str {
    match why {
        NotMeasured::OneCore => {
            "Not measured: this check needs a second core, and deadheat may use only one."
        }
        NotMeasured::SiblingNotAllowed => {
            "Not measured: deadheat is not allowed to use the other thread of the core."
        }
        NotMeasured::Hidden => "Not measured: the system hides the data that this check needs.",
        NotMeasured::TooLittleMemory => "Not measured: too little memory is free.",
        NotMeasured::TooBusy => {
            "Not measured: other tasks kept the core busy, so fewer than four pairs of loops finished."
        }
        NotMeasured::NoHugePages => "Not measured: the kernel gave no huge pages when asked.",
        NotMeasured::TakesProcesses => {
            "Not measured: the effect shows only over many processes, such as the replicates of a \
             race."
        }
    }
}

/// Returns true if a CPU quota stopped the doctor process for part of its measurement.
fn quota_held_back(checkup: &Checkup) -> bool {
    let quota = checkup.finding(Topic::Container);
    let held = quota.and_then(|quota| quota.effect(EffectKind::QuotaThrottled));
    held.is_some_and(|share| share > 0.0)
}

fn longer(slowdown: f64, glyphs: Glyphs) -> String {
    match slowdown {
        more if more >= NO_CHANGE => {
            format!("{} longer", change(more, glyphs).trim_start_matches('+'))
        }
        other => format!("no longer ({})", change(other, glyphs)),
    }
}
