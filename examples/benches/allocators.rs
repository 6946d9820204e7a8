//! A tree of boxes against the same tree in an arena. The global allocator
//! counts, so that allocations are compared beside the times.

use deadheat::CountingAllocator;
use deadheat_examples::allocators::{arena_tree, boxed_tree};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn main() {
    deadheat::main(|suite| {
        suite.sweep("tree", "nodes", [100, 10_000], |benchmark, nodes| {
            benchmark
                .items(nodes)
                .input(|seed| seed)
                .baseline("boxes", move |seed| boxed_tree(*seed, nodes))
                .candidate("arena", move |seed| arena_tree(*seed, nodes))
                .check_outputs();
        });
    });
}
