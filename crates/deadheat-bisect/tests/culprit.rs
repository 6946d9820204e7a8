//! The search for the commit that changed the time: laws of its posterior, walks without noise, and
//! its promises by seeded simulation. The full table is in `docs/validation/bisect.md`.

use deadheat_bisect::culprit::{
    Answer, CommitRace, CulpritError, CulpritSearch, NextRace, Posterior,
};
use deadheat_stats::rng::{normal, uniform};
use deadheat_stats::summary::{mean, std_dev};
use proptest::collection::vec;
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const MARGIN: f64 = 0.01;
const ALPHA: f64 = 0.05;

fn uniform_search(commits: usize) -> CulpritSearch {
    CulpritSearch::uniform(commits, MARGIN, ALPHA).unwrap()
}

fn posterior(search: &CulpritSearch, races: &[CommitRace]) -> Posterior {
    let mut search = search.clone();
    for race in races {
        search.add(*race).unwrap();
    }
    search.posterior()
}

/// The probabilities of every group, of no change and of no single step.
fn probabilities(posterior: &Posterior) -> Vec<f64> {
    let groups = posterior.groups.iter().map(|group| group.probability);
    groups
        .chain([posterior.no_change, posterior.no_single_step])
        .collect()
}

#[track_caller]
fn all_close(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() < 1e-7, "{got} is not {want}");
    }
}

/// A search with unbuildable commits, and races between the other commits, mostly of usual sizes.
fn searches() -> impl Strategy<Value = (CulpritSearch, Vec<CommitRace>)> {
    let theta = prop_oneof![6 => -0.05..0.05, 1 => -25.0..25.0, 1 => Just(0.0)];
    let se = prop_oneof![6 => 0.0002..0.01, 1 => 1e-12..1e5];
    let race = (any::<usize>(), any::<usize>(), theta, se, 1.0..1e4_f64);
    let weights = vec(prop_oneof![1 => Just(0.0), 6 => 0.1..10.0], 1..40);
    (weights, vec(race, 0..12), vec(any::<usize>(), 0..6)).prop_map(
        |(mut weights, drawn, unbuildable)| {
            weights[0] += 0.5;
            let nodes = weights.len() + 1;
            let mut search = CulpritSearch::weighted(&weights, MARGIN, ALPHA).unwrap();
            let mut races = Vec::new();
            for (from, to, theta, se, df) in drawn {
                let (from, to) = (from % nodes, to % nodes);
                races.push(CommitRace {
                    from,
                    to,
                    theta,
                    se,
                    df,
                });
            }
            for commit in unbuildable {
                let commit = commit % nodes;
                let marked = search.mark_unbuildable(commit);
                assert_eq!(marked.is_err(), commit == 0 || commit == nodes - 1);
            }
            races.retain(|race| search.clone().add(*race).is_ok());
            (search, races)
        },
    )
}

proptest! {
    #[test]
    fn all_probabilities_are_finite_and_add_up_to_one((search, races) in searches()) {
        let posterior = posterior(&search, &races);
        let all = probabilities(&posterior);
        prop_assert!(all.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)), "{all:?}");
        prop_assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{all:?}");
        if let Some(step) = posterior.step {
            prop_assert!(step.low.is_finite() && step.low <= step.high && step.theta.is_finite());
        }
        if let Some(Answer::Commits(_)) = posterior.answer() {
            prop_assert!(posterior.no_step() < 0.5, "{posterior:?}");
        }
        let groups = &posterior.groups;
        prop_assert_eq!(groups[0].first, 1);
        prop_assert_eq!(groups[groups.len() - 1].last, search.last());
        prop_assert!(groups.windows(2).all(|pair| pair[0].last + 1 == pair[1].first));
    }

    #[test]
    fn the_order_of_races_and_their_direction_do_not_matter(
        (search, races) in searches(),
        turned in any::<u64>(),
    ) {
        let mut other: Vec<CommitRace> = races.clone();
        other.rotate_left(if races.is_empty() { 0 } else { turned as usize % races.len() });
        for (place, race) in other.iter_mut().enumerate() {
            if turned >> place & 1 == 1 {
                *race = CommitRace { from: race.to, to: race.from, theta: -race.theta, ..*race };
            }
        }
        all_close(
            &probabilities(&posterior(&search, &races)),
            &probabilities(&posterior(&search, &other)),
        );
    }

    #[test]
    fn a_race_of_a_commit_against_itself_changes_nothing(
        (search, races) in searches(),
        theta in -0.1..0.1,
    ) {
        let itself = CommitRace { from: 0, to: 0, theta, se: 0.001, df: 5.0 };
        let more = [&races[..], &[itself]].concat();
        prop_assert_eq!(posterior(&search, &races), posterior(&search, &more));
    }

    #[test]
    fn the_range_turned_round_has_the_same_posterior_turned_round(
        commits in 1_usize..40,
        drawn in vec((any::<usize>(), any::<usize>(), -0.05..0.05, 0.0002..0.01, 3.0..60.0), 0..10),
    ) {
        let search = uniform_search(commits);
        let races: Vec<CommitRace> = drawn
            .iter()
            .map(|&(from, to, theta, se, df)| CommitRace {
                from: from % (commits + 1),
                to: to % (commits + 1),
                theta,
                se,
                df,
            })
            .collect();
        let mirrored = |race: &CommitRace| CommitRace {
            from: commits - race.from,
            to: commits - race.to,
            ..*race
        };
        let turned: Vec<CommitRace> = races.iter().map(mirrored).collect();
        let (one, other) = (posterior(&search, &races), posterior(&search, &turned));
        let mut groups = probabilities(&other);
        groups[..commits].reverse();
        all_close(&probabilities(&one), &groups);
        let (one, other) = (one.step.unwrap(), other.step.unwrap());
        all_close(&[one.theta], &[-other.theta]);
    }
}

/// Levels of all commits, and how races of them scatter.
struct World {
    levels: Vec<f64>,
    /// Standard deviation of the effect of a replicate.
    scatter: f64,
    /// The share of races that are off by half a per cent.
    disturbed: f64,
}

const LOOKS: [usize; 7] = [6, 8, 11, 16, 22, 31, 40];
const MOST_RACES: usize = 40;

impl World {
    fn step(commits: usize, culprit: usize, step: f64) -> Self {
        Self {
            levels: (0..=commits)
                .map(|commit| if commit >= culprit { step } else { 0.0 })
                .collect(),
            scatter: 0.006,
            disturbed: 0.0,
        }
    }

    /// Runs a race until it is decided, for at most forty replicates.
    fn race(
        &self,
        search: &CulpritSearch,
        next: NextRace,
        rng: &mut Xoshiro256PlusPlus,
    ) -> CommitRace {
        let truth = self.levels[next.to] - self.levels[next.from];
        let shift = match uniform(rng) {
            u if u < 0.5 * self.disturbed => 0.005,
            u if u < self.disturbed => -0.005,
            _ => 0.0,
        };
        let mut effects = Vec::new();
        for look in LOOKS {
            effects.resize_with(look, || truth + shift + self.scatter * normal(rng));
            let race = CommitRace {
                from: next.from,
                to: next.to,
                theta: mean(&effects).unwrap(),
                se: std_dev(&effects).unwrap() / (look as f64).sqrt(),
                df: (look - 1) as f64,
            };
            if look == LOOKS[6] || search.is_decided(race).unwrap() {
                return race;
            }
        }
        unreachable!("the last look ends the race")
    }

    /// Returns the answer and the number of races. A build costs as much as four races.
    fn search(
        &self,
        mut search: CulpritSearch,
        rng: &mut Xoshiro256PlusPlus,
    ) -> (Option<Answer>, usize) {
        let mut built = vec![0, search.last()];
        for races in 0..MOST_RACES {
            let posterior = search.posterior();
            if let Some(answer) = posterior.answer() {
                return (Some(answer), races);
            }
            let cost = |from: usize, to: usize| {
                let new = [from, to]
                    .iter()
                    .filter(|side| !built.contains(side))
                    .count();
                20.0 + 80.0 * new as f64
            };
            let next = search.next_race(&posterior, &built, cost).unwrap();
            let race = self.race(&search, next, rng);
            search.add(race).unwrap();
            for side in [next.from, next.to] {
                if !built.contains(&side) {
                    built.push(side);
                }
            }
        }
        (search.posterior().answer(), MOST_RACES)
    }
}

/// A search in which every race shows the truth with a small error.
fn walk(mut search: CulpritSearch, culprit: usize, step: f64) -> (Answer, usize) {
    for races in 0.. {
        let posterior = search.posterior();
        if let Some(answer) = posterior.answer() {
            return (answer, races);
        }
        let next = search.next_race(&posterior, &[], |_, _| 60.0).unwrap();
        let inside = next.from < culprit && culprit <= next.to;
        let race = CommitRace {
            from: next.from,
            to: next.to,
            theta: if inside { step } else { 0.0 },
            se: 0.001,
            df: 15.0,
        };
        assert!(races < 30, "{culprit}: {posterior:?}");
        search.add(race).unwrap();
    }
    unreachable!("a walk ends")
}

#[test]
fn a_walk_without_noise_finds_every_one_of_64_places() {
    for (commits, step) in [
        (64, 0.01),
        (64, -0.02),
        (64, 0.3),
        (3, 0.02),
        (2, 0.02),
        (1, 0.02),
    ] {
        for culprit in 1..=commits {
            let (answer, races) = walk(uniform_search(commits), culprit, step);
            let found = matches!(answer, Answer::Commits(group)
                if (group.first, group.last) == (culprit, culprit));
            assert!(
                found && races <= 13,
                "{culprit}: {answer:?} after {races} races"
            );
        }
    }
}

#[test]
fn commits_that_do_not_build_are_named_together_with_the_next_that_does() {
    let unbuildable = [7, 20, 21, 22, 40];
    for culprit in 1..=64 {
        let mut search = uniform_search(64);
        for commit in unbuildable {
            search.mark_unbuildable(commit).unwrap();
        }
        let first = (1..culprit)
            .rev()
            .find(|commit| !unbuildable.contains(commit))
            .map_or(1, |before| before + 1);
        let last = (culprit..=64)
            .find(|commit| !unbuildable.contains(commit))
            .unwrap();
        let (answer, _) = walk(search, culprit, 0.02);
        let named = matches!(answer, Answer::Commits(group)
            if (group.first, group.last) == (first, last));
        assert!(named, "{culprit}: {answer:?}");
    }
}

#[test]
fn a_build_that_fails_on_the_way_is_stepped_around() {
    let mut search = uniform_search(64);
    let ends = CommitRace {
        from: 0,
        to: 64,
        theta: 0.02,
        se: 0.001,
        df: 15.0,
    };
    search.add(ends).unwrap();
    let next = |search: &CulpritSearch| {
        let next = search.next_race(&search.posterior(), &[], |_, _| 60.0);
        let inner = |next: NextRace| if next.from == 0 { next.to } else { next.from };
        next.map(inner).unwrap()
    };
    let middle = next(&search);
    assert!((30..=34).contains(&middle), "{middle}");
    search.mark_unbuildable(middle).unwrap();
    let instead = next(&search);
    assert_ne!(instead, middle);
    assert!((28..=36).contains(&instead), "{instead}");
    let race = CommitRace { to: middle, ..ends };
    assert_eq!(
        search.add(race),
        Err(CulpritError::Unbuildable { commit: middle })
    );
}

/// A precise race between commits of 64.
fn precise(from: usize, to: usize, theta: f64) -> CommitRace {
    CommitRace {
        from,
        to,
        theta,
        se: 0.001,
        df: 39.0,
    }
}

fn search_with(races: &[CommitRace]) -> CulpritSearch {
    let mut search = uniform_search(64);
    for race in races {
        search.add(*race).unwrap();
    }
    search
}

#[test]
fn a_culprit_is_no_answer_until_it_was_raced_against_the_commit_before() {
    let around = [precise(0, 30, 0.0), precise(0, 31, 0.02)];
    let races = [&[precise(0, 64, 0.02)], &around[..], &around[..]].concat();
    let mut search = search_with(&races);
    let posterior = search.posterior();
    assert!(posterior.groups[30].probability > 0.95, "{posterior:?}");
    assert_eq!(posterior.answer(), None);
    let dear = |from: usize, to: usize| if (from, to) == (30, 31) { 1e9 } else { 1.0 };
    let next = search.next_race(&posterior, &[0, 64], dear).unwrap();
    assert_eq!((next.from, next.to), (30, 31));
    search.add(precise(30, 31, 0.02)).unwrap();
    let answer = search.posterior().answer();
    assert!(matches!(answer, Some(Answer::Commits(group)) if group.last == 31));
}

#[test]
fn a_race_that_shows_neither_nothing_nor_the_step_is_raced_again() {
    let ends = precise(0, 64, 0.01);
    let search = search_with(&[ends, ends, precise(0, 32, 0.005)]);
    let built = [0, 32, 64];
    let cost = |from: usize, to: usize| {
        let all_built = built.contains(&from) && built.contains(&to);
        if all_built { 20.0 } else { 100.0 }
    };
    let next = search.next_race(&search.posterior(), &built, cost).unwrap();
    assert_eq!((next.from, next.to), (0, 32), "{next:?}");
}

#[test]
fn a_search_without_an_answer_tells_what_it_has_narrowed_the_culprit_down_to() {
    let races = [precise(0, 64, 0.02), precise(0, 32, 0.0)];
    let posterior = search_with(&[races, races].concat()).posterior();
    assert_eq!(posterior.answer(), None);
    let half = posterior.credible_groups(0.9);
    assert!((28..=30).contains(&half.len()), "{half:?}");
    assert!(half.iter().all(|group| group.first > 32), "{half:?}");
    assert_eq!(posterior.credible_groups(2.0).len(), 64);
    let step = posterior.step.unwrap();
    assert!((step.theta - 0.02).abs() < 0.0005, "{step:?}");
    // Two races with an error of .1 %: 2 · 1.96 · .1 %/√2, and a little for the tails.
    let width = step.high - step.low;
    assert!((0.0025..0.0040).contains(&width), "{step:?}");
    assert!(step.low < 0.02 && 0.02 < step.high);
}

/// A precise race measures .06% with a margin of 5%: neither exactly nothing, nor a step.
#[test]
fn differences_far_below_the_margin_are_no_step_however_precisely_they_are_measured() {
    let levels = [0.0, 0.0006, -0.0003, 0.0011, 0.0006];
    for margin in [0.01, 0.05, 0.2] {
        for number_of_races in 1..=4 {
            let mut search = CulpritSearch::uniform(8, margin, ALPHA).unwrap();
            for number in 1..=number_of_races {
                let commit = if number == 1 { 8 } else { number };
                let mut race = precise(0, commit, levels[number % levels.len()]);
                race.se = 0.0001;
                search.add(race).unwrap();
            }
            let answer = search.posterior().answer();
            let is_no_step = matches!(answer, Some(Answer::NoStep { .. }));
            assert!(is_no_step, "{margin} {number_of_races}: {answer:?}");
        }
    }
}

#[test]
fn where_no_single_step_explains_the_races_a_search_goes_on_between_two_of_them() {
    let search = search_with(&[
        precise(0, 64, 0.03),
        precise(0, 10, 0.01),
        precise(50, 64, -0.01),
        precise(0, 50, 0.04),
        precise(10, 64, 0.02),
        precise(10, 50, 0.03),
    ]);
    let answer = search.posterior().answer();
    let told = matches!(
        answer,
        Some(Answer::NoSingleStep {
            from: 10,
            to: 50,
            ..
        })
    );
    assert!(told, "{answer:?}");
    let within = search.between(50, 10).unwrap();
    assert_eq!(within.last(), 40);
    assert_eq!(within.races(), [precise(0, 40, 0.03)]);
    assert_eq!(search.between(3, 3).err(), Some(CulpritError::Weights));
    let beyond = CulpritError::NoSuchCommit {
        commit: 65,
        last: 64,
    };
    assert_eq!(search.between(0, 65).err(), Some(beyond));
}

#[test]
fn a_large_diff_is_raced_first_and_one_of_no_weight_is_never_named() {
    let mut weights = vec![1.0; 63];
    weights.push(0.0);
    weights[40] = 1_000.0;
    let mut search = CulpritSearch::weighted(&weights, MARGIN, ALPHA).unwrap();
    let race = |from, to, theta| CommitRace {
        from,
        to,
        theta,
        se: 0.001,
        df: 15.0,
    };
    search.add(race(0, 64, 0.02)).unwrap();
    let posterior = search.posterior();
    let next = search.next_race(&posterior, &[40, 41], |_, _| 1.0).unwrap();
    let around = [(40, 41), (0, 40), (41, 64), (0, 41), (40, 64)];
    assert!(around.contains(&(next.from, next.to)), "{next:?}");
    assert_eq!(posterior.groups[63].probability, 0.0);
}

#[test]
fn what_is_built_is_raced_before_what_must_be_built() {
    let mut search = uniform_search(64);
    let ends = CommitRace {
        from: 0,
        to: 64,
        theta: 0.02,
        se: 0.001,
        df: 15.0,
    };
    search.add(ends).unwrap();
    let posterior = search.posterior();
    let built = [0, 20, 64];
    let cost = |from: usize, to: usize| {
        let all_built = built.contains(&from) && built.contains(&to);
        if all_built { 10.0 } else { 600.0 }
    };
    let next = search.next_race(&posterior, &built, cost).unwrap();
    assert!(next.seconds == 10.0 && next.bits > 0.0, "{next:?}");
}

#[test]
fn searches_that_make_no_sense_are_refused() {
    assert_eq!(
        CulpritSearch::uniform(0, MARGIN, ALPHA).err(),
        Some(CulpritError::Weights)
    );
    for weights in [
        [0.0, 0.0],
        [1.0, -1.0],
        [1.0, f64::NAN],
        [1.0, f64::INFINITY],
    ] {
        let refused = CulpritSearch::weighted(&weights, MARGIN, ALPHA);
        assert_eq!(refused.err(), Some(CulpritError::Weights));
    }
    for margin in [0.0, 1.0, f64::NAN] {
        assert!(CulpritSearch::uniform(3, margin, ALPHA).is_err());
    }
    for alpha in [0.0, 0.5, f64::NAN] {
        assert!(CulpritSearch::uniform(3, MARGIN, alpha).is_err());
    }
    let mut search = uniform_search(4);
    let race = CommitRace {
        from: 0,
        to: 3,
        theta: 0.0,
        se: 0.001,
        df: 5.0,
    };
    let no_estimate = Err(CulpritError::Estimate { from: 0, to: 3 });
    for (theta, se, df) in [
        (f64::NAN, 0.001, 5.0),
        (f64::INFINITY, 0.001, 5.0),
        (0.0, 0.0, 5.0),
        (0.0, f64::NAN, 5.0),
        (0.0, 0.001, 0.5),
        (0.0, 0.001, f64::NAN),
    ] {
        let broken = CommitRace {
            theta,
            se,
            df,
            ..race
        };
        assert_eq!(search.add(broken), no_estimate);
    }
    let beyond = CulpritError::NoSuchCommit { commit: 5, last: 4 };
    assert_eq!(search.add(CommitRace { to: 5, ..race }), Err(beyond));
    assert_eq!(search.mark_unbuildable(5), Err(beyond));
    search.add(race).unwrap();
    for commit in [0, 3, 4] {
        let needed = Err(CulpritError::Needed { commit });
        assert_eq!(search.mark_unbuildable(commit), needed);
    }
    assert_eq!(search.mark_unbuildable(2), Ok(()));
}

/// Outcomes of searches among 64 commits.
#[derive(Debug, Default)]
struct Outcomes {
    right: usize,
    wrong: usize,
    no_step: usize,
    no_single_step: usize,
    open: usize,
    races: usize,
}

/// Runs this many searches. An answer is right if it names one of the culprits.
fn searched(
    searches: usize,
    seed: u64,
    mut world: impl FnMut(&mut Xoshiro256PlusPlus) -> (World, Vec<usize>),
) -> Outcomes {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut outcomes = Outcomes::default();
    for _ in 0..searches {
        let (world, culprits) = world(&mut rng);
        let (answer, races) = world.search(uniform_search(world.levels.len() - 1), &mut rng);
        outcomes.races += races;
        let count = match answer {
            Some(Answer::Commits(group)) if culprits.contains(&group.last) => &mut outcomes.right,
            Some(Answer::Commits(_)) => &mut outcomes.wrong,
            Some(Answer::NoStep { .. }) => &mut outcomes.no_step,
            Some(Answer::NoSingleStep { .. }) => &mut outcomes.no_single_step,
            None => &mut outcomes.open,
        };
        *count += 1;
    }
    outcomes
}

fn somewhere(commits: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    1 + (uniform(rng) * commits as f64) as usize
}

const SEARCHES: usize = 200;

#[test]
fn a_step_of_the_margin_is_found_in_nineteen_searches_of_twenty() {
    for (step, disturbed) in [(0.01, 0.0), (-0.01, 0.0), (0.01, 0.1)] {
        let found = searched(SEARCHES, 7, |rng| {
            let culprit = somewhere(64, rng);
            let world = World {
                disturbed,
                ..World::step(64, culprit, step)
            };
            (world, vec![culprit])
        });
        assert!(
            found.right * 100 >= SEARCHES * 95,
            "{step} {disturbed}: {found:?}"
        );
        // Twice the sum of six races and the race of the ends.
        assert!(
            found.races <= SEARCHES * 14,
            "{step} {disturbed}: {found:?}"
        );
    }
}

#[test]
fn a_step_that_is_not_there_is_named_in_one_search_of_twenty_at_most() {
    for disturbed in [0.0, 0.1] {
        let found = searched(SEARCHES, 8, |_| {
            let world = World {
                disturbed,
                ..World::step(64, 1, 0.0)
            };
            (world, Vec::new())
        });
        assert!(found.wrong * 100 <= SEARCHES * 5, "{disturbed}: {found:?}");
        assert!(
            found.no_step * 100 >= SEARCHES * 90,
            "{disturbed}: {found:?}"
        );
    }
}

#[test]
fn creep_is_told_and_two_steps_end_at_one_of_them() {
    let creep = searched(SEARCHES, 9, |_| {
        let levels = (0..=64).map(|commit| 0.03 * f64::from(commit) / 64.0);
        let world = World {
            levels: levels.collect(),
            ..World::step(64, 1, 0.0)
        };
        (world, Vec::new())
    });
    assert!(creep.wrong * 100 <= SEARCHES * 5, "{creep:?}");
    assert!(creep.no_single_step * 100 >= SEARCHES * 80, "{creep:?}");

    let opposite = searched(SEARCHES, 10, |rng| {
        let (up, down) = (somewhere(64, rng), somewhere(64, rng));
        let both = World::step(64, up, 0.03);
        let levels = both.levels.iter().enumerate();
        let levels = levels.map(|(commit, level)| level - if commit >= down { 0.015 } else { 0.0 });
        let world = World {
            levels: levels.collect(),
            ..World::step(64, 1, 0.0)
        };
        (world, vec![up, down])
    });
    assert!(opposite.wrong * 100 <= SEARCHES * 5, "{opposite:?}");
}
