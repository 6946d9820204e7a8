//! A checkup as a page of text.

use deadheat_model::doctor::{Checkup, Finding, State};

use super::findings::{advice, describe, example, headline, measured, title};
use super::mends::{Mend, mend};
use super::numbers::{count, share, time};
use crate::glyphs::Glyphs;
use crate::layout::{table, wrap};
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

/// The checkup as text: how good the machine is and what to do first, then
/// what disturbs, what shows, what is hidden and what is fine, then the cores
/// and which of them to race on.
pub fn to_doctor_text(checkup: &Checkup, options: &DoctorTextOptions) -> String {
    let page = Page {
        checkup,
        width: options.width,
        color: options.color,
        glyphs: Glyphs::new(options.unicode),
    };
    page.text()
}

struct Page<'a> {
    checkup: &'a Checkup,
    width: usize,
    color: bool,
    glyphs: Glyphs,
}

impl Page<'_> {
    fn text(&self) -> String {
        let mut text = self.head();
        for state in [State::Disturbs, State::Minor, State::Unknown, State::Fine] {
            let findings: Vec<&Finding> = self.checkup.in_state(state).collect();
            if findings.is_empty() {
                continue;
            }
            text.push('\n');
            for finding in findings {
                text += &self.finding(finding);
            }
        }
        text + "\n" + &self.foot()
    }

    fn head(&self) -> String {
        let headline = wrap("", &headline(self.checkup), self.width);
        let mut text = self.painted(&headline, "This machine", 1);
        if let Some(mend) = self.first() {
            text += &self.painted(&wrap("First: ", &mend.words, self.width), "First:", 33);
            if let Some(command) = &mend.command {
                text += &self.command(command, "       ");
            }
        }
        text.push('\n');
        text += &wrap("", &self.machine(), self.width);
        text + &wrap("", &measured(self.checkup), self.width)
    }

    /// The first thing to do: the mend of the gravest thing that has one.
    fn first(&self) -> Option<Mend> {
        let mut disturbing = self.checkup.in_state(State::Disturbs);
        disturbing.find_map(|finding| mend(finding, self.checkup))
    }

    fn machine(&self) -> String {
        let checkup = self.checkup;
        let separator = format!(" {} ", self.glyphs.separator());
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

    fn finding(&self, finding: &Finding) -> String {
        let words = describe(finding, self.checkup, self.glyphs);
        let (mark, color) = self.mark(finding.state);
        let name = title(finding.topic());
        let head = format!("{mark} {name:<width$}", width = MARGIN - 2);
        let margin = " ".repeat(MARGIN);
        // What is fine needs no more than a paragraph.
        let paragraphs = match finding.state {
            State::Fine => {
                let parts = [Some(words.fact), words.meaning, words.effect];
                vec![parts.into_iter().flatten().collect::<Vec<_>>().join(" ")]
            }
            _ => [Some(words.fact), words.effect, words.meaning]
                .into_iter()
                .flatten()
                .collect(),
        };
        let mut text = String::new();
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let prefix = if index == 0 { &head } else { &margin };
            text += &wrap(prefix, paragraph, self.width);
        }
        if let Some(mend) = mend(finding, self.checkup) {
            text += &wrap(&margin, &format!("Mend: {}", mend.words), self.width);
            if let Some(command) = mend.command {
                text += &self.command(&command, &margin);
            }
        }
        self.painted(&text, &format!("{mark} {name}"), color)
    }

    /// A command to paste, after a pipe on a line of its own where one line is
    /// too narrow.
    fn command(&self, command: &str, margin: &str) -> String {
        let line = format!("{margin}$ {command}\n");
        match command.split_once(" | ") {
            Some((first, rest)) if line.chars().count() > self.width + 1 => {
                let narrow = margin.len().min(self.width.saturating_sub(rest.len() + 2));
                let narrow = " ".repeat(narrow);
                format!("{margin}$ {first} |\n{narrow}  {rest}\n")
            }
            _ => line,
        }
    }

    /// The mark of a state, one column wide, and its colour.
    fn mark(&self, state: State) -> (&'static str, u8) {
        let ascii = self.glyphs == Glyphs::Ascii;
        match state {
            State::Fine if ascii => ("+", 32),
            State::Fine => ("✔", 32),
            State::Minor if ascii => ("~", 36),
            State::Minor => ("≈", 36),
            State::Disturbs if ascii => ("x", 31),
            State::Disturbs => ("✘", 31),
            State::Unknown => ("?", 33),
        }
    }

    /// Cores side by side, and which of them to race on.
    fn foot(&self) -> String {
        let mut text = String::new();
        let nothing = || self.glyphs.nothing().to_owned();
        let rows: Vec<Vec<String>> = self
            .checkup
            .cores
            .iter()
            .map(|watch| {
                let core = match watch.core {
                    Some(core) if watch.isolated => format!("{core} (set apart)"),
                    Some(core) => core.to_string(),
                    None => "any".to_owned(),
                };
                vec![
                    core,
                    format!("{} /s", count(watch.taken_away)),
                    time(watch.longest_ns, self.glyphs),
                    share(watch.lost),
                    watch.waiting.map_or_else(nothing, share),
                    watch
                        .interrupts
                        .map_or_else(nothing, |rate| format!("{} /s", count(rate))),
                ]
            })
            .collect();
        let header = [
            "core",
            "taken away",
            "longest",
            "time lost",
            "other tasks",
            "interrupts",
        ];
        text += &table(&header, &rows, "lrrrrr", 2, self.width);
        text.push('\n');
        text += &wrap("", &format!("{}.", advice(self.checkup)), self.width);
        text + &self.command(&example(self.checkup), "  ")
    }

    /// The text with its first occurrence of `words` in a colour, painted
    /// after wrapping: escape sequences have no width.
    fn painted(&self, text: &str, words: &str, color: u8) -> String {
        if self.color {
            text.replacen(words, &format!("\u{1b}[{color}m{words}\u{1b}[0m"), 1)
        } else {
            text.to_owned()
        }
    }
}
