//! What releases are made from: versions, packages for crates.io, the changelog, the names of
//! archives, the install script, and the text of `--version`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Finished, Track};
use deadheat_testing::needs;
use serde_json::Value;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const RELEASES: &str = "https://github.com/deadheat/deadheat/releases/download";

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn cargo(words: &[&str]) -> Finished {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(words).arg("--offline").current_dir(root());
    Finished::from(cargo.output().unwrap())
}

/// The packages of the workspace, as cargo describes them.
fn packages() -> Vec<Value> {
    let mut told = cargo(&["metadata", "--no-deps", "--format-version=1"]).json();
    serde_json::from_value(told["packages"].take()).unwrap()
}

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[test]
fn every_manifest_has_the_version_of_the_workspace() {
    fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
        let rests = text.split(start).skip(1);
        rests.map(move |rest| rest.split(end).next().unwrap())
    }
    let npm: Value = serde_json::from_str(&text("javascript/package.json")).unwrap();
    let platforms = npm["optionalDependencies"].as_object().unwrap();
    let workspace = text("Cargo.toml");
    let python = text("python/pyproject.toml");
    let script = text("packaging/install.sh");
    let mut versions: Vec<&str> = between(&workspace, "crates/deadheat", "\n")
        .filter_map(|line| between(line, "version = \"", "\"").next())
        .collect();
    versions.extend(between(&python, "\nversion = \"", "\""));
    versions.extend(between(&script, "\nversion=", "\n"));
    versions.push(npm["version"].as_str().unwrap());
    versions.extend(platforms.values().map(|version| version.as_str().unwrap()));
    assert!(versions.len() > 20, "{versions:?}");
    assert!(
        versions.iter().all(|version| *version == VERSION),
        "{versions:?}"
    );
}

#[test]
fn crates_of_tests_and_examples_are_not_published() {
    let kept = packages();
    let kept = kept.iter().filter(|package| !is_published(package));
    let mut kept: Vec<&str> = kept
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    kept.sort_unstable();
    assert_eq!(kept, ["deadheat-examples", "deadheat-testing"]);
}

#[test]
fn every_published_crate_says_what_it_is_and_contains_a_readme_and_the_licences() {
    for package in packages().iter().filter(|package| is_published(package)) {
        let name = package["name"].as_str().unwrap();
        for field in ["description", "license", "repository"] {
            assert!(package[field].is_string(), "{name}: {field}");
        }
        for field in ["keywords", "categories"] {
            assert!(
                !package[field].as_array().unwrap().is_empty(),
                "{name}: {field}"
            );
        }
        // A crate without a version could not be found in a registry.
        for dependency in package["dependencies"].as_array().unwrap() {
            let is_local = dependency["path"].is_string() && dependency["kind"] != "dev";
            assert!(
                !is_local || dependency["req"] != "*",
                "{name}: {dependency}"
            );
        }
        let done = cargo(&["package", "--list", "--allow-dirty", "--package", name]);
        let files: Vec<&str> = done.succeeds().stdout.lines().collect();
        for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(files.contains(&file), "{name}: {file}");
        }
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert_eq!(
                text(&format!("crates/{name}/{licence}")),
                text(licence),
                "{name}"
            );
        }
    }
}

#[test]
fn the_readme_of_the_library_shows_the_race_of_the_readme_of_the_repository() {
    let readme = text("README.md");
    let race = readme.split("```rust\n").nth(1).unwrap();
    let race = race.split("```").next().unwrap();
    assert!(text("crates/deadheat/README.md").contains(race));
}

#[test]
fn cargo_binstall_and_homebrew_fetch_the_archives_by_their_names() {
    let packages = packages();
    let program = packages
        .iter()
        .find(|package| package["name"] == "deadheat-cli");
    let program = program.unwrap();
    let formula = text("packaging/deadheat.rb").replace("@VERSION@", VERSION);
    for arch in ["x86_64", "aarch64"] {
        let archive = format!("deadheat-{VERSION}-{arch}-linux");
        let expanded = |key: &str| {
            let template = program["metadata"]["binstall"][key].as_str().unwrap();
            [
                ("{ repo }", program["repository"].as_str().unwrap()),
                ("{ version }", VERSION),
                ("{ target-arch }", arch),
                ("{ target-family }", "linux"),
                ("{ bin }", "deadheat"),
                ("{ binary-ext }", ""),
            ]
            .iter()
            .fold(template.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            })
        };
        let url = format!("{RELEASES}/v{VERSION}/{archive}.tar.gz");
        assert_eq!(expanded("pkg-url"), url);
        assert_eq!(expanded("bin-dir"), format!("{archive}/bin/deadheat"));
        assert!(formula.contains(&format!("url \"{url}\"")), "{formula}");
    }
    let dist = text(".ci/dist");
    for line in [
        "*-linux-gnu | *-linux-musl) system=linux ;;",
        "name=deadheat-$version-${target%%-*}-$system",
    ] {
        assert!(dist.lines().any(|one| one.trim() == line), "{line}");
    }
}

#[test]
fn the_section_of_a_release_is_dated_checked_and_printed() {
    let track = Track::new();
    let release = |words: &[&str]| {
        let mut script = Command::new("bash");
        script.arg(track.path(".ci/release")).args(words);
        Finished::from(script.output().unwrap())
    };
    track.write(".ci/release", text(".ci/release"));
    track.write("Cargo.toml", text("Cargo.toml"));
    let head = "# Changelog\n\n## [Unreleased]\n";
    let entries = "\n### Added\n\n- [A page](docs/page.md#part), and [another](https://a.b/c).\n";
    let earlier = "\n## [0.0.1] - 2020-01-02\n\n- Old.\n";
    track.write("CHANGELOG.md", [head, entries, earlier].concat());
    let tag = format!("v{VERSION}");
    release(&["check", &tag]).fails_with(1, &["has no section", "help: "]);
    release(&["notes"]).fails_with(1, &["has no section"]);
    release(&["changelog", "tomorrow"]).fails_with(1, &["'tomorrow' is not a date"]);

    release(&["changelog", "2026-12-24"]).succeeds();
    let dated = format!("\n## [{VERSION}] - 2026-12-24\n");
    let written = fs::read_to_string(track.path("CHANGELOG.md")).unwrap();
    assert_eq!(written, [head, &dated, entries, earlier].concat());
    release(&["check", &tag]).succeeds();
    release(&["check", "v9.9.9"]).fails_with(1, &["the tag is v9.9.9"]);
    let notes = release(&["notes"]);
    let page = format!("https://github.com/deadheat/deadheat/blob/{tag}/docs/page.md#part");
    let expected = format!("### Added\n\n- [A page]({page}), and [another](https://a.b/c).\n");
    assert_eq!(notes.succeeds().stdout, expected);

    release(&["changelog"]).fails_with(1, &["already has a section"]);
    track.write(
        "CHANGELOG.md",
        [head, "\n- Late.\n", &dated, entries].concat(),
    );
    release(&["check", &tag]).fails_with(1, &["[Unreleased] of CHANGELOG.md is not empty"]);
}

/// A folder of releases with one archive for this machine, whose program is a script.
fn releases(track: &Track, version: &str) {
    let name = format!("deadheat-{version}-{}-linux", std::env::consts::ARCH);
    let program = format!("#!/bin/sh\necho deadheat {version}\n");
    track.write(&format!("{name}/bin/deadheat"), program);
    let script = format!(
        "chmod +x {name}/bin/deadheat && mkdir -p releases/v{version} && \
         tar -czf releases/v{version}/{name}.tar.gz {name} && cd releases/v{version} && \
         sha256sum {name}.tar.gz >{name}.tar.gz.sha256"
    );
    track.tool("sh", &["-c", &script]);
}

fn install(track: &Track, words: &[&str]) -> Finished {
    let mut script = Command::new("sh");
    script
        .arg(root().join("packaging/install.sh"))
        .args(words)
        .current_dir(track.folder.path())
        .env("HOME", track.folder.path())
        .env(
            "DEADHEAT_RELEASES",
            format!("file://{}", track.path("releases").display()),
        );
    track.leaves_nothing(&mut script)
}

#[test]
fn the_install_script_installs_both_commands_of_a_release() {
    needs!("curl");
    let track = Track::new();
    releases(&track, VERSION);
    releases(&track, "9.8.7");
    let installed = |folder: &str, name: &str| {
        let program = track.path(folder).join(name);
        track.tool(program.to_str().unwrap(), &[])
    };
    let done = install(&track, &[]);
    assert!(done.succeeds().stdout.contains("help: add "), "{done:?}");
    assert_eq!(
        installed(".local/bin", "deadheat"),
        format!("deadheat {VERSION}\n")
    );
    // Over the first, and with the `v` of the tag.
    for words in [
        &["--version", "v9.8.7"][..],
        &["--version=9.8.7", "--to=a folder"],
    ] {
        install(&track, words).succeeds();
    }
    for folder in [".local/bin", "a folder"] {
        assert_eq!(installed(folder, "deadheat"), "deadheat 9.8.7\n");
        assert_eq!(installed(folder, "cargo-deadheat"), "deadheat 9.8.7\n");
        assert_eq!(track.path(folder).read_dir().unwrap().count(), 2);
    }
}

#[test]
fn the_install_script_refuses_what_it_cannot_trust_and_options_it_does_not_have() {
    needs!("curl");
    let track = Track::new();
    releases(&track, VERSION);
    for (words, said) in [
        (&["--prefix", "x"][..], "unknown option '--prefix'"),
        (&["--to"], "--to needs a value"),
        (&["--version="], "--version needs a value"),
        (&["--version", "0.0.9"], "/v0.0.9/deadheat-0.0.9-"),
    ] {
        install(&track, words).fails_with(1, &["error: ", said, "help: "]);
    }
    track.write("file", "");
    install(&track, &["--to", "file/bin"]).fails_with(1, &["file/bin could not be made", "help: "]);
    let name = format!("deadheat-{VERSION}-{}-linux.tar.gz", std::env::consts::ARCH);
    track.write(&format!("releases/v{VERSION}/{name}"), "another archive");
    let refused = install(&track, &["--to", "bin"]);
    refused.fails_with(
        1,
        &["error: the checksum of ", &name, "do not use the archive"],
    );
    assert!(!track.path("bin").exists());
}

#[test]
fn version_tells_the_target_and_the_features_in_full_and_only_the_version_in_short() {
    let track = Track::new();
    assert_eq!(
        track.run(&["-V"]).succeeds().stdout,
        format!("deadheat {VERSION}\n")
    );
    let long = track.run(&["--version"]).succeeds().stdout.clone();
    assert_eq!(
        long,
        format!("deadheat {}\n", env!("DEADHEAT_LONG_VERSION"))
    );
    let features = if cfg!(feature = "png") { "png" } else { "none" };
    assert!(
        long.ends_with(&format!(", features: {features})\n")),
        "{long}"
    );
    assert!(long.starts_with(&format!("deadheat {VERSION} (")), "{long}");
    assert!(long.contains(std::env::consts::ARCH), "{long}");
}

#[test]
fn the_commit_of_version_is_that_of_deadheat_and_of_no_repository_around_it() {
    needs!("git");
    let track = Track::new();
    let script = track.path("build_script");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition", "2024", "-o"]).arg(&script);
    rustc.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs"));
    assert!(rustc.status().unwrap().success());
    let built = |folder: &str, profile: &str| {
        let mut script = Command::new(&script);
        script
            .current_dir(track.path(folder))
            .env("PROFILE", profile);
        script
            .env("CARGO_PKG_VERSION", "1.2.3")
            .env("TARGET", "a-b");
        script
            .env("CARGO_FEATURE_ONE_MORE", "1")
            .env_remove("CARGO_FEATURE_PNG");
        let said = Finished::from(script.output().unwrap())
            .succeeds()
            .stdout
            .clone();
        let version = said.split("DEADHEAT_LONG_VERSION=").nth(1).unwrap();
        version.trim().to_owned()
    };
    let without = "1.2.3 (a-b, features: one-more)";
    for folder in ["crates/deadheat-cli", "vendor/deadheat/crates/deadheat-cli"] {
        track.write(&format!("{folder}/Cargo.toml"), "");
    }
    track.write("Cargo.toml", "");
    track.write("Cargo.lock", "");
    track.git(&["init", "--quiet"]);
    track.commit("first");
    let commit = track.git(&["rev-parse", "--short=12", "HEAD"]);
    let with = format!("1.2.3 ({}, a-b, features: one-more)", commit.trim());
    assert_eq!(built("crates/deadheat-cli", "release"), with);
    assert_eq!(built("crates/deadheat-cli", "debug"), without);
    assert_eq!(
        built("vendor/deadheat/crates/deadheat-cli", "release"),
        without
    );
    track.write("Cargo.toml", "changed");
    let dirty = with.replacen(',', "-dirty,", 1);
    assert_eq!(built("crates/deadheat-cli", "release"), dirty);

    // What cargo adds to a crate that it packs.
    let record =
        "{\n  \"git\": {\n    \"sha1\": \"0123456789abcdef0123456789abcdef01234567\"\n  }\n}";
    track.write(
        "vendor/deadheat/crates/deadheat-cli/.cargo_vcs_info.json",
        record,
    );
    let published = "1.2.3 (0123456789ab, a-b, features: one-more)";
    assert_eq!(
        built("vendor/deadheat/crates/deadheat-cli", "release"),
        published
    );
}
