//! Prepares JavaScript suites: installs the dependencies of each side, and writes a worker for each
//! script, or one for all benchmarks of Vitest.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deadheat_link::{TrackedError, tracked_files};

use crate::disk;
use crate::error::BuildError;
use crate::git::forget_the_repository;
use crate::key::KeyInputs;
use crate::missing_project::MissingProject;
use crate::packages::Packages;
use crate::slot::Executable;
use crate::subprocess::{Interruption, Variables};

/// The user's options for JavaScript suites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeBuild {
    /// The benchmarks that Node runs.
    pub suite: NodeSuite,
    /// The command that prepares a side. If it is `None`, the package manager of the lock file
    /// installs the dependencies.
    pub command: Option<String>,
    /// The folder of the npm package `deadheat`, which contains the workers.
    pub package: PathBuf,
    /// Environment variables to set.
    pub variables: Variables,
}

/// The benchmarks of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeSuite {
    /// Scripts, given by paths with shell wildcards. Each script is raced as a separate program.
    Scripts(Vec<String>),
    /// The benchmarks that `vitest bench` runs.
    Vitest,
}

/// A file that identifies the folder of the npm package `deadheat`.
pub(crate) const MODULE: &str = "lib/vitest_worker.js";

/// Lock files, each with the command that installs exactly the versions in it.
const INSTALLERS: [(&str, &str); 6] = [
    ("package-lock.json", NPM_CI),
    ("npm-shrinkwrap.json", NPM_CI),
    (
        "pnpm-lock.yaml",
        "pnpm install --frozen-lockfile --prefer-offline --prod=false",
    ),
    (
        "yarn.lock",
        "yarn install --frozen-lockfile --prefer-offline --production=false",
    ),
    ("bun.lock", "bun install --frozen-lockfile"),
    ("bun.lockb", "bun install --frozen-lockfile"),
];
/// A text that a `yarn.lock` contains only if Yarn 2 or later wrote it, and the install command for
/// it.
const YARN_2: (&str, &str) = (
    "__metadata:",
    "YARN_NODE_LINKER=node-modules yarn install --immutable",
);
/// The npm command that installs exactly the versions in a lock file.
const NPM_CI: &str = "npm ci --include=dev --prefer-offline --no-audit --no-fund --loglevel=error";
/// The install command for a project without a lock file.
const NPM_INSTALL: &str = "npm install --include=dev --prefer-offline --no-audit --no-fund --no-package-lock --loglevel=error";
/// The name of the folders in which Node looks for packages.
const MODULES: &str = "node_modules";

#[derive(Debug)]
pub(crate) struct NodeSite<'a> {
    pub(crate) revision: &'a str,
    pub(crate) top: &'a Path,
    pub(crate) directory: PathBuf,
    /// The folder for the workers.
    pub(crate) made: PathBuf,
    /// The output of [`NodeBuild::node`]: the path of Node, and its version on the next line.
    pub(crate) node: &'a str,
    /// The lock of the build, which the installer inherits and so holds until it ends.
    pub(crate) lock: Option<&'a fs::File>,
}

impl NodeBuild {
    /// Runs the Node in `PATH`, and returns its path, and its version on the next line.
    pub(crate) fn node(
        directory: &Path,
        interruption: &Interruption<'_>,
    ) -> Result<String, BuildError> {
        let mut command = Command::new("node");
        command.args(["-p", "process.execPath + '\\n' + process.version"]);
        command.current_dir(directory);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        match interruption.run(&mut command, None) {
            Ok(done) if done.status.success() => {
                Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
            }
            Ok(done) => Err(BuildError::NoNode { said: done.said() }),
            Err(BuildError::NotStarted { problem, .. }) => Err(BuildError::NoNode {
                said: problem.to_string(),
            }),
            Err(error) => Err(error),
        }
    }

    /// Adds all inputs of the build except the commit.
    pub(crate) fn add_to(&self, key_inputs: &mut KeyInputs, node: &str) {
        key_inputs.add("by", "node");
        match &self.suite {
            NodeSuite::Vitest => key_inputs.add("suite", "vitest"),
            NodeSuite::Scripts(patterns) => {
                for pattern in patterns {
                    key_inputs.add("script", pattern);
                }
            }
        }
        key_inputs.add("command", self.command.as_deref().unwrap_or_default());
        key_inputs.add("node", node);
        // The workers contain the path of the package.
        key_inputs.add("package", &self.package);
    }

    /// Installs the dependencies of a side, and writes the scripts that start its workers.
    pub(crate) fn run(
        &self,
        site: &NodeSite<'_>,
        interruption: &Interruption<'_>,
    ) -> Result<Vec<Executable>, BuildError> {
        self.prepare(site, interruption)?;
        fs::create_dir_all(&site.made).map_err(BuildError::at(&site.made))?;
        // Other parts of deadheat recognise a JavaScript suite by the extension `.js`.
        let worker = |number: usize, name: String, words: &[&str]| {
            let path = site.made.join(format!("suite-{number}.js"));
            let node = site.node.lines().next().unwrap_or("node");
            fs::write(&path, script(node, words))
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)))
                .map_err(BuildError::at(&path))?;
            Ok(Executable {
                name,
                path,
                directory: Some(site.directory.clone()),
            })
        };
        match &self.suite {
            NodeSuite::Vitest => {
                let module = self.package.join(MODULE);
                Ok(vec![worker(0, "vitest".to_owned(), &[&utf8(&module)])?])
            }
            NodeSuite::Scripts(patterns) => {
                let register = self.package.join("lib/register.js");
                let files = site.files(patterns)?;
                let numbered = files.into_iter().enumerate();
                let workers = numbered.map(|(number, file)| {
                    let words = ["--import", &file_url(&register), &format!("./{file}")];
                    worker(number, file.clone(), &words)
                });
                workers.collect()
            }
        }
    }

    fn prepare(
        &self,
        site: &NodeSite<'_>,
        interruption: &Interruption<'_>,
    ) -> Result<(), BuildError> {
        let own = |command| (site.directory.as_path(), command);
        let chosen = self.command.as_deref().map(own);
        let Some((folder, text)) = chosen.or_else(|| site.installer()) else {
            return Ok(());
        };
        let mut command = Command::new("sh");
        command
            .args(["-c", text])
            .current_dir(folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            // The output goes to standard error, because standard output is reserved for results.
            .stdout(std::io::stderr());
        forget_the_repository(&mut command);
        let done = interruption.run(&mut command, site.lock)?;
        if done.status.success() {
            return Ok(());
        }
        let missing = MissingProject::Node.above(&site.directory);
        Err(done.failed(site.revision, text, missing))
    }
}

impl NodeSite<'_> {
    /// Returns the command that installs the dependencies, and the folder to run it in. `None` if a
    /// folder `node_modules` exists, or if there is neither a lock file nor a `package.json`. All
    /// folders up to the top are searched: the lock file of a workspace is at its root, and not
    /// every package manager looks there.
    fn installer(&self) -> Option<(&Path, &'static str)> {
        let folders = || {
            let above = self.directory.ancestors();
            above.take_while(|folder| folder.starts_with(self.top))
        };
        if folders().any(|folder| folder.join(MODULES).exists()) {
            return None;
        }
        let of_folder = |folder| {
            let folder: &Path = folder;
            let (lock, command) = INSTALLERS
                .iter()
                .find(|(lock, _)| folder.join(lock).is_file())?;
            let text = disk::read_text(folder.join(lock)).unwrap_or_default();
            let is_yarn_2 = *lock == "yarn.lock" && text.contains(YARN_2.0);
            Some((folder, if is_yarn_2 { YARN_2.1 } else { command }))
        };
        let project = || folders().find(|folder| folder.join("package.json").is_file());
        folders()
            .find_map(of_folder)
            .or_else(|| Some((project()?, NPM_INSTALL)))
    }

    /// Returns the files that match the patterns, relative to the working folder. Files that match
    /// the same pattern are sorted by name.
    fn files(&self, patterns: &[String]) -> Result<Vec<String>, BuildError> {
        let mut files: Vec<String> = Vec::new();
        for pattern in patterns {
            let no_file = || BuildError::NoScript {
                revision: self.revision.to_owned(),
                pattern: pattern.clone(),
            };
            let below = glob::Pattern::escape(&utf8(&self.directory));
            let paths = glob::glob(&format!("{below}/{pattern}")).map_err(|_| no_file())?;
            let paths = paths.flatten().filter(|path| path.is_file());
            let inside = |path: PathBuf| Some(utf8(path.strip_prefix(&self.directory).ok()?));
            let found: Vec<String> = paths
                .filter_map(inside)
                .filter(|file| !file.split('/').any(|part| part == MODULES))
                .collect();
            if found.is_empty() {
                return Err(no_file());
            }
            for file in found {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }
}

/// Returns the packages in all folders `node_modules` from `directory` up to `top`. Links to
/// folders of the project and deadheat's own packages are left out.
pub(crate) fn installed_packages(top: &Path, directory: &Path) -> Packages {
    let mut packages = Packages::new();
    let above = directory.ancestors();
    for folder in above.take_while(|folder| folder.starts_with(top)) {
        let modules = folder.join(MODULES);
        let scopes = entries(&modules).filter(|(name, _)| name.starts_with('@'));
        let scoped = scopes.flat_map(|(scope, path)| {
            let of_scope = entries(&path);
            of_scope.map(move |(name, path)| (format!("{scope}/{name}"), path))
        });
        for (name, path) in entries(&modules).chain(scoped) {
            let is_own = name == "deadheat" || name.starts_with("@deadheat/");
            if let Some(version) = version_of(&path).filter(|_| !is_own) {
                packages.entry(name).or_insert(version);
            }
        }
    }
    packages
}

fn entries(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, entry.path())
    })
}

/// Returns the version of the package in this folder; `None` if the folder is a link to the
/// project's own sources.
fn version_of(folder: &Path) -> Option<String> {
    let actual = folder.canonicalize().ok()?;
    actual.iter().find(|part| *part == MODULES)?;
    let text = disk::read(actual.join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_slice(&text).ok()?;
    Some(package.get("version")?.as_str()?.to_owned())
}

/// Returns the text of a worker, a shell script that starts Node. If `DEADHEAT_NODE_SEED` is set,
/// it is Node's seed for hashes and random numbers.
fn script(node: &str, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let node = quoted(node);
    format!(
        "\
#!/bin/sh
exec {node} --single-threaded ${{DEADHEAT_NODE_SEED:+--hash-seed=$DEADHEAT_NODE_SEED}} \
         ${{DEADHEAT_NODE_SEED:+--random-seed=$DEADHEAT_NODE_SEED}} {} \"$@\"
",
        words.join(" ")
    )
}

/// Converts a path to a `file://` URL, because Node reads the argument of `--import` as a URL, in
/// which `#`, `?` and `%` are special.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in utf8(path).bytes() {
        match byte.is_ascii_alphanumeric() || b"/._-~@+".contains(&byte) {
            true => url.push(char::from(byte)),
            false => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn utf8(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns true if git tracks a file of the npm package in `folder`, or the target of a symbolic
/// link in it: npm makes untracked links to packages of the repository itself.
///
/// # Errors
///
/// Git cannot list the files that it tracks.
pub fn is_tracked_package(folder: &Path) -> Result<bool, TrackedError> {
    let code = folder.join("lib");
    let files: Vec<PathBuf> = disk::entries(&code).collect();
    let own = [folder.to_owned(), folder.join("package.json"), code];
    for path in own.into_iter().chain(files) {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        for path in [path, real] {
            if !tracked_files(&path)?.is_empty() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_whose_files_lead_to_tracked_ones_is_tracked() {
        let top = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let done = Command::new("git")
                .args(args)
                .current_dir(top.path())
                .output();
            done.is_ok_and(|done| done.status.success())
        };
        if !git(&["init", "--quiet"]) {
            return;
        }
        let path = |path: &str| top.path().join(path);
        for folder in ["evil/lib", "plain/lib", "modules/copy/lib"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        for file in ["evil/package.json", "evil/lib/a.js"] {
            fs::write(path(file), "{}").unwrap();
        }
        assert!(git(&["add", "evil"]));
        fs::write(path("plain/lib/a.js"), "{}").unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(path(to), path(at)).unwrap();
        link("evil", "modules/whole");
        link("evil/lib/a.js", "modules/copy/lib/a.js");
        link("plain", "modules/own");
        for (package, expected) in [
            ("evil", true),
            ("modules/whole", true),
            ("modules/copy", true),
            ("modules/own", false),
            ("plain", false),
        ] {
            assert_eq!(
                is_tracked_package(&path(package)).unwrap(),
                expected,
                "{package}"
            );
        }
    }

    fn site(directory: &Path) -> NodeSite<'_> {
        NodeSite {
            revision: "v1",
            top: directory,
            directory: directory.to_owned(),
            made: directory.join("made"),
            node: "/usr/bin/node\nv22.0.0",
            lock: None,
        }
    }

    #[test]
    fn the_lock_file_decides_how_dependencies_are_installed() {
        let folder = tempfile::tempdir().unwrap();
        let mut site = site(folder.path());
        let installer = |site: &NodeSite<'_>| {
            let (at, command) = site.installer()?;
            assert_eq!(at, folder.path());
            Some(command)
        };
        assert_eq!(installer(&site), None);
        fs::write(folder.path().join("package.json"), "{}").unwrap();
        assert_eq!(installer(&site), Some(NPM_INSTALL));
        for (lock, command) in INSTALLERS {
            let file = folder.path().join(lock);
            fs::write(&file, "").unwrap();
            assert_eq!(installer(&site), Some(command), "{lock}");
            fs::remove_file(file).unwrap();
        }
        fs::write(
            folder.path().join("yarn.lock"),
            "__metadata:\n  version: 8\n",
        )
        .unwrap();
        assert_eq!(installer(&site), Some(YARN_2.1));
        // A package of a workspace.
        site.directory = folder.path().join("packages/a");
        fs::create_dir_all(&site.directory).unwrap();
        fs::write(site.directory.join("package.json"), "{}").unwrap();
        assert_eq!(installer(&site), Some(YARN_2.1));
        fs::create_dir(folder.path().join(MODULES)).unwrap();
        assert_eq!(installer(&site), None);
    }

    #[test]
    fn packages_are_those_of_the_nearest_folder_without_the_projects_own() {
        let folder = tempfile::tempdir().unwrap();
        let package = |path: &str, version: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(&path).unwrap();
            let text = format!(r#"{{ "version": "{version}" }}"#);
            fs::write(path.join("package.json"), text).unwrap();
        };
        package("node_modules/a", "1.0.0");
        package("node_modules/@s/b", "2.0.0");
        package("node_modules/deadheat", "3.0.0");
        package("packages/c", "4.0.0");
        package("packages/c/node_modules/a", "5.0.0");
        let link = folder.path().join("node_modules/c");
        std::os::unix::fs::symlink("../packages/c", link).unwrap();
        let found = installed_packages(folder.path(), &folder.path().join("packages/c"));
        let pairs = [("@s/b", "2.0.0"), ("a", "5.0.0")];
        assert_eq!(
            found,
            pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).into()
        );
    }

    #[test]
    fn patterns_name_files_of_the_side_but_none_of_its_dependencies() {
        let folder = tempfile::tempdir().unwrap();
        let site = site(folder.path());
        for file in [
            "bench/b.mjs",
            "bench/a.mjs",
            "bench/c.txt",
            "node_modules/x/d.mjs",
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().copied().map(str::to_owned).collect();
            site.files(&patterns)
        };
        assert_eq!(
            files(&["bench/*.mjs"]).unwrap(),
            ["bench/a.mjs", "bench/b.mjs"]
        );
        let twice = files(&["bench/b.mjs", "**/*.mjs"]).unwrap();
        assert_eq!(twice, ["bench/b.mjs", "bench/a.mjs"]);
        let error = files(&["test/*.mjs"]).unwrap_err().to_string();
        assert!(error.starts_with("v1 has no file 'test/*.mjs'"), "{error}");
    }

    #[test]
    fn paths_with_signs_of_urls_are_escaped() {
        assert_eq!(file_url(Path::new("/a#b c/x.js")), "file:///a%23b%20c/x.js");
    }

    #[test]
    fn the_worker_script_quotes_every_path() {
        let text = script("/a b's/node", &["--import", "/p/register.js", "x y.mjs"]);
        let end = "'--import' '/p/register.js' 'x y.mjs' \"$@\"\n";
        assert!(
            text.starts_with("#!/bin/sh\nexec '/a b'\\''s/node' --single-threaded ${"),
            "{text}"
        );
        assert!(text.ends_with(end), "{text}");
    }
}
