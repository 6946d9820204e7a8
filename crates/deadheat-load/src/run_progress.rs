//! Notes for deadheat that a worker makes progress, while it starts or stops a server.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

/// Writes a note every second until it is dropped, so that deadheat does not end a worker whose
/// server takes longer to start than `--timeout`; the worker has limits of its own.
pub(crate) struct Progress {
    _ends: Option<Sender<()>>,
}

impl Progress {
    pub(crate) fn noted(notes: Option<&File>) -> Self {
        let notes = notes.and_then(|notes| notes.try_clone().ok());
        let ends = notes.map(|mut notes| {
            let (sender, receiver) = channel::<()>();
            thread::spawn(move || {
                let pause = Duration::from_secs(1);
                while receiver.recv_timeout(pause)
                    == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
                {
                    let _ = notes.write(&[0]);
                }
            });
            sender
        });
        Self { _ends: ends }
    }
}
