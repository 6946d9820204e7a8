//! The promises of the verdicts, kept by the whole pipeline — schedule,
//! session, stopping rule, analysis — on a clock that only the simulated
//! contenders turn. Seeds are fixed, so a failure is a change and not chance.

use deadheat::analysis::{Options, PlannedRule, analyse, planned_looks};
use deadheat::engine::{
    NeverStop, Noise, Session, SimulatedClock, SimulatedContenders, Simulation, Unwatched,
};
use deadheat::model::{
    Analysis, Benchmark, BlockRecord, Contender, Design, Environment, Metric, Origin, Pinning,
    Plan, RecordSink, Run, RunEnd, RunHeader, SinkError, Verdict, Workload,
};

/// Keeps nothing: the run is in memory anyway.
struct Forgetful;

impl RecordSink for Forgetful {
    fn block(&mut self, _block: &BlockRecord) -> Result<(), SinkError> {
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) -> Result<(), SinkError> {
        Ok(())
    }
}

#[derive(Clone)]
struct Setting {
    blocks_per_replicate: u32,
    max_replicates: u32,
    /// True effects of the candidates, as log-ratios.
    effects: Vec<f64>,
    noise: Noise,
}

const QUIET: Noise = Noise {
    sample: 0.01,
    ..Noise::NONE
};

/// One race from plan to answer.
fn race(setting: &Setting, seed: u64) -> (Run, Analysis) {
    let contender = |index: usize| Contender {
        name: format!("contender {index}"),
        workload: Workload::Recording,
    };
    let plan = Plan {
        design: Design {
            margin: 0.01,
            alpha: 0.05,
            looks: planned_looks(0, setting.max_replicates, 0.05).unwrap(),
            blocks_per_replicate: setting.blocks_per_replicate,
            warmup: 1,
            budget: None,
            judged: Metric::Wall,
            pinning: Pinning::Inherit,
        },
        seed,
        benchmarks: vec![Benchmark {
            name: "simulated".to_owned(),
            parameters: Vec::new(),
            contenders: (0..=setting.effects.len()).map(contender).collect(),
        }],
    };
    let header = RunHeader {
        tool_version: "test".to_owned(),
        started_at: None,
        origin: Origin::Race,
        environment: Environment::default(),
        metrics: vec![Metric::Wall],
        tick_ns: Some(1.0),
        plan,
    };
    let clock = SimulatedClock::default();
    let simulation = Simulation {
        baseline_ns: 2e7,
        effects: setting.effects.clone(),
        noise: setting.noise,
        seed: seed ^ 0x5eed,
    };
    let mut contenders = SimulatedContenders::new(simulation, clock.clone());
    let mut run = Run::new(header.clone());
    Session {
        contenders: &mut contenders,
        clock: &clock,
        rule: &mut PlannedRule::new(&header),
        sink: &mut Forgetful,
        watcher: &mut Unwatched,
        stop: &NeverStop,
        max_replicates: setting.max_replicates,
        budget: None,
    }
    .race(&mut run)
    .unwrap();
    let analysis = analyse(&run, Options::default());
    (run, analysis)
}

/// What became of many races of one setting.
#[derive(Debug, Default)]
struct Tally {
    faster: u32,
    slower: u32,
    equivalent: u32,
    covered: u32,
    launches: u64,
}

fn tally(setting: &Setting, races: u32) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..races {
        let (run, analysis) = race(setting, u64::from(seed));
        let row = &analysis.comparisons[0];
        match row.verdict {
            Some(Verdict::Faster) => tally.faster += 1,
            Some(Verdict::Slower) => tally.slower += 1,
            Some(Verdict::Equivalent) => tally.equivalent += 1,
            _ => {}
        }
        let interval = row.estimate.unwrap().interval.unwrap();
        let truth = setting.effects[0];
        tally.covered += u32::from(interval.low.0 <= truth && truth <= interval.high.0);
        tally.launches += run.launches;
    }
    println!("{tally:?}");
    tally
}

/// The largest count that a true rate of at most `rate` exceeds less than
/// once in 10,000 such tests (normal approximation).
fn at_most(races: u32, rate: f64) -> u32 {
    let n = f64::from(races);
    (n * rate + 3.72 * (n * rate * (1.0 - rate)).sqrt()).ceil() as u32
}

fn commands(effect: f64, noise: Noise) -> Setting {
    Setting {
        blocks_per_replicate: 1,
        max_replicates: 40,
        effects: vec![effect],
        noise,
    }
}

/// What real machines do, for launches of whole commands.
fn families() -> Vec<(&'static str, Noise)> {
    let noisy = Noise {
        sample: 0.09,
        ..Noise::NONE
    };
    vec![
        ("quiet", QUIET),
        ("independent, sigma .09", noisy),
        (
            "independent, sigma .44",
            Noise {
                sample: 0.44,
                ..Noise::NONE
            },
        ),
        (
            "drift",
            Noise {
                drift: 0.05,
                ..QUIET
            },
        ),
        (
            "seven modes",
            Noise {
                modes: 0.5,
                ..QUIET
            },
        ),
        (
            "0.2 % spikes",
            Noise {
                spikes: 0.002,
                ..noisy
            },
        ),
        (
            "2 % spikes",
            Noise {
                spikes: 0.02,
                ..noisy
            },
        ),
        (
            "position and carry-over",
            Noise {
                second_position: 0.03,
                carry_over: 0.02,
                ..QUIET
            },
        ),
        (
            "all together",
            Noise {
                sample: 0.03,
                layout: 0.007,
                drift: 0.02,
                modes: 0.2,
                spikes: 0.02,
                second_position: 0.02,
                carry_over: 0.02,
            },
        ),
    ]
}

const RACES: u32 = 600;

#[test]
fn a_command_against_itself_is_called_faster_or_slower_no_more_often_than_alpha() {
    for (name, noise) in families() {
        let tally = tally(&commands(0.0, noise), RACES);
        let wrong = tally.faster + tally.slower;
        assert!(wrong <= at_most(RACES, 0.05), "{name}: {tally:?}");
    }
}

#[test]
fn races_of_single_blocks_need_their_own_critical_values_and_have_them() {
    // Enough races to tell .05 from the .067 that the plain formula gives.
    let races = 4_000;
    let noise = Noise {
        sample: 0.09,
        ..Noise::NONE
    };
    let tally = tally(&commands(0.0, noise), races);
    let wrong = tally.faster + tally.slower;
    assert!(wrong <= at_most(races, 0.05), "{tally:?}");
}

#[test]
fn intervals_hold_the_truth_as_often_as_promised_over_all_looks() {
    for (name, noise) in families() {
        let tally = tally(&commands(0.05, noise), RACES);
        assert!(
            RACES - tally.covered <= at_most(RACES, 0.05),
            "{name}: {tally:?}"
        );
    }
}

#[test]
fn a_true_difference_is_found_and_has_the_right_sign() {
    let slower = tally(&commands(0.05, QUIET), 200);
    assert_eq!((slower.faster, slower.slower), (0, 200), "{slower:?}");
    let faster = tally(&commands(-0.05, QUIET), 200);
    assert_eq!((faster.faster, faster.slower), (200, 0), "{faster:?}");
    assert!(faster.launches < 200 * 60, "found early: {faster:?}");
}

#[test]
fn two_commands_alike_are_a_dead_heat_when_the_machine_is_quiet() {
    let tally = tally(&commands(0.0, QUIET), 200);
    assert!(tally.equivalent >= 190, "{tally:?}");
}

#[test]
fn processes_with_many_blocks_keep_the_promises_of_the_specification() {
    // δ = 1 %, K = 25, layout sd 1.4 % of each replicate's effect.
    let setting = |effect| Setting {
        blocks_per_replicate: 25,
        max_replicates: 40,
        effects: vec![effect],
        noise: Noise {
            sample: 0.005,
            layout: 0.014 / 2f64.sqrt(),
            ..Noise::NONE
        },
    };
    let zero = tally(&setting(0.0), 200);
    assert!(zero.faster + zero.slower <= at_most(200, 0.05), "{zero:?}");
    assert!(zero.equivalent >= 180, "{zero:?}");
    let one = tally(&setting((-0.01f64).ln_1p()), 200);
    assert!(one.faster >= 190, "{one:?}");
}

#[test]
fn three_commands_alike_are_called_wrong_in_no_more_races_than_alpha() {
    let setting = Setting {
        effects: vec![0.0, 0.0],
        ..commands(
            0.0,
            Noise {
                sample: 0.09,
                ..Noise::NONE
            },
        )
    };
    let wrong = (0..RACES)
        .filter(|seed| {
            let (_, analysis) = race(&setting, u64::from(*seed));
            assert_eq!(analysis.comparisons.len(), 2);
            analysis
                .comparisons
                .iter()
                .any(|row| matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower)))
        })
        .count() as u32;
    assert!(wrong <= at_most(RACES, 0.05), "{wrong} of {RACES}");
}

#[test]
fn the_same_seed_gives_the_same_race_and_the_same_analysis() {
    let setting = commands(
        0.01,
        Noise {
            sample: 0.05,
            ..Noise::NONE
        },
    );
    assert_eq!(race(&setting, 11), race(&setting, 11));
    assert_ne!(
        race(&setting, 11).0.benchmarks,
        race(&setting, 12).0.benchmarks
    );
}

#[test]
fn the_replicates_of_a_planned_race_are_always_a_planned_look() {
    let looks = planned_looks(0, 40, 0.05).unwrap().at;
    for seed in 0..50 {
        let (_, analysis) = race(
            &commands(
                0.02,
                Noise {
                    sample: 0.02,
                    ..Noise::NONE
                },
            ),
            seed,
        );
        let used = analysis.comparisons[0].estimate.unwrap().replicates as u32;
        assert!(looks.contains(&used), "{used}");
    }
}
