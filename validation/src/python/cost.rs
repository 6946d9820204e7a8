//! The cost of deadheat itself: a call in its loop, and the start of a replicate.

use crate::cell::{Case, Cell, Tool};
use crate::setting::Setting;
use deadheat_validation::prelude::*;

struct Line {
    subject: &'static str,
    place: &'static str,
    what: &'static str,
    unit: &'static str,
    bar: Option<f64>,
}

const fn line(
    subject: &'static str,
    place: &'static str,
    what: &'static str,
    unit: &'static str,
    bar: Option<f64>,
) -> Line {
    Line { subject, place, what, unit, bar }
}

const LINES: [Line; 7] = [
    line("loop", "/nothing", "the loop, an empty function", "ns a call", Some(15.0)),
    line("loop", "/int", "the loop, `int`", "ns a call", Some(15.0)),
    line("start", "/wall/python -c pass", "`python -c pass`, wall time", "ms", None),
    line(
        "start",
        "/wall/a bench file",
        "a replicate of a file of benchmarks ready, wall time",
        STARTS,
        Some(1.5),
    ),
    line("start", "/cpu/a bench file", "the same, CPU time", STARTS, None),
    line(
        "start",
        "/wall/race, functions by value",
        "a replicate of functions by value ready, wall time",
        STARTS,
        None,
    ),
    line("start", "/cpu/race, functions by value", "the same, CPU time", STARTS, None),
];

const STARTS: &str = "times `python -c pass`";

/// Seconds from the call of `deadheat.race` to its return, for 1% of 25 µs.
const RACE: (&str, f64) = ("loops", 2.0);

pub fn measure(cell: Cell, setting: &Setting) -> Result<Value, String> {
    let file = setting.source(&format!("{}.py", cell.subject));
    let said = text_of(setting.tool().arg(&file), &[0])?;
    serde_json::from_str(&said).map_err(|error| format!("{}: {error}", file.display()))
}

pub fn section(rows: &[Value]) -> Section {
    let mut page = "## Cost\n\n\
        The table shows medians, with the range over whole repetitions in brackets. The rows \
        are:\n\n\
        - *the loop*: the time that deadheat's timing loop adds to a call. \
        `validation/python/loop.py` measures the difference between 4,096 calls in a sample of \
        deadheat and 4,096 calls written one after the other, in 2,000 turns.\n\
        - *a replicate … ready*: the time from the launch of a replicate until it reports that it \
        is ready. `validation/python/start.py` measures this time in 60 turns. To receive \
        functions by value, a worker imports `cloudpickle`, which takes as long as the start of \
        Python.\n\n\
        | what | measured | times |\n| --- | --- | ---: |\n"
        .to_owned();
    let mut bars = Vec::new();
    let mut put = |what: &str, values: &[f64], unit: &str, bar: Option<f64>| {
        if values.is_empty() {
            return;
        }
        let count = values.len();
        let _ = writeln!(page, "| {what} | {} {unit} | {count} |", spread(values, 2));
        let median = median(values.iter().copied());
        bars.extend(bar.map(|bar| Bar::at_most(what, median, bar, 2, unit)));
    };
    for line in LINES {
        let cell = Cell { tool: Tool::Cost, subject: line.subject, case: Case::Alone };
        let values = values(rows, cell, |row| row.pointer(line.place));
        put(line.what, &values, line.unit, line.bar);
    }
    let (subject, most) = RACE;
    let cell = Cell { tool: Tool::Deadheat, subject, case: Case::More };
    let values = values(rows, cell, |row| row.get("in_race"));
    let what = "1% of a function of 25 µs, from the call of `deadheat.race` to its return";
    put(what, &values, "s", Some(most));
    Section { text: page + "\n", bars }
}

fn values<'r>(
    rows: &'r [Value],
    cell: Cell,
    number: impl Fn(&'r Value) -> Option<&'r Value>,
) -> Vec<f64> {
    let fits = |row: &&Value| cell.is_of(row);
    let fitting = rows.iter().filter(fits);
    fitting.filter_map(|row| number(row).and_then(Value::as_f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn costs_are_rounded_up_and_held_to_their_bars() {
        let row = |subject: &str| json!({"tool": "cost", "subject": subject, "case": "alone"});
        let mut looped = row("loop");
        looped["nothing"] = json!(1.911);
        let mut started = row("start");
        started["wall"] = json!({"a bench file": 1.501, "python -c pass": 10.0});
        let race = json!({"tool": "deadheat", "subject": "loops", "case": "more", "in_race": 0.5});
        let section = section(&[looped, started, race]);
        let text = &section.text;
        assert!(text.contains("an empty function | 1.92 (1.92 to 1.92) ns a call | 1 |"), "{text}");
        assert!(!text.contains("`int`"), "{text}");
        let bars: Vec<String> = section.bars.iter().map(Bar::to_string).collect();
        assert!(bars[0].starts_with("met: the loop"), "{bars:?}");
        assert!(bars[1].starts_with("MISSED: a replicate"), "{bars:?}");
        assert!(bars[2].contains("0.50 s (at most 2 s)"), "{bars:?}");
        assert_eq!(bars.len(), 3);
    }
}
