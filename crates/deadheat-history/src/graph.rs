//! Races as the edges of a graph: their checks, their weights, and the connected components.

use std::collections::BTreeMap;
use std::fmt;

/// The largest degrees of freedom of a standard error. A standard error with more counts as exactly
/// known.
pub(crate) const MOST_DF: f64 = 1e12;

/// The degrees of freedom that the mean ln s² of a host counts as in the weight of one edge. If the
/// true ln s² varies by τ from race to race, the best number is 2/τ², which is 10 for τ = .45.
const DF_OF_HOST: f64 = 10.0;

/// A race of two commits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The node of the baseline, an index from 0.
    pub from: usize,
    /// The node of the candidate, an index from 0.
    pub to: usize,
    /// The logarithm of the ratio of times, ln(t_to/t_from).
    pub effect: f64,
    /// The standard error of the effect.
    pub se: f64,
    /// The degrees of freedom of the standard error, at least 1; infinity if the error is exactly
    /// known.
    pub df: f64,
    /// The number of the host that ran the race; misclosure checks the edges of a host together.
    pub host: usize,
    /// The number of the run, if one run raced several candidates against the same baseline; the
    /// error of the baseline is then part of all its edges.
    pub run: Option<usize>,
}

/// The reason why an edge cannot be used, or the graph cannot be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// An edge ends at a node that does not exist.
    NoSuchNode {
        /// The index of the edge.
        edge: usize,
        /// The node that does not exist.
        node: usize,
    },
    /// An edge leads from a node to itself.
    Itself {
        /// The index of the edge.
        edge: usize,
    },
    /// The effect is not finite, the standard error is not positive and finite, or there is less
    /// than one degree of freedom.
    NoEstimate {
        /// The index of the edge.
        edge: usize,
    },
    /// The reference node does not exist.
    NoSuchReference {
        /// The requested node, which does not exist.
        node: usize,
    },
    /// The standard errors differ by orders of magnitude, so that rounding leaves no solution.
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
            Self::Singular => write!(f, "the standard errors differ too much to compute levels"),
        }
    }
}

impl std::error::Error for GraphError {}

/// An edge of the graph in the form that the solver uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub from: usize,
    pub to: usize,
    pub effect: f64,
    /// The squared standard error of the effect, as measured.
    pub measured: f64,
    /// The variance of the effect, corrected because its standard error is only an estimate.
    pub variance: f64,
    pub weight: Weight,
    pub df: f64,
    pub host: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight {
    /// The variance that the edge is weighted by: the inverse of the weight.
    pub variance: f64,
    /// The elasticity of `variance` with respect to the edge's own squared error: the relative
    /// change of `variance`, divided by the relative change of the squared error.
    pub own: f64,
}

/// Returns the weights of edges that [`check`] has accepted.
///
/// The mean of ln s² is below ln σ² by 1/ν + 1/(3ν²) + …, which is added back.
pub(crate) fn weights(edges: &[Edge]) -> Vec<Weight> {
    let mut hosts: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    let log = |edge: &Edge| 2.0 * edge.se.ln() + (1.0 + 1.0 / (3.0 * edge.df)) / edge.df;
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

/// Returns the links of the graph, and the number of its nodes.
///
/// If a run raced several candidates against one baseline, its measurement of the baseline becomes
/// a separate node. One link with the error of the baseline leads to this node from the commit, and
/// one link with the rest of the error leads from the node to each candidate. Each edge keeps its
/// variance, and any two edges of a run get the right covariance. The baseline's part is half the
/// smallest variance of the edges, as if both sides of that edge varied equally.
pub(crate) fn links(nodes: usize, edges: &[Edge], weights: &[Weight]) -> (Vec<Link>, usize) {
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

/// Returns the component of each node, and the reference node of each component.
pub(crate) fn components(
    nodes: usize,
    links: &[Link],
    reference: usize,
) -> (Vec<usize>, Vec<usize>) {
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
