//! Creates a repository with an index of many runs, to time its queries.
//!
//! ```text
//! cargo run --release -p deadheat-history --example many_runs -- FOLDER 100000
//! cd FOLDER && time deadheat history show
//! ```

use std::error::Error;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use deadheat::parts::model::{Commit, LogRatio, Metric};
use deadheat_history::{
    HistoryIndex, HistoryMachine, HistoryRace, HistoryRun, HistorySeries, INDEX_FILE,
};
use deadheat_testing::random::Stream;

/// Benchmarks of each run.
const BENCHMARKS: usize = 5;

/// Runs that are added at once.
const AT_ONCE: usize = 1_000;

/// The standard error of a race.
const SE: f64 = 0.0025;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(folder), Some(runs)) = (words.next(), words.next()) else {
        return Err("a folder, and the number of runs".into());
    };
    let (folder, runs) = (PathBuf::from(folder), runs.parse::<usize>()?);
    // Links of 1, 2, 4 … commits amount to three per commit.
    let ids = commits(&folder, runs / 3 + 2)?;
    let mut index = HistoryIndex::create(folder.join(INDEX_FILE), || false)?;
    let mut random = Stream(1);
    let mut waiting = Vec::new();
    let mut made = 0;
    'spans: for (new, id) in ids.iter().enumerate() {
        for span in (0..)
            .map(|power| 1 << power)
            .take_while(|span| *span <= new)
        {
            let old = new - span;
            if !old.is_multiple_of((span / 2).max(1)) {
                continue;
            }
            let both = [(old, &ids[old]), (new, id)];
            waiting.push(run(made, both, &mut random));
            made += 1;
            if waiting.len() == AT_ONCE || made == runs {
                index.add(&waiting)?;
                waiting.clear();
            }
            if made == runs {
                break 'spans;
            }
        }
    }
    Ok(())
}

fn time(place: usize) -> u64 {
    1_500_000_000 + 3_600 * place as u64
}

/// Creates a repository with this many empty commits, and returns their ids, the oldest first.
fn commits(folder: &PathBuf, count: usize) -> Result<Vec<String>, Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(args).current_dir(folder);
        command
    };
    git(&["init", "--quiet", "--initial-branch", "main"]).status()?;
    let mut import = git(&["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()?;
    let mut input = import.stdin.take().ok_or("git takes no input")?;
    for place in 0..count {
        let (time, subject) = (time(place), format!("change {place}"));
        write!(
            input,
            "commit refs/heads/main\ncommitter A <a@example.org> {time} +0000\ndata {}\n{subject}\n",
            subject.len()
        )?;
    }
    drop(input);
    import.wait()?;
    let listing = git(&["rev-list", "--reverse", "main"]).output()?.stdout;
    Ok(String::from_utf8(listing)?
        .lines()
        .map(str::to_owned)
        .collect())
}

fn run(number: usize, both: [(usize, &String); 2], random: &mut Stream) -> HistoryRun {
    let commit = |(place, id): (usize, &String)| Commit {
        id: id.clone(),
        committed_at: Some(time(place)),
        subject: format!("change {place}"),
    };
    let race = |benchmark: usize, effect: f64| HistoryRace {
        series: HistorySeries {
            benchmark: format!("benchmark {benchmark}"),
            parameters: Vec::new(),
            metric: Metric::Wall,
        },
        candidate: 0,
        effect: LogRatio(effect),
        se: SE,
        df: 15.0,
        replicates: 16,
        verdict: None,
        warnings: Vec::new(),
    };
    let races = (0..BENCHMARKS).map(|one| race(one, SE * random.normal()));
    HistoryRun {
        identity: format!("{number:064x}"),
        content: format!("{number:064x}"),
        length: 1,
        path: format!(".deadheat/runs/{number}.jsonl"),
        started_at: Some(time(both[1].0)),
        commits: both.map(commit),
        machine: HistoryMachine {
            name: format!("machine{}", number / 10_000),
            cpu: "a processor".to_owned(),
        },
        tool_version: "0.1.0".to_owned(),
        command: String::new(),
        selection: String::new(),
        unmeasured: 0,
        races: races.collect(),
    }
}
