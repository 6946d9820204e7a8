//! Verdicts that are right, wrong or missing, and how far off the figures are.

use crate::comparison::{Comparison, Said};

const ALPHA: f64 = 0.05;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    pub right: usize,
    pub wrong: usize,
    /// Neither: nothing could be told.
    pub none: usize,
}

impl Verdicts {
    /// Of the comparisons in which anything is tested, `None` without one.
    ///
    /// Where both do the same, right is to say so. Where one does more, it
    /// is wrong to call it the faster one, and to call them equal.
    pub fn count(comparisons: &[Comparison], known: f64) -> Option<Self> {
        let mut verdicts = Self::default();
        for said in comparisons.iter().map(|one| one.said) {
            let right = if known > 0.0 { Said::Slower } else { Said::Equal };
            *match said? {
                Said::Nothing => &mut verdicts.none,
                said if said == right => &mut verdicts.right,
                _ => &mut verdicts.wrong,
            } += 1;
        }
        (!comparisons.is_empty()).then_some(verdicts)
    }
}

pub fn told_apart(comparisons: &[Comparison]) -> usize {
    said(comparisons, &[Said::Slower, Said::Faster])
}

pub fn said(comparisons: &[Comparison], wanted: &[Said]) -> usize {
    let among = |one: &&Comparison| one.said.is_some_and(|said| wanted.contains(&said));
    comparisons.iter().filter(among).count()
}

/// The number of comparisons that would find f1 slower if that were the only question: a test that
/// knows the direction beforehand is twice as sure.
pub fn one_sided(comparisons: &[Comparison]) -> usize {
    let finds = |one: &&Comparison| {
        one.estimate.is_some_and(|estimate| estimate > 0.0)
            && one.p.is_some_and(|p| p / 2.0 < ALPHA)
    };
    comparisons.iter().filter(finds).count()
}

/// Root mean square of the errors of a ratio, relative to the true one;
/// `None` of no figures.
pub fn rms(differences: impl IntoIterator<Item = f64>, known: f64) -> Option<f64> {
    let mut squares = 0.0;
    let mut count = 0_usize;
    for difference in differences {
        squares += ((1.0 + difference) / (1.0 + known) - 1.0).powi(2);
        count += 1;
    }
    (count > 0).then(|| (squares / count as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offences::tests::comparison;

    fn that_say(said: &[Option<Said>]) -> Vec<Comparison> {
        said.iter()
            .map(|said| Comparison { said: *said, ..comparison(101.0, 101.0, Some(0.01)) })
            .collect()
    }

    #[test]
    fn what_is_right_depends_on_what_is_known() {
        use Said::{Equal, Faster, Nothing, Slower};
        let all = that_say(&[Slower, Slower, Faster, Equal, Nothing].map(Some));
        let of_more = Verdicts { right: 2, wrong: 2, none: 1 };
        let of_the_same = Verdicts { right: 1, wrong: 3, none: 1 };
        assert_eq!(Verdicts::count(&all, 0.01), Some(of_more));
        assert_eq!(Verdicts::count(&all, 0.0), Some(of_the_same));
        assert_eq!(told_apart(&all), 3);
        assert_eq!(said(&all, &[Equal]), 1);
    }

    #[test]
    fn who_tests_nothing_has_no_verdicts() {
        assert_eq!(Verdicts::count(&that_say(&[None, None]), 0.01), None);
        assert_eq!(Verdicts::count(&[], 0.01), None);
    }

    #[test]
    fn the_one_sided_test_needs_the_right_side() {
        let with = |estimate: f64, p: f64| Comparison {
            p: Some(p),
            ..comparison(101.0, 101.0, Some(estimate))
        };
        let comparisons = [with(0.01, 0.09), with(-0.01, 0.01), with(0.01, 0.11)];
        assert_eq!(one_sided(&comparisons), 1);
    }

    #[test]
    fn the_error_is_that_of_the_ratio() {
        assert_eq!(rms([], 0.01), None);
        assert_eq!(rms([0.25, 0.25], 0.25), Some(0.0));
        // 1.375 / 1.25 is 10% too much, 1.125 / 1.25 as much too little.
        let error = rms([0.375, 0.125, 0.25, 0.25], 0.25).unwrap();
        assert!((error - (0.02_f64 / 4.0).sqrt()).abs() < 1e-12);
    }
}
