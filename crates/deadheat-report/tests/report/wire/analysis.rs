//! A whole answer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::calibration::Calibration;
use super::comparison::{Comparison, Day, Rule};
use super::numbers::{Alpha, Amount, AtLeastOne, Change, Confidence, Interval, Margin};
use super::presence::{Nullable, Optional};

/// What `--json` of `deadheat run`, `bench`, `rev`, `analyze` and `compare`
/// writes. Fields may be added within version 1; none is renamed or removed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(
    title = "deadheat analysis, version 1",
    extend(
        "$id" = "https://github.com/deadheat/deadheat/docs/schema/analysis-1.schema.json",
        "allOf" = [
            {
                "if": { "required": ["signal"] },
                "then": { "properties": { "ended": { "const": "interrupted" } } }
            },
            {
                "if": { "required": ["failure"] },
                "then": { "properties": { "ended": { "const": "failed" } } }
            }
        ]
    )
)]
pub struct Analysis {
    /// The name and major version of this format.
    schema: Format,
    tool: Tool,
    /// Source of every random choice of the run, up to 2^64 - 1; null for a
    /// recording.
    seed: Nullable<u64>,
    alpha: Alpha,
    margin: Margin,
    /// The rules file that was read; absent if none was read.
    #[serde(default)]
    config: Optional<String>,
    /// The comparisons that share the alpha of the rule `slower`; absent if
    /// there are fewer than two.
    #[serde(default)]
    gate_suite: Optional<GateSuite>,
    /// Entries of the rules file's ignore list that excuse nothing; absent if
    /// there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    idle_ignores: Optional<Vec<IdleIgnore>>,
    /// Launched processes, including discarded ones. For functions these are
    /// the workers: one per replicate, or one per side and replicate if two
    /// builds race.
    launches: u64,
    /// Seconds from the first launch to the end of the last block.
    elapsed_s: Amount,
    /// How the run ended. `cut`: the record stops without an end record.
    /// `recording`: the samples were read from a file.
    ended: Ended,
    /// The signal that interrupted the run; only if `ended` is `interrupted`.
    #[serde(default)]
    signal: Optional<i64>,
    /// The failure; only if `ended` is `failed`.
    #[serde(default)]
    failure: Optional<String>,
    /// How the second race of the benchmarks that broke a rule ended; absent if
    /// there was no second race.
    #[serde(default)]
    second_race: Optional<SecondRace>,
    /// Benchmarks that failed and have no entry in `benchmarks`; absent if
    /// there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    failures: Optional<Vec<Failed>>,
    /// Benchmarks that were not raced, although a reader may look for them;
    /// absent if there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    left_out: Optional<Vec<LeftOut>>,
    /// How each side was built, the baseline first; absent unless the sides
    /// were built differently.
    #[serde(default)]
    #[schemars(length(equal = 2))]
    builds: Optional<Vec<String>>,
    /// Differences between the sides other than the code under test; absent if
    /// there are none.
    #[serde(default)]
    surroundings: Optional<Surroundings>,
    /// Of saved results: the files that each side was read from, the baseline
    /// first; absent if deadheat measured.
    #[serde(default)]
    #[schemars(length(min = 1))]
    sides: Optional<Vec<RecordedSide>>,
    /// Warnings about the whole run; absent if there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    warnings: Optional<Vec<Warning>>,
    /// Of saved results: the geometric mean over all benchmarks that both sides
    /// have, for each candidate; absent if fewer than two were compared.
    #[serde(default)]
    #[schemars(length(min = 1))]
    overall: Optional<Vec<Overall>>,
    /// Absent if this machine was not calibrated.
    #[serde(default)]
    calibration: Optional<Calibration>,
    /// One entry per benchmark and candidate.
    benchmarks: Vec<Comparison>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Format {
    #[serde(rename = "deadheat.analysis/1")]
    One,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Tool {
    /// Version of deadheat that analysed the run.
    version: String,
}

/// An entry of an ignore list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IdleIgnore {
    /// The pattern on names of benchmarks, as written.
    name: String,
    /// The rule of the entry; absent if the entry is about all rules.
    #[serde(default)]
    rule: Optional<Rule>,
    /// The line of the rules file where the entry begins, counted from 1.
    line: AtLeastOne,
    why: Why,
    /// The last day of the entry; only for an expired entry.
    #[serde(default)]
    until: Optional<Day>,
    /// Whether a rule of the entry is broken; only for an expired entry.
    #[serde(default)]
    broken: Optional<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Why {
    NoBenchmark,
    NothingBroken,
    Expired,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Ended {
    Finished,
    Budget,
    Interrupted,
    Failed,
    Cut,
    Recording,
}

/// The second race of benchmarks that broke a rule in the first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct SecondRace {
    /// How it ended, with the values of `ended` of the first race.
    ended: Ended,
    /// The signal that interrupted it; only if `ended` is `interrupted`.
    #[serde(default)]
    signal: Optional<i64>,
    /// The failure; only if `ended` is `failed`.
    #[serde(default)]
    failure: Optional<String>,
}

/// A benchmark that failed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Failed {
    benchmark: String,
    #[serde(default)]
    parameters: Optional<Parameters>,
    /// What happened, and where.
    message: String,
}

/// Parameter values in the commands; absent if there are none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("minProperties" = 1))]
pub struct Parameters(BTreeMap<String, String>);

/// Differences between the sides other than the code under test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Surroundings {
    /// The suite of one side, which both sides run; absent if each side runs
    /// its own.
    #[serde(default)]
    suite: Optional<SharedSuite>,
    /// The interpreter of each side, the baseline's first; absent if they are
    /// the same.
    #[serde(default)]
    #[schemars(length(equal = 2))]
    interpreters: Optional<Vec<String>>,
    /// Packages whose versions differ, without those under test.
    #[serde(default)]
    #[schemars(length(min = 1))]
    packages: Optional<Vec<PackageVersions>>,
    /// True if the user named the environments of both sides, so that the user
    /// may want to compare their packages; absent otherwise.
    #[serde(default)]
    chosen: Optional<bool>,
}

/// The suite of one side, which both sides run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SharedSuite {
    /// The name of that side.
    side: String,
    /// The files in which the suites of the sides differ.
    files: Vec<String>,
}

/// A package in different versions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PackageVersions {
    name: String,
    /// Null if the baseline lacks the package.
    baseline: Nullable<String>,
    /// Null if the candidate lacks the package.
    candidate: Nullable<String>,
}

/// A benchmark that was not raced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    benchmark: String,
    /// Why it was not raced: only one side has it, it reports that it does not
    /// run, or it does different work on the two sides.
    reason: Reason,
    /// The side that has the benchmark; only if `reason` is `only-in`.
    #[serde(default)]
    side: Optional<String>,
    /// The reason as text; only if `reason` is not `only-in`.
    #[serde(default)]
    message: Optional<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Reason {
    OnlyIn,
    Skipped,
    NotAlike,
}

/// One side of saved results.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordedSide {
    /// The contender's name.
    name: String,
    /// Facts that a file does not contain are absent.
    files: Vec<RecordedFile>,
}

/// A file of saved results.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordedFile {
    /// The path as the user gave it.
    file: String,
    /// The tool that wrote it, with its version if the file contains it.
    tool: String,
    /// Name of the machine.
    #[serde(default)]
    host: Optional<String>,
    /// Operating system.
    #[serde(default)]
    system: Optional<String>,
    /// Processor model.
    #[serde(default)]
    cpu: Optional<String>,
    /// Logical cores.
    #[serde(default)]
    cores: Optional<u64>,
    /// Language runtime and its version.
    #[serde(default)]
    runtime: Optional<String>,
    /// When it was measured, as written in the file.
    #[serde(default)]
    date: Optional<String>,
    /// Whether the frequency of the processor was being scaled.
    #[serde(default)]
    cpu_scaling: Optional<bool>,
    /// Whether the measured program or the measuring library was a debug build.
    #[serde(default)]
    debug_build: Optional<bool>,
}

/// The change over all benchmarks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Overall {
    /// The candidate's name.
    candidate: String,
    /// How many are in it.
    benchmarks: AtLeastOne,
    /// Mean of the ratios of cost, minus 1: below zero is better, for every
    /// metric.
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`; null if `ci` is null.
    confidence: Nullable<Confidence>,
    /// The benchmarks that `ci` is about: `these` for saved results;
    /// `like-these` for a race, whose benchmarks count as a random sample.
    population: Population,
}

/// Benchmarks that an interval over all of them speaks of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Population {
    These,
    LikeThese,
}

/// A warning or a note. Warnings come first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// A name that does not change between versions.
    #[schemars(regex(pattern = "^[a-z]+(-[a-z]+)*$"))]
    code: String,
    /// Text for people; the wording may change.
    #[schemars(length(min = 1))]
    message: String,
}

/// The comparisons that a gate keeps alpha for together.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct GateSuite {
    /// Their number.
    comparisons: u64,
    /// The change that the rule finds in half of the comparisons with 80%
    /// power; null if no standard error is known.
    detectable_change: Nullable<Amount>,
}
