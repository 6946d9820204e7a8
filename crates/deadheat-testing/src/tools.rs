//! The list of tools, and which of them are here.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

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
