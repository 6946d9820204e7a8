//! The record of a link, kept next to its output, and file stamps, by which an unchanged file is
//! recognised without reading it.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::tracked::{TrackedError, refuse_tracked};

/// A file that changed within this time before it was read may change again without a new time
/// stamp, because the clocks of file systems are coarse.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The metadata of a file; if it differs, the file may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    /// The time of the last change of the content, in nanoseconds since 1970.
    modified_ns: i128,
    /// The time of the last change of the metadata, in nanoseconds since 1970.
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

    /// Returns true if a change after `now` would change the stamp.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let tick = TICK.as_nanos() as i128;
        self.modified_ns.max(self.changed_ns) + tick < now.as_nanos() as i128
    }
}

/// A SHA-256 digest, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub String);

impl Digest {
    /// Computes the digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::spelled(&Sha256::digest(bytes))
    }

    fn spelled(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Computes the digest of a file, piece by piece.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it is not a regular file: a link in a commit may lead to
    /// `/dev/zero` or to a named pipe.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let (mut file, mut digest) = (File::open(path)?, Sha256::new());
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self::spelled(&digest.finalize())),
                read => digest.update(&buffer[..read]),
            }
        }
    }

    pub(crate) fn is_spelled(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

/// Everything needed to repeat the link of an executable, and to check that the executable is still
/// the linked one.
///
/// It is stored in `.deadheat/links/` of the output's folder:
///
/// ```text
/// .deadheat/.gitignore                    keeps all of it out of version control
/// .deadheat/links/lock                    held while a process changes anything below
/// .deadheat/links/NAME.json               the record of the output NAME
/// .deadheat/links/index                   stamps and surveys of files that were stored before
/// .deadheat/links/inputs/DIGEST.EXT       objects and archives, aligned, with unread sections zeroed, by the digest of the original
/// .deadheat/links/placements/DIGEST/LINKER/SEED  a neutral link; DIGEST is that of the record
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// The name and version of the format: `deadheat.link/1`.
    pub schema: String,
    /// The driver: a name looked up in `PATH`, or a path.
    pub driver: String,
    /// The working directory of the link, absolute.
    pub directory: PathBuf,
    /// The driver's arguments in order: response files expanded, paths of stored files replaced,
    /// without the output.
    pub arguments: Vec<Argument>,
    /// Environment variables that compiler drivers and linkers read, with their values during the
    /// link.
    pub environment: Vec<(String, String)>,
    /// The absolute path of the executable.
    pub output: PathBuf,
    /// The digest of the executable as it was linked.
    pub output_digest: Digest,
    /// The digest of all fields that a neutral link depends on. The cache stores neutral links
    /// under it.
    pub digest: Digest,
    /// The reason why neutral links are impossible, if they are.
    pub obstacle: Option<Obstacle>,
    /// Object files with several functions in one section, which neutral links can move only
    /// together.
    pub unsectioned: Vec<String>,
}

/// One argument of the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// An argument that neutral links pass to the driver unchanged.
    Word(String),
    /// An argument that names a stored file, after a text such as `-Wl,--version-script=`.
    Kept {
        /// The text before the path in the same argument.
        before: String,
        /// The stored file.
        input: StoredInput,
    },
}

/// A file in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredInput {
    /// The original path, for messages.
    pub original: String,
    /// The name of the file in `inputs/`: the digest of the original, and its extension.
    pub name: String,
}

/// The reason why neutral links of a recorded link are impossible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Obstacle {
    /// Objects whose code is only generated at link time.
    LinkTimeCode {
        /// The first object whose code is only generated at link time.
        object: String,
    },
    /// An object or archive in a format that deadheat cannot read.
    UnknownFormat {
        /// The path of the object or archive.
        file: String,
        /// The reason why the file cannot be used.
        problem: String,
    },
}

/// The reason why an executable has no usable record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The executable was not linked through `deadheat link`.
    #[error("{executable} was not linked through `deadheat link`")]
    Missing {
        /// The path of the executable.
        executable: PathBuf,
    },
    /// Git tracks the record, so it came with a commit and is not used.
    #[error(transparent)]
    NotOurs(#[from] TrackedError),
    /// The executable was replaced after its link was recorded.
    #[error("{executable} has changed since `deadheat link` linked it; link it again")]
    Stale {
        /// The path of the executable.
        executable: PathBuf,
    },
    /// The record cannot be read.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file that cannot be read.
        file: PathBuf,
        /// The reason why the file cannot be read.
        problem: String,
    },
}

impl Obstacle {
    /// Returns the file that makes neutral links impossible.
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
    /// The schema of the link records that this version of deadheat writes and reads.
    pub const SCHEMA: &str = "deadheat.link/1";

    /// Returns the folder `.deadheat/links` for the records and inputs of all links into `folder`.
    pub fn home(folder: &Path) -> PathBuf {
        folder.join(".deadheat").join("links")
    }

    /// Reads the record of the link that made `executable`. The record is in the folder of the
    /// executable or, if `executable` is a symbolic link, in the folder of the file that it leads
    /// to.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the record is missing, or the executable is not the one that was linked.
    pub fn beside(executable: &Path) -> Result<Self, RecordError> {
        let record = Self::found(executable)?;
        record.checked(executable)?;
        Ok(record)
    }

    /// Reads the record in the folder of `executable`, without a check that the executable is still
    /// the one that was linked.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the record is missing.
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
        if file.exists() {
            refuse_tracked(&file)?;
        }
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
            let version = format!(
                "it has the schema '{}', but this deadheat reads '{}'",
                record.schema,
                Self::SCHEMA
            );
            return Err(again(version));
        }
        if let Some(name) = record.strange_name() {
            return Err(again(format!("it names '{name}', which is not a digest")));
        }
        // The folder may have been moved with all its content.
        record.output = found;
        Ok(record)
    }

    /// Reads the executable, and checks that it is the one that was linked. Errors call it `name`.
    /// Returns its stamp, by which later checks recognise the unchanged file without reading it;
    /// `None` if a later change might not change the stamp.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if it is another executable.
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

    /// Returns the files from which neutral links of `executable` are made, without the executable
    /// itself, each with its path relative to the executable's folder. If these files are copied
    /// together with the executable, the copy has neutral links, too.
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

    /// Returns true if the file is a record of any schema version.
    pub(crate) fn is_at(file: &Path) -> bool {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let text = fs::read(file).unwrap_or_default();
        let head = serde_json::from_slice::<Head>(&text);
        head.is_ok_and(|head| head.schema.starts_with("deadheat.link/"))
    }

    /// Returns the record's digest, or the name of a stored file, if it does not have the form of a
    /// digest and so could lead out of the store.
    pub(crate) fn strange_name(&self) -> Option<&str> {
        let is_stored = |name: &str| {
            let digest = name.split('.').next().unwrap_or(name);
            Digest::is_spelled(digest) && !name.contains(['/', '\0'])
        };
        let names = self.inputs().map(|input| &*input.name);
        let is_whole = Digest::is_spelled(&self.digest.0);
        let digest = (!is_whole).then_some(&*self.digest.0);
        digest
            .into_iter()
            .chain(names.filter(|name| !is_stored(name)))
            .next()
    }

    pub(crate) fn inputs(&self) -> impl Iterator<Item = &StoredInput> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Word(_) => None,
            Argument::Kept { input, .. } => Some(input),
        })
    }

    /// Returns the arguments that are passed on unchanged.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Word(word) => Some(word.as_str()),
            Argument::Kept { .. } => None,
        })
    }

    /// Computes [`LinkRecord::digest`] over all other fields that a neutral link depends on,
    /// without the output and its digest.
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

/// Returns the path of this executable's record, if the name of the executable is Unicode.
pub(crate) fn record_file(executable: &Path) -> Option<PathBuf> {
    let name = executable.file_name()?.to_str()?;
    Some(LinkRecord::home(executable.parent()?).join(format!("{name}.json")))
}
