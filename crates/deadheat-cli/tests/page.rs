//! The page of a race, opened in a browser.

mod browser;
mod pages;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use browser::{Chart, Looks, Tab};
use deadheat::parts::model::{Commit, Interval, LogRatio, Metric};
use deadheat_history::{
    CommitOrder, History, HistoryLinks, HistoryMachine, HistorySeries, LoopClosure, Timeline,
    TimelineChange, TimelineCommit, TimelinePlateau, TimelineRace, to_history_page,
};
use deadheat_testing::needs;
use pages::{page_of, utf8};

const AXE: &str = include_str!("browser/axe.min.js");

const DESKTOP: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (360, 740);

/// The page of the UTF-8 example in a folder of its own.
fn page() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let page = utf8().page(folder.path());
    (folder, page)
}

/// The rows one sees, by the names of their benchmarks.
fn rows(tab: &Tab) -> Vec<String> {
    let rows = tab.eval(
        "[...document.querySelectorAll('#overview tbody tr')]
            .filter(row => row.getClientRects().length)
            .map(row => row.cells[0].innerText)",
    );
    let rows = rows.as_array().cloned().unwrap_or_default();
    rows.iter()
        .map(|row| row.as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn no_complaints(tab: &Tab) {
    let complaints = tab.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Nothing sticks out of the window, and no text is cut off.
#[track_caller]
fn holds_together(tab: &Tab, what: &str) {
    let [wide, room] = ["scrollWidth", "clientWidth"]
        .map(|field| tab.number(&format!("document.documentElement.{field}")));
    assert!(wide <= room, "{what}: {wide} px wide in {room}");
    let cut = tab.eval(
        "[...document.querySelectorAll('body *')].filter(one => {
            const style = getComputedStyle(one);
            const words = [...one.childNodes]
                .some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
            if (!words || !one.getClientRects().length || one.closest('.unseen, .skip, svg')) return false;
            if (one.closest('script, style, noscript, option')) return false;
            const cuts = way => style[way] === 'hidden' || style[way] === 'clip';
            if (cuts('overflowX') && one.scrollWidth > one.clientWidth + 1) return true;
            if (cuts('overflowY') && one.scrollHeight > one.clientHeight + 1) return true;
            const box = one.getBoundingClientRect();
            const scrolls = one.closest('.scroll, pre');
            return !scrolls && (box.right > innerWidth + 1 || box.left < -1);
        }).map(one => one.outerHTML.slice(0, 200))",
    );
    assert_eq!(cut, Value::Array(vec![]), "{what}: text is cut off");
}

#[test]
fn a_page_loads_nothing_and_complains_about_nothing() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    for index in 0..6 {
        tab.go(&page, &format!("#b{index}"));
        Chart::all(&tab, index);
    }
    no_complaints(&tab);
    let requests = tab.requests();
    let itself = format!("file://{}", page.canonicalize().unwrap().display());
    let others: Vec<&String> = requests
        .iter()
        .filter(|url| url.split('#').next() != Some(&itself))
        .collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(!requests.is_empty(), "not even the page was heard of");
}

#[test]
fn every_chart_of_an_opened_benchmark_is_drawn() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    tab.go(&page, "#b4");
    let charts = Chart::all(&tab, 4);
    let kinds: Vec<&str> = charts.iter().map(|chart| &*chart.kind).collect();
    assert_eq!(
        kinds,
        [
            "histogram",
            "violin",
            "differences",
            "scatter",
            "ecdf",
            "replicates",
            "quantiles"
        ]
    );
    for chart in &charts {
        let colours = chart.colours();
        assert!(colours > 20.0, "{}: {colours} colours", chart.kind);
    }
    no_complaints(&tab);
}

#[test]
fn pointing_at_a_chart_tells_what_is_there() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    tab.go(&page, "#b4");
    for chart in Chart::all(&tab, 4) {
        chart.reach();
        let places = chart.coloured(60);
        let told = places.iter().find_map(|&(x, y)| {
            tab.point(x, y);
            tab.settle();
            Some(chart.tooltip()).filter(|told| told.chars().any(|sign| sign.is_ascii_digit()))
        });
        assert!(told.is_some(), "{}: {} places", chart.kind, places.len());
        tab.point(1.0, 1.0);
    }
    no_complaints(&tab);
}

#[test]
fn a_chart_can_be_zoomed_and_shown_whole_again() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    tab.go(&page, "#b4");
    for chart in Chart::all(&tab, 4) {
        let kind = &chart.kind;
        chart.reach();
        let whole = chart.picture();
        chart.click("Zoom into");
        let near = chart.differs_from(&whole);
        assert!(near > 0.01, "{kind}: the button does nothing, {near}");
        // The first click shows the farthest points, too, if some were left
        // out from the start.
        for _ in 0..2 {
            if chart.differs_from(&whole) > 0.001 {
                chart.click("Show all of");
            }
        }
        let again = chart.differs_from(&whole);
        assert!(again < 0.001, "{kind}: not as it was, {again}");
        let (x, y) = chart.coloured(9)[4];
        tab.zoom(x, y, -240.0);
        tab.point(1.0, 1.0);
        let near = chart.differs_from(&whole);
        assert!(near > 0.01, "{kind}: the wheel does nothing, {near}");
    }
    no_complaints(&tab);
}

#[test]
fn filters_hide_rows_and_say_how_many_are_left() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    assert_eq!(rows(&tab).len(), 6);
    let shown = || tab.text("document.querySelector('[role=status]').textContent");
    assert!(shown().starts_with("6 rows"), "{}", shown());

    tab.eval("document.querySelector('#filter').focus()");
    tab.write("count_rev");
    tab.settle();
    let names = rows(&tab);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.contains("std_count_rev")));
    assert!(shown().starts_with("2 of 6"), "{}", shown());

    let choose = |verdict: &str| {
        tab.eval(&format!(
            "document.querySelector('#verdicts input[value=\"{verdict}\"]').click()"
        ));
        tab.settle();
    };
    choose("slower");
    assert_eq!(rows(&tab).len(), 1);
    choose("equivalent");
    assert_eq!(rows(&tab).len(), 0);
    assert!(shown().starts_with("0 of 6"), "{}", shown());
    tab.press("Escape");
    tab.eval("document.querySelector('#filter').focus()");
    tab.press("Escape");
    tab.settle();
    assert_eq!(rows(&tab), ["std / std"]);
    choose("");
    assert_eq!(rows(&tab).len(), 6);
}

#[test]
fn a_click_on_a_heading_sorts_and_another_turns_the_order_around() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    let as_run = rows(&tab);
    let sort = |column: &str| {
        tab.eval(&format!(
            "[...document.querySelectorAll('#overview thead button')]
                .find(button => button.textContent === '{column}').click()"
        ));
        let sorted = tab.eval(
            "[...document.querySelectorAll('#overview thead th')]
                .filter(heading => heading.getAttribute('aria-sort') !== 'none')
                .map(heading => heading.innerText.split('\\n')[0] + ' ' + heading.getAttribute('aria-sort'))",
        );
        sorted.to_string()
    };
    assert_eq!(sort("change"), "[\"change ascending\"]");
    let rising = rows(&tab);
    assert_eq!(rising.last().unwrap(), "std / std_count");
    assert_eq!(rising[0], "std_5000 / std_4925");
    assert_eq!(sort("change"), "[\"change descending\"]");
    assert!(rows(&tab).iter().eq(rising.iter().rev()));
    assert_eq!(sort("change"), "[]");
    assert_eq!(rows(&tab), as_run);
    assert_eq!(sort("benchmark"), "[\"benchmark ascending\"]");
    let named = rows(&tab);
    assert!(named.is_sorted(), "{named:?}");
    no_complaints(&tab);
}

#[test]
fn a_keyboard_is_enough_to_reach_a_benchmark_and_to_come_back() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    let row = "document.activeElement.closest('#overview tbody tr')?.dataset.index";
    for _ in 0..40 {
        tab.press("Tab");
        if tab.holds(row) {
            break;
        }
    }
    assert_eq!(tab.text(row), "0", "Tab reaches the first row");
    tab.press("ArrowDown");
    tab.press("ArrowDown");
    tab.press("Enter");
    tab.wait(
        "document.querySelector('section.benchmark[data-index=\"2\"] figure[data-drawn=true]')",
    );
    assert!(tab.holds("document.activeElement.closest('section.benchmark[data-index=\"2\"]')"));
    tab.press("Escape");
    assert_eq!(tab.text(row), "2", "Escape leads back");
    no_complaints(&tab);
}

#[test]
fn an_address_opens_its_benchmark() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::new();
    tab.go(&page, "#b3");
    let open =
        "document.querySelector('section.benchmark details[open]').parentElement.dataset.index";
    assert_eq!(tab.text(open), "3");
    tab.eval("location.hash = '#b5'");
    tab.wait(&format!("{open} === '5'"));
    tab.wait(
        "document.querySelector('section.benchmark[data-index=\"5\"] figure[data-drawn=true]')",
    );
    // What does not exist does no harm.
    tab.eval("location.hash = '#b500'");
    tab.settle();
    no_complaints(&tab);
}

#[test]
fn a_button_changes_the_colours_whatever_the_system_likes() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::new();
    tab.media("screen", "light");
    tab.go(&page, "");
    Chart::all(&tab, 0);
    let paper = || {
        tab.settle();
        tab.text("getComputedStyle(document.body).backgroundColor")
    };
    let light = paper();
    let mut seen = vec![];
    for _ in 0..3 {
        tab.eval("document.querySelector('#theme').click()");
        seen.push(paper());
    }
    assert!(seen.iter().any(|one| *one != light), "{seen:?}");
    assert_eq!(seen[2], light, "a third click is the system's again");
    tab.media("screen", "dark");
    assert!(seen.contains(&paper()) && paper() != light, "{seen:?}");
    no_complaints(&tab);
}

#[test]
fn a_printed_page_is_ink_on_white_with_its_charts() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::new();
    tab.media("screen", "dark");
    tab.go(&page, "#b4");
    Chart::all(&tab, 4);
    tab.eval("dispatchEvent(new Event('beforeprint'))");
    tab.media("print", "dark");
    assert_eq!(
        tab.text("getComputedStyle(document.body).backgroundColor"),
        "rgb(255, 255, 255)"
    );
    let drawn = tab.number(
        "[...document.querySelectorAll('section.benchmark.open figure')].filter(figure => {
            const svg = figure.querySelector('.plot svg');
            const box = svg?.getBoundingClientRect();
            return box && box.width > 100 && box.height > 100 && svg.querySelectorAll('path').length > 5;
        }).length",
    );
    assert_eq!(drawn, 7.0);
    let looks = Looks::of(&tab);
    assert!(looks.light > 215.0 && looks.colours > 100.0, "{looks:?}");
    tab.eval("dispatchEvent(new Event('afterprint'))");
    let printed = tab.call("Page.printToPDF", serde_json::json!({}));
    let length = printed["data"].as_str().map_or(0, str::len);
    assert!(length > 40_000, "{length} characters of PDF");
    no_complaints(&tab);
}

#[test]
fn a_page_fits_its_window_in_light_and_in_dark() {
    needs!("chromium");
    let (_folder, page) = page();
    for (width, height) in [DESKTOP, PHONE] {
        let [light, dark] = ["light", "dark"].map(|scheme| {
            let tab = Tab::new();
            tab.resize(width, height);
            tab.media("screen", scheme);
            ["", "#b4"].map(|place| {
                let what = format!("{width}×{height} {scheme} {place}");
                tab.go(&page, place);
                if !place.is_empty() {
                    Chart::all(&tab, 4);
                }
                holds_together(&tab, &what);
                let looks = Looks::of(&tab);
                let size = (f64::from(width), f64::from(height));
                assert_eq!((looks.width, looks.height), size, "{what}");
                assert!(looks.colours > 60.0, "{what}: {looks:?}");
                assert!((0.3..0.97).contains(&looks.background), "{what}: {looks:?}");
                looks
            })
        });
        for (light, dark) in light.iter().zip(&dark) {
            assert!(light.light > 200.0, "{light:?}");
            assert!(dark.light < 70.0, "{dark:?}");
        }
    }
}

#[test]
fn the_overview_of_a_few_benchmarks_is_seen_without_scrolling_sideways() {
    needs!("chromium");
    let (_folder, page) = page();
    let tab = Tab::open(&page);
    for (width, height) in [DESKTOP, PHONE] {
        tab.resize(width, height);
        tab.settle();
        let wide = tab.eval(
            "(box => [box.scrollWidth, box.clientWidth])(document.querySelector('#overview').parentElement)",
        );
        assert!(wide[0].as_f64() <= wide[1].as_f64(), "{width} px: {wide}");
    }
}

#[test]
fn nobody_is_kept_out_of_the_page() {
    needs!("chromium");
    let (_folder, page) = page();
    for (width, height) in [DESKTOP, PHONE] {
        for scheme in ["light", "dark"] {
            let tab = Tab::new();
            tab.resize(width, height);
            tab.media("screen", scheme);
            tab.go(&page, "#b4");
            Chart::all(&tab, 4);
            tab.eval(
                "document.querySelectorAll('details.fold, figure[data-chart=replicates] details')
                    .forEach(fold => fold.open = true)",
            );
            tab.settle();
            keeps_nobody_out(&tab, &format!("{width} px, {scheme}"));
        }
    }
}

/// No grave fault by the rules of axe.
#[track_caller]
fn keeps_nobody_out(tab: &Tab, what: &str) {
    tab.eval(&format!("{AXE};0"));
    let faults = tab.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .map(({ id, help, nodes }) => [id, help,
                ...nodes.slice(0, 3).map(node => node.html + ' ' + node.failureSummary)]))",
    );
    assert_eq!(faults, Value::Array(vec![]), "{what}: {faults:#}");
}

/// A history of two benchmarks on two machines, with a step, creep, what is accepted and a commit
/// that git does not know.
fn history() -> History {
    let around = |effect: f64| Interval {
        low: LogRatio(effect - 0.004),
        high: LogRatio(effect + 0.004),
        confidence: 0.95,
    };
    let commit = |place: usize| {
        let level = if place >= 20 {
            0.03
        } else {
            0.0001 * place as f64
        };
        TimelineCommit {
            change: None,
            commit: Commit {
                id: format!("{place:08x}").repeat(5),
                committed_at: Some(1_767_225_600 + 86_400 * place as u64),
                subject: format!(
                    "Change {place} of what is read, and how long a line of it may be"
                ),
            },
            order: if place == 9 {
                CommitOrder::ByTime
            } else {
                CommitOrder::OnLine
            },
            skipped: usize::from(place == 20),
            part: 0,
            level: LogRatio(level),
            interval: (place > 0).then(|| around(level)),
            races: 3,
            machines: vec![place / 16],
            accepted: (place == 5).then(|| "it is known".to_owned()),
        }
    };
    let change = |from, to, effect: f64| TimelineChange {
        from,
        to,
        effect: LogRatio(effect),
        interval: around(effect),
        p_value: 1e-5,
        is_worse: effect > 0.0,
    };
    let plateau = |first, last, level| TimelinePlateau {
        first,
        last,
        level: LogRatio(level),
    };
    let race = |from: usize| TimelineRace {
        places: [Some(from), Some(from + 1)],
        machine: from / 16,
        effect: LogRatio(0.001),
        se: 0.002,
        path: format!(".deadheat/runs/20260101-000000-{from:08x}.jsonl"),
    };
    let timeline = |benchmark: &str| Timeline {
        series: HistorySeries {
            benchmark: benchmark.to_owned(),
            parameters: Vec::new(),
            metric: Metric::Wall,
        },
        commits: (0..32).map(commit).collect(),
        races: (0..31).map(race).collect(),
        steps: vec![change(19, 20, 0.028)],
        creep: vec![change(2, 18, -0.003)],
        plateaus: vec![plateau(0, 19, 0.0), plateau(20, 31, 0.029)],
        closure: LoopClosure::default(),
        unconnected: 0,
    };
    let machine = |name: &str| HistoryMachine {
        name: name.to_owned(),
        cpu: format!("Processor {name}"),
    };
    History {
        tool_version: "0.1.0".to_owned(),
        alpha: 0.05,
        confidence: 0.95,
        machines: vec![machine("one"), machine("two")],
        timelines: vec![
            timeline("parse"),
            timeline("a_benchmark_of_a_rather_long_name/1024"),
        ],
        shown: 32,
        has_git: true,
        ..History::default()
    }
}

#[test]
fn a_history_fits_its_window_and_keeps_nobody_out() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("history.html");
    std::fs::write(&page, to_history_page(&history(), &HistoryLinks::default())).unwrap();
    for (width, height) in [DESKTOP, PHONE] {
        for scheme in ["light", "dark"] {
            let what = format!("{width} px, {scheme}");
            let tab = Tab::new();
            tab.resize(width, height);
            tab.media("screen", scheme);
            tab.go(&page, "");
            no_complaints(&tab);
            holds_together(&tab, &what);
            let looks = Looks::of(&tab);
            assert!(looks.colours > 20.0, "{what}: {looks:?}");
            assert_eq!(looks.light > 200.0, scheme == "light", "{what}: {looks:?}");
            // Every point lies in its chart, whatever the width.
            let outside = tab.eval(
                "[...document.querySelectorAll('.chart circle')].filter(point => {
                    const [at, chart] = [point, point.closest('svg')].map(one => one.getBoundingClientRect());
                    return at.left < chart.left - 1 || at.right > chart.right + 1
                        || at.top < chart.top || at.bottom > chart.bottom;
                }).length",
            );
            assert_eq!(outside, 0, "{what}");
            tab.eval("document.querySelectorAll('details').forEach(fold => fold.open = true)");
            tab.settle();
            keeps_nobody_out(&tab, &what);
        }
    }
}

/// Names that a page must show and must not obey.
fn hostile_names() -> Vec<String> {
    vec![
        "<script>window.__injected = 1</script>".to_owned(),
        "\"><img src=x onerror='window.__injected = 2'>".to_owned(),
        "</script><script>window.__injected = 3</script><!--".to_owned(),
        format!("{} {}", "x".repeat(250), "long ".repeat(50)),
        "line\nbreak\u{2028}\ttab \u{1b}[31m {{7*7}} ${window.__injected = 4} `".to_owned(),
        "\u{202e}שלום عليكم\u{202d} ]]> &lt;b&gt; %s {0} \\".to_owned(),
    ]
}

#[test]
fn hostile_names_are_text_and_nothing_else() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let mut run = utf8();
    let names = hostile_names();
    let count = run.benchmarks().len();
    for (index, benchmark) in run.benchmarks().iter_mut().enumerate() {
        let name = |by: usize| Value::from(names[(index + by) % names.len()].as_str());
        benchmark["name"] = name(0);
        benchmark["contenders"][0]["name"] = name(1);
        benchmark["contenders"][1]["name"] = name(2);
    }
    assert_eq!(
        count % names.len(),
        0,
        "a race and its own link share a name"
    );
    run.header["command"] = names.clone().into();
    run.header["environment"]["cpu"] = names[0].as_str().into();
    run.header["environment"]["kernel"] = names[2].as_str().into();
    let page = run.page(folder.path());
    // On a phone the long name and the one from right to left are enough.
    for ((width, height), opened) in [(DESKTOP, 0..6), (PHONE, 3..6)] {
        let tab = Tab::new();
        tab.resize(width, height);
        for index in opened {
            tab.go(&page, &format!("#b{index}"));
            let charts = Chart::all(&tab, index);
            // A race decided at its first look has no chart of looks.
            assert!((7..=8).contains(&charts.len()), "{index}");
            for &(x, y) in &charts[0].coloured(3) {
                tab.point(x, y);
            }
            tab.eval("document.querySelectorAll('details:not([name])').forEach(fold => fold.open = true)");
            tab.settle();
            holds_together(&tab, &format!("{width} px, {}", names[index]));
        }
        assert!(tab.holds("window.__injected === undefined"));
        assert_eq!(
            tab.number("document.querySelectorAll('img, iframe, object').length"),
            0.0
        );
        let shown = rows(&tab);
        assert!(
            shown[0].contains("<script>window.__injected = 1</script>"),
            "{shown:?}"
        );
        assert!(
            shown[1].contains("onerror='window.__injected = 2'>"),
            "{shown:?}"
        );
        assert!(tab.holds("document.body.innerText.includes('{{7*7}}')"));
        no_complaints(&tab);
    }
}

#[test]
fn a_run_in_which_nothing_was_measured_has_a_page() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let mut run = utf8();
    run.records.clear();
    let tab = Tab::open(&run.page(folder.path()));
    assert!(tab.text("document.querySelector('h1').innerText").len() > 3);
    assert_eq!(
        tab.number("document.querySelectorAll('figure').length"),
        0.0
    );
    holds_together(&tab, "nothing");
    no_complaints(&tab);
}

#[test]
fn a_contender_alone_and_samples_without_pairs_have_pages() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let write = |name: &str, rows: &[String]| {
        let table = folder.path().join(name);
        std::fs::write(&table, rows.concat()).unwrap();
        page_of(&table)
    };
    let times = |contender: &str, shift: u32| -> Vec<String> {
        let time = |index: u32| 1000 + shift + (index * 7919) % 83;
        let row = |index| format!("sort,{contender},{}\n", time(index));
        (0..60).map(row).collect()
    };
    let header = ["benchmark,contender,wall_ns\n".to_owned()];
    let alone = write("alone.csv", &[&header[..], &times("only", 0)].concat());
    let apart = write(
        "apart.csv",
        &[&header[..], &times("old", 0), &times("new", 40)].concat(),
    );
    for (page, missing) in [(alone, "scatter"), (apart, "scatter")] {
        let tab = Tab::open(&page);
        let charts = Chart::all(&tab, 0);
        let kinds: Vec<&str> = charts.iter().map(|chart| &*chart.kind).collect();
        assert!(
            kinds.contains(&"histogram") && !kinds.contains(&missing),
            "{kinds:?}"
        );
        for chart in &charts {
            assert!(chart.colours() > 20.0, "{}", chart.kind);
        }
        holds_together(&tab, "without pairs");
        no_complaints(&tab);
    }
}

#[test]
fn results_of_another_tool_have_a_page() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let results = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deadheat-import/tests/golden/saved/hyperfine/new_2.0.json");
    let copy = folder.path().join("saved.json");
    std::fs::copy(&results, &copy).unwrap();
    let tab = Tab::open(&page_of(&copy));
    assert!(
        !tab.text("document.querySelector('h1').innerText")
            .is_empty()
    );
    holds_together(&tab, "saved");
    no_complaints(&tab);
}

#[test]
fn five_hundred_benchmarks_have_a_page_of_which_one_is_drawn() {
    needs!("chromium");
    let folder = TempDir::new().unwrap();
    let page = utf8().times(500).page(folder.path());
    let tab = Tab::open(&page);
    assert_eq!(
        tab.number("document.querySelectorAll('#overview tbody tr').length"),
        500.0
    );
    tab.go(&page, "#b321");
    for chart in Chart::all(&tab, 321) {
        assert!(chart.colours() > 20.0, "{}", chart.kind);
    }
    assert!(tab.number("document.querySelectorAll('canvas').length") < 20.0);
    tab.eval("document.querySelector('#filter').focus()");
    tab.write("no. 42");
    tab.settle();
    assert_eq!(rows(&tab).len(), 6);
    no_complaints(&tab);
    let opened = tab.number("performance.getEntriesByType('navigation')[0].loadEventEnd");
    println!("500 benchmarks: {opened:.0} ms to load");
}

/// Writes the page of a run file, named by its path from the root of the repository.
fn page_of_file(run: &str, page: &Path) {
    let run = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(run);
    let done = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .arg("report")
        .arg(run)
        .arg("--html")
        .arg(page)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// The overview is of six races on neutral links, recorded with
/// `cargo deadheat -p deadheat-examples --bench utf8 -- --seed 8`.
#[test]
#[ignore = "writes docs/pictures, for `just screenshots`"]
fn the_pictures_of_the_docs() {
    needs!("chromium");
    let pages = TempDir::new().unwrap();
    let [suite, hosts] = ["suite.html", "hosts.html"].map(|name| pages.path().join(name));
    page_of_file(
        "crates/deadheat-cli/tests/golden/page/pictures.jsonl.zst",
        &suite,
    );
    page_of_file("examples/fleet/slurm/whole.jsonl.zst", &hosts);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    for (name, size, scheme, page, benchmark) in [
        ("report-light.png", DESKTOP, "light", &suite, None),
        ("report-dark.png", DESKTOP, "dark", &suite, None),
        ("report-phone.png", (360, 900), "light", &suite, None),
        (
            "report-benchmark.png",
            (1100, 1840),
            "light",
            &suite,
            Some((3, 4)),
        ),
        (
            "report-hosts.png",
            (1100, 1300),
            "light",
            &hosts,
            Some((1, 2)),
        ),
    ] {
        let tab = Tab::new();
        tab.resize(size.0, size.1);
        tab.media("screen", scheme);
        match benchmark {
            None => tab.go(page, ""),
            Some((index, charts)) => {
                tab.go(page, &format!("#b{index}"));
                Chart::all(&tab, charts);
                tab.eval("document.querySelector('section.benchmark.open').scrollIntoView()");
                tab.settle();
            }
        }
        std::fs::write(folder.join(name), tab.png()).unwrap();
        no_complaints(&tab);
    }
}
