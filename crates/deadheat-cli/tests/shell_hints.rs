//! Hints about shell syntax in commands and hooks that no shell reads.

mod common;

use common::Track;

fn race(track: &Track, args: &[&str]) -> String {
    let done = track.run(&[&["run", "--no-config", "-r", "2", "-i"], args].concat());
    done.stderr
}

#[test]
fn unquoted_syntax_earns_a_hint_whatever_becomes_of_the_command() {
    let track = Track::new();
    for command in [
        "echo $HOME",
        "echo ~",
        "echo *.txt",
        "echo `date`",
        "echo $(date)",
        "echo # no",
        "echo file?",
        "echo \"$HOME\"",
        "echo a>b",
    ] {
        let mut shown = race(&track, &["--", command, "true"]);
        assert!(
            shown.contains(&format!("hint: '{command}': ")),
            "{command}: {shown}"
        );
        for hook in ["--setup", "--prepare", "--conclude", "--cleanup"] {
            shown = race(&track, &[hook, command, "--", "true", "true"]);
            assert!(
                shown.contains(&format!("hint: {hook} '{command}': ")),
                "{command}: {shown}"
            );
        }
    }
}

#[test]
fn operators_without_a_shell_are_refused_before_anything_runs() {
    let track = Track::new();
    for command in [
        "touch ran; true",
        "touch ran;true",
        "touch ran && true",
        "touch ran | cat",
        "touch ran >out",
        "touch ran 2>/dev/null",
        "touch ran <in",
        "touch ran &",
        "touch $HOME ran ;",
    ] {
        let hooks = ["--setup", "--prepare", "--conclude", "--cleanup"];
        let of_hooks = hooks.map(|hook| vec![hook, command, "--", "touch ran", "true"]);
        let commands = [vec!["--", "touch ran", command], vec!["--", command]];
        let others = [vec!["-q", "-L", "x", "1,2", "--", command]];
        for args in of_hooks.into_iter().chain(commands).chain(others) {
            let line = [&["run", "--no-config", "-r", "2"], &args[..]].concat();
            let words = [
                &format!("'{command}': no shell reads the '"),
                "help: -S runs",
            ];
            track.run(&line).fails_with(2, &words);
        }
        let explained = track.run(&["explain", "--", "touch ran", command]);
        explained.fails_with(2, &["no shell reads the '", "help: -S runs"]);
        assert!(!track.path("ran").exists(), "{command}");
    }
}

#[test]
fn quoted_operators_reach_the_program() {
    let track = Track::new();
    for command in [
        "find . -maxdepth 0 -exec true {} \\;",
        "find . -maxdepth 0 -exec true {} ';'",
        "expr 0 \"|\" 1",
        "expr 1 '<' 2",
    ] {
        let done = track.run(&["run", "--no-config", "-r", "2", "--", command, "true"]);
        done.succeeds();
        assert!(!done.stderr.contains("shell"), "{done:?}");
    }
}

#[test]
fn quoted_syntax_and_commands_of_a_shell_earn_none() {
    let track = Track::new();
    for command in [
        "echo a \"|\" b",
        "echo a '|' b",
        "echo a \\| b",
        "echo '$HOME' '*' '~'",
        "grep -c 'a;b' /dev/null",
        "echo a#b",
        "env LC_ALL=C true",
        "echo 100$",
        "echo x=1",
    ] {
        let shown = race(&track, &["--", command, "true"]);
        assert!(!shown.contains("hint"), "{command}: {shown}");
        let shown = race(&track, &["-p", command, "--", "true", "true"]);
        assert!(!shown.contains("hint"), "{command}: {shown}");
    }
    for shell in ["-S", "--shell=sh"] {
        let shown = race(
            &track,
            &[shell, "-p", "true; true", "--", "echo $HOME | cat", "true"],
        );
        assert!(!shown.contains("hint"), "{shown}");
    }
}

#[test]
fn options_whose_value_is_optional_eat_no_command() {
    let track = Track::new();
    let names = |args: &[&str]| {
        let done = track.run(&[&["run", "--no-config", "-q", "-r", "2", "--json"], args].concat());
        let json = done.succeeds().json();
        let side = |side: &str| {
            json["benchmarks"][0][side]["name"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        [side("baseline"), side("candidate")]
    };
    assert_eq!(
        names(&["-S", "true | cat", "true; true"]),
        ["true | cat", "true; true"]
    );
    assert_eq!(
        names(&["--shell", "true | cat", "true"]),
        ["true | cat", "true"]
    );
    assert_eq!(
        names(&["-S", "sh", "true | cat", "true"]),
        ["true | cat", "true"]
    );
    assert_eq!(
        names(&["-S=sh -e", "true | cat", "true"]),
        ["true | cat", "true"]
    );
    assert_eq!(names(&["-i", "false", "true"]), ["false", "true"]);
    assert_eq!(
        names(&["--ignore-failure", "false", "true"]),
        ["false", "true"]
    );
}

#[test]
fn parameters_that_no_command_uses_and_values_given_twice_are_told() {
    let track = Track::new();
    let shown = race(&track, &["-L", "n", "1,2", "--", "true"]);
    assert!(
        shown.contains("no command and no hook contains {n}"),
        "{shown}"
    );
    let shown = race(&track, &["-P", "n", "1", "2", "-n", "{n}", "--", "true"]);
    assert!(
        shown.contains("no command and no hook contains {n}"),
        "{shown}"
    );
    let shown = race(&track, &["-L", "n", "1,1", "--", "echo {n}"]);
    assert!(
        shown.contains("'n' has the values '1' more than once"),
        "{shown}"
    );
    for used in [&["-p", "echo {n}", "--", "true"][..], &["--", "echo {n}"]] {
        let shown = race(&track, &[&["-L", "n", "1,2"], used].concat());
        assert!(!shown.contains("hint"), "{shown}");
    }
    let shown = race(
        &track,
        &["-P", "n", "10", "1", "-D", "-3", "--", "echo {n}"],
    );
    assert!(!shown.contains("error"), "{shown}");
    let shown = race(
        &track,
        &[
            "-P",
            "n",
            "08",
            "10",
            "-w",
            "0",
            "--show-output",
            "--",
            "echo {n}",
        ],
    );
    assert!(!shown.contains("error"), "{shown}");
}

#[test]
fn launches_that_complete_the_last_replicate_are_told() {
    let track = Track::new();
    let hint = |args: &[&str]| {
        let line = [&["run", "--no-config", "-i", "--json"], args].concat();
        let done = track.run(&line);
        let samples = &done.json()["benchmarks"][0]["baseline"]["samples"];
        let hint = done.stderr.lines().find(|line| line.contains("hint: -"));
        (samples.as_u64().unwrap(), hint.map(str::to_owned))
    };
    let two = ["--", "true", "false"];
    for (option, asked, launched) in [("-r", "5", 6), ("-r", "1", 2), ("-M", "1", 2)] {
        let (samples, hint) = hint(&[&[option, asked], &two[..]].concat());
        assert_eq!(samples, launched);
        let words = format!("{option} {asked}: a replicate has 2 launches of each command");
        let hint = hint.unwrap();
        assert!(hint.contains(&words), "{hint}");
        assert!(
            hint.ends_with(&format!("launched {launched} times")),
            "{hint}"
        );
    }
    for args in [
        &["-r", "6", "--", "true", "false"][..],
        &["-M", "5", "--", "true", "false"],
        &["-r", "5", "--", "true"],
        &["-r", "5", "--", "true", "false", "echo"],
        &["-q", "-r", "5", "--", "true", "false"],
    ] {
        let (_, hint) = hint(args);
        assert_eq!(hint, None, "{args:?}");
    }
}
