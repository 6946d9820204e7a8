//! The cost of a sample beyond the calls in it.
#![allow(unsafe_code)]

use deadheat_validation::prelude::*;
use deadheat_validation::sample_cost::{SampleCost, usage_ns};

use crate::clocks::gettime;
use crate::in_turns::InTurns;

/// Pairs of readings of the account in a row.
const PAIRS: usize = 1_000;

pub fn section(shop: &Workshop) -> Section {
    let cost = SampleCost::measured(shop.count(20_000, 2_000), shop.count(21, 3));
    let rounds = shop.count(101, 11);
    let account = InTurns::beside(
        "the bare calls: `getrusage(RUSAGE_THREAD)`, `sched_getcpu`, `clock_gettime(CLOCK_THREAD_CPUTIME_ID)`, twice each",
        bare_account_ns,
    )
    .theirs("`getrusage(RUSAGE_THREAD)` alone, twice", || {
        each(|| {
            black_box(rusage());
        })
    })
    .ours("deadheat: `ThreadUsage::before` and `after`", || usage_ns(PAIRS))
    .run(rounds);
    let readings = median(cost.overheads.iter().copied());
    let text = format!(
        "## A sample\n\n\
         deadheat takes {} samples of one empty call, as in a worker. The median of these samples \
         is {} ns. Two clock readings with nothing between them take {} ns, median (range) of {} \
         measurements. So a sample itself adds {} ns, {}% of the bare readings. deadheat then \
         takes the same number of samples of a function of 25 µs. During and between these \
         samples, deadheat allocates memory {} times.\n\n\
         Before and after the timed region, the worker reads the kernel's counters of the thread: \
         CPU time, page faults, context switches and core. The next table compares such a pair of \
         readings with the bare system calls. Each method takes {PAIRS} consecutive pairs, the \
         methods take turns, and the times are median (range) over {rounds} rounds.\n\n\
         {}All work before and after an empty sample takes {} ns. None of this time counts as time \
         of the sample.\n\n",
        cost.samples,
        up(cost.shown, 2),
        spread(&cost.overheads, 2),
        cost.clocks.len(),
        up(cost.beyond(), 2),
        up(100.0 * cost.beyond() / readings, 0),
        cost.allocations_inside + cost.allocations_around,
        account.table("thread counters of a sample", "ns", 0),
        up(cost.around, 0),
    );
    Section { text, bars: cost.bars() }
}

fn bare_account_ns() -> f64 {
    each(|| {
        black_box(rusage());
        // SAFETY: takes nothing and touches no memory of ours.
        black_box(unsafe { libc::sched_getcpu() });
        black_box(gettime(libc::CLOCK_THREAD_CPUTIME_ID));
    })
}

/// Nanoseconds that two readings take, of many in a row.
fn each(read: impl Fn()) -> f64 {
    let began = Instant::now();
    for _ in 0..2 * PAIRS {
        read();
    }
    began.elapsed().as_nanos() as f64 / PAIRS as f64
}

fn rusage() -> libc::rusage {
    // SAFETY: the pointer is valid for writes; rusage is plain data, for which
    // zeros are valid.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    }
}
