//! Calibration files: `deadheat.calibration/1`, described by
//! `docs/schema/calibration-1.schema.json`.

use std::io::Write;
use std::path::Path;

use deadheat_model::{
    CalibratedKind, Calibration, CalibrationEnd, Detectable, Found, Json, KnownDifference, Machine,
    NoiseFloor, Object, ReplicateCost, Tally,
};

use crate::content::read_plain_text;
use crate::error::{FormatError, cannot_write};
use crate::output::write_export;
use crate::wire::{Fields, WireError, names, object, required};

/// Schema of the calibration files that are written, and the latest one that can be read.
const CALIBRATION_SCHEMA: &str = "deadheat.calibration/1";

/// Returns the calibration as JSON, indented by two spaces and ending with a line break. Equal
/// calibrations give equal bytes.
pub fn calibration_json(calibration: &Calibration) -> String {
    let whole = calibration.put(Object::new().with("schema", CALIBRATION_SCHEMA));
    let mut text = Json::from(whole).pretty();
    text.push('\n');
    text
}

/// Writes a calibration in place of an older one and creates the folders above it. A concurrent
/// reader finds the older file or the new one, never half of a file.
pub fn write_calibration(
    path: impl AsRef<Path>,
    calibration: &Calibration,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    let text = calibration_json(calibration);
    write_export(path, |out| {
        out.write_all(text.as_bytes()).map_err(cannot_write(path))
    })
}

/// Reads the calibration in a file; returns `None` if the file does not exist.
pub fn read_calibration(path: impl AsRef<Path>) -> Result<Option<Calibration>, FormatError> {
    let path = path.as_ref();
    let Some(text) = read_plain_text(path)? else {
        return Ok(None);
    };
    let read = calibration(&text).map(Some);
    read.map_err(|problem| {
        let advice = "`deadheat calibrate` makes a new one";
        FormatError::whole(path, format!("{problem}; {advice}"))
    })
}

/// Parses a calibration. The error is a description of the problem, without the file.
fn calibration(text: &str) -> Result<Calibration, String> {
    let none = || "it does not contain a calibration".to_owned();
    let json = Json::parse(text).ok_or_else(none)?;
    let whole = json.as_object().ok_or_else(none)?;
    match whole.get("schema").and_then(Json::as_text) {
        Some(CALIBRATION_SCHEMA) => Calibration::take(whole)
            .map_err(|error| format!("'{}' is missing or invalid", error.field())),
        Some(schema) if schema.starts_with("deadheat.calibration/") => Err(format!(
            "it has schema {schema} and needs a later deadheat; this one reads \
             {CALIBRATION_SCHEMA}"
        )),
        _ => Err(none()),
    }
}

object! { Calibration {
    tool_version = "tool": within("version"),
    started_at,
    machine,
    seed,
    alpha,
    margin,
    max_replicates,
    quick: or(false),
    debug_build: omit,
    elapsed_seconds = "elapsed_s",
    ending: inline,
    kinds,
} }

object! { Machine { system, kernel, cpu, cores, id, } }

impl Fields for CalibrationEnd {
    fn put(&self, object: Object) -> Object {
        let (ended, signal) = match self {
            CalibrationEnd::Finished => ("finished", None),
            CalibrationEnd::Budget => ("budget", None),
            CalibrationEnd::Interrupted(signal) => ("interrupted", Some(*signal)),
        };
        object.with("ended", ended).with_some("signal", signal)
    }

    fn take(object: &Object) -> Result<Self, WireError> {
        match required::<String>(object, "ended")?.as_str() {
            "finished" => Ok(CalibrationEnd::Finished),
            "budget" => Ok(CalibrationEnd::Budget),
            "interrupted" => Ok(CalibrationEnd::Interrupted(required(object, "signal")?)),
            _ => Err(names(&["finished", "budget", "interrupted"]).inside("ended")),
        }
    }
}

object! { CalibratedKind {
    kind,
    problem: omit,
    planned,
    baseline_ns,
    calls,
    false_calls,
    promise,
    noise,
    cost = "replicate",
    detectable,
    known,
    coverage,
    coverage_promise,
} ensure promises_its_coverage }

fn promises_its_coverage(kind: &CalibratedKind) -> Result<(), WireError> {
    if kind.coverage.is_some() && kind.coverage_promise.is_none() {
        return Err(WireError::missing("coverage_promise"));
    }
    Ok(())
}

object! { Tally { faster, slower, equivalent, inconclusive, } }

object! { NoiseFloor { estimate = "floor", half_width, process, block, } }

object! { ReplicateCost { seconds, blocks, } }

object! { Detectable { budget_seconds = "budget_s", at_defaults, at_most, } }

object! { Found { replicates, effect = "change", } }

object! { KnownDifference { change, calls, right, wrong, covered, estimate, } }
