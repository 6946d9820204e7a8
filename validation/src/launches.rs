//! Many launches of `true` by tools that launch commands.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::process::{Cost, cost};
use crate::programs::text;

/// The version that hyperfine states; `None` where it is not installed.
pub fn hyperfine_version() -> Option<String> {
    let output = Command::new("hyperfine").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// hyperfine, without a shell, so many times each command.
pub fn by_hyperfine(launches: usize, commands: &[&str]) -> Cost {
    let launches = launches.to_string();
    cost("hyperfine", &[&["-N", "-r", &launches], commands].concat())
}

/// `deadheat run` without a warm-up, so many times each command; also how
/// often it launched one in all.
pub fn by_deadheat(
    deadheat: &Path,
    save: &Path,
    launches: usize,
    commands: &[&str],
) -> (Cost, u64) {
    let _ = fs::remove_file(save);
    let launches = launches.to_string();
    let options = ["run", "-q", "-w", "0", "-r", &launches, "--save", text(save), "--"];
    let cost = cost(text(deadheat), &[&options[..], commands].concat());
    let launched = launches_in(save);
    let _ = fs::remove_file(save);
    (cost, launched)
}

fn launches_in(save: &Path) -> u64 {
    let text = fs::read_to_string(save).expect("a run file");
    let end: Value = serde_json::from_str(text.lines().last().expect("lines")).expect("JSON");
    end["end"]["launches"].as_u64().expect("an end line")
}
