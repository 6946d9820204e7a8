//! The manager of benchmarks, hardly any of whose settings mean something to a race, and its groups
//! with the names in them.

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

/// A group of benchmarks.
pub struct BenchmarkGroup<'a, M: Measurement = WallTime> {
    measurement: &'a M,
    name: String,
    throughput: Option<Throughput>,
}

impl<'a, M: Measurement> BenchmarkGroup<'a, M> {
    pub(crate) fn new(measurement: &'a M, name: String) -> Self {
        assert!(!name.is_empty(), "a group of benchmarks has a name");
        Self {
            measurement,
            name,
            throughput: None,
        }
    }

    without_meaning! {
        #[doc = "Means nothing here."] &mut Self;
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

    /// The work that one call of the benchmarks that follow does: rates are shown beside times.
    pub fn throughput(&mut self, throughput: Throughput) -> &mut Self {
        self.throughput = Some(throughput);
        self
    }

    /// A benchmark of this group.
    pub fn bench_function<ID: IntoBenchmarkId, F>(&mut self, id: ID, f: F) -> &mut Self
    where
        F: FnMut(&mut Bencher<'_, M>),
    {
        self.bench(id.into_benchmark_id(), f);
        self
    }

    /// A benchmark of this group, with an input.
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

    /// Lists the benchmark, passes it over, or serves it here and now, while what `f` borrows
    /// lives.
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

    /// Ends the group.
    pub fn finish(self) {}
}

/// The name of a benchmark in its group.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct BenchmarkId {
    function: Option<String>,
    parameter: Option<String>,
}

impl BenchmarkId {
    /// The id of a function that is benchmarked with this parameter.
    pub fn new<S: Into<String>, P: Display>(function_name: S, parameter: P) -> Self {
        Self {
            function: Some(function_name.into()),
            parameter: Some(parameter.to_string()),
        }
    }

    /// The function that the whole group is about, at a parameter.
    pub fn from_parameter<P: Display>(parameter: P) -> Self {
        Self {
            function: None,
            parameter: Some(parameter.to_string()),
        }
    }

    /// The only benchmark of a group.
    pub(crate) fn of_the_group() -> Self {
        Self {
            function: None,
            parameter: None,
        }
    }

    /// The function, and what is left.
    pub(crate) fn split(self) -> (Option<String>, Self) {
        let rest = Self {
            function: None,
            parameter: self.parameter,
        };
        (self.function, rest)
    }

    /// The whole name, as criterion writes it.
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

/// Whatever names a benchmark in its group: an id, or a text.
pub trait IntoBenchmarkId: sealed::Sealed {
    /// The id.
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
        assert!(!function.is_empty(), "a benchmark has a name");
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
