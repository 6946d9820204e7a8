//! Histograms of a run as a log for the tools of HdrHistogram.

use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{ContenderHistogram, HistogramUnit, Histograms, Metric, Run};

use super::hdr_encoding::encoded;
use super::names::{benchmark_names, told_apart};
use crate::default_path::time_stamp;
use crate::error::{FormatError, cannot_write, create_folder_of};
use crate::replace::replace;

/// Writes the histograms of a run as an HDR histogram log, replacing what the
/// file held: one line per benchmark and contender, which its tag names. The
/// interval of each is the whole run, since contenders take turns.
///
/// A histogram of a contender that the run does not have is left out.
pub fn write_hdr(
    run: &Run,
    histograms: &Histograms,
    path: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let path = path.as_ref();
    create_folder_of(path)?;
    replace(path, |out| write_hdr_to(run, histograms, out, path))
}

/// Writes the log anywhere; `name` stands for the file in errors.
pub fn write_hdr_to(
    run: &Run,
    histograms: &Histograms,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let file = name.as_ref();
    if !run.header.records(&Metric::Wall) {
        return Err(FormatError::NoWallTimes {
            file: file.to_owned(),
        });
    }
    write_log(run, histograms, out).map_err(cannot_write(file))
}

fn write_log(run: &Run, histograms: &Histograms, mut out: impl Write) -> io::Result<()> {
    let unit = histograms.unit;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    let version = &run.header.tool_version;
    if !version.is_empty() {
        writeln!(out, "#[Logged with deadheat {}]", one_line(version))?;
    }
    writeln!(
        out,
        "#[Unit: {} of wall time per iteration; divide by {} for milliseconds]",
        unit.name(),
        unit.per_millisecond()
    )?;
    if let Some(seconds) = run.header.started_at {
        let stamp = time_stamp(seconds);
        let since = "(seconds since epoch)";
        writeln!(out, "#[StartTime: {seconds}.000 {since}, {stamp} UTC]")?;
        // Without it readers guess from the size of the first time whether
        // times count from the start.
        writeln!(out, "#[BaseTime: {seconds}.000 {since}]")?;
    }
    writeln!(
        out,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )?;
    let length = seconds_of(run);
    let tags = tags(run);
    for histogram in &histograms.contenders {
        let of_benchmark = tags.get(histogram.benchmark);
        let Some(tag) = of_benchmark.and_then(|tags| tags.get(histogram.contender.index())) else {
            continue;
        };
        let max = milliseconds(histogram, unit);
        let (digits, highest) = (histograms.significant_digits, histograms.highest);
        let text = encoded(digits, highest, &histogram.counts);
        // Three decimals of seconds, since some readers take what follows the
        // point for a number of milliseconds.
        writeln!(out, "Tag={tag},0.000,{length:.3},{max},{text}")?;
    }
    out.flush()
}

/// How long the run took. A recording does not say; what its samples took is
/// the least it can have been.
fn seconds_of(run: &Run) -> f64 {
    let nanoseconds = match run.elapsed_ns {
        0 => {
            let columns = run.benchmarks.iter();
            let columns = columns.filter_map(|samples| samples.column(&Metric::Wall));
            columns.flatten().sum()
        }
        known => known as f64,
    };
    nanoseconds / 1e9
}

/// The largest value in milliseconds, exactly.
fn milliseconds(histogram: &ContenderHistogram, unit: HistogramUnit) -> String {
    let per = unit.per_millisecond();
    let decimals = per.ilog10() as usize;
    let (whole, part) = (histogram.largest / per, histogram.largest % per);
    format!("{whole}.{part:0decimals$}")
}

/// `benchmark/contender` for each contender of each benchmark, no two alike.
fn tags(run: &Run) -> Vec<Vec<String>> {
    let benchmarks = &run.header.plan.benchmarks;
    let names = benchmark_names(benchmarks);
    let every = benchmarks.iter().zip(&names).flat_map(|(benchmark, name)| {
        let contenders = benchmark.contenders.iter();
        contenders.map(move |contender| tag(&format!("{name}/{}", contender.name)))
    });
    // In one go: what was two names may have become one tag.
    let mut distinct = told_apart(every, "_#").into_iter();
    let mut own = |count| distinct.by_ref().take(count).collect();
    benchmarks.iter().map(|b| own(b.contenders.len())).collect()
}

/// The name as a tag may be written: a comma, a space or the end of the line
/// would end it.
fn tag(name: &str) -> String {
    let ends = |c: char| c == ',' || c.is_whitespace() || c.is_control();
    name.replace(ends, "_")
}

/// Text that stays on the line of its comment.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::ContenderId;

    #[test]
    fn a_tag_has_nothing_in_it_that_would_end_it() {
        assert_eq!(tag("a, b\r\nc\td\u{2028}e\u{85}f"), "a__b__c_d_e_f");
        assert_eq!(tag("größer=#1"), "größer=#1");
    }

    #[test]
    fn the_largest_value_is_told_in_milliseconds_to_its_last_digit() {
        let largest = |largest| ContenderHistogram {
            benchmark: 0,
            contender: ContenderId::BASELINE,
            largest,
            counts: vec![],
        };
        let shown = |value, unit| milliseconds(&largest(value), unit);
        let (ns, ps) = (HistogramUnit::Nanoseconds, HistogramUnit::Picoseconds);
        assert_eq!(shown(0, ns), "0.000000");
        assert_eq!(shown(12_345_678, ns), "12.345678");
        assert_eq!(shown(12_345_678, ps), "0.012345678");
    }
}
