//! What can go wrong with a file, and where.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use deadheat_model::{PlanError, SampleError};

use crate::rules::RulesError;

/// A file that cannot be read, understood or written. Every text names the
/// file; where a line is to blame it reads `file:line: …`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The system would not let us read it.
    #[error("cannot read {file}: {source}")]
    CannotRead {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system would not let us write it.
    #[error("cannot write {file}: {source}")]
    CannotWrite {
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A new run file would replace an older file.
    #[error("cannot write {file}: it exists already; choose another name, or resume it")]
    AlreadyExists {
        /// The file.
        file: PathBuf,
    },
    /// Another process is recording into the run file.
    #[error("cannot write {file}: another deadheat is recording into it")]
    InUse {
        /// The file.
        file: PathBuf,
    },
    /// The run has no wall times, which the format to be written needs.
    #[error("cannot write {file}: the run has no wall times")]
    NoWallTimes {
        /// The file.
        file: PathBuf,
    },
    /// A path of the plan cannot be put into text on this system.
    #[error("cannot write {file}: the path '{}' in the plan is not Unicode", path.display())]
    PathNotUnicode {
        /// The file.
        file: PathBuf,
        /// The path that does not fit.
        path: PathBuf,
    },
    /// There is nothing in it.
    #[error("{file} is empty")]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// It is no run file, so perhaps a table, and this build reads none.
    #[error(
        "{file} is no run file, and deadheat was built without tables \
         (feature `csv` of deadheat-format)"
    )]
    CsvLeftOut {
        /// The file.
        file: PathBuf,
    },
    /// There is a header and nothing below it.
    #[error("{file} has a header line but no rows")]
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// It is something else altogether.
    #[error(
        "{file} is {found}, not yet a format deadheat reads; it reads run files \
         (JSON Lines, schema {}) and tidy CSV (columns benchmark, contender, wall_ns, …)",
        crate::SCHEMA
    )]
    UnknownFormat {
        /// The file.
        file: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// It holds results of no tool that is known.
    #[error(
        "{file} is {found}; deadheat reads results of Google Benchmark, hyperfine, criterion \
         (its folder), pyperf, pytest-benchmark, JMH, Go, BenchmarkDotNet, tidy CSV and its own \
         run files"
    )]
    UnknownResults {
        /// The file.
        file: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// A later deadheat wrote it.
    #[error(
        "{file} has schema {schema}: it needs a later deadheat; this one reads {}",
        crate::SCHEMA
    )]
    NewerSchema {
        /// The file.
        file: PathBuf,
        /// The schema it declares.
        schema: String,
    },
    /// A line does not say what it should.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A block holds something that cannot be a measurement.
    #[error("{file}:{line}: benchmark '{benchmark}': {source}")]
    Sample {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The benchmark's name.
        benchmark: String,
        /// What the model said.
        source: SampleError,
    },
    /// The plan in the file, or the one made for it, cannot hold.
    #[error("{file}: {source}")]
    Plan {
        /// The file.
        file: PathBuf,
        /// What the model said.
        source: PlanError,
    },
    /// It is not the JSON that its format asks for.
    #[error("{file}:{line}:{column}: {problem}{}", at(path))]
    Json {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        column: u64,
        /// The place in the tree, such as `benchmarks[3].real_time`; empty
        /// where it is no tree.
        path: String,
        /// What is wrong there.
        problem: String,
    },
    /// A result in it cannot be what its format says.
    #[error("{file}: {place}: {problem}")]
    Saved {
        /// The file.
        file: PathBuf,
        /// The line, or the place in the JSON.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// It holds no calibration that could be read.
    #[error("{file}: {problem}; `deadheat calibrate` makes a new one")]
    Calibration {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A column that must be there is not.
    #[error("{file}:1: column {column} is missing; the nearest column present is '{nearest}'")]
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// The column needed.
        column: &'static str,
        /// The column present whose name is most alike.
        nearest: String,
    },
    /// A cell does not hold what its column promises.
    #[error(transparent)]
    Cell(Box<CellError>),
    /// A rules file does not say what it could.
    #[error(transparent)]
    Rules(Box<RulesError>),
    /// Two rows claim the same place.
    #[error(
        "{file}:{line}: benchmark '{benchmark}', replicate {replicate}, block {block}, slot {slot} \
         was already given on line {first_line}"
    )]
    DuplicateRow {
        /// The file.
        file: PathBuf,
        /// The later line, counted from 1.
        line: u64,
        /// The earlier line.
        first_line: u64,
        /// The benchmark's name.
        benchmark: String,
        /// The replicate.
        replicate: u32,
        /// The block within the replicate.
        block: u32,
        /// The slot within the block.
        slot: u32,
    },
    /// A block in the middle of a recording lacks a contender.
    #[error(
        "{file}:{line}: benchmark '{benchmark}', replicate {replicate}, block {block} \
         has no sample of '{contender}'"
    )]
    IncompleteBlock {
        /// The file.
        file: PathBuf,
        /// The line of the block's first sample, counted from 1.
        line: u64,
        /// The benchmark's name.
        benchmark: String,
        /// The replicate.
        replicate: u32,
        /// The block within the replicate.
        block: u32,
        /// The contender that is missing.
        contender: String,
    },
    /// Not exactly one contender of a benchmark is its baseline.
    #[error("{file}: benchmark '{benchmark}' needs one baseline; {found}")]
    Baselines {
        /// The file.
        file: PathBuf,
        /// The benchmark's name.
        benchmark: String,
        /// Who claims to be one, in words.
        found: String,
    },
}

/// ", at benchmarks[3].real_time".
fn at(path: &str) -> String {
    match path {
        "" | "." => String::new(),
        path => format!(", at {path}"),
    }
}

/// A cell of a table that does not hold what its column promises, with as much
/// of its place as was read before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CellError {
    /// The file.
    pub file: PathBuf,
    /// The line its row starts on, counted from 1.
    pub line: u64,
    /// The column's name.
    pub column: String,
    /// What is wrong with it.
    pub problem: String,
    /// The benchmark's name.
    pub benchmark: String,
    /// The replicate.
    pub replicate: Option<u32>,
    /// The block within the replicate.
    pub block: Option<u32>,
    /// The slot within the block.
    pub slot: Option<u32>,
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.file.display(), self.line);
        write!(
            f,
            "{file}:{line}: {} of benchmark '{}'",
            self.column, self.benchmark
        )?;
        let place = [
            ("replicate", self.replicate),
            ("block", self.block),
            ("slot", self.slot),
        ];
        for (word, number) in place {
            if let Some(number) = number {
                write!(f, ", {word} {number}")?;
            }
        }
        write!(f, ": {}", self.problem)
    }
}

impl FormatError {
    /// The file the error speaks of.
    pub fn file(&self) -> &Path {
        match self {
            FormatError::CannotRead { file, .. }
            | FormatError::CannotWrite { file, .. }
            | FormatError::AlreadyExists { file }
            | FormatError::InUse { file }
            | FormatError::NoWallTimes { file }
            | FormatError::PathNotUnicode { file, .. }
            | FormatError::Empty { file }
            | FormatError::CsvLeftOut { file }
            | FormatError::NoRows { file }
            | FormatError::UnknownFormat { file, .. }
            | FormatError::UnknownResults { file, .. }
            | FormatError::NewerSchema { file, .. }
            | FormatError::Line { file, .. }
            | FormatError::Sample { file, .. }
            | FormatError::Plan { file, .. }
            | FormatError::Json { file, .. }
            | FormatError::Saved { file, .. }
            | FormatError::Calibration { file, .. }
            | FormatError::MissingColumn { file, .. }
            | FormatError::DuplicateRow { file, .. }
            | FormatError::IncompleteBlock { file, .. }
            | FormatError::Baselines { file, .. } => file,
            FormatError::Cell(cell) => &cell.file,
            FormatError::Rules(rules) => &rules.file,
        }
    }

    /// The line to blame, counted from 1, when it is one line.
    pub fn line(&self) -> Option<u64> {
        match self {
            FormatError::Line { line, .. }
            | FormatError::Json { line, .. }
            | FormatError::Sample { line, .. }
            | FormatError::DuplicateRow { line, .. }
            | FormatError::IncompleteBlock { line, .. } => Some(*line),
            FormatError::MissingColumn { .. } => Some(1),
            FormatError::Cell(cell) => Some(cell.line),
            FormatError::Rules(rules) => Some(rules.line),
            _ => None,
        }
    }

    /// Whether something could not be written. Every other error is about
    /// data that cannot be read or does not hold.
    pub fn is_write_error(&self) -> bool {
        matches!(
            self,
            FormatError::CannotWrite { .. }
                | FormatError::AlreadyExists { .. }
                | FormatError::InUse { .. }
                | FormatError::NoWallTimes { .. }
                | FormatError::PathNotUnicode { .. }
        )
    }
}

/// Turns what the system said about reading a file into a [`FormatError`].
pub(crate) fn cannot_read(file: &Path) -> impl Fn(io::Error) -> FormatError {
    move |source| FormatError::CannotRead {
        file: file.to_owned(),
        source,
    }
}

/// Turns what the system said about writing a file into a [`FormatError`].
pub(crate) fn cannot_write(file: &Path) -> impl Fn(io::Error) -> FormatError {
    move |source| FormatError::CannotWrite {
        file: file.to_owned(),
        source,
    }
}

/// Creates the folders above a file to be written.
pub(crate) fn create_folder_of(file: &Path) -> Result<(), FormatError> {
    match file.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(cannot_write(folder)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_error_names_its_place_as_far_as_it_is_known() {
        let mut cell = CellError {
            file: "a.csv".into(),
            line: 7,
            column: "wall_ns".to_owned(),
            problem: "'-1' is negative".to_owned(),
            benchmark: "sort".to_owned(),
            replicate: Some(3),
            block: Some(0),
            slot: Some(2),
        };
        assert_eq!(
            cell.to_string(),
            "a.csv:7: wall_ns of benchmark 'sort', replicate 3, block 0, slot 2: '-1' is negative"
        );
        cell.replicate = None;
        cell.block = None;
        cell.slot = None;
        assert_eq!(
            cell.to_string(),
            "a.csv:7: wall_ns of benchmark 'sort': '-1' is negative"
        );
    }

    #[test]
    fn an_error_of_writing_is_told_from_an_error_in_the_data() {
        let full = cannot_write(Path::new("x"))(io::Error::other("full"));
        assert!(full.is_write_error());
        let gone = cannot_read(Path::new("x"))(io::Error::other("gone"));
        assert!(!gone.is_write_error());
        let empty = FormatError::Empty { file: "x".into() };
        assert!(!empty.is_write_error());
    }
}
