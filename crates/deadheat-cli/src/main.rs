//! The `deadheat` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    deadheat_cli::deadheat()
}
