//! A table behind a Mutex against one behind an RwLock, with two threads that
//! mostly read it, and with two that write as often as they read.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::thread;

use deadheat_examples::locks::{MutexTable, RwLockTable, Table};

/// Entries of the table.
const SIZE: u64 = 1_000;
/// Reads and writes of each thread in one call.
const OPERATIONS: u32 = 5_000;

/// The state that the threads share: both tables, and where their draws begin.
struct Shared {
    mutex: MutexTable,
    rw_lock: RwLockTable,
    seed: u64,
}

impl Shared {
    fn new(seed: u64) -> Self {
        Self {
            mutex: MutexTable::new(SIZE),
            rw_lock: RwLockTable::new(SIZE),
            seed,
        }
    }

    /// Every thread has operations of its own, the same ones in every call.
    fn operate(&self, table: &impl Table, reads_per_write: u32) -> u64 {
        let mut thread = DefaultHasher::new();
        thread::current().id().hash(&mut thread);
        table.mixed(self.seed ^ thread.finish(), reads_per_write, OPERATIONS)
    }
}

fn main() {
    deadheat::main(|suite| {
        suite.sweep("table", "reads per write", [99, 1], |benchmark, reads| {
            benchmark
                .items(u64::from(OPERATIONS))
                .threads(2)
                .input(Shared::new)
                .baseline("Mutex", move |shared| shared.operate(&shared.mutex, reads))
                .candidate("RwLock", move |shared| {
                    shared.operate(&shared.rw_lock, reads)
                });
        });
    });
}
