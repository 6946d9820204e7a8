//! The tables of the text: contenders, all metrics, and a suite's summary.

use deadheat_model::{Analysis, Comparison, Estimate, MetricComparison};
use unicode_width::UnicodeWidthStr;

use crate::glyphs::Glyphs;
use crate::layout;
use crate::left_out;
use crate::names::{escape, labels, shorten};
use crate::plot::{ForestRow, beside};
use crate::rate::rate_cells;
use crate::sentences;
use crate::suite;
use crate::units::{effect, interval, quantities};

/// Spaces before every row, so that marks and headings stand out.
const INDENT: usize = 2;

/// Columns a name may take, however wide the terminal.
const NAME_AT_MOST: usize = 60;

/// Columns a name keeps, however narrow the terminal.
const NAME_AT_LEAST: usize = 12;

/// One line per contender, all in one unit where that is readable.
pub(crate) fn contenders(group: &[Comparison], width: usize, glyphs: Glyphs) -> String {
    let metric = &group[0].metric;
    let sides = suite::sides(group);
    let values: Vec<f64> = sides
        .iter()
        .flat_map(|side| [side.median, side.mean, side.min])
        .collect();
    let shown = quantities(metric.unit(), &values, glyphs);
    let mut rows: Vec<Vec<String>> = sides
        .iter()
        .zip(shown.chunks(3))
        .map(|(side, shown)| {
            let mut row = vec![String::new()];
            row.extend_from_slice(shown);
            row.push(side.samples.to_string());
            row
        })
        .collect();
    let title = sentences::metric(metric, glyphs);
    let mut header = vec![title.as_str(), "median", "mean", "min", "samples"];
    if let Some(rates) = rate_cells(group, glyphs) {
        header.insert(header.len() - 1, "rate");
        for (row, rate) in rows.iter_mut().zip(rates) {
            row.insert(row.len() - 1, rate);
        }
    }
    let aligned = format!("l{}", "r".repeat(header.len() - 1));
    let rest = INDENT + layout::width_of(&header, &rows, 1..header.len());
    let room = width
        .saturating_sub(rest)
        .clamp(NAME_AT_LEAST, NAME_AT_MOST);
    let labels = labels(&suite::names(group), room, glyphs);
    for (row, label) in rows.iter_mut().zip(labels) {
        row[0] = label;
    }
    layout::table(&header, &rows, &aligned, INDENT, width)
}

/// All metrics on the same pairs, by their medians, but for those of which
/// nothing was ever seen; empty when nothing but the judged one is left, whose
/// figures have been shown already.
pub(crate) fn metrics(comparison: &Comparison, width: usize, glyphs: Glyphs) -> String {
    match metric_cells(comparison, glyphs) {
        Some((header, rows)) => layout::table(&header, &rows, "lrrrr", INDENT, width),
        None => String::new(),
    }
}

/// The header and the rows of the same.
pub(crate) fn metric_cells(
    comparison: &Comparison,
    glyphs: Glyphs,
) -> Option<([&'static str; 5], Vec<Vec<String>>)> {
    let judged = |row: &MetricComparison| row.metric == comparison.metric;
    let shown: Vec<&MetricComparison> = comparison
        .metrics
        .iter()
        .filter(|row| judged(row) || seen(row))
        .collect();
    if shown.iter().all(|row| judged(row)) {
        return None;
    }
    let header = match &comparison.candidate {
        Some(_) => ["metric", "baseline", "candidate", "change", "interval"],
        None => ["metric", "median", "mean", "min", "max"],
    };
    let rows: Vec<Vec<String>> = shown
        .into_iter()
        .map(|row| {
            let unit = row.metric.unit();
            let name = shorten(&escape(row.metric.name(), glyphs), 24, glyphs);
            let mut cells = vec![name];
            match &row.candidate {
                Some(candidate) => {
                    let medians = [row.baseline.median, candidate.median];
                    cells.extend(quantities(unit, &medians, glyphs));
                    cells.extend(change_cells(row.estimate.as_ref(), glyphs));
                }
                None => {
                    let side = &row.baseline;
                    let values = [side.median, side.mean, side.min, side.max];
                    cells.extend(quantities(unit, &values, glyphs));
                }
            }
            cells
        })
        .collect();
    Some((header, rows))
}

/// Whether any sample of either side was above zero. A function that neither
/// faults nor waits would have a line of noughts for every metric that counts
/// such things.
fn seen(row: &MetricComparison) -> bool {
    let sides = [Some(&row.baseline), row.candidate.as_ref()];
    sides.into_iter().flatten().any(|side| side.max > 0.0)
}

/// One line per comparison of a suite, and one per benchmark that failed or
/// says that it does not run.
pub(crate) fn summary(analysis: &Analysis, width: usize, color: bool, glyphs: Glyphs) -> String {
    let header = ["benchmark", "candidate", "change", "interval", "verdict"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for group in suite::groups(&analysis.comparisons) {
        let names = labels(&suite::names(group), NAME_AT_MOST, glyphs);
        for (index, comparison) in group.iter().enumerate() {
            let [change, interval] = change_cells(comparison.estimate.as_ref(), glyphs);
            let candidate = match names.get(index + 1) {
                Some(name) => name.clone(),
                None => glyphs.nothing().to_owned(),
            };
            rows.push(vec![
                suite::title(comparison, glyphs),
                candidate,
                change,
                interval,
                sentences::verdict_cell(comparison),
            ]);
        }
    }
    for failure in &analysis.failures {
        let nothing = || glyphs.nothing().to_owned();
        rows.push(vec![
            suite::failed_title(failure, glyphs),
            nothing(),
            nothing(),
            nothing(),
            sentences::FAILED_CELL.to_owned(),
        ]);
    }
    for (benchmark, cell) in left_out::rows(&analysis.left_out, glyphs) {
        let nothing = || glyphs.nothing().to_owned();
        rows.push(vec![
            benchmark,
            nothing(),
            nothing(),
            nothing(),
            cell.to_owned(),
        ]);
    }
    // The two names share what the figures leave.
    let rest = INDENT + layout::GAP + layout::width_of(&header, &rows, 2..header.len());
    let room = width.saturating_sub(rest).max(2 * NAME_AT_LEAST);
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row[column].width());
        cells.chain([header[column].width()]).max().unwrap_or(0)
    };
    let (benchmark, candidate) = (widest(0), widest(1));
    let first = benchmark.min((room / 2).max(room.saturating_sub(candidate)));
    let second = candidate.min(room - first.min(room));
    for row in &mut rows {
        row[0] = shorten(&row[0], first.clamp(NAME_AT_LEAST, NAME_AT_MOST), glyphs);
        row[1] = shorten(&row[1], second.clamp(NAME_AT_LEAST, NAME_AT_MOST), glyphs);
    }
    let table = layout::table(&header, &rows, "llrrl", INDENT, width);
    // Rows without an answer stand last and have no picture.
    let mut pictures: Vec<Option<ForestRow>> = Vec::new();
    pictures.extend(analysis.comparisons.iter().map(|one| Some(one.into())));
    pictures.resize(rows.len(), None);
    beside(&table, &table, &pictures, (width, color), glyphs).unwrap_or(table)
}

/// Change and interval, or the sign for nothing.
pub(crate) fn change_cells(estimate: Option<&Estimate>, glyphs: Glyphs) -> [String; 2] {
    let nothing = || glyphs.nothing().to_owned();
    match estimate {
        None => [nothing(), nothing()],
        Some(Estimate {
            effect: theta,
            interval: range,
            ..
        }) => [
            effect(*theta, range.as_ref(), glyphs),
            range.map_or_else(nothing, |range| interval(&range, glyphs)),
        ],
    }
}
