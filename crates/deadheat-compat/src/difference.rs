//! The difference between two sides, benchmark by benchmark: which rows belong to one, and how
//! they differ.

use std::collections::HashMap;

use deadheat_stats::scipy_mann_whitney_p;

use crate::document::Results;
use crate::problem::Problem;
use crate::row::{Field, Row};
use crate::value::{Number, Text};

/// With fewer repetitions there is no test.
const MIN_REPETITIONS: usize = 2;

/// With fewer repetitions the test carries a warning.
pub(crate) const OPTIMAL_REPETITIONS: usize = 9;

/// A comparison of all that both sides have.
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) differences: Vec<Difference<'a>>,
}

/// One benchmark that both sides have, or the mean of all.
#[derive(Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) name: Text<'a>,
    pub(crate) label: Text<'a>,
    pub(crate) measurements: Vec<Measurement<'a>>,
    pub(crate) time_unit: Text<'a>,
    pub(crate) run_type: Text<'a>,
    pub(crate) aggregate_name: Text<'a>,
    pub(crate) test: Option<Test>,
}

/// One repetition beside one of the other side.
#[derive(Debug)]
pub(crate) struct Measurement<'a> {
    pub(crate) real: Time<'a>,
    pub(crate) cpu: Time<'a>,
}

/// A time on both sides, and its relative change.
#[derive(Debug)]
pub(crate) struct Time<'a> {
    pub(crate) old: Number<'a>,
    pub(crate) new: Number<'a>,
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
    /// Everything on which the original ends in a traceback: a field that is missing or of another
    /// type, a unit that is not known.
    pub fn of(old: &Results<'a>, new: &Results<'a>, test: bool) -> Result<Self, Problem> {
        let mut differences = Vec::new();
        for partition in partitions(old, new)? {
            differences.extend(difference(&partition, test)?);
        }
        let (old, new) = (geometric_means(old)?, geometric_means(new)?);
        if let (Some(old), Some(new)) = (old, new)
            && old.iter().any(|mean| *mean != 0.0)
            && new.iter().any(|mean| *mean != 0.0)
        {
            differences.push(overall(old, new));
        }
        Ok(Self { differences })
    }
}

fn difference<'a>(
    partition: &Partition<'_, 'a>,
    test: bool,
) -> Result<Option<Difference<'a>>, Problem> {
    let Partition {
        name,
        unit,
        old,
        new,
    } = partition;
    let mut measurements = Vec::with_capacity(old.len().min(new.len()));
    for (old, new) in old.iter().zip(new) {
        let time = |field| Ok(Time::of(old.number(field)?, new.number(field)?));
        measurements.push(Measurement {
            real: time(Field::RealTime)?,
            cpu: time(Field::CpuTime)?,
        });
    }
    let test = if test { u_test(old, new)? } else { None };
    let (Some(first), false) = (old.first(), measurements.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(Difference {
        name: (*name).clone(),
        label: first.text_or_empty(Field::Label)?,
        measurements,
        time_unit: (*unit).clone(),
        run_type: first.text_or_empty(Field::RunType)?,
        aggregate_name: if first.is_aggregate() {
            first.text_or_empty(Field::AggregateName)?
        } else {
            "".into()
        },
        test,
    }))
}

impl<'a> Time<'a> {
    /// The change is the difference over the size of the old time, or over the mean of both where
    /// the old one is 0; 0 where both are.
    fn of(old: Number<'a>, new: Number<'a>) -> Self {
        let (from, to) = (old.float(), new.float());
        let change = match (from == 0.0, to == 0.0) {
            (true, true) => 0.0,
            (true, false) => (to - from) / ((to + from) / 2.0),
            (false, _) => (to - from) / from.abs(),
        };
        Self { old, new, change }
    }
}

/// Tests all repetitions, also those that have no partner on the other side. `None` with too few.
fn u_test(old: &[&Row<'_>], new: &[&Row<'_>]) -> Result<Option<Test>, Problem> {
    let times = |rows: &[&Row<'_>], field| {
        let times = rows.iter().map(|row| Ok(row.number(field)?.float()));
        times.collect::<Result<Vec<f64>, Problem>>()
    };
    let both = |field| Ok((times(old, field)?, times(new, field)?));
    let (cpu, real) = (both(Field::CpuTime)?, both(Field::RealTime)?);
    let least = old.len().min(new.len());
    Ok((least >= MIN_REPETITIONS).then(|| Test {
        optimal: least >= OPTIMAL_REPETITIONS,
        cpu_p: p_value(cpu.0, cpu.1),
        real_p: p_value(real.0, real.1),
        repetitions: [old.len(), new.len()],
    }))
}

fn p_value(mut old: Vec<f64>, mut new: Vec<f64>) -> f64 {
    if old.iter().chain(&new).any(|time| time.is_nan()) {
        return f64::NAN;
    }
    if old.iter().chain(&new).any(|time| time.is_infinite()) {
        // Only their order counts, and an infinity has a place in it.
        let mut all = [old.as_slice(), &new].concat();
        all.sort_by(f64::total_cmp);
        for time in old.iter_mut().chain(&mut new) {
            *time = all.partition_point(|other| other < time) as f64;
        }
    }
    scipy_mann_whitney_p(&old, &new).unwrap_or(f64::NAN)
}

/// The geometric means of all real and of all CPU times of a side, in seconds. `None` without any
/// row that is no aggregate.
fn geometric_means(results: &Results<'_>) -> Result<Option<[f64; 2]>, Problem> {
    let (mut count, mut logarithms) = (0, [0.0; 2]);
    for row in results.rows.iter().filter(|row| !row.is_aggregate()) {
        let unit = match row.get(Field::TimeUnit) {
            None => b"s",
            Some(_) => row.text(Field::TimeUnit)?.as_bytes(),
        };
        let seconds = match unit {
            b"s" => 1.0,
            b"ms" => 1e-3,
            b"us" => 1e-6,
            b"ns" => 1e-9,
            _ => {
                let what = "should be one of \"s\", \"ms\", \"us\", \"ns\"";
                return Err(row.problem(Field::TimeUnit, what));
            }
        };
        count += 1;
        for (sum, field) in logarithms.iter_mut().zip([Field::RealTime, Field::CpuTime]) {
            *sum += (row.number(field)?.float() * seconds).ln();
        }
    }
    Ok((count > 0).then(|| logarithms.map(|sum| (sum / f64::from(count)).exp())))
}

fn overall<'a>(old: [f64; 2], new: [f64; 2]) -> Difference<'a> {
    let time = |which: usize| Time::of(Number::Float(old[which]), Number::Float(new[which]));
    Difference {
        name: "OVERALL_GEOMEAN".into(),
        label: "".into(),
        measurements: vec![Measurement {
            real: time(0),
            cpu: time(1),
        }],
        time_unit: "s".into(),
        run_type: "aggregate".into(),
        aggregate_name: "geomean".into(),
        test: None,
    }
}

/// The rows of one benchmark, all in one unit.
#[derive(Debug)]
struct Partition<'r, 'a> {
    name: &'r Text<'a>,
    unit: &'r Text<'a>,
    old: Vec<&'r Row<'a>>,
    new: Vec<&'r Row<'a>>,
}

/// The benchmarks that both sides have, in the order of the first. The unit of each is that of the
/// first row of the first side that has a unit and both times; rows in another unit are left out.
fn partitions<'r, 'a>(
    old: &'r Results<'a>,
    new: &'r Results<'a>,
) -> Result<Vec<Partition<'r, 'a>>, Problem> {
    let new: HashMap<_, _> = groups(new)?.into_iter().collect();
    let mut partitions = Vec::new();
    for (name, old) in groups(old)? {
        let Some(new) = new.get(name) else {
            continue;
        };
        let needed = [Field::TimeUnit, Field::RealTime, Field::CpuTime];
        let first = old
            .iter()
            .find(|row| needed.iter().all(|field| row.get(*field).is_some()));
        let Some(first) = first else {
            continue;
        };
        let unit = first.text(Field::TimeUnit)?;
        partitions.push(Partition {
            name,
            unit,
            old: in_unit(&old, unit)?,
            new: in_unit(new, unit)?,
        });
    }
    Ok(partitions)
}

/// The rows of every name, in the order in which the names come first.
fn groups<'r, 'a>(
    results: &'r Results<'a>,
) -> Result<Vec<(&'r Text<'a>, Vec<&'r Row<'a>>)>, Problem> {
    let mut places = HashMap::new();
    let mut groups: Vec<(&Text<'a>, Vec<&Row<'a>>)> = Vec::new();
    for row in &results.rows {
        let name = row.text(Field::Name)?;
        // Repetitions mostly follow one another.
        if let Some((last, rows)) = groups.last_mut()
            && *last == name
        {
            rows.push(row);
            continue;
        }
        let place = *places.entry(name).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    Ok(groups)
}

fn in_unit<'r, 'a>(rows: &[&'r Row<'a>], unit: &Text<'_>) -> Result<Vec<&'r Row<'a>>, Problem> {
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        if row.text(Field::TimeUnit)?.as_bytes() == unit.as_bytes() {
            kept.push(*row);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_relative_to_the_size_of_the_old_number() {
        let change = |old, new| Time::of(old, new).change;
        let (whole, float) = (Number::Whole, Number::Float);
        assert_eq!(change(whole("10"), whole("9")), -0.1);
        assert_eq!(change(float(-2.0), whole("1")), 1.5);
        assert_eq!(change(whole("0"), float(5.0)), 2.0);
        assert_eq!(change(float(-0.0), whole("0")), 0.0);
        assert!(change(float(f64::NAN), whole("1")).is_nan());
    }
}
