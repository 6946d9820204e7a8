//! Verdicts on quantiles of single iterations, tested by whole races on a simulated clock with
//! tails whose true quantiles are known. Seeds are fixed, so a failure is a change and not chance.

use std::thread;

use deadheat::parts::analysis::{
    Options, PlannedRule, analyse, blocks_for_quantile, looks_taken, planned_looks,
};
use deadheat::parts::engine::{
    Contenders, EngineError, NeverStop, Session, SimulatedClock, Unwatched,
};
use deadheat::parts::model::{
    Block, BlockRecord, Comparison, Design, Estimate, Metric, Run, Samples, Unrecorded, Verdict,
    Warning, Workload,
};
use deadheat_testing::runs::{self, benchmark, contenders, design, sample};

const ALPHA: f64 = 0.05;
const REPLICATES: u32 = 40;
/// The standard deviation of a side's layout effect, which is drawn for every replicate.
const LAYOUT: f64 = 0.01;

/// The distribution of the times of iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// Log-normal with σ = .3.
    LogNormal,
    /// A fixed time plus an exponential time, whose mean is half of the fixed time.
    Exponential,
    /// Log-normal with σ = .05, except that some iterations take ten times as long. Their share, of
    /// the baseline and of the candidate, is this multiple of the share beyond the quantile.
    Spikes([f64; 2]),
}

/// The difference between the candidate and the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// All iterations of the candidate take this many times as long.
    Whole(f64),
    /// The slowest iterations of the candidate take this many times as long: three times as many
    /// iterations as are beyond the quantile.
    Tail(f64),
}

#[derive(Clone, Copy, Debug)]
struct Setting {
    quantile: f64,
    shape: Shape,
    change: Change,
    margin: f64,
}

impl Setting {
    fn beyond(self) -> f64 {
        1.0 - self.quantile
    }

    /// ln of the ratio of the true quantiles.
    fn truth(self) -> f64 {
        let (Change::Whole(times) | Change::Tail(times)) = self.change;
        let spikes = match self.shape {
            // Only one side's quantile is among the spikes.
            Shape::Spikes([a, b]) if a < 1.0 && b > 1.0 => 10f64.ln(),
            _ => 0.0,
        };
        times.ln() + spikes
    }
}

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Two contenders with the times of a setting.
struct Tailed {
    setting: Setting,
    random: Random,
    replicate: Option<u32>,
    layouts: [f64; 2],
}

impl Tailed {
    fn iteration(&mut self, contender: usize) -> f64 {
        let Setting { shape, change, .. } = self.setting;
        let beyond = self.setting.beyond();
        let random = &mut self.random;
        // `slowest` is the time exceeded by three times as many iterations as are beyond the
        // quantile.
        let (time, slowest) = match shape {
            Shape::LogNormal => {
                let z: f64 = match self.setting.quantile {
                    0.9 => 0.5244,
                    0.99 => 1.8808,
                    _ => 2.7478,
                };
                ((0.3 * random.normal()).exp(), (0.3 * z).exp())
            }
            Shape::Exponential => (
                1.0 - 0.5 * (1.0 - random.unit()).ln(),
                1.0 - 0.5 * (3.0 * beyond).ln(),
            ),
            Shape::Spikes(shares) => {
                let spike = random.unit() < shares[contender] * beyond;
                let time = (0.05 * random.normal()).exp();
                (if spike { 10.0 * time } else { time }, f64::INFINITY)
            }
        };
        let times = match change {
            _ if contender == 0 => 1.0,
            Change::Whole(times) => times,
            Change::Tail(times) if time > slowest => times,
            Change::Tail(_) => 1.0,
        };
        (1e6 * time * times * self.layouts[contender].exp()).round()
    }
}

impl Contenders for Tailed {
    fn metrics(&self) -> &[Metric] {
        &[Metric::Wall]
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        if self.replicate != Some(block.replicate) {
            self.replicate = Some(block.replicate);
            self.layouts = [(); 2].map(|()| LAYOUT * self.random.normal());
        }
        for slot in &block.slots {
            record.values.push(self.iteration(slot.contender.index()));
            record.samples.push(sample(slot.contender.0));
        }
        Ok(())
    }
}

/// Simulates a race that judges the quantile, through schedule, session, stopping rule and
/// analysis.
fn race(setting: Setting, seed: u64) -> (Run, Comparison) {
    race_for(Some(setting.quantile), setting, seed)
}

/// As [`race`]; without a quantile, the race judges the centre of the same number of blocks.
fn race_for(quantile: Option<f64>, setting: Setting, seed: u64) -> (Run, Comparison) {
    let blocks = blocks_for_quantile(setting.quantile, 2);
    let design = Design {
        margin: setting.margin,
        alpha: ALPHA,
        quantile,
        blocks_per_replicate: blocks,
        ..design(planned_looks(0, REPLICATES, ALPHA).unwrap())
    };
    let both = contenders(["old", "new"], &Workload::Recording);
    let header = runs::header(design, seed, vec![benchmark("tailed", both)]);
    let mut run = Run::new(header.clone());
    Session {
        contenders: &mut Tailed {
            setting,
            random: Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D)),
            replicate: None,
            layouts: [0.0; 2],
        },
        clock: &SimulatedClock::default(),
        rule: &mut PlannedRule::new(&header),
        sink: &mut Unrecorded,
        watcher: &mut Unwatched,
        stop: &NeverStop,
        max_replicates: REPLICATES,
        budget: None,
        outlive_failures: false,
    }
    .race(&mut run)
    .unwrap();
    let comparison = answer(&run);
    (run, comparison)
}

fn answer(run: &Run) -> Comparison {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    analyse(run, options).comparisons.remove(0)
}

/// Counts of the outcomes of many races.
#[derive(Clone, Debug, Default)]
struct Tally {
    races: u32,
    faster: u32,
    slower: u32,
    equivalent: u32,
    /// Races in which the intervals of all looks contained the true effect.
    held: u32,
    /// Races in which the last interval contained it.
    held_at_the_end: u32,
    replicates: f64,
    off: f64,
    /// Races that judged the centre and ended in a dead heat.
    centre_equivalent: u32,
}

impl Tally {
    fn of(setting: Setting, races: u32) -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from) as u32;
        thread::scope(|scope| {
            let part = |first: u32| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    for seed in (first..races).step_by(threads as usize) {
                        tally.add(setting, u64::from(seed) + 1);
                    }
                    tally
                })
            };
            let parts: Vec<_> = (0..threads).map(part).collect();
            let mut all = Tally::default();
            for part in parts {
                all.join(part.join().unwrap());
            }
            all
        })
    }

    fn add(&mut self, setting: Setting, seed: u64) {
        let truth = setting.truth();
        let (run, found) = race(setting, seed);
        let holds = |estimate: &Option<Estimate>| {
            let interval = estimate.and_then(|one| one.interval);
            interval.is_some_and(|i| i.low.0 <= truth && truth <= i.high.0)
        };
        let looks = looks_taken(&run, 0);
        let is = |verdict| u32::from(found.verdict == Some(verdict));
        self.races += 1;
        self.faster += is(Verdict::Faster);
        self.slower += is(Verdict::Slower);
        self.equivalent += is(Verdict::Equivalent);
        self.held += u32::from(looks.iter().all(|look| holds(&look.estimates[0])));
        self.held_at_the_end += u32::from(holds(&found.estimate));
        let estimate = found.estimate.unwrap();
        self.replicates += estimate.replicates as f64;
        self.off += estimate.effect.0 - truth;
        if matches!(setting.change, Change::Tail(_)) {
            let centre = race_for(None, setting, seed).1.verdict;
            self.centre_equivalent += u32::from(centre == Some(Verdict::Equivalent));
        }
    }

    fn join(&mut self, other: Tally) {
        self.races += other.races;
        self.faster += other.faster;
        self.slower += other.slower;
        self.equivalent += other.equivalent;
        self.held += other.held;
        self.held_at_the_end += other.held_at_the_end;
        self.replicates += other.replicates;
        self.off += other.off;
        self.centre_equivalent += other.centre_equivalent;
    }

    /// Returns the number of false verdicts.
    fn wrong(&self, setting: Setting) -> u32 {
        let truth = setting.truth();
        let too_large = truth.abs() >= setting.margin.ln_1p();
        let of = |counts: bool, number: u32| if counts { number } else { 0 };
        of(truth >= 0.0, self.faster)
            + of(truth <= 0.0, self.slower)
            + of(too_large, self.equivalent)
    }
}

/// The largest count that a true rate of α exceeds in less than one of 10,000 such rows.
fn at_most(races: u32) -> u32 {
    let n = f64::from(races);
    (n * ALPHA + 3.72 * (n * ALPHA * (1.0 - ALPHA)).sqrt()).ceil() as u32
}

/// Usual tails, and spikes whose share is near the share beyond the quantile. Chance then decides
/// whether the quantile of a replicate is among the spikes.
const SHAPES: [(&str, Shape); 5] = [
    ("log-normal", Shape::LogNormal),
    ("exponential tail", Shape::Exponential),
    ("spikes in half as many", Shape::Spikes([0.5; 2])),
    ("spikes in as many", Shape::Spikes([1.0; 2])),
    ("spikes in twice as many", Shape::Spikes([2.0; 2])),
];

fn assert_honest(quantile: f64, shapes: &[(&str, Shape)], races: u32) {
    for (name, shape) in shapes {
        for times in [1.0, 1.05] {
            let setting = Setting {
                quantile,
                shape: *shape,
                change: Change::Whole(times),
                margin: 0.01,
            };
            let tally = Tally::of(setting, races);
            let missed = races - tally.held;
            let wrong = tally.wrong(setting);
            assert!(wrong <= at_most(races), "{name}, {setting:?}: {tally:?}");
            assert!(missed <= at_most(races), "{name}, {setting:?}: {tally:?}");
        }
    }
}

#[test]
fn quantiles_of_equal_contenders_are_called_different_no_more_often_than_alpha() {
    assert_honest(0.5, &SHAPES[..2], 400);
    assert_honest(0.9, &SHAPES, 200);
    assert_honest(0.99, &SHAPES[3..4], 50);
}

#[test]
fn a_slower_tail_is_found_where_the_centre_is_a_dead_heat() {
    let setting = Setting {
        quantile: 0.99,
        shape: Shape::Exponential,
        change: Change::Tail(1.3),
        margin: 0.03,
    };
    let tally = Tally::of(setting, 30);
    assert!(tally.slower >= 27 && tally.faster == 0, "{tally:?}");
    assert!(tally.centre_equivalent >= 27, "{tally:?}");
}

#[test]
fn a_quantile_has_no_verdict_before_six_replicates_and_says_so() {
    let setting = Setting {
        quantile: 0.9,
        shape: Shape::LogNormal,
        change: Change::Whole(1.0),
        margin: 0.01,
    };
    let (run, found) = race(setting, 3);
    assert_eq!(found.terms.quantile, Some(0.9));
    let estimate = found.estimate.unwrap();
    assert_eq!(estimate.blocks, estimate.replicates);
    for replicates in [0, 1, 5] {
        // The next replicate lacks one block.
        let cut = answer(&first_blocks(&run, replicates * 25 + 24));
        assert_eq!(cut.verdict, None);
        assert_eq!(cut.estimate.map_or(0, |one| one.replicates), replicates);
        let few = Warning::FewReplicates {
            have: replicates,
            need: 6,
        };
        assert!(cut.warnings.contains(&few), "{:?}", cut.warnings);
    }
}

/// Returns the run as if it had ended after this many blocks.
fn first_blocks(run: &Run, blocks: usize) -> Run {
    let all = &run.benchmarks[0];
    let mut samples = Samples::new(all.metrics().to_vec());
    for span in &all.blocks()[..blocks] {
        let record = BlockRecord {
            replicate: span.replicate,
            index: span.index,
            samples: all.samples()[span.range()].to_vec(),
            values: all.column(&Metric::Wall).unwrap()[span.range()].to_vec(),
            ..BlockRecord::default()
        };
        samples.push(&record).unwrap();
    }
    Run {
        benchmarks: vec![samples],
        ..run.clone()
    }
}

/// Prints the table of `docs/method_tables.md`.
#[test]
#[ignore = "takes minutes; prints the table of docs/method_tables.md"]
fn the_table_of_tails() {
    println!(
        "| quantile | iterations | candidate | races | wrong | intervals held the truth, all looks (last) | slower | dead heat | replicates | dead heat by the \
         centre |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let row = |name: &str, setting: Setting, races: u32| {
        let tally = Tally::of(setting, races);
        let races = f64::from(tally.races);
        let share = |count: u32| format!("{:.3}", f64::from(count) / races);
        let change = match setting.change {
            Change::Whole(1.0) => "the same".to_owned(),
            Change::Whole(times) => format!("+{:.0} %", 100.0 * times - 100.0),
            Change::Tail(times) => format!("tail +{:.0} %", 100.0 * times - 100.0),
        };
        let centre = match setting.change {
            Change::Tail(_) => share(tally.centre_equivalent),
            Change::Whole(_) => String::new(),
        };
        println!(
            "| {} % | {name} | {change} | {races} | {} | {} ({}) | {} | {} | {:.1} | {centre} |",
            100.0 * setting.quantile,
            share(tally.wrong(setting)),
            share(tally.held),
            share(tally.held_at_the_end),
            share(tally.slower),
            share(tally.equivalent),
            tally.replicates / races,
        );
        let honest = !matches!(setting.shape, Shape::Spikes([a, b]) if a != b);
        if honest {
            assert!(
                tally.wrong(setting) <= at_most(tally.races),
                "{setting:?}: {tally:?}"
            );
            assert!(
                tally.races - tally.held <= at_most(tally.races),
                "{setting:?}: {tally:?}"
            );
        }
    };
    for (quantile, races) in [(0.5, 2_000), (0.9, 2_000), (0.99, 2_000), (0.999, 200)] {
        let setting = |shape, change, margin| Setting {
            quantile,
            shape,
            change,
            margin,
        };
        for (name, shape) in SHAPES {
            for times in [1.0, 1.05] {
                row(name, setting(shape, Change::Whole(times), 0.01), races);
            }
        }
        if quantile > 0.5 {
            for (name, shape) in &SHAPES[..2] {
                row(name, setting(*shape, Change::Tail(1.1), 0.03), races / 4);
            }
        }
        let apart = Shape::Spikes([0.8, 1.2]);
        row(
            "spikes in .8 and 1.2 as many",
            setting(apart, Change::Whole(1.0), 0.01),
            races / 4,
        );
    }
}
