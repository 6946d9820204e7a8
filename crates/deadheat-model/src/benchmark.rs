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
    /// The contenders: the baseline first, the control last.
    pub contenders: Vec<Contender>,
    /// True if the last contender is a control: a second copy of the baseline, which shows the
    /// result of a race without a difference. It is not a candidate.
    pub control: bool,
    /// Blocks in a replicate, if the pilot (a short trial before the race) chose another number
    /// than the design.
    pub blocks_per_replicate: Option<u32>,
    /// True if worker processes measure their first block without a warm-up, because the pilot (a
    /// short trial before the race) found it unnecessary.
    pub without_warm_up: bool,
    /// True if workers give every call a new input, because the pilot (a short trial before the
    /// race) found that a contender modifies its input.
    pub input_per_call: bool,
    /// Texts that worker processes sent about the functions that they call. Reports show them as
    /// warnings.
    pub notes: Vec<String>,
    /// True if a replicate is one call of each of two slow functions. Two such replicates, in
    /// separate processes, say more about the effect than one ABBA block, which takes as long.
    pub in_pairs: bool,
    /// True if all blocks of a replicate share one input, because making an input takes many times
    /// as long as the samples of a block.
    pub one_input: bool,
    /// The work done by one iteration, from which rates are computed.
    pub throughput: Option<Throughput>,
    /// Set if this is a rerun of another benchmark, for example in turns instead of side by side. A
    /// rerun gets no verdict.
    pub rerun: Option<Rerun>,
    /// Set when the contenders of a block run side by side; `None` when they take turns.
    pub side_by_side: Option<SideBySide>,
    /// The reason why the contenders take turns; `None` if deadheat did not try them side by side.
    pub turns_because: Option<TurnsReason>,
    /// Metrics that only this benchmark has, in column order after the metrics of the run.
    pub counters: Vec<Metric>,
    /// Facts from a result file of another tool; `None` if deadheat measures the benchmark.
    pub saved: Option<Saved>,
    /// Number of comparisons that share the α of the gate `--fail-on slower`. A race that finds
    /// "slower" continues until the verdict holds at the level of the look divided by this number,
    /// or to the last look. 0 and 1 mean that this comparison does not share α.
    pub family: u32,
    /// Settings of this benchmark that differ from those of the run.
    pub overrides: BenchmarkOverrides,
    /// Files of the benchmark that differ between the sides: its source, its imports from the
    /// suite, and data of the suite.
    pub changed_files: Vec<String>,
}

/// Settings of a plan for one benchmark, which replace those of the design. `None` means the
/// setting of the design.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkOverrides {
    /// Smallest relative change worth acting on; 0.01 is 1%.
    pub margin: Option<f64>,
    /// Accepted probability of a wrong verdict, and the looks at which the verdict may be reached.
    pub level: Option<LevelOverride>,
    /// The judged metric.
    pub judged: Option<Metric>,
    /// The judged quantile of single iterations; 0.99 is the 99% quantile.
    pub quantile: Option<f64>,
    /// Time limit of this benchmark: none of its blocks starts later. The benchmark's share of the
    /// run's budget is a second limit.
    pub budget: Option<Duration>,
}

impl BenchmarkOverrides {
    /// Returns true if all settings are those of the design.
    pub fn is_empty(&self) -> bool {
        *self == BenchmarkOverrides::default()
    }
}

/// An accepted probability of a wrong verdict, and the looks among which it is divided.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelOverride {
    /// Accepted probability of a wrong verdict.
    pub alpha: f64,
    /// The looks at which the verdict may be reached.
    pub looks: Looks,
}

/// Facts about a benchmark from a result file of another tool, apart from the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved {
    /// The judged metric; `None` for that of the design. The benchmarks of a file may measure
    /// different metrics.
    pub judged: Option<Metric>,
    /// The label that the benchmark has in addition to its name.
    pub label: Option<String>,
    /// Number of threads that the benchmark ran on.
    pub threads: Option<u32>,
    /// The statistic, such as "median", if the file of at least one side contains only this
    /// statistic of the benchmark; `None` if both sides have samples.
    pub summary: Option<String>,
    /// Candidates whose recordings of the benchmark are the same as the baseline's.
    pub same: Vec<String>,
}

/// A rerun of another benchmark: in turns, or with the user's own link order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// Index in the plan of the benchmark that is rerun.
    pub of: usize,
    /// Number of replicates of the rerun. It is fixed: no result ends the rerun earlier.
    pub replicates: u32,
    /// The way in which the rerun differs from the benchmark that it repeats.
    pub kind: RerunKind,
}

/// The way in which a rerun differs from the benchmark that it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RerunKind {
    /// The rerun uses the user's own link; the benchmark that it repeats uses neutral links.
    OwnLink,
    /// The contenders take turns in the rerun, and run side by side in the benchmark that it
    /// repeats.
    Turns,
}

impl RerunKind {
    /// Returns the words that reports append to the name of the repeated benchmark to name the
    /// rerun.
    pub fn label(self) -> &'static str {
        match self {
            Self::OwnLink => "own link",
            Self::Turns => "in turns",
        }
    }
}

/// Side-by-side launches: the contenders of a block start at the same moment on one core, and the
/// kernel alternates between them. Each is judged by its CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideBySide {
    /// The time slice requested from the kernel; `None` for the kernel's default.
    pub slice: Option<Duration>,
}

/// The work done by one iteration of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// Number of bytes processed.
    Bytes(u64),
    /// Number of items processed.
    Items(u64),
}

named! {
    /// The reason why launches take turns instead of running side by side.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub listed enum TurnsReason: name(self) {
        /// A command fails if the others run at the same time.
        Fails = "fails",
        /// A command writes to files on a disk, which the other commands may write as well.
        WritesFiles = "writes-files",
        /// A command uses less than 5 ms of CPU time, too little to divide into time slices.
        Short = "short",
        /// A command sleeps or waits for I/O, or several of its threads or processes run at the
        /// same time.
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
    /// Returns the identities of the contenders that are compared with the baseline.
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

    /// Returns true if all blocks of a replicate run in the order of its first block: each slot is
    /// one launch of a harness executable, which takes the samples of all blocks in a row.
    pub fn keeps_order(&self) -> bool {
        let mut contenders = self.contenders.iter();
        contenders.any(|contender| matches!(contender.workload, Workload::Harness(_)))
    }

    /// Returns true if every process compiles the code while it runs. No linker places such code,
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
                Workload::Worker(calls) => match calls.program.server() {
                    Some(server) => {
                        let first = server.split_whitespace().next().unwrap_or_default();
                        is_interpreter(Path::new(first))
                    }
                    None => is_interpreter(&calls.program.executable),
                },
                Workload::Command(line) => line
                    .words
                    .first()
                    .is_some_and(|name| is_interpreter(Path::new(name))),
                Workload::Harness(calls) => calls.harness == Harness::Pyperf,
                Workload::Function(_) | Workload::Recording => false,
            })
    }

    /// Returns the number of processes started for a replicate; `None` if every sample is a
    /// separate process.
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

    /// Returns true if a replicate is one launch of each of two commands, side by side.
    ///
    /// Drift affects both launches equally, so a replicate of two such pairs gains nothing over two
    /// replicates of one pair each. Harness executables are excluded, because they may need a new
    /// link for every replicate, which takes longer than the launches.
    pub fn races_in_pairs(&self) -> bool {
        self.contenders.len() == 2 && self.side_by_side.is_some() && self.launches_commands()
    }

    /// Returns true if every block has the order ABBA or BAAB.
    pub fn has_abba_blocks(&self) -> bool {
        self.contenders.len() == 2 && !self.in_pairs && !self.races_in_pairs()
    }

    /// Returns the number of slots in one block: four in an ABBA block, else one for each
    /// contender.
    pub fn slots_per_block(&self) -> usize {
        if self.has_abba_blocks() {
            4
        } else {
            self.contenders.len()
        }
    }

    /// Returns the control, the second copy of the baseline, if there is one.
    pub fn control(&self) -> Option<ContenderId> {
        let last = self.contenders.len().checked_sub(1)?;
        self.control.then_some(ContenderId(last as u8))
    }

    /// Returns the number of contenders other than the control: the baseline and the candidates.
    pub fn rivals(&self) -> usize {
        let copies = usize::from(self.control);
        self.contenders.len().saturating_sub(copies)
    }

    /// Adds a second copy of the baseline as last contender, unless there is one already. If every
    /// contender has a separate process, the copy gets one as well.
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

    /// Returns the largest of the numbers that identify the worker processes of the contenders;
    /// `None` without workers.
    fn processes(&self) -> Option<usize> {
        let process = |contender: &Contender| match &contender.workload {
            Workload::Worker(calls) => Some(calls.process),
            _ => None,
        };
        self.contenders.iter().filter_map(process).max()
    }

    /// Returns `NAME (control)`, with a number if a contender already has this name.
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

/// A named workload that races in a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The name shown and recorded.
    pub name: String,
    /// The workload that is timed.
    pub workload: Workload,
}

/// The place of a contender in its benchmark; 0 is the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContenderId(pub u8);

impl ContenderId {
    /// The contender that all others are compared with.
    pub const BASELINE: ContenderId = ContenderId(0);

    /// Returns the role of this contender.
    pub fn role(self) -> Role {
        if self == Self::BASELINE {
            Role::Baseline
        } else {
            Role::Candidate
        }
    }

    /// Returns the position in the benchmark's list of contenders.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

named! {
    /// The role of a contender in the race.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Role: name(self) {
        /// The contender that the others are compared with.
        Baseline = "baseline",
        /// A contender that is compared with the baseline.
        Candidate = "candidate",
    }
}

/// A place in a block at which one sample is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The contender that runs.
    pub contender: ContenderId,
    /// Bytes added to the environment of the process, 0–4095. They move the stack, so that no
    /// contender always has a lucky alignment.
    pub padding: u16,
}

/// Slots that run without a pause: ABBA or BAAB for two contenders that take turns, a row of a
/// Williams design for other numbers, a single slot for one contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate this block belongs to, counted from 0.
    pub replicate: u32,
    /// The place of the block in its replicate, counted from 0.
    pub index: u32,
    /// A discarded sample of the first slot's contender before the block, so that the first slot
    /// does not depend on which contender ran last. Blocks of one slot and side-by-side blocks do
    /// not have such a sample. Other blocks of commands always have one, and blocks of functions or
    /// harnesses have one if another contender ran last.
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
            (vec![worker("a", 0), other], "not a copy of its first"),
            (vec![worker("a", 0)], "only one contender"),
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
