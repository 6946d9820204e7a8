//! `deadheat clean`: what is kept, how much room it takes, and away with it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::is_default_run_name;
use deadheat_build::{Kind, StorageError, Stored, freed_by, remove_stored, stored_below};

use crate::repository::here;

/// Shown at the end of `deadheat clean --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat clean --dry-run
  deadheat clean --older-than 30d
  deadheat clean --all ~/src";

/// Options of `deadheat clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Where to look, with all folders below [default: the working tree of git around the
    /// current folder, or the current folder]
    #[arg(value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Say what would go, and remove nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Only what was not used for so long, as in 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,
    /// Run files and records of searches too: what they hold was measured once and cannot be made again
    #[arg(long)]
    runs: bool,
    /// Everything: run files too, and the records of how programs were linked
    #[arg(long)]
    all: bool,
}

/// Days and weeks, beside what other options take.
pub fn age(text: &str) -> Result<Duration, String> {
    const DAY: u64 = 86_400;
    let (number, unit) = match text.trim().char_indices().next_back() {
        Some((at, 'd')) => (&text.trim()[..at], DAY),
        Some((at, 'w')) => (&text.trim()[..at], 7 * DAY),
        Some((at, 'h')) => (&text.trim()[..at], 3600),
        _ => ("", 0),
    };
    let seconds = number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| format!("'{text}' is no age, as 12h, 30d and 8w are"))
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

    /// The folders to look in, and a target folder of cargo's that the user keeps elsewhere.
    fn places(&self) -> Result<Vec<PathBuf>, Failure> {
        if let Some(missing) = self.folders.iter().find(|folder| !folder.is_dir()) {
            let missing = missing.display();
            return Err(Failure::Usage(format!(
                "{missing}: there is no such folder"
            )));
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

/// Says what is kept, and removes what was asked for.
pub fn clean(args: &CleanArgs) -> Result<Status, Failure> {
    let all = stored_below(&args.places()?, is_default_run_name);
    let mut text = listing(args, &all);
    let going: Vec<Stored> = all.into_iter().filter(|one| args.is_to_go(one)).collect();
    let freed = size(freed_by(&going));
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

/// A line for every kind: how many there are, what they take, and what goes.
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
                "kept without --runs".to_owned()
            }
            (0, false) => "kept without --all".to_owned(),
            (0, true) => "used lately, kept".to_owned(),
            (going, _) if going == count => "all go".to_owned(),
            (going, _) => format!("{going} go"),
        };
        let fate = if args.dry_run {
            fate.replace("go", "would go")
        } else {
            fate
        };
        format!("{name:<26}{count:>5}{:>10}  {fate}\n", size(*bytes))
    };
    kinds.iter().map(line).collect()
}

/// Bytes as disks are sold: `1.4 GB`, `264 MB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let bytes = bytes as f64;
    // 999,999 bytes are a megabyte, and not a thousand kilobytes.
    let fitting = UNITS.iter().find(|(unit, _)| bytes >= 0.9995 * unit);
    match fitting {
        None => format!("{bytes} B"),
        Some((unit, name)) if bytes < 9.95 * unit => format!("{:.1} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.0} {name}", bytes / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_digits_or_three() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1500, "1.5 kB"),
            (9_949, "9.9 kB"),
            (9_999, "10 kB"),
            (264_100_000, "264 MB"),
            (999_999_999, "1.0 GB"),
            (1_432_000_000, "1.4 GB"),
            (23_000_000_000_000, "23000 GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn ages_are_hours_days_or_weeks() {
        assert_eq!(age("12h"), Ok(Duration::from_secs(43_200)));
        assert_eq!(age("30d"), Ok(Duration::from_secs(2_592_000)));
        assert_eq!(age(" 2w "), Ok(Duration::from_secs(1_209_600)));
        assert_eq!(age("0d"), Ok(Duration::ZERO));
        for text in [
            "",
            "30",
            "d",
            "1.5d",
            "-1d",
            "3 parsecs",
            "99999999999999999999d",
        ] {
            assert!(age(text).unwrap_err().contains("30d"), "{text}");
        }
    }
}
