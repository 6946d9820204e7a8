//! The index of a history: where it lies, and how runs get into it.

use std::path::{Path, PathBuf};

use deadheat::parts::answer::line_to_stdout;
use deadheat::parts::engine::held_back_signal;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::Commit;
use deadheat::parts::report::units::counted;
use deadheat::parts::settings::Selection;
use deadheat::parts::terminal::to_stderr;
use deadheat_build::{refuse_tracked, top_of};
use deadheat_options::repository::{here, shown};

use crate::command::IndexArgs;
use crate::files_store::StoredRun;
use crate::index_store::{Added, HistoryIndex, find_index};
use crate::row::{NotStored, stored_run};

impl IndexArgs {
    /// The path of the index, which need not be there. One below `.deadheat` that git tracks is
    /// refused, because a commit brought it along.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        let path = match &self.index {
            Some(path) => path.clone(),
            None => {
                let here = here()?;
                find_index(&here, top_of(&here))
            }
        };
        match refuse_tracked(&path) {
            Ok(()) => Ok(path),
            Err(error) => Err(Failure::Usage(error.to_string())),
        }
    }

    /// Refuses an index that the user names and that does not exist.
    pub fn check(&self) -> Result<(), Failure> {
        match &self.index {
            Some(_) => self.open().map(|_| ()),
            None => Ok(()),
        }
    }

    /// Opens the index that is there.
    pub fn open(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        let found = HistoryIndex::open(&path, stop).map_err(Failure::reading)?;
        found.ok_or_else(|| {
            Failure::Usage(format!(
                "there is no index {}, so no commit was raced\nhelp: deadheat history extend OLD..NEW races \
                 commits, deadheat history add FILES adds run files",
                shown(&path)
            ))
        })
    }

    /// Opens the index to add to it, and makes it where there is none.
    pub fn create(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        HistoryIndex::create(&path, stop).map_err(|error| match error.is_write_error() {
            true => Failure::unwritable("--index", &error),
            false => Failure::reading(error),
        })
    }
}

/// Returns true if a signal is held back while an index is in use.
pub fn stop() -> bool {
    held_back_signal().is_some()
}

/// Runs on their way into an index.
pub struct Adding {
    index: HistoryIndex,
    path: PathBuf,
    /// The folder that paths in the index are relative to, where they lie below it.
    base: PathBuf,
    new: u64,
    replaced: u64,
    known: u64,
    /// Files in folders that were named that say nothing of commits.
    passed_over: u64,
    refused: u64,
}

impl Adding {
    /// Opens the index, or makes it.
    pub fn new(args: &IndexArgs) -> Result<Self, Failure> {
        let path = args.path()?;
        let base = path.ancestors().nth(2).unwrap_or(Path::new(""));
        Ok(Self {
            index: args.create()?,
            base: base.to_owned(),
            path,
            new: 0,
            replaced: 0,
            known: 0,
            passed_over: 0,
            refused: 0,
        })
    }

    /// Adds one file. What cannot be added is told, and is no failure yet.
    ///
    /// # Errors
    ///
    /// An index that cannot be written.
    pub fn add(
        &mut self,
        file: &StoredRun,
        is_named: bool,
        commits: Option<&[Commit; 2]>,
    ) -> Result<(), Failure> {
        let is_known = self.index.knows(&file.identity, &file.content);
        if is_known.map_err(Failure::reading)? && commits.is_none() {
            self.known += 1;
            return Ok(());
        }
        let run = match file.run() {
            Ok(run) => run,
            Err(error) => {
                self.refuse(&Failure::reading(error));
                return Ok(());
            }
        };
        let row = match stored_run(file, &run, self.path_of(&file.path), commits) {
            Ok(row) => row,
            Err(NotStored::NoCommits | NotStored::NoEffect | NotStored::OneCommit(_))
                if !is_named =>
            {
                self.passed_over += 1;
                return Ok(());
            }
            Err(problem) => {
                let path = file.path.display();
                self.refuse(&Failure::Data(format!("{path} {problem}")));
                return Ok(());
            }
        };
        let added = self.index.add(std::slice::from_ref(&row));
        let added = added.map_err(|error| match error.is_write_error() {
            true => Failure::unwritable("the index", &error),
            false => Failure::reading(error),
        })?;
        match added.first() {
            Some(Added::New) => self.new += 1,
            Some(Added::Replaced) => self.replaced += 1,
            Some(Added::Known) | None => self.known += 1,
        }
        Ok(())
    }

    /// The standard errors of what the index knows of two commits, one for each benchmark whose name
    /// holds one of `names`, by all its races of the two together.
    pub fn errors_between(
        &self,
        old: &str,
        new: &str,
        names: &[String],
    ) -> Result<Vec<f64>, Failure> {
        let between = self
            .index
            .errors_between(old, new)
            .map_err(Failure::reading)?;
        let selection = Selection {
            filters: names.to_vec(),
            ..Selection::default()
        };
        let meant = between
            .into_iter()
            .filter(|(name, _)| selection.names(name));
        Ok(meant.map(|(_, se)| se).collect())
    }

    /// Names a file that cannot be added.
    pub fn refuse(&mut self, failure: &Failure) {
        self.refused += 1;
        to_stderr("error", &failure.to_string());
    }

    /// A path as the index keeps it: from the folder it lies for, where that holds it.
    fn path_of(&self, path: &Path) -> String {
        // Of a branch it is no path.
        if path.to_string_lossy().contains(':') && !path.exists() {
            return path.display().to_string();
        }
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let below = whole.strip_prefix(&self.base).unwrap_or(&whole);
        below.display().to_string()
    }

    /// Says what came of it, and fails where a file was refused.
    pub fn end(self) -> Result<Status, Failure> {
        line_to_stdout(&self.outcome()?)?;
        match self.refused {
            0 => Ok(Status::Done),
            1 => Err(Failure::Data("a file could not be added".to_owned())),
            many => Err(Failure::Data(format!("{many} files could not be added"))),
        }
    }

    /// The outcome so far, in a sentence.
    pub fn outcome(&self) -> Result<String, Failure> {
        let counts = self.index.counts().map_err(Failure::reading)?;
        let mut parts = vec![format!("{} added", counted(self.new, "run", "runs"))];
        for (count, words) in [
            (self.replaced, "continued since and replaced"),
            (self.known, "known already"),
            (self.passed_over, "without commits skipped"),
            (self.refused, "refused"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        }
        Ok(format!(
            "{}; {} holds {} of {}",
            parts.join(", "),
            shown(&self.path),
            counted(counts.runs, "run", "runs"),
            counted(counts.commits, "commit", "commits"),
        ))
    }
}

/// Adds the runs of a race that is over, and says so on standard error.
pub fn keep_in_history(files: &[PathBuf], quiet: bool) -> Result<(), Failure> {
    let mut adding = Adding::new(&IndexArgs::default())?;
    for file in files {
        let file = StoredRun::read(file).map_err(Failure::reading)?;
        adding.add(&file, true, None)?;
    }
    if !quiet {
        to_stderr("deadheat: history", &adding.outcome()?);
    }
    Ok(())
}
