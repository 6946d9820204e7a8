//! The distributions every other file leans on: normal, Student's t, F,
//! chi-squared, binomial.
//!
//! Accuracy is checked against `scipy.special` to 1e-10 relative, tails included. Arguments outside
//! a function's domain are moved to its nearest edge, so that every finite input has a finite
//! answer; no function here panics.

mod beta;
mod binomial;
#[cfg(feature = "secondary")]
mod cephes;
mod gamma;
mod normal;
mod student;

pub use beta::f_upper_tail;
pub use binomial::{binomial_cdf, binomial_two_sided_p, share_bounds};
#[cfg(feature = "secondary")]
pub(crate) use cephes::cephes_normal_cdf;
pub use gamma::chi_squared_upper_tail;
#[cfg(feature = "secondary")]
pub(crate) use normal::{approximate_normal_quantile, polynomial};
pub use normal::{normal_cdf, normal_quantile};
pub use student::{normal_deviate, t_critical, t_log_density, t_two_sided_p};

/// The comparison that the tests of every distribution make.
#[cfg(test)]
#[track_caller]
fn close(got: f64, want: f64, tolerance: f64) {
    assert!(
        (got - want).abs() <= tolerance * want.abs().max(f64::MIN_POSITIVE),
        "{got} is not {want}"
    );
}
