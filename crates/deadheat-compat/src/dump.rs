//! The report as JSON, as Python's `json.dump(report, file, indent=1)` writes it.

use std::fmt;

use crate::difference::{Difference, Measurement, Report, Test};
use crate::value::{Number, Text, spelled_float};

impl Report<'_> {
    /// Writes the whole report, in ASCII, without an end of line behind it.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn dump(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut before = "[\n ";
        for difference in self.differences() {
            out.write_str(before)?;
            out.write_str(&self::difference(&difference))?;
            before = ",\n ";
        }
        out.write_str(if before == "[\n " { "[]" } else { "\n]" })
    }
}

fn difference(difference: &Difference<'_>) -> String {
    let Difference {
        words,
        measurements,
        test,
    } = difference;
    let measurements = measurements.iter().map(measurement).collect();
    let fields = [
        ("name", string(&words.name)),
        ("label", string(&words.label)),
        ("measurements", bracketed('[', measurements, ']', 2)),
        ("time_unit", string(&words.time_unit)),
        ("run_type", string(&words.run_type)),
        ("aggregate_name", string(&words.aggregate_name)),
        (
            "utest",
            object(&test.as_ref().map_or(Vec::new(), u_test), 2),
        ),
    ];
    object(&fields, 1)
}

fn measurement(measurement: &Measurement<'_>) -> String {
    let Measurement { real, cpu } = measurement;
    let fields = [
        ("real_time", number(real.old)),
        ("cpu_time", number(cpu.old)),
        ("real_time_other", number(real.new)),
        ("cpu_time_other", number(cpu.new)),
        ("time", float(real.change)),
        ("cpu", float(cpu.change)),
    ];
    object(&fields, 3)
}

fn u_test(test: &Test) -> Vec<(&'static str, String)> {
    vec![
        ("have_optimal_repetitions", test.optimal.to_string()),
        ("cpu_pvalue", float(test.cpu_p)),
        ("time_pvalue", float(test.real_p)),
        ("nr_of_repetitions", test.repetitions[0].to_string()),
        ("nr_of_repetitions_other", test.repetitions[1].to_string()),
    ]
}

/// Fields in braces; see [`bracketed`].
fn object(fields: &[(&str, String)], depth: usize) -> String {
    let fields = fields
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"));
    bracketed('{', fields.collect(), '}', depth)
}

/// Items in brackets, each on a line of its own, one space further in than the brackets, which
/// stand so many spaces in.
fn bracketed(open: char, items: Vec<String>, close: char, depth: usize) -> String {
    if items.is_empty() {
        return format!("{open}{close}");
    }
    let (outside, inside) = (" ".repeat(depth), " ".repeat(depth + 1));
    let items = items.join(&format!(",\n{inside}"));
    format!("{open}\n{inside}{items}\n{outside}{close}")
}

fn number(number: Number<'_>) -> String {
    match number {
        Number::Whole(number) => number.to_string(),
        Number::Digits(digits) => digits.to_owned(),
        Number::Float(number) => float(number),
    }
}

fn float(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        format!("{sign}Infinity")
    } else {
        spelled_float(number)
    }
}

fn string(text: &Text<'_>) -> String {
    let mut json = String::from('"');
    for scalar in text.scalars() {
        match char::from_u32(scalar) {
            Some('"') => json += "\\\"",
            Some('\\') => json += "\\\\",
            Some('\n') => json += "\\n",
            Some('\r') => json += "\\r",
            Some('\t') => json += "\\t",
            Some('\u{8}') => json += "\\b",
            Some('\u{c}') => json += "\\f",
            Some(c @ ' '..='~') => json.push(c),
            Some(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    json += &format!("\\u{unit:04x}");
                }
            }
            None => json += &format!("\\u{scalar:04x}"),
        }
    }
    json + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_objects_are_indented_by_one() {
        let list = bracketed('[', vec!["1".to_owned(), object(&[], 2)], ']', 1);
        let want = "{\n \"a\": [\n  1,\n  {}\n ],\n \"b\": NaN\n}";
        assert_eq!(object(&[("a", list), ("b", float(f64::NAN))], 0), want);
    }

    #[test]
    fn strings_are_ascii() {
        let mut bytes = "ä\u{1f600}\"\\\u{7f}\u{1}/".as_bytes().to_vec();
        crate::value::push_scalar(&mut bytes, 0xdc00);
        let want = r#""\u00e4\ud83d\ude00\"\\\u007f\u0001/\udc00""#;
        assert_eq!(string(&Text::new(bytes)), want);
    }

    #[test]
    fn numbers_that_are_none_have_names() {
        let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0].map(float);
        assert_eq!(numbers, ["NaN", "Infinity", "-Infinity", "1.0"]);
        assert_eq!(number(Number::Digits("12345678901234567890123")).len(), 23);
        assert_eq!(number(Number::Whole(-7)), "-7");
    }
}
