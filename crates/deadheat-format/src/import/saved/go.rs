//! The text that Go's `testing` prints, the input of `benchstat`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use deadheat_model::{
    Better, Identity, Metric, QualifierPlace, QualifierShown, ResultBenchmark, ResultFacts,
    ResultState, Results, Unit,
};

use super::json::{Number, without_mark};
use super::rows::Rows;
use crate::error::FileProblem;

/// Keys of configuration lines that tell benchmarks apart. Whatever a program
/// prints may look like such a line, so there must be an end to them.
const MOST_KEYS: usize = 32;

/// Reads the lines of the Go benchmark format; others are passed over. What one process printed
/// begins with its header (`goos:`, `pkg:`) or behind the `PASS`, `FAIL` or `ok` of the one before.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let mut reader = Reader::default();
    let mut before = Cow::Borrowed("");
    let mut lines = 0;
    for line in without_mark(text).split(|byte| *byte == b'\n') {
        lines += 1;
        let line = String::from_utf8_lossy(line);
        let parsed = parse(&line).map_err(|problem| FileProblem::at(lines, problem))?;
        reader.take(parsed, &line, &before);
        before = line;
    }
    if reader.groups.is_empty() && reader.faults.is_empty() {
        let problem = "none of them is the result of a benchmark, \
                       such as 'BenchmarkSort-8 1000 2045 ns/op'";
        let place = format!("lines 1 to {lines}");
        return Err(FileProblem::at(place, problem));
    }
    Ok(reader.results())
}

/// The configuration that was in force at a line.
type Config = BTreeMap<Rc<str>, Rc<str>>;

#[derive(Default)]
struct Reader {
    config: Rc<Config>,
    /// The configurations that results were seen under.
    known: HashMap<Rc<Config>, usize>,
    directions: Directions,
    /// Counts processes in the order of the file.
    section: usize,
    /// This process has printed a result.
    begun: bool,
    groups: Vec<Group>,
    places: HashMap<(Rc<str>, usize), usize>,
    faults: Vec<Fault>,
    /// The line before was a fault that had not said why.
    awaits_reason: bool,
    /// The line before was what a fault said.
    gave_reason: bool,
}

/// The results of one name under one configuration.
struct Group {
    name: Rc<str>,
    config: Rc<Config>,
    sections: Vec<usize>,
    columns: Vec<Column>,
    by_unit: HashMap<String, usize>,
    /// The number of faults before it.
    faults_before: usize,
}

/// The values of one unit. Results of a name may stand in several lines, each
/// with units of its own.
struct Column {
    unit: String,
    processes: Vec<u32>,
    values: Vec<f64>,
}

/// A benchmark that failed or was skipped.
struct Fault {
    name: String,
    config: Rc<Config>,
    failed: bool,
    reason: Option<String>,
}

impl Reader {
    fn take(&mut self, parsed: Line<'_>, line: &str, before: &str) {
        let below = std::mem::take(&mut self.awaits_reason);
        let above = !std::mem::take(&mut self.gave_reason);
        match parsed {
            Line::Result { name, values } => self.result(name, values),
            Line::Config { key, value } => self.configure(key, value),
            Line::Unit(rest) => self.directions.declare(rest),
            Line::End => self.end_process(),
            Line::Fault { name, failed } => {
                // What it said stands above with -v, else below.
                let reason = indented(before).filter(|_| above);
                self.awaits_reason = reason.is_none();
                self.faults.push(Fault {
                    name: name.to_owned(),
                    config: self.config.clone(),
                    failed,
                    reason: reason.map(str::to_owned),
                });
            }
            Line::Other => {
                let said = indented(line).filter(|_| below);
                if let (Some(said), Some(fault)) = (said, self.faults.last_mut()) {
                    fault.reason = Some(said.to_owned());
                    self.gave_reason = true;
                }
            }
        }
    }

    fn configure(&mut self, key: &str, value: &str) {
        if matches!(key, "goos" | "goarch" | "pkg") {
            self.end_process();
        }
        let config = Rc::make_mut(&mut self.config);
        if value.is_empty() {
            config.remove(key);
        } else if config.contains_key(key) || config.len() < MOST_KEYS {
            config.insert(key.into(), value.into());
        }
    }

    fn end_process(&mut self) {
        self.section += usize::from(self.begun);
        self.begun = false;
    }

    fn result(&mut self, name: &str, values: Values<'_>) {
        self.begun = true;
        let next = self.known.len();
        let config = *self.known.entry(self.config.clone()).or_insert(next);
        let name: Rc<str> = name.into();
        let place = *self
            .places
            .entry((name.clone(), config))
            .or_insert(self.groups.len());
        if place == self.groups.len() {
            self.groups.push(Group {
                name,
                config: self.config.clone(),
                sections: Vec::new(),
                columns: Vec::new(),
                by_unit: HashMap::new(),
                faults_before: self.faults.len(),
            });
        }
        self.groups[place].add(self.section, values);
    }

    fn results(self) -> Results {
        let mut results = Results::new("", "Go");
        results.facts = self.facts();
        results.processes_stand_alone = self.groups.iter().any(|group| group.sections.len() > 1);
        let mut failed: BTreeMap<(Package, String), Fault> = BTreeMap::new();
        let mut order = Vec::new();
        let threads = self.common_threads();
        for fault in self.faults {
            // Only what was measured is called after the threads it ran on.
            let name = match threads {
                Some(threads) => format!("{}-{threads}", fault.name),
                None => fault.name.clone(),
            };
            let key = (package(&fault.config), name);
            order.push(key.clone());
            failed.entry(key).or_insert(fault);
        }
        let all = self.groups.iter();
        let all = all.map(|group| (package(&group.config), group.name.to_string()));
        let faults = failed.iter();
        let faults = faults.map(|((package, _), fault)| (package.clone(), fault.name.clone()));
        let all: BTreeSet<(Package, String)> = all.chain(faults).collect();
        // What fails with one of its parts says nothing more than that part.
        failed.retain(|(package, _), fault| {
            let parts = (package.clone(), format!("{}/", fault.name));
            let mut next = all.range(parts.clone()..);
            !next
                .next()
                .is_some_and(|(of, name)| *of == parts.0 && name.starts_with(&parts.1))
        });
        let mut reported = 0;
        for group in self.groups {
            while reported < group.faults_before {
                if let Some(((_, name), fault)) = failed.remove_entry(&order[reported]) {
                    results.push(fault.benchmark(&name));
                }
                reported += 1;
            }
            let key = (package(&group.config), group.name.to_string());
            let fault = failed.remove(&key).filter(|fault| fault.failed);
            results.push(group.benchmark(&self.directions, fault));
        }
        for key in &order[reported..] {
            if let Some(((_, name), fault)) = failed.remove_entry(key) {
                results.push(fault.benchmark(&name));
            }
        }
        results
    }

    fn facts(&self) -> ResultFacts {
        let get = |key: &str| self.groups.iter().find_map(|group| group.config.get(key));
        let system = match (get("goos"), get("goarch")) {
            (Some(system), Some(processor)) => Some(format!("{system} {processor}")),
            (one, other) => one.or(other).map(|known| known.to_string()),
        };
        ResultFacts {
            system,
            cpu: get("cpu").map(|cpu| cpu.to_string()),
            ..ResultFacts::default()
        }
    }

    /// The number at the end of all names, where it is the same of all.
    fn common_threads(&self) -> Option<u32> {
        let mut all = self.groups.iter().map(|group| threads(&group.name));
        let first = all.next()??;
        all.all(|threads| threads == Some(first)).then_some(first)
    }
}

/// The package that a benchmark is of, where that is told.
type Package = Option<Rc<str>>;

fn package(config: &Config) -> Package {
    config.get("pkg").cloned()
}

/// The identity of a benchmark by its name and the configuration in force. Only the package is known to
/// say which work it is; other keys may say on which machine or at which commit.
fn identity(name: &str, config: &Config) -> Identity {
    let split = name.rsplit_once('-');
    let split = split.filter(|(base, _)| !base.is_empty() && threads(name).is_some());
    let (base, threads) = split.unwrap_or((name, ""));
    let mut identity = Identity::new(base);
    if let Some(package) = package(config) {
        let (place, shown) = (QualifierPlace::Package, QualifierShown::IfSideDiffers);
        identity = identity.with("package", &*package, place, shown);
    }
    let (place, shown) = (QualifierPlace::Suffix, QualifierShown::Always);
    identity = identity.with("threads", threads, place, shown);
    for (key, value) in config.iter().filter(|(key, _)| &***key != "pkg") {
        let (place, shown) = (QualifierPlace::Setting, QualifierShown::IfFileDiffers);
        identity = identity.with(key.to_string(), &**value, place, shown);
    }
    identity
}

impl Group {
    fn add(&mut self, section: usize, values: Values<'_>) {
        if self.sections.last() != Some(&section) {
            self.sections.push(section);
        }
        let process = self.sections.len() as u32 - 1;
        for (value, unit) in values {
            let next = self.columns.len();
            let column = match self.by_unit.get(unit) {
                Some(known) => *known,
                None => {
                    self.by_unit.insert(unit.to_owned(), next);
                    self.columns.push(Column {
                        unit: unit.to_owned(),
                        processes: Vec::new(),
                        values: Vec::new(),
                    });
                    next
                }
            };
            self.columns[column].processes.push(process);
            self.columns[column].values.push(value);
        }
    }

    fn benchmark(mut self, directions: &Directions, fault: Option<Fault>) -> ResultBenchmark {
        let mut benchmark = ResultBenchmark {
            threads: threads(&self.name),
            identity: identity(&self.name, &self.config),
            ..ResultBenchmark::default()
        };
        if let Some(fault) = fault {
            benchmark.state = fault.state();
            return benchmark;
        }
        // A time comes first, and the others keep their order.
        let mut columns = self.columns.iter();
        let main = columns.position(|one| time(&one.unit).is_some());
        self.columns[..=main.unwrap_or(0)].rotate_right(1);
        let processes = &self.columns[0].processes;
        // Columns of another length are other lines: nobody says which of them belong together.
        let kept = self.columns.iter();
        let kept = kept.filter(|column| column.processes == *processes);
        let mut columns = Vec::new();
        for column in kept {
            let (metric, factor) = directions.metric(&column.unit);
            let values = column.values.iter();
            let values = values.map(|value| Number(Some(*value)).optional(factor));
            if let Some(values) = values.collect::<Option<Vec<f64>>>() {
                columns.push((metric, values));
            }
        }
        if columns.is_empty() {
            let problem = "none of its values is a finite number that is not negative";
            benchmark.state = ResultState::Failed(problem.to_owned());
            return benchmark;
        }
        let mut rows = Rows::default();
        for (row, process) in processes.iter().enumerate() {
            rows.begin(*process);
            for (metric, values) in &columns {
                rows.set(metric, values[row]);
            }
        }
        rows.give_to(&mut benchmark);
        benchmark
    }
}

impl Fault {
    fn state(self) -> ResultState {
        match (self.failed, self.reason) {
            (true, Some(reason)) => ResultState::Failed(reason),
            (true, None) => ResultState::Failed("it failed and did not say why".to_owned()),
            (false, reason) => ResultState::Skipped(reason.unwrap_or_default()),
        }
    }

    fn benchmark(self, name: &str) -> ResultBenchmark {
        ResultBenchmark {
            identity: identity(name, &self.config),
            state: self.state(),
            ..ResultBenchmark::default()
        }
    }
}

/// The `8` of `Sort/n=3-8`: how many threads of the program may run at once.
fn threads(name: &str) -> Option<u32> {
    let (_, digits) = name.rsplit_once('-')?;
    let digits = digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits);
    digits?.parse().ok()
}

/// The text of a line that a benchmark logged.
fn indented(line: &str) -> Option<&str> {
    let said = line.trim();
    let logged = line.starts_with([' ', '\t']) && !said.is_empty() && !said.starts_with("--- ");
    logged.then_some(said)
}

/// The meaning of a line.
#[derive(Debug, PartialEq)]
enum Line<'a> {
    /// A result: the name without `Benchmark`, and value and unit in turn.
    Result { name: &'a str, values: Values<'a> },
    /// `key: value`; an empty value takes the key back.
    Config { key: &'a str, value: &'a str },
    /// The rest behind the word `Unit`.
    Unit(&'a str),
    /// The last word of a process.
    End,
    /// A benchmark that failed, or else was skipped.
    Fault { name: &'a str, failed: bool },
    /// Anything else.
    Other,
}

/// Values with their units.
type Values<'a> = Vec<(f64, &'a str)>;

/// Understands a line; the error says what is wrong with the numbers of a result.
fn parse(line: &str) -> Result<Line<'_>, String> {
    let line = line.trim_end_matches('\r');
    if let Some(rest) = line.strip_prefix("Benchmark") {
        return result(rest).map_err(|problem| problem.into_owned());
    }
    if let Some(rest) = line.strip_prefix("Unit")
        && rest.starts_with([' ', '\t'])
    {
        return Ok(Line::Unit(rest));
    }
    if matches!(line, "PASS" | "FAIL") || line.starts_with("ok  \t") || line.starts_with("FAIL\t") {
        return Ok(Line::End);
    }
    Ok(fault(line).or_else(|| config(line)).unwrap_or(Line::Other))
}

/// The line of a result, after `Benchmark`. With `-v` the name stands alone as well, and whatever a
/// program prints may begin with that word: it is a result when a number follows.
fn result(rest: &str) -> Result<Line<'_>, Cow<'static, str>> {
    let mut fields = rest.split_whitespace();
    let name = if rest.starts_with(char::is_whitespace) {
        ""
    } else {
        fields.next().unwrap_or_default()
    };
    let Some(iterations) = fields.next() else {
        return Ok(Line::Other);
    };
    let numeric = iterations.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    // A word such as `Benchmarking` is prose.
    if name.starts_with(char::is_lowercase) && values(fields.clone()).is_err() || !numeric {
        return Ok(Line::Other);
    }
    if iterations.parse::<u64>().is_err() {
        return Err(format!("'{iterations}' is no number of iterations").into());
    }
    let values = values(fields)?;
    if values.is_empty() {
        return Err(format!("Benchmark{name} has no measurement").into());
    }
    let name = if name.is_empty() { "Benchmark" } else { name };
    Ok(Line::Result { name, values })
}

fn values<'a>(mut fields: impl Iterator<Item = &'a str>) -> Result<Values<'a>, Cow<'static, str>> {
    let mut values = Vec::new();
    while let Some(number) = fields.next() {
        let value: f64 = match number.parse() {
            Ok(value) => value,
            Err(_) => return Err(format!("'{number}' is no number").into()),
        };
        let Some(unit) = fields.next() else {
            return Err(format!("the number {number} has no unit").into());
        };
        let time = time(unit);
        if time.is_some_and(|factor| !(value * factor).is_finite() || value < 0.0) {
            return Err(format!("{number} {unit} is no time").into());
        }
        values.push((value, unit));
    }
    Ok(values)
}

/// `--- FAIL: BenchmarkSort`, and the same of `SKIP`.
fn fault(line: &str) -> Option<Line<'_>> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": Benchmark")?;
    let failed = match word {
        "FAIL" => true,
        "SKIP" => false,
        _ => return None,
    };
    let name = rest.split_whitespace().next()?;
    Some(Line::Fault { name, failed })
}

/// A key begins with a small letter and has neither capitals nor blanks; a
/// value is set off by a blank.
fn config(line: &str) -> Option<Line<'_>> {
    let (key, value) = line.split_once(':')?;
    let sound = key.starts_with(char::is_lowercase)
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    let value = value.trim_start_matches([' ', '\t']);
    (sound && apart).then_some(Line::Config { key, value })
}

/// Directions that a file declares: `Unit hits/op better=higher`.
#[derive(Debug, Default)]
struct Directions(HashMap<String, Better>);

impl Directions {
    /// Takes in what follows the word `Unit`. Of two declarations of a unit the
    /// first counts, and what is no `better=…` says nothing of its direction.
    fn declare(&mut self, line: &str) {
        let mut fields = line.split_whitespace();
        let Some(unit) = fields.next() else { return };
        let better = fields.find_map(|field| match field {
            "better=higher" => Some(Better::More),
            "better=lower" => Some(Better::Less),
            _ => None,
        });
        if let Some(better) = better {
            self.0.entry(tidy(unit).0).or_insert(better);
        }
    }

    /// The metric of a unit, and the factor to deadheat's unit. Rates are
    /// better when they are higher; of other units only a declaration tells.
    fn metric(&self, unit: &str) -> (Metric, f64) {
        if let Some(factor) = time(unit) {
            return (Metric::Wall, factor);
        }
        let (name, factor) = tidy(unit);
        let metric = match name.as_str() {
            "B/op" => Metric::AllocatedBytes,
            "allocs/op" => Metric::Allocations,
            _ => {
                let rate = name.ends_with("/s");
                let default = if rate { Better::More } else { Better::Unknown };
                let better = self.0.get(&name).copied().unwrap_or(default);
                let unit = dimension(&name);
                Metric::foreign(name, unit, better)
            }
        };
        (metric, factor)
    }
}

/// Nanoseconds in the unit, where it is that of the time of an iteration.
fn time(unit: &str) -> Option<f64> {
    match unit {
        "ns/op" => Some(1.0),
        // What programs write that bring units to their base.
        "sec/op" => Some(1e9),
        _ => None,
    }
}

/// Megabytes become bytes, in name and value.
fn tidy(unit: &str) -> (String, f64) {
    match unit.strip_prefix("MB") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (format!("B{rest}"), 1e6),
        _ => (unit.to_owned(), 1.0),
    }
}

/// The dimension that the name of a unit tells: its last word before the `/op`.
fn dimension(name: &str) -> Unit {
    if name == "B/s" {
        return Unit::BytesPerSecond;
    }
    if name.ends_with("/s") {
        return Unit::PerSecond;
    }
    let total = name.strip_suffix("/op").unwrap_or(name);
    match total.rsplit('-').next() {
        Some("ns") => Unit::Nanoseconds,
        Some("B" | "bytes") => Unit::Bytes,
        _ => Unit::Count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_the_number_at_the_end() {
        let told = [
            "Sort-8",
            "Sort/n=3-16",
            "Sort",
            "Sort-",
            "Sort-x",
            "a-99999999999",
        ];
        let expected = [Some(8), Some(16), None, None, None, None];
        assert_eq!(told.map(threads), expected);
    }

    fn error(line: &str) -> String {
        parse(line).unwrap_err()
    }

    #[test]
    fn a_result_is_a_name_iterations_and_values_with_units() {
        let parsed = parse("BenchmarkSort/n=3-8 \t 1000\t  2045 ns/op\t 1e3 B/op\r");
        let expected = Line::Result {
            name: "Sort/n=3-8",
            values: vec![(2045.0, "ns/op"), (1000.0, "B/op")],
        };
        assert_eq!(parsed, Ok(expected));
        let parsed = parse("Benchmark 1 NaN hits/op -2 x");
        let Ok(Line::Result { name, values }) = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!((name, values.len()), ("Benchmark", 2));
    }

    #[test]
    fn a_result_with_a_broken_number_is_an_error() {
        for (line, told) in [
            ("BenchmarkA 10x 5 ns/op", "'10x' is no number of iterations"),
            ("BenchmarkA -1 5 ns/op", "'-1' is no number of iterations"),
            ("BenchmarkA 10", "BenchmarkA has no measurement"),
            ("BenchmarkA 10 5", "the number 5 has no unit"),
            ("BenchmarkA 10 5,2 ns/op", "'5,2' is no number"),
            ("BenchmarkA 10 5 ns/op x B/op", "'x' is no number"),
            ("BenchmarkA 10 NaN ns/op", "NaN ns/op is no time"),
            ("BenchmarkA 10 -5 ns/op", "-5 ns/op is no time"),
            ("BenchmarkA 10 +Inf ns/op", "+Inf ns/op is no time"),
            ("BenchmarkA 10 1e305 sec/op", "1e305 sec/op is no time"),
        ] {
            assert_eq!(error(line), told, "{line}");
        }
    }

    #[test]
    fn what_only_begins_like_a_result_is_passed_over() {
        for line in [
            "BenchmarkSort",
            "BenchmarkSort-8   \t",
            "BenchmarkSort: starting",
            "Benchmarks 5 done",
            "Benchmarking 3 things took long",
            "Benchmark",
            "Benchmark of sorting",
        ] {
            assert_eq!(parse(line), Ok(Line::Other), "{line}");
        }
    }

    #[test]
    fn other_lines_are_told_apart() {
        let config = |key, value| Ok(Line::Config { key, value });
        assert_eq!(parse("pkg: a/b"), config("pkg", "a/b"));
        assert_eq!(parse("contender:"), config("contender", ""));
        assert_eq!(parse("äh: \t x: y "), config("äh", "x: y "));
        for line in [
            "Pkg: a", "a b: c", "aB: c", "a:b", ": a", "", "x", "http://a",
        ] {
            assert_eq!(parse(line), Ok(Line::Other), "{line}");
        }
        assert_eq!(
            parse("Unit x better=lower"),
            Ok(Line::Unit(" x better=lower"))
        );
        assert_eq!(parse("Units"), Ok(Line::Other));
        for line in ["PASS", "FAIL", "ok  \ta/b\t0.1s", "FAIL\ta/b\t0.1s"] {
            assert_eq!(parse(line), Ok(Line::End), "{line}");
        }
        for (line, failed) in [
            ("--- FAIL: BenchmarkA/b", true),
            ("    --- SKIP: BenchmarkA/b (0.00s)", false),
        ] {
            assert_eq!(
                parse(line),
                Ok(Line::Fault {
                    name: "A/b",
                    failed
                })
            );
        }
        assert_eq!(parse("--- BENCH: BenchmarkA"), Ok(Line::Other));
        assert_eq!(parse("--- FAIL: TestA (0.00s)"), Ok(Line::Other));
    }

    fn foreign(name: &str, unit: Unit, better: Better) -> Metric {
        Metric::foreign(name, unit, better)
    }

    #[test]
    fn units_become_metrics() {
        let told = Directions::default();
        let none = Better::Unknown;
        for (unit, metric, factor) in [
            ("ns/op", Metric::Wall, 1.0),
            ("sec/op", Metric::Wall, 1e9),
            ("B/op", Metric::AllocatedBytes, 1.0),
            ("MB/op", Metric::AllocatedBytes, 1e6),
            ("allocs/op", Metric::Allocations, 1.0),
            (
                "MB/s",
                foreign("B/s", Unit::BytesPerSecond, Better::More),
                1e6,
            ),
            (
                "hits/s",
                foreign("hits/s", Unit::PerSecond, Better::More),
                1.0,
            ),
            (
                "p99-ns/op",
                foreign("p99-ns/op", Unit::Nanoseconds, none),
                1.0,
            ),
            (
                "peak-RSS-bytes",
                foreign("peak-RSS-bytes", Unit::Bytes, none),
                1.0,
            ),
            ("MBps", foreign("MBps", Unit::Count, none), 1.0),
            ("hits/op", foreign("hits/op", Unit::Count, none), 1.0),
        ] {
            assert_eq!(told.metric(unit), (metric, factor), "{unit}");
        }
    }

    #[test]
    fn a_declared_direction_counts_and_the_first_one_stays() {
        let mut told = Directions::default();
        told.declare(" hits/op assume=exact better=higher");
        told.declare(" hits/op better=lower");
        told.declare(" MB/s better=lower");
        told.declare(" misses/s better=sideways");
        told.declare("");
        let better = |unit| told.metric(unit).0.better();
        assert_eq!(better("hits/op"), Better::More);
        assert_eq!(better("B/s"), Better::Less);
        assert_eq!(better("misses/s"), Better::More);
    }
}
