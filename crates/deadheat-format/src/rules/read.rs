//! A rules file: where it is found, and from its bytes to what it says.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use deadheat_model::{Ignore, RaceSettings, RulesFile, RulesOfSome, Setting};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{Document, Entry};
use crate::error::{FileProblem, FormatError, cannot_read};

/// The name of the file that is looked for.
pub const RULES_FILE: &str = "deadheat.toml";

/// The nearest `deadheat.toml`, in this folder or one above it up to the root of the file system,
/// named as seen from the folder; an empty path is the current folder. `None` where there is none;
/// what has the name and is no file is an error.
pub fn find_rules(folder: &Path) -> Result<Option<PathBuf>, FormatError> {
    let here = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let absolute = fs::canonicalize(here).map_err(cannot_read(here))?;
    let mut seen = folder.to_owned();
    for place in absolute.ancestors() {
        let file = place.join(RULES_FILE);
        // A link is followed only once it is known to be there: one that leads
        // nowhere is a mistake, not a project without rules.
        match fs::symlink_metadata(&file).and_then(|_| fs::metadata(&file)) {
            Ok(about) if about.is_file() => return Ok(Some(seen.join(RULES_FILE))),
            Ok(about) => return Err(no_rules(&seen, file_kind(about.file_type()))),
            Err(_) if file.is_symlink() => {
                return Err(no_rules(&seen, "a link that leads nowhere"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_read(&file)(error)),
        }
        seen.push("..");
    }
    Ok(None)
}

/// Rules that nobody reads would be gates that are open: what stands where they should be is told.
fn no_rules(seen: &Path, kind: &str) -> FormatError {
    let problem = format!("it is {kind}, and no file of rules; --no-config goes without");
    cannot_read(&seen.join(RULES_FILE))(io::Error::other(problem))
}

fn file_kind(kind: fs::FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Bytes that a rules file may have: far more than anybody writes by hand, and
/// little to read by mistake.
const MOST_BYTES: u64 = 1 << 20;

const OF_AN_IGNORE: [&str; 4] = ["name", "reason", "until", "rule"];

/// Reads a rules file.
pub fn read_rules(path: impl AsRef<Path>) -> Result<RulesFile, FormatError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(cannot_read(path))?;
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(cannot_read(path))?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem = "it is larger than 1 MiB, so it is no rules file; --config names another, \
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
        let problem = error.message().trim().replace('\n', ", ");
        document.wrong(at, format!("no TOML: {problem}"), "")
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
                return Err(document.unknown(&entry, "of the file", &known));
            }
        }
    }
    Ok(rules)
}

impl Document<'_> {
    /// Tables that stand below `[[key]]`, each with its place.
    fn tables<'d>(&self, entry: &Entry<'d>) -> Result<Vec<(usize, &'d DeTable<'d>)>, FileProblem> {
        let wrong = |item: &Spanned<DeValue<'_>>| {
            let problem = format!("{} is no list of tables", entry.key);
            let advice = format!("write [[{}]] with two brackets above each", entry.key);
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
            let advice = "say which benchmarks it is about, as name = \"parse/*\"";
            self.wrong(at, "[[benchmark]] without a name", advice)
        })?;
        Ok(RulesOfSome { name, rules })
    }

    fn ignore(&self, at: usize, table: &DeTable<'_>) -> Result<Ignore, FileProblem> {
        let (mut name, mut reason, mut until, mut rule) = (None, None, None, None);
        const REASON: &str = "say why, as reason = \"rewritten in #123\"";
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
            let advice = "say which benchmarks it is about, as name = \"hash/md5\"";
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
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

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
        assert!(told().ends_with("it is a folder, and no file of rules; --no-config goes without"));
        assert!(told().contains(&here.display().to_string()));
        fs::remove_dir(&here).unwrap();

        symlink("nowhere", &here).unwrap();
        assert!(told().contains("a link that leads nowhere"));
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
