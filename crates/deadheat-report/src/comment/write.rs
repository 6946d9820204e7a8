//! What stands in a comment, and in which order: first what changed and
//! whether a rule is broken, folded below it everything else.

use deadheat_model::{Analysis, Comparison, RunHeader, Verdict};

use super::blocks::{Block, joined};
use super::machine;
use crate::gates;
use crate::glyphs::Glyphs;
use crate::left_out;
use crate::markdown::{code, prose, remarks, secondary};
use crate::names::{labels, shorten};
use crate::sentences::{self, Called, Source};
use crate::shell::shell;
use crate::suite;
use crate::tables::{change_cells, typical};
use crate::units::quantities;
use crate::warnings;

/// Columns a name may take: nobody reads a longer one in a table.
const NAME: usize = 100;

/// With more rows than these, those that did not change are folded away.
const OPEN: usize = 12;

/// GitHub's limit is 65,536 characters; who posts the comment may add a few.
const AT_MOST: usize = 64_000;

const GLYPHS: Glyphs = Glyphs::Unicode;

/// What a comment depends on beside the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentOptions {
    /// Whether the secondary figures are among what is folded.
    pub figures: bool,
    /// Characters it may have (UTF-16 units, at least 400). What finds no room
    /// is counted in a sentence at the end.
    pub at_most: usize,
}

impl Default for CommentOptions {
    fn default() -> Self {
        CommentOptions {
            figures: false,
            at_most: AT_MOST,
        }
    }
}

/// The analysis as GitHub-flavoured Markdown for a comment on a pull request:
/// a compact table, the tally, what the gates say, and the rest folded. The
/// header of the run adds the machine and the command to repeat it.
pub fn to_comment(
    analysis: &Analysis,
    header: Option<&RunHeader>,
    options: &CommentOptions,
) -> String {
    let rows = rows(analysis);
    let several = candidates_differ(analysis);
    let (changed, same): (Vec<&Row>, Vec<&Row>) = match rows.len() > OPEN {
        true => rows.iter().partition(|row| row.changed),
        false => (rows.iter().collect(), Vec::new()),
    };
    let mut blocks = vec![needed(headline(analysis)), needed(gate(analysis, &rows))];
    blocks.push(needed(table(&changed, several, None)));
    let title = counted_rows(same.len());
    blocks.push(table(&same, several, Some(&title)));
    blocks.push(problems(analysis));
    blocks.push(verdicts(&changed));
    blocks.push(told(analysis));
    blocks.push(metrics(analysis));
    if options.figures {
        blocks.push(figures(analysis));
    }
    blocks.extend(header.map(|header| needed(about_the_machine(analysis, header))));
    blocks.extend(header.and_then(repeat).map(needed));
    joined(&blocks, options.at_most)
}

/// One line of the table, and what is said of it elsewhere.
struct Row {
    cells: String,
    changed: bool,
    /// The benchmark, and the candidate where there are several; as code.
    name: String,
    sentence: Option<String>,
    broken: Option<String>,
    excused: Option<String>,
}

/// Whether rows must say of which candidate they speak.
fn candidates_differ(analysis: &Analysis) -> bool {
    let groups = suite::groups(&analysis.comparisons);
    groups.iter().any(|group| group.len() > 1)
}

fn rows(analysis: &Analysis) -> Vec<Row> {
    let several = candidates_differ(analysis);
    let mut rows = Vec::new();
    for group in suite::groups(&analysis.comparisons) {
        let labels = labels(&suite::names(group), NAME, GLYPHS);
        for (index, comparison) in group.iter().enumerate() {
            let called = Called {
                baseline: &labels[0],
                candidate: labels.get(index + 1).map(String::as_str),
                baseline_is_shown: false,
            };
            rows.push(row(analysis, comparison, called, several));
        }
    }
    let without = |title: &str, word: &str| Row {
        cells: cells(title, several.then_some(""), [GLYPHS.nothing(); 2], word),
        changed: true,
        name: String::new(),
        sentence: None,
        broken: None,
        excused: None,
    };
    for failure in &analysis.failures {
        let title = suite::failed_title(failure, GLYPHS);
        let word = format!("! {}", sentences::FAILED_CELL);
        rows.push(without(&title, &word));
    }
    for (title, word) in left_out::rows(&analysis.left_out, GLYPHS) {
        rows.push(without(&title, &format!("{} {word}", GLYPHS.mark(None))));
    }
    rows
}

fn row(analysis: &Analysis, comparison: &Comparison, called: Called<'_>, several: bool) -> Row {
    let title = suite::title(comparison, GLYPHS);
    let [change, interval] = change_cells(comparison.estimate.as_ref(), GLYPHS);
    let mark = GLYPHS.mark(comparison.verdict);
    let verdict = format!("{mark} {}", sentences::verdict_cell(comparison));
    let candidate = called.candidate.unwrap_or("");
    let mut name = code(&shorten(&title, NAME, GLYPHS));
    if several && !candidate.is_empty() {
        name += &format!(", {}", code(candidate));
    }
    let source = Source::of(analysis);
    let mut sentence = sentences::verdict(comparison, called, source, GLYPHS);
    if let Some(placement) = sentences::placement(comparison, GLYPHS) {
        sentence += &format!(" {placement}");
    }
    if let Some(floor) = sentences::noise_floor(comparison, GLYPHS) {
        sentence += &format!(" {floor}");
    }
    let rule = |hit| code(&gates::rule(hit, GLYPHS));
    let hit = comparison.gate.as_ref();
    let moved = matches!(comparison.verdict, Some(Verdict::Faster | Verdict::Slower));
    Row {
        cells: cells(
            &title,
            several.then_some(candidate),
            [&change, &interval],
            &verdict,
        ),
        changed: moved || hit.is_some(),
        broken: hit.filter(|hit| hit.excuse.is_none()).map(rule),
        excused: hit.and_then(|hit| {
            let excuse = gates::excuse(hit.excuse.as_ref()?, GLYPHS);
            Some(format!("{}, {}", rule(hit), words(&excuse)))
        }),
        sentence: Some(words(&sentence)),
        name,
    }
}

/// A line of the table.
fn cells(title: &str, candidate: Option<&str>, change: [&str; 2], verdict: &str) -> String {
    let name = |name: &str| match name {
        "" => String::new(),
        name => code(&shorten(name, NAME, GLYPHS)),
    };
    let candidate = candidate.map_or_else(String::new, |one| format!(" {} |", name(one)));
    let [change, interval] = change;
    format!(
        "| {} |{candidate} {} | {change} | {interval} |\n",
        name(title),
        words(verdict)
    )
}

/// Text in which nothing is markup, and nobody is called by a name in it.
fn words(text: &str) -> String {
    prose(text).replace('@', "@<!-- -->")
}

/// How it went, in a line.
fn headline(analysis: &Analysis) -> Block {
    let tally = sentences::tally(
        &analysis.comparisons,
        &analysis.failures,
        &analysis.left_out,
    );
    let mut said = vec![format!("**deadheat**: {tally}\n")];
    let ending = sentences::ending(&analysis.ending, Source::of(analysis), GLYPHS);
    said.extend(ending.map(|told| format!("\n> {}\n", words(&told))));
    list(String::new(), said, ("line", "lines"))
}

/// Which rules are broken, and which of these are excused; or that none is.
fn gate(analysis: &Analysis, rows: &[Row]) -> Block {
    if let Some(passed) = gates::passed(analysis) {
        let mark = GLYPHS.mark(Some(Verdict::Faster));
        let said = format!("{mark} The gate is open: {}\n", words(&passed));
        return list(String::new(), vec![said], ("line", "lines"));
    }
    let line = |row: &Row, told: &String| format!("- {}: {told}\n", row.name);
    let broken = rows
        .iter()
        .filter_map(|row| Some(line(row, row.broken.as_ref()?)));
    let broken: Vec<String> = broken.collect();
    let excused = rows
        .iter()
        .filter_map(|row| Some(line(row, row.excused.as_ref()?)));
    let excused: Vec<String> = excused.collect();
    let open = match (broken.len(), excused.len()) {
        (0, _) => format!(
            "{} Every rule that is broken is excused:\n\n",
            GLYPHS.mark(Some(Verdict::Faster))
        ),
        (..) => format!(
            "{} **The gate is closed.** Rules are broken:\n\n",
            GLYPHS.mark(Some(Verdict::Slower))
        ),
    };
    list(
        open,
        broken.into_iter().chain(excused).collect(),
        ("rule", "rules"),
    )
}

fn needed(block: Block) -> Block {
    Block {
        needed: true,
        ..block
    }
}

fn list(open: String, items: Vec<String>, called: (&'static str, &'static str)) -> Block {
    Block {
        open,
        items,
        close: String::new(),
        needed: false,
        called,
    }
}

/// A block that unfolds when it is asked for.
fn folded(title: &str, items: Vec<String>, called: (&'static str, &'static str)) -> Block {
    Block {
        open: format!("<details><summary>{title}</summary>\n\n"),
        items,
        close: "\n</details>\n".to_owned(),
        needed: false,
        called,
    }
}

fn counted_rows(count: usize) -> String {
    let rows = crate::units::counted(count as u64, "row", "rows");
    format!("{rows} that did not change")
}

fn table(rows: &[&Row], several: bool, title: Option<&str>) -> Block {
    let (name, rule) = match several {
        true => (" Candidate |", ":---|"),
        false => ("", ""),
    };
    let head =
        format!("| Benchmark |{name} Verdict | Change | Interval |\n|:---|{rule}:---|---:|---:|\n");
    let items = rows.iter().map(|row| row.cells.clone()).collect();
    let called = match title {
        Some(_) => ("row that did not change", "rows that did not change"),
        None => ("row", "rows"),
    };
    let mut block = match title {
        Some(title) => folded(title, items, called),
        None => list(String::new(), items, called),
    };
    block.open += &head;
    block
}

/// Benchmarks without an answer, and why.
fn problems(analysis: &Analysis) -> Block {
    let failed = analysis.failures.iter().map(|failure| {
        let title = shorten(&suite::failed_title(failure, GLYPHS), NAME, GLYPHS);
        sentences::failed(&title, failure, GLYPHS)
    });
    let left_out = sentences::left_out(&analysis.left_out, GLYPHS);
    let lines = failed.chain(left_out);
    let lines = lines.map(|line| format!("- {}\n", words(&line))).collect();
    list(String::new(), lines, ("reason", "reasons"))
}

/// The verdicts in full sentences.
fn verdicts(rows: &[&Row]) -> Block {
    let said = rows
        .iter()
        .filter_map(|row| Some((row, row.sentence.as_ref()?)));
    let said = said.map(|(row, sentence)| format!("- {}: {sentence}\n", row.name));
    let called = ("verdict in words", "verdicts in words");
    folded("The verdicts in words", said.collect(), called)
}

/// What casts doubt on the results, and what helps to read them.
fn told(analysis: &Analysis) -> Block {
    let source = Source::of(analysis);
    let groups = suite::groups(&analysis.comparisons);
    let whole = warnings::in_order(&analysis.warnings).into_iter();
    let whole = whole.map(|one| warnings::sentence(one, source, GLYPHS));
    let told = whole.chain(remarks(analysis, &groups));
    let told: Vec<String> = told.map(|told| format!("- {}\n", words(&told))).collect();
    let title = format!("Doubts and advice ({})", told.len());
    folded(
        &title,
        told,
        ("doubt or advice", "doubts and pieces of advice"),
    )
}

/// All metrics, a row each.
fn metrics(analysis: &Analysis) -> Block {
    let mut rows = Vec::new();
    for group in suite::groups(&analysis.comparisons) {
        for comparison in group {
            let title = code(&shorten(&suite::title(comparison, GLYPHS), NAME, GLYPHS));
            for one in &comparison.metrics {
                let values = typical(&one.baseline, one.candidate.as_ref());
                let mut shown = quantities(one.metric.unit(), &values, GLYPHS);
                shown.resize(2, GLYPHS.nothing().to_owned());
                let [change, interval] = change_cells(one.estimate.as_ref(), GLYPHS);
                let metric = words(&sentences::metric(&one.metric, GLYPHS));
                let values = shown.join(" | ");
                rows.push(format!(
                    "| {title} | {metric} | {values} | {change} | {interval} |\n"
                ));
            }
        }
    }
    let mut block = folded(
        "All metrics, typical values",
        rows,
        ("row of metrics", "rows of metrics"),
    );
    block.open += "| Benchmark | Metric | Baseline | Candidate | Change | Interval |\n\
                   |:---|:---|---:|---:|---:|---:|\n";
    block
}

/// The secondary figures, benchmark by benchmark.
fn figures(analysis: &Analysis) -> Block {
    let groups = suite::groups(&analysis.comparisons);
    let several = groups.len() > 1;
    let tables = groups.iter().map(|group| secondary(group, several));
    let tables = tables.filter(|table| !table.is_empty()).collect();
    let called = ("table of figures", "tables of figures");
    folded("Secondary figures", tables, called)
}

fn about_the_machine(analysis: &Analysis, header: &RunHeader) -> Block {
    let facts = machine::facts(analysis, header).into_iter();
    let effort = sentences::effort(analysis).map(|effort| format!("effort: {effort}"));
    let facts = facts.chain(effort);
    let lines = facts.map(|fact| format!("- {}\n", words(&fact))).collect();
    folded("The machine and the run", lines, ("fact", "facts"))
}

/// The command that runs the same race again.
fn repeat(header: &RunHeader) -> Option<Block> {
    if header.command.is_empty() {
        return None;
    }
    let command = shell(&header.command);
    let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let shown = format!("{fence}sh\n{command}\n{fence}\n");
    let called = ("command to repeat it", "commands");
    Some(folded("Run it again", vec![shown], called))
}
