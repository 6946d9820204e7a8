//! Words that clap would misread: long options with one dash, which it reads as a short option and
//! its value (`-count 10` as `-c ount`), and typographic dashes copied from a web page.

use std::ffi::OsString;

use clap::Command;
use deadheat::parts::exit::Failure;
use deadheat::parts::model::HELP;

use crate::usage_error::Asked;
use crate::{foreign_options, synonyms};

/// Refuses the first word that clap would misread.
///
/// # Errors
///
/// The error names the word and what to write instead.
pub fn refuse(words: &[OsString], program: &Command) -> Result<(), Failure> {
    let typed: Vec<String> = words
        .iter()
        .filter_map(|word| word.to_str().map(str::to_owned))
        .collect();
    let asked = Asked::of(program, &typed);
    if takes_words_of_others(asked.command) {
        return Ok(());
    }
    let ours = typed.iter().skip(1).take_while(|word| *word != "--");
    let ours: Vec<&String> = ours.collect();
    let mut pairs = ours.windows(2);
    let meant = pairs.find_map(|two| Some((two[0], two[1], meant(asked.command, two[0], two[1])?)));
    if let Some((option, value, meant)) = meant {
        return Err(Failure::Usage(format!(
            "{}: '{value}' would be raced as a command, because {option} takes a value only after \
             ={HELP}write {option}={meant}; commands such as {value} follow --",
            asked.name
        )));
    }
    for word in ours {
        if let Some(advice) = advice(asked.command, word) {
            return Err(Failure::Usage(format!(
                "{}: unexpected argument '{word}'{HELP}{advice}",
                asked.name
            )));
        }
    }
    Ok(())
}

/// Returns the boolean that the user probably meant by `value`, if `option` takes a boolean only
/// after `=`. For all other options the result is `None`, because `true`, `false` or `yes` may be
/// the name of a program.
fn meant(command: &Command, option: &str, value: &str) -> Option<bool> {
    let mut options = command.get_arguments();
    let option = options.find(|one| option.strip_prefix("--") == one.get_long());
    let takes_it = option.is_some_and(|one| {
        one.is_require_equals_set()
            && (one.get_value_names()).is_some_and(|names| names.iter().any(|name| *name == "BOOL"))
    });
    match value {
        _ if !takes_it => None,
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Returns true for a command, such as `link`, that passes options on to another program.
fn takes_words_of_others(command: &Command) -> bool {
    command
        .get_positionals()
        .any(|one| one.is_trailing_var_arg_set() || one.is_allow_hyphen_values_set())
}

fn advice(command: &Command, word: &str) -> Option<String> {
    /// Typographic dashes that may precede an option in copied text.
    const DASHES: [(char, &str); 3] = [
        ('\u{2013}', "an en dash"),
        ('\u{2014}', "an em dash"),
        ('\u{2212}', "a minus sign"),
    ];
    let first = word.chars().next()?;
    if let Some((_, called)) = DASHES.iter().find(|(dash, _)| *dash == first) {
        let name =
            word.trim_start_matches(|c| c == '-' || DASHES.iter().any(|(dash, _)| *dash == c));
        let is_short = name.split('=').next()?.chars().count() == 1;
        let dashes = if is_short { "-" } else { "--" };
        return name
            .starts_with(|c: char| c.is_ascii_alphabetic())
            .then(|| {
                format!("it begins with {called}, but options begin with a hyphen: {dashes}{name}")
            });
    }
    let name = word.strip_prefix('-')?.split('=').next()?;
    if name.starts_with('-') || name.len() < 3 {
        return None;
    }
    let is_long = |name: &str| {
        command
            .get_arguments()
            .any(|one| one.get_long() == Some(name))
    };
    foreign_options::advice(command.get_name(), word)
        .or_else(|| is_long(name).then(|| format!("long options have two dashes: -{word}")))
        .or_else(|| {
            Some(format!(
                "in place of {word}: {}",
                synonyms::option(command, word)?
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let program = crate::program::command();
        refuse(&words, &program)
            .err()
            .map(|failure| failure.to_string())
    }

    #[test]
    fn a_long_option_with_one_dash_is_refused_with_what_to_write() {
        for (line, words) in [
            ("deadheat run -run x ./a", "FILTER"),
            ("deadheat run -count=10 ./a", "--max-replicates"),
            ("deadheat run -margin=2% ./a", "two dashes: --margin=2%"),
            ("deadheat analyze -json a", "two dashes: --json"),
            ("deadheat history show -json", "two dashes: --json"),
            ("deadheat compare -alpha 1% a b", "benchstat"),
            (
                "deadheat run \u{2013}-runs 12",
                "an en dash, but options begin with a hyphen: --runs",
            ),
            ("deadheat run \u{2014}runs=12", "hyphen: --runs=12"),
            (
                "deadheat bench \u{2212}q a",
                "a minus sign, but options begin with a hyphen: -q",
            ),
        ] {
            let text = refused(line).expect(line);
            assert!(text.contains(words), "{line}: {text}");
        }
    }

    #[test]
    fn a_value_that_would_be_a_command_is_refused() {
        for line in [
            "deadheat run --confirm true --fail-on slower -- ./a ./b",
            "deadheat run --confirm false ./a ./b",
        ] {
            let text = refused(line).expect(line);
            assert!(text.contains("would be raced as a command"), "{text}");
            assert!(text.contains("write --confirm="), "{text}");
        }
        let text = refused("deadheat run --confirm no ./a ./b").unwrap();
        assert!(text.contains("write --confirm=false"), "{text}");
        for line in [
            "deadheat run --confirm -- true false",
            "deadheat run --confirm=true true false",
            "deadheat run --save true false",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }

    #[test]
    fn short_options_with_values_and_words_of_others_are_left_alone() {
        for line in [
            "deadheat run -r12 -qv -nold -iS a",
            "deadheat run -- -count \u{2013}x",
            "deadheat run echo \u{2013}",
            "deadheat run --margin \u{2212}1%",
            "deadheat link cc -run -json x.c",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }
}
