//! Executable files: finds them by name, detects if they change, and describes their neutral links
//! and jars.

#[cfg(feature = "commands")]
use std::ffi::OsStr;
use std::fmt;
#[cfg(feature = "commands")]
use std::fs::Metadata;
#[cfg(feature = "commands")]
use std::fs::read;
use std::fs::{File, canonicalize, metadata};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_model::NeutralLink;
#[cfg(feature = "commands")]
use deadheat_model::{CommandLine, Input};
#[cfg(feature = "commands")]
use sha2::{Digest as _, Sha256};

#[cfg(feature = "commands")]
pub(crate) use jar::holds_benchmarks_of_jmh;
#[cfg(feature = "commands")]
pub use jar::is_jar;

/// The identity of a file: its device and its inode.
pub(crate) type FileId = (u64, u64);

pub(crate) fn file_id(path: impl AsRef<Path>) -> Option<FileId> {
    let about = metadata(path).ok()?;
    Some((about.dev(), about.ino()))
}

/// The folder of link records and neutral links, relative to the folder of the executable.
const LINKS: &str = ".deadheat/links";

/// A shared lock on the folder of neutral links, which is released when it is dropped.
pub(crate) type Hold = File;

/// An executable with its identity at the beginning of the race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    /// The path without symbolic links.
    pub(crate) path: PathBuf,
    identity: [i64; 5],
}

impl Executable {
    /// Returns the executable at `path`. Returns an error if the file does not exist: the file of a
    /// running program may have been replaced or deleted.
    pub(crate) fn at(path: &Path) -> Result<Self, String> {
        let found = canonicalize(path).and_then(|real| Ok((identity(&real)?, real)));
        let same = found.and_then(|(there, real)| Ok((there == identity(path)?, there, real)));
        match same {
            Ok((true, identity, path)) => Ok(Self { path, identity }),
            Ok((false, ..)) | Err(_) => Err(format!(
                "'{}' was replaced or deleted after it was started\nhelp: start it again",
                path.display()
            )),
        }
    }

    /// Returns an error if the file was replaced or deleted since this value was created.
    pub(crate) fn check(&self) -> Result<(), String> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(format!(
                "'{}' was replaced or deleted while it was raced",
                self.path.display()
            )),
        }
    }

    /// Returns the first of `candidates` that is a file; `None` if none is.
    #[cfg(feature = "commands")]
    pub(crate) fn among(candidates: Vec<PathBuf>) -> Option<Self> {
        let file = candidates.into_iter().find(|file| file.is_file())?;
        Self::at(&file).ok()
    }

    /// Returns true if the folder of link records contains a record of how the executable was
    /// linked.
    pub(crate) fn has_record(&self) -> bool {
        let Some((folder, name)) = self.path.parent().zip(self.path.file_name()) else {
            return false;
        };
        let mut record = name.to_owned();
        record.push(".json");
        folder.join(LINKS).join(record).is_file()
    }

    /// Locks the neutral links of this executable against removal. `deadheat clean` and the end of
    /// other races take an exclusive lock on the folder before they remove links. Returns `None` if
    /// the folder is missing or its file system does not support locks.
    pub(crate) fn hold_links(&self) -> Option<Hold> {
        let folder = File::open(self.path.parent()?.join(LINKS)).ok()?;
        folder.lock_shared().ok()?;
        Some(folder)
    }
}

/// Returns true if `path` is a file with permission to execute.
pub fn is_executable(path: &Path) -> bool {
    metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the interpreter in the first line of a script; empty if the file is not a script, and
/// `None` if it cannot be read.
pub(crate) fn interpreter_of(program: &Path) -> Option<String> {
    /// The maximum number of bytes that the kernel reads of a script's first line.
    const FIRST_LINE: u64 = 256;
    let mut line = Vec::new();
    let file = File::open(program).ok()?.take(FIRST_LINE);
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    let Some(words) = line.strip_prefix(b"#!") else {
        return Some(String::new());
    };
    let words = String::from_utf8_lossy(words);
    let words = words.trim_start_matches([' ', '\t']).trim_end_matches('\n');
    Some(words.split([' ', '\t']).next().unwrap_or("").to_owned())
}

/// Returns true if a file begins like a Linux executable or a script with an interpreter.
pub(crate) fn begins_like_a_program(file: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(file).and_then(|file| file.take(4).read_to_end(&mut beginning));
    read.is_ok() && (beginning.starts_with(b"#!") || beginning == b"\x7fELF")
}

/// Returns the paths that `execvp` would try for a program, existing ones first. Missing files are
/// included, because a setup hook may build the program.
pub(crate) fn program_paths(program: &Path) -> Vec<PathBuf> {
    if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        return vec![program.to_owned()];
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let files = std::env::split_paths(&path).map(|folder| {
        if folder.as_os_str().is_empty() {
            Path::new(".").join(program)
        } else {
            folder.join(program)
        }
    });
    let (mut found, mut missing): (Vec<PathBuf>, Vec<PathBuf>) = files.partition(|f| f.is_file());
    found.append(&mut missing);
    found
}

/// Sets the folder of a command, and makes relative folders in `PATH` absolute so that the same
/// programs are found.
pub(crate) fn run_in(command: &mut Command, folder: &Path) {
    command.current_dir(folder);
    let Some(path) = std::env::var_os("PATH").filter(|path| !path.is_empty()) else {
        return;
    };
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if !folders.iter().any(|folder| folder.is_relative()) {
        return;
    }
    if let Ok(here) = std::env::current_dir()
        && let Ok(path) = std::env::join_paths(folders.iter().map(|folder| here.join(folder)))
    {
        command.env("PATH", path);
    }
}

/// Returns the executable with this path or name. A name without a slash is looked up in `PATH`.
#[cfg(feature = "commands")]
pub fn find_executable(name: &str) -> Option<PathBuf> {
    let mut candidates = program_paths(Path::new(name)).into_iter();
    candidates.find(|candidate| is_executable(candidate))
}

/// Returns the SHA-256 of the executable or jar that `program` names, and of each of `arguments`
/// that is a file.
#[cfg(feature = "commands")]
pub fn contents(program: &Path, arguments: &[PathBuf]) -> Vec<(PathBuf, String)> {
    let files = files_of(program, arguments);
    let files = files.filter(|file| metadata(file).is_ok_and(|found| found.is_file()));
    let held = files.filter_map(|file| {
        let bytes = Sha256::digest(read(&file).ok()?);
        let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Some((file, hex))
    });
    held.collect()
}

/// Returns the executable or jar that `program` names, or a file in `arguments`, if it was modified
/// after `unix_seconds`: a run that began at that time raced a different file.
#[cfg(feature = "commands")]
pub fn rewritten_since(
    program: &Path,
    arguments: &[PathBuf],
    unix_seconds: u64,
) -> Option<PathBuf> {
    let later = |found: Metadata| found.is_file() && found.mtime() > unix_seconds as i64;
    files_of(program, arguments).find(|file| metadata(file).is_ok_and(later))
}

/// Returns the executable or jar that `program` names, followed by all `arguments`, even those that
/// are not files.
#[cfg(feature = "commands")]
fn files_of(program: &Path, arguments: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let mut candidates = program_paths(program).into_iter();
    let executable = candidates.find(|candidate| is_executable(candidate) || is_jar(candidate));
    executable.into_iter().chain(arguments.iter().cloned())
}

#[cfg(feature = "commands")]
const SCRIPT_ENDINGS: [&str; 15] = [
    "R", "bash", "cjs", "fish", "jl", "js", "lua", "mjs", "php", "pl", "py", "rb", "sh", "ts",
    "zsh",
];

/// Returns the files that determine what a command does: its input, and the scripts among its
/// arguments. Other files in the arguments may be outputs.
#[cfg(feature = "commands")]
pub fn scripts_and_input(command: &CommandLine) -> Vec<PathBuf> {
    let words = command.words.iter().skip(1);
    let arguments = words.map(|word| command.within(Path::new(word)));
    let mut files: Vec<PathBuf> = arguments.filter(|path| is_script(path)).collect();
    if let Input::File(input) = &command.input {
        // The launcher opens the input relative to deadheat's current folder.
        files.push(input.clone());
    }
    files
}

/// Returns the files that the hooks of a command start or read: their programs if these are named by
/// a path, and the scripts among their arguments.
#[cfg(feature = "commands")]
pub fn files_of_hooks(command: &CommandLine) -> Vec<PathBuf> {
    let hooks = &command.hooks;
    let all = [
        &hooks.setup,
        &hooks.prepare,
        &hooks.conclude,
        &hooks.cleanup,
    ];
    let mut files = Vec::new();
    for words in all.into_iter().flatten() {
        for (place, word) in words.iter().enumerate() {
            let path = command.within(Path::new(word));
            let is_program = place == 0 && word.contains('/') && path.is_file();
            if (is_program || (place > 0 && is_script(&path))) && !files.contains(&path) {
                files.push(path);
            }
        }
    }
    files
}

#[cfg(feature = "commands")]
fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_file = metadata(path).is_ok_and(|found| found.is_file());
    is_file && (SCRIPT_ENDINGS.contains(&ending) || has_interpreter(path))
}

/// Returns true if a file begins with `#!`.
pub(crate) fn has_interpreter(path: &Path) -> bool {
    let mut beginning = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && &beginning == b"#!"
}

/// Returns the values that identify a version of a file: a rewritten file has a different
/// modification time, and a replaced file has a different inode.
fn identity(path: &Path) -> std::io::Result<[i64; 5]> {
    let found = metadata(path)?;
    Ok([
        found.dev() as i64,
        found.ino() as i64,
        found.size() as i64,
        found.mtime(),
        found.mtime_nsec(),
    ])
}

/// The environment variable with the path of the program that makes neutral links for a bench
/// target.
pub const PLACEMENTS_VARIABLE: &str = "DEADHEAT_PLACEMENTS";

/// Environment variables that Google Benchmark reads as flags and that would break a launch.
#[cfg(feature = "commands")]
pub(crate) const GOOGLE_BENCHMARK_VARIABLES: [&str; 3] = [
    "BENCHMARK_LIST_TESTS",
    "BENCHMARK_DRY_RUN",
    "BENCHMARK_FORMAT",
];

/// A neutral link that has been built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The identity of the link.
    pub link: NeutralLink,
    /// The path of the linked executable.
    pub executable: PathBuf,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, file) = (self.link.seed, self.executable.display());
        write!(f, "the neutral link of seed {seed}, {file}")
    }
}

/// Returns the text about a neutral link that an error message appends; empty without a link.
pub(crate) fn on_link(link: &Option<Variant>) -> String {
    link.as_ref().map_or_else(String::new, |variant| {
        format!(" (on {variant}; with --placement own, deadheat races your own link)")
    })
}

#[cfg(feature = "commands")]
mod jar {
    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom};
    use std::path::Path;

    /// The first bytes of a zip archive.
    const BEGINNING: &[u8] = b"PK\x03\x04";
    /// The first bytes of the record at the end of the archive, which locates the list of its
    /// files.
    const END: &[u8] = b"PK\x05\x06";
    /// The size in bytes of the record at the end of the archive.
    const END_BYTES: usize = 22;
    /// The maximum size in bytes of the comment at the end of an archive.
    const MOST_COMMENT: u64 = 65_535;
    /// The file of an archive in which JMH lists its benchmarks.
    const BENCHMARKS: &[u8] = b"META-INF/BenchmarkList";

    /// Returns true if a file is a jar.
    pub fn is_jar(path: &Path) -> bool {
        let mut beginning = [0; BEGINNING.len()];
        let read = |mut file: File| file.read_exact(&mut beginning);
        path.is_file() && File::open(path).and_then(read).is_ok() && beginning == BEGINNING
    }

    pub(crate) fn holds_benchmarks_of_jmh(path: &Path) -> bool {
        let list = list_of_files(path).unwrap_or_default();
        list.windows(BENCHMARKS.len())
            .any(|window| window == BENCHMARKS)
    }

    /// Returns the list of the files in an archive, as raw bytes.
    fn list_of_files(path: &Path) -> Option<Vec<u8>> {
        let mut file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        let from = length.saturating_sub(END_BYTES as u64 + MOST_COMMENT);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail).ok()?;
        let at = tail.windows(END.len()).rposition(|window| window == END)?;
        let end = tail.get(at..at + END_BYTES)?;
        let number = |at: usize| {
            let bytes: [u8; 4] = end[at..at + 4].try_into().expect("four bytes");
            u64::from(u32::from_le_bytes(bytes))
        };
        let (bytes, from) = (number(12), number(16));
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut list = Vec::new();
        file.take(bytes).read_to_end(&mut list).ok()?;
        Some(list)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Returns an archive with a list of `names` and a final comment. Its other parts are not
        /// valid.
        fn archive(names: &[u8]) -> Vec<u8> {
            let mut bytes = [BEGINNING, b"the files"].concat();
            let from = bytes.len() as u32;
            bytes.extend(names);
            bytes.extend(END);
            bytes.extend([0; 8]);
            bytes.extend((names.len() as u32).to_le_bytes());
            bytes.extend(from.to_le_bytes());
            bytes.extend([7, 0]);
            bytes.extend(b"comment");
            bytes
        }

        #[test]
        fn a_jar_is_known_by_its_content_and_so_are_its_benchmarks() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("some file");
            let check = |content: &[u8]| {
                std::fs::write(&path, content).unwrap();
                (is_jar(&path), holds_benchmarks_of_jmh(&path))
            };
            let with = archive(b"..META-INF/MANIFEST.MF..META-INF/BenchmarkList..");
            assert_eq!(check(&with), (true, true));
            assert_eq!(check(&archive(b"META-INF/MANIFEST.MF")), (true, false));
            assert_eq!(check(&with[..with.len() - 12]), (true, false));
            assert_eq!(check(b"#!/bin/sh META-INF/BenchmarkList"), (false, false));
            assert_eq!(check(b"PK"), (false, false));
            assert!(!is_jar(folder.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_running_program_is_found_where_it_lies() {
        let found = Executable::at(Path::new("/proc/self/exe")).unwrap();
        assert_eq!(found.path, std::env::current_exe().unwrap());
        assert_eq!(found.check(), Ok(()));
    }

    #[test]
    fn a_file_that_was_replaced_is_another_executable() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "one").unwrap();
        fs::write(&other, "one").unwrap();
        let found = Executable::at(&file).unwrap();
        fs::rename(&other, &file).unwrap();
        assert!(found.check().unwrap_err().contains("was replaced"));
        fs::remove_file(&file).unwrap();
        assert!(found.check().is_err());
        assert!(Executable::at(&file).unwrap_err().contains("deleted"));
    }

    #[cfg(feature = "commands")]
    #[test]
    fn a_program_is_found_in_the_path_or_where_it_lies_if_it_may_be_executed() {
        let found = find_executable("sh").unwrap();
        assert!(found.is_absolute() && is_executable(&found));
        assert_eq!(find_executable("/bin/sh"), Some("/bin/sh".into()));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        fs::write(&file, "").unwrap();
        assert!(!is_executable(&file) && !is_executable(folder.path()));
        assert_eq!(find_executable(file.to_str().unwrap()), None);
        assert_eq!(find_executable("no-such-program-anywhere"), None);
    }

    #[cfg(feature = "commands")]
    #[test]
    fn a_file_is_rewritten_when_its_time_is_later_than_that_of_the_run() {
        let file = std::env::current_exe().unwrap();
        let written = metadata(&file).unwrap().mtime() as u64;
        assert_eq!(rewritten_since(&file, &[], written), None);
        assert_eq!(rewritten_since(&file, &[], written - 1), Some(file.clone()));
        let missing = Path::new("no-such-program-anywhere");
        assert_eq!(rewritten_since(missing, &[], 0), None);
        // Finds the script and ignores folders and missing files.
        let words = ["/", "none", file.to_str().unwrap()].map(PathBuf::from);
        assert_eq!(rewritten_since(missing, &words, written), None);
        assert_eq!(rewritten_since(missing, &words, written - 1), Some(file));
    }

    #[cfg(feature = "commands")]
    #[test]
    fn scripts_and_the_input_decide_what_a_command_does_and_its_outputs_do_not() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("a.py", "1"),
            ("tool", "#!/bin/sh"),
            ("out", "1"),
            ("in", "1"),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let words = [
            "python3", "-O", "a.py", "tool", "-o", "out", "none.py", "in.sh",
        ];
        let command = CommandLine {
            directory: Some(folder.path().to_owned()),
            input: Input::File("in".into()),
            ..deadheat_testing::runs::command(&words)
        };
        let mut expected = ["a.py", "tool"]
            .map(|name| folder.path().join(name))
            .to_vec();
        expected.push("in".into());
        assert_eq!(scripts_and_input(&command), expected);
    }

    #[cfg(feature = "commands")]
    #[test]
    fn the_files_of_hooks_are_their_scripts_and_programs_with_a_path() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.py", "made", "out"] {
            fs::write(folder.path().join(name), "1").unwrap();
        }
        let words = |all: &[&str]| Some(all.iter().map(|word| (*word).to_owned()).collect());
        let mut command = CommandLine {
            directory: Some(folder.path().to_owned()),
            ..deadheat_testing::runs::command(&["true"])
        };
        command.hooks.setup = words(&["./made", "out"]);
        command.hooks.prepare = words(&["python3", "a.py", "no.py"]);
        command.hooks.cleanup = words(&["python3", "a.py"]);
        let expected = ["./made", "a.py"].map(|name| folder.path().join(name));
        assert_eq!(files_of_hooks(&command), expected);
    }

    #[cfg(feature = "commands")]
    #[test]
    fn a_record_lies_beside_the_file_that_a_name_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tool");
        let link = folder.path().join("alias");
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let missing = folder.path().join("missing");
        let find = || Executable::among(vec![missing.clone(), link.clone()]).unwrap();
        assert_eq!(find().path, canonicalize(&file).unwrap());
        assert!(!find().has_record());
        let links = folder.path().join(".deadheat/links");
        fs::create_dir_all(&links).unwrap();
        fs::write(links.join("tool.json"), "{}").unwrap();
        assert!(find().has_record());
        assert_eq!(Executable::among(vec![missing.clone()]), None);
    }
}
