//! Where the rules of a project are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FormatError, cannot_read};

/// The name of the file that is looked for.
pub const RULES_FILE: &str = "deadheat.toml";

/// The nearest `deadheat.toml`, in this folder or one above it up to the root
/// of the file system, named as seen from the folder; an empty path is the
/// current folder. `None` where there is none.
pub fn find_rules(folder: &Path) -> Result<Option<PathBuf>, FormatError> {
    let here = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let absolute = fs::canonicalize(here).map_err(cannot_read(here))?;
    let mut seen = folder.to_owned();
    for place in absolute.ancestors() {
        let file = place.join(RULES_FILE);
        match fs::metadata(&file) {
            // A folder or a pipe of that name is something else.
            Ok(about) if about.is_file() => return Ok(Some(seen.join(RULES_FILE))),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_read(&file)(error)),
        }
        seen.push("..");
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_folder_of_that_name_is_passed_over() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("a");
        fs::create_dir_all(below.join(RULES_FILE)).unwrap();
        fs::write(base.path().join(RULES_FILE), "").unwrap();
        let found = find_rules(&below).unwrap().unwrap();
        assert_eq!(found, below.join("..").join(RULES_FILE));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = find_rules(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
