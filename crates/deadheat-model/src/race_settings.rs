//! The settings of a race: one table, from which the options of every command line, the keys of
//! `deadheat.toml` and the design of the plan follow.

use std::time::Duration;

use crate::metric::Metric;
use crate::setting_values::{
    Arrangement, FailOn, Pinning, Placement, SettingValue, ShareRange, TimeLimit, Waiting,
};
use crate::shard::{Shard, ShardBy, ShardNumber};
use crate::workload::Values;

/// A command line on which settings are written as options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// `deadheat run`.
    Run,
    /// `deadheat bench`, `deadheat rev`, `deadheat compare`, and `cargo deadheat` behind `--`.
    Bench,
    /// A bench target, behind `cargo bench --`.
    Harness,
    /// `deadheat calibrate`.
    Calibrate,
    /// `deadheat analyze` and `deadheat report`, which judge what was recorded.
    Recording,
    /// Every subcommand that answers, beside the front of its race.
    Answer,
}

impl Front {
    /// All of them, in the order declared.
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
    /// None: it is there or it is not. Where a file may say it, `=false` behind it says otherwise.
    Flag,
    /// A share in a range, as `1%` or `0.01`.
    Share(&'static ShareRange),
    /// A whole number from 1 on. A command line takes 0 as well and leaves it to the plan.
    Count,
    /// Any whole number.
    Number,
    /// A time, as `30s`; in a file also a number of seconds.
    Time,
    /// A text that its parser understands; what to write in a file.
    Text(&'static str),
    /// Verdicts that fail a run, separated by commas; several options add up.
    Verdicts,
}

/// Where in `deadheat.toml` a setting may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope {
    /// At its top, for all benchmarks.
    File,
    /// There, and in `[[benchmark]]`, for some.
    Benchmarks,
}

/// The help of a setting on some fronts.
#[derive(Clone, Copy, Debug)]
pub struct FrontHelp {
    fronts: &'static [Front],
    /// The effect of the setting, in a sentence without its full stop.
    help: &'static str,
    /// The value that counts where none is written; empty where the text tells, or there is none.
    default: &'static str,
}

const fn help(fronts: &'static [Front], help: &'static str, default: &'static str) -> FrontHelp {
    FrontHelp {
        fronts,
        help,
        default,
    }
}

/// A row of the table: a setting by its name, its values and the fronts that take it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The long option without its dashes, and the key in `deadheat.toml`.
    pub name: &'static str,
    /// The word that stands for the value in help texts; empty for a flag.
    pub value: &'static str,
    /// The values it takes.
    pub kind: ValueKind,
    /// Where `deadheat.toml` may hold it, if it may.
    pub in_file: Option<FileScope>,
    helps: &'static [FrontHelp],
    set: fn(&mut RaceSettings, &str) -> Result<(), String>,
}

impl Setting {
    /// The settings that a front takes, in the order of the table.
    pub fn of(front: Front) -> impl Iterator<Item = &'static Setting> {
        let takes = move |setting: &&Setting| setting.help_on(front).is_some();
        SETTINGS.iter().filter(takes)
    }

    /// The settings that may stand in `deadheat.toml`: in `[[benchmark]]`, or at its top.
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

    /// Returns its help on a front with the default behind it; empty where the front lacks it.
    pub fn help(&self, front: Front) -> String {
        match self.help_on(front) {
            None => String::new(),
            Some(FrontHelp {
                help, default: "", ..
            }) => (*help).to_owned(),
            Some(FrontHelp { help, default, .. }) => format!("{help} [default: {default}]"),
        }
    }

    /// Returns true for a flag that a command line can take back, since a file may say it.
    pub fn can_be_denied(&self) -> bool {
        matches!(self.kind, ValueKind::Flag) && self.in_file.is_some()
    }

    /// Reads a value as it was typed; `true` for a flag. The error is a sentence for whoever typed
    /// it, without the name of the setting.
    pub fn set(&self, settings: &mut RaceSettings, text: &str) -> Result<(), String> {
        if let ValueKind::Share(range) = self.kind {
            range.check_text(text)?;
        }
        (self.set)(settings, text)
    }
}

/// Makes the struct and the table from one list, so that no setting is in one of them alone.
macro_rules! settings {
    ($($(#[$doc:meta])* $field:ident: $type:ty { $($row:tt)* })*) => {
        /// The settings that a user gives a race, on a command line or in `deadheat.toml`. A
        /// setting that is `None` is not given.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct RaceSettings {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl RaceSettings {
            /// Returns these settings and, where they say nothing, what others say.
            pub fn or(self, others: &Self) -> Self {
                Self { $($field: self.$field.or_else(|| others.$field.clone()),)* }
            }

            /// Returns these settings without those that others decide.
            pub fn without(self, others: &Self) -> Self {
                Self { $($field: self.$field.filter(|_| others.$field.is_none()),)* }
            }
        }

        /// Every setting, in the order that help texts tell them.
        const SETTINGS: &[Setting] = &[
            $(Setting {
                set: |settings, text| SettingValue::add(&mut settings.$field, text),
                $($row)*
            },)*
        ];
    };
}

settings! {
    /// Smallest relative change worth acting on; 0.01 is 1 %.
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
                "Smallest change worth acting on, for recordings (a run carries its own)",
                "1%",
            ),
        ],
    }
    /// Chance of any wrong verdict that is accepted.
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
    /// The metric judged.
    metric: Metric {
        name: "metric",
        value: "METRIC",
        kind: ValueKind::Text("write the name of a metric, as \"wall\" or \"cpu\""),
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
            "Count instructions by callgrind, and judge them: exact, fifty times slower, and without times",
            "",
        )],
    }
    /// The quantile of single iterations that is judged in place of their centre; 0.99 is the
    /// 99 % quantile.
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
    /// Replicates of each benchmark at most.
    max_replicates: u32 {
        name: "max-replicates",
        value: "N",
        kind: ValueKind::Count,
        in_file: Some(FileScope::File),
        helps: &[
            help(
                &[Front::Run],
                "Limit of replicates; with --resume, how many more [default: as many as fit into 5 s, \
                 from 40 to 200]",
                "",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Limit of replicates of each benchmark, each in fresh processes [default: as many as \
                 fit into 5 s, from 40 to 200]",
                "",
            ),
        ],
    }
    /// Blocks in a replicate.
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
                 provisional when the two seem to differ",
                "",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Race each baseline against a second copy of itself as well; verdicts are \
                 provisional when the two seem to differ",
                "",
            ),
        ],
    }
    /// No block starts after this much time: of the run, or of a benchmark.
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
    /// The least duration of a sample, where not only its clock decides.
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
    /// The most time that a launch of a command may take, or a single sample of a function.
    timeout: TimeLimit {
        name: "timeout",
        value: "TIME",
        kind: ValueKind::Time,
        in_file: None,
        helps: &[
            help(&[Front::Run], "Kill a launch or hook that takes longer than this, and fail", ""),
            help(
                &[Front::Bench, Front::Harness],
                "Time limit of a single sample, or 'none': kill what takes longer",
                "60s",
            ),
        ],
    }
    /// Cores of the contenders.
    pin: Pinning {
        name: "pin",
        value: "CORES",
        kind: ValueKind::Text("write cores, as \"2,4-6\", or \"none\" or \"auto\""),
        in_file: None,
        helps: &[
            help(
                &[Front::Run],
                "Cores of the commands: none, auto (one core, deadheat elsewhere) or a list",
                "none",
            ),
            help(
                &[Front::Bench, Front::Harness],
                "Cores of the programs: auto (a random core for each replicate), none or a list",
                "auto",
            ),
            help(
                &[Front::Calibrate],
                "Cores of what races: none, auto or a list [default: as each kind of race has it]",
                "",
            ),
        ],
    }
    /// Which links are raced. The plan does not say: whether there are neutral ones turns out when
    /// the race begins.
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
    /// How the contenders of a block share the machine. The plan says what a pilot found.
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
    /// The source of every random choice. A front draws one where nobody says.
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
    /// The part of the race that is raced here, where it is spread over several machines.
    shard: ShardNumber {
        name: "shard",
        value: "I/N",
        kind: ValueKind::Text("write the number of the part and how many there are, as \"2/4\""),
        in_file: None,
        helps: &[help(
            &[Front::Run, Front::Bench],
            "Race the I-th of N parts of this race, for 'deadheat merge'; auto takes the numbers from \
             the scheduler that started the job",
            "",
        )],
    }
    /// The division of the race among its parts.
    shard_by: ShardBy {
        name: "shard-by",
        value: "WHAT",
        kind: ValueKind::Text("write \"host\" or \"benchmark\""),
        in_file: None,
        helps: &[help(
            &[Front::Run, Front::Bench],
            "How parts divide the race: host (each races everything, with its share of the \
             replicates) or benchmark (each benchmark on one part)",
            "host",
        )],
    }
    /// True if benchmarks that break a rule are raced once more, and break it only if the second
    /// race agrees. The plan does not say: the second race has one of its own.
    confirm: bool {
        name: "confirm",
        value: "",
        kind: ValueKind::Flag,
        in_file: Some(FileScope::File),
        helps: &[help(
            &[Front::Run, Front::Bench, Front::Harness],
            "Race again what breaks a rule of --fail-on, and fail only if the second race agrees",
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
                "Exit with 1 on slower, inconclusive or not-equivalent",
                "",
            ),
        ],
    }
    /// True if a gate that could judge no benchmark passes.
    allow_unjudged: bool {
        name: "allow-unjudged",
        value: "",
        kind: ValueKind::Flag,
        in_file: Some(FileScope::File),
        helps: &[help(
            &[Front::Answer, Front::Harness],
            "Let a --fail-on pass that could judge no benchmark; it exits with 2 otherwise",
            "",
        )],
    }
}

/// The settings by which a race is run and judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Smallest relative change worth acting on; 0.01 is 1 %.
    pub margin: f64,
    /// Chance of any wrong verdict that the user accepts.
    pub alpha: f64,
    /// When the verdict may be called.
    pub looks: Looks,
    /// Blocks in a replicate, at least 1, unless a benchmark has a number of
    /// its own. For whole commands a block is a replicate of its own.
    pub blocks_per_replicate: u32,
    /// Discarded launches of each contender before the first block.
    pub warmup: u32,
    /// No new block starts after this much time.
    pub budget: Option<Duration>,
    /// The numbers read from what commands print.
    pub values: Values,
    /// The metric the verdict speaks of.
    pub judged: Metric,
    /// True if instructions are counted by callgrind, and nothing else is measured.
    pub callgrind: bool,
    /// The quantile of single iterations that it speaks of; `None` for their centre.
    pub quantile: Option<f64>,
    /// Where the contenders may run.
    pub pinning: Pinning,
    /// The treatment of the time they wait for a core.
    pub waiting: Waiting,
    /// The part of the race that is raced; `None` where that is all of it.
    pub shard: Option<Shard>,
    /// True if the benchmarks race in rounds: one replicate of each that is still open, then the
    /// next of each.
    pub rounds: bool,
}

/// The looks at the data and the error each may spend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    /// Numbers of complete replicates, rising; the last ends the race.
    pub at: Vec<u32>,
    /// Two-sided nominal level at each look.
    pub levels: Vec<f64>,
    /// Share of α each look spends, for the adjusted p-value; sums to 1.
    pub weights: Vec<f64>,
}

impl Looks {
    /// The largest number of replicates.
    pub fn max_replicates(&self) -> u32 {
        self.at.last().copied().unwrap_or(0)
    }

    /// Returns true if they rise from a replicate on, each with a level and a weight.
    pub(crate) fn are_well_formed(&self) -> bool {
        let rising = self.at.windows(2).all(|pair| pair[0] < pair[1]);
        let complete = self.levels.len() == self.at.len() && self.weights.len() == self.at.len();
        self.max_replicates() > 0 && rising && complete
    }
}

impl Default for Design {
    /// The design of a race of commands of which nobody says anything, without a look.
    fn default() -> Self {
        RaceSettings::default().design(Front::Run, Looks::default())
    }
}

impl RaceSettings {
    /// Replicates of each benchmark at most, where nobody says and no pilot finds that more cost
    /// little.
    pub const UNSAID_REPLICATES: u32 = 40;

    /// Smallest relative change worth acting on, where a benchmark has none of its own.
    pub fn margin(&self) -> f64 {
        self.margin.unwrap_or(0.01)
    }

    /// The part of the race that is raced; `None` where that is all of it, or nobody has found out
    /// yet which.
    pub fn part(&self) -> Option<Shard> {
        match self.shard? {
            ShardNumber::Auto => None,
            ShardNumber::Of(index, count) => {
                let by = self.shard_by.unwrap_or_default();
                Some(Shard::of(index, count, by, self.max_replicates()))
            }
        }
    }

    /// The replicates that each benchmark has, where its parts divide them and so no look can end
    /// the race.
    pub fn replicates_of_part(&self) -> Option<u32> {
        self.part().map(|part| part.replicates).filter(|of| *of > 0)
    }

    /// Accepted chance of a wrong verdict, likewise.
    pub fn alpha(&self) -> f64 {
        self.alpha.unwrap_or(0.05)
    }

    /// The metric judged, likewise.
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

    /// Replicates of each benchmark at most, as far as is known before its pilot.
    pub fn max_replicates(&self) -> u32 {
        self.max_replicates.unwrap_or(Self::UNSAID_REPLICATES)
    }

    /// Returns true if each baseline races a second copy of itself as well.
    pub fn control(&self) -> bool {
        self.control.unwrap_or(false)
    }

    /// Returns true if what breaks a rule is raced once more.
    pub fn confirm(&self) -> bool {
        self.confirm.unwrap_or(false)
    }

    /// The source of every random choice; 0 where none was drawn.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The most time that a launch or sample may take; as long as it likes when `None`. A benchmark
    /// that hangs must not hang a night's worth of CI, a command is stopped by whoever started it.
    pub fn timeout(&self, front: Front) -> Option<Duration> {
        let default = match front {
            Front::Bench | Front::Harness => Some(Duration::from_secs(60)),
            _ => None,
        };
        self.timeout.map_or(default, |limit| limit.0)
    }

    /// Cores of the contenders. Commands may have several threads, so they keep the affinity that
    /// deadheat was started with.
    pub fn pinning(&self, front: Front) -> Pinning {
        let default = match front {
            Front::Bench | Front::Harness => Pinning::Auto,
            _ => Pinning::Inherit,
        };
        self.pin.clone().unwrap_or(default)
    }

    /// The treatment of the time spent waiting for a core.
    pub fn waiting(&self) -> Waiting {
        self.waiting.unwrap_or(Waiting::Auto)
    }

    /// The design of a race that is looked at so.
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
