//! Unpacks deadheat's own implementation of Google Benchmark, whose sources are embedded in the
//! program. A CMake dependency provider substitutes it for the Google Benchmark of a project.
//!
//! ```text
//! CACHE/deadheat/libraries/KEY/include/    the embedded sources
//! ```

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use deadheat_link::Digest;

use crate::disk::remove_folder;
use crate::error::{BuildError, Note};
use crate::library::Library;
use crate::repository::Repository;
use crate::slot::{Executable, Index, Slot};
use crate::storage::Home;

/// The embedded sources: paths below `include`, and contents.
const SOURCES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/google_benchmark.rs"));

const PROVIDER: &str = "google_benchmark/benchmark/provider.cmake";

/// The oldest CMake version that supports dependency providers.
const OLDEST: (u32, u32) = (3, 24);

#[derive(Debug)]
pub(crate) struct GoogleBenchmarkLibrary {
    pub(crate) provider: PathBuf,
    pub(crate) key: String,
    /// Holds the lock, so that no other process removes the sources.
    _slot: Slot,
}

impl GoogleBenchmarkLibrary {
    /// Unpacks the sources of deadheat's own Google Benchmark into the user's cache, or finds them
    /// there.
    ///
    /// # Errors
    ///
    /// [`BuildError::Interrupted`], or a program or file that cannot be used. The inner `Err` is
    /// the reason why deadheat's implementation cannot be used here.
    pub(crate) fn make(
        repository: &Repository<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Result<Self, String>, BuildError> {
        let home = match Home::of_libraries_for(&repository.top)? {
            Ok(home) => home,
            Err(why) => return Ok(Err(why)),
        };
        if !SOURCES.iter().any(|(name, _)| *name == PROVIDER) {
            return Ok(Err(
                "this build of deadheat lacks the sources of its own Google Benchmark".to_owned(),
            ));
        }
        let version = version(repository)?;
        if version.is_none_or(|version| version < OLDEST) {
            let (major, minor) = OLDEST;
            return Ok(Err(format!(
                "deadheat's Google Benchmark needs CMake {major}.{minor} or later"
            )));
        }
        if let Err(problem) = fs::create_dir_all(&home.folder) {
            return Ok(Err(format!("{}: {problem}", home.folder.display())));
        }
        let key = key();
        let interruption = &repository.interruption;
        let (slot, index) = Slot::open(&home.folder, &key, interruption, &mut || {
            tell(Note::WaitingForLibrary(Library::GoogleBenchmark));
        })?;
        let provider = slot.folder.join("include").join(PROVIDER);
        match index {
            // If this fails, only the time of the last use is wrong.
            Some(index) => drop(index.touch()),
            None => {
                unpack(&slot).map_err(BuildError::at(&slot.folder))?;
                home.trim();
                slot.share().map_err(BuildError::at(&slot.folder))?;
            }
        }
        Ok(Ok(Self {
            provider,
            key,
            _slot: slot,
        }))
    }
}

fn version(repository: &Repository<'_>) -> Result<Option<(u32, u32)>, BuildError> {
    let mut command = Command::new("cmake");
    command.arg("--version").current_dir(&repository.top);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let done = repository.interruption.run(&mut command, None)?;
    Ok(version_in(&String::from_utf8_lossy(&done.stdout)))
}

fn version_in(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("cmake version ")?.split('.');
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

fn unpack(slot: &Slot) -> std::io::Result<()> {
    remove_folder(&slot.folder)?;
    let include = slot.folder.join("include");
    for (name, content) in SOURCES {
        let file = include.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&include))?;
        fs::write(file, content)?;
    }
    let mut index = Index::new(&slot.folder, "");
    index.executables.push(Executable {
        name: PROVIDER.to_owned(),
        path: include.join(PROVIDER),
        directory: None,
    });
    index.write()
}

/// Returns the name of the folder: a digest of the sources, in the form of a build's key.
fn key() -> String {
    let mut all = Vec::new();
    for part in SOURCES
        .iter()
        .flat_map(|(name, text)| [name.as_bytes(), text])
    {
        all.extend(part.len().to_le_bytes());
        all.extend(part);
    }
    let Digest(digest) = Digest::of(&all);
    format!("{}-{}", &digest[..8], &digest[8..24])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_carries_header_provider_and_sources() {
        let has = |end: &str| SOURCES.iter().any(|(name, _)| name.ends_with(end));
        for name in [PROVIDER, "benchmark/benchmark.h", "deadheat.h", "worker.cc"] {
            assert!(has(name), "{name}");
        }
    }

    #[test]
    fn a_version_is_read_from_the_first_line() {
        assert_eq!(
            version_in("cmake version 3.25.1\n\nCMake suite"),
            Some((3, 25))
        );
        assert_eq!(version_in("cmake version 4.0-rc1"), None);
        assert_eq!(version_in("something"), None);
    }
}
