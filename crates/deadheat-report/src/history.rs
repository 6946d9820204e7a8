//! A history of commits from top to bottom: what it rests on, the line of each benchmark, its steps
//! and creep, whether its loops close, and its commits; and the sentences about them.

mod json;
mod page;

pub use json::to_history_json;
pub use page::{HistoryLinks, to_history_page};

use deadheat_model::{
    Commit, CommitOrder, Day, History, LoopClosure, Timeline, TimelineChange, TimelineCommit,
    Verdict,
};

use crate::document::{
    Block, Cell, Content, Entry, Kind, Note, Part, Row, Severity, Table, Tone, mark_of,
};
use crate::glyphs::Glyphs;
use crate::markdown;
use crate::names::{enumerated, escape, shorten};
use crate::run::shell;
use crate::terminal::Terminal;
use crate::units::{Precision, counted, effect, extent, interval, p_is, share, sized, two_digits};

/// Columns that a line of levels takes at most; several commits share one where there are more.
const COLUMNS: usize = 60;

/// The same beside figures.
const COLUMNS_BESIDE: usize = 30;

/// The smallest difference of levels, as ln, that fills the height of a line: noise alone should
/// not look like mountains.
const LEAST_SPAN: f64 = 0.02;

/// Columns before the words of an entry.
const MARGIN: usize = 9;

/// The look of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryTextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// True where colours may be used.
    pub color: bool,
    /// True where the terminal shows more than ASCII.
    pub unicode: bool,
    /// True for every commit of every benchmark; else a line a benchmark where there are several.
    pub commits: bool,
}

/// The history as text.
pub fn to_history_text(history: &History, options: &HistoryTextOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(history, options.commits, terminal.glyphs))
}

/// The history as GitHub-flavoured Markdown, a line a benchmark and what changed.
pub fn to_history_markdown(history: &History) -> String {
    markdown::document(&answer(history, false, Glyphs::Unicode))
}

fn answer<'a>(history: &History, commits: bool, glyphs: Glyphs) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::paragraph(heading(history, glyphs))];
    let several = history.timelines.len() > 1;
    if several {
        blocks.push(Block::table(overview(history, glyphs)));
    }
    for timeline in &history.timelines {
        let mut section = Vec::new();
        if !several {
            section.push(Block::indented(line(timeline, glyphs)).tight());
        }
        section.extend(entries(timeline, history, !several || commits, glyphs));
        if commits || !several {
            section.push(Block::table(of_commits(timeline, history, glyphs)));
        }
        match several {
            false => blocks.extend(section),
            true if section.is_empty() => {}
            true => {
                let name = escape(&timeline.series.name(), glyphs);
                blocks.push(Block::of(Content::Section(name, section)));
            }
        }
    }
    let notes = Note::all(Severity::Note, remarks(history));
    blocks.extend(Block::notes(notes));
    blocks
}

/// A line a benchmark.
fn overview<'a>(history: &History, glyphs: Glyphs) -> Table<'a> {
    let mut table = Table::default();
    table.column(Kind::Name, "benchmark");
    table.column(Kind::Words, "oldest to newest");
    table.column(Kind::Number, "level now");
    table.spare_column(Kind::Number, "interval");
    table.column(Kind::Number, "changes");
    table.column(Kind::Number, "loops");
    table.spare_column(Kind::Number, "races");
    table.name_at_ease = 20;
    for timeline in &history.timelines {
        let steps = timeline.steps.len() + timeline.creep.len();
        let tone = timeline
            .steps
            .iter()
            .map(tone)
            .max_by_key(|tone| tone.code());
        let last = timeline.commits.last();
        let (now, interval) = last.map_or_else(Default::default, |last| level(last, glyphs));
        let cells: Vec<Cell> = vec![
            escape(&timeline.series.name(), glyphs).into(),
            sparks(timeline, COLUMNS_BESIDE, glyphs).into(),
            now.into(),
            interval.into(),
            Cell::toned(steps.to_string(), tone),
            loops(&timeline.closure).into(),
            timeline.races.len().to_string().into(),
        ];
        table.rows.push(Row::from(cells));
    }
    table
}

/// A word on the loops of races: closed or not.
fn loops(closure: &LoopClosure) -> &'static str {
    match closure.p_value {
        None => "none",
        Some(_) if !closure.widened.is_empty() => "widened",
        Some(p) if p < GAP => "open",
        Some(_) => "close",
    }
}

/// Steps, creep and the loops; with `always`, the loops that close, too.
fn entries<'a>(
    timeline: &Timeline,
    history: &History,
    always: bool,
    glyphs: Glyphs,
) -> Vec<Block<'a>> {
    let changes = changes(timeline, glyphs).map(|(kind, change, words)| {
        let verdict = verdict(change);
        let (mark, _) = mark_of(Some(verdict), glyphs);
        let command = bisecting(timeline, change).map(Part::Command);
        Entry {
            lead: format!("{mark} {kind}"),
            tone: Tone::Verdict(verdict),
            margin: MARGIN,
            parts: std::iter::once(Part::Words(words)).chain(command).collect(),
        }
    });
    let mut entries: Vec<Entry> = changes.collect();
    for commit in &timeline.commits {
        if let Some(why) = &commit.accepted {
            let short = escape(commit.commit.short(), glyphs);
            entries.push(Entry {
                lead: "accepted".to_owned(),
                tone: Tone::Verdict(Verdict::Equivalent),
                margin: MARGIN,
                parts: vec![Part::Words(format!("{short}: {}", escape(why, glyphs)))],
            });
        }
    }
    let found = &timeline.closure;
    let is_open = !found.widened.is_empty() || found.p_value.is_some_and(|p| p < GAP);
    if always || is_open {
        entries.push(Entry {
            lead: "check".to_owned(),
            tone: match is_open {
                true => Tone::Verdict(Verdict::Inconclusive),
                false => Tone::Verdict(Verdict::Equivalent),
            },
            margin: MARGIN,
            parts: vec![Part::Words(closure(found, history, glyphs))],
        });
    }
    Block::entries(entries)
}

fn verdict(change: &TimelineChange) -> Verdict {
    if change.is_worse {
        Verdict::Slower
    } else {
        Verdict::Faster
    }
}

fn tone(change: &TimelineChange) -> Tone {
    Tone::Verdict(verdict(change))
}

/// The levels as small characters, and the last one in words.
fn line(timeline: &Timeline, glyphs: Glyphs) -> String {
    let sparks = sparks(timeline, COLUMNS, glyphs);
    match timeline.commits.last() {
        Some(last) if timeline.commits.len() > 1 => {
            let now = sized(last.level, last.interval.as_ref(), glyphs);
            format!("{sparks}  now {now}")
        }
        _ => sparks,
    }
}

/// The levels as characters of eight heights, oldest first, with a bar before each step and a gap
/// where no races connect.
fn sparks(timeline: &Timeline, columns: usize, glyphs: Glyphs) -> String {
    let heights = glyphs.choose(
        ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        ['_', '.', '-', '=', '+', '*', '#', '@'],
    );
    let commits = &timeline.commits;
    let (low, high) = extent(commits.iter().map(|one| one.level.0));
    let span = (high - low).max(LEAST_SPAN);
    let bottom = 0.5 * (low + high - span);
    let together = commits.len().div_ceil(columns).max(1);
    let mut text = String::new();
    for (index, group) in commits.chunks(together).enumerate() {
        let first = index * together;
        let places = first..first + group.len();
        if first > 0 && commits[first - 1].part != group[0].part {
            text.push(' ');
        } else if timeline.steps.iter().any(|step| places.contains(&step.to)) {
            text.push('|');
        }
        let level = group.iter().map(|one| one.level.0).sum::<f64>() / group.len() as f64;
        let height = (level - bottom) / span * heights.len() as f64;
        text.push(heights[(height as usize).min(heights.len() - 1)]);
    }
    text
}

/// The commits of one benchmark, newest last.
fn of_commits<'a>(timeline: &Timeline, history: &History, glyphs: Glyphs) -> Table<'a> {
    let commits = &timeline.commits;
    let several = |of: &dyn Fn(&TimelineCommit) -> usize| commits.iter().any(|one| of(one) > 1);
    let skips = commits.iter().any(|one| one.skipped > 0);
    let many_machines = history.machines.len() > 1 || several(&|one| one.machines.len());
    let mut table = Table::default();
    table.column(Kind::Words, "commit");
    table.column(Kind::Words, "");
    table.column(Kind::Number, "level");
    table.column(Kind::Number, "interval");
    table.spare_column(Kind::Number, "plateau");
    table.spare_column(Kind::Number, "races");
    if many_machines {
        table.spare_column(Kind::Words, "machines");
    }
    if skips {
        table.spare_column(Kind::Number, "skipped");
    }
    table.spare_column(Kind::Words, "date");
    table.column(Kind::Name, "subject");
    table.name_at_ease = 24;
    for (place, one) in commits.iter().enumerate() {
        let step = timeline.steps.iter().find(|step| step.to == place);
        let plateau = timeline.plateaus.iter().find(|flat| flat.first == place);
        let mark = match (step, &one.accepted) {
            (Some(step), _) => Cell::toned(
                mark_of(Some(verdict(step)), glyphs).0.to_owned(),
                Some(tone(step)),
            ),
            (None, Some(_)) => "ok".into(),
            (None, None) => "".into(),
        };
        let short = escape(one.commit.short(), glyphs);
        let short = match one.order {
            CommitOrder::ByTime if history.has_git => format!("{short}?"),
            _ => short,
        };
        let (level, interval) = level(one, glyphs);
        let mut cells: Vec<Cell> = vec![
            Cell::toned(short, step.map(tone)),
            mark,
            level.into(),
            interval.into(),
            plateau
                .map_or_else(String::new, |flat| {
                    Precision::of(None).signed(flat.level.change(), glyphs)
                })
                .into(),
            one.races.to_string().into(),
        ];
        if many_machines {
            let names = history.machines_named(&one.machines);
            cells.push(escape(&names, glyphs).into());
        }
        if skips {
            let skipped = (one.skipped > 0).then(|| one.skipped.to_string());
            cells.push(skipped.unwrap_or_default().into());
        }
        let date = one.commit.committed_at.map(Day::of_unix_seconds);
        cells.push(date.map_or_else(String::new, |day| day.to_string()).into());
        cells.push(escape(&one.commit.subject, glyphs).into());
        table.rows.push(Row::from(cells));
    }
    table
}

/// Columns of a subject in a sentence.
const SUBJECT: usize = 60;

/// p below which loops do not close.
const GAP: f64 = 0.05;

/// A commit by its short name and its subject.
fn named(commit: &Commit, glyphs: Glyphs) -> String {
    let short = escape(commit.short(), glyphs);
    match commit.subject.as_str() {
        "" => short,
        subject => {
            let subject = shorten(&escape(subject, glyphs), SUBJECT, glyphs);
            format!("{short} '{subject}'")
        }
    }
}

/// The level of a commit and its interval; the first commit of a part has none.
fn level(one: &TimelineCommit, glyphs: Glyphs) -> (String, String) {
    match &one.interval {
        Some(found) => (
            effect(one.level, Some(found), glyphs),
            interval(found, glyphs),
        ),
        None => ("0%".to_owned(), "reference".to_owned()),
    }
}

/// A step in a sentence: at a commit, or somewhere in a range of commits that nobody raced.
fn changed(timeline: &Timeline, step: &TimelineChange, glyphs: Glyphs) -> String {
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

/// The steps and the creep of a benchmark, each by its kind and in a sentence.
fn changes(
    timeline: &Timeline,
    glyphs: Glyphs,
) -> impl Iterator<Item = (&'static str, &TimelineChange, String)> {
    let step = move |step| ("step", step, changed(timeline, step, glyphs));
    let creep = move |creep| ("creep", creep, creeping(timeline, creep, glyphs));
    let steps = timeline.steps.iter().map(step);
    steps.chain(timeline.creep.iter().map(creep))
}

/// Creep in a sentence.
fn creeping(timeline: &Timeline, creep: &TimelineChange, glyphs: Glyphs) -> String {
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
    format!("{sized}, {}", p_is(change.p_value))
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
fn closure(closure: &LoopClosure, history: &History, glyphs: Glyphs) -> String {
    let Some(p) = closure.p_value else {
        return "no races form a loop, so nothing checks their errors; `deadheat history extend` \
                lays such"
            .to_owned();
    };
    let chi = glyphs.choose("χ²", "chi-squared");
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
            "loops do not close ({sum}, {}), and no machine alone is the cause: some error is \
             too small",
            p_is(p)
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
fn heading(history: &History, glyphs: Glyphs) -> String {
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
fn remarks(history: &History) -> Vec<String> {
    let mut remarks = Vec::new();
    if history.unknown > 0 {
        remarks.push(format!(
            "{} not in this repository, as after a rebase or in a shallow clone; placed by time, \
             and marked with ?",
            counted(history.unknown as u64, "commit is", "commits are"),
        ));
    }
    if history.off_line > 0 {
        remarks.push(format!(
            "{} of this time {} on another line; --all-parents shows those that were merged",
            counted(history.off_line as u64, "commit", "commits"),
            if history.off_line == 1 { "is" } else { "are" },
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
