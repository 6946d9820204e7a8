//! The file of the record of a search. Each line is on the disk before the next step begins, so
//! that an interrupted search can be continued.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat::parts::format::wire::Wire as _;
use deadheat::parts::format::{
    FileDigest, FileProblem, FormatError, JsonLinesWriter, create_own_folder, own_folder,
    read_json_lines,
};
use deadheat::parts::model::Json;
use deadheat::parts::note_made_file;

use crate::log::{BisectEvent, BisectLog, BisectRequest, MOST_RACES};
use crate::wire::{FirstLineError, first_line, read_event, read_first_line};

const FOLDER: &str = "bisect";

/// Returns the path of the record with this name: `.deadheat/bisect/NAME.jsonl` below `base`.
pub fn bisect_log_path(base: &Path, name: &str) -> PathBuf {
    own_folder(base, FOLDER).join(format!("{name}.jsonl"))
}

/// Returns true for the name of the record of a search, `GOOD-BAD-DIGEST.jsonl`, also if the record
/// was set aside under a longer name.
pub fn is_bisect_log_name(name: &str) -> bool {
    let Some((name, _)) = name.split_once(".jsonl") else {
        return false;
    };
    let parts: Vec<&str> = name.split('-').collect();
    let is_part =
        |part: &&str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.len() == 3 && parts.iter().all(is_part)
}

/// Creates the folder of [`bisect_log_path`] below `base`.
///
/// # Errors
///
/// The folder cannot be written.
pub fn create_bisect_folder(base: &Path) -> Result<(), FormatError> {
    create_own_folder(base, FOLDER)
}

/// Returns the latest record below `base`; `None` without any.
pub fn latest_bisect_log(base: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(own_folder(base, FOLDER)).ok()?;
    let logs = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let written = path.metadata().ok()?.modified().ok()?;
        let is_log = path.extension().is_some_and(|ending| ending == "jsonl");
        is_log.then_some((written, path))
    });
    logs.max().map(|(_, path)| path)
}

/// Returns the digest of a record, which covers only the question: no other line determines which
/// programs are built and started.
pub(crate) fn digest(request: &BisectRequest) -> FileDigest {
    FileDigest::of_line(&first_line(request))
}

/// Writes the record of a running search. As long as it exists, no other process can continue the
/// search.
#[derive(Debug)]
pub struct BisectLogWriter(JsonLinesWriter);

impl BisectLogWriter {
    /// Begins a new record, and creates the folders above it.
    ///
    /// # Errors
    ///
    /// The file exists already, or cannot be written.
    pub fn create(path: &Path, request: &BisectRequest) -> Result<Self, FormatError> {
        let writer = JsonLinesWriter::create(path, &first_line(request))?;
        note_made_file(&digest(request));
        Ok(Self(writer))
    }

    /// Reads a record to continue it, and removes a last line that was cut off.
    ///
    /// # Errors
    ///
    /// The file is not a record, or another process writes it.
    pub fn reopen(path: &Path) -> Result<(BisectLog, Self), FormatError> {
        let mut log = None;
        let writer = JsonLinesWriter::reopen(path, |number, json| {
            add_line(&mut log, path, number, json.as_ref())
        })?;
        Ok((whole(log, path)?, Self(writer)))
    }

    /// Returns the path of the record.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes an event. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn append(&mut self, event: &BisectEvent) -> Result<(), FormatError> {
        self.0.append(&event.to_json())
    }
}

/// Reads the record of a search. A last line that was cut off is left out.
///
/// # Errors
///
/// The file is not a record, is of a later version, or has a wrong line, which the error names.
pub fn read_bisect_log(path: &Path) -> Result<BisectLog, FormatError> {
    let mut log = None;
    read_json_lines(path, |number, json| {
        add_line(&mut log, path, number, json.as_ref())
    })?;
    whole(log, path)
}

fn add_line(
    log: &mut Option<BisectLog>,
    path: &Path,
    number: u64,
    json: Option<&Json>,
) -> Result<(), FormatError> {
    let wrong = |problem: String| FormatError::at(path, number, problem);
    let Some(log) = log else {
        let request = read_first_line(json).map_err(|error| match error {
            FirstLineError::Content(problem) => wrong(problem),
            FirstLineError::Unknown(found) => FormatError::unknown(path, found),
        })?;
        let events = Vec::new();
        *log = Some(BisectLog { request, events });
        return Ok(());
    };
    let event = read_event(json, log.request.last()).map_err(wrong)?;
    let is_race = |event: &BisectEvent| matches!(event, BisectEvent::Raced(_));
    let races = || log.events.iter().filter(|event| is_race(event)).count();
    if event.as_ref().is_some_and(is_race) && races() == MOST_RACES {
        return Err(wrong(format!("a search has at most {MOST_RACES} races")));
    }
    log.events.extend(event);
    Ok(())
}

fn whole(log: Option<BisectLog>, path: &Path) -> Result<BisectLog, FormatError> {
    log.ok_or_else(|| FileProblem::Empty.of(path))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use deadheat::parts::format::wire::Wire as _;
    use deadheat::parts::model::{LogRatio, Metric};

    use super::*;

    #[test]
    fn records_of_searches_are_known_by_their_names() {
        for name in [
            "0f04ae78-92ce1211-bdca131d.jsonl",
            "0f04ae78-92ce1211-bdca131d.jsonl.1",
        ] {
            assert!(is_bisect_log_name(name), "{name}");
        }
        for name in [
            "my.jsonl",
            "a-b-c.jsonl",
            "0f04ae78-92ce1211.jsonl",
            "0f04ae78-92ce1211-bdca131d.txt",
        ] {
            assert!(!is_bisect_log_name(name), "{name}");
        }
    }
    use crate::log::{BisectCommit, BisectPrior, CommitsBegun, CommitsRaced};

    fn request() -> BisectRequest {
        let commit = |id: &str| BisectCommit {
            id: id.repeat(20),
            committed_at: Some(1_709_210_096),
            subject: "one".to_owned(),
            lines: None,
        };
        BisectRequest {
            tool_version: "0.1.0".to_owned(),
            started_at: None,
            command: Vec::new(),
            good: "v1".to_owned(),
            bad: "HEAD".to_owned(),
            commits: vec![commit("aa"), commit("bb"), commit("cc")],
            aside: 0,
            judged: Metric::Wall,
            margin: LogRatio::from_change(0.01),
            alpha: 0.05,
            prior: BisectPrior::Uniform,
        }
    }

    fn begun() -> BisectEvent {
        BisectEvent::Begun(CommitsBegun {
            from: 0,
            to: 2,
            file: "run.jsonl".into(),
        })
    }

    #[test]
    fn a_line_that_was_cut_off_goes_and_the_record_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").join("search.jsonl");
        let mut writer = BisectLogWriter::create(&path, &request()).unwrap();
        writer.append(&begun()).unwrap();
        assert!(BisectLogWriter::reopen(&path).unwrap_err().is_write_error());
        drop(writer);
        let whole = fs::read(&path).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"raced\":{\"from\":0,").unwrap();
        let (log, mut writer) = BisectLogWriter::reopen(&path).unwrap();
        assert_eq!(log.events, [begun()]);
        writer.append(&BisectEvent::Resumed(Some(7))).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let before = String::from_utf8(whole).unwrap();
        assert_eq!(text, before + "{\"resumed\":7}\n");
    }

    #[test]
    fn what_a_later_version_wrote_is_passed_over_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.jsonl");
        BisectLogWriter::create(&path, &request()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}{{\"pondered\":1}}\n")).unwrap();
        assert_eq!(read_bisect_log(&path).unwrap().events, []);
        fs::write(&path, text.replace("bisect/1", "bisect/2")).unwrap();
        let error = read_bisect_log(&path).unwrap_err();
        assert!(error.to_string().contains("later deadheat") && !error.is_write_error());
        fs::write(&path, "{\"schema\":\"deadheat.run/1\"}\n").unwrap();
        let error = read_bisect_log(&path).unwrap_err().to_string();
        assert!(error.contains("not a record of deadheat bisect"), "{error}");
    }

    #[test]
    fn refuses_more_races_than_a_search_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.jsonl");
        let mut writer = BisectLogWriter::create(&path, &request()).unwrap();
        let raced = BisectEvent::Raced(CommitsRaced {
            from: 0,
            to: 2,
            benchmark: "parse".to_owned(),
            judged: None,
            effect: LogRatio(0.1),
            se: 0.01,
            df: 5.0,
            replicates: 6,
            seconds: 1.0,
            file: "run.jsonl".into(),
            was_cut: false,
            is_placed: false,
        });
        for _ in 0..MOST_RACES {
            writer.append(&raced).unwrap();
        }
        assert_eq!(read_bisect_log(&path).unwrap().events.len(), MOST_RACES);
        writer.append(&raced).unwrap();
        let error = read_bisect_log(&path).unwrap_err();
        assert_eq!(error.line(), Some(MOST_RACES as u64 + 2));
    }

    #[test]
    fn a_commit_that_is_not_there_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.jsonl");
        BisectLogWriter::create(&path, &request()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let line = begun().to_json().to_string().replace(":2", ":3");
        fs::write(&path, format!("{text}{line}\n")).unwrap();
        let error = read_bisect_log(&path).unwrap_err();
        assert_eq!(error.line(), Some(2));
    }
}
