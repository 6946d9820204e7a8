//! The values of settings, measurements and profilers, as benchmarks of criterion name them. Most are
//! accepted and not read; times are always wall times here, whatever the measurement.

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat::parts::model;

/// The work that one call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// So many bits; rates are shown as items.
    Bits(u64),
    /// So many bytes.
    Bytes(u64),
    /// So many bytes; rates are shown as those of `Bytes`.
    BytesDecimal(u64),
    /// So many elements.
    Elements(u64),
    /// So many elements of so many bytes in all; rates are shown of the elements.
    ElementsAndBytes {
        /// Elements.
        elements: u64,
        /// Bytes.
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

/// A way to draw plots; none are drawn here.
#[derive(Clone, Copy, Debug)]
pub enum PlottingBackend {
    /// The program gnuplot.
    Gnuplot,
    /// The crate plotters.
    Plotters,
    /// None.
    None,
}

/// A use of saved times; none are used here.
#[derive(Clone, Copy, Debug)]
pub enum Baseline {
    /// Compare with them, if there are any.
    CompareLenient,
    /// Compare with them.
    CompareStrict,
    /// Save them.
    Save,
    /// Forget them.
    Discard,
}

/// A choice of benchmarks in the source; the command line makes it here.
#[derive(Clone, Debug)]
pub enum BenchmarkFilter {
    /// All.
    AcceptAll,
    /// The one of this name.
    Exact(String),
    /// None.
    RejectAll,
}

/// The scale of an axis; nothing is drawn on it here.
#[derive(Clone, Copy, Debug, Default)]
pub enum AxisScale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// Settings of plots, which are not drawn here.
#[derive(Clone, Debug, Default)]
pub struct PlotConfiguration {
    _private: (),
}

impl PlotConfiguration {
    /// Means nothing here.
    #[must_use]
    pub fn summary_scale(self, _scale: AxisScale) -> Self {
        self
    }
}

/// A way to choose how many calls make a sample; a pilot chooses here.
#[derive(Clone, Copy, Debug, Default)]
pub enum SamplingMode {
    /// criterion's own choice.
    #[default]
    Auto,
    /// More from sample to sample.
    Linear,
    /// Always as many.
    Flat,
}

/// A measurement, as criterion asks for it. It is not used: deadheat reads its own clock.
pub trait Measurement {
    /// The state of a measurement that has begun.
    type Intermediate;
    /// A result.
    type Value;

    /// Begins to measure.
    fn start(&self) -> Self::Intermediate;
    /// Ends what was begun.
    fn end(&self, begun: Self::Intermediate) -> Self::Value;
    /// The sum of two values.
    fn add(&self, one: &Self::Value, other: &Self::Value) -> Self::Value;
    /// The value that adds nothing.
    fn zero(&self) -> Self::Value;
    /// The value as a number.
    fn to_f64(&self, value: &Self::Value) -> f64;
    /// The words for values.
    fn formatter(&self) -> &dyn ValueFormatter;

    /// Returns true if its values are nanoseconds of wall time.
    #[doc(hidden)]
    fn is_wall_time(&self) -> bool {
        false
    }
}

/// Words for the values of a measurement, as criterion asks for them. They are not used.
pub trait ValueFormatter {
    /// A value with its unit.
    fn format_value(&self, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_values(value, &mut values);
        format!("{} {unit}", values[0])
    }

    /// A rate with its unit.
    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        let mut values = [value];
        let unit = self.scale_throughputs(value, throughput, &mut values);
        format!("{} {unit}", values[0])
    }

    /// Scales values to a unit that fits a typical one, and names it.
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str;

    /// Turns values into rates, and names their unit.
    fn scale_throughputs(
        &self,
        typical: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str;

    /// Scales values to a unit that is always the same, and names it.
    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str;
}

/// Wall time, the measurement that is taken here.
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

/// A profiler, as criterion asks for it. It is never started.
pub trait Profiler {
    /// Begins to profile a benchmark.
    fn start_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);
    /// Ends it.
    fn stop_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);
}

/// The profiler that does nothing itself.
#[derive(Clone, Copy, Debug)]
pub struct ExternalProfiler;

impl Profiler for ExternalProfiler {
    fn start_profiling(&mut self, _benchmark_id: &str, _benchmark_dir: &Path) {}
    fn stop_profiling(&mut self, _benchmark_id: &str, _benchmark_dir: &Path) {}
}
