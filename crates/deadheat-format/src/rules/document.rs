//! A parsed rules file: errors that know their place in it, and values, spelled as the flags are.

use deadheat_model::{Day, FailOn, Glob, RaceSettings, Setting, ShareRange, ValueKind, fraction};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{FileProblem, nearest};

/// The text that errors point into.
pub(super) struct Document<'t> {
    text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
}

/// A key of a table and its value.
pub(super) struct Entry<'d> {
    pub(super) key: &'d str,
    /// Where the key begins.
    pub(super) at: usize,
    pub(super) value: &'d Spanned<DeValue<'d>>,
}

/// The most edits a key may be away from the one that was meant.
fn near_enough(key: &str, edits: usize) -> bool {
    edits <= (key.chars().count() / 3).max(2)
}

impl<'t> Document<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// The problem at a byte of the text, and what to do about it.
    pub(super) fn wrong(
        &self,
        at: usize,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> FileProblem {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.line(at);
        let begins = self.lines[line as usize - 1];
        FileProblem::Rules {
            line,
            column: self.text[begins..at].chars().count() as u64 + 1,
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    /// The line that holds a byte, counted from 1.
    pub(super) fn line(&self, at: usize) -> u64 {
        self.lines.partition_point(|begins| *begins <= at) as u64
    }

    /// The entries of a table in the order of the text.
    pub(super) fn entries<'d>(&self, table: &'d DeTable<'d>) -> Vec<Entry<'d>> {
        let mut entries: Vec<Entry<'d>> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref(),
                at: key.span().start,
                value,
            })
            .collect();
        entries.sort_by_key(|entry| entry.at);
        entries
    }

    /// A key that nobody knows, and the one that was probably meant.
    pub(super) fn unknown(&self, entry: &Entry<'_>, of: &str, known: &[&str]) -> FileProblem {
        let key: String = entry
            .key
            .chars()
            .flat_map(char::escape_debug)
            .take(60)
            .collect();
        let advice = match nearest(entry.key, known) {
            Some((meant, edits)) if near_enough(entry.key, edits) => {
                format!("did you mean '{meant}'?")
            }
            _ => format!("the keys {of} are {}", known.join(", ")),
        };
        self.wrong(entry.at, format!("unknown key '{key}'"), advice)
    }
}

/// The kind of a value, in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl Document<'_> {
    /// A value of the wrong kind; `advice` says what would be right.
    fn of_wrong_kind(&self, entry: &Entry<'_>, advice: &str) -> FileProblem {
        let problem = format!("{} is {}", entry.key, kind(entry.value.get_ref()));
        self.wrong(entry.value.span().start, problem, advice)
    }

    /// A value that was read and makes no sense.
    fn senseless(&self, entry: &Entry<'_>, problem: &str) -> FileProblem {
        let problem = format!("{}: {problem}", entry.key);
        self.wrong(entry.value.span().start, problem, "")
    }

    /// Takes a setting of all benchmarks, or of some. Returns whether the key is that of one.
    pub(super) fn setting(
        &self,
        entry: &Entry<'_>,
        of_benchmarks: bool,
        settings: &mut RaceSettings,
    ) -> Result<bool, FileProblem> {
        let mut known = Setting::in_file(of_benchmarks);
        let Some(setting) = known.find(|setting| setting.name == entry.key) else {
            return Ok(false);
        };
        let texts = match setting.kind {
            ValueKind::Share(range) => vec![self.share(entry, range)?],
            ValueKind::Time => {
                vec![self.number_or_text(entry, "write a time, as \"30s\", or seconds")?]
            }
            ValueKind::Count => vec![self.count(entry)?],
            ValueKind::Number => vec![self.number_or_text(entry, "write a whole number")?],
            ValueKind::Flag => match entry.value.get_ref() {
                DeValue::Boolean(is_set) => vec![(entry.value.span().start, is_set.to_string())],
                _ => return Err(self.of_wrong_kind(entry, "write true or false")),
            },
            ValueKind::Text(advice) => {
                vec![(entry.value.span().start, self.text(entry, advice)?)]
            }
            ValueKind::Verdicts => {
                // An empty list asks for nothing, which is something else than silence.
                settings.fail_on = Some(Vec::new());
                self.texts(entry, "write a list of verdicts, as [\"slower\"]")?
            }
        };
        for (at, text) in texts {
            setting.set(settings, &text).map_err(|problem| {
                let problem = format!("{}: {problem}", entry.key);
                self.wrong(at, problem, "")
            })?;
        }
        Ok(true)
    }

    /// A number or a text, as a text.
    fn number_or_text(
        &self,
        entry: &Entry<'_>,
        advice: &str,
    ) -> Result<(usize, String), FileProblem> {
        let text = match entry.value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            // Written out, so that 1e-2 is read like 0.01.
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(number) => number.to_string(),
                Err(_) => number.as_str().to_owned(),
            },
            _ => return Err(self.of_wrong_kind(entry, advice)),
        };
        Ok((entry.value.span().start, text))
    }

    /// A share within its range; what is no share is left to the parser of the setting.
    fn share(&self, entry: &Entry<'_>, range: &ShareRange) -> Result<(usize, String), FileProblem> {
        let (at, text) = self.number_or_text(entry, "write a share, as \"2%\" or 0.02")?;
        match fraction(&text) {
            Ok(share) if !range.holds(share) => {
                let problem = format!("{} must be {}, not {share}", entry.key, range.words);
                Err(self.wrong(at, problem, "2 percent are \"2%\" or 0.02"))
            }
            _ => Ok((at, text)),
        }
    }

    /// A whole number from 1 on.
    fn count(&self, entry: &Entry<'_>) -> Result<(usize, String), FileProblem> {
        const ADVICE: &str = "write a whole number of at least 1";
        let DeValue::Integer(number) = entry.value.get_ref() else {
            return Err(self.of_wrong_kind(entry, ADVICE));
        };
        let at = entry.value.span().start;
        let read = u32::from_str_radix(number.as_str(), number.radix());
        match read.ok().filter(|count| *count > 0) {
            Some(count) => Ok((at, count.to_string())),
            None => {
                let problem = format!("{} is {}", entry.key, number.as_str());
                Err(self.wrong(at, problem, ADVICE))
            }
        }
    }

    /// A text that holds more than blanks.
    pub(super) fn text(&self, entry: &Entry<'_>, advice: &str) -> Result<String, FileProblem> {
        let DeValue::String(text) = entry.value.get_ref() else {
            return Err(self.of_wrong_kind(entry, advice));
        };
        match text.trim() {
            "" => {
                let problem = format!("{} is empty", entry.key);
                Err(self.wrong(entry.value.span().start, problem, advice))
            }
            text => Ok(text.to_owned()),
        }
    }

    pub(super) fn glob(&self, entry: &Entry<'_>) -> Result<Glob, FileProblem> {
        let advice = "write the name of a benchmark, in which * stands for any characters";
        self.text(entry, advice).map(Glob::new)
    }

    /// A list of texts, or one alone.
    fn texts(&self, entry: &Entry<'_>, advice: &str) -> Result<Vec<(usize, String)>, FileProblem> {
        let items = match entry.value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            DeValue::String(_) => vec![entry.value],
            _ => return Err(self.of_wrong_kind(entry, advice)),
        };
        let texts = items.into_iter().map(|item| {
            let entry = Entry {
                key: entry.key,
                at: entry.at,
                value: item,
            };
            Ok((item.span().start, self.text(&entry, advice)?))
        });
        texts.collect()
    }

    pub(super) fn globs(&self, entry: &Entry<'_>) -> Result<Vec<Glob>, FileProblem> {
        let texts = self.texts(entry, "write a list of names, as [\"parse/*\", \"sort\"]")?;
        Ok(texts.into_iter().map(|(_, text)| Glob::new(text)).collect())
    }

    pub(super) fn rule(&self, entry: &Entry<'_>) -> Result<FailOn, FileProblem> {
        let name = self.text(entry, "write one of slower, inconclusive, not-equivalent")?;
        FailOn::parse(&name).map_err(|problem| self.senseless(entry, &problem))
    }

    pub(super) fn day(&self, entry: &Entry<'_>) -> Result<Day, FileProblem> {
        const ADVICE: &str = "write a day, as 2026-12-31";
        match entry.value.get_ref() {
            DeValue::String(text) => {
                Day::parse(text.trim()).map_err(|problem| self.senseless(entry, &problem))
            }
            DeValue::Datetime(moment) => {
                let date = moment
                    .date
                    .filter(|_| moment.time.is_none() && moment.offset.is_none());
                let date = date.ok_or_else(|| {
                    let problem = format!("{} is {moment}, which is no day", entry.key);
                    self.wrong(entry.value.span().start, problem, ADVICE)
                })?;
                Day::new(date.year, date.month, date.day).ok_or_else(|| {
                    self.senseless(entry, &format!("{date} is no day of the calendar"))
                })
            }
            _ => Err(self.of_wrong_kind(entry, ADVICE)),
        }
    }
}
