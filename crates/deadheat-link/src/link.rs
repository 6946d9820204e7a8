//! Runs in place of a compiler driver, and records the link of an executable once it has succeeded.
//! Problems with the record become notes for the user.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{env, fmt, io};

use crate::elf::is_executable;
use crate::invocation::{Intent, Invocation, Piece, Spelling};
use crate::record::{Argument, Digest, LinkRecord, Obstacle, StoredInput};
use crate::store::{Kept, Store, StoreError};

/// The error if the compiler driver cannot be started.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}; `deadheat link` takes the compiler driver and its arguments", .driver.display())]
pub struct LinkError {
    /// The compiler driver, as the user gave it to `deadheat link`.
    pub driver: OsString,
    /// The operating system's error.
    #[source]
    pub problem: io::Error,
}

impl LinkError {
    /// Returns the exit code that a shell would use.
    pub fn code(&self) -> u8 {
        match self.problem.kind() {
            io::ErrorKind::NotFound => 127,
            _ => 126,
        }
    }
}

/// The exit status of a compiler driver, and notes about the recording of its link.
#[derive(Debug)]
pub struct Linked {
    /// The exit status of the driver.
    pub status: ExitStatus,
    /// Notes for the user about the recording of the link.
    pub notes: Vec<Note>,
}

impl Linked {
    /// Ends this process as the driver ended: if a signal killed the driver, kills this process
    /// with the same signal. Otherwise returns the exit code for the caller.
    pub fn end(&self) -> u8 {
        let Some(signal) = self.status.signal() else {
            return self.status.code().unwrap_or(1) as u8;
        };
        // A shell replaces this process and sends the signal to itself, without a second core dump.
        let _ = Command::new("/bin/sh")
            .args(["-c", "ulimit -c 0; kill -s \"$1\" $$", "sh"])
            .arg(signal.to_string())
            .exec();
        (128 + signal).clamp(129, 255) as u8
    }
}

/// Runs a compiler driver exactly as given, and records the link of an executable next to it.
///
/// If the driver does anything else (mostly compiling), it replaces this process, and this function
/// does not return. Errors while recording do not affect the link; they become a [`Note`].
///
/// # Errors
///
/// [`LinkError`] if the driver cannot be started.
pub fn link(driver: &OsStr, arguments: &[OsString]) -> Result<Linked, LinkError> {
    let failed = |problem| LinkError {
        driver: driver.to_owned(),
        problem,
    };
    let mut command = Command::new(driver);
    command.args(arguments);
    let understood = understood(driver, arguments);
    if let Ok(None) = understood {
        return Err(failed(command.exec()));
    }
    let status = command.status().map_err(failed)?;
    let notes = match understood {
        _ if !status.success() => Vec::new(),
        Err(unclear) => vec![unclear],
        // Trial programs of configure scripts are never raced, so they get no note.
        Ok(Some((Intent::FromSources { output }, _))) if !is_trial(&output) => {
            vec![Note::FromSources { output }]
        }
        Ok(Some((Intent::Link(invocation), directory))) => {
            let driver = driver.to_string_lossy();
            let recorded = unharmed(|| record(&driver, &directory, &invocation));
            recorded.unwrap_or_else(|reason| {
                let output = invocation.output.clone();
                vec![Note::NotRecorded { output, reason }]
            })
        }
        Ok(_) => Vec::new(),
    };
    Ok(Linked { status, notes })
}

/// Returns the intent of a call of the driver and its working directory; `None` if the call links
/// no executable. The error is a note that the call cannot be understood, so its link is not
/// recorded.
fn understood(driver: &OsStr, arguments: &[OsString]) -> Result<Option<(Intent, PathBuf)>, Note> {
    if arguments.iter().any(|argument| argument == "-c") || is_deadheat(driver, arguments) {
        return Ok(None);
    }
    let unclear = |reason: String| {
        // Only a message uses this name, so a rough search for `-o` is precise enough.
        let mut from_option = arguments.iter().skip_while(|argument| *argument != "-o");
        let output = from_option.nth(1).map(|name| name.to_string_lossy());
        let output = output.map_or("a.out".to_owned(), Into::into);
        Note::NotRecorded { output, reason }
    };
    let unicode = |word: &OsStr| {
        word.to_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("{} is not Unicode", word.display()))
    };
    let words = unicode(driver).and_then(|_| arguments.iter().map(|word| unicode(word)).collect());
    let words: Vec<String> = words.map_err(unclear)?;
    let directory =
        env::current_dir().map_err(|error| unclear(format!("the working directory: {error}")))?;
    match unharmed(|| Intent::of(&words, &directory)) {
        Ok(Intent::Other) => Ok(None),
        Ok(intent) => Ok(Some((intent, directory))),
        Err(reason) => Err(unclear(reason)),
    }
}

/// Runs `work`, and turns a panic into an error, because a bug in deadheat must not break the
/// user's link.
fn unharmed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err("deadheat crashed while it read the command line; please report this".to_owned())
    })
}

/// Returns true if the driver is another `deadheat link`, which makes its own record.
fn is_deadheat(driver: &OsStr, arguments: &[OsString]) -> bool {
    Path::new(driver)
        .file_name()
        .is_some_and(|name| name == "deadheat")
        && arguments.first().is_some_and(|first| first == "link")
}

fn is_trial(output: &str) -> bool {
    let name = Path::new(output).file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("conftest")
}

/// Environment variables that compiler drivers and linkers read. A link record stores their values.
const LISTENED_TO: [&str; 14] = [
    "PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "LD_RUN_PATH",
    "LDEMULATION",
    "GNUTARGET",
    "CCC_OVERRIDE_OPTIONS",
    "CCC_ADD_ARGS",
    "SOURCE_DATE_EPOCH",
    "SDKROOT",
    "VSLANG",
    "LC_ALL",
];

/// Records the link that `driver` made of `invocation` in `directory`, an absolute path, if its
/// output is an executable. Returns notes for the user, or the reason why the link cannot be
/// recorded.
pub(crate) fn record(
    driver: &str,
    directory: &Path,
    invocation: &Invocation,
) -> Result<Vec<Note>, String> {
    let vanished = |error| format!("the output file cannot be read ({error})");
    let in_store = |error: StoreError| error.to_string();
    let output = directory.join(&invocation.output);
    let output = output.canonicalize().map_err(vanished)?;
    if !output.is_file() {
        return Ok(Vec::new());
    }
    let bytes = std::fs::read(&output).map_err(vanished)?;
    if !is_executable(&bytes) {
        return Ok(Vec::new());
    }
    let Some((folder, _)) = output.parent().zip(output.to_str()) else {
        return Err(format!("{} is not Unicode", output.display()));
    };
    // Folders under the linker's system root belong to the system, so the store does not copy their
    // libraries.
    let folders = invocation.folders.iter();
    let folders =
        folders.filter(|folder| !folder.starts_with('=') && !folder.starts_with("$SYSROOT"));
    let mut writing = Writing {
        directory,
        folder,
        folders: folders.map(|folder| directory.join(folder)).collect(),
        store: Store::open(folder).map_err(in_store)?,
        arguments: Vec::new(),
        obstacle: None,
        unsectioned: Vec::new(),
    };
    for piece in &invocation.pieces {
        writing.take(piece).map_err(in_store)?;
    }
    let mut record = LinkRecord {
        schema: LinkRecord::SCHEMA.to_owned(),
        // Resolved, so that the driver is found from any folder.
        driver: if driver.contains('/') {
            directory.join(driver).to_string_lossy().into_owned()
        } else {
            driver.to_owned()
        },
        directory: directory.to_owned(),
        arguments: writing.arguments,
        environment: LISTENED_TO
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .collect(),
        output_digest: Digest::of(&bytes),
        digest: Digest(String::new()),
        obstacle: writing.obstacle,
        unsectioned: writing.unsectioned,
        output: output.clone(),
    };
    record.digest = record.digest_of_the_rest();
    writing.store.finish(&record).map_err(in_store)?;
    let output = invocation.output.clone();
    Ok(match (record.obstacle, record.unsectioned) {
        (Some(obstacle), _) => vec![Note::Impossible { output, obstacle }],
        (None, objects) if objects.is_empty() => Vec::new(),
        (None, objects) => vec![Note::Unsectioned { output, objects }],
    })
}

#[derive(Debug)]
struct Writing<'a> {
    directory: &'a Path,
    folder: &'a Path,
    /// The folders of `-L` options, without those under the linker's system root.
    folders: Vec<PathBuf>,
    store: Store,
    arguments: Vec<Argument>,
    obstacle: Option<Obstacle>,
    unsectioned: Vec<String>,
}

impl Writing<'_> {
    fn take(&mut self, piece: &Piece) -> Result<(), StoreError> {
        match piece {
            Piece::Word(word) => self.arguments.push(Argument::Word(word.clone())),
            Piece::Input(spelling) => self.keep(spelling, Path::new(&spelling.value), true)?,
            Piece::Named(spelling) => self.keep(spelling, Path::new(&spelling.value), false)?,
            Piece::Library { spelling, dynamic } => {
                match archive(&spelling.value, *dynamic, &self.folders) {
                    Some(archive) => {
                        let bare = Spelling::bare(spelling.to_linker, &spelling.value);
                        self.keep(&bare, &archive, true)?;
                    }
                    None => self.say_as(spelling, &spelling.value),
                }
            }
            Piece::RunPath(spelling) => {
                let value = self.run_path(&spelling.value);
                self.say_as(spelling, &value);
            }
            Piece::Folder(spelling) => {
                // rustc passes a folder with `-L` that it removes after the link. A missing or
                // empty folder is left out of the record.
                let folder = self.directory.join(&spelling.value);
                let is_empty = match folder.read_dir() {
                    Ok(mut entries) => entries.next().is_none(),
                    Err(_) => !spelling.value.starts_with('='),
                };
                if !is_empty {
                    self.say_as(spelling, &spelling.value);
                }
            }
        }
        Ok(())
    }

    /// Adds a file to the arguments of the record: as a stored copy, or as its path if it is not
    /// stored.
    fn keep(&mut self, spelling: &Spelling, file: &Path, is_input: bool) -> Result<(), StoreError> {
        let path = self.directory.join(file);
        if !path.is_file() {
            self.say_as(spelling, &spelling.value);
            return Ok(());
        }
        let original = file.display().to_string();
        match self.store.keep(&path)? {
            Kept::Stored(name, survey) => {
                if let Some(member) = survey.link_time_code {
                    let object = format!("{original}{member}");
                    self.obstacle
                        .get_or_insert(Obstacle::LinkTimeCode { object });
                }
                if !is_of_the_toolchain(&path) {
                    for member in survey.unsectioned {
                        let object = format!("{original}{member}");
                        if !self.unsectioned.contains(&object) {
                            self.unsectioned.push(object);
                        }
                    }
                }
                self.arguments
                    .extend(spelling.lead().into_iter().map(Argument::Word));
                self.arguments.push(Argument::Kept {
                    before: spelling.before_value().to_owned(),
                    input: StoredInput { original, name },
                });
            }
            Kept::Linked if is_input => self.say_as(spelling, &path.to_string_lossy()),
            Kept::Linked => self.say_as(spelling, &spelling.value),
            Kept::Unknown(problem) => {
                self.obstacle.get_or_insert(Obstacle::UnknownFormat {
                    file: original,
                    problem,
                });
                self.say_as(spelling, &path.to_string_lossy());
            }
        }
        Ok(())
    }

    fn say_as(&mut self, spelling: &Spelling, value: &str) {
        self.arguments
            .extend(spelling.with(value).into_iter().map(Argument::Word));
    }

    /// Returns the run path for a neutral link, which is in another folder but must find the same
    /// libraries.
    fn run_path(&self, value: &str) -> String {
        let folder = self.folder.to_string_lossy();
        let mut folders = Vec::new();
        for entry in value.split(':') {
            let absolute = entry
                .replace("${ORIGIN}", &folder)
                .replace("$ORIGIN", &folder);
            if absolute != entry {
                folders.push(absolute);
            }
            folders.push(entry.to_owned());
        }
        folders.join(":")
    }
}

/// Returns the archive that a linker uses for `-l NAME`, if it is in one of the user's own folders.
/// `None` if the linker uses a shared library or an archive of the system, or finds neither.
pub(crate) fn archive(name: &str, dynamic: bool, folders: &[PathBuf]) -> Option<PathBuf> {
    let exact = name.strip_prefix(':').map(str::to_owned);
    let shared = format!("lib{name}.so");
    let archive = exact.clone().unwrap_or_else(|| format!("lib{name}.a"));
    for folder in folders {
        if exact.is_none() && dynamic && folder.join(&shared).exists() {
            return None;
        }
        let found = folder.join(&archive);
        if found.is_file() {
            return (!is_of_the_toolchain(&found)).then_some(found);
        }
    }
    None
}

/// Returns true if a file came with the system or the compiler, so that the user cannot recompile
/// it.
pub(crate) fn is_of_the_toolchain(file: &Path) -> bool {
    const SYSTEM: [&str; 6] = [
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/nix/store",
        "/gnu/store",
    ];
    let folders = file.parent().unwrap_or(file);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    SYSTEM.iter().any(|system| file.starts_with(system))
        || folders.iter().any(|folder| folder == "rustlib")
        || folders.to_string_lossy().contains("/lib/gcc/")
        || (name.starts_with("crt") && name.ends_with(".o"))
}

/// A message for the user about a link. It does not affect the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The link was not recorded, although it made an executable.
    NotRecorded {
        /// The executable, as given.
        output: String,
        /// The reason why the link was not recorded.
        reason: String,
    },
    /// Sources were compiled and linked in one call, so no objects are left from which to make
    /// neutral links.
    FromSources {
        /// The executable, as given.
        output: String,
    },
    /// The link was recorded, but neutral links of it are impossible.
    Impossible {
        /// The executable, as given.
        output: String,
        /// The reason why neutral links are impossible.
        obstacle: Obstacle,
    },
    /// Several functions in these objects share a section, so neutral links can move them only
    /// together.
    Unsectioned {
        /// The executable, as given.
        output: String,
        /// The objects; members of archives as `libfoo.a(bar.o)`.
        objects: Vec<String>,
    },
}

const MOST_NAMED: usize = 6;

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecorded { output, reason } => write!(
                f,
                "the link of {output} was not recorded: {reason}; races of it will have scope \
                 `binary`"
            ),
            Self::FromSources { output } => write!(
                f,
                "{output} was compiled and linked in one call, which leaves no objects to link \
                 again; races of it will have scope `binary` unless its sources are compiled \
                 with -c first"
            ),
            Self::Impossible { output, obstacle } => write!(
                f,
                "{output} cannot be linked neutrally: {obstacle}; races of it will have scope \
                 `binary`"
            ),
            Self::Unsectioned { output, objects } => {
                let named = objects.len().min(MOST_NAMED);
                write!(f, "{output}: functions of {}", objects[..named].join(", "))?;
                if objects.len() > named {
                    write!(f, " and of {} more objects", objects.len() - named)?;
                }
                write!(
                    f,
                    " share one section each and move only together; compile with \
                     -ffunction-sections"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir, write};

    use super::*;

    #[test]
    fn the_first_folder_with_the_library_decides_and_there_the_shared_one() {
        let base = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| base.path().join(name));
        for folder in &folders {
            create_dir(folder).unwrap();
        }
        let [one, two] = &folders;
        write(one.join("libboth.a"), "").unwrap();
        write(one.join("libboth.so"), "").unwrap();
        write(one.join("libfirst.a"), "").unwrap();
        write(two.join("libfirst.so"), "").unwrap();
        write(two.join("liblast.a"), "").unwrap();
        let archive = |name, dynamic| archive(name, dynamic, &folders);
        assert_eq!(archive("both", true), None);
        assert_eq!(archive("both", false), Some(one.join("libboth.a")));
        assert_eq!(archive("first", true), Some(one.join("libfirst.a")));
        assert_eq!(archive("last", true), Some(two.join("liblast.a")));
        assert_eq!(archive(":liblast.a", true), Some(two.join("liblast.a")));
        assert_eq!(archive(":libboth.so", true), Some(one.join("libboth.so")));
        assert_eq!(archive("none", true), None);
    }

    #[test]
    fn distinguishes_system_files_and_the_users_own() {
        for toolchain in [
            "/usr/lib/x86_64-linux-gnu/libm.a",
            "/home/me/.rustup/toolchains/stable/lib/rustlib/host/lib/libstd.rlib",
            "/opt/cross/lib/gcc/arm/12/libgcc.a",
            "/opt/sysroot/crt1.o",
        ] {
            assert!(is_of_the_toolchain(Path::new(toolchain)), "{toolchain}");
        }
        for own in ["/home/me/libm.a", "/srv/usr/k.o", "/home/me/rustlib.o"] {
            assert!(!is_of_the_toolchain(Path::new(own)), "{own}");
        }
    }

    #[test]
    fn only_the_first_objects_are_named() {
        let note = |count: usize| {
            let objects = (0..count).map(|i| format!("{i}.o")).collect();
            let output = "app".to_owned();
            Note::Unsectioned { output, objects }.to_string()
        };
        assert!(note(1).starts_with("app: functions of 0.o share one"));
        assert!(note(6).contains("4.o, 5.o share"));
        assert!(note(9).contains("5.o and of 3 more objects share"));
    }
}
