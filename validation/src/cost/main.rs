//! The cost of the engine beside the system calls and instructions it is made of.
//!
//! Writes `docs/validation/cost.md`. Takes some two minutes, on a machine that does nothing else;
//! hyperfine is set beside where it is installed.

mod analysis;
mod blocks;
mod clocks;
mod hand_over;
mod in_turns;
mod launch;
mod record;
mod replicate;
mod sample;

use deadheat::CountingAllocator;
use deadheat_validation::prelude::*;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn main() {
    let quick = is_quick();
    let machine = machine();
    let shop = Workshop::open("cost", quick);
    let page = Page {
        title: "Cost: the engine compared with bare system calls",
        program: "cost",
        facts: &machine,
        quick,
    };
    let questions: &[Question<Workshop>] = &[
        ("reading a clock", clocks::section),
        ("a sample", sample::section),
        ("handing over", hand_over::section),
        ("launching a command", launch::section),
        ("starting a replicate", replicate::section),
        ("keeping a block", record::section),
        ("reading and analysing a run", analysis::section),
    ];
    page.write(&shop.root, &shop, questions);
}
