//! Loops that do not close, and hosts that say too much of their own precision.
//!
//! Around a loop of races the effects add up to nothing but their errors. Where they add up to more,
//! a standard error somewhere was too small: a check of the measurement by itself, without a truth
//! to compare it with. Each edge is compared with what all others say of the same two commits:
//!
//! t = (d − d̂₋)/√(s² + V₋), where the residual r of the edge is (1 − h)(d − d̂₋), h its leverage
//!
//! and t is taken for the standard normal deviate z that is as far out, with the degrees of freedom
//! of s and of V₋. The sum of (1 − h)z² has the mean of χ² with edges − commits + components degrees
//! exactly where all z are standard normal, and it is χ² where the errors are known: then (1 − h)z²
//! is r²/s². By r²/s² itself every sound graph would be called broken, since s² is in the
//! denominator: of six replicates that has a mean of 5/3, of eleven 10/8. Measured on 100,000 commits
//! with races of 6 to 40 replicates, the sum is .98 of its degrees, and .93 to .99 with races of six.
//!
//! The same sum over the edges of one host, with the sum of their 1 − h for degrees, is at most as
//! variable as χ² of these: the test of a host keeps its level.

use std::collections::BTreeMap;

use deadheat_stats::dist::{chi_squared_upper_tail, normal_deviate};

use crate::graph::{Edge, GraphError};
use crate::levels::Levels;

/// Below this part of its own an edge is the only way between its ends, up to rounding.
const BRIDGE: f64 = 1e-9;

/// Times that hosts are widened at most; one that is broken takes two or three times.
const ROUNDS: usize = 100;

/// The gaps of a graph's loops, against their errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Misclosure {
    /// The sum over all edges, which has the distribution of χ² where standard errors are right.
    pub chi_squared: f64,
    /// Its degrees of freedom: edges − commits + components.
    pub degrees: usize,
    /// The probability of this sum or more; `None` for a graph without loops.
    pub p_value: Option<f64>,
    /// Each edge with a part in a loop, the largest contribution first.
    pub edges: Vec<Misfit>,
    /// Each host with edges in loops, in the order of their numbers.
    pub hosts: Vec<HostMisfit>,
}

/// The distance of an edge from what all others say of its commits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misfit {
    /// The place of the edge among those the levels were solved with.
    pub edge: usize,
    /// The distance in standard normal deviates; positive where the edge's own effect is larger.
    pub deviate: f64,
    /// Its part in χ².
    pub contribution: f64,
}

/// The distance of a host's edges from what the others say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostMisfit {
    /// The number of the host.
    pub host: usize,
    /// Its part in χ².
    pub chi_squared: f64,
    /// Its part in the degrees of freedom.
    pub degrees: f64,
    /// The probability of this part or more.
    pub p_value: f64,
}

impl HostMisfit {
    /// The errors of the host by its loops, in those that it said: √(χ²/degrees).
    pub fn factor(&self) -> f64 {
        (self.chi_squared / self.degrees).sqrt()
    }
}

/// Compares each edge with what all others say.
pub fn misclosure(levels: &Levels) -> Misclosure {
    let inverse_df: f64 = levels.residuals().map(|(link, ..)| link.df.recip()).sum();
    let typical = inverse_df / levels.residuals().count().max(1) as f64;
    let edge_count = levels.links_of_edges().len();
    let (mut edges, mut chi_squared) = (Vec::new(), 0.0);
    let mut hosts: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (number, (link, leverage, residual)) in levels.residuals().enumerate() {
        let free = 1.0 - leverage;
        if free < BRIDGE {
            continue;
        }
        let of_others = link.weight.variance * leverage / free;
        let variance = link.measured + of_others;
        // All others have together at least the degrees of freedom of one typical edge.
        let (own, rest) = (link.measured / variance, of_others / variance);
        let df = (own * own / link.df + rest * rest * typical).recip();
        let deviate = normal_deviate(residual / free / variance.sqrt(), df);
        let contribution = free * deviate * deviate;
        chi_squared += contribution;
        let host = hosts.entry(link.host).or_default();
        host.0 += contribution;
        host.1 += free;
        // What leads to the baseline of a shared run is no edge that anybody knows.
        if number < edge_count {
            edges.push(Misfit {
                edge: number,
                deviate,
                contribution,
            });
        }
    }
    edges.sort_by(|a, b| b.contribution.total_cmp(&a.contribution));
    let degrees = levels.degrees();
    let host = |(host, (chi_squared, degrees))| HostMisfit {
        host,
        chi_squared,
        degrees,
        p_value: upper_tail(chi_squared, degrees),
    };
    Misclosure {
        chi_squared,
        degrees,
        p_value: (degrees > 0).then(|| upper_tail(chi_squared, degrees as f64)),
        edges,
        hosts: hosts.into_iter().map(host).collect(),
    }
}

/// The tail of χ² for any positive degrees; for less than one it is that of one, which is never less.
fn upper_tail(chi_squared: f64, degrees: f64) -> f64 {
    chi_squared_upper_tail(chi_squared, degrees.max(1.0))
}

/// Levels whose hosts have the errors that their loops show.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The levels, solved with these errors.
    pub levels: Levels,
    /// The edges they were solved from.
    pub edges: Vec<Edge>,
    /// The misclosure with the errors as they were said.
    pub misclosure: Misclosure,
    /// Hosts whose errors were widened, each with the factor.
    pub widened: Vec<(usize, f64)>,
}

/// Solves for levels as [`Levels::solve`] does, and once more with larger standard errors for the
/// host whose loops close worst, until the loops of every host close.
///
/// A host is widened by √(χ²/degrees) where its p-value is below `level` over the number of hosts,
/// so that with errors that are right a host is widened in at most that share of graphs. What is
/// widened should be told: the errors of such a host are an estimate from its own loops.
///
/// # Errors
///
/// The first edge that cannot be used, or that the graph cannot be solved.
pub fn settle(
    nodes: usize,
    edges: &[Edge],
    reference: usize,
    level: f64,
) -> Result<Settled, GraphError> {
    let mut edges = edges.to_vec();
    let mut levels = Levels::solve(nodes, &edges, reference)?;
    let first = misclosure(&levels);
    let (mut latest, mut factors) = (first.clone(), BTreeMap::new());
    for _ in 0..ROUNDS {
        let worst = latest
            .hosts
            .iter()
            .min_by(|a, b| a.p_value.total_cmp(&b.p_value));
        let bar = level / latest.hosts.len().max(1) as f64;
        let Some(worst) = worst.filter(|host| host.p_value < bar && host.factor() > 1.0) else {
            break;
        };
        *factors.entry(worst.host).or_insert(1.0) *= worst.factor();
        for edge in edges.iter_mut().filter(|edge| edge.host == worst.host) {
            edge.se *= worst.factor();
        }
        levels = Levels::solve(nodes, &edges, reference)?;
        latest = misclosure(&levels);
    }
    Ok(Settled {
        levels,
        edges,
        misclosure: first,
        widened: factors.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle of edges with known errors of 1, of which the last does not fit by `gap`.
    fn triangle(gap: f64, df: f64) -> Vec<Edge> {
        let edge = |from, to, effect, host| Edge {
            from,
            to,
            effect,
            se: 1.0,
            df,
            host,
            run: None,
        };
        vec![
            edge(0, 1, 1.0, 0),
            edge(1, 2, 2.0, 0),
            edge(0, 2, 3.0 + gap, 5),
        ]
    }

    #[test]
    fn a_triangle_with_known_errors_has_the_gap_over_its_error_squared() {
        let levels = Levels::solve(3, &triangle(6.0, f64::INFINITY), 0).unwrap();
        let found = misclosure(&levels);
        assert_eq!(found.degrees, 1);
        assert!((found.chi_squared - 12.0).abs() < 1e-6, "{found:?}");
        // P(χ²₁ ≥ 12).
        assert!((found.p_value.unwrap() - 5.320055e-4).abs() < 1e-9);
        // Each edge has a third of the gap, and lies as far as the whole gap from the others.
        for edge in &found.edges {
            assert!((edge.deviate.abs() - 12f64.sqrt()).abs() < 1e-6);
            assert!((edge.contribution - 4.0).abs() < 1e-6);
        }
        assert_eq!(found.hosts.len(), 2);
        assert!((found.hosts[0].degrees - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.hosts[1].factor() - 12f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn few_degrees_of_freedom_make_a_gap_less_surprising() {
        let p = |df| {
            let levels = Levels::solve(3, &triangle(6.0, df), 0).unwrap();
            misclosure(&levels).p_value.unwrap()
        };
        assert!(p(5.0) > 2.0 * p(40.0) && p(40.0) > p(1e6));
    }

    #[test]
    fn a_tree_has_nothing_to_close() {
        let levels = Levels::solve(3, &triangle(9.0, 5.0)[..2], 0).unwrap();
        let found = misclosure(&levels);
        assert_eq!((found.degrees, found.p_value), (0, None));
        assert!(found.edges.is_empty() && found.hosts.is_empty() && found.chi_squared == 0.0);
    }

    #[test]
    fn loops_that_close_widen_nothing_and_one_that_does_not_widens_a_host() {
        let sound = settle(3, &triangle(0.5, f64::INFINITY), 0, 0.05).unwrap();
        assert!(sound.widened.is_empty());
        let broken = settle(3, &triangle(60.0, f64::INFINITY), 0, 0.05).unwrap();
        assert!(!broken.widened.is_empty());
        assert!(broken.misclosure.p_value.unwrap() < 1e-9);
        assert!(misclosure(&broken.levels).p_value.unwrap() > 1e-3);
    }
}
