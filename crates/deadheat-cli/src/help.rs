//! The texts of `-h`, a short list of options, and of `--help`, the full list. Options are in order
//! of use and commands in groups; options that a command refuses are left out.

use clap::{Arg, Command};
use deadheat::parts::exit::EXIT_CODES;

/// The groups of commands. Commands that only set-up scripts call have no group.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Race",
        &["run", "bench", "rev", "load", "bisect", "explain"],
    ),
    ("Saved results", &["compare", "analyze", "report"]),
    ("Over time", &["history"]),
    ("Several machines", &["plan", "pack", "merge"]),
    ("This machine", &["doctor", "calibrate", "clean"]),
];

pub fn in_one_group(one: &str, other: &str) -> bool {
    let mut groups = GROUPS.iter();
    groups.any(|(_, names)| names.contains(&one) && names.contains(&other))
}

/// The options that `-h` shows for commands whose full list exceeds one screen.
const SHORT: &[(&str, &[&str])] = &[
    (
        "report",
        &[
            "margin",
            "alpha",
            "metric",
            "looks",
            "html",
            "markdown",
            "junit",
            "svg",
            "verbose",
            "format",
            "json",
            "plot",
            "time-unit",
            "color",
            "fail-on",
            "config",
        ],
    ),
    (
        "run",
        &[
            "command-name",
            "shell",
            "ignore-failure",
            "show-output",
            "warmup",
            "runs",
            "timeout",
            "margin",
            "budget",
            "setup",
            "prepare",
            "parameter-list",
            "fail-on",
            "verbose",
            "json",
            "html",
            "export-csv",
        ],
    ),
    (
        "bench",
        &[
            "name",
            "exact",
            "skip",
            "list",
            "margin",
            "max-replicates",
            "budget",
            "timeout",
            "fail-on",
            "verbose",
            "json",
            "html",
            "markdown",
            "save",
            "resume",
        ],
    ),
    (
        "rev",
        &[
            "build",
            "exe",
            "cmake",
            "go",
            "pytest",
            "vitest",
            "node",
            "benches-from",
            "skip",
            "list",
            "margin",
            "budget",
            "fail-on",
            "verbose",
            "json",
            "html",
            "markdown",
            "history",
        ],
    ),
    (
        "load",
        &[
            "server",
            "ready",
            "generator",
            "value",
            "requests",
            "reset",
            "data",
            "parameter-list",
            "list-generators",
            "name",
            "margin",
            "metric",
            "budget",
            "fail-on",
            "verbose",
            "json",
            "html",
        ],
    ),
    #[cfg(target_os = "linux")]
    ("bisect", &deadheat_bisect::SHORT_HELP),
    (
        "compare",
        &[
            "against",
            "name",
            "filter",
            "sort",
            "only-changed",
            "margin",
            "fail-on",
            "verbose",
            "json",
            "html",
            "markdown",
            "export-csv",
            "compat",
        ],
    ),
    (
        "analyze",
        &[
            "margin",
            "alpha",
            "metric",
            "looks",
            "fail-on",
            "verbose",
            "json",
            "plot",
            "html",
            "markdown",
            "export-csv",
            "config",
        ],
    ),
    (
        "merge",
        &[
            "allow-missing",
            "save",
            "fail-on",
            "verbose",
            "json",
            "html",
            "markdown",
            "export-csv",
        ],
    ),
    (
        "extend",
        &[
            "spans",
            "max-span",
            "all-parents",
            "build",
            "exe",
            "cmake",
            "go",
            "pytest",
            "skip",
            "margin",
            "budget",
            "max-replicates",
            "index",
            "verbose",
        ],
    ),
];

/// Options that a command has in common with others, but refuses or ignores.
const REFUSED: &[(&str, &[&str])] = &[
    #[cfg(target_os = "linux")]
    ("bisect", &deadheat_bisect::REFUSED),
    (
        "load",
        &[
            "harness",
            "ignored",
            "include-ignored",
            "callgrind",
            "sample-time",
        ],
    ),
    (
        "extend",
        &[
            "save",
            "list",
            "shard",
            "shard-by",
            "confirm",
            "html",
            "markdown",
            "junit",
            "svg",
            "png",
            "fail-on",
            "allow-unjudged",
        ],
    ),
    // For saved results. If the user names programs, these options apply as in `deadheat bench`.
    (
        "compare",
        &[
            "callgrind",
            "quantile",
            "max-replicates",
            "blocks",
            "control",
            "budget",
            "sample-time",
            "timeout",
            "pin",
            "placement",
            "arrangement",
            "waiting",
            "seed",
            "shard",
            "shard-by",
            "confirm",
            "save",
            "harness",
            "ignored",
            "include-ignored",
            "list",
            "nocapture",
        ],
    ),
];

/// Returns the first option among `words` that `command` accepts but does not use.
pub fn useless_option(command: &str, words: impl Iterator<Item = String>) -> Option<String> {
    let (_, refused) = REFUSED.iter().find(|(name, _)| *name == command)?;
    let mut options = words.take_while(|word| word != "--").filter_map(|word| {
        let name = word.strip_prefix("--")?.split('=').next()?.to_owned();
        refused.contains(&&*name).then(|| format!("--{name}"))
    });
    options.next()
}

const REFUSE_EXPORTS: [&str; 2] = ["bisect", "extend"];

/// The number of examples that `-h` shows.
const SHORT_EXAMPLES: usize = 3;

pub fn arranged(program: Command) -> Command {
    let groups = grouped(&program);
    let program_races = program.find_subcommand("run").is_some();
    let program = program
        .help_template("{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}")
        .override_usage(match program_races {
            true => {
                "deadheat <COMMAND>\n       deadheat 'COMMAND A' 'COMMAND B'    (as deadheat run)"
            }
            false => "deadheat <COMMAND>    (racing needs Linux)",
        })
        .after_help(groups);
    let names: Vec<String> = program
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect();
    names.into_iter().fold(program, |program, name| {
        program.mut_subcommand(name, |one| shortened(one, "deadheat"))
    })
}

/// Returns the list of commands in groups, each with its line of help.
fn grouped(program: &Command) -> String {
    let line = |name: &&str| {
        let about = program.find_subcommand(name)?.get_about()?.to_string();
        Some(format!("  {name:<11}{about}\n"))
    };
    let group = |(title, names): &(&str, &[&str])| {
        let lines: String = names.iter().filter_map(line).collect();
        (!lines.is_empty()).then(|| format!("{title}:\n{lines}"))
    };
    let groups: Vec<String> = GROUPS.iter().filter_map(group).collect();
    let grouped = |name: &&str| GROUPS.iter().any(|(_, names)| names.contains(name));
    let all = program.get_subcommands().filter(|one| !one.is_hide_set());
    let others: Vec<&str> = all
        .map(Command::get_name)
        .filter(|name| !grouped(name))
        .collect();
    format!(
        "{}\nFor set-up: {}. `deadheat COMMAND -h` shows the help of a command.",
        groups.join("\n"),
        others.join(", ")
    )
}

/// Returns a command and its subcommands, where `-h` shows only the listed options and the first
/// examples.
fn shortened(command: Command, above: &str) -> Command {
    let name = command.get_name().to_owned();
    let whole = format!("{above} {name}");
    let listed = |table: &[(&str, &'static [&'static str])]| {
        let found = table.iter().find(|(command, _)| *command == name);
        found.map(|(_, options)| *options)
    };
    let (short, refused) = (listed(SHORT), listed(REFUSED).unwrap_or_default());
    let refuses_exports = REFUSE_EXPORTS.contains(&&*name);
    let command = command.mut_args(|arg| {
        let long = arg.get_long().unwrap_or_default().to_owned();
        let is_refused =
            refused.contains(&&*long) || (refuses_exports && long.starts_with("export-"));
        let arg = numbers_may_be_negative(arg);
        match short {
            _ if is_refused => arg.hide(true),
            Some(short) if !long.is_empty() && !short.contains(&&*long) => {
                arg.hide_short_help(true)
            }
            _ => arg,
        }
    });
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(examples) => {
            let first: Vec<&str> = examples.lines().take(1 + SHORT_EXAMPLES).collect();
            let more = match short {
                Some(_) => format!("\n\n{whole} --help shows all options."),
                None => String::new(),
            };
            command
                .after_help(first.join("\n") + &more)
                .after_long_help(format!("{examples}\n\n{EXIT_CODES}"))
        }
        None => command,
    };
    let below: Vec<String> = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect();
    below.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |one| shortened(one, &whole))
    })
}

/// Lets an option take `-1` as its value, so that the parser of the option refuses `-1` with a
/// reason. Otherwise clap would report `-1` as an unknown option.
fn numbers_may_be_negative(arg: Arg) -> Arg {
    if arg.get_action().takes_values() && !arg.is_positional() {
        arg.allow_negative_numbers(true)
    } else {
        arg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(program: &Command) -> Vec<Command> {
        let below = program.get_subcommands();
        below
            .flat_map(|one| std::iter::once(one.clone()).chain(commands(one)))
            .collect()
    }

    #[test]
    fn every_option_of_the_tables_is_an_option_of_its_command() {
        let all = commands(&crate::program::command());
        for (name, options) in SHORT.iter().chain(REFUSED) {
            let command = all.iter().find(|one| one.get_name() == *name).unwrap();
            for option in *options {
                let is_there = command
                    .get_arguments()
                    .any(|arg| arg.get_long() == Some(option));
                assert!(is_there, "{name} --{option}");
            }
        }
    }

    #[test]
    fn short_help_has_at_most_some_twenty_options() {
        for mut command in commands(&crate::program::command()) {
            let help = command.render_help().to_string();
            let options = help
                .lines()
                .filter(|line| line.trim_start().starts_with('-'));
            assert!(options.count() <= 21, "{help}");
        }
    }

    #[test]
    fn every_command_that_users_call_is_in_a_group() {
        let program = crate::program::command();
        let help = grouped(&program);
        for (_, names) in GROUPS {
            for name in names {
                assert!(help.contains(&format!("\n  {name} ")), "{help}");
            }
        }
        assert!(
            help.contains("completions") && !help.contains("placements"),
            "{help}"
        );
    }
}
