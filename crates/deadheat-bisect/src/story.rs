//! The story of a search in past tense, and the messages while it runs.

use deadheat::parts::report::units::{counted, share, sized, waiting};
use deadheat::parts::report::{Glyphs, escape_message, first_of, sentences, shown};

use crate::log::{
    BisectAnswer, BisectEvent, BisectRequest, BisectStanding, Bisection, CommitsBegun,
};
use crate::session::FEWEST_REPLICATES;
use crate::words::{Words, bounds, percent, reason};

/// The largest width of a name or of the reason of a failure, in columns.
const WIDE: usize = 200;

/// Returns the whole story: the question, and a sentence for each event.
pub fn story(bisection: &Bisection, glyphs: Glyphs) -> String {
    let request = &bisection.log.request;
    let words = Words::of(&bisection.log, glyphs);
    let mut text = format!(
        "{} {} were searched for a step of {} in {}, with a probability of at most {} for a wrong \
         answer.\n",
        counted(request.last() as u64, "commit", "commits"),
        words.between((0, request.last())),
        words.margin(),
        sentences::metric(bisection.log.judged(), glyphs),
        share(request.alpha),
    );
    let events = bisection.log.events.iter().zip(&bisection.standings);
    for (event, standing) in events {
        if let Some(line) = story_line(request, event, standing.as_ref(), glyphs) {
            text += &line;
            text.push('\n');
        }
    }
    if bisection.log.end().is_none() {
        text += "The search stopped here; deadheat bisect --resume continues it.\n";
    }
    text
}

/// Returns the sentence for an event; `None` for the beginning of a race, because the end of the
/// race has a sentence.
pub fn story_line(
    request: &BisectRequest,
    event: &BisectEvent,
    standing: Option<&BisectStanding>,
    glyphs: Glyphs,
) -> Option<String> {
    let words = Words::before_races(request, glyphs);
    Some(match event {
        BisectEvent::Built(built) if built.was_kept => {
            format!("{} had been built before.", words.commit(built.commit))
        }
        BisectEvent::Built(built) => format!(
            "{} was built in {}.",
            words.commit(built.commit),
            waiting(built.seconds)
        ),
        BisectEvent::Unbuildable(failed) => format!(
            "{} was skipped: {}",
            words.commit(failed.commit),
            shown(&escape_message(&failed.reason, glyphs), WIDE, glyphs)
        ),
        BisectEvent::Begun(_) => return None,
        BisectEvent::Chosen(chosen) => {
            let name = shown(&chosen.benchmark, WIDE, glyphs);
            let why = match (chosen.is_slowdown, chosen.measured) {
                (true, _) => "had the largest slowdown",
                (false, 1) => "alone was measured",
                (false, _) => "changed most",
            };
            let called = match &words.called(chosen)[..] {
                [] => String::new(),
                called => format!("; {} changed as well", first_of(called.to_vec(), 5)),
            };
            let mut text = format!("'{name}' {why}, so the search used it{called}.");
            for sentence in words.without_result(&chosen.unmeasured) {
                text += &format!(" {sentence}");
            }
            text
        }
        BisectEvent::Raced(raced) => {
            let (older, newer) = (words.short(raced.from), words.short(raced.to));
            let found = standing.and_then(|standing| standing.race);
            let found = found.map(|race| {
                let sized = sized(race.effect, Some(&bounds(&race)), glyphs);
                format!(": {sized}")
            });
            let after = standing.map(|standing| format!("; {}", words.standing(standing)));
            let cut = if raced.was_cut {
                " (cut off, but counted)"
            } else {
                ""
            };
            format!(
                "{newer} against {older}{cut}{} after {}{}.",
                found.unwrap_or_default(),
                counted(raced.replicates as u64, "replicate", "replicates"),
                after.unwrap_or_default()
            )
        }
        BisectEvent::Resumed(_) => "The search was continued.".to_owned(),
        BisectEvent::Ended(end) => match &end.answer {
            BisectAnswer::Commits(share) => format!(
                "{} is the answer ({}).",
                words.group(share),
                percent(share.probability)
            ),
            BisectAnswer::NoStep(probability) if *probability >= 1.0 => {
                "There was no step: both builds are byte-identical.".to_owned()
            }
            BisectAnswer::NoStep(probability) => {
                format!(
                    "The races showed {} ({}).",
                    words.no_step(),
                    percent(*probability)
                )
            }
            BisectAnswer::NoSingleStep(several) => format!(
                "No single step explained the races ({}); the largest change was {}.",
                percent(several.probability),
                words.between((several.from, several.to))
            ),
            BisectAnswer::Open(open) => {
                let mut text = format!(
                    "The search ended without an answer: {}.",
                    reason(open.reason)
                );
                for sentence in words.without_result(&open.unmeasured) {
                    text += &format!(" {sentence}");
                }
                text
            }
        },
    })
}

/// Returns the message before the build of `commit`, which will race against `other`.
pub fn building(
    request: &BisectRequest,
    (commit, other): (usize, usize),
    glyphs: Glyphs,
) -> String {
    let words = Words::before_races(request, glyphs);
    let place = match commit {
        0 => "GOOD".to_owned(),
        _ if commit == request.last() => "BAD".to_owned(),
        _ => format!("commit {commit} of {}", request.last()),
    };
    format!(
        "building {}, {place}, to race it with {}",
        words.commit(commit),
        words.short(other)
    )
}

/// Returns the message before a race of `to` against `from`, with the expected number of races and
/// the time left.
pub fn racing(
    request: &BisectRequest,
    (from, to): (usize, usize),
    standing: Option<&BisectStanding>,
    glyphs: Glyphs,
) -> String {
    let words = Words::before_races(request, glyphs);
    let why = match standing {
        None => ", to see if there is any step".to_owned(),
        Some(standing) if to - from == 1 => match standing.races_left {
            0 | 1 => ", which would confirm it".to_owned(),
            _ => String::new(),
        },
        Some(_) => String::new(),
    };
    let left = standing.map(|standing| {
        format!(
            "; about {} left, {}",
            counted(standing.races_left.into(), "race", "races"),
            waiting(standing.seconds_left)
        )
    });
    format!(
        "racing {} against {}{why}{}",
        words.short(to),
        words.short(from),
        left.unwrap_or_default()
    )
}

/// Returns the message about a race that was cut off. `replicates` is the number of its complete
/// replicates if they count. Otherwise the race may be repeated.
pub fn was_cut(
    request: &BisectRequest,
    begun: &CommitsBegun,
    replicates: Option<usize>,
    glyphs: Glyphs,
) -> String {
    let words = Words::before_races(request, glyphs);
    let pair = format!(
        "{} against {}",
        words.short(begun.to),
        words.short(begun.from)
    );
    match replicates {
        Some(replicates) => format!(
            "the race of {pair} was cut off; it counts with its {replicates} complete replicates"
        ),
        None => format!(
            "the race of {pair} was cut off with fewer than {FEWEST_REPLICATES} complete \
             replicates of a benchmark, which are too few; deadheat races it again if it is still \
             the most informative race"
        ),
    }
}
