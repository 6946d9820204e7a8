//! Races of two servers under load, by `deadheat load` and by `deadheat rev --server`.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{Track, lives, wait_until};
use serde_json::Value;

const SERVER: &str = include_str!("load/server.py");
const LOAD: &str = include_str!("load/load.py");
const COUNTS: &str = "--requests=requests: ([0-9]+)";
/// Races end sooner.
const SHORT: &str = "--blocks=1";

/// A folder with the server and the load generator.
fn track() -> Track {
    let track = Track::new();
    track.write("server.py", SERVER);
    track.write("load.py", LOAD);
    track
}

/// The words of a race of two servers.
fn race<'w>(old: &'w str, new: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let servers = [
        "load", "--server", old, "--server", new, COUNTS, SHORT, "--quiet",
    ];
    let load = ["--", "python3", "load.py", "{port}"];
    [&servers[..], more, &load].concat()
}

const OLD: &str = "python3 server.py {port} 100";
const NEW: &str = "python3 server.py {port} 400";

fn metric<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let metrics = answer["benchmarks"][0]["metrics"].as_array().unwrap();
    let mut found = metrics.iter().filter(|metric| metric["metric"] == name);
    found
        .next()
        .unwrap_or_else(|| panic!("no {name}: {answer}"))
}

#[test]
fn servers_race_by_their_cpu_time_per_request_and_nothing_is_left() {
    let track = track();
    let words = race(OLD, NEW, &["--max-replicates", "6", "--json"]);
    let done = track.leaves_nothing(track.command().args(words));
    let answer = done.succeeds().json();
    let one = &answer["benchmarks"][0];
    assert_eq!(one["verdict"], "slower", "{one}");
    assert_eq!(one["metric"], "cpu", "{one}");
    // 300 more hashes in Python take tens of microseconds, and a whole burst some hundred milliseconds.
    let per_request = one["candidate"]["typical"].as_f64().unwrap();
    assert!((20e3..20e6).contains(&per_request), "{one}");
    assert!(
        metric(&answer, "peak-rss")["baseline"]["typical"]
            .as_f64()
            .unwrap()
            > 1e6
    );
    let rate = metric(&answer, "requests/s");
    assert_eq!(rate["better"], "more", "{rate}");
}

#[test]
fn values_of_the_load_command_are_metrics_with_a_direction() {
    let track = track();
    let values = [
        "--value=rate/s=rate: ([0-9.]+)",
        "--higher-is-better=rate/s",
    ];
    let more = [&values[..], &["--max-replicates", "6", "--json"]].concat();
    let answer = track.run(&race(OLD, NEW, &more)).succeeds().json();
    let rate = metric(&answer, "rate/s");
    assert_eq!(rate["better"], "more", "{rate}");
    let rates = ["baseline", "candidate"].map(|side| rate[side]["typical"].as_f64().unwrap());
    assert!(rates[0] > rates[1], "{rate}");
}

#[test]
fn a_value_takes_the_place_of_a_metric_of_the_same_name() {
    let track = track();
    let values = [
        "--value=requests/s=rate: ([0-9.]+)",
        "--higher-is-better=requests/s",
    ];
    let more = [&values[..], &["--max-replicates", "6", "--json"]].concat();
    let answer = track.run(&race(OLD, NEW, &more)).succeeds().json();
    let metrics = answer["benchmarks"][0]["metrics"].as_array().unwrap();
    let rates = metrics
        .iter()
        .filter(|metric| metric["metric"] == "requests/s");
    assert_eq!(rates.count(), 1, "{answer}");
}

#[test]
fn sockets_data_and_resets_are_those_of_each_server() {
    let track = track();
    track.write("data/inner/file", "content");
    let server = "sh -c 'cp {data}/inner/file copied && exec python3 server.py {socket} 50'";
    let reset = "--reset=python3 load.py {socket} 1";
    let words = [
        "load",
        "--server",
        server,
        "--server",
        server,
        COUNTS,
        SHORT,
        reset,
        "--data=data",
        "--max-replicates=6",
        "--json",
        "--quiet",
        "-n",
        "old",
        "-n",
        "new",
        "--",
        "python3",
        "load.py",
        "{socket}",
    ];
    let done = track.leaves_nothing(track.command().args(words));
    assert_eq!(
        done.succeeds().json()["benchmarks"][0]["candidate"]["name"],
        "new"
    );
    assert_eq!(
        std::fs::read_to_string(track.path("copied")).unwrap(),
        "content"
    );
    // The user's folder is as it was.
    assert_eq!(std::fs::read_dir(track.path("data")).unwrap().count(), 1);
}

#[test]
fn links_that_lead_out_of_the_copied_folder_are_refused() {
    let track = track();
    track.write("data/own", "content");
    track.write("elsewhere", "content");
    std::os::unix::fs::symlink("own", track.path("data/inside")).unwrap();
    let server = "python3 server.py {port} 20 {data}";
    let race = |option| {
        let more = ["--data=data", "--max-replicates=6", option];
        track.run(&race(server, "python3 server.py {port}  20 {data}", &more))
    };
    // A stopped server may have left a named pipe in the folder.
    track.tool("mkfifo", &["data/pipe"]);
    race("--json").succeeds();
    std::os::unix::fs::symlink("../elsewhere", track.path("data/outside")).unwrap();
    common::says(&race("--json"), 3, &["outside leads out of the copy"]);
    std::fs::remove_file(track.path("data/outside")).unwrap();
    std::fs::create_dir_all(track.path("data/deep/deeper")).unwrap();
    std::os::unix::fs::symlink("../..", track.path("data/deep/deeper/up")).unwrap();
    let chain = track.path("data/deep/deeper/chain");
    std::os::unix::fs::symlink("up/../../missing", chain).unwrap();
    common::says(&race("--json"), 3, &["chain leads out of the copy"]);
}

#[test]
fn a_folder_for_temporary_files_that_cannot_be_written_is_named_with_exit_code_5() {
    let track = track();
    let nowhere = track.path("nowhere");
    let words = race(OLD, NEW, &[]);
    let done = track.command().args(words).env("TMPDIR", &nowhere).output();
    let done = common::Finished::from(done.unwrap());
    done.fails_with(5, &["cannot write", common::text(&nowhere)]);
}

#[test]
fn each_value_of_a_parameter_is_a_benchmark() {
    let track = track();
    let server = "python3 server.py {port} {work}";
    let words = race(
        server,
        "python3 server.py {port} {work} late",
        &["-L", "work", "20,40", "--max-replicates", "6", "--json"],
    );
    let twice = track.run(&race(server, OLD, &["-L", "work", "20,20"]));
    twice.fails_with(2, &["--parameter-list: work=20 is given twice"]);
    let answer = track.run(&words).succeeds().json();
    let names = answer["benchmarks"].as_array().unwrap().iter();
    let names: Vec<&str> = names
        .map(|one| one["benchmark"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["work=20", "work=40"]);
}

#[test]
fn a_server_that_fails_is_named_with_the_reason() {
    let track = track();
    let (ready, short) = (["--ready-timeout=1s"], "python3 server.py {port} 20 ");
    for (server, more, reasons) in [
        (
            format!("{short}dies"),
            &[][..],
            &["ended with exit code 7 during a burst"][..],
        ),
        (
            format!("{short}broken"),
            &["--ready=http://127.0.0.1:{port}/", "--ready-timeout=1s"],
            &["was not ready within 1s", "answers with code 500"],
        ),
        (
            "python3 server.py 47113 20 {port}".to_owned(),
            &ready,
            &["was not ready", "it listens on port 47113", "{port}"],
        ),
        (
            "python3 nosuch.py {port}".to_owned(),
            &ready,
            &["ended with exit code 2 before it was ready", "nosuch.py"],
        ),
        (
            "./nosuch {port}".to_owned(),
            &ready,
            &["was not started: ./nosuch"],
        ),
        (
            format!("{short}loud"),
            &["--ready=log:never", "--ready-timeout=1s"],
            &[
                "was not ready",
                "it printed nothing that 'never' matches",
                "xxxx",
            ],
        ),
        (
            OLD.to_owned(),
            &["--reset=sh -c 'echo no data >&2; exit 3'"],
            &["was not reset", "exit code 3", "no data"],
        ),
        (
            r#"sh -c 'printf "\033]0;owned\007\033[2J\n"; exit 9' {port}"#.to_owned(),
            &[],
            &["ended with exit code 9 before it was ready", "owned"],
        ),
        (
            OLD.to_owned(),
            &["--ready=false", "--ready-timeout=1s"],
            &["was not ready", "'false' ended with exit code 1"],
        ),
    ] {
        let done = track.leaves_nothing(track.command().args(race(&server, OLD, more)));
        assert_eq!(done.code, Some(3), "{server}: {done:?}");
        let said = common::said(&done);
        let is_obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!said.contains(is_obeyed), "{server}: {said:?}");
        for reason in reasons {
            assert!(
                said.contains(reason),
                "{server}: '{reason}' is missing: {said}"
            );
        }
    }
}

#[test]
fn a_burst_that_does_not_count_fails_the_race() {
    let track = track();
    let broken = "python3 server.py {port} 20 broken";
    let done = track.run(&race(broken, OLD, &["--ready=tcp:{port}"]));
    common::says(
        &done,
        3,
        &["got a burst that is invalid: no request succeeded"],
    );
    let load = ["--", "sh", "-c", "echo no connection >&2; exit 4 {port}"];
    let words = [
        &[
            "load", "--server", OLD, "--server", NEW, COUNTS, SHORT, "-q",
        ][..],
        &load,
    ]
    .concat();
    let done = track.run(&words);
    common::says(&done, 3, &["ended with exit code 4", "no connection"]);
}

#[test]
fn a_script_whose_generator_lacks_an_option_is_refused_with_the_option() {
    let track = track();
    track.write(
        "load.sh",
        "python3 load.py $1 20\n\
         printf 'Running 1s test @ http://127.0.0.1/\\n    Latency   245.10us  100.00us\\n'\n\
         printf '  10000 requests in 1.00s, 1.00MB read\\nRequests/sec:  10000.00\\n'\n",
    );
    let words = [
        "load",
        "--server",
        OLD,
        "--server",
        NEW,
        "--generator=wrk",
        SHORT,
        "-q",
        "--",
        "sh",
        "load.sh",
        "{port}",
    ];
    let reason = "was not printed; it needs the option --latency";
    common::says(&track.run(&words), 3, &[reason]);
}

#[test]
fn a_verdict_on_a_rate_needs_a_server_that_is_the_bottleneck() {
    let track = track();
    // The generator sleeps between its requests, so the server is idle most of the time.
    track.write(
        "slow.sh",
        "python3 load.py $1 20; sleep 0.3; echo rate: 100\n",
    );
    let words = |metric: &'static str| {
        let servers = [
            "load", "--server", OLD, "--server", OLD, COUNTS, SHORT, "-q", "-n", "old",
        ];
        let rest = [
            "-n",
            "new",
            "--max-replicates=6",
            "--metric",
            metric,
            "--",
            "sh",
            "slow.sh",
            "{port}",
        ];
        [&servers[..], &rest].concat()
    };
    let done = track.run(&words("requests/s"));
    common::says(&done, 3, &["was not the bottleneck", "--metric cpu"]);
    // A rule for the benchmark is a choice, too.
    track.write(
        "deadheat.toml",
        "[[benchmark]]\nname = \"load\"\nmetric = \"requests/s\"\n",
    );
    let mut by_rule = words("cpu");
    let metric = by_rule.iter().position(|word| *word == "--metric").unwrap();
    by_rule.drain(metric..metric + 2);
    common::says(&track.run(&by_rule), 3, &["was not the bottleneck"]);
    std::fs::remove_file(track.path("deadheat.toml")).unwrap();
    let done = track.run(&words("cpu"));
    common::says(done.succeeds(), 0, &["do not compare the request rates"]);
}

#[test]
fn servers_in_the_background_and_their_children_are_ended() {
    let track = track();
    for mode in ["daemon", "child", "stubborn"] {
        let server = format!("python3 server.py {{port}} 20 {mode}");
        let more = ["--max-replicates=6", "--grace=300ms", "--json"];
        let done = track.leaves_nothing(track.command().args(race(&server, OLD, &more)));
        assert_eq!(done.code, Some(0), "{mode}: {done:?}");
    }
    let child = std::fs::read_to_string(track.path("child.pid")).unwrap();
    assert!(!lives(&child));
}

/// Process IDs of the processes of a test whose command lines match.
fn processes(track: &Track, pattern: &str) -> Vec<String> {
    let listed = Command::new("pgrep")
        .args(["-f", pattern])
        .output()
        .unwrap();
    let pids = String::from_utf8(listed.stdout).unwrap();
    let folder = track.folder.path().canonicalize().unwrap();
    let of_this_test =
        |pid: &&str| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    let pids = pids.lines().filter(of_this_test);
    pids.map(str::to_owned).collect()
}

/// Returns the process ID of the parent of the process `pid`.
fn parent(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, after) = stat.rsplit_once(')').unwrap();
    after.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn a_race_that_is_stopped_or_killed_leaves_no_server() {
    for signal in ["INT", "TERM", "KILL"] {
        let track = track();
        let mut child = track.start(&race(OLD, NEW, &["--max-replicates=40"]));
        let servers = || processes(&track, "^[^ ]*python[0-9.]* server.py");
        wait_until("two servers run", || servers().len() >= 2);
        let worker = parent(&servers()[0]);
        let name = std::fs::read_to_string(format!("/proc/{worker}/comm")).unwrap();
        assert_eq!(name.trim(), "dh-load", "`killall -9 deadheat` spares it");
        let pid = child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", signal, &pid])
            .status()
            .unwrap();
        assert!(sent.success());
        child.wait().unwrap();
        // deadheat and its workers name the server on their command lines.
        wait_until("nothing runs", || processes(&track, "server.py").is_empty());
    }
}

/// A script that starts a server with a helper, which runs in a session of its own and with an
/// empty environment. `more` are further lines of the script, before the server.
fn script(track: &Track, more: &str) -> String {
    track.write(
        "start.sh",
        format!(
            "env -i setsid sh -c 'echo $$ >>helpers; exec sleep 1000' >/dev/null 2>&1 &\n\
             {more}\n\
             python3 server.py $1 20 $2 & child=$!\n\
             while kill -0 $child; do wait $child; done 2>/dev/null\n"
        ),
    );
    "sh start.sh {port} {data}".to_owned()
}

/// Waits until no server, no helper and no temporary folder is left.
#[track_caller]
fn wait_until_nothing_is_left(track: &Track) {
    wait_until("no server runs", || {
        processes(track, "server.py").is_empty()
    });
    let helpers = std::fs::read_to_string(track.path("helpers")).unwrap_or_default();
    wait_until("no helper runs", || !helpers.lines().any(lives));
    let is_empty = || track.path("temporary").read_dir().unwrap().next().is_none();
    wait_until("no temporary folder is left", is_empty);
}

/// Starts a race with `--data` and with its own folder for temporary files, and waits until both
/// servers and `helpers` helpers run.
fn started(track: &Track, server: &str, more: &[&str], helpers: usize) -> std::process::Child {
    track.write("data/file", "content");
    std::fs::create_dir_all(track.path("temporary")).unwrap();
    let data = [
        "--data=data",
        "--max-replicates=40",
        "-n",
        "old",
        "-n",
        "new",
    ];
    let words = [&data[..], more].concat();
    let words: Vec<String> = race(server, server, &words)
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut command = track.command();
    command
        .args(words)
        .env("TMPDIR", track.path("temporary"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let child = command.spawn().unwrap();
    let servers = || processes(track, "^[^ ]*python[0-9.]* server.py");
    wait_until("two servers run", || servers().len() >= 2);
    wait_until("the helpers run", || {
        let text = std::fs::read_to_string(track.path("helpers")).unwrap_or_default();
        text.lines().count() >= helpers
    });
    child
}

fn kill(pids: &[String]) {
    let sent = Command::new("kill").arg("-KILL").args(pids).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_killed_race_leaves_nothing_even_if_its_servers_are_stopped() {
    let stops_itself = "python3 server.py {port} 20 {data} & sleep 0.5; kill -STOP $$; wait";
    for (server, option) in [
        ("python3 server.py {port} 20 {data}", "--pause-idle"),
        (&*format!("sh -c '{stops_itself}'"), "--grace=1s"),
    ] {
        let track = track();
        let mut child = started(&track, server, &[option], 0);
        // One of the servers is idle or has stopped by now.
        std::thread::sleep(std::time::Duration::from_secs(1));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until_nothing_is_left(&track);
    }
}

#[test]
fn deadheat_and_its_child_processes_killed_at_once_leave_nothing() {
    let track = track();
    let server = script(&track, "");
    let mut child = started(&track, &server, &[], 2);
    let pid = child.id().to_string();
    let children = format!("/proc/{pid}/task/{pid}/children");
    let children = std::fs::read_to_string(children).unwrap();
    let mut pids = vec![pid];
    pids.extend(children.split_whitespace().map(str::to_owned));
    assert!(pids.len() >= 3, "{pids:?}");
    kill(&pids);
    child.wait().unwrap();
    wait_until_nothing_is_left(&track);
}

#[test]
fn a_killed_worker_fails_the_race_by_name_and_leaves_nothing() {
    let track = track();
    let server = script(&track, "");
    let mut child = started(&track, &server, &["--save=run.jsonl"], 2);
    let servers = processes(&track, "^[^ ]*python[0-9.]* server.py");
    let worker = parent(&parent(&servers[0]));
    kill(&[worker]);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    wait_until_nothing_is_left(&track);
}

/// Races a server against itself, and checks that nothing of it is left.
fn race_cleans_up(track: &Track, server: &str) {
    let names = ["-n", "old", "-n", "new"];
    let more = [&["--data=data", "--max-replicates=2"][..], &names].concat();
    let done = track.leaves_nothing(track.command().args(race(server, server, &more)));
    done.succeeds();
    wait_until_nothing_is_left(track);
}

#[test]
fn a_server_that_kills_its_process_group_and_signals_its_parent_is_cleaned_up() {
    let track = track();
    track.write("data/file", "content");
    let parent = "for signal in HUP INT QUIT USR1 USR2 ALRM TERM; do kill -$signal $PPID; done";
    let server = script(&track, &format!("{parent}\ntrap 'kill 0' TERM"));
    race_cleans_up(&track, &server);
    let helpers = std::fs::read_to_string(track.path("helpers")).unwrap();
    assert!(helpers.lines().count() >= 4, "{helpers}");
}

#[test]
fn a_server_that_kills_its_parent_when_it_stops_is_cleaned_up() {
    let track = track();
    track.write("data/file", "content");
    let server = script(&track, "trap 'kill -KILL $PPID' TERM");
    race_cleans_up(&track, &server);
}

#[test]
fn a_load_command_that_kills_its_process_group_fails_only_its_burst() {
    let track = track();
    let words = [
        &[
            "load", "--server", OLD, "--server", NEW, COUNTS, SHORT, "-q",
        ][..],
        &["--", "sh", "-c", "kill 0; sleep 10; : {port}"],
    ]
    .concat();
    let done = track.leaves_nothing(track.command().args(words));
    common::says(&done, 3, &["got a burst that failed", "SIGTERM"]);
}

/// A worker that asks for a minute to exit, and does not exit after its last request.
const LATE_WORKER: &str = r#"#!/usr/bin/env python3
import json, os, sys, time
requests, replies, _ = map(int, os.environ["DEADHEAT_WORKER"].split(","))
def send(reply):
    os.write(replies, (json.dumps(reply) + "\n").encode())
send({"hello": {"protocol": 2, "worker": "late", "metrics": ["wall_ns"], "leaves_within_ms": 60000}})
for line in os.fdopen(requests):
    (kind, asked), = json.loads(line).items()
    if kind == "list":
        send({"listed": {"benchmarks": [{"name": "one"}]}})
    elif kind == "prepare":
        send({"prepared": {"renews_input": False}})
    elif kind == "calibrate":
        send({"calibrated": {"iterations": 1, "call_ns": [1e6], "most_iterations": 1}})
    elif kind == "warm_up":
        send({"warm": {"rounds": 1}})
    elif kind == "block":
        recorded = len(asked["turns"]) - asked["unrecorded"]
        send({"block": {"values": [1e6] * recorded}})
    elif kind == "bye":
        open("bye", "w").close()
        time.sleep(1000)
"#;

#[test]
fn a_worker_that_does_not_exit_delays_neither_a_signal_nor_the_end_of_the_budget() {
    let track = track();
    track.write("worker", LATE_WORKER);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(track.path("worker"), executable).unwrap();
    let limit = std::time::Duration::from_secs(20);
    let since = std::time::Instant::now();
    let mut child = track.start(&["bench", "./worker", "--max-replicates=6", "-q"]);
    wait_until("the worker has its last request", || {
        track.path("bye").exists()
    });
    let sent = Command::new("kill").arg(child.id().to_string()).status();
    assert!(sent.unwrap().success());
    child.wait().unwrap();
    assert!(since.elapsed() < limit, "{:?}", since.elapsed());
    let since = std::time::Instant::now();
    track.run(&[
        "bench",
        "./worker",
        "--budget=3s",
        "--max-replicates=6",
        "-q",
    ]);
    assert!(since.elapsed() < limit, "{:?}", since.elapsed());
}

#[test]
fn a_server_behind_a_shell_is_stopped_and_what_the_load_command_leaves_is_ended() {
    let track = track();
    track.write("start.sh", "python3 server.py $1 20\nexit 3\n");
    let load = "sleep 100 >/dev/null 2>&1 &\necho $! >>left\nexec python3 load.py $1 50\n";
    track.write("load.sh", load);
    let server = "sh start.sh {port}";
    let words = [
        "load",
        "--server",
        server,
        "--server",
        server,
        COUNTS,
        SHORT,
        "--max-replicates=6",
        "-q",
        "-n",
        "old",
        "-n",
        "new",
        "--grace=20s",
        "--",
        "sh",
        "load.sh",
        "{port}",
    ];
    let done = track.leaves_nothing(track.command().args(words));
    done.succeeds();
    let left = std::fs::read_to_string(track.path("left")).unwrap();
    assert!(
        left.lines().count() >= 24 && !left.lines().any(lives),
        "{left}"
    );
}

#[test]
fn the_idle_server_can_be_paused() {
    let track = track();
    let words = race(OLD, NEW, &["--pause-idle", "--max-replicates=6", "--json"]);
    let done = track.leaves_nothing(track.command().args(words));
    assert_eq!(done.succeeds().json()["benchmarks"][0]["verdict"], "slower");
}

#[test]
fn what_would_send_the_load_of_both_servers_to_one_is_refused_before_the_race() {
    let track = track();
    let words = |load: &'static str, more: &'static [&'static str]| {
        [
            &["load", "--server", OLD, "--server", NEW][..],
            more,
            &["--", load],
        ]
        .concat()
    };
    let run = |load, more| track.run(&words(load, more));
    run("wrk http://127.0.0.1:80/", &[]).fails_with(2, &["neither {port} nor {socket}"]);
    run("curl {port}", &[]).fails_with(2, &["'curl' is not a load generator", "--requests"]);
    run("curl {port}", &["--value=x"]).fails_with(2, &["is not NAME=PATTERN"]);
    run("curl {port}", &["--value=x=("]).fails_with(2, &["'(' is not a regular expression"]);
    run("wrk {port}", &["--ready=https://x/"]).fails_with(2, &["does not speak TLS", "curl"]);
    run("wrk {port}", &["--value=wall=x"]).fails_with(2, &["choose another name"]);
    run("wrk {port}", &["--data=x"]).fails_with(2, &["no command contains {data}"]);
    run("wrk {port}", &["--callgrind"]).fails_with(2, &["--callgrind: races of servers"]);
    run("wrk {port}", &["-L", "port", "1,2"]).fails_with(2, &["deadheat itself replaces {port}"]);
    run("wrk {port}", &["-L", "conns", "1,2"]).fails_with(2, &["no command contains {conns}"]);
    run("wrk {port}", &["--ready=tcp:x"]).fails_with(2, &["'x' is not a port"]);
    run("wrk {port}", &["--grace=20min"]).fails_with(2, &["--grace must be at most 540 s"]);
    run("wrk {port}", &["--generator=x"]).fails_with(2, &["--list-generators"]);
    run("wrk {port}", &["--stop-signal=FOO"]).fails_with(2, &["TERM"]);
    run("wrk {port}", &["--server-cores=a"]).fails_with(2, &["is not a list of cores"]);
    let once = ["load", "--server", OLD, "--", "wrk", "{port}"];
    track
        .run(&once)
        .fails_with(2, &["--server was given once", "deadheat rev BASE"]);
    let no_port = [
        "load", "--server", "a", "--server", "b", "--", "wrk", "{port}",
    ];
    track
        .run(&no_port)
        .fails_with(2, &["neither {port} nor {socket}", "--ready tcp:{port}"]);
    track
        .run(&["load-worker", "--server=x {port}", "--", "wrk", "{port}"])
        .fails_with(2, &["deadheat starts it as a worker"]);
}

#[test]
fn every_generator_is_listed_with_what_is_read_from_it() {
    let done = track().run(&["load", "--list-generators"]);
    for name in [
        "wrk",
        "wrk2",
        "oha",
        "hey",
        "ab",
        "k6",
        "redis-benchmark",
        "pgbench",
    ] {
        assert!(
            done.succeeds().stdout.contains(&format!("{name} ")),
            "{done:?}"
        );
    }
}

#[test]
fn a_race_of_servers_is_planned_and_raced_later() {
    let track = track();
    let words = race(OLD, NEW, &["--max-replicates=6", "--save=plan.json"]);
    track.run(&[&["plan"], &words[..]].concat()).succeeds();
    let raced = track.run(&["run", "--plan", "plan.json", "--json", "-q"]);
    let answer = raced.succeeds().json();
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower", "{answer}");
}

#[test]
fn a_recorded_race_of_servers_is_resumed() {
    let track = track();
    let words = race(OLD, NEW, &["--max-replicates=6", "--save=run.jsonl"]);
    track.run(&words).succeeds();
    let explained = track.run(&["explain", "run.jsonl"]);
    assert!(explained.stderr.contains("is a server"), "{explained:?}");
    let ignored = track.run(&["load", "--resume", "run.jsonl", "--margin=5%"]);
    ignored.fails_with(2, &["--margin cannot be used with --resume"]);
    let resume = [
        "load",
        "--resume",
        "run.jsonl",
        "--max-replicates",
        "8",
        "--json",
        "-q",
    ];
    let answer = track.run(&resume).succeeds().json();
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower", "{answer}");
}

/// A load generator with the name and the output of ab.
const AB: &str = "\
#!/bin/sh
python3 load.py \"$3\" \"$2\" >/dev/null || exit
printf 'Complete requests: %s\nFailed requests: 0\n' \"$2\"
printf 'Requests per second: 1000.0 [#/sec] (mean)\nTime per request: 1.5 [ms] (mean)\n'
";

/// A repository whose server computes more in its last commit.
fn repository() -> Track {
    let track = track();
    track.write("ab", AB);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(track.path("ab"), executable).unwrap();
    track.git(&["init", "--quiet", "--initial-branch", "main"]);
    for work in ["100", "100", "400"] {
        track.write(
            "start.sh",
            format!("exec python3 server.py $1 {work}\n# {work}\n"),
        );
        track.write(
            "number",
            std::fs::read(track.path("number"))
                .unwrap_or_default()
                .len()
                .to_string()
                + "x",
        );
        track.commit(work);
    }
    track
}

/// The answer of a command about the first and the last commit.
#[track_caller]
fn race_of_commits(track: &Track, command: &str, option: &str) -> Value {
    let server = ["--server", "sh start.sh {port}"];
    let load = ["--load", "./ab -n 100 {port}"];
    let words = [command, "HEAD~2..HEAD", SHORT, option, "--json", "-q"];
    let words = [&words[..], &server, &load].concat();
    track.run(&words).succeeds().json()
}

#[test]
fn the_servers_of_two_commits_race() {
    let track = repository();
    let answer = race_of_commits(&track, "rev", "--max-replicates=6");
    let one = &answer["benchmarks"][0];
    assert_eq!(one["verdict"], "slower", "{one}");
    assert_eq!(one["baseline"]["name"], "HEAD~2", "{one}");
    assert_eq!(one["metric"], "cpu", "the output of ab was read: {one}");
    let without = track.run(&["rev", "HEAD~1", "--pause-idle"]);
    without.fails_with(2, &["--pause-idle needs --server and --load"]);
}

#[test]
fn the_commit_that_made_a_server_slower_is_found() {
    let track = repository();
    let answer = race_of_commits(&track, "bisect", "--margin=10%");
    assert_eq!(answer["metric"], "cpu_ns", "{answer}");
    let head = track.git(&["rev-parse", "HEAD"]);
    // On a busy machine, the search may end with a candidate that is only likely.
    let said = &answer["answer"];
    let found = said["commits"][0].as_str();
    let found = found.or(said["candidates"][0]["commits"][0].as_str());
    assert_eq!(found, Some(head.trim()), "{answer}");
}

#[test]
fn a_parent_that_ignores_its_children_changes_nothing() {
    let track = track();
    let ignoring = "import os, signal, sys\n\
                    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
                    os.execv(sys.argv[1], sys.argv[1:])\n";
    track.write("ignoring.py", ignoring);
    let words = race(OLD, NEW, &["--max-replicates=6", "--json"]);
    let plain = track.command();
    let mut command = Command::new("python3");
    command
        .arg("ignoring.py")
        .arg(plain.get_program())
        .args(words)
        .current_dir(track.folder.path())
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    let answer = track.leaves_nothing(&mut command).succeeds().json();
    assert_eq!(answer["benchmarks"][0]["verdict"], "slower", "{answer}");
}
