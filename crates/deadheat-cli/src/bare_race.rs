//! `deadheat 'A' 'B'`: the same as `deadheat run 'A' 'B'`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;
use deadheat::parts::engine::find_executable;

/// Puts `run` before words that name no command of `program` and look like commands to race: options
/// first, words with spaces, or a program that exists. Anything else may be a command of deadheat
/// that is misspelled.
pub fn with_run(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    if races(&words, program) {
        words.insert(1, "run".into());
    }
    words
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
        _ => first.contains(char::is_whitespace) || exists(first),
    }
}

/// Returns true if a word leads to a program: through `PATH`, or as a path.
pub fn exists(word: &str) -> bool {
    find_executable(word).is_some() || (word.contains('/') && Path::new(OsStr::new(word)).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_to_race_are_told_from_commands_of_deadheat() {
        let program = Command::new("deadheat").subcommands(["run", "analyze"].map(Command::new));
        for (line, expected) in [
            (&["sleep 1", "sleep 2"][..], true),
            (&["true", "false"], true),
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
