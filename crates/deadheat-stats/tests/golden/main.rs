//! The crate against SciPy, statsmodels and NumPy, at the tolerances the specification states.
//!
//! The reference values are written by `make_golden.py`, whose head says how to run it.

mod distributions;
mod drawings;
mod families;
mod fits;
mod locations;
mod ranks;
mod recipe;
mod shapes;
mod t_tests;

/// |got − want| ≤ tolerance·|want|.
#[track_caller]
fn relatively_close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!(
        (got - want).abs() <= tolerance * want.abs(),
        "{what}: {got:e} is not {want:e}"
    );
}

/// |got − want| ≤ tolerance.
#[track_caller]
fn close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!(
        (got - want).abs() <= tolerance,
        "{what}: {got:e} is not {want:e}"
    );
}
