//! Reads JSON text into a tree, strictly by the grammar.

use std::error::Error;
use std::fmt;

use super::{Json, Object};

/// Deepest allowed nesting of lists and objects.
const DEEPEST: usize = 32;

impl Json {
    /// Parses a text; `None` if it is not JSON, or is nested deeper than 32 levels. Numbers are
    /// read exactly to the last bit.
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text).ok()
    }

    /// Parses the value at the beginning of a text like [`Json::parse`], and returns it with the
    /// text after it. `None` if the text does not begin with a value.
    pub fn parse_first(text: &str) -> Option<(Self, &str)> {
        let mut reader = Reader { rest: text };
        let value = reader.value(DEEPEST)?;
        Some((value, reader.rest))
    }

    /// Parses a text like [`Json::parse`]; the error holds the position where it stops being JSON.
    pub fn read(text: &str) -> Result<Self, JsonError> {
        let mut reader = Reader { rest: text };
        let value = reader.value(DEEPEST);
        reader.skip_blanks();
        value
            .filter(|_| reader.rest.is_empty())
            .ok_or_else(|| JsonError {
                column: text.len() - reader.rest.len() + 1,
                at_end: reader.rest.is_empty(),
            })
    }
}

/// The error for a text that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The first byte that could not be read, counted from 1.
    column: usize,
    /// True if the text ended too early.
    at_end: bool,
}

impl Error for JsonError {}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = if self.at_end {
            "it ends too early"
        } else {
            "unexpected text"
        };
        write!(f, "{problem}, at column {}", self.column)
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Skips white space, and then `sign`. Returns false if something else follows the white space.
    fn take(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.skip_blanks();
        match self.rest.as_bytes().first()? {
            b'"' => Some(Json::from(self.text()?)),
            b'[' => self.list(depth.checked_sub(1)?),
            b'{' => self.object(depth.checked_sub(1)?),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.take("null") => Some(Json::Null),
            _ if self.take("true") => Some(Json::Bool(true)),
            _ if self.take("false") => Some(Json::Bool(false)),
            _ => None,
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut values = Vec::new();
        self.take("[");
        if self.take("]") {
            return Some(Json::List(values));
        }
        loop {
            values.push(self.value(depth)?);
            if self.take("]") {
                // The first value reserves memory for four.
                values.shrink_to_fit();
                return Some(Json::List(values));
            }
            self.take(",").then_some(())?;
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut object = Object::new();
        self.take("{");
        if self.take("}") {
            return Some(object.into());
        }
        loop {
            self.skip_blanks();
            let name = self.text()?;
            self.take(":").then_some(())?;
            object.push(name.into(), self.value(depth)?);
            if self.take("}") {
                object.fields.shrink_to_fit();
                return Some(object.into());
            }
            self.take(",").then_some(())?;
        }
    }

    /// Skips and returns the text before the first byte for which `ends` is true.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> &'a str {
        let end = self.rest.bytes().position(ends).unwrap_or(self.rest.len());
        let (before, rest) = self.rest.split_at(end);
        self.rest = rest;
        before
    }

    fn number(&mut self) -> Option<Json> {
        let text =
            self.until(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
        // Forms that the standard library reads and JSON does not allow.
        let leading_zero = matches!(digits, [b'0', b'0'..=b'9', ..]);
        let bare_point = digits.first() == Some(&b'.')
            || text
                .split_once('.')
                .is_some_and(|(_, after)| !after.starts_with(|c: char| c.is_ascii_digit()));
        if leading_zero || bare_point {
            return None;
        }
        if let Ok(integer) = text.parse() {
            // −0 must stay a float, because integers cannot keep its sign.
            return Some(if text == "-0" {
                Json::Number(-0.0)
            } else {
                Json::Integer(integer)
            });
        }
        let number: f64 = text.parse().ok()?;
        number.is_finite().then_some(Json::Number(number))
    }

    fn text(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix('"')?;
        let mut text = String::new();
        loop {
            text += self.until(|byte| byte < b' ' || byte == b'"' || byte == b'\\');
            if let Some(rest) = self.rest.strip_prefix('"') {
                self.rest = rest;
                return Some(text);
            }
            self.rest = self.rest.strip_prefix('\\')?;
            text.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let sign = self.rest.chars().next()?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(match sign {
            '"' | '\\' | '/' => sign,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = self.unit()?;
                if !(0xd800..0xdc00).contains(&unit) {
                    return char::from_u32(unit);
                }
                // The first half of a surrogate pair, for a character above U+FFFF.
                self.rest = self.rest.strip_prefix("\\u")?;
                let low = self
                    .unit()?
                    .checked_sub(0xdc00)
                    .filter(|low| *low < 0x400)?;
                return char::from_u32(0x10000 + ((unit - 0xd800) << 10) + low);
            }
            _ => return None,
        })
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        self.rest = &self.rest[4..];
        let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        hexadecimal.then(|| u32::from_str_radix(digits, 16).ok())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn same(ours: &Json, theirs: &Value) -> bool {
        match (ours, theirs) {
            (Json::Null, Value::Null) => true,
            (Json::Bool(ours), Value::Bool(theirs)) => ours == theirs,
            (Json::Integer(_) | Json::Number(_), Value::Number(theirs)) => {
                ours.as_number().map(f64::to_bits) == theirs.as_f64().map(f64::to_bits)
            }
            (Json::Text(ours), Value::String(theirs)) => ours == theirs,
            (Json::List(ours), Value::Array(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
            }
            (Json::Object(ours), Value::Object(theirs)) => theirs.iter().all(|(name, theirs)| {
                // If an object has a name twice, serde_json keeps the last value.
                let last = ours.fields.iter().rev().find(|(known, _)| known == name);
                last.is_some_and(|(_, ours)| same(ours, theirs))
            }),
            _ => false,
        }
    }

    fn agree(text: &str) {
        let theirs: Option<Value> = serde_json::from_str(text).ok();
        match (Json::parse(text), theirs) {
            (None, None) => {}
            (Some(ours), Some(theirs)) => assert!(same(&ours, &theirs), "{text}: {ours}"),
            (ours, theirs) => panic!("{text}: {ours:?} and {theirs:?}"),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let value: Json = Object::new()
            .with("a", Json::from_iter([0.1 + 0.2, 5e-324, 1e300, -0.0]))
            .with("b", u64::MAX)
            .with("c", -7)
            .with("d", "a\"b\\\n\u{1}é\u{1f600}")
            .with("e", None::<bool>)
            .with("f", Object::new().with("g", false))
            .into();
        assert_eq!(Json::parse(&value.to_string()), Some(value.clone()));
        assert_eq!(Json::parse(&value.pretty()), Some(value));
    }

    #[test]
    fn odd_texts_are_read_as_others_read_them() {
        for text in [
            "",
            " ",
            "nul",
            "nulll",
            "tru",
            "01",
            "-",
            "-0",
            "+1",
            "1.",
            ".5",
            "1e",
            "1e5",
            "1E+5",
            "1e-",
            "-.5",
            "1e999",
            "0.0",
            "00",
            "1.5.5",
            "--1",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{",
            "{}",
            "{1:2}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\" : 1 , \"a\" : 2}",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\n\"",
            "\"\\u00e9\\ud83d\\ude00\"",
            "\"\\ud83d\"",
            "\"\\ude00\"",
            "\"\\u12\"",
            "\"\\u+123\"",
            "\"\\u123é\"",
            " [ 1 , 2 ] ",
            "[] []",
            "NaN",
            "\u{a0}1",
            "18446744073709551616",
            "\"\\/\\b\\f\\r\\t\"",
        ] {
            agree(text);
        }
    }

    #[test]
    fn parses_the_first_value_and_returns_the_text_after_it() {
        let object = Json::from(Object::new().with("a", 1u64));
        let first = Json::parse_first(" {\"a\": 1}\nms {");
        assert_eq!(first, Some((object, "\nms {")));
        assert_eq!(Json::parse_first("12[]"), Some((Json::from(12u64), "[]")));
        assert_eq!(Json::parse_first("null"), Some((Json::Null, "")));
        for text in ["", "ms {}", "{\"a\": 1", "1e999", &"[".repeat(100_000)] {
            assert_eq!(Json::parse_first(text), None, "{text:.20}");
        }
    }

    #[test]
    fn a_tree_that_is_too_deep_is_refused() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(DEEPEST)).is_some());
        assert_eq!(Json::parse(&nested(100_000)), None);
    }

    proptest! {
        #[test]
        fn damaged_texts_are_read_as_others_read_them(
            place in any::<prop::sample::Index>(),
            sign in prop::sample::select(&b"0123456789.eE+-,[]{}\":tnu\\ "[..]),
            insert: bool,
        ) {
            let mut text = br#"{"a":[1,-2.5e3,"x\u0041\n"],"b":{"c":null,"d":true}}"#.to_vec();
            let place = place.index(text.len());
            if insert {
                text.insert(place, sign);
            } else {
                text[place] = sign;
            }
            agree(std::str::from_utf8(&text).unwrap());
        }

        #[test]
        fn every_number_is_read_to_the_last_bit(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
            let text = Json::Number(number).to_string();
            prop_assert_eq!(Json::parse(&text), Some(Json::Number(number)));
        }
    }
}
