//! The words for a command that fails, and for races where something is missing.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use common::{Finished, Track};

fn script(track: &Track, name: &str, content: &str, mode: u32) {
    let file = track.path(name);
    fs::write(&file, content).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_command_that_fails_in_its_warm_up_is_told_with_its_standard_error() {
    let track = Track::new();
    let race = |args: &[&str]| track.run(&[&["run", "--no-config"], args].concat());
    race(&["--", "ls /no/such", "true"]).fails_with(3, &["ls: cannot access", "/no/such"]);
    race(&["--", "true", "cat /no/such"]).fails_with(3, &["'cat /no/such'", "No such file"]);
    let talks = "echo one >&2; echo two >&2; echo three >&2; echo four >&2; exit 4";
    let done = race(&["-S", "sh", "--", talks]);
    done.fails_with(3, &["exited with code 4", "  | two\n  | three\n  | four\n"]);
    assert!(!done.stderr.contains("  | one"), "{done:?}");
    let crash = "echo about to crash >&2; kill -ABRT $$";
    race(&["-S", "sh", "--", "true", crash]).fails_with(3, &["SIGABRT", "about to crash"]);
    race(&["-S", "sh", "--value", "n=1", "--", crash]).fails_with(3, &["about to crash"]);
    race(&["--", "false"]).fails_with(3, &["wrote nothing to standard error"]);
    // Megabytes of it are no more than their end.
    let long = "head -c 30000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last >&2; exit 1";
    let done = race(&["-S", "sh", "--", long]);
    done.fails_with(3, &["last"]);
    assert!(done.stderr.len() < 2_000, "{}", done.stderr.len());
    // Control characters do no harm.
    let done = race(&["-S", "sh", "--", "printf '\\033[2Jred\\n' >&2; exit 1"]);
    done.fails_with(3, &["red"]);
    assert!(!done.stderr.contains('\u{1b}'), "{done:?}");
}

#[test]
fn a_measured_command_that_fails_says_how_its_standard_error_is_seen() {
    let track = Track::new();
    let race = |args: &[&str]| track.run(&[&["run", "--no-config", "-w", "0"], args].concat());
    race(&["--", "ls /no/such"]).fails_with(3, &["--show-output shows its standard error"]);
    let done = race(&["--show-output", "--", "ls /no/such"]);
    done.fails_with(3, &["ls: cannot access", "exited with code 2"]);
    assert!(
        !done.stderr.contains("shows its standard error"),
        "{done:?}"
    );
}

#[test]
fn a_program_that_cannot_be_started_is_told_with_the_reason() {
    let track = Track::new();
    script(&track, "crlf", "#!/bin/sh\r\necho hi\r\n", 0o755);
    script(&track, "bad", "#!/no/such/interpreter -x\n", 0o755);
    script(&track, "none", "echo hi\n", 0o755);
    script(&track, "notx", "#!/bin/sh\necho hi\n", 0o644);
    fs::create_dir(track.path("folder")).unwrap();
    let cases: [(&str, &[&str]); 5] = [
        ("./crlf", &["carriage return", "'/bin/sh'", "sed -i"]),
        ("./bad", &["'/no/such/interpreter'", "does not exist"]),
        ("./none", &["a script that names its interpreter"]),
        ("./notx", &["chmod +x"]),
        ("./folder", &["it is a folder"]),
    ];
    for (program, words) in cases {
        for args in [
            &["--", program, "true"][..],
            &[
                "--arrangement",
                "side-by-side",
                "-w",
                "0",
                "--",
                "true",
                program,
            ],
            &["-p", program, "--", "true", "true"],
            &["-s", program, "--", "true", "true"],
        ] {
            let done = track.run(&[&["run", "--no-config", "-r", "2"], args].concat());
            done.fails_with(3, words);
            done.fails_with(3, &["cannot be started"]);
        }
    }
    let done = track.run(&[
        "run",
        "--no-config",
        "--",
        "LC_ALL=C sort /dev/null",
        "true",
    ]);
    done.fails_with(2, &["only a shell sets a variable", "env LC_ALL=C"]);
    let done = track.run(&["run", "--no-config", "-p", "no-such-hook", "--", "true"]);
    done.fails_with(3, &["there is no program 'no-such-hook' in PATH"]);
}

#[test]
fn an_enormous_name_is_cut() {
    let track = Track::new();
    let long = "a".repeat(70_000);
    let both = format!("{long},b");
    for args in [
        &["-L", "n", &both, "--", "echo {n}{n}"][..],
        &["-L", "n", &both, "--", "echo {n}{n}", "true"],
        &["-L", "n", &both, "--", "{n} x", "true"],
        &["-L", "n", &both, "-p", "{n}{n} x", "--", "true"],
    ] {
        let done = track.run(&[&["run", "--no-config", "-r", "2"], args].concat());
        assert_eq!(done.code, Some(3), "{}", done.stderr.len());
        let shown = done.stderr.len() + done.stdout.len();
        assert!(shown < 6_000, "{shown}");
    }
    let done = track.run(&[
        "run",
        "--no-config",
        "-L",
        "n",
        "1",
        "--",
        &format!("{long} {{m}}"),
    ]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.len() < 3_000, "{}", done.stderr.len());
}

#[test]
fn arguments_that_are_not_utf_8_are_named() {
    let track = Track::new();
    for bytes in [&b"cat f\xff"[..], b"cat \xc3(", b"\x80"] {
        let mut command = track.command();
        command.args(["run", "--no-config", "-r", "2", "--"]);
        command.arg(OsStr::from_bytes(bytes)).arg("true");
        let done = Finished::from(command.output().unwrap());
        let byte = bytes.iter().find(|byte| !byte.is_ascii()).unwrap();
        done.fails_with(
            2,
            &[
                "not UTF-8",
                &format!("\\x{byte:02x}'").replace("\\xc3'", "\\xc3("),
            ],
        );
    }
}

/// Runs the program in a shell that limits itself first.
fn limited(track: &Track, limits: &str, args: &str) -> Finished {
    let mut shell = Command::new("bash");
    let line = format!("{limits}; exec '{}' {args}", env!("CARGO_BIN_EXE_deadheat"));
    shell.args(["-c", &line]).current_dir(track.folder.path());
    Finished::from(shell.env("LC_ALL", "C.UTF-8").output().unwrap())
}

#[test]
fn a_small_stack_suffices_and_is_left_to_the_commands() {
    let track = Track::new();
    for kib in [128, 256, 512, 1024] {
        let limits = format!("ulimit -c 0; ulimit -s {kib}");
        let race = "run --no-config -r 4 --show-output -- 'bash -c \"ulimit -s\"' 'true'";
        let done = limited(&track, &limits, race);
        done.succeeds();
        assert!(done.stdout.contains(&format!("{kib}\n")), "{done:?}");
        limited(
            &track,
            &limits,
            "run --no-config -- 'sleep 0.001' 'sleep 0.005'",
        )
        .succeeds();
        limited(&track, &limits, "--help").succeeds();
        limited(&track, &limits, "run --no-config -- 'false'")
            .fails_with(3, &["exited with code 1"]);
    }
}

#[test]
fn ctrl_c_ends_a_race_on_a_small_stack() {
    let track = Track::new();
    let line = format!(
        "ulimit -s 512; timeout -s INT 1 '{}' run --no-config -w 0 -- 'sleep 30'",
        env!("CARGO_BIN_EXE_deadheat")
    );
    let start = std::time::Instant::now();
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(track.folder.path());
    let done = shell.output().unwrap();
    assert!(start.elapsed().as_secs() < 20, "{done:?}");
}

#[test]
fn a_folder_that_may_not_be_written_to_races_without_a_record() {
    let track = Track::new();
    for save in ["--save /dev/null", "--save /dev/null -q"] {
        let done = limited(
            &track,
            "true",
            &format!("run --no-config -r 2 {save} -- true true"),
        );
        assert!(done.succeeds().stdout.contains("not recorded"), "{done:?}");
    }
    let failed = "run --no-config -w 0 -r 2 --save /dev/null -- true false";
    limited(&track, "true", failed).fails_with(3, &["exited with code 1"]);
    assert!(fs::metadata("/dev/null").is_ok_and(|found| !found.is_file()));
    let race = "run --no-config -w 0 -r 2 --save /dev/null -L n 1,2 -- 'test {n} = 2' true";
    let done = limited(&track, "true", race);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stdout.contains("not recorded"), "{done:?}");
    // Not even root may make a file there.
    let done = limited(
        &track,
        "cd /sys/kernel",
        "run --no-config -r 2 -- true true",
    );
    assert!(done.succeeds().stdout.contains("not recorded"), "{done:?}");
    for words in [
        "warning: cannot write .deadheat",
        "--save FILE records it elsewhere",
    ] {
        assert!(done.stderr.contains(words), "{done:?}");
    }
}
