//! JSON as a tree. A tree is read from a text, and is written in one line or indented by two
//! spaces. Large texts can be scanned without a tree.
//!
//! Run files, answers and messages of workers have a few dozen fields each. When serialisation code
//! was derived for every type, it took a third of the build time of every benchmark of functions. A
//! tree is a single type with a single reader and writer.

mod read;
#[cfg(feature = "scan")]
mod scan;

use std::borrow::Cow;
use std::fmt::{self, Write};

use crate::text_cells::is_hidden;

pub use read::JsonError;
#[cfg(feature = "scan")]
pub use scan::{JsonPieces, JsonScalar, JsonScan, NO_NUMBERS, plain_bytes};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// The value `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number. A number that is not finite is written as null.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// A list that stays in one line even if others are indented, because a hundred lines of
    /// percentiles do not help a reader.
    Row(Vec<Json>),
    /// Named values, in the order they are written.
    Object(Object),
    /// A value that is already [written](Json::written) as text, so that its contents are unknown.
    Written(String),
}

/// Named values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    fields: Vec<(Cow<'static, str>, Json)>,
}

impl Object {
    /// Returns an object without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value at the end.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Json>) -> Self {
        self.push(name.into(), value.into());
        self
    }

    /// Adds a value at the end, unless it is `None`.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<impl Into<Json>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a value with any name at the end.
    pub fn push(&mut self, name: Cow<'static, str>, value: Json) {
        self.fields.push((name, value));
    }

    /// Returns the value with this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let mut fields = self.fields.iter();
        let named = fields.find(|(known, _)| known == name);
        named.map(|(_, value)| value)
    }

    /// Returns all names and values, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns the name and value of the only field; `None` if there is not exactly one field.
    pub fn only(&self) -> Option<(&str, &Json)> {
        match self.fields.as_slice() {
            [(name, value)] => Some((name, value)),
            _ => None,
        }
    }
}

impl Json {
    /// Returns an object with a single field, whose name states the kind of its value.
    pub fn tagged(tag: &'static str, value: impl Into<Json>) -> Self {
        Object::new().with(tag, value).into()
    }

    /// Returns the object; `None` for values of other kinds.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the values of a list; `None` for values of other kinds.
    pub fn as_list(&self) -> Option<&[Json]> {
        match self {
            Json::List(values) | Json::Row(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the text; `None` for values of other kinds.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the truth value; `None` for values of other kinds.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the number, whole or not; `None` for values of other kinds.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            Json::Integer(integer) => Some(*integer as f64),
            _ => None,
        }
    }

    /// Returns the number if it is whole, not negative and at most `u64::MAX`.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Integer(integer) => u64::try_from(*integer).ok(),
            _ => None,
        }
    }
}

/// Implements `From` for the plain types, one row for each.
macro_rules! json_of {
    ($($value:ident: $type:ty => $json:expr,)*) => {$(
        impl From<$type> for Json {
            fn from($value: $type) -> Self {
                $json
            }
        }
    )*};
}

json_of! {
    object: Object => Json::Object(object),
    value: bool => Json::Bool(value),
    number: i32 => Json::Integer(number.into()),
    number: u32 => Json::Integer(number.into()),
    number: u64 => Json::Integer(number.into()),
    number: usize => Json::Integer(number as i128),
    text: &str => Json::Text(text.to_owned()),
    text: String => Json::Text(text),
    text: &String => Json::Text(text.clone()),
    values: Vec<Json> => Json::List(values),
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        debug_assert!(value.is_finite(), "{value} is not a JSON number");
        Json::Number(value)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Json::List(values.into_iter().map(Into::into).collect())
    }
}

/// Numbers other than 0 with an absolute value below `SMALL`, or of at least `LARGE`, are written
/// with an exponent instead of a row of zeros.
const SMALL: f64 = 1e-5;
const LARGE: f64 = 1e16;

impl Json {
    /// Returns the text on several lines, indented by two spaces, without a final newline.
    pub fn pretty(&self) -> String {
        let mut text = String::new();
        write(&mut text, self, Some(0)).expect("a String takes every text");
        text
    }

    /// Returns the value as finished text ([`Json::Written`]), indented for nesting level `depth`.
    /// This way, a long list can be built value by value: each becomes text before the next is
    /// built.
    #[must_use]
    pub fn written(&self, depth: usize) -> Self {
        let mut text = String::new();
        write(&mut text, self, Some(depth)).expect("a String takes every text");
        Self::Written(text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = f.alternate().then_some(0);
        write(f, self, depth)
    }
}

/// Writes a value. `depth` is the nesting level of its lines; `None` writes one line.
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
        Json::Written(text) => out.write_str(text),
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

/// Writes the number with the fewest digits that are read back as the same number, and never in the
/// form of an integer.
fn write_number(out: &mut dyn Write, number: f64) -> fmt::Result {
    let size = number.abs();
    if !number.is_finite() {
        out.write_str("null")
    } else if size >= LARGE {
        // Most writers include a plus sign in the exponent.
        out.write_str(&format!("{number:e}").replace('e', "e+"))
    } else if number != 0.0 && size < SMALL {
        write!(out, "{number:e}")
    } else if number.fract() == 0.0 {
        write!(out, "{number:.1}")
    } else {
        write!(out, "{number}")
    }
}

/// Writes a string. Hidden characters are escaped, because a terminal that shows the file would obey
/// them.
fn write_text(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(is_escaped) {
        out.write_str(&rest[..at])?;
        let mut characters = rest[at..].chars();
        match characters.next() {
            Some('\n') => out.write_str("\\n")?,
            Some('\t') => out.write_str("\\t")?,
            Some('\r') => out.write_str("\\r")?,
            Some('\u{8}') => out.write_str("\\b")?,
            Some('\u{c}') => out.write_str("\\f")?,
            Some(mark @ ('"' | '\\')) => write!(out, "\\{mark}")?,
            hidden => {
                for unit in hidden.unwrap_or_default().encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
        }
        rest = characters.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}

fn is_escaped(character: char) -> bool {
    match character {
        '"' | '\\' | '\n' | '\t' => true,
        ' '..='~' => false,
        _ => is_hidden(character),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_is_only_what_it_is() {
        let object = Object::new().with("a", 1u64).with_some("b", None::<u64>);
        assert_eq!(object.only(), Some(("a", &Json::Integer(1))));
        assert_eq!(object.get("b"), None);
        assert_eq!(Json::from(-1).as_u64(), None);
        assert_eq!(Json::from(-1).as_number(), Some(-1.0));
        assert_eq!(Json::from(1.5).as_u64(), None);
        assert_eq!(Json::Null.as_object(), None);
        assert_eq!(Json::from("a").as_list(), None);
        assert_eq!(Json::from("a").as_text(), Some("a"));
        assert_eq!(Json::from(None::<bool>), Json::Null);
    }

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
    fn a_value_that_was_written_for_its_place_stands_there_as_any_other() {
        let list = |item: Json| Json::from(Object::new().with("list", vec![item]));
        let written = list(sample().written(2));
        assert_eq!(written.pretty(), list(sample()).pretty());
    }

    #[test]
    fn a_tree_is_written_in_one_line() {
        assert_eq!(
            sample().to_string(),
            "{\"text\":\"a\\\"b\\\\\\n\\u0001\\u007fé\",\"list\":[1,2],\"row\":[0.5,null],\"empty\":[],\
             \"none\":{},\"yes\":true}"
        );
    }

    #[test]
    fn a_tree_is_written_on_many_lines_and_a_row_on_one() {
        let text = "{\n  \"text\": \"a\\\"b\\\\\\n\\u0001\\u007fé\",\n  \"list\": [\n    1,\n    2\n  ],\n  \
                    \"row\": [0.5,null],\n  \"empty\": [],\n  \"none\": {},\n  \"yes\": true\n}";
        assert_eq!(sample().pretty(), text);
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(Json::Number(f64::NAN).to_string(), "null");
        assert_eq!(Json::Number(f64::NEG_INFINITY).to_string(), "null");
    }

    /// Returns true if serde_json writes the same text. Also accepts another text of the same
    /// length for the same number: two such texts exist for 798403336413266.25, and writers choose
    /// differently.
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
        fn others_read_each_text_and_find_no_hidden_characters_in_it(
            text in any::<String>(),
            hidden in "[\u{0}-\u{9f}\u{200b}-\u{206f}\u{feff}\u{e0000}-\u{e0080}]{0,5}",
        ) {
            let text = format!("{text}{hidden}");
            let written = Json::from(&text).to_string();
            prop_assert!(!written.contains(is_hidden), "{written:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text.clone());
            if !text.contains(|c| is_hidden(c) && c >= ' ') {
                prop_assert_eq!(written, serde_json::to_string(&text).unwrap());
            }
        }
    }
}
