//! The plan as it stands in a run file. These types belong to the schema: the
//! memory types may change without them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_model as model;
use serde::{Deserialize, Serialize};

use crate::column::{column_name, metric_of_column};

/// Everything of a plan but its seed, which stands beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    design: Design,
    benchmarks: Vec<Benchmark>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Design {
    margin: f64,
    alpha: f64,
    looks: Looks,
    blocks_per_replicate: u32,
    #[serde(default)]
    warmup: u32,
    #[serde(default)]
    budget_ns: Option<u64>,
    /// A column name.
    judged: String,
    #[serde(default)]
    pinning: Pinning,
}

#[derive(Debug, Serialize, Deserialize)]
struct Looks {
    at: Vec<u32>,
    levels: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pinning {
    #[default]
    Inherit,
    Auto,
    Cores(Vec<u32>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Benchmark {
    name: String,
    /// Pairs, not a map: their order is the order declared.
    #[serde(default)]
    parameters: Vec<(String, String)>,
    contenders: Vec<Contender>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contender {
    name: String,
    /// Absent for a recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<CommandLine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CommandLine {
    text: String,
    words: Vec<String>,
    #[serde(default)]
    input: Input,
    #[serde(default)]
    output: Output,
    #[serde(default)]
    timeout_ns: Option<u64>,
    #[serde(default)]
    exit_policy: ExitPolicy,
    #[serde(default)]
    hooks: Hooks,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Input {
    #[default]
    Null,
    File(FilePath),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Output {
    #[default]
    Null,
    Pipe,
    Inherit,
    File(FilePath),
    Compared,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ExitPolicy {
    #[default]
    ZeroOnly,
    Any,
    Also(Vec<i32>),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Hooks {
    setup: Option<Vec<String>>,
    prepare: Option<Vec<String>>,
    conclude: Option<Vec<String>>,
    cleanup: Option<Vec<String>>,
}

/// Text where the path is Unicode, else its bytes in hexadecimal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum FilePath {
    Text(String),
    Bytes { hex: String },
}

impl FilePath {
    /// `Err` gives the path back when this system has no bytes to write.
    fn from_path(path: &Path) -> Result<Self, PathBuf> {
        if let Some(text) = path.to_str() {
            return Ok(FilePath::Text(text.to_owned()));
        }
        #[cfg(unix)]
        {
            use std::fmt::Write as _;
            use std::os::unix::ffi::OsStrExt;
            let mut hex = String::new();
            for byte in path.as_os_str().as_bytes() {
                write!(hex, "{byte:02x}").expect("a String takes every write");
            }
            Ok(FilePath::Bytes { hex })
        }
        #[cfg(not(unix))]
        Err(path.to_owned())
    }

    fn into_path(self) -> Result<PathBuf, String> {
        let hex = match self {
            FilePath::Text(text) => return Ok(text.into()),
            FilePath::Bytes { hex } => hex,
        };
        let bytes =
            bytes_of_hex(&hex).ok_or_else(|| format!("path of bytes '{hex}' is not hex"))?;
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            Ok(std::ffi::OsString::from_vec(bytes).into())
        }
        #[cfg(not(unix))]
        String::from_utf8(bytes)
            .map(PathBuf::from)
            .map_err(|_| format!("path of bytes '{hex}' has no name on this system"))
    }
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
            _ => None,
        })
        .collect()
}

/// Nanoseconds; what exceeds 584 years is written as 584 years.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Plan {
    /// `Err` gives back a path that cannot be written on this system.
    pub(super) fn from_model(plan: &model::Plan) -> Result<Self, PathBuf> {
        let design = &plan.design;
        let looks = &design.looks;
        Ok(Plan {
            design: Design {
                margin: design.margin,
                alpha: design.alpha,
                looks: Looks {
                    at: looks.at.clone(),
                    levels: looks.levels.clone(),
                    weights: looks.weights.clone(),
                },
                blocks_per_replicate: design.blocks_per_replicate,
                warmup: design.warmup,
                budget_ns: design.budget.map(nanoseconds),
                judged: column_name(&design.judged).into_owned(),
                pinning: match &design.pinning {
                    model::Pinning::Inherit => Pinning::Inherit,
                    model::Pinning::Auto => Pinning::Auto,
                    model::Pinning::Cores(cores) => Pinning::Cores(cores.clone()),
                },
            },
            benchmarks: plan
                .benchmarks
                .iter()
                .map(Benchmark::from_model)
                .collect::<Result<_, _>>()?,
        })
    }

    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self, seed: u64) -> Result<model::Plan, String> {
        let design = self.design;
        Ok(model::Plan {
            design: model::Design {
                margin: design.margin,
                alpha: design.alpha,
                looks: model::Looks {
                    at: design.looks.at,
                    levels: design.looks.levels,
                    weights: design.looks.weights,
                },
                blocks_per_replicate: design.blocks_per_replicate,
                warmup: design.warmup,
                budget: design.budget_ns.map(Duration::from_nanos),
                judged: metric_of_column(&design.judged),
                pinning: match design.pinning {
                    Pinning::Inherit => model::Pinning::Inherit,
                    Pinning::Auto => model::Pinning::Auto,
                    Pinning::Cores(cores) => model::Pinning::Cores(cores),
                },
            },
            seed,
            benchmarks: self
                .benchmarks
                .into_iter()
                .map(Benchmark::into_model)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Benchmark {
    fn from_model(benchmark: &model::Benchmark) -> Result<Self, PathBuf> {
        let contender = |contender: &model::Contender| {
            Ok::<_, PathBuf>(Contender {
                name: contender.name.clone(),
                command: match &contender.workload {
                    model::Workload::Command(command) => Some(CommandLine::from_model(command)?),
                    model::Workload::Recording => None,
                },
            })
        };
        Ok(Benchmark {
            name: benchmark.name.clone(),
            parameters: benchmark.parameters.clone(),
            contenders: benchmark
                .contenders
                .iter()
                .map(contender)
                .collect::<Result<_, _>>()?,
        })
    }

    fn into_model(self) -> Result<model::Benchmark, String> {
        let contender = |contender: Contender| {
            Ok::<_, String>(model::Contender {
                name: contender.name,
                workload: match contender.command {
                    Some(command) => model::Workload::Command(Box::new(command.into_model()?)),
                    None => model::Workload::Recording,
                },
            })
        };
        Ok(model::Benchmark {
            name: self.name,
            parameters: self.parameters,
            contenders: self
                .contenders
                .into_iter()
                .map(contender)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl CommandLine {
    fn from_model(command: &model::CommandLine) -> Result<Self, PathBuf> {
        let hooks = &command.hooks;
        Ok(CommandLine {
            text: command.text.clone(),
            words: command.words.clone(),
            input: match &command.input {
                model::Input::Null => Input::Null,
                model::Input::File(path) => Input::File(FilePath::from_path(path)?),
            },
            output: match &command.output {
                model::Output::Null => Output::Null,
                model::Output::Pipe => Output::Pipe,
                model::Output::Inherit => Output::Inherit,
                model::Output::File(path) => Output::File(FilePath::from_path(path)?),
                model::Output::Compared => Output::Compared,
            },
            timeout_ns: command.timeout.map(nanoseconds),
            exit_policy: match &command.exit_policy {
                model::ExitPolicy::ZeroOnly => ExitPolicy::ZeroOnly,
                model::ExitPolicy::Any => ExitPolicy::Any,
                model::ExitPolicy::Also(codes) => ExitPolicy::Also(codes.clone()),
            },
            hooks: Hooks {
                setup: hooks.setup.clone(),
                prepare: hooks.prepare.clone(),
                conclude: hooks.conclude.clone(),
                cleanup: hooks.cleanup.clone(),
            },
        })
    }

    fn into_model(self) -> Result<model::CommandLine, String> {
        Ok(model::CommandLine {
            text: self.text,
            words: self.words,
            input: match self.input {
                Input::Null => model::Input::Null,
                Input::File(path) => model::Input::File(path.into_path()?),
            },
            output: match self.output {
                Output::Null => model::Output::Null,
                Output::Pipe => model::Output::Pipe,
                Output::Inherit => model::Output::Inherit,
                Output::File(path) => model::Output::File(path.into_path()?),
                Output::Compared => model::Output::Compared,
            },
            timeout: self.timeout_ns.map(Duration::from_nanos),
            exit_policy: match self.exit_policy {
                ExitPolicy::ZeroOnly => model::ExitPolicy::ZeroOnly,
                ExitPolicy::Any => model::ExitPolicy::Any,
                ExitPolicy::Also(codes) => model::ExitPolicy::Also(codes),
            },
            hooks: model::Hooks {
                setup: self.hooks.setup,
                prepare: self.hooks.prepare,
                conclude: self.hooks.conclude,
                cleanup: self.hooks.cleanup,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_unicode_survives() {
        use std::os::unix::ffi::OsStringExt;
        let path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', 0xff, 0x0a]));
        let wire = FilePath::from_path(&path).unwrap();
        let json = serde_json::to_string(&wire).unwrap();
        assert_eq!(json, r#"{"hex":"2fff0a"}"#);
        let back: FilePath = serde_json::from_str(&json).unwrap();
        assert_eq!(back.into_path(), Ok(path));
    }

    #[test]
    fn a_path_of_broken_hex_is_refused() {
        for hex in ["2", "zz", "é"] {
            let path = FilePath::Bytes {
                hex: hex.to_owned(),
            };
            assert!(path.into_path().is_err(), "{hex}");
        }
    }

    #[test]
    fn a_very_long_duration_is_cut_and_not_wrapped() {
        assert_eq!(nanoseconds(Duration::MAX), u64::MAX);
        assert_eq!(nanoseconds(Duration::from_secs(2)), 2_000_000_000);
    }
}
