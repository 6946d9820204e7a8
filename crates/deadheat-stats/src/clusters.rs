//! Effects grouped by replicate: the input of every estimate.

/// The reason why a list of replicate sizes does not match a list of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterError {
    /// The sizes add up to a different number of blocks.
    SizesDoNotMatch {
        /// The number of blocks according to the sizes.
        in_sizes: usize,
        /// The number of effects, one for each block.
        effects: usize,
    },
    /// A replicate without blocks. It would add no information, but a degree of freedom.
    EmptyReplicate {
        /// Index of the replicate, counted from 0.
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

/// Block effects (log ratios) in order of measurement, with the number of blocks of each replicate.
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

    /// Returns clusters in which every block is a separate replicate (K = 1), as in races of whole
    /// commands.
    pub fn singletons(effects: &'a [f64]) -> Self {
        Self {
            effects,
            sizes: Sizes::OneEach,
        }
    }

    /// Returns the first `replicates` replicates, or all if there are fewer.
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

    /// Returns clusters of the same blocks, in which every block is a separate replicate.
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

    /// Returns all effects (N), replicate after replicate.
    pub fn effects(&self) -> &'a [f64] {
        self.effects
    }

    /// Returns the effects of each replicate in turn.
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

    /// Returns the replicate and the block (both counted from 0) of the first effect that is not
    /// finite, or whose absolute value is larger than `limit`.
    pub(crate) fn first_beyond(&self, limit: f64) -> Option<(usize, usize)> {
        let fits = |d: &f64| d.abs() <= limit;
        // The slice is scanned without its groups first, because usually no effect is beyond the
        // limit.
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
