//! The precision that the noise of a long function allows: how fast the mean of its blocks settles,
//! and how good an answer can be in a tenth of bench_diff's time.
//!
//! Calls in a row of one function are turned into races of every design, and
//! into bench_diff's, by deciding afterwards which of them are whose. So all are
//! judged on the same noise, and no race of a design is longer than its calls.

use std::fmt::Write as _;

use deadheat_examples::random::SplitMix64;
use deadheat_stats::dist::t_critical;
use deadheat_stats::few_blocks::stretched_t;
use deadheat_stats::summary::{mean, median, scaled_mad, std_dev};
use deadheat_stats::{Clusters, Floor, PooledEstimate, Spending, pooled_huber};
use deadheat_validation::bars::{ALPHA, Section};

use crate::Setting;
use crate::stream::{Function, Part, Work, recorded};

/// The margin, and so the change that must be found.
const MARGIN: f64 = 0.01;
/// Standard errors that a power of 80 % takes beyond the interval.
const POWER: f64 = 0.84;
/// Means of so many blocks.
const MEANS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const LAGS: usize = 8;
/// Parts of a call.
const PARTS: usize = 8;
/// Races laid over the calls.
const RACES: usize = 500;
/// Known differences, in percent.
const MORE: [f64; 3] = [1.0, 2.0, 5.0];
/// The time that bench_diff takes beside its calls, in seconds, and the number of its calls.
const WARM_UP: f64 = 3.0;
const CALLS: usize = 400;
/// The share of that time that deadheat may take.
const SHARE: f64 = 0.1;

/// The way in which the calls of a race are shared out.
struct Design {
    name: &'static str,
    /// The sign of every call of a block, the first being the baseline's.
    signs: &'static [f64],
    /// Calls that make an effect: a block, or each half of it.
    judged: usize,
    /// Calls that are lost before every block.
    lost: usize,
    /// True if parts of a call stand for calls.
    parts: bool,
}

const DESIGNS: [Design; 9] = [
    Design {
        name: "AB or BA",
        signs: &[-1.0, 1.0],
        judged: 2,
        lost: 0,
        parts: false,
    },
    Design {
        name: "ABBA or BAAB",
        signs: &[-1.0, 1.0, 1.0, -1.0],
        judged: 4,
        lost: 0,
        parts: false,
    },
    Design {
        name: "ABBABAAB or BAABABBA",
        signs: &[-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0],
        judged: 8,
        lost: 0,
        parts: false,
    },
    Design {
        name: "ABBA or BAAB, each half an effect, a block a cluster",
        signs: &[-1.0, 1.0, 1.0, -1.0],
        judged: 2,
        lost: 0,
        parts: false,
    },
    Design {
        name: "ABBA or BAAB, each in a process that warms up with two calls (as raced)",
        signs: &[-1.0, 1.0, 1.0, -1.0],
        judged: 4,
        lost: 2,
        parts: false,
    },
    Design {
        name: "… each half an effect",
        signs: &[-1.0, 1.0, 1.0, -1.0],
        judged: 2,
        lost: 2,
        parts: false,
    },
    Design {
        name: "AB or BA, each in a process that warms up with two calls",
        signs: &[-1.0, 1.0],
        judged: 2,
        lost: 2,
        parts: false,
    },
    Design {
        name: "ABBABAAB or BAABABBA, each in a process that warms up with two calls, each pair an effect",
        signs: &[-1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0],
        judged: 2,
        lost: 2,
        parts: false,
    },
    Design {
        name: "ABBA or BAAB of eighths of a call, were it divisible",
        signs: &[-1.0, 1.0, 1.0, -1.0],
        judged: 4,
        lost: 0,
        parts: true,
    },
];

impl Design {
    fn calls(&self) -> usize {
        self.signs.len() + self.lost
    }

    /// Effects of a block, one cluster of the estimate.
    fn clusters(&self) -> usize {
        self.signs.len() / self.judged
    }

    fn effects(&self, logs: &[f64], random: &mut SplitMix64) -> Vec<f64> {
        let mut effects = Vec::with_capacity(logs.len() / self.judged);
        for block in logs.chunks_exact(self.calls()) {
            let coin = match random.below(2) {
                0 => 1.0,
                _ => -1.0,
            };
            let judged = self.signs.chunks_exact(self.judged);
            for (signs, logs) in judged.zip(block[self.lost..].chunks_exact(self.judged)) {
                let sum: f64 = signs.iter().zip(logs).map(|(sign, log)| sign * log).sum();
                effects.push(coin * sum / (self.judged / 2) as f64);
            }
        }
        effects
    }

    fn estimate(&self, effects: &[f64]) -> Option<PooledEstimate> {
        let sizes = vec![self.clusters(); effects.len() / self.clusters()];
        pooled_huber(&Clusters::new(effects, &sizes).ok()?, Floor::default()).ok()
    }

    /// Standard errors in the half-width of an interval after so many blocks.
    fn critical(&self, level: f64, blocks: usize) -> f64 {
        let t = t_critical(level, blocks.saturating_sub(1).max(1) as f64);
        stretched_t(t, blocks * self.clusters())
    }

    /// True if so many blocks of this scale give a dead heat of equal functions,
    /// and find the margin, in 80 % of races.
    fn is_enough(&self, scale: f64, blocks: usize, level: f64) -> bool {
        (self.critical(level, blocks) + POWER) * scale / (blocks as f64).sqrt() <= MARGIN
    }

    /// Blocks of this scale after which a single look settles it.
    fn after_one_look(&self, scale: f64) -> Option<usize> {
        (6..=10_000).find(|blocks| self.is_enough(scale, *blocks, ALPHA))
    }

    /// Blocks after which a look of a race of at most 40 replicates does.
    fn after_looks(&self, scale: f64) -> Option<usize> {
        let plan = Spending::plan(40, ALPHA).expect("a plan of 40 replicates");
        let mut looks = plan.looks.iter().zip(&plan.levels);
        let enough = looks.find(|(blocks, level)| self.is_enough(scale, **blocks, **level));
        enough.map(|(blocks, _)| *blocks)
    }
}

/// The answers of the races of one kind, whose functions do the same.
struct Said {
    /// θ̂, and the half-width of its interval.
    races: Vec<(f64, f64)>,
}

impl Said {
    fn error(&self) -> f64 {
        let squares = self.races.iter().map(|(theta, _)| theta * theta);
        (squares.sum::<f64>() / self.races.len() as f64).sqrt()
    }

    /// The share that would be off a known difference by more than 40 % of it.
    fn anomalies(&self, percent: f64) -> f64 {
        let true_ratio = 1.0 + percent / 100.0;
        self.share(|theta, _| {
            let said = theta.exp() * true_ratio - 1.0;
            (said - percent / 100.0).abs() > 0.4 * percent / 100.0
        })
    }

    /// The share that would be a dead heat.
    fn even(&self) -> f64 {
        let margin = MARGIN.ln_1p();
        self.share(|theta, half| theta.abs() + half < margin)
    }

    /// The share that would find the margin.
    fn found(&self) -> f64 {
        self.share(|theta, half| theta + MARGIN.ln_1p() - half > 0.0)
    }

    /// The share whose interval misses the truth.
    fn missed(&self) -> f64 {
        self.share(|theta, half| theta.abs() > half)
    }

    fn share(&self, of: impl Fn(f64, f64) -> bool) -> f64 {
        let count = self.races.iter().filter(|(theta, half)| of(*theta, *half));
        count.count() as f64 / self.races.len() as f64
    }
}

/// A time of a part.
type Reading = fn(&Part) -> f64;

/// The stretches of calls that are recorded without a break.
struct Recorded {
    /// Parts of each stretch.
    stretches: Vec<Vec<Part>>,
    /// Median seconds of a call.
    call: f64,
}

impl Recorded {
    /// The logarithms of calls, or of parts, by some reading of them.
    fn logs(&self, parts: bool, of: Reading) -> Vec<Vec<f64>> {
        let together = if parts { 1 } else { PARTS };
        let log = |parts: &[Part]| parts.iter().map(of).sum::<f64>().max(1.0).ln();
        let stretch = |parts: &Vec<Part>| parts.chunks_exact(together).map(log).collect();
        self.stretches.iter().map(stretch).collect()
    }

    /// Seconds of bench_diff's race.
    fn bench_diff(&self) -> f64 {
        WARM_UP + CALLS as f64 * self.call
    }
}

pub fn section(setting: &Setting) -> Section {
    let function = Function::lasting(Work::Registers, 20e6, PARTS, None);
    let (stretches, calls) = (2, setting.count(1_000, 450));
    let (replicates, _) = recorded(&function, stretches, calls);
    let stretches: Vec<Vec<Part>> = replicates.into_iter().map(|one| one.parts).collect();
    let walls = stretches.iter().flat_map(|parts| parts.chunks_exact(PARTS));
    let walls: Vec<f64> = walls
        .map(|parts| parts.iter().map(|part| part.wall).sum())
        .collect();
    let recorded = Recorded {
        call: median(&walls).expect("calls") / 1e9,
        stretches,
    };
    let mut text = format!(
        "## The noise of 20 ms, idle\n\n\
         {} stretches of {calls} calls, {:.1} ms each, register arithmetic, without probes. The effects of \
         blocks are limited to 1.5 scales, as the estimate limits them.\n\n",
        recorded.stretches.len(),
        recorded.call * 1e3,
    );
    text += &of_means(&recorded);
    text += &of_designs(&recorded);
    Section {
        text,
        bars: Vec::new(),
    }
}

/// Variance of means, and what neighbours have in common.
fn of_means(recorded: &Recorded) -> String {
    let mut text = format!(
        "Variance of the mean of m blocks in a row over that of independent ones: 1 where blocks have nothing \
         in common, so that only more of them help. Autocorrelations at the lags 1 to {LAGS}; chance alone \
         gives ±{:.2} of blocks.\n\n| effects of ABBA and BAAB | scatter, % |",
        1.96 / (recorded.stretches.iter().map(Vec::len).sum::<usize>() as f64 / (4 * PARTS) as f64)
            .sqrt(),
    );
    for blocks in MEANS {
        let _ = write!(text, " m = {blocks} |");
    }
    text += " lags |\n| --- | --- |";
    text += &" --- |".repeat(MEANS.len() + 1);
    text += "\n";
    let readings: [(&str, Reading); 2] = [
        ("wall time, waiting taken out", Part::ran),
        ("CPU time", |part| part.cpu),
    ];
    let design = &DESIGNS[1];
    for (name, of) in readings {
        let mut random = SplitMix64::new(29);
        let stretches = recorded.logs(false, of);
        let effects: Vec<Vec<f64>> = stretches
            .iter()
            .map(|logs| clamped(&design.effects(logs, &mut random)))
            .collect();
        let all: Vec<f64> = effects.concat();
        let scatter = scaled_mad(&all).unwrap_or(0.0) * 100.0;
        let _ = write!(text, "| {name} | {scatter:.3} |");
        for blocks in MEANS {
            match variance_of_means(&effects, blocks) {
                Some(ratio) => _ = write!(text, " {ratio:.2} |"),
                None => text += " – |",
            }
        }
        let _ = writeln!(text, " {} |", lags(&effects));
        let calls: Vec<Vec<f64>> = stretches.iter().map(|logs| clamped(logs)).collect();
        let all: Vec<f64> = calls.concat();
        let scatter = scaled_mad(&all).unwrap_or(0.0) * 100.0;
        let _ = writeln!(
            text,
            "| … the calls themselves | {scatter:.3} |{} {} |",
            " |".repeat(MEANS.len()),
            lags(&calls)
        );
    }
    text + "\n"
}

fn of_designs(recorded: &Recorded) -> String {
    let bench_diff = recorded.bench_diff();
    let tenth = SHARE * bench_diff;
    let mut text = format!(
        "### In a tenth of bench_diff's time\n\n\
         bench_diff warms up for {WARM_UP:.0} s and calls each function {} times, {bench_diff:.1} s in all; a \
         tenth is {tenth:.2} s. {RACES} races of every design are laid over the calls, none of which pays for \
         a process, a pilot or a look: no race of that design can do better. An anomaly is an estimate off \
         the known difference by more than 40 % of it. The scale of a block is that of the whole record; the \
         last columns are the blocks of that scale, and the seconds of their calls, after which equal functions \
         are a dead heat and 1 % is found in 80 % of races: with one look, and with the looks of at most 40 \
         replicates of one block.\n\n\
         | design | calls | standard error in a tenth, % | anomalies at 1 % | at 2 % | at 5 % | dead heat at 0 % \
         | 1 % found | 95 % interval misses | scale of a block, % | blocks needed, one look | with looks |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        CALLS / 2,
    );
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut best = [f64::INFINITY; MORE.len()];
    for design in &DESIGNS {
        let each = recorded.call / if design.parts { PARTS as f64 } else { 1.0 };
        let blocks = (tenth / (design.calls() as f64 * each)) as usize;
        let logs = recorded.logs(design.parts, Part::ran);
        let said = races(&logs, design, blocks);
        let anomalies = MORE.map(|more| said.anomalies(more));
        if !design.parts {
            for (best, own) in best.iter_mut().zip(anomalies) {
                *best = best.min(own);
            }
        }
        let mut random = SplitMix64::new(31);
        let effects: Vec<f64> = logs
            .iter()
            .flat_map(|logs| design.effects(logs, &mut random))
            .collect();
        let blocks_in_all = effects.len() / design.clusters();
        let error = design
            .estimate(&effects)
            .map_or(0.0, |estimate| estimate.se);
        let scale = error * (blocks_in_all as f64).sqrt();
        let needed = |blocks: Option<usize>| match blocks {
            Some(blocks) => {
                let seconds = blocks as f64 * design.calls() as f64 * each;
                format!("{blocks} in {seconds:.2} s")
            }
            None => "more than all".to_owned(),
        };
        let [one, two, five] = anomalies.map(percent);
        let _ = writeln!(
            text,
            "| {} | {} | {:.3} | {one} | {two} | {five} | {} | {} | {} | {:.2} | {} | {} |",
            design.name,
            blocks * design.calls(),
            said.error() * 100.0,
            percent(said.even()),
            percent(said.found()),
            percent(said.missed()),
            scale * 100.0,
            needed(design.after_one_look(scale)),
            needed(design.after_looks(scale)),
        );
    }
    let whole = alternating(&recorded.logs(false, |part| part.wall));
    let theirs = MORE.map(|more| whole.anomalies(more));
    let [one, two, five] = theirs.map(percent);
    let _ = writeln!(
        text,
        "| bench_diff's own: AB and BA in turns, difference of the means of logarithms, all of its time | {CALLS} \
         | {:.3} | {one} | {two} | {five} | | | | | | |\n",
        whole.error() * 100.0,
    );
    for (more, (ours, theirs)) in MORE.iter().zip(best.iter().zip(theirs)) {
        let _ = writeln!(
            text,
            "- {more} %: {} of whole calls has {} anomalies in a tenth of the time, bench_diff {} in all of it.",
            if *ours <= theirs {
                "the best design"
            } else {
                "no design"
            },
            if *ours <= theirs {
                percent(*ours)
            } else {
                format!("fewer than {}", percent(*ours))
            },
            percent(theirs),
        );
    }
    text + "\n"
}

/// Races of a design over stretches of logarithms, each from a place drawn anew.
fn races(stretches: &[Vec<f64>], design: &Design, blocks: usize) -> Said {
    let mut random = SplitMix64::new(37);
    let length = blocks * design.calls();
    let race = |_| {
        let stretch = &stretches[random.index_below(stretches.len())];
        let from = random.index_below(stretch.len().checked_sub(length)? + 1);
        let effects = design.effects(&stretch[from..from + length], &mut random);
        let estimate = design.estimate(&effects)?;
        let half = design.critical(ALPHA, blocks) * estimate.se;
        Some((estimate.theta, half))
    };
    Said {
        races: (0..RACES).filter_map(race).collect(),
    }
}

/// Races as bench_diff runs them: pairs in both orders, the means of whose
/// logarithms are compared.
fn alternating(stretches: &[Vec<f64>]) -> Said {
    let mut random = SplitMix64::new(41);
    let race = |_| {
        let stretch = &stretches[random.index_below(stretches.len())];
        let from = random.index_below(stretch.len().checked_sub(CALLS)? + 1);
        let pairs = stretch[from..from + CALLS].chunks_exact(2).enumerate();
        let signed = pairs.map(|(number, pair)| match number % 2 {
            0 => pair[1] - pair[0],
            _ => pair[0] - pair[1],
        });
        Some((signed.sum::<f64>() / (CALLS / 2) as f64, 0.0))
    };
    Said {
        races: (0..RACES).filter_map(race).collect(),
    }
}

/// Values within 1.5 scales of their median.
fn clamped(values: &[f64]) -> Vec<f64> {
    let (Some(middle), Some(scale)) = (median(values), scaled_mad(values)) else {
        return values.to_vec();
    };
    let bound = 1.5 * scale;
    let clamped = values
        .iter()
        .map(|value| value.clamp(middle - bound, middle + bound));
    clamped.collect()
}

/// The variance of means of so many values in a row, over that of as many
/// independent ones; none of fewer than eight means.
fn variance_of_means(stretches: &[Vec<f64>], count: usize) -> Option<f64> {
    let means = stretches
        .iter()
        .flat_map(|values| values.chunks_exact(count));
    let means: Vec<f64> = means.filter_map(mean).collect();
    if means.len() < 8 {
        return None;
    }
    let (of_means, of_values) = (std_dev(&means)?, std_dev(&stretches.concat())?);
    (of_values > 0.0).then(|| count as f64 * (of_means / of_values).powi(2))
}

/// Autocorrelations, in a row.
fn lags(stretches: &[Vec<f64>]) -> String {
    let one = |lag: usize| match autocorrelation(stretches, lag) {
        Some(value) => format!("{value:+.2}"),
        None => "–".to_owned(),
    };
    (1..=LAGS).map(one).collect::<Vec<String>>().join(", ")
}

fn autocorrelation(stretches: &[Vec<f64>], lag: usize) -> Option<f64> {
    let (mut product, mut square) = (0.0, 0.0);
    for values in stretches {
        let middle = mean(values)?;
        let pairs = values.iter().zip(values.iter().skip(lag));
        product += pairs
            .map(|(one, other)| (one - middle) * (other - middle))
            .sum::<f64>();
        square += values
            .iter()
            .map(|value| (value - middle).powi(2))
            .sum::<f64>();
    }
    (square > 0.0).then(|| product / square)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::normal;

    fn white(count: usize, scale: f64) -> Vec<f64> {
        let mut random = SplitMix64::new(43);
        (0..count).map(|_| scale * normal(&mut random)).collect()
    }

    #[test]
    fn independent_values_have_the_variance_and_the_lags_of_such() {
        let values = vec![white(8_000, 1.0)];
        for count in [1, 4, 16] {
            let ratio = variance_of_means(&values, count).unwrap();
            assert!((0.8..1.2).contains(&ratio), "{count}: {ratio}");
        }
        assert!(autocorrelation(&values, 1).unwrap().abs() < 0.05);
        assert_eq!(variance_of_means(&[vec![1.0; 20]], 4), None);
    }

    #[test]
    fn values_that_follow_one_another_are_seen_to_do_so() {
        let mut level = 0.0;
        let walk = white(8_000, 1.0).into_iter().map(|step| {
            level = 0.9 * level + step;
            level
        });
        let values = vec![walk.collect::<Vec<f64>>()];
        assert!((0.85..0.95).contains(&autocorrelation(&values, 1).unwrap()));
        assert!(variance_of_means(&values, 16).unwrap() > 5.0);
    }

    #[test]
    fn drift_is_in_pairs_and_not_in_blocks_of_four() {
        let drift: Vec<f64> = (0..64).map(|call| f64::from(call) * 0.01).collect();
        let mut random = SplitMix64::new(1);
        for design in &DESIGNS {
            let effects = design.effects(&drift, &mut random);
            assert_eq!(effects.len(), 64 / design.calls() * design.clusters());
            for cluster in effects.chunks_exact(design.clusters()) {
                let mean = cluster.iter().sum::<f64>() / cluster.len() as f64;
                let expected = if design.signs.len() == 2 { 0.01 } else { 0.0 };
                assert!((mean.abs() - expected).abs() < 1e-12, "{}", design.name);
            }
        }
    }

    #[test]
    fn the_error_of_a_design_is_that_of_its_blocks() {
        let calls = vec![white(4_000, 0.01)];
        let said = races(&calls, &DESIGNS[1], 16);
        // Half a difference of sums of two: σ of a block is that of a call.
        assert!((0.002..0.0032).contains(&said.error()), "{}", said.error());
        // 40 % of 1 % are 1.6 standard errors, and 40 % of 5 % are eight.
        assert!((0.05..0.2).contains(&said.anomalies(1.0)));
        assert_eq!(said.anomalies(5.0), 0.0);
    }

    #[test]
    fn quieter_blocks_settle_sooner() {
        let blocks = &DESIGNS[1];
        assert_eq!(blocks.after_one_look(0.001), Some(6));
        assert!(blocks.after_one_look(0.01) < blocks.after_one_look(0.02));
        assert!(blocks.after_looks(0.005).unwrap() > 6);
        assert_eq!(blocks.after_looks(0.1), None);
    }
}
