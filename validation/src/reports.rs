//! Reports of a large run: what the whole program takes, reading included.
//!
//! ```text
//! cargo build --profile dist && cargo build --profile dist -p deadheat-cli --example page_open
//! cargo run --release --manifest-path validation/Cargo.toml --bin reports
//! ```
//!
//! Writes `docs/validation/reports.md`. Takes a minute, on a machine that does
//! nothing else.

use deadheat_validation::made_run::{MadeRun, REPLICATES};
use deadheat_validation::prelude::*;

const BLOCKS: u32 = 25;
/// With so many blocks a benchmark has 100,000 samples.
const MANY_BLOCKS: u32 = 625;

/// The most seconds and MiB that the page may take.
const PAGE_SECONDS: f64 = 2.0;
const PAGE_MIB: f64 = 60.0;
/// The most seconds that the text may take.
const TEXT_SECONDS: f64 = 0.3;
/// The most seconds that a browser may take to open a page of 100,000 samples.
const OPEN_SECONDS: f64 = 1.0;

struct Setting {
    deadheat: String,
    /// Opens a page in Chromium and prints how many milliseconds that took.
    page_open: PathBuf,
    folder: Scratch,
    run: String,
    benchmarks: usize,
    rounds: usize,
}

fn main() {
    let quick = is_quick();
    let root = repository();
    let deadheat = root.join("target/dist/deadheat");
    let folder = Scratch::new("reports");
    let facts = machine();
    let benchmarks = if quick { 20 } else { 500 };
    eprintln!("making a run of {benchmarks} benchmarks ...");
    let run = folder.join("run.jsonl");
    MadeRun::new(benchmarks, BLOCKS).write(&run);
    let setting = Setting {
        deadheat: deadheat.to_str().expect("a path in UTF-8").to_owned(),
        page_open: root.join("target/dist/examples/page_open"),
        run: run.to_str().expect("a path in UTF-8").to_owned(),
        folder,
        benchmarks,
        rounds: if quick { 1 } else { 9 },
    };
    let page = Page {
        title: "Reports of a large run: time and memory",
        program: "reports",
        facts: &facts,
        quick,
    };
    page.write(
        root,
        &setting,
        &[("what every report takes", reports), ("pages", pages), ("pages in a browser", opened)],
    );
}

/// One shape of the answer, and what it must keep to.
struct Report {
    name: &'static str,
    words: Vec<String>,
    seconds: Option<f64>,
    mib: Option<f64>,
}

/// Each is started several times, taking turns; the file is in the page cache.
fn reports(setting: &Setting) -> Section {
    let page = written(setting, "page.html");
    let comment = written(setting, "comment.md");
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let run = setting.run.as_str();
    let reports = [
        Report {
            name: "page: `report --html`",
            words: words(&["report", run, "--html", &page]),
            seconds: Some(PAGE_SECONDS),
            mib: Some(PAGE_MIB),
        },
        Report {
            name: "text: `analyze`",
            words: words(&["analyze", run]),
            seconds: Some(TEXT_SECONDS),
            mib: None,
        },
        Report {
            name: "comment: `report --markdown`",
            words: words(&["report", run, &format!("--markdown={comment}")]),
            seconds: None,
            mib: None,
        },
        Report {
            name: "JSON: `analyze --json`",
            words: words(&["analyze", run, "--json"]),
            seconds: None,
            mib: None,
        },
    ];
    let mut costs: Vec<Vec<Cost>> = reports.iter().map(|_| Vec::new()).collect();
    for _ in 0..setting.rounds {
        for (report, costs) in reports.iter().zip(&mut costs) {
            let words: Vec<&str> = report.words.iter().map(String::as_str).collect();
            costs.push(cost(&setting.deadheat, &words));
        }
    }
    let benchmarks = setting.benchmarks;
    let mib = fs::metadata(run).expect("the run").len() as f64 / f64::from(1 << 20);
    let mut text = format!(
        "## Time and memory\n\n\
         Each report is about the same run, which is generated from a seed. The run has \
         {benchmarks} benchmarks of functions, each of 4,000 samples in {REPLICATES} replicates, \
         with seven metrics per sample. The run file has {mib:.0} MiB and is in the page cache. \
         Each time is that of the whole program from start to exit, including reading. The reports \
         take turns in {} rounds. The table has the median (range) of the rounds.\n\n\
         | report | seconds | CPU seconds | peak MiB |\n| --- | --- | --- | --- |\n",
        setting.rounds
    );
    let mut bars = Vec::new();
    for (report, costs) in reports.iter().zip(&costs) {
        let all = |part: fn(&Cost) -> f64| costs.iter().map(part).collect::<Vec<f64>>();
        let (wall, cpu, peak) = (all(|c| c.wall), all(|c| c.cpu), all(|c| c.peak_mib));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            report.name,
            spread(&wall, 2),
            spread(&cpu, 2),
            spread(&peak, 0)
        );
        if let Some(bar) = report.seconds {
            bars.push(Bar::at_most(report.name, median(wall), bar, 2, "s"));
        }
        if let Some(bar) = report.mib {
            let what = format!("{}, memory", report.name);
            bars.push(Bar::at_most(what, median(peak), bar, 0, "MiB"));
        }
    }
    text += "\n";
    Section { text, bars }
}

fn pages(setting: &Setting) -> Section {
    let size = |path: &str| fs::metadata(path).map_or(0.0, |about| about.len() as f64);
    let large = size(&written(setting, "page.html"));
    let small_run = setting.folder.join("small.jsonl");
    MadeRun::new(1, BLOCKS).write(&small_run);
    let small_page = written(setting, "small.html");
    let small_run = small_run.to_str().expect("a path in UTF-8");
    let words = ["report", small_run, "--html", &small_page];
    cost(&setting.deadheat, &words);
    let small = size(&small_page);
    let benchmarks = setting.benchmarks;
    let each = (large - small) / (benchmarks - 1) as f64;
    let text = format!(
        "## Size of the pages\n\n\
         | benchmarks | kB |\n| --- | --- |\n| 1 | {} |\n| {benchmarks} | {} |\n\n\
         A page with more benchmarks has fewer points in each plot. From one to {benchmarks} \
         benchmarks, each benchmark adds {} kB.\n\n",
        up(small / 1e3, 0),
        up(large / 1e3, 0),
        up(each / 1e3, 1),
    );
    Section { text, bars: Vec::new() }
}

fn opened(setting: &Setting) -> Section {
    let run = setting.folder.join("long.jsonl");
    MadeRun::new(1, MANY_BLOCKS).write(&run);
    let long = written(setting, "long.html");
    let run = run.to_str().expect("a path in UTF-8");
    cost(&setting.deadheat, &["report", run, "--html", &long]);
    let benchmarks = setting.benchmarks;
    let pages = [
        ("1 benchmark of 100,000 samples".to_owned(), long),
        (format!("{benchmarks} benchmarks of 4,000 samples"), written(setting, "page.html")),
    ];
    let seconds = pages.each_ref().map(|(_, page)| {
        let output = Command::new(&setting.page_open).arg(page).output();
        let output = output.expect("the example page_open, built");
        assert!(output.status.success(), "{output:?}");
        let told = String::from_utf8(output.stdout).expect("a number");
        told.trim().parse::<f64>().expect("milliseconds") / 1e3
    });
    let mut text = "## Pages in a browser\n\n\
         The table shows the time from navigation to the first visible chart in headless Chromium, \
         as the median of five windows.\n\n| page | seconds |\n| --- | --- |\n"
        .to_owned();
    for ((name, _), seconds) in pages.iter().zip(seconds) {
        let _ = writeln!(text, "| {name} | {seconds:.2} |");
    }
    text += "\n";
    let bar = Bar::at_most("a page of 100,000 samples opens", seconds[0], OPEN_SECONDS, 2, "s");
    Section { text, bars: vec![bar] }
}

fn written(setting: &Setting, name: &str) -> String {
    let path = setting.folder.join(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}
