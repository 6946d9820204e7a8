//! Executables of harnesses that know nothing of deadheat: a fresh launch for every slot of a
//! replicate, whose repetitions are the samples of its blocks. The particulars of a harness are in
//! the file of its name; all else is common.

mod adapter;
mod contenders;
mod criterion;
mod divan;
mod go;
mod google_benchmark;
mod jmh;
mod launch;
mod pilot;
mod pyperf;

pub use adapter::{ArgumentError, RequestedRepetitions};
pub use contenders::HarnessContenders;
pub(crate) use google_benchmark::{VARIABLES, filter};
pub use launch::HarnessOptions;
pub(crate) use launch::startable;
pub use pilot::{HarnessPilot, HarnessSide};

use std::time::Duration;

use deadheat_model::{Harness, Program};

use crate::error::EngineError;
use crate::executable::PLACEMENTS_VARIABLE;
use crate::interrupt::Interrupts;
use crate::subprocess::{Answer, Captured, run_captured};
use crate::worker::HarnessListing;
use adapter::{HarnessAdapter, Question};
use criterion::Criterion;
use divan::Divan;
use go::Go;
use google_benchmark::GoogleBenchmark;
use jmh::Jmh;
use launch::starting;
use pyperf::Pyperf;

/// The adapter of a harness.
pub(crate) fn adapter_of(harness: Harness) -> &'static dyn HarnessAdapter {
    match harness {
        Harness::GoogleBenchmark => &GoogleBenchmark,
        Harness::Criterion => &Criterion,
        Harness::Divan => &Divan,
        Harness::Go => &Go,
        Harness::Jmh => &Jmh,
        Harness::Pyperf => &Pyperf,
    }
}

/// Reads what the user's own arguments ask for, and refuses what keeps the repetitions of a launch
/// from being read.
pub fn requested_repetitions(
    harness: Harness,
    arguments: &[String],
) -> Result<RequestedRepetitions, ArgumentError> {
    adapter_of(harness).requested_repetitions(arguments)
}

/// The fewest and the most repetitions that a launch of a harness can have.
pub fn repetitions_of_a_launch(harness: Harness) -> (u32, u32) {
    adapter_of(harness).repetitions_of_a_launch()
}

/// Returns whether launches of a harness may be held on one core.
pub fn may_be_pinned(harness: Harness) -> bool {
    adapter_of(harness).may_be_pinned()
}

/// A program that is asked what it is and what it holds.
pub(crate) struct ListingRequest<'a> {
    pub(crate) program: &'a Program,
    pub(crate) patience: Option<Duration>,
    pub(crate) interrupts: &'a Interrupts,
}

impl ListingRequest<'_> {
    /// Finds the harness of a program that refused the question of Google Benchmark. A question
    /// that two harnesses have in common is asked once.
    pub(crate) fn harness(&self) -> Result<Option<Harness>, EngineError> {
        let mut answers: Vec<(&'static [&'static str], String)> = Vec::new();
        for harness in Harness::ALL {
            let adapter = adapter_of(harness);
            let question = adapter.question(self.program);
            if question.is_empty() {
                continue;
            }
            if !answers.iter().any(|(asked, _)| *asked == question) {
                let captured = self.ask(adapter, &Question::by(question))?;
                let printed = String::from_utf8_lossy(&captured.output);
                answers.push((question, format!("{printed}\n{}", captured.stderr_tail)));
            }
            let mut answers = answers.iter();
            let answer = answers.find(|(asked, _)| *asked == question);
            if answer.is_some_and(|(_, answer)| adapter.recognises(answer)) {
                return Ok(Some(harness));
            }
        }
        Ok(None)
    }

    /// The benchmarks of a program of this harness, or why it does not list them.
    pub(crate) fn benchmarks(
        &self,
        harness: Harness,
    ) -> Result<Result<HarnessListing, String>, EngineError> {
        let adapter = adapter_of(harness);
        let starter = adapter.starter(&self.program.executable);
        let found = adapter.benchmarks(&mut |question| self.ask(adapter, question))?;
        let listing = |known_as: Vec<String>| HarnessListing {
            harness,
            names: known_as
                .iter()
                .map(|one| adapter.name_of(one).to_owned())
                .collect(),
            known_as,
        };
        Ok(found.map(listing).map_err(|problem| match starter.first() {
            Some(starter) => format!("'{starter}' {problem}"),
            None => problem,
        }))
    }

    fn ask(
        &self,
        adapter: &dyn HarnessAdapter,
        question: &Question,
    ) -> Result<Captured, EngineError> {
        let file = startable(&self.program.executable);
        let mut command = starting(adapter, file.clone(), file);
        if let Some(directory) = &self.program.directory {
            command.current_dir(directory);
        }
        command
            .args(&self.program.arguments)
            .args(&question.arguments)
            .env_remove(PLACEMENTS_VARIABLE)
            .envs(question.variables.iter().copied());
        let (patience, interrupts) = (self.patience, self.interrupts);
        Ok(run_captured(
            command,
            Answer::Printed,
            None,
            patience,
            interrupts,
        )?)
    }
}
