//! The sentences of a history: its heading, steps and creep, whether its loops close, and suggested
//! commands.

use deadheat::parts::model::{Commit, LogRatio};
use deadheat::parts::report::units::{counted, effect, interval, p_is, share, sized, two_digits};
use deadheat::parts::report::{Glyphs, enumerated, escape, first_of, shell, shorten};

use crate::timeline::{
    CommitOrder, History, LoopClosure, Timeline, TimelineChange, TimelineCommit,
};

/// The p-value below which the loops of races count as not closing.
pub(crate) const GAP: f64 = 0.05;

/// The largest width of a commit's subject in a sentence, in columns.
const SUBJECT: usize = 60;

pub(crate) fn named(commit: &Commit, glyphs: Glyphs) -> String {
    let short = escape(commit.short(), glyphs);
    match commit.subject.as_str() {
        "" => short,
        subject => {
            let subject = shorten(&escape(subject, glyphs), SUBJECT, glyphs);
            format!("{short} '{subject}'")
        }
    }
}

/// Returns the level of a commit and its interval; the first commit of a part is the reference.
pub(crate) fn level(one: &TimelineCommit, glyphs: Glyphs) -> (String, String) {
    match &one.interval {
        Some(found) => (
            effect(one.level, Some(found), glyphs),
            interval(found, glyphs),
        ),
        None => ("0%".to_owned(), "reference".to_owned()),
    }
}

/// Describes a step: at a commit, or somewhere in a range of commits that were not raced.
pub(crate) fn changed(timeline: &Timeline, step: &TimelineChange, glyphs: Glyphs) -> String {
    let after = &timeline.commits[step.to];
    let place = match after.skipped {
        0 => named(&after.commit, glyphs),
        skipped => {
            let before = &timeline.commits[step.from].commit;
            format!(
                "{}, or one of the {} between it and {}",
                named(&after.commit, glyphs),
                counted(skipped as u64, "commit", "commits"),
                escape(before.short(), glyphs)
            )
        }
    };
    format!("{place}: {}", test(step, glyphs))
}

/// Returns the steps and the creep of a benchmark, each with its kind and a description.
pub(crate) fn changes(
    timeline: &Timeline,
    glyphs: Glyphs,
) -> impl Iterator<Item = (&'static str, &TimelineChange, String)> {
    let step = move |step| ("step", step, changed(timeline, step, glyphs));
    let creep = move |creep| ("creep", creep, creeping(timeline, creep, glyphs));
    let steps = timeline.steps.iter().map(step);
    steps.chain(timeline.creep.iter().map(creep))
}

pub(crate) fn creeping(timeline: &Timeline, creep: &TimelineChange, glyphs: Glyphs) -> String {
    let [before, after] = [creep.from, creep.to].map(|place| &timeline.commits[place].commit);
    format!(
        "from {} to {}, steps excluded: {}",
        escape(before.short(), glyphs),
        escape(after.short(), glyphs),
        test(creep, glyphs)
    )
}

fn test(change: &TimelineChange, glyphs: Glyphs) -> String {
    let sized = sized(change.effect, Some(&change.interval), glyphs);
    format!("{sized}, {}", p_is(change.p_value))
}

/// Returns the command that finds the commit of a step; `None` if the commit is already known or
/// git does not know both ends.
pub fn bisecting(timeline: &Timeline, change: &TimelineChange) -> Option<String> {
    let [before, after] = [change.from, change.to].map(|place| &timeline.commits[place]);
    let is_known = |one: &TimelineCommit| one.order == CommitOrder::OnLine;
    let is_range = change.to > change.from + 1 || after.skipped > 0;
    (is_range && is_known(before) && is_known(after)).then(|| {
        let range = format!("{}..{}", before.commit.short(), after.commit.short());
        let words = [
            "deadheat",
            "bisect",
            &range,
            "--bench",
            &timeline.series.benchmark,
        ];
        shell(&words.map(str::to_owned))
    })
}

/// Returns the command that accepts a step.
pub fn accepting(timeline: &Timeline, change: &TimelineChange) -> String {
    let after = &timeline.commits[change.to].commit;
    let words = [
        "deadheat",
        "history",
        "accept",
        after.short(),
        "--benchmark",
    ];
    let mut words = words.map(str::to_owned).to_vec();
    words.push(timeline.series.name());
    shell(&words) + " \"why\""
}

pub(crate) fn closure(closure: &LoopClosure, history: &History, glyphs: Glyphs) -> String {
    let Some(p) = closure.p_value else {
        return "no races form a loop, so nothing checks their errors; `deadheat history extend` \
                adds races that do"
            .to_owned();
    };
    let chi = glyphs.choose("χ²", "chi-squared");
    let sum = format!(
        "{chi} {} on {}",
        two_digits_or_whole(closure.chi_squared),
        counted(
            closure.degrees as u64,
            "degree of freedom",
            "degrees of freedom"
        )
    );
    let widened = closure.widened.iter().map(|(machine, factor)| {
        let name = escape(&history.machine(*machine), glyphs);
        format!(
            "the standard errors on {name} were {} times too small and have been widened",
            two_digits(*factor)
        )
    });
    match widened.collect::<Vec<_>>() {
        none if none.is_empty() && p < GAP => format!(
            "the loops of races do not close ({sum}, {}), and no single machine explains this: \
             some standard error is too small",
            p_is(p)
        ),
        none if none.is_empty() => format!("all loops of races close: {sum}"),
        widened => format!(
            "not all loops of races close ({sum}): {}",
            widened.join("; ")
        ),
    }
}

fn two_digits_or_whole(value: f64) -> String {
    if value >= 9.95 {
        format!("{value:.1}")
    } else {
        two_digits(value)
    }
}

pub(crate) fn heading(history: &History, glyphs: Glyphs) -> String {
    let races: usize = history.timelines.iter().map(|one| one.races.len()).sum();
    let benchmarks = counted(history.timelines.len() as u64, "benchmark", "benchmarks");
    let commits = || history.timelines.iter().flat_map(|one| &one.commits);
    let shown = counted(history.shown as u64, "commit", "commits");
    let mut text = format!("{benchmarks} over {shown}");
    if let [one] = &history.timelines[..]
        && let (Some(first), Some(last)) = (one.commits.first(), one.commits.last())
    {
        let [first, last] = [first, last].map(|one| escape(one.commit.short(), glyphs));
        text = format!(
            "{} over {}, {first} to {last}",
            escape(&one.series.name(), glyphs),
            counted(one.commits.len() as u64, "commit", "commits"),
        );
    }
    let machines = 0..history.machines.len();
    let machines: Vec<String> = machines
        .map(|machine| escape(&history.machine(machine), glyphs))
        .collect();
    let machines = match machines.len() {
        0 => String::new(),
        1..=3 => format!(" on {}", enumerated(&machines)),
        many => format!(" on {many} machines"),
    };
    if commits().next().is_none() {
        return "No commit of this range was raced.".to_owned();
    }
    format!(
        "{text}: {}{machines}.",
        counted(races as u64, "race", "races")
    )
}

/// Returns remarks on the shown commits, and on the error rate of the tests.
pub(crate) fn remarks(history: &History) -> Vec<String> {
    let mut remarks = on_order(history);
    if history.older {
        remarks.push("older commits are left out; --all, --last and --range show them".to_owned());
    }
    remarks.extend(on_gaps(history));
    if history.timelines.iter().any(|one| one.commits.len() > 1) {
        remarks.push(format!(
            "the chance of any false step in this answer is at most {}, and the same holds for \
             false creep; each interval alone has a confidence of {}",
            share(history.alpha),
            share(history.confidence)
        ));
    }
    remarks
}

/// Returns the reasons why a check can miss a change for the worse.
pub(crate) fn limits_of_check(history: &History, glyphs: Glyphs) -> Vec<String> {
    let mut limits = on_order(history);
    if history.unknown > 0 || !history.has_git {
        limits.push(
            "next to a commit that is placed by time, a step in either direction fails the check"
                .to_owned(),
        );
    }
    limits.extend(on_gaps(history));
    limits.extend(on_the_newest(history));
    let imprecise = history.timelines.iter().filter(is_imprecise);
    limits.extend(imprecise.map(|one| imprecise_in_words(one, history, glyphs)));
    for timeline in &history.timelines {
        let covers = |one: &&TimelineCommit| one.accepted.is_some() && one.skipped > 0;
        limits.extend(timeline.commits.iter().filter(covers).map(|one| {
            format!(
                "{}: the accepted change at {} may come from any of {} that were not raced",
                escape(&timeline.series.name(), glyphs),
                one.commit.short(),
                counted(one.skipped as u64, "commit", "commits")
            )
        }));
    }
    for timeline in &history.timelines {
        let is_open = timeline.closure.p_value.is_some_and(|p| p < GAP);
        if is_open || !timeline.closure.widened.is_empty() {
            let name = escape(&timeline.series.name(), glyphs);
            limits.push(format!(
                "{name}: {}",
                closure(&timeline.closure, history, glyphs)
            ));
        }
    }
    limits
}

/// Returns true if the races of the last commit are so imprecise that even a doubling could be
/// chance.
pub(crate) fn is_imprecise(timeline: &&Timeline) -> bool {
    let last = timeline.commits.last().and_then(|last| last.change);
    last.is_some_and(|change| change.high.0 - change.low.0 > 4f64.ln())
}

pub(crate) fn imprecise_in_words(timeline: &Timeline, history: &History, glyphs: Glyphs) -> String {
    let last = timeline.commits.last();
    let at = last.map_or("", |last| last.commit.short());
    let change = last.and_then(|last| last.change);
    let change = change.map_or(String::new(), |change| interval(&change, glyphs));
    let why = match timeline.closure.widened.is_empty() {
        true => String::new(),
        false => format!("; {}", closure(&timeline.closure, history, glyphs)),
    };
    format!(
        "the races of {} cannot judge {at}, where even a doubling could be chance ({change}){why}",
        escape(&timeline.series.name(), glyphs)
    )
}

/// Returns remarks on commits and benchmarks that the check does not judge: the newest commit of
/// the range if it was not raced, and benchmarks without a race of the newest raced commit.
fn on_the_newest(history: &History) -> Vec<String> {
    const NAMED: usize = 5;
    let Some(newest) = &history.newest else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    if let Some(tip) = history.tip.as_ref().filter(|tip| tip.id != newest.id) {
        remarks.push(format!(
            "{} was not raced; the newest commit of this check is {}",
            tip.short(),
            newest.short()
        ));
    }
    let ends_before = |one: &&Timeline| {
        let last = one.commits.last();
        last.is_some_and(|last| last.commit.id != newest.id)
    };
    let without: Vec<&Timeline> = history.timelines.iter().filter(ends_before).collect();
    let names: Vec<String> = without.iter().map(|one| one.series.name()).collect();
    match &without[..] {
        [] => {}
        [one] => {
            let last = one.commits.last().map_or("", |last| last.commit.short());
            let (name, newest) = (one.series.name(), newest.short());
            remarks.push(format!(
                "{name} has no race at {newest}; its last is at {last}"
            ));
        }
        _ => remarks.push(format!(
            "no races at {} for {}",
            newest.short(),
            first_of(names, NAMED)
        )),
    }
    remarks
}

/// Returns the line about small steps that add up to a large change.
pub(crate) fn steps_below(
    timeline: &Timeline,
    count: usize,
    total: LogRatio,
    glyphs: Glyphs,
) -> String {
    format!(
        "{}: {} below the margin add up to {}",
        escape(&timeline.series.name(), glyphs),
        counted(count as u64, "step", "steps"),
        effect(total, None, glyphs)
    )
}

/// Returns remarks on commits that are not in order of git's line.
fn on_order(history: &History) -> Vec<String> {
    let mut remarks = Vec::new();
    if history.unknown > 0 {
        remarks.push(format!(
            "{} not in this repository (rebased, or the clone is shallow); placed by time, and \
             marked with ?",
            counted(history.unknown as u64, "commit is", "commits are"),
        ));
    }
    if history.off_line > 0 {
        remarks.push(format!(
            "{} from this period {} on another branch; --all-parents shows those that were merged",
            counted(history.off_line as u64, "commit", "commits"),
            if history.off_line == 1 { "is" } else { "are" },
        ));
    }
    if !history.has_git && history.shown > 0 {
        remarks.push("git is not available here, so commits are in order of time".to_owned());
    }
    remarks
}

/// Returns a remark on neighbouring commits that no races connect; `None` without any.
fn on_gaps(history: &History) -> Option<String> {
    let unconnected: usize = history.timelines.iter().map(|one| one.unconnected).sum();
    (unconnected > 0).then(|| {
        format!(
            "no races connect {}; after such a gap, levels are relative to the first commit after \
             it",
            counted(
                unconnected as u64,
                "pair of neighbours",
                "pairs of neighbours"
            )
        )
    })
}

/// Returns the lines that a check prints: each change that fails it, with commands to investigate
/// or accept the change.
pub fn check_lines(
    timeline: &Timeline,
    changes: &[(&TimelineChange, bool)],
    glyphs: Glyphs,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (change, is_step) in changes {
        let told = if *is_step {
            format!("step at {}", changed(timeline, change, glyphs))
        } else {
            format!("creep {}", creeping(timeline, change, glyphs))
        };
        lines.push(format!(
            "{}: {told}",
            escape(&timeline.series.name(), glyphs)
        ));
        lines.extend(bisecting(timeline, change).map(|command| format!("  $ {command}")));
        let accepting = is_step.then(|| accepting(timeline, change));
        lines.extend(accepting.map(|command| format!("  $ {command}")));
    }
    lines
}
