//! What stands above everything: the name of the page, the tally, how the run
//! went, and what the gates say.

use std::fmt::{self, Write};

use deadheat_model::{Analysis, Comparison, GateHit, RunHeader, Verdict};

use super::html::{Attribute, GLYPHS, Text, foreign, isolated};
use crate::gates;
use crate::names::{labels, shorten};
use crate::sentences::{self, Source};
use crate::suite;
use crate::units::counted;
use crate::warnings::{self, WarningText};

/// Columns the name of a benchmark may take in the name of the page.
const NAME: usize = 80;

/// What the page is called: its benchmark, or how many there are and who
/// raced.
pub(super) fn title(analysis: &Analysis) -> String {
    let groups = suite::groups(&analysis.comparisons);
    if let ([group], true) = (groups.as_slice(), analysis.failures.is_empty()) {
        return title_of(group, Source::of(analysis), NAME);
    }
    let benchmarks = groups.len() + analysis.failures.len();
    match benchmarks {
        0 => "Nothing was measured".to_owned(),
        count => counted(count as u64, "benchmark", "benchmarks"),
    }
}

/// The title of a benchmark: its name, or its commands where that name is
/// no more than what `deadheat run` calls a race of any.
pub(super) fn title_of(group: &[Comparison], source: Source, width: usize) -> String {
    if !suite::is_any_run(group, source) {
        return isolated(&shorten(&suite::title(&group[0], GLYPHS), width, GLYPHS));
    }
    let names = labels(&suite::names(group), width, GLYPHS);
    match &names[..] {
        [one] => isolated(one),
        [baseline, candidate] => format!("{} against {}", isolated(candidate), isolated(baseline)),
        names => counted(names.len() as u64, "command", "commands"),
    }
}

/// The names of the sides where all comparisons have the same two.
pub(super) fn sides(analysis: &Analysis) -> Option<[String; 2]> {
    let named = |one: &Comparison| {
        let candidate = one.candidate.as_ref()?;
        Some([one.baseline.name.clone(), candidate.name.clone()])
    };
    let mut all = analysis.comparisons.iter().map(named);
    let first = all.next()??;
    if !all.all(|other| other.as_ref() == Some(&first)) {
        return None;
    }
    let labels = labels(&[&first[0], &first[1]], NAME, GLYPHS);
    Some([isolated(&labels[0]), isolated(&labels[1])])
}

pub(super) fn write(out: &mut dyn Write, analysis: &Analysis, header: &RunHeader) -> fmt::Result {
    write!(
        out,
        "<header><div class=\"bar\"><span class=\"mark\">deadheat</span>\
         <button type=\"button\" id=\"theme\" hidden>Theme: automatic</button></div><h1>{}</h1>",
        Text(title(analysis))
    )?;
    let told = suite::is_any_run(&analysis.comparisons, Source::of(analysis));
    if let Some([baseline, candidate]) = sides(analysis).filter(|_| !told) {
        write!(
            out,
            "<p class=\"sides\">{} against {}</p>",
            Text(candidate),
            Text(baseline)
        )?;
    }
    let tally = sentences::tally(
        &analysis.comparisons,
        &analysis.failures,
        &analysis.left_out,
    );
    write!(
        out,
        "<p class=\"tally\">{}</p><p class=\"effort\">",
        Text(tally)
    )?;
    let mut parts = Vec::new();
    if let Some(seconds) = header.started_at {
        parts.push(format!("Started {}", moment(seconds)));
    }
    parts.extend(sentences::effort(analysis));
    let benchmarks = analysis.comparisons.first();
    if let (Some(_), 1) = (benchmarks, suite::groups(&analysis.comparisons).len()) {
        parts.extend(sentences::rests_on(
            &analysis.comparisons,
            Source::of(analysis),
        ));
    }
    write!(out, "{}</p>", Text(parts.join(" · ")))?;
    gate(out, analysis)?;
    out.write_str("</header>\n")
}

/// Every broken rule, those that count first.
fn gate(out: &mut dyn Write, analysis: &Analysis) -> fmt::Result {
    let broken = |one: &&Comparison| one.gate.is_some();
    let mut hits: Vec<&Comparison> = analysis.comparisons.iter().filter(broken).collect();
    if let Some(passed) = gates::passed(analysis) {
        return write!(
            out,
            "<section class=\"gates\" data-gate=\"green\" aria-labelledby=\"gates\"><h2 id=\"gates\">Gate: \
             passed</h2><p>{}</p></section>",
            Text(passed)
        );
    }
    if hits.is_empty() {
        return Ok(());
    }
    let excused = |one: &&Comparison| one.gate.as_ref().is_some_and(|hit| hit.excuse.is_some());
    hits.sort_by_key(excused);
    let count = hits.iter().filter(|one| !excused(one)).count();
    let state = if count > 0 { "red" } else { "green" };
    write!(
        out,
        "<section class=\"gates\" data-gate=\"{state}\" aria-labelledby=\"gates\"><h2 id=\"gates\">{}</h2><ul>",
        match count {
            0 => "Gate: passed, all broken rules are excused".to_owned(),
            count => format!(
                "Gate: {}",
                counted(count as u64, "rule broken", "rules broken")
            ),
        }
    )?;
    for one in hits {
        let Some(hit) = &one.gate else { continue };
        write!(
            out,
            "<li>{}: {}</li>",
            foreign(&shorten(&suite::title(one, GLYPHS), NAME, GLYPHS)),
            Text(gate_words(hit))
        )?;
    }
    out.write_str("</ul></section>")
}

/// What a gate says of one comparison.
pub(super) fn gate_words(hit: &GateHit) -> String {
    let rule = gates::rule(hit, GLYPHS);
    match &hit.excuse {
        None => format!("breaks the rule '{rule}'"),
        Some(excuse) => {
            let excuse = isolated(&gates::excuse(excuse, GLYPHS));
            format!("breaks the rule '{rule}', {excuse}")
        }
    }
}

/// How the run ended, doubts about recordings as a whole, and what holds for
/// more than one benchmark.
pub(super) fn remarks(analysis: &Analysis, shared: Vec<WarningText>) -> Vec<WarningText> {
    let source = Source::of(analysis);
    let ending = sentences::ending(&analysis.ending, source, GLYPHS);
    let warnings = warnings::in_order(&analysis.warnings);
    let warnings = warnings
        .into_iter()
        .map(|warning| WarningText::new(warning, warnings::sentence(warning, source, GLYPHS)));
    let left_out = sentences::left_out(&analysis.left_out, GLYPHS);
    let ending = ending.map(|text| WarningText::doubt("ending", text));
    let mut remarks: Vec<WarningText> = ending.into_iter().collect();
    remarks.extend(warnings);
    remarks.extend(shared);
    remarks.extend(
        left_out
            .into_iter()
            .map(|text| WarningText::note("left-out", text)),
    );
    remarks.sort_by_key(|told| told.information);
    remarks
}

/// The verdict of a comparison as scripts and styles know it.
pub(super) fn code(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Some(verdict) => verdict.name(),
        None => "none",
    }
}

/// The verdict with its sign, small.
pub(super) fn badge(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    write!(
        out,
        "<span class=\"badge\" data-verdict=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</span>",
        code(comparison),
        GLYPHS.mark(comparison.verdict),
        sentences::verdict_cell(comparison)
    )
}

/// All verdicts as scripts know them, with sign and word.
pub(super) const VERDICTS: [(&str, Option<Verdict>, &str); 7] = [
    ("slower", Some(Verdict::Slower), "slower"),
    ("faster", Some(Verdict::Faster), "faster"),
    (
        "inconclusive",
        Some(Verdict::Inconclusive),
        "too close to call",
    ),
    ("equivalent", Some(Verdict::Equivalent), "dead heat"),
    ("none", None, "no verdict"),
    ("failed", None, "failed"),
    ("left-out", None, "left out"),
];

/// A moment in UTC, from the seconds since 1970.
fn moment(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the leap day comes last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The name of the page as an attribute or a title shows it.
pub(super) fn plain_title(analysis: &Analysis) -> Attribute<String> {
    Attribute(title(analysis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_772_368_496, "2026-03-01 12:34:56 UTC"),
            (4_107_542_399, "2100-02-28 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(moment(seconds), text);
        }
    }
}
