//! What becomes of saved results: a table on standard output, files beside it,
//! and a status.

use deadheat::answer::{Format, to_stdout};
use deadheat::exit::{Failure, Status};
use deadheat::format::{ensure_writable, write_text};
use deadheat::model::{Analysis, Run};
use deadheat::report::{
    ComparisonOptions, Glyphs, Sort, to_comparison, to_comparison_csv, to_comparison_markdown,
    to_json, to_paired,
};
use deadheat::terminal;

use super::arguments::{LayoutArgs, Order};
use crate::bench::BenchOptions;

/// Analyses what was joined, writes what was asked for, and answers.
pub fn tell(run: &Run, options: &BenchOptions, layout: &LayoutArgs) -> Result<Status, Failure> {
    const DUMP: &str = "--dump_to_json";
    if let Some(path) = &layout.dump_to_json {
        ensure_writable(path).map_err(|error| Failure::unwritable(DUMP, &error))?;
    }
    let answer = options.answer.answer();
    // Of thousands of benchmarks the figures would take longer than all else,
    // so only who asks for them gets them, in JSON too.
    let analysis_options = deadheat::analysis::Options {
        without_figures: !answer.figures,
        ..answer.analysis_options()
    };
    let reports = options.exports.reports();
    let benchmarks = run.header.plan.benchmarks.len();
    let analysis =
        answer.analysis_with(run, reports.analysis_options(analysis_options, benchmarks));
    let written = options.exports.write(run, &analysis, &answer)?;
    if let Some(path) = &layout.dump_to_json {
        let json = to_json(&analysis);
        write_text(path, &json).map_err(|error| Failure::writing(DUMP, error))?;
    }
    if !reports.takes_stdout() {
        to_stdout(&told(&analysis, options, layout))?;
        if !answer.is_document() {
            for line in written {
                to_stdout(&format!("  {line}\n"))?;
            }
        }
    }
    nothing_in_common(&analysis)?;
    Ok(answer.status(&analysis))
}

fn told(analysis: &Analysis, options: &BenchOptions, layout: &LayoutArgs) -> String {
    let answer = options.answer.answer();
    let shown = ComparisonOptions {
        width: terminal::width_of_stdout().unwrap_or(usize::MAX),
        color: answer.color.applies(),
        unicode: terminal::speaks_unicode(),
        sort: match layout.sort {
            Order::File => Sort::File,
            Order::Name => Sort::Name,
            Order::Change => Sort::Change,
            Order::Verdict => Sort::Verdict,
        },
        only_changed: layout.only_changed,
        all_metrics: layout.all_metrics,
        figures: answer.figures,
        plot: answer.plot,
    };
    match answer.format {
        // It has a line per comparison anyway.
        Format::Text | Format::Terse => to_comparison(analysis, &shown),
        Format::Markdown => to_comparison_markdown(analysis, &shown),
        Format::Csv => to_comparison_csv(analysis, shown.sort, shown.only_changed, answer.cells),
        Format::Json => to_json(analysis),
        Format::Paired => {
            let glyphs = Glyphs::new(shown.unicode);
            to_paired(analysis, terminal::width_of_tables(), glyphs)
        }
    }
}

/// Sides without a benchmark in common are the wrong files.
fn nothing_in_common(analysis: &Analysis) -> Result<(), Failure> {
    if !analysis.comparisons.is_empty() || !analysis.failures.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = analysis
        .sides
        .iter()
        .map(|side| format!("'{}'", side.name))
        .collect();
    Err(Failure::Data(format!(
        "{} have no benchmark in common that could be compared",
        names.join(" and ")
    )))
}
