//! The lines of a run file other than blocks: the header with the plan, the machine and the columns
//! of the samples; placements; observations; failures; and the end of the run.

use deadheat_model::{
    AddressSpace, BenchmarkFailure, CalibrationNote, ClockFacts, Commit, Conditions, CounterAccess,
    Disturbance, EndReason, Environment, Host, Json, LeftOut, LeftOutReason, Limits, Merged,
    NeutralLink, NeutralLinks, Object, Observed, ObservedImage, ObservedProcess, Origin,
    PackageVersions, Placed, Placing, RefusedLink, RunEnd, RunHeader, Share, SharedSuite,
    Surroundings,
};
#[cfg(feature = "decode")]
use deadheat_model::{RaceKind, Shard, is_object_id};

use crate::wire::{Fields, Wire, choice, object};
#[cfg(feature = "decode")]
use crate::wire::{WireError, inside, object_of, required};

/// Schema of the run files that are written, and the latest one that can be read.
pub const SCHEMA: &str = "deadheat.run/1";

pub(crate) fn header_line(header: &RunHeader) -> Json {
    header.put(Object::new().with("schema", SCHEMA)).into()
}

object! { RunHeader {
    tool_version = "tool": within("version"),
    started_at,
    origin: or(Origin::Race),
    plan: inline,
    environment: or(Environment::default()),
    metrics = "columns",
    tick_ns,
    command: omit,
    left_out: omit,
} }

choice! { Origin {
    "race" => Race,
    "paired-recording" => PairedRecording,
    "unpaired-recording" => UnpairedRecording,
} }

object! { LeftOut { benchmark, reason, } }

choice! { LeftOutReason {
    "only-in" => OnlyIn(contender),
    "skipped" => Skipped(message),
    "not-alike" => NotAlike(difference),
} }

object! { Environment {
    system: or(String::new()),
    boot: omit,
    programs: omit,
    merged: omit,
    conditions: inline,
    kernel,
    cpu,
    cores,
    governor,
    load,
    pinned: or(Vec::new()),
    counters,
    clock: omit,
    debug_build: omit,
    neutral_links: omit,
    builds: omit,
    surroundings: omit,
    commits: omit,
    machine: omit,
    calibration: inline,
} }

object! { Surroundings {
    suite: omit,
    benches_from: omit,
    interpreters: omit,
    packages: omit,
    chosen: omit,
    selection: omit,
} }

object! { SharedSuite { side, files: omit, } }

object! { PackageVersions { name, baseline, candidate, } }

object! { Commit { id, committed_at, subject: or(String::new()), } ensure has_object_id }

/// Fails for an incomplete commit id, because ids become arguments of git.
#[cfg(feature = "decode")]
fn has_object_id(commit: &Commit) -> Result<(), WireError> {
    if is_object_id(&commit.id) {
        Ok(())
    } else {
        Err(WireError::odd("the full id of a commit of git"))
    }
}

object! { Merged { count, by, replicates: or(0), hosts, } ensure is_of_few_parts }

/// Fails for an impossible number of parts. Missing parts are listed, so a huge number would
/// exhaust the memory.
#[cfg(feature = "decode")]
fn is_of_few_parts(merged: &Merged) -> Result<(), WireError> {
    if merged.count <= Shard::MOST && merged.hosts.len() <= merged.count as usize {
        Ok(())
    } else {
        Err(WireError::odd("parts that a race may have"))
    }
}

object! { Host {
    shard,
    boot: omit,
    system: or(String::new()),
    kernel,
    cpu,
    cores,
    started_at,
    conditions: inline,
} }

object! { Conditions { limits: omit, disturbances: omit, } }

object! { Limits { cores: omit, memory: omit, } ensure is_some_time }

/// Fails for a CPU limit that is 0, negative or not finite, which no system sets.
#[cfg(feature = "decode")]
fn is_some_time(limits: &Limits) -> Result<(), WireError> {
    if limits
        .cores
        .is_none_or(|cores| cores > 0.0 && cores.is_finite())
    {
        Ok(())
    } else {
        Err(WireError::odd("cores that a container may use"))
    }
}

object! { Disturbance { name, found, } }

choice! { CounterAccess {
    "available" => Available,
    "unavailable" => Unavailable(why),
} }

object! { ClockFacts { source, resolution_ns, overhead_ns, fallback, } }

/// The field is absent if the machine was not calibrated.
impl Fields for Option<CalibrationNote> {
    fn put(&self, object: Object) -> Object {
        object.with_some("calibration", self.as_ref().map(Wire::to_json))
    }

    /// Returns `None` also for an unknown kind of race, because a later version may add kinds.
    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        let note = inside(object, "calibration", |json| match json {
            Json::Null => Ok(None),
            json => {
                let kind: String = required(object_of(json)?, "kind")?;
                RaceKind::from_name(&kind)
                    .map(|_| CalibrationNote::from_json(json))
                    .transpose()
            }
        });
        Ok(note.transpose()?.flatten())
    }
}

object! { CalibrationNote {
    tool_version = "tool": within("version"),
    started_at,
    kind,
    false_calls,
    alpha,
    noise_floor,
} }

// The observed share is not stored, because it follows from the two counts.
object! { Share { hits, of, low, high, } ensure is_bounded }

#[cfg(feature = "decode")]
fn is_bounded(share: &Share) -> Result<(), WireError> {
    let bounded = 0.0 <= share.low && share.low <= share.high && share.high <= 1.0;
    if bounded && share.hits <= share.of {
        Ok(())
    } else {
        Err(WireError::odd(
            "a share with a lower bound up to its upper bound, and no more hits than trials",
        ))
    }
}

/// Stores the linker that makes neutral links of an executable, or the reason why they are missing.
impl Fields for NeutralLinks {
    fn put(&self, object: Object) -> Object {
        let object = object.with("executable", &self.executable);
        let object = match &self.made_by {
            Ok(linker) => object.with("linker", linker),
            Err(reason) => object.with("impossible", reason),
        };
        let unsectioned = crate::wire::unless_default(&self.unsectioned);
        let object = object.with_some("unsectioned", unsectioned.map(Wire::to_json));
        let object = match &self.matched {
            None => object,
            Some(Ok(())) => object.with("matched", true),
            Some(Err(reason)) => object.with("unmatched", reason),
        };
        object.with_some(
            "random_addresses",
            crate::wire::unless_default(&self.random_addresses).map(Wire::to_json),
        )
    }

    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        Ok(NeutralLinks {
            executable: required(object, "executable")?,
            made_by: match inside(object, "linker", String::from_json).transpose()? {
                Some(linker) => Ok(linker),
                None => Err(required(object, "impossible")?),
            },
            unsectioned: crate::wire::or_else(object, "unsectioned", Vec::new)?,
            matched: match inside(object, "unmatched", String::from_json).transpose()? {
                Some(reason) => Some(Err(reason)),
                None => crate::wire::or_else(object, "matched", || false)?.then_some(Ok(())),
            },
            random_addresses: crate::wire::or_else(object, "random_addresses", || false)?,
        })
    }
}

crate::wire::whole!(NeutralLinks);

// Benchmark and contender are indexes in the plan, counted from 0.
object! { Observed {
    benchmark,
    contender,
    replicate,
    process: inline,
} }

object! { ObservedProcess {
    image: or(ObservedImage::Unseen),
    addresses,
    fixes_addresses: omit,
    left_behind,
    keeps_cores,
    is_padded = "padded",
    variables: omit,
} }

choice! { ObservedImage {
    "as-started" => AsStarted,
    "other" => Other(path),
    "unseen" => Unseen,
} }

choice! { AddressSpace {
    "random" => Random,
    "fixed" => Fixed,
} }

// The benchmark is an index in the plan, counted from 0.
object! { Placed {
    benchmark,
    replicate,
    contenders,
    refused: omit,
    fallen_back: omit,
} }

object! { RefusedLink { seed, reason, } }

object! { NeutralLink { seed, hash, matched: omit, } }

impl Wire for Placing {
    fn to_json(&self) -> Json {
        match self {
            Placing::Own => "own".into(),
            Placing::Neutral(link) => link.to_json(),
        }
    }

    #[cfg(feature = "decode")]
    fn from_json(json: &Json) -> Result<Self, WireError> {
        if json.as_text() == Some("own") {
            return Ok(Placing::Own);
        }
        let neutral = NeutralLink::from_json(json).map(Placing::Neutral);
        neutral.map_err(|_| {
            WireError::sentence(
                "each entry of 'contenders' is \"own\", or an object with the 'seed' and the 'hash' of a \
                 neutral link"
                    .to_owned(),
            )
        })
    }
}

// The benchmark is an index in the plan, counted from 0.
object! { BenchmarkFailure { benchmark, message: or(String::new()), } }

object! { RunEnd { reason: inline, launches, elapsed_ns, } }

impl Fields for EndReason {
    fn put(&self, object: Object) -> Object {
        let (reason, signal, message) = match self {
            EndReason::Finished => ("finished", None, None),
            EndReason::Budget => ("budget", None, None),
            EndReason::Interrupted(signal) => ("interrupted", Some(*signal), None),
            EndReason::Failed(message) => ("failed", None, Some(message)),
        };
        object
            .with("reason", reason)
            .with("signal", signal)
            .with("message", message)
    }

    #[cfg(feature = "decode")]
    fn take(object: &Object) -> Result<Self, WireError> {
        let reason: String = required(object, "reason")?;
        let message: Option<String> = required(object, "message")?;
        let message = message.unwrap_or_default();
        Ok(match (reason.as_str(), required(object, "signal")?) {
            ("finished", _) => EndReason::Finished,
            ("budget", _) => EndReason::Budget,
            ("interrupted", Some(signal)) => EndReason::Interrupted(signal),
            ("failed", _) => EndReason::Failed(message),
            // A later minor version may add reasons. Such a run stopped before its plan was
            // finished.
            (other, _) => EndReason::Failed(format!("{other} {message}").trim().into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Wire>(value: &T) -> T {
        let json = Json::parse(&value.to_json().to_string()).unwrap();
        T::from_json(&json).unwrap()
    }

    #[test]
    fn every_placement_survives_the_way_through_its_line() {
        let neutral = Placing::Neutral(NeutralLink {
            seed: u32::MAX,
            hash: "00ff".to_owned(),
            matched: true,
        });
        for (contenders, refused, fallen_back) in [
            (vec![neutral.clone(), neutral], vec![], None),
            (
                vec![Placing::Own],
                vec![RefusedLink {
                    seed: 3,
                    reason: "ld.lld: \"no\"\nspace".to_owned(),
                }],
                Some("three links in a row".to_owned()),
            ),
        ] {
            let placed = Placed {
                benchmark: 2,
                replicate: 7,
                contenders,
                refused,
                fallen_back,
            };
            assert_eq!(there_and_back(&placed), placed);
        }
    }

    #[test]
    fn every_end_survives_the_way_through_its_line() {
        for reason in [
            EndReason::Finished,
            EndReason::Budget,
            EndReason::Interrupted(15),
            EndReason::Failed("'b' exited with 3".to_owned()),
        ] {
            let end = RunEnd {
                reason,
                launches: 9,
                elapsed_ns: u64::MAX,
            };
            assert_eq!(there_and_back(&end), end);
        }
    }

    #[test]
    fn an_end_for_an_unknown_reason_is_a_failure_and_not_an_error() {
        let json = r#"{"reason":"evicted","launches":1,"elapsed_ns":2}"#;
        let end = RunEnd::from_json(&Json::parse(json).unwrap()).unwrap();
        assert_eq!(end.reason, EndReason::Failed("evicted".to_owned()));
    }
}
