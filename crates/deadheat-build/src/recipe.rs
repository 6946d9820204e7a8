//! The ways to build a side: by `cargo bench --no-run`, its links recorded, or by a command of the
//! user's, for projects that are not cargo's; and all that such a build depends on besides its
//! commit.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat_link::{Roles, RolesError};

use crate::artifacts::Messages;
use crate::error::BuildError;
use crate::error::Note;
use crate::go::GoBuild;
use crate::key::KeyInputs;
use crate::python::PytestBuild;
use crate::repository::{Repository, forget_the_repository};
use crate::slot::Executable;
use crate::subprocess::{Finished, Interruption, Variables};

/// The way in which both sides are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// By `cargo bench --no-run`.
    Cargo(CargoBuild),
    /// By a command of the user's.
    Command(CommandBuild),
    /// By `go test -c`.
    Go(GoBuild),
    /// By an environment of Python, for a suite of pytest.
    Pytest(PytestBuild),
}

/// The variable that names the wrapper of rustc that the user had.
pub const WRAPPED: &str = "DEADHEAT_WRAPPED";

/// `cargo bench`, as the user wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CargoBuild {
    /// Cargo itself: a name, or a path.
    pub cargo: OsString,
    /// The program that stands in for compiler and linker when started under their names.
    pub program: PathBuf,
    /// Options of `cargo bench` for both sides; not among them those that say where to build, what
    /// to print and whether to run.
    pub arguments: Vec<OsString>,
    /// The folder in which the working tree is built, if the user says so.
    pub target_dir: Option<PathBuf>,
    /// Options of `cargo metadata` that belong to `arguments`.
    pub metadata: Vec<OsString>,
    /// The toolchain, by its name for rustup, if it is not that of the place.
    pub toolchain: Option<String>,
    /// Variables of the environment that are set.
    pub variables: Variables,
}

/// Lets `program` stand in for compiler and linker in a call of cargo that builds in `target`, so
/// that links are recorded.
///
/// Returns executables without records, which were removed so that they are linked again.
///
/// # Errors
///
/// [`RolesError`] when the folder cannot be used.
pub fn stand_in(
    cargo: &mut Command,
    target: &Path,
    program: &Path,
) -> Result<Vec<Note>, RolesError> {
    let roles = Roles::give(target, program)?;
    let removed = roles.remove_unrecorded()?;
    cargo.env("RUSTC_WORKSPACE_WRAPPER", roles.compiler());
    if let Some(theirs) = their_wrapper() {
        cargo.env(WRAPPED, theirs);
    }
    let again = |executable| Note::LinkedAgain { executable };
    Ok(removed.into_iter().map(again).collect())
}

/// A wrapper of the compiler that was there before, and stays in use.
fn their_wrapper() -> Option<OsString> {
    // Both are read by cargo, the first before the second.
    [
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    ]
    .into_iter()
    .filter_map(std::env::var_os)
    .find(|wrapper| !wrapper.is_empty())
    // When a bench program starts `cargo deadheat` again, it is ours.
    .filter(|wrapper| Path::new(wrapper).file_name() != Some(Roles::COMPILER.as_ref()))
}

/// The place in which cargo builds.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// The side, for errors.
    pub(crate) revision: &'a str,
    /// The top of the sources.
    pub(crate) top: &'a Path,
    /// The folder below it in which cargo is called.
    pub(crate) directory: PathBuf,
    /// The target folder.
    pub(crate) target: PathBuf,
    /// Held while cargo lives.
    pub(crate) lock: Option<&'a File>,
}

impl CargoBuild {
    /// The version of the compiler in a folder, as it prints it.
    pub(crate) fn compiler(
        &self,
        directory: &Path,
        interruption: &Interruption<'_>,
    ) -> Result<String, BuildError> {
        let mut command = match &self.toolchain {
            None => rustc(directory),
            Some(toolchain) => {
                let mut command = in_toolchain(toolchain, "rustc".as_ref());
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                command
            }
        };
        let done = interruption.run(command.arg("-vV"), None)?;
        match &self.toolchain {
            Some(toolchain) if !done.status.success() => Err(BuildError::NoToolchain {
                toolchain: toolchain.clone(),
                said: done.said(),
            }),
            _ => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        }
    }

    /// The toolchain of the place where the user stands, for rustup.
    fn toolchain(&self, directory: &Path, interruption: &Interruption<'_>) -> Option<OsString> {
        if std::env::var_os("RUSTUP_TOOLCHAIN").is_some() || self.toolchain.is_some() {
            return None;
        }
        let mut rustc = rustc(directory);
        rustc.args(["--print", "sysroot"]);
        let done = interruption.run(&mut rustc, None).ok()?;
        let text = String::from_utf8(done.stdout).ok()?;
        let sysroot = Path::new(text.trim());
        let is_rustup_s = sysroot.parent()?.file_name()? == "toolchains";
        is_rustup_s.then(|| sysroot.file_name().unwrap_or_default().to_owned())
    }

    /// Builds the working tree where it is, in the target folder of the site where `beside` what was
    /// built of it before.
    pub(crate) fn run_here(
        &self,
        site: &Site<'_>,
        beside: bool,
        interruption: &Interruption<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Messages, BuildError> {
        let mut command = self.bench(site, RENDERED, &self.arguments);
        let own = beside.then_some(&site.target);
        if let Some(folder) = own.or(self.target_dir.as_ref()) {
            command.arg("--target-dir").arg(folder);
        }
        let (done, messages) = self.run(command, site, interruption, tell)?;
        self.built(done, messages, site)
    }

    /// Builds a commit, as the working tree is built.
    pub(crate) fn run_apart(
        &self,
        site: &Site<'_>,
        repository: &Repository<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Messages, BuildError> {
        let arguments = self.moved(&repository.top, site.top);
        let command = self.apart(site, repository, RENDERED, &arguments);
        let (done, messages) = self.run(command, site, &repository.interruption, tell)?;
        self.built(done, messages, site)
    }

    /// Tries to build a commit whose bench targets are not all its own, without those in
    /// `dropped`. What the compiler says is in the messages, and nowhere else.
    pub(crate) fn try_apart(
        &self,
        site: &Site<'_>,
        repository: &Repository<'_>,
        dropped: &[&str],
        tell: &mut dyn FnMut(Note),
    ) -> Result<(Finished, Messages), BuildError> {
        let arguments = without(&self.moved(&repository.top, site.top), dropped);
        let command = self.apart(site, repository, "json", &arguments);
        self.run(command, site, &repository.interruption, tell)
    }

    fn apart(
        &self,
        site: &Site<'_>,
        repository: &Repository<'_>,
        format: &str,
        arguments: &[OsString],
    ) -> Command {
        let here = repository.top.join(&repository.inside);
        let mut command = self.bench(site, format, arguments);
        command.arg("--target-dir").arg(&site.target);
        command.env("CARGO_BUILD_BUILD_DIR", &site.target);
        for file in configuration_above(&repository.top) {
            // It is found from below as well.
            if !site
                .top
                .starts_with(file.ancestors().nth(2).unwrap_or(&file))
            {
                command.arg("--config").arg(file);
            }
        }
        if let Some(toolchain) = self.toolchain(&here, &repository.interruption) {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        forget_the_repository(&mut command);
        command
    }

    fn bench(&self, site: &Site<'_>, format: &str, arguments: &[OsString]) -> Command {
        let mut command = match &self.toolchain {
            None => Command::new(&self.cargo),
            Some(toolchain) => in_toolchain(toolchain, "cargo".as_ref()),
        };
        command
            .args(["bench", "--no-run", "--message-format", format])
            .args(arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&site.directory)
            .stdout(Stdio::piped());
        command
    }

    fn run(
        &self,
        mut command: Command,
        site: &Site<'_>,
        interruption: &Interruption<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<(Finished, Messages), BuildError> {
        for note in stand_in(&mut command, &site.target, &self.program)? {
            tell(note);
        }
        let done = interruption.run(&mut command, site.lock)?;
        let messages = Messages::read(&done.stdout);
        Ok((done, messages))
    }

    /// The messages of a build that succeeded and made something to race.
    pub(crate) fn built(
        &self,
        done: Finished,
        messages: Messages,
        site: &Site<'_>,
    ) -> Result<Messages, BuildError> {
        if done.status.success() {
            if messages.benches().is_empty() {
                return Err(BuildError::NoBench(site.revision.to_owned()));
            }
            return Ok(messages);
        }
        let mut said = OsString::from("cargo bench --no-run");
        for argument in &self.arguments {
            said.push(" ");
            said.push(argument);
        }
        Err(done.failed(site.revision, &said.to_string_lossy()))
    }

    /// The arguments with paths below `from`, absolute ones, below `to`.
    pub(crate) fn moved(&self, from: &Path, to: &Path) -> Vec<OsString> {
        let moved = |value: &OsStr| {
            let path = Path::new(value);
            let known = path.is_absolute().then(|| path.canonicalize().ok())?;
            let path = known.unwrap_or_else(|| path.to_owned());
            Some(to.join(path.strip_prefix(from).ok()?).into_os_string())
        };
        let argument = |argument: &OsString| {
            let text = argument.to_str()?;
            match text.split_once('=').filter(|_| text.starts_with("--")) {
                None => moved(argument),
                Some((name, value)) => {
                    let mut argument = OsString::from(format!("{name}="));
                    argument.push(moved(value.as_ref())?);
                    Some(argument)
                }
            }
        };
        let arguments = self.arguments.iter();
        arguments
            .map(|word| argument(word).unwrap_or_else(|| word.clone()))
            .collect()
    }

    /// The folders below the top whose `Cargo.lock` may count: those from the package to the top.
    pub(crate) fn lock_folders(&self, repository: &Repository<'_>) -> Vec<PathBuf> {
        let mut words = self.metadata.iter();
        let mut folders = vec![repository.inside.clone()];
        while let Some(word) = words.next() {
            if word == "--manifest-path"
                && let Some(path) = words.next()
                && let Ok(path) = repository
                    .top
                    .join(&repository.inside)
                    .join(path)
                    .canonicalize()
                && let Ok(below) = path.strip_prefix(&repository.top)
            {
                folders = vec![below.parent().unwrap_or(below).to_owned()];
            }
        }
        folders[0].ancestors().map(Path::to_owned).collect()
    }
}

/// The form of cargo's messages in which what the compiler says goes to standard error.
const RENDERED: &str = "json-render-diagnostics";

/// Options of `cargo bench` without these bench targets, and without those that forbid cargo to
/// change a lock file, as new dev-dependencies must.
fn without(arguments: &[OsString], dropped: &[&str]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let is_dropped = |name: &str| dropped.contains(&name);
        match &*text {
            "--locked" => {}
            "--frozen" => kept.push("--offline".into()),
            "--bench"
                if words
                    .peek()
                    .is_some_and(|next| is_dropped(&next.to_string_lossy())) =>
            {
                words.next();
            }
            text if text.strip_prefix("--bench=").is_some_and(is_dropped) => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// A program of a toolchain of rustup's.
fn in_toolchain(toolchain: &str, program: &OsStr) -> Command {
    let mut command = Command::new("rustup");
    let toolchain = toolchain.strip_prefix('+').unwrap_or(toolchain);
    command.args(["run", toolchain]).arg(program);
    command
}

fn rustc(directory: &Path) -> Command {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.current_dir(directory).stdout(Stdio::piped());
    command
}

/// Configuration of cargo above the top of a repository, the nearest first.
pub(crate) fn configuration_above(top: &Path) -> Vec<PathBuf> {
    let folders = top.ancestors().skip(1);
    let files = folders.flat_map(|folder| configuration_in(&folder.join(".cargo")));
    files.collect()
}

/// Configuration of cargo that is the user's, wherever they stand.
pub(crate) fn configuration_of_the_user() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    home.into_iter()
        .flat_map(|home| configuration_in(&home))
        .collect()
}

fn configuration_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let files = ["config", "config.toml"].map(|name| folder.join(name));
    files.into_iter().filter(|file| file.is_file())
}

/// A command and the executables it makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandBuild {
    /// Run by `sh -c` in the folder that the user stands in, or in the same folder of a commit.
    pub command: String,
    /// Paths below that folder.
    pub executables: Vec<PathBuf>,
    /// True where commands race in the folder, so that no executable need be named.
    pub is_for_commands: bool,
    /// Variables of the environment that are set.
    pub variables: Variables,
}

impl CommandBuild {
    /// Finds fault before anything is built.
    pub(crate) fn check(&self, repository: &Repository<'_>) -> Result<(), BuildError> {
        if self.executables.is_empty() && !self.is_for_commands {
            return Err(BuildError::NoExe(self.command.clone()));
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
                return Err(BuildError::ExeOutside(path.clone()));
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
    ) -> Result<Vec<Executable>, BuildError> {
        let mut command = Command::new("sh");
        command
            .args(["-c", &self.command])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(folder);
        // What it prints is for the user, and standard output is for answers.
        command.stdout(std::io::stderr());
        forget_the_repository(&mut command);
        let done = interruption.run(&mut command, lock)?;
        if !done.status.success() {
            return Err(done.failed(revision, &self.command));
        }
        self.executables
            .iter()
            .map(|path| {
                // The file name, unless another executable has the same.
                let same = |other: &&PathBuf| other.file_name() == path.file_name();
                let name = match path.file_name() {
                    Some(name) if self.executables.iter().filter(same).count() == 1 => {
                        name.to_string_lossy().into_owned()
                    }
                    _ => path.display().to_string(),
                };
                let path = folder.join(path);
                let problem = match fs::metadata(&path) {
                    Err(_) => "is not there; --exe names what --build makes",
                    Ok(about) if !about.is_file() => "is no file",
                    Ok(about) if about.permissions().mode() & 0o111 == 0 && !is_jar(&path) => {
                        "is not executable"
                    }
                    Ok(_) => {
                        return Ok(Executable {
                            name,
                            path,
                            directory: None,
                        });
                    }
                };
                Err(BuildError::NoExecutable {
                    revision: revision.to_owned(),
                    path,
                    problem,
                })
            })
            .collect()
    }
}

/// Returns true for a jar, which another program starts: the beginning of a zip archive.
fn is_jar(path: &Path) -> bool {
    let mut beginning = [0; 4];
    let read = |mut file: File| file.read_exact(&mut beginning);
    File::open(path).and_then(read).is_ok() && beginning == *b"PK\x03\x04"
}

/// The way in which a side is built, with all that it depends on besides the commit.
#[derive(Clone)]
pub(crate) struct Way<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) key_inputs: KeyInputs,
    /// The version of the compiler, as it tells it.
    pub(crate) compiler: String,
}

impl<'a> Way<'a> {
    /// Those of both sides, the baseline first.
    pub(crate) fn of(
        repository: &Repository<'_>,
        recipes: [&'a Recipe; 2],
    ) -> Result<[Self; 2], BuildError> {
        let [base, head] = recipes;
        let first = Self::of_one(repository, base)?;
        let second = match base == head {
            true => first.clone(),
            false => Self::of_one(repository, head)?,
        };
        Ok([first, second])
    }

    pub(crate) fn of_one(
        repository: &Repository<'_>,
        recipe: &'a Recipe,
    ) -> Result<Self, BuildError> {
        let mut key_inputs = KeyInputs::of_the_surroundings(repository);
        let mut compiler = String::new();
        let variables = match recipe {
            Recipe::Cargo(build) => {
                key_inputs.add("by", "cargo");
                for argument in build.moved(&repository.top, Path::new("/")) {
                    key_inputs.add("argument", argument);
                }
                let here = repository.top.join(&repository.inside);
                compiler = build.compiler(&here, &repository.interruption)?;
                key_inputs.add("compiler", &compiler);
                let above = configuration_above(&repository.top);
                for file in above.iter().chain(&configuration_of_the_user()) {
                    key_inputs.add_file(file);
                }
                &build.variables
            }
            Recipe::Command(build) => {
                key_inputs.add("by", &build.command);
                for path in &build.executables {
                    key_inputs.add("executable", path);
                }
                &build.variables
            }
            Recipe::Go(build) => {
                key_inputs.add("by", "go");
                for package in &build.packages {
                    key_inputs.add("package", package);
                }
                let here = repository.top.join(&repository.inside);
                compiler = build.version(&here, &repository.interruption)?;
                key_inputs.add("compiler", &compiler);
                key_inputs.add("settings", build.settings(&here, &repository.interruption)?);
                &build.variables
            }
            Recipe::Pytest(build) => {
                let here = repository.top.join(&repository.inside);
                compiler = build.interpreter(&here, &repository.interruption)?;
                build.add_to(&mut key_inputs, &compiler);
                &build.variables
            }
        };
        for (name, value) in variables {
            key_inputs.add("own variable", name);
            key_inputs.add("value", value);
        }
        Ok(Self {
            recipe,
            key_inputs,
            compiler,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_in_the_working_tree_become_paths_of_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let word = |path: &str| top.join(path).display().to_string();
        let arguments = [
            "--bench".to_owned(),
            "race".to_owned(),
            "--manifest-path".to_owned(),
            word("a/Cargo.toml"),
            format!("--config={}", word("own.toml")),
            "--config".to_owned(),
            "/elsewhere/own.toml".to_owned(),
        ];
        let build = CargoBuild {
            cargo: "cargo".into(),
            program: "/p".into(),
            arguments: arguments.map(OsString::from).into(),
            target_dir: None,
            metadata: vec![],
            toolchain: None,
            variables: vec![],
        };
        let expected = [
            "--bench",
            "race",
            "--manifest-path",
            "/t/a/Cargo.toml",
            "--config=/t/own.toml",
            "--config",
            "/elsewhere/own.toml",
        ];
        assert_eq!(build.moved(&top, Path::new("/t")), expected);
    }

    #[test]
    fn a_bench_target_that_is_left_out_is_not_asked_for() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        let line = "--bench a -p x --bench=a --bench b --locked --frozen";
        assert_eq!(
            without(&words(line), &["a"]),
            words("-p x --bench b --offline")
        );
        assert_eq!(
            without(&words("--benches --bench -q"), &["a"]),
            words("--benches --bench -q")
        );
    }
}
