//! The answer of a search as text, as Markdown and as an HTML page, all from the same document
//! blocks.

use deadheat::parts::model::{Day, Verdict};
use deadheat::parts::report::document::{
    Block, Entry, Kind, Note, Part, Row, Severity, Table, Tone, mark_of,
};
use deadheat::parts::report::units::{counted, waiting};
use deadheat::parts::report::{
    Glyphs, Terminal, first_of, markdown_of_blocks, page_of_blocks, shown, texts,
};

use crate::culprit::LIKELIER;
use crate::log::{
    BenchmarkChosen, BisectAnswer, BisectEnd, BisectEvent, Bisection, CommitDetails, CommitShare,
    UnmeasuredBenchmark,
};
use crate::words::{Words, percent, reason};

/// The largest number of files of a commit that the answer lists.
const FILES: usize = 8;
/// The largest width of a path, an author or a benchmark, in columns.
const WIDE: usize = 70;
/// The largest number of items that a sentence lists.
const NAMED: usize = 6;

/// Renders the answer as text, with the width and the colours of `terminal`.
pub fn to_bisect_text(bisection: &Bisection, terminal: Terminal) -> String {
    terminal.render(&answer(bisection, terminal.glyphs))
}

/// Renders the answer as GitHub-flavoured Markdown.
pub fn to_bisect_markdown(bisection: &Bisection) -> String {
    let title = title(bisection, Glyphs::Unicode);
    let blocks = answer(bisection, Glyphs::Unicode);
    format!("## {title}\n\n{}", markdown_of_blocks(&blocks))
}

/// Renders the answer as one HTML file without scripts, which loads nothing from any network.
pub fn to_bisect_page(bisection: &Bisection) -> String {
    let version = &bisection.log.request.tool_version;
    let title = title(bisection, Glyphs::Unicode);
    page_of_blocks(version, &title, &answer(bisection, Glyphs::Unicode))
}

fn title(bisection: &Bisection, glyphs: Glyphs) -> String {
    let request = &bisection.log.request;
    let words = Words::of(&bisection.log, glyphs);
    format!(
        "Which of {} {} changed the time?",
        counted(request.last() as u64, "commit", "commits"),
        words.between((0, request.last()))
    )
}

fn answer<'a>(bisection: &Bisection, glyphs: Glyphs) -> Vec<Block<'a>> {
    let words = Words::of(&bisection.log, glyphs);
    let mut blocks = Vec::new();
    if let Some(end) = bisection.log.end() {
        blocks.push(finding(&words, end, bisection.log.unmeasured()));
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

fn finding<'a>(
    words: &Words<'_>,
    end: &BisectEnd,
    unmeasured: &[UnmeasuredBenchmark],
) -> Block<'a> {
    let measured = match unmeasured {
        [] => "",
        _ => " in the benchmarks that were measured",
    };
    let (verdict, sentence) = match &end.answer {
        BisectAnswer::Commits(share) => (direction(words, end), culprit(words, share, end)),
        BisectAnswer::NoStep(probability) => {
            let whole = words.between((0, words.request.last()));
            let sentence = if *probability >= 1.0 {
                format!("No step exists {whole}: both builds are byte-identical.")
            } else {
                format!(
                    "There is {}{measured} {whole} ({}).",
                    words.no_step(),
                    percent(*probability)
                )
            };
            (Verdict::Equivalent, sentence)
        }
        BisectAnswer::NoSingleStep(several) => {
            let sentence = format!(
                "No single step explains the races ({}): times change in several steps, or \
                 gradually. The largest measured change is {}.",
                percent(several.probability),
                words.between((several.from, several.to))
            );
            (Verdict::Inconclusive, sentence)
        }
        BisectAnswer::Open(open) => {
            let mut sentence = format!("The search found no answer: {}.", reason(open.reason));
            if !open.unmeasured.is_empty() {
                sentence += " The first race was too short to begin the search.";
            } else if open.no_step >= LIKELIER || open.commits.is_empty() {
                sentence += &format!(
                    " So far there is {}{measured} ({}).",
                    words.no_step(),
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
            "No single step explains all races. This answer covers only the commits {}, which \
             differ most; times change elsewhere as well.",
            words.between(within)
        ));
    }
    Block::verdict(mark_of(Some(verdict), words.glyphs), sentence, details).needed()
}

fn direction(words: &Words<'_>, end: &BisectEnd) -> Verdict {
    match end.step {
        Some(step) if !words.is_worse(&step) => Verdict::Faster,
        _ => Verdict::Slower,
    }
}

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
        "The step is at one of {} commits, of which {} not build ({sure}){size}: {}.",
        commits.len(),
        match unbuildable {
            1 => "one does".to_owned(),
            more => format!("{more} do"),
        },
        first_of(commits, NAMED)
    )
}

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

/// Returns the table of the races in order, each with the commits that could still be the culprit
/// after it.
fn races<'a>(words: &Words<'_>, bisection: &Bisection) -> Table<'a> {
    let heads = ["raced", "change", "95% CI", "replicates"];
    let mut table = Table::new(Kind::Words, heads);
    table.caption = "Races".to_owned();
    table.spare_column(Kind::Number, "time");
    table.column(Kind::Words, "place of the step");
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
            "{} could not be built or raced, and {} skipped: {}.",
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
            "The executables of both ends of these ranges are byte-identical, so no commit in \
             them changed the time: {}.",
            first_of(texts(&alike, &pair), NAMED)
        ));
    }
    if let Some(chosen) = bisection.log.chosen() {
        notes.push(choice(words, chosen));
    }
    let unmeasured = bisection.log.unmeasured();
    notes.extend(words.left_out(unmeasured));
    if bisection.races().any(|race| !race.is_placed) {
        notes.push(
            "Each commit was linked once, so a commit that only moves code can look like the \
             culprit. If cargo builds the program, or deadheat link links it, every replicate gets \
             a new code layout (docs/placement.md)."
                .to_owned(),
        );
    }
    if words.request.aside > 0 {
        notes.push(format!(
            "{} came from merges and {} not searched one by one: a merge counts as one commit; \
             --all-parents searches them.",
            counted(words.request.aside as u64, "commit", "commits"),
            if words.request.aside == 1 {
                "is"
            } else {
                "are"
            },
        ));
    }
    let mut all = Note::all(Severity::Alarm, words.failed(unmeasured));
    all.extend(Note::all(Severity::Note, notes));
    all
}

/// Returns the note about the benchmark that was chosen in the race of GOOD and BAD.
fn choice(words: &Words<'_>, chosen: &BenchmarkChosen) -> String {
    let name = shown(&chosen.benchmark, WIDE, words.glyphs);
    if chosen.measured == 1 {
        return format!("Only '{name}' was measured, so the search uses it.");
    }
    let all = match chosen.unmeasured[..] {
        [] => "Of all benchmarks",
        _ => "Of the benchmarks that were measured",
    };
    let most = match chosen.is_slowdown {
        true => "has the largest slowdown",
        false => "changed most",
    };
    let others = match &words.called(chosen)[..] {
        [] => String::new(),
        called => format!(
            " These changed as well: {}; --bench selects another.",
            first_of(called.to_vec(), NAMED)
        ),
    };
    format!("{all}, '{name}' {most} between the ends, so the search uses it.{others}")
}

fn next<'a>(commands: &[(String, String)]) -> Vec<Block<'a>> {
    Block::entries(commands.iter().map(|(words, command)| Entry {
        lead: "next".to_owned(),
        tone: Tone::Total,
        margin: 6,
        parts: vec![Part::Words(words.clone()), Part::Command(command.clone())],
    }))
}
