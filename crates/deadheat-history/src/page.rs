//! The text of a history, from top to bottom: a summary, a line of levels for each benchmark, its
//! steps and creep, whether its loops close, and its commits.

use deadheat::parts::model::{Day, Verdict};
use deadheat::parts::report::document::{
    Block, Cell, Entry, Kind, Note, Part, Row, Severity, Table, Tone, mark_of,
};
use deadheat::parts::report::units::{Precision, extent, sized};
use deadheat::parts::report::{Glyphs, Terminal, escape, markdown_of_blocks};

use crate::timeline::{
    CommitOrder, History, LoopClosure, Timeline, TimelineChange, TimelineCommit,
};
use crate::words::{GAP, bisecting, changes, closure, heading, level, remarks};

/// The largest width of a line of levels, in columns. With more commits, several share a column.
const COLUMNS: usize = 60;

/// The largest width of a line of levels in a table, in columns.
const COLUMNS_BESIDE: usize = 30;

/// The smallest range of a line of levels, as ln. Without it, pure noise would fill the whole
/// height.
const LEAST_SPAN: f64 = 0.02;

/// The number of columns before the text of an entry.
const MARGIN: usize = 9;

/// Options for the text of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryTextOptions {
    /// The width of the terminal in columns.
    pub width: usize,
    /// True if colours may be used.
    pub color: bool,
    /// True if the terminal shows more than ASCII.
    pub unicode: bool,
    /// True to list every commit of every benchmark, even if there are several benchmarks.
    pub commits: bool,
}

/// Returns the history as text.
pub fn to_history_text(history: &History, options: &HistoryTextOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(history, options.commits, terminal.glyphs))
}

/// Returns the history as GitHub-flavoured Markdown, with a line per benchmark and its changes.
pub fn to_history_markdown(history: &History) -> String {
    markdown_of_blocks(&answer(history, false, Glyphs::Unicode))
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
                blocks.push(Block::section(name, section));
            }
        }
    }
    let notes = Note::all(Severity::Note, remarks(history));
    blocks.extend(Block::notes(notes));
    blocks
}

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

/// Returns one word for the result of the test whether the loops of races are consistent.
fn loops(closure: &LoopClosure) -> &'static str {
    match closure.p_value {
        None => "none",
        Some(_) if !closure.widened.is_empty() => "widened",
        Some(p) if p < GAP => "open",
        Some(_) => "close",
    }
}

/// Returns the entries for steps, creep and accepted steps, and for the loops if `always` or if
/// they do not close.
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

/// Returns the levels as small characters, followed by the last level as text.
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

/// Returns the levels as characters of eight heights, oldest first, with a bar before each step and
/// a space where no races connect the commits.
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
