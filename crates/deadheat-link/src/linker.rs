//! Finds a linker that can shuffle sections (lld if there is one, then mold, then GNU ld), and runs
//! the compiler driver that calls it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, io};

use serde::{Deserialize, Serialize};

use crate::record::{LinkRecord, Stamp};

/// Families of linkers that can order sections, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    /// LLVM's linker, which has an option to shuffle sections.
    Lld,
    /// The linker mold, which also has an option to shuffle sections.
    Mold,
    /// GNU ld, which needs a linker script with the order.
    Gnu,
}

impl Family {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Lld, Self::Mold, Self::Gnu];
        all.into_iter().find(|family| family.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lld => "lld",
            Self::Mold => "mold",
            Self::Gnu => "gnu",
        }
    }

    /// Returns true if a linker script can set the address of each section. mold supports no linker
    /// scripts.
    pub(crate) fn takes_scripts(self) -> bool {
        self != Self::Mold
    }

    /// Reads the version from the output of `--version`, if it is from this family: `LLD 14.0.6`,
    /// `mold 1.10.1`, `GNU ld 2.40`.
    fn version(self, printed: &str) -> Option<String> {
        printed.lines().find_map(|line| match self {
            Self::Lld => word_after(line, "LLD "),
            Self::Mold => line
                .starts_with("mold ")
                .then(|| word_after(line, "mold "))?,
            Self::Gnu => {
                let rest = line.strip_prefix("GNU ld ")?;
                Some(format!("GNU ld {}", rest.split(' ').next_back()?))
            }
        })
    }
}

/// Returns `start` and the word after it, if the line contains `start` and a version number
/// follows.
fn word_after(line: &str, start: &str) -> Option<String> {
    let at = line.find(start)?;
    let word = line[at + start.len()..].split(' ').next()?;
    word.starts_with(|first: char| first.is_ascii_digit())
        .then(|| format!("{start}{word}"))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Linker {
    pub(crate) family: Family,
    /// The driver's arguments that select the linker; empty if the recorded call already selects
    /// it.
    pub(crate) selection: Vec<String>,
    pub(crate) version: String,
    /// The programs of the driver and of the linker, with the state of their files when the linker
    /// was chosen; empty if the programs were not found.
    #[serde(default)]
    pub(crate) programs: Vec<Program>,
}

/// A program, and the state of its file at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    /// The name of the program, which is looked up in `PATH`, or its path.
    name: PathBuf,
    file: PathBuf,
    stamp: Stamp,
}

/// A linker to try, which may not be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) family: Family,
    pub(crate) name: String,
    /// The driver's arguments that select the linker, or the reason why it cannot be used.
    selection: Result<Vec<String>, String>,
}

/// Returns the linkers to try for the link of `record`, best first. `forced` restricts them to one
/// family.
///
/// The iterator is lazy, because some linkers are costly to find.
pub(crate) fn candidates(
    record: &LinkRecord,
    forced: Option<Family>,
) -> impl Iterator<Item = Candidate> {
    let sources: [fn(&LinkRecord) -> Option<Candidate>; 6] = [
        own_lld,
        |record| Some(in_path(record, Family::Lld)),
        |_| Some(rust_lld()),
        |record| Some(in_path(record, Family::Mold)),
        |_| folder_mold(),
        |_| {
            let selection = Ok(vec!["-fuse-ld=bfd".to_owned()]);
            Some(Candidate::new(Family::Gnu, "GNU ld", selection))
        },
    ];
    sources
        .into_iter()
        .filter_map(|source| source(record))
        .filter(move |candidate| forced.is_none_or(|family| candidate.family == family))
}

/// Returns the lld that the user's own link selects, if it selects one.
fn own_lld(record: &LinkRecord) -> Option<Candidate> {
    let chosen = record.words().filter_map(chosen_linker).last()?;
    let name = "the lld of your own link";
    (chosen.contains("lld")).then(|| Candidate::new(Family::Lld, name, Ok(Vec::new())))
}

pub(crate) fn chosen_linker(word: &str) -> Option<&str> {
    word.strip_prefix("-fuse-ld=")
        .or_else(|| word.strip_prefix("--ld-path="))
}

/// Returns the linker of this family that the driver finds in `PATH`.
fn in_path(record: &LinkRecord, family: Family) -> Candidate {
    let name = family.name();
    let program = format!("ld.{name}");
    let selection = match find_in_path(record, &program) {
        Some(_) => Ok(vec![format!("-fuse-ld={name}")]),
        None => Err(format!("there is no `{program}` in PATH")),
    };
    Candidate::new(family, name, selection)
}

fn rust_lld() -> Candidate {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let selection = rust_lld_folder(&rustc)
        .map(|folder| vec![format!("-B{}", folder.display()), "-fuse-ld=lld".to_owned()])
        .ok_or_else(|| "the toolchain of rustc does not contain it".to_owned());
    Candidate::new(Family::Lld, "rust-lld", selection)
}

/// Returns the folder `lib/rustlib/HOST/bin/gcc-ld` of the toolchain, if it contains lld.
fn rust_lld_folder(rustc: &OsString) -> Option<PathBuf> {
    let printed = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let sysroot = String::from_utf8(printed.stdout).ok()?;
    let hosts = Path::new(sysroot.trim_end()).join("lib").join("rustlib");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(hosts)
        .ok()?
        .filter_map(Result::ok)
        .map(|host| host.path().join("bin").join("gcc-ld"))
        .filter(|folder| folder.join("ld.lld").is_file())
        .collect();
    folders.sort();
    folders.into_iter().next()
}

/// Returns mold from a folder that contains it under the name `ld`, for drivers without
/// `-fuse-ld=mold`.
fn folder_mold() -> Option<Candidate> {
    let folder = [
        "/usr/libexec/mold",
        "/usr/local/libexec/mold",
        "/usr/lib/mold",
    ]
    .into_iter()
    .find(|folder| Path::new(folder).join("ld").is_file())?;
    let selection = Ok(vec![format!("-B{folder}")]);
    let name = format!("mold in {folder}");
    Some(Candidate::new(Family::Mold, name, selection))
}

fn find_in_path(record: &LinkRecord, program: &str) -> Option<PathBuf> {
    let recorded = record.environment.iter().find(|(name, _)| name == "PATH");
    let path = match recorded {
        Some((_, path)) => OsString::from(path),
        None => env::var_os("PATH")?,
    };
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

impl Candidate {
    fn new(
        family: Family,
        name: impl Into<String>,
        selection: Result<Vec<String>, String>,
    ) -> Self {
        Self {
            family,
            name: name.into(),
            selection,
        }
    }

    /// Asks the driver for the version of the linker it would use.
    ///
    /// # Errors
    ///
    /// The driver's output, if the linker cannot be used or belongs to another family.
    pub(crate) fn ask(&self, record: &LinkRecord) -> Result<Linker, String> {
        let selection = self.selection.clone()?;
        let version = ask_version(record, self.family, &selection)?;
        Ok(Linker {
            family: self.family,
            programs: programs(record, self.family, &selection).unwrap_or_default(),
            selection,
            version,
        })
    }
}

impl Linker {
    /// Returns this linker with the current state of its programs, if the driver still selects the
    /// same version. If the programs have not changed, the driver is not started, because that
    /// takes half as long as a link.
    pub(crate) fn still_there(self, record: &LinkRecord) -> Option<Self> {
        let unchanged = |program: &Program| {
            Program::find(record, program.name.clone()).as_ref() == Some(program)
        };
        if !self.programs.is_empty() && self.programs.iter().all(unchanged) {
            return Some(self);
        }
        let version = ask_version(record, self.family, &self.selection).ok()?;
        (version == self.version).then(|| Self {
            programs: programs(record, self.family, &self.selection).unwrap_or_default(),
            ..self
        })
    }
}

/// Returns the recorded arguments that choose the target and the folders of the driver's tools. If
/// `choice_holds` is true, these include the user's choice of the linker.
fn words_about_the_target<'a>(
    mut words: impl Iterator<Item = &'a str>,
    choice_holds: bool,
) -> Vec<&'a str> {
    const ALONE: [&str; 5] = ["-B", "-target", "--sysroot", "-gcc-toolchain", "--prefix"];
    const JOINED: [&str; 6] = [
        "-B",
        "-m",
        "--target=",
        "--sysroot=",
        "--gcc-toolchain=",
        "--prefix=",
    ];
    let mut about = Vec::new();
    while let Some(word) = words.next() {
        if ALONE.contains(&word) {
            about.push(word);
            about.extend(words.next());
        } else if word == "-mllvm" {
            words.next();
        } else if JOINED.iter().any(|start| word.starts_with(start))
            || chosen_linker(word).is_some() && choice_holds
        {
            about.push(word);
        }
    }
    about
}

impl Program {
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    fn find(record: &LinkRecord, name: PathBuf) -> Option<Self> {
        let file = match name.components().count() {
            1 => find_in_path(record, name.to_str()?)?,
            _ => record.directory.join(&name),
        };
        let stamp = Stamp::of(&file.metadata().ok()?);
        Some(Self { name, file, stamp })
    }
}

fn programs(record: &LinkRecord, family: Family, selection: &[String]) -> Option<Vec<Program>> {
    let chosen = |word: &str| word.strip_prefix("--ld-path=").map(str::to_owned);
    let linker = match record.words().filter_map(chosen).last() {
        Some(path) if selection.is_empty() => path,
        _ => {
            let name = match family {
                Family::Lld => "ld.lld",
                // With `-B`, the driver calls mold by the name of the default linker.
                Family::Mold if selection.iter().any(|word| word.starts_with("-B")) => "ld",
                Family::Mold => "ld.mold",
                Family::Gnu => "ld.bfd",
            };
            let question = format!("-print-prog-name={name}");
            let said = ask(record, selection, &question).ok()?.stdout;
            String::from_utf8(said).ok()?.trim_end().to_owned()
        }
    };
    let names = [record.driver.as_str(), &linker].map(PathBuf::from);
    let found = names.into_iter().map(|name| Program::find(record, name));
    found.collect()
}

/// Runs the driver with the arguments that select a linker, and with `question`, such as
/// `-Wl,--version`.
fn ask(record: &LinkRecord, selection: &[String], question: &str) -> Result<Output, LinkFailure> {
    let mut command = driver(record);
    command.args(words_about_the_target(record.words(), selection.is_empty()));
    run(record, command.args(selection).arg(question))
}

fn ask_version(
    record: &LinkRecord,
    family: Family,
    selection: &[String],
) -> Result<String, String> {
    let done = ask(record, selection, "-Wl,--version").map_err(|failure| failure.to_string())?;
    let printed = String::from_utf8_lossy(&done.stdout);
    if let Some(version) = family.version(&printed) {
        return Ok(version);
    }
    let first = |text: &str| Some(first_words(text)?.lines().next()?.to_owned());
    Err(if done.status.success() {
        let instead = first(&printed).unwrap_or_else(|| "nothing".to_owned());
        format!("the driver did not print its version, but: {instead}")
    } else {
        let complaint = first(&String::from_utf8_lossy(&done.stderr));
        complaint.unwrap_or_else(|| format!("the driver ended with {}", done.status))
    })
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkFailure {
    #[error("no space is left for neutral links in {}; free some there: {said}", folder.display())]
    NoSpace {
        /// The folder `.deadheat/links`.
        folder: PathBuf,
        said: String,
    },
    /// The driver failed, or the linker that it called.
    #[error("{said}")]
    Refused {
        /// The first lines of the driver's error message.
        said: String,
    },
}

/// Returns the working directory for the driver: the recorded one, or the executable's folder if
/// the recorded one does not exist, because the executable may have been copied to another machine.
fn folder_of(record: &LinkRecord) -> &Path {
    let beside = record.output.parent();
    if record.directory.is_dir() {
        return &record.directory;
    }
    beside.unwrap_or(&record.directory)
}

/// Returns a command that starts the record's driver in its recorded environment, without
/// arguments.
pub(crate) fn driver(record: &LinkRecord) -> Command {
    let mut command = Command::new(&record.driver);
    command
        .current_dir(folder_of(record))
        .envs(record.environment.iter().map(|(name, value)| (name, value)))
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(record: &LinkRecord, command: &mut Command) -> Result<Output, LinkFailure> {
    command.output().map_err(|error| LinkFailure::Refused {
        said: if record.directory.is_dir() {
            let driver = &record.driver;
            format!("the driver `{driver}` could not be started: {error}")
        } else {
            let folder = record.directory.display();
            format!("the folder {folder}, in which it was linked, no longer exists")
        },
    })
}

pub(crate) fn failure_of_driver(done: &Output, folder: &Path) -> LinkFailure {
    let text = String::from_utf8_lossy(&done.stderr);
    let said =
        first_words(&text).unwrap_or_else(|| format!("the driver ended with {}", done.status));
    // lld writes through a memory mapping, and dies of a bus error on a full disk.
    if text.contains("No space left on device") || text.contains("[Bus error]") {
        LinkFailure::NoSpace {
            folder: folder.to_owned(),
            said,
        }
    } else {
        LinkFailure::Refused { said }
    }
}

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

/// Returns the lines about an error in the output of a linker: at most three, from the first line
/// that mentions one, each shortened to a readable length.
fn first_words(text: &str) -> Option<String> {
    const LINES: usize = 3;
    const LENGTH: usize = 300;
    const TELLING: [&str; 6] = [
        "error",
        "undefined",
        "fatal",
        "cannot",
        "unrecognized",
        "unknown",
    ];
    let lines = text.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_telling = |line: &&str| {
        let line = line.to_ascii_lowercase();
        TELLING.iter().any(|word| line.contains(word))
    };
    let first = lines.iter().position(is_telling).unwrap_or(0);
    let chosen = lines.into_iter().skip(first).take(LINES);
    let chosen: Vec<String> = chosen
        .map(|line| line.chars().take(LENGTH).collect())
        .collect();
    (!chosen.is_empty()).then(|| chosen.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Digest;

    #[test]
    fn versions_are_read_from_what_linkers_print() {
        for (family, printed, version) in [
            (
                Family::Lld,
                "Debian LLD 14.0.6 (compatible with GNU linkers)",
                "LLD 14.0.6",
            ),
            (
                Family::Lld,
                "LLD 22.1.2 (/checkout/src 1cb4) (compatible)",
                "LLD 22.1.2",
            ),
            (
                Family::Mold,
                "mold 1.10.1 (compatible with GNU ld)",
                "mold 1.10.1",
            ),
            (
                Family::Gnu,
                "GNU ld (GNU Binutils for Debian) 2.40\nCopyright",
                "GNU ld 2.40",
            ),
            (
                Family::Gnu,
                "GNU ld version 2.35.2-9.el8",
                "GNU ld 2.35.2-9.el8",
            ),
        ] {
            assert_eq!(family.version(printed).as_deref(), Some(version));
        }
    }

    #[test]
    fn distinguishes_linkers_by_their_version_output() {
        assert_eq!(
            Family::Gnu.version("GNU gold (GNU Binutils 2.40) 1.16"),
            None
        );
        assert_eq!(
            Family::Gnu.version("mold 1.10.1 (compatible with GNU ld)"),
            None
        );
        assert_eq!(
            Family::Lld.version("mold 1.10.1 (compatible with GNU ld)"),
            None
        );
        assert_eq!(Family::Mold.version("Debian LLD 14.0.6"), None);
    }

    #[test]
    fn the_version_is_asked_of_the_linker_of_the_same_target() {
        let recorded = "-m64 -B /b -B/c a.o -fuse-ld=lld -mllvm -x --sysroot /s -L /l --target=t";
        let about = |holds| words_about_the_target(recorded.split(' '), holds).join(" ");
        assert_eq!(about(false), "-m64 -B /b -B/c --sysroot /s --target=t");
        assert_eq!(
            about(true),
            "-m64 -B /b -B/c -fuse-ld=lld --sysroot /s --target=t"
        );
    }

    fn pretended(folder: &Path) -> LinkRecord {
        use std::os::unix::fs::PermissionsExt;
        let script = "#!/bin/sh\ncd \"$(dirname \"$0\")\" && echo \"$@\" >> asked\n\
                      case \"$*\" in *print-prog*) echo \"$PWD/ld.lld\";; *) cat ld.lld;; esac\n";
        let driver = folder.join("cc");
        // Another process writes the script, because a child of this one could have it open for
        // writing ("text file busy").
        let mut writer = Command::new("sh");
        writer.args(["-c", "printf %s \"$1\" > \"$0\""]);
        assert!(writer.arg(&driver).arg(script).status().unwrap().success());
        std::fs::set_permissions(&driver, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(folder.join("ld.lld"), "LLD 1.0").unwrap();
        LinkRecord {
            schema: LinkRecord::SCHEMA.to_owned(),
            driver: driver.display().to_string(),
            directory: folder.to_owned(),
            arguments: vec![],
            environment: vec![],
            output: folder.join("out"),
            output_digest: Digest(String::new()),
            digest: Digest(String::new()),
            obstacle: None,
            unsectioned: vec![],
        }
    }

    #[test]
    fn a_linker_is_asked_again_only_when_its_program_changed() {
        let folder = tempfile::tempdir().unwrap();
        let record = pretended(folder.path());
        let asked = || {
            let asked = std::fs::read_to_string(folder.path().join("asked"));
            asked.unwrap_or_default().lines().count()
        };
        let candidate = Candidate {
            family: Family::Lld,
            name: String::new(),
            selection: Ok(vec![]),
        };
        let linker = candidate.ask(&record).unwrap();
        assert_eq!((&*linker.version, linker.programs.len()), ("LLD 1.0", 2));
        let before = asked();
        let linker = linker.still_there(&record).unwrap();
        assert_eq!(asked(), before, "nothing changed");
        // One byte longer, because the file's time may not change.
        std::fs::write(folder.path().join("ld.lld"), "LLD 1.0\n").unwrap();
        let renewed = linker.clone().still_there(&record).unwrap();
        assert_eq!(asked(), before + 2, "the same version under a new file");
        assert_ne!(renewed, linker);
        assert_eq!(renewed.clone().still_there(&record), Some(renewed.clone()));
        assert_eq!(asked(), before + 2, "the new file is known");
        std::fs::write(folder.path().join("ld.lld"), "LLD 1.1 \n").unwrap();
        assert_eq!(renewed.still_there(&record), None);
    }

    #[test]
    fn a_name_of_a_family_is_read_back() {
        for family in [Family::Lld, Family::Mold, Family::Gnu] {
            assert_eq!(Family::from_name(family.name()), Some(family));
        }
        assert_eq!(Family::from_name("gold"), None);
    }

    #[test]
    fn extracts_the_error_lines_of_a_linker() {
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
    fn distinguishes_a_full_disk_from_other_failures() {
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
                format!("no space is left for neutral links in /f; free some there: {full}")
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
