//! Where the time of a race goes that is not spent in samples.

use deadheat_validation::prelude::*;
use deadheat_validation::workloads::one_percent;

use crate::Setting;

struct Block {
    replicate: u64,
    elapsed_ns: f64,
    primed: bool,
    samples_ns: f64,
    samples: usize,
}

/// A race, in nanoseconds.
#[derive(Default)]
struct Account {
    elapsed: f64,
    samples: f64,
    primes: f64,
    /// Of every block that is neither primed nor the first of its process:
    /// what it takes beyond its samples.
    beyond: Vec<f64>,
    /// Of every process: until its first block is done, without the samples
    /// of that.
    starts: Vec<f64>,
}

pub fn section(setting: &Setting) -> Section {
    let races = setting.count(20, 3);
    let mut outside = Vec::new();
    let (mut in_samples, mut in_primes) = (Vec::new(), Vec::new());
    let (mut in_starts, mut between) = (Vec::new(), Vec::new());
    let (mut beyond, mut starts) = (Vec::new(), Vec::new());
    for number in 0..races {
        let run = setting.suite.race_named(&[one_percent(number)], &[]);
        let account = account(&blocks(&run.path));
        let whole = run.seconds * 1e9;
        let started: f64 = account.starts.iter().sum();
        let share = |ns: f64| ns / whole * 100.0;
        outside.push(share(whole - account.elapsed));
        in_samples.push(share(account.samples));
        in_primes.push(share(account.primes));
        in_starts.push(share(started));
        between.push(share(account.elapsed - account.samples - account.primes - started));
        beyond.extend(account.beyond.iter().map(|ns| ns / 1e3));
        starts.extend(account.starts.iter().map(|ns| ns / 1e6));
    }
    let mut text = format!(
        "## Time outside the samples\n\n\
         Two functions of about 25 µs that differ by exactly 1% raced {races} times, each race in \
         its own process, on idle cores. The table has shares of the time from cold start to exit, \
         in percent, as median (range) over the races.\n\n\
         | where | share, % |\n\
         | --- | --- |\n"
    );
    for (what, shares) in [
        ("recorded samples", &in_samples),
        ("samples that prime a block, estimated from the other samples of the block", &in_primes),
        ("starting, laying out and warming up the processes of replicates", &in_starts),
        ("between samples: hand-overs, inputs, records, interim analyses", &between),
        (
            "before the first process and after the last block: measuring the clock, the \
             calibration run, the answer",
            &outside,
        ),
    ] {
        let _ = writeln!(text, "| {what} | {} |", plain_spread(shares, 1));
    }
    let _ = writeln!(
        text,
        "\n\
         Outside its samples, a block takes {} µs, median (range) over the {} blocks that were \
         neither primed nor the first of their process. Starting a replicate takes {} ms, median \
         (range) over {} processes. In all, {}% of the time of the whole process is outside \
         recorded samples. This share includes priming.\n",
        spread(&beyond, 1),
        beyond.len(),
        spread(&starts, 2),
        starts.len(),
        plain_spread(&in_samples.iter().map(|share| 100.0 - share).collect::<Vec<_>>(), 1),
    );
    Section { text, bars: Vec::new() }
}

fn blocks(path: &Path) -> Vec<Block> {
    let text = fs::read_to_string(path).expect("a run file");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let mut wall = None;
    let mut blocks = Vec::new();
    for line in lines {
        let line: Value = line;
        if let Some(columns) = line["columns"].as_array() {
            // Before the metrics a sample says contender, flags, exit code
            // and iterations.
            wall = columns.iter().position(|column| column == "wall_ns").map(|at| at + 4);
        }
        let Some(samples) = line["samples"].as_array() else {
            continue;
        };
        let wall = wall.expect("a column of wall times");
        blocks.push(Block {
            replicate: line["block"][1].as_u64().expect("a replicate"),
            elapsed_ns: line["elapsed_ns"].as_f64().expect("a time"),
            primed: line["primed"].as_bool().expect("a word on priming"),
            samples_ns: samples.iter().filter_map(|sample| sample[wall].as_f64()).sum(),
            samples: samples.len(),
        });
    }
    blocks
}

fn account(blocks: &[Block]) -> Account {
    let mut account = Account::default();
    let mut before: Option<&Block> = None;
    for block in blocks {
        let took = block.elapsed_ns - before.map_or(0.0, |before| before.elapsed_ns);
        let prime = match block.primed {
            true => block.samples_ns / block.samples as f64,
            false => 0.0,
        };
        account.samples += block.samples_ns;
        account.primes += prime;
        let beyond = took - block.samples_ns - prime;
        if before.map(|before| before.replicate) != Some(block.replicate) {
            account.starts.push(beyond);
        } else if !block.primed {
            account.beyond.push(beyond);
        }
        before = Some(block);
    }
    account.elapsed = before.map_or(0.0, |last| last.elapsed_ns);
    account
}
