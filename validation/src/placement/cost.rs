//! The cost of neutral links, beside the user's own.

use deadheat_validation::prelude::*;
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};

use crate::Setting;
use crate::linked::{Linked, cargo};

/// The most that a neutral link may cost, in own ones.
const RATIO: f64 = 1.3;

const BATCH: u32 = 6;

const LINKS: u32 = 40;
const LINKS_SECONDS: f64 = 10.0;
const CACHED_SECONDS: f64 = 0.3;

/// The upper half of all seeds: far from what any race asks for.
const UNUSED_SEEDS: u32 = 1 << 31;

pub fn section(setting: &Setting) -> Section {
    let own = OwnLink::of(setting);
    let linked = Linked::plainly(setting);
    let megabytes =
        std::fs::metadata(&linked.executable).map_or(0.0, |metadata| metadata.len() as f64 / 1e6);
    // Other seeds in every run: those of the last one are cached.
    let anywhere = RandomState::new().hash_one("seeds") as u32 >> 2;
    let mut seeds = UNUSED_SEEDS + anywhere..;
    let mut some = |count: u32| -> Vec<u32> { seeds.by_ref().take(count as usize).collect() };

    let rounds = setting.count(15, 3);
    // The first of each meets cold caches of the system.
    own.link(false);
    answered(&linked, &some(1), false);
    let own_batch = || (0..BATCH).map(|_| own.link(true)).sum();
    let in_batches = in_turns(rounds, || answered(&linked, &some(BATCH), true), own_batch);
    let beside_itself = || {
        let mut command = linked.placements(some(BATCH).into_iter());
        command.arg("--beside").arg(&linked.executable);
        let (seconds, text) = answered_by(&command, BATCH as usize, true);
        assert!(text.contains(r#""matched":true"#), "{text}");
        seconds
    };
    let matched = in_turns(rounds, beside_itself, own_batch);
    let alone = in_turns(rounds, || answered(&linked, &some(1), false), || own.link(false));

    let races = setting.count(3, 1);
    let (mut fresh, mut cached) = (Vec::new(), Vec::new());
    for _ in 0..races {
        let seeds = some(LINKS);
        fresh.push(answered(&linked, &seeds, false));
        cached.push(answered(&linked, &seeds, false));
    }
    told(&Costs { megabytes, in_batches, matched, alone, fresh, cached })
}

struct Costs {
    megabytes: f64,
    in_batches: Vec<f64>,
    matched: Vec<f64>,
    alone: Vec<f64>,
    /// Seconds for all links of a race.
    fresh: Vec<f64>,
    cached: Vec<f64>,
}

fn told(costs: &Costs) -> Section {
    let mut text = format!(
        "## What neutral links cost\n\n\
         This section compares the time to make neutral links with the time of the user's own \
         link. The program is the one of all races below, with the standard library, {:.1} MB. The \
         user's own link repeats the command with which rustc called the linker driver. The \
         program `cargo-deadheat placements` makes the neutral links, with new seeds; their time \
         is from the start of this program to its exit. In each round, neutral links and own links \
         take turns. The last column has the median (range) over the rounds. The rows are:\n\n\
         - *{BATCH} neutral links*: a race requests {BATCH} links before its first interim \
         analysis, and some more links before each later analysis. In this row, one core makes all \
         {BATCH} links of each kind, one after the other, so that a second core does not help.\n\
         - *{BATCH} matched links*: the same for matched links. Both sides are the same \
         executable, so every function has a counterpart and no function needs padding.\n\
         - *{LINKS} neutral links*: what a race of 40 replicates needs, with new seeds, on {} \
         cores.\n\
         - *repeated*: the same seeds requested again.\n\n\
         | what | rounds | |\n| --- | --- | --- |\n",
        costs.megabytes,
        cores()
    );
    let _ = writeln!(
        text,
        "| {BATCH} neutral links / {BATCH} of the user's own, one core | {} | {} |",
        costs.in_batches.len(),
        plain_spread(&costs.in_batches, 3)
    );
    let _ = writeln!(
        text,
        "| {BATCH} matched links / {BATCH} of the user's own, one core | {} | {} |",
        costs.matched.len(),
        plain_spread(&costs.matched, 3)
    );
    let _ = writeln!(
        text,
        "| a single neutral link / the user's own link, {} cores | {} | {} |",
        cores(),
        costs.alone.len(),
        plain_spread(&costs.alone, 3)
    );
    let _ = writeln!(
        text,
        "| {LINKS} neutral links, seconds | {} | {} |",
        costs.fresh.len(),
        spread(&costs.fresh, 2)
    );
    let _ = writeln!(
        text,
        "| … repeated, seconds | {} | {} |\n",
        costs.cached.len(),
        spread(&costs.cached, 3)
    );
    let ratio = median(costs.in_batches.iter().copied());
    let matched = median(costs.matched.iter().copied());
    let bars = vec![
        Bar::told(
            format!("{BATCH} neutral links / {BATCH} of the user's own, median"),
            format!("at most {RATIO}"),
            up(ratio, 3),
            ratio <= RATIO,
        ),
        Bar::told(
            format!("{BATCH} matched links / {BATCH} of the user's own, median"),
            format!("at most {RATIO}"),
            up(matched, 3),
            matched <= RATIO,
        ),
        Bar::at_most(
            format!("{LINKS} neutral links on {} cores, longest", cores()),
            longest(&costs.fresh),
            LINKS_SECONDS,
            2,
            "s",
        ),
        Bar::at_most("… repeated, longest", longest(&costs.cached), CACHED_SECONDS, 3, "s"),
    ];
    Section { text, bars }
}

fn longest(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(0.0, f64::max)
}

fn in_turns(
    rounds: usize,
    mut neutral: impl FnMut() -> f64,
    mut own: impl FnMut() -> f64,
) -> Vec<f64> {
    let round = |round: usize| {
        if round.is_multiple_of(2) {
            let neutral = neutral();
            neutral / own()
        } else {
            let own = own();
            neutral() / own
        }
    };
    (0..rounds).map(round).collect()
}

/// Seconds until all these seeds are answered with a link.
fn answered(linked: &Linked, seeds: &[u32], one_core: bool) -> f64 {
    answered_by(&linked.placements(seeds.iter().copied()), seeds.len(), one_core).0
}

/// Seconds until a request is answered with so many links, and the answer.
fn answered_by(request: &Command, links: usize, one_core: bool) -> (f64, String) {
    let mut command = on(one_core, request);
    let start = Instant::now();
    let output = command.output().expect("links can be asked for");
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let placed = text.lines().filter(|line| line.starts_with("{\"placed\""));
    assert_eq!(placed.count(), links, "{text}");
    (seconds, text)
}

fn on(one_core: bool, command: &Command) -> Command {
    let mut kept = if one_core {
        let mut taskset = Command::new("taskset");
        taskset.args(["-c", "0"]).arg(command.get_program());
        taskset
    } else {
        Command::new(command.get_program())
    };
    kept.args(command.get_args()).stdin(Stdio::null());
    kept
}

struct OwnLink {
    command: String,
    output: PathBuf,
}

impl OwnLink {
    fn of(setting: &Setting) -> Self {
        let rustc = ["--print", "link-args", "-C", "save-temps"];
        // A folder of its own: what is left behind there is in nobody's way.
        let target = setting.scratch.join("own-link");
        let mut words: Vec<&OsStr> =
            ["--quiet", "--profile", "bench", "--target-dir"].map(OsStr::new).to_vec();
        words.push(target.as_os_str());
        words.push(OsStr::new("--"));
        words.extend(rustc.map(OsStr::new));
        let output =
            cargo(setting, "rustc", &words).stderr(Stdio::inherit()).output().expect("cargo runs");
        assert!(output.status.success(), "cargo rustc failed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let command = text.lines().find(|line| line.contains(" \"-o\" "));
        let output = setting.scratch.join("linked");
        let command = command.expect("rustc says how it links");
        Self { command: with_output(command, &output.display().to_string()), output }
    }

    fn link(&self, one_core: bool) -> f64 {
        let _ = std::fs::remove_file(&self.output);
        let mut shell = Command::new("sh");
        shell.args(["-c", &self.command]);
        let mut command = on(one_core, &shell);
        let start = Instant::now();
        let status = command.status().expect("sh is there");
        let seconds = start.elapsed().as_secs_f64();
        assert!(status.success() && self.output.exists(), "no own link");
        seconds
    }
}

fn with_output(command: &str, output: &str) -> String {
    let (before, after) = command.split_once(" \"-o\" \"").expect("an output");
    let (_, after) = after.split_once('"').expect("the end of a word");
    format!("{before} \"-o\" \"{output}\"{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_validation::bars::table;

    #[test]
    fn the_output_alone_is_replaced() {
        let command = "LC_ALL=\"C\" \"cc\" \"a.o\" \"-o\" \"/t/out\" \"-pie\"";
        assert_eq!(
            with_output(command, "/s/linked"),
            "LC_ALL=\"C\" \"cc\" \"a.o\" \"-o\" \"/s/linked\" \"-pie\""
        );
    }

    #[test]
    fn bars_are_about_the_median_ratio_and_the_longest_wait() {
        let costs = |ratio: f64, fresh: f64, cached: f64| Costs {
            megabytes: 3.0,
            in_batches: vec![ratio, 0.9, 9.0],
            matched: vec![ratio],
            alone: vec![1.9],
            fresh: vec![1.0, fresh],
            cached: vec![0.1, cached],
        };
        let kept = told(&costs(1.3, 10.0, 0.3));
        assert!(table(&kept.bars).contains("All 4 targets of the table below are met."));
        assert!(kept.text.contains("one core | 3 | 1.300 (0.900 to 9.000) |"));
        let missed = told(&costs(1.31, 10.1, 0.31));
        assert!(table(&missed.bars).contains("**4 of 4 targets missed.**"));
    }
}
