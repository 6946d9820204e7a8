//! Paths made of names that come from a file or a repository.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_model::is_inner_path;

/// A name leads out of the folder that it is to be joined to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' {problem}, so it leads out of {}", name.display(), root.display())]
pub struct OutsideError {
    name: PathBuf,
    root: PathBuf,
    problem: &'static str,
}

/// Joins a name from a file or a repository to a folder, whose own path may have links. The result
/// is below the folder: the name has no `..`, no root and no NUL, and nothing on the way is a
/// symbolic link, not even the last part. The path need not exist.
///
/// # Errors
///
/// [`OutsideError`] if the name leads elsewhere.
pub fn join_inside(root: &Path, name: &Path) -> Result<PathBuf, OutsideError> {
    let outside = |problem| OutsideError {
        name: name.to_owned(),
        root: root.to_owned(),
        problem,
    };
    if !is_inner_path(name) {
        return Err(outside("is not a plain path"));
    }
    let mut path = root.to_owned();
    for part in name {
        path.push(part);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Err(outside("passes a symbolic link"));
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_joined_name_stays_below_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        symlink("/nowhere", root.join("a/dangling")).unwrap();
        for name in ["a", "a/b", "new/one", "..a"] {
            assert_eq!(join_inside(&root, Path::new(name)), Ok(root.join(name)));
        }
        for name in [
            "",
            "..",
            "a/../..",
            "/etc",
            "a\0b",
            "out",
            "out/passwd",
            "a/dangling",
        ] {
            let refused = join_inside(&root, Path::new(name)).unwrap_err();
            assert!(refused.to_string().contains("leads out of"), "{refused}");
        }
    }

    #[test]
    fn the_folder_itself_may_be_reached_by_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        fs::create_dir(folder.path().join("real")).unwrap();
        symlink("real", &link).unwrap();
        assert_eq!(join_inside(&link, Path::new("a")), Ok(link.join("a")));
    }
}
