//! The cost of reading and analysing a run.

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::format::read_run;
use deadheat::parts::model::{Metric, Run};
use deadheat_validation::made_run::MadeRun;
use deadheat_validation::prelude::*;

use crate::in_turns::InTurns;

pub fn section(shop: &Workshop) -> Section {
    let rounds = shop.count(21, 3);
    let made = MadeRun::new(1, shop.count(625, 25) as u32);
    let path = shop.scratched("analysed.jsonl");
    made.write(&path);
    let bytes = fs::metadata(&path).expect("the run").len();
    let read = || -> Run { read_run(&path).unwrap_or_else(|error| panic!("{error}")) };
    let run = read();
    let times = run.benchmarks[0].column(&Metric::Wall);
    let times = times.expect("a column of wall times").to_vec();
    assert_eq!(times.len(), made.samples(), "a wall time for each sample");
    let each = |began: Instant| began.elapsed().as_nanos() as f64 / made.samples() as f64;
    let only_verdicts = Options { without_figures: true, ..Options::default() };
    let reading = InTurns::beside("bare: the bytes of the file, by `read(2)`", || {
        let began = Instant::now();
        black_box(fs::read(&path).expect("the run"));
        each(began)
    })
    .ours("deadheat: all samples of the run", || {
        let began = Instant::now();
        black_box(read());
        each(began)
    })
    .run(rounds);
    let analysing =
        InTurns::beside("bare: the wall times sorted once, by the standard library", || {
            let mut sorted = times.clone();
            let began = Instant::now();
            sorted.sort_unstable_by(f64::total_cmp);
            black_box(&sorted);
            each(began)
        })
        .ours("deadheat: the verdict", || {
            let began = Instant::now();
            black_box(analyse(&run, only_verdicts));
            each(began)
        })
        .ours("deadheat: the verdict and all other figures", || {
            let began = Instant::now();
            black_box(analyse(&run, Options::default()));
            each(began)
        })
        .run(rounds);
    let text = format!(
        "## Reading and analysing a run\n\n\
         The run file is generated from a seed. It has {} samples with seven metrics each, and {} \
         bytes per sample. The times are in ns per sample, as median (range) over {rounds} rounds. \
         The methods take turns.\n\n\
         {}{}",
        made.samples(),
        bytes / made.samples() as u64,
        reading.table("reading", "ns", 1),
        analysing.table("analysing", "ns", 1),
    );
    Section { text, bars: Vec::new() }
}
