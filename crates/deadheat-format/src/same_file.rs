//! Determines whether two paths lead to the same file, even one that does not exist.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::platform::identity;

/// Maximum length of a chain of links to follow, as in the kernel.
const MOST_LINKS: usize = 40;

/// The file that a path leads to; links are followed. Two paths with equal values lead to the same
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileIdentity {
    /// A file or folder that exists, under any of its names.
    Existing {
        /// The device number.
        device: u64,
        /// The inode number on the device.
        inode: u64,
    },
    /// A file that does not exist: its absolute path without links.
    Missing(PathBuf),
    /// A device, pipe or socket. Writing to it replaces nothing.
    Special,
}

impl FileIdentity {
    /// Looks up a path, relative to the current folder.
    pub fn of(path: impl AsRef<Path>) -> Self {
        let path = goal_of(path.as_ref());
        match fs::metadata(&path) {
            Ok(about) if about.is_file() || about.is_dir() => match identity(&path, &about) {
                Some((device, inode)) => Self::Existing { device, inode },
                None => Self::Missing(resolved(&path)),
            },
            Ok(_) => Self::Special,
            Err(_) => Self::Missing(resolved(&path)),
        }
    }

    /// Returns true unless the path leads to a device, pipe or socket.
    pub fn is_replaceable(&self) -> bool {
        *self != Self::Special
    }
}

/// Returns the absolute path without links. The file need not exist.
pub fn path_without_links(path: impl AsRef<Path>) -> PathBuf {
    resolved(&goal_of(path.as_ref()))
}

/// Follows links that lead to a missing file. The path of an existing file is returned unchanged.
fn goal_of(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if path.exists() {
            break;
        }
        let Ok(goal) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(goal);
    }
    path
}

/// Returns the absolute path. Links are followed in the part that exists; `..` is taken literally
/// in the rest.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut rest: Vec<OsString> = Vec::new();
    let mut parts: Vec<Component<'_>> = path.components().collect();
    loop {
        let existing: PathBuf = parts.iter().collect();
        if let Ok(existing) = fs::canonicalize(&existing) {
            let mut whole = existing;
            for part in rest.iter().rev() {
                match part == ".." {
                    true => drop(whole.pop()),
                    false => whole.push(part),
                }
            }
            return whole;
        }
        match parts.pop() {
            Some(part) => rest.push(part.as_os_str().to_owned()),
            None => return path,
        }
    }
}

/// Returns true if both paths name the same existing file.
pub fn is_same_file(one: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let one = FileIdentity::of(one);
    matches!(one, FileIdentity::Existing { .. }) && one == FileIdentity::of(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_has_one_identity_under_all_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let [file, hard, soft, twice, other] =
            ["file", "hard", "soft", "twice", "other"].map(|name| folder.path().join(name));
        for path in [&file, &other] {
            fs::write(path, "x").unwrap();
        }
        fs::hard_link(&file, &hard).unwrap();
        symlink("file", &soft).unwrap();
        symlink(&soft, &twice).unwrap();
        let dotted = folder
            .path()
            .join("./../")
            .join(folder.path())
            .join("./file");
        let identity = FileIdentity::of(&file);
        for name in [&hard, &soft, &twice, &dotted] {
            assert_eq!(FileIdentity::of(name), identity, "{}", name.display());
            assert!(is_same_file(name, &file));
        }
        assert_ne!(FileIdentity::of(&other), identity);
        assert!(!is_same_file(&file, folder.path()));
    }

    #[test]
    fn a_file_that_does_not_exist_has_one_identity_by_all_ways_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        symlink("a/new", at("link")).unwrap();
        symlink("link", at("link-of-link")).unwrap();
        let identity = FileIdentity::of(at("a/new"));
        assert!(matches!(identity, FileIdentity::Missing(_)));
        for name in [
            "b/new",
            "a/../a/new",
            "link",
            "link-of-link",
            "missing/../a/new",
        ] {
            assert_eq!(FileIdentity::of(at(name)), identity, "{name}");
        }
        assert_ne!(FileIdentity::of(at("a/old")), identity);
        assert_ne!(FileIdentity::of(at("new")), identity);
        assert!(!is_same_file(at("a/new"), at("a/new")), "nothing exists");
        assert_eq!(FileIdentity::of("x/y"), FileIdentity::of("./x/./y"));
    }

    #[test]
    fn devices_are_never_replaced_and_a_loop_of_links_ends() {
        for device in ["/dev/null", "/dev/full"] {
            assert!(!FileIdentity::of(device).is_replaceable());
        }
        let folder = tempfile::tempdir().unwrap();
        symlink("loop", folder.path().join("loop")).unwrap();
        assert!(FileIdentity::of(folder.path().join("loop")).is_replaceable());
    }
}
