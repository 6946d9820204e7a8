//! How a run went, in words: what it took, and how it ended.

use deadheat_model::{Analysis, EndReason, Ending};

use crate::called::Source;
use crate::glyphs::Glyphs;
use crate::names;
use crate::units::{counted, waiting};

/// What the whole run took; `None` for a recording, of which nobody knows.
pub fn effort(analysis: &Analysis) -> Option<String> {
    let processes = match Source::of(analysis) {
        Source::Recording => return None,
        Source::Commands | Source::GoogleBenchmark => {
            counted(analysis.launches, "launch", "launches")
        }
        Source::Functions | Source::Programs => counted(analysis.launches, "process", "processes"),
    };
    let mut text = format!("{processes}, {}", waiting(analysis.elapsed_seconds));
    if let Some(seed) = analysis.seed {
        text += &format!(", seed {seed}");
    }
    Some(text)
}

/// The time that the whole run took; `None` for a recording.
pub fn time(analysis: &Analysis) -> Option<String> {
    let raced = Source::of(analysis) != Source::Recording;
    raced.then(|| waiting(analysis.elapsed_seconds))
}

/// How the run ended, when that is worth a sentence.
pub fn ending(ending: &Ending, source: Source, glyphs: Glyphs) -> Option<String> {
    let again = source.resume();
    match ending {
        Ending::Recording | Ending::Recorded(EndReason::Finished) => None,
        Ending::Recorded(EndReason::Budget) => Some(format!(
            "The time budget was used up before every race was decided; raise it with --budget{}.",
            again.map_or_else(String::new, |command| format!(", or go on with {command}")),
        )),
        Ending::Recorded(EndReason::Interrupted(signal)) => Some(format!(
            "The run was interrupted by {}; {}.",
            signal_name(*signal),
            match again {
                Some(command) => format!("{command} goes on where it stopped"),
                None => "what was measured before is shown".to_owned(),
            }
        )),
        Ending::Recorded(EndReason::Failed(reason)) => {
            let reason = names::shorten(&names::escape(reason, glyphs), 400, glyphs);
            let reason = reason.trim_end_matches('.');
            Some(format!(
                "The run failed and what was measured before is shown: {reason}."
            ))
        }
        Ending::Cut => Some(format!(
            "The record stops without saying why, so deadheat was killed; what it kept until then \
             is shown{}.",
            again.map_or_else(String::new, |command| format!(
                ", and {command} goes on from there"
            )),
        )),
    }
}

pub(crate) fn signal_name(signal: i32) -> String {
    match signal {
        1 => "SIGHUP".to_owned(),
        2 => "SIGINT".to_owned(),
        3 => "SIGQUIT".to_owned(),
        10 => "SIGUSR1".to_owned(),
        12 => "SIGUSR2".to_owned(),
        14 => "SIGALRM".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}
