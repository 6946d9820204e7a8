//! Combines facts and measurements into findings, and grades how much they disturb paired races.
//!
//! deadheat compares samples that are close in time, in random order, in many processes. Influences
//! on both sides of a pair cancel: a slow machine, a drifting frequency, the temperature.
//! Influences on one side only widen the interval, so that the answer takes longer. A problem is
//! worth fixing from the limits below on.

use deadheat_model::doctor::{
    Effect, EffectKind, Facts, Finding, Host, NotMeasured, SharingFlaw, State,
};

use crate::memory::PageReads;
use crate::sharing::Shared;
use crate::watch::{Evenness, Watched};

/// All measurements; a missing one is `None` or has a reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// The core on which everything else was measured, and the result of watching it.
    pub(crate) watched: Watched,
    pub(crate) clock_resolution_ns: f64,
    pub(crate) clock_cost_ns: f64,
    pub(crate) system_clock_cost_ns: f64,
    pub(crate) evenness: Option<Evenness>,
    /// The relative change in the time of a fixed piece of work while a sibling thread is busy.
    pub(crate) sibling: Result<f64, NotMeasured>,
    /// The relative change in the time of a fixed piece of work while another core is busy.
    pub(crate) other: Result<f64, NotMeasured>,
    pub(crate) pages: Result<PageReads, NotMeasured>,
    pub(crate) shared: Result<Shared, NotMeasured>,
    /// The number of pages that were swapped during the whole checkup.
    pub(crate) swapped_pages: Option<u64>,
    pub(crate) throttle_events: Option<u64>,
    pub(crate) quota_throttled: Option<f64>,
}

/// Returns a finding for each fact, in the order in which problems should be fixed.
pub(crate) fn findings(facts: Vec<Facts>, measured: &Measured) -> Vec<Finding> {
    let mut findings: Vec<Finding> = facts
        .into_iter()
        .map(|facts| {
            let (effects, not_measured) = effects(&facts, measured);
            Finding {
                state: state(&facts, measured),
                effects,
                not_measured,
                facts,
            }
        })
        .collect();
    findings.sort_by_key(Finding::topic);
    findings
}

/// Returns the measured effects for these facts, and the reason if a measurement is missing.
fn effects(facts: &Facts, measured: &Measured) -> (Vec<Effect>, Option<NotMeasured>) {
    let watched = &measured.watched;
    let watch = &watched.watch;
    let mut not_measured = None;
    let mut of = |result: Result<f64, NotMeasured>| match result {
        Ok(value) => Some(value),
        Err(why) => {
            not_measured = Some(why);
            None
        }
    };
    let count = |number: Option<u64>| number.map(|number| number as f64);
    let gaps = [
        (EffectKind::TakenAway, Some(watch.taken_away)),
        (EffectKind::LongestAway, Some(watch.longest_ns)),
        (EffectKind::TimeLost, Some(watch.lost)),
    ];
    let seen: Vec<(EffectKind, Option<f64>)> = match facts {
        Facts::Clock { .. } => vec![
            (
                EffectKind::ClockResolution,
                Some(measured.clock_resolution_ns),
            ),
            (EffectKind::ClockCost, Some(measured.clock_cost_ns)),
            (
                EffectKind::SystemClockCost,
                Some(measured.system_clock_cost_ns),
            ),
        ],
        Facts::Governor { .. } => vec![
            (EffectKind::WorkSpread, measured.evenness.map(|e| e.spread)),
            (EffectKind::WorkDrift, measured.evenness.map(|e| e.drift)),
        ],
        Facts::Turbo { .. } => vec![(EffectKind::OtherSlowdown, of(measured.other))],
        Facts::Smt { siblings, .. } if !siblings.is_empty() => {
            vec![(EffectKind::SiblingSlowdown, of(measured.sibling))]
        }
        Facts::Steal { .. } => vec![(EffectKind::Stolen, watch.stolen)],
        Facts::Load { .. } => vec![(EffectKind::Waiting, watch.waiting)],
        Facts::Isolation { .. } => gaps.to_vec(),
        Facts::Interrupts { .. } => {
            let rates = [
                (EffectKind::Interrupts, watch.interrupts),
                (EffectKind::TimerInterrupts, watched.timer),
                (EffectKind::DeviceInterrupts, watched.device),
            ];
            [&gaps[..], &rates[..]].concat()
        }
        Facts::Sharing { .. } => {
            let shared = measured.shared;
            let mut seen = |kind, value: fn(Shared) -> f64| (kind, of(shared.map(value)));
            vec![
                seen(EffectKind::SharingPairs, |shared| shared.pairs as f64),
                seen(EffectKind::SharingDifference, |shared| shared.difference),
                seen(EffectKind::SharingError, |shared| shared.error),
                seen(EffectKind::SharingScatter, |shared| shared.scatter),
                seen(EffectKind::SharingFirst, |shared| shared.first),
                seen(EffectKind::SharingSwitches, |shared| shared.switches),
                seen(EffectKind::SharingTurn, |shared| shared.turn_ns),
            ]
        }
        Facts::HugePages { .. } => {
            let reads = measured.pages;
            vec![
                (EffectKind::SmallPageRead, of(reads.map(|r| r.small_ns))),
                (EffectKind::HugePageRead, of(reads.map(|r| r.huge_ns))),
            ]
        }
        Facts::Swap { .. } => vec![(EffectKind::SwappedPages, count(measured.swapped_pages))],
        Facts::Thermal { .. } => {
            vec![(EffectKind::ThrottleEvents, count(measured.throttle_events))]
        }
        Facts::Container { .. } => vec![(EffectKind::QuotaThrottled, measured.quota_throttled)],
        Facts::Aslr { .. } => {
            not_measured = Some(NotMeasured::TakesProcesses);
            Vec::new()
        }
        Facts::Smt { .. }
        | Facts::Speeds { .. }
        | Facts::Virtualisation { .. }
        | Facts::Counters { .. }
        | Facts::Build { .. } => Vec::new(),
    };
    let known = seen.into_iter();
    let effects: Vec<Effect> = known
        .filter_map(|(kind, value)| Effect::new(kind, value?))
        .collect();
    let hides = matches!(
        facts,
        Facts::Steal { .. }
            | Facts::Load { .. }
            | Facts::Swap { .. }
            | Facts::Thermal { .. }
            | Facts::Container { .. }
    );
    if hides && effects.is_empty() {
        not_measured = Some(NotMeasured::Hidden);
    }
    (effects, not_measured)
}

/// Two limits for the share of time that a core loses to interrupts and other tasks: from the first
/// limit on, the loss is a minor problem; from the second on, it disturbs races.
const LOST: [f64; 2] = [0.002, 0.01];

/// Two limits for the share of time in which other tasks have the core: from the first limit on,
/// this is a minor problem; from the second on, it disturbs races.
const WAITING: [f64; 2] = [0.002, 0.02];

/// Two limits for the share of time that the hypervisor gives to other machines: from the first
/// limit on, this is a minor problem; from the second on, it disturbs races.
const STOLEN: [f64; 2] = [0.0005, 0.01];

/// Two limits for the number of runnable tasks per core: from the first limit on, the load is a
/// minor problem; from the second on, it disturbs races.
const LOAD: [f64; 2] = [0.25, 1.0];
/// Two limits for the share of time in which a task waits for a core: from the first limit on, the
/// load is a minor problem; from the second on, it disturbs races.
pub(crate) const PRESSURE: [f64; 2] = [0.02, 0.2];

/// Two limits for the spread of the times of a fixed piece of work, relative to their median: from
/// the first limit on, the spread is a minor problem; from the second on, it disturbs races.
const SPREAD: [f64; 2] = [0.02, 0.10];

/// Two limits for the slowdown of a fixed piece of work while other cores are busy: from the first
/// limit on, the slowdown is a minor problem; from the second on, it disturbs races.
const SLOWDOWN: [f64; 2] = [0.02, 0.10];

/// A sibling thread counts as occupied by other tasks if it is busy for at least this share of the
/// time.
const SIBLING_BUSY: f64 = 0.10;

/// Two limits for the cost of a clock reading and for the resolution of the clock, in nanoseconds:
/// from the first limit on, either is a minor problem; from the second on, it disturbs races.
const CLOCK_NS: [f64; 2] = [100.0, 1_000.0];

/// The distance from the critical temperature that is sufficient, in °C.
const HEADROOM: f64 = 10.0;

/// Grades how much these facts, with their measurements, disturb races.
pub(crate) fn state(facts: &Facts, measured: &Measured) -> State {
    let watch = &measured.watched.watch;
    match facts {
        Facts::Clock { .. } => {
            let cost = measured.clock_cost_ns.max(measured.clock_resolution_ns);
            graded(cost, CLOCK_NS)
        }
        Facts::Governor { governors, .. } => {
            let spread = measured.evenness.map(|evenness| evenness.spread);
            let steady = governors.iter().all(|one| one == "performance");
            match (spread, governors.is_empty()) {
                (None, true) => State::Unknown,
                (Some(spread), true) => graded(spread, SPREAD),
                (_, false) if steady => State::Fine,
                (spread, false) => at_least_minor(spread.unwrap_or(0.0), SPREAD),
            }
        }
        Facts::Speeds { slow, .. } if slow.is_empty() => State::Fine,
        Facts::Speeds { .. } => State::Minor,
        Facts::Turbo { on, .. } => match (on, measured.other) {
            (Some(false), _) => State::Fine,
            (Some(true), Ok(change)) => at_least_minor(change, SLOWDOWN),
            (Some(true), Err(_)) => State::Minor,
            (None, Ok(change)) => graded(change, SLOWDOWN),
            (None, Err(_)) => State::Unknown,
        },
        Facts::Smt {
            active,
            siblings,
            siblings_busy,
        } => match (active, siblings.is_empty()) {
            (_, false) if siblings_busy.is_some_and(|busy| busy >= SIBLING_BUSY) => State::Disturbs,
            (_, false) => State::Minor,
            (None, true) => State::Unknown,
            (Some(_), true) => State::Fine,
        },
        Facts::Steal { since_start } => match watch.stolen {
            Some(stolen) if stolen < STOLEN[0] && since_start.is_some_and(|s| s >= STOLEN[1]) => {
                State::Minor
            }
            Some(stolen) => graded(stolen, STOLEN),
            None => State::Unknown,
        },
        Facts::Load {
            one_minute,
            pressure,
            cores,
            ..
        } => {
            let per_core = one_minute.map(|load| load / f64::from((*cores).max(1)));
            // The load of a minute ago may be over; the loop shows the present load.
            let of_a_minute = per_core.map(|load| match (graded(load, LOAD), watch.waiting) {
                (State::Disturbs, Some(_)) => State::Minor,
                (grade, _) => grade,
            });
            let grades = [
                // Time throttled by a quota is reported with the quota.
                watch.waiting.map(|waiting| {
                    let quota = measured.quota_throttled.unwrap_or(0.0);
                    graded(waiting - quota, WAITING)
                }),
                of_a_minute,
                pressure.map(|share| graded(share, PRESSURE)),
            ];
            worst(grades)
        }
        Facts::Isolation { isolated, .. } => {
            let undisturbed = isolated.is_empty() && watch.lost_to_interrupts() < LOST[0];
            if watch.isolated || undisturbed {
                State::Fine
            } else {
                State::Minor
            }
        }
        Facts::Interrupts { .. } => graded(watch.lost_to_interrupts(), LOST),
        Facts::Sharing { flaws, .. } => match flaws.as_slice() {
            [] if measured.shared.is_err() => State::Unknown,
            [] => State::Fine,
            [SharingFlaw::Nice] => State::Minor,
            _ => State::Disturbs,
        },
        Facts::Aslr {
            setting,
            switched_off,
        } => match setting {
            _ if *switched_off => State::Disturbs,
            Some(0) => State::Disturbs,
            Some(1) => State::Minor,
            Some(_) => State::Fine,
            None => State::Unknown,
        },
        Facts::HugePages { enabled, .. } => match enabled.as_deref() {
            Some("always") => State::Minor,
            Some(_) => State::Fine,
            None => State::Unknown,
        },
        Facts::Swap { total, used } => match (total, measured.swapped_pages) {
            (_, Some(pages)) if pages > 0 => State::Disturbs,
            (Some(0), _) => State::Fine,
            (None, None) => State::Unknown,
            _ if used.is_some_and(|used| used > 0) => State::Minor,
            _ => State::Fine,
        },
        Facts::Thermal { hottest, throttled } => {
            let hot = hottest.as_ref().is_some_and(|heat| {
                let critical = heat.critical.filter(|critical| *critical > 0.0);
                critical.is_some_and(|critical| heat.celsius > critical - HEADROOM)
            });
            match (measured.throttle_events, throttled) {
                (Some(events), _) if events > 0 => State::Disturbs,
                _ if hot => State::Disturbs,
                (_, Some(before)) if *before > 0 => State::Minor,
                (None, None) if hottest.is_none() => State::Unknown,
                _ => State::Fine,
            }
        }
        Facts::Virtualisation { host } => match host {
            Host::Hardware => State::Fine,
            Host::VirtualMachine(_) => State::Minor,
            Host::Unknown => State::Unknown,
        },
        Facts::Container { version, quota, .. } => match (quota, measured.quota_throttled) {
            (_, Some(share)) if share >= LOST[0] => State::Disturbs,
            (Some(quota), _) if quota.cores < 1.0 => State::Disturbs,
            (Some(_), _) => State::Minor,
            (None, _) if version.is_none() => State::Unknown,
            (None, _) => State::Fine,
        },
        Facts::Counters { refused: None, .. } => State::Fine,
        Facts::Counters { .. } => State::Minor,
        Facts::Build { debug_assertions } if *debug_assertions => State::Minor,
        Facts::Build { .. } => State::Fine,
    }
}

fn graded(value: f64, [shows, disturbs]: [f64; 2]) -> State {
    match value {
        value if value >= disturbs => State::Disturbs,
        value if value >= shows => State::Minor,
        _ => State::Fine,
    }
}

fn at_least_minor(value: f64, limits: [f64; 2]) -> State {
    match graded(value, limits) {
        State::Fine => State::Minor,
        more => more,
    }
}

fn worst<const N: usize>(grades: [Option<State>; N]) -> State {
    let mut order = [State::Disturbs, State::Minor, State::Fine].into_iter();
    let found = order.find(|state| grades.contains(&Some(*state)));
    found.unwrap_or(State::Unknown)
}

#[cfg(test)]
mod tests {
    use deadheat_model::doctor::{CoreWatch, Quota, Sensor, Topic};

    use super::*;

    fn quiet() -> Measured {
        Measured {
            watched: Watched {
                watch: CoreWatch {
                    core: Some(1),
                    seconds: 0.5,
                    taken_away: 250.0,
                    longest_ns: 5_000.0,
                    lost: 0.0005,
                    waiting: Some(0.0),
                    stolen: Some(0.0),
                    interrupts: Some(251.0),
                    isolated: false,
                },
                timer: Some(250.0),
                device: Some(1.0),
                busiest: None,
                busy: Vec::new(),
            },
            clock_resolution_ns: 12.0,
            clock_cost_ns: 20.0,
            system_clock_cost_ns: 25.0,
            evenness: Some(Evenness {
                spread: 0.004,
                drift: 0.0,
            }),
            sibling: Ok(0.6),
            other: Ok(0.003),
            pages: Ok(PageReads {
                small_ns: 80.0,
                huge_ns: 40.0,
            }),
            shared: Ok(Shared {
                pairs: 100,
                difference: 0.0002,
                error: 0.0003,
                scatter: 0.003,
                first: 0.62,
                switches: 160.0,
                turn_ns: 4e6,
            }),
            swapped_pages: Some(0),
            throttle_events: Some(0),
            quota_throttled: Some(0.0),
        }
    }

    #[test]
    fn findings_are_in_the_order_of_fixes() {
        let facts = vec![
            Facts::Build {
                debug_assertions: false,
            },
            Facts::Swap {
                total: Some(0),
                used: Some(0),
            },
            Facts::Steal { since_start: None },
        ];
        let found = findings(facts, &quiet());
        let topics: Vec<Topic> = found.iter().map(Finding::topic).collect();
        assert_eq!(topics, [Topic::Steal, Topic::Swap, Topic::Build]);
        assert!(found.iter().all(|one| one.state == State::Fine));
        assert_eq!(found[0].effect(EffectKind::Stolen), Some(0.0));
        assert_eq!(found[2].effects, []);
    }

    #[test]
    fn a_missing_measurement_has_a_reason() {
        let mut measured = quiet();
        measured.other = Err(NotMeasured::OneCore);
        measured.watched.watch.stolen = None;
        let turbo = Facts::Turbo {
            on: Some(true),
            switch: None,
            other_core: None,
        };
        let found = findings(vec![turbo, Facts::Steal { since_start: None }], &measured);
        assert_eq!(found[0].not_measured, Some(NotMeasured::Hidden));
        assert_eq!(found[1].not_measured, Some(NotMeasured::OneCore));
        assert!(found.iter().all(|one| one.effects.is_empty()));
    }

    #[test]
    fn uneven_work_disturbs_with_any_governor() {
        let governor = |names: &[&str], spread: f64| {
            let mut measured = quiet();
            measured.evenness = measured.evenness.map(|mut even| {
                even.spread = spread;
                even
            });
            let facts = Facts::Governor {
                governors: names.iter().map(|name| (*name).to_owned()).collect(),
                driver: None,
                range_khz: None,
            };
            state(&facts, &measured)
        };
        assert_eq!(governor(&["performance"], 0.5), State::Fine);
        assert_eq!(governor(&["powersave"], 0.001), State::Minor);
        assert_eq!(
            governor(&["performance", "powersave"], 0.2),
            State::Disturbs
        );
        assert_eq!(governor(&[], 0.001), State::Fine);
        assert_eq!(governor(&[], 0.2), State::Disturbs);
    }

    #[test]
    fn disabled_address_randomisation_disturbs() {
        let aslr = |setting, switched_off| {
            let facts = Facts::Aslr {
                setting,
                switched_off,
            };
            state(&facts, &quiet())
        };
        assert_eq!(aslr(Some(2), false), State::Fine);
        assert_eq!(aslr(Some(2), true), State::Disturbs);
        assert_eq!(aslr(Some(1), false), State::Minor);
        assert_eq!(aslr(Some(0), false), State::Disturbs);
        assert_eq!(aslr(None, false), State::Unknown);
    }

    #[test]
    fn a_quota_disturbs_if_it_throttles_or_is_below_a_core() {
        let container = |cores: Option<f64>, throttled: Option<f64>| {
            let mut measured = quiet();
            measured.quota_throttled = throttled;
            let quota = cores.map(|cores| Quota {
                cores,
                period_ms: 100.0,
                file: "cpu.max".to_owned(),
            });
            let facts = Facts::Container {
                kind: None,
                version: Some(2),
                quota,
            };
            state(&facts, &measured)
        };
        assert_eq!(container(None, Some(0.0)), State::Fine);
        assert_eq!(container(Some(2.0), Some(0.0)), State::Minor);
        assert_eq!(container(Some(2.0), Some(0.1)), State::Disturbs);
        assert_eq!(container(Some(0.5), None), State::Disturbs);
    }

    #[test]
    fn a_sibling_disturbs_while_it_is_busy() {
        let smt = |siblings: &[u32], busy| {
            let facts = Facts::Smt {
                active: Some(true),
                siblings: siblings.to_vec(),
                siblings_busy: busy,
            };
            state(&facts, &quiet())
        };
        assert_eq!(smt(&[5], Some(0.01)), State::Minor);
        assert_eq!(smt(&[5], Some(0.4)), State::Disturbs);
        assert_eq!(smt(&[], None), State::Fine);
    }

    #[test]
    fn every_sharing_flaw_but_a_nice_value_disturbs() {
        let facts = |flaws: &[SharingFlaw]| Facts::Sharing {
            core: Some(1),
            loop_ms: 8.0,
            scheduler: None,
            slices: false,
            forks: false,
            autogroup: None,
            nice: None,
            policy: None,
            real_time_share: None,
            flaws: flaws.to_vec(),
        };
        let mut measured = quiet();
        assert_eq!(state(&facts(&[]), &measured), State::Fine);
        let nice = facts(&[SharingFlaw::Nice]);
        assert_eq!(state(&nice, &measured), State::Minor);
        let biased = facts(&[SharingFlaw::Biased, SharingFlaw::Nice]);
        assert_eq!(state(&biased, &measured), State::Disturbs);
        let found = findings(vec![biased], &measured);
        assert_eq!(found[0].effect(EffectKind::SharingPairs), Some(100.0));
        assert_eq!(found[0].effect(EffectKind::SharingTurn), Some(4e6));
        measured.shared = Err(NotMeasured::TooBusy);
        assert_eq!(state(&facts(&[]), &measured), State::Unknown);
        let found = findings(vec![facts(&[])], &measured);
        assert_eq!(found[0].not_measured, Some(NotMeasured::TooBusy));
        assert_eq!(found[0].effects, []);
    }

    #[test]
    fn heat_disturbs_near_the_limit_and_when_it_slows_the_processor() {
        let thermal = |celsius: f64, before, events| {
            let mut measured = quiet();
            measured.throttle_events = events;
            let facts = Facts::Thermal {
                hottest: Some(Sensor {
                    name: "package".to_owned(),
                    celsius,
                    critical: Some(100.0),
                }),
                throttled: before,
            };
            state(&facts, &measured)
        };
        assert_eq!(thermal(60.0, Some(0), Some(0)), State::Fine);
        assert_eq!(thermal(60.0, Some(9), Some(0)), State::Minor);
        assert_eq!(thermal(60.0, Some(9), Some(1)), State::Disturbs);
        assert_eq!(thermal(95.0, None, None), State::Disturbs);
    }

    #[test]
    fn swap_disturbs_while_pages_move() {
        let swap = |total, used, pages| {
            let mut measured = quiet();
            measured.swapped_pages = pages;
            state(&Facts::Swap { total, used }, &measured)
        };
        assert_eq!(swap(Some(0), Some(0), Some(0)), State::Fine);
        assert_eq!(swap(Some(9), Some(0), Some(0)), State::Fine);
        assert_eq!(swap(Some(9), Some(4), Some(0)), State::Minor);
        assert_eq!(swap(Some(9), Some(4), Some(7)), State::Disturbs);
        assert_eq!(swap(None, None, None), State::Unknown);
    }

    #[test]
    fn load_is_graded_by_the_worst_that_is_known() {
        let load = |waiting, one_minute, pressure| {
            let mut measured = quiet();
            measured.watched.watch.waiting = waiting;
            let facts = Facts::Load {
                one_minute,
                running: None,
                pressure,
                cores: 4,
            };
            state(&facts, &measured)
        };
        assert_eq!(load(Some(0.0), Some(0.4), Some(0.0)), State::Fine);
        assert_eq!(load(Some(0.0), Some(1.6), None), State::Minor);
        assert_eq!(load(Some(0.0), Some(9.0), None), State::Minor);
        assert_eq!(load(None, Some(9.0), None), State::Disturbs);
        assert_eq!(load(Some(0.1), Some(0.1), None), State::Disturbs);
        assert_eq!(load(None, None, Some(0.5)), State::Disturbs);
        assert_eq!(load(None, None, None), State::Unknown);
        let mut held_back = quiet();
        held_back.watched.watch.waiting = Some(0.5);
        held_back.quota_throttled = Some(0.5);
        let facts = Facts::Load {
            one_minute: None,
            running: None,
            pressure: None,
            cores: 4,
        };
        assert_eq!(state(&facts, &held_back), State::Fine, "it is the quota's");
    }

    #[test]
    fn what_is_neither_known_nor_measured_is_unknown() {
        let mut measured = quiet();
        measured.evenness = None;
        measured.other = Err(NotMeasured::OneCore);
        measured.watched.watch.stolen = None;
        for facts in [
            Facts::Governor {
                governors: Vec::new(),
                driver: None,
                range_khz: None,
            },
            Facts::Turbo {
                on: None,
                switch: None,
                other_core: None,
            },
            Facts::Steal { since_start: None },
            Facts::Smt {
                active: None,
                siblings: Vec::new(),
                siblings_busy: None,
            },
            Facts::Thermal {
                hottest: None,
                throttled: None,
            },
        ] {
            if let Facts::Thermal { .. } = facts {
                measured.throttle_events = None;
            }
            assert_eq!(state(&facts, &measured), State::Unknown, "{facts:?}");
        }
    }
}
