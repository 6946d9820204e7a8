//! The line that shows the progress of a race or of a calibration.

use crate::layout::Width as _;
#[cfg(feature = "commands")]
use deadheat_model::RaceKind;
use deadheat_model::Standing;

#[cfg(feature = "commands")]
use crate::calibration::kind;
use crate::glyphs::Glyphs;
use crate::names::{escape, shorten, shown};
use crate::units::{sized, waiting};

/// Minimum width, in columns, of a name.
const NAME_AT_LEAST: usize = 8;

/// The progress of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The name of the benchmark that races now.
    pub benchmark: &'a str,
    /// The name of the candidate whose estimate `standing` contains; `None` if there is only one
    /// candidate.
    pub candidate: Option<&'a str>,
    /// The number of completed blocks.
    pub blocks: u64,
    /// Maximum number of blocks of the race.
    pub blocks_at_most: u64,
    /// The current estimate of the change; `None` if there is none yet.
    pub standing: Option<Standing>,
    /// An upper bound of the seconds until the race ends; `None` if it is unknown.
    pub seconds_left: Option<f64>,
}

/// Formats the progress of a race as one line, without a line break. The line is at most `width`
/// columns wide, unless the count of blocks needs more. Details at the end are omitted if they do
/// not fit.
pub fn progress_line(progress: &Progress<'_>, width: usize, glyphs: Glyphs) -> String {
    let count = format!(
        "block {} of at most {}",
        progress.blocks, progress.blocks_at_most
    );
    let mut details: Vec<String> = Vec::new();
    if let Some(standing) = &progress.standing {
        let estimate = &standing.estimate;
        let mut text = sized(estimate.effect, estimate.interval.as_ref(), glyphs);
        if let Some(candidate) = progress.candidate {
            let candidate = shown(candidate, 24, glyphs);
            text = format!("{candidate} {text}");
        }
        details.push(text);
    }
    if let Some(seconds) = progress.seconds_left {
        details.push(format!("at most {} left", whole_seconds(seconds)));
    }
    let name = escape(progress.benchmark, glyphs);
    let mut line = count;
    for detail in details {
        let longer = format!("{line} {} {detail}", glyphs.separator());
        if longer.width() + NAME_AT_LEAST.min(name.width()) + 2 > width {
            break;
        }
        line = longer;
    }
    if name.is_empty() {
        return line;
    }
    let room = width.saturating_sub(line.width() + 2).max(NAME_AT_LEAST);
    format!("{}: {line}", shorten(&name, room, glyphs))
}

/// Formats a duration in whole seconds, because changing decimals would flicker.
pub fn whole_seconds(seconds: f64) -> String {
    let seconds = seconds.max(0.0).ceil();
    if seconds < 10.0 {
        format!("{seconds} s")
    } else {
        waiting(seconds)
    }
}

/// The progress of a calibration.
#[cfg(feature = "commands")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationStanding {
    /// The kind of the races that run now.
    pub kind: RaceKind,
    /// Number of finished races.
    pub done: u64,
    /// Number of planned races.
    pub planned: u64,
    /// Estimated seconds until the end, if known.
    pub seconds_left: Option<f64>,
}

/// Formats the progress of a calibration as one line, without a line break. The line is at most
/// `width` columns wide, unless the count of races needs more.
#[cfg(feature = "commands")]
pub fn calibration_line(standing: &CalibrationStanding, width: usize) -> String {
    let mut line = format!("race {} of {}", standing.done, standing.planned);
    let mut details = vec![kind(standing.kind).to_owned()];
    let left = standing.seconds_left;
    details.extend(left.map(|seconds| format!("about {} left", whole_seconds(seconds))));
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
    use deadheat_model::{Estimate, Interval, LogRatio};

    fn progress<'a>() -> Progress<'a> {
        let change = LogRatio::from_change;
        Progress {
            benchmark: "utf8",
            candidate: None,
            blocks: 12,
            blocks_at_most: 40,
            standing: Some(Standing {
                candidate: 1,
                estimate: Estimate {
                    effect: change(-0.012),
                    interval: Some(Interval {
                        low: change(-0.020),
                        high: change(-0.004),
                        confidence: 0.95,
                    }),
                    p_value: None,
                    replicates: 12,
                    blocks: 12,
                },
            }),
            seconds_left: Some(13.4),
        }
    }

    #[test]
    fn the_line_tells_where_the_race_stands() {
        assert_eq!(
            progress_line(&progress(), 80, Glyphs::Unicode),
            "utf8: block 12 of at most 40 · −1.20% [−2.00%, −0.40%] · at most 14 s left"
        );
        assert_eq!(
            progress_line(&progress(), 80, Glyphs::Ascii),
            "utf8: block 12 of at most 40 | -1.20% [-2.00%, -0.40%] | at most 14 s left"
        );
    }

    #[test]
    fn a_race_that_just_began_has_only_its_count() {
        let progress = Progress {
            standing: None,
            seconds_left: None,
            blocks: 0,
            ..progress()
        };
        assert_eq!(
            progress_line(&progress, 80, Glyphs::Unicode),
            "utf8: block 0 of at most 40"
        );
    }

    #[test]
    fn a_narrow_line_leaves_out_what_stands_last() {
        for width in [40, 60] {
            let line = progress_line(&progress(), width, Glyphs::Unicode);
            assert!(line.width() <= width, "{line}");
            assert!(line.starts_with("utf8: block 12 of at most 40"), "{line}");
        }
        let endless = "x\n".repeat(500);
        let long = Progress {
            benchmark: &endless,
            candidate: Some("./new"),
            ..progress()
        };
        let line = progress_line(&long, 100, Glyphs::Unicode);
        assert!(line.width() <= 100 && !line.contains('\n'), "{line}");
        assert!(line.contains("./new −1.20%"), "{line}");
    }

    #[cfg(feature = "commands")]
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
