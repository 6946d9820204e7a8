//! Finds and reads `deadheat.toml`. Errors name the line and column, and values are spelled as in
//! options.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use deadheat_model::{
    Day, FailOn, Glob, HELP, Ignore, RaceSettings, RulesFile, RulesOfSome, Setting, ShareRange,
    ValueKind, fraction, share_meant, suggestion, without_help,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{FileProblem, FormatError, cannot_read};
use crate::named_pipe::open_to_read;
use crate::owner::belongs_to_another;
use crate::platform::{canonicalize, is_pipe, is_socket};

/// File name of the rules.
pub const RULES_FILE: &str = "deadheat.toml";

/// Finds the nearest `deadheat.toml`, in this folder or one above it. Returns its path relative to
/// the folder, or `None` if the search finds nothing; an empty path is the current folder. Fails if
/// something that is not a file has this name, or if the file belongs to another user.
pub fn find_rules(folder: &Path) -> Result<Option<PathBuf>, FormatError> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let absolute = canonicalize(here).map_err(cannot_read(here))?;
    let mut seen = folder.to_owned();
    for place in absolute.ancestors() {
        let file = place.join(RULES_FILE);
        // Follows a link only after the name was found: a link without a target is a mistake, not a
        // project without rules.
        match fs::symlink_metadata(&file).and_then(|_| fs::metadata(&file)) {
            Ok(about) if about.is_file() && belongs_to_another(&file, &absolute) => {
                return Err(foreign_rules(&seen));
            }
            Ok(about) if about.is_file() => return Ok(Some(seen.join(RULES_FILE))),
            Ok(about) => return Err(no_rules(&seen, file_kind(about.file_type()))),
            Err(_) if file.is_symlink() => {
                return Err(no_rules(&seen, "a link to a missing file"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_read(&file)(error)),
        }
        seen.push("..");
    }
    Ok(None)
}

/// Returns the error for a rules file of another user. Its rules could excuse failures of every
/// race in the folders below it.
fn foreign_rules(seen: &Path) -> FormatError {
    let path = seen.join(RULES_FILE);
    let problem = format!(
        "it belongs to another user{HELP}--config {} reads it, --no-config reads none",
        path.display()
    );
    cannot_read(&path)(io::Error::other(problem))
}

/// Returns the error for something that has the name of the rules file but is not a file. Ignoring
/// it would silently disable the gate.
fn no_rules(seen: &Path, kind: &str) -> FormatError {
    let problem = format!("it is {kind}, not a rules file\nhelp: --no-config reads none");
    cannot_read(&seen.join(RULES_FILE))(io::Error::other(problem))
}

fn file_kind(kind: fs::FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if is_pipe(kind) => "a pipe",
        _ if is_socket(kind) => "a socket",
        _ => "a device",
    }
}

/// Maximum size of a rules file in bytes. It bounds the number of patterns, each of which is
/// compared with every name.
const MOST_BYTES: u64 = 256 << 10;

const MOST_BYTES_OF_A_PATTERN: usize = 4096;

/// Maximum number of characters of a part of a pattern with `?`, between two `*`. A part of up to
/// 128 characters is found in time proportional to the length of the name.
const MOST_CHARACTERS_OF_A_PART: usize = 128;

/// Maximum number of patterns with `*` or `?`.
const MOST_PATTERNS: usize = 250;

/// Maximum number of patterns with `?`. They take ten times as long as patterns without `?`.
const MOST_PATTERNS_WITH_QUESTION_MARK: usize = 50;

/// Maximum number of patterns, with wildcards or without: each is compared with every name.
const MOST_NAMES: usize = 4000;

const HOW_TO_WRITE_A_PATTERN: &str =
    "write the name of a benchmark, in which * matches any characters";

const OF_AN_IGNORE: [&str; 4] = ["name", "reason", "until", "rule"];

/// Reads a rules file.
pub fn read_rules(path: impl AsRef<Path>) -> Result<RulesFile, FormatError> {
    let path = path.as_ref();
    let file = open_to_read(path).map_err(cannot_read(path))?;
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(cannot_read(path))?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem = "it is larger than 256 KiB, so it is not a rules file\nhelp: --config names \
         another, \
                       --no-config reads none";
        return Err(FormatError::at(path, "all of it", problem));
    }
    read_rules_from(&bytes, path)
}

/// Reads the bytes of a rules file; `path` is its name in messages.
pub fn read_rules_from(bytes: &[u8], path: &Path) -> Result<RulesFile, FormatError> {
    let mut rules = read(bytes).map_err(|problem| problem.of(path))?;
    path.clone_into(&mut rules.path);
    Ok(rules)
}

fn read(bytes: &[u8]) -> Result<RulesFile, FileProblem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let text = std::str::from_utf8(before).unwrap_or_default();
        Document::new(text).wrong(text.len(), "text that is not UTF-8", "save it as UTF-8")
    })?;
    let document = Document::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        if error.message().starts_with("string values must be quoted") {
            return document.unquoted(at);
        }
        let problem = error.message().trim().replace('\n', ", ");
        document.wrong(at, format!("not valid TOML: {problem}"), "")
    })?;
    let mut rules = RulesFile::default();
    for entry in document.entries(table.get_ref()) {
        match entry.key {
            "include" => rules.include = document.globs(&entry)?,
            "exclude" => rules.exclude = document.globs(&entry)?,
            "benchmark" => {
                let tables = document.tables(&entry)?.into_iter();
                let some = tables.map(|(at, table)| document.some(at, table));
                rules.some = some.collect::<Result<_, _>>()?;
            }
            "ignore" => {
                let tables = document.tables(&entry)?.into_iter();
                let ignores = tables.map(|(at, table)| document.ignore(at, table));
                rules.ignores = ignores.collect::<Result<_, _>>()?;
            }
            _ if document.setting(&entry, false, &mut rules.all)? => {}
            _ => {
                let settings = Setting::in_file(false).map(|setting| setting.name);
                let others = ["include", "exclude", "benchmark", "ignore"];
                let known: Vec<&str> = settings.chain(others).collect();
                let of = match entry.value.get_ref() {
                    DeValue::Table(_) => "of the file, above its first [[table]],",
                    _ => "of the file (all else is set on the command line)",
                };
                return Err(document.unknown(&entry, of, &known));
            }
        }
    }
    Ok(rules)
}

struct Document<'t> {
    text: &'t str,
    /// Position of the first byte of each line.
    lines: Vec<usize>,
    patterns: Cell<Patterns>,
}

#[derive(Clone, Copy, Default)]
struct Patterns {
    all: usize,
    with_wildcard: usize,
    with_question_mark: usize,
}

struct Entry<'d> {
    key: &'d str,
    /// Position of the first byte of the key.
    at: usize,
    value: &'d Spanned<DeValue<'d>>,
}

impl<'t> Document<'t> {
    fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            text,
            lines: std::iter::once(0).chain(ends).collect(),
            patterns: Cell::default(),
        }
    }

    fn wrong(
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

    /// Returns the error for a text without quotes at byte `at`.
    fn unquoted(&self, at: usize) -> FileProblem {
        let rest = self.text.get(at..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let value = line.split('#').next().unwrap_or_default().trim();
        let is_plain = !value.contains(['"', '\'', '\\', ',', '[', ']', '{', '}']);
        let advice = if is_plain && (1..=60).contains(&value.chars().count()) {
            // In a value such as `5 percent`, quotes alone would not help.
            let meant =
                share_meant(value).filter(|_| value.starts_with(|c: char| c.is_ascii_digit()));
            format!("write \"{}\"", meant.as_deref().unwrap_or(value))
        } else {
            "write it in quotes".to_owned()
        };
        self.wrong(at, "not valid TOML: a text without quotes", advice)
    }

    /// Returns the line that contains a byte, counted from 1.
    fn line(&self, at: usize) -> u64 {
        self.lines.partition_point(|begins| *begins <= at) as u64
    }

    fn entries<'d>(&self, table: &'d DeTable<'d>) -> Vec<Entry<'d>> {
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

    /// Returns the error for an unknown key, with the key that was probably meant.
    fn unknown(&self, entry: &Entry<'_>, of: &str, known: &[&str]) -> FileProblem {
        let key: String = entry
            .key
            .chars()
            .flat_map(char::escape_debug)
            .take(60)
            .collect();
        let advice = match suggestion(entry.key, known.iter().copied()) {
            Some(meant @ ("benchmark" | "ignore")) => {
                let name = name_in_brackets(entry.value.get_ref());
                let name = name.as_deref().unwrap_or("NAME");
                format!("did you mean '{meant}'? write [[{meant}]], and below it name = \"{name}\"")
            }
            Some(meant) => format!("did you mean '{meant}'?"),
            None => format!("the keys {of} are {}", known.join(", ")),
        };
        self.wrong(entry.at, format!("unknown key '{key}'"), advice)
    }
}

/// Returns the name in the header of a table such as `[benchmark.sort]` or `[[benchmark.sort]]`,
/// given the value of its first key; `None` if the header has only one key.
fn name_in_brackets(value: &DeValue<'_>) -> Option<String> {
    let DeValue::Table(table) = value else {
        return None;
    };
    let first = table.iter().min_by_key(|(key, _)| key.span().start)?;
    let (name, DeValue::Table(_) | DeValue::Array(_)) = (first.0.get_ref(), first.1.get_ref())
    else {
        return None;
    };
    Some(name.chars().flat_map(char::escape_debug).take(60).collect())
}

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
    /// Returns the error for a value of the wrong kind; `advice` names the right kind.
    fn of_wrong_kind(&self, entry: &Entry<'_>, advice: &str) -> FileProblem {
        let problem = format!("{} is {}", entry.key, kind(entry.value.get_ref()));
        self.wrong(entry.value.span().start, problem, advice)
    }

    fn senseless(&self, entry: &Entry<'_>, problem: &str) -> FileProblem {
        let problem = format!("{}: {problem}", entry.key);
        self.wrong(entry.value.span().start, problem, "")
    }

    /// Reads a setting for all benchmarks, or for those of one `[[benchmark]]`. Returns false if
    /// the key is not a setting.
    fn setting(
        &self,
        entry: &Entry<'_>,
        of_benchmarks: bool,
        settings: &mut RaceSettings,
    ) -> Result<bool, FileProblem> {
        let mut known = Setting::in_file(of_benchmarks);
        let Some(setting) = known.find(|setting| setting.name == entry.key) else {
            return Ok(false);
        };
        const TIME: &str = "write a time, such as \"30s\", or a number of seconds";
        const VERDICTS: &str = "write a list of verdicts, such as [\"slower\"]";
        let texts = match setting.kind {
            ValueKind::Share(range) => vec![self.share(entry, range)?],
            ValueKind::Time => vec![self.number_or_text(entry, TIME)?],
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
                // An empty list fails on no verdict; without the key, the default applies.
                settings.fail_on = Some(Vec::new());
                self.texts(entry, VERDICTS)?
            }
        };
        for (at, text) in texts {
            setting.set(settings, &text).map_err(|problem| {
                // The advice for the command line has no quotes, which TOML requires.
                let advice = match setting.kind {
                    ValueKind::Share(range) => range.advice_in_file(&text),
                    ValueKind::Time => TIME.to_owned(),
                    ValueKind::Text(advice) => advice.to_owned(),
                    ValueKind::Verdicts => VERDICTS.to_owned(),
                    ValueKind::Count | ValueKind::Number | ValueKind::Flag => String::new(),
                };
                let problem = format!("{}: {}", entry.key, without_help(&problem));
                self.wrong(at, problem, advice)
            })?;
        }
        Ok(true)
    }

    fn number_or_text(
        &self,
        entry: &Entry<'_>,
        advice: &str,
    ) -> Result<(usize, String), FileProblem> {
        let text = match entry.value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            // Written without an exponent, so that 1e-2 is read like 0.01.
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(number) => number.to_string(),
                Err(_) => number.as_str().to_owned(),
            },
            _ => return Err(self.of_wrong_kind(entry, advice)),
        };
        Ok((entry.value.span().start, text))
    }

    /// Reads a share and checks its range. The parser of the setting rejects text that is not a
    /// share.
    fn share(&self, entry: &Entry<'_>, range: &ShareRange) -> Result<(usize, String), FileProblem> {
        let (at, text) = self.number_or_text(entry, &range.advice_in_file(""))?;
        match fraction(&text) {
            Ok(share) if !range.holds(share) => {
                let problem = format!("{} must be {}, not {share}", entry.key, range.words);
                Err(self.wrong(at, problem, range.advice_in_file(&text)))
            }
            _ => Ok((at, text)),
        }
    }

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

    /// Reads a string that is not blank.
    fn text(&self, entry: &Entry<'_>, advice: &str) -> Result<String, FileProblem> {
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

    fn glob(&self, entry: &Entry<'_>) -> Result<Glob, FileProblem> {
        let text = self.text(entry, HOW_TO_WRITE_A_PATTERN)?;
        self.pattern(entry.value.span().start, text)
    }

    fn pattern(&self, at: usize, text: String) -> Result<Glob, FileProblem> {
        let is_name = !text.contains(['*', '?']);
        let mut count = self.patterns.get();
        count.all += 1;
        count.with_wildcard += usize::from(!is_name);
        count.with_question_mark += usize::from(text.contains('?'));
        self.patterns.set(count);
        if count.all > MOST_NAMES {
            let problem = format!("the file has more than {MOST_NAMES} names of benchmarks");
            return Err(self.wrong(at, problem, "replace several names by one pattern with *"));
        }
        if !is_name && text.len() > MOST_BYTES_OF_A_PATTERN {
            let problem = format!("the pattern is longer than {MOST_BYTES_OF_A_PATTERN} bytes");
            return Err(self.wrong(at, problem, HOW_TO_WRITE_A_PATTERN));
        }
        let mut parts = text.split('*').filter(|part| part.contains('?'));
        if parts.any(|part| part.chars().count() > MOST_CHARACTERS_OF_A_PART) {
            let problem = format!(
                "a part of the pattern with ? is longer than {MOST_CHARACTERS_OF_A_PART} characters"
            );
            return Err(self.wrong(at, problem, "write * for the part"));
        }
        for (count, most, kind) in [
            (count.with_wildcard, MOST_PATTERNS, "* or ?"),
            (
                count.with_question_mark,
                MOST_PATTERNS_WITH_QUESTION_MARK,
                "?",
            ),
        ] {
            if count > most {
                let problem = format!("the file has more than {most} patterns with {kind}");
                let advice = "replace several patterns by one that matches more names";
                return Err(self.wrong(at, problem, advice));
            }
        }
        Ok(Glob::new(text))
    }

    /// Returns the texts of a list, each with its position, or a single text as a list of one.
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

    fn globs(&self, entry: &Entry<'_>) -> Result<Vec<Glob>, FileProblem> {
        let texts = self.texts(
            entry,
            "write a list of names, such as [\"parse/*\", \"sort\"]",
        )?;
        let patterns = texts.into_iter().map(|(at, text)| self.pattern(at, text));
        patterns.collect()
    }

    fn rule(&self, entry: &Entry<'_>) -> Result<FailOn, FileProblem> {
        let name = self.text(
            entry,
            "write \"slower\", \"inconclusive\" or \"not-equivalent\"",
        )?;
        FailOn::parse(&name).map_err(|problem| self.senseless(entry, &problem))
    }

    fn day(&self, entry: &Entry<'_>) -> Result<Day, FileProblem> {
        const ADVICE: &str = "write a day, such as 2026-12-31";
        match entry.value.get_ref() {
            DeValue::String(text) => {
                Day::parse(text.trim()).map_err(|problem| self.senseless(entry, &problem))
            }
            DeValue::Datetime(moment) => {
                let date = moment
                    .date
                    .filter(|_| moment.time.is_none() && moment.offset.is_none());
                let date = date.ok_or_else(|| {
                    let problem = format!("{} is {moment}, which is not a date", entry.key);
                    self.wrong(entry.value.span().start, problem, ADVICE)
                })?;
                Day::new(date.year, date.month, date.day).ok_or_else(|| {
                    self.senseless(entry, &format!("{date} does not exist in the calendar"))
                })
            }
            _ => Err(self.of_wrong_kind(entry, ADVICE)),
        }
    }

    fn tables<'d>(&self, entry: &Entry<'d>) -> Result<Vec<(usize, &'d DeTable<'d>)>, FileProblem> {
        let wrong = |item: &Spanned<DeValue<'_>>| {
            let problem = format!("{} is not a list of tables", entry.key);
            let advice = match name_in_brackets(entry.value.get_ref()) {
                Some(name) => format!("write [[{}]], and below it name = \"{name}\"", entry.key),
                None => format!("write [[{}]], in two brackets, above each table", entry.key),
            };
            self.wrong(item.span().start, problem, advice)
        };
        let DeValue::Array(items) = entry.value.get_ref() else {
            return Err(wrong(entry.value));
        };
        let table = |item: &'d Spanned<DeValue<'d>>| match item.get_ref() {
            DeValue::Table(table) => Ok((item.span().start, table)),
            _ => Err(wrong(item)),
        };
        items.iter().map(table).collect()
    }

    fn some(&self, at: usize, table: &DeTable<'_>) -> Result<RulesOfSome, FileProblem> {
        let mut name = None;
        let mut rules = RaceSettings::default();
        for entry in self.entries(table) {
            match entry.key {
                "name" => name = Some(self.glob(&entry)?),
                _ if self.setting(&entry, true, &mut rules)? => {}
                _ => {
                    let settings = Setting::in_file(true).map(|setting| setting.name);
                    let known: Vec<&str> = ["name"].into_iter().chain(settings).collect();
                    return Err(self.unknown(&entry, "of [[benchmark]]", &known));
                }
            }
        }
        let name = name.ok_or_else(|| {
            let advice = "name its benchmarks, as in name = \"parse/*\"";
            self.wrong(at, "[[benchmark]] without a name", advice)
        })?;
        Ok(RulesOfSome { name, rules })
    }

    fn ignore(&self, at: usize, table: &DeTable<'_>) -> Result<Ignore, FileProblem> {
        let (mut name, mut reason, mut until, mut rule) = (None, None, None, None);
        const REASON: &str = "give a reason, as in reason = \"rewritten in #123\"";
        for entry in self.entries(table) {
            match entry.key {
                "name" => name = Some(self.glob(&entry)?),
                "reason" => reason = Some(self.text(&entry, REASON)?),
                "until" => until = Some(self.day(&entry)?),
                "rule" => rule = Some(self.rule(&entry)?),
                _ => return Err(self.unknown(&entry, "of [[ignore]]", &OF_AN_IGNORE)),
            }
        }
        let name = name.ok_or_else(|| {
            let advice = "name its benchmarks, as in name = \"hash/md5\"";
            self.wrong(at, "[[ignore]] without a name", advice)
        })?;
        let reason = reason.ok_or_else(|| self.wrong(at, "[[ignore]] without a reason", REASON))?;
        Ok(Ignore {
            name,
            reason,
            until,
            rule,
            line: self.line(at),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_rules_file_of_another_user_above_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("a");
        fs::create_dir_all(&below).unwrap();
        let file = base.path().join(RULES_FILE);
        fs::write(&file, "").unwrap();
        let given = |place: &Path| std::os::unix::fs::chown(place, Some(65_534), None);
        // Only root can give a file to another user.
        if given(&file).is_err() {
            return;
        }
        let error = find_rules(&below).unwrap_err().to_string();
        assert!(error.contains("belongs to another user"), "{error}");
        // A user may have rules for their own checkout.
        given(&below).unwrap();
        assert!(find_rules(&below).unwrap().is_some());
    }

    #[test]
    fn the_nearest_file_above_is_found_and_named_as_seen_from_below() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::write(base.path().join(RULES_FILE), "").unwrap();
        let found = find_rules(&below).unwrap().unwrap();
        assert_eq!(found, below.join("../..").join(RULES_FILE));
        assert!(found.is_file());

        fs::write(base.path().join("a").join(RULES_FILE), "").unwrap();
        let nearer = find_rules(&below).unwrap().unwrap();
        assert_eq!(nearer, below.join("..").join(RULES_FILE));
        assert_eq!(
            find_rules(base.path()).unwrap().unwrap(),
            base.path().join(RULES_FILE)
        );
    }

    #[test]
    fn what_is_no_file_is_told_and_not_passed_over() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("a");
        let here = below.join(RULES_FILE);
        fs::create_dir(&below).unwrap();
        fs::write(base.path().join(RULES_FILE), "").unwrap();
        let told = || find_rules(&below).unwrap_err().to_string();

        fs::create_dir(&here).unwrap();
        assert!(told().ends_with("it is a folder, not a rules file\nhelp: --no-config reads none"));
        assert!(told().contains(&here.display().to_string()));
        fs::remove_dir(&here).unwrap();

        symlink("nowhere", &here).unwrap();
        assert!(told().contains("a link to a missing file"));
        fs::remove_file(&here).unwrap();

        symlink("/dev/null", &here).unwrap();
        assert!(told().contains("a device"));
        fs::remove_file(&here).unwrap();

        let _listener = UnixListener::bind(&here).unwrap();
        assert!(told().contains("a socket"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = find_rules(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
