//! Tests the promises of controls by whole races on a simulated clock. Seeds are fixed, so a
//! failure is a change and not chance.

#[allow(
    dead_code,
    reason = "the simulation is shared with the program that calibrates"
)]
#[path = "../examples/calibration/simulation/mod.rs"]
mod simulation;

use deadheat::parts::analysis::{Options, PlannedRule, analyse, planned_looks};
use deadheat::parts::engine::{
    NeverStop, Noise, Schedule, Session, SimulatedClock, SimulatedContenders, Simulation, Unwatched,
};
use deadheat::parts::model::{
    Analysis, BlockRecord, Design, EndReason, Metric, Run, RunEnd, RunHeader, Samples, Unrecorded,
    Verdict, Warning, Workload,
};
use deadheat_testing::runs::{self, benchmark, contenders, design};

use simulation::families::{FAMILIES, QUIET, percent};
use simulation::race::ALPHA;
use simulation::tally::at_most;

/// The settings of a run of several benchmarks with the same noise and effects.
#[derive(Clone)]
struct Setting {
    benchmarks: usize,
    blocks: u32,
    /// True effects of the candidates.
    candidates: Vec<f64>,
    /// True effect of the control. Real controls have none.
    control: f64,
    noise: Noise,
}

impl Setting {
    /// A race of commands: every sample is a separate process.
    fn commands(candidate: f64, noise: Noise) -> Self {
        Self {
            benchmarks: 1,
            blocks: 1,
            candidates: vec![candidate],
            control: 0.0,
            noise,
        }
    }

    /// A race of processes with many blocks each, and one layout per process.
    fn processes(candidate: f64, noise: Noise) -> Self {
        let noise = Noise {
            layout: 0.007,
            ..noise
        };
        Self {
            blocks: 25,
            ..Self::commands(candidate, noise)
        }
    }

    fn of(self, benchmarks: usize) -> Self {
        Self { benchmarks, ..self }
    }

    fn biased(self, control: f64) -> Self {
        Self { control, ..self }
    }

    fn header(&self, seed: u64) -> RunHeader {
        let names = || (0..=self.candidates.len()).map(|index| format!("contender {index}"));
        let benchmark = |index: usize| {
            let contenders = contenders(names(), &Workload::Recording);
            let mut benchmark = benchmark(format!("benchmark {index}"), contenders);
            benchmark.add_control();
            benchmark
        };
        let design = Design {
            blocks_per_replicate: self.blocks,
            warmup: 1,
            ..design(planned_looks(0, 40, ALPHA).unwrap())
        };
        runs::header(design, seed, (0..self.benchmarks).map(benchmark).collect())
    }

    fn run(&self, seed: u64) -> Run {
        let header = self.header(seed);
        assert_eq!(header.plan.validate(), Ok(()));
        let clock = SimulatedClock::default();
        let simulation = Simulation {
            baseline_ns: 2e7,
            effects: [&self.candidates[..], &[self.control]].concat(),
            noise: self.noise,
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
            max_replicates: 40,
            budget: None,
            outlive_failures: false,
        }
        .race(&mut run)
        .expect("simulated contenders never fail");
        run
    }

    fn analysis(&self, seed: u64) -> Analysis {
        analysed(&self.run(seed))
    }

    /// Returns how many of `runs` runs find a control different from its baseline.
    fn separated(&self, runs: u32) -> u32 {
        let runs = (0..u64::from(runs)).map(|seed| self.analysis(seed));
        runs.filter(separated).count() as u32
    }
}

fn analysed(run: &Run) -> Analysis {
    let options = Options {
        without_figures: true,
        ..Options::default()
    };
    analyse(run, options)
}

/// Returns true if the run finds a control different. All parts of the answer must agree on this.
fn separated(analysis: &Analysis) -> bool {
    let controls = analysis.comparisons.iter();
    let any = controls
        .clone()
        .any(|one| one.aspects.control.unwrap().separated);
    for one in controls {
        let warned = |warning: &Warning| matches!(warning, Warning::ControlSeparated { .. });
        assert_eq!(one.warnings.iter().any(warned), any);
        assert_eq!(one.evidence.provisional, any && one.verdict.is_some());
    }
    any
}

/// Returns the run with the times of the control of one benchmark multiplied by `factor`.
fn rescaled(run: &Run, benchmark: usize, factor: f64) -> Run {
    let mut changed = run.clone();
    let samples = &run.benchmarks[benchmark];
    let wall = samples.column(&Metric::Wall).unwrap();
    let control = run.header.plan.benchmarks[benchmark].control();
    changed.benchmarks[benchmark] = Samples::new(vec![Metric::Wall]);
    for block in samples.blocks() {
        let own = samples.samples()[block.range()].to_vec();
        let value = |(sample, wall): (&deadheat::parts::model::Sample, &f64)| {
            let is_control = Some(sample.contender) == control;
            if is_control { wall * factor } else { *wall }
        };
        let record = BlockRecord {
            benchmark,
            replicate: block.replicate,
            index: block.index,
            values: own.iter().zip(&wall[block.range()]).map(value).collect(),
            samples: own,
            ..BlockRecord::default()
        };
        changed.benchmarks[benchmark].push(&record).unwrap();
    }
    changed
}

#[test]
fn a_control_separates_in_at_most_alpha_of_runs() {
    for family in FAMILIES {
        let commands = Setting::commands(0.0, family.noise).separated(300);
        assert!(
            commands <= at_most(300, ALPHA),
            "{}: {commands}",
            family.name
        );
        let processes = Setting::processes(0.0, family.noise).separated(40);
        assert!(
            processes <= at_most(40, ALPHA),
            "{}: {processes}",
            family.name
        );
    }
}

#[test]
fn many_controls_together_do_so_no_more_often() {
    for family in [FAMILIES[0], FAMILIES[1]] {
        let runs = Setting::commands(0.0, family.noise).of(6);
        let found = runs.separated(150);
        assert!(found <= at_most(150, ALPHA), "{}: {found}", family.name);
    }
}

/// The end of the race depends on the baseline, which candidate and control share. Even then, the
/// control separates in no more runs than α allows.
#[test]
fn nor_where_the_race_ends_when_the_baseline_looks_odd() {
    for effect in [percent(-1.0), percent(-3.0), percent(20.0)] {
        let found = Setting::commands(effect, QUIET).separated(600);
        assert!(found <= at_most(600, ALPHA), "{effect}: {found}");
    }
}

#[test]
fn a_copy_that_is_slower_by_where_it_stands_makes_every_verdict_provisional() {
    for setting in [
        Setting::commands(0.0, QUIET).of(3),
        Setting::processes(0.0, QUIET),
        Setting::processes(percent(2.0), QUIET).of(2),
    ] {
        let biased = setting.biased(percent(3.0));
        let found = biased.separated(30);
        assert!(found >= 28, "{found} of 30");
        let analysis = biased.analysis(5);
        let Warning::ControlSeparated { change, .. } = &analysis.comparisons[0].warnings[0] else {
            panic!("{:?}", analysis.comparisons[0].warnings);
        };
        assert!((change - 0.03).abs() < 0.02, "{change}");
    }
}

#[test]
fn one_that_separates_among_many_casts_doubt_on_all_and_is_named() {
    let run = Setting::commands(percent(-5.0), QUIET).of(4).run(11);
    assert!(!separated(&analysed(&run)));
    let analysis = analysed(&rescaled(&run, 2, 1.1));
    assert!(separated(&analysis));
    let found: Vec<bool> = analysis
        .comparisons
        .iter()
        .map(|one| one.aspects.control.unwrap().separated)
        .collect();
    assert_eq!(found, [false, false, true, false]);
    for one in &analysis.comparisons {
        assert!(one.evidence.provisional);
        let Warning::ControlSeparated {
            benchmark,
            separated,
            of,
            ..
        } = &one.warnings[0]
        else {
            panic!("{:?}", one.warnings);
        };
        assert_eq!((benchmark.as_str(), *separated, *of), ("benchmark 2", 1, 4));
    }
}

/// A control changes nothing in a candidate's answer except the word "provisional" and the warning
/// that explains it.
#[test]
fn a_control_has_no_say_in_what_is_called_and_when() {
    let setting = Setting {
        candidates: vec![percent(-2.0), 0.0],
        ..Setting::processes(0.0, QUIET).of(2)
    };
    for seed in 0..10 {
        let run = setting.run(seed);
        let biased = setting.clone().biased(0.5).run(seed);
        let blocks = |run: &Run| -> Vec<usize> {
            run.benchmarks
                .iter()
                .map(|one| one.blocks().len())
                .collect()
        };
        assert_eq!(blocks(&run), blocks(&biased), "the races end alike");
        let [plain, doubted] = [&run, &biased].map(analysed);
        assert_eq!(plain.comparisons.len(), 4, "two candidates each");
        assert!(separated(&doubted));
        for (mut one, mut other) in plain.comparisons.into_iter().zip(doubted.comparisons) {
            for comparison in [&mut one, &mut other] {
                comparison.aspects.control = None;
                comparison.evidence.provisional = false;
                let doubt =
                    |warning: &Warning| !matches!(warning, Warning::ControlSeparated { .. });
                comparison.warnings.retain(doubt);
            }
            assert_eq!(one, other);
        }
    }
}

#[test]
fn beside_a_control_candidates_are_called_wrongly_no_more_often_than_alpha() {
    for family in [FAMILIES[0], FAMILIES[1], FAMILIES[7]] {
        for bias in [0.0, percent(3.0)] {
            let setting = Setting::commands(0.0, family.noise).biased(bias);
            let wrong = (0..300).filter(|seed| {
                let verdict = setting.analysis(*seed).comparisons[0].verdict;
                matches!(verdict, Some(Verdict::Faster | Verdict::Slower))
            });
            let wrong = wrong.count() as u32;
            assert!(wrong <= at_most(300, ALPHA), "{}: {wrong}", family.name);
        }
    }
}

#[test]
fn a_true_difference_is_found_beside_a_control() {
    let setting = Setting::processes(percent(-2.0), QUIET);
    let faster = (0..40)
        .filter(|seed| setting.analysis(*seed).comparisons[0].verdict == Some(Verdict::Faster));
    assert!(faster.count() >= 38);
}

#[test]
fn a_run_that_was_cut_has_a_control_that_holds_at_any_time() {
    let mut cut = Setting::commands(0.0, QUIET).run(3);
    cut.end = Some(RunEnd {
        reason: EndReason::Interrupted(2),
        launches: 0,
        elapsed_ns: 0,
    });
    let planned = Setting::commands(0.0, QUIET).analysis(3);
    // The race had reached its verdict by the plan, so the answer does not change.
    assert_eq!(
        analysed(&cut).comparisons[0].aspects.control,
        planned.comparisons[0].aspects.control
    );
    cut.resume();
    let more = Setting::commands(0.0, QUIET).run(4);
    for block in more.benchmarks[0].blocks() {
        let samples = &more.benchmarks[0];
        let last = cut.benchmarks[0].blocks().last().unwrap().replicate;
        let record = BlockRecord {
            replicate: last + 1,
            samples: samples.samples()[block.range()].to_vec(),
            values: samples.column(&Metric::Wall).unwrap()[block.range()].to_vec(),
            ..BlockRecord::default()
        };
        cut.benchmarks[0].push(&record).unwrap();
    }
    let analysis = analysed(&cut);
    assert!(!separated(&analysis));
    let one = &analysis.comparisons[0];
    assert!(
        one.warnings.contains(&Warning::JudgedAnytime),
        "{:?}",
        one.warnings
    );
    let estimate = one.aspects.control.unwrap().estimate;
    assert_eq!(estimate.replicates, cut.benchmarks[0].blocks().len());
    assert_eq!(estimate.interval.unwrap().confidence, 0.95);
}

#[test]
fn a_baseline_alone_can_race_itself() {
    let alone = Setting {
        candidates: vec![],
        ..Setting::commands(0.0, QUIET)
    };
    let found = alone.separated(300);
    assert!(found <= at_most(300, ALPHA), "{found}");
    let analysis = alone.analysis(1);
    let [one] = &analysis.comparisons[..] else {
        panic!("{:?}", analysis.comparisons);
    };
    assert_eq!(
        (&one.candidate, one.verdict, one.suite.p_adjusted),
        (&None, None, None)
    );
    let estimate = one.aspects.control.unwrap().estimate;
    assert_eq!(
        (estimate.replicates, estimate.blocks),
        (40, 40),
        "to the last"
    );
    assert_eq!(
        estimate.interval.unwrap().confidence,
        0.95,
        "it is looked at once"
    );
    assert!(alone.biased(percent(3.0)).separated(20) >= 19);
}

#[test]
fn a_control_stands_in_every_place_of_a_block_and_behind_everyone() {
    let header = Setting {
        candidates: vec![0.0, 0.0],
        ..Setting::commands(0.0, QUIET)
    }
    .header(9);
    let schedule = Schedule::new(&header.plan);
    let (mut places, mut follows) = ([[0; 4]; 4], [[0; 4]; 4]);
    for replicate in 0..4 * 5 {
        let block = schedule.block(0, replicate, 0, None);
        for (place, slot) in block.slots.iter().enumerate() {
            places[slot.contender.index()][place] += 1;
        }
        for pair in block.slots.windows(2) {
            follows[pair[0].contender.index()][pair[1].contender.index()] += 1;
        }
    }
    assert_eq!(places, [[5; 4]; 4]);
    for (one, behind) in follows.iter().enumerate() {
        for (other, count) in behind.iter().enumerate() {
            assert_eq!(*count, if one == other { 0 } else { 5 });
        }
    }
}
