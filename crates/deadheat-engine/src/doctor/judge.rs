//! What disturbs races in pairs, and what does not.
//!
//! deadheat compares neighbours in time, in random order, in many processes.
//! What is the same for both of a pair cancels: a slow machine, a drifting
//! frequency, a cold or a warm one. What hits one of them and not the other
//! widens the interval, so that the answer takes longer. These limits say from
//! where on that is worth mending.

use deadheat_model::doctor::{Facts, Host, State};

use super::measured::Measured;

/// Share of the time that may be lost before it shows, and before it disturbs.
const LOST: [f64; 2] = [0.002, 0.01];

/// The same for time that other tasks had the core.
const WAITING: [f64; 2] = [0.002, 0.02];

/// The same for time the hypervisor gave to others.
const STOLEN: [f64; 2] = [0.0005, 0.01];

/// The same for tasks that want to run, per core, and for the share of time in
/// which some task waits.
const LOAD: [f64; 2] = [0.25, 1.0];
const PRESSURE: [f64; 2] = [0.02, 0.2];

/// The same for how a fixed piece of work spreads, relative to its median.
const SPREAD: [f64; 2] = [0.02, 0.10];

/// The same for what others that are busy do to it.
const SLOWDOWN: [f64; 2] = [0.02, 0.10];

/// Share of the time from which a sibling counts as busy by itself.
const SIBLING_BUSY: f64 = 0.10;

/// Nanoseconds a reading of the clock may take, and what its steps may be.
const CLOCK_NS: [f64; 2] = [100.0, 1_000.0];

/// Degrees below the critical temperature at which there is room left.
const HEADROOM: f64 = 10.0;

/// How a thing stands.
pub(super) fn state(facts: &Facts, measured: &Measured) -> State {
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
            // What ran a minute ago may be over; the loop knows what runs now.
            let of_a_minute = per_core.map(|load| match (graded(load, LOAD), watch.waiting) {
                (State::Disturbs, Some(_)) => State::Minor,
                (grade, _) => grade,
            });
            let grades = [
                // What a quota held back is the quota's.
                watch.waiting.map(|waiting| {
                    let quota = measured.quota_throttled.unwrap_or(0.0);
                    graded(waiting - quota, WAITING)
                }),
                of_a_minute,
                pressure.map(|share| graded(share, PRESSURE)),
            ];
            worst(grades)
        }
        Facts::Isolation { isolated, .. } => match isolated.is_empty() {
            _ if watch.isolated => State::Fine,
            true if watch.lost_to_interrupts() < LOST[0] => State::Fine,
            _ => State::Minor,
        },
        Facts::Interrupts { .. } => graded(watch.lost_to_interrupts(), LOST),
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
        Facts::Counters { refused, .. } => match refused {
            None => State::Fine,
            Some(_) => State::Minor,
        },
        Facts::Build { debug_assertions } => match debug_assertions {
            false => State::Fine,
            true => State::Minor,
        },
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

/// The worst of what is known.
fn worst<const N: usize>(grades: [Option<State>; N]) -> State {
    let known = |state: State| grades.contains(&Some(state));
    let order = [State::Disturbs, State::Minor, State::Fine];
    let found = order.into_iter().find(|state| known(*state));
    found.unwrap_or(State::Unknown)
}

#[cfg(test)]
mod tests {
    use deadheat_model::doctor::{Heat, NotMeasured, Quota};

    use super::super::findings::tests::quiet;
    use super::*;

    #[test]
    fn work_that_spreads_disturbs_whoever_chooses_the_frequency() {
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
    fn addresses_that_are_not_drawn_anew_disturb() {
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
    fn a_quota_disturbs_when_it_holds_back_or_leaves_less_than_a_core() {
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
    fn heat_disturbs_near_the_limit_and_when_it_slows_the_processor() {
        let thermal = |celsius: f64, before, events| {
            let mut measured = quiet();
            measured.throttle_events = events;
            let facts = Facts::Thermal {
                hottest: Some(Heat {
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
    fn load_is_judged_by_the_worst_that_is_known() {
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
    fn what_is_neither_told_nor_measured_is_unknown() {
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
