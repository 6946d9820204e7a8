//! Tests whether the loops of the graph close, and finds hosts whose standard errors are too small.
//!
//! Around a loop of races the true effects add up to 0, and the measured ones to their total
//! measurement error. If that total is larger than the standard errors allow, at least one standard
//! error is too small. This checks the measurement without a known truth. Each edge is compared
//! with the estimate from all other edges for the same two commits:
//!
//! t = (d − d̂₋)/√(s² + V₋), where the residual r of the edge is (1 − h)(d − d̂₋), and h is its
//! leverage.
//!
//! t is turned into the standard normal deviate z with the same tail probability, using the degrees
//! of freedom of s and of V₋. If all z are standard normal, the mean of the sum of (1 − h)z² is
//! exactly that of χ² with edges − commits + components degrees of freedom. If the errors are
//! known, the sum is χ², because (1 − h)z² is then r²/s². With r²/s² itself every sound graph would
//! fail the test, because s² is in the denominator: for six replicates its mean is 5/3, for eleven
//! 10/8. Measured on 100,000 commits with races of 6 to 40 replicates, the sum is .98 of its
//! degrees of freedom, and .93 to .99 with races of six.
//!
//! The same sum over the edges of one host, with the sum of their 1 − h as degrees of freedom,
//! varies at most as much as χ², so the test of a host keeps its level.

use std::collections::BTreeMap;

use deadheat_stats::dist::{chi_squared_upper_tail, normal_deviate};

use crate::graph::{Edge, GraphError};
use crate::levels::Levels;

/// Edges with 1 − h below this are bridges: no other path connects their ends.
const BRIDGE: f64 = 1e-9;

/// The largest number of rounds in which the standard errors of hosts are widened; one bad host
/// takes two or three rounds.
const ROUNDS: usize = 100;

/// A test whether the effects around the loops of a graph add up to 0 within the standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Misclosure {
    /// The sum over all edges, which follows χ² if the standard errors are right.
    pub chi_squared: f64,
    /// The degrees of freedom of the sum: edges − commits + components.
    pub degrees: usize,
    /// The p-value of the χ² test of the sum; `None` for a graph without loops.
    pub p_value: Option<f64>,
    /// All edges that are part of a loop, the largest contribution first.
    pub edges: Vec<Misfit>,
    /// All hosts with edges in loops, by number.
    pub hosts: Vec<HostMisfit>,
}

/// The distance between the effect of an edge and the estimate of this effect from all other edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misfit {
    /// The index of the edge.
    pub edge: usize,
    /// The distance in standard normal deviates; positive if the edge's own effect is larger.
    pub deviate: f64,
    /// The part of the χ² of the graph that comes from the edge.
    pub contribution: f64,
}

/// The test of one host: compares the effect of each of its edges with the estimate of this effect
/// from all other edges, including other edges of the host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostMisfit {
    /// The number of the host.
    pub host: usize,
    /// The part of the χ² of the graph that comes from the edges of the host.
    pub chi_squared: f64,
    /// The part of the degrees of freedom of the graph that comes from the edges of the host.
    pub degrees: f64,
    /// The p-value of the χ² test of `chi_squared` with `degrees` degrees of freedom: a small one
    /// means that the standard errors of the host are too small.
    pub p_value: f64,
}

impl HostMisfit {
    /// Returns the factor by which the host's errors are too small according to its loops:
    /// √(χ²/degrees).
    pub fn factor(&self) -> f64 {
        (self.chi_squared / self.degrees).sqrt()
    }
}

/// Compares each edge with the estimate of all other edges.
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
        // The other edges together have at least the degrees of freedom of one typical edge.
        let (own, rest) = (link.measured / variance, of_others / variance);
        let df = (own * own / link.df + rest * rest * typical).recip();
        let deviate = normal_deviate(residual / free / variance.sqrt(), df);
        let contribution = free * deviate * deviate;
        chi_squared += contribution;
        let host = hosts.entry(link.host).or_default();
        host.0 += contribution;
        host.1 += free;
        // The link to the baseline of a shared run is not one of the caller's edges.
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

/// Returns the upper tail of χ² for any positive degrees of freedom. Below one degree, returns the
/// tail for one degree, which is never smaller.
fn upper_tail(chi_squared: f64, degrees: f64) -> f64 {
    chi_squared_upper_tail(chi_squared, degrees.max(1.0))
}

/// Levels after widening the errors of hosts whose loops do not close.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The levels, solved with the widened errors.
    pub levels: Levels,
    /// The edges, with the widened standard errors.
    pub edges: Vec<Edge>,
    /// The test of the loops with the original standard errors.
    pub misclosure: Misclosure,
    /// The hosts whose standard errors were widened, each with the factor by which they were.
    pub widened: Vec<(usize, f64)>,
}

/// Solves for levels like [`Levels::solve`], then widens the standard errors of the host whose
/// loops close worst and solves again, until the loops of every host close.
///
/// A host is widened by √(χ²/degrees) if its p-value is below `level` divided by the number of
/// hosts. If all errors are right, at most the share `level` of graphs therefore has a widened
/// host. Report widened hosts to the user, because their errors are estimated from their own loops.
///
/// # Errors
///
/// Fails with the first edge that cannot be used, or if the graph cannot be solved.
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

    /// Returns a triangle of edges with errors of 1. The last edge misses the sum of the others by
    /// `gap`.
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
        // The upper tail probability of χ² with one degree of freedom at 12.
        assert!((found.p_value.unwrap() - 5.320055e-4).abs() < 1e-9);
        // Each edge has a third of the gap, and differs from the others by the whole gap.
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
    fn a_tree_has_no_misclosure() {
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
