//! The cost of starting the process of a replicate.

use deadheat::parts::model::{FunctionCalls, Metric, Pinning, Workload};
use deadheat_engine::{FunctionContenders, FunctionOptions, Interrupts, WorkerProgram};
use deadheat_validation::bare::{BareThread, Way};
use deadheat_validation::prelude::*;
use deadheat_validation::workers::start_and_end;

use crate::blocks::{Blocks, plan};
use crate::in_turns::InTurns;

pub fn section(shop: &Workshop) -> Section {
    let rounds = shop.count(201, 20);
    let bare = BareThread::start();
    let copies = shop.own("copies");
    let interrupts = Interrupts::install().expect("signals can be taken over");
    let function = Workload::Function(FunctionCalls::default());
    let plan = plan("nothing", &[("function", function)], rounds as u32 + 1, 2);
    let options = FunctionOptions {
        program: Some(WorkerProgram {
            executable: copies.clone(),
            arguments: Vec::new(),
            directory: None,
            shown: false,
        }),
        shown: false,
        metrics: vec![Metric::Wall],
        sample_time: None,
        timeout: None,
        pinning: Pinning::Auto,
        seed: plan.seed,
        placements: None,
        callgrind: false,
        forks: false,
        budget: None,
    };
    let engine = FunctionContenders::new(options, &interrupts);
    let mut engine = engine.expect("workers can be started");
    engine.enter(&plan).expect("functions");
    let mut engine = Blocks::new(&plan, engine);
    let mut replicates = 0..;
    let measured = InTurns::beside("a bare process: `true` by `posix_spawn` and `wait4`", || {
        bare.launches(Way::Spawn, 1) / 1e3
    })
    .theirs(
        "the benchmark program, started directly as a worker and asked to exit once it reports \
         that it is ready",
        || start_and_end(&copies) * 1e3,
    )
    .ours("a replicate: end the last process; start, lay out and warm up the next", || {
        let replicate = replicates.next().expect("there is always one more");
        let [first, second] = [0, 1].map(|index| engine.run(replicate, index));
        (first - second) * 1e3
    })
    .run(rounds);
    let text = format!(
        "## Starting a replicate\n\n\
         Each replicate of functions is a fresh process. The table compares the start of such a \
         process with the start of a bare process. Times are in ms, as median (range) over \
         {rounds} rounds, in which the methods take turns. The functions do nothing, so warm-up is \
         as short as possible. The cost of a replicate is the time of its first block minus the \
         time of its second block.\n\n\
         {}",
        measured.table("process", "ms", 2),
    );
    Section { text, bars: Vec::new() }
}
