//! Levels of commits by weighted least squares on the graph of their races.
//!
//! The levels x minimise Σ w(x_j − x_i − d)² over the edges, with x = 0 at the reference of each
//! connected component. Only those parts of their covariance are computed that are asked for.
//!
//! # Errors that are themselves estimates
//!
//! The error s of an edge comes from a handful of replicates. On a tree that matters as it does for
//! one race: a difference is a sum of effects, its error √Σs², its degrees of freedom those of
//! Satterthwaite (1946). Within loops an edge whose s came out too small by chance would weigh too
//! much by 1/s², and make the result look surer than it is: of edges of six replicates, 7.4 % of 95 %
//! intervals between neighbours missed the truth, even with the correction below. So
//!
//! - what an edge weighs hangs less on its own s the fewer degrees of freedom ν that has: ln 1/w is
//!   ρ·ln s² with ρ = ν/(ν + 10), and for the rest the mean of ln s² over all edges of the host. With
//!   that, ρ is best where true errors on a host differ by a fifth from race to race; elsewhere the
//!   result is less precise than it could be, and no less right;
//! - what an edge adds to the variance of a result is its own s², times the square of its share a
//!   in that result, whatever the weights were;
//! - that is still too small by what a has to do with s: Σ a²s²·4ρ(1 − h)/ν to the first order, by
//!   the arguments of Meier (1953) and Kenward & Roger (1997), where h is the leverage of the edge,
//!   the part of its own fitted value that is its own. It is added: nothing on a tree (h = 1), up to a
//!   quarter for an edge of six replicates that many others bypass.
//!
//! Tests and intervals are by t with the degrees of freedom of Satterthwaite. With errors that are
//! known (infinite ν) all this is the textbook's w = 1/s² and (BᵀWB)⁻¹, and one more race never makes
//! a result less sure. With few replicates it may, as it really does: a weighted mean of two can be
//! worse than the better one (Graybill & Deal 1959).

use std::collections::BTreeMap;
use std::fmt;

use deadheat_stats::dist::{normal_deviate, t_critical, t_two_sided_p};

use crate::factor::Factor;

/// Degrees of freedom beyond this count as this many: the error is as good as known.
const MOST_DF: f64 = 1e12;

/// The degrees of freedom that all other edges of a host have in the weight of one: 2/τ² for errors
/// whose ln s² truly scatters by τ from race to race, here .45.
const DF_OF_HOST: f64 = 10.0;

/// A race of two commits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The node of the baseline.
    pub from: usize,
    /// The node of the candidate.
    pub to: usize,
    /// ln(t_to/t_from).
    pub effect: f64,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of the error, at least 1; infinity for an error that is known.
    pub df: f64,
    /// A number for the host that raced the two; edges of one host are checked together.
    pub host: usize,
    /// A number for the run, where one run raced several candidates against the same baseline: the
    /// error of the baseline is in all of these edges.
    pub run: Option<usize>,
}

/// An edge that cannot be used, or a graph that cannot be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// An edge ends at a node that is not there.
    NoSuchNode {
        /// Its place among the edges.
        edge: usize,
        /// The node.
        node: usize,
    },
    /// An edge leads from a node to itself.
    Itself {
        /// Its place among the edges.
        edge: usize,
    },
    /// The effect is not finite, the standard error is not positive and finite, or there is less
    /// than one degree of freedom.
    NoEstimate {
        /// Its place among the edges.
        edge: usize,
    },
    /// The reference is not there.
    NoSuchReference {
        /// The node that was asked for.
        node: usize,
    },
    /// Standard errors lie so many orders of magnitude apart that rounding leaves no solution.
    Singular,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode { edge, node } => {
                write!(f, "edge {edge} ends at commit {node}, which is not there")
            }
            Self::Itself { edge } => write!(f, "edge {edge} races a commit against itself"),
            Self::NoEstimate { edge } => write!(
                f,
                "edge {edge} needs a finite effect, a positive standard error and a degree of freedom"
            ),
            Self::NoSuchReference { node } => {
                write!(f, "the reference is commit {node}, which is not there")
            }
            Self::Singular => write!(
                f,
                "standard errors lie too far apart to be solved for levels"
            ),
        }
    }
}

impl std::error::Error for GraphError {}

/// An edge as it is solved for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub from: usize,
    pub to: usize,
    pub effect: f64,
    /// The squared standard error as it was measured.
    pub measured: f64,
    /// The same, enlarged for what it does not know.
    pub variance: f64,
    pub weight: Weight,
    pub df: f64,
    pub host: usize,
}

/// What an edge weighs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight {
    /// The variance that the edge is weighted by.
    pub variance: f64,
    /// By how many percent that moves with each percent of the edge's own squared error.
    pub own: f64,
}

/// The weights of edges that are sound.
pub(crate) fn weights(edges: &[Edge]) -> Vec<Weight> {
    let mut hosts: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    let log = |edge: &Edge| 2.0 * edge.se.ln();
    for edge in edges {
        let (sum, count) = hosts.entry(edge.host).or_default();
        (*sum, *count) = (*sum + log(edge), *count + 1.0);
    }
    let weight = |edge: &Edge| {
        let (sum, count) = hosts[&edge.host];
        let rho = 1.0 / (1.0 + DF_OF_HOST / edge.df);
        Weight {
            variance: (rho * log(edge) + (1.0 - rho) * sum / count).exp(),
            own: rho + (1.0 - rho) / count,
        }
    };
    edges.iter().map(weight).collect()
}

/// A difference between commits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// A log ratio; positive where the second commit takes longer.
    pub effect: f64,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of the error.
    pub df: f64,
}

impl Difference {
    /// The interval that misses with probability `two_sided_level`.
    pub fn interval(&self, two_sided_level: f64) -> (f64, f64) {
        let half = t_critical(two_sided_level, self.df) * self.se;
        (self.effect - half, self.effect + half)
    }

    /// The two-sided p-value of no difference.
    pub fn p_value(&self) -> f64 {
        t_two_sided_p(self.effect / self.se, self.df)
    }

    /// The standard normal deviate with the same tail as effect/se has.
    pub fn deviate(&self) -> f64 {
        normal_deviate(self.effect / self.se, self.df)
    }
}

/// Solved levels of all commits.
#[derive(Debug, Clone)]
pub struct Levels {
    /// Those of the edges in their order, then those that lead to the baselines of shared runs.
    links: Vec<Link>,
    edges: usize,
    /// One value a node, as are the next two; nodes that stand for baselines of shared runs follow.
    levels: Vec<f64>,
    /// The number of the component.
    component: Vec<usize>,
    /// The reference of each component.
    references: Vec<usize>,
    leverage: Vec<f64>,
    factor: Factor,
}

impl Levels {
    /// Solves for the levels of commits 0 to `nodes` − 1. `reference` has level 0, and so has the
    /// first commit of each component that no race connects with it.
    ///
    /// # Errors
    ///
    /// The first edge that cannot be used, or that the graph cannot be solved.
    pub fn solve(nodes: usize, edges: &[Edge], reference: usize) -> Result<Self, GraphError> {
        if reference >= nodes {
            return Err(GraphError::NoSuchReference { node: reference });
        }
        check(nodes, edges)?;
        Self::solve_weighted(nodes, edges, &weights(edges), reference)
    }

    /// Solves for the levels with weights that are known, of edges that are sound.
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
            link.variance = link.measured * (1.0 + 4.0 * link.weight.own * (1.0 - own) / link.df);
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

    /// The level of a commit, as ln of its time over that of its [`reference`](Self::reference).
    pub fn level(&self, node: usize) -> f64 {
        self.levels[node]
    }

    /// The standard error of [`level`](Self::level), 0 for the reference itself.
    pub fn se(&self, node: usize) -> f64 {
        let difference = self.difference(self.reference(node), node);
        difference.map_or(0.0, |difference| difference.se)
    }

    /// The commit that the level of `node` is relative to.
    pub fn reference(&self, node: usize) -> usize {
        self.references[self.component[node]]
    }

    /// The number of parts of the graph that no race connects.
    pub fn components(&self) -> usize {
        self.references.len()
    }

    /// The difference from commit `a` to commit `b`. `None` where no races connect the two, or
    /// where they are the same.
    pub fn difference(&self, a: usize, b: usize) -> Option<Difference> {
        self.contrast(&[(a, -1.0), (b, 1.0)])
    }

    /// A weighted sum of levels with its error, in time proportional to the size of the graph.
    /// `None` where the weights of a component do not add up to 0, so that its reference would
    /// count, or where all weights are 0.
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
        let (mut variance, mut squares) = (0.0, 0.0);
        for link in &self.links {
            let share = (solved[link.to] - solved[link.from]) / link.weight.variance;
            let share = share * share * link.variance;
            variance += share;
            squares += share * share / link.df;
        }
        let df = (variance * variance / squares).min(MOST_DF);
        (variance > 0.0 && variance.is_finite() && df.is_finite()).then_some(Difference {
            effect,
            se: variance.sqrt(),
            df,
        })
    }

    /// Degrees of freedom of the residuals: edges − commits + components.
    pub fn degrees(&self) -> usize {
        self.links.len() + self.references.len() - self.levels.len()
    }

    /// The number of all nodes, those that stand for baselines of shared runs included.
    pub(crate) fn nodes(&self) -> usize {
        self.levels.len()
    }

    /// The solution of the weighted Laplacian for one value a node.
    pub(crate) fn solved(&self, right: &[f64]) -> Vec<f64> {
        self.factor.solve(right)
    }

    /// The links that are edges, in the order of the edges.
    pub(crate) fn links_of_edges(&self) -> &[Link] {
        &self.links[..self.edges]
    }

    /// Each link with its leverage and its residual; those of edges first, in their order.
    pub(crate) fn residuals(&self) -> impl Iterator<Item = (&Link, f64, f64)> {
        let residual = |link: &Link| link.effect - self.levels[link.to] + self.levels[link.from];
        let links = self.links.iter().zip(&self.leverage);
        links.map(move |(link, leverage)| (link, *leverage, residual(link)))
    }
}

/// Says which edge cannot be used.
pub(crate) fn check(nodes: usize, edges: &[Edge]) -> Result<(), GraphError> {
    for (number, edge) in edges.iter().enumerate() {
        if let Some(node) = [edge.from, edge.to].into_iter().find(|node| *node >= nodes) {
            return Err(GraphError::NoSuchNode { edge: number, node });
        }
        if edge.from == edge.to {
            return Err(GraphError::Itself { edge: number });
        }
        let squared = edge.se * edge.se;
        let known = edge.effect.is_finite() && squared.is_normal() && edge.se > 0.0;
        if !known || !squared.recip().is_normal() || edge.df.is_nan() || edge.df < 1.0 {
            return Err(GraphError::NoEstimate { edge: number });
        }
    }
    Ok(())
}

/// The links of the graph, and the number of its nodes.
///
/// Where a run raced several candidates against one baseline, what it measured of the baseline is a
/// node of its own: one link with the error of the baseline leads to it from the commit, and one to
/// each candidate with the rest of the error. Each edge keeps its variance, and any two of a run
/// get the covariance that they have. The baseline is given half the variance of the surest edge,
/// as two sides that scatter alike have it.
fn links(nodes: usize, edges: &[Edge], weights: &[Weight]) -> (Vec<Link>, usize) {
    let mut links: Vec<Link> = edges.iter().zip(weights).map(link).collect();
    let mut runs: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (number, edge) in edges.iter().enumerate() {
        if let Some(run) = edge.run {
            runs.entry((run, edge.from)).or_default().push(number);
        }
    }
    let mut all_nodes = nodes;
    for ((_, baseline), edges) in runs.into_iter().filter(|(_, edges)| edges.len() > 1) {
        let of_all = |of: fn(&Link) -> f64| {
            let each = edges.iter().map(|number| of(&links[*number]));
            each.fold(f64::INFINITY, f64::min)
        };
        let own = 0.5 * of_all(|link| link.measured);
        let own_weight = 0.5 * of_all(|link| link.weight.variance);
        let first = links[edges[0]];
        let shared = Link {
            from: baseline,
            to: all_nodes,
            effect: 0.0,
            measured: own,
            variance: own,
            weight: Weight {
                variance: own_weight,
                ..first.weight
            },
            df: of_all(|link| link.df),
            ..first
        };
        for number in edges {
            let link = &mut links[number];
            link.from = all_nodes;
            link.measured -= own;
            link.weight.variance -= own_weight;
        }
        links.push(shared);
        all_nodes += 1;
    }
    (links, all_nodes)
}

fn link((edge, weight): (&Edge, &Weight)) -> Link {
    let variance = edge.se * edge.se;
    Link {
        from: edge.from,
        to: edge.to,
        effect: edge.effect,
        measured: variance,
        variance,
        weight: *weight,
        df: edge.df.min(MOST_DF),
        host: edge.host,
    }
}

/// The component of each node, and the reference of each component.
fn components(nodes: usize, links: &[Link], reference: usize) -> (Vec<usize>, Vec<usize>) {
    let mut neighbours = vec![Vec::new(); nodes];
    for link in links {
        neighbours[link.from].push(link.to);
        neighbours[link.to].push(link.from);
    }
    let (mut component, mut references) = (vec![usize::MAX; nodes], Vec::new());
    for first in std::iter::once(reference).chain(0..nodes) {
        if component[first] != usize::MAX {
            continue;
        }
        let mut reached = vec![first];
        component[first] = references.len();
        while let Some(node) = reached.pop() {
            for next in &neighbours[node] {
                if component[*next] == usize::MAX {
                    component[*next] = references.len();
                    reached.push(*next);
                }
            }
        }
        references.push(first);
    }
    (component, references)
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
        close(difference.df, 25.0f64.powi(2) / (81.0 / 5.0 + 256.0 / 10.0));
        close(levels.se(2), 0.005);
        assert_eq!((levels.degrees(), levels.components()), (0, 1));
    }

    #[test]
    fn two_races_of_one_pair_are_a_weighted_mean_whose_weights_lean_on_the_host() {
        let edges = [edge(0, 1, 0.0, 0.001, 10.0), edge(0, 1, 0.03, 0.004, 30.0)];
        let levels = Levels::solve(2, &edges, 0).unwrap();
        // In powers of two the errors squared are 0 and 4 (millionths), the mean of the host 2; half
        // of the first weight is its own, and three quarters of the second.
        let (a, b) = (2f64.powf(1.0), 2f64.powf(0.75 * 4.0 + 0.25 * 2.0));
        let (p, q) = (b / (a + b), a / (a + b));
        let difference = levels.difference(0, 1).unwrap();
        close(difference.effect, 0.03 * q);
        // With two edges on the host each has a share of a half in its mean, too.
        let first = 1.0 + 4.0 * 0.75 * q / 10.0;
        let second = 16.0 * (1.0 + 4.0 * 0.875 * p / 30.0);
        let (first, second) = (p * p * first, q * q * second);
        close(difference.se, 0.001 * (first + second).sqrt());
        let squares = first * first / 10.0 + second * second / 30.0;
        close(difference.df, (first + second).powi(2) / squares);
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
        // Each edge has a variance of 4, of which 2 belong to the baseline: it is not in the
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
}
