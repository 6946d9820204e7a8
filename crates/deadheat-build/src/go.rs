//! Builds a test executable for every requested package with `go test -c`, and records the folder
//! in which its tests must run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat_link::join_inside;

use crate::error::BuildError;
use crate::git::forget_the_repository;
use crate::missing_project::MissingProject;
use crate::repository::Repository;
use crate::slot::Executable;
use crate::subprocess::{Finished, Interruption, Variables};

/// The user's options for `go test -c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoBuild {
    /// The packages as given by the user: `./parse`, `./...`.
    pub packages: Vec<String>,
    /// Environment variables to set.
    pub variables: Variables,
}

/// Go settings that affect a build. `go env` prints them from the environment and from
/// configuration files.
const SETTINGS: [&str; 17] = [
    "GOOS",
    "GOARCH",
    "GOAMD64",
    "GOARM",
    "GOARM64",
    "GO386",
    "GORISCV64",
    "GOPPC64",
    "GOEXPERIMENT",
    "GOFLAGS",
    "CGO_ENABLED",
    "CGO_CFLAGS",
    "CGO_CPPFLAGS",
    "CGO_CXXFLAGS",
    "CGO_LDFLAGS",
    "CC",
    "CXX",
];

/// The variable that names Go's workspace file, and its value for a build without one.
const WORKSPACE: &str = "GOWORK";
const NO_WORKSPACE: &str = "off";

/// The option of Go that omits git's state from programs, because this state differs between the
/// sides. To read the state, Go would also run `git status`, which runs the hooks of the
/// repository.
const NO_GIT: &str = "-buildvcs=false";

/// A `go list` format with one package per line: its import path, its folder, and the numbers of
/// test files in the package and in its external test package.
const PACKAGE: &str = "{{.ImportPath}}\t{{.Dir}}\t{{len .TestGoFiles}}\t{{len .XTestGoFiles}}";
/// A `go list` format for the folder that replaces a module, if no version identifies its content.
const REPLACED: &str =
    "{{with .Module}}{{with .Replace}}{{if not .Version}}{{.Dir}}{{end}}{{end}}{{end}}";

#[derive(Debug)]
pub(crate) struct GoSite<'a> {
    pub(crate) revision: &'a str,
    pub(crate) top: &'a Path,
    pub(crate) directory: PathBuf,
    /// The folder for the executables.
    pub(crate) made: PathBuf,
    /// The version of Go to build with, as `go env GOVERSION` prints it.
    pub(crate) toolchain: &'a str,
    /// True if Go ignores all workspace files.
    pub(crate) ignores_workspace: bool,
    /// The lock of the build, which Go inherits and so holds until it ends.
    pub(crate) lock: Option<&'a File>,
}

#[derive(Debug, Default)]
pub(crate) struct GoBuilt {
    pub(crate) executables: Vec<Executable>,
    /// The folders outside of the sources whose modules the build used.
    pub(crate) elsewhere: Vec<PathBuf>,
}

impl GoBuild {
    pub(crate) fn version(
        &self,
        directory: &Path,
        interruption: &Interruption<'_>,
    ) -> Result<String, BuildError> {
        let text = env(&["GOVERSION"], directory, interruption)?;
        Ok(text.trim().to_owned())
    }

    pub(crate) fn settings(
        &self,
        directory: &Path,
        interruption: &Interruption<'_>,
    ) -> Result<String, BuildError> {
        env(&SETTINGS, directory, interruption)
    }

    /// Returns the workspace file that Go would use for the working tree but not for a commit,
    /// because it is outside of the repository or git does not track it. Both sides are then built
    /// without a workspace.
    pub(crate) fn foreign_workspace(
        &self,
        repository: &Repository<'_>,
    ) -> Result<Option<PathBuf>, BuildError> {
        let here = repository.top.join(&repository.inside);
        let found = env(&[WORKSPACE], &here, &repository.interruption)?;
        let found = found.trim();
        if found.is_empty() || found == NO_WORKSPACE {
            return Ok(None);
        }
        let file = PathBuf::from(found);
        let file = file.canonicalize().unwrap_or(file);
        // A file that the environment names would apply to both sides, with the modules of the
        // working tree.
        let is_named = std::env::var_os(WORKSPACE).is_some_and(|named| !named.is_empty());
        let below = file.strip_prefix(&repository.top).ok();
        let is_tracked = match below {
            Some(below) => repository.tracks(&[below])?,
            None => false,
        };
        Ok((is_named || !is_tracked).then_some(file))
    }

    /// Builds the packages in the requested order. Packages of one pattern are sorted by name, and
    /// those without tests are skipped. A package without tests that was requested by its own path
    /// is an error.
    pub(crate) fn run(
        &self,
        site: &GoSite<'_>,
        interruption: &Interruption<'_>,
    ) -> Result<GoBuilt, BuildError> {
        let mut built = GoBuilt::default();
        for pattern in &self.packages {
            let no_tests = |package: &str| BuildError::NoTests {
                revision: site.revision.to_owned(),
                package: package.to_owned(),
            };
            let mut has_tests = false;
            let run = |words: &[&str], package: &str| {
                site.run(words, package, &self.variables, interruption)
            };
            let listed = run(&["list", NO_GIT, "-f", PACKAGE], pattern)?;
            for line in text(&listed).lines() {
                let mut fields = line.split('\t');
                let (Some(name), Some(directory)) = (fields.next(), fields.next()) else {
                    continue;
                };
                if fields.all(|count| count == "0") {
                    if pattern.contains("...") {
                        continue;
                    }
                    return Err(no_tests(name));
                }
                has_tests = true;
                if built.executables.iter().any(|known| known.name == name) {
                    continue;
                }
                let test = PathBuf::from(format!("{name}.test"));
                let path = join_inside(&site.made, &test).map_err(|error| {
                    let revision = site.revision.to_owned();
                    BuildError::FileOutside { revision, error }
                })?;
                let folder = path.parent().unwrap_or(&site.made);
                fs::create_dir_all(folder).map_err(BuildError::at(folder))?;
                let file = path.display().to_string();
                // Without `-trimpath`, the path of the source tree would differ between the sides.
                let words = ["test", NO_GIT, "-c", "-trimpath", "-o", &file];
                run(&words, name)?;
                built.executables.push(Executable {
                    name: name.to_owned(),
                    path,
                    directory: Some(directory.into()),
                });
            }
            if !has_tests {
                return Err(no_tests(pattern));
            }
            let words = ["list", NO_GIT, "-deps", "-test", "-f", REPLACED];
            let listed = run(&words, pattern)?;
            for folder in text(&listed).lines().map(PathBuf::from) {
                let is_ours = folder.as_os_str().is_empty() || folder.starts_with(site.top);
                if !is_ours && !built.elsewhere.contains(&folder) {
                    built.elsewhere.push(folder);
                }
            }
        }
        Ok(built)
    }
}

impl GoSite<'_> {
    fn run(
        &self,
        words: &[&str],
        package: &str,
        variables: &Variables,
        interruption: &Interruption<'_>,
    ) -> Result<Finished, BuildError> {
        let mut command = go(words, &self.directory);
        command.arg(package);
        // Otherwise Go would switch to the version that the commit requests.
        if let Some(release) = self.toolchain.split(' ').next()
            && release.starts_with("go1")
        {
            command.env("GOTOOLCHAIN", release);
        }
        if self.ignores_workspace {
            command.env(WORKSPACE, NO_WORKSPACE);
        }
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let done = interruption.run(&mut command, self.lock)?;
        if done.status.success() {
            return Ok(done);
        }
        let missing = MissingProject::Go.above(&self.directory);
        let command = format!("go {} {package}", words[0]);
        Err(done.failed(self.revision, &command, missing))
    }
}

fn go(words: &[&str], directory: &Path) -> Command {
    let mut command = Command::new("go");
    command.args(words).current_dir(directory);
    command.stdout(Stdio::piped());
    forget_the_repository(&mut command);
    command
}

fn env(
    names: &[&str],
    directory: &Path,
    interruption: &Interruption<'_>,
) -> Result<String, BuildError> {
    let words = [&["env"], names].concat();
    let done = interruption.run(&mut go(&words, directory), None)?;
    Ok(text(&done))
}

fn text(done: &Finished) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned()
}
