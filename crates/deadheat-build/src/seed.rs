//! Dependencies that an earlier build made, for one that needs the same.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What may be taken over. Cargo itself decides whether it is fresh: it knows
/// by hashes and times, which are copied too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seed {
    /// The folder in which cargo built.
    pub(crate) target: PathBuf,
    /// Files and folders below it.
    pub(crate) files: Vec<PathBuf>,
}

impl Seed {
    /// Copies everything into another target folder. What is gone by now, or
    /// has no room, is built again.
    pub(crate) fn plant(&self, target: &Path) {
        for file in &self.files {
            let planted = copy(&self.target.join(file), &target.join(file));
            if planted.is_err_and(|problem| problem.kind() != io::ErrorKind::NotFound) {
                // Half of it would do no harm, but a full disk might.
                let _ = fs::remove_dir_all(target);
                return;
            }
        }
    }
}

/// Copies a file or folder with its times. A copy, not a second name: cargo
/// writes into some files in place.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let about = fs::metadata(from)?;
    if about.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to)?;
    fs::File::options()
        .read(true)
        .open(to)?
        .set_modified(about.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn copies_keep_their_times_and_have_a_life_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("build/x/out")).unwrap();
        fs::write(from.join("build/x/out/made"), "1").unwrap();
        let then = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let made = fs::File::options()
            .append(true)
            .open(from.join("build/x/out/made"));
        made.unwrap().set_modified(then).unwrap();
        let seed = Seed {
            target: from.clone(),
            files: vec!["build/x".into(), "gone".into()],
        };
        seed.plant(&to);
        let copy = to.join("build/x/out/made");
        assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), then);
        fs::write(&copy, "2").unwrap();
        assert_eq!(fs::read(from.join("build/x/out/made")).unwrap(), b"1");
    }

    #[test]
    fn what_cannot_be_taken_over_whole_is_not_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(&from).unwrap();
        fs::create_dir_all(to.join("b")).unwrap();
        for name in ["a", "b"] {
            fs::write(from.join(name), "").unwrap();
        }
        let files = vec!["a".into(), "b".into()];
        Seed {
            target: from,
            files,
        }
        .plant(&to);
        assert!(!to.exists(), "a file cannot take the place of a folder");
    }
}
