//! Reads the JSON of hyperfine 1 and 2, which lists commands with one entry per launch.

use std::collections::BTreeMap;

use crate::identity::{Identity, QualifierPlace, QualifierShown};
use crate::results::{ExitCodes, ResultBenchmark, ResultState, Results};
use deadheat_model::{Better, Metric, ResultFacts, Unit};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::json::{Number, Text, from_json_entries, lenient};
use super::rows::{Rows, summarised, tool};
use deadheat_format::FileProblem;

#[derive(Deserialize)]
struct WireFile {
    // Present since 2.0.
    schema_version: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    metadata: Option<WireMetadata>,
    #[serde(default, deserialize_with = "lenient")]
    primary_metric: Option<String>,
    results: Vec<WireResult>,
}

#[derive(Deserialize)]
struct WireMetadata {
    #[serde(default)]
    hyperfine_version: Text,
    #[serde(default, deserialize_with = "lenient")]
    start_time: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    platform: WirePlatform,
}

#[derive(Default, Deserialize)]
struct WirePlatform {
    #[serde(default)]
    os: Text,
    #[serde(default)]
    architecture: Text,
}

#[derive(Deserialize)]
struct WireResult {
    command: String,
    #[serde(default, deserialize_with = "lenient")]
    name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    parameters: BTreeMap<String, WireParameter>,
    // Written by the first versions with parameters, without the parameter's name.
    #[serde(default)]
    parameter: Text,
    // Version 1: times in seconds, and means of other quantities.
    times: Option<Vec<Number>>,
    #[serde(default, deserialize_with = "lenient")]
    memory_usage_byte: Option<Vec<Number>>,
    #[serde(default, deserialize_with = "lenient")]
    exit_codes: Vec<Option<i64>>,
    median: Option<Number>,
    mean: Option<Number>,
    // Version 2.
    measurements: Option<Vec<WireMeasurement>>,
    summary: Option<WireSummary>,
}

/// A value, or an object with the field `value`.
struct WireParameter(Text);

impl<'de> Deserialize<'de> for WireParameter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        let own = value.get_mut("value").map(Value::take);
        let text = serde_json::from_value(own.unwrap_or(value));
        Ok(WireParameter(text.unwrap_or_default()))
    }
}

#[derive(Deserialize)]
struct WireMeasurement {
    time_wall_clock: WireQuantity,
    #[serde(default, deserialize_with = "lenient")]
    time_cpu: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    time_user: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    time_system: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    memory_peak_resident: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    cpu_cycles: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    instructions: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    cache_references: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    cache_misses: Option<WireQuantity>,
    #[serde(default, deserialize_with = "lenient")]
    branch_misses: Option<WireQuantity>,
    /// The exit code: `None` if the field is missing, and `Some(None)` if a signal killed the
    /// launch.
    #[serde(default, deserialize_with = "lenient_exit_code")]
    exit_code: Option<Option<i64>>,
}

fn lenient_exit_code<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<i64>>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => Some(None),
        value => value.as_i64().map(Some),
    })
}

#[derive(Deserialize)]
struct WireQuantity {
    value: Number,
    #[serde(default, deserialize_with = "lenient")]
    unit: Option<String>,
}

#[derive(Deserialize)]
struct WireSummary {
    time_wall_clock: Option<WireMedian>,
}

#[derive(Deserialize)]
struct WireMedian {
    median: Number,
}

const SCHEMA: u64 = 2;

/// Reads all commands. Each launch is a process.
pub(super) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    let (wire, broken) = from_json_entries::<WireFile, WireResult>(text, "results")?;
    if let Some(version) = wire.schema_version.filter(|version| *version > SCHEMA) {
        let problem =
            format!("schema {version} is newer than {SCHEMA}, the last one that deadheat knows");
        return Err(FileProblem::at("schema_version", problem));
    }
    let metadata = wire.metadata.as_ref();
    let version = metadata.and_then(|metadata| metadata.hyperfine_version.0.as_ref());
    let mut results = Results::new("", tool("hyperfine", version));
    results.facts = metadata.map(facts).unwrap_or_default();
    for (index, result) in wire.results.iter().enumerate() {
        let name = name(result);
        let mut read = named(result);
        if let Err(problem) = fill(&mut read, result, wire.primary_metric.as_deref()) {
            let place = format!("results[{index}].");
            let problem = problem.within(&place, &format!(", of command '{name}'"));
            read.state = ResultState::Failed(problem.into_text());
        }
        results.push(read);
    }
    for entry in broken {
        entry.give_to(&mut results, &["name", "command"]);
    }
    Ok(results)
}

fn named(result: &WireResult) -> ResultBenchmark {
    let parameters = parameters(result);
    let mut identity = Identity::new(name(result));
    for (key, value) in &parameters {
        let (place, shown) = (QualifierPlace::Brackets, QualifierShown::IfSideDiffers);
        identity = identity.with(key.clone(), &**value, place, shown);
    }
    ResultBenchmark {
        identity,
        parameters,
        ..ResultBenchmark::default()
    }
}

fn fill(
    read: &mut ResultBenchmark,
    result: &WireResult,
    primary: Option<&str>,
) -> Result<(), FileProblem> {
    let (rows, codes) = match &result.measurements {
        Some(launches) => (
            measured(launches, primary)?,
            launches
                .iter()
                .filter_map(|launch| launch.exit_code)
                .collect(),
        ),
        None => (timed(result)?, result.exit_codes.iter().copied().collect()),
    };
    read.exits = ExitCodes(codes);
    // hyperfine keeps failed launches only if the user asks for it.
    read.label = read.exits.any_failed().then(|| read.exits.to_string());
    if rows.len() > 0 {
        rows.give_to(read);
    } else {
        let (statistic, time) = summary(result)?;
        read.metrics = vec![Metric::Wall];
        read.processes = vec![0];
        read.values = vec![time];
        read.state = summarised(statistic);
    }
    Ok(())
}

/// Returns the name that the user gave, or the command.
fn name(result: &WireResult) -> &str {
    result.name.as_deref().unwrap_or(&result.command)
}

fn parameters(result: &WireResult) -> Vec<(String, String)> {
    let only = result.parameter.0.iter();
    let only = only.map(|value| ("parameter".to_owned(), value.clone()));
    let named = result.parameters.iter().filter_map(|(name, parameter)| {
        let WireParameter(Text(value)) = parameter;
        Some((name.clone(), value.clone()?))
    });
    only.chain(named).collect()
}

/// Reads the launches of version 1. Their CPU time is left out, because only its mean is in the
/// file.
fn timed(result: &WireResult) -> Result<Rows, FileProblem> {
    let times = result.times.as_deref().unwrap_or_default();
    let memory = result.memory_usage_byte.as_deref().unwrap_or_default();
    // Memory values that do not match the launches one by one cannot be used.
    let memory = if memory.len() == times.len() {
        memory
    } else {
        &[]
    };
    let mut rows = Rows::default();
    for (launch, time) in times.iter().enumerate() {
        rows.begin(launch as u32);
        let time = time.measured(1e9, || format!("times[{launch}]"))?;
        rows.set(&Metric::Wall, time);
        if let Some(bytes) = memory.get(launch).and_then(|bytes| bytes.optional(1.0)) {
            rows.set(&Metric::PeakRss, bytes);
        }
    }
    Ok(rows)
}

/// Reads the launches of version 2; the metric that the user chose as primary comes first.
fn measured(launches: &[WireMeasurement], primary: Option<&str>) -> Result<Rows, FileProblem> {
    let mut rows = Rows::default();
    for (index, launch) in launches.iter().enumerate() {
        let at = |field: &str| format!("measurements[{index}].{field}");
        let wall = &launch.time_wall_clock;
        let unit = || at("time_wall_clock.unit");
        let factor = self::factor(wall, &Metric::Wall, unit)?;
        let time = || at("time_wall_clock.value");
        let time = wall.value.measured(factor, time)?;
        let mut values = vec![("time_wall_clock", Metric::Wall, time)];
        for (field, metric, quantity) in others(launch) {
            let Some(quantity) = quantity else { continue };
            let unit = || at(&format!("{field}.unit"));
            let factor = self::factor(quantity, &metric, unit)?;
            if let Some(value) = quantity.value.optional(factor) {
                values.push((field, metric, value));
            }
        }
        values.sort_by_key(|(field, ..)| Some(*field) != primary);
        rows.begin(index as u32);
        for (_, metric, value) in values {
            rows.set(&metric, value);
        }
    }
    Ok(rows)
}

/// Returns the quantities of a launch other than its wall time.
fn others(launch: &WireMeasurement) -> [(&'static str, Metric, &Option<WireQuantity>); 9] {
    let references = Metric::foreign("cache-references", Unit::Count, Better::Less);
    [
        ("time_cpu", Metric::Cpu, &launch.time_cpu),
        ("time_user", Metric::User, &launch.time_user),
        ("time_system", Metric::System, &launch.time_system),
        (
            "memory_peak_resident",
            Metric::PeakRss,
            &launch.memory_peak_resident,
        ),
        ("cpu_cycles", Metric::Cycles, &launch.cpu_cycles),
        ("instructions", Metric::Instructions, &launch.instructions),
        ("cache_references", references, &launch.cache_references),
        ("cache_misses", Metric::CacheMisses, &launch.cache_misses),
        ("branch_misses", Metric::BranchMisses, &launch.branch_misses),
    ]
}

/// Returns the factor from a quantity to the unit of its metric. hyperfine writes all times in
/// seconds, and counts without a unit.
fn factor(
    quantity: &WireQuantity,
    metric: &Metric,
    place: impl FnOnce() -> String,
) -> Result<f64, FileProblem> {
    let (unit, factor) = match metric.unit() {
        Unit::Nanoseconds => (Some("second"), 1e9),
        Unit::Bytes => (Some("byte"), 1.0),
        _ => (None, 1.0),
    };
    let found = quantity.unit.as_deref();
    if found == unit {
        return Ok(factor);
    }
    let word = |unit: Option<&str>| unit.map_or("none".to_owned(), |unit| format!("'{unit}'"));
    let problem = format!(
        "the unit is {}; deadheat expects {}",
        word(found),
        word(unit)
    );
    Err(FileProblem::at(place(), problem))
}

/// Returns the median or mean of the launches, for a file without the launches themselves.
fn summary(result: &WireResult) -> Result<(&'static str, f64), FileProblem> {
    let newer = result.summary.as_ref();
    let newer = newer.and_then(|summary| summary.time_wall_clock.as_ref());
    let candidates = [
        (
            "median",
            "summary.time_wall_clock.median",
            newer.map(|wall| wall.median),
        ),
        ("median", "median", result.median),
        ("mean", "mean", result.mean),
    ];
    let found = candidates
        .into_iter()
        .find_map(|(statistic, field, time)| Some((statistic, field, time?)));
    let Some((statistic, field, time)) = found else {
        let problem = "it has neither the times of launches nor their median";
        return Err(FileProblem::at("times", problem));
    };
    let time = time.measured(1e9, || field.to_owned())?;
    Ok((statistic, time))
}

fn facts(metadata: &WireMetadata) -> ResultFacts {
    let platform = &metadata.platform;
    let system = [platform.os.0.as_deref(), platform.architecture.0.as_deref()];
    let system: Vec<&str> = system.into_iter().flatten().collect();
    ResultFacts {
        system: (!system.is_empty()).then(|| system.join(" ")),
        date: metadata.start_time.clone(),
        ..ResultFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naming::name_together;
    use crate::results::ResultState;

    fn read_text(text: &str) -> Result<Results, String> {
        let read = read(text.as_bytes());
        let mut results = read.map_err(|problem| problem.of("a.json").to_string())?;
        name_together(&mut [std::slice::from_mut(&mut results)]);
        Ok(results)
    }

    fn one(fields: &str) -> Result<ResultBenchmark, String> {
        let text = format!(r#"{{"results":[{{"command":"x",{fields}}}]}}"#);
        read_text(&text).map(|mut results| results.benchmarks.remove(0))
    }

    fn failure(fields: &str) -> String {
        match one(fields).unwrap().state {
            ResultState::Failed(why) => why,
            other => panic!("{fields}: {other:?}"),
        }
    }

    fn launch(fields: &str) -> String {
        format!(r#"{{"time_wall_clock":{{"value":0.5,"unit":"second"}},{fields}"exit_code":0}}"#)
    }

    #[test]
    fn without_launches_the_median_stands_for_them_and_without_it_the_mean() {
        for (fields, value, told) in [
            (r#""times":[],"median":2,"mean":3"#, 2e9, "median"),
            (r#""mean":3,"user":1"#, 3e9, "mean"),
            (
                r#""measurements":[],"summary":{"time_wall_clock":{"median":4}}"#,
                4e9,
                "median",
            ),
        ] {
            let benchmark = one(fields).unwrap();
            let statistic = told.to_owned();
            assert_eq!(benchmark.state, ResultState::Summarised { statistic });
            assert_eq!(
                (&benchmark.values[..], &benchmark.processes[..]),
                (&[value][..], &[0][..])
            );
        }
        assert_eq!(
            failure(r#""user":1"#),
            "results[0].times, of command 'x': it has neither the times of launches nor their \
             median"
        );
    }

    #[test]
    fn memory_counts_where_every_launch_has_it() {
        let metrics = |memory: &str| {
            let fields = format!(r#""times":[1,2],"memory_usage_byte":{memory}"#);
            one(&fields).unwrap().metrics
        };
        assert_eq!(metrics("[5,6]"), [Metric::Wall, Metric::PeakRss]);
        for memory in ["[5]", "[5,6,7]", "[5,null]", "[5,-6]", "null"] {
            assert_eq!(metrics(memory), [Metric::Wall], "{memory}");
        }
    }

    #[test]
    fn counters_of_every_launch_are_kept_and_the_primary_metric_comes_first() {
        let both = launch(r#""instructions":{"value":7},"cpu_cycles":{"value":8},"#);
        let fewer = launch(r#""instructions":{"value":9},"#);
        let text = format!(
            r#"{{"schema_version":2,"primary_metric":"instructions",
            "results":[{{"command":"x","measurements":[{both},{fewer}]}}]}}"#
        );
        let read = read_text(&text).unwrap();
        assert_eq!(
            read.benchmarks[0].metrics,
            [Metric::Instructions, Metric::Wall]
        );
        assert_eq!(read.benchmarks[0].values, [7.0, 5e8, 9.0, 5e8]);
        assert_eq!(read.benchmarks[0].processes, [0, 1]);
    }

    #[test]
    fn exit_codes_are_told_when_one_is_not_zero() {
        let label = |codes: &str| {
            let fields = format!(r#""times":[1,2,3],"exit_codes":{codes}"#);
            one(&fields).unwrap().label
        };
        assert_eq!(label("[0,0,0]"), None);
        assert_eq!(label("[]"), None);
        assert_eq!(label("[3,3,3]").as_deref(), Some("exit code 3"));
        assert_eq!(
            label("[0,null,1]").as_deref(),
            Some("exit codes 0, 1 or killed by a signal")
        );
    }

    #[test]
    fn parameters_tell_commands_apart_that_read_the_same() {
        let text = |name: &str| {
            format!(
                r#"{{"results":[{{"command":"x","times":[1],"parameters":{{"b":"1","a":{{"value":"2"}}}}}},
                {{"command":"x"{name},"times":[1],"parameters":{{"b":"3"}}}},
                {{"command":"y","times":[1],"parameter":"4"}}]}}"#
            )
        };
        let names = |text: &str| -> Vec<String> {
            let read = read_text(text).unwrap();
            read.benchmarks.into_iter().map(|read| read.name).collect()
        };
        assert_eq!(names(&text("")), ["x [a=2, b=1]", "x [b=3]", "y"]);
        assert_eq!(names(&text(r#","name":"z""#)), ["x", "z", "y"]);
        let read = read_text(&text("")).unwrap();
        let old = ("parameter".to_owned(), "4".to_owned());
        assert_eq!(read.benchmarks[2].parameters, [old]);
    }

    #[test]
    fn times_that_are_none_are_named() {
        for (fields, told) in [
            (
                r#""times":[1,-1]"#,
                "times[1], of command 'x': -1 is negative",
            ),
            (
                r#""times":[NaN]"#,
                "times[0], of command 'x': the number is missing",
            ),
            (
                r#""median":1e305"#,
                "median, of command 'x': the number is too large",
            ),
            (
                r#""measurements":[{"time_wall_clock":{"value":null,"unit":"second"}}]"#,
                "measurements[0].time_wall_clock.value, of command 'x': the number is missing",
            ),
            (
                r#""measurements":[{"time_wall_clock":{"value":1,"unit":"hour"}}]"#,
                "measurements[0].time_wall_clock.unit, of command 'x': the unit is 'hour'; \
                 deadheat expects 'second'",
            ),
            (
                r#""measurements":[{"time_wall_clock":{"value":1}}]"#,
                "measurements[0].time_wall_clock.unit, of command 'x': the unit is none; deadheat expects \
                 'second'",
            ),
        ] {
            assert_eq!(failure(fields), format!("results[0].{told}"));
        }
        for (fields, path) in [
            (r#""times":["1"]"#, "results[0].times[0]"),
            (
                r#""measurements":[{"exit_code":0}]"#,
                "results[0].measurements[0]",
            ),
        ] {
            let error = one(fields).unwrap_err();
            assert!(error.ends_with(&format!("at {path}")), "{error}");
        }
    }

    #[test]
    fn fields_that_nothing_depends_on_may_hold_anything() {
        for fields in [
            r#""parameters":{"n":4,"list":[1],"own":{"value":true}}"#,
            r#""exit_codes":null,"parameters":null,"memory_usage_byte":"much""#,
            r#""exit_codes":["0"],"name":5,"parameter":7"#,
        ] {
            let read = one(&format!(r#""times":[1,2],{fields}"#)).unwrap();
            assert_eq!(read.values, [1e9, 2e9], "{fields}");
        }
        let read = one(r#""times":[1],"parameters":{"n":4,"own":{"value":true}}"#).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read.parameters, [pair("n", "4"), pair("own", "true")]);
        let text = r#"{"metadata":{"hyperfine_version":2,"platform":7},"primary_metric":1,
            "results":[{"command":"x","measurements":[{"time_wall_clock":{"value":1,"unit":"second"},
            "instructions":63.5,"exit_code":"none"}]}]}"#;
        let read = read_text(text).unwrap();
        assert_eq!(read.benchmarks[0].metrics, [Metric::Wall]);
        assert_eq!(read.benchmarks[0].exits, ExitCodes::default());
    }

    #[test]
    fn one_bad_command_does_not_cost_the_others() {
        let text = |bad: &str| {
            let good = r#"{"command":"good","times":[1]}"#;
            read_text(&format!(r#"{{"results":[{bad},{good}]}}"#)).unwrap()
        };
        for (bad, why) in [
            (
                r#"{"command":"bad","times":["1"]}"#,
                "results[0].times[0]: expected a number, but found the text \"1\"",
            ),
            (
                r#"{"command":"bad","times":[-1]}"#,
                "results[0].times[0], of command 'bad': -1 is negative",
            ),
        ] {
            let read = text(bad);
            let of_name = read.benchmarks.iter().find(|one| one.name == "bad");
            assert_eq!(of_name.unwrap().state, ResultState::Failed(why.to_owned()));
            assert_eq!(read.benchmarks.len(), 2);
        }
        let read = text("7");
        assert_eq!(read.benchmarks.len(), 1);
        assert_eq!(read.unread, ["results[0]: expected an object, but found 7"]);
    }

    #[test]
    fn a_newer_schema_is_not_guessed_at() {
        assert_eq!(
            read_text(r#"{"schema_version":3,"results":[]}"#).unwrap_err(),
            "a.json: schema_version: schema 3 is newer than 2, the last one that deadheat knows"
        );
    }
}
