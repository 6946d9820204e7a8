//! What panics say, kept for the coordinator.

use std::any::Any;
use std::io::{PipeWriter, Write};
use std::panic::set_hook;
use std::sync::Mutex;

use super::protocol::{Problem, Reply};

/// What the last panic said, until somebody asks.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps what a panic says instead of printing it. Where a panic aborts, it is
/// the last thing this process can say.
pub(super) fn keep_panics(replies: &PipeWriter) {
    let mut stderr_tail = replies.try_clone().ok();
    if !cfg!(panic = "abort") {
        stderr_tail = None;
    }
    let stderr_tail = Mutex::new(stderr_tail);
    let before = std::panic::take_hook();
    set_hook(Box::new(move |info| {
        let message = text_of(info.payload());
        let text = match info.location() {
            Some(place) => format!("at {place}: {message}"),
            None => message.to_owned(),
        };
        if let Ok(mut pipe) = stderr_tail.lock()
            && let Some(pipe) = pipe.as_mut()
        {
            let reply = Reply::Failed {
                contender: None,
                problem: Problem::Panicked(text.clone()),
            };
            let _ = pipe.write_all(reply.to_line().as_bytes());
        }
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = Some(text);
        }
        // With --nocapture standard error is somebody's terminal.
        before(info);
    }));
}

/// What a panic said, with its place when the hook saw it.
pub(super) fn told(panic: Box<dyn Any + Send>) -> String {
    let last = LAST_PANIC.lock().ok().and_then(|mut last| last.take());
    last.unwrap_or_else(|| text_of(&*panic).to_owned())
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("with a value that is no text")
}
