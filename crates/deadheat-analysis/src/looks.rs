//! The plan of a race, fixed before it starts: its interim analyses (looks), and the number of
//! blocks of a replicate or of repetitions of a launch.

use std::time::Duration;

use deadheat_model::{Looks, RaceSettings};
use deadheat_stats::looks::MOST_EXTENDED;
use deadheat_stats::summary::scaled_mad;
use deadheat_stats::{Order, Spending, SpendingError, block_effect, optimal_blocks};

/// The reason why looks cannot be planned.
#[derive(Clone, Debug, PartialEq)]
pub enum LooksError {
    /// The largest number of replicates is zero, or less than the smallest number.
    Range {
        /// The smallest number of replicates.
        min: u32,
        /// The largest number of replicates.
        max: u32,
    },
    /// α is outside (0, 1).
    Alpha(f64),
}

/// Plans the looks of a race of at most `max` replicates, the first at `min` or later.
///
/// Leaving out early looks keeps the levels of the other looks valid, because a look that is left
/// out spends no α. The weights of the looks that are left out are added to that of the first
/// remaining look in the adjusted p-value.
pub fn planned_looks(min: u32, max: u32, alpha: f64) -> Result<Looks, LooksError> {
    if max == 0 || min > max {
        return Err(LooksError::Range { min, max });
    }
    let spending = Spending::plan(max as usize, alpha).map_err(|_| LooksError::Alpha(alpha))?;
    Ok(looks_from(min, &spending))
}

/// Plans the looks of a race whose number of replicates the user did not limit. Plans as many
/// replicates of `replicate_ns` nanoseconds as fit into `time`, at most 200, with the first look at
/// `min` or later. `None` if these are not more than the default of 40.
pub fn looks_within(
    time: Duration,
    replicate_ns: f64,
    min: u32,
    alpha: f64,
) -> Result<Option<Looks>, LooksError> {
    // For a duration of 0 this is infinite; `as` saturates.
    let room = (time.as_nanos() as f64 / replicate_ns) as usize;
    if room <= RaceSettings::UNSAID_REPLICATES as usize {
        return Ok(None);
    }
    let spending = Spending::extended(room.min(MOST_EXTENDED), alpha);
    let spending = spending.map_err(|_: SpendingError| LooksError::Alpha(alpha))?;
    let looks = spending.map(|spending| looks_from(min, &spending));
    Ok(looks.filter(|looks| !looks.at.is_empty()))
}

fn looks_from(min: u32, spending: &Spending) -> Looks {
    let left_out = spending.looks.partition_point(|look| *look < min as usize);
    let mut weights = spending.weights[left_out..].to_vec();
    if let Some(first) = weights.first_mut() {
        *first += spending.weights[..left_out].iter().sum::<f64>();
    }
    let at = &spending.looks[left_out..];
    Looks {
        at: at.iter().map(|look| *look as u32).collect(),
        levels: spending.levels[left_out..].to_vec(),
        weights,
    }
}

/// Returns a single look, after a fixed number of replicates.
pub fn fixed_look(replicates: u32, alpha: f64) -> Result<Looks, LooksError> {
    if replicates == 0 {
        return Err(LooksError::Range { min: 0, max: 0 });
    }
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(LooksError::Alpha(alpha));
    }
    Ok(Looks {
        at: vec![replicates],
        levels: vec![alpha],
        weights: vec![1.0],
    })
}

/// The assumed standard deviation of block effects within a process, if no trial blocks were run:
/// 0.5 %, as measured for a function of 25 µs.
const WITHIN: f64 = 0.005;
/// The assumed standard deviation between replicates of compiled functions, because a trial in one
/// process cannot show it: 0.14 %, as measured for a function of 25 µs.
pub const BETWEEN_COMPILED: f64 = 0.0014;
/// The assumed standard deviation between replicates for Python, where addresses and hash seeds
/// decide how dicts and caches collide. Eight benchmarks of cattrs scatter by 1 to 3 %, with 20
/// blocks as well as with 200. This constant is half of the smallest value, because other
/// benchmarks may scatter less.
pub const BETWEEN_PYTHON: f64 = 0.005;
/// The smallest number of trial blocks from which the scatter of blocks is estimated.
const FEW_TRIALS: usize = 6;
/// The smallest number of blocks per replicate for which the plain formula gives the interval. A
/// replicate has at least this many blocks if they take little time.
const ENOUGH_BLOCKS: u32 = 10;
/// The total duration in nanoseconds up to which a replicate may always have [`ENOUGH_BLOCKS`]
/// blocks.
const LITTLE_NS: f64 = 5e7;
/// The upper limit in nanoseconds on the total duration of the blocks of a replicate, if there are
/// more than [`ENOUGH_BLOCKS`] of them: forty replicates of very noisy functions should not take
/// minutes.
const LONG_REPLICATE_NS: f64 = 2.5e8;
/// The upper limit in nanoseconds on the total duration of the blocks of a replicate. A single
/// block may take longer.
const LONGEST_REPLICATE_NS: f64 = 2e9;

/// The total time in nanoseconds for the replicates before the first look, if no trial blocks were
/// run because blocks take too long. With five blocks in each of six processes a race of functions
/// of 20 ms took at least 3.7 s, with one block 1.1 s.
const FIRST_LOOK_NS: f64 = 1e9;
/// The number of replicates before the first look.
const FIRST_LOOK: f64 = 6.0;

/// Returns the number of blocks per replicate that gives the smallest error for the time. A
/// replicate costs `process_ns` before its first block and `block_ns` for each block. `trials_ns`
/// are the wall times of trial blocks in ABBA order, which show the scatter of blocks. `between` is
/// the expected standard deviation of log time between replicates.
///
/// If there are too few trial blocks, the result is limited so that the first look comes within
/// about a second, but it is at least 1.
pub fn planned_blocks(
    (process_ns, block_ns): (f64, f64),
    trials_ns: &[[f64; 4]],
    between: f64,
) -> u32 {
    let effects: Vec<f64> = trials_ns
        .iter()
        .filter(|block| block.iter().all(|ns| *ns > 0.0))
        .map(|block| block_effect(block.map(f64::ln), Order::Abba))
        .collect();
    let shown = (effects.len() >= FEW_TRIALS).then(|| scaled_mad(&effects));
    let within = shown.flatten().unwrap_or(WITHIN);
    let best = optimal_blocks(process_ns, block_ns, within.powi(2), between.powi(2));
    let best = if f64::from(ENOUGH_BLOCKS) * block_ns <= LITTLE_NS {
        best.max(ENOUGH_BLOCKS)
    } else {
        best
    };
    // For blocks that take 0 ns these are infinite; `as` saturates.
    let fit = |ns: f64| (ns / block_ns).max(1.0) as u32;
    let worth_it = fit(LONG_REPLICATE_NS).max(ENOUGH_BLOCKS);
    let soon = match shown {
        Some(_) => u32::MAX,
        None => fit((FIRST_LOOK_NS / FIRST_LOOK - process_ns).max(LITTLE_NS)),
    };
    best.min(worth_it).min(soon).min(fit(LONGEST_REPLICATE_NS))
}

/// The assumed standard deviation between launches of a program, because one launch of each side
/// cannot show it. Seven benchmarks of everyday work had 0.3 to 6 %, and assuming 1 % costs little
/// if the true value is less.
const BETWEEN_LAUNCHES: f64 = 0.01;
/// The smallest number of repetitions in a launch: the first repetition of a process usually
/// differs from the others.
const FEWEST_REPETITIONS: f64 = 2.0;
/// The largest number of repetitions in a launch. Differences between launches matter more than the
/// gain from further repetitions: with eight, the intervals of six benchmarks were as wide as with
/// three, and took 2.4 times as long.
const MOST_REPETITIONS: f64 = 8.0;

/// Returns the number of repetitions in a launch that gives the smallest error for the time. A
/// launch costs `launch_ns` without its repetitions and `repetition_ns` for each. `launches_ns` are
/// the times of the repetitions of a few launches.
pub fn planned_repetitions(launch_ns: f64, repetition_ns: f64, launches_ns: &[Vec<f64>]) -> u32 {
    let positive = |times: &&Vec<f64>| times.len() > 1 && times.iter().all(|ns| *ns > 0.0);
    let (mut squares, mut degrees) = (0.0, 0.0);
    for times in launches_ns.iter().filter(positive) {
        let count = times.len() as f64;
        let mean = times.iter().map(|ns| ns.ln()).sum::<f64>() / count;
        squares += times.iter().map(|ns| (ns.ln() - mean).powi(2)).sum::<f64>();
        degrees += count - 1.0;
    }
    let within = if degrees > 0.0 {
        (squares / degrees).sqrt()
    } else {
        WITHIN
    };
    let best = (launch_ns.max(0.0) / repetition_ns.max(1.0)).sqrt() * within / BETWEEN_LAUNCHES;
    best.round().clamp(FEWEST_REPETITIONS, MOST_REPETITIONS) as u32
}

/// The number of iterations of each side of a replicate that are beyond the judged quantile, on
/// average.
///
/// A quantile estimated from so few iterations is median-unbiased. Their number hardly changes the
/// precision that a race reaches in a given time: with 3 to 20 of them, the standard error of a
/// side times the square root of the number of its iterations varied by less than a tenth, for
/// log-normal and exponential iterations. But with fewer than 5, too few iterations of a replicate
/// may take a rare slow path. In a simulation, the share of iterations on such a path was three
/// times the share beyond the quantile. The standard deviation of the log-ratio of a replicate was
/// then larger than the middle of its distribution implies: 1.6 times as large with 3 iterations
/// beyond the quantile, and 1.2 times with 5.
const BEYOND: f64 = 5.0;

/// Returns the smallest number of blocks per replicate that allows a quantile of single iterations
/// to be estimated. A block has two iterations of each contender if there are two contenders, and
/// one of each if there are more.
pub fn blocks_for_quantile(quantile: f64, contenders: usize) -> u32 {
    let beyond = quantile.min(1.0 - quantile);
    // Rounding errors of the quotient must not add an iteration.
    let iterations = (BEYOND / beyond - 1e-6).ceil() as u32;
    if contenders == 2 {
        iterations.div_ceil(2)
    } else {
        iterations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(costs_ns: (f64, f64), trials_ns: &[[f64; 4]]) -> u32 {
        planned_blocks(costs_ns, trials_ns, BETWEEN_COMPILED)
    }

    #[test]
    fn the_default_race_looks_seven_times_at_the_tabled_levels() {
        let looks = planned_looks(0, 40, 0.05).unwrap();
        assert_eq!(looks.at, [6, 8, 11, 16, 22, 31, 40]);
        assert_eq!(looks.levels[..2], [0.00290, 0.00226]);
        assert!((looks.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_minimum_takes_out_early_looks_and_keeps_the_levels_of_the_others() {
        let looks = planned_looks(12, 40, 0.05).unwrap();
        assert_eq!(looks.at, [16, 22, 31, 40]);
        assert_eq!(looks.levels[0], 0.00701);
        assert!((looks.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_time_says_how_many_replicates_there_are_at_most() {
        let second = Duration::from_secs(1);
        let most = |ns: f64| {
            let looks = looks_within(5 * second, ns, 0, 0.05).unwrap();
            looks.map(|looks| looks.max_replicates())
        };
        assert_eq!(most(1e9), None);
        assert_eq!(most(1.25e8), None, "forty");
        assert_eq!(most(1.2e8), None, "41, and the next look is at 45");
        assert_eq!(most(9e7), Some(50), "55");
        assert_eq!(most(3e7), Some(160), "166");
        assert_eq!(most(1e6), Some(200));
        assert_eq!(most(0.0), Some(200));
        assert_eq!(most(f64::NAN), None);
        assert!(looks_within(second, 1e6, 0, 1.5).is_err());
    }

    #[test]
    fn a_minimum_takes_out_early_looks_of_many_replicates_too() {
        let time = Duration::from_secs(5);
        let all = looks_within(time, 1e6, 0, 0.05).unwrap().unwrap();
        let late = looks_within(time, 1e6, 15, 0.05).unwrap().unwrap();
        let left = all.at.iter().position(|at| *at == 16).unwrap();
        assert_eq!(late.at, all.at[left..]);
        assert_eq!(late.levels, all.levels[left..]);
        assert!((late.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(looks_within(time, 1e6, 300, 0.05), Ok(None));
    }

    #[test]
    fn impossible_ranges_and_levels_are_refused() {
        assert!(planned_looks(9, 8, 0.05).is_err());
        assert!(planned_looks(0, 0, 0.05).is_err());
        assert!(planned_looks(0, 40, 1.5).is_err());
        assert!(fixed_look(0, 0.05).is_err());
        assert!(fixed_look(10, f64::NAN).is_err());
    }

    #[test]
    fn cheap_blocks_are_many_and_dear_ones_few() {
        assert_eq!(blocks((3e6, 1e5), &[]), 20);
        assert_eq!(blocks((3e6, 5e6), &[]), 10);
        assert_eq!(blocks((3e6, 2e7), &[]), 5);
        assert_eq!(blocks((3e6, 5e7), &[]), 3);
        assert_eq!(blocks((4e7, 1e8), &[]), 1);
        assert_eq!(blocks((1e9, 1e9), &[]), 1);
        assert_eq!(blocks((1e9, 1e6), &[]), 50, "cheap ones stay many");
        assert_eq!(blocks((2e9, 4.5e9), &[]), 1);
        assert_eq!(blocks((3e6, 0.0), &[]), 200);
    }

    #[test]
    fn blocks_that_scatter_more_are_taken_more_often() {
        let trials = |spread: f64| -> Vec<[f64; 4]> {
            let signs = [1.0, -0.5, 0.7, -1.0, 0.2, -0.3, 0.6, -0.8];
            let block = |sign| [1e4, 1e4 * (1.0 + spread * sign), 1e4, 1e4];
            signs.into_iter().map(block).collect()
        };
        let quiet = blocks((3e6, 1e5), &trials(0.001));
        let noisy = blocks((3e6, 1e5), &trials(0.1));
        assert_eq!(quiet, 10);
        assert!(noisy > 50, "{noisy}");
        let slow = blocks((3e6, 5e6), &trials(0.9));
        assert_eq!(slow, 50, "a quarter of a second");
    }

    #[test]
    fn five_iterations_of_a_side_lie_beyond_the_quantile() {
        assert_eq!(blocks_for_quantile(0.99, 2), 250);
        assert_eq!(blocks_for_quantile(0.01, 2), 250);
        assert_eq!(blocks_for_quantile(0.99, 3), 500);
        assert_eq!(blocks_for_quantile(0.9, 2), 25);
        assert_eq!(blocks_for_quantile(0.5, 2), 5);
        assert_eq!(blocks_for_quantile(0.999, 2), 2_500);
    }

    #[test]
    fn more_scatter_between_replicates_makes_more_of_them_with_fewer_blocks() {
        let trials: Vec<[f64; 4]> = (0..8)
            .map(|at| [1e4, 1e4 * (1.0 + 0.02 * f64::from(at % 2)), 1e4, 1e4])
            .collect();
        let compiled = planned_blocks((4e7, 1e6), &trials, BETWEEN_COMPILED);
        let python = planned_blocks((4e7, 1e6), &trials, BETWEEN_PYTHON);
        assert!((10..compiled).contains(&python), "{python}, {compiled}");
    }

    #[test]
    fn trial_blocks_of_no_time_are_not_asked() {
        assert_eq!(blocks((3e6, 1e5), &[[0.0; 4]; 9]), 20);
    }

    #[test]
    fn repetitions_are_many_where_launches_cost_more_or_they_scatter() {
        let launches = |spread: f64| {
            let times = [1.0, -1.0, 1.0, -1.0].map(|sign: f64| 1e3 * (1.0 + sign * spread));
            vec![times.to_vec(), times.to_vec()]
        };
        assert_eq!(planned_repetitions(3e6, 3e6, &launches(0.0001)), 2);
        assert_eq!(planned_repetitions(3e6, 3e6, &launches(0.005)), 2);
        assert_eq!(planned_repetitions(3e6, 3e6, &launches(0.035)), 4);
        assert_eq!(planned_repetitions(3e6, 3e6, &launches(0.1)), 8);
        assert_eq!(planned_repetitions(3e6, 3e7, &launches(0.005)), 2);
        assert_eq!(planned_repetitions(3e7, 3e6, &launches(0.014)), 5);
        // Launches with a single repetition, or with one that takes 0 ns, are ignored.
        for launches in [vec![vec![1e3]; 2], vec![vec![0.0, 1e3]; 2], vec![]] {
            assert_eq!(planned_repetitions(3e6, 3e6, &launches), 2);
        }
        assert_eq!(planned_repetitions(1e6, 0.0, &launches(0.01)), 8);
    }
}
