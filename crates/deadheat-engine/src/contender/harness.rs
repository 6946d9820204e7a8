//! Benchmarks in executables of other harnesses, which need no change for deadheat. Every slot of a
//! replicate is a new launch, whose repetitions are the samples of its blocks. Each harness has an
//! adapter in a file of its name; the rest is shared.

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
mod side_by_side;

pub use adapter::{ArgumentError, IterationUsage, RequestedRepetitions};
pub use contenders::HarnessContenders;
pub(crate) use google_benchmark::LIST_TESTS;
pub use google_benchmark::google_benchmark_launch;
pub use launch::HarnessOptions;
use launch::startable;
pub use pilot::{HarnessPilot, HarnessSide};
pub use side_by_side::{HarnessTrial, InTurns, TrialOf, why_in_turns};

use std::time::Duration;

use deadheat_model::{Harness, Program};

use crate::error::EngineError;
use crate::executable::{GOOGLE_BENCHMARK_VARIABLES, PLACEMENTS_VARIABLE, run_in};
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

/// Parses the user's own arguments for the harness, and rejects those that would keep deadheat from
/// reading the repetitions of a launch.
pub fn requested_repetitions(
    harness: Harness,
    arguments: &[String],
) -> Result<RequestedRepetitions, ArgumentError> {
    adapter_of(harness).requested_repetitions(arguments)
}

/// Returns the minimum and maximum number of repetitions of a launch of `harness`.
pub fn repetitions_of_a_launch(harness: Harness) -> (u32, u32) {
    adapter_of(harness).repetitions_of_a_launch()
}

/// Returns true if the harness reports the CPU time of its repetitions.
pub fn tells_cpu_time(harness: Harness) -> bool {
    adapter_of(harness).tells_cpu_time()
}

/// Returns true if launches of the harness may be pinned to one core.
pub fn may_be_pinned(harness: Harness) -> bool {
    adapter_of(harness).may_be_pinned()
}

pub(crate) struct ListingRequest<'a> {
    pub(crate) program: &'a Program,
    pub(crate) patience: Option<Duration>,
    pub(crate) interrupts: &'a Interrupts,
}

impl ListingRequest<'_> {
    /// Detects the harness of a program that rejects [`LIST_TESTS`], and so does not use Google
    /// Benchmark. If several harnesses are detected by the same arguments, the program runs only
    /// once with these arguments.
    pub(crate) fn harness_that_refuses(&self) -> Result<Option<Harness>, EngineError> {
        let mut answers: Vec<(&'static [&'static str], String)> = Vec::new();
        let others = Harness::ALL.into_iter();
        for harness in others.filter(|harness| *harness != Harness::GoogleBenchmark) {
            let adapter = adapter_of(harness);
            let question = adapter.question(self.program);
            if question.is_empty() {
                continue;
            }
            if !answers.iter().any(|(asked, _)| *asked == question) {
                let captured = self.ask(adapter, &Question::by(question))?;
                answers.push((question, all_output(&captured)));
            }
            let mut answers = answers.iter();
            let answer = answers.find(|(asked, _)| *asked == question);
            let Some((_, answer)) = answer else {
                continue;
            };
            if adapter.recognises(answer) {
                return Ok(Some(harness));
            }
            if let Some(question) = adapter.question_after(answer) {
                let captured = self.ask(adapter, &Question::by(question))?;
                let printed = String::from_utf8_lossy(&captured.output);
                if captured.problem().is_none() && adapter.recognises_list(&printed) {
                    return Ok(Some(harness));
                }
            }
        }
        Ok(None)
    }

    /// Returns the benchmarks of a program that printed `printed` for [`LIST_TESTS`]; `None` if the
    /// program is not recognised as Google Benchmark. Lines that the program also prints if no
    /// benchmark matches come from its `main` and are not names.
    pub(crate) fn google_benchmarks(
        &self,
        printed: &str,
    ) -> Result<Option<HarnessListing>, EngineError> {
        let adapter: &dyn HarnessAdapter = &GoogleBenchmark;
        let captured = self.ask(adapter, &Question::by(adapter.question(self.program)))?;
        if !adapter.recognises(&all_output(&captured)) {
            return Ok(None);
        }
        let greeting = String::from_utf8_lossy(&captured.output);
        let greeting: Vec<&str> = greeting.lines().collect();
        let mut names = adapter.listed(printed);
        names.retain(|name| !greeting.contains(&name.as_str()));
        Ok(Some(HarnessListing {
            harness: Harness::GoogleBenchmark,
            known_as: names.clone(),
            names,
        }))
    }

    /// Returns the benchmarks of a program of this harness, or the reason why it does not list
    /// them.
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
            run_in(&mut command, directory);
        }
        command
            .args(&self.program.arguments)
            .args(&question.arguments)
            .env_remove(PLACEMENTS_VARIABLE)
            .envs(question.variables.iter().copied());
        for variable in GOOGLE_BENCHMARK_VARIABLES {
            command.env_remove(variable);
        }
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

fn all_output(captured: &Captured) -> String {
    let printed = String::from_utf8_lossy(&captured.output);
    format!("{printed}\n{}", captured.stderr_tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_recognised_because_it_repeats_the_question() {
        let class_path = Program {
            arguments: vec!["org.openjdk.jmh.Main".to_owned()],
            ..Program::default()
        };
        for harness in Harness::ALL {
            let adapter = adapter_of(harness);
            let question = adapter.question(&class_path);
            assert!(!question.is_empty() && !adapter.marks().is_empty());
            let echo = format!("{}\n{question:?}", question.join(" "));
            assert!(!adapter.recognises(&echo), "{}", harness.name());
            assert!(adapter.marks().iter().all(|mark| !echo.contains(mark)));
            if let Some(question) = adapter.question_after("error: unexpected argument found") {
                assert!(!adapter.recognises_list(&question.join(" ")));
            }
        }
    }
}
