//! Blocks: four slots in, one effect out, what the same four numbers say about the measuring
//! itself; and effects grouped by replicate, the shape every estimate takes its numbers in.

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

/// The effect of a block, s·½(x₂ + x₃ − x₁ − x₄), from the logarithms of the four slots' times per
/// iteration.
///
/// A linear drift cancels. Exchanging the roles negates the result to the last bit: the sum is
/// taken as (x₂ − x₁) + (x₃ − x₄), whose rounding is the same in both orders.
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

/// The reason why a list of sizes does not describe a list of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterError {
    /// The sizes add up to a different number of blocks.
    SizesDoNotMatch {
        /// Blocks according to the sizes.
        in_sizes: usize,
        /// Effects given.
        effects: usize,
    },
    /// A replicate without a block carries no information and would spoil the degrees of freedom.
    EmptyReplicate {
        /// Counted from 0.
        replicate: usize,
    },
}

impl std::fmt::Display for ClusterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SizesDoNotMatch { in_sizes, effects } => write!(
                f,
                "the replicates hold {in_sizes} blocks in all, but there are {effects} effects"
            ),
            Self::EmptyReplicate { replicate } => {
                write!(f, "replicate {replicate} holds no blocks")
            }
        }
    }
}

impl std::error::Error for ClusterError {}

/// Block effects (log ratios) in order of measurement, and how many of them each replicate
/// contributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clusters<'a> {
    effects: &'a [f64],
    sizes: Sizes<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sizes<'a> {
    Given(&'a [usize]),
    OneEach,
}

impl<'a> Clusters<'a> {
    /// Groups `effects`: the first `sizes[0]` belong to replicate 0, the next `sizes[1]` to
    /// replicate 1, and so on.
    pub fn new(effects: &'a [f64], sizes: &'a [usize]) -> Result<Self, ClusterError> {
        if let Some(replicate) = sizes.iter().position(|&size| size == 0) {
            return Err(ClusterError::EmptyReplicate { replicate });
        }
        let in_sizes = sizes
            .iter()
            .fold(0_usize, |sum, &size| sum.saturating_add(size));
        if in_sizes != effects.len() {
            return Err(ClusterError::SizesDoNotMatch {
                in_sizes,
                effects: effects.len(),
            });
        }
        Ok(Self {
            effects,
            sizes: Sizes::Given(sizes),
        })
    }

    /// Every block a replicate of its own (K = 1), as when whole commands are raced.
    pub fn singletons(effects: &'a [f64]) -> Self {
        Self {
            effects,
            sizes: Sizes::OneEach,
        }
    }

    /// The first `replicates` replicates, or all when there are fewer.
    pub fn prefix(self, replicates: usize) -> Self {
        let kept = replicates.min(self.replicates());
        match self.sizes {
            Sizes::Given(sizes) => {
                let blocks = sizes[..kept].iter().sum();
                Self {
                    effects: &self.effects[..blocks],
                    sizes: Sizes::Given(&sizes[..kept]),
                }
            }
            Sizes::OneEach => Self::singletons(&self.effects[..kept]),
        }
    }

    /// The same blocks with the grouping forgotten.
    pub fn ungrouped(self) -> Self {
        Self::singletons(self.effects)
    }

    /// The number of replicates (P).
    pub fn replicates(&self) -> usize {
        match self.sizes {
            Sizes::Given(sizes) => sizes.len(),
            Sizes::OneEach => self.effects.len(),
        }
    }

    /// All effects (N), replicate after replicate.
    pub fn effects(&self) -> &'a [f64] {
        self.effects
    }

    /// The effects of each replicate in turn.
    pub fn iter(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        let (sizes, mut rest) = (self.sizes, self.effects);
        (0..self.replicates()).map(move |replicate| {
            let size = match sizes {
                Sizes::Given(sizes) => sizes[replicate],
                Sizes::OneEach => 1,
            };
            let (replicate_effects, later) = rest.split_at(size);
            rest = later;
            replicate_effects
        })
    }

    /// Replicate and block (both counted from 0) of the first effect that is not finite or whose
    /// size passes `limit`.
    pub(crate) fn first_beyond(&self, limit: f64) -> Option<(usize, usize)> {
        let fits = |d: &f64| d.abs() <= limit;
        // The whole slice is scanned flat first: the usual answer is "none", and it should cost
        // nothing.
        if self.effects.iter().all(fits) {
            return None;
        }
        self.iter().enumerate().find_map(|(replicate, effects)| {
            Some((replicate, effects.iter().position(|d| !fits(d))?))
        })
    }
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

    #[test]
    fn effects_are_dealt_to_replicates_in_order() {
        let clusters = Clusters::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1, 3, 2]).unwrap();
        let dealt: Vec<&[f64]> = clusters.iter().collect();
        assert_eq!(dealt, [&[1.0][..], &[2.0, 3.0, 4.0], &[5.0, 6.0]]);
        assert_eq!((clusters.replicates(), clusters.effects().len()), (3, 6));
    }

    #[test]
    fn singletons_need_no_sizes() {
        let clusters = Clusters::singletons(&[1.0, 2.0]);
        assert_eq!(clusters.iter().collect::<Vec<_>>(), [&[1.0][..], &[2.0]]);
        assert_eq!(clusters.replicates(), 2);
    }

    #[test]
    fn a_prefix_is_what_an_earlier_look_would_have_seen() {
        let clusters = Clusters::new(&[1.0, 2.0, 3.0, 4.0], &[1, 2, 1]).unwrap();
        assert_eq!(
            clusters.prefix(2),
            Clusters::new(&[1.0, 2.0, 3.0], &[1, 2]).unwrap()
        );
        assert_eq!(clusters.prefix(9), clusters);
        assert_eq!(clusters.prefix(0).replicates(), 0);
        assert_eq!(clusters.ungrouped().prefix(3).effects(), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn sizes_that_do_not_describe_the_effects_are_refused() {
        let mismatch = ClusterError::SizesDoNotMatch {
            in_sizes: 3,
            effects: 2,
        };
        assert_eq!(Clusters::new(&[1.0, 2.0], &[1, 2]), Err(mismatch));
        assert_eq!(
            Clusters::new(&[1.0], &[1, 0]),
            Err(ClusterError::EmptyReplicate { replicate: 1 })
        );
        assert!(Clusters::new(&[1.0], &[usize::MAX, 2]).is_err());
    }

    #[test]
    fn the_first_bad_effect_is_named_by_replicate_and_block() {
        let clusters = Clusters::new(&[1.0, 2.0, f64::NAN, f64::INFINITY], &[1, 3]).unwrap();
        assert_eq!(clusters.first_beyond(f64::MAX), Some((1, 1)));
        assert_eq!(clusters.first_beyond(1.5), Some((1, 0)));
        assert_eq!(clusters.prefix(1).first_beyond(f64::MAX), None);
    }
}
