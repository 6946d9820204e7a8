//! Facts and numbers, put together thing by thing.

use deadheat_model::doctor::{Effect, EffectKind, Facts, Finding, NotMeasured};

use super::judge::state;
use super::measured::Measured;

/// A finding for each of the facts, in the order in which things are mended.
pub(super) fn findings(facts: Vec<Facts>, measured: &Measured) -> Vec<Finding> {
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

/// What was measured of a thing, and why something was not.
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

#[cfg(test)]
pub(super) mod tests {
    use deadheat_model::doctor::{CoreWatch, State, Topic};

    use super::super::random_reads::PageReads;
    use super::super::watch::Watched;
    use super::super::work::Evenness;
    use super::*;

    /// What a machine measures that nothing disturbs.
    pub(in super::super) fn quiet() -> Measured {
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
            swapped_pages: Some(0),
            throttle_events: Some(0),
            quota_throttled: Some(0.0),
        }
    }

    #[test]
    fn findings_stand_in_the_order_in_which_things_are_mended() {
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
    fn what_could_not_be_measured_says_why() {
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
}
