//! The data of the plots: where it comes from, and the laws it obeys.

mod common;

use common::{Block, run};
use deadheat_analysis::{Options, analyse, looks_taken};
use deadheat_model::{
    Analysis, BlockRecord, Comparison, ContenderId, Distribution, Flags, LogRatio, Metric, Origin,
    Plots, Run, Sample, Samples,
};
use deadheat_stats::rng::{normal, uniform};
use deadheat_stats::summary::median;
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const ABBA: [u8; 4] = [0, 1, 1, 0];
const BAAB: [u8; 4] = [1, 0, 0, 1];

fn drawn(run: &Run, points: usize) -> Comparison {
    let options = Options {
        plots: Some(points),
        ..Options::default()
    };
    analyse(run, options).comparisons[0].clone()
}

fn plots(run: &Run, points: usize) -> Plots {
    *drawn(run, points).plots.expect("they were asked for")
}

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

fn samples_of(distribution: &Distribution) -> u32 {
    distribution.below + distribution.counts.iter().sum::<u32>() + distribution.above
}

#[test]
fn nothing_is_drawn_unless_asked_for_and_the_answer_stays_the_same() {
    let run = run(Origin::PairedRecording, 2, &blocks(1, 6, 5, 0.03));
    let plain = analyse(&run, Options::default());
    let mut drawn = analyse(
        &run,
        Options {
            plots: Some(100),
            ..Options::default()
        },
    );
    assert_eq!(plain.comparisons[0].plots, None);
    assert!(drawn.comparisons[0].plots.take().is_some());
    assert_eq!(plain, drawn);
}

#[test]
fn plots_do_without_the_figures_but_look_the_same() {
    let run = run(Origin::PairedRecording, 2, &blocks(1, 6, 5, 0.03));
    let bare = analyse(
        &run,
        Options {
            plots: Some(100),
            without_figures: true,
            ..Options::default()
        },
    );
    assert_eq!(bare.comparisons[0].figures, None);
    assert_eq!(bare.comparisons[0].plots, drawn(&run, 100).plots);
}

#[test]
fn the_effect_of_a_block_and_its_pairs_are_those_of_the_estimate() {
    let run = run(
        Origin::PairedRecording,
        2,
        &[
            block(0, ABBA, [10.0, 9.0, 30.0, 30.0]),
            block(0, BAAB, [11.0, 10.0, 20.0, 25.0]),
        ],
    );
    let found = plots(&run, 100);
    let series = found.differences.unwrap();
    let effects: Vec<f64> = series.points.iter().map(|point| point.effect.0).collect();
    let want = [
        (9.0f64 * 30.0 / 300.0).ln() / 2.0,
        (11.0f64 * 25.0 / 200.0).ln() / 2.0,
    ];
    for (found, want) in effects.iter().zip(want) {
        assert!((found - want).abs() < 1e-12, "{found} {want}");
    }
    let order: Vec<bool> = series.points.iter().map(|p| p.baseline_first).collect();
    assert_eq!(order, [true, false]);
    assert_eq!((series.blocks, series.starts), (2, vec![0]));

    let cloud = found.pairs.unwrap();
    let pairs: Vec<(f64, f64, bool)> = cloud
        .points
        .iter()
        .map(|p| (p.baseline, p.candidate, p.baseline_first))
        .collect();
    assert_eq!(
        pairs,
        [
            (10.0, 9.0, true),
            (30.0, 30.0, false),
            (10.0, 11.0, false),
            (20.0, 25.0, true)
        ]
    );
    assert_eq!(cloud.pairs, 4);
}

#[test]
fn every_replicate_has_its_median_and_its_quartiles() {
    let blocks = blocks(5, 7, 9, 0.03);
    let found = plots(&run(Origin::PairedRecording, 2, &blocks), 1_000);
    let series = found.differences.unwrap();
    assert_eq!(series.starts, [0, 9, 18, 27, 36, 45, 54]);
    assert_eq!(found.replicates.len(), 7);
    for one in &found.replicates {
        let mine = series
            .points
            .iter()
            .filter(|p| p.replicate == one.replicate);
        let effects: Vec<f64> = mine.map(|point| point.effect.0).collect();
        assert_eq!(median(&effects), Some(one.effect.0));
        assert_eq!(one.blocks, 9);
        assert!(one.low <= one.effect && one.effect <= one.high);
    }
    let drift = series.drift;
    assert!((3..=64).contains(&drift.len()), "{}", drift.len());
    assert!(drift.is_sorted_by(|a, b| a.0 < b.0));
    assert!(
        drift
            .iter()
            .all(|(_, median)| (median.0 - 0.03).abs() < 0.06)
    );
}

/// Marks samples of the run as pre-empted: a block and a slot each.
fn flagged(run: &Run, marks: &[(usize, usize)]) -> Run {
    let samples = &run.benchmarks[0];
    let mut marked = Samples::new(samples.metrics().to_vec());
    for (at, span) in samples.blocks().iter().enumerate() {
        let mut slots: Vec<Sample> = samples.samples()[span.range()].to_vec();
        for (_, slot) in marks.iter().filter(|(block, _)| *block == at) {
            slots[*slot].flags = Flags::PREEMPTED;
        }
        let record = BlockRecord {
            replicate: span.replicate,
            index: span.index,
            samples: slots,
            values: samples.column(&Metric::Wall).unwrap()[span.range()].to_vec(),
            ..BlockRecord::default()
        };
        marked.push(&record).unwrap();
    }
    Run {
        benchmarks: vec![marked],
        ..run.clone()
    }
}

#[test]
fn dropped_blocks_are_marked_with_their_evidence_and_survive_thinning() {
    let plain = run(Origin::PairedRecording, 2, &blocks(5, 10, 30, 0.03));
    let slots = &plain.benchmarks[0].samples()[4 * 17..4 * 18];
    let baseline = slots.iter().position(|s| s.contender == ContenderId(0));
    let candidate = plain.benchmarks[0].samples()[4 * 250..]
        .iter()
        .position(|s| s.contender == ContenderId(1));
    let marked = flagged(
        &plain,
        &[(17, baseline.unwrap()), (250, candidate.unwrap())],
    );
    let comparison = drawn(&marked, 40);
    assert_eq!(comparison.aspects.dropped_blocks(), 2);
    let series = comparison.plots.unwrap().differences.unwrap();
    assert_eq!(series.blocks, 300);
    assert!(series.points.len() <= 40 && series.points.len() > 25);
    let dropped: Vec<_> = series.points.iter().filter(|p| p.dropped).collect();
    let places: Vec<u32> = dropped.iter().map(|point| point.position).collect();
    assert_eq!(places, [17, 250]);
    assert_eq!(dropped[0].baseline_flags, Flags::PREEMPTED);
    assert_eq!(dropped[0].candidate_flags, Flags::NONE);
    assert_eq!(dropped[1].candidate_flags, Flags::PREEMPTED);
    // Too many to be dropped: the evidence is shown, and all are kept.
    let many: Vec<(usize, usize)> = (0..150).flat_map(|i| [(i, 0), (i, 1)]).collect();
    let all = plots(&flagged(&plain, &many), 1_000).differences.unwrap();
    assert!(all.points.iter().all(|point| !point.dropped));
    assert!(all.points[3].baseline_flags.any());
}

#[test]
fn a_cloud_and_a_series_keep_their_extremes() {
    let mut blocks = blocks(5, 10, 100, 0.0);
    blocks[777].1[0].1 *= 50.0;
    let found = plots(&run(Origin::PairedRecording, 2, &blocks), 100);
    let series = found.differences.unwrap();
    assert!(series.points.iter().any(|point| point.position == 777));
    let cloud = found.pairs.unwrap();
    assert_eq!(cloud.pairs, 2_000);
    assert!(cloud.points.len() <= 100);
    let far = |p: &deadheat_model::PairPoint| p.baseline.max(p.candidate) > 2e7;
    assert!(cloud.points.iter().any(far));
    assert!(found.baseline.ecdf.len() <= 100);
    assert!(found.replicates.len() == 10 && series.starts.len() == 10);
}

#[test]
fn whole_commands_have_no_starts_of_replicates() {
    let mut blocks = blocks(5, 40, 1, 0.0);
    for (at, block) in blocks.iter_mut().enumerate() {
        block.0 = at as u32;
    }
    let found = plots(&run(Origin::PairedRecording, 2, &blocks), 100);
    let series = found.differences.unwrap();
    assert!(series.starts.is_empty());
    assert_eq!(found.replicates.len(), 40);
    assert_eq!(found.replicates[7].effect, series.points[7].effect);
}

#[test]
fn every_sample_is_counted_and_the_first_half_is_as_many() {
    let blocks = blocks(3, 8, 25, 0.05);
    let found = plots(&run(Origin::PairedRecording, 2, &blocks), 500);
    let candidate = found.candidate.as_ref().unwrap();
    assert!((10..=80).contains(&(found.edges.len() - 1)));
    for side in [&found.baseline, candidate] {
        assert_eq!(side.counts.len(), found.edges.len() - 1);
        assert_eq!(samples_of(side), 400);
        // All but those in the tails, which each half has as well.
        assert!((side.first_half.iter().sum::<f64>() - 400.0).abs() < 10.0);
        assert_eq!(side.curves.len(), 3);
        let bins = (found.edges.len() - 1) as f64;
        for curve in &side.curves {
            let mean = curve.points.iter().map(|p| p.1).sum::<f64>() / curve.points.len() as f64;
            assert!(
                (mean * bins / 400.0 - 1.0).abs() < 0.1,
                "{:?}",
                curve.family
            );
        }
        let violin = side.violin.iter().map(|p| p.1).fold(0.0, f64::max);
        assert_eq!((violin, side.ecdf[side.ecdf.len() - 1].1), (1.0, 1.0));
        let (intercept, slope) = side.normal_line.unwrap();
        assert!((intercept.exp() / 1e6 - 1.0).abs() < 0.15 && slope > 0.005 && slope < 0.05);
    }
    let box_plot = candidate.box_plot.as_ref().unwrap();
    let comparison = drawn(&run(Origin::PairedRecording, 2, &blocks), 500);
    assert_eq!(box_plot.median, comparison.candidate.unwrap().median);
}

#[test]
fn a_far_tail_is_counted_and_not_drawn_to_scale() {
    let mut blocks = blocks(3, 8, 25, 0.05);
    blocks[9].1[0].1 *= 1e6;
    let found = plots(&run(Origin::PairedRecording, 2, &blocks), 500);
    assert_eq!(
        found.baseline.above + found.candidate.as_ref().unwrap().above,
        1
    );
    assert!(*found.edges.last().unwrap() < 2e6);
    let beyond = [&found.baseline, found.candidate.as_ref().unwrap()];
    let far = |side: &&Distribution| {
        side.box_plot
            .as_ref()
            .unwrap()
            .outliers
            .iter()
            .any(|x| *x > 1e11)
    };
    assert!(beyond.iter().any(far));
}

#[test]
fn several_candidates_each_have_their_own_blocks() {
    let row = |replicate: u32, order: [u8; 3]| {
        let time = |side: u8| 1e6 * (1.0 + f64::from(side) * 0.1 + f64::from(replicate) * 1e-3);
        (replicate, order.map(|side| (side, time(side))).to_vec())
    };
    let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
    let blocks: Vec<Block> = (0..30).map(|i| row(i, orders[i as usize % 3])).collect();
    let run = run(Origin::PairedRecording, 3, &blocks);
    let options = Options {
        plots: Some(100),
        ..Options::default()
    };
    let analysis = analyse(&run, options);
    for (place, comparison) in analysis.comparisons.iter().enumerate() {
        let plots = comparison.plots.as_ref().unwrap();
        let series = plots.differences.as_ref().unwrap();
        let id = place as u8 + 1;
        assert_eq!(series.points.len(), 30);
        for (point, order) in series.points.iter().zip(orders.iter().cycle()) {
            let ratio = |side: u8| 1.0 + f64::from(side) * 0.1 + f64::from(point.replicate) * 1e-3;
            assert!((point.effect.0 - (ratio(id) / ratio(0)).ln()).abs() < 1e-12);
            let place = |side: u8| order.iter().position(|one| *one == side);
            assert_eq!(point.baseline_first, place(0) < place(id));
        }
        assert_eq!(plots.pairs.as_ref().unwrap().pairs, 30);
    }
}

#[test]
fn a_recording_without_blocks_has_distributions_only() {
    let saved: Vec<Block> = (0..30)
        .map(|i| (i, vec![((i % 2) as u8, 100.0 + f64::from(i * 7 % 11))]))
        .collect();
    let found = plots(&run(Origin::UnpairedRecording, 2, &saved), 100);
    assert_eq!((found.differences, found.pairs), (None, None));
    assert!(found.replicates.is_empty() && found.looks.is_empty());
    assert_eq!(samples_of(&found.baseline), 15);
    assert_eq!(samples_of(&found.candidate.unwrap()), 15);
}

#[test]
fn a_contender_alone_has_its_distribution() {
    let alone: Vec<Block> = (0..40)
        .map(|i| (i, vec![(0, 100.0 + f64::from(i * 7 % 11))]))
        .collect();
    let found = plots(&run(Origin::PairedRecording, 1, &alone), 100);
    assert_eq!(
        (found.differences, found.pairs, found.candidate),
        (None, None, None)
    );
    assert_eq!(samples_of(&found.baseline), 40);
    assert_eq!(found.baseline.ecdf.len(), 11);
}

#[test]
fn the_looks_drawn_are_those_that_were_taken() {
    let mut run = run(Origin::Race, 2, &blocks(9, 30, 1, 0.001));
    run.header.plan.design.looks = deadheat_analysis::planned_looks(6, 30, 0.05).unwrap();
    let comparison = drawn(&run, 100);
    let looks = comparison.plots.unwrap().looks;
    let taken = looks_taken(&run, 0);
    assert!(looks.len() > 1, "{}", looks.len());
    assert_eq!(looks.len(), taken.len());
    for (look, taken) in looks.iter().zip(&taken) {
        assert_eq!(look.replicates as usize, taken.replicates);
        assert_eq!(Some(look.estimate), taken.estimates[0]);
    }
    let last = looks.last().unwrap().estimate;
    assert_eq!(comparison.estimate.unwrap().interval, last.interval);
    // Judged once, a recording had no looks.
    run.header.origin = Origin::PairedRecording;
    assert!(plots(&run, 100).looks.is_empty());
}

#[test]
fn zeros_that_forbid_ratios_leave_the_distribution() {
    let zeros: Vec<Block> = (0..20)
        .map(|i| block(i, ABBA, [0.0, 0.0, 5.0, 4.0]))
        .collect();
    let found = plots(&run(Origin::PairedRecording, 2, &zeros), 100);
    assert_eq!(found.differences, None);
    assert!(found.replicates.is_empty());
    assert_eq!(found.pairs.unwrap().pairs, 40);
    assert!(found.baseline.normal_quantiles.is_empty() && found.baseline.normal_line.is_none());
    assert_eq!(samples_of(&found.baseline), 40);
}

/// Every number of a plot.
fn numbers(plots: &Plots) -> Vec<f64> {
    let mut all = plots.edges.clone();
    let ratio = |ratio: &LogRatio| ratio.0;
    if let Some(series) = &plots.differences {
        all.extend(series.points.iter().map(|p| p.effect.0));
        all.extend(series.drift.iter().map(|p| p.1.0));
    }
    for pair in plots.pairs.iter().flat_map(|cloud| &cloud.points) {
        all.extend([pair.baseline, pair.candidate]);
    }
    for one in &plots.replicates {
        all.extend([&one.effect, &one.low, &one.high].map(ratio));
    }
    for look in &plots.looks {
        all.push(look.estimate.effect.0);
    }
    for side in [Some(&plots.baseline), plots.candidate.as_ref()]
        .into_iter()
        .flatten()
    {
        all.extend(&side.first_half);
        let curves = side.curves.iter().flat_map(|curve| &curve.points);
        let pairs = curves
            .chain(&side.violin)
            .chain(&side.ecdf)
            .chain(&side.normal_quantiles)
            .chain(&side.normal_line);
        all.extend(pairs.flat_map(|pair| [pair.0, pair.1]));
        if let Some(b) = &side.box_plot {
            all.extend([b.whisker_low, b.lower, b.median, b.upper, b.whisker_high]);
            all.extend(&b.outliers);
        }
    }
    all
}

/// No series is longer than asked for.
fn longest(plots: &Plots) -> usize {
    let mut lengths = vec![plots.edges.len().saturating_sub(1), plots.replicates.len()];
    if let Some(series) = &plots.differences {
        lengths.extend([series.points.len(), series.starts.len(), series.drift.len()]);
    }
    lengths.extend(plots.pairs.iter().map(|cloud| cloud.points.len()));
    for side in [Some(&plots.baseline), plots.candidate.as_ref()]
        .into_iter()
        .flatten()
    {
        lengths.extend([
            side.counts.len(),
            side.violin.len(),
            side.ecdf.len(),
            side.normal_quantiles.len(),
        ]);
        lengths.extend(side.curves.iter().map(|curve| curve.points.len()));
        lengths.extend(side.box_plot.iter().map(|b| b.outliers.len()));
    }
    lengths.into_iter().max().unwrap_or(0)
}

fn lawful(analysis: &Analysis, points: usize) {
    for comparison in &analysis.comparisons {
        let plots = comparison.plots.as_ref().unwrap();
        for number in numbers(plots) {
            assert!(number.is_finite(), "{number} in {plots:?}");
        }
        assert!(longest(plots) <= points, "{} of {points}", longest(plots));
        assert!(plots.edges.windows(2).all(|pair| pair[0] < pair[1]));
        if points > 0 {
            assert_eq!(
                samples_of(&plots.baseline) as usize,
                comparison.baseline.samples
            );
        }
    }
}

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 1.0..1e9f64,
        2 => (1..5u8).prop_map(f64::from),
        1 => Just(0.0),
        1 => Just(5e-324),
        1 => Just(1e300),
        1 => Just(f64::MAX),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_numbers_are_finite_and_no_series_is_too_long(
        times in prop::collection::vec([time(), time(), time(), time()], 1..60),
        per_replicate in 1usize..20,
        points in prop_oneof![0usize..20, Just(100), Just(2_000)],
        origin in prop_oneof![
            Just(Origin::PairedRecording),
            Just(Origin::UnpairedRecording),
            Just(Origin::Race)
        ],
    ) {
        let blocks: Vec<Block> = times
            .iter()
            .enumerate()
            .map(|(at, times)| {
                let order = if at % 3 == 0 { BAAB } else { ABBA };
                block((at / per_replicate) as u32, order, *times)
            })
            .collect();
        let run = run(origin, 2, &blocks);
        let options = Options { plots: Some(points), ..Options::default() };
        let analysis = analyse(&run, options);
        lawful(&analysis, points);
        prop_assert_eq!(&analysis, &analyse(&run, options));
    }

    #[test]
    fn equal_values_are_drawn_too(value in time(), count in 1usize..9, points in 0usize..200) {
        let blocks: Vec<Block> = (0..count).map(|i| block(i as u32, ABBA, [value; 4])).collect();
        let run = run(Origin::PairedRecording, 2, &blocks);
        let options = Options { plots: Some(points), ..Options::default() };
        lawful(&analyse(&run, options), points);
    }
}
