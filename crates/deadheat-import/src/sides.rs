//! Compares saved results of other tools: joins the files of all sides into a run that can be
//! analysed like any other recording.

mod recordings;
mod side_names;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::identity::{Identity, Qualifier, QualifierPlace};
use crate::results::{ExitCodes, ResultBenchmark, ResultState, Results};
use deadheat::parts::analysis::{Options, analyse_with};
use deadheat::parts::answer::Answer;
use deadheat::parts::exit::Failure;
use deadheat::parts::terminal::to_stderr;
use deadheat_model::{
    Analysis, Benchmark, BenchmarkFailure, BenchmarkOverrides, Contender, ContenderId, Design,
    Environment, HELP, LeftOut, LeftOutReason, Looks, Metric, Origin, Plan, PlanError, ResultFacts,
    ResultSide, ResultSource, Run, RunHeader, Samples, Saved, Workload, without_help,
};

use crate::terms::{Terms, recorded_rules};

pub use recordings::{name_alike, tell_recordings_apart};
pub use side_names::side_names_of;

/// Joins the sides by the names of their benchmarks; the first side is the baseline. Benchmarks
/// that cannot be compared are in the run as failures or left out with a reason.
///
/// The benchmarks are in the order of the baseline, followed by the benchmarks that only other
/// sides have.
pub fn join(sides: &[Side], terms: &Terms) -> Result<Run, Failure> {
    Ok(join_without_samples(sides, terms)?.into_run())
}

/// Joins the sides as [`join`] does, but makes samples only on request, because the samples of a
/// million rows take as much memory as the sides.
pub fn join_without_samples<'a>(
    sides: &'a [Side],
    terms: &Terms,
) -> Result<JoinedSides<'a>, Failure> {
    let held: Vec<HashMap<&str, Vec<Held<'_>>>> = sides.iter().map(by_name).collect();
    let names = names(sides);
    let mut joined = Joined::default();
    joined.benchmarks.reserve_exact(names.len());
    joined.held.reserve_exact(names.len());
    for name in names {
        let with: Vec<usize> = (0..sides.len())
            .filter(|side| held[*side].contains_key(name))
            .collect();
        let called = |side: &usize| sides[*side].name.as_str();
        if with.first() != Some(&0) || (with.len() == 1 && sides.len() > 1) {
            let only: Vec<&str> = with.iter().map(called).collect();
            joined.leave_out(name, LeftOutReason::OnlyIn(only.join("', '")));
            continue;
        }
        let of: Vec<(&str, &[Held<'_>])> = with
            .iter()
            .map(|side| (called(side), held[*side][name].as_slice()))
            .collect();
        for side in (0..sides.len()).filter(|side| with.binary_search(side).is_err()) {
            let why = format!("'{}' does not have it", called(&side));
            joined.leave_out(name, LeftOutReason::NotAlike(why));
        }
        let asked = terms.metric_of(name);
        let of = joined.without_failed(name, of);
        joined.take(name, &of, matched(&of, asked.as_deref()));
    }
    if let Some(metric) = &terms.metric {
        check_measured(metric, sides)?;
    }
    let joined = joined.without_samples(sides, terms);
    match joined.run.header.plan.validate() {
        // A comparison without common benchmarks is valid: all benchmarks are left out.
        Ok(()) | Err(PlanError::Empty) => Ok(joined),
        Err(error) => Err(Failure::Usage(error.to_string())),
    }
}

/// Returns all benchmarks of a side by name; each name has an entry per file.
fn by_name(side: &Side) -> HashMap<&str, Vec<Held<'_>>> {
    let mut held: HashMap<&str, Vec<Held<'_>>> = HashMap::new();
    for (file, results) in side.files.iter().enumerate() {
        for benchmark in &results.benchmarks {
            let of_name = held.entry(&benchmark.name).or_default();
            of_name.push(Held {
                file,
                recording: recordings::recording(results, benchmark),
                benchmark,
            });
        }
    }
    held
}

fn names(sides: &[Side]) -> Vec<&str> {
    let files = sides.iter().flat_map(|side| &side.files);
    let benchmarks = files.flat_map(|results| &results.benchmarks);
    let mut seen = HashSet::new();
    benchmarks
        .map(|benchmark| benchmark.name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}

/// Fails if no benchmark records this metric, because its name is probably misspelled.
fn check_measured(metric: &str, sides: &[Side]) -> Result<(), Failure> {
    let files = sides.iter().flat_map(|side| &side.files);
    let benchmarks = files.flat_map(|results| &results.benchmarks);
    let (mut known, mut seen) = (Vec::new(), HashSet::new());
    for name in benchmarks.flat_map(|b| &b.metrics).map(Metric::name) {
        if name == metric {
            return Ok(());
        }
        if seen.insert(name) {
            known.push(name);
        }
    }
    let known = if known.is_empty() {
        "nothing".to_owned()
    } else {
        known.join(", ")
    };
    Err(Failure::Usage(format!(
        "--metric {metric}: the files record only {known}{HELP}name one of these, or leave --metric out"
    )))
}

#[derive(Default)]
struct Joined<'a> {
    benchmarks: Vec<Benchmark>,
    /// For each benchmark of the run, the values on each side; empty if the benchmark is not
    /// compared.
    held: Vec<Vec<Vec<Held<'a>>>>,
    failures: Vec<BenchmarkFailure>,
    left_out: Vec<LeftOut>,
}

impl<'a> Joined<'a> {
    fn leave_out(&mut self, name: &str, reason: LeftOutReason) {
        self.left_out.push(LeftOut {
            benchmark: name.to_owned(),
            reason,
        });
    }

    /// Removes failed candidates if there are several, records each as a failure, and returns the
    /// sides to compare. If all candidates failed, returns all sides.
    fn without_failed<'s>(
        &mut self,
        name: &str,
        sides: Vec<(&'s str, &'s [Held<'a>])>,
    ) -> Vec<(&'s str, &'s [Held<'a>])> {
        if sides.len() < 3 {
            return sides;
        }
        let baseline = sides[0];
        let mut left = vec![baseline];
        let mut failed = Vec::new();
        for candidate in &sides[1..] {
            let two = [baseline, *candidate];
            match failure(&two) {
                Some(why) => failed.push((two, why)),
                None => left.push(*candidate),
            }
        }
        if left.len() == 1 {
            return sides;
        }
        for (two, why) in failed {
            self.take(name, &two, Match::Failed(why));
        }
        left
    }

    fn take(&mut self, name: &str, sides: &[(&str, &[Held<'a>])], found: Match) {
        let first = sides[0].1[0].benchmark;
        let all = || sides.iter().flat_map(|(_, held)| held.iter());
        let mut benchmark = Benchmark {
            name: name.to_owned(),
            parameters: first.parameters.clone(),
            contenders: sides
                .iter()
                .map(|(side, _)| Contender {
                    name: (*side).to_owned(),
                    workload: Workload::Recording,
                })
                .collect(),
            ..Benchmark::default()
        };
        let recorded = |held: &[Held<'_>]| -> Option<BTreeSet<u64>> {
            held.iter().map(|held| held.recording).collect()
        };
        let baseline = recorded(sides[0].1);
        let same = sides[1..].iter();
        let same = same.filter(|(_, held)| baseline.is_some() && recorded(held) == baseline);
        let mut saved = Saved {
            same: same.map(|(side, _)| (*side).to_owned()).collect(),
            label: labels(sides),
            threads: all().find_map(|held| held.benchmark.threads),
            ..Saved::default()
        };
        let mut held = Vec::new();
        match found {
            Match::LeftOut(reason) => return self.leave_out(name, reason),
            Match::Failed(message) => self.failures.push(BenchmarkFailure {
                benchmark: self.benchmarks.len(),
                message,
            }),
            Match::Compared {
                judged,
                metrics,
                summary,
            } => {
                saved.judged = Some(judged);
                saved.summary = summary;
                benchmark.counters = metrics;
                held.extend(sides.iter().map(|(_, held)| held.to_vec()));
            }
        }
        benchmark.saved = Some(saved);
        self.benchmarks.push(benchmark);
        self.held.push(held);
    }

    /// Returns the common beginning of the metric lists of all compared benchmarks. It becomes the
    /// list of the run; each benchmark keeps the rest of its own list.
    fn metrics_in_common(&self) -> Vec<Metric> {
        let compared = self.benchmarks.iter().zip(&self.held);
        let mut compared = compared
            .filter(|(_, held)| !held.is_empty())
            .map(|(benchmark, _)| &benchmark.counters);
        let Some(mut common) = compared.next().cloned() else {
            return Vec::new();
        };
        for metrics in compared {
            let pairs = common.iter().zip(metrics);
            let same = pairs.take_while(|(one, other)| one == other).count();
            common.truncate(same);
        }
        common
    }

    fn without_samples(mut self, sides: &[Side], terms: &Terms) -> JoinedSides<'a> {
        let common = self.metrics_in_common();
        for benchmark in &mut self.benchmarks {
            benchmark.overrides = BenchmarkOverrides {
                // The judged metric was determined from the files.
                judged: None,
                ..recorded_rules(&terms.rules, &benchmark.name, 1)
            };
            let own = common.len().min(benchmark.counters.len());
            benchmark.counters.drain(..own);
        }
        let header = RunHeader {
            command: Vec::new(),
            tool_version: String::new(),
            started_at: None,
            origin: Origin::UnpairedRecording,
            plan: Plan {
                design: Design {
                    margin: terms.margin,
                    alpha: terms.alpha,
                    looks: Looks {
                        at: vec![1],
                        levels: vec![terms.alpha],
                        weights: vec![1.0],
                    },
                    judged: terms
                        .metric
                        .as_deref()
                        .map_or(Metric::Wall, Metric::from_name),
                    ..Design::default()
                },
                seed: 0,
                benchmarks: self.benchmarks,
            },
            environment: Environment::default(),
            metrics: common,
            tick_ns: None,
            left_out: self.left_out,
        };
        let mut run = Run::new(header);
        run.failures = self.failures;
        run.sides = sides.iter().map(Side::described).collect();
        JoinedSides {
            run,
            held: self.held,
            pooled: sides.iter().any(|side| side.files.len() > 1),
        }
    }
}

/// Sides that were joined by the names of their benchmarks.
pub struct JoinedSides<'a> {
    /// The run without its samples.
    pub run: Run,
    /// For each benchmark of the run, the values on each side; empty if the benchmark is not
    /// compared.
    held: Vec<Vec<Vec<Held<'a>>>>,
    /// True if each file counts as one observation, on all sides.
    pooled: bool,
}

impl JoinedSides<'_> {
    /// Returns true if any side has several files. A report about all benchmarks then needs the
    /// samples of all of them.
    pub fn pooled(&self) -> bool {
        self.pooled
    }

    /// Returns the samples of a benchmark, by its index in the plan.
    pub fn samples(&self, index: usize) -> Samples {
        let mut samples = Samples::new(self.run.header.metrics_of(index));
        for (contender, files) in self.held[index].iter().enumerate() {
            for held in files {
                push(
                    &mut samples,
                    ContenderId(contender as u8),
                    held,
                    self.pooled,
                );
            }
        }
        samples
    }

    /// Analyses the sides and applies the report's gate. Makes the samples for one benchmark at a
    /// time.
    pub fn answer(&self, answer: &Answer, options: Options) -> Analysis {
        let samples = |index| Cow::Owned(self.samples(index));
        answer
            .gate
            .judge(analyse_with(&self.run, options, &samples))
    }

    /// Returns the run with its samples.
    pub fn into_run(mut self) -> Run {
        for index in 0..self.held.len() {
            self.run.benchmarks[index] = self.samples(index);
        }
        self.run
    }
}

/// Adds the rows of one file; each row is a block.
fn push(samples: &mut Samples, contender: ContenderId, held: &Held<'_>, pooled: bool) {
    let benchmark = held.benchmark;
    let known = Places::of(benchmark);
    let places: Vec<usize> = samples
        .metrics()
        .iter()
        .filter_map(|metric| known.place(metric))
        .collect();
    let file;
    let replicates = if pooled {
        file = vec![held.file as u32; benchmark.processes.len()];
        &file
    } else {
        &benchmark.processes
    };
    samples
        .push_rows(contender, replicates, &benchmark.values, &places)
        .expect("importers pass only measurements");
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// The name of the side in the report.
    pub name: String,
    /// The files of the side. If there are several, each file counts as one observation, regardless
    /// of its contents, because the files were recorded at different times.
    pub files: Vec<Results>,
}

impl Side {
    fn described(&self) -> ResultSide {
        let source = |results: &Results| ResultSource {
            source: results.source.clone(),
            tool: results.tool.clone(),
            facts: ResultFacts {
                repeated: recordings::repeated(results),
                ..results.facts.clone()
            },
        };
        ResultSide {
            name: self.name.clone(),
            files: self.files.iter().map(source).collect(),
        }
    }
}

/// Name of the benchmark whose contenders are the commands in a file of hyperfine.
const COMMANDS: &str = "commands";

/// Makes a run of a single file. The commands of hyperfine are compared with the first of them; all
/// other benchmarks are reported without a comparison.
pub fn alone(results: Results, terms: &Terms) -> Result<Run, Failure> {
    let commands = results.tool.starts_with("hyperfine") && results.benchmarks.len() > 1;
    if !commands {
        let name = results.source.clone();
        let side = Side {
            name,
            files: vec![results],
        };
        return join(&[side], terms);
    }
    // Checked first, because joining one side per command is slow and the plan is refused
    // afterwards.
    let count = results.benchmarks.len();
    if count > Plan::MAX_CONTENDERS {
        let error = PlanError::Contenders {
            benchmark: COMMANDS.to_owned(),
            count,
            max: Plan::MAX_CONTENDERS,
        };
        return Err(Failure::Data(format!("{}: {error}", results.source)));
    }
    let side = |benchmark: &ResultBenchmark| {
        let mut file = Results::new(&results.source, &results.tool);
        file.facts = results.facts.clone();
        // Commands in one file are not copies of each other, even if their values are equal.
        file.facts.digest = None;
        file.push(ResultBenchmark {
            name: COMMANDS.to_owned(),
            identity: Identity::default(),
            parameters: Vec::new(),
            repeated: false,
            ..benchmark.clone()
        });
        Side {
            name: benchmark.name.clone(),
            files: vec![file],
        }
    };
    let sides: Vec<Side> = results.benchmarks.iter().map(side).collect();
    join(&sides, terms)
}

/// The values of one benchmark in one file of a side.
#[derive(Clone, Copy)]
struct Held<'a> {
    file: usize,
    /// Digest of the recording that the values come from.
    recording: Option<u64>,
    benchmark: &'a ResultBenchmark,
}

enum Match {
    Compared {
        judged: Metric,
        /// The metrics that every side recorded.
        metrics: Vec<Metric>,
        /// The statistic, if a file has only a summary of this benchmark.
        summary: Option<String>,
    },
    /// The benchmark failed, with this message.
    Failed(String),
    /// The benchmark is left out of the comparison, for this reason.
    LeftOut(LeftOutReason),
}

/// Decides whether and how to compare a benchmark; `sides` has the name and values of each side,
/// the baseline first.
fn matched(sides: &[(&str, &[Held<'_>])], asked: Option<&str>) -> Match {
    let all = || every(sides);
    if let Some(why) = failure(sides) {
        return Match::Failed(why);
    }
    for (_, benchmark) in all() {
        if let ResultState::Skipped(message) = &benchmark.state {
            return Match::LeftOut(LeftOutReason::Skipped(message.clone()));
        }
    }
    let unlike = |why: String| Match::LeftOut(LeftOutReason::NotAlike(why));
    if let Some((side, _)) = all().find(|(_, benchmark)| benchmark.processes.is_empty()) {
        let why = format!("no values in '{side}'");
        return Match::LeftOut(LeftOutReason::Skipped(why));
    }
    if let Some(why) = other_work(sides).or_else(|| other_threads(sides)) {
        return unlike(why);
    }
    // The metrics in all files of all sides, in the order of the baseline.
    let (_, first) = sides[0];
    let places: Vec<Places<'_>> = all().map(|(_, benchmark)| Places::of(benchmark)).collect();
    let everywhere = |metric: &&Metric| places.iter().all(|own| own.place(metric).is_some());
    let first = first[0].benchmark;
    let metrics: Vec<Metric> = first.metrics.iter().filter(everywhere).cloned().collect();
    let judged = match asked {
        Some(name) => metrics.iter().find(|metric| metric.name() == name),
        None => metrics
            .iter()
            .find(|metric| first.metrics.first() == Some(metric)),
    };
    let Some(judged) = judged.cloned() else {
        return unlike(not_measured(sides, asked));
    };
    let summary = all().find_map(|(_, benchmark)| match &benchmark.state {
        ResultState::Summarised { statistic } => Some(statistic.clone()),
        _ => None,
    });
    Match::Compared {
        judged,
        metrics,
        summary,
    }
}

fn failure(sides: &[(&str, &[Held<'_>])]) -> Option<String> {
    let failed = every(sides).find_map(|(side, benchmark)| match &benchmark.state {
        ResultState::Failed(message) => Some((side, message)),
        _ => None,
    });
    match failed {
        Some((side, message)) => {
            // A table row is too short for advice.
            let message = without_help(message);
            let told = if message.is_empty() { "" } else { ": " };
            Some(format!("in '{side}'{told}{message}"))
        }
        None => unlike_exits(sides),
    }
}

/// Returns the reason why the times cannot be compared: the exit codes of the sides differ, or no
/// launch ran to its end.
fn unlike_exits(sides: &[(&str, &[Held<'_>])]) -> Option<String> {
    let exits = |(side, held): &(&str, &[Held<'_>])| {
        let codes = held.iter().flat_map(|held| &held.benchmark.exits.0);
        let codes = ExitCodes(codes.copied().collect());
        (!codes.0.is_empty()).then(|| (side.to_string(), codes))
    };
    let all: Vec<(String, ExitCodes)> = sides.iter().filter_map(exits).collect();
    let (first, codes) = all.first()?;
    if let Some((other, others)) = all.iter().find(|(_, others)| others != codes) {
        return Some(format!(
            "its exit codes differ: {codes} in '{first}', {others} in '{other}'"
        ));
    }
    let never_ran = codes.none_ran();
    never_ran.then(|| format!("none of its launches completed in '{first}': {codes}"))
}

fn labels(sides: &[(&str, &[Held<'_>])]) -> Option<String> {
    let of_side =
        |(_, held): &(&str, &[Held<'_>])| held.iter().find_map(|held| held.benchmark.label.clone());
    let mut seen = HashSet::new();
    let labels = sides.iter().filter_map(of_side);
    let labels: Vec<String> = labels.filter(|label| seen.insert(label.clone())).collect();
    (!labels.is_empty()).then(|| labels.join(" | "))
}

/// Returns the error for a file without results; `tool` is empty if it is unknown.
pub fn without_results(file: &str, tool: &str) -> Failure {
    let tool = match tool {
        "" => String::new(),
        tool => format!("; {tool} wrote the file"),
    };
    Failure::Data(format!(
        "{file}: no benchmark has a result{tool}{HELP}record it again: the program may have stopped \
         early, or a filter may have matched nothing"
    ))
}

/// Prints a warning for each of these files with parts that could not be read.
pub fn warn_of_unread<'a>(files: impl IntoIterator<Item = &'a Results>) {
    for line in unread_lines(files) {
        to_stderr("warning", &line);
    }
}

/// Returns a line for each file with its first unread parts.
fn unread_lines<'a>(files: impl IntoIterator<Item = &'a Results>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for results in files
        .into_iter()
        .filter(|results| !results.unread.is_empty())
    {
        if !seen.insert(&results.source) {
            continue;
        }
        let shown = results.unread.len().min(MOST_UNREAD);
        let mut told = results.unread[..shown].join("; ");
        let more = results.unread.len() - shown;
        if more > 0 {
            told.push_str(&format!("; and {more} more"));
        }
        lines.push(format!("{}: {told}", results.source));
    }
    lines
}

const MOST_UNREAD: usize = 3;

/// Returns the benchmark in every file of every side, with the name of the side.
fn every<'s>(
    sides: &'s [(&'s str, &'s [Held<'s>])],
) -> impl Iterator<Item = (&'s str, &'s ResultBenchmark)> {
    sides.iter().flat_map(|(name, held)| {
        let name = *name;
        held.iter().map(move |held| (name, held.benchmark))
    })
}

/// The indexes of the metrics in the values of a benchmark.
struct Places<'b> {
    metrics: &'b [Metric],
    /// Indexes by metric name; empty if there are few metrics.
    by_name: HashMap<&'b str, Vec<usize>>,
}

impl<'b> Places<'b> {
    /// Up to this number of metrics, a linear search is faster than building a map.
    const FEW: usize = 16;

    fn of(benchmark: &'b ResultBenchmark) -> Self {
        let metrics = benchmark.metrics.as_slice();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        if metrics.len() > Self::FEW {
            for (place, metric) in metrics.iter().enumerate() {
                by_name.entry(metric.name()).or_default().push(place);
            }
        }
        Self { metrics, by_name }
    }

    /// Returns the index of the metric with the same name and unit.
    fn place(&self, metric: &Metric) -> Option<usize> {
        let of_unit = |place: &usize| self.metrics[*place].unit() == metric.unit();
        if self.metrics.len() <= Self::FEW {
            let named = |place: &usize| self.metrics[*place].name() == metric.name();
            return (0..self.metrics.len()).find(|place| named(place) && of_unit(place));
        }
        let named = self.by_name.get(metric.name())?;
        named.iter().copied().find(of_unit)
    }
}

/// Returns the reason if benchmarks with equal names measure different work on different sides.
fn other_work(sides: &[(&str, &[Held<'_>])]) -> Option<String> {
    let mut seen: Vec<(&str, &Qualifier)> = Vec::new();
    for (side, benchmark) in every(sides) {
        let binding = benchmark.identity.qualifiers.iter();
        for one in binding.filter(|one| one.binds()) {
            match seen.iter().find(|(_, before)| before.is_of_kind(one)) {
                None => seen.push((side, one)),
                Some((_, before)) if before.value == one.value => {}
                Some((first, before)) if one.place == QualifierPlace::Suffix => {
                    return Some(on_threads((first, &before.value), (side, &one.value)));
                }
                Some((first, before)) => {
                    return Some(format!(
                        "'{first}' ran this benchmark with {before}, '{side}' with {one}"
                    ));
                }
            }
        }
    }
    None
}

/// Formats a difference in the number of threads. Go omits a 1 from names, so an empty text means
/// 1.
fn on_threads((first, threads): (&str, &str), (second, others): (&str, &str)) -> String {
    let count = |threads: &str| if threads.is_empty() { "1" } else { threads }.to_owned();
    let noun = |threads: &str| if threads == "1" { "thread" } else { "threads" };
    let (threads, others) = (count(threads), count(others));
    format!(
        "'{first}' ran it on {threads} {}, '{second}' on {others}",
        noun(&threads)
    )
}

/// Returns the reason if the number of threads differs, because that is different work.
fn other_threads(sides: &[(&str, &[Held<'_>])]) -> Option<String> {
    let mut told = every(sides)
        .filter_map(|(name, benchmark)| benchmark.threads.map(|threads| (name, threads)));
    let (first, threads) = told.next()?;
    let (name, other) = told.find(|(_, other)| *other != threads)?;
    let noun = if threads == 1 { "thread" } else { "threads" };
    Some(if name == first {
        format!("'{first}' ran it on {threads} {noun}, and on {other} in another file")
    } else {
        format!("'{first}' ran it on {threads} {noun}, '{name}' on {other}")
    })
}

fn not_measured(sides: &[(&str, &[Held<'_>])], asked: Option<&str>) -> String {
    let measures = |(name, held): &(&str, &[Held<'_>])| {
        let metrics = held[0].benchmark.metrics.iter().map(Metric::name);
        let metrics: Vec<&str> = metrics.take(4).collect();
        if metrics.is_empty() {
            format!("'{name}' lacks a metric in some launches")
        } else {
            format!("'{name}' measures {}", metrics.join(", "))
        }
    };
    let told: Vec<String> = sides.iter().map(measures).collect();
    match asked {
        Some(metric) => format!("{metric} is not recorded on all sides: {}", told.join("; ")),
        None => told.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_one_line_a_file() {
        let file = |source: &str, unread: &[&str]| {
            let mut results = Results::new(source, "x");
            results.unread = unread.iter().map(|part| (*part).to_owned()).collect();
            results
        };
        let many = file("b", &["1", "2", "3", "4", "5"]);
        let files = [
            file("a", &["line 3: no"]),
            many.clone(),
            file("c", &[]),
            many,
        ];
        assert_eq!(
            unread_lines(&files),
            ["a: line 3: no", "b: 1; 2; 3; and 2 more"]
        );
    }
}
