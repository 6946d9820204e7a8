//! `deadheat 'A' 'B'`: the same as `deadheat run 'A' 'B'`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, is_separator};

use clap::Command;
use deadheat::parts::format::{Found, found_at};
use deadheat::parts::system::find_executable;

use crate::synonyms;

/// Inserts `run` after the name of the program if the words look like commands to race: options
/// first, words with spaces, a path, or the name of a program with more words after it. Other words
/// stay as they are, because they may be a misspelled command of deadheat.
pub fn with_run(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    if races(&words, program) {
        words.insert(1, "run".into());
    }
    words
}

/// Returns the command of a race if the user typed one bare word without `run`, such as `init` or
/// `reboot`. The user more likely meant a subcommand of deadheat than a program to start.
#[cfg(target_os = "linux")]
pub fn bare_word<'a>(typed: &[OsString], commands: &'a [String]) -> Option<&'a str> {
    let [only] = commands else {
        return None;
    };
    let is_marked = typed.iter().any(|word| word == "--");
    let is_bare = !only.contains(|c: char| c.is_whitespace() || c == '/');
    (is_bare && !is_marked).then_some(only)
}

fn races(words: &[OsString], program: &Command) -> bool {
    let is_command = |word: &OsString| word == "help" || program.find_subcommand(word).is_some();
    let Some(first) = words.get(1).and_then(|word| word.to_str()) else {
        return false;
    };
    match first {
        "-h" | "--help" | "-V" | "--version" | "" => false,
        "--" => true,
        _ if first.starts_with('-') => {
            let ours = words.iter().skip(1).take_while(|word| *word != "--");
            words.len() > 2 && !ours.into_iter().any(is_command)
        }
        _ if is_command(&words[1]) => false,
        // `diff old.json new.json` also starts a program, but the user wants to compare results.
        _ if synonyms::command("deadheat", first).is_some() && words[2..].iter().any(is_data) => {
            false
        }
        _ if first.contains(char::is_whitespace) => true,
        _ if first.contains(is_separator) => exists(first),
        _ => words.len() > 2 && !words[2..].iter().any(asks_for_help) && exists(first),
    }
}

fn asks_for_help(word: &OsString) -> bool {
    word == "-h" || word == "--help"
}

/// Returns true if a word names a file or folder that is not a program.
fn is_data(word: &OsString) -> bool {
    matches!(found_at(word), Ok(Found::Data | Found::Folder))
}

/// Returns true if `word` is a program in `PATH` or the path of an existing file.
pub fn exists(word: &str) -> bool {
    find_executable(word).is_some()
        || (word.contains(is_separator) && Path::new(OsStr::new(word)).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_word_alone_is_a_command_only_with_run_or_dashes() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, commands, expected) in [
            ("deadheat -r 3 true", &["true"][..], Some("true")),
            ("deadheat true -r 3", &["true"], Some("true")),
            ("deadheat -r 3 -- true", &["true"], None),
            ("deadheat -r 3 ./true", &["./true"], None),
            ("deadheat true false", &["true", "false"], None),
            ("deadheat --resume a.jsonl", &[], None),
        ] {
            let commands: Vec<String> = commands.iter().map(ToString::to_string).collect();
            assert_eq!(bare_word(&words(typed), &commands), expected, "{typed}");
        }
    }

    #[test]
    fn commands_to_race_are_told_from_commands_of_deadheat() {
        let program = Command::new("deadheat").subcommands(["run", "analyze"].map(Command::new));
        for (line, expected) in [
            (&["sleep 1", "sleep 2"][..], true),
            (&["true", "false"], true),
            (&["true"], false),
            (&["true", "--help"], false),
            (&["/bin/true"], true),
            (&["sleep 1"], true),
            (&["./no such", "x"], true),
            (&["--", "a", "b"], true),
            (&["-r", "3", "a b", "c"], true),
            (&["--margin", "2%", "--", "run", "b"], true),
            (&["run", "a"], false),
            (&["help", "run"], false),
            (&["-q", "run", "a"], false),
            (&["anaylze", "a.jsonl"], false),
            (&["--version"], false),
            (&["-x"], false),
            (&[], false),
        ] {
            let words = ["deadheat"]
                .iter()
                .chain(line)
                .map(OsString::from)
                .collect();
            let words = with_run(words, &program);
            let is_run =
                words.get(1).is_some_and(|word| word == "run") && words.len() > line.len() + 1;
            assert_eq!(is_run, expected, "{line:?}");
        }
    }
}
