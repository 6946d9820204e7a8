//! What can go wrong with a file, and where.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use deadheat_model::{PlanError, SampleError};

use crate::rules::RulesError;

/// A file that cannot be read, understood or written. Every text names the
/// file; where a line is to blame it reads `file:line: …`.
#[derive(Debug)]
#[non_exhaustive]
pub enum FormatError {
    /// The system would not let us read it.
    CannotRead {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system would not let us write it.
    CannotWrite {
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A new run file would replace an older file.
    AlreadyExists {
        /// The file.
        file: PathBuf,
    },
    /// Another process is recording into the run file.
    InUse {
        /// The file.
        file: PathBuf,
    },
    /// The run has no wall times, which the format to be written needs.
    NoWallTimes {
        /// The file.
        file: PathBuf,
    },
    /// A path of the plan cannot be put into text on this system.
    PathNotUnicode {
        /// The file.
        file: PathBuf,
        /// The path that does not fit.
        path: PathBuf,
    },
    /// There is nothing in it.
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// It is no run file, so perhaps a table, and this build reads none.
    CsvLeftOut {
        /// The file.
        file: PathBuf,
    },
    /// There is a header and nothing below it.
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// It is something else altogether.
    UnknownFormat {
        /// The file.
        file: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// It holds results of no tool that is known.
    UnknownResults {
        /// The file.
        file: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// A later deadheat wrote it.
    NewerSchema {
        /// The file.
        file: PathBuf,
        /// The schema it declares.
        schema: String,
    },
    /// A line does not say what it should.
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A block holds something that cannot be a measurement.
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
    Plan {
        /// The file.
        file: PathBuf,
        /// What the model said.
        source: PlanError,
    },
    /// It is not the JSON that its format asks for.
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
    Saved {
        /// The file.
        file: PathBuf,
        /// The line, or the place in the JSON.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// It holds no calibration that could be read.
    Calibration {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A column that must be there is not.
    MissingColumn {
        /// The file.
        file: PathBuf,
        /// The column needed.
        column: &'static str,
        /// The column present whose name is most alike.
        nearest: String,
    },
    /// A cell does not hold what its column promises.
    Cell(Box<CellError>),
    /// A rules file does not say what it could.
    Rules(Box<RulesError>),
    /// Two rows claim the same place.
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
    Baselines {
        /// The file.
        file: PathBuf,
        /// The benchmark's name.
        benchmark: String,
        /// Who claims to be one, in words.
        found: String,
    },
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CannotRead { file, source } => {
                let file = file.display();
                write!(f, "cannot read {file}: {source}")
            }
            Self::CannotWrite { file, source } => {
                let file = file.display();
                write!(f, "cannot write {file}: {source}")
            }
            Self::AlreadyExists { file } => {
                let file = file.display();
                write!(
                    f,
                    "cannot write {file}: it exists already; choose another name, or resume it"
                )
            }
            Self::InUse { file } => {
                let file = file.display();
                write!(
                    f,
                    "cannot write {file}: another deadheat is recording into it"
                )
            }
            Self::NoWallTimes { file } => {
                let file = file.display();
                write!(f, "cannot write {file}: the run has no wall times")
            }
            Self::PathNotUnicode { file, path } => {
                let file = file.display();
                write!(
                    f,
                    "cannot write {file}: the path '{}' in the plan is not Unicode",
                    path.display()
                )
            }
            Self::Empty { file } => {
                let file = file.display();
                write!(f, "{file} is empty")
            }
            Self::CsvLeftOut { file } => {
                let file = file.display();
                write!(
                    f,
                    "{file} is no run file, and deadheat was built without tables \
         (feature `csv` of deadheat-format)"
                )
            }
            Self::NoRows { file } => {
                let file = file.display();
                write!(f, "{file} has a header line but no rows")
            }
            Self::UnknownFormat { file, found } => {
                let file = file.display();
                write!(
                    f,
                    "{file} is {found}, not yet a format deadheat reads; it reads run files \
         (JSON Lines, schema {}) and tidy CSV (columns benchmark, contender, wall_ns, …)",
                    crate::SCHEMA
                )
            }
            Self::UnknownResults { file, found } => {
                let file = file.display();
                write!(
                    f,
                    "{file} is {found}; deadheat reads results of Google Benchmark, hyperfine, criterion \
         (its folder), pyperf, pytest-benchmark, JMH, Go, BenchmarkDotNet, tidy CSV and its own \
         run files"
                )
            }
            Self::NewerSchema { file, schema } => {
                let file = file.display();
                write!(
                    f,
                    "{file} has schema {schema}: it needs a later deadheat; this one reads {}",
                    crate::SCHEMA
                )
            }
            Self::Line {
                file,
                line,
                problem,
            } => {
                let file = file.display();
                write!(f, "{file}:{line}: {problem}")
            }
            Self::Sample {
                file,
                line,
                benchmark,
                source,
            } => {
                let file = file.display();
                write!(f, "{file}:{line}: benchmark '{benchmark}': {source}")
            }
            Self::Plan { file, source } => {
                let file = file.display();
                write!(f, "{file}: {source}")
            }
            Self::Json {
                file,
                line,
                column,
                path,
                problem,
            } => {
                let file = file.display();
                write!(f, "{file}:{line}:{column}: {problem}{}", at(path))
            }
            Self::Saved {
                file,
                place,
                problem,
            } => {
                let file = file.display();
                write!(f, "{file}: {place}: {problem}")
            }
            Self::Calibration { file, problem } => {
                let file = file.display();
                write!(f, "{file}: {problem}; `deadheat calibrate` makes a new one")
            }
            Self::MissingColumn {
                file,
                column,
                nearest,
            } => {
                let file = file.display();
                write!(
                    f,
                    "{file}:1: column {column} is missing; the nearest column present is '{nearest}'"
                )
            }
            Self::Cell(inner) => inner.fmt(f),
            Self::Rules(inner) => inner.fmt(f),
            Self::DuplicateRow {
                file,
                line,
                first_line,
                benchmark,
                replicate,
                block,
                slot,
            } => {
                let file = file.display();
                write!(
                    f,
                    "{file}:{line}: benchmark '{benchmark}', replicate {replicate}, block {block}, slot {slot} \
         was already given on line {first_line}"
                )
            }
            Self::IncompleteBlock {
                file,
                line,
                benchmark,
                replicate,
                block,
                contender,
            } => {
                let file = file.display();
                write!(
                    f,
                    "{file}:{line}: benchmark '{benchmark}', replicate {replicate}, block {block} \
         has no sample of '{contender}'"
                )
            }
            Self::Baselines {
                file,
                benchmark,
                found,
            } => {
                let file = file.display();
                write!(
                    f,
                    "{file}: benchmark '{benchmark}' needs one baseline; {found}"
                )
            }
        }
    }
}

impl std::error::Error for FormatError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::CannotRead { source, .. } => Some(source),
            Self::CannotWrite { source, .. } => Some(source),
            Self::Sample { source, .. } => Some(source),
            Self::Plan { source, .. } => Some(source),
            Self::Cell(inner) => inner.source(),
            Self::Rules(inner) => inner.source(),
            _ => None,
        }
    }
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl std::error::Error for CellError {}

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

    /// Whether it is a mistake in a path that it cannot be written, and no fault
    /// of the disk or of its rights: there is no such folder, or a folder is in
    /// its place.
    pub fn is_of_the_path(&self) -> bool {
        use io::ErrorKind::{
            AlreadyExists, InvalidFilename, IsADirectory, NotADirectory, NotFound,
        };
        match self {
            FormatError::CannotWrite { source, .. } => matches!(
                source.kind(),
                NotFound | NotADirectory | IsADirectory | InvalidFilename | AlreadyExists
            ),
            error => error.is_write_error(),
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
