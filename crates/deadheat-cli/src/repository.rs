//! The repository around the user, as subcommands ask git about it: where the user is, the line of
//! commits, the commits that git knows, the meaning of names, and whose fault it is where there is no
//! answer or no build.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::engine::Interrupts;
use deadheat::parts::exit::Failure;
use deadheat::parts::history::GitHistory;
use deadheat::parts::model::Commit;
use deadheat_build::{
    BuildError, CommitInfo, Fault, Interruption, Line, Parents, Revisions, commit_named,
    known_commits,
};

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

/// A commit as a run file has it.
pub fn commit(info: &CommitInfo) -> Commit {
    Commit {
        id: info.id.clone(),
        committed_at: info.committed_at,
        subject: info.subject.clone(),
    }
}

/// Whose fault it is that there is no build.
pub fn failure(error: BuildError) -> Failure {
    let text = error.to_string();
    match error.fault() {
        Fault::Request => Failure::Usage(text),
        Fault::Side => Failure::Contender(text),
        Fault::Internal => Failure::Internal(text),
        Fault::Interruption => Failure::Interrupted { text, signal: 2 },
    }
}

/// The commits of git that make the line.
#[derive(Clone, Debug, Default, Args)]
pub struct LineArgs {
    /// From commit A, which counts, to commit B [default: the newest up to HEAD]
    #[arg(long, value_name = "A..B", value_parser = range, help_heading = "Commits")]
    pub range: Option<Revisions>,
    /// The newest commit [default: HEAD]
    #[arg(
        long,
        value_name = "COMMIT",
        help_heading = "Commits",
        conflicts_with = "range"
    )]
    pub tip: Option<String>,
    #[command(flatten)]
    pub parents: ParentsArgs,
}

/// The parents that are followed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ParentsArgs {
    /// Follow all parents of merges, and not the first alone
    #[arg(long, help_heading = "Commits")]
    all_parents: bool,
}

impl ParentsArgs {
    /// Those of each commit.
    pub fn of_each(self) -> Parents {
        if self.all_parents {
            Parents::All
        } else {
            Parents::First
        }
    }
}

/// Reads `A..B`.
pub fn range(text: &str) -> Result<Revisions, String> {
    let range = Revisions::parse(text).map_err(|error| error.to_string())?;
    match range.head {
        Some(_) => Ok(range),
        None => Err("write A..B, the first and the last commit".to_owned()),
    }
}

/// Both ends of a range of commits, which is written as `form` says; up to `HEAD` where the second is
/// left out.
pub fn ends<'a>(range: &'a str, form: &str) -> Result<(&'a str, &'a str), Failure> {
    match range.split_once("..") {
        Some((first, last)) if !first.is_empty() && !last.starts_with('.') => {
            Ok((first, if last.is_empty() { "HEAD" } else { last }))
        }
        _ => Err(Failure::Usage(format!(
            "'{range}' is no range of commits: write {form}"
        ))),
    }
}

/// The repository around the user.
pub struct Repository {
    directory: PathBuf,
    line: Line,
    interrupts: Interrupts,
}

impl Repository {
    /// The one around the current folder, with the line that is asked for.
    pub fn around(args: &LineArgs) -> Result<Self, Failure> {
        Ok(Self {
            directory: here()?,
            line: Line {
                range: args.range.clone(),
                tip: args.tip.clone(),
                parents: args.parents.of_each(),
            },
            interrupts: interrupts()?,
        })
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(Interruption<'_>) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let is_interrupted = || self.interrupts.requested().is_some();
        question(Interruption(&is_interrupted))
    }

    /// The commit that a name means.
    pub fn commit(&self, name: &str) -> Result<Commit, Failure> {
        let found = self.ask(|stop| commit_named(&self.directory, name, stop));
        found
            .map(|found: CommitInfo| commit(&found))
            .map_err(failure)
    }

    /// The commit that a name means, where git knows it.
    pub fn commit_if_known(&self, name: &str) -> Result<Option<Commit>, Failure> {
        let found = self.ask(|stop| commit_named(&self.directory, name, stop));
        match found {
            Ok(found) => Ok(Some(commit(&found))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(BuildError::UnknownRevision { .. }) => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }
}

/// Ctrl-C and what else asks to stop, from here on heeded and not obeyed at once.
pub fn interrupts() -> Result<Interrupts, Failure> {
    Interrupts::install().map_err(|problem| Failure::Internal(format!("signals: {problem}")))
}

/// Asks git something that Ctrl-C ends.
pub fn asking<T>(
    question: impl FnOnce(Interruption<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    question(Interruption(&is_interrupted))
}

/// True where there is no repository, or no git to ask.
fn is_absent(error: &BuildError) -> bool {
    matches!(
        error,
        BuildError::NoRepository { .. } | BuildError::NotStarted { .. }
    )
}

impl GitHistory for Repository {
    fn newest(&self, at_most: Option<usize>) -> Result<Option<Vec<String>>, Failure> {
        let found = self.ask(|stop| self.line.newest(&self.directory, at_most, stop));
        match found {
            Ok(line) => Ok(Some(line)),
            Err(error) if is_absent(&error) && self.line.is_of_head() => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn known(&self, ids: &[String]) -> Result<HashSet<String>, Failure> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let known = self.ask(|stop| known_commits(&self.directory, ids, stop));
        known.map_err(failure)
    }
}
