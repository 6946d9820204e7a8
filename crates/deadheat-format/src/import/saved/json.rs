//! JSON of other tools: errors that name their place, and numbers that are
//! none.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, Visitor};

use crate::error::FormatError;

/// A number, or one of the words that programs write where they have none:
/// `NaN`, `Infinity`, `null`, which are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Number(pub(crate) Option<f64>);

/// Stands for a word that is no JSON, as long as that word: the character of
/// deletion, as often as it takes.
const MARK: u8 = 0x7f;

/// The words, by which programs in C++, Java and Python say that they have no
/// number.
const WORDS: [&[u8]; 8] = [
    b"-Infinity",
    b"Infinity",
    b"-NaN",
    b"-nan",
    b"-inf",
    b"NaN",
    b"nan",
    b"inf",
];

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(Some(value)))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(Some(value as f64)))
            }

            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number(None))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                match !text.is_empty() && text.bytes().all(|byte| byte == MARK) {
                    true => Ok(Number(None)),
                    false => Err(E::invalid_type(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Number {
    /// The number times `factor`, where a measurement must be: finite and not
    /// negative. `place` is where it stands, such as `benchmarks[3].real_time`.
    pub(crate) fn measured(
        self,
        factor: f64,
        file: &Path,
        place: impl FnOnce() -> String,
    ) -> Result<f64, FormatError> {
        let problem = match self.0.map(|value| value * factor) {
            Some(value) if value.is_finite() && value >= 0.0 => return Ok(value),
            Some(value) if value < 0.0 => format!("{value} is negative"),
            Some(_) => "the number is too large".to_owned(),
            None => "there is no number".to_owned(),
        };
        Err(FormatError::Saved {
            file: file.to_owned(),
            place: place(),
            problem,
        })
    }

    /// The same where nothing depends on it: `None` for what is no measurement.
    pub(crate) fn optional(self, factor: f64) -> Option<f64> {
        let value = self.0? * factor;
        (value.is_finite() && value >= 0.0).then_some(value)
    }
}

/// Reads JSON of this shape. A byte-order mark is passed over; the words for
/// no number are understood where a [`Number`] stands.
pub(crate) fn from_json<T: DeserializeOwned>(file: &Path, text: &[u8]) -> Result<T, FormatError> {
    let text = without_mark(text);
    let first = match serde_json::from_slice(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Only a text that cannot be read is looked through for such words.
    let legal = with_marks(text);
    if let Cow::Owned(legal) = &legal
        && let Ok(value) = serde_json::from_slice(legal)
    {
        return Ok(value);
    }
    Err(error_of::<T>(file, &legal, &first))
}

/// The same text without a byte-order mark.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// What is wrong with a text that could not be read, found by reading it once
/// more, with the place written along.
fn error_of<T: DeserializeOwned>(
    file: &Path,
    text: &[u8],
    first: &serde_json::Error,
) -> FormatError {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let (path, error) = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Err(error) => (error.path().to_string(), Some(error.into_inner())),
        // The value was whole, and something followed it.
        Ok(_) => (String::new(), reader.end().err()),
    };
    let error = error.as_ref().unwrap_or(first);
    let problem = error.to_string();
    // The place is told in front, as of every other file.
    let told = format!(" at line {} column {}", error.line(), error.column());
    FormatError::Json {
        file: file.to_owned(),
        line: error.line().max(1) as u64,
        column: error.column().max(1) as u64,
        path,
        problem: problem.strip_suffix(&told).unwrap_or(&problem).to_owned(),
    }
}

/// The text with a string of marks for every word that stands where a number
/// should, of the same length, so that places stay what they are.
fn with_marks(text: &[u8]) -> Cow<'_, [u8]> {
    let mut legal = Cow::Borrowed(text);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at),
            b'-' | b'I' | b'N' | b'i' | b'n' => {
                let rest = &text[at..];
                match WORDS.iter().find(|word| rest.starts_with(word)) {
                    Some(word) => {
                        let own = &mut legal.to_mut()[at..at + word.len()];
                        own.fill(MARK);
                        own[0] = b'"';
                        own[word.len() - 1] = b'"';
                        at += word.len();
                    }
                    None => at += 1,
                }
            }
            _ => at += 1,
        }
    }
    legal
}

/// The place behind the string that begins at `at`.
pub(crate) fn end_of_string(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Wire {
        values: Vec<Number>,
    }

    fn read(text: &str) -> Result<Wire, String> {
        let read = from_json(Path::new("a.json"), text.as_bytes());
        read.map_err(|error: FormatError| error.to_string())
    }

    #[test]
    fn words_for_no_number_are_none_where_a_number_stands() {
        let wire = read(r#"{"values":[1, NaN, -Infinity, Infinity, -nan, inf, null, 2.5]}"#);
        let none = Number(None);
        let (one, half) = (Number(Some(1.0)), Number(Some(2.5)));
        assert_eq!(
            wire.unwrap().values,
            [one, none, none, none, none, none, none, half]
        );
    }

    #[test]
    fn such_words_inside_strings_stay() {
        let text = br#"{"name":"NaN \" inf","x":"Infinity"}"#;
        assert!(matches!(with_marks(text), Cow::Borrowed(_)));
    }

    #[test]
    fn an_error_names_line_column_and_place_in_the_tree() {
        assert_eq!(
            read("{\"values\":\n [1, \"2\"]}").unwrap_err(),
            "a.json:2:8: invalid type: string \"2\", expected a number, at values[1]"
        );
        assert_eq!(
            read("{\"values\":\n [1, ").unwrap_err(),
            "a.json:2:5: EOF while parsing a value, at values"
        );
        assert_eq!(
            read("{\"values\":[]} x").unwrap_err(),
            "a.json:1:15: trailing characters"
        );
        let error = read("{\"values\":[NaN], \"values\":[]}").unwrap_err();
        assert!(error.contains("duplicate field"), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert!(read("\u{feff}{\"values\":[]}").is_ok());
    }

    #[test]
    fn what_cannot_be_measured_is_named() {
        let place = || "x[0]".to_owned();
        let measured = |n: Option<f64>| Number(n).measured(1e9, Path::new("a"), place);
        assert_eq!(measured(Some(2.0)).unwrap(), 2e9);
        for (number, told) in [
            (Some(-1.0), "a: x[0]: -1000000000 is negative"),
            (Some(1e300), "a: x[0]: the number is too large"),
            (None, "a: x[0]: there is no number"),
        ] {
            assert_eq!(measured(number).unwrap_err().to_string(), told);
        }
    }
}
