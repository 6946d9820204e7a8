//! Laws that must hold for every input, including extreme ones.

use deadheat_stats::dist::{
    binomial_cdf, binomial_two_sided_p, f_upper_tail, normal_cdf, normal_quantile, t_critical,
    t_two_sided_p,
};
use deadheat_stats::looks::{critical_t, e_value};
use deadheat_stats::power::{
    minimum_detectable_effect, optimal_blocks, planned_standard_error, replicates_to_settle,
    replicates_within,
};
use deadheat_stats::rank::{
    count_signs, hodges_lehmann_shift, mann_whitney_exact_p, mann_whitney_p, rank_sum, rank_sum_p,
    shift_interval,
};
use deadheat_stats::{
    Call, Clusters, Floor, Order, PooledEstimate, adjusted_p, benjamini_hochberg, block_effect,
    call, diagnostics, hodges_lehmann, holm, is_bimodal, mean_of_replicate_locations, pooled_huber,
    sign_flip_p, signed_rank_asymptotic_p, signed_rank_exact_p, summary, tail_rate,
};
use deadheat_stats::{
    Family, TTest, ZTest, best_fits, clamped_components, clamped_variance, excess_kurtosis, fit,
    kolmogorov_smirnov, mean_over_min, opposite_peaks, shapiro_wilk, share_bounds, sigma_distances,
    skewness, student, student_paired, variance_components, wasserstein_1, welch, z_test,
};
use proptest::collection::vec;
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A block of a race: times of the four slots in nanoseconds and the order they ran in.
#[derive(Debug, Clone, Copy)]
struct Block {
    times: [f64; 4],
    order: Order,
}

impl Block {
    fn effect(&self) -> f64 {
        block_effect(self.times.map(f64::ln), self.order)
    }
}

/// Replicates of blocks: mostly ordinary times with occasional spikes, sometimes from a coarse
/// clock.
fn race() -> impl Strategy<Value = Vec<Vec<Block>>> {
    let time = prop_oneof![8 => 900.0..1_100.0, 1 => 1e3..1e6, 2 => (9_u32..12).prop_map(|ticks| 100.0 * f64::from(ticks))];
    let block = (
        [time.clone(), time.clone(), time.clone(), time],
        any::<bool>(),
    )
        .prop_map(|(times, abba)| Block {
            times,
            order: if abba { Order::Abba } else { Order::Baab },
        });
    vec(vec(block, 1..7), 1..12)
}

/// Any finite number: ordinary, huge, tiny, zero, and often a repeated one.
fn strange() -> impl Strategy<Value = f64> {
    let ordinary = -1.0..1.0;
    let any_finite = any::<f64>().prop_filter("finite", |x| x.is_finite());
    let picked = proptest::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.01,
        f64::MAX,
        -f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        1e100,
        -1e100,
        1e-100,
        1e16,
    ]);
    prop_oneof![3 => ordinary, 1 => any_finite, 3 => picked]
}

fn estimate(race: &[Vec<Block>], floor: Floor, effect: impl Fn(&Block) -> f64) -> PooledEstimate {
    let effects: Vec<f64> = race.iter().flatten().map(effect).collect();
    let sizes: Vec<usize> = race.iter().map(Vec::len).collect();
    pooled_huber(&Clusters::new(&effects, &sizes).unwrap(), floor).unwrap()
}

fn floors() -> impl Strategy<Value = Floor> {
    prop_oneof![Just(None), (1e-6..0.1).prop_map(Some)]
        .prop_map(|relative_tick| Floor { relative_tick })
}

#[track_caller]
fn all_finite(numbers: impl IntoIterator<Item = f64>) {
    for number in numbers {
        assert!(number.is_finite(), "{number} is not finite");
    }
}

fn numbers_of(found: &PooledEstimate) -> Vec<f64> {
    let mut numbers = vec![found.theta, found.scale, found.se, found.df];
    numbers.extend(found.p_value());
    numbers.extend(found.few_blocks_p_value());
    numbers.extend(found.t_statistic());
    numbers.extend(found.least_half_width);
    for level in [1e-300, 1e-4, 0.05, 0.9] {
        let intervals = [found.interval(level), found.few_blocks_interval(level)];
        numbers.extend(
            intervals
                .into_iter()
                .flatten()
                .flat_map(|(low, high)| [low, high]),
        );
    }
    numbers
}

/// The p-values of all tests of two samples.
fn two_sample_p_values(first: &[f64], second: &[f64]) -> Vec<f64> {
    let found = rank_sum(first, second);
    let tests = [
        mann_whitney_exact_p(first, second),
        found.map(|found| found.asymptotic_p(true)),
        found.map(|found| found.asymptotic_p(false)),
        mann_whitney_p(first, second),
        rank_sum_p(first, second),
    ];
    tests.into_iter().flatten().collect()
}

/// The hypotheses that the e-BH procedure rejects (Wang & Ramdas 2022): the k* largest e-values,
/// where k* is the largest k with e_(k) ≥ m/(αk). The expected share of false rejections stays
/// within α for any dependence between the e-values.
fn e_benjamini_hochberg(e_values: &[f64], alpha: f64) -> Vec<bool> {
    let m = e_values.len() as f64;
    let mut descending: Vec<usize> = (0..e_values.len()).collect();
    descending.sort_by(|&a, &b| e_values[a].total_cmp(&e_values[b]));
    descending.reverse();
    // Multiplied instead of divided, because α may be tiny.
    let passes = |rank: usize| e_values[descending[rank]] * alpha * (rank + 1) as f64 >= m;
    let rejected = (0..descending.len())
        .rev()
        .find(|&rank| passes(rank))
        .map_or(0, |rank| rank + 1);
    let mut reject = vec![false; e_values.len()];
    descending[..rejected]
        .iter()
        .for_each(|&index| reject[index] = true);
    reject
}

#[test]
fn e_values_are_rejected_from_the_largest_down() {
    assert_eq!(
        e_benjamini_hochberg(&[100.0, 1.0, 45.0, 0.0], 0.05),
        [true, false, true, false]
    );
    assert_eq!(e_benjamini_hochberg(&[39.0, 19.0], 0.05), [false, false]);
    assert_eq!(e_benjamini_hochberg(&[20.0, 20.0], 0.05), [true, true]);
    assert_eq!(e_benjamini_hochberg(&[], 0.05), [false; 0]);
}

#[test]
fn a_middling_e_value_is_carried_by_a_later_one_that_passes() {
    // 30 < 40 = 2/(.05·1), but both are ≥ 20 = 2/(.05·2).
    assert_eq!(e_benjamini_hochberg(&[30.0, 25.0], 0.05), [true, true]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn exchanging_the_roles_changes_the_sign_and_nothing_else(race in race(), floor in floors()) {
        let forth = estimate(&race, floor, Block::effect);
        let back = estimate(&race, floor, |b| Block { order: b.order.swapped(), ..*b }.effect());
        prop_assert_eq!(back, PooledEstimate { theta: -forth.theta, ..forth });
        let (low, high) = forth.interval(0.05).unzip();
        prop_assert_eq!(back.interval(0.05).unzip(), (high.map(|x| -x), low.map(|x| -x)));
    }

    #[test]
    fn relabelling_the_order_with_the_times_it_goes_with_changes_only_the_sign(times in [1.0..1e9, 1.0..1e9, 1.0..1e9, 1.0..1e9]) {
        // A and B exchange their times and their slots: the same four numbers, seen from the other
        // side.
        let [first, second, third, fourth] = times.map(f64::ln);
        let seen = block_effect([first, second, third, fourth], Order::Abba);
        prop_assert_eq!(block_effect([second, first, fourth, third], Order::Abba), -seen);
        prop_assert_eq!(block_effect([first, second, third, fourth], Order::Baab), -seen);
    }

    #[test]
    fn the_unit_of_time_does_not_matter(race in race(), floor in floors(), factor in prop_oneof![1e-9..1e9, (-60..60).prop_map(|e| 2_f64.powi(e))]) {
        let before = estimate(&race, floor, Block::effect);
        let after = estimate(&race, floor, |b| Block { times: b.times.map(|t| t * factor), ..*b }.effect());
        prop_assert!((before.theta - after.theta).abs() < 1e-12);
        prop_assert!((before.se - after.se).abs() < 1e-12, "{} {}", before.se, after.se);
        prop_assert_eq!(before.timer_limited, after.timer_limited);
    }

    #[test]
    fn the_order_of_blocks_within_a_replicate_does_not_matter(race in race(), floor in floors(), turn in 0_usize..6) {
        let before = estimate(&race, floor, Block::effect);
        let mut turned = race.clone();
        for replicate in &mut turned {
            let by = turn % replicate.len();
            replicate.rotate_left(by);
            replicate.reverse();
        }
        let after = estimate(&turned, floor, Block::effect);
        prop_assert!((before.theta - after.theta).abs() < 1e-12);
        prop_assert!((before.se - after.se).abs() < 1e-12);
        prop_assert_eq!(before.inliers, after.inliers);
    }

    #[test]
    fn the_interval_holds_the_estimate_and_grows_with_confidence(race in race(), floor in floors()) {
        let found = estimate(&race, floor, Block::effect);
        let mut inner = (found.theta, found.theta);
        for level in [0.5, 0.05, 0.01, 1e-4] {
            if let Some((low, high)) = found.interval(level) {
                prop_assert!(low <= inner.0 && inner.1 <= high);
                inner = (low, high);
            }
        }
    }

    #[test]
    fn shifting_every_effect_shifts_the_estimate(race in race(), shift in -1.0..1.0_f64) {
        let before = estimate(&race, Floor::default(), Block::effect);
        let after = estimate(&race, Floor::default(), |b| b.effect() + shift);
        prop_assert!((before.theta + shift - after.theta).abs() < 1e-12);
        prop_assert!((before.se - after.se).abs() < 1e-12);
    }

    #[test]
    fn no_effects_however_strange_give_anything_but_numbers(effects in vec(strange(), 0..40), cut in 1_usize..40, tick in proptest::option::of(strange())) {
        let cut = cut.min(effects.len());
        let sizes = [cut, effects.len() - cut];
        let grouped = Clusters::new(&effects, &sizes).unwrap_or(Clusters::singletons(&effects));
        for clusters in [grouped, grouped.ungrouped(), grouped.prefix(1)] {
            let mean_hl = mean_of_replicate_locations(&clusters);
            all_finite([mean_hl]);
            if let Ok(found) = pooled_huber(&clusters, Floor { relative_tick: tick }) {
                all_finite(numbers_of(&found));
                is_bimodal(mean_hl, &found, 0.01);
                all_finite([minimum_detectable_effect(found.se, found.df, 0.05)]);
                replicates_to_settle(found.theta, found.se, found.replicates, 0.01, 0.05);
            }
        }
        all_finite(sign_flip_p(&grouped.prefix(12), &mut Xoshiro256PlusPlus::seed_from_u64(1)));
        all_finite(hodges_lehmann(&effects));
        all_finite(signed_rank_exact_p(&effects));
        all_finite(signed_rank_asymptotic_p(&effects));
        all_finite(tail_rate(&effects[..cut], &effects[cut..]).p);
        for p in [holm(&effects), benjamini_hochberg(&effects)].concat() {
            prop_assert!((0.0..=1.0).contains(&p));
        }
        all_finite([adjusted_p(&effects, &[0.25, 0.75])]);
    }

    #[test]
    fn no_two_samples_however_strange_give_anything_but_numbers(first in vec(strange(), 0..20), second in vec(strange(), 0..20)) {
        if let Some(found) = rank_sum(&first, &second) {
            prop_assert_eq!(found.u_first + found.u_second, (first.len() * second.len()) as f64);
            all_finite([found.u_first, found.u_second, found.ties]);
        }
        for p in two_sample_p_values(&first, &second) {
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
        }
        let shift = hodges_lehmann_shift(&first, &second);
        all_finite(shift);
        for level in [0.9, 0.3, 0.05, 1e-4] {
            if let (Some(shift), Some((low, high))) = (shift, shift_interval(&first, &second, level)) {
                all_finite([low, high]);
                prop_assert!(low <= shift && shift <= high, "{low} {shift} {high}");
            }
        }
        let signs = count_signs(&first).unwrap();
        prop_assert_eq!(signs.less + signs.equal + signs.greater, first.len());
        prop_assert!((0.0..=1.0).contains(&signs.sign_test_p()));
    }

    #[test]
    fn exchanging_two_samples_negates_the_shift_and_keeps_the_doubt(first in vec(strange(), 1..40), second in vec(strange(), 1..40)) {
        let (forth, back) = (rank_sum(&first, &second).unwrap(), rank_sum(&second, &first).unwrap());
        prop_assert_eq!((forth.u_first, forth.u_second, forth.ties), (back.u_second, back.u_first, back.ties));
        prop_assert_eq!(two_sample_p_values(&first, &second), two_sample_p_values(&second, &first));
        prop_assert_eq!(hodges_lehmann_shift(&second, &first), hodges_lehmann_shift(&first, &second).map(|x| -x));
        let (low, high) = shift_interval(&first, &second, 0.1).unzip();
        prop_assert_eq!(shift_interval(&second, &first, 0.1).unzip(), (high.map(|x| -x), low.map(|x| -x)));
    }

    #[test]
    fn ranks_do_not_see_what_keeps_the_order(first in vec(-40..40_i32, 1..30), second in vec(-40..40_i32, 1..30), power in -60..60_i32) {
        let both = |change: &dyn Fn(f64) -> f64| [&first, &second].map(|sample| sample.iter().map(|&x| change(f64::from(x))).collect::<Vec<_>>());
        let ranks = |[x, y]: &[Vec<f64>; 2]| (rank_sum(x, y), two_sample_p_values(x, y));
        let plain = both(&|x| x);
        let scaled = both(&|x| x * 2_f64.powi(power));
        for changed in [&scaled, &both(&f64::exp), &both(&|x| x.powi(3) - 7.0)] {
            prop_assert_eq!(ranks(changed), ranks(&plain));
        }
        let signed = |x: &[f64]| (signed_rank_exact_p(x), signed_rank_asymptotic_p(x), count_signs(x));
        prop_assert_eq!(signed(&both(&|x| x.powi(3))[0]), signed(&plain[0]));
        // Figures with a unit scale with it: for a power of two to the last bit.
        let of = |[x, y]: &[Vec<f64>; 2]| [hodges_lehmann_shift(x, y), shift_interval(x, y, 0.2).map(|i| i.0), shift_interval(x, y, 0.2).map(|i| i.1)];
        prop_assert_eq!(of(&scaled), of(&plain).map(|x| x.map(|x| x * 2_f64.powi(power))));
    }

    #[test]
    fn moving_a_sample_moves_the_shift_and_its_interval(first in vec(-1000..1000_i32, 5..30), second in vec(-1000..1000_i32, 5..30), by in -500..500_i32) {
        let numbers = |sample: &[i32], by: i32| sample.iter().map(|x| f64::from(x + by)).collect::<Vec<_>>();
        let (x, y, moved) = (numbers(&first, 0), numbers(&second, 0), numbers(&second, by));
        let by = f64::from(by);
        prop_assert_eq!(hodges_lehmann_shift(&x, &moved), hodges_lehmann_shift(&x, &y).map(|shift| shift + by));
        prop_assert_eq!(shift_interval(&x, &moved, 0.05), shift_interval(&x, &y, 0.05).map(|(low, high)| (low + by, high + by)));
    }

    #[test]
    fn the_interval_of_the_shift_grows_with_confidence(first in vec(strange(), 1..40), second in vec(strange(), 1..40)) {
        let Some(shift) = hodges_lehmann_shift(&first, &second) else { return Ok(()) };
        let mut inner = (shift, shift);
        for level in [0.8, 0.2, 0.05, 0.01, 1e-6] {
            if let Some((low, high)) = shift_interval(&first, &second, level) {
                prop_assert!(low <= inner.0 && inner.1 <= high);
                inner = (low, high);
            }
        }
    }

    #[test]
    fn no_summary_however_strange_the_numbers_is_anything_but_a_number(values in vec(strange(), 0..20)) {
        use summary::{max, mean, median, min, scaled_mad, std_dev};
        for figure in [median, mean, min, max, std_dev, scaled_mad] {
            all_finite(figure(&values));
        }
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        for q in [0.0, 0.1, 0.5, 0.99, 1.0] {
            let quantile = summary::quantile(&sorted, q);
            all_finite(quantile);
            if let Some(quantile) = quantile {
                prop_assert!(sorted[0] <= quantile && quantile <= sorted[sorted.len() - 1]);
            }
        }
        if let (Some(low), Some(middle), Some(high)) = (min(&values), median(&values), max(&values)) {
            prop_assert!(low <= middle && middle <= high);
        }
    }

    #[test]
    fn no_distribution_leaves_the_numbers(x in strange(), y in strange(), z in strange(), k in any::<u32>(), n in any::<u32>()) {
        all_finite([t_two_sided_p(x, y), t_critical(x, y), normal_cdf(x), normal_quantile(x)]);
        all_finite([e_value(x, n as usize, y), e_value(x, (n % 50) as usize, z.abs())]);
        all_finite(critical_t(n as usize, x, y));
        all_finite([binomial_two_sided_p(u64::from(k % 500), u64::from(n % 500), x)]);
        all_finite([binomial_cdf(u64::from(k), u64::from(n), x), f_upper_tail(x, y, z)]);
        all_finite([minimum_detectable_effect(x, y, z)]);
        replicates_to_settle(x, y, k as usize, z, 0.05);
        prop_assert!((5..=200).contains(&optimal_blocks(x, y, z, x)));
        call((x, y), z);
    }

    #[test]
    fn bounds_hold_the_share_they_are_of_and_more_trials_bring_them_closer(
        (trials, hits) in (1_u64..2_000).prop_flat_map(|n| (Just(n), 0..=n)),
        confidence in 0.5..0.999,
    ) {
        let seen = hits as f64 / trials as f64;
        let (low, high) = share_bounds(hits, trials, confidence);
        prop_assert!(0.0 <= low && low <= seen && seen <= high && high <= 1.0);
        let (low_10, high_10) = share_bounds(10 * hits, 10 * trials, confidence);
        prop_assert!(high_10 - low_10 < high - low + 1e-12);
        // Exchanging hits and misses mirrors the bounds.
        let (low_misses, high_misses) = share_bounds(trials - hits, trials, confidence);
        prop_assert!((low_misses - (1.0 - high)).abs() < 1e-9);
        prop_assert!((high_misses - (1.0 - low)).abs() < 1e-9);
        // At a bound the other tail has the requested probability.
        if hits < trials {
            let tail = (1.0 - confidence) / 2.0;
            prop_assert!((binomial_cdf(hits, trials, high) - tail).abs() < 1e-7);
        }
    }

    #[test]
    fn plans_are_finite_whatever_they_are_made_of(
        within in strange(), between in strange(), blocks in any::<u32>(),
        replicates in any::<usize>(), budget in strange(), seconds in strange(),
    ) {
        let error = planned_standard_error(within, between, blocks, replicates);
        prop_assert!(error.is_finite() && error >= 0.0, "{}", error);
        prop_assert!(replicates_within(budget, seconds) <= 100_000);
    }

    #[test]
    fn no_block_leaves_the_numbers(x in [strange(), strange(), strange(), strange()]) {
        for order in [Order::Abba, Order::Baab] {
            let found = diagnostics(x, order);
            all_finite([block_effect(x, order), found.drift, found.carry_over, found.second_position]);
            prop_assert_eq!(block_effect(x, order), -block_effect(x, order.swapped()));
        }
    }

    #[test]
    fn exchanging_the_samples_turns_every_comparison_round_and_changes_nothing_else(first in vec(strange(), 0..20), second in vec(strange(), 0..20)) {
        for test in [welch, student] {
            let forth = test(&first, &second);
            let turned = forth.map(|found| TTest { difference: -found.difference, t: -found.t, ..found });
            let back = test(&second, &first);
            prop_assert_eq!(back, turned);
            prop_assert_eq!(back.map(|found| found.p_value()), forth.map(|found| found.p_value()));
            let (low, high) = forth.and_then(|found| found.interval(0.05)).unzip();
            let mirrored = (high.map(|x| -x), low.map(|x| -x));
            prop_assert_eq!(back.and_then(|found| found.interval(0.05)).unzip(), mirrored);
        }
        prop_assert_eq!(wasserstein_1(&first, &second), wasserstein_1(&second, &first));
        // Exchanging the samples walks the same orders in another direction.
        let forth = kolmogorov_smirnov(&first, &second);
        let back = kolmogorov_smirnov(&second, &first);
        prop_assert_eq!(forth.map(|found| found.statistic), back.map(|found| found.statistic));
        if let Some((forth, back)) = forth.zip(back) {
            prop_assert!((forth.p - back.p).abs() <= 1e-13 * forth.p);
        }
    }

    #[test]
    fn negating_every_value_mirrors_its_moments_and_peaks(values in vec(strange(), 0..20)) {
        let negated: Vec<f64> = values.iter().map(|x| -x).collect();
        prop_assert_eq!(skewness(&negated), skewness(&values).map(|x| -x));
        prop_assert_eq!(excess_kurtosis(&negated), excess_kurtosis(&values));
        prop_assert_eq!(sigma_distances(&negated), sigma_distances(&values).map(|(low, high)| (high, low)));
        prop_assert_eq!(z_test(&negated), z_test(&values).map(|found| ZTest { mean: -found.mean, z: -found.z, ..found }));
        let turned = opposite_peaks(&values).map(|found| (found.above, found.below, found.p));
        prop_assert_eq!(opposite_peaks(&negated).map(|found| (found.below, found.above, found.p)), turned);
    }

    #[test]
    fn the_unit_changes_no_pure_number(first in vec(900.0..1100.0, 3..30), second in vec(900.0..1100.0, 3..30), exponent in -300..300) {
        let unit = 2_f64.powi(exponent);
        let scaled = |values: &[f64]| -> Vec<f64> { values.iter().map(|x| x * unit).collect() };
        let (first_scaled, second_scaled) = (scaled(&first), scaled(&second));
        for test in [welch, student] {
            let before = test(&first, &second).map(|found| (found.difference * unit, found.se * unit, found.t, found.df));
            let after = test(&first_scaled, &second_scaled).map(|found| (found.difference, found.se, found.t, found.df));
            prop_assert_eq!(after, before);
        }
        prop_assert_eq!(z_test(&first_scaled).map(|found| found.p), z_test(&first).map(|found| found.p));
        prop_assert_eq!(kolmogorov_smirnov(&first_scaled, &second_scaled), kolmogorov_smirnov(&first, &second));
        let wasserstein = wasserstein_1(&first, &second).map(|distance| distance * unit);
        prop_assert_eq!(wasserstein_1(&first_scaled, &second_scaled), wasserstein);
        prop_assert_eq!(shapiro_wilk(&first_scaled), shapiro_wilk(&first));
        prop_assert_eq!(skewness(&first_scaled), skewness(&first));
        prop_assert_eq!(excess_kurtosis(&first_scaled), excess_kurtosis(&first));
        prop_assert_eq!(sigma_distances(&first_scaled), sigma_distances(&first));
        prop_assert_eq!(mean_over_min(&first_scaled), mean_over_min(&first));
        prop_assert_eq!(opposite_peaks(&first_scaled), opposite_peaks(&first));
    }

    #[test]
    fn a_constant_added_to_every_value_changes_no_shape(values in vec(-1.0_f64..1.0, 4..30), added in -1e3_f64..1e3) {
        let moved: Vec<f64> = values.iter().map(|x| x + added).collect();
        let (before, after) = (shapiro_wilk(&values).unwrap(), shapiro_wilk(&moved).unwrap());
        prop_assert!((before.w - after.w).abs() < 1e-9);
        prop_assert!((skewness(&values).unwrap() - skewness(&moved).unwrap()).abs() < 1e-9);
        prop_assert!((excess_kurtosis(&values).unwrap() - excess_kurtosis(&moved).unwrap()).abs() < 1e-9);
        for family in [Family::Normal, Family::Gumbel] {
            let (before, after) = (fit(family, &values).unwrap(), fit(family, &moved).unwrap());
            prop_assert!((after.location - before.location - added).abs() < 1e-9);
            prop_assert!((before.scale - after.scale).abs() < 1e-9);
            prop_assert!((before.log_likelihood - after.log_likelihood).abs() < 1e-6);
        }
        // Two replicates and one constant: the analysis of variance sees only differences.
        let sizes = [2, values.len() - 2];
        let before = variance_components(&Clusters::new(&values, &sizes).unwrap()).unwrap();
        let after = variance_components(&Clusters::new(&moved, &sizes).unwrap()).unwrap();
        prop_assert!((before.within - after.within).abs() < 1e-9 && (before.between - after.between).abs() < 1e-9);
    }

    #[test]
    fn no_samples_however_strange_give_anything_but_numbers(first in vec(strange(), 0..30), second in vec(strange(), 0..30), x in strange()) {
        for found in [welch(&first, &second), student(&first, &second), student_paired(&first)].into_iter().flatten() {
            all_finite([found.difference, found.se, found.t, found.df]);
            prop_assert!(found.se > 0.0 && found.df >= 1.0 - 1e-12);
            prop_assert!((0.0..=1.0).contains(&found.p_value()));
            for level in [1e-300, 0.05, 0.9] {
                if let Some((low, high)) = found.interval(level) {
                    all_finite([low, high]);
                    prop_assert!(low <= found.difference && found.difference <= high);
                }
            }
        }
        if let Some(found) = z_test(&first) {
            all_finite([found.mean, found.se, found.z]);
            prop_assert!((0.0..=1.0).contains(&found.p));
        }
        if let Some(found) = kolmogorov_smirnov(&first, &second) {
            prop_assert!((0.0..=1.0).contains(&found.statistic) && (0.0..=1.0).contains(&found.p), "{found:?}");
        }
        if let Some(distance) = wasserstein_1(&first, &second) {
            prop_assert!(distance >= 0.0 && distance.is_finite());
        }
        all_finite(skewness(&first));
        all_finite(excess_kurtosis(&first));
        all_finite(mean_over_min(&first));
        if let Some((low, high)) = sigma_distances(&first) {
            all_finite([low, high]);
            prop_assert!(low > 0.0 && high > 0.0);
        }
        if let Some(found) = shapiro_wilk(&first) {
            prop_assert!((0.0..=1.0).contains(&found.w) && (0.0..=1.0).contains(&found.p), "{found:?}");
        }
        if let Some(found) = opposite_peaks(&first) {
            all_finite(found.p);
        }
        for found in best_fits(&first) {
            all_finite([found.location, found.scale, found.log_likelihood, found.density(x), found.quantile(x)]);
            prop_assert!(found.scale > 0.0);
            prop_assert!(found.quantile(0.1) <= found.quantile(0.9));
        }
        let sizes = [first.len() / 3, first.len() - first.len() / 3];
        let clusters = Clusters::new(&first, &sizes).unwrap_or(Clusters::singletons(&first));
        let mut components = Vec::from_iter(variance_components(&clusters));
        if let Ok(estimate) = pooled_huber(&clusters, Floor::default()) {
            components.extend(clamped_components(&clusters, &estimate));
            if let Some(variance) = clamped_variance(&clusters, &estimate) {
                prop_assert!(variance.is_finite() && variance >= 0.0);
            }
        }
        for found in components {
            all_finite([found.within, found.between, found.df_between, found.df_within]);
            all_finite(found.f);
            all_finite(found.p_value());
            prop_assert!(found.within >= 0.0 && found.between >= 0.0);
        }
    }

    #[test]
    fn a_wider_interval_never_decides_more(low in -0.05..0.05, width in 0.0..0.05, more in 0.0..0.05) {
        let wide = call((low - more, low + width + more), 0.01);
        let narrow = call((low, low + width), 0.01);
        let allowed = wide == Call::Undecided || narrow == Call::Equivalent || wide == narrow;
        prop_assert!(allowed, "{wide:?} from {narrow:?}");
    }

    #[test]
    fn quantiles_rise_and_tails_fall(df in 1.0..1e7, p in 0.001..0.998, t in 0.0..50.0) {
        prop_assert!(t_critical(p, df) > t_critical(p + 0.001, df));
        prop_assert!(t_two_sided_p(t, df) > t_two_sided_p(t + 0.01, df) || t_two_sided_p(t, df) < 1e-300);
    }

    #[test]
    fn benjamini_and_hochberg_on_inverse_e_values_is_e_bh(e_values in vec(prop_oneof![0.01..3.0, 1.0..1e6], 0..30), alpha in 0.001..0.5) {
        // So p = 1/E of a race judged at any time may be adjusted together with the other p-values
        // of its suite.
        let inverse: Vec<f64> = e_values.iter().map(|e: &f64| e.recip().min(1.0)).collect();
        let by_p: Vec<bool> = benjamini_hochberg(&inverse).iter().map(|p| *p <= alpha).collect();
        prop_assert_eq!(by_p, e_benjamini_hochberg(&e_values, alpha));
    }
}
