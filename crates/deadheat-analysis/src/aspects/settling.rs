//! The number of further replicates that would make an inconclusive verdict conclusive, and the
//! time that they would take.

use deadheat_model::{Comparison, LogRatio, Settling, Verdict};
use deadheat_stats::replicates_to_settle;

use crate::inputs::Inputs;

/// Computes the number of further replicates. [`seconds_to_settle`] adds their time, which depends
/// on all benchmarks.
pub(super) fn from_inputs(inputs: &Inputs<'_>) -> Option<Settling> {
    let pair = inputs.pair?;
    let estimate = pair.estimate?;
    let pooled = &estimate.pooled;
    let is_open = inputs.measurement.verdict == Some(Verdict::Inconclusive);
    if !is_open || pooled.replicates < 2 || pooled.se <= 0.0 {
        return None;
    }
    let replicates = replicates_to_settle(
        pooled.theta,
        pooled.se,
        pooled.replicates,
        LogRatio::from_change(inputs.measurement.terms.margin).0,
        estimate.plain_level,
    )?;
    Some(Settling {
        replicates,
        seconds: None,
        in_place_of: launch_limit(&inputs.header().command),
    })
}

/// Returns the option of a recorded command that sets the number of launches.
fn launch_limit(command: &[String]) -> Option<&'static str> {
    let options = command.iter().take_while(|word| *word != "--");
    let mut limits = options.filter_map(|word| {
        let name = word.split('=').next().unwrap_or_default();
        let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
        match (name, short) {
            ("--runs", _) | (_, "-r") => Some("-r"),
            ("--max-runs", _) | (_, "-M") => Some("-M"),
            _ => None,
        }
    });
    limits.next()
}

/// Returns the time of the further replicates of each comparison in seconds, from the mean time of
/// a replicate over all benchmarks.
pub(crate) fn seconds_to_settle(
    comparisons: &[Comparison],
    elapsed_seconds: f64,
) -> Vec<Option<f64>> {
    let replicates = |one: &Comparison| one.estimate.as_ref().map_or(0, |e| e.replicates);
    let benchmarks = comparisons.chunk_by(Comparison::is_of_one_benchmark_with);
    let raced = benchmarks.map(|group| group.iter().map(replicates).max().unwrap_or(0));
    let raced: usize = raced.sum();
    let seconds = |one: &Comparison| {
        let settling = one.aspects.settling.filter(|_| raced > 0)?;
        Some(settling.replicates as f64 * elapsed_seconds / raced as f64)
    };
    comparisons.iter().map(seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_option_that_sets_the_number_of_launches() {
        for (command, found) in [
            ("deadheat run -r 10 -- a b", Some("-r")),
            ("deadheat run -r10 a b", Some("-r")),
            ("deadheat run --runs=10 a b", Some("-r")),
            ("deadheat run -q -M 50 -- a b", Some("-M")),
            ("deadheat run --max-runs 50 -- a b", Some("-M")),
            ("deadheat run --max-replicates 50 -- a -r", None),
            ("", None),
        ] {
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            assert_eq!(launch_limit(&words), found, "{command}");
        }
    }
}
