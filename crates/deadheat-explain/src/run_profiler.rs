//! The profiler for both sides.

use deadheat::parts::engine::{Interrupts, Valgrind};

use crate::command::Profiler;
use crate::profile::ProfileUnit;
use crate::run_error::{ProfileError, Under};
use crate::run_perf::Perf;

pub(crate) enum FoundProfiler {
    Callgrind(Valgrind),
    Perf(Perf),
}

impl FoundProfiler {
    pub(crate) fn find(by: Profiler, interrupts: &Interrupts) -> Result<Self, ProfileError> {
        let callgrind = || Ok(Self::Callgrind(Valgrind::find(interrupts)?));
        match by {
            Profiler::Callgrind => callgrind(),
            Profiler::Perf => Perf::find(interrupts).map(Self::Perf),
            Profiler::Auto if Perf::counts_instructions() => match Perf::find(interrupts) {
                Err(ProfileError::NoPerf) => callgrind(),
                found => found.map(Self::Perf),
            },
            Profiler::Auto => callgrind(),
        }
    }

    pub(crate) fn version(&self) -> &str {
        match self {
            Self::Callgrind(valgrind) => valgrind.version(),
            Self::Perf(perf) => perf.version(),
        }
    }

    pub(crate) fn under(&self) -> Under {
        match self {
            Self::Callgrind(_) => Under::Valgrind,
            Self::Perf(_) => Under::Perf,
        }
    }

    pub(crate) fn unit(&self) -> ProfileUnit {
        match self {
            Self::Callgrind(_) => ProfileUnit::Instructions,
            Self::Perf(perf) if perf.is_by_instructions() => ProfileUnit::InstructionSamples,
            Self::Perf(_) => ProfileUnit::TimeSamples,
        }
    }
}
