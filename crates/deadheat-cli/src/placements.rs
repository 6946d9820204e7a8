//! `deadheat placements`: neutral links of an executable, for other processes.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use deadheat::exit::{Failure, Status};
use deadheat_link::placements as make_placements;

/// Options of `deadheat placements`.
#[derive(Debug, Args)]
pub struct PlacementsArgs {
    /// An executable that was linked through `deadheat link`
    #[arg(value_name = "EXECUTABLE")]
    executable: PathBuf,
    /// What to shuffle function sections by, one neutral link each
    #[arg(value_name = "SEED", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Vec<u32>,
}

/// Prints a line of JSON for the executable and one for each seed, as soon as
/// there is something to say.
pub fn placements(args: &PlacementsArgs) -> Result<Status, Failure> {
    let mut output = io::stdout().lock();
    let mut failure = None;
    make_placements(&args.executable, &args.seeds, |line| {
        match writeln!(output, "{line}").and_then(|()| output.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    match failure {
        // Who asked has heard enough.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Status::Done),
        Some(error) => Err(Failure::writing("standard output", error)),
        None => Ok(Status::Done),
    }
}
