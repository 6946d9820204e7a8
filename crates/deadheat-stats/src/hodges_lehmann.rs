//! The median of all pairwise averages: nearly as efficient as the mean, and unmoved by a tail.

use crate::summary::{all_finite, middle};

/// Up to this many values the averages are written out; there are 2,080 of them.
const FEW: usize = 64;

/// The one-sample Hodges–Lehmann estimate (1963): the median of the n(n + 1)/2 Walsh averages (x_i + x_j)/2, i ≤ j.
///
/// Exact, in O(n log n): the averages of sorted values form a staircase matrix with sorted rows and columns, in which
/// a pivot can be ranked in one walk (after Johnson & Mizoguchi 1978 and Monahan 1984). `None` for an empty slice or a
/// value that is not finite.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    hodges_lehmann_with(values, &mut Vec::new())
}

/// As [`hodges_lehmann`], writing averages into a vector that the caller may use again.
pub(crate) fn hodges_lehmann_with(values: &[f64], scratch: &mut Vec<f64>) -> Option<f64> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    scratch.clear();
    if values.len() <= FEW {
        let pairs = (0..values.len()).flat_map(|i| values[i..].iter().map(move |x| (values[i], x)));
        scratch.extend(pairs.map(|(a, &b)| a.midpoint(b)));
        return Some(middle(scratch));
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let averages = sorted.len() * (sorted.len() + 1) / 2;
    let upper = walsh_average(&sorted, averages / 2, scratch);
    if averages % 2 == 1 {
        return Some(upper);
    }
    Some(walsh_average(&sorted, averages / 2 - 1, scratch).midpoint(upper))
}

/// The `k`-th smallest Walsh average, counted from 0, of ascending values.
///
/// Row i holds the averages of x_i with x_i, x_{i+1}, …; `low[i]..high[i]` are the columns still in question. Each round
/// takes the weighted median of the rows' medians as pivot, which rules out at least a quarter of what is left.
fn walsh_average(x: &[f64], k: usize, scratch: &mut Vec<f64>) -> f64 {
    let n = x.len();
    let (mut low, mut high): (Vec<usize>, Vec<usize>) = ((0..n).collect(), vec![n; n]);
    let (mut below, mut up_to) = (vec![0; n], vec![0; n]);
    let mut medians: Vec<(f64, usize)> = Vec::with_capacity(n);
    loop {
        let left: usize = low.iter().zip(&high).map(|(l, h)| h - l).sum();
        if left <= n {
            break;
        }
        medians.clear();
        medians.extend((0..n).filter(|&i| low[i] < high[i]).map(|i| {
            let column = low[i] + (high[i] - low[i]) / 2;
            (x[i].midpoint(x[column]), high[i] - low[i])
        }));
        let pivot = weighted_median(&mut medians);
        let fewer = count_rows(x, &mut below, |average| average < pivot);
        let at_most = count_rows(x, &mut up_to, |average| average <= pivot);
        if k < fewer {
            high.iter_mut()
                .zip(&below)
                .zip(&low)
                .for_each(|((h, &b), &l)| *h = b.clamp(l, *h));
        } else if k < at_most {
            return pivot;
        } else {
            low.iter_mut()
                .zip(&up_to)
                .zip(&high)
                .for_each(|((l, &u), &h)| *l = u.clamp(*l, h));
        }
    }
    scratch.clear();
    scratch.extend((0..n).flat_map(|i| x[low[i]..high[i]].iter().map(move |&b| x[i].midpoint(b))));
    let ruled_out: usize = low.iter().enumerate().map(|(i, l)| l - i).sum();
    *scratch
        .select_nth_unstable_by(k - ruled_out, f64::total_cmp)
        .1
}

/// Fills `ends[i]` with the first column of row i whose average fails `holds`, and returns how many averages pass in all.
/// Averages grow along rows and columns, so the ends only ever move left on the way down: one walk of 2n steps.
fn count_rows(x: &[f64], ends: &mut [usize], holds: impl Fn(f64) -> bool) -> usize {
    let (mut end, mut total) = (x.len(), 0);
    for (i, row_end) in ends.iter_mut().enumerate() {
        while end > i && !holds(x[i].midpoint(x[end - 1])) {
            end -= 1;
        }
        *row_end = end.max(i);
        total += *row_end - i;
    }
    total
}

/// A value with at most half of the weight on either side of it. O(n).
fn weighted_median(mut items: &mut [(f64, usize)]) -> f64 {
    let mut wanted = items.iter().map(|item| item.1).sum::<usize>() / 2;
    loop {
        let half = items.len() / 2;
        let (left, &mut (value, weight), right) =
            items.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0));
        let on_the_left: usize = left.iter().map(|item| item.1).sum();
        if wanted < on_the_left {
            items = left;
        } else if wanted < on_the_left + weight || right.is_empty() {
            return value;
        } else {
            wanted -= on_the_left + weight;
            items = right;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;
    use crate::rng::normal;

    const D: [f64; 12] = [
        -0.012, 0.004, -0.021, -0.008, 0.310, -0.015, -0.011, 0.002, -0.018, -0.009, -0.027, -0.013,
    ];

    fn by_brute_force(values: &[f64]) -> f64 {
        let mut averages = Vec::new();
        for i in 0..values.len() {
            for j in i..values.len() {
                averages.push(values[i].midpoint(values[j]));
            }
        }
        averages.sort_by(f64::total_cmp);
        let half = averages.len() / 2;
        if averages.len() % 2 == 1 {
            averages[half]
        } else {
            averages[half - 1].midpoint(averages[half])
        }
    }

    #[test]
    fn the_value_of_the_specification_comes_out_as_printed() {
        assert!((hodges_lehmann(&D).unwrap() + 0.01075).abs() < 1e-15);
    }

    #[test]
    fn selection_and_brute_force_agree_to_the_last_bit() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        for n in (1..80).chain([127, 200, 333]) {
            let values: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            assert_eq!(
                hodges_lehmann(&values),
                Some(by_brute_force(&values)),
                "{n}"
            );
        }
    }

    #[test]
    fn ties_do_not_confuse_the_selection() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
        for n in [65, 100, 201] {
            let values: Vec<f64> = (0..n).map(|_| normal(&mut rng).round()).collect();
            assert_eq!(
                hodges_lehmann(&values),
                Some(by_brute_force(&values)),
                "{n}"
            );
            assert_eq!(hodges_lehmann(&vec![0.25; n]), Some(0.25));
        }
    }

    #[test]
    fn every_rank_can_be_selected() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        let mut x: Vec<f64> = (0..20).map(|_| normal(&mut rng)).collect();
        x.sort_by(f64::total_cmp);
        let mut averages: Vec<f64> = (0..20)
            .flat_map(|i| (i..20).map(move |j| (i, j)))
            .map(|(i, j)| x[i].midpoint(x[j]))
            .collect();
        averages.sort_by(f64::total_cmp);
        for (k, &expected) in averages.iter().enumerate() {
            assert_eq!(walsh_average(&x, k, &mut Vec::new()), expected, "{k}");
        }
    }

    #[test]
    fn nothing_and_nonsense_have_no_estimate() {
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(hodges_lehmann(&[1.0, f64::NAN]), None);
        assert_eq!(hodges_lehmann(&[f64::MAX; 70]), Some(f64::MAX));
    }
}
