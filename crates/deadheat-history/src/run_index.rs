//! The path of the index, and the addition of runs to it.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use deadheat::parts::answer::line_to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{belongs_to_another, similar_file};
use deadheat::parts::model::{Commit, HELP};
use deadheat::parts::report::units::counted;
use deadheat::parts::system::held_back_signal;
use deadheat::parts::terminal::to_stderr;
use deadheat_build::{refuse_tracked, refuse_tracked_journals, top_of};
use deadheat_options::repository::{here, shown};

use crate::command::IndexArgs;
use crate::files_store::StoredRun;
use crate::index_store::{Added, HistoryIndex, find_index};
use crate::row::{NotStored, stored_run};

impl IndexArgs {
    /// Returns the path of the index, which may not exist yet. Refuses a file below `.deadheat`
    /// that git tracks, because a commit may have created it.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        let path = match &self.index {
            Some(path) => path.clone(),
            None => {
                let here = here()?;
                let found = find_index(&here, top_of(&here));
                if belongs_to_another(&found, &here) {
                    let found = shown(&found);
                    return Err(Failure::Usage(format!(
                        "the index {found} belongs to another user{HELP}--index {found} uses it"
                    )));
                }
                found
            }
        };
        match refuse_tracked(&path).and_then(|()| refuse_tracked_journals(&path)) {
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

    /// Opens the existing index.
    pub fn open(&self) -> Result<HistoryIndex, Failure> {
        let path = self.path()?;
        let found = HistoryIndex::open(&path, stop).map_err(Failure::reading)?;
        found.ok_or_else(|| {
            let runs = path.with_file_name("runs");
            let folder = match runs.is_dir() {
                true => shell_words::quote(&shown(&runs).to_string()).into_owned(),
                false => "FOLDER".to_owned(),
            };
            Failure::Usage(format!(
                "there is no index {}, so no race was added to it yet{HELP}deadheat history extend \
                 OLD..NEW races commits and creates the index; deadheat history add {folder} adds the \
                 races of two commits (deadheat rev) that are recorded there",
                shown(&path)
            ))
        })
    }

    /// Opens the index for adding runs, and creates it if it is missing.
    pub fn create(&self) -> Result<HistoryIndex, Failure> {
        created(&self.path()?)
    }
}

fn created(path: &Path) -> Result<HistoryIndex, Failure> {
    HistoryIndex::create(path, stop).map_err(|error| match error.is_write_error() {
        true => Failure::unwritable("--index", &error),
        false => Failure::reading(error),
    })
}

/// Returns true if the user has sent a termination signal, which is held back while an index is in
/// use.
pub fn stop() -> bool {
    held_back_signal().is_some()
}

/// Adds runs to an index and counts the outcomes.
pub struct Adding {
    /// The index; `None` if it does not exist yet.
    index: Option<HistoryIndex>,
    path: PathBuf,
    /// The folder to which the paths of run files in the index are relative. Files outside this
    /// folder have absolute paths.
    base: PathBuf,
    new: u64,
    replaced: u64,
    known: u64,
    /// The number of files that were skipped because they do not compare two commits, in folders
    /// that the user named.
    passed_over: u64,
    /// The number of files that could not be added, the missing ones included.
    refused: u64,
    missing: u64,
}

impl Adding {
    /// Opens the index, and creates it if it is missing.
    pub fn new(args: &IndexArgs) -> Result<Self, Failure> {
        let path = args.path()?;
        Ok(Self::to(Some(args.create()?), path))
    }

    /// Opens the index, and leaves its creation to the first run that can be added, or to the end
    /// if no file was refused.
    pub fn to_existing(args: &IndexArgs) -> Result<Self, Failure> {
        let path = args.path()?;
        let index = HistoryIndex::open(&path, stop).map_err(Failure::reading)?;
        Ok(Self::to(index, path))
    }

    fn to(index: Option<HistoryIndex>, path: PathBuf) -> Self {
        let base = path.ancestors().nth(2).unwrap_or(Path::new(""));
        Self {
            index,
            base: base.to_owned(),
            path,
            new: 0,
            replaced: 0,
            known: 0,
            passed_over: 0,
            refused: 0,
            missing: 0,
        }
    }

    /// Adds one file. A file that cannot be added is reported and counted, and is not an error yet.
    ///
    /// # Errors
    ///
    /// Fails if the index cannot be written.
    pub fn add(
        &mut self,
        file: &StoredRun,
        is_named: bool,
        commits: Option<&[Commit; 2]>,
    ) -> Result<(), Failure> {
        let stored = match &self.index {
            Some(index) => index.lines_of(&file.identity).map_err(Failure::reading)?,
            None => None,
        };
        if let Some((length, content)) = stored {
            let is_shorter = (file.complete().len() as u64) < length;
            if is_shorter || (file.content == content && commits.is_none()) {
                self.known += 1;
                return Ok(());
            }
            if !file.continues(length, &content) {
                self.refuse(&Failure::Data(format!(
                    "{} begins like a run of the index, but does not continue it{HELP}one of the two \
                     files was changed; to use this one, delete the index and add all run files again",
                    file.path.display()
                )));
                return Ok(());
            }
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
            Err(
                NotStored::NoRace
                | NotStored::Part { .. }
                | NotStored::NoCommits
                | NotStored::NoEffect
                | NotStored::OneCommit(_),
            ) if !is_named => {
                self.passed_over += 1;
                return Ok(());
            }
            Err(problem) => {
                let path = file.path.display();
                self.refuse(&Failure::Data(format!("{path} {problem}")));
                return Ok(());
            }
        };
        let index = match &mut self.index {
            Some(index) => index,
            none => none.insert(created(&self.path)?),
        };
        let added = index.add(std::slice::from_ref(&row));
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

    /// Counts executables that failed to list their benchmarks, so that the run file does not name
    /// them, as unmeasured benchmarks of an added run.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only further races depend on it")
    )]
    pub fn add_unmeasured(&mut self, file: &StoredRun, count: usize) -> Result<(), Failure> {
        let Some(index) = &mut self.index else {
            return Ok(());
        };
        let added = index.add_unmeasured(&file.identity, count);
        added.map_err(|error| Failure::unwritable("the index", &error))
    }

    /// Returns the largest standard error of the races between two commits with this selection, as
    /// [`HistoryIndex::error_between`] does.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "only further races depend on it")
    )]
    pub fn error_between(
        &self,
        old: &str,
        new: &str,
        selection: &str,
    ) -> Result<Option<f64>, Failure> {
        let Some(index) = &self.index else {
            return Ok(None);
        };
        let error = index.error_between(old, new, selection);
        error.map_err(Failure::reading)
    }

    /// Reports that a file or folder does not exist.
    pub fn refuse_missing(&mut self, path: &Path) {
        self.missing += 1;
        let advice = match similar_file(path) {
            Some(similar) => format!("{HELP}did you mean '{similar}'?"),
            None => String::new(),
        };
        self.refuse(&Failure::Data(format!(
            "the file or folder {} does not exist{advice}",
            path.display()
        )));
    }

    pub fn refuse(&mut self, failure: &Failure) {
        self.refused += 1;
        to_stderr("error", &failure.to_string());
    }

    /// Returns a path for the index: relative to the base folder if the file is below that folder,
    /// and with slashes, so that other systems find the file, too.
    fn path_of(&self, path: &Path) -> String {
        // `BRANCH:PATH` names a file on a git branch and is not a path on disk.
        if path.to_string_lossy().contains(':') && !path.exists() {
            return path.display().to_string();
        }
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let below = whole.strip_prefix(&self.base).unwrap_or(&whole);
        below.display().to_string().replace(MAIN_SEPARATOR, "/")
    }

    /// Prints the outcome, and fails if a file was refused.
    pub fn end(mut self) -> Result<Status, Failure> {
        if self.index.is_none() && self.refused == 0 {
            self.index = Some(created(&self.path)?);
        }
        line_to_stdout(&self.outcome()?)?;
        match self.refused {
            0 => Ok(Status::Done),
            missing if missing == self.missing => Err(Failure::Data(format!(
                "{} could not be added{HELP}deadheat rev BASE --history and deadheat history extend \
                 OLD..NEW race commits and add the races",
                counted(missing, "file or folder", "files or folders")
            ))),
            refused => Err(Failure::Data(format!(
                "{} could not be added{HELP}the history takes run files of deadheat rev, cargo \
                 deadheat and deadheat history extend, which name their commits",
                counted(refused, "file", "files")
            ))),
        }
    }

    /// Returns the outcome so far as a sentence.
    pub fn outcome(&self) -> Result<String, Failure> {
        let mut parts = vec![format!("{} added", counted(self.new, "run", "runs"))];
        for (count, words) in [
            (self.replaced, "replaced by continuations"),
            (self.known, "already known"),
            (self.passed_over, "skipped (no comparison of two commits)"),
            (self.refused, "refused"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        }
        let parts = parts.join(", ");
        let Some(index) = &self.index else {
            return Ok(format!(
                "{parts}; the index {} does not exist",
                shown(&self.path)
            ));
        };
        let counts = index.counts().map_err(Failure::reading)?;
        Ok(format!(
            "{parts}; {} holds {} of {}",
            shown(&self.path),
            counted(counts.runs, "run", "runs"),
            counted(counts.commits, "commit", "commits"),
        ))
    }
}

/// Adds the runs of a finished race to the default index, and reports that on standard error.
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
