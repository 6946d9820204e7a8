//! One block: four slots in, one effect out, and what the same four numbers say about the measuring itself.

/// The order in which baseline (A) and candidate (B) fill the four slots of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Baseline, candidate, candidate, baseline.
    Abba,
    /// Candidate, baseline, baseline, candidate.
    Baab,
}

impl Order {
    /// +1 for `Abba`, −1 for `Baab`.
    pub fn sign(self) -> f64 {
        match self {
            Order::Abba => 1.0,
            Order::Baab => -1.0,
        }
    }

    /// The order seen when baseline and candidate change roles.
    pub fn swapped(self) -> Self {
        match self {
            Order::Abba => Order::Baab,
            Order::Baab => Order::Abba,
        }
    }
}

/// Contrasts of a block that ought to be zero when measuring leaves no trace (log-ratio units).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diagnostics {
    /// ½(x₃ + x₄ − x₁ − x₂): how much slower the second half of the block is, whoever runs.
    pub drift: f64,
    /// s · drift: how much slower a side is for following the other rather than itself.
    pub carry_over: f64,
    /// ½(x₂ + x₄ − x₁ − x₃): how much slower the second place of each half is.
    pub second_position: f64,
}

/// The effect of a block, s·½(x₂ + x₃ − x₁ − x₄), from the logarithms of the four slots' times per iteration.
///
/// A linear drift cancels. Exchanging the roles negates the result to the last bit: the sum is taken as
/// (x₂ − x₁) + (x₃ − x₄), whose rounding is the same in both orders.
pub fn block_effect(x: [f64; 4], order: Order) -> f64 {
    order.sign() * half_sum_of_differences(x[1], x[0], x[2], x[3])
}

/// The diagnostics of a block, from the same four numbers as [`block_effect`].
pub fn diagnostics(x: [f64; 4], order: Order) -> Diagnostics {
    let drift = half_sum_of_differences(x[2], x[0], x[3], x[1]);
    Diagnostics {
        drift,
        carry_over: order.sign() * drift,
        second_position: half_sum_of_differences(x[1], x[0], x[3], x[2]),
    }
}

/// ½((a − b) + (c − d)). Halving first is exact and keeps the differences of huge numbers finite.
fn half_sum_of_differences(a: f64, b: f64, c: f64, d: f64) -> f64 {
    ((0.5 * a - 0.5 * b) + (0.5 * c - 0.5 * d)).clamp(-f64::MAX, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_takes_a_tenth_longer_shows_in_both_orders() {
        let (a, b) = (1_f64.ln(), 1.1_f64.ln());
        assert_eq!(block_effect([a, b, b, a], Order::Abba), b);
        assert_eq!(block_effect([b, a, a, b], Order::Baab), b);
    }

    #[test]
    fn a_linear_drift_leaves_the_effect_alone_and_shows_as_drift() {
        let x = [0.0, 0.25, 0.5, 0.75];
        for order in [Order::Abba, Order::Baab] {
            assert_eq!(block_effect(x, order), 0.0);
            assert_eq!(diagnostics(x, order).drift, 0.5);
            assert_eq!(diagnostics(x, order).carry_over, order.sign() * 0.5);
            assert_eq!(diagnostics(x, order).second_position, 0.25);
        }
    }

    #[test]
    fn a_slow_second_place_shows_only_as_second_position() {
        let found = diagnostics([0.0, 0.5, 0.0, 0.5], Order::Abba);
        assert_eq!(
            found,
            Diagnostics {
                drift: 0.0,
                carry_over: 0.0,
                second_position: 0.5
            }
        );
    }

    #[test]
    fn changing_roles_changes_the_sign_and_nothing_else() {
        let x = [13.81, 13.8000001, 13.92, 13.7];
        for order in [Order::Abba, Order::Baab] {
            assert_eq!(block_effect(x, order), -block_effect(x, order.swapped()));
            assert_eq!(order.swapped().swapped(), order);
        }
    }
}
