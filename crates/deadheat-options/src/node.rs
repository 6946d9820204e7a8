//! Options of races of JavaScript suites.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::belongs_to_another;
use deadheat::parts::model::HELP;
use deadheat_build::{NodeBuild, NodeSuite, is_tracked_package};

/// The environment variable that names the folder of the npm package `deadheat`.
const PACKAGE: &str = "DEADHEAT_JAVASCRIPT_PACKAGE";
const MODULES: &str = "node_modules";
const NAME: &str = "deadheat";

/// Options of races of JavaScript suites.
#[derive(Debug, Args)]
pub struct NodeOptions {
    /// Race the benchmarks of this script, written for tinybench, mitata, bench-node, benchmark.js
    /// or deadheat; *, ? and ** are wildcards (may be repeated). Each side
    /// installs its dependencies as its lock file says, or by --build CMD
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Build",
        conflicts_with_all = ["exe", "cmake", "go", "pytest"]
    )]
    node: Vec<String>,
    /// Race the benchmarks of `vitest bench` (Vitest 5); arguments after -- select files
    #[arg(
        long,
        help_heading = "Build",
        conflicts_with_all = ["exe", "cmake", "go", "pytest", "node"]
    )]
    vitest: bool,
}

impl NodeOptions {
    /// Returns true if a JavaScript suite is raced.
    pub fn is_asked_for(&self) -> bool {
        self.vitest || !self.node.is_empty()
    }

    /// Returns the build of both sides, or `None` if no JavaScript suite is raced. `command`
    /// replaces the usual installation of the dependencies.
    pub fn build(&self, command: Option<&str>) -> Result<Option<NodeBuild>, Failure> {
        if !self.is_asked_for() {
            return Ok(None);
        }
        let suite = match self.vitest {
            true => NodeSuite::Vitest,
            false => NodeSuite::Scripts(self.node.clone()),
        };
        Ok(Some(NodeBuild {
            suite,
            command: command.map(str::to_owned),
            package: package()?,
            variables: Vec::new(),
        }))
    }
}

/// Returns the folder of the npm package: the folder in [`PACKAGE`], or else the folder that Node
/// would find from this program's folder or from the current folder.
fn package() -> Result<PathBuf, Failure> {
    let is_package = |folder: &PathBuf| folder.join("lib/register.js").is_file();
    if let Some(named) = env::var_os(PACKAGE).filter(|named| !named.is_empty()) {
        let folder = PathBuf::from(named);
        return Some(folder.clone()).filter(is_package).ok_or_else(|| {
            Failure::Usage(format!(
                "{PACKAGE}={}: this is not the folder of the npm package {NAME}",
                folder.display()
            ))
        });
    }
    let program = env::current_exe().and_then(|program| program.canonicalize());
    let here = env::current_dir().ok();
    let from = program.ok().into_iter().chain(here);
    let mut folders = from.flat_map(|from| folders_above(&from));
    let found = folders.find(is_package);
    found.map(own_package).unwrap_or_else(|| {
        Err(Failure::Usage(format!(
            "the npm package {NAME}, which contains the workers for JavaScript, is not installed \
             here\nhelp: npm install --save-dev with the tarball of the package, or name its folder by {PACKAGE}"
        )))
    })
}

/// Returns `folder`, or an error if git tracks it or another user owns it: the code of the package
/// runs the benchmarks of both sides.
fn own_package(folder: PathBuf) -> Result<PathBuf, Failure> {
    let start = env::current_dir().unwrap_or_default();
    let is_tracked = is_tracked_package(&folder);
    let is_tracked = is_tracked.map_err(|error| Failure::Usage(error.to_string()))?;
    let why = if is_tracked {
        "git tracks it, so it comes from a commit"
    } else if belongs_to_another(&folder, &start) {
        "it belongs to another user"
    } else {
        return Ok(folder);
    };
    let folder = folder.display();
    Err(Failure::Usage(format!(
        "the npm package {folder} is not used, because {why}, and its code would run the benchmarks \
         of both sides{HELP}name the folder by {PACKAGE} to use it"
    )))
}

/// Returns the folders in which Node looks for the package, from `from` upwards.
fn folders_above(from: &Path) -> Vec<PathBuf> {
    let above = from.ancestors();
    above
        .map(|folder| folder.join(MODULES).join(NAME))
        .collect()
}
