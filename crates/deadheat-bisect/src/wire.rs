//! The lines of the record of a search, `deadheat.bisect/1`, described by
//! `docs/schema/bisect-1.schema.json`: the first line is the question, each other line an event.

use deadheat::parts::format::wire::{Fields, Wire, WireError, choice, major_version, object};
use deadheat::parts::model::{Json, Object, is_object_id};

use crate::log::{
    BenchmarkChosen, BisectAnswer, BisectCommit, BisectEnd, BisectEvent, BisectPrior,
    BisectRequest, CommitBuilt, CommitShare, CommitUnbuildable, CommitsBegun, CommitsRaced,
    OpenReason, OpenSearch, SeveralSteps, StepEstimate, UnmeasuredBenchmark, UnmeasuredReason,
};

/// The schema written, and the latest that is read.
pub const BISECT_SCHEMA: &str = "deadheat.bisect/1";

const EVENTS: [&str; 7] = [
    "built",
    "unbuildable",
    "begun",
    "chosen",
    "raced",
    "resumed",
    "ended",
];

object! { BisectRequest {
    tool_version = "tool": within("version"),
    started_at,
    command: omit,
    good,
    bad,
    commits,
    aside: or(0),
    judged,
    margin,
    alpha,
    prior,
} ensure has_ends }

/// Refuses a question without two ends, a margin and an alpha.
fn has_ends(request: &BisectRequest) -> Result<(), WireError> {
    let in_bounds = |share: f64| share > 0.0 && share < 1.0;
    if request.commits.len() < 2 {
        Err(WireError::odd("GOOD and BAD among the commits"))
    } else if !in_bounds(request.margin.change()) || !in_bounds(2.0 * request.alpha) {
        Err(WireError::odd(
            "a margin and an alpha that a search may have",
        ))
    } else {
        Ok(())
    }
}

object! { BisectCommit { id, committed_at, subject, lines: omit, } ensure has_object_id }

/// Refuses a commit whose id is not a full object id, because the id is used in command lines of
/// git.
fn has_object_id(commit: &BisectCommit) -> Result<(), WireError> {
    if is_object_id(&commit.id) {
        Ok(())
    } else {
        Err(WireError::odd("the full id of a commit of git"))
    }
}

choice! { BisectPrior { "uniform" => Uniform, "diff" => Diff, } }

choice! { BisectEvent {
    "built" => Built(built),
    "unbuildable" => Unbuildable(failed),
    "begun" => Begun(begun),
    "chosen" => Chosen(chosen),
    "raced" => Raced(raced),
    "resumed" => Resumed(at),
    "ended" => Ended(end),
} }

object! { CommitBuilt { commit, was_kept = "kept": or(false), seconds, digest: omit, } }

object! { CommitUnbuildable { commit, reason, seconds, } }

object! { CommitsBegun { from, to, file, } }

object! { BenchmarkChosen {
    benchmark,
    called: omit,
    changes: omit,
    metrics: omit,
    is_slowdown = "slowdown": omit,
    measured: omit,
    unmeasured: omit,
} }

object! { UnmeasuredBenchmark { benchmark, reason, } }

choice! { UnmeasuredReason {
    "left-out" => LeftOut(reason),
    "failed" => Failed(message),
    "too-few-replicates" => TooFewReplicates,
} }

object! { CommitsRaced {
    from,
    to,
    benchmark,
    judged: omit,
    effect = "change",
    se,
    df,
    replicates,
    seconds,
    file,
    was_cut = "cut": or(false),
    is_placed = "placed": or(false),
} }

object! { BisectEnd { answer: inline, step: omit, within: omit, } }

/// The answer is a field of the `ended` event, with the kind of the answer as its name.
impl Fields for BisectAnswer {
    fn put(&self, object: Object) -> Object {
        match self {
            Self::Commits(share) => object.with("commits", share.to_json()),
            Self::NoStep(probability) => object.with("no_step", *probability),
            Self::NoSingleStep(several) => object.with("no_single_step", several.to_json()),
            Self::Open(open) => object.with("open", open.to_json()),
        }
    }

    fn take(object: &Object) -> Result<Self, WireError> {
        fn read<T: Wire>(
            object: &Object,
            name: &str,
            answer: fn(T) -> BisectAnswer,
        ) -> Result<Option<BisectAnswer>, WireError> {
            let found = object.get(name).map(T::from_json).transpose();
            Ok(found.map_err(|error| error.inside(name))?.map(answer))
        }
        let found = [
            read(object, "commits", Self::Commits)?,
            read(object, "no_step", Self::NoStep)?,
            read(object, "no_single_step", Self::NoSingleStep)?,
            read(object, "open", Self::Open)?,
        ];
        let mut found = found.into_iter().flatten();
        found.next().ok_or_else(|| WireError::odd("an answer"))
    }
}

object! { SeveralSteps { from, to, probability, } }

object! { OpenSearch { reason, commits, no_step, unmeasured: omit, } }

choice! { OpenReason {
    "budget" => Budget,
    "races" => Races,
    "exhausted" => Exhausted,
} }

object! { CommitShare { first, last, probability, } }

object! { StepEstimate { effect = "change", low, high, } }

pub(crate) fn first_line(request: &BisectRequest) -> Json {
    request
        .put(Object::new().with("schema", BISECT_SCHEMA))
        .into()
}

/// Reads the question from the first line of a record.
///
/// # Errors
///
/// The line is not the first line of a record, or this version cannot read it.
pub(crate) fn read_first_line(json: Option<&Json>) -> Result<BisectRequest, FirstLineError> {
    let schema = json.and_then(Json::as_object);
    let schema = schema.and_then(|first| first.get("schema")?.as_text());
    let major = schema.and_then(|schema| major_version(schema, "deadheat.bisect/"));
    match (major, json) {
        (Some(1), Some(json)) => {
            let wrong =
                |error| FirstLineError::Content(format!("the question is invalid: {error}"));
            BisectRequest::from_json(json).map_err(wrong)
        }
        (Some(2..), _) => Err(FirstLineError::Unknown(format!(
            "has schema {}, which needs a later deadheat; this version reads {BISECT_SCHEMA}",
            schema.unwrap_or_default()
        ))),
        _ => Err(FirstLineError::Unknown(format!(
            "is not a record of deadheat bisect (JSON Lines, schema {BISECT_SCHEMA})"
        ))),
    }
}

pub(crate) enum FirstLineError {
    /// The file is not a record that this version reads. The text continues a sentence after the
    /// name of the file.
    Unknown(String),
    /// A field of the question is wrong, with the message about it.
    Content(String),
}

/// Reads an event of a search with commits up to `last`; `None` for an event that only later minor
/// versions know.
///
/// # Errors
///
/// A message about what is wrong with the line.
pub(crate) fn read_event(json: Option<&Json>, last: usize) -> Result<Option<BisectEvent>, String> {
    let json = json.ok_or("not JSON")?;
    let name = json
        .as_object()
        .and_then(Object::only)
        .map(|(name, _)| name);
    if !name.is_some_and(|name| EVENTS.contains(&name)) {
        return Ok(None);
    }
    let event = BisectEvent::from_json(json).map_err(|error| error.to_string())?;
    check(&event, last)?;
    Ok(Some(event))
}

/// Refuses commits outside the range, and impossible numbers.
fn check(event: &BisectEvent, last: usize) -> Result<(), String> {
    let commits = match event {
        BisectEvent::Built(built) => vec![built.commit],
        BisectEvent::Unbuildable(failed) => vec![failed.commit],
        BisectEvent::Begun(begun) => vec![begun.from, begun.to],
        BisectEvent::Raced(raced) => vec![raced.from, raced.to],
        BisectEvent::Ended(end) => match &end.answer {
            BisectAnswer::Commits(share) => vec![share.first, share.last],
            BisectAnswer::NoSingleStep(several) => vec![several.from, several.to],
            BisectAnswer::Open(open) => {
                let shares = open.commits.iter();
                shares.flat_map(|share| [share.first, share.last]).collect()
            }
            BisectAnswer::NoStep(_) => Vec::new(),
        },
        BisectEvent::Chosen(_) | BisectEvent::Resumed(_) => Vec::new(),
    };
    if let Some(commit) = commits.iter().find(|commit| **commit > last) {
        return Err(format!(
            "commit {commit} does not exist; the last one is {last}"
        ));
    }
    let shares = match event {
        BisectEvent::Ended(end) => match &end.answer {
            BisectAnswer::Commits(share) => std::slice::from_ref(share),
            BisectAnswer::Open(open) => &open.commits,
            BisectAnswer::NoStep(_) | BisectAnswer::NoSingleStep(_) => &[],
        },
        _ => &[],
    };
    // GOOD cannot be the culprit.
    if let Some(share) = shares
        .iter()
        .find(|one| one.first == 0 || one.first > one.last)
    {
        let CommitShare { first, last, .. } = share;
        return Err(format!("commits {first} to {last} cannot be the culprit"));
    }
    if let BisectEvent::Raced(CommitsRaced { from, to, .. }) = event
        && from == to
    {
        return Err(format!("commit {from} was raced against itself"));
    }
    let seconds = event.seconds();
    if !(0.0..1e12).contains(&seconds) {
        return Err(format!("{seconds} is not a duration in seconds"));
    }
    match event {
        BisectEvent::Raced(raced) if raced.se < 0.0 || raced.df < 1.0 => Err(
            "a race needs a standard error of at least 0 and at least 1 degree of freedom"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_names_good_is_refused() {
        let share = |first, last| CommitShare {
            first,
            last,
            probability: 0.97,
        };
        let ended = |share| {
            BisectEvent::Ended(BisectEnd {
                answer: BisectAnswer::Commits(share),
                step: None,
                within: None,
            })
        };
        assert!(check(&ended(share(1, 2)), 2).is_ok());
        assert!(check(&ended(share(0, 1)), 2).is_err());
        assert!(check(&ended(share(2, 1)), 2).is_err());
    }
}
