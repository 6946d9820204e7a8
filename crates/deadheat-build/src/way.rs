//! Combines the recipe of a side with all other inputs of its build except the commit.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::criterion_library::{self, CriterionLibrary};
use crate::error::{BuildError, CargoError, Note};
use crate::google_benchmark_library::GoogleBenchmarkLibrary;
use crate::key::KeyInputs;
use crate::library::{Library, LibraryChoice, OfferedLibrary};
use crate::node::NodeBuild;
use crate::recipe::{
    Racing, Recipe, configuration_above, configuration_of_the_user, own_configuration,
    rust_compiler,
};
use crate::replacement::Replacement;
use crate::repository::Repository;

#[derive(Clone)]
pub(crate) struct Way<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) key_inputs: KeyInputs,
    /// The output by which rustc, Go, Python or Node identifies itself; empty for CMake and
    /// commands.
    pub(crate) compiler: String,
    pub(crate) replacement: Option<Rc<Replacement>>,
    /// The workspace file of Go that both sides ignore, because no commit has it.
    pub(crate) ignored_workspace: Option<PathBuf>,
}

impl<'a> Way<'a> {
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
        let mut key_inputs = KeyInputs::of_the_surroundings(repository)?;
        let mut compiler = String::new();
        let mut ignored_workspace = None;
        let variables = match recipe {
            Recipe::Cargo(build) => {
                key_inputs.add("by", "cargo");
                for argument in build.moved(&repository.top, Path::new("/")) {
                    key_inputs.add("argument", argument);
                }
                let here = repository.top.join(&repository.inside);
                let found = build.compiler(&here, &repository.interruption);
                let has_manifest = || here.ancestors().any(|up| up.join("Cargo.toml").exists());
                compiler = match found {
                    Ok(version) if !version.is_empty() => version,
                    // The user of another language may have no Rust.
                    _ if !build.names_manifest() && !has_manifest() => {
                        return Err(CargoError::NoManifest(here).into());
                    }
                    found => found?,
                };
                key_inputs.add("compiler", &compiler);
                let above = configuration_above(&repository.top);
                for file in above.iter().chain(&configuration_of_the_user()) {
                    key_inputs.add_file(file);
                }
                for path in own_configuration(repository)? {
                    let file = repository.top.join(&path);
                    key_inputs.add_content("configuration", &path, &file);
                }
                &build.variables
            }
            Recipe::Command(build) => {
                key_inputs.add("by", &build.command);
                let here = repository.top.join(&repository.inside);
                let manifest = here.ancestors().map(|up| up.join("Cargo.toml"));
                let mut in_repository =
                    manifest.take_while(|path| path.starts_with(&repository.top));
                if in_repository.any(|path| path.exists())
                    && let Some(version) = rust_compiler(&here, &repository.interruption)
                {
                    key_inputs.add("rustc", version);
                }
                match &build.racing {
                    Racing::Executables(executables) => {
                        for path in executables {
                            key_inputs.add("executable", path);
                        }
                    }
                    Racing::Commands => {}
                    Racing::Worker(path) => key_inputs.add("worker", path),
                }
                &build.variables
            }
            Recipe::Cmake(build) => {
                build.add_to(&mut key_inputs);
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
                ignored_workspace = build.foreign_workspace(repository)?;
                if ignored_workspace.is_some() {
                    key_inputs.add("workspace", "off");
                }
                &build.variables
            }
            Recipe::Pytest(build) => {
                let here = repository.top.join(&repository.inside);
                compiler = build.interpreter(&here, &repository.interruption)?;
                build.add_to(&mut key_inputs, &compiler);
                &build.variables
            }
            Recipe::Node(build) => {
                let here = repository.top.join(&repository.inside);
                compiler = NodeBuild::node(&here, &repository.interruption)?;
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
            replacement: None,
            ignored_workspace,
        })
    }

    /// Notes that Go ignores a workspace file, if it does.
    pub(crate) fn tell_of_workspace(&self, tell: &mut dyn FnMut(Note)) {
        if let Some(path) = &self.ignored_workspace {
            tell(Note::WorkspaceIgnored { path: path.clone() });
        }
    }

    /// Replaces the suite's benchmark library by deadheat's own implementation, if deadheat has one
    /// and the recipe allows it. If that fails, tells the user by a note.
    pub(crate) fn swap_library(
        &mut self,
        repository: &Repository<'_>,
        tell: &mut dyn FnMut(Note),
    ) -> Result<(), BuildError> {
        let made = match self.recipe {
            Recipe::Cargo(build)
                if build.criterion == LibraryChoice::Swapped
                    && criterion_library::is_used(build, repository) =>
            {
                CriterionLibrary::make(build, &self.compiler, repository, tell)?
                    .map(Replacement::Criterion)
                    .map_err(|problem| (Library::Criterion, problem))
            }
            Recipe::Cmake(build) if build.google_benchmark == LibraryChoice::Swapped => {
                GoogleBenchmarkLibrary::make(repository, tell)?
                    .map(Replacement::GoogleBenchmark)
                    .map_err(|problem| (Library::GoogleBenchmark, problem))
            }
            _ => return Ok(()),
        };
        match made {
            Ok(replacement) => self.replacement = Some(Rc::new(replacement)),
            Err((library, problem)) => tell(Note::OwnLibrary { library, problem }),
        }
        Ok(())
    }

    pub(crate) fn criterion(&self) -> Option<&OfferedLibrary> {
        match self.replacement.as_deref() {
            Some(Replacement::Criterion(library)) => Some(&library.offered),
            _ => None,
        }
    }

    /// Returns the CMake dependency provider that replaces Google Benchmark, if any.
    pub(crate) fn google_benchmark(&self) -> Option<&Path> {
        match self.replacement.as_deref() {
            Some(Replacement::GoogleBenchmark(library)) => Some(&library.provider),
            _ => None,
        }
    }

    /// Returns all inputs of the build's key except the commit.
    pub(crate) fn inputs(&self) -> KeyInputs {
        let mut inputs = self.key_inputs.clone();
        if let Some(replacement) = &self.replacement {
            inputs.add(replacement.library().name(), replacement.key());
        }
        inputs
    }
}
