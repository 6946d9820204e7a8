//! The difference between two sides, benchmark by benchmark.

use deadheat_stats::scipy_mann_whitney_p;

use crate::document::Results;
use crate::geomean::geomean;
use crate::number::{Number, Wrong};
use crate::partition::{Partition, partitions};
use crate::problem::Problem;
use crate::row::{Row, Which};
use crate::text::Text;
use crate::value::Value;

/// With fewer repetitions there is no test.
const MIN_REPETITIONS: usize = 2;

/// With fewer repetitions the test carries a warning.
pub(crate) const OPTIMAL_REPETITIONS: usize = 9;

/// What both sides have.
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) differences: Vec<Difference<'a>>,
}

/// One benchmark that both sides have, or the mean of all.
#[derive(Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) name: Text<'a>,
    pub(crate) label: Value<'a>,
    pub(crate) measurements: Vec<Measurement<'a>>,
    pub(crate) time_unit: Value<'a>,
    pub(crate) run_type: Value<'a>,
    pub(crate) aggregate_name: Value<'a>,
    pub(crate) test: Option<Test>,
}

/// One repetition beside one of the other side.
#[derive(Debug)]
pub(crate) struct Measurement<'a> {
    pub(crate) real: Time<'a>,
    pub(crate) cpu: Time<'a>,
}

/// A time on both sides: as it was written, as a float where it is not too large for one, and its relative change.
#[derive(Debug)]
pub(crate) struct Time<'a> {
    pub(crate) old: Value<'a>,
    pub(crate) new: Value<'a>,
    pub(crate) floats: [f64; 2],
    pub(crate) change: f64,
}

/// The U test of a benchmark; a p-value that SciPy has not is NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Test {
    pub(crate) optimal: bool,
    pub(crate) cpu_p: f64,
    pub(crate) real_p: f64,
    pub(crate) repetitions: [usize; 2],
}

impl<'a> Report<'a> {
    /// Compares two sides, with the U test or without.
    ///
    /// # Errors
    ///
    /// Everything on which the original ends in a traceback: a field that is missing or of another type, a unit that is
    /// not known.
    pub fn of(old: &Results<'a>, new: &Results<'a>, test: bool) -> Result<Self, Problem> {
        let mut differences = Vec::new();
        for partition in partitions(old, new)? {
            differences.extend(difference(&partition, test)?);
        }
        let (old, new) = (geomean(old)?, geomean(new)?);
        if let (Some(old), Some(new)) = (old, new)
            && old.iter().any(|mean| *mean != 0.0)
            && new.iter().any(|mean| *mean != 0.0)
        {
            differences.push(overall(old, new)?);
        }
        Ok(Self { differences })
    }
}

fn difference<'a>(
    partition: &Partition<'_, 'a>,
    test: bool,
) -> Result<Option<Difference<'a>>, Problem> {
    let Partition { unit, old, new } = partition;
    let mut measurements = Vec::with_capacity(old.len().min(new.len()));
    for (old, new) in old.iter().zip(new) {
        measurements.push(Measurement {
            real: time(old, new, Which::Real)?,
            cpu: time(old, new, Which::Cpu)?,
        });
    }
    let test = if test { u_test(old, new)? } else { None };
    if measurements.is_empty() {
        return Ok(None);
    }
    let first = old[0];
    let name = first.name()?;
    let name = name.text().cloned().ok_or_else(|| {
        let what = format!("should be a string and is a {}", name.type_name());
        Problem::of_field(first, "name", what)
    })?;
    let or_empty = |field: &Option<Value<'a>>| field.clone().unwrap_or(Value::Text("".into()));
    Ok(Some(Difference {
        name,
        label: or_empty(&first.label),
        measurements,
        time_unit: (*unit).clone(),
        run_type: or_empty(&first.run_type),
        aggregate_name: if first.is_aggregate() {
            or_empty(&first.aggregate_name)
        } else {
            Value::Text("".into())
        },
        test,
    }))
}

fn time<'a>(old: &Row<'a>, new: &Row<'a>, which: Which) -> Result<Time<'a>, Problem> {
    let numbers = [Number::of_row(old, which)?, Number::of_row(new, which)?];
    let of = |row| move |wrong: Wrong| Problem::of_field(row, which.field(), wrong.words());
    Ok(Time {
        old: old.time(which)?.clone(),
        new: new.time(which)?.clone(),
        change: numbers[0].change_to(numbers[1]).map_err(of(old))?,
        floats: [
            numbers[0].float().map_err(of(old))?,
            numbers[1].float().map_err(of(new))?,
        ],
    })
}

/// Of all repetitions, also those that have no partner on the other side. `None` with too few.
fn u_test(old: &[&Row<'_>], new: &[&Row<'_>]) -> Result<Option<Test>, Problem> {
    let least = old.len().min(new.len());
    for row in old.iter().chain(new) {
        row.time(Which::Cpu)?;
        row.time(Which::Real)?;
    }
    if least < MIN_REPETITIONS {
        return Ok(None);
    }
    Ok(Some(Test {
        optimal: least >= OPTIMAL_REPETITIONS,
        cpu_p: p_value(old, new, Which::Cpu)?,
        real_p: p_value(old, new, Which::Real)?,
        repetitions: [old.len(), new.len()],
    }))
}

fn p_value(old: &[&Row<'_>], new: &[&Row<'_>], which: Which) -> Result<f64, Problem> {
    let (mut first, mut second) = (times(old, which)?, times(new, which)?);
    if first.iter().chain(&second).any(|time| time.is_nan()) {
        return Ok(f64::NAN);
    }
    if first.iter().chain(&second).any(|time| time.is_infinite()) {
        // Only their order counts, and an infinity has a place in it.
        let mut all = [first.as_slice(), &second].concat();
        all.sort_by(f64::total_cmp);
        for time in first.iter_mut().chain(&mut second) {
            *time = all.partition_point(|other| other < time) as f64;
        }
    }
    Ok(scipy_mann_whitney_p(&first, &second).unwrap_or(f64::NAN))
}

fn times(rows: &[&Row<'_>], which: Which) -> Result<Vec<f64>, Problem> {
    rows.iter()
        .map(|row| match row.time(which)? {
            // A list with such a number is no array of numbers.
            Value::Big(digits) if digits.parse::<u64>().is_err() => Err(Problem::of_field(
                row,
                which.field(),
                "is too large a number for the U test",
            )),
            _ => Number::of_row(row, which)?
                .float()
                .map_err(|wrong| Problem::of_field(row, which.field(), wrong.words())),
        })
        .collect()
}

fn overall<'a>(old: [f64; 2], new: [f64; 2]) -> Result<Difference<'a>, Problem> {
    let time = |which: usize| {
        let (old, new) = (old[which], new[which]);
        let change = Number::Float(old).change_to(Number::Float(new));
        Ok(Time {
            old: Value::Float(old),
            new: Value::Float(new),
            floats: [old, new],
            change: change.map_err(|wrong| {
                Problem::at(
                    "",
                    format!("the geometric mean of all times {}", wrong.words()),
                )
            })?,
        })
    };
    Ok(Difference {
        name: "OVERALL_GEOMEAN".into(),
        label: Value::Text("".into()),
        measurements: vec![Measurement {
            real: time(0)?,
            cpu: time(1)?,
        }],
        time_unit: Value::Text("s".into()),
        run_type: Value::Text("aggregate".into()),
        aggregate_name: Value::Text("geomean".into()),
        test: None,
    })
}
