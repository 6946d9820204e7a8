//! hyperfine: two commands, one after the other, and Welch's test over the
//! file it writes, as `scripts/welch_ttest.py` of its repository does it.

use crate::programs::{Place, Programs};
use crate::race::Race;
use crate::tools::ALPHA;
use deadheat_validation::prelude::*;

pub fn run(race: &Race, programs: &Programs, place: &Place) -> Result<Told, String> {
    let file = place.file("times.json");
    let mut command = place.command("hyperfine".as_ref());
    command.arg("--export-json").arg(&file);
    command.args(programs.busy(race));
    text_of(&mut command, &[0])?;
    let text = fs::read(&file).map_err(|error| format!("times.json: {error}"))?;
    let answer = serde_json::from_slice(&text).map_err(|error| format!("times.json: {error}"))?;
    let told = read(&answer)?;
    Ok(Told { version: programs.hyperfine().map(str::to_owned), ..told })
}

fn read(answer: &Value) -> Result<Told, String> {
    let side = |at: usize| {
        let seconds = times(&answer["results"][at]);
        let seconds = seconds.filter(|seconds| !seconds.is_empty());
        seconds.ok_or_else(|| format!("no times of command {}", at + 1))
    };
    let (first, second) = (side(0)?, side(1)?);
    let test = welch(&first, &second).ok_or("times without any spread")?;
    let mean = |seconds: &[f64]| seconds.iter().sum::<f64>() / seconds.len() as f64;
    let change = percent(mean(&second) / mean(&first));
    let p = test.p_value();
    Ok(Told {
        called: Some(Call::of(p < ALPHA, change)),
        percent: Some(change),
        p: Some(p),
        ..Told::default()
    })
}

fn times(result: &Value) -> Option<Vec<f64>> {
    let all = |list: &Value, number: fn(&Value) -> Option<f64>| -> Option<Vec<f64>> {
        list.as_array()?.iter().map(number).collect()
    };
    all(&result["times"], Value::as_f64)
        .or_else(|| all(&result["measurements"], |one| one["time_wall_clock"]["value"].as_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn welch_decides_over_the_times_of_either_version() {
        let first = [0.020, 0.021, 0.0205];
        let second = [0.030, 0.031, 0.0305];
        let old = json!({"results": [{"times": first}, {"times": second}]});
        let told = read(&old).unwrap();
        assert_eq!(told.called, Some(Call::Slower));
        assert!((told.percent.unwrap() - 48.780_487_8).abs() < 1e-6);
        let measured = |times: [f64; 3]| {
            let list =
                times.map(|time| json!({"time_wall_clock": {"value": time, "unit": "second"}}));
            json!({"measurements": list})
        };
        let new = json!({"results": [measured(first), measured(second)]});
        assert_eq!(read(&new).unwrap(), told);
        let even = json!({"results": [{"times": first}, {"times": first}]});
        assert_eq!(read(&even).unwrap().called, Some(Call::Neither));
        assert!(read(&json!({"results": []})).is_err());
    }
}
