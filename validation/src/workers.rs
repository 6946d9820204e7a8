//! Two workers that take turns, spoken to as docs/protocol.md says.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::programs::text;

pub const TURNS: usize = 2_000;

/// The most that handing over may take, in microseconds.
pub const HAND_OVER_US: f64 = 10.0;

pub struct Pair {
    workers: [Worker; 2],
}

/// Microseconds of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Turned {
    /// When every turn is the other's.
    pub alternating: f64,
    /// When each takes its half in a row.
    pub in_a_row: f64,
}

impl Turned {
    pub fn handing_over(self) -> f64 {
        self.alternating - self.in_a_row
    }
}

pub fn start_and_end(program: &Path) -> f64 {
    let (incoming, outgoing) = pipe().expect("a pipe");
    let began = Instant::now();
    drop(Worker::greeted(Command::new(program), incoming, outgoing));
    began.elapsed().as_secs_f64()
}

struct Worker {
    child: Child,
    requests: PipeWriter,
    replies: BufReader<PipeReader>,
    _notes: PipeReader,
}

impl Pair {
    /// Starts two processes of a program and waits until they are ready.
    pub fn start(program: &Path) -> Self {
        let (to_first, from_second) = pipe().expect("a pipe");
        let (to_second, from_first) = pipe().expect("a pipe");
        let first = Worker::start(program, to_first, from_first);
        let second = Worker::start(program, to_second, from_second);
        Self { workers: [first, second] }
    }

    /// A block of each kind.
    pub fn turned(&mut self) -> Turned {
        let alternate: Vec<usize> = (0..TURNS).map(|turn| turn % 2).collect();
        let in_a_row: Vec<usize> = (0..TURNS).map(|turn| usize::from(turn >= TURNS / 2)).collect();
        let turn = |seconds: f64| seconds / TURNS as f64 * 1e6;
        Turned { alternating: turn(self.block(&alternate)), in_a_row: turn(self.block(&in_a_row)) }
    }

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
        let mut command = Command::new("taskset");
        command.args(["-c", "0", text(program)]);
        let mut worker = Self::greeted(command, incoming, outgoing);
        let (clock, _) = deadheat::parts::engine::SampleClock::choose();
        worker.say(&json!({"prepare": {
            "benchmark": "nothing", "contender": "function", "clock": clock.to_words(),
            "cpu_overhead_ns": 0.0, "heap_bytes": 0, "stack_bytes": 0,
        }}));
        let prepared = worker.hear();
        assert!(prepared["prepared"].is_object(), "{prepared}");
        worker
    }

    fn greeted(mut command: Command, incoming: PipeReader, outgoing: PipeWriter) -> Self {
        let (requests_end, requests) = pipe().expect("a pipe");
        let (replies, replies_end) = pipe().expect("a pipe");
        let (notes, notes_end) = pipe().expect("a pipe");
        let theirs = [requests_end.as_raw_fd(), replies_end.as_raw_fd(), notes_end.as_raw_fd()];
        let baton = [incoming.as_raw_fd(), outgoing.as_raw_fd()];
        let numbers =
            |fds: &[RawFd]| fds.iter().map(RawFd::to_string).collect::<Vec<_>>().join(",");
        theirs.iter().chain(&baton).for_each(|fd| keep_open(*fd, true));
        let child = command
            .env("DEADHEAT_WORKER", numbers(&theirs))
            .env("DEADHEAT_BATON", numbers(&baton))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the worker starts");
        theirs.iter().chain(&baton).for_each(|fd| keep_open(*fd, false));
        let mut worker = Self { child, requests, replies: BufReader::new(replies), _notes: notes };
        let hello = worker.hear();
        assert_eq!(hello["hello"]["protocol"], 2, "{hello}");
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

fn keep_open(fd: RawFd, kept: bool) {
    let flags = if kept { 0 } else { libc::FD_CLOEXEC };
    // SAFETY: plain system call on a descriptor that is open here.
    let set = unsafe { libc::fcntl(fd, libc::F_SETFD, flags) };
    assert_eq!(set, 0, "descriptor {fd}");
}
