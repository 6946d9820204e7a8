//! Adjusted p-values against `statsmodels.stats.multitest`.

use deadheat_stats::{benjamini_hochberg, holm};
use serde_json::Value;

use crate::relatively_close;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn adjusted_p_values_agree_with_statsmodels() {
    let families: Vec<Value> = serde_json::from_str(include_str!("families.json")).unwrap();
    assert!(families.len() >= 300);
    for family in families {
        let p = numbers(&family["p"]);
        for (adjust, name) in [
            (holm as fn(&[f64]) -> Vec<f64>, "holm"),
            (benjamini_hochberg, "benjamini_hochberg"),
        ] {
            for (got, want) in adjust(&p).into_iter().zip(numbers(&family[name])) {
                relatively_close(got, want, 1e-12, &format!("{name} of {p:?}"));
            }
        }
    }
}
