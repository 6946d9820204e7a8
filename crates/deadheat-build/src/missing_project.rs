//! Detects that the sources lack the project that a build needs. The tools' own messages for this
//! failure do not tell the user what to do.

use std::fmt;
use std::path::Path;

/// A kind of project that the sources of one side lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingProject {
    /// A package of cargo.
    Cargo,
    /// A module of Go.
    Go,
    /// A CMake project.
    Cmake,
    /// A package of Python that pip can install.
    Python,
    /// A package of npm.
    Node,
}

impl MissingProject {
    /// Returns `self` if no project file of this kind is in `directory` or, except for pip and
    /// CMake, in a folder above.
    pub(crate) fn above(self, directory: &Path) -> Option<Self> {
        // pip and CMake do not search the folders above.
        let folders = match self {
            Self::Python | Self::Cmake => 1,
            Self::Cargo | Self::Go | Self::Node => usize::MAX,
        };
        self.among(directory.ancestors().take(folders))
    }

    /// Returns `self` if no project file of this kind is in `directory` or in a folder above, up to
    /// `top`.
    pub(crate) fn below(self, top: &Path, directory: &Path) -> Option<Self> {
        let folders = directory.ancestors();
        self.among(folders.take_while(|folder| folder.starts_with(top)))
    }

    fn among<'a>(self, mut folders: impl Iterator<Item = &'a Path>) -> Option<Self> {
        let names: &[&str] = match self {
            Self::Cargo => &["Cargo.toml"],
            Self::Go => &["go.mod", "go.work"],
            Self::Cmake => &["CMakeLists.txt"],
            Self::Python => &["pyproject.toml", "setup.py", "setup.cfg"],
            Self::Node => &["package.json"],
        };
        let is_here = |folder: &Path| names.iter().any(|name| folder.join(name).exists());
        (!folders.any(is_here)).then_some(self)
    }
}

impl fmt::Display for MissingProject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cargo => {
                "this side lacks a Cargo.toml: --build CMD --exe PATH, --cmake TARGET, --go PACKAGE, \
                 --pytest PATH, --vitest or --node FILE build projects of other languages"
            }
            Self::Go => {
                "this side lacks a go.mod: run deadheat in the folder of the module, or name its \
                 build by --build CMD --exe PATH"
            }
            Self::Cmake => {
                "this side lacks a CMakeLists.txt: run deadheat in the folder of the project, or \
                 name its build by --build CMD --exe PATH"
            }
            Self::Node => {
                "this side lacks a package.json: run deadheat in the folder of the project, or \
                 prepare it by --build CMD"
            }
            Self::Python => {
                "this side lacks pyproject.toml and setup.py: --install names what to install \
                 instead of the folder, as in --install 'pytest pytest-benchmark'"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_found_where_its_tool_looks_for_it() {
        use MissingProject::{Cargo, Cmake, Go, Python};
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        for (project, file) in [(Cargo, "Cargo.toml"), (Go, "go.work"), (Python, "setup.py")] {
            assert_eq!(project.above(&below), Some(project));
            std::fs::write(folder.path().join(file), "").unwrap();
            assert_eq!(project.above(folder.path()), None);
        }
        assert_eq!(Cargo.above(&below), None);
        assert_eq!(Cargo.below(folder.path(), &below), None);
        assert_eq!(Cargo.below(&folder.path().join("a"), &below), Some(Cargo));
        assert_eq!(Go.above(&below), None);
        assert_eq!(Python.above(&below), Some(Python));
        std::fs::write(folder.path().join("CMakeLists.txt"), "").unwrap();
        assert_eq!(Cmake.above(folder.path()), None);
        assert_eq!(Cmake.above(&below), Some(Cmake));
    }
}
