//! Which rows of two sides belong to one benchmark.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::document::Results;
use crate::problem::Problem;
use crate::row::Row;
use crate::value::Value;

/// The rows of one benchmark, all in one unit.
#[derive(Debug)]
pub(crate) struct Partition<'r, 'a> {
    pub(crate) unit: &'r Value<'a>,
    pub(crate) old: Vec<&'r Row<'a>>,
    pub(crate) new: Vec<&'r Row<'a>>,
}

/// The benchmarks that both sides have, in the order of the first. The unit of each is that of the first row of the first
/// side that has a unit and both times; rows in another unit are left out.
pub(crate) fn partitions<'r, 'a>(
    old: &'r Results<'a>,
    new: &'r Results<'a>,
) -> Result<Vec<Partition<'r, 'a>>, Problem> {
    let old = Groups::of(old)?;
    let new = Groups::of(new)?;
    let mut partitions = Vec::new();
    for (key, old) in old.in_order() {
        let Some(new) = new.get(key) else {
            continue;
        };
        let first = old.iter().find(|row| row.is_comparable());
        let unit = match first.and_then(|row| row.time_unit.as_ref()) {
            None | Some(Value::Null) => continue,
            Some(unit) => unit,
        };
        let partition = Partition {
            unit,
            old: in_unit(old, unit)?,
            new: in_unit(new, unit)?,
        };
        if partition.old.is_empty() {
            // NaN is not the unit of its own row.
            return Err(Problem::of_field(old[0], "time_unit", "NaN is no unit"));
        }
        partitions.push(partition);
    }
    Ok(partitions)
}

fn in_unit<'r, 'a>(rows: &[&'r Row<'a>], unit: &Value<'_>) -> Result<Vec<&'r Row<'a>>, Problem> {
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        if row.time_unit()?.equals(unit) {
            kept.push(*row);
        }
    }
    Ok(kept)
}

/// A name that rows share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'r> {
    Text(&'r [u8]),
    Null,
    Number(String),
}

struct Groups<'r, 'a> {
    places: HashMap<Key<'r>, usize>,
    groups: Vec<Vec<&'r Row<'a>>>,
    /// By place.
    keys: Vec<Key<'r>>,
}

impl<'r, 'a> Groups<'r, 'a> {
    fn of(results: &'r Results<'a>) -> Result<Self, Problem> {
        let mut all = Self {
            places: HashMap::new(),
            groups: Vec::new(),
            keys: Vec::new(),
        };
        for row in &results.rows {
            let Some(key) = key(row)? else {
                continue;
            };
            // Repetitions mostly follow one another.
            let last = all.keys.len().wrapping_sub(1);
            if all.keys.last() == Some(&key) {
                all.groups[last].push(row);
                continue;
            }
            match all.places.entry(key) {
                Entry::Occupied(place) => all.groups[*place.get()].push(row),
                Entry::Vacant(place) => {
                    all.keys.push(place.key().clone());
                    place.insert(all.groups.len());
                    all.groups.push(vec![row]);
                }
            }
        }
        Ok(all)
    }

    fn in_order(&self) -> impl Iterator<Item = (&Key<'r>, &[&'r Row<'a>])> {
        self.keys.iter().zip(self.groups.iter().map(Vec::as_slice))
    }

    fn get(&self, key: &Key<'_>) -> Option<&[&'r Row<'a>]> {
        self.places
            .get(key)
            .map(|place| self.groups[*place].as_slice())
    }
}

/// What a row is found by; `None` for NaN, which no row is found by.
fn key<'r>(row: &'r Row<'_>) -> Result<Option<Key<'r>>, Problem> {
    let name = row.name()?;
    match name {
        Value::Text(text) => Ok(Some(Key::Text(text.as_bytes()))),
        Value::Null => Ok(Some(Key::Null)),
        Value::List(_) | Value::Dict(_) => Err(Problem::of_field(
            row,
            "name",
            format!("should be a string and is a {}", name.type_name()),
        )),
        number => Ok(number.digits().map(Key::Number)),
    }
}
