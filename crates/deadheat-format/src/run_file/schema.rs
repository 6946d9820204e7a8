//! What the first line of a file declares.

use std::path::Path;

use serde::Deserialize;

use crate::error::FormatError;

const FAMILY: &str = "deadheat.run/";
const MAJOR: u64 = 1;

/// What the schema a header declares means to this reader.
#[derive(Debug, PartialEq, Eq)]
enum Declared {
    /// A run of this major version, whatever its minor.
    Readable,
    /// A run of a later major version.
    Newer,
    /// Something else.
    Foreign,
}

/// Judges a schema such as `deadheat.run/1` or `deadheat.run/1.4`.
fn judge_schema(schema: &str) -> Declared {
    let major = schema
        .strip_prefix(FAMILY)
        .and_then(|version| version.split('.').next())
        .and_then(|major| major.parse::<u64>().ok());
    match major {
        Some(MAJOR) => Declared::Readable,
        Some(major) if major > MAJOR => Declared::Newer,
        _ => Declared::Foreign,
    }
}

/// The schema a first line declares, when it is a JSON object that does.
fn declared_schema(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Declaration {
        schema: String,
    }
    serde_json::from_slice::<Declaration>(line)
        .ok()
        .map(|declaration| declaration.schema)
}

/// Whether a first line declares a schema that can be read.
pub(crate) fn check_schema(name: &Path, first: &[u8]) -> Result<(), FormatError> {
    let file = name.to_owned();
    let Some(schema) = declared_schema(first) else {
        // A run that was killed while its header was written is still known by
        // how it begins.
        if first.starts_with(b"{\"schema\":\"deadheat.run/") {
            return Err(FormatError::Line {
                file,
                line: 1,
                problem: "the header is cut off, so there is no run".to_owned(),
            });
        }
        let found = match first.trim_ascii_start().first() {
            Some(b'{' | b'[') => "JSON without the header of a run",
            _ => "text without the header of a run",
        };
        return Err(FormatError::UnknownFormat {
            file,
            found: found.to_owned(),
        });
    };
    match judge_schema(&schema) {
        Declared::Readable => Ok(()),
        Declared::Newer => Err(FormatError::NewerSchema { file, schema }),
        Declared::Foreign => Err(FormatError::UnknownFormat {
            file,
            found: format!("JSON of schema {schema}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_major_version_is_too_new() {
        for (schema, expected) in [
            ("deadheat.run/1", Declared::Readable),
            ("deadheat.run/1.7", Declared::Readable),
            ("deadheat.run/2", Declared::Newer),
            ("deadheat.run/10.1", Declared::Newer),
            ("deadheat.run/0", Declared::Foreign),
            ("deadheat.analysis/1", Declared::Foreign),
            ("deadheat.run/one", Declared::Foreign),
        ] {
            assert_eq!(judge_schema(schema), expected, "{schema}");
        }
    }
}
