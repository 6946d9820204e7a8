//! Profiles: what a program executed, function by function; and the explanation of a difference,
//! which is two of them side by side.

use std::collections::BTreeMap;

use crate::estimate::{Interval, Verdict};
use crate::run::LeftOut;

/// A place in a program to which cost is put down: a function, or code that was inlined into it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The function, demangled and without what changes with every build. One that is called
    /// while it runs is another function, with the depth behind its name: `walk'2`. So are several
    /// of one name: `[libc.so.6]'18432`, by its address.
    pub function: String,
    /// The file that inlined code comes from, where it is another than that of the function.
    pub inlined: Option<String>,
}

/// The name of a function without the depth of its recursion.
pub fn without_depth(function: &str) -> &str {
    match function.rsplit_once('\'') {
        Some((name, depth))
            if !name.is_empty()
                && !depth.is_empty()
                && depth.bytes().all(|digit| digit.is_ascii_digit()) =>
        {
            name
        }
        _ => function,
    }
}

/// What a program executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// All of it.
    pub total: u64,
    /// The cost of each place without that of the functions it calls.
    pub own: BTreeMap<Place, u64>,
    /// The cost of calls from a function to another, all that these called included.
    pub calls: BTreeMap<(String, String), u64>,
}

impl Profile {
    /// Adds another profile, as that of another process of the same program.
    pub fn add(&mut self, other: &Profile) {
        self.total = self.total.saturating_add(other.total);
        for (place, cost) in &other.own {
            let own = self.own.entry(place.clone()).or_default();
            *own = own.saturating_add(*cost);
        }
        for (call, cost) in &other.calls {
            let calls = self.calls.entry(call.clone()).or_default();
            *calls = calls.saturating_add(*cost);
        }
    }
}

/// The unit of the counts of a profile, which says by what they were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileUnit {
    /// Instructions, every one, counted by callgrind.
    #[default]
    Instructions,
    /// Samples that perf took, one in so many instructions.
    InstructionSamples,
    /// Samples that perf took, one in so much time on a processor.
    TimeSamples,
}

impl ProfileUnit {
    /// Its word in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::InstructionSamples => "instruction_samples",
            Self::TimeSamples => "time_samples",
        }
    }

    /// The tool that counts in it.
    pub fn by(self) -> &'static str {
        if self.is_sampled() {
            "perf"
        } else {
            "callgrind"
        }
    }

    /// Its word in sentences, of several.
    pub fn noun(self) -> &'static str {
        if self.is_sampled() {
            "samples"
        } else {
            "instructions"
        }
    }

    /// Returns whether counts scatter, because not everything was counted.
    pub fn is_sampled(self) -> bool {
        self != Self::Instructions
    }

    /// Returns whether both sides differ by more than counts scatter: three standard deviations of
    /// the difference of two counts of samples.
    pub fn differ(self, [old, new]: [u64; 2]) -> bool {
        let scatter = if self.is_sampled() {
            3.0 * (old as f64 + new as f64).sqrt()
        } else {
            0.0
        };
        old.abs_diff(new) as f64 > scatter
    }
}

/// Old and new, side by side: where the work changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The version of deadheat that explains.
    pub tool_version: String,
    /// What counted, such as `valgrind-3.19.0`.
    pub counter: String,
    /// The unit of all counts.
    pub unit: ProfileUnit,
    /// The race whose times stand beside the counts, where there is one: its file.
    pub run: Option<String>,
    /// The benchmarks, or the pair of commands.
    pub pairs: Vec<ExplainedPair>,
    /// Benchmarks that are not explained though somebody might look for them.
    pub left_out: Vec<LeftOut>,
}

/// A baseline and a candidate, counted.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedPair {
    /// The benchmark.
    pub benchmark: String,
    /// The names of baseline and candidate.
    pub names: [String; 2],
    /// What was counted.
    pub counted: Counted,
    /// All that both sides executed.
    pub totals: [u64; 2],
    /// The change of wall time by a race, where there was one.
    pub wall: Option<WallChange>,
    /// The meaning of both together.
    pub finding: Finding,
    /// Functions that any side executed: the greatest difference first.
    pub functions: Vec<FunctionChange>,
    /// Both sides as trees of calls, as paths from the root.
    pub stacks: Vec<StackChange>,
}

/// The part of a program's life that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// One whole execution of a command, with all that it started.
    Command,
    /// One sample of so many calls, once the function had met its input.
    Sample {
        /// Calls in the sample.
        iterations: u64,
    },
    /// The benchmark's function in an executable of a harness, its set-up included.
    BenchmarkFunction {
        /// Iterations that it was asked for.
        iterations: u64,
    },
    /// A whole worker that calls the function so often, in all its samples.
    Worker {
        /// Calls in all.
        iterations: u64,
    },
    /// A whole launch of an executable of a harness: no function has the benchmark's name.
    Launch {
        /// Iterations that it was asked for.
        iterations: u64,
    },
}

impl Counted {
    /// Its word in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Sample { .. } => "sample",
            Self::BenchmarkFunction { .. } => "benchmark_function",
            Self::Worker { .. } => "worker",
            Self::Launch { .. } => "launch",
        }
    }

    /// The iterations that were counted, where these can be told.
    pub fn iterations(self) -> Option<u64> {
        match self {
            Self::Command => None,
            Self::Sample { iterations }
            | Self::BenchmarkFunction { iterations }
            | Self::Worker { iterations }
            | Self::Launch { iterations } => Some(iterations),
        }
    }
}

/// The change of wall time that a race found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallChange {
    /// The relative change, candidate against baseline.
    pub change: f64,
    /// Its interval, as relative changes.
    pub interval: Option<Interval>,
    /// The verdict of the race.
    pub verdict: Verdict,
}

/// The meaning of a change of counts beside that of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Both sides execute as much, and no time is known.
    SameWork,
    /// One executes more, and no time is known.
    OtherWork,
    /// Time changed as the work did.
    Work,
    /// Time changed by more than the work did.
    PartlyWork,
    /// Time changed, and the work hardly did.
    NotWork,
    /// Time changed against the work.
    AgainstWork,
    /// Time changed, and samples are too few to tell if the work did.
    Unclear,
    /// The work changed, and time is not known to have changed.
    NotSeenInTime,
    /// Neither is known to have changed.
    Nothing,
}

impl Finding {
    /// Its word in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::SameWork => "same_work",
            Self::OtherWork => "other_work",
            Self::Work => "work",
            Self::PartlyWork => "partly_work",
            Self::NotWork => "not_work",
            Self::AgainstWork => "against_work",
            Self::Unclear => "unclear",
            Self::NotSeenInTime => "not_seen_in_time",
            Self::Nothing => "nothing",
        }
    }
}

/// A function on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionChange {
    /// The function.
    pub function: String,
    /// The counts of its own, with what was inlined into it.
    pub own: [u64; 2],
    /// Those of all it called besides.
    pub inclusive: [u64; 2],
    /// The part of its own that was inlined from other files, the greatest difference first.
    pub inlined: Vec<(String, [u64; 2])>,
}

impl FunctionChange {
    /// The counts of its own that it has more on the new side.
    pub fn difference(&self) -> i128 {
        i128::from(self.own[1]) - i128::from(self.own[0])
    }
}

/// A path of calls on both sides, with the counts of its last function alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackChange {
    /// Functions, the outermost first.
    pub frames: Vec<String>,
    /// The counts of baseline and candidate.
    pub counts: [u64; 2],
}

#[cfg(test)]
mod tests {
    use super::{ProfileUnit, without_depth};

    #[test]
    fn instructions_differ_by_one_and_samples_by_more_than_they_scatter() {
        assert!(ProfileUnit::Instructions.differ([100, 101]));
        assert!(!ProfileUnit::Instructions.differ([100, 100]));
        for unit in [ProfileUnit::InstructionSamples, ProfileUnit::TimeSamples] {
            assert!(!unit.differ([0, 9]) && unit.differ([0, 10]));
            assert!(!unit.differ([1000, 1136]) && unit.differ([1000, 1144]));
        }
    }

    #[test]
    fn a_function_is_the_same_at_any_depth() {
        for (name, known) in [
            ("rec'3", "rec"),
            ("fn'a", "fn'a"),
            ("'3", "'3"),
            ("a::b", "a::b"),
            ("rec'", "rec'"),
        ] {
            assert_eq!(without_depth(name), known);
        }
    }
}
