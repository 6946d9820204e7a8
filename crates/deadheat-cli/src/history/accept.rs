//! `deadheat history accept`: steps that are known, written down beside the index.

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{Accepted, HistoryIndex, read_accepted, write_accepted};

use crate::history_index::IndexArgs;
use crate::repository::{LineArgs, Repository, shown};

/// Shown at the end of `deadheat history accept --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat history accept HEAD~3 'checks what it reads'
  deadheat history accept 1a2b3c4d 'trades time for memory' --benchmark parse
  deadheat history accept --list
  deadheat history accept --remove 1a2b3c4d";

/// Options of `deadheat history accept`.
#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// The commit that made the step
    #[arg(
        value_name = "COMMIT",
        required_unless_present = "list",
        conflicts_with = "list"
    )]
    commit: Option<String>,
    /// The reason
    #[arg(
        value_name = "WHY",
        required_unless_present_any = ["list", "remove"],
        conflicts_with_all = ["list", "remove"]
    )]
    why: Option<String>,
    /// Of this benchmark alone [default: of all]
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    benchmark: Option<String>,
    /// Print what is accepted
    #[arg(long)]
    list: bool,
    /// Accept it no more
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    index: IndexArgs,
}

/// Accepts, lists or removes.
pub fn accept(args: &AcceptArgs) -> Result<Status, Failure> {
    let index = args.index.path()?;
    let mut accepted = read_accepted(&index).map_err(Failure::reading)?;
    let Some(name) = &args.commit else {
        let lines = accepted.iter().map(line);
        to_stdout(&lines.collect::<String>())?;
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
        Some(why) => accepted.push(Accepted {
            commit,
            benchmark: args.benchmark.clone(),
            why: why.clone(),
        }),
        None if accepted.len() == before => {
            let text = format!("{name}: no step at that commit was accepted");
            return Err(Failure::Usage(text));
        }
        None => {}
    }
    let path = write_accepted(&index, &accepted)
        .map_err(|error| Failure::writing("what is accepted", error))?;
    to_stdout(&format!("written to {}\n", shown(&path)))?;
    Ok(Status::Done)
}

fn line(one: &Accepted) -> String {
    let short = one.commit.get(..8).unwrap_or(&one.commit);
    let benchmark = one.benchmark.as_deref().unwrap_or("every benchmark");
    format!("{short}  {benchmark}: {}\n", one.why)
}

/// All digits of a commit: by git, or where that does not know it, by the index.
fn full_name(name: &str, args: &IndexArgs) -> Result<String, Failure> {
    let repository = Repository::around(&LineArgs::default())?;
    if let Some(commit) = repository.commit_if_known(name)? {
        return Ok(commit.id);
    }
    let index = HistoryIndex::open(args.path()?).map_err(Failure::reading)?;
    let lower = name.to_ascii_lowercase();
    let is_name = lower.len() >= 4 && lower.bytes().all(|digit| digit.is_ascii_hexdigit());
    let found = match index.filter(|_| is_name) {
        Some(index) => index.commits_beginning(&lower).map_err(Failure::reading)?,
        None => Vec::new(),
    };
    match &found[..] {
        [one] => Ok(one.commit.id.clone()),
        [] => Err(Failure::Usage(format!(
            "'{name}' is no commit of this repository or of the index"
        ))),
        _ => Err(Failure::Usage(format!(
            "'{name}' is the beginning of several commits\nhelp: give more digits"
        ))),
    }
}
