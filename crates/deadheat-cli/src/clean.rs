//! `deadheat clean`, which lists what deadheat has stored, with its size, and removes it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::is_default_run_name;
use deadheat::parts::report::units::size_on_disk;
use deadheat_bisect::is_bisect_log_name;
use deadheat_build::{Kind, StorageError, Stored, freed_by, remove_stored, stored_below};
use deadheat_options::age::age;
use deadheat_options::repository::here;

pub const EXAMPLES: &str = "\
Examples:
  deadheat clean --dry-run
  deadheat clean --older-than 30d
  deadheat clean --all ~/src";

/// Options of `deadheat clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Folders to search, with all folders below [default: the git working tree around the
    /// current folder, or else the current folder]
    #[arg(value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Show what would be removed, and remove nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Remove only what was unused for this long, such as 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,
    /// Remove run files and records of searches, too: their measurements cannot be made again
    #[arg(long)]
    runs: bool,
    /// Remove everything: run files, too, and the records of how programs were linked
    #[arg(long)]
    all: bool,
}

impl CleanArgs {
    fn is_chosen(&self, kind: Kind) -> bool {
        match kind {
            Kind::Builds | Kind::NeutralLinks => true,
            Kind::Records => self.all,
            Kind::Runs | Kind::Searches => self.runs || self.all,
        }
    }

    fn is_to_go(&self, stored: &Stored) -> bool {
        let is_old = self.older_than.is_none_or(|age| stored.is_older_than(age));
        is_old && self.is_chosen(stored.kind)
    }

    /// Returns the folders to search. By default these are the working tree and any cargo target
    /// folder outside it.
    fn places(&self) -> Result<Vec<PathBuf>, Failure> {
        if let Some(missing) = self.folders.iter().find(|folder| !folder.is_dir()) {
            let missing = missing.display();
            return Err(Failure::Usage(format!("{missing}: no such folder")));
        }
        if !self.folders.is_empty() {
            return Ok(self.folders.clone());
        }
        let here = here()?;
        let top = deadheat_build::top_of(&here).map_or(here.clone(), PathBuf::from);
        let targets = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];
        let targets = targets.into_iter().filter_map(std::env::var_os);
        let targets = targets.filter(|folder| !folder.is_empty());
        let elsewhere = targets.map(|folder| here.join(folder));
        let elsewhere = elsewhere.filter(|folder| folder.is_dir() && !folder.starts_with(&top));
        Ok(std::iter::once(top.clone()).chain(elsewhere).collect())
    }
}

pub fn clean(args: &CleanArgs) -> Result<Status, Failure> {
    let all = stored_below(&args.places()?, is_default_run_name, is_bisect_log_name)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut text = listing(args, &all);
    let going: Vec<Stored> = all.into_iter().filter(|one| args.is_to_go(one)).collect();
    let freed = size_on_disk(freed_by(&going));
    if !args.dry_run {
        remove_stored(&going).map_err(|error| match error {
            StorageError::InUse(_) => Failure::Usage(error.to_string()),
            StorageError::Refused { .. } => Failure::Internal(error.to_string()),
        })?;
    }
    text += &match (going.is_empty(), args.dry_run) {
        (true, _) => "nothing to remove\n".to_owned(),
        (false, true) => format!("would free {freed}\n"),
        (false, false) => format!("freed {freed}\n"),
    };
    to_stdout(&text)?;
    Ok(Status::Done)
}

/// Returns a line for each kind of file: how many there are, their size, and how many are removed.
fn listing(args: &CleanArgs, all: &[Stored]) -> String {
    let mut kinds: BTreeMap<Kind, (usize, u64, usize)> = BTreeMap::new();
    for stored in all {
        let (count, bytes, going) = kinds.entry(stored.kind).or_default();
        *count += 1;
        *bytes += stored.bytes;
        *going += usize::from(args.is_to_go(stored));
    }
    let line = |(kind, (count, bytes, going)): (&Kind, &(usize, u64, usize))| {
        let name = match kind {
            Kind::Builds => "builds of revisions",
            Kind::NeutralLinks => "folders of neutral links",
            Kind::Records => "folders of link records",
            Kind::Runs => "run files",
            Kind::Searches => "records of searches",
        };
        let fate = match (going, args.is_chosen(*kind)) {
            (0, false) if matches!(kind, Kind::Runs | Kind::Searches) => {
                "kept; --runs removes them".to_owned()
            }
            (0, false) => "kept; --all removes them".to_owned(),
            (0, true) => "kept: used recently".to_owned(),
            (going, _) if going == count => "all removed".to_owned(),
            (going, _) => format!("{going} removed"),
        };
        let fate = if args.dry_run {
            fate.replace("removed", "would be removed")
        } else {
            fate
        };
        format!("{name:<26}{count:>5}{:>10}  {fate}\n", size_on_disk(*bytes))
    };
    kinds.iter().map(line).collect()
}
