//! Temporary files and folders, with names that no other process can know beforehand.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Creates something in a folder under a name made of a random number, and returns its path. All
/// temporary files and folders of deadheat get their names here.
///
/// `name` turns a random number into a name. `create` must create the path exclusively, as `mkdir`,
/// `symlink` and `File::create_new` do, because these do not follow an existing link. If the name
/// is taken, the next number is tried.
///
/// # Errors
///
/// The first error of `create` other than [`AlreadyExists`](io::ErrorKind::AlreadyExists), with the
/// path.
pub fn under_new_name<T>(
    folder: &Path,
    name: impl Fn(u64) -> String,
    mut create: impl FnMut(&Path) -> io::Result<T>,
) -> Result<(PathBuf, T), (PathBuf, io::Error)> {
    for attempt in 0_u8..=u8::MAX {
        // Each of these hashers has different keys, which come from the system's random numbers.
        let path = folder.join(name(RandomState::new().hash_one(attempt)));
        match create(&path) {
            Ok(made) => return Ok((path, made)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err((path, error)),
        }
    }
    let error = io::ErrorKind::AlreadyExists.into();
    Err((folder.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn hex(random: u64) -> String {
        format!("x-{random:016x}")
    }

    #[test]
    fn every_name_is_new() {
        let mut names = BTreeSet::new();
        for _ in 0..1_000 {
            let (path, ()) = under_new_name(Path::new("a"), hex, |_| Ok(())).unwrap();
            assert_eq!(path.as_os_str().len(), "a/x-0123456789abcdef".len());
            assert!(names.insert(path));
        }
    }

    #[test]
    fn tries_another_name_if_one_is_taken_and_gives_up_at_any_other_error() {
        let mut taken = 3;
        let found = under_new_name(Path::new("a"), hex, |_| match taken {
            0 => Ok(7),
            _ => {
                taken -= 1;
                Err(io::ErrorKind::AlreadyExists.into())
            }
        });
        assert_eq!((found.unwrap().1, taken), (7, 0));
        let mut tries = 0;
        let (_, error) = under_new_name(Path::new("a"), hex, |_| -> io::Result<()> {
            tries += 1;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!((error.kind(), tries), (io::ErrorKind::StorageFull, 1));
        let always = |_: &Path| -> io::Result<()> { Err(io::ErrorKind::AlreadyExists.into()) };
        let (path, error) = under_new_name(Path::new("a"), hex, always).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(path, Path::new("a"));
    }
}
