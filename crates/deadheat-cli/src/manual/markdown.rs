//! The reference of the command line as one page of Markdown, generated from the texts of `--help`.

use clap::{Arg, Command};

const HEAD: &str = "\
# Command line

Every command and option, in the order and words of `--help`. A test writes this page from the
program, so it cannot lag behind. [The deadheat command](cli.md) shows the options of races with
examples and their output; options that several commands share are explained there once.

";

/// Returns the page without the part about `cargo deadheat`.
pub(super) fn page(program: &Command) -> String {
    let mut text = HEAD.to_owned();
    for command in shown(program) {
        push_command(&mut text, "deadheat", command, 2);
    }
    text
}

/// Returns the part about `cargo deadheat`: its `help` text, then the options after `--`.
pub(super) fn cargo_part(help: &str, after_dashes: &Command) -> String {
    let mut text = format!(
        "## cargo deadheat\n\n```text\n{}\n```\n\nAfter `--`:\n\n",
        help.trim_end()
    );
    push_options(&mut text, after_dashes);
    text
}

/// Returns the examples without their title.
pub(super) fn lines_of_examples(text: &str) -> &str {
    text.strip_prefix("Examples:\n").unwrap_or(text)
}

/// Returns the visible subcommands of a command, in the order of its help.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let below = command.get_subcommands();
    below.filter(|one| !one.is_hide_set() && one.get_name() != "help")
}

fn push_command(text: &mut String, above: &str, command: &Command, level: usize) {
    let name = format!("{above} {}", command.get_name());
    *text += &format!("{} {name}\n\n", "#".repeat(level));
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        *text += &format!("{}.\n\n", prose(&about.to_string()).trim_end_matches('.'));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    *text += &format!("```text\n{usage}\n```\n\n");
    push_options(text, command);
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let examples = lines_of_examples(&examples);
        let lines = examples.lines().map(str::trim);
        *text += &format!(
            "```sh\n{}\n```\n\n",
            lines.collect::<Vec<_>>().join("\n").trim_end()
        );
    }
    for below in shown(command) {
        push_command(text, &name, below, level + 1);
    }
}

/// Appends one list of options per heading, in the order in which the headings first occur.
fn push_options(text: &mut String, command: &Command) {
    let hidden =
        |arg: &&Arg| arg.is_hide_set() || ["help", "version"].contains(&arg.get_id().as_str());
    let args: Vec<&Arg> = command.get_arguments().filter(|arg| !hidden(arg)).collect();
    let heading = |arg: &Arg| match arg.get_help_heading() {
        Some(heading) => heading.to_owned(),
        None if arg.is_positional() => "Arguments".to_owned(),
        None => "Options".to_owned(),
    };
    let mut headings: Vec<String> = Vec::new();
    for arg in &args {
        let heading = heading(arg);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for title in headings {
        *text += &format!("**{title}**\n\n");
        for arg in args.iter().filter(|arg| heading(arg) == title) {
            *text += &item(arg);
        }
        text.push('\n');
    }
}

/// Returns the list item of an option: its syntax, its help, its possible values and its default.
fn item(arg: &Arg) -> String {
    let mut line = String::from("- ");
    if let (Some(short), true) = (arg.get_short(), arg.get_long().is_some()) {
        line += &format!("`-{short}`, ");
    }
    line += &format!("`{arg}`");
    if let Some(help) = arg.get_long_help().or(arg.get_help()) {
        line += &format!(": {}", prose(&help.to_string()));
    }
    let takes_values = arg.get_action().takes_values();
    let values = arg.get_possible_values();
    let values: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if takes_values && !values.is_empty() && !arg.is_hide_possible_values_set() {
        line += &format!(" (one of {})", values.join(", "));
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if takes_values && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        line += &format!(" [default: {}]", defaults.join(", "));
    }
    line.push('\n');
    line
}

/// Returns text in one line, with the characters of Markdown's markup escaped.
fn prose(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut plain = String::new();
    for c in words.join(" ").chars() {
        if matches!(c, '<' | '>' | '*' | '_' | '`' | '|') {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Command {
        Command::new("deadheat")
            .subcommand(
                Command::new("go")
                    .about("Go <fast>")
                    .after_help("Examples:\n  deadheat go --far 2")
                    .arg(Arg::new("far").long("far").short('f').default_value("1"))
                    .arg(Arg::new("secret").long("secret").hide(true))
                    .arg(
                        Arg::new("how")
                            .long("how")
                            .help_heading("Manner")
                            .value_parser(["well", "badly"]),
                    )
                    .arg(Arg::new("place").help("Where_to")),
            )
            .subcommand(Command::new("inner").hide(true))
    }

    #[test]
    fn lists_options_below_their_headings_with_values_and_defaults() {
        let mut program = example();
        program.build();
        let page = page(&program);
        for line in [
            "## deadheat go\n\nGo \\<fast\\>.\n",
            "**Options**\n\n- `-f`, `--far <far>` [default: `1`]\n",
            "**Manner**\n\n- `--how <how>` (one of `well`, `badly`)\n",
            "**Arguments**\n\n- `[place]`: Where\\_to\n",
            "```sh\ndeadheat go --far 2\n```\n",
        ] {
            assert!(page.contains(line), "{line:?} is missing in\n{page}");
        }
    }

    #[test]
    fn leaves_out_hidden_commands_options_and_help() {
        let mut program = example();
        program.build();
        let page = page(&program);
        for option in ["--secret", "-h", "--help"] {
            assert!(!page.contains(&format!("- `{option}")), "{option}: {page}");
        }
        assert!(!page.contains("deadheat inner"), "{page}");
    }
}
