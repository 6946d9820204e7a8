//! What is wrong with a rules file, where, and what to do.

use std::fmt;
use std::path::PathBuf;

/// A rules file that does not say what it could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: u64,
    /// The column in characters, counted from 1.
    pub column: u64,
    /// What is wrong there.
    pub problem: String,
    /// What to do about it; empty where that is plain.
    pub advice: String,
}

impl std::error::Error for RulesError {}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line, column) = (self.file.display(), self.line, self.column);
        write!(
            f,
            "{} in {file}, line {line}, column {column}",
            self.problem
        )?;
        match self.advice.as_str() {
            "" => Ok(()),
            advice => write!(f, "; {advice}"),
        }
    }
}
