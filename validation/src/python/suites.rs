//! Races of whole suites in two environments: the time of a race, and how often deadheat finds a
//! difference between a suite and itself.

use crate::cell::{BRIEF, Case, Cell, LIBRARIES, Tool};
use crate::setting::Setting;
use crate::tools::THRESHOLD;
use deadheat_validation::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite {
    pub name: &'static str,
    pub rows: u32,
    /// Seconds at most.
    pub seconds: u32,
    pub about: &'static str,
}

/// The release of cattrs that is raced against itself.
pub const CATTRS: &str = "26.1.0";

pub const SUITES: [Suite; 5] = [
    Suite {
        name: "cattrs",
        rows: 8,
        seconds: 40,
        about: "the eight `unstructure` benchmarks of cattrs' own `bench/test_attrs_collections.py`",
    },
    Suite {
        name: "odd",
        rows: 12,
        seconds: 90,
        about: "`test_odd.py`: a suite of twelve tests, five of which cannot race",
    },
    Suite {
        name: "script",
        rows: 3,
        seconds: 45,
        about: "`pyperf_functions.py`: three functions of a pyperf script",
    },
    Suite {
        name: "six_of_orjson",
        rows: 6,
        seconds: 25,
        about: "six functions of `bench_orjson.py`, orjson 3.10.11 in two environments",
    },
    Suite {
        name: "six_of_packaging",
        rows: 6,
        seconds: 25,
        about: "six functions of `bench_packaging.py`, packaging 21.3 in two environments",
    },
];

const SIX_OF_ORJSON: [&str; 6] = [
    "dumps_indented",
    "dumps_sorted",
    "dumps_dataclasses",
    "dumps_times",
    "dumps_uuids",
    "loads_numbers",
];
const SIX_OF_PACKAGING: [&str; 6] = ["parse", "show", "sort", "specify", "contains", "require"];

/// The switch that has every row start its workers.
const WITHOUT_FORKS: (&str, &str) = ("DEADHEAT_FORKS", "0");

fn arguments(suite: Suite, setting: &Setting) -> (Vec<String>, PathBuf) {
    let python = setting.tools().display().to_string();
    let pytest = |python: &Path, what: &str| {
        format!("{} -m deadheat.pytest_suite -p no:cacheprovider {what}", python.display())
    };
    let library = |name: &'static str, functions: [&str; 6]| {
        let mut arguments = vec![setting.source(&format!("bench_{name}.py")).display().to_string()];
        arguments.extend(functions.map(str::to_owned));
        for python in setting.sides(name, Case::Same) {
            arguments.extend(["--python".to_owned(), python.display().to_string()]);
        }
        arguments
    };
    let own = setting.source("");
    match suite.name {
        "cattrs" => {
            let commands =
                setting.cattrs().map(|python| pytest(python, "bench/test_attrs_collections.py"));
            let filter = "test_unstructure".to_owned();
            (commands.into_iter().chain([filter]).collect(), setting.cattrs_source())
        }
        "odd" => (vec![pytest(setting.tools(), "test_odd.py"); 2], own),
        "six_of_orjson" => (library("orjson", SIX_OF_ORJSON), own),
        "six_of_packaging" => (library("packaging", SIX_OF_PACKAGING), own),
        _ => (vec![format!("{python} pyperf_functions.py"); 2], own),
    }
}

pub fn race(cell: Cell, setting: &Setting) -> Result<Value, String> {
    let suite = SUITES.into_iter().find(|suite| suite.name == cell.subject);
    let suite = suite.ok_or("no such suite")?;
    if cell.tool == Tool::PytestBenchmark {
        return by_pytest_benchmark(setting);
    }
    let (arguments, folder) = arguments(suite, setting);
    let mut command = Command::new(&setting.workshop.deadheat);
    command.arg("bench").args(arguments);
    command.args(["-q", "--json", "--save"]);
    command.arg(setting.workshop.scratched("suite.jsonl"));
    let _ = std::fs::remove_file(setting.workshop.scratched("suite.jsonl"));
    if cell.tool == Tool::Starts {
        command.env(WITHOUT_FORKS.0, WITHOUT_FORKS.1);
    }
    if setting.workshop.quick {
        command.args(["--max-replicates", "6"]);
    }
    command.current_dir(folder).stdin(Stdio::null());
    let answer = answer_of(command)?;
    let rows = answer["benchmarks"].as_array().into_iter().flatten();
    let rows: Vec<Value> = rows
        .map(|row| {
            json!({
                "name": row["benchmark"],
                "verdict": row["verdict"].as_str().unwrap_or("none"),
                "percent": row["change"].as_f64().map(|change| change * 100.0),
            })
        })
        .collect();
    Ok(json!({"benchmarks": rows}))
}

/// Races a library's benchmarks against themselves in at most [`BRIEF`] replicates, as a row of raw
/// data: of each benchmark the verdict, the change and half the width of its interval in percent.
pub fn race_briefly(cell: Cell, setting: &Setting) -> Result<Value, String> {
    let mut command = Command::new(&setting.workshop.deadheat);
    command.arg("bench");
    command.arg(setting.source(&format!("bench_{}.py", cell.subject)));
    for python in setting.sides(cell.subject, Case::Same) {
        command.arg("--python").arg(python);
    }
    command.args(["-q", "--json", "--save", "/dev/null"]);
    command.args(["--max-replicates", &BRIEF.to_string()]);
    if cell.tool == Tool::Starts {
        command.env(WITHOUT_FORKS.0, WITHOUT_FORKS.1);
    }
    command.stdin(Stdio::null());
    let answer = answer_of(command)?;
    let rows = answer["benchmarks"].as_array().into_iter().flatten();
    let brief = |row: &Value| {
        let [low, high] = [&row["ci"][0], &row["ci"][1]].map(Value::as_f64);
        let half = low.zip(high).map(|(low, high)| (high - low) * 50.0);
        let percent = row["change"].as_f64().map(|change| change * 100.0);
        let verdict = row["verdict"].as_str().unwrap_or("none");
        json!([verdict, percent.map(short), half.map(short)])
    };
    Ok(json!({"brief": rows.map(brief).collect::<Vec<Value>>()}))
}

/// The answer of a race in JSON, or what it said instead.
fn answer_of(mut command: Command) -> Result<Value, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The eight rows by pytest-benchmark: each side once, medians held against each other.
fn by_pytest_benchmark(setting: &Setting) -> Result<Value, String> {
    let mut sides = Vec::new();
    for (number, python) in setting.cattrs().into_iter().enumerate() {
        let file = setting.workshop.scratched(&format!("cattrs-{number}.json"));
        let mut command = Command::new(python);
        command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
        command.args(["bench/test_attrs_collections.py", "-k", "test_unstructure"]);
        command.arg(format!("--benchmark-json={}", text(&file)));
        command.current_dir(setting.cattrs_source()).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let written = std::fs::read(&file).map_err(|error| error.to_string())?;
        sides.push(serde_json::from_slice::<Value>(&written).map_err(|error| error.to_string())?);
    }
    let medians = |side: &Value| -> Vec<(String, f64)> {
        let benchmarks = side["benchmarks"].as_array().into_iter().flatten();
        let one = |one: &Value| {
            Some((one["fullname"].as_str()?.to_owned(), one["stats"]["median"].as_f64()?))
        };
        benchmarks.filter_map(one).collect()
    };
    let [old, new] = [&sides[0], &sides[1]].map(medians);
    let rows: Vec<Value> = old
        .iter()
        .filter_map(|(name, baseline)| {
            let (_, candidate) = new.iter().find(|(other, _)| other == name)?;
            let percent = (candidate / baseline - 1.0) * 100.0;
            let call = Call::of(percent.abs() > THRESHOLD, percent);
            Some(json!({"name": name, "verdict": call.word(), "percent": percent}))
        })
        .collect();
    Ok(json!({"benchmarks": rows}))
}

pub fn section(rows: &[Value]) -> Section {
    let mut page = "## Suites against themselves\n\n\
        Each race compares two environments with the same packages, so every verdict of faster or \
        slower is wrong. The time of a race is from the start of `deadheat bench` to its answer. \
        The suites raced in these ways:\n\n\
        - *forks*, the default: in each replicate, one process per side imports the suite once and \
        forks for every row.\n\
        - *starts*, with `DEADHEAT_FORKS=0`: each row starts its own processes.\n"
        .to_owned();
    if Tally::of(rows, SUITES[0], Tool::PytestBenchmark).of_rows() > 0 {
        page += "- *pytest-benchmark*: runs each side once; medians more than half a percent apart \
                 count as its call.\n";
    }
    page += "\nThe suites are:\n\n";
    for suite in SUITES {
        let _ = writeln!(page, "- {}: {}.", suite.name, suite.about);
    }
    page += "\n\
        | suite | by | races | seconds of a race | rows: dead heats, too close to call, called different |\n| --- | --- | ---: | ---: | --- |\n";
    let mut bars = Vec::new();
    for suite in SUITES {
        for (tool, by) in [
            (Tool::Suite, "forks"),
            (Tool::Starts, "starts"),
            (Tool::PytestBenchmark, "pytest-benchmark"),
        ] {
            let tally = Tally::of(rows, suite, tool);
            if tally.seconds.is_empty() {
                continue;
            }
            let seconds = median(tally.seconds.clone());
            let _ = writeln!(
                page,
                "| {} | {by} | {} | {} | {}, {}, {} of {} |",
                suite.name,
                tally.seconds.len(),
                fairly(seconds, 1, tool != Tool::PytestBenchmark),
                tally.equal,
                tally.open,
                tally.apart,
                tally.of_rows(),
            );
            if tool == Tool::Suite {
                let what = format!("{}: a race of {} rows", suite.name, suite.rows);
                bars.push(Bar::at_most(what, seconds, f64::from(suite.seconds), 1, "s"));
            }
        }
    }
    for (tool, by) in [(Tool::Suite, "forks"), (Tool::Starts, "starts of their own")] {
        let mut all = Tally::default();
        for suite in SUITES {
            let one = Tally::of(rows, suite, tool);
            all.equal += one.equal;
            all.open += one.open;
            all.apart += one.apart;
        }
        if all.of_rows() > 0 {
            let what = format!("rows of suites against themselves, by {by}: called different");
            bars.push(Bar::false_verdicts(what, all.apart, all.of_rows()));
        }
        if all.of_rows() > 0 && tool == Tool::Suite {
            let what = "rows of suites against themselves: dead heats";
            bars.push(Bar::share(what, all.equal, all.of_rows(), 0.8));
        }
    }
    page += &forks_and_starts(rows, &mut bars);
    Section { text: page + "\n", bars }
}

/// Compares races whose rows fork from one start with races whose rows start their own workers.
fn forks_and_starts(rows: &[Value], bars: &mut Vec<Bar>) -> String {
    let mut page = format!(
        "\nThe next table compares forks with starts. Ten benchmarks of packaging {} and ten of \
         orjson {} raced against a second environment of the same version, in at most {BRIEF} \
         replicates. The half-width is half the width of the 95% confidence interval, in \
         percentage points.\n\n\
         | by | rows | called different | dead heats | half-width, median | error of the estimate, median | seconds of a race |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        LIBRARIES[0].old, LIBRARIES[1].old
    );
    for (tool, by) in [(Tool::Suite, "forks"), (Tool::Starts, "starts")] {
        let key = Case::Brief.key();
        let races = || {
            let fits = move |row: &&Value| row["tool"] == tool.key() && row["case"] == key;
            rows.iter().filter(fits)
        };
        let all: Vec<&Value> =
            races().flat_map(|race| race["brief"].as_array().into_iter().flatten()).collect();
        if all.is_empty() {
            continue;
        }
        let called = |words: &[&str]| {
            let is_so = |row: &&&Value| row[0].as_str().is_some_and(|word| words.contains(&word));
            all.iter().filter(is_so).count()
        };
        let apart = called(&["faster", "slower"]);
        let middle = |at: usize| {
            let numbers = all.iter().filter_map(|row| row[at].as_f64());
            let numbers: Vec<f64> = numbers.map(f64::abs).collect();
            up(median(numbers), 2)
        };
        let seconds = races().filter_map(|race| race["seconds"].as_f64());
        let _ = writeln!(
            page,
            "| {by} | {} | {apart} | {} | {} | {} | {} |",
            all.len(),
            called(&["equivalent"]),
            middle(2),
            middle(1),
            up(median(seconds.collect::<Vec<f64>>()), 1),
        );
        let what = format!("rows of libraries against themselves, by {by}: called different");
        bars.push(Bar::false_verdicts(what, apart, all.len()));
    }
    page
}

#[derive(Debug, Default)]
struct Tally {
    seconds: Vec<f64>,
    equal: usize,
    open: usize,
    apart: usize,
}

impl Tally {
    fn of(rows: &[Value], suite: Suite, tool: Tool) -> Self {
        let cell = Cell { tool, subject: suite.name, case: Case::Same };
        let mut tally = Self::default();
        for row in rows {
            let fits = cell.is_of(row);
            let Some(benchmarks) = row["benchmarks"].as_array().filter(|_| fits) else {
                continue;
            };
            tally.seconds.extend(row["seconds"].as_f64());
            for benchmark in benchmarks {
                match benchmark["verdict"].as_str() {
                    Some("equivalent" | "neither") => tally.equal += 1,
                    Some("faster" | "slower") => tally.apart += 1,
                    _ => tally.open += 1,
                }
            }
        }
        tally
    }

    fn of_rows(&self) -> usize {
        self.equal + self.open + self.apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_suite_and_by_tool() {
        let row = |tool: &str, seconds: f64, verdicts: &[&str]| {
            let rows: Vec<Value> =
                verdicts.iter().map(|verdict| json!({"verdict": verdict})).collect();
            json!({"tool": tool, "subject": "cattrs", "case": "same", "seconds": seconds, "benchmarks": rows})
        };
        let rows = [
            row("deadheat suite", 20.0, &["equivalent", "inconclusive", "slower"]),
            row("deadheat suite", 25.25, &["equivalent", "equivalent", "none"]),
            row("deadheat suite", 30.0, &[]),
            row("pytest-benchmark", 9.0, &["neither", "faster"]),
        ];
        let section = section(&rows);
        for line in
            ["| forks | 3 | 25.3 | 3, 2, 1 of 6 |", "| pytest-benchmark | 1 | 9.0 | 1, 0, 1 of 2 |"]
        {
            assert!(section.text.contains(line), "{}", section.text);
        }
        let bars: Vec<String> = section.bars.iter().map(Bar::to_string).collect();
        assert_eq!(bars.len(), 3, "{bars:?}");
        assert!(bars[0].contains("at most 40 s") && bars[1].contains("1 of 6"), "{bars:?}");
    }
}
