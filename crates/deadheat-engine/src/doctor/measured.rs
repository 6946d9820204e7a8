//! All numbers of a checkup.

use deadheat_model::doctor::NotMeasured;

use super::random_reads::PageReads;
use super::watch::Watched;
use super::work::Evenness;

/// Everything that was measured; what could not be is `None` or says why.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// The core all the rest was measured on, as it was watched.
    pub(super) watched: Watched,
    pub(super) clock_resolution_ns: f64,
    pub(super) clock_cost_ns: f64,
    pub(super) system_clock_cost_ns: f64,
    pub(super) evenness: Option<Evenness>,
    /// Change of the time of a piece of work while others are busy.
    pub(super) sibling: Result<f64, NotMeasured>,
    pub(super) other: Result<f64, NotMeasured>,
    pub(super) pages: Result<PageReads, NotMeasured>,
    /// Over all of the checkup.
    pub(super) swapped_pages: Option<u64>,
    pub(super) throttle_events: Option<u64>,
    pub(super) quota_throttled: Option<f64>,
}
