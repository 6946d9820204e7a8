//! The columns of a table and the typed cells in them.

use std::path::Path;

use deadheat_model::{Flags, Metric, Role};

use crate::error::{CellError, FormatError};
use crate::nearest::nearest;
use deadheat_model::{FIXED_COLUMNS, metric_of_column};

/// Where each column of tidy CSV stands; what is `None` is not there.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) benchmark: usize,
    pub(super) contender: usize,
    pub(super) replicate: Option<usize>,
    pub(super) block: Option<usize>,
    pub(super) slot: Option<usize>,
    pub(super) role: Option<usize>,
    pub(super) iterations: Option<usize>,
    pub(super) flags: Option<usize>,
    pub(super) metrics: Vec<MetricColumn>,
}

/// A column that may be a metric.
#[derive(Debug)]
pub(super) struct MetricColumn {
    pub(super) place: usize,
    pub(super) name: String,
    pub(super) metric: Metric,
}

impl MetricColumn {
    /// Whether the column promises numbers. Of a column with a name of its own
    /// nobody knows, until all its cells were seen.
    pub(super) fn must_be_numeric(&self) -> bool {
        !matches!(self.metric, Metric::Custom(_))
    }
}

impl Columns {
    /// Finds the columns by the names in the header.
    pub(super) fn find(file: &Path, header: &[&str]) -> Result<Self, FormatError> {
        for (place, name) in header.iter().enumerate() {
            if let Some(first) = header[..place].iter().position(|other| other == name) {
                return Err(FormatError::Line {
                    file: file.to_owned(),
                    line: 1,
                    problem: format!(
                        "columns {} and {} are both named '{name}'",
                        first + 1,
                        place + 1
                    ),
                });
            }
        }
        let optional = |name: &str| header.iter().position(|other| *other == name);
        let required = |name: &'static str| {
            optional(name).ok_or_else(|| FormatError::MissingColumn {
                file: file.to_owned(),
                column: name,
                nearest: nearest(name, header)
                    .map_or("", |(name, _)| name)
                    .to_owned(),
            })
        };
        required("wall_ns")?;
        let metrics = header
            .iter()
            .enumerate()
            .filter(|(_, name)| !FIXED_COLUMNS.contains(name))
            .map(|(place, name)| MetricColumn {
                place,
                name: (*name).to_owned(),
                metric: metric_of_column(name),
            })
            .collect();
        Ok(Columns {
            benchmark: required("benchmark")?,
            contender: required("contender")?,
            replicate: optional("replicate"),
            block: optional("block"),
            slot: optional("slot"),
            role: optional("role"),
            iterations: optional("iterations"),
            flags: optional("flags"),
            metrics,
        })
    }

    /// Whether every sample has its place in a block.
    pub(super) fn are_paired(&self) -> bool {
        self.replicate.is_some() && self.block.is_some() && self.slot.is_some()
    }
}

/// What is known of a row while its cells are read, for errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: &'a Path,
    pub(super) line: u64,
    pub(super) benchmark: &'a str,
    pub(super) replicate: Option<u32>,
    pub(super) block: Option<u32>,
    pub(super) slot: Option<u32>,
}

impl Place<'_> {
    pub(super) fn error(&self, column: &str, problem: String) -> FormatError {
        FormatError::Cell(Box::new(CellError {
            file: self.file.to_owned(),
            line: self.line,
            column: column.to_owned(),
            problem,
            benchmark: self.benchmark.to_owned(),
            replicate: self.replicate,
            block: self.block,
            slot: self.slot,
        }))
    }
}

/// The number of a replicate, block or slot.
pub(super) fn parse_number(cell: &str) -> Result<u32, String> {
    let max = u32::MAX;
    cell.trim()
        .parse()
        .map_err(|_| format!("'{cell}' is not a whole number from 0 to {max}"))
}

/// Calls in a batch.
pub(super) fn parse_iterations(cell: &str) -> Result<u64, String> {
    match cell.trim().parse() {
        Ok(0) => Err("a sample needs at least one iteration".to_owned()),
        Ok(iterations) => Ok(iterations),
        Err(_) => Err(format!("'{cell}' is not a whole number")),
    }
}

/// Nothing, a number whose bits are the flags, or their names joined by `|`.
pub(super) fn parse_flags(cell: &str) -> Result<Flags, String> {
    let cell = cell.trim();
    if let Ok(bits) = cell.parse::<u64>() {
        return Ok(Flags::from_bits((bits & 0xff) as u8));
    }
    let mut bits = 0;
    for word in cell
        .split('|')
        .map(str::trim)
        .filter(|word| !word.is_empty())
    {
        bits |= match word {
            "preempted" => Flags::PREEMPTED.bits(),
            "migrated" => Flags::MIGRATED.bits(),
            _ => return Err(format!("'{word}' is neither 'preempted' nor 'migrated'")),
        };
    }
    Ok(Flags::from_bits(bits))
}

/// A role; an empty cell leaves it open.
pub(super) fn parse_role(cell: &str) -> Result<Option<Role>, String> {
    match cell.trim() {
        "" => Ok(None),
        "baseline" => Ok(Some(Role::Baseline)),
        "candidate" => Ok(Some(Role::Candidate)),
        other => Err(format!("'{other}' is neither 'baseline' nor 'candidate'")),
    }
}

/// Any number, sound or not; `None` when the cell is not one.
pub(super) fn parse_value(cell: &str) -> Option<f64> {
    cell.trim().parse().ok()
}

/// What is wrong with a value of a metric.
pub(super) fn unsound(cell: &str, value: f64) -> Option<String> {
    if !value.is_finite() {
        Some(format!("'{cell}' is not finite"))
    } else if value < 0.0 {
        Some(format!("'{cell}' is negative"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_from_bits_and_from_words() {
        let both = Flags::from_bits(3);
        for (cell, expected) in [
            ("", Flags::NONE),
            ("0", Flags::NONE),
            ("1", Flags::PREEMPTED),
            ("3", both),
            ("259", both),
            ("migrated", Flags::MIGRATED),
            ("preempted|migrated", both),
        ] {
            assert_eq!(parse_flags(cell), Ok(expected), "{cell}");
        }
        assert!(parse_flags("preempt").is_err());
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let header = ["benchmark", "contender", "wall_ns", "x", "x"];
        let error = Columns::find(Path::new("a.csv"), &header).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.csv:1: columns 4 and 5 are both named 'x'"
        );
    }
}
