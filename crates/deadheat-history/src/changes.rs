//! Steps at single commits, and creep that no single commit shows.
//!
//! | what is told | the test | what is controlled |
//! | --- | --- | --- |
//! | a step at a commit | the difference from the commit before it, by all races of the graph | the chance of one false step or more in the range |
//! | creep from one commit to another | what lies between the two beside steps, told or accepted, for windows of 2, 4, 8 … commits that overlap by half | the chance of one false creep or more in the range |
//!
//! Both by Holm's procedure at the same level, each over its own tests.
//!
//! A step is judged without any assumption on other commits: a step two commits on, or creep all
//! along, moves nothing here. So creep is not told as steps; and a step that is too small to be told
//! at its commit may be found as the creep of a window that holds it. Each edge of a range counts as
//! a test even where no race joined the two commits directly, since the others still say something
//! of it.

use deadheat_stats::holm;

use crate::levels::{Difference, Levels};

/// A change between two commits of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Places in the series of the last commit before the change and of the first one after it;
    /// of a step these are neighbours.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// The size of the change; of creep without the steps inside.
    pub difference: Difference,
    /// The p-value among all tests of its kind in the range.
    pub p_value: f64,
}

/// The changes of a series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Steps that are not accepted, in the order of commits.
    pub steps: Vec<Change>,
    /// Windows that creep, none of which overlap, in the order of commits.
    pub creep: Vec<Change>,
    /// Neighbours in the series that no races connect.
    pub unconnected: usize,
}

/// Looks for steps and creep along `series`, the nodes of a range of commits in their order.
///
/// `accepted` are nodes at which a step is known; it is not told again, nor counted as creep.
/// `level` is the chance of a false step, and that of false creep, in a range where there is none.
pub fn changes(levels: &Levels, series: &[usize], accepted: &[usize], level: f64) -> Changes {
    let mut unconnected = 0;
    let mut tests = Vec::new();
    let mut is_step = vec![false; series.len().saturating_sub(1)];
    for (from, pair) in series.windows(2).enumerate() {
        if accepted.contains(&pair[1]) {
            is_step[from] = true;
            continue;
        }
        match levels.difference(pair[0], pair[1]) {
            Some(difference) => tests.push((from, from + 1, difference)),
            None => unconnected += 1,
        }
    }
    let steps = rejected(tests, level);
    for step in &steps {
        is_step[step.from] = true;
    }
    let mut windows = Vec::new();
    let mut span = 2;
    while span < series.len() {
        for from in (0..series.len() - span).step_by(span / 2) {
            let to = from + span;
            let steps = (from..to).filter(|at| is_step[*at]);
            let mut weights = vec![(series[from], -1.0), (series[to], 1.0)];
            for at in steps {
                weights.extend([(series[at], 1.0), (series[at + 1], -1.0)]);
            }
            let difference = levels.contrast(&weights);
            windows.extend(difference.map(|difference| (from, to, difference)));
        }
        span *= 2;
    }
    let mut creep: Vec<Change> = Vec::new();
    let mut candidates = rejected(windows, level);
    // Of windows that overlap, the one that is surest.
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

/// The differences that are told of all that were tested, by Holm's procedure.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Edge;
    use crate::plan::plan_links;

    /// Races of a history of the given log levels without any noise, with errors of .25 %.
    fn raced(history: &[f64]) -> Levels {
        let links = plan_links(history.len());
        let edge = |(from, to): (usize, usize)| Edge {
            from,
            to,
            effect: history[to] - history[from],
            se: 0.0025,
            df: 20.0,
            host: 0,
            run: None,
        };
        let edges: Vec<Edge> = links.into_iter().map(edge).collect();
        Levels::solve(history.len(), &edges, 0).unwrap()
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
    fn a_series_that_is_not_connected_is_told_as_such() {
        let edge = |from, to| Edge {
            from,
            to,
            effect: 0.0,
            se: 0.01,
            df: 9.0,
            host: 0,
            run: None,
        };
        let levels = Levels::solve(5, &[edge(0, 1), edge(3, 4)], 0).unwrap();
        let found = changes(&levels, &series(5), &[], 0.05);
        assert_eq!((found.unconnected, found.steps.len()), (2, 0));
        assert_eq!(changes(&levels, &[], &[], 0.05), Changes::default());
    }
}
