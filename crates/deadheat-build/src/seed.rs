//! Dependencies that an earlier build made, for one that needs the same; and what nobody needs of
//! a build once it is finished.

use std::collections::BTreeSet;
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

/// Copies a file or folder with its times. Files that are never written in place get a second
/// name instead, where the file system allows it: they take no room then.
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
    if is_replaced_whole(from) && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    fs::File::options()
        .read(true)
        .open(to)?
        .set_modified(about.modified()?)
}

/// Returns true for a file that is removed before it is written anew. Cargo itself gives second names to what rustc
/// makes; build scripts may write into their files in place, and so does cargo into its notes.
fn is_replaced_whole(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let folder = file.parent().and_then(Path::file_name);
    let is_compiled = matches!(extension, Some("rlib" | "rmeta" | "so"));
    (is_compiled && folder == Some("deps".as_ref())) || is_stored_input(file) || is_script(file)
}

/// Returns true for an object of the store of links, which is named after its content.
fn is_stored_input(file: &Path) -> bool {
    file.parent()
        .is_some_and(|folder| folder.ends_with(".deadheat/links/inputs"))
}

/// Returns true for the program of a build script: `build/NAME-HASH/build-script-NAME`.
fn is_script(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_named_so = name.starts_with("build-script-") || name.starts_with("build_script_");
    is_named_so
        && file.extension().is_none()
        && file.ancestors().nth(2).and_then(Path::file_name) == Some("build".as_ref())
}

/// Removes from a finished target folder what neither a race nor a later build needs: what was
/// compiled of the commit's own packages on the way to its executables. What is named in `kept`,
/// below the folder, stays, and so do programs, libraries that are loaded at run time, and all
/// that build scripts wrote.
pub(crate) fn prune(target: &Path, kept: &[PathBuf]) {
    let kept: BTreeSet<PathBuf> = kept.iter().map(|path| target.join(path)).collect();
    for profile in profiles(target) {
        for path in entries(&profile.join(".fingerprint")) {
            if !kept.contains(&path) {
                remove(&path);
            }
        }
        for path in entries(&profile.join("deps")).chain(entries(&profile)) {
            let extension = path.extension().and_then(|extension| extension.to_str());
            let is_on_the_way = matches!(extension, Some("rlib" | "rmeta" | "d" | "o"));
            if is_on_the_way && !kept.contains(&path) {
                remove(&path);
            }
        }
        for folder in entries(&profile.join("build")).filter(|folder| !kept.contains(folder)) {
            entries(&folder)
                .filter(|path| is_script(path))
                .for_each(|path| remove(&path));
        }
        remove(&profile.join("incremental"));
    }
}

/// The folders of cargo's profiles: `PROFILE` and `TRIPLE/PROFILE`.
fn profiles(target: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| entries(folder).collect::<Vec<_>>();
    let first = below(target);
    let second = first.iter().flat_map(|folder| below(folder));
    let both = first.iter().cloned().chain(second);
    both.filter(|folder| folder.join(".fingerprint").is_dir())
        .collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// Removes a file or folder. One that cannot be removed takes room, and does no other harm.
fn remove(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
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
    fn what_is_only_ever_replaced_takes_no_room_twice() {
        use std::os::unix::fs::MetadataExt;

        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let expected = [
            ("release/deps/libdep-0.rlib", 2),
            ("release/deps/dep-0.d", 1),
            ("release/deps/.deadheat/links/inputs/0.o", 2),
            ("release/deps/.deadheat/links/index", 1),
            ("release/build/dep-0/build-script-build", 2),
            ("release/build/dep-0/out/lib.so", 1),
            ("release/.fingerprint/dep-0/lib-dep", 1),
        ];
        for (path, _) in expected {
            let path = from.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files = vec!["release".into()];
        let target = from;
        Seed { target, files }.plant(&to);
        for (path, names) in expected {
            assert_eq!(
                fs::metadata(to.join(path)).unwrap().nlink(),
                names,
                "{path}"
            );
        }
    }

    #[test]
    fn of_a_finished_build_stays_what_is_raced_read_or_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path();
        let staying = [
            "release/deps/bench-1",
            "release/deps/.deadheat/links/bench-1.json",
            "release/deps/libdep-0.rlib",
            "release/deps/libown-1.so",
            "release/.fingerprint/dep-0/lib-dep",
            "release/build/own-1/out/table",
            "release/build/dep-0/build-script-build",
            "release/tool",
            "x86/bench/.fingerprint/dep-0/lib-dep",
        ];
        let going = [
            "release/deps/libown-1.rlib",
            "release/deps/own-1.d",
            "release/libown.rlib",
            "release/.fingerprint/own-1/lib-own",
            "release/build/own-1/build-script-build",
            "release/incremental/own-1/part",
            "x86/bench/deps/own-1.o",
        ];
        for path in staying.iter().chain(&going) {
            let path = target.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let kept = [
            "release/deps/libdep-0.rlib",
            "release/.fingerprint/dep-0",
            "release/build/dep-0",
            "x86/bench/.fingerprint/dep-0",
        ];
        prune(target, &kept.map(PathBuf::from));
        assert!(staying.iter().all(|path| target.join(path).exists()));
        let left: Vec<_> = going
            .iter()
            .filter(|path| target.join(path).exists())
            .collect();
        assert_eq!(left, [&""; 0]);
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
