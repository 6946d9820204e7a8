//! The list of tools, which of them are here, and tests that end early for want of one: they say why
//! past libtest, which hides what a passing test prints, and leave a line for the last test of all,
//! which sums them up.

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
    /// A program on the path, or a header: `chromium`, `benchmark/benchmark.h`.
    pub file: &'static str,
    /// The package of Debian it comes in.
    pub package: &'static str,
    /// The name people know it by.
    pub name: &'static str,
}

impl Tool {
    /// Asks what `./test` asks.
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

/// Number of completed blocks in a run file, 0 if there is no file.
pub fn blocks_in(run: &Path) -> usize {
    let text = fs::read_to_string(run).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with("{\"block\""))
        .count()
}

/// All tools of `tools.txt`.
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

/// Those of these tools that are not on this machine.
///
/// # Panics
///
/// If `tools.txt` lacks one of them.
#[must_use]
pub fn missing(files: &[&str]) -> Vec<Tool> {
    let tools = files.iter().map(|file| {
        let listed = tools().find(|tool| tool.file == *file);
        listed.unwrap_or_else(|| panic!("'{file}' is not in tools.txt"))
    });
    tools.filter(|tool| !tool.is_here()).collect()
}

/// Runs the `kill` that every shell has; the program of that name is in a package that bare systems
/// lack. Returns whether there was something to send the signal to.
///
/// # Panics
///
/// If there is no shell.
#[must_use]
pub fn kill(arguments: &[&str]) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill \"$@\"", "kill"]).args(arguments);
    let status = shell.stderr(Stdio::null()).status();
    status.expect("there is a shell").success()
}

/// Returns true if a test has to do without some of these tools, which is then recorded.
///
/// # Panics
///
/// If some are missing and `DEADHEAT_REQUIRE_TOOLS` is `1`.
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

/// Says that a test ends early, and keeps it for [`recorded`].
pub fn record(test: &str, reason: &str) {
    // One write each, so that the lines of tests side by side stay whole.
    let line = format!("{test} skipped: {}\n", reason.replace('\n', " "));
    let _ = io::stderr().write_all(line.as_bytes());
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file(parent_id()));
    let kept = file.and_then(|mut file| file.write_all(line.as_bytes()));
    kept.expect("the folder of the build can be written to");
}

/// The lines kept by all test programs of this `cargo test`, sorted. What earlier ones left behind is
/// removed.
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

/// Begins the name of a file beside the build.
const FILE: &str = "skipped-by-";

/// The file of the process that starts the test programs: `cargo test`, which is thus told from one
/// that ran before or runs beside it.
fn file(cargo: u32) -> PathBuf {
    profile().join(format!("{FILE}{cargo}"))
}

/// The folder of the build, such as `target/debug`.
fn profile() -> PathBuf {
    let program = env::current_exe().expect("a test program has a path");
    let folder = program.ancestors().nth(2);
    folder.expect("it lies in `deps`").to_owned()
}

/// Ends a test where one of these tools is missing.
#[macro_export]
macro_rules! needs {
    ($($file:expr),+) => {
        if !$crate::has!($($file),+) {
            return;
        }
    };
}

/// Evaluates to true if these tools are here; where not, the test is recorded as skipped, in so far
/// as it asks.
#[macro_export]
macro_rules! has {
    ($($file:expr),+) => {
        !$crate::is_missing($crate::this_test!(), &[$($file),+])
    };
}

/// Records that this machine does not let a test do its work, whatever is installed.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {
        $crate::record($crate::this_test!(), &format!($($reason)+))
    };
}

/// The path of the function around it.
#[doc(hidden)]
#[macro_export]
macro_rules! this_test {
    () => {{
        fn here() {}
        let path = std::any::type_name_of_val(&here).trim_end_matches("::here");
        path.trim_end_matches("::{{closure}}")
    }};
}
