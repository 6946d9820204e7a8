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
    /// What it says of itself beside its name; absent where no file told.
    #[serde(default)]
    label: Optional<String>,
    /// Threads it ran on; absent where no file told.
    #[serde(default)]
    threads: Optional<u64>,
    /// What one iteration gets done; absent when the benchmark does not say.
    #[serde(default)]
    throughput: Optional<Throughput>,
    /// The metric judged.
    metric: String,
    unit: Unit,
    /// The quantile of single iterations that the verdict, every estimate and
    /// what is typical speak of. Absent where it is their centre.
    #[serde(default)]
    quantile: Optional<f64>,
    baseline: Side,
    /// null when the contender was measured alone.
    candidate: Nullable<Side>,
    /// Smallest relative change of this benchmark worth acting on.
    margin: Margin,
    /// Chance of a wrong verdict on it that was accepted.
    alpha: Alpha,
    /// null where only an estimate is allowed.
    verdict: Nullable<Verdict>,
    /// True if a gate has rules for it and could not judge it, since it has no
    /// verdict; absent otherwise.
    #[serde(default)]
    unjudged: Optional<bool>,
    /// The rule of `--fail-on` or `deadheat.toml` that it breaks; absent when
    /// it breaks none.
    #[serde(default)]
    gate: Optional<Gate>,
    /// The second race of a benchmark that broke a rule; absent where there
    /// was none.
    #[serde(default)]
    confirmation: Optional<Confirmation>,
    /// Whether the verdict rests on one replicate, on samples that are not
    /// paired, or is otherwise of the weaker kind.
    provisional: bool,
    /// `binary`: the verdict speaks of the binaries as they were linked.
    /// `source`, the stronger claim: every replicate judged had the code of
    /// both sides placed anew by a neutral link.
    scope: Scope,
    /// True when in every replicate judged what two builds share lay at the
    /// same places in both; absent when it did not.
    #[serde(default)]
    matched: Optional<bool>,
    /// What was observed of the processes of the baseline and of the candidate
    /// in all replicates judged; absent if nothing was.
    #[serde(default)]
    #[schemars(length(min = 2, max = 2))]
    processes: Optional<Vec<Process>>,
    /// null when none can be formed.
    change: Nullable<Change>,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// The chance that `ci` holds the truth, at whichever look the race ended:
    /// what people are told. null when `ci` is.
    coverage: Nullable<Confidence>,
    /// Two-sided confidence of `ci` at the one look that ended the race; null
    /// when `ci` is.
    confidence: Nullable<Confidence>,
    /// Two-sided, at the look that ended the race.
    p_value: Nullable<Probability>,
    /// Paid for every look, every candidate and the suite.
    p_adjusted: Nullable<Probability>,
    /// Sign-flip test over replicates, which assumes only symmetry.
    p_sign_flip: Nullable<Probability>,
    /// Whether the interval leaves out zero. A dead heat may still have a
    /// direction.
    excludes_zero: bool,
    /// The relative change this design finds with 80% power.
    minimum_detectable_effect: Nullable<Amount>,
    /// Replicates the estimate rests on; of an unpaired recording the
    /// observations of both sides. null without an estimate.
    replicates: Nullable<u64>,
    /// How many more would settle an open verdict if the estimate stays where
    /// it is.
    replicates_to_settle: Nullable<u64>,
    /// The seconds these would take, at the pace of the run; absent for a
    /// recording and where nothing is open.
    #[serde(default)]
    seconds_to_settle: Optional<Amount>,
    /// Blocks the estimate rests on, 0 for an unpaired recording; null without
    /// an estimate.
    blocks: Nullable<u64>,
    /// Blocks left out: disturbed, or cut short by the harness.
    dropped_blocks: u64,
    /// The change had those been kept; absent where none was left out.
    #[serde(default)]
    change_with_dropped: Optional<Change>,
    /// Relative changes that should be zero when order does not matter; null
    /// without ABBA blocks.
    diagnostics: Nullable<Diagnostics>,
    /// Secondary figures of the judged metric: they inform, they never decide.
    /// null when it was not recorded.
    figures: Nullable<Figures>,
    /// The estimate as the user's own link placed the code, beside that of
    /// neutral links. It informs and decides nothing; absent where it was not
    /// raced.
    #[serde(default)]
    own_link: Optional<OwnLink>,
    /// The reason why launches took turns although trials were made to run them side by side: a
    /// name of `turns_because` in the schema of run files.
    #[serde(default)]
    turns_because: Optional<String>,
    /// Set if the launches of a block ran side by side on one core; absent if they took turns.
    #[serde(default)]
    side_by_side: Optional<SideBySide>,
    /// The baseline against a second copy of itself in the same blocks, which
    /// decides nothing by itself; absent without a control.
    #[serde(default)]
    control: Optional<Control>,
    /// The hosts of a run that was merged of the parts that several machines
    /// raced; absent for a run of one.
    #[serde(default)]
    hosts: Optional<Hosts>,
    /// What the effect of a block varies by: standard deviations of its parts,
    /// as relative changes. Absent for a recording, and where nothing
    /// scatters.
    #[serde(default)]
    spreads: Optional<Spreads>,
    /// The time spent waiting for a core. Absent where it was not recorded, and
    /// where another metric than wall time is judged.
    #[serde(default)]
    waiting: Optional<Waiting>,
    /// Every metric recorded, on the same pairs, the judged one included. They
    /// inform and decide nothing.
    metrics: Vec<Metric>,
    /// Doubts first, then information.
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

/// What was found.
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
    /// The baseline's robust location in logarithms, and the candidate's is
    /// that times 1 + `change`; null where zeros forbid logarithms.
    typical: Nullable<f64>,
    median: f64,
    mean: f64,
    min: f64,
    max: f64,
    /// Standard deviation; null for a single sample.
    stddev: Nullable<Amount>,
    samples: u64,
    /// Bytes or items (see `throughput`) that each thread works through per
    /// second, at the median wall time; absent when not known.
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
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`, of one look; null when that is.
    confidence: Nullable<Confidence>,
    /// Replicates it rests on, all that were complete.
    replicates: AtLeastOne,
    /// Blocks it rests on.
    blocks: AtLeastOne,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct SideBySide {
    /// Share of its wall time that the longer of the two launches ran alone, after the other one had
    /// ended: the median over all pairs.
    alone: f64,
    /// The estimate on the same metric in turns, which the verdict was held against; absent where it
    /// was not raced.
    #[serde(default)]
    in_turns: Optional<OwnLink>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Control {
    /// None in truth.
    change: Change,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`, of the look that ended the race; null
    /// when that is.
    confidence: Nullable<Confidence>,
    /// Whether the two copies are told apart, paid for by all controls of the
    /// run. Where any is, every verdict of the run is provisional.
    separated: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Hosts {
    /// Whether the verdict is about hosts like these, as that of six and more
    /// does, or of these alone.
    like_these: bool,
    /// Where the effect on the next host lies; null where these alone are
    /// spoken of, or they show no spread.
    next_host: Nullable<Interval>,
    /// Cochran's Q of the hosts' effects; null where one of them shows no
    /// error, as are the three below.
    q: Nullable<Amount>,
    /// The share of Q beyond what the errors of measurement give.
    i_squared: Nullable<Share>,
    /// The p-value of equal effects on all hosts, by Welch's test.
    p_differ: Nullable<Share>,
    /// The standard deviation of the true effects from host to host, as a
    /// relative change.
    host_sd: Nullable<Amount>,
    /// Number of further hosts that would settle an open verdict, if the
    /// estimate stays where it is; null where none is open.
    hosts_to_settle: Nullable<u64>,
    /// The numbers of the parts that the run lacks.
    missing: Vec<u64>,
    /// The models of processors that several hosts have; absent unless there
    /// are several.
    #[serde(default)]
    kinds: Optional<Vec<HostKind>>,
    /// Each host by itself, in the order of their parts.
    hosts: Vec<HostRow>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostKind {
    /// The model.
    cpu: String,
    /// Hosts that have it.
    hosts: AtLeastOne,
    /// The mean of their effects.
    change: Change,
    /// Its interval, at the level at which those of all models hold together;
    /// null when the hosts show no spread.
    ci: Nullable<Interval>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostRow {
    /// The numbers of the parts that it raced.
    parts: Vec<u64>,
    /// Its model of processor; absent where it does not say.
    #[serde(default)]
    cpu: Optional<String>,
    /// The effect it showed by itself.
    change: Change,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`; null when that is.
    confidence: Nullable<Confidence>,
    /// Replicates it rests on.
    replicates: AtLeastOne,
    /// Whether the estimate over hosts does without it, because its control is
    /// told apart.
    left_out: bool,
    /// The baseline against its second copy on this host, at the level that
    /// all hosts share; absent without one, and where it has fewer than six
    /// replicates.
    #[serde(default)]
    control: Optional<HostControl>,
    /// What its container may use; absent where nothing limits it.
    #[serde(default)]
    limits: Optional<HostLimits>,
    /// What disturbed measurements there when its part began; absent where
    /// nothing did, or nobody looked.
    #[serde(default)]
    disturbances: Optional<Vec<Disturbance>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostControl {
    /// None in truth.
    change: Change,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// Two-sided confidence of `ci`, the same for all hosts; null when that is.
    confidence: Nullable<Confidence>,
    /// Whether the two copies are told apart on this host.
    separated: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct HostLimits {
    /// Cores' worth of time; absent where nothing limits it.
    #[serde(default)]
    cores: Optional<Amount>,
    /// Bytes of memory; absent where nothing limits it.
    #[serde(default)]
    memory: Optional<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Disturbance {
    /// Its short name, as `deadheat doctor` has it.
    name: String,
    /// What was found of it.
    found: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Spreads {
    /// From one neutral link to the next; null when placement was not drawn,
    /// or not told apart from the rest.
    placement: Nullable<Amount>,
    /// From one process to the next; null when it was not told apart from the
    /// placement, or every block is a process of its own.
    process: Nullable<Amount>,
    /// From block to block within a process; where every block is a process of
    /// its own, both together.
    block: Amount,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Waiting {
    /// Its share of the baseline's wall time.
    baseline: Share,
    /// Its share of the candidate's; null when the contender ran alone.
    candidate: Nullable<Share>,
    /// Whether it is taken out of every sample that this answer speaks of.
    taken_out: bool,
    /// The change with it kept; absent where it was not taken out.
    #[serde(default)]
    change: Optional<Change>,
    /// The interval with it kept; null when the data cannot give one.
    #[serde(default)]
    ci: Optional<Nullable<Interval>>,
    /// Two-sided confidence of `ci`; null when that is.
    #[serde(default)]
    confidence: Optional<Nullable<Confidence>>,
}

/// One metric on the same pairs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Metric {
    metric: String,
    unit: Unit,
    /// Which way it improves; absent for what is the better the less there is
    /// of it. Of what improves neither way as far as anyone told there is no
    /// verdict.
    #[serde(default)]
    better: Optional<Better>,
    baseline: Side,
    /// null when the contender was measured alone.
    candidate: Nullable<Side>,
    /// null when none can be formed.
    change: Nullable<Change>,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// What the verdict would be if this metric were the judged one, at the
    /// same moment; null without an interval. It is not adjusted for there
    /// being several metrics.
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
    /// Whether the run fails for it; if not, it is excused, or the evidence is
    /// not enough.
    fails: bool,
    /// The evidence that is missing: `suite-level` where it is not slower at
    /// the level at which all comparisons of the gate keep alpha together,
    /// `second-race` where a second race did not confirm the first; absent
    /// where there is enough.
    #[serde(default)]
    unproven: Optional<Unproven>,
    /// Why it is excused.
    #[serde(default)]
    reason: Optional<String>,
    /// The last day of the excuse; absent when it has no end.
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
    /// Whether it breaks the rule as the first race did, and in the same
    /// direction.
    confirmed: bool,
    /// null where only an estimate is allowed.
    verdict: Nullable<Verdict>,
    /// null when none can be formed.
    change: Nullable<Change>,
    /// null when the data cannot give an interval.
    ci: Nullable<Interval>,
    /// The chance of a wrong verdict that it accepted, which all benchmarks
    /// that were raced again share.
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

/// A day, as `2026-12-31`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("format" = "date"))]
pub struct Day(String);

/// What was observed of the processes of a contender.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Process {
    /// The file that they executed last: `as-started`, or the path of another
    /// one. null if that could not be observed in all of them.
    image: Nullable<String>,
    /// Whether the kernel drew their addresses. null if that could not be
    /// observed, or differed.
    addresses: Nullable<AddressSpace>,
    /// Whether all threads seen might run only on the cores that the process
    /// was given. null if that could not be observed.
    keeps_cores: Nullable<bool>,
    /// Whether the variables that deadheat sets reached them. null if that
    /// could not be observed.
    padded: Nullable<bool>,
    /// Variables that move memory, change libraries or set a number of threads,
    /// as `NAME=value`; absent if there are none.
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
