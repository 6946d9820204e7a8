//! `deadheat rev --pytest`: suites of pytest-benchmark in two environments of Python.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::Finished;
use deadheat_testing::{needs, skip};
use tempfile::TempDir;

/// A repository with a package of Python and benchmarks of it, and a place for caches.
struct Repo {
    folder: TempDir,
    cache: TempDir,
}

impl Repo {
    /// Its first commit counts a list once, the second four times.
    fn new() -> Self {
        let repo = Self {
            folder: TempDir::new().unwrap(),
            cache: TempDir::new().unwrap(),
        };
        repo.git(&["init", "--quiet", "--initial-branch", "main"]);
        repo.write("pyproject.toml", PROJECT);
        repo.write(
            ".gitignore",
            "build\n*.egg-info\n__pycache__\n.pytest_cache\n",
        );
        repo.write("src/counted/__init__.py", &counting(1));
        repo.write("tests/bench/conftest.py", CONFTEST);
        repo.write("tests/bench/test_count.py", BENCHMARKS);
        repo.commit();
        repo.write("src/counted/__init__.py", &counting(4));
        repo.commit();
        repo
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "change"]);
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=n", "-c", "user.email=e@x"])
            .args(args);
        let done = command.current_dir(self.folder.path()).output().unwrap();
        Finished::from(done).succeeds().stdout.clone()
    }

    fn rev(&self, args: &[&str]) -> Finished {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
        command
            .current_dir(self.folder.path())
            .arg("rev")
            .args(args)
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env("DEADHEAT_PYTHON_PACKAGE", package())
            .env("XDG_CACHE_HOME", self.cache.path())
            .stdin(Stdio::null());
        Finished::from(command.output().unwrap())
    }
}

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

const PROJECT: &str = "[project]
name = 'counted'
version = '1'
[build-system]
requires = ['setuptools']
build-backend = 'setuptools.build_meta'
[tool.pytest.ini_options]
addopts = '--benchmark-sort=name'
";

const CONFTEST: &str = "import pytest
@pytest.fixture(scope='module')
def words(): return ['a', 'b'] * 400
";

/// Two that are skipped come first: a process of each side must survive them for the others.
const BENCHMARKS: &str = "import pytest
@pytest.fixture
def nowhere(): pytest.skip('not here')
def test_first(benchmark, nowhere): benchmark(len, [])
def test_second(benchmark, nowhere): benchmark(len, [])
from counted import count
@pytest.mark.parametrize('word', ['a', 'c'])
def test_count(benchmark, words, word):
    assert benchmark(count, words, word) in (0, 400)
def test_skipped(benchmark): pytest.skip('not here')
def test_no_benchmark(): pass
";

fn counting(times: usize) -> String {
    format!(
        "def count(words, word):\n    for _ in range({times}): found = words.count(word)\n    \
         return found\n"
    )
}

/// Returns true if pip can fetch packages here, and says so where it cannot.
fn fetches(folder: &Path) -> bool {
    let words = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
    let mut pip = Command::new("python3");
    pip.args(words)
        .arg(folder)
        .args(["iniconfig", "--retries", "0"]);
    let done = pip.output().unwrap();
    let venv = Command::new("python3")
        .args(["-c", "import ensurepip, venv"])
        .output();
    done.status.success() && venv.unwrap().status.success()
}

#[test]
fn a_suite_races_unmodified_and_environments_of_commits_are_kept() {
    needs!("git", "python3");
    let folder = TempDir::new().unwrap();
    if !fetches(folder.path()) {
        skip!("needs python3 with venv and pip, and packages that pip can fetch");
        return;
    }
    let repo = Repo::new();
    let race = ["HEAD~1", "--pytest", "tests/bench", "--max-replicates", "6"];
    let first = repo.rev(&[&race[..], &["--json"]].concat());
    let analysis: serde_json::Value = serde_json::from_str(&first.succeeds().stdout).unwrap();
    let benchmarks = analysis["benchmarks"].as_array().unwrap();
    let names: Vec<&str> = benchmarks
        .iter()
        .map(|one| one["benchmark"].as_str().unwrap())
        .collect();
    let expected = ["a", "c"].map(|word| format!("tests/bench/test_count.py::test_count[{word}]"));
    assert_eq!(names, expected);
    for benchmark in benchmarks {
        assert_eq!(benchmark["verdict"], "slower", "{benchmark}");
    }
    assert_eq!(analysis["left_out"][0]["reason"], "skipped");
    assert!(first.stderr.contains("building HEAD~1"), "{}", first.stderr);

    // The commit is not built again, and options behind `--` are pytest's.
    let kept = |path: &str, more: &[&str]| {
        let words = ["HEAD~1..HEAD~1", "--pytest", path, "--list"];
        repo.rev(&[&words[..], more].concat())
    };
    let second = kept("tests", &["--", "-k", "c]"]);
    let second = second.succeeds();
    assert!(!second.stderr.contains("building"), "{}", second.stderr);
    assert_eq!(second.stdout.lines().count(), 1, "{}", second.stdout);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);

    kept("nowhere", &[]).fails_with(3, &["HEAD~1 has no `nowhere`", "--pytest"]);
    kept("tests", &["--", "--no-such-option"])
        .fails_with(3, &["unrecognized arguments: --no-such-option"]);
    kept("tests", &["--install", "./nowhere"])
        .fails_with(3, &["HEAD~1 does not build", "pip install ./nowhere"]);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn options_that_do_not_fit_and_pythons_that_are_none_are_told() {
    needs!("git", "python3");
    let repo = Repo::new();
    let pytest = |more: &[&str]| repo.rev(&[&["HEAD~1", "--pytest", "tests"], more].concat());
    pytest(&["--python", "python0"])
        .fails_with(2, &["Python 'python0' cannot be started", "--python"]);
    let old = repo.folder.path().join("old-python");
    fs::write(
        &old,
        "#!/bin/sh\nprintf '3.9\\n/usr/bin/python3.9\\n3.9.1\\n'\n",
    )
    .unwrap();
    Command::new("chmod").arg("+x").arg(&old).status().unwrap();
    pytest(&["--python", "./old-python"]).fails_with(2, &["is Python 3.9", "need 3.10 or later"]);
    pytest(&["--install", "'"]).fails_with(2, &["--install"]);
    pytest(&["--build", "make"]).fails_with(2, &["--build"]);
    pytest(&["--base-args", "-p x"])
        .fails_with(2, &["--base-args applies only to builds by `cargo bench`"]);
    repo.rev(&["HEAD~1", "--install", "."])
        .fails_with(2, &["--pytest"]);
}
