//! The line people watch while a machine is calibrated.

use deadheat_model::RaceKind;

use super::note::kind;
use crate::units::waiting;

/// Where a calibration stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationStanding {
    /// What is raced.
    pub kind: RaceKind,
    /// Races that are over.
    pub done: u64,
    /// Races that are planned.
    pub planned: u64,
    /// Seconds it will still take, as far as is known.
    pub seconds_left: Option<f64>,
}

/// One line without a line break, at most `width` columns where that leaves
/// room for the count of races.
pub fn calibration_line(standing: &CalibrationStanding, width: usize) -> String {
    let mut line = format!("race {} of {}", standing.done, standing.planned);
    let mut details = vec![kind(standing.kind).to_owned()];
    details.extend(standing.seconds_left.map(|seconds| {
        // Tenths would only flicker.
        let seconds = seconds.max(0.0).ceil();
        match seconds < 10.0 {
            true => format!("about {seconds} s left"),
            false => format!("about {} left", waiting(seconds)),
        }
    }));
    for detail in details {
        let longer = format!("{line}, {detail}");
        if longer.len() > width {
            break;
        }
        line = longer;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_comes_first_and_the_rest_where_there_is_room() {
        let standing = CalibrationStanding {
            kind: RaceKind::Builds,
            done: 17,
            planned: 840,
            seconds_left: Some(81.2),
        };
        assert_eq!(
            calibration_line(&standing, 80),
            "race 17 of 840, builds, about 1 min 22 s left"
        );
        assert_eq!(calibration_line(&standing, 30), "race 17 of 840, builds");
        assert_eq!(calibration_line(&standing, 5), "race 17 of 840");
        let soon = CalibrationStanding {
            seconds_left: Some(-1.0),
            ..standing
        };
        assert!(calibration_line(&soon, 80).ends_with("about 0 s left"));
    }
}
