//! The index of a history: a SQLite database that is made from run files. Only the run files are
//! authoritative, so a user can delete the index and create it again from them.
//!
//! Each run is added in one transaction. If the process is killed, earlier runs stay complete, and
//! SQLite's journal rolls back the unfinished run. Processes that write at the same time wait for
//! each other.

use std::path::{Path, PathBuf};

use deadheat::parts::format::wire::Wire;
use deadheat::parts::format::{FileProblem, FormatError, create_folder_for};
use deadheat::parts::model::{Commit, Json, column_name};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::connection_store::{NOT_AN_INDEX, SCHEMA, Stop, check_schema, connect, failure};
use crate::timeline::{HistoryMachine, HistoryRun, HistorySeries};

/// The path of an index, relative to the folder that contains `.deadheat`.
pub const INDEX_FILE: &str = ".deadheat/history.sqlite";

/// The version of the schema that is written, and the latest version that can be read.
pub const INDEX_VERSION: i64 = 1;

/// The SQLite application id of an index: "dhhi".
const APPLICATION: i64 = 0x6468_6869;

/// The outcome of adding a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The run was not in the index and was added.
    New,
    /// The index had an earlier state of the run, which was continued since and now replaces it.
    Replaced,
    /// The index already had the run, and its file has not changed.
    Known,
}

/// An open index.
#[derive(Debug)]
pub struct HistoryIndex {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
}

/// Returns the path of the nearest index in `directory` or above, up to `top`. If there is none,
/// returns the path for a new index in `top`.
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
    /// Opens an index for adding runs. Creates the index and its folder if they are missing. Later
    /// operations are interrupted when `stop` returns true.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written, or is not an index of this version.
    pub fn create(path: impl AsRef<Path>, stop: Stop) -> Result<Self, FormatError> {
        let path = path.as_ref();
        create_folder_for(path)?;
        let mut index = Self::connected(path, stop)?;
        if index.is_bare()? {
            index.make()?;
        }
        index.check()?;
        Ok(index)
    }

    /// Opens an existing index; returns `None` if there is none. Later operations are interrupted
    /// when `stop` returns true.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is not an index of this version.
    pub fn open(path: impl AsRef<Path>, stop: Stop) -> Result<Option<Self>, FormatError> {
        let path = path.as_ref();
        if !path.exists() {
            return Ok(None);
        }
        let index = Self::connected(path, stop)?;
        if index.is_bare()? {
            return Ok(None);
        }
        index.check()?;
        Ok(Some(index))
    }

    /// Returns true for a file without tables: the process that created it was killed before it
    /// added them.
    fn is_bare(&self) -> Result<bool, FormatError> {
        let tables = "SELECT count(*) FROM sqlite_master";
        let tables = self.connection.query_row(tables, [], |row| row.get(0));
        let tables: i64 = tables.map_err(failure(&self.path))?;
        Ok(tables == 0 && self.marks()? == (0, 0))
    }

    fn connected(path: &Path, stop: Stop) -> Result<Self, FormatError> {
        Ok(Self {
            connection: connect(path, stop)?,
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
            (APPLICATION, INDEX_VERSION) => return check_schema(&self.connection, &self.path),
            (APPLICATION, version) if version > INDEX_VERSION => format!(
                "is an index of version {version} and needs a later deadheat; this one reads \
                 version {INDEX_VERSION}. Its run files are not affected: `deadheat history add \
                 --index FILE` makes a new index from them"
            ),
            _ => NOT_AN_INDEX.to_owned(),
        };
        Err(FileProblem::Unknown(problem).of(&self.path))
    }

    /// Creates the tables, unless another process has created them.
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

    /// Runs `work` in one transaction, which locks out other writers from its beginning.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let transaction = Transaction::new(&mut self.connection, TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Returns the length and the hash of the complete lines of the run with this identity; `None`
    /// if the index does not have it.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be read.
    pub fn lines_of(&self, identity: &str) -> Result<Option<(u64, String)>, FormatError> {
        let query = "SELECT length, content FROM runs WHERE identity = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?));
        let found = self.connection.query_row(query, [identity], row).optional();
        let found = found.map_err(failure(&self.path))?;
        Ok(found.map(|(length, content)| (length.unsigned_abs(), content)))
    }

    /// Adds to the number of benchmarks that the run with this identity did not measure.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be written.
    pub fn add_unmeasured(&mut self, identity: &str, count: usize) -> Result<(), FormatError> {
        let path = self.path.clone();
        self.transact(|transaction| {
            let update = "UPDATE runs SET unmeasured = unmeasured + ?2 WHERE identity = ?1";
            transaction.execute(update, params![identity, count as i64])
        })
        .map(|_| ())
        .map_err(failure(&path))
    }

    /// Adds all runs in one transaction. Replaces the rows of a run that was continued since.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be written.
    pub fn add(&mut self, runs: &[HistoryRun]) -> Result<Vec<Added>, FormatError> {
        let path = self.path.clone();
        self.transact(|transaction| {
            let rows = Rows { transaction };
            runs.iter().map(|run| rows.add(run)).collect()
        })
        .map_err(failure(&path))
    }
}

struct Rows<'t> {
    transaction: &'t Transaction<'t>,
}

impl Rows<'_> {
    fn add(&self, run: &HistoryRun) -> rusqlite::Result<Added> {
        let query = "SELECT number, content FROM runs WHERE identity = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let known = self.transaction.query_row(query, [&run.identity], row);
        let known = known.optional()?;
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
            "INSERT INTO runs (identity, content, length, path, started_at, baseline, candidate, \
             machine, tool, command, selection, unmeasured) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
             ?8, ?9, ?10, ?11, ?12) RETURNING number",
        )?;
        let row = params![
            run.identity,
            run.content,
            signed(run.length),
            run.path,
            run.started_at.map(signed),
            baseline,
            candidate,
            machine,
            run.tool_version,
            run.command,
            run.selection,
            run.unmeasured as i64,
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
                // SQLite cannot read infinity from JSON, and no column needs it.
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

    /// Returns the number of a commit in the index. Adds the commit if it is new, and its time and
    /// its subject if they were missing.
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

fn signed(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use deadheat::parts::model::{LogRatio, Metric, Verdict};

    use super::*;
    use crate::timeline::HistoryRace;

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
            length: 1,
            path: "a.jsonl".to_owned(),
            started_at: Some(7),
            commits,
            machine: HistoryMachine::default(),
            tool_version: "0.1.0".to_owned(),
            command: String::new(),
            selection: "s".to_owned(),
            unmeasured: 0,
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

    const NEVER: Stop = || false;

    fn index() -> (tempfile::TempDir, HistoryIndex) {
        let folder = tempfile::tempdir().unwrap();
        let index = HistoryIndex::create(folder.path().join("new/history.sqlite"), NEVER).unwrap();
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
        assert_eq!(index.lines_of("1").unwrap(), Some((1, "x".to_owned())));
        assert_eq!(index.lines_of("2").unwrap(), None);
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
    }

    #[test]
    fn a_pair_is_known_by_its_selection_unless_its_latest_race_lacks_a_benchmark() {
        let (_folder, mut index) = index();
        let both = || [commit('a', 10), commit('b', 20)];
        index.add(&[run("1", "x", both(), 0.1)]).unwrap();
        let between = |index: &HistoryIndex, selection| {
            let [one, other] = ['b', 'a'].map(|letter| letter.to_string().repeat(40));
            index.error_between(&one, &other, selection).unwrap()
        };
        assert_eq!(between(&index, "s"), Some(0.5));
        assert_eq!(between(&index, "t"), None);
        let failed = HistoryRun {
            started_at: Some(8),
            unmeasured: 1,
            ..run("2", "y", both(), 0.1)
        };
        index.add(&[failed]).unwrap();
        assert_eq!(between(&index, "s"), Some(f64::INFINITY));
        assert_eq!(index.unmeasured_at(&"b".repeat(40)).unwrap(), 1);
        assert_eq!(index.unmeasured_at(&"c".repeat(40)).unwrap(), 0);
        index.add_unmeasured("2", 2).unwrap();
        assert_eq!(index.unmeasured_at(&"b".repeat(40)).unwrap(), 3);
        let repeated = HistoryRun {
            started_at: Some(9),
            ..run("3", "z", both(), 0.1)
        };
        index.add(&[repeated]).unwrap();
        assert!(between(&index, "s").unwrap() < 0.3);
        assert_eq!(index.unmeasured_at(&"b".repeat(40)).unwrap(), 0);
    }

    #[test]
    fn the_format_is_the_one_that_is_documented() {
        let (_folder, index) = index();
        assert_eq!(index.marks().unwrap(), (APPLICATION, INDEX_VERSION));
        let manual = include_str!("../../../docs/formats.md");
        let manual = manual.split("## The index of a history").nth(1).unwrap();
        let columns = "SELECT m.name, p.name FROM sqlite_master AS m, \
                       pragma_table_info(m.name) AS p \
                       WHERE m.type = 'table' AND p.name <> 'number'";
        let mut query = index.connection.prepare(columns).unwrap();
        let columns = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let columns: Vec<(String, String)> = columns.unwrap().map(Result::unwrap).collect();
        assert_eq!(columns.len(), 29, "{columns:?}");
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
        HistoryIndex::create(&between, NEVER).unwrap();
        assert_eq!(find_index(&below, Some(top)), between);
        assert_eq!(find_index(&below, Some(&below)), below.join(INDEX_FILE));
    }

    #[test]
    fn a_folder_that_takes_no_file_is_an_error_of_writing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "").unwrap();
        let error = HistoryIndex::create(path.join("history.sqlite"), NEVER).unwrap_err();
        assert!(error.is_write_error(), "{error}");
        let missing = HistoryIndex::open(folder.path().join("none"), NEVER);
        assert!(missing.unwrap().is_none());
    }

    /// Returns the error message if an index is opened after another program has made this change
    /// to its file.
    fn said_after(change: &str) -> String {
        let (folder, mut index) = index();
        let both = [commit('a', 10), commit('b', 20)];
        index.add(&[run("1", "x", both, 0.1)]).unwrap();
        drop(index);
        let path = folder.path().join("new/history.sqlite");
        let theirs = Connection::open(&path).unwrap();
        theirs.execute_batch(change).unwrap();
        drop(theirs);
        let opened = [
            HistoryIndex::open(&path, NEVER).map(|_| ()),
            HistoryIndex::create(&path, NEVER).map(|_| ()),
        ];
        let said =
            opened.map(|opened| opened.map_or_else(|error| error.to_string(), |()| String::new()));
        assert_eq!(said[0], said[1]);
        said[0].clone()
    }

    #[test]
    fn an_index_with_another_schema_is_refused_before_anything_of_it_runs() {
        for (change, words) in [
            (
                "PRAGMA legacy_alter_table = ON; ALTER TABLE commits RENAME TO hidden; \
                 CREATE VIEW commits AS SELECT * FROM hidden",
                "view 'commits'",
            ),
            ("CREATE VIEW v AS SELECT 1", "view 'v'"),
            (
                "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
                "trigger 't'",
            ),
            ("CREATE TABLE more (a)", "table 'more'"),
            (
                "ALTER TABLE runs ADD COLUMN more AS (path || path)",
                "table 'runs'",
            ),
            ("CREATE INDEX i ON runs (abs(number))", "index 'i'"),
            ("DROP INDEX runs_by_baseline", "is missing"),
            ("DROP TABLE races", "is missing"),
        ] {
            let said = said_after(change);
            assert!(
                said.contains("broken index") && said.contains(words),
                "{change}: {said}"
            );
        }
        assert_eq!(said_after("ANALYZE; VACUUM"), "");
    }

    #[test]
    fn a_commit_without_an_object_id_is_refused_where_it_is_read() {
        for id in ["HEAD", "--output=/home/u/x", "", "main~1"] {
            let (folder, mut index) = index();
            let both = [commit('a', 10), commit('b', 20)];
            index.add(&[run("1", "x", both, 0.1)]).unwrap();
            let path = folder.path().join("new/history.sqlite");
            let theirs = Connection::open(path).unwrap();
            let change = "UPDATE commits SET id = ?1 WHERE number = 2";
            theirs.execute(change, [id]).unwrap();
            let refused = index.commits_since(0, None).unwrap_err().to_string();
            assert!(refused.contains("full id of a commit"), "{refused}");
        }
    }

    #[test]
    fn a_question_without_an_end_ends_when_the_user_asks_to_stop() {
        let (folder, index) = index();
        drop(index);
        let path = folder.path().join("new/history.sqlite");
        let index = HistoryIndex::open(path, || true).unwrap().unwrap();
        let endless = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) \
                       SELECT count(*) FROM x";
        let ended = index
            .connection
            .query_row(endless, [], |row| row.get::<_, i64>(0));
        let error = failure(&index.path)(ended.unwrap_err());
        assert!(matches!(error.problem, FileProblem::Interrupted), "{error}");
    }

    #[test]
    fn a_journal_that_names_another_file_is_refused_and_that_file_stays() {
        let (folder, index) = index();
        drop(index);
        let other = folder.path().join("precious");
        std::fs::write(&other, "mine").unwrap();
        let mut journal = vec![0; 512];
        let name = other.display().to_string().into_bytes();
        journal.extend(1_u32.to_be_bytes());
        journal.extend(&name);
        journal.extend((name.len() as u32).to_be_bytes());
        let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
        journal.extend(sum.to_be_bytes());
        journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
        let path = folder.path().join("new/history.sqlite");
        std::fs::write(folder.path().join("new/history.sqlite-journal"), journal).unwrap();
        let refused = HistoryIndex::open(&path, NEVER).unwrap_err().to_string();
        assert!(refused.contains("belongs to another index"), "{refused}");
        assert_eq!(std::fs::read_to_string(other).unwrap(), "mine");
    }
}
