//! Suites whose workers import once and fork for each benchmark: their order, and benchmarks that
//! crash, hang or exit in the child.

mod common;

use std::fs;
use std::path::Path;

use common::{Finished, Track};
use deadheat_testing::needs;

const OTHERS: &str = "
@deadheat.benchmark
def one(): return sum(range(100))
@deadheat.benchmark
def two(): return sum(range(200))
";

/// Replicates at most.
const MOST: usize = 6;

impl Track {
    /// Races a file of benchmarks of this text against itself.
    fn race(&self, text: &str, options: &[&str]) -> Finished {
        let text = format!(
            "import deadheat, os, signal, sys, threading, time\n{text}\ndeadheat.suite()\n"
        );
        fs::write(self.path("bench.py"), text).unwrap();
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
        let mut command = self.command();
        let sides = ["bench", "python3 bench.py", "python3 bench.py"];
        command
            .args(sides)
            .args(["--json", "--seed", "7", "--save", "run.jsonl"]);
        command.args(["--max-replicates", &MOST.to_string(), "--blocks", "2"]);
        command.args(options).env("PYTHONPATH", package);
        Finished::from(command.output().unwrap())
    }

    /// Benchmark and replicate of the blocks of the run, in their order, each replicate once.
    fn turns(&self) -> Vec<(u64, u64)> {
        let run = fs::read_to_string(self.path("run.jsonl")).unwrap();
        let lines = run.lines().map(|line| serde_json::from_str(line).unwrap());
        let block = |line: serde_json::Value| {
            let place = line.get("block")?.clone();
            Some((place[0].as_u64()?, place[1].as_u64()?))
        };
        let mut turns: Vec<(u64, u64)> = lines.filter_map(block).collect();
        turns.dedup();
        turns
    }

    fn races_in_rounds(&self) -> bool {
        let run = fs::read_to_string(self.path("run.jsonl")).unwrap();
        let header: serde_json::Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
        header["plan"]["design"]["rounds"] == true
    }
}

/// The messages of the benchmarks that failed.
fn failures_of(done: &Finished) -> Vec<String> {
    let json = done.json();
    let none = Vec::new();
    let failures = json["failures"].as_array().unwrap_or(&none).iter();
    let message = |one: &serde_json::Value| one["message"].as_str().unwrap().to_owned();
    failures.map(message).collect()
}

#[test]
fn a_replicate_of_each_benchmark_comes_before_the_next_of_any() {
    needs!("python3");
    let track = Track::new();
    let done = track.race(OTHERS, &[]);
    assert!(done.code == Some(0), "{done:?}");
    assert!(track.races_in_rounds());
    let expected: Vec<(u64, u64)> = (0..MOST as u64).flat_map(|at| [(0, at), (1, at)]).collect();
    assert_eq!(track.turns(), expected);
    // A run that is taken up goes on in rounds.
    let mut resume = track.command();
    resume.args([
        "bench",
        "--resume",
        "run.jsonl",
        "--max-replicates",
        "2",
        "--json",
    ]);
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let again = Finished::from(resume.env("PYTHONPATH", package).output().unwrap());
    assert!(again.code == Some(0), "{again:?}");
    let turns = track.turns();
    let of = |benchmark: u64| turns.iter().filter(|turn| turn.0 == benchmark).count();
    assert!(of(0) >= MOST && of(1) >= MOST, "{turns:?}");
}

#[test]
fn without_forks_each_benchmark_races_to_its_end() {
    needs!("python3");
    let track = Track::new();
    let text =
        format!("{OTHERS}\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()");
    let done = track.race(&text, &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stderr
            .contains("does not fork from one start: a thread"),
        "{done:?}"
    );
    assert!(!track.races_in_rounds());
    let expected: Vec<(u64, u64)> = [0, 1]
        .into_iter()
        .flat_map(|benchmark| (0..MOST as u64).map(move |at| (benchmark, at)))
        .collect();
    assert_eq!(track.turns(), expected);
}

/// Does something in the process of the third replicate that counts, of either side.
fn in_the_third(what: &str) -> String {
    format!(
        "
@deadheat.benchmark
def one(): return sum(range(100))
def entered():
    with open('entered', 'a') as log:
        log.write('.')
    return os.path.getsize('entered')
at = []
@deadheat.benchmark
def wild():
    if not at:
        at.append(entered())
    if at[0] > 6:
        {what}
    return sum(range(100))
@deadheat.benchmark
def two(): return sum(range(200))
"
    )
}

#[test]
fn a_child_that_crashes_exits_or_hangs_costs_its_benchmark_only() {
    needs!("python3");
    for (what, options, words) in [
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            &[][..],
            "was killed by signal 11",
        ),
        ("os._exit(5)", &[][..], "ended its process with exit code 5"),
        (
            "raise ValueError('wild')",
            &[][..],
            "raised ValueError: wild",
        ),
        (
            "time.sleep(600)",
            &["--timeout", "1s"][..],
            "did not finish within 1s",
        ),
    ] {
        let track = Track::new();
        let done = track.race(&in_the_third(what), options);
        assert_eq!(done.code, Some(3), "{what}: {done:?}");
        let failures = failures_of(&done);
        assert_eq!(failures.len(), 1, "{what}: {done:?}");
        assert!(failures[0].contains(words), "{what}: {failures:?}");
        let turns = track.turns();
        // In the run file, because the answer leaves out replicates that a busy machine disturbed.
        let replicates = |of: u64| turns.iter().filter(|turn| turn.0 == of).count();
        assert_eq!([replicates(0), replicates(2)], [MOST; 2], "{what}");
        // Those that are still open go on in rounds.
        let last = MOST as u64 - 1;
        assert_eq!(turns[turns.len() - 2..], [(0, last), (2, last)], "{what}");
    }
}

#[test]
fn a_child_leaves_nothing_behind() {
    needs!("python3");
    let track = Track::new();
    let text = "
import subprocess
@deadheat.benchmark
def one():
    if not at:
        at.append(subprocess.Popen(['sleep', '611']).pid)
        with open('left', 'a') as log:
            log.write(f'{at[0]} ')
at = []
@deadheat.benchmark
def two(): return sum(range(200))
";
    let done = track.race(text, &[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let left = fs::read_to_string(track.path("left")).unwrap();
    assert!(left.split_whitespace().count() >= 2 * MOST, "{left}");
    for process in left.split_whitespace() {
        let line = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        assert!(!line.contains("sleep"), "{process} is left");
    }
}
