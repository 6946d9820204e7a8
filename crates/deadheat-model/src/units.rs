//! Quantities that must not be mistaken for one another.

/// A duration in nanoseconds, as measured or summarised; may be fractional.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Nanoseconds(pub f64);

impl Nanoseconds {
    /// The same duration in seconds.
    pub fn seconds(self) -> f64 {
        self.0 / 1e9
    }
}

/// An effect `θ = ln(candidate / baseline)`.
///
/// All inference happens on this scale, because it is symmetric: swapping the
/// roles flips the sign and nothing else. People see [`LogRatio::change`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LogRatio(pub f64);

impl LogRatio {
    /// The relative change `e^θ − 1`: −0.01 means the candidate needs 1 % less.
    /// Finite for every finite effect: an effect beyond 709 gives the largest
    /// number there is.
    pub fn change(self) -> f64 {
        self.0.exp_m1().min(f64::MAX)
    }

    /// The effect that a relative change stands for, `ln(1 + change)`.
    pub fn from_change(change: f64) -> Self {
        Self(change.ln_1p())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_survives_the_way_through_the_log_scale() {
        for change in [-0.5, -0.01, 0.0, 1e-9, 0.1, 3.0] {
            let back = LogRatio::from_change(change).change();
            assert!((back - change).abs() <= 1e-15 * change.abs().max(1.0));
        }
    }
}
