//! Secondary figures: where they come from, and the laws they obey.

mod common;

use common::{Block, run};
use deadheat_analysis::{Options, analyse};
use deadheat_model::{Change, Comparison, Family, Figures, LogRatio, Origin, SideFigures, TTested};
use deadheat_stats::rng::{normal, uniform};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

fn comparison(origin: Origin, contenders: usize, blocks: &[Block]) -> Comparison {
    let analysis = analyse(&run(origin, contenders, blocks), Options::default());
    analysis.comparisons[0].clone()
}

fn figures(blocks: &[Block]) -> Figures {
    let found = comparison(Origin::PairedRecording, 2, blocks);
    *found.figures.expect("the metric was recorded")
}

const ABBA: [u8; 4] = [0, 1, 1, 0];
const BAAB: [u8; 4] = [1, 0, 0, 1];

fn block(replicate: u32, order: [u8; 4], times: [f64; 4]) -> Block {
    (replicate, order.into_iter().zip(times).collect())
}

/// Blocks of log-normal times; the candidate's are `change` longer, and every replicate has a
/// layout of its own.
fn blocks(seed: u64, replicates: u32, per_replicate: u32, change: f64) -> Vec<Block> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut blocks = Vec::new();
    for replicate in 0..replicates {
        let layout = 0.02 * normal(&mut rng);
        for _ in 0..per_replicate {
            let order = if uniform(&mut rng) < 0.5 { ABBA } else { BAAB };
            let times = order.map(|side| {
                let shift = f64::from(side) * (change.ln_1p() + layout);
                1e6 * (shift + 0.01 * normal(&mut rng)).exp()
            });
            blocks.push(block(replicate, order, times));
        }
    }
    blocks
}

#[test]
fn pairs_are_neighbours_in_their_block_whoever_came_first() {
    let found = figures(&[
        block(0, ABBA, [10.0, 9.0, 30.0, 30.0]),
        block(0, BAAB, [11.0, 10.0, 20.0, 25.0]),
    ]);
    // (10, 9) and (30, 30) of the first, (10, 11) and (20, 25) of the second.
    let between = found.between.unwrap();
    let pairs = between.pairs.unwrap();
    assert_eq!((pairs.less, pairs.equal, pairs.greater), (1, 1, 2));
    let mean = [0.9f64, 1.0, 1.1, 1.25].map(f64::ln).iter().sum::<f64>() / 4.0;
    let paired = between.student_paired.unwrap();
    assert!((paired.change.effect.0 - mean).abs() < 1e-15);
    assert_eq!(paired.df, 3.0);
    assert!((between.z_paired.unwrap().statistic - paired.t).abs() < 1e-12);
}

#[test]
fn every_figure_is_the_one_its_name_says() {
    let blocks = blocks(1, 8, 5, 0.03);
    let found = comparison(Origin::PairedRecording, 2, &blocks);
    let figures = found.figures.as_ref().unwrap();
    let of = |side: u8| -> Vec<f64> {
        let slots = blocks.iter().flat_map(|block| &block.1);
        slots
            .filter(|slot| slot.0 == side)
            .map(|slot| slot.1)
            .collect()
    };
    let (first, second) = (of(0), of(1));
    let logs = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| v.ln()).collect() };
    let (first_logs, second_logs) = (logs(&first), logs(&second));
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-10 * b.abs().max(1e-3);

    let side = &figures.candidate.as_ref().unwrap();
    assert!(close(
        side.log_skewness.unwrap(),
        deadheat_stats::skewness(&second_logs).unwrap()
    ));
    let kurtosis = deadheat_stats::excess_kurtosis(&second_logs).unwrap();
    assert!(close(side.log_excess_kurtosis.unwrap(), kurtosis));
    let normality = deadheat_stats::shapiro_wilk(&second_logs).unwrap();
    assert!(close(side.shapiro_wilk.unwrap().statistic, normality.w));
    let (below, above) = deadheat_stats::sigma_distances(&second).unwrap();
    assert!(close(side.min_sigmas.unwrap(), below) && close(side.max_sigmas.unwrap(), above));
    assert!(close(
        side.mean_over_min.unwrap(),
        deadheat_stats::mean_over_min(&second).unwrap()
    ));
    assert_eq!(side.fits.len(), 3);
    let likelihoods: Vec<f64> = side.fits.iter().map(|fit| fit.log_likelihood).collect();
    assert!(
        likelihoods.is_sorted_by(|a, b| a >= b),
        "the likeliest first"
    );
    let half = side.first_half.as_ref().unwrap();
    let apart = deadheat_stats::kolmogorov_smirnov(&second[..40], &second[40..]).unwrap();
    assert_eq!(half.against_second.unwrap().statistic, apart.statistic);
    assert_eq!(
        Some(half.median),
        deadheat_stats::summary::median(&second[..40])
    );
    assert_eq!((side.percentiles.len(), half.percentiles.len()), (99, 99));
    let median = deadheat_stats::summary::median(&second).unwrap();
    assert!((side.percentiles[49] / median - 1.0).abs() < 2e-3);

    let between = figures.between.as_ref().unwrap();
    let min = |values: &[f64]| deadheat_stats::summary::min(values).unwrap();
    assert!(close(
        between.min.unwrap().0,
        (min(&second) / min(&first)).ln()
    ));
    let shift = deadheat_stats::hodges_lehmann_shift(&first_logs, &second_logs).unwrap();
    assert!(close(between.shift.unwrap().effect.0, shift));
    let (low, high) = deadheat_stats::shift_interval(&first_logs, &second_logs, 0.05).unwrap();
    let interval = between.shift.unwrap().interval.unwrap();
    assert!(close(interval.low.0, low) && close(interval.high.0, high));
    assert!((interval.confidence - 0.95).abs() < 1e-12);
    for (found, expected) in [
        (
            between.welch,
            deadheat_stats::welch(&first_logs, &second_logs),
        ),
        (
            between.student,
            deadheat_stats::student(&first_logs, &second_logs),
        ),
    ] {
        let (found, expected) = (found.unwrap(), expected.unwrap());
        assert!(close(found.t, expected.t) && close(found.df, expected.df));
        assert!(close(found.p, expected.p_value()));
    }
    let ranks = between.mann_whitney.unwrap();
    assert_eq!(ranks.u_baseline + ranks.u_candidate, 6400.0);
    assert_eq!(
        Some(ranks.p),
        deadheat_stats::mann_whitney_p(&first, &second)
    );
    assert_eq!(
        between.rank_sum_p,
        deadheat_stats::rank_sum_p(&first, &second)
    );
    let moved = deadheat_stats::wasserstein_1(&first, &second).unwrap();
    let both = deadheat_stats::summary::median(&[first, second].concat()).unwrap();
    assert!(close(between.wasserstein.unwrap(), moved / both));
    assert!(between.kolmogorov_smirnov.unwrap().statistic > 0.5);
    let signed = between.signed_rank.unwrap();
    assert_eq!(signed.less + signed.greater, 820.0, "40 blocks: 40·41/2");
    let spread = figures.stability.unwrap().spread.unwrap();
    assert!(
        spread.between > spread.within,
        "layouts of 2 %, noise of 1 %"
    );
}

#[test]
fn the_halves_of_a_run_show_an_effect_that_wore_off() {
    let mut run = blocks(2, 10, 4, 0.05);
    for (replicate, slots) in run.iter_mut().filter(|block| block.0 >= 5) {
        assert!(*replicate < 10);
        for slot in slots.iter_mut().filter(|slot| slot.0 == 1) {
            slot.1 /= 1.05;
        }
    }
    let stability = figures(&run).stability.unwrap();
    let first = stability.first_half.unwrap().change();
    let second = stability.second_half.unwrap().change();
    assert!(
        (first - 0.05).abs() < 0.03 && second.abs() < 0.03,
        "{first} {second}"
    );
}

#[test]
fn what_needs_pairs_is_absent_without_them_and_a_contender_alone_has_no_rival() {
    let flat: Vec<Block> = blocks(3, 4, 5, 0.0)
        .into_iter()
        .flat_map(|(replicate, slots)| slots.into_iter().map(move |slot| (replicate, vec![slot])))
        .collect();
    let unpaired = comparison(Origin::UnpairedRecording, 2, &flat)
        .figures
        .unwrap();
    let between = unpaired.between.unwrap();
    assert!(unpaired.stability.is_none() && between.pairs.is_none());
    assert!(between.student_paired.is_none() && between.signed_rank.is_none());
    assert!(between.shift.is_some() && between.welch.is_some());
    let own: Vec<Block> = flat.into_iter().filter(|block| block.1[0].0 == 0).collect();
    let alone = comparison(Origin::PairedRecording, 1, &own)
        .figures
        .unwrap();
    assert!(alone.candidate.is_none() && alone.between.is_none());
    assert_eq!(alone.baseline.percentiles.len(), 99);
}

#[test]
fn the_figures_can_be_left_out_and_nothing_else_changes() {
    let run = run(Origin::PairedRecording, 2, &blocks(5, 8, 3, 0.02));
    let with = analyse(&run, Options::default());
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    let without = analyse(&run, options);
    assert!(without.comparisons[0].figures.is_none());
    let mut bare = with.clone();
    bare.comparisons[0].figures = None;
    assert_eq!(bare, without);
}

#[test]
fn zeros_forbid_logarithms_and_leave_the_rest() {
    let zero = |i: u32| if i.is_multiple_of(3) { 0.0 } else { 7.0 };
    let run: Vec<Block> = (0..8)
        .map(|i| block(i, ABBA, [zero(i), zero(i + 1), 6.0, 8.0]))
        .collect();
    let found = figures(&run);
    let between = found.between.unwrap();
    assert!(between.welch.is_none() && between.shift.is_none() && between.min.is_none());
    assert!(between.pairs.is_some() && between.mann_whitney.is_some());
    assert!(found.baseline.log_skewness.is_none());
    assert_eq!(found.baseline.percentiles[0], 0.0);
}

#[test]
fn what_is_too_dear_for_many_samples_is_left_out() {
    let found = figures(&blocks(4, 20, 130, 0.0));
    assert!(
        found.baseline.shapiro_wilk.is_none(),
        "5,200 samples a side"
    );
    assert!(found.baseline.log_skewness.is_some());
}

/// The same blocks with the roles changed.
fn swapped(blocks: &[Block]) -> Vec<Block> {
    let swap = |(replicate, slots): &Block| {
        let slots = slots.iter().map(|(side, value)| (1 - side, *value));
        (*replicate, slots.collect())
    };
    blocks.iter().map(swap).collect()
}

fn flipped(change: Change) -> Change {
    let minus = |effect: LogRatio| LogRatio(-effect.0);
    Change {
        effect: minus(change.effect),
        interval: change.interval.map(|interval| deadheat_model::Interval {
            low: minus(interval.high),
            high: minus(interval.low),
            ..interval
        }),
    }
}

/// The figures as they must be after the roles have changed.
fn mirrored(figures: &Figures) -> Figures {
    let minus = |effect: Option<LogRatio>| effect.map(|effect| LogRatio(-effect.0));
    let t_test = |found: Option<TTested>| {
        found.map(|found| TTested {
            change: flipped(found.change),
            t: -found.t,
            ..found
        })
    };
    let mut mirror = figures.clone();
    mirror.baseline = figures.candidate.clone().unwrap();
    mirror.candidate = Some(figures.baseline.clone());
    let between = mirror.between.as_mut().unwrap();
    between.min = minus(between.min);
    between.median = minus(between.median);
    between.mean = minus(between.mean);
    between.shift = between.shift.map(flipped);
    between.welch = t_test(between.welch);
    between.student = t_test(between.student);
    between.student_paired = t_test(between.student_paired);
    if let Some(z) = &mut between.z_paired {
        z.statistic = -z.statistic;
    }
    if let Some(pairs) = &mut between.pairs {
        std::mem::swap(&mut pairs.less, &mut pairs.greater);
    }
    if let Some(ranks) = &mut between.signed_rank {
        std::mem::swap(&mut ranks.less, &mut ranks.greater);
    }
    if let Some(ranks) = &mut between.mann_whitney {
        std::mem::swap(&mut ranks.u_baseline, &mut ranks.u_candidate);
    }
    if let Some(peaks) = &mut between.opposite_peaks {
        std::mem::swap(&mut peaks.below, &mut peaks.above);
    }
    let stability = mirror.stability.as_mut().unwrap();
    stability.first_half = minus(stability.first_half);
    stability.second_half = minus(stability.second_half);
    mirror
}

/// Every pure number of a side, in one list.
fn pure(side: &SideFigures) -> Vec<f64> {
    let mut numbers: Vec<f64> = [
        side.log_skewness,
        side.log_excess_kurtosis,
        side.mean_over_min,
        side.min_sigmas,
        side.max_sigmas,
    ]
    .into_iter()
    .flatten()
    .collect();
    let tests = [
        side.shapiro_wilk,
        side.first_half.as_ref().and_then(|h| h.against_second),
    ];
    numbers.extend(tests.into_iter().flatten().flat_map(|t| [t.statistic, t.p]));
    numbers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changing_the_roles_flips_every_signed_figure_exactly(
        seed in any::<u64>(), replicates in 1u32..12, per_replicate in 1u32..5, change in -0.5..0.5f64
    ) {
        let there = blocks(seed, replicates, per_replicate, change);
        prop_assert_eq!(figures(&swapped(&there)), mirrored(&figures(&there)));
    }

    #[test]
    fn scaling_all_times_changes_only_the_figures_with_a_unit(
        seed in any::<u64>(), factor in 1e-6..1e6f64
    ) {
        let small = blocks(seed, 6, 4, 0.02);
        let mut large = small.clone();
        large.iter_mut().flat_map(|block| &mut block.1).for_each(|slot| slot.1 *= factor);
        let (small, large) = (figures(&small), figures(&large));
        for (small, large) in [
            (&small.baseline, &large.baseline),
            (small.candidate.as_ref().unwrap(), large.candidate.as_ref().unwrap()),
        ] {
            for (a, b) in pure(small).iter().zip(pure(large)) {
                prop_assert!((a - b).abs() < 1e-8 * a.abs().max(1.0), "{} {}", a, b);
            }
            for (a, b) in small.percentiles.iter().zip(&large.percentiles) {
                prop_assert!((a * factor / b - 1.0).abs() < 1.1e-3, "{} {}", a, b);
            }
            let families = |side: &SideFigures| side.fits.iter().map(|f| f.family).collect::<Vec<Family>>();
            prop_assert_eq!(families(small), families(large));
        }
        let (a, b) = (small.between.unwrap(), large.between.unwrap());
        let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * a.abs().max(1.0);
        for (a, b) in [(a.welch, b.welch), (a.student, b.student), (a.student_paired, b.student_paired)] {
            let (a, b) = (a.unwrap(), b.unwrap());
            prop_assert!(near(a.t, b.t) && near(a.df, b.df) && near(a.p, b.p));
            prop_assert!(near(a.change.effect.0, b.change.effect.0));
        }
        for (a, b) in [(a.min, b.min), (a.median, b.median), (a.mean, b.mean)] {
            prop_assert!(near(a.unwrap().0, b.unwrap().0));
        }
        prop_assert!(near(a.shift.unwrap().effect.0, b.shift.unwrap().effect.0));
        prop_assert!(near(a.wasserstein.unwrap(), b.wasserstein.unwrap()));
        prop_assert_eq!(a.pairs, b.pairs);
        prop_assert_eq!(a.mann_whitney, b.mann_whitney);
        prop_assert_eq!(a.kolmogorov_smirnov, b.kolmogorov_smirnov);
    }

    #[test]
    fn no_input_makes_a_figure_that_is_not_a_number(
        picks in prop::collection::vec((0u32..3, any::<bool>(), prop::array::uniform4(0usize..7)), 1..20),
        unpaired in any::<bool>(),
    ) {
        let values = [0.0, 5e-324, 1.0, 1.0, 1e6, 1e300, f64::MAX];
        let mut odd: Vec<Block> = picks
            .iter()
            .map(|(replicate, abba, at)| {
                block(*replicate, if *abba { ABBA } else { BAAB }, at.map(|at| values[at]))
            })
            .collect();
        let mut origin = Origin::PairedRecording;
        if unpaired {
            origin = Origin::UnpairedRecording;
            odd = odd
                .into_iter()
                .flat_map(|(r, slots)| slots.into_iter().map(move |slot| (r, vec![slot])))
                .collect();
        }
        let found = comparison(origin, 2, &odd);
        let told = format!("{:?}", found);
        prop_assert!(!told.contains("NaN") && !told.contains("inf"), "{}", told);
    }

    #[test]
    fn equal_times_and_two_samples_have_few_figures_and_no_panic(value in 1e-300..1e300f64, n in 1u32..8) {
        let same: Vec<Block> = (0..n).map(|i| block(i, ABBA, [value; 4])).collect();
        let found = figures(&same);
        let between = found.between.as_ref().unwrap();
        prop_assert!(between.welch.is_none() && between.pairs.unwrap().equal as u32 == 2 * n);
        prop_assert_eq!(found.baseline.percentiles[0], value);
        let told = format!("{:?}", found);
        prop_assert!(!told.contains("NaN"));
        let two = figures(&[(0, vec![(0, value), (1, value / 2.0)])]);
        prop_assert!((two.between.unwrap().min.unwrap().0 + 2f64.ln()).abs() < 1e-9);
        prop_assert!(two.baseline.first_half.is_none());
    }
}
