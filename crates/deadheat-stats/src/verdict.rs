//! From an interval and a margin to a call.

/// The statement that an interval allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// The whole interval lies inside the margin: a dead heat.
    Equivalent {
        /// There is a difference all the same, only one too small to matter.
        excludes_zero: bool,
    },
    /// The whole interval lies below zero: the candidate takes less time.
    Faster,
    /// The whole interval lies above zero: the candidate takes more time.
    Slower,
    /// None of these: go on measuring, or give up as too close to call.
    Undecided,
}

/// The call for an interval of log ratios and a margin δ given as a fraction (0.01 for 1 %).
///
/// In this order: inside (−ln(1 + δ), ln(1 + δ)), equivalent; upper end below 0, faster; lower end
/// above 0, slower; else undecided. All read the same interval, so a wrong call of any kind needs
/// the interval to miss the truth (Schuirmann 1987 for the first, by interval inclusion). A margin
/// that is not positive makes nothing equivalent.
pub fn call(interval: (f64, f64), margin: f64) -> Call {
    let (low, high) = interval;
    let widest = margin.max(0.0).ln_1p();
    if low > -widest && high < widest && low <= high {
        return Call::Equivalent {
            excludes_zero: low > 0.0 || high < 0.0,
        };
    }
    match (low, high) {
        (_, high) if high < 0.0 => Call::Faster,
        (low, _) if low > 0.0 => Call::Slower,
        _ => Call::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_inside_the_margin_is_a_dead_heat() {
        assert_eq!(
            call((-0.003, 0.004), 0.01),
            Call::Equivalent {
                excludes_zero: false
            }
        );
    }

    #[test]
    fn a_difference_too_small_to_matter_is_still_a_dead_heat() {
        assert_eq!(
            call((0.001, 0.004), 0.01),
            Call::Equivalent {
                excludes_zero: true
            }
        );
        assert_eq!(
            call((-0.004, -0.001), 0.01),
            Call::Equivalent {
                excludes_zero: true
            }
        );
    }

    #[test]
    fn an_interval_on_one_side_of_zero_names_the_winner() {
        assert_eq!(call((-0.03, -0.001), 0.01), Call::Faster);
        assert_eq!(call((0.001, 0.03), 0.01), Call::Slower);
    }

    #[test]
    fn an_interval_across_zero_and_the_margin_decides_nothing() {
        assert_eq!(call((-0.02, 0.005), 0.01), Call::Undecided);
        assert_eq!(call((-0.02, 0.02), 0.01), Call::Undecided);
    }

    #[test]
    fn touching_the_margin_or_zero_is_not_enough() {
        let edge = 0.01_f64.ln_1p();
        assert_eq!(call((-edge, 0.0), 0.01), Call::Undecided);
        assert_eq!(call((0.0, edge), 0.01), Call::Undecided);
        assert_eq!(call((-0.5, 0.0), 0.01), Call::Undecided);
    }

    #[test]
    fn the_margin_is_a_factor_and_so_the_same_both_ways() {
        // Just inside ln 1.5 on both sides, though 1/1.5 is a change of only −33 %.
        let just_inside = 1.5_f64.ln() - 1e-9;
        assert!(matches!(
            call((-just_inside, just_inside), 0.5),
            Call::Equivalent { .. }
        ));
    }

    #[test]
    fn no_margin_leaves_faster_and_slower() {
        for margin in [0.0, -1.0, f64::NAN] {
            assert_eq!(call((0.0, 0.0), margin), Call::Undecided);
            assert_eq!(call((0.1, 0.2), margin), Call::Slower);
        }
    }
}
