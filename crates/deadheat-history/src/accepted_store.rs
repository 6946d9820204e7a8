//! The steps that a user has accepted: `accepted.toml` in the folder of the index, to be read,
//! edited and committed.
//!
//! The acceptances are not part of the index, because the index is made from run files, which do
//! not contain them.

use std::fmt::Write;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use deadheat::parts::format::{
    FileProblem, FormatError, belongs_to_another, cannot_read, cannot_write, read_plain_text,
    write_export,
};
use deadheat::parts::model::is_object_id;
use toml::de::{DeTable, DeValue};

/// The name of the file, in the folder of the index.
pub const ACCEPTED_FILE: &str = "accepted.toml";

const HEAD: &str = "# Known and accepted steps, for `deadheat history check`.
# `deadheat history accept COMMIT \"why\"` adds one, `--remove` removes it.
";

/// A step in the time of benchmarks that the user has accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The full id of the commit that made the step, in lower case.
    pub commit: String,
    /// The benchmark for which the step is accepted; `None` for all benchmarks.
    pub benchmark: Option<String>,
    pub why: String,
}

/// Returns the path of the file of accepted steps, in the folder of an index.
fn beside(index: &Path) -> PathBuf {
    index.with_file_name(ACCEPTED_FILE)
}

/// The largest size of the file in bytes: more than 5,000 accepted steps. A commit may contain the
/// file, and parsing takes many times its size.
const MOST_BYTES: usize = 1 << 20;

/// Reads the accepted steps in the folder of an index. Returns an empty list if the file is
/// missing.
///
/// # Errors
///
/// Fails if the file cannot be read, belongs to another user, or has an invalid line, whose number
/// the error gives.
pub fn read_accepted(index: &Path) -> Result<Vec<Accepted>, FormatError> {
    let path = beside(index);
    // The folder around `.deadheat`, or around the folder of another index.
    let around = path.ancestors().nth(2).unwrap_or(Path::new(""));
    if belongs_to_another(&path, around) {
        let problem = io::Error::other("it belongs to another user, who could accept any step");
        return Err(cannot_read(&path)(problem));
    }
    match read_plain_text(&path)? {
        Some(text) if text.len() > MOST_BYTES => {
            let problem = io::Error::other(format!("it is larger than {MOST_BYTES} bytes"));
            Err(cannot_read(&path)(problem))
        }
        Some(text) => parse(&text).map_err(|problem| problem.of(path)),
        None => Ok(Vec::new()),
    }
}

/// Replaces the file of accepted steps in the folder of an index. If git ignores everything in that
/// folder, which is deadheat's default, an exception for this file is added to `.gitignore`.
///
/// # Errors
///
/// Fails if the file cannot be written, or if it is a symbolic link, which a commit may have
/// created.
pub fn write_accepted(index: &Path, accepted: &[Accepted]) -> Result<PathBuf, FormatError> {
    let path = beside(index);
    let ignore = path.with_file_name(".gitignore");
    if let Some(link) = [&path, &ignore].into_iter().find(|one| one.is_symlink()) {
        let problem =
            io::Error::other("it is a symbolic link, which deadheat does not follow here");
        return Err(cannot_write(link)(problem));
    }
    let text = text_of(accepted);
    write_export(&path, |out| {
        out.write_all(text.as_bytes()).map_err(cannot_write(&path))
    })?;
    if fs::read_to_string(&ignore).is_ok_and(|text| text == "*\n") {
        let shown = format!("*\n!{ACCEPTED_FILE}\n");
        fs::write(&ignore, shown).map_err(cannot_write(&ignore))?;
    }
    Ok(path)
}

fn text_of(accepted: &[Accepted]) -> String {
    let mut text = HEAD.to_owned();
    for one in accepted {
        text += "\n[[accepted]]\n";
        let mut line = |key: &str, value: &str| {
            let _ = writeln!(text, "{key} = {}", quoted(value));
        };
        line("commit", &one.commit);
        if let Some(benchmark) = &one.benchmark {
            line("benchmark", benchmark);
        }
        line("why", &one.why);
    }
    text
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

fn parse(text: &str) -> Result<Vec<Accepted>, FileProblem> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
    let line = |at: usize| ends.partition_point(|end| *end < at) as u64 + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        FileProblem::at(line(at), error.message())
    })?;
    let mut accepted = Vec::new();
    for (key, value) in table.get_ref() {
        let at = line(key.span().start);
        let (DeValue::Array(tables), "accepted") = (value.get_ref(), &**key.get_ref()) else {
            return Err(FileProblem::at(
                at,
                "the file may hold only [[accepted]] tables",
            ));
        };
        for entry in tables.iter() {
            let at = line(entry.span().start);
            let DeValue::Table(fields) = entry.get_ref() else {
                return Err(FileProblem::at(
                    at,
                    "the file may hold only [[accepted]] tables",
                ));
            };
            accepted.push(entry_of(fields, at, &line)?);
        }
    }
    Ok(accepted)
}

fn entry_of(
    fields: &DeTable<'_>,
    at: u64,
    line: &dyn Fn(usize) -> u64,
) -> Result<Accepted, FileProblem> {
    let (mut commit, mut benchmark, mut why) = (None, None, None);
    for (key, value) in fields {
        let at = line(key.span().start);
        let DeValue::String(text) = value.get_ref() else {
            return Err(FileProblem::at(
                at,
                format!("{} must be a string", key.get_ref()),
            ));
        };
        let field = match &**key.get_ref() {
            "commit" => &mut commit,
            "benchmark" => &mut benchmark,
            "why" => &mut why,
            other => {
                let problem =
                    format!("unknown key '{other}': the keys are commit, benchmark and why");
                return Err(FileProblem::at(at, problem));
            }
        };
        *field = Some(text.to_string());
    }
    // Only full ids are valid: a list of all 65,536 prefixes of four digits would accept every
    // commit.
    let commit = commit.map(|commit| commit.to_ascii_lowercase());
    let commit = commit.filter(|commit| is_object_id(commit));
    let why = why.filter(|why: &String| !why.trim().is_empty());
    let (Some(commit), Some(why)) = (commit, why) else {
        let problem =
            "an acceptance needs the full id of a commit (40 or 64 digits) and a reason (why)";
        return Err(FileProblem::at(at, problem));
    };
    Ok(Accepted {
        commit,
        benchmark,
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(commit: &str, benchmark: Option<&str>, why: &str) -> Accepted {
        Accepted {
            commit: commit.to_owned(),
            benchmark: benchmark.map(str::to_owned),
            why: why.to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read_whatever_the_reason_holds() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("history.sqlite");
        assert_eq!(read_accepted(&index).unwrap(), []);
        let all = vec![
            accepted(
                &"0123abcd".repeat(5),
                None,
                "a \"reason\" of \\ two\nlines\u{7}",
            ),
            accepted(&"a".repeat(40), Some("parse = [1]"), "'"),
        ];
        fs::write(folder.path().join(".gitignore"), "*\n").unwrap();
        let path = write_accepted(&index, &all).unwrap();
        assert_eq!(read_accepted(&index).unwrap(), all);
        assert!(fs::read_to_string(path).unwrap().starts_with("# Known"));
        let ignored = fs::read_to_string(folder.path().join(".gitignore")).unwrap();
        assert_eq!(ignored, "*\n!accepted.toml\n");
    }

    #[test]
    fn what_says_something_odd_is_named_by_its_line() {
        const BLANK: &str =
            "[[accepted]]\ncommit = '0123456789012345678901234567890123456789'\nwhy = ' '\n";
        for (text, line, word) in [
            ("[[accepted]]\ncommit = 'abcd'\n", 1, "a reason"),
            (
                "[[accepted]]\ncommit = '0123abcd'\nwhy = ''\n",
                1,
                "full id",
            ),
            (BLANK, 1, "a reason"),
            ("\n[[other]]\n", 2, "[[accepted]]"),
            ("[[accepted]]\ncommit = 'abcd'\nwhen = ''\n", 3, "'when'"),
            ("[[accepted]]\ncommit = 1\nwhy = ''\n", 2, "a string"),
            ("[[accepted]]\ncommit = \n", 2, ""),
        ] {
            let error = parse(text).unwrap_err().of("accepted.toml");
            assert_eq!(error.line(), Some(line), "{text}: {error}");
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
