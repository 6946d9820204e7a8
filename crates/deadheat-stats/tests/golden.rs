//! The crate against SciPy and statsmodels, at the tolerances the specification states.
//!
//! The reference values are written by `tests/golden/make_golden.py`, whose head says how to run it.

use deadheat_stats::{
    Clusters, Floor, benjamini_hochberg, dist, holm, pooled_huber, signed_rank_asymptotic_p,
    signed_rank_exact_p, summary,
};
use serde_json::Value;

fn distributions() -> Value {
    serde_json::from_str(include_str!("golden/distributions.json")).unwrap()
}

fn locations() -> Vec<Value> {
    serde_json::from_str(include_str!("golden/locations.json")).unwrap()
}

fn families() -> Vec<Value> {
    serde_json::from_str(include_str!("golden/families.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[track_caller]
fn relatively_close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!(
        (got - want).abs() <= tolerance * want.abs(),
        "{what}: {got:e} is not {want:e}"
    );
}

#[track_caller]
fn close(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!(
        (got - want).abs() <= tolerance,
        "{what}: {got:e} is not {want:e}"
    );
}

/// Each row of a table holds the arguments and, last, the value.
fn each_row(table: &str, function: impl Fn(&[f64]) -> f64) {
    for row in distributions()[table].as_array().unwrap() {
        let row = numbers(row);
        let (want, arguments) = row.split_last().unwrap();
        relatively_close(
            function(arguments),
            *want,
            1e-10,
            &format!("{table}{arguments:?}"),
        );
    }
}

#[test]
fn the_t_distribution_agrees_with_scipy_for_one_to_a_million_degrees_of_freedom() {
    each_row("t_critical", |a| dist::t_critical(a[0], a[1]));
    each_row("t_quantile", |a| dist::t_quantile(a[0], a[1]));
    each_row("t_two_sided_p", |a| dist::t_two_sided_p(a[0], a[1]));
}

#[test]
fn the_normal_distribution_agrees_with_scipy_down_to_its_last_tail() {
    each_row("normal_cdf", |a| dist::normal_cdf(a[0]));
    each_row("normal_quantile", |a| dist::normal_quantile(a[0]));
}

#[test]
fn the_binomial_test_agrees_with_scipy() {
    each_row("binomial_two_sided_p", |a| {
        dist::binomial_two_sided_p(a[0] as u64, a[1] as u64, a[2])
    });
}

#[test]
fn the_scaled_mad_agrees_with_statsmodels() {
    for case in locations() {
        let got = summary::scaled_mad(&numbers(&case["effects"])).unwrap();
        relatively_close(got, number(&case["scaled_mad"]), 1e-12, "scaled MAD");
    }
}

#[test]
fn the_huber_location_agrees_with_statsmodels() {
    for case in locations() {
        let effects = numbers(&case["effects"]);
        let got = pooled_huber(&Clusters::singletons(&effects), Floor::default()).unwrap();
        close(got.theta, number(&case["huber"]), 1e-9, "Huber location");
    }
}

#[test]
fn with_nothing_clamped_the_standard_error_is_the_clustered_one_of_least_squares() {
    for case in locations() {
        let effects = numbers(&case["effects"]);
        let sizes: Vec<usize> = numbers(&case["sizes"])
            .iter()
            .map(|&size| size as usize)
            .collect();
        // A clock this coarse puts every block inside the clamp.
        let floor = Floor {
            relative_tick: Some(100.0),
        };
        let got = pooled_huber(&Clusters::new(&effects, &sizes).unwrap(), floor).unwrap();
        relatively_close(got.theta, number(&case["mean"]), 1e-12, "mean");
        relatively_close(
            got.se,
            number(&case["clustered_se"]),
            1e-12,
            "clustered standard error",
        );
        relatively_close(
            got.p_value().unwrap(),
            number(&case["clustered_p"]),
            1e-10,
            "clustered p",
        );
    }
}

#[test]
fn in_a_balanced_design_that_is_the_standard_deviation_of_replicate_means_over_root_p() {
    for case in locations() {
        let effects = numbers(&case["effects"]);
        let sizes: Vec<usize> = numbers(&case["sizes"])
            .iter()
            .map(|&size| size as usize)
            .collect();
        if sizes.iter().any(|&size| size != sizes[0]) {
            continue;
        }
        let clusters = Clusters::new(&effects, &sizes).unwrap();
        let got = pooled_huber(
            &clusters,
            Floor {
                relative_tick: Some(100.0),
            },
        )
        .unwrap();
        // Centred first: means of effects that differ in the eighth digit only would carry rounding of their own.
        let centred: Vec<f64> = effects.iter().map(|d| d - got.theta).collect();
        let means: Vec<f64> = centred
            .chunks(sizes[0])
            .map(|replicate| summary::mean(replicate).unwrap())
            .collect();
        let want = summary::std_dev(&means).unwrap() / (sizes.len() as f64).sqrt();
        relatively_close(got.se, want, 1e-12, "balanced standard error");
    }
}

#[test]
fn standard_deviation_and_quartiles_agree_with_numpy() {
    for case in locations() {
        let mut effects = numbers(&case["effects"]);
        relatively_close(
            summary::std_dev(&effects).unwrap(),
            number(&case["std_dev"]),
            1e-12,
            "sd",
        );
        effects.sort_by(f64::total_cmp);
        for (q, want) in [0.25, 0.5, 0.75]
            .into_iter()
            .zip(numbers(&case["quartiles"]))
        {
            close(
                summary::quantile(&effects, q).unwrap(),
                want,
                1e-15,
                "quartile",
            );
        }
    }
}

#[test]
fn the_signed_rank_test_agrees_with_scipy() {
    for case in locations() {
        let effects = numbers(&case["effects"]);
        if let Some(exact) = case["signed_rank_exact"].as_f64() {
            relatively_close(
                signed_rank_exact_p(&effects).unwrap(),
                exact,
                1e-12,
                "exact",
            );
        }
        let asymptotic = number(&case["signed_rank_asymptotic"]);
        relatively_close(
            signed_rank_asymptotic_p(&effects).unwrap(),
            asymptotic,
            1e-9,
            "asymptotic",
        );
    }
}

#[test]
fn adjusted_p_values_agree_with_statsmodels() {
    for case in families() {
        let p = numbers(&case["p"]);
        for (got, want) in holm(&p).into_iter().zip(numbers(&case["holm"])) {
            relatively_close(got, want, 1e-12, "Holm");
        }
        for (got, want) in benjamini_hochberg(&p)
            .into_iter()
            .zip(numbers(&case["benjamini_hochberg"]))
        {
            relatively_close(got, want, 1e-12, "Benjamini-Hochberg");
        }
    }
}
