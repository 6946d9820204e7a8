//! The git repository of the current folder: ranges and names of commits, and errors of git and of
//! builds.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{Found, found_at};
use deadheat::parts::model::{Commit, HELP};
use deadheat::parts::system::Interrupts;
use deadheat_build::{
    BuildError, CommitInfo, Fault, Interruption, Parents, Revisions, commit_named,
};

/// Returns the current folder.
pub fn here() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir();
    here.map_err(|problem| Failure::Internal(format!("the current folder: {problem}")))
}

/// Returns a path as text, relative to the current folder if it is below that.
pub fn shown(path: &Path) -> String {
    let from_here = here().ok();
    let from_here = from_here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    from_here
        .unwrap_or_else(|| path.to_owned())
        .display()
        .to_string()
}

/// Converts a commit into the form of a run file.
pub fn commit(info: &CommitInfo) -> Commit {
    Commit {
        id: info.id.clone(),
        committed_at: info.committed_at,
        subject: info.subject.clone(),
    }
}

/// Converts a build error into a failure with the exit code for its cause.
pub fn failure(error: BuildError) -> Failure {
    let text = error.to_string();
    match error.fault() {
        Fault::Request => Failure::Usage(text),
        Fault::Side => Failure::Contender(text),
        Fault::Internal => Failure::Internal(text),
        Fault::Interruption => Failure::Interrupted { text, signal: 2 },
    }
}

/// The parents that are followed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ParentsArgs {
    /// Follow all parents of merges, not only the first
    #[arg(long, help_heading = "Commits")]
    all_parents: bool,
}

impl ParentsArgs {
    /// Returns which parents of each commit are followed.
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

/// Returns both ends of a range of commits; the second is `HEAD` by default. `form` is the expected
/// form, for the error message.
pub fn ends<'a>(range: &'a str, form: &str) -> Result<(&'a str, &'a str), Failure> {
    match range.split_once("..") {
        Some((first, last)) if !first.is_empty() && !last.starts_with('.') => {
            Ok((first, if last.is_empty() { "HEAD" } else { last }))
        }
        _ if OF_GIT_BISECT.contains(&range) => Err(Failure::Usage(format!(
            "'{range}' is not a range of commits{HELP}one command does all that git bisect does in \
             steps: deadheat bisect GOOD..BAD"
        ))),
        _ => Err(Failure::Usage(format!(
            "'{range}' is not a range of commits{HELP}write {form}, such as '{}'",
            range_meant_by(range)
        ))),
    }
}

/// The commands of `git bisect`.
const OF_GIT_BISECT: [&str; 10] = [
    "start", "run", "reset", "good", "bad", "old", "new", "skip", "log", "replay",
];

/// Returns the two-dot range that the user probably means by `v1...v2`, by `..v2`, or by `v1`
/// alone.
fn range_meant_by(text: &str) -> String {
    match text.split_once("..") {
        Some(("", _)) => format!("GOOD{text}"),
        Some((first, last)) => format!("{first}..{}", last.trim_start_matches('.')),
        None => format!("{text}..HEAD"),
    }
}

/// Refuses a file or program in place of revisions: the user probably means a command that takes
/// files. `what` names the expected argument.
pub fn refuse_path(text: &str, others: &[String], what: &str) -> Result<(), Failure> {
    let is_path = text.contains('/') && !text.ends_with('/');
    if !is_path || !Path::new(text).is_file() {
        return Ok(());
    }
    let second = others.first().map_or("NEW", String::as_str);
    let advice = match found_at(text) {
        Ok(Found::Data) => format!("to compare saved results: deadheat compare {text} {second}"),
        _ => format!(
            "it is a path; deadheat bench {text} {second} races two programs with benchmarks, \
             deadheat run any two commands"
        ),
    };
    Err(Failure::Usage(format!(
        "'{text}' is not {what}{HELP}{advice}"
    )))
}

/// Refuses two words in place of a range: the user of `bisect v1 v2` means `bisect v1..v2`.
pub fn refuse_split_range(range: &str, filters: &[String]) -> Result<(), Failure> {
    match filters {
        [second, ..] if !range.contains("..") && !OF_GIT_BISECT.contains(&range) => {
            Err(Failure::Usage(format!(
                "'{range}' is not a range of commits{HELP}write '{range}..{second}'; if '{second}' \
                 is a filter of benchmarks, put it after a range"
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses a second revision in place of a filter: the user of `rev v1 HEAD` means `rev v1..HEAD`.
pub fn refuse_second_revision(revisions: &str, filters: &[String]) -> Result<(), Failure> {
    let [second, ..] = filters else {
        return Ok(());
    };
    let is_commit = || {
        let directory = here()?;
        asking(|stop| Ok(commit_named(&directory, second, stop).is_ok()))
    };
    if revisions.contains("..") || !is_commit()? {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "'{second}' is a revision, and a filter of benchmarks is expected after \
         '{revisions}'{HELP}write '{revisions}..{second}' to race two revisions; to filter, write \
         a longer part of a benchmark's name"
    )))
}

/// Starts to record Ctrl-C and other termination signals, which then no longer end the process at
/// once.
pub fn interrupts() -> Result<Interrupts, Failure> {
    Interrupts::install().map_err(|problem| Failure::Internal(format!("signals: {problem}")))
}

/// Runs a query of git that Ctrl-C interrupts.
pub fn asking<T>(
    question: impl FnOnce(Interruption<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let interrupts = interrupts()?;
    let is_interrupted = || interrupts.requested().is_some();
    question(Interruption(&is_interrupted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advises_a_range_that_it_accepts() {
        for (written, meant) in [
            ("v1", "v1..HEAD"),
            ("v1...v2", "v1..v2"),
            ("v1...", "v1.."),
            ("..v2", "GOOD..v2"),
        ] {
            let Err(Failure::Usage(text)) = ends(written, "GOOD..BAD") else {
                panic!("{written} is accepted");
            };
            assert!(text.ends_with(&format!("such as '{meant}'")), "{text}");
            assert!(ends(meant, "GOOD..BAD").is_ok(), "{meant}");
        }
    }
}
