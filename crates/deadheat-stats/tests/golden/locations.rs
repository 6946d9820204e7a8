//! Location, scale and the clustered error against statsmodels and NumPy.

use deadheat_stats::{Clusters, Floor, PooledEstimate, pooled_huber, summary};
use serde_json::Value;

use crate::recipe::{Case, cases};
use crate::{close, relatively_close};

/// Effects in replicates, and their reference values.
struct Located {
    name: String,
    effects: Vec<f64>,
    sizes: Vec<usize>,
    /// The largest effect in absolute value, to which rounding errors are relative.
    largest: f64,
    expected: Value,
}

impl Located {
    fn get(&self, key: &str) -> Option<f64> {
        self.expected[key].as_f64()
    }

    #[track_caller]
    fn number(&self, key: &str) -> f64 {
        self.get(key)
            .unwrap_or_else(|| panic!("{}: no {key}", self.name))
    }

    fn numbers(&self, key: &str) -> Vec<f64> {
        let list = self.expected[key].as_array().unwrap();
        list.iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn pooled(&self, floor: Floor) -> PooledEstimate {
        let clusters = Clusters::new(&self.effects, &self.sizes).unwrap();
        pooled_huber(&clusters, floor).unwrap()
    }

    /// The estimate with a clock so coarse that every block is inside the clamp.
    fn unclamped(&self) -> PooledEstimate {
        self.pooled(Floor {
            relative_tick: Some(4.0 * self.largest.max(1e-6)),
        })
    }
}

/// Nine cases written by hand, with replicates of uneven sizes, and those of the recipe.
fn all() -> Vec<Located> {
    let by_hand: Vec<Value> = serde_json::from_str(include_str!("locations.json")).unwrap();
    let by_hand = by_hand.into_iter().enumerate().map(|(number, expected)| {
        let list = |key: &str| expected[key].as_array().unwrap().clone();
        let numbers = |key: &str| list(key).into_iter().map(|x| x.as_f64().unwrap());
        located(
            format!("case {number}"),
            numbers("effects").collect(),
            numbers("sizes").map(|size| size as usize).collect(),
            expected.clone(),
        )
    });
    let by_recipe = cases(include_str!("pooled.json")).into_iter().map(|case| {
        let replicates = case.number("replicates") as usize;
        let n = case.first.len();
        let sizes = (0..replicates)
            .map(|i| n * (i + 1) / replicates - n * i / replicates)
            .collect();
        let Case {
            first, name, value, ..
        } = case;
        located(name, first, sizes, value)
    });
    by_hand.chain(by_recipe).collect()
}

fn located(name: String, effects: Vec<f64>, sizes: Vec<usize>, expected: Value) -> Located {
    let largest = effects.iter().map(|d| d.abs()).fold(0.0, f64::max);
    Located {
        name,
        effects,
        sizes,
        largest,
        expected,
    }
}

#[test]
fn the_scaled_mad_agrees_with_statsmodels() {
    for case in all() {
        let got = summary::scaled_mad(&case.effects).unwrap();
        relatively_close(got, case.number("scaled_mad"), 1e-12, &case.name);
    }
}

#[test]
fn the_huber_location_agrees_with_statsmodels() {
    for case in all() {
        // Without spread there is no scale and no reference.
        let Some(want) = case.get("huber") else {
            assert_eq!(case.pooled(Floor::default()).scale, 0.0, "{}", case.name);
            continue;
        };
        let got = case.pooled(Floor::default());
        close(got.theta, want, 1e-9 * got.scale, &case.name);
    }
}

#[test]
fn with_nothing_clamped_the_standard_error_is_the_clustered_one_of_least_squares() {
    for case in all() {
        let got = case.unclamped();
        let rounding = 1e-12 * case.largest;
        close(got.theta, case.number("mean"), rounding, &case.name);
        let want = case.number("clustered_se");
        // If the scores cancel, the error is only rounding, in the reference too.
        close(
            got.se,
            want,
            1e-12 * want + 1e-15 * case.largest,
            &case.name,
        );
        if let Some(p) = case.get("clustered_p").filter(|_| want > rounding) {
            relatively_close(got.p_value().unwrap(), p, 1e-10, &case.name);
        }
    }
}

#[test]
fn in_a_balanced_design_that_is_the_standard_deviation_of_replicate_means_over_root_p() {
    let mut balanced = 0;
    for case in all() {
        if case.sizes.iter().any(|&size| size != case.sizes[0]) {
            continue;
        }
        balanced += 1;
        let got = case.unclamped();
        // Centred first, because means of effects that differ only in the eighth digit would add
        // rounding errors.
        let centred: Vec<f64> = case.effects.iter().map(|d| d - got.theta).collect();
        let means: Vec<f64> = centred
            .chunks(case.sizes[0])
            .map(|replicate| summary::mean(replicate).unwrap())
            .collect();
        let want = summary::std_dev(&means).unwrap() / (case.sizes.len() as f64).sqrt();
        close(
            got.se,
            want,
            1e-12 * want + 1e-15 * case.largest,
            &case.name,
        );
    }
    assert!(balanced >= 100, "{balanced} balanced cases are too few");
}

#[test]
fn standard_deviation_and_quartiles_agree_with_numpy() {
    for case in all() {
        let mut effects = case.effects.clone();
        let got = summary::std_dev(&effects).unwrap();
        relatively_close(got, case.number("std_dev"), 1e-12, &case.name);
        effects.sort_by(f64::total_cmp);
        for (q, want) in [0.25, 0.5, 0.75].into_iter().zip(case.numbers("quartiles")) {
            let got = summary::quantile(&effects, q).unwrap();
            close(got, want, 1e-15 * case.largest.max(1.0), &case.name);
        }
    }
}
