//! Benchmarks with rules of their own keep the promises of these rules. Tested by whole races on a
//! simulated clock.

use std::time::Duration;

use deadheat::parts::analysis::{Options, PlannedRule, analyse, planned_looks};
use deadheat::parts::engine::{
    NeverStop, Noise, Session, SimulatedClock, SimulatedContenders, Simulation, Unwatched,
};
use deadheat::parts::model::{
    Analysis, Benchmark, BenchmarkOverrides, Comparison, Design, EndReason, InSuite, LevelOverride,
    Run, RunHeader, Unrecorded, Verdict, Workload,
};
use deadheat_testing::runs::{self, benchmark, contenders, design};

const REPLICATES: u32 = 40;

const NOISE: Noise = Noise {
    sample: 0.01,
    layout: 0.005,
    ..Noise::NONE
};

/// Margin and α of a run or of a benchmark.
type Terms = (f64, f64);

fn own((margin, alpha): Terms) -> BenchmarkOverrides {
    BenchmarkOverrides {
        margin: Some(margin),
        level: Some(LevelOverride {
            alpha,
            looks: planned_looks(0, REPLICATES, alpha).unwrap(),
        }),
        ..BenchmarkOverrides::default()
    }
}

fn header((margin, alpha): Terms, benchmarks: Vec<BenchmarkOverrides>, seed: u64) -> RunHeader {
    let contenders = || contenders(["old", "new"], &Workload::Recording);
    let benchmarks = benchmarks.into_iter().enumerate();
    let benchmarks = benchmarks.map(|(index, rules)| Benchmark {
        overrides: rules,
        ..benchmark(format!("b{index}"), contenders())
    });
    let design = Design {
        margin,
        alpha,
        blocks_per_replicate: 4,
        ..design(planned_looks(0, REPLICATES, alpha).unwrap())
    };
    let header = runs::header(design, seed, benchmarks.collect());
    header.plan.validate().unwrap();
    header
}

fn race(header: RunHeader, effect: f64) -> Run {
    let clock = SimulatedClock::default();
    let simulation = Simulation {
        baseline_ns: 2e7,
        effects: vec![effect],
        noise: NOISE,
        seed: header.plan.seed,
    };
    let mut contenders = SimulatedContenders::new(simulation, clock.clone());
    let mut run = Run::new(header.clone());
    Session {
        contenders: &mut contenders,
        clock: &clock,
        rule: &mut PlannedRule::new(&header),
        sink: &mut Unrecorded,
        watcher: &mut Unwatched,
        stop: &NeverStop,
        max_replicates: REPLICATES,
        budget: header.plan.design.budget,
        outlive_failures: false,
    }
    .race(&mut run)
    .expect("simulated contenders never fail");
    run
}

/// Returns a comparison without the results that depend on other benchmarks of the run.
fn alone(analysis: &Analysis, index: usize) -> Comparison {
    Comparison {
        suite: InSuite::default(),
        ..analysis.comparisons[index].clone()
    }
}

#[test]
fn a_benchmark_with_its_own_rules_is_raced_and_judged_as_in_a_run_of_its_own() {
    let (all, strict) = ((0.01, 0.05), (0.05, 0.01));
    let mut decided_otherwise = 0;
    for seed in 0..40 {
        let effect = if seed % 2 == 0 { 0.0 } else { 0.03 };
        let mixed = race(
            header(all, vec![own(strict), BenchmarkOverrides::default()], seed),
            effect,
        );
        let by_itself = race(
            header(strict, vec![BenchmarkOverrides::default()], seed),
            effect,
        );
        assert_eq!(mixed.benchmarks[0], by_itself.benchmarks[0], "seed {seed}");
        let analysis = analyse(&mixed, Options::default());
        let expected = analyse(&by_itself, Options::default());
        assert_eq!(alone(&analysis, 0), alone(&expected, 0), "seed {seed}");
        assert_eq!(
            (
                analysis.comparisons[0].terms.margin,
                analysis.comparisons[0].terms.alpha
            ),
            strict
        );
        assert_eq!(
            (
                analysis.comparisons[1].terms.margin,
                analysis.comparisons[1].terms.alpha
            ),
            all
        );

        let by_all = analyse(
            &race(
                header(all, vec![BenchmarkOverrides::default()], seed),
                effect,
            ),
            Options::default(),
        );
        let decided = |analysis: &Analysis| {
            let comparison = &analysis.comparisons[0];
            let estimate = comparison.estimate.as_ref().unwrap();
            (comparison.verdict, estimate.replicates)
        };
        decided_otherwise += u32::from(decided(&by_all) != decided(&analysis));
    }
    assert!(
        decided_otherwise > 10,
        "the rules change nothing: {decided_otherwise}"
    );
}

#[test]
fn a_benchmark_without_rules_does_not_notice_those_of_the_others() {
    for seed in 0..20 {
        let terms = (0.01, 0.05);
        let mixed = race(
            header(
                terms,
                vec![BenchmarkOverrides::default(), own((0.1, 0.001))],
                seed,
            ),
            0.004,
        );
        let plain = race(
            header(terms, vec![BenchmarkOverrides::default(); 2], seed),
            0.004,
        );
        assert_eq!(mixed.benchmarks[0], plain.benchmarks[0], "seed {seed}");
        let (mixed, plain) = (
            analyse(&mixed, Options::default()),
            analyse(&plain, Options::default()),
        );
        assert_eq!(alone(&mixed, 0), alone(&plain, 0), "seed {seed}");
    }
}

#[test]
fn each_benchmark_is_wrong_no_more_often_than_its_own_alpha() {
    const RACES: u64 = 400;
    let (all, strict) = (0.2, 0.02);
    let mut wrong = [0u32; 2];
    for seed in 0..RACES {
        let rules = vec![own((0.001, all)), own((0.001, strict))];
        let run = race(header((0.01, 0.05), rules, 1_000 + seed), 0.0);
        let options = Options {
            without_figures: true,
            ..Options::default()
        };
        let analysis = analyse(&run, options);
        for (wrong, comparison) in wrong.iter_mut().zip(&analysis.comparisons) {
            let called = matches!(comparison.verdict, Some(Verdict::Faster | Verdict::Slower));
            *wrong += u32::from(called);
        }
    }
    // Four standard errors above the promised rate.
    let most = |alpha: f64| {
        let expected = alpha * RACES as f64;
        (expected + 4.0 * (expected * (1.0 - alpha)).sqrt()) as u32
    };
    assert!(
        wrong[0] <= most(all) && wrong[1] <= most(strict),
        "{wrong:?}"
    );
    // The two benchmarks have different promises.
    assert!(wrong[0] > 2 * wrong[1], "{wrong:?}");
}

#[test]
fn a_budget_of_its_own_cuts_a_benchmark_and_no_other() {
    let mut hasty = own((0.0001, 0.05));
    hasty.budget = Some(Duration::from_secs(1));
    let patient = own((0.0001, 0.05));
    // A block takes 80 ms.
    let run = race(header((0.01, 0.05), vec![hasty, patient], 3), 0.0);
    let blocks = [0, 1].map(|index: usize| run.benchmarks[index].blocks().len());
    assert_eq!(blocks[1], 160);
    assert!((5..30).contains(&blocks[0]), "{blocks:?}");
    assert_eq!(run.end.unwrap().reason, EndReason::Budget);
}

#[test]
fn the_budget_of_the_run_holds_below_a_longer_one_of_a_benchmark() {
    let mut rules = own((0.0001, 0.05));
    rules.budget = Some(Duration::from_secs(3600));
    let mut header = header((0.01, 0.05), vec![rules, own((0.0001, 0.05))], 3);
    header.plan.design.budget = Some(Duration::from_secs(4));
    let run = race(header, 0.0);
    let blocks = [0, 1].map(|index: usize| run.benchmarks[index].blocks().len());
    assert!(
        blocks.iter().all(|blocks| (10..60).contains(blocks)),
        "{blocks:?}"
    );
}
