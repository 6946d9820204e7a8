//! Makes the text of `deadheat --version`: version, commit, target and features.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).expect("cargo sets it");
    let features = env::vars().filter_map(|(name, _)| {
        let feature = name.strip_prefix("CARGO_FEATURE_")?;
        Some(feature.to_lowercase().replace('_', "-"))
    });
    let features: Vec<String> = features.collect();
    let features = match features.is_empty() {
        true => "none".to_owned(),
        false => features.join(" "),
    };
    let commit = published().or_else(checked_out);
    let commit = commit.map_or(String::new(), |commit| format!("{commit}, "));
    println!(
        "cargo::rustc-env=DEADHEAT_LONG_VERSION={} ({commit}{}, features: {features})",
        variable("CARGO_PKG_VERSION"),
        variable("TARGET"),
    );
}

/// The commit that cargo recorded when it packed this crate for a registry.
fn published() -> Option<String> {
    let record = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, commit) = record.split_once("\"sha1\": \"")?;
    commit.get(..12).map(str::to_owned)
}

/// The commit that is checked out, with `-dirty` if the sources differ from it.
///
/// The profile `dev` does without, because each commit would build this crate again.
fn checked_out() -> Option<String> {
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        return None;
    }
    // In a copy of the sources, git would answer for a repository around them.
    if git(&["rev-parse", "--show-prefix"])? != "crates/deadheat-cli/" {
        return None;
    }
    let reflog = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    // Cargo runs this script again in every build if a file is missing.
    if Path::new(&reflog).exists() {
        println!("cargo::rerun-if-changed={reflog}");
    }
    let sources = ["../../crates", "../../Cargo.toml", "../../Cargo.lock"];
    for source in sources {
        println!("cargo::rerun-if-changed={source}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changes = git(&[&status[..], &sources].concat())?;
    Some(commit + if changes.is_empty() { "" } else { "-dirty" })
}

/// Runs git in the folder of this crate, where cargo starts this script.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("--no-optional-locks").args(arguments);
    let done = command.output().ok()?;
    let said = String::from_utf8(done.stdout).ok()?;
    done.status.success().then(|| said.trim().to_owned())
}
