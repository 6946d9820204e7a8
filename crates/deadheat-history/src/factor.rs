//! The sparse Cholesky factor of a weighted graph, and the parts of the inverse that lie on it.
//!
//! The matrix is the Laplacian BᵀWB of the graph with the rows of the references taken out, one of
//! each connected component: its inverse is the covariance of the levels. `nalgebra-sparse`
//! factorises it and leaves to its users in which order nodes are eliminated. A plan of chains and
//! skip links has some nine entries a commit in any order that follows it; but a release that was
//! raced against all later commits would, eliminated first, connect all of them. So the order is that
//! of minimum degree.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::mem;

use nalgebra_sparse::factorization::CscCholesky;
use nalgebra_sparse::na::DMatrix;
use nalgebra_sparse::{CooMatrix, CscMatrix};

/// A factorised Laplacian.
#[derive(Debug, Clone)]
pub(crate) struct Factor {
    cholesky: CscCholesky<f64>,
    /// The inverse where the factor has entries, in their order.
    inverse: Vec<f64>,
    /// The row of each node; `None` for references.
    row: Vec<Option<usize>>,
}

impl Factor {
    /// Factorises the Laplacian of edges `(node, node, weight)`. Each component of the graph has
    /// one node in `references`. `None` where rounding leaves no positive definite matrix.
    pub fn new(
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

    /// Solves for one value a node; those of references are 0, and so counts what `right` has there.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
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

    /// The variance of x_b − x_a for the ends of an edge, or for one node and a reference.
    pub fn variance_between(&self, a: usize, b: usize) -> f64 {
        let at = |a: usize, b: usize| match (self.row[a], self.row[b]) {
            (Some(a), Some(b)) => entry(self.cholesky.l(), &self.inverse, a, b),
            _ => 0.0,
        };
        at(a, a) + at(b, b) - 2.0 * at(a, b)
    }
}

/// Rows for all nodes but the references, such that the node with the fewest neighbours left is
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
        // An entry from before its neighbourhood changed is followed by a newer one.
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

/// The inverse of L·Lᵀ at the entries of L, from the last column to the first (Takahashi, Fagan &
/// Chin 1973): no other entry of the inverse is needed for these.
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

/// An entry of the symmetric matrix that `values` holds on the pattern of `factor`; 0 outside it.
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

    /// A ladder with a far link, its weights all different.
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
    fn a_commit_that_was_raced_against_all_others_fills_nothing() {
        let edges = (1..5_000).map(|node| (0, node, 1.0));
        let mut references = vec![false; 5_000];
        references[17] = true;
        let factor = Factor::new(edges, &references).unwrap();
        assert!(factor.inverse.len() < 2 * 5_000);
        assert!((factor.variance_between(0, 3) - 1.0).abs() < 1e-12);
    }
}
