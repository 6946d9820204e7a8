//! Maximum-likelihood fits against SciPy's, and the Gumbel fit against its own equation solved to
//! the last digit.

use deadheat_stats::{Family, fit};

use crate::close;
use crate::recipe::cases;

/// Location and scale are compared on the scale of the sample's spread and magnitude, the
/// likelihood on that of its terms.
fn each_fit(key: &str, family: Family, prepare: impl Fn(&[f64]) -> Vec<f64>) {
    let mut compared = 0;
    for case in cases(include_str!("fits.json")) {
        let values = prepare(&case.first);
        let got = fit(family, &values);
        if case.value[key].is_null() {
            assert_eq!(got, None, "{}", case.name);
            continue;
        }
        compared += 1;
        let (got, want) = (got.unwrap(), case.numbers(key));
        let magnitude = got.location.abs().max(got.scale);
        close(got.location, want[0], 1e-12 * magnitude, &case.name);
        close(got.scale, want[1], 1e-11 * want[1], &case.name);
        let n = values.len() as f64;
        let term = 1.0 + got.scale.ln().abs();
        close(got.log_likelihood, want[2], 1e-12 * n * term, &case.name);
        let by_density: f64 = values.iter().map(|&x| got.density(x).ln()).sum();
        close(by_density, want[2], 1e-10 * n * term, &case.name);
    }
    assert!(compared >= 300, "{key}: {compared} cases are too few");
}

#[test]
fn the_normal_fit_agrees_with_scipy() {
    each_fit("normal", Family::Normal, <[f64]>::to_vec);
}

#[test]
fn the_log_normal_fit_agrees_with_scipy() {
    each_fit("log_normal", Family::LogNormal, |values| {
        let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        values.iter().map(|x| x.abs() + 0.5 * largest).collect()
    });
}

#[test]
fn the_gumbel_fit_solves_the_equation_that_scipy_solves() {
    each_fit("gumbel", Family::Gumbel, <[f64]>::to_vec);
}
