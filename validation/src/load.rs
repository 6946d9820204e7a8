//! Other work that wants the cores.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::machine::cores;

/// A busy loop for every core, until it is dropped.
pub struct Load {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// The time that other work has the cores before anything is measured beside it.
const SETTLING: Duration = Duration::from_millis(300);

impl Load {
    /// Begins, and waits until it is as it will be.
    pub fn settled_on_every_core() -> Self {
        let load = Self::on_every_core();
        std::thread::sleep(SETTLING);
        load
    }

    pub fn on_every_core() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let busy = |_| {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                let mut count = 0_u64;
                while !over.load(Ordering::Relaxed) {
                    count = black_box(count.wrapping_add(1));
                }
            })
        };
        let threads = (0..cores()).map(busy).collect();
        Self { over, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

crate::words! {
    /// The other work of the machine.
    pub enum Condition {
        Idle = "idle",
        /// A busy loop for every core.
        Loaded = "loaded",
    }
}

/// Asks once on an idle machine and once with a busy loop for every core; says which.
pub fn in_every_weather(mut ask: impl FnMut(&str)) {
    ask("idle");
    let _load = Load::on_every_core();
    ask("loaded");
}
