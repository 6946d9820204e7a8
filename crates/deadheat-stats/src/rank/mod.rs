//! Tests and estimates that only ask which of two numbers is larger: blind to the shape of a distribution, and unmoved
//! by how far out its outliers lie.
//!
//! | question | one sample, or pairs | two samples |
//! | --- | --- | --- |
//! | by how much? | [`hodges_lehmann`](fn@hodges_lehmann) and its [`signed_rank_interval`] | [`hodges_lehmann_shift`] and its [`shift_interval`] |
//! | more than chance? | [`signed_rank_exact_p`], [`signed_rank_asymptotic_p`] | [`mann_whitney_p`], [`rank_sum_p`] |
//! | how often? | [`count_signs`] | [`rank_sum`] |

#[cfg(feature = "secondary")]
mod arrangements;
#[cfg(feature = "secondary")]
pub mod as_scipy;
pub mod centre;
pub mod hodges_lehmann;
#[cfg(feature = "secondary")]
pub mod mann_whitney;
#[cfg(feature = "secondary")]
pub mod shift;
#[cfg(feature = "secondary")]
pub mod sign_test;
pub mod signed_rank;
mod staircase;

#[cfg(feature = "secondary")]
pub use as_scipy::scipy_mann_whitney_p;
pub use centre::{signed_rank_interval, signed_rank_one_sided_p};
pub use hodges_lehmann::hodges_lehmann;
#[cfg(feature = "secondary")]
pub use mann_whitney::{
    RankSum, mann_whitney_asymptotic_p, mann_whitney_exact_p, mann_whitney_p, rank_sum, rank_sum_p,
};
#[cfg(feature = "secondary")]
pub use shift::{hodges_lehmann_shift, shift_interval, shift_interval_at, shift_order};
#[cfg(feature = "secondary")]
pub use sign_test::{Signs, count_signs};
pub use signed_rank::{
    MOST_EXACT, SignedRanks, signed_rank_asymptotic_p, signed_rank_exact_p, signed_ranks,
};
