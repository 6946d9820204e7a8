//! The tables of the text: contenders, all metrics, and a suite's summary.

use crate::layout::Width as _;
use deadheat_model::{
    Analysis, Comparison, Estimate, Metric, MetricComparison, Side, Unit, Verdict,
};

use crate::glyphs::Glyphs;
use crate::layout;
use crate::left_out;
use crate::names::{escape, labels, shorten};
use crate::plot::{ForestRow, beside, color_of};
use crate::rate::rate_cells;
use crate::sentences::{self, Source};
use crate::suite;
use crate::units::{effect, interval, quantities, share};

/// Spaces before every row, so that marks and headings stand out.
const INDENT: usize = 2;

/// Columns a name may take, however wide the terminal.
const NAME_AT_MOST: usize = 60;

/// Columns of a suite's names that are worth more than the times beside them.
const NAME_TO_KEEP: usize = 32;

/// Columns a name keeps, however narrow the terminal.
const NAME_AT_LEAST: usize = 12;

/// One line per contender, all in one unit where that is readable: what is
/// typical and the least, in `full` median and mean as well.
pub(crate) fn contenders(
    group: &[Comparison],
    source: Source,
    full: bool,
    width: usize,
    glyphs: Glyphs,
) -> String {
    let metric = &group[0].metric;
    let sides = suite::sides(group);
    let figures = if full {
        vec![Figure::Typical, Figure::Median, Figure::Mean, Figure::Min]
    } else if sides.iter().any(|side| side.typical.is_some()) {
        vec![Figure::Typical, Figure::Min]
    } else {
        vec![Figure::Median, Figure::Min]
    };
    let values: Vec<Option<f64>> = sides
        .iter()
        .flat_map(|side| figures.iter().map(|figure| figure.of(side)))
        .collect();
    let shown = cells(metric.unit(), &values, glyphs);
    let mut rows: Vec<Vec<String>> = sides
        .iter()
        .zip(shown.chunks(figures.len()))
        .map(|(side, shown)| {
            let mut row = vec![String::new()];
            row.extend_from_slice(shown);
            row.push(side.samples.to_string());
            row
        })
        .collect();
    // Wall time is what everybody expects.
    let title = match metric {
        Metric::Wall if !full => String::new(),
        metric => sentences::metric(metric, glyphs),
    };
    let mut header = vec![title.as_str()];
    header.extend(figures.iter().map(|figure| figure.name()));
    header.push(match source {
        Source::Commands => "launches",
        _ => "samples",
    });
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

/// A figure of one side.
#[derive(Clone, Copy)]
enum Figure {
    Typical,
    Median,
    Mean,
    Min,
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::Typical => "typical",
            Figure::Median => "median",
            Figure::Mean => "mean",
            Figure::Min => "min",
        }
    }

    fn of(self, side: &Side) -> Option<f64> {
        match self {
            Figure::Typical => side.typical,
            Figure::Median => Some(side.median),
            Figure::Mean => Some(side.mean),
            Figure::Min => Some(side.min),
        }
    }
}

/// Quantities that stand beside each other, and the sign for nothing.
pub(crate) fn cells(unit: Unit, values: &[Option<f64>], glyphs: Glyphs) -> Vec<String> {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let mut shown = quantities(unit, &known, glyphs).into_iter();
    let mut cell = |value: &Option<f64>| value.and_then(|_| shown.next());
    let nothing = || glyphs.nothing().to_owned();
    values
        .iter()
        .map(|value| cell(value).unwrap_or_else(nothing))
        .collect()
}

/// All metrics on the same pairs, by what is typical, but for those of which
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
                    cells.extend(quantities(
                        unit,
                        &typical(&row.baseline, Some(candidate)),
                        glyphs,
                    ));
                    let [change, interval] = change_cells(row.estimate.as_ref(), glyphs);
                    let has_zeros = [&row.baseline, candidate]
                        .iter()
                        .any(|side| side.min <= 0.0);
                    let interval = match row.estimate.is_none() && has_zeros {
                        true => "zeros".to_owned(),
                        false => interval,
                    };
                    cells.extend([change, interval]);
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

/// What is typical of both sides, which agrees with the change between them;
/// the medians where zeros leave nothing typical. One value for a side alone.
pub(crate) fn typical(baseline: &Side, candidate: Option<&Side>) -> Vec<f64> {
    let sides: Vec<&Side> = std::iter::once(baseline).chain(candidate).collect();
    let typical: Option<Vec<f64>> = sides.iter().map(|side| side.typical).collect();
    typical.unwrap_or_else(|| sides.iter().map(|side| side.median).collect())
}

/// Whether any sample of either side was above zero. A function that neither
/// faults nor waits would have a line of noughts for every metric that counts
/// such things.
fn seen(row: &MetricComparison) -> bool {
    let sides = [Some(&row.baseline), row.candidate.as_ref()];
    sides.into_iter().flatten().any(|side| side.max > 0.0)
}

/// One line per comparison of a suite, the verdict first, and one per
/// benchmark that failed or says that it does not run.
pub(crate) fn suite(analysis: &Analysis, width: usize, color: bool, glyphs: Glyphs) -> String {
    let nothing = || glyphs.nothing().to_owned();
    let mut rows: Vec<SuiteRow> = Vec::new();
    let groups = suite::groups(&analysis.comparisons);
    let alike = are_called_alike(&groups);
    for group in groups {
        let names = labels(&suite::names(group), NAME_AT_MOST, glyphs);
        for (index, comparison) in group.iter().enumerate() {
            let title = suite::title(comparison, glyphs);
            let name = match names.get(index + 1).filter(|_| !alike) {
                Some(candidate) => format!("{title}: {candidate}"),
                None => title,
            };
            let values = typical(&comparison.baseline, comparison.candidate.as_ref());
            let mut values = quantities(comparison.metric.unit(), &values, glyphs);
            values.resize(2, nothing());
            rows.push(SuiteRow {
                verdict: comparison.verdict,
                cells: [
                    vec![called_cell(comparison, glyphs)],
                    change_cells(comparison.estimate.as_ref(), glyphs).to_vec(),
                    values,
                ]
                .concat(),
                name,
                picture: Some(comparison.into()),
            });
        }
    }
    // Rows without an answer stand last and have no picture.
    let failed = analysis.failures.iter().map(|failure| {
        let title = suite::failed_title(failure, glyphs);
        (title, format!("! {}", sentences::FAILED_CELL))
    });
    let left_out = left_out::rows(&analysis.left_out, glyphs);
    let left_out = left_out
        .into_iter()
        .map(|(title, cell)| (title, format!("{} {cell}", glyphs.mark(None))));
    for (name, cell) in failed.chain(left_out) {
        rows.push(SuiteRow {
            verdict: None,
            cells: [vec![cell], vec![nothing(); 4]].concat(),
            name,
            picture: None,
        });
    }
    let interval = interval_head(&analysis.comparisons);
    let mut header = vec![
        "",
        "change",
        &interval,
        "baseline",
        "candidate",
        "benchmark",
    ];
    let mut aligned = "lrrrrl".to_owned();
    let cells = |rows: &[SuiteRow]| -> Vec<Vec<String>> {
        let cells = rows
            .iter()
            .map(|row| [&row.cells[..], std::slice::from_ref(&row.name)].concat());
        cells.collect()
    };
    let longest = rows.iter().map(|row| row.name.width()).max().unwrap_or(0);
    let fixed = layout::width_of(&header, &cells(&rows), 0..header.len() - 1) + layout::GAP;
    if fixed + longest.min(NAME_TO_KEEP) > width {
        // Where room is short the times go: the verdict rests on the change.
        header.drain(3..5);
        aligned.drain(3..5);
        for row in &mut rows {
            row.cells.truncate(3);
        }
    }
    let rest = layout::width_of(&header, &cells(&rows), 0..header.len() - 1) + layout::GAP;
    let room = width
        .saturating_sub(rest)
        .clamp(NAME_AT_LEAST, NAME_AT_MOST);
    for row in &mut rows {
        row.name = shorten(&row.name, room, glyphs);
    }
    let bare = layout::table(&header, &cells(&rows), &aligned, 0, width);
    let table = match color {
        true => painted(&bare, &rows, glyphs),
        false => bare.clone(),
    };
    let pictures: Vec<Option<ForestRow>> = rows.iter().map(|row| row.picture).collect();
    beside(&table, &bare, &pictures, (width, color), glyphs).unwrap_or(table)
}

/// A row of the table of a suite.
struct SuiteRow<'a> {
    verdict: Option<Verdict>,
    /// All but the name.
    cells: Vec<String>,
    name: String,
    picture: Option<ForestRow<'a>>,
}

/// Whether every benchmark has the same baseline and the same only candidate,
/// as two builds do, so that no row needs to name them.
fn are_called_alike(groups: &[&[Comparison]]) -> bool {
    groups
        .windows(2)
        .all(|pair| suite::names(pair[0]) == suite::names(pair[1]))
        && groups.iter().all(|group| group.len() == 1)
}

/// The mark and the word of a verdict.
fn called_cell(comparison: &Comparison, glyphs: Glyphs) -> String {
    let provisional = if comparison.provisional { "*" } else { "" };
    let word = sentences::verdict_word(comparison);
    format!("{} {word}{provisional}", glyphs.mark(comparison.verdict))
}

/// "95 % interval", where that is what all of them are.
fn interval_head(comparisons: &[Comparison]) -> String {
    let mut coverages = comparisons.iter().map(Comparison::coverage);
    match coverages.next() {
        Some(first) if coverages.all(|other| other == first) => {
            format!("{} interval", share(first))
        }
        _ => "interval".to_owned(),
    }
}

/// The table with the marks of its rows in their colours.
fn painted(table: &str, rows: &[SuiteRow<'_>], glyphs: Glyphs) -> String {
    let mut lines = table.lines();
    let mut text: String = lines
        .next()
        .map(|head| format!("{head}\n"))
        .unwrap_or_default();
    for (index, line) in lines.enumerate() {
        let verdict = rows.get(index).and_then(|row| row.verdict);
        let mark = glyphs.mark(verdict);
        let line = match color_of(verdict).filter(|_| line.starts_with(mark)) {
            Some(color) => line.replacen(mark, &format!("\u{1b}[{color}m{mark}\u{1b}[0m"), 1),
            None => line.to_owned(),
        };
        text += &format!("{line}\n");
    }
    text
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
