//! `deadheat rev`: benchmarks and environments that differ between the sides besides the code under
//! test.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Finished, says};
use deadheat_testing::{needs, skip};
use serde_json::Value;
use tempfile::TempDir;

/// A repository, and a place for caches.
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
        repo.write(".gitignore", "__pycache__\n.pytest_cache\ntarget\nout\n");
        repo.commit("base", files);
        repo
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits these files, and tags the commit.
    fn commit(&self, tag: &str, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.write(path, text);
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", tag]);
        self.git(&["tag", tag]);
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@x"]);
        let done = command.args(args).current_dir(self.folder.path()).output();
        Finished::from(done.unwrap()).succeeds().stdout.clone()
    }

    fn deadheat(&self, args: &[&str]) -> Finished {
        self.deadheat_with(args, &[])
    }

    fn deadheat_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Finished {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
        command
            .current_dir(self.folder.path())
            .args(args)
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env(
                "DEADHEAT_PYTHON_PACKAGE",
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"),
            )
            .env("XDG_CACHE_HOME", self.cache.path())
            .env("CARGO_NET_OFFLINE", "true")
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        Finished::from(command.output().unwrap())
    }
}

/// The files that differ for each benchmark that an answer warns of, by its name.
fn warned(analysis: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for benchmark in analysis["benchmarks"].as_array().unwrap() {
        let warnings = benchmark["warnings"].as_array().into_iter().flatten();
        for warning in warnings.filter(|one| one["code"] == "benchmark-differs") {
            let name = benchmark["benchmark"].as_str().unwrap();
            let text = warning["message"].as_str().unwrap();
            let (_, after) = text.split_once("changed: ").unwrap();
            let (files, _) = after.split_once(" differ").unwrap();
            told.push(format!("{}: {files}", name.rsplit("::").next().unwrap()));
        }
    }
    told
}

fn json(done: &Finished) -> Value {
    serde_json::from_str(&done.succeeds().stdout).unwrap()
}

/// Returns true if pip can fetch packages here, and says so if it cannot.
fn fetches() -> bool {
    let folder = TempDir::new().unwrap();
    let words = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
    let mut pip = Command::new("python3");
    pip.args(words).arg(folder.path());
    pip.args(["iniconfig", "--retries", "0"]);
    let venv = Command::new("python3")
        .args(["-c", "import ensurepip, venv"])
        .output();
    let is_there = pip.output().unwrap().status.success() && venv.unwrap().status.success();
    if !is_there {
        skip!("needs python3 with venv and pip, and packages that pip can fetch");
    }
    is_there
}

const SUITE: [(&str, &str); 7] = [
    // Puts this folder into the path of the tests, where the library lies.
    ("conftest.py", ""),
    ("requirements.txt", "pytest\niniconfig==2.0.0\n"),
    ("counted.py", "def count(words): return words.count('a')\n"),
    (
        "bench/conftest.py",
        "import pytest\n@pytest.fixture\ndef words(): return ['a'] * 400\n",
    ),
    (
        "bench/test_list.py",
        "from counted import count\ndef test_list(benchmark, words): benchmark(count, words)\n\
         def test_short(benchmark): benchmark(count, ['a'])\n",
    ),
    (
        "bench/test_file.py",
        "from pathlib import Path\nfrom counted import count\ndef test_file(benchmark):\n    \
         words = Path(__file__).with_name('words.txt').read_text().split()\n    \
         benchmark(count, words)\n",
    ),
    ("bench/words.txt", "a b a b\n"),
];

/// The options of a short race of that suite.
const RACE: [&str; 10] = [
    "--pytest",
    "bench",
    "--install=-r requirements.txt",
    "--max-replicates",
    "2",
    "--blocks",
    "4",
    "--sample-time",
    "1ms",
    "--json",
];

#[test]
fn differences_of_a_suite_name_the_rows_concerned_and_one_suite_has_none() {
    needs!("git", "python3");
    if !fetches() {
        return;
    }
    let repo = Repo::new(&SUITE);
    repo.commit(
        "library",
        &[("counted.py", "def count(words): return len(words)\n")],
    );
    let test = "from counted import count\ndef test_list(benchmark, words): \
                benchmark(count, words * 4)\ndef test_short(benchmark): benchmark(count, ['a'])\n";
    let data = ("bench/words.txt", "a b a b a b\n");
    repo.commit("suite", &[("bench/test_list.py", test), data]);
    let race = |revisions: &str, more: &[&str]| {
        let words = [&["rev", revisions], &RACE[..], more].concat();
        repo.deadheat(&words)
    };

    let same = json(&race("base..library", &[]));
    assert_eq!(warned(&same), [""; 0]);
    assert_eq!(same["surroundings"], Value::Null);
    assert_eq!(same["benchmarks"].as_array().unwrap().len(), 3);

    let own = json(&race("library..suite", &["--benches-from", "own"]));
    let mut told = warned(&own);
    told.sort();
    assert_eq!(
        told,
        [
            "test_file: bench/words.txt",
            "test_list: bench/test_list.py"
        ]
    );

    let one = json(&race("library..suite", &[]));
    assert_eq!(warned(&one), [""; 0]);
    assert_eq!(one["surroundings"]["suite"]["side"], "suite");
    assert_eq!(one["benchmarks"].as_array().unwrap().len(), 3);
    let old = json(&race("library..suite", &["--benches-from", "library"]));
    assert_eq!(warned(&old), [""; 0]);
    assert_eq!(old["surroundings"]["suite"]["side"], "library");

    // A fixture, which all tests of the folder may have, and the working tree.
    repo.write(
        "bench/conftest.py",
        "import pytest\n@pytest.fixture\ndef words(): return ['a'] * 800\n",
    );
    let mut told = warned(&json(&race("suite", &["--benches-from", "own"])));
    told.sort();
    let expected = ["file", "list", "short"].map(|test| format!("test_{test}: bench/conftest.py"));
    assert_eq!(told, expected);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_suite_that_the_old_library_cannot_run_is_told_test_by_test() {
    needs!("git", "python3");
    if !fetches() {
        return;
    }
    let repo = Repo::new(&SUITE);
    let library = "def count(words): return len(words)\ndef fast(words): return len(words)\n";
    // The library lies beside the suite: each side must race its own.
    let uses = "import counted\ndef test_list(benchmark, words): benchmark(counted.fast, words)\n\
                def test_short(benchmark): benchmark(counted.count, [''])\n";
    let new = [("counted.py", library), ("bench/test_list.py", uses)];
    repo.commit("uses", &new);
    let race = |revisions: &str, more: &[&str]| {
        let words = [&["rev", revisions], &RACE[..], more].concat();
        json(&repo.deadheat(&words))
    };
    let one = race("base..uses", &[]);
    assert_eq!(one["surroundings"]["suite"]["side"], "uses", "{one}");
    let left_out = one["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{one}");
    assert_eq!(left_out[0]["benchmark"], "bench/test_list.py::test_list");
    assert!(left_out[0].to_string().contains("AttributeError"), "{one}");

    // A suite that the old library cannot even import stays where it is, with a warning.
    let imports = uses.replace(
        "import counted\n",
        "import counted\nfrom counted import fast\n",
    );
    repo.commit("imports", &[("bench/test_list.py", &imports)]);
    let own = race("base..imports", &[]);
    assert_eq!(own["surroundings"], Value::Null, "{own}");
    let mut told = warned(&own);
    told.sort();
    let expected = ["list", "short"].map(|test| format!("test_{test}: bench/test_list.py"));
    assert_eq!(told, expected);
}

#[test]
fn packages_in_other_versions_are_named() {
    needs!("git", "python3");
    if !fetches() {
        return;
    }
    let repo = Repo::new(&SUITE);
    let other = ("requirements.txt", "pytest\niniconfig==2.1.0\n");
    repo.commit("newer", &[other]);
    let words = [&["rev", "base..newer"], &RACE[..9], &["test_short"]].concat();
    let done = repo.deadheat(&words);
    says(
        &done,
        0,
        &[
            "packages differ between the sides",
            "iniconfig 2.0.0 and 2.1.0",
        ],
    );
    assert!(!done.stdout.contains("suite"), "{}", done.stdout);
}

#[test]
fn relative_folders_in_path_lead_to_the_same_programs_from_every_folder() {
    needs!("git");
    let repo = Repo::new(&[("value", "one\n")]);
    repo.commit("two", &[("value", "two\n")]);
    let tool = "#!/bin/sh\nmkdir -p out; printf '#!/bin/sh\\necho %s\\n' \"$(cat value)\" > out/program; \
                chmod +x out/program\n";
    repo.write(".git/tools/make-it", tool);
    let make = repo.path(".git/tools/make-it");
    Command::new("chmod").arg("+x").arg(&make).status().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!(".git/tools:{path}");
    let words = [
        "rev",
        "base..two",
        "--build",
        "make-it",
        "--exe",
        "out/program",
        "--no-run",
    ];
    let done = repo.deadheat_with(&words, &[("PATH", &path)]);
    let lines: Vec<String> = done.succeeds().stdout.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{}", done.stdout);
}

/// A bench target that speaks the worker protocol would need deadheat's sources; a harness of a few
/// lines that answers as Google Benchmark does needs none.
const HARNESS: &str = r#"#!/usr/bin/env python3
import json, sys, time
names = ["BM_Sort/100", "BM_Find/100"]
options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
chosen = [name for name in names if options.get("benchmark_filter", ".").strip("^$").replace("\\", "") in (".", "all", name)]
if not chosen:
    sys.exit("Failed to match any benchmarks against regex: " + options["benchmark_filter"])
if options.get("benchmark_list_tests") == "true":
    print("\n".join(chosen)); sys.exit()
count = int(options.get("benchmark_repetitions", "1"))
rows = [{"name": name, "run_name": name, "run_type": "iteration", "repetitions": count, "repetition_index": at, "threads": 1, "iterations": 10, "real_time": 100.0 + at, "cpu_time": 100.0 + at, "time_unit": "ns"} for name in chosen for at in range(count)]
text = json.dumps({"context": {}, "benchmarks": rows})
out = options.get("benchmark_out")
open(out, "w").write(text) if out else print(text)
"#;

#[test]
fn a_changed_file_of_a_program_that_a_command_builds_concerns_the_rows_it_names() {
    needs!("git", "python3");
    let sort = "BENCHMARK(BM_Sort)->Arg(100);\n";
    let repo = Repo::new(&[
        ("bench/sort.cc", sort),
        ("src/sort.cc", "one\n"),
        ("program.py", HARNESS),
        ("bench/README.md", "one\n"),
    ]);
    repo.commit(
        "library",
        &[("src/sort.cc", "two\n"), ("bench/README.md", "two\n")],
    );
    let longer = format!("{sort}// of more\n");
    repo.commit("bench", &[("bench/sort.cc", &longer)]);
    let race = |revisions: &str| {
        let build = "mkdir -p out && cp program.py out/program && chmod +x out/program";
        let mut words = vec!["rev", revisions, "--build", build, "--exe", "out/program"];
        words.extend(["--max-replicates", "2", "--json"]);
        json(&repo.deadheat(&words))
    };
    assert_eq!(warned(&race("base..library")), [""; 0]);
    assert_eq!(
        warned(&race("library..bench")),
        ["BM_Sort/100: bench/sort.cc"]
    );
}

#[test]
fn a_candidate_that_cannot_list_its_benchmarks_is_no_success() {
    needs!("git", "python3");
    let repo = Repo::new(&[("one.py", HARNESS), ("two.py", HARNESS)]);
    let build = "mkdir -p out && cp one.py two.py out && chmod +x out/*";
    let race = |revisions: &str| {
        let words = ["rev", revisions, "--build", build, "--exe", "out/one.py"];
        let rest = ["--exe", "out/two.py", "--max-replicates", "2", "-q"];
        repo.deadheat(&[&words[..], &rest].concat())
    };
    for (tag, broken) in [
        ("crash", "#!/bin/sh\nkill -SEGV $$\n"),
        ("exit", "#!/bin/sh\nexit 1\n"),
        ("talk", "#!/bin/sh\necho nothing of a harness\n"),
    ] {
        repo.commit(tag, &[("two.py", broken)]);
        let done = race(&format!("base..{tag}"));
        assert_eq!(done.code, Some(3), "{done:?}");
        assert!(done.stderr.contains("two.py"), "{done:?}");
        assert!(
            done.stdout.contains("BM_Sort/100"),
            "the others race: {done:?}"
        );
        // A baseline that cannot list them, such as an old one, hides nothing.
        assert_eq!(race(&format!("{tag}..base")).code, Some(0));
    }
}

#[test]
fn a_gate_does_not_pass_over_executables_beside_workers() {
    needs!("git", "python3", "gcc");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join("examples/c/worker_pair/old.c");
    let build = format!(
        "mkdir -p out && gcc -O1 -I{} {} -o out/worker -pthread && cp one.py out && chmod +x out/one.py",
        root.join("include").display(),
        source.display()
    );
    let repo = Repo::new(&[("one.py", HARNESS)]);
    repo.commit("next", &[("README", "one")]);
    let race = |gate: &[&str]| {
        let words = [
            "rev",
            "base..next",
            "--build",
            &build,
            "--exe",
            "out/worker",
        ];
        let rest = ["--exe", "out/one.py", "--max-replicates", "2", "-q"];
        repo.deadheat(&[&words[..], &rest, gate].concat())
    };
    race(&[]).succeeds();
    let told = [
        "the gate cannot judge",
        "one.py",
        "other targets are workers",
    ];
    race(&["--fail-on", "slower"]).fails_with(2, &told);
}

#[test]
fn a_changed_test_file_of_go_concerns_the_benchmarks_in_it() {
    needs!("git", "go");
    let one = "package p\nimport \"testing\"\nfunc BenchmarkOne(b *testing.B) { for i := 0; i < b.N; \
               i++ { _ = sum(i) } }\n";
    let two = one.replace("One", "Two");
    let repo = Repo::new(&[
        ("go.mod", "module deadheat.example/p\n\ngo 1.19\n"),
        ("p.go", "package p\nfunc sum(n int) int { return n + n }\n"),
        ("one_test.go", one),
        ("two_test.go", &two),
    ]);
    let other = one.replace("sum(i)", "sum(i + 1)");
    repo.commit("bench", &[("one_test.go", &other)]);
    let words = [
        "rev",
        "base..bench",
        "--go",
        ".",
        "--max-replicates",
        "2",
        "--json",
    ];
    let told = warned(&json(&repo.deadheat(&words)));
    assert_eq!(told, ["BenchmarkOne: one_test.go"]);
}

/// The main function of a bench target that answers as Google Benchmark does.
const BENCH: &str = r##"
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(&format!("--{name}=")));
    let filter = option("benchmark_filter").unwrap_or("all");
    if filter != "all" && !filter.contains(NAME) {
        eprintln!("Failed to match any benchmarks against regex: {filter}");
        std::process::exit(1);
    }
    if option("benchmark_list_tests") == Some("true") {
        println!("{NAME}");
        return;
    }
    let count: usize = option("benchmark_repetitions").map_or(1, |count| count.parse().unwrap());
    let rows = (0..count).map(|at| format!(
        r#"{{"name":"{NAME}","run_name":"{NAME}","run_type":"iteration","repetitions":{count},"repetition_index":{at},"threads":1,"iterations":10,"real_time":{}.0,"cpu_time":100.0,"time_unit":"ns"}}"#,
        100 + at
    ));
    let text = format!(r#"{{"context":{{}},"benchmarks":[{}]}}"#, rows.collect::<Vec<_>>().join(","));
    match option("benchmark_out") {
        Some(file) => std::fs::write(file, text).unwrap(),
        None => println!("{text}"),
    }
}
"##;

#[test]
fn a_changed_bench_target_concerns_its_rows_unless_both_sides_have_one_version() {
    needs!("git");
    let manifest = "[package]\nname = 'p'\nversion = '0.1.0'\nedition = '2021'\n\
                    [[bench]]\nname = 'one'\nharness = false\n\
                    [[bench]]\nname = 'two'\nharness = false\n";
    let lock = "version = 3\n\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\n";
    let bench = |name: &str| format!("const NAME: &str = \"{name}\";{BENCH}");
    let (one, two) = (bench("BM_One"), bench("BM_Two"));
    let data = format!("const _: &str = include_str!(\"data/words.txt\");\n{two}");
    let repo = Repo::new(&[
        ("Cargo.toml", manifest),
        ("Cargo.lock", lock),
        ("src/lib.rs", "pub fn f() {}\n"),
        ("benches/one.rs", &one),
        ("benches/two.rs", &data),
        ("benches/data/words.txt", "a\n"),
    ]);
    let other = format!("{one}// Another version.\n");
    let words = ("benches/data/words.txt", "a b\n");
    repo.commit(
        "bench",
        &[
            ("benches/one.rs", &other),
            words,
            ("src/lib.rs", "pub fn g() {}\n"),
        ],
    );
    let race = |more: &[&str]| {
        let words = ["rev", "base..bench", "--max-replicates", "2", "--json"];
        warned(&json(&repo.deadheat(&[&words, more].concat())))
    };
    let expected = ["BM_One: benches/one.rs", "BM_Two: benches/data/words.txt"];
    assert_eq!(race(&[]), expected);
    assert_eq!(race(&["--benches-from", "bench"]), [""; 0]);
    // The source of a bench target may be named like documentation. A bench target that only one
    // side has does not count as changed.
    let path = "harness = false\npath = 'benches/two.md'\n";
    let manifest = manifest.replacen("harness = false\n", path, 1);
    let with_new = format!("{manifest}[[bench]]\nname = 'new'\nharness = false\n");
    repo.commit(
        "prose",
        &[("Cargo.toml", &manifest), ("benches/two.md", &two)],
    );
    let changed = format!("{two}// Another version.\n");
    let new = bench("BM_New");
    repo.commit(
        "changed",
        &[
            ("Cargo.toml", &with_new),
            ("benches/two.md", &changed),
            ("benches/new.rs", &new),
        ],
    );
    let words = ["rev", "prose..changed", "--max-replicates", "2", "--json"];
    let told = warned(&json(&repo.deadheat(&words)));
    assert_eq!(told, ["BM_Two: benches/two.md"]);
}

#[test]
fn environments_that_the_user_names_are_compared() {
    needs!("git", "python3");
    let repo = Repo::new(&[(
        "bench_sum.py",
        "import deadheat\n@deadheat.benchmark\ndef total(): return sum(range(100))\n\
         deadheat.suite()\n",
    )]);
    // Another interpreter by what it says of itself.
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let package = package.canonicalize().unwrap();
    let facts = "{\"interpreter\": \"CPython 3.99.0 (JIT)\", \"packages\": {\"numpy\": \"9.0\"}}";
    let wrapper =
        format!("#!/bin/sh\ncase \"$1\" in -I) echo '{facts}'; exit;; esac\nexec python3 \"$@\"\n");
    repo.write("other/python3", &wrapper);
    let other = repo.path("other/python3");
    Command::new("chmod")
        .arg("+x")
        .arg(&other)
        .status()
        .unwrap();
    let race = |more: &[&str]| {
        let words = [
            "bench",
            "bench_sum.py",
            "--python",
            "python3",
            "--python",
            "other/python3",
        ];
        let short = [
            "--max-replicates",
            "2",
            "--blocks",
            "4",
            "--sample-time",
            "1ms",
        ];
        let words = [&words[..], &short, more].concat();
        repo.deadheat_with(&words, &[("PYTHONPATH", package.to_str().unwrap())])
    };
    let brief = race(&[]);
    says(
        &brief,
        0,
        &[
            "the interpreters differ",
            "CPython 3.99.0 (JIT) on the candidate's",
        ],
    );
    assert!(!brief.stdout.contains("numpy"), "{}", brief.stdout);
    says(&race(&["-v"]), 0, &["numpy 9.0 in the candidate only"]);
}
