//! Chooses the pairs of commits to race, and computes the precision at the end of a long chain.
//!
//! A chain of k races alone has an error of s·√k at its end. With additional links of 2, 4, 8 …
//! commits the error grows with √log k, and every race closes loops, by which the races check each
//! other. Links of one length begin at every multiple of half that length, so they overlap, and no
//! commit is at the edge of all of them. That takes three races per commit. Links start at the
//! first commit, so a range that grows only needs new ones.

use crate::graph::{Edge, GraphError};
use crate::levels::Levels;

/// Returns the pairs to race for commits 0 to `commits` − 1, the older commit first: neighbours,
/// and links of 2, 4, 8 … commits that overlap by half.
pub fn plan_links(commits: usize) -> Vec<(usize, usize)> {
    let mut links = Vec::new();
    let mut span = 1;
    while span < commits {
        let starts = (0..commits - span).step_by((span / 2).max(1));
        links.extend(starts.map(|start| (start, start + span)));
        span *= 2;
    }
    links
}

/// Returns the standard error of the difference between the first and the last of `commits` commits
/// if every link is raced with the standard error `se`. `None` if the links do not connect the two.
///
/// # Errors
///
/// Fails with the first link that is outside the range, or if `se` is not a valid error.
pub fn error_at_end(
    commits: usize,
    links: &[(usize, usize)],
    se: f64,
) -> Result<Option<f64>, GraphError> {
    let edge = |(from, to): &(usize, usize)| Edge {
        from: *from,
        to: *to,
        effect: 0.0,
        se,
        df: f64::INFINITY,
        host: 0,
        run: None,
    };
    let edges: Vec<Edge> = links.iter().map(edge).collect();
    let levels = Levels::solve(commits, &edges, 0)?;
    let difference = levels.difference(0, commits - 1);
    Ok(difference.map(|difference| difference.se))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_commits_take_these_links() {
        let spans = |span| {
            let links = plan_links(8).into_iter();
            let starts = links.filter(move |(from, to)| to - from == span);
            starts.map(|(from, _)| from).collect::<Vec<_>>()
        };
        assert_eq!(spans(1), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(spans(2), [0, 1, 2, 3, 4, 5]);
        assert_eq!(spans(4), [0, 2]);
        assert_eq!(plan_links(8).len(), 15);
        assert!(plan_links(0).is_empty() && plan_links(1).is_empty());
    }

    #[test]
    fn a_range_that_grows_keeps_its_links_and_takes_three_a_commit() {
        let mut known = plan_links(1);
        for commits in 2..300 {
            let links = plan_links(commits);
            assert!(known.iter().all(|link| links.contains(link)), "{commits}");
            assert!(links.len() <= 3 * commits);
            known = links;
        }
    }

    #[test]
    fn the_error_of_a_chain_grows_with_the_root_of_its_length_and_with_skips_by_its_logarithm() {
        let end = |commits, links: &[_]| error_at_end(commits, links, 0.0025).unwrap().unwrap();
        for power in [4, 7, 10] {
            // One less than a power of two, so that no single link connects both ends.
            let commits = 1 << power;
            let chain: Vec<_> = (1..commits).map(|to| (to - 1, to)).collect();
            let alone = end(commits, &chain);
            assert!((alone - 0.0025 * ((commits - 1) as f64).sqrt()).abs() < 1e-6);
            let with_skips = end(commits, &plan_links(commits));
            assert!(
                with_skips < 0.0025 * f64::from(power).sqrt(),
                "{power}: {with_skips}"
            );
        }
    }

    #[test]
    fn links_outside_the_range_are_rejected_or_give_no_error() {
        assert_eq!(error_at_end(3, &[(0, 1)], 0.01), Ok(None));
        assert!(error_at_end(3, &[(0, 3)], 0.01).is_err());
        assert!(error_at_end(3, &[(0, 1)], 0.0).is_err());
    }
}
