//! Compares plans of more than forty replicates with the plan of forty, by seeded simulation of
//! whole races: `cargo run --release -p deadheat-stats --example extension [RACES]`.

use deadheat_stats::looks::{SPENDING_POWER, Spending};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

#[path = "../simulation/extension.rs"]
mod extension;
#[path = "../simulation/spending.rs"]
mod spending;

use extension::{Outcomes, Scatter, outcomes};
use spending::{false_rejections, recompute_levels};

const ALPHA: f64 = 0.05;
const DRAWS: usize = 40_000;
/// Runs of repeated t tests without a difference.
const T_TESTS: usize = 200_000;
const SPREADS: [f64; 4] = [0.005, 0.01, 0.02, 0.04];
const CHANGES: [f64; 5] = [0.0, 0.005, 0.01, 0.02, 0.05];

fn main() {
    let races = std::env::args().nth(1);
    let races = races.map_or(2_000, |races| races.parse().expect("a number of races"));
    let plans = plans();
    let (names, plans): (Vec<String>, Vec<Spending>) = plans.into_iter().unzip();
    println!("{races} races a cell, alpha {ALPHA}, margin 1 %\n");
    println!("| blocks | spread | change | {} |", names.join(" | "));
    println!("| --- | --- | --- |{}", " --- |".repeat(names.len()));
    let mut worst = vec![0.0_f64; plans.len()];
    for scatter in Scatter::ALL {
        for spread in SPREADS {
            for change in CHANGES {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_261_125);
                let found = outcomes(&plans, (scatter, spread), change, races, &mut rng);
                for (worst, one) in worst.iter_mut().zip(&found) {
                    *worst = worst.max(one.wrong);
                }
                let cells: Vec<String> = found.iter().map(|one| cell(*one, change)).collect();
                let (spread, change) = (100.0 * spread, 100.0 * change);
                println!(
                    "| {scatter:?} | {spread} % | {change} % | {} |",
                    cells.join(" | ")
                );
            }
        }
    }
    let worst: Vec<String> = worst.iter().map(|wrong| format!("{wrong:.3}")).collect();
    println!("| wrong at most | | | {} |", worst.join(" | "));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_261_126);
    let mut t_tests = |plan: &Spending| format!("{:.4}", false_rejections(plan, T_TESTS, &mut rng));
    let t_tests: Vec<String> = plans.iter().map(&mut t_tests).collect();
    println!("| t tests of nothing | | | {} |", t_tests.join(" | "));
}

/// The share of right verdicts, and the mean number of replicates.
fn cell(found: Outcomes, change: f64) -> String {
    let right = if change == 0.0 {
        found.equivalent
    } else {
        found.equivalent + found.slower
    };
    format!("{right:.3}, {:.1}", found.replicates)
}

/// The plans compared: forty replicates; the same spending stretched over more replicates; most of
/// α spent over the first forty, at the same looks and at closer ones; and the plan in use.
fn plans() -> Vec<(String, Spending)> {
    let extended = |most| Spending::extended(most, ALPHA).ok().flatten();
    let extended = |most| extended(most).expect("more than forty");
    let fine = extended(200).looks;
    let coarse = [6, 8, 11, 16, 22, 31, 40, 56, 80, 112, 160, 200];
    let stretched = |power: f64| move |look: f64| (look / 200.0).powf(power);
    let parted = |share: f64| {
        move |look: f64| {
            let first = share * (look.min(40.0) / 40.0).powf(SPENDING_POWER);
            first + (1.0 - share) * (look - 40.0).max(0.0) / 160.0
        }
    };
    vec![
        ("40".to_owned(), Spending::plan(40, ALPHA).expect("a plan")),
        ("200, power 1.5".to_owned(), plan(&coarse, stretched(1.5))),
        (
            "the same, finer looks".to_owned(),
            plan(&fine, stretched(1.5)),
        ),
        (
            "200, power 1, finer".to_owned(),
            plan(&fine, stretched(1.0)),
        ),
        ("200, .7 by 40".to_owned(), plan(&coarse, parted(0.7))),
        ("200, .9 by 40, finer".to_owned(), plan(&fine, parted(0.9))),
        ("extended, 56".to_owned(), extended(56)),
        ("extended, 200".to_owned(), extended(200)),
    ]
}

/// A plan whose looks have spent these shares of α.
fn plan(looks: &[usize], spent: impl Fn(f64) -> f64) -> Spending {
    let mut before = 0.0;
    let weights = looks.iter().map(|look| {
        let by_now = spent(*look as f64);
        by_now - std::mem::replace(&mut before, by_now)
    });
    let weights: Vec<f64> = weights.collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let levels = recompute_levels((looks, &weights), ALPHA, DRAWS, &mut rng);
    Spending {
        looks: looks.to_vec(),
        levels: levels.expect("ascending looks"),
        weights,
    }
}
