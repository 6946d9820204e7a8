//! zenbench: two benchmarks of a group, as one explores and as one confirms.

use crate::programs::{Place, Programs};
use crate::race::Race;
use deadheat_validation::prelude::*;

pub fn iterate(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.function("zenbench", race, place);
    command.args(["--bench", "--format=json"]);
    read_explored(&json_of(&text_of(&mut command, &[0])?)?)
}

/// `--mode=confirm`: five processes. It ends with 1 after a regression, and
/// with 2 when it cannot tell or will not.
pub fn confirm(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let mut command = programs.function("zenbench", race, place);
    command.args(["--bench", "--format=json", "--mode=confirm", "--workload-id=work"]);
    read_confirmed(&json_of(&text_of(&mut command, &[0, 1, 2])?)?)
}

fn json_of(said: &str) -> Result<Value, String> {
    serde_json::from_str(said).map_err(|error| format!("no JSON: {error}"))
}

fn read_explored(answer: &Value) -> Result<Told, String> {
    let analysis = &answer["comparisons"][0]["analyses"][0][2];
    let number = |key: &str| analysis[key].as_f64().ok_or_else(|| format!("no {key}"));
    let percent = number("pct_change")?;
    let mean = analysis["baseline"]["mean"].as_f64();
    let mean = mean.ok_or("no mean of the baseline")?;
    let in_percent = |ns: f64| ns / mean * 100.0;
    let found = analysis["significant"].as_bool();
    Ok(Told {
        called: Some(Call::of(found.ok_or("nothing is called")?, percent)),
        percent: Some(percent),
        interval: Some((in_percent(number("ci_lower")?), in_percent(number("ci_upper")?))),
        p: Some(number("wilcoxon_p")?),
        ..Told::default()
    })
}

fn read_confirmed(answer: &Value) -> Result<Told, String> {
    let comparison = &answer["process_comparisons"][0];
    let Some(verdict) = comparison["verdict"].as_str() else {
        let unreliable = answer["unreliable"] == true;
        let why = if unreliable { "too much else was going on" } else { "no comparison" };
        return Ok(Told { refused: Some(why.to_owned()), ..Told::default() });
    };
    let number = |key: &str| comparison[key].as_f64().ok_or_else(|| format!("no {key}"));
    let interval = (number("lower_pct")?, number("upper_pct")?);
    let called = match verdict {
        "improvement" => Call::Faster,
        "regression" => Call::Slower,
        _ => Call::Neither,
    };
    Ok(Told {
        called: Some(called),
        by_test: Some(Call::of_interval(interval)),
        percent: Some(number("estimate_pct")?),
        interval: Some(interval),
        ..Told::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_exploration_is_read_by_its_flag() {
        let answer = |flag: bool, change: f64| {
            json!({"comparisons": [{"analyses": [["baseline", "candidate", {
                "baseline": {"mean": 20_000.0}, "pct_change": change, "significant": flag,
                "ci_lower": -200.0, "ci_upper": 400.0, "wilcoxon_p": 0.5}]]}]})
        };
        let told = read_explored(&answer(true, -1.5)).unwrap();
        assert_eq!(told.called, Some(Call::Faster));
        assert_eq!(told.interval, Some((-1.0, 2.0)));
        let neither = read_explored(&answer(false, 1.5)).unwrap();
        assert_eq!(neither.called, Some(Call::Neither));
        assert!(read_explored(&json!({})).is_err());
    }

    #[test]
    fn a_confirmation_may_be_below_its_margin_or_refused() {
        let answer = json!({"process_comparisons": [{"verdict": "inconclusive",
            "estimate_pct": 1.0, "lower_pct": 0.5, "upper_pct": 1.5}]});
        let told = read_confirmed(&answer).unwrap();
        assert_eq!(told.called, Some(Call::Neither));
        assert_eq!(told.by_test, Some(Call::Slower));
        let refused = read_confirmed(&json!({"unreliable": true})).unwrap();
        assert_eq!(refused.called, None);
        assert_eq!(refused.refused.unwrap(), "too much else was going on");
    }
}
