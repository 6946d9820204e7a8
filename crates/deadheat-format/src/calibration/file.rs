//! The file of a calibration.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use deadheat_model::Calibration;

use super::read::{Problem, calibration};
use super::written::{CALIBRATION_SCHEMA, calibration_json};
use crate::bounded::open_plain;
use crate::error::{FormatError, cannot_write};
use crate::replace::replace;

/// Writes a calibration, in place of an older one, and makes the folder it goes
/// to. A reader meanwhile finds the older one or the new one, and never half of
/// one.
pub fn write_calibration(
    path: impl AsRef<Path>,
    calibration: &Calibration,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot_write(folder))?;
    }
    let text = calibration_json(calibration);
    replace(path, |out| {
        out.write_all(text.as_bytes()).map_err(cannot_write(path))
    })
}

/// The calibration in a file; `None` when there is no such file.
pub fn read_calibration(path: impl AsRef<Path>) -> Result<Option<Calibration>, FormatError> {
    let path = path.as_ref();
    let mut text = String::new();
    let read = open_plain(path).and_then(|mut file| file.read_to_string(&mut text));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            let file = path.to_owned();
            return Err(FormatError::CannotRead { file, source });
        }
    }
    calibration(&text).map(Some).map_err(|problem| {
        let problem = match problem {
            Problem::NoCalibration => "it holds no calibration".to_owned(),
            Problem::Newer(schema) => format!(
                "it has schema {schema} and needs a later deadheat; this one reads \
                 {CALIBRATION_SCHEMA}"
            ),
            Problem::Field(field) => format!("'{field}' is missing or holds something odd"),
        };
        FormatError::Calibration {
            file: path.to_owned(),
            problem,
        }
    })
}
