//! Computes the key of a build, a digest of all its inputs. Also detects changes in packages
//! outside of the repository, whose content the commit id does not cover.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use deadheat_link::Digest;
use serde::{Deserialize, Serialize};

use crate::disk::entries;
use crate::error::BuildError;
use crate::repository::{Commit, Repository};

/// Names of environment variables that affect the result of a build.
const VARIABLES: [&str; 36] = [
    "RUSTC",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUSTC_BOOTSTRAP",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CC",
    "CXX",
    "CPP",
    "AS",
    "AR",
    "LD",
    "NM",
    "RANLIB",
    "FC",
    "CPPFLAGS",
    "CFLAGS",
    "CXXFLAGS",
    "ASFLAGS",
    "ARFLAGS",
    "FFLAGS",
    "LDFLAGS",
    "LDLIBS",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LD_RUN_PATH",
    "LIBCLANG_PATH",
    "GOWORK",
    "SOURCE_DATE_EPOCH",
    MAKEFLAGS,
    "GNUMAKEFLAGS",
];
/// The options of `make`. If a Makefile starts deadheat, they also contain the number of jobs and
/// the path of the job server, which differs from one run of `make` to the next.
const MAKEFLAGS: &str = "MAKEFLAGS";
/// Beginnings of the names of further environment variables that affect the result of a build.
const PREFIXES: [&str; 14] = [
    "CARGO_BUILD_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "CC_",
    "CXX_",
    "AR_",
    "CFLAGS_",
    "CXXFLAGS_",
    "CMAKE_",
    "PKG_CONFIG",
    "BINDGEN_",
    "HOST_",
    "TARGET_",
];
/// Environment variables that are in `VARIABLES` or begin with one of `PREFIXES`, but change only
/// where and how fast a build runs. They do not affect the key of a build.
const INDIFFERENT: [&str; 6] = [
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
];

/// Build tools. Replacing one of them changes the key, because the result of a build may change.
const TOOLS: [&str; 14] = [
    "cc", "c++", "gcc", "g++", "clang", "clang++", "ld", "lld", "mold", "cmake", "make", "go",
    "rustc", "cargo",
];

/// The inputs of a key, each with a length prefix.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyInputs(Vec<u8>);

impl KeyInputs {
    /// Collects the inputs that do not depend on the recipe: deadheat's version, the user's folder
    /// in the repository, git's settings for checking out files, environment variables and build
    /// tools.
    pub(crate) fn of_the_surroundings(repository: &Repository<'_>) -> Result<Self, BuildError> {
        let mut this = Self::default();
        this.add("deadheat", env!("CARGO_PKG_VERSION"));
        this.add("inside", &repository.inside);
        this.add(
            "checkout",
            OsStr::from_bytes(&repository.checkout_settings()?),
        );
        for file in repository.attributes_files()? {
            this.add_file(&file);
        }
        let mut variables: Vec<_> = std::env::vars_os()
            .filter(|(name, _)| is_heeded(name))
            .collect();
        variables.sort();
        for (name, value) in variables {
            let value = match name == MAKEFLAGS {
                true => without_jobs(&value),
                false => value,
            };
            this.add("variable", name);
            this.add("value", value);
        }
        for tool in TOOLS {
            if let Some((path, about)) = found(tool) {
                this.add("tool", path);
                let stamp = [about.size(), about.mtime().cast_unsigned(), about.ino()];
                this.add("stamp", format!("{stamp:?}"));
            }
        }
        Ok(this)
    }

    pub(crate) fn add_file(&mut self, file: &Path) {
        if file.exists() {
            self.add_content("file", file, file);
        }
    }

    /// Adds a name of this kind with the content of a file; a file that cannot be read counts as
    /// empty.
    pub(crate) fn add_content(&mut self, kind: &str, name: &Path, file: &Path) {
        let digest = Digest::of_file(file).unwrap_or_else(|_| Digest::of(b""));
        self.add(kind, name);
        self.add("content", digest.0);
    }

    pub(crate) fn add(&mut self, kind: &str, value: impl AsRef<OsStr>) {
        for bytes in [kind.as_bytes(), value.as_ref().as_bytes()] {
            self.0.extend_from_slice(&bytes.len().to_le_bytes());
            self.0.extend_from_slice(bytes);
        }
    }

    /// Returns the first 16 digits of the digest of the inputs.
    pub(crate) fn digest(&self) -> String {
        let Digest(digest) = Digest::of(&self.0);
        digest[..16].to_owned()
    }

    /// Returns the key for a build of this commit: its short id, and 16 digits of the digest.
    pub(crate) fn key(&self, commit: &Commit) -> String {
        let mut all = self.clone();
        all.add("commit", &commit.id);
        let Digest(digest) = Digest::of(&all.0);
        format!("{}-{}", commit.short(), &digest[..16])
    }
}

fn is_heeded(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is_wrapper = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER");
    let listed = VARIABLES.contains(&name) || PREFIXES.iter().any(|start| name.starts_with(start));
    listed && !is_wrapper && !INDIFFERENT.contains(&name)
}

/// Returns the value of `MAKEFLAGS` without the options that only choose how many jobs run at once.
fn without_jobs(value: &OsStr) -> OsString {
    let text = value.to_string_lossy();
    let is_of_jobs = |word: &&str| {
        let count = word.strip_prefix("-j");
        let is_count = count.is_some_and(|count| count.bytes().all(|sign| sign.is_ascii_digit()));
        is_count || word.starts_with("--jobserver-") || word.starts_with("--jobs")
    };
    let words = text.split_whitespace().filter(|word| !is_of_jobs(word));
    words.collect::<Vec<_>>().join(" ").into()
}

/// Looks up a program in `PATH`.
fn found(tool: &str) -> Option<(PathBuf, fs::Metadata)> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|folder| {
        let file = folder.join(tool).canonicalize().ok()?;
        let about = fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
        Some((file, about))
    })
}

/// Names of folders that are skipped because they contain no sources.
pub(crate) const PASSED_OVER: [&str; 4] = ["target", ".git", ".deadheat", "node_modules"];

/// A package outside of the repository, with a digest of the names, sizes and times of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PathDependency {
    folder: PathBuf,
    stamp: String,
}

impl PathDependency {
    pub(crate) fn now(folder: PathBuf) -> Self {
        let mut seen = Vec::new();
        walk(&folder, &mut seen);
        seen.sort();
        let Digest(stamp) = Digest::of(seen.join("\n").as_bytes());
        Self { folder, stamp }
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        Self::now(self.folder.clone()) == *self
    }
}

fn walk(folder: &Path, seen: &mut Vec<String>) {
    for path in entries(folder) {
        let Ok(about) = fs::symlink_metadata(&path) else {
            continue;
        };
        let is_passed_over = PASSED_OVER.iter().any(|passed| path.ends_with(passed));
        if about.is_dir() && !is_passed_over {
            walk(&path, seen);
        } else if !about.is_dir() {
            let (seconds, ns) = (about.mtime(), about.mtime_nsec());
            seen.push(format!("{path:?} {} {seconds}.{ns}", about.size()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_of_a_build_changes_its_key() {
        let commit = |id: &str| Commit {
            name: "main".to_owned(),
            id: id.to_owned(),
        };
        let (one, two) = (commit("0123456789abcdef"), commit("0123456789abcdee"));
        let mut plain = KeyInputs::default();
        plain.add("a", "bc");
        let mut other = KeyInputs::default();
        other.add("ab", "c");
        let keys = [plain.key(&one), plain.key(&two), other.key(&one)];
        assert!(
            keys.iter().all(|key| key.starts_with("01234567-")),
            "{keys:?}"
        );
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2]);
        assert_eq!(plain.key(&one), plain.clone().key(&one));
    }

    #[test]
    fn only_variables_that_affect_the_result_change_the_key() {
        for name in [
            "RUSTFLAGS",
            "CARGO_PROFILE_BENCH_LTO",
            "CFLAGS_x86_64",
            "CXX",
            "CARGO_INCREMENTAL",
            "CPLUS_INCLUDE_PATH",
            "LIBRARY_PATH",
            "MAKEFLAGS",
            "PKG_CONFIG_PATH",
            "PKG_CONFIG_LIBDIR",
            "PKG_CONFIG_SYSROOT_DIR",
        ] {
            assert!(is_heeded(name.as_ref()), "{name}");
        }
        for name in [
            "CARGO",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_JOBS",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
            "PATH",
            "HOME",
        ] {
            assert!(!is_heeded(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn the_number_of_jobs_of_make_does_not_change_the_key() {
        let value = "k -j8 --jobserver-auth=fifo:/tmp/GMfifo12 -- CFLAGS=-O3";
        assert_eq!(without_jobs(value.as_ref()), "k -- CFLAGS=-O3");
        assert_eq!(without_jobs("-j -jk".as_ref()), "-jk");
    }

    #[test]
    fn a_dependency_notices_file_changes_but_not_builds() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("src")).unwrap();
        fs::write(path("src/lib.rs"), "1").unwrap();
        let before = || PathDependency::now(folder.path().to_owned());
        let first = before();
        fs::create_dir(path("target")).unwrap();
        fs::write(path("target/made"), "").unwrap();
        assert!(first.is_unchanged());
        fs::write(path("src/lib.rs"), "22").unwrap();
        assert!(!first.is_unchanged());
        let second = before();
        fs::write(path("src/new.rs"), "").unwrap();
        assert!(!second.is_unchanged());
        let third = before();
        fs::remove_file(path("src/lib.rs")).unwrap();
        assert!(!third.is_unchanged());
    }
}
