//! A burst of load: the load generator runs once, and the server is watched.

use crate::burst::Burst;
use crate::load::Load;
use crate::run_command::{Running, ended};
use crate::run_cores::Cores;
use crate::run_output::end_of;
use crate::run_processes::{Usage, forget_peaks};
use crate::run_server::{Server, not_started};

/// Sends one burst to a server. An error is the rest of a sentence that begins with the name of the
/// side, as in "'new' ended with exit code 1 during a burst".
pub(crate) fn burst(server: &mut Server, load: &Load, cores: &Cores) -> Result<Burst, String> {
    if load.pause_idle {
        server.pause(false);
    }
    let words = server.placeholders.fill_all(&load.load);
    let words = match load.generator {
        Some(generator) => generator.adapted(words),
        None => words,
    };
    // Reaps the first process of a server that went into the background, before CPU times are read.
    if server.has_ended() {
        return Err(format!(
            "{} before a burst{}",
            server.end(),
            server.quoted()
        ));
    }
    forget_peaks();
    let before = Usage::now();
    let no_load =
        |why: String| format!("got no load, because the load command could not run: {why}");
    let mut command = server.command(&words);
    // Some generators print numbers as the locale wants them.
    let all = std::env::var_os("LC_ALL");
    if let Some(all) = all.filter(|all| !all.is_empty()) {
        command.env_remove("LC_ALL").env("LANG", all);
    }
    command.env("LC_NUMERIC", "C");
    let mut running = Running::start(&mut command, &cores.generator)
        .map_err(|problem| no_load(not_started(&words[0], &problem)))?;
    let (status, wall) = running
        .wait()
        .map_err(|problem| no_load(problem.to_string()))?;
    running.end_rest();
    let has_ended = server.has_ended();
    let used = Usage::now().since(&before);
    let [stdout, stderr] = running.output();
    let wall_ns = wall.as_nanos() as f64;
    if has_ended {
        return Err(format!(
            "{} during a burst{}",
            server.end(),
            server.quoted()
        ));
    }
    let printed = format!("{stdout}\n{stderr}");
    if !status.success() {
        let how = ended(status);
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
    server.rest();
    if load.pause_idle {
        server.pause(true);
    }
    measured.map_err(|why| format!("got a burst that is invalid: {why}"))
}
