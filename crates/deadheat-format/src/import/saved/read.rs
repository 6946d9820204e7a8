//! A file of any tool, read.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use deadheat_model::Results;

use super::format::{SavedFormat, saved_format};
use super::{
    benchmark_dotnet, go, google_benchmark, hyperfine, jmh, own, pyperf, pytest_benchmark,
};
use crate::content::read_content;
use crate::error::FormatError;

/// Reads a file of results, told by its content; `-` is standard input, and
/// what gzip or zstd packed is unpacked.
pub fn read_results(path: impl AsRef<Path>) -> Result<Results, FormatError> {
    let path = path.as_ref();
    let mut results = read_results_from(path, &read_content(path)?)?;
    results.facts.modified = modified(path);
    Ok(results)
}

/// When a file or folder was written last, in seconds since 1970; `None` of
/// what is neither, such as a pipe.
pub(super) fn modified(path: &Path) -> Option<f64> {
    let about = fs::metadata(path).ok()?;
    let known = about.is_file() || about.is_dir();
    let since = about.modified().ok().filter(|_| known)?;
    let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64())
}

/// The same of a text that is in memory; `file` is for errors.
pub fn read_results_from(file: &Path, text: &[u8]) -> Result<Results, FormatError> {
    match saved_format(file, text)? {
        SavedFormat::RunFile => own::read_run(file, text),
        SavedFormat::TidyCsv => own::read_table(file, text),
        SavedFormat::GoogleBenchmark => google_benchmark::read(file, text),
        SavedFormat::Hyperfine => hyperfine::read(file, text),
        SavedFormat::Pyperf => pyperf::read(file, text),
        SavedFormat::PytestBenchmark => pytest_benchmark::read(file, text),
        SavedFormat::Jmh => jmh::read(file, text),
        SavedFormat::Go => go::read(file, text),
        SavedFormat::BenchmarkDotNet => benchmark_dotnet::read(file, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_packed_is_read_as_if_it_were_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"{\"results\":[]}").unwrap();
        std::fs::write(&path, packer.finish().unwrap()).unwrap();
        assert_eq!(read_content(&path).unwrap(), b"{\"results\":[]}");
    }
}
