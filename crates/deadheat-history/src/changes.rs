//! Finds steps at single commits, creep over several commits, and the plateaus between steps.
//!
//! | change | test | controlled error rate |
//! | --- | --- | --- |
//! | a step at a commit | the difference from the nearest earlier commit that races connect with it, estimated from all races of the graph | the probability of any false step in the range |
//! | creep from one commit to another | the change between the two, without reported or accepted steps, for windows of 2, 4, 8 … commits that overlap by half | the probability of any false creep in the range |
//!
//! Both use Holm's procedure at the same level, each over its own tests.
//!
//! The test of a step makes no assumption about other commits: a step two commits later, or creep
//! all along, has no effect on it. So creep is not reported as steps. A step that is too small to
//! be found at its commit may be found as creep of a window that contains it. Each pair of
//! neighbours counts as a test even if no race joined the two directly, because the other races
//! provide an estimate.
//!
//! # Plateaus
//!
//! Plateaus are ranges of commits without a visible change.
//!
//! A series with boundaries at some commits is fitted by the same least squares as the levels, but
//! with one level for all commits between two boundaries, which contracts the graph. Links of 64
//! commits take part like links of one, with the correlation that all levels have. The cost of a
//! stretch therefore depends on its neighbours, and the dynamic programs of optimal partitioning
//! and PELT do not apply. Instead, boundaries are chosen stepwise: the strongest boundary is added
//! until none is above the penalty, then the weakest is removed until none is below it.
//!
//! The penalty controls false positives. The standard normal deviate of a boundary must be so large
//! that the probability of any boundary in a series without a change is the requested level
//! (Bonferroni over all places). In squared deviates the penalty is z² of level/places, which is
//! 16.5 for 1,000 commits and 5%. Known boundaries stay.
//!
//! Plateaus are for drawing the series and not for decisions: they show creep as several steps,
//! although no test of a single commit finds these steps.

use std::collections::BTreeMap;

use deadheat_stats::dist::{normal_deviate, normal_quantile};
use deadheat_stats::holm;

use crate::graph::{Edge, GraphError, Weight, check, weights};
use crate::levels::{Difference, Levels};

/// A change between two commits of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The position in the series of the last commit before the change. For a step, this is the
    /// nearest earlier commit that races connect with `to`.
    pub from: usize,
    /// The position in the series of the first commit after the change.
    pub to: usize,
    /// The size of the change. For creep, the steps inside the window are subtracted.
    pub difference: Difference,
    /// The p-value, adjusted for all tests of its kind in the range.
    pub p_value: f64,
}

/// The steps and the creep in a series of commits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Steps that are not accepted, in the order of commits.
    pub steps: Vec<Change>,
    /// Windows with creep, which do not overlap, in the order of commits.
    pub creep: Vec<Change>,
    /// The number of neighbouring pairs in the series that no races connect.
    pub unconnected: usize,
}

/// Finds steps and creep along `series`, the nodes of a range of commits in order. A commit is
/// compared with the nearest earlier one that races connect with it: a race of a side branch between
/// two commits once hid the step from the one to the other.
///
/// `accepted` are nodes with a known step, which is neither reported again nor counted as creep.
/// `level` is the probability of a false step, and that of false creep, in a range without changes.
pub fn changes(levels: &Levels, series: &[usize], accepted: &[usize], level: f64) -> Changes {
    let mut unconnected = 0;
    let mut tests = Vec::new();
    let mut excluded = Vec::new();
    let mut last_of_part = BTreeMap::new();
    for (to, node) in series.iter().enumerate() {
        let before = last_of_part.insert(levels.reference(*node), to);
        if to > 0 && before != Some(to - 1) {
            unconnected += 1;
        }
        let Some(from) = before else {
            continue;
        };
        if series[from + 1..=to]
            .iter()
            .any(|one| accepted.contains(one))
        {
            excluded.push((from, to));
        } else if let Some(difference) = levels.difference(series[from], *node) {
            tests.push((from, to, difference));
        }
    }
    let steps = rejected(tests, level);
    excluded.extend(steps.iter().map(|step| (step.from, step.to)));
    let mut windows = Vec::new();
    let mut span = 2;
    while span < series.len() {
        for from in (0..series.len() - span).step_by(span / 2) {
            let to = from + span;
            let part = |at: usize| levels.reference(series[at]);
            let inside = |step: &&(usize, usize)| {
                from <= step.0 && step.1 <= to && part(step.1) == part(from)
            };
            let mut weights = vec![(series[from], -1.0), (series[to], 1.0)];
            for (before, after) in excluded.iter().filter(inside) {
                weights.extend([(series[*before], 1.0), (series[*after], -1.0)]);
            }
            let difference = levels.contrast(&weights);
            windows.extend(difference.map(|difference| (from, to, difference)));
        }
        span *= 2;
    }
    let mut creep: Vec<Change> = Vec::new();
    let mut candidates = rejected(windows, level);
    // If windows overlap, the one with the largest deviate is kept.
    candidates.sort_by(|a, b| {
        let (a, b) = (a.difference.deviate().abs(), b.difference.deviate().abs());
        b.total_cmp(&a)
    });
    for window in candidates {
        if creep
            .iter()
            .all(|known| window.to <= known.from || known.to <= window.from)
        {
            creep.push(window);
        }
    }
    creep.sort_by_key(|window| window.from);
    Changes {
        steps,
        creep,
        unconnected,
    }
}

/// Returns the tested differences that Holm's procedure declares significant.
fn rejected(tests: Vec<(usize, usize, Difference)>, level: f64) -> Vec<Change> {
    let p_values: Vec<f64> = tests
        .iter()
        .map(|(_, _, difference)| difference.p_value())
        .collect();
    let adjusted = holm(&p_values);
    let change = |((from, to, difference), p_value)| Change {
        from,
        to,
        difference,
        p_value,
    };
    let all = tests.into_iter().zip(adjusted).map(change);
    all.filter(|change| change.p_value <= level).collect()
}

/// Neighbouring commits of a series with one common level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plateau {
    /// The position in the series of the plateau's first commit.
    pub first: usize,
    /// The position in the series of the plateau's last commit.
    pub last: usize,
    /// The level of this plateau, relative to the earliest plateau of the series that a chain of
    /// races connects with this one. That plateau has level 0.
    pub level: f64,
    /// The standard error of the plateau's level.
    pub se: f64,
}

/// Divides `series`, the nodes of a range of commits in order, into plateaus.
///
/// `edges` are all edges of the graph of `nodes` commits. There is always a boundary before each
/// node of `known`, the reported or accepted steps. `level` is the probability that a series
/// without a change gets a boundary.
///
/// # Errors
///
/// Fails like [`Levels::solve`].
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
/// stay separate nodes.
struct Division<'a> {
    nodes: usize,
    edges: &'a [Edge],
    weights: &'a [Weight],
    series: &'a [usize],
    /// For each pair of neighbours in the series: true if there is a boundary between them.
    boundary: Vec<bool>,
    /// For each node, the index of its node in the contracted graph.
    contracted: Vec<usize>,
    levels: Levels,
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

    /// Returns this division of the series with or without a boundary at `place`, with its levels
    /// solved again.
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

    /// Returns the place where an additional boundary would have the largest absolute deviate, and
    /// that deviate.
    ///
    /// For each place, this is the score test of a jump there. One sweep tests all places: at
    /// first, all nodes of the series count as after the place. Each step moves one node to before
    /// the place, so that only the terms of the edges of this node change in the sums.
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
        // At first the whole series is after the place.
        for node in self.series {
            self.turn(*node, &at[*node], &mut behind, &mut jump);
        }
        let mut strongest: Option<(usize, f64)> = None;
        for (place, node) in self.series.iter().enumerate().take(self.boundary.len()) {
            self.turn(*node, &at[*node], &mut behind, &mut jump);
            if self.boundary[place] {
                continue;
            }
            // The part of the jump that the levels of the plateaus explain is not evidence for it.
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

    /// Moves a node from one side of the tested place to the other, and updates the sums of the
    /// score test.
    fn turn(&self, node: usize, edges: &[usize], behind: &mut [bool], jump: &mut Jump) {
        edges
            .iter()
            .for_each(|edge| self.count(*edge, -1.0, behind, jump));
        behind[node] = !behind[node];
        edges
            .iter()
            .for_each(|edge| self.count(*edge, 1.0, behind, jump));
    }

    /// Adds (or with a negative `sign` subtracts) an edge that crosses the place.
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

    /// Returns the boundary with the smallest absolute deviate, and that deviate. Boundaries at
    /// steps that were reported or accepted do not count.
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

/// The sums over the edges that cross a place, for the score test of a jump at that place.
#[derive(Default)]
struct Jump {
    /// Σ weight·residual over the edges that cross the place, in the direction of the series.
    score: f64,
    /// Σ weight over the edges that cross the place.
    information: f64,
    /// Σ weight²/df over the edges that cross the place, from which the degrees of freedom are
    /// computed.
    squares: f64,
    /// The jump as the right-hand side of the equations of the contracted graph.
    right: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan_links;

    /// Returns races without noise for a history with the given log levels, with errors of .25%.
    fn races(history: &[f64]) -> Vec<Edge> {
        let edge = |(from, to): (usize, usize)| Edge {
            from,
            to,
            effect: history[to] - history[from],
            se: 0.0025,
            df: 20.0,
            host: 0,
            run: None,
        };
        plan_links(history.len()).into_iter().map(edge).collect()
    }

    fn raced(history: &[f64]) -> Levels {
        Levels::solve(history.len(), &races(history), 0).unwrap()
    }

    fn edge(from: usize, to: usize, effect: f64) -> Edge {
        Edge {
            from,
            to,
            effect,
            se: 0.01,
            df: 9.0,
            host: 0,
            run: None,
        }
    }

    fn series(count: usize) -> Vec<usize> {
        (0..count).collect()
    }

    #[test]
    fn a_step_is_told_at_its_commit_and_not_again_once_it_is_accepted() {
        let history: Vec<f64> = (0..64).map(|i| if i < 20 { 0.0 } else { 0.02 }).collect();
        let levels = raced(&history);
        let found = changes(&levels, &series(64), &[], 0.05);
        assert_eq!(found.steps.len(), 1);
        assert_eq!((found.steps[0].from, found.steps[0].to), (19, 20));
        assert!((found.steps[0].difference.effect - 0.02).abs() < 1e-9);
        assert!(found.creep.is_empty() && found.unconnected == 0);
        let accepted = changes(&levels, &series(64), &[20], 0.05);
        assert_eq!(accepted, Changes::default());
    }

    #[test]
    fn creep_is_told_over_the_commits_it_takes_and_not_as_steps() {
        let history: Vec<f64> = (0..129).map(|i| 0.0004 * f64::from(i)).collect();
        let found = changes(&raced(&history), &series(129), &[], 0.05);
        assert!(found.steps.is_empty());
        assert_eq!(found.creep.len(), 1, "{found:?}");
        assert_eq!((found.creep[0].from, found.creep[0].to), (0, 128));
    }

    #[test]
    fn creep_beside_a_step_is_told_without_the_step() {
        let step = |i| if i < 60 { 0.0 } else { -0.04 };
        let history: Vec<f64> = (0..129).map(|i| 0.0004 * f64::from(i) + step(i)).collect();
        let found = changes(&raced(&history), &series(129), &[], 0.05);
        assert_eq!(found.steps.len(), 1);
        assert_eq!(found.creep.len(), 1, "{found:?}");
        let crept = found.creep[0].difference.effect;
        assert!((crept - 127.0 * 0.0004).abs() < 1e-9, "{crept}");
    }

    #[test]
    fn a_commit_of_another_part_hides_no_step_between_its_neighbours() {
        // Commit 1 raced only against commit 3, which is outside of the series.
        let levels = Levels::solve(4, &[edge(0, 2, 0.2), edge(1, 3, 0.0)], 0).unwrap();
        let found = changes(&levels, &series(3), &[], 0.05);
        assert_eq!(found.unconnected, 2);
        assert_eq!(found.steps.len(), 1, "{found:?}");
        assert_eq!((found.steps[0].from, found.steps[0].to), (0, 2));
        let accepted = changes(&levels, &series(3), &[1], 0.05);
        assert!(
            accepted.steps.is_empty(),
            "the step may be that at commit 1"
        );
    }

    #[test]
    fn a_step_that_two_parts_show_is_no_creep_of_either() {
        let edges = [edge(0, 2, 0.2), edge(2, 4, 0.0), edge(1, 3, 0.2)];
        let levels = Levels::solve(5, &edges, 0).unwrap();
        let found = changes(&levels, &series(5), &[], 0.05);
        assert_eq!(found.steps.len(), 2, "{found:?}");
        assert!(found.creep.is_empty(), "{found:?}");
    }

    #[test]
    fn a_series_that_is_not_connected_is_told_as_such() {
        let edges = [edge(0, 1, 0.0), edge(3, 4, 0.0)];
        let levels = Levels::solve(5, &edges, 0).unwrap();
        let found = changes(&levels, &series(5), &[], 0.05);
        assert_eq!((found.unconnected, found.steps.len()), (2, 0));
        assert_eq!(changes(&levels, &[], &[], 0.05), Changes::default());
    }

    fn divided(history: &[f64], known: &[usize]) -> Vec<Plateau> {
        let series = series(history.len());
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
