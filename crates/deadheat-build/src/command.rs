//! Builds by a command of the user's, for projects that are not cargo's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::child::Interruption;
use crate::error::BuildError;
use crate::index::Kept;
use crate::repository::{Repository, forget_the_repository};

/// A command and the executables it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandBuild {
    /// Run by `sh -c` in the folder that the user stands in, or in the same
    /// folder of a commit.
    pub command: String,
    /// Paths below that folder.
    pub executables: Vec<PathBuf>,
}

impl CommandBuild {
    /// Finds fault before anything is built.
    pub(crate) fn check(&self, repository: &Repository<'_>) -> Result<(), BuildError> {
        if self.executables.is_empty() {
            return Err(BuildError::NoExe {
                command: self.command.clone(),
            });
        }
        for path in &self.executables {
            let mut depth = repository.inside.components().count();
            let mut stays = path.file_name().is_some();
            for part in path.components() {
                match part {
                    Component::Normal(_) => depth += 1,
                    Component::CurDir => {}
                    Component::ParentDir if depth > 0 => depth -= 1,
                    _ => stays = false,
                }
            }
            if !stays {
                return Err(BuildError::ExeOutside { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Builds in `folder`, and gives the executables.
    pub(crate) fn run(
        &self,
        revision: &str,
        folder: &Path,
        interruption: &Interruption<'_>,
        lock: Option<&fs::File>,
    ) -> Result<Vec<Kept>, BuildError> {
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).current_dir(folder);
        // What it prints is for the user, and standard output is for answers.
        command.stdout(std::io::stderr());
        forget_the_repository(&mut command);
        let done = interruption.run(&mut command, lock)?;
        if !done.status.success() {
            return Err(BuildError::Failed {
                revision: revision.to_owned(),
                command: format!("`{}`", self.command),
                end: done.status.to_string(),
            });
        }
        self.executables
            .iter()
            .map(|path| {
                let name = path.file_name().unwrap_or_default();
                let name = match self.is_alone(path) {
                    true => name.to_string_lossy().into_owned(),
                    false => path.display().to_string(),
                };
                let path = folder.join(path);
                let problem = match fs::metadata(&path) {
                    Err(_) => Some("is not there; --exe names what --build makes"),
                    Ok(about) if !about.is_file() => Some("is no file"),
                    Ok(about) if about.permissions().mode() & 0o111 == 0 => {
                        Some("is not executable")
                    }
                    Ok(_) => None,
                };
                match problem {
                    None => Ok(Kept { name, path }),
                    Some(problem) => Err(BuildError::NoExecutable {
                        revision: revision.to_owned(),
                        path,
                        problem,
                    }),
                }
            })
            .collect()
    }

    /// Whether no other executable has this file name.
    fn is_alone(&self, path: &Path) -> bool {
        let same = |other: &&PathBuf| other.file_name() == path.file_name();
        self.executables.iter().filter(same).count() == 1
    }
}
