//! Effects of a thing on measurements here: measured, or why that could not be.

use deadheat_model::doctor::{Checkup, EffectKind, Facts, Finding, NotMeasured, Topic};

use super::facts::this_core;
use super::numbers::{change, cores, count, share, time};
use crate::calibration::sentence_case;
use crate::glyphs::Glyphs;
use crate::units::counted;

/// With another core busy, work that takes this much longer is done by threads
/// of one core, whatever the machine says.
const LIKE_SIBLINGS: f64 = 0.2;

/// Changes below this are none.
const NO_CHANGE: f64 = 0.005;

/// Describes what was measured of a thing, or why nothing was; `None` where there is
/// nothing to measure.
pub(super) fn effect(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> Option<String> {
    let measured = measured(finding, checkup, glyphs);
    measured.or_else(|| finding.not_measured.map(|why| not_measured(why).to_owned()))
}

/// Describes what was measured; `None` where nothing was.
fn measured(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> Option<String> {
    let effect = |kind| finding.effect(kind);
    match &finding.facts {
        Facts::Clock { .. } => Some(format!(
            "Steps of {}, {} for an empty sample; a reading of the system's clock takes {}.",
            time(effect(EffectKind::ClockResolution)?, glyphs),
            time(effect(EffectKind::ClockCost)?, glyphs),
            time(effect(EffectKind::SystemClockCost)?, glyphs),
        )),
        Facts::Governor { .. } => Some(format!(
            "The same piece of work, over and over: times spread by {} (the middle 80 % of them), \
             and drifted by {}.",
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
                    "by itself the other thread was busy {} of the time",
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
                "None was taken while doctor watched.".to_owned()
            } else {
                format!("{} was taken while doctor watched.", share(stolen))
            })
        }
        Facts::Load { .. } => Some(format!(
            "{} had {} for {} of the time.",
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
                "{} lost {} of the time, other tasks {}.",
                this_core(checkup),
                share(watch.lost_to_interrupts()),
                match watch.waiting {
                    Some(_) => "left out",
                    None => "included",
                }
            ))
        }
        Facts::Interrupts { .. } => {
            let watch = checkup.watch()?;
            let without = match watch.waiting {
                Some(waiting) if waiting > 0.0 => {
                    format!(
                        "; {} without other tasks",
                        share(watch.lost_to_interrupts())
                    )
                }
                _ => String::new(),
            };
            Some(format!(
                "It was taken away {} times a second, at longest for {}, {} of the time in \
                 all{without}.",
                count(watch.taken_away),
                time(watch.longest_ns, glyphs),
                share(watch.lost),
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
                "No page was moved while doctor watched.".to_owned()
            } else {
                format!(
                    "{} moved while doctor watched.",
                    counted(pages as u64, "page was", "pages were")
                )
            })
        }
        Facts::Thermal { .. } => {
            let events = effect(EffectKind::ThrottleEvents)?;
            Some(if events == 0.0 {
                "It did not slow down while doctor measured.".to_owned()
            } else {
                format!(
                    "It slowed down {} while doctor measured.",
                    counted(events as u64, "time", "times")
                )
            })
        }
        Facts::Container { quota, .. } => {
            let held = effect(EffectKind::QuotaThrottled)?;
            quota.as_ref()?;
            Some(if held < 0.000_05 {
                "It did not hold doctor back.".to_owned()
            } else {
                format!("It held doctor back for {} of the time.", share(held))
            })
        }
        Facts::Aslr { .. }
        | Facts::Virtualisation { .. }
        | Facts::Counters { .. }
        | Facts::Build { .. } => None,
    }
}

fn not_measured(why: NotMeasured) -> &'static str {
    match why {
        NotMeasured::OneCore => {
            "Not measured: it takes a second core, and deadheat may use only one."
        }
        NotMeasured::SiblingNotAllowed => {
            "Not measured: deadheat may not use the other thread of the core."
        }
        NotMeasured::Hidden => "Not measured: the system hides what it takes.",
        NotMeasured::TooLittleMemory => "Not measured: too little memory is left to try.",
        NotMeasured::NoHugePages => "Not measured: the kernel gave no huge pages when asked.",
        NotMeasured::TakesProcesses => {
            "Not measured: what that is worth shows only over many processes, as the replicates of \
             a race are."
        }
    }
}

/// True where a quota had any part in keeping doctor from running.
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
