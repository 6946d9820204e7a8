//! Options for how a commit is built: by a command, by CMake, by Go, by pip, by npm or by cargo.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::Harness;
use deadheat_build::{
    BuildError, CmakeBuild, CommandBuild, GoBuild, LibraryChoice, NodeBuild, PytestBuild,
    PythonPackage, Racing, Recipe, Side, Variables,
};

use crate::bench_options::BenchOptions;
use crate::library_option::choices;
use crate::load::LoadOptions;
use crate::node::NodeOptions;
use crate::own_path::this_program;

/// The build of a commit: by a command, CMake, Go, pip or npm; by cargo if no option names
/// another way.
#[derive(Debug, Args)]
pub struct RecipeOptions {
    /// Build each commit with this command; 'sh -c' runs it in that commit's copy of this folder
    /// [default: cargo bench --no-run]
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Build",
        conflicts_with = "cargo"
    )]
    pub build: Option<String>,
    /// An executable with benchmarks that --build creates (may be repeated)
    #[arg(long, value_name = "PATH", help_heading = "Build", requires = "build")]
    pub exe: Vec<PathBuf>,
    /// Executables that CMake builds.
    #[command(flatten)]
    pub cmake: CmakeOptions,
    /// Build the tests of this Go package, and race their benchmarks (may be repeated)
    #[arg(
        long,
        value_name = "PACKAGE",
        help_heading = "Build",
        conflicts_with_all = ["build", "cmake"]
    )]
    go: Vec<String>,
    /// A suite of pytest.
    #[command(flatten)]
    pub suite: PytestOptions,
    /// A suite of JavaScript.
    #[command(flatten)]
    pub node: NodeOptions,
    /// A server under load.
    #[command(flatten)]
    pub load: LoadOptions,
}

impl RecipeOptions {
    /// Returns the recipe to build a side with these environment variables, or `None` if cargo
    /// builds it. `command` replaces `--build`.
    pub fn recipe(
        &self,
        command: Option<&str>,
        variables: Variables,
    ) -> Result<Option<Recipe>, Failure> {
        if let Some(build) = self.suite.build()? {
            return Ok(Some(Recipe::Pytest(PytestBuild { variables, ..build })));
        }
        let command = command.or(self.build.as_deref());
        if let Some(build) = self.node.build(command)? {
            return Ok(Some(Recipe::Node(NodeBuild { variables, ..build })));
        }
        if let Some(build) = self.cmake.build()? {
            return Ok(Some(Recipe::Cmake(CmakeBuild { variables, ..build })));
        }
        if !self.go.is_empty() {
            return Ok(Some(Recipe::Go(GoBuild {
                packages: self.go.clone(),
                variables,
            })));
        }
        if let Some(racing) = self.load.racing()? {
            return Ok(Some(Recipe::Command(CommandBuild {
                command: command.unwrap_or(":").to_owned(),
                racing,
                variables,
            })));
        }
        Ok(command.map(|command| {
            Recipe::Command(CommandBuild {
                command: command.to_owned(),
                racing: Racing::Executables(self.exe.clone()),
                variables,
            })
        }))
    }

    /// Returns the words after `--` that are arguments of the raced executables; empty if cargo or
    /// a command builds the executables. For Go, also sets the harness in `options`.
    pub fn arguments(&self, words: &[OsString], options: &mut BenchOptions) -> Vec<String> {
        if !self.go.is_empty() {
            options.harness.get_or_insert(Harness::Go);
        }
        if self.load.is_asked_for() {
            return self.load.arguments(options);
        }
        if !self.go.is_empty() || self.cmake.is_asked_for() || self.node.is_asked_for() {
            let words = words.iter().map(|word| word.to_string_lossy());
            return words.map(Into::into).collect();
        }
        if self.suite.is_asked_for() {
            return self.suite.arguments(words);
        }
        Vec::new()
    }
}

/// Options of races of executables that CMake builds.
#[derive(Debug, Args)]
pub struct CmakeOptions {
    /// Build this target with CMake, and race its benchmarks (may be repeated)
    #[arg(
        long,
        value_name = "TARGET",
        help_heading = "Build",
        conflicts_with = "build"
    )]
    cmake: Vec<String>,
    /// With --cmake: arguments of `cmake` when it configures the build, such as
    /// '-DBUILD_BENCHMARKS=ON'
    #[arg(
        long,
        value_name = "WORDS",
        help_heading = "Build",
        requires = "cmake",
        allow_hyphen_values = true
    )]
    configure: Option<String>,
    /// With --cmake: race suites of Google Benchmark sample by sample, compiled with deadheat's
    /// replacement library (swapped), or launch by launch with their own library (own)
    /// [default: swapped if the suite compiles]
    #[arg(
        long,
        value_name = "WHICH",
        help_heading = "Build",
        hide_possible_values = true,
        requires = "cmake",
        value_parser = choices()
    )]
    google_benchmark: Option<LibraryChoice>,
}

impl CmakeOptions {
    /// Returns true if executables of CMake are raced.
    pub fn is_asked_for(&self) -> bool {
        !self.cmake.is_empty()
    }

    /// Returns the build of both sides, or `None` if CMake builds nothing.
    pub fn build(&self) -> Result<Option<CmakeBuild>, Failure> {
        if !self.is_asked_for() {
            return Ok(None);
        }
        let arguments = shell_words::split(self.configure.as_deref().unwrap_or_default())
            .map_err(|problem| Failure::Usage(format!("--configure: {problem}")))?;
        Ok(Some(CmakeBuild {
            program: this_program()?,
            targets: self.cmake.clone(),
            arguments,
            google_benchmark: self.google_benchmark.unwrap_or_default(),
            variables: Vec::new(),
        }))
    }
}

/// The environment variable that names the Python package `deadheat`, a folder or a wheel.
const PACKAGE: &str = "DEADHEAT_PYTHON_PACKAGE";

/// Options of races of pytest suites.
#[derive(Debug, Args)]
pub struct PytestOptions {
    /// Race the tests below this path that use the fixture `benchmark`, each side in a virtual
    /// environment of its own (may be repeated)
    #[arg(
        long,
        value_name = "PATH",
        help_heading = "Build",
        conflicts_with_all = ["build", "cmake", "go"]
    )]
    pytest: Vec<String>,
    /// With --pytest: arguments of `pip install` for both sides
    #[arg(
        long,
        value_name = "WORDS",
        help_heading = "Build",
        default_value = ".",
        requires = "pytest",
        allow_hyphen_values = true
    )]
    install: String,
    /// With --pytest: the Python of both sides, a path or a name in PATH
    #[arg(
        long,
        value_name = "PYTHON",
        help_heading = "Build",
        default_value = "python3",
        requires = "pytest"
    )]
    python: String,
}

impl PytestOptions {
    /// Returns true if a pytest suite is raced.
    pub fn is_asked_for(&self) -> bool {
        !self.pytest.is_empty()
    }

    /// Returns the build of both sides, or `None` if no pytest suite is raced.
    pub fn build(&self) -> Result<Option<PytestBuild>, Failure> {
        if self.pytest.is_empty() {
            return Ok(None);
        }
        let install = shell_words::split(&self.install)
            .map_err(|problem| Failure::Usage(format!("--install: {problem}")))?;
        Ok(Some(PytestBuild {
            install,
            tests: self.pytest.clone(),
            python: self.python.clone(),
            package: package()?,
            variables: Vec::new(),
        }))
    }

    /// Returns the arguments of the worker: the test paths, then options of pytest.
    pub fn arguments(&self, options: &[OsString]) -> Vec<String> {
        let options = options
            .iter()
            .map(|word| word.to_string_lossy().into_owned());
        self.pytest.iter().cloned().chain(options).collect()
    }

    /// Returns an error if a side lacks one of the test paths.
    pub fn check(&self, sides: &[&Side]) -> Result<(), BuildError> {
        for side in sides {
            let suite = side.executables.first();
            let folder = suite.and_then(|suite| suite.directory.clone());
            for path in &self.pytest {
                let file = path.split("::").next().unwrap_or(path);
                if !folder.clone().unwrap_or_default().join(file).exists() {
                    return Err(BuildError::NoTestPath {
                        revision: side.name.clone(),
                        path: path.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Returns the Python package that contains the worker: the package in [`PACKAGE`], the package
/// that this program was installed with, or else the published package of this version.
fn package() -> Result<PythonPackage, Failure> {
    let named = std::env::var_os(PACKAGE).filter(|named| !named.is_empty());
    if let Some(named) = named.map(PathBuf::from) {
        return PythonPackage::named(&named).ok_or_else(|| {
            Failure::Usage(format!(
                "{PACKAGE}={}: this is not the package deadheat for Python, as a folder or a wheel",
                named.display()
            ))
        });
    }
    let program = std::env::current_exe().ok();
    let beside = program.and_then(|program| PythonPackage::installed_with(&program));
    Ok(beside.unwrap_or_else(|| {
        PythonPackage::Installed(format!("deadheat=={}", env!("CARGO_PKG_VERSION")))
    }))
}
