//! The speed at which a run file is written and read on this machine, and the memory that reading
//! takes.
//!
//! ```text
//! cargo run --release -p deadheat-format --example speed [samples] [columns]
//! ```

use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_format::{RunFileWriter, read_run};
use deadheat_model::{BlockRecord, Design, Metric, RecordSink, RunHeader, Sample, Workload};
use deadheat_testing::runs::{self, benchmark, contenders, design, one_look, sample};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| {
        arguments
            .next()
            .map_or(default, |n| n.parse().expect("a number"))
    };
    let (samples, columns): (usize, usize) = (number(1_000_000), number(13));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");

    let spent = write(&path, samples / 4, columns);
    let bytes = std::fs::metadata(&path).expect("the run file").len();
    println!(
        "write: {:.2} µs per block",
        spent.as_secs_f64() * 1e6 / (samples / 4) as f64
    );
    println!("file: {:.1} MB", bytes as f64 / 1e6);

    let before = peak_memory();
    for repetition in 0..5 {
        let start = Instant::now();
        let run = read_run(&path).expect("a readable run");
        println!("read: {:.3} s", start.elapsed().as_secs_f64());
        assert_eq!(run.benchmarks[0].samples().len(), samples / 4 * 4);
        // Later repetitions find memory that earlier ones gave back.
        if let (0, Some(before), Some(after)) = (repetition, before, peak_memory()) {
            println!("memory to read it: {:.1} MB", (after - before) as f64 / 1e3);
        }
    }
}

fn write(path: &Path, blocks: usize, columns: usize) -> Duration {
    let mut sink = RunFileWriter::create(path, &header(columns)).expect("a new run file");
    let mut record = BlockRecord::default();
    let mut spent = Duration::ZERO;
    for block in 0..blocks {
        record.replicate = (block / 25) as u32;
        record.index = (block % 25) as u32;
        record.primed = block % 2 == 0;
        record.elapsed_ns = block as u64 * 4_000_000;
        record.samples.clear();
        record.values.clear();
        for slot in 0..4 {
            record.samples.push(Sample {
                exit_code: Some(0),
                iterations: 700,
                ..sample(u8::from(slot == 1 || slot == 2))
            });
            let wall = 1_000_000 + (block * 7919 + slot * 31) % 100_000;
            let value = |column: usize| (wall / (column * column + 1)) as f64;
            record.values.extend((0..columns).map(value));
        }
        let start = Instant::now();
        sink.block(&record).expect("room for a block");
        spent += start.elapsed();
    }
    spent
}

fn header(columns: usize) -> RunHeader {
    let design = Design {
        blocks_per_replicate: 25,
        ..design(one_look(40))
    };
    let contenders = contenders(["a", "b"], &Workload::Recording);
    RunHeader {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        metrics: Metric::BUILT_IN[..columns].to_vec(),
        ..runs::header(design, 7, vec![benchmark("speed", contenders)])
    }
}

/// The largest resident set so far, in kB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
