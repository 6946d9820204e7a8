//! The types `Criterion` and `BenchmarkGroup`, with which a bench target registers benchmarks. Most
//! of their settings have no effect in deadheat.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use crate::bencher::Bencher;
use crate::planned::Listed;
use crate::session;
use crate::settings::{
    BenchmarkFilter, Measurement, PlotConfiguration, PlottingBackend, Profiler, SamplingMode,
    Throughput, WallTime,
};

/// The entry point of criterion's API, with which a bench target registers its benchmarks and
/// groups.
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

/// Defines setters without effect. The session records the name of each setter that is called, for
/// a message on standard error.
macro_rules! without_meaning {
    (#[$of_all:meta] $receiver:ty;
     $($(#[$doc:meta])* $name:ident($($value:ident: $type:ty),*);)+) => {
        $(
            $(#[$doc])*
            #[$of_all]
            pub fn $name(self: $receiver, $($value: $type),*) -> $receiver {
                $(let _ = $value;)*
                session::without_meaning(stringify!($name));
                self
            }
        )+
    };
}

impl<M: Measurement> Criterion<M> {
    without_meaning! {
        #[must_use] Self;
        /// Has no effect: deadheat does not draw criterion's plots.
        plotting_backend(backend: PlottingBackend);
        /// Has no effect: a calibration run chooses the iterations per sample.
        sample_size(samples: usize);
        /// Has no effect: a warm-up ends when calls no longer get faster.
        warm_up_time(time: Duration);
        /// Has no effect: `--budget` and `--max-replicates` limit the length of a race.
        measurement_time(time: Duration);
        /// Has no effect: deadheat computes its intervals without bootstrap resampling.
        nresamples(resamples: usize);
        /// Has no effect: `--margin` sets the smallest change worth acting on.
        noise_threshold(threshold: f64);
        /// Has no effect: `--alpha` sets the confidence level, 1 − α.
        confidence_level(level: f64);
        /// Has no effect: `--alpha` sets the accepted probability of a wrong verdict.
        significance_level(level: f64);
        /// Has no effect: deadheat does not draw criterion's plots.
        with_plots();
        /// Has no effect: deadheat does not draw criterion's plots.
        without_plots();
        /// Has no effect: deadheat races two builds and does not compare with saved times.
        save_baseline(baseline: String);
        /// Has no effect: deadheat races two builds and does not compare with saved times.
        retain_baseline(baseline: String, strict: bool);
        /// Has no effect: the command line selects the benchmarks.
        with_benchmark_filter(filter: BenchmarkFilter);
        /// Has no effect: `--color` chooses when output is coloured.
        with_output_color(enabled: bool);
        /// Has no effect: deadheat does not write criterion's files.
        output_directory(path: &Path);
        /// Has no effect: deadheat never starts a profiler.
        profile_time(time: Option<Duration>);
    }

    /// Has no effect: the command line selects the benchmarks.
    #[must_use]
    pub fn with_filter<S: Into<String>>(self, _filter: S) -> Self {
        session::without_meaning("with_filter");
        self
    }

    /// Accepts a measurement of any type, but deadheat still measures wall time.
    pub fn with_measurement<N: Measurement>(self, measurement: N) -> Criterion<N> {
        if !measurement.is_wall_time() {
            session::without_meaning("with_measurement");
        }
        Criterion { measurement }
    }

    /// Has no effect: deadheat never starts a profiler.
    #[must_use]
    pub fn with_profiler<P: Profiler + 'static>(self, _profiler: P) -> Self {
        session::without_meaning("with_profiler");
        self
    }

    /// Has no effect: deadheat reads the command line after all benchmarks are registered.
    #[must_use]
    pub fn configure_from_args(self) -> Self {
        self
    }

    /// Runs the registered benchmarks as the command line asks. Call this function at the end of a
    /// `main` without `criterion_main!`; with that macro, it has no effect.
    pub fn final_summary(&self) {
        session::end_of_main();
    }

    /// Creates a group of benchmarks with this name.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty.
    pub fn benchmark_group<S: Into<String>>(&mut self, group_name: S) -> BenchmarkGroup<'_, M> {
        BenchmarkGroup::new(&self.measurement, group_name.into())
    }

    /// Adds a benchmark named `id`, outside of any group.
    pub fn bench_function<F>(&mut self, id: &str, f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>),
    {
        let mut group = self.benchmark_group(id);
        group.bench_function(BenchmarkId::of_the_group(), f);
        drop(group);
        self
    }

    /// Adds a benchmark with an input, outside of any group.
    ///
    /// # Panics
    ///
    /// Panics if `id` has no function name.
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

/// A group of benchmarks, whose names all begin with the name of the group.
pub struct BenchmarkGroup<'a, M: Measurement = WallTime> {
    measurement: &'a M,
    name: String,
    throughput: Option<Throughput>,
}

impl<'a, M: Measurement> BenchmarkGroup<'a, M> {
    pub(crate) fn new(measurement: &'a M, name: String) -> Self {
        assert!(
            !name.is_empty(),
            "the name of a group of benchmarks must not be empty"
        );
        Self {
            measurement,
            name,
            throughput: None,
        }
    }

    without_meaning! {
        #[doc = "Has no effect in deadheat."] &mut Self;
        sample_size(samples: usize);
        warm_up_time(time: Duration);
        measurement_time(time: Duration);
        nresamples(resamples: usize);
        noise_threshold(threshold: f64);
        confidence_level(level: f64);
        significance_level(level: f64);
        plot_config(plots: PlotConfiguration);
        sampling_mode(mode: SamplingMode);
    }

    /// Sets the work per call of the benchmarks added after this call. Reports then show rates next
    /// to times.
    pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
        self.throughput = Some(throughput);
        self
    }

    /// Adds a benchmark to this group.
    pub fn bench_function<ID: IntoBenchmarkId, F>(&mut self, id: ID, f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>),
    {
        self.bench(id.into_benchmark_id(), f);
        self
    }

    /// Adds a benchmark with an input to this group.
    pub fn bench_with_input<ID: IntoBenchmarkId, F, I>(
        &mut self,
        id: ID,
        input: &I,
        mut f: F,
    ) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>, &I),
        I: ?Sized,
    {
        self.bench(id.into_benchmark_id(), |bencher| f(bencher, input));
        self
    }

    /// Lists the benchmark, skips it, or serves its samples to the coordinator. Samples are served
    /// within this call, because the data that `f` borrows may not live longer.
    fn bench(&mut self, id: BenchmarkId, mut f: impl FnMut(&mut Bencher<'_, M>)) {
        let listed = Listed {
            name: id.within(&self.name),
            group: self.name.clone(),
            throughput: self.throughput.as_ref().map(Into::into),
            function: id.function,
            parameter: id.parameter,
        };
        if session::come_to(listed) {
            f(&mut Bencher {
                measurement: self.measurement,
            });
            assert!(
                !session::is_unserved(),
                "the benchmark never calls Bencher::iter or a variant of it"
            );
        }
    }

    /// Has no effect: a group needs no final step in deadheat.
    pub fn finish(self) {}
}

/// The name of a benchmark within its group: a function, a parameter, or both.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct BenchmarkId {
    function: Option<String>,
    parameter: Option<String>,
}

impl BenchmarkId {
    /// Returns the id of a function with a parameter value.
    pub fn new<S: Into<String>, P: Display>(function_name: S, parameter: P) -> Self {
        Self {
            function: Some(function_name.into()),
            parameter: Some(parameter.to_string()),
        }
    }

    /// Returns the id of a parameter value, for a group with only one function.
    pub fn from_parameter<P: Display>(parameter: P) -> Self {
        Self {
            function: None,
            parameter: Some(parameter.to_string()),
        }
    }

    /// Returns the empty id, for a group with only one benchmark.
    pub(crate) fn of_the_group() -> Self {
        Self {
            function: None,
            parameter: None,
        }
    }

    /// Returns the name of the function, and the id without this name.
    pub(crate) fn split(self) -> (Option<String>, Self) {
        let rest = Self {
            function: None,
            parameter: self.parameter,
        };
        (self.function, rest)
    }

    /// Returns the full name of the benchmark as `group/function/parameter`, without the missing
    /// parts.
    fn within(&self, group: &str) -> String {
        let parts = [
            Some(group),
            self.function.as_deref(),
            self.parameter.as_deref(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("/")
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::BenchmarkId {}
    impl<S: Into<String>> Sealed for S {}
}

/// Conversion into a [`BenchmarkId`], from an id or a string.
pub trait IntoBenchmarkId: sealed::Sealed {
    /// Returns the id of the benchmark; a string becomes the function name.
    fn into_benchmark_id(self) -> BenchmarkId;
}

impl IntoBenchmarkId for BenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId {
        self
    }
}

impl<S: Into<String>> IntoBenchmarkId for S {
    fn into_benchmark_id(self) -> BenchmarkId {
        let function = self.into();
        assert!(
            !function.is_empty(),
            "the name of a benchmark must not be empty"
        );
        BenchmarkId {
            function: Some(function),
            parameter: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_group_function_and_parameter_as_far_as_there_are_any() {
        for (id, name) in [
            (BenchmarkId::new("f", 3), "g/f/3"),
            (BenchmarkId::from_parameter("1 KB"), "g/1 KB"),
            ("f".into_benchmark_id(), "g/f"),
            (String::from("a/b").into_benchmark_id(), "g/a/b"),
            (BenchmarkId::of_the_group(), "g"),
        ] {
            assert_eq!(id.within("g"), name);
        }
    }
}
