//! Recomputes every tabled level by seeded simulation: `cargo run --release -p deadheat-stats
//! --example spending`.

use deadheat_stats::looks::Spending;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

#[path = "../simulation/spending.rs"]
mod simulation;

use simulation::{false_rejections, recompute_levels};

const DRAWS: usize = 400_000;
const RUNS: usize = 1_000_000;
/// How far a tabled level may lie from the recomputed one.
const TOLERANCE: f64 = 0.03;

fn main() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_260_101);
    let mut strayed = 0;
    for alpha in [0.05, 0.01] {
        for max in [11, 22, 40, 88] {
            let plan = Spending::plan(max, alpha).expect("a tabled plan");
            let levels =
                recompute_levels(&plan.looks, alpha, DRAWS, &mut rng).expect("ascending looks");
            println!(
                "alpha {alpha}, at most {max} replicates\n  look    tabled  recomputed  ratio"
            );
            for ((look, tabled), found) in plan.looks.iter().zip(&plan.levels).zip(&levels) {
                let ratio = tabled / found;
                let far = (ratio - 1.0).abs() > TOLERANCE;
                strayed += usize::from(far);
                let mark = if far { "  <- beyond 3 %" } else { "" };
                println!("  {look:4}  {tabled:8.6}    {found:8.6}  {ratio:5.3}{mark}");
            }
            let share = false_rejections(&plan, RUNS, &mut rng);
            println!("  false rejections in {RUNS} runs: {share:.5}\n");
        }
    }
    println!("{strayed} tabled levels lie more than 3 % from the recomputed ones");
}
