//! Reads the text that Go's `testing` prints, which is also the input of `benchstat`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, ResultFacts, Unit};

use serde::Deserialize;

use super::json::{Number, without_mark};
use super::rows::Rows;
use deadheat_format::FileProblem;
use deadheat_format::limits::{Allowance, refuse_many_benchmarks};

/// Maximum number of configuration keys that distinguish benchmarks. Any output of a program may
/// look like a configuration line, so their number must be limited.
const MOST_KEYS: usize = 32;

/// Estimated memory of a line in bytes, in addition to three times its length. Lines of 21 bytes
/// needed 90 bytes.
const MEMORY_OF_LINE: u64 = 32;

/// Reads the lines of the Go benchmark format and skips all others. The output of a process begins
/// with its header (`goos:`, `pkg:`), or after `PASS`, `FAIL` or `ok` of the process before.
///
/// A malformed line loses only its own numbers. A benchmark without any other line counts as
/// failed.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let mut reader = Reader::default();
    let mut before = Cow::Borrowed("");
    let mut memory = Allowance::of_memory().map_err(FileProblem::CannotRead)?;
    for line in without_mark(text).split(|byte| *byte == b'\n') {
        reader.line += 1;
        let held = memory.take(MEMORY_OF_LINE + 3 * line.len() as u64);
        held.map_err(FileProblem::CannotRead)?;
        let line = String::from_utf8_lossy(line);
        reader.take(&line, &before);
        let count = reader.groups.len() + reader.faults.len();
        refuse_many_benchmarks(count).map_err(FileProblem::CannotRead)?;
        before = line;
    }
    reader.settle(true);
    if reader.groups.is_empty() && reader.faults.is_empty() {
        if let Some((line, problem)) = reader.unread.into_iter().next() {
            return Err(FileProblem::at(line, problem));
        }
        let problem = "none of these lines is the result of a benchmark, such as 'BenchmarkSort-8 \
                       1000 2045 ns/op'; go test runs benchmarks with -bench=.";
        let place = format!("lines 1 to {}", reader.line);
        return Err(FileProblem::at(place, problem));
    }
    Ok(reader.results())
}

/// Returns true for a line that only a Go benchmark prints.
pub(super) fn is_of_benchmark(line: &[u8]) -> bool {
    if !line.starts_with(b"Benchmark") {
        return false;
    }
    match parse(&String::from_utf8_lossy(line)) {
        Line::Result { .. } | Line::Fault { .. } => true,
        Line::Begun(begun) => !begun.bare && begun.sure,
        _ => false,
    }
}

/// Joins the pieces of text in the events of `go test -json`, package by package.
pub(super) fn text_of_events(text: &[u8]) -> Vec<u8> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Event {
        package: Option<String>,
        output: Option<String>,
    }
    let mut texts: Vec<String> = Vec::new();
    let mut packages: HashMap<Option<String>, usize> = HashMap::new();
    for line in without_mark(text).split(|byte| *byte == b'\n') {
        // Lines of the compiler are not JSON.
        let Ok(event) = serde_json::from_slice::<Event>(line) else {
            continue;
        };
        let Some(output) = event.output else { continue };
        let place = *packages.entry(event.package).or_insert(texts.len());
        match texts.get_mut(place) {
            Some(text) => text.push_str(&output),
            None => texts.push(output),
        }
    }
    texts.concat().into_bytes()
}

/// The configuration in effect at a line.
type Config = BTreeMap<Rc<str>, Rc<str>>;

#[derive(Default)]
struct Reader {
    config: Rc<Config>,
    /// The configurations of the results so far, numbered.
    known: HashMap<Rc<Config>, usize>,
    directions: Directions,
    /// Index of the current process, in the order of the file.
    section: usize,
    /// True if the current process has printed a result.
    has_results: bool,
    groups: Vec<Group>,
    places: HashMap<(Rc<str>, usize), usize>,
    faults: Vec<Fault>,
    /// Number of the current line, from 1.
    line: u64,
    /// The benchmark that is running. Go prints the name when it begins and the numbers when it
    /// ends.
    begun: Option<Begun>,
    /// Lines that could not be read: their numbers and the reasons.
    unread: Vec<(u64, String)>,
    /// True if the previous line reported a failed or skipped benchmark without a reason.
    awaits_reason: bool,
    /// True if the previous line was the reason of a failed or skipped benchmark.
    gave_reason: bool,
}

/// The results of one benchmark name in one configuration.
struct Group {
    name: Rc<str>,
    config: Rc<Config>,
    sections: Vec<usize>,
    columns: Vec<Column>,
    by_unit: HashMap<String, usize>,
    faults_before: usize,
}

/// The values of one unit. A benchmark may print several lines, each with different units.
struct Column {
    unit: String,
    processes: Vec<u32>,
    values: Vec<f64>,
}

struct Fault {
    name: String,
    config: Rc<Config>,
    failed: bool,
    reason: Option<String>,
    /// The line on which the benchmark began, if it printed neither numbers nor a failure.
    unfinished: Option<u64>,
}

/// A benchmark whose numbers are not on the line of its name.
#[derive(Debug, PartialEq)]
struct Begun {
    name: String,
    line: u64,
    /// The reason why the text after the name is not a result.
    problem: Option<String>,
    /// True if only a benchmark can have printed the line, and no other code of the program.
    sure: bool,
    /// True if the line holds only the name, as with `-v`, which repeats the name with the numbers.
    bare: bool,
}

impl Begun {
    fn is_called(&self, name: &str) -> bool {
        without_threads(&self.name) == without_threads(name)
    }
}

impl Reader {
    fn take(&mut self, line: &str, before: &str) {
        let below = std::mem::take(&mut self.awaits_reason);
        let above = !std::mem::take(&mut self.gave_reason);
        let parsed = parse(line);
        if let Line::Config { .. } | Line::Other = parsed
            && let Some(begun) = self.begun.take_if(|begun| !begun.bare)
        {
            // Output of the benchmark may separate its name from its numbers.
            match numbers(&line.split_whitespace().collect::<Vec<_>>()) {
                Some(numbers) if numbers.is_timed() => return self.measured(&begun.name, numbers),
                _ => self.begun = Some(begun),
            }
        }
        match parsed {
            Line::Result { name, numbers } => {
                self.settle(false);
                self.measured(name, numbers);
            }
            Line::Begun(begun) => {
                self.settle(false);
                let line = self.line;
                self.begun = Some(Begun { line, ..begun });
            }
            Line::Config { key, value } => self.configure(key, value),
            Line::Unit(rest) => self.directions.declare(rest),
            Line::End { failed } => {
                self.settle(failed);
                let unbuilt = line.trim_end().strip_suffix(" failed]");
                if let Some((package, _)) = unbuilt.and_then(|line| line.split_once(" [")) {
                    let package = package.trim_start_matches("FAIL").trim();
                    let problem = format!("the package {package} was not built");
                    self.unread.push((self.line, problem));
                }
                self.end_process();
            }
            Line::Fault { name, failed } => {
                self.begun.take_if(|begun| begun.is_called(name));
                self.settle(false);
                // With `-v`, Go prints the reason before this line, otherwise after it.
                let above = above && !line.starts_with("Benchmark");
                let reason = indented(before).filter(|_| above);
                self.fault(name, failed, reason);
            }
            Line::Other => {
                let heading = line.starts_with("--- BENCH: ");
                self.awaits_reason = below && heading;
                let said = indented(line).filter(|_| below);
                if let (Some(said), Some(fault)) = (said, self.faults.last_mut()) {
                    fault.reason = Some(said.to_owned());
                    self.gave_reason = true;
                }
                if let (Some(begun), Some(problem)) = (&mut self.begun, crash(line)) {
                    begun.problem = Some(problem.to_owned());
                    begun.sure = true;
                }
            }
        }
    }

    fn fault(&mut self, name: &str, failed: bool, reason: Option<&str>) {
        self.awaits_reason = reason.is_none();
        self.faults.push(Fault {
            name: name.to_owned(),
            config: self.config.clone(),
            failed,
            reason: reason.map(str::to_owned),
            unfinished: None,
        });
    }

    /// Ends the running benchmark, which has not printed numbers. If its line holds only the name,
    /// the benchmark counts as unfinished only if the process failed.
    fn settle(&mut self, failed: bool) {
        let Some(begun) = self.begun.take() else {
            return;
        };
        let problem = begun
            .problem
            .unwrap_or_else(|| format!("Benchmark{} began, but printed no numbers", begun.name));
        if begun.bare && !failed {
            return;
        }
        if !begun.sure && !begun.bare {
            self.unread.push((begun.line, problem));
            return;
        }
        self.faults.push(Fault {
            name: begun.name,
            config: self.config.clone(),
            failed: true,
            reason: Some(problem),
            unfinished: Some(begun.line),
        });
    }

    fn measured(&mut self, name: &str, numbers: Numbers<'_>) {
        let unsound = numbers.values.iter().find_map(|(value, unit)| {
            let time = value * time(unit)?;
            (!time.is_finite() || *value < 0.0).then_some((*value, *unit))
        });
        match unsound {
            // A benchmark that skips itself after its first round prints NaN, because it divides by
            // 0 iterations.
            Some((value, _)) if numbers.iterations == 0 && value.is_nan() => {
                self.fault(name, false, None);
            }
            Some((value, unit)) => {
                self.begun = Some(Begun {
                    name: name.to_owned(),
                    line: self.line,
                    problem: Some(format!("{value} {unit} is not a time")),
                    sure: true,
                    bare: false,
                });
                self.settle(false);
            }
            None => {
                if let Some(problem) = numbers.behind {
                    let problem = format!("after the numbers of Benchmark{name}: {problem}");
                    self.unread.push((self.line, problem));
                }
                self.result(name, numbers.values);
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
        self.section += usize::from(self.has_results);
        self.has_results = false;
    }

    fn result(&mut self, name: &str, values: Values<'_>) {
        self.has_results = true;
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
        let mut unread = self.unread;
        let measured: BTreeSet<&str> = self.groups.iter().map(|group| &*group.name).collect();
        for fault in self.faults {
            // Go usually adds the number of threads only to the names of measured benchmarks.
            let name = match threads {
                Some(count) if self::threads(&fault.name) != threads => {
                    format!("{}-{count}", fault.name)
                }
                _ => fault.name.clone(),
            };
            let key = (package(&fault.config), name);
            order.push(key.clone());
            match fault.unfinished.filter(|_| measured.contains(&*key.1)) {
                Some(line) => unread.push((line, fault.reason.unwrap_or_default())),
                None => {
                    failed.entry(key).or_insert(fault);
                }
            }
        }
        unread.sort();
        results.unread = unread
            .into_iter()
            .map(|(line, problem)| format!("line {line}: {problem}"))
            .collect();
        let all = self.groups.iter();
        let all = all.map(|group| (package(&group.config), group.name.to_string()));
        let faults = failed.iter();
        let faults = faults.map(|((package, _), fault)| (package.clone(), fault.name.clone()));
        let all: BTreeSet<(Package, String)> = all.chain(faults).collect();
        // A benchmark that fails because of a sub-benchmark adds no information.
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
            if results.are_full() {
                return results;
            }
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

    /// Returns the number of threads at the end of all names, if it is the same in all of them.
    fn common_threads(&self) -> Option<u32> {
        let mut all = self.groups.iter().map(|group| threads(&group.name));
        let first = all.next()??;
        all.all(|threads| threads == Some(first)).then_some(first)
    }
}

type Package = Option<Rc<str>>;

fn package(config: &Config) -> Package {
    config.get("pkg").cloned()
}

/// Returns the identity for a name and the configuration in effect. Only the package certainly
/// distinguishes work; other keys may name the machine or the commit.
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
        // The time becomes the first column; the others keep their order.
        let mut columns = self.columns.iter();
        let main = columns.position(|one| time(&one.unit).is_some());
        self.columns[..=main.unwrap_or(0)].rotate_right(1);
        let processes = &self.columns[0].processes;
        // Columns of another length come from other lines, and nothing tells which values belong
        // together.
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
            (true, None) => ResultState::Failed("it failed without a message".to_owned()),
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

/// Returns the number of threads that may run at once, such as 8 for `Sort/n=3-8`.
fn threads(name: &str) -> Option<u32> {
    let (_, digits) = name.rsplit_once('-')?;
    let digits = digits.bytes().all(|b| b.is_ascii_digit()).then_some(digits);
    digits?.parse().ok()
}

fn without_threads(name: &str) -> &str {
    let threads = threads(name).and_then(|_| name.rsplit_once('-'));
    threads.map_or(name, |(name, _)| name)
}

/// Returns the message that the runtime prints when a program crashes.
fn crash(text: &str) -> Option<&str> {
    let at = ["panic: ", "fatal error: "]
        .iter()
        .find_map(|word| text.find(word));
    at.map(|at| text[at..].trim())
}

/// Returns the text of an indented line, which a benchmark logged.
fn indented(line: &str) -> Option<&str> {
    let said = line.trim();
    let logged = line.starts_with([' ', '\t']) && !said.is_empty() && !said.starts_with("--- ");
    logged.then_some(said)
}

#[derive(Debug, PartialEq)]
enum Line<'a> {
    /// A result; the name is without `Benchmark`.
    Result { name: &'a str, numbers: Numbers<'a> },
    /// The name of a benchmark without numbers.
    Begun(Begun),
    /// `key: value`; an empty value removes the key.
    Config { key: &'a str, value: &'a str },
    /// The text after the word `Unit`.
    Unit(&'a str),
    /// The last line of a process.
    End { failed: bool },
    /// A benchmark that failed, or was skipped if `failed` is false.
    Fault { name: &'a str, failed: bool },
    /// Anything else.
    Other,
}

#[derive(Debug, PartialEq)]
struct Numbers<'a> {
    iterations: u64,
    values: Values<'a>,
    /// The reason why the text after the numbers cannot be read.
    behind: Option<String>,
}

impl Numbers<'_> {
    fn is_timed(&self) -> bool {
        self.values.iter().any(|(_, unit)| time(unit).is_some())
    }
}

type Values<'a> = Vec<(f64, &'a str)>;

fn parse(line: &str) -> Line<'_> {
    let line = line.trim_end_matches('\r');
    if let Some(rest) = line.strip_prefix("Benchmark") {
        return benchmark(rest);
    }
    if let Some(rest) = line.strip_prefix("Unit")
        && rest.starts_with([' ', '\t'])
    {
        return Line::Unit(rest);
    }
    if line.starts_with("panic: ") {
        return Line::Other;
    }
    let failed = line == "FAIL" || line.starts_with("FAIL\t");
    if failed || line == "PASS" || line.starts_with("ok  \t") {
        return Line::End { failed };
    }
    fault(line).or_else(|| config(line)).unwrap_or(Line::Other)
}

/// Parses the rest of a line that begins with `Benchmark`. With `-v`, the line may hold only the
/// name, and any output of a program may begin with this word.
fn benchmark(rest: &str) -> Line<'_> {
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    if let Some(fault) = fault(after) {
        return fault;
    }
    let fields: Vec<&str> = after.split_whitespace().collect();
    // A word such as `Benchmarking` is prose.
    let prose = name.starts_with(char::is_lowercase);
    let first = fields.first().copied().unwrap_or_default();
    match numbers(&fields) {
        Some(numbers) if !prose || numbers.behind.is_none() && first.parse::<u64>().is_ok() => {
            let name = if name.is_empty() { "Benchmark" } else { name };
            return Line::Result { name, numbers };
        }
        _ if prose || name.is_empty() || name.ends_with(':') => return Line::Other,
        _ => {}
    }
    let numeric = first.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    // Go pads names with blanks and puts a tab before the numbers.
    let apart = after.trim_start_matches(' ').starts_with('\t');
    let sure = apart || threads(name).is_some() || numeric && after.contains("/op");
    if !fields.is_empty() && !sure && !numeric {
        return Line::Other;
    }
    Line::Begun(Begun {
        name: name.to_owned(),
        line: 0,
        problem: match crash(after) {
            Some(crash) => Some(crash.to_owned()),
            None => numeric.then(|| broken(name, &fields)),
        },
        sure,
        bare: fields.is_empty() && !apart,
    })
}

/// Returns the numbers of a result from the words of a line, in which other output of the program
/// may precede the numbers.
fn numbers<'a>(fields: &[&'a str]) -> Option<Numbers<'a>> {
    for (begin, iterations) in fields.iter().enumerate() {
        let Ok(iterations) = iterations.parse() else {
            continue;
        };
        let (values, behind) = values(&fields[begin + 1..]);
        let numbers = Numbers {
            iterations,
            values,
            behind,
        };
        if numbers.is_timed() || begin == 0 && !numbers.values.is_empty() {
            return Some(numbers);
        }
    }
    None
}

/// Reads pairs of values and units. Also returns the problem with the first word that does not fit.
fn values<'a>(fields: &[&'a str]) -> (Values<'a>, Option<String>) {
    let mut values = Vec::new();
    let mut fields = fields.iter();
    while let Some(number) = fields.next() {
        let Ok(value) = number.parse::<f64>() else {
            return (values, Some(format!("'{number}' is not a number")));
        };
        let is_unit = |unit: &&&str| {
            unit.parse::<f64>().is_err() && unit.contains(|c: char| c.is_alphabetic() || c == '%')
        };
        match fields.next().filter(is_unit) {
            Some(unit) => values.push((value, *unit)),
            None => return (values, Some(format!("the number {number} has no unit"))),
        }
    }
    (values, None)
}

/// Returns the problem with a line that has a number after its name.
fn broken(name: &str, fields: &[&str]) -> String {
    if fields[0].parse::<u64>().is_err() {
        return format!("'{}' is not a number of iterations", fields[0]);
    }
    let (_, problem) = values(&fields[1..]);
    problem.unwrap_or_else(|| format!("Benchmark{name} has no measurement"))
}

/// Parses `--- FAIL: BenchmarkSort` and `--- SKIP: BenchmarkSort`.
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

/// Parses a configuration line. A key begins with a lower-case letter and contains neither capital
/// letters nor blanks; a blank precedes the value.
fn config(line: &str) -> Option<Line<'_>> {
    let (key, value) = line.split_once(':')?;
    let sound = key.starts_with(char::is_lowercase)
        && !key.contains(|c: char| c.is_whitespace() || c.is_uppercase());
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    let value = value.trim_start_matches([' ', '\t']);
    (sound && apart).then_some(Line::Config { key, value })
}

/// The directions that a file declares, as in `Unit hits/op better=higher`.
#[derive(Debug, Default)]
struct Directions(HashMap<String, Better>);

impl Directions {
    /// Reads the text after the word `Unit`. The first declaration of a unit counts; only
    /// `better=…` sets a direction.
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

    /// Returns the metric of a unit and the factor to deadheat's unit. Higher rates are better; for
    /// other units, the direction is known only if it is declared.
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

/// Returns the nanoseconds in a unit of time per iteration; `None` for other units.
fn time(unit: &str) -> Option<f64> {
    match unit {
        "ns/op" => Some(1.0),
        // Programs that convert values to base units write `sec/op`.
        "sec/op" => Some(1e9),
        _ => None,
    }
}

/// Converts megabytes to bytes: returns the new unit and the factor.
fn tidy(unit: &str) -> (String, f64) {
    match unit.strip_prefix("MB") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (format!("B{rest}"), 1e6),
        _ => (unit.to_owned(), 1.0),
    }
}

/// Returns the dimension of a unit, from its last word before `/op`.
fn dimension(name: &str) -> Unit {
    if let Some(rate) = Unit::of_rate(name) {
        return rate;
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

    #[test]
    fn a_result_is_a_name_iterations_and_values_with_units() {
        let parsed = parse("BenchmarkSort/n=3-8 \t 1000\t  2045 ns/op\t 1e3 B/op\r");
        let numbers = Numbers {
            iterations: 1000,
            values: vec![(2045.0, "ns/op"), (1000.0, "B/op")],
            behind: None,
        };
        let name = "Sort/n=3-8";
        assert_eq!(parsed, Line::Result { name, numbers });
        let parsed = parse("Benchmark 1 NaN hits/op -2 x");
        let Line::Result { name, numbers } = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!((name, numbers.values.len()), ("Benchmark", 2));
    }

    #[test]
    fn numbers_are_found_behind_what_a_program_prints() {
        for (line, values, behind) in [
            ("BenchmarkA-8 \tready     100\t 50 ns/op", 1, None),
            ("BenchmarkA-8 3 workers 100 50 ns/op 2 B/op", 2, None),
            (
                "BenchmarkA-8 100 50 ns/op\tpanic: no",
                1,
                Some("'panic:' is not a number"),
            ),
            (
                "BenchmarkA 10 5 ns/op x B/op",
                1,
                Some("'x' is not a number"),
            ),
            (
                "BenchmarkA 10 5 ns/op 7",
                1,
                Some("the number 7 has no unit"),
            ),
        ] {
            let Line::Result { numbers, .. } = parse(line) else {
                panic!("{line}");
            };
            assert_eq!(numbers.values.len(), values, "{line}");
            assert_eq!(numbers.behind.as_deref(), behind, "{line}");
        }
    }

    #[test]
    fn a_benchmark_without_numbers_has_begun() {
        for (line, problem, sure, bare) in [
            ("BenchmarkSort", None, false, true),
            ("BenchmarkSort-8   \t", None, true, false),
            ("BenchmarkSort   \tlistening on :0", None, true, false),
            ("BenchmarkSort-8 listening", None, true, false),
            ("BenchmarkA \tpanic: no", Some("panic: no"), true, false),
            (
                "BenchmarkA 10x 5 ns/op",
                Some("'10x' is not a number of iterations"),
                true,
                false,
            ),
            (
                "BenchmarkA -1 5 ns/op",
                Some("'-1' is not a number of iterations"),
                true,
                false,
            ),
            (
                "BenchmarkA 10",
                Some("BenchmarkA has no measurement"),
                false,
                false,
            ),
            (
                "BenchmarkA 10 5",
                Some("the number 5 has no unit"),
                false,
                false,
            ),
            (
                "BenchmarkA 10 5,2 ns/op",
                Some("'5,2' is not a number"),
                true,
                false,
            ),
            (
                "BenchmarkA 3 things took long",
                Some("'things' is not a number"),
                false,
                false,
            ),
        ] {
            let Line::Begun(begun) = parse(line) else {
                panic!("{line}");
            };
            assert_eq!(begun.problem.as_deref(), problem, "{line}");
            assert_eq!((begun.sure, begun.bare), (sure, bare), "{line}");
        }
    }

    #[test]
    fn what_only_begins_like_a_result_is_passed_over() {
        for line in [
            "BenchmarkSort: starting",
            "BenchmarkSort: 3 workers",
            "Benchmarks 5 done",
            "Benchmarking 3 things took long",
            "Benchmarking\t3 things",
            "Benchmark",
            "Benchmark of sorting",
            "Benchmark 1: sleep 0.1",
            "BenchmarkRunner.sort  avgt  5  12.3 ± 1.0  ns/op",
            "Benchmark           Time             CPU   Iterations",
        ] {
            assert_eq!(parse(line), Line::Other, "{line}");
        }
    }

    #[test]
    fn other_lines_are_told_apart() {
        let config = |key, value| Line::Config { key, value };
        assert_eq!(parse("pkg: a/b"), config("pkg", "a/b"));
        assert_eq!(parse("contender:"), config("contender", ""));
        assert_eq!(parse("äh: \t x: y "), config("äh", "x: y "));
        for line in [
            "Pkg: a", "a b: c", "aB: c", "a:b", ": a", "", "x", "http://a",
        ] {
            assert_eq!(parse(line), Line::Other, "{line}");
        }
        assert_eq!(parse("Unit x better=lower"), Line::Unit(" x better=lower"));
        assert_eq!(parse("Units"), Line::Other);
        for line in ["PASS", "FAIL", "ok  \ta/b\t0.1s", "FAIL\ta/b\t0.1s"] {
            let failed = line.starts_with("FAIL");
            assert_eq!(parse(line), Line::End { failed }, "{line}");
        }
        for (line, failed) in [
            ("--- FAIL: BenchmarkA/b", true),
            ("    --- SKIP: BenchmarkA/b (0.00s)", false),
            ("BenchmarkA/b  \t--- FAIL: BenchmarkA/b", true),
        ] {
            assert_eq!(
                parse(line),
                Line::Fault {
                    name: "A/b",
                    failed
                }
            );
        }
        assert_eq!(parse("--- BENCH: BenchmarkA"), Line::Other);
        assert_eq!(parse("--- FAIL: TestA (0.00s)"), Line::Other);
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
