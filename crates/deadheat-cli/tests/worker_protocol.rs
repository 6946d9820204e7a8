//! The worker protocol, spoken line by line with every worker that comes with
//! deadheat: a program in C, one in C++, and worker.py.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use common::worker::{Worker, block, prepare, program, repository};
use common::{Finished, Track};
use deadheat_testing::needs;
use serde_json::{Value, json};

/// Two contenders that say on standard error when they are called.
const IN_C: &str = r##"
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#include <stdio.h>
#include <stdlib.h>

static void *drawn(uint64_t seed)
{
    uint64_t *number = malloc(sizeof *number);
    dprintf(2, "input %llu\n", (unsigned long long)seed);
    *number = deadheat_random(&seed) % 1000;
    return number;
}

DEADHEAT_BASELINE(traced, a, .input = drawn, .drop_input = free)
{
    dprintf(2, "a %d\n", (int)*(uint64_t *)input);
}

DEADHEAT_CANDIDATE(traced, b)
{
    dprintf(2, "b %d\n", (int)*(uint64_t *)input);
}

DEADHEAT_BENCHMARK(quick) {}

DEADHEAT_MAIN();
"##;

/// The same.
const IN_CPP: &str = r##"
#define DEADHEAT_IMPLEMENTATION
#include <deadheat.h>
#include <cstdio>

static const auto traced = deadheat::benchmark("traced")
    .input([](std::uint64_t seed) {
        dprintf(2, "input %llu\n", static_cast<unsigned long long>(seed));
        return deadheat::random(seed)() % 1000;
    })
    .baseline("a", [](const auto &number) { dprintf(2, "a %d\n", static_cast<int>(number)); })
    .candidate("b", [](const auto &number) { dprintf(2, "b %d\n", static_cast<int>(number)); });

static const auto quick = deadheat::benchmark("quick").function([] {});

DEADHEAT_MAIN();
"##;

/// The same, in front of what worker.py is started by.
const IN_PYTHON: &str = r##"
def drawn(seed):
    os.write(2, f"input {seed}\n".encode())
    return random.Random(seed).randrange(1000)

def saying(word):
    return lambda number: os.write(2, f"{word} {number}\n".encode())

BENCHMARKS = {
    "traced": (drawn, {"a": saying("a"), "b": saying("b")}),
    "quick": (lambda seed: None, {"quick": lambda nothing: None}),
}

"##;

fn reference_worker() -> PathBuf {
    repository().join("examples/workers/worker.py")
}

/// worker.py with other benchmarks.
fn in_python() -> PathBuf {
    let text = fs::read_to_string(reference_worker()).unwrap();
    let at = text.find("if \"DEADHEAT_WORKER\" not in").unwrap();
    let text = format!("{}{IN_PYTHON}{}", &text[..at], &text[at..]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workers/traced.py");
    fs::write(&file, text).unwrap();
    // Writing keeps the permissions of a file that is there, not of its model.
    let permissions = fs::metadata(reference_worker()).unwrap().permissions();
    fs::set_permissions(&file, permissions).unwrap();
    file
}

/// The worker of every language.
fn workers() -> &'static [PathBuf; 3] {
    static WORKERS: OnceLock<[PathBuf; 3]> = OnceLock::new();
    WORKERS.get_or_init(|| {
        [
            program("traced-c", "gcc", &["-std=c99", "-O2"], IN_C),
            program("traced-cpp", "g++", &["-std=c++17", "-O2"], IN_CPP),
            in_python(),
        ]
    })
}

/// The lines of a log that are calls, by their first letter.
fn calls(log: &str) -> String {
    let lines = log.lines().filter(|line| !line.starts_with("input"));
    lines.map(|line| &line[..1]).collect()
}

fn inputs(log: &str) -> Vec<&str> {
    let inputs = log.lines().filter_map(|line| line.strip_prefix("input "));
    inputs.collect()
}

#[test]
fn every_worker_speaks_the_whole_protocol() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start(program, &["--benchmark_list_tests=true"]);
        let hello = worker.hello();
        assert_eq!(hello["protocol"], 2, "{hello}");
        assert!(hello["worker"].is_string(), "{hello}");
        let metrics = hello["metrics"].as_array().unwrap().len();
        assert_eq!(hello["metrics"][0], "wall_ns");
        assert_eq!(hello["metrics"][1], "cpu_ns");

        let listed = worker.ask(json!({"list": {}}), "listed");
        let listed = listed["benchmarks"].as_array().unwrap();
        let named = |name| listed.iter().find(|listed| listed["name"] == name).unwrap();
        assert_eq!(listed.len(), 2, "{listed:?}");
        assert_eq!(named("traced")["contenders"], json!(["a", "b"]));
        assert_eq!(named("quick")["contenders"], json!(["quick"]));

        let prepared = worker.ask(prepare("traced", None), "prepared");
        assert_eq!(prepared, json!({"renews_input": true}));
        let calibrate = json!({"calibrate": {"seed": 1, "least_ns": 100_000}});
        let calibrated = worker.ask(calibrate, "calibrated");
        assert!(calibrated["iterations"].as_u64().unwrap() >= 1);
        let call_ns = calibrated["call_ns"].as_array().unwrap();
        assert_eq!(call_ns.len(), 2);
        assert!(call_ns.iter().all(|ns| ns.as_f64().unwrap() > 0.0));

        let warm_up = json!({"warm_up": {"seed": 2, "order": [1, 0], "iterations": 3}});
        let rounds = worker.ask(warm_up, "warm")["rounds"].as_u64().unwrap();
        assert!((1..=50).contains(&rounds), "{rounds}");

        let before = worker.log().len();
        let values = worker.block(3, &[0, 1, 1, 0], 2);
        assert_eq!(values.len(), 4 * metrics);
        let walls: Vec<f64> = values.chunks(metrics).map(|sample| sample[0]).collect();
        assert!(walls.iter().all(|wall| *wall > 0.0), "{walls:?}");
        assert_eq!(calls(&worker.log()[before..]), "aabbbbaa");
        assert_eq!(inputs(&worker.log()[before..]), ["3"]);

        // A round that is as long as this is the only one.
        let warm_up = json!({"warm_up": {"seed": 5, "order": [1, 0], "iterations": 30_000}});
        let warm = worker.ask(warm_up, "warm");
        let before = worker.log().len();
        worker.block(5, &[0, 1, 1, 0], 2);
        let made = inputs(&worker.log()[before..]).len();
        // worker.py is short, and makes its input anew.
        let (ready, new) = match program.ends_with("traced.py") {
            true => (Value::Null, 1),
            false => (json!(5), 0),
        };
        assert_eq!(
            (&warm["rounds"], &warm["ready"], made),
            (&json!(1), &ready, new)
        );
        worker.block(5, &[0, 1, 1, 0], 2);
        let made = inputs(&worker.log()[before..]).len() - made;
        assert_eq!(made, 1, "what is ready is ready once");

        let before = worker.log().len();
        assert_eq!(
            worker.ask(json!({"smoke": {"seed": 4}}), "sound"),
            json!({})
        );
        assert_eq!(calls(&worker.log()[before..]), "ab");

        worker.say(r#"{"bye":{}}"#);
        assert_eq!(worker.hear(), None);
        let ended = worker.ended();
        assert_eq!(ended.code, Some(0), "{}", ended.log);
        assert_eq!((ended.replies, ended.batons), (0, 0));
    }
}

#[test]
fn samples_are_long_enough_for_the_fastest_contender_and_calls_without_work_are_many() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start(program, &[]);
        worker.prepare("quick", None);
        let calibrate = json!({"calibrate": {"seed": 1, "least_ns": 100_000}});
        let calibrated = worker.ask(calibrate, "calibrated");
        let iterations = calibrated["iterations"].as_u64().unwrap();
        let call_ns = calibrated["call_ns"][0].as_f64().unwrap();
        assert!(iterations as f64 * call_ns >= 99_999.0, "{calibrated}");
        assert!(iterations > 10, "{calibrated}");
    }
}

#[test]
fn one_contender_alone_is_number_zero() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start(program, &[]);
        worker.prepare("traced", Some("b"));
        worker.block(1, &[0, 0], 1);
        assert_eq!(calls(&worker.log()), "bb");
    }
}

#[test]
fn unrecorded_turns_have_calls_of_their_own_number_and_no_values() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start(program, &[]);
        let width = worker.hello()["metrics"].as_array().unwrap().len();
        worker.ask(prepare("traced", None), "prepared");
        let request = block(1, &json!([1, 0, 0, 1]), 3, 2, 1);
        let values = worker.ask(request, "block")["values"].clone();
        assert_eq!(values.as_array().unwrap().len(), 2 * width);
        assert_eq!(calls(&worker.log()), "baaaabbb");
    }
}

#[test]
fn the_same_seed_gives_two_processes_the_same_input_and_another_seed_another() {
    needs!("g++", "python3");
    for program in workers() {
        let drawn = |seeds: &[u64]| -> Vec<String> {
            let mut worker = Worker::start(program, &[]);
            worker.prepare("traced", Some("a"));
            for seed in seeds {
                worker.block(*seed, &[0], 1);
            }
            let log = worker.ended().log;
            let called = log.lines().filter(|line| line.starts_with("a "));
            called.map(str::to_owned).collect()
        };
        let most = (1 << 53) - 1;
        let first = drawn(&[1, 2, 3, 4, most, 1]);
        assert_eq!(drawn(&[1, 2, 3, 4, most, 1]), first);
        assert_eq!(first[0], first[5]);
        let mut different = first[..5].to_vec();
        different.sort();
        different.dedup();
        assert!(different.len() > 2, "{different:?}");
    }
}

/// The same numbers in every run of the tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Plays the other process of a block: keeps the rules for all turns that are
/// not the worker's, and says in its log when those are.
fn play_the_peer(worker: &mut Worker, turns: &[Option<usize>]) {
    let peers = |turn: &Option<usize>| turn.is_none();
    if !peers(&turns[0]) {
        worker.hand_over();
    }
    for (i, turn) in turns.iter().enumerate() {
        if !peers(turn) {
            continue;
        }
        if i == 0 || !peers(&turns[i - 1]) {
            worker.take_baton();
            // Who does not wait now writes too early.
            std::thread::sleep(Duration::from_micros(300));
        }
        worker.write_log("peer");
        if i + 1 == turns.len() || !peers(&turns[i + 1]) {
            worker.hand_over();
        }
    }
    if turns.last().is_some_and(|last| !peers(last)) {
        worker.take_baton();
    }
}

#[test]
fn any_list_of_turns_is_taken_in_order_with_exactly_the_bytes_it_needs() {
    needs!("g++", "python3");
    for program in workers() {
        let mut dice = Dice(7);
        let mut worker = Worker::start_in_turns(program);
        let width = worker.hello()["metrics"].as_array().unwrap().len();
        worker.ask(prepare("traced", None), "prepared");
        for seed in 0..60 {
            let length = 1 + dice.below(9);
            let turns: Vec<Option<usize>> = (0..length)
                .map(|_| Some(dice.below(2) as usize).filter(|_| dice.below(2) == 0))
                .collect();
            let unrecorded = dice.below(length + 1) as usize;
            let before = worker.log().len();
            worker.say(&block(seed, &json!(turns), 1, unrecorded, 2).to_string());
            play_the_peer(&mut worker, &turns);
            let reply = worker.hear().expect("a reply");
            let own = turns[unrecorded..].iter().flatten().count();
            let values = reply["block"]["values"].as_array();
            assert_eq!(values.map(Vec::len), Some(own * width), "{turns:?} {reply}");
            let expected: String = turns
                .iter()
                .enumerate()
                .map(|(i, turn)| {
                    let calls = if i < unrecorded { 2 } else { 1 };
                    turn.map_or("p".to_owned(), |who| ["a", "b"][who].repeat(calls))
                })
                .collect();
            let log = worker.log();
            assert_eq!(calls(&log[before..]), expected, "{turns:?} {unrecorded}");
        }
        let ended = worker.ended();
        assert_eq!(ended.batons, 0, "nobody asked for these");
        assert_eq!(ended.code, Some(0), "{}", ended.log);
    }
}

#[test]
fn a_turn_is_not_begun_before_the_baton_comes() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start_in_turns(program);
        worker.prepare("traced", None);
        worker.say(&block(1, &json!([0, null]), 1, 0, 1).to_string());
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(calls(&worker.log()), "");
        worker.hand_over();
        worker.take_baton();
        assert_eq!(calls(&worker.log()), "a");
        worker.hand_over();
        assert!(worker.hear().expect("a reply")["block"].is_object());
    }
}

#[test]
fn calibration_and_warm_up_need_no_baton() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start_in_turns(program);
        worker.prepare("traced", Some("a"));
        worker.ask(
            json!({"calibrate": {"seed": 1, "least_ns": 5000}}),
            "calibrated",
        );
        let warm_up = json!({"warm_up": {"seed": 2, "order": [0], "iterations": 1}});
        worker.ask(warm_up, "warm");
        assert_eq!(worker.ended().batons, 0);
    }
}

#[test]
fn a_peer_that_is_gone_is_told_of() {
    needs!("g++", "python3");
    for program in workers() {
        // While the baton is awaited, and while it is to be handed over.
        for turns in [json!([0, null]), json!([null, 0])] {
            let mut worker = Worker::start_in_turns(program);
            worker.prepare("traced", None);
            worker.leave();
            worker.say(&block(1, &turns, 1, 0, 1).to_string());
            worker.fails(Value::Null, json!({"peer_gone": {}}));
        }
    }
}

#[test]
fn what_is_not_there_is_unknown() {
    needs!("g++", "python3");
    for program in workers() {
        for request in [prepare("nothing", None), prepare("traced", Some("c"))] {
            let mut worker = Worker::start(program, &[]);
            worker.hello();
            worker.say(&request.to_string());
            worker.fails(Value::Null, json!({"unknown": {}}));
        }
    }
}

#[test]
fn what_comes_too_early_or_twice_is_out_of_turn() {
    needs!("g++", "python3");
    for program in workers() {
        let early = [
            json!({"smoke": {"seed": 1}}),
            json!({"calibrate": {"seed": 1, "least_ns": 5000}}),
            json!({"warm_up": {"seed": 1, "order": [0], "iterations": 1}}),
            block(1, &json!([0]), 1, 0, 1),
            json!({"dance": {}}),
        ];
        for request in early {
            let mut worker = Worker::start(program, &[]);
            worker.hello();
            worker.say(&request.to_string());
            worker.fails(Value::Null, json!({"out_of_turn": {}}));
        }
        for request in [prepare("quick", None), json!({"dance": {}})] {
            let mut worker = Worker::start(program, &[]);
            worker.prepare("traced", None);
            worker.say(&request.to_string());
            worker.fails(Value::Null, json!({"out_of_turn": {}}));
        }
    }
}

#[test]
fn what_a_later_version_adds_to_a_request_is_passed_over() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start(program, &[]);
        worker.hello();
        worker.say(
            r#" { "prepare" : {"new": [{"a": [1e3, -2.5E-1, true, null, "\"}"]}, {}, []],
                "benchmark" : "\u0074raced", "contender": null, "seed": 3 } } "#
                .replace('\n', " ")
                .as_str(),
        );
        assert!(worker.hear().expect("a reply")["prepared"].is_object());
        worker.ask(
            json!({"smoke": {"seed": 1, "other": {"x": [0.5]}}}),
            "sound",
        );
        let mut request = block(1, &json!([0]), 1, 0, 1);
        request["block"]["hurry"] = json!(false);
        worker.ask(request, "block");
    }
}

#[test]
fn an_end_of_the_requests_is_the_end_of_the_worker() {
    needs!("g++", "python3");
    for program in workers() {
        let mut worker = Worker::start(program, &[]);
        worker.hello();
        let ended = worker.ended();
        assert_eq!((ended.code, ended.log.as_str()), (Some(0), ""));
        let mut worker = Worker::start(program, &[]);
        worker.prepare("traced", None);
        assert_eq!(worker.ended().code, Some(0));
    }
}

#[test]
fn the_hashes_of_python_have_another_seed_in_each_replicate_and_the_same_on_both_sides() {
    let track = Track::new();
    let worker = fs::read_to_string(repository().join("examples/workers/worker.py")).unwrap();
    let (first, rest) = worker.split_once("import json").unwrap();
    for side in ["old.py", "new.py"] {
        let noted = format!(
            "import os\nopen('{side}.log', 'a').write(os.environ.get('PYTHONHASHSEED', '-') + '\\n')\n"
        );
        fs::write(track.path(side), format!("{first}{noted}import json{rest}")).unwrap();
        let runnable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(track.path(side), runnable).unwrap();
    }
    let race = |given: Option<&str>| -> [BTreeSet<String>; 2] {
        let mut command = track.command();
        command.args(["bench", "-q", "./old.py", "./new.py", "sort"]);
        command.args(["--max-replicates", "6", "--blocks", "5"]);
        command.env_remove("PYTHONHASHSEED");
        command.envs(given.map(|seed| ("PYTHONHASHSEED", seed)));
        Finished::from(command.output().unwrap()).succeeds();
        ["old.py.log", "new.py.log"].map(|log| {
            let text = fs::read_to_string(track.path(log)).unwrap();
            fs::remove_file(track.path(log)).unwrap();
            text.lines().map(str::to_owned).collect()
        })
    };
    let [mut old, mut new] = race(None);
    // Those that were only asked what they hold.
    assert!(old.remove("-") && new.remove("-"));
    assert_eq!(old, new);
    assert!(old.len() >= 6, "{old:?}");
    assert!(old.iter().all(|seed| seed.len() == 10), "{old:?}");
    assert_eq!(
        race(Some("7")),
        ["7", "7"].map(|seed| BTreeSet::from([seed.to_owned()]))
    );
}

#[test]
fn the_reference_worker_is_short_and_needs_the_standard_library_only() {
    needs!("python3");
    let text = fs::read_to_string(reference_worker()).unwrap();
    assert!(text.lines().count() < 100, "{}", text.lines().count());
    let imports: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("import "))
        .collect();
    assert_eq!(imports, ["import json, os, random, sys, time"]);
    let mut worker = Worker::start(&reference_worker(), &[]);
    worker.hello();
    let listed = worker.ask(json!({"list": {}}), "listed");
    let names: Vec<&Value> = listed["benchmarks"].as_array().unwrap().iter().collect();
    assert_eq!(names[0]["name"], "sum");
    assert_eq!(names[0]["contenders"].as_array().unwrap().len(), 2);
}

#[test]
fn the_page_of_the_protocol_shows_messages_as_they_are() {
    needs!("python3");
    let page = fs::read_to_string(repository().join("docs/protocol.md")).unwrap();
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        let blocks = page.split(&fence).skip(1);
        let blocks = blocks.map(|block| block.split("```").next().unwrap().to_owned());
        blocks.collect()
    };
    let kinds = |lines: &str| -> Vec<String> {
        let lines = lines.lines().map(|line| {
            let message: Value = serde_json::from_str(line).unwrap_or_else(|error| {
                panic!("{error}: {line}");
            });
            message.as_object().unwrap().keys().next().unwrap().clone()
        });
        lines.collect()
    };
    let shown: Vec<String> = blocks("json")
        .iter()
        .flat_map(|block| kinds(block))
        .collect();
    assert_eq!(shown.len(), 24, "{shown:?}");

    // What the shell is told to do gives what stands below it.
    let script = &blocks("sh")[0];
    let done = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(repository())
        .output()
        .unwrap();
    let done = common::Finished::from(done);
    let given = kinds(&done.succeeds().stdout);
    let claimed = blocks("text").pop().unwrap();
    assert_eq!(given, kinds(&claimed));
    assert_eq!(done.stdout.lines().next(), claimed.lines().next());
    assert_eq!(done.stdout.lines().nth(1), claimed.lines().nth(1));
}
