//! Files as Google Benchmark writes them, with times made up from a seed.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use deadheat_examples::random::SplitMix64;

use crate::made_run::normal;

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub benchmarks: usize,
    /// Repetitions of each, beside which it has four aggregates.
    pub repetitions: usize,
    /// Every tenth benchmark takes longer by this share.
    pub slower: f64,
    pub seed: u64,
}

const AGGREGATES: [&str; 4] = ["mean", "median", "stddev", "cv"];

impl Shape {
    pub fn write(&self, path: &Path) {
        let file = File::create(path).expect("a file");
        let mut out = BufWriter::new(file);
        out.write_all(HEAD.as_bytes()).expect("room");
        let mut random = SplitMix64::new(self.seed);
        for index in 0..self.benchmarks {
            let rows = self.benchmark(index, &mut random);
            let comma = if index + 1 < self.benchmarks { "," } else { "" };
            writeln!(out, "{rows}{comma}").expect("room");
        }
        out.write_all(b" ]\n}\n").expect("room");
        out.into_inner().expect("room");
    }

    fn benchmark(&self, index: usize, random: &mut SplitMix64) -> String {
        let (family, instance) = (index / 10, index % 10);
        let run_name = format!("BM_Family{family:04}/size:{}/real_time", 8 << instance);
        // The same for all files, from 5 ns to 5 ms.
        let mut typical = 5.0 * 1e6_f64.powf((index % 97) as f64 / 96.0);
        if index.is_multiple_of(10) {
            typical *= 1.0 + self.slower;
        }
        let real: Vec<f64> =
            (0..self.repetitions).map(|_| typical * (1.0 + 0.01 * normal(random).abs())).collect();
        let cpu: Vec<f64> =
            real.iter().map(|real| real * (1.0 - 0.0025 * normal(random).abs())).collect();
        let iterations = (5e8 / typical) as u64 + 1;
        let mut text = String::new();
        let mut row = |name: &str, kind: &str, iterations: u64, real: f64, cpu: f64| {
            let comma = if text.is_empty() { "" } else { ",\n" };
            let _ = write!(
                text,
                "{comma}  {{\n   \"name\": \"{name}\",\n   \"family_index\": {family},\n   \
                 \"per_family_instance_index\": {instance},\n   \"run_name\": \"{run_name}\",\n   \
                 {kind},\n   \"repetitions\": {},\n   \"threads\": 1,\n   \"iterations\": \
                 {iterations},\n   \"real_time\": {real:?},\n   \"cpu_time\": {cpu:?},\n   \
                 \"time_unit\": \"ns\"\n  }}",
                self.repetitions
            );
        };
        for (repetition, (real, cpu)) in real.iter().zip(&cpu).enumerate() {
            let kind =
                format!("\"run_type\": \"iteration\",\n   \"repetition_index\": {repetition}");
            row(&run_name, &kind, iterations, *real, *cpu);
        }
        let (real, cpu) = (statistics(&real), statistics(&cpu));
        for (place, aggregate) in AGGREGATES.iter().enumerate() {
            let unit = if *aggregate == "cv" { "percentage" } else { "time" };
            let kind = format!(
                "\"run_type\": \"aggregate\",\n   \"aggregate_name\": \"{aggregate}\",\n   \
                 \"aggregate_unit\": \"{unit}\""
            );
            let name = format!("{run_name}_{aggregate}");
            row(&name, &kind, self.repetitions as u64, real[place], cpu[place]);
        }
        text
    }
}

fn statistics(values: &[f64]) -> [f64; 4] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let deviation = (squares.sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    [mean, sorted[sorted.len() / 2], deviation, deviation / mean]
}

const HEAD: &str = r#"{
 "context": {
  "date": "2026-01-01T00:00:00+00:00",
  "host_name": "host",
  "executable": "./bench",
  "num_cpus": 2,
  "mhz_per_cpu": 3000,
  "cpu_scaling_enabled": false,
  "caches": [],
  "load_avg": [0.1, 0.2, 0.3],
  "library_version": "v1.9.5",
  "library_build_type": "release",
  "json_schema_version": 1
 },
 "benchmarks": [
"#;
