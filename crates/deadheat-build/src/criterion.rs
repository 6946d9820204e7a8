//! Whose criterion the bench targets of a suite are compiled with.

use std::path::PathBuf;

/// Whose implementation of criterion the bench targets of a suite are compiled with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CriterionChoice {
    /// deadheat's, if the suite uses criterion and compiles with it.
    #[default]
    Swapped,
    /// The one that the suite names.
    Own,
}

/// A library that takes the place of criterion.
#[derive(Debug)]
pub(crate) struct OfferedLibrary {
    /// The `.rlib`; the libraries that it needs are in `deps` in the same folder.
    pub(crate) file: PathBuf,
    /// Identifies its sources and its compiler.
    pub(crate) key: String,
}
