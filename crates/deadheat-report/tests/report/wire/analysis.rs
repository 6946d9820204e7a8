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
    /// The rules file that was read; absent where none was.
    #[serde(default)]
    config: Optional<String>,
    /// The comparisons that the rule `slower` keeps alpha for together; absent
    /// where that is one, or none.
    #[serde(default)]
    gate_suite: Optional<GateSuite>,
    /// Entries of the rules file's ignore list that excuse nothing; absent
    /// where there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    idle_ignores: Optional<Vec<IdleIgnore>>,
    /// Processes launched, discarded ones included; for functions these are
    /// the workers, one per side and replicate where two builds race.
    launches: u64,
    /// Seconds from the first launch to the end of the last block.
    elapsed_s: Amount,
    /// How the run ended. `cut`: the record stops without saying why.
    /// `recording`: the samples were read from a file.
    ended: Ended,
    /// The signal that interrupted the run; only with `interrupted`.
    #[serde(default)]
    signal: Optional<i64>,
    /// What failed; only with `failed`.
    #[serde(default)]
    failure: Optional<String>,
    /// How the second race of what broke a rule ended; absent where there was
    /// none.
    #[serde(default)]
    second_race: Optional<SecondRace>,
    /// Benchmarks that broke down and have no entry in `benchmarks`; absent
    /// when there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    failures: Optional<Vec<Failed>>,
    /// Benchmarks that were not raced though somebody might look for them;
    /// absent when there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    left_out: Optional<Vec<LeftOut>>,
    /// How each side was built, the baseline first; absent unless these are
    /// two ways.
    #[serde(default)]
    #[schemars(length(equal = 2))]
    builds: Optional<Vec<String>>,
    /// What differs between the sides besides the code under test; absent
    /// where nothing does.
    #[serde(default)]
    surroundings: Optional<Surroundings>,
    /// Of saved results: the files that each side was read from, the baseline
    /// first; absent where deadheat measured.
    #[serde(default)]
    #[schemars(length(min = 1))]
    sides: Optional<Vec<RecordedSide>>,
    /// Doubts that are not those of one benchmark; absent when there are none.
    #[serde(default)]
    #[schemars(length(min = 1))]
    warnings: Optional<Vec<Warning>>,
    /// Of saved results: the geometric mean over all benchmarks that both
    /// sides have, for each candidate; absent where fewer than two were
    /// compared.
    #[serde(default)]
    #[schemars(length(min = 1))]
    overall: Optional<Vec<Overall>>,
    /// Absent where this machine was not calibrated.
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
    /// Version of deadheat that analysed.
    version: String,
}

/// An entry of an ignore list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IdleIgnore {
    /// The pattern on names of benchmarks, as written.
    name: String,
    /// The only rule it is about; absent when it is about all.
    #[serde(default)]
    rule: Optional<Rule>,
    /// Where it begins in the rules file, counted from 1.
    line: AtLeastOne,
    why: Why,
    /// Its last day, when it is over.
    #[serde(default)]
    until: Optional<Day>,
    /// Whether a rule it was about is broken, when it is over.
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
    /// How it ended, in the words of the first.
    ended: Ended,
    /// The signal that interrupted it; only with `interrupted`.
    #[serde(default)]
    signal: Optional<i64>,
    /// What failed; only with `failed`.
    #[serde(default)]
    failure: Optional<String>,
}

/// A benchmark without an answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Failed {
    benchmark: String,
    #[serde(default)]
    parameters: Optional<Parameters>,
    /// What happened, and where.
    message: String,
}

/// Parameter values filled into the commands; absent when there are none.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("minProperties" = 1))]
pub struct Parameters(BTreeMap<String, String>);

/// What differs between the sides besides the code under test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Surroundings {
    /// The suite of one side, which both sides run; absent where each runs its
    /// own.
    #[serde(default)]
    suite: Optional<SharedSuite>,
    /// The interpreter of each side, the baseline's first; absent where they
    /// are the same.
    #[serde(default)]
    #[schemars(length(equal = 2))]
    interpreters: Optional<Vec<String>>,
    /// Packages whose versions differ, without those under test.
    #[serde(default)]
    #[schemars(length(min = 1))]
    packages: Optional<Vec<PackageVersions>>,
    /// True where the user named the environments of both sides, so that their
    /// packages may be what is compared; absent otherwise.
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
    /// Null where the baseline lacks the package.
    baseline: Nullable<String>,
    /// Null where the candidate lacks the package.
    candidate: Nullable<String>,
}

/// A benchmark that was not raced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    benchmark: String,
    /// Only one side has it; it says of itself that it does not run; or it is
    /// not the same work on both sides.
    reason: Reason,
    /// Of `only-in`: which side has it.
    #[serde(default)]
    side: Optional<String>,
    /// Of the others: why, in words.
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
    /// What a file does not tell is absent.
    files: Vec<RecordedFile>,
}

/// A file of saved results.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordedFile {
    /// As it was named.
    file: String,
    /// Who wrote it, with the version where the file says so.
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
    /// When it was measured, as written there.
    #[serde(default)]
    date: Optional<String>,
    /// Whether the frequency of the processor was being scaled.
    #[serde(default)]
    cpu_scaling: Optional<bool>,
    /// Whether something measured, or the library that measured it, was a
    /// debug build.
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
    /// Mean of the ratios of cost, less 1: below zero is better whatever was
    /// measured.
    change: Change,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`; null when that is.
    confidence: Nullable<Confidence>,
    /// Benchmarks that `ci` speaks of: of saved results `these` alone, of a
    /// race those `like-these`, taken for a random sample.
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

/// A doubt, or something worth knowing. Where there are several, doubts come
/// first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// Stable name.
    #[schemars(regex(pattern = "^[a-z]+(-[a-z]+)*$"))]
    code: String,
    /// For people; the wording may change.
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
    /// The change by which half of them would be found slower at that level
    /// with 80% power; null where no error is known.
    detectable_change: Nullable<Amount>,
}
