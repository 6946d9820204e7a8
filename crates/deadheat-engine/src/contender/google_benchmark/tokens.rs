//! Numbers that are none, made harmless: releases of Google Benchmark write
//! what C++ prints for them, which is not JSON.

use std::borrow::Cow;

/// The same text with `null` for every `NaN`, `-nan`, `inf`, `Infinity` and
/// their like outside strings.
pub(super) fn without_odd_numbers(text: &str) -> Cow<'_, str> {
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
                let odd = ["nan", "inf", "infinity"];
                if odd
                    .iter()
                    .any(|odd| text[word..end].eq_ignore_ascii_case(odd))
                {
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
