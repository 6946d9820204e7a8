//! One `deadheat bench` as a user would start it, and what came of it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::answer::Race;
use crate::workshop::Workshop;

pub struct Raced {
    /// From launch to end, in seconds.
    pub seconds: f64,
    /// In recorded samples, in seconds.
    pub in_samples: f64,
    pub samples: usize,
    pub rows: Vec<Race>,
}

impl Workshop {
    pub fn race(&self, words: &[&str]) -> Raced {
        let save = self.scratched("race.jsonl");
        let _ = fs::remove_file(&save);
        let began = Instant::now();
        let output = Command::new(&self.deadheat)
            .arg("bench")
            .args(words)
            .args(["-q", "--json", "--save"])
            .arg(&save)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .expect("deadheat runs");
        let seconds = began.elapsed().as_secs_f64();
        assert!(output.status.success(), "deadheat bench {words:?} failed");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer in JSON");
        let rows = Race::all(&answer).unwrap_or_else(|problem| panic!("{problem}"));
        let (in_samples, samples) = in_samples(&save);
        Raced { seconds, in_samples, samples, rows }
    }
}

fn in_samples(path: &Path) -> (f64, usize) {
    let text = fs::read_to_string(path).expect("a run file");
    let (mut ns, mut count) = (0.0, 0);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        for sample in line["samples"].as_array().into_iter().flatten() {
            // Contender, flags, exit code, iterations, and the wall time first
            // among the metrics.
            ns += sample[4].as_f64().expect("a wall time");
            count += 1;
        }
    }
    (ns / 1e9, count)
}
