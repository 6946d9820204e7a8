//! The counts of a program, function by function.

use std::collections::BTreeMap;

/// A place in a program that has its own cost: a function, or code that was inlined into it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The demangled function, without the parts of its name that change with every build.
    /// Recursive calls are separate functions, with the depth after the name: `walk'2`. Nameless
    /// functions are distinguished by their address: `[libc.so.6]'18432`.
    pub function: String,
    /// The file of inlined code, if that is not the file of the function.
    pub inlined: Option<String>,
}

/// Returns the name of a function without the depth of its recursion.
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

/// The counts of a whole execution, in a [`ProfileUnit`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The sum over all places.
    pub total: u64,
    /// The cost of each place, without that of the functions that it calls.
    pub own: BTreeMap<Place, u64>,
    /// The cost of the calls from one function to another, including all calls below them.
    pub calls: BTreeMap<(String, String), u64>,
}

impl Profile {
    /// Adds the profile of another process of the same program.
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

/// The unit of the counts of a profile. It depends on the profiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileUnit {
    /// Instructions. callgrind counts every one.
    #[default]
    Instructions,
    /// Samples by perf, one per fixed number of instructions.
    InstructionSamples,
    /// Samples by perf, one per fixed time on a processor.
    TimeSamples,
}

impl ProfileUnit {
    /// Returns the name of this unit in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::InstructionSamples => "instruction_samples",
            Self::TimeSamples => "time_samples",
        }
    }

    /// Returns the name of the profiler that counts in this unit.
    pub fn by(self) -> &'static str {
        if self.is_sampled() {
            "perf"
        } else {
            "callgrind"
        }
    }

    /// Returns the plural noun for sentences.
    pub fn noun(self) -> &'static str {
        if self.is_sampled() {
            "samples"
        } else {
            "instructions"
        }
    }

    /// Returns true if counts scatter because they are samples.
    pub fn is_sampled(self) -> bool {
        self != Self::Instructions
    }

    /// Returns true if two counts differ by more than their scatter: three standard deviations of
    /// the difference for samples, and 0 for instructions.
    pub fn differ(self, [old, new]: [u64; 2]) -> bool {
        let scatter = if self.is_sampled() {
            3.0 * (old as f64 + new as f64).sqrt()
        } else {
            0.0
        };
        old.abs_diff(new) as f64 > scatter
    }
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
