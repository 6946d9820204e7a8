//! Builders for run files that tests construct in memory, with default values for everything that a
//! test does not set, and random numbers for simulated runs.

use deadheat_model::{
    AddressSpace, Benchmark, CommandLine, Contender, ContenderId, Design, EndReason, Environment,
    ExitPolicy, Flags, FunctionCalls, Hooks, Input, Looks, Metric, Observed, ObservedImage,
    ObservedProcess, Origin, Output, Plan, RunEnd, RunHeader, Sample, Workload,
};

/// Returns the looks of a race with a single look, after `replicates` replicates, which spends the
/// whole α of 5%.
pub fn one_look(replicates: u32) -> Looks {
    Looks {
        at: vec![replicates],
        levels: vec![0.05],
        weights: vec![1.0],
    }
}

/// Returns the default design with these looks.
pub fn design(looks: Looks) -> Design {
    Design {
        looks,
        ..Design::default()
    }
}

/// Returns the header of a run that races these benchmarks on an unknown machine.
pub fn header(design: Design, seed: u64, benchmarks: Vec<Benchmark>) -> RunHeader {
    RunHeader {
        tool_version: "test".to_owned(),
        started_at: None,
        origin: Origin::Race,
        command: Vec::new(),
        plan: Plan {
            design,
            seed,
            benchmarks,
        },
        environment: Environment::default(),
        metrics: vec![Metric::Wall],
        tick_ns: Some(1.0),
        left_out: Vec::new(),
    }
}

/// Returns a benchmark with this name and these contenders.
pub fn benchmark(name: impl Into<String>, contenders: Vec<Contender>) -> Benchmark {
    Benchmark {
        name: name.into(),
        contenders,
        ..Benchmark::default()
    }
}

/// Returns a contender for each name, all with the same workload.
pub fn contenders<N: Into<String>>(
    names: impl IntoIterator<Item = N>,
    workload: &Workload,
) -> Vec<Contender> {
    let contender = |name: N| Contender {
        name: name.into(),
        workload: workload.clone(),
    };
    names.into_iter().map(contender).collect()
}

/// Returns the workload of a function that a single thread calls `iterations` times per sample.
pub fn function(iterations: u64) -> Workload {
    Workload::Function(FunctionCalls {
        iterations,
        threads: 1,
    })
}

/// Returns a command with these words. Its standard input and output are `/dev/null`, and it fails
/// on an exit code other than 0.
pub fn command(words: &[&str]) -> CommandLine {
    CommandLine {
        text: words.join(" "),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        directory: None,
        input: Input::Null,
        output: Output::Null,
        timeout: None,
        exit_policy: ExitPolicy::ZeroOnly,
        hooks: Hooks::default(),
    }
}

/// Returns a sample of one iteration of this contender, without flags and exit code.
pub fn sample(contender: u8) -> Sample {
    Sample {
        contender: ContenderId(contender),
        flags: Flags::NONE,
        exit_code: None,
        iterations: 1,
    }
}

/// Returns the end of a run that took 9 launches and 9 ns.
pub fn ended(reason: EndReason) -> RunEnd {
    RunEnd {
        reason,
        launches: 9,
        elapsed_ns: 9,
    }
}

/// A stream of random numbers (SplitMix64) from a seed. The generator is implemented in this crate,
/// because a new version of a library could change the results of tests.
pub struct Stream(pub u64);

impl Stream {
    /// Returns a uniformly distributed number above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Returns a number from the standard normal distribution (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Returns an observation for each of the first `contenders` contenders of the first benchmark. It
/// says that from the first replicate on, the process executes the file that it was started from.
pub fn seen_as_started(contenders: usize) -> Vec<Observed> {
    let observed = |contender| Observed {
        benchmark: 0,
        contender,
        replicate: 0,
        process: ObservedProcess {
            image: ObservedImage::AsStarted,
            addresses: Some(AddressSpace::Random),
            fixes_addresses: false,
            left_behind: None,
            keeps_cores: Some(true),
            is_padded: Some(true),
            variables: Vec::new(),
        },
    };
    (0..contenders).map(observed).collect()
}
