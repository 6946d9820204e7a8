//! Reads cargo's messages about artifacts, copies reusable dependencies to another build, and
//! removes files that a finished build does not need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use deadheat_link::LinkRecord;
use serde::Deserialize;
use toml::{Table, Value};

use crate::benches::BenchTarget;
use crate::disk::{self, entries, remove_all, unless_gone};
use crate::slot::Executable;

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
    message: Option<Diagnostic>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    level: String,
    message: String,
    rendered: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Target {
    kind: Vec<String>,
    name: String,
    src_path: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompileError {
    /// The bench target; `None` if another kind of target does not compile.
    pub(crate) bench: Option<BenchTarget>,
    /// The first error of the compiler, on one line.
    pub(crate) problem: String,
}

impl Message {
    fn is_of(&self, kind: &str) -> bool {
        self.target.kind.iter().any(|one| one == kind)
    }

    fn bench_target(&self, top: &Path) -> Option<BenchTarget> {
        let below = |path: &Path| Some(path.strip_prefix(top).ok()?.to_owned());
        Some(BenchTarget {
            manifest: below(&self.manifest_path)?,
            source: below(&self.target.src_path)?,
            name: self.target.name.clone(),
        })
        .filter(|_| self.is_of("bench"))
    }
}

impl Messages {
    /// Reads the standard output of `--message-format=json…`. Other lines are ignored.
    pub(crate) fn read(text: &[u8]) -> Self {
        let lines = text.split(|byte| *byte == b'\n');
        let messages = lines.filter_map(|line| serde_json::from_slice(line).ok());
        Self(messages.collect())
    }

    /// Returns the bench executables, sorted by name. If two packages have bench targets of the
    /// same name, the names are `PACKAGE/TARGET`.
    pub(crate) fn benches(&self) -> Vec<Executable> {
        let benches: Vec<(&Message, &PathBuf)> = self
            .0
            .iter()
            .filter(|message| message.is_of("bench"))
            .filter_map(|message| Some((message, message.executable.as_ref()?)))
            .collect();
        let mut counts = BTreeMap::new();
        for (message, _) in &benches {
            *counts.entry(&message.target.name).or_insert(0) += 1;
        }
        let mut kept: Vec<Executable> = benches
            .iter()
            .map(|(message, path)| {
                let target = &message.target.name;
                let name = match counts[target] {
                    1 => target.clone(),
                    _ => format!("{}/{target}", package(&message.package_id)),
                };
                let path = path.to_path_buf();
                Executable {
                    name,
                    path,
                    // The working directory in which `cargo bench` starts it.
                    directory: message.manifest_path.parent().map(Path::to_owned),
                }
            })
            .collect();
        kept.sort_by(|a, b| a.name.cmp(&b.name));
        kept
    }

    pub(crate) fn library(&self, name: &str) -> Option<PathBuf> {
        let is_it = |message: &&Message| message.is_of("lib") && message.target.name == name;
        let mut files = self
            .0
            .iter()
            .filter(is_it)
            .flat_map(|message| &message.filenames);
        let is_library = |file: &&PathBuf| file.extension().is_some_and(|end| end == "rlib");
        files.rfind(is_library).cloned()
    }

    pub(crate) fn bench_targets(&self, top: &Path) -> Vec<BenchTarget> {
        let built = self.0.iter().filter(|message| message.executable.is_some());
        built
            .filter_map(|message| message.bench_target(top))
            .collect()
    }

    /// Removes all executables except those of these bench targets.
    pub(crate) fn of_targets(mut self, top: &Path, targets: &[BenchTarget]) -> Self {
        self.0.retain(|message| {
            let is_wanted = |bench| targets.contains(&bench);
            message.executable.is_none() || message.bench_target(top).is_some_and(is_wanted)
        });
        self
    }

    pub(crate) fn errors(&self, top: &Path) -> Vec<CompileError> {
        let mut errors: Vec<CompileError> = Vec::new();
        for message in &self.0 {
            if let Some(said) = &message.message
                && said.level.starts_with("error")
            {
                let bench = message.bench_target(top);
                if errors.iter().all(|error| error.bench != bench) {
                    let problem = said.message.lines().next().unwrap_or_default();
                    errors.push(CompileError {
                        bench,
                        problem: problem.to_owned(),
                    });
                }
            }
        }
        errors
    }

    /// Returns true if the replaced criterion can be the reason for an error: it is in a target that
    /// uses dev-dependencies, or in a package that depends on criterion.
    pub(crate) fn may_blame_criterion(&self) -> bool {
        let is_error = |message: &&Message| {
            let said = message.message.as_ref();
            said.is_some_and(|said| said.level.starts_with("error"))
        };
        self.0.iter().filter(is_error).any(|message| {
            let of_tests = ["bench", "test", "example"];
            of_tests.iter().any(|kind| message.is_of(kind))
                || depends_on_criterion(&message.manifest_path)
                || self.is_made(message)
        })
    }

    /// Returns true if the target of this message was compiled, so that an error in it is of its unit
    /// tests, which use dev-dependencies.
    fn is_made(&self, error: &Message) -> bool {
        self.0.iter().any(|message| {
            message.reason == "compiler-artifact"
                && message.package_id == error.package_id
                && message.target.src_path == error.target.src_path
        })
    }

    /// Returns the compiler's messages as text, in the form that rustc prints to a terminal.
    pub(crate) fn rendered(&self) -> impl Iterator<Item = &str> {
        let said = self.0.iter().filter_map(|message| message.message.as_ref());
        said.filter_map(|said| said.rendered.as_deref())
    }

    /// Returns the folders of path dependencies outside of `sources`.
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

    /// Returns the folders of the packages below `top`, except those below `sources`.
    pub(crate) fn below(&self, top: &Path, sources: &Path) -> Vec<PathBuf> {
        let folders = self
            .0
            .iter()
            .filter_map(|message| message.manifest_path.parent());
        let folders = folders.filter(|it| it.starts_with(top) && !it.starts_with(sources));
        let folders: BTreeSet<PathBuf> = folders.map(Path::to_owned).collect();
        folders.into_iter().collect()
    }

    /// Returns the files that another build can reuse, relative to `target`: artifacts of packages
    /// outside of `sources`, and stored inputs of links.
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
                if message.is_of("custom-build") {
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

/// Returns true if the library of the package with this manifest depends on criterion.
fn depends_on_criterion(manifest: &Path) -> bool {
    let text = disk::read_text(manifest).unwrap_or_default();
    let manifest: Table = text.parse().unwrap_or_default();
    let depends = |table: &Table| {
        let all = table.get("dependencies").and_then(Value::as_table);
        all.is_some_and(|all| all.contains_key("criterion"))
    };
    let platforms = manifest.get("target").and_then(Value::as_table);
    let mut platforms = platforms.into_iter().flat_map(Table::values);
    depends(&manifest) || platforms.any(|one| one.as_table().is_some_and(depends))
}

/// Returns the name of a package from its id: `registry+URL#name@1.2.3`,
/// `path+file:///a/name#1.2.3`, and in older versions `name 1.2.3 (path+…)`.
fn package(id: &str) -> &str {
    let Some((place, version)) = id.rsplit_once('#') else {
        return id.split(' ').next().unwrap_or(id);
    };
    match version.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

/// Returns the hash at the end of `name-hash` or `libname-hash.rlib`.
fn hash(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (_, hash) = name.split('.').next()?.rsplit_once('-')?;
    (hash.len() == 16).then(|| hash.to_owned())
}

/// Returns rustc's dependency file (`.d`) for a file in the folder `deps`, if it exists.
fn dep_info(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let stem = name.split('.').next()?;
    let stem = stem.strip_prefix("lib").unwrap_or(stem);
    let noted = file.with_file_name(format!("{stem}.d"));
    noted.is_file().then_some(noted)
}

/// Cargo's fingerprint folders by profile and hash. Each profile is read once.
#[derive(Debug, Default)]
struct Fingerprints(BTreeMap<PathBuf, BTreeMap<String, Vec<PathBuf>>>);

impl Fingerprints {
    /// Returns the fingerprint folders of a file or folder `PROFILE/*/name-hash`.
    fn of(&mut self, made: &Path) -> Vec<PathBuf> {
        let Some((profile, hash)) = made.ancestors().nth(2).zip(hash(made)) else {
            return Vec::new();
        };
        let home = profile.join(".fingerprint");
        let known = self.0.entry(home).or_insert_with_key(|home| {
            let mut known: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
            for path in entries(home) {
                if let Some(hash) = self::hash(&path) {
                    known.entry(hash).or_default().push(path);
                }
            }
            known
        });
        known.get(&hash).cloned().unwrap_or_default()
    }
}

/// Files of one build that another may reuse. Cargo decides by hashes and times if they are fresh,
/// so the times are copied too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seed {
    pub(crate) target: PathBuf,
    /// The files and folders to reuse, relative to `target`.
    pub(crate) files: Vec<PathBuf>,
}

impl Seed {
    /// Copies the files into another target folder, and skips missing ones. If a copy fails, the
    /// target folder is removed, and cargo builds everything again.
    pub(crate) fn plant(&self, target: &Path) {
        for file in &self.files {
            let planted = copy(&self.target.join(file), &target.join(file));
            if unless_gone(planted).is_err() {
                // An incomplete copy is harmless, but would keep a full disk full.
                let _ = fs::remove_dir_all(target);
                return;
            }
        }
    }
}

/// Copies a file or folder with its times. If the file system allows it, files that are never
/// modified in place become hard links instead, which take no space.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let about = fs::metadata(from)?;
    if about.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if is_replaced_whole(from) && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    fs::File::options()
        .read(true)
        .open(to)?
        .set_modified(about.modified()?)
}

/// Returns true for a file that is always replaced as a whole and never modified, so that a hard
/// link is safe. Cargo itself hard-links the output of rustc. Build scripts may modify their files
/// in place, and cargo modifies its fingerprints.
fn is_replaced_whole(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    let folder = file.parent().and_then(Path::file_name);
    let is_compiled = matches!(extension, Some("rlib" | "rmeta" | "so"));
    // The link store names objects by their content.
    let is_stored = |folder: &Path| folder.ends_with(".deadheat/links/inputs");
    (is_compiled && folder == Some("deps".as_ref()))
        || file.parent().is_some_and(is_stored)
        || is_script(file)
}

/// Returns true for the executable of a build script: `build/NAME-HASH/build-script-NAME`.
fn is_script(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_named_so = name.starts_with("build-script-") || name.starts_with("build_script_");
    is_named_so
        && file.extension().is_none()
        && file.ancestors().nth(2).and_then(Path::file_name) == Some("build".as_ref())
}

/// Removes the files of a finished target folder that neither a race nor a later build needs, such
/// as intermediate files of the commit's own packages. The paths in `kept`, programs, dynamic
/// libraries and all output of build scripts stay.
pub(crate) fn prune(target: &Path, kept: &[PathBuf]) {
    let kept: BTreeSet<PathBuf> = kept.iter().map(|path| target.join(path)).collect();
    for profile in profiles(target) {
        let unneeded = |folder: &Path| entries(folder).filter(|path| !kept.contains(path));
        let is_on_the_way = |path: &PathBuf| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("rlib" | "rmeta" | "d" | "o"))
        };
        let compiled = unneeded(&profile.join("deps")).chain(unneeded(&profile));
        let scripts = unneeded(&profile.join("build")).flat_map(|folder| entries(&folder));
        let removed = unneeded(&profile.join(".fingerprint"))
            .chain(compiled.filter(is_on_the_way))
            .chain(scripts.filter(|path| is_script(path)))
            .chain([profile.join("incremental")]);
        for path in removed {
            // If this fails, the file only takes space.
            let _ = remove_all(&path);
        }
    }
}

/// Returns cargo's profile folders: `PROFILE` and `TRIPLE/PROFILE`.
fn profiles(target: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| entries(folder).collect::<Vec<_>>();
    let first = below(target);
    let second = first.iter().flat_map(|folder| below(folder));
    let both = first.iter().cloned().chain(second);
    both.filter(|folder| folder.join(".fingerprint").is_dir())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

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
    fn only_artifacts_of_outside_packages_are_reused() {
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

    #[test]
    fn criterion_is_blamed_for_errors_of_targets_that_use_it_only() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            file
        };
        let plain = manifest("plain.toml", "[dev-dependencies]\ncriterion = \"0.5\"\n");
        let helper = manifest("helper.toml", "[dependencies]\ncriterion = \"0.5\"\n");
        let line = |manifest: &Path, kind: &str, level: &str| {
            format!(
                r#"{{"reason":"compiler-message","package_id":"p","manifest_path":{manifest:?},"target":{{"kind":["{kind}"],"name":"n","src_path":"/{kind}.rs"}},"message":{{"level":"{level}","message":"m"}}}}"#
            )
        };
        let made = r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["lib"],"src_path":"/lib.rs"}}"#;
        let blames =
            |lines: &[String]| Messages::read(lines.join("\n").as_bytes()).may_blame_criterion();
        assert!(!blames(&[]));
        assert!(!blames(&[line(&plain, "lib", "error")]));
        assert!(!blames(&[
            line(&plain, "lib", "error"),
            line(&plain, "bench", "warning")
        ]));
        assert!(blames(&[
            line(&plain, "lib", "error"),
            line(&plain, "bench", "error")
        ]));
        assert!(blames(&[line(&helper, "lib", "error")]));
        assert!(blames(&[made.to_owned(), line(&plain, "lib", "error")]));
    }

    #[test]
    fn copies_keep_their_times_and_are_independent() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("build/x/out")).unwrap();
        fs::write(from.join("build/x/out/made"), "1").unwrap();
        let then = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let made = fs::File::options()
            .append(true)
            .open(from.join("build/x/out/made"));
        made.unwrap().set_modified(then).unwrap();
        let seed = Seed {
            target: from.clone(),
            files: vec!["build/x".into(), "gone".into()],
        };
        seed.plant(&to);
        let copy = to.join("build/x/out/made");
        assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), then);
        fs::write(&copy, "2").unwrap();
        assert_eq!(fs::read(from.join("build/x/out/made")).unwrap(), b"1");
    }

    #[test]
    fn files_that_are_only_replaced_are_hard_linked() {
        use std::os::unix::fs::MetadataExt;

        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let expected = [
            ("release/deps/libdep-0.rlib", 2),
            ("release/deps/dep-0.d", 1),
            ("release/deps/.deadheat/links/inputs/0.o", 2),
            ("release/deps/.deadheat/links/index", 1),
            ("release/build/dep-0/build-script-build", 2),
            ("release/build/dep-0/out/lib.so", 1),
            ("release/.fingerprint/dep-0/lib-dep", 1),
        ];
        for (path, _) in expected {
            let path = from.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let files = vec!["release".into()];
        let target = from;
        Seed { target, files }.plant(&to);
        for (path, names) in expected {
            assert_eq!(
                fs::metadata(to.join(path)).unwrap().nlink(),
                names,
                "{path}"
            );
        }
    }

    #[test]
    fn prune_keeps_files_that_are_raced_read_or_reused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path();
        let staying = [
            "release/deps/bench-1",
            "release/deps/.deadheat/links/bench-1.json",
            "release/deps/libdep-0.rlib",
            "release/deps/libown-1.so",
            "release/.fingerprint/dep-0/lib-dep",
            "release/build/own-1/out/table",
            "release/build/dep-0/build-script-build",
            "release/tool",
            "x86/bench/.fingerprint/dep-0/lib-dep",
        ];
        let going = [
            "release/deps/libown-1.rlib",
            "release/deps/own-1.d",
            "release/libown.rlib",
            "release/.fingerprint/own-1/lib-own",
            "release/build/own-1/build-script-build",
            "release/incremental/own-1/part",
            "x86/bench/deps/own-1.o",
        ];
        for path in staying.iter().chain(&going) {
            let path = target.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let kept = [
            "release/deps/libdep-0.rlib",
            "release/.fingerprint/dep-0",
            "release/build/dep-0",
            "x86/bench/.fingerprint/dep-0",
        ];
        prune(target, &kept.map(PathBuf::from));
        assert!(staying.iter().all(|path| target.join(path).exists()));
        let left: Vec<_> = going
            .iter()
            .filter(|path| target.join(path).exists())
            .collect();
        assert_eq!(left, [&""; 0]);
    }

    #[test]
    fn an_incomplete_copy_of_a_seed_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(&from).unwrap();
        fs::create_dir_all(to.join("b")).unwrap();
        for name in ["a", "b"] {
            fs::write(from.join(name), "").unwrap();
        }
        let files = vec!["a".into(), "b".into()];
        Seed {
            target: from,
            files,
        }
        .plant(&to);
        assert!(!to.exists(), "a file cannot take the place of a folder");
    }
}
