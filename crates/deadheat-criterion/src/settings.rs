//! Settings, measurements and profilers with criterion's names. Most are accepted and ignored.
//! deadheat always measures wall time, whatever `Measurement` the benchmark uses.

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat::parts::model;

/// The amount of work of one call, from which reports compute rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// A number of bits. Reports show the rate as items per second.
    Bits(u64),
    /// Bytes.
    Bytes(u64),
    /// A number of bytes. Reports show the same units as for `Bytes`.
    BytesDecimal(u64),
    /// Elements.
    Elements(u64),
    /// A number of elements, and their total size. Reports show only the elements per second.
    ElementsAndBytes {
        /// The number of elements.
        elements: u64,
        /// The total size of the elements in bytes; not shown.
        bytes: u64,
    },
}

impl From<&Throughput> for model::Throughput {
    fn from(throughput: &Throughput) -> Self {
        match *throughput {
            Throughput::Bytes(bytes) | Throughput::BytesDecimal(bytes) => Self::Bytes(bytes),
            Throughput::Bits(items)
            | Throughput::Elements(items)
            | Throughput::ElementsAndBytes {
                elements: items, ..
            } => Self::Items(items),
        }
    }
}

/// criterion's choice of a plotting tool; ignored, because deadheat does not draw criterion's
/// plots.
#[derive(Clone, Copy, Debug)]
pub enum PlottingBackend {
    /// Plots by the program gnuplot; ignored.
    Gnuplot,
    /// Plots by the crate plotters; ignored.
    Plotters,
    /// No plots.
    None,
}

/// criterion's use of saved times; ignored, because deadheat races two builds instead.
#[derive(Clone, Copy, Debug)]
pub enum Baseline {
    /// Compare with saved times, if they exist; ignored.
    CompareLenient,
    /// Compare with saved times, and fail if they are missing; ignored.
    CompareStrict,
    /// Save the times of this run; ignored.
    Save,
    /// Discard the times of this run; ignored.
    Discard,
}

/// criterion's selection of benchmarks in the source code; ignored, because the command line
/// selects the benchmarks.
#[derive(Clone, Debug)]
pub enum BenchmarkFilter {
    /// All benchmarks.
    AcceptAll,
    /// The benchmark with this name.
    Exact(String),
    /// No benchmarks.
    RejectAll,
}

/// The scale of an axis in criterion's plots; ignored, because deadheat does not draw them.
#[derive(Clone, Copy, Debug, Default)]
pub enum AxisScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// Settings of criterion's plots; ignored, because deadheat does not draw them.
#[derive(Clone, Debug, Default)]
pub struct PlotConfiguration {
    _private: (),
}

impl PlotConfiguration {
    /// Has no effect: deadheat does not draw criterion's plots.
    #[must_use]
    pub fn summary_scale(self, _scale: AxisScale) -> Self {
        self
    }
}

/// criterion's choice of the number of calls per sample; ignored, because a calibration run chooses
/// this number.
#[derive(Clone, Copy, Debug, Default)]
pub enum SamplingMode {
    /// `Linear` or `Flat`, as criterion chooses; ignored.
    #[default]
    Auto,
    /// A number of calls that grows from sample to sample; ignored.
    Linear,
    /// The same number of calls in every sample; ignored.
    Flat,
}

/// criterion's trait for measurements. deadheat reads its own clock, and uses this trait only to
/// convert the values that the functions of `iter_custom` return.
pub trait Measurement {
    /// The state between `start` and `end`, such as the start time.
    type Intermediate;
    /// The measured value, such as a duration.
    type Value;

    /// Begins a measurement.
    fn start(&self) -> Self::Intermediate;
    /// Ends the measurement that `start` began and returns its value.
    fn end(&self, begun: Self::Intermediate) -> Self::Value;
    /// Returns the sum of two values.
    fn add(&self, one: &Self::Value, other: &Self::Value) -> Self::Value;
    /// Returns the zero value, which is the neutral element of `add`.
    fn zero(&self) -> Self::Value;
    /// Converts a value to a number.
    fn to_f64(&self, value: &Self::Value) -> f64;
    /// Returns the formatter of values.
    fn formatter(&self) -> &dyn ValueFormatter;

    /// Returns true if this measurement is of wall time, so that `to_f64` returns nanoseconds.
    #[doc(hidden)]
    fn is_wall_time(&self) -> bool {
        false
    }
}

/// criterion's trait for formatting values, which deadheat accepts and never calls.
pub trait ValueFormatter {
    /// Formats a value with its unit.
    fn format_value(&self, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_values(value, &mut values);
        format!("{} {unit}", values[0])
    }

    /// Formats the rate at which a call that takes `value` does the work `throughput`.
    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_throughputs(value, throughput, &mut values);
        format!("{} {unit}", values[0])
    }

    /// Scales values to a unit that suits the value `typical`, and returns the name of the unit.
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str;

    /// Converts times into rates, and returns the name of their unit.
    fn scale_throughputs(
        &self,
        typical: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str;

    /// Scales values to a fixed unit for machine-readable output, and returns the name of the unit.
    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str;
}

/// Wall time, the only measurement that deadheat takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallTime;

impl Measurement for WallTime {
    type Intermediate = Instant;
    type Value = Duration;

    fn start(&self) -> Instant {
        Instant::now()
    }

    fn end(&self, begun: Instant) -> Duration {
        begun.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }

    fn is_wall_time(&self) -> bool {
        true
    }
}

impl ValueFormatter for WallTime {
    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        "ns"
    }

    fn scale_throughputs(
        &self,
        _typical: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        let (amount, unit) = match *throughput {
            Throughput::Bits(bits) => (bits, "b/s"),
            Throughput::Bytes(bytes) | Throughput::BytesDecimal(bytes) => (bytes, "B/s"),
            Throughput::Elements(elements) | Throughput::ElementsAndBytes { elements, .. } => {
                (elements, "elem/s")
            }
        };
        for value in values {
            *value = amount as f64 * 1e9 / *value;
        }
        unit
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}

/// criterion's trait for profilers, which deadheat accepts and never calls.
pub trait Profiler {
    /// Starts the profiler for a benchmark.
    fn start_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);
    /// Stops the profiler for a benchmark.
    fn stop_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);
}

/// A profiler without effect, for benchmarks that run under an external profiler.
#[derive(Clone, Copy, Debug)]
pub struct ExternalProfiler;

impl Profiler for ExternalProfiler {
    fn start_profiling(&mut self, _benchmark_id: &str, _benchmark_dir: &Path) {}
    fn stop_profiling(&mut self, _benchmark_id: &str, _benchmark_dir: &Path) {}
}
