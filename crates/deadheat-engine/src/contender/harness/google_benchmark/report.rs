//! The report of a launch: the JSON of Google Benchmark, read.

use std::borrow::Cow;

use deadheat_model::{Harness, Json, Object};

use crate::command_failure::HarnessError;
use crate::contender::harness::adapter::{MOST_NS, Repetition};

/// Fields of a repetition that are not counters of the user.
const KNOWN: [&str; 19] = [
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "time_unit",
    "label",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "aggregate_name",
    "aggregate_unit",
];

/// The repetitions of one benchmark in a report, in the order they ran; never
/// none.
pub(super) fn repetitions(text: &str, benchmark: &str) -> Result<Vec<Repetition>, HarnessError> {
    let report = Json::parse(&without_odd_numbers(text));
    let report = report.as_ref().and_then(Json::as_object);
    let rows = report.and_then(|report| report.get("benchmarks")?.as_list());
    let rows = rows.ok_or_else(|| HarnessError::garbled(Harness::GoogleBenchmark, text))?;
    let rows: Vec<&Object> = rows.iter().filter_map(Json::as_object).collect();
    let is_of_it = |row: &&&Object| {
        let named = |field| row.get(field).and_then(Json::as_text) == Some(benchmark);
        named("name") || named("run_name")
    };
    let (single, aggregates): (Vec<&Object>, Vec<&Object>) =
        rows.iter().filter(is_of_it).partition(|row| {
            // Releases before 1.5 tell no type; there aggregates have a name of
            // their own.
            row.get("run_type")
                .is_none_or(|kind| kind.as_text() == Some("iteration"))
        });
    if single.is_empty() {
        return Err(if aggregates.is_empty() {
            HarnessError::Missing(Harness::GoogleBenchmark)
        } else {
            HarnessError::OnlyAggregates
        });
    }
    let read = single.iter().enumerate();
    read.map(|(index, row)| repetition(row, index)).collect()
}

fn repetition(row: &Object, index: usize) -> Result<Repetition, HarnessError> {
    let message = |flag, text| {
        let set = row.get(flag) == Some(&Json::Bool(true));
        let message = row.get(text).and_then(Json::as_text);
        let message = message.filter(|message| !message.is_empty());
        set.then(|| message.unwrap_or("it gives no reason").to_owned())
    };
    if let Some(message) = message("error_occurred", "error_message") {
        return Err(HarnessError::Error(message));
    }
    if let Some(message) = message("skipped", "skip_message") {
        return Err(HarnessError::Skipped(message));
    }
    let no = |field: &'static str| HarnessError::Number {
        field,
        repetition: index,
        found: match row.get(field) {
            None => "it is not there".to_owned(),
            Some(Json::Null) => "no finite number".to_owned(),
            Some(found) => match found.as_number() {
                Some(number) => number.to_string(),
                None => found.as_text().unwrap_or("no number").to_owned(),
            },
        },
    };
    let unit = match row.get("time_unit").and_then(Json::as_text) {
        None | Some("ns") => 1.0,
        Some("us") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        Some(_) => return Err(no("time_unit")),
    };
    let iterations = row.get("iterations").and_then(Json::as_number);
    let iterations = iterations.filter(|iterations| (1.0..=MOST_NS).contains(iterations));
    let iterations = iterations.ok_or_else(|| no("iterations"))?;
    let time = |field| {
        let time = row.get(field).and_then(Json::as_number);
        let time = time.map(|time| time * unit);
        let time = time.filter(|time| *time >= 0.0 && time * iterations <= MOST_NS);
        time.ok_or_else(|| no(field))
    };
    let threads = row.get("threads").and_then(Json::as_u64).unwrap_or(1);
    let threads = threads.clamp(1, u64::from(u32::MAX));
    let counters = row.fields().filter_map(|(name, value)| {
        let value = match value {
            Json::Null => None,
            value => Some(value.as_number()?),
        };
        (!KNOWN.contains(&name)).then(|| (name.to_owned(), value))
    });
    Ok(Repetition {
        iterations: iterations as u64,
        told: iterations as u64 / threads,
        wall_ns: time("real_time")?,
        cpu_ns: Some(time("cpu_time")?),
        threads: threads as u32,
        counters: counters.collect(),
    })
}

/// The same text with `null` for every `NaN`, `-nan`, `inf`, `Infinity` and
/// their like outside strings.
fn without_odd_numbers(text: &str) -> Cow<'_, str> {
    let mut clean = String::new();
    // What was copied already.
    let mut done = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_text(bytes, at),
            // An `e` in a number is no word.
            b'0'..=b'9' => at = end_of(bytes, at, |byte| !is_of_number(byte)),
            sign @ (b'-' | b'a'..=b'z' | b'A'..=b'Z') => {
                let word = at + usize::from(sign == b'-');
                let end = end_of(bytes, word, |byte| !byte.is_ascii_alphabetic());
                let is_word = |odd: &&str| text[word..end].eq_ignore_ascii_case(odd);
                if ["nan", "inf", "infinity"].iter().any(is_word) {
                    clean.push_str(&text[done..at]);
                    clean.push_str("null");
                    done = end;
                }
                at = end.max(at + 1);
            }
            _ => at += 1,
        }
    }
    match done {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(clean + &text[done..]),
    }
}

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// The first place from here on that fits, or the end.
fn end_of(bytes: &[u8], from: usize, fits: impl Fn(u8) -> bool) -> usize {
    let rest = &bytes[from..];
    from + rest.iter().position(|b| fits(*b)).unwrap_or(rest.len())
}

/// Behind the closing quote of the string that begins here.
fn end_of_text(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(rows: &[&str]) -> String {
        format!(
            r#"{{"context": {{"num_cpus": 2}}, "benchmarks": [{}]}}"#,
            rows.join(",")
        )
    }

    const ONE: &str = r#"{"name": "a", "run_name": "a", "run_type": "iteration", "threads": 2,
        "iterations": 10, "real_time": 1.5, "cpu_time": 2e0, "time_unit": "us",
        "bytes_per_second": 8.0, "odd": -NaN, "debt": -3, "label": "x", "future": {"a": 1}}"#;

    #[test]
    fn times_are_nanoseconds_and_other_numbers_are_counters() {
        let read = repetitions(&report(&[ONE]), "a").unwrap();
        let expected = Repetition {
            iterations: 10,
            told: 5,
            wall_ns: 1500.0,
            cpu_ns: Some(2000.0),
            threads: 2,
            counters: vec![
                ("bytes_per_second".to_owned(), Some(8.0)),
                ("odd".to_owned(), None),
                ("debt".to_owned(), Some(-3.0)),
            ],
        };
        assert_eq!(read, [expected]);
        assert_eq!(read[0].took_ns(), 15_000.0);
        assert_eq!(read[0].counter("bytes_per_second"), Ok(8.0));
        for (counter, found) in [("odd", "finite"), ("debt", "-3"), ("none", "not there")] {
            let reason = read[0].counter(counter).unwrap_err();
            assert!(reason.contains(found), "{reason}");
        }
    }

    #[test]
    fn aggregates_fits_and_other_benchmarks_are_passed_over() {
        let mean = r#"{"name": "a_mean", "run_name": "a", "run_type": "aggregate", "iterations": 3,
            "real_time": 1, "cpu_time": 1}"#;
        let fit = r#"{"name": "a_BigO", "run_name": "a", "run_type": "aggregate",
            "cpu_coefficient": 1, "big_o": "N", "time_unit": "ns"}"#;
        let other = r#"{"name": "b", "run_type": "iteration", "iterations": 3,
            "real_time": 1, "cpu_time": 1}"#;
        let text = report(&[ONE, other, ONE, mean, fit]);
        assert_eq!(repetitions(&text, "a").unwrap().len(), 2);
        assert_eq!(
            repetitions(&report(&[mean]), "a"),
            Err(HarnessError::OnlyAggregates)
        );
        assert_eq!(
            repetitions(&text, "c"),
            Err(HarnessError::Missing(Harness::GoogleBenchmark))
        );
    }

    #[test]
    fn reports_of_old_releases_are_read_too() {
        let row = r#"{"name": "a", "iterations": 10, "real_time": 15, "cpu_time": 14}"#;
        let mean = r#"{"name": "a_mean", "iterations": 10, "real_time": 15, "cpu_time": 14}"#;
        let read = repetitions(&report(&[row, mean]), "a").unwrap();
        assert_eq!((read.len(), read[0].wall_ns, read[0].threads), (1, 15.0, 1));
    }

    #[test]
    fn errors_and_skips_come_with_their_message() {
        let row = |fields: &str| {
            report(&[&format!(
                r#"{{"name": "a", "iterations": 0, {fields}, "real_time": 0, "cpu_time": 0}}"#
            )])
        };
        let error = row(r#""error_occurred": true, "error_message": "no \"db\"""#);
        let expected = HarnessError::Error("no \"db\"".to_owned());
        assert_eq!(repetitions(&error, "a"), Err(expected));
        let skipped = row(r#""skipped": true, "skip_message": "too old""#);
        let expected = HarnessError::Skipped("too old".to_owned());
        assert_eq!(repetitions(&skipped, "a"), Err(expected));
    }

    #[test]
    fn numbers_that_cannot_be_are_named() {
        for (row, named) in [
            (
                r#""iterations": 0, "real_time": 1, "cpu_time": 1"#,
                "iterations",
            ),
            (
                r#""iterations": 1e300, "real_time": 1, "cpu_time": 1"#,
                "iterations",
            ),
            (
                r#""iterations": 1, "real_time": NaN, "cpu_time": 1"#,
                "real_time",
            ),
            (
                r#""iterations": 2, "real_time": 1e308, "cpu_time": 1"#,
                "real_time",
            ),
            (
                r#""iterations": 1, "real_time": 1, "cpu_time": 1e12, "time_unit": "s""#,
                "cpu_time",
            ),
            (
                r#""iterations": 1, "real_time": 1, "cpu_time": -1"#,
                "cpu_time",
            ),
            (
                r#""iterations": 1, "real_time": 1, "cpu_time": 1, "time_unit": "d""#,
                "time_unit",
            ),
        ] {
            let text = report(&[&format!(r#"{{"name": "a", {row}}}"#)]);
            let problem = repetitions(&text, "a").unwrap_err().to_string();
            assert!(problem.contains(named), "{problem}");
            assert!(problem.contains("repetition 0"), "{problem}");
        }
    }

    #[test]
    fn what_is_no_report_is_quoted() {
        for text in ["hello", "{}", r#"{"benchmarks": 1}"#, r#"{"benchmarks": ["#] {
            let problem = repetitions(text, "a").unwrap_err();
            assert_eq!(
                problem,
                HarnessError::garbled(Harness::GoogleBenchmark, text)
            );
        }
    }

    #[test]
    fn what_is_no_number_becomes_null_outside_strings_only() {
        let odd = r#"{"a": NaN, "b": -nan, "NaN": "inf \" NaN", "c": [Infinity,-Infinity,inf]}"#;
        let clean = r#"{"a": null, "b": null, "NaN": "inf \" NaN", "c": [null,null,null]}"#;
        assert_eq!(without_odd_numbers(odd), clean);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            r#"{"a": 1.5e+10, "b": -3E-7, "c": true, "d": null, "e": "ü\\"}"#,
            "",
            "-",
            "\"never closed \\",
            "information",
        ] {
            assert!(matches!(without_odd_numbers(text), Cow::Borrowed(same) if same == text));
        }
    }
}
