//! Two libraries, each in two versions, and in one version twice.

use crate::cell::{Case, Cell, LIBRARIES, Library, Tool};
use crate::setting::Setting;
use deadheat_validation::prelude::*;

pub fn race(cell: Cell, setting: &Setting) -> Result<Value, String> {
    let file = setting.source(&format!("bench_{}.py", cell.subject));
    let [old, other] = setting.sides(cell.subject, cell.case).map(text);
    let mut words = vec![text(&file), "--python", old, "--python", other];
    if setting.workshop.quick {
        words.extend(["--max-replicates", "6"]);
    }
    let raced = setting.workshop.race(&words);
    let mut benchmarks = Vec::new();
    for race in &raced.rows {
        let mut row = Told::of_race(race)?.into_row();
        row["name"] = json!(race.name);
        row["verdict"] = json!(race.word());
        row["ns"] = json!(short(race.baseline_ns));
        benchmarks.push(row);
    }
    Ok(json!({"benchmarks": benchmarks}))
}

pub fn section(rows: &[Value]) -> Section {
    let mut page = "## Two libraries at two versions\n\n\
        `deadheat bench FILE --python OLD --python NEW` races two versions of a library. Each side \
        has its own environment and its own processes. The files are `bench_packaging.py` and \
        `bench_orjson.py` of `validation/python/`. Each file has ten benchmarks with calls like \
        those in the library's manual.\n\n"
        .to_owned();
    let mut bars = Vec::new();
    for library in LIBRARIES {
        page += &versions(rows, library);
    }
    let (mut wrong, mut of, mut equal) = (0, 0, 0);
    for library in LIBRARIES {
        for benchmark in benchmarks(rows, library, Case::Same).flatten() {
            of += 1;
            wrong += usize::from(["faster", "slower"].contains(&called(benchmark)));
            equal += usize::from(benchmark["verdict"] == "dead heat");
        }
    }
    if of > 0 {
        let _ = writeln!(
            page,
            "The old versions also raced against a second environment of the same version. In \
             these races, {wrong} of {of} benchmarks were called faster or slower, which is \
             wrong, and {equal} were dead heats.\n"
        );
        let what = "deadheat, libraries against themselves: called different";
        bars.push(Bar::false_verdicts(what, wrong, of));
    }
    Section { text: page, bars }
}

/// One line for every benchmark of the last race of both versions.
fn versions(rows: &[Value], library: Library) -> String {
    let Library { name, old, new } = library;
    let mut page = format!(
        "### {name} {old} and {new}\n\n\
         | benchmark | {old}, µs a call | change, % | verdict |\n| --- | ---: | --- | --- |\n"
    );
    let Some(last) = benchmarks(rows, library, Case::Versions).last() else {
        return page + "| no race so far | | | |\n\n";
    };
    for benchmark in last {
        let number = |key: &str| benchmark[key].as_f64().unwrap_or_default();
        let change =
            Change { percent: number("percent"), interval: (number("low"), number("high")) };
        let _ = writeln!(
            page,
            "| {} | {:.1} | {} | {} |",
            benchmark["name"].as_str().unwrap_or_default(),
            number("ns") / 1e3,
            change.shown(),
            benchmark["verdict"].as_str().unwrap_or_default(),
        );
    }
    page + "\n"
}

/// The benchmarks of every race of a library.
fn benchmarks(rows: &[Value], library: Library, case: Case) -> impl Iterator<Item = &Vec<Value>> {
    let cell = Cell { tool: Tool::Bench, subject: library.name, case };
    let fits = move |row: &&Value| cell.is_of(row);
    let fitting = rows.iter().filter(fits);
    fitting.filter_map(|row| row["benchmarks"].as_array())
}

fn called(benchmark: &Value) -> &str {
    benchmark["called"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_has_a_line_and_false_verdicts_are_counted() {
        let row = |case: &str, called: &str, verdict: &str| {
            let one = json!({"name": "parse", "called": called, "verdict": verdict,
                "percent": -48.0, "low": -49.5, "high": -46.5, "ns": 245_600.0});
            json!({"tool": "deadheat bench", "subject": "packaging", "case": case,
                "benchmarks": [one, one]})
        };
        let rows = [
            row("versions", "faster", "faster"),
            row("same", "neither", "dead heat"),
            row("same", "slower", "slower"),
        ];
        let section = section(&rows);
        let line = "| parse | 245.6 | -48.00 [-49.50, -46.50] | faster |\n";
        assert_eq!(section.text.matches(line).count(), 2, "{}", section.text);
        let counted = "2 of 4 benchmarks were called faster or slower, which is wrong, and 2 were";
        assert!(section.text.contains(counted));
        let [bar] = &section.bars[..] else {
            panic!("{} bars", section.bars.len());
        };
        assert!(bar.to_string().contains("2 of 4"), "{bar}");
        assert!(section.text.contains("| no race so far |"));
    }
}
