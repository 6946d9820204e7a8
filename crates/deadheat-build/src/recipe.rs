//! Recipes for the build of a side: `cargo bench --no-run` with recorded links, a command of the
//! user, CMake, Go, a Python environment, or a JavaScript suite. Builds by cargo and by a command
//! are run here.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat_link::{Roles, RolesError, tracked_files};

use crate::artifacts::Messages;
use crate::benches::BenchTarget;
use crate::cmake::CmakeBuild;
use crate::disk::entries;
use crate::error::BuildError;
use crate::error::Note;
use crate::git::forget_the_repository;
use crate::go::GoBuild;
use crate::library::{Library, LibraryChoice, OfferedLibrary};
use crate::missing_project::MissingProject;
use crate::node::NodeBuild;
use crate::python::PytestBuild;
use crate::repository::Repository;
use crate::slot::Executable;
use crate::subprocess::{Finished, Interruption, Variables};

/// The way to build a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// Builds with `cargo bench --no-run`.
    Cargo(CargoBuild),
    /// Builds with a command of the user.
    Command(CommandBuild),
    /// Builds with CMake.
    Cmake(CmakeBuild),
    /// Builds with `go test -c`.
    Go(GoBuild),
    /// Creates a Python environment for a pytest suite.
    Pytest(PytestBuild),
    /// Installs the dependencies of a JavaScript suite.
    Node(NodeBuild),
}

impl Recipe {
    /// Returns the recipe without the `--bench` options for targets of these names.
    pub(crate) fn without_benches(&self, names: &[&str]) -> Self {
        let mut recipe = self.clone();
        if let Self::Cargo(build) = &mut recipe {
            build.arguments = without_targets(&build.arguments, names);
        }
        recipe
    }

    /// Returns the folders whose `Cargo.lock` may apply; empty if the recipe does not use cargo.
    pub(crate) fn lock_folders(&self, repository: &Repository<'_>) -> Vec<PathBuf> {
        match self {
            Self::Cargo(build) => build.lock_folders(repository),
            _ => Vec::new(),
        }
    }

    /// Returns the kind of project that cargo or Go needs, if neither `directory` nor a folder
    /// above, up to `top`, contains it. Above `top`, cargo and Go could find another project: for a
    /// commit without a Cargo.toml, whose sources were in a cache below another cargo project,
    /// cargo built that project.
    pub(crate) fn missing_project(&self, top: &Path, directory: &Path) -> Option<MissingProject> {
        match self {
            Self::Cargo(build) if build.names_manifest() => None,
            Self::Cargo(_) => MissingProject::Cargo.below(top, directory),
            Self::Go(_) => MissingProject::Go.below(top, directory),
            _ => None,
        }
    }
}

/// The environment variable that passes the user's own rustc wrapper to deadheat's.
pub const WRAPPED: &str = "DEADHEAT_WRAPPED";

/// The user's options for `cargo bench`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CargoBuild {
    /// Cargo itself: a name in `PATH`, or a path.
    pub cargo: OsString,
    /// The deadheat program, which replaces compiler and linker if it is started under their names.
    pub program: PathBuf,
    /// Options of `cargo bench`, without those for the target folder, the output format, and
    /// `--no-run`.
    pub arguments: Vec<OsString>,
    /// The target folder for the working tree, if the user set one.
    pub target_dir: Option<PathBuf>,
    /// The options of `cargo metadata` that correspond to `arguments`.
    pub metadata: Vec<OsString>,
    /// The toolchain that the user chose for rustup; `None` for the default of the folder.
    pub toolchain: Option<String>,
    /// Environment variables to set.
    pub variables: Variables,
    /// The implementation of criterion that the bench targets are compiled with.
    pub criterion: LibraryChoice,
}

/// Makes `program` replace compiler and linker in a call of cargo that builds in `target`, so that
/// links are recorded.
///
/// Returns a note for each executable that had no link record and was removed, so that cargo links
/// it again.
///
/// # Errors
///
/// [`RolesError`] if the folder cannot be used.
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

/// Returns the user's own compiler wrapper, which deadheat's wrapper calls.
fn their_wrapper() -> Option<OsString> {
    // Cargo reads both, the first with priority.
    [
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    ]
    .into_iter()
    .filter_map(std::env::var_os)
    .find(|wrapper| !wrapper.is_empty())
    // If `cargo deadheat` runs inside a bench program, the wrapper is deadheat's own.
    .filter(|wrapper| Path::new(wrapper).file_name() != Some(Roles::COMPILER.as_ref()))
}

#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) revision: &'a str,
    pub(crate) top: &'a Path,
    /// The folder at or below `top` in which to run cargo.
    pub(crate) directory: PathBuf,
    pub(crate) target: PathBuf,
    /// The lock of the build, which cargo inherits and so holds until it ends.
    pub(crate) lock: Option<&'a File>,
    pub(crate) criterion: Option<&'a OfferedLibrary>,
}

/// Returns the output of `rustc -vV` in `directory`, for a command that may build Rust code; `None`
/// without rustc.
pub(crate) fn rust_compiler(directory: &Path, interruption: &Interruption<'_>) -> Option<String> {
    let done = interruption.run(rustc(directory).arg("-vV"), None).ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

impl CargoBuild {
    /// Returns the output of `rustc -vV` in `directory`.
    pub(crate) fn compiler(
        &self,
        directory: &Path,
        interruption: &Interruption<'_>,
    ) -> Result<String, BuildError> {
        let mut command = match &self.toolchain {
            None => rustc(directory),
            Some(toolchain) => in_toolchain(toolchain, "rustc".as_ref()),
        };
        // If rustc cannot run, cargo reports that when it builds.
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let done = interruption.run(command.arg("-vV"), None)?;
        match &self.toolchain {
            Some(toolchain) if !done.status.success() => Err(BuildError::NoToolchain {
                toolchain: toolchain.clone(),
                said: done.said(),
            }),
            _ => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        }
    }

    /// Returns the toolchain that rustup uses in `directory`; `None` if the user chose one or
    /// rustup is not in use.
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

    /// Builds the working tree in place. If `beside` is true, cargo builds into `site.target`
    /// instead of its usual target folder, because the other side is a build of the same tree.
    pub(crate) fn run_here(
        &self,
        site: &Site<'_>,
        beside: bool,
        interruption: &Interruption<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Messages, BuildError> {
        let format = match site.criterion {
            None => SHOWN,
            Some(_) => UNSHOWN,
        };
        let mut command = self.bench(site, format, &self.arguments);
        let own = beside.then_some(&site.target);
        if let Some(folder) = own.or(self.target_dir.as_ref()) {
            command.arg("--target-dir").arg(folder);
        }
        let (done, messages) = self.run(command, site, interruption, tell)?;
        self.built(done, messages, site)
    }

    /// Builds a commit with the options for the working tree. Compiler messages are shown only if
    /// the build fails, because warnings about old sources do not help the user.
    pub(crate) fn run_apart(
        &self,
        site: &Site<'_>,
        repository: &Repository<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<Messages, BuildError> {
        let arguments = self.moved(&repository.top, site.top);
        let command = self.apart(site, repository, UNSHOWN, &arguments);
        let (done, messages) = self.run(command, site, &repository.interruption, tell)?;
        self.built(done, messages, site)
    }

    /// Tries to build only these bench targets of a commit. Compiler output is only in the returned
    /// messages.
    pub(crate) fn try_only(
        &self,
        site: &Site<'_>,
        repository: &Repository<'_>,
        targets: &[BenchTarget],
        tell: &mut dyn FnMut(Note),
    ) -> Result<(Finished, Messages), BuildError> {
        let arguments = only(&self.moved(&repository.top, site.top), targets);
        let command = self.apart(site, repository, UNSHOWN, &arguments);
        self.run(command, site, &repository.interruption, tell)
    }

    /// Tries to build a commit with added bench targets, without those in `dropped`. Compiler
    /// output is only in the returned messages.
    pub(crate) fn try_apart(
        &self,
        site: &Site<'_>,
        repository: &Repository<'_>,
        dropped: &[&str],
        tell: &mut dyn FnMut(Note),
    ) -> Result<(Finished, Messages), BuildError> {
        let arguments = without(&self.moved(&repository.top, site.top), dropped);
        let command = self.apart(site, repository, UNSHOWN, &arguments);
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
        // cargo itself finds files in parent folders of the commit's sources.
        let is_found = |file: &PathBuf| {
            let folder = file.ancestors().nth(2).unwrap_or(file);
            site.top.starts_with(folder)
        };
        let mut files = configuration_above(&repository.top);
        files.retain(|file| !is_found(file));
        let mut words = configured(files, site.top, &site.directory);
        // The user's own arguments follow, because the last `--config` wins.
        words.extend_from_slice(arguments);
        let mut command = self.bench(site, format, &words);
        command.arg("--target-dir").arg(&site.target);
        command.env("CARGO_BUILD_BUILD_DIR", &site.target);
        if let Some(toolchain) = self.toolchain(&here, &repository.interruption) {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        forget_the_repository(&mut command);
        command
    }

    /// Returns a cargo command with the toolchain of the user's folder `here` and with the
    /// variables of this build.
    pub(crate) fn cargo_of(&self, here: &Path, interruption: &Interruption<'_>) -> Command {
        let mut command = self.cargo();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(toolchain) = self.toolchain(here, interruption) {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        command
    }

    pub(crate) fn is_offline(&self) -> bool {
        let mut words = self.arguments.iter();
        words.any(|word| word == "--offline" || word == "--frozen")
    }

    fn cargo(&self) -> Command {
        match &self.toolchain {
            None => Command::new(&self.cargo),
            Some(toolchain) => in_toolchain(toolchain, "cargo".as_ref()),
        }
    }

    fn bench(&self, site: &Site<'_>, format: &str, arguments: &[OsString]) -> Command {
        let mut command = self.cargo();
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
        if let Some(library) = site.criterion {
            let roles = Roles::give(&site.target, &self.program)?;
            let compiler = roles.compiler_with_criterion(&library.key, &library.file)?;
            command.env("RUSTC_WORKSPACE_WRAPPER", compiler);
        }
        let done = interruption.run(&mut command, site.lock)?;
        let messages = Messages::read(&done.stdout);
        Ok((done, messages))
    }

    /// Returns the messages if the build succeeded and made a bench executable, and otherwise an
    /// error.
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
        if site.criterion.is_some() && messages.may_blame_criterion() {
            let first = messages.errors(site.top).into_iter().next();
            return Err(BuildError::NotWithOurLibrary {
                library: Library::Criterion,
                revision: site.revision.to_owned(),
                problem: first.map_or_else(|| done.status.to_string(), |error| error.problem),
            });
        }
        show(&messages);
        let mut said = OsString::from("cargo bench --no-run");
        for argument in &self.arguments {
            said.push(" ");
            said.push(argument);
        }
        let missing = MissingProject::Cargo.above(&site.directory);
        Err(done.failed(site.revision, &said.to_string_lossy(), missing))
    }

    /// Returns the arguments, with absolute paths below `from` replaced by paths below `to`.
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

    /// Returns true if the arguments name a manifest, so that cargo searches for none.
    pub(crate) fn names_manifest(&self) -> bool {
        self.metadata.iter().any(|word| word == "--manifest-path")
    }

    /// Returns the folders whose `Cargo.lock` may apply: from the package up to the top of the
    /// repository.
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

/// Cargo's message format with which compiler messages go to standard error.
const SHOWN: &str = "json-render-diagnostics";
/// Cargo's message format with which compiler messages are only in the JSON.
const UNSHOWN: &str = "json";

fn show(messages: &Messages) {
    let mut stderr = std::io::stderr().lock();
    for text in messages.rendered() {
        // Fails if standard error is closed; then the messages cannot be shown.
        let _ = stderr.write_all(text.as_bytes());
    }
}

/// Returns the options of `cargo bench` without the bench targets in `dropped` and without options
/// that lock `Cargo.lock`, because new dev-dependencies must change it.
fn without(arguments: &[OsString], dropped: &[&str]) -> Vec<OsString> {
    let mut kept = without_targets(arguments, dropped);
    kept.retain(|word| word != "--locked");
    for word in &mut kept {
        if word == "--frozen" {
            *word = "--offline".into();
        }
    }
    kept
}

fn without_targets(arguments: &[OsString], dropped: &[&str]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = arguments.iter().peekable();
    let is_dropped = |name: &str| dropped.contains(&name);
    while let Some(word) = words.next() {
        let next = words.peek().map(|next| next.to_string_lossy());
        match &*word.to_string_lossy() {
            "--bench" if next.is_some_and(|next| is_dropped(&next)) => {
                words.next();
            }
            text if text.strip_prefix("--bench=").is_some_and(is_dropped) => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}

/// Returns the options of `cargo bench` with these bench targets instead of those that the options
/// select, and without options that lock `Cargo.lock`.
fn only(arguments: &[OsString], targets: &[BenchTarget]) -> Vec<OsString> {
    const OF_ALL: [&str; 6] = [
        "--benches",
        "--all-targets",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
    ];
    const OF_ONE: [&str; 4] = ["--bench", "--bin", "--test", "--example"];
    let mut kept = Vec::new();
    let arguments = without(arguments, &[]);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        if OF_ONE.contains(&name) {
            if name == text {
                words.next();
            }
        } else if !OF_ALL.contains(&name) {
            kept.push(word.clone());
        }
    }
    for target in targets {
        kept.extend(["--bench".into(), OsString::from(&target.name)]);
    }
    kept
}

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

/// Returns cargo's configuration files in the folders above a repository, the outermost folder
/// first, without the user's files that apply in all folders.
pub(crate) fn configuration_above(top: &Path) -> Vec<PathBuf> {
    let of_all = configuration_of_the_user();
    let folders = top.ancestors().skip(1);
    let files = folders.flat_map(|folder| configuration_in(&folder.join(".cargo")));
    let mut files: Vec<PathBuf> = files.filter(|file| !of_all.contains(file)).collect();
    files.reverse();
    files
}

/// Returns cargo's `--config` options for the files `above` a repository, for a build of a commit in
/// `directory` below `top`. `--config` outranks all files that cargo finds itself, so the commit's
/// own files follow. They take precedence in the working tree, too.
fn configured(above: Vec<PathBuf>, top: &Path, directory: &Path) -> Vec<OsString> {
    if above.is_empty() {
        return Vec::new();
    }
    let folders = directory.ancestors().take_while(|it| it.starts_with(top));
    let own = folders.flat_map(|folder| configuration_in(&folder.join(".cargo")));
    let mut own: Vec<PathBuf> = own.collect();
    own.reverse();
    let files = above.into_iter().chain(own);
    files
        .flat_map(|file| ["--config".into(), file.into_os_string()])
        .collect()
}

/// Returns the configuration files of cargo that git does not track, which are the user's own:
/// those for the user's folder and for the folders above it, up to the top. Paths are relative to
/// the top.
pub(crate) fn own_configuration(repository: &Repository<'_>) -> Result<Vec<PathBuf>, BuildError> {
    let mut found = Vec::new();
    for folder in repository.inside.ancestors() {
        for path in entries(&repository.top.join(folder).join(".cargo")) {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            // `config.toml` may include other TOML files. `credentials.toml` is left out: it
            // contains secrets.
            let is_wanted =
                name == "config" || (name.ends_with(".toml") && name != "credentials.toml");
            if is_wanted
                && path.is_file()
                && tracked_files(&path)?.is_empty()
                && let Ok(below) = path.strip_prefix(&repository.top)
            {
                found.push(below.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the user's configuration files of cargo, which apply in all folders.
pub(crate) fn configuration_of_the_user() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    home.into_iter()
        .flat_map(|home| configuration_in(&home))
        .collect()
}

/// Returns the configuration file in a folder `.cargo`. cargo ignores `config.toml` next to
/// `config`.
fn configuration_in(folder: &Path) -> Option<PathBuf> {
    let files = ["config", "config.toml"].map(|name| folder.join(name));
    files.into_iter().find(|file| file.is_file())
}

/// What races in a folder that a command has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Racing {
    /// Executables with benchmarks, by their paths relative to the folder of the command.
    Executables(Vec<PathBuf>),
    /// Commands of the user.
    Commands,
    /// This worker, which starts programs of the folder.
    Worker(PathBuf),
}

/// A build command and what races after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandBuild {
    /// The command, run by `sh -c` in the user's working directory or in the same folder of a
    /// commit.
    pub command: String,
    /// What races in the built folder.
    pub racing: Racing,
    /// Environment variables to set.
    pub variables: Variables,
}

impl CommandBuild {
    /// Checks that executables are named and that their paths stay inside the repository, before
    /// anything is built.
    pub(crate) fn check(&self, repository: &Repository<'_>) -> Result<(), BuildError> {
        let Racing::Executables(executables) = &self.racing else {
            return Ok(());
        };
        if executables.is_empty() {
            return Err(BuildError::NoExe(self.command.clone()));
        }
        for path in executables {
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
        // The output goes to standard error, because standard output is reserved for results.
        command.stdout(std::io::stderr());
        forget_the_repository(&mut command);
        let done = interruption.run(&mut command, lock)?;
        if !done.status.success() {
            return Err(done.failed(revision, &self.command, None));
        }
        let executables = match &self.racing {
            Racing::Executables(executables) => executables,
            Racing::Commands => return Ok(Vec::new()),
            Racing::Worker(path) => {
                return Ok(vec![Executable {
                    name: "load".to_owned(),
                    path: path.clone(),
                    directory: Some(folder.to_owned()),
                }]);
            }
        };
        executables
            .iter()
            .map(|path| {
                // The file name, unless another executable has the same one.
                let same = |other: &&PathBuf| other.file_name() == path.file_name();
                let name = match path.file_name() {
                    Some(name) if executables.iter().filter(same).count() == 1 => {
                        name.to_string_lossy().into_owned()
                    }
                    _ => path.display().to_string(),
                };
                let path = folder.join(path);
                let problem = match fs::metadata(&path) {
                    Err(_) => "does not exist",
                    Ok(about) if !about.is_file() => "is not a file",
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

/// Returns true for a jar (a zip archive), which needs no execute permission because `java` starts
/// it.
fn is_jar(path: &Path) -> bool {
    let mut beginning = [0; 4];
    let read = |mut file: File| file.read_exact(&mut beginning);
    File::open(path).and_then(read).is_ok() && beginning == *b"PK\x03\x04"
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
            criterion: LibraryChoice::Own,
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
    fn a_dropped_bench_target_is_removed_from_the_options() {
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
