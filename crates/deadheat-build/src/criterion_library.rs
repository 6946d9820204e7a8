//! Builds deadheat's own implementation of criterion from sources embedded in the program. It
//! replaces criterion when the bench targets of a suite are compiled, so that their functions race
//! sample by sample. Manifests and lock files do not change: the compiler gets another path for
//! `--extern criterion`.
//!
//! ```text
//! CACHE/deadheat/libraries/KEY/source/    the embedded sources
//! CACHE/deadheat/libraries/KEY/target/    the output of cargo
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{fs, io};

use deadheat_link::Digest;

use crate::artifacts::Messages;
use crate::disk::{self, entries, remove_all, remove_folder};
use crate::error::{BuildError, Note};
use crate::library::{Library, OfferedLibrary};
use crate::recipe::CargoBuild;
use crate::repository::Repository;
use crate::slot::{Executable, Index, Slot};
use crate::storage::Home;
use crate::subprocess::Finished;

/// The embedded sources: relative paths, and contents. Empty if deadheat was built from a registry,
/// where the package of deadheat-criterion is not next to this one.
const SOURCES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

const PACKAGE: &str = "deadheat-criterion";
const LIBRARY: &str = "deadheat_criterion";

const DEPENDENCIES: &str = "deps";

/// The features for async executors. The tokio executor is left out, because it would need the
/// suite's own tokio.
const FEATURES: &str = "async_futures,async_smol,async_std";

/// Compiler flags in addition to the user's. The metadata distinguishes the library's dependencies
/// from the same versions that the suite depends on. Bitcode is needed if the suite's profile asks
/// for LTO.
const FLAGS: [&str; 2] = ["-Cmetadata=deadheat", "-Cembed-bitcode=yes"];

#[derive(Debug)]
pub(crate) struct CriterionLibrary {
    pub(crate) offered: OfferedLibrary,
    /// Holds the lock, so that no other process removes the library.
    _slot: Slot,
}

impl CriterionLibrary {
    /// Builds the library with the compiler of `build`, or finds an earlier build in the user's
    /// cache. `compiler` is the output of `rustc -vV`.
    ///
    /// # Errors
    ///
    /// [`BuildError::Interrupted`], or a file that cannot be used. The inner `Err` is the reason
    /// why the library cannot be built here.
    pub(crate) fn make(
        build: &CargoBuild,
        compiler: &str,
        repository: &Repository<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Result<Self, String>, BuildError> {
        let home = match Home::of_libraries_for(&repository.top)? {
            Ok(home) => home,
            Err(why) => return Ok(Err(why)),
        };
        if SOURCES.is_empty() {
            return Ok(Err(
                "this build of deadheat lacks the sources of deadheat's version of criterion"
                    .to_owned(),
            ));
        }
        if let Err(problem) = fs::create_dir_all(&home.folder) {
            return Ok(Err(format!("{}: {problem}", home.folder.display())));
        }
        let flags = flags(build);
        let key = key(compiler, &flags);
        let interruption = &repository.interruption;
        let (slot, index) = Slot::open(&home.folder, &key, interruption, &mut || {
            tell(Note::WaitingForLibrary(Library::Criterion));
        })?;
        if let Some(index) = index {
            // If this fails, only the time of the last use is wrong.
            let _ = index.touch();
            let file = index
                .executables
                .into_iter()
                .next()
                .map(|library| library.path);
            return Ok(file
                .map(|file| Self {
                    offered: OfferedLibrary { file, key },
                    _slot: slot,
                })
                .ok_or_else(String::new));
        }
        tell(Note::BuildingCriterion);
        match built(build, &slot.folder, &flags, repository)? {
            Ok(file) => {
                home.trim();
                slot.share().map_err(BuildError::at(&slot.folder))?;
                Ok(Ok(Self {
                    offered: OfferedLibrary { file, key },
                    _slot: slot,
                }))
            }
            Err(problem) => {
                // If this fails, the next build removes the folder.
                let _ = slot.clear();
                Ok(Err(problem))
            }
        }
    }
}

/// Returns the name of the build's folder: a digest of the sources, the compiler and the flags, in
/// the form of a build's key.
fn key(compiler: &str, flags: &[OsString]) -> String {
    let mut all = Vec::new();
    let mut add = |part: &[u8]| {
        all.extend(part.len().to_le_bytes());
        all.extend(part);
    };
    for (name, content) in SOURCES {
        add(name.as_bytes());
        add(content);
    }
    add(compiler.as_bytes());
    for flag in flags {
        add(flag.as_encoded_bytes());
    }
    let Digest(digest) = Digest::of(&all);
    format!("{}-{}", &digest[..8], &digest[8..24])
}

/// Returns the user's compiler flags from the environment, followed by the library's own.
fn flags(build: &CargoBuild) -> Vec<OsString> {
    let variable = |name: &str| {
        let own = build.variables.iter().find(|(own, _)| own == name);
        let own = own.map(|(_, value)| value.clone());
        own.or_else(|| std::env::var(name).ok())
    };
    let theirs: Vec<String> = match variable("CARGO_ENCODED_RUSTFLAGS") {
        Some(encoded) => encoded.split('\u{1f}').map(str::to_owned).collect(),
        None => {
            let plain = variable("RUSTFLAGS").unwrap_or_default();
            plain.split_whitespace().map(str::to_owned).collect()
        }
    };
    let theirs = theirs.into_iter().filter(|flag| !flag.is_empty());
    let ours = FLAGS.into_iter().map(str::to_owned);
    theirs.chain(ours).map(OsString::from).collect()
}

/// Unpacks and builds the library below `folder`. Returns its path, or the reason why it cannot be
/// built.
fn built(
    build: &CargoBuild,
    folder: &Path,
    flags: &[OsString],
    repository: &Repository<'_>,
) -> Result<Result<PathBuf, String>, BuildError> {
    let source = folder.join("source");
    let unpacked = remove_folder(folder).and_then(|()| {
        SOURCES.iter().try_for_each(|(name, content)| {
            let file = source.join(name);
            fs::create_dir_all(file.parent().unwrap_or(&source))?;
            fs::write(file, content)
        })
    });
    if let Err(problem) = unpacked {
        return Ok(Err(format!("{}: {problem}", folder.display())));
    }
    let here = repository.top.join(&repository.inside);
    let mut command = build.cargo_of(&here, &repository.interruption);
    command
        .args([
            "build",
            "--release",
            "--message-format",
            "json-render-diagnostics",
        ])
        .args(["-p", PACKAGE, "--features", FEATURES, "--target-dir"])
        .arg(folder.join("target"))
        .args(build.is_offline().then_some("--offline"))
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}".as_ref()))
        .env("CARGO_BUILD_BUILD_DIR", folder.join("target"))
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .current_dir(&source)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let done = repository.interruption.run(&mut command, None)?;
    let library = Messages::read(&done.stdout).library(LIBRARY);
    let Some(file) = library.filter(|_| done.status.success()) else {
        return Ok(Err(format!(
            "deadheat's own criterion cannot be built ({})",
            first_error(&done)
        )));
    };
    // If this fails, unneeded files only take space.
    let _ = keep_libraries(&file);
    let mut index = Index::new(folder, "");
    index.executables.push(Executable {
        name: LIBRARY.to_owned(),
        path: file.clone(),
        directory: None,
    });
    index.write().map_err(BuildError::at(folder))?;
    Ok(Ok(file))
}

/// Returns the first error in cargo's output, which also contains progress messages.
fn first_error(done: &Finished) -> String {
    let said = String::from_utf8_lossy(&done.stderr);
    let error = said.lines().find_map(|line| line.strip_prefix("error"));
    error.map_or_else(
        || done.status.to_string(),
        |error| error.trim_start_matches(':').trim().to_owned(),
    )
}

/// Removes all output of cargo except the library `file` and its dependencies.
fn keep_libraries(file: &Path) -> io::Result<()> {
    for entry in file.parent().into_iter().flat_map(entries) {
        if entry != file && !entry.ends_with(DEPENDENCIES) {
            remove_all(&entry)?;
        }
    }
    for entry in entries(&file.with_file_name(DEPENDENCIES)) {
        if entry.extension().is_none_or(|end| end != "rlib") {
            remove_all(&entry)?;
        }
    }
    Ok(())
}

/// Returns true if the package or workspace of the user's folder uses criterion: a lock file
/// contains it, or, without a lock file, a manifest names it.
pub(crate) fn is_used(build: &CargoBuild, repository: &Repository<'_>) -> bool {
    let mut has_lock = false;
    for folder in build.lock_folders(repository) {
        if let Ok(lock) = disk::read_text(repository.top.join(folder).join("Cargo.lock")) {
            has_lock = true;
            if lock.lines().any(|line| line == "name = \"criterion\"") {
                return true;
            }
        }
    }
    !has_lock && named_in_a_manifest(repository)
}

fn named_in_a_manifest(repository: &Repository<'_>) -> bool {
    let listing = repository.git(&["ls-files", "-z"]).paths(["*Cargo.toml"]);
    let Ok(done) = repository.run(listing) else {
        return false;
    };
    let listing = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut manifests = listing.split('\0').filter(|name| !name.is_empty());
    manifests.any(|name| {
        let text = disk::read_text(repository.top.join(name)).unwrap_or_default();
        names_criterion(&text)
    })
}

/// Returns true if a manifest has a dependency named criterion that is not an alias of
/// deadheat-criterion.
fn names_criterion(manifest: &str) -> bool {
    manifest.lines().any(|line| {
        let rest = line.trim().strip_prefix("criterion");
        let is_key = rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']));
        let is_table = line.trim().ends_with("dependencies.criterion]");
        (is_key && !line.contains(PACKAGE)) || is_table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_carries_a_workspace_without_tests_and_dev_dependencies() {
        let text = |name: &str| {
            let found = SOURCES.iter().find(|(carried, _)| *carried == name);
            String::from_utf8(found.expect(name).1.to_vec()).unwrap()
        };
        assert!(text("Cargo.toml").contains("[workspace.dependencies]"));
        let manifest = text("crates/deadheat-criterion/Cargo.toml");
        assert!(manifest.contains("async_futures"));
        assert!(!manifest.contains("[dev-dependencies]") && !manifest.contains("[[example]]"));
        assert!(text("crates/deadheat-criterion/src/lib.rs").contains("criterion"));
        let names = || SOURCES.iter().map(|(name, _)| *name);
        assert!(names().any(|name| name.starts_with("crates/deadheat-engine/src/")));
        assert!(!names().any(|name| name.contains("/tests/") || name.contains("deadheat-cli")));
    }

    #[test]
    fn another_compiler_or_other_flags_are_another_build() {
        let flags = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let first = key("rustc 1.90.0", &flags(&["-Ca"]));
        assert_eq!(first.len(), 8 + 1 + 16);
        assert_eq!(first, key("rustc 1.90.0", &flags(&["-Ca"])));
        assert_ne!(first, key("rustc 1.91.0", &flags(&["-Ca"])));
        assert_ne!(first, key("rustc 1.90.0", &flags(&["-Cb"])));
    }

    #[test]
    fn a_manifest_names_criterion_as_a_key_or_a_table() {
        for manifest in [
            "[dev-dependencies]\ncriterion = \"0.5\"",
            "[dev-dependencies]\n  criterion={ version = \"0.7\" }",
            "criterion.workspace = true",
            "[dev-dependencies.criterion]\nversion = \"0.5\"",
            "[target.'cfg(unix)'.dev-dependencies.criterion]",
        ] {
            assert!(names_criterion(manifest), "{manifest}");
        }
        for manifest in [
            "criterion = { package = \"deadheat-criterion\", path = \"x\" }",
            "criterion-perf-events = \"0.4\"",
            "# criterion is slow",
            "[dev-dependencies]\ndivan = \"0.1\"",
        ] {
            assert!(!names_criterion(manifest), "{manifest}");
        }
    }
}
