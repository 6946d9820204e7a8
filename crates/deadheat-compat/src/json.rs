//! JSON as Python's `json` module reads it.
//!
//! Python accepts NaN, Infinity and -Infinity as numbers, lone surrogates as characters, and
//! integers of any size, unlike the JSON libraries of Rust. Control characters in strings, a
//! byte-order mark, and nesting beyond the limit of Python's stack are errors.

use std::borrow::Cow;
use std::fmt;

use deadheat_model::plain_bytes;

use crate::value::{Number, Text, Value, push_scalar};

/// Maximum depth of nested brackets, close to the limit of Python's recursion.
const DEEPEST: usize = 990;

/// The reason why a text is not valid JSON, with the line and the column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem at this line and column, as a message.
    pub what: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.what
        )
    }
}

impl std::error::Error for JsonError {}

/// A parse error: its byte offset, and the message. The line and the column are computed only for
/// an error that is reported.
pub(crate) type Broken = (usize, &'static str);

/// A parser that reads a JSON text from its first byte to its last.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Returns a reader of a part of a JSON text that is inside `depth` brackets.
    pub(crate) fn within(text: &'a [u8], depth: usize) -> Self {
        Self { text, at: 0, depth }
    }

    /// Returns the number of bytes that were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Reads a whole text. `body` must read its top-level value.
    pub(crate) fn read<T>(
        text: &'a [u8],
        body: impl FnOnce(&mut Self) -> Result<T, Broken>,
    ) -> Result<T, JsonError> {
        let mut reader = Self {
            text,
            at: 0,
            depth: 0,
        };
        reader.whole(body).map_err(|(at, what)| {
            let before = &text[..at.min(text.len())];
            let start = before
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |n| n + 1);
            let line = 1 + before.iter().filter(|b| **b == b'\n').count();
            let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
            JsonError { line, column, what }
        })
    }

    fn whole<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T, Broken>) -> Result<T, Broken> {
        if let Err(error) = std::str::from_utf8(self.text) {
            return Err((error.valid_up_to(), "these bytes are not UTF-8"));
        }
        if self.text.starts_with(b"\xef\xbb\xbf") {
            return Err((0, "there is a byte-order mark; save the file without it"));
        }
        self.space();
        let value = body(self)?;
        self.space();
        match self.peek() {
            None => Ok(value),
            Some(_) => Err((self.at, "there is more text after the end of the JSON")),
        }
    }

    /// Returns the next byte without reading it; `None` at the end.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips white space.
    pub(crate) fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips the next byte and returns true if it equals `byte`; otherwise returns false.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    pub(crate) fn wrong<T>(&self, what: &'static str) -> Result<T, Broken> {
        let ended = self.at >= self.text.len();
        Err((self.at, if ended { "the text ends here" } else { what }))
    }

    /// Reads an object and lets `entry` read the value of each key. The reader must be at the
    /// opening brace.
    pub(crate) fn object(
        &mut self,
        mut entry: impl FnMut(&mut Self, Text<'a>) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let behind = "a comma or a closing brace is expected here";
        self.bracketed(b'}', behind, |reader| {
            let key = reader.key()?;
            entry(reader, key)
        })
    }

    /// Reads the key of an object's entry, the colon, and white space.
    pub(crate) fn key(&mut self) -> Result<Text<'a>, Broken> {
        if self.peek() != Some(b'"') {
            return self.wrong("a name in double quotes is expected here");
        }
        let key = self.string()?;
        self.space();
        if !self.take(b':') {
            return self.wrong("a colon is expected here");
        }
        self.space();
        Ok(key)
    }

    /// Reads a list and lets `item` read each value. The reader must be at the opening bracket.
    pub(crate) fn list(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        self.bracketed(b']', "a comma or a closing bracket is expected here", item)
    }

    /// Reads items up to the closing bracket `close`. `behind` is the error message if neither a
    /// comma nor `close` follows an item.
    fn bracketed(
        &mut self,
        close: u8,
        behind: &'static str,
        mut item: impl FnMut(&mut Self) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((self.at, "brackets are nested too deeply"));
        }
        self.space();
        if !self.take(close) {
            loop {
                item(self)?;
                self.space();
                if self.take(close) {
                    break;
                }
                if !self.take(b',') {
                    return self.wrong(behind);
                }
                self.space();
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads any value. Discards the contents of lists and objects.
    pub(crate) fn value(&mut self) -> Result<Value<'a>, Broken> {
        // Other functions read the values that are not nested, so that this recursive function
        // needs little stack.
        match self.peek() {
            Some(b'"') => self.string().map(Value::Text),
            Some(b'{') => self.object(|reader, _| reader.skip()).map(|()| Value::Dict),
            Some(b'[') => self.list(Self::skip).map(|()| Value::List),
            Some(b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    /// Reads a literal (`null`, `true`, `NaN`, …) or a number.
    #[inline(never)]
    fn word(&mut self) -> Result<Value<'a>, Broken> {
        let float = |number| Value::Number(Number::Float(number));
        for (word, value) in [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", float(f64::NAN)),
            ("Infinity", float(f64::INFINITY)),
            ("-Infinity", float(f64::NEG_INFINITY)),
        ] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.number()
    }

    #[inline(never)]
    fn number(&mut self) -> Result<Value<'a>, Broken> {
        let (digits, is_whole) = self.digits()?;
        Ok(Value::Number(if is_whole {
            // -0 becomes 0, as in Python.
            let number = digits.parse().map(Number::Whole);
            number.unwrap_or(Number::Digits(digits))
        } else {
            Number::Float(digits.parse().unwrap_or(f64::NAN))
        }))
    }

    pub(crate) fn skip(&mut self) -> Result<(), Broken> {
        // Most values of a file are counters that the report does not use, so their digits are not
        // converted to numbers.
        match self.peek() {
            Some(b'0'..=b'9') => self.digits().map(drop),
            Some(b'"') => self.string().map(drop),
            _ => self.value().map(drop),
        }
    }

    /// Reads a number. Returns its characters, and true if it is an integer.
    fn digits(&mut self) -> Result<(&'a str, bool), Broken> {
        let start = self.at;
        let mut is_whole = true;
        self.take(b'-');
        if !self.take(b'0') {
            self.some_digits("a value is expected here")?;
        }
        if self.take(b'.') {
            is_whole = false;
            self.some_digits("a digit is expected here")?;
        }
        if self.take(b'e') || self.take(b'E') {
            is_whole = false;
            let _ = self.take(b'+') || self.take(b'-');
            self.some_digits("a digit is expected here")?;
        }
        let digits = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        Ok((digits, is_whole))
    }

    fn some_digits(&mut self, without: &'static str) -> Result<(), Broken> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return self.wrong(without);
        }
        Ok(())
    }

    /// Reads a string. The reader must be at its opening quote.
    pub(crate) fn string(&mut self) -> Result<Text<'a>, Broken> {
        let start = self.at + 1;
        let rest = &self.text[start..];
        let plain = plain_bytes(rest);
        if rest.get(plain) == Some(&b'"') {
            self.at = start + plain + 1;
            return Ok(Text::new(&rest[..plain]));
        }
        self.at = start + plain;
        let mut bytes = rest[..plain].to_vec();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Text::new(Cow::Owned(bytes)));
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut bytes)?;
                }
                _ => return self.wrong("this character must be written as an escape"),
            }
            let rest = &self.text[self.at..];
            let plain = plain_bytes(rest);
            bytes.extend_from_slice(&rest[..plain]);
            self.at += plain;
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Broken> {
        let character = match self.peek() {
            Some(c @ (b'"' | b'\\' | b'/')) => c,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut unit = self.unit(self.at + 1)?;
                self.at += 5;
                if (0xd800..0xdc00).contains(&unit) && self.text[self.at..].starts_with(b"\\u") {
                    let low = self.unit(self.at + 2)?;
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x10000 + ((unit - 0xd800) << 10 | (low - 0xdc00));
                        self.at += 6;
                    }
                }
                push_scalar(bytes, unit);
                return Ok(());
            }
            _ => return self.wrong("this escape does not exist"),
        };
        bytes.push(character);
        self.at += 1;
        Ok(())
    }

    /// Reads the four hexadecimal digits of a `\u` escape.
    fn unit(&self, at: usize) -> Result<u32, Broken> {
        let digits = self.text.get(at..at + 4).unwrap_or_default();
        let all = digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
        let number = std::str::from_utf8(digits).ok().filter(|_| all);
        number
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or((at, "four hexadecimal digits are expected here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value<'_>, JsonError> {
        Reader::read(text.as_bytes(), Reader::value)
    }

    fn skipped(text: &str) -> Result<(), JsonError> {
        Reader::read(text.as_bytes(), Reader::skip)
    }

    #[test]
    fn what_python_reads_is_read_and_skipped() {
        for text in [
            "0",
            "-0",
            "1.5e-3",
            " [1, -2.0, 3E+4]\r\n",
            "NaN",
            "-Infinity",
            "[-Infinity, Infinity]",
            "{\"\": {}, \"a\": [[], {\"b\": null}]}",
            r#""\u00e4\ud83d\ude00\ud800\n\/""#,
            "\"\u{7f}\u{1f600}\"",
            "true",
        ] {
            assert!(value(text).is_ok(), "{text}: {:?}", value(text));
            assert!(skipped(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_python_refuses_is_refused_in_both_ways() {
        let deep = "[".repeat(2_000) + &"]".repeat(2_000);
        for text in [
            "",
            " ",
            "\u{feff}{}",
            "01",
            "1.",
            ".5",
            "-",
            "+1",
            "1e",
            "nan",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "[1 2]",
            "\"a\nb\"",
            "\"\\x41\"",
            "\"\\u12g4\"",
            "\"\\u12",
            "\"abc",
            "{} {}",
            "'a'",
            "[",
            "{",
            "tru",
            &deep,
        ] {
            assert!(value(text).is_err(), "{text}");
            assert!(skipped(text).is_err(), "{text}");
        }
        assert!(Reader::read(b"\"\xff\"", Reader::value).is_err());
    }

    #[test]
    fn whole_numbers_keep_their_digits() {
        for (text, number) in [
            ("0", Number::Whole(0)),
            ("-0", Number::Whole(0)),
            ("-9223372036854775808", Number::Whole(i64::MIN)),
            ("9223372036854775807", Number::Whole(i64::MAX)),
            ("9223372036854775808", Number::Digits("9223372036854775808")),
            ("-0.0", Number::Float(-0.0)),
            ("1e2", Number::Float(100.0)),
        ] {
            assert_eq!(value(text), Ok(Value::Number(number)), "{text}");
        }
    }

    #[test]
    fn an_error_names_line_and_column() {
        let error = value("{\n  \"ä\": x\n}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 8));
        let error = value("[1,\n2").unwrap_err();
        assert_eq!((error.line, error.column), (2, 2));
        assert_eq!(error.what, "the text ends here");
    }

    #[test]
    fn surrogates_are_joined_where_two_make_a_character() {
        let joined = value(r#""\ud83d\ude00""#).unwrap();
        assert_eq!(joined, Value::Text("\u{1f600}".into()));
        let lone = value(r#""\ud83d\u0041""#).unwrap();
        let Value::Text(lone) = lone else { panic!() };
        assert_eq!(lone.width(), 2);
        assert_eq!(lone.printable(), None);
    }
}
