//! The machine and its clock as they are read from a run file.

use deadheat_model as model;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Environment {
    system: String,
    kernel: Option<String>,
    cpu: Option<String>,
    cores: Option<u32>,
    governor: Option<String>,
    load: Option<f64>,
    pinned: Vec<u32>,
    counters: Option<Counters>,
    /// Absent where the clock of the system timed whole processes.
    clock: Option<Clock>,
    /// Absent when false.
    debug_build: bool,
    /// Absent when nobody asked for any.
    neutral_links: Vec<NeutralLinks>,
    /// Absent where the machine was not calibrated.
    calibration: Option<Calibration>,
}

#[derive(Debug, Deserialize)]
struct Calibration {
    tool: Tool,
    started_at: Option<u64>,
    kind: String,
    false_calls: Share,
    alpha: f64,
    noise_floor: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    version: String,
}

#[derive(Debug, Deserialize)]
struct Share {
    hits: u64,
    of: u64,
    low: f64,
    high: f64,
}

#[derive(Debug, Deserialize)]
struct NeutralLinks {
    executable: String,
    #[serde(flatten)]
    made_by: MadeBy,
    #[serde(default)]
    unsectioned: Vec<String>,
}

/// Who makes them, or why there are none.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MadeBy {
    Linker(String),
    Impossible(String),
}

#[derive(Debug, Deserialize)]
struct Clock {
    source: String,
    resolution_ns: f64,
    overhead_ns: f64,
    #[serde(default)]
    fallback: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Counters {
    Available,
    Unavailable(String),
}

impl Environment {
    pub(super) fn into_model(self) -> model::Environment {
        model::Environment {
            system: self.system,
            kernel: self.kernel,
            cpu: self.cpu,
            cores: self.cores,
            governor: self.governor,
            load: self.load,
            pinned: self.pinned,
            counters: self.counters.map(|access| match access {
                Counters::Available => model::CounterAccess::Available,
                Counters::Unavailable(why) => model::CounterAccess::Unavailable(why),
            }),
            clock: self.clock.map(|clock| model::ClockFacts {
                source: clock.source,
                resolution_ns: clock.resolution_ns,
                overhead_ns: clock.overhead_ns,
                fallback: clock.fallback,
            }),
            debug_build: self.debug_build,
            neutral_links: self
                .neutral_links
                .into_iter()
                .map(NeutralLinks::into_model)
                .collect(),
            calibration: self.calibration.and_then(Calibration::into_model),
        }
    }
}

impl Calibration {
    /// `None` for a kind of race that a later version knows.
    fn into_model(self) -> Option<model::CalibrationNote> {
        Some(model::CalibrationNote {
            tool_version: self.tool.version,
            started_at: self.started_at,
            kind: model::RaceKind::from_name(&self.kind)?,
            false_calls: model::Share {
                hits: self.false_calls.hits,
                of: self.false_calls.of,
                low: self.false_calls.low,
                high: self.false_calls.high,
            },
            alpha: self.alpha,
            noise_floor: self
                .noise_floor
                .filter(|change| *change > -1.0)
                .map(model::LogRatio::from_change),
        })
    }
}

impl NeutralLinks {
    fn into_model(self) -> model::NeutralLinks {
        model::NeutralLinks {
            executable: self.executable,
            made_by: match self.made_by {
                MadeBy::Linker(linker) => Ok(linker),
                MadeBy::Impossible(reason) => Err(reason),
            },
            unsectioned: self.unsectioned,
        }
    }
}
