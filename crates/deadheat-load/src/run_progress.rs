//! Tells deadheat, while a worker starts or stops a server, that the worker has not hung.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Writes a note at once, and then ten times a second until it is dropped, so that deadheat does not
/// end a worker whose server takes longer to start than `--timeout`; the worker has limits of its own.
pub(crate) struct Progress {
    _ends: Option<Sender<()>>,
}

impl Progress {
    pub(crate) fn noted(notes: Option<&File>) -> Self {
        let notes = notes.and_then(|notes| notes.try_clone().ok());
        let ends = notes.map(|mut notes| {
            let (sender, receiver) = channel::<()>();
            thread::spawn(move || {
                let pause = Duration::from_millis(100);
                loop {
                    let _ = notes.write(&[0]);
                    if receiver.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                        return;
                    }
                }
            });
            sender
        });
        Self { _ends: ends }
    }
}
