//! The gate keeps α for its suite: with 100 unchanged benchmarks, at most a share of α of the runs
//! fails, both with one race and with a second race of the benchmarks that broke the rule. Tested
//! by whole races on a simulated clock. Seeds are fixed, so a failure is a change and not chance.
//!
//! Benchmarks are independent, so each has a separate run, and suites are made of their
//! comparisons.

use std::path::Path;
use std::thread;

use deadheat::parts::SecondRace;
use deadheat::parts::analysis::{Options, PlannedRule, analyse, planned_looks};
use deadheat::parts::engine::{
    NeverStop, Noise, Session, SimulatedClock, SimulatedContenders, Simulation, Unwatched,
};
use deadheat::parts::model::{
    Analysis, Benchmark, Comparison, Design, EndReason, Ending, FailOn, Run, Unrecorded, Verdict,
    Workload,
};
use deadheat::parts::rules::Gate;
use deadheat::parts::settings::RaceSettings;
use deadheat::parts::with_second_analysis;
use deadheat_testing::runs::{self, benchmark, contenders, design, header, one_look};

const ALPHA: f64 = 0.05;
const SUITE: usize = 100;
const REPLICATES: u32 = 40;

#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    blocks: u32,
    noise: Noise,
}

/// Commands on a quiet machine: every block is a replicate.
const COMMANDS: Kind = Kind {
    name: "commands",
    blocks: 1,
    noise: Noise {
        sample: 0.01,
        ..Noise::NONE
    },
};

/// Functions with a new layout in every process.
const FUNCTIONS: Kind = Kind {
    name: "functions",
    blocks: 10,
    noise: Noise {
        sample: 0.01,
        layout: 0.005,
        ..Noise::NONE
    },
};

/// Races one benchmark. The number `family` is the number of comparisons that the gate tests
/// together. The margin is so small that no dead heat hides a false verdict.
fn race(
    kind: Kind,
    (name, family): (usize, usize),
    effect: f64,
    alpha: f64,
    seed: u64,
) -> Comparison {
    let terms = Design {
        margin: 0.0002,
        alpha,
        blocks_per_replicate: kind.blocks,
        ..design(planned_looks(0, REPLICATES, alpha).unwrap())
    };
    let sides = contenders(["old", "new"], &Workload::Recording);
    let benchmark = Benchmark {
        family: family as u32,
        ..benchmark(format!("b{name}"), sides)
    };
    let header = runs::header(terms, seed, vec![benchmark]);
    let clock = SimulatedClock::default();
    let simulation = Simulation {
        baseline_ns: 2e7,
        effects: vec![effect],
        noise: kind.noise,
        seed,
    };
    let mut run = Run::new(header.clone());
    Session {
        contenders: &mut SimulatedContenders::new(simulation, clock.clone()),
        clock: &clock,
        rule: &mut PlannedRule::new(&header),
        sink: &mut Unrecorded,
        watcher: &mut Unwatched,
        stop: &NeverStop,
        max_replicates: REPLICATES,
        budget: None,
        outlive_failures: false,
    }
    .race(&mut run)
    .expect("simulated contenders never fail");
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    analyse(&run, options).comparisons.remove(0)
}

fn suite(comparisons: Vec<Comparison>) -> Analysis {
    Analysis {
        design: Design {
            alpha: ALPHA,
            ..Design::default()
        },
        comparisons,
        ending: Ending::Recorded(EndReason::Finished),
        ..Analysis::default()
    }
}

/// The outcomes of a suite for several ways to judge it: true if the run fails.
#[derive(Clone, Copy, Debug, Default)]
struct Lights {
    /// A benchmark is slower by its own verdict, without a correction for the suite.
    by_own_verdict: bool,
    /// The gate fails the run after one race.
    by_suite: bool,
    /// The gate fails the run after a second race of the benchmarks that broke the rule.
    confirmed: bool,
    /// As `confirmed`, but with the plain α for each benchmark in the second race.
    at_plain_alpha: bool,
    /// The first benchmark is slower by its own verdict, fails the gate, and is confirmed.
    first: [bool; 3],
}

/// Races a suite whose first benchmark has changed by `effect`, then again the benchmarks that
/// broke the rule. `shared` is an error that all races of a benchmark share, such as the placement
/// of code that is linked once.
fn lights(kind: Kind, effect: f64, shared: f64, seed: u64) -> Lights {
    let gate = Gate {
        fail_on: vec![FailOn::Slower],
        ..Gate::default()
    };
    let bias = |index: usize| {
        let sign = if (index as u64 ^ seed).is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        sign * shared + if index == 0 { effect } else { 0.0 }
    };
    let seed_of = |index: usize, race: u64| (seed * 1_000 + index as u64) * 4 + race;
    let first = |index, family| race(kind, (index, family), bias(index), ALPHA, seed_of(index, 0));
    let analysis = suite((0..SUITE).map(|index| first(index, 1)).collect());
    let header = header(design(one_look(6)), seed, Vec::new());
    let second = SecondRace::after(&analysis, &header, Path::new("run.jsonl"), &gate);
    let slower = |one: &Comparison| one.verdict == Some(Verdict::Slower);
    // Only the races with the verdict slower depend on `family`, so only these run again.
    let longer = analysis.comparisons.iter().enumerate();
    let longer = longer.map(|(index, one)| match slower(one) {
        true => first(index, SUITE),
        false => one.clone(),
    });
    let alone = gate.judge(suite(longer.collect()));
    let red = |analysis: &Analysis| {
        let fails = |one: &Comparison| one.suite.gate.as_ref().is_some_and(|hit| hit.fails());
        let all: Vec<bool> = analysis.comparisons.iter().map(fails).collect();
        (all.contains(&true), all[0])
    };
    let (by_suite, first_by_suite) = red(&alone);
    let mut lights = Lights {
        by_own_verdict: analysis.comparisons.iter().any(slower),
        by_suite,
        first: [slower(&analysis.comparisons[0]), first_by_suite, false],
        ..Lights::default()
    };
    let Some(second) = second else {
        return lights;
    };
    let alpha = second.settings(RaceSettings::default()).alpha();
    let again = |alpha: f64| {
        let broken = analysis.comparisons.iter().enumerate();
        let broken = broken.filter(|(_, one)| gate.asks_for_confirmation(one));
        let raced =
            broken.map(|(index, _)| race(kind, (index, 1), bias(index), alpha, seed_of(index, 1)));
        let both = with_second_analysis(analysis.clone(), suite(raced.collect()));
        red(&gate.judge(both))
    };
    (lights.confirmed, lights.first[2]) = again(alpha);
    lights.at_plain_alpha = again(ALPHA).0;
    lights
}

/// Counts the outcomes of `suites` suites, on all cores, in the order of the fields of [`Lights`].
fn count(kind: Kind, effect: f64, shared: f64, suites: u64) -> [u64; 7] {
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let some = |thread: u64| {
        let mut counts = [0; 7];
        for seed in (thread..suites).step_by(threads as usize) {
            let of = lights(kind, effect, shared, seed);
            let own = [
                of.by_own_verdict,
                of.by_suite,
                of.confirmed,
                of.at_plain_alpha,
            ];
            for (count, light) in counts.iter_mut().zip(own.into_iter().chain(of.first)) {
                *count += u64::from(light);
            }
        }
        counts
    };
    let counts = thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|one| scope.spawn(move || some(one)))
            .collect();
        let all = all
            .into_iter()
            .map(|one| one.join().expect("no simulation panics"));
        all.fold([0; 7], |mut sum, some| {
            sum.iter_mut().zip(some).for_each(|(sum, one)| *sum += one);
            sum
        })
    });
    println!(
        "{}, {:+} %, shared {} %, {suites} suites of {SUITE}: own verdict {}, suite {}, confirmed {} \
         (at plain alpha {}); the first alone {:?}",
        kind.name,
        (effect.exp() - 1.0) * 100.0,
        shared * 100.0,
        counts[0],
        counts[1],
        counts[2],
        counts[3],
        &counts[4..],
    );
    counts
}

/// Three standard errors above α of this number of suites.
fn at_most(suites: u64) -> u64 {
    let expected = ALPHA * suites as f64;
    (expected + 3.0 * (expected * (1.0 - ALPHA)).sqrt()) as u64
}

fn assert_held(kind: Kind, suites: u64) {
    let [own, suite, confirmed, ..] = count(kind, 0.0, 0.0, suites);
    // Without the correction for the suite, most runs would fail.
    assert!(own > suites / 2, "{own}");
    assert!(suite <= at_most(suites), "{suite}");
    assert!(confirmed <= at_most(suites), "{confirmed}");
}

#[test]
fn a_hundred_equal_commands_turn_red_in_at_most_alpha_of_runs() {
    assert_held(COMMANDS, 120);
}

#[test]
fn a_hundred_equal_functions_turn_red_in_at_most_alpha_of_runs() {
    assert_held(FUNCTIONS, 30);
}

#[test]
fn one_that_changed_among_a_hundred_is_found_and_confirmed() {
    for (kind, percent, least) in [
        (COMMANDS, 2.0_f64, 24),
        (COMMANDS, 5.0, 29),
        (FUNCTIONS, 5.0, 9),
    ] {
        let suites = if kind.blocks == 1 { 30 } else { 10 };
        let effect = (percent / 100.0).ln_1p();
        let [.., own, suite, confirmed] = count(kind, effect, 0.0, suites);
        assert!(suite >= least, "{percent}: {suite}");
        assert!(own >= suites - 1, "{percent}: {own}");
        assert!(confirmed >= least, "{percent}: {confirmed}");
    }
}

#[test]
fn an_error_that_both_races_share_is_confirmed() {
    // If the program is linked once, its placement of ±1% is like a change: the second race has the
    // same placement.
    let [own, _, confirmed, ..] = count(COMMANDS, 0.0, 0.01, 4);
    assert_eq!((own, confirmed), (4, 4));
}

/// The table of the methodology: `cargo test --release -p deadheat --all-features --test suite_gate
/// -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; its figures are in docs/method_tables.md"]
fn table() {
    for kind in [COMMANDS, FUNCTIONS] {
        let many = kind.blocks == 1;
        count(kind, 0.0, 0.0, if many { 1_000 } else { 300 });
        for percent in [1.0_f64, 2.0, 5.0] {
            let suites = if many { 100 } else { 40 };
            count(kind, (percent / 100.0).ln_1p(), 0.0, suites);
        }
    }
    count(COMMANDS, 0.0, 0.002, 200);
}
