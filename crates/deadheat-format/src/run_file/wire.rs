//! The lines of a run file other than blocks, as they are read.

use deadheat_model as model;
use serde::Deserialize;

use super::environment::Environment;
use super::plan::Plan;
use deadheat_model::metric_of_column;

#[derive(Debug, Deserialize)]
struct Tool {
    version: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Origin {
    #[default]
    Race,
    PairedRecording,
    UnpairedRecording,
}

/// The first line.
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    tool: Tool,
    #[serde(default)]
    started_at: Option<u64>,
    #[serde(default)]
    origin: Origin,
    #[serde(default)]
    command: Vec<String>,
    seed: u64,
    plan: Plan,
    #[serde(default)]
    environment: Environment,
    columns: Vec<String>,
    #[serde(default)]
    tick_ns: Option<f64>,
    #[serde(default)]
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Deserialize)]
struct LeftOut {
    benchmark: String,
    reason: LeftOutReason,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LeftOutReason {
    OnlyIn(String),
    Skipped(String),
    NotAlike(String),
}

impl LeftOut {
    fn into_model(self) -> model::LeftOut {
        model::LeftOut {
            benchmark: self.benchmark,
            reason: match self.reason {
                LeftOutReason::OnlyIn(contender) => model::LeftOutReason::OnlyIn(contender),
                LeftOutReason::Skipped(message) => model::LeftOutReason::Skipped(message),
                LeftOutReason::NotAlike(how) => model::LeftOutReason::NotAlike(how),
            },
        }
    }
}

impl Header {
    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self) -> Result<model::RunHeader, String> {
        Ok(model::RunHeader {
            command: self.command,
            tool_version: self.tool.version,
            started_at: self.started_at,
            origin: match self.origin {
                Origin::Race => model::Origin::Race,
                Origin::PairedRecording => model::Origin::PairedRecording,
                Origin::UnpairedRecording => model::Origin::UnpairedRecording,
            },
            plan: self.plan.into_model(self.seed)?,
            environment: self.environment.into_model(),
            metrics: self
                .columns
                .iter()
                .map(|column| metric_of_column(column))
                .collect(),
            tick_ns: self.tick_ns,
            left_out: self.left_out.into_iter().map(LeftOut::into_model).collect(),
        })
    }
}

/// Says that a benchmark cannot be raced any further.
#[derive(Debug, Deserialize)]
pub(super) struct FailedLine {
    failed: Failed,
}

#[derive(Debug, Deserialize)]
struct Failed {
    /// Its place in the plan, counted from 0.
    benchmark: usize,
    #[serde(default)]
    message: String,
}

impl FailedLine {
    pub(super) fn into_model(self) -> model::BenchmarkFailure {
        model::BenchmarkFailure {
            benchmark: self.failed.benchmark,
            message: self.failed.message,
        }
    }
}

/// Says how a run ended.
#[derive(Debug, Deserialize)]
pub(super) struct EndLine {
    end: End,
}

#[derive(Debug, Deserialize)]
struct End {
    reason: String,
    #[serde(default)]
    signal: Option<i32>,
    #[serde(default)]
    message: Option<String>,
    launches: u64,
    elapsed_ns: u64,
}

impl EndLine {
    pub(super) fn into_model(self) -> model::RunEnd {
        let end = self.end;
        let message = end.message.unwrap_or_default();
        model::RunEnd {
            reason: match (end.reason.as_str(), end.signal) {
                ("finished", _) => model::EndReason::Finished,
                ("budget", _) => model::EndReason::Budget,
                ("interrupted", Some(signal)) => model::EndReason::Interrupted(signal),
                ("failed", _) => model::EndReason::Failed(message),
                // A reason of a later minor version: the run stopped, and not
                // by what this version knows of its plan.
                (other, _) => model::EndReason::Failed(format!("{other} {message}").trim().into()),
            },
            launches: end.launches,
            elapsed_ns: end.elapsed_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::written;
    use super::*;

    #[test]
    fn every_end_survives_the_way_through_its_line() {
        for reason in [
            model::EndReason::Finished,
            model::EndReason::Budget,
            model::EndReason::Interrupted(15),
            model::EndReason::Failed("'b' exited with 3".to_owned()),
        ] {
            let end = model::RunEnd {
                reason,
                launches: 9,
                elapsed_ns: u64::MAX,
            };
            let line = written::end(&end).to_string();
            let back: EndLine = serde_json::from_str(&line).unwrap();
            assert_eq!(back.into_model(), end);
        }
    }

    #[test]
    fn an_end_for_an_unknown_reason_is_a_failure_and_not_an_error() {
        let json = r#"{"end":{"reason":"evicted","launches":1,"elapsed_ns":2}}"#;
        let end: EndLine = serde_json::from_str(json).unwrap();
        assert_eq!(
            end.into_model().reason,
            model::EndReason::Failed("evicted".to_owned())
        );
    }
}
