//! The statistics of paired, replicated benchmarks. Numbers in, numbers out.
//!
//! This crate reads no clock, file or process, and callers pass in random streams. An *effect* is a
//! log ratio, θ = ln(candidate/baseline): negative means that the candidate takes less time. A
//! *block* of four interleaved samples gives one effect. A *replicate* holds one or more blocks;
//! replicates are assumed independent.
//!
//! The path of a number through this crate:
//!
//! ```text
//! four ln times ─→ effect of the block ─→ location and error of all ─formula, at a level→ interval ─→ call
//! ```
//!
//! | question | file |
//! | --- | --- |
//! | what did one block show, how large is the effect, how sure is it, and which call follows? | [`estimate`] |
//! | which blocks belong to one replicate? | [`clusters`] |
//! | which formula gives the interval, in particular with one or a few blocks per replicate? | [`formula`], [`few_blocks`] |
//! | what do several hosts show together? | [`hosts`] |
//! | when may a run be analysed, and how much of α does an interim analysis or another benchmark cost? | [`looks`], [`multiple_comparisons`] |
//! | which effects can a design detect, and is it worth running longer? | [`power`] |
//! | do other tests agree, and what would a mean-based tool report? | [`classical_tests`], [`rank`] |
//! | what do the two distributions look like? | [`hdr`], [`shape`], [`shapiro_wilk`](mod@shapiro_wilk), [`fit`](mod@fit), [`drawing`] |
//! | which doubts about the answer should be reported? | [`disturbance`] |
//! | which basics do all these use? | [`summary`], [`dist`], [`rng`] |
//!
//! For finite input no function panics or returns NaN or an infinity: a result that does not exist
//! is `None` or a typed error.
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

pub mod classical_tests;
pub mod clusters;
pub mod dist;
pub mod disturbance;
#[cfg(feature = "secondary")]
pub mod drawing;
pub mod estimate;
pub mod few_blocks;
#[cfg(feature = "secondary")]
pub mod fit;
pub mod formula;
#[cfg(feature = "secondary")]
pub mod hdr;
pub mod hosts;
pub mod looks;
pub mod multiple_comparisons;
pub mod power;
pub mod rank;
pub mod rng;
#[cfg(feature = "secondary")]
pub mod shape;
#[cfg(feature = "secondary")]
pub mod shapiro_wilk;
pub mod summary;

pub use classical_tests::{
    Averaged, TTest, ZTest, sign_flip_p, student, student_of, student_paired, welch, welch_of,
    z_test,
};
pub use clusters::{ClusterError, Clusters};
pub use dist::share_bounds;
pub use disturbance::{
    BlockFlags, Dropping, KeepReason, OppositePeaks, Tail, keep_or_drop, keep_or_drop_launches,
    opposite_peaks, tail_rate,
};
#[cfg(feature = "secondary")]
pub use drawing::{Tukey, bandwidth, density, running_median, tukey};
pub use estimate::{
    Call, Diagnostics, EstimateError, Floor, LAYOUT_ALLOWANCE, MIN_BLOCKS,
    MIN_REPLICATES_FOR_VERDICT, Order, PooledEstimate, agreement_p, block_effect, call,
    diagnostics, pooled_huber, replicates_that_agree, separation_p,
};
#[cfg(feature = "secondary")]
pub use fit::{Family, Fit, best_fits, best_fits_of, fit};
pub use formula::{Formula, Level, guard_interval, guard_p};
#[cfg(feature = "secondary")]
pub use hdr::{DigitsError, Histogram};
pub use hosts::{Heterogeneity, HostEffect, MeanOfHosts, heterogeneity};
pub use looks::{
    DEFAULT_G, Spending, SpendingError, adjusted_p, critical_t, e_value, fewest_at_any_time,
};
pub use multiple_comparisons::{benjamini_hochberg, holm};
pub use power::{
    Components, clamped_components, clamped_variance, is_bimodal, mean_of_replicate_locations,
    minimum_detectable_effect, optimal_blocks, planned_standard_error, replicates_to_settle,
    replicates_within, variance_components,
};
#[cfg(feature = "secondary")]
pub use rank::{
    RankSum, TwoSamples, hodges_lehmann_shift, mann_whitney_exact_p, mann_whitney_p, rank_sum,
    rank_sum_p, scipy_mann_whitney_p, shift_interval, shift_with_interval,
};
pub use rank::{Signs, count_signs, hodges_lehmann, signed_rank_asymptotic_p, signed_rank_exact_p};
#[cfg(feature = "secondary")]
pub use shape::{
    KolmogorovSmirnov, excess_kurtosis, kolmogorov_smirnov, mean_over_min, sigma_distances,
    skewness, wasserstein_1,
};
#[cfg(feature = "secondary")]
pub use shapiro_wilk::{ShapiroWilk, shapiro_wilk};
pub use summary::Centred;
