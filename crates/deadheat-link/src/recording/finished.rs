//! From the command line of a link to its record.

use std::path::{Path, PathBuf};

use super::libraries;
use super::store::{Kept, Store, StoreError};
use crate::driver::Invocation;
use crate::driver::{Piece, Spelling};
use crate::note::Note;
use crate::object::is_executable;
use crate::record::{Argument, Digest, LinkRecord, Obstacle, StoredInput};

/// Variables that drivers and linkers listen to.
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

/// A link that was made, and from where.
#[derive(Debug)]
pub(crate) struct Finished<'a> {
    /// As it was named.
    pub(crate) driver: &'a str,
    /// The working directory, absolute.
    pub(crate) directory: &'a Path,
    /// What it was asked for.
    pub(crate) invocation: &'a Invocation,
}

/// Why a link is not recorded, though it should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRecorded {
    #[error("it cannot be found where it was to be written ({0})")]
    Vanished(std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0} is not Unicode")]
    NotUnicode(String),
}

impl Finished<'_> {
    /// Records the link, if an executable came out of it, and says what the
    /// user should know.
    pub(crate) fn record(&self) -> Result<Vec<Note>, NotRecorded> {
        let output = self.directory.join(&self.invocation.output);
        let output = output.canonicalize().map_err(NotRecorded::Vanished)?;
        if !output.is_file() {
            return Ok(Vec::new());
        }
        let bytes = std::fs::read(&output).map_err(NotRecorded::Vanished)?;
        if !is_executable(&bytes) {
            return Ok(Vec::new());
        }
        let Some((folder, _)) = output.parent().zip(output.to_str()) else {
            return Err(NotRecorded::NotUnicode(output.display().to_string()));
        };
        let mut writing = Writing {
            finished: self,
            folder,
            folders: self.folders(),
            store: Store::open(folder)?,
            arguments: Vec::new(),
            obstacle: None,
            unsectioned: Vec::new(),
        };
        for piece in &self.invocation.pieces {
            writing.take(piece)?;
        }
        let mut record = LinkRecord {
            schema: LinkRecord::SCHEMA.to_owned(),
            driver: self.driver(),
            directory: self.directory.to_owned(),
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
        writing.store.finish(&record)?;
        let output = self.invocation.output.clone();
        Ok(match (record.obstacle, record.unsectioned) {
            (Some(obstacle), _) => vec![Note::Impossible { output, obstacle }],
            (None, objects) if objects.is_empty() => Vec::new(),
            (None, objects) => vec![Note::Unsectioned { output, objects }],
        })
    }

    /// The driver as it is found from any folder.
    fn driver(&self) -> String {
        if self.driver.contains('/') {
            let path = self.directory.join(self.driver);
            return path.to_string_lossy().into_owned();
        }
        self.driver.to_owned()
    }

    /// The folders in which the user has libraries. Those that begin with the
    /// system's root as the linker sees it are the system's.
    fn folders(&self) -> Vec<PathBuf> {
        let named = self.invocation.folders.iter();
        named
            .filter(|folder| !folder.starts_with('=') && !folder.starts_with("$SYSROOT"))
            .map(|folder| self.directory.join(folder))
            .collect()
    }
}

/// A record while it is written.
#[derive(Debug)]
struct Writing<'a> {
    finished: &'a Finished<'a>,
    /// Where the output is.
    folder: &'a Path,
    folders: Vec<PathBuf>,
    store: Store,
    arguments: Vec<Argument>,
    obstacle: Option<Obstacle>,
    unsectioned: Vec<String>,
}

impl Writing<'_> {
    fn take(&mut self, piece: &Piece) -> Result<(), StoreError> {
        match piece {
            Piece::Word(word) => self.say(word),
            Piece::Input(spelling) => self.keep(spelling, Path::new(&spelling.value), true)?,
            Piece::Named(spelling) => self.keep(spelling, Path::new(&spelling.value), false)?,
            Piece::Library { spelling, dynamic } => {
                match libraries::archive(&spelling.value, *dynamic, &self.folders) {
                    Some(archive) => {
                        let bare = Spelling {
                            before: String::new(),
                            apart: false,
                            ..spelling.clone()
                        };
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
                // rustc names a folder of its own making, which it removes;
                // without a file in it nobody can miss it.
                let folder = self.finished.directory.join(&spelling.value);
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

    /// Keeps a file, or names it where it is if it is none to keep.
    fn keep(&mut self, spelling: &Spelling, file: &Path, is_input: bool) -> Result<(), StoreError> {
        let path = self.finished.directory.join(file);
        if !path.is_file() {
            self.say_as(spelling, &spelling.value);
            return Ok(());
        }
        let original = file.display().to_string();
        match self.store.keep(&path)? {
            Kept::Stored(name, findings) => {
                if let Some(member) = findings.link_time_code {
                    let object = format!("{original}{member}");
                    self.obstacle
                        .get_or_insert(Obstacle::LinkTimeCode { object });
                }
                if !libraries::is_of_the_toolchain(&path) {
                    for member in findings.unsectioned {
                        let object = format!("{original}{member}");
                        if !self.unsectioned.contains(&object) {
                            self.unsectioned.push(object);
                        }
                    }
                }
                for word in spelling.lead() {
                    self.say(&word);
                }
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

    fn say(&mut self, word: &str) {
        self.arguments.push(Argument::Word(word.to_owned()));
    }

    fn say_as(&mut self, spelling: &Spelling, value: &str) {
        for word in spelling.with(value) {
            self.say(&word);
        }
    }

    /// A neutral link lies elsewhere, and must find its libraries all the same.
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
