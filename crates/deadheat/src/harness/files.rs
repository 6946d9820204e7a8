//! Files that `cargo bench` writes beside its answer.

#[cfg(feature = "reports")]
use {
    crate::report_files::{ReportFiles, check_file},
    deadheat_analysis::histograms,
    deadheat_format::{write_export, write_hdr, write_text},
    deadheat_report::{MarkdownOptions, to_markdown_with},
    std::path::{Path, PathBuf},
};

use deadheat_analysis::Options;
use deadheat_model::Run;

use crate::answer::Answer;
use crate::exit::Failure;
use crate::race::Raced;

/// The files that the command line asks for.
#[cfg(feature = "reports")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files {
    hdr: Option<PathBuf>,
    table: Option<PathBuf>,
    reports: ReportFiles,
}

#[cfg(feature = "reports")]
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
            check_file(flag, path, None)?;
        }
        self.reports.check(None)
    }

    /// Returns the options of the analysis of a run for this answer and these files.
    pub(super) fn analysis_options(&self, answer: &Answer, run: &Run) -> Options {
        let benchmarks = run.header.plan.benchmarks.len();
        let options = answer.analysis_options();
        self.reports.analysis_options(options, benchmarks)
    }

    /// Writes these files, and prints the answer with where all is, unless one of them takes its
    /// place on standard output.
    pub(super) fn answer(&self, raced: &Raced, answer: &Answer) -> Result<(), Failure> {
        let (run, analysis) = (&raced.first.run, &raced.analysis);
        for (flag, path) in self.exports() {
            if flag == "--export-hdr" {
                write_export(path, |out| write_hdr(run, &histograms(run), out, path))
            } else {
                let figures = answer.figures;
                write_text(
                    path,
                    &to_markdown_with(analysis, &MarkdownOptions { figures }),
                )
            }
            .map_err(|error| Failure::writing(flag, error))?;
        }
        let written = self.reports.write(&run.header, analysis)?;
        let below = [answer.recorded(raced), written].concat();
        self.reports.print_beside(answer, analysis, &below)
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

/// No files: nothing stands beside the answer of a build without the feature `reports`.
#[cfg(not(feature = "reports"))]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Files;

#[cfg(not(feature = "reports"))]
impl Files {
    pub(super) fn ask(&mut self, flag: &str, _: String) -> Result<(), String> {
        needs_reports(flag)
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn analysis_options(&self, answer: &Answer, _: &Run) -> Options {
        answer.analysis_options()
    }

    pub(super) fn answer(&self, raced: &Raced, answer: &Answer) -> Result<(), Failure> {
        answer.print_with(&raced.analysis, &answer.recorded(raced))
    }
}

/// Says how to have what a flag asks for, where this build has it not.
pub(super) fn needs_reports(flag: &str) -> Result<(), String> {
    if cfg!(feature = "reports") {
        return Ok(());
    }
    let version = env!("CARGO_PKG_VERSION");
    let version = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    Err(format!(
        "{flag}: these benchmarks were built without reports; write deadheat = {{ version = \
         \"{version}\", features = [\"reports\"] }} in Cargo.toml, or make them of the run that \
         is recorded: deadheat report FILE"
    ))
}
