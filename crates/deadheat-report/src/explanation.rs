//! An explanation from top to bottom: what the instructions say beside the time, and the functions
//! whose own instructions differ. The same for programs is `deadheat.explanation/1`, described by
//! `docs/schema/explanation-1.schema.json`.

mod page;

pub use page::to_explanation_page;

use deadheat_model::{
    Counted, ExplainedPair, Explanation, Finding, FunctionChange, Json, Object, ProfileUnit,
    StackChange, Verdict, WallChange,
};

use crate::document::{Block, Content, Kind, Note, Row, Severity, Table, Tone};
use crate::glyphs::Glyphs;
use crate::json::{self, all, left_out};
use crate::names::{escape, labels, shown};
use crate::terminal::Terminal;
use crate::units::{Precision, counted, range};
use crate::{markdown, sentences};

/// Everything the text depends on beside the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplanationOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// True where colours may be used.
    pub color: bool,
    /// True where the terminal shows more than ASCII.
    pub unicode: bool,
    /// Functions shown of a pair at most.
    pub top: usize,
}

/// Columns that the name of a side or a benchmark may take.
const NAME: usize = 60;
/// Columns that it may take above a column of counts.
const HEAD: usize = 20;
/// Columns that the name of a function may take; names of templates are longer than any line.
const FUNCTION: usize = 120;
/// A relative change that rounds to nothing.
const HARDLY: f64 = 0.000_05;
/// Inlined code of a function is shown where its difference is this part of that of the function, and
/// this part of all that the baseline executes.
const OF_THE_FUNCTION: u64 = 20;
const OF_ALL: u64 = 200;
/// Files that code of a function was inlined from, shown at most.
const MOST_INLINED: usize = 3;

/// The explanation as text.
pub fn to_explanation_text(explanation: &Explanation, options: &ExplanationOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(explanation, options.top, terminal.glyphs))
}

/// The explanation as GitHub-flavoured Markdown, with so many functions of a pair at most.
pub fn to_explanation_markdown(explanation: &Explanation, top: usize) -> String {
    markdown::document(&answer(explanation, top, Glyphs::Unicode))
}

/// All blocks.
fn answer(explanation: &Explanation, top: usize, glyphs: Glyphs) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    for pair in &explanation.pairs {
        blocks.push(Block::of(Content::Heading(2, title(pair, glyphs))));
        blocks.extend(pair_of(pair, explanation.unit, top, glyphs));
    }
    blocks.extend(Block::notes(notes(explanation, glyphs)));
    blocks
}

/// The benchmark, or the two commands.
fn title(pair: &ExplainedPair, glyphs: Glyphs) -> String {
    let [old, new] = names(pair, glyphs);
    match pair.counted {
        Counted::Command => format!("{new} against {old}"),
        _ => shown(&pair.benchmark, NAME, glyphs),
    }
}

/// The names of both sides, as they are shown.
fn names(pair: &ExplainedPair, glyphs: Glyphs) -> [String; 2] {
    pair.names.each_ref().map(|name| shown(name, NAME, glyphs))
}

/// The sentence, the table, and what the table leaves out.
fn pair_of(
    pair: &ExplainedPair,
    unit: ProfileUnit,
    top: usize,
    glyphs: Glyphs,
) -> Vec<Block<'static>> {
    let mut blocks = vec![
        Block::paragraph(verdict(pair, unit, glyphs)),
        Block::paragraph(what_was_counted(pair, unit, glyphs)).tight(),
    ];
    let differ = pair.functions.iter().filter(|one| unit.differ(one.own));
    let differ: Vec<&FunctionChange> = differ.collect();
    if !differ.is_empty() {
        blocks.push(Block::table(table(pair, unit, &differ, top, glyphs)));
    }
    let more = differ.get(top..).unwrap_or_default();
    let same = pair.functions.len() - differ.len();
    let mut rest = Vec::new();
    if !more.is_empty() {
        let sum: i128 = more.iter().map(|one| one.difference()).sum();
        let count = counted(
            more.len() as u64,
            "more function differs",
            "more functions differ",
        );
        rest.push(format!(
            "{count}, by {} together (--top)",
            signed(sum, glyphs)
        ));
    }
    if same > 0 {
        rest.push(if unit.is_sampled() {
            let some = counted(same as u64, "function differs", "functions differ");
            format!("{some} by no more than samples scatter")
        } else {
            let some = counted(same as u64, "function executes", "functions execute");
            format!("{some} the same number of instructions on both sides")
        });
    }
    if !rest.is_empty() {
        blocks.push(Block::indented(format!("{}.", rest.join("; "))));
    }
    blocks
}

/// What the counts say beside the time.
fn verdict(pair: &ExplainedPair, unit: ProfileUnit, glyphs: Glyphs) -> String {
    let [old, new] = pair.totals;
    let noun = unit.noun();
    let work = match old.abs_diff(new) {
        0 => format!("{noun} the same"),
        _ if !unit.differ(pair.totals) => format!("{noun} the same but for their scatter"),
        few if old > 0 && (few as f64) < HARDLY * old as f64 => {
            format!("{noun} the same but for {}", grouped(few.into()))
        }
        _ => format!("{noun} {}", change(pair.totals, glyphs)),
    };
    let time = pair.wall.as_ref().map(|wall| wall_of(wall, glyphs));
    let time = time.unwrap_or_default();
    let more = if new > old { "more" } else { "less" };
    let slower = pair
        .wall
        .is_some_and(|wall| wall.verdict == Verdict::Slower);
    let takes = if slower {
        "takes longer"
    } else {
        "takes less time"
    };
    // Samples of a clock are time on a processor, and what else there is to it is waiting.
    let (what, else_where) = if unit == ProfileUnit::TimeSamples {
        ("time on processors", "what waits")
    } else {
        ("work", "memory and branches")
    };
    match pair.finding {
        Finding::SameWork => format!("{work}."),
        Finding::OtherWork => format!("{work}: {more} {what}, in the functions below."),
        Finding::Work => format!("{time}, {work}: {more} {what}, in the functions below."),
        Finding::PartlyWork => format!(
            "{time}, {work}: {more} {what} is a part of it; look at {else_where} for the rest."
        ),
        Finding::NotWork => format!(
            "{time}, {work}: look at {else_where}, not at {} {what}.",
            if slower { "more" } else { "less" }
        ),
        Finding::AgainstWork => format!(
            "{time}, {work}: {more} {what}, which {takes}; look at {}.",
            if unit == ProfileUnit::TimeSamples {
                "what waits, and at what runs at the same time"
            } else {
                "memory and branches, and at what waits"
            }
        ),
        Finding::Unclear => format!(
            "{time}, {work}: too few samples to tell the cause; explain a longer run, or count every \
             instruction (--by callgrind)."
        ),
        Finding::NotSeenInTime => {
            format!("{time}, {work}: the {what} changed, and no change of time is proven.")
        }
        Finding::Nothing => format!("{time}, {work}."),
    }
}

/// The change of time, its interval, and its verdict where that is none of a direction.
fn wall_of(wall: &WallChange, glyphs: Glyphs) -> String {
    let interval = wall.interval.as_ref();
    let change = Precision::of(interval).signed(wall.change, glyphs);
    let within = interval.map(|interval| range(interval, glyphs));
    let verdict = match wall.verdict {
        Verdict::Equivalent => Some("a dead heat".to_owned()),
        Verdict::Inconclusive => Some("too close to call".to_owned()),
        Verdict::Faster | Verdict::Slower => None,
    };
    let beside: Vec<String> = within.into_iter().chain(verdict).collect();
    match &beside[..] {
        [] => format!("wall {change}"),
        beside => format!("wall {change} ({})", beside.join(", ")),
    }
}

/// The relative change of a count, or what there is in its place where one side has none.
fn change(counts: [u64; 2], glyphs: Glyphs) -> String {
    let Some(change) = relative(counts) else {
        return format!("from none to {}", grouped(counts[1].into()));
    };
    let percent = (change * 100.0).abs();
    let decimals = if percent < 0.1 { 3 } else { 2 };
    format!("{}{percent:.decimals$}%", glyphs.sign(change))
}

/// What was counted, and of how much on either side.
fn what_was_counted(pair: &ExplainedPair, unit: ProfileUnit, glyphs: Glyphs) -> String {
    let [old, new] = names(pair, glyphs);
    let [a, b] = pair.totals.map(|total| grouped(total.into()));
    let of = match pair.counted {
        Counted::Command => "in one execution with all that it starts".to_owned(),
        Counted::Sample { iterations } => {
            format!("in {}", counted(iterations, "call", "calls"))
        }
        Counted::BenchmarkFunction { iterations } => format!(
            "in {} and the set-up in the benchmark's function",
            counted(iterations, "iteration", "iterations")
        ),
        Counted::Worker { iterations } => format!(
            "in a whole worker that makes {}, set-up included",
            counted(iterations, "call", "calls")
        ),
        Counted::Launch { iterations } => format!(
            "in a whole launch for {}, set-up and report included",
            counted(iterations, "iteration", "iterations")
        ),
    };
    format!("{a} {} of {old}, {b} of {new}, {of}.", unit.noun())
}

fn table(
    pair: &ExplainedPair,
    unit: ProfileUnit,
    differ: &[&FunctionChange],
    top: usize,
    glyphs: Glyphs,
) -> Table<'static> {
    let [old, new] = pair.names.each_ref().map(String::as_str);
    let mut sides = labels(&[old, new], HEAD, glyphs).into_iter();
    let mut side = || sides.next().unwrap_or_default();
    let heads = [
        "function".to_owned(),
        side(),
        side(),
        glyphs.delta().to_owned(),
        "of all".to_owned(),
    ];
    let mut table = Table::new(Kind::Name, heads);
    table.caption = if unit.is_sampled() {
        "Samples of functions themselves".to_owned()
    } else {
        "Instructions that functions execute themselves".to_owned()
    };
    let whole = pair.totals[0].max(1);
    for change in differ.iter().take(top) {
        let name = shown(&change.function, FUNCTION, glyphs);
        table.rows.push(row(name, change.own, whole, glyphs));
        let of_it = change.difference().unsigned_abs() as u64 / OF_THE_FUNCTION;
        let least = of_it.max(whole / OF_ALL).max(1);
        let notable = change.inlined.iter();
        let notable = notable.filter(|(_, [old, new])| old.abs_diff(*new) >= least);
        for (file, counts) in notable.take(MOST_INLINED) {
            let name = format!("{} inlined from {}", glyphs.below(), escape(file, glyphs));
            table.rows.push(row(name, *counts, whole, glyphs));
        }
    }
    let mut all = row("all".to_owned(), pair.totals, whole, glyphs);
    for cell in &mut all.cells {
        cell.tone = Some(Tone::Total);
    }
    table.rows.push(all);
    table
}

fn row(name: String, [old, new]: [u64; 2], whole: u64, glyphs: Glyphs) -> Row<'static> {
    let difference = i128::from(new) - i128::from(old);
    let share = difference as f64 / whole as f64;
    Row::from(vec![
        name,
        grouped(old.into()),
        grouped(new.into()),
        signed(difference, glyphs),
        format!("{}{:.2}%", glyphs.sign(share), 100.0 * share.abs()),
    ])
}

/// A count with its digits in groups of three: all of them mean something.
fn grouped(count: u128) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn signed(difference: i128, glyphs: Glyphs) -> String {
    let sign = glyphs.sign(difference as f64);
    format!("{sign}{}", grouped(difference.unsigned_abs()))
}

/// How the counts were taken, and what is left out.
fn notes(explanation: &Explanation, glyphs: Glyphs) -> Vec<Note> {
    let counter = shown(&explanation.counter, NAME, glyphs);
    let scatter =
        "a difference is told where it is more than three times what two such counts scatter";
    let mut texts = vec![match explanation.unit {
        ProfileUnit::Instructions => {
            format!("counted by callgrind ({counter}), which counts every instruction and no time")
        }
        ProfileUnit::InstructionSamples => {
            format!("sampled by perf ({counter}), one sample in so many instructions; {scatter}")
        }
        ProfileUnit::TimeSamples => format!(
            "sampled by perf ({counter}) by the clock, since this machine lets no instructions be \
             counted: samples are time on a processor, and no instructions; {scatter}"
        ),
    }];
    texts.push(match &explanation.run {
        Some(run) => format!("wall time by the race in {}", shown(run, FUNCTION, glyphs)),
        None => {
            "no time stands beside the counts; `deadheat explain RUN.jsonl` takes it from a race"
                .to_owned()
        }
    });
    let mut notes = Note::all(Severity::Note, texts);
    let left_out = sentences::left_out(&explanation.left_out, glyphs);
    notes.extend(Note::all(Severity::Note, left_out));
    notes
}

/// The relative change of the instructions; `None` where the old side has none.
fn relative([old, new]: [u64; 2]) -> Option<f64> {
    (old > 0).then(|| (new as f64 - old as f64) / old as f64)
}

/// The name and major version of the schema of [`to_explanation_json`].
const SCHEMA: &str = "deadheat.explanation/1";

/// The explanation as JSON, indented by two spaces, with a line break at its end.
pub fn to_explanation_json(explanation: &Explanation) -> String {
    let unit = explanation.unit;
    let document = json::document(SCHEMA, &explanation.tool_version)
        .with("by", unit.by())
        .with("unit", unit.key())
        .with("counter", &explanation.counter)
        .with("run", explanation.run.as_ref())
        .with("pairs", all(&explanation.pairs, |one| pair(one, unit)))
        .with("left_out", all(&explanation.left_out, left_out));
    json::text(document)
}

fn pair(pair: &ExplainedPair, unit: ProfileUnit) -> Object {
    let totals = || with_sides(Object::new(), pair.totals).with("change", relative(pair.totals));
    let counted = Object::new()
        .with("what", pair.counted.key())
        .with("iterations", pair.counted.iterations());
    let wall = pair.wall.as_ref().map(|wall| {
        Object::new()
            .with("change", wall.change)
            .with("ci", wall.interval.as_ref().map(json::ends))
            .with("verdict", wall.verdict.name())
    });
    Object::new()
        .with("benchmark", &pair.benchmark)
        .with("baseline", &pair.names[0])
        .with("candidate", &pair.names[1])
        .with("counted", counted)
        .with("totals", totals())
        .with("instructions", (!unit.is_sampled()).then(totals))
        .with("wall", wall)
        .with("finding", pair.finding.key())
        .with("functions", all(&pair.functions, function))
        .with("stacks", all(&pair.stacks, stack))
}

fn function(change: &FunctionChange) -> Object {
    let inlined =
        |(file, counts): &(String, [u64; 2])| with_sides(Object::new().with("file", file), *counts);
    Object::new()
        .with("function", &change.function)
        .with("own", with_sides(Object::new(), change.own))
        .with("inclusive", with_sides(Object::new(), change.inclusive))
        .with("inlined", all(&change.inlined, inlined))
}

fn stack(stack: &StackChange) -> Object {
    let frames = Json::from_iter(stack.frames.iter());
    with_sides(Object::new().with("frames", frames), stack.counts)
}

fn with_sides(object: Object, [baseline, candidate]: [u64; 2]) -> Object {
    object
        .with("baseline", baseline)
        .with("candidate", candidate)
}
