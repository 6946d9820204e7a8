//! The settings of a race, in one table that defines the options of every command line, the keys of
//! `deadheat.toml` and the design of the plan.

use std::time::Duration;

use crate::metric::Metric;
use crate::setting_values::{
    Arrangement, FailOn, Pinning, Placement, SettingValue, ShareRange, TimeLimit, Waiting,
};
use crate::shard::{Shard, ShardBy, ShardNumber};
use crate::workload::Values;

/// A command line that takes settings as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// `deadheat run`.
    Run,
    /// `deadheat bench`, `deadheat rev`, `deadheat compare`, and `cargo deadheat` after `--`.
    Bench,
    /// A bench target, after `cargo bench --`.
    Harness,
    /// `deadheat calibrate`.
    Calibrate,
    /// `deadheat analyze` and `deadheat report`, which judge recorded samples.
    Recording,
    /// Every subcommand that prints results. It takes the settings of the gate, in addition to
    /// those of its race.
    Answer,
}

impl Front {
    /// All command lines that take settings, in the order declared.
    pub const ALL: [Self; 6] = [
        Self::Run,
        Self::Bench,
        Self::Harness,
        Self::Calibrate,
        Self::Recording,
        Self::Answer,
    ];
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// No value: the flag is present or absent. If `deadheat.toml` may set the flag, `=false` on
    /// the command line takes it back.
    Flag,
    /// A share in a range, such as `1%` or `0.01`.
    Share(&'static ShareRange),
    /// A whole number, at least 1. Command lines also take 0, which the plan rejects later.
    Count,
    /// Any whole number.
    Number,
    /// A time, such as `30s`; in `deadheat.toml` also a number of seconds.
    Time,
    /// A text that the setting's parser reads. The string says what to write in `deadheat.toml`.
    Text(&'static str),
    /// Verdicts that fail a run, separated by commas; several options add up.
    Verdicts,
}

/// The places in `deadheat.toml` where a setting may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope {
    /// At the top level, for all benchmarks.
    File,
    /// At the top level, and in `[[benchmark]]` for some benchmarks.
    Benchmarks,
}

/// The help text of a setting on some of the command lines.
#[derive(Clone, Copy, Debug)]
pub struct FrontHelp {
    fronts: &'static [Front],
    /// The effect of the setting, in a sentence without its full stop.
    help: &'static str,
    /// The default value; empty if the help text states it, or if there is none.
    default: &'static str,
}

const fn help(fronts: &'static [Front], help: &'static str, default: &'static str) -> FrontHelp {
    FrontHelp {
        fronts,
        help,
        default,
    }
}

/// One row of the table of settings: the setting's name, its values and the command lines that take
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The long option without its dashes, and the key in `deadheat.toml`.
    pub name: &'static str,
    /// The placeholder for the value in help texts; empty for a flag.
    pub value: &'static str,
    /// The values that the setting takes.
    pub kind: ValueKind,
    /// The places in `deadheat.toml` where the setting may occur; `None` if it may not.
    pub in_file: Option<FileScope>,
    helps: &'static [FrontHelp],
    set: fn(&mut RaceSettings, &str) -> Result<(), String>,
}

impl Setting {
    /// Returns the settings that the command line `front` takes as options, in the order of the
    /// help texts.
    pub fn of(front: Front) -> impl Iterator<Item = &'static Setting> {
        let takes = move |setting: &&Setting| setting.help_on(front).is_some();
        SETTINGS.iter().filter(takes)
    }

    /// Returns the settings that `deadheat.toml` may contain: in `[[benchmark]]` if `of_benchmarks`
    /// is true, else at the top level.
    pub fn in_file(of_benchmarks: bool) -> impl Iterator<Item = &'static Setting> {
        SETTINGS
            .iter()
            .filter(move |setting| match setting.in_file {
                Some(FileScope::Benchmarks) => true,
                Some(FileScope::File) => !of_benchmarks,
                None => false,
            })
    }

    fn help_on(&self, front: Front) -> Option<&'static FrontHelp> {
        let mut helps = self.helps.iter();
        helps.find(|help| help.fronts.contains(&front))
    }

    /// Returns the help text of the setting on a command line, followed by the default; empty if
    /// that command line does not take the setting.
    pub fn help(&self, front: Front) -> String {
        match self.help_on(front) {
            None => String::new(),
            Some(FrontHelp {
                help, default: "", ..
            }) => (*help).to_owned(),
            Some(FrontHelp { help, default, .. }) => format!("{help} [default: {default}]"),
        }
    }

    /// Returns true for a flag that `=false` on the command line can take back, because
    /// `deadheat.toml` may set it.
    pub fn can_be_denied(&self) -> bool {
        matches!(self.kind, ValueKind::Flag) && self.in_file.is_some()
    }

    /// Parses a typed value into `settings`; a flag takes `true`. The error is a sentence for the
    /// user, without the name of the setting.
    pub fn set(&self, settings: &mut RaceSettings, text: &str) -> Result<(), String> {
        if let ValueKind::Share(range) = self.kind {
            range.check_text(text)?;
        }
        (self.set)(settings, text)
    }
}

/// Generates the struct and the table from one list, so that no setting is missing from either.
macro_rules! settings {
    ($($(#[$doc:meta])* $field:ident: $type:ty { $($row:tt)* })*) => {
        /// The settings that the user gives for a race, on a command line or in `deadheat.toml`.
        /// `None` means that the user did not give the setting.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct RaceSettings {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl RaceSettings {
            /// Returns these settings. Settings that are `None` get the value that they have in
            /// `others`.
            pub fn or(self, others: &Self) -> Self {
                Self { $($field: self.$field.or_else(|| others.$field.clone()),)* }
            }

            /// Returns these settings without those that `others` has as well.
            pub fn without(self, others: &Self) -> Self {
                Self { $($field: self.$field.filter(|_| others.$field.is_none()),)* }
            }
        }

        /// Every setting, in the order of the help texts.
        const SETTINGS: &[Setting] = &[
            $(Setting {
                set: |settings, text| SettingValue::add(&mut settings.$field, text),
                $($row)*
            },)*
        ];
    };
}

settings! {
    /// Smallest relative change worth acting on; 0.01 is 1%.
    margin: f64 {
        name: "margin",
        value: "CHANGE",
        kind: ValueKind::Share(&ShareRange::MARGIN),
        in_file: Some(FileScope::Benchmarks),
        helps: &[
            help(
                &[Front::Run, Front::Bench, Front::Harness, Front::Calibrate],
                "Smallest change worth acting on",
                "1%",
            ),
            help(
                &[Front::Recording],
                "Smallest change worth acting on, for recordings (a run file contains its own)",
                "1%",
            ),
        ],
    }
    /// Accepted probability of any wrong verdict.
    alpha: f64 {
        name: "alpha",
        value: "P",
        kind: ValueKind::Share(&ShareRange::ALPHA),
        in_file: Some(FileScope::Benchmarks),
        helps: &[
            help(
                &[Front::Run, Front::Bench, Front::Harness, Front::Calibrate],
                "Accepted chance of a wrong verdict",
                "0.05",
            ),
            help(
                &[Front::Recording],
                "Accepted chance of a wrong verdict, for recordings",
                "0.05",
            ),
        ],
    }
    /// The judged metric.
    metric: Metric {
        name: "metric",
        value: "METRIC",
        kind: ValueKind::Text("write the name of a metric, such as \"wall\" or \"cpu\""),
        in_file: Some(FileScope::Benchmarks),
        helps: &[
            help(
                &[Front::Run],
                "Metric to judge: wall (side by side: cpu), cpu, user, system, peak-rss, \
                 minor-faults, instructions, ...",
                "wall",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Metric to judge: wall (side by side: cpu), cpu, ... or one that the programs \
                 measure themselves",
                "wall",
            ),
            help(&[Front::Recording], "Metric to judge, for recordings", "wall"),
        ],
    }
    /// True if instructions are counted by callgrind, and nothing else is measured.
    callgrind: bool {
        name: "callgrind",
        value: "",
        kind: ValueKind::Flag,
        in_file: None,
        helps: &[help(
            &[Front::Run, Front::Bench],
            "Count instructions with callgrind, and judge them: exact, but fifty times slower and \
             without times",
            "",
        )],
    }
    /// The quantile of single iterations that is judged instead of their centre; 0.99 is the 99%
    /// quantile.
    quantile: f64 {
        name: "quantile",
        value: "SHARE",
        kind: ValueKind::Share(&ShareRange::QUANTILE),
        in_file: Some(FileScope::Benchmarks),
        helps: &[help(
            &[Front::Run, Front::Bench, Front::Harness],
            "Judge this quantile of single iterations, such as 99%, instead of their typical time",
            "",
        )],
    }
    /// Largest number of replicates of each benchmark.
    max_replicates: u32 {
        name: "max-replicates",
        value: "N",
        kind: ValueKind::Count,
        in_file: Some(FileScope::File),
        helps: &[
            help(
                &[Front::Run],
                "Maximum number of replicates; with --resume, of further ones [default: as many as \
                 fit into 5 s, from 40 to 200]",
                "",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Maximum number of replicates of each benchmark; each replicate starts new \
                 processes [default: as many as fit into 5 s, from 40 to 200]",
                "",
            ),
        ],
    }
    /// Number of blocks in a replicate.
    blocks: u32 {
        name: "blocks",
        value: "N",
        kind: ValueKind::Count,
        in_file: None,
        helps: &[
            help(&[Front::Run], "Blocks in a replicate", "1"),
            help(
                &[Front::Bench, Front::Harness],
                "Blocks in a replicate [default: found by a calibration run]",
                "",
            ),
        ],
    }
    /// True if each baseline races a second copy of itself as well.
    control: bool {
        name: "control",
        value: "",
        kind: ValueKind::Flag,
        in_file: None,
        helps: &[
            help(
                &[Front::Run],
                "Race the baseline against a second copy of itself as well; verdicts are \
                 provisional if the two copies seem to differ",
                "",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Race each baseline against a second copy of itself as well; verdicts are \
                 provisional if the two copies seem to differ",
                "",
            ),
        ],
    }
    /// Time after which the run, or a benchmark, starts no further block.
    budget: Duration {
        name: "budget",
        value: "TIME",
        kind: ValueKind::Time,
        in_file: Some(FileScope::Benchmarks),
        helps: &[
            help(
                &[Front::Run, Front::Bench, Front::Harness],
                "Start no block after this much time",
                "",
            ),
            help(
                &[Front::Calibrate],
                "Start no race that would end after this time [default: 5 min, quick 30 s]",
                "",
            ),
        ],
    }
    /// Shortest duration of a sample, if the clock alone does not require a longer one.
    sample_time: Duration {
        name: "sample-time",
        value: "TIME",
        kind: ValueKind::Time,
        in_file: None,
        helps: &[help(
            &[Front::Bench],
            "Shortest duration of a sample [default: found by a calibration run]",
            "",
        )],
    }
    /// Time limit of a launch of a command, or of a single sample of a function.
    timeout: TimeLimit {
        name: "timeout",
        value: "TIME",
        kind: ValueKind::Time,
        in_file: None,
        helps: &[
            help(&[Front::Run], "Kill a launch or hook that takes longer than this, and fail", ""),
            help(
                &[Front::Bench, Front::Harness],
                "Kill a sample that takes longer than this; 'none' for no limit",
                "60s",
            ),
        ],
    }
    /// Cores that the contenders may run on.
    pin: Pinning {
        name: "pin",
        value: "CORES",
        kind: ValueKind::Text("write cores, such as \"2,4-6\", or \"none\" or \"auto\""),
        in_file: None,
        helps: &[
            help(
                &[Front::Run],
                "Cores of the commands: none, auto (one core, which deadheat avoids) or a list",
                "none",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Cores of the programs: auto (a random core for each replicate), none or a list",
                "auto",
            ),
            help(
                &[Front::Calibrate],
                "Cores of the racing programs: none, auto or a list [default: that of each kind of \
                 race]",
                "",
            ),
        ],
    }
    /// The links that are raced. The plan does not contain this setting, because only the start of
    /// the race shows if neutral links can be made.
    placement: Placement {
        name: "placement",
        value: "WHICH",
        kind: ValueKind::Text("write \"neutral\", \"independent\" or \"own\""),
        in_file: None,
        helps: &[
            help(
                &[Front::Run],
                "Code layout of commands that 'deadheat link' linked: neutral (a new one for each \
                 replicate, the same order of functions in both builds), independent (an order for \
                 each build) or own (as linked)",
                "neutral",
            ),
            help(
                &[Front::Bench],
                "Code layout of programs that 'deadheat link' linked: neutral (a new one for each \
                 replicate, the same order of functions in both builds), independent (an order for \
                 each build) or own (as linked)",
                "neutral",
            ),
            help(
                &[Front::Harness],
                "Code layout: neutral (`cargo deadheat` shuffles the code for each process) or own (as \
                 linked) [default: neutral if possible]",
                "",
            ),
        ],
    }
    /// The arrangement of a block's contenders. The plan does not contain this setting, but the
    /// arrangement that the pilot (a short trial before the race) chose.
    arrangement: Arrangement {
        name: "arrangement",
        value: "HOW",
        kind: ValueKind::Text("write \"auto\", \"turns\" or \"side-by-side\""),
        in_file: Some(FileScope::File),
        helps: &[
            help(
                &[Front::Run],
                "How commands race: turns (one after the other), side-by-side (at the same time on \
                 one core, judged by CPU time) or auto (side by side if trial launches show that it is fair)",
                "auto",
            ),
            help(
                &[Front::Bench],
                "How launches of executables race: turns (one after the other), side-by-side (at the same time on \
                 one core, judged by CPU time) or auto (side by side if trial launches show that it is fair)",
                "auto",
            ),
        ],
    }
    /// The treatment of the time spent waiting for a core.
    waiting: Waiting {
        name: "waiting",
        value: "WHAT",
        kind: ValueKind::Text("write \"auto\" or \"keep\""),
        in_file: Some(FileScope::File),
        helps: &[help(
            &[Front::Run, Front::Bench, Front::Harness, Front::Calibrate],
            "Scheduling delay in wall time: auto (excluded for programs with one thread) or keep",
            "auto",
        )],
    }
    /// The seed of all random choices. If the user gives no seed, deadheat draws one.
    seed: u64 {
        name: "seed",
        value: "N",
        kind: ValueKind::Number,
        in_file: None,
        helps: &[help(
            &[Front::Run, Front::Bench, Front::Harness, Front::Calibrate],
            "Seed of every random choice [default: random, and recorded]",
            "",
        )],
    }
    /// The part of the race that this machine runs, if the race is divided among several machines.
    shard: ShardNumber {
        name: "shard",
        value: "I/N",
        kind: ValueKind::Text("write the number of the part and of all parts, such as \"2/4\""),
        in_file: None,
        helps: &[help(
            &[Front::Run, Front::Bench],
            "Race the I-th of N parts of this race, for 'deadheat merge'; auto takes the numbers from \
             the scheduler that started the job",
            "",
        )],
    }
    /// The way in which the race is divided into parts.
    shard_by: ShardBy {
        name: "shard-by",
        value: "WHAT",
        kind: ValueKind::Text("write \"host\" or \"benchmark\""),
        in_file: None,
        helps: &[help(
            &[Front::Run, Front::Bench],
            "How parts divide the race: host (each part races all benchmarks, with its share of \
             the replicates) or benchmark (each benchmark races in one part)",
            "host",
        )],
    }
    /// True if benchmarks that break a rule are raced again, and fail the run only if the second
    /// race agrees. The plan does not contain this setting, because the second race has a separate
    /// plan.
    confirm: bool {
        name: "confirm",
        value: "",
        kind: ValueKind::Flag,
        in_file: Some(FileScope::File),
        helps: &[help(
            &[Front::Run, Front::Bench, Front::Harness],
            "Race a benchmark again if it breaks a rule of --fail-on, and fail only if the second \
             race agrees",
            "",
        )],
    }
    /// Verdicts that fail the run.
    fail_on: Vec<FailOn> {
        name: "fail-on",
        value: "VERDICT",
        kind: ValueKind::Verdicts,
        in_file: Some(FileScope::Benchmarks),
        helps: &[
            help(
                &[Front::Answer],
                "Exit with 1 if a verdict is one of these (comma-separated)",
                "",
            ),
            help(
                &[Front::Harness],
                "Exit with 1 on any of these, separated by commas: slower, inconclusive, not-equivalent",
                "",
            ),
        ],
    }
    /// True if a gate passes even if it could not judge any benchmark.
    allow_unjudged: bool {
        name: "allow-unjudged",
        value: "",
        kind: ValueKind::Flag,
        in_file: Some(FileScope::File),
        helps: &[help(
            &[Front::Answer, Front::Harness],
            "Pass even if --fail-on could judge no benchmark, instead of exiting with 2",
            "",
        )],
    }
}

/// The settings by which a race is run and judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Smallest relative change worth acting on; 0.01 is 1%.
    pub margin: f64,
    /// Accepted probability of any wrong verdict.
    pub alpha: f64,
    /// The looks at which the verdict may be reached.
    pub looks: Looks,
    /// Blocks in a replicate, at least 1, unless a benchmark overrides the number. For commands,
    /// every block is a replicate.
    pub blocks_per_replicate: u32,
    /// Discarded launches of each contender before the first block.
    pub warmup: u32,
    /// Time after which no new block starts.
    pub budget: Option<Duration>,
    /// The numbers that are read from the output of commands.
    pub values: Values,
    /// The judged metric.
    pub judged: Metric,
    /// True if instructions are counted by callgrind, and nothing else is measured.
    pub callgrind: bool,
    /// The judged quantile of single iterations; `None` if their centre is judged.
    pub quantile: Option<f64>,
    /// The cores that the contenders may run on.
    pub pinning: Pinning,
    /// The treatment of the time spent waiting for a core.
    pub waiting: Waiting,
    /// The part of the race that this machine runs; `None` for the whole race.
    pub shard: Option<Shard>,
    /// True if the benchmarks race in rounds: one replicate of each undecided benchmark, then the
    /// next replicate of each.
    pub rounds: bool,
}

/// The looks (interim analyses) at the data, and the error probability that each may spend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    /// Numbers of complete replicates, ascending; the race ends at the last.
    pub at: Vec<u32>,
    /// Two-sided nominal level at each look.
    pub levels: Vec<f64>,
    /// Share of α each look spends, for the adjusted p-value; sums to 1.
    pub weights: Vec<f64>,
}

impl Looks {
    /// Returns the largest number of replicates.
    pub fn max_replicates(&self) -> u32 {
        self.at.last().copied().unwrap_or(0)
    }

    /// Returns true if the looks ascend, each has a weight and a level that fit `alpha`, and the
    /// weights add up to at most 1. Without the early looks that `--min-runs` leaves out, the first
    /// look has their weights, but keeps its level, so a level may be a small part of its share.
    pub(crate) fn are_well_formed(&self, alpha: f64) -> bool {
        const ROUNDED_UP: f64 = 1.0 + 1e-9;
        const LEAST_PART: f64 = 1.0 / 64.0;
        let rising = self.at.windows(2).all(|pair| pair[0] < pair[1]);
        let complete = self.levels.len() == self.at.len() && self.weights.len() == self.at.len();
        let mut both = self.levels.iter().zip(&self.weights);
        let fits = both.all(|(level, weight)| {
            let range = alpha * weight * LEAST_PART..=alpha * ROUNDED_UP;
            *weight > 0.0 && range.contains(level)
        });
        let weights: f64 = self.weights.iter().sum();
        self.max_replicates() > 0 && rising && complete && fits && weights <= ROUNDED_UP
    }
}

impl Default for Design {
    /// Returns the design of a race of commands with default settings and without looks.
    fn default() -> Self {
        RaceSettings::default().design(Front::Run, Looks::default())
    }
}

impl RaceSettings {
    /// Default limit of replicates per benchmark, unless a pilot (a short trial before the race)
    /// finds that more replicates cost little.
    pub const UNSAID_REPLICATES: u32 = 40;

    /// Returns the smallest relative change worth acting on, for benchmarks that do not override
    /// it.
    pub fn margin(&self) -> f64 {
        self.margin.unwrap_or(0.01)
    }

    /// Returns the part of the race that this machine runs; `None` for the whole race, or if the
    /// number of the part is not known yet.
    pub fn part(&self) -> Option<Shard> {
        match self.shard? {
            ShardNumber::Auto => None,
            ShardNumber::Of(index, count) => {
                let by = self.shard_by.unwrap_or_default();
                Some(Shard::of(index, count, by, self.max_replicates()))
            }
        }
    }

    /// Returns the number of replicates of each benchmark in this machine's part, if the parts of
    /// the race divide the replicates. Interim analyses cannot end such a race early.
    pub fn replicates_of_part(&self) -> Option<u32> {
        self.part().map(|part| part.replicates).filter(|of| *of > 0)
    }

    /// Returns the accepted probability of a wrong verdict, for benchmarks that do not override it.
    pub fn alpha(&self) -> f64 {
        self.alpha.unwrap_or(0.05)
    }

    /// Returns the judged metric, for benchmarks that do not override it.
    pub fn judged(&self) -> Metric {
        let unsaid = if self.callgrind() {
            Metric::Instructions
        } else {
            Metric::Wall
        };
        self.metric.clone().unwrap_or(unsaid)
    }

    /// Returns true if instructions are counted by callgrind.
    pub fn callgrind(&self) -> bool {
        self.callgrind.unwrap_or(false)
    }

    /// Returns the largest number of replicates of each benchmark. A pilot (a short trial before
    /// the race) may raise the default.
    pub fn max_replicates(&self) -> u32 {
        self.max_replicates.unwrap_or(Self::UNSAID_REPLICATES)
    }

    /// Returns true if each baseline races a second copy of itself as well.
    pub fn control(&self) -> bool {
        self.control.unwrap_or(false)
    }

    /// Returns true if benchmarks that break a rule are raced again.
    pub fn confirm(&self) -> bool {
        self.confirm.unwrap_or(false)
    }

    /// Returns the seed of all random choices; 0 if none was drawn.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// Returns the time limit of a launch or sample; `None` for no limit. Benchmarks have a default
    /// limit, because a hanging benchmark must not block CI for a night. `deadheat run` has none,
    /// because the user who started a hanging command can stop it.
    pub fn timeout(&self, front: Front) -> Option<Duration> {
        let default = match front {
            Front::Bench | Front::Harness => Some(Duration::from_secs(60)),
            _ => None,
        };
        self.timeout.map_or(default, |limit| limit.0)
    }

    /// Returns the cores of the contenders. By default, benchmarks run on one core that deadheat
    /// chooses. Commands may have several threads, so they keep the affinity that deadheat was
    /// started with.
    pub fn pinning(&self, front: Front) -> Pinning {
        let default = match front {
            Front::Bench | Front::Harness => Pinning::Auto,
            _ => Pinning::Inherit,
        };
        self.pin.clone().unwrap_or(default)
    }

    /// Returns the treatment of the time spent waiting for a core.
    pub fn waiting(&self) -> Waiting {
        self.waiting.unwrap_or(Waiting::Auto)
    }

    /// Returns the design of a race on this command line with these looks.
    pub fn design(&self, front: Front, looks: Looks) -> Design {
        Design {
            margin: self.margin(),
            alpha: self.alpha(),
            looks,
            blocks_per_replicate: self.blocks.unwrap_or(1),
            warmup: 0,
            budget: self.budget,
            values: Values::default(),
            judged: self.judged(),
            callgrind: self.callgrind(),
            quantile: self.quantile,
            pinning: self.pinning(front),
            waiting: self.waiting(),
            shard: self.part(),
            rounds: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<RaceSettings, String> {
        let setting = SETTINGS.iter().find(|setting| setting.name == name);
        let mut settings = RaceSettings::default();
        setting.unwrap().set(&mut settings, text)?;
        Ok(settings)
    }

    #[test]
    fn the_defaults_that_are_told_are_those_that_count() {
        let unsaid = RaceSettings::default();
        for front in Front::ALL {
            let mut told = RaceSettings::default();
            for setting in Setting::of(front) {
                match setting.help_on(front).unwrap().default {
                    "" => {}
                    text => setting.set(&mut told, text).unwrap(),
                }
            }
            assert_eq!(told.margin(), unsaid.margin());
            assert_eq!(told.alpha(), unsaid.alpha());
            assert_eq!(told.judged(), unsaid.judged());
            assert_eq!(told.max_replicates(), unsaid.max_replicates());
            assert_eq!(told.timeout(front), unsaid.timeout(front), "{front:?}");
            assert_eq!(told.pinning(front), unsaid.pinning(front), "{front:?}");
            assert_eq!(
                told.placement.unwrap_or_default(),
                unsaid.placement.unwrap_or_default()
            );
            assert_eq!(told.waiting(), unsaid.waiting());
            assert_eq!(told.blocks.unwrap_or(1), 1);
        }
    }

    #[test]
    fn every_front_is_at_its_place() {
        for (place, front) in Front::ALL.into_iter().enumerate() {
            assert_eq!(front as usize, place);
        }
    }

    #[test]
    fn what_is_said_first_wins_setting_by_setting() {
        let line = RaceSettings {
            margin: Some(0.02),
            ..RaceSettings::default()
        };
        let file = RaceSettings {
            margin: Some(0.05),
            alpha: Some(0.01),
            ..RaceSettings::default()
        };
        let both = line.clone().or(&file);
        assert_eq!((both.margin, both.alpha), (Some(0.02), Some(0.01)));
        let rest = file.without(&line);
        assert_eq!((rest.margin, rest.alpha), (None, Some(0.01)));
    }

    #[test]
    fn verdicts_that_fail_a_run_add_up() {
        let setting = SETTINGS.iter().find(|setting| setting.name == "fail-on");
        let mut settings = RaceSettings::default();
        for text in ["slower,inconclusive", "not-equivalent"] {
            setting.unwrap().set(&mut settings, text).unwrap();
        }
        assert_eq!(settings.fail_on, Some(FailOn::ALL.to_vec()));
        assert!(read("fail-on", "faster").is_err());
    }
}
