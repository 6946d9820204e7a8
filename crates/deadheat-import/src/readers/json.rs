//! Reads JSON of other tools. Errors name their place, and words such as `NaN` are accepted in
//! place of numbers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::identity::Identity;
use crate::results::{ResultBenchmark, Results};
use deadheat_model::{HELP, NO_NUMBERS};
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, Visitor};
use serde_json::Value;

use super::rows::failed;
use deadheat_format::limits::Allowance;
use deadheat_format::{FileProblem, FormatError};

/// A number, or `None` for a word that programs write in its place: `NaN`, `Infinity` or `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Number(pub(super) Option<f64>);

/// A character that replaces a word such as `NaN`, repeated to the same length.
const MARK: u8 = 0x7f;

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
                if !text.is_empty() && text.bytes().all(|byte| byte == MARK) {
                    Ok(Number(None))
                } else {
                    Err(E::invalid_type(de::Unexpected::Str(text), &self))
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Number {
    /// Returns the number times `factor`. Fails if the number is missing, negative or not finite;
    /// `place` is the place in the error, such as `benchmarks[3].real_time`.
    pub(super) fn measured(
        self,
        factor: f64,
        place: impl FnOnce() -> String,
    ) -> Result<f64, FileProblem> {
        let problem = match self.0.map(|value| value * factor) {
            Some(value) if value.is_finite() && value >= 0.0 => return Ok(value),
            // The message shows the number as in the file, without the factor.
            Some(value) if value < 0.0 => {
                format!("{} is negative", self.0.unwrap_or(value))
            }
            Some(_) => "the number is too large".to_owned(),
            None => "the number is missing".to_owned(),
        };
        Err(FileProblem::at(place(), problem))
    }

    /// Returns the number times `factor`, or `None` if that is not a valid measurement.
    pub(super) fn optional(self, factor: f64) -> Option<f64> {
        let value = self.0? * factor;
        (value.is_finite() && value >= 0.0).then_some(value)
    }
}

/// Reads JSON into `T`. Skips a byte-order mark, and accepts words such as `NaN` for a [`Number`].
pub(super) fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, FileProblem> {
    let text = without_mark(text);
    let memory = Allowance::of_memory().and_then(|mut left| left.take(memory_of_json(text)));
    memory.map_err(FileProblem::CannotRead)?;
    let error = match serde_json::from_slice(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Words such as `NaN` are searched for only if the text cannot be parsed without this search.
    let legal = with_marks(text);
    let error = match &legal {
        Cow::Borrowed(_) => error,
        Cow::Owned(legal) => match serde_json::from_slice(legal) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        },
    };
    Err(with_place(&legal, &error))
}

/// Reads JSON into a `T`, whose list of entries is the value of `key`, or the whole text if `key`
/// is empty. Returns the entries that are not an `E` separately. Fails if no entry is an `E`,
/// because the file then has another format.
pub(super) fn from_json_entries<T: DeserializeOwned, E: DeserializeOwned>(
    text: &[u8],
    key: &str,
) -> Result<(T, Vec<BrokenEntry>), FileProblem> {
    // A file without broken entries is parsed once, without building a tree.
    let problem = match from_json(text) {
        Ok(whole) => return Ok((whole, Vec::new())),
        Err(problem) => problem,
    };
    match without_broken::<E>(text, key) {
        Some((tree, broken)) => Ok((serde_json::from_value(tree).map_err(|_| problem)?, broken)),
        None => Err(problem),
    }
}

/// Returns the JSON tree without the entries that are not an `E`, and these entries; `None` unless
/// some entries are an `E` and some are not.
fn without_broken<E: DeserializeOwned>(
    text: &[u8],
    key: &str,
) -> Option<(Value, Vec<BrokenEntry>)> {
    let mut tree: Value = from_json(text).ok()?;
    let entries = match key {
        "" => tree.as_array_mut()?,
        key => tree.get_mut(key)?.as_array_mut()?,
    };
    let mut broken = Vec::new();
    let mut index = 0;
    entries.retain(|entry| {
        let place = format!("{key}[{index}]");
        index += 1;
        let problem = of_another_shape::<E>(entry, &place);
        let whole = problem.is_none();
        broken.extend(problem);
        whole
    });
    (!entries.is_empty() && !broken.is_empty()).then_some((tree, broken))
}

/// If the entry is not an `E`, returns the entry with the problem.
fn of_another_shape<E: DeserializeOwned>(entry: &Value, place: &str) -> Option<BrokenEntry> {
    let problem = match from_json::<E>(entry.to_string().as_bytes()).err()? {
        FileProblem::Json { path, problem, .. } if !path.is_empty() => {
            format!("{place}.{path}: {problem}")
        }
        problem => format!("{place}: {}", problem.into_text()),
    };
    let entry = entry.clone();
    Some(BrokenEntry { entry, problem })
}

/// Reads an entry of a nested list, which [`from_json_entries`] does not check.
pub(super) fn inner_entry<E: DeserializeOwned>(
    entry: &Value,
    place: &str,
) -> Result<E, BrokenEntry> {
    E::deserialize(entry).map_err(|error| {
        of_another_shape::<E>(entry, place).unwrap_or_else(|| BrokenEntry {
            entry: entry.clone(),
            problem: format!("{place}: {}", in_words(&error.to_string())),
        })
    })
}

pub(super) fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[derive(Debug)]
pub(super) struct BrokenEntry {
    entry: Value,
    problem: String,
}

impl BrokenEntry {
    /// Adds the entry as a failed benchmark, named by the first of these keys that it has. Without
    /// a name, adds its problem to the unread parts.
    pub(super) fn give_to(self, results: &mut Results, names: &[&str]) {
        let name = names.iter().find_map(|key| self.entry.get(key)?.as_str());
        let name = name.map(str::to_owned);
        self.give_as(results, name.as_deref());
    }

    /// Adds the entry as a failed benchmark with this name. Without a name, adds its problem to the
    /// unread parts.
    pub(super) fn give_as(self, results: &mut Results, name: Option<&str>) {
        match name {
            Some(name) => results.push(failed(name, self.problem)),
            None => results.unread.push(self.problem),
        }
    }

    /// Adds the entry as a failed benchmark with the identity that `identity` returns. Without an
    /// identity, adds its problem to the unread parts.
    pub(super) fn give_to_named(
        self,
        results: &mut Results,
        identity: impl FnOnce(&Value) -> Option<Identity>,
    ) {
        match identity(&self.entry) {
            Some(identity) => results.push(ResultBenchmark {
                identity,
                ..failed("", self.problem)
            }),
            None => results.unread.push(self.problem),
        }
    }
}

/// Adds all entries as [`BrokenEntry::give_to`] does, but if a benchmark of the same name was read
/// already, marks that benchmark as failed.
pub(super) fn give_to_known(broken: Vec<BrokenEntry>, results: &mut Results, names: &[&str]) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut placed = 0;
    for entry in broken {
        for (place, one) in results.benchmarks.iter().enumerate().skip(placed) {
            places.entry(one.name.clone()).or_insert(place);
        }
        placed = results.benchmarks.len();
        let name = names.iter().find_map(|key| entry.entry.get(key)?.as_str());
        match name.and_then(|name| places.get(name)) {
            Some(place) => {
                let known = &mut results.benchmarks[*place];
                *known = failed(&known.name, entry.problem);
            }
            None => entry.give_to(results, names),
        }
    }
}

/// Reads an optional field. A value of the wrong type counts as missing.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Text that is only displayed; a number or truth value is converted to text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Text(pub(super) Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Text(match Value::deserialize(deserializer)? {
            Value::String(text) => Some(text),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            _ => None,
        }))
    }
}

/// Returns the problem with the first value of a text, and true if the text ends before this value
/// is complete. Returns `None` if the value is valid or the text is blank.
pub(super) fn broken(text: &[u8]) -> Option<(FileProblem, bool)> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<de::IgnoredAny>();
    let error = values.next()?.err()?;
    Some((with_place(text, &error), error.is_eof()))
}

/// Returns the text without a byte-order mark.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Returns the problem with a text that could not be parsed, with its place.
fn with_place(text: &[u8], error: &serde_json::Error) -> FileProblem {
    if let Err(error) = std::str::from_utf8(text) {
        return not_utf8(text, error.valid_up_to());
    }
    let problem = error.to_string();
    let mut way = way_to(text, error.line(), error.column());
    if problem.starts_with("missing field")
        && let Some(last) = way.last_mut()
    {
        // The field is missing in the object that ends there, not in its last field.
        *last = Step::Field(b"");
    }
    // Removed here, because the message begins with the place, as for all files.
    let place = format!(" at line {} column {}", error.line(), error.column());
    FileProblem::Json {
        line: error.line().max(1) as u64,
        column: error.column().max(1) as u64,
        path: written_out(&way),
        problem: in_words(problem.strip_suffix(&place).unwrap_or(&problem)),
    }
}

/// Returns the error for a text that is not UTF-8, with its first wrong byte.
fn not_utf8(text: &[u8], at: usize) -> FileProblem {
    let before = &text[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .count()
        + 1;
    FileProblem::Json {
        line: line as u64,
        column: column as u64,
        path: written_out(&way_to(text, line, column)),
        problem: format!(
            "the byte 0x{:02X} is not UTF-8; save the file as UTF-8, \
             as `iconv -f LATIN1 -t UTF-8` does",
            text[at]
        ),
    }
}

/// Rewrites an error of the JSON parser, because the parser names Rust types.
fn in_words(problem: &str) -> String {
    let quoted = |text: &str| text.split('`').nth(1).unwrap_or_default().to_owned();
    if let Some((found, expected)) = problem
        .strip_prefix("invalid type: ")
        .or_else(|| problem.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        let found = match found.split_once(' ') {
            Some(("string", text)) => format!("the text {text}"),
            Some(("integer" | "boolean", _)) => quoted(found),
            Some(("floating", _)) => quoted(found),
            _ => match found {
                "map" => "an object".to_owned(),
                "sequence" => "a list".to_owned(),
                other => other.to_owned(),
            },
        };
        return format!("expected {}, but found {found}", type_in_words(expected));
    }
    if problem.starts_with("missing field") {
        return format!("the field '{}' is missing", quoted(problem));
    }
    if problem.starts_with("duplicate field") {
        return format!("the field '{}' occurs twice", quoted(problem));
    }
    if problem.starts_with("invalid length") {
        return "the list has the wrong number of elements".to_owned();
    }
    if problem.starts_with("unknown variant") {
        return format!("'{}' is not a known value", quoted(problem));
    }
    if problem.starts_with("data did not match any variant") {
        return "the value has the wrong type".to_owned();
    }
    if problem.starts_with("EOF while parsing") {
        return format!(
            "the file ends in the middle of its JSON{HELP}it was cut off, or is still being written: \
             copy it whole, or record it again"
        );
    }
    match problem {
        "trailing characters" => MORE_BEHIND,
        "key must be a string" => "a name in double quotes is expected here",
        "expected value" | "expected ident" => "a value is expected here",
        "trailing comma" => "a value is expected after the comma",
        "expected `,` or `}`" => "a comma or the end of the object is expected here",
        "expected `,` or `]`" => "a comma or the end of the list is expected here",
        "expected `:`" => "a colon is expected here",
        "invalid number" => "the number is not written as JSON requires",
        "number out of range" => "the number is out of range",
        "recursion limit exceeded" => "values are nested more than 128 deep",
        _ if problem.starts_with("control character") => "a text holds a control character",
        _ => "the JSON is broken here",
    }
    .to_owned()
}

fn type_in_words(expected: &str) -> &str {
    match expected.split(' ').next().unwrap_or_default() {
        "struct" | "map" => "an object",
        "i64" | "u64" | "u32" | "i32" | "usize" => "a whole number",
        "f64" => "a number",
        "tuple" => "a list",
        _ => match expected {
            "a sequence" => "a list",
            "a map" => "an object",
            "a string" | "string or map" => "a text",
            "a boolean" => "true or false",
            other => other,
        },
    }
}

/// Returns the path in the JSON tree to the value at this line and column, both counted from 1.
///
/// Scans the text a second time: a parser that records the path while it reads needs twice the
/// code.
fn way_to(text: &[u8], line: usize, column: usize) -> Vec<Step<'_>> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let begins = std::iter::once(0).chain(ends.map(|(end, _)| end + 1));
    let begins = begins.take(line.max(1)).last().unwrap_or(0);
    let text = &text[..(begins + column).min(text.len())];
    let mut way: Vec<Step> = Vec::new();
    // The last string, which is the name of a value if a colon follows.
    let mut string: &[u8] = b"";
    let mut at = 0;
    while at < text.len() {
        let end = match text[at] {
            b'"' => end_of_string(text, at),
            _ => at + 1,
        };
        // The parser refuses deeper nesting. Without this check, 256 MiB of brackets took 3 GB.
        if way.len() > DEEPEST {
            return Vec::new();
        }
        match (text[at], way.last_mut()) {
            (b'"', _) => string = &text[at..end],
            // A problem with an object or list is reported at its beginning or end.
            (b'{' | b'[' | b'}' | b']', _) if end == text.len() => {}
            (b'{', _) => way.push(Step::Field(b"")),
            (b'[', _) => way.push(Step::Element(0)),
            (b'}' | b']', _) => drop(way.pop()),
            (b':', Some(Step::Field(name))) => *name = string,
            (b',', Some(Step::Field(name))) => *name = b"",
            (b',', Some(Step::Element(index))) => *index += 1,
            _ => {}
        }
        at = end;
    }
    way
}

fn written_out(way: &[Step]) -> String {
    let mut path = String::new();
    for step in way {
        match step {
            Step::Field(b"") => {}
            Step::Field(name) => {
                let name = serde_json::from_slice::<String>(name).unwrap_or_default();
                path.extend((!path.is_empty()).then_some('.'));
                path.push_str(&name);
            }
            Step::Element(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// The depth of nesting at which `serde_json` returns an error.
const DEEPEST: usize = 128;

/// One level of a path in a JSON tree.
enum Step<'t> {
    /// The value of this name, spelled as in the text; empty if the name is not known yet.
    Field(&'t [u8]),
    Element(usize),
}

/// Replaces each word that is not JSON, such as `NaN`, by a string of marks of the same length, so
/// that positions in the text stay the same.
fn with_marks(text: &[u8]) -> Cow<'_, [u8]> {
    let mut legal = Cow::Borrowed(text);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = end_of_string(text, at),
            b'-' | b'I' | b'N' | b'i' | b'n' => {
                let rest = &text[at..];
                match NO_NUMBERS.iter().find(|word| rest.starts_with(word)) {
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

/// Number of bytes of a text that are searched for words, which are usually near the beginning.
pub(super) const SEARCHED: usize = 1 << 20;

/// Returns true if the searched beginning of a text contains `part`.
pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    let beginning = &text[..text.len().min(SEARCHED)];
    memchr::memmem::find(beginning, part).is_some()
}

/// Returns the position after the string that begins at `at`.
pub(super) fn end_of_string(text: &[u8], at: usize) -> usize {
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

const MORE_BEHIND: &str = "there is more text after the end of the JSON";

/// Returns true if the error is that more text follows the JSON.
pub(super) fn is_of_the_end(error: &FormatError) -> bool {
    matches!(&error.problem, FileProblem::Json { problem, .. } if problem == MORE_BEHIND)
}

/// Returns the estimated memory in bytes for the values of a JSON text; strings count as if they
/// were JSON. `[0,0,0]` needs more than 10 times its length, and `[{},{}]` more than 100 times.
fn memory_of_json(text: &[u8]) -> u64 {
    const OBJECT: u64 = 384;
    const VALUE: u64 = 32;
    let values = memchr::memchr3_iter(b'{', b',', b'[', text);
    let each = values.map(|at| if text[at] == b'{' { OBJECT } else { VALUE });
    text.len() as u64 + each.sum::<u64>()
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
        let read = from_json(text.as_bytes());
        read.map_err(|problem| problem.of("a.json").to_string())
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
            "a.json:2:8: expected a number, but found the text \"2\", at values[1]"
        );
        assert_eq!(
            read("{\"values\":\n [1, ").unwrap_err(),
            "a.json:2:5: the file ends in the middle of its JSON, at values[1]\nhelp: it was cut off, or \
             is still being written: copy it whole, or record it again"
        );
        assert_eq!(
            read("{\"values\":[]} x").unwrap_err(),
            "a.json:1:15: there is more text after the end of the JSON"
        );
        let error = read("{\"values\":[NaN], \"values\":[]}").unwrap_err();
        assert!(error.contains("the field 'values' occurs twice"), "{error}");
    }

    #[test]
    fn no_error_speaks_of_types_of_the_program() {
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct All {
            whole: Option<u32>,
            text: Option<String>,
            list: Option<Vec<u8>>,
            object: Option<Wire>,
            truth: Option<bool>,
            pair: Option<(f64, f64)>,
            word: Option<Word>,
            either: Option<Either>,
        }
        #[derive(Debug, Deserialize)]
        enum Word {
            One,
        }
        #[derive(Debug, Deserialize)]
        #[serde(untagged)]
        #[allow(dead_code)]
        enum Either {
            Text(String),
        }
        for (text, told) in [
            (
                r#"{"whole":"4"}"#,
                "expected a whole number, but found the text \"4\"",
            ),
            (r#"{"whole":-4}"#, "expected a whole number, but found -4"),
            (r#"{"text":7}"#, "expected a text, but found 7"),
            (r#"{"text":1.5}"#, "expected a text, but found 1.5"),
            (r#"{"text":{}}"#, "expected a text, but found an object"),
            (r#"{"list":{}}"#, "expected a list, but found an object"),
            (r#"{"object":7}"#, "expected an object, but found 7"),
            (
                r#"{"object":[]}"#,
                "the list has the wrong number of elements",
            ),
            (r#"{"object":{}}"#, "the field 'values' is missing"),
            (
                r#"{"truth":null,"pair":[1]}"#,
                "the list has the wrong number of elements",
            ),
            (
                r#"{"truth":"no"}"#,
                "expected true or false, but found the text \"no\"",
            ),
            (r#"{"word":"Two"}"#, "'Two' is not a known value"),
            (r#"{"either":7}"#, "the value has the wrong type"),
        ] {
            let problem = from_json::<All>(text.as_bytes()).unwrap_err();
            let error = problem.of("a.json").to_string();
            assert!(error.contains(told), "{text}: {error}");
            for word in [
                "struct", "enum", "u32", "untagged", "variant", "sequence", "map",
            ] {
                assert!(!error.contains(word), "{text}: {error}");
            }
        }
    }

    #[test]
    fn another_encoding_is_named_with_its_place() {
        let latin = b"{\"values\":\n [\"\xe9\"]}";
        let error = from_json::<Wire>(latin).unwrap_err().of("a.json");
        let error = error.to_string();
        assert!(
            error.starts_with("a.json:2:4: the byte 0xE9 is not UTF-8"),
            "{error}"
        );
        assert!(error.ends_with(", at values[0]"), "{error}");
    }

    #[test]
    fn a_place_in_a_text_is_a_path() {
        let text = r#"{"a": {"b\"c": [1, {"d": 2}, "},:["]}, "e": 3}"#;
        let at = |what: &str| {
            let column = text.find(what).unwrap() + what.len();
            written_out(&way_to(text.as_bytes(), 1, column))
        };
        assert_eq!(at("1"), "a.b\"c[0]");
        assert_eq!(at("2"), "a.b\"c[1].d");
        assert_eq!(at("2}"), "a.b\"c[1].d");
        assert_eq!(at("},:"), "a.b\"c[2]");
        assert_eq!(at("3"), "e");
        let far = |text: &[u8], line, column| written_out(&way_to(text, line, column));
        assert_eq!(far(b"[\n 1,\n x", 3, 2), "[1]");
        assert_eq!(far(b"", 1, 0), "");
        assert_eq!(far(b"]}", 7, 9), "");
        assert_eq!(far("[".repeat(1000).as_bytes(), 1, 1000), "");
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert!(read("\u{feff}{\"values\":[]}").is_ok());
    }

    #[test]
    fn what_cannot_be_measured_is_named() {
        let place = || "x[0]".to_owned();
        let measured = |n: Option<f64>| Number(n).measured(1e9, place);
        assert_eq!(measured(Some(2.0)).unwrap(), 2e9);
        for (number, told) in [
            (Some(-1.0), "a: x[0]: -1 is negative"),
            (Some(1e300), "a: x[0]: the number is too large"),
            (None, "a: x[0]: the number is missing"),
        ] {
            assert_eq!(measured(number).unwrap_err().of("a").to_string(), told);
        }
    }

    #[test]
    fn many_small_values_count_for_more_than_their_bytes() {
        assert_eq!(memory_of_json(b"\"a\""), 3);
        assert!(memory_of_json(b"[0,0,0,0,0,0]") > 10 * 13);
        assert!(memory_of_json(b"[{},{},{},{}]") > 100 * 13);
    }
}
