//! The answer as an HTML page in one file that needs no network. From top to bottom: the results of
//! the run, the benchmarks one by one, and the facts about the run.

mod charts;
mod data;
pub mod html;
mod intervals;
mod overview;

pub use html::page_of_blocks;
pub(crate) use html::{GLYPHS, Head, Text, isolated};

use std::fmt::{self, Write};
use std::thread;

use deadheat_model::{Analysis, Comparison, Day, RunHeader, Verdict};

use crate::cells::metrics;
use crate::document::{Block, Content, Note, Severity, VerdictLine};
use crate::names::{escape, labels, shorten, shorten_apart, texts};
use crate::run::{Run, about, command};
use crate::sentences::{self, Source};
use crate::units::counted;
use crate::{figures, gates, suite};
use html::InScript;

/// Maximum width, in columns, of a name in a heading.
const TITLE: usize = 300;
/// Maximum width, in columns, of a name in a row of the overview.
const ROW: usize = 100;
/// Maximum width, in columns, of any other name.
const NAME: usize = 80;

/// A script of the page, and its hash for the content security policy.
struct Script {
    text: &'static str,
    hash: &'static str,
}

/// The scripts in their order of execution; a script may use all scripts before it. The first
/// script runs before the browser shows anything. A test checks the hashes, and prints the new hash
/// if a file changed. Computing the hashes here would add a dependency for every user who races
/// functions.
const SCRIPTS: [Script; 7] = [
    Script {
        text: include_str!("../assets/page/begin.js"),
        hash: "sha256-tUcVXYORdB1pHXfbTM+q0aphDEYrb5DORdqPgqsK7N0=",
    },
    Script {
        text: include_str!("../assets/page/charts.min.js"),
        hash: "sha256-grDnjdNyR3kwocp/dDDaoJ+W0H8jGvWZ6uhuO8M8+zw=",
    },
    Script {
        text: include_str!("../assets/page/scales.js"),
        hash: "sha256-bJsdpPBsDLH2KcCCUr3fLBbdR2wn6Tpww08WIizfaps=",
    },
    Script {
        text: include_str!("../assets/page/series.js"),
        hash: "sha256-k8SQvp0NpkNQwh7uEstm/dqfFL4DexrR16ySYLBioeU=",
    },
    Script {
        text: include_str!("../assets/page/shapes.js"),
        hash: "sha256-Vxg88jM1X39vi67ieSHZvT/m43XCJ5BvMc/5n/zdJtE=",
    },
    Script {
        text: include_str!("../assets/page/drawing.js"),
        hash: "sha256-26uvtLVFC9nlAi9Tj7RaqcTcdfHtsEFn4qPvR5PyT18=",
    },
    Script {
        text: include_str!("../assets/page/page.js"),
        hash: "sha256-vmtMLsH/Rt95WeOjeosXCKFMPPqq6eeBAYdXnWrVFYI=",
    },
];

/// Formats the analysis as one HTML file, see [`write_page`].
pub fn to_page(analysis: &Analysis, header: &RunHeader) -> String {
    let mut page = String::new();
    write_page(&mut page, analysis, header).expect("a String takes every write");
    page
}

/// Writes the analysis as one HTML file that needs no network: an overview of the suite, and for
/// every benchmark its verdict, its charts and all its figures. Returns an error only if `out`
/// does.
///
/// Comparisons with [`plots`](deadheat_model::Plots) have charts. Other comparisons have a sentence
/// instead.
pub fn write_page(out: &mut dyn Write, analysis: &Analysis, header: &RunHeader) -> fmt::Result {
    let run = Run {
        wide: true,
        legend: true,
        isolated,
        ..Run::of(analysis, GLYPHS, NAME)
    };
    let (own, shared) = run.doubts();
    let alone = verdict_alone(&run);
    begin(out, analysis, alone.is_some())?;
    head(out, &run, header, alone.as_ref())?;
    out.write_str("<main>")?;
    let detailed = detailed(&run.groups);
    overview::write(out, &run, &titles(&run, ROW), &detailed, alone.is_some())?;
    let remarks = remarks(&run, &shared, &detailed);
    let (notes, doubts) = (remarks.into_iter()).partition::<Vec<_>, _>(|one| one.is_note());
    whole_run(out, Block::notes(doubts))?;
    if !run.groups.is_empty() {
        out.write_str(
            "<div class=\"benchmarks\"><h2 class=\"unseen\" id=\"benchmarks\">Benchmarks</h2>\n",
        )?;
        let mut first = 0;
        let titles = titles(&run, TITLE);
        let says_scope = overview::has_two_scopes(&run);
        let mut sections = Vec::with_capacity(run.groups.len());
        for (index, (group, own)) in run.groups.iter().zip(own).enumerate() {
            if detailed[index] {
                sections.push(Section {
                    run: &run,
                    title: &titles[index],
                    index,
                    first,
                    group,
                    own,
                    is_alone: alone.is_some(),
                    says_scope,
                });
            }
            first += group.len();
        }
        // The scripts follow the first section, so that its charts appear before the browser has
        // loaded the rest.
        let (first, others) = sections.split_at(sections.len().min(1));
        in_order(out, first, Section::write)?;
        scripts(out)?;
        in_order(out, others, Section::write)?;
        out.write_str("</div>")?;
    }
    whole_run(out, folded(notes))?;
    out.write_str("</main>\n")?;
    foot(out, analysis, header)?;
    if run.groups.is_empty() {
        scripts(out)?;
    }
    out.write_str("</body>\n</html>\n")
}

fn scripts(out: &mut dyn Write) -> fmt::Result {
    let mut scripts = SCRIPTS[1..].iter();
    scripts.try_for_each(|script| writeln!(out, "<script>{}</script>", script.text))
}

/// Maximum number of benchmarks with details. A page with more benchmarks has details only of those
/// that changed. At 10 kB each, the details of 6,000 benchmarks made a page of 61 MB.
const MOST_DETAILED: usize = 1_000;

fn detailed(groups: &[&[Comparison]]) -> Vec<bool> {
    let has_changed = |group: &&[Comparison]| {
        group.iter().any(|one| {
            matches!(one.verdict, Some(Verdict::Faster | Verdict::Slower))
                || one.suite.gate.is_some()
        })
    };
    let mut left = MOST_DETAILED;
    let mut takes = |group| {
        let is_taken = left > 0 && (groups.len() <= MOST_DETAILED || has_changed(group));
        left -= usize::from(is_taken);
        is_taken
    };
    groups.iter().map(&mut takes).collect()
}

/// The number of sections that are formatted before any of them is written. Together, these
/// sections take a few hundred kilobytes.
const AT_ONCE: usize = 32;

/// Writes the parts in order; several cores format them in parallel.
fn in_order<T: Sync>(
    out: &mut dyn Write,
    parts: &[T],
    write: fn(&T, &mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let made = |parts: &[T]| {
        let mut text = String::new();
        let written = parts.iter().try_for_each(|part| write(part, &mut text));
        written.map(|()| text)
    };
    for parts in parts.chunks(AT_ONCE) {
        let mut shares = parts.chunks(parts.len().div_ceil(cores));
        let mine = shares.next().unwrap_or_default();
        thread::scope(|scope| {
            let others: Vec<_> = shares
                .map(|parts| scope.spawn(move || made(parts)))
                .collect();
            out.write_str(&made(mine)?)?;
            others.into_iter().try_for_each(|other| match other.join() {
                Ok(text) => out.write_str(&text?),
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
    }
    Ok(())
}

/// Writes the head of the page. The browser shows nothing until it has the overview, because
/// showing 500 rows as they arrive tripled the layout time.
fn begin(out: &mut dyn Write, analysis: &Analysis, is_alone: bool) -> fmt::Result {
    let sources = SCRIPTS.map(|script| format!(" '{}'", script.hash)).concat();
    let waits = if analysis.comparisons.is_empty() {
        ""
    } else {
        "<link rel=\"expect\" href=\"#benchmarks\" blocking=\"render\">\n"
    };
    Head {
        version: &analysis.tool_version,
        title: &title(analysis),
        allows: [&format!(" script-src{sources};"), Head::IMAGES],
        style: "",
        more: &format!("{waits}<script>{}</script>\n", SCRIPTS[0].text),
    }
    .write(out)?;
    out.write_str(match is_alone {
        true => "<a class=\"skip\" href=\"#benchmarks\">To the charts</a>\n",
        false => "<a class=\"skip\" href=\"#overview\">To the overview</a>\n",
    })
}

/// Returns the title of the page: the benchmark, or the number of benchmarks.
fn title(analysis: &Analysis) -> String {
    let groups = suite::groups(&analysis.comparisons);
    if let ([group], true) = (groups.as_slice(), analysis.failures.is_empty()) {
        let title = suite::title(&group[0], GLYPHS);
        let title = isolated(&shorten(&title, NAME, GLYPHS));
        return title_of(group, Source::of(analysis), NAME, title);
    }
    let benchmarks = groups.len() + analysis.failures.len();
    match benchmarks {
        0 => "Nothing was measured".to_owned(),
        count => counted(count as u64, "benchmark", "benchmarks"),
    }
}

fn titles(run: &Run<'_>, width: usize) -> Vec<String> {
    let whole = texts(&run.groups, &|group| suite::title(&group[0], GLYPHS));
    let short = shorten_apart(&whole, width, GLYPHS).into_iter();
    let titles = run.groups.iter().zip(short);
    titles
        .map(|(group, title)| title_of(group, run.source, width, isolated(&title)))
        .collect()
}

/// Returns the title of a benchmark: `title`, or its commands if it has only the generic name that
/// `deadheat run` gives to commands.
fn title_of(group: &[Comparison], source: Source, width: usize, title: String) -> String {
    if !suite::is_any_run(group, source) {
        return title;
    }
    let names = labels(&suite::names(group), width, GLYPHS);
    match &names[..] {
        [one] => isolated(one),
        [baseline, candidate] => format!("{} against {}", isolated(candidate), isolated(baseline)),
        names => counted(names.len() as u64, "command", "commands"),
    }
}

/// Returns the names of the two sides, if all comparisons have the same two.
fn sides(analysis: &Analysis) -> Option<[String; 2]> {
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

/// Returns the verdict that is the headline of the page; `None` unless the page has exactly one
/// comparison.
fn verdict_alone(run: &Run<'_>) -> Option<VerdictLine> {
    match &run.groups[..] {
        [[one]] if !run.is_suite() && one.candidate.is_some() => {
            run.verdicts(std::slice::from_ref(one), false).pop()
        }
        _ => None,
    }
}

/// Writes the headline, which is the verdict if there is only one, then how the run went and the
/// state of the gates.
fn head(
    out: &mut dyn Write,
    run: &Run<'_>,
    header: &RunHeader,
    alone: Option<&VerdictLine>,
) -> fmt::Result {
    let analysis = run.analysis;
    write!(
        out,
        "<header><div class=\"bar\"><span class=\"mark\">deadheat</span>\
         <button type=\"button\" id=\"theme\" hidden>Theme: automatic</button></div>"
    )?;
    match alone {
        Some(verdict) => html::verdict(out, "h1", verdict)?,
        None => write!(out, "<h1>{}</h1>", Text(title(analysis)))?,
    }
    let named = alone.is_some() || suite::is_any_run(&analysis.comparisons, run.source);
    if let Some([baseline, candidate]) = sides(analysis).filter(|_| !named) {
        write!(
            out,
            "<p class=\"sides\">{} against {}</p>",
            Text(candidate),
            Text(baseline)
        )?;
    }
    let mut headline = run.headline();
    if let Content::Headline(tally, _) = &mut headline.content
        && alone.is_some()
    {
        tally.clear();
    }
    if let Content::Headline(_, effort) = &mut headline.content {
        let started = header
            .started_at
            .map(|seconds| format!("Started {}", moment(seconds)));
        let parts: Vec<String> = started.into_iter().chain(effort.take()).collect();
        *effort = Some(parts.join(" · "));
    }
    html::blocks(out, &[headline])?;
    let raced = run.raced().map(Block::paragraph);
    html::blocks(out, raced.as_slice())?;
    let gate = run.gate().map(Block::of);
    html::blocks(out, gate.as_slice())?;
    out.write_str("</header>\n")
}

fn whole_run(out: &mut dyn Write, remarks: Option<Block<'_>>) -> fmt::Result {
    let Some(remarks) = remarks else {
        return Ok(());
    };
    out.write_str("<section class=\"remarks\"><h2>Remarks on the whole run</h2>")?;
    html::blocks(out, &[remarks])?;
    out.write_str("</section>\n")
}

/// Returns notes in a fold; `None` if there are none.
fn folded<'a>(notes: Vec<Note>) -> Option<Block<'a>> {
    let summary = counted(notes.len() as u64, "note", "notes");
    let notes = Block::notes(notes)?;
    Some(Block::of(Content::Fold(summary, vec![notes])))
}

/// Returns the remarks on the whole run and on several benchmarks, the most severe first.
fn remarks(run: &Run<'_>, shared: &[Note], detailed: &[bool]) -> Vec<Note> {
    let left_out = sentences::left_out(&run.analysis.left_out, GLYPHS);
    let mut notes = run.whole();
    notes.extend_from_slice(shared);
    notes.extend(Note::all(Severity::Note, left_out));
    notes.extend(gates::remarks(run.analysis, GLYPHS));
    let without = detailed.iter().filter(|detailed| !**detailed).count();
    if without > 0 {
        let text = format!(
            "{} without a change, or after the first {MOST_DETAILED}, have no details on this \
             page, because it would be too large; a page of fewer benchmarks shows them.",
            counted(without as u64, "benchmark", "benchmarks")
        );
        notes.push(Note::of(Severity::Note, text));
    }
    Note::gravest_first(&notes)
}

struct Section<'s, 'a> {
    run: &'s Run<'a>,
    title: &'s str,
    /// The index of the benchmark on the page.
    index: usize,
    /// The index of the benchmark's first comparison in the run.
    first: usize,
    group: &'a [Comparison],
    own: Vec<Note>,
    /// True if the verdict of this benchmark is the headline of the page.
    is_alone: bool,
    /// True if each verdict shows its scope.
    says_scope: bool,
}

impl Section<'_, '_> {
    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let (index, group) = (self.index, self.group);
        write!(
            out,
            "<section class=\"benchmark\" id=\"b{index}\" data-index=\"{index}\" aria-labelledby=\"t{index}\">\
             <details name=\"benchmark\"{}><summary><h3 id=\"t{index}\">{}</h3>",
            if self.run.groups.len() == 1 {
                " open"
            } else {
                ""
            },
            Text(self.title)
        )?;
        for comparison in group {
            out.write_str(&overview::badge(comparison, self.says_scope))?;
        }
        out.write_str("</summary>")?;
        // With scripts, the browser keeps a `noscript` element as text until the reader opens it,
        // so hundreds of benchmarks cost no layout time. Without scripts, the browser shows the
        // element directly.
        out.write_str("<noscript class=\"body\">")?;
        self.body(out)?;
        out.write_str("</noscript><div class=\"body\"></div>")?;
        let labels = labels(&suite::names(group), NAME, GLYPHS);
        for (at, comparison) in group.iter().enumerate() {
            if let Some(plots) = comparison.plots.as_deref() {
                write!(
                    out,
                    "<script type=\"application/json\" id=\"d{}\">",
                    self.first + at
                )?;
                let candidate = labels.get(at + 1).map_or("", String::as_str);
                let json = data::of(comparison, plots, [&labels[0], candidate]);
                write!(InScript(out), "{json}")?;
                out.write_str("</script>")?;
            }
        }
        out.write_str("</details></section>\n")
    }

    fn body(&self, out: &mut dyn Write) -> fmt::Result {
        let (run, group) = (self.run, self.group);
        let labels = run.labels(group);
        let verdicts = self.verdicts();
        self.facts(out)?;
        if let [verdict] = &verdicts[..] {
            // If the page has only one verdict, the headline already shows it.
            if !self.is_alone {
                html::verdict(out, "p", verdict)?;
            }
            html::details(out, verdict)?;
        }
        let (notes, doubts) = (self.own.iter().cloned()).partition::<Vec<_>, _>(Note::is_note);
        let mut blocks: Vec<Block> = Block::notes(doubts).into_iter().collect();
        blocks.push(Block::table(run.contenders(group)));
        let terms = run.terms(group).filter(|_| self.is_alone);
        blocks.extend(terms.map(Block::paragraph));
        html::blocks(out, &blocks)?;
        let several = group.len() > 1;
        for (at, comparison) in group.iter().enumerate() {
            write!(out, "<div class=\"candidate\" id=\"b{}-{at}\">", self.index)?;
            if let (true, Some(candidate)) = (several, labels.get(at + 1)) {
                let [candidate, baseline] = [candidate, &labels[0]].map(Text);
                write!(out, "<h4>{candidate} against {baseline}</h4>")?;
                let verdict = verdicts[at].clone();
                html::blocks(out, &[Block::of(Content::Verdicts(vec![verdict]))])?;
            } else {
                out.write_str("<h4>Charts</h4>")?;
            }
            intervals::against_margin(out, comparison)?;
            intervals::hosts(out, comparison)?;
            if comparison.plots.is_some() {
                html::blocks(out, &[Block::paragraph(charts::bands(comparison))])?;
            }
            charts::write(out, comparison, self.first + at)?;
            out.write_str("<h4>Figures</h4>")?;
            figures_of(out, comparison)?;
            out.write_str("</div>")?;
        }
        self.notes(out, notes)
    }

    fn verdicts(&self) -> Vec<VerdictLine> {
        let mut verdicts = self.run.verdicts_with_counts(self.group);
        for (line, comparison) in verdicts.iter_mut().zip(self.group) {
            let hit = comparison.suite.gate.as_ref();
            line.details.extend(hit.map(|hit| {
                let pardon = gates::pardon(comparison, hit, GLYPHS).map(|one| isolated(&one));
                gates::breach(&gates::rule(hit, GLYPHS), pardon)
            }));
        }
        verdicts
    }

    /// Writes two folds: the notes on this benchmark only, and the remarks that it shares with
    /// other benchmarks.
    fn notes(&self, out: &mut dyn Write, own: Vec<Note>) -> fmt::Result {
        let known: Vec<Note> = (self.run.notes(self.group).into_iter())
            .filter(|note| !self.own.contains(note))
            .collect();
        let summary = counted(
            known.len() as u64,
            "remark that also applies to other benchmarks",
            "remarks that also apply to other benchmarks",
        );
        let known = Block::notes(known).map(|notes| Block::of(Content::Fold(summary, vec![notes])));
        let blocks: Vec<Block> = folded(own).into_iter().chain(known).collect();
        html::blocks(out, &blocks)
    }

    fn facts(&self, out: &mut dyn Write) -> fmt::Result {
        let first = &self.group[0];
        let label = first
            .details
            .label
            .as_ref()
            .map(|label| isolated(&escape(label, GLYPHS)));
        let threads = suite::threads_beside(first);
        let threads = threads.map(|count| counted(count.into(), "thread", "threads"));
        let parts: Vec<String> = label.into_iter().chain(threads).collect();
        if parts.is_empty() {
            return Ok(());
        }
        write!(out, "<p class=\"quiet\">{}</p>", Text(parts.join(" · ")))
    }
}

/// Writes all metrics of both sides, then the secondary figures.
fn figures_of(out: &mut dyn Write, comparison: &Comparison) -> fmt::Result {
    let metrics = metrics(comparison, None, GLYPHS).map(Block::table);
    html::blocks(out, metrics.as_slice())?;
    let tables: Vec<Block> = figures::tables(comparison, GLYPHS)
        .into_iter()
        .map(Block::table)
        .collect();
    if tables.is_empty() {
        return Ok(());
    }
    write!(out, "<div class=\"secondary\"><h5>{}</h5>", figures::TITLE)?;
    out.write_str("<div class=\"beside\">")?;
    html::blocks(out, &tables)?;
    write!(
        out,
        "</div><p class=\"quiet\">{}</p></div>",
        figures::CAVEAT
    )
}

/// Writes the command that runs the race again, the machine, the plan, the builds and the files.
fn foot(out: &mut dyn Write, analysis: &Analysis, header: &RunHeader) -> fmt::Result {
    out.write_str("<footer><h2>About this run</h2>")?;
    if let Some(command) = command(header) {
        out.write_str("<h3 id=\"again\">Run it again</h3>")?;
        html::blocks(out, &[Block::of(Content::Code(command))])?;
    }
    out.write_str("<div class=\"facts\">")?;
    let groups = about(analysis, header).into_iter();
    let groups = groups.filter(|group| !group.rows.is_empty());
    let groups = groups.map(|group| Block::of(Content::Facts(group.title, group.rows)));
    html::blocks(out, &groups.collect::<Vec<_>>())?;
    out.write_str("</div></footer>\n")
}

fn moment(seconds: u64) -> String {
    let (day, rest) = (Day::of_unix_seconds(seconds), seconds % 86_400);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{day} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use sha2::{Digest, Sha256};

    #[test]
    fn every_script_is_known_by_its_hash() {
        for (index, script) in SCRIPTS.iter().enumerate() {
            let hash = BASE64_STANDARD.encode(Sha256::digest(script.text));
            assert_eq!(script.hash, format!("sha256-{hash}"), "script {index}");
        }
    }

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
