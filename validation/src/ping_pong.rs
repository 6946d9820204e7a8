//! Two processes that hand one byte to and fro through blocking pipes: what `cost` sets handing
//! over between workers beside.
//!
//! `ping_pong CORE` starts the other process on that core. For every number of round trips read
//! from standard input it prints how many nanoseconds a hand-over took. Without a core it is the
//! other process, which gives every byte back.

use deadheat_validation::prelude::*;
use std::io::{BufRead, Read, Write, stdin, stdout};
use std::os::fd::AsFd;

fn main() {
    match std::env::args().nth(1) {
        Some(core) => ask(&core),
        None => give_back(),
    }
}

fn ask(core: &str) {
    let own = std::env::current_exe().expect("its own path");
    let mut other = Command::new("taskset")
        .args(["-c", core])
        .arg(own)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("taskset runs");
    let mut to_it = other.stdin.take().expect("piped");
    let mut from_it = other.stdout.take().expect("piped");
    let mut byte = [0];
    for line in stdin().lock().lines() {
        let round_trips: u32 = line.expect("a line").parse().expect("a number");
        let began = Instant::now();
        for _ in 0..round_trips {
            to_it.write_all(&byte).expect("it listens");
            from_it.read_exact(&mut byte).expect("it answers");
        }
        let each = began.elapsed().as_nanos() as f64 / f64::from(round_trips) / 2.0;
        println!("{each}");
    }
    drop(to_it);
    let _ = other.wait();
}

fn give_back() {
    // Plain files: the streams of the standard library have buffers and locks.
    let open = |fd: std::os::fd::BorrowedFd<'_>| {
        let own = fd.try_clone_to_owned().expect("a descriptor");
        std::fs::File::from(own)
    };
    let (mut incoming, mut outgoing) = (open(stdin().as_fd()), open(stdout().as_fd()));
    let mut byte = [0];
    while incoming.read_exact(&mut byte).is_ok() {
        if outgoing.write_all(&byte).is_err() {
            return;
        }
    }
}
