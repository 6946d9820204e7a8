//! `deadheat compare`: which benchmarks are the same, which files the same recording, and what the
//! sides are called.

mod common;

use std::fs;

use common::{Finished, Track};
use serde_json::{Value, json};

/// Runs of `go test -bench`: each with its package and its benchmarks, as name and nanoseconds.
fn go(runs: &[(&str, &[(&str, f64)])]) -> String {
    let mut text = String::new();
    for (package, benchmarks) in runs {
        text += &format!("goos: linux\ngoarch: amd64\npkg: {package}\n");
        for (name, time) in *benchmarks {
            text += &format!("Benchmark{name}\t100\t{time} ns/op\n");
        }
        text += "PASS\n";
    }
    text
}

/// An entry of JMH with these forks of two iterations each, around a time.
fn jmh(benchmark: &str, mode: &str, threads: u32, forks: &[f64]) -> Value {
    let fork = |time: &f64| json!([time, time * 1.01]);
    let forks: Vec<Value> = forks.iter().map(fork).collect();
    let unit = if mode == "thrpt" { "ops/s" } else { "ns/op" };
    json!({
        "jmhVersion": "1.37", "benchmark": benchmark, "mode": mode, "threads": threads,
        "params": {"n": "3"},
        "primaryMetric": {"score": 1.0, "scoreUnit": unit, "rawData": forks},
    })
}

/// A case of BenchmarkDotNet.
fn dotnet(namespace: &str, job: &str, time: f64) -> Value {
    json!({
        "DisplayInfo": format!("Suite.A: {job}"), "Namespace": namespace, "Type": "Suite",
        "Method": "A", "Parameters": "N=3", "Statistics": {"OriginalValues": [time, time * 1.01]},
    })
}

/// A result of hyperfine with these parameters.
fn hyperfine(parameters: Value, time: f64) -> Value {
    json!({"command": "make", "times": [time, time * 1.1], "parameters": parameters})
}

fn google(date: Option<&str>, times: &[f64]) -> String {
    let rows = times.iter().map(|time| {
        json!({"name": "BM", "run_name": "BM", "run_type": "iteration", "real_time": time,
               "cpu_time": time, "time_unit": "ns"})
    });
    let rows: Vec<Value> = rows.collect();
    let context = json!({"host_name": "box", "date": date});
    json!({"context": context, "benchmarks": rows}).to_string()
}

struct Compared {
    done: Finished,
    answer: Value,
}

impl Track {
    fn compare(&self, words: &[&str]) -> Finished {
        self.run(&[&["compare"], words].concat())
    }

    /// The table and the JSON of a comparison that ends well.
    #[track_caller]
    fn compared(&self, words: &[&str]) -> Compared {
        let done = self.compare(words);
        done.succeeds();
        let answer = self.compare(&[words, &["--json"]].concat()).json();
        Compared { done, answer }
    }
}

impl Compared {
    fn names(&self) -> Vec<&str> {
        let rows = self.answer["benchmarks"].as_array().unwrap().iter();
        rows.map(|row| row["benchmark"].as_str().unwrap()).collect()
    }

    /// What is left out, with its reason.
    fn left_out(&self) -> Vec<(&str, &str)> {
        let all = self.answer["left_out"].as_array();
        let text = |one: &'_ Value| -> &str { one.as_str().unwrap().to_owned().leak() };
        let all = all.into_iter().flatten();
        all.map(|one| (text(&one["benchmark"]), text(&one["reason"])))
            .collect()
    }

    /// The codes of all warnings, of the whole and of its rows, each once.
    fn codes(&self) -> Vec<String> {
        let of = |value: &Value| value["warnings"].as_array().cloned().unwrap_or_default();
        let rows = self.answer["benchmarks"].as_array().unwrap().iter();
        let all = of(&self.answer).into_iter().chain(rows.flat_map(of));
        let mut codes: Vec<String> = all
            .map(|one| one["code"].as_str().unwrap().to_owned())
            .collect();
        codes.sort();
        codes.dedup();
        codes
    }

    #[track_caller]
    fn warns(&self, code: &str) {
        assert!(
            self.codes().iter().any(|one| one == code),
            "{:?}",
            self.codes()
        );
    }

    #[track_caller]
    fn shows(&self, words: &[&str]) {
        for word in words {
            let text = &self.done.stdout;
            assert!(text.contains(word), "'{word}' is missing: {text}");
        }
    }

    #[track_caller]
    fn has_no_change(&self, row: usize) {
        let row = &self.answer["benchmarks"][row];
        assert_eq!(row["change"], json!(0.0), "{row:#}");
        let nothing = [&row["ci"], &row["verdict"], &row["p_value"]];
        assert!(nothing.iter().all(|it| it.is_null()), "{row:#}");
    }
}

#[test]
fn one_more_benchmark_on_a_side_parts_no_other() {
    let track = Track::new();
    let list = |all: &[Value]| json!(all).to_string();
    let dotnet_file = |all: &[Value]| json!({"Title": "T", "Benchmarks": all}).to_string();
    let hyperfine_file = |all: &[Value]| json!({"results": all}).to_string();
    let table = |contenders: &[&str]| {
        let mut text = "benchmark,contender,wall_ns,iterations\n".to_owned();
        for contender in contenders {
            for time in [100, 110, 105] {
                text += &format!("sort,{contender},{time},1\n");
            }
        }
        text
    };
    let jmh = |benchmark, mode, threads| jmh(benchmark, mode, threads, &[1.0]);
    let (main, dev) = (json!({"branch": "main"}), json!({"branch": "dev"}));
    let contender = |name: &str| format!("contender: {name}\nBenchmarkSort\t1\t5 ns/op\n");
    for (old, new, paired, only) in [
        (
            go(&[("a.org/a", &[("Parse-8", 5.0)])]),
            go(&[
                ("a.org/a", &[("Parse-8", 9.0)]),
                ("a.org/b", &[("Parse-8", 3.0)]),
            ]),
            "a.org/a.Parse-8",
            "a.org/b.Parse-8",
        ),
        (
            go(&[("a", &[("Parse-8", 5.0)])]),
            go(&[("a", &[("Parse-4", 3.0), ("Parse-8", 9.0)])]),
            "Parse-8",
            "Parse-4",
        ),
        (
            contender("x"),
            contender("x") + &contender("y"),
            "Sort (contender=x)",
            "Sort (contender=y)",
        ),
        (
            list(&[jmh("a.b.Sorting.sort", "avgt", 1)]),
            list(&[
                jmh("c.Sorting.sort", "avgt", 1),
                jmh("a.b.Sorting.sort", "avgt", 1),
            ]),
            "a.b.Sorting.sort (n=3)",
            "c.Sorting.sort (n=3)",
        ),
        (
            list(&[jmh("a.Hash.crc", "avgt", 1)]),
            list(&[jmh("a.Hash.crc", "thrpt", 1), jmh("a.Hash.crc", "avgt", 1)]),
            "Hash.crc:avgt (n=3)",
            "Hash.crc:thrpt (n=3)",
        ),
        (
            list(&[jmh("a.Hash.crc", "avgt", 4)]),
            list(&[jmh("a.Hash.crc", "avgt", 1), jmh("a.Hash.crc", "avgt", 4)]),
            "Hash.crc (n=3, threads=4)",
            "Hash.crc (n=3, threads=1)",
        ),
        (
            dotnet_file(&[dotnet("N", "DefaultJob", 100.0)]),
            dotnet_file(&[
                dotnet("M", "DefaultJob", 90.0),
                dotnet("N", "DefaultJob", 180.0),
            ]),
            "N.Suite.A (N=3)",
            "M.Suite.A (N=3)",
        ),
        (
            dotnet_file(&[dotnet("N", "DefaultJob", 100.0)]),
            dotnet_file(&[
                dotnet("N", "Server(Server=True)", 90.0),
                dotnet("N", "DefaultJob", 180.0),
            ]),
            "Suite.A (N=3, job=DefaultJob)",
            "Suite.A (N=3, job=Server)",
        ),
        (
            hyperfine_file(&[hyperfine(main.clone(), 1.0)]),
            hyperfine_file(&[hyperfine(dev, 2.0), hyperfine(main, 1.8)]),
            "make [branch=main]",
            "make [branch=dev]",
        ),
        (table(&["x"]), table(&["y", "x"]), "sort/x", "sort/y"),
    ] {
        track.write("old", &old);
        track.write("new", &new);
        let compared = track.compared(&["old", "new"]);
        assert_eq!(compared.names(), [paired]);
        assert_eq!(compared.left_out(), [(only, "only-in")]);
        // The other way round it is the same.
        let back = track.compared(&["new", "old"]);
        assert_eq!(back.names(), [paired]);
    }
}

#[test]
fn a_gate_sees_what_got_slower_beside_a_new_package() {
    let track = Track::new();
    for number in 1..=6u32 {
        let drift = f64::from(number) * 0.1;
        let old: (&str, &[_]) = ("e.org/a", &[("Parse-8", 50.0 + drift)]);
        let new: (&str, &[_]) = ("e.org/a", &[("Parse-8", 90.0 + drift)]);
        let added: (&str, &[_]) = ("e.org/b", &[("Parse-8", 33.0 + drift)]);
        track.write(&format!("o{number}.txt"), go(&[old]));
        track.write(&format!("n{number}.txt"), go(&[new, added]));
    }
    let files = |side: &str| -> Vec<String> { (1..=6).map(|n| format!("{side}{n}.txt")).collect() };
    let words = [files("o"), vec!["--against".to_owned()], files("n")].concat();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend(["--fail-on", "slower,inconclusive"]);
    track.compare(&words).fails_with(1, &[]);
}

#[test]
fn what_only_the_sides_differ_in_is_not_the_same_work() {
    let track = Track::new();
    let list = |one: Value| json!([one]).to_string();
    let dotnet = |namespace, job| json!({"Benchmarks": [dotnet(namespace, job, 1.0)]}).to_string();
    let branch =
        |name: &str| json!({"results": [hyperfine(json!({"branch": name}), 1.0)]}).to_string();
    let jmh = |benchmark, mode, threads| list(jmh(benchmark, mode, threads, &[1.0]));
    for (old, new, name, why) in [
        (
            go(&[("a", &[("Sort-4", 5.0)])]),
            go(&[("a", &[("Sort-8", 5.0)])]),
            "Sort",
            "'old' ran it on 4 threads, 'new' on 8",
        ),
        (
            go(&[("a", &[("Sort", 5.0)])]),
            go(&[("a", &[("Sort-8", 5.0)])]),
            "Sort",
            "'old' ran it on 1 thread, 'new' on 8",
        ),
        (
            go(&[("a", &[("Sort-8", 5.0)])]),
            go(&[("b", &[("Sort-8", 5.0)])]),
            "Sort-8",
            "'old' ran this benchmark with package=a, 'new' with package=b",
        ),
        (
            jmh("a.X.f", "avgt", 1),
            jmh("a.X.f", "avgt", 4),
            "X.f (n=3)",
            "'old' ran this benchmark with threads=1, 'new' with threads=4",
        ),
        (
            jmh("a.X.f", "avgt", 1),
            jmh("a.X.f", "ss", 1),
            "X.f (n=3)",
            "'old' ran this benchmark with mode=avgt, 'new' with mode=ss",
        ),
        (
            dotnet("N", "DefaultJob"),
            dotnet("N", "Server(Server=True)"),
            "Suite.A (N=3)",
            "'old' ran this benchmark with job=DefaultJob, 'new' with job=Server",
        ),
        (
            branch("main"),
            branch("dev"),
            "make",
            "'old' ran this benchmark with branch=main, 'new' with branch=dev",
        ),
    ] {
        track.write("old", &old);
        track.write("new", &new);
        let compared = track.compared(&["old", "new"]);
        assert_eq!(compared.left_out(), [(name, "not-alike")]);
        compared.shows(&["unmatched", why]);
        // A gate cannot let pass what nobody compared.
        let gated = track.compare(&["old", "new", "--fail-on", "slower"]);
        gated.fails_with(4, &["no benchmark in common"]);
    }
}

#[test]
fn sides_may_differ_in_machine_commit_and_runtime() {
    let track = Track::new();
    let go = |commit: &str, time: f64| {
        format!("commit: {commit}\ncpu: {commit}\nBenchmarkSort-8\t1\t{time} ns/op\n")
    };
    let dotnet = |job, time| json!({"Benchmarks": [dotnet("N", job, time)]}).to_string();
    for (old, new, name) in [
        (go("abc", 5.0), go("def", 6.0), "Sort-8"),
        (
            dotnet("Job-ABCDEF", 5.0),
            dotnet("Job-UVWXYZ", 6.0),
            "Suite.A (N=3)",
        ),
        (
            dotnet(".NET 8.0", 5.0),
            dotnet(".NET 9.0", 6.0),
            "Suite.A (N=3)",
        ),
    ] {
        track.write("old", &old);
        track.write("new", &new);
        assert_eq!(track.compared(&["old", "new"]).names(), [name]);
    }
    // What a filter took the header from may be of any package.
    track.write("old", go("abc", 5.0));
    track.write("new", "BenchmarkSort-8\t1\t6 ns/op\n");
    assert_eq!(track.compared(&["old", "new"]).names(), ["Sort-8"]);
}

#[test]
fn names_that_only_their_order_tells_apart_are_told() {
    let track = Track::new();
    let twice = |time: f64| {
        json!([
            jmh("a.X.f", "avgt", 1, &[time]),
            jmh("a.X.f", "avgt", 1, &[2.0 * time])
        ])
    };
    track.write("old.json", twice(1.0).to_string());
    track.write("new.json", twice(1.1).to_string());
    let command = |time: f64| json!({"command": "make", "times": [time, time + 0.1]});
    let commands = |time: f64| json!({"results": [command(time), command(2.0 * time)]});
    track.write("old", commands(1.0).to_string());
    track.write("new", commands(1.1).to_string());
    for (words, name) in [
        (["old.json", "new.json"], "X.f (n=3) #2"),
        (["old", "new"], "make #2"),
    ] {
        let compared = track.compared(&words);
        compared.warns("repeated-names");
        compared.shows(&[&format!("'{name}'"), "Only their order pairs them"]);
    }
}

#[test]
fn runs_appended_to_a_file_are_recordings_and_so_are_forks() {
    let track = Track::new();
    let runs = |time: f64| -> String {
        let run = |number: u32| time * (1.0 + 1e-3 * f64::from(number * 7 % 10));
        (0..10)
            .map(|n| go(&[("a", &[("Sort-8", run(n))])]))
            .collect()
    };
    let forks = |time: f64| -> String {
        let forks: Vec<f64> = (0..6).map(|n| time * (1.0 + 1e-3 * f64::from(n))).collect();
        json!([jmh("a.X.f", "avgt", 1, &forks)]).to_string()
    };
    for (old, new, count) in [
        (runs(100.0), runs(110.0), 10),
        (forks(100.0), forks(110.0), 6),
    ] {
        track.write("old", old);
        track.write("new", new);
        let compared = track.compared(&["old", "new"]);
        compared.shows(&[&format!("{count} recordings"), "slower"]);
        let row = &compared.answer["benchmarks"][0];
        assert_eq!(
            (&row["verdict"], &row["replicates"]),
            (&json!("slower"), &json!(2 * count))
        );
        // One end of a file against the other says nothing of the order.
        assert!(!compared.codes().contains(&"recorded-in-order".to_owned()));
    }
    // Three forks a side are too few, and packages of one run are not recordings.
    track.write(
        "old",
        json!([jmh("a.X.f", "avgt", 1, &[1.0, 1.1, 1.2])]).to_string(),
    );
    track.write(
        "new",
        json!([jmh("a.X.f", "avgt", 1, &[1.1, 1.2, 1.3])]).to_string(),
    );
    track
        .compared(&["old", "new"])
        .shows(&["3 recordings", "too few files"]);
    let packages = |time| go(&[("a", &[("A-8", time)]), ("b", &[("B-8", time)])]);
    track.write("old", packages(1.0));
    track.write("new", packages(1.1));
    track
        .compared(&["old", "new"])
        .shows(&["one process per side"]);
}

#[test]
fn a_recording_compared_with_itself_has_no_change() {
    let track = Track::new();
    for number in 0..6u32 {
        let time = 100.0 + f64::from(number * 7 % 11);
        track.write(
            &format!("s{number}.json"),
            google(None, &[time, time + 1.0]),
        );
    }
    track.write("go.txt", go(&[("a", &[("A-8", 5.0), ("A-8", 6.0)])]));
    track.write(
        "forks.json",
        json!([jmh("a.X.f", "avgt", 1, &[1.0, 1.1, 1.2])]).to_string(),
    );
    fs::copy(track.path("s1.json"), track.path("copy.json")).unwrap();
    // Written anew, it is the same recording.
    let value: Value = serde_json::from_slice(&fs::read(track.path("s1.json")).unwrap()).unwrap();
    track.write("pretty.json", serde_json::to_vec_pretty(&value).unwrap());
    let all = [
        "s0.json", "s1.json", "s2.json", "s3.json", "s4.json", "s5.json",
    ];
    let pooled = [&all[..], &["--against"], &all].concat();
    for words in [
        &["s1.json", "s1.json"][..],
        &["s1.json", "copy.json"],
        &["s1.json", "pretty.json"],
        &["go.txt", "go.txt"],
        &["forks.json", "forks.json"],
        &pooled,
    ] {
        let compared = track.compared(words);
        compared.has_no_change(0);
        compared.warns("same-recordings");
        compared.shows(&["equal values", "the values of both sides are equal"]);
        assert!(!compared.codes().contains(&"recorded-in-order".to_owned()));
        assert!(!compared.codes().contains(&"unpaired".to_owned()));
        let gated = track.compare(&[words, &["--fail-on", "inconclusive"]].concat());
        gated.fails_with(1, &[]);
    }
    // Two families of one file are two measurements.
    let two = json!({"context": {}, "benchmarks": [
        {"name": "copy", "run_type": "iteration", "real_time": 1.0, "cpu_time": 1.0, "time_unit": "ns"},
        {"name": "move", "run_type": "iteration", "real_time": 2.0, "cpu_time": 2.0, "time_unit": "ns"},
    ]});
    track.write("two.json", two.to_string());
    let families = track.compared(&["filters", "two.json", "copy", "move"]);
    assert_eq!(families.answer["benchmarks"][0]["change"], json!(1.0));
}

#[test]
fn a_recording_counts_once_however_often_it_is_there() {
    let track = Track::new();
    for number in 0..6u32 {
        let time = f64::from(number * 7 % 11);
        track.write(
            &format!("o/{number}.json"),
            google(None, &[100.0 + time, 101.0]),
        );
        track.write(
            &format!("n/{number}.json"),
            google(None, &[110.0 + time, 111.5]),
        );
    }
    fs::copy(track.path("o/1.json"), track.path("o/7.json")).unwrap();
    let copied = track.compared(&["o", "n"]);
    copied.warns("copied-recordings");
    copied.shows(&["'o/7.json'", "counts once"]);
    assert_eq!(copied.answer["benchmarks"][0]["replicates"], json!(12));
    fs::remove_file(track.path("o/7.json")).unwrap();
    fs::copy(track.path("o/1.json"), track.path("n/7.json")).unwrap();
    let shared = track.compared(&["o", "n"]);
    shared.warns("shared-recordings");
    shared.shows(&["'n/7.json'", "the sides share recordings"]);
    // One file under six names is one recording, of which no verdict comes.
    let one = fs::read(track.path("o/1.json")).unwrap();
    for number in 0..6 {
        track.write(&format!("o/{number}.json"), &one);
    }
    let once = track.compared(&["o", "n"]);
    assert!(once.answer["benchmarks"][0]["verdict"].is_null());
}

#[test]
fn a_baseline_that_criterion_copied_is_told() {
    let track = Track::new();
    let set = |benchmark: &str, set: &str, time: f64| {
        let folder = format!("criterion/{benchmark}/{set}");
        let id = json!({"group_id": benchmark, "full_id": benchmark});
        track.write(&format!("{folder}/benchmark.json"), id.to_string());
        let sample = json!({"iters": [1.0, 2.0, 3.0], "times": [time, 2.1 * time, 3.2 * time]});
        track.write(&format!("{folder}/sample.json"), sample.to_string());
    };
    for (name, base) in [("parse", 100.0), ("print", 50.0)] {
        set(name, "base", base);
        set(name, "new", base);
    }
    let compared = track.compared(&["criterion"]);
    compared.has_no_change(0);
    compared.has_no_change(1);
    compared.warns("same-recordings");
    compared.shows(&["--save-baseline NAME"]);
    // One of them was measured since.
    set("print", "new", 60.0);
    let compared = track.compared(&["criterion"]);
    compared.has_no_change(0);
    let change = compared.answer["benchmarks"][1]["change"].as_f64().unwrap();
    assert!((change - 0.2).abs() < 1e-9, "{change}");
    compared.shows(&["in 1 of 2 rows"]);
}

#[test]
fn dates_in_files_decide_who_came_first() {
    let track = Track::new();
    let write = |order: &dyn Fn(u32, u32) -> u32| {
        for number in 0..6u32 {
            for (side, name) in ["o", "n"].iter().enumerate() {
                let minute = order(side as u32, number);
                let date = format!("2026-03-01T10:{minute:02}:00+00:00");
                let time = 100.0 + f64::from(number * 7 % 11) + 0.5 * side as f64;
                track.write(
                    &format!("{name}{number}.json"),
                    google(Some(&date), &[time]),
                );
            }
        }
    };
    let files = |side: &str| -> Vec<String> { (0..6).map(|n| format!("{side}{n}.json")).collect() };
    let words = [files("o"), vec!["--against".to_owned()], files("n")].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let told = || {
        let codes = track.compared(&words).codes();
        let order = ["in-turns", "recorded-in-order", "unpaired"];
        let told = order
            .iter()
            .filter(|one| codes.contains(&(**one).to_owned()));
        told.copied().collect::<Vec<_>>()
    };
    // The files are written in turns whatever their dates are.
    write(&|side, number| 10 * side + number);
    assert_eq!(told(), ["recorded-in-order", "unpaired"]);
    write(&|side, number| 2 * number + side);
    assert_eq!(told(), ["in-turns"]);
    write(&|_, number| number);
    assert_eq!(told(), ["unpaired"]);
    write(&|_, _| 0);
    assert_eq!(told(), ["unpaired"]);
}

#[test]
fn sides_are_called_by_what_tells_them_apart() {
    let track = Track::new();
    for (side, time) in [
        ("v17", 1.0),
        ("v18", 2.0),
        ("2026-03-01", 3.0),
        ("2026-03-02", 4.0),
    ] {
        for number in 1..=2 {
            let text = google(None, &[time + f64::from(number), 5.0]);
            track.write(&format!("{side}/{number}.json"), &text);
            track.write(&format!("rf{side}_{number}.json"), &text);
        }
    }
    let names = |words: &[&str]| -> Vec<String> {
        let answer = track.compared(words).answer;
        let sides = answer["sides"].as_array().unwrap().iter();
        sides
            .map(|side| side["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&["v17/", "v18"]), ["v17", "v18"]);
    assert_eq!(
        names(&["2026-03-01", "2026-03-02"]),
        ["2026-03-01", "2026-03-02"]
    );
    let listed = [
        "v17/1.json",
        "v17/2.json",
        "--against",
        "v18/1.json",
        "v18/2.json",
    ];
    assert_eq!(names(&listed), ["v17", "v18"]);
    let files = [
        "rfv17_1.json",
        "rfv17_2.json",
        "--against",
        "rfv18_1.json",
        "rfv18_2.json",
    ];
    assert_eq!(names(&files), ["rfv17", "rfv18"]);
}
