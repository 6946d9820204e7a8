//! Whole processes of the suite, from cold start to exit, and what they recorded.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::format::read_run;
use deadheat::parts::model::{Analysis, Comparison, Run, Verdict};

use crate::process::cost;

pub struct SuiteProgram {
    program: PathBuf,
    scratch: PathBuf,
    runs: Cell<usize>,
}

pub struct SuiteRun {
    /// From launch to end, in seconds.
    pub seconds: f64,
    pub run: Run,
    pub analysis: Analysis,
    pub path: PathBuf,
}

impl SuiteProgram {
    pub fn new(program: PathBuf, scratch: PathBuf) -> Self {
        Self { program, scratch, runs: Cell::new(0) }
    }

    pub fn race(&self, words: &[&str]) -> SuiteRun {
        let number = self.runs.get();
        self.runs.set(number + 1);
        let path = self.scratch.join(format!("suite-{number}.jsonl"));
        let save = path.to_str().expect("a path in UTF-8");
        let mut args = vec!["--bench", "-q", "--save", save];
        args.extend_from_slice(words);
        let program = self.program.to_str().expect("a path in UTF-8");
        let cost = cost(program, &args);
        let run = recorded(&path);
        let analysis = verdicts(&run);
        SuiteRun { seconds: cost.wall, run, analysis, path }
    }

    pub fn race_named(&self, names: &[String], words: &[&str]) -> SuiteRun {
        let mut args = words.to_vec();
        args.push("--exact");
        args.extend(names.iter().map(String::as_str));
        let run = self.race(&args);
        assert_eq!(run.analysis.comparisons.len(), names.len(), "all have a verdict");
        run
    }
}

impl SuiteRun {
    pub fn only(&self) -> &Comparison {
        &self.analysis.comparisons[0]
    }
}

impl Drop for SuiteRun {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

pub fn recorded(path: &Path) -> Run {
    read_run(path).unwrap_or_else(|error| panic!("{error}"))
}

pub fn verdicts(run: &Run) -> Analysis {
    let analysis = analyse(run, Options { without_figures: true, ..Options::default() });
    assert!(analysis.failures.is_empty(), "{:?}", analysis.failures);
    analysis
}

/// The number of these comparisons whose verdict is among `wanted`.
pub fn count<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison>,
    wanted: &[Verdict],
) -> usize {
    let verdicts = comparisons.into_iter().filter_map(|one| one.verdict);
    verdicts.filter(|verdict| wanted.contains(verdict)).count()
}

pub fn word(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Some(Verdict::Equivalent) => "dead heat",
        Some(Verdict::Inconclusive) => "too close to call",
        Some(verdict) => verdict.name(),
        None => "no verdict",
    }
}
