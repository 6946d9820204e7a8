//! Sentences about histories.

use deadheat_model::{
    Commit, CommitOrder, History, Interval, LogRatio, LoopClosure, Timeline, TimelineChange,
    TimelineCommit,
};

use crate::enumeration::enumerated;
use crate::figures::probability;
use crate::glyphs::Glyphs;
use crate::names::{escape, shorten};
use crate::run::shell;
use crate::units::{Precision, counted, interval, share, two_digits};

/// Columns of a subject in a sentence.
const SUBJECT: usize = 60;

/// p below which loops do not close.
pub(super) const GAP: f64 = 0.05;

/// A commit by its short name and its subject.
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

/// An effect with its interval: "+2.1 % [+1.4 %, +2.8 %]".
pub(crate) fn sized(effect: LogRatio, found: Option<&Interval>, glyphs: Glyphs) -> String {
    let change = Precision::of(found).signed(effect.change(), glyphs);
    match found {
        Some(found) => format!("{change} {}", interval(found, glyphs)),
        None => change,
    }
}

/// The level of a commit and its interval; the first commit of a part has none.
pub(crate) fn level(one: &TimelineCommit, glyphs: Glyphs) -> (String, String) {
    match &one.interval {
        Some(found) => {
            let level = Precision::of(Some(found)).signed(one.level.change(), glyphs);
            (level, interval(found, glyphs))
        }
        None => ("0 %".to_owned(), "reference".to_owned()),
    }
}

/// A step in a sentence: at a commit, or somewhere in a range of commits that nobody raced.
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

/// Creep in a sentence.
pub(crate) fn creeping(timeline: &Timeline, creep: &TimelineChange, glyphs: Glyphs) -> String {
    let [before, after] = [creep.from, creep.to].map(|place| &timeline.commits[place].commit);
    format!(
        "from {} to {}, beside steps: {}",
        escape(before.short(), glyphs),
        escape(after.short(), glyphs),
        test(creep, glyphs)
    )
}

fn test(change: &TimelineChange, glyphs: Glyphs) -> String {
    let sized = sized(change.effect, Some(&change.interval), glyphs);
    let p = probability(change.p_value);
    match p.strip_prefix("< ") {
        Some(least) => format!("{sized}, p < {least}"),
        None => format!("{sized}, p = {p}"),
    }
}

/// The command that finds the commit of a step; `None` where there is but one.
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

/// The command that accepts a step.
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
    words.push(timeline.series.benchmark.clone());
    shell(&words) + " \"why\""
}

/// A clause on the loops of races: if they close, the errors can be believed.
pub(crate) fn closure(closure: &LoopClosure, history: &History, glyphs: Glyphs) -> String {
    let Some(p) = closure.p_value else {
        return "no races form a loop, so nothing checks their errors; `deadheat history extend` \
                lays such"
            .to_owned();
    };
    let chi = match glyphs {
        Glyphs::Unicode => "χ²",
        Glyphs::Ascii => "chi-squared",
    };
    let sum = format!(
        "{chi} {} on {}",
        two_digits_or_whole(closure.chi_squared),
        counted(closure.degrees as u64, "degree", "degrees")
    );
    let widened = closure.widened.iter().map(|(machine, factor)| {
        let name = escape(&history.machine(*machine), glyphs);
        format!(
            "those of {name} do not: its errors were {} times too small, and are widened",
            two_digits(*factor)
        )
    });
    match widened.collect::<Vec<_>>() {
        none if none.is_empty() && p < GAP => format!(
            "loops do not close ({sum}, p = {}), and no machine alone is the cause: some error is \
             too small",
            probability(p)
        ),
        none if none.is_empty() => format!("loops close: {sum}"),
        widened => format!("loops close but for these ({sum}): {}", widened.join("; ")),
    }
}

fn two_digits_or_whole(value: f64) -> String {
    if value >= 9.95 {
        format!("{value:.1}")
    } else {
        two_digits(value)
    }
}

/// The commits, races and machines of the history, in a sentence.
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

/// Remarks on the commits that are shown, and on the level of the tests.
pub(crate) fn remarks(history: &History) -> Vec<String> {
    let mut remarks = Vec::new();
    let is_are = |count: usize| if count == 1 { "is" } else { "are" };
    if history.unknown > 0 {
        remarks.push(format!(
            "{} {} not in this repository, as after a rebase or in a shallow clone; placed by \
             time, and marked with ?",
            counted(history.unknown as u64, "commit", "commits"),
            is_are(history.unknown),
        ));
    }
    if history.off_line > 0 {
        remarks.push(format!(
            "{} of this time {} on another line; --all-parents shows those that were merged",
            counted(history.off_line as u64, "commit", "commits"),
            is_are(history.off_line),
        ));
    }
    if !history.has_git && history.shown > 0 {
        remarks.push("there is no git here: commits are in the order of their times".to_owned());
    }
    if history.older {
        remarks.push("older commits are left out; --all, --last and --range show them".to_owned());
    }
    let unconnected: usize = history.timelines.iter().map(|one| one.unconnected).sum();
    if unconnected > 0 {
        remarks.push(format!(
            "no races connect {}; from there on, levels are relative to the first commit behind \
             the gap",
            counted(
                unconnected as u64,
                "pair of neighbours",
                "pairs of neighbours"
            )
        ));
    }
    if history.timelines.iter().any(|one| one.commits.len() > 1) {
        remarks.push(format!(
            "the chance of one false step or more in all of this is at most {}, and of false creep \
             too; every interval holds at {} by itself",
            share(history.alpha),
            share(history.confidence)
        ));
    }
    remarks
}

/// The lines that a check prints: each change that fails it, with the commands that go on from
/// there.
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
