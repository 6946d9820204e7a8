//! Calibrates, answers, and keeps what was found.

use std::path::Path;

use deadheat::answer::to_stdout;
use deadheat::calibration::{CALIBRATION_VARIABLE, calibration_file};
use deadheat::engine::{environment, machine};
use deadheat::exit::{Failure, Status};
use deadheat::format::{
    calibration_json, ensure_writable, read_calibration, write_calibration, write_text,
};
use deadheat::model::{Calibration, CalibrationEnd};
use deadheat::report::{CalibrationOptions, to_calibration_markdown, to_calibration_text};
use deadheat::terminal::{self, to_stderr};

use super::arguments::CalibrateArgs;
use super::progress::LiveCalibration;

/// Calibrates this machine, or shows what was found before.
pub fn calibrate(args: &CalibrateArgs) -> Result<Status, Failure> {
    if let Some(path) = args
        .markdown
        .as_deref()
        .filter(|_| !args.page_takes_stdout())
    {
        ensure_writable(path).map_err(|error| Failure::unwritable("--markdown", &error))?;
    }
    if args.show {
        return show(args);
    }
    let spec = args.spec()?;
    let mut progress = LiveCalibration::new(args.quiet);
    let calibration = deadheat::calibration::calibrate(&spec, &mut progress)?;
    progress.finish();
    answer(args, &calibration, &[])?;
    let saved = save(args, &calibration);
    if !args.json && !args.page_takes_stdout() {
        to_stdout(&format!("  {saved}\n"))?;
    }
    Ok(match calibration.ending {
        CalibrationEnd::Interrupted(signal) => Status::Interrupted(signal),
        CalibrationEnd::Finished | CalibrationEnd::Budget => Status::Done,
    })
}

/// Prints the calibration that was saved.
fn show(args: &CalibrateArgs) -> Result<Status, Failure> {
    let place = args.save.clone().or_else(calibration_file);
    let nowhere = || {
        Failure::Data(format!(
            "there is no place for a calibration; name a file by --save or {CALIBRATION_VARIABLE}"
        ))
    };
    let place = place.ok_or_else(nowhere)?;
    let saved = read_calibration(&place).map_err(Failure::reading)?;
    let none = || {
        Failure::Data(format!(
            "{} does not exist; `deadheat calibrate` makes it",
            place.display()
        ))
    };
    let saved = saved.ok_or_else(none)?;
    let here = machine(&environment());
    let outdated = saved.outdated(&here, env!("CARGO_PKG_VERSION"));
    answer(args, &saved, &outdated)?;
    if !args.json && !args.page_takes_stdout() {
        to_stdout(&format!("  read from {}\n", place.display()))?;
    }
    Ok(Status::Done)
}

fn answer(
    args: &CalibrateArgs,
    calibration: &Calibration,
    outdated: &[&'static str],
) -> Result<(), Failure> {
    if let Some(path) = &args.markdown {
        let page = to_calibration_markdown(calibration);
        match args.page_takes_stdout() {
            true => return to_stdout(&page),
            false => {
                write_text(path, &page).map_err(|error| Failure::writing("--markdown", error))?;
            }
        }
    }
    if args.json {
        return to_stdout(&calibration_json(calibration));
    }
    to_stdout(&to_calibration_text(
        calibration,
        &CalibrationOptions {
            width: terminal::width(),
            color: args.color.applies(),
            unicode: terminal::speaks_unicode(),
            outdated,
        },
    ))
}

/// Keeps the calibration for later races and says where. It was answered
/// already, so a place that cannot be written to is worth a warning.
fn save(args: &CalibrateArgs, calibration: &Calibration) -> String {
    let raced = calibration.kinds.iter().any(|one| one.false_calls.of > 0);
    if !raced {
        return "not saved: nothing was raced".to_owned();
    }
    let place = args.save.clone().or_else(calibration_file);
    let problem = match place.as_deref().map(|place| write(place, calibration)) {
        Some(Ok(told)) => return told,
        Some(Err(error)) => error.to_string(),
        None => "there is no place for it".to_owned(),
    };
    let text = format!(
        "the calibration is not saved, and no race will quote it: {problem}; name a file by \
         --save or {CALIBRATION_VARIABLE}"
    );
    to_stderr("deadheat: warning", &text);
    "not saved".to_owned()
}

fn write(place: &Path, calibration: &Calibration) -> Result<String, deadheat::format::FormatError> {
    write_calibration(place, calibration)?;
    Ok(format!("saved in {}", place.display()))
}
