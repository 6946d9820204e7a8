//! The record of what a link was made from, kept beside its output; and by what a file is known again
//! without being read.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A file that changed so shortly before it was read may have changed again without its time
/// telling: a file system's clock ticks slowly.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The state of a file, without its contents: another one says that the file may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    /// Nanoseconds since 1970, of its contents and of anything about it.
    modified_ns: i128,
    changed_ns: i128,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns true if a change after this moment would show.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tick = TICK.as_nanos() as i128;
        self.modified_ns.max(self.changed_ns) + tick < now.as_nanos() as i128
    }
}

/// A SHA-256, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub String);

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let bytes = Sha256::digest(bytes);
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns true for the text of a digest.
    pub(crate) fn is_spelled(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// Everything it takes to link an executable again, and to know whether it is still the one that
/// was linked.
///
/// It lives in `.deadheat/links/` of the output's folder:
///
/// ```text
/// .deadheat/.gitignore                    keeps all of it out of version control
/// .deadheat/links/lock                    held while anything below is changed
/// .deadheat/links/NAME.json               the record of the output NAME
/// .deadheat/links/index                   what is known of files that were kept before
/// .deadheat/links/inputs/DIGEST.EXT       objects and archives, aligned and with holes where no link reads, by the digest of the original
/// .deadheat/links/placements/DIGEST/LINKER/SEED  a neutral link; DIGEST is that of the record
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// `deadheat.link/1`.
    pub schema: String,
    /// The driver: a name looked up in `PATH`, or a path.
    pub driver: String,
    /// The working directory of the link, absolute.
    pub directory: PathBuf,
    /// The driver's arguments in their order: response files expanded, paths of kept files
    /// replaced, the output left out.
    pub arguments: Vec<Argument>,
    /// Variables of the environment that drivers and linkers listen to.
    pub environment: Vec<(String, String)>,
    /// The executable, absolute.
    pub output: PathBuf,
    /// Of the executable as it was linked.
    pub output_digest: Digest,
    /// Over all that a neutral link depends on. Names its variants.
    pub digest: Digest,
    /// The obstacle to neutral links, if there is one.
    pub obstacle: Option<Obstacle>,
    /// Object files whose functions share one section.
    pub unsectioned: Vec<String>,
}

/// One argument of the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// Passed on as it is.
    Word(String),
    /// A file that is kept in the store, after some text such as `-Wl,--version-script=`.
    Kept {
        /// The text before the path in the same argument.
        before: String,
        /// The file.
        input: StoredInput,
    },
}

/// A file of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredInput {
    /// The path it came from, for messages.
    pub original: String,
    /// Its name in `inputs/`: the digest of the original, and its extension.
    pub name: String,
}

/// The reason why no neutral link can be made of a recorded link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Obstacle {
    /// Objects whose code is only generated while linking.
    LinkTimeCode {
        /// The first of them.
        object: String,
    },
    /// An object or archive in a format nobody here can read.
    UnknownFormat {
        /// The file.
        file: String,
        /// The problem with it.
        problem: String,
    },
}

/// The reason why there is no record to make neutral links from.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The executable was not linked through `deadheat link`.
    #[error("{executable} was not linked through `deadheat link`")]
    Missing {
        /// The executable.
        executable: PathBuf,
    },
    /// The executable was replaced after its link was recorded.
    #[error("{executable} is not the one that was linked through `deadheat link`; link it again")]
    Stale {
        /// The executable.
        executable: PathBuf,
    },
    /// The record cannot be read.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The problem with it.
        problem: String,
    },
}

impl Obstacle {
    /// The file it is about.
    pub fn file(&self) -> &str {
        match self {
            Self::LinkTimeCode { object } => object,
            Self::UnknownFormat { file, .. } => file,
        }
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LinkTimeCode { object } => write!(
                f,
                "the code of {object} is only generated while linking (link-time optimisation); \
                 compile it without -flto"
            ),
            Self::UnknownFormat { file, problem } => write!(f, "{file}: {problem}"),
        }
    }
}

impl LinkRecord {
    /// The schema written, and the only one read.
    pub const SCHEMA: &str = "deadheat.link/1";

    /// The folder with everything about links into `folder`.
    pub fn home(folder: &Path) -> PathBuf {
        folder.join(".deadheat").join("links")
    }

    /// The record of the link that made `executable`, found beside it; beside what it points to, if
    /// it is a symbolic link.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when there is none, or the executable is not the one that was linked.
    pub fn beside(executable: &Path) -> Result<Self, RecordError> {
        let record = Self::found(executable)?;
        record.checked(executable)?;
        Ok(record)
    }

    /// The record beside `executable`, which may be another by now than the one that was linked.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when there is none.
    pub(crate) fn found(executable: &Path) -> Result<Self, RecordError> {
        let unreadable = |file: &Path, error: io::Error| RecordError::Unreadable {
            file: file.to_owned(),
            problem: error.to_string(),
        };
        let found = executable
            .canonicalize()
            .map_err(|error| unreadable(executable, error))?;
        let missing = || RecordError::Missing {
            executable: executable.to_owned(),
        };
        let file = record_file(&found).ok_or_else(missing)?;
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            Err(error) => return Err(unreadable(&file, error)),
        };
        let again = |problem: String| RecordError::Unreadable {
            file: file.clone(),
            problem: format!("{problem}; link {} again", executable.display()),
        };
        let mut record: Self =
            serde_json::from_slice(&text).map_err(|error| again(error.to_string()))?;
        if record.schema != Self::SCHEMA {
            let version = format!("written by another version of deadheat ({})", record.schema);
            return Err(again(version));
        }
        // The folder may have been moved, with all that is in it.
        record.output = found;
        Ok(record)
    }

    /// Reads the executable, which errors call `name`, and finds it to be the one that was linked.
    /// Returns its stamp, by which it is known without being read; `None` where a change after this
    /// would not show in that.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when it is another.
    pub(crate) fn checked(&self, name: &Path) -> Result<Option<Stamp>, RecordError> {
        let unreadable = |error: io::Error| RecordError::Unreadable {
            file: self.output.clone(),
            problem: error.to_string(),
        };
        let now = SystemTime::now();
        let mut opened = File::open(&self.output).map_err(unreadable)?;
        let stamp = Stamp::of(&opened.metadata().map_err(unreadable)?);
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).map_err(unreadable)?;
        if Digest::of(&bytes) != self.output_digest {
            return Err(RecordError::Stale {
                executable: name.to_owned(),
            });
        }
        Ok(stamp.is_settled(now).then_some(stamp))
    }

    /// The files that neutral links of `executable` are made from, beside itself, each with its path
    /// from the folder of the executable: with these a copy of it elsewhere has neutral links, too.
    ///
    /// # Errors
    ///
    /// [`RecordError`] as from [`LinkRecord::beside`].
    pub fn files_of(executable: &Path) -> Result<Vec<(PathBuf, PathBuf)>, RecordError> {
        let record = Self::beside(executable)?;
        let folder = record.output.parent().unwrap_or(Path::new("/"));
        let inputs = Self::home(folder).join("inputs");
        let mut files: Vec<PathBuf> = record.inputs().map(|one| inputs.join(&one.name)).collect();
        files.extend(record_file(&record.output));
        files.sort();
        files.dedup();
        let named = files.into_iter().filter_map(|file| {
            let name = file.strip_prefix(folder).ok()?.to_owned();
            Some((file, name))
        });
        Ok(named.collect())
    }

    /// Returns true for the record of a link, of this version or another.
    pub(crate) fn is_at(file: &Path) -> bool {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let text = fs::read(file).unwrap_or_default();
        let head = serde_json::from_slice::<Head>(&text);
        head.is_ok_and(|head| head.schema.starts_with("deadheat.link/"))
    }

    /// The files of the store among the arguments.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &StoredInput> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Word(_) => None,
            Argument::Kept { input, .. } => Some(input),
        })
    }

    /// The arguments that are passed on as they are.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Word(word) => Some(word.as_str()),
            Argument::Kept { .. } => None,
        })
    }

    /// The value of [`LinkRecord::digest`], over the rest: all that a neutral link depends on, and
    /// nothing of when and from where it was recorded.
    pub(crate) fn digest_of_the_rest(&self) -> Digest {
        let arguments: Vec<(&str, &str)> = self
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Word(word) => (word.as_str(), ""),
                Argument::Kept { before, input } => (before.as_str(), input.name.as_str()),
            })
            .collect();
        let all = (
            &self.schema,
            &self.driver,
            &self.directory,
            arguments,
            &self.environment,
        );
        Digest::of(&serde_json::to_vec(&all).unwrap_or_default())
    }
}

/// The file of the record of this executable, if a record can be named after it.
pub(crate) fn record_file(executable: &Path) -> Option<PathBuf> {
    let name = executable.file_name()?.to_str()?;
    Some(LinkRecord::home(executable.parent()?).join(format!("{name}.json")))
}
