//! `deadheat compare` from outside: files, folders, pipes and programs.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Finished, Track, said, text};
use deadheat_testing::needs;
use serde_json::Value;

/// Files that the tools themselves wrote.
fn golden(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder
        .join("../deadheat-import/tests/golden/saved")
        .join(name);
    assert!(path.exists(), "{}", path.display());
    text(&path).to_owned()
}

const OLD: &str = "google_benchmark/1.7.1_repetitions_old.json";
const NEW: &str = "google_benchmark/1.7.1_repetitions_new.json";

/// Ten rows a benchmark, of what a family takes in nanoseconds.
fn google(benchmarks: &[(&str, f64)]) -> String {
    let mut rows = Vec::new();
    for (name, time) in benchmarks {
        for row in 0..10u32 {
            let time = time * (1.0 + 1e-4 * f64::from(row * 7 % 10));
            rows.push(format!(
                r#"{{"name":"{name}","run_name":"{name}","run_type":"iteration","real_time":{time},"cpu_time":{time},"time_unit":"ns","hits":7}}"#
            ));
        }
    }
    format!(
        r#"{{"context":{{"host_name":"host"}},"benchmarks":[{}]}}"#,
        rows.join(",\n")
    )
}

/// A folder with `old.json`, and `new.json`, where `slow` takes half as much
/// again and `fast` a third less; and folders `old` and `new` with six such
/// files each.
fn track() -> Track {
    let track = Track::new();
    for (side, [slow, fast]) in [("old", [200.0, 300.0]), ("new", [300.0, 200.0])] {
        let recorded = |speed: f64| {
            let times = [("same", 100.0), ("slow", slow), ("fast", fast)];
            google(&times.map(|(name, time)| (name, time * speed)))
        };
        fs::write(track.path(&format!("{side}.json")), recorded(1.0)).unwrap();
        fs::create_dir(track.path(side)).unwrap();
        for file in 1..=6 {
            let text = recorded(1.0 + 1e-3 * f64::from(file));
            fs::write(track.path(&format!("{side}/{file}.json")), text).unwrap();
        }
    }
    track
}

impl Track {
    fn compare(&self, words: &[&str]) -> Finished {
        self.run(&[&["compare"], words].concat())
    }

    /// Runs a line of a shell, in which `$deadheat` is the program.
    fn shell(&self, line: &str) -> Finished {
        let mut shell = Command::new("bash");
        shell
            .args(["-c", line])
            .current_dir(self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("DEADHEAT_CALIBRATION", "")
            .env("deadheat", env!("CARGO_BIN_EXE_deadheat"));
        Finished::from(shell.output().unwrap())
    }
}

/// The rows of the table, by the first word of each.
fn rows(done: &Finished) -> Vec<&str> {
    let lines = done
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("  benchmark"));
    let table = lines.skip(1).take_while(|line| !line.is_empty());
    table
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[track_caller]
fn shows(done: &Finished, words: &[&str]) {
    for word in words {
        assert!(done.stdout.contains(word), "'{word}' is missing: {done:?}");
    }
}

/// Benchmark and verdict of a JSON answer.
fn verdicts(answer: &Value) -> Vec<(&str, &str)> {
    let all = answer["benchmarks"].as_array().unwrap().iter();
    let word = |one: &'_ Value, name: &str| one[name].as_str().unwrap_or("none").to_owned();
    all.map(|one| {
        let (name, verdict) = (word(one, "benchmark"), word(one, "verdict"));
        (&*name.leak(), &*verdict.leak())
    })
    .collect()
}

#[test]
fn two_files_are_set_side_by_side_with_the_mode_or_without() {
    let track = track();
    let plain = track.compare(&["old.json", "new.json"]);
    plain.succeeds();
    assert_eq!(rows(&plain), ["same", "slow", "fast", "geometric"]);
    shows(
        &plain,
        &[
            "old.json: Google Benchmark on host",
            "one process per side",
            "3 without a verdict",
            "six files per side",
        ],
    );
    let named = track.compare(&["-a", "--no-utest", "benchmarks", "old.json", "new.json"]);
    assert_eq!(named.succeeds().stdout, plain.stdout);
    let again = track.compare(&["old.json", "new.json", "old.json"]);
    let compared = rows(again.succeeds()).len();
    assert!(compared >= 6, "{again:?}");
}

#[test]
fn families_of_one_file_and_of_two_meet_under_one_name() {
    let track = Track::new();
    let text = google(&[
        ("copy/8", 10.0),
        ("copy/16", 20.0),
        ("move/8", 20.0),
        ("move/16", 20.0),
    ]);
    fs::write(track.path("a.json"), &text).unwrap();
    fs::write(track.path("b.json"), &text).unwrap();
    for words in [
        &["filters", "a.json", "copy", "move"][..],
        &["benchmarksfiltered", "a.json", "copy", "b.json", "move"],
    ] {
        let done = track.compare(words);
        done.succeeds();
        shows(
            &done,
            &[
                "[copy vs. move]/8",
                "[copy vs. move]/16",
                "+100",
                "one process per side",
            ],
        );
    }
    // An expression with signs of its own, and the text put in its place.
    let done = track.compare(&["filters", "a.json", "^copy/(8)$", "^move/(8)$"]);
    shows(done.succeeds(), &["[^copy/(8)$ vs. ^move/(8)$]"]);
    track
        .compare(&["filters", "a.json", "copy", "walk"])
        .fails_with(
            2,
            &["filter 'walk' matches no benchmark of a.json", "'copy/8'"],
        );
    track
        .compare(&["filters", "a.json", "(", "copy"])
        .fails_with(2, &["filter '('", "regular expression"]);
    track
        .compare(&["filters", "a.json", "copy"])
        .fails_with(2, &["FILE OLD NEW"]);
}

#[test]
fn a_folder_stands_for_its_files_and_so_do_the_words_before_and_behind_against() {
    let track = track();
    let folders = track.compare(&["old", "new"]);
    shows(
        folders.succeeds(),
        &["1 faster, 1 slower", "old (old/1.json and 5 more)"],
    );
    let line = "$deadheat compare old/*.json --against new/*.json";
    let named = track.shell(line);
    assert_eq!(named.succeeds().stdout, folders.stdout);
    let mixed = track.shell("$deadheat compare old --against new/[1-5].json new.json");
    shows(mixed.succeeds(), &["1 faster, 1 slower"]);
    // Hidden files and what lies below are none of them.
    fs::write(track.path("old/.hidden"), "no results").unwrap();
    fs::create_dir(track.path("old/below")).unwrap();
    let again = track.compare(&["old", "new"]);
    assert_eq!(again.succeeds().stdout, folders.stdout);
    track
        .compare(&["--against", "new"])
        .fails_with(2, &["the baseline"]);
    track
        .compare(&["old"])
        .fails_with(2, &["old is the only file"]);
    fs::write(track.path("old/notes.txt"), "no results").unwrap();
    track
        .compare(&["old", "new"])
        .fails_with(4, &["old/notes.txt"]);
}

#[test]
fn files_recorded_in_turns_are_told_apart_where_the_machine_drifts() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/in_turns");
    let side = |name: &str| text(&golden.join(name)).to_owned();
    let track = Track::new();
    let answer = track.compare(&[&side("may"), &side("jun"), "--json"]);
    let answer = answer.succeeds().json();
    let told = verdicts(&answer);
    assert_eq!(
        told,
        [("BM_sort/1024", "faster"), ("BM_sort/4096", "equivalent")]
    );
    assert_eq!(answer["benchmarks"][0]["warnings"][0]["code"], "in-turns");
    assert_eq!(answer["benchmarks"][0]["provisional"], true);
}

#[test]
fn several_files_a_side_are_its_processes() {
    let track = Track::new();
    let mut words: Vec<String> = Vec::new();
    for (side, time) in [("old", 100.0), ("new", 110.0)] {
        words.push(format!("--{side}"));
        for file in 0..6 {
            let name = format!("{side}-{file}.json");
            let time = time * (1.0 + 1e-3 * f64::from(file));
            fs::write(track.path(&name), google(&[("a", time), ("b", time)])).unwrap();
            words.push(name);
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let json = track.compare(&[&words[..], &["--json"]].concat());
    let answer = json.succeeds().json();
    assert_eq!(verdicts(&answer), [("a", "slower"), ("b", "slower")]);
    assert_eq!(answer["benchmarks"][0]["replicates"], 12, "{answer:#}");
    let table = track.compare(&words);
    shows(table.succeeds(), &["geometric mean", "slower"]);
    track.compare(&words[..7]).fails_with(2, &["--new"]);
}

#[test]
fn standard_input_pipes_and_packed_files_are_read() {
    let track = track();
    let expected = track.compare(&["old.json", "new.json"]);
    let table = |done: &Finished| {
        let start = done
            .stdout
            .find("  benchmark")
            .unwrap_or_else(|| panic!("{done:?}"));
        let words = done.stdout[start..].lines().skip(1);
        words
            .take_while(|line| !line.is_empty())
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    for line in [
        "$deadheat compare - new.json < old.json",
        "cat old.json | $deadheat compare - new.json",
        "$deadheat compare <(cat old.json) <(cat new.json)",
        "gzip -k old.json; $deadheat compare old.json.gz new.json",
        "gzip -c new.json | $deadheat compare old.json -",
    ] {
        let done = track.shell(line);
        assert_eq!(table(done.succeeds()), table(&expected), "{line}");
    }
    let packed = fs::read(track.path("new.json")).unwrap();
    // A frame of one raw block: what needs no packer.
    let mut zstd = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    zstd.extend((packed.len() as u32).to_le_bytes());
    zstd.extend(
        ((packed.len() as u32) << 3 | 1)
            .to_le_bytes()
            .into_iter()
            .take(3),
    );
    zstd.extend(&packed);
    fs::write(track.path("new.json.zst"), zstd).unwrap();
    let done = track.compare(&["old.json", "new.json.zst"]);
    assert_eq!(table(done.succeeds()), table(&expected));
    // Named twice it is read once.
    let both = track.shell("$deadheat compare - - < old.json");
    shows(both.succeeds(), &["same", "slow", "fast"]);
}

#[test]
fn every_tool_gets_a_table() {
    let track = Track::new();
    for (old, new, benchmark) in [
        (
            "hyperfine/old_1.20.json",
            "hyperfine/new_1.20.json",
            "sleep 0.005",
        ),
        (
            "pyperf/old_2.10.json",
            "pyperf/new_2.10.json",
            "sort numbers",
        ),
        (
            "pytest_benchmark/old_5.3.json",
            "pytest_benchmark/new_5.3.json",
            "test_join",
        ),
        (
            "jmh/old.json",
            "jmh/new.json",
            "Sorting.sort (length=64, order=random)",
        ),
        ("triton/old.csv", "triton/new.csv", "Triton (size=4096)"),
        ("nvbench/old.json", "nvbench/new.json", "copy (Size=256)"),
        ("mitata/old_1.0.34.json", "mitata/new_1.0.34.json", "sized"),
        ("vitest/old_4.1.12.json", "vitest/new_4.1.12.json", "words"),
        (
            "tinybench/old_6.2.5.json",
            "tinybench/new_6.2.5.json",
            "mix",
        ),
        (
            "bench_node/ops_0.15.0.json",
            "bench_node/new_0.15.0.json",
            "mix",
        ),
        ("go/old.txt", "go/new.txt", "Sort"),
        (
            "benchmark_dotnet/old.json",
            "benchmark_dotnet/new.json",
            "Sort",
        ),
        (OLD, NEW, "sum/64"),
        (
            "google_benchmark/1.9.5_aggregates_only.json",
            "google_benchmark/1.9.5_repetitions_new.json",
            "sum/256",
        ),
        (
            "google_benchmark/1.7.1_single_old.json",
            "google_benchmark/1.7.1_microseconds_new.json",
            "micro/real_time",
        ),
    ] {
        let (old, new) = (golden(old), golden(new));
        let done = track.compare(&[&old, &new]);
        let failed = old.contains("1.9.5") || done.stdout.contains("failed");
        assert_eq!(done.code, Some(if failed { 3 } else { 0 }), "{done:?}");
        shows(&done, &[benchmark, "  benchmark"]);
        assert!(rows(&done).len() > 1, "{done:?}");
        for words in [
            &["--format", "markdown"][..],
            &["--format", "csv"],
            &["--figures"],
        ] {
            let shaped = track.compare(&[&[&old[..], &new][..], words].concat());
            assert_eq!(shaped.code, done.code, "{shaped:?}");
            shows(&shaped, &[benchmark.split(' ').next().unwrap()]);
        }
    }
}

#[test]
fn a_folder_of_criterion_holds_two_recordings() {
    let track = Track::new();
    for version in ["0.2", "0.3", "0.5", "0.8"] {
        let folder = golden(&format!("criterion/{version}"));
        let done = track.compare(&[&folder, "--baseline", "main"]);
        shows(done.succeeds(), &["main", "new", "plain", "sum/fold/64"]);
        let other = track.compare(&[&folder, "--baseline", "mian"]);
        other.fails_with(4, &["mian", "main"]);
        // The same by name.
        let named = track.compare(&[&folder, "main"]);
        assert_eq!(named.succeeds().stdout, done.stdout);
        let named = track.compare(&[&folder, "main", "new"]);
        assert_eq!(named.succeeds().stdout, done.stdout);
        track
            .compare(&[&folder, "main", "mian"])
            .fails_with(4, &["mian", "main"]);
    }
    let (old, new) = (golden("criterion/0.3"), golden("criterion/0.5"));
    let done = track.compare(&[&old, &new]);
    shows(done.succeeds(), &["plain"]);
    track
        .compare(&[&golden(OLD), &golden(NEW), "--baseline", "main"])
        .fails_with(2, &["--baseline main", "folder of criterion"]);
    fs::create_dir(track.path("empty")).unwrap();
    track
        .compare(&["empty", "--baseline", "main"])
        .fails_with(4, &["empty"]);
    track.compare(&["empty", "empty"]).fails_with(4, &["empty"]);
}

/// A JSON answer by the published schema, as far as that can be told without
/// a validator: every field that it requires, and no word it does not know.
#[track_caller]
fn follows(schema: &Value, root: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.trim_start_matches('#');
        let target = root
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{reference}"));
        return follows(target, root, value, place);
    }
    if let Some(options) = schema["anyOf"].as_array() {
        let null = Value::from("null");
        let mut options = options.iter().filter(|option| option["type"] != null);
        if let (Some(option), None) = (options.next(), options.next()) {
            follows(option, root, value, place);
        }
    }
    if let Some(options) = schema["enum"].as_array() {
        assert!(options.contains(value), "{place}: {value}");
    }
    for field in schema["required"].as_array().into_iter().flatten() {
        let field = field.as_str().unwrap();
        assert!(
            value.get(field).is_some(),
            "{place} has no {field}: {value}"
        );
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(inside) = value.get(name).filter(|inside| !inside.is_null()) {
            follows(inner, root, inside, &format!("{place}.{name}"));
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (index, inside) in values.iter().enumerate() {
            follows(items, root, inside, &format!("{place}[{index}]"));
        }
    }
}

#[test]
fn the_json_holds_what_the_schema_promises() {
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/analysis-1.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let track = track();
    let odd = [
        golden("google_benchmark/1.8.0_odd_old.json"),
        golden("google_benchmark/1.8.0_odd_new.json"),
    ];
    for words in [
        &["old.json", "new.json"][..],
        &["old.json", "new.json", "old.json"],
        &[&odd[0], &odd[1]],
        &[
            &golden("jmh/old.json"),
            &golden("jmh/new.json"),
            "--figures",
        ],
    ] {
        let answer = track.compare(&[words, &["--json"]].concat()).json();
        follows(&schema, &schema, &answer, "answer");
        let same = track
            .compare(&[words, &["--format", "json"]].concat())
            .json();
        assert_eq!(answer, same);
        assert!(answer["benchmarks"].as_array().unwrap().len() > 1);
    }
}

#[test]
fn the_table_is_laid_out_as_asked() {
    let track = track();
    let compare = |words: &[&str]| {
        let done = track.compare(&[&["old", "new"], words].concat());
        done.succeeds();
        done
    };
    let order = |words: &[&str]| -> Vec<String> {
        let done = compare(words);
        rows(&done).iter().map(|&row| row.to_owned()).collect()
    };
    assert_eq!(order(&["--sort", "name"])[..3], ["fast", "same", "slow"]);
    assert_eq!(order(&["--sort", "change"])[..3], ["slow", "same", "fast"]);
    assert_eq!(order(&["--sort", "verdict"])[..3], ["slow", "fast", "same"]);
    let changed = order(&["--only-changed"]);
    assert!(changed.contains(&"slow".to_owned()) && !changed.contains(&"same".to_owned()));
    let filtered = compare(&["--filter", "^s"]);
    assert!(!filtered.stdout.contains("fast "), "{filtered:?}");
    let (short, long) = (compare(&[]), compare(&["--all-metrics"]));
    shows(
        &short,
        &["CPU time: 2 of 3 changed", "No change found: hits"],
    );
    shows(&long, &["CPU time: 2 of 3 changed", "0 of 3 changed"]);
    shows(
        &compare(&["-n", "before", "-n", "after"]),
        &["before (old/1.json", "after (new/1.json"],
    );
    shows(&compare(&["--metric", "cpu"]), &["same"]);
    assert!(compare(&["--color", "always"]).stdout.contains("\u{1b}["));
    let plain = compare(&["--color", "always", "--no-color"]);
    assert!(!plain.stdout.contains('\u{1b}'));
    shows(&compare(&["--format", "markdown"]), &["| `slow` |"]);
    let csv = compare(&["--format", "csv"]).stdout;
    assert!(csv.starts_with("benchmark,parameters,"), "{csv}");
    let columns = |line: &str| line.split(',').count();
    let header = columns(csv.lines().next().unwrap());
    assert!(csv.lines().all(|line| columns(line) == header), "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("slow,")), "{csv}");
}

#[test]
fn files_are_written_beside_the_table() {
    let track = track();
    let done = track.compare(&[
        "old.json",
        "new.json",
        "-d",
        "dump.json",
        "--export-markdown",
        "table.md",
        "--export-csv",
        "rows.csv",
    ]);
    done.succeeds();
    let json = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(track.path(name)).unwrap()).unwrap()
    };
    assert_eq!(json("dump.json")["schema"], "deadheat.analysis/1");
    assert!(
        fs::read_to_string(track.path("table.md"))
            .unwrap()
            .contains("slow")
    );
    // What was written is read again.
    let again = track.run(&["analyze", "rows.csv"]);
    shows(again.succeeds(), &["slow"]);
    track
        .compare(&["old.json", "new.json", "-d", "nowhere/dump.json"])
        .fails_with(2, &["--dump_to_json", "nowhere"]);
    // And so are the files of other tools.
    for (flag, file, old) in [
        ("--export-google-benchmark", "g.json", "new.json"),
        ("--export-google-baseline", "h.json", "old.json"),
    ] {
        let done = track.compare(&["old.json", "new.json", flag, file]);
        done.succeeds();
        let again = track.compare(&[old, file, "--json"]);
        let answer = again.succeeds().json();
        for one in answer["benchmarks"].as_array().unwrap() {
            assert!(one["change"].as_f64().unwrap().abs() < 1e-6, "{one:#}");
        }
    }
    for flag in [
        "--export-json",
        "--export-go",
        "--export-hdr",
        "--export-bmf",
    ] {
        // A file of one kind is not replaced by another kind.
        let file = format!("file{flag}");
        track
            .compare(&["old.json", "new.json", flag, &file])
            .succeeds();
        assert!(fs::read(track.path(&file)).unwrap().len() > 100, "{flag}");
    }
}

#[test]
fn no_file_that_is_compared_is_replaced() {
    let track = track();
    let before = fs::read(track.path("old.json")).unwrap();
    for flag in ["--export-json", "--export-csv", "--export-markdown", "-d"] {
        for file in ["old.json", "./new.json"] {
            let done = track.compare(&["old.json", "new.json", flag, file]);
            done.fails_with(2, &[file, "choose another name"]);
        }
    }
    assert_eq!(fs::read(track.path("old.json")).unwrap(), before);
}

#[test]
fn the_exit_code_tells_what_happened() {
    let track = track();
    let compare = |words: &[&str]| track.compare(&[&["old", "new"], words].concat());
    compare(&["--fail-on", "slower"]).fails_with(1, &[]);
    // Of one process a side nobody knows, which a gate may ask for.
    let single = |rule| track.compare(&["old.json", "new.json", "--fail-on", rule]);
    single("slower").fails_with(2, &["could judge no benchmark"]);
    single("inconclusive").fails_with(1, &[]);
    let fine = compare(&["--fail-on", "slower", "--filter", "fast"]);
    fine.succeeds();
    let odd = track.compare(&[
        &golden("google_benchmark/1.8.0_odd_old.json"),
        &golden("google_benchmark/1.8.0_odd_new.json"),
    ]);
    assert_eq!(odd.code, Some(3));
    shows(
        &odd,
        &[
            "no \"quoted\" input",
            "not on this machine",
            "broke in the loop",
        ],
    );
    // A name with a line in it, or a colour, stays in its row.
    shows(&odd, &["named/größe"]);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let track = track();
    let done =
        track.shell("set -o pipefail; $deadheat compare old.json new.json --all-metrics | true");
    done.succeeds();
    assert!(done.stderr.is_empty(), "{done:?}");
    let closed = track.shell("$deadheat compare old.json new.json >&-");
    assert!(!closed.stderr.contains("panicked"), "{closed:?}");
}

#[test]
fn what_cannot_be_compared_is_told_with_its_exit_code() {
    let track = track();
    let whole = fs::read(track.path("old.json")).unwrap();
    fs::write(track.path("cut.json"), &whole[..whole.len() / 2]).unwrap();
    fs::write(track.path("empty.json"), "").unwrap();
    fs::write(track.path("words.txt"), "hello").unwrap();
    fs::write(track.path("other.json"), google(&[("another", 5.0)])).unwrap();
    fs::create_dir(track.path("folder")).unwrap();
    let go = golden("go/old.txt");
    for (words, code, told) in [
        (&["old.json", "absent.json"][..], 4, &["absent.json"][..]),
        (&["absent.json", "new.json"], 4, &["absent.json"]),
        (&["folder", "new.json"], 4, &["folder"]),
        (&["old.json", "cut.json"], 4, &["cut.json:1", "benchmarks["]),
        (&["old.json", "empty.json"], 4, &["empty.json is empty"]),
        (&["old.json", "words.txt"], 4, &["words.txt"]),
        (
            &["old.json", &go],
            4,
            &["Google Benchmark", "Go", "two tools"],
        ),
        (&["old.json", "other.json"], 4, &["no benchmark in common"]),
        (
            &["old.json", "new.json", "--metric", "weight"],
            2,
            &["weight", "wall", "cpu", "hits"],
        ),
        (
            &["old.json", "new.json", "--filter", "("],
            2,
            &["'('", "regular expression"],
        ),
        (
            &["old.json"],
            2,
            &["old.json is the only file", "deadheat analyze"],
        ),
        (&[], 2, &["nothing to compare"]),
        (&["filters", "old.json"], 2, &["FILE OLD NEW"]),
        (
            &["old.json", "new.json", "-n", "a"],
            2,
            &["--name", "once for 2 sides"],
        ),
        (
            &["old.json", "new.json", "-n", "a", "-n", "a"],
            2,
            &["--name a", "differ"],
        ),
        (
            &[
                "--no-color",
                "--compat",
                "benchmarks",
                "old.json",
                "new.json",
            ],
            2,
            &["--compat must come first"],
        ),
        (&["old.json", "new.json", "--margin", "0"], 2, &["--margin"]),
        (&["old.json", "new.json", "--alpha", "0.9"], 2, &["--alpha"]),
        (&["old.json", "new.json", "--sort", "size"], 2, &["--sort"]),
    ] {
        track.compare(words).fails_with(code, told);
    }
    // A filter that fits nothing has a code of its own, whatever a gate allows.
    let words = ["old.json", "new.json", "--filter", "walk"];
    for more in [&[][..], &["--fail-on", "slower", "--allow-unjudged"]] {
        track
            .compare(&[&words[..], more].concat())
            .fails_with(6, &["--filter", "walk", "none"]);
    }
}

/// A suite of Google Benchmark, which takes twice as long where it is called
/// new. Its work is one chain of multiplications in a register: a counter on
/// the stack took 679 to 1714 ns in 40 processes each, and 1306 to 3387 ns of
/// the new one, so where a side has one process, twice as much could be the
/// faster one.
const SUITE: &str = r#"
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <cstring>
static int factor = 1;
static void steps(benchmark::State &state)
{
    const long count = state.range(0) * factor;
    unsigned long product = 1;
    for (auto _ : state) {
        for (long i = 0; i < count; i++)
            product = product * 0x9e3779b97f4a7c15 + i;
        benchmark::DoNotOptimize(product);
    }
}
BENCHMARK(steps)->Name("few")->Arg(1000);
BENCHMARK(steps)->Name("many")->Arg(3000);
int main(int argc, char **argv)
{
    if (getenv("BROKEN"))
        return 7;
    factor = strstr(argv[0], "new") ? 2 : 1;
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
"#;

/// The suite under both of its names, in a folder. It is compiled once: its
/// headers take longer than all races.
fn executables() -> Track {
    let track = Track::new();
    fs::write(track.path("suite.cc"), SUITE).unwrap();
    let compiler = Command::new("g++")
        .args(["-O1", "suite.cc", "-o", "old", "-lbenchmark", "-lpthread"])
        .current_dir(track.folder.path())
        .output();
    Finished::from(compiler.unwrap()).succeeds();
    fs::copy(track.path("old"), track.path("new")).unwrap();
    track
}

/// A race as short as it can be.
const SHORT: [&str; 8] = [
    "--json",
    "-q",
    "--max-replicates",
    "6",
    "--metric",
    "cpu",
    "--",
    "--benchmark_min_time=0.005",
];

#[test]
fn two_programs_race() {
    needs!("benchmark/benchmark.h", "g++");
    let track = executables();
    let raced = track.compare(&[&["./old", "./new", "--filter", "few"], &SHORT[..]].concat());
    let answer = raced.succeeds().json();
    assert_eq!(verdicts(&answer), [("few/1000", "slower")]);
    assert!(answer["seed"].is_number(), "{answer}");

    let absent = track.shell("BROKEN=1 $deadheat compare ./old ./new -q");
    assert_eq!(absent.code, Some(3), "{absent:?}");
    for words in [["--sort", "name"], ["-d", "x.json"]] {
        let done = track.compare(&[["./old", "./new"], words].concat());
        done.fails_with(2, &["is for saved results"]);
    }
    families_race(&track);
}

fn families_race(track: &Track) {
    for words in [
        &["filters", "./old", "few/1000", "many/3000"][..],
        &[
            "benchmarksfiltered",
            "./old",
            "few/1000",
            "./new",
            "many/3000",
        ],
    ] {
        let raced = track.compare(&[words, &SHORT[..]].concat());
        let answer = raced.succeeds().json();
        assert_eq!(verdicts(&answer).len(), 1, "{answer:#}");
        assert_eq!(verdicts(&answer)[0].1, "slower");
    }
}

#[test]
fn standard_input_that_nobody_writes_to_is_an_empty_file() {
    let track = track();
    let mut child = track.command();
    child.args(["compare", "-", "new.json"]);
    child
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"").unwrap();
    Finished::from(child.wait_with_output().unwrap()).fails_with(4, &["- is empty"]);
}

/// Six recordings of either side in turns, one of which may be slower by this factor.
fn recordings(track: &Track, slow: Option<(&str, f64)>) -> Finished {
    let mut files = [Vec::new(), Vec::new()];
    for number in 0..6_u32 {
        for (side, files) in ["old", "new"].into_iter().zip(&mut files) {
            let name = format!("{side}{number}.csv");
            let late = u32::from(side == "new");
            let scatter = 1.0 + 0.0001 * f64::from((number * 5) % 7) + 0.00005 * f64::from(late);
            let factor = slow
                .filter(|(slow, _)| *slow == name)
                .map_or(scatter, |slow| slow.1);
            let rows = [("A", 100.0), ("B", 200.0), ("C", 300.0)]
                .map(|(benchmark, ns)| format!("{benchmark},a,{}\n", ns * factor));
            let text = format!("benchmark,contender,wall_ns\n{}", rows.concat());
            std::fs::write(track.path(&name), text).unwrap();
            files.push(name);
        }
    }
    let [old, new] = files;
    let words = [
        vec!["compare".to_owned()],
        old,
        vec!["--against".to_owned()],
        new,
    ]
    .concat();
    track.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_file_that_stands_apart_from_its_side_is_named_with_the_answer_without_it() {
    for (file, factor) in [("old3.csv", 0.5), ("new0.csv", 1.8), ("new5.csv", 0.9)] {
        let done = recordings(&Track::new(), Some((file, factor)));
        let said = said(&done);
        assert!(
            said.contains(&format!("{file} differs from the other files of its side")),
            "{said}"
        );
        assert!(said.contains("in 3 of 3 rows"), "{said}");
        assert!(said.contains("Without it: 3 dead heats."), "{said}");
    }
    for slow in [None, Some(("old3.csv", 1.03))] {
        let done = recordings(&Track::new(), slow);
        assert!(!said(&done).contains("stands apart"), "{done:?}");
    }
}

#[test]
fn a_metric_whose_better_direction_is_unknown_has_no_direction_and_no_gate_passes_on_it() {
    let track = Track::new();
    for (side, value, minute) in [("old", 150, "00"), ("new", 100, "30")] {
        fs::create_dir(track.path(side)).unwrap();
        for hour in 1..=6 {
            let file = track.path(&format!("{side}/{hour}.txt"));
            let line = format!("BenchmarkX-8 \t100\t {value}.0{hour} widgets\n");
            fs::write(&file, format!("goos: linux\npkg: p\n{line}PASS\n")).unwrap();
            let mut touch = std::process::Command::new("touch");
            let date = format!("2026-01-01 0{hour}:{minute}");
            assert!(
                touch
                    .args(["-d", &date])
                    .arg(&file)
                    .status()
                    .unwrap()
                    .success()
            );
        }
    }
    let done = track.run(&["compare", "old", "new"]);
    done.succeeds();
    assert!(done.stdout.contains("unknown direction"), "{done:?}");
    assert!(!done.stdout.contains("✔"), "{done:?}");
    let words = "No verdict: it is unknown whether less or more is better";
    assert!(done.stdout.contains(words), "{done:?}");
    let gated = track.run(&["compare", "old", "new", "--fail-on", "slower"]);
    assert_eq!(gated.code, Some(2), "{gated:?}");
}
