//! Benchmarks written for criterion, raced by deadheat without changes to their source code.
//!
//! ```toml
//! [dev-dependencies]
//! criterion = { package = "deadheat-criterion", version = "0.1" }
//! ```
//!
//! A worker process runs each benchmark. So two builds race function by function, and take turns
//! every fraction of a millisecond: `cargo deadheat main`, or `deadheat bench OLD NEW`. `cargo
//! bench` alone shows the times of each benchmark; with `-- --group-races`, it races the functions
//! of a group against each other. `docs/criterion.md` is the manual.
//!
//! The API has the names and signatures of criterion 0.5 to 0.8, whose documentation applies.
//! Sample sizes, measurement times, plots and similar settings have no effect; deadheat names them
//! once on standard error.

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

/// criterion's traits for measurements. deadheat always measures wall time and its other metrics.
pub mod measurement {
    pub use crate::settings::{Measurement, ValueFormatter, WallTime};
}

/// criterion's profilers, which deadheat accepts and never starts.
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

/// Defines a function that runs the listed benchmark functions, like criterion's macro
/// `criterion_group!`.
#[macro_export]
macro_rules! criterion_group {
    (name = $name:ident; config = $config:expr; targets = $($target:path),+ $(,)*) => {
        /// Runs the benchmark functions of this group.
        pub fn $name() {
            let mut criterion: $crate::Criterion<_> = $config.configure_from_args();
            $(
                // A worker that has served its benchmark skips the remaining functions.
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

/// Defines a `main` that runs these groups, like criterion's macro `criterion_main!`.
#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)*) => {
        fn main() {
            $crate::__run(&[$(&|| { $group(); }),+]);
        }
    };
}
