//! The values of settings, most of which are accepted and not read.

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
