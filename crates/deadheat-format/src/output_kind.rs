//! The kinds of files that options write, recognised by their first bytes. An option replaces an
//! earlier file of its kind, but no other file.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Number of bytes at the beginning of a file that are examined.
const BEGINNING: u64 = 1 << 14;

/// The kind of file that an option writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// An HTML page.
    Page,
    /// The Markdown that `--markdown` writes.
    Comment,
    /// A table in Markdown.
    MarkdownTable,
    /// Test cases in JUnit XML.
    TestCases,
    /// JSON in the format of hyperfine.
    Hyperfine,
    /// JSON in the format of Google Benchmark.
    GoogleBenchmark,
    /// A JSON array of objects that begin with a name.
    NamedRows,
    /// Bencher Metric Format.
    Bmf,
    /// A CSV table of samples.
    Csv,
    /// An HDR histogram log.
    Hdr,
    /// Output of Go benchmarks.
    Go,
    /// A picture in SVG.
    Svg,
    /// A picture in PNG.
    Png,
}

const OPTIONS: [(&str, OutputKind); 15] = [
    ("--html", OutputKind::Page),
    ("--markdown", OutputKind::Comment),
    ("--junit", OutputKind::TestCases),
    ("--export-json", OutputKind::Hyperfine),
    ("--export-csv", OutputKind::Csv),
    ("--export-hdr", OutputKind::Hdr),
    ("--export-markdown", OutputKind::MarkdownTable),
    ("--export-google-benchmark", OutputKind::GoogleBenchmark),
    ("--export-google-baseline", OutputKind::GoogleBenchmark),
    ("--export-go", OutputKind::Go),
    ("--export-smaller-is-better", OutputKind::NamedRows),
    ("--export-bmf", OutputKind::Bmf),
    ("--dump_to_json", OutputKind::NamedRows),
    ("--svg", OutputKind::Svg),
    ("--png", OutputKind::Png),
];

impl OutputKind {
    /// Returns the kind of file that an option, such as `--html`, writes in place of an older file;
    /// `None` for any other option.
    pub fn of_option(option: &str) -> Option<Self> {
        let mut options = OPTIONS.iter();
        let found = options.find(|(name, _)| *name == option);
        found.map(|(_, kind)| *kind)
    }

    /// Returns the kind in words, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "an HTML page",
            Self::Comment => "Markdown that deadheat wrote",
            Self::MarkdownTable => "a Markdown table of results",
            Self::TestCases => "a JUnit file",
            Self::Hyperfine => "JSON of hyperfine",
            Self::GoogleBenchmark => "JSON of Google Benchmark",
            Self::NamedRows => "a JSON list of results",
            Self::Bmf => "JSON in Bencher's format",
            Self::Csv => "a CSV table of samples",
            Self::Hdr => "a log of HdrHistogram",
            Self::Go => "output of Go benchmarks",
            Self::Svg => "a picture in SVG",
            Self::Png => "a picture in PNG",
        }
    }

    /// Returns true if a new file of this kind may be written to this path: the path is free, or it
    /// is an empty file, a device, a pipe, or an older file of this kind. Also true for a file that
    /// cannot be read, because writing it reports the error.
    pub fn may_replace(self, path: &Path) -> bool {
        if !fs::metadata(path).is_ok_and(|about| about.is_file()) || is_of_system(path) {
            return true;
        }
        let mut beginning = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning))
            .is_ok();
        let text = String::from_utf8_lossy(&beginning);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        !read || text.is_empty() || self.begins(text)
    }

    fn begins(self, text: &str) -> bool {
        let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        match self {
            Self::Page => {
                let start: String = text.chars().take(14).collect();
                let start = start.to_ascii_lowercase();
                start.starts_with("<!doctype html") || start.starts_with("<html")
            }
            Self::Comment => {
                let is_search = text.starts_with("## Which of ") && first_line(text).ends_with('?');
                is_search || begins(&["**deadheat**", "# Calibration of a machine"])
            }
            Self::MarkdownTable => is_table_of_results(text),
            Self::TestCases => {
                begins(&["<testsuite"]) || (begins(&["<?xml"]) && text.contains("<testsuite"))
            }
            Self::Hyperfine => begins_as_json(text, &["{", "results"]),
            Self::GoogleBenchmark => begins_as_json(text, &["{", "context"]),
            Self::NamedRows => {
                begins_as_json(text, &["[", "{", "name"]) || begins_as_json(text, &["[", "]"])
            }
            Self::Bmf => {
                ["value", "lower_value"]
                    .iter()
                    .any(|value| begins_as_json(text, &["{", "", "{", "", "{", value]))
                    || begins_as_json(text, &["{", "}"])
            }
            // The tables of deadheat, hyperfine and Google Benchmark.
            Self::Csv => begins(&["benchmark,replicate,", "command,mean,", "name,iterations,"]),
            Self::Hdr => begins(&["#[Histogram log format", "#[Logged with"]),
            Self::Svg => begins(&["<svg"]),
            // The first byte of a PNG is not UTF-8, so it was replaced by U+FFFD.
            Self::Png => begins(&["\u{fffd}PNG"]),
            Self::Go => {
                let mut lines = text.lines();
                lines.any(|line| line.starts_with("deadheat: ") || line.starts_with("goos: "))
            }
        }
    }
}

/// Returns true for a path such as `/dev/stdout`, which may lead to a plain file.
fn is_of_system(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns true for a Markdown table of results; a list of the compared sides may precede it.
fn is_table_of_results(text: &str) -> bool {
    const HEADS: [&str; 5] = [
        "command",
        "benchmark",
        "function",
        "contender",
        "executable",
    ];
    let mut lines = text
        .lines()
        .skip_while(|line| line.starts_with("- ") || line.is_empty());
    let mut cells = lines.next().unwrap_or_default().split('|').map(str::trim);
    let is_empty = cells.next().is_some_and(str::is_empty);
    let first = cells.next().unwrap_or_default().to_lowercase();
    is_empty && HEADS.contains(&&*first)
}

/// Returns true if a JSON text begins with these tokens: brackets, and keys without their quotes.
/// An empty token matches any key.
fn begins_as_json(text: &str, tokens: &[&str]) -> bool {
    let mut rest = text;
    tokens.iter().all(|token| {
        rest = rest.trim_start();
        let after = match *token {
            bracket @ ("{" | "}" | "[" | "]") => rest.strip_prefix(bracket),
            key => after_key(rest, key),
        };
        rest = after.unwrap_or_default();
        after.is_some()
    })
}

/// If the text begins with `key` in quotes, returns the text after the colon that follows. An empty
/// `key` matches any key.
fn after_key<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let text = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    let is_it = key.is_empty() || &text[..end] == key;
    text[end + 1..]
        .trim_start()
        .strip_prefix(':')
        .filter(|_| is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_replaces_its_own_files() {
        for (kind, text) in [
            (OutputKind::Page, "<!DOCTYPE HTML><html>"),
            (OutputKind::Page, "<html lang=en>"),
            (OutputKind::Comment, "**deadheat**: 1 slower."),
            (
                OutputKind::Comment,
                "## Which of 3 commits between a and b changed the time?\n",
            ),
            (OutputKind::MarkdownTable, "| Command | Typical |\n|:---|"),
            (
                OutputKind::MarkdownTable,
                "- old (a.json): Go\n- new (b.json): Go\n\n| benchmark | old |",
            ),
            (
                OutputKind::TestCases,
                "<?xml version=\"1.0\"?>\n<testsuites>",
            ),
            (OutputKind::Hyperfine, "{\"results\":[]}"),
            (OutputKind::GoogleBenchmark, "{\n  \"context\": {"),
            (OutputKind::NamedRows, "[\n {\n  \"name\": \"a\""),
            (OutputKind::Bmf, r#"{"a\"b": {"latency": {"value": 1"#),
            (OutputKind::Csv, "benchmark,replicate,block\n"),
            (OutputKind::Hdr, "#[Histogram log format version 1.3]"),
            (OutputKind::Go, "system: linux\ncpu: x\ndeadheat: 0.1.0\n"),
            (OutputKind::Go, "goos: linux\n"),
            (
                OutputKind::Svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\">",
            ),
            (OutputKind::Png, &String::from_utf8_lossy(b"\x89PNG\r\n")),
        ] {
            assert!(kind.begins(text), "{kind:?}: {text}");
        }
    }

    #[test]
    fn no_kind_replaces_files_of_another_kind() {
        let files = [
            "# My project\n\n| Command | What it does |\n",
            "#include <stdio.h>\nint main(void) { return 0; }\n",
            "import os, sys\n",
            "bought milk\n",
            "{\"name\": \"package\", \"version\": \"1.0\"}",
            "[\"a\", \"b\"]",
            "<?xml version=\"1.0\"?>\n<project>",
            "name,address\nA,B\n",
            "%PDF-1.7\n",
            "system: linux\nservices:\n",
            "{\"deadheat\":\"deadheat.run/1\"}",
        ];
        for (option, kind) in OPTIONS {
            assert_eq!(OutputKind::of_option(option), Some(kind));
            for text in files {
                assert!(!kind.begins(text), "{option}: {text}");
            }
        }
        assert_eq!(OutputKind::of_option("--save"), None);
    }

    #[test]
    fn missing_and_empty_files_and_devices_may_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        assert!(OutputKind::Page.may_replace(&path));
        for (text, may) in [("", true), (" \n", true), ("<html>", true), ("milk", false)] {
            fs::write(&path, text).unwrap();
            assert_eq!(OutputKind::Page.may_replace(&path), may, "{text}");
        }
        for path in ["/dev/null", "/dev/stdout"] {
            assert!(OutputKind::Csv.may_replace(Path::new(path)));
        }
    }
}
