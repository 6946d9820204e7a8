//! Errors in files, and places in files.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "read")]
use deadheat_model::in_one_line;
use deadheat_model::{HELP, before_help, suggestion, words_of_system};

/// An error in reading, understanding or writing a file. Every message names the file and, if
/// known, the line.
#[derive(Debug)]
pub struct FormatError {
    /// The file or folder.
    pub file: PathBuf,
    /// The problem with the file.
    pub problem: FileProblem,
}

/// The problem with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileProblem {
    /// The operating system could not read the file, for this reason.
    CannotRead(io::Error),
    /// The operating system could not write the file, for this reason.
    CannotWrite(io::Error),
    /// A new run file would replace an older file.
    AlreadyExists,
    /// Another process is recording into the run file.
    InUse,
    /// The user interrupted deadheat while the file was read or written.
    Interrupted,
    /// The run has no wall times, but the output format needs them.
    NoWallTimes,
    /// The file is empty.
    Empty,
    /// The file is of an unsupported kind or of a later version. The text follows the file's name
    /// in the message.
    Unknown(String),
    /// The JSON in the file has another structure than the format requires.
    Json {
        /// The line, counted from 1.
        line: u64,
        /// The column, counted from 1.
        column: u64,
        /// The place in the JSON tree, such as `benchmarks[3].real_time`; empty if the problem is
        /// at no field.
        path: String,
        /// The problem, in words.
        problem: String,
    },
    /// The content of the file contradicts its format.
    Content {
        /// The place in the file.
        place: Place,
        /// The problem, in words.
        problem: String,
    },
    /// A mistake in a rules file.
    Rules {
        /// The line, counted from 1.
        line: u64,
        /// The column in characters, counted from 1.
        column: u64,
        /// The problem, in words.
        problem: String,
        /// Advice for the user; may be empty.
        advice: String,
    },
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The whole file.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A character of a line; line and column are counted from 1.
    Character(u64, u64),
    /// A field of the file's JSON, or another place in words.
    Field(String),
}

impl From<u64> for Place {
    fn from(line: u64) -> Self {
        Place::Line(line)
    }
}

impl From<String> for Place {
    fn from(field: String) -> Self {
        Place::Field(field)
    }
}

impl From<&str> for Place {
    fn from(field: &str) -> Self {
        Place::Field(field.to_owned())
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FileProblem::*;
        use io::ErrorKind::NotFound;
        let file = self.file.display();
        match &self.problem {
            CannotRead(source) => {
                let missing = "there is no such file";
                let why = why(source, &self.file, missing);
                write!(f, "cannot read {file}: {why}")
            }
            CannotWrite(source) => {
                let missing = "no file can be created there";
                let why = why(source, &self.file, missing);
                write!(f, "cannot write {file}: {why}")?;
                match missing_folder(&self.file) {
                    Some(folder) if source.kind() == NotFound && !why.contains(HELP) => {
                        write!(f, "{HELP}mkdir -p {} makes it", in_shell(folder))
                    }
                    _ => Ok(()),
                }
            }
            AlreadyExists => write!(
                f,
                "cannot write {file}: it exists already{HELP}choose another name"
            ),
            InUse => write!(
                f,
                "cannot write {file}: another deadheat is recording into it"
            ),
            Interrupted => write!(f, "interrupted while {file} was in use"),
            NoWallTimes => write!(
                f,
                "cannot write {file}: the results have no wall times, but its format holds only \
                 those{HELP}--export-csv and --json hold every metric"
            ),
            Empty => write!(
                f,
                "{file} is empty{HELP}the program that should have written it may have failed: \
                 record it again"
            ),
            Unknown(found) => write!(f, "{file} {found}"),
            Json {
                line,
                column,
                path,
                problem,
            } => match path.as_str() {
                "" | "." => write!(f, "{file}:{line}:{column}: {problem}"),
                path => {
                    let problem = before_help(problem, &format!(", at {path}"));
                    write!(f, "{file}:{line}:{column}: {problem}")
                }
            },
            Content { place, problem } => match place {
                Place::Whole => write!(f, "{file}: {problem}"),
                Place::Line(line) => write!(f, "{file}:{line}: {problem}"),
                Place::Character(line, column) => write!(f, "{file}:{line}:{column}: {problem}"),
                Place::Field(field) => write!(f, "{file}: {field}: {problem}"),
            },
            Rules {
                line,
                column,
                problem,
                advice,
            } => {
                write!(f, "{file}, line {line}, column {column}: {problem}")?;
                match advice.as_str() {
                    "" => Ok(()),
                    advice => write!(f, "{HELP}{advice}"),
                }
            }
        }
    }
}

fn why(error: &io::Error, file: &Path, missing_file: &str) -> String {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied, StorageFull};
    match (error.kind(), missing_folder(file)) {
        (NotFound, Some(folder)) if folder.starts_with("~") => format!(
            "there is no folder {}{HELP}a shell replaces ~ only at the beginning of a word: write $HOME",
            folder.display()
        ),
        (NotFound, Some(folder)) => format!("there is no folder {}", folder.display()),
        (NotFound, None) => match similar_file(file) {
            Some(similar) => format!("{missing_file}{HELP}did you mean '{similar}'?"),
            None => missing_file.to_owned(),
        },
        (IsADirectory, _) => format!("it is a folder{HELP}name a file in it"),
        (NotADirectory, _) => "a part of its path is a file, not a folder".to_owned(),
        (PermissionDenied, _) => {
            "permission denied\nhelp: ls -ld shows who may read and write it".to_owned()
        }
        (StorageFull, _) => "the disk is full".to_owned(),
        _ => words_of_system(error),
    }
}

/// Returns the folder of a file if it does not exist.
fn missing_folder(file: &Path) -> Option<&Path> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.filter(|folder| !folder.exists())
}

/// Returns a path as it is typed in a shell.
fn in_shell(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    match path.chars().all(is_plain) && !path.starts_with('-') {
        true => path.into_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

const MOST_LOOKED_AT: usize = 5000;

/// Returns the path of the file in the same folder whose name is most similar to that of a missing
/// file.
pub fn similar_file(missing: &Path) -> Option<String> {
    let folder = missing.parent()?;
    let within = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(within).ok()?.take(MOST_LOOKED_AT).flatten();
    let names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    let wanted = missing.file_name()?.to_str()?;
    let meant = suggestion(wanted, names.iter().map(String::as_str))?;
    Some(folder.join(meant).display().to_string())
}

impl std::error::Error for FormatError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            FileProblem::CannotRead(source) | FileProblem::CannotWrite(source) => Some(source),
            _ => None,
        }
    }
}

impl FileProblem {
    /// Returns a problem with the content at `place`.
    pub fn at(place: impl Into<Place>, problem: impl fmt::Display) -> Self {
        Self::Content {
            place: place.into(),
            problem: problem.to_string(),
        }
    }

    /// Returns the problem with `before` and `behind` added around the name of its field. A problem
    /// without a field is returned unchanged.
    #[cfg(feature = "read")]
    pub fn within(self, before: &str, behind: &str) -> Self {
        match self {
            Self::Content {
                place: Place::Field(field),
                problem,
            } => Self::at(format!("{before}{field}{behind}"), problem),
            other => other,
        }
    }

    /// Returns the problem and its place as one line, without the file, for a note about one
    /// benchmark.
    #[cfg(feature = "read")]
    pub fn into_text(self) -> String {
        let text = match self {
            Self::Json { path, problem, .. }
            | Self::Content {
                place: Place::Field(path),
                problem,
            } if !path.is_empty() => {
                format!("{path}: {problem}")
            }
            Self::Json { problem, .. } | Self::Content { problem, .. } => problem,
            other => other.of("the file").to_string(),
        };
        in_one_line(&text)
    }

    /// Returns the error that `file` has this problem.
    pub fn of(self, file: impl Into<PathBuf>) -> FormatError {
        FormatError {
            file: file.into(),
            problem: self,
        }
    }
}

impl FormatError {
    /// Returns an error for wrong content at `place`.
    pub fn at(file: &Path, place: impl Into<Place>, problem: impl fmt::Display) -> Self {
        FileProblem::at(place, problem).of(file)
    }

    /// Returns an error for content that is wrong as a whole.
    pub fn whole(file: &Path, problem: impl fmt::Display) -> Self {
        Self::at(file, Place::Whole, problem)
    }

    /// Returns an error for a file of an unsupported kind; `found` follows the file's name in the
    /// message.
    #[cfg(feature = "read")]
    pub fn unknown(file: &Path, found: impl Into<String>) -> Self {
        FileProblem::Unknown(found.into()).of(file)
    }

    /// Returns the line with the problem, counted from 1, if the problem is in one line.
    pub fn line(&self) -> Option<u64> {
        match &self.problem {
            FileProblem::Json { line, .. }
            | FileProblem::Rules { line, .. }
            | FileProblem::Content {
                place: Place::Line(line) | Place::Character(line, _),
                ..
            } => Some(*line),
            _ => None,
        }
    }

    /// Returns true for a write error that neither the disk nor its permissions caused, such as a
    /// missing folder, a folder in the file's place, or a run file in use.
    pub fn is_of_the_path(&self) -> bool {
        use io::ErrorKind::{
            AlreadyExists, InvalidFilename, IsADirectory, NotADirectory, NotFound,
        };
        match &self.problem {
            FileProblem::CannotWrite(source) => matches!(
                source.kind(),
                NotFound | NotADirectory | IsADirectory | InvalidFilename | AlreadyExists
            ),
            _ => self.is_write_error(),
        }
    }

    /// Returns true if a file could not be written. Every other error is about data that cannot be
    /// read or is wrong.
    pub fn is_write_error(&self) -> bool {
        use FileProblem::{AlreadyExists, CannotWrite, InUse, NoWallTimes};
        matches!(
            self.problem,
            CannotWrite(_) | AlreadyExists | InUse | NoWallTimes
        )
    }
}

/// Returns a function that turns an I/O error from reading `file` into a [`FormatError`].
pub fn cannot_read(file: &Path) -> impl Fn(io::Error) -> FormatError {
    move |source| FileProblem::CannotRead(source).of(file)
}

/// Returns a function that turns an I/O error from writing `file` into a [`FormatError`].
pub fn cannot_write(file: &Path) -> impl Fn(io::Error) -> FormatError {
    move |source| FileProblem::CannotWrite(source).of(file)
}

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
    fn an_error_of_writing_is_told_from_an_error_in_the_data() {
        let full = cannot_write(Path::new("x"))(io::Error::other("full"));
        assert!(full.is_write_error());
        let gone = cannot_read(Path::new("x"))(io::Error::other("gone"));
        assert!(!gone.is_write_error());
        let empty = FileProblem::Empty.of("x");
        assert!(!empty.is_write_error());
    }
}
