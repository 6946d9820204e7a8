//! Programs that cargo builds and tells the place of.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Runs a command that must not fail.
pub fn done(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?} failed");
}

pub fn told(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "of an unknown version".to_owned(),
    }
}

pub fn google_benchmark() -> String {
    told(Command::new("pkg-config").args(["--modversion", "benchmark"]))
}

/// The output of a command. `Err` when it ends with another code than these.
pub fn text_of(command: &mut Command, codes: &[i32]) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.code().is_some_and(|code| codes.contains(&code)) {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim_end().lines().last().unwrap_or_default();
        return Err(format!("{}: {last}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub fn built(folder: &Path, words: &[&str]) -> PathBuf {
    built_by(Command::new("cargo").args(words).current_dir(folder))
}

pub fn built_by(command: &mut Command) -> PathBuf {
    let (_, executable) =
        all_built_by(command).pop().unwrap_or_else(|| panic!("{command:?} makes no program"));
    executable
}

/// The same for several programs at once, each with the name of its target.
pub fn all_built_by(command: &mut Command) -> Vec<(String, PathBuf)> {
    let output = command
        .args(["--quiet", "--message-format=json"])
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let executables = messages.filter_map(|message: Value| {
        let name = message["target"]["name"].as_str()?.to_owned();
        Some((name, message["executable"].as_str()?.into()))
    });
    executables.collect()
}
