//! `deadheat rev` and `cargo deadheat BASE`: what is built, what is kept, and
//! what is left behind when something goes wrong.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::{Finished, lives, wait_until};
use deadheat_testing::{kill, needs};
use tempfile::TempDir;

/// A repository of git, gone when dropped, and a place for caches.
struct Repo {
    folder: TempDir,
    cache: TempDir,
}

impl Repo {
    fn new(files: &[(&str, &str)]) -> Self {
        let repo = Self {
            folder: TempDir::new().unwrap(),
            cache: TempDir::new().unwrap(),
        };
        repo.git(&["init", "--quiet", "--initial-branch", "main"]);
        repo.write(".gitignore", "target\nout\n");
        repo.commit(files);
        repo
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "change"]);
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let mut command = self.command("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        let done = Finished::from(command.args(args).output().unwrap());
        done.succeeds().stdout.clone()
    }

    /// A program here, with nothing of the cargo that runs these tests.
    fn command(&self, program: &str) -> Command {
        let ours = Path::new(env!("CARGO_BIN_EXE_cargo-deadheat"));
        let mut found = vec![ours.parent().unwrap().to_owned()];
        found.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env("PATH", std::env::join_paths(found).unwrap())
            .env("XDG_CACHE_HOME", self.cache.path())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
            .stdin(Stdio::null());
        for variable in [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET_DIR",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_PROFILE_BENCH_DEBUG",
            "CFLAGS",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, program: &str, args: &[&str]) -> Finished {
        Finished::from(self.command(program).args(args).output().unwrap())
    }

    fn cargo(&self, args: &[&str]) -> Finished {
        self.run(env!("CARGO"), &[&["deadheat"], args].concat())
    }

    fn rev(&self, args: &[&str]) -> Finished {
        self.run(env!("CARGO_BIN_EXE_deadheat"), &[&["rev"], args].concat())
    }

    /// The number of worktrees that git knows.
    fn worktrees(&self) -> usize {
        self.git(&["worktree", "list"]).lines().count()
    }

    /// Asserts that nothing of a build is left.
    #[track_caller]
    fn is_clean(&self) {
        assert_eq!(self.worktrees(), 1);
        let in_cache = folders_in(&self.cache.path().join("deadheat/builds"));
        let homes = in_cache.into_iter().chain([self.path(".deadheat/builds")]);
        let left: Vec<_> = homes.flat_map(|home| folders_in(&home)).collect();
        assert_eq!(left, [""; 0].map(PathBuf::from));
    }
}

/// The folders in a folder, if it exists.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

/// The output of each executable of both sides, with its side, by the lines of `--no-run`.
#[track_caller]
fn say(done: &Finished) -> Vec<(String, String)> {
    let lines = done.succeeds().stdout.lines();
    lines
        .map(|line| {
            let mut parts = line.split('\t');
            let [side, _, path] = [(); 3].map(|()| parts.next().unwrap());
            let said = Command::new(path).output().unwrap().stdout;
            (
                side.to_owned(),
                String::from_utf8(said).unwrap().trim().to_owned(),
            )
        })
        .collect()
}

fn pairs(said: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    said.iter().map(owned).collect()
}

fn two() -> Repo {
    let repo = Repo::new(&[("value", "one\n")]);
    repo.commit(&[("value", "two\n")]);
    repo
}

const COPY: &str = "mkdir -p out
printf '#!/bin/sh\\necho %s\\n' \"$(cat value)\" > out/program
chmod +x out/program";

const EXE: [&str; 3] = ["--no-run", "--exe", "out/program"];

#[test]
fn a_project_of_any_kind_is_built_by_a_command() {
    needs!("git");
    let repo = two();
    repo.write("value", "three\n");
    let args = [&["HEAD~1", "--build", COPY], &EXE[..]].concat();
    let first = repo.rev(&args);
    assert_eq!(
        say(&first),
        pairs(&[("HEAD~1", "one"), ("working tree", "three")])
    );
    assert!(first.stderr.contains("building HEAD~1"), "{}", first.stderr);
    let second = repo.rev(&args);
    assert_eq!(say(&second), say(&first));
    assert!(!second.stderr.contains("building"), "{}", second.stderr);
    assert_eq!(repo.worktrees(), 1);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M value\n");
    // Another environment is another build.
    let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
    command.arg("rev").args(&args).env("CFLAGS", "-O3");
    let other = Finished::from(command.output().unwrap());
    assert!(other.stderr.contains("building HEAD~1"), "{}", other.stderr);
}

const PARSE: &str = "package parse

func Count(text []byte) (lines int) {
	for _, sign := range text {
		if sign == '\\n' {
			lines++
		}
	}
	return lines
}
";

const PARSE_TEST: &str = "package parse

import (
	\"os\"
	\"testing\"
)

var lines int

func BenchmarkCount(b *testing.B) {
	text, err := os.ReadFile(\"testdata/text\")
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; i < b.N; i++ {
		lines = Count(text)
	}
}

func BenchmarkEmpty(b *testing.B) {
	for i := 0; i < b.N; i++ {
		lines = Count(nil) + i
	}
}
";

#[test]
fn packages_of_go_race_in_their_own_folders() {
    needs!("git", "go");
    let files = [
        ("go.mod", "module example.com/repo\n\ngo 1.19\n"),
        ("parse/parse.go", PARSE),
        ("parse/parse_test.go", PARSE_TEST),
        ("parse/testdata/text", &"a line\n".repeat(300)),
        ("bare/bare.go", "package bare\n"),
    ];
    let repo = Repo::new(&files);
    repo.write(
        "parse/parse.go",
        &PARSE.replace("range text {", "range append(text, text...) {"),
    );
    let rev = |args: &[&str]| {
        let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-build");
        command.arg("rev").args(args).env("GOCACHE", cache);
        Finished::from(command.env("GOTOOLCHAIN", "local").output().unwrap())
    };
    let options = ["--json", "--max-replicates", "6", "--", "-test.cpu=1"];
    let words = [&["HEAD", "--go", "./..."], &options[..]].concat();
    let first = rev(&words);
    assert!(first.stderr.contains("building HEAD"), "{}", first.stderr);
    let answer = first.succeeds().json();
    assert_eq!(answer["benchmarks"][0]["benchmark"], "BenchmarkCount");
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower", "{answer}");
    let run = repo.path(".deadheat/runs").read_dir().unwrap();
    let run = run.last().unwrap().unwrap().path();
    let told = repo.run(
        env!("CARGO_BIN_EXE_deadheat"),
        &["analyze", &run.display().to_string()],
    );
    let told = &told.succeeds().stdout;
    assert!(
        told.contains("raced the builds as linked, not on neutral links"),
        "{told}"
    );
    assert!(!told.contains("every replicate"), "{told}");
    let run = fs::read_to_string(run).unwrap();
    let here = repo.path("parse").display().to_string();
    assert!(run.contains(&format!("\"directory\":\"{here}\"")), "{run}");
    assert!(run.contains("/tree/parse\""), "{run}");
    let second = rev(&["HEAD", "--go", "./parse", "--go", "./...", "--no-run"]);
    let places = second.succeeds().stdout.lines();
    let names = places.map(|line| line.split('\t').nth(1).unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["example.com/repo/parse"; 2]);
    assert!(!rev(&words).stderr.contains("building"));
    rev(&["HEAD", "--go", "./bare"]).fails_with(
        3,
        &["working tree: the package example.com/repo/bare has no test files"],
    );
    rev(&["HEAD", "--go", "./none"])
        .fails_with(3, &["working tree does not build: `go list ./none`"]);
    rev(&["HEAD", "--go", ".", "--build", "make"]).fails_with(2, &["--build"]);
    // This workspace lacks the module, so Go would refuse to build the working tree.
    repo.write("go.work", "go 1.19\n\nuse ./elsewhere\n");
    repo.write(
        "elsewhere/go.mod",
        "module example.com/elsewhere\n\ngo 1.19\n",
    );
    let done = rev(&["HEAD", "--go", "./parse", "--no-run"]);
    done.succeeds();
    assert!(
        done.stderr
            .contains("go.work belongs to no commit, so Go builds both sides without it"),
        "{}",
        done.stderr
    );
    for path in ["go.work", "elsewhere/go.mod"] {
        fs::remove_file(repo.path(path)).unwrap();
    }
    assert_eq!(repo.worktrees(), 1);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M parse/parse.go\n");
}

#[test]
fn what_git_tells_a_hook_is_not_told_to_the_builds() {
    needs!("git");
    let repo = two();
    let script = format!("git rev-parse --show-toplevel > where\n{COPY}");
    let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
    command
        .args(["rev", "HEAD~1..HEAD", "--build", &script])
        .args(EXE);
    command.env("GIT_DIR", repo.path(".git"));
    command.env("GIT_INDEX_FILE", repo.path(".git/index"));
    let index = fs::read(repo.path(".git/index")).unwrap();
    let done = Finished::from(command.output().unwrap());
    assert_eq!(say(&done), pairs(&[("HEAD~1", "one"), ("HEAD", "two")]));
    assert_eq!(fs::read(repo.path(".git/index")).unwrap(), index);
    let path = done
        .stdout
        .lines()
        .next()
        .unwrap()
        .split('\t')
        .nth(2)
        .unwrap();
    let tree = Path::new(path).ancestors().nth(2).unwrap();
    let where_it_was = fs::read_to_string(tree.join("where")).unwrap();
    assert_eq!(Path::new(where_it_was.trim()), tree);
}

#[test]
fn what_makes_no_sense_is_said_with_a_way_out() {
    needs!("git");
    let repo = two();
    repo.rev(&["nowhere"])
        .fails_with(2, &["'nowhere' is not a commit of this repository"]);
    repo.rev(&["mian~1"]).fails_with(
        2,
        &[
            "'mian~1' is not a commit of this repository\n",
            "help: did you mean 'main~1'?",
        ],
    );
    repo.rev(&["origin/main"]).fails_with(
        2,
        &[
            "is not a commit of this repository: it has no remote 'origin'\n",
            "help: did you mean 'main'?",
        ],
    );
    repo.git(&["remote", "add", "origin", "."]);
    repo.rev(&["origin/topic"]).fails_with(
        2,
        &["`git fetch origin topic:refs/remotes/origin/topic` gets it if the server has it"],
    );
    repo.git(&["remote", "remove", "origin"]);
    repo.rev(&["HEAD~1...HEAD"])
        .fails_with(2, &["two dots, not three", "merge-base HEAD~1 HEAD"]);
    repo.rev(&["HEAD", "--build", "make"])
        .fails_with(2, &["--exe"]);
    repo.rev(&["HEAD", "--exe", "x"])
        .fails_with(2, &["--build"]);
    repo.rev(&["HEAD", "--", "--bench", "race", "sum"])
        .fails_with(2, &["'sum'", "before `--`"]);
    repo.rev(&["HEAD", "--", "--message-format=json"])
        .fails_with(2, &["--message-format"]);
    repo.cargo(&["nowhere"])
        .fails_with(2, &["'nowhere'", "cargo deadheat -- nowhere"]);
    for words in [
        &["HEAD~1", "--margin", "2%"][..],
        &["HEAD~1", "--margin=2%"],
    ] {
        let option = words[1..].join(" ");
        repo.cargo(words).fails_with(
            2,
            &[
                "--margin is an option of the races, not of cargo bench\n",
                &format!("help: put it after --: cargo deadheat HEAD~1 -- {option}"),
            ],
        );
    }
    repo.cargo(&["main", "sum"])
        .fails_with(2, &["'sum'", "BASE..HEAD"]);
    repo.is_clean();
}

/// Starts a race whose baseline takes for ever to build, and waits for that.
/// The second is the process that builds.
fn stuck(repo: &Repo) -> (Child, String) {
    let file = repo.path(".git/pid");
    let script = format!("echo $$ > {}; sleep 100; :", file.display());
    let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
    command
        .args(["rev", "HEAD~1..HEAD", "--build", &script])
        .args(EXE);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let pid = || fs::read_to_string(&file).unwrap_or_default();
    wait_until("it builds", || pid().ends_with('\n'));
    assert_eq!(repo.worktrees(), 2);
    (child, pid())
}

fn signal(name: &str, pid: &str) {
    assert!(kill(&[name, pid.trim()]));
}

#[test]
fn ctrl_c_while_building_ends_the_build_and_leaves_nothing() {
    needs!("git");
    let repo = two();
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let (child, pid) = stuck(&repo);
        signal(name, &child.id().to_string());
        let done = Finished::from(child.wait_with_output().unwrap());
        done.fails_with(code, &["interrupted while building"]);
        assert!(!lives(&pid));
        repo.is_clean();
        fs::remove_file(repo.path(".git/pid")).unwrap();
    }
}

#[test]
fn after_kill_9_the_next_run_leaves_alone_what_still_builds_and_then_clears_it_away() {
    needs!("git");
    let repo = two();
    let (mut child, pid) = stuck(&repo);
    signal("-KILL", &child.id().to_string());
    child.wait().unwrap();
    assert!(lives(&pid), "nobody could tell it");
    // Another build is not in its way, nor the other way round.
    let args = [&["HEAD..HEAD", "--build", COPY], &EXE[..]].concat();
    assert_eq!(
        say(&repo.rev(&args)),
        pairs(&[("HEAD", "two"), ("HEAD", "two")])
    );
    assert_eq!(repo.worktrees(), 2, "in use");
    let group = format!("-{}", pid.trim());
    assert!(kill(&["-KILL", &group]));
    wait_until("it is gone", || !lives(&pid));
    repo.rev(&args).succeeds();
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn a_race_of_one_commit_with_one_build_begins_with_a_warning() {
    needs!("git");
    let repo = two();
    for (args, warns) in [
        (&["HEAD..HEAD"][..], true),
        (&["HEAD"], true),
        (&["HEAD~1..HEAD~1"], true),
        (&["HEAD~1..HEAD"], false),
        (&["HEAD..HEAD", "--cand-env", "FAST=1"], false),
        (&["HEAD..HEAD", "--no-run"], false),
    ] {
        let done = repo.rev(&[args, &["--build", COPY], &EXE[1..]].concat());
        let said = done.stderr.contains("same commit with the same build");
        assert_eq!(said, warns, "{args:?}: {done:?}");
    }
    repo.write("value", "changed\n");
    let done = repo.rev(&[&["HEAD", "--build", COPY], &EXE[1..]].concat());
    assert!(!done.stderr.contains("same commit"), "{done:?}");
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    needs!("git");
    let repo = two();
    repo.commit(&[("large", &"0123456789abcdef\n".repeat(20_000))]);
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    // No file may become larger than 100 KiB, as if there were no room.
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec {deadheat} rev HEAD..HEAD --build true --exe large"
    );
    let mut command = repo.command("sh");
    let done = Finished::from(command.args(["-c", &script]).output().unwrap());
    done.fails_with(5, &["HEAD", "git worktree add", "large"]);
    repo.is_clean();
}

/// A package with a bench target that runs on its own and needs nobody.
const PACKAGE: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        r#"
[package]
name = "one"
version = "0.1.0"
edition = "2024"

[lib]
bench = false

[[bench]]
name = "race"
harness = false

[workspace]
"#,
    ),
    ("src/lib.rs", "pub fn value() -> &'static str { \"old\" }\n"),
    (
        "benches/race.rs",
        r#"
fn main() {
    let how = if cfg!(fast) { "fast" } else { "slow" };
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("file");
    let file = std::fs::read_to_string(file).unwrap_or_default();
    println!("{} {how} {}", one::value(), file.trim());
}
"#,
    ),
    ("file", "read\n"),
];

const NEW: &str = "pub fn value() -> &'static str { \"new\" }\n";

#[test]
fn bench_targets_of_a_commit_are_built_as_those_of_the_working_tree() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    repo.write("src/lib.rs", NEW);
    repo.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"one\"\nversion = \"0.1.0\"\n",
    );
    let status = repo.git(&["status", "--porcelain"]);
    let args = ["--no-run", "HEAD", "--bench", "race"];
    let first = repo.cargo(&args);
    let expected = pairs(&[("HEAD", "old slow read"), ("working tree", "new slow read")]);
    assert_eq!(say(&first), expected);
    assert!(
        first.stderr.contains("with the working tree's"),
        "{}",
        first.stderr
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), status);
    assert_eq!(repo.worktrees(), 1);
    // Both are linked anew for the race, the sources long unknown to git.
    for line in first.stdout.lines() {
        let path = line.split('\t').nth(2).unwrap();
        let placed = repo.run(env!("CARGO_BIN_EXE_deadheat"), &["placements", path, "1"]);
        assert!(placed.succeeds().stdout.contains("placed"), "{placed:?}");
    }
    // The same by the other name, and nothing is built again.
    let second = repo.rev(&["--no-run", "HEAD", "--", "--bench", "race"]);
    assert_eq!(second.succeeds().stdout, first.stdout);
    assert!(!second.stderr.contains("Compiling"), "{}", second.stderr);
    assert!(!second.stderr.contains("building"), "{}", second.stderr);
    // A profile of its own is a build of its own.
    let other = repo.cargo(&["HEAD", "--profile", "dev", "--no-run"]);
    assert_eq!(say(&other), expected);
    assert!(other.stderr.contains("building HEAD"), "{}", other.stderr);
}

#[test]
fn profiles_that_differ_are_named_and_one_option_makes_them_equal() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    let profile = "[profile.bench]\nopt-level = \"s\"\nlto = true\n[profile.bench.package.\"*\"]\nopt-level = 2\n";
    repo.write("Cargo.toml", &format!("{}{profile}", PACKAGE[0].1));
    let done = repo.cargo(&["HEAD", "--no-run"]);
    let told = &done.succeeds().stderr;
    for words in [
        "lto: false against true",
        "opt-level: 3 against \"s\"",
        "help: --same-profile builds HEAD with the profile of working tree",
    ] {
        assert!(told.contains(words), "{told}");
    }
    let done = repo.cargo(&["HEAD", "--no-run", "--same-profile"]);
    let told = &done.succeeds().stderr;
    let note = "HEAD is built with the profile of working tree: profile.bench.lto=true";
    assert!(
        told.contains(note) && told.contains("building HEAD"),
        "{told}"
    );
    assert!(!told.contains("also differ"), "{told}");
    // Both sides have the same profile.
    repo.commit(&[]);
    let done = repo.cargo(&["HEAD", "--no-run", "--same-profile"]);
    assert!(
        !done.succeeds().stderr.contains("with the profile of"),
        "{done:?}"
    );
    let done = repo.cargo(&["--no-run", "--same-profile", "--cand-env", "A=b"]);
    done.fails_with(
        2,
        &[
            "--same-profile",
            "both sides are builds of the working tree",
        ],
    );
    let done = repo.cargo(&["HEAD", "--same-profile", "--profile", "dev"]);
    done.fails_with(2, &["--same-profile", "--profile selects another"]);
    let done = repo.rev(&["HEAD", "--build", COPY, "--exe", "x", "--same-profile"]);
    done.fails_with(
        2,
        &["--same-profile applies only to builds by `cargo bench`"],
    );
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_anything_is_built() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    repo.write("src/lib.rs", "pub fn value() -> &'static str { \"new\" }\n");
    for (words, told) in [
        (&["HEAD", "--html", "missing/page.html"][..], "missing"),
        (&["HEAD", "--junit", "missing/junit.xml"], "missing"),
        (&["HEAD", "--history"], "--history: a side is not a commit"),
    ] {
        let done = repo.rev(words);
        done.fails_with(2, &[told]);
        assert!(!done.stderr.contains("building"), "{words:?}: {done:?}");
        let words = [&["HEAD", "--build", "true", "--exe", "x"], &words[1..]].concat();
        let done = repo.rev(&words);
        done.fails_with(2, &[told]);
        assert!(!done.stderr.contains("building"), "{words:?}: {done:?}");
    }
    assert!(!repo.path("target").exists());
}

#[test]
fn both_sides_are_built_with_the_lock_file_of_one() {
    needs!("git");
    let lock = |version: &str| {
        format!(
            r#"# This file is automatically @generated by Cargo.
# It is not intended for manual editing.
version = 4

[[package]]
name = "dep"
version = "{version}"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "one"
version = "0.1.0"
dependencies = [
 "dep",
]
"#
        )
    };
    let repo = Repo::new(&PACKAGE);
    // The packages of the registry are in a folder that git does not track.
    repo.write(".git/info/exclude", ".cargo\nvendor\n");
    let vendor = repo.path("vendor");
    let configuration =
        format!("[source.crates-io]\nreplace-with = \"v\"\n[source.v]\ndirectory = {vendor:?}\n");
    repo.write(".cargo/config.toml", &configuration);
    for version in ["0.1.0", "0.2.0"] {
        let folder = format!("vendor/dep-{version}");
        let manifest = format!("[package]\nname = \"dep\"\nversion = \"{version}\"\n");
        repo.write(&format!("{folder}/Cargo.toml"), &manifest);
        let code = format!("pub const VERSION: &str = \"{version}\";\n");
        repo.write(&format!("{folder}/src/lib.rs"), &code);
        repo.write(&format!("{folder}/.cargo-checksum.json"), "{\"files\":{}}");
    }
    let manifest = format!("{}[dependencies]\ndep = \">=0.1\"\n", PACKAGE[0].1);
    repo.commit(&[
        ("Cargo.toml", &manifest),
        (
            "src/lib.rs",
            "pub fn value() -> &'static str { dep::VERSION }\n",
        ),
        ("Cargo.lock", &lock("0.1.0")),
    ]);
    repo.commit(&[("Cargo.lock", &lock("0.2.0"))]);
    let said = |words: &[&str]| {
        let done = repo.cargo(&[words, &["--no-run"]].concat());
        let versions: Vec<String> = say(&done).into_iter().map(|(_, said)| said).collect();
        (versions, done.stderr)
    };
    let (versions, told) = said(&["HEAD~1"]);
    assert_eq!(versions, ["0.1.0 slow read", "0.2.0 slow read"]);
    let help = "help: --lock-from REV builds both sides with the Cargo.lock of REV";
    assert!(
        told.contains("dep 0.1.0 against 0.2.0") && told.contains(help),
        "{told}"
    );
    let (versions, told) = said(&["HEAD~1", "--lock-from", "working-tree"]);
    assert_eq!(versions, ["0.2.0 slow read"; 2]);
    let note = "HEAD~1 is built with the Cargo.lock of working tree";
    assert!(
        told.contains(note) && !told.contains("also differ"),
        "{told}"
    );
    // As stored.
    let (_, told) = said(&["HEAD~1", "--lock-from", "working-tree"]);
    assert!(told.contains(note) && !told.contains("building"), "{told}");
    let (versions, _) = said(&["HEAD~1..HEAD", "--lock-from=HEAD~1"]);
    assert_eq!(versions, ["0.1.0 slow read"; 2]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    for (words, problem) in [
        (
            ["HEAD~1", "--lock-from", "HEAD~1"],
            "does not change the lock file",
        ),
        (
            ["HEAD~2..HEAD", "--lock-from", "HEAD~2"],
            "HEAD~2 has no Cargo.lock",
        ),
        (
            ["HEAD~1", "--lock-from", "v9"],
            "name a side of the race, 'HEAD~1' or 'working-tree'",
        ),
    ] {
        repo.cargo(&words).fails_with(2, &["--lock-from", problem]);
    }
}

#[test]
fn a_commit_that_does_not_compile_is_named_under_the_words_of_the_compiler() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    repo.commit(&[("src/lib.rs", "pub fn value() -> u8 { \"broken\" }\n")]);
    repo.write("src/lib.rs", NEW);
    let done = repo.cargo(&["main", "--no-run"]);
    done.fails_with(3, &["main does not build", "error[E0308]", "src/lib.rs:1"]);
    repo.is_clean();
    let done = repo.cargo(&["main~1", "--bench", "nowhere", "--no-run"]);
    done.fails_with(3, &["working tree does not build", "`nowhere`"]);
    repo.is_clean();
}

#[test]
fn a_package_without_bench_targets_has_nothing_to_race() {
    needs!("git");
    let repo = Repo::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"one\"\nedition = \"2024\"\n[workspace]\n",
        ),
        ("src/lib.rs", NEW),
        (
            "Cargo.lock",
            "version = 4\n[[package]]\nname = \"one\"\nversion = \"0.0.0\"\n",
        ),
    ]);
    let done = repo.cargo(&["main"]);
    done.fails_with(2, &["working tree", "no bench target", "[[bench]]"]);
    let done = repo.cargo(&["main..main"]);
    done.fails_with(2, &["main: ", "no bench target"]);
    repo.is_clean();
}

#[test]
fn a_folder_below_the_top_and_a_manifest_elsewhere_lead_to_the_same_of_the_commit() {
    needs!("git");
    let below: Vec<(String, &str)> = PACKAGE
        .iter()
        .map(|(path, text)| (format!("deep/{path}"), *text))
        .collect();
    let below: Vec<(&str, &str)> = below.iter().map(|(path, text)| (&**path, *text)).collect();
    let repo = Repo::new(&below);
    repo.write("deep/src/lib.rs", NEW);
    let expected = pairs(&[("HEAD", "old slow read"), ("working tree", "new slow read")]);
    let manifest = repo.path("deep/Cargo.toml");
    for manifest in ["deep/Cargo.toml", common::text(&manifest)] {
        let done = repo.cargo(&["HEAD", "--no-run", "--manifest-path", manifest]);
        assert_eq!(say(&done), expected);
    }
    let mut command = repo.command(env!("CARGO"));
    command
        .args(["deadheat", "HEAD", "--no-run"])
        .current_dir(repo.path("deep"));
    let done = Finished::from(command.output().unwrap());
    assert_eq!(say(&done), expected);
    let homes = folders_in(&repo.cache.path().join("deadheat/builds"));
    assert_eq!(homes.len(), 1, "one for the whole working tree");
    assert!(!repo.path(".deadheat/builds").exists());
}

#[test]
fn configuration_is_that_of_the_commit_unless_it_is_the_user_s_own() {
    needs!("git");
    let fast = "[build]\nrustflags = [\"--cfg\", \"fast\", \"--check-cfg\", \"cfg(fast)\"]\n";
    let repo = Repo::new(&PACKAGE);
    repo.git(&["tag", "slow"]);
    // Git does not know it.
    repo.write(".git/info/exclude", ".cargo\n");
    repo.write(".cargo/config.toml", fast);
    let done = repo.cargo(&["slow", "--no-run"]);
    let expected = pairs(&[("slow", "old fast read"), ("working tree", "old fast read")]);
    assert_eq!(say(&done), expected);
    // It does.
    repo.git(&["add", "--force", ".cargo/config.toml"]);
    repo.commit(&[]);
    let expected = pairs(&[("slow", "old slow read"), ("working tree", "old fast read")]);
    for building in [true, false] {
        let done = repo.cargo(&["slow", "--no-run"]);
        assert_eq!(say(&done), expected);
        assert_eq!(
            done.stderr.contains("building"),
            building,
            "{}",
            done.stderr
        );
        assert_eq!(repo.worktrees(), 1);
    }
}

#[test]
fn configuration_above_the_repository_does_not_override_that_of_the_commit() {
    needs!("git");
    let outer = TempDir::new().unwrap();
    let repo = Repo {
        folder: TempDir::new_in(outer.path()).unwrap(),
        cache: TempDir::new().unwrap(),
    };
    let profile = |level: &str| format!("[profile.bench]\ndebug-assertions = {level}\n");
    fs::create_dir(outer.path().join(".cargo")).unwrap();
    fs::write(outer.path().join(".cargo/config.toml"), profile("true")).unwrap();
    repo.git(&["init", "--quiet", "--initial-branch", "main"]);
    repo.write(".gitignore", "target\n");
    repo.commit(&PACKAGE);
    repo.commit(&[
        (".cargo/config.toml", &profile("false")),
        (
            "benches/race.rs",
            "fn main() { println!(\"{}\", cfg!(debug_assertions)); }\n",
        ),
    ]);
    let done = repo.cargo(&["HEAD", "--no-run"]);
    let expected = pairs(&[("HEAD", "false"), ("working tree", "false")]);
    assert_eq!(say(&done), expected);
}

#[test]
fn a_committed_build_does_not_take_the_place_of_the_baseline() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    let race = |range: &str| repo.cargo(&[range, "--no-run"]);
    let built = race("HEAD..HEAD");
    let path = built.succeeds().stdout.split(['\t', '\n']).nth(2).unwrap();
    let path = path.to_owned();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "#!/bin/sh\necho forged\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, mode).unwrap();
    let said = |name: &str, word: &str| pairs(&[(name, word), (name, word)]);
    // In the user's cache, deadheat takes the forged build for its own.
    assert_eq!(say(&race("HEAD..HEAD")), said("HEAD", "forged"));
    let home = folders_in(&repo.cache.path().join("deadheat/builds")).remove(0);
    let key = folders_in(&home).remove(0);
    let committed = repo.path(".deadheat/builds").join(key.file_name().unwrap());
    fs::create_dir_all(repo.path(".deadheat/builds")).unwrap();
    fs::rename(&key, &committed).unwrap();
    let index = committed.join("index.json");
    let text = fs::read_to_string(&index).unwrap();
    let text = text.replace(common::text(&key), common::text(&committed));
    fs::write(&index, text).unwrap();
    repo.git(&["add", "--force", ".deadheat"]);
    repo.commit(&[]);
    let done = race("HEAD~1..HEAD~1");
    assert_eq!(say(&done), said("HEAD~1", "old slow read"));
}

#[test]
fn a_committed_link_in_the_place_of_the_builds_is_not_followed() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    let elsewhere = TempDir::new().unwrap();
    fs::create_dir(elsewhere.path().join("precious")).unwrap();
    fs::create_dir(repo.path(".deadheat")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), repo.path(".deadheat/builds")).unwrap();
    repo.git(&["add", "--force", ".deadheat"]);
    repo.commit(&[]);
    repo.cargo(&["HEAD..HEAD", "--no-run"]).succeeds();
    assert_eq!(folders_in(elsewhere.path()).len(), 1);
}

#[test]
fn a_command_that_builds_a_commit_finds_no_file_of_the_working_tree_above() {
    needs!("git");
    let repo = two();
    repo.write("settings.xml", "of the working tree\n");
    repo.write(".cargo/config.toml", "");
    let search = "folder=$PWD
while [ \"$folder\" != / ] && ! [ -e \"$folder/settings.xml\" ]; do
folder=$(dirname \"$folder\")
done
mkdir -p out
printf '#!/bin/sh\necho %s\n' \"$folder\" >out/program
chmod +x out/program";
    let done = repo.rev(&[&["HEAD", "--build", search], &EXE[..]].concat());
    let top = repo.path("").display().to_string();
    let expected = [("HEAD", "/"), ("working tree", top.trim_end_matches('/'))];
    assert_eq!(say(&done), pairs(&expected));
    let note = ".cargo/config.toml is not in git, so it does not apply to the build of HEAD";
    assert!(done.stderr.contains(note), "{}", done.stderr);
}

#[test]
fn neither_cargo_nor_a_benchmark_finds_a_file_of_the_working_tree_above_a_commit() {
    needs!("git");
    let find = "fn find() -> String {
        let here = std::env::current_dir().unwrap();
        let mut found = here.ancestors().filter_map(|it| std::fs::read_to_string(it.join(\".env\")).ok());
        found.next().unwrap_or(\"none\".into())
    }";
    let build = "include!(\"find.rs\");
        fn main() { println!(\"cargo:rustc-env=FOUND={}\", find()); }";
    let bench = "include!(\"../find.rs\");
        fn main() { println!(\"{} {}\", env!(\"FOUND\"), find()); }";
    let repo = Repo::new(&[
        PACKAGE[0],
        ("src/lib.rs", ""),
        ("find.rs", find),
        ("build.rs", build),
        ("benches/race.rs", bench),
    ]);
    repo.write(".env", "some");
    repo.commit(&[]);
    let done = repo.cargo(&["HEAD~1", "--no-run"]);
    let lines = done.succeeds().stdout.lines();
    let said = lines.map(|line| {
        let path = line.split('\t').nth(2).unwrap();
        let mut sources = Path::new(path).ancestors().map(|it| it.join("tree"));
        let sources = sources.find(|it| it.exists());
        let sources = sources.unwrap_or_else(|| repo.path(""));
        let output = Command::new(path).current_dir(sources).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(said.collect::<Vec<_>>(), ["none none\n", "some some\n"]);
}

#[test]
fn a_package_elsewhere_that_changed_is_noticed_though_the_commit_is_the_same() {
    needs!("git");
    let elsewhere = Repo::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"other\"\nedition = \"2024\"\n[workspace]\n",
        ),
        ("src/lib.rs", "pub fn how() -> u8 { 1 }\n"),
    ]);
    let manifest = format!(
        "{}[dependencies]\nother = {{ path = {:?} }}\n",
        PACKAGE[0].1,
        elsewhere.path("")
    );
    let repo = Repo::new(&PACKAGE);
    repo.commit(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", "pub fn value() -> u8 { other::how() }\n"),
    ]);
    let says = |sides: &str, value: &str| {
        let done = repo.cargo(&["HEAD", "--no-run"]);
        let said = format!("{value} slow read");
        assert_eq!(
            say(&done),
            pairs(&[("HEAD", &said), ("working tree", &said)]),
            "{sides}"
        );
        done.stderr
    };
    says("first", "1");
    let again = says("again", "1");
    assert!(!again.contains("building"), "{again}");
    elsewhere.write("src/lib.rs", "pub fn how() -> u8 { 12 }\n");
    let changed = says("changed", "12");
    assert!(changed.contains("building HEAD"), "{changed}");
}

#[test]
fn a_commit_that_asks_for_another_toolchain_is_built_by_the_same_compiler() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    repo.commit(&[("rust-toolchain.toml", "[toolchain]\nchannel = \"1.0.0\"\n")]);
    fs::remove_file(repo.path("rust-toolchain.toml")).unwrap();
    for building in [true, false] {
        // Rustup, if it is here, would have to fetch the other one.
        let mut command = repo.command(env!("CARGO_BIN_EXE_deadheat"));
        command.args(["rev", "HEAD", "--no-run"]);
        command.env_remove("RUSTUP_TOOLCHAIN");
        let done = Finished::from(command.output().unwrap());
        let expected = pairs(&[("HEAD", "old slow read"), ("working tree", "old slow read")]);
        assert_eq!(say(&done), expected);
        assert_eq!(
            done.stderr.contains("building"),
            building,
            "{}",
            done.stderr
        );
        let told = "HEAD selects another toolchain (rust-toolchain.toml), but both sides are built \
                    with rustc";
        assert!(done.stderr.contains(told), "{}", done.stderr);
    }
}

/// A package without benchmarks.
const BARE: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    ),
    ("src/lib.rs", "pub fn value() -> &'static str { \"old\" }\n"),
    (
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"one\"\nversion = \"0.1.0\"\n",
    ),
];

/// A bench target that prints the value before this word.
fn printing(word: &str) -> String {
    format!("fn main() {{ println!(\"{{}} {word}\", one::value()); }}\n")
}

/// A bench target for a manifest.
fn entry(name: &str) -> String {
    format!("\n[[bench]]\nname = \"{name}\"\nharness = false\n")
}

#[test]
fn a_commit_from_before_there_were_benchmarks_is_built_with_those_of_the_other_side() {
    needs!("git");
    let repo = Repo::new(&BARE);
    repo.write("src/lib.rs", NEW);
    repo.write(
        "helper/Cargo.toml",
        "[package]\nname = \"helper\"\nversion = \"0.1.0\"\n",
    );
    repo.write("helper/src/lib.rs", "pub fn help() -> u8 { 1 }\n");
    repo.write(
        "benches/common/mod.rs",
        "pub fn word() -> u8 { helper::help() }\n",
    );
    let race = "mod common;\n\
                fn main() { println!(\"{} {}\", one::value(), common::word()); }\n";
    repo.write("benches/race.rs", race);
    let dependency = "\n[dev-dependencies]\nhelper = { path = \"helper\" }\n";
    let manifest = format!("{}{}{dependency}", BARE[0].1, entry("race"));
    repo.write("Cargo.toml", &manifest);
    // As continuous integration calls it; the lock file of the commit has to learn of the helper.
    repo.run(env!("CARGO"), &["generate-lockfile"]).succeeds();
    let first = repo.cargo(&["HEAD", "--no-run", "--locked", "--bench", "race"]);
    let expected = pairs(&[("HEAD", "old 1"), ("working tree", "new 1")]);
    assert_eq!(say(&first), expected);
    let note = "HEAD is built with bench targets from working tree: race";
    assert!(first.stderr.contains(note), "{}", first.stderr);
    let again = repo.cargo(&["HEAD", "--no-run", "--locked", "--bench", "race"]);
    assert!(!again.stderr.contains("building"), "{}", again.stderr);
    assert!(again.stderr.contains(note), "{}", again.stderr);
    // Other benchmarks are another build.
    repo.write("benches/race.rs", &printing("changed"));
    let changed = repo.cargo(&["HEAD", "--no-run"]);
    let expected = pairs(&[("HEAD", "old changed"), ("working tree", "new changed")]);
    assert_eq!(say(&changed), expected);
    // Two commits.
    repo.commit(&[]);
    let commits = repo.cargo(&["HEAD~1..HEAD", "--no-run"]);
    let expected = pairs(&[("HEAD~1", "old changed"), ("HEAD", "new changed")]);
    assert_eq!(say(&commits), expected);
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn a_bench_target_that_does_not_compile_with_the_other_side_is_named_and_the_rest_is_built() {
    needs!("git");
    let repo = Repo::new(&BARE);
    let new = "pub fn value() -> &'static str { \"new\" }\npub fn more() -> u8 { 2 }\n";
    repo.write("src/lib.rs", new);
    repo.write("benches/fits.rs", &printing("fits"));
    repo.write(
        "benches/newer.rs",
        "fn main() { println!(\"{}\", one::more()); }\n",
    );
    let newer = format!("{}{}", BARE[0].1, entry("newer"));
    repo.write("Cargo.toml", &format!("{newer}{}", entry("fits")));
    let done = repo.cargo(&["HEAD", "--no-run", "--bench", "newer", "--bench", "fits"]);
    let expected = [
        ("HEAD", "old fits"),
        ("working tree", "new fits"),
        ("working tree", "2"),
    ];
    assert_eq!(say(&done), pairs(&expected));
    let note = "bench target newer from working tree is left out of HEAD: cannot find function \
                `more` in crate `one`";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    // Nothing is left to race.
    fs::remove_file(repo.path("benches/fits.rs")).unwrap();
    repo.write("Cargo.toml", &newer);
    let done = repo.cargo(&["HEAD", "--no-run"]);
    done.fails_with(
        3,
        &[
            "HEAD",
            "does not build with those of working tree",
            "`more`",
        ],
    );
    // Nor where a dev-dependency wants what only the other side is.
    repo.write("benches/newer.rs", &printing("newer"));
    let helper = "[package]\nname = \"helper\"\nversion = \"0.1.0\"\n\
                  [dependencies]\none = { path = \"..\", version = \"0.2\" }\n";
    repo.write("helper/Cargo.toml", helper);
    repo.write("helper/src/lib.rs", "");
    let later = newer.replace("version = \"0.1.0\"", "version = \"0.2.0\"");
    let dependency = "\n[dev-dependencies]\nhelper = { path = \"helper\" }\n";
    repo.write("Cargo.toml", &format!("{later}{dependency}"));
    let done = repo.cargo(&["HEAD", "--no-run"]);
    done.fails_with(3, &["newer: cargo cannot find what it needs"]);
    assert_eq!(repo.worktrees(), 1);
}

#[test]
fn own_benches_stay_unless_those_of_a_side_are_asked_for() {
    needs!("git");
    let repo = Repo::new(&BARE);
    let manifest = format!("{}{}", BARE[0].1, entry("race"));
    repo.commit(&[
        ("Cargo.toml", &manifest),
        ("benches/race.rs", &printing("first")),
    ]);
    repo.commit(&[
        ("src/lib.rs", NEW),
        ("Cargo.toml", &format!("{manifest}{}", entry("added"))),
        ("benches/race.rs", &printing("second")),
        ("benches/added.rs", &printing("added")),
    ]);
    let names = ["HEAD~1", "HEAD~1", "HEAD", "HEAD"];
    let raced = |more: &[&str], said: [&str; 4]| {
        let done = repo.cargo(&[&["HEAD~1..HEAD", "--no-run"], more].concat());
        let expected: Vec<(&str, &str)> = names.into_iter().zip(said).collect();
        assert_eq!(say(&done), pairs(&expected), "{more:?}");
    };
    raced(&[], ["old added", "old first", "new added", "new second"]);
    let done = repo.cargo(&["HEAD~1..HEAD", "--no-run", "--benches-from", "own"]);
    let expected = [
        ("HEAD~1", "old first"),
        ("HEAD", "new added"),
        ("HEAD", "new second"),
    ];
    assert_eq!(say(&done), pairs(&expected));
    raced(
        &["--benches-from", "HEAD"],
        ["old added", "old second", "new added", "new second"],
    );
    let done = repo.cargo(&["HEAD~1..HEAD", "--no-run", "--benches-from=HEAD~1"]);
    let expected = [
        ("HEAD~1", "old first"),
        ("HEAD", "new added"),
        ("HEAD", "new first"),
    ];
    assert_eq!(say(&done), pairs(&expected));
    let done = repo.rev(&["HEAD~1", "--benches-from", "HEAD~1", "--no-run"]);
    done.fails_with(
        2,
        &[
            "--benches-from HEAD~1",
            "deadheat does not change the benchmarks",
        ],
    );
    let done = repo.cargo(&["HEAD~1", "--benches-from", "v9"]);
    done.fails_with(2, &["--benches-from v9", "'HEAD~1' or 'working-tree'"]);
    let build = [
        "HEAD",
        "--build",
        "true",
        "--exe",
        "x",
        "--benches-from",
        "HEAD",
    ];
    repo.rev(&build).fails_with(
        2,
        &["--benches-from applies only to builds by `cargo bench`"],
    );
}

#[test]
fn a_package_of_benchmarks_that_a_commit_lacks_is_put_in_whole() {
    needs!("git");
    let root = "[workspace]\nresolver = \"3\"\nmembers = [\"lib\"]\n";
    let lib = "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let repo = Repo::new(&[
        ("Cargo.toml", root),
        ("lib/Cargo.toml", lib),
        (
            "lib/src/lib.rs",
            "pub fn value() -> &'static str { \"old\" }\n",
        ),
    ]);
    let with = "members = [\"lib\", \"perf\"]\n\
                [workspace.dependencies]\none = { path = \"lib\" }\n";
    repo.write("Cargo.toml", &root.replace("members = [\"lib\"]\n", with));
    let perf = format!(
        "{}\n[dependencies]\none.workspace = true\n{}",
        lib.replace("one", "perf"),
        entry("race")
    );
    repo.write("perf/Cargo.toml", &perf);
    repo.write("perf/src/lib.rs", "");
    repo.write("perf/benches/race.rs", &printing("perf"));
    repo.write("lib/src/lib.rs", NEW);
    let done = repo.cargo(&["HEAD", "--no-run", "-p", "perf", "--bench", "race"]);
    let expected = pairs(&[("HEAD", "old perf"), ("working tree", "new perf")]);
    assert_eq!(say(&done), expected);
}

#[test]
fn one_source_is_built_in_two_ways() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    let flags = "RUSTFLAGS=--cfg fast";
    for (args, names) in [
        (
            ["--cand-env", flags, "--no-run"].as_slice(),
            ["working tree"; 2],
        ),
        (
            &["HEAD..HEAD", "--cand-env", flags, "--no-run"],
            ["HEAD"; 2],
        ),
        (
            &[
                "HEAD..HEAD",
                "--no-run",
                "--cand-args",
                "--config 'build.rustflags=\"--cfg=fast\"'",
            ],
            ["HEAD"; 2],
        ),
    ] {
        let done = repo.cargo(args);
        let [base, cand] = names;
        let expected = pairs(&[(base, "old slow read"), (cand, "old fast read")]);
        assert_eq!(say(&done), expected, "{args:?}");
    }
    let done = repo.cargo(&["--cand-toolchain", "+nowhere-at-all", "--no-run"]);
    done.fails_with(2, &["nowhere-at-all"]);
    let done = repo.cargo(&["--base-args", "stray"]);
    done.fails_with(2, &["--base-args: ", "'stray'"]);
    repo.cargo(&["--base-env", "stray"])
        .fails_with(2, &["--base-env", "NAME=VALUE"]);
    repo.cargo(&["main", "--no-run", "--", "x", "--base-args", "y"])
        .fails_with(2, &["--base-args"]);
}

#[test]
fn a_command_builds_the_candidate_in_its_own_way() {
    needs!("git");
    let repo = Repo::new(&[("value", "one\n")]);
    let plain =
        "printf '#!/bin/sh\\necho %s %s\\n' \"$(cat value)\" \"$HOW\" > made; chmod +x made";
    let own = format!("HOW=$HOW-own; {plain}");
    let exe = ["--build", plain, "--exe", "made", "--no-run"];
    let ways = [
        "--cand-build",
        &own,
        "--base-env",
        "HOW=a",
        "--cand-env",
        "HOW=b",
    ];
    let done = repo.rev(&[&["HEAD..HEAD"], &exe[..], &ways].concat());
    assert_eq!(
        say(&done),
        pairs(&[("HEAD", "one a"), ("HEAD", "one b-own")])
    );
    let done = repo.rev(&[&["HEAD..HEAD"], &exe[..], &["--cand-args", "-x"]].concat());
    done.fails_with(2, &["--cand-args applies only to builds by `cargo bench`"]);
}

#[test]
fn own_benches_race_where_cargo_cannot_find_what_the_others_need() {
    needs!("git");
    let repo = Repo::new(&BARE);
    let manifest = format!("{}{}", BARE[0].1, entry("race"));
    repo.commit(&[
        ("Cargo.toml", &manifest),
        ("benches/race.rs", &printing("race")),
    ]);
    let helper = "[package]\nname = \"helper\"\nversion = \"0.1.0\"\n\
                  [dependencies]\none = { path = \"..\", version = \"0.2\" }\n";
    repo.write("helper/Cargo.toml", helper);
    repo.write("helper/src/lib.rs", "");
    let later = manifest.replace("version = \"0.1.0\"", "version = \"0.2.0\"");
    let dependency = "\n[dev-dependencies]\nhelper = { path = \"helper\" }\n";
    let added = entry("added");
    repo.write("Cargo.toml", &format!("{later}{added}{dependency}"));
    repo.write("benches/added.rs", &printing("added"));
    repo.write("src/lib.rs", NEW);
    let done = repo.cargo(&["HEAD", "--no-run"]);
    let expected = [
        ("HEAD", "old race"),
        ("working tree", "new added"),
        ("working tree", "new race"),
    ];
    assert_eq!(say(&done), pairs(&expected));
    let note = "bench target added from working tree is left out of HEAD: cargo cannot find what it \
                needs";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    assert!(
        !done.stderr.contains("is built with bench targets"),
        "{}",
        done.stderr
    );
}

#[test]
fn benchmarks_of_the_other_side_do_not_change_how_a_commit_is_built() {
    needs!("git");
    for source in ["build.rs", ".cargo/race.rs"] {
        let repo = Repo::new(&PACKAGE);
        let manifest = PACKAGE[0]
            .1
            .replace("[package]", "[package]\nbuild = false");
        let bench = format!("[[bench]]\nname = \"more\"\nharness = false\npath = {source:?}\n");
        repo.write("Cargo.toml", &(manifest + &bench));
        repo.write(
            source,
            "fn main() { println!(\"cargo:rustc-cfg=fast\"); }\n",
        );
        let done = repo.cargo(&["HEAD", "--no-run"]);
        done.fails_with(3, &["cannot get the bench target more", source]);
    }
    // The library and the benchmark are in one folder. The benchmark replaces that of the other
    // side, and the library must not.
    let manifest = PACKAGE[0].1;
    let manifest = manifest.replace("bench = false", "bench = false\npath = \"core/lib.rs\"");
    let manifest = manifest.replace(
        "harness = false",
        "harness = false\npath = \"core/race.rs\"",
    );
    let library = PACKAGE[1].1;
    let repo = Repo::new(&[
        ("Cargo.toml", &manifest),
        ("core/lib.rs", library),
        ("core/race.rs", PACKAGE[2].1),
    ]);
    repo.write("core/lib.rs", NEW);
    repo.write("core/race.rs", &PACKAGE[2].1.replace("slow", "slower"));
    let done = repo.cargo(&["HEAD", "--no-run", "--benches-from", "working-tree"]);
    let expected = [("HEAD", "old slower"), ("working tree", "new slower")];
    assert_eq!(say(&done), pairs(&expected));
}

#[test]
fn features_of_an_added_benchmark_do_not_reach_those_that_both_sides_have() {
    needs!("git");
    let dependency = |features: &str| format!("helper = {{ path = \"helper\"{features} }}\n");
    let manifest = |rest: &str| format!("{}[dependencies]\n{}{rest}", PACKAGE[0].1, dependency(""));
    let repo = Repo::new(&[
        ("Cargo.toml", &manifest("")),
        (
            "src/lib.rs",
            "pub fn value() -> &'static str { helper::HOW }\n",
        ),
        (
            "benches/race.rs",
            "fn main() { println!(\"{}\", one::value()); }\n",
        ),
        (
            "helper/Cargo.toml",
            "[package]\nname = \"helper\"\nedition = \"2024\"\n[features]\nslow = []\n",
        ),
        (
            "helper/src/lib.rs",
            "pub const HOW: &str = if cfg!(feature = \"slow\") { \"slow\" } else { \"fast\" };\n",
        ),
    ]);
    let slow = dependency(", features = [\"slow\"]");
    let bench = "[[bench]]\nname = \"more\"\nharness = false\n";
    let rest = format!("[dev-dependencies]\n{slow}{bench}");
    repo.write("Cargo.toml", &manifest(&rest));
    repo.write(
        "benches/more.rs",
        "fn main() { println!(\"more {}\", helper::HOW); }\n",
    );
    for _ in 0..2 {
        // Built, and as stored.
        let done = repo.cargo(&["HEAD", "--no-run"]);
        let expected = [
            ("HEAD", "more slow"),
            ("HEAD", "fast"),
            ("working tree", "more slow"),
            ("working tree", "slow"),
        ];
        assert_eq!(say(&done), pairs(&expected));
        assert!(
            done.stderr
                .contains("HEAD is built with bench targets from working tree: more")
        );
    }
    let done = repo.cargo(&["HEAD", "--no-run", "--bench", "more"]);
    let expected = [("HEAD", "more slow"), ("working tree", "more slow")];
    assert_eq!(say(&done), pairs(&expected));
    let done = repo.cargo(&["HEAD", "--no-run", "--bench", "more", "--bench=race"]);
    assert_eq!(say(&done).len(), 4);
}

#[test]
fn benchmarks_of_the_other_side_put_nothing_into_a_submodule_of_a_commit() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    let id = repo.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{},vendor/dep", id.trim());
    repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repo.git(&["commit", "--quiet", "--message", "submodule"]);
    let bench = "[[bench]]\nname = \"more\"\nharness = false\npath = \"vendor/more.rs\"\n";
    repo.write("Cargo.toml", &(PACKAGE[0].1.to_owned() + bench));
    repo.write("vendor/more.rs", "fn main() { println!(\"more\"); }\n");
    repo.write("vendor/table", "1\n");
    repo.write("vendor/dep/src/lib.rs", "");
    let done = repo.cargo(&["HEAD", "--no-run"]);
    assert_eq!(say(&done).len(), 4);
    let built = done.stdout.split(['\t', '\n']).nth(2).unwrap();
    let build = Path::new(built).ancestors().nth(4).unwrap();
    assert!(
        build.join("tree/vendor/table").exists(),
        "{}",
        build.display()
    );
    assert!(!build.join("tree/vendor/dep/src").exists());
}

#[test]
fn additions_reach_neither_the_programs_nor_the_files_of_benchmarks_that_both_sides_have() {
    needs!("git");
    let manifest = PACKAGE[0].1;
    let dependency = |features: &str| format!("helper = {{ path = \"helper\"{features} }}\n");
    let manifest = format!(
        "{manifest}[[bin]]\nname = \"tool\"\n[dependencies]\n{}",
        dependency("")
    );
    let repo = Repo::new(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", ""),
        (
            "src/bin/tool.rs",
            "fn main() {
                let file = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data/settings\");
                let settings = std::fs::read_to_string(file).unwrap_or(\"none\".into());
                println!(\"{} {settings}\", helper::HOW);
            }\n",
        ),
        (
            "benches/race.rs",
            "fn main() { std::process::Command::new(env!(\"CARGO_BIN_EXE_tool\")).status().unwrap(); }\n",
        ),
        (
            "helper/Cargo.toml",
            "[package]\nname = \"helper\"\nedition = \"2024\"\n[features]\nslow = []\n",
        ),
        (
            "helper/src/lib.rs",
            "pub const HOW: &str = if cfg!(feature = \"slow\") { \"slow\" } else { \"fast\" };\n",
        ),
    ]);
    let slow = dependency(", features = [\"slow\"]");
    let bench = "[[bench]]\nname = \"more\"\nharness = false\npath = \"data/more.rs\"\n";
    repo.write(
        "Cargo.toml",
        &format!("{manifest}[dev-dependencies]\n{slow}{bench}"),
    );
    repo.write("data/more.rs", "fn main() { println!(\"more\"); }\n");
    repo.write("data/settings", "slower");
    for _ in 0..2 {
        let done = repo.cargo(&["HEAD", "--no-run"]);
        let expected = [
            ("HEAD", "more"),
            ("HEAD", "fast none"),
            ("working tree", "more"),
            ("working tree", "slow slower"),
        ];
        assert_eq!(say(&done), pairs(&expected));
    }
}

#[test]
fn cargo_does_not_write_through_a_lock_file_of_a_commit_that_is_a_link() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("Cargo.lock");
    let outdated = "version = 4\n";
    fs::write(&file, outdated).unwrap();
    let own = repo.path("Cargo.lock");
    let _ = fs::remove_file(&own);
    std::os::unix::fs::symlink(&file, &own).unwrap();
    repo.commit(&[]);
    fs::remove_file(&own).unwrap();
    repo.write("src/lib.rs", NEW);
    repo.cargo(&["HEAD", "--no-run"]).succeeds();
    assert_eq!(fs::read_to_string(&file).unwrap(), outdated);
}

#[test]
fn a_package_of_the_working_tree_does_not_race_for_a_commit() {
    needs!("git");
    let manifest = format!("{}[dependencies]\nhelper = \"1\"\n", PACKAGE[0].1);
    let helper = "[package]\nname = \"helper\"\nversion = \"1.0.0\"\nedition = \"2024\"\n";
    let repo = Repo::new(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", ""),
        (
            "benches/race.rs",
            "fn main() { println!(\"{}\", helper::HOW); }\n",
        ),
        ("helper/Cargo.toml", helper),
        ("helper/src/lib.rs", "pub const HOW: &str = \"old\";\n"),
    ]);
    // Git does not know it.
    repo.write(".git/info/exclude", ".cargo\n");
    let patch = "[patch.crates-io]\nhelper = { path = \"helper\" }\n";
    repo.write(".cargo/config.toml", patch);
    repo.write("src/lib.rs", NEW);
    repo.write("helper/src/lib.rs", "pub const HOW: &str = \"new\";\n");
    let done = repo.cargo(&["HEAD", "--no-run"]);
    let expected = [("HEAD", "old"), ("working tree", "new")];
    assert_eq!(say(&done), pairs(&expected), "each side has its own");
    let folder = repo.path("helper");
    let patch = format!("[patch.crates-io]\nhelper = {{ path = {folder:?} }}\n");
    repo.write(".cargo/config.toml", &patch);
    let done = repo.cargo(&["HEAD", "--no-run"]);
    done.fails_with(3, &["in ./helper of the working tree", "commit the"]);
    repo.write("helper/src/lib.rs", "pub const HOW: &str = \"old\";\n");
    let done = repo.cargo(&["HEAD", "--no-run"]);
    let expected = [("HEAD", "old"), ("working tree", "old")];
    assert_eq!(say(&done), pairs(&expected), "both have the same");
}

#[test]
fn benchmarks_of_one_name_are_told_apart_by_their_packages_on_both_sides() {
    needs!("git");
    let manifest = |name: &str, bench: &str| {
        format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\
             [[bench]]\nname = \"{bench}\"\nharness = false\n"
        )
    };
    let bench = |word: &str| format!("fn main() {{ println!(\"{word}\"); }}\n");
    let root = |members: &str| format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
    let repo = Repo::new(&[
        ("Cargo.toml", &root("\"a\"")),
        ("a/Cargo.toml", &manifest("a", "race")),
        ("a/benches/race.rs", &bench("old a")),
    ]);
    repo.write("Cargo.toml", &root("\"a\", \"c\", \"d\""));
    repo.write("a/benches/race.rs", &bench("new a"));
    repo.write("c/Cargo.toml", &manifest("c", "race"));
    repo.write("c/benches/race.rs", &bench("c"));
    // Both sides would race with the library of the working tree.
    repo.write("d/Cargo.toml", &manifest("d", "extra"));
    repo.write("d/src/lib.rs", "pub fn f() {}\n");
    repo.write("d/benches/extra.rs", &bench("d"));
    for words in [&[][..], &["--bench", "race", "--bench", "extra"]] {
        let done = repo.cargo(&[&["HEAD", "--no-run"], words].concat());
        let expected = [
            ("HEAD", "old a"),
            ("HEAD", "c"),
            ("working tree", "d"),
            ("working tree", "new a"),
            ("working tree", "c"),
        ];
        let mut said = say(&done);
        said.sort();
        let mut expected = pairs(&expected);
        expected.sort();
        assert_eq!(said, expected);
        let names = done
            .stdout
            .lines()
            .map(|line| line.split('\t').nth(1).unwrap());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert_eq!(names, ["a/race", "a/race", "c/race", "c/race", "extra"]);
        let note = "bench target extra from working tree is left out of HEAD";
        assert!(done.stderr.contains(note), "{}", done.stderr);
    }
}

#[test]
fn a_manifest_that_is_a_link_gets_the_benchmarks_of_the_other_side() {
    needs!("git");
    let repo = Repo::new(&PACKAGE);
    fs::rename(repo.path("Cargo.toml"), repo.path("real.toml")).unwrap();
    std::os::unix::fs::symlink("real.toml", repo.path("Cargo.toml")).unwrap();
    let bench = PACKAGE[2].1.replace("slow", "slower");
    repo.commit(&[("src/lib.rs", NEW), ("benches/race.rs", &bench)]);
    let done = repo.cargo(&["HEAD~1..HEAD", "--no-run", "--benches-from", "HEAD~1"]);
    let expected = [("HEAD~1", "old slow read"), ("HEAD", "new slow read")];
    assert_eq!(say(&done), pairs(&expected));
    // Out of the commit.
    let file = repo.path("real.toml");
    fs::remove_file(repo.path("Cargo.toml")).unwrap();
    std::os::unix::fs::symlink(&file, repo.path("Cargo.toml")).unwrap();
    repo.commit(&[("src/lib.rs", NEW)]);
    let done = repo.cargo(&["HEAD~2..HEAD", "--no-run", "--benches-from", "HEAD~2"]);
    done.fails_with(
        3,
        &["Cargo.toml is a symbolic link", "in place of the link"],
    );
}

#[test]
fn a_tag_does_not_take_the_place_of_an_abbreviated_commit() {
    needs!("git");
    let repo = two();
    let base = repo.git(&["rev-parse", "--short=10", "HEAD~1"]);
    let base = base.trim();
    repo.git(&["tag", base, "HEAD"]);
    let build = [
        &[
            "--build",
            "mkdir -p out; cp value out/program; chmod +x out/program",
        ],
        &EXE[..],
    ];
    let build = build.concat();
    let done = repo.rev(&[&[base], &build[..]].concat());
    done.fails_with(2, &["is ambiguous", "more digits of the commit"]);
    repo.rev(&[&[&*format!("refs/tags/{base}")], &build[..]].concat())
        .succeeds();
    // No id of a commit begins with `cafe`.
    repo.git(&["tag", "cafe", "HEAD~1"]);
    repo.rev(&[&["cafe"], &build[..]].concat()).succeeds();
}
