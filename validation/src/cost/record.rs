//! The cost of keeping a block on disk.

use deadheat_validation::prelude::*;
use std::fs::File;

use deadheat::parts::model::{BlockRecord, RecordSink};
use deadheat_format::RunFileWriter;
use deadheat_validation::made_run::MadeRun;

use crate::in_turns::InTurns;

/// Blocks of each replicate.
const BLOCKS: u32 = 50;

pub fn section(shop: &Workshop) -> Section {
    let rounds = shop.count(51, 5);
    let run = MadeRun::new(1, BLOCKS);
    let mut blocks: Vec<BlockRecord> = Vec::new();
    run.for_each_block(|block| blocks.push(block.clone()));
    let written = shop.scratched("written.jsonl");
    run.write(&written);
    let text = fs::read_to_string(&written).expect("the run");
    // Between the header and the line of the end.
    let lines: Vec<&str> = text.split_inclusive('\n').skip(1).collect();
    let lines = &lines[..blocks.len()];
    let bytes: usize = lines.iter().map(|line| line.len()).sum();
    let path = shop.scratched("record.jsonl");
    let each = |began: Instant| began.elapsed().as_secs_f64() / blocks.len() as f64 * 1e6;
    let measured = InTurns::beside("bare: the same bytes, a `write(2)` for each block", || {
        let mut file = File::create(&path).expect("a file");
        let began = Instant::now();
        for line in lines {
            file.write_all(line.as_bytes()).expect("room for a block");
        }
        each(began)
    })
    .ours("deadheat: check a block of four samples, format it as a line, and write it", || {
        let _ = fs::remove_file(&path);
        let mut writer = RunFileWriter::create(&path, &run.header()).expect("a run file");
        let began = Instant::now();
        for block in &blocks {
            writer.block(block).expect("room for a block");
        }
        each(began)
    })
    .run(rounds);
    let text = format!(
        "## Writing a block\n\n\
         deadheat writes every block to the operating system before the next block starts. The \
         table has the cost of writing {} blocks of {:.0} bytes to a file in the temporary folder. \
         Each block has four samples of seven metrics. The times are in µs per block, as median \
         (range) over {rounds} rounds. The methods take turns.\n\n\
         {}",
        blocks.len(),
        bytes as f64 / blocks.len() as f64,
        measured.table("block", "µs", 2),
    );
    Section { text, bars: Vec::new() }
}
