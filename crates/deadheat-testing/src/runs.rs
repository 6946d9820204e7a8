//! Runs made by hand: what most of them have in common, to be filled in with what a test is about,
//! and the random numbers of those that are simulated.

use deadheat_model::{
    AddressSpace, Benchmark, CommandLine, Contender, ContenderId, Design, EndReason, Environment,
    ExitPolicy, Flags, FunctionCalls, Hooks, Input, Looks, Metric, Observed, ObservedImage,
    ObservedProcess, Origin, Output, Plan, RunEnd, RunHeader, Sample, Workload,
};

/// One look after so many replicates, which spends all of an α of 5 %.
pub fn one_look(replicates: u32) -> Looks {
    Looks {
        at: vec![replicates],
        levels: vec![0.05],
        weights: vec![1.0],
    }
}

/// The default design with these looks.
pub fn design(looks: Looks) -> Design {
    Design {
        looks,
        ..Design::default()
    }
}

/// A race of these benchmarks, on an unknown machine.
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

/// A benchmark of these contenders.
pub fn benchmark(name: impl Into<String>, contenders: Vec<Contender>) -> Benchmark {
    Benchmark {
        name: name.into(),
        contenders,
        ..Benchmark::default()
    }
}

/// Contenders of these names that all do the same.
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

/// A function called so often for a sample, by one thread.
pub fn function(iterations: u64) -> Workload {
    Workload::Function(FunctionCalls {
        iterations,
        threads: 1,
    })
}

/// A command of these words, which reads nothing, prints nothing and must succeed.
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

/// A sample of one iteration without flags and exit code.
pub fn sample(contender: u8) -> Sample {
    Sample {
        contender: ContenderId(contender),
        flags: Flags::NONE,
        exit_code: None,
        iterations: 1,
    }
}

/// The end of a run of a few launches and nanoseconds.
pub fn ended(reason: EndReason) -> RunEnd {
    RunEnd {
        reason,
        launches: 9,
        elapsed_ns: 9,
    }
}

/// A stream of random numbers (SplitMix64) that is decided by its seed and lies open here, so that
/// no other version of a library changes what a test has seen.
pub struct Stream(pub u64);

impl Stream {
    /// A number above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A number from the standard normal distribution (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Observations of so many contenders of the first benchmark: from the first replicate on, their
/// processes execute the files that they were started from.
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
