//! The charts of one comparison: their titles, how to read them, their content in words, and why
//! charts are missing.

use std::fmt::{self, Write};

use deadheat_model::{Comparison, Distribution, Estimate, LogRatio, Plots};

use super::html::{Attribute, GLYPHS, Text};
use crate::aspects::dropped::{DISTURBED, cause_of_dropping};
use crate::sentences;
use crate::units::{Precision, counted, effect, ends, interval, quantities, share};

/// The text for browsers without scripts, which show no charts.
const ALONE: &str = "Charts need a browser that runs the scripts of this page.";

struct Chart {
    /// The name of the chart in the scripts.
    kind: &'static str,
    title: &'static str,
    reading: &'static str,
    /// Returns the content of the chart in words; `None` if there is nothing to draw.
    words: fn(&Comparison, &Plots) -> Option<String>,
}

/// The charts below the interval, in the order of the page. A chart with a single point is omitted.
const CHARTS: [Chart; 8] = [
    Chart {
        kind: "histogram",
        title: "Histograms",
        reading: "Filled bars count all samples and the stepped line the first half, scaled \
                  up: where the two differ, the run changed over time; dashed curves are \
                  fitted shapes.",
        words: |_, plots| {
            let shown = |side: &Distribution| side.counts.iter().sum::<u32>() > 1;
            (plots.edges.len() > 1 && plots.sides().any(shown)).then(|| outside(plots))
        },
    },
    Chart {
        kind: "violin",
        title: "Violin and box",
        reading: "The body is wide where values are frequent; the box is the middle half with \
                  its median; the whiskers reach at most 1.5 times the length of the box; dots are \
                  values beyond them.",
        words: |comparison, plots| {
            let mut sides = plots.sides();
            let any = sides.any(|side| side.box_plot.is_some());
            any.then(|| medians(comparison, plots))
        },
    },
    Chart {
        kind: "differences",
        title: "Differences in order of time",
        reading: "Each point is the change in one block; a level cloud means a steady race; steps \
                  at the thin lines come from new replicates; the curve of running medians shows \
                  drift.",
        words: differences,
    },
    Chart {
        kind: "scatter",
        title: "Baseline against candidate",
        reading: "Each point is a pair of samples that are neighbours in time; below the diagonal \
                  the candidate needs less; if circles and triangles lie apart, it mattered which \
                  side ran first.",
        words: |_, plots| pairs(plots),
    },
    Chart {
        kind: "ecdf",
        title: "Share at or below",
        reading: "The height is the share of samples at or below a value; at each height, the \
                  curve further left needs less.",
        words: |comparison, plots| {
            let mut sides = plots.sides();
            let any = sides.any(|side| !side.ecdf.is_empty());
            any.then(|| medians(comparison, plots))
        },
    },
    Chart {
        kind: "replicates",
        title: "Each replicate by itself",
        reading: "A point is the median of one replicate and its bar the middle half of its \
                  blocks; the scatter of the points shows the effect of memory layout and process.",
        words: |_, plots| replicates(plots),
    },
    Chart {
        kind: "looks",
        title: "The interval, look by look",
        reading: "Each bar is the interval at one interim analysis; the race ends when the \
                  interval is entirely outside the margin, or entirely within it.",
        words: |_, plots| looks(plots),
    },
    Chart {
        kind: "quantiles",
        title: "Quantiles of ln t",
        reading: "A side whose points follow its line is log-normal; a tail that bends up from \
                  the line is heavier than that.",
        words: |_, plots| {
            let words = "Quantiles of the logarithms against those of a normal distribution, with \
                         the line through the quartiles of each side.";
            has_quantiles(plots).then(|| words.to_owned())
        },
    },
];

/// Writes the charts that have data, and a sentence about those that do not. `data` is the index of
/// the comparison, which identifies its data on the page.
pub(super) fn write(out: &mut dyn Write, comparison: &Comparison, data: usize) -> fmt::Result {
    let Some(plots) = comparison.plots.as_deref() else {
        return out.write_str(
            "<p class=\"quiet\">The run file holds no data for charts of this benchmark.</p>",
        );
    };
    let mut first = true;
    for chart in &CHARTS {
        let Some(words) = (chart.words)(comparison, plots) else {
            continue;
        };
        if std::mem::take(&mut first) {
            write!(
                out,
                "<p class=\"quiet scriptless\">{ALONE}</p><div class=\"charts\">"
            )?;
        }
        figure(out, chart, &words, data)?;
    }
    if !first {
        out.write_str("</div>")?;
    }
    for sentence in missing(comparison, plots) {
        write!(out, "<p class=\"quiet\">{sentence}</p>")?;
    }
    Ok(())
}

fn figure(out: &mut dyn Write, chart: &Chart, words: &str, data: usize) -> fmt::Result {
    let Chart {
        kind,
        title,
        reading,
        ..
    } = chart;
    write!(
        out,
        "<figure data-chart=\"{kind}\" data-of=\"{data}\"><figcaption><h5>{title}</h5><p>{reading}</p></figcaption>\
         <div class=\"plot\" role=\"img\" aria-label=\"{title}. {}\"></div><p class=\"words\">{}</p></figure>",
        Attribute(words),
        Text(words)
    )
}

fn differences(comparison: &Comparison, plots: &Plots) -> Option<String> {
    let series = plots.differences.as_ref()?;
    if series.points.len() < 2 {
        return None;
    }
    let mut words = counted(series.blocks.into(), "block", "blocks");
    let shown = series.points.len();
    if shown < series.blocks as usize {
        words += &format!(", of which the chart shows {shown}");
    }
    words += &match comparison.aspects.dropped_blocks() {
        0 => ", none dropped".to_owned(),
        dropped if cause_of_dropping(comparison) == DISTURBED => {
            format!(", {dropped} dropped because of evidence of disturbance, whatever their change")
        }
        dropped => format!(", {dropped} dropped, {}", cause_of_dropping(comparison)),
    };
    let kept = series.points.iter().filter(|point| {
        !point.dropped && (point.baseline_flags.any() || point.candidate_flags.any())
    });
    let kept = kept.count();
    if kept > 0 {
        words += &format!(", {kept} shown and kept despite such evidence");
    }
    if let Some(estimate) = &comparison.estimate {
        words += &format!("; the estimate is {}", shown_with(estimate, ", "));
    }
    Some(words + ".")
}

fn shown_with(estimate: &Estimate, separator: &str) -> String {
    let range = estimate.interval.as_ref();
    let found = effect(estimate.effect, range, GLYPHS);
    let range = range.map(|range| format!("{separator}{}", interval(range, GLYPHS)));
    found + &range.unwrap_or_default()
}

fn pairs(plots: &Plots) -> Option<String> {
    let cloud = plots.pairs.as_ref()?;
    let shown = cloud.points.len();
    let first = cloud.points.iter().filter(|point| point.baseline_first);
    let first = first.count();
    let pairs = counted(cloud.pairs.into(), "pair", "pairs");
    let second = shown - first;
    (shown > 1).then(|| {
        format!(
            "{pairs}; of the {shown} shown, the baseline ran first in {first} and the candidate in \
             {second}."
        )
    })
}

fn replicates(plots: &Plots) -> Option<String> {
    let effects = || plots.replicates.iter().map(|one| one.effect.0);
    if plots.replicates.len() < 2 {
        return None;
    }
    let [lowest, highest] = [effects().reduce(f64::min)?, effects().reduce(f64::max)?]
        .map(|theta| effect(LogRatio(theta), None, GLYPHS));
    let replicates = counted(effects().count() as u64, "replicate", "replicates");
    Some(format!("{replicates} from {lowest} to {highest}."))
}

fn looks(plots: &Plots) -> Option<String> {
    let [first, .., last] = &plots.looks[..] else {
        return None;
    };
    let [first, last] = [first, last].map(|look| {
        let replicates = counted(look.replicates.into(), "replicate", "replicates");
        format!("{} at {replicates}", shown_with(&look.estimate, " "))
    });
    let count = plots.looks.len();
    Some(format!(
        "{count} interim analyses; the first: {first}; the last: {last}."
    ))
}

fn has_quantiles(plots: &Plots) -> bool {
    let mut sides = plots.sides();
    sides.any(|side| !side.normal_quantiles.is_empty())
}

fn outside(plots: &Plots) -> String {
    of_sides(plots, |side| {
        let all = counted(side.samples(), "sample", "samples");
        Some(match side.outside() {
            0 => all,
            off => format!("{all}, {off} of them beyond the bins"),
        })
    })
}

fn medians(comparison: &Comparison, plots: &Plots) -> String {
    of_sides(plots, |side| {
        let summary = side.box_plot.as_ref()?;
        let values = [summary.median, summary.lower, summary.upper];
        let shown = quantities(comparison.terms.metric.unit(), &values, GLYPHS);
        let [median, lower, upper] = [0, 1, 2].map(|index| &shown[index]);
        let beyond = match summary.beyond {
            0 => String::new(),
            beyond => format!(", {beyond} beyond the whiskers"),
        };
        Some(format!(
            "median {median}, middle half from {lower} to {upper}{beyond}"
        ))
    })
}

fn of_sides(plots: &Plots, words: impl Fn(&Distribution) -> Option<String>) -> String {
    let sides = ["baseline", "candidate"].iter().zip(plots.sides());
    let words = sides.filter_map(|(name, side)| Some(format!("{name}: {}", words(side)?)));
    format!("{}.", words.collect::<Vec<String>>().join("; "))
}

fn missing(comparison: &Comparison, plots: &Plots) -> Vec<&'static str> {
    let mut sentences = Vec::new();
    if comparison.candidate.is_none() {
        sentences.push("The contender ran alone, so there are no differences to draw.");
    } else if plots.differences.is_none() && plots.pairs.is_none() {
        sentences.push(
            "The samples do not say which were taken together, so there are no pairs to draw.",
        );
    }
    if comparison.candidate.is_some() && plots.looks.is_empty() && plots.differences.is_some() {
        sentences.push(
            "The verdict does not come from planned interim analyses, so their chart is missing.",
        );
    }
    if plots.baseline.box_plot.is_some() && !has_quantiles(plots) {
        sentences.push("Zeros forbid logarithms, so there is no chart of their quantiles.");
    }
    sentences
}

/// Returns the legend of the shaded bands in charts: the margin and the confidence interval in
/// words.
pub(super) fn bands(comparison: &Comparison) -> String {
    let margin = share(comparison.terms.margin);
    let metric = sentences::metric(&comparison.terms.metric, GLYPHS);
    let band = format!("Charts show {metric}. The grey band is the margin of ±{margin}");
    let interval = comparison.estimate.and_then(|estimate| estimate.interval);
    interval.map_or(format!("{band}."), |range| {
        let precision = Precision::of(Some(&range));
        let [low, high] = ends(&range).map(|end| precision.end(end, GLYPHS));
        format!("{band}; the coloured band is the interval from {low} to {high}.")
    })
}
