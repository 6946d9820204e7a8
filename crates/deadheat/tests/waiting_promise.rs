//! The promises of races whose contenders wait for a core, tested by whole races on a simulated
//! clock. Seeds are fixed, so a failure is a change and not chance.

#[path = "../examples/calibration/simulation/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod simulation;

use std::thread;

use deadheat::parts::engine::{Contenders, EngineError, Noise, SimulatedContenders};
use deadheat::parts::model::{
    Analysis, Block, BlockRecord, Flags, Metric, Run, Slot, Verdict, Waiting,
};

use simulation::families::{commands, percent};
use simulation::race::{ALPHA, Setting, race, race_of};
use simulation::tally::{Tally, at_most};

/// Waits as a function with 14 ms of arithmetic had them on two cores with two busy loops: effects
/// of blocks of four scattered by 0.75% without the waits, and by 8.7% with them.
const WAITS: Noise = Noise {
    sample: 0.0075,
    waits: 0.6,
    ..Noise::NONE
};

/// A core with two frequencies, 2.8 and 3.6 GHz.
const SPEEDS: Noise = Noise {
    modes: 0.25,
    mode_count: 2,
    ..WAITS
};

/// Other noise that may hide the true effect on a machine with too few cores.
const WEATHERS: [(&str, Noise); 8] = [
    (
        "no waits",
        Noise {
            waits: 0.0,
            ..WAITS
        },
    ),
    ("waits of 60 %", WAITS),
    (
        "waits of 300 %",
        Noise {
            waits: 3.0,
            ..WAITS
        },
    ),
    (
        "bursts of waits, 100 % of every other second",
        Noise {
            waits: 1.0,
            burst_ns: 1_000_000_000,
            ..WAITS
        },
    ),
    (
        "two speeds, new after 5 samples",
        Noise {
            mode_length: 5,
            ..SPEEDS
        },
    ),
    (
        "two speeds, new after 50 samples",
        Noise {
            mode_length: 50,
            ..SPEEDS
        },
    ),
    (
        "a hypervisor takes 2 %, unseen",
        Noise {
            steal: 0.02,
            ..WAITS
        },
    ),
    (
        "bursts, two speeds and a hypervisor",
        Noise {
            waits: 1.0,
            burst_ns: 1_000_000_000,
            mode_length: 50,
            steal: 0.02,
            ..SPEEDS
        },
    ),
];

/// A function of 14 ms, with so few blocks in a process that the first look comes within a second.
fn function(change: f64, noise: Noise) -> Setting {
    Setting {
        blocks_per_replicate: 3,
        baseline_ns: 1.4e7,
        // 0.14% for both sides together.
        noise: Noise {
            layout: 0.001,
            ..noise
        },
        ..commands(percent(change), noise)
    }
}

/// A command of 14 ms.
fn command(change: f64, noise: Noise) -> Setting {
    Setting {
        baseline_ns: 1.4e7,
        ..commands(percent(change), noise)
    }
}

fn kept(setting: Setting) -> Setting {
    Setting {
        waiting: Waiting::Keep,
        ..setting
    }
}

fn tally(setting: &Setting, races: u32) -> Tally {
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get());
    Tally::of(setting, 0..u64::from(races), threads)
}

/// Asserts that false verdicts and missed true effects are not more frequent than α allows.
fn assert_honest(name: &str, setting: &Setting, races: u32) -> Tally {
    let tally = tally(setting, races);
    let allowed = at_most(races, ALPHA);
    let wrong = tally.wrong(setting.effects[0], setting.margin);
    assert!(wrong <= allowed, "{name}: {tally:?}");
    assert!(races - tally.held_always <= allowed, "{name}: {tally:?}");
    tally
}

#[test]
fn whatever_else_the_machine_does_verdicts_are_false_no_more_often_than_alpha() {
    for (name, noise) in WEATHERS {
        for design in [function, command] {
            assert_honest(name, &design(0.0, noise), 400);
        }
    }
    // Shares of waiting near the limit from which on deadheat subtracts the delay.
    for waits in [0.005, 0.012] {
        let noise = Noise { waits, ..WAITS };
        assert_honest("few waits", &command(0.0, noise), 400);
        assert_honest("few waits", &command(1.0, noise), 400);
    }
}

#[test]
fn one_percent_of_a_long_function_is_found_and_never_the_wrong_way_round() {
    for (name, noise) in WEATHERS {
        let found = assert_honest(name, &function(1.0, noise), 200);
        assert_eq!(found.faster, 0, "{name}: {found:?}");
        // Time that a hypervisor takes is not recorded, so it cannot be subtracted.
        if noise.steal == 0.0 {
            assert!(found.slower >= 190, "{name}: {found:?}");
        }
    }
    // As many replicates as without waits.
    let found = tally(&command(1.0, WAITS), 200);
    assert!(found.slower >= 190 && found.replicates < 18.0, "{found:?}");
    let same = tally(&function(0.0, WAITS), 200);
    assert!(same.equivalent >= 190, "{same:?}");
}

#[test]
fn with_waiting_kept_there_is_no_power_left_where_cores_are_wanted() {
    let kept = tally(&kept(function(1.0, WAITS)), 200);
    assert!(kept.slower < 40, "{kept:?}");
}

/// Contenders that get a flag about their waiting from the replicate `from` on.
struct FoundOut {
    contenders: SimulatedContenders,
    from: u32,
    flag: Flags,
}

impl Contenders for FoundOut {
    fn metrics(&self) -> &[Metric] {
        self.contenders.metrics()
    }

    fn warm_up(&mut self, benchmark: usize, slots: &[Slot]) -> Result<(), EngineError> {
        self.contenders.warm_up(benchmark, slots)
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        self.contenders.run(block, record)?;
        if block.replicate >= self.from {
            for sample in &mut record.samples {
                sample.flags = sample.flags.and(self.flag);
            }
        }
        Ok(())
    }

    fn launched(&mut self) -> u64 {
        self.contenders.launched()
    }
}

/// Simulates a race whose samples have `flag` from the replicate `from` on.
fn found_out(setting: &Setting, seed: u64, from: u32, flag: Flags) -> (Run, Analysis) {
    race_of(setting, seed, |contenders| FoundOut {
        contenders,
        from,
        flag,
    })
}

#[test]
fn what_is_found_out_in_the_middle_is_told_and_all_waiting_kept_from_the_first_sample_on() {
    // The contender started a thread; or its delay was missing, all zeros, or decreased.
    for (flag, code) in [
        (Flags::CONCURRENT, "waiting-of-its-own"),
        (Flags::DELAY_UNREAD, "waiting-unread"),
    ] {
        for seed in 0..20 {
            // The flag comes before the first look, so both races have the same samples.
            let setting = function(1.0, WAITS);
            let (run, analysis) = found_out(&setting, seed, 4, flag);
            let (as_kept, expected) = race(&kept(setting.clone()), seed);
            let times = |run: &Run| run.benchmarks[0].column(&Metric::Wall).map(<[f64]>::to_vec);
            assert_eq!(times(&run), times(&as_kept));
            let (found, expected) = (&analysis.comparisons[0], &expected.comparisons[0]);
            assert_eq!(found.estimate, expected.estimate);
            assert_eq!(found.verdict, expected.verdict);
            assert!(!found.aspects.waiting.as_ref().unwrap().taken_out);
            let codes: Vec<_> = found.warnings.iter().map(|one| one.code()).collect();
            assert!(codes.contains(&code), "{codes:?}");
            let (_, out) = race(&setting, seed);
            assert_ne!(out.comparisons[0].estimate, expected.estimate);
        }
    }
}

#[test]
fn verdicts_stay_honest_whenever_it_is_found_out() {
    for from in [1, 7, 15] {
        let wrong = (0..300)
            .filter(|seed| {
                let setting = command(0.0, WAITS);
                let (_, analysis) = found_out(&setting, *seed, from, Flags::CONCURRENT);
                let verdict = analysis.comparisons[0].verdict;
                matches!(verdict, Some(Verdict::Faster | Verdict::Slower))
            })
            .count() as u32;
        assert!(wrong <= at_most(300, ALPHA), "from {from}: {wrong}");
    }
}

/// The table of the methodology: `cargo test --release -p deadheat --all-features --test
/// waiting_promise -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; its figures are in docs/method_tables.md"]
fn table() {
    const SAME: u32 = 4_000;
    const MORE: u32 = 1_000;
    println!(
        "| machine | raced | with itself: faster or slower | dead heat | +1 %: slower | faster | dead heat | replicates |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let designs = [
        ("function", function as fn(f64, Noise) -> Setting),
        ("command", command),
    ];
    for ((name, noise), (what, design)) in
        (WEATHERS.iter()).flat_map(|weather| designs.iter().map(move |design| (weather, design)))
    {
        let both = |change: f64, races: u32| {
            let setting = design(change, *noise);
            [tally(&setting, races), tally(&kept(setting), races)]
        };
        let (same, more) = (both(0.0, SAME), both(1.0, MORE));
        let wrong = same.each_ref().map(|of| {
            let wrong = of.faster + of.slower;
            let percent = 100.0 * f64::from(wrong) / f64::from(SAME);
            format!("{wrong} ({percent:.1} %)")
        });
        let count = |of: &[Tally; 2], count: fn(&Tally) -> u32| {
            of.each_ref().map(|of| count(of).to_string()).join(" · ")
        };
        println!(
            "| {name} | {what} | {} | {} | {} | {} | {} | {} |",
            wrong.join(" · "),
            count(&same, |of| of.equivalent),
            count(&more, |of| of.slower),
            count(&more, |of| of.faster),
            count(&more, |of| of.equivalent),
            more.each_ref()
                .map(|of| format!("{:.1}", of.replicates))
                .join(" · "),
        );
    }
}
