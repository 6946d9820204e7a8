//! `deadheat history add` and `push`: run files into the index, or onto a branch of git that holds
//! nothing else.

use std::path::PathBuf;

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{
    ScratchFolder, StoredRun, files_of_runs, gzipped, is_run_name, write_bytes,
};
use deadheat::parts::model::Commit;
use deadheat::parts::report::units::counted;
use deadheat_build::{Branch, Interruption, Revisions};

use crate::history_index::{Adding, IndexArgs};
use crate::repository::{LineArgs, Repository, asking, failure, here, range};

/// Shown at the end of `deadheat history add --help`.
pub const ADD_EXAMPLES: &str = "\
Examples:
  deadheat history add .deadheat/runs
  deadheat history add runs-of-ci/*.jsonl.gz
  deadheat history add --branch runs
  deadheat history add race.jsonl --commits v1.0..v1.1";

/// Options of `deadheat history add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// Run files, packed by gzip or zstd or not; of a folder, those whose names end in .jsonl,
    /// .jsonl.gz or .jsonl.zst
    #[arg(value_name = "FILE", required_unless_present = "branch")]
    files: Vec<PathBuf>,
    /// The run files of this branch of git as well, which need not be checked out
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// The commits of baseline and candidate, where the one file does not tell them
    #[arg(long, value_name = "OLD..NEW", value_parser = range)]
    commits: Option<Revisions>,
    #[command(flatten)]
    index: IndexArgs,
}

/// A run file: where it lies, and whether the user named it or the folder it lies in.
pub struct Found {
    pub path: PathBuf,
    pub is_named: bool,
}

/// Adds what can be added, and names what cannot.
pub fn add(args: &AddArgs) -> Result<Status, Failure> {
    let named = match &args.commits {
        None => None,
        Some(_) if args.branch.is_some() || args.files.len() != 1 || args.files[0].is_dir() => {
            return Err(Failure::Usage(
                "--commits names the commits of one file\nhelp: give one".to_owned(),
            ));
        }
        Some(range) => Some(named_commits(range)?),
    };
    let found = expanded(&args.files)?;
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
    if let Some(name) = &args.branch {
        asking(|stop| add_branch(&mut adding, name, stop))?;
    }
    adding.end()
}

/// Adds the runs of a branch, which are called by its name and their paths.
fn add_branch(adding: &mut Adding, name: &str, stop: Interruption<'_>) -> Result<(), Failure> {
    let branch = Branch::of(&here()?, name, stop).map_err(failure)?;
    let Some(files) = branch.files().map_err(failure)? else {
        return Err(Failure::Usage(format!(
            "there is no branch '{name}'\nhelp: `git fetch origin {name}:{name}` gets one that is \
             elsewhere"
        )));
    };
    for path in files {
        if !path.to_str().is_some_and(is_run_name) {
            continue;
        }
        let called = format!("{name}:{}", path.display());
        let bytes = branch.read(&path).map_err(failure)?;
        match StoredRun::from_bytes(called, bytes) {
            Ok(file) => adding.add(&file, false, None)?,
            Err(error) => adding.refuse(&Failure::reading(error)),
        }
    }
    Ok(())
}

/// The files that are named, and those in folders that are.
pub fn expanded(paths: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let files = files_of_runs(path).map_err(Failure::reading)?;
            found.extend(files.into_iter().map(|path| Found {
                path,
                is_named: false,
            }));
        } else {
            found.push(Found {
                path: path.clone(),
                is_named: true,
            });
        }
    }
    Ok(found)
}

/// The commits that the user named.
fn named_commits(range: &Revisions) -> Result<[Commit; 2], Failure> {
    let repository = Repository::around(&LineArgs::default())?;
    let [old, new] = range.names();
    Ok([repository.commit(&old)?, repository.commit(&new)?])
}

/// Shown at the end of `deadheat history push --help`.
pub const PUSH_EXAMPLES: &str = "\
Examples:
  deadheat history push --branch runs .deadheat/runs
  git push origin runs
  git fetch origin runs:runs && deadheat history add --branch runs";

/// Options of `deadheat history push`.
#[derive(Debug, Args)]
pub struct PushArgs {
    /// Run files; of a folder, those whose names end in .jsonl, .jsonl.gz or .jsonl.zst
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The branch they are committed to, here and not yet elsewhere; made where there is none
    #[arg(long, value_name = "NAME")]
    branch: String,
}

/// Commits files to the branch; the working tree and its index stay as they are.
pub fn push(args: &PushArgs) -> Result<Status, Failure> {
    let scratch = ScratchFolder::create().map_err(Failure::reading)?;
    let mut packed = Vec::new();
    for found in expanded(&args.files)? {
        let file = StoredRun::read(&found.path).map_err(Failure::reading)?;
        // What is no run is no part of the branch.
        file.run().map_err(Failure::reading)?;
        // A run that has gone on since takes the place of what it was.
        let identity = &file.identity;
        let name = format!("runs/{}/{}.jsonl.gz", &identity[..2], &identity[..16]);
        let path = scratch.path().join(&identity[..16]);
        let bytes = gzipped(file.bytes());
        write_bytes(&path, &bytes).map_err(|error| Failure::writing("the branch", error))?;
        packed.push((path, name));
    }
    let runs = counted(packed.len() as u64, "run", "runs");
    let message = format!("Add {runs}");
    let added = asking(|stop| {
        Branch::of(&here()?, &args.branch, stop)
            .and_then(|branch| branch.add(&packed, &message, scratch.path()))
            .map_err(failure)
    })?;
    let branch = &args.branch;
    to_stdout(&match added {
        true => format!("{runs} committed to {branch}; `git push origin {branch}` shares them\n"),
        false => format!("{branch} holds them already\n"),
    })?;
    Ok(Status::Done)
}
