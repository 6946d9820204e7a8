//! What Go's `testing` prints, the input of `benchstat`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

use deadheat_model::{ResultBenchmark, ResultFacts, ResultState, Results};

use super::line::{Line, Values, parse};
use super::unit::{Directions, time};
use crate::error::FormatError;
use crate::import::saved::json::{Number, without_mark};
use crate::import::saved::rows::Rows;

/// Keys of configuration lines that tell benchmarks apart. Whatever a program
/// prints may look like such a line, so there must be an end to them.
const MOST_KEYS: usize = 32;

/// Reads the lines of the Go benchmark format; others are passed over. What one
/// process printed begins with its header (`goos:`, `pkg:`) or behind the
/// `PASS`, `FAIL` or `ok` of the one before.
pub(in crate::import::saved) fn read(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    let mut reader = Reader::default();
    let mut before = Cow::Borrowed("");
    let mut lines = 0;
    for line in without_mark(text).split(|byte| *byte == b'\n') {
        lines += 1;
        let line = String::from_utf8_lossy(line);
        let parsed = parse(&line).map_err(|problem| FormatError::Line {
            file: file.to_owned(),
            line: lines,
            problem,
        })?;
        reader.take(parsed, &line, &before);
        before = line;
    }
    if reader.groups.is_empty() && reader.faults.is_empty() {
        return Err(FormatError::Saved {
            file: file.to_owned(),
            place: format!("lines 1 to {lines}"),
            problem: "none of them is the result of a benchmark, \
                      such as 'BenchmarkSort-8 1000 2045 ns/op'"
                .to_owned(),
        });
    }
    Ok(reader.results(file))
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
    /// Whether this process has printed a result.
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
    /// How many faults were seen before it.
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

    fn results(self, file: &Path) -> Results {
        let mut results = Results::new(file.display().to_string(), "Go");
        results.facts = self.facts();
        let names = self.names();
        let mut failed: BTreeMap<String, Fault> = BTreeMap::new();
        let mut order = Vec::new();
        let threads = self.common_threads();
        for fault in self.faults {
            // Only what was measured is called after the threads it ran on.
            let name = match threads {
                Some(threads) => format!("{}-{threads}", fault.name),
                None => fault.name.clone(),
            };
            order.push(name.clone());
            failed.entry(name).or_insert(fault);
        }
        let all = self.groups.iter().map(|group| group.name.to_string());
        let all: BTreeSet<String> = all.chain(failed.values().map(|f| f.name.clone())).collect();
        // What fails with one of its parts says nothing more than that part.
        failed.retain(|_, fault| {
            let parts = format!("{}/", fault.name);
            let mut next = all.range(parts.clone()..);
            !next.next().is_some_and(|name| name.starts_with(&parts))
        });
        let mut told = 0;
        for (group, name) in self.groups.into_iter().zip(names) {
            while told < group.faults_before {
                failed
                    .remove_entry(&order[told])
                    .into_iter()
                    .for_each(|(name, fault)| results.push(fault.benchmark(name)));
                told += 1;
            }
            let fault = failed.remove(&*group.name).filter(|fault| fault.failed);
            results.push(group.benchmark(name, &self.directions, fault));
        }
        for name in &order[told..] {
            failed
                .remove_entry(name)
                .into_iter()
                .for_each(|(name, fault)| results.push(fault.benchmark(name)));
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

    /// What each group is called: its name as it stands, with whatever of its
    /// configuration is needed to tell it from others of that name.
    fn names(&self) -> Vec<String> {
        let mut of_name: HashMap<&str, Vec<&Group>> = HashMap::new();
        for group in &self.groups {
            of_name.entry(&group.name).or_default().push(group);
        }
        let mut telling: HashMap<&str, BTreeSet<Rc<str>>> = HashMap::new();
        for (name, groups) in of_name.iter().filter(|(_, groups)| groups.len() > 1) {
            let keys = groups.iter().flat_map(|group| group.config.keys());
            let keys: BTreeSet<Rc<str>> = keys.cloned().collect();
            let first = &groups[0].config;
            let differs =
                |key: &Rc<str>| groups.iter().any(|g| g.config.get(key) != first.get(key));
            telling.insert(name, keys.into_iter().filter(differs).collect());
        }
        let none = BTreeSet::new();
        let name = |group: &Group| {
            let keys = telling.get(&*group.name).unwrap_or(&none);
            let mut name = group.name.to_string();
            let mut pairs = Vec::new();
            for (key, value) in group.config.iter().filter(|(key, _)| keys.contains(*key)) {
                match &**key {
                    "pkg" => name = format!("{value}.{name}"),
                    key => pairs.push(format!("{key}={value}")),
                }
            }
            match pairs.is_empty() {
                true => name,
                false => format!("{name} ({})", pairs.join(", ")),
            }
        };
        self.groups.iter().map(name).collect()
    }
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

    fn benchmark(
        self,
        name: String,
        directions: &Directions,
        fault: Option<Fault>,
    ) -> ResultBenchmark {
        let mut benchmark = ResultBenchmark {
            threads: threads(&self.name),
            name,
            ..ResultBenchmark::default()
        };
        if let Some(fault) = fault {
            benchmark.state = fault.state();
            return benchmark;
        }
        let judged = self
            .columns
            .iter()
            .position(|one| time(&one.unit).is_some());
        let judged = judged.unwrap_or(0);
        let processes = &self.columns[judged].processes;
        // Columns of another length are other lines: nobody says which of them
        // belong together.
        let mut kept = vec![&self.columns[judged]];
        let others = self
            .columns
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != judged);
        kept.extend(
            others
                .map(|(_, column)| column)
                .filter(|column| column.processes == *processes),
        );
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
                rows.set(metric.clone(), values[row]);
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

    fn benchmark(self, name: String) -> ResultBenchmark {
        ResultBenchmark {
            name,
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

/// What a benchmark logged.
fn indented(line: &str) -> Option<&str> {
    let said = line.trim();
    let logged = line.starts_with([' ', '\t']) && !said.is_empty() && !said.starts_with("--- ");
    logged.then_some(said)
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
}
