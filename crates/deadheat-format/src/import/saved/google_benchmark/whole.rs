//! A file of any release as a whole, where it is not read row by row; this also finds out where it
//! is wrong.

use std::collections::HashSet;
use std::fmt;

use deadheat_model::Results;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::results::{Context, Families, Row, RunType, without_benchmarks};
use super::row_by_row::read_pieces;
use crate::error::FileProblem;
use crate::import::saved::json::{Number, from_json};

#[derive(Debug, Deserialize)]
struct Wire {
    #[serde(default)]
    context: Context,
    benchmarks: Vec<Row<'static>>,
}

/// Reads a file.
pub(in crate::import::saved) fn read(text: &[u8]) -> Result<Results, FileProblem> {
    read_pieces(text).map_or_else(|| read_whole(text), Ok)
}

/// Reads a file that may be in any order and of any release.
fn read_whole(text: &[u8]) -> Result<Results, FileProblem> {
    let wire: Wire = from_json(text)?;
    let mut results = without_benchmarks(wire.context)?;
    let mut families = Families::default();
    let old_summaries = OldSummaries::of(&wire.benchmarks);
    for (index, mut row) in wire.benchmarks.into_iter().enumerate() {
        old_summaries.mark(&mut row);
        let place = format!("benchmarks[{index}].");
        let taken = families.take(&mut row);
        taken.map_err(|problem| problem.within(&place, ""))?;
    }
    families.give_to(&mut results);
    Ok(results)
}

/// Releases before 1.5 did not say which rows are summaries: they are known by how their names end,
/// where the rows they sum up are there, or the mean beside the standard deviation.
struct OldSummaries {
    names: HashSet<String>,
}

impl OldSummaries {
    fn of(rows: &[Row<'_>]) -> Self {
        let old = rows.iter().any(|row| row.run_type.is_none());
        let names = rows.iter().filter(|_| old).map(|row| row.name.to_string());
        Self {
            names: names.collect(),
        }
    }

    fn mark(&self, row: &mut Row<'_>) {
        if row.run_type.is_some() {
            return;
        }
        let Some((base, statistic)) = row.name.rsplit_once('_') else {
            return;
        };
        let named = |statistic: &str| self.names.contains(&format!("{base}_{statistic}"));
        let summed = self.names.contains(base) || (named("mean") && named("stddev"));
        let known = ["mean", "median", "stddev", "cv", "BigO", "RMS"];
        if known.contains(&statistic) && (summed || matches!(statistic, "BigO" | "RMS")) {
            row.run_name = Some(base.to_owned().into());
            row.aggregate_name = Some(statistic.to_owned().into());
            row.run_type = Some(RunType::Aggregate);
        }
    }
}

impl<'de> Deserialize<'de> for Row<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Row<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a benchmark")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Row<'static>, M::Error> {
        let mut row = Row::default();
        let mut name = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => name = Some(map.next_value()?),
                "run_name" => row.run_name = map.next_value()?,
                "run_type" => row.run_type = map.next_value()?,
                "aggregate_name" => row.aggregate_name = map.next_value()?,
                "family_index" => row.family_index = map.next_value()?,
                "per_family_instance_index" => row.per_family_instance_index = map.next_value()?,
                "threads" => row.threads = map.next_value()?,
                "label" => row.label = map.next_value()?,
                "error_occurred" => row.error_occurred = map.next_value()?,
                "error_message" => row.error_message = map.next_value()?,
                "skipped" => row.skipped = map.next_value()?,
                "skip_message" => row.skip_message = map.next_value()?,
                "real_time" => row.real_time = Some(map.next_value()?),
                "cpu_time" => row.cpu_time = Some(map.next_value()?),
                "time_unit" => row.time_unit = map.next_value()?,
                "iterations" | "repetitions" | "repetition_index" | "aggregate_unit" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    if let Counter(Some(value)) = map.next_value()? {
                        row.counters.push((key.into(), value));
                    }
                }
            }
        }
        row.name = name.ok_or_else(|| serde::de::Error::missing_field("name"))?;
        Ok(row)
    }
}

/// The value of a field that nobody knows: a counter where it is a number.
struct Counter(Option<Number>);

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Number(Number),
            Other(IgnoredAny),
        }
        Ok(match Any::deserialize(deserializer)? {
            Any::Number(number) => Counter(Some(number)),
            Any::Other(IgnoredAny) => Counter(None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: &str = r#"{
  "context": {"date": "2026-01-31T10:00:00+01:00", "host_name": "a", "num_cpus": 4,
    "caches": [{"type": "Data", "level": 1}], "load_avg": [0.5, 1], "library_version": "v1.9.5",
    "library_build_type": "debug", "json_schema_version": 1},
  "benchmarks": [
    {"name": "BM_a/8", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_a/8",
      "run_type": "iteration", "repetitions": 2, "repetition_index": 0, "threads": 1,
      "iterations": 1000, "real_time": 1.25e+01, "cpu_time": 12, "time_unit": "us",
      "bytes_per_second": 3.5e9, "own": NaN, "label": "x"},
    {"name": "BM_a/8", "family_index": 0, "per_family_instance_index": 0, "run_name": "BM_a/8",
      "run_type": "iteration", "real_time": 13.5, "cpu_time": 0.1, "time_unit": "us",
      "bytes_per_second": 3, "own": 7, "words": "inf", "label": null},
    {"name": "BM_a/8_mean", "run_name": "BM_a/8", "run_type": "aggregate",
      "aggregate_name": "mean", "aggregate_unit": "time", "real_time": 13, "cpu_time": 1,
      "time_unit": "us"},
    {"name": "BM_\"b\"\u00e9", "run_type": "iteration", "error_occurred": true,
      "error_message": "no", "real_time": 0, "cpu_time": 0, "time_unit": "ns"},
    {"name": "c", "run_type": "iteration", "skipped": true, "skip_message": "later"},
    {"name": "BM_d_BigO", "run_name": "BM_d", "run_type": "aggregate", "aggregate_name": "BigO",
      "cpu_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
    {"name": "BM_d_median", "run_name": "BM_d", "run_type": "aggregate",
      "aggregate_name": "median", "real_time": 2, "cpu_time": 1, "time_unit": "s"}
  ]
}
"#;

    /// Both ways of reading agree, where the one row by row reads it at all.
    fn agree(text: &[u8]) -> bool {
        let in_pieces = read_pieces(text);
        if let Some(in_pieces) = &in_pieces {
            assert_eq!(read_whole(text).as_ref().ok(), Some(in_pieces));
        }
        in_pieces.is_some()
    }

    #[test]
    fn a_plain_file_is_read_row_by_row_as_it_is_read_as_a_whole() {
        assert!(agree(PLAIN.as_bytes()));
        assert!(agree(format!("\u{feff} {PLAIN} \n").as_bytes()));
        assert!(
            agree(br#"{"benchmarks": [], "context": {}}"#),
            "as sorted by name"
        );
        let skipped = PLAIN.lines().find(|line| line.contains("skipped")).unwrap();
        let long = PLAIN.replacen(skipped, &format!("{skipped}\n").repeat(20_000), 1);
        assert!(
            long.len() > 1_000_000 && agree(long.as_bytes()),
            "in many pieces"
        );
    }

    #[test]
    fn what_the_library_writes_is_read_row_by_row() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let files = std::fs::read_dir(folder.join("tests/golden/saved/google_benchmark")).unwrap();
        for file in files {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = std::fs::read(&file).unwrap();
            // Releases before 1.5 did not say which rows are summaries.
            let old = file.to_string_lossy().contains("/1.4");
            assert_eq!(agree(&text), !old, "{}", file.display());
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_reader_of_whole_files() {
        for (old, new) in [
            ("\"context\"", "\"version\""),
            ("\"run_type\": \"aggregate\",", ""),
            ("\"run_type\": \"aggregate\"", "\"run_type\": \"other\""),
            ("\"json_schema_version\": 1", "\"json_schema_version\": 2"),
            ("\"real_time\": 13.5", "\"real_time\": NaN"),
            ("\"real_time\": 13.5", "\"real_time\": -1"),
            ("\"real_time\": 13.5", "\"real_time\": 1e999"),
            ("\"real_time\": 13.5,", ""),
            ("\"time_unit\": \"us\"", "\"time_unit\": \"h\""),
            ("\"threads\": 1", "\"threads\": -1"),
            ("\"own\": 7", "\"own\": [7]"),
            ("\"own\": 7", "\"own\": 1e999"),
            ("\"name\": \"c\",", ""),
            ("\"name\": \"c\"", "\"name\": null"),
            ("\"skipped\": true", "\"skipped\": 1"),
            ("  ]\n}", "  ]"),
            ("  ]\n}", "  ]}}"),
            ("  ]\n}", "  ],}"),
            ("  ]\n}", "  ], \"benchmarks\": []}"),
            ("{\n  \"context\"", "[\n  \"context\""),
        ] {
            let text = PLAIN.replacen(old, new, 1);
            assert_ne!(text, PLAIN, "{old}");
            assert_eq!(read_pieces(text.as_bytes()), None, "{new}");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_file_is_read_row_by_row_only_as_it_is_read_as_a_whole(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..3),
            sign in prop::sample::select(&b"0123456789.eE+-,[]{}\":tnuNaIif\\ \x7f\xff"[..]),
        ) {
            let mut text = PLAIN.as_bytes().to_vec();
            for (place, insert) in places {
                let place = place.index(text.len());
                if insert {
                    text.insert(place, sign);
                } else {
                    text[place] = sign;
                }
            }
            agree(&text);
        }

        #[test]
        fn every_time_is_read_to_the_last_bit(time in prop::num::f64::POSITIVE) {
            let digits = serde_json::to_string(&time).unwrap();
            let text = PLAIN.replacen("1.25e+01", &digits, 1);
            agree(text.as_bytes());
        }
    }
}
