//! The median of all pairwise averages: nearly as efficient as the mean, and unmoved by a tail.

use super::staircase::Staircase;
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
    let averages = Staircase {
        rows: &sorted,
        columns: &sorted,
        triangular: true,
        entry: f64::midpoint,
    };
    Some(averages.median(scratch))
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
    fn nothing_and_nonsense_have_no_estimate() {
        assert_eq!(hodges_lehmann(&[]), None);
        assert_eq!(hodges_lehmann(&[1.0, f64::NAN]), None);
        assert_eq!(hodges_lehmann(&[f64::MAX; 70]), Some(f64::MAX));
    }
}
