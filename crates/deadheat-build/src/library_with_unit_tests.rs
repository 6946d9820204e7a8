//! Finds a library whose unit tests `cargo bench` runs next to the bench targets.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use toml::{Table, Value};

/// The part of the answer of `cargo metadata` that is used here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    #[serde(default)]
    workspace_default_members: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    src_path: PathBuf,
}

/// Returns the source file of the first library whose unit tests, by libtest, `cargo bench` runs
/// with the options `building`. `metadata` are options for `cargo metadata`. Returns `None` if no
/// library has such tests, or if cargo fails.
pub fn library_with_unit_tests(
    cargo: &OsStr,
    metadata: &[OsString],
    building: &[OsString],
) -> Option<PathBuf> {
    let words: Vec<String> = building
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if chooses_other_targets(&words) {
        return None;
    }
    let answer = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .args(metadata)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let found: Metadata = serde_json::from_slice(&answer.stdout).ok()?;
    let chosen = chosen_packages(&words);
    let manifest = manifest(metadata);
    let is_of_manifest =
        |package: &Package| manifest.as_deref() == Some(package.manifest_path.as_path());
    let is_in_package = found.packages.iter().any(is_of_manifest);
    let is_chosen = |package: &&Package| match &chosen {
        Chosen::All => true,
        Chosen::Named(names) => names.contains(&package.name.as_str()),
        Chosen::Usual if is_in_package => is_of_manifest(package),
        Chosen::Usual => found.workspace_default_members.contains(&package.id),
    };
    let mut packages = found.packages.iter().filter(is_chosen);
    packages.find_map(|package| {
        let is_library = |target: &&Target| {
            let mut kinds = target.kind.iter();
            kinds.any(|kind| kind.ends_with("lib") || kind == "proc-macro")
        };
        let library = package.targets.iter().find(is_library)?;
        runs_unit_tests(&std::fs::read_to_string(&package.manifest_path).ok()?)
            .then(|| library.src_path.clone())
    })
}

/// Returns true if the library of a package with this manifest has unit tests of libtest that
/// `cargo bench` runs.
fn runs_unit_tests(manifest: &str) -> bool {
    let Ok(manifest) = manifest.parse::<Table>() else {
        return false;
    };
    let is_off = |key| {
        let value = manifest.get("lib").and_then(|lib| lib.get(key));
        value.and_then(Value::as_bool) == Some(false)
    };
    !is_off("bench") && !is_off("harness")
}

/// Returns true if options of `cargo bench` choose targets without the library.
fn chooses_other_targets(words: &[String]) -> bool {
    let has = |names: &[&str]| {
        words.iter().any(|word| {
            let name = word.split('=').next().unwrap_or_default();
            names.contains(&name)
        })
    };
    let others = [
        "--bench",
        "--bin",
        "--bins",
        "--example",
        "--examples",
        "--test",
        "--tests",
    ];
    has(&others) && !has(&["--lib", "--benches", "--all-targets"])
}

enum Chosen<'w> {
    All,
    Named(Vec<&'w str>),
    /// The package of the current folder, or the default members of its workspace.
    Usual,
}

fn chosen_packages(words: &[String]) -> Chosen<'_> {
    if words
        .iter()
        .any(|word| word == "--workspace" || word == "--all")
    {
        return Chosen::All;
    }
    let named: Vec<&str> = words
        .iter()
        .enumerate()
        .filter_map(|(index, word)| match word.as_str() {
            "-p" | "--package" => words.get(index + 1).map(String::as_str),
            word => word.strip_prefix("--package="),
        })
        .collect();
    match named.is_empty() {
        true => Chosen::Usual,
        false => Chosen::Named(named),
    }
}

/// Returns the manifest that cargo reads: the one that `--manifest-path` names, or the one in the
/// nearest folder.
fn manifest(metadata: &[OsString]) -> Option<PathBuf> {
    let option = metadata.iter().position(|word| word == "--manifest-path");
    let named = option.and_then(|option| metadata.get(option + 1));
    let nearest = || {
        let here = std::env::current_dir().ok()?;
        let mut manifests = here.ancestors().map(|folder| folder.join("Cargo.toml"));
        manifests.find(|manifest| manifest.is_file())
    };
    let manifest = named
        .map(|named| Path::new(named).to_owned())
        .or_else(nearest)?;
    manifest.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_from_options_whether_cargo_runs_the_library() {
        let without = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            chooses_other_targets(&words)
        };
        for line in ["--bench text", "--bench=text -p a", "--bins"] {
            assert!(without(line), "{line}");
        }
        for line in ["", "--benches", "--lib --bench text", "-p a --all-targets"] {
            assert!(!without(line), "{line}");
        }
    }

    #[test]
    fn reads_from_the_manifest_whether_the_library_has_unit_tests() {
        for manifest in ["", "[lib]\nname = \"a\"", "[lib]\nbench = true"] {
            assert!(runs_unit_tests(manifest), "{manifest}");
        }
        for manifest in ["[lib]\nbench = false", "[lib]\nharness = false", "]"] {
            assert!(!runs_unit_tests(manifest), "{manifest}");
        }
    }
}
