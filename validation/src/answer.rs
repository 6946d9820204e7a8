//! The answer of a bench program about its races, as JSON.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    pub name: String,
    /// `faster`, `slower`, `equivalent`, `inconclusive`; `None` without one.
    pub verdict: Option<String>,
    /// `source` or `binary`.
    pub scope: String,
    /// Nanoseconds of a call of the baseline.
    pub baseline_ns: f64,
    pub change: Change,
    pub replicates: u64,
    pub own: Option<Change>,
}

/// A relative change with its interval, both in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    pub percent: f64,
    pub interval: (f64, f64),
}

impl Race {
    /// All races of an answer. `Err` names what is missing.
    pub fn all(answer: &Value) -> Result<Vec<Self>, String> {
        if let Some(failures) = answer.get("failures") {
            return Err(format!("races failed: {failures}"));
        }
        let list = answer["benchmarks"].as_array();
        let list = list.ok_or("an answer without benchmarks")?;
        list.iter().map(Self::one).collect()
    }

    fn one(value: &Value) -> Result<Self, String> {
        let name = value["benchmark"].as_str().ok_or("a race without a name")?;
        let missing = |what: &str| format!("{name}: no {what}");
        let own = &value["own_link"];
        Ok(Self {
            name: name.to_owned(),
            verdict: value["verdict"].as_str().map(str::to_owned),
            scope: value["scope"].as_str().ok_or_else(|| missing("scope"))?.to_owned(),
            baseline_ns: value["baseline"]["median"]
                .as_f64()
                .ok_or_else(|| missing("median of the baseline"))?,
            change: Change::of(value).ok_or_else(|| missing("change with an interval"))?,
            replicates: value["replicates"].as_u64().ok_or_else(|| missing("replicates"))?,
            own: match own {
                Value::Null => None,
                own => {
                    Some(Change::of(own).ok_or_else(|| missing("change as linked by the user"))?)
                }
            },
        })
    }

    pub fn is_told_apart(&self) -> bool {
        matches!(self.verdict.as_deref(), Some("faster" | "slower"))
    }

    pub fn word(&self) -> &str {
        match self.verdict.as_deref() {
            Some("equivalent") => "dead heat",
            Some("inconclusive") => "too close to call",
            Some(verdict) => verdict,
            None => "no verdict",
        }
    }
}

impl Change {
    fn of(value: &Value) -> Option<Self> {
        let end = |index: usize| Some(value["ci"].get(index)?.as_f64()? * 100.0);
        Some(Self { percent: value["change"].as_f64()? * 100.0, interval: (end(0)?, end(1)?) })
    }

    /// Returns true if the interval holds this many percent.
    pub fn covers(&self, percent: f64) -> bool {
        (self.interval.0..=self.interval.1).contains(&percent)
    }

    /// `+1.98 [+1.72, +2.24]`
    pub fn shown(&self) -> String {
        let (low, high) = self.interval;
        format!("{:+.2} [{low:+.2}, {high:+.2}]", self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Value {
        serde_json::json!({"benchmarks": [{
            "benchmark": "gcc/sum/same",
            "verdict": "equivalent",
            "scope": "source",
            "baseline": {"median": 812.5},
            "change": -0.001,
            "ci": [-0.004, 0.002],
            "replicates": 8,
            "own_link": {"change": 0.25, "ci": [0.24, 0.26]},
        }]})
    }

    #[test]
    fn an_answer_is_read_in_percent() {
        let races = Race::all(&answer()).unwrap();
        let [race] = &races[..] else {
            panic!("{races:?}");
        };
        assert_eq!(race.word(), "dead heat");
        assert_eq!(race.change.shown(), "-0.10 [-0.40, +0.20]");
        assert!(race.change.covers(0.0) && !race.change.covers(0.3));
        assert_eq!(race.own.unwrap().percent, 25.0);
        assert!(!race.is_told_apart());
    }

    #[test]
    fn what_an_answer_leaves_out_is_named() {
        let mut partial = answer();
        partial["benchmarks"][0]["own_link"] = Value::Null;
        assert_eq!(Race::all(&partial).unwrap()[0].own, None);
        partial["benchmarks"][0]["ci"] = Value::Null;
        let error = Race::all(&partial).unwrap_err();
        assert_eq!(error, "gcc/sum/same: no change with an interval");
        partial["failures"] = serde_json::json!([{"benchmark": "x"}]);
        assert!(Race::all(&partial).unwrap_err().starts_with("races failed"));
    }
}
