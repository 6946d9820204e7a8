//! One candidate against its baseline.

use schemars::JsonSchema;
use serde::Deserialize;

use super::analysis::{Parameters, Warning};
use super::figures::Figures;
use super::numbers::{
    Alpha, Amount, AtLeastOne, Change, Confidence, Interval, Margin, Probability, Share, Unit,
};
use super::presence::{Nullable, Optional};

/// One benchmark and candidate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    benchmark: String,
    #[serde(default)]
    parameters: Optional<Parameters>,
    /// The label of the benchmark; absent if the files contain none.
    #[serde(default)]
    label: Optional<String>,
    /// Threads it ran on; absent if no file contains the number.
    #[serde(default)]
    threads: Optional<u64>,
    /// What one iteration processes; absent if the benchmark does not report
    /// it.
    #[serde(default)]
    throughput: Optional<Throughput>,
    /// The metric judged.
    metric: String,
    unit: Unit,
    /// The quantile of single iterations that the verdict, all estimates and
    /// the typical values are about. Absent if they are about the centre.
    #[serde(default)]
    quantile: Optional<f64>,
    baseline: Side,
    /// null if the contender was measured alone.
    candidate: Nullable<Side>,
    /// Smallest relative change of this benchmark worth acting on.
    margin: Margin,
    /// Accepted probability of a wrong verdict on it.
    alpha: Alpha,
    /// null if the data allow only an estimate.
    verdict: Nullable<Verdict>,
    /// True if a gate has rules for it but could not judge it, because it has
    /// no verdict; absent otherwise.
    #[serde(default)]
    unjudged: Optional<bool>,
    /// The rule of `--fail-on` or `deadheat.toml` that it breaks; absent if it
    /// breaks none.
    #[serde(default)]
    gate: Optional<Gate>,
    /// The second race of a benchmark that broke a rule; absent if there was no
    /// second race.
    #[serde(default)]
    confirmation: Optional<Confirmation>,
    /// Whether the verdict is provisional, for example because it is based on
    /// one replicate or on unpaired samples.
    provisional: bool,
    /// `binary`: the verdict is about the binaries as they were linked.
    /// `source`, the stronger claim: in every judged replicate, a neutral link
    /// placed the code of both sides at new addresses.
    scope: Scope,
    /// True if, in every judged replicate, code that the two builds share had
    /// the same addresses in both; absent otherwise.
    #[serde(default)]
    matched: Optional<bool>,
    /// What was observed about the processes of the baseline and of the
    /// candidate in all judged replicates; absent if nothing was observed.
    #[serde(default)]
    #[schemars(length(min = 2, max = 2))]
    processes: Optional<Vec<Process>>,
    /// null if it cannot be computed.
    change: Nullable<Change>,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// The probability that `ci` contains the true value, over all interim
    /// analyses. Reports show this confidence. null if `ci` is null.
    coverage: Nullable<Confidence>,
    /// Two-sided confidence of `ci` at the interim analysis that ended the
    /// race; null if `ci` is null.
    confidence: Nullable<Confidence>,
    /// Two-sided, at the interim analysis that ended the race.
    p_value: Nullable<Probability>,
    /// Corrected for all interim analyses, all candidates and the suite.
    p_adjusted: Nullable<Probability>,
    /// Sign-flip test over replicates, which assumes only symmetry.
    p_sign_flip: Nullable<Probability>,
    /// Whether the interval excludes zero. A dead heat may still have a
    /// direction.
    excludes_zero: bool,
    /// The relative change that this race finds with 80% power.
    minimum_detectable_effect: Nullable<Amount>,
    /// Replicates in the estimate; for an unpaired recording, the observations
    /// of both sides. null without an estimate.
    replicates: Nullable<u64>,
    /// How many more replicates would settle an open verdict if the estimate
    /// does not change.
    replicates_to_settle: Nullable<u64>,
    /// The seconds that these replicates would take at the pace of the run;
    /// absent for a recording, and if the verdict is not open.
    #[serde(default)]
    seconds_to_settle: Optional<Amount>,
    /// Blocks in the estimate, 0 for an unpaired recording; null without an
    /// estimate.
    blocks: Nullable<u64>,
    /// Blocks that were left out, because they were disturbed or cut short by
    /// the harness.
    dropped_blocks: u64,
    /// The change with these blocks included; absent if none was left out.
    #[serde(default)]
    change_with_dropped: Optional<Change>,
    /// Relative changes that should be zero if the order does not matter; null
    /// without ABBA blocks.
    diagnostics: Nullable<Diagnostics>,
    /// Secondary figures of the judged metric; they never decide a verdict.
    /// null if the metric was not recorded.
    figures: Nullable<Figures>,
    /// The estimate with the user's own link, in addition to the estimate on
    /// neutral links. It decides nothing. Absent if it was not raced.
    #[serde(default)]
    own_link: Optional<OwnLink>,
    /// The reason why launches took turns, although deadheat tried to run them
    /// side by side: a value of `turns_because` in the schema of run files.
    #[serde(default)]
    turns_because: Optional<String>,
    /// Set if the launches of a block ran side by side on one core; absent if they took turns.
    #[serde(default)]
    side_by_side: Optional<SideBySide>,
    /// The baseline against a second copy of itself in the same blocks; it
    /// decides no verdict by itself. Absent without a control.
    #[serde(default)]
    control: Optional<Control>,
    /// The hosts of a run that was merged from parts that several machines
    /// raced; absent for a run of one machine.
    #[serde(default)]
    hosts: Optional<Hosts>,
    /// Standard deviations of the components of a block's effect, as relative
    /// changes. Absent for a recording, and if nothing scatters.
    #[serde(default)]
    spreads: Optional<Spreads>,
    /// The time spent waiting for a core. Absent if it was not recorded, or if
    /// a metric other than wall time is judged.
    #[serde(default)]
    waiting: Optional<Waiting>,
    /// Every recorded metric, on the same pairs, including the judged one. They
    /// decide nothing.
    metrics: Vec<Metric>,
    /// Warnings first, then notes.
    warnings: Vec<Warning>,
}

/// What one iteration gets done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Throughput {
    Bytes(Bytes),
    Items(Items),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Bytes {
    bytes: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Items {
    items: u64,
}

/// The verdict.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Faster,
    Slower,
    Equivalent,
    Inconclusive,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Scope {
    Binary,
    Source,
}

/// One contender over all its samples. Values are per iteration, in the unit
/// of the metric.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Side {
    name: String,
    /// A robust average. The baseline's is its robust location in logarithms;
    /// the candidate's is the baseline's times 1 + `change`. null if values of
    /// zero do not allow logarithms.
    typical: Nullable<f64>,
    median: f64,
    mean: f64,
    min: f64,
    max: f64,
    /// Standard deviation; null for a single sample.
    stddev: Nullable<Amount>,
    samples: u64,
    /// Bytes or items (see `throughput`) that each thread processes per second,
    /// at the median wall time; absent if unknown.
    #[serde(default)]
    rate: Optional<Amount>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Diagnostics {
    drift: f64,
    carry_over: f64,
    second_position: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct OwnLink {
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`, for a single analysis; null if `ci` is
    /// null.
    confidence: Nullable<Confidence>,
    /// Replicates in the estimate: all complete ones.
    replicates: AtLeastOne,
    /// Blocks in the estimate.
    blocks: AtLeastOne,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct SideBySide {
    /// Share of its wall time that the longer of the two launches ran alone,
    /// after the other launch had ended: the median over all pairs.
    alone: f64,
    /// The estimate on the same metric in turns, which the verdict was checked
    /// against; absent if it was not raced.
    #[serde(default)]
    in_turns: Optional<OwnLink>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Control {
    /// The true change is 0.
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`, at the interim analysis that ended the
    /// race; null if `ci` is null.
    confidence: Nullable<Confidence>,
    /// Whether the two copies differ significantly, corrected for all controls
    /// of the run. If any control differs, every verdict of the run is
    /// provisional.
    separated: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Hosts {
    /// Whether the verdict is about hosts like these (with six or more hosts),
    /// or only about these hosts.
    like_these: bool,
    /// Prediction interval of the effect on the next host; null if the verdict
    /// is only about these hosts, or if they show no spread.
    next_host: Nullable<Interval>,
    /// Cochran's Q of the hosts' effects. Q, `i_squared`, `p_differ` and
    /// `host_sd` are null if one of the effects has no standard error.
    q: Nullable<Amount>,
    /// The share of Q that exceeds the errors of measurement.
    i_squared: Nullable<Share>,
    /// The p-value of equal effects on all hosts, by Welch's test.
    p_differ: Nullable<Share>,
    /// The standard deviation of the true effects from host to host, as a
    /// relative change.
    host_sd: Nullable<Amount>,
    /// Number of further hosts that would settle an open verdict if the
    /// estimate does not change; null if the verdict is not open.
    hosts_to_settle: Nullable<u64>,
    /// The numbers of the parts that the run lacks.
    missing: Vec<u64>,
    /// The processor models of the hosts; absent unless there are several.
    #[serde(default)]
    kinds: Optional<Vec<HostKind>>,
    /// The hosts, in the order of their parts.
    hosts: Vec<HostRow>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostKind {
    /// The model.
    cpu: String,
    /// Number of hosts with this model.
    hosts: AtLeastOne,
    /// The mean of their effects.
    change: Change,
    /// Its interval; the intervals of all models hold simultaneously at this
    /// level. null if the hosts show no spread.
    ci: Nullable<Interval>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostRow {
    /// The numbers of the parts that the host raced.
    parts: Vec<u64>,
    /// Its processor model; absent if the host does not report it.
    #[serde(default)]
    cpu: Optional<String>,
    /// The effect on this host alone.
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`; null if `ci` is null.
    confidence: Nullable<Confidence>,
    /// Replicates in the estimate.
    replicates: AtLeastOne,
    /// Whether the estimate over hosts excludes this host, because its control
    /// differs from the baseline.
    left_out: bool,
    /// The baseline against its second copy on this host, at the level that all
    /// hosts share; absent without a control, or with fewer than six
    /// replicates.
    #[serde(default)]
    control: Optional<HostControl>,
    /// The limits of its container; absent if there are none.
    #[serde(default)]
    limits: Optional<HostLimits>,
    /// What disturbed measurements on the host when its part began; absent if
    /// nothing did, or if deadheat did not check.
    #[serde(default)]
    disturbances: Optional<Vec<Disturbance>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostControl {
    /// The true change is 0.
    change: Change,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`, the same for all hosts; null if `ci` is
    /// null.
    confidence: Nullable<Confidence>,
    /// Whether the two copies differ significantly on this host.
    separated: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostLimits {
    /// CPU time, in cores; absent if it is not limited.
    #[serde(default)]
    cores: Optional<Amount>,
    /// Bytes of memory; absent if it is not limited.
    #[serde(default)]
    memory: Optional<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Disturbance {
    /// Its short name, as in `deadheat doctor`.
    name: String,
    /// What was found about it.
    found: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Spreads {
    /// From one neutral link to the next; null if placement was not randomised,
    /// or cannot be separated from the rest.
    placement: Nullable<Amount>,
    /// From one process to the next; null if it cannot be separated from the
    /// placement, or if every block is a separate process.
    process: Nullable<Amount>,
    /// From block to block within a process; if every block is a separate
    /// process, from block to block and process to process together.
    block: Amount,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Waiting {
    /// Its share of the baseline's wall time.
    baseline: Share,
    /// Its share of the candidate's wall time; null if the contender ran alone.
    candidate: Nullable<Share>,
    /// Whether it is excluded from every sample of this answer.
    taken_out: bool,
    /// The change with it included; absent if it was not excluded.
    #[serde(default)]
    change: Optional<Change>,
    /// The interval with it included; null if the data do not allow one.
    #[serde(default)]
    ci: Optional<Nullable<Interval>>,
    /// Two-sided confidence of `ci`; null if `ci` is null.
    #[serde(default)]
    confidence: Optional<Nullable<Confidence>>,
}

/// One metric on the same pairs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Metric {
    metric: String,
    unit: Unit,
    /// The better direction; absent if less is better. Without a known better
    /// direction, the metric has no verdict.
    #[serde(default)]
    better: Optional<Better>,
    baseline: Side,
    /// null if the contender was measured alone.
    candidate: Nullable<Side>,
    /// null if it cannot be computed.
    change: Nullable<Change>,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// The verdict that the race would have at this moment if this metric were
    /// the judged one; null without an interval. It is not corrected for the
    /// number of metrics.
    verdict: Nullable<Verdict>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Better {
    More,
    Unknown,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Gate {
    rule: Rule,
    /// Whether the run fails for it. If not, it is excused, or the evidence is
    /// not sufficient.
    fails: bool,
    /// The missing evidence: `suite-level` if the slowdown is not significant
    /// after correction for all comparisons of the gate, `second-race` if a
    /// second race did not confirm the first. Absent if no evidence is missing.
    #[serde(default)]
    unproven: Optional<Unproven>,
    /// Why it is excused.
    #[serde(default)]
    reason: Optional<String>,
    /// The last day of the excuse; absent if it has no end.
    #[serde(default)]
    until: Optional<Day>,
}

/// The evidence that is missing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum Unproven {
    SuiteLevel,
    SecondRace,
}

/// The second race of a benchmark that broke a rule: a race of its own plan,
/// seed, processes and placements.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Confirmation {
    /// Whether the second race breaks the same rule as the first race, in the
    /// same direction.
    confirmed: bool,
    /// null if the data allow only an estimate.
    verdict: Nullable<Verdict>,
    /// null if it cannot be computed.
    change: Nullable<Change>,
    /// null if the data do not allow an interval.
    ci: Nullable<Interval>,
    /// Its accepted probability of a wrong verdict, which all benchmarks that
    /// were raced again share.
    alpha: Alpha,
}

/// A rule by its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    Slower,
    Inconclusive,
    NotEquivalent,
}

/// A day, such as `2026-12-31`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("format" = "date"))]
pub struct Day(String);

/// What was observed about the processes of a contender.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Process {
    /// The file that they executed last: `as-started`, or the path of another
    /// file. null if this could not be observed in all of them.
    image: Nullable<String>,
    /// Whether the kernel randomised their addresses. null if this could not be
    /// observed, or differed between processes.
    addresses: Nullable<AddressSpace>,
    /// Whether all observed threads were restricted to the cores that deadheat
    /// gave to the process. null if this could not be observed.
    keeps_cores: Nullable<bool>,
    /// Whether the environment variables that deadheat sets reached them. null
    /// if this could not be observed.
    padded: Nullable<bool>,
    /// Environment variables that move memory, change libraries or set a number
    /// of threads, as `NAME=value`; absent if there are none.
    #[serde(default)]
    variables: Optional<Vec<String>>,
}

/// Whether the kernel drew the addresses of a process.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum AddressSpace {
    Random,
    Fixed,
}
