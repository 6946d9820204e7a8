//! Recomputes the table of `few_blocks` by seeded simulation, then prints the accuracy of the fit
//! and its effect on false positives: `cargo run --release -p deadheat-stats --example few_blocks`.
//! Takes about twelve minutes on two cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use deadheat_stats::dist::t_critical;
use deadheat_stats::few_blocks;
use deadheat_stats::looks::Spending;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

#[path = "../simulation/false_calls.rs"]
mod false_calls;
#[path = "../simulation/few_blocks.rs"]
mod simulation;

use false_calls::{Boundary, Noise};
use simulation::{NullDistribution, fit};

/// The rows of the table.
const ROWS: std::ops::RangeInclusive<usize> = 3..=64;
/// Where the fit is shown, within the table and beyond it.
const SHOWN: [usize; 14] = [3, 4, 5, 6, 7, 8, 11, 16, 22, 31, 40, 64, 88, 176];
/// Levels at which it is shown.
const LEVELS: [f64; 5] = [0.05, 0.01, 0.001, 0.0002, 0.00002];
/// Simulated runs per line of false positives.
const RUNS: usize = 100_000;
/// Simulated open-ended runs of up to 200 replicates, with a look after each.
const ANYTIME_RUNS: usize = 20_000;

fn main() {
    print_table();
    print_fit();
    print_widths();
    print_false_calls();
}

/// The number of simulated samples to which a row is fitted. Fewer replicates have a heavier tail
/// and need more samples.
fn draws(replicates: usize) -> usize {
    match replicates {
        0..=12 => 2_000_000,
        13..=24 => 500_000,
        _ => 200_000,
    }
}

fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Applies `of` to every item on all cores and returns the results in order. Every item has its own
/// seed, so the number of cores has no effect.
fn in_parallel<T: Sync, R: Send>(items: &[T], of: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else { break };
            let result = of(i, item);
            found.lock().expect("no worker panics").push((i, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |cores| cores.get()) {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().expect("no worker panics");
    found.sort_by_key(|(i, _)| *i);
    found.into_iter().map(|(_, result)| result).collect()
}

fn print_table() {
    let sizes: Vec<usize> = ROWS.collect();
    let rows = in_parallel(&sizes, |_, &p| {
        let null = NullDistribution::simulate(p, draws(p), &mut seeded(p as u64));
        let row = fit(p, &null.expect("enough replicates"));
        format!("({:.4}, {:.2})", row.factor, row.bend)
    });
    println!("(c, b) for P = 3, 4, …, 64");
    for line in rows.chunks(6) {
        println!("    {},", line.join(", "));
    }
}

fn print_fit() {
    println!(
        "\nT at a level, as tabled, over T in a simulation of other seeds (and its standard error, %)"
    );
    print!("   P");
    LEVELS.iter().for_each(|level| print!("  {level:13}"));
    println!();
    let lines = in_parallel(&SHOWN, |_, &p| {
        let null = NullDistribution::simulate(p, draws(p) / 2, &mut seeded(1_000 + p as u64));
        let null = null.expect("enough replicates");
        let columns = LEVELS.map(|level| {
            let tabled = few_blocks::critical(level, p);
            let (here, near) = (null.two_sided_p(tabled), null.two_sided_p(1.02 * tabled));
            // The slope d ln P/d ln T, to convert a ratio of probabilities into one of critical
            // values.
            let slope = (here.p / near.p).ln() / 1.02_f64.ln();
            let ratio = ((level / here.p).ln() / slope).exp();
            format!(
                "  {ratio:6.4} ({:4.2})",
                100.0 * here.error / here.p / slope
            )
        });
        format!("{p:4}{}", columns.concat())
    });
    println!("{}", lines.join("\n"));
}

fn print_widths() {
    println!(
        "\nhow much wider the calibrated interval is than the plain one, at the looks of 40 replicates and α = .05"
    );
    let plan = Spending::plan(40, 0.05).expect("a tabled plan");
    for (&p, &level) in plan.looks.iter().zip(&plan.levels) {
        let (plain, found) = (
            t_critical(level, (p - 1) as f64),
            few_blocks::critical(level, p),
        );
        println!(
            "  P {p:3}  level {level:.5}  {plain:6.3} -> {found:6.3}  ratio {:.3}",
            found / plain
        );
    }
}

fn print_false_calls() {
    let planned = |max, alpha| {
        let plan = Spending::plan(max, alpha).expect("a possible plan");
        (
            format!("looks to {max}"),
            alpha,
            Boundary::of_plan(&plan),
            RUNS,
        )
    };
    let fixed = |p| {
        let plan = Spending::fixed(p, 0.05).expect("a possible plan");
        (
            format!("one look at {p}"),
            0.05,
            Boundary::of_plan(&plan),
            RUNS,
        )
    };
    let anytime = |alpha| {
        let boundary = Boundary::anytime(6, 200, alpha);
        (
            "anytime, 6 to 200".to_owned(),
            alpha,
            boundary,
            ANYTIME_RUNS,
        )
    };
    let cases = [
        fixed(6),
        fixed(8),
        fixed(11),
        fixed(16),
        fixed(22),
        planned(11, 0.05),
        planned(22, 0.05),
        planned(40, 0.05),
        planned(88, 0.05),
        planned(11, 0.01),
        planned(40, 0.01),
        anytime(0.05),
        anytime(0.01),
    ];
    println!(
        "\nruns without a difference that are called different: plain t -> calibrated -> guarded"
    );
    print!("{:18} {:>5}", "", "α");
    Noise::ALL
        .iter()
        .for_each(|noise| print!("  {:>16}", format!("{noise:?}")));
    println!("   (binomial error)");
    let lines = in_parallel(&cases, |i, (name, alpha, boundary, runs)| {
        let columns = Noise::ALL.map(|noise| {
            let found = boundary.false_calls(noise, *runs, &mut seeded(5_000 + i as u64));
            format!(
                "  {:.4} -> {:.4} -> {:.4}",
                found.plain, found.calibrated, found.guarded
            )
        });
        let error = (alpha * (1.0 - alpha) / *runs as f64).sqrt();
        format!("{name:18} {alpha:>5}{}   ({error:.4})", columns.concat())
    });
    println!("{}", lines.join("\n"));
}
