//! Everything that can go wrong in a race of commands, with real processes
//! that do it.

mod common;

use std::os::unix::process::{CommandExt as _, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{Finished, Track, lives, text, wait_until};
use deadheat_testing::{blocks_in, kill, skip};

#[test]
fn a_missing_program_is_named_and_is_the_contenders_fault() {
    let track = Track::new();
    let done = track.run(&["run", "--", "true", "no-such-program-here arg"]);
    done.fails_with(
        3,
        &[
            "'no-such-program-here arg'",
            "there is no program 'no-such-program-here'",
        ],
    );
    let done = track.run(&["run", "--", "./not/there"]);
    done.fails_with(3, &["there is no program './not/there'"]);
}

#[test]
fn a_non_zero_exit_names_the_command_and_keeps_what_was_measured() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let counter = track.path("counter");
    // Works seven times, then fails.
    let script = format!(
        "echo x >> {0}; test $(wc -l < {0}) -lt 8",
        counter.display()
    );
    let done = track.run(&[
        "run",
        "-w",
        "0",
        "-S",
        "sh",
        "--save",
        text(&save),
        "--",
        &script,
    ]);
    done.fails_with(
        3,
        &[
            "exited with code 1",
            "replicate 7, block 0, slot 0",
            "the 7 blocks measured so far are in",
        ],
    );
    assert_eq!(blocks_in(&save), 7);
    let again = track.run(&["analyze", text(&save)]);
    assert!(
        again.succeeds().stdout.contains("exited with code 1"),
        "{again:?}"
    );
}

#[test]
fn no_gate_passes_on_what_is_left_of_a_race_that_failed() {
    let track = Track::new();
    let counter = track.path("counter");
    let script = format!(
        "echo x >> {0}; test $(wc -l < {0}) -lt 20",
        counter.display()
    );
    let race = [
        "run",
        "-r",
        "50",
        "-w",
        "0",
        "-S",
        "sh",
        "--save",
        "run.jsonl",
        "--",
    ];
    let done = track.run(&[&race[..], &["true", &script]].concat());
    done.fails_with(3, &["exited with code 1"]);
    track.run(&["analyze", "run.jsonl"]).succeeds();
    let gated = track.run(&["analyze", "run.jsonl", "--fail-on", "not-equivalent"]);
    assert_eq!(gated.code, Some(3), "{gated:?}");
}

#[test]
fn ignored_exit_codes_are_ignored_and_no_others() {
    let track = Track::new();
    let base = ["run", "-r", "1", "-S", "sh"];
    let race = |flags: &[&str]| track.run(&[&base[..], flags, &["--", "exit 3"]].concat());
    race(&[]).fails_with(3, &["exited with code 3"]);
    race(&["-i"]).succeeds();
    race(&["-i=3,4"]).succeeds();
    race(&["-i3"]).succeeds();
    race(&["--ignore-failure=4"]).fails_with(3, &["exited with code 3"]);
    race(&["-i=x"]).fails_with(2, &["--ignore-failure"]);
}

#[test]
fn a_crash_names_the_signal() {
    let track = Track::new();
    let done = track.run(&["run", "-S", "sh", "-i", "--", "kill -SEGV $$"]);
    done.fails_with(3, &["killed by signal 11 (SIGSEGV)"]);
}

#[test]
fn a_launch_that_takes_too_long_is_killed() {
    let track = Track::new();
    let done = track.run(&["run", "--timeout", "100ms", "--", "sleep 60"]);
    done.fails_with(3, &["'sleep 60'", "did not end within 100ms", "--timeout"]);
}

#[test]
fn a_command_that_stops_its_launcher_is_killed_in_time_all_the_same() {
    let track = Track::new();
    let command = "kill -STOP $PPID; sleep 60";
    let done = track.run(&["run", "-S", "sh", "--timeout", "100ms", "--", command]);
    done.fails_with(3, &["did not end within 100ms"]);
}

#[test]
fn a_warm_up_counts_as_part_of_the_budget() {
    let track = Track::new();
    let counter = track.path("counter");
    let command = format!("echo x >> {}; sleep 0.02", text(&counter));
    let race = ["run", "-S", "sh", "-w", "1000", "--budget", "300ms", "--"];
    track.run(&[&race[..], &[&command]].concat());
    let launches = std::fs::read_to_string(&counter).unwrap().lines().count();
    assert!((1..1000).contains(&launches), "{launches} launches");
}
#[test]
fn a_failing_hook_names_its_flag_its_command_and_its_words() {
    let track = Track::new();
    for flag in ["--setup", "--prepare", "--conclude", "--cleanup"] {
        let args = [
            "run",
            "-r",
            "1",
            "-S",
            "sh",
            flag,
            "echo no disk >&2; exit 9",
            "--",
            "true",
        ];
        track
            .run(&args)
            .fails_with(3, &[flag, "exited with code 9", "no disk"]);
    }
}

#[test]
fn cleanup_hooks_run_also_after_a_failure() {
    let track = Track::new();
    let cleaned = track.path("cleaned");
    let cleanup = format!("touch {}", cleaned.display());
    let done = track.run(&["run", "--cleanup", &cleanup, "--", "false"]);
    done.fails_with(3, &["exited with code 1"]);
    assert!(cleaned.exists());
}

#[test]
fn numbers_out_of_range_name_their_flag() {
    let track = Track::new();
    let race = |flags: &[&str]| track.run(&[&["run"], flags, &["--", "true", "true"]].concat());
    race(&["--margin", "0"]).fails_with(2, &["--margin"]);
    race(&["--margin", "-1%"]).fails_with(2, &["--margin"]);
    race(&["--margin", "200%"]).fails_with(2, &["--margin"]);
    race(&["--margin", "wide"]).fails_with(2, &["--margin"]);
    race(&["--alpha", "0"]).fails_with(2, &["--alpha"]);
    race(&["--alpha", "1.5"]).fails_with(2, &["--alpha"]);
    race(&["--alpha", "nan"]).fails_with(2, &["--alpha"]);
    race(&["--max-replicates", "0"]).fails_with(2, &["--max-replicates"]);
    race(&["--blocks", "0"]).fails_with(2, &["--blocks"]);
    race(&["-r", "0"]).fails_with(2, &["--runs"]);
    race(&["-m", "30", "-M", "20"]).fails_with(2, &["--min-runs"]);
    race(&["-r", "5", "-m", "3"]).fails_with(2, &["--runs"]);
    race(&["--budget", "soon"]).fails_with(2, &["--budget"]);
    race(&["--pin", "4000"]).fails_with(2, &["--pin", "core 4000"]);
    race(&["--metric", "happiness"]).fails_with(2, &["--metric happiness", "wall"]);
    race(&["--seed", "-1"]).fails_with(2, &["--seed"]);
    assert!(track.recorded().is_empty(), "nothing was launched");
}

#[test]
fn parameters_without_values_and_unknown_names_are_told() {
    let track = Track::new();
    let race = |flags: &[&str]| track.run(&[&["run"], flags].concat());
    race(&["-L", "n", "", "--", "echo {n}"]).fails_with(2, &["--parameter-list n", "no values"]);
    race(&["-L", "n", "1,2", "--", "echo {m}"])
        .fails_with(2, &["'echo {m}'", "{m}", "did you mean {n}"]);
    race(&["-L", "n", "1", "-p", "x {k}", "--", "echo {n}"]).fails_with(2, &["--prepare 'x {k}'"]);
    race(&["-P", "n", "5", "1", "--", "echo {n}"]).fails_with(2, &["--parameter-scan n"]);
    race(&["-P", "n", "a", "1", "--", "echo {n}"]).fails_with(2, &["'a' is not a number"]);
    race(&["-D", "2", "--", "echo"]).fails_with(2, &["--parameter-scan"]);
    race(&["-n", "a", "-n", "b", "--", "true"]).fails_with(2, &["--command-name"]);
    race(&["-p", "a", "-p", "b", "--", "x", "y", "z"]).fails_with(2, &["--prepare", "3 commands"]);
    race(&[]).fails_with(2, &["no command"]);
    race(&["--", "echo 'open"]).fails_with(2, &["quote"]);
    race(&["--", "  "]).fails_with(2, &["empty"]);
}

#[test]
fn a_path_that_cannot_be_written_is_told_before_anything_runs() {
    let track = Track::new();
    let mark = track.path("ran");
    let command = format!("touch {}", mark.display());
    let file = track.path("file");
    std::fs::write(&file, "in the way").unwrap();
    let below_a_file = track.path("file/run.jsonl");
    let done = track.run(&["run", "--save", text(&below_a_file), "--", &command]);
    done.fails_with(2, &["--save", text(&file)]);
    let done = track.run(&["run", "--save", text(&file), "--", &command]);
    done.fails_with(2, &["--save", "exists already"]);
    let done = track.run(&["run", "--export-csv", text(&below_a_file), "--", &command]);
    done.fails_with(2, &["--export-csv", text(&below_a_file)]);
    assert!(!mark.exists());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "in the way");
}

/// A short race, recorded.
fn recorded(track: &Track) -> PathBuf {
    let run = track.path("run.jsonl");
    track
        .run(&[
            "run",
            "-q",
            "-r",
            "2",
            "--save",
            text(&run),
            "--",
            "true",
            "true",
        ])
        .succeeds();
    run
}

#[test]
fn an_export_never_replaces_the_recording_it_comes_from() {
    let track = Track::new();
    let run = recorded(&track);
    let kept = std::fs::read(&run).unwrap();
    let again = track.path("./run.jsonl");
    for shape in [
        "json",
        "csv",
        "hdr",
        "markdown",
        "google-benchmark",
        "google-baseline",
        "go",
        "smaller-is-better",
        "bmf",
    ] {
        let flag = format!("--export-{shape}");
        let done = track.run(&["analyze", &flag, text(&again), text(&run)]);
        done.fails_with(2, &[&flag, "is the same file as the argument"]);
        let done = track.run(&["run", "-q", &flag, text(&again), "--resume", text(&run)]);
        done.fails_with(2, &[&flag, "is the same file as --resume"]);
    }
    assert_eq!(std::fs::read(&run).unwrap(), kept);
}

#[test]
fn an_export_of_several_recordings_is_refused() {
    let track = Track::new();
    let csv = track.path("out.csv");
    let done = track.run(&["analyze", "--export-csv", text(&csv), "a.jsonl", "b.jsonl"]);
    done.fails_with(2, &["--export-csv", "one by one"]);
    assert!(!csv.exists());
}

#[test]
fn an_export_of_a_recording_that_cannot_be_written_is_told() {
    let track = Track::new();
    let run = recorded(&track);
    let below_a_file = track.path("run.jsonl/x.hlog");
    let done = track.run(&["analyze", "--export-hdr", text(&below_a_file), text(&run)]);
    done.fails_with(2, &["--export-hdr", text(&below_a_file)]);
}

#[test]
fn a_different_output_is_a_failure_with_its_first_differing_line() {
    let track = Track::new();
    let done = track.run(&[
        "run",
        "--check-output",
        "-r",
        "4",
        "--",
        "printf 'a\\nb\\n'",
        "printf 'a\\nc\\n'",
    ]);
    done.fails_with(
        3,
        &["--check-output", "line 2 is \"c\", the baseline's is \"b\""],
    );
    let same = track.run(&[
        "run",
        "--check-output",
        "-r",
        "4",
        "--",
        "printf 'a\\n'",
        "echo a",
    ]);
    same.succeeds();
    let codes = [
        "run",
        "--check-output",
        "-i",
        "-S",
        "sh",
        "-r",
        "4",
        "--",
        "exit 1",
        "exit 2",
    ];
    track
        .run(&codes)
        .fails_with(3, &["exits with code 2", "exits with 1"]);
}

#[test]
fn a_full_disk_keeps_what_was_measured() {
    let track = Track::new();
    let disk = track.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    let save = disk.join("run.jsonl");
    // A file system of 32 KiB in a mount namespace of its own.
    let script = format!(
        "mount -t tmpfs -o size=32k tmpfs {disk} || exit 99; \
         {deadheat} run -q -r 4000 --save {save} -- true true; code=$?; \
         cp {save} {copy}; exit $code",
        disk = disk.display(),
        save = save.display(),
        copy = track.path("copy.jsonl").display(),
    );
    let root = is_root();
    let namespace: &[&str] = if root { &["-m"] } else { &["-r", "-m"] };
    let output = Command::new("unshare")
        .args(namespace)
        .args(["sh", "-c", &script])
        .output();
    let done = match output {
        Ok(output) => Finished::from(output),
        Err(error) => return skip!("no unshare here: {error}"),
    };
    if done.code == Some(99) || done.stderr.contains("unshare") {
        return skip!("this sandbox cannot mount: {}", done.stderr);
    }
    done.fails_with(
        5,
        &[
            "cannot write",
            "run.jsonl",
            "No space left",
            "blocks measured so far are in",
        ],
    );
    let copy = track.path("copy.jsonl");
    assert!(blocks_in(&copy) > 20);
    track.run(&["analyze", text(&copy)]).succeeds();
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

#[test]
fn an_interrupt_stops_the_children_and_answers_with_what_there_is() {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let pids = track.path("pids");
    let script = format!("echo $$ >> {}; exec sleep 0.05", pids.display());
    let args = [
        "run",
        "--json",
        "-r",
        "4000",
        "-S",
        "sh",
        "--save",
        text(&save),
        "--",
        &script,
        &script,
    ];
    let child = track.start(&args);
    wait_until("eight blocks", || blocks_in(&save) >= 8);
    signal(child.id(), libc::SIGINT);
    let done = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:?}");
    let analysis = done.json();
    assert_eq!(analysis["ended"], "interrupted");
    assert!(analysis["benchmarks"][0]["blocks"].as_u64().unwrap() >= 8);
    let again = track.run(&["analyze", "--json", text(&save)]);
    assert_eq!(again.succeeds().stdout, done.stdout);
    let last = std::fs::read_to_string(&pids).unwrap();
    assert!(
        !lives(last.lines().last().unwrap()),
        "the last child lives on"
    );
}

#[test]
fn races_of_one_seed_in_one_second_each_have_their_file() {
    let track = Track::new();
    let args = ["run", "--seed", "7", "-r", "1", "-w", "0", "--", "true"];
    let races: Vec<_> = (0..6).map(|_| track.start(&args)).collect();
    for race in races {
        Finished::from(race.wait_with_output().unwrap()).succeeds();
    }
    assert_eq!(track.recorded().len(), 6);
}

/// A folder in which not even root may make a file.
const NOBODYS: &str = "/sys/kernel";

#[test]
fn a_folder_that_takes_no_file_is_nobodys_mistake_on_the_command_line() {
    let track = Track::new();
    let page = format!("--html={NOBODYS}/page.html");
    let race = ["-r", "1", "-w", "0", "--", "true"];
    let done = track.run(&[&["run", &page], &race[..]].concat());
    done.fails_with(5, &["--html", NOBODYS, "page.html"]);
    let save = format!("--save={NOBODYS}/run.jsonl");
    let done = track.run(&[&["run", &save], &race[..]].concat());
    done.fails_with(5, &["--save", NOBODYS, "run.jsonl"]);
    let mut unnamed = track.command();
    unnamed.current_dir(NOBODYS).arg("run").args(race);
    let done = Finished::from(unnamed.output().unwrap());
    done.succeeds();
    for words in [
        "warning: cannot write .deadheat",
        "--save FILE records it elsewhere",
    ] {
        assert!(done.stderr.contains(words), "{done:?}");
    }
    assert!(done.stdout.contains("not recorded"), "{done:?}");
    // A folder that is not there is one.
    let done = track.run(&[&["run", "--html=no/such/page.html"], &race[..]].concat());
    done.fails_with(2, &["--html", "no/such/page.html"]);
}

#[test]
fn rules_that_cannot_be_read_are_told_and_not_passed_over() {
    let track = Track::new();
    std::fs::create_dir(track.path("deadheat.toml")).unwrap();
    let race = ["run", "-r", "1", "-w", "0", "--", "true"];
    track
        .run(&race)
        .fails_with(4, &["deadheat.toml", "it is a folder", "--no-config"]);
    let without = [&["run", "--no-config"], &race[1..]].concat();
    track.run(&without).succeeds();
    std::fs::remove_dir(track.path("deadheat.toml")).unwrap();
    std::os::unix::fs::symlink("nowhere", track.path("deadheat.toml")).unwrap();
    track
        .run(&race)
        .fails_with(4, &["deadheat.toml", "a link to a missing file"]);
}

#[test]
fn every_signal_that_asks_to_stop_gets_an_answer() {
    for number in [
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGALRM,
    ] {
        let track = Track::new();
        let save = track.path("run.jsonl");
        let command = "sleep 0.01";
        let child = track.start(&[
            "run",
            "--json",
            "-r",
            "4000",
            "--save",
            text(&save),
            "--",
            command,
            command,
        ]);
        wait_until("four blocks", || blocks_in(&save) >= 4);
        signal(child.id(), number);
        let done = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(done.code, Some(128 + number), "{done:?}");
        let analysis = done.json();
        assert_eq!(analysis["ended"], "interrupted", "signal {number}");
        assert!(analysis["benchmarks"][0]["blocks"].as_u64().unwrap() >= 4);
    }
}

#[test]
fn an_interrupt_does_not_wait_for_a_long_command() {
    let track = Track::new();
    let pid = track.path("pid");
    let script = format!("echo $$ > {}; exec sleep 600", pid.display());
    let child = track.start(&["run", "-S", "sh", "--", &script]);
    wait_until("the command has started", || {
        std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'))
    });
    signal(child.id(), libc::SIGTERM);
    let done = Finished::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(128 + libc::SIGTERM), "{done:?}");
    assert!(!lives(&std::fs::read_to_string(&pid).unwrap()));
}

#[test]
fn no_process_of_a_hook_survives_a_signal() {
    for (flag, number) in [
        ("--setup", libc::SIGINT),
        ("--prepare", libc::SIGTERM),
        ("--conclude", libc::SIGHUP),
        ("--cleanup", libc::SIGTERM),
    ] {
        let track = Track::new();
        let pids = track.path("pids");
        // A child, one in a session of its own, and a child of that.
        let hook = format!(
            "sleep 600 & echo $! >> {0}; \
             setsid sh -c 'sleep 600 & echo $! $$ >> {0}; wait' & wait",
            pids.display()
        );
        let child = track.start(&["run", "-r", "2", "-S", flag, &hook, "--", "true", "true "]);
        let started = || std::fs::read_to_string(&pids).unwrap_or_default();
        wait_until("the hook has started all", || {
            started().lines().count() == 2
        });
        signal(child.id(), number);
        let done = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(done.code, Some(128 + number), "{done:?}");
        let left: Vec<String> = started().split_whitespace().map(str::to_owned).collect();
        assert!(!left.iter().any(|pid| lives(pid)), "{flag}: {left:?}");
    }
}

#[test]
fn a_failure_quotes_the_message_of_a_panic_and_not_its_backtrace() {
    let track = Track::new();
    std::fs::write(track.path("x.rs"), "fn main() { panic!(\"out of luck\") }").unwrap();
    track.tool("rustc", &["-o", "x", "x.rs"]);
    for words in [
        &["run", "-S", "--", "RUST_BACKTRACE=1 ./x", "true"][..],
        &[
            "run",
            "-S",
            "--setup",
            "RUST_BACKTRACE=full ./x",
            "--",
            "true",
        ],
        &[
            "bench",
            "env RUST_BACKTRACE=1 ./x",
            "env RUST_BACKTRACE=full ./x",
        ],
    ] {
        let done = track.run(words);
        done.fails_with(3, &["panicked at x.rs:1:13", "out of luck"]);
        assert!(!done.stderr.contains("rust_begin_unwind"), "{done:?}");
        assert!(
            !done.stderr.contains("RUST_BACKTRACE=full` for"),
            "{done:?}"
        );
    }
}

#[test]
fn no_process_survives_when_deadheat_is_killed() {
    is_survived_by_no_process(|deadheat| deadheat.to_string());
}

#[test]
fn no_process_survives_when_the_process_group_of_deadheat_is_killed() {
    is_survived_by_no_process(|deadheat| format!("-{deadheat}"));
}

/// Kills what `target` makes of the process id of deadheat, in the middle of a race.
fn is_survived_by_no_process(target: fn(u32) -> String) {
    let track = Track::new();
    let save = track.path("run.jsonl");
    let pids = track.path("pids");
    // The shell, a child of it, and one that has left its process group.
    let script = format!(
        "if [ $(cat {0} 2>/dev/null | wc -l) -lt 24 ]; then echo $$ >> {0}; exit 0; fi; \
         echo $$ >> {0}; sleep 600 & echo $! >> {0}; \
         setsid sh -c 'echo $$ >> {0}; exec sleep 600' & wait",
        pids.display()
    );
    let args = [
        "run",
        "-q",
        "-w",
        "0",
        "-S",
        "sh",
        "--save",
        text(&save),
        "--",
        &script,
    ];
    let mut command = track.command();
    command.args(args).process_group(0);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let lines = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait_until("the long launch is under way", || {
        lines().lines().count() >= 27
    });
    assert!(kill(&["-KILL", &target(child.id())]));
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    let last: Vec<String> = lines().lines().skip(24).map(str::to_owned).collect();
    wait_until("all of them are gone", || {
        !last.iter().any(|pid| lives(pid))
    });
    let analysis = track.run(&["analyze", "--json", text(&save)]);
    let analysis = analysis.succeeds().json();
    assert_eq!(analysis["ended"], "cut");
    assert_eq!(analysis["benchmarks"][0]["baseline"]["samples"], 24);
}

#[test]
fn no_process_survives_when_a_command_kills_its_launcher() {
    let track = Track::new();
    let pids = track.path("pids");
    let script = format!(
        "echo $$ >> {0}; sleep 600 & echo $! >> {0}; \
         setsid sh -c 'echo $$ >> {0}; exec sleep 600' & \
         until [ $(wc -l < {0}) = 3 ]; do sleep 0.01; done; kill -9 $PPID; wait",
        pids.display()
    );
    let args = [
        "run",
        "-q",
        "-S",
        "sh",
        "--save",
        "/dev/null",
        "--",
        &script,
    ];
    let done = track.run(&args);
    done.fails_with(5, &["the launcher process is gone"]);
    let pids = std::fs::read_to_string(&pids).unwrap();
    assert_eq!(pids.lines().count(), 3);
    assert!(!pids.lines().any(lives), "{pids}");
}

#[test]
fn unreadable_data_are_told_with_file_and_line() {
    let track = Track::new();
    let csv = track.path("bad.csv");
    std::fs::write(&csv, "benchmark,contender,wall_ns\nb,a,1\nb,b,minus one\n").unwrap();
    track
        .run(&["analyze", text(&csv)])
        .fails_with(4, &["bad.csv:3"]);
    track
        .run(&["analyze", "not-there.jsonl"])
        .fails_with(4, &["not-there.jsonl"]);
    let newer = track.path("newer.jsonl");
    std::fs::write(&newer, "{\"schema\":\"deadheat.run/9\"}\n").unwrap();
    track
        .run(&["analyze", text(&newer)])
        .fails_with(4, &["deadheat.run/9"]);
    track
        .run(&["run", "--resume", text(&csv)])
        .fails_with(4, &["bad.csv"]);
    track.run(&["analyze"]).fails_with(2, &["FILE"]);
}

#[test]
fn a_file_of_benchmarks_that_all_failed_or_were_skipped_holds_nothing_to_judge() {
    let track = Track::new();
    let go =
        "goos: linux\nBenchmarkSkipped\n    x_test.go:13: not here\n--- SKIP: BenchmarkSkipped\n";
    std::fs::write(track.path("go.txt"), go).unwrap();
    let done = track.run(&["analyze", "go.txt"]);
    done.fails_with(4, &["go.txt: no benchmark has a result"]);
    // That all are left out is the rules file's doing.
    std::fs::write(track.path("go.txt"), "BenchmarkSort 100 5 ns/op\n").unwrap();
    std::fs::write(track.path("deadheat.toml"), "include = ['other']\n").unwrap();
    let done = track.run(&["analyze", "go.txt"]);
    done.fails_with(2, &["select none of the 1 benchmarks of go.txt"]);
}

#[test]
fn a_run_without_what_it_judges_is_broken_and_no_option_is_blamed() {
    let track = Track::new();
    let golden = "/../deadheat-format/tests/golden/functions.jsonl";
    let run = std::fs::read_to_string([env!("CARGO_MANIFEST_DIR"), golden].concat()).unwrap();
    let renamed = run.replacen("\"columns\":[\"wall_ns\"", "\"columns\":[\"will_ns\"", 1);
    assert_ne!(renamed, run);
    std::fs::write(track.path("run.jsonl"), renamed).unwrap();
    for words in [&["analyze"][..], &["analyze", "--metric", "cpu"]] {
        let done = track.run(&[words, &["run.jsonl"]].concat());
        done.fails_with(4, &["a rule judges wall, but the file records only will"]);
        assert!(!done.stderr.contains("--metric"), "{done:?}");
    }
}

#[test]
fn a_run_with_a_failed_benchmark_is_analysed_and_exits_as_a_contender_that_failed() {
    let track = Track::new();
    let functions = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../deadheat-format/tests/golden/functions.jsonl"
    );
    let done = track.run(&["analyze", "-v", functions]);
    done.fails_with(3, &[]);
    assert!(
        done.stdout
            .contains("! benchmark 'sort' failed: the worker crashed"),
        "{done:?}"
    );
    assert!(done.stdout.contains("GiB/s"), "{done:?}");
    // It outweighs a condition that holds of the others.
    let done = track.run(&["analyze", "--fail-on=inconclusive", "--json", functions]);
    done.fails_with(3, &[]);
    assert!(done.stdout.contains("\"failures\""), "{done:?}");
}

#[test]
fn a_race_of_a_program_with_its_own_functions_cannot_be_taken_up_and_the_reason_is_told() {
    let track = Track::new();
    let functions = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../deadheat-format/tests/golden/functions.jsonl"
    );
    let save = track.path("run.jsonl");
    std::fs::copy(functions, &save).unwrap();
    for command in ["run", "bench"] {
        let done = track.run(&[command, "--resume", text(&save)]);
        let told = "run.jsonl holds functions that their own program raced";
        done.fails_with(
            4,
            &[
                told,
                "only races by 'deadheat bench PROGRAM' can be continued",
            ],
        );
    }
}

fn signal(pid: u32, number: i32) {
    assert!(kill(&[&format!("-{number}"), &pid.to_string()]));
}

#[test]
fn a_limit_of_file_sizes_is_a_full_disk_for_deadheat_and_ends_what_it_races() {
    let track = Track::new();
    let limited = |blocks: u32, words: &str| {
        let deadheat = env!("CARGO_BIN_EXE_deadheat");
        let script = format!("ulimit -f {blocks}; exec {deadheat} {words}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(track.path(""));
        shell.env("XDG_STATE_HOME", track.path("state"));
        shell
            .env("DEADHEAT_CALIBRATION", "")
            .env("LC_ALL", "C.UTF-8");
        Finished::from(shell.output().unwrap())
    };
    track
        .run(&["run", "-r", "2", "--save", "r.jsonl", "--", "true", "true "])
        .succeeds();
    limited(8, "report r.jsonl --html page.html").fails_with(5, &["page.html"]);
    for left in std::fs::read_dir(track.path("")).unwrap() {
        let name = left.unwrap().file_name();
        assert!(
            [".deadheat", "r.jsonl"].iter().any(|one| name == *one),
            "{name:?}"
        );
    }
    limited(
        4_000,
        "run -q -r 2 -- 'dd if=/dev/zero of=large bs=9M count=1' true",
    )
    .fails_with(3, &["signal 25", "ulimit -a"]);
}
