//! Tests of means and the one-way analysis of variance against SciPy.

use deadheat_stats::{
    Clusters, TTest, student, student_paired, variance_components, welch, z_test,
};

use crate::recipe::{Case, cases};
use crate::{close, relatively_close};

/// Calls `compare` with every case that has the reference values `key`, and checks that there are
/// enough. If the reference has none, the result must be `None` too.
fn each<T: std::fmt::Debug>(
    key: &str,
    test: impl Fn(&Case) -> Option<T>,
    compare: impl Fn(T, &[f64], &Case),
) {
    let mut compared = 0;
    for case in cases(include_str!("t_tests.json")) {
        let got = test(&case);
        if case.value[key].is_null() {
            assert!(got.is_none(), "{}: {got:?}", case.name);
            continue;
        }
        compared += 1;
        let got = got.unwrap_or_else(|| panic!("{}: no {key}", case.name));
        compare(got, &case.numbers(key), &case);
    }
    assert!(compared >= 300, "{key}: {compared} cases are too few");
}

fn differences(case: &Case) -> Vec<f64> {
    let pairs = case.second.iter().zip(&case.first);
    pairs.map(|(second, first)| second - first).collect()
}

fn largest(case: &Case) -> f64 {
    let sizes = case.first.iter().chain(&case.second).map(|x| x.abs());
    sizes.fold(0.0, f64::max)
}

/// Compares difference, t, df, p and the ends of the 95% interval. Means cancel in their
/// difference, so it is compared to within 1e-14 of the largest value, and t and the interval to
/// within the error that follows from that.
fn same_test(got: TTest, want: &[f64], case: &Case) {
    let &[difference, t, df, p, low, high] = want else {
        panic!("{want:?}")
    };
    let rounding = 1e-14 * largest(case);
    let what = |figure: &str| format!("{figure}, {}", case.name);
    close(got.difference, difference, rounding, &what("difference"));
    close(got.t, t, 1e-11 * t.abs() + rounding / got.se, &what("t"));
    relatively_close(got.df, df, 1e-11, &what("df"));
    let sensitivity = (1.0 + t.abs()) * rounding / got.se;
    relatively_close(got.p_value(), p, 1e-9 + sensitivity, &what("p"));
    let (got_low, got_high) = got.interval(0.05).unwrap();
    let width = 1e-11 * got.se + rounding;
    close(got_low, low, width, &what("low"));
    close(got_high, high, width, &what("high"));
}

#[test]
fn welchs_test_agrees_with_scipy() {
    each("welch", |case| welch(&case.first, &case.second), same_test);
}

#[test]
fn students_test_of_two_samples_agrees_with_scipy() {
    each(
        "student",
        |case| student(&case.first, &case.second),
        same_test,
    );
}

#[test]
fn students_test_of_pairs_agrees_with_scipy() {
    each(
        "paired",
        |case| student_paired(&differences(case)),
        same_test,
    );
}

#[test]
fn the_normal_test_of_pairs_agrees_with_scipy() {
    each(
        "z",
        |case| z_test(&differences(case)),
        |got, want, case| {
            let rounding = 1e-14 * largest(case);
            close(got.mean, want[0], rounding, &case.name);
            relatively_close(got.se, want[1], 1e-11, &case.name);
            close(
                got.z,
                want[2],
                1e-11 * want[2].abs() + rounding / got.se,
                &case.name,
            );
            relatively_close(got.p, want[3], 1e-9, &case.name);
        },
    );
}

#[test]
fn the_analysis_of_variance_agrees_with_scipy() {
    let components = |case: &Case| {
        let replicates = case.value["anova"][0].as_u64()? as usize;
        let n = case.first.len();
        let sizes: Vec<usize> = (0..replicates)
            .map(|i| n * (i + 1) / replicates - n * i / replicates)
            .collect();
        variance_components(&Clusters::new(&case.first, &sizes).unwrap())
    };
    each("anova", components, |got, want, case| {
        relatively_close(got.f.unwrap(), want[1], 1e-9, &case.name);
        relatively_close(got.p_value().unwrap(), want[2], 1e-9, &case.name);
    });
}
