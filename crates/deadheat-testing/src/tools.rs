//! The tools that tests need, and the tests that are skipped because a tool is missing. libtest
//! hides the output of passing tests, so a skipped test writes its reason to standard error
//! directly. It also appends the reason to a file, from which the last test prints a summary.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program or header that tests use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// The name of a program in `PATH`, such as `chromium`, or the path of a header, such as
    /// `benchmark/benchmark.h`.
    pub file: &'static str,
    /// The Debian package that contains the tool.
    pub package: &'static str,
    /// The name of the tool in messages.
    pub name: &'static str,
}

impl Tool {
    /// Returns true if the tool is installed. The script `./test` makes the same check.
    fn is_here(&self) -> bool {
        if self.file.contains('/') {
            let roots = ["/usr/include", "/usr/local/include"];
            return roots
                .iter()
                .any(|root| Path::new(root).join(self.file).exists());
        }
        let folders = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&folders).any(|folder| {
            let found = fs::metadata(folder.join(self.file));
            found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
    }
}

/// Returns the number of completed blocks in a run file; 0 if the file is missing.
pub fn blocks_in(run: &Path) -> usize {
    let text = fs::read_to_string(run).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with("{\"block\""))
        .count()
}

/// Returns all tools that `tools.txt` lists.
pub fn tools() -> impl Iterator<Item = Tool> {
    let lines = include_str!("../tools.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(|line| {
        let (file, rest) = line.split_once(' ').expect("three columns");
        let (package, name) = rest.trim().split_once(' ').expect("three columns");
        let name = name.trim();
        Tool {
            file,
            package,
            name,
        }
    })
}

/// Returns the tools in `files` that are not installed on this machine.
///
/// # Panics
///
/// Panics if `tools.txt` does not list one of these tools.
#[must_use]
pub fn missing(files: &[&str]) -> Vec<Tool> {
    let tools = files.iter().map(|file| {
        let listed = tools().find(|tool| tool.file == *file);
        listed.unwrap_or_else(|| panic!("'{file}' is not in tools.txt"))
    });
    tools.filter(|tool| !tool.is_here()).collect()
}

/// Runs the shell's builtin command `kill` with these arguments, because minimal systems lack the
/// program `kill`. Returns true if `kill` sent the signal.
///
/// # Panics
///
/// Panics if the shell `sh` is missing.
#[must_use]
pub fn kill(arguments: &[&str]) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill \"$@\"", "kill"]).args(arguments);
    let status = shell.stderr(Stdio::null()).status();
    status.expect("there is a shell").success()
}

/// Returns true if any of these tools is missing. In this case, records that the test is skipped.
///
/// # Panics
///
/// Panics if any of these tools is missing and `DEADHEAT_REQUIRE_TOOLS` is `1`.
#[must_use]
pub fn is_missing(test: &str, files: &[&str]) -> bool {
    let missing = missing(files);
    if missing.is_empty() {
        return false;
    }
    let names: Vec<&str> = missing.iter().map(|tool| tool.name).collect();
    let packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
    let needs = format!("needs {} ({})", names.join(" and "), packages.join(" "));
    let required = env::var_os("DEADHEAT_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!required, "{needs}, which DEADHEAT_REQUIRE_TOOLS=1 demands");
    record(test, &needs);
    true
}

/// Reports that a test is skipped, and keeps the report for [`recorded`].
pub fn record(test: &str, reason: &str) {
    // Writes each line with one call, so that the lines of parallel tests are not mixed.
    let line = format!("{test} skipped: {}\n", reason.replace('\n', " "));
    let _ = io::stderr().write_all(line.as_bytes());
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file(parent_id()));
    let kept = file.and_then(|mut file| file.write_all(line.as_bytes()));
    kept.expect("the folder of the build can be written to");
}

/// Returns the sorted lines that all test programs of this `cargo test` recorded. Deletes the file
/// with these lines, and the files of earlier `cargo test` processes.
#[must_use]
pub fn recorded() -> Vec<String> {
    let text = fs::read_to_string(file(parent_id())).unwrap_or_default();
    let files = fs::read_dir(profile()).expect("the folder of the build");
    for entry in files.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let Some(cargo) = name.strip_prefix(FILE) else {
            continue;
        };
        if cargo == parent_id().to_string() || !Path::new("/proc").join(cargo).exists() {
            let _ = fs::remove_file(entry.path());
        }
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// The beginning of the name of the file with the skipped tests. The file is in the folder of the
/// build.
const FILE: &str = "skipped-by-";

/// Returns the file with the skipped tests of one `cargo test`. Its name contains the process id
/// `cargo`, so that parallel and earlier `cargo test` processes have other files.
fn file(cargo: u32) -> PathBuf {
    profile().join(format!("{FILE}{cargo}"))
}

/// Returns the folder of the build, such as `target/debug`.
fn profile() -> PathBuf {
    let program = env::current_exe().expect("a test program has a path");
    let folder = program.ancestors().nth(2);
    folder.expect("it lies in `deps`").to_owned()
}

/// Returns from the test function if any of these tools is missing.
#[macro_export]
macro_rules! needs {
    ($($file:expr),+) => {
        if !$crate::has!($($file),+) {
            return;
        }
    };
}

/// Evaluates to true if all of these tools are installed. Otherwise records the test as skipped.
#[macro_export]
macro_rules! has {
    ($($file:expr),+) => {
        !$crate::is_missing($crate::this_test!(), &[$($file),+])
    };
}

/// Records that a test is skipped for a reason other than a missing tool.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {
        $crate::record($crate::this_test!(), &format!($($reason)+))
    };
}

/// Evaluates to the path of the function that contains this call.
#[doc(hidden)]
#[macro_export]
macro_rules! this_test {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here).trim_end_matches("::here");
        path.trim_end_matches("::{{closure}}")
    }};
}
