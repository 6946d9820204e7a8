//! Where the linker put the code, and how often that was drawn anew.

/// Facts known before the race of neutral links of one executable: links of the same objects with
/// their function sections aligned and shuffled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeutralLinks {
    /// The executable as it was named.
    pub executable: String,
    /// The linker that makes them, with its version. `Err` says why there are none.
    pub made_by: Result<String, String>,
    /// Object files whose functions share one section, so that they keep their places among each
    /// other however the sections are shuffled.
    pub unsectioned: Vec<String>,
    /// `Ok` if the links of one replicate are matched to those of the other builds: what the builds
    /// share lies at the same places in all of them. `Err` says why not, and `None` that nobody
    /// asked for it or there is no other build.
    pub matched: Option<Result<(), String>>,
    /// True if they are matched and every process is loaded at an address of its own all the same,
    /// because the system does not let that be fixed.
    pub random_addresses: bool,
}

impl NeutralLinks {
    /// Returns true if they are matched to those of the other builds.
    pub fn is_matched(&self) -> bool {
        matches!(self.matched, Some(Ok(())))
    }
}

/// One neutral link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeutralLink {
    /// The seed its function sections were shuffled by.
    pub seed: u32,
    /// The beginning of the SHA-256 of the executable, in hexadecimal.
    pub hash: String,
    /// True if what the builds that are raced share lies where it does in the links that the others
    /// have.
    pub matched: bool,
}

/// Where the code of one contender lay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Where the user's own link put it.
    Own,
    /// Where a neutral link put it.
    Neutral(NeutralLink),
}

/// A neutral link that could not be raced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLink {
    /// The seed its function sections were shuffled by.
    pub seed: u32,
    /// The error, and how to see it again.
    pub reason: String,
}

/// Where the code lay in one replicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the benchmark in the plan.
    pub benchmark: usize,
    /// The replicate, counted from 0.
    pub replicate: u32,
    /// One entry per contender. Contenders of one executable share a link.
    pub contenders: Vec<Placing>,
    /// Links that were drawn for this replicate before, and came to nothing.
    pub refused: Vec<RefusedLink>,
    /// The reason why somebody runs as linked by the user although neutral links had been possible
    /// when the race began.
    pub fallen_back: Option<String>,
}

impl Placed {
    /// Returns true if the placement of these two contenders was drawn.
    pub fn is_drawn(&self, baseline: usize, candidate: usize) -> bool {
        [baseline, candidate]
            .iter()
            .all(|index| matches!(self.contenders.get(*index), Some(Placing::Neutral(_))))
    }

    /// Returns true if these two are builds whose links were matched.
    pub fn is_matched(&self, baseline: usize, candidate: usize) -> bool {
        [baseline, candidate].iter().all(|index| {
            matches!(self.contenders.get(*index), Some(Placing::Neutral(link)) if link.matched)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_is_drawn_when_it_is_for_both() {
        let neutral = Placing::Neutral(NeutralLink {
            seed: 3,
            hash: "00ff".to_owned(),
            matched: true,
        });
        let placed = |contenders| Placed {
            benchmark: 0,
            replicate: 0,
            contenders,
            refused: vec![],
            fallen_back: None,
        };
        let both = placed(vec![neutral.clone(), neutral.clone(), Placing::Own]);
        assert!(both.is_drawn(0, 1));
        assert!(both.is_matched(0, 1) && !both.is_matched(0, 2));
        assert!(!both.is_drawn(0, 2), "a candidate in its own place");
        assert!(!both.is_drawn(0, 3), "a candidate nobody knows");
        assert!(!placed(vec![Placing::Own, neutral]).is_drawn(0, 1));
    }
}
