//! The geometric mean of all times of a side, in seconds.

use crate::document::Results;
use crate::number::Number;
use crate::numpy;
use crate::problem::Problem;
use crate::row::{Row, Which};
use crate::value::Value;

/// Numbers of at most so many are added in eight turns, more in two halves.
const BLOCK: usize = 128;

/// The geometric means of the real and the CPU times. `None` without any row that is no aggregate.
///
/// NumPy adds the logarithms of a table one after the other. Where a time is no number SciPy takes the columns one by
/// one, and NumPy adds a column in another order.
pub(crate) fn geomean(results: &Results<'_>) -> Result<Option<[f64; 2]>, Problem> {
    let mut times = Vec::new();
    for row in results.rows.iter().filter(|row| !row.is_aggregate()) {
        times.push([seconds(row, Which::Real)?, seconds(row, Which::Cpu)?]);
    }
    if times.is_empty() {
        return Ok(None);
    }
    let in_turn = !times.iter().flatten().any(|time| time.is_nan());
    Ok(Some([0, 1].map(|which| {
        let logs = times.iter().map(|both| numpy::log(both[which]));
        let sum: f64 = if in_turn {
            logs.fold(0.0, |sum, log| sum + log)
        } else {
            pairwise_sum(&logs.collect::<Vec<f64>>())
        };
        numpy::exp(sum / times.len() as f64)
    })))
}

/// The sum of a column in NumPy's order.
fn pairwise_sum(column: &[f64]) -> f64 {
    if column.len() > BLOCK {
        let half = column.len() / 2;
        let (first, second) = column.split_at(half - half % 8);
        return pairwise_sum(first) + pairwise_sum(second);
    }
    let mut eights = column.chunks_exact(8);
    let Some(first) = eights.next() else {
        return column.iter().fold(0.0, |sum, x| sum + x);
    };
    let mut turns: [f64; 8] = std::array::from_fn(|i| first[i]);
    for eight in eights.by_ref() {
        turns.iter_mut().zip(eight).for_each(|(sum, x)| *sum += x);
    }
    let [a, b, c, d, e, f, g, h] = turns;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    eights.remainder().iter().fold(sum, |sum, x| sum + x)
}

fn seconds(row: &Row<'_>, which: Which) -> Result<f64, Problem> {
    let time = Number::of_row(row, which)?;
    let unit = match &row.time_unit {
        // Without a unit it is a second.
        None => 1.0,
        Some(unit) => seconds_of(unit).ok_or_else(|| {
            Problem::of_field(
                row,
                "time_unit",
                "should be one of \"s\", \"ms\", \"us\", \"ns\"",
            )
        })?,
    };
    let time = time
        .float()
        .map_err(|wrong| Problem::of_field(row, which.field(), wrong.words()))?;
    Ok(time * unit)
}

fn seconds_of(unit: &Value<'_>) -> Option<f64> {
    match unit.text()?.as_bytes() {
        b"s" => Some(1.0),
        b"ms" => Some(1e-3),
        b"us" => Some(1e-6),
        b"ns" => Some(1e-9),
        _ => None,
    }
}
