//! Finds differences between two sides built by cargo that are not in their code: profiles,
//! configuration of cargo, and versions of dependencies. A release of a library that turned on LTO
//! in `[profile.bench]` looked 7.9% faster in thirteen benchmarks.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::benches::below_top;
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

/// Maximum length of a chain of configuration files that include one another.
const MOST_INCLUDED: usize = 8;

/// Returns a note on the differences between two builds that are not in their code, if there are
/// any. `sides` are the name and the folder of the sources of each side. `folders` are the user's
/// package and all folders above it up to the top, relative to the top. `arguments` are the
/// arguments of cargo for each side, which may set profiles. Packages in `ignored` are not
/// compared. `has_one_lock` is true if `--lock-from` is given.
pub(crate) fn unequal_builds(
    sides: [(&str, &Path); 2],
    folders: &[PathBuf],
    arguments: [&[OsString]; 2],
    ignored: &[&str],
    has_one_lock: bool,
) -> Option<Note> {
    let mut settings = sides.map(|(_, sources)| {
        let read = |path: &Path| disk::read_text(sources.join(path)).ok();
        Settings::of(folders, read)
    });
    for (settings, arguments) in settings.iter_mut().zip(arguments) {
        settings.heed(arguments);
    }
    // `cargo bench --profile NAME` does not build with the profile bench.
    if arguments.into_iter().any(chooses_profile) {
        settings.iter_mut().for_each(|one| one.profiles.clear());
    }
    let [base, head] = &settings;
    let differences = differences(base, head, ignored);
    (!differences.is_empty()).then(|| Note::UnequalBuilds {
        sides: sides.map(|(name, _)| name.to_owned()),
        profile: !base.changes_to(head).is_empty(),
        lock: !has_one_lock && !base.changed_packages(head, ignored).is_empty(),
        differences,
    })
}

/// Returns true if these arguments of cargo choose another profile than bench.
fn chooses_profile(arguments: &[OsString]) -> bool {
    arguments.iter().any(|word| {
        let word = word.to_string_lossy();
        word == "--profile" || word.starts_with("--profile=")
    })
}

/// The inputs of a side's build other than its code.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The settings of the profiles, such as `bench.lto`.
    profiles: BTreeMap<String, String>,
    configuration: BTreeMap<PathBuf, String>,
    /// The versions of each package of a registry or of git.
    packages: BTreeMap<String, BTreeSet<String>>,
}

impl Settings {
    /// Reads the settings. `read` returns the text of the file at a path relative to the top of the
    /// sources. `folders` are the user's package and all folders above it up to the top.
    pub(crate) fn of(folders: &[PathBuf], mut read: impl FnMut(&Path) -> Option<String>) -> Self {
        let manifests = folders.iter().rev();
        let manifests =
            manifests.filter_map(|folder| read(&folder.join("Cargo.toml"))?.parse().ok());
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
        // A profile in cargo's configuration overrides that of the manifest, and the configuration
        // of an inner folder overrides that of an outer folder.
        for folder in folders.iter().rev() {
            for name in ["config.toml", "config"] {
                let path = folder.join(".cargo").join(name);
                settings.configure(path, MOST_INCLUDED, &mut read);
            }
        }
        let locks = folders
            .iter()
            .filter_map(|folder| read(&folder.join("Cargo.lock")));
        for lock in locks {
            settings.packages.extend(packages(&lock));
        }
        settings
    }

    /// Applies a configuration file of cargo, after the files that it includes.
    fn configure(
        &mut self,
        path: PathBuf,
        most: usize,
        read: &mut impl FnMut(&Path) -> Option<String>,
    ) {
        // Files may include each other, so each is read once.
        if most == 0 || self.configuration.contains_key(&path) {
            return;
        }
        let Some(text) = read(&path) else {
            return;
        };
        self.configuration.insert(path.clone(), text.clone());
        let table: Table = text.parse().unwrap_or_default();
        let include = table.get("include");
        let several = include.and_then(Value::as_array).map(Vec::as_slice);
        for included in several.unwrap_or(include.map_or(&[], std::slice::from_ref)) {
            let file = included.get("path").unwrap_or(included).as_str();
            let folder = path.parent().unwrap_or(Path::new(""));
            if let Some(file) = file.and_then(|file| below_top(&folder.join(file))) {
                self.configure(file, most - 1, read);
            }
        }
        for profile in PROFILES {
            let found = table.get("profile").and_then(|all| all.get(profile));
            if let Some(found) = found {
                flatten(profile, found, &mut self.profiles);
            }
        }
    }

    /// Applies the profile settings in cargo's `--config` arguments.
    pub(crate) fn heed(&mut self, arguments: &[OsString]) {
        let words = arguments.iter().filter_map(|word| word.to_str());
        let settings = words.map(|word| word.strip_prefix("--config=").unwrap_or(word));
        for setting in settings.filter_map(|word| word.strip_prefix("profile.")) {
            if let Some((name, value)) = setting.split_once('=') {
                self.profiles
                    .insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
    }

    /// Returns the names of the settings of the bench profile that differ between the sides.
    /// `cargo bench` builds with this profile, which inherits settings of the release profile.
    fn changed_profile(&self, head: &Self) -> BTreeSet<String> {
        let names = self.profiles.keys().chain(head.profiles.keys());
        let names = names.filter_map(|name| Some(format!("bench.{}", name.split_once('.')?.1)));
        // The environment overrides the profiles of both sides.
        let variable = |name: &str| {
            let upper = name.replace(['.', '-'], "_").to_uppercase();
            std::env::var_os(format!("CARGO_PROFILE_{upper}"))
        };
        names
            .filter(|name| variable(name).is_none())
            .filter(|name| {
                let [ours, theirs] = [self, head].map(|side| side.value(name));
                ours.map(|value| meant(name, value)) != theirs.map(|value| meant(name, value))
            })
            .collect()
    }

    /// Returns the values of cargo's `--config` that give a side with these settings the profile of
    /// `head`. Settings that `head` lacks are left out unless their default is known, because
    /// `--config` cannot unset them. `inherits` is left out, because that profile may be missing on
    /// this side.
    pub(crate) fn changes_to(&self, head: &Self) -> Vec<String> {
        let changed = self.changed_profile(head).into_iter();
        let changed = changed.filter(|name| name != "bench.inherits");
        let settings = changed.filter_map(|name| {
            let value = head.value(&name)?;
            Some(format!("profile.{name}={value}"))
        });
        settings.collect()
    }

    fn changed_packages(&self, head: &Self, ignored: &[&str]) -> Vec<String> {
        let said = |versions: &BTreeSet<String>| {
            let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
            versions.join(", ")
        };
        let shared = self
            .packages
            .iter()
            .filter(|(name, _)| !ignored.iter().any(|library| is_of(library, name)))
            .filter_map(|(name, ours)| Some((name, ours, head.packages.get(name)?)));
        shared
            .filter(|(_, ours, theirs)| ours != theirs)
            .map(|(name, ours, theirs)| format!("{name} {} against {}", said(ours), said(theirs)))
            .collect()
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

/// Returns true for a library and its helper packages, such as criterion and criterion-plot.
fn is_of(library: &str, package: &str) -> bool {
    let rest = package.strip_prefix(library);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
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
                let is_bare = |sign: char| sign.is_ascii_alphanumeric() || "-_".contains(sign);
                match !key.is_empty() && key.chars().all(is_bare) {
                    true => flatten(&format!("{name}.{key}"), value, flat),
                    // The package of an override may be `*`.
                    false => {
                        let key = Value::String(key.clone());
                        flatten(&format!("{name}.{key}"), value, flat);
                    }
                }
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

/// Returns the differences, the most likely causes of different times first.
fn differences(base: &Settings, head: &Settings, ignored: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for name in base.changed_profile(head) {
        let [ours, theirs] = [base, head].map(|side| side.value(&name).unwrap_or("unset"));
        let (profile, key) = name.split_once('.').unwrap_or((&name, ""));
        all.push(format!(
            "[profile.{profile}] {key}: {ours} against {theirs}"
        ));
    }
    let files: BTreeSet<&PathBuf> = (base.configuration.keys())
        .chain(head.configuration.keys())
        .collect();
    for file in files {
        if base.configuration.get(file) != head.configuration.get(file) {
            all.push(format!("{}", file.display()));
        }
    }
    let mut changed = base.changed_packages(head, ignored);
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
    all
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
        let read = |path: &Path| fs::read_to_string(top.path().join(path)).ok();
        Settings::of(&["inner".into(), "".into()], read)
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
        let expected = ["profile.bench.lto=false", "profile.bench.opt-level=2"];
        assert_eq!(old.changes_to(&new), expected);
        let found = differences(&old, &new, &[]);
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
            differences(&settings(one), &settings(two), ignored).is_empty()
        };
        assert!(none(&files, &files, &[]));
        assert!(none(&files, &other, &["memchr"]) && !none(&files, &other, &[]));
        assert!(!none(&files, &other, &["mem"]));
        assert!(is_of("criterion", "criterion-plot") && !is_of("criterion", "criterion2"));
        assert!(none(&[], &[], &[]));
    }

    #[test]
    fn settings_of_cargo_make_profiles_equal() {
        let profile = "lto = true\npanic = \"abort\"\n[profile.bench.package.\"*\"]\n";
        let manifest = format!("[profile.bench]\n{profile}debug = 1\n");
        let configuration = "[profile.bench]\ncodegen-units = 1\n";
        let written = || {
            settings(&[
                ("Cargo.toml", &*manifest),
                ("inner/.cargo/config.toml", configuration),
            ])
        };
        for (mut old, new) in [(settings(&[]), written()), (written(), settings(&[]))] {
            let changes = old.changes_to(&new).into_iter();
            let words: Vec<OsString> = changes
                .flat_map(|setting| ["--config".into(), setting.into()])
                .collect();
            old.heed(&words);
            let left: Vec<String> = old.changed_profile(&new).into_iter().collect();
            // cargo's `--config` cannot unset a setting for some packages.
            let expected: &[&str] = match new.profiles.is_empty() {
                true => &["bench.package.\"*\".debug"],
                false => &[],
            };
            assert_eq!(left, expected, "{words:?}");
        }
    }

    #[test]
    fn profiles_are_not_compared_if_the_arguments_choose_another_profile() {
        let top = tempfile::tempdir().unwrap();
        for (side, text) in [("old", ""), ("new", "[profile.bench]\nlto = true\n")] {
            fs::create_dir(top.path().join(side)).unwrap();
            fs::write(top.path().join(side).join("Cargo.toml"), text).unwrap();
        }
        let (old, new) = (top.path().join("old"), top.path().join("new"));
        let note = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let sides = [("old", &*old), ("new", &*new)];
            unequal_builds(sides, &["".into()], [&words, &words], &[], false)
        };
        assert!(note(&[]).is_some());
        assert_eq!(note(&["--profile", "fast"]), None);
        assert_eq!(note(&["--profile=fast"]), None);
    }

    #[test]
    fn a_default_in_any_spelling_is_no_difference() {
        let written = settings(&[(
            "Cargo.toml",
            "[profile.release]\nopt-level = \"3\"\nlto = false\ndebug = 0\nstrip = false\n",
        )]);
        assert!(differences(&written, &settings(&[]), &[]).is_empty());
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
        let [old, new] = [&old, &new].map(|lock| settings(&[("Cargo.lock", &**lock)]));
        let found = differences(&old, &new, &[]);
        assert_eq!(
            found,
            [
                "versions of dependencies: a 1.0.0 against 2.0.0; b 1.0.0 against 2.0.0; c 1.0.0 against 2.0.0 and 2 more"
            ]
        );
    }
}
