//! Benchmarks and their contenders: which comparisons belong together, how they are called, and
//! where their samples come from.

use deadheat_model::{Analysis, Comparison, Ending, FailedBenchmark, Processes, Side};

use crate::glyphs::Glyphs;
use crate::names::escape;
use crate::units;

/// The names of the two sides of a comparison in its sentences; already fit to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    /// The baseline.
    pub baseline: &'a str,
    /// The candidate; `None` for a contender alone.
    pub candidate: Option<&'a str>,
    /// True where the baseline stands right above, so that "slower" needs no "than".
    pub baseline_is_shown: bool,
}

/// The source of samples: advice can ask for another race, or only for another recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// deadheat raced commands, so the flags of `deadheat run` help.
    Commands,
    /// deadheat raced functions of one program, which have fewer flags.
    Functions,
    /// deadheat raced functions of programs that somebody else built.
    Programs,
    /// deadheat raced executables of harnesses, as they are.
    Harness,
    /// The samples were read from a file.
    Recording,
}

impl Source {
    /// Where the samples of an analysis come from.
    pub fn of(analysis: &Analysis) -> Source {
        match (&analysis.ending, analysis.processes) {
            (Ending::Recording, _) => Source::Recording,
            (_, Processes::Launches) => Source::Commands,
            (_, Processes::Workers) => Source::Functions,
            (_, Processes::ProgramWorkers) => Source::Programs,
            (_, Processes::HarnessLaunches) => Source::Harness,
        }
    }

    /// The words for functions of any kind, for commands, and for recordings.
    pub(crate) fn pick<'w>(
        self,
        functions: &'w str,
        commands: &'w str,
        recording: &'w str,
    ) -> &'w str {
        match self {
            Source::Functions | Source::Programs | Source::Harness => functions,
            Source::Commands => commands,
            Source::Recording => recording,
        }
    }

    /// The unit that values are told per: a launch of a command, an iteration of anything else.
    pub(crate) fn iteration(self) -> &'static str {
        match self {
            Source::Commands => "launch",
            _ => "iteration",
        }
    }

    /// The command that goes on with such a run; `None` where none does.
    pub fn resume(self) -> Option<&'static str> {
        match self {
            Source::Commands => Some("deadheat run --resume FILE"),
            Source::Programs | Source::Harness => Some("deadheat bench --resume FILE"),
            Source::Functions | Source::Recording => None,
        }
    }
}

/// The comparisons of each benchmark: one per candidate, which follow each
/// other. The same benchmark with other parameter values is another one.
pub(crate) fn groups(comparisons: &[Comparison]) -> Vec<&[Comparison]> {
    comparisons
        .chunk_by(Comparison::is_of_one_benchmark_with)
        .collect()
}

/// The contenders of a benchmark, the baseline first.
pub(crate) fn sides(group: &[Comparison]) -> Vec<&Side> {
    let candidates = group.iter().filter_map(|c| c.candidate.as_ref());
    std::iter::once(&group[0].baseline)
        .chain(candidates)
        .collect()
}

/// Their names.
pub(crate) fn names(group: &[Comparison]) -> Vec<&str> {
    sides(group).iter().map(|side| side.name.as_str()).collect()
}

/// A benchmark's name with the parameter values it does not already tell, and the quantile where one
/// is judged.
pub(crate) fn title(comparison: &Comparison, glyphs: Glyphs) -> String {
    let title = title_of(&comparison.benchmark, &comparison.parameters, glyphs);
    match comparison.quantile {
        // Short, for where there is no room it is the middle of a title that goes.
        Some(quantile) => format!("{title} at {}", units::share(quantile)),
        None => title,
    }
}

/// The threads of a benchmark, where its name does not tell them: that of Google Benchmark does,
/// and the number behind one of Go is no more than how many may run at once.
pub(crate) fn threads_beside(comparison: &Comparison) -> Option<u32> {
    let is_told = |threads: &u32| {
        let name = &comparison.benchmark;
        name.contains("threads:") || name.ends_with(&format!("-{threads}"))
    };
    comparison.threads.filter(|threads| !is_told(threads))
}

/// True where a benchmark has no name but what `deadheat run` calls a race of any
/// commands, which then have to tell what it is.
pub(crate) fn is_any_run(group: &[Comparison], source: Source) -> bool {
    let is_any = |first: &Comparison| first.benchmark == "run" && first.parameters.is_empty();
    source == Source::Commands && group.first().is_some_and(is_any)
}

/// The same of a benchmark that failed.
pub(crate) fn failed_title(failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    title_of(&failure.benchmark, &failure.parameters, glyphs)
}

/// A name with what it does not already tell; what has no key stands by itself.
pub(crate) fn title_of(benchmark: &str, parameters: &[(String, String)], glyphs: Glyphs) -> String {
    let parameters: Vec<String> = parameters
        .iter()
        .map(|(key, value)| match key.as_str() {
            "" => value.clone(),
            key => format!("{key}={value}"),
        })
        .filter(|parameter| !benchmark.contains(parameter.as_str()))
        .collect();
    let name = escape(benchmark, glyphs);
    let parameters = escape(&parameters.join(", "), glyphs);
    match (name.is_empty(), parameters.is_empty()) {
        (true, true) => "(no name)".to_owned(),
        (true, false) => parameters,
        (false, true) => name,
        (false, false) => format!("{name} ({parameters})"),
    }
}
