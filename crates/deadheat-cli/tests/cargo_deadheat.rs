//! `cargo deadheat`, on real packages in folders of their own.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::Finished;
use deadheat_testing::needs;
use serde_json::Value;
use tempfile::TempDir;

/// A profile with all that is awkward about the builds of others.
const PROFILE: &str = r#"
[profile.bench]
lto = "fat"
codegen-units = 1
panic = "abort"
debug = 1
split-debuginfo = "packed"
"#;

/// A workspace with a build script, a macro, a program, a dependency from
/// elsewhere, and a bench target that runs on its own.
const WORKSPACE: [(&str, &str); 11] = [
    (
        "Cargo.toml",
        r#"
[workspace]
resolver = "3"
members = ["one", "macros"]
exclude = ["elsewhere"]
"#,
    ),
    (
        "one/Cargo.toml",
        r#"
[package]
name = "one"
version = "0.1.0"
edition = "2024"

[dependencies]
elsewhere = { path = "../elsewhere" }
macros = { path = "../macros" }

[lib]
bench = false

[[bin]]
name = "program"
path = "src/main.rs"
bench = false

[[bench]]
name = "race"
harness = false
"#,
    ),
    (
        "one/build.rs",
        r#"fn main() { println!("cargo::rustc-env=BUILT=built"); }"#,
    ),
    (
        "one/src/lib.rs",
        "pub fn one() -> u64 { macros::number!() + elsewhere::two() }",
    ),
    (
        "one/src/main.rs",
        r#"fn main() { println!("{}", one::one()); }"#,
    ),
    (
        "one/benches/race.rs",
        r#"
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let placements = std::env::var("DEADHEAT_PLACEMENTS").unwrap_or_default();
    println!("{} {} {args:?} {placements}", one::one(), env!("BUILT"));
    let program = std::process::Command::new(env!("CARGO_BIN_EXE_program"));
    assert!({ program }.status().unwrap().success());
    if let Some(code) = args[0].strip_prefix("exit=") {
        std::process::exit(code.parse().unwrap());
    }
}
"#,
    ),
    (
        "macros/Cargo.toml",
        r#"
[package]
name = "macros"
version = "0.1.0"
edition = "2024"

[lib]
proc-macro = true
bench = false
"#,
    ),
    (
        "macros/src/lib.rs",
        r#"
#[proc_macro]
pub fn number(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    "1".parse().unwrap()
}
"#,
    ),
    (
        "elsewhere/Cargo.toml",
        r#"
[package]
name = "elsewhere"
version = "0.1.0"
edition = "2024"
"#,
    ),
    ("elsewhere/src/lib.rs", "pub fn two() -> u64 { 2 }"),
    (".cargo/config.toml", ""),
];

/// A folder with packages, gone when dropped.
struct Packages {
    folder: TempDir,
}

impl Packages {
    fn new(files: &[(&str, &str)]) -> Self {
        let packages = Self {
            folder: TempDir::new().unwrap(),
        };
        for (path, text) in files {
            packages.write(path, text);
        }
        packages
    }

    fn path(&self, path: &str) -> PathBuf {
        // What a program is told of where it is has no symbolic links in it.
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn append(&self, path: &str, text: &str) {
        let old = fs::read_to_string(self.path(path)).unwrap();
        self.write(path, &format!("{old}{text}"));
    }

    /// A program here, with nothing of the cargo that runs these tests.
    fn command(&self, program: &str) -> Command {
        let folder = Path::new(env!("CARGO_BIN_EXE_cargo-deadheat"));
        let mut found = vec![folder.parent().unwrap().to_owned()];
        found.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env("PATH", std::env::join_paths(found).unwrap())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never");
        for variable in [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET_DIR",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_PROFILE_BENCH_DEBUG",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn cargo(&self, args: &[&str]) -> Finished {
        let cargo = self.command(env!("CARGO")).args(args).output();
        Finished::from(cargo.unwrap())
    }

    /// The records of links beside what was built, by the name of the
    /// executable without cargo's hash, from wherever they are below `target`.
    fn records(&self, target: &str) -> Vec<(String, Value)> {
        fn walk(folder: &Path, found: &mut Vec<(String, Value)>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, found);
                } else if folder.ends_with(".deadheat/links")
                    && path
                        .extension()
                        .is_some_and(|extension| extension == "json")
                {
                    let name = path.file_stem().unwrap().to_str().unwrap();
                    let (name, _) = name.rsplit_once('-').unwrap();
                    let text = fs::read_to_string(&path).unwrap();
                    let record = serde_json::from_str(&text).unwrap();
                    found.push((name.to_owned(), record));
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path(target), &mut found);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    fn recorded(&self) -> Vec<String> {
        let records = self.records("target").into_iter();
        records.map(|(name, _)| name).collect()
    }
}

/// Packages that cargo found fresh, and those that it built (`cargo … -v`).
fn fresh_and_built(done: &Finished) -> [BTreeSet<&str>; 2] {
    ["Fresh", "Compiling"].map(|word| {
        let lines = done.stderr.lines().map(|line| line.trim().split(' '));
        lines
            .filter_map(|mut words| (words.next() == Some(word)).then(|| words.next().unwrap()))
            .collect()
    })
}

#[test]
fn only_what_cargo_bench_runs_is_recorded_whatever_the_profile() {
    let packages = Packages::new(&WORKSPACE);
    packages.append("Cargo.toml", PROFILE);
    let done = packages.cargo(&["deadheat", "--bench", "race", "--", "--pin", "none"]);
    let placements = env!("CARGO_BIN_EXE_cargo-deadheat");
    let said = format!("3 built [\"--pin\", \"none\", \"--bench\"] {placements}\n3\n");
    assert_eq!(done.succeeds().stdout, said);
    assert_eq!(packages.recorded(), ["race"]);
    // The same without a fresh executable.
    let done = packages.cargo(&["deadheat", "-v", "--bench", "race", "--", "exit=3"]);
    assert_eq!(done.code, Some(3), "what the program said: {done:?}");
    assert!(fresh_and_built(&done)[1].is_empty(), "{}", done.stderr);
    assert_eq!(packages.recorded(), ["race"]);
}

#[test]
fn cargo_bench_and_cargo_deadheat_take_nothing_from_each_other() {
    let packages = Packages::new(&WORKSPACE);
    let plain = ["bench", "-v", "--bench", "race", "--", "x"];
    let placed = ["deadheat", "-v", "--bench", "race", "--", "x"];
    let first = packages.cargo(&plain);
    let everything = fresh_and_built(first.succeeds())[1].clone();
    assert_eq!(everything, ["elsewhere", "macros", "one"].into());
    let second = packages.cargo(&placed);
    let [fresh, _] = fresh_and_built(second.succeeds());
    assert!(fresh.contains("elsewhere"), "{}", second.stderr);
    for args in [plain, placed, plain] {
        let again = packages.cargo(&args);
        let [fresh, built] = fresh_and_built(again.succeeds());
        assert_eq!(fresh, everything, "{args:?}: {}", again.stderr);
        assert!(built.is_empty(), "{args:?}: {}", again.stderr);
    }
}

#[test]
fn the_linker_of_the_configuration_is_the_one_that_links() {
    needs!("clang");
    let packages = Packages::new(&WORKSPACE);
    packages.write(
        ".cargo/config.toml",
        "[target.'cfg(target_os = \"linux\")']\nlinker = \"clang\"\n",
    );
    let args = [
        "deadheat",
        "--bench=race",
        "--target-dir",
        "there",
        "--",
        "x",
    ];
    packages.cargo(&args).succeeds();
    let records = packages.records("there");
    assert_eq!(records.len(), 1, "{records:?}");
    assert_eq!(records[0].1["driver"], "clang");
    assert!(!packages.path("target").exists(), "--target-dir is heeded");
    assert!(packages.path("there/CACHEDIR.TAG").exists());
}

#[test]
fn a_linker_that_is_no_compiler_driver_links_as_if_nobody_were_there() {
    let packages = Packages::new(&WORKSPACE);
    let script = packages.path("own-driver.sh");
    packages.write("own-driver.sh", "#!/bin/sh\nexec cc \"$@\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).unwrap();
    let config = format!("target.'cfg(unix)'.linker = {script:?}");
    let args = [
        "deadheat", "--config", &config, "--bench", "race", "--", "x",
    ];
    let done = packages.cargo(&args);
    assert!(done.succeeds().stdout.starts_with("3 built"), "{done:?}");
    assert_eq!(packages.recorded(), [""; 0]);
}

#[test]
fn a_record_that_was_deleted_is_made_again() {
    let packages = Packages::new(&WORKSPACE);
    let args = ["deadheat", "-v", "--bench", "race", "--", "x"];
    packages.cargo(&args).succeeds();
    fs::remove_dir_all(packages.path("target/release/deps/.deadheat")).unwrap();
    let done = packages.cargo(&args);
    let [fresh, built] = fresh_and_built(done.succeeds());
    assert_eq!(built, ["one"].into(), "{}", done.stderr);
    assert_eq!(fresh, ["elsewhere", "macros"].into());
    assert!(
        done.stderr.contains("it is linked again"),
        "{}",
        done.stderr
    );
    assert_eq!(packages.recorded(), ["race"]);
}

#[test]
fn a_wrapper_of_the_compiler_stays_in_use() {
    let packages = Packages::new(&WORKSPACE);
    let wrapper = packages.path("wrapper.sh");
    let script = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$0.log\"\nexec \"$@\"\n";
    packages.write("wrapper.sh", script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&wrapper, mode).unwrap();
    let mut command = packages.command(env!("CARGO"));
    command.env("RUSTC_WORKSPACE_WRAPPER", &wrapper);
    let args = ["deadheat", "--bench", "race", "--", "x"];
    let done = Finished::from(command.args(args).output().unwrap());
    done.succeeds();
    let log = fs::read_to_string(packages.path("wrapper.sh.log")).unwrap();
    let raced = log.lines().find(|line| line.contains("--crate-name race "));
    let raced = raced.unwrap_or_else(|| panic!("{log}"));
    assert!(raced.contains("deadheat-linker"), "{raced}");
    assert_eq!(packages.recorded(), ["race"]);
}

#[test]
fn explains_arguments_that_it_cannot_follow() {
    needs!("git");
    let packages = Packages::new(&WORKSPACE);
    let done = packages.cargo(&["deadheat", "--bench", "race", "sum"]);
    done.fails_with(2, &["git working tree", "cargo deadheat -- sum"]);
    let done = packages.cargo(&["deadheat", "--manifest-path", "nowhere/Cargo.toml"]);
    done.fails_with(2, &["nowhere/Cargo.toml", "does not exist"]);
    packages.write("target/deadheat", "a file");
    let done = packages.cargo(&["deadheat"]);
    done.fails_with(5, &["target/deadheat", "must write there"]);
}

/// A package whose library has unit tests that `cargo bench` runs.
const WITH_UNIT_TESTS: [(&str, &str); 3] = [
    (
        "Cargo.toml",
        r#"
[package]
name = "plain"
version = "0.1.0"
edition = "2024"

[[bench]]
name = "race"
harness = false
"#,
    ),
    ("src/lib.rs", "pub fn one() -> u64 { 1 }"),
    (
        "benches/race.rs",
        "fn main() { assert_eq!(plain::one(), 1); }",
    ),
];

#[test]
fn explains_options_that_the_unit_tests_of_a_library_refuse() {
    let packages = Packages::new(&WITH_UNIT_TESTS);
    let told = "cargo bench passes the words after -- also to the unit tests of a library, which accept \
                no options of races\n";
    for (words, option, help) in [
        (
            &["--save-baseline", "main"][..],
            "save-baseline",
            "help: a race measures both sides at once, so no baseline is saved: cargo deadheat BASE",
        ),
        (
            &["one", "--margin=2%"],
            "margin",
            "help: name a bench target: cargo deadheat --bench NAME -- one --margin=2%; or write \
             bench = false below [lib] in Cargo.toml",
        ),
    ] {
        let done = packages.cargo(&[&["deadheat", "--"], words].concat());
        done.fails_with(
            101,
            &[&format!("Unrecognized option: '{option}'"), told, help],
        );
    }
    let done = packages.cargo(&["deadheat", "--bench", "race", "--", "--margin", "2%"]);
    assert!(!done.succeeds().stderr.contains(told));
    // A failed build has its own message.
    packages.write("src/lib.rs", "pub fn one() -> u64 { }");
    let done = packages.cargo(&["deadheat", "--", "--margin", "2%"]);
    done.fails_with(101, &["mismatched types"]);
    assert!(!done.stderr.contains(told), "{done:?}");
}

#[test]
fn refuses_options_of_criterion_before_the_dashes() {
    let packages = Packages::new(&WITH_UNIT_TESTS);
    for (words, sentences) in [
        (
            &["deadheat", "--save-baseline", "main"][..],
            [
                "--save-baseline is an option of criterion, not of cargo bench\n",
                "help: a race measures both sides at once, so no baseline is saved",
            ],
        ),
        (
            &["deadheat", "--bench", "race", "--sample-size", "20"],
            [
                "--sample-size is an option of criterion, not of cargo bench\n",
                "help: put it after --: cargo deadheat --bench race -- --sample-size 20",
            ],
        ),
    ] {
        packages.cargo(words).fails_with(2, &sentences);
    }
    assert!(!packages.path("target").exists());
}

#[test]
fn it_explains_itself_under_either_name() {
    let packages = Packages::new(&[]);
    let version = format!("cargo-deadheat {}\n", env!("CARGO_PKG_VERSION"));
    let program = env!("CARGO_BIN_EXE_cargo-deadheat");
    for (program, first) in [
        (env!("CARGO"), &["deadheat"][..]),
        (program, &["deadheat"]),
        (program, &[]),
    ] {
        let run = |option: &str| {
            let done = packages.command(program).args(first).arg(option).output();
            Finished::from(done.unwrap()).succeeds().stdout.clone()
        };
        assert_eq!(run("--version"), version);
        assert!(run("-h").contains("Usage: cargo deadheat "));
    }
}

/// A package whose bench target is a suite of deadheat.
fn suite() -> Packages {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap();
    let manifest = format!(
        r#"
[package]
name = "suite"
version = "0.1.0"
edition = "2024"

[dev-dependencies]
deadheat = {{ path = {:?} }}

[lib]
bench = false

[[bench]]
name = "race"
harness = false
{PROFILE}
# Optimised it would be built for half a minute longer.
opt-level = 0

# Lines of its own code are enough; those of all dependencies take a quarter of the time.
[profile.bench.package."*"]
debug = 0

[workspace]
"#,
        repository.join("crates/deadheat")
    );
    let twin = |name: &str| {
        format!(
            "#[inline(never)]\npub fn {name}(n: u64) -> u64 {{
                (0..n).fold(1, |sum, i| (sum ^ i).wrapping_mul(1_099_511_628_211))
            }}\n"
        )
    };
    let race = r#"
fn main() {
    // Either side runs where its own sources are.
    let here = std::env::current_dir().unwrap();
    assert_eq!(here, std::path::Path::new(env!("CARGO_MANIFEST_DIR")));
    deadheat::main(|suite| {
        suite
            .benchmark("twins")
            .input(|seed| 1_000 + seed % 10)
            .baseline("first", |n| suite::first(*n))
            .candidate("second", |n| suite::second(*n))
            .check_outputs();
    });
}
"#;
    let packages = Packages::new(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", &(twin("first") + &twin("second"))),
        ("benches/race.rs", race),
    ]);
    // The versions that are on this machine already.
    fs::copy(repository.join("Cargo.lock"), packages.path("Cargo.lock")).unwrap();
    packages
}

#[test]
fn a_suite_gets_verdicts_on_its_source_and_on_the_binary_when_it_asks_for_that() {
    needs!("git");
    let packages = suite();
    let answer = ["--json", "--max-replicates", "6", "--blocks", "5"];
    let race = |args: &[&str]| {
        let done = packages.cargo(&[&["deadheat", "--"], &answer[..], args].concat());
        done.succeeds().json()["benchmarks"][0].clone()
    };
    let neutral = race(&[]);
    assert_eq!(neutral["scope"], "source", "{neutral}");
    assert_eq!(neutral["replicates"], 6, "{neutral}");
    let own = race(&["--placement", "own"]);
    assert_eq!(own["scope"], "binary", "{own}");
    // As under `cargo bench`, where nobody makes neutral links.
    let records = packages.records("target");
    assert_eq!(records.len(), 1, "{records:?}");
    let program = records[0].1["output"].as_str().unwrap();
    let mut plain = packages.command(program);
    let plain = Finished::from(plain.arg("--bench").args(answer).output().unwrap());
    let plain = plain.succeeds().json()["benchmarks"][0].clone();
    assert_eq!(plain["scope"], "binary", "{plain}");
    revisions_get_verdicts(&packages, &answer);
}

/// Goes on where a test has built all dependencies.
fn revisions_get_verdicts(packages: &Packages, answer: &[&str]) {
    let git = |args: &[&str]| {
        let mut command = packages.command("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        Finished::from(command.args(args).output().unwrap())
            .succeeds()
            .stdout
            .clone()
    };
    packages.write(".gitignore", "/target\n");
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "as it was"]);
    // One of the twins does its work twice.
    let source = fs::read_to_string(packages.path("src/lib.rs")).unwrap();
    let slower = source.replacen("(0..n)", "(0..2 * n)", 1);
    packages.write("src/lib.rs", &slower);
    let race = |args: &[&str]| {
        let done = packages.cargo(&[&["deadheat"], args, &["--"], answer].concat());
        (done.succeeds().json()["benchmarks"].clone(), done.stderr)
    };
    let (benchmarks, said) = race(&["HEAD"]);
    assert!(said.contains("building HEAD"), "{said}");
    // Only what differs between commits was compiled for it.
    let compiled: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("Compiling"))
        .collect();
    assert!(
        compiled.iter().all(|line| line.contains(" suite ")),
        "{said}"
    );
    let named = |part: &str| {
        let found = benchmarks.as_array().unwrap().iter().find(|benchmark| {
            let name = benchmark["benchmark"].as_str().unwrap();
            name.contains(part)
        });
        found
            .unwrap_or_else(|| panic!("{part}: {benchmarks}"))
            .clone()
    };
    let first = named("first");
    assert_eq!(first["scope"], "source", "{first}");
    assert!(first.to_string().contains("\"slower\""), "{first}");
    let second = named("second");
    // One race in forty of the unchanged twin may be called slower: that is
    // what alpha promises, so only the sizes are held against each other.
    let change = |race: &serde_json::Value| race["change"].as_f64().unwrap();
    assert!(change(&first) > change(&second) + 0.3, "{first} {second}");
    let (again, said) = race(&["HEAD..HEAD"]);
    assert!(!said.contains("Compiling"), "{said}");
    assert_eq!(again.as_array().unwrap().len(), 2);
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&["status", "--porcelain"]), " M src/lib.rs\n");
    // Once it is committed, the same commit is the one before: it is kept.
    git(&["commit", "--quiet", "--all", "--message", "twice the work"]);
    let (benchmarks, said) = race(&["HEAD~1"]);
    assert!(!said.contains("Compiling"), "{said}");
    let verdicts = benchmarks.to_string();
    assert!(verdicts.contains("\"slower\""), "{verdicts}");
    // The pull request that brings the first benchmarks, and deadheat with them.
    let manifest = fs::read_to_string(packages.path("Cargo.toml")).unwrap();
    let tables = manifest
        .split("\n[")
        .filter(|table| !table.starts_with("dev-dependencies]") && !table.starts_with("[bench]]"));
    packages.write("Cargo.toml", &tables.collect::<Vec<_>>().join("\n["));
    let bench = fs::read_to_string(packages.path("benches/race.rs")).unwrap();
    fs::remove_dir_all(packages.path("benches")).unwrap();
    packages.write("src/lib.rs", &source);
    git(&["rm", "--quiet", "--cached", "Cargo.lock"]);
    git(&["add", "Cargo.toml", "src", "benches"]);
    git(&["commit", "--quiet", "--message", "without benchmarks"]);
    packages.write("Cargo.toml", &manifest);
    packages.write("benches/race.rs", &bench);
    packages.write("src/lib.rs", &slower);
    let (benchmarks, said) = race(&["HEAD"]);
    assert!(
        said.contains("HEAD is built with bench targets from working tree: race"),
        "{said}"
    );
    assert!(
        benchmarks.to_string().contains("\"slower\""),
        "{benchmarks}"
    );
}
