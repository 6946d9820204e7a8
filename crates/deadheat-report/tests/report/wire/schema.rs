//! The published schema is the one of these types, and everything written is
//! both sound by it and readable into them.

use std::fs;
use std::path::Path;

use deadheat_report::to_json;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

use super::analysis::Analysis;
use super::printed::printed;
use crate::fixtures::everything;

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/analysis-1.schema.json"
);

/// The schema of the types. They refuse unknown fields, so that none is
/// written without its description; the schema allows them, because fields may
/// be added within a version and whoever validates should not break then.
fn generated() -> String {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Analysis>();
    RecursiveTransform(|schema: &mut Schema| {
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            schema.remove("additionalProperties");
        }
        // `double`, `uint64` and the like are words of Rust.
        if schema.get("format").is_some_and(|format| format != "date") {
            schema.remove("format");
        }
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    })
    .transform(&mut schema);
    printed(schema.as_value())
}

#[test]
fn the_published_schema_is_the_one_of_the_types() {
    let generated = generated();
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        fs::write(PATH, &generated).unwrap_or_else(|error| panic!("{PATH}: {error}"));
    }
    let published = fs::read_to_string(PATH).unwrap_or_else(|error| panic!("{PATH}: {error}"));
    assert!(
        published == generated,
        "docs/schema/analysis-1.schema.json is not what the types say; `just bless` writes it anew"
    );
}

/// Reads `text` into the types and names what they refuse.
fn read(text: &str) -> Result<Analysis, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn everything_written_is_described_by_the_types() {
    for analysis in everything() {
        let text = to_json(&analysis);
        if let Err(error) = read(&text) {
            panic!("{error}\n{text}");
        }
    }
    for golden in goldens() {
        if let Err(error) = read(&golden) {
            panic!("{error}\n{golden}");
        }
    }
}

/// The snapshots of answers for programs.
fn goldens() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/snapshots");
    let goldens: Vec<String> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .filter_map(|text| Some(text.splitn(3, "---\n").nth(2)?.to_owned()))
        .filter(|text| text.starts_with("{\n  \"schema\": \"deadheat.analysis/"))
        .collect();
    assert!(!goldens.is_empty(), "no snapshot is an answer");
    goldens
}

#[test]
fn a_field_nobody_described_is_noticed() {
    let text = to_json(&crate::fixtures::race());
    let added = text.replacen("\"seed\"", "\"mood\": 1, \"seed\"", 1);
    assert!(read(&added).unwrap_err().contains("mood"));
    let added = text.replacen("\"drift\"", "\"mood\": 1, \"drift\"", 1);
    assert!(read(&added).unwrap_err().contains("mood"));
}

#[test]
fn null_and_absent_are_not_the_same() {
    let text = to_json(&crate::fixtures::race());
    let missing = text.replacen("\"seed\": 7,", "", 1);
    assert!(read(&missing).unwrap_err().contains("seed"));
    let null = text.replacen("\"seed\"", "\"signal\": null, \"seed\"", 1);
    assert!(read(&null).unwrap_err().contains("null"));
    let null = text.replacen("\"seed\": 7,", "\"seed\": null,", 1);
    assert!(read(&null).is_ok());
}
