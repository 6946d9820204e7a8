//! Whole processes of the suite, from cold start to exit, and what they
//! recorded.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::format::read_run;
use deadheat::parts::model::{Analysis, Comparison, Run, Verdict};

use crate::process::cost;

/// The bench target with the races of this workspace.
pub struct SuiteProgram {
    program: PathBuf,
    scratch: PathBuf,
    runs: Cell<usize>,
}

/// One process of it that came to its end.
pub struct SuiteRun {
    /// From launch to end, in seconds.
    pub seconds: f64,
    /// The run as it was recorded.
    pub run: Run,
    /// The analysis of the run.
    pub analysis: Analysis,
    /// The run file.
    pub path: PathBuf,
}

impl SuiteProgram {
    /// A program, and a folder for its run files.
    pub fn new(program: PathBuf, scratch: PathBuf) -> Self {
        Self {
            program,
            scratch,
            runs: Cell::new(0),
        }
    }

    /// Races as `cargo bench` does, with these words on the command line.
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
        SuiteRun {
            seconds: cost.wall,
            run,
            analysis,
            path,
        }
    }

    /// The same for races of these names.
    pub fn race_named(&self, names: &[String], words: &[&str]) -> SuiteRun {
        let mut args = words.to_vec();
        args.push("--exact");
        args.extend(names.iter().map(String::as_str));
        let run = self.race(&args);
        assert_eq!(
            run.analysis.comparisons.len(),
            names.len(),
            "all have a verdict"
        );
        run
    }
}

impl SuiteRun {
    /// The comparison, where there is only one.
    pub fn only(&self) -> &Comparison {
        &self.analysis.comparisons[0]
    }
}

impl Drop for SuiteRun {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The run in a file.
pub fn recorded(path: &Path) -> Run {
    read_run(path).unwrap_or_else(|error| panic!("{error}"))
}

/// The verdicts of deadheat on a run.
pub fn verdicts(run: &Run) -> Analysis {
    let analysis = analyse(
        run,
        Options {
            without_figures: true,
            ..Options::default()
        },
    );
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

/// The verdict in a word.
pub fn word(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Some(Verdict::Equivalent) => "dead heat",
        Some(Verdict::Inconclusive) => "too close to call",
        Some(verdict) => verdict.name(),
        None => "no verdict",
    }
}
