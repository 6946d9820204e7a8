//! Benchmarks written for criterion, raced by deadheat without a line of them changed.
//!
//! ```toml
//! [dev-dependencies]
//! criterion = { package = "deadheat-criterion", version = "0.1" }
//! ```
//!
//! Every benchmark of criterion's becomes one that a worker process serves, so that two builds race
//! function by function, in turns of a fraction of a millisecond: `cargo deadheat main`, or
//! `deadheat bench OLD NEW`. `cargo bench` alone shows the figures of each, or with
//! `-- --group-races` races the functions of a group against each other. `docs/criterion.md` is the
//! manual.
//!
//! Everything here has the names and signatures of criterion 0.5 to 0.8, whose documentation applies.
//! Settings without a meaning in a race (sample sizes, measurement times, plots) have no effect, and
//! are named once on standard error.

#[cfg(feature = "async")]
mod asynchronous;
mod bencher;
mod command_line;
mod criterion;
mod planned;
mod serving;
mod session;
mod settings;

#[cfg(feature = "async")]
pub use asynchronous::AsyncBencher;
pub use bencher::Bencher;
pub use criterion::{BenchmarkGroup, BenchmarkId, Criterion, IntoBenchmarkId};
pub use serving::BatchSize;
pub use settings::{
    AxisScale, Baseline, BenchmarkFilter, PlotConfiguration, PlottingBackend, SamplingMode,
    Throughput,
};
pub use std::hint::black_box;

/// The measurements of benchmarks; here always wall time, and the other metrics of deadheat beside it.
pub mod measurement {
    pub use crate::settings::{Measurement, ValueFormatter, WallTime};
}

/// Profilers, which are accepted and not started.
pub mod profiler {
    pub use crate::settings::{ExternalProfiler, Profiler};
}

/// Executors of asynchronous benchmarks.
#[cfg(feature = "async")]
pub mod async_executor {
    pub use crate::asynchronous::AsyncExecutor;
    #[cfg(feature = "async_std")]
    pub use crate::asynchronous::AsyncStdExecutor;
    #[cfg(feature = "async_futures")]
    pub use crate::asynchronous::FuturesExecutor;
    #[cfg(feature = "async_smol")]
    pub use crate::asynchronous::SmolExecutor;
}

#[doc(hidden)]
pub use session::{is_over as __is_over, run as __run};

/// Defines a function that runs the listed benchmark functions, like criterion's macro of this name.
#[macro_export]
macro_rules! criterion_group {
    (name = $name:ident; config = $config:expr; targets = $($target:path),+ $(,)*) => {
        /// Runs these benchmark functions.
        pub fn $name() {
            let mut criterion: $crate::Criterion<_> = $config.configure_from_args();
            $(
                // What a worker was asked for may have been served before.
                if !$crate::__is_over() {
                    $target(&mut criterion);
                }
            )+
        }
    };
    ($name:ident, $($target:path),+ $(,)*) => {
        $crate::criterion_group! {
            name = $name;
            config = $crate::Criterion::default();
            targets = $($target),+
        }
    };
}

/// Makes a `main` of these groups, as criterion does.
#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)*) => {
        fn main() {
            $crate::__run(&[$(&|| { $group(); }),+]);
        }
    };
}
