//! The index that all subcommands use, and where it lies.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{HistoryIndex, find_index};
use deadheat_build::top_of;

/// The index of runs.
#[derive(Clone, Debug, Default, Args)]
pub struct IndexArgs {
    /// The index [default: .deadheat/history.sqlite, here or the nearest upwards]
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub index: Option<PathBuf>,
}

impl IndexArgs {
    /// The path of the index, which need not be there.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.index {
            return Ok(path.clone());
        }
        let here = here()?;
        Ok(find_index(&here, top_of(&here)))
    }

    /// Opens the index that is there.
    pub fn open(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        let found = HistoryIndex::open(&path).map_err(Failure::reading)?;
        found.ok_or_else(|| {
            Failure::Usage(format!(
                "there is no index {}; `deadheat history add FILES` makes it of run files",
                shown(&path)
            ))
        })
    }

    /// Opens the index to add to it, and makes it where there is none.
    pub fn create(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        HistoryIndex::create(&path).map_err(|error| match error.is_write_error() {
            true => Failure::unwritable("--index", &error),
            false => Failure::reading(error),
        })
    }
}

/// The folder of the user.
pub fn here() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir();
    here.map_err(|problem| Failure::Internal(format!("the current folder: {problem}")))
}

/// A path as the user would write it: from here, where it lies below.
pub fn shown(path: &Path) -> String {
    let from_here = here().ok();
    let from_here = from_here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    from_here
        .unwrap_or_else(|| path.to_owned())
        .display()
        .to_string()
}
