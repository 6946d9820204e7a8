//! Distinguishes benchmark files from files of the code under test by their paths.

use std::path::{Component, Path, PathBuf};

/// A file with fixtures and hooks of pytest for the tests in its folder and below.
const CONFTEST: &str = "conftest.py";
/// Files with the configuration of pytest.
const CONFIGURATION: [&str; 7] = [
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestSuite {
    /// Folders and single files, relative to the top of the sources.
    roots: Vec<PathBuf>,
}

impl TestSuite {
    /// Creates the suite of these tests, given as arguments of pytest. Their paths are relative to
    /// `inside`, a folder that is itself relative to the top of the sources.
    pub(crate) fn new(tests: &[String], inside: &Path) -> Self {
        let root = |test: &String| {
            let path = test.split("::").next().unwrap_or(test);
            let path = without_dots(&inside.join(path));
            let mut above: Vec<&Path> = path.ancestors().collect();
            above.reverse();
            let outermost = above.into_iter().find(|folder| is_of_tests(folder));
            outermost.unwrap_or(&path).to_owned()
        };
        Self {
            roots: tests.iter().map(root).collect(),
        }
    }

    /// Returns true for files of the suite: tests, files in test folders, and each `conftest.py`
    /// that applies to the tests.
    pub(crate) fn holds(&self, file: &Path) -> bool {
        let is_below = self.roots.iter().any(|root| {
            let folders = file.ancestors().skip(1);
            file == root
                || (file.starts_with(root)
                    && (folders.into_iter().any(is_of_tests) || is_test(file)))
        });
        is_below || (is_named(file, &[CONFTEST]) && self.is_above(file))
    }

    /// Returns true for files that are copied with the suite to the other side: the files of the
    /// suite, and the configuration of pytest.
    pub(crate) fn takes(&self, file: &Path) -> bool {
        self.holds(file) || (is_named(file, &CONFIGURATION) && self.is_above(file))
    }

    /// Returns true for a file in a parent folder of the suite.
    fn is_above(&self, file: &Path) -> bool {
        let folder = file.parent().unwrap_or(Path::new(""));
        self.roots.iter().any(|root| root.starts_with(folder))
    }
}

/// Returns true for documentation and `.gitignore`, which do not affect benchmarks.
pub(crate) fn is_prose(file: &Path) -> bool {
    let extension = file.extension().and_then(|end| end.to_str());
    matches!(extension, Some("md" | "rst" | "adoc")) || is_named(file, &[".gitignore"])
}

/// Returns true if a folder or file name in the path marks a benchmark file, in any language.
pub(crate) fn is_of_benchmarks(file: &Path) -> bool {
    let is_hidden = |part: &Path| part.to_string_lossy().starts_with('.');
    let parts: Vec<&Path> = file.iter().map(Path::new).collect();
    !parts.iter().any(|part| is_hidden(part))
        && parts.iter().any(|part| {
            let name = part.to_string_lossy().to_lowercase();
            name.contains("bench") || matches!(&*name, "perf" | "performance" | "jmh")
        })
}

fn is_of_tests(folder: &Path) -> bool {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(['_', '-']).collect();
    words.iter().any(|word| {
        matches!(*word, "test" | "tests" | "perf" | "performance") || word.starts_with("bench")
    }) && !name.ends_with(".py")
}

fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_named = ["test_", "bench_"]
        .iter()
        .any(|start| name.starts_with(start));
    name.ends_with(".py") && (is_named || name.ends_with("_test.py") || name == CONFTEST)
}

fn is_named(file: &Path, names: &[&str]) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| names.contains(&name))
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(tests: &[&str], inside: &str) -> TestSuite {
        let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        TestSuite::new(&tests, Path::new(inside))
    }

    #[track_caller]
    fn holds(suite: &TestSuite, yes: &[&str], no: &[&str]) {
        for path in yes {
            assert!(suite.holds(Path::new(path)), "{path}");
        }
        for path in no {
            assert!(!suite.holds(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_suite_is_the_outermost_folder_of_tests_with_the_conftests_above() {
        let yes = [
            "tests/bench/test_a.py",
            "tests/helpers.py",
            "tests/bench/data/words.txt",
            "conftest.py",
        ];
        let no = [
            "src/lib/a.py",
            "docs/conftest.py",
            "pyproject.toml",
            "setup.py",
        ];
        holds(&suite(&["tests/bench"], ""), &yes, &no);
        let one = suite(&["tests/bench/test_a.py::test_x"], "");
        holds(&one, &yes, &no);
        holds(&suite(&["../tests"], "src"), &yes, &no);
        assert!(one.takes(Path::new("pyproject.toml")) && one.takes(Path::new("tests/tox.ini")));
        assert!(!one.takes(Path::new("src/setup.cfg")));
    }

    #[test]
    fn tests_inside_of_a_package_leave_its_modules_out() {
        let inner = suite(&["lib"], "");
        let yes = [
            "lib/tests/test_a.py",
            "lib/tests/data/a.bin",
            "lib/test_b.py",
        ];
        holds(
            &inner,
            &yes,
            &["lib/core.py", "lib/testing/tools.py", "other/tests/a.py"],
        );
        let all = suite(&["."], "");
        holds(
            &all,
            &["test_a.py", "tests/x.json"],
            &["lib/a.py", "run.py"],
        );
        holds(&suite(&["perf.py"], ""), &["perf.py"], &["lib.py"]);
    }

    #[test]
    fn benchmarks_of_any_language_are_known_by_their_paths() {
        for path in [
            "bench/sort.cc",
            "src/jmh/java/Sums.java",
            "cpp/sort_benchmark.cc",
            "perf/data.json",
            "bench_mine.py",
        ] {
            assert!(is_of_benchmarks(Path::new(path)), "{path}");
        }
        for path in [
            "src/sort.cc",
            ".github/workflows/bench.yml",
            "CMakeLists.txt",
        ] {
            assert!(!is_of_benchmarks(Path::new(path)), "{path}");
        }
    }
}
