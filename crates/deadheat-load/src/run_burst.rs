//! A burst of load: the load generator runs once, and the server is watched.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use crate::burst::Burst;
use crate::load::Load;
use crate::run_cores::{Cores, on};
use crate::run_output::{end_of, read_bounded};
use crate::run_processes::{Usage, forget_peaks};
use crate::run_server::{Server, not_started};

/// Sends one burst to a server. Errors follow the name of the side.
pub(crate) fn burst(server: &mut Server, load: &Load, cores: &Cores) -> Result<Burst, String> {
    if load.pause_idle {
        server.pause(false);
    }
    let words = server.placeholders.fill_all(&load.load);
    let words = match load.generator {
        Some(generator) => generator.adapted(words),
        None => words,
    };
    let mut command = server.load_command(&words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    forget_peaks();
    let before = Usage::now();
    let since = Instant::now();
    let mut child = on(&cores.generator, || command.spawn())
        .map_err(std::io::Error::from)
        .and_then(|started| started)
        .map_err(|problem| format!("gets no load: {}", not_started(&words[0], &problem)))?;
    let stderr = child.stderr.take();
    let errors = thread::spawn(move || stderr.map(read_bounded).unwrap_or_default());
    let stdout = child.stdout.take().map(read_bounded).unwrap_or_default();
    let status = child
        .wait()
        .map_err(|problem| format!("gets no load: {problem}"))?;
    let wall_ns = since.elapsed().as_nanos() as f64;
    let used = Usage::now().since(&before);
    let stderr = errors.join().unwrap_or_default();
    if server.has_ended() {
        return Err(format!(
            "{} during a burst{}",
            server.end(),
            server.quoted()
        ));
    }
    let printed = format!("{stdout}\n{stderr}");
    if !status.success() {
        let how = match status.signal() {
            Some(signal) => format!("was killed by signal {signal}"),
            None => format!("ended with exit code {}", status.code().unwrap_or(-1)),
        };
        let files = match printed.contains("Too many open files") {
            true => "; ulimit -n raises the limit of open files",
            false => "",
        };
        return Err(format!(
            "got a burst that failed: '{}' {how}{files}{}",
            words.join(" "),
            end_of(&printed)
        ));
    }
    let measured = Burst::read(load, [&stdout, &stderr], wall_ns, used, cores.servers.len());
    if load.pause_idle {
        server.pause(true);
    }
    measured.map_err(|why| format!("got a burst that does not count: {why}"))
}
