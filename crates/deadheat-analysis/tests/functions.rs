//! The rules by which races of functions are judged beside those for all races.

use deadheat_analysis::{Options, PlannedRule, analyse, fixed_look};
use deadheat_model::{
    Analysis, BenchmarkFailure, BlockRecord, ClockCause, ClockFacts, Comparison, Decision, Design,
    EndReason, FunctionCalls, Harness, HarnessCalls, LeftOut, LeftOutReason, Merged, Metric,
    Origin, Processes, Program, RepetitionLength, Run, RunEnd, RunHeader, Sample, ShardBy,
    StoppingRule, Throughput, Verdict, Warning, WorkerCalls, Workload,
};
use deadheat_testing::runs::{self, benchmark, contenders, design, ended, header, sample};

const ITERATIONS: u64 = 100;

fn function() -> Workload {
    runs::function(ITERATIONS)
}

fn command() -> Workload {
    Workload::Command(Box::new(runs::command(&["c"])))
}

/// A finished race of two contenders, looked at once, after so many replicates
/// of so many blocks.
fn race(workload: &Workload, replicates: u32, blocks: u32, metrics: &[Metric]) -> Run {
    let design = Design {
        blocks_per_replicate: blocks,
        ..design(fixed_look(replicates, 0.05).unwrap())
    };
    let benchmarks = vec![benchmark("b", contenders(["old", "new"], workload))];
    let mut run = Run::new(RunHeader {
        metrics: metrics.to_vec(),
        ..header(design, 3, benchmarks)
    });
    run.end = Some(ended(EndReason::Finished));
    run
}

/// Adds replicates of ABBA blocks; `values` gives a sample its values, by
/// contender, count of blocks so far and slot.
fn fill(
    run: &mut Run,
    benchmark: usize,
    replicates: u32,
    blocks: u32,
    values: impl Fn(u8, u32, usize) -> Vec<f64>,
) {
    for block in 0..replicates * blocks {
        let order = [0u8, 1, 1, 0];
        let sample = |contender| Sample {
            iterations: ITERATIONS,
            ..sample(contender)
        };
        let record = BlockRecord {
            benchmark,
            replicate: block / blocks,
            index: block % blocks,
            samples: order.map(sample).to_vec(),
            values: (0..4)
                .flat_map(|slot| values(order[slot], block, slot))
                .collect(),
            ..BlockRecord::default()
        };
        run.benchmarks[benchmark].push(&record).unwrap();
    }
}

/// A time that wobbles by half a percent, `ratio` times as long for the
/// candidate.
fn wobbling(contender: u8, block: u32, slot: usize, ratio: f64) -> f64 {
    let noise = f64::from((block * 7 + slot as u32 * 3) % 11) / 5.0 - 1.0;
    let ratio = if contender == 1 { ratio } else { 1.0 };
    1e6 * ratio * (0.005 * noise).exp()
}

fn analysis(run: &Run) -> Analysis {
    analyse(run, Options::default())
}

fn first(run: &Run) -> Comparison {
    analysis(run).comparisons[0].clone()
}

fn codes(comparison: &Comparison) -> Vec<&'static str> {
    comparison.warnings.iter().map(Warning::code).collect()
}

/// A provisional race with those wall times.
fn one_process(wall: impl Fn(u8, u32, usize) -> f64) -> Run {
    let mut run = race(&function(), 1, 25, &[Metric::Wall]);
    fill(&mut run, 0, 1, 25, |contender, block, slot| {
        vec![wall(contender, block, slot)]
    });
    run
}

#[test]
fn a_benchmark_with_blocks_of_its_own_is_looked_at_by_those() {
    let mut run = race(&function(), 6, 25, &[Metric::Wall]);
    run.header.plan.benchmarks[0].blocks_per_replicate = Some(5);
    let mut rule = PlannedRule::new(&run.header);
    let wall = |contender, block, slot| vec![wobbling(contender, block, slot, 1.1)];
    fill(&mut run, 0, 5, 5, wall);
    assert_eq!(rule.decide(0, &run.benchmarks[0]), Decision::GoOn);
    let mut run = Run::new(run.header);
    fill(&mut run, 0, 6, 5, wall);
    let mut rule = PlannedRule::new(&run.header);
    assert_eq!(rule.decide(0, &run.benchmarks[0]), Decision::Stop);
    run.end = Some(RunEnd {
        reason: EndReason::Finished,
        launches: 6,
        elapsed_ns: 1,
    });
    let row = first(&run);
    assert_eq!(row.verdict, Some(Verdict::Slower));
    assert_eq!(
        row.estimate.map(|e| (e.replicates, e.blocks)),
        Some((6, 30))
    );
    assert!(!codes(&row).contains(&"budget-spent"));
}

#[test]
fn the_formula_is_that_of_the_blocks_a_benchmark_has() {
    let make = |design, own| {
        let mut run = race(&function(), 6, design, &[Metric::Wall]);
        run.header.plan.benchmarks[0].blocks_per_replicate = own;
        fill(&mut run, 0, 6, 5, |contender, block, slot| {
            vec![wobbling(contender, block, slot, 1.002)]
        });
        first(&run)
    };
    let own = make(25, Some(5));
    assert_eq!(own, make(5, None), "the number counts and not who gave it");
    let many = {
        let mut run = race(&function(), 6, 5, &[Metric::Wall]);
        fill(&mut run, 0, 6, 5, |contender, block, slot| {
            vec![wobbling(contender, block, slot, 1.002)]
        });
        run.header.origin = Origin::PairedRecording;
        first(&run)
    };
    let width = |row: &Comparison| {
        let interval = row.estimate.as_ref().unwrap().interval.unwrap();
        interval.high.0 - interval.low.0
    };
    assert!(width(&own) > width(&many), "few blocks ask for more");
}

#[test]
fn a_failed_benchmark_has_no_row_and_takes_no_part_in_the_suite() {
    let make = |fails: bool| {
        let mut run = race(&function(), 6, 5, &[Metric::Wall]);
        let mut other = run.header.plan.benchmarks[0].clone();
        other.name = "other".to_owned();
        other.parameters = vec![("n".to_owned(), "7".to_owned())];
        run.header.plan.benchmarks.push(other);
        let end = run.end;
        let mut run = Run::new(run.header);
        run.end = end;
        for (benchmark, ratio) in [(0, 1.002), (1, 1.0)] {
            fill(&mut run, benchmark, 6, 5, |contender, block, slot| {
                vec![wobbling(contender, block, slot, ratio)]
            });
        }
        for message in ["it crashed", "and again"] {
            let message = message.to_owned();
            run.failures.extend(fails.then_some(BenchmarkFailure {
                benchmark: 1,
                message,
            }));
        }
        analysis(&run)
    };
    let (whole, half) = (make(false), make(true));
    assert_eq!((whole.comparisons.len(), whole.failures.len()), (2, 0));
    assert_eq!(half.comparisons.len(), 1);
    let alone = &half.comparisons[0];
    assert_eq!(alone.benchmark, "b");
    assert_eq!(
        alone.suite.p_adjusted,
        alone.estimate.as_ref().unwrap().p_value
    );
    assert!(whole.comparisons[0].suite.p_adjusted > alone.suite.p_adjusted);
    assert_eq!(
        half.failures.len(),
        1,
        "told once, however often it was noted"
    );
    let failed = &half.failures[0];
    assert_eq!(
        (&*failed.benchmark, &*failed.message),
        ("other", "it crashed")
    );
    assert_eq!(failed.parameters, [("n".to_owned(), "7".to_owned())]);
}

#[test]
fn every_metric_has_the_verdict_it_would_get_on_the_same_pairs() {
    let metrics = [Metric::Wall, Metric::Cpu, Metric::Allocations];
    let mut run = race(&function(), 6, 5, &metrics);
    fill(&mut run, 0, 6, 5, |contender, block, slot| {
        let wall = wobbling(contender, block, slot, 1.1);
        let cpu = wobbling(contender, block + 1, slot, 0.9);
        vec![wall, cpu, 2.0 * ITERATIONS as f64]
    });
    let row = first(&run);
    let verdicts: Vec<_> = row.metrics.iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts[0], row.verdict);
    assert_eq!(
        verdicts[..2],
        [Some(Verdict::Slower), Some(Verdict::Faster)]
    );
    let mut again = run.clone();
    again.header.plan.design.judged = Metric::Cpu;
    assert_eq!(first(&again).verdict, verdicts[1]);
}

#[test]
fn a_metric_whose_interval_only_tells_of_its_unit_has_no_verdict() {
    let mut run = race(&command(), 8, 1, &[Metric::Wall, Metric::VoluntarySwitches]);
    fill(&mut run, 0, 8, 1, |contender, block, slot| {
        vec![wobbling(contender, block, slot, 1.1), 2.0]
    });
    let row = &first(&run).metrics[1];
    assert!(row.estimate.as_ref().is_some_and(|e| e.interval.is_none()));
    assert_eq!(row.verdict, None);
}

#[test]
fn metrics_of_an_unpaired_recording_have_verdicts_too() {
    let mut run = race(&Workload::Recording, 8, 1, &[Metric::Wall, Metric::Cpu]);
    run.header.origin = Origin::UnpairedRecording;
    run.end = None;
    fill(&mut run, 0, 8, 1, |contender, block, slot| {
        let wall = wobbling(contender, block, slot, 1.5);
        vec![wall, wobbling(contender, block, slot, 0.5)]
    });
    let row = first(&run);
    assert_eq!(row.metrics[0].verdict, row.verdict);
    assert_eq!(row.metrics[1].verdict, Some(Verdict::Faster));
}

/// The cause found where the candidate's wall time grew by a half and its CPU
/// time did not, with so many switches in every sample of the candidate.
fn cause(workload: &Workload, voluntary: f64, involuntary: f64) -> ClockCause {
    let metrics = [
        Metric::Wall,
        Metric::Cpu,
        Metric::VoluntarySwitches,
        Metric::InvoluntarySwitches,
    ];
    let mut run = race(workload, 6, 5, &metrics);
    fill(&mut run, 0, 6, 5, |contender, block, slot| {
        let switches = |count: f64| if contender == 1 { count } else { 0.0 };
        vec![
            wobbling(contender, block, slot, 1.5),
            wobbling(contender, block + 1, slot, 1.0),
            switches(voluntary),
            switches(involuntary),
        ]
    });
    let row = first(&run);
    let found = row.warnings.iter().find_map(|warning| match warning {
        Warning::ClocksDisagree { cause, .. } => Some(*cause),
        _ => None,
    });
    found.expect("the clocks disagree")
}

#[test]
fn clocks_disagree_for_a_cause_where_the_samples_tell_one() {
    assert_eq!(cause(&function(), 0.0, 2.0), ClockCause::Preempted);
    assert_eq!(cause(&function(), 3.0, 0.0), ClockCause::Waited);
    assert_eq!(cause(&function(), 0.0, 0.0), ClockCause::Unknown);
}

#[test]
fn switches_of_a_launched_process_prove_nothing() {
    assert_eq!(cause(&command(), 0.0, 2.0), ClockCause::Unknown);
    assert_eq!(cause(&command(), 3.0, 0.0), ClockCause::Unknown);
    assert_eq!(cause(&Workload::Recording, 0.0, 2.0), ClockCause::Unknown);
}

#[test]
fn a_debug_build_and_another_clock_are_told() {
    let mut run = one_process(|contender, block, slot| wobbling(contender, block, slot, 1.1));
    let told = codes(&first(&run));
    assert!(!told.contains(&"debug-build") && !told.contains(&"clock-fallback"));
    let clock = |fallback: Option<&str>| ClockFacts {
        source: "os".to_owned(),
        resolution_ns: 1.0,
        overhead_ns: 40.0,
        fallback: fallback.map(str::to_owned),
    };
    run.header.environment.debug_build = true;
    run.header.environment.clock = Some(clock(None));
    let told = codes(&first(&run));
    assert!(told.contains(&"debug-build") && !told.contains(&"clock-fallback"));
    run.header.environment.clock = Some(clock(Some("it stops")));
    let reason = "it stops".to_owned();
    assert!(
        first(&run)
            .warnings
            .contains(&Warning::ClockFallback { reason })
    );
}

/// Workloads of programs that somebody else built.
fn of_others() -> [(Workload, Processes); 2] {
    let worker = WorkerCalls {
        calls: FunctionCalls {
            iterations: ITERATIONS,
            threads: 1,
        },
        ..WorkerCalls::default()
    };
    let launched = HarnessCalls {
        harness: Harness::GoogleBenchmark,
        program: Program::default(),
        benchmark: "b".to_owned(),
        length: RepetitionLength::Iterations(ITERATIONS),
        warm_up: 0,
        planned_iterations: Some(ITERATIONS),
        repetitions: 25,
        threads: 1,
        fixes_addresses: false,
    };
    [
        (
            Workload::Worker(Box::new(worker)),
            Processes::ProgramWorkers,
        ),
        (
            Workload::Harness(Box::new(launched)),
            Processes::HarnessLaunches,
        ),
    ]
}

#[test]
fn programs_of_others_are_told_apart_and_warned_of_calls_and_not_of_launches() {
    for (workload, processes) in of_others() {
        let mut run = race(&workload, 1, 25, &[Metric::Wall]);
        fill(&mut run, 0, 1, 25, |contender, _, _| {
            vec![if contender == 1 { 10.0 } else { 1000.0 }]
        });
        // How deadheat itself was built says nothing of them.
        run.header.environment.debug_build = true;
        let found = analysis(&run);
        assert_eq!(found.processes, processes);
        let told = codes(&found.comparisons[0]);
        assert!(told.contains(&"optimised-away"), "{told:?}");
        for not in ["debug-build", "short-command"] {
            assert!(!told.contains(&not), "{told:?}");
        }
    }
}

#[test]
fn benchmarks_that_were_left_out_and_counters_of_one_come_through() {
    let (workload, _) = &of_others()[1];
    let mut run = race(workload, 1, 25, &[Metric::Wall]);
    let cells = Metric::Custom("cells".to_owned());
    run.header.plan.benchmarks[0].counters = vec![cells.clone()];
    run.header.left_out = vec![LeftOut {
        benchmark: "gpu".to_owned(),
        reason: LeftOutReason::Skipped("no device".to_owned()),
    }];
    let mut run = Run {
        end: run.end.clone(),
        ..Run::new(run.header)
    };
    fill(&mut run, 0, 1, 25, |contender, block, slot| {
        vec![wobbling(contender, block, slot, 1.0), 4096.0]
    });
    let found = analysis(&run);
    assert_eq!(found.left_out, run.header.left_out);
    let row = found.comparisons[0].metrics.iter();
    let row = row.filter(|row| row.metric == cells).collect::<Vec<_>>();
    assert_eq!(row.len(), 1);
    // As reported, and not divided by iterations.
    assert_eq!(row[0].baseline.median, 4096.0);
}

#[test]
fn a_benchmark_without_a_block_is_left_out_with_the_reason() {
    let (workload, _) = &of_others()[1];
    let mut header = race(workload, 1, 25, &[Metric::Wall]).header;
    let second = benchmark("never begun", contenders(["old", "new"], workload));
    header.plan.benchmarks.push(second);
    let mut run = Run::new(header);
    fill(&mut run, 0, 1, 25, |contender, block, slot| {
        vec![wobbling(contender, block, slot, 1.0)]
    });
    for (end, reason) in [
        (None, "the recording ends before its first block"),
        (
            Some(EndReason::Interrupted(2)),
            "the race ended before its first block",
        ),
        (
            Some(EndReason::Budget),
            "the time budget ended before its first block",
        ),
    ] {
        run.end = end.map(ended);
        let found = analysis(&run);
        assert_eq!(found.comparisons.len(), 1);
        let left_out = LeftOut {
            benchmark: "never begun".to_owned(),
            reason: LeftOutReason::Skipped(reason.to_owned()),
        };
        assert_eq!(found.left_out, [left_out]);
    }
    run.header.environment.merged = Some(Merged {
        count: 2,
        by: ShardBy::Benchmark,
        replicates: 0,
        hosts: Vec::new(),
    });
    let missing =
        LeftOutReason::Skipped("the part that races this benchmark is missing".to_owned());
    assert_eq!(analysis(&run).left_out[0].reason, missing);
    run.header.environment.merged = None;
    run.header.origin = Origin::UnpairedRecording;
    assert_eq!(analysis(&run).left_out, []);
}

#[test]
fn a_call_that_takes_less_than_a_cycle_is_named_and_a_launch_never_is() {
    let times = |contender: u8, _, _| if contender == 1 { 10.0 } else { 1000.0 };
    let away = Warning::OptimisedAway {
        contender: "new".to_owned(),
        ns: 0.1,
    };
    let mut run = one_process(times);
    let found = first(&run).warnings;
    let found: Vec<_> = found
        .iter()
        .filter(|warning| warning.code() == "optimised-away")
        .collect();
    assert_eq!(found, [&away], "only the candidate");
    for contender in &mut run.header.plan.benchmarks[0].contenders {
        contender.workload = command();
    }
    assert!(!codes(&first(&run)).contains(&"optimised-away"));
}

#[test]
fn a_function_is_never_too_short_to_start_and_always_placed_once() {
    let times = |contender, block, slot| wobbling(contender, block, slot, 1.1);
    let mut run = one_process(times);
    let told = codes(&first(&run));
    assert!(!told.contains(&"short-command"), "{told:?}");
    assert!(told.contains(&"placement-fixed"), "{told:?}");
    for contender in &mut run.header.plan.benchmarks[0].contenders {
        contender.workload = command();
    }
    assert!(codes(&first(&run)).contains(&"short-command"));
}

#[test]
fn one_process_gives_a_provisional_verdict() {
    for (ratio, verdict) in [
        (1.1, Verdict::Slower),
        (0.9, Verdict::Faster),
        (1.009, Verdict::Inconclusive),
    ] {
        let run = one_process(|contender, block, slot| wobbling(contender, block, slot, ratio));
        let row = first(&run);
        assert_eq!(row.verdict, Some(verdict), "{ratio}");
        assert!(row.evidence.provisional);
        let told = codes(&row);
        assert!(told.contains(&"provisional"), "{told:?}");
        assert!(!told.contains(&"early-stop") && !told.contains(&"budget-spent"));
    }
}

#[test]
fn one_process_stops_after_its_one_look_and_not_before() {
    let mut run = race(&function(), 1, 25, &[Metric::Wall]);
    let mut rule = PlannedRule::new(&run.header);
    fill(&mut run, 0, 1, 24, |_, _, _| vec![1e6]);
    assert_eq!(rule.decide(0, &run.benchmarks[0]), Decision::GoOn);
    let run = one_process(|_, _, _| 1e6);
    let mut rule = PlannedRule::new(&run.header);
    assert_eq!(rule.decide(0, &run.benchmarks[0]), Decision::Stop);
}

#[test]
fn times_of_zero_in_one_process_are_a_doubt_and_no_panic() {
    let all = first(&one_process(|_, _, _| 0.0));
    assert_eq!((all.verdict, all.estimate), (None, None));
    let one_side = first(&one_process(|contender, _, _| f64::from(contender) * 1e3));
    assert_eq!(one_side.verdict, None);
    let same = first(&one_process(|_, _, _| 700.0));
    assert!(same.evidence.provisional || same.verdict.is_none());
    // One of a hundred is still counted, as half a tick.
    let single = first(&one_process(|contender, block, slot| match (block, slot) {
        (3, 1) => 0.0,
        _ => wobbling(contender, block, slot, 1.1),
    }));
    let told: Vec<_> = single.warnings.iter().map(Warning::code).collect();
    assert!(told.contains(&"zero-times"), "{told:?}");
    assert!(single.evidence.provisional && single.verdict.is_some());
    for mut run in [one_process(|_, _, _| 0.0), one_process(|_, _, _| 1e-300)] {
        for end in [None, run.end.clone()] {
            run.end = end;
            for budget in [false, true] {
                if budget && let Some(end) = &mut run.end {
                    end.reason = EndReason::Budget;
                }
                assert_eq!(analysis(&run).comparisons.len(), 1);
            }
        }
    }
}

#[test]
fn what_an_iteration_gets_done_and_whose_processes_they_were_are_passed_on() {
    let mut run = one_process(|_, _, _| 1e6);
    run.header.plan.benchmarks[0].throughput = Some(Throughput::Bytes(4096));
    let found = analysis(&run);
    assert_eq!(found.processes, Processes::Workers);
    let row = &found.comparisons[0];
    assert_eq!(row.details.throughput, Some(Throughput::Bytes(4096)));
    assert_eq!(row.baseline.median, 1e6 / ITERATIONS as f64);
    let mut launched = race(&command(), 1, 25, &[Metric::Wall]);
    fill(&mut launched, 0, 1, 25, |_, _, _| vec![1e6]);
    assert_eq!(analysis(&launched).processes, Processes::Launches);
}

#[test]
fn the_cpu_time_of_a_thread_is_counted_finer_than_that_of_a_process() {
    let coarse = |workload: &Workload| {
        let mut run = race(workload, 1, 25, &[Metric::Wall, Metric::Cpu]);
        run.header.plan.design.judged = Metric::Cpu;
        fill(&mut run, 0, 1, 25, |contender, block, slot| {
            let time = wobbling(contender, block, slot, 1.1) / 20.0;
            vec![time, time]
        });
        codes(&first(&run)).contains(&"coarse-clock")
    };
    assert!(coarse(&command()) && !coarse(&function()));
}
