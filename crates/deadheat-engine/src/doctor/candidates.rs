//! Which cores are looked at.

use std::thread;

use deadheat_model::Pinning;

use super::root::Root;
use super::topology::{Topology, speed};
use crate::affinity::equals;
use crate::affinity::{AffinityError, check_allowed, hold_on};

/// Cores that are watched at most: more would each be seen for too short.
pub(super) const MOST_CORES: usize = 8;

/// Whether this process may use a core it was not started with. Found out by
/// a thread that ends at once.
pub(super) fn accepts(core: u32) -> bool {
    let tried = thread::spawn(move || hold_on(core).is_ok());
    tried.join().unwrap_or(false)
}

/// The cores to watch; one that is `None` is wherever the scheduler likes.
pub(super) fn candidates(
    pinning: &Pinning,
    root: &Root,
    topology: &Topology,
    reachable: &[u32],
) -> Result<Vec<Option<u32>>, AffinityError> {
    let cores = match pinning {
        Pinning::Inherit => Vec::new(),
        Pinning::Cores(cores) => {
            check_allowed(cores, reachable)?;
            let mut cores = cores.clone();
            cores.sort_unstable();
            cores.dedup();
            cores
        }
        Pinning::Auto => equals(reachable, |core| speed(root, core)),
    };
    let chosen = spread_out(&cores, &topology.isolated);
    Ok(match chosen.is_empty() {
        true => vec![None],
        false => chosen.into_iter().map(Some).collect(),
    })
}

/// As many as can be watched: those set apart first, then some from all over,
/// the first and the last among them.
fn spread_out(cores: &[u32], isolated: &[u32]) -> Vec<u32> {
    if cores.len() <= MOST_CORES {
        return cores.to_vec();
    }
    let is_isolated = |core: &&u32| isolated.contains(core);
    let mut chosen: Vec<u32> = cores
        .iter()
        .filter(is_isolated)
        .take(MOST_CORES / 2)
        .copied()
        .collect();
    let others: Vec<u32> = cores
        .iter()
        .filter(|core| !is_isolated(core))
        .copied()
        .collect();
    let room = (MOST_CORES - chosen.len()).min(others.len());
    for step in 0..room {
        let place = step * (others.len() - 1) / (room - 1).max(1);
        chosen.push(others[place]);
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_cores_some_from_all_over_are_watched() {
        let many: Vec<u32> = (0..64).collect();
        let chosen = spread_out(&many, &[]);
        assert_eq!(chosen, [0, 9, 18, 27, 36, 45, 54, 63]);
        let apart = spread_out(&many, &[5, 6]);
        assert_eq!(apart.len(), MOST_CORES);
        assert!(apart.contains(&5) && apart.contains(&6) && apart.contains(&63));
        let all_apart: Vec<u32> = (0..64).collect();
        assert_eq!(spread_out(&many, &all_apart).len(), MOST_CORES / 2);
        assert_eq!(spread_out(&[3, 4], &[]), [3, 4]);
    }
}
