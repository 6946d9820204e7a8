//! A small run that uses every corner of the formats.

#![allow(dead_code)]

use std::time::Duration;

use deadheat_model::{
    Benchmark, BenchmarkOverrides, BlockRecord, CalibrationNote, ClockFacts, CommandLine,
    Contender, ContenderId, CounterAccess, Design, EndReason, Environment, ExitPolicy, Flags,
    FunctionCalls, Harness, HarnessCalls, Hooks, Input, LeftOut, LeftOutReason, LogRatio, Looks,
    Metric, NeutralLink, NeutralLinks, Origin, Output, PackageVersions, Pinning, Placed, Placing,
    Plan, Program, RaceKind, RefusedLink, RepetitionLength, Rerun, RerunKind, RunEnd, RunHeader,
    Sample, Share, SharedSuite, Surroundings, Throughput, Waiting, WorkerCalls, Workload,
};
use deadheat_testing::runs::{self, design, one_look, sample};

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn command(text: &str) -> CommandLine {
    runs::command(&text.split(' ').collect::<Vec<_>>())
}

fn contender(name: &str, command: CommandLine) -> Contender {
    Contender {
        name: name.to_owned(),
        workload: Workload::Command(Box::new(command)),
    }
}

/// The same, the first benchmark with a control.
pub fn controlled_header() -> RunHeader {
    let mut header = header();
    header.plan.benchmarks[0].add_control();
    header
}

/// Two benchmarks, one of them with parameters and three contenders.
pub fn header() -> RunHeader {
    let elaborate = CommandLine {
        input: Input::File("in put.txt".into()),
        output: Output::Compared,
        timeout: Some(Duration::from_millis(1500)),
        exit_policy: ExitPolicy::Also(vec![1, 3]),
        hooks: Hooks {
            setup: Some(words("make data")),
            prepare: Some(words("sync")),
            conclude: None,
            cleanup: Some(words("make clean")),
        },
        ..command("sort --parallel 2 data")
    };
    let into_file = CommandLine {
        directory: Some("build/a1b2".into()),
        output: Output::File("out.txt".into()),
        exit_policy: ExitPolicy::Any,
        ..command("sort data")
    };
    RunHeader {
        command: Vec::new(),
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_709_210_096),
        origin: Origin::Race,
        plan: Plan {
            design: Design {
                warmup: 1,
                budget: Some(Duration::from_secs(30)),
                pinning: Pinning::Cores(vec![2, 3]),
                waiting: Waiting::Keep,
                ..design(Looks {
                    at: vec![6, 11],
                    levels: vec![0.02, 0.03],
                    weights: vec![0.4, 0.6],
                })
            },
            seed: 7,
            benchmarks: vec![
                Benchmark {
                    name: "sort".to_owned(),
                    parameters: vec![("threads".to_owned(), "2".to_owned())],
                    contenders: vec![
                        contender("one \"quoted\", with a comma", into_file),
                        contender("two", elaborate),
                    ],
                    ..Benchmark::default()
                },
                Benchmark {
                    name: "three".to_owned(),
                    parameters: vec![],
                    contenders: vec![
                        contender("a", command("true")),
                        contender("b", command("/bin/true")),
                        contender("c", command("true")),
                    ],
                    ..Benchmark::default()
                },
            ],
        },
        environment: Environment {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            cpu: None,
            cores: Some(8),
            governor: Some("performance".to_owned()),
            load: Some(0.25),
            pinned: vec![2, 3],
            counters: Some(CounterAccess::Unavailable("not permitted".to_owned())),
            ..Environment::default()
        },
        metrics: vec![
            Metric::Wall,
            Metric::Cpu,
            Metric::User,
            Metric::System,
            Metric::PeakRss,
            Metric::MinorFaults,
            Metric::Custom("allocs".to_owned()),
        ],
        tick_ns: Some(1.0),
        left_out: vec![],
    }
}

/// A run of functions: one benchmark that uses every corner, one that uses none.
pub fn function_header() -> RunHeader {
    let function = |name: &str, iterations, threads| Contender {
        name: name.to_owned(),
        workload: Workload::Function(FunctionCalls {
            iterations,
            threads,
        }),
    };
    let commands = header();
    RunHeader {
        command: Vec::new(),
        plan: Plan {
            design: Design {
                blocks_per_replicate: 25,
                looks: one_look(1),
                ..commands.plan.design
            },
            seed: 7,
            benchmarks: vec![
                Benchmark {
                    family: 0,
                    name: "sum".to_owned(),
                    parameters: vec![],
                    contenders: vec![function("loop", 700, 2), function("iter", 700, 2)],
                    blocks_per_replicate: Some(5),
                    throughput: Some(Throughput::Bytes(4096)),
                    without_warm_up: false,
                    input_per_call: false,
                    notes: vec![],
                    in_pairs: false,
                    one_input: false,
                    control: false,
                    rerun: None,
                    side_by_side: None,
                    turns_because: None,
                    counters: vec![],
                    saved: None,
                    overrides: BenchmarkOverrides::default(),
                    changed_files: vec![],
                },
                Benchmark {
                    name: "sort".to_owned(),
                    contenders: vec![function("stable", 1, 1)],
                    throughput: Some(Throughput::Items(100)),
                    ..Benchmark::default()
                },
            ],
        },
        environment: Environment {
            clock: Some(ClockFacts {
                source: "os".to_owned(),
                resolution_ns: 1.0,
                overhead_ns: 43.5,
                fallback: Some("the counter does not tick evenly".to_owned()),
            }),
            debug_build: true,
            calibration: Some(CalibrationNote {
                tool_version: "0.1.0".to_owned(),
                started_at: Some(1_709_120_000),
                kind: RaceKind::Functions,
                false_calls: Share {
                    hits: 1,
                    of: 300,
                    low: 0.000125,
                    high: 0.01843,
                },
                alpha: 0.05,
                noise_floor: Some(LogRatio::from_change(0.003)),
            }),
            ..commands.environment
        },
        metrics: vec![
            Metric::Wall,
            Metric::Migrations,
            Metric::Allocations,
            Metric::AllocatedBytes,
        ],
        ..commands
    }
}

/// Programs of two builds: workers of either, and Google Benchmark executables,
/// one of which has a counter of its own; and benchmarks that do not race.
pub fn program_header() -> RunHeader {
    let program = |executable: &str| Program {
        executable: executable.into(),
        arguments: words("--quick -n 3"),
        ..Program::default()
    };
    let worker = |name: &str, process, contender: &str| Contender {
        name: name.to_owned(),
        workload: Workload::Worker(Box::new(WorkerCalls {
            program: program(name),
            process,
            benchmark: "sum/100".to_owned(),
            contender: contender.to_owned(),
            calls: FunctionCalls {
                iterations: 700,
                threads: 1,
            },
        })),
    };
    let launched = |name: &str, length| Contender {
        name: name.to_owned(),
        workload: Workload::Harness(Box::new(HarnessCalls {
            harness: Harness::GoogleBenchmark,
            program: program(name),
            benchmark: "BM_Sum/100".to_owned(),
            length,
            warm_up: 0,
            planned_iterations: None,
            repetitions: 10,
            threads: 2,
            fixes_addresses: false,
        })),
    };
    let google = |name: &str, length| Benchmark {
        name: name.to_owned(),
        contenders: vec![launched("old", length), launched("new", length)],
        ..Benchmark::default()
    };
    let left_out = |benchmark: &str, reason| LeftOut {
        benchmark: benchmark.to_owned(),
        reason,
    };
    let functions = function_header();
    RunHeader {
        command: Vec::new(),
        plan: Plan {
            benchmarks: vec![
                Benchmark {
                    name: "sum/100".to_owned(),
                    contenders: vec![worker("old", 0, "loop"), worker("new", 1, "fold")],
                    ..Benchmark::default()
                },
                Benchmark {
                    counters: vec![
                        Metric::Custom("cells".to_owned()),
                        Metric::Custom("waited_ns".to_owned()),
                    ],
                    ..google("counted", RepetitionLength::Iterations(120))
                },
                google("timed", RepetitionLength::Seconds(0.005)),
                Benchmark {
                    changed_files: vec!["bench/own.cc".to_owned()],
                    ..google("own", RepetitionLength::Own)
                },
            ],
            ..functions.plan
        },
        environment: Environment {
            clock: None,
            builds: vec![String::new(), "--features fast".to_owned()],
            surroundings: Surroundings {
                suite: Some(SharedSuite {
                    side: "new".to_owned(),
                    files: vec!["bench/test_a.py".to_owned()],
                }),
                benches_from: Some("new".to_owned()),
                interpreters: vec!["CPython 3.12.1".to_owned(), "CPython 3.13.0".to_owned()],
                packages: vec![PackageVersions {
                    name: "numpy".to_owned(),
                    baseline: Some("1.26.4".to_owned()),
                    candidate: None,
                }],
                selection: None,
                chosen: true,
            },
            debug_build: false,
            ..functions.environment
        },
        metrics: vec![Metric::Wall, Metric::Cpu],
        left_out: vec![
            left_out("hash", LeftOutReason::OnlyIn("new".to_owned())),
            left_out("gpu", LeftOutReason::Skipped("no such device".to_owned())),
            left_out("sort", LeftOutReason::NotAlike("2 threads".to_owned())),
        ],
        ..functions
    }
}

/// The first block of a benchmark of that run.
pub fn program_block(benchmark: usize) -> BlockRecord {
    let counters = if benchmark == 1 { 2 } else { 0 };
    let mut block = BlockRecord {
        benchmark,
        elapsed_ns: (benchmark as u64 + 1) * 1_000_000,
        ..BlockRecord::default()
    };
    for (slot, contender) in [0u8, 1, 1, 0].into_iter().enumerate() {
        block.samples.push(Sample {
            iterations: 120,
            ..sample(contender)
        });
        let wall = 5_000_000.0 + slot as f64;
        block.values.extend([wall, wall - 0.5]);
        block.values.extend(std::iter::repeat_n(4096.5, counters));
    }
    block
}

/// The same functions raced with neutral links, and beside the first of them
/// the user's own link.
pub fn placed_header() -> RunHeader {
    let mut header = function_header();
    header.plan.benchmarks.insert(
        1,
        Benchmark {
            rerun: Some(Rerun {
                kind: RerunKind::OwnLink,
                of: 0,
                replicates: 6,
            }),
            ..header.plan.benchmarks[0].clone()
        },
    );
    header.environment.neutral_links = vec![
        NeutralLinks {
            executable: "target/release/deps/sum-0f".to_owned(),
            made_by: Ok("LLD 14.0.6".to_owned()),
            unsectioned: vec!["libk.a(k.o)".to_owned()],
            matched: None,
            random_addresses: false,
        },
        NeutralLinks {
            executable: "./old".to_owned(),
            made_by: Err("there is no record of how it was linked".to_owned()),
            unsectioned: vec![],
            matched: None,
            random_addresses: false,
        },
    ];
    header
}

/// Where the code of both contenders lies in a replicate.
pub fn placed(benchmark: usize, replicate: u32) -> Placed {
    let neutral = Placing::Neutral(NeutralLink {
        seed: 17 + replicate,
        hash: "00ff00ff00ff00ff".to_owned(),
        matched: false,
    });
    Placed {
        benchmark,
        replicate,
        contenders: vec![neutral.clone(), neutral],
        refused: vec![],
        fallen_back: None,
    }
}

/// The same after three links came to nothing.
pub fn fallen_back(benchmark: usize, replicate: u32) -> Placed {
    let refused = |seed| RefusedLink {
        seed,
        reason: "ld.lld: error: \"section\" too large\nseen with seed 3".to_owned(),
    };
    Placed {
        contenders: vec![Placing::Own, Placing::Own],
        refused: [3, 4, 5].map(refused).to_vec(),
        fallen_back: Some("three links in a row came to nothing".to_owned()),
        ..placed(benchmark, replicate)
    }
}

/// A block of that run.
pub fn function_block(replicate: u32, index: u32) -> BlockRecord {
    let mut block = BlockRecord {
        replicate,
        index,
        elapsed_ns: u64::from(replicate * 5 + index + 1) * 1_000_000,
        ..BlockRecord::default()
    };
    for (slot, contender) in [0u8, 1, 1, 0].into_iter().enumerate() {
        block.samples.push(Sample {
            iterations: 700,
            ..sample(contender)
        });
        let wall = 70_000.5 + f64::from(index) + slot as f64;
        block.values.extend([wall, 0.0, 1400.0, 89_600.0]);
    }
    block
}

/// A block of `order`, such as `[0, 1, 1, 0]`; no two hold the same values.
pub fn block(benchmark: usize, replicate: u32, order: &[u8]) -> BlockRecord {
    let mut block = BlockRecord {
        benchmark,
        replicate,
        index: 0,
        primed: replicate % 2 == 1,
        elapsed_ns: u64::from(replicate + 1) * 10_000_000 + benchmark as u64 * 1_000_000_000,
        ..BlockRecord::default()
    };
    for (slot, contender) in order.iter().enumerate() {
        block.samples.push(Sample {
            contender: ContenderId(*contender),
            flags: Flags::from_bits((replicate as u8 + slot as u8) & 3),
            exit_code: (benchmark == 0).then_some(i32::from(*contender)),
            iterations: 1,
        });
        let wall = 1_000_000.0 + f64::from(replicate * 1000) + slot as f64;
        block.values.extend([
            wall,
            wall * 0.75,
            wall * 0.5,
            wall * 0.25,
            2_097_152.0,
            90.0 + slot as f64,
            slot as f64 / 3.0,
        ]);
    }
    block
}

/// The blocks of the run, in the order taken.
pub fn blocks() -> Vec<BlockRecord> {
    let mut blocks = Vec::new();
    for replicate in 0..3 {
        let order = [[0, 1, 1, 0], [1, 0, 0, 1]][replicate as usize % 2];
        blocks.push(block(0, replicate, &order));
    }
    for replicate in 0..2 {
        blocks.push(block(1, replicate, &[2, 0, 1]));
    }
    blocks
}

pub fn end(reason: EndReason, launches: u64) -> RunEnd {
    RunEnd {
        reason,
        launches,
        elapsed_ns: 1_030_000_000,
    }
}
