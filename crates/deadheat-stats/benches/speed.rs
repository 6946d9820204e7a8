//! Times the statistics against straightforward implementations, and checks that they meet their
//! targets.
//!
//! `cargo bench -p deadheat-stats` prints one row for each: the median times of both
//! implementations over alternating repetitions, their ratio, and the target. If the
//! straightforward one would take too long, both are timed at a smaller size, which the row names.

use std::hint::black_box;
use std::time::Instant;

use deadheat_stats::{
    Clusters, Floor, PooledEstimate, hodges_lehmann, hodges_lehmann_shift, mann_whitney_exact_p,
    pooled_huber, rank_sum, signed_rank_exact_p, summary,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const REPETITIONS: usize = 15;

/// Runs once and returns the seconds it took.
type Timed<'a> = &'a dyn Fn() -> f64;

fn main() {
    // `cargo test --benches` only checks that it runs.
    let measured = std::env::args().any(|arg| arg == "--bench");
    let bench = Bench {
        repetitions: if measured { REPETITIONS } else { 1 },
        most: if measured { usize::MAX } else { 200 },
    };
    println!(
        "{:<46}{:>10}{:>12}{:>14}   bar",
        "median of repetitions in turns", "ours", "plain way", "plain / ours"
    );
    bench.pooled();
    bench.pairs();
    bench.exact();
}

struct Bench {
    repetitions: usize,
    /// The largest size to run.
    most: usize,
}

impl Bench {
    fn pooled(&self) {
        let million = effects(self.most.min(1_000_000));
        let look = effects(1_000.min(self.most));
        let ones = vec![1; million.len()];
        let of = |count: usize, blocks: &[f64]| vec![blocks.len() / count; count];
        for (name, bar, blocks, sizes) in [
            (
                "pooled Huber, 40 replicates × 25,000 blocks",
                50e-3,
                &million,
                of(40, &million),
            ),
            (
                "pooled Huber, 1,000,000 replicates of 1 block",
                50e-3,
                &million,
                ones,
            ),
            (
                "a look (with interval and p), 40 × 25 blocks",
                50e-6,
                &look,
                of(40, &look),
            ),
        ] {
            let clusters = Clusters::new(blocks, &sizes).expect("the sizes add up");
            let ours = timed(|| whole_look(&clusters));
            let plain = timed(|| plain::pooled_huber(blocks, &sizes));
            self.row(name, Some(bar), &ours, "", &ours, &plain);
        }
    }

    fn pairs(&self) {
        let values = effects(self.most.min(200_000));
        let (first, second) = values.split_at(values.len() / 2);
        let fewer = 2_000.min(first.len());
        let (few, others) = (&first[..fewer], &second[..fewer]);
        self.row(
            "Hodges–Lehmann, 100,000 values",
            Some(100e-3),
            &timed(|| hodges_lehmann(first)),
            "at 2,000",
            &timed(|| hodges_lehmann(few)),
            &timed(|| plain::hodges_lehmann(few)),
        );
        self.row(
            "Hodges–Lehmann shift, 2 × 100,000 values",
            None,
            &timed(|| hodges_lehmann_shift(first, second)),
            "at 2 × 2,000",
            &timed(|| hodges_lehmann_shift(few, others)),
            &timed(|| plain::hodges_lehmann_shift(few, others)),
        );
        self.row(
            "Mann–Whitney, 2 × 100,000 values",
            Some(40e-3),
            &timed(|| rank_sum(first, second).map(|found| found.asymptotic_p(true))),
            "at 2 × 2,000",
            &timed(|| rank_sum(few, others).map(|found| found.asymptotic_p(true))),
            &timed(|| plain::u_of_all_pairs(few, others)),
        );
    }

    fn exact(&self) {
        let values = effects(100);
        let (first, second) = values.split_at(50);
        let ties: Vec<f64> = values.iter().map(|x| (x * 1e3).round()).collect();
        let (tied, others) = ties.split_at(50);
        self.row(
            "exact Mann–Whitney, 50 against 50",
            Some(1e-3),
            &timed(|| mann_whitney_exact_p(first, second)),
            "at 10 against 10",
            &timed(|| mann_whitney_exact_p(&first[..10], &second[..10])),
            &timed(|| plain::dealt_again(&first[..10], &second[..10])),
        );
        self.row(
            "exact Mann–Whitney with ties, 50 against 50",
            Some(1e-3),
            &timed(|| mann_whitney_exact_p(tied, others)),
            "at 10 against 10",
            &timed(|| mann_whitney_exact_p(&tied[..10], &others[..10])),
            &timed(|| plain::dealt_again(&tied[..10], &others[..10])),
        );
        self.row(
            "exact signed-rank, 50 values",
            Some(1e-3),
            &timed(|| signed_rank_exact_p(first)),
            "at 18",
            &timed(|| signed_rank_exact_p(&first[..18])),
            &timed(|| plain::all_signs(&first[..18])),
        );
    }

    /// `ours` at full size; `same` and `plain` at the size in `at`, or at full size if `at` is
    /// empty.
    fn row(&self, name: &str, bar: Option<f64>, ours: Timed, at: &str, same: Timed, plain: Timed) {
        let (mut full, mut small, mut slow) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.repetitions {
            full.push(ours());
            slow.push(plain());
            small.push(if at.is_empty() {
                full[full.len() - 1]
            } else {
                same()
            });
        }
        let [full, small, slow] = [full, small, slow]
            .map(|seconds| summary::median(&seconds).expect("at least one repetition"));
        let verdict = bar.map_or_else(String::new, |bar| {
            let met = if full <= bar { "met" } else { "missed" };
            format!("bar {}: {met}", readable(bar))
        });
        println!(
            "{name:<46}{:>10}{:>12}{:>14.1}   {verdict}{}{}",
            readable(full),
            readable(slow),
            slow / small,
            if at.is_empty() || verdict.is_empty() {
                ""
            } else {
                "; "
            },
            if at.is_empty() {
                String::new()
            } else {
                format!("plain way {at}")
            },
        );
    }
}

/// The estimate, its interval and its p-value, which every look computes.
fn whole_look(clusters: &Clusters) -> (PooledEstimate, Option<(f64, f64)>, Option<f64>) {
    let found = pooled_huber(clusters, Floor::default()).expect("finite effects");
    let (interval, p) = (found.interval(0.01), found.p_value());
    (found, interval, p)
}

fn timed<R>(run: impl Fn() -> R) -> impl Fn() -> f64 {
    move || {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_secs_f64()
    }
}

fn readable(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.1} µs", seconds * 1e6)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}

/// Normal effects with occasional spikes.
fn effects(n: usize) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut effect = |i: usize| {
        let z = deadheat_stats::rng::normal(&mut rng);
        if i % 50 == 49 { 0.3 * z } else { 0.01 * z }
    };
    (0..n).map(&mut effect).collect()
}

/// Straightforward implementations of the same figures.
mod plain {
    pub fn median(values: &mut [f64]) -> f64 {
        values.sort_by(f64::total_cmp);
        let half = values.len() / 2;
        if values.len() % 2 == 1 {
            values[half]
        } else {
            0.5 * (values[half - 1] + values[half])
        }
    }

    /// Full sorts for the median and the MAD, and the fixed-point iteration to 1e-12.
    pub fn pooled_huber(effects: &[f64], sizes: &[usize]) -> (f64, f64) {
        let centre = median(&mut effects.to_vec());
        let mut deviations: Vec<f64> = effects.iter().map(|d| (d - centre).abs()).collect();
        let scale = 1.4826 * median(&mut deviations);
        let psi = |d: &f64, theta: f64| ((d - theta) / scale).clamp(-1.5, 1.5);
        let mut theta = centre;
        loop {
            let scores: Vec<f64> = effects.iter().map(|d| psi(d, theta)).collect();
            let step = scale * scores.iter().sum::<f64>() / effects.len() as f64;
            theta += step;
            if step.abs() < 1e-12 {
                break;
            }
        }
        let inside = effects.iter().filter(|d| (*d - theta).abs() <= 1.5 * scale);
        let inside = inside.count() as f64;
        let mut from = 0;
        let mut sums = Vec::new();
        for size in sizes {
            let replicate = &effects[from..from + size];
            sums.push(replicate.iter().map(|d| psi(d, theta)).sum::<f64>());
            from += size;
        }
        let p = sums.len() as f64;
        let mean = sums.iter().sum::<f64>() / p;
        let squares: f64 = sums.iter().map(|c| (c - mean).powi(2)).sum();
        (theta, scale / inside * (p / (p - 1.0) * squares).sqrt())
    }

    pub fn hodges_lehmann(values: &[f64]) -> f64 {
        let pairs = (0..values.len()).flat_map(|i| values[i..].iter().map(move |b| (values[i], b)));
        let mut averages: Vec<f64> = pairs.map(|(a, b)| 0.5 * (a + b)).collect();
        median(&mut averages)
    }

    pub fn hodges_lehmann_shift(first: &[f64], second: &[f64]) -> f64 {
        let pairs = first.iter().flat_map(|a| second.iter().map(move |b| b - a));
        median(&mut pairs.collect::<Vec<f64>>())
    }

    pub fn u_of_all_pairs(first: &[f64], second: &[f64]) -> f64 {
        let above = |a: &f64| second.iter().map(|b| half_steps(a, b)).sum::<f64>();
        first.iter().map(above).sum()
    }

    fn half_steps(a: &f64, b: &f64) -> f64 {
        if a > b {
            1.0
        } else if a == b {
            0.5
        } else {
            0.0
        }
    }

    /// The share of all assignments of the values whose rank sum is at least as far from its mean.
    pub fn dealt_again(first: &[f64], second: &[f64]) -> f64 {
        let all = [first, second].concat();
        let rank = |a| all.iter().map(|b| half_steps(a, b)).sum::<f64>();
        let ranks: Vec<f64> = all.iter().map(rank).collect();
        let mean = ranks.iter().sum::<f64>() * first.len() as f64 / all.len() as f64;
        let observed = (ranks[..first.len()].iter().sum::<f64>() - mean).abs();
        let (mut extreme, mut deals) = (0_u32, 0_u32);
        for hand in 0_u32..1 << all.len() {
            if hand.count_ones() as usize == first.len() {
                let held = (0..all.len()).filter(|i| hand >> i & 1 == 1);
                let sum: f64 = held.map(|i| ranks[i]).sum();
                deals += 1;
                extreme += u32::from((sum - mean).abs() >= observed);
            }
        }
        f64::from(extreme) / f64::from(deals)
    }

    /// The share of all sign patterns whose rank sum is at least as far from its mean.
    pub fn all_signs(values: &[f64]) -> f64 {
        let rank = |a: &f64| values.iter().filter(|b| b.abs() <= a.abs()).count() as f64;
        let ranks: Vec<f64> = values.iter().map(rank).collect();
        let mean = 0.5 * ranks.iter().sum::<f64>();
        let positive = values.iter().zip(&ranks).filter(|(d, _)| **d > 0.0);
        let observed = (positive.map(|(_, rank)| rank).sum::<f64>() - mean).abs();
        let patterns = 1_u32 << values.len();
        let extreme = (0..patterns).filter(|signs| {
            let up = (0..ranks.len()).filter(|i| signs >> i & 1 == 1);
            (up.map(|i| ranks[i]).sum::<f64>() - mean).abs() >= observed
        });
        extreme.count() as f64 / f64::from(patterns)
    }
}
