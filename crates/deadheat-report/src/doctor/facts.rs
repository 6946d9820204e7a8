//! Facts about a machine, as the system tells them.

use deadheat_model::doctor::{Checkup, EffectKind, Facts, Finding, Host, Refused};

use super::numbers::{cores, count, degrees, frequency, share, time};
use crate::glyphs::Glyphs;
use crate::units::{bytes, counted};

/// Describes what the system says of a thing.
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
        Facts::Governor {
            governors,
            driver,
            range_khz,
        } => {
            if governors.is_empty() {
                return "The system shows no governor; who chooses the frequency is hidden."
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
            None => "Whether frequencies above the nominal one are allowed is hidden.".to_owned(),
        },
        Facts::Smt {
            active, siblings, ..
        } => match (siblings.is_empty(), active) {
            (false, _) => format!(
                "{} shares its units with {}: threads of one core.",
                this_core(checkup),
                cores(siblings)
            ),
            (true, Some(false)) => {
                "No threads share a core, as far as the system tells.".to_owned()
            }
            (true, Some(true)) => format!(
                "Threads share cores here, but {} has no other.",
                this_core(checkup).to_lowercase()
            ),
            (true, None) => "Whether threads share cores is hidden.".to_owned(),
        },
        Facts::Steal { since_start } => match since_start {
            Some(stolen) if *stolen == 0.0 => {
                "No hypervisor took time since the system started.".to_owned()
            }
            Some(stolen) => format!(
                "Since the system started, a hypervisor gave {} of the time to others.",
                share(*stolen)
            ),
            None => "Whether a hypervisor gives time to others is hidden.".to_owned(),
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
                None => format!("The load of {number} is hidden"),
            };
            if let Some(running) = running {
                let tasks = counted(u64::from(*running), "task", "tasks");
                text += &format!("; {tasks} ran or wanted to at the start, doctor included");
            }
            if let Some(waited) = pressure {
                text += &format!("; in {} of the last 10 s some task waited", share(*waited));
            }
            text + "."
        }
        Facts::Isolation {
            isolated,
            tickless,
            reachable,
        } => {
            let mut text = if isolated.is_empty() {
                "No core is set apart from other tasks.".to_owned()
            } else {
                format!("Set apart from other tasks: {}.", cores(isolated))
            };
            if !tickless.is_empty() {
                text += &format!(" Without a timer while one task runs: {}.", cores(tickless));
            }
            if !isolated.is_empty() && !reachable {
                text += " deadheat may not use what is set apart.";
            }
            text
        }
        Facts::Interrupts { busiest, .. } => {
            let Some(all) = finding.effect(EffectKind::Interrupts) else {
                return "The system does not tell who interrupts.".to_owned();
            };
            let of = |kind| count(finding.effect(kind).unwrap_or(0.0));
            let most = match busiest {
                Some(line) => format!(", most of them from {} ({})", line.name, line.label),
                None => String::new(),
            };
            format!(
                "{} took {} interrupts a second: {} of the timer, {} of devices{most}.",
                this_core(checkup),
                count(all),
                of(EffectKind::TimerInterrupts),
                of(EffectKind::DeviceInterrupts),
            )
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
                "Stack and libraries get random addresses, the heap does not follow.".to_owned()
            }
            Some(_) => "Every process draws its addresses at random.".to_owned(),
            None => "Whether addresses are random is hidden.".to_owned(),
        },
        Facts::HugePages { enabled, defrag } => match enabled {
            Some(enabled) => {
                let defrag = match defrag {
                    Some(defrag) => format!(" (defrag: {defrag})"),
                    None => String::new(),
                };
                format!("Transparent huge pages are set to {enabled}{defrag}.")
            }
            None => "Whether there are transparent huge pages is hidden.".to_owned(),
        },
        Facts::Swap { total, used } => match (total, used) {
            (Some(0), _) => "There is no swap.".to_owned(),
            (Some(total), Some(used)) => {
                format!("{} of {} of swap are in use.", bytes(*used), bytes(*total))
            }
            (Some(total), None) => format!("There are {} of swap.", bytes(*total)),
            (None, _) => "Whether there is swap is hidden.".to_owned(),
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
            Host::Hardware => "No hypervisor shows: this is hardware.".to_owned(),
            Host::VirtualMachine(Some(maker)) => format!("This is a virtual machine ({maker})."),
            Host::VirtualMachine(None) => "This is a virtual machine.".to_owned(),
            Host::Unknown => "Whether this is a virtual machine is hidden.".to_owned(),
        },
        Facts::Container {
            kind,
            version,
            quota,
        } => {
            let place = match kind {
                Some(kind) => format!("This is a container ({kind})"),
                None => "This is no container".to_owned(),
            };
            match (quota, version) {
                (Some(quota), _) => {
                    let period = time(quota.period_ms * 1e6, glyphs);
                    format!(
                        "{place}; a CPU quota allows {} cores' worth of time in every {period}.",
                        trimmed(quota.cores)
                    )
                }
                (None, Some(_)) => format!("{place}, and no CPU quota holds."),
                (None, None) => format!("{place}; whether a CPU quota holds is hidden."),
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
                    format!("Hardware counters are there, but may not be read{setting}.")
                }
                Some(Refused::NotThere) => {
                    "The machine offers no hardware counters, as most virtual machines.".to_owned()
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

/// A number without decimals that say nothing.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The core everything was measured on, at the head of a sentence.
pub(super) fn this_core(checkup: &Checkup) -> String {
    match checkup.measured_on {
        Some(core) => format!("Core {core}"),
        None => "The core".to_owned(),
    }
}
