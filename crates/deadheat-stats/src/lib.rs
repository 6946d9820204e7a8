//! Numbers in, numbers out: the statistics of paired, replicated benchmarks.
//!
//! Nothing here reads a clock, a file or a process, and random streams are passed in. An *effect*
//! is a log ratio, θ = ln(candidate/baseline): negative means that the candidate takes less time. A
//! *block* of four interleaved samples yields one effect; a *replicate*, the unit taken for
//! independent, holds one block or more.
//!
//! The way of a number through this crate:
//!
//! ```text
//! four ln times ─blocks→ effects of replicates ─huber→ estimate ─looks→ level ─verdict→ call
//! ```
//!
//! | question | file |
//! | --- | --- |
//! | what did one block show, and one replicate? | [`blocks`] |
//! | how large is the effect, and how sure is that? | [`huber`], [`hodges_lehmann`] |
//! | and when a replicate is a single block, or a few? | [`few_blocks`], [`guard`] |
//! | what do several hosts say together? | [`hosts`] |
//! | which commit changed the time, and which race would tell? | [`culprit`] |
//! | when may one look, and what does a look cost? | [`looks`] |
//! | what may be said? | [`verdict`], [`power`], [`components`] |
//! | do other tests agree? | [`signflip`], [`rank`] |
//! | what would a mean-based tool say? | [`t_tests`] |
//! | what do the two distributions look like? | [`hdr`], [`shape`], [`shapiro_wilk`](mod@shapiro_wilk), [`fit`](mod@fit), [`drawing`] |
//! | which doubts belong to the answer? | [`evidence`] |
//! | what stands underneath? | [`summary`], [`dist`], [`rng`] |
//!
//! For finite input no function panics, and none returns NaN or an infinity: what does not exist is
//! `None` or a typed error.
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
pub mod blocks;
pub mod components;
pub mod culprit;
pub mod dist;
#[cfg(feature = "secondary")]
pub mod drawing;
pub mod evidence;
pub mod few_blocks;
#[cfg(feature = "secondary")]
pub mod fit;
pub mod guard;
#[cfg(feature = "secondary")]
pub mod hdr;
pub mod hosts;
pub mod huber;
pub mod looks;
mod multiple;
pub mod power;
pub mod rank;
pub mod rng;
#[cfg(feature = "secondary")]
pub mod shape;
#[cfg(feature = "secondary")]
pub mod shapiro_wilk;
pub mod signflip;
pub mod summary;
pub mod t_tests;
#[cfg(feature = "secondary")]
mod two_samples;
pub mod verdict;

pub use anytime::{DEFAULT_G, critical_t, e_value};
pub use blocks::{ClusterError, Clusters, Diagnostics, Order, block_effect, diagnostics};
pub use components::{
    Components, clamped_components, clamped_variance, is_bimodal, mean_of_replicate_locations,
    variance_components,
};
pub use culprit::{
    Answer, CommitGroup, CommitRace, CulpritError, CulpritSearch, NextRace, Posterior, StepSize,
};
pub use dist::share_bounds;
#[cfg(feature = "secondary")]
pub use drawing::{Tukey, bandwidth, density, running_median, tukey};
pub use evidence::{
    BlockFlags, Dropping, KeepReason, OppositePeaks, Tail, keep_or_drop, opposite_peaks, tail_rate,
};
#[cfg(feature = "secondary")]
pub use fit::{Family, Fit, best_fits, best_fits_of, fit};
pub use guard::{guard_interval, guard_p};
#[cfg(feature = "secondary")]
pub use hdr::{DigitsError, Histogram};
pub use hosts::{Heterogeneity, HostEffect, MeanOfHosts, heterogeneity};
pub use huber::{
    EstimateError, Floor, LAYOUT_ALLOWANCE, MIN_BLOCKS, MIN_REPLICATES_FOR_VERDICT, PooledEstimate,
    pooled_huber,
};
pub use looks::{Spending, SpendingError, adjusted_p};
pub use multiple::{benjamini_hochberg, holm};
pub use power::{
    minimum_detectable_effect, optimal_blocks, planned_standard_error, replicates_to_settle,
    replicates_within,
};
#[cfg(feature = "secondary")]
pub use rank::{
    RankSum, hodges_lehmann_shift, mann_whitney_exact_p, mann_whitney_p, rank_sum, rank_sum_p,
    scipy_mann_whitney_p, shift_interval, shift_with_interval,
};
pub use rank::{Signs, count_signs, hodges_lehmann, signed_rank_asymptotic_p, signed_rank_exact_p};
#[cfg(feature = "secondary")]
pub use shape::{
    KolmogorovSmirnov, excess_kurtosis, kolmogorov_smirnov, mean_over_min, sigma_distances,
    skewness, wasserstein_1,
};
#[cfg(feature = "secondary")]
pub use shapiro_wilk::{ShapiroWilk, shapiro_wilk};
pub use signflip::sign_flip_p;
pub use summary::Centred;
pub use t_tests::{
    Averaged, TTest, ZTest, student, student_of, student_paired, welch, welch_of, z_test,
};
#[cfg(feature = "secondary")]
pub use two_samples::TwoSamples;
pub use verdict::{Call, call};
