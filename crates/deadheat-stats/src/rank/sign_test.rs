//! The sign test (Arbuthnott 1710): are differences as often below zero as above?

use crate::dist::binomial_two_sided_p;
use crate::summary::all_finite;

/// How many differences are below, at and above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signs {
    /// Differences below zero.
    pub less: usize,
    /// Differences of exactly zero, of either sign.
    pub equal: usize,
    /// Differences above zero.
    pub greater: usize,
}

/// Counts the signs of `differences`. `None` when one of them is not finite; none at all count as three zeros.
pub fn count_signs(differences: &[f64]) -> Option<Signs> {
    if !all_finite(differences) {
        return None;
    }
    let less = differences.iter().filter(|&&d| d < 0.0).count();
    let greater = differences.iter().filter(|&&d| d > 0.0).count();
    Some(Signs {
        less,
        equal: differences.len() - less - greater,
        greater,
    })
}

impl Signs {
    /// The exact two-sided p-value: the probability that so many tosses of a fair coin, one per difference other than
    /// zero, fall at least as unevenly. 1 when there is nothing to toss for.
    pub fn sign_test_p(&self) -> f64 {
        binomial_two_sided_p(self.less as u64, (self.less + self.greater) as u64, 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_either_sign_are_counted_apart_and_say_nothing() {
        let signs = count_signs(&[-1.0, 0.0, -0.0, 2.0, 5e-324, -3.0, -4.0]).unwrap();
        let expected = Signs {
            less: 3,
            equal: 2,
            greater: 2,
        };
        assert_eq!(signs, expected);
        assert_eq!(signs.sign_test_p(), 1.0);
    }

    #[test]
    fn differences_of_one_sign_are_two_patterns_among_all() {
        let signs = count_signs(&[1.0; 10]).unwrap();
        assert!((signs.sign_test_p() - 2.0 / 1024.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_is_no_evidence_and_nonsense_is_not_counted() {
        assert_eq!(count_signs(&[]).unwrap().sign_test_p(), 1.0);
        assert_eq!(count_signs(&[0.0]).unwrap().sign_test_p(), 1.0);
        assert_eq!(count_signs(&[1.0, f64::NAN]), None);
        assert_eq!(count_signs(&[f64::INFINITY]), None);
    }
}
