//! The DevTools protocol: JSON with a zero byte behind it, both ways. Answers
//! find the call they belong to by a number; everything else is an event of a
//! session.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The time that Chromium may take for one answer. A loaded machine starts it in ten seconds.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Something Chromium told unasked.
#[derive(Clone, Debug)]
pub struct Event {
    pub method: String,
    pub params: Value,
}

/// The line to Chromium.
pub struct Messages {
    out: Mutex<(u64, Box<dyn Write + Send>)>,
    heard: Arc<Heard>,
}

#[derive(Default)]
struct Heard {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    answers: HashMap<u64, Value>,
    events: HashMap<String, Vec<Event>>,
    /// The messages on standard error of a Chromium that has hung up.
    gone: Option<String>,
    complaints: String,
}

impl Messages {
    /// Starts to listen.
    pub fn over(
        out: impl Write + Send + 'static,
        answers: impl Read + Send + 'static,
        complaints: impl Read + Send + 'static,
    ) -> Self {
        let heard = Arc::new(Heard::default());
        let also_heard = Arc::clone(&heard);
        let complaining = thread::spawn(move || {
            for line in BufReader::new(complaints).lines().map_while(Result::ok) {
                let mut state = also_heard.state.lock().unwrap();
                state.complaints.push_str(&line);
                state.complaints.push('\n');
            }
        });
        let also_heard = Arc::clone(&heard);
        thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                also_heard.sort_in(&message);
            }
            // It closed the line, so it is about to close that one too.
            let _ = complaining.join();
            let mut state = also_heard.state.lock().unwrap();
            state.gone = Some(state.complaints.clone());
            also_heard.more.notify_all();
        });
        Self {
            out: Mutex::new((0, Box::new(out))),
            heard,
        }
    }

    /// Calls a method, of a session or of the browser, and waits for the
    /// answer.
    pub fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let id = self.send(session, method, params);
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.heard.state.lock().unwrap();
        loop {
            if let Some(mut answer) = state.answers.remove(&id) {
                assert!(
                    answer.get("error").is_none(),
                    "{method}: {}",
                    answer["error"]
                );
                return answer["result"].take();
            }
            if let Some(said) = &state.gone {
                panic!(
                    "{method}: chromium is gone (Debian's package `chromium`); it said:\n{said}"
                );
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "{method}: chromium does not answer; it said:\n{}",
                state.complaints
            );
            state = self.heard.more.wait_timeout(state, left).unwrap().0;
        }
    }

    fn send(&self, session: Option<&str>, method: &str, params: Value) -> u64 {
        let mut out = self.out.lock().unwrap();
        out.0 += 1;
        let id = out.0;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        // Should it be gone, waiting for the answer tells more.
        let _ = out.1.write_all(format!("{message}\0").as_bytes());
        let _ = out.1.flush();
        id
    }

    /// Everything told to a session so far.
    pub fn events(&self, session: &str) -> Vec<Event> {
        let state = self.heard.state.lock().unwrap();
        state.events.get(session).cloned().unwrap_or_default()
    }

    /// Forgets a session.
    pub fn forget(&self, session: &str) {
        self.heard.state.lock().unwrap().events.remove(session);
    }
}

impl Heard {
    fn sort_in(&self, message: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(message) else {
            return;
        };
        let mut state = self.state.lock().unwrap();
        if let Some(id) = message["id"].as_u64() {
            state.answers.insert(id, message);
        } else if let Some(session) = message["sessionId"].as_str() {
            let event = Event {
                method: message["method"].as_str().unwrap_or_default().to_owned(),
                params: message["params"].clone(),
            };
            let session = session.to_owned();
            state.events.entry(session).or_default().push(event);
        } else {
            message.take();
        }
        self.more.notify_all();
    }
}
