//! Rank tests against SciPy; Hodges–Lehmann estimates against all pairs written out.

use deadheat_stats::{
    count_signs, hodges_lehmann, hodges_lehmann_shift, mann_whitney_exact_p, mann_whitney_p,
    rank_sum, rank_sum_p, scipy_mann_whitney_p, signed_rank_asymptotic_p, signed_rank_exact_p,
    summary,
};

use crate::recipe::{Case, cases};
use crate::{close, relatively_close};

fn all() -> Vec<Case> {
    cases(include_str!("ranks.json"))
}

/// Paired differences if the samples have equal sizes, else the first sample.
fn differences(case: &Case) -> Vec<f64> {
    if case.first.len() != case.second.len() {
        return case.first.clone();
    }
    let pairs = case.first.iter().zip(&case.second);
    pairs.map(|(x, y)| x - y).collect()
}

#[test]
fn the_approximate_tests_of_two_samples_agree_with_scipy() {
    for case in all() {
        let (x, y) = (&case.first, &case.second);
        let found = rank_sum(x, y).unwrap();
        assert_eq!(found.u_first, case.number("u_first"), "{}", case.name);
        assert_eq!(
            found.u_first + found.u_second,
            (x.len() * y.len()) as f64,
            "{}",
            case.name
        );
        for (got, key) in [
            (Some(found.asymptotic_p(true)), "mann_whitney_continuous"),
            (Some(found.asymptotic_p(false)), "mann_whitney_plain"),
            (rank_sum_p(x, y), "rank_sum"),
        ] {
            let what = format!("{key} of {}", case.name);
            relatively_close(got.unwrap(), case.number(key), 1e-9, &what);
        }
    }
}

#[test]
fn the_test_of_google_benchmark_agrees_with_scipy_whichever_way_it_takes() {
    let mut exact = 0;
    for case in all() {
        let got = mann_whitney_p(&case.first, &case.second).unwrap();
        let want = case.number("mann_whitney_auto");
        exact += usize::from(want != case.number("mann_whitney_continuous"));
        relatively_close(got, want, 1e-9, &case.name);
    }
    assert!(exact >= 60, "{exact} exact cases are too few");
}

#[test]
fn the_test_for_compare_py_agrees_with_scipy_to_the_last_bit() {
    let cases = cases(include_str!("compare_py.json"));
    let all = cases.len();
    let mut same = 0;
    for case in cases {
        let got = scipy_mann_whitney_p(&case.first, &case.second).unwrap();
        let want = case.number("p");
        // SciPy rounds counts beyond 2⁵³, and here they are exact.
        relatively_close(got, want, 1e-12, &case.name);
        same += usize::from(got == want);
    }
    assert!(100 * same >= 98 * all, "{same} of {all}");
}

#[test]
fn the_approximate_signed_rank_test_agrees_with_scipy() {
    for case in all() {
        let got = signed_rank_asymptotic_p(&differences(&case));
        match case.get("signed_rank") {
            Some(want) => relatively_close(got.unwrap(), want, 1e-9, &case.name),
            None => assert_eq!(got, None, "{}", case.name),
        }
    }
}

#[test]
fn the_sign_test_agrees_with_scipy() {
    for case in all() {
        let signs = count_signs(&differences(&case)).unwrap();
        let counted = [signs.less as f64, signs.greater as f64];
        assert_eq!(counted[..], case.numbers("signs"), "{}", case.name);
        let want = case.number("sign_test");
        // Below the smallest normal number, precision is lost.
        let tolerance = 1e-9 * want + f64::MIN_POSITIVE;
        close(signs.sign_test_p(), want, tolerance, &case.name);
    }
}

#[test]
fn the_exact_tests_agree_with_scipy() {
    for case in cases(include_str!("exact_ranks.json")) {
        let mann_whitney = mann_whitney_exact_p(&case.first, &case.second);
        let signed_rank = signed_rank_exact_p(&case.first);
        for (got, key) in [(mann_whitney, "mann_whitney"), (signed_rank, "signed_rank")] {
            // SciPy computes small tails as 1 − x, and returns 0 if they are smaller than its
            // rounding error.
            let want = case.number(key);
            let what = format!("{key} of {}", case.name);
            close(got.unwrap(), want, 1e-12 * want + 1e-15, &what);
        }
    }
}

#[test]
fn hodges_lehmann_estimates_are_the_medians_of_all_pairs_to_the_last_bit() {
    const MOST_PAIRS: usize = 1_000_000;
    let (mut one_sample, mut two_samples) = (0, 0);
    for case in all().iter().chain(&cases(include_str!("exact_ranks.json"))) {
        let (x, y) = (&case.first, &case.second);
        if x.len() * x.len() <= MOST_PAIRS {
            let averages = (0..x.len()).flat_map(|i| x[i..].iter().map(move |b| x[i].midpoint(*b)));
            let mut averages: Vec<f64> = averages.collect();
            let want = summary::median_in_place(&mut averages);
            assert_eq!(hodges_lehmann(x), want, "{}", case.name);
            one_sample += 1;
        }
        if x.len() * y.len() <= MOST_PAIRS {
            let differences = x.iter().flat_map(|a| y.iter().map(move |b| b - a));
            let mut differences: Vec<f64> = differences.collect();
            let want = summary::median_in_place(&mut differences);
            assert_eq!(hodges_lehmann_shift(x, y), want, "{}", case.name);
            two_samples += 1;
        }
    }
    assert!(one_sample >= 300 && two_samples >= 300);
}
