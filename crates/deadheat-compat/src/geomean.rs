//! The geometric mean of all times of a side, in seconds.

use crate::document::Results;
use crate::number::Number;
use crate::numpy;
use crate::problem::Problem;
use crate::row::{Row, Which};
use crate::value::Value;

/// The geometric means of the real and the CPU times. `None` without any row that is no aggregate.
///
/// Logarithms are added one after the other and divided by their count, as NumPy does along the longer side of a table.
pub(crate) fn geomean(results: &Results<'_>) -> Result<Option<[f64; 2]>, Problem> {
    let mut sums: Option<[f64; 2]> = None;
    let mut count = 0_usize;
    for row in results.rows.iter().filter(|row| !row.is_aggregate()) {
        let times = [seconds(row, Which::Real)?, seconds(row, Which::Cpu)?];
        let logs = times.map(numpy::log);
        sums = Some(match sums {
            None => logs,
            Some([real, cpu]) => [real + logs[0], cpu + logs[1]],
        });
        count += 1;
    }
    Ok(sums.map(|sums| sums.map(|sum| numpy::exp(sum / count as f64))))
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
