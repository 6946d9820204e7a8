//! The same shared table behind two locks: one that lets a single thread in, and one that lets readers in together.
//!
//! Readers together sound faster. Whether they are depends on how many threads there are, how often one of them writes, and how long
//! one stays inside: a lock for many readers has more to keep account of.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock};

use crate::random::SplitMix64;

/// A table that threads share.
pub trait Table: Sync {
    /// The value at `key`, where there is one.
    fn read(&self, key: u64) -> Option<u64>;

    /// Puts `value` at `key`, in place of what was there.
    fn write(&self, key: u64, value: u64);

    /// The number of keys that have a value.
    fn size(&self) -> u64;

    /// The number of times the table was written to since it was made.
    fn writes(&self) -> u64;

    /// `operations` reads and writes of keys that are there, on average `reads_per_write` reads for each write; answers with a sum of
    /// all that was read.
    ///
    /// Which operations on which keys is decided by the seed, and no write allocates. To be called from several threads at once, with
    /// a seed for each of them.
    fn mixed(&self, seed: u64, reads_per_write: u32, operations: u32) -> u64 {
        let mut random = SplitMix64::new(seed);
        let size = self.size();
        let mut sum: u64 = 0;
        for _ in 0..operations {
            let key = random.below(size);
            if random.below(u64::from(reads_per_write) + 1) == 0 {
                self.write(key, random.bits());
            } else {
                sum = sum.wrapping_add(self.read(key).unwrap_or_default());
            }
        }
        sum
    }
}

/// The table that both locks protect. An ordered map, since it is the same on every run; the search
/// is what one stays inside for.
#[derive(Debug)]
struct Entries {
    values: BTreeMap<u64, u64>,
    /// Counted without atomics, by trust in the lock.
    writes: u64,
}

impl Entries {
    /// Keys 0 to `size` - 1, each with itself as its value.
    fn new(size: u64) -> Self {
        Self {
            values: (0..size).map(|key| (key, key)).collect(),
            writes: 0,
        }
    }

    fn read(&self, key: u64) -> Option<u64> {
        self.values.get(&key).copied()
    }

    fn write(&mut self, key: u64, value: u64) {
        self.values.insert(key, value);
        self.writes += 1;
    }
}

/// A table behind a [`Mutex`].
#[derive(Debug)]
pub struct MutexTable {
    entries: Mutex<Entries>,
}

impl MutexTable {
    /// A table of the keys 0 to `size` - 1, each with itself as its value.
    pub fn new(size: u64) -> Self {
        Self {
            entries: Mutex::new(Entries::new(size)),
        }
    }

    /// A thread that panicked inside left nothing half done that matters here, so poison is passed over.
    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table for MutexTable {
    #[inline(never)]
    fn read(&self, key: u64) -> Option<u64> {
        self.lock().read(key)
    }

    #[inline(never)]
    fn write(&self, key: u64, value: u64) {
        self.lock().write(key, value);
    }

    fn size(&self) -> u64 {
        self.lock().values.len() as u64
    }

    fn writes(&self) -> u64 {
        self.lock().writes
    }
}

/// A table behind an [`RwLock`].
#[derive(Debug)]
pub struct RwLockTable {
    entries: RwLock<Entries>,
}

impl RwLockTable {
    /// A table of the keys 0 to `size` - 1, each with itself as its value.
    pub fn new(size: u64) -> Self {
        Self {
            entries: RwLock::new(Entries::new(size)),
        }
    }

    /// Poison is passed over, as for [`MutexTable`].
    fn share(&self) -> std::sync::RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table for RwLockTable {
    #[inline(never)]
    fn read(&self, key: u64) -> Option<u64> {
        self.share().read(key)
    }

    #[inline(never)]
    fn write(&self, key: u64, value: u64) {
        self.entries
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .write(key, value);
    }

    fn size(&self) -> u64 {
        self.share().values.len() as u64
    }

    fn writes(&self) -> u64 {
        self.share().writes
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const SIZE: u64 = 64;

    fn tables() -> [Box<dyn Table>; 2] {
        [
            Box::new(MutexTable::new(SIZE)),
            Box::new(RwLockTable::new(SIZE)),
        ]
    }

    #[test]
    fn a_new_table_holds_every_key_as_its_own_value_and_was_never_written() {
        for table in tables() {
            assert_eq!(table.size(), SIZE);
            assert_eq!(table.writes(), 0);
            assert_eq!(table.read(0), Some(0));
            assert_eq!(table.read(SIZE - 1), Some(SIZE - 1));
            assert_eq!(table.read(SIZE), None);
        }
    }

    #[test]
    fn what_was_written_is_read() {
        for table in tables() {
            table.write(3, 99);
            table.write(SIZE, 7);
            assert_eq!(table.read(3), Some(99));
            assert_eq!(table.read(SIZE), Some(7));
            assert_eq!(table.size(), SIZE + 1);
            assert_eq!(table.writes(), 2);
        }
    }

    #[test]
    fn both_tables_give_the_same_answers_to_the_same_mix() {
        let [mutex, rw_lock] = tables();
        assert_eq!(mutex.mixed(21, 9, 5_000), rw_lock.mixed(21, 9, 5_000));
        assert_eq!(mutex.writes(), rw_lock.writes());
        for key in 0..SIZE {
            assert_eq!(mutex.read(key), rw_lock.read(key));
        }
    }

    #[test]
    fn a_mix_has_about_as_many_reads_for_each_write_as_asked() {
        for table in tables() {
            table.mixed(22, 9, 10_000);
            assert!((850..1_150).contains(&table.writes()), "{}", table.writes());
            assert_eq!(table.size(), SIZE);
        }
    }

    #[test]
    fn with_no_reads_for_a_write_every_operation_writes() {
        for table in tables() {
            assert_eq!(table.mixed(23, 0, 1_000), 0);
            assert_eq!(table.writes(), 1_000);
        }
    }

    #[test]
    fn no_write_is_lost_among_threads() {
        const THREADS: u64 = 4;
        for (table, alone) in tables().into_iter().zip(tables()) {
            for seed in 0..THREADS {
                alone.mixed(seed, 3, 5_000);
            }
            let table = &table;
            thread::scope(|scope| {
                for seed in 0..THREADS {
                    scope.spawn(move || table.mixed(seed, 3, 5_000));
                }
            });
            assert_eq!(table.writes(), alone.writes());
        }
    }
}
