//! The last test program of `cargo test --workspace`, which takes packages by their names and then
//! targets by theirs: what was skipped, and how to have it.

use std::collections::BTreeSet;
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
    let skipped = recorded();
    if skipped.is_empty() {
        return;
    }
    let of_tools = skipped
        .iter()
        .filter(|line| line.contains(" skipped: needs "));
    let of_machine = skipped.len() - of_tools.count();
    let files: Vec<&str> = tools().map(|tool| tool.file).collect();
    let packages: BTreeSet<&str> = missing(&files).iter().map(|tool| tool.package).collect();
    let packages: Vec<&str> = packages.into_iter().collect();
    let mut told = format!(
        "\n{} tests were skipped, in part or as a whole:\n",
        skipped.len()
    );
    for line in &skipped {
        told += &format!("  {line}\n");
    }
    if !packages.is_empty() {
        told += "./test runs them all; it installs what they need, which on Debian is\n";
        told += &format!(
            "  apt-get install --no-install-recommends {}\n",
            packages.join(" ")
        );
    }
    if of_machine > 0 {
        told += &format!(
            "{of_machine} of them no package can help: this machine forbids what they do.\n"
        );
    }
    // Past libtest, which hides what a passing test prints.
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
