//! `deadheat history accept`, which records accepted steps in a file in the folder of the index.

use deadheat::parts::answer::line_to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::HELP;
use deadheat::parts::terminal::to_stderr;
use deadheat_options::repository::shown;

use crate::accepted_store::{Accepted, read_accepted, write_accepted};
use crate::command::{AcceptArgs, IndexArgs, LineArgs};
use crate::index_store::HistoryIndex;
use crate::judge::history;
use crate::run_index::stop;
use crate::run_repository::Repository;
use crate::window::{RequestedCommits, Window};

/// Accepts a step, lists the accepted steps, or removes one.
pub fn accept(args: &AcceptArgs) -> Result<Status, Failure> {
    args.index.check()?;
    let index = args.index.path()?;
    let mut accepted = read_accepted(&index).map_err(Failure::reading)?;
    let Some(name) = &args.commit else {
        let mut lines = accepted.iter().map(line);
        lines.try_for_each(|line| line_to_stdout(&line))?;
        return Ok(Status::Done);
    };
    let commit = full_name(name, &args.index)?;
    let is_it = |one: &Accepted| {
        commit.starts_with(&one.commit)
            && (one.benchmark == args.benchmark || args.remove && args.benchmark.is_none())
    };
    let before = accepted.len();
    accepted.retain(|one| !is_it(one));
    match &args.why {
        Some(why) if why.trim().is_empty() => {
            let text = format!("the reason for accepting {name} is empty");
            return Err(Failure::Usage(text));
        }
        Some(why) => {
            let one = Accepted {
                commit,
                benchmark: args.benchmark.clone(),
                why: why.clone(),
            };
            let has_step = has_step(&args.index.open()?, &accepted, &one)?;
            if !has_step {
                let of = args.benchmark.as_ref();
                let of = of.map_or_else(String::new, |name| format!(" of '{name}'"));
                to_stderr(
                    "hint",
                    &format!(
                        "{name}: the races of the index show no step{of} at this commit{HELP}deadheat \
                         history check lists the steps, --remove withdraws the acceptance"
                    ),
                );
            }
            accepted.push(one);
        }
        None if accepted.len() == before => {
            let text = format!("{name}: no step at that commit was accepted");
            return Err(Failure::Usage(text));
        }
        None => {}
    }
    let path = write_accepted(&index, &accepted)
        .map_err(|error| Failure::writing("what is accepted", error))?;
    line_to_stdout(&format!("written to {}", shown(&path)))?;
    Ok(Status::Done)
}

/// Returns true if `one` accepts a step that the index shows and that `others` do not accept.
fn has_step(index: &HistoryIndex, others: &[Accepted], one: &Accepted) -> Result<bool, Failure> {
    let repository = Repository::around(&LineArgs::default())?;
    let window = Window::of(index, &repository, RequestedCommits::All)?;
    let steps = |accepted: &[Accepted]| {
        let found = history(index, &window, &[], accepted)?;
        let steps = found.timelines.iter().map(|timeline| timeline.steps.len());
        Ok::<usize, Failure>(steps.sum())
    };
    let with_it = [others, std::slice::from_ref(one)].concat();
    Ok(steps(&with_it)? < steps(others)?)
}

fn line(one: &Accepted) -> String {
    let short = one.commit.get(..8).unwrap_or(&one.commit);
    let benchmark = one.benchmark.as_deref().unwrap_or("every benchmark");
    format!("{short}  {benchmark}: {}", one.why)
}

/// Returns the full id of a commit from git, or else from the index.
fn full_name(name: &str, args: &IndexArgs) -> Result<String, Failure> {
    let repository = Repository::around(&LineArgs::default())?;
    if let Some(commit) = repository.commit_if_known(name)? {
        return Ok(commit.id);
    }
    let index = HistoryIndex::open(args.path()?, stop).map_err(Failure::reading)?;
    let lower = name.to_ascii_lowercase();
    let is_name = lower.len() >= 4 && lower.bytes().all(|digit| digit.is_ascii_hexdigit());
    let found = match index.filter(|_| is_name) {
        Some(index) => index.commits_beginning(&lower).map_err(Failure::reading)?,
        None => Vec::new(),
    };
    match &found[..] {
        [one] => Ok(one.commit.id.clone()),
        [] => Err(Failure::Usage(format!(
            "'{name}' is not a commit of this repository or of the index"
        ))),
        _ => Err(Failure::Usage(format!(
            "'{name}' is the beginning of several commits\nhelp: give more digits"
        ))),
    }
}
