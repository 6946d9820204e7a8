//! One neutral link: the recorded call of the driver, shuffled.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;

use super::linker::{Family, Linker};
use super::ordering::FunctionSections;
use super::words::{linker_word, neutral_words};
use crate::driver::response;
use crate::object::is_executable;
use crate::record::{Argument, LinkRecord};

/// From how many bytes on the arguments go through a response file: well below
/// what any system takes as arguments.
const LONG_CALL: usize = 100_000;

/// How many bytes, besides twice the executable, make a disk that is not full.
const ROOM: u64 = 1 << 16;

/// How a recorded link is made again with one linker, for any seed.
#[derive(Debug)]
pub(crate) struct Recipe<'a> {
    record: &'a LinkRecord,
    /// The folder `.deadheat/links`.
    pub(crate) home: &'a Path,
    linker: &'a Linker,
    /// That the linker may use, where it has a choice.
    threads: usize,
    /// Gathered when a seed first needs them.
    sections: OnceLock<FunctionSections>,
}

/// Why a link came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkFailure {
    /// No room for its output.
    #[error("no space is left for neutral links in {}; make room there: {said}", folder.display())]
    NoSpace {
        /// The folder `.deadheat/links`.
        folder: PathBuf,
        /// The words of who noticed.
        said: String,
    },
    /// The driver or its linker did not like it.
    #[error("{said}")]
    Refused {
        /// The first lines of what they said.
        said: String,
    },
}

impl<'a> Recipe<'a> {
    /// The link of `record`, whose inputs are kept in `home`, by `linker`.
    /// So many links run at once.
    pub(crate) fn new(
        record: &'a LinkRecord,
        home: &'a Path,
        linker: &'a Linker,
        at_once: usize,
    ) -> Self {
        Self {
            record,
            home,
            linker,
            threads: (cores() / at_once.max(1)).max(1),
            sections: OnceLock::new(),
        }
    }

    /// Links into `output`, shuffled by the seed, or in the order of the inputs.
    /// What else has to be written goes to `scratch`, a folder of this link.
    ///
    /// # Errors
    ///
    /// Whatever kept it from becoming an executable. A torn `output` may be left.
    pub(crate) fn link(
        &self,
        seed: Option<u32>,
        output: &Path,
        scratch: &Path,
    ) -> Result<(), LinkFailure> {
        let broken = |error: io::Error| failure_of(&error, self.home);
        let mut words = self.words();
        if let Some(seed) = seed {
            words.extend(self.shuffle(seed, scratch).map_err(broken)?);
        }
        words.push("-o".to_owned());
        words.push(output.display().to_string());
        let mut command = driver(self.record);
        if words.iter().map(|word| word.len() + 1).sum::<usize>() > LONG_CALL {
            let file = scratch.join("arguments");
            fs::write(&file, response::join(&words)).map_err(broken)?;
            command.arg(format!("@{}", file.display()));
        } else {
            command.args(&words);
        }
        let done = run(self.record, &mut command)?;
        if !done.status.success() {
            let failure = failure_of_driver(&done, self.home);
            let _ = fs::remove_file(output);
            return Err(self.unless_full(failure, scratch));
        }
        check_executable(output).map_err(|said| LinkFailure::Refused { said })
    }

    /// The failure, or that the disk is full: not every linker says so. (lld
    /// says "No such file or directory" when it finds no room.)
    fn unless_full(&self, failure: LinkFailure, scratch: &Path) -> LinkFailure {
        let LinkFailure::Refused { said } = failure else {
            return failure;
        };
        let own = fs::metadata(&self.record.output).map_or(0, |about| about.len());
        let probe = scratch.join("probe");
        let room = File::create(&probe).and_then(|file| {
            // Linkers may need as much again for what they do in between.
            io::copy(&mut io::repeat(0).take(2 * own + ROOM), &mut &file)
        });
        let _ = fs::remove_file(probe);
        match room.map_err(|error| failure_of(&error, self.home)) {
            Err(LinkFailure::NoSpace { folder, .. }) => LinkFailure::NoSpace { folder, said },
            _ => LinkFailure::Refused { said },
        }
    }

    /// The arguments of every neutral link, the shuffle and the output left out.
    fn words(&self) -> Vec<String> {
        let recorded = self
            .record
            .arguments
            .iter()
            .flat_map(|argument| match argument {
                Argument::Word(word) => vec![word.clone()],
                Argument::Kept { before, input } => {
                    let path = self.home.join("inputs").join(&input.name);
                    linker_word(before, &path.display().to_string())
                }
            });
        let mut words = neutral_words(recorded.collect(), !self.linker.selection.is_empty());
        words.extend(self.linker.selection.iter().cloned());
        // Debug information is most of an executable, and no placement is
        // needed twice by a debugger.
        words.push("-Wl,--strip-debug".to_owned());
        match self.linker.family {
            Family::Lld => {
                words.push(format!("-Wl,--threads={}", self.threads));
                // Profiles in the objects would undo the shuffle.
                words.push("-Wl,--no-call-graph-profile-sort".to_owned());
            }
            Family::Mold => words.push(format!("-Wl,--threads={}", self.threads)),
            Family::Gnu => {}
        }
        words
    }

    fn shuffle(&self, seed: u32, scratch: &Path) -> io::Result<Vec<String>> {
        Ok(match self.linker.family {
            Family::Lld => vec![format!("-Wl,--shuffle-sections=.text*={seed}")],
            Family::Mold => vec![format!("-Wl,--shuffle-sections={seed}")],
            Family::Gnu => {
                let file = scratch.join("order.ld");
                fs::write(&file, self.sections()?.script(seed))?;
                linker_word("-Wl,-T,", &file.display().to_string())
            }
        })
    }

    fn sections(&self) -> io::Result<&FunctionSections> {
        if let Some(sections) = self.sections.get() {
            return Ok(sections);
        }
        let files: Vec<PathBuf> = kept_inputs(self.record, self.home).collect();
        let sections = FunctionSections::of(files.iter().map(PathBuf::as_path))?;
        Ok(self.sections.get_or_init(|| sections))
    }
}

/// How many links can run at once without being in each other's way.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Where the kept inputs of a record are.
pub(crate) fn kept_inputs<'a>(
    record: &'a LinkRecord,
    home: &'a Path,
) -> impl Iterator<Item = PathBuf> + 'a {
    record
        .arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::Word(_) => None,
            Argument::Kept { input, .. } => Some(home.join("inputs").join(&input.name)),
        })
}

/// The driver of a record, as it was called but without arguments.
pub(crate) fn driver(record: &LinkRecord) -> Command {
    let mut command = Command::new(&record.driver);
    command
        .current_dir(&record.directory)
        .envs(record.environment.iter().map(|(name, value)| (name, value)))
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// Runs the driver to its end, and keeps what it says.
pub(crate) fn run(record: &LinkRecord, command: &mut Command) -> Result<Output, LinkFailure> {
    command.output().map_err(|error| LinkFailure::Refused {
        said: if record.directory.is_dir() {
            format!(
                "the driver `{}` could not be started: {error}",
                record.driver
            )
        } else {
            format!(
                "the folder {} it was linked in is gone",
                record.directory.display()
            )
        },
    })
}

/// The failure that a failed call of the driver stands for.
fn failure_of_driver(done: &Output, folder: &Path) -> LinkFailure {
    let text = String::from_utf8_lossy(&done.stderr);
    let said =
        first_words(&text).unwrap_or_else(|| format!("the driver ended with {}", done.status));
    // lld writes through a mapping, and dies of a bus error on a full disk.
    if text.contains("No space left on device") || text.contains("[Bus error]") {
        LinkFailure::NoSpace {
            folder: folder.to_owned(),
            said,
        }
    } else {
        LinkFailure::Refused { said }
    }
}

/// The failure that an error of our own stands for.
pub(crate) fn failure_of(error: &io::Error, folder: &Path) -> LinkFailure {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LinkFailure::NoSpace {
            folder: folder.to_owned(),
            said: error.to_string(),
        },
        _ => LinkFailure::Refused {
            said: format!("{}: {error}", folder.display()),
        },
    }
}

/// The lines that say what went wrong: from the first that speaks of an error,
/// three at most, each cut to a readable length.
pub(crate) fn first_words(text: &str) -> Option<String> {
    const LINES: usize = 3;
    const LENGTH: usize = 300;
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let telling = |line: &&str| {
        [
            "error",
            "undefined",
            "fatal",
            "cannot",
            "unrecognized",
            "unknown",
        ]
        .iter()
        .any(|word| line.to_ascii_lowercase().contains(word))
    };
    let first = lines.iter().position(telling).unwrap_or(0);
    let chosen: Vec<String> = lines
        .iter()
        .skip(first)
        .take(LINES)
        .map(|line| line.chars().take(LENGTH).collect())
        .collect();
    (!chosen.is_empty()).then(|| chosen.join("\n"))
}

/// Whether a link left an executable there.
fn check_executable(path: &Path) -> Result<(), String> {
    let bytes = fs::read(path)
        .map_err(|error| format!("the driver succeeded, but left no executable: {error}"))?;
    if is_executable(&bytes) {
        Ok(())
    } else {
        Err("the driver succeeded, but what it left is no ELF executable".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_linker_says_the_lines_about_the_error_are_told() {
        let said = "warning: x\nld.lld: error: undefined symbol: f\n>>> referenced by k.c\nmore\nmore still\n";
        assert_eq!(
            first_words(said).unwrap(),
            "ld.lld: error: undefined symbol: f\n>>> referenced by k.c\nmore"
        );
        assert_eq!(first_words("only this\n").unwrap(), "only this");
        assert_eq!(first_words("\n\n"), None);
        assert_eq!(first_words(&"x".repeat(5000)).unwrap().len(), 300);
    }

    #[test]
    fn a_full_disk_is_told_from_other_failures() {
        let done = |stderr: &str| Output {
            status: std::os::unix::process::ExitStatusExt::from_raw(256),
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
        };
        let failure = |stderr: &str| failure_of_driver(&done(stderr), Path::new("/f"));
        for full in [
            "/usr/bin/ld: final link failed: No space left on device",
            "collect2: fatal error: ld terminated with signal 7 [Bus error], core dumped",
        ] {
            assert_eq!(
                failure(full).to_string(),
                format!("no space is left for neutral links in /f; make room there: {full}")
            );
        }
        assert_eq!(failure("ld: error: x").to_string(), "ld: error: x");
        assert_eq!(
            failure("").to_string(),
            "the driver ended with exit status: 1"
        );
        assert!(matches!(
            failure_of(&io::ErrorKind::StorageFull.into(), Path::new("/f")),
            LinkFailure::NoSpace { .. }
        ));
    }
}
