//! The levels of commits, by weighted least squares on the graph of their races.
//!
//! The levels x minimise Σ w(x_j − x_i − d)² over the edges, with x = 0 at the reference of each
//! connected component. Only the requested parts of their covariance are computed.
//!
//! # Estimated errors
//!
//! The error s of an edge is estimated from a few replicates. On a tree the consequences are those
//! for a single race: a difference is a sum of effects, its error √Σs², and its t distribution has
//! Satterthwaite's (1946) degrees of freedom. Within loops an edge whose s is too small by chance
//! would get too much weight by 1/s², and the result would look more precise than it is. With races
//! of six replicates, 7.4% of 2,000 intervals of 95% between neighbours missed the truth, even with
//! a first-order correction. So:
//!
//! - The weight of an edge depends less on its own s if s has few degrees of freedom ν. The weight
//!   is 1/s̃² with ln s̃² = ρ·ln s² + (1 − ρ)·(mean of ln s² over all edges of the host) and ρ =
//!   ν/(ν + 10). This ρ is best if true errors on a host differ by a fifth from race to race;
//!   otherwise the result is less precise than possible, but still valid.
//! - An edge contributes its own s², times the square of its share a in the result, to the variance
//!   of the result. That is too small because a depends on s, to the first order by (1 − h)·4ρs²/ν
//!   (by the arguments of Meier 1953 and Kenward & Roger 1997), where h is the leverage of the
//!   edge, the share of its fitted value that is its own. This term is added; on a tree it is 0 (h
//!   = 1).
//! - An edge in a loop is not trusted to be more precise than is likely for its host: if s̃² is
//!   above s², (1 − h)(s̃² − s²) is added, too. Without this term, intervals at .03% missed up to
//!   twice as often with races of six replicates, and tests of a hundred commits use such levels.
//!   With it, none of the levels from 5 to .03% is exceeded for true errors that differ by 25 or by
//!   80% from race to race, and errors are 2 to 3% too large for races of 6 to 40 replicates.
//! - The degrees of freedom are Satterthwaite's with the variance shares by s̃². With shares by s²,
//!   an edge whose s is too small by chance would have the smallest share, and the degrees of
//!   freedom would be mostly those of the other edges.
//!
//! With known errors (infinite ν) this reduces to the textbook's w = 1/s² and (BᵀWB)⁻¹, and another
//! race never makes a result less precise. With few replicates it may: a weighted mean of two can
//! be worse than the better one (Graybill & Deal 1959).
//!
//! # Solving
//!
//! The matrix is the Laplacian BᵀWB of the graph without the rows of the references, one for each
//! connected component. Its inverse is the covariance of the levels. `nalgebra-sparse` factorises
//! it, but does not choose the order in which nodes are eliminated. A plan of chains and skip links
//! needs about nine entries per commit in any order along the chain. But a release that was raced
//! against all later commits would, if eliminated first, connect all of them. So the order is that
//! of minimum degree. Only the entries of the inverse at the pattern of the factor are computed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::mem;

use deadheat_stats::dist::{normal_deviate, t_critical, t_two_sided_p};
use nalgebra_sparse::factorization::CscCholesky;
use nalgebra_sparse::na::DMatrix;
use nalgebra_sparse::{CooMatrix, CscMatrix};

use crate::graph::{Edge, GraphError, Link, MOST_DF, Weight, check, components, links, weights};

/// An estimated difference in time between two commits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The logarithm of the ratio of times; positive if the second commit takes longer.
    pub effect: f64,
    /// The standard error of the effect.
    pub se: f64,
    /// The degrees of freedom of the standard error.
    pub df: f64,
}

impl Difference {
    /// Returns the confidence interval whose probability of missing the truth is `two_sided_level`.
    pub fn interval(&self, two_sided_level: f64) -> (f64, f64) {
        let half = t_critical(two_sided_level, self.df) * self.se;
        (self.effect - half, self.effect + half)
    }

    /// Returns the two-sided p-value for the hypothesis of no difference.
    pub fn p_value(&self) -> f64 {
        t_two_sided_p(self.effect / self.se, self.df)
    }

    /// Returns the standard normal deviate with the same tail probability as effect/se.
    pub fn deviate(&self) -> f64 {
        normal_deviate(self.effect / self.se, self.df)
    }
}

/// The levels of all commits, as solved from their races.
#[derive(Debug, Clone)]
pub struct Levels {
    /// The links of the edges in order, then those to the baselines of shared runs.
    links: Vec<Link>,
    edges: usize,
    /// The level of each node; the nodes for baselines of shared runs come last.
    levels: Vec<f64>,
    /// For each node, the number of the connected component that it belongs to.
    component: Vec<usize>,
    /// For each connected component, its reference node, which has level 0.
    references: Vec<usize>,
    leverage: Vec<f64>,
    factor: Factor,
}

impl Levels {
    /// Solves for the levels of commits 0 to `nodes` − 1. `reference` has level 0; in each
    /// component that is not connected with it, the first commit has level 0.
    ///
    /// # Errors
    ///
    /// Fails with the first edge that cannot be used, or if the graph cannot be solved.
    pub fn solve(nodes: usize, edges: &[Edge], reference: usize) -> Result<Self, GraphError> {
        if reference >= nodes {
            return Err(GraphError::NoSuchReference { node: reference });
        }
        check(nodes, edges)?;
        Self::solve_weighted(nodes, edges, &weights(edges), reference)
    }

    /// Solves for the levels with the given weights. The edges must be valid.
    pub(crate) fn solve_weighted(
        nodes: usize,
        edges: &[Edge],
        weights: &[Weight],
        reference: usize,
    ) -> Result<Self, GraphError> {
        let (mut links, all_nodes) = links(nodes, edges, weights);
        let (component, references) = components(all_nodes, &links, reference);
        let mut is_reference = vec![false; all_nodes];
        references
            .iter()
            .for_each(|node| is_reference[*node] = true);
        let weighted = links.iter().map(|link| {
            let weight = link.weight.variance.recip();
            (link.from, link.to, weight)
        });
        let factor = Factor::new(weighted, &is_reference).ok_or(GraphError::Singular)?;
        let mut leverage = Vec::with_capacity(links.len());
        for link in &mut links {
            let own = factor.variance_between(link.from, link.to) / link.weight.variance;
            let own = own.clamp(0.0, 1.0);
            leverage.push(own);
            let by_chance = 4.0 * link.weight.own * link.measured / link.df;
            let too_sure = (link.weight.variance - link.measured).max(0.0);
            link.variance = link.measured + (1.0 - own) * (by_chance + too_sure);
        }
        let mut right = vec![0.0; all_nodes];
        for link in &links {
            right[link.to] += link.effect / link.weight.variance;
            right[link.from] -= link.effect / link.weight.variance;
        }
        let levels = factor.solve(&right);
        if levels.iter().any(|level| !level.is_finite()) {
            return Err(GraphError::Singular);
        }
        Ok(Self {
            links,
            edges: edges.len(),
            levels,
            component,
            references,
            leverage,
            factor,
        })
    }

    /// Returns the level of a commit: ln of its time over the time of its
    /// [`reference`](Self::reference).
    pub fn level(&self, node: usize) -> f64 {
        self.levels[node]
    }

    /// Returns the standard error of [`level`](Self::level), 0 for the reference itself.
    pub fn se(&self, node: usize) -> f64 {
        let difference = self.difference(self.reference(node), node);
        difference.map_or(0.0, |difference| difference.se)
    }

    /// Returns the commit that the level of `node` is relative to.
    pub fn reference(&self, node: usize) -> usize {
        self.references[self.component[node]]
    }

    /// Returns the number of connected components of the graph.
    pub fn components(&self) -> usize {
        self.references.len()
    }

    /// Returns the difference from commit `a` to commit `b`. `None` if no races connect the two, or
    /// if they are the same.
    pub fn difference(&self, a: usize, b: usize) -> Option<Difference> {
        self.contrast(&[(a, -1.0), (b, 1.0)])
    }

    /// Returns a weighted sum of levels with its error, in time proportional to the size of the
    /// graph. `None` if the weights within a component do not add up to 0, because the sum would
    /// then depend on the reference, or if all weights are 0.
    pub fn contrast(&self, weights: &[(usize, f64)]) -> Option<Difference> {
        let mut right = vec![0.0; self.levels.len()];
        let mut sums = vec![0.0; self.references.len()];
        let mut effect = 0.0;
        for (node, weight) in weights {
            right[*node] += weight;
            sums[self.component[*node]] += weight;
            effect += weight * self.levels[*node];
        }
        if sums.iter().any(|sum: &f64| sum.abs() > 1e-9) {
            return None;
        }
        let solved = self.factor.solve(&right);
        let (mut variance, mut expected, mut squares) = (0.0, 0.0, 0.0);
        for link in &self.links {
            let share = (solved[link.to] - solved[link.from]) / link.weight.variance;
            variance += share * share * link.variance;
            let likely = share * share * link.weight.variance;
            expected += likely;
            squares += likely * likely / link.df;
        }
        let df = (expected * expected / squares).min(MOST_DF);
        (variance > 0.0 && variance.is_finite() && df.is_finite()).then_some(Difference {
            effect,
            se: variance.sqrt(),
            df,
        })
    }

    /// Returns the degrees of freedom of the residuals: edges − commits + components.
    pub fn degrees(&self) -> usize {
        self.links.len() + self.references.len() - self.levels.len()
    }

    /// Returns the number of all nodes, including those for baselines of shared runs.
    pub(crate) fn nodes(&self) -> usize {
        self.levels.len()
    }

    /// Solves the weighted Laplacian for a right-hand side with one value per node.
    pub(crate) fn solved(&self, right: &[f64]) -> Vec<f64> {
        self.factor.solve(right)
    }

    pub(crate) fn links_of_edges(&self) -> &[Link] {
        &self.links[..self.edges]
    }

    /// Returns each link with its leverage and its residual: first the links of the edges, in the
    /// order of the edges, then the others.
    pub(crate) fn residuals(&self) -> impl Iterator<Item = (&Link, f64, f64)> {
        let residual = |link: &Link| link.effect - self.levels[link.to] + self.levels[link.from];
        let links = self.links.iter().zip(&self.leverage);
        links.map(move |(link, leverage)| (link, *leverage, residual(link)))
    }
}

#[derive(Debug, Clone)]
struct Factor {
    cholesky: CscCholesky<f64>,
    /// The entries of the inverse at the pattern of the factor.
    inverse: Vec<f64>,
    /// The row of each node in the matrix; `None` for reference nodes.
    row: Vec<Option<usize>>,
}

impl Factor {
    /// Factorises the Laplacian of edges `(node, node, weight)`. Each component of the graph has
    /// one node in `references`. `None` if rounding makes the matrix not positive definite.
    fn new(
        edges: impl Iterator<Item = (usize, usize, f64)> + Clone,
        references: &[bool],
    ) -> Option<Self> {
        let row = elimination_rows(edges.clone(), references);
        let rows = row.iter().flatten().count();
        let mut matrix = CooMatrix::new(rows, rows);
        for (a, b, weight) in edges {
            for one in [row[a], row[b]].into_iter().flatten() {
                matrix.push(one, one, weight);
            }
            if let (Some(a), Some(b)) = (row[a], row[b]) {
                matrix.push(a, b, -weight);
                matrix.push(b, a, -weight);
            }
        }
        let cholesky = CscCholesky::factor(&CscMatrix::from(&matrix)).ok()?;
        let inverse = inverse_on(cholesky.l());
        let sound = inverse.iter().all(|value| value.is_finite());
        sound.then_some(Self {
            cholesky,
            inverse,
            row,
        })
    }

    /// Solves for one value per node; the values of references are 0, and the values of `right` at
    /// references are ignored.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut column = DMatrix::zeros(self.cholesky.l().nrows(), 1);
        for (row, value) in self.row.iter().zip(right) {
            if let Some(row) = row {
                column[(*row, 0)] = *value;
            }
        }
        let solved = self.cholesky.solve(&column);
        let value = |row: &Option<usize>| row.map_or(0.0, |row| solved[(row, 0)]);
        self.row.iter().map(value).collect()
    }

    /// Returns the variance of x_b − x_a for the ends of an edge, or for a node and a reference.
    fn variance_between(&self, a: usize, b: usize) -> f64 {
        let at = |a: usize, b: usize| match (self.row[a], self.row[b]) {
            (Some(a), Some(b)) => entry(self.cholesky.l(), &self.inverse, a, b),
            _ => 0.0,
        };
        at(a, a) + at(b, b) - 2.0 * at(a, b)
    }
}

/// Returns the row of each node except references. The node with the fewest remaining neighbours is
/// eliminated first (minimum degree; George & Liu 1989).
fn elimination_rows(
    edges: impl Iterator<Item = (usize, usize, f64)>,
    references: &[bool],
) -> Vec<Option<usize>> {
    let mut neighbours = vec![BTreeSet::new(); references.len()];
    for (a, b, _) in edges {
        if !references[a] && !references[b] {
            neighbours[a].insert(b);
            neighbours[b].insert(a);
        }
    }
    let free = (0..references.len()).filter(|node| !references[*node]);
    let mut queue: BinaryHeap<_> = free
        .map(|node| Reverse((neighbours[node].len(), node)))
        .collect();
    let (mut row, mut next) = (vec![None; references.len()], 0);
    while let Some(Reverse((degree, node))) = queue.pop() {
        // This entry is outdated; the heap has a newer one for the node.
        if row[node].is_some() || degree != neighbours[node].len() {
            continue;
        }
        row[node] = Some(next);
        next += 1;
        let around = mem::take(&mut neighbours[node]);
        for one in &around {
            neighbours[*one].remove(&node);
            neighbours[*one].extend(around.iter().filter(|other| *other != one));
            queue.push(Reverse((neighbours[*one].len(), *one)));
        }
    }
    row
}

/// Returns the inverse of L·Lᵀ at the entries of L, computed from the last column to the first
/// (Takahashi, Fagan & Chin 1973). These entries depend on no others.
fn inverse_on(factor: &CscMatrix<f64>) -> Vec<f64> {
    let (starts, rows, values) = factor.csc_data();
    let mut inverse = vec![0.0; values.len()];
    for column in (0..factor.ncols()).rev() {
        let (first, end) = (starts[column], starts[column + 1]);
        let below = first + 1..end;
        for at in below.clone() {
            let one = |k: usize| values[k] * entry(factor, &inverse, rows[at], rows[k]);
            inverse[at] = -below.clone().map(one).sum::<f64>() / values[first];
        }
        let rest: f64 = below.map(|k| values[k] * inverse[k]).sum();
        inverse[first] = (values[first].recip() - rest) / values[first];
    }
    inverse
}

/// Returns an entry of the symmetric matrix that `values` stores on the pattern of `factor`; 0
/// outside it.
fn entry(factor: &CscMatrix<f64>, values: &[f64], a: usize, b: usize) -> f64 {
    let (starts, rows, _) = factor.csc_data();
    let (row, column) = (a.max(b), a.min(b));
    let own = starts[column]..starts[column + 1];
    let found = rows[own.clone()].binary_search(&row);
    found.map_or(0.0, |at| values[own.start + at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize, effect: f64, se: f64, df: f64) -> Edge {
        Edge {
            from,
            to,
            effect,
            se,
            df,
            host: 0,
            run: None,
        }
    }

    fn close(got: f64, want: f64) {
        assert!(
            (got - want).abs() < 1e-12 * (1.0 + want.abs()),
            "{got} is not {want}"
        );
    }

    #[test]
    fn a_chain_adds_effects_and_squared_errors_with_the_degrees_of_satterthwaite() {
        let edges = [edge(0, 1, 0.01, 0.003, 5.0), edge(2, 1, 0.03, 0.004, 10.0)];
        let levels = Levels::solve(3, &edges, 0).unwrap();
        let difference = levels.difference(0, 2).unwrap();
        close(difference.effect, -0.02);
        close(difference.se, 0.005);
        // The weights depend on the host's mean, so the degrees of freedom are between the smaller
        // number and the sum of both.
        assert!(difference.df > 5.0 && difference.df < 15.0);
        close(levels.se(2), 0.005);
        assert_eq!((levels.degrees(), levels.components()), (0, 1));
    }

    #[test]
    fn two_races_of_one_pair_are_a_weighted_mean_whose_weights_lean_on_the_host() {
        let edges = [edge(0, 1, 0.0, 1.0, 10.0), edge(0, 1, 0.03, 4.0, 30.0)];
        let levels = Levels::solve(2, &edges, 0).unwrap();
        // ln σ² of each edge, and the mean of the host: half of the first edge's weight comes from
        // itself, and three quarters of the second's.
        let first = 0.1 + 1.0 / 300.0;
        let second = 16f64.ln() + 1.0 / 30.0 + 1.0 / 2_700.0;
        let mean = 0.5 * (first + second);
        let a = (0.5 * first + 0.5 * mean).exp();
        let b = (0.75 * second + 0.25 * mean).exp();
        let (p, q) = (b / (a + b), a / (a + b));
        let difference = levels.difference(0, 1).unwrap();
        close(difference.effect, 0.03 * q);
        // The mean is half from each edge. The first edge is widened by a − 1.
        let v = 1.0 + q * (4.0 * 0.75 / 10.0 + (a - 1.0));
        let w = 16.0 + p * 16.0 * 4.0 * 0.875 / 30.0;
        close(difference.se, (p * p * v + q * q * w).sqrt());
        let (one, other) = (p * p * a, q * q * b);
        let squares = one * one / 10.0 + other * other / 30.0;
        close(difference.df, (one + other).powi(2) / squares);
    }

    #[test]
    fn two_races_with_known_errors_are_weighted_by_these_alone() {
        let known = f64::INFINITY;
        let edges = [
            edge(0, 1, 0.0, 0.003, known),
            edge(1, 0, -0.05, 0.004, known),
        ];
        let difference = Levels::solve(2, &edges, 0)
            .unwrap()
            .difference(0, 1)
            .unwrap();
        close(difference.effect, 0.05 * 9.0 / 25.0);
        close(difference.se, 0.0024);
    }

    #[test]
    fn candidates_of_one_run_share_the_error_of_its_baseline() {
        let run = |to, effect| Edge {
            run: Some(7),
            ..edge(0, to, effect, 0.002, f64::INFINITY)
        };
        let levels = Levels::solve(3, &[run(1, 0.01), run(2, 0.04)], 0).unwrap();
        // Each edge has a variance of 4, of which 2 belong to the baseline, which cancels in the
        // difference of the candidates.
        close(levels.difference(0, 1).unwrap().se, 0.002);
        let between = levels.difference(1, 2).unwrap();
        close(between.effect, 0.03);
        close(between.se, 0.002);
        let apart = [
            run(1, 0.01),
            Edge {
                run: None,
                ..run(2, 0.04)
            },
        ];
        let apart = Levels::solve(3, &apart, 0).unwrap();
        close(apart.difference(1, 2).unwrap().se, 0.002 * 2f64.sqrt());
    }

    #[test]
    fn commits_that_no_race_connects_have_no_difference_and_references_of_their_own() {
        let edges = [edge(0, 1, 0.1, 0.01, 9.0), edge(3, 4, 0.2, 0.01, 9.0)];
        let levels = Levels::solve(5, &edges, 1).unwrap();
        assert_eq!((levels.components(), levels.degrees()), (3, 0));
        assert_eq!([0, 2, 4].map(|node| levels.reference(node)), [1, 2, 3]);
        close(levels.level(0), -0.1);
        close(levels.level(4), 0.2);
        assert_eq!((levels.level(2), levels.se(2)), (0.0, 0.0));
        assert_eq!(levels.difference(0, 3), None);
        assert_eq!(levels.difference(2, 2), None);
        assert_eq!(levels.contrast(&[(0, 1.0)]), None);
        let both = levels.contrast(&[(0, -1.0), (1, 1.0), (3, -1.0), (4, 1.0)]);
        close(both.unwrap().effect, 0.3);
    }

    #[test]
    fn edges_that_cannot_be_used_are_named() {
        let solve =
            |edge| Levels::solve(2, &[self::edge(0, 1, 0.0, 1.0, 5.0), edge], 0).unwrap_err();
        let good = edge(0, 1, 0.0, 0.01, 5.0);
        assert_eq!(
            solve(Edge { to: 2, ..good }),
            GraphError::NoSuchNode { edge: 1, node: 2 }
        );
        assert_eq!(
            solve(Edge { to: 0, ..good }),
            GraphError::Itself { edge: 1 }
        );
        for broken in [
            Edge {
                effect: f64::NAN,
                ..good
            },
            Edge { se: 0.0, ..good },
            Edge { se: -1.0, ..good },
            Edge {
                se: f64::INFINITY,
                ..good
            },
            Edge { se: 1e-200, ..good },
            Edge { df: 0.5, ..good },
            Edge {
                df: f64::NAN,
                ..good
            },
        ] {
            assert_eq!(
                solve(broken),
                GraphError::NoEstimate { edge: 1 },
                "{broken:?}"
            );
        }
        let none = Levels::solve(0, &[], 0).unwrap_err();
        assert_eq!(
            none.to_string(),
            "the reference is commit 0, which is not there"
        );
    }

    #[test]
    fn one_commit_without_a_race_is_its_own_reference() {
        let levels = Levels::solve(1, &[], 0).unwrap();
        assert_eq!(
            (levels.level(0), levels.se(0), levels.components()),
            (0.0, 0.0, 1)
        );
    }

    /// A ladder with a long link and unequal weights.
    fn graph() -> Vec<(usize, usize, f64)> {
        let mut edges: Vec<_> = (0..9).map(|i| (i, i + 1, 1.0 + i as f64)).collect();
        edges.extend((0..7).map(|i| (i, i + 3, 0.5 + 0.1 * i as f64)));
        edges.push((0, 9, 2.0));
        edges
    }

    fn factor(edges: &[(usize, usize, f64)], reference: usize) -> Factor {
        let references: Vec<bool> = (0..10).map(|node| node == reference).collect();
        Factor::new(edges.iter().copied(), &references).unwrap()
    }

    #[test]
    fn a_solution_fulfils_the_equations() {
        let (edges, reference) = (graph(), 4);
        let right: Vec<f64> = (0..10).map(|i| f64::from(i) - 4.5).collect();
        let solved = factor(&edges, reference).solve(&right);
        assert_eq!(solved[reference], 0.0);
        let mut sums = [0.0; 10];
        for (a, b, weight) in &edges {
            sums[*a] += weight * (solved[*a] - solved[*b]);
            sums[*b] += weight * (solved[*b] - solved[*a]);
        }
        for node in (0..10).filter(|node| *node != reference) {
            assert!((sums[node] - right[node]).abs() < 1e-12, "{node}");
        }
    }

    #[test]
    fn the_inverse_on_the_factor_is_that_of_the_solutions() {
        let edges = graph();
        for reference in [0, 4, 9] {
            let factor = factor(&edges, reference);
            for (a, b, _) in &edges {
                let mut right = vec![0.0; 10];
                (right[*a], right[*b]) = (-1.0, 1.0);
                let solved = factor.solve(&right);
                let want = solved[*b] - solved[*a];
                let got = factor.variance_between(*a, *b);
                assert!((got - want).abs() < 1e-12, "{a} {b}: {got} {want}");
            }
        }
    }

    #[test]
    fn the_leverages_of_all_edges_add_up_to_the_number_of_free_nodes() {
        let edges = graph();
        let factor = factor(&edges, 0);
        let leverage = edges
            .iter()
            .map(|(a, b, w)| w * factor.variance_between(*a, *b));
        assert!((leverage.sum::<f64>() - 9.0).abs() < 1e-12);
    }

    #[test]
    fn a_commit_raced_against_all_others_causes_no_fill_in() {
        let edges = (1..5_000).map(|node| (0, node, 1.0));
        let mut references = vec![false; 5_000];
        references[17] = true;
        let factor = Factor::new(edges, &references).unwrap();
        assert!(factor.inverse.len() < 2 * 5_000);
        assert!((factor.variance_between(0, 3) - 1.0).abs() < 1e-12);
    }
}
