//! Chooses the two commits to race next: neighbours, or commits that are 2, 4, 8 … commits apart.
//! Pairs that no races connect yet come first, the farthest apart first; then the pair whose
//! difference has the largest standard error.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Edge;
use crate::levels::Levels;
use crate::plan::plan_links;

/// Before the links are ranked again, the first 1/`AT_ONCE` of the remaining links are raced,
/// because one race changes the ranking only a little.
const AT_ONCE: usize = 64;

/// The links of a range that are not raced yet.
///
/// The order follows the uncertainty of the difference between the two commits. Links between
/// unconnected commits come first, the longest first, and then the links with the largest standard
/// error. If a commit does not build, the links connect the other commits.
#[derive(Debug)]
pub struct Links {
    /// The positions in the range of the commits that may build: all except those known not to
    /// build.
    commits: Vec<usize>,
    /// The allowed spans of links; empty for all.
    spans: Vec<usize>,
    /// Pairs of commits that were raced or given up, as positions in the range.
    done: BTreeSet<(usize, usize)>,
    /// Pairs of commits that were raced, as positions in the range, with the standard error of the
    /// race.
    raced: Vec<((usize, usize), f64)>,
    /// The next pairs of commits to race, in reverse order.
    queue: Vec<(usize, usize)>,
}

impl Links {
    /// Creates the links for a range of `commits` commits, with only the given spans.
    pub fn new(commits: usize, spans: &[usize]) -> Self {
        Self {
            commits: (0..commits).collect(),
            spans: spans.to_vec(),
            done: BTreeSet::new(),
            raced: Vec::new(),
            queue: Vec::new(),
        }
    }

    /// Returns all links between commits that build, the older commit first.
    pub fn all(&self) -> Vec<(usize, usize)> {
        let links = plan_links(self.commits.len()).into_iter();
        let is_wanted = |(from, to): &(usize, usize)| {
            self.spans.is_empty() || self.spans.contains(&(to - from))
        };
        let links = links.filter(is_wanted);
        links
            .map(|(from, to)| (self.commits[from], self.commits[to]))
            .collect()
    }

    /// Returns the commits that remaining links connect, each with its number of remaining links.
    pub fn needed(&self) -> BTreeMap<usize, usize> {
        let mut needed = BTreeMap::new();
        for link in self.all() {
            if !self.done.contains(&link) {
                *needed.entry(link.0).or_insert(0) += 1;
                *needed.entry(link.1).or_insert(0) += 1;
            }
        }
        needed
    }

    pub fn left(&self) -> usize {
        let all = self.all().into_iter();
        all.filter(|link| !self.done.contains(link)).count()
    }

    /// Records a race of two commits with this standard error. If it `is_enough`, the link is done.
    pub fn raced(&mut self, link: (usize, usize), se: f64, is_enough: bool) {
        self.raced.push((link, se));
        if is_enough {
            self.give_up(link);
        }
    }

    pub fn give_up(&mut self, link: (usize, usize)) {
        self.done.insert(link);
        self.queue.retain(|other| *other != link);
    }

    /// Removes a commit that does not build, so that the links connect the commits around it.
    pub fn step_around(&mut self, commit: usize) {
        self.commits.retain(|one| *one != commit);
        self.queue.clear();
    }

    /// Returns the link to race next, the older commit first.
    pub fn most_telling(&mut self) -> Option<(usize, usize)> {
        if self.queue.is_empty() {
            self.queue = self.by_what_they_tell();
        }
        self.queue.last().copied()
    }

    fn by_what_they_tell(&self) -> Vec<(usize, usize)> {
        let edge = |((from, to), se): &((usize, usize), f64)| Edge {
            from: *from,
            to: *to,
            effect: 0.0,
            se: *se,
            df: f64::INFINITY,
            host: 0,
            run: None,
        };
        let edges: Vec<Edge> = self.raced.iter().map(edge).collect();
        let nodes = self.commits.last().map_or(0, |last| last + 1);
        let nodes = edges.iter().fold(nodes, |nodes, edge| {
            nodes.max(edge.from + 1).max(edge.to + 1)
        });
        let levels = Levels::solve(nodes, &edges, 0).ok();
        let left = self.all().into_iter();
        let left = left.filter(|link| !self.done.contains(link));
        let mut left: Vec<((usize, usize), f64)> = left
            .map(|(from, to)| {
                let known = levels
                    .as_ref()
                    .and_then(|levels| levels.difference(from, to));
                let unsure = known.map_or(f64::INFINITY, |known| known.se);
                ((from, to), unsure)
            })
            .collect();
        left.sort_by(|((a, b), unsure), ((c, d), than)| {
            than.total_cmp(unsure)
                .then((d - c).cmp(&(b - a)))
                .then(a.cmp(c))
        });
        // Every race that connects two components changes the ranking of the other links.
        let connects = left.first().is_some_and(|(_, unsure)| unsure.is_infinite());
        left.truncate(if connects {
            1
        } else {
            1 + left.len() / AT_ONCE
        });
        left.reverse();
        left.into_iter().map(|(link, _)| link).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(links: &mut Links) -> Vec<(usize, usize)> {
        let mut order = Vec::new();
        while let Some(link) = links.most_telling() {
            order.push(link);
            links.raced(link, 0.0025, true);
        }
        order
    }

    #[test]
    fn the_longest_links_come_first_and_all_of_them_come() {
        let mut links = Links::new(9, &[]);
        let all = links.all();
        let order = order(&mut links);
        assert_eq!(order[0], (0, 8));
        assert_eq!(order.len(), all.len());
        assert!(all.iter().all(|link| order.contains(link)));
        assert_eq!(links.left(), 0);
        // Eight races connect nine commits, so these eight come first.
        let connected: BTreeSet<usize> = order[..8].iter().flat_map(|(a, b)| [*a, *b]).collect();
        assert_eq!(connected.len(), 9);
    }

    #[test]
    fn what_is_known_well_enough_is_not_raced_and_what_is_not_is() {
        let mut links = Links::new(3, &[]);
        links.raced((0, 1), 0.001, true);
        links.raced((1, 2), 0.05, false);
        assert_eq!(order(&mut links), [(0, 2), (1, 2)]);
    }

    #[test]
    fn links_are_laid_around_a_commit_that_does_not_build() {
        let mut links = Links::new(5, &[1]);
        links.most_telling();
        links.step_around(2);
        assert_eq!(links.all(), [(0, 1), (1, 3), (3, 4)]);
        assert_eq!(order(&mut links).len(), 3);
    }

    #[test]
    fn spans_are_those_that_are_asked_for() {
        let links = Links::new(9, &[1, 4]);
        assert!(
            links
                .all()
                .iter()
                .all(|(from, to)| [1, 4].contains(&(to - from)))
        );
        assert_eq!(links.left(), 8 + 3);
    }
}
