//! Laws that hold for every graph of races.

use deadheat_history::{Difference, Edge, Levels, misclosure};
use proptest::prelude::*;

/// Edges with any ends and effects, errors that differ by up to a factor of 100, and small degrees
/// of freedom.
fn edges(nodes: usize) -> impl Strategy<Value = Vec<Edge>> {
    let edge = (
        0..nodes,
        1..nodes,
        -0.1..0.1,
        0.001..0.1,
        5.0..60.0,
        0usize..3,
    );
    let edge = edge.prop_map(move |(from, away, effect, se, df, host)| Edge {
        from,
        to: (from + away) % nodes,
        effect,
        se,
        df,
        host,
        run: None,
    });
    proptest::collection::vec(edge, 1..24)
}

fn graph() -> impl Strategy<Value = (usize, Vec<Edge>)> {
    (2usize..10).prop_flat_map(|nodes| (Just(nodes), edges(nodes)))
}

/// A graph with known errors.
fn known() -> impl Strategy<Value = (usize, Vec<Edge>)> {
    graph().prop_map(|(nodes, edges)| {
        let known = |edge| Edge {
            df: f64::INFINITY,
            ..edge
        };
        (nodes, edges.into_iter().map(known).collect())
    })
}

fn all_differences(nodes: usize, levels: &Levels) -> Vec<Option<Difference>> {
    let pairs = (0..nodes).flat_map(|a| (0..nodes).map(move |b| (a, b)));
    pairs.map(|(a, b)| levels.difference(a, b)).collect()
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
}

fn are_close(a: &[Option<Difference>], b: &[Option<Difference>]) -> bool {
    let close = |a: &Difference, b: &Difference| {
        is_close(a.effect, b.effect) && is_close(a.se, b.se) && is_close(1.0 / a.df, 1.0 / b.df)
    };
    a.iter().zip(b).all(|pair| match pair {
        (Some(a), Some(b)) => close(a, b),
        (a, b) => a.is_none() && b.is_none(),
    })
}

/// Solves the weighted least squares of a connected graph with a dense matrix, by Gauss–Jordan
/// elimination. Returns the levels relative to node 0, and their covariance.
fn dense(nodes: usize, edges: &[Edge]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut matrix = vec![vec![0.0; 2 * nodes]; nodes];
    let mut right = vec![0.0; nodes];
    for edge in edges {
        let weight = edge.se.powi(-2);
        for (a, b) in [(edge.from, edge.to), (edge.to, edge.from)] {
            matrix[a][a] += weight;
            matrix[a][b] -= weight;
        }
        right[edge.to] += weight * edge.effect;
        right[edge.from] -= weight * edge.effect;
    }
    for (node, row) in matrix.iter_mut().enumerate() {
        row[nodes + node] = 1.0;
        if node == 0 {
            row[..nodes].fill(0.0);
            row[0] = 1.0;
        } else {
            row[0] = 0.0;
        }
    }
    for pivot in 0..nodes {
        let scale = matrix[pivot][pivot];
        matrix[pivot].iter_mut().for_each(|value| *value /= scale);
        let own = matrix[pivot].clone();
        for (at, row) in matrix.iter_mut().enumerate() {
            let factor = row[pivot];
            if at != pivot {
                row.iter_mut()
                    .zip(&own)
                    .for_each(|(value, own)| *value -= factor * own);
            }
        }
    }
    let mut inverse: Vec<Vec<f64>> = matrix
        .into_iter()
        .map(|row| row[nodes..].to_vec())
        .collect();
    inverse[0].fill(0.0);
    inverse.iter_mut().for_each(|row| row[0] = 0.0);
    let level = |row: &Vec<f64>| row.iter().zip(&right).map(|(a, b)| a * b).sum();
    (inverse.iter().map(level).collect(), inverse)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn levels_and_errors_are_those_of_a_dense_solution((nodes, mut edges) in known()) {
        // A path that connects all nodes.
        let path = (1..nodes).map(|to| Edge { from: to - 1, to, se: 0.2, effect: 0.01, ..edges[0] });
        edges.extend(path.collect::<Vec<_>>());
        let levels = Levels::solve(nodes, &edges, 0).unwrap();
        let (want, covariance) = dense(nodes, &edges);
        for a in 0..nodes {
            prop_assert!(is_close(levels.level(a), want[a]));
            prop_assert!(is_close(levels.se(a), covariance[a][a].sqrt()));
            for b in (0..nodes).filter(|b| *b != a) {
                let variance = covariance[a][a] + covariance[b][b] - 2.0 * covariance[a][b];
                let difference = levels.difference(a, b).unwrap();
                prop_assert!(is_close(difference.se, variance.sqrt()));
                prop_assert!(is_close(difference.effect, want[b] - want[a]));
            }
        }
    }

    #[test]
    fn one_more_race_never_makes_a_known_error_larger((nodes, edges) in known()) {
        let less = Levels::solve(nodes, &edges[1..], 0).unwrap();
        let more = Levels::solve(nodes, &edges, 0).unwrap();
        let less = all_differences(nodes, &less);
        for (less, more) in less.iter().zip(all_differences(nodes, &more)) {
            if let Some(less) = less {
                prop_assert!(more.unwrap().se <= less.se * (1.0 + 1e-9));
            }
        }
    }

    #[test]
    fn differences_hang_neither_on_the_reference_nor_on_the_order_of_races(
        (nodes, edges) in graph(), reference in any::<prop::sample::Index>(),
    ) {
        let one = all_differences(nodes, &Levels::solve(nodes, &edges, 0).unwrap());
        let mut turned = edges.clone();
        turned.reverse();
        let other = Levels::solve(nodes, &turned, reference.index(nodes)).unwrap();
        prop_assert!(are_close(&one, &all_differences(nodes, &other)));
        prop_assert_eq!(other.level(reference.index(nodes)), 0.0);
    }

    #[test]
    fn a_race_the_other_way_round_says_the_same((nodes, edges) in graph()) {
        let one = Levels::solve(nodes, &edges, 0).unwrap();
        let turn = |edge: &Edge| Edge { from: edge.to, to: edge.from, effect: -edge.effect, ..*edge };
        let turned: Vec<Edge> = edges.iter().map(turn).collect();
        let other = Levels::solve(nodes, &turned, 0).unwrap();
        prop_assert!(are_close(&all_differences(nodes, &one), &all_differences(nodes, &other)));
        let (one, other) = (misclosure(&one), misclosure(&other));
        prop_assert!((one.chi_squared - other.chi_squared).abs() <= 1e-6 * (1.0 + one.chi_squared));
    }

    #[test]
    fn a_tree_gives_back_its_edges_and_closes((nodes, edges) in graph(), seed in any::<u64>()) {
        let parent = |to: usize| (seed >> (to % 32)) as usize % to;
        let tree: Vec<Edge> = (1..nodes)
            .map(|to| Edge { from: parent(to), to, ..edges[to % edges.len()] })
            .collect();
        let levels = Levels::solve(nodes, &tree, nodes - 1).unwrap();
        for edge in &tree {
            let difference = levels.difference(edge.from, edge.to).unwrap();
            prop_assert!(is_close(difference.effect, edge.effect));
            prop_assert!(is_close(difference.se, edge.se));
            prop_assert!(is_close(difference.df, edge.df));
        }
        prop_assert_eq!(misclosure(&levels).p_value, None);
    }

    #[test]
    fn degrees_of_freedom_are_those_of_the_hosts_and_effects_that_fit_leave_no_residual(
        (nodes, edges) in graph(), heights in proptest::collection::vec(-0.1..0.1, 10),
    ) {
        let fit = |edge: &Edge| Edge { effect: heights[edge.to] - heights[edge.from], ..*edge };
        let fitting: Vec<Edge> = edges.iter().map(fit).collect();
        let found = misclosure(&Levels::solve(nodes, &fitting, 0).unwrap());
        prop_assert!(found.chi_squared < 1e-9);
        let degrees: f64 = found.hosts.iter().map(|host| host.degrees).sum();
        prop_assert!((degrees - found.degrees as f64).abs() < 1e-6);
    }

    #[test]
    fn no_number_that_leaves_is_infinite((nodes, mut edges) in graph(), scale in -60i32..60) {
        edges[0].se *= 10f64.powi(scale);
        edges[0].effect *= 10f64.powi(-scale);
        if let Ok(levels) = Levels::solve(nodes, &edges, 0) {
            for difference in all_differences(nodes, &levels).into_iter().flatten() {
                let p = difference.p_value();
                prop_assert!(difference.effect.is_finite() && difference.se.is_finite());
                prop_assert!(difference.df.is_finite() && (0.0..=1.0).contains(&p));
            }
            prop_assert!(misclosure(&levels).chi_squared.is_finite());
        }
    }
}
