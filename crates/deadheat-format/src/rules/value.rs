//! Values of a rules file, spelled as the flags are.

use std::time::Duration;

use deadheat_model::{Day, FailOn, Glob, Metric, duration, fraction};
use toml::de::DeValue;

use super::document::{Document, Entry};
use crate::error::RulesError;

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
    fn of_wrong_kind(&self, entry: &Entry<'_>, advice: &str) -> RulesError {
        let problem = format!("{} is {}", entry.key, kind(entry.value.get_ref()));
        self.wrong(entry.value.span().start, problem, advice)
    }

    /// A value that was read and makes no sense.
    fn senseless(&self, entry: &Entry<'_>, problem: &str) -> RulesError {
        let problem = format!("{}: {problem}", entry.key);
        self.wrong(entry.value.span().start, problem, "")
    }

    /// A number, or a text that `read` makes one of.
    fn number_or_text<T>(
        &self,
        entry: &Entry<'_>,
        read: impl Fn(&str) -> Result<T, String>,
        advice: &str,
    ) -> Result<T, RulesError> {
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
        read(&text).map_err(|problem| self.senseless(entry, &problem))
    }

    /// A share above 0 that `fits`.
    fn share(
        &self,
        entry: &Entry<'_>,
        fits: impl Fn(f64) -> bool,
        range: &str,
    ) -> Result<f64, RulesError> {
        let value = self.number_or_text(entry, fraction, "write a share, as \"2%\" or 0.02")?;
        match fits(value) {
            true => Ok(value),
            false => {
                let problem = format!("{} must be {range}, not {value}", entry.key);
                Err(self.wrong(
                    entry.value.span().start,
                    problem,
                    "2 percent are \"2%\" or 0.02",
                ))
            }
        }
    }

    pub(super) fn margin(&self, entry: &Entry<'_>) -> Result<f64, RulesError> {
        let fits = |margin| margin > 0.0 && margin < 1.0;
        self.share(entry, fits, "above 0 and below 1 (100 %)")
    }

    pub(super) fn alpha(&self, entry: &Entry<'_>) -> Result<f64, RulesError> {
        self.share(
            entry,
            |alpha| alpha > 0.0 && alpha <= 0.5,
            "above 0 and at most 0.5",
        )
    }

    pub(super) fn budget(&self, entry: &Entry<'_>) -> Result<Duration, RulesError> {
        self.number_or_text(entry, duration, "write a time, as \"30s\", or seconds")
    }

    /// A whole number from 1 on.
    pub(super) fn count(&self, entry: &Entry<'_>) -> Result<u32, RulesError> {
        const ADVICE: &str = "write a whole number of at least 1";
        let DeValue::Integer(number) = entry.value.get_ref() else {
            return Err(self.of_wrong_kind(entry, ADVICE));
        };
        let read = u32::from_str_radix(number.as_str(), number.radix());
        read.ok().filter(|count| *count > 0).ok_or_else(|| {
            let problem = format!("{} is {}", entry.key, number.as_str());
            self.wrong(entry.value.span().start, problem, ADVICE)
        })
    }

    /// A text that holds more than blanks.
    pub(super) fn text(&self, entry: &Entry<'_>, advice: &str) -> Result<String, RulesError> {
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

    pub(super) fn metric(&self, entry: &Entry<'_>) -> Result<Metric, RulesError> {
        let name = self.text(entry, "write the name of a metric, as \"wall\" or \"cpu\"")?;
        Ok(Metric::from_name(&name))
    }

    pub(super) fn glob(&self, entry: &Entry<'_>) -> Result<Glob, RulesError> {
        let advice = "write the name of a benchmark, in which * stands for any characters";
        self.text(entry, advice).map(Glob::new)
    }

    /// A list of texts, or one alone.
    fn texts(&self, entry: &Entry<'_>, advice: &str) -> Result<Vec<(usize, String)>, RulesError> {
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

    pub(super) fn globs(&self, entry: &Entry<'_>) -> Result<Vec<Glob>, RulesError> {
        let texts = self.texts(entry, "write a list of names, as [\"parse/*\", \"sort\"]")?;
        Ok(texts.into_iter().map(|(_, text)| Glob::new(text)).collect())
    }

    pub(super) fn fail_on(&self, entry: &Entry<'_>) -> Result<Vec<FailOn>, RulesError> {
        let texts = self.texts(entry, "write a list of verdicts, as [\"slower\"]")?;
        let mut rules = Vec::new();
        for (at, text) in texts {
            for name in text.split(',') {
                rules.push(
                    FailOn::parse(name.trim()).map_err(|problem| {
                        self.wrong(at, format!("{}: {problem}", entry.key), "")
                    })?,
                );
            }
        }
        Ok(rules)
    }

    pub(super) fn rule(&self, entry: &Entry<'_>) -> Result<FailOn, RulesError> {
        let name = self.text(entry, "write one of slower, inconclusive, not-equivalent")?;
        FailOn::parse(&name).map_err(|problem| self.senseless(entry, &problem))
    }

    pub(super) fn day(&self, entry: &Entry<'_>) -> Result<Day, RulesError> {
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
