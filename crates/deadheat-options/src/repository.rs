//! The repository around the user, as subcommands ask git about it: where the user is, the line of
//! commits, the commits that git knows, the meaning of names, and whose fault it is where there is no
//! answer or no build.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::engine::Interrupts;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{Found, found_at};
use deadheat::parts::model::{Commit, HELP};
use deadheat_build::{
    BuildError, CommitInfo, Fault, Interruption, Parents, Revisions, commit_named,
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

/// The parents that are followed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ParentsArgs {
    /// Follow all parents of merges, not only the first
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

/// The range of two dots that the user probably means: of `v1...v2`, of `..v2`, or of `v1` alone.
fn range_meant_by(text: &str) -> String {
    match text.split_once("..") {
        Some(("", _)) => format!("GOOD{text}"),
        Some((first, last)) => format!("{first}..{}", last.trim_start_matches('.')),
        None => format!("{text}..HEAD"),
    }
}

/// Refuses a file or program in the place of revisions, which `what` describes: the user means a command
/// that takes files.
pub fn refuse_path(text: &str, others: &[String], what: &str) -> Result<(), Failure> {
    let is_path = text.contains('/') && !text.ends_with('/');
    if !is_path || !Path::new(text).is_file() {
        return Ok(());
    }
    let second = others.first().map_or("NEW", String::as_str);
    let advice = match found_at(text) {
        Ok(Found::Data) => format!("to compare saved results: deadheat compare {text} {second}"),
        _ => format!(
            "it is a path; deadheat bench {text} {second} races two programs with benchmarks, deadheat \
             run any two commands"
        ),
    };
    Err(Failure::Usage(format!(
        "'{text}' is not {what}{HELP}{advice}"
    )))
}

/// Refuses two words in the place of a range: the user of `bisect v1 v2` means `bisect v1..v2`.
pub fn refuse_split_range(range: &str, filters: &[String]) -> Result<(), Failure> {
    match filters {
        [second, ..] if !range.contains("..") && !OF_GIT_BISECT.contains(&range) => {
            Err(Failure::Usage(format!(
                "'{range}' is not a range of commits{HELP}write '{range}..{second}', or leave '{second}' \
                 behind a range if it is a filter of benchmarks"
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses a second revision in the place of a filter: the user of `rev v1 HEAD` means `rev v1..HEAD`.
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
        "'{second}' is a revision, and a filter of benchmarks is expected after '{revisions}'{HELP}write \
         '{revisions}..{second}' to race two revisions; a longer part of a benchmark's name is a filter"
    )))
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
