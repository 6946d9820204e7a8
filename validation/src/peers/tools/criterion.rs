//! criterion: the second side against the first, saved under a name.

use crate::programs::{Place, Programs};
use crate::race::Race;
use crate::tools::ALPHA;
use deadheat_validation::prelude::*;

pub fn run(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let home = place.file("criterion");
    let mut said = String::new();
    for (side, words) in
        [("baseline", ["--save-baseline", "before"]), ("candidate", ["--baseline", "before"])]
    {
        let mut command = programs.function("criterion", race, place);
        command.arg("--bench").args(words).env("CRITERION_HOME", &home).env("PEERS_SIDE", side);
        said = text_of(&mut command, &[0])?;
    }
    let file = home.join("work/change/estimates.json");
    let estimates =
        fs::read(&file).map_err(|error| format!("no change/estimates.json: {error}"))?;
    let estimates =
        serde_json::from_slice(&estimates).map_err(|error| format!("estimates.json: {error}"))?;
    read(&said, &estimates)
}

fn read(said: &str, estimates: &Value) -> Result<Told, String> {
    let called = if said.contains("Performance has regressed") {
        Call::Slower
    } else if said.contains("Performance has improved") {
        Call::Faster
    } else if said.contains("Change within noise threshold") || said.contains("No change in") {
        Call::Neither
    } else {
        return Err(format!("no word of a change in: {said}"));
    };
    let p = said.split("(p = ").nth(1).and_then(|rest| rest.split(' ').next());
    let p: f64 = p.and_then(|p| p.parse().ok()).ok_or("no p-value beside the change")?;
    let percent = |value: &Value| value.as_f64().map(|change| change * 100.0);
    let mean = &estimates["mean"];
    let change = percent(&mean["point_estimate"]).ok_or("no point estimate of the mean")?;
    let interval = &mean["confidence_interval"];
    Ok(Told {
        called: Some(called),
        by_test: Some(Call::of(p < ALPHA, change)),
        percent: Some(change),
        interval: percent(&interval["lower_bound"]).zip(percent(&interval["upper_bound"])),
        p: Some(p),
        ..Told::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &str, p: &str, change: f64) -> Told {
        let said = format!(
            "work   time:   [20.1 µs 20.2 µs 20.3 µs]\n       change: [−0.1% +1.0% +2.1%] (p = {p} < 0.05)\n       {words}\n"
        );
        let estimates = serde_json::json!({"mean": {"point_estimate": change,
            "confidence_interval": {"lower_bound": change - 0.01, "upper_bound": change + 0.01}}});
        read(&said, &estimates).unwrap()
    }

    #[test]
    fn the_words_decide_and_the_test_stands_beside_them() {
        let regressed = told("Performance has regressed.", "0.00", 0.02);
        assert_eq!(regressed.called, Some(Call::Slower));
        assert_eq!(regressed.percent, Some(2.0));
        let noise = told("Change within noise threshold.", "0.01", -0.004);
        assert_eq!(noise.called, Some(Call::Neither));
        assert_eq!(noise.by_test, Some(Call::Faster));
        let none = told("No change in performance detected.", "0.48", 0.004);
        assert_eq!(none.by_test, Some(Call::Neither));
        assert_eq!(none.p, Some(0.48));
        assert!(read("work  time: [1 ns 1 ns 1 ns]", &Value::Null).is_err());
    }
}
