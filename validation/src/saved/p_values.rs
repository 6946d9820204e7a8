//! The question whether `--compat` says what `compare.py` says, to the last digit that matters.

use std::process::{Command, Stdio};

use deadheat_validation::bars::{Bar, Section};
use deadheat_validation::google_compare::COMPARE;
use serde_json::Value;

use crate::Setting;
use deadheat_validation::google_benchmark_files::Shape;

/// As far as the p-values may lie from those of scipy.
const TOLERANCE: f64 = 1e-9;

pub fn section(setting: &Setting) -> Section {
    let mut text = "## p-values\n\nThe dumps of `compare.py` and of `deadheat compare --compat` for the same files, with and without ties: \
                    every p-value of the U test, of the time and of the CPU time, and every other number.\n\n"
        .to_owned();
    if !setting.peer {
        text += "`compare.py` does not run here (Debian's libbenchmark-tools, scipy).\n\n";
        return Section {
            text,
            bars: Vec::new(),
        };
    }
    let (mut compared, mut furthest, mut differing) = (0, 0.0_f64, 0);
    for repetitions in [2, 3, 5, 8, 9, 12, 30, setting.count(200, 50)] {
        for ties in [false, true] {
            let shape = |seed, repetitions| Shape {
                benchmarks: 20,
                repetitions,
                slower: 0.002,
                ties,
                seed,
            };
            let old = setting.file(shape(5, repetitions), "old.json");
            let new = setting.file(shape(6, repetitions + 1), "new.json");
            let dump = |program: &str, words: &[&str]| -> Value {
                let path = setting.scratched("dump.json");
                let status = Command::new(program)
                    .args(words)
                    .args(["-d", crate::text(&path), "benchmarks"])
                    .args([&old, &new])
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .status();
                assert!(status.expect("it starts").success(), "{program} {words:?}");
                let dumped = std::fs::read(&path).expect("a dump");
                serde_json::from_slice(&dumped).expect("JSON")
            };
            let theirs = dump("python3", &[COMPARE]);
            let ours = dump(setting.deadheat(), &["compare", "--compat"]);
            let (theirs, ours) = (numbers(&theirs), numbers(&ours));
            assert_eq!(theirs.len(), ours.len(), "the dumps have other shapes");
            for ((place, theirs), (_, ours)) in theirs.iter().zip(&ours) {
                if place.contains("pvalue") {
                    compared += 1;
                    furthest = furthest.max((theirs - ours).abs());
                } else if (theirs - ours).abs() > 1e-12 * theirs.abs() {
                    differing += 1;
                }
            }
        }
    }
    text += &format!(
        "Of {compared} p-values the furthest lies {furthest:.1e} from that of `compare.py`; {differing} other numbers differ by more than \
         1e-12 of themselves.\n\n"
    );
    Section {
        text,
        bars: vec![
            Bar::told(
                "p-values of the U test against scipy",
                format!("within {TOLERANCE:.0e}"),
                format!("{furthest:.1e} at most, of {compared}"),
                furthest <= TOLERANCE,
            ),
            Bar::told(
                "other numbers of the dump",
                "the same",
                format!("{differing} differ"),
                differing == 0,
            ),
        ],
    }
}

/// All numbers of a tree, each with its place.
fn numbers(tree: &Value) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    collect(tree, String::new(), &mut all);
    all
}

fn collect(tree: &Value, place: String, all: &mut Vec<(String, f64)>) {
    match tree {
        Value::Number(number) => all.push((place, number.as_f64().unwrap_or(f64::MAX))),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{place}[{index}]"), all);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                collect(item, format!("{place}.{key}"), all);
            }
        }
        _ => {}
    }
}
