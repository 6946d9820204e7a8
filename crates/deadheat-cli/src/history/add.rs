//! `deadheat history add`: run files into the index.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{Added, HistoryIndex, StoredRun, files_of_runs};
use deadheat::parts::history::{NotStored, stored_run};
use deadheat::parts::model::Commit;
use deadheat::parts::report::units::counted;
use deadheat::parts::terminal::to_stderr;
use deadheat_build::Revisions;

use super::index::{IndexArgs, shown};
use super::repository::{LineArgs, Repository, range};

/// Shown at the end of `deadheat history add --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat history add .deadheat/runs
  deadheat history add runs-of-ci/*.jsonl.gz
  deadheat history add race.jsonl --commits v1.0..v1.1";

/// Options of `deadheat history add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// Run files, packed by gzip or zstd or not; of a folder, those whose names end in .jsonl,
    /// .jsonl.gz or .jsonl.zst
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The commits of baseline and candidate, where the one file does not tell them
    #[arg(long, value_name = "OLD..NEW", value_parser = range)]
    commits: Option<Revisions>,
    #[command(flatten)]
    index: IndexArgs,
}

/// A run to be added: where it lies, and whether the user named it or the folder it lies in.
struct Found {
    path: PathBuf,
    is_named: bool,
}

/// Adds what can be added, and names what cannot.
pub fn add(args: &AddArgs) -> Result<Status, Failure> {
    let named = match &args.commits {
        None => None,
        Some(_) if args.files.len() != 1 || args.files[0].is_dir() => {
            return Err(Failure::Usage(
                "--commits names the commits of one file; give one".to_owned(),
            ));
        }
        Some(range) => Some(named_commits(range)?),
    };
    let mut found = Vec::new();
    for path in &args.files {
        if path.is_dir() {
            let files = files_of_runs(path).map_err(Failure::reading)?;
            let file = |path| Found {
                path,
                is_named: false,
            };
            found.extend(files.into_iter().map(file));
        } else {
            let path = path.clone();
            found.push(Found {
                path,
                is_named: true,
            });
        }
    }
    let mut adding = Adding::new(&args.index)?;
    for one in &found {
        let file = match StoredRun::read(&one.path) {
            Ok(file) => file,
            Err(error) => {
                adding.refuse(&Failure::reading(error));
                continue;
            }
        };
        adding.add(&file, one.is_named, named.as_ref())?;
    }
    adding.end()
}

/// The commits that the user named.
fn named_commits(range: &Revisions) -> Result<[Commit; 2], Failure> {
    let repository = Repository::around(&LineArgs::default())?;
    let [old, new] = range.names();
    Ok([repository.commit(&old)?, repository.commit(&new)?])
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
        let added = added.map_err(|error| Failure::writing("the index", error))?;
        match added.first() {
            Some(Added::New) => self.new += 1,
            Some(Added::Replaced) => self.replaced += 1,
            Some(Added::Known) | None => self.known += 1,
        }
        Ok(())
    }

    /// Names a file that cannot be added.
    fn refuse(&mut self, failure: &Failure) {
        self.refused += 1;
        to_stderr("deadheat: error", &failure.to_string());
    }

    /// A path as the index keeps it: from the folder it lies for, where that holds it.
    fn path_of(&self, path: &Path) -> String {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let below = whole.strip_prefix(&self.base).unwrap_or(&whole);
        below.display().to_string()
    }

    /// Says what came of it.
    pub fn end(self) -> Result<Status, Failure> {
        let counts = self.index.counts().map_err(Failure::reading)?;
        let mut parts = vec![format!("{} added", counted(self.new, "run", "runs"))];
        for (count, words) in [
            (self.replaced, "gone on since and replaced"),
            (self.known, "known already"),
            (self.passed_over, "that say nothing of commits passed over"),
            (self.refused, "refused"),
        ] {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        }
        to_stdout(&format!(
            "{}; {} holds {} of {}\n",
            parts.join(", "),
            shown(&self.path),
            counted(counts.runs, "run", "runs"),
            counted(counts.commits, "commit", "commits"),
        ))?;
        match self.refused {
            0 => Ok(Status::Done),
            1 => Err(Failure::Data("a file could not be added".to_owned())),
            many => Err(Failure::Data(format!("{many} files could not be added"))),
        }
    }
}
