//! A benchmark: its contenders, and the blocks of slots in which they race.

use std::path::Path;
use std::time::Duration;

use crate::metric::Metric;
use crate::race_settings::Looks;
use crate::workload::{Harness, Workload};

/// The name of a benchmark of commands without parameters.
pub const UNNAMED: &str = "run";

/// A named workload and the contenders that race on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Benchmark {
    /// The name shown and recorded.
    pub name: String,
    /// Parameter values filled into its commands, in the order declared.
    pub parameters: Vec<(String, String)>,
    /// The baseline first, the control last.
    pub contenders: Vec<Contender>,
    /// True if the last contender is a second copy of the baseline. It shows what the race makes of
    /// no difference, and is no candidate.
    pub control: bool,
    /// Blocks in a replicate where the pilot found another number than that of the design to fit.
    pub blocks_per_replicate: Option<u32>,
    /// True if its worker processes take their first block without a warm-up: the pilot found that
    /// one brings nothing.
    pub without_warm_up: bool,
    /// True if its workers give every call an input of its own: the pilot found that a contender
    /// changes its input.
    pub input_per_call: bool,
    /// Sentences of its workers about what they call, which the answer shows as warnings.
    pub notes: Vec<String>,
    /// True if a replicate is one slow call of each of two functions: two pairs in two processes
    /// tell more than one block of twice the length.
    pub in_pairs: bool,
    /// True if all blocks of a replicate have one input, as making it takes many times as long as
    /// the samples of a block.
    pub one_input: bool,
    /// The work that one iteration gets done, for rates beside the times.
    pub throughput: Option<Throughput>,
    /// Set if this is a rerun of another benchmark, for example in turns instead of side by side. It
    /// gets no verdict of its own.
    pub rerun: Option<Rerun>,
    /// Set when the contenders of a block run side by side; `None` when they take turns.
    pub side_by_side: Option<SideBySide>,
    /// The reason why the contenders take turns; `None` if deadheat did not try them side by side.
    pub turns_because: Option<TurnsReason>,
    /// Metrics of this benchmark beside those of the run, in column order after them.
    pub counters: Vec<Metric>,
    /// The facts that a file of another tool told of it; `None` when deadheat measures.
    pub saved: Option<Saved>,
    /// The comparisons of a gate among which it must not be slower: its race goes on after that
    /// verdict until it holds at their level, or to the last look. 0 and 1 for none but its own.
    pub family: u32,
    /// The settings decided for it otherwise than for all.
    pub overrides: BenchmarkOverrides,
    /// The files of the benchmark itself that differ between the sides: its source, what it imports
    /// of its suite, and data of the suite.
    pub changed_files: Vec<String>,
}

/// Settings that a plan gives to one benchmark in place of those of the design. A field that is
/// `None` is as the design has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkOverrides {
    /// Smallest relative change of it worth acting on.
    pub margin: Option<f64>,
    /// The chance of a wrong verdict on it, and the numbers of replicates after which the verdict
    /// may be called.
    pub level: Option<LevelOverride>,
    /// The metric its verdict speaks of.
    pub judged: Option<Metric>,
    /// The quantile of single iterations that its verdict speaks of.
    pub quantile: Option<f64>,
    /// No block of it starts after this much time of its own, nor after its share of the budget of
    /// the run.
    pub budget: Option<Duration>,
}

impl BenchmarkOverrides {
    /// Returns true if everything is as the design has it.
    pub fn is_empty(&self) -> bool {
        *self == BenchmarkOverrides::default()
    }
}

/// A chance of a wrong verdict, and the looks that spend it.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelOverride {
    /// Chance of a wrong verdict that is accepted.
    pub alpha: f64,
    /// When the verdict may be called.
    pub looks: Looks,
}

/// The facts that a file of another tool tells of a benchmark beside its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The metric the verdict speaks of where that is not the metric of the design: the benchmarks
    /// of a file need not measure the same.
    pub judged: Option<Metric>,
    /// The label that the benchmark gives itself beside its name.
    pub label: Option<String>,
    /// Threads it ran on.
    pub threads: Option<u32>,
    /// The statistic that is all that was kept of one side: "median".
    pub summary: Option<String>,
    /// The candidates whose recordings of it are those of the baseline.
    pub same: Vec<String>,
}

/// A rerun of another benchmark: in turns, or with the user's own link order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// Index in the plan of the benchmark that is rerun.
    pub of: usize,
    /// Number of replicates, whatever their result.
    pub replicates: u32,
    /// The difference between the two.
    pub kind: RerunKind,
}

/// The way in which a rerun differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RerunKind {
    /// As the user linked it, where the benchmark itself runs on neutral links.
    OwnLink,
    /// In turns, where the contenders of the benchmark itself run side by side.
    Turns,
}

impl RerunKind {
    /// The words for it behind the name of the benchmark.
    pub fn label(self) -> &'static str {
        match self {
            Self::OwnLink => "own link",
            Self::Turns => "in turns",
        }
    }
}

/// The contenders of a block are started at the same moment on one core, which the kernel
/// alternates between them. Each is judged by its CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideBySide {
    /// The time slice that the kernel is asked for; `None` for its own.
    pub slice: Option<Duration>,
}

/// The work that one iteration of a benchmark gets done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// So many bytes are worked through.
    Bytes(u64),
    /// So many items are worked through.
    Items(u64),
}

named! {
    /// The reason why commands take turns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum TurnsReason: name(self) {
        /// A command fails if the others run at the same time.
        Fails = "fails",
        /// A command writes to files on a disk, which the others may write, too.
        WritesFiles = "writes-files",
        /// A command uses too little CPU time to share it in slices.
        Short = "short",
        /// A command sleeps or waits for I/O, or several of its threads or processes run at the same
        /// time.
        NotBusy = "not-busy",
        /// The CPU times of the commands differ too much.
        DifferentTimes = "different-times",
        /// The peak memory of the commands differs too much.
        DifferentMemory = "different-memory",
        /// A command does not share the core evenly.
        Uneven = "uneven",
        /// A command uses much more CPU time when it shares the core.
        SharingCosts = "sharing-costs",
    }
}

impl Benchmark {
    /// The identities of the contenders that are compared with the baseline.
    pub fn candidates(&self) -> impl Iterator<Item = ContenderId> + use<> {
        (1..self.rivals()).map(|index| ContenderId(index as u8))
    }

    /// Returns true if a contender is a function that worker processes call.
    pub fn calls_functions(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| contender.workload.calls().is_some())
    }

    /// Returns true if each slot is a launch of a command.
    pub fn launches_commands(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| matches!(contender.workload, Workload::Command(_)))
    }

    /// Returns true if all blocks of a replicate run in the order of its first: each slot is one
    /// launch of a Google Benchmark executable, which takes the samples of all blocks in a row.
    pub fn keeps_order(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| matches!(contender.workload, Workload::Harness(_)))
    }

    /// Returns true if the code is compiled anew in every process, as it runs: no linker places it,
    /// and the first repetitions of a launch are slower.
    pub fn is_compiled_in_each_process(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| {
            matches!(&contender.workload, Workload::Harness(calls) if calls.harness == Harness::Jmh)
        })
    }

    /// Returns true if all contenders are programs in Python or JavaScript, which no linker places.
    pub fn is_interpreted(&self) -> bool {
        let is_interpreter = |program: &Path| {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let ends = [".py", ".js", ".mjs", ".cjs"];
            ["python", "pypy"].iter().any(|word| name.starts_with(word))
                || ["node", "nodejs"].contains(&&*name)
                || ends.iter().any(|word| name.ends_with(word))
        };
        let mut contenders = self.contenders.iter();
        !self.contenders.is_empty()
            && contenders.all(|contender| match &contender.workload {
                Workload::Worker(calls) => is_interpreter(&calls.program.executable),
                Workload::Command(line) => line
                    .words
                    .first()
                    .is_some_and(|name| is_interpreter(Path::new(name))),
                Workload::Harness(calls) => calls.harness == Harness::Pyperf,
                Workload::Function(_) | Workload::Recording => false,
            })
    }

    /// Processes started for a replicate; `None` where every sample is one of its own.
    pub fn processes_per_replicate(&self) -> Option<u64> {
        let mut last = None;
        for contender in &self.contenders {
            let process = match &contender.workload {
                Workload::Function(_) => 0,
                Workload::Worker(calls) => calls.process,
                // Each slot is a launch for all blocks of the replicate.
                Workload::Harness(_) => return Some(self.slots_per_block() as u64),
                Workload::Command(_) | Workload::Recording => continue,
            };
            last = last.max(Some(process));
        }
        last.map(|last| last as u64 + 1)
    }

    /// Returns true if a replicate is one launch of each of two commands, side by side. Drift meets
    /// both at once, so nothing is gained by a second pair in the same replicate, and two replicates
    /// tell more than one of twice the length. A harness may need a link for every replicate, which
    /// takes longer than its launches.
    pub fn races_in_pairs(&self) -> bool {
        self.contenders.len() == 2 && self.side_by_side.is_some() && self.launches_commands()
    }

    /// Returns true if blocks are ABBA or BAAB.
    pub fn has_abba_blocks(&self) -> bool {
        self.contenders.len() == 2 && !self.in_pairs && !self.races_in_pairs()
    }

    /// The number of slots in one block: four of ABBA, else one of each contender.
    pub fn slots_per_block(&self) -> usize {
        if self.has_abba_blocks() {
            4
        } else {
            self.contenders.len()
        }
    }

    /// The second copy of the baseline, if there is one.
    pub fn control(&self) -> Option<ContenderId> {
        let last = self.contenders.len().checked_sub(1)?;
        self.control.then_some(ContenderId(last as u8))
    }

    /// Contenders that are raced for their own sake: the baseline and the candidates.
    pub fn rivals(&self) -> usize {
        let copies = usize::from(self.control);
        self.contenders.len().saturating_sub(copies)
    }

    /// Adds a second copy of the baseline as last contender, unless there is one already. Where
    /// contenders have processes of their own, so has the copy.
    pub fn add_control(&mut self) {
        let Some(baseline) = self.contenders.first().filter(|_| !self.control) else {
            return;
        };
        let mut workload = baseline.workload.clone();
        let others = self.processes().unwrap_or(0);
        if let (Workload::Worker(calls), 1..) = (&mut workload, others) {
            calls.process = others + 1;
        }
        let name = self.name_of_control(&baseline.name);
        self.contenders.push(Contender { name, workload });
        self.control = true;
    }

    /// The highest number of a process that a contender is called in.
    fn processes(&self) -> Option<usize> {
        let process = |contender: &Contender| match &contender.workload {
            Workload::Worker(calls) => Some(calls.process),
            _ => None,
        };
        self.contenders.iter().filter_map(process).max()
    }

    /// `NAME (control)`, or with a number where somebody is called that.
    fn name_of_control(&self, baseline: &str) -> String {
        let taken = |name: &String| self.contenders.iter().any(|other| other.name == *name);
        let numbered = |number: usize| match number {
            1 => format!("{baseline} (control)"),
            number => format!("{baseline} (control {number})"),
        };
        let mut names = (1..).map(numbered).filter(|name| !taken(name));
        names.next().unwrap_or_default()
    }
}

/// Anything that can be timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The name shown and recorded.
    pub name: String,
    /// The work it does.
    pub workload: Workload,
}

/// The place of a contender in its benchmark; 0 is the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContenderId(pub u8);

impl ContenderId {
    /// The contender all others are compared against.
    pub const BASELINE: ContenderId = ContenderId(0);

    /// The role this contender plays.
    pub fn role(self) -> Role {
        if self == Self::BASELINE {
            Role::Baseline
        } else {
            Role::Candidate
        }
    }

    /// The position in the benchmark's list of contenders.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

named! {
    /// The role of a contender in the race.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role: name(self) {
        /// Compared against.
        Baseline = "baseline",
        /// Judged.
        Candidate = "candidate",
    }
}

/// A scheduled place for one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The contender that runs.
    pub contender: ContenderId,
    /// Bytes added to the environment of the process, 0–4095. It moves the stack, so that no
    /// contender owns a lucky alignment.
    pub padding: u16,
}

/// Slots run without a pause between them: ABBA or BAAB for two contenders that take turns, a
/// Williams row for others, a single slot for a contender alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate this block belongs to, counted from 0.
    pub replicate: u32,
    /// The place of the block in its replicate, counted from 0.
    pub index: u32,
    /// Run once and thrown away before the first slot, when the contender of the first slot is not
    /// the one that ran last. Without it the first slot would be the only one whose predecessor is
    /// decided by the last block.
    pub prime: Option<Slot>,
    /// The slots in the order they run.
    pub slots: Vec<Slot>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{FunctionCalls, WorkerCalls};

    fn worker(name: &str, process: usize) -> Contender {
        Contender {
            name: name.to_owned(),
            workload: Workload::Worker(Box::new(WorkerCalls {
                process,
                benchmark: "sum".to_owned(),
                ..WorkerCalls::default()
            })),
        }
    }

    fn benchmark(contenders: Vec<Contender>) -> Benchmark {
        Benchmark {
            name: "sum".to_owned(),
            contenders,
            ..Benchmark::default()
        }
    }

    fn processes(benchmark: &Benchmark) -> Vec<usize> {
        let process = |contender: &Contender| match &contender.workload {
            Workload::Worker(calls) => calls.process,
            other => panic!("{other:?}"),
        };
        benchmark.contenders.iter().map(process).collect()
    }

    #[test]
    fn the_copy_of_a_build_has_a_process_of_its_own_and_is_no_candidate() {
        let mut pair = benchmark(vec![worker("old", 0), worker("new", 1)]);
        assert_eq!((pair.control(), pair.rivals()), (None, 2));
        pair.add_control();
        assert_eq!(processes(&pair), [0, 1, 2]);
        assert_eq!(pair.contenders[2].name, "old (control)");
        assert_eq!(pair.control(), Some(ContenderId(2)));
        assert_eq!(pair.candidates().collect::<Vec<_>>(), [ContenderId(1)]);
        assert_eq!(
            (pair.rivals(), pair.processes_per_replicate()),
            (2, Some(3))
        );
        assert_eq!(pair.validate_control(), Ok(()));
        let once = pair.clone();
        pair.add_control();
        assert_eq!(pair, once, "one is enough");
    }

    #[test]
    fn where_all_share_a_process_the_copy_does_so_too() {
        let mut alone = benchmark(vec![worker("loop", 0), worker("fold", 0)]);
        alone.add_control();
        assert_eq!(processes(&alone), [0, 0, 0]);
        let function = Contender {
            name: "loop".to_owned(),
            workload: Workload::Function(FunctionCalls::default()),
        };
        let mut own = benchmark(vec![function]);
        own.add_control();
        assert_eq!(own.contenders[1].workload, own.contenders[0].workload);
        assert_eq!((own.candidates().count(), own.slots_per_block()), (0, 4));
    }

    #[test]
    fn no_two_contenders_have_the_same_name() {
        let mut taken = benchmark(vec![worker("a", 0), worker("a (control)", 1)]);
        taken.add_control();
        assert_eq!(taken.contenders[2].name, "a (control 2)");
        let mut nobody = benchmark(Vec::new());
        nobody.add_control();
        assert_eq!(nobody, benchmark(Vec::new()));
    }

    #[test]
    fn what_is_no_copy_of_the_baseline_is_no_control() {
        let mut other = worker("b", 2);
        if let Workload::Worker(calls) = &mut other.workload {
            calls.contender = "another".to_owned();
        }
        for (contenders, problem) in [
            (vec![worker("a", 0), other], "something else"),
            (vec![worker("a", 0)], "one contender only"),
        ] {
            let wrong = Benchmark {
                control: true,
                ..benchmark(contenders)
            };
            let error = wrong.validate_control().unwrap_err().to_string();
            assert!(
                error.contains(problem) && error.contains("'sum'"),
                "{error}"
            );
        }
    }
}
