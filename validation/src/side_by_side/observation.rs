//! One race, as it is kept: a line of less than a hundred bytes.

use deadheat_validation::prelude::*;

words! {
    pub enum Chosen {
        Turns = "t",
        SideBySide = "s",
        /// Side by side, with the warning that turns read otherwise.
        SideBySideWithDoubt = "d",
    }
}

words! {
    pub enum Verdict {
        Faster = "f",
        Slower = "s",
        DeadHeat = "=",
        Open = "?",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub verdict: Verdict,
    pub chosen: Chosen,
    /// The change and its interval, in percent; other tools give no interval.
    pub percent: f64,
    pub interval: Option<(f64, f64)>,
    /// Seconds of the race, by the tool's own account.
    pub race_seconds: f64,
    /// Seconds from launch to exit of the tool.
    pub whole_seconds: f64,
}

const LONGEST_ERROR: usize = 160;

impl Observation {
    /// From the JSON of `deadheat run`. `Err` names what is missing.
    pub fn from_answer(answer: &Value, whole_seconds: f64) -> Result<Self, String> {
        if let Some(failures) = answer.get("failures") {
            return Err(format!("races failed: {failures}"));
        }
        let row = &answer["benchmarks"][0];
        let verdict = match row["verdict"].as_str() {
            Some("faster") => Verdict::Faster,
            Some("slower") => Verdict::Slower,
            Some("equivalent") => Verdict::DeadHeat,
            _ => Verdict::Open,
        };
        let warnings = row["warnings"].as_array().into_iter().flatten();
        let has_doubt = warnings.into_iter().any(|warning| warning["code"] == "turns-apart");
        let chosen = match (row["side_by_side"].is_object(), has_doubt) {
            (false, _) => Chosen::Turns,
            (true, false) => Chosen::SideBySide,
            (true, true) => Chosen::SideBySideWithDoubt,
        };
        let end = |index: usize| Some(row["ci"][index].as_f64()? * 100.0);
        Ok(Self {
            verdict,
            chosen,
            percent: row["change"].as_f64().ok_or("an answer without a change")? * 100.0,
            interval: Some(end(0).zip(end(1)).ok_or("an answer without an interval")?),
            race_seconds: answer["elapsed_s"].as_f64().ok_or("an answer without its time")?,
            whole_seconds,
        })
    }

    pub fn kept(outcome: &Result<Self, String>, row: &str) -> Value {
        let one = match outcome {
            Ok(one) => one,
            Err(error) => {
                let error: String = error.chars().take(LONGEST_ERROR).collect();
                return json!({"row": row, "error": error});
            }
        };
        let ends = one.interval.map(|(low, high)| [low, high].map(short));
        let [low, high] = ends.map_or([Value::Null, Value::Null], |ends| ends.map(Value::from));
        let r = json!([
            one.verdict.key(),
            one.chosen.key(),
            short(one.percent),
            low,
            high,
            hundredths(one.race_seconds),
            hundredths(one.whole_seconds),
        ]);
        json!({"row": row, "r": r})
    }

    /// From such a line; `None` for a race that failed.
    pub fn read(line: &Value) -> Option<Self> {
        let r = line["r"].as_array()?;
        let number = |at: usize| r[at].as_f64();
        Some(Self {
            verdict: Verdict::read(r[0].as_str()?)?,
            chosen: Chosen::read(r[1].as_str()?)?,
            percent: number(2)?,
            interval: number(3).zip(number(4)),
            race_seconds: number(5)?,
            whole_seconds: number(6)?,
        })
    }

    pub fn is_called(&self) -> bool {
        matches!(self.verdict, Verdict::Faster | Verdict::Slower)
    }

    pub fn is_side_by_side(&self) -> bool {
        matches!(self.chosen, Chosen::SideBySide | Chosen::SideBySideWithDoubt)
    }

    /// Returns true if the interval holds this many percent.
    pub fn covers(&self, percent: f64) -> bool {
        self.interval.is_some_and(|(low, high)| (low..=high).contains(&percent))
    }
}

/// A percentage with three decimals.
fn short(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn hundredths(seconds: f64) -> f64 {
    (seconds * 100.0).ceil() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_survives_being_kept() {
        let answer = json!({"elapsed_s": 3.25, "benchmarks": [{
            "verdict": "equivalent", "change": 0.0012, "ci": [-0.004, 0.0065],
            "side_by_side": {"alone": 0.02}, "warnings": [],
        }]});
        let one = Observation::from_answer(&answer, 3.5).unwrap();
        assert_eq!(one.chosen, Chosen::SideBySide);
        assert!(one.covers(0.6) && !one.covers(0.7) && !one.is_called());
        let line = Observation::kept(&Ok(one.clone()), "aa idle auto gzip");
        assert_eq!(
            line.to_string(),
            r#"{"r":["=","s",0.12,-0.4,0.65,3.25,3.5],"row":"aa idle auto gzip"}"#
        );
        assert_eq!(Observation::read(&line), Some(one));
    }

    #[test]
    fn a_failed_race_keeps_its_error() {
        let line = Observation::kept(&Err("exit code 3".to_owned()), "aa");
        assert_eq!(line["error"], "exit code 3");
        assert_eq!(Observation::read(&line), None);
        let failed = json!({"failures": [{"benchmark": "run"}]});
        assert!(Observation::from_answer(&failed, 1.0).is_err());
    }

    #[test]
    fn a_warning_of_turns_is_kept() {
        let answer = json!({"elapsed_s": 1.0, "benchmarks": [{
            "verdict": "inconclusive", "change": 0.0, "ci": [-0.1, 0.1],
            "side_by_side": {"alone": 0.0}, "warnings": [{"code": "turns-apart"}],
        }]});
        let one = Observation::from_answer(&answer, 1.0).unwrap();
        assert_eq!(one.chosen, Chosen::SideBySideWithDoubt);
        assert!(one.is_side_by_side());
    }
}
