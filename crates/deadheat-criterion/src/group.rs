//! Groups of benchmarks and the names in them.

use std::fmt::Display;
use std::time::Duration;

use crate::bencher::Bencher;
use crate::measure::{Measurement, WallTime};
use crate::planned::Listed;
use crate::session;
use crate::settings::{PlotConfiguration, SamplingMode, Throughput};

/// A group of benchmarks.
pub struct BenchmarkGroup<'a, M: Measurement = WallTime> {
    measurement: &'a M,
    name: String,
    throughput: Option<Throughput>,
}

/// Settings that are accepted and remembered as ones without a meaning.
macro_rules! without_meaning {
    ($($name:ident($type:ty);)+) => {
        $(
            /// Means nothing here.
            pub fn $name(&mut self, _: $type) -> &mut Self {
                session::without_meaning(stringify!($name));
                self
            }
        )+
    };
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
        sample_size(usize);
        warm_up_time(Duration);
        measurement_time(Duration);
        nresamples(usize);
        noise_threshold(f64);
        confidence_level(f64);
        significance_level(f64);
        plot_config(PlotConfiguration);
        sampling_mode(SamplingMode);
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
                "the benchmark never calls Bencher::iter or one of its like"
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
    /// A function at a parameter.
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
