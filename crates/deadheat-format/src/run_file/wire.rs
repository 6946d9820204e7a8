//! The lines of a run file other than blocks, as they stand in the schema,
//! and the way from and to the memory types.

use std::path::PathBuf;

use deadheat_model as model;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::Plan;
use crate::column::{column_name, metric_of_column};

/// The schema written, and the latest that is read.
pub const SCHEMA: &str = "deadheat.run/1";

const FAMILY: &str = "deadheat.run/";
const MAJOR: u64 = 1;

/// What the schema a header declares means to this reader.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// A run of this major version, whatever its minor.
    Readable,
    /// A run of a later major version.
    Newer,
    /// Something else.
    Foreign,
}

/// Judges a schema such as `deadheat.run/1` or `deadheat.run/1.4`.
pub(super) fn judge_schema(schema: &str) -> Declared {
    let major = schema
        .strip_prefix(FAMILY)
        .and_then(|version| version.split('.').next())
        .and_then(|major| major.parse::<u64>().ok());
    match major {
        Some(MAJOR) => Declared::Readable,
        Some(major) if major > MAJOR => Declared::Newer,
        _ => Declared::Foreign,
    }
}

/// The schema a first line declares, when it is a JSON object that does.
pub(super) fn declared_schema(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Declaration {
        schema: String,
    }
    serde_json::from_slice::<Declaration>(line)
        .ok()
        .map(|declaration| declaration.schema)
}

#[derive(Debug, Serialize, Deserialize)]
struct Tool {
    version: String,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Origin {
    #[default]
    Race,
    PairedRecording,
    UnpairedRecording,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Environment {
    system: String,
    kernel: Option<String>,
    cpu: Option<String>,
    cores: Option<u32>,
    governor: Option<String>,
    load: Option<f64>,
    pinned: Vec<u32>,
    counters: Option<Counters>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Counters {
    Available,
    Unavailable(String),
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    schema: String,
    tool: Tool,
    #[serde(default)]
    started_at: Option<u64>,
    #[serde(default)]
    origin: Origin,
    seed: u64,
    plan: Plan,
    #[serde(default)]
    environment: Environment,
    columns: Vec<String>,
    #[serde(default)]
    tick_ns: Option<f64>,
}

impl Header {
    /// `Err` gives back a path that cannot be written on this system.
    pub(super) fn from_model(header: &model::RunHeader) -> Result<Self, PathBuf> {
        let environment = &header.environment;
        Ok(Header {
            schema: SCHEMA.to_owned(),
            tool: Tool {
                version: header.tool_version.clone(),
            },
            started_at: header.started_at,
            origin: match header.origin {
                model::Origin::Race => Origin::Race,
                model::Origin::PairedRecording => Origin::PairedRecording,
                model::Origin::UnpairedRecording => Origin::UnpairedRecording,
            },
            seed: header.plan.seed,
            plan: Plan::from_model(&header.plan)?,
            environment: Environment {
                system: environment.system.clone(),
                kernel: environment.kernel.clone(),
                cpu: environment.cpu.clone(),
                cores: environment.cores,
                governor: environment.governor.clone(),
                load: environment.load,
                pinned: environment.pinned.clone(),
                counters: environment.counters.as_ref().map(|access| match access {
                    model::CounterAccess::Available => Counters::Available,
                    model::CounterAccess::Unavailable(why) => Counters::Unavailable(why.clone()),
                }),
            },
            columns: header
                .metrics
                .iter()
                .map(|metric| column_name(metric).into_owned())
                .collect(),
            tick_ns: header.tick_ns,
        })
    }

    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self) -> Result<model::RunHeader, String> {
        let environment = self.environment;
        Ok(model::RunHeader {
            tool_version: self.tool.version,
            started_at: self.started_at,
            origin: match self.origin {
                Origin::Race => model::Origin::Race,
                Origin::PairedRecording => model::Origin::PairedRecording,
                Origin::UnpairedRecording => model::Origin::UnpairedRecording,
            },
            plan: self.plan.into_model(self.seed)?,
            environment: model::Environment {
                system: environment.system,
                kernel: environment.kernel,
                cpu: environment.cpu,
                cores: environment.cores,
                governor: environment.governor,
                load: environment.load,
                pinned: environment.pinned,
                counters: environment.counters.map(|access| match access {
                    Counters::Available => model::CounterAccess::Available,
                    Counters::Unavailable(why) => model::CounterAccess::Unavailable(why),
                }),
            },
            metrics: self
                .columns
                .iter()
                .map(|column| metric_of_column(column))
                .collect(),
            tick_ns: self.tick_ns,
        })
    }
}

/// Says that a run was taken up again.
#[derive(Debug, Serialize)]
pub(super) struct ResumeLine {
    resume: Resume,
}

#[derive(Debug, Serialize)]
struct Resume {
    tool: Tool,
    started_at: Option<u64>,
}

impl ResumeLine {
    pub(super) fn new(tool_version: &str, started_at: Option<u64>) -> Self {
        ResumeLine {
            resume: Resume {
                tool: Tool {
                    version: tool_version.to_owned(),
                },
                started_at,
            },
        }
    }
}

/// Says how a run ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndLine {
    end: End,
}

#[derive(Debug, Serialize, Deserialize)]
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
    pub(super) fn from_model(end: &model::RunEnd) -> Self {
        let (reason, signal, message) = match &end.reason {
            model::EndReason::Finished => ("finished", None, None),
            model::EndReason::Budget => ("budget", None, None),
            model::EndReason::Interrupted(signal) => ("interrupted", Some(*signal), None),
            model::EndReason::Failed(message) => ("failed", None, Some(message.clone())),
        };
        EndLine {
            end: End {
                reason: reason.to_owned(),
                signal,
                message,
                launches: end.launches,
                elapsed_ns: end.elapsed_ns,
            },
        }
    }

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

/// Any line after the first that is not a block.
#[derive(Debug)]
pub(super) enum Line {
    /// A block in a shape the fast scanner does not know.
    Block(Value),
    Resume,
    End(EndLine),
    /// A header, which has no place below the first line.
    Header,
    /// A kind of a later minor version.
    Unknown,
}

impl Line {
    /// Tells the kind of a line by its first known key. `Err` says in words
    /// why the line is none.
    pub(super) fn from_json(json: Value) -> Result<Self, String> {
        let is = |key| json.get(key).is_some();
        let kind = if is("block") {
            return Ok(Line::Block(json));
        } else if is("resume") {
            Ok(Line::Resume)
        } else if is("end") {
            EndLine::deserialize(json).map(Line::End)
        } else if is("schema") {
            Ok(Line::Header)
        } else {
            Ok(Line::Unknown)
        };
        kind.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_major_version_is_too_new() {
        for (schema, expected) in [
            ("deadheat.run/1", Declared::Readable),
            ("deadheat.run/1.7", Declared::Readable),
            ("deadheat.run/2", Declared::Newer),
            ("deadheat.run/10.1", Declared::Newer),
            ("deadheat.run/0", Declared::Foreign),
            ("deadheat.analysis/1", Declared::Foreign),
            ("deadheat.run/one", Declared::Foreign),
        ] {
            assert_eq!(judge_schema(schema), expected, "{schema}");
        }
    }

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
            let json = serde_json::to_value(EndLine::from_model(&end)).unwrap();
            let back = EndLine::deserialize(json).unwrap().into_model();
            assert_eq!(back, end);
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
