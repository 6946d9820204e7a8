//! One benchmark on all sides: whether it can be compared, and in which metrics.

use deadheat_model::{LeftOutReason, Metric, ResultBenchmark, ResultState};

/// The values of one benchmark in one file of a side.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    /// The place of the file among those of its side.
    pub(super) file: usize,
    pub(super) benchmark: &'a ResultBenchmark,
}

/// The outcome for a benchmark.
pub(super) enum Match {
    /// It is compared.
    Compared {
        /// The metric that is judged.
        judged: Metric,
        /// All that every side recorded.
        metrics: Vec<Metric>,
        /// The statistic that is all that was kept somewhere.
        summary: Option<String>,
    },
    /// It failed, in these words.
    Failed(String),
    /// It is not compared.
    LeftOut(LeftOutReason),
}

/// Decides over a benchmark that these sides hold, each with its name, the
/// baseline first.
pub(super) fn matched(sides: &[(&str, &[Held<'_>])], asked: Option<&str>) -> Match {
    let all = || every(sides);
    for (side, benchmark) in all() {
        if let ResultState::Failed(message) = &benchmark.state {
            let told = if message.is_empty() { "" } else { ": " };
            return Match::Failed(format!("it failed in '{side}'{told}{message}"));
        }
    }
    for (_, benchmark) in all() {
        if let ResultState::Skipped(message) = &benchmark.state {
            return Match::LeftOut(LeftOutReason::Skipped(message.clone()));
        }
    }
    let unlike = |why: String| Match::LeftOut(LeftOutReason::NotAlike(why));
    if let Some((side, _)) = all().find(|(_, benchmark)| benchmark.processes.is_empty()) {
        return unlike(format!("'{side}' holds no values of it"));
    }
    if let Some(why) = other_threads(sides) {
        return unlike(why);
    }
    // What all files of all sides have, as the baseline orders it.
    let (_, first) = sides[0];
    let everywhere = |metric: &&Metric| {
        let named = |benchmark: &ResultBenchmark| place_of(benchmark, metric).is_some();
        all().all(|(_, benchmark)| named(benchmark))
    };
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

/// Every file of every side that holds the benchmark, with the side's name.
fn every<'s>(
    sides: &'s [(&'s str, &'s [Held<'s>])],
) -> impl Iterator<Item = (&'s str, &'s ResultBenchmark)> {
    sides.iter().flat_map(|(name, held)| {
        let name = *name;
        held.iter().map(move |held| (name, held.benchmark))
    })
}

/// Returns the place of a metric among the values of a benchmark: the same name and unit.
pub(super) fn place_of(benchmark: &ResultBenchmark, metric: &Metric) -> Option<usize> {
    let same = |own: &Metric| own.name() == metric.name() && own.unit() == metric.unit();
    benchmark.metrics.iter().position(same)
}

/// The same name on another number of threads is other work.
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
            format!("'{name}' measures nothing every time")
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
