//! A search for the commit that changed the time: its answer with the words of it, as text, Markdown
//! and page; its story, and what is told on the way; and its JSON.

mod json;
mod story;

pub use json::to_bisect_json;
pub use story::{building, racing, story, story_line, was_cut};

use std::fmt::{self, Write};

use deadheat_model::bisect::{
    BisectAnswer, BisectEnd, BisectEvent, BisectRequest, BisectStanding, Bisection, CommitDetails,
    CommitShare, OpenReason, StepEstimate,
};
use deadheat_model::{Better, Day, Interval, Metric, Verdict};

use crate::document::{Block, Entry, Kind, Note, Part, Row, Severity, Table, Tone, mark_of};
use crate::glyphs::Glyphs;
use crate::names::{first_of, shown, texts};
use crate::page::{GLYPHS, Head, Text, blocks};
use crate::terminal::Terminal;
use crate::units::{counted, effect, interval, share, waiting};
use crate::{markdown, sentences};

/// Files of a commit that are named.
const FILES: usize = 8;
/// Columns that a path or a reason may take.
const WIDE: usize = 70;
/// Commits that a note names.
const NAMED: usize = 6;

/// Everything the text depends on beside the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BisectTextOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// True where colours may be used.
    pub color: bool,
    /// True where the terminal shows more than ASCII.
    pub unicode: bool,
}

/// The answer as text.
pub fn to_bisect_text(bisection: &Bisection, options: &BisectTextOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(bisection, terminal.glyphs))
}

/// The answer as GitHub-flavoured Markdown.
pub fn to_bisect_markdown(bisection: &Bisection) -> String {
    let blocks = answer(bisection, Glyphs::Unicode);
    let title = title(bisection, Glyphs::Unicode);
    format!("## {title}\n\n{}", markdown::document(&blocks))
}

/// The answer as one HTML file that needs nothing from any network, and no script.
pub fn to_bisect_page(bisection: &Bisection) -> String {
    let mut page = String::new();
    write_page(&mut page, bisection).expect("a String takes every write");
    page
}

fn write_page(out: &mut String, bisection: &Bisection) -> fmt::Result {
    let title = title(bisection, GLYPHS);
    Head {
        version: &bisection.log.request.tool_version,
        title: &title,
        ..Head::default()
    }
    .write(out)?;
    write!(
        out,
        "<header><div class=\"bar\"><span class=\"mark\">deadheat</span></div><h1>{}</h1></header>\n\
         <main><section class=\"benchmark\">",
        Text(&title)
    )?;
    blocks(out, &answer(bisection, GLYPHS))?;
    out.write_str("</section></main>\n</body>\n</html>\n")
}

/// The question.
pub(crate) fn title(bisection: &Bisection, glyphs: Glyphs) -> String {
    let request = &bisection.log.request;
    let words = Words { request, glyphs };
    format!(
        "Which of {} {} changed the time?",
        counted(request.last() as u64, "commit", "commits"),
        words.between((0, request.last()))
    )
}

/// All blocks.
pub(crate) fn answer<'a>(bisection: &Bisection, glyphs: Glyphs) -> Vec<Block<'a>> {
    let request = &bisection.log.request;
    let words = Words { request, glyphs };
    let mut blocks = Vec::new();
    if let Some(end) = bisection.log.end() {
        blocks.push(finding(&words, end));
    }
    for details in &bisection.details {
        blocks.extend(commit(&words, details));
    }
    if bisection.races().next().is_some() {
        blocks.push(Block::table(races(&words, bisection)));
    }
    blocks.push(Block::indented(effort(bisection)));
    blocks.extend(Block::notes(notes(&words, bisection)));
    blocks.extend(next(&bisection.commands));
    blocks
}

/// The sentence.
fn finding<'a>(words: &Words<'_>, end: &BisectEnd) -> Block<'a> {
    let (verdict, sentence) = match &end.answer {
        BisectAnswer::Commits(share) => (direction(end), culprit(words, share, end)),
        BisectAnswer::NoStep(probability) => {
            let whole = words.between((0, words.request.last()));
            let sentence = if *probability >= 1.0 {
                format!("There is no step {whole}: what is raced is built to the same bytes.")
            } else {
                format!(
                    "There is no step of {} {whole} ({}).",
                    words.margin(),
                    percent(*probability)
                )
            };
            (Verdict::Equivalent, sentence)
        }
        BisectAnswer::NoSingleStep(several) => {
            let sentence = format!(
                "No single step explains the races ({}): times change in several steps, or bit by \
                 bit. The largest change that was seen lies {}.",
                percent(several.probability),
                words.between((several.from, several.to))
            );
            (Verdict::Inconclusive, sentence)
        }
        BisectAnswer::Open(open) => {
            let mut sentence = format!("It was not found out: {}.", reason(open.reason));
            if open.no_step >= 0.5 || open.commits.is_empty() {
                sentence += &format!(
                    " So far there is no step of {} ({}).",
                    words.margin(),
                    percent(open.no_step)
                );
            } else {
                let count: usize = open
                    .commits
                    .iter()
                    .map(|one| one.last - one.first + 1)
                    .sum();
                sentence += &format!(
                    " If there is a step, it is at {}: {}.",
                    match count {
                        1 => "this commit".to_owned(),
                        count => format!("one of {count} commits"),
                    },
                    words.groups(&open.commits)
                );
            }
            (Verdict::Inconclusive, sentence)
        }
    };
    let mut details = Vec::new();
    if let Some(within) = end.within {
        details.push(format!(
            "No single step explains all races. This is what was found {}, which differ most; \
             times change elsewhere as well.",
            words.between(within)
        ));
    }
    Block::verdict(mark_of(Some(verdict), words.glyphs), sentence, details).needed()
}

/// The direction of the step that was found.
fn direction(end: &BisectEnd) -> Verdict {
    match end.step {
        Some(step) if step.effect.0 < 0.0 => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

/// The commit, or those that cannot be told apart.
fn culprit(words: &Words<'_>, share: &CommitShare, end: &BisectEnd) -> String {
    let size = end.step.map(|step| format!(": {}", words.change(&step)));
    let size = size.unwrap_or_default();
    let sure = percent(share.probability);
    if share.first == share.last {
        return format!("It is {} ({sure}){size}.", words.commit(share.last));
    }
    let commits: Vec<String> = (share.first..=share.last)
        .map(|commit| words.short(commit).to_owned())
        .collect();
    let unbuildable = share.last - share.first;
    format!(
        "It is one of {} commits, of which {} not build ({sure}){size}: {}.",
        commits.len(),
        match unbuildable {
            1 => "one does".to_owned(),
            more => format!("{more} do"),
        },
        first_of(commits, NAMED)
    )
}

/// A commit as git tells of it.
fn commit<'a>(words: &Words<'_>, details: &CommitDetails) -> Vec<Block<'a>> {
    let glyphs = words.glyphs;
    let commit = words.request.commits.get(details.commit);
    let when = commit.and_then(|commit| commit.committed_at);
    let when = when.map(|seconds| format!(", {}", Day::of_unix_seconds(seconds)));
    let lines = details.files.iter().filter_map(|(_, lines)| *lines);
    let (added, removed) = lines.fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed));
    let about = format!(
        "{} by {}{}: {}, {} added and {removed} removed",
        words.commit(details.commit),
        shown(&details.author, WIDE, glyphs),
        when.unwrap_or_default(),
        counted(details.files.len() as u64, "file", "files"),
        counted(added, "line", "lines")
    );
    let mut table = Table::new(Kind::Words, ["file", "added", "removed"]);
    table.caption = "What it changes".to_owned();
    for (path, lines) in details.files.iter().take(FILES) {
        let cells = match lines {
            Some((added, removed)) => [format!("+{added}"), format!("{}{removed}", glyphs.minus())],
            None => ["bytes".to_owned(), String::new()],
        };
        let cells = std::iter::once(shown(path, WIDE, glyphs)).chain(cells);
        table.rows.push(Row::from(cells.collect::<Vec<String>>()));
    }
    let mut blocks = vec![Block::indented(about)];
    if !table.rows.is_empty() {
        blocks.push(Block::table(table).tight());
    }
    if details.files.len() > FILES {
        let more = details.files.len() - FILES;
        let more = counted(more as u64, "more file", "more files");
        blocks.push(Block::indented(format!("and {more}")).tight());
    }
    blocks
}

/// The races, in order, with where the culprit was known to lie after each.
fn races<'a>(words: &Words<'_>, bisection: &Bisection) -> Table<'a> {
    let heads = ["raced", "change", "95% CI", "replicates"];
    let mut table = Table::new(Kind::Words, heads);
    table.caption = "Races".to_owned();
    table.spare_column(Kind::Number, "time");
    table.column(Kind::Words, "then");
    let events = bisection.log.events.iter().zip(&bisection.standings);
    for (event, standing) in events {
        let (BisectEvent::Raced(raced), Some(standing)) = (event, standing) else {
            continue;
        };
        let race = standing.race.as_ref();
        table.rows.push(Row::from(vec![
            words.pair((raced.from, raced.to)),
            race.map_or_else(String::new, |race| words.signed(race)),
            race.map_or_else(String::new, |race| words.ends(race)),
            raced.replicates.to_string(),
            match raced.was_cut {
                true => "cut off".to_owned(),
                false => waiting(raced.seconds),
            },
            words.held(standing),
        ]));
    }
    table
}

/// What it took.
fn effort(bisection: &Bisection) -> String {
    let built = bisection.log.events.iter().filter_map(|event| match event {
        BisectEvent::Built(built) if !built.was_kept => Some(built.commit),
        BisectEvent::Unbuildable(failed) => Some(failed.commit),
        _ => None,
    });
    let mut built: Vec<usize> = built.collect();
    built.sort_unstable();
    built.dedup();
    let replicates: usize = bisection.races().map(|race| race.replicates).sum();
    let benchmark = bisection.races().next().map(|race| &race.benchmark);
    let of = benchmark.filter(|name| *name != "run");
    let of = of.map(|name| format!(" of '{}'", shown(name, WIDE, Glyphs::Unicode)));
    format!(
        "{}{} with {}, {}, {}.",
        counted(bisection.races().count() as u64, "race", "races"),
        of.unwrap_or_default(),
        counted(replicates as u64, "replicate", "replicates"),
        counted(built.len() as u64, "build", "builds"),
        waiting(bisection.log.seconds())
    )
}

fn notes(words: &Words<'_>, bisection: &Bisection) -> Vec<Note> {
    let mut notes = Vec::new();
    let unbuildable: Vec<String> = bisection
        .unbuildable()
        .map(|failed| words.short(failed.commit).to_owned())
        .collect();
    if !unbuildable.is_empty() {
        notes.push(format!(
            "{} could not be built or raced, and {} stepped around: {}.",
            counted(unbuildable.len() as u64, "commit", "commits"),
            if unbuildable.len() == 1 {
                "was"
            } else {
                "were"
            },
            first_of(unbuildable, NAMED)
        ));
    }
    let alike = bisection.alike();
    if !alike.is_empty() {
        let pair = |(from, to): &(usize, usize)| words.pair((*from, *to));
        notes.push(format!(
            "The executables of both ends of these ranges are the same bytes, so nothing in them \
             changed the time: {}.",
            first_of(texts(&alike, &pair), NAMED)
        ));
    }
    for event in &bisection.log.events {
        if let BisectEvent::Chosen(chosen) = event {
            let name = shown(&chosen.benchmark, WIDE, words.glyphs);
            let named = |one: &String| format!("'{}'", shown(one, WIDE, words.glyphs));
            let others = match chosen.called.len() {
                0 => String::new(),
                _ => format!(
                    " These changed as well: {}; --bench chooses.",
                    first_of(texts(&chosen.called, &named), NAMED)
                ),
            };
            notes.push(format!(
                "Of all benchmarks '{name}' changed most between the ends, and is searched \
                 by.{others}"
            ));
        }
    }
    if bisection.races().any(|race| !race.is_placed) {
        notes.push(
            "What raced lay where the linker had put it, once for every commit, so a commit that \
             only moves code can be the culprit; cargo, or deadheat link in the build, draws that \
             anew for every replicate (docs/placement.md)."
                .to_owned(),
        );
    }
    if words.request.aside > 0 {
        notes.push(format!(
            "{} came by merges and {} no commit of their own here: a merge counts as one commit; \
             --all-parents tells them apart.",
            counted(words.request.aside as u64, "commit", "commits"),
            if words.request.aside == 1 {
                "is"
            } else {
                "are"
            },
        ));
    }
    Note::all(Severity::Note, notes)
}

/// The commands that tell more.
fn next<'a>(commands: &[(String, String)]) -> Vec<Block<'a>> {
    Block::entries(commands.iter().map(|(words, command)| Entry {
        lead: "next".to_owned(),
        tone: Tone::Total,
        margin: 6,
        parts: vec![Part::Words(words.clone()), Part::Command(command.clone())],
    }))
}

/// Columns that the subject of a commit may take.
const SUBJECT: usize = 60;

/// Groups of commits that a sentence names.
const GROUPS: usize = 5;

/// A search whose words are asked for, and what can be shown.
#[derive(Clone, Copy)]
struct Words<'a> {
    request: &'a BisectRequest,
    glyphs: Glyphs,
}

impl Words<'_> {
    /// `1a2b3c4d`.
    fn short(&self, commit: usize) -> &str {
        self.request.short(commit)
    }

    /// `1a2b3c4d 'Hash names once more'`.
    fn commit(&self, commit: usize) -> String {
        let subject = self
            .request
            .commits
            .get(commit)
            .map_or("", |one| &one.subject);
        let subject = shown(subject, SUBJECT, self.glyphs);
        format!("{} '{subject}'", self.short(commit))
    }

    /// An end by the name it was given, where that is no beginning of its id.
    fn end(&self, commit: usize) -> String {
        let last = self.request.last();
        let named = match commit {
            0 => &self.request.good,
            _ if commit == last => &self.request.bad,
            _ => return self.short(commit).to_owned(),
        };
        let id = self.request.commits.get(commit).map_or("", |one| &one.id);
        if id.starts_with(&**named) {
            self.short(commit).to_owned()
        } else {
            format!(
                "{} ({})",
                shown(named, SUBJECT, self.glyphs),
                self.short(commit)
            )
        }
    }

    /// `between 1a2b3c4d and 5e6f7a8b`, the older one of which is not meant.
    fn between(&self, (from, to): (usize, usize)) -> String {
        format!("between {} and {}", self.end(from), self.end(to))
    }

    /// A change with its interval: "+2.1% time [+1.6%, +2.6%], slower".
    fn change(&self, step: &StepEstimate) -> String {
        let judged = &self.request.judged;
        let more = step.effect.0 > 0.0;
        let noun = match judged {
            Metric::Wall => "time".to_owned(),
            other => sentences::metric(other, self.glyphs),
        };
        let word = match (judged, more == (judged.better() == Better::More)) {
            (Metric::Wall | Metric::Cpu, true) => "faster",
            (Metric::Wall | Metric::Cpu, false) => "slower",
            (_, true) => "better",
            (_, false) => "worse",
        };
        format!("{} {noun} {}, {word}", self.signed(step), self.ends(step))
    }

    /// The change alone, as tables show it.
    fn signed(&self, step: &StepEstimate) -> String {
        effect(step.effect, Some(&bounds(step)), self.glyphs)
    }

    /// The interval alone.
    fn ends(&self, step: &StepEstimate) -> String {
        interval(&bounds(step), self.glyphs)
    }

    /// The margin.
    fn margin(&self) -> String {
        share(self.request.margin.change())
    }

    /// A group of commits: one, or some that cannot be told apart.
    fn group(&self, share: &CommitShare) -> String {
        if share.first == share.last {
            return self.short(share.last).to_owned();
        }
        format!(
            "{}..{}",
            self.short(share.first - 1),
            self.short(share.last)
        )
    }

    /// The likeliest groups, each with its probability.
    fn groups(&self, groups: &[CommitShare]) -> String {
        let group =
            |one: &CommitShare| format!("{} ({})", self.group(one), percent(one.probability));
        first_of(groups.iter().map(group).collect(), GROUPS)
    }

    /// `1a2b3c4d..5e6f7a8b`.
    fn pair(&self, (from, to): (usize, usize)) -> String {
        format!("{}..{}", self.short(from), self.short(to))
    }

    /// What is likelier than one step; `None` where that is likeliest.
    fn doubt(&self, standing: &BisectStanding) -> Option<String> {
        if standing.several >= 0.5 {
            let sure = percent(standing.several);
            return Some(format!("several steps, or creep ({sure})"));
        }
        let no_step = standing.no_step;
        (no_step >= 0.5 || standing.commits.is_empty())
            .then(|| format!("no step of {} ({})", self.margin(), percent(no_step)))
    }

    /// Where the culprit lies, and how sure that is.
    fn standing(&self, standing: &BisectStanding) -> String {
        let held = self.held(standing);
        match &standing.commits[..] {
            [only] if self.doubt(standing).is_none() => {
                format!("{} holds {}", self.group(only), percent(only.probability))
            }
            _ if self.doubt(standing).is_some() => held,
            _ => format!("{}: {held}", self.between(standing.between)),
        }
    }

    /// How many commits hold the culprit: "12 commits hold 95%".
    fn held(&self, standing: &BisectStanding) -> String {
        if let Some(doubt) = self.doubt(standing) {
            return doubt;
        }
        let commits = standing.commits.iter().map(|one| one.last - one.first + 1);
        let commits = commits.sum::<usize>() as u64;
        format!(
            "{} {} {}",
            counted(commits, "commit", "commits"),
            if commits == 1 { "holds" } else { "hold" },
            percent(standing.held)
        )
    }
}

/// The ends of a step as an interval.
fn bounds(step: &StepEstimate) -> Interval {
    Interval {
        low: step.low,
        high: step.high,
        confidence: 0.95,
    }
}

/// A probability, never rounded up to certainty.
fn percent(probability: f64) -> String {
    if probability >= 1.0 {
        return "certain".to_owned();
    }
    let percent = probability * 100.0;
    if percent > 99.9 {
        "over 99.9%".to_owned()
    } else if percent > 99.0 {
        format!("{:.1}%", (percent * 10.0).floor() / 10.0)
    } else if percent < 1.0 {
        "under 1%".to_owned()
    } else {
        format!("{:.0}%", percent.floor())
    }
}

/// The reason why a search was not finished.
fn reason(reason: OpenReason) -> &'static str {
    match reason {
        OpenReason::Budget => "the time for it was over",
        OpenReason::Races => "it had as many races as it may",
        OpenReason::Exhausted => "no further race would tell more",
    }
}
