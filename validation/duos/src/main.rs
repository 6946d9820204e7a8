//! One comparison of a duo, by bench_diff or in the traditional way, in a
//! process of its own: the answer as a line of JSON.
//!
//! ```text
//! DEADHEAT_VALIDATION_DUO="2000 1 0 drawn" duos bench_diff 2000 ns
//! ```
//!
//! The numbers are rounds, percent, sigma; then the executions of each
//! function, and the unit in which bench_diff records them.

mod traditional;

use std::hint::black_box;

use bench_diff::stats_types::{AltHyp, Ci};
use bench_diff::{DiffOut, LatencyUnit, bench_diff};
use deadheat_validation::duo::Duo;
use serde_json::{Value, json};

/// At which bench_diff's test decides, and its interval holds.
const ALPHA: f64 = 0.05;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let answer = answer(&words).unwrap_or_else(|problem| {
        eprintln!("duos: {problem}");
        std::process::exit(2);
    });
    println!("{answer}");
}

fn answer(words: &[String]) -> Result<Value, String> {
    let [tool, count, unit] = words else {
        return Err("it takes a tool, a number of executions and a unit".into());
    };
    let count: usize = count.parse().map_err(|_| format!("{count} is no number of executions"))?;
    let (unit, ns) = match unit.as_str() {
        "ns" => (LatencyUnit::Nano, 1.0),
        "us" => (LatencyUnit::Micro, 1e3),
        other => return Err(format!("{other} is neither ns nor us")),
    };
    let duo = Duo::from_environment();
    let (mut f1, mut f2) = (duo.slower(), duo.quicker());
    match tool.as_str() {
        "traditional" => Ok(traditional::answer(&mut f1, &mut f2, count)),
        "bench_diff" => {
            let f1 = || {
                black_box(f1.call());
            };
            let f2 = || {
                black_box(f2.call());
            };
            Ok(of_bench_diff(&bench_diff(unit, f1, f2, count), ns))
        }
        other => Err(format!("{other} is neither traditional nor bench_diff")),
    }
}

fn of_bench_diff(out: &DiffOut, ns: f64) -> Value {
    let Ci(low, high) = out.welch_ratio_ci(ALPHA);
    json!({
        "slower": [out.median_f1() * ns, out.mean_f1() * ns],
        "quicker": [out.median_f2() * ns, out.mean_f2() * ns],
        "estimate": out.ratio_medians_f1_f2_from_lns() - 1.0,
        "ci": [low - 1.0, high - 1.0],
        "p": out.welch_ln_test(AltHyp::Ne, ALPHA).p(),
    })
}
