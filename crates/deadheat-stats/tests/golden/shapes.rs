//! Distances between samples, moments and the Shapiro–Wilk test against SciPy.

use deadheat_stats::{excess_kurtosis, kolmogorov_smirnov, shapiro_wilk, skewness, wasserstein_1};

use crate::recipe::{Case, cases};
use crate::{close, relatively_close};

fn all() -> Vec<Case> {
    cases(include_str!("shapes.json"))
}

#[test]
fn the_kolmogorov_smirnov_test_agrees_with_scipy() {
    for case in all() {
        let got = kolmogorov_smirnov(&case.first, &case.second).unwrap();
        close(
            got.statistic,
            case.number("ks_statistic"),
            1e-15,
            &case.name,
        );
        relatively_close(got.p, case.number("ks_p"), 1e-11, &case.name);
    }
}

#[test]
fn the_wasserstein_distance_agrees_with_scipy() {
    for case in all() {
        let got = wasserstein_1(&case.first, &case.second).unwrap();
        relatively_close(got, case.number("wasserstein"), 1e-11, &case.name);
    }
}

#[test]
fn skewness_and_kurtosis_agree_with_scipy() {
    let mut compared = 0;
    for case in all() {
        let got = skewness(&case.first).zip(excess_kurtosis(&case.first));
        let Some(want) = case.get("skewness").zip(case.get("excess_kurtosis")) else {
            assert_eq!(got, None, "{}", case.name);
            continue;
        };
        compared += 1;
        let (skewness, kurtosis) = got.unwrap();
        // Both may cancel to 0, so they are compared on the scale of their terms, 1 and 3.
        close(skewness, want.0, 1e-11 * want.0.abs().max(1.0), &case.name);
        close(kurtosis, want.1, 1e-11 * want.1.abs().max(3.0), &case.name);
    }
    assert!(compared >= 300, "{compared} cases are too few");
}

#[test]
fn the_shapiro_wilk_test_agrees_with_scipy() {
    let mut compared = 0;
    for case in all() {
        let got = shapiro_wilk(&case.first);
        let Some(want) = case.get("shapiro_w").zip(case.get("shapiro_p")) else {
            assert_eq!(got, None, "{}", case.name);
            continue;
        };
        compared += 1;
        let got = got.unwrap();
        relatively_close(got.w, want.0, 1e-12, &case.name);
        // For three values p is the difference of two arcs, which is only rounding if W is at its
        // minimum, ¾; SciPy's too.
        let rounding = if case.first.len() == 3 { 2e-15 } else { 0.0 };
        close(got.p, want.1, 1e-9 * want.1 + rounding, &case.name);
    }
    assert!(compared >= 300, "{compared} cases are too few");
}
