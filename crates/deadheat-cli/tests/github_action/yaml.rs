//! As much YAML as an action needs: maps and lists by indentation, and values
//! on one line.

use std::path::Path;

use serde_json::{Map, Value};

/// Reads a file of such YAML.
pub fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let indent = line.len() - bare.len();
        match bare.strip_prefix("- ") {
            // An entry of a list is a dash, and a block two columns further in.
            Some(rest) => {
                lines.push(Line::new(indent, "-", number));
                lines.push(Line::new(indent + 2, rest, number));
            }
            None => lines.push(Line::new(indent, bare, number)),
        }
    }
    let mut reader = Reader { lines, at: 0 };
    let value = reader.block(0);
    assert_eq!(reader.at, reader.lines.len(), "{}", path.display());
    value
}

struct Line {
    indent: usize,
    text: String,
    number: usize,
}

impl Line {
    fn new(indent: usize, text: &str, number: usize) -> Self {
        Self {
            indent,
            text: text.to_owned(),
            number: number + 1,
        }
    }
}

struct Reader {
    lines: Vec<Line>,
    at: usize,
}

impl Reader {
    /// The line that comes next, if it is this far in.
    fn next(&mut self, indent: usize) -> Option<(String, usize)> {
        let line = self.lines.get(self.at)?;
        assert!(line.indent <= indent, "line {} is too far in", line.number);
        (line.indent == indent).then(|| {
            self.at += 1;
            (line.text.clone(), line.number)
        })
    }

    fn deeper(&self, indent: usize) -> Option<usize> {
        let line = self.lines.get(self.at)?;
        (line.indent > indent).then_some(line.indent)
    }

    fn block(&mut self, indent: usize) -> Value {
        let starts_with_dash = self.lines.get(self.at).is_some_and(|line| line.text == "-");
        if starts_with_dash {
            let mut list = Vec::new();
            while let Some((text, number)) = self.next(indent) {
                assert_eq!(text, "-", "line {number} is no entry of a list");
                list.push(self.block(indent + 2));
            }
            return Value::Array(list);
        }
        let mut map = Map::new();
        while let Some((text, number)) = self.next(indent) {
            let (key, value) = match text.split_once(": ") {
                Some((key, value)) => (key, scalar(value, number)),
                None => {
                    let key = text.strip_suffix(':');
                    let Some(key) = key else {
                        assert!(map.is_empty(), "line {number} has no key");
                        return scalar(&text, number);
                    };
                    let value = match self.deeper(indent) {
                        Some(deeper) => self.block(deeper),
                        None => Value::Null,
                    };
                    (key, value)
                }
            };
            let before = map.insert(key.to_owned(), value);
            assert!(before.is_none(), "line {number}: {key} occurs twice");
        }
        Value::Object(map)
    }
}

fn scalar(text: &str, number: usize) -> Value {
    let text = text.trim();
    for sign in ["|", ">", "&", "*", "{", "!", "%", "@", "`"] {
        let is_expression = text.starts_with("${{");
        assert!(
            !text.starts_with(sign) || is_expression,
            "line {number}: {text} is more YAML than is read here"
        );
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let inner = inner.strip_suffix('\'');
        return inner.expect("a closing quote").replace("''", "'").into();
    }
    if let Some(list) = text.strip_prefix('[') {
        let items = list.strip_suffix(']').expect("a closing bracket");
        return items.split(',').map(|item| scalar(item, number)).collect();
    }
    assert!(!text.contains(" #"), "line {number}: a comment? quote it");
    match text {
        "true" => true.into(),
        "false" => false.into(),
        text => text.into(),
    }
}
