//! A third-party suite of Google Benchmark (rapidfuzz-cpp) against copies of itself, on neutral
//! links and as linked, with releases of the library that start the program again.
//!
//! ```text
//! cargo run --release --manifest-path validation/Cargo.toml --bin google_suites -- \
//!     measure 'LIBRARY' neutral OLD NEW FILTER
//! cargo run --release --manifest-path validation/Cargo.toml --bin google_suites
//! ```
//!
//! The first races OLD against NEW, two executables that `deadheat link` linked from one source,
//! and appends one line per row to `validation/data/google_suites.jsonl`; `linked` in place of
//! `neutral` races them as linked. LIBRARY names the release of Google Benchmark. The second writes
//! `docs/validation/google_suites.md` from all that was measured.

use deadheat_validation::prelude::*;
use std::fs::OpenOptions;

use deadheat_validation::programs;

struct Row {
    library: String,
    /// `neutral` or `linked`.
    links: String,
    start: String,
    verdict: Option<String>,
    half_width: Option<f64>,
    seconds: f64,
    /// True if another core compiled meanwhile.
    is_busy: bool,
}

struct Tagged {
    row: String,
    verdict: String,
    changes: [[f64; 3]; 2],
}

struct Measured {
    rows: Vec<Row>,
    tagged: Vec<Tagged>,
}

/// Ways to start a program that wants fixed addresses, and what each is called in the page.
const STARTS: [(&str, &str); 3] = [
    ("fixed", "at fixed addresses, so it does not restart"),
    ("again", "with the path of its link as `argv[0]`, so it restarts from the link"),
    (
        "random",
        "with an `argv[0]` that is not an executable file, so the restart fails and it keeps random addresses",
    ),
];

/// The lowest acceptable share of dead heats among copies.
const DEAD_HEATS: f64 = 0.6;

fn main() {
    let root = repository();
    let data = root.join("validation/data/google_suites.jsonl");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => page(root, &data),
        ["measure", library, links @ ("neutral" | "linked"), old, new, filter] => {
            measure(root, &data, (library, links), [old, new, filter]);
        }
        _ => {
            eprintln!("usage: google_suites [measure LIBRARY neutral|linked OLD NEW FILTER]");
            exit(2);
        }
    }
}

fn measure(root: &Path, data: &Path, (library, links): (&str, &str), race: [&str; 3]) {
    let deadheat: PathBuf =
        programs::built(root, &["build", "--profile", "dist", "--bin", "deadheat"]);
    let mut command = Command::new(deadheat);
    command.args(["bench", "--json"]).args(race);
    if links == "linked" {
        command.args(["--placement", "own"]);
    }
    let began = Instant::now();
    let output = command.stderr(Stdio::inherit()).output().expect("a race");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("the answer of a race");
    let rows = answer["benchmarks"].as_array().expect("benchmarks");
    let seconds = began.elapsed().as_secs_f64() / rows.len().max(1) as f64;
    let mut file =
        OpenOptions::new().create(true).append(true).open(data).expect("the file of raw data");
    for row in rows {
        let line = json!({
            "library": library, "links": links, "start": "fixed", "row": row["benchmark"],
            "verdict": row["verdict"], "change": row["change"], "ci": row["ci"],
            "scope": row["scope"], "seconds": seconds,
        });
        writeln!(file, "{line}").expect("the file of raw data");
    }
}

fn measured(data: &Path) -> Measured {
    let text = fs::read_to_string(data).expect("raw data; measure first");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of raw data"));
    let (tagged, rows): (Vec<Value>, Vec<Value>) =
        lines.partition(|line: &Value| line["tags"].is_string());
    Measured {
        rows: rows.iter().map(row_of).collect(),
        tagged: tagged.iter().map(tagged_of).collect(),
    }
}

fn row_of(row: &Value) -> Row {
    let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let end = |place: usize| row["ci"][place].as_f64();
    Row {
        library: word("library"),
        links: word("links"),
        start: word("start"),
        verdict: row["verdict"].as_str().map(str::to_owned),
        half_width: end(0).zip(end(1)).map(|(low, high)| (high - low) / 2.0),
        seconds: row["seconds"].as_f64().unwrap_or_default(),
        is_busy: row["busy"] == true,
    }
}

fn tagged_of(row: &Value) -> Tagged {
    let change = |by: &str| {
        let number = |value: &Value| value.as_f64().expect("a number");
        let (change, ends) = (&row[by]["change"], &row[by]["ci"]);
        [number(change), number(&ends[0]), number(&ends[1])]
    };
    Tagged {
        row: row["row"].as_str().expect("a name").to_owned(),
        verdict: row["verdict"].as_str().expect("a verdict").to_owned(),
        changes: [change("deadheat"), change("hand")],
    }
}

fn page(root: &Path, data: &Path) {
    let machine = machine();
    let page = Page {
        title: "A suite of Google Benchmark against copies of itself",
        program: "google_suites",
        facts: &machine,
        quick: false,
    };
    let questions: [Question<Measured>; 3] =
        [("copies", copies), ("starts", starts), ("tags", tags)];
    if !page.write(root, &measured(data), &questions) {
        exit(1);
    }
}

struct Counts {
    rows: usize,
    called: usize,
    even: usize,
    half_width: f64,
    seconds: f64,
}

impl Counts {
    fn of(rows: &[&Row]) -> Self {
        let verdict = |wanted: &[&str]| {
            let of = |row: &&&Row| row.verdict.as_deref().is_some_and(|one| wanted.contains(&one));
            rows.iter().filter(of).count()
        };
        let half_widths: Vec<f64> = rows.iter().filter_map(|row| row.half_width).collect();
        Self {
            rows: rows.len(),
            called: verdict(&["faster", "slower"]),
            even: verdict(&["equivalent"]),
            half_width: if half_widths.is_empty() { 0.0 } else { median(half_widths) },
            seconds: rows.iter().map(|row| row.seconds).sum::<f64>() / rows.len().max(1) as f64,
        }
    }

    fn cells(&self) -> String {
        format!(
            "{} | {} | {} | {} | ±{:.1}% | {:.1}",
            self.rows,
            self.called,
            self.even,
            self.rows - self.called - self.even,
            self.half_width * 100.0,
            self.seconds
        )
    }
}

const HEAD: &str = "rows | called faster or slower | dead heats | too close to call | half-width of the interval, median | seconds a row |";

fn copies(Measured { rows, .. }: &Measured) -> Section {
    let mut groups: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.start == "fixed") {
        groups.entry((&row.library, &row.links)).or_default().push(row);
    }
    let mut text = String::from(
        "## Copies\n\n\
         The benchmarks of rapidfuzz-cpp (`fuzz`, and the string pairs of `lcs` and `levenshtein`) \
         were built twice from one source, and the two builds raced at default settings. So every \
         row called faster or slower is a false positive. The links are *neutral*, or *linked* as \
         built (`--placement own`).\n\n",
    );
    let _ = writeln!(
        text,
        "| Google Benchmark | links | {HEAD}\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut bars = Vec::new();
    for ((library, links), rows) in groups {
        let counts = Counts::of(&rows);
        let _ = writeln!(text, "| {library} | {links} | {} |", counts.cells());
        let what = format!("{library}, {links}");
        bars.push(Bar::false_verdicts(
            format!("{what}: copies called faster or slower"),
            counts.called,
            counts.rows,
        ));
        let of_all = format!("{what}: dead heats");
        bars.push(Bar::share(of_all, counts.even, counts.rows, DEAD_HEATS));
    }
    let busy = rows.iter().filter(|row| row.is_busy).count();
    let _ = writeln!(
        text,
        "\n\
         During the races of {busy} of the {} rows of this page, the other core compiled and ran \
         tests. The speed of a core differed by 10 to 20% (standard deviation) from one launch to \
         the next, even on an otherwise idle machine. The intervals are wide because the launches \
         differed so much.\n",
        rows.len()
    );
    Section { text, bars }
}

fn starts(Measured { rows, .. }: &Measured) -> Section {
    // Of one library, so that the rows are alike.
    let library = rows.iter().find(|row| row.start == "again").map(|row| &row.library);
    let mut text = String::from(
        "## Programs that restart themselves\n\n\
         Since 1.9.3, Google Benchmark restarts the program to turn off address randomisation. On \
         neutral links, there are therefore three ways to start the program. deadheat uses the \
         first way; builds of deadheat modified for this test measured the other two. The three \
         ways raced in turns, pass by pass, on the rows of the section above.\n\n",
    );
    let _ = writeln!(
        text,
        "| the program is started | {HEAD}\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for (start, name) in STARTS {
        let of = |row: &&Row| {
            row.start == start && row.links == "neutral" && Some(&row.library) == library
        };
        let rows: Vec<&Row> = rows.iter().filter(of).collect();
        let _ = writeln!(text, "| {name} | {} |", Counts::of(&rows).cells());
    }
    text.push('\n');
    Section { text, bars: Vec::new() }
}

fn tags(Measured { tagged, .. }: &Measured) -> Section {
    let mut text = String::from(
        "## Two tags\n\n\
         deadheat raced rapidfuzz-cpp 2.2.3 against 3.0.0, which computes the longest common \
         subsequence in a band. The races compare the benchmarks of long strings, on neutral \
         links, with the head of Google Benchmark. The columns *by hand* have a check without \
         deadheat: lld linked the objects of each tag in eight orders, and `setarch -R` started \
         the two programs of an order together on one core. *By hand* is the mean change in CPU \
         time over the eight orders, with its 95% interval.\n\n\
         | benchmark | verdict | change | 95% interval | by hand | 95% interval |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut agree = 0;
    for Tagged { row, verdict, changes } in tagged {
        let shown = changes.map(|[change, low, high]| {
            let percent = |share: f64| format!("{:+.1}%", share * 100.0);
            format!("{} | {} to {}", percent(change), percent(low), percent(high))
        });
        let _ = writeln!(text, "| {row} | {verdict} | {} | {} |", shown[0], shown[1]);
        let is_called = verdict == "faster" || verdict == "slower";
        let [_, low, high] = changes[1];
        let moved = low > 0.0 || high < 0.0;
        let same_side = (changes[0][0] < 0.0) == (changes[1][0] < 0.0);
        agree += usize::from(is_called == moved && (!is_called || same_side));
    }
    text.push('\n');
    let what = "tags: the verdict agrees with the check by hand";
    let bars = vec![Bar::share(what, agree, tagged.len(), 0.9)];
    Section { text, bars }
}
