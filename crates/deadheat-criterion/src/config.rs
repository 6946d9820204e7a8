//! The manager of benchmarks, hardly any of whose settings mean something to a race.

use std::path::Path;
use std::time::Duration;

use crate::bencher::Bencher;
use crate::group::{BenchmarkGroup, BenchmarkId};
use crate::measure::{Measurement, Profiler, WallTime};
use crate::session;
use crate::settings::{BenchmarkFilter, PlottingBackend};

/// The manager of benchmarks.
#[derive(Clone, Debug)]
pub struct Criterion<M: Measurement = WallTime> {
    measurement: M,
}

impl Default for Criterion {
    fn default() -> Self {
        session::begin();
        Self {
            measurement: WallTime,
        }
    }
}

/// Settings that are accepted and remembered as ones without a meaning.
macro_rules! without_meaning {
    ($($(#[$doc:meta])* $name:ident($($value:ident: $type:ty),*);)+) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(self, $($value: $type),*) -> Self {
                $(let _ = $value;)*
                session::without_meaning(stringify!($name));
                self
            }
        )+
    };
}

impl<M: Measurement> Criterion<M> {
    without_meaning! {
        /// Means nothing here.
        plotting_backend(backend: PlottingBackend);
        /// Means nothing here: a pilot finds how much is measured.
        sample_size(samples: usize);
        /// Means nothing here: a warm-up ends when calls get no faster.
        warm_up_time(time: Duration);
        /// Means nothing here: `--budget` and `--max-replicates` say how long a race may take.
        measurement_time(time: Duration);
        /// Means nothing here: no interval is bootstrapped.
        nresamples(resamples: usize);
        /// Means nothing here: `--margin` is the smallest change worth acting on.
        noise_threshold(threshold: f64);
        /// Means nothing here: `--alpha` is the level.
        confidence_level(level: f64);
        /// Means nothing here: `--alpha` is the level.
        significance_level(level: f64);
        /// Means nothing here.
        with_plots();
        /// Means nothing here.
        without_plots();
        /// Means nothing here: builds race each other, and no saved times.
        save_baseline(baseline: String);
        /// Means nothing here: builds race each other, and no saved times.
        retain_baseline(baseline: String, strict: bool);
        /// Means nothing here: a command line selects benchmarks.
        with_benchmark_filter(filter: BenchmarkFilter);
        /// Means nothing here: `--color` says it.
        with_output_color(enabled: bool);
        /// Means nothing here.
        output_directory(path: &Path);
        /// Means nothing here.
        profile_time(time: Option<Duration>);
    }

    /// Means nothing here: a command line selects benchmarks.
    #[must_use]
    pub fn with_filter<S: Into<String>>(self, _filter: S) -> Self {
        session::without_meaning("with_filter");
        self
    }

    /// Takes another measurement in its types; what is measured is wall time all the same.
    pub fn with_measurement<N: Measurement>(self, measurement: N) -> Criterion<N> {
        if !measurement.is_wall_time() {
            session::without_meaning("with_measurement");
        }
        Criterion { measurement }
    }

    /// Means nothing here.
    #[must_use]
    pub fn with_profiler<P: Profiler + 'static>(self, _profiler: P) -> Self {
        session::without_meaning("with_profiler");
        self
    }

    /// The command line is read when all benchmarks are known.
    #[must_use]
    pub fn configure_from_args(self) -> Self {
        self
    }

    /// Ends a `main` of one's own: here the benchmarks race. Under `criterion_main!` it does
    /// nothing.
    pub fn final_summary(&self) {
        session::end_of_main();
    }

    /// A group of benchmarks of this name.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty.
    pub fn benchmark_group<S: Into<String>>(&mut self, group_name: S) -> BenchmarkGroup<'_, M> {
        BenchmarkGroup::new(&self.measurement, group_name.into())
    }

    /// A benchmark of this name, in no group.
    pub fn bench_function<F>(&mut self, id: &str, f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>),
    {
        let mut group = self.benchmark_group(id);
        group.bench_function(BenchmarkId::of_the_group(), f);
        drop(group);
        self
    }

    /// A benchmark with an input, in no group.
    ///
    /// # Panics
    ///
    /// Panics if `id` has no function.
    pub fn bench_with_input<F, I>(&mut self, id: BenchmarkId, input: &I, f: F) -> &mut Self
    where
        I: ?Sized,
        F: FnMut(&mut Bencher<'_, M>, &I),
    {
        let (group, id) = id.split();
        let group = group.expect("a benchmark outside of a group has a function");
        self.benchmark_group(group).bench_with_input(id, input, f);
        self
    }
}
