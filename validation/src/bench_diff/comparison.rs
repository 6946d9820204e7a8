//! The findings of one comparison: times of both functions, and the words about them.

use deadheat_validation::prelude::*;

/// A median and a mean, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub median: f64,
    pub mean: f64,
}

impl Times {
    fn read(value: &Value) -> Option<Self> {
        Some(Self { median: value[0].as_f64()?, mean: value[1].as_f64()? })
    }

    /// Of a side of deadheat's answer.
    fn of_side(side: &Value) -> Option<Self> {
        Some(Self { median: side["median"].as_f64()?, mean: side["mean"].as_f64()? })
    }
}

words! {
    /// The words about which function is slower.
    pub enum Said {
        /// f1, which does more.
        Slower = "slower",
        /// f1 would be the faster one.
        Faster = "faster",
        /// That they are as fast as each other, within the margin.
        Equal = "equivalent",
        /// That one cannot tell; a test that does not reject says no more.
        Nothing = "inconclusive",
    }
}

impl Said {
    pub fn of_interval(low: f64, high: f64) -> Self {
        match () {
            () if low > 0.0 => Self::Slower,
            () if high < 0.0 => Self::Faster,
            () => Self::Nothing,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// f1, which does some percent more.
    pub slower: Times,
    /// f2.
    pub quicker: Times,
    /// The relative difference that the tool states, f1/f2 - 1, beside medians and means; `None`
    /// where it says no more than those.
    pub estimate: Option<f64>,
    /// `None` where nobody tests anything.
    pub said: Option<Said>,
    pub p: Option<f64>,
    pub replicates: Option<u64>,
}

impl Comparison {
    pub fn of_duos(answer: &Value) -> Option<Self> {
        let end = |index: usize| answer["ci"][index].as_f64();
        Some(Self {
            slower: Times::read(&answer["slower"])?,
            quicker: Times::read(&answer["quicker"])?,
            estimate: answer["estimate"].as_f64(),
            said: end(0).zip(end(1)).map(|(low, high)| Said::of_interval(low, high)),
            p: answer["p"].as_f64(),
            replicates: None,
        })
    }

    pub fn of_deadheat(answer: &Value) -> Option<Self> {
        let [race] = &answer["benchmarks"].as_array()?[..] else {
            return None;
        };
        Some(Self {
            slower: Times::of_side(&race["candidate"])?,
            quicker: Times::of_side(&race["baseline"])?,
            estimate: Some(race["change"].as_f64()?),
            said: Some(Said::read(race["verdict"].as_str()?)?),
            p: race["p_value"].as_f64(),
            replicates: race["replicates"].as_u64(),
        })
    }

    pub fn medians(&self) -> f64 {
        self.slower.median / self.quicker.median - 1.0
    }

    pub fn means(&self) -> f64 {
        self.slower.mean / self.quicker.mean - 1.0
    }

    pub fn write(&self) -> Value {
        let pair = |times: Times| json!([short(times.median), short(times.mean)]);
        let mut value = json!({"f1": pair(self.slower), "f2": pair(self.quicker)});
        let mut put = |key: &str, what: Option<Value>| {
            if let Some(what) = what {
                value[key] = what;
            }
        };
        put("estimate", self.estimate.map(|it| json!(short(it))));
        put("said", self.said.map(|it| json!(it.key())));
        put("p", self.p.map(|it| json!(short(it))));
        put("replicates", self.replicates.map(|it| json!(it)));
        value
    }

    pub fn read(value: &Value) -> Option<Self> {
        Some(Self {
            slower: Times::read(&value["f1"])?,
            quicker: Times::read(&value["f2"])?,
            estimate: value["estimate"].as_f64(),
            said: value["said"].as_str().and_then(Said::read),
            p: value["p"].as_f64(),
            replicates: value["replicates"].as_u64(),
        })
    }
}

/// Seven digits, which is more than any of these are worth.
pub fn short(value: f64) -> f64 {
    format!("{value:.6e}").parse().expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_all_tools_are_read_and_kept() {
        let traditional = json!({"slower": [110.0, 112.0], "quicker": [100.0, 100.0]});
        let traditional = Comparison::of_duos(&traditional).unwrap();
        assert!((traditional.medians() - 0.10).abs() < 1e-12);
        assert!((traditional.means() - 0.12).abs() < 1e-12);
        assert_eq!((traditional.said, traditional.estimate), (None, None));

        let bench_diff = json!({
            "slower": [101.0, 102.0], "quicker": [100.0, 100.0],
            "estimate": 0.01, "ci": [0.002, 0.018], "p": 0.03,
        });
        let bench_diff = Comparison::of_duos(&bench_diff).unwrap();
        assert_eq!(bench_diff.said, Some(Said::Slower));

        let deadheat = json!({"benchmarks": [{
            "baseline": {"median": 100.0, "mean": 103.0},
            "candidate": {"median": 101.0, "mean": 101.0},
            "change": 0.0101, "verdict": "slower", "p_value": 1e-9, "replicates": 6,
        }]});
        let deadheat = Comparison::of_deadheat(&deadheat).unwrap();
        assert_eq!((deadheat.said, deadheat.replicates), (Some(Said::Slower), Some(6)));
        assert!(deadheat.means() < 0.0 && deadheat.medians() > 0.0);

        for one in [traditional, bench_diff, deadheat] {
            assert_eq!(Comparison::read(&one.write()), Some(one));
        }
    }

    #[test]
    fn an_interval_says_something_only_where_it_leaves_out_zero() {
        assert_eq!(Said::of_interval(-0.02, -0.01), Said::Faster);
        assert_eq!(Said::of_interval(-0.02, 0.01), Said::Nothing);
        assert_eq!(Said::of_interval(0.0, 0.01), Said::Nothing);
    }

    #[test]
    fn an_answer_without_a_verdict_is_no_comparison() {
        assert_eq!(Comparison::of_deadheat(&json!({"benchmarks": []})), None);
        let unknown = json!({"benchmarks": [{"verdict": null}]});
        assert_eq!(Comparison::of_deadheat(&unknown), None);
    }
}
