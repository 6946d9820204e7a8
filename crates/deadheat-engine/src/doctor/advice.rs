//! Which cores to race on.

use deadheat_model::Pinning;
use deadheat_model::doctor::{CoreWatch, PinAdvice, PinReason};

/// A core is quieter than others when it loses at most this part of what the
/// others lose, and so much less of the time: a moment's watch is no more
/// certain than that.
const QUIETER: f64 = 0.5;
const CLEARLY: f64 = 0.002;

/// The advice for cores that were watched. `allowed` are those deadheat was
/// started with.
pub(super) fn advice(asked: &Pinning, cores: &[CoreWatch], allowed: &[u32]) -> PinAdvice {
    let advice = |pinning, cores, reason| PinAdvice {
        pinning,
        cores,
        reason,
        start_with: Vec::new(),
    };
    let known: Vec<(u32, &CoreWatch)> = cores
        .iter()
        .filter_map(|watch| Some((watch.core?, watch)))
        .collect();
    let best = |isolated: bool| {
        let some = known
            .iter()
            .filter(|(_, watch)| watch.isolated || !isolated);
        some.min_by(|(_, one), (_, other)| one.lost.total_cmp(&other.lost))
    };
    if let Some((core, _)) = best(true) {
        let mut found = advice(
            Pinning::Cores(vec![*core]),
            vec![*core],
            PinReason::Isolated,
        );
        if !allowed.contains(core) {
            // deadheat itself stays on a core that is not set apart.
            found.start_with = allowed.iter().take(1).copied().chain([*core]).collect();
        }
        return found;
    }
    match (asked, known.as_slice()) {
        (Pinning::Inherit, _) | (_, []) => {
            advice(Pinning::Auto, Vec::new(), PinReason::NotCompared)
        }
        _ if allowed.len() == 1 => advice(Pinning::Inherit, allowed.to_vec(), PinReason::OnlyOne),
        (_, [(core, _)]) => advice(
            Pinning::Cores(vec![*core]),
            vec![*core],
            PinReason::NotCompared,
        ),
        _ => {
            let alike = || match asked {
                Pinning::Cores(cores) => advice(asked.clone(), cores.clone(), PinReason::Alike),
                _ => {
                    let last = allowed.last().copied();
                    advice(Pinning::Auto, last.into_iter().collect(), PinReason::Alike)
                }
            };
            let Some((core, watch)) = best(false) else {
                return alike();
            };
            let mut others: Vec<f64> = known.iter().map(|(_, watch)| watch.lost).collect();
            others.sort_by(f64::total_cmp);
            // Of two cores this is the other one.
            let usual = others[others.len() / 2];
            match watch.lost <= QUIETER * usual && watch.lost + CLEARLY <= usual {
                true => advice(
                    Pinning::Cores(vec![*core]),
                    vec![*core],
                    PinReason::Quietest,
                ),
                false => alike(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(core: u32, lost: f64, isolated: bool) -> CoreWatch {
        CoreWatch {
            core: Some(core),
            seconds: 0.5,
            taken_away: 100.0,
            longest_ns: 1e4,
            lost,
            waiting: None,
            stolen: None,
            interrupts: None,
            isolated,
        }
    }

    fn of(asked: Pinning, cores: &[CoreWatch], allowed: &[u32]) -> (Pinning, PinReason) {
        let found = advice(&asked, cores, allowed);
        (found.pinning, found.reason)
    }

    #[test]
    fn a_core_that_is_clearly_quieter_is_advised() {
        let two = |one, other| {
            let cores = [watched(0, one, false), watched(1, other, false)];
            of(Pinning::Auto, &cores, &[0, 1])
        };
        let first = (Pinning::Cores(vec![0]), PinReason::Quietest);
        assert_eq!(two(0.001, 0.03), first);
        assert_eq!(two(0.0001, 0.001), (Pinning::Auto, PinReason::Alike));
        assert_eq!(two(0.02, 0.03), (Pinning::Auto, PinReason::Alike));
        let asked = Pinning::Cores(vec![0, 1]);
        let cores = [watched(0, 0.02, false), watched(1, 0.03, false)];
        assert_eq!(
            of(asked.clone(), &cores, &[0, 1, 2]),
            (asked, PinReason::Alike)
        );
    }

    #[test]
    fn cores_set_apart_come_first_and_deadheat_has_to_be_started_with_them() {
        let cores = [watched(0, 0.0, false), watched(3, 0.001, true)];
        let found = advice(&Pinning::Auto, &cores, &[0, 1]);
        assert_eq!(found.pinning, Pinning::Cores(vec![3]));
        assert_eq!(found.reason, PinReason::Isolated);
        assert_eq!(found.start_with, [0, 3]);
        let given = advice(&Pinning::Auto, &cores, &[0, 1, 3]);
        assert!(given.start_with.is_empty());
    }

    #[test]
    fn what_was_not_compared_is_not_advised_as_if_it_was() {
        let one = [watched(2, 0.1, false)];
        let asked = Pinning::Cores(vec![2]);
        let here = (asked.clone(), PinReason::NotCompared);
        assert_eq!(of(asked, &one, &[0, 1, 2]), here);
        let only = (Pinning::Inherit, PinReason::OnlyOne);
        assert_eq!(of(Pinning::Auto, &one, &[2]), only);
        let mut moved = watched(0, 0.1, false);
        moved.core = None;
        let nothing = (Pinning::Auto, PinReason::NotCompared);
        assert_eq!(of(Pinning::Inherit, &[moved.clone()], &[0, 1]), nothing);
        assert_eq!(of(Pinning::Auto, &[moved], &[]), nothing);
    }
}
