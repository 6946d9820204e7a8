//! What is the same for both sides and under every profiler: inputs, calls, and the reading of what was
//! written.

use deadheat_engine::{Dump, ProfileError};
use deadheat_format::{FormatError, read_callgrind, read_perf_script};
use deadheat_model::Profile;

use crate::exit::Failure;

/// The seed of the input: the same on both sides.
pub(super) const SEED: u64 = 1;
/// Calls in a sample at most: where each call has an input of its own, all of them are made first.
pub(super) const MOST_CALLS: u64 = 1 << 12;

/// The reason why a pair was not counted.
pub(super) enum NotCounted {
    Profile(ProfileError),
    Data(Failure),
}

impl From<ProfileError> for NotCounted {
    fn from(error: ProfileError) -> Self {
        Self::Profile(error)
    }
}

/// The iterations that a benchmark of Google Benchmark asks for itself, as its name says.
pub(super) fn own_iterations(benchmark: &str) -> Option<u64> {
    let mut parts = benchmark.split('/').skip(1);
    parts.find_map(|part| part.strip_prefix("iterations:")?.parse().ok())
}

/// What `count` makes of either side.
pub(super) fn both<T>(
    [old, new]: [T; 2],
    mut count: impl FnMut(T) -> Result<Profile, NotCounted>,
) -> Result<[Profile; 2], NotCounted> {
    Ok([count(old)?, count(new)?])
}

/// All that callgrind wrote, added up.
pub(super) fn profile(dumps: &[Dump]) -> Result<Profile, NotCounted> {
    read_all(dumps, read_callgrind)
}

/// All samples that perf printed, added up.
pub(super) fn sampled(dumps: &[Dump]) -> Result<Profile, NotCounted> {
    read_all(dumps, read_perf_script)
}

fn read_all(
    dumps: &[Dump],
    read: fn(&str, &str) -> Result<Profile, FormatError>,
) -> Result<Profile, NotCounted> {
    let mut whole = Profile::default();
    for dump in dumps {
        let read = read(&dump.name, &dump.text);
        whole.add(&read.map_err(|error| NotCounted::Data(Failure::reading(error)))?);
    }
    Ok(whole)
}
