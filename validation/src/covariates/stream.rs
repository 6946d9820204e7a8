//! A function called again and again on one core, with all that is told of
//! every call.
//!
//! In a race of a function with itself nothing depends on whose turn it is. So
//! calls in a row are samples of such a race, whatever length its samples and
//! whatever order its blocks have; both are laid over the calls afterwards.

use std::time::Instant;

use deadheat::parts::engine::{SampleClock, cores_of_this_thread, pin_this_thread};
use deadheat_examples::busy_work::mixing;
use deadheat_stats::summary::median;
use deadheat_validation::routines::chase::Ring;

use crate::readings::{Source, Sources, Told, Used};

/// The memory that is walked through, in MiB: more than a core is left of a last
/// cache. A ring of 8 MiB took 12 ns a step or 150, as its neighbours let it.
pub const MIB: usize = 64;

/// The work that a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A chain of dependent multiplications.
    Registers,
    /// A chain of dependent loads.
    Memory,
}

impl Work {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::Memory => "memory",
        }
    }
}

/// A function that is done in parts, between which something can be read.
pub struct Function {
    work: Work,
    ring: Ring,
    steps: u32,
    parts: usize,
    probes: Option<Probes>,
}

/// Steps of the probes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probes {
    /// Before the first part, and after the last.
    pub around: u32,
    /// Between two parts.
    pub within: u32,
}

impl Function {
    /// A function that takes about so many nanoseconds on this machine, in so
    /// many parts.
    pub fn lasting(work: Work, ns: f64, parts: usize, probes: Option<Probes>) -> Self {
        const TRIAL: u32 = 50_000;
        const TRIALS: usize = 200;
        let mut function = Self {
            work,
            ring: Ring::new(29, MIB * (1 << 20) / 64),
            steps: TRIAL,
            parts,
            probes,
        };
        let trial = |_| {
            let start = Instant::now();
            function.part();
            start.elapsed().as_nanos() as f64
        };
        let trials: Vec<f64> = (0..TRIALS).map(trial).collect();
        let each = median(&trials).expect("trials");
        let steps = f64::from(TRIAL) * ns / parts as f64 / each;
        function.steps = steps.round().max(1.0) as u32;
        function
    }

    fn part(&self) {
        std::hint::black_box(match self.work {
            Work::Registers => mixing(self.steps),
            Work::Memory => self.ring.walk(1, self.steps as usize),
        });
    }
}

/// A part of a call, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// As the clock shows it.
    pub wall: f64,
    /// On a core.
    pub cpu: f64,
    /// Waiting for a core, by the rule of a race.
    pub waiting: f64,
}

impl Part {
    /// Wall time with the waiting taken out.
    pub fn ran(&self) -> f64 {
        self.wall - self.waiting
    }

    fn and(self, other: Self) -> Self {
        Self {
            wall: self.wall + other.wall,
            cpu: self.cpu + other.cpu,
            waiting: self.waiting + other.waiting,
        }
    }
}

/// One call, or several in a row taken for one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// All parts of it.
    pub time: Part,
    /// From before the first reading to after the last, with probes.
    pub span: f64,
    /// Times the core was taken away, and given up.
    pub switches: [f64; 2],
    /// Nanoseconds of a probe around it and of one within, summed over its calls;
    /// nothing without.
    pub probes: Option<[f64; 2]>,
    /// Readings of the surroundings.
    pub told: Told,
}

impl Sample {
    /// Several samples in a row as one: times and counts are summed, rates are
    /// averaged.
    pub fn together(samples: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> f64| samples.iter().map(of).sum::<f64>();
        let all = |of: fn(&Self) -> Option<f64>| {
            let all: Option<Vec<f64>> = samples.iter().map(of).collect();
            all.map(|all| all.iter().sum::<f64>())
        };
        let mean = |of: fn(&Self) -> Option<f64>| all(of).map(|sum| sum / samples.len() as f64);
        let probes: Option<Vec<[f64; 2]>> = samples.iter().map(|one| one.probes).collect();
        let probes = probes.map(|all| {
            let sum = |kind: usize| all.iter().map(|one| one[kind]).sum();
            [sum(0), sum(1)]
        });
        Self {
            time: samples
                .iter()
                .fold(Part::default(), |sum, one| sum.and(one.time)),
            span: sum(|one| one.span),
            switches: [sum(|one| one.switches[0]), sum(|one| one.switches[1])],
            probes,
            told: Told {
                steal: all(|one| one.told.steal),
                neighbours: all(|one| one.told.neighbours),
                instructions: all(|one| one.told.instructions),
                speed: mean(|one| one.told.speed),
                khz: mean(|one| one.told.khz),
                cycles: mean(|one| one.told.cycles),
            },
        }
    }
}

/// The calls of one replicate: a thread of its own, on one core.
pub struct Replicate {
    /// The calls, in order.
    pub calls: Vec<Sample>,
    /// The parts of all of them, in order.
    pub parts: Vec<Part>,
}

/// The cost of each source, or why it cannot be read.
pub type Costs = Vec<(Source, Result<f64, String>)>;

/// Calls a function so often in each of so many replicates, on the cores in
/// turn, and measures what reading costs.
pub fn recorded(function: &Function, replicates: usize, calls: usize) -> (Vec<Replicate>, Costs) {
    let cores = cores_of_this_thread().filter(|cores| !cores.is_empty());
    let cores = cores.unwrap_or_else(|| vec![0]);
    let (clock, _) = SampleClock::choose();
    let mut costs = Costs::new();
    let mut all = Vec::with_capacity(replicates);
    for number in 0..replicates {
        let core = cores[number % cores.len()];
        let on_its_core = || {
            pin_this_thread(core).expect("a core that this process may use");
            let mut sources = Sources::open(core);
            let replicate = replicate(function, &clock, &mut sources, calls);
            (replicate, (number == 0).then(|| costs_of(&mut sources)))
        };
        let (replicate, measured) = std::thread::scope(|scope| {
            let thread = scope.spawn(on_its_core);
            thread.join().expect("the replicate ends")
        });
        all.push(replicate);
        costs.extend(measured.into_iter().flatten());
    }
    (all, costs)
}

fn costs_of(sources: &mut Sources) -> Costs {
    let cost = |source: Source| {
        let cost = sources.cost_ns(source);
        let why = || {
            sources
                .why_not(source)
                .map_or_else(String::new, ToString::to_string)
        };
        (source, cost.ok_or_else(why))
    };
    Source::ALL.into_iter().map(cost).collect()
}

fn replicate(
    function: &Function,
    clock: &SampleClock,
    sources: &mut Sources,
    calls: usize,
) -> Replicate {
    let mut replicate = Replicate {
        calls: Vec::with_capacity(calls),
        parts: Vec::with_capacity(calls * function.parts),
    };
    // Once beforehand, for what only the first needs.
    for _ in 0..function.parts {
        function.part();
    }
    let mut probes = Vec::with_capacity(function.parts + 1);
    for _ in 0..calls {
        probes.clear();
        let probe = |probes: &mut Vec<f64>, sources: &Sources, steps: fn(Probes) -> u32| {
            if let Some(steps) = function.probes.map(steps) {
                let probe = timed(clock, sources, || _ = std::hint::black_box(mixing(steps)));
                probes.push(probe.0.ran());
            }
        };
        let around = sources.surroundings();
        let began = Instant::now();
        let mut call = Sample::default();
        probe(&mut probes, sources, |steps| steps.around);
        for part in 1..=function.parts {
            let (time, used) = timed(clock, sources, || function.part());
            call.time = call.time.and(time);
            call.switches[0] += used.involuntary;
            call.switches[1] += used.voluntary;
            replicate.parts.push(time);
            let steps: fn(Probes) -> u32 = match part == function.parts {
                true => |steps| steps.around,
                false => |steps| steps.within,
            };
            probe(&mut probes, sources, steps);
        }
        call.span = began.elapsed().as_nanos() as f64;
        let after = sources.surroundings();
        call.told = sources.told(&around, &after);
        call.probes = told_by(&probes);
        replicate.calls.push(call);
    }
    replicate
}

/// Times some work, with the thread's own account of it around the clock.
fn timed(clock: &SampleClock, sources: &Sources, work: impl FnOnce()) -> (Part, Used) {
    let before = sources.thread(false);
    let start = clock.start();
    work();
    let wall = clock.ns_between(start, clock.stop());
    let used = sources.thread(true).since(&before);
    let part = Part {
        wall,
        cpu: used.cpu,
        waiting: used.delay.min(wall - used.cpu).max(0.0),
    };
    (part, used)
}

/// The reading of the probes of a call, their waiting taken out: the mean of the two around it, and
/// the median of those within, so that one the hypervisor interrupts does not speak for the others.
/// A call of a single part has none within but those around it.
fn told_by(probes: &[f64]) -> Option<[f64; 2]> {
    let (first, rest) = probes.split_first()?;
    let (last, within) = rest.split_last()?;
    let around = (first + last) / 2.0;
    Some([around, median(within).unwrap_or(around)])
}

/// A standard normal number.
#[cfg(test)]
pub fn normal(random: &mut deadheat_examples::random::SplitMix64) -> f64 {
    let grid = (random.bits() >> 11) as f64 + 0.5;
    deadheat_stats::dist::normal_quantile(grid / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_is_interrupted_does_not_speak_for_the_others() {
        assert_eq!(told_by(&[]), None);
        assert_eq!(told_by(&[3.0, 2.0, 800.0, 3.0, 1.0]), Some([2.0, 3.0]));
        assert_eq!(told_by(&[2.0, 1.0]), Some([1.5, 1.5]));
    }

    #[test]
    fn samples_together_sum_their_times_and_average_their_rates() {
        let one = |wall: f64, khz| Sample {
            time: Part {
                wall,
                cpu: wall,
                waiting: 1.0,
            },
            told: Told {
                khz,
                steal: Some(wall),
                ..Told::default()
            },
            probes: Some([wall; 2]),
            ..Sample::default()
        };
        let both = Sample::together(&[one(10.0, Some(1.0)), one(20.0, Some(3.0))]);
        assert_eq!(both.time.ran(), 28.0);
        assert_eq!(both.told.khz, Some(2.0));
        assert_eq!(both.told.steal, Some(30.0));
        assert_eq!(both.probes, Some([30.0; 2]));
        let without = Sample::together(&[one(10.0, None), one(20.0, Some(3.0))]);
        assert_eq!(without.told.khz, None);
    }

    #[test]
    fn every_call_has_its_parts_and_its_probes() {
        let probes = Probes {
            around: 200,
            within: 100,
        };
        let function = Function::lasting(Work::Registers, 20e3, 4, Some(probes));
        let (replicates, costs) = recorded(&function, 2, 8);
        assert_eq!(replicates.len(), 2);
        for replicate in &replicates {
            assert_eq!((replicate.calls.len(), replicate.parts.len()), (8, 32));
            assert!(replicate.calls.iter().all(|call| call.probes.is_some()));
            assert!(replicate.parts.iter().all(|part| part.ran() > 0.0));
        }
        assert_eq!(costs.len(), Source::ALL.len());
    }
}
