//! `deadheat man` and `deadheat completions`: manual pages and shell completions, both generated
//! from the texts of `--help`.

mod markdown;

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use deadheat::parts::answer::{line_to_stdout, to_stdout};
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::format::{ensure_folder, path_in, write_text};

/// Returns the help of `cargo deadheat`, and its options after `--`; `None` on systems without that
/// command.
#[cfg(target_os = "linux")]
fn cargo_deadheat() -> Option<(&'static str, Command)> {
    Some((
        crate::cargo_deadheat::HELP,
        crate::rev::CargoRace::options(),
    ))
}

#[cfg(not(target_os = "linux"))]
fn cargo_deadheat() -> Option<(&'static str, Command)> {
    None
}

pub const MAN_EXAMPLES: &str = "\
Examples:
  deadheat man | man -l -
  deadheat man --out ~/.local/share/man/man1";

/// The exit codes and their meanings, for every manual page.
const EXIT_CODES: [(&str, &str); 8] = [
    ("0", "Done, whatever the verdict."),
    ("1", "A --fail-on condition holds."),
    (
        "2",
        "Wrong use (also an invalid deadheat.toml, or an output in a missing folder), or a --fail-on \
         that could judge nothing.",
    ),
    ("3", "A contender or a hook failed."),
    ("4", "A file cannot be read, or its content is invalid."),
    (
        "5",
        "A file cannot be written (permissions, a full disk), or deadheat failed.",
    ),
    ("6", "No benchmark is selected."),
    ("128 + n", "Stopped by signal n."),
];

/// Options of `deadheat man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write the pages of all commands into this folder [default: print that of deadheat itself]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the reference of the command line as Markdown, for docs/command_line.md
    #[arg(long, hide = true, conflicts_with = "out")]
    markdown: bool,
}

pub fn man(args: &ManArgs, program: Command) -> Result<Status, Failure> {
    if args.markdown {
        to_stdout(&reference(program))?;
        return Ok(Status::Done);
    }
    let pages = pages(program);
    let Some(folder) = &args.out else {
        to_stdout(&pages[0].text)?;
        return Ok(Status::Done);
    };
    ensure_folder(folder).map_err(|error| Failure::writing("--out", error))?;
    for page in &pages {
        let path = path_in(folder, &page.file).map_err(|error| Failure::writing("--out", error))?;
        write_text(&path, &page.text).map_err(|error| Failure::writing("--out", error))?;
        line_to_stdout(&path.display().to_string())?;
    }
    Ok(Status::Done)
}

fn reference(program: Command) -> String {
    let mut program = program;
    program.build();
    let mut page = markdown::page(&program);
    if let Some((help, mut after_dashes)) = cargo_deadheat() {
        after_dashes.build();
        page += &markdown::cargo_part(help, &after_dashes);
    }
    page
}

const CARGO_DEADHEAT: &str = "cargo-deadheat";

struct Page {
    file: String,
    text: String,
}

/// Returns the page of `deadheat`, then those of its commands, then that of `cargo deadheat`.
fn pages(program: Command) -> Vec<Page> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let commands: Vec<Command> = program.get_subcommands().cloned().collect();
    let named = |command: &Command| format!("deadheat-{}", command.get_name());
    let names: Vec<String> = commands.iter().map(named).collect();
    let mut others: Vec<&str> = names.iter().map(String::as_str).collect();
    let cargo_page = cargo_page();
    others.extend(cargo_page.iter().map(|_| CARGO_DEADHEAT));
    let mut pages = vec![page("deadheat", program, &others)];
    for (name, command) in names.iter().zip(commands) {
        let below = command.clone().disable_help_subcommand(true);
        let below: Vec<(String, Command)> = below
            .get_subcommands()
            .filter(|one| one.get_name() != "help")
            .map(|one| (format!("{name}-{}", one.get_name()), one.clone()))
            .collect();
        let mut others = vec!["deadheat"];
        others.extend(below.iter().map(|(name, _)| name.as_str()));
        pages.push(page(name, command, &others));
        for (below, command) in &below {
            pages.push(page(below, command.clone(), &["deadheat", name]));
        }
    }
    pages.extend(cargo_page);
    pages
}

fn page(name: &str, command: Command, see_also: &[&str]) -> Page {
    let has_commands = command.has_subcommands();
    let examples = command.get_after_long_help();
    let examples = examples.map(ToString::to_string);
    let command = command.display_name(name.to_owned());
    let page = Text::of(command, name)
        .section(Man::render_name_section)
        .section(Man::render_synopsis_section)
        .section(Man::render_description_section)
        .section(Man::render_options_section);
    let page = if has_commands {
        page.section(Man::render_subcommands_section)
    } else {
        page
    };
    page.verbatim(
        "EXAMPLES",
        examples.as_deref().map_or("", markdown::lines_of_examples),
    )
    .end(name, see_also)
}

/// Returns the page of `cargo deadheat`, which consists of its help and the options after `--`.
/// clap does not know the other arguments, because `cargo deadheat` reads them as cargo does.
fn cargo_page() -> Option<Page> {
    let name = CARGO_DEADHEAT;
    let (help, options_of_race) = cargo_deadheat()?;
    let (about, rest) = help.split_once("\n\n").unwrap_or((help, ""));
    let (usage, rest) = rest.split_once("\n\n").unwrap_or(("", rest));
    let (description, options) = rest.split_once("\n\nOptions:\n").unwrap_or((rest, ""));
    let command = options_of_race
        .name(name)
        .disable_help_flag(true)
        .about(about.replace('\n', " "))
        .override_usage(usage.trim_start_matches("Usage: ").to_owned());
    let page = Text::of(command, name)
        .section(Man::render_name_section)
        .section(Man::render_synopsis_section)
        .verbatim("DESCRIPTION", description)
        .verbatim("OPTIONS BEFORE --", options)
        .section(Man::render_options_section)
        .end(name, &["deadheat", "deadheat-rev", "cargo-bench"]);
    Some(page)
}

/// Replaces characters outside ASCII with troff escapes, which print in every locale.
fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => plain.push(c),
            '…' => plain += "...",
            c => plain += &format!("\\[u{:04X}]", u32::from(c)),
        }
    }
    plain
}

/// A manual page under construction.
struct Text {
    man: Man,
    roff: Vec<u8>,
}

impl Text {
    fn of(command: Command, name: &str) -> Self {
        let version = concat!("deadheat ", env!("CARGO_PKG_VERSION"));
        let man = Man::new(command)
            .title(name.to_uppercase())
            .source(version)
            .manual("Manual of deadheat");
        let page = Self {
            man,
            roff: Vec::new(),
        };
        page.section(Man::render_title)
    }

    fn section(
        mut self,
        render: impl Fn(&Man, &mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> Self {
        render(&self.man, &mut self.roff).expect("memory takes what it is given");
        self
    }

    /// Appends a section with its line breaks kept.
    fn verbatim(mut self, title: &str, text: &str) -> Self {
        if text.is_empty() {
            return self;
        }
        let mut roff = Roff::new();
        roff.control("SH", [title]).control("nf", []);
        for line in text.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
        self.roff.extend(roff.render().into_bytes());
        self
    }

    /// Appends the exit codes and the related pages, and returns the finished page.
    fn end(mut self, name: &str, see_also: &[&str]) -> Page {
        let mut roff = Roff::new();
        roff.control("SH", ["EXIT STATUS"]);
        for (code, meaning) in EXIT_CODES {
            roff.control("TP", []).text([roman(code)]);
            roff.text([roman(meaning)]);
        }
        let others = see_also.iter().map(|other| format!("{other}(1)"));
        roff.control("SH", ["SEE ALSO"])
            .text([roman(others.collect::<Vec<String>>().join(", "))]);
        self.roff.extend(roff.render().into_bytes());
        Page {
            file: format!("{name}.1"),
            text: ascii(&String::from_utf8_lossy(&self.roff)),
        }
    }
}

pub const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  deadheat completions bash > ~/.local/share/bash-completion/completions/deadheat
  deadheat completions zsh > ~/.zfunc/_deadheat
  deadheat completions fish > ~/.config/fish/completions/deadheat.fish";

/// Options of `deadheat completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to complete for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub fn completions(args: &CompletionsArgs, mut program: Command) -> Result<Status, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut program, "deadheat", &mut script);
    to_stdout(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_every_command_that_users_see() {
        let pages = pages(crate::program::command());
        let files: Vec<&str> = pages.iter().map(|page| &*page.file).collect();
        assert_eq!(files[0], "deadheat.1");
        for file in ["deadheat-run.1", "deadheat-rev.1", "cargo-deadheat.1"] {
            assert!(files.contains(&file), "{files:?}");
        }
        assert!(!files.contains(&"deadheat-placements.1"), "{files:?}");
    }

    #[test]
    fn pages_are_plain_ascii() {
        assert_eq!(ascii("a … é"), "a ... \\[u00E9]");
        assert!(
            pages(crate::program::command())
                .iter()
                .all(|page| page.text.is_ascii())
        );
    }

    #[test]
    fn the_page_of_cargo_deadheat_has_all_of_its_help() {
        let page = cargo_page().unwrap();
        for words in [
            "[BASE[..HEAD]]",
            "Without BASE",
            "Print the version",
            "margin",
        ] {
            let plain = page.text.replace("\\-", "-");
            assert!(plain.contains(words), "{words}: {plain}");
        }
    }
}
