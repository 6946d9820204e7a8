//! A command as it is read from a run file.

use std::path::PathBuf;
use std::time::Duration;

use deadheat_model as model;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct CommandLine {
    text: String,
    words: Vec<String>,
    #[serde(default)]
    input: Input,
    #[serde(default)]
    output: Output,
    #[serde(default)]
    timeout_ns: Option<u64>,
    #[serde(default)]
    exit_policy: ExitPolicy,
    #[serde(default)]
    hooks: Hooks,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Input {
    #[default]
    Null,
    File(FilePath),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Output {
    #[default]
    Null,
    Pipe,
    Inherit,
    File(FilePath),
    Compared,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ExitPolicy {
    #[default]
    ZeroOnly,
    Any,
    Also(Vec<i32>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Hooks {
    setup: Option<Vec<String>>,
    prepare: Option<Vec<String>>,
    conclude: Option<Vec<String>>,
    cleanup: Option<Vec<String>>,
}

/// Text where the path is Unicode, else its bytes in hexadecimal.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum FilePath {
    Text(String),
    Bytes { hex: String },
}

impl FilePath {
    pub(super) fn into_path(self) -> Result<PathBuf, String> {
        let hex = match self {
            FilePath::Text(text) => return Ok(text.into()),
            FilePath::Bytes { hex } => hex,
        };
        let bytes =
            bytes_of_hex(&hex).ok_or_else(|| format!("path of bytes '{hex}' is not hex"))?;
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            Ok(std::ffi::OsString::from_vec(bytes).into())
        }
        #[cfg(not(unix))]
        String::from_utf8(bytes)
            .map(PathBuf::from)
            .map_err(|_| format!("path of bytes '{hex}' has no name on this system"))
    }
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
            _ => None,
        })
        .collect()
}

impl CommandLine {
    /// `Err` says in words what does not hold.
    pub(super) fn into_model(self) -> Result<model::CommandLine, String> {
        Ok(model::CommandLine {
            text: self.text,
            words: self.words,
            input: match self.input {
                Input::Null => model::Input::Null,
                Input::File(path) => model::Input::File(path.into_path()?),
            },
            output: match self.output {
                Output::Null => model::Output::Null,
                Output::Pipe => model::Output::Pipe,
                Output::Inherit => model::Output::Inherit,
                Output::File(path) => model::Output::File(path.into_path()?),
                Output::Compared => model::Output::Compared,
            },
            timeout: self.timeout_ns.map(Duration::from_nanos),
            exit_policy: match self.exit_policy {
                ExitPolicy::ZeroOnly => model::ExitPolicy::ZeroOnly,
                ExitPolicy::Any => model::ExitPolicy::Any,
                ExitPolicy::Also(codes) => model::ExitPolicy::Also(codes),
            },
            hooks: model::Hooks {
                setup: self.hooks.setup,
                prepare: self.hooks.prepare,
                conclude: self.hooks.conclude,
                cleanup: self.hooks.cleanup,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_unicode_survives() {
        use std::os::unix::ffi::OsStringExt;
        let path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', 0xff, 0x0a]));
        let json = super::super::written_plan::path(&path).unwrap().to_string();
        assert_eq!(json, r#"{"hex":"2fff0a"}"#);
        let back: FilePath = serde_json::from_str(&json).unwrap();
        assert_eq!(back.into_path(), Ok(path));
    }

    #[test]
    fn a_path_of_broken_hex_is_refused() {
        for hex in ["2", "zz", "é"] {
            let path = FilePath::Bytes {
                hex: hex.to_owned(),
            };
            assert!(path.into_path().is_err(), "{hex}");
        }
    }
}
