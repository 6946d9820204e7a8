//! Joins paths with names that come from a file or a repository and are not trusted.

use std::fs;
use std::path::{Path, PathBuf};

use deadheat_model::is_inner_path;

/// The error if a name leads out of the folder that it is joined to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' {problem}, so it leads out of {}", name.display(), root.display())]
pub struct OutsideError {
    name: PathBuf,
    root: PathBuf,
    problem: &'static str,
}

/// Joins `name`, which comes from a file or a repository, to the folder `root`. The result is below
/// `root`: the name has no `..`, no root and no NUL, and no part of it, not even the last, is a
/// symbolic link. `root` itself may contain symbolic links. The path need not exist.
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
