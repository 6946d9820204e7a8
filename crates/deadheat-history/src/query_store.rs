//! Queries to an index. Each reads only the rows that it returns.

use deadheat::parts::format::FormatError;
use deadheat::parts::format::wire::Wire;
use deadheat::parts::model::{Commit, Json, LogRatio, is_object_id, metric_of_column};
use rusqlite::types::Type;
use rusqlite::{Row, params};

use crate::connection_store::failure;
use crate::index_store::HistoryIndex;
use crate::timeline::{HistoryMachine, HistorySeries};

/// The numbers of runs, commits, workloads and machines in an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    pub runs: u64,
    pub commits: u64,
    pub series: u64,
    pub machines: u64,
}

/// A commit, with its number in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedCommit {
    pub number: i64,
    pub commit: Commit,
}

/// A benchmark with its parameters and its metric, with its number in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedSeries {
    pub number: i64,
    pub series: HistorySeries,
}

/// A race of two commits in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedRace {
    /// The number of the run in the index.
    pub run: i64,
    /// The numbers of the two commits in the index, baseline first.
    pub commits: [i64; 2],
    pub machine: HistoryMachine,
    pub path: String,
    /// The logarithm of the ratio candidate/baseline of the judged metric.
    pub effect: LogRatio,
    pub se: f64,
    pub df: f64,
}

impl HistoryIndex {
    /// Returns the numbers of runs, commits, workloads and machines in the index.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be read, like all queries.
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

    /// Returns the commits with these full ids that are in the index, in any order.
    pub fn commits_named(&self, ids: &[String]) -> Result<Vec<IndexedCommit>, FormatError> {
        let query = "SELECT number, id, committed_at, subject FROM commits \
                     WHERE id IN (SELECT value FROM json_each(?1))";
        let ids = Json::from_iter(ids.iter()).to_string();
        let mut query = self.prepared(query)?;
        self.all(query.query_map([ids], commit))
    }

    /// Returns at most two commits whose ids begin with `start`.
    pub fn commits_beginning(&self, start: &str) -> Result<Vec<IndexedCommit>, FormatError> {
        let query = "SELECT number, id, committed_at, subject FROM commits \
                     WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT 2";
        let mut query = self.prepared(query)?;
        self.all(query.query_map([start], commit))
    }

    /// Returns the newest commits since a time, at most `at_most` of them, the oldest first.
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

    /// Returns true if the index has commits from before a time.
    pub fn has_before(&self, seconds: u64) -> Result<bool, FormatError> {
        let query = "SELECT EXISTS (SELECT 1 FROM commits WHERE committed_at < ?1)";
        let before = i64::try_from(seconds).unwrap_or(i64::MAX);
        let found = self.connection.query_row(query, [before], |row| row.get(0));
        found.map_err(failure(&self.path))
    }

    /// Returns the workloads with a race of any of these commits, sorted by name.
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

    /// Returns the races of a workload with any of these commits, sorted by the identity of their
    /// runs.
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

    /// Returns the largest standard error of a series between two commits, in either direction,
    /// over all races with this selection; infinite if the latest of them did not measure all of its
    /// benchmarks. `None` without such a race.
    pub fn error_between(
        &self,
        one: &str,
        other: &str,
        selection: &str,
    ) -> Result<Option<f64>, FormatError> {
        const MEANT: &str = "baseline IN (SELECT number FROM commits WHERE id IN (?1, ?2)) \
                             AND candidate IN (SELECT number FROM commits WHERE id IN (?1, ?2)) \
                             AND selection = ?3";
        let latest = format!(
            "SELECT unmeasured FROM runs WHERE {MEANT} ORDER BY started_at DESC, number DESC LIMIT 1"
        );
        let errors = format!(
            "SELECT sum(1.0 / (se * se)) FROM races JOIN runs ON runs.number = races.run \
             WHERE {MEANT} GROUP BY series"
        );
        let words = [one, other, selection];
        let mut latest = self.prepared(&latest)?;
        let unmeasured: Vec<i64> = self.all(latest.query_map(words, |row| row.get(0)))?;
        let mut errors = self.prepared(&errors)?;
        let error = |row: &Row<'_>| Ok(row.get::<_, f64>(0)?.powf(-0.5));
        let errors: Vec<f64> = self.all(errors.query_map(words, error))?;
        let worst = errors.into_iter().reduce(f64::max);
        Ok(match unmeasured.first() {
            None | Some(0) => worst,
            Some(_) => Some(f64::INFINITY),
        })
    }

    /// Returns the number of benchmarks that the latest race with a commit did not measure; 0 without
    /// such a race.
    pub fn unmeasured_at(&self, commit: &str) -> Result<u64, FormatError> {
        let query = "WITH this AS (SELECT number FROM commits WHERE id = ?1) \
                     SELECT unmeasured FROM runs WHERE baseline IN this OR candidate IN this \
                     ORDER BY started_at DESC, number DESC LIMIT 1";
        let mut query = self.prepared(query)?;
        let found: Vec<i64> = self.all(query.query_map([commit], |row| row.get(0)))?;
        Ok(found.first().map_or(0, |count| count.unsigned_abs()))
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

/// Returns numbers as a JSON array, the form in which queries take a list.
fn numbers(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn commit(row: &Row<'_>) -> rusqlite::Result<IndexedCommit> {
    let (id, committed_at): (String, Option<i64>) = (row.get(1)?, row.get(2)?);
    // The id is passed to git on command lines, so it must be a valid object id.
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
