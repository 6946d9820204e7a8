//! The flags of reports, for every command that has an answer.

use std::path::PathBuf;

use clap::Args;
use deadheat::ReportFiles;

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
