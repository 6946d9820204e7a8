//! What cargo says for programs: what it made, and of what.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use deadheat_link::LinkRecord;
use serde::Deserialize;

use crate::index::Kept;

/// All that cargo said about one build, line by line.
#[derive(Debug, Default)]
pub(crate) struct Messages(Vec<Message>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    reason: String,
    package_id: String,
    manifest_path: PathBuf,
    target: Target,
    filenames: Vec<PathBuf>,
    executable: Option<PathBuf>,
    out_dir: PathBuf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Target {
    kind: Vec<String>,
    name: String,
}

impl Messages {
    /// Of standard output under `--message-format=json…`. Lines that are no
    /// message are none of ours.
    pub(crate) fn read(text: &[u8]) -> Self {
        let lines = text.split(|byte| *byte == b'\n');
        Self(
            lines
                .filter_map(|line| serde_json::from_slice(line).ok())
                .collect(),
        )
    }

    /// The bench targets, by their names; with that of the package where two
    /// packages have one of the same name.
    pub(crate) fn benches(&self) -> Vec<Kept> {
        let benches: Vec<(&Message, &PathBuf)> = self
            .0
            .iter()
            .filter(|message| message.target.kind.iter().any(|kind| kind == "bench"))
            .filter_map(|message| Some((message, message.executable.as_ref()?)))
            .collect();
        let mut counts = BTreeMap::new();
        for (message, _) in &benches {
            *counts.entry(&message.target.name).or_insert(0) += 1;
        }
        let mut kept: Vec<Kept> = benches
            .iter()
            .map(|(message, path)| {
                let target = &message.target.name;
                let name = match counts[target] {
                    1 => target.clone(),
                    _ => format!("{}/{target}", package(&message.package_id)),
                };
                let path = path.to_path_buf();
                Kept { name, path }
            })
            .collect();
        kept.sort_by(|a, b| a.name.cmp(&b.name));
        kept
    }

    /// The folders of packages outside of `sources` that were named by path.
    pub(crate) fn elsewhere(&self, sources: &Path) -> BTreeSet<PathBuf> {
        let packages = self.0.iter().filter(|message| {
            let by_path =
                message.package_id.starts_with("path+") || message.package_id.contains("(path+");
            by_path && message.manifest_path.is_absolute()
        });
        packages
            .filter_map(|message| Some(message.manifest_path.parent()?.to_owned()))
            .filter(|folder| !folder.starts_with(sources))
            .collect()
    }

    /// What was made of packages from outside of `sources`, as files and
    /// folders below `target`, and what links were made from. With them
    /// another build need not make it again.
    pub(crate) fn dependencies(&self, sources: &Path, target: &Path) -> Vec<PathBuf> {
        let artifacts = self.0.iter().filter(|message| {
            message.reason == "compiler-artifact" && !message.manifest_path.starts_with(sources)
        });
        let foreign: BTreeSet<&str> = artifacts
            .clone()
            .map(|message| &*message.package_id)
            .collect();
        let mut found = BTreeSet::new();
        let mut marks = Fingerprints::default();
        for message in artifacts {
            for file in &message.filenames {
                let Some(folder) = file.parent() else {
                    continue;
                };
                if message
                    .target
                    .kind
                    .iter()
                    .any(|kind| kind == "custom-build")
                {
                    found.extend(marks.of(folder));
                    found.insert(folder.to_owned());
                } else {
                    found.extend(marks.of(file));
                    found.extend(dep_info(file));
                    found.insert(file.clone());
                }
            }
        }
        for message in &self.0 {
            let is_foreign = foreign.contains(&*message.package_id);
            if message.reason == "build-script-executed" && is_foreign {
                let Some(folder) = message.out_dir.parent() else {
                    continue;
                };
                found.extend(marks.of(folder));
                found.insert(folder.to_owned());
            }
        }
        for bench in self.benches() {
            let links = LinkRecord::home(bench.path.parent().unwrap_or(target));
            let stored = ["index", "inputs"].map(|name| links.join(name));
            found.extend(stored.into_iter().filter(|path| path.exists()));
        }
        let below = |path: PathBuf| Some(path.strip_prefix(target).ok()?.to_owned());
        found.into_iter().filter_map(below).collect()
    }
}

/// The name of a package by its id: `registry+URL#name@1.2.3`,
/// `path+file:///a/name#1.2.3`, and formerly `name 1.2.3 (path+…)`.
fn package(id: &str) -> &str {
    let Some((place, version)) = id.rsplit_once('#') else {
        return id.split(' ').next().unwrap_or(id);
    };
    match version.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

/// The hash at the end of `name-hash` or `libname-hash.rlib`.
fn hash(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (_, hash) = name.split('.').next()?.rsplit_once('-')?;
    (hash.len() == 16).then(|| hash.to_owned())
}

/// What rustc noted beside a file of the folder `deps`.
fn dep_info(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let stem = name.split('.').next()?;
    let stem = stem.strip_prefix("lib").unwrap_or(stem);
    let noted = file.with_file_name(format!("{stem}.d"));
    noted.is_file().then_some(noted)
}

/// The folders in which cargo notes down what it built, by hash, read once.
#[derive(Debug, Default)]
struct Fingerprints(BTreeMap<PathBuf, BTreeMap<String, Vec<PathBuf>>>);

impl Fingerprints {
    /// The fingerprints of a file or folder `PROFILE/*/name-hash`.
    fn of(&mut self, made: &Path) -> Vec<PathBuf> {
        let Some((profile, hash)) = made.ancestors().nth(2).zip(hash(made)) else {
            return Vec::new();
        };
        let home = profile.join(".fingerprint");
        let known = self.0.entry(home).or_insert_with_key(|home| {
            let mut known: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
            for entry in fs::read_dir(home).into_iter().flatten().flatten() {
                let path = entry.path();
                if let Some(hash) = self::hash(&path) {
                    known.entry(hash).or_default().push(path);
                }
            }
            known
        });
        known.get(&hash).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(package: &str, kind: &str, name: &str, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"{package}","manifest_path":"/r/Cargo.toml","target":{{"kind":["{kind}"],"name":"{name}"}},"filenames":["{executable}"],"executable":"{executable}"}}"#
        )
    }

    #[test]
    fn bench_targets_are_found_by_kind_and_named_apart() {
        let text = [
            artifact("path+file:///r/one#0.1.0", "bench", "race", "/t/race-1"),
            "Compiling something".to_owned(),
            artifact("path+file:///r/x#two@0.1.0", "bench", "race", "/t/race-2"),
            artifact("path+file:///r/x#two@0.1.0", "bench", "alone", "/t/alone-3"),
            artifact("path+file:///r/one#0.1.0", "lib", "one", "/t/one-4"),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let benches = Messages::read(text.join("\n").as_bytes()).benches();
        let named: Vec<(&str, &str)> = benches
            .iter()
            .map(|kept| (&*kept.name, kept.path.to_str().unwrap()))
            .collect();
        let expected = [
            ("alone", "/t/alone-3"),
            ("one/race", "/t/race-1"),
            ("two/race", "/t/race-2"),
        ];
        assert_eq!(named, expected);
        let elsewhere = Messages::read(text[0].as_bytes()).elsewhere(Path::new("/tree"));
        assert_eq!(elsewhere, [PathBuf::from("/r")].into());
        assert_eq!(package("one 0.1.0 (path+file:///r/one)"), "one");
    }

    #[test]
    fn only_what_was_made_of_packages_from_elsewhere_is_a_dependency() {
        let target = tempfile::tempdir().unwrap();
        let target = target.path();
        let hash = "0123456789abcdef";
        for path in [
            format!("release/deps/libdep-{hash}.rlib"),
            format!("release/deps/dep-{hash}.d"),
            format!("release/.fingerprint/dep-{hash}/lib-dep"),
            "release/deps/libown-fedcba9876543210.rlib".to_owned(),
        ] {
            let path = target.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let line = |manifest: &str, file: String| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"{manifest}","manifest_path":"{manifest}","target":{{"kind":["lib"],"name":"dep"}},"filenames":[{:?}],"executable":null}}"#,
                target.join(file)
            )
        };
        let executed = |package: &str, folder: &str| {
            format!(
                r#"{{"reason":"build-script-executed","package_id":"{package}","out_dir":{:?}}}"#,
                target.join(folder)
            )
        };
        let text = [
            line(
                "/elsewhere/Cargo.toml",
                format!("release/deps/libdep-{hash}.rlib"),
            ),
            line(
                "/r/Cargo.toml",
                "release/deps/libown-fedcba9876543210.rlib".to_owned(),
            ),
            executed("/elsewhere/Cargo.toml", "release/build/dep-00/out"),
            executed("/r/Cargo.toml", "release/build/own-00/out"),
        ];
        let messages = Messages::read(text.join("\n").as_bytes());
        assert!(
            messages.elsewhere(Path::new("/r")).is_empty(),
            "none is named by path"
        );
        let found = messages.dependencies(Path::new("/r"), target);
        let mut expected = [
            format!("release/.fingerprint/dep-{hash}"),
            "release/build/dep-00".to_owned(),
            format!("release/deps/dep-{hash}.d"),
            format!("release/deps/libdep-{hash}.rlib"),
        ]
        .map(PathBuf::from);
        expected.sort();
        assert_eq!(found, expected);
    }
}
