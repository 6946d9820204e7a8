//! Counts, the shares they speak for, and what was promised of them.

use crate::verdict::Verdict;

/// So many of so many, and which true shares that speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// How many.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
    /// Lower exact 95 % bound; 0 of none.
    pub low: f64,
    /// Upper exact 95 % bound; 1 of none.
    pub high: f64,
}

/// Whether a share keeps what is promised of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Both bounds do.
    Kept,
    /// The promised share lies between the bounds: too few were raced to tell.
    Open,
    /// Neither bound does.
    Broken,
}

impl Promise {
    /// All of them, the best first.
    pub const ALL: [Promise; 3] = [Promise::Kept, Promise::Open, Promise::Broken];

    /// The name used in files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Kept => "kept",
            Promise::Open => "open",
            Promise::Broken => "broken",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl Share {
    /// The share seen; `None` of none.
    pub fn seen(&self) -> Option<f64> {
        (self.of > 0).then(|| self.hits as f64 / self.of as f64)
    }

    /// Whether the true share is at most this one.
    pub fn at_most(&self, promised: f64) -> Promise {
        match (self.low > promised, self.high <= promised) {
            (true, _) => Promise::Broken,
            (_, true) => Promise::Kept,
            _ => Promise::Open,
        }
    }

    /// Whether the true share is at least this one.
    pub fn at_least(&self, promised: f64) -> Promise {
        match (self.high < promised, self.low >= promised) {
            (true, _) => Promise::Broken,
            (_, true) => Promise::Kept,
            _ => Promise::Open,
        }
    }
}

/// How races ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Called faster.
    pub faster: u64,
    /// Called slower.
    pub slower: u64,
    /// Dead heats.
    pub equivalent: u64,
    /// Too close to call.
    pub inconclusive: u64,
}

impl Tally {
    /// One more.
    pub fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Faster => &mut self.faster,
            Verdict::Slower => &mut self.slower,
            Verdict::Equivalent => &mut self.equivalent,
            Verdict::Inconclusive => &mut self.inconclusive,
        } += 1;
    }

    /// Those called faster or slower.
    pub fn called(&self) -> u64 {
        self.faster + self.slower
    }

    /// All of them.
    pub fn races(&self) -> u64 {
        self.called() + self.equivalent + self.inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_keeps_its_promise_when_both_bounds_do() {
        let share = |low, high| Share {
            hits: 1,
            of: 10,
            low,
            high,
        };
        assert_eq!(share(0.0, 0.04).at_most(0.05), Promise::Kept);
        assert_eq!(share(0.0, 0.3).at_most(0.05), Promise::Open);
        assert_eq!(share(0.06, 0.3).at_most(0.05), Promise::Broken);
        assert_eq!(share(0.96, 1.0).at_least(0.95), Promise::Kept);
        assert_eq!(share(0.8, 1.0).at_least(0.95), Promise::Open);
        assert_eq!(share(0.5, 0.9).at_least(0.95), Promise::Broken);
        assert_eq!(Share::default().seen(), None);
    }

    #[test]
    fn names_lead_back_to_promises() {
        for promise in Promise::ALL {
            assert_eq!(Promise::from_name(promise.name()), Some(promise));
        }
        assert_eq!(Promise::from_name("vow"), None);
    }
}
