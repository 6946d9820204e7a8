//! Recomputes every tabulated level by seeded simulation: `cargo run --release -p deadheat-stats
//! --example spending`.

use deadheat_stats::looks::{MOST_EXTENDED, Spending};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

#[path = "../simulation/spending.rs"]
mod simulation;

use simulation::{false_rejections, level_of_look, recompute_levels};

const DRAWS: usize = 400_000;
/// Draws for each of the many looks of extended runs.
const EXTENDED_DRAWS: usize = 100_000;
const RUNS: usize = 1_000_000;
/// The largest accepted relative difference between a tabulated and a recomputed level.
const TOLERANCE: f64 = 0.03;

fn main() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_260_101);
    let mut strayed = 0;
    for alpha in [0.05, 0.01] {
        for max in [11, 22, 40, 88] {
            let plan = Spending::plan(max, alpha).expect("a tabled plan");
            println!("alpha {alpha}, at most {max} replicates");
            let levels = recompute_levels((&plan.looks, &plan.weights), alpha, DRAWS, &mut rng);
            strayed += compare(&plan, &levels.expect("ascending looks"));
            print_share(&plan, &mut rng);
        }
    }
    for alpha in [0.05, 0.01, 0.001] {
        strayed += extended(alpha, &mut rng);
    }
    // Between the tabulated values of α the levels are only approximate.
    for alpha in [0.1, 0.04, 0.02, 0.005] {
        let plan = extended_plan(MOST_EXTENDED, alpha);
        println!("alpha {alpha}, extended, at most {MOST_EXTENDED} replicates");
        print_share(&plan, &mut rng);
    }
    println!("{strayed} tabled levels lie more than 3 % from the recomputed ones");
}

fn extended_plan(max: usize, alpha: f64) -> Spending {
    let plan = Spending::extended(max, alpha).expect("a sound level");
    plan.expect("more than forty replicates")
}

/// Compares the levels of extended runs, and those that each look has if it is the last.
fn extended(alpha: f64, rng: &mut Xoshiro256PlusPlus) -> usize {
    let plan = extended_plan(MOST_EXTENDED, alpha);
    println!("alpha {alpha}, extended");
    let weighted = (&plan.looks[..], &plan.weights[..]);
    let levels = recompute_levels(weighted, alpha, EXTENDED_DRAWS, rng).expect("ascending looks");
    let mut strayed = compare(&plan, &levels);
    println!("  where a look is the last");
    for last in plan.looks.iter().filter(|look| **look > 40) {
        let plan = extended_plan(*last, alpha);
        let count = plan.looks.len();
        let increment = alpha * plan.weights[count - 1];
        let earlier = &levels[..count - 1];
        let found = level_of_look(&plan.looks, earlier, increment, alpha, EXTENDED_DRAWS, rng);
        strayed += line(*last, plan.levels[count - 1], found);
    }
    for last in [45, 80, MOST_EXTENDED] {
        print!("  at most {last}:");
        print_share(&extended_plan(last, alpha), rng);
    }
    strayed
}

/// Prints a plan next to recomputed levels, and returns how many differ by more than the tolerance.
fn compare(plan: &Spending, levels: &[f64]) -> usize {
    println!("  look    tabled  recomputed  ratio");
    let tabled = plan.looks.iter().zip(&plan.levels).zip(levels);
    tabled
        .map(|((look, tabled), found)| line(*look, *tabled, *found))
        .sum()
}

fn line(look: usize, tabled: f64, found: f64) -> usize {
    let ratio = tabled / found;
    let far = (ratio - 1.0).abs() > TOLERANCE;
    let mark = if far { "  <- beyond 3 %" } else { "" };
    println!("  {look:4}  {tabled:9.7}   {found:9.7}  {ratio:5.3}{mark}");
    usize::from(far)
}

fn print_share(plan: &Spending, rng: &mut Xoshiro256PlusPlus) {
    let share = false_rejections(plan, RUNS, rng);
    println!("  false rejections in {RUNS} runs: {share:.5}\n");
}
