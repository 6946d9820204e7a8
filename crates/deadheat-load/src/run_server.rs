//! A server: its start, its readiness and its end.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use deadheat::parts::model::words_of_system;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use crate::load::{Load, Ready};
use crate::placeholders::Placeholders;
use crate::run_command::{Running, ended};
use crate::run_cores::{Cores, on};
use crate::run_data::ServerFolder;
use crate::run_keeper::{FOLDER, NO_FOLDER, folder as keeper_folder};
use crate::run_output::{Log, end_of};
use crate::run_processes::{Listeners, end_all, living, reap, signal_all, wait_until_quiet};

/// The number of ports that are tried if another process takes a port before the server.
const PORTS_TRIED: u32 = 3;
/// The longest time that an attempt to reach a server may take.
const ATTEMPT: Duration = Duration::from_secs(1);
/// The longest time that a server may take to answer the request of `--ready`; then deadheat asks
/// again.
const LONGEST_REPLY: Duration = Duration::from_secs(5);

/// Variables that would send requests to local servers through a proxy.
const PROXIES: [&str; 6] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

/// A running server with its folder. All descendants of the worker count as processes of the
/// server, except commands that run for it, such as the load generator.
pub(crate) struct Server {
    main: Pid,
    ended: Option<WaitStatus>,
    /// True if the first process ended before others.
    is_in_background: bool,
    /// The number of bursts in a row after which the server was not quiet.
    restless: u32,
    log: Log,
    pub(crate) placeholders: Placeholders,
    port: u16,
    /// The cores of the load generator, on which the commands for this server run.
    cores: Vec<u32>,
    stop_signal: Signal,
    grace: Duration,
    _folder: ServerFolder,
}

/// Why a server did not start.
enum NotStarted {
    /// Another process took its port; with the last output of the server.
    PortTaken(String),
    Failed(String),
}

impl Server {
    /// Starts the server of a side and waits until it is ready. An error is the rest of a sentence
    /// that begins with the name of the side, as in "'new' was not ready within 30 s".
    pub(crate) fn start(
        load: &Load,
        parameters: &[(String, String)],
        cores: &Cores,
    ) -> Result<Self, String> {
        let mut tried = 1;
        loop {
            match Self::start_on(free_port()?, load, parameters, cores) {
                Ok(server) => return Ok(server),
                Err(NotStarted::PortTaken(_)) if tried < PORTS_TRIED => tried += 1,
                Err(NotStarted::PortTaken(printed)) => {
                    return Err(format!(
                        "did not start on any of {PORTS_TRIED} ports that were free before{printed}"
                    ));
                }
                Err(NotStarted::Failed(why)) => return Err(why),
            }
        }
    }

    fn start_on(
        port: u16,
        load: &Load,
        parameters: &[(String, String)],
        cores: &Cores,
    ) -> Result<Self, NotStarted> {
        let failed = NotStarted::Failed;
        let folder = keeper_folder()
            .map_err(|problem| failed(format!("was not started: {problem}")))?
            .join(port.to_string());
        let folder = ServerFolder::create(folder, load.data.as_deref()).map_err(failed)?;
        let placeholders = Placeholders::new(parameters)
            .with("port", port)
            .with("socket", folder.socket().display())
            .with("data", folder.data().display());
        let words = placeholders.fill_all(&load.server);
        let awaited = match &load.ready {
            Ready::Log(regex) => Some(regex),
            _ => None,
        };
        let log = Log::awaiting(awaited);
        let mut command = command(&words, port);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = on(&cores.servers, || command.spawn())
            .map_err(std::io::Error::from)
            .and_then(|started| started)
            .map_err(|problem| {
                failed(format!(
                    "was not started: {}",
                    not_started(&words[0], &problem)
                ))
            })?;
        follow(&mut child, &log);
        let mut server = Self {
            main: Pid::from_raw(child.id().cast_signed()),
            ended: None,
            is_in_background: false,
            restless: 0,
            log,
            placeholders,
            port,
            cores: cores.generator.clone(),
            stop_signal: load.stop_signal,
            grace: load.grace,
            _folder: folder,
        };
        server.wait_until_ready(load)?;
        server.check_port(load)?;
        if let Some(pid) = living()
            .into_iter()
            .find(|pid| kill(*pid, None) == Err(Errno::EPERM))
        {
            return Err(failed(format!(
                "was not raced: process {pid} belongs to another user, as with sudo, so deadheat could \
                 not stop it"
            )));
        }
        server.reset(load).map_err(failed)?;
        Ok(server)
    }

    fn wait_until_ready(&mut self, load: &Load) -> Result<(), NotStarted> {
        let end = Instant::now() + load.ready_timeout;
        let mut pause = Duration::from_millis(2);
        loop {
            let last = match self.is_ready(&load.ready, end) {
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            if self.has_ended() {
                // The thread that reads its output may be behind.
                sleep(Duration::from_millis(20));
                if Listeners::now().is_taken(self.port) || self.log.says("in use") {
                    return Err(NotStarted::PortTaken(self.log.quoted()));
                }
                return Err(NotStarted::Failed(format!(
                    "{} before it was ready{}",
                    self.end(),
                    self.log.quoted()
                )));
            }
            if Instant::now() >= end {
                let ports = Listeners::now().own();
                let elsewhere = match &ports[..] {
                    [] => String::new(),
                    ports if ports.contains(&self.port) => String::new(),
                    ports => format!(
                        "; it listens on {} instead of {}, the port that deadheat chose: write \
                         {{port}} in its command, or let it read the variable PORT",
                        list(ports),
                        self.port
                    ),
                };
                return Err(NotStarted::Failed(format!(
                    "was not ready within {:?} (--ready-timeout): {last}{elsewhere}{}",
                    load.ready_timeout,
                    self.log.quoted()
                )));
            }
            sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }

    fn is_ready(&self, ready: &Ready, end: Instant) -> Result<(), String> {
        let fill = |text: &str| self.placeholders.fill(text);
        match ready {
            Ready::Http { authority, path } => {
                let left = end.saturating_duration_since(Instant::now());
                let limit = left.clamp(ATTEMPT, LONGEST_REPLY);
                http(&fill(authority), &fill(path), limit)
            }
            Ready::Tcp(port) => {
                let text = fill(port);
                let port: u16 = text
                    .parse()
                    .map_err(|_| format!("'{text}' is not a port"))?;
                let local = [
                    TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), ATTEMPT),
                    TcpStream::connect_timeout(&(Ipv6Addr::LOCALHOST, port).into(), ATTEMPT),
                ];
                let is_open = local.iter().any(Result::is_ok);
                is_open
                    .then_some(())
                    .ok_or(format!("port {port} accepts no connection"))
            }
            Ready::Unix(path) => {
                let path = fill(path);
                let connected = UnixStream::connect(&path);
                connected
                    .map(|_| ())
                    .map_err(|problem| format!("{path}: {problem}"))
            }
            Ready::Log(regex) => match self.log.is_seen() {
                true => Ok(()),
                false => Err(format!("it printed nothing that '{regex}' matches")),
            },
            // The last attempt also gets a second.
            Ready::Command(words) => self.run(words, end.max(Instant::now() + ATTEMPT)),
        }
    }

    /// Refuses a server whose port belongs to another process, or that listens on another port. If
    /// `--ready` does not use the port, the server may open it a moment later.
    fn check_port(&self, load: &Load) -> Result<(), NotStarted> {
        if !load.load.iter().any(|word| word.contains("{port}")) {
            return Ok(());
        }
        let end = Instant::now() + ATTEMPT;
        loop {
            let listeners = Listeners::now();
            // The sockets of a server of another user, or in a container, are hidden.
            if listeners.is_own(self.port) || !listeners.is_complete() {
                return Ok(());
            }
            if listeners.is_taken(self.port) {
                return Err(NotStarted::PortTaken(self.log.quoted()));
            }
            if Instant::now() < end {
                sleep(Duration::from_millis(20));
                continue;
            }
            return match &listeners.own()[..] {
                [] => Ok(()),
                ports => Err(NotStarted::Failed(format!(
                    "listens on {} instead of {}, the port that deadheat chose; write {{port}} in its \
                     command, or let it read the variable PORT",
                    list(ports),
                    self.port
                ))),
            };
        }
    }

    fn reset(&self, load: &Load) -> Result<(), String> {
        if load.reset.is_empty() {
            return Ok(());
        }
        let end = Instant::now() + load.ready_timeout;
        self.run(&load.reset, end)
            .map_err(|why| format!("was not reset (--reset): {why}"))
    }

    /// Runs the command of `--ready` or `--reset`.
    fn run(&self, words: &[String], end: Instant) -> Result<(), String> {
        let words = self.placeholders.fill_all(words);
        let mut running = Running::start(&mut self.command(&words), &self.cores)
            .map_err(|problem| not_started(&words[0], &problem))?;
        let status = running
            .wait_until(end)
            .map_err(|problem| problem.to_string())?;
        let [_, stderr] = running.output();
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!(
                "'{}' {}{}",
                words.join(" "),
                ended(status),
                end_of(&stderr)
            )),
            None => Err(format!(
                "'{}' took too long (--ready-timeout)",
                words.join(" ")
            )),
        }
    }

    /// Returns true if no process of the server is left.
    pub(crate) fn has_ended(&mut self) -> bool {
        let reaped = reap(self.main);
        self.ended = self.ended.or(reaped);
        // A server may go into the background; its first process then ends.
        let is_any_left = !living().is_empty();
        self.is_in_background |= self.ended.is_some() && is_any_left;
        self.ended.is_some() && !is_any_left
    }

    /// Returns how the server ended, for a message.
    pub(crate) fn end(&self) -> String {
        match self.ended {
            _ if self.is_in_background => "ended".to_owned(),
            Some(WaitStatus::Exited(_, code)) => format!("ended with exit code {code}"),
            Some(WaitStatus::Signaled(_, signal, _)) => format!("was killed by {signal}"),
            _ => "ended".to_owned(),
        }
    }

    pub(crate) fn quoted(&self) -> String {
        self.log.quoted()
    }

    /// Returns a command that talks to this server.
    pub(crate) fn command(&self, words: &[String]) -> Command {
        command(words, self.port)
    }

    /// Waits after a burst until the server is quiet, so that it does not disturb the other server.
    pub(crate) fn rest(&mut self) {
        const LIMIT: Duration = Duration::from_millis(500);
        // Waiting again and again for a server that is never quiet would only make the race longer.
        const MOST: u32 = 3;
        if self.restless < MOST {
            let is_quiet = wait_until_quiet(LIMIT);
            self.restless = if is_quiet { 0 } else { self.restless + 1 };
        }
    }

    /// Returns true if the server still worked long after the last burst.
    pub(crate) fn is_restless(&self) -> bool {
        self.restless > 0
    }

    /// Stops or continues all processes of the server.
    pub(crate) fn pause(&self, is_paused: bool) {
        signal_all(if is_paused {
            Signal::SIGSTOP
        } else {
            Signal::SIGCONT
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.pause(false);
        if !self.has_ended() && self.ended.is_none() {
            let _ = kill(self.main, self.stop_signal);
        }
        let end = Instant::now() + self.grace;
        let mut are_all_asked = false;
        while !self.has_ended() && Instant::now() < end {
            // The shell that started the server may have ended while the server still runs.
            if self.ended.is_some() && !are_all_asked {
                signal_all(self.stop_signal);
                are_all_asked = true;
            }
            sleep(Duration::from_millis(5));
        }
        end_all();
    }
}

/// Returns the command of a server, or one that talks to it.
fn command(words: &[String], port: u16) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    let own = ["DEADHEAT_WORKER", "DEADHEAT_BATON", FOLDER, NO_FOLDER];
    for variable in PROXIES.iter().chain(&own) {
        command.env_remove(variable);
    }
    command
        .env("PORT", port.to_string())
        // Many scripts end with `kill 0`, which would also reach the worker.
        .process_group(0);
    command
}

/// Returns the reason why a program cannot be started.
pub(crate) fn not_started(program: &str, problem: &std::io::Error) -> String {
    match problem.kind() {
        std::io::ErrorKind::NotFound if !program.contains('/') => {
            format!("no program '{program}' is in PATH")
        }
        _ => format!("{program}: {}", words_of_system(problem)),
    }
}

fn follow(child: &mut Child, log: &Log) {
    if let Some(stdout) = child.stdout.take() {
        log.follow(stdout);
    }
    if let Some(stderr) = child.stderr.take() {
        log.follow(stderr);
    }
}

fn list(ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
    match ports.len() {
        1 => format!("port {}", ports[0]),
        _ => format!("ports {}", ports.join(", ")),
    }
}

/// Returns a random free port. If possible, it lies outside the range of ephemeral ports, so that no
/// outgoing connection takes it before the server does.
fn free_port() -> Result<u16, String> {
    const FIRST: u16 = 10_000;
    const LEAST: u16 = 1_000;
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ends = range.split_whitespace().map(|end| end.parse::<u16>().ok());
    let (low, high) = match (ends.next().flatten(), ends.next().flatten()) {
        (Some(low), Some(high)) => (low, high),
        _ => (32_768, 60_999),
    };
    let (first, count) = match (low.saturating_sub(FIRST), u16::MAX - high) {
        (below @ LEAST.., _) => (FIRST, below),
        (_, above @ LEAST..) => (high + 1, above),
        _ => (FIRST, u16::MAX - FIRST),
    };
    for _ in 0..100 {
        let random = RandomState::new().build_hasher().finish();
        let port = first + (random % u64::from(count)) as u16;
        let is_free = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok();
        // A machine without IPv6 refuses the address, not the port.
        let other = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).map_err(|error| error.kind());
        if is_free && other.err() != Some(std::io::ErrorKind::AddrInUse) {
            return Ok(port);
        }
    }
    Err("was not started: no port is free".to_owned())
}

/// Sends a request and reads the first line of the reply.
fn http(authority: &str, path: &str, limit: Duration) -> Result<(), String> {
    let with_port = match authority.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_ok() => authority.to_owned(),
        _ => format!("{authority}:80"),
    };
    let addresses = with_port.to_socket_addrs();
    let addresses = addresses.map_err(|problem| format!("{authority}: {problem}"))?;
    let mut last = format!("{authority} has no address");
    for address in addresses {
        let mut stream = match TcpStream::connect_timeout(&address, ATTEMPT) {
            Ok(stream) => stream,
            Err(problem) => {
                last = format!("http://{authority}{path}: {problem}");
                continue;
            }
        };
        let _ = stream.set_read_timeout(Some(limit));
        let _ = stream.set_write_timeout(Some(limit));
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
        let mut reply = Vec::new();
        let sent = stream.write_all(request.as_bytes());
        let read = sent.and_then(|()| read_line(&mut stream, &mut reply, limit));
        let reply = String::from_utf8_lossy(&reply);
        let first = reply.lines().next().unwrap_or_default();
        let code = first
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse::<u16>().ok());
        match code.filter(|_| first.starts_with("HTTP/")) {
            Some(code) if code < 400 => return Ok(()),
            Some(code) => last = format!("http://{authority}{path} answers with code {code}"),
            None => {
                let what = match read {
                    Ok(()) => "the reply is not HTTP".to_owned(),
                    Err(problem) if problem.kind() == std::io::ErrorKind::WouldBlock => {
                        "there was no reply".to_owned()
                    }
                    Err(problem) => problem.to_string(),
                };
                last = format!("http://{authority}{path}: {what}");
            }
        }
    }
    Err(last)
}

/// Reads the first line of a reply.
fn read_line(stream: &mut TcpStream, reply: &mut Vec<u8>, limit: Duration) -> std::io::Result<()> {
    const LONGEST: usize = 4_096;
    let end = Instant::now() + limit;
    let mut piece = [0; 512];
    while reply.len() < LONGEST && !reply.contains(&b'\n') && Instant::now() < end {
        match stream.read(&mut piece)? {
            0 => break,
            bytes => reply.extend_from_slice(&piece[..bytes]),
        }
    }
    Ok(())
}
