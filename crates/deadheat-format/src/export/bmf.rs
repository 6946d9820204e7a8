//! The answer in the Bencher Metric Format, for those who watch their
//! benchmarks there.

use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{Analysis, Metric};
use serde::{Serialize, Serializer};

use super::tracked::Tracked;
use crate::error::{FormatError, cannot_write, create_folder_of};
use crate::replace::replace;

/// Writes the median of each candidate as the JSON of Bencher's `json` adapter,
/// replacing what the file held. Wall time is the measure `latency`, in
/// nanoseconds per iteration; any other metric is a measure of its own name.
///
/// The ends are those of the interval of the comparison, laid around the
/// median; without an interval there is the value alone.
pub fn write_bmf(analysis: &Analysis, path: impl AsRef<Path>) -> Result<(), FormatError> {
    let path = path.as_ref();
    create_folder_of(path)?;
    replace(path, |out| write_bmf_to(analysis, out, path))
}

/// Writes the same anywhere; `name` stands for the file in errors.
pub fn write_bmf_to(
    analysis: &Analysis,
    mut out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    serde_json::to_writer_pretty(&mut out, &Benchmarks(Tracked::of(analysis)))
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(cannot_write(name.as_ref()))
}

/// An object in the order of the run.
struct Benchmarks<'a>(Vec<Tracked<'a>>);

impl Serialize for Benchmarks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.0.iter();
        serializer.collect_map(all.map(|tracked| (&tracked.name, Measure(tracked))))
    }
}

/// An object of the one measure that was judged.
struct Measure<'a>(&'a Tracked<'a>);

impl Serialize for Measure<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tracked {
            metric,
            side,
            interval,
            ..
        } = self.0;
        let name = match metric {
            Metric::Wall => "latency",
            other => other.name(),
        };
        let values = Values {
            value: side.median,
            lower_value: interval.as_ref().map(|interval| interval.low),
            upper_value: interval.as_ref().map(|interval| interval.high),
        };
        serializer.collect_map([(name, values)])
    }
}

#[derive(Serialize)]
struct Values {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}
