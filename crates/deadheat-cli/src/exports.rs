//! Files that a result is written to beside the answer.

use std::path::{Path, PathBuf};

use clap::Args;
use deadheat::parts::analysis::histograms;
use deadheat::parts::answer::Answer;
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{
    GoogleSide, write_bmf, write_csv, write_export, write_go, write_google_benchmark, write_hdr,
    write_hyperfine, write_smaller_is_better, write_text,
};
use deadheat::parts::model::{Analysis, Run};
use deadheat::parts::report::{
    ComparisonOptions, MarkdownOptions, to_comparison_markdown, to_markdown_with,
};
use deadheat::parts::{ReportFiles, check_file};

/// Which files to write.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Write summaries and all times in hyperfine's JSON format
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_json: Option<PathBuf>,
    /// Write every sample as tidy CSV
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_csv: Option<PathBuf>,
    /// Write the wall times as an HDR histogram log
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_hdr: Option<PathBuf>,
    /// Write the answer as a Markdown table
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_markdown: Option<PathBuf>,
    /// Write the candidate in Google Benchmark's JSON format, for compare.py
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_google_benchmark: Option<PathBuf>,
    /// Write the baseline in Google Benchmark's JSON format
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_google_baseline: Option<PathBuf>,
    /// Write every sample as Go's benchmarks print them, for benchstat
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_go: Option<PathBuf>,
    /// Write the candidate for github-action-benchmark's customSmallerIsBetter
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_smaller_is_better: Option<PathBuf>,
    /// Write the candidate in the Bencher Metric Format
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    export_bmf: Option<PathBuf>,
    #[command(flatten)]
    reports: ReportArgs,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Hyperfine,
    Csv,
    Hdr,
    Markdown,
    GoogleBenchmark(GoogleSide),
    Go,
    SmallerIsBetter,
    Bmf,
}

impl ExportArgs {
    /// Finds out beforehand whether the results can be written, and that none
    /// would replace the recording they come from.
    pub fn check(&self, recording: Option<&Path>) -> Result<(), Failure> {
        self.reports.files().check(recording)?;
        for (flag, path, _) in self.given() {
            check_file(flag, path, recording)?;
        }
        Ok(())
    }

    /// An exported file holds one run, so there can be no more than one.
    pub fn check_for_one(&self, recordings: usize) -> Result<(), Failure> {
        let flag = self.given().next().map(|(flag, ..)| flag);
        match flag.or(self.reports.files().first_flag()) {
            Some(flag) if recordings > 1 => Err(Failure::Usage(format!(
                "{flag}: a file holds one run, and {recordings} are to be analysed; take them one \
                 by one"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses all files but the reports.
    pub fn refuse_exports(&self, why: &str) -> Result<(), Failure> {
        match self.given().next() {
            Some((flag, ..)) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    /// Refuses all files, where there is no answer to write.
    pub fn refuse(&self, why: &str) -> Result<(), Failure> {
        let flag = self.given().next().map(|(flag, ..)| flag);
        match flag.or(self.reports.files().first_flag()) {
            Some(flag) => Err(Failure::Usage(format!("{flag}: {why}"))),
            None => Ok(()),
        }
    }

    /// Returns true if one of the files needs the samples, and not the answer alone.
    pub fn need_samples(&self) -> bool {
        self.given().any(|(_, _, shape)| match shape {
            Shape::Hyperfine | Shape::Csv | Shape::Hdr | Shape::GoogleBenchmark(_) | Shape::Go => {
                true
            }
            Shape::Markdown | Shape::SmallerIsBetter | Shape::Bmf => false,
        })
    }

    /// The reports beside the answer.
    pub fn reports(&self) -> ReportFiles {
        self.reports.files()
    }

    /// Writes what was asked for, as the answer is, and says where the reports
    /// are.
    pub fn write(
        &self,
        run: &Run,
        analysis: &Analysis,
        answer: &Answer,
    ) -> Result<Vec<String>, Failure> {
        let figures = answer.figures;
        for (flag, path, shape) in self.given() {
            match shape {
                Shape::Markdown => {
                    let text = if analysis.sides.is_empty() {
                        to_markdown_with(analysis, &MarkdownOptions { figures })
                    } else {
                        // Saved results: a row per benchmark.
                        let options = ComparisonOptions {
                            figures,
                            ..ComparisonOptions::default()
                        };
                        to_comparison_markdown(analysis, &options)
                    };
                    write_text(path, &text)
                }
                Shape::Hyperfine => write_export(path, |out| write_hyperfine(run, out, path)),
                Shape::Csv => write_export(path, |out| write_csv(run, out, path, answer.cells)),
                Shape::Hdr => write_export(path, |out| write_hdr(run, &histograms(run), out, path)),
                Shape::GoogleBenchmark(side) => {
                    write_export(path, |out| write_google_benchmark(run, side, out, path))
                }
                Shape::Go => write_export(path, |out| write_go(run, out, path)),
                Shape::SmallerIsBetter => {
                    write_export(path, |out| write_smaller_is_better(analysis, out, path))
                }
                Shape::Bmf => write_export(path, |out| write_bmf(analysis, out, path)),
            }
            .map_err(|error| Failure::writing(flag, error))?;
        }
        self.reports().write(&run.header, analysis)
    }

    fn given(&self) -> impl Iterator<Item = (&'static str, &Path, Shape)> {
        [
            ("--export-json", &self.export_json, Shape::Hyperfine),
            ("--export-csv", &self.export_csv, Shape::Csv),
            ("--export-hdr", &self.export_hdr, Shape::Hdr),
            ("--export-markdown", &self.export_markdown, Shape::Markdown),
            (
                "--export-google-benchmark",
                &self.export_google_benchmark,
                Shape::GoogleBenchmark(GoogleSide::Candidate),
            ),
            (
                "--export-google-baseline",
                &self.export_google_baseline,
                Shape::GoogleBenchmark(GoogleSide::Baseline),
            ),
            ("--export-go", &self.export_go, Shape::Go),
            (
                "--export-smaller-is-better",
                &self.export_smaller_is_better,
                Shape::SmallerIsBetter,
            ),
            ("--export-bmf", &self.export_bmf, Shape::Bmf),
        ]
        .into_iter()
        .filter_map(|(flag, path, shape)| Some((flag, path.as_deref()?, shape)))
    }
}

/// Which reports to write beside the answer.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Write a page with every plot, figure and warning: one file, nothing loaded
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    html: Option<PathBuf>,
    /// Write a comment for a pull request [without FILE: print it instead of the answer]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "-",
        help_heading = "Reports"
    )]
    markdown: Option<PathBuf>,
    /// Write test cases as CI services read them; broken rules are failures
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    junit: Option<PathBuf>,
    /// Write every plot as a picture into this folder
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    svg: Option<PathBuf>,
    /// The same, made of pixels (where deadheat was built with the feature png)
    #[arg(long, value_name = "DIR", help_heading = "Reports")]
    png: Option<PathBuf>,
}

impl ReportArgs {
    /// The files these flags ask for.
    pub fn files(&self) -> ReportFiles {
        ReportFiles {
            html: self.html.clone(),
            markdown: self.markdown.clone(),
            junit: self.junit.clone(),
            svg: self.svg.clone(),
            png: self.png.clone(),
        }
    }
}
