//! The processes of a server: which they are, what they use, and their end.

use std::collections::HashMap;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};

/// The time within which processes vanish after SIGKILL.
const KILLED_WITHIN: Duration = Duration::from_secs(2);

/// A process with its parent, as `/proc` shows it.
#[derive(Clone, Copy, Debug)]
struct Process {
    pid: i32,
    parent: i32,
    is_zombie: bool,
    /// CPU time of the process, in clock ticks.
    own_ticks: u64,
    /// CPU time of its children that were waited for, in clock ticks.
    children_ticks: u64,
}

/// What the processes of a server have used so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    /// The CPU time of each process, and of its children that were waited for, in nanoseconds.
    cpu_ns: HashMap<i32, [f64; 2]>,
    /// The time of each thread in which it ran or waited for a core, in nanoseconds.
    busy_ns: HashMap<(i32, i32), u64>,
    /// Voluntary and involuntary context switches of each thread.
    switches: HashMap<(i32, i32), [u64; 2]>,
    /// The sum of the peak resident set sizes of all processes.
    pub(crate) peak_rss_bytes: f64,
}

/// What was used between two readings. The peak is that of the later reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Used {
    pub(crate) cpu_ns: f64,
    /// True if processes ended and their parents did not wait for them, so that the CPU time that
    /// they used is unknown.
    pub(crate) is_incomplete: bool,
    /// The time that the busiest thread ran or waited for a core.
    pub(crate) busiest_ns: f64,
    pub(crate) switches: [f64; 2],
    pub(crate) peak_rss_bytes: f64,
}

impl Usage {
    /// Returns what all descendants of this process have used. A process that ends during the reading
    /// may be missing both from the list and from the times of its parent's children, so the reading is
    /// repeated until no process has ended meanwhile.
    pub(crate) fn now() -> Self {
        /// The maximum number of readings, for servers whose processes end all the time.
        const MOST_TRIES: u32 = 8;
        let mut last = Self::read();
        for _ in 0..MOST_TRIES {
            let next = Self::read();
            if next.has_the_processes_of(&last) {
                return next;
            }
            last = next;
        }
        last
    }

    fn has_the_processes_of(&self, other: &Self) -> bool {
        let children = |usage: &Self, pid| usage.cpu_ns.get(pid).map(|times: &[f64; 2]| times[1]);
        self.cpu_ns.len() == other.cpu_ns.len()
            && self
                .cpu_ns
                .keys()
                .all(|pid| children(self, pid) == children(other, pid))
    }

    fn read() -> Self {
        let mut usage = Self::default();
        let tick_ns = 1e9 / ticks_per_second();
        for process in descendants() {
            let clock = clock_getcpuclockid(Pid::from_raw(process.pid));
            let own = clock.ok().and_then(cpu_ns);
            // After the end of a process, its clock shows zero.
            let own = own.unwrap_or(0.0).max(process.own_ticks as f64 * tick_ns);
            // Databases and CGI servers work in child processes, which end with their connections.
            let children = process.children_ticks as f64 * tick_ns;
            usage.cpu_ns.insert(process.pid, [own, children]);
            usage.peak_rss_bytes += peak_rss(process.pid);
            for thread in numbers_in(&format!("/proc/{}/task", process.pid)) {
                let place = format!("/proc/{}/task/{thread}", process.pid);
                let key = (process.pid, thread);
                if let Some(busy) = busy_ns(&place) {
                    usage.busy_ns.insert(key, busy);
                }
                if let Some(switches) = switches(&place) {
                    usage.switches.insert(key, switches);
                }
            }
        }
        usage
    }

    /// Returns what was used since `before`. All times of a new thread count.
    pub(crate) fn since(&self, before: &Usage) -> Used {
        let busy = self.busy_ns.iter().map(|(key, now)| {
            now.saturating_sub(before.busy_ns.get(key).copied().unwrap_or(0)) as f64
        });
        let mut switches = [0.0; 2];
        for (key, now) in &self.switches {
            let then = before.switches.get(key).copied().unwrap_or_default();
            for (sum, (now, then)) in switches.iter_mut().zip(now.iter().zip(then)) {
                *sum += now.saturating_sub(then) as f64;
            }
        }
        let (cpu_ns, is_incomplete) = cpu_since(&self.cpu_ns, &before.cpu_ns);
        Used {
            cpu_ns,
            is_incomplete,
            busiest_ns: busy.fold(0.0, f64::max),
            switches,
            peak_rss_bytes: self.peak_rss_bytes,
        }
    }
}

/// Returns the CPU time between two readings, and true if the time of processes that ended is
/// unknown.
fn cpu_since(now: &HashMap<i32, [f64; 2]>, before: &HashMap<i32, [f64; 2]>) -> (f64, bool) {
    /// The system rounds the CPU times of children to clock ticks, separately for each parent, and for
    /// user and system time.
    const ROUNDING_NS: f64 = 40e6;
    let (mut own, mut children) = (0.0, 0.0);
    for (pid, now) in now {
        let then = before.get(pid).copied().unwrap_or_default();
        own += (now[0] - then[0]).max(0.0);
        children += (now[1] - then[1]).max(0.0);
    }
    // A parent that waits for a child gets all of the child's time, also that of earlier bursts.
    let ended = before.iter().filter(|(pid, _)| !now.contains_key(pid));
    let earlier: f64 = ended.map(|(_, times)| times[0] + times[1]).sum();
    let is_incomplete = earlier > children + ROUNDING_NS;
    (own + (children - earlier).max(0.0), is_incomplete)
}

/// Waits until the server has done the work that a burst has left, such as requests in its queue.
/// Returns false if it still works at the time limit.
pub(crate) fn wait_until_quiet(limit: Duration) -> bool {
    const PAUSE: Duration = Duration::from_millis(5);
    const QUIET: f64 = 0.1;
    let end = Instant::now() + limit;
    let (mut before, mut since) = (Usage::read(), Instant::now());
    let mut was_quiet = false;
    while since < end {
        sleep(PAUSE);
        let (usage, now) = (Usage::read(), Instant::now());
        let used = usage.since(&before).cpu_ns;
        // A thread that waits for a core uses no time, and one that waits for the disk goes on later.
        let is_quiet = used < QUIET * (now - since).as_nanos() as f64 && !is_any_runnable();
        if is_quiet && was_quiet {
            return true;
        }
        was_quiet = is_quiet;
        (before, since) = (usage, now);
    }
    false
}

/// Returns true if a thread of a descendant runs or waits for a core.
fn is_any_runnable() -> bool {
    let runs = |text: &str| {
        text.rsplit_once(')')
            .is_some_and(|(_, state)| state.starts_with(" R"))
    };
    descendants().iter().any(|process| {
        let folder = format!("/proc/{}/task", process.pid);
        numbers_in(&folder).into_iter().any(|thread| {
            let stat = fs::read_to_string(format!("{folder}/{thread}/stat"));
            stat.is_ok_and(|text| runs(&text))
        })
    })
}

fn ticks_per_second() -> f64 {
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    ticks.filter(|ticks| *ticks > 0).unwrap_or(100) as f64
}

fn cpu_ns(clock: ClockId) -> Option<f64> {
    let time = clock_gettime(clock).ok()?;
    Some(time.tv_sec() as f64 * 1e9 + time.tv_nsec() as f64)
}

/// Returns the time that a thread ran and waited for a core.
fn busy_ns(place: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("{place}/schedstat")).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    Some(numbers.next()?.ok()? + numbers.next()?.ok()?)
}

fn switches(place: &str) -> Option<[u64; 2]> {
    let text = fs::read_to_string(format!("{place}/status")).ok()?;
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some([
        of("voluntary_ctxt_switches:")?,
        of("nonvoluntary_ctxt_switches:")?,
    ])
}

fn peak_rss(pid: i32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0
}

/// Makes the peak resident set sizes of all descendants start again at the present sizes.
pub(crate) fn forget_peaks() {
    for process in descendants() {
        let _ = fs::write(format!("/proc/{}/clear_refs", process.pid), "5");
    }
}

fn numbers_in(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    names.collect()
}

fn process(pid: i32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain anything.
    let (_, after) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        own_ticks: number(11)? + number(12)?,
        children_ticks: number(13)? + number(14)?,
    })
}

/// Returns the processes below this one, parents before their children.
fn descendants() -> Vec<Process> {
    let all: Vec<Process> = numbers_in("/proc")
        .into_iter()
        .filter_map(process)
        .collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![Pid::this().as_raw()];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|process| process.parent == parent) {
            parents.push(child.pid);
            found.push(*child);
        }
    }
    found
}

/// Returns true if a descendant ignores SIGCHLD: the system then adds the CPU time of its children
/// to no process.
pub(crate) fn ignores_children() -> bool {
    const SIGCHLD: u64 = 1 << 16;
    living().into_iter().any(|pid| {
        let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
        ignored.is_some_and(|ignored| ignored & SIGCHLD != 0)
    })
}

/// Returns the process IDs of all descendants that still run.
pub(crate) fn living() -> Vec<Pid> {
    let running = descendants()
        .into_iter()
        .filter(|process| !process.is_zombie);
    running.map(|process| Pid::from_raw(process.pid)).collect()
}

/// Makes this process the parent of orphans, such as servers that go into the background.
pub(crate) fn adopt_orphans() -> Result<(), Errno> {
    nix::sys::prctl::set_child_subreaper(true)
}

/// Sends a signal to all descendants.
pub(crate) fn signal_all(signal: Signal) {
    for pid in living() {
        let _ = kill(pid, signal);
    }
}

/// The environment variable by which the descendants of a command, such as a load command, are found.
pub(crate) const MARK: &str = "DEADHEAT_LOAD_COMMAND";

/// Kills the descendants that a command with this mark has left behind. Returns true if there were
/// any.
pub(crate) fn end_marked(mark: &str) -> bool {
    let entry = format!("{MARK}={mark}");
    let mut were_any = false;
    for pid in living() {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut entries = environment.split(|byte| *byte == 0);
        if entries.any(|one| one == entry.as_bytes()) {
            let _ = kill(pid, Signal::SIGKILL);
            were_any = true;
        }
    }
    were_any
}

/// Kills all descendants.
pub(crate) fn end_all() {
    let end = Instant::now() + KILLED_WITHIN;
    loop {
        reap(Pid::this());
        if living().is_empty() || Instant::now() >= end {
            return;
        }
        signal_all(Signal::SIGKILL);
        sleep(Duration::from_millis(5));
    }
}

/// Reaps all children that have ended, and returns how the one with the ID `main` ended if it was
/// among them.
pub(crate) fn reap(main: Pid) -> Option<WaitStatus> {
    let mut ended = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(_) => return ended,
            Ok(status) if status.pid() == Some(main) => ended = Some(status),
            Ok(_) => {}
        }
    }
}

/// The local TCP ports with a listener: of descendants of this process, and of all processes.
pub(crate) struct Listeners {
    own: Vec<u16>,
    all: Vec<u16>,
    /// False if the system hides the sockets of a descendant, such as one of another user.
    is_complete: bool,
}

impl Listeners {
    pub(crate) fn now() -> Self {
        let mut sockets = Vec::new();
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            let text = fs::read_to_string(table).unwrap_or_default();
            sockets.extend(text.lines().skip(1).filter_map(listening));
        }
        let (mut inodes, mut is_complete) = (Vec::new(), true);
        for process in descendants() {
            let folder = fs::read_dir(format!("/proc/{}/fd", process.pid));
            let denied = std::io::ErrorKind::PermissionDenied;
            is_complete &= folder
                .as_ref()
                .err()
                .is_none_or(|error| error.kind() != denied);
            for entry in folder.into_iter().flatten().flatten() {
                let link = fs::read_link(entry.path()).unwrap_or_default();
                let inode = link.to_str().and_then(|link| link.strip_prefix("socket:["));
                let inode = inode.and_then(|inode| inode.strip_suffix(']'));
                inodes.extend(inode.map(str::to_owned));
            }
        }
        let is_own = |socket: &&(u16, String)| inodes.contains(&socket.1);
        Self {
            own: sockets
                .iter()
                .filter(is_own)
                .map(|socket| socket.0)
                .collect(),
            all: sockets.iter().map(|socket| socket.0).collect(),
            is_complete,
        }
    }

    /// Returns true if all ports of the descendants are known.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(crate) fn is_own(&self, port: u16) -> bool {
        self.own.contains(&port)
    }

    /// Returns true if a process other than the descendants listens on the port.
    pub(crate) fn is_taken(&self, port: u16) -> bool {
        self.all.contains(&port) && !self.is_own(port)
    }

    /// Returns the ports of the descendants, in order.
    pub(crate) fn own(&self) -> Vec<u16> {
        let mut own = self.own.clone();
        own.sort_unstable();
        own.dedup();
        own
    }
}

/// Returns the port and the inode of a line that describes a listening socket.
fn listening(line: &str) -> Option<(u16, String)> {
    const LISTEN: &str = "0A";
    let fields: Vec<&str> = line.split_whitespace().collect();
    if *fields.get(3)? != LISTEN {
        return None;
    }
    let (_, port) = fields.get(1)?.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    Some((port, (*fields.get(9)?).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_told_from_a_connection() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0";
        assert_eq!(listening(line), Some((8080, "4711".to_owned())));
        assert_eq!(listening(&line.replace(" 0A ", " 01 ")), None);
        assert_eq!(listening(""), None);
    }

    #[test]
    fn used_is_the_difference_and_new_threads_count_whole() {
        let before = Usage {
            cpu_ns: HashMap::from([(1, [5.0, 0.0])]),
            busy_ns: HashMap::from([((1, 1), 10), ((1, 2), 100)]),
            switches: HashMap::from([((1, 1), [1, 2])]),
            peak_rss_bytes: 7.0,
        };
        let after = Usage {
            cpu_ns: HashMap::from([(1, [15.0, 0.0]), (2, [10.0, 0.0])]),
            busy_ns: HashMap::from([((1, 1), 15), ((2, 2), 8)]),
            switches: HashMap::from([((1, 1), [4, 2]), ((2, 2), [1, 1])]),
            peak_rss_bytes: 9.0,
        };
        let used = Used {
            cpu_ns: 20.0,
            is_incomplete: false,
            busiest_ns: 8.0,
            switches: [4.0, 1.0],
            peak_rss_bytes: 9.0,
        };
        assert_eq!(after.since(&before), used);
    }

    #[test]
    fn the_earlier_time_of_a_child_that_ended_does_not_count() {
        let before = HashMap::from([(1, [1e9, 0.0]), (2, [3e9, 0.0])]);
        let waited_for = HashMap::from([(1, [1.5e9, 3.2e9])]);
        let (cpu_ns, is_incomplete) = cpu_since(&waited_for, &before);
        assert!((cpu_ns - 0.7e9).abs() < 1.0 && !is_incomplete, "{cpu_ns}");
        let lost = HashMap::from([(1, [1.5e9, 0.0])]);
        let (cpu_ns, is_incomplete) = cpu_since(&lost, &before);
        assert!((cpu_ns - 0.5e9).abs() < 1.0 && is_incomplete, "{cpu_ns}");
    }
}
