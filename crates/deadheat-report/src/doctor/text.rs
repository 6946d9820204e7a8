//! A checkup as a page of text.

use deadheat_model::Verdict;
use deadheat_model::doctor::{Checkup, Finding, State};

use super::findings::{advice, describe, example, headline, measured, title};
use super::mends::{Mend, mend};
use super::numbers::{count, share, time};
use crate::document::{Block, Content, Entry, Kind, Part, Table, Tone};
use crate::glyphs::Glyphs;
use crate::terminal::Terminal;
use crate::units::counted;

/// Columns before the words of a finding: its mark and its title.
const MARGIN: usize = 18;

/// The look of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoctorTextOptions {
    /// Columns to keep to; commands that are longer are not broken within.
    pub width: usize,
    /// True where marks and titles are coloured.
    pub color: bool,
    /// True where the reader can see more than ASCII.
    pub unicode: bool,
}

/// The checkup as text: how good the machine is and what to do first, then what disturbs, what
/// shows, what is hidden and what is fine, then the cores and which of them to race on.
pub fn to_doctor_text(checkup: &Checkup, options: &DoctorTextOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(checkup, terminal.glyphs))
}

fn answer<'a>(checkup: &Checkup, glyphs: Glyphs) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::of(Content::Heading(1, headline(checkup)))];
    blocks.extend(first(checkup).map(|mend| {
        let lead = "First:".to_owned();
        let tone = Tone::Verdict(Verdict::Inconclusive);
        let parts = mend_parts(mend, "");
        Block::of(Content::Entry(Entry {
            margin: lead.len() + 1,
            lead,
            tone,
            parts,
        }))
        .tight()
    }));
    blocks.push(Block::paragraph(machine(checkup, glyphs)));
    blocks.push(Block::paragraph(measured(checkup)).tight());
    for state in [State::Disturbs, State::Minor, State::Unknown, State::Fine] {
        for (index, found) in checkup.in_state(state).enumerate() {
            let block = Block::of(Content::Entry(entry(found, checkup, glyphs)));
            blocks.push(if index == 0 { block } else { block.tight() });
        }
    }
    blocks.push(Block::table(cores(checkup, glyphs)));
    blocks.push(Block::paragraph(format!("{}.", advice(checkup))));
    blocks.push(Block::of(Content::Code(example(checkup))).tight());
    blocks
}

/// The first thing to do: the mend of the gravest thing that has one.
fn first(checkup: &Checkup) -> Option<Mend> {
    let mut disturbing = checkup.in_state(State::Disturbs);
    disturbing.find_map(|finding| mend(finding, checkup))
}

fn mend_parts(mend: Mend, lead: &str) -> Vec<Part> {
    let words = Part::Words(format!("{lead}{}", mend.words));
    let command = mend.command.map(Part::Command);
    std::iter::once(words).chain(command).collect()
}

/// The machine in one line.
fn machine(checkup: &Checkup, glyphs: Glyphs) -> String {
    let separator = format!(" {} ", glyphs.separator());
    let mut parts = vec![
        format!("deadheat {}", checkup.tool_version),
        checkup.system.clone(),
    ];
    parts.extend(
        checkup
            .kernel
            .iter()
            .map(|kernel| format!("kernel {kernel}")),
    );
    parts.extend(checkup.cpu.clone());
    let number = |count: usize| counted(count as u64, "core", "cores");
    let [online, allowed] = [checkup.online.len(), checkup.allowed.len()];
    parts.push(match (online, allowed) {
        (0, 0) => "cores hidden".to_owned(),
        (0, allowed) => format!("{} for deadheat", number(allowed)),
        (online, 0) => number(online),
        (online, allowed) if online == allowed => number(online),
        (online, allowed) => format!("{allowed} of {online} cores for deadheat"),
    });
    parts.join(&separator)
}

fn entry(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> Entry {
    let words = describe(finding, checkup, glyphs);
    // What is fine needs no more than a paragraph.
    let mut parts: Vec<Part> = if finding.state == State::Fine {
        let parts = [Some(words.fact), words.meaning, words.effect];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        vec![Part::Words(parts.join(" "))]
    } else {
        let parts = [Some(words.fact), words.effect, words.meaning];
        parts.into_iter().flatten().map(Part::Words).collect()
    };
    let mend = mend(finding, checkup).into_iter();
    parts.extend(mend.flat_map(|mend| mend_parts(mend, "Mend: ")));
    let (mark, tone) = mark(finding.state, glyphs);
    Entry {
        lead: format!("{mark} {}", title(finding.topic())),
        tone,
        margin: MARGIN,
        parts,
    }
}

/// The mark of a state, one column wide, and its colour.
fn mark(state: State, glyphs: Glyphs) -> (&'static str, Tone) {
    let (unicode, ascii, like) = match state {
        State::Fine => ("✔", "+", Verdict::Faster),
        State::Minor => ("≈", "~", Verdict::Equivalent),
        State::Disturbs => ("✘", "x", Verdict::Slower),
        State::Unknown => ("?", "?", Verdict::Inconclusive),
    };
    let mark = match glyphs {
        Glyphs::Unicode => unicode,
        Glyphs::Ascii => ascii,
    };
    (mark, Tone::Verdict(like))
}

/// Cores side by side.
fn cores<'a>(checkup: &Checkup, glyphs: Glyphs) -> Table<'a> {
    let nothing = || glyphs.nothing().to_owned();
    let heads = [
        "core",
        "taken away",
        "longest",
        "time lost",
        "other tasks",
        "interrupts",
    ];
    let mut table = Table::new(Kind::Words, heads);
    for watch in &checkup.cores {
        let core = match watch.core {
            Some(core) if watch.isolated => format!("{core} (set apart)"),
            Some(core) => core.to_string(),
            None => "any".to_owned(),
        };
        let interrupts = watch.interrupts.map(|rate| format!("{} /s", count(rate)));
        let cells = vec![
            core,
            format!("{} /s", count(watch.taken_away)),
            time(watch.longest_ns, glyphs),
            share(watch.lost),
            watch.waiting.map_or_else(nothing, share),
            interrupts.unwrap_or_else(nothing),
        ];
        table.rows.push(cells.into());
    }
    table
}
