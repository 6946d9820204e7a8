//! Completions and manual pages: made of the same commands and options that
//! `--help` shows, and understood by the programs that read them.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Track, text};

/// The commands that `--help` lists, `help` itself aside.
fn commands(track: &Track) -> Vec<String> {
    let help = track.run(&["--help"]).succeeds().stdout.clone();
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help").map(str::to_owned);
    let names: Vec<String> = names.collect();
    for name in ["run", "bench", "rev", "completions", "man"] {
        assert!(names.iter().any(|one| one == name), "{help}");
    }
    names
}

/// What a program says to a file, or `None` where it is not installed.
fn verdict(program: &str, args: &[&str], file: &Path) -> Option<(bool, String)> {
    let mut command = Command::new(program);
    command.args(args).arg(file).stdin(Stdio::null());
    let done = command.env("LC_ALL", "C.UTF-8").output().ok()?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    Some((done.status.success(), said))
}

/// A page without what makes letters bold and dashes dashes.
fn plain(page: &str) -> String {
    let marks = ["\\fB", "\\fI", "\\fR"];
    let bare = marks
        .iter()
        .fold(page.to_owned(), |text, mark| text.replace(mark, ""));
    bare.replace("\\-", "-")
}

/// The long options in a text, without what follows them.
fn options(text: &str) -> BTreeSet<String> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let words = text.split(ends).filter(|word| {
        let name = word.strip_prefix("--");
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    words.map(str::to_owned).collect()
}

#[test]
fn completions_of_every_shell_name_all_commands_and_are_read_by_the_shell() {
    let track = Track::new();
    let commands = commands(&track);
    for (shell, check) in [
        ("bash", Some("bash")),
        ("zsh", Some("zsh")),
        ("fish", Some("fish")),
        ("elvish", None),
        ("powershell", None),
    ] {
        let script = track.run(&["completions", shell]).succeeds().stdout.clone();
        for command in &commands {
            assert!(script.contains(command), "{shell} lacks {command}");
        }
        for option in ["--fail-on", "--margin"] {
            let name = option.trim_start_matches('-');
            assert!(script.contains(name), "{shell} lacks {option}");
        }
        assert!(!script.contains("deadheat__placements"), "{shell}");
        assert!(!script.contains("'placements'"), "{shell}");
        let file = track.path(shell);
        fs::write(&file, &script).unwrap();
        let checked = check.and_then(|program| verdict(program, &["-n"], &file));
        if let Some((is_fine, said)) = checked {
            assert!(is_fine && said.is_empty(), "{shell} says: {said}");
        }
    }
    let done = track.run(&["completions", "tcsh"]);
    done.fails_with(2, &["tcsh", "bash", "powershell"]);
}

#[test]
fn bash_completes_a_command_and_a_verdict_with_what_is_printed_for_it() {
    let track = Track::new();
    let script = track
        .run(&["completions", "bash"])
        .succeeds()
        .stdout
        .clone();
    let words = "\
COMP_WORDS=(deadheat comp); COMP_CWORD=1; _deadheat deadheat comp deadheat; echo \"${COMPREPLY[@]}\"
COMP_WORDS=(deadheat run --fail-on s); COMP_CWORD=3; _deadheat deadheat s --fail-on; echo \"${COMPREPLY[@]}\"
";
    fs::write(track.path("try"), format!("{script}\n{words}")).unwrap();
    let tried = Command::new("bash")
        .arg(track.path("try"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tried.stdout);
    assert_eq!(said, "compare completions\nslower\n", "{tried:?}");
}

#[test]
fn manual_pages_hold_every_option_of_the_help_and_please_those_who_format_them() {
    let track = Track::new();
    let commands = commands(&track);
    let folder = track.path("share/man/man1");
    let done = track.run(&["man", "--out", text(&folder)]);
    let told: BTreeSet<&str> = done.succeeds().stdout.lines().collect();
    let files: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| text(&entry.unwrap().path()).to_owned())
        .collect();
    assert_eq!(told, files.iter().map(String::as_str).collect());
    assert_eq!(files.len(), commands.len() + 2, "{files:?}");
    for command in &commands {
        let help = track.run(&[command, "--help"]).succeeds().stdout.clone();
        let page = fs::read_to_string(folder.join(format!("deadheat-{command}.1"))).unwrap();
        let (help, page) = (options(&help), options(&plain(&page)));
        assert!(help.contains("--help"), "{help:?}");
        let missing: Vec<_> = help.difference(&page).collect();
        assert!(missing.is_empty(), "{command}: {missing:?}");
    }
    for file in &files {
        let page = fs::read_to_string(file).unwrap();
        assert!(page.contains("EXIT STATUS"), "{file}");
        let file = Path::new(file);
        // Warnings of mandoc's linter are about taste; its errors are not.
        for (program, args) in [
            ("groff", &["-man", "-Tascii", "-ww", "-z"][..]),
            ("mandoc", &["-T", "lint", "-W", "error"][..]),
        ] {
            if let Some((is_fine, said)) = verdict(program, args, file) {
                assert!(is_fine && said.is_empty(), "{program}: {said}");
            }
        }
        let args = ["--warnings", "-l", "-E", "ascii"];
        if let Some((is_fine, said)) = verdict("man", &args, file) {
            assert!(is_fine && said.is_empty(), "man: {said}");
        }
    }
}

#[test]
fn without_a_folder_the_page_of_the_program_is_printed_and_points_to_the_others() {
    let track = Track::new();
    let page = plain(&track.run(&["man"]).succeeds().stdout);
    assert!(page.contains(".TH DEADHEAT 1"), "{page}");
    for command in commands(&track) {
        assert!(
            page.contains(&format!("deadheat-{command}(1)")),
            "{command}"
        );
    }
    assert!(!page.contains("placements("), "{page}");
    fs::write(track.path("file"), "").unwrap();
    let done = track.run(&["man", "--out", "file"]);
    done.fails_with(5, &["--out", "file"]);
}
