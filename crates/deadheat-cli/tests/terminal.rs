//! The output of the program in a terminal: `script` of util-linux is one.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// A run of two commands, recorded.
fn run_file() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("../deadheat-format/tests/golden/run.jsonl");
    path.to_str().unwrap().to_owned()
}

/// `deadheat analyze`, with nothing set in the environment but these.
fn command(program: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command
}

fn output(mut command: Command) -> String {
    let output = command.output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The bytes that the program sends to a terminal of so many columns.
fn in_a_terminal(columns: usize, options: &str, variables: &[(&str, &str)]) -> String {
    let program = env!("CARGO_BIN_EXE_deadheat");
    let line = format!(
        "stty cols {columns}; '{program}' analyze '{}' {options}",
        run_file()
    );
    let mut script = command("script", variables);
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    output(script).replace("\r\n", "\n")
}

/// The output of the program that goes to a pipe.
fn in_a_pipe(options: &str, variables: &[(&str, &str)]) -> String {
    let mut deadheat = command(env!("CARGO_BIN_EXE_deadheat"), variables);
    deadheat.args(["analyze", &run_file()]);
    deadheat.args(options.split_whitespace());
    output(deadheat)
}

fn colored(text: &str) -> bool {
    text.contains("\u{1b}[3")
}

#[test]
fn a_terminal_is_coloured_unless_it_or_its_user_does_not_want_that() {
    let shown = |options: &str, variables: &[(&str, &str)]| {
        colored(&in_a_terminal(100, options, variables))
    };
    assert!(shown("", &[]));
    assert!(shown("", &[("NO_COLOR", "")]));
    assert!(!shown("", &[("NO_COLOR", "1")]));
    assert!(!shown("", &[("TERM", "dumb")]));
    assert!(!shown("", &[("CLICOLOR", "0")]));
    assert!(!shown("--color never", &[("CLICOLOR_FORCE", "1")]));
    assert!(shown("--color always", &[("NO_COLOR", "1")]));
}

#[test]
fn a_pipe_is_coloured_only_on_demand() {
    assert!(!colored(&in_a_pipe("", &[])));
    assert!(colored(&in_a_pipe("--color always", &[("NO_COLOR", "1")])));
    assert!(colored(&in_a_pipe("", &[("CLICOLOR_FORCE", "1")])));
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!colored(&in_a_pipe("", &both)));
}

#[test]
fn pictures_are_as_wide_as_the_terminal_and_ascii_where_it_must_be() {
    let mut widest = 0;
    for columns in [40, 60, 100, 160] {
        for locale in ["C.UTF-8", "C"] {
            let options = "--plot --color never";
            let text = in_a_terminal(columns, options, &[("LC_ALL", locale)]);
            assert!(text.contains("in order of time") || columns == 40, "{text}");
            assert_eq!(text.is_ascii(), locale == "C", "{text}");
            let width = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(width <= columns, "{width} in {columns}: {text}");
            widest = widest.max(width);
        }
    }
    assert!(widest > 100);
}

#[test]
fn pictures_are_drawn_for_text_and_documents_stay_documents() {
    assert!(in_a_pipe("--plot", &[]).contains("Samples by wall time"));
    assert!(!in_a_pipe("", &[]).contains("Samples by"));
    assert!(in_a_pipe("--plot --json", &[]).starts_with('{'));
}

#[test]
fn a_pipe_has_the_columns_that_the_environment_asks_for() {
    let widest = |variables: &[(&str, &str)]| {
        let text = in_a_pipe("-v", variables);
        text.lines().map(|line| line.chars().count()).max().unwrap()
    };
    let (free, narrow) = (widest(&[]), widest(&[("COLUMNS", "60")]));
    assert!(narrow <= 60 && free > 60, "{narrow}, {free}");
    assert_eq!(widest(&[("COLUMNS", "many")]), free);
}

#[test]
fn a_full_standard_output_is_an_error_of_every_command_that_prints() {
    let file = run_file();
    for words in [
        &["--help"] as &[&str],
        &["-h"],
        &["--version"],
        &["help", "run"],
        &["history", "add", "--help"],
        &["completions", "bash"],
        &["man"],
        &["analyze", &file],
        &["analyze", "--json", &file],
        &["report", "--markdown=-", &file],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut deadheat = command(env!("CARGO_BIN_EXE_deadheat"), &[]);
        let ended = deadheat.args(words).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(5), "{words:?}: {said}");
        assert!(said.contains("standard output"), "{words:?}: {said}");
    }
}
