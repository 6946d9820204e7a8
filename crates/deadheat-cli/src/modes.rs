//! Options without effect in the mode that another option chooses, such as `--margin` with
//! `--resume`. Such options are refused, because a gate would otherwise apply another rule than the
//! user asked for.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use deadheat::parts::exit::Failure;

struct Mode {
    command: &'static str,
    /// The option that chooses the mode.
    option: &'static str,
    /// The reason why the mode ignores other options, for the error message.
    reason: &'static str,
    /// The options of the race that have an effect in this mode.
    heeds: &'static [&'static str],
}

const MODES: [Mode; 4] = [
    Mode {
        command: "run",
        option: "resume",
        reason: "the recorded race keeps its commands and its design",
        heeds: &["max-replicates", "budget", "placement"],
    },
    Mode {
        command: "bench",
        option: "resume",
        reason: "the recorded race keeps its programs and its design",
        heeds: &["max-replicates", "budget", "timeout", "placement"],
    },
    Mode {
        command: "load",
        option: "resume",
        reason: "the recorded race keeps its servers and its design",
        heeds: &["max-replicates", "budget", "timeout", "placement"],
    },
    Mode {
        command: "run",
        option: "plan",
        reason: "the plan names the commands and the design",
        heeds: &["shard", "shard-by", "timeout", "placement"],
    },
];

/// The help headings of options about the answer and its files. All modes use these options.
const OF_THE_ANSWER: [&str; 4] = ["Answer", "Rules", "Files", "Reports"];
/// Options under the headings of [`OF_THE_ANSWER`] that only a new race uses.
const OF_NEW_RACES: [&str; 1] = ["save"];

/// Refuses options that the mode of the command line ignores.
pub fn refuse_unused(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let Some(command) = command.find_subcommand(name) else {
        return Ok(());
    };
    let is_given = |id: &str| {
        matches
            .value_source(id)
            .is_some_and(|source| source == ValueSource::CommandLine)
    };
    let chosen = |mode: &&Mode| mode.command == name && is_given(mode.option);
    let Some(mode) = MODES.iter().find(chosen) else {
        return Ok(());
    };
    let ignored = |argument: &&Arg| {
        let id = argument.get_id().as_str();
        let of_the_answer = argument
            .get_help_heading()
            .is_some_and(|heading| OF_THE_ANSWER.contains(&heading));
        let of_new_races = mode.option == "resume" && OF_NEW_RACES.contains(&id);
        is_given(id) && !mode.heeds.contains(&id) && (!of_the_answer || of_new_races)
    };
    let Some(argument) = command.get_arguments().find(ignored) else {
        return Ok(());
    };
    let option = mode.option;
    let what = match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => {
            let values = matches
                .get_raw(argument.get_id().as_str())
                .into_iter()
                .flatten();
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            format!("'{}'", values.join(" "))
        }
    };
    let heeds: Vec<String> = mode.heeds.iter().map(|name| format!("--{name}")).collect();
    Err(Failure::Usage(format!(
        "{what} cannot be used with --{option}: {}\nhelp: leave it out; {} and the options of the \
         answer are allowed with --{option}",
        mode.reason,
        heeds.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_table_is_an_option_of_its_command() {
        let whole = crate::program::command();
        for mode in &MODES {
            let command = whole.find_subcommand(mode.command).unwrap();
            for name in [mode.option].iter().chain(mode.heeds) {
                let mut arguments = command.get_arguments();
                let found = arguments.any(|argument| argument.get_long() == Some(name));
                assert!(found, "{} --{name}", mode.command);
            }
        }
    }
}
