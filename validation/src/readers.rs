//! How the time of reading grows with the size of a file: each kind of file is read at a size and at ten
//! times that size, and the CPU time of the second may be twenty times that of the first. Reading all
//! names for each name would take a hundred times.
//!
//! `readers [--program PATH] [--only WORDS]`; the program is `target/release/deadheat` by default.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// The largest ratio of the two times. Ten is linear; caches and sorting add to it.
const MOST: f64 = 20.0;

/// CPU time below which a ratio says nothing: the clock of the kernel ticks a hundred times a second.
const LEAST: f64 = 0.3;

/// A kind of file.
struct Case {
    name: &'static str,
    /// Entries in the smaller of the two files.
    entries: usize,
    /// Writes a file or folder with this many entries into a folder.
    write: fn(&Path, usize),
    arguments: &'static [&'static str],
}

const TIMES: &str = r#""iterations":1,"real_time":1.0,"cpu_time":1.0,"time_unit":"ns""#;

fn joined(count: usize, separator: &str, entry: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0..count {
        if number > 0 {
            text.push_str(separator);
        }
        text.push_str(&entry(number));
    }
    text
}

fn put(folder: &Path, name: &str, content: &str) {
    fs::write(folder.join(name), content).expect("a file that can be written");
}

fn google(folder: &Path, rows: &str) {
    let content = format!(r#"{{"context":{{}},"benchmarks":[{rows}]}}"#);
    put(folder, "f", &content);
}

fn columns(folder: &Path, count: usize) {
    let header = joined(count, ",", |number| format!("c{number}"));
    put(folder, "f", &format!("benchmark,contender,wall_ns,{header}\n"));
}

fn csv_benchmarks(folder: &Path, count: usize) {
    let rows = joined(count, "", |number| format!("b{number},0,0,0,a,5\nb{number},0,0,1,b,6\n"));
    put(folder, "f", &format!("benchmark,replicate,block,slot,contender,wall_ns\n{rows}"));
}

fn csv_in_no_order(folder: &Path, count: usize) {
    let rows = |side: &str| joined(count, "", |number| format!("\"b{number}\",{side},{number}\n"));
    let (old, new) = (rows("a"), rows("b"));
    put(folder, "f", &format!("benchmark,contender,wall_ns\n{old}{new}"));
}

fn counters(folder: &Path, count: usize) {
    let counters = joined(count, ",", |number| format!("\"u{number}\":1.0"));
    let row = format!(r#"{{"name":"a","run_type":"iteration",{TIMES},{counters}}}"#);
    google(folder, &[row.as_str(), &row].join(","));
}

fn google_rows(folder: &Path, count: usize) {
    google(
        folder,
        &joined(count, ",", |number| {
            format!(r#"{{"name":"b{number}","run_type":"iteration",{TIMES}}}"#)
        }),
    );
}

fn google_old_rows(folder: &Path, count: usize) {
    google(folder, &joined(count, ",", |number| format!(r#"{{"name":"b{number}",{TIMES}}}"#)));
}

fn one_name(folder: &Path, count: usize) {
    google(
        folder,
        &joined(count, ",", |number| {
            format!(r#"{{"name":"a","run_type":"iteration","family_index":{number},{TIMES}}}"#)
        }),
    );
}

fn broken_rows(folder: &Path, count: usize) {
    google(
        folder,
        &joined(count, ",", |number| {
            format!(r#"{{"name":"a{number}","real_time":"no"}},{{"name":"a{number}",{TIMES}}}"#)
        }),
    );
}

fn failures(folder: &Path, count: usize) {
    google(
        folder,
        &joined(count, ",", |number| {
            format!(
                r#"{{"name":"b{number}","run_type":"iteration","error_occurred":true,"error_message":"e{number}"}}"#
            )
        }),
    );
}

fn hyperfine(folder: &Path, count: usize) {
    let commands = joined(count, ",", |number| {
        format!(r#"{{"command":"c{number}","mean":1.0,"times":[1.0,1.1]}}"#)
    });
    put(folder, "f", &format!(r#"{{"results":[{commands}]}}"#));
}

fn launches(folder: &Path, count: usize) {
    let times = joined(count, ",", |number| format!("1.{number}"));
    put(folder, "f", &format!(r#"{{"results":[{{"command":"a","times":[{times}]}}]}}"#));
}

fn pytest(folder: &Path, count: usize) {
    let benchmarks = joined(count, ",", |number| {
        format!(
            r#"{{"name":"b{number}","fullname":"t.py::b{number}","stats":{{"data":[1.0,2.0],"mean":1.5}}}}"#
        )
    });
    put(folder, "f", &format!(r#"{{"machine_info":{{}},"benchmarks":[{benchmarks}]}}"#));
}

fn go_benchmarks(folder: &Path, count: usize) {
    let lines = joined(count, "", |number| format!("BenchmarkB{number}-8 10 5 ns/op\n"));
    put(folder, "f", &format!("goos: linux\n{lines}"));
}

fn go_processes(folder: &Path, count: usize) {
    let process = |number| format!("goos: linux\nBenchmarkA-8 10 {number} ns/op\nPASS\n");
    put(folder, "f", &joined(count, "", process));
}

fn go_packages(folder: &Path, count: usize) {
    let event = |number| {
        let output = format!("BenchmarkA-8 10 {number} ns/op\\n");
        format!(r#"{{"Action":"output","Package":"p{number}","Output":"{output}"}}"#) + "\n"
    };
    put(folder, "f", &joined(count, "", event));
}

fn asv(folder: &Path, count: usize) {
    let results = joined(count, ",", |_| "1.0".to_owned());
    let parameters = joined(count, ",", |number| format!("\"{number}\""));
    put(
        folder,
        "f",
        &format!(
            r#"{{"commit_hash":"a","params":{{}},"version":2,"result_columns":["result","params"],"results":{{"b":[[{results}],[[{parameters}]]]}}}}"#
        ),
    );
}

fn log(folder: &Path, count: usize) {
    let google = format!(
        r#"{{"context":{{}},"benchmarks":[{{"name":"a","run_type":"iteration",{TIMES}}}]}}"#
    );
    put(folder, "f", &format!("{}{google}\n", "log\n{\n".repeat(count)));
}

fn keys(folder: &Path, count: usize) {
    let keys = joined(count, ",", |number| format!("\"k{number}\":1,\"meta\":2"));
    put(folder, "f", &format!("{{{keys}}}"));
}

fn folders(folder: &Path, count: usize) {
    let file = format!(
        r#"{{"context":{{}},"benchmarks":[{{"name":"a","run_type":"iteration",{TIMES}}}]}}"#
    );
    for (side, files) in [("old", 1), ("new", count)] {
        fs::create_dir(folder.join(side)).expect("a folder");
        for number in 0..files {
            put(&folder.join(side), &format!("{number}.json"), &file);
        }
    }
}

fn files_that_differ(folder: &Path, count: usize) {
    for side in ["old", "new"] {
        fs::create_dir(folder.join(side)).expect("a folder");
        for number in 0..count {
            let mut row = String::new();
            write!(row, r#"{{"name":"a","run_type":"iteration","iterations":1,"real_time":{number}.5,"cpu_time":1.0,"time_unit":"ns"}}"#)
                .expect("text");
            let file = format!(r#"{{"context":{{}},"benchmarks":[{row}]}}"#);
            put(&folder.join(side), &format!("{number}.json"), &file);
        }
    }
}

const ANALYZE: &[&str] = &["analyze", "f"];
const COMPARE: &[&str] = &["compare", "f", "f"];
const FOLDERS: &[&str] = &["compare", "old", "new"];

#[rustfmt::skip]
const CASES: [Case; 22] = [
    Case { name: "columns of CSV", entries: 50_000, write: columns, arguments: ANALYZE },
    Case { name: "benchmarks of CSV", entries: 5_000, write: csv_benchmarks, arguments: ANALYZE },
    Case { name: "benchmarks of CSV in no order", entries: 5_000, write: csv_in_no_order, arguments: ANALYZE },
    Case { name: "counters of Google Benchmark", entries: 1_000, write: counters, arguments: COMPARE },
    Case { name: "benchmarks of Google Benchmark", entries: 10_000, write: google_rows, arguments: COMPARE },
    Case { name: "benchmarks of old Google Benchmark", entries: 10_000, write: google_old_rows, arguments: COMPARE },
    Case { name: "benchmarks of one name", entries: 10_000, write: one_name, arguments: ANALYZE },
    Case { name: "entries that cannot be read", entries: 5_000, write: broken_rows, arguments: ANALYZE },
    Case { name: "benchmarks that failed", entries: 10_000, write: failures, arguments: COMPARE },
    Case { name: "commands of hyperfine", entries: 50_000, write: hyperfine, arguments: ANALYZE },
    Case { name: "launches of hyperfine", entries: 50_000, write: launches, arguments: ANALYZE },
    Case { name: "benchmarks of pytest-benchmark", entries: 5_000, write: pytest, arguments: ANALYZE },
    Case { name: "benchmarks of Go", entries: 5_000, write: go_benchmarks, arguments: ANALYZE },
    Case { name: "processes of Go", entries: 2_000, write: go_processes, arguments: COMPARE },
    Case { name: "packages of Go", entries: 5_000, write: go_packages, arguments: ANALYZE },
    Case { name: "combinations of asv", entries: 5_000, write: asv, arguments: ANALYZE },
    Case { name: "lines of a log", entries: 5_000, write: log, arguments: ANALYZE },
    Case { name: "keys of an object", entries: 100_000, write: keys, arguments: ANALYZE },
    Case { name: "files of one recording", entries: 3_000, write: folders, arguments: FOLDERS },
    Case { name: "files of a folder", entries: 500, write: files_that_differ, arguments: FOLDERS },
    Case { name: "benchmarks as JSON", entries: 5_000, write: csv_benchmarks, arguments: &["analyze", "--json", "f"] },
    Case { name: "benchmarks as a page", entries: 500, write: csv_benchmarks, arguments: &["report", "f", "--html", "p"] },
];

/// CPU time of the children that have ended, in clock ticks.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let fields = fields.split(' ').skip(13).take(2);
    fields.map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum()
}

/// Seconds of CPU time that the program takes for a file with this many entries.
fn seconds(program: &str, case: &Case, entries: usize, folder: &Path) -> f64 {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("a folder");
    (case.write)(folder, entries);
    let before = ticks();
    let mut command = Command::new(program);
    command.args(case.arguments).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a program that can be started");
    // A thousand times as long as is promised would be waited for otherwise.
    for _ in 0..3_000 {
        if child.try_wait().expect("a child").is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = child.kill();
    let _ = child.wait();
    (ticks() - before) as f64 / 100.0
}

fn main() -> ExitCode {
    let mut program = "target/release/deadheat".to_owned();
    let mut only = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--program" => program = value,
            "--only" => only = value,
            _ => {
                eprintln!("readers [--program PATH] [--only WORDS]");
                return ExitCode::from(2);
            }
        }
    }
    let program = fs::canonicalize(&program).expect("--program names a program");
    let program = program.to_str().expect("a path in UTF-8");
    let folder = std::env::temp_dir().join(format!("deadheat-readers-{}", std::process::id()));
    let mut missed = 0;
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let some = seconds(program, case, case.entries, &folder);
        let many = seconds(program, case, 10 * case.entries, &folder);
        let ratio = many / some.max(0.01);
        let holds = many < LEAST || ratio <= MOST;
        missed += u32::from(!holds);
        println!(
            "{}: {some:.2} s for {} entries, {many:.2} s for ten times as many, {ratio:.0}× as long: {}",
            case.name,
            case.entries,
            if holds { "held" } else { "MISSED" }
        );
    }
    let _ = fs::remove_dir_all(&folder);
    println!("{missed} missed");
    ExitCode::from(u8::from(missed > 0))
}
