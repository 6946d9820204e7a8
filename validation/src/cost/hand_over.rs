//! The cost of handing over from one process to another.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use deadheat_validation::bars::{Bar, Section};
use deadheat_validation::machine::cores;
use deadheat_validation::workers::{HAND_OVER_US, Pair, TURNS};
use deadheat_validation::workshop::Workshop;

use crate::in_turns::InTurns;

pub fn section(shop: &Workshop) -> Section {
    let rounds = shop.count(200, 20);
    let ping_pong = shop.own("ping_pong");
    let mut pair = Pair::start(&shop.own("copies"));
    let mut beside = PingPong::start(&ping_pong, 0);
    let mut across = (cores() > 1).then(|| PingPong::start(&ping_pong, 1));
    let mut ways = InTurns::beside("a blocking pipe, both processes on one core", || {
        beside.hand_over()
    })
    .ours("deadheat, both workers on one core", || {
        pair.turned().handing_over()
    });
    if let Some(across) = &mut across {
        ways = ways.theirs("a blocking pipe, each process on a core of its own", || {
            across.hand_over()
        });
    }
    let measured = ways.run(rounds);
    let text = format!(
        "## Handing over\n\n\
         One byte from one process to the other, which has slept until then; µs, median (range) over {rounds} rounds of {TURNS} hand-overs, \
         the ways in turns. deadheat's is what a turn of a block takes when every turn is the other worker's, beyond what it takes \
         when each takes its half in a row: the pipe, a note that it waits, and letting the other fall asleep before the sample begins, \
         which would else happen in the middle of it.\n\n{}",
        measured.table("hand-over", "µs", 2),
    );
    Section {
        text,
        bars: vec![Bar::at_most(
            "handing over between two workers on one core",
            measured.median(1),
            HAND_OVER_US,
            2,
            "µs",
        )],
    }
}

/// Two processes that do nothing else.
struct PingPong {
    child: Child,
    /// `None` once there is nothing more to ask.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl PingPong {
    /// One on the first core, the other on this one.
    fn start(program: &Path, core: usize) -> Self {
        let mut child = Command::new("taskset")
            .args(["-c", "0"])
            .arg(program)
            .arg(core.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("taskset runs");
        Self {
            requests: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().expect("piped")),
            child,
        }
    }

    /// Microseconds of one of many hand-overs.
    fn hand_over(&mut self) -> f64 {
        let requests = self.requests.as_mut().expect("open until dropped");
        writeln!(requests, "{}", TURNS / 2).expect("it listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it answers");
        line.trim().parse::<f64>().expect("nanoseconds") / 1e3
    }
}

impl Drop for PingPong {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.child.wait();
    }
}
