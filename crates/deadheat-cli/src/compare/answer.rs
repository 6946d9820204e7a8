//! What becomes of saved results: a table on standard output, files beside it,
//! and a status.

use deadheat::analysis::{Options, analyse};
use deadheat::exit::{Failure, Status};
use deadheat::model::Run;

use super::arguments::LayoutArgs;
use crate::bench::BenchOptions;

pub fn tell(run: &Run, options: &BenchOptions, layout: &LayoutArgs) -> Result<Status, Failure> {
    let _ = layout;
    let answer = options.answer.answer();
    let analysis = analyse(run, Options { without_figures: true, ..answer.analysis_options() });
    options.exports.write(run, &analysis, answer.figures)?;
    answer.print(&analysis)?;
    Ok(answer.status(&analysis))
}
