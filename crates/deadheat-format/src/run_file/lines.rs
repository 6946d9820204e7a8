//! The lines of a run file behind its header that are no blocks: placements, failures, and how the
//! run ended.

use deadheat_model::{
    BenchmarkFailure, EndReason, Json, NeutralLink, Object, Placed, Placing, RefusedLink, RunEnd,
};

use crate::wire::{Fields, Wire, object};
#[cfg(feature = "decode")]
use crate::wire::{WireError, required};

// The benchmark is a place in the plan, counted from 0.
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
                "a contender is placed by \"own\" or by a neutral link with its seed and hash"
                    .to_owned(),
            )
        })
    }
}

// The benchmark is a place in the plan, counted from 0.
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
            // A reason of a later minor version: the run stopped, and not by what this version
            // knows of its plan.
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
