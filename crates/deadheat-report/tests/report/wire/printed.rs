//! A schema printed for people: the words that explain first, required fields
//! before those that may be absent, and small things in one line.

use serde_json::{Map, Value};

/// Columns within which something stands in one line.
const LINE: usize = 140;

/// In which order the words of a schema are read best; others follow.
const WORDS: [&str; 15] = [
    "$schema",
    "$id",
    "$ref",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "items",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// The definitions that others refer to; they stand at the end.
const DEFINITIONS: &str = "$defs";

/// The schema with a line break at its end.
pub fn printed(schema: &Value) -> String {
    let mut text = String::new();
    print(schema, &WORDS, 0, &mut text);
    text + "\n"
}

/// `first`: the names that come first if `value` is an object.
fn print(value: &Value, first: &[&str], depth: usize, text: &mut String) {
    let start = text.rfind('\n').map_or(0, |line_break| line_break + 1);
    let short = in_a_line(value, first);
    if text.len() - start + short.len() < LINE && depth > 0 {
        text.push_str(&short);
        return;
    }
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::Object(fields) => {
            text.push_str("{\n");
            for (index, name) in names(fields, first).into_iter().enumerate() {
                text.push_str(if index > 0 { ",\n" } else { "" });
                text.push_str(&format!("{indent}{}: ", Value::from(name.as_str())));
                print(&fields[name], &inner(fields, name), depth + 1, text);
            }
            text.push_str(&format!("\n{}}}", "  ".repeat(depth)));
        }
        Value::Array(values) => {
            text.push_str("[\n");
            text.push_str(&indent);
            let mut column = indent.len();
            for (index, value) in values.iter().enumerate() {
                let next = in_a_line(value, &WORDS).len() + 2;
                let fits = value.is_string() && column + next < LINE;
                text.push_str(match (index, fits) {
                    (0, _) => "",
                    (_, true) => ", ",
                    (_, false) => ",\n",
                });
                if index > 0 && !fits {
                    text.push_str(&indent);
                    column = indent.len();
                }
                column += next;
                print(value, &WORDS, depth + 1, text);
            }
            text.push_str(&format!("\n{}]", "  ".repeat(depth)));
        }
        _ => text.push_str(&short),
    }
}

fn in_a_line(value: &Value, first: &[&str]) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let field = |name: &String| {
                let value = in_a_line(&fields[name], &inner(fields, name));
                format!("{}: {value}", Value::from(name.as_str()))
            };
            let all: Vec<String> = names(fields, first).into_iter().map(field).collect();
            format!("{{ {} }}", all.join(", "))
        }
        Value::Array(values) => {
            let all: Vec<String> = values.iter().map(|one| in_a_line(one, &WORDS)).collect();
            format!("[{}]", all.join(", "))
        }
        _ => value.to_string(),
    }
}

/// The names of an object, those of `first` before the others.
fn names<'a>(fields: &'a Map<String, Value>, first: &[&str]) -> Vec<&'a String> {
    let mut names: Vec<&String> = fields.keys().collect();
    let place = |name: &String| first.iter().position(|word| word == name);
    names.sort_by_key(|name| (*name == DEFINITIONS, place(name).unwrap_or(usize::MAX)));
    names
}

/// What comes first in the field `name` of a schema: of its properties the
/// required ones, of definitions nothing, and of everything else words.
fn inner<'a>(schema: &'a Map<String, Value>, name: &str) -> Vec<&'a str> {
    match name {
        "properties" => {
            let required = schema.get("required").and_then(Value::as_array);
            let required = required.into_iter().flatten();
            required.filter_map(Value::as_str).collect()
        }
        DEFINITIONS => Vec::new(),
        _ => WORDS.to_vec(),
    }
}
