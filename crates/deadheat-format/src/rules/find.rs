//! Where the rules of a project are.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::error::{FormatError, cannot_read};

/// The name of the file that is looked for.
pub const RULES_FILE: &str = "deadheat.toml";

/// The nearest `deadheat.toml`, in this folder or one above it up to the root
/// of the file system, named as seen from the folder; an empty path is the
/// current folder. `None` where there is none; what has the name and is no file is
/// an error.
pub fn find_rules(folder: &Path) -> Result<Option<PathBuf>, FormatError> {
    let here = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let absolute = fs::canonicalize(here).map_err(cannot_read(here))?;
    let mut seen = folder.to_owned();
    for place in absolute.ancestors() {
        let file = place.join(RULES_FILE);
        // A link is followed only once it is known to be there: one that leads
        // nowhere is a mistake, not a project without rules.
        match fs::symlink_metadata(&file).and_then(|_| fs::metadata(&file)) {
            Ok(about) if about.is_file() => return Ok(Some(seen.join(RULES_FILE))),
            Ok(about) => return Err(no_rules(&seen, kind(about.file_type()))),
            Err(_) if file.is_symlink() => {
                return Err(no_rules(&seen, "a link that leads nowhere"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_read(&file)(error)),
        }
        seen.push("..");
    }
    Ok(None)
}

/// Rules that nobody reads would be gates that are open: what stands where they
/// should be is told.
fn no_rules(seen: &Path, kind: &str) -> FormatError {
    let problem = format!("it is {kind}, and no file of rules; --no-config goes without");
    cannot_read(&seen.join(RULES_FILE))(io::Error::other(problem))
}

fn kind(kind: fs::FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_nearest_file_above_is_found_and_named_as_seen_from_below() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::write(base.path().join(RULES_FILE), "").unwrap();
        let found = find_rules(&below).unwrap().unwrap();
        assert_eq!(found, below.join("../..").join(RULES_FILE));
        assert!(found.is_file());

        fs::write(base.path().join("a").join(RULES_FILE), "").unwrap();
        let nearer = find_rules(&below).unwrap().unwrap();
        assert_eq!(nearer, below.join("..").join(RULES_FILE));
        assert_eq!(
            find_rules(base.path()).unwrap().unwrap(),
            base.path().join(RULES_FILE)
        );
    }

    #[test]
    fn what_is_no_file_is_told_and_not_passed_over() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("a");
        let here = below.join(RULES_FILE);
        fs::create_dir(&below).unwrap();
        fs::write(base.path().join(RULES_FILE), "").unwrap();
        let told = || find_rules(&below).unwrap_err().to_string();

        fs::create_dir(&here).unwrap();
        assert!(told().ends_with("it is a folder, and no file of rules; --no-config goes without"));
        assert!(told().contains(&here.display().to_string()));
        fs::remove_dir(&here).unwrap();

        symlink("nowhere", &here).unwrap();
        assert!(told().contains("a link that leads nowhere"));
        fs::remove_file(&here).unwrap();

        symlink("/dev/null", &here).unwrap();
        assert!(told().contains("a device"));
        fs::remove_file(&here).unwrap();

        let _listener = UnixListener::bind(&here).unwrap();
        assert!(told().contains("a socket"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = find_rules(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
