//! Promises for graphs with errors estimated from a few replicates, by seeded simulation.

use deadheat_history::{Edge, Levels, changes, misclosure, plan_links, settle};
use deadheat_stats::dist::binomial_cdf;
use deadheat_stats::rng::{chi_squared, normal, uniform};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const SE: f64 = 0.0025;
const LEVEL: f64 = 0.05;

/// Draws the number of replicates of a race.
type Replicates = fn(&mut Xoshiro256PlusPlus) -> u32;

fn few(_: &mut Xoshiro256PlusPlus) -> u32 {
    6
}

fn six_to_forty(rng: &mut Xoshiro256PlusPlus) -> u32 {
    6 + (35.0 * uniform(rng)) as u32
}

/// Races of equal commits, by the plan; `host` gets the later commit.
fn level_history(
    commits: usize,
    replicates: Replicates,
    host: fn(usize) -> usize,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Edge> {
    let race = |(from, to): (usize, usize)| {
        let df = replicates(rng) - 1;
        let truth = SE * (0.25 * normal(rng)).exp();
        Edge {
            from,
            to,
            effect: truth * normal(rng),
            se: truth * (chi_squared(df, rng) / f64::from(df)).sqrt(),
            df: f64::from(df),
            host: host(to),
            run: None,
        }
    };
    plan_links(commits).into_iter().map(race).collect()
}

/// Fails if a count this large has a probability below 1 in 10,000, given a probability of `share`
/// for each case.
#[track_caller]
fn at_most(count: u64, of: u64, share: f64) {
    let surprise = if count == 0 {
        1.0
    } else {
        1.0 - binomial_cdf(count - 1, of, share)
    };
    assert!(surprise > 1e-4, "{count} of {of} for {share}");
}

#[test]
fn intervals_hold_the_truth_however_few_replicates_the_races_had() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for replicates in [few as Replicates, six_to_forty] {
        let (mut histories, mut near, mut far, mut out) = (0, 0, 0, 0);
        for _ in 0..2_000 {
            let edges = level_history(16, replicates, |_| 0, &mut rng);
            let levels = Levels::solve(16, &edges, 0).unwrap();
            let misses = |a, b, level| {
                let (low, high) = levels.difference(a, b).unwrap().interval(level);
                u64::from(low > 0.0 || high < 0.0)
            };
            histories += 1;
            near += misses(7, 8, 0.05);
            far += misses(0, 15, 0.05);
            // At the strict level that tests of a hundred commits use.
            out += (1..16).map(|to| misses(to - 1, to, 0.001)).sum::<u64>();
        }
        at_most(near, histories, 0.05);
        at_most(far, histories, 0.05);
        at_most(out, 15 * histories, 0.001);
    }
}

#[test]
fn a_range_without_changes_has_false_steps_and_false_creep_at_its_level() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let series: Vec<usize> = (0..65).collect();
    let (mut steps, mut creep) = (0, 0);
    for _ in 0..600 {
        let edges = level_history(65, six_to_forty, |_| 0, &mut rng);
        let levels = Levels::solve(65, &edges, 0).unwrap();
        let found = changes(&levels, &series, &[], LEVEL);
        steps += u64::from(!found.steps.is_empty());
        creep += u64::from(!found.creep.is_empty());
    }
    at_most(steps, 600, LEVEL);
    at_most(creep, 600, LEVEL);
}

#[test]
fn loops_of_sound_hosts_close_and_a_host_whose_errors_are_too_narrow_is_widened() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let host = |to| usize::from((40..60).contains(&to));
    for replicates in [few as Replicates, six_to_forty] {
        let (mut cried, mut found) = (0, 0);
        for _ in 0..400 {
            let mut edges = level_history(100, replicates, host, &mut rng);
            let levels = Levels::solve(100, &edges, 0).unwrap();
            cried += u64::from(misclosure(&levels).p_value.unwrap() < LEVEL);
            edges
                .iter_mut()
                .for_each(|edge| edge.effect *= if edge.host == 1 { 4.0 } else { 1.0 });
            let settled = settle(100, &edges, 0, LEVEL).unwrap();
            let factor = settled.widened.iter().find(|(host, _)| *host == 1);
            found += u64::from(factor.is_some_and(|(_, factor)| (2.0..8.0).contains(factor)));
        }
        at_most(cried, 400, LEVEL);
        assert!(found >= 380, "{found} of 400");
    }
}
