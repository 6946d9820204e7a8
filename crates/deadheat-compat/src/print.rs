//! The output of a report: the table on standard output, and the dump, which is JSON as Python's
//! `json.dump(report, file, indent=1)` writes it.

use std::fmt;

use crate::difference::{Difference, Measurement, OPTIMAL_REPETITIONS, Report, Test, Time};
use crate::problem::Problem;
use crate::value::{Number, Text, spelled_float};

const HEADER: &str = "\x1b[92m";
const WARNING: &str = "\x1b[93m";
const OK: &str = "\x1b[32m";
const FAIL: &str = "\x1b[91m";
const WHITE: &str = "\x1b[97m";
const CYAN: &str = "\x1b[96m";
const END: &str = "\x1b[0m";

/// The suffix of the benchmark's name in the table row of its U test.
const TEST_SUFFIX: &str = "_pvalue";

/// The layout of a printed report: its rows and its colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// True to print only aggregates and U tests.
    pub aggregates_only: bool,
    /// True to print a row with the U test below each benchmark.
    pub test: bool,
    /// The limit for the colour of p-values: red from this value on, green below.
    pub alpha: f64,
    /// True to use escape sequences for colours.
    pub colour: bool,
}

/// The number of bytes after which the buffered part of a table is written.
const AT_ONCE: usize = 64 << 10;

impl Report<'_> {
    /// Writes the table. If a name contains a lone surrogate, stops before its row and returns the
    /// problem, because such a name cannot be printed.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
    pub fn table(
        &self,
        layout: &Layout,
        out: &mut dyn fmt::Write,
    ) -> Result<Option<Problem>, fmt::Error> {
        let longest = self.names().map(|name| name.width()).max();
        let width = longest.unwrap_or(0).max("Benchmark".len()) + TEST_SUFFIX.len();
        let titles = "Time             CPU      Time Old      Time New       CPU Old       CPU New";
        let head = format!("{:<1$}{titles}", "Benchmark", width + 12);
        let mut table = format!("{head}\n{}\n", "-".repeat(head.len()));
        for difference in self.differences() {
            let rows = !layout.aggregates_only || difference.words.run_type == "aggregate".into();
            let test = difference.test.filter(|_| layout.test);
            if !rows && test.is_none() {
                continue;
            }
            let name = &difference.words.name;
            let Some(name) = name.printable() else {
                let what = format!(
                    "the name {:?} has half a surrogate pair and cannot be printed",
                    name.lossy()
                );
                out.write_str(&table)?;
                return Ok(Some(Problem::at("", what)));
            };
            let line = Line {
                name,
                width,
                colour: layout.colour,
            };
            if rows {
                for measurement in &difference.measurements {
                    line.measurement(&mut table, measurement);
                }
            }
            if let Some(test) = test {
                line.test(&mut table, &test, layout.alpha);
            }
            if table.len() > AT_ONCE {
                out.write_str(&table)?;
                table.clear();
            }
        }
        out.write_str(&table)?;
        Ok(None)
    }
}

struct Line<'n> {
    name: &'n str,
    width: usize,
    colour: bool,
}

impl Line<'_> {
    fn code(&self, code: &'static str) -> &'static str {
        if self.colour { code } else { "" }
    }

    fn measurement(&self, table: &mut String, measurement: &Measurement<'_>) {
        let Measurement { real, cpu } = measurement;
        let end = self.code(END);
        self.begin(table, self.name);
        for time in [real, cpu] {
            *table += self.code(change_colour(time.change));
            pad(table, time.change, 16, 4, true);
            *table += end;
        }
        self.pair(table, real);
        *table += end;
        self.pair(table, cpu);
        table.push('\n');
    }

    fn pair(&self, table: &mut String, time: &Time<'_>) {
        for number in [time.old, time.new] {
            pad(table, number.float(), 14, 0, false);
        }
    }

    fn test(&self, table: &mut String, test: &Test, alpha: f64) {
        self.begin(table, &format!("{}{TEST_SUFFIX}", self.name));
        for p in [test.real_p, test.cpu_p] {
            *table += self.code(if p >= alpha { FAIL } else { OK });
            pad(table, p, 16, 4, false);
            *table += self.code(END);
        }
        let [old, new] = test.repetitions;
        *table += self.code(if test.optimal { OK } else { WARNING });
        *table += &format!("      U Test, Repetitions: {old} vs {new}");
        if !test.optimal {
            *table += &format!(
                ". WARNING: Results unreliable! {OPTIMAL_REPETITIONS}+ repetitions recommended."
            );
        }
        table.push('\n');
    }

    fn begin(&self, table: &mut String, name: &str) {
        *table += self.code(HEADER);
        *table += name;
        let gap = self.width.saturating_sub(name.chars().count());
        table.extend(std::iter::repeat_n(' ', gap));
        *table += self.code(END);
    }
}

/// Returns the colour of a change: red above +5%, cyan for −7% or less and for NaN, otherwise
/// white.
fn change_colour(change: f64) -> &'static str {
    if change > 0.05 {
        FAIL
    } else if change > -0.07 {
        WHITE
    } else {
        CYAN
    }
}

/// Appends a number to `table`, aligned to the right in `width` columns and with `places` decimals,
/// as Python's `{:14.0f}` does. If `plus` is true, a positive number has a plus sign.
fn pad(table: &mut String, number: f64, width: usize, places: usize, plus: bool) {
    let mut digits = [0; MOST_DIGITS];
    let sign = match number {
        number if number.is_sign_negative() && !number.is_nan() => "-",
        _ if plus => "+",
        _ => "",
    };
    let spelled;
    let absolute = match rounded(number.abs(), places) {
        Some(scaled) => written(scaled, places, &mut digits),
        None if number.is_nan() => "nan",
        None => {
            spelled = format!("{:.places$}", number.abs());
            &spelled
        }
    };
    const BLANKS: &str = "                ";
    let gap = width.saturating_sub(sign.len() + absolute.len());
    *table += BLANKS.get(..gap).unwrap_or(BLANKS);
    *table += sign;
    *table += absolute;
}

/// The size of the buffer for the digits and the decimal point of a number.
const MOST_DIGITS: usize = 24;

/// Returns a number times 10 to the power of `places`, rounded by its exact value to an integer,
/// half to even. `None` if the number is NaN or at least 1e9, or if `places` is above 4. The
/// standard library's formatting, which has no such limits, took most of the time of writing a
/// table.
fn rounded(number: f64, places: usize) -> Option<u64> {
    if !(number < 1e9 && places <= 4) {
        return None;
    }
    let bits = number.to_bits();
    let exponent = (bits >> 52) as i32;
    // Such a small number rounds to zero.
    if exponent < 1023 - 60 {
        return Some(0);
    }
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let scaled = u128::from(mantissa) * 10_u128.pow(places as u32);
    // At least 22 bits follow the binary point, because the number is below 1e9, and at most 112.
    let behind = (1023 + 52 - exponent) as u32;
    let (whole, rest) = (scaled >> behind, scaled & ((1 << behind) - 1));
    let half = 1_u128 << (behind - 1);
    let up = rest > half || (rest == half && whole & 1 == 1);
    Some(whole as u64 + u64::from(up))
}

/// Formats `scaled` as decimal digits, the last `places` of them after a decimal point. `digits` is
/// the buffer.
fn written(mut scaled: u64, places: usize, digits: &mut [u8; MOST_DIGITS]) -> &str {
    let mut begin = MOST_DIGITS;
    for place in 1.. {
        begin -= 1;
        digits[begin] = b'0' + (scaled % 10) as u8;
        scaled /= 10;
        if place == places {
            begin -= 1;
            digits[begin] = b'.';
        } else if scaled == 0 && place > places {
            break;
        }
    }
    std::str::from_utf8(&digits[begin..]).unwrap_or_default()
}

impl Report<'_> {
    /// Writes the whole report in ASCII, without a final newline.
    ///
    /// # Errors
    ///
    /// Returns the errors of `out`.
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

fn object(fields: &[(&str, String)], depth: usize) -> String {
    let fields = fields
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"));
    bracketed('{', fields.collect(), '}', depth)
}

/// Formats items in brackets, each item on a separate line. The brackets are indented by `depth`
/// spaces, and the items by one space more.
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
    use proptest::prelude::*;

    use super::*;

    fn padded(number: f64, width: usize, places: usize, plus: bool) -> String {
        let mut table = String::new();
        pad(&mut table, number, width, places, plus);
        table
    }

    fn by_the_library(number: f64, width: usize, places: usize, plus: bool) -> String {
        let sign = if plus && !number.is_sign_negative() {
            "+"
        } else {
            ""
        };
        format!("{:>width$}", format!("{sign}{number:.places$}"))
    }

    proptest! {
        #[test]
        fn any_number_is_written_as_the_library_writes_it(
            any in prop::num::f64::ANY.prop_filter("a number", |number| !number.is_nan()),
            usual in -1e6..1e6_f64,
            small in -1.0..1.0_f64,
            halves in -4_000_000..4_000_000_i32,
        ) {
            // Halves of the last digit shown are rounded to even.
            let [half, sixteenth] = [2.0, 32.0].map(|parts| f64::from(halves) / parts);
            for number in [any, usual, small, half, sixteenth, sixteenth * 1e-4] {
                for (width, places, plus) in [(16, 4, true), (14, 0, false), (3, 2, false)] {
                    prop_assert_eq!(
                        padded(number, width, places, plus),
                        by_the_library(number, width, places, plus)
                    );
                }
            }
        }
    }

    #[test]
    fn numbers_are_padded_and_rounded_as_python_rounds() {
        for (number, spelled) in [
            (0.5, "   0"),
            (1.5, "   2"),
            (2.5, "   2"),
            (-0.4, "  -0"),
            (12345.0, "12345"),
            (f64::NAN, " nan"),
            (f64::INFINITY, " inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(padded(number, 4, 0, false), spelled);
        }
        assert_eq!(padded(0.00005, 9, 4, true), "  +0.0001");
        assert_eq!(padded(-0.0, 9, 4, true), "  -0.0000");
        assert_eq!(padded(f64::NAN, 9, 4, true), "     +nan");
        assert_eq!(padded(f64::INFINITY, 9, 4, true), "     +inf");
    }

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
