//! `deadheat doctor`, which examines what disturbs measurements on this machine.

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::Pinning;
use deadheat::parts::report::{DoctorTextOptions, to_doctor_json, to_doctor_text};
use deadheat::parts::terminal::{self, to_stderr};
use deadheat_doctor::{DoctorOptions, Root, examine};
use deadheat_options::answer::ShapeArgs;

pub const EXAMPLES: &str = "\
Examples:
  deadheat doctor
  deadheat doctor --pin 2,3
  deadheat doctor --json > machine.json";

/// The approximate duration of the measurements, in seconds.
const SECONDS: f64 = 4.8;

/// Options of `deadheat doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Cores to examine: auto (compare them), none (leave the choice to the scheduler) or a list
    #[arg(long, value_name = "CORES", default_value = "auto", value_parser = Pinning::parse)]
    pin: Pinning,
    #[command(flatten)]
    shape: ShapeArgs,
}

pub fn doctor(args: &DoctorArgs) -> Result<Status, Failure> {
    let options = DoctorOptions {
        pinning: args.pin.clone(),
        root: Root::real(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        debug_assertions: cfg!(debug_assertions),
        seconds: SECONDS,
    };
    let begins = || {
        to_stderr(
            "deadheat doctor",
            "measuring for about 4 s; the doctor changes nothing",
        )
    };
    let checkup = examine(&options, begins).map_err(|error| Failure::Usage(error.to_string()))?;
    if args.shape.json {
        to_stdout(&to_doctor_json(&checkup))?
    } else {
        to_stdout(&to_doctor_text(
            &checkup,
            &DoctorTextOptions {
                width: terminal::width(),
                color: args.shape.in_color(),
                unicode: terminal::speaks_unicode(),
            },
        ))?
    }
    Ok(Status::Done)
}
