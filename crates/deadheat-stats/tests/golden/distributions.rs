//! Distribution functions against `scipy.special`.

use deadheat_stats::dist;
use serde_json::Value;

use crate::relatively_close;

/// Each row of a table holds the arguments and then the value.
fn each_row(table: &str, function: impl Fn(&[f64]) -> f64) {
    let tables: Value = serde_json::from_str(include_str!("distributions.json")).unwrap();
    let rows = tables[table].as_array().unwrap();
    assert!(
        rows.len() >= 300,
        "{table}: {} rows are too few",
        rows.len()
    );
    for row in rows {
        let row: Vec<f64> = row
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap())
            .collect();
        let (want, arguments) = row.split_last().unwrap();
        let what = format!("{table}{arguments:?}");
        relatively_close(function(arguments), *want, 1e-10, &what);
    }
}

#[test]
fn the_t_distribution_agrees_with_scipy_for_one_to_a_million_degrees_of_freedom() {
    each_row("t_critical", |a| dist::t_critical(a[0], a[1]));
    each_row("t_two_sided_p", |a| dist::t_two_sided_p(a[0], a[1]));
    each_row("t_log_density", |a| dist::t_log_density(a[0], a[1]));
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
fn the_cumulative_binomial_distribution_agrees_with_scipy() {
    each_row("binomial_cdf", |a| {
        dist::binomial_cdf(a[0] as u64, a[1] as u64, a[2])
    });
}

#[test]
fn the_f_distribution_agrees_with_scipy_far_into_its_tails() {
    each_row("f_upper_tail", |a| dist::f_upper_tail(a[0], a[1], a[2]));
}

#[test]
fn the_chi_squared_distribution_agrees_with_scipy_far_into_its_tails() {
    each_row("chi_squared_upper_tail", |a| {
        dist::chi_squared_upper_tail(a[0], a[1])
    });
}
