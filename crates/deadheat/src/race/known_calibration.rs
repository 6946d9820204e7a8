//! The calibration of this machine: the path of its file, and the note that a race quotes from it.

use std::ffi::OsString;
use std::path::PathBuf;

use deadheat_engine::machine;
use deadheat_format::read_calibration;
use deadheat_model::{CalibrationNote, Environment, Plan, RaceKind};

/// The environment variable with the path of the calibration file. If it is empty, deadheat saves
/// no calibration and races quote none.
pub const CALIBRATION_VARIABLE: &str = "DEADHEAT_CALIBRATION";

/// Returns the path of this machine's calibration file: the value of [`CALIBRATION_VARIABLE`], or a
/// file in the user's state folder. `None` if the variable is empty, or if the state folder is
/// unknown.
pub fn calibration_file() -> Option<PathBuf> {
    place(|name| std::env::var_os(name))
}

fn place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(file) = variable(CALIBRATION_VARIABLE) {
        return (!file.is_empty()).then(|| PathBuf::from(file));
    }
    Some(state_folder(variable)?.join("calibration.json"))
}

/// Returns the user's folder for the state of deadheat; `None` if it is unknown. `variable` reads
/// an environment variable.
fn state_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG specification says to ignore relative paths.
    let folder = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state =
        folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")));
    Some(state?.join("deadheat"))
}

/// Returns the folder with the list of run files and plans that deadheat wrote for this user;
/// `None` if the user's state folder is unknown.
#[cfg(feature = "commands")]
pub(crate) fn made_files_folder() -> Option<PathBuf> {
    Some(state_folder(|name| std::env::var_os(name))?.join("made"))
}

/// Returns the note that a race of this plan quotes from the calibration of this machine; `None` if
/// the calibration is missing or outdated. Ignores a calibration file that cannot be read, because
/// a race should not fail for this reason.
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
