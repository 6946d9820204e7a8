//! Recordings without blocks: what counts as one observation, and whether the verdicts keep their
//! promise.

mod common;

use common::{Block, run};
use deadheat_analysis::{Options, analyse};
use deadheat_model::{Comparison, Observation, Origin, Run, Verdict, Warning};
use deadheat_stats::dist::binomial_two_sided_p;
use deadheat_stats::rng::normal;
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows as a table names them: replicate, contender, nanoseconds.
type Row = (u32, u8, f64);

/// A recording of as many contenders as its rows name.
fn recording(rows: &[Row]) -> Run {
    let contenders = rows.iter().map(|row| row.1).max().unwrap_or(0) + 1;
    let blocks: Vec<Block> = rows
        .iter()
        .map(|(replicate, contender, value)| (*replicate, vec![(*contender, *value)]))
        .collect();
    run(Origin::UnpairedRecording, usize::from(contenders), &blocks)
}

fn judged(rows: &[Row]) -> Comparison {
    let analysis = analyse(&recording(rows), Options::default());
    analysis.comparisons[0].clone()
}

fn codes(comparison: &Comparison) -> Vec<&'static str> {
    comparison.warnings.iter().map(Warning::code).collect()
}

/// The scatter between processes and of samples within one, in log-ratio units.
#[derive(Clone, Copy)]
struct Scatter {
    between: f64,
    within: f64,
}

/// Samples of `processes` processes for each side; the candidate's take `change` longer. `named`
/// says whether the table tells the processes apart.
fn rows(
    processes: [u32; 2],
    samples: u32,
    scatter: Scatter,
    change: f64,
    named: bool,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for side in [0u8, 1] {
        for process in 0..processes[usize::from(side)] {
            let layout = scatter.between * normal(rng) + f64::from(side) * change.ln_1p();
            for _ in 0..samples {
                let ln = layout + scatter.within * normal(rng);
                rows.push((if named { process } else { 0 }, side, 1e6 * ln.exp()));
            }
        }
    }
    rows
}

/// The number of races, of so many without a change, that are called faster or slower.
fn wrong_calls(
    races: u64,
    processes: [u32; 2],
    samples: u32,
    scatter: Scatter,
    named: bool,
) -> u64 {
    let mut wrong = 0;
    for seed in 0..races {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1_000 + seed);
        let row = judged(&rows(processes, samples, scatter, 0.0, named, &mut rng));
        wrong += u64::from(matches!(
            row.verdict,
            Some(Verdict::Faster | Verdict::Slower)
        ));
        assert!(row.evidence.provisional && row.verdict.is_some());
    }
    wrong
}

/// Returns true if a count is compatible with a rate of at most 5 %.
fn at_most_five_percent(wrong: u64, races: u64) -> bool {
    wrong as f64 <= 0.05 * races as f64 || binomial_two_sided_p(wrong, races, 0.05) > 0.001
}

const STEADY: Scatter = Scatter {
    between: 0.0,
    within: 0.02,
};
const LAYOUTS: Scatter = Scatter {
    between: 0.007,
    within: 0.01,
};

#[test]
fn one_sample_a_process_is_wrong_in_at_most_five_percent_at_every_size() {
    for sizes in [[6, 6], [20, 20], [200, 200], [7, 60]] {
        let wrong = wrong_calls(1_000, sizes, 1, STEADY, true);
        assert!(at_most_five_percent(wrong, 1_000), "{sizes:?}: {wrong}");
    }
}

#[test]
fn independent_samples_without_a_process_are_wrong_in_at_most_five_percent_at_every_size() {
    for sizes in [[6, 6], [20, 20], [200, 200], [7, 60]] {
        let wrong = wrong_calls(1_000, sizes, 1, STEADY, false);
        assert!(at_most_five_percent(wrong, 1_000), "{sizes:?}: {wrong}");
    }
}

#[test]
fn processes_with_layouts_of_their_own_are_wrong_in_at_most_five_percent() {
    for sizes in [[6, 6], [20, 20], [8, 30]] {
        let wrong = wrong_calls(1_000, sizes, 30, LAYOUTS, true);
        assert!(at_most_five_percent(wrong, 1_000), "{sizes:?}: {wrong}");
    }
}

/// The guard: were every sample a unit, ten processes a side would be told apart far more often. A
/// table that hides the processes shows it, even with the layout allowance; without it, tests over
/// samples are far worse.
#[test]
fn the_process_as_the_unit_is_what_keeps_the_promise() {
    let (races, sizes) = (300, [10, 10]);
    let loud = Scatter {
        between: 0.02,
        within: 0.01,
    };
    let by_process = wrong_calls(races, sizes, 30, loud, true);
    let by_sample = wrong_calls(races, sizes, 30, loud, false);
    assert!(at_most_five_percent(by_process, races), "{by_process}");
    assert!(by_sample > 60, "{by_sample} of {races}");
    let mut by_rank_alone = 0;
    for seed in 0..races {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1_000 + seed);
        let rows = rows(sizes, 30, LAYOUTS, 0.0, true, &mut rng);
        let of = |side| -> Vec<f64> {
            let mine = rows.iter().filter(|row| row.1 == side);
            mine.map(|row| row.2).collect()
        };
        let p = deadheat_stats::mann_whitney_p(&of(0), &of(1)).unwrap();
        by_rank_alone += u64::from(p < 0.05);
    }
    assert!(by_rank_alone > 90, "{by_rank_alone} of {races}");
}

#[test]
fn a_true_change_of_ten_percent_is_found() {
    for named in [true, false] {
        for sizes in [[6, 6], [20, 20], [7, 60]] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
            for (change, verdict) in [(0.1, Verdict::Slower), (-0.1, Verdict::Faster)] {
                let row = judged(&rows(sizes, 5, LAYOUTS, change, named, &mut rng));
                assert_eq!(row.verdict, Some(verdict), "{named} {sizes:?}");
                assert!(row.evidence.provisional && row.evidence.excludes_zero);
                let effect = row.estimate.unwrap().effect.change();
                assert!((effect - change).abs() < 0.02, "{effect}");
                assert!(row.suite.p_adjusted.unwrap() < 0.01);
            }
        }
    }
}

#[test]
fn a_process_is_one_observation_however_many_samples_it_gave() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let named = judged(&rows([8, 8], 25, LAYOUTS, 0.0, true, &mut rng));
    let estimate = named.estimate.unwrap();
    assert_eq!((estimate.replicates, estimate.blocks), (16, 0));
    let each = Observation::Process;
    assert!(named.warnings.contains(&Warning::Unpaired { each }));
    let hidden = judged(&rows([8, 8], 25, LAYOUTS, 0.0, false, &mut rng));
    assert_eq!(hidden.estimate.unwrap().replicates, 400);
    let each = Observation::Sample;
    assert!(hidden.warnings.contains(&Warning::Unpaired { each }));
}

#[test]
fn one_process_a_side_allows_for_a_layout_drawn_once() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
    let still = Scatter {
        between: 0.0,
        within: 1e-4,
    };
    let row = judged(&rows([1, 1], 500, still, 0.005, true, &mut rng));
    let interval = row.estimate.unwrap().interval.unwrap();
    let half = (interval.high.0 - interval.low.0) / 2.0;
    assert!(half > 0.0097, "z·τ = .0098, the interval has {half}");
    assert!(!row.evidence.excludes_zero, "half a percent may be layout");
    assert_eq!(row.evidence.scope, deadheat_model::Scope::Binary);
    assert!(codes(&row).contains(&"placement-fixed"));
}

#[test]
fn too_few_observations_get_an_estimate_and_are_counted() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    for (sizes, samples, each) in [
        ([5, 9], 40, Observation::Process),
        ([1, 9], 40, Observation::Process),
        ([1, 1], 5, Observation::Sample),
    ] {
        let row = judged(&rows(sizes, samples, LAYOUTS, 0.5, true, &mut rng));
        assert_eq!((row.verdict, row.evidence.provisional), (None, false));
        let estimate = row.estimate.as_ref().unwrap();
        assert!(estimate.effect.change() > 0.4);
        let counted = row.warnings.iter().any(|warning| {
            matches!(warning, Warning::FewObservations { need: 6, each: what, .. } if *what == each)
        });
        assert!(counted, "{:?}", row.warnings);
    }
}

#[test]
fn candidates_share_the_level() {
    let mut rows = Vec::new();
    for process in 0..6 {
        for contender in 0..=24u8 {
            let value = 1e6 + f64::from(process) * 100.0 + f64::from(contender) * 1e5;
            rows.push((process, contender, value));
        }
    }
    let analysis = analyse(&recording(&rows), Options::default());
    assert_eq!(analysis.comparisons.len(), 24);
    for row in &analysis.comparisons {
        assert_eq!(row.verdict, Some(Verdict::Slower));
        let confidence = row.estimate.unwrap().interval.unwrap().confidence;
        assert!((confidence - (1.0 - 0.05 / 24.0)).abs() < 1e-12);
    }
}

#[test]
fn zeros_count_as_half_a_tick_and_many_of_them_refuse_the_ratio() {
    let mut few: Vec<Row> = (0..400).map(|i| (0, (i % 2) as u8, 1e6)).collect();
    few[7].2 = 0.0;
    let row = judged(&few);
    assert!(row.estimate.is_some() && codes(&row).contains(&"zero-times"));
    let many: Vec<Row> = (0..40)
        .map(|i| (0, (i % 2) as u8, f64::from(i % 3)))
        .collect();
    let row = judged(&many);
    assert!(row.estimate.is_none() && row.verdict.is_none());
    assert!(codes(&row).contains(&"too-many-zeros"));
}

proptest! {
    #[test]
    fn swapping_the_sides_flips_the_effect_exactly(seed in any::<u64>(), named in any::<bool>()) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let there = rows([7, 9], 3, LAYOUTS, 0.02, named, &mut rng);
        let back: Vec<Row> = there.iter().map(|(r, side, value)| (*r, 1 - side, *value)).collect();
        let (there, back) = (judged(&there).estimate.unwrap(), judged(&back).estimate.unwrap());
        prop_assert_eq!(there.effect.0, -back.effect.0);
        prop_assert_eq!(there.p_value, back.p_value);
        let (there, back) = (there.interval.unwrap(), back.interval.unwrap());
        prop_assert_eq!(there.low.0, -back.high.0);
        prop_assert_eq!(there.high.0, -back.low.0);
    }

    #[test]
    fn no_input_makes_a_number_that_is_not_one(
        picks in prop::collection::vec((0u32..4, 0u8..2, 0usize..6), 1..60)
    ) {
        let values = [0.0, 5e-324, 1.0, 1e6, 1e300, f64::MAX];
        let rows: Vec<Row> = picks.iter().map(|(r, c, v)| (*r, *c, values[*v])).collect();
        let analysis = analyse(&recording(&rows), Options::default());
        for row in &analysis.comparisons {
            let estimate = row.estimate.as_ref();
            prop_assert!(estimate.is_none_or(|e| e.effect.0.is_finite()));
            let interval = estimate.and_then(|e| e.interval);
            let sound = interval.is_none_or(|i| {
                let effect = estimate.unwrap().effect;
                let ends = [i.low, i.high];
                ends.iter().all(|end| end.0.is_finite()) && i.low <= effect && effect <= i.high
            });
            prop_assert!(sound);
            prop_assert!(estimate.and_then(|e| e.p_value).is_none_or(|p| (0.0..=1.0).contains(&p)));
        }
    }
}
