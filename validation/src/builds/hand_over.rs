//! What it takes to hand over from one worker to the other on one core.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use deadheat_validation::bars::{Bar, Section, spread};
use deadheat_validation::process::median;
use serde_json::{Value, json};

use crate::{Setting, text};

/// Turns of a block.
const TURNS: usize = 2_000;
/// Microseconds.
const BAR: f64 = 10.0;

pub fn section(setting: &Setting) -> Section {
    let blocks = setting.shop.count(200, 20);
    let mut pair = Pair::start(&setting.copies);
    let alternate: Vec<usize> = (0..TURNS).map(|turn| turn % 2).collect();
    let in_a_row: Vec<usize> = (0..TURNS)
        .map(|turn| usize::from(turn >= TURNS / 2))
        .collect();
    let (mut handed, mut alone, mut difference) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..blocks {
        let turn = |seconds: f64| seconds / TURNS as f64 * 1e6;
        let (with, without) = (turn(pair.block(&alternate)), turn(pair.block(&in_a_row)));
        handed.push(with);
        alone.push(without);
        difference.push(with - without);
    }
    let cost = median(difference.iter().copied());
    Section {
        text: format!(
            "## Handing over\n\n\
             Two workers on one core take {TURNS} turns in a block, each a sample of a single call of nothing. When every turn \
             is the other's, one takes {} µs; when each takes its half in a row, {} µs. The difference is what handing over \
             takes, waking up included: {} µs. All are medians (ranges) over {blocks} blocks of each kind, alternating.\n\n",
            spread(&handed, 2),
            spread(&alone, 2),
            spread(&difference, 2),
        ),
        bars: vec![Bar::at_most(
            "handing over between two workers on one core",
            cost,
            BAR,
            2,
            "µs",
        )],
    }
}

/// Two workers with the same benchmark, spoken to as docs/protocol.md says.
struct Pair {
    workers: [Worker; 2],
}

struct Worker {
    child: Child,
    requests: PipeWriter,
    replies: BufReader<PipeReader>,
    /// Kept open: who is being called is told there.
    _notes: PipeReader,
}

impl Pair {
    fn start(program: &Path) -> Self {
        let (to_first, from_second) = pipe().expect("a pipe");
        let (to_second, from_first) = pipe().expect("a pipe");
        let first = Worker::start(program, to_first, from_first);
        let second = Worker::start(program, to_second, from_second);
        Self {
            workers: [first, second],
        }
    }

    /// Seconds that this block takes.
    fn block(&mut self, order: &[usize]) -> f64 {
        let began = Instant::now();
        for (place, worker) in self.workers.iter_mut().enumerate() {
            let turn = |turn: &usize| (*turn == place).then_some(0);
            let turns: Vec<Option<usize>> = order.iter().map(turn).collect();
            worker.say(&json!({"block": {
                "seed": 1, "iterations": 1, "turns": turns, "unrecorded": 0, "unrecorded_iterations": 1,
            }}));
        }
        for worker in &mut self.workers {
            let reply = worker.hear();
            assert!(reply["block"]["values"].is_array(), "{reply}");
        }
        began.elapsed().as_secs_f64()
    }
}

impl Worker {
    fn start(program: &Path, incoming: PipeReader, outgoing: PipeWriter) -> Self {
        let (requests_end, requests) = pipe().expect("a pipe");
        let (replies, replies_end) = pipe().expect("a pipe");
        let (notes, notes_end) = pipe().expect("a pipe");
        let theirs = [
            requests_end.as_raw_fd(),
            replies_end.as_raw_fd(),
            notes_end.as_raw_fd(),
        ];
        let baton = [incoming.as_raw_fd(), outgoing.as_raw_fd()];
        let numbers = |fds: &[RawFd]| {
            fds.iter()
                .map(RawFd::to_string)
                .collect::<Vec<_>>()
                .join(",")
        };
        theirs
            .iter()
            .chain(&baton)
            .for_each(|fd| keep_open(*fd, true));
        let child = Command::new("taskset")
            .args(["-c", "0", text(program)])
            .env("DEADHEAT_WORKER", numbers(&theirs))
            .env("DEADHEAT_BATON", numbers(&baton))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("taskset runs");
        theirs
            .iter()
            .chain(&baton)
            .for_each(|fd| keep_open(*fd, false));
        let mut worker = Self {
            child,
            requests,
            replies: BufReader::new(replies),
            _notes: notes,
        };
        let hello = worker.hear();
        assert_eq!(hello["hello"]["protocol"], 2, "{hello}");
        let (clock, _) = deadheat::engine::SampleClock::choose();
        worker.say(&json!({"prepare": {
            "benchmark": "nothing", "contender": "function", "clock": clock.to_words(),
            "cpu_overhead_ns": 0.0, "heap_bytes": 0, "stack_bytes": 0,
        }}));
        let prepared = worker.hear();
        assert!(prepared["prepared"].is_object(), "{prepared}");
        worker
    }

    fn say(&mut self, request: &Value) {
        writeln!(self.requests, "{request}").expect("the worker listens");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.replies.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: '{line}'"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = writeln!(self.requests, "{}", json!({"bye": {}}));
        let _ = self.child.wait();
    }
}

/// Whether the next process started inherits a descriptor.
fn keep_open(fd: RawFd, kept: bool) {
    let flags = if kept { 0 } else { libc::FD_CLOEXEC };
    // SAFETY: plain system call on a descriptor that is open here.
    let set = unsafe { libc::fcntl(fd, libc::F_SETFD, flags) };
    assert_eq!(set, 0, "descriptor {fd}");
}
