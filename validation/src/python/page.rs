//! The page: what was promised, functions by every tool, the hash seed, libraries and costs.

use deadheat_validation::bars::table;
use deadheat_validation::prelude::*;

use crate::cell::{Case, FUNCTIONS, HASHED, Tool};
use crate::tools::{THRESHOLD, truth};
use crate::{cost, libraries, suites};

/// The least share of races with 1% more work that is to be called slower.
const POWER: f64 = 0.95;

pub struct Page<'a> {
    pub rows: &'a [Value],
    pub wanted: usize,
    pub facts: &'a str,
    pub quick: bool,
}

impl Page<'_> {
    pub fn text(&self) -> String {
        let mut page = "# Races of Python\n\n".to_owned();
        let _ = writeln!(page, "Written by `just validate-python`. {}\n", self.facts);
        if self.quick {
            page += "**A quick trial: counts are too small to mean anything.**\n\n";
        } else if self.rows.len() < self.wanted {
            let done = self.rows.len();
            let _ = writeln!(page, "**{done} of {} planned observations so far.**\n", self.wanted);
        }
        let sections = [
            self.functions(),
            self.hash_seed(),
            libraries::section(self.rows),
            suites::section(self.rows),
            cost::section(self.rows),
        ];
        let mut texts = String::new();
        let mut bars = Vec::new();
        for section in sections {
            texts += &section.text;
            bars.extend(section.bars);
        }
        if !bars.is_empty() {
            page += &table(&bars);
        }
        page + HOW_TO_READ + &texts + &self.how_each_was_asked()
    }

    fn cell(&self, tool: Tool, subjects: &[&str], case: Case) -> impl Iterator<Item = &Value> {
        let fits = move |row: &&Value| {
            let is = |key: &str, value: &str| row[key] == *value;
            is("tool", tool.key())
                && is("case", case.key())
                && subjects.iter().any(|subject| is("subject", subject))
        };
        self.rows.iter().filter(fits)
    }

    fn tally(&self, tool: Tool, subjects: &[&str], case: Case) -> Tally {
        let mut tally = Tally::default();
        for row in self.cell(tool, subjects, case) {
            tally.add(row, "called", truth(case));
        }
        tally
    }

    fn functions(&self) -> Section {
        let all = FUNCTIONS.map(|(name, _)| name);
        let mut text = "## Ten functions by every tool\n\n\
            | tool | with a copy: called different | error of the estimate, points | +1%: called slower | seconds to an answer | \
            seconds per right answer |\n| --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
        for tool in Tool::RACING {
            let [same, more] = [Case::Same, Case::More].map(|case| self.tally(tool, &all, case));
            let seconds = |seconds: Option<f64>| or_dash(seconds, |seconds| rounded(tool, seconds));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                tool.key(),
                counted(&same, Tally::false_calls),
                or_dash(same.rmse(), |error| format!("{error:.2}")),
                counted(&more, Tally::right_calls),
                seconds(more.median_seconds()),
                seconds(more.seconds_per_right_answer()),
            );
        }
        text += "\n### Function by function, by deadheat\n\n\
            | function | a call | with a copy: dead heats, too close to call, called different | \
            +1%: slower, dead heats, too close to call, faster | change found | \
            seconds of a race, copies / +1% |\n| --- | ---: | --- | --- | --- | --- |\n";
        for (name, grows) in FUNCTIONS {
            text += &self.function(name, grows);
        }
        let mut bars = Vec::new();
        let same = self.tally(Tool::Deadheat, &all, Case::Same);
        if same.races > 0 {
            let what = "deadheat, ten functions against copies of themselves: called different";
            bars.push(false_calls(what, &same));
        }
        let more = self.tally(Tool::Deadheat, &all, Case::More);
        if more.races > 0 {
            let (right, of) = (more.slower as usize, more.races as usize);
            let what = "deadheat, functions with 1% more work: called slower";
            bars.push(Bar::share(what, right, of, POWER));
        }
        Section { text: text + "\n", bars }
    }

    fn function(&self, name: &str, grows: bool) -> String {
        let rows = |case| -> Vec<&Value> { self.cell(Tool::Deadheat, &[name], case).collect() };
        let (same, more) = (rows(Case::Same), rows(Case::More));
        let count = |rows: &[&Value], verdicts: &[&str]| {
            let is = |row: &&&Value| verdicts.iter().any(|verdict| row["verdict"] == *verdict);
            rows.iter().filter(is).count().to_string()
        };
        let counts = |rows: &[&Value], kinds: &[&[&str]]| -> String {
            let counts: Vec<String> = kinds.iter().map(|kind| count(rows, kind)).collect();
            format!("{} of {}", counts.join(", "), rows.len())
        };
        let middle = |rows: &[&Value], key: &str| {
            let values: Vec<f64> = rows.iter().filter_map(|row| row[key].as_f64()).collect();
            (!values.is_empty()).then(|| median(values))
        };
        let seconds = |rows: &[&Value]| or_dash(middle(rows, "seconds"), |seconds| up(seconds, 1));
        let of_more = if grows {
            counts(&more, &[&["slower"], &["equivalent"], &["inconclusive"], &["faster"]])
        } else {
            "—".to_owned()
        };
        format!(
            "| {name} | {} | {} | {of_more} | {} | {} / {} |\n",
            or_dash(middle(&same, "ns"), in_units),
            counts(&same, &[&["equivalent"], &["inconclusive"], &["faster", "slower"]]),
            or_dash(middle(&more, "percent"), |percent| format!("{percent:+.2}%")),
            seconds(&same),
            seconds(&more),
        )
    }

    fn hash_seed(&self) -> Section {
        let mut text = format!(
            "## The hash seed\n\n\
             `{HASHED}` looks up two hundred words in a dict of ten keys. Python draws a hash seed \
             for each process, and the hash seed decides which of the ten keys collide. So the \
             time of the function differs from process to process. \
             {}The function races against its copy; `PYTHONHASHSEED` was not set for any tool.\n\n\
             | tool | with a copy: called different | error of the estimate, points | seconds to an answer |\n\
             | --- | --- | --- | --- |\n",
            self.spread_of_seeds(),
        );
        for tool in Tool::RACING {
            let same = self.tally(tool, &[HASHED], Case::Same);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                tool.key(),
                counted(&same, Tally::false_calls),
                or_dash(same.rmse(), |error| format!("{error:.2}")),
                or_dash(same.median_seconds(), |seconds| rounded(tool, seconds)),
            );
        }
        let same = self.tally(Tool::Deadheat, &[HASHED], Case::Same);
        let what = "deadheat, a function that depends on the hash seed, against its copy: called different";
        let bars = (same.races > 0).then(|| false_calls(what, &same));
        Section { text: text + "\n", bars: bars.into_iter().collect() }
    }

    fn spread_of_seeds(&self) -> String {
        let rows = self.cell(Tool::Timeit, &[HASHED], Case::Alone);
        let times: Vec<f64> = rows.filter_map(|row| row["ns"].as_f64()).collect();
        if times.is_empty() {
            return String::new();
        }
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(0.0, f64::max);
        format!(
            "Under {} seeds timeit measured {} to {}, with a median of {}. ",
            times.len(),
            in_units(least),
            in_units(most),
            in_units(median(times))
        )
    }

    fn how_each_was_asked(&self) -> String {
        format!(
            "## How each tool was run\n\n\
             Python: {}; numpy {}. pip installed all packages by their names.\n\n\
             - **deadheat** {}: `deadheat.race(\"itself:loops\", \"copy_of_it:loops\", input=…)`, \
             with default settings: alpha is 5%, the margin 1%. deadheat calls two functions \
             different if its verdict is *faster* or *slower*. Every block has its own input, made \
             from the seed of the block.\n\
             - **pytest-benchmark** {}: `pytest test_subject.py --benchmark-json FILE` for each \
             side, one after the other, as when comparing two revisions of a function. \
             pytest-benchmark has no test; its option `--benchmark-compare-fail` takes a threshold \
             from the user. This page calls the sides different if their medians are more than \
             {THRESHOLD}% apart. This threshold is half of the difference to be found, which is \
             1%. With a threshold of 1%, noise would hide half of the true differences; with a \
             threshold below {THRESHOLD}%, there would be more false calls.\n\
             - **timeit** of {}: `python -m timeit -s '…' 'loops(given)'` for each side, each in \
             its own process. The time of a side is the best of 5 repeats, each with as many calls \
             as take 0.2 s. The threshold for a call is the same as for pytest-benchmark. The \
             option `-vvv` makes timeit print five digits.\n\
             - **pyperf** {}: `runner.bench_func` in a file, `python pyperf_subject.py … -o \
             a.json` for each side, then `pyperf compare_to a.json b.json`. pyperf calls the sides \
             different if `compare_to` prints slower or faster. `compare_to` hides the row if its \
             t test finds no difference. The estimate is the ratio of the mean times of the two \
             sides.\n\n\
             The files are in `validation/python/`.\n",
            self.versions(None, "python"),
            self.versions(Some(Tool::Deadheat), "numpy"),
            self.versions(Some(Tool::Deadheat), "version").replace("deadheat ", ""),
            self.versions(Some(Tool::PytestBenchmark), "version"),
            self.versions(Some(Tool::Timeit), "version"),
            self.versions(Some(Tool::Pyperf), "version"),
        )
    }

    fn versions(&self, tool: Option<Tool>, key: &str) -> String {
        let mut versions: Vec<&str> = Vec::new();
        for row in self.rows {
            let fits = tool.is_none_or(|tool| row["tool"] == tool.key());
            let version = row[key].as_str().filter(|_| fits);
            versions.extend(version.filter(|version| !versions.contains(version)));
        }
        if versions.is_empty() { "(not measured)".to_owned() } else { versions.join(" and ") }
    }
}

const HOW_TO_READ: &str = "\
## The races

deadheat and common tools for Python, each at its default settings, compare ten functions of 50 ns \
to 10 ms: functions in pure Python, functions in C, and one function of numpy. Tools, functions \
and cases take turns, in a new random order in every round, so that changes of the machine affect \
all of them alike. There are two cases:\n\n\
- *With a copy*: the candidate is the same source text in another module, so every verdict of \
faster or slower is wrong.\n\
- *+1%*: the candidate gets an input that is longer by exactly 1%. Two of the ten functions do the \
same work on any input, so these two functions do not race at +1%. The true change may differ from \
1% by some hundredths of a percentage point, because part of the time does not grow with the \
input, and the time of sorting grows by more than 1%.\n\n\
The columns are:\n\n\
- *Called different* and *called slower*: how often the tool's own answer says so, with \
Clopper–Pearson bounds at 95%. If a tool gives no answer, this page uses a threshold.\n\
- *Error of the estimate*: the root of the mean squared difference between the measured change and \
the true change.\n\
- *Seconds to an answer*: the median time from the start of the tool to its answer, of the races \
for +1%, or of all races if there are none.\n\
- *Seconds per right answer*: the total time of the races for +1%, divided by the number of races \
that called the candidate slower. A user who has to repeat a race pays for both races.\n\n";

fn false_calls(what: &str, tally: &Tally) -> Bar {
    Bar::false_verdicts(what, tally.told_apart() as usize, tally.races as usize)
}

fn counted(tally: &Tally, words: impl Fn(&Tally) -> String) -> String {
    if tally.races == 0 { "— (no race so far)".to_owned() } else { words(tally) }
}

fn or_dash(value: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "—".to_owned(), shown)
}

fn rounded(tool: Tool, seconds: f64) -> String {
    fairly(seconds, 2, tool == Tool::Deadheat)
}

/// Nanoseconds, in three digits.
fn in_units(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    let digits = match value {
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(cell: (Tool, &str, Case), verdict: &str, percent: f64, seconds: f64) -> Value {
        let (tool, subject, case) = cell;
        let called = match verdict {
            "faster" | "slower" => verdict,
            _ => "neither",
        };
        json!({"tool": tool.key(), "subject": subject, "case": case.key(), "called": called,
            "verdict": verdict, "percent": percent, "seconds": seconds, "ns": 25_250.0,
            "in_race": seconds, "version": "1.2.3", "python": "CPython 3.11.7"})
    }

    fn rows() -> Vec<Value> {
        let mut rows = Vec::new();
        for repeat in 0..20 {
            let verdict = if repeat == 0 { "slower" } else { "equivalent" };
            rows.push(row((Tool::Deadheat, "loops", Case::Same), verdict, 0.5, 1.0));
            let verdict = if repeat < 18 { "slower" } else { "inconclusive" };
            rows.push(row((Tool::Deadheat, "loops", Case::More), verdict, 1.1, 2.0));
            let hashed = (Tool::Timeit, HASHED, Case::Same);
            rows.push(row(hashed, "faster", -7.0, 3.0));
        }
        rows.push(row((Tool::Pyperf, "sorts", Case::More), "faster", -1.0, 40.0));
        rows
    }

    fn text(rows: &[Value]) -> String {
        let page = Page { rows, wanted: rows.len() + 1, facts: "Machine: m.", quick: false };
        page.text()
    }

    #[test]
    fn the_page_counts_by_tool_and_by_function() {
        let text = text(&rows());
        assert!(text.contains("**61 of 62 planned observations so far.**"), "{text}");
        let of_deadheat = "| deadheat | 1 of 20: 5% (0 to 25%) | 0.50 | 18 of 20: 90% (68 to 99%) | 2.00 | 2.23 |";
        assert!(text.contains(of_deadheat), "{text}");
        let of_pyperf = "| pyperf | — (no race so far) | — | 0 of 1: 0% (0 to 98%); **1 called faster** | 40.00 | — |";
        assert!(text.contains(of_pyperf), "{text}");
        let of_loops =
            "| loops | 25.2 µs | 19, 0, 1 of 20 | 18, 0, 2, 0 of 20 | +1.10% | 1.0 / 2.0 |";
        assert!(text.contains(of_loops), "{text}");
        assert!(text.contains("| timeit | 20 of 20: 100% (83 to 100%) | 7.00 | 3.00 |"));
    }

    #[test]
    fn bars_are_those_of_what_was_measured() {
        let text = text(&rows());
        assert!(text.contains("**1 of 3 targets missed.**"), "{text}");
        assert!(text.contains("called slower | at least 95% | 18 of 20 | **missed** |"), "{text}");
        assert!(text.contains("| at most 2 s | 2.00 s | met |"), "{text}");
        let nothing = super::Page { rows: &[], wanted: 0, facts: "", quick: true }.text();
        assert!(!nothing.contains("bars"), "{nothing}");
    }

    #[test]
    fn versions_of_tools_and_of_python_come_from_the_rows() {
        let text = text(&rows());
        assert!(text.contains("Python: CPython 3.11.7; numpy (not measured)."), "{text}");
        assert!(
            text.contains("**pyperf** 1.2.3:")
                && text.contains("**pytest-benchmark** (not measured):")
        );
        assert_eq!(in_units(7.25), "7.25 ns");
        assert_eq!(in_units(8_250_000.0), "8.25 ms");
    }
}
