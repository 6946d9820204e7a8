//! A folder of criterion: finds the sets of results in it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use deadheat_model::Results;

use super::super::read::modified;
use super::set::{Id, Texts, read};
use crate::bounded;
use crate::error::{FormatError, cannot_read};

/// The set that the last measurement left.
const NEWEST: &str = "new";

/// Folders below the one that was named: group, function, parameter and set,
/// and a few above them. Whoever names the root of a disk is answered in time.
const DEEPEST: usize = 8;

/// Reads a set of results from `target/criterion`, from a folder below it, or
/// from the folder of a single set. Without a name the set is `new`, what was
/// measured last; otherwise the baseline of that name.
///
/// Links to folders are not followed. A benchmark that is gone from the source
/// stays in the folder until somebody removes it.
pub fn read_criterion(
    folder: impl AsRef<Path>,
    baseline: Option<&str>,
) -> Result<Results, FormatError> {
    let folder = folder.as_ref();
    let found = Found::below(folder)?;
    let wanted = baseline.unwrap_or(NEWEST);
    let of_name: Vec<&Set> = found.sets.iter().filter(|set| set.name == wanted).collect();
    let chosen = match (&found.sets[..], &of_name[..]) {
        // The folder of a set that was named itself needs no second name.
        ([only], []) if baseline.is_none() && only.folder == folder => vec![only],
        ([], _) => return Err(found.nothing(folder)),
        (_, []) => return Err(no_such(folder, wanted, &found.names())),
        _ => of_name,
    };
    let written = chosen.iter().filter_map(|set| modified(&set.folder));
    let modified = written.reduce(f64::max);
    let mut read_sets = Vec::with_capacity(chosen.len());
    for set in chosen {
        read_sets.push(read(&set.texts()?)?);
    }
    read_sets.sort_by(|(a, _), (b, _)| in_order(a, b));
    let mut results = Results::new(folder.display().to_string(), "criterion");
    results.facts.modified = modified;
    for (_, benchmark) in read_sets {
        results.push(benchmark);
    }
    Ok(results)
}

/// The names of all sets in a folder, in alphabetical order, `new` among them.
pub fn criterion_baselines(folder: impl AsRef<Path>) -> Result<Vec<String>, FormatError> {
    let found = Found::below(folder.as_ref())?;
    Ok(found.names().into_iter().map(str::to_owned).collect())
}

/// The files of a folder in which criterion kept nothing, by name; hidden ones
/// and what lies further below are left out. `None` where criterion did, or
/// where there are no files.
pub fn files_in(folder: impl AsRef<Path>) -> Result<Option<Vec<PathBuf>>, FormatError> {
    let folder = folder.as_ref();
    if !Found::below(folder)?.sets.is_empty() {
        return Ok(None);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot_read(folder))? {
        let entry = entry.map_err(cannot_read(folder))?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok((!files.is_empty()).then_some(files))
}

/// A folder in which criterion left the results of one benchmark.
struct Set {
    name: String,
    folder: PathBuf,
}

impl Set {
    /// The texts of its files, those that are there.
    fn texts(&self) -> Result<Texts, FormatError> {
        let read = |name: &str| {
            let file = self.folder.join(name);
            match bounded::read(&file) {
                Ok(text) => Ok((file, Some(text))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((file, None)),
                Err(error) => Err(cannot_read(&file)(error)),
            }
        };
        Ok(Texts {
            benchmark: read("benchmark.json")?,
            sample: read("sample.json")?,
            estimates: read("estimates.json")?,
        })
    }
}

/// What lies below a folder.
#[derive(Default)]
struct Found {
    sets: Vec<Set>,
    /// cargo-criterion was here, which keeps CBOR.
    cbor: bool,
}

impl Found {
    /// Looks through a folder. Nothing else is in the folder of a set that is
    /// called after it than what was measured: `report` and `change` have no
    /// `benchmark.json`.
    fn below(folder: &Path) -> Result<Found, FormatError> {
        let mut found = Found::default();
        // The name that counts is that of the folder itself, `.` or not.
        let name = match folder.file_name() {
            Some(name) => Some(name.to_owned()),
            None => fs::canonicalize(folder)
                .ok()
                .and_then(|folder| folder.file_name().map(ToOwned::to_owned)),
        };
        let name = name.unwrap_or_default().to_string_lossy().into_owned();
        found.look(folder, name, 0)?;
        Ok(found)
    }

    fn look(&mut self, folder: &Path, name: String, depth: usize) -> Result<(), FormatError> {
        let mut folders = BTreeSet::new();
        let mut set = false;
        for entry in fs::read_dir(folder).map_err(cannot_read(folder))? {
            let entry = entry.map_err(cannot_read(folder))?;
            let name = entry.file_name();
            let kind = entry.file_type().map_err(cannot_read(&entry.path()))?;
            if kind.is_dir() {
                folders.insert(name);
            } else if name == "benchmark.json" {
                set = entry.path().is_file();
            } else {
                self.cbor |= Path::new(&name).extension().is_some_and(|it| it == "cbor");
            }
        }
        if set {
            self.sets.push(Set {
                name,
                folder: folder.to_owned(),
            });
        }
        if depth < DEEPEST {
            for name in folders {
                let below = folder.join(&name);
                self.look(&below, name.to_string_lossy().into_owned(), depth + 1)?;
            }
        }
        Ok(())
    }

    fn names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.sets.iter().map(|set| set.name.as_str()).collect();
        names.into_iter().collect()
    }

    fn nothing(&self, folder: &Path) -> FormatError {
        let found = match self.cbor {
            true => {
                "a folder of cargo-criterion, whose CBOR is not read (run the benchmarks by `cargo bench`)"
            }
            false => "a folder without files, in which criterion left no results either",
        };
        FormatError::UnknownResults {
            file: folder.to_owned(),
            found: found.to_owned(),
        }
    }
}

fn no_such(folder: &Path, wanted: &str, names: &[&str]) -> FormatError {
    let others: Vec<&str> = names.iter().copied().filter(|it| *it != NEWEST).collect();
    FormatError::Saved {
        file: folder.to_owned(),
        place: format!("baseline '{wanted}'"),
        problem: match (wanted, &others[..]) {
            (_, []) => "criterion saved none under any name".to_owned(),
            (NEWEST, _) => format!(
                "nothing was measured since the last `cargo clean`; there are {}",
                others.join(", ")
            ),
            _ => format!(
                "criterion saved none of this name; there are {}",
                others.join(", ")
            ),
        },
    }
}

/// Groups and functions by name, parameters that are numbers by size.
fn in_order(a: &Id, b: &Id) -> Ordering {
    let number = |id: &Id| id.value_str.as_ref()?.parse::<f64>().ok();
    let by_size = match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    a.group_id
        .cmp(&b.group_id)
        .then_with(|| a.function_id.cmp(&b.function_id))
        .then(by_size)
        .then_with(|| a.full_id.cmp(&b.full_id))
}
