//! Scans flat objects one after the other, in a text that may be only the beginning of a longer
//! one, or in a text that is read in pieces. The scan builds no tree, makes no copies and looks at
//! each byte once.
//!
//! It is for files of other tools with a million rows. Nested, truncated and invalid values are
//! `None`; the reader for whole texts then reports the error.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use super::Json;

/// A value that is neither a list nor an object.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonScalar<'t> {
    /// The value `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The digits of a number, by the grammar of JSON.
    Number(&'t str),
    /// A word for a missing number, such as `NaN`. It is not JSON, but some programs write it.
    NoNumber,
    /// A text.
    Text(Cow<'t, str>),
}

/// The words that programs in C++, Java and Python write for values that are not finite numbers. If
/// two begin alike, the longer one comes first.
pub const NO_NUMBERS: [&[u8]; 8] = [
    b"-Infinity",
    b"Infinity",
    b"-NaN",
    b"-nan",
    b"-inf",
    b"NaN",
    b"nan",
    b"inf",
];

/// Reads values one after the other from a text.
#[derive(Clone, Debug)]
pub struct JsonScan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> JsonScan<'t> {
    /// Starts a scan at the first byte.
    pub fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the number of bytes read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the rest of the text.
    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Skips bytes that another reader has read.
    pub fn advance(&mut self, bytes: usize) {
        self.at = self.text.len().min(self.at + bytes);
    }

    /// Skips white space and returns the next byte without reading it.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    /// Skips white space, and then `sign`. Returns false if something else follows the white space.
    pub fn take(&mut self, sign: u8) -> bool {
        let there = self.peek() == Some(sign);
        self.at += usize::from(there);
        there
    }

    /// Reads a text in quotes.
    pub fn text(&mut self) -> Option<Cow<'t, str>> {
        text(self.quoted()?)
    }

    /// Returns the bytes of a text as written, including its quotes, and true if they contain
    /// escapes.
    fn quoted(&mut self) -> Option<(&'t [u8], bool)> {
        if !self.take(b'"') {
            return None;
        }
        let begin = self.at - 1;
        let mut has_escapes = false;
        loop {
            self.at += plain_bytes(self.text.get(self.at..)?);
            match self.text.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    self.at += 2;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some((&self.text[begin..self.at], has_escapes))
    }

    /// Reads a value that is neither a list nor an object.
    pub fn scalar(&mut self) -> Option<JsonScalar<'t>> {
        let word = |scan: &mut Self, word: &[u8], value| {
            let there = scan.rest().starts_with(word);
            there.then(|| {
                scan.at += word.len();
                value
            })
        };
        match self.peek()? {
            b'"' => self.text().map(JsonScalar::Text),
            b'0'..=b'9' => self.number(),
            b't' => word(self, b"true", JsonScalar::Bool(true)),
            b'f' => word(self, b"false", JsonScalar::Bool(false)),
            first => {
                if first == b'n'
                    && let Some(null) = word(self, b"null", JsonScalar::Null)
                {
                    return Some(null);
                }
                let mut words = NO_NUMBERS.iter();
                words
                    .find_map(|no_number| word(self, no_number, JsonScalar::NoNumber))
                    .or_else(|| self.number())
            }
        }
    }

    fn number(&mut self) -> Option<JsonScalar<'t>> {
        let begin = self.at;
        self.at += usize::from(self.text.get(self.at) == Some(&b'-'));
        match self.text.get(self.at)? {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.text.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        let digits = std::str::from_utf8(&self.text[begin..self.at]).ok()?;
        // More digits may follow in the next piece of the text.
        (self.at < self.text.len()).then_some(JsonScalar::Number(digits))
    }

    fn digits(&mut self) -> Option<()> {
        let begin = self.at;
        while let Some(b'0'..=b'9') = self.text.get(self.at) {
            self.at += 1;
        }
        (self.at > begin).then_some(())
    }

    /// Reads an object of scalars. The values of `names` go into `values`, in the order of `names`;
    /// all other fields go into `others`. If a name occurs twice, the last value counts.
    ///
    /// The search is fastest if `names` are in their usual order in the text.
    pub fn object(
        &mut self,
        names: &[&str],
        values: &mut [Option<JsonScalar<'t>>],
        others: &mut Vec<(Cow<'t, str>, JsonScalar<'t>)>,
    ) -> Option<()> {
        values.fill(None);
        others.clear();
        if !self.take(b'{') {
            return None;
        }
        if self.take(b'}') {
            return Some(());
        }
        let mut expected = 0;
        loop {
            let written = self.quoted()?;
            if !self.take(b':') {
                return None;
            }
            let value = self.scalar()?;
            let decoded;
            let name = match written {
                (quoted, false) => &quoted[1..quoted.len() - 1],
                _ => {
                    decoded = text(written)?;
                    decoded.as_bytes()
                }
            };
            let is_it = |known: &&str| known.as_bytes() == name;
            let (before, from) = names.split_at(expected);
            let behind = from.iter().position(is_it);
            let place = behind.map(|place| expected + place);
            match place.or_else(|| before.iter().position(is_it)) {
                Some(place) => {
                    values[place] = Some(value);
                    expected = place + 1;
                }
                None => others.push((text(written)?, value)),
            }
            if self.take(b'}') {
                return Some(());
            }
            if !self.take(b',') {
                return None;
            }
        }
    }
}

/// Decodes a JSON text from its bytes, which include the quotes.
fn text((quoted, has_escapes): (&[u8], bool)) -> Option<Cow<'_, str>> {
    let quoted = std::str::from_utf8(quoted).ok()?;
    if !has_escapes {
        return Some(Cow::Borrowed(&quoted[1..quoted.len() - 1]));
    }
    match Json::parse(quoted)? {
        Json::Text(text) => Some(Cow::Owned(text)),
        _ => None,
    }
}

/// Returns the number of bytes before the first quote, backslash or control character. It tests
/// eight bytes at a time.
pub fn plain_bytes(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; 8]);
    // Only the lowest marked byte is certain to match; marks above it may be false.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
        let marked = (control | quote | backslash) & HIGHEST;
        if marked != 0 {
            return at + (marked.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    at + text[at..]
        .iter()
        .position(special)
        .unwrap_or(text.len() - at)
}

/// Bytes read at a time.
const PIECE: usize = 256 << 10;

/// Size of the first read in bytes. For 40,000 small files, clearing a buffer of `PIECE` bytes for
/// each took most of the time.
const FIRST_PIECE: usize = 16 << 10;

/// Largest number of bytes to search for one value; a row takes a few hundred.
const MOST: usize = 4 << 20;

/// A text that is read in pieces, with the current position in the text. The buffer holds one piece
/// and the unread rest of the previous piece.
#[derive(Debug)]
pub struct JsonPieces<R> {
    input: R,
    buffer: Vec<u8>,
    /// The unread bytes are `begin..end` of the buffer.
    begin: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> JsonPieces<R> {
    /// Starts at the beginning of an input.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            begin: 0,
            end: 0,
            ended: false,
        }
    }

    /// Calls `step` with the text from the current position on, and with true if the input ends
    /// with this text. `step` returns its result and the number of bytes it used, or `None` if it
    /// found nothing, for example because the text ends too early. `step` is then called again with
    /// more text. Returns `None` if more text cannot be read, usually because the input has ended.
    pub fn step<T>(
        &mut self,
        mut step: impl FnMut(&[u8], bool) -> Option<(T, usize)>,
    ) -> Option<T> {
        loop {
            if let Some((found, bytes)) = step(&self.buffer[self.begin..self.end], self.ended) {
                self.begin += bytes;
                return Some(found);
            }
            self.more()?;
        }
    }

    /// Calls `step` with a scan that begins at the current position, and moves the position to the
    /// end of that scan.
    pub fn scan<T>(&mut self, mut step: impl FnMut(&mut JsonScan<'_>) -> Option<T>) -> Option<T> {
        self.step(|text, _| {
            let mut scan = JsonScan::new(text);
            let found = step(&mut scan)?;
            Some((found, scan.at()))
        })
    }

    /// Returns true if nothing but white space follows.
    pub fn is_at_end(&mut self) -> bool {
        self.scan(|scan| scan.peek()).is_none() && self.ended
    }

    /// Reads another piece after the unread bytes. `None` at the end of the input, on a read error,
    /// and if a step found nothing in `MOST` bytes; the reader for whole texts then reports the
    /// error.
    fn more(&mut self) -> Option<()> {
        if self.ended || self.end - self.begin > MOST {
            return None;
        }
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        let room = self.end + self.buffer.len().clamp(FIRST_PIECE, PIECE);
        self.buffer.resize(self.buffer.len().max(room), 0);
        while self.end < room {
            match self.input.read(&mut self.buffer[self.end..room]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 3] = ["a", "b", "c"];

    type Others<'t> = Vec<(Cow<'t, str>, JsonScalar<'t>)>;

    /// Returns the values, the other fields and the length of the object.
    fn object(text: &str) -> Option<([Option<JsonScalar<'_>>; 3], Others<'_>, usize)> {
        let (mut values, mut others) = ([const { None }; 3], Vec::new());
        let mut scan = JsonScan::new(text.as_bytes());
        scan.object(&NAMES, &mut values, &mut others)?;
        Some((values, others, scan.at()))
    }

    /// Returns the value as a tree; words for missing numbers become the text "no".
    fn as_tree(value: &JsonScalar<'_>) -> Json {
        match value {
            JsonScalar::Null => Json::Null,
            JsonScalar::Bool(yes) => Json::Bool(*yes),
            JsonScalar::Number(digits) => Json::parse(digits).unwrap_or(Json::Null),
            JsonScalar::NoNumber => Json::from("no"),
            JsonScalar::Text(text) => Json::from(text.as_ref()),
        }
    }

    #[test]
    fn values_stand_in_the_places_of_their_names() {
        let text = r#" { "c" : -1.5e-3 , "x":"\u00e9\n", "a":true,"b":NaN,"y":null} rest"#;
        let (values, others, length) = object(text).unwrap();
        let no_number = Some(JsonScalar::NoNumber);
        let digits = Some(JsonScalar::Number("-1.5e-3"));
        assert_eq!(values, [Some(JsonScalar::Bool(true)), no_number, digits]);
        let word = JsonScalar::Text("é\n".into());
        let want = [("x".into(), word), ("y".into(), JsonScalar::Null)];
        assert_eq!(others, want);
        assert!(text[length..].starts_with(" rest"));
        let (values, ..) = object(r#"{"\u0061":1,"a":2}"#).unwrap();
        assert_eq!(values[0], Some(JsonScalar::Number("2")));
        assert!(object("{}").is_some());
    }

    #[test]
    fn what_is_nested_or_wrong_is_not_read() {
        for text in [
            "",
            "[]",
            "{",
            "{\"a\\",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":-}"#,
            r#"{"a":+1}"#,
            r#"{"a":1e}"#,
            r#"{"a":1 "b":2}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":"\x"}"#,
            r#"{"a":"\ud83d"}"#,
            r#"{"a":nul}"#,
            r#"{"a":infinite}"#,
            r#"{a:1}"#,
            r#"{"a":"b}"#,
        ] {
            assert_eq!(object(text), None, "{text}");
        }
        let mut scan = JsonScan::new(b"\"\xff\"");
        assert_eq!(scan.text(), None);
        let mut scan = JsonScan::new(b"12");
        assert_eq!(scan.scalar(), None, "more digits may follow");
    }

    /// A reader that returns one byte at a time.
    struct Dripping<'t>(&'t [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let some = buffer.len().min(1);
            self.0.read(&mut buffer[..some])
        }
    }

    #[test]
    fn a_step_gets_more_until_it_has_enough() {
        let long = format!(" \"{}\" 1", "a".repeat(PIECE * 2));
        let mut pieces = JsonPieces::new(Dripping(long.as_bytes()));
        let length = pieces.scan(|scan| Some(scan.text()?.len()));
        assert_eq!(length, Some(PIECE * 2));
        assert!(!pieces.is_at_end());
        assert!(pieces.scan(|scan| scan.take(b'1').then_some(())).is_some());
        assert!(pieces.is_at_end());
        assert!(pieces.scan(|scan| scan.peek()).is_none());
    }

    #[test]
    fn a_step_that_never_has_enough_ends() {
        let mut pieces = JsonPieces::new(std::io::repeat(b'a'));
        assert!(pieces.scan(|scan| scan.take(b'b').then_some(())).is_none());
        assert!(pieces.buffer.len() < 2 * MOST);
    }

    proptest! {
        #[test]
        fn a_flat_object_is_read_as_the_tree_is(
            place in any::<prop::sample::Index>(),
            sign in prop::sample::select(&b"0123456789.eE+-,[]{}\":tnu\\ \n"[..]),
            insert: bool,
        ) {
            let mut text =
                br#"{"a":-2.5e3,"name":"x\u0041\n \"long enough\"","b":null,"c":true}"#.to_vec();
            let place = place.index(text.len());
            if insert {
                text.insert(place, sign);
            } else {
                text[place] = sign;
            }
            let text = std::str::from_utf8(&text).unwrap();
            if let Some((values, others, length)) = object(text) {
                let Some(Json::Object(tree)) = Json::parse(&text[..length]) else {
                    panic!("{text} is no object");
                };
                let named = NAMES.iter().zip(&values).filter_map(|(name, value)| {
                    Some(((*name).to_owned(), as_tree(value.as_ref()?)))
                });
                let others = others.iter().map(|(name, value)| (name.to_string(), as_tree(value)));
                for (name, value) in named.chain(others) {
                    let last = tree.fields.iter().rev().find(|(known, _)| *known == name);
                    prop_assert_eq!(last.map(|(_, value)| value), Some(&value), "{}", text);
                }
            }
        }

        #[test]
        fn a_text_of_any_length_ends_where_it_ends(
            plain_text in "[ -~\u{7f}é\u{80}\u{1f600}]{0,40}",
            end in prop::sample::select(&b"\"\\\n\0\x1f"[..]),
            behind in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let before: String = plain_text.chars().filter(|c| !['"', '\\'].contains(c)).collect();
            let mut text = before.clone().into_bytes();
            text.push(end);
            text.extend(behind);
            prop_assert_eq!(plain_bytes(&text), before.len());
            prop_assert_eq!(plain_bytes(before.as_bytes()), before.len());
        }
    }
}
