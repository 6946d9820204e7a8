//! Sentences about a suite and its run: the names of benchmarks and contenders, the source of the
//! samples, the counts of verdicts, the effort, how the run ended, and the benchmarks that failed
//! or were left out.

use deadheat_model::{
    Analysis, Comparison, Control, EndReason, Ending, Estimate, FailedBenchmark, LeftOut,
    LeftOutReason, Overall, Population, Processes, Side, Verdict,
};

use crate::cost::change_head;
use crate::glyphs::Glyphs;
use crate::names::{escape, gathered, shown, some_of, texts};
use crate::units::{self, counted, estimated, waiting};

/// The names of the two sides of a comparison in its sentences, already escaped.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    /// The baseline.
    pub baseline: &'a str,
    /// The candidate; `None` if the baseline has no candidate.
    pub candidate: Option<&'a str>,
    /// True if the baseline is shown next to the sentence, so that "slower" needs no "than".
    pub baseline_is_shown: bool,
}

/// The source of the samples of a run, which decides what advice an answer gives: to race again, or
/// only to record again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// deadheat raced commands, so advice may name options of `deadheat run`.
    Commands,
    /// deadheat raced functions of one bench target, which has fewer options than `deadheat run`.
    Functions,
    /// deadheat raced functions of programs that it did not build.
    Programs,
    /// deadheat raced servers under load.
    Servers,
    /// deadheat raced executables of other harnesses.
    Harness,
    /// The samples were read from a file.
    Recording,
}

impl Source {
    /// Returns the source of the samples of an analysis.
    pub fn of(analysis: &Analysis) -> Source {
        match (&analysis.ending, analysis.processes) {
            (Ending::Recording, _) => Source::Recording,
            (_, Processes::Launches) => Source::Commands,
            (_, Processes::Workers) => Source::Functions,
            (_, Processes::ProgramWorkers) => Source::Programs,
            (_, Processes::ServerWorkers) => Source::Servers,
            (_, Processes::HarnessLaunches) => Source::Harness,
        }
    }

    /// Returns the text for functions of any kind, for commands, or for recordings.
    pub(crate) fn pick<'w>(
        self,
        functions: &'w str,
        commands: &'w str,
        recording: &'w str,
    ) -> &'w str {
        match self {
            Source::Functions | Source::Programs | Source::Servers | Source::Harness => functions,
            Source::Commands => commands,
            Source::Recording => recording,
        }
    }

    /// Returns the unit of execution: a launch for commands, otherwise an iteration.
    pub(crate) fn iteration(self) -> &'static str {
        match self {
            Source::Commands => "launch",
            _ => "iteration",
        }
    }

    /// Returns the command that resumes a run with this source of samples; `None` if such a run
    /// cannot be resumed.
    pub fn resume(self) -> Option<&'static str> {
        match self {
            Source::Commands => Some("deadheat run --resume FILE"),
            Source::Programs | Source::Harness => Some("deadheat bench --resume FILE"),
            Source::Servers => Some("deadheat load --resume FILE"),
            Source::Functions | Source::Recording => None,
        }
    }
}

/// Returns the command that resumes the run of an analysis, with `FILE` for its run file; `None` if
/// such a run cannot be resumed.
pub fn resume(analysis: &Analysis) -> Option<&'static str> {
    Source::of(analysis).resume()
}

/// Groups the comparisons by benchmark. Each group has one comparison per candidate. The same
/// function with other parameter values is another benchmark.
pub(crate) fn groups(comparisons: &[Comparison]) -> Vec<&[Comparison]> {
    comparisons
        .chunk_by(Comparison::is_of_one_benchmark_with)
        .collect()
}

/// Returns the contenders of a benchmark, the baseline first.
pub(crate) fn sides(group: &[Comparison]) -> Vec<&Side> {
    let candidates = group.iter().filter_map(|c| c.candidate.as_ref());
    std::iter::once(&group[0].baseline)
        .chain(candidates)
        .collect()
}

pub(crate) fn names(group: &[Comparison]) -> Vec<&str> {
    sides(group).iter().map(|side| side.name.as_str()).collect()
}

/// Returns true if rows of tables name their candidates. A benchmark may have the name of its
/// baseline, and then "slower" next to this name would seem to be about the baseline. If two builds
/// or two sets of files are compared, the candidate is the same in every row, so the rows do not
/// name it.
pub(crate) fn rows_name_candidates(analysis: &Analysis) -> bool {
    let groups = groups(&analysis.comparisons);
    let races = |one: &Comparison| one.candidate.is_some();
    let have_same_sides = groups.iter().all(|group| group.len() == 1)
        && groups.windows(2).all(|two| names(two[0]) == names(two[1]));
    let are_sides = analysis.of_builds || !analysis.sides.is_empty();
    analysis.comparisons.iter().any(races) && !(have_same_sides && are_sides)
}

pub(crate) fn row_name(title: &str, candidate: Option<&str>) -> String {
    match candidate {
        Some(candidate) => format!("{title}: {candidate}"),
        None => title.to_owned(),
    }
}

/// The smallest number of benchmarks whose geometric mean is shown with an interval. With two
/// benchmarks, an interval reached from −98% to +712%.
const A_SAMPLE: usize = 10;

/// Returns a geometric mean, with its interval only if there are enough benchmarks.
pub(crate) fn mean_of(overall: &Overall) -> Estimate {
    let interval = overall.estimate.interval;
    Estimate {
        interval: interval.filter(|_| overall.benchmarks >= A_SAMPLE),
        ..overall.estimate
    }
}

/// Returns a benchmark's name, with the parameter values that the name does not contain, and the
/// judged quantile if there is one.
pub(crate) fn title(comparison: &Comparison, glyphs: Glyphs) -> String {
    let title = title_of(
        &comparison.benchmark,
        &comparison.details.parameters,
        glyphs,
    );
    match comparison.terms.quantile {
        // The text is short because narrow tables omit the middle of a title.
        Some(quantile) => format!("{title} at {}", units::share(quantile)),
        None => title,
    }
}

/// Returns the number of threads of a benchmark, unless its name contains that number: `threads:8`
/// in names of Google Benchmark, and `-8` in names of Go. The number in names of Go is the maximum
/// number of threads that may run at once.
pub(crate) fn threads_beside(comparison: &Comparison) -> Option<u32> {
    let is_told = |threads: &u32| {
        let name = &comparison.benchmark;
        name.contains("threads:") || name.ends_with(&format!("-{threads}"))
    };
    comparison
        .details
        .threads
        .filter(|threads| !is_told(threads))
}

/// Returns true if a benchmark has only the generic name that `deadheat run` gives to commands, so
/// that its commands must identify it.
pub(crate) fn is_any_run(group: &[Comparison], source: Source) -> bool {
    let is_any =
        |first: &Comparison| first.benchmark == "run" && first.details.parameters.is_empty();
    source == Source::Commands && group.first().is_some_and(is_any)
}

pub(crate) fn failed_title(failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    title_of(&failure.benchmark, &failure.parameters, glyphs)
}

/// Returns the name of a benchmark, followed by those of its parameters that are not in the name.
pub(crate) fn title_of(benchmark: &str, parameters: &[(String, String)], glyphs: Glyphs) -> String {
    title_with(benchmark, untold(benchmark, parameters), glyphs)
}

/// Returns the parameters that a name may lack. A name such as `test_sum[10-list]` from pytest
/// contains all of them.
pub(crate) fn untold<'p>(
    benchmark: &str,
    parameters: &'p [(String, String)],
) -> &'p [(String, String)] {
    if benchmark.ends_with(']') {
        &[]
    } else {
        parameters
    }
}

/// Returns a name with the facts that it does not contain. A fact with an empty key shows only its
/// value.
pub(crate) fn title_with(benchmark: &str, facts: &[(String, String)], glyphs: Glyphs) -> String {
    let parameters: Vec<String> = facts
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

/// A sentence lists at most this many names; the JSON contains all.
const NAMED: usize = 50;
const NAME: usize = 100;
/// Maximum width, in columns, of a reason written by another program.
const REASON: usize = 400;

/// Returns the mean change over all benchmarks. If `full` is true, the sentence also contains the
/// interval, if there are enough benchmarks for one, and the assumption of this interval.
pub fn overall(
    overall: &Overall,
    analysis: &Analysis,
    (named, full): (bool, bool),
    glyphs: Glyphs,
) -> String {
    let whose = if named {
        format!("'{}': ", shown(&overall.candidate, 60, glyphs))
    } else {
        String::new()
    };
    let estimate = mean_of(overall);
    let [change, interval] = estimated(&estimate, 1.0 - analysis.design.alpha, glyphs);
    let taken = match overall.population {
        Population::These => "for these benchmarks only",
        Population::LikeThese => "if they are a fair sample of what matters",
    };
    let interval = match estimate.interval {
        Some(_) if full => format!(" ({interval}, {taken})"),
        _ => String::new(),
    };
    let what = match change_head(analysis.comparisons.iter().map(|one| &one.terms.metric)) {
        "change" => "geometric mean".to_owned(),
        head => format!("geometric mean {head}"),
    };
    let count = overall.benchmarks;
    format!("{whose}{what} {change} over {count} benchmarks{interval}.")
}

/// Returns the sentence that a benchmark failed, with the reason. `title` is the escaped name of
/// the benchmark.
pub fn failed(title: &str, failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    // The message of the engine begins with the name of the benchmark, which the sentence already
    // contains.
    let named = format!("benchmark '{}', ", failure.benchmark);
    let message = failure.message.strip_prefix(&named);
    let message = message.unwrap_or(&failure.message);
    let message = shown(message, 400, glyphs);
    match message.trim_end_matches('.') {
        "" => format!("benchmark '{title}' failed."),
        message => format!("benchmark '{title}' failed: {message}."),
    }
}

/// Returns the number of comparisons with each verdict, and of benchmarks that failed or were left
/// out.
pub fn tally(
    comparisons: &[Comparison],
    failures: &[FailedBenchmark],
    left_out: &[LeftOut],
) -> String {
    let left_out = [(left_out.len(), "left out".to_owned())];
    tally_with(comparisons, failures, &left_out)
}

/// Returns the counts of [`tally`]; `left_out` contains further counts, each with the words that
/// follow the number.
pub(crate) fn tally_with(
    comparisons: &[Comparison],
    failures: &[FailedBenchmark],
    left_out: &[(usize, String)],
) -> String {
    let count = |verdict| {
        let raced = comparisons.iter().filter(|c| c.candidate.is_some());
        raced.filter(|c| c.verdict == verdict).count()
    };
    let alone = comparisons.iter().filter(|c| c.candidate.is_none()).count();
    let even = count(Some(Verdict::Equivalent));
    let phrases = [
        (count(Some(Verdict::Faster)), "faster"),
        (count(Some(Verdict::Slower)), "slower"),
        (even, if even == 1 { "dead heat" } else { "dead heats" }),
        (count(Some(Verdict::Inconclusive)), "too close to call"),
        (count(None), "without a verdict"),
        (alone, "measured alone"),
        (failures.len(), "failed"),
    ];
    let mut parts: Vec<String> = Vec::new();
    let mut add = |count: usize, words: &str| {
        if count > 0 {
            parts.push(format!("{count} {words}"));
        }
    };
    phrases.iter().for_each(|(count, words)| add(*count, words));
    left_out
        .iter()
        .for_each(|(count, words)| add(*count, words));
    if parts.is_empty() {
        "nothing was compared.".to_owned()
    } else {
        format!("{}{}.", parts.join(", "), doubtful(comparisons))
    }
}

fn is_judged(comparison: &Comparison) -> bool {
    comparison.candidate.is_some() && comparison.verdict.is_some()
}

fn is_changed(comparison: &Comparison) -> bool {
    let changed = matches!(comparison.verdict, Some(Verdict::Faster | Verdict::Slower));
    comparison.candidate.is_some() && changed
}

fn holds_alone(comparison: &Comparison) -> bool {
    is_changed(comparison) && !comparison.suite.holds
}

/// Returns a note with the number of changes that chance alone would cause, and the number that
/// hold for all comparisons together; empty if all changes hold.
fn doubtful(comparisons: &[Comparison]) -> String {
    let judged = comparisons.iter().filter(|one| is_judged(one)).count();
    let changed = comparisons.iter().filter(|one| is_changed(one)).count();
    let alone = comparisons.iter().filter(|one| holds_alone(one)).count();
    if alone == 0 {
        return String::new();
    }
    let hold = match changed - alone {
        0 if changed == 1 => "the change does not hold".to_owned(),
        0 => format!("none of the {changed} changes holds"),
        1 => format!("1 of the {changed} changes holds"),
        some => format!("{some} of the {changed} changes hold"),
    };
    let confirmed = match comparisons
        .iter()
        .any(|one| one.suite.confirmation.is_some())
    {
        true => " or confirmed by a second race",
        false => "",
    };
    let by_chance = explained_by_chance(comparisons);
    format!(
        " (by chance alone, {by_chance} of {judged} would change; {hold} after correction for all \
         {judged}{confirmed})"
    )
}

/// Returns the expected number of false positives if nothing changed. All candidates of a benchmark
/// share one error rate, so each benchmark counts only once.
fn explained_by_chance(comparisons: &[Comparison]) -> String {
    let groups = groups(comparisons).into_iter();
    let rates = groups.filter_map(|group| {
        let mut judged = group.iter().filter(|one| is_judged(one));
        judged.next().map(|one| one.terms.alpha)
    });
    let expected = rates.sum::<f64>().round();
    if expected < 1.0 {
        "fewer than 1".to_owned()
    } else {
        format!("about {expected:.0}")
    }
}

/// Returns the mark of a change that holds for its comparison alone, but not for all comparisons
/// together.
pub(crate) fn mark_alone(comparison: &Comparison, glyphs: Glyphs) -> &'static str {
    if holds_alone(comparison) {
        glyphs.alone()
    } else {
        ""
    }
}

/// Explains the mark of changes that hold for their comparison alone; `None` if no row has this
/// mark.
pub(crate) fn legend_alone(comparisons: &[Comparison], glyphs: Glyphs) -> Option<String> {
    let marked = || comparisons.iter().filter(|one| holds_alone(one));
    marked().next()?;
    let judged = comparisons.iter().filter(|one| is_judged(one)).count();
    let unconfirmed = match marked().any(|one| one.suite.confirmation.is_some()) {
        true => ", or a second race did not confirm it",
        false => "",
    };
    Some(format!(
        "{} holds alone, but not after correction for all {judged} comparisons{unconfirmed}",
        glyphs.alone()
    ))
}

/// Returns how many controls of a suite differ from their baseline; `None` without controls.
pub fn controls(comparisons: &[Comparison]) -> Option<String> {
    // All candidates of a baseline share one control.
    let benchmarks = groups(comparisons).into_iter();
    let controls: Vec<Control> = benchmarks
        .filter_map(|group| group[0].aspects.control)
        .collect();
    let separated = controls.iter().filter(|control| control.separated).count();
    let of = counted(controls.len() as u64, "control", "controls");
    let found = match separated {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    (!controls.is_empty())
        .then(|| format!("controls (each baseline against its copy): {found} of {of} differ."))
}

/// Returns the number of launches or processes, the duration and the seed of the run; `None` for a
/// recording, for which these are unknown.
pub fn effort(analysis: &Analysis) -> Option<String> {
    let processes = match Source::of(analysis) {
        Source::Recording => return None,
        Source::Commands | Source::Harness => counted(analysis.launches, "launch", "launches"),
        Source::Functions | Source::Programs => counted(analysis.launches, "process", "processes"),
        Source::Servers => counted(analysis.launches, "server start", "server starts"),
    };
    let mut text = format!("{processes}, {}", waiting(analysis.elapsed_seconds));
    if let Some(seed) = analysis.seed {
        text += &format!(", seed {seed}");
    }
    Some(text)
}

/// Returns the duration of the whole run; `None` for a recording.
pub fn time(analysis: &Analysis) -> Option<String> {
    let raced = Source::of(analysis) != Source::Recording;
    raced.then(|| waiting(analysis.elapsed_seconds))
}

/// Returns a sentence on how the run ended; `None` if it finished as planned.
pub fn ending(ending: &Ending, source: Source, glyphs: Glyphs) -> Option<String> {
    let again = source.resume();
    match ending {
        Ending::Recording | Ending::Recorded(EndReason::Finished) => None,
        Ending::Recorded(EndReason::Budget) => Some(format!(
            "The time budget was used up before every race was decided; raise it with --budget{}.",
            again.map_or_else(String::new, |command| format!(
                ", or continue with {command}"
            )),
        )),
        Ending::Recorded(EndReason::Interrupted(signal)) => Some(format!(
            "The run was interrupted by {}; {}.",
            signal_name(*signal),
            match again {
                Some(command) => format!("{command} continues it"),
                None => "what was measured before is shown".to_owned(),
            }
        )),
        Ending::Recorded(EndReason::Failed(reason)) => {
            let reason = shown(reason, 400, glyphs);
            let reason = reason.trim_end_matches('.');
            Some(format!(
                "The run failed: {reason}. What was measured before is shown."
            ))
        }
        Ending::Cut => Some(format!(
            "The recording has no end record, so deadheat was killed or is still racing, or the \
             file is an incomplete copy; the answer uses what was recorded{}.",
            again.map_or_else(String::new, |command| format!(
                ", and {command} continues it"
            )),
        )),
    }
}

pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        10 => "SIGUSR1",
        12 => "SIGUSR2",
        14 => "SIGALRM",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

/// Returns a sentence for each reason, with its benchmarks, in the order in which the reasons first
/// occur.
pub fn left_out(left_out: &[LeftOut], glyphs: Glyphs) -> Vec<String> {
    let named = left_out.iter().map(|one| {
        let name = shown(&one.benchmark, NAME, glyphs);
        (&one.reason, name)
    });
    let groups = gathered(named);
    texts(&groups, &|(reason, names)| {
        left_out_sentence(reason, names, glyphs)
    })
}

fn left_out_sentence(reason: &LeftOutReason, names: &[String], glyphs: Glyphs) -> String {
    let quoted = |text: &str| {
        let text = shown(text, REASON, glyphs);
        text.trim_end_matches('.').to_owned()
    };
    let count = counted(names.len() as u64, "benchmark", "benchmarks");
    let verb = if names.len() == 1 { "was" } else { "were" };
    let list = some_of(names, NAMED);
    match reason {
        LeftOutReason::OnlyIn(side) => format!("{count} only in '{}': {list}.", quoted(side)),
        LeftOutReason::Skipped(message) if message.is_empty() => {
            format!("{count} {verb} skipped: {list}.")
        }
        LeftOutReason::Skipped(message) => {
            format!("{count} {verb} skipped ({}): {list}.", quoted(message))
        }
        LeftOutReason::NotAlike(why) => {
            format!("{count} cannot be compared ({}): {list}.", quoted(why))
        }
    }
}

/// Returns the cell in place of the verdict; `None` for benchmarks without a row. A benchmark that
/// only one side has is named below the table instead.
pub(crate) fn left_out_cell(reason: &LeftOutReason) -> Option<&'static str> {
    match reason {
        LeftOutReason::OnlyIn(_) => None,
        LeftOutReason::Skipped(_) => Some("skipped"),
        LeftOutReason::NotAlike(_) => Some("unmatched"),
    }
}

/// Returns the left-out benchmarks that have a row, each with its escaped name and its cell.
pub(crate) fn left_out_rows(left_out: &[LeftOut], glyphs: Glyphs) -> Vec<(String, &'static str)> {
    let row = |one: &LeftOut| Some((escape(&one.benchmark, glyphs), left_out_cell(&one.reason)?));
    left_out.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(benchmark: &str, reason: LeftOutReason) -> LeftOut {
        LeftOut {
            benchmark: benchmark.to_owned(),
            reason,
        }
    }

    #[test]
    fn those_with_the_same_reason_are_counted_and_named_together() {
        let only = |name: &str| one(name, LeftOutReason::OnlyIn("new".to_owned()));
        let skipped = LeftOutReason::Skipped("no GPU\u{1b}[2J.".to_owned());
        let unlike = LeftOutReason::NotAlike("one has 2 threads".to_owned());
        let all = [only("a"), one("c", skipped), one("d", unlike), only("b")];
        assert_eq!(
            left_out(&all, Glyphs::Ascii),
            [
                "2 benchmarks only in 'new': a, b.",
                "1 benchmark was skipped (no GPU\\u{1b}[2J): c.",
                "1 benchmark cannot be compared (one has 2 threads): d.",
            ]
        );
        assert_eq!(
            left_out_rows(&all, Glyphs::Ascii),
            [("c".to_owned(), "skipped"), ("d".to_owned(), "unmatched")]
        );
    }

    #[test]
    fn of_very_many_the_first_are_named_and_all_are_counted() {
        let only = |number| one(&format!("n{number}"), LeftOutReason::OnlyIn("o".to_owned()));
        let all: Vec<LeftOut> = (0..NAMED + 3).map(only).collect();
        let text = left_out(&all, Glyphs::Ascii).swap_remove(0);
        assert!(
            text.starts_with("53 benchmarks only in 'o': n0, "),
            "{text}"
        );
        assert!(text.ends_with("n49 and 3 more."), "{text}");
    }
}
