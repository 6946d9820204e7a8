//! Tests and estimates that only ask which of two numbers is larger: blind to the shape of a
//! distribution, and unmoved by how far out its outliers lie.
//!
//! | question | one sample, or pairs | two samples |
//! | --- | --- | --- |
//! | by how much? | [`hodges_lehmann`] and its [`signed_rank_interval`] | [`hodges_lehmann_shift`] and its [`shift_interval`] |
//! | more than chance? | [`signed_rank_exact_p`], [`signed_rank_asymptotic_p`] | [`mann_whitney_p`], [`rank_sum_p`] |
//! | how often? | [`count_signs`] | [`rank_sum`] |

#[cfg(feature = "secondary")]
pub mod mann_whitney;
pub mod one_sample;
#[cfg(feature = "secondary")]
pub mod shift;
mod staircase;

#[cfg(feature = "secondary")]
pub use mann_whitney::{
    RankSum, mann_whitney_exact_p, mann_whitney_p, rank_sum, rank_sum_p, scipy_mann_whitney_p,
};
pub use one_sample::{
    MOST_EXACT, SignedRanks, Signs, count_signs, hodges_lehmann, signed_rank_asymptotic_p,
    signed_rank_exact_p, signed_rank_interval, signed_rank_one_sided_p, signed_ranks,
};
#[cfg(feature = "secondary")]
pub use shift::{hodges_lehmann_shift, shift_interval, shift_with_interval};
