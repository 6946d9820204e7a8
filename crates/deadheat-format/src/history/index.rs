//! The index of a history: a SQLite database made of run files, which are the truth. It can be
//! deleted, and made again of them.
//!
//! One run is added by one transaction, so a process that is killed leaves the runs before whole,
//! and SQLite's own journal takes back what it had begun. Several processes wait for each other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_model::{Commit, HistoryMachine, HistoryRun, HistorySeries, Json, column_name};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};

use crate::error::{FileProblem, FormatError, create_folder_of};
use crate::wire::Wire;

/// The place of an index below a folder.
pub const INDEX_FILE: &str = ".deadheat/history.sqlite";

/// The schema written, and the latest that is read.
pub const INDEX_VERSION: i64 = 1;

/// The mark of our databases among all of SQLite: "dhhi".
const APPLICATION: i64 = 0x6468_6869;

/// The time that a process waits for others to have written.
const PATIENCE: Duration = Duration::from_secs(60);

const SCHEMA: &str = "
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
    path TEXT NOT NULL,
    started_at INTEGER,
    baseline INTEGER NOT NULL REFERENCES commits,
    candidate INTEGER NOT NULL REFERENCES commits,
    machine INTEGER NOT NULL REFERENCES machines,
    tool TEXT NOT NULL,
    command TEXT NOT NULL
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

/// The effect of adding a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new.
    New,
    /// It was known, and had gone on since.
    Replaced,
    /// It was known as it is.
    Known,
}

/// An open index.
#[derive(Debug)]
pub struct HistoryIndex {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
}

/// The index of a folder: the nearest one upwards, up to `top`; else the path of one that is yet to
/// be made at the top.
pub fn find_index(directory: &Path, top: Option<&Path>) -> PathBuf {
    let top = top.unwrap_or(directory);
    let mut folders = directory.ancestors();
    let above = folders
        .by_ref()
        .take_while(|folder| folder.starts_with(top));
    let mut indexes = above.map(|folder| folder.join(INDEX_FILE));
    indexes
        .find(|index| index.exists())
        .unwrap_or_else(|| top.join(INDEX_FILE))
}

impl HistoryIndex {
    /// Opens an index to add to it; makes it, and the folder it lies in, where there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be written or is no index of this version.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        create_folder_of(path)?;
        let mut index = Self::connected(path)?;
        if index.is_bare()? {
            index.make()?;
        }
        index.check()?;
        Ok(index)
    }

    /// Opens an index that is there; `None` where there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is no index of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Option<Self>, FormatError> {
        let path = path.as_ref();
        if !path.exists() {
            return Ok(None);
        }
        let index = Self::connected(path)?;
        if index.is_bare()? {
            return Ok(None);
        }
        index.check()?;
        Ok(Some(index))
    }

    /// Returns true for a file without a table: whoever made it was killed before there was one.
    fn is_bare(&self) -> Result<bool, FormatError> {
        let tables = "SELECT count(*) FROM sqlite_master";
        let tables = self.connection.query_row(tables, [], |row| row.get(0));
        let tables: i64 = tables.map_err(failure(&self.path))?;
        Ok(tables == 0 && self.marks()? == (0, 0))
    }

    fn connected(path: &Path) -> Result<Self, FormatError> {
        // Not as a URI, which a path may look like.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let made = Connection::open_with_flags(path, flags).and_then(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "foreign_keys", true)?;
            Ok(connection)
        });
        Ok(Self {
            connection: made.map_err(failure(path))?,
            path: path.to_owned(),
        })
    }

    fn marks(&self) -> Result<(i64, i64), FormatError> {
        let mark = |name| {
            let read = self
                .connection
                .pragma_query_value(None, name, |row| row.get(0));
            read.map_err(failure(&self.path))
        };
        Ok((mark("application_id")?, mark("user_version")?))
    }

    fn check(&self) -> Result<(), FormatError> {
        let problem = match self.marks()? {
            (APPLICATION, INDEX_VERSION) => return Ok(()),
            (APPLICATION, version) if version > INDEX_VERSION => format!(
                "is an index of version {version} and needs a later deadheat; this one reads \
                 version {INDEX_VERSION}. Its run files are what counts: `deadheat history add \
                 --index FILE` makes another of them"
            ),
            _ => "is no index of a history\nhelp: name another with --index".to_owned(),
        };
        Err(FileProblem::Unknown(problem).of(&self.path))
    }

    /// Makes the tables, unless another process did.
    fn make(&mut self) -> Result<(), FormatError> {
        let path = self.path.clone();
        let make = |transaction: &Transaction<'_>| {
            let tables = "SELECT count(*) FROM sqlite_master";
            let tables: i64 = transaction.query_row(tables, [], |row| row.get(0))?;
            if tables == 0 {
                transaction.execute_batch(SCHEMA)?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", INDEX_VERSION)?;
            }
            Ok(())
        };
        self.transact(make).map_err(failure(&path))
    }

    /// Runs `work` as one transaction that others wait for from its beginning.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Returns true for a run that is in the index as it is.
    ///
    /// # Errors
    ///
    /// An index that cannot be read.
    pub fn knows(&self, identity: &str, content: &str) -> Result<bool, FormatError> {
        let known = stored_content(&self.connection, identity);
        let known = known.map_err(failure(&self.path))?;
        Ok(known.is_some_and(|(_, known)| known == content))
    }

    /// Adds runs, all of them or none; the rows of a run that has gone on since are replaced.
    ///
    /// # Errors
    ///
    /// An index that cannot be written.
    pub fn add(&mut self, runs: &[HistoryRun]) -> Result<Vec<Added>, FormatError> {
        let path = self.path.clone();
        self.transact(|transaction| {
            let rows = Rows { transaction };
            runs.iter().map(|run| rows.add(run)).collect()
        })
        .map_err(failure(&path))
    }
}

fn stored_content(
    connection: &Connection,
    identity: &str,
) -> rusqlite::Result<Option<(i64, String)>> {
    let query = "SELECT number, content FROM runs WHERE identity = ?1";
    let mut query = connection.prepare(query)?;
    query
        .query_row([identity], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The rows of a transaction, found or made.
struct Rows<'t> {
    transaction: &'t Transaction<'t>,
}

impl Rows<'_> {
    fn add(&self, run: &HistoryRun) -> rusqlite::Result<Added> {
        let known = stored_content(self.transaction, &run.identity)?;
        if known
            .as_ref()
            .is_some_and(|(_, content)| *content == run.content)
        {
            return Ok(Added::Known);
        }
        if let Some((number, _)) = &known {
            let mut removal = self
                .transaction
                .prepare("DELETE FROM runs WHERE number = ?1")?;
            removal.execute([number])?;
        }
        let [baseline, candidate] = &run.commits;
        let (baseline, candidate) = (self.commit(baseline)?, self.commit(candidate)?);
        let machine = self.machine(&run.machine)?;
        let mut insertion = self.transaction.prepare(
            "INSERT INTO runs (identity, content, path, started_at, baseline, candidate, machine, \
             tool, command) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING number",
        )?;
        let row = params![
            run.identity,
            run.content,
            run.path,
            run.started_at.map(signed),
            baseline,
            candidate,
            machine,
            run.tool_version,
            run.command,
        ];
        let number: i64 = insertion.query_row(row, |row| row.get(0))?;
        let mut insertion = self.transaction.prepare(
            "INSERT INTO races (run, series, contender, effect, se, df, replicates, verdict, \
             warnings) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        for race in &run.races {
            insertion.execute(params![
                number,
                self.series(&race.series)?,
                race.candidate as i64,
                race.effect.0,
                race.se,
                // SQLite takes no infinity from JSON, and nobody needs more.
                race.df.min(1e12),
                race.replicates as i64,
                race.verdict.map(|verdict| verdict.name()),
                race.warnings.join(" "),
            ])?;
        }
        Ok(match known {
            Some(_) => Added::Replaced,
            None => Added::New,
        })
    }

    /// The number of a commit. What a run tells of one that others knew less of is kept.
    fn commit(&self, commit: &Commit) -> rusqlite::Result<i64> {
        let mut insertion = self.transaction.prepare(
            "INSERT INTO commits (id, committed_at, subject) VALUES (?1, ?2, ?3) \
             ON CONFLICT (id) DO UPDATE SET \
             committed_at = coalesce(committed_at, excluded.committed_at), \
             subject = iif(subject = '', excluded.subject, subject) RETURNING number",
        )?;
        let row = params![commit.id, commit.committed_at.map(signed), commit.subject];
        insertion.query_row(row, |row| row.get(0))
    }

    fn machine(&self, machine: &HistoryMachine) -> rusqlite::Result<i64> {
        let mut insertion = self.transaction.prepare(
            "INSERT INTO machines (name, cpu) VALUES (?1, ?2) \
             ON CONFLICT DO UPDATE SET name = name RETURNING number",
        )?;
        insertion.query_row([&machine.name, &machine.cpu], |row| row.get(0))
    }

    fn series(&self, series: &HistorySeries) -> rusqlite::Result<i64> {
        let mut insertion = self.transaction.prepare(
            "INSERT INTO series (benchmark, parameters, metric) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET metric = metric RETURNING number",
        )?;
        let parameters: Json = series.parameters.iter().map(Wire::to_json).collect();
        let metric = column_name(&series.metric);
        let row = params![series.benchmark, parameters.to_string(), metric];
        insertion.query_row(row, |row| row.get(0))
    }
}

/// Seconds as SQLite keeps them.
fn signed(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// Turns what SQLite said into the error of a file: the disk's and the rights' are told from those
/// of what the file holds.
pub(super) fn failure(path: &Path) -> impl Fn(rusqlite::Error) -> FormatError {
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
            _ => FileProblem::Unknown(format!(
                "is no index of a history that can be used ({said})\nhelp: delete it, and `deadheat \
                 history add` makes it again of the run files"
            )),
        };
        problem.of(path.clone())
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{HistoryRace, LogRatio, Metric, Verdict};

    use super::*;

    fn commit(letter: char, seconds: u64) -> Commit {
        Commit {
            id: letter.to_string().repeat(40),
            committed_at: Some(seconds),
            subject: format!("change {letter}"),
        }
    }

    fn run(identity: &str, content: &str, commits: [Commit; 2], effect: f64) -> HistoryRun {
        HistoryRun {
            identity: identity.to_owned(),
            content: content.to_owned(),
            path: "a.jsonl".to_owned(),
            started_at: Some(7),
            commits,
            machine: HistoryMachine::default(),
            tool_version: "0.1.0".to_owned(),
            command: String::new(),
            races: vec![HistoryRace {
                series: HistorySeries {
                    benchmark: "parse".to_owned(),
                    parameters: vec![("n".to_owned(), "1".to_owned())],
                    metric: Metric::Cpu,
                },
                candidate: 0,
                effect: LogRatio(effect),
                se: 0.5,
                df: f64::INFINITY,
                replicates: 9,
                verdict: Some(Verdict::Faster),
                warnings: vec!["bimodal".to_owned(), "ties".to_owned()],
            }],
        }
    }

    fn index() -> (tempfile::TempDir, HistoryIndex) {
        let folder = tempfile::tempdir().unwrap();
        let index = HistoryIndex::create(folder.path().join("new/history.sqlite")).unwrap();
        (folder, index)
    }

    #[test]
    fn what_is_added_is_found_by_its_commits_and_once_only() {
        let (_folder, mut index) = index();
        let both = || [commit('a', 10), commit('b', 20)];
        let first = run("1", "x", both(), 0.1);
        let added = index.add(std::slice::from_ref(&first)).unwrap();
        assert_eq!(added, [Added::New]);
        assert_eq!(index.add(&[first]).unwrap(), [Added::Known]);
        assert!(index.knows("1", "x").unwrap() && !index.knows("1", "y").unwrap());
        let later = run("1", "y", both(), 0.2);
        let other = run("2", "z", [commit('b', 20), commit('c', 30)], 0.3);
        let added = index.add(&[later, other]).unwrap();
        assert_eq!(added, [Added::Replaced, Added::New]);
        let counts = index.counts().unwrap();
        let counts = [counts.runs, counts.commits, counts.series, counts.machines];
        assert_eq!(counts, [2, 3, 1, 1]);
        let all = index.commits_since(0, None).unwrap();
        let numbers: Vec<i64> = all.iter().map(|one| one.number).collect();
        assert_eq!(all[0].commit, commit('a', 10));
        assert_eq!(index.commits_since(15, Some(1)).unwrap(), all[2..]);
        assert_eq!(index.commits_named(&["c".repeat(40)]).unwrap(), all[2..]);
        assert_eq!(index.commits_beginning("bbbb").unwrap(), all[1..2]);
        assert_eq!(index.commits_beginning("d").unwrap(), []);
        assert!(index.has_before(11).unwrap() && !index.has_before(10).unwrap());
        let series = index.series_of(&numbers[..1]).unwrap();
        assert_eq!(series[0].series.name(), "parse n=1");
        assert_eq!(series[0].series.metric, Metric::Cpu);
        let races = index.races_of(series[0].number, &numbers[..1]).unwrap();
        let effects: Vec<f64> = races.iter().map(|race| race.effect.0).collect();
        assert_eq!(effects, [0.2], "the race of the others is not read");
        assert_eq!(races[0].commits, [numbers[0], numbers[1]]);
        assert!(races[0].df > 1e6 && races[0].df.is_finite());
        let between = index.errors_between(&"b".repeat(40), &"a".repeat(40));
        assert_eq!(between.unwrap(), [("parse".to_owned(), 0.5)]);
    }

    #[test]
    fn the_format_is_the_one_that_is_documented() {
        let (_folder, index) = index();
        assert_eq!(index.marks().unwrap(), (APPLICATION, INDEX_VERSION));
        let manual = include_str!("../../../../docs/formats.md");
        let manual = manual.split("## The index of a history").nth(1).unwrap();
        let columns = "SELECT m.name, p.name FROM sqlite_master AS m, \
                       pragma_table_info(m.name) AS p \
                       WHERE m.type = 'table' AND p.name <> 'number'";
        let mut query = index.connection.prepare(columns).unwrap();
        let columns = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let columns: Vec<(String, String)> = columns.unwrap().map(Result::unwrap).collect();
        assert_eq!(columns.len(), 26, "{columns:?}");
        for (table, column) in columns {
            let row = format!("| `{table}` |");
            let row = manual.lines().find(|line| line.starts_with(&row));
            let row = row.unwrap_or_else(|| panic!("{table} is not told of"));
            assert!(row.contains(&format!("`{column}`")), "{table}: {column}");
        }
    }

    #[test]
    fn an_index_is_found_upwards_and_no_higher_than_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let below = top.join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(find_index(&below, Some(top)), top.join(INDEX_FILE));
        assert_eq!(find_index(&below, None), below.join(INDEX_FILE));
        let between = top.join("a").join(INDEX_FILE);
        HistoryIndex::create(&between).unwrap();
        assert_eq!(find_index(&below, Some(top)), between);
        assert_eq!(find_index(&below, Some(&below)), below.join(INDEX_FILE));
    }

    #[test]
    fn a_folder_that_takes_no_file_is_an_error_of_writing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "").unwrap();
        let error = HistoryIndex::create(path.join("history.sqlite")).unwrap_err();
        assert!(error.is_write_error(), "{error}");
        let missing = HistoryIndex::open(folder.path().join("none"));
        assert!(missing.unwrap().is_none());
    }
}
