//! The results of a second race (`--confirm`), added to those of the first.
//!
//! The second race has an ordinary run file next to the file of the first race. The seed of the
//! second race is derived from the whole header of the first, which shows that the two files belong
//! together. The seed of the first race would not be enough: it may be known before the race, so a
//! commit could contain a forged file of the second race.

use std::path::{Path, PathBuf};

use deadheat_analysis::{Options, analyse};
use deadheat_format::header_text;
#[cfg(feature = "commands")]
use deadheat_format::read_run;
use deadheat_model::{
    Analysis, Comparison, Confirmation, EndReason, Ending, FailOn, FailedBenchmark, InSuite, Run,
    RunHeader, Verdict, fnv1a,
};
#[cfg(feature = "commands")]
use deadheat_model::{Benchmark, Origin};

#[cfg(feature = "commands")]
use crate::exit::Failure;
use crate::repetition::derived_seed;
#[cfg(feature = "commands")]
use crate::terminal::to_stderr;

/// Returns the path of the second race's run file: `run.confirm.jsonl` for `run.jsonl`.
pub fn second_race_path(first: &Path) -> PathBuf {
    first.with_extension("confirm.jsonl")
}

pub(crate) fn second_seed(first: &RunHeader) -> u64 {
    derived_seed(fnv1a(header_text(first).bytes()), 0)
}

/// Returns true if `second` is the second race of `first`: it has the derived seed and the same
/// version of deadheat, did not start before `first`, and raced the same contenders and programs on
/// terms that are not laxer.
#[cfg(feature = "commands")]
fn belong_together(first: &RunHeader, second: &RunHeader) -> bool {
    let (terms, again) = (&first.plan.design, &second.plan.design);
    let mut programs = second.environment.programs.iter();
    let mut benchmarks = second.plan.benchmarks.iter();
    second.plan.seed == second_seed(first)
        && second.started_at >= first.started_at
        && second.tool_version == first.tool_version
        && again.margin == terms.margin
        && again.alpha <= terms.alpha
        && programs.all(|program| first.environment.programs.contains(program))
        && benchmarks.all(|one| first.plan.benchmarks.iter().any(|of| is_again(one, of)))
}

/// Returns true if `one`, a benchmark of the second race, repeats the benchmark `first`.
#[cfg(feature = "commands")]
fn is_again(one: &Benchmark, first: &Benchmark) -> bool {
    let terms = |of: &Benchmark| (of.overrides.margin, of.overrides.judged.clone());
    one.name == first.name
        && one.parameters == first.parameters
        && one.contenders == first.contenders
        && terms(one) == terms(first)
}

/// Returns the analysis `first` of the run in `path`, combined with its second race if the run file
/// of the second race is next to `path`. Returns an error if the second run file cannot be read,
/// because the second race may change the answer.
#[cfg(feature = "commands")]
pub fn with_second_race_of(run: &Run, path: &Path, first: Analysis) -> Result<Analysis, Failure> {
    let second_path = second_race_path(path);
    if run.header.origin != Origin::Race || !second_path.is_file() {
        return Ok(first);
    }
    let second = read_run(&second_path).map_err(Failure::reading)?;
    if belong_together(&run.header, &second.header) {
        return Ok(with_second_race(first, &second));
    }
    let (path, second) = (path.display(), second_path.display());
    let text = format!("{second} is ignored, because it is not the second race of {path}");
    to_stderr("note", &text);
    Ok(first)
}

/// Adds the results of the second race to the analysis of the first race. If the second race ended
/// early, benchmarks without a verdict in it keep only the first verdict. A benchmark that failed
/// in the second race counts as failed.
pub(crate) fn with_second_race(first: Analysis, second: &Run) -> Analysis {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    with_second_analysis(first, analyse(second, options))
}

/// Combines the analysis `first` of a race with the analysis `again` of its second race.
pub fn with_second_analysis(first: Analysis, again: Analysis) -> Analysis {
    let comparisons = first.comparisons.into_iter();
    let comparisons = comparisons.map(|one| confirmed(one, &again)).collect();
    let failed = again.failures.into_iter().map(|failure| FailedBenchmark {
        benchmark: format!("{} (second race)", failure.benchmark),
        ..failure
    });
    Analysis {
        comparisons,
        failures: first.failures.into_iter().chain(failed).collect(),
        second_race: Some(again.ending),
        ..first
    }
}

/// Adds the result of the second race to a comparison, unless the second race ended before it had a
/// verdict on the same comparison.
fn confirmed(one: Comparison, again: &Analysis) -> Comparison {
    let name = |one: &Comparison| one.candidate.as_ref().map(|side| side.name.clone());
    let same =
        |other: &&Comparison| other.is_of_one_benchmark_with(&one) && name(other) == name(&one);
    let Some(other) = again.comparisons.iter().find(same) else {
        return one;
    };
    // If the candidate is slow in the second race, the budget may end that race without a verdict.
    let is_complete = match other.verdict {
        None => one.verdict.is_none(),
        Some(Verdict::Inconclusive) => again.ending == Ending::Recorded(EndReason::Finished),
        Some(_) => true,
    };
    if !is_complete {
        return one;
    }
    let agrees = agree(one.verdict, other.verdict);
    let is_change = matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower));
    Comparison {
        suite: InSuite {
            confirmation: Some(Confirmation {
                verdict: other.verdict,
                estimate: other.estimate,
                alpha: other.terms.alpha,
                agrees,
            }),
            holds: if is_change { agrees } else { one.suite.holds },
            ..one.suite
        },
        ..one
    }
}

/// Returns true if a race ended as planned or at the end of its budget.
pub(crate) fn came_to_its_end(ending: &Ending) -> bool {
    matches!(
        ending,
        Ending::Recorded(EndReason::Finished | EndReason::Budget)
    )
}

/// Returns true if two verdicts are equal, or if both are missing or too close to call.
fn agree(first: Option<Verdict>, second: Option<Verdict>) -> bool {
    let open = FailOn::Inconclusive;
    first == second || (open.holds(first) && open.holds(second))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use deadheat_testing::runs::{design, header, one_look};

    use super::*;

    #[test]
    fn the_second_file_stands_beside_the_first() {
        let second = second_race_path(Path::new("a/run.jsonl"));
        assert_eq!(second, Path::new("a/run.confirm.jsonl"));
    }

    #[test]
    fn the_second_seed_is_that_of_one_first_race() {
        let seeds = (0..100).map(|second| {
            let mut header = header(design(one_look(6)), 1, Vec::new());
            header.started_at = Some(second);
            let seed = second_seed(&header);
            assert_eq!(seed, second_seed(&header.clone()));
            assert!(seed != header.plan.seed && seed < 1 << 53);
            seed
        });
        let distinct: HashSet<u64> = seeds.collect();
        assert_eq!(distinct.len(), 100);
    }

    #[test]
    fn two_races_agree_on_a_direction_or_on_nothing() {
        let [slower, faster] = [Some(Verdict::Slower), Some(Verdict::Faster)];
        assert!(agree(slower, slower) && !agree(slower, faster));
        assert!(!agree(slower, Some(Verdict::Inconclusive)) && !agree(slower, None));
        assert!(agree(None, Some(Verdict::Inconclusive)));
        assert!(!agree(
            Some(Verdict::Inconclusive),
            Some(Verdict::Equivalent)
        ));
    }
}
