//! Files that `cargo bench` writes beside its answer.

use std::path::{Path, PathBuf};

use deadheat_analysis::{Options, histograms};
use deadheat_format::{ensure_writable, write_export, write_hdr, write_text};
use deadheat_model::Analysis;
use deadheat_report::{MarkdownOptions, to_markdown_with};

use crate::answer::Answer;
use crate::exit::Failure;
use crate::race::RaceOutcome;
use crate::report_files::ReportFiles;

/// The files that the command line asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    hdr: Option<PathBuf>,
    table: Option<PathBuf>,
    reports: ReportFiles,
}

impl Files {
    /// Takes the value of a flag that asks for a file.
    pub(super) fn ask(&mut self, flag: &str, file: String) -> Result<(), String> {
        let file = Some(PathBuf::from(file));
        match flag {
            "--export-hdr" => self.hdr = file,
            "--export-markdown" => self.table = file,
            "--html" => self.reports.html = file,
            "--markdown" => self.reports.markdown = file,
            _ => self.reports.junit = file,
        }
        Ok(())
    }

    /// Finds out before the race whether all of them can be written.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for (flag, path) in self.exports() {
            ensure_writable(path).map_err(|error| Failure::unwritable(flag, &error))?;
        }
        self.reports.check(None)
    }

    /// Returns the options of an analysis of so many benchmarks for these files.
    pub(super) fn analysis_options(&self, options: Options, benchmarks: usize) -> Options {
        self.reports.analysis_options(options, benchmarks)
    }

    /// Writes them, and says where they are, a line for each.
    pub(super) fn write(
        &self,
        outcome: &RaceOutcome,
        analysis: &Analysis,
        answer: &Answer,
    ) -> Result<Vec<String>, Failure> {
        for (flag, path) in self.exports() {
            match flag {
                "--export-hdr" => write_export(path, |out| {
                    write_hdr(&outcome.run, &histograms(&outcome.run), out, path)
                }),
                _ => {
                    let figures = answer.figures;
                    let options = MarkdownOptions { figures };
                    write_text(path, &to_markdown_with(analysis, &options))
                }
            }
            .map_err(|error| Failure::writing(flag, error))?;
        }
        self.reports.write(&outcome.run.header, analysis)
    }

    /// Returns whether one of them takes the place of the answer on standard output.
    pub(super) fn takes_stdout(&self) -> bool {
        self.reports.takes_stdout()
    }

    fn exports(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        [
            ("--export-hdr", &self.hdr),
            ("--export-markdown", &self.table),
        ]
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

/// Nothing: this build has whatever such a flag asks for.
pub(super) fn needs_reports(_: &str) -> Result<(), String> {
    Ok(())
}
