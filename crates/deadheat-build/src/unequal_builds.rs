//! Finds differences between two sides built by cargo that are not in their code: profiles,
//! configuration of cargo, and versions of dependencies. A release of a library that turned on LTO
//! in `[profile.bench]` looked 7.9% faster in thirteen benchmarks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::disk;
use crate::error::Note;

/// The profiles of a build by `cargo bench`; `bench` inherits from `release`.
const PROFILES: [&str; 2] = ["bench", "release"];

/// The largest number of changed dependencies that are named; the rest are only counted.
const NAMED: usize = 3;

/// The settings of profiles, with cargo's defaults for `cargo bench`.
const DEFAULTS: [(&str, &str); 9] = [
    ("codegen-units", "16"),
    ("debug", "false"),
    ("debug-assertions", "false"),
    ("incremental", "false"),
    ("lto", "false"),
    ("opt-level", "3"),
    ("overflow-checks", "false"),
    ("panic", "\"unwind\""),
    ("strip", "\"none\""),
];

/// Returns a note on the differences between two builds that are not in their code, if there are
/// any. `sides` are the names and the tops of the sources. `folders` lead from the user's package
/// up to the top, relative to the top. `arguments` are cargo's arguments for each side, which may
/// set profiles. Packages in `ignored` are not compared.
pub(crate) fn unequal_builds(
    sides: [(&str, &Path); 2],
    folders: &[PathBuf],
    arguments: [&[OsString]; 2],
    ignored: &[&str],
) -> Option<Note> {
    let mut settings = sides.map(|(_, sources)| Settings::of(sources, folders));
    for (settings, arguments) in settings.iter_mut().zip(arguments) {
        settings.heed(arguments);
    }
    let (differences, equalising) = differences(&settings, ignored);
    (!differences.is_empty()).then(|| Note::UnequalBuilds {
        sides: sides.map(|(name, _)| name.to_owned()),
        differences,
        equalising,
    })
}

/// The inputs of a side's build other than its code.
#[derive(Debug, Default)]
struct Settings {
    /// The settings of the profiles, such as `bench.lto`.
    profiles: BTreeMap<String, String>,
    /// The texts of cargo's configuration files, by their paths.
    configuration: BTreeMap<PathBuf, String>,
    /// The versions of each package of a registry or of git.
    packages: BTreeMap<String, BTreeSet<String>>,
}

impl Settings {
    fn of(top: &Path, folders: &[PathBuf]) -> Self {
        let read = |path: PathBuf| disk::read_text(top.join(path)).ok();
        let manifests = folders.iter().rev();
        let manifests =
            manifests.filter_map(|folder| read(folder.join("Cargo.toml"))?.parse().ok());
        let manifests: Vec<Table> = manifests.collect();
        // Cargo uses only the profiles of the workspace root, or of a package outside of any
        // workspace.
        let is_workspace = |manifest: &&Table| manifest.contains_key("workspace");
        let root = manifests.iter().find(is_workspace).or(manifests.last());
        let mut settings = Self::default();
        let all = root.and_then(|root| root.get("profile")?.as_table());
        for name in PROFILES {
            if let Some(profile) = all.and_then(|all| all.get(name)) {
                flatten(name, profile, &mut settings.profiles);
            }
        }
        for folder in folders {
            for name in ["config.toml", "config"] {
                let path = folder.join(".cargo").join(name);
                if let Some(text) = read(path.clone()) {
                    settings.configuration.insert(path, text);
                }
            }
        }
        let locks = folders
            .iter()
            .filter_map(|folder| read(folder.join("Cargo.lock")));
        for lock in locks {
            settings.packages.extend(packages(&lock));
        }
        settings
    }

    /// Applies the profile settings in cargo's `--config` arguments.
    fn heed(&mut self, arguments: &[OsString]) {
        let words = arguments.iter().filter_map(|word| word.to_str());
        let settings = words.map(|word| word.strip_prefix("--config=").unwrap_or(word));
        for setting in settings.filter_map(|word| word.strip_prefix("profile.")) {
            if let Some((name, value)) = setting.split_once('=') {
                self.profiles
                    .insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
    }

    /// Returns the value of a profile setting such as `bench.lto`, which may be inherited from the
    /// release profile or be cargo's default.
    fn value(&self, name: &str) -> Option<&str> {
        let key = name.strip_prefix("bench.");
        let inherited = || self.profiles.get(&format!("release.{}", key?));
        let set = self
            .profiles
            .get(name)
            .or_else(inherited)
            .map(String::as_str);
        let (_, key) = name.split_once('.')?;
        let default = || {
            DEFAULTS
                .iter()
                .find(|(known, _)| *known == key)
                .map(|(_, value)| *value)
        };
        set.or_else(default)
    }
}

/// Profile settings whose values have several spellings: the key, and all spellings of one value.
const SPELLINGS: [(&str, &[&str]); 6] = [
    ("debug", &["false", "0", "\"none\""]),
    ("debug", &["\"limited\"", "1"]),
    ("debug", &["\"full\"", "2", "true"]),
    ("lto", &["\"fat\"", "true"]),
    ("strip", &["\"none\"", "false"]),
    ("strip", &["\"symbols\"", "true"]),
];

/// Returns the first spelling of a value, so that values can be compared.
fn meant<'a>(name: &str, value: &'a str) -> &'a str {
    let key = name.rsplit('.').next().unwrap_or(name);
    let mut all = SPELLINGS.iter().filter(|(of, _)| *of == key);
    let found = all.find(|(_, spellings)| spellings.contains(&value));
    found.map_or_else(|| value.trim_matches('"'), |(_, spellings)| spellings[0])
}

/// Adds the values of a TOML table to `flat`, by their dotted names.
fn flatten(name: &str, value: &Value, flat: &mut BTreeMap<String, String>) {
    match value.as_table() {
        Some(table) => {
            for (key, value) in table {
                flatten(&format!("{name}.{key}"), value, flat);
            }
        }
        None => {
            flat.insert(name.to_owned(), value.to_string());
        }
    }
}

/// Returns the packages in a lock file that do not belong to the repository, with their versions.
fn packages(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let lock: Table = lock.parse().unwrap_or_default();
    let all = lock.get("package").and_then(Value::as_array);
    for package in all.into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(Value::as_str);
        if let (Some(name), Some(version), Some(_)) =
            (text("name"), text("version"), text("source"))
        {
            let versions = found.entry(name.to_owned()).or_default();
            versions.insert(version.to_owned());
        }
    }
    found
}

/// Returns the differences, the most likely causes of different times first, and the cargo options
/// that give the baseline the candidate's profile.
fn differences([base, head]: &[Settings; 2], ignored: &[&str]) -> (Vec<String>, String) {
    let mut all = Vec::new();
    let mut equalising = Vec::new();
    let names = base.profiles.keys().chain(head.profiles.keys());
    // `cargo bench` builds with the bench profile, which inherits settings of the release profile.
    let names = names.filter_map(|name| Some(format!("bench.{}", name.split_once('.')?.1)));
    for name in names.collect::<BTreeSet<String>>() {
        let [ours, theirs] = [base, head].map(|side| side.value(&name));
        let meant = |value: Option<&str>| value.map(|value| meant(&name, value).to_owned());
        if meant(ours) != meant(theirs) {
            let said = |value: Option<&str>| value.unwrap_or("unset").to_owned();
            let (profile, key) = name.split_once('.').unwrap_or((&name, ""));
            all.push(format!(
                "[profile.{profile}] {key}: {} against {}",
                said(ours),
                said(theirs)
            ));
            equalising.extend(theirs.map(|value| {
                // The quotes are escaped: TOML needs them, and `--base-args` is split as by a
                // shell.
                let value = value.replace('"', "\\\"");
                format!("--config profile.{name}={value}")
            }));
        }
    }
    let files: BTreeSet<&PathBuf> = (base.configuration.keys())
        .chain(head.configuration.keys())
        .collect();
    for file in files {
        if base.configuration.get(file) != head.configuration.get(file) {
            all.push(format!("{}", file.display()));
        }
    }
    let mut changed = Vec::new();
    for (name, ours) in &base.packages {
        if let Some(theirs) = head.packages.get(name)
            && ours != theirs
            && !ignored.contains(&&**name)
        {
            let said = |versions: &BTreeSet<String>| {
                versions
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            changed.push(format!("{name} {} against {}", said(ours), said(theirs)));
        }
    }
    if !changed.is_empty() {
        let more = changed.len().saturating_sub(NAMED);
        changed.truncate(NAMED);
        let rest = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        all.push(format!(
            "versions of dependencies: {}{rest}",
            changed.join("; ")
        ));
    }
    (all, equalising.join(" "))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LOCK: &str = "[[package]]\nname = \"own\"\nversion = \"1.0.0\"\n\n\
        [[package]]\nname = \"memchr\"\nversion = \"2.7.0\"\nsource = \"registry\"\n";

    fn settings(files: &[(&str, &str)]) -> Settings {
        let top = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = top.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Settings::of(top.path(), &["inner".into(), "".into()])
    }

    #[test]
    fn profiles_configuration_and_dependencies_are_compared() {
        let old = settings(&[
            (
                "Cargo.toml",
                "[workspace]\n[profile.bench]\nlto = true\n[profile.dev]\ndebug = 0\n",
            ),
            // Cargo ignores the profiles of a member.
            ("inner/Cargo.toml", "[profile.bench]\nopt-level = 1\n"),
            ("Cargo.lock", LOCK),
        ]);
        let new = settings(&[
            (
                "Cargo.toml",
                "[workspace]\n[profile.release]\nopt-level = 2\n[profile.dev]\ndebug = 1\n",
            ),
            (".cargo/config.toml", "[build]\nrustflags = []\n"),
            (
                "Cargo.lock",
                &LOCK.replace("2.7.0", "2.8.0").replace("1.0.0", "1.1.0"),
            ),
        ]);
        let (found, equalising) = differences(&[old, new], &[]);
        assert_eq!(
            equalising,
            "--config profile.bench.lto=false --config profile.bench.opt-level=2"
        );
        let expected = [
            "[profile.bench] lto: true against false",
            "[profile.bench] opt-level: 3 against 2",
            ".cargo/config.toml",
            "versions of dependencies: memchr 2.7.0 against 2.8.0",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn equal_settings_and_ignored_packages_are_no_difference() {
        let files = [
            ("Cargo.toml", "[profile.bench]\nlto = true\n"),
            ("Cargo.lock", LOCK),
        ];
        let newer = LOCK.replace("2.7.0", "2.8.0");
        let other = [
            ("Cargo.toml", "[profile.bench]\nlto = true\n"),
            ("Cargo.lock", &*newer),
        ];
        let none = |one: &[(&str, &str)], two: &[(&str, &str)], ignored: &[&str]| {
            differences(&[settings(one), settings(two)], ignored)
                .0
                .is_empty()
        };
        assert!(none(&files, &files, &[]));
        assert!(none(&files, &other, &["memchr"]) && !none(&files, &other, &[]));
        assert!(none(&[], &[], &[]));
    }

    #[test]
    fn options_of_cargo_make_profiles_equal() {
        let plain = settings(&[]);
        let mut old = settings(&[(
            "Cargo.toml",
            "[profile.bench]\nlto = true\npanic = \"abort\"\n",
        )]);
        let both = [old, plain];
        let (_, equalising) = differences(&both, &[]);
        // As a shell would read them.
        let words = equalising
            .replace('\\', "")
            .split(' ')
            .map(OsString::from)
            .collect::<Vec<_>>();
        let [first, plain] = both;
        old = first;
        old.heed(&words);
        assert!(differences(&[old, plain], &[]).0.is_empty(), "{equalising}");
    }

    #[test]
    fn a_default_in_any_spelling_is_no_difference() {
        let written = settings(&[(
            "Cargo.toml",
            "[profile.release]\nopt-level = \"3\"\nlto = false\ndebug = 0\nstrip = false\n",
        )]);
        assert!(differences(&[written, settings(&[])], &[]).0.is_empty());
    }

    #[test]
    fn many_dependencies_are_counted() {
        let lock = |version: &str| -> String {
            let package = |name: &str| {
                format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"r\"\n")
            };
            ["a", "b", "c", "d", "e"].map(package).concat()
        };
        let (old, new) = (lock("1.0.0"), lock("2.0.0"));
        let both = [&old, &new].map(|lock| settings(&[("Cargo.lock", &**lock)]));
        let (found, _) = differences(&both, &[]);
        assert_eq!(
            found,
            [
                "versions of dependencies: a 1.0.0 against 2.0.0; b 1.0.0 against 2.0.0; c 1.0.0 against 2.0.0 and 2 more"
            ]
        );
    }
}
