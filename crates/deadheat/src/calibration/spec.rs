//! What a calibration is asked for.

use std::path::PathBuf;

use deadheat_model::{RaceSettings, ShareRange};

use super::effort::Effort;
use super::work::Work;
use crate::exit::Failure;

/// A calibration as asked for.
#[derive(Clone, Debug)]
pub struct CalibrationSpec {
    /// The executable that races: started with `role` and words behind it, it
    /// must come to [`do_work`](super::do_work).
    pub program: PathBuf,
    /// The word that makes it a contender.
    pub role: &'static str,
    /// The work: so many rounds, each of which takes as long as the others.
    pub work: Work,
    /// How much is raced.
    pub effort: Effort,
    /// Whether that is less than usual.
    pub quick: bool,
    /// How everything is raced and judged; each kind of race has a pinning of its own where they
    /// name none. The budget is that of the effort.
    pub settings: RaceSettings,
}

impl CalibrationSpec {
    /// Refuses what no race would accept, before the first one starts.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let wrong = |flag: &str, value: f64, range: &str| {
            Err(Failure::Usage(format!(
                "{flag} must be {range}, not {value}"
            )))
        };
        let (margin, alpha) = (self.settings.margin(), self.settings.alpha());
        if !ShareRange::MARGIN.holds(margin) {
            return wrong("--margin", margin, ShareRange::MARGIN.words);
        }
        if !ShareRange::ALPHA.holds(alpha) {
            return wrong("--alpha", alpha, ShareRange::ALPHA.words);
        }
        Ok(())
    }

    /// The seed of one batch: neighbours must not share their coins, so the
    /// numbers are mixed (SplitMix64). Small enough for any reader of JSON.
    pub(super) fn seed_of(&self, batch: u64) -> u64 {
        let mut mixed = self
            .settings
            .seed()
            .wrapping_add(batch.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) >> 32
    }
}
