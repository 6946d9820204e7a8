//! kill -9 of a race, at random moments.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deadheat_validation::bars::Section;
use deadheat_validation::programs::text;

use crate::Setting;
use crate::victim::{at_once, left_behind, limited, marked, run, section};

/// Kills of each kind of race.
const KILLS: usize = 200;

/// Races at the same time.
const AT_ONCE: usize = 4;

/// A race is killed at most this long after its start, or after its first block.
const LATEST_MS: usize = 700;

/// A race without a block is killed after this time.
const FIRST_BLOCK: Duration = Duration::from_secs(20);

/// A race of a function with itself.
const NEVER_SETTLED: &str = "itself/1 ns/00";

/// A kind of race: its name, and the words that begin it.
type Kind = (&'static str, Vec<String>);

/// The moment of a kill.
#[derive(Clone, Copy)]
enum Moment {
    /// This many milliseconds after the start.
    AfterStart(u64),
    /// This many milliseconds after the first block was written.
    AfterFirstBlock(u64),
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Moment::AfterStart(ms) => write!(f, "{ms} ms after the start"),
            Moment::AfterFirstBlock(ms) => write!(f, "{ms} ms after the first block"),
        }
    }
}

fn kinds(setting: &Setting) -> Vec<Kind> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let suite = setting.shop.own("suite");
    let copy = setting.shop.scratched("copy");
    fs::copy(&suite, &copy).expect("a copy");
    // Neither a difference nor its absence is ever called.
    let endless = ["--max-replicates", "3000", "--alpha", "1e-60"];
    let endless = [&endless[..], &["--margin", "0.0001%"]].concat();
    let commands = ["run", "-S", "sh", "--max-replicates", "40", "--"];
    let commands = words(&[&commands[..], &["sleep 0.010 & wait", "sleep 0.013"]].concat());
    let race = |sides: &[&str]| words(&[&["bench"], &endless[..], sides].concat());
    let functions = race(&[text(&suite), NEVER_SETTLED]);
    let builds = race(&[text(&suite), text(&copy), NEVER_SETTLED]);
    let mut kinds = vec![("commands", commands), ("functions", functions), ("two builds", builds)];
    if Path::new("/usr/include/benchmark/benchmark.h").exists() {
        let libraries = ["-DPERCENT=0", "-lbenchmark", "-lpthread"];
        let google = setting.shop.compile("exact.cpp", "google", &libraries, false);
        let race = race(&[text(&google), text(&google), "Multiplying/1000"]);
        kinds.push(("Google Benchmark", race));
    }
    kinds
}

/// After each no process is left, the record can be read, and the race can be taken up and ends as
/// is known beforehand.
pub fn kills(setting: &Setting) -> Section {
    let mut random = setting.random(1);
    let mut told = Vec::new();
    for (what, race) in kinds(setting) {
        let kills = 0..setting.shop.count(KILLS, 3);
        let kills: Vec<(usize, Moment)> = kills
            .map(|number| {
                let ms = random.index_below(LATEST_MS) as u64;
                let is_early = number % 2 == 0;
                (
                    number,
                    if is_early { Moment::AfterStart(5 + ms) } else { Moment::AfterFirstBlock(ms) },
                )
            })
            .collect();
        let under_way = AtomicUsize::new(0);
        let mut outcome = at_once(AT_ONCE, &kills, |(number, moment)| {
            let folder = setting.shop.scratched(&format!("killed-{what}-{number}"));
            fs::create_dir_all(&folder).expect("a folder");
            let (finding, blocks) = killed(setting, &folder, &race, *moment);
            under_way.fetch_add(usize::from(blocks > 0), Ordering::Relaxed);
            let _ = fs::remove_dir_all(&folder);
            (moment.to_string(), finding)
        });
        let under_way = under_way.into_inner();
        if under_way == 0 {
            outcome.add("all", Some("no race had a block on disk".to_owned()));
        }
        told.push((format!("{what}, {under_way} of them with blocks on disk"), outcome));
    }
    section(
        "kill -9 at random moments",
        "Only deadheat itself is killed: half of the races 5 to 705 ms after their start, the other \
         half up to 700 ms after they wrote their first block. After the kill, no process may be \
         left, a run file with a complete block must be readable, one without must be refused with \
         exit code 4, and `--resume` continues the race. The right verdict on the complete race of \
         commands is known, and the resumed race must end with this verdict. A resumed race of a \
         function against itself must grow by the requested replicates, without a verdict of \
         slower.",
        &told,
    )
}

/// Kills a race; returns the finding, if there is one, and the number of blocks on disk.
fn killed(
    setting: &Setting,
    folder: &Path,
    race: &[String],
    moment: Moment,
) -> (Option<String>, usize) {
    let record = folder.join("run.jsonl");
    let mark = format!("{}-{}", std::process::id(), text(folder));
    let mut words: Vec<&str> = race.iter().map(String::as_str).collect();
    words.splice(1..1, ["--save", text(&record), "--seed", "7"]);
    let mut child = marked(setting, folder, &mark, &words).spawn().expect("it starts");
    let ms = match moment {
        Moment::AfterStart(ms) => ms,
        Moment::AfterFirstBlock(ms) => {
            let began = Instant::now();
            while blocks(&record) == 0 && began.elapsed() < FIRST_BLOCK {
                thread::sleep(Duration::from_millis(2));
            }
            ms
        }
    };
    thread::sleep(Duration::from_millis(ms));
    let _ = child.kill();
    let _ = child.wait();
    let on_disk = blocks(&record);
    let left = left_behind(&mark);
    if !left.is_empty() {
        return (Some(format!("left behind: {}", left.join(", "))), on_disk);
    }
    if !fs::metadata(&record).is_ok_and(|about| about.len() > 0) {
        return (None, on_disk);
    }
    let finding = readable(setting, folder, &record);
    let finding = finding.or_else(|| taken_up(setting, folder, &record, &race[0]));
    (finding, on_disk)
}

/// The complete blocks on disk.
fn blocks(record: &Path) -> usize {
    let text = fs::read_to_string(record).unwrap_or_default();
    let complete = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    complete.filter(|line| line.starts_with("{\"block\"")).count()
}

/// A killed race has nothing to analyze before its first complete block, and must say so.
fn readable(setting: &Setting, folder: &Path, record: &Path) -> Option<String> {
    let allowed: &[i32] = if blocks(record) > 0 { &[0, 3] } else { &[4] };
    run(limited(&setting.shop.deadheat, folder, None, &[], &["analyze", text(record)]))
        .finding(allowed)
}

fn taken_up(setting: &Setting, folder: &Path, record: &Path, command: &str) -> Option<String> {
    if !fs::read(record).expect("a record").contains(&b'\n') {
        return None;
    }
    let before = blocks(record);
    let rules: &[&str] = match command {
        "run" => &["--fail-on", "slower"],
        // Its gate has nothing to judge: at this level no verdict is ever reached.
        _ => &["--fail-on", "slower", "--allow-unjudged", "--max-replicates", "2"],
    };
    let words = [&[command, "--resume", text(record)], rules].concat();
    let resumed = run(marked(setting, folder, "resumed", &words));
    let expected = match command {
        // Slower it is, by 30%.
        "run" => 1,
        _ => 0,
    };
    resumed.finding(&[expected]).or_else(|| {
        let grown = command == "run" || blocks(record) > before;
        (!grown).then(|| "taken up, and not one block more".to_owned())
    })
}
