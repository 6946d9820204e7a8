//! The calibration of this machine: its file, and the part of it that a race quotes.

use std::ffi::OsString;
use std::path::PathBuf;

use deadheat_engine::machine;
use deadheat_format::read_calibration;
use deadheat_model::{CalibrationNote, Environment, Plan, RaceKind};

/// The variable that names the file of the calibration. Empty, there is none:
/// nothing is saved, and no race quotes one.
pub const CALIBRATION_VARIABLE: &str = "DEADHEAT_CALIBRATION";

/// The file of this machine's calibration, unless an option names another;
/// `None` where no folder for it was found.
pub fn calibration_file() -> Option<PathBuf> {
    place(|name| std::env::var_os(name))
}

/// The same, of these variables.
fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(file) = variable(CALIBRATION_VARIABLE) {
        return (!file.is_empty()).then(|| PathBuf::from(file));
    }
    Some(state_folder(variable)?.join("calibration.json"))
}

/// The folder of what deadheat keeps for this user, of these variables.
fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path there is to be ignored, says their specification.
    let folder = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state =
        folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")));
    Some(state?.join("deadheat"))
}

/// The folder of the list of files that this user's deadheat wrote; `None` where it has no place.
#[cfg(feature = "commands")]
pub(crate) fn made_files_folder() -> Option<PathBuf> {
    Some(state_folder(|name| std::env::var_os(name))?.join("made"))
}

/// Returns what is known of races like those of this plan on the machine of these facts. A file
/// that cannot be read says nothing: a race has another purpose than to tell of it.
pub(super) fn known(environment: &Environment, plan: &Plan) -> Option<CalibrationNote> {
    let kind = RaceKind::of(plan)?;
    let calibration = read_calibration(calibration_file()?).ok()??;
    let here = machine(environment);
    let outdated = calibration.outdated(&here, env!("CARGO_PKG_VERSION"));
    calibration.note(kind).filter(|_| outdated.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<String> {
        let found = place(|name| {
            let mut variables = variables.iter();
            let (_, value) = variables.find(|(known, _)| *known == name)?;
            Some(OsString::from(value))
        });
        found.map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn a_calibration_lies_where_state_lies_unless_a_variable_says_otherwise() {
        let home = ("HOME", "/home/ada");
        let default = "/home/ada/.local/state/deadheat/calibration.json";
        assert_eq!(of(&[home]).as_deref(), Some(default));
        assert_eq!(
            of(&[home, ("XDG_STATE_HOME", "")]).as_deref(),
            Some(default)
        );
        assert_eq!(
            of(&[home, ("XDG_STATE_HOME", "/state")]).as_deref(),
            Some("/state/deadheat/calibration.json")
        );
        let here = (CALIBRATION_VARIABLE, "here.json");
        assert_eq!(of(&[home, here]).as_deref(), Some("here.json"));
        assert_eq!(of(&[home, (CALIBRATION_VARIABLE, "")]), None);
        assert_eq!(of(&[]), None);
    }
}
