//! `deadheat history add` and `push`, which add run files to the index, or to a git branch that
//! holds only run files.

use std::path::{Path, PathBuf};

use deadheat::parts::answer::line_to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ScratchFolder, write_bytes};
use deadheat::parts::model::{Commit, HELP};
use deadheat::parts::report::units::counted;
use deadheat_build::{Branch, Interruption, Revisions};
use deadheat_options::repository::{asking, failure, here};

use crate::command::{AddArgs, LineArgs, PushArgs};
use crate::files_store::{StoredRun, files_of_runs, gzipped, is_run_name};
use crate::run_index::Adding;
use crate::run_repository::Repository;

/// A run file to add. `is_named` is true if the user named the file itself, and false if the user
/// named its folder.
pub struct Found {
    pub path: PathBuf,
    pub is_named: bool,
}

pub fn add(args: &AddArgs) -> Result<Status, Failure> {
    let named = match &args.commits {
        None => None,
        Some(_) if args.branch.is_some() || args.files.len() != 1 || args.files[0].is_dir() => {
            return Err(Failure::Usage(
                "--commits gives the commits of a single run file\nhelp: name one run file, not a \
                 folder, and leave out --branch"
                    .to_owned(),
            ));
        }
        Some(range) => Some(named_commits(range)?),
    };
    let found = expanded(&args.files)?;
    let mut adding = Adding::to_existing(&args.index)?;
    for one in &found {
        if !one.path.exists() {
            adding.refuse_missing(&one.path);
            continue;
        }
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

/// Adds the runs of a git branch. In the index their path is `BRANCH:PATH`.
fn add_branch(adding: &mut Adding, name: &str, stop: Interruption<'_>) -> Result<(), Failure> {
    let branch = Branch::of(&here()?, name, stop).map_err(failure)?;
    let is_run = |path: &Path| path.to_str().is_some_and(is_run_name);
    let Some(files) = branch.files(is_run).map_err(failure)? else {
        let both = format!("{name}:{name}");
        let both = shell_words::quote(&both);
        return Err(Failure::Usage(format!(
            "there is no branch '{name}'\nhelp: `git fetch origin {both}` fetches one from \
             the server"
        )));
    };
    for path in files {
        let called = format!("{}:{}", branch.name(), path.display());
        let bytes = branch.read(&path).map_err(failure)?;
        match StoredRun::from_bytes(called, bytes) {
            Ok(file) => adding.add(&file, false, None)?,
            Err(error) => adding.refuse(&Failure::reading(error)),
        }
    }
    Ok(())
}

/// Returns the files that the user named, and the run files in named folders.
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

fn named_commits(range: &Revisions) -> Result<[Commit; 2], Failure> {
    let repository = Repository::around(&LineArgs::default())?;
    let [old, new] = range.names();
    Ok([repository.commit(&old)?, repository.commit(&new)?])
}

/// Commits run files to a branch, and leaves git's working tree and index unchanged.
pub fn push(args: &PushArgs) -> Result<Status, Failure> {
    let scratch = ScratchFolder::create().map_err(Failure::reading)?;
    let (count, branch) = asking(|stop| {
        let branch = Branch::of(&here()?, &args.branch, stop).map_err(failure)?;
        let mut packed = Vec::new();
        for found in expanded(&args.files)? {
            let file = StoredRun::read(&found.path).map_err(Failure::reading)?;
            // Only valid run files are committed to the branch.
            file.run().map_err(Failure::reading)?;
            // The name depends on the run's identity, so a continued run replaces its earlier file.
            let identity = &file.identity;
            let name = format!("runs/{}/{}.jsonl.gz", &identity[..2], &identity[..16]);
            if is_news(&file, &branch, &name)? {
                let path = scratch.path().join(&identity[..16]);
                let written = write_bytes(&path, &gzipped(file.bytes()));
                written.map_err(|error| Failure::writing("the branch", error))?;
                packed.push((path, name));
            }
        }
        if !packed.is_empty() {
            let message = format!("Add {}", counted(packed.len() as u64, "run", "runs"));
            let added = branch.add(&packed, &message, scratch.path());
            added.map_err(failure)?;
        }
        Ok((packed.len(), branch.name().to_owned()))
    })?;
    let quoted = shell_words::quote(&branch);
    let runs = counted(count as u64, "run", "runs");
    line_to_stdout(&match count {
        0 => format!("nothing to commit: {branch} already contains these runs"),
        _ => format!("{runs} committed to {branch}; `git push origin {quoted}` shares them"),
    })?;
    Ok(Status::Done)
}

/// Returns false if a branch has this run already, with all its lines. Fails if the branch has
/// another run of this name.
fn is_news(run: &StoredRun, branch: &Branch<'_>, name: &str) -> Result<bool, Failure> {
    let Some(bytes) = branch.find(Path::new(name)).map_err(failure)? else {
        return Ok(true);
    };
    let old = StoredRun::from_bytes(name, bytes).map_err(Failure::reading)?;
    if old.complete().starts_with(run.complete()) {
        return Ok(false);
    }
    if run.complete().starts_with(old.complete()) {
        return Ok(true);
    }
    Err(Failure::Data(format!(
        "{} and {name} on the branch '{}' begin with the same line, but neither continues the \
         other{HELP}one of them was changed",
        run.path.display(),
        branch.name(),
    )))
}
