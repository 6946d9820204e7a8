//! `deadheat clean`: what it finds, what it says of that, and what it leaves alone.

mod common;

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use common::{Finished, Track, text, wait_until};
use deadheat_testing::blocks_in;

/// A repository of git with a build of a revision, a program with neutral links, and a run.
struct Kept {
    track: Track,
    cache: Track,
}

const BUILD: &str = "mkdir -p out && printf '#!/bin/sh\\n' > out/program && chmod +x out/program";

/// The folders in a folder, if it exists.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

impl Kept {
    fn new() -> Self {
        let kept = Self::bare();
        kept.rev().succeeds();
        kept.link();
        kept.run(&["run", "--runs", "2", "--", "true", "true"])
            .succeeds();
        kept
    }

    /// The repository alone.
    fn bare() -> Self {
        let track = Track::new();
        let cache = Track::new();
        fs::write(track.path("value"), "one\n").unwrap();
        let kept = Self { track, cache };
        for line in [
            "init --quiet --initial-branch main",
            "add value",
            "-c user.name=n -c user.email=e@x commit --quiet --message one",
        ] {
            let mut git = Command::new("git");
            git.current_dir(kept.track.folder.path());
            let done = git.args(line.split(' ')).status();
            assert!(done.unwrap().success(), "{line}");
        }
        kept
    }

    fn command(&self) -> Command {
        let mut command = self.track.command();
        command
            .env("XDG_CACHE_HOME", self.cache.folder.path())
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_BUILD_TARGET_DIR")
            .env_remove("DEADHEAT_CACHE_LIMIT")
            .env_remove("DEADHEAT_NEUTRAL_LINKER");
        command
    }

    fn run(&self, args: &[&str]) -> Finished {
        Finished::from(self.command().args(args).output().unwrap())
    }

    fn rev(&self) -> Finished {
        let sides = ["rev", "HEAD..HEAD", "--no-run"];
        self.run(&[&sides[..], &["--build", BUILD, "--exe", "out/program"]].concat())
    }

    /// Links `app/app` through deadheat, and makes two neutral links.
    fn link(&self) {
        let folder = self.track.path("app");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("k.c"), "int main(void) { return 0; }\n").unwrap();
        let compiled = Command::new("gcc")
            .args(["-c", "-ffunction-sections", "k.c"])
            .current_dir(&folder)
            .status();
        assert!(compiled.unwrap().success());
        let mut link = self.command();
        link.current_dir(&folder)
            .args(["link", "--", "gcc", "k.o", "-o", "app"]);
        assert!(link.status().unwrap().success());
        self.placements();
        assert_eq!(self.neutral_links(), 2);
    }

    /// The answer to a request for neutral links of two seeds.
    fn placements(&self) -> String {
        self.run(&["placements", "app/app", "5", "6"])
            .succeeds()
            .stdout
            .clone()
    }

    fn neutral_links(&self) -> usize {
        let placements = self.track.path("app/.deadheat/links/placements");
        let is_link = |path: &Path| path.is_file() && path.extension().is_none();
        files_below(&placements)
            .iter()
            .filter(|path| is_link(path))
            .count()
    }

    fn has_record(&self) -> bool {
        self.track.path("app/.deadheat/links/app.json").exists()
    }

    fn builds(&self) -> Vec<PathBuf> {
        let homes = folders_in(&self.cache.path("deadheat/builds"));
        let homes = homes
            .into_iter()
            .chain([self.track.path(".deadheat/builds")]);
        homes.flat_map(|home| folders_in(&home)).collect()
    }

    fn state(&self) -> (usize, usize, bool, usize) {
        let runs = self.track.recorded().len();
        (
            self.builds().len(),
            self.neutral_links(),
            self.has_record(),
            runs,
        )
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn what_can_be_made_again_goes_and_is_made_again() {
    let kept = Kept::new();
    assert_eq!(kept.state(), (1, 2, true, 1));
    let before = kept.placements();
    let told = kept.run(&["clean", "--dry-run"]).succeeds().stdout.clone();
    for line in [
        "builds of revisions 1 ",
        "folders of neutral links 1 ",
        "folders of link records 1 ",
        "run files 1 ",
        "kept; --runs removes them",
        "kept; --all removes them",
        "would free ",
    ] {
        let words: Vec<&str> = told.split_whitespace().collect();
        assert!(
            words.join(" ").contains(line),
            "'{line}' is missing:\n{told}"
        );
    }
    assert_eq!(kept.state(), (1, 2, true, 1), "a dry run removes nothing");

    let told = kept.run(&["clean"]).succeeds().stdout.clone();
    assert!(told.contains("\nfreed "), "{told}");
    assert_eq!(kept.state(), (0, 0, true, 1));
    let home = folders_in(&kept.cache.path("deadheat/builds")).remove(0);
    assert_eq!(files_below(&home), [home.join("working-tree")]);
    let told = kept.run(&["clean"]).succeeds().stdout.clone();
    assert!(told.ends_with("nothing to remove\n"), "{told}");

    assert_eq!(
        kept.placements(),
        before,
        "the same links by the same hashes"
    );
    assert!(kept.rev().succeeds().stderr.contains("building HEAD"));
    assert_eq!(kept.state(), (1, 2, true, 1));
}

#[test]
fn runs_and_records_go_only_when_they_are_asked_for() {
    let kept = Kept::new();
    let named = kept.track.path(".deadheat/runs/mine.jsonl");
    fs::copy(&kept.track.recorded()[0], &named).unwrap();
    kept.run(&["clean", "--runs"]).succeeds();
    assert_eq!(kept.state(), (0, 0, true, 1));
    assert!(named.exists(), "somebody gave it a name");
    kept.run(&["clean", "--all"]).succeeds();
    assert_eq!(kept.state(), (0, 0, false, 1));
    assert!(!kept.track.path("app/.deadheat/links").exists());
    let app = kept.track.path("app/app");
    assert!(app.exists() && kept.track.path("app/k.o").exists());
}

#[test]
fn what_deadheat_did_not_make_stays() {
    let kept = Kept::new();
    let foreign = [
        ".deadheat/notes.txt",
        ".deadheat/builds/mine/file",
        ".deadheat/builds/README",
        ".deadheat/runs/20261121-120000-0000002a.txt",
        "app/.deadheat/links/placements/mine/1",
        "app/.deadheat/links/inputs/notes.o",
        "app/.deadheat/links/other.json",
        ".git/.deadheat/builds/bce8edc0-bbf60cdb6da73f20/file",
    ];
    for path in foreign {
        let path = kept.track.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }
    kept.run(&["clean", "--all"]).succeeds();
    assert_eq!(kept.state(), (1, 1, false, 1), "those are foreign");
    for path in foreign {
        assert!(kept.track.path(path).exists(), "{path}");
    }
}

#[test]
fn files_that_git_tracks_stay() {
    let kept = Kept::new();
    let tracked = kept.track.recorded().remove(0);
    let name = tracked.file_name().unwrap().to_str().unwrap();
    let own = tracked.with_file_name(format!("19990101{}", &name[8..]));
    fs::copy(&tracked, &own).unwrap();
    let mut git = Command::new("git");
    git.current_dir(kept.track.folder.path());
    let done = git.args(["add", "--force", text(&tracked)]).status();
    assert!(done.unwrap().success());
    kept.run(&["clean", "--all"]).succeeds();
    assert!(tracked.exists() && !own.exists());
    assert!(!kept.has_record());
}

#[test]
fn symbolic_links_are_not_followed() {
    let (kept, other) = (Kept::bare(), Kept::new());
    fs::create_dir(kept.track.path(".deadheat")).unwrap();
    let builds = other.builds()[0].parent().unwrap().to_owned();
    for (from, to) in [
        ("elsewhere", other.track.path("")),
        (".deadheat/builds", builds),
        (".deadheat/runs", other.track.path(".deadheat/runs")),
        (".deadheat/links", other.track.path("app/.deadheat/links")),
    ] {
        symlink(to, kept.track.path(from)).unwrap();
    }
    let told = kept.run(&["clean", "--all"]).succeeds().stdout.clone();
    assert_eq!(told, "nothing to remove\n");
    assert_eq!(other.state(), (1, 2, true, 1));
    // One in the way of what goes is removed, and not what it leads to.
    let precious = kept.track.path("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file"), "").unwrap();
    symlink(&precious, other.builds()[0].join("tree/link")).unwrap();
    other.run(&["clean"]).succeeds();
    assert_eq!(other.state(), (0, 0, true, 1));
    assert!(precious.join("file").exists());
}

#[test]
fn a_folder_that_somebody_uses_is_refused_and_nothing_goes() {
    let kept = Kept::new();
    let build = kept.builds().remove(0);
    let run = kept.track.recorded().remove(0);
    let lock = build.with_file_name(format!(
        "{}.lock",
        build.file_name().unwrap().to_str().unwrap()
    ));
    let links = kept.track.path("app/.deadheat/links");
    for (locked, named) in [(&lock, &build), (&links, &links), (&run, &run)] {
        let file = File::open(locked).unwrap();
        file.lock_shared().unwrap();
        let named = named.canonicalize().unwrap();
        kept.run(&["clean", "--all"])
            .fails_with(2, &[text(&named), "in use", "nothing was removed"]);
        assert_eq!(kept.state(), (1, 2, true, 1));
    }
    kept.run(&["clean", "--all"]).succeeds();
    assert_eq!(kept.state(), (0, 0, false, 0));
}

#[test]
fn the_links_of_a_race_are_its_own_until_it_ends_and_then_go() {
    let kept = Kept::new();
    let run = kept.track.path("run.jsonl");
    let mut command = kept.command();
    command
        .args(["run", "--save", text(&run), "--max-replicates", "8", "--"])
        .args(["app/app", "app/app 2"])
        .env("DEADHEAT_CACHE_LIMIT", "1K")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut race = command.spawn().unwrap();
    wait_until("it races", || blocks_in(&run) > 0);
    let links = kept.track.path("app/.deadheat/links");
    kept.run(&["clean"])
        .fails_with(2, &[text(&links.canonicalize().unwrap()), "in use"]);
    assert!(kept.neutral_links() > 0);
    race.wait().unwrap();
    assert!(
        fs::read_to_string(&run)
            .unwrap()
            .contains("\"contenders\":[{\"seed\"")
    );
    // None fits in so little room but the one that was raced last.
    assert_eq!(kept.neutral_links(), 1);
}

#[test]
fn of_a_file_with_two_names_the_size_is_said_once() {
    let kept = Kept::bare();
    let keys = ["0123456a-0123456789abcdef", "0123456b-0123456789abcdef"];
    let [one, two] = keys.map(|key| kept.track.path(".deadheat/builds").join(key));
    for folder in [&one, &two] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(one.join("large"), vec![1; 3_000_000]).unwrap();
    fs::hard_link(one.join("large"), two.join("large")).unwrap();
    let told = || kept.run(&["clean", "-n"]).succeeds().stdout.clone();
    let first = told();
    assert!(
        first.starts_with("builds of revisions           2"),
        "{first}"
    );
    assert!(first.contains("3.0 MB  all would be removed\n"), "{first}");
    assert!(first.ends_with("would free 3.0 MB\n"), "{first}");
    // A third name elsewhere keeps the bytes where they are.
    fs::hard_link(one.join("large"), kept.track.path("large")).unwrap();
    let second = told();
    assert!(
        second.contains("3.0 MB  all would be removed\n"),
        "{second}"
    );
    assert!(
        second.contains("would free ") && second.contains(" kB\n"),
        "{second}"
    );
}

#[test]
fn what_was_used_lately_stays_where_an_age_is_given() {
    let kept = Kept::new();
    let told = kept.run(&["clean", "--all", "--older-than", "1d"]);
    assert!(
        told.succeeds().stdout.contains("kept: used recently"),
        "{told:?}"
    );
    assert_eq!(kept.state(), (1, 2, true, 1));
    let old = SystemTime::now() - Duration::from_secs(3 * 86_400);
    let index = kept.builds()[0].join("index.json");
    for file in [&index, &kept.track.recorded()[0]] {
        let file = File::options().append(true).open(file).unwrap();
        file.set_modified(old).unwrap();
    }
    kept.run(&["clean", "--older-than", "2d"]).succeeds();
    assert_eq!(kept.state(), (0, 2, true, 1));
    kept.run(&["clean", "--runs", "--older-than", "2d"])
        .succeeds();
    assert_eq!(kept.state(), (0, 2, true, 0));
    kept.run(&["clean", "--older-than", "2 months"])
        .fails_with(2, &["--older-than", "30d"]);
}

#[test]
fn a_folder_may_be_named() {
    let kept = Kept::new();
    let app = kept.track.path("app");
    kept.run(&["clean", "no-such-folder"])
        .fails_with(2, &["no-such-folder"]);
    // Seen from below, the working tree is the whole of it.
    let mut below = kept.command();
    let done = below.current_dir(&app).arg("clean").output().unwrap();
    Finished::from(done).succeeds();
    assert_eq!(kept.state(), (0, 0, true, 1));
    kept.link();
    let elsewhere = Track::new();
    let mut other = kept.command();
    other.current_dir(elsewhere.folder.path());
    Finished::from(other.arg("clean").arg(&app).output().unwrap()).succeeds();
    assert_eq!(kept.state(), (0, 0, true, 1));
}
