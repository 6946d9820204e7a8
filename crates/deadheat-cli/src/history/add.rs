//! `deadheat history add`: run files into the index.

use std::path::PathBuf;

use clap::Args;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{StoredRun, files_of_runs};
use deadheat::parts::model::Commit;
use deadheat_build::Revisions;

use super::repository::{LineArgs, Repository, range};
use crate::history_index::{Adding, IndexArgs};

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
