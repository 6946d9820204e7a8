//! How Python spells values: `str`, `repr`, and the numbers of its JSON.

use crate::text::{Text, scalars};
use crate::value::Value;

/// `repr` of a float: as few digits as tell it from all others, an exponent below 1e-4 and from 1e16 on.
pub(crate) fn float(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() {
            "nan".to_owned()
        } else if number > 0.0 {
            "inf".to_owned()
        } else {
            "-inf".to_owned()
        };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = number.to_string();
    let Some((_, places)) = plain.split_once('.') else {
        return plain + ".0";
    };
    if fraction_bits(number) == places.len() + 1 {
        // All digits are one more, a 5: two spellings are equally near, and Python takes the even one.
        let all = format!("{number:.0$}", places.len() + 1);
        let down = &all[..all.len() - 1];
        let is_even = down.ends_with(['0', '2', '4', '6', '8']);
        if is_even && down.parse() == Ok(number) {
            return down.to_owned();
        }
    }
    plain
}

/// How many bits behind the point a number has, and so many digits.
fn fraction_bits(number: f64) -> usize {
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let significand = bits & (u64::MAX >> 12) | 1 << 52;
    let lowest = exponent - 1075 + significand.trailing_zeros() as i32;
    usize::try_from(-lowest).unwrap_or(0)
}

/// `str` of a value: a string as it is, all else as `repr`.
pub(crate) fn spelled(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text.lossy().into_owned(),
        other => repr(other),
    }
}

fn repr(value: &Value<'_>) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(yes) => if *yes { "True" } else { "False" }.to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Big(digits) => digits.to_string(),
        Value::Float(number) => float(*number),
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", list(items.iter().map(repr).collect())),
        Value::Dict(entries) => {
            let entry =
                |(key, value): &(Text<'_>, Value<'_>)| format!("{}: {}", quoted(key), repr(value));
            format!("{{{}}}", list(entries.iter().map(entry).collect()))
        }
    }
}

/// In single quotes, or in double ones when it holds single ones only.
fn quoted(text: &Text<'_>) -> String {
    let bytes = text.as_bytes();
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut spelled = String::from(quote);
    for scalar in scalars(bytes) {
        match char::from_u32(scalar) {
            Some('\n') => spelled.push_str("\\n"),
            Some('\r') => spelled.push_str("\\r"),
            Some('\t') => spelled.push_str("\\t"),
            Some(c) if c == quote || c == '\\' => spelled.extend(['\\', c]),
            Some(c) if c < ' ' || ('\u{7f}'..'\u{a1}').contains(&c) => {
                spelled.push_str(&format!("\\x{scalar:02x}"));
            }
            Some(c) => spelled.push(c),
            None => spelled.push_str(&format!("\\u{scalar:04x}")),
        }
    }
    spelled.push(quote);
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        for (number, spelling) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (1.25e300, "1.25e+300"),
            (5e-324, "5e-324"),
            (1_449_395_989_817_914.0 + 0.25, "1449395989817914.2"),
            (1_449_395_989_817_914.0 + 0.75, "1449395989817914.8"),
            (-562_949_953_421_313.0 - 0.125, "-562949953421313.1"),
            (0.5, "0.5"),
            (2.75, "2.75"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(float(number), spelling);
        }
    }

    #[test]
    fn values_are_spelled_as_python_spells_them() {
        let value = Value::Dict(vec![(
            "it's".into(),
            Value::List(vec![
                Value::Null,
                Value::Bool(true),
                Value::Text("a\n'\"".into()),
            ]),
        )]);
        assert_eq!(spelled(&value), r#"{"it's": [None, True, 'a\n\'"']}"#);
    }
}
