//! Questions to an index: no more is read than what is asked for.

use deadheat::parts::format::FormatError;
use deadheat::parts::format::wire::Wire;
use deadheat::parts::model::{Commit, Json, LogRatio, is_object_id, metric_of_column};
use rusqlite::types::Type;
use rusqlite::{Row, params};

use crate::connection_store::failure;
use crate::index_store::HistoryIndex;
use crate::timeline::{HistoryMachine, HistorySeries};

/// The numbers of rows in an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// Runs.
    pub runs: u64,
    /// Commits.
    pub commits: u64,
    /// Workloads.
    pub series: u64,
    /// Machines.
    pub machines: u64,
}

/// A commit with its number in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedCommit {
    /// The number.
    pub number: i64,
    /// The commit.
    pub commit: Commit,
}

/// A workload with its number in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedSeries {
    /// The number.
    pub number: i64,
    /// The workload.
    pub series: HistorySeries,
}

/// A race of two commits.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedRace {
    /// The number of its run.
    pub run: i64,
    /// The numbers of the commits of baseline and candidate.
    pub commits: [i64; 2],
    /// The machine.
    pub machine: HistoryMachine,
    /// The file of the run.
    pub path: String,
    /// ln(candidate/baseline).
    pub effect: LogRatio,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
}

impl HistoryIndex {
    /// Counts what is in the index.
    ///
    /// # Errors
    ///
    /// An index that cannot be read, as for all questions.
    pub fn counts(&self) -> Result<IndexCounts, FormatError> {
        let query = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM commits), \
                     (SELECT count(*) FROM series), (SELECT count(*) FROM machines)";
        let counts = |row: &Row<'_>| {
            let count = |column: usize| row.get(column).map(i64::unsigned_abs);
            Ok(IndexCounts {
                runs: count(0)?,
                commits: count(1)?,
                series: count(2)?,
                machines: count(3)?,
            })
        };
        let counted = self.connection.query_row(query, [], counts);
        counted.map_err(failure(&self.path))
    }

    /// Those of the commits with these full names that are in the index, in no order.
    pub fn commits_named(&self, ids: &[String]) -> Result<Vec<IndexedCommit>, FormatError> {
        let query = "SELECT number, id, committed_at, subject FROM commits \
                     WHERE id IN (SELECT value FROM json_each(?1))";
        let ids = Json::from_iter(ids.iter()).to_string();
        let mut query = self.prepared(query)?;
        self.all(query.query_map([ids], commit))
    }

    /// The commits whose names begin so, two at most.
    pub fn commits_beginning(&self, start: &str) -> Result<Vec<IndexedCommit>, FormatError> {
        let query = "SELECT number, id, committed_at, subject FROM commits \
                     WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2";
        let mut query = self.prepared(query)?;
        self.all(query.query_map([start], commit))
    }

    /// The newest commits since a time, at most `at_most` of them, the oldest first.
    pub fn commits_since(
        &self,
        seconds: u64,
        at_most: Option<usize>,
    ) -> Result<Vec<IndexedCommit>, FormatError> {
        let query = "SELECT number, id, committed_at, subject FROM commits \
                     WHERE committed_at >= ?1 ORDER BY committed_at DESC, number DESC LIMIT ?2";
        let mut query = self.prepared(query)?;
        let limit = at_most.map_or(-1, |count| count as i64);
        let since = i64::try_from(seconds).unwrap_or(i64::MAX);
        let mut found = self.all(query.query_map(params![since, limit], commit))?;
        found.reverse();
        Ok(found)
    }

    /// Returns true if there are commits before a time.
    pub fn has_before(&self, seconds: u64) -> Result<bool, FormatError> {
        let query = "SELECT EXISTS (SELECT 1 FROM commits WHERE committed_at < ?1)";
        let before = i64::try_from(seconds).unwrap_or(i64::MAX);
        let found = self.connection.query_row(query, [before], |row| row.get(0));
        found.map_err(failure(&self.path))
    }

    /// The workloads with a race of any of these commits, by their names.
    pub fn series_of(&self, commits: &[i64]) -> Result<Vec<IndexedSeries>, FormatError> {
        let query = "WITH wanted AS (SELECT value FROM json_each(?1)), \
                     found AS (SELECT number FROM runs WHERE baseline IN wanted \
                     UNION SELECT number FROM runs WHERE candidate IN wanted) \
                     SELECT number, benchmark, parameters, metric FROM series WHERE number IN \
                     (SELECT DISTINCT series FROM races WHERE run IN found) \
                     ORDER BY benchmark, parameters, metric";
        let mut query = self.prepared(query)?;
        self.all(query.query_map([numbers(commits)], series))
    }

    /// The races of a workload in which any of these commits took part, in the order of their runs.
    pub fn races_of(&self, series: i64, commits: &[i64]) -> Result<Vec<IndexedRace>, FormatError> {
        let query = "WITH wanted AS (SELECT value FROM json_each(?2)), \
                     found AS (SELECT number FROM runs WHERE baseline IN wanted \
                     UNION SELECT number FROM runs WHERE candidate IN wanted) \
                     SELECT runs.number, baseline, candidate, machines.name, machines.cpu, path, \
                     effect, se, df FROM found JOIN runs USING (number) \
                     JOIN races ON races.run = runs.number AND races.series = ?1 \
                     JOIN machines ON machines.number = runs.machine \
                     ORDER BY runs.identity, contender";
        let mut query = self.prepared(query)?;
        self.all(query.query_map(params![series, numbers(commits)], race))
    }

    /// The name of each benchmark that was raced between two commits, either way around, and the
    /// standard error of all its races together.
    pub fn errors_between(
        &self,
        one: &str,
        other: &str,
    ) -> Result<Vec<(String, f64)>, FormatError> {
        let query = "WITH both AS (SELECT number FROM commits WHERE id IN (?1, ?2)) \
                     SELECT benchmark, sum(1.0 / (se * se)) FROM races \
                     JOIN runs ON runs.number = races.run \
                     JOIN series ON series.number = races.series \
                     WHERE baseline IN both AND candidate IN both GROUP BY races.series";
        let mut query = self.prepared(query)?;
        let error = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, f64>(1)?.powf(-0.5)));
        self.all(query.query_map([one, other], error))
    }

    fn prepared(&self, query: &str) -> Result<rusqlite::Statement<'_>, FormatError> {
        let prepared = self.connection.prepare(query);
        prepared.map_err(failure(&self.path))
    }

    fn all<T>(
        &self,
        rows: rusqlite::Result<impl Iterator<Item = rusqlite::Result<T>>>,
    ) -> Result<Vec<T>, FormatError> {
        let rows = rows.and_then(Iterator::collect);
        rows.map_err(failure(&self.path))
    }
}

/// Numbers as SQLite takes a list.
fn numbers(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn commit(row: &Row<'_>) -> rusqlite::Result<IndexedCommit> {
    let (id, committed_at): (String, Option<i64>) = (row.get(1)?, row.get(2)?);
    // It reaches command lines of git.
    if !is_object_id(&id) {
        let problem = format!("'{id}' is not the full id of a commit of git");
        return Err(rusqlite::Error::FromSqlConversionFailure(
            1,
            Type::Text,
            problem.into(),
        ));
    }
    Ok(IndexedCommit {
        number: row.get(0)?,
        commit: Commit {
            id,
            committed_at: committed_at.map(i64::unsigned_abs),
            subject: row.get(3)?,
        },
    })
}

fn series(row: &Row<'_>) -> rusqlite::Result<IndexedSeries> {
    let parameters: String = row.get(2)?;
    let parameters = Json::parse(&parameters).and_then(|json| Vec::from_json(&json).ok());
    let metric: String = row.get(3)?;
    Ok(IndexedSeries {
        number: row.get(0)?,
        series: HistorySeries {
            benchmark: row.get(1)?,
            parameters: parameters.unwrap_or_default(),
            metric: metric_of_column(&metric),
        },
    })
}

fn race(row: &Row<'_>) -> rusqlite::Result<IndexedRace> {
    Ok(IndexedRace {
        run: row.get(0)?,
        commits: [row.get(1)?, row.get(2)?],
        machine: HistoryMachine {
            name: row.get(3)?,
            cpu: row.get(4)?,
        },
        path: row.get(5)?,
        effect: LogRatio(row.get(6)?),
        se: row.get(7)?,
        df: row.get(8)?,
    })
}
