//! The sentences of an explanation: what the counts mean for the time, and how they were taken.

use deadheat::parts::model::Verdict;
use deadheat::parts::report::units::{Precision, counted, range};
use deadheat::parts::report::{Glyphs, sentences, shown};

use crate::explanation::{
    Counted, ExplainedPair, Explanation, Finding, FunctionChange, WallChange,
};
use crate::profile::ProfileUnit;

/// The largest width of the name of a side or a benchmark, in columns.
const NAME: usize = 60;
/// The largest width of the name of a function, in columns; template names exceed any line.
pub(crate) const FUNCTION: usize = 120;
/// A relative change that is displayed as 0.
const HARDLY: f64 = 0.000_05;

/// Returns the name of the benchmark, or of the two commands.
pub(crate) fn title(pair: &ExplainedPair, glyphs: Glyphs) -> String {
    let [old, new] = names(pair, glyphs);
    match pair.counted {
        Counted::Command => format!("{new} against {old}"),
        _ => shown(&pair.benchmark, NAME, glyphs),
    }
}

pub(crate) fn names(pair: &ExplainedPair, glyphs: Glyphs) -> [String; 2] {
    pair.names.each_ref().map(|name| shown(name, NAME, glyphs))
}

/// Returns the sentence about what the counts mean for the time.
pub(crate) fn verdict(pair: &ExplainedPair, unit: ProfileUnit, glyphs: Glyphs) -> String {
    let [old, new] = pair.totals;
    let noun = unit.noun();
    let work = match old.abs_diff(new) {
        0 => format!("{noun} the same"),
        _ if !unit.differ(pair.totals) => format!("{noun} the same, apart from noise"),
        few if old > 0 && (few as f64) < HARDLY * old as f64 => {
            format!("{noun} the same except for {}", grouped(few.into()))
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
    // Clock samples count time on a processor, so the rest of the wall time is waiting.
    let (what, else_where) = if unit == ProfileUnit::TimeSamples {
        ("time on processors", "waiting (locks, input and output)")
    } else {
        ("work", "memory and branches")
    };
    match pair.finding {
        Finding::SameWork => format!("{work}."),
        Finding::OtherWork => format!("{work}: {more} {what}, in the functions below."),
        Finding::Work => format!("{time}, {work}: {more} {what}, in the functions below."),
        Finding::PartlyWork => format!(
            "{time}, {work}: {more} {what} explains only a part; look at {else_where} for the rest."
        ),
        Finding::NotWork => format!(
            "{time}, {work}: {} {what} does not explain the change of time; look at {else_where}.",
            if slower { "more" } else { "less" }
        ),
        Finding::AgainstWork => format!(
            "{time}, {work}: {more} {what}, which {takes}; look at {}.",
            if unit == ProfileUnit::TimeSamples {
                "waiting (locks, input and output), and at programs that run at the same time"
            } else {
                "memory and branches, and at waiting (locks, input and output)"
            }
        ),
        Finding::Unclear => format!(
            "{time}, {work}: too few samples to tell the cause; explain a longer run, or count every \
             instruction (--by callgrind)."
        ),
        Finding::NotSeenInTime => {
            format!("{time}, {work}: the {what} changed, but no change of time is proven.")
        }
        Finding::Nothing => format!("{time}, {work}."),
    }
}

/// Returns the change of time with its interval, and with the verdict if it is a dead heat or too
/// close to call.
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

/// Returns the relative change of a count. If the baseline's count is 0, returns the new count.
fn change(counts: [u64; 2], glyphs: Glyphs) -> String {
    let Some(change) = relative(counts) else {
        return format!("from none to {}", grouped(counts[1].into()));
    };
    let percent = (change * 100.0).abs();
    let decimals = if percent < 0.1 { 3 } else { 2 };
    format!("{}{percent:.decimals$}%", glyphs.sign(change))
}

pub(crate) fn what_was_counted(pair: &ExplainedPair, unit: ProfileUnit, glyphs: Glyphs) -> String {
    let [old, new] = names(pair, glyphs);
    let [a, b] = pair.totals.map(|total| grouped(total.into()));
    let of = match pair.counted {
        Counted::Command => "in one execution, including child processes".to_owned(),
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

/// Returns a sentence about the functions that are not in the table: those in `more` differ between
/// the sides, and `same` is the number of those that do not differ.
pub(crate) fn beyond_the_table(
    more: &[&FunctionChange],
    same: usize,
    unit: ProfileUnit,
    glyphs: Glyphs,
) -> Option<String> {
    let mut parts = Vec::new();
    if !more.is_empty() {
        let sum: i128 = more.iter().map(|one| one.difference()).sum();
        let count = counted(
            more.len() as u64,
            "more function differs",
            "more functions differ",
        );
        parts.push(format!(
            "{count}, by {} in total (--top N shows more)",
            signed(sum, glyphs)
        ));
    }
    if same > 0 {
        parts.push(if unit.is_sampled() {
            let some = counted(same as u64, "function differs", "functions differ");
            format!("{some} within sampling noise")
        } else {
            let some = counted(same as u64, "function executes", "functions execute");
            format!("{some} the same number of instructions on both sides")
        });
    }
    (!parts.is_empty()).then(|| format!("{}.", parts.join("; ")))
}

pub(crate) fn grouped(count: u128) -> String {
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

pub(crate) fn signed(difference: i128, glyphs: Glyphs) -> String {
    let sign = glyphs.sign(difference as f64);
    format!("{sign}{}", grouped(difference.unsigned_abs()))
}

/// Returns remarks about how the counts were taken and which benchmarks were left out.
pub(crate) fn remarks(explanation: &Explanation, glyphs: Glyphs) -> Vec<String> {
    let counter = shown(&explanation.counter, NAME, glyphs);
    let scatter = "only differences above three standard errors of the two counts are shown";
    let mut texts = vec![match explanation.unit {
        ProfileUnit::Instructions => {
            format!(
                "counted by callgrind ({counter}), which counts every instruction but does not \
                 measure time"
            )
        }
        ProfileUnit::InstructionSamples => {
            format!(
                "sampled by perf ({counter}), one sample per fixed number of instructions; {scatter}"
            )
        }
        ProfileUnit::TimeSamples => format!(
            "sampled by perf ({counter}) by time, because this machine cannot count instructions: a \
             sample is CPU time; {scatter}"
        ),
    }];
    texts.push(match &explanation.run {
        Some(run) => format!(
            "wall time from the race in {}",
            shown(run, FUNCTION, glyphs)
        ),
        None => {
            "no wall times are known; `deadheat explain RUN.jsonl` reads them from the run file \
             of a race"
                .to_owned()
        }
    });
    texts.extend(sentences::left_out(&explanation.left_out, glyphs));
    texts
}

/// Returns the relative change of a count; `None` if the baseline's count is 0.
pub(crate) fn relative([old, new]: [u64; 2]) -> Option<f64> {
    (old > 0).then(|| (new as f64 - old as f64) / old as f64)
}
