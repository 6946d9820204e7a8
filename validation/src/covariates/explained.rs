//! The share of the effects of blocks that a covariate explains, and what it does to the standard
//! error at equal time. Numbers in, numbers out.

use deadheat_examples::random::SplitMix64;
use deadheat_stats::summary::{median, quantile, scaled_mad};
use deadheat_stats::{Clusters, Floor, Order, block_effect, pooled_huber};

use crate::readings::Source;
use crate::stream::{Replicate, Sample};

/// The largest ratio of standard errors at which a covariate is kept: a fifth
/// less.
pub const KEPT: f64 = 0.8;

/// Blocks drawn anew, for the interval of a ratio.
const DRAWS: usize = 200;

/// The clamp of Huber's ψ, in scales, and the limit of a covariate in its own.
const CLAMP: f64 = 1.5;
const LIMIT: f64 = 5.0;
const ROUNDS: usize = 10;

/// A sample that lost its core and ran for less than this is left out with its
/// block, as in a race, in nanoseconds.
const SHORT: f64 = 200e3;
/// … unless more than this share would go.
const MOST_LEFT_OUT: f64 = 0.2;

/// The use that is made of a covariate.
#[derive(Clone, Copy)]
pub enum Use {
    /// Waiting for a core is taken out of wall time: what races do, against
    /// wall time as it is.
    TakenOut,
    /// CPU time is judged in place of wall time.
    Instead,
    /// The part that it explains by a regression is taken off the effects.
    Regressed(fn(&Sample) -> Option<f64>),
    /// Blocks in which it is above nought are left out.
    LeftOut(fn(&Sample) -> Option<f64>),
}

/// The measurements that a covariate needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Two readings around every sample.
    Read(Source),
    /// Those of the probes around (first) and within a sample that are wanted.
    Probes([bool; 2]),
}

/// Something told beside the time.
pub struct Covariate {
    /// Its name, in words.
    pub name: &'static str,
    /// The measurements that it needs.
    pub needs: Needs,
    /// The use that is made of it.
    pub used: Use,
}

const fn covariate(name: &'static str, needs: Needs, used: Use) -> Covariate {
    Covariate { name, needs, used }
}

/// All that are tried. None of them has the time that is judged in it, as a share
/// of it would: such a thing explains effects by themselves, the true one among
/// them. (Time of other cores is a share, since a longer sample sees more of it.)
pub const COVARIATES: [Covariate; 15] = [
    covariate(
        "waiting for a core, taken out (built in)",
        Needs::Read(Source::Delay),
        Use::TakenOut,
    ),
    covariate(
        "CPU time, judged instead",
        Needs::Read(Source::Account),
        Use::Instead,
    ),
    covariate(
        "time neither on a core nor waiting for one",
        Needs::Read(Source::Account),
        Use::Regressed(|one| Some(one.time.ran() - one.time.cpu)),
    ),
    covariate(
        "times the core was taken away",
        Needs::Read(Source::Account),
        Use::Regressed(|one| Some(one.switches[0])),
    ),
    covariate(
        "times the core was given up",
        Needs::Read(Source::Account),
        Use::Regressed(|one| Some(one.switches[1])),
    ),
    covariate(
        "steal during a sample",
        Needs::Read(Source::Stat),
        Use::Regressed(|one| one.told.steal),
    ),
    covariate(
        "steal during a block, which is then left out",
        Needs::Read(Source::Stat),
        Use::LeftOut(|one| one.told.steal),
    ),
    covariate(
        "load of the other cores",
        Needs::Read(Source::Stat),
        Use::Regressed(|one| Some(one.told.neighbours? / one.span)),
    ),
    covariate(
        "frequency: `aperf` over `mperf`",
        Needs::Read(Source::Registers),
        Use::Regressed(|one| one.told.speed.map(f64::ln)),
    ),
    covariate(
        "frequency: `scaling_cur_freq`",
        Needs::Read(Source::Governor),
        Use::Regressed(|one| one.told.khz.map(f64::ln)),
    ),
    covariate(
        "frequency: cycles over reference cycles",
        Needs::Read(Source::Counters),
        Use::Regressed(|one| one.told.cycles.map(f64::ln)),
    ),
    covariate(
        "instructions",
        Needs::Read(Source::Counters),
        Use::Regressed(|one| one.told.instructions.map(|count| count.max(1.0).ln())),
    ),
    covariate(
        "a probe before and one after",
        Needs::Probes([true, false]),
        Use::Regressed(|one| one.probes.map(|all| all[0].ln())),
    ),
    covariate(
        "probes within",
        Needs::Probes([false, true]),
        Use::Regressed(|one| one.probes.map(|all| all[1].ln())),
    ),
    covariate(
        "all probes",
        Needs::Probes([true, true]),
        Use::Regressed(|one| one.probes.map(|all| all[0].ln() + all[1].ln())),
    ),
];

/// Blocks of a function under one load.
pub struct Cell {
    blocks: Vec<([Sample; 4], Order)>,
    /// Blocks of the first half of the replicates.
    half: usize,
    /// Probes around a call, and within.
    probes: [f64; 2],
}

/// The outcome of a covariate in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Rank correlation with the effects of the blocks; none where it never
    /// varies.
    pub correlation: Option<f64>,
    /// Standard error out of sample over that without, at equal time, and the
    /// interval in which 95 % of such ratios lie when the blocks are drawn anew.
    pub ratio: Option<(f64, f64, f64)>,
    /// Share of samples for which it can be read.
    pub readable: f64,
}

impl Cell {
    /// Lays blocks over the calls of replicates, `together` calls to a sample.
    /// `parts` are those of a call.
    pub fn new(replicates: &[Replicate], together: usize, parts: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut blocks = Vec::new();
        let mut half = 0;
        for (number, replicate) in replicates.iter().enumerate() {
            let samples = replicate.calls.chunks_exact(together).map(Sample::together);
            let samples: Vec<Sample> = samples.collect();
            for block in samples.as_chunks::<4>().0 {
                let order = match random.below(2) {
                    0 => Order::Abba,
                    _ => Order::Baab,
                };
                blocks.push((*block, order));
            }
            if number < replicates.len() / 2 {
                half = blocks.len();
            }
        }
        let mut cell = Self {
            blocks,
            half,
            probes: [2.0, parts.saturating_sub(1) as f64],
        };
        cell.leave_out_disturbed();
        cell
    }

    fn leave_out_disturbed(&mut self) {
        let disturbed = |(block, _): &([Sample; 4], Order)| {
            let short = |one: &Sample| one.time.ran() < SHORT && one.switches[0] > 0.0;
            block.iter().any(short)
        };
        let count = self.blocks.iter().filter(|block| disturbed(block)).count();
        if count as f64 > MOST_LEFT_OUT * self.blocks.len() as f64 {
            return;
        }
        let kept = |block: &&([Sample; 4], Order)| !disturbed(block);
        self.half = self.blocks[..self.half].iter().filter(kept).count();
        self.blocks.retain(|block| !disturbed(block));
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Median length of a sample, in nanoseconds.
    pub fn sample_ns(&self) -> f64 {
        let samples = self.samples().map(|one| one.time.wall);
        median(&samples.collect::<Vec<f64>>()).unwrap_or(0.0)
    }

    /// Share of wall time that was waiting for a core.
    pub fn waiting(&self) -> f64 {
        let waited: f64 = self.samples().map(|one| one.time.waiting).sum();
        waited / self.samples().map(|one| one.time.wall).sum::<f64>()
    }

    /// Scatter of the effects of blocks, as a scaled median absolute deviation:
    /// of wall time as it is, with the waiting taken out, and of CPU time.
    pub fn scatter(&self) -> [f64; 3] {
        [Sample::wall, Sample::ran, Sample::cpu]
            .map(|of| scaled_mad(&self.effects(of)).unwrap_or(0.0))
    }

    fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.blocks.iter().flat_map(|(block, _)| block)
    }

    fn effects(&self, of: fn(&Sample) -> f64) -> Vec<f64> {
        let log = |one: &Sample| of(one).max(1.0).ln();
        self.contrasts(&log)
    }

    /// The contrast of a value, as an effect is that of a time.
    fn contrasts(&self, of: &dyn Fn(&Sample) -> f64) -> Vec<f64> {
        let contrast =
            |(block, order): &([Sample; 4], Order)| block_effect(block.each_ref().map(of), *order);
        self.blocks.iter().map(contrast).collect()
    }

    /// The outcome of a covariate, each of whose readings takes so many nanoseconds; nothing for
    /// one that costs no more than a race does.
    pub fn explained(&self, covariate: &Covariate, cost_ns: Option<f64>, seed: u64) -> Explained {
        let ran = self.effects(Sample::ran);
        let slower = self.slower(covariate, cost_ns);
        match covariate.used {
            Use::TakenOut => {
                let wall = self.effects(Sample::wall);
                let off: Vec<f64> = wall
                    .iter()
                    .zip(&ran)
                    .map(|(wall, ran)| wall - ran)
                    .collect();
                let correlation = rank_correlation(&wall, &off);
                self.told(Some(1.0), correlation, slower, seed, |blocks| {
                    Some((picked(&ran, blocks), picked(&wall, blocks)))
                })
            }
            Use::Instead => {
                let cpu = self.effects(Sample::cpu);
                let correlation = rank_correlation(&ran, &cpu);
                self.told(Some(1.0), correlation, slower, seed, |blocks| {
                    Some((picked(&cpu, blocks), picked(&ran, blocks)))
                })
            }
            Use::Regressed(of) => {
                let told = limited(self.contrasts(&|one| of(one).unwrap_or(0.0)));
                let readable = self.readable(of);
                let correlation = rank_correlation(&ran, &told);
                self.told(readable, correlation, slower, seed, |blocks| {
                    let effects = picked(&ran, blocks);
                    let halves = blocks.iter().partition(|block| **block < self.half);
                    let (first, second): (Vec<usize>, Vec<usize>) = halves;
                    let slope = |half: &[usize]| slope(&picked(&ran, half), &picked(&told, half));
                    // What one half says is taken off the other.
                    let (of_first, of_second) = (slope(&first), slope(&second));
                    let adjusted = |block: &usize| {
                        let slope = if *block < self.half {
                            of_second
                        } else {
                            of_first
                        };
                        ran[*block] - slope * told[*block]
                    };
                    Some((blocks.iter().map(adjusted).collect(), effects))
                })
            }
            Use::LeftOut(of) => {
                let any = |(block, _): &([Sample; 4], Order)| {
                    block.iter().filter_map(of).fold(0.0, f64::max)
                };
                let told: Vec<f64> = self.blocks.iter().map(any).collect();
                let sizes: Vec<f64> = ran.iter().map(|effect| effect.abs()).collect();
                let correlation = rank_correlation(&sizes, &told);
                self.told(self.readable(of), correlation, slower, seed, |blocks| {
                    let kept = blocks.iter().filter(|block| told[**block] <= 0.0);
                    let kept: Vec<usize> = kept.copied().collect();
                    Some((picked(&ran, &kept), picked(&ran, blocks)))
                })
            }
        }
    }

    fn readable(&self, of: fn(&Sample) -> Option<f64>) -> Option<f64> {
        let readable = self.samples().filter(|one| of(one).is_some()).count();
        (readable > 0).then(|| readable as f64 / (4 * self.blocks.len()) as f64)
    }

    /// The factor by which what a covariate costs widens the standard error at
    /// equal time.
    fn slower(&self, covariate: &Covariate, cost_ns: Option<f64>) -> f64 {
        let all: f64 = self.samples().map(|one| one.time.wall).sum();
        let each = all / (4 * self.blocks.len()).max(1) as f64;
        let cost = match covariate.needs {
            Needs::Read(source) if source.is_read_anyway() => 0.0,
            // A block needs one pair of readings, and not one for each sample.
            Needs::Read(_) if matches!(covariate.used, Use::LeftOut(_)) => {
                cost_ns.unwrap_or(0.0) / 4.0
            }
            Needs::Read(_) => cost_ns.unwrap_or(0.0),
            Needs::Probes(wanted) => {
                let cost = |kind: usize| {
                    let each = self.samples().filter_map(|one| Some(one.probes?[kind]));
                    let each: Vec<f64> = each.collect();
                    median(&each).unwrap_or(0.0) * self.probes[kind]
                };
                (0..2).filter(|kind| wanted[*kind]).map(cost).sum()
            }
        };
        ((each + cost) / each).sqrt()
    }

    /// `sides` makes of some blocks the effects with the covariate and those
    /// without.
    fn told(
        &self,
        readable: Option<f64>,
        correlation: Option<f64>,
        slower: f64,
        seed: u64,
        sides: impl Fn(&[usize]) -> Option<(Vec<f64>, Vec<f64>)>,
    ) -> Explained {
        let Some(readable) = readable else {
            return Explained {
                correlation: None,
                ratio: None,
                readable: 0.0,
            };
        };
        let ratio = |blocks: &[usize]| {
            let (with, without) = sides(blocks)?;
            Some(slower * standard_error(&with)? / standard_error(&without)?)
        };
        let all: Vec<usize> = (0..self.blocks.len()).collect();
        let mut random = SplitMix64::new(seed);
        let mut draw = || {
            let (half, count) = (self.half, self.blocks.len());
            let mut drawn = all.clone();
            // Within a half, so that none of it is in both.
            for (block, drawn) in drawn.iter_mut().enumerate() {
                *drawn = match block < half {
                    true => random.index_below(half),
                    false => half + random.index_below(count - half),
                };
            }
            ratio(&drawn)
        };
        let interval = |mut drawn: Vec<f64>| {
            drawn.sort_unstable_by(f64::total_cmp);
            Some((quantile(&drawn, 0.025)?, quantile(&drawn, 0.975)?))
        };
        let ratio = ratio(&all).and_then(|ratio| {
            let drawn: Vec<f64> = (0..DRAWS).filter_map(|_| draw()).collect();
            let (low, high) = interval(drawn)?;
            Some((ratio, low, high))
        });
        Explained {
            correlation,
            ratio,
            readable,
        }
    }
}

impl Sample {
    fn wall(&self) -> f64 {
        self.time.wall
    }

    fn ran(&self) -> f64 {
        self.time.ran()
    }

    fn cpu(&self) -> f64 {
        self.time.cpu
    }
}

fn picked(values: &[f64], places: &[usize]) -> Vec<f64> {
    places.iter().map(|place| values[*place]).collect()
}

/// The standard error of the estimate of a race, every block a replicate.
pub fn standard_error(effects: &[f64]) -> Option<f64> {
    let estimate = pooled_huber(&Clusters::singletons(effects), Floor::default());
    estimate.ok().map(|it| it.se).filter(|error| *error > 0.0)
}

/// A covariate within some scales of nought: a probe that lost its core is no
/// measure of anything.
fn limited(mut values: Vec<f64>) -> Vec<f64> {
    let scale = scaled_mad(&values).filter(|scale| *scale > 0.0);
    if let Some(scale) = scale {
        for value in &mut values {
            *value = value.clamp(-LIMIT * scale, LIMIT * scale);
        }
    }
    values
}

/// The slope of effects on a covariate, both of which a coin centres at nought:
/// least squares, reweighted so that an effect beyond 1.5 scales pulls no harder
/// than one there.
fn slope(effects: &[f64], told: &[f64]) -> f64 {
    let Some(scale) = scaled_mad(effects).filter(|scale| *scale > 0.0) else {
        return 0.0;
    };
    let mut slope = 0.0;
    for _ in 0..ROUNDS {
        let (mut over, mut under) = (0.0, 0.0);
        for (effect, told) in effects.iter().zip(told) {
            let left = (effect - slope * told).abs();
            let weight = (CLAMP * scale / left).min(1.0);
            over += weight * told * effect;
            under += weight * told * told;
        }
        if under <= 0.0 {
            return 0.0;
        }
        slope = over / under;
    }
    slope
}

/// Spearman's; none where either never varies.
fn rank_correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let product = |left: &[f64], right: &[f64]| {
        let pairs = left.iter().zip(right);
        pairs
            .map(|(left, right)| (left - mean) * (right - mean))
            .sum::<f64>()
    };
    let spread = (product(&one, &one) * product(&other, &other)).sqrt();
    (spread > 0.0).then(|| product(&one, &other) / spread)
}

/// Ranks from nought, equal values sharing theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for equal in order.chunk_by(|left, right| values[*left] == values[*right]) {
        for place in equal {
            ranks[*place] = below as f64 + (equal.len() as f64 - 1.0) / 2.0;
        }
        below += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Part, normal};

    /// Replicates whose calls take 20 ms, slower by a hidden speed that a probe
    /// shows as well as it can.
    fn made(hidden: f64, noise: f64, probe_noise: f64) -> Cell {
        let mut random = SplitMix64::new(29);
        let mut call = || {
            let speed = hidden * normal(&mut random);
            let wall = 20e6 * (speed + noise * normal(&mut random)).exp();
            let probe = 1e3 * (speed + probe_noise * normal(&mut random)).exp();
            Sample {
                time: Part {
                    wall,
                    cpu: wall,
                    waiting: 0.0,
                },
                probes: Some([probe; 2]),
                ..Sample::default()
            }
        };
        let mut replicate = || Replicate {
            calls: (0..200).map(|_| call()).collect(),
            parts: Vec::new(),
        };
        let replicates: Vec<Replicate> = (0..10).map(|_| replicate()).collect();
        Cell::new(&replicates, 1, 8, 7)
    }

    fn named(name: &str) -> &'static Covariate {
        let mut all = COVARIATES.iter();
        all.find(|one| one.name == name).unwrap()
    }

    #[test]
    fn a_probe_that_sees_the_speed_takes_it_out_of_the_error() {
        let seen = made(0.01, 0.003, 0.0005).explained(named("all probes"), None, 1);
        // √(.003² + .0005²) of √(.01² + .003²).
        let (ratio, low, high) = seen.ratio.unwrap();
        assert!((0.25..0.35).contains(&ratio), "{ratio}");
        assert!(low <= ratio && ratio <= high && high < KEPT);
        assert!(seen.correlation.unwrap() > 0.9);
        assert_eq!(seen.readable, 1.0);
    }

    #[test]
    fn a_probe_that_sees_nothing_costs_its_time_and_no_more() {
        let seen = made(0.0, 0.01, 0.01).explained(named("all probes"), None, 1);
        let (ratio, _, _) = seen.ratio.unwrap();
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
        assert!(seen.correlation.unwrap().abs() < 0.15);
    }

    #[test]
    fn what_cannot_be_read_has_no_ratio() {
        let cell = made(0.01, 0.003, 0.0);
        let seen = cell.explained(named("instructions"), None, 1);
        assert_eq!((seen.correlation, seen.ratio), (None, None));
        assert_eq!(seen.readable, 0.0);
    }

    #[test]
    fn the_cost_of_reading_counts() {
        let cell = made(0.01, 0.003, 0.0);
        let load = named("load of the other cores");
        assert_eq!(cell.slower(load, None), 1.0);
        // Twice as long: √2.
        assert!((cell.slower(load, Some(20e6)) - 2.0_f64.sqrt()).abs() < 0.01);
        let built_in = named("waiting for a core, taken out (built in)");
        assert_eq!(cell.slower(built_in, Some(20e6)), 1.0);
    }

    #[test]
    fn a_short_sample_that_lost_its_core_takes_its_block_with_it() {
        let mut cell = made(0.01, 0.003, 0.0);
        for (block, _) in cell.blocks.iter_mut().step_by(10) {
            block[2].time.wall = 1e3;
            block[2].switches[0] = 1.0;
        }
        cell.leave_out_disturbed();
        assert_eq!((cell.len(), cell.half), (450, 225));
    }

    #[test]
    fn ranks_of_equal_values_are_shared() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert_eq!(
            rank_correlation(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]),
            Some(-1.0)
        );
        assert_eq!(rank_correlation(&[1.0, 2.0], &[4.0, 4.0]), None);
    }
}
