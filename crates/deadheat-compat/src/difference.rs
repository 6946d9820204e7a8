//! The comparison of two sets of Google Benchmark results: which rows of the old and the new side
//! belong to the same benchmark, and how their times differ.

use std::ops::Range;

use deadheat_stats::scipy_mann_whitney_p;

use crate::document::{Field, Results, RowView, Rows};
use crate::problem::Problem;
use crate::value::{Number, Text};

/// Minimum number of repetitions per side for the Mann–Whitney U test.
const MIN_REPETITIONS: usize = 2;

/// If a side has fewer repetitions than this, the table prints a warning with the U test.
pub(crate) const OPTIMAL_REPETITIONS: usize = 9;

/// A comparison of the benchmarks that both sides have.
#[derive(Debug)]
pub struct Report<'a> {
    sides: [Grouped<'a>; 2],
    /// The benchmarks that both sides have. Each entry refers to the rows of its benchmark by their
    /// places, because copies of a million rows would take more memory than all other data.
    found: Vec<Found>,
    /// The geometric means in seconds: real and CPU time of the old side, then of the new side.
    /// `None` if a side has only aggregates, or if all its means are zero.
    means: Option<[[f64; 2]; 2]>,
}

/// A benchmark that both sides have: its rows on each side, as a range of the side's `order`, and the
/// p-values of the CPU times and the real times.
#[derive(Debug)]
struct Found {
    places: [Range<u32>; 2],
    p_values: Option<[f64; 2]>,
}

/// The printed comparison of one benchmark, or of the geometric means over all benchmarks.
#[derive(Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) words: Words<'a>,
    pub(crate) measurements: Vec<Measurement<'a>>,
    pub(crate) test: Option<Test>,
}

/// The printed texts about a benchmark, taken from its first row on the old side.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    pub(crate) name: Text<'a>,
    pub(crate) label: Text<'a>,
    pub(crate) time_unit: Text<'a>,
    pub(crate) run_type: Text<'a>,
    pub(crate) aggregate_name: Text<'a>,
}

impl<'a> Words<'a> {
    fn of(first: RowView<'a>) -> Result<Self, Problem> {
        Ok(Self {
            name: first.text(Field::Name)?,
            label: first.text_or_empty(Field::Label)?,
            time_unit: first.text(Field::TimeUnit)?,
            run_type: first.text_or_empty(Field::RunType)?,
            aggregate_name: if first.is_aggregate() {
                first.text_or_empty(Field::AggregateName)?
            } else {
                "".into()
            },
        })
    }
}

/// One repetition, paired with a repetition of the other side.
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

/// The Mann–Whitney U test of a benchmark. A p-value is NaN if SciPy could not compute it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Test {
    pub(crate) optimal: bool,
    pub(crate) cpu_p: f64,
    pub(crate) real_p: f64,
    pub(crate) repetitions: [usize; 2],
}

impl<'a> Report<'a> {
    /// Compares two sides. If `test` is true, adds the Mann–Whitney U test of each benchmark.
    ///
    /// # Errors
    ///
    /// Returns the first problem on which `compare.py` ends in a traceback: a missing field, a
    /// field of another type, or an unknown unit.
    pub fn of(old: &'a Results, new: &'a Results, test: bool) -> Result<Self, Problem> {
        let mut report = Self {
            sides: [Grouped::of(&old.rows), Grouped::of(&new.rows)],
            found: Vec::new(),
            means: None,
        };
        let partitions = report.partitions()?;
        for places in partitions {
            let mut found = Found {
                places,
                p_values: None,
            };
            // All rows are checked here, so that writing them cannot fail.
            for measurement in report.measurements(&found) {
                measurement?;
            }
            if test {
                found.p_values = report.p_values(&found)?;
            }
            if let Some(first) = report.first(&found) {
                Words::of(first)?;
                report.found.push(found);
            }
        }
        let (old, new) = (geometric_means(&old.rows)?, geometric_means(&new.rows)?);
        report.means = old.zip(new).map(<[_; 2]>::from).filter(|means| {
            let mut sides = means.iter();
            sides.all(|means| means.iter().any(|mean| *mean != 0.0))
        });
        Ok(report)
    }

    /// Returns the names in the first column of the table, without duplicates for repetitions.
    pub(crate) fn names(&self) -> impl Iterator<Item = Text<'a>> {
        let names = self.found.iter().filter_map(|found| {
            let first = self.first(found)?;
            first.text(Field::Name).ok()
        });
        names.chain(self.means.map(|_| overall_name()))
    }

    pub(crate) fn differences(&self) -> impl Iterator<Item = Difference<'a>> {
        let differences = self.found.iter().filter_map(|found| self.difference(found));
        differences.chain(self.means.map(overall))
    }

    fn rows(&self, side: usize, found: &Found) -> impl Iterator<Item = RowView<'a>> {
        let Range { start, end } = found.places[side];
        let rows = self.sides[side].rows;
        let places = &self.sides[side].order[start as usize..end as usize];
        places.iter().map(|place| rows.at(*place as usize))
    }

    /// Returns the first row of a benchmark on the old side; `None` if a side has no rows of it.
    fn first(&self, found: &Found) -> Option<RowView<'a>> {
        self.rows(1, found).next()?;
        self.rows(0, found).next()
    }

    fn measurements(
        &self,
        found: &Found,
    ) -> impl Iterator<Item = Result<Measurement<'a>, Problem>> {
        self.rows(0, found)
            .zip(self.rows(1, found))
            .map(|(old, new)| {
                let time = |field| Ok(Time::of(old.number(field)?, new.number(field)?));
                Ok(Measurement {
                    real: time(Field::RealTime)?,
                    cpu: time(Field::CpuTime)?,
                })
            })
    }

    /// Returns the comparison of a benchmark, whose rows `Report::of` has checked.
    fn difference(&self, found: &Found) -> Option<Difference<'a>> {
        let words = Words::of(self.first(found)?).ok()?;
        let repetitions = found.places.each_ref().map(ExactSizeIterator::len);
        Some(Difference {
            words,
            measurements: self.measurements(found).filter_map(Result::ok).collect(),
            test: found.p_values.map(|[cpu_p, real_p]| Test {
                optimal: repetitions[0].min(repetitions[1]) >= OPTIMAL_REPETITIONS,
                cpu_p,
                real_p,
                repetitions,
            }),
        })
    }

    /// Returns the p-values of the CPU times and the real times over all repetitions, even those
    /// without a partner on the other side; `None` if a side has fewer than [`MIN_REPETITIONS`].
    fn p_values(&self, found: &Found) -> Result<Option<[f64; 2]>, Problem> {
        let times = |side, field| {
            let times = self.rows(side, found);
            let times = times.map(|row| Ok(row.number(field)?.float()));
            times.collect::<Result<Vec<f64>, Problem>>()
        };
        let both = |field| Ok((times(0, field)?, times(1, field)?));
        let (cpu, real) = (both(Field::CpuTime)?, both(Field::RealTime)?);
        let least = cpu.0.len().min(cpu.1.len());
        Ok((least >= MIN_REPETITIONS).then(|| [p_value(cpu.0, cpu.1), p_value(real.0, real.1)]))
    }

    /// Returns the benchmarks that both sides have, in the order of the old side, as ranges in
    /// `order` of each side. The unit of a benchmark is the unit of its first row on the old side
    /// that has a unit and both times. Rows in another unit are excluded.
    fn partitions(&mut self) -> Result<Vec<[Range<u32>; 2]>, Problem> {
        let [old, new] = &mut self.sides;
        let in_new = new.group()?;
        let in_old = old.group()?;
        let (mut partitions, mut kept) = (Vec::new(), [Vec::new(), Vec::new()]);
        let of_new = |name: &Text<'_>| {
            let id = new.rows.texts.find(name.as_bytes())?;
            let place = in_new.by_text.get(id as usize)?.checked_sub(1)?;
            Some(in_new.ranges[place as usize].clone())
        };
        for range in in_old.ranges {
            let rows = &old.order[range.start as usize..range.end as usize];
            let name = old.rows.at(rows[0] as usize).text(Field::Name)?;
            let Some(theirs) = of_new(&name) else {
                continue;
            };
            let needed = [Field::TimeUnit, Field::RealTime, Field::CpuTime];
            let mut views = rows.iter().map(|place| old.rows.at(*place as usize));
            let first = views.find(|row| needed.iter().all(|field| row.get(*field).is_some()));
            let Some(first) = first else {
                continue;
            };
            let unit = first.text(Field::TimeUnit)?;
            let begin = kept.each_ref().map(|kept| kept.len() as u32);
            old.in_unit(range, &unit, &mut kept[0])?;
            new.in_unit(theirs, &unit, &mut kept[1])?;
            let end = kept.each_ref().map(|kept| kept.len() as u32);
            partitions.push([begin[0]..end[0], begin[1]..end[1]]);
        }
        [old.order, new.order] = kept;
        Ok(partitions)
    }
}

/// The rows of one side, and the indices of the compared rows, grouped by benchmark.
#[derive(Debug)]
struct Grouped<'a> {
    rows: &'a Rows,
    order: Vec<u32>,
}

/// The rows grouped by benchmark name: `ranges` has one range in [`Grouped::order`] per group.
/// `by_text` maps the number of a text to the number of its group, from 1; 0 if the text is not a
/// benchmark name.
struct Groups {
    ranges: Vec<Range<u32>>,
    by_text: Vec<u32>,
}

impl<'a> Grouped<'a> {
    fn of(rows: &'a Rows) -> Self {
        Self {
            rows,
            order: Vec::new(),
        }
    }

    /// Groups the rows by name and sets `order`. Groups are in the order in which their names first
    /// appear.
    fn group(&mut self) -> Result<Groups, Problem> {
        let mut by_text = vec![0; self.rows.texts.len()];
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for row in self.rows.iter() {
            let group = &mut by_text[row.text_id(Field::Name)? as usize];
            if *group == 0 {
                ranges.push(0..0);
                *group = ranges.len() as u32;
            }
            ranges[*group as usize - 1].end += 1;
        }
        let mut begin = 0;
        for range in &mut ranges {
            let rows = range.end;
            *range = begin..begin;
            begin += rows;
        }
        self.order = vec![0; begin as usize];
        for (place, row) in self.rows.iter().enumerate() {
            let group = by_text[row.text_id(Field::Name)? as usize];
            let range = &mut ranges[group as usize - 1];
            self.order[range.end as usize] = place as u32;
            range.end += 1;
        }
        Ok(Groups { ranges, by_text })
    }

    /// Appends to `kept` the rows of a range whose time unit is `unit`.
    fn in_unit(
        &self,
        range: Range<u32>,
        unit: &Text<'_>,
        kept: &mut Vec<u32>,
    ) -> Result<(), Problem> {
        for place in &self.order[range.start as usize..range.end as usize] {
            let row = self.rows.at(*place as usize);
            if row.text(Field::TimeUnit)?.as_bytes() == unit.as_bytes() {
                kept.push(*place);
            }
        }
        Ok(())
    }
}

impl<'a> Time<'a> {
    /// Returns the two times with their relative change: the difference divided by the absolute old
    /// time, or by the mean of the two times if the old time is 0. The change is 0 if both times
    /// are 0.
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

fn p_value(mut old: Vec<f64>, mut new: Vec<f64>) -> f64 {
    if old.iter().chain(&new).any(|time| time.is_nan()) {
        return f64::NAN;
    }
    if old.iter().chain(&new).any(|time| time.is_infinite()) {
        // The test uses only the order of the times, so ranks can replace them, infinities
        // included.
        let mut all = [old.as_slice(), &new].concat();
        all.sort_by(f64::total_cmp);
        for time in old.iter_mut().chain(&mut new) {
            *time = all.partition_point(|other| other < time) as f64;
        }
    }
    scipy_mann_whitney_p(&old, &new).unwrap_or(f64::NAN)
}

/// Returns the geometric means of all real and of all CPU times of a side, in seconds; `None` if
/// all rows are aggregates.
fn geometric_means(rows: &Rows) -> Result<Option<[f64; 2]>, Problem> {
    let (mut count, mut logarithms) = (0, [0.0; 2]);
    for row in rows.iter().filter(|row| !row.is_aggregate()) {
        let unit = match row.get(Field::TimeUnit) {
            None => "s".into(),
            Some(_) => row.text(Field::TimeUnit)?,
        };
        let seconds = match unit.as_bytes() {
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

fn overall_name<'a>() -> Text<'a> {
    "OVERALL_GEOMEAN".into()
}

fn overall<'a>([old, new]: [[f64; 2]; 2]) -> Difference<'a> {
    let time = |which: usize| Time::of(Number::Float(old[which]), Number::Float(new[which]));
    Difference {
        words: Words {
            name: overall_name(),
            label: "".into(),
            time_unit: "s".into(),
            run_type: "aggregate".into(),
            aggregate_name: "geomean".into(),
        },
        measurements: vec![Measurement {
            real: time(0),
            cpu: time(1),
        }],
        test: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_relative_to_the_size_of_the_old_number() {
        let change = |old, new| Time::of(old, new).change;
        let (whole, float) = (Number::Whole, Number::Float);
        assert_eq!(change(whole(10), whole(9)), -0.1);
        assert_eq!(change(float(-2.0), whole(1)), 1.5);
        assert_eq!(change(whole(0), float(5.0)), 2.0);
        assert_eq!(change(float(-0.0), whole(0)), 0.0);
        assert!(change(float(f64::NAN), whole(1)).is_nan());
    }
}
