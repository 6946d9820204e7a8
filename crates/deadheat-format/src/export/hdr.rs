//! Writes the histograms of a run as a log for the tools of HdrHistogram.

use std::io::{self, Write};
use std::path::Path;

use deadheat_model::{ContenderHistogram, HistogramUnit, Histograms, Metric, Run};

use super::{benchmark_names, distinct_names, ensure_wall_times};
use crate::default_path::time_stamp;
use crate::error::{FormatError, cannot_write};

/// Writes the histograms of a run as an HDR histogram log: one line for each contender of each
/// benchmark, with the tag `benchmark/contender`. The interval of each line is the whole run,
/// because contenders take turns.
///
/// Skips a histogram whose contender is not in the run.
///
/// `name` is the name of the file in errors.
pub fn write_hdr(
    run: &Run,
    histograms: Histograms<impl IntoIterator<Item = ContenderHistogram>>,
    out: impl Write,
    name: impl AsRef<Path>,
) -> Result<(), FormatError> {
    let file = name.as_ref();
    ensure_wall_times(run, file)?;
    write_log(run, histograms, out).map_err(cannot_write(file))
}

fn write_log(
    run: &Run,
    histograms: Histograms<impl IntoIterator<Item = ContenderHistogram>>,
    mut out: impl Write,
) -> io::Result<()> {
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
        // Without this line, readers guess from the first timestamp whether timestamps count from
        // the start.
        writeln!(out, "#[BaseTime: {seconds}.000 {since}]")?;
    }
    writeln!(
        out,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )?;
    let length = seconds_of(run);
    let tags = tags(run);
    for histogram in histograms.contenders {
        let of_benchmark = tags.get(histogram.benchmark);
        let Some(tag) = of_benchmark.and_then(|tags| tags.get(histogram.contender.index())) else {
            continue;
        };
        let max = milliseconds(&histogram, unit);
        let (digits, highest) = (histograms.significant_digits, histograms.highest);
        let text = encoded(digits, highest, &histogram.counts);
        // Seconds with three decimals, because some readers take the digits after the point for a
        // number of milliseconds.
        writeln!(out, "Tag={tag},0.000,{length:.3},{max},{text}")?;
    }
    out.flush()
}

/// Returns the seconds that the run took. A recording does not contain them, so the sum of its
/// sample times is used, which is a lower bound.
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

/// Returns the largest value in milliseconds, without rounding.
fn milliseconds(histogram: &ContenderHistogram, unit: HistogramUnit) -> String {
    let per = unit.per_millisecond();
    let decimals = per.ilog10() as usize;
    let (whole, part) = (histogram.largest / per, histogram.largest % per);
    format!("{whole}.{part:0decimals$}")
}

/// Returns a distinct tag `benchmark/contender` for each contender of each benchmark.
fn tags(run: &Run) -> Vec<Vec<String>> {
    let benchmarks = &run.header.plan.benchmarks;
    let names = benchmark_names(benchmarks);
    let every = benchmarks.iter().zip(&names).flat_map(|(benchmark, name)| {
        let contenders = benchmark.contenders.iter();
        contenders.map(move |contender| tag(&format!("{name}/{}", contender.name)))
    });
    // All tags together, because two different names may become the same tag.
    let mut distinct = distinct_names(every, "_#").into_iter();
    let mut own = |count| distinct.by_ref().take(count).collect();
    benchmarks.iter().map(|b| own(b.contenders.len())).collect()
}

/// Replaces the characters that would end a tag: comma, white space and control characters.
fn tag(name: &str) -> String {
    let ends = |c: char| c == ',' || c.is_whitespace() || c.is_control();
    name.replace(ends, "_")
}

/// Replaces control characters, so that the text stays on its comment line.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, "_")
}

/// Marks a histogram in V2 encoding whose counts take at least one byte.
const PAYLOAD_COOKIE: u32 = 0x1c84_9313;

/// Marks the compressed envelope of a V2 histogram.
const ENVELOPE_COOKIE: u32 = 0x1c84_9314;

/// Smallest value that has a different bucket than 0.
const LOWEST: u64 = 1;

/// Encodes a histogram as text: counts in the V2 encoding, inside the compressed envelope, in
/// base64. All numbers are big-endian. The envelope requires a zlib stream, which may store its
/// bytes uncompressed; runs of empty buckets are short already. `highest` is the largest value that
/// has a bucket.
fn encoded(significant_digits: u8, highest: u64, counts: &[u64]) -> String {
    base64(&envelope(&payload(significant_digits, highest, counts)))
}

fn payload(significant_digits: u8, highest: u64, counts: &[u64]) -> Vec<u8> {
    let body = counts_as_bytes(counts);
    let mut bytes = Vec::with_capacity(40 + body.len());
    bytes.extend(PAYLOAD_COOKIE.to_be_bytes());
    bytes.extend((body.len() as u32).to_be_bytes());
    // Offset of the first count: 0, because the counts begin with the bucket of zero.
    bytes.extend(0u32.to_be_bytes());
    bytes.extend(u32::from(significant_digits).to_be_bytes());
    bytes.extend(LOWEST.to_be_bytes());
    bytes.extend(highest.to_be_bytes());
    // Factor that converts the stored whole numbers to values.
    bytes.extend(1f64.to_be_bytes());
    bytes.extend(body);
    bytes
}

/// Encodes each count as a signed number of variable length. A run of two or more empty buckets is
/// one number, the negative of its length; a single empty bucket is 0.
fn counts_as_bytes(counts: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in counts.chunk_by(|a, b| *a == 0 && *b == 0) {
        match run {
            [count] => push_signed(&mut bytes, (*count).min(i64::MAX as u64) as i64),
            zeros => push_signed(&mut bytes, -(zeros.len() as i64)),
        }
    }
    bytes
}

/// Appends a number with seven bits per byte, lowest first; the eighth bit is set if more bytes
/// follow. The sign is in the lowest bit, so that small negative numbers are short, too. A ninth
/// byte holds the remaining 8 bits.
fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
    for _ in 0..8 {
        if rest < 0x80 {
            bytes.push(rest as u8);
            return;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn envelope(payload: &[u8]) -> Vec<u8> {
    let stream = zlib(payload);
    let mut bytes = Vec::with_capacity(8 + stream.len());
    bytes.extend(ENVELOPE_COOKIE.to_be_bytes());
    bytes.extend((stream.len() as u32).to_be_bytes());
    bytes.extend(stream);
    bytes
}

/// Returns a zlib stream of uncompressed blocks.
fn zlib(data: &[u8]) -> Vec<u8> {
    // The zlib header: deflate, a window of 32 KiB, fastest level.
    let mut stream = vec![0x78, 0x01];
    let mut blocks = data.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let len = block.len() as u16;
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(len.to_le_bytes());
        stream.extend((!len).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut sum, mut sums) = (1u32, 0u32);
    for byte in data {
        sum = (sum + u32::from(*byte)) % MODULUS;
        sums = (sums + sum) % MODULUS;
    }
    sums << 16 | sum
}

fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(data.len().div_ceil(3) * 4);
    for three in data.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            // One byte gives two digits, two bytes give three; the rest is padding.
            text.push(if digit <= three.len() {
                char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize])
            } else {
                '='
            });
        }
    }
    text
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

    #[test]
    fn base64_pads_to_four_digits() {
        for (data, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(data.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn the_check_sum_is_that_of_the_standard() {
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn small_numbers_of_either_sign_are_short_and_the_largest_has_nine_bytes() {
        let bytes = |number| {
            let mut bytes = Vec::new();
            push_signed(&mut bytes, number);
            bytes
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(-1), [1]);
        assert_eq!(bytes(1), [2]);
        assert_eq!(bytes(-64), [0x7f]);
        assert_eq!(bytes(64), [0x80, 1]);
        assert_eq!(bytes(i64::MIN), [0xff; 9]);
        assert_eq!(
            bytes(i64::MAX),
            [0xfe, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }

    #[test]
    fn a_run_of_empty_buckets_is_one_number() {
        assert_eq!(counts_as_bytes(&[0, 0, 0, 5, 0, 7, 7]), [5, 10, 0, 14, 14]);
        assert!(counts_as_bytes(&[]).is_empty());
    }

    #[test]
    fn the_payload_is_that_of_another_writer_byte_by_byte() {
        use hdrhistogram::serialization::{Serializer, V2Serializer};
        let mut other = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 5_000, 3).unwrap();
        let mut counts = vec![0; 2_049];
        for (value, count) in [(0, 1), (1, 300), (3, 2), (2_047, 1 << 40), (2_049, 9)] {
            other.record_n(value, count).unwrap();
            counts[value.min(2_048) as usize] = count;
        }
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&other, &mut bytes).unwrap();
        assert_eq!(payload(3, 5_000, &counts), bytes);
    }

    #[test]
    fn data_too_long_for_one_block_go_on_in_another() {
        let data = vec![7; 65_536];
        let stream = zlib(&data);
        assert_eq!(stream[2..7], [0, 0xff, 0xff, 0, 0]);
        assert_eq!(stream[7 + 65_535..][..6], [1, 1, 0, 0xfe, 0xff, 7]);
    }
}
