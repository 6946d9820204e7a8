//! `deadheat link`, which replaces the linker driver and records each link.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::HELP;
use deadheat::parts::terminal::to_stderr;
use deadheat_link::placements as make_placements;

pub const EXAMPLES: &str = "\
Examples:
  deadheat link -- cc main.o kernel.o -o main
  make CC='deadheat link -- cc' CFLAGS='-O2 -ffunction-sections'
  cmake -DCMAKE_C_LINKER_LAUNCHER='deadheat;link;--' ..";

/// Options of `deadheat link`.
#[derive(Debug, Args)]
pub struct LinkArgs {
    /// The compiler driver and its arguments
    #[arg(
        value_name = "DRIVER",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    driver: Vec<OsString>,
}

impl LinkArgs {
    /// Reads `deadheat link [--] DRIVER ARGS…` without clap, because a build calls this program for
    /// every compilation. Returns `None` if clap must read the arguments.
    pub fn of(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        if arguments.nth(1)? != "link" {
            return None;
        }
        let first = arguments.next()?;
        let driver = match first.to_str() {
            Some("--") => arguments.collect(),
            Some(option) if option.starts_with('-') => return None,
            _ => std::iter::once(first).chain(arguments).collect(),
        };
        let args = Self { driver };
        (!args.driver.is_empty()).then_some(args)
    }
}

/// Runs the driver, records its link, and returns the driver's exit code.
pub fn link(args: &LinkArgs) -> u8 {
    let Some((driver, arguments)) = args.driver.split_first() else {
        return Failure::Usage("deadheat link: the compiler driver is missing".to_owned()).report();
    };
    // A driver without arguments links nothing, and any other program would simply run.
    if arguments.is_empty() {
        let driver = driver.display();
        return Failure::Usage(format!(
            "deadheat link: '{driver}' has no arguments, so it would link nothing{HELP}put \
             deadheat link in front of the compiler driver: deadheat link -- cc main.o -o main"
        ))
        .report();
    }
    link_by(driver, arguments, "deadheat link", "deadheat link")
}

/// Links with `driver`, records the link, and returns the exit code. `notes` and `failed` are the
/// prefixes of notes and of the error on standard error.
pub fn link_by(driver: &OsStr, arguments: &[OsString], notes: &str, failed: &str) -> u8 {
    match deadheat_link::link(driver, arguments) {
        Ok(linked) => {
            for note in &linked.notes {
                to_stderr(notes, &note.to_string());
            }
            linked.end()
        }
        Err(error) => {
            to_stderr(failed, &error.to_string());
            error.code()
        }
    }
}

/// Options of `deadheat placements`.
#[derive(Debug, Args)]
pub struct PlacementsArgs {
    /// An executable that was linked through `deadheat link`
    #[arg(value_name = "EXECUTABLE")]
    executable: PathBuf,
    /// Seeds that shuffle the function sections, one neutral link per seed
    #[arg(value_name = "SEED", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Vec<u32>,
    /// Another build that will race on links of the same seeds: code that both builds share gets
    /// the same addresses if possible
    #[arg(long, value_name = "EXECUTABLE")]
    beside: Vec<PathBuf>,
}

/// Prints a line of JSON for the executable and one for each seed, each as soon as it is known.
pub fn placements(args: &PlacementsArgs) -> Result<Status, Failure> {
    let mut output = io::stdout().lock();
    let mut failure = None;
    make_placements(
        &args.executable,
        &args.beside,
        &args.seeds,
        |line| match writeln!(output, "{line}").and_then(|()| output.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        },
    );
    match failure {
        // The reader of the pipe has closed it because it has read enough.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Status::Done),
        Some(error) => Err(Failure::writing("standard output", error)),
        None => Ok(Status::Done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(line: &str) -> Option<Vec<OsString>> {
        let words = line.split(' ').map(OsString::from);
        LinkArgs::of(words).map(|args| args.driver)
    }

    #[test]
    fn what_comes_after_the_driver_is_the_drivers() {
        for line in [
            "deadheat link -- cc -h -- x.o",
            "deadheat link cc -h -- x.o",
        ] {
            let words = driver(line).unwrap();
            assert_eq!(words, ["cc", "-h", "--", "x.o"], "{line}");
        }
    }

    #[test]
    fn help_and_mistakes_are_left_to_clap() {
        for line in [
            "deadheat",
            "deadheat run link",
            "deadheat link",
            "deadheat link --",
            "deadheat link --help",
        ] {
            assert_eq!(driver(line), None, "{line}");
        }
    }
}
