//! Numbers in, numbers out: the statistics of paired, replicated benchmarks.
//!
//! Nothing here reads a clock, a file or a process, and random streams are passed in. An *effect* is a log ratio,
//! θ = ln(candidate/baseline): negative means that the candidate takes less time. A *block* of four interleaved samples
//! yields one effect; a *replicate*, the unit taken for independent, holds one block or more.
//!
//! The way of a number through this crate:
//!
//! ```text
//! four ln times ─blocks→ effect ─clusters→ replicates ─huber→ estimate ─looks→ level ─verdict→ call
//! ```
//!
//! | question | file |
//! | --- | --- |
//! | what did one block show? | [`blocks`] |
//! | how large is the effect, and how sure is that? | [`clusters`], [`huber`], [`estimate`], [`rank::hodges_lehmann`](mod@rank::hodges_lehmann) |
//! | and when a replicate is a single block, or a few? | [`few_blocks`], [`guard`] |
//! | when may one look, and what does a look cost? | [`looks`], [`anytime`] |
//! | what may be said? | [`verdict`], [`multiple`], [`power`], [`components`], [`share`] |
//! | do other tests agree? | [`signflip`], [`rank`] |
//! | what would a mean-based tool say? | [`t_tests`] |
//! | what do the two distributions look like? | [`hdr`], [`shape`], [`moments`], [`shapiro_wilk`](mod@shapiro_wilk), [`fit`](mod@fit) |
//! | how are they drawn? | [`bins`], [`density`](mod@density), [`tukey`](mod@tukey), [`running`] |
//! | which doubts belong to the answer? | [`evidence`], [`tail`], [`bimodal`], [`outliers`] |
//! | what stands underneath? | [`summary`], [`dist`], [`rng`] |
//!
//! For finite input no function panics, and none returns NaN or an infinity: what does not exist is `None` or a typed
//! error.
//!
//! ```
//! use deadheat_stats::{Call, Clusters, Floor, call, pooled_huber};
//!
//! let effects = [-0.021, -0.019, -0.020, -0.023, -0.018, -0.020, -0.022, -0.019];
//! let estimate = pooled_huber(&Clusters::singletons(&effects), Floor::default())?;
//! let interval = estimate.interval(0.05).expect("eight replicates with some spread");
//! assert_eq!(call(interval, 0.01), Call::Faster);
//! # Ok::<(), deadheat_stats::EstimateError>(())
//! ```

pub mod anytime;
pub mod bimodal;
#[cfg(feature = "secondary")]
pub mod bins;
pub mod blocks;
mod centred;
pub mod clusters;
pub mod components;
#[cfg(feature = "secondary")]
pub mod density;
pub mod dist;
pub mod estimate;
pub mod evidence;
pub mod few_blocks;
#[cfg(feature = "secondary")]
pub mod fit;
pub mod guard;
#[cfg(feature = "secondary")]
pub mod hdr;
pub mod huber;
pub mod looks;
#[cfg(feature = "secondary")]
pub mod moments;
pub mod multiple;
#[cfg(feature = "secondary")]
pub mod outliers;
pub mod power;
pub mod rank;
pub mod rng;
#[cfg(feature = "secondary")]
pub mod running;
#[cfg(feature = "secondary")]
pub mod shape;
#[cfg(feature = "secondary")]
pub mod shapiro_wilk;
#[cfg(feature = "secondary")]
pub mod share;
pub mod signflip;
pub mod summary;
pub mod t_tests;
pub mod tail;
#[cfg(feature = "secondary")]
pub mod tukey;
pub mod verdict;

pub use anytime::{DEFAULT_G, critical_t, e_value};
pub use bimodal::{is_bimodal, mean_of_replicate_locations};
pub use blocks::{Diagnostics, Order, block_effect, diagnostics};
pub use clusters::{ClusterError, Clusters};
pub use components::{Components, clamped_components, clamped_variance, variance_components};
#[cfg(feature = "secondary")]
pub use density::{bandwidth, density};
pub use estimate::{LAYOUT_ALLOWANCE, MIN_BLOCKS, MIN_REPLICATES_FOR_VERDICT, PooledEstimate};
pub use evidence::{BlockFlags, Dropping, KeepReason, keep_or_drop};
#[cfg(feature = "secondary")]
pub use fit::{Family, Fit, best_fits, fit};
pub use guard::{guard_interval, guard_p};
#[cfg(feature = "secondary")]
pub use hdr::{DigitsError, Histogram};
pub use huber::{EstimateError, Floor, pooled_huber};
pub use looks::{Spending, SpendingError, adjusted_p};
#[cfg(feature = "secondary")]
pub use moments::{excess_kurtosis, mean_over_min, sigma_distances, skewness};
pub use multiple::{benjamini_hochberg, e_benjamini_hochberg, holm};
#[cfg(feature = "secondary")]
pub use outliers::{OppositePeaks, opposite_peaks};
pub use power::{
    minimum_detectable_effect, optimal_blocks, planned_standard_error, replicates_to_settle,
    replicates_within,
};
#[cfg(feature = "secondary")]
pub use rank::{
    RankSum, Signs, count_signs, hodges_lehmann_shift, mann_whitney_asymptotic_p,
    mann_whitney_exact_p, mann_whitney_p, rank_sum, rank_sum_p, scipy_mann_whitney_p,
    shift_interval, shift_interval_at, shift_order,
};
pub use rank::{hodges_lehmann, signed_rank_asymptotic_p, signed_rank_exact_p};
#[cfg(feature = "secondary")]
pub use running::running_median;
#[cfg(feature = "secondary")]
pub use shape::{KolmogorovSmirnov, kolmogorov_smirnov, wasserstein_1};
#[cfg(feature = "secondary")]
pub use shapiro_wilk::{ShapiroWilk, shapiro_wilk};
#[cfg(feature = "secondary")]
pub use share::share_bounds;
pub use signflip::sign_flip_p;
pub use t_tests::{TTest, ZTest, student, student_paired, welch, z_test};
pub use tail::{Tail, tail_rate};
#[cfg(feature = "secondary")]
pub use tukey::{Tukey, tukey};
pub use verdict::{Call, call};
