//! deadheat, asked as `cargo bench` asks it.

use crate::observed::{Answer, Call, ran};
use crate::plan::Pair;
use deadheat_validation::prelude::*;

/// Races one pair at the defaults. The seconds are of the whole process.
pub fn race(program: &Path, folder: &Path, pair: Pair, seed: u64) -> Result<(Answer, f64), String> {
    let mut command = Command::new(program);
    command
        .args(["--bench", "-q", "--no-config", "--format", "json", "--seed"])
        .arg(seed.to_string())
        .args(["--exact", &pair.name()])
        .current_dir(folder);
    let ran = ran(&mut command, &[0])?;
    let answer: Value = serde_json::from_str(&ran.stdout).map_err(|error| error.to_string())?;
    Ok((read(&answer)?, ran.seconds))
}

fn read(answer: &Value) -> Result<Answer, String> {
    let races = Race::all(answer)?;
    let [race] = &races[..] else {
        return Err(format!("{} races, where one was asked for", races.len()));
    };
    Ok(Answer {
        call: match race.verdict.as_deref() {
            Some("faster") => Call::Faster,
            Some("slower") => Call::Slower,
            _ => Call::None,
        },
        said: race.word().to_owned(),
        change: race.change.percent,
        interval: Some(race.change.interval),
        more: json!({"replicates": race.replicates}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_heat_is_no_call_and_a_failure_no_answer() {
        let of = |verdict: &str| {
            read(&json!({"benchmarks": [{
                "benchmark": "std / std", "verdict": verdict, "scope": "binary",
                "baseline": {"median": 500.0}, "change": -0.02, "ci": [-0.03, -0.01],
                "replicates": 6,
            }]}))
        };
        let faster = of("faster").unwrap();
        assert_eq!((faster.call, faster.change), (Call::Faster, -2.0));
        assert_eq!(of("equivalent").unwrap().call, Call::None);
        assert_eq!(of("inconclusive").unwrap().said, "too close to call");
        let failed = json!({"failures": [{"message": "panicked"}]});
        assert!(read(&failed).unwrap_err().contains("panicked"));
    }
}
