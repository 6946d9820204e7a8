//! The cost of handing over from one process to another.

use deadheat_validation::prelude::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use deadheat_validation::workers::{HAND_OVER_US, Pair, TURNS};

use crate::in_turns::InTurns;

pub fn section(shop: &Workshop) -> Section {
    let rounds = shop.count(200, 20);
    let ping_pong = shop.own("ping_pong");
    let mut pair = Pair::start(&shop.own("copies"));
    let mut beside = PingPong::start(&ping_pong, 0);
    let mut across = (cores() > 1).then(|| PingPong::start(&ping_pong, 1));
    let mut ways =
        InTurns::beside("a blocking pipe, both processes on one core", || beside.hand_over())
            .ours("deadheat, both workers on one core", || pair.turned().handing_over());
    if let Some(across) = &mut across {
        ways = ways.theirs("a blocking pipe, each process on its own core", || across.hand_over());
    }
    let measured = ways.run(rounds);
    let text = format!(
        "## Hand-over\n\n\
         In a hand-over, one process sends a byte to another process, which sleeps until the byte \
         arrives. The times are in µs per hand-over, as median (range) over {rounds} rounds of \
         {TURNS} hand-overs. The methods take turns.\n\n\
         For deadheat, two workers run the same block in two ways: in one, the workers alternate; \
         in the other, each worker takes its half of the block in a row. deadheat's figure is the \
         difference between the two times of a turn. This figure covers the passing of the turn \
         through the pipe, a byte that tells deadheat that the worker has no turn, and the time until \
         the other worker sleeps. A sample begins only when the \
         other worker sleeps, so that the other worker does not fall asleep during the \
         sample.\n\n\
         {}",
        measured.table("hand-over", "µs", 2),
    );
    Section {
        text,
        bars: vec![Bar::at_most(
            "hand-over between two workers on one core",
            measured.median(1),
            HAND_OVER_US,
            2,
            "µs",
        )],
    }
}

struct PingPong {
    child: Child,
    /// `None` once there is nothing more to ask.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl PingPong {
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
