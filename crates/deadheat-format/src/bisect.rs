//! The record of a search for the commit that changed the time: `deadheat.bisect/1`, JSON Lines,
//! described by `docs/schema/bisect-1.schema.json`.
//!
//! The first line is the question, each other one something that happened. A line is on the disk
//! before the next step is taken, so that a search goes on after whatever ended it.

use std::fs::{self, OpenOptions};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use deadheat_model::bisect::{
    BenchmarkChosen, BisectAnswer, BisectCommit, BisectEnd, BisectEvent, BisectLog, BisectPrior,
    BisectRequest, CommitBuilt, CommitShare, CommitUnbuildable, CommitsBegun, CommitsRaced,
    OpenReason, OpenSearch, SeveralSteps, StepEstimate,
};
use deadheat_model::{Json, Object};

use crate::content::{self, read_line};
use crate::error::{FileProblem, FormatError, cannot_read, cannot_write, create_folder_of};
use crate::output::{Journal, lock};
use crate::wire::{Fields, Wire, WireError, choice, major_version, object};

/// The schema written, and the latest that is read.
pub const BISECT_SCHEMA: &str = "deadheat.bisect/1";

/// The events that this version knows, each by the name of its line.
const EVENTS: [&str; 7] = [
    "built",
    "unbuildable",
    "begun",
    "chosen",
    "raced",
    "resumed",
    "ended",
];

object! { BisectRequest {
    tool_version = "tool": within("version"),
    started_at,
    command: omit,
    good,
    bad,
    commits,
    aside: or(0),
    judged,
    margin,
    alpha,
    prior,
} ensure has_ends }

/// A range has two ends, and numbers of commits that fit.
fn has_ends(request: &BisectRequest) -> Result<(), WireError> {
    let in_bounds = |share: f64| share > 0.0 && share < 1.0;
    if request.commits.len() < 2 {
        Err(WireError::odd("GOOD and BAD among the commits"))
    } else if !in_bounds(request.margin.change()) || !in_bounds(2.0 * request.alpha) {
        Err(WireError::odd(
            "a margin and an alpha that a search may have",
        ))
    } else {
        Ok(())
    }
}

object! { BisectCommit { id, committed_at, subject, lines: omit, } }

choice! { BisectPrior { "uniform" => Uniform, "diff" => Diff, } }

choice! { BisectEvent {
    "built" => Built(built),
    "unbuildable" => Unbuildable(failed),
    "begun" => Begun(begun),
    "chosen" => Chosen(chosen),
    "raced" => Raced(raced),
    "resumed" => Resumed(at),
    "ended" => Ended(end),
} }

object! { CommitBuilt { commit, was_kept = "kept": or(false), seconds, digest: omit, } }

object! { CommitUnbuildable { commit, reason, seconds, } }

object! { CommitsBegun { from, to, file, } }

object! { BenchmarkChosen { benchmark, called: omit, } }

object! { CommitsRaced {
    from,
    to,
    benchmark,
    effect = "change",
    se,
    df,
    replicates,
    seconds,
    file,
    was_cut = "cut": or(false),
    is_placed = "placed": or(false),
} }

object! { BisectEnd { answer: inline, step: omit, within: omit, } }

/// The answer stands by its name among the fields of the end.
impl Fields for BisectAnswer {
    fn put(&self, object: Object) -> Object {
        match self {
            Self::Commits(share) => object.with("commits", share.to_json()),
            Self::NoStep(probability) => object.with("no_step", *probability),
            Self::NoSingleStep(several) => object.with("no_single_step", several.to_json()),
            Self::Open(open) => object.with("open", open.to_json()),
        }
    }

    fn take(object: &Object) -> Result<Self, WireError> {
        fn read<T: Wire>(
            object: &Object,
            name: &str,
            answer: fn(T) -> BisectAnswer,
        ) -> Result<Option<BisectAnswer>, WireError> {
            let found = object.get(name).map(T::from_json).transpose();
            Ok(found.map_err(|error| error.inside(name))?.map(answer))
        }
        let found = [
            read(object, "commits", Self::Commits)?,
            read(object, "no_step", Self::NoStep)?,
            read(object, "no_single_step", Self::NoSingleStep)?,
            read(object, "open", Self::Open)?,
        ];
        let mut found = found.into_iter().flatten();
        found.next().ok_or_else(|| WireError::odd("an answer"))
    }
}

object! { SeveralSteps { from, to, probability, } }

object! { OpenSearch { reason, commits, no_step, } }

choice! { OpenReason {
    "budget" => Budget,
    "races" => Races,
    "exhausted" => Exhausted,
} }

object! { CommitShare { first, last, probability, } }

object! { StepEstimate { effect = "change", low, high, } }

/// Two commits.
impl Wire for (usize, usize) {
    fn to_json(&self) -> Json {
        Json::from_iter([self.0, self.1])
    }

    fn from_json(json: &Json) -> Result<Self, WireError> {
        match Vec::from_json(json)?[..] {
            [from, to] => Ok((from, to)),
            _ => Err(WireError::odd("two commits")),
        }
    }
}

/// The record of a search that goes on. While it lives, no other process can go on with it.
#[derive(Debug)]
pub struct BisectLogWriter {
    path: PathBuf,
    journal: Journal,
}

impl BisectLogWriter {
    /// Begins a new record, creating the folders above it.
    ///
    /// # Errors
    ///
    /// A file that is there already, or cannot be written.
    pub fn create(path: &Path, request: &BisectRequest) -> Result<Self, FormatError> {
        create_folder_of(path)?;
        let opened = OpenOptions::new().append(true).create_new(true).open(path);
        let file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FileProblem::AlreadyExists.of(path),
            _ => cannot_write(path)(source),
        })?;
        lock(&file, path)?;
        let mut writer = Self {
            path: path.to_owned(),
            journal: Journal::new(file, 0, false),
        };
        let first = request.put(Object::new().with("schema", BISECT_SCHEMA));
        writer.append_line(&first.into()).inspect_err(|_| {
            // A file without a whole question would stand in the way of the next try.
            let _ = fs::remove_file(path);
        })?;
        Ok(writer)
    }

    /// Takes up a record: what was cut off at its end goes.
    ///
    /// # Errors
    ///
    /// A file that is no record, or that another process goes on with.
    pub fn reopen(path: &Path) -> Result<(BisectLog, Self), FormatError> {
        let opened = OpenOptions::new().append(true).open(path);
        let file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => cannot_read(path)(source),
            _ => cannot_write(path)(source),
        })?;
        lock(&file, path)?;
        let (log, len) = scan(path)?;
        let writer = Self {
            path: path.to_owned(),
            journal: Journal::new(file, len, true),
        };
        Ok((log, writer))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps what happened; it is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn append(&mut self, event: &BisectEvent) -> Result<(), FormatError> {
        self.append_line(&event.to_json())
    }

    fn append_line(&mut self, json: &Json) -> Result<(), FormatError> {
        let line = format!("{json}\n");
        let written = self.journal.append(line.as_bytes());
        let kept = written.and_then(|()| self.journal.sync());
        kept.map_err(cannot_write(&self.path))
    }
}

/// Reads the record of a search. A last line that was cut off is passed over.
///
/// # Errors
///
/// A file that is no record or of a later version, and the line that cannot be what it says.
pub fn read_bisect_log(path: &Path) -> Result<BisectLog, FormatError> {
    Ok(scan(path)?.0)
}

/// A record, and the bytes up to the end of its last whole line.
fn scan(path: &Path) -> Result<(BisectLog, u64), FormatError> {
    let file = content::open(path).map_err(cannot_read(path))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    read_line(&mut reader, &mut line).map_err(cannot_read(path))?;
    if line.is_empty() {
        return Err(FileProblem::Empty.of(path));
    }
    let request = request(path, &line)?;
    let last = request.last();
    let mut log = BisectLog {
        request,
        events: Vec::new(),
    };
    let mut len = line.len() as u64;
    for number in 2.. {
        line.clear();
        read_line(&mut reader, &mut line).map_err(cannot_read(path))?;
        // What a kill left behind has no end.
        if !line.ends_with(b"\n") {
            break;
        }
        let wrong = |problem: String| FormatError::at(path, number, problem);
        let json = std::str::from_utf8(&line).ok().and_then(Json::parse);
        let json = json.ok_or_else(|| wrong("not JSON".to_owned()))?;
        let name = json
            .as_object()
            .and_then(Object::only)
            .map(|(name, _)| name);
        // Others are of a later minor version.
        if name.is_some_and(|name| EVENTS.contains(&name)) {
            let event = BisectEvent::from_json(&json).map_err(|error| wrong(error.to_string()))?;
            check(&event, last).map_err(wrong)?;
            log.events.push(event);
        }
        len += line.len() as u64;
    }
    Ok((log, len))
}

/// The question in the first line.
fn request(path: &Path, line: &[u8]) -> Result<BisectRequest, FormatError> {
    let json = std::str::from_utf8(line).ok().and_then(Json::parse);
    let schema = json.as_ref().and_then(Json::as_object);
    let schema = schema.and_then(|first| first.get("schema")?.as_text());
    let major = schema.and_then(|schema| major_version(schema, "deadheat.bisect/"));
    match (major, &json) {
        (Some(1), Some(json)) => BisectRequest::from_json(json).map_err(|error| {
            FormatError::at(path, 1, format!("the question does not hold: {error}"))
        }),
        (Some(2..), _) => Err(FormatError::unknown(
            path,
            format!(
                "has schema {}: it needs a later deadheat; this one reads {BISECT_SCHEMA}",
                schema.unwrap_or_default()
            ),
        )),
        _ => Err(FormatError::unknown(
            path,
            format!("is no record of deadheat bisect (JSON Lines, schema {BISECT_SCHEMA})"),
        )),
    }
}

/// Finds fault with commits that the range does not have, and with numbers that are none.
fn check(event: &BisectEvent, last: usize) -> Result<(), String> {
    let commits = match event {
        BisectEvent::Built(built) => vec![built.commit],
        BisectEvent::Unbuildable(failed) => vec![failed.commit],
        BisectEvent::Begun(begun) => vec![begun.from, begun.to],
        BisectEvent::Raced(raced) => vec![raced.from, raced.to],
        BisectEvent::Ended(end) => match &end.answer {
            BisectAnswer::Commits(share) => vec![share.first, share.last],
            BisectAnswer::NoSingleStep(several) => vec![several.from, several.to],
            BisectAnswer::Open(open) => {
                let shares = open.commits.iter();
                shares.flat_map(|share| [share.first, share.last]).collect()
            }
            BisectAnswer::NoStep(_) => Vec::new(),
        },
        BisectEvent::Chosen(_) | BisectEvent::Resumed(_) => Vec::new(),
    };
    if let Some(commit) = commits.iter().find(|commit| **commit > last) {
        return Err(format!("there is no commit {commit}; the last is {last}"));
    }
    let shares = match event {
        BisectEvent::Ended(end) => match &end.answer {
            BisectAnswer::Commits(share) => std::slice::from_ref(share),
            BisectAnswer::Open(open) => &open.commits,
            BisectAnswer::NoStep(_) | BisectAnswer::NoSingleStep(_) => &[],
        },
        _ => &[],
    };
    // GOOD is no culprit.
    if let Some(share) = shares
        .iter()
        .find(|one| one.first == 0 || one.first > one.last)
    {
        let CommitShare { first, last, .. } = share;
        return Err(format!(
            "commits {first} to {last} are none that can be the culprit"
        ));
    }
    if let BisectEvent::Raced(CommitsRaced { from, to, .. }) = event
        && from == to
    {
        return Err(format!("commit {from} was raced against itself"));
    }
    let seconds = event.seconds();
    if !(0.0..1e12).contains(&seconds) {
        return Err(format!("{seconds} are no seconds that a step takes"));
    }
    match event {
        BisectEvent::Raced(raced) if raced.se < 0.0 || raced.df < 1.0 => {
            Err("a race has an error, and degrees of freedom from 1 up".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    use deadheat_model::{LogRatio, Metric};

    fn request() -> BisectRequest {
        let commit = |id: &str| BisectCommit {
            id: id.to_owned(),
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
        assert!(error.contains("no record of deadheat bisect"), "{error}");
    }

    #[test]
    fn an_answer_that_names_good_is_refused() {
        let share = |first, last| CommitShare {
            first,
            last,
            probability: 0.97,
        };
        let ended = |share| {
            BisectEvent::Ended(BisectEnd {
                answer: BisectAnswer::Commits(share),
                step: None,
                within: None,
            })
        };
        assert!(check(&ended(share(1, 2)), 2).is_ok());
        assert!(check(&ended(share(0, 1)), 2).is_err());
        assert!(check(&ended(share(2, 1)), 2).is_err());
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
