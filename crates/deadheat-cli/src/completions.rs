//! `deadheat completions`: what makes a shell complete commands and options.

use clap::Args;
use clap_complete::{Shell, generate};
use deadheat::answer::to_stdout;
use deadheat::exit::{Failure, Status};

use crate::program;

/// Shown at the end of `deadheat completions --help`.
pub const EXAMPLES: &str = "\
Examples:
  deadheat completions bash > ~/.local/share/bash-completion/completions/deadheat
  deadheat completions zsh > ~/.zfunc/_deadheat
  deadheat completions fish > ~/.config/fish/completions/deadheat.fish";

/// Options of `deadheat completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell it is for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints them.
pub fn completions(args: &CompletionsArgs) -> Result<Status, Failure> {
    let mut script = Vec::new();
    generate(args.shell, &mut program::command(), "deadheat", &mut script);
    to_stdout(&String::from_utf8_lossy(&script))?;
    Ok(Status::Done)
}
