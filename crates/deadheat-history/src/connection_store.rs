//! Opens an index without trusting it. A file in a checkout may come from anyone, so SQLite must
//! execute nothing that the file's schema contains: the schema must be exactly that of deadheat,
//! and views and triggers are disabled. Ctrl-C ends every wait and every query.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use deadheat::parts::format::{FileProblem, FormatError, belongs_to_another};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// A function that returns true if the user has asked to stop.
pub type Stop = fn() -> bool;

/// The pause between two attempts to get the lock of a database.
const PAUSE: Duration = Duration::from_millis(20);
/// The largest number of attempts to get the lock of a database. Together they take one minute.
const ATTEMPTS: i32 = 3_000;

/// The number of SQLite's virtual-machine steps between two checks for signals: about 1 ms.
const STEPS: i32 = 50_000;

/// The largest size, in bytes, of a value in an index and of the list of commits in a query.
const LONGEST: i32 = 64 << 20;

pub(crate) const SCHEMA: &str = "
CREATE TABLE commits (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    committed_at INTEGER,
    subject TEXT NOT NULL
);
CREATE INDEX commits_by_time ON commits (committed_at);
CREATE TABLE machines (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    cpu TEXT NOT NULL,
    UNIQUE (name, cpu)
);
CREATE TABLE series (
    number INTEGER PRIMARY KEY,
    benchmark TEXT NOT NULL,
    parameters TEXT NOT NULL,
    metric TEXT NOT NULL,
    UNIQUE (benchmark, parameters, metric)
);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    length INTEGER NOT NULL,
    path TEXT NOT NULL,
    started_at INTEGER,
    baseline INTEGER NOT NULL REFERENCES commits,
    candidate INTEGER NOT NULL REFERENCES commits,
    machine INTEGER NOT NULL REFERENCES machines,
    tool TEXT NOT NULL,
    command TEXT NOT NULL,
    selection TEXT NOT NULL,
    unmeasured INTEGER NOT NULL
);
CREATE INDEX runs_by_baseline ON runs (baseline);
CREATE INDEX runs_by_candidate ON runs (candidate);
CREATE TABLE races (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    series INTEGER NOT NULL REFERENCES series,
    contender INTEGER NOT NULL,
    effect REAL NOT NULL,
    se REAL NOT NULL,
    df REAL NOT NULL,
    replicates INTEGER NOT NULL,
    verdict TEXT,
    warnings TEXT NOT NULL,
    PRIMARY KEY (run, series, contender)
) WITHOUT ROWID;
";

/// Opens or creates the database file. Before any other query, [`check_schema`] must accept it.
pub(crate) fn connect(path: &Path, stop: Stop) -> Result<Connection, FormatError> {
    refuse_foreign_journal(path)?;
    // The path must not be parsed as a URI. SQLite would also create a database in memory for an
    // empty path or ":memory:".
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(Path::new(".").join(path), flags);
    let opened = opened.and_then(|mut connection| {
        for (setting, is_on) in [
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            connection.set_db_config(setting, is_on)?;
        }
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
        connection.progress_handler(STEPS, Some(stop))?;
        connection.busy_handler(Some(move |attempts: i32| {
            let goes_on = attempts < ATTEMPTS && !stop();
            if goes_on {
                sleep(PAUSE);
            }
            goes_on
        }))?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(connection)
    });
    opened.map_err(failure(path))
}

/// The last bytes of a journal that names the journal of a transaction over several databases.
const OF_SEVERAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses a journal of another user, and a journal of this database that names another file,
/// because SQLite would delete that file when it rolls back the journal. deadheat writes to one database per transaction, so its own
/// journals name no other file.
fn refuse_foreign_journal(path: &Path) -> Result<(), FormatError> {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let journal = PathBuf::from(journal);
    let ending = || {
        let mut file = File::open(&journal).ok()?;
        file.seek(SeekFrom::End(-(OF_SEVERAL.len() as i64))).ok()?;
        let mut ending = [0; OF_SEVERAL.len()];
        file.read_exact(&mut ending).ok()?;
        Some(ending)
    };
    // SQLite would write the content of the journal into the database.
    let folder = path.parent().unwrap_or(Path::new(""));
    if belongs_to_another(&journal, folder) {
        let problem = "belongs to another user, so the index is not used; delete it";
        return Err(FileProblem::Unknown(problem.to_owned()).of(&journal));
    }
    let is_file = std::fs::metadata(&journal).is_ok_and(|about| about.is_file());
    if is_file && ending() == Some(OF_SEVERAL) {
        let problem = "belongs to another index; delete it";
        return Err(FileProblem::Unknown(problem.to_owned()).of(&journal));
    }
    Ok(())
}

/// An element of a schema (a table, index, view or trigger): its kind, name, table and SQL text.
type Element = (String, String, String, Option<String>);

/// Returns at most 100 elements of a schema, sorted by name, which is more than an index has.
/// Leaves out the tables of statistics that SQLite adds if the user runs ANALYZE.
fn schema_of(connection: &Connection) -> rusqlite::Result<Vec<Element>> {
    let query = "SELECT type, name, tbl_name, sql FROM sqlite_master \
                 WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4') ORDER BY name LIMIT 100";
    let mut query = connection.prepare(query)?;
    let elements = query.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    elements.collect()
}

/// Refuses a file whose schema differs in any way from that of an index.
pub(crate) fn check_schema(connection: &Connection, path: &Path) -> Result<(), FormatError> {
    let ours = || {
        let empty = Connection::open_in_memory()?;
        empty.execute_batch(SCHEMA)?;
        schema_of(&empty)
    };
    let ours = ours().map_err(failure(path))?;
    let theirs = schema_of(connection).map_err(failure(path))?;
    if theirs == ours {
        return Ok(());
    }
    let odd = theirs.iter().find(|one| !ours.contains(one));
    let odd = odd.map_or_else(
        || "a table or an index is missing".to_owned(),
        |(kind, name, ..)| format!("its {kind} '{name}' is not one of deadheat's"),
    );
    Err(broken(&odd).of(path))
}

fn broken(said: &str) -> FileProblem {
    FileProblem::Unknown(format!(
        "is a broken index of a history ({said})\nhelp: delete it, and `deadheat history add` makes it \
         again from the run files"
    ))
}

pub(crate) const NOT_AN_INDEX: &str = "is not an index of a history\nhelp: name the index by --index; without it \
                                       deadheat uses .deadheat/history.sqlite";

/// Converts an error of SQLite into an error about the file. Errors of the disk and of permissions
/// are distinguished from errors in the file's content.
pub(crate) fn failure(path: &Path) -> impl Fn(rusqlite::Error) -> FormatError {
    let path = path.to_owned();
    move |error| {
        let code = error.sqlite_error_code();
        let said = match &error {
            rusqlite::Error::SqliteFailure(_, Some(said)) => said.clone(),
            error => error.to_string(),
        };
        let problem = match code {
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::SystemIoFailure
                | ErrorCode::PermissionDenied,
            ) => FileProblem::CannotWrite(std::io::Error::other(said)),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FileProblem::InUse,
            Some(ErrorCode::OperationInterrupted) => FileProblem::Interrupted,
            Some(ErrorCode::NotADatabase) => FileProblem::Unknown(NOT_AN_INDEX.to_owned()),
            _ => broken(&said),
        };
        problem.of(path.clone())
    }
}
