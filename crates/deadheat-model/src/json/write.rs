//! From the tree to text: in one line, or indented by two spaces.

use std::fmt::{self, Write};

use super::{Json, Object};

/// From here on down and from there on up numbers have an exponent, before
/// they become a row of zeros.
const SMALL: f64 = 1e-5;
const LARGE: f64 = 1e16;

impl Json {
    /// The text on many lines, indented by two spaces. The last line is not
    /// ended.
    pub fn pretty(&self) -> String {
        format!("{self:#}")
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = f.alternate().then_some(0);
        write(f, self, depth)
    }
}

/// Writes a value; `depth` says how far its lines are indented, `None` that it
/// has but one.
fn write(out: &mut dyn Write, value: &Json, depth: Option<usize>) -> fmt::Result {
    match value {
        Json::Null => out.write_str("null"),
        Json::Bool(true) => out.write_str("true"),
        Json::Bool(false) => out.write_str("false"),
        Json::Integer(integer) => write!(out, "{integer}"),
        Json::Number(number) => write_number(out, *number),
        Json::Text(text) => write_text(out, text),
        Json::List(values) => write_list(out, values, depth),
        Json::Row(values) => write_list(out, values, None),
        Json::Object(object) => write_object(out, object, depth),
    }
}

fn write_list(out: &mut dyn Write, values: &[Json], depth: Option<usize>) -> fmt::Result {
    if values.is_empty() {
        return out.write_str("[]");
    }
    let inner = depth.map(|depth| depth + 1);
    for (at, value) in values.iter().enumerate() {
        out.write_char(if at == 0 { '[' } else { ',' })?;
        begin_line(out, inner)?;
        write(out, value, inner)?;
    }
    begin_line(out, depth)?;
    out.write_char(']')
}

fn write_object(out: &mut dyn Write, object: &Object, depth: Option<usize>) -> fmt::Result {
    if object.fields.is_empty() {
        return out.write_str("{}");
    }
    let inner = depth.map(|depth| depth + 1);
    for (at, (name, value)) in object.fields.iter().enumerate() {
        out.write_char(if at == 0 { '{' } else { ',' })?;
        begin_line(out, inner)?;
        write_text(out, name)?;
        out.write_str(if depth.is_some() { ": " } else { ":" })?;
        write(out, value, inner)?;
    }
    begin_line(out, depth)?;
    out.write_char('}')
}

fn begin_line(out: &mut dyn Write, depth: Option<usize>) -> fmt::Result {
    let Some(depth) = depth else {
        return Ok(());
    };
    out.write_char('\n')?;
    for _ in 0..depth {
        out.write_str("  ")?;
    }
    Ok(())
}

/// With the fewest digits that read back, and never as a whole number.
fn write_number(out: &mut dyn Write, number: f64) -> fmt::Result {
    let size = number.abs();
    if !number.is_finite() {
        out.write_str("null")
    } else if size >= LARGE {
        // The sign of the exponent is what most writers add.
        out.write_str(&format!("{number:e}").replace('e', "e+"))
    } else if number != 0.0 && size < SMALL {
        write!(out, "{number:e}")
    } else if number.fract() == 0.0 {
        write!(out, "{number:.1}")
    } else {
        write!(out, "{number}")
    }
}

fn write_text(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|c| c < ' ' || c == '"' || c == '\\') {
        out.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            b'\n' => out.write_str("\\n")?,
            b'\t' => out.write_str("\\t")?,
            b'\r' => out.write_str("\\r")?,
            0x08 => out.write_str("\\b")?,
            0x0c => out.write_str("\\f")?,
            mark @ (b'"' | b'\\') => write!(out, "\\{}", char::from(mark))?,
            control => write!(out, "\\u{control:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    out.write_str(rest)?;
    out.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Json {
        Object::new()
            .with("text", "a\"b\\\n\u{1}\u{7f}é")
            .with("list", Json::from_iter([1u64, 2]))
            .with("row", Json::Row(vec![0.5.into(), Json::Null]))
            .with("empty", Json::List(vec![]))
            .with("none", Object::new())
            .with("yes", true)
            .into()
    }

    #[test]
    fn a_tree_is_written_in_one_line() {
        assert_eq!(
            sample().to_string(),
            "{\"text\":\"a\\\"b\\\\\\n\\u0001\u{7f}é\",\"list\":[1,2],\"row\":[0.5,null],\"empty\":[],\
             \"none\":{},\"yes\":true}"
        );
    }

    #[test]
    fn a_tree_is_written_on_many_lines_and_a_row_on_one() {
        let text = "{\n  \"text\": \"a\\\"b\\\\\\n\\u0001\u{7f}é\",\n  \"list\": [\n    1,\n    2\n  ],\n  \
                    \"row\": [0.5,null],\n  \"empty\": [],\n  \"none\": {},\n  \"yes\": true\n}";
        assert_eq!(sample().pretty(), text);
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(Json::Number(f64::NAN).to_string(), "null");
        assert_eq!(Json::Number(f64::NEG_INFINITY).to_string(), "null");
    }

    /// The same text, or one as short of the same number: 798403336413266.25
    /// lies halfway between two texts that both read back, and writers differ in
    /// which they take.
    fn is_written_as_by_others(number: f64) -> bool {
        let ours = Json::Number(number).to_string();
        let theirs = serde_json::to_string(&number).unwrap();
        ours == theirs || (ours.len() == theirs.len() && ours.parse() == Ok(number))
    }

    #[test]
    fn a_number_halfway_between_two_texts_reads_back() {
        assert!(is_written_as_by_others(798_403_336_413_266.0 + 0.25));
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_others_write_them(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO) {
            prop_assert!(is_written_as_by_others(number), "{number:e}");
        }

        #[test]
        fn everyday_numbers_are_written_as_others_write_them(digits in -1_000_000i64..1_000_000, power in -12i32..14) {
            let number = digits as f64 * 10f64.powi(power);
            prop_assert!(is_written_as_by_others(number), "{number:e}");
        }

        #[test]
        fn texts_are_written_as_others_write_them(text in any::<String>(), control in 0u8..0x80) {
            let text = format!("{text}{}", char::from(control));
            prop_assert_eq!(Json::from(&text).to_string(), serde_json::to_string(&text).unwrap());
        }
    }
}
