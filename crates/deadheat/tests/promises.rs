//! Tests the promises of the verdicts by whole races (schedule, session, stopping rule, analysis)
//! on a simulated clock. Seeds are fixed, so a failure is a change and not chance. `just simulate`
//! runs many more of the same races and writes the results to `docs/calibration.md`.

#[path = "../examples/calibration/simulation/mod.rs"]
mod simulation;

use deadheat::parts::analysis::{Options, analyse, looks_taken, planned_looks};
use deadheat::parts::engine::Noise;
use deadheat::parts::model::{Analysis, NeutralLink, Placed, Placing, Scope, Verdict};

use deadheat_testing::runs;
use simulation::families::{
    BLOCKS, FAMILIES, HARD_LAYOUT, NOISY, QUIET, REPLICATES, RESTLESS, SLOW_PATH, commands,
    percent, processes,
};
use simulation::race::{ALPHA, Setting, race};
use simulation::tally::{Tally, at_most};

const RACES: u32 = 600;

/// Number of races of a family if each race has many blocks.
const LONG_RACES: u32 = 200;

/// Runs the first `races` races of a setting on the thread of the test.
fn tally(setting: &Setting, races: u32) -> Tally {
    let tally = Tally::of(setting, 0..u64::from(races), 1);
    println!("{tally:?}");
    tally
}

/// Asserts that false verdicts and missed true effects are not more frequent than α allows.
fn assert_honest(name: &str, setting: &Setting, races: u32) {
    let tally = tally(setting, races);
    let allowed = at_most(races, ALPHA);
    let wrong = tally.wrong(setting.effects[0], setting.margin);
    assert!(wrong <= allowed, "{name}: {tally:?}");
    assert!(races - tally.held_always <= allowed, "{name}: {tally:?}");
    assert!(tally.held_at_the_end >= tally.held_always, "{name}");
}

#[test]
fn a_command_against_itself_is_called_faster_or_slower_no_more_often_than_alpha() {
    for family in FAMILIES {
        assert_honest(family.name, &commands(0.0, family.noise), RACES);
    }
}

#[test]
fn a_process_against_itself_is_called_faster_or_slower_no_more_often_than_alpha() {
    for family in FAMILIES {
        assert_honest(family.name, &processes(0.0, family.noise), LONG_RACES);
    }
}

#[test]
fn races_that_may_go_on_because_they_cost_little_keep_the_promise() {
    for (name, noise) in [("noisy", NOISY), ("restless", RESTLESS)] {
        for effect in [0.0, percent(1.0)] {
            let setting = Setting {
                max_replicates: 200,
                open: true,
                ..commands(effect, noise)
            };
            assert_honest(name, &setting, LONG_RACES);
        }
    }
}

#[test]
fn races_of_single_blocks_need_their_own_critical_values_and_have_them() {
    // Enough races to tell .05 from the .067 that the plain formula gives.
    assert_honest("single blocks", &commands(0.0, NOISY), 4_000);
}

#[test]
fn what_is_learnt_of_an_input_in_the_course_of_a_block_costs_no_replicates() {
    // As in counting characters with branches: in blocks of one order, the effect is 8% too high,
    // and in blocks of the other order 8% too low.
    let noise = Noise {
        sample: 0.03,
        learning: 0.3,
        ..Noise::NONE
    };
    let same = tally(&processes(0.0, noise), LONG_RACES);
    let wrong = same.faster + same.slower;
    assert!(wrong <= at_most(LONG_RACES, ALPHA), "{same:?}");
    let without = Noise {
        learning: 0.0,
        ..noise
    };
    let without = tally(&processes(0.0, without), LONG_RACES);
    assert!(same.equivalent >= 190, "{same:?}");
    assert!(
        same.replicates < 1.5 * without.replicates,
        "{same:?} {without:?}"
    );
}

#[test]
fn heaps_far_apart_are_not_mistaken_for_agreement() {
    // Without the guard, 14% of the races with a slow path would have a false verdict.
    for (name, noise) in [("restless", RESTLESS), ("slow path", SLOW_PATH)] {
        assert_honest(name, &commands(0.0, noise), RACES);
        assert_honest(name, &processes(0.0, noise), LONG_RACES);
    }
}

#[test]
fn a_few_blocks_in_a_replicate_have_critical_values_of_their_own() {
    // Enough races to tell .05 from the .065 that the plain formula gives.
    for blocks_per_replicate in [2, 3] {
        let setting = Setting {
            blocks_per_replicate,
            max_replicates: 11,
            margin: 0.0001,
            ..commands(0.0, QUIET)
        };
        assert_honest("few blocks", &setting, 4_000);
    }
}

#[test]
fn intervals_hold_the_truth_as_often_as_promised_over_all_looks() {
    for family in FAMILIES {
        assert_honest(family.name, &commands(0.05, family.noise), RACES);
    }
}

#[test]
fn a_true_difference_is_found_and_has_the_right_sign() {
    let slower = tally(&commands(0.05, QUIET), 200);
    assert_eq!((slower.faster, slower.slower), (0, 200), "{slower:?}");
    let faster = tally(&commands(-0.05, QUIET), 200);
    assert_eq!((faster.faster, faster.slower), (200, 0), "{faster:?}");
    assert!(faster.replicates < 12.0, "found early: {faster:?}");
}

#[test]
fn one_percent_is_found_in_every_family_when_there_are_blocks_enough() {
    // The noisiest family takes too long here; the full program includes it.
    for family in FAMILIES.iter().filter(|family| family.blocks <= 100) {
        let setting = Setting {
            blocks_per_replicate: family.blocks,
            ..processes(percent(-1.0), family.noise)
        };
        let tally = tally(&setting, LONG_RACES);
        let missed = LONG_RACES - tally.faster;
        let name = family.name;
        assert!(missed <= at_most(LONG_RACES, 0.05), "{name}: {tally:?}");
        assert_eq!(tally.slower, 0, "{name}: {tally:?}");
    }
}

#[test]
fn commands_find_one_percent_when_they_may_run_long_enough() {
    let long = |family: &&simulation::families::Family| (41..=400).contains(&family.replicates);
    assert!(FAMILIES.iter().filter(long).count() >= 3);
    for family in FAMILIES.iter().filter(long) {
        let setting = Setting {
            max_replicates: family.replicates,
            ..commands(percent(-1.0), family.noise)
        };
        let tally = tally(&setting, 100);
        let missed = 100 - tally.faster;
        assert!(missed <= at_most(100, 0.05), "{}: {tally:?}", family.name);
    }
}

#[test]
fn no_design_promises_more_than_its_noise_allows() {
    // With σ = .44, 40 replicates of 25 blocks cannot show 1% by any method.
    for family in FAMILIES {
        let usual = processes(0.0, family.noise).least_error();
        let enough = Setting {
            blocks_per_replicate: family.blocks,
            ..processes(0.0, family.noise)
        };
        assert!(4.0 * enough.least_error() <= 0.01, "{}", family.name);
        assert_eq!(4.0 * usual <= 0.01, family.blocks == 25, "{}", family.name);
    }
    let independent = commands(0.0, NOISY);
    let expected = NOISY.sample / f64::from(REPLICATES).sqrt();
    assert!((independent.least_error() / expected - 1.0).abs() < 1e-12);
}

#[test]
fn an_early_stop_exaggerates_and_only_a_little() {
    let tally = tally(&processes(percent(-1.0), HARD_LAYOUT), LONG_RACES);
    let off = 100.0 * tally.mean_off;
    assert!((-0.25..0.0).contains(&off), "{off}");
    assert!((100.0 * tally.median_off).abs() < 0.25, "{tally:?}");
}

#[test]
fn two_commands_alike_are_a_dead_heat_when_the_machine_is_quiet() {
    let tally = tally(&commands(0.0, QUIET), 200);
    assert!(tally.equivalent >= 190, "{tally:?}");
}

#[test]
fn processes_with_many_blocks_keep_the_promises_of_the_specification() {
    // δ = 1 %, K = 25, layout sd 1.4 % of each replicate's effect.
    let race = |change| tally(&processes(percent(change), HARD_LAYOUT), LONG_RACES);
    let zero = race(0.0);
    let wrong = zero.faster + zero.slower;
    assert!(wrong <= at_most(LONG_RACES, ALPHA), "{zero:?}");
    assert!(zero.equivalent >= 180, "{zero:?}");
    assert!(race(-1.0).faster >= 190);
    let two = race(-2.0);
    assert!(two.faster >= 198 && two.replicates < 11.0, "{two:?}");
}

/// The log ratios of one function to a copy of it at other addresses: even quantiles of a
/// distribution with a standard deviation of 8%, as measured between link orders of one compiler.
fn placements(races: u32) -> impl Iterator<Item = f64> {
    let scale = 0.08 * 3f64.sqrt() / std::f64::consts::PI;
    (0..races).map(move |race| {
        let share = (f64::from(race) + 0.5) / f64::from(races);
        scale * (share / (1.0 - share)).ln()
    })
}

fn is_called(analysis: &Analysis) -> bool {
    let verdict = analysis.comparisons[0].verdict;
    matches!(verdict, Some(Verdict::Faster | Verdict::Slower))
}

#[test]
fn a_placement_drawn_once_for_a_race_is_mistaken_for_a_change_most_of_the_time() {
    let noise = Noise {
        layout: 0.0014,
        ..QUIET
    };
    let called = placements(LONG_RACES)
        .enumerate()
        .filter(|(seed, placement)| {
            // All replicates share the placement, so the race cannot tell it from a true change.
            let (_, analysis) = race(&processes(*placement, noise), *seed as u64);
            assert_eq!(analysis.comparisons[0].evidence.scope, Scope::Binary);
            is_called(&analysis)
        })
        .count() as u32;
    assert!(called > LONG_RACES * 7 / 10, "{called} of {LONG_RACES}");
}

#[test]
fn a_placement_drawn_for_every_replicate_is_called_in_no_more_races_than_alpha() {
    // The standard deviation of an effect is √2 times that of a side.
    for sd in [0.08, 0.014] {
        let noise = Noise {
            layout: sd / 2f64.sqrt(),
            ..QUIET
        };
        let wrong = (0..LONG_RACES)
            .filter(|seed| {
                let (mut run, binary) = race(&processes(0.0, noise), u64::from(*seed));
                let replicates = run.benchmarks[0].blocks().len() as u32 / BLOCKS;
                run.placed = (0..replicates).map(placed).collect();
                run.observed = runs::seen_as_started(2);
                let options = Options {
                    without_figures: true,
                    ..Options::default()
                };
                let analysis = analyse(&run, options);
                let one = &analysis.comparisons[0];
                assert_eq!(one.evidence.scope, Scope::Source);
                assert_eq!(one.estimate, binary.comparisons[0].estimate);
                is_called(&analysis)
            })
            .count() as u32;
        assert!(wrong <= at_most(LONG_RACES, ALPHA), "sd {sd}: {wrong}");
    }
}

/// Places both sides of a replicate on one neutral link.
fn placed(replicate: u32) -> Placed {
    let link = Placing::Neutral(NeutralLink {
        seed: replicate + 1,
        hash: "00".to_owned(),
        matched: false,
    });
    Placed {
        benchmark: 0,
        replicate,
        contenders: vec![link; 2],
        refused: Vec::new(),
        fallen_back: None,
    }
}

#[test]
fn three_commands_alike_are_called_wrong_in_no_more_races_than_alpha() {
    let setting = Setting {
        effects: vec![0.0, 0.0],
        ..commands(0.0, NOISY)
    };
    let wrong = (0..RACES)
        .filter(|seed| {
            let (_, analysis) = race(&setting, u64::from(*seed));
            assert_eq!(analysis.comparisons.len(), 2);
            analysis
                .comparisons
                .iter()
                .any(|row| matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower)))
        })
        .count() as u32;
    assert!(wrong <= at_most(RACES, ALPHA), "{wrong} of {RACES}");
}

#[test]
fn the_same_seed_gives_the_same_race_and_the_same_analysis() {
    let noise = Noise {
        sample: 0.05,
        ..Noise::NONE
    };
    let setting = commands(0.01, noise);
    assert_eq!(race(&setting, 11), race(&setting, 11));
    assert_ne!(
        race(&setting, 11).0.benchmarks,
        race(&setting, 12).0.benchmarks
    );
    let on = |threads| Tally::of(&setting, 5..30, threads);
    assert_eq!(on(1), on(3));
    assert_eq!((on(1).races, on(40)), (25, on(1)));
}

#[test]
fn the_looks_a_race_took_are_planned_ones_and_the_last_is_what_it_ended_with() {
    let planned = planned_looks(0, 40, ALPHA).unwrap();
    let noise = Noise {
        sample: 0.02,
        ..Noise::NONE
    };
    let mut ended_early = 0;
    for seed in 0..50 {
        let (run, analysis) = race(&commands(0.02, noise), seed);
        let estimate = analysis.comparisons[0].estimate;
        let used = estimate.unwrap().replicates as u32;
        assert!(planned.at.contains(&used), "{used}");
        let taken = looks_taken(&run, 0);
        assert_eq!(taken.last().unwrap().estimates, [estimate]);
        for (look, (at, level)) in taken.iter().zip(planned.at.iter().zip(&planned.levels)) {
            assert_eq!(look.replicates as u32, *at);
            let interval = look.estimates[0].unwrap().interval.unwrap();
            assert_eq!(interval.confidence, 1.0 - level);
        }
        ended_early += u32::from(taken.len() < planned.at.len());
        assert_eq!(looks_taken(&run, 1), []);
    }
    assert!(ended_early > 25, "{ended_early}");
}
