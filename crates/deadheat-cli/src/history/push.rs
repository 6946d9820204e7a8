//! `deadheat history push`: run files onto a branch of git that holds nothing else.

use std::path::PathBuf;

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ScratchFolder, StoredRun, gzipped, write_bytes};
use deadheat::parts::report::units::counted;
use deadheat_build::Branch;

use super::add::expanded;
use super::repository::asking;
use crate::history_index::here;
use crate::rev::failure;

/// Shown at the end of `deadheat history push --help`.
pub const EXAMPLES: &str = "\
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
