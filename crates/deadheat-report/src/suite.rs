//! A suite and its whole run in words: which comparisons belong to one benchmark, how benchmarks and
//! contenders are called, and where their samples come from; what the run came to, what it took, how
//! it ended, and the benchmarks that were not raced: counted, named, and why.

use deadheat_model::{
    Analysis, Comparison, Control, EndReason, Ending, Estimate, FailedBenchmark, LeftOut,
    LeftOutReason, Overall, Population, Processes, Side, Verdict,
};

use crate::cost::change_head;
use crate::glyphs::Glyphs;
use crate::names::{escape, gathered, shown, some_of, texts};
use crate::units::{self, counted, estimated, waiting};

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

/// True if rows of tables name their candidates: a benchmark may be called by its baseline, and then
/// "slower" next to its name would mean the other one. Rows of two builds or of two sets of files do
/// not, because their names are the same in every row.
pub(crate) fn rows_name_candidates(analysis: &Analysis) -> bool {
    let groups = groups(&analysis.comparisons);
    let races = |one: &Comparison| one.candidate.is_some();
    let have_same_sides = groups.iter().all(|group| group.len() == 1)
        && groups.windows(2).all(|two| names(two[0]) == names(two[1]));
    let are_sides = analysis.of_builds || !analysis.sides.is_empty();
    analysis.comparisons.iter().any(races) && !(have_same_sides && are_sides)
}

/// A row's name: the benchmark's, and the candidate's if rows name them.
pub(crate) fn row_name(title: &str, candidate: Option<&str>) -> String {
    match candidate {
        Some(candidate) => format!("{title}: {candidate}"),
        None => title.to_owned(),
    }
}

/// The fewest benchmarks whose geometric mean has a useful interval: with two, it reached from −98% to
/// +712%.
const A_SAMPLE: usize = 10;

/// A geometric mean as it is shown: with its interval only if there are enough benchmarks for one.
pub(crate) fn mean_of(overall: &Overall) -> Estimate {
    let interval = overall.estimate.interval;
    Estimate {
        interval: interval.filter(|_| overall.benchmarks >= A_SAMPLE),
        ..overall.estimate
    }
}

/// A benchmark's name with the parameter values it does not already tell, and the quantile where one
/// is judged.
pub(crate) fn title(comparison: &Comparison, glyphs: Glyphs) -> String {
    let title = title_of(
        &comparison.benchmark,
        &comparison.details.parameters,
        glyphs,
    );
    match comparison.terms.quantile {
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
    comparison
        .details
        .threads
        .filter(|threads| !is_told(threads))
}

/// True where a benchmark has no name but what `deadheat run` calls a race of any
/// commands, which then have to tell what it is.
pub(crate) fn is_any_run(group: &[Comparison], source: Source) -> bool {
    let is_any =
        |first: &Comparison| first.benchmark == "run" && first.details.parameters.is_empty();
    source == Source::Commands && group.first().is_some_and(is_any)
}

/// The same of a benchmark that failed.
pub(crate) fn failed_title(failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    title_of(&failure.benchmark, &failure.parameters, glyphs)
}

/// A name with the parameters it does not already tell.
pub(crate) fn title_of(benchmark: &str, parameters: &[(String, String)], glyphs: Glyphs) -> String {
    title_with(benchmark, untold(benchmark, parameters), glyphs)
}

/// The parameters that a name may not tell. One such as `test_sum[10-list]` of pytest tells all.
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

/// A name with the facts it does not already tell; what has no key stands by itself.
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

/// So many names stand in a sentence; all of them are in the JSON.
const NAMED: usize = 50;
/// Columns that one name may take.
const NAME: usize = 100;
/// Columns that a reason in the words of others may take.
const REASON: usize = 400;

/// The change over all benchmarks; in full with its interval, if there are enough of them, and what
/// that takes for granted.
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
        Population::These => "of these benchmarks alone",
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

/// That a benchmark has no answer, and why; `title` is how it is called, already fit to be shown.
pub fn failed(title: &str, failure: &FailedBenchmark, glyphs: Glyphs) -> String {
    // The engine names the benchmark too; once is enough.
    let named = format!("benchmark '{}', ", failure.benchmark);
    let message = failure.message.strip_prefix(&named);
    let message = message.unwrap_or(&failure.message);
    let message = shown(message, 400, glyphs);
    match message.trim_end_matches('.') {
        "" => format!("benchmark '{title}' failed."),
        message => format!("benchmark '{title}' failed: {message}."),
    }
}

/// The number of comparisons that came to each verdict, and of benchmarks that came to none
/// since they failed or were left out.
pub fn tally(
    comparisons: &[Comparison],
    failures: &[FailedBenchmark],
    left_out: &[LeftOut],
) -> String {
    let left_out = [(left_out.len(), "left out".to_owned())];
    tally_with(comparisons, failures, &left_out)
}

/// The same with what was left out counted by the caller, each count before its words.
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

/// The number of calls that chance explains, and of changes that hold for all comparisons together;
/// empty if all of them do.
fn doubtful(comparisons: &[Comparison]) -> String {
    let judged = comparisons.iter().filter(|one| is_judged(one)).count();
    let changed = comparisons.iter().filter(|one| is_changed(one)).count();
    let alone = comparisons.iter().filter(|one| holds_alone(one)).count();
    if alone == 0 {
        return String::new();
    }
    let hold = match changed - alone {
        0 => format!("none of the {changed} that changed holds"),
        1 => format!("1 of the {changed} that changed holds"),
        some => format!("{some} of the {changed} that changed hold"),
    };
    let confirmed = match comparisons
        .iter()
        .any(|one| one.suite.confirmation.is_some())
    {
        true => " or in a second race",
        false => "",
    };
    let by_chance = explained_by_chance(comparisons);
    format!(
        " (by chance alone, {by_chance} of {judged} would change; {hold} for all {judged} \
         together{confirmed})"
    )
}

/// The calls to expect if nothing changed. Candidates of one benchmark share its error rate, so it
/// counts once for them.
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

/// Marks a change that holds by itself and not for all comparisons together.
pub(crate) fn mark_alone(comparison: &Comparison, glyphs: Glyphs) -> &'static str {
    if holds_alone(comparison) {
        glyphs.alone()
    } else {
        ""
    }
}

/// The meaning of that mark; `None` if no row has it.
pub(crate) fn legend_alone(comparisons: &[Comparison], glyphs: Glyphs) -> Option<String> {
    let marked = || comparisons.iter().filter(|one| holds_alone(one));
    marked().next()?;
    let judged = comparisons.iter().filter(|one| is_judged(one)).count();
    let unconfirmed = match marked().any(|one| one.suite.confirmation.is_some()) {
        true => ", or a second race did not confirm it",
        false => "",
    };
    Some(format!(
        "{} is significant alone, but not for all {judged} together{unconfirmed}",
        glyphs.alone()
    ))
}

/// The outcome of the controls of a suite; `None` without any.
pub fn controls(comparisons: &[Comparison]) -> Option<String> {
    // Candidates of one baseline have one control.
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

/// The effort of the whole run; `None` for a recording, of which nobody knows.
pub fn effort(analysis: &Analysis) -> Option<String> {
    let processes = match Source::of(analysis) {
        Source::Recording => return None,
        Source::Commands | Source::Harness => counted(analysis.launches, "launch", "launches"),
        Source::Functions | Source::Programs => counted(analysis.launches, "process", "processes"),
    };
    let mut text = format!("{processes}, {}", waiting(analysis.elapsed_seconds));
    if let Some(seed) = analysis.seed {
        text += &format!(", seed {seed}");
    }
    Some(text)
}

/// The time that the whole run took; `None` for a recording.
pub fn time(analysis: &Analysis) -> Option<String> {
    let raced = Source::of(analysis) != Source::Recording;
    raced.then(|| waiting(analysis.elapsed_seconds))
}

/// The ending of the run, when that is worth a sentence.
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
                "The run failed and what was measured before is shown: {reason}."
            ))
        }
        Ending::Cut => Some(format!(
            "The recording ends without an end record, so deadheat was killed; the answer uses \
             what \
             was recorded until then{}.",
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

/// A sentence for each reason, with the benchmarks it holds for; in the order
/// in which the reasons first come up.
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
        LeftOutReason::Skipped(message) => {
            format!("{count} {verb} skipped ({}): {list}.", quoted(message))
        }
        LeftOutReason::NotAlike(why) => {
            let verb = if names.len() == 1 { "is" } else { "are" };
            format!(
                "{count} {verb} not alike on both sides ({}): {list}.",
                quoted(why)
            )
        }
    }
}

/// The words in place of the verdict of a benchmark in a table, where it has a row:
/// what only one side has is named below the table instead.
pub(crate) fn left_out_cell(reason: &LeftOutReason) -> Option<&'static str> {
    match reason {
        LeftOutReason::OnlyIn(_) => None,
        LeftOutReason::Skipped(_) => Some("skipped"),
        LeftOutReason::NotAlike(_) => Some("not alike"),
    }
}

/// Those that have a row, each with its name fit to be shown and its cell.
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
                "1 benchmark is not alike on both sides (one has 2 threads): d.",
            ]
        );
        assert_eq!(
            left_out_rows(&all, Glyphs::Ascii),
            [("c".to_owned(), "skipped"), ("d".to_owned(), "not alike")]
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
