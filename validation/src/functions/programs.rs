//! Programs that cargo builds and tells the place of.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Lets cargo build in a folder, and says where the program it made is.
pub fn built(folder: &Path, words: &[&str]) -> PathBuf {
    let output = Command::new("cargo")
        .args(words)
        .args(["--quiet", "--message-format=json"])
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo {words:?} failed");
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut executables =
        messages.filter_map(|message: Value| message["executable"].as_str().map(PathBuf::from));
    executables
        .next_back()
        .unwrap_or_else(|| panic!("cargo {words:?} makes no program"))
}
