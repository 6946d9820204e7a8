//! Completions and manual pages: made of the same commands and options that
//! `--help` shows, and understood by the programs that read them.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Track, text};
use deadheat_testing::needs;

/// The commands that `--help` lists, `help` itself aside.
fn commands(track: &Track) -> Vec<String> {
    let names = commands_of(track, &[]);
    for name in ["run", "bench", "rev", "completions", "man"] {
        assert!(names.iter().any(|one| one == name), "{names:?}");
    }
    names
}

/// Those of a command; none where it has no commands of its own. Those of the program are in groups,
/// and a line below names those for set-up.
fn commands_of(track: &Track, command: &[&str]) -> Vec<String> {
    let help = track.run(&[command, &["--help"]].concat());
    let help = help.succeeds().stdout.clone();
    let name_of = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let names: Vec<String> = if command.is_empty() {
        let above = help.split("\nOptions:\n").next().unwrap();
        let set_up = above.split("For set-up: ").nth(1).unwrap();
        let set_up = set_up.split('.').next().unwrap().split(", ");
        let groups = above.split("\n\n").skip(2);
        let lines = groups
            .flat_map(str::lines)
            .filter(|line| line.starts_with("  "));
        let names = lines.filter_map(name_of);
        names.chain(set_up.map(str::to_owned)).collect()
    } else {
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let lines = lines.take_while(|line| !line.is_empty());
        lines.filter_map(name_of).collect()
    };
    names.into_iter().filter(|name| name != "help").collect()
}

/// Asserts that a program reads a file and has nothing to say.
#[track_caller]
fn pleases(program: &str, args: &[&str], file: &Path) {
    let mut command = Command::new(program);
    command.args(args).arg(file).stdin(Stdio::null());
    let done = command.env("LC_ALL", "C.UTF-8").output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success() && said.is_empty(),
        "{program}: {said}"
    );
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
fn completions_of_every_shell_name_all_commands() {
    let track = Track::new();
    let commands = commands(&track);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
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
    }
    let done = track.run(&["completions", "tcsh"]);
    done.fails_with(2, &["tcsh", "bash", "powershell"]);
}

/// Asserts that a shell reads its completions.
#[track_caller]
fn reads_its_completions(shell: &str) {
    let track = Track::new();
    let script = track.run(&["completions", shell]).succeeds().stdout.clone();
    fs::write(track.path("script"), script).unwrap();
    pleases(shell, &["-n"], &track.path("script"));
}

#[test]
fn bash_reads_its_completions() {
    reads_its_completions("bash");
}

#[test]
fn zsh_reads_its_completions() {
    needs!("zsh");
    reads_its_completions("zsh");
}

#[test]
fn fish_reads_its_completions() {
    needs!("fish");
    reads_its_completions("fish");
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
fn manual_pages_hold_every_option_of_the_help() {
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
    let mut all: Vec<Vec<String>> = commands.iter().map(|one| vec![one.clone()]).collect();
    for command in &commands {
        let below = commands_of(&track, &[command]).into_iter();
        all.extend(below.map(|name| vec![command.clone(), name]));
    }
    assert_eq!(files.len(), all.len() + 2, "{files:?}");
    for command in &all {
        let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
        words.push("--help");
        let help = track.run(&words).succeeds().stdout.clone();
        let command = command.join("-");
        let page = fs::read_to_string(folder.join(format!("deadheat-{command}.1"))).unwrap();
        let (help, page) = (options(&help), options(&plain(&page)));
        assert!(help.contains("--help"), "{help:?}");
        let missing: Vec<_> = help.difference(&page).collect();
        assert!(missing.is_empty(), "{command}: {missing:?}");
    }
    for file in &files {
        let page = fs::read_to_string(file).unwrap();
        assert!(page.contains("EXIT STATUS"), "{file}");
    }
}

/// Asserts that a program formats every page without a complaint.
#[track_caller]
fn formats_all_pages(program: &str, args: &[&str]) {
    let track = Track::new();
    let done = track.run(&["man", "--out", "pages"]);
    for page in done.succeeds().stdout.lines() {
        pleases(program, args, &track.folder.path().join(page));
    }
}

#[test]
fn groff_formats_the_manual_pages() {
    needs!("groff");
    formats_all_pages("groff", &["-man", "-Tascii", "-ww", "-z"]);
}

#[test]
fn mandoc_formats_the_manual_pages() {
    needs!("mandoc");
    // Warnings of its linter are about taste; its errors are not.
    formats_all_pages("mandoc", &["-T", "lint", "-W", "error"]);
}

#[test]
fn man_shows_the_manual_pages() {
    needs!("man");
    formats_all_pages("man", &["--warnings", "-l", "-E", "ascii"]);
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
