//! Wrong command lines, run as a user types them: each is answered by an error in our words and, if
//! there is something to do about it, by advice.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Finished, Track};

/// Words of parsers and of the system that mean nothing to a user.
const FOREIGN: [&str; 9] = [
    "os error",
    "invalid digit",
    "fit in target type",
    "is not in 0..",
    "EOF while parsing",
    "key must be a string",
    "found in string",
    "For more information",
    "deadheat: error",
];

/// A folder with files that are easily mistaken for others.
fn track() -> Track {
    let track = Track::new();
    let put = |name: &str, text: &str| fs::write(track.path(name), text).unwrap();
    put("cut.json", r#"{"a": 1"#);
    put("other.json", r#"{"a": 1}"#);
    put("settings.toml", "[package]\nname = \"x\"\n");
    put("notes.txt", "bought milk\n");
    put("empty.json", "");
    put("odd.toml", "margn = 1\n");
    put("plain.sh", "echo hello\n");
    put("lost.sh", "#!/no/such/interpreter\necho\n");
    put("windows.sh", "#!/bin/sh\r\necho\r\n");
    for name in ["lost.sh", "windows.sh"] {
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(track.path(name), executable).unwrap();
    }
    fs::create_dir(track.path("folder")).unwrap();
    track
}

/// Asserts that a command line ends with this code, one error, and these words.
#[track_caller]
fn answers(track: &Track, line: &[&str], code: i32, words: &[&str]) -> Finished {
    let done = track.run(line);
    done.fails_with(code, words);
    let mut lines = done
        .stderr
        .lines()
        .filter(|line| !line.starts_with("hint: "));
    let first = lines.next().unwrap_or_default();
    assert!(first.starts_with("error: "), "{line:?}: {done:?}");
    for later in lines {
        let is_ours = later.starts_with("help: ") || later.starts_with("  ");
        assert!(is_ours, "{line:?}: {later}");
    }
    for foreign in FOREIGN {
        assert!(!done.stderr.contains(foreign), "{line:?}: {}", done.stderr);
    }
    done
}

#[test]
fn a_command_that_fails_shows_its_standard_error_then_its_exit_code_then_the_option() {
    let track = track();
    let done = answers(&track, &["run", "--", "ls /nosuch", "true"], 3, &[]);
    let places = ["ls: cannot access", "exited with code 2", "help: -i"];
    let places = places.map(|words| done.stderr.find(words).expect(words));
    assert!(places.is_sorted(), "{done:?}");
    let script = "echo one >&2; echo two >&2; exit 9";
    let shell = ["run", "-S", "--", script, "true"];
    answers(&track, &shell, 3, &["  | one\n  | two\n", "code 9", "-i=9"]);
    answers(
        &track,
        &["run", "--", "false", "true"],
        3,
        &[
            "exited with code 1 and wrote nothing to standard error",
            "-i=1",
        ],
    );
    let unknown = ["run", "-S", "--", "no-such-program", "true"];
    answers(&track, &unknown, 3, &["code 127", "finds no program"]);
}

#[test]
fn a_program_that_cannot_be_started_is_answered_by_the_reason() {
    let track = track();
    for (program, words) in [
        (
            "./lost.sh",
            ["'/no/such/interpreter' does not exist", "first line"],
        ),
        ("./windows.sh", ["carriage return", "sed -i"]),
        ("./folder", ["it is a folder", "name an executable"]),
        (
            "./plain.sh",
            ["it is not executable", "chmod +x ./plain.sh"],
        ),
        ("./missing", ["there is no program", "./missing"]),
    ] {
        answers(&track, &["run", "--", program, "true"], 3, &words);
        answers(&track, &["bench", program, "true"], 3, &words[..1]);
    }
    answers(
        &track,
        &["bench", "/bin/true", "/bin/false"],
        3,
        &["'/bin/true'", "lists no benchmarks", "deadheat run"],
    );
    answers(
        &track,
        &["bench", "other.json", "cut.json"],
        3,
        &["not executable", "deadheat compare"],
    );
}

#[test]
fn numbers_and_shares_are_answered_by_what_is_wrong_with_them() {
    let track = track();
    for (line, words) in [
        (
            &["-r", "abc"][..],
            &["'abc'", "--runs", "not a whole number"][..],
        ),
        (&["-r", "-1"], &["'-1'", "negative"]),
        (&["-r", "1.5"], &["not a whole number"]),
        (&["-w", "99999999999"], &["above 4294967295"]),
        (
            &["--seed", "99999999999999999999"],
            &["above 18446744073709551615"],
        ),
        (&["--max-replicates", "many"], &["not a whole number"]),
        (
            &["--margin", "2"],
            &["above 0 and below 1", "did you mean 2%?"],
        ),
        (&["--margin", "-1%"], &["above 0"]),
        (
            &["--margin", "small"],
            &["'small' is not a share", "1% or 0.01"],
        ),
        (&["--alpha", "5"], &["at most 0.5", "did you mean 5%?"]),
        (&["--quantile", "99"], &["did you mean 99%?"]),
        (&["--budget", "10 parsecs"], &["not a unit of time", "30s"]),
        (&["--timeout", "-3"], &["'-3' is not a time"]),
        (&["--budget", "soon"], &["'soon' is not a time"]),
        (&["--pin", "0-a"], &["'0-a' is not a core", "2,4-6"]),
        (&["--shard", "5/3"], &["'5/3'", "2/4"]),
        (&["-i=x"], &["'x' is not a list of exit codes", "-i=1,3"]),
        (
            &["--format", "jsn"],
            &["'jsn'", "did you mean 'json'?", "possible values"],
        ),
        (
            &["--fail-on", "fast"],
            &["'fast'", "possible values: slower"],
        ),
        (&["--margin"], &["'--margin <CHANGE>' lacks its value"]),
    ] {
        let line = [&["run"], line, &["true", "true"]].concat();
        // The last option lacks its value only if no command follows.
        let line = if words[0].ends_with("lacks its value") {
            &line[..2]
        } else {
            &line[..]
        };
        answers(&track, line, 2, words);
    }
}

#[test]
fn words_that_stand_in_the_wrong_place_are_answered_by_the_right_one() {
    let track = track();
    let quote = ["'0.01'", "quote each command", "'sleep 0.01'"];
    answers(&track, &["run", "sleep", "0.01"], 3, &quote);
    for (line, words) in [
        (
            &["run", "ls", "-la"][..],
            &["'-la'", "quote each command"][..],
        ),
        (
            &["run", "sleep", "0.01", "--unknown"],
            &["'--unknown'", "quote each command"],
        ),
        (
            &["anaylze", "a.jsonl"],
            &["no command 'anaylze'", "did you mean 'analyze'?"],
        ),
        (&["rnu", "a", "b"], &["no command 'rnu'", "--help"]),
        (
            &["history", "chek"],
            &["no command 'chek'", "did you mean 'check'?"],
        ),
        (
            &["-q", "analyze", "a.jsonl"],
            &["'-q'", "options follow the command", "analyze -q"],
        ),
        (
            &["merge"],
            &["<PART>...", "is missing", "for example: deadheat merge"],
        ),
        (
            &["bisect"],
            &["<GOOD..BAD> is missing", "deadheat bisect v1.0..HEAD"],
        ),
        (
            &["analyze"],
            &["<FILE>... is missing", "for example: deadheat analyze"],
        ),
        (&["analyze", "--markdown"], &["<FILE>... is missing"]),
        (
            &["report", "other.json", "--markdown", "page"],
            &["'page'", "--markdown=page"],
        ),
        (
            &["run", "--json", "--format", "csv", "true"],
            &["'--json' cannot be used with"],
        ),
        (
            &["run", "--seed", "1", "--seed", "2", "true"],
            &["given more than once"],
        ),
        (
            &["run", "--margn", "1%", "true"],
            &["'--margn'", "did you mean '--margin'?"],
        ),
        (
            &["run", "-L", "x", "1,2", "echo {y}"],
            &["{y}", "did you mean {x}?"],
        ),
        (&["run", "echo 'a", "true"], &["a quote is not closed"]),
        (
            &["run"],
            &["no command to run", "for example: deadheat run"],
        ),
        (
            &["compare", "other.json"],
            &["other.json is named alone", "help: "],
        ),
        (&["explain", "--", "true"], &["side by side", "give two"]),
        (
            &["clean", "--older-than", "ages"],
            &["--older-than", "'ages'"],
        ),
        (
            &["completions", "tcsh"],
            &["'tcsh'", "possible values: bash"],
        ),
    ] {
        answers(&track, line, 2, words);
    }
}

#[test]
fn options_of_other_tools_are_answered_by_ours() {
    let track = track();
    for (line, words) in [
        (
            &["run", "--style", "basic", "true"][..],
            ["hyperfine", "--color never"],
        ),
        (
            &["run", "--export-asciidoc", "x", "true"],
            ["hyperfine", "--export-markdown"],
        ),
        (
            &["run", "--reference", "true", "false"],
            ["hyperfine", "first command is the baseline"],
        ),
        (
            &["run", "--sort", "command", "true"],
            ["hyperfine", "keep their order"],
        ),
        (
            &["bench", "--save-baseline", "x", "./a"],
            ["criterion", "deadheat rev"],
        ),
        (
            &["bench", "--noise-threshold", "0.02", "./a"],
            ["criterion", "--margin"],
        ),
        (
            &["compare", "-alpha", "0.01", "a", "b"],
            ["benchstat", "--alpha"],
        ),
        (
            &["rev", "--benchmark_filter=x", "main"],
            ["Google Benchmark", "FILTER"],
        ),
    ] {
        answers(&track, line, 2, &words);
    }
}

#[test]
fn files_that_hold_something_else_are_answered_by_what_they_are() {
    let track = track();
    for (line, code, words) in [
        (
            &["analyze", "cut.json"][..],
            4,
            &["cut.json:1:7", "ends in the middle of its JSON"][..],
        ),
        (
            &["analyze", "other.json"],
            4,
            &["JSON of no tool", "help: deadheat reads"],
        ),
        (
            &["analyze", "settings.toml"],
            4,
            &["neither JSON nor a table"],
        ),
        (&["analyze", "notes.txt"], 4, &["neither JSON nor a table"]),
        (&["analyze", "empty.json"], 4, &["empty.json is empty"]),
        (
            &["analyze", "missing.json"],
            4,
            &["cannot read missing.json", "no such file"],
        ),
        (
            &["analyze", "no/such/run.jsonl"],
            4,
            &["there is no folder no/such"],
        ),
        (
            &["analyze", "folder"],
            4,
            &["folder is a folder without files"],
        ),
        (&["merge", "other.json"], 4, &["not a run file", "--save"]),
        (&["merge", "notes.txt"], 4, &["not a run file, but text"]),
        (&["run", "--resume", "other.json"], 4, &["not a run file"]),
        (&["compare", "cut.json", "other.json"], 4, &["cut.json:1:7"]),
        (
            &["compare", "a", "b"],
            4,
            &["cannot read a", "no such file"],
        ),
        (
            &["report", "missing.jsonl", "--json"],
            4,
            &["cannot read missing.jsonl"],
        ),
        (
            &["report", "other.json"],
            2,
            &["nothing to make", "--html FILE"],
        ),
        (
            &["run", "--config", "odd.toml", "true"],
            2,
            &["'margn'", "did you mean 'margin'?"],
        ),
        (
            &["run", "--config", "no.toml", "true"],
            2,
            &["cannot read no.toml"],
        ),
        (
            &["run", "--html", "no/such/page.html", "true"],
            2,
            &["there is no folder no/such"],
        ),
        (
            &["run", "--export-csv", "folder", "true"],
            2,
            &["--export-csv", "it is a folder"],
        ),
        (
            &["run", "--save", "folder", "true"],
            2,
            &["--save", "folder", "help: "],
        ),
        (
            &["run", "--input", "missing", "cat", "cat"],
            3,
            &["--input 'missing'"],
        ),
    ] {
        answers(&track, line, code, words);
    }
}

#[test]
fn an_option_for_markdown_does_not_take_a_recording_for_its_file() {
    let track = track();
    let table = "benchmark,contender,role,iterations,wall_ns\nb,x,baseline,1,5\n";
    fs::write(track.path("old.csv"), table).unwrap();
    let done = track.run(&["analyze", "--markdown", "old.csv"]);
    done.succeeds();
    assert!(done.stdout.starts_with("**deadheat**"), "{done:?}");
    assert_eq!(fs::read_to_string(track.path("old.csv")).unwrap(), table);
    track
        .run(&["analyze", "old.csv", "--markdown", "page.md"])
        .succeeds();
    assert!(track.path("page.md").exists());
}

#[test]
fn a_metric_that_a_recorded_race_was_not_judged_by_is_refused() {
    let track = track();
    let race = ["run", "-r", "12", "--save", "race.jsonl", "true", "true"];
    assert_eq!(track.run(&race).code, Some(0));
    for command in [&["analyze"][..], &["report", "--json"]] {
        for metric in ["cpu", "peak-rss", "foo"] {
            let line = [command, &["race.jsonl", "--metric", metric]].concat();
            let words = [
                &format!("--metric {metric}: "),
                "judged by wall",
                "-v shows",
            ];
            answers(&track, &line, 2, &words);
        }
    }
    let same = ["analyze", "race.jsonl", "--metric", "wall"];
    assert_eq!(track.run(&same).code, Some(0));
}

#[test]
fn a_command_that_is_taken_for_the_values_of_a_parameter_is_recognised() {
    let line = ["run", "-L", "size", "echo {size}", "true"];
    let words = ["--parameter-list size: ", "-L size 1,2 'echo {size}'"];
    answers(&track(), &line, 2, &words);
}

#[test]
fn commands_alone_race_as_with_run() {
    let track = track();
    for line in [
        &["-r", "2", "-q", "--", "true", "true"][..],
        &["sleep 0.001", "sleep 0.001", "-r", "2", "-q"],
    ] {
        let done = track.run(line);
        done.succeeds();
        assert!(
            done.stdout.contains("baseline") || done.stdout.contains("launches"),
            "{done:?}"
        );
    }
    answers(
        &track,
        &["no such", "true"],
        3,
        &["there is no program 'no'"],
    );
}

#[test]
fn a_check_of_a_history_without_races_does_not_pass() {
    let track = track();
    let check = ["history", "check"];
    answers(&track, &check, 2, &["there is no index", "history extend"]);
    fs::create_dir(track.path("runs")).unwrap();
    track.run(&["history", "add", "runs"]).succeeds();
    answers(
        &track,
        &check,
        2,
        &["nothing was checked", "--allow-unjudged"],
    );
    let allowed = track.run(&["history", "check", "--allow-unjudged"]);
    allowed.succeeds();
}

#[test]
fn revisions_that_are_none_are_answered_by_where_commits_are() {
    deadheat_testing::needs!("git");
    let track = track();
    answers(
        &track,
        &["rev", "main"],
        2,
        &["not in a git working tree", "help: "],
    );
    track.tool("git", &["init", "-q"]);
    for (line, words) in [
        (["rev", "nowhere"], ["'nowhere' is not a commit", "git log"]),
        (
            ["bisect", "nowhere..HEAD"],
            ["'nowhere' is not a commit", "git log"],
        ),
        (["bisect", "HEAD"], ["'HEAD' is no range", "GOOD..BAD"]),
    ] {
        answers(&track, &line, 2, &words);
    }
}
