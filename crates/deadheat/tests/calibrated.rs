//! Calibrations of simulated machines, whose noise is known: a sound machine keeps every promise,
//! and a machine with biased races breaks one.

#[path = "../examples/calibration/simulation/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod simulation;

use deadheat::parts::analysis::{CalibrationTerms, calibrated_kind, calibration_race};
use deadheat::parts::engine::Noise;
use deadheat::parts::model::{CalibratedKind, CalibrationRace, LogRatio, Promise, RaceKind};

use simulation::families::{QUIET, commands, processes};
use simulation::race::{ALPHA, Setting, race};

const TERMS: CalibrationTerms = CalibrationTerms {
    alpha: ALPHA,
    max_replicates: 40,
};

/// Simulates a race in which every replicate takes one second.
fn judged(setting: &Setting, change: f64, seed: u64) -> CalibrationRace {
    let (run, analysis) = race(setting, seed);
    let blocks = setting.blocks_per_replicate;
    let replicates = run.benchmarks[0].blocks().len() as u32 / blocks;
    let comparison = &analysis.comparisons[0];
    let kind = (RaceKind::Functions, change);
    let size = (blocks, replicates);
    calibration_race(comparison, kind, size, f64::from(replicates), TERMS).expect("it was ended")
}

fn calibrated(races: &[CalibrationRace]) -> CalibratedKind {
    calibrated_kind(RaceKind::Functions, races.len() as u64, None, races, TERMS)
}

/// Calibrates with `same` races between equal sides, and `each` races for every known difference.
fn sound(of: impl Fn(f64) -> Setting, same: u64, each: u64) -> CalibratedKind {
    let mut races: Vec<CalibrationRace> =
        (0..same).map(|seed| judged(&of(0.0), 0.0, seed)).collect();
    for (place, change) in [0.005, 0.01, 0.02, 0.05].into_iter().enumerate() {
        let effect = LogRatio::from_change(change).0;
        let seeds = (0..each).map(|seed| 10_000 * (place as u64 + 1) + seed);
        races.extend(seeds.map(|seed| judged(&of(effect), change, seed)));
    }
    calibrated(&races)
}

#[test]
fn a_sound_machine_keeps_every_promise() {
    let noise = Noise {
        layout: 0.0,
        ..QUIET
    };
    for found in [
        sound(|effect| commands(effect, noise), 400, 50),
        sound(|effect| processes(effect, noise), 400, 25),
    ] {
        assert_eq!(found.promise, Promise::Kept, "{found:?}");
        assert_ne!(found.coverage_promise, Some(Promise::Broken), "{found:?}");
        assert!(
            found.known.iter().all(|known| known.wrong == 0),
            "{found:?}"
        );
        let large = found.known.last().unwrap();
        assert_eq!(large.right.hits, large.right.of, "5 % is found: {large:?}");
        let noise = found.noise.unwrap();
        assert!(noise.estimate.0 < noise.half_width.unwrap().0, "{noise:?}");
    }
}

#[test]
fn a_machine_that_makes_things_differ_from_themselves_is_found_out() {
    // Every race has a separate bias, which all its replicates share, so no replicate shows it.
    let races: Vec<CalibrationRace> = (0..200)
        .map(|seed| {
            let bias = 0.02 * (seed as f64 / 100.0 - 1.0);
            judged(&processes(bias, QUIET), 0.0, seed)
        })
        .collect();
    let found = calibrated(&races);
    assert_eq!(found.promise, Promise::Broken);
    assert!(found.false_calls.low > 0.2, "{found:?}");
}

#[test]
fn what_a_budget_is_said_to_find_is_found_in_four_races_of_five() {
    // The margin is so small that only a difference can end a race early.
    let of = |effect: f64| Setting {
        margin: 1e-5,
        ..commands(effect, QUIET)
    };
    let same: Vec<CalibrationRace> = (0..100).map(|seed| judged(&of(0.0), 0.0, seed)).collect();
    let found = calibrated(&same);
    // A replicate takes one second, so one minute is enough for all 40 replicates.
    let minute = found.detectable[2].at_defaults.unwrap();
    assert_eq!(minute.replicates, 40);
    let races: Vec<CalibrationRace> = (0..400)
        .map(|seed| judged(&of(minute.effect.0), minute.effect.change(), 5_000 + seed))
        .collect();
    let right = calibrated(&races).known[0].right;
    let share = right.seen().unwrap();
    assert!((0.7..0.93).contains(&share), "{share} for {minute:?}");
}
