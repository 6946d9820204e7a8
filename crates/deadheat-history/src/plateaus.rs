//! Plateaus: stretches of commits between which nothing is to be seen.
//!
//! A series with boundaries at some commits is the same least squares as that of the levels, but
//! with one level for all commits between two boundaries: the graph is contracted. Links of 64
//! commits take part in this as those of one do, with the correlation that all levels have. What a
//! stretch costs therefore depends on the stretches beside it, and the dynamic programs of optimal
//! partitioning and PELT do not apply. Boundaries are chosen step by step instead: first that which
//! shows most, as long as one is above the penalty; then the weakest is taken out, as long as one
//! is below it.
//!
//! The penalty is that of an alarm. A boundary must lie as many standard normal deviates from none
//! as makes the chance of one such among all places of the series the level that was asked for
//! (Bonferroni): in squares of deviates, as residuals are counted, z² of level/places, which for
//! 1,000 commits and 5 % is 16.5. Boundaries that are known stay.
//!
//! This draws the series; it does not decide. Creep becomes stairs here, which no test of a single
//! commit would call steps.

use deadheat_stats::dist::{normal_deviate, normal_quantile};

use crate::graph::{Edge, GraphError, Weight, check, weights};
use crate::levels::Levels;

/// Neighbours in a series that share a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// The place of its first commit in the series.
    pub first: usize,
    /// The place of its last commit in the series.
    pub last: usize,
    /// Its level, relative to the first plateau of the series that races connect with it.
    pub level: f64,
    /// The standard error of the level.
    pub se: f64,
}

/// Divides `series`, the nodes of a range of commits in their order, into plateaus.
///
/// `edges` are those of the whole graph of `nodes` commits. A boundary is kept before each node of
/// `known`: steps that were told or accepted. `level` is the chance that a series without a change
/// gets a boundary.
///
/// # Errors
///
/// Those of [`Levels::solve`].
pub fn plateaus(
    nodes: usize,
    edges: &[Edge],
    series: &[usize],
    known: &[usize],
    level: f64,
) -> Result<Vec<Plateau>, GraphError> {
    let Some(places) = series.len().checked_sub(1) else {
        return Ok(Vec::new());
    };
    check(nodes, edges)?;
    let weights = weights(edges);
    let is_known: Vec<bool> = series[1..]
        .iter()
        .map(|node| known.contains(node))
        .collect();
    let penalty = -normal_quantile(0.5 * level / places.max(1) as f64);
    let mut division = Division::new(nodes, edges, &weights, series, is_known.clone())?;
    while let Some((place, _)) = division.strongest().filter(|(_, z)| *z > penalty) {
        division = division.with(place, true)?;
    }
    while let Some((place, _)) = division.weakest(&is_known).filter(|(_, z)| *z < penalty) {
        division = division.with(place, false)?;
    }
    Ok(division.plateaus())
}

/// A series with boundaries, and the graph with one node for each plateau. Nodes outside the series
/// stay their own.
struct Division<'a> {
    nodes: usize,
    edges: &'a [Edge],
    weights: &'a [Weight],
    series: &'a [usize],
    /// For each place between neighbours of the series: a boundary lies there.
    boundary: Vec<bool>,
    /// The contracted node of each node.
    contracted: Vec<usize>,
    levels: Levels,
    /// The residual of each edge.
    residuals: Vec<f64>,
}

impl<'a> Division<'a> {
    fn new(
        nodes: usize,
        edges: &'a [Edge],
        weights: &'a [Weight],
        series: &'a [usize],
        boundary: Vec<bool>,
    ) -> Result<Self, GraphError> {
        let mut contracted = vec![usize::MAX; nodes];
        let mut last = 0;
        for (position, node) in series.iter().enumerate() {
            last += usize::from(position > 0 && boundary[position - 1]);
            contracted[*node] = last;
        }
        for node in contracted.iter_mut().filter(|node| **node == usize::MAX) {
            last += 1;
            *node = last;
        }
        let contract = |edge: &Edge| Edge {
            from: contracted[edge.from],
            to: contracted[edge.to],
            ..*edge
        };
        let all = edges.iter().map(contract).zip(weights);
        let between = all.filter(|(edge, _)| edge.from != edge.to);
        let (between, its_weights): (Vec<Edge>, Vec<Weight>) = between.unzip();
        let levels = Levels::solve_weighted(last + 1, &between, &its_weights, 0)?;
        let level = |node: usize| levels.level(contracted[node]);
        let residual = |edge: &Edge| edge.effect - level(edge.to) + level(edge.from);
        let residuals = edges.iter().map(residual).collect();
        Ok(Self {
            nodes,
            edges,
            weights,
            series,
            boundary,
            contracted,
            levels,
            residuals,
        })
    }

    /// The same with or without a boundary at a place.
    fn with(mut self, place: usize, is_boundary: bool) -> Result<Self, GraphError> {
        self.boundary[place] = is_boundary;
        Self::new(
            self.nodes,
            self.edges,
            self.weights,
            self.series,
            self.boundary,
        )
    }

    /// The place without a boundary where one would show most, and the size of its deviate.
    ///
    /// The score test of a jump at the place, for all places in one sweep: a node of the series
    /// counts as behind the place until the sweep has passed it, and only the edges at that node
    /// change their part.
    fn strongest(&self) -> Option<(usize, f64)> {
        let mut at = vec![Vec::new(); self.nodes];
        for (number, edge) in self.edges.iter().enumerate() {
            at[edge.from].push(number);
            at[edge.to].push(number);
        }
        let mut behind = vec![false; self.nodes];
        let mut jump = Jump {
            right: vec![0.0; self.levels.nodes()],
            ..Jump::default()
        };
        // All of the series is behind the place before its first commit.
        for node in self.series {
            self.turn(*node, &at[*node], &mut behind, &mut jump);
        }
        let mut strongest: Option<(usize, f64)> = None;
        for (place, node) in self.series.iter().enumerate().take(self.boundary.len()) {
            self.turn(*node, &at[*node], &mut behind, &mut jump);
            if self.boundary[place] {
                continue;
            }
            // What the levels of the plateaus explain of the jump says nothing for it.
            let solved = self.levels.solved(&jump.right);
            let explained: f64 = jump.right.iter().zip(&solved).map(|(b, y)| b * y).sum();
            let information = jump.information - explained;
            if information <= 1e-6 * jump.information {
                continue;
            }
            let df = jump.information.powi(2) / jump.squares;
            let deviate = normal_deviate(jump.score / information.sqrt(), df).abs();
            if strongest.is_none_or(|(_, most)| deviate > most) {
                strongest = Some((place, deviate));
            }
        }
        strongest
    }

    /// Moves a node to the other side of the place.
    fn turn(&self, node: usize, edges: &[usize], behind: &mut [bool], jump: &mut Jump) {
        edges
            .iter()
            .for_each(|edge| self.count(*edge, -1.0, behind, jump));
        behind[node] = !behind[node];
        edges
            .iter()
            .for_each(|edge| self.count(*edge, 1.0, behind, jump));
    }

    /// Adds an edge that leads past the place, or takes it away again.
    fn count(&self, number: usize, sign: f64, behind: &[bool], jump: &mut Jump) {
        let (edge, residual) = (&self.edges[number], self.residuals[number]);
        let past = f64::from(u8::from(behind[edge.to])) - f64::from(u8::from(behind[edge.from]));
        if past == 0.0 {
            return;
        }
        let weight = sign / self.weights[number].variance;
        jump.score += weight * past * residual;
        jump.information += weight;
        jump.squares += sign * weight * weight / edge.df;
        jump.right[self.contracted[edge.to]] += weight * past;
        jump.right[self.contracted[edge.from]] -= weight * past;
    }

    /// The boundary that is not known and shows least, and the size of its deviate.
    fn weakest(&self, is_known: &[bool]) -> Option<(usize, f64)> {
        let free =
            (0..self.boundary.len()).filter(|place| self.boundary[*place] && !is_known[*place]);
        let deviate = |place: usize| {
            let [before, after] = [place, place + 1].map(|at| self.contracted[self.series[at]]);
            let difference = self.levels.difference(before, after);
            (
                place,
                difference.map_or(0.0, |difference| difference.deviate().abs()),
            )
        };
        free.map(deviate).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn plateaus(&self) -> Vec<Plateau> {
        let mut plateaus: Vec<Plateau> = Vec::new();
        for (position, node) in self.series.iter().enumerate() {
            match plateaus.last_mut() {
                Some(plateau) if !self.boundary[position - 1] => plateau.last = position,
                _ => plateaus.push(Plateau {
                    first: position,
                    last: position,
                    level: self.levels.level(self.contracted[*node]),
                    se: self.levels.se(self.contracted[*node]),
                }),
            }
        }
        plateaus
    }
}

/// The edges that lead past a place, summed up for the score test of a jump there.
#[derive(Default)]
struct Jump {
    /// Σ weight·residual, in the direction of the series.
    score: f64,
    /// Σ weight.
    information: f64,
    /// Σ weight²/df, for the degrees of freedom.
    squares: f64,
    /// The jump as the right-hand side of the contracted graph.
    right: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan_links;

    /// Races without noise that say of themselves to have errors of .25 %.
    fn races(history: &[f64]) -> Vec<Edge> {
        let edge = |(from, to): (usize, usize)| Edge {
            from,
            to,
            effect: history[to] - history[from],
            se: 0.0025,
            df: 12.0,
            host: 0,
            run: None,
        };
        plan_links(history.len()).into_iter().map(edge).collect()
    }

    fn divided(history: &[f64], known: &[usize]) -> Vec<Plateau> {
        let series: Vec<usize> = (0..history.len()).collect();
        plateaus(history.len(), &races(history), &series, known, 0.05).unwrap()
    }

    #[test]
    fn steps_divide_a_series_into_the_plateaus_between_them() {
        let level = |i| match i {
            0..30 => 0.0,
            30..45 => 0.02,
            45..50 => -0.01,
            _ => 0.004,
        };
        let history: Vec<f64> = (0..100).map(level).collect();
        let found = divided(&history, &[]);
        let bounds: Vec<_> = found.iter().map(|p| (p.first, p.last)).collect();
        assert_eq!(bounds, [(0, 29), (30, 44), (45, 49), (50, 99)]);
        for plateau in &found {
            assert!((plateau.level - history[plateau.first]).abs() < 1e-9);
            assert!(plateau.se < 0.0015);
        }
        assert_eq!(found[0].se, 0.0);
    }

    #[test]
    fn a_level_series_is_one_plateau_and_a_known_step_stays_a_boundary() {
        let found = divided(&[0.0; 40], &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].first, found[0].last, found[0].level),
            (0, 39, 0.0)
        );
        let found = divided(&[0.0; 40], &[12]);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].first, 12);
        assert!(divided(&[], &[]).is_empty());
        assert_eq!(divided(&[0.0], &[]).len(), 1);
    }

    #[test]
    fn a_range_is_divided_with_the_races_that_lead_out_of_it() {
        let history: Vec<f64> = (0..120).map(|i| if i < 70 { 0.0 } else { 0.01 }).collect();
        let series: Vec<usize> = (50..90).collect();
        let found = plateaus(120, &races(&history), &series, &[], 0.05).unwrap();
        let bounds: Vec<_> = found.iter().map(|p| (p.first, p.last)).collect();
        assert_eq!(bounds, [(0, 19), (20, 39)]);
    }
}
