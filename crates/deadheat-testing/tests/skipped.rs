//! Prints which tests were skipped, why, and how to install the missing tools. `cargo test
//! --workspace` runs packages and then targets in alphabetical order, so this program runs last.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_testing::{missing, recorded, tools};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn what_was_skipped_is_summed_up() {
    let mut by_reason: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in recorded() {
        let (test, reason) = line.split_once(" skipped: ").unwrap();
        let tests = by_reason.entry(reason.to_owned()).or_default();
        tests.insert(test.to_owned());
    }
    let skipped: BTreeSet<&String> = by_reason.values().flatten().collect();
    if skipped.is_empty() {
        return;
    }
    let mut told = format!(
        "\n{} tests were skipped, in part or as a whole; each is named above:\n",
        skipped.len()
    );
    for (reason, tests) in &by_reason {
        told += &format!("{:>5}  {reason}\n", tests.len());
    }
    let files: Vec<&str> = tools().map(|tool| tool.file).collect();
    let packages: BTreeSet<&str> = missing(&files).iter().map(|tool| tool.package).collect();
    if !packages.is_empty() {
        let packages: Vec<&str> = packages.into_iter().collect();
        told += "./test installs what tests need and runs them all. By hand, on Debian:\n";
        let install = "sudo apt-get install --no-install-recommends";
        told += &format!("  {install} {}\n", packages.join(" "));
    }
    // Writes to standard error directly, because libtest hides what a passing test prints.
    io::stderr().write_all(told.as_bytes()).unwrap();
}

#[test]
fn the_script_that_installs_misses_what_the_tests_miss() {
    let output = Command::new(repository().join("test"))
        .arg("--missing")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    let files: Vec<&str> = tools().map(|tool| tool.file).collect();
    let here: Vec<&str> = missing(&files).iter().map(|tool| tool.file).collect();
    assert_eq!(told.lines().collect::<Vec<_>>(), here);
}

#[test]
fn this_program_is_the_last_one() {
    let names: BTreeSet<String> = fs::read_dir(repository().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.last().unwrap(), env!("CARGO_PKG_NAME"), "{names:?}");
    assert!("deadheat-examples" < env!("CARGO_PKG_NAME"));
}
