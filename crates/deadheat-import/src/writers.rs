//! Writes runs and analyses in the formats of other programs.

mod csv;
mod go;
mod hyperfine;
mod trackers;

pub use csv::write_csv;
pub use go::write_go;
pub use hyperfine::write_hyperfine;
pub use trackers::{GoogleSide, write_bmf, write_google_benchmark, write_smaller_is_better};

use std::io::Write;
use std::path::Path;

use deadheat_format::{FormatError, cannot_write};
use deadheat_model::Json;

fn write_json(mut out: impl Write, json: &Json, file: &Path) -> Result<(), FormatError> {
    writeln!(out, "{json:#}")
        .and_then(|()| out.flush())
        .map_err(cannot_write(file))
}

/// Returns the arithmetic mean of at least one value.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the median of at least one value.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2])
}

/// Returns the sample standard deviation, with the size minus 1 as divisor; `None` for fewer than
/// two values.
fn standard_deviation(values: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn a_single_time_has_no_standard_deviation() {
        assert_eq!(standard_deviation(&[2.0], 2.0), None);
        assert_eq!(standard_deviation(&[1.0, 3.0], 2.0), Some(2f64.sqrt()));
    }
}
