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
    put("excel.csv", "Messung;Alt;Neu\n1;12,3;11,9\n2;12,1;11,8\n");
    put("tabs.txt", "\nname\ttime\nsort\t1.5\n");
    put("time.txt", "\nreal\t0m1.2s\nuser\t0m1.1s\nsys\t0m0.1s\n");
    put("empty.json", "");
    put("list.json", "[]");
    put("none.json", r#"{"benchmarks":[]}"#);
    put("lack.csv", "name,time\na,1\n");
    put("near.csv", "benchmark,contender,wall-ns\nb,x,1\n");
    for (name, command) in [("old.json", "sort a"), ("new.json", "sort b")] {
        put(
            name,
            &format!(r#"{{"results":[{{"command":"{command}","times":[0.010,0.011]}}]}}"#),
        );
    }
    put(
        "below.json",
        r#"{"results":[{"command":"sort a","times":[0.5,-1]}]}"#,
    );
    for (name, bytes) in [
        ("picture.json", &b"\x89PNG\r\n\x1a\n\0\0"[..]),
        (
            "program.json",
            &b"\x7fELF\x02\x01\x01\0\n{\"results\":[]}"[..],
        ),
        ("numbers.csv", &b"PAR1\x15\0,\x15"[..]),
    ] {
        fs::write(track.path(name), bytes).unwrap();
    }
    put("odd.toml", "margn = 1\n");
    put("plain.sh", "echo hello\n");
    put("plain.c", "int main(void) { return 0; }\n");
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
    let places = [
        "ls: cannot access",
        "exited with code 2",
        ", -i accepts every exit code",
    ];
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
            ["it is not executable", "as in 'sh ./plain.sh'"],
        ),
        ("./missing", ["there is no program", "./missing"]),
    ] {
        answers(&track, &["run", "--", program, "true"], 3, &words);
        answers(&track, &["bench", program, "true"], 3, &words[..1]);
    }
    answers(
        &track,
        &["run", "--", "grpe -c a plain.sh", "true"],
        3,
        &[
            "there is no program 'grpe' in PATH\n",
            "help: check its spelling; for a shell builtin, -S",
        ],
    );
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
        &[
            "not executable",
            "help: if it holds results, deadheat compare",
        ],
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
        (
            &["--margin", "5ms"],
            &[
                "'5ms' is not a share",
                "write a share of the baseline's value",
            ],
        ),
        (&["--quantile", "p99"], &["help: did you mean 99%?"]),
        (
            &["--quantile", "high"],
            &["write a share of the iterations, such as 99% or 0.99"],
        ),
        (&["--alpha", "5"], &["at most 0.5", "did you mean 5%?"]),
        (
            &["--alpha", "95%"],
            &["not 95%\n", "for a confidence level of 95%, write 5%"],
        ),
        (
            &["--alpha", "0.99"],
            &["a confidence level of 99%, write 1%"],
        ),
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
    fs::write(track.path("words"), "b\na\n").unwrap();
    let quote = ["'0.01'", "quote each command", "'sleep 0.01'"];
    answers(&track, &["run", "sleep", "0.01"], 3, &quote);
    for (line, words) in [
        (
            &["run", "ls", "-la"][..],
            &["'-la'", "quote each command"][..],
        ),
        (
            &["run", "sort", "-n", "words", "sort", "-r", "words"],
            &["'words'", "deadheat run 'sort -n words' 'sort -r words'"],
        ),
        (
            &["run", "sleep", "0.01", "--unknown"],
            &["'--unknown'", "quote each command"],
        ),
        (
            &["anaylze", "a.jsonl"],
            &["no command 'anaylze'", "did you mean 'analyze'?"],
        ),
        (
            &["rnu", "a", "b"],
            &["no command 'rnu'", "did you mean 'run'?"],
        ),
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
            &["run", "true", "false", "--terse"],
            &["'--terse'", "help: write --format terse"],
        ),
        (
            &["history", "list"],
            &["no command 'list'", "deadheat history show"],
        ),
        (
            &["run", "-D", "2", "true"],
            &["--parameter-scan", "MIN to MAX"],
        ),
        (
            &["report", "old.json", "--export-json", "x"],
            &["'--export-json'", "an option of deadheat", "analyze"],
        ),
        (
            &["analyze", "old.json", "-q"],
            &["'-q'", "an option of deadheat compare"],
        ),
        (
            &["run", "--export-csv=~/none/x.csv", "true", "true 1"],
            &["there is no folder ~/none", "write $HOME"],
        ),
        (&["main"], &["no command 'main'", "deadheat rev BASE"]),
        (&["v1..v2"], &["deadheat rev v1..v2"]),
        (
            &["old.json", "new.json"],
            &["deadheat compare old.json new.json"],
        ),
        (&["old.json"], &["deadheat analyze old.json"]),
        (
            &["run"],
            &["no command to run", "for example: deadheat run"],
        ),
        (
            &["compare", "other.json"],
            &["other.json is the only file", "help: "],
        ),
        (
            &["explain", "--", "true"],
            &["explain compares two commands", "give two"],
        ),
        (
            &["explain", "old.json", "new.json"],
            &[
                "old.json holds results, but no programs to run",
                "deadheat compare OLD NEW compares results",
            ],
        ),
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
fn commands_that_cannot_race_are_answered_by_commands_that_can() {
    let track = track();
    for name in ["old", "new"] {
        fs::copy("/bin/true", track.path(name)).unwrap();
    }
    for (line, words) in [
        (
            &["run", "./old", "./neww"][..],
            &["'./neww'", "did you mean './new'?"][..],
        ),
        (
            &["run", "./old", "a.txt", "./new", "a.txt"],
            &["deadheat run './old a.txt' './new a.txt'"],
        ),
        (
            &["run", "--", "./old", "./new", "--runs", "12"],
            &["'--runs'", "before the --"],
        ),
        (&["run", "./old", "new"], &["'new'", "help: "]),
        (&["run", "old", "new"], &["write ./"]),
        (
            &["run", "old.json", "new.json"],
            &["a file of results", "deadheat compare old.json new.json"],
        ),
        (
            &["run", "sleep 0.01", "sleep", "0.02"],
            &["'0.02'", "deadheat run 'sleep 0.01' 'sleep 0.02'"],
        ),
        (
            &["run", "ls .", "ls", "no-such-folder"],
            &["quote each command", "'ls no-such-folder'"],
        ),
        (
            &["run", "--margin", "2%", "5%", "--", "true", "false"],
            &["'5%'", "as one word"],
        ),
        (
            &["run", "-S", "--budget", "10", "s", "--", "true", "false"],
            &["'s'", "as in 10s"],
        ),
        (
            &["run", "-L", "n", "1,", "2", "seq {n}", "seq {n} 5"],
            &["'2'", "as in 10s or 1,2"],
        ),
        (
            &["run", "--shell=./plain.c", "--", "true", "false"],
            &[
                "its shell './plain.c' cannot be started: it is not executable",
                "--shell=bash",
            ],
        ),
        (
            &["run", "--shell=./folder", "true", "false"],
            &[
                "its shell './folder' cannot be started: it is a folder",
                "--shell=bash",
            ],
        ),
        (
            &["run", "--shell=./plain.sh", "true", "false"],
            &["its shell './plain.sh' cannot be started: it is not executable"],
        ),
        (
            &["run", "--shell=nosuchshell", "true", "false"],
            &["there is no shell 'nosuchshell' in PATH", "--shell=bash"],
        ),
        (
            &["run", "--shell=/no/shell -e", "true", "false"],
            &["there is no shell '/no/shell'", "--shell=bash"],
        ),
        (
            &["run", "--shell=nosuchshell", "-p", "true", "true", "false"],
            &["there is no shell 'nosuchshell'"],
        ),
    ] {
        let done = answers(&track, line, 3, words);
        assert!(!done.stderr.contains("shell builtin"), "{done:?}");
    }
    let accepted = ["run", "-q", "-r", "2", "-i", "1", "false", "./old"];
    track.run(&accepted).succeeds();
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
            ["in place of --reference", "name it first"],
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
            ["in place of --noise-threshold", "--margin"],
        ),
        (
            &["run", "./old", "./new", "--save-baseline", "main"],
            ["criterion", "deadheat rev"],
        ),
        (
            &["run", "true", "false", "--benchtime", "2s"],
            ["go test", "iterations"],
        ),
        (
            &["compare", "-alpha", "0.01", "a", "b"],
            ["benchstat", "--alpha"],
        ),
        (
            &["compare", "-col", "/codec", "a"],
            ["benchstat", "compare filters FILE KEY=A KEY=B"],
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
            &["JSON of an unknown tool", "help: deadheat reads"],
        ),
        (
            &["analyze", "settings.toml"],
            4,
            &["settings.toml is in no format that deadheat knows"],
        ),
        (
            &["analyze", "notes.txt"],
            4,
            &["notes.txt is in no format that deadheat knows"],
        ),
        (
            &["analyze", "excel.csv"],
            4,
            &[
                "excel.csv:1:8: the columns are separated by semicolons",
                "write numbers as 12.5; the columns are Messung, Alt, Neu; tidy CSV needs",
            ],
        ),
        (
            &["compare", "tabs.txt", "tabs.txt"],
            4,
            &["tabs.txt:2:5: the columns are separated by tabs"],
        ),
        (
            &["compare", "time.txt", "time.txt"],
            4,
            &["time.txt is the output of time", "deadheat run OLD NEW"],
        ),
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
            &["no report was chosen", "--html FILE"],
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
            &["there is no folder no/such\nhelp: mkdir -p no/such makes it"],
        ),
        (
            &["run", "--export-csv", "my results/a.csv", "true"],
            2,
            &["help: mkdir -p 'my results' makes it"],
        ),
        (
            &["run", "--export-csv", "folder", "true"],
            2,
            &["cannot write folder: it is a folder\nhelp: name a file in it"],
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
        (
            &["run", "--input", "folder", "cat", "cat"],
            3,
            &["--input 'folder'", "it is a folder"],
        ),
        (
            &["run", "--input", "/", "-r", "2", "cat", "cat"],
            3,
            &["--input '/'", "it is a folder"],
        ),
    ] {
        answers(&track, line, code, words);
    }
}

#[test]
fn files_that_cannot_be_compared_are_answered_by_what_can() {
    let track = track();
    for (line, code, words) in [
        (
            &["none.json", "none.json"][..],
            4,
            &[
                "none.json: no benchmark has a result",
                "help: record it again",
            ][..],
        ),
        (
            &["list.json", "old.json"],
            4,
            &["list.json: no benchmark has a result"],
        ),
        (
            &["picture.json", "old.json"],
            4,
            &["is a PNG image", "help: deadheat reads"],
        ),
        (
            &["program.json", "old.json"],
            4,
            &["program.json is an executable", "help: deadheat reads"],
        ),
        (&["numbers.csv", "old.json"], 4, &["is a Parquet file"]),
        (
            &["lack.csv", "lack.csv"],
            4,
            &[
                "lack.csv:1",
                "the columns are name, time",
                "needs benchmark, contender and wall_ns",
            ],
        ),
        (&["near.csv", "near.csv"], 4, &["rename 'wall-ns'?"]),
        (
            &["cut.json", "old.json"],
            4,
            &["cut.json:1:7", "help: it was cut off"],
        ),
        (
            &["empty.json", "old.json"],
            4,
            &["empty.json is empty", "help: "],
        ),
        (
            &["folder", "old.json"],
            4,
            &["folder is a folder without files"],
        ),
        (
            &["oldd.json", "new.json"],
            4,
            &["no such file", "did you mean 'old.json'?"],
        ),
        (&["old.json,new.json"], 4, &["as a separate word"]),
        (&["old.json new.json"], 4, &["as a separate word"]),
        (
            &["old.json", "vs", "new.json"],
            4,
            &["deadheat compare OLD NEW"],
        ),
        (
            &["old.json", "sort", "merge"],
            4,
            &[
                "cannot read sort",
                "deadheat compare filters old.json sort merge",
            ],
        ),
        (
            &["old.json", "new.json", "--filter", "merge"],
            6,
            &["matches none of the benchmarks", "'sort a'"],
        ),
        (
            &["*.yaml", "old.json"],
            4,
            &["no file matches this pattern"],
        ),
        (
            &["benchmark", "old.json", "new.json"],
            4,
            &["did you mean 'benchmarks'?"],
        ),
        (
            &["filters", "old.json", "sort", "merge"],
            2,
            &["filter 'merge' matches no benchmark", "'sort a'"],
        ),
        (
            &["old.json", "new.json", "--save", "run.jsonl"],
            2,
            &["--save is for races"],
        ),
        (
            &["old.json", "new.json", "--budget=5s"],
            2,
            &["--budget is for races"],
        ),
        (
            &["old.json", "new.json", "--baseline", "v1"],
            2,
            &["help: name the file"],
        ),
        (
            &["old.json", "new.json", "--metric", "foo"],
            2,
            &["record only wall", "help: "],
        ),
        (
            &["old.json", "new.json", "--filter", "["],
            2,
            &["is not a regular expression", "help: "],
        ),
    ] {
        answers(&track, &[&["compare"], line].concat(), code, words);
    }
    let names = track.run(&["compare", "old.json", "new.json"]);
    names.fails_with(
        4,
        &[
            "no benchmark in common",
            "benchmarksfiltered",
            "hyperfine -n NAME",
        ],
    );
    let filtered = [
        "compare",
        "benchmarksfiltered",
        "old.json",
        "sort a",
        "new.json",
        "sort b",
    ];
    let filtered = track.run(&filtered);
    assert!(
        filtered.stdout.contains("[sort a vs. sort b]"),
        "{filtered:?}"
    );
    let below = track.run(&["compare", "below.json", "below.json"]);
    assert_eq!(below.code, Some(3), "{below:?}");
    assert!(
        below.stdout.contains("results[0].times[1]") && below.stdout.contains("-1 is negative")
    );
}

#[test]
fn compare_starts_no_program_among_results() {
    let track = track();
    let script = format!("#!/bin/sh\ntouch {}\n", track.path("started").display());
    for (name, folder) in [
        ("tool", "."),
        ("evil.json", "."),
        ("evil2.txt", "."),
        ("7", "folder"),
    ] {
        let path = track.path(folder).join(name);
        fs::write(&path, &script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::copy(track.path("old.json"), track.path("folder/1.json")).unwrap();
    let mixed = ["'./tool' is a program", "deadheat bench OLD NEW"];
    for (line, code, words) in [
        (&["old.json", "./tool"][..], 2, mixed),
        (&["./tool", "old.json"], 2, mixed),
        (&["./tool", "./tool", "./tool"], 2, mixed),
        (&["old.json", "./tool", "--against", "new.json"], 2, mixed),
        (&["./tool", "./tool", "--against", "./tool"], 2, mixed),
        (
            &["benchmarksfiltered", "old.json", "a", "./tool", "b"],
            2,
            mixed,
        ),
        (
            &["old.json", "./tool --quick"],
            2,
            ["is a program", "help: "],
        ),
        (&["old.json", "evil.json"], 4, ["evil.json", "help: "]),
        (&["evil.json", "evil2.txt"], 4, ["evil", "help: "]),
        (&["evil.json", "./tool"], 2, mixed),
        (&["folder", "folder"], 4, ["folder/7", "help: "]),
        (&["folder", "old.json"], 4, ["folder/7", "help: "]),
        (
            &["old.json", "--against", "folder"],
            4,
            ["folder/7", "help: "],
        ),
        (
            &["old.json", "new.json", "--", "-x"],
            2,
            ["are for programs that race", "leave them out"],
        ),
    ] {
        answers(&track, &[&["compare"], line].concat(), code, &words);
        assert!(!track.path("started").exists(), "{line:?}");
    }
    for line in [
        &["analyze", "./tool"][..],
        &["analyze", "folder"],
        &["report", "evil.json", "--json"],
    ] {
        track.run(line).fails_with(4, &[]);
        assert!(!track.path("started").exists(), "{line:?}");
    }
}

#[test]
fn words_of_other_tools_are_answered_by_the_commands_and_options_of_deadheat() {
    let track = track();
    for (line, words) in [
        (
            &["diff", "old.json", "new.json"][..],
            ["no command 'diff'", "deadheat compare OLD NEW"],
        ),
        (&["version"], ["no command 'version'", "deadheat --version"]),
        (&["list"], ["no command 'list'", "deadheat bench --list"]),
        (
            &["benchmark", "./a"],
            ["no command 'benchmark'", "deadheat bench"],
        ),
        (
            &["nosuch"],
            ["no command 'nosuch'", "--help lists the commands"],
        ),
        (
            &["compare", "--confidence", "0.9", "a", "b"],
            ["'--confidence'", "--alpha"],
        ),
        (
            &["run", "--measurement-time", "3", "true"],
            ["'--measurement-time'", "--budget"],
        ),
        (&["bisect", "--good", "v1"], ["'--good'", "GOOD..BAD"]),
        (
            &["analyze", "--threshold=2%", "old.json"],
            ["'--threshold'", "--margin"],
        ),
        (&["merge", "-o", "x", "old.json"], ["'-o'", "--save FILE"]),
        (&["doctor", "--cpu", "2"], ["'--cpu'", "--pin"]),
        (&["doctor", "now"], ["'now'", "takes only options"]),
        (
            &["report", "old.json", "new.json"],
            ["'new.json'", "takes <FILE>"],
        ),
        (
            &["report", "old.json", "--svg"],
            ["lacks its value", "--svg <DIR>: Write"],
        ),
        (
            &["report", "old.json", "--hmtl", "x"],
            ["'--hmtl'", "did you mean '--html'?"],
        ),
        (
            &["history", "accept"],
            ["<COMMIT> and <WHY> are missing", "for example"],
        ),
        (
            &["clean", "--older-than", "5"],
            ["'5' is not an age", "30d"],
        ),
    ] {
        let done = answers(&track, line, 2, &words);
        let mistaken = ["'bench'?", "'--go'?", "'--config'?", "'--resume'?"];
        assert!(
            !mistaken.iter().any(|name| done.stderr.contains(name)),
            "{done:?}"
        );
    }
}

#[test]
fn files_that_are_not_run_files_are_named_by_what_they_are() {
    let track = track();
    for (file, words) in [
        ("picture.json", "but a PNG image"),
        ("program.json", "but an executable"),
        ("cut.json", "but JSON without the header of a run"),
    ] {
        answers(&track, &["merge", file], 4, &[words, "help: "]);
    }
    let race = ["run", "-r", "2", "--save", "race.jsonl", "true", "true"];
    assert_eq!(track.run(&race).code, Some(0));
    let whole = ["holds a whole race, not a part", "help: ", "--shard 1/2"];
    answers(&track, &["merge", "race.jsonl"], 4, &whole);
}

#[test]
fn plans_are_not_taken_for_races_and_existing_files_say_how_they_go_on() {
    let track = track();
    let race = ["--", "true", "true "];
    let plan = ["plan", "run", "--max-replicates", "6", "--save"];
    track
        .run(&[&plan[..], &["plan.json"], &race].concat())
        .succeeds();
    let part = |shard: &str, file: &str| {
        let words = [
            "run",
            "-q",
            "--plan",
            "plan.json",
            "--shard",
            shard,
            "--save",
            file,
        ];
        track.run(&words).succeeds();
    };
    part("1/2", "p1.jsonl");
    part("2/3", "p2.jsonl");
    for file in ["race.jsonl", "other.jsonl"] {
        let words = ["run", "-q", "-r", "2", "--save", file];
        track.run(&[&words[..], &race].concat()).succeeds();
    }
    let not_raced = ["plan.json", "is a plan", "deadheat run --plan plan.json"];
    for line in [
        &["compare", "plan.json", "race.jsonl"][..],
        &["compare", "race.jsonl", "plan.json"],
        &["compare", "race.jsonl", "--against", "plan.json"],
        &["merge", "plan.json"],
        &["merge", "p1.jsonl", "plan.json"],
        &["analyze", "plan.json"],
    ] {
        answers(&track, line, 4, &not_raced);
    }
    track
        .run(&["compare", "race.jsonl", "other.jsonl"])
        .succeeds();
    let shards = ["--shard 2/3", "--shard 1/2", "after the slash"];
    let done = answers(&track, &["merge", "p1.jsonl", "p2.jsonl"], 4, &shards);
    assert!(!done.stderr.contains("--max-replicates"), "{done:?}");
    let save = |file: &str| {
        let words = ["run", "-q", "--save", file];
        let words = [&words[..], &race].concat();
        answers(
            &track,
            &words,
            2,
            &["--save", "exists already", "choose another name"],
        )
    };
    assert!(save("race.jsonl").stderr.contains("--resume race.jsonl"));
    assert!(save("plan.json").stderr.contains("--plan plan.json"));
    for file in ["old.json", "lack.csv", "notes.txt"] {
        assert!(!save(file).stderr.contains("--resume"), "{file}");
    }
    let done = answers(
        &track,
        &["pack", "plan.json", "-o", "old.json"],
        2,
        &["exists already"],
    );
    assert!(!done.stderr.contains("--resume"), "{done:?}");
}

#[test]
fn options_that_a_command_lacks_are_answered_by_what_it_has() {
    let track = track();
    for (line, words) in [
        (&["clean", "--run"][..], &["did you mean '--runs'?"][..]),
        (&["run", "--run", "12", "true"], &["did you mean '--runs'?"]),
        (
            &["bench", "--skips", "a", "./a"],
            &["did you mean '--skip'?"],
        ),
        (
            &["bench", "--bench", "text"],
            &["deadheat bench ./old ./new FILTER"],
        ),
        (
            &["analyze", "old.json", "--filter", "a"],
            &["every benchmark", "grep NAME"],
        ),
        (
            &["analyze", "old.json", "--skip", "a"],
            &["every benchmark", "grep NAME"],
        ),
    ] {
        answers(&track, line, 2, words);
    }
    let done = track.run(&["compare", "--compat", "old.json", "new.json"]);
    done.fails_with(
        2,
        &["there is no mode 'old.json'", "--compat benchmarks OLD NEW"],
    );
    let done = track.run(&["compare", "--compat", "benchmark", "old.json", "new.json"]);
    done.fails_with(2, &["there is no mode 'benchmark'", "name a mode first"]);
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
fn a_bare_word_that_names_a_program_is_not_started() {
    let track = track();
    for (line, word) in [
        (&["init"][..], "init"),
        (&["env"], "env"),
        (&["true", "--help"], "true"),
        (&["true", "-r", "2"], "true"),
        (&["-r", "2", "true"], "true"),
        (&["-q", "-S", "true"], "true"),
        (&["touch", "--prepare", "touch ran"], "touch"),
    ] {
        let no_command = format!("there is no command '{word}'");
        let done = answers(&track, line, 2, &[&no_command, "help: "]);
        let advice = format!("help: deadheat run -- {word} starts the program");
        // Not every machine has an init.
        assert!(word == "init" || done.stderr.contains(&advice), "{done:?}");
        assert_eq!(done.stdout, "");
        assert!(!track.path("ran").exists());
    }
    for line in [
        &["-r", "2", "-q", "--", "true"][..],
        &["/bin/true", "-r", "2", "-q"],
        &["sleep 0.001", "-r", "2", "-q"],
        &["true", "false", "-i", "-r", "2", "-q"],
        &["run", "true", "-r", "2", "-q"],
        &["plan", "run", "true", "--save", "plan.json"],
    ] {
        track.run(line).succeeds();
    }
}

#[test]
fn settings_that_the_plan_of_a_race_fixed_are_refused_for_its_file() {
    let track = track();
    let race = [
        "run",
        "-r",
        "12",
        "--margin",
        "2%",
        "--save",
        "race.jsonl",
        "true",
        "true",
    ];
    assert_eq!(track.run(&race).code, Some(0));
    for command in [&["analyze"][..], &["report", "--json"]] {
        for (option, value, theirs) in [
            ("--margin", "50%", "--margin 2%"),
            ("--margin", "0.01", "--margin 2%"),
            ("--alpha", "0.3", "--alpha 5%"),
        ] {
            let line = [command, &["race.jsonl", option, value]].concat();
            let words = ["race.jsonl is a race with", theirs, "race again with"];
            answers(&track, &line, 2, &words);
        }
        let looks = [command, &["race.jsonl", "--looks"]].concat();
        answers(
            &track,
            &looks,
            2,
            &["--looks: race.jsonl is a race", "help: "],
        );
        let same = [command, &["race.jsonl", "--margin", "2%", "--alpha", "5%"]].concat();
        assert_eq!(track.run(&same).code, Some(0));
    }
    // A recording has no plan of its own.
    let table = "benchmark,contender,role,iterations,wall_ns\nb,x,baseline,1,5\n";
    fs::write(track.path("old.csv"), table).unwrap();
    let recording = ["analyze", "old.csv", "--margin", "50%", "--looks"];
    track.run(&recording).succeeds();
}

#[test]
fn options_about_benchmarks_are_refused_for_a_search_of_a_command() {
    let track = track();
    let search = ["bisect", "v1..v2", "--run", "./tool"];
    for (more, words) in [
        (&["parse"][..], ["'parse': ", "--run './tool parse'"]),
        (
            &["parse", "print"],
            ["'parse', 'print': ", "--run races a command"],
        ),
        (&["--skip", "parse"], ["'--run <CMD>'", "'--skip <FILTER>'"]),
        (&["--exact"], ["'--run <CMD>'", "'--exact'"]),
        (&["--ignored"], ["'--run <CMD>'", "'--ignored'"]),
        (
            &["--harness", "criterion"],
            ["'--run <CMD>'", "'--harness <NAME>'"],
        ),
        (&["--bench", "parse"], ["'--bench <NAME>'", "'--run <CMD>'"]),
    ] {
        let line = [&search[..], more].concat();
        let done = answers(&track, &line, 2, &[]);
        assert!(
            words.iter().all(|word| done.stderr.contains(word)),
            "{done:?}"
        );
    }
}

#[test]
fn a_count_of_nothing_is_refused() {
    let track = track();
    for line in [
        &["explain", "--top", "0", "--", "true", "true"][..],
        &["bisect", "v1..v2", "--run", "true", "--max-races", "0"],
        &["history", "show", "--last", "0"],
        &["history", "extend", "v1..v2", "--spans", "1,0"],
        &["history", "extend", "v1..v2", "--max-span", "0"],
    ] {
        answers(&track, line, 2, &["'0'", "it must be at least 1"]);
    }
}

#[test]
fn a_program_without_arguments_is_not_taken_for_a_linker() {
    let track = track();
    let executable = fs::Permissions::from_mode(0o755);
    fs::write(track.path("old"), "#!/bin/sh\ntouch ran\n").unwrap();
    fs::set_permissions(track.path("old"), executable).unwrap();
    for line in [
        &["link", "./old"][..],
        &["link", "--", "./old"],
        &["link", "cc"],
    ] {
        let words = ["has no arguments", "deadheat link -- cc main.o -o main"];
        answers(&track, line, 2, &words);
        assert!(!track.path("ran").exists());
    }
}

#[test]
fn operators_of_shells_are_refused_before_a_search_builds() {
    let track = track();
    for command in ["make; ./tool", "./tool > out", "./tool | cat"] {
        let line = ["bisect", "v1..v2", "--run", command, "--build", "touch ran"];
        let named = format!("--run '{command}': no shell reads the '");
        answers(&track, &line, 2, &[&named, "help: --run \"sh -c"]);
        assert!(!track.path("ran").exists());
    }
    let empty = ["bisect", "v1..v2", "--run", " "];
    answers(&track, &empty, 2, &["the command is empty"]);
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
    let words = ["the repository has no commit yet", "deadheat run OLD NEW"];
    answers(&track, &["rev", "HEAD~1"], 2, &words);
    let identity = ["-c", "user.name=n", "-c", "user.email=e@x"];
    let commit = ["commit", "-q", "--allow-empty", "-m", "first"];
    track.tool("git", &[&identity[..], &commit].concat());
    for (line, words) in [
        (["rev", "nowhere"], ["'nowhere' is not a commit", "git log"]),
        (
            ["bisect", "nowhere..HEAD"],
            ["'nowhere' is not a commit", "git log"],
        ),
        (["bisect", "HEAD"], ["'HEAD' is not a range", "GOOD..BAD"]),
    ] {
        answers(&track, &line, 2, &words);
    }
}

#[test]
fn a_command_in_the_place_of_an_output_file_is_refused() {
    let track = track();
    for line in [
        &["run", "--html", "true", "true 1"][..],
        &["run", "--export-json", "true", "true 1"],
        &["run", "--export-csv=sleep 1", "true", "true 1"],
        &["run", "--svg", "true", "true 1"],
    ] {
        answers(&track, line, 2, &["is a command", "FILE", "help: write --"]);
    }
    // Not of the system: a fault would replace it.
    fs::copy("/bin/true", track.path("program")).unwrap();
    let line = ["run", "--export-csv", "./program", "true", "true 1"];
    answers(
        &track,
        &line,
        2,
        &["--export-csv", "exists and is not a CSV"],
    );
    track
        .run(&["run", "-q", "-r", "2", "--html", "./true", "true", "true 1"])
        .fails_with(0, &[]);
    assert!(track.path("true").exists());
}

#[test]
fn an_unexpected_word_of_any_characters_is_refused_and_quoted() {
    let track = track();
    for word in ["", "é", "-é", "--é", "-", "日本", "-3é", "."] {
        let refused = format!("unexpected argument '{word}'");
        let done = track.run(&["doctor", word]);
        done.fails_with(2, &[]);
        let says_it = done.stderr.contains(&refused);
        assert!(says_it || word.starts_with('-'), "{word}: {done:?}");
    }
}

#[test]
fn options_of_go_are_no_short_options_with_a_value() {
    let track = track();
    for (line, words) in [
        (
            &["run", "-count", "10", "true"][..],
            ["-count", "--max-replicates"],
        ),
        (
            &["run", "-count=10", "true"],
            ["-count", "--max-replicates"],
        ),
        (&["bench", "-bench", ".", "./x"], ["-bench", "go test -c"]),
        (
            &["rev", "main", "-benchtime", "1s"],
            ["-benchtime", "iterations"],
        ),
        (&["run", "-run", "x", "./a"], ["'-run'", "FILTER"]),
        (&["bench", "-short", "./a"], ["'-short'", "-test.short"]),
        (&["run", "-margin", "2%", "a"], ["'-margin'", "--margin"]),
        (&["analyze", "-json", "a"], ["'-json'", "--json"]),
        (&["run", "-confidence", "0.9"], ["'-confidence'", "--alpha"]),
        (&["run", "–-runs", "12", "a"], ["'–-runs'", ": --runs"]),
    ] {
        answers(&track, line, 2, &words);
    }
    let behind = track.run(&["run", "--", "-count", "true"]);
    behind.fails_with(3, &["command '-count'"]);
}

#[test]
fn numbers_of_launches_exclude_a_limit_of_replicates() {
    let track = track();
    for option in ["-r", "-M"] {
        let line = [
            "run",
            option,
            "6",
            "--max-replicates",
            "3",
            "true",
            "true 1",
        ];
        answers(
            &track,
            &line,
            2,
            &["cannot be used with", "--max-replicates"],
        );
    }
}

#[test]
fn an_invalid_value_is_answered_by_the_meaning_of_its_option() {
    let track = track();
    for (option, value, words) in [
        (
            "-r",
            "abc",
            [
                "not a whole number",
                "Launch each command N times and judge once",
            ],
        ),
        (
            "--warmup",
            "1.5",
            ["not a whole number", "without recording"],
        ),
        (
            "--seed",
            "-1",
            ["it is negative", "Seed of every random choice"],
        ),
        ("--margin", "0", ["must be above 0", "Smallest change"]),
        ("--margin", "200%", ["not 200%", "Smallest change"]),
        (
            "--margin",
            "1,5%",
            ["is not a share", "decimal point: 1.5%"],
        ),
        (
            "--quantile",
            "0,9",
            ["is not a share", "decimal point: 0.9"],
        ),
        (
            "--budget",
            "-3s",
            ["it is negative", "help: --budget: Start no block"],
        ),
        ("--timeout", "-3s", ["it is negative", "help: --timeout: "]),
        ("--quantile", "-.5", ["-.5", "help: --quantile"]),
    ] {
        answers(&track, &["run", option, value, "true", "true 1"], 2, &words);
    }
}

#[test]
fn a_command_that_is_killed_is_answered_by_what_may_have_killed_it() {
    let track = track();
    for (command, words) in [
        ("kill -9 $$", ["SIGKILL", "memory runs out"]),
        ("kill -SEGV $$", ["SIGSEGV", "it crashed"]),
        ("kill -ABRT $$", ["SIGABRT", "it crashed"]),
        (
            "kill -TERM $$",
            ["SIGTERM", "another process sent this signal"],
        ),
        ("kill -ILL $$", ["SIGILL", "newer processor"]),
        ("kill -PIPE $$", ["SIGPIPE", "its reader had closed"]),
    ] {
        answers(&track, &["run", "-S", "--", command, "true"], 3, &words);
    }
    let slow = ["run", "--timeout", "10ms", "sleep 5", "sleep 6"];
    answers(
        &track,
        &slow,
        3,
        &["did not end within 10ms", "sets a longer limit"],
    );
    for hook in ["--setup", "--prepare", "--conclude", "--cleanup"] {
        let line = ["run", "-r", "2", hook, "false", "true", "true 1"];
        let advice = format!("{hook} runs");
        let done = answers(&track, &line, 3, &["exited with code 1", &advice]);
        assert!(!done.stderr.contains("benchmark 'run'"), "{done:?}");
    }
}

#[test]
fn two_revisions_and_words_taken_for_values_are_answered_by_how_to_write_them() {
    deadheat_testing::needs!("git");
    let track = track();
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        let done = git.args(words).current_dir(track.path("folder")).output();
        assert!(done.unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q", "."]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["tag", "v1"]);
    git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    for (line, words) in &[
        (
            &["rev", "v1", "HEAD"][..],
            ["'HEAD' is a revision", "'v1..HEAD'"],
        ),
        (&["rev", "HEAD", "v1"], ["'v1' is a revision", "'HEAD..v1'"]),
        (
            &["bisect", "v1", "HEAD"],
            ["not a range of commits", "'v1..HEAD'"],
        ),
        (
            &["bisect", "HEAD~1", "v1", "--run", "./tool"],
            ["not a range of commits", "write 'HEAD~1..v1'"],
        ),
        (
            &["bisect", "../windows.sh", "../lost.sh"],
            ["'../windows.sh' is not a range", "it is a path"],
        ),
        (
            &["bisect", "../old.json", "../new.json"],
            ["not a range", "deadheat compare ../old.json ../new.json"],
        ),
        (
            &["rev", "../old.json", "../new.json"],
            [
                "'../old.json' is not a commit",
                "deadheat compare ../old.json ../new.json",
            ],
        ),
        (
            &["rev", "../windows.sh", "../lost.sh"],
            [
                "'../windows.sh' is not a commit",
                "bench ../windows.sh ../lost.sh",
            ],
        ),
        (
            &["rev", "--base", "v1", "--head", "HEAD"],
            ["'--base'", "deadheat rev BASE..HEAD"],
        ),
        (
            &["rev", "v1", "--head", "HEAD"],
            ["'--head'", "deadheat rev BASE..HEAD"],
        ),
        (
            &["bisect", "HEAD..v1"],
            ["not an ancestor", "write 'v1..HEAD'"],
        ),
        (
            &["bisect", "start"],
            ["not a range of commits", "git bisect does in steps"],
        ),
        (
            &["rev", "./old", "./new"],
            [
                "is not a commit",
                "this is a path, not a commit; deadheat bench",
            ],
        ),
        (
            &["rev", "v1", "--exe", "tool"],
            ["--build <CMD> is missing", "help: --build <CMD>: "],
        ),
        (
            &["rev", "v1", "--build", "make", "--", "./tool"],
            ["cannot be used with", "options of cargo bench"],
        ),
        (
            &["bisect", "v1...HEAD"],
            ["not a range of commits", "such as 'v1..HEAD'"],
        ),
        (
            &["rev", "--build", "make", "v1"],
            ["needs at least one --exe", "help: add one --exe PATH"],
        ),
        (
            &["rev", "--go", "v1"],
            ["is missing", "--go took 'v1' as its value"],
        ),
        (
            &["rev", "--pytest", "v1"],
            ["is missing", "--pytest took 'v1' as its value"],
        ),
        (
            &["rev", "v1"],
            ["has a Cargo.toml", "--build CMD --exe PATH"],
        ),
    ] {
        let done = Finished::from(
            track
                .command()
                .current_dir(track.path("folder"))
                .args(*line)
                .output()
                .unwrap(),
        );
        done.fails_with(2, words);
        assert_eq!(done.stderr.matches("error: ").count(), 1, "{done:?}");
    }
}

#[test]
fn options_that_a_resumed_race_or_a_plan_ignores_are_refused() {
    let track = Track::new();
    let race = [
        "run", "-q", "-r", "12", "--save", "r.jsonl", "--", "true", "true",
    ];
    track.run(&race).succeeds();
    let before = fs::read(track.path("r.jsonl")).unwrap();
    for option in [
        "--margin=50%",
        "--alpha=0.5",
        "--metric=cpu",
        "--quantile=90%",
        "--pin=0",
        "--input=x",
        "--warmup=3",
        "--blocks=2",
        "--waiting=keep",
        "--shard=1/2",
        "--callgrind",
        "--seed=3",
        "--setup=true",
        "--arrangement=turns",
        "--save=s.jsonl",
        "-n=x",
        "-S",
        "--control",
        "true",
    ] {
        let done = track.run(&["run", "-q", "--resume", "r.jsonl", option]);
        let named = option.split('=').next().unwrap();
        let named = ["-n", "-S", "true"]
            .iter()
            .find(|one| **one == named)
            .map_or(named, |_| "");
        done.fails_with(
            2,
            &[named, "cannot be used with --resume", "--max-replicates"],
        );
    }
    assert_eq!(fs::read(track.path("r.jsonl")).unwrap(), before);
    track
        .run(&["plan", "run", "--save", "p.json", "--", "true", "true"])
        .succeeds();
    for option in [
        "--margin=50%",
        "--max-replicates=3",
        "--setup=true",
        "--input=x",
        "true",
    ] {
        let done = track.run(&["run", "-q", "--plan", "p.json", option]);
        done.fails_with(2, &["cannot be used with --plan", "--shard"]);
    }
    for option in [
        "--sample-time=1ms",
        "--exact",
        "--python=python3",
        "./other",
    ] {
        let done = track.run(&["bench", "-q", "--resume", "r.jsonl", option]);
        done.fails_with(2, &["cannot be used with --resume", "--timeout"]);
    }
}

#[test]
fn numbers_of_launches_that_exclude_each_other_are_answered_by_which_to_leave_out() {
    let track = track();
    for (options, words) in [
        (
            &["-r", "0"][..],
            ["--runs must be at least 1", "help: without --runs"],
        ),
        (
            &["-M", "0"],
            ["--max-runs must be", "help: without --max-runs"],
        ),
        (
            &["--max-replicates", "0"],
            ["must be at least 1", "help: without --max-replicates"],
        ),
        (
            &["-r", "12", "-m", "3"],
            ["an exact number", "help: leave --runs out"],
        ),
        (
            &["-r", "12", "-M", "30"],
            ["an exact number", "help: leave --runs out"],
        ),
        (
            &["-m", "8", "-M", "3"],
            [
                "at least 8 and at most 3",
                "help: set --max-runs to at least",
            ],
        ),
        (
            &["--quantile", "99%", "-r", "12"],
            [
                "the quantile 0.99 needs 500 launches",
                "help: a verdict needs 6 replicates: --runs 3000, or leave --runs out",
            ],
        ),
    ] {
        let line = [&["run"], options, &["true", "true 1"]].concat();
        answers(&track, &line, 2, &words);
    }
}

#[test]
fn a_build_of_sources_without_its_project_is_answered_by_what_is_missing() {
    deadheat_testing::needs!("git");
    let track = track();
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        track.tool("git", &[&identity, words].concat());
    };
    git(&["init", "-q", "."]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["tag", "v1"]);
    git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    let cargo = ["lacks a Cargo.toml", "--build CMD --exe PATH"];
    let go = ["lacks a go.mod", "--build CMD --exe PATH"];
    let python = ["lacks pyproject.toml and setup.py", "--install 'pytest"];
    let mut lines = vec![(["rev", "v1..HEAD", "-q"].to_vec(), cargo)];
    if deadheat_testing::has!("go") {
        lines.push((["rev", "HEAD", "--go", "."].to_vec(), go));
        lines.push((["rev", "v1..HEAD", "--go", "./parse"].to_vec(), go));
    }
    if deadheat_testing::has!("python3") {
        lines.push((["rev", "HEAD", "--pytest", "."].to_vec(), python));
    }
    for (line, words) in lines {
        track.run(&line).fails_with(3, &words);
    }
}

#[test]
fn a_commit_that_a_shallow_clone_lacks_is_answered_by_how_to_get_it() {
    deadheat_testing::needs!("git");
    let track = track();
    let full = track.path("folder");
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        let done = git.args(words).current_dir(&full).output();
        assert!(done.unwrap().status.success(), "{words:?}");
    };
    git(&["init", "-q", "."]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["tag", "v1"]);
    git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    let from = format!("file://{}", full.display());
    let shallow = Track::new();
    shallow.tool("git", &["clone", "-q", "--depth", "1", &from, "."]);
    for line in [
        &["rev", "HEAD~1"][..],
        &["rev", "v1..HEAD"],
        &["bisect", "HEAD~1..HEAD"],
    ] {
        answers(
            &shallow,
            line,
            2,
            &["is not a commit", "git fetch --unshallow"],
        );
    }
    shallow.tool("git", &["fetch", "-q", "--unshallow", "--tags"]);
    for line in [&["rev", "HEAD~1"][..], &["rev", "v1"]] {
        answers(&shallow, line, 2, &["has a Cargo.toml"]);
    }
}

#[test]
fn a_project_of_another_language_is_told_how_to_build_even_without_rust() {
    deadheat_testing::needs!("git");
    let track = track();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(track.folder.path()).args(args);
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    let ada = [
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=a@x",
        "commit",
        "-qm",
        "a",
    ];
    git(&["init", "--quiet"]);
    git(&[&ada[..], &["--allow-empty"]].concat());
    let mut command = track.command();
    command.args(["rev", "HEAD"]).env("RUSTC", "/no/such/rustc");
    let done = Finished::from(command.output().unwrap());
    done.fails_with(2, &["is not in a cargo package", "--build CMD"]);
}

#[test]
fn a_recording_that_breaks_off_before_its_first_block_is_no_answer() {
    let track = track();
    let race = [
        "run",
        "-r",
        "2",
        "-q",
        "--save",
        "whole.jsonl",
        "true",
        "true",
    ];
    track.run(&race).succeeds();
    let whole = fs::read_to_string(track.path("whole.jsonl")).unwrap();
    let header = whole.lines().next().unwrap();
    for (text, torn) in [
        (
            format!("{header}\n{{\"obs"),
            "its last line (line 2) breaks off, and ",
        ),
        (format!("{header}\n"), ""),
    ] {
        fs::write(track.path("cut.jsonl"), text).unwrap();
        let told = format!(
            "error: cut.jsonl holds no complete block: {torn}it has no end record, so deadheat was \
             killed or is still racing, or the file is an incomplete copy\nhelp: copy the file again; \
             if it is the original, deadheat run --resume cut.jsonl continues it"
        );
        answers(&track, &["analyze", "cut.jsonl"], 4, &[&told]);
    }
}
