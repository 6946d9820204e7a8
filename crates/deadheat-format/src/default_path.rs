//! Default paths of run files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use deadheat_model::Day;

use crate::error::{FormatError, cannot_write, create_folder_of};
use crate::owner::belongs_to_another;

const HOME: &str = ".deadheat";
const RUNS: &str = "runs";

/// Returns the path of a run file for which the user gave no name:
/// `.deadheat/runs/YYYYMMDD-HHMMSS-SEED.jsonl` below `base`.
///
/// The time is UTC, computed from `started_at`, in seconds since 1970. SEED is the last eight
/// hexadecimal digits of the seed, so two runs in the same second get different names. If the seed
/// is equal too, the file names of the second and later runs end in `number`, as in `-2.jsonl`.
pub fn default_run_path(base: &Path, started_at: u64, seed: u64, number: u32) -> PathBuf {
    let again = match number {
        0 | 1 => String::new(),
        number => format!("-{number}"),
    };
    let name = format!(
        "{}-{:08x}{again}.jsonl",
        time_stamp(started_at),
        seed as u32
    );
    own_folder(base, RUNS).join(name)
}

/// Returns true if `name` has the form that [`default_run_path`] produces. Any other name was
/// chosen by the user.
pub fn is_default_run_name(name: &str) -> bool {
    let shape = "00000000-000000-xxxxxxxx";
    let Some(name) = name.strip_suffix(".jsonl") else {
        return false;
    };
    // With `--confirm`, the file of the second race is named after that of the first.
    let name = name.strip_suffix(".confirm").unwrap_or(name);
    let name = match name.rsplit_once('-') {
        Some((first, number)) if first.len() == shape.len() => match number.parse::<u32>() {
            Ok(2..) => first,
            _ => return false,
        },
        _ => name,
    };
    let fits = |(shape, letter): (char, char)| match shape {
        '0' => letter.is_ascii_digit(),
        'x' => letter.is_ascii_hexdigit(),
        other => letter == other,
    };
    name.len() == shape.len() && shape.chars().zip(name.chars()).all(fits)
}

/// Returns true if this run file is in the folder of [`default_run_path`] and that folder holds at
/// most `count` files. Returns false for any other folder, because it may also hold other files.
pub fn are_first_runs(file: &Path, count: usize) -> bool {
    let ours = Path::new(HOME).join(RUNS);
    let folder = file.parent().filter(|folder| folder.ends_with(ours));
    let files = folder.and_then(|folder| fs::read_dir(folder).ok());
    files.is_some_and(|files| files.take(count + 1).count() <= count)
}

/// Creates the folder of [`default_run_path`] below `base`, see [`create_own_folder`].
pub fn create_run_folder(base: &Path) -> Result<(), FormatError> {
    create_own_folder(base, RUNS)
}

/// Returns the path of a folder inside `.deadheat`, which is below `base`, such as
/// `.deadheat/runs`.
pub fn own_folder(base: &Path, name: &str) -> PathBuf {
    base.join(HOME).join(name)
}

/// Creates the [`own_folder`] of this name. If `.deadheat` is new, it also gets a `.gitignore` that
/// keeps all of it out of version control.
///
/// # Errors
///
/// The folder or the `.gitignore` cannot be written, or another user owns the folder or `.deadheat`.
pub fn create_own_folder(base: &Path, name: &str) -> Result<(), FormatError> {
    let (home, folder) = (base.join(HOME), own_folder(base, name));
    for place in [&home, &folder] {
        if belongs_to_another(place, base) {
            let error = io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it belongs to another user",
            );
            return Err(cannot_write(place)(error));
        }
    }
    create_below(&home, &folder)
}

/// Creates the folder of a file. A new `.deadheat` folder also gets a `.gitignore`.
///
/// # Errors
///
/// The folder or the `.gitignore` cannot be written.
pub fn create_folder_for(file: &Path) -> Result<(), FormatError> {
    match file.parent() {
        Some(home) if home.file_name() == Some(HOME.as_ref()) => create_below(home, home),
        _ => create_folder_of(file),
    }
}

fn create_below(home: &Path, folder: &Path) -> Result<(), FormatError> {
    let is_new = !home.exists();
    fs::create_dir_all(folder).map_err(cannot_write(folder))?;
    if is_new {
        let ignore = home.join(".gitignore");
        fs::write(&ignore, "*\n").map_err(cannot_write(&ignore))?;
    }
    Ok(())
}

/// Formats seconds since 1970 as `YYYYMMDD-HHMMSS` in UTC.
pub(crate) fn time_stamp(seconds: u64) -> String {
    let day = Day::of_unix_seconds(seconds).to_string().replace('-', "");
    let (hour, minute, second) = time_of_day(seconds);
    format!("{day}-{hour:02}{minute:02}{second:02}")
}

/// Returns hour, minute and second in UTC, from seconds since 1970.
pub fn time_of_day(seconds: u64) -> (u64, u64, u64) {
    let second = seconds % 86_400;
    (second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_runs_are_those_that_are_alone_in_the_default_folder() {
        let base = tempfile::tempdir().unwrap();
        create_run_folder(base.path()).unwrap();
        let run = |number| default_run_path(base.path(), 0, 7, number);
        fs::write(run(1), "").unwrap();
        assert!(are_first_runs(&run(1), 1));
        fs::write(run(2), "").unwrap();
        assert!(!are_first_runs(&run(2), 1) && are_first_runs(&run(2), 2));
        let elsewhere = tempfile::tempdir().unwrap();
        let file = elsewhere.path().join("run.jsonl");
        fs::write(&file, "").unwrap();
        assert!(!are_first_runs(&file, 1));
        assert!(!are_first_runs(
            &base.path().join("gone/.deadheat/runs/x.jsonl"),
            1
        ));
    }

    #[test]
    fn the_path_tells_when_and_with_which_seed() {
        assert_eq!(
            default_run_path(Path::new("here"), 1_709_210_096, 7, 1),
            Path::new("here/.deadheat/runs/20240229-123456-00000007.jsonl")
        );
        assert_eq!(
            default_run_path(Path::new("here"), 1_709_210_096, 7, 2),
            Path::new("here/.deadheat/runs/20240229-123456-00000007-2.jsonl")
        );
    }

    #[test]
    fn only_names_that_nobody_chose_are_default_names() {
        let path = default_run_path(Path::new("here"), 1_709_210_096, u64::MAX, 1);
        assert!(is_default_run_name(
            path.file_name().unwrap().to_str().unwrap()
        ));
        assert!(is_default_run_name("20240229-123456-00000007-12.jsonl"));
        assert!(is_default_run_name(
            "20240229-123456-00000007.confirm.jsonl"
        ));
        for name in [
            "baseline.jsonl",
            "20240229-123456-00000007-1.jsonl",
            "20240229-123456-00000007-x.jsonl",
            "20240229-123456-00000007-2-2.jsonl",
            "20240229-123456.jsonl",
            "20240229-123456-00000007.json",
            "20240229-123456-0000000g.jsonl",
        ] {
            assert!(!is_default_run_name(name), "{name}");
        }
    }

    #[test]
    fn time_stamps_agree_with_the_calendar() {
        for (seconds, expected) in [
            (0, "19700101-000000"),
            (951_782_399, "20000228-235959"),
            (951_782_400, "20000229-000000"),
            (951_868_800, "20000301-000000"),
            (1_735_689_599, "20241231-235959"),
            (1_735_689_600, "20250101-000000"),
            (4_107_542_400, "21000301-000000"),
            (12_622_780_800 + 951_782_400, "24000229-000000"),
        ] {
            assert_eq!(time_stamp(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn a_new_folder_is_kept_out_of_version_control() {
        let base = tempfile::tempdir().unwrap();
        create_run_folder(base.path()).unwrap();
        let ignore = base.path().join(".deadheat/.gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        assert!(base.path().join(".deadheat/runs").is_dir());

        fs::remove_file(&ignore).unwrap();
        create_run_folder(base.path()).unwrap();
        assert!(!ignore.exists(), "a choice of the user is respected");
    }
}
