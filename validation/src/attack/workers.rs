//! Workers that break down, or say what they should not, at every moment of a race.

use std::fs;

use deadheat_examples::random::SplitMix64;
use deadheat_validation::bars::Section;
use deadheat_validation::programs::text;

use crate::Setting;
use crate::victim::{at_once, left_behind, marked, run, section};

/// Races with a worker that misbehaves.
const RACES: usize = 500;

/// The faults of a worker, by the words of the worker of the tests.
const FAULTS: [&str; 16] = [
    "exit",
    "leave",
    "raise",
    "kill",
    "crash",
    "stop",
    "close-replies",
    "close-baton",
    "print",
    "print-and-raise",
    "leave-children",
    "start-child",
    "twice",
    "endless",
    "hang",
    "spin",
];

/// When.
const MOMENTS: [&str; 14] = [
    "start",
    "hello",
    "list",
    "prepare",
    "calibrate",
    "warm_up",
    "smoke",
    "input",
    "turn",
    "passed",
    "wait",
    "block",
    "bye",
    "end",
];

/// The lines that a worker may say at the wrong time, or in the wrong way.
const LINES: [&str; 18] = [
    r#"{"hello":{"protocol":2,"worker":"x","metrics":["wall_ns"]}}"#,
    r#"{"hello":{"protocol":99,"worker":"x","metrics":[]}}"#,
    r#"{"hello":{"protocol":2,"worker":"x","metrics":["wall_ns","wall_ns"]}}"#,
    r#"{"listed":{"benchmarks":[{"name":"good"},{"name":"good"}]}}"#,
    r#"{"listed":{"benchmarks":[]}}"#,
    r#"{"calibrated":{"iterations":0,"call_ns":[0]}}"#,
    r#"{"calibrated":{"iterations":18446744073709551615,"call_ns":[1e-300]}}"#,
    r#"{"calibrated":{"iterations":1,"call_ns":[1e300]}}"#,
    r#"{"warm":{"rounds":-1}}"#,
    r#"{"block":{"values":[]}}"#,
    r#"{"block":{"values":[1e308,1e308,1e308,1e308]}}"#,
    r#"{"block":{"values":[-1,0,null,"x"]}}"#,
    r#"{"failed":{"contender":99,"problem":{"peer_gone":{}}}}"#,
    r#"{"failed":{"contender":null,"problem":{"panicked":{"message":"\u001b[2J\n::error::x"}}}}"#,
    r#"{"prepared":{}}"#,
    "not JSON at all \u{1b}[2J",
    "{",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// The one lie that is no failure of a contender.
const NOTHING_LISTED: &str = r#"say@list={"listed":{"benchmarks":[]}}"#;

fn fault(random: &mut SplitMix64) -> String {
    let moment = MOMENTS[random.index_below(MOMENTS.len())];
    if random.index_below(2) == 0 {
        let line = LINES[random.index_below(LINES.len())];
        return format!("say@{moment}={line}");
    }
    let fault = FAULTS[random.index_below(FAULTS.len())];
    // Nothing to do after these, and nothing to wait for.
    match (fault, moment) {
        ("hang" | "spin" | "stop" | "endless", "start" | "hello" | "list") => {
            format!("exit@{moment}")
        }
        _ => format!("{fault}@{moment}"),
    }
}

/// Races at the same time.
const AT_ONCE: usize = 10;

/// Whatever a worker does is answered by an exit code of the table, and leaves no process.
pub fn workers(setting: &Setting) -> Section {
    let mut random = setting.random(4);
    let races = 0..setting.shop.count(RACES, 20);
    let races: Vec<(String, usize)> =
        races.map(|_| (fault(&mut random), random.index_below(2))).collect();
    let numbered: Vec<(usize, &(String, usize))> = races.iter().enumerate().collect();
    let outcome = at_once(AT_ONCE, &numbered, |(number, (fault, side))| {
        (fault.clone(), lied(setting, *number, fault, *side))
    });
    section(
        "Faulty workers",
        "Two Python workers, written from the protocol's manual, race each other. One of the two \
         workers, the baseline or the candidate, fails in one of sixteen ways or sends one of \
         eighteen wrong lines, at one of fourteen moments. deadheat must end with exit code 0 or 3 (2 if a \
         worker reports no benchmark), and no process may be left.",
        &[("races".to_owned(), outcome)],
    )
}

/// A race of a worker that has this fault with one that has none.
fn lied(setting: &Setting, number: usize, fault: &str, side: usize) -> Option<String> {
    let worker = setting.shop.root.join("crates/deadheat/tests/misbehaving_worker.py");
    let folder = setting.shop.scratched(&format!("worker-{number}"));
    fs::create_dir_all(&folder).expect("a folder");
    let quoted = fault.replace('\'', "'\\''");
    let good = format!("python3 '{}' notes", text(&worker));
    let bad = format!("{good} '{quoted}'");
    let mut sides = [good.as_str(), bad.as_str()];
    sides.rotate_left(side);
    let mark = format!("{}-worker-{number}", std::process::id());
    let race = ["bench", sides[0], sides[1], "--timeout", "1"];
    let short = ["--max-replicates", "2", "--blocks", "2", "--pin", "none"];
    let words = [&race[..], &short, &["--save", "run.jsonl"]].concat();
    // Two programs without a benchmark in common are a usage error, as the manual says.
    let allowed: &[i32] = match fault == NOTHING_LISTED {
        true => &[2],
        false => &[0, 3],
    };
    let mut finding = run(marked(setting, &folder, &mark, &words)).finding(allowed);
    let left = left_behind(&mark);
    if !left.is_empty() {
        finding.get_or_insert_with(|| format!("left behind: {}", left.join(", ")));
    }
    let _ = fs::remove_dir_all(&folder);
    finding
}
