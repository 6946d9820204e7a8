//! Which rows of two sides belong to one benchmark.

use std::collections::HashMap;

use crate::document::Results;
use crate::problem::Problem;
use crate::row::{Field, Row};
use crate::value::Text;

/// The rows of one benchmark, all in one unit.
#[derive(Debug)]
pub(crate) struct Partition<'r, 'a> {
    pub(crate) name: &'r Text<'a>,
    pub(crate) unit: &'r Text<'a>,
    pub(crate) old: Vec<&'r Row<'a>>,
    pub(crate) new: Vec<&'r Row<'a>>,
}

/// The benchmarks that both sides have, in the order of the first. The unit of each is that of the
/// first row of the first side that has a unit and both times; rows in another unit are left out.
pub(crate) fn partitions<'r, 'a>(
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
