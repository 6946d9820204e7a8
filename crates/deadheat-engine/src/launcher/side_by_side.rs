//! Launches that run side by side: they start at the same moment on the same core, and each is
//! measured by its own CPU time.
//!
//! The kernel alternates them every few milliseconds, so a change in the speed of the core affects
//! all of them.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::child::{Child, drain, has_own_priority, has_too_much, keeps_cores};
use super::gate::Gate;
use super::image::OutputKind;
use super::left_behind::{LeftBehind, kill_others, reap_others};
use super::serve::{Leave, Server};
use super::stopped::StopWatch;
use super::wire::{HEAD_BYTES, Head, Launch, Measured, NO_IMAGE, Outcome, Sharing, read_exact};
use crate::counters::Counters;
use crate::observed::ProcessState;
use crate::run_delay::{KeepWaiting, ended_process, has_children};
use crate::usage::{Usage, Waited, wait};

/// One launch of a group, from its start to its end.
struct Running {
    child: Child,
    core: CpuSet,
    image: usize,
    /// The reading end of the pipe for the standard output of the launch; `None` once the pipe is
    /// closed.
    reader: Option<OwnedFd>,
    /// The descriptor of the memory file for the output of the launch, if the size of the output is
    /// limited.
    bounded: Option<RawFd>,
    limit: Option<Duration>,
    counters: Option<Counters>,
    /// The reason why the launch was killed; `None` if it was not.
    killed: Option<Outcome>,
    stops: StopWatch,
    measured: Option<Measured>,
}

impl Server {
    /// Runs launches in groups of `group`, one group after the other. After a failure the other
    /// groups are skipped.
    pub(super) fn run_groups(
        &mut self,
        sharing: Sharing,
        group: usize,
        launches: &[Launch],
    ) -> Result<Vec<Measured>, Leave> {
        let mut all = Vec::with_capacity(launches.len());
        let mut failed = false;
        for group in launches.chunks(group) {
            let measured = if failed {
                vec![Measured::nothing(Outcome::Cancelled); group.len()]
            } else {
                self.run_group(sharing, all.len(), group)?
            };
            let mut ended = group.iter().zip(&measured);
            failed |= !ended.all(|(launch, measured)| self.did_its_work(*launch, measured.outcome));
            all.extend(measured);
        }
        Ok(all)
    }

    /// Runs one group. `first` is the index of its first launch in the request.
    fn run_group(
        &mut self,
        sharing: Sharing,
        first: usize,
        launches: &[Launch],
    ) -> Result<Vec<Measured>, Leave> {
        // All hooks before any command, so that no hook runs at the same time as a command.
        for (place, launch) in launches.iter().enumerate() {
            if let Some(failure) = self.hook(launch.prepare, Outcome::PrepareFailed)? {
                return Ok(only(place, failure, launches.len()));
            }
        }
        let mut gate = match Gate::new(launches.len()) {
            Ok(gate) => gate,
            Err(errno) => return Ok(only(0, Outcome::NotStarted(errno), launches.len())),
        };
        let mut running = Vec::with_capacity(launches.len());
        for (place, launch) in launches.iter().enumerate() {
            let started = self.start_at_gate(&gate, sharing, (first + place, place), *launch)?;
            match started {
                Ok(one) => running.push(one),
                Err(outcome) => {
                    kill_all(&mut running, Outcome::Cancelled);
                    gate.open();
                    self.await_all(&mut running, Instant::now(), None)?;
                    return Ok(only(place, outcome, launches.len()));
                }
            }
        }
        self.news.clear();
        let start = Instant::now();
        gate.open();
        let trial = (sharing.trial_ms > 0).then(|| Duration::from_millis(sharing.trial_ms.into()));
        self.await_all(&mut running, start, trial)?;
        // Checked only now: launches of the group that still run are children, too.
        let company = reap_others(|_| false) || has_children();
        let all_ended = (running.iter()).all(|one| one.killed.is_none());
        let left_behind = kill_others(&self.daemons, all_ended);
        let mut all = Vec::with_capacity(launches.len());
        for (place, (launch, running)) in launches.iter().zip(running).enumerate() {
            let mut measured = running
                .measured
                .unwrap_or_else(|| Measured::nothing(Outcome::Cancelled));
            let notes = gate.notes(place);
            if notes.errno != 0 && measured.outcome == Outcome::Exited(127) {
                measured.outcome = Outcome::NotStarted(notes.errno);
            }
            take_off(&mut measured.usage, notes.before_ns);
            if company && measured.keep_waiting.is_none() {
                measured.keep_waiting = Some(KeepWaiting::Concurrent);
            }
            if let Some(counters) = running.counters {
                measured.counters = counters.finish();
            }
            // If a process left its group, the launch that started it is unknown.
            let group = Some(Pid::from_raw(running.child.pid));
            let is_its = |left: &&LeftBehind| left.group == group;
            measured.left_behind = left_behind.as_ref().filter(is_its).map(|left| left.name);
            self.keep_values(first + place, running.image, &mut measured);
            all.push((*launch, measured));
        }
        for (launch, measured) in &mut all {
            if matches!(measured.outcome, Outcome::Exited(_))
                && let Some(failure) = self.hook(launch.conclude, Outcome::ConcludeFailed)?
            {
                measured.outcome = failure;
            }
        }
        Ok(all.into_iter().map(|(_, measured)| measured).collect())
    }

    fn start_at_gate(
        &mut self,
        gate: &Gate,
        sharing: Sharing,
        (index, place): (usize, usize),
        launch: Launch,
    ) -> Result<Result<Running, Outcome>, Leave> {
        let image = usize::from(launch.image);
        if launch.image == NO_IMAGE {
            return Err(Leave::Abandoned);
        }
        let mut core = CpuSet::new();
        if let Err(errno) = core.set(usize::from(sharing.core)) {
            return Ok(Err(Outcome::NotStarted(errno as i32)));
        }
        self.env.pad(launch.padding);
        let streams = match self.open_streams(index, image)? {
            Ok(streams) => streams,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let wanted = &self.images[image];
        let slice_ns = u64::from(sharing.slice_ms) * 1_000_000;
        let child = self.spawner.spawn_at_gate(
            (wanted, &self.env),
            streams.descriptors,
            (gate, place),
            (core, slice_ns),
        );
        let child = match child {
            Ok(child) => child,
            Err(errno) => return Ok(Err(Outcome::NotStarted(errno))),
        };
        let counters = self.want_counters.then(|| Counters::open_for(child.pid));
        let stops = StopWatch::new(child.pid, false);
        let is_read = matches!(wanted.output, OutputKind::Read);
        Ok(Ok(Running {
            child,
            core,
            image,
            // Our copy of the writing end would keep the pipe open for ever.
            reader: streams.pipe.map(|(reader, _writer)| reader),
            bounded: is_read.then_some(streams.descriptors[1]),
            limit: (wanted.timeout_ns > 0).then(|| Duration::from_nanos(wanted.timeout_ns)),
            counters: counters.and_then(Result::ok),
            killed: None,
            stops,
            measured: None,
        }))
    }

    /// Waits for all launches and measures each when it ends. A trial has an additional time limit.
    fn await_all(
        &mut self,
        running: &mut [Running],
        start: Instant,
        trial: Option<Duration>,
    ) -> Result<(), Leave> {
        // N launches that share a core take N times as long.
        let sharers = running.len().max(1) as u32;
        for one in running.iter_mut() {
            let limit = one.limit.map(|limit| limit * sharers);
            one.limit = limit.into_iter().chain(trial).min();
        }
        let mut has_news = false;
        while running.iter().any(|one| one.measured.is_none()) {
            let timeout = look_at(running, start, has_news);
            let mut fds = vec![
                PollFd::new(self.requests.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.news.as_fd(), PollFlags::POLLIN),
            ];
            for one in running.iter().filter(|one| one.measured.is_none()) {
                fds.push(PollFd::new(one.child.pidfd.as_fd(), PollFlags::POLLIN));
                fds.extend(
                    one.reader
                        .iter()
                        .map(|reader| PollFd::new(reader.as_fd(), PollFlags::POLLIN)),
                );
            }
            if let Err(errno) = poll(&mut fds, timeout)
                && errno != Errno::EINTR
            {
                return Err(Leave::Abandoned);
            }
            let seen: Vec<PollFlags> = fds
                .iter()
                .map(|fd| fd.revents().unwrap_or(PollFlags::empty()))
                .collect();
            drop(fds);
            let mut seen = seen.into_iter();
            let request = seen.next().unwrap_or(PollFlags::empty());
            has_news = seen.next().is_some_and(|seen| !seen.is_empty());
            if has_news {
                self.news.clear();
            }
            for one in running.iter_mut().filter(|one| one.measured.is_none()) {
                let ended = seen.next().is_some_and(|seen| !seen.is_empty());
                if let Some(reader) = &one.reader
                    && seen.next().is_some_and(|seen| !seen.is_empty())
                    && drain(reader)
                {
                    one.reader = None;
                }
                if ended {
                    let wall_ns = start.elapsed().as_nanos() as u64;
                    one.measured = Some(measure(one, wall_ns));
                }
            }
            let failed = running.iter().any(|one| {
                let policy = &self.images[one.image].exit_policy;
                let measured = one.measured.as_ref();
                measured.is_some_and(|measured| !measured.outcome.is_accepted_by(policy))
            });
            if failed && trial.is_none() {
                kill_all(running, Outcome::Cancelled);
            }
            if request.contains(PollFlags::POLLIN) {
                let mut head = [0; HEAD_BYTES];
                let is_read = read_exact(self.requests.as_fd(), &mut head);
                if !is_read || Head::decode(head) != Some(Head::Cancel) {
                    return Err(Leave::Abandoned);
                }
                kill_all(running, Outcome::Cancelled);
            } else if !request.is_empty() {
                return Err(Leave::Abandoned);
            }
        }
        Ok(())
    }
}

/// Kills launches that exceed their time limit or output size, or that have been stopped for too
/// long. Returns the time until the next check.
fn look_at(running: &mut [Running], start: Instant, has_news: bool) -> PollTimeout {
    let elapsed = start.elapsed();
    let mut wait: Option<Duration> = None;
    let mut at_most = |time: Duration| wait = Some(wait.map_or(time, |known| known.min(time)));
    for one in running.iter_mut().filter(|one| one.measured.is_none()) {
        if let Some(limit) = one.limit.filter(|_| one.killed.is_none()) {
            match limit.checked_sub(elapsed) {
                None => one.kill(Outcome::TimedOut),
                Some(left) => at_most(left),
            }
        }
        if one.killed.is_none() && one.bounded.is_some() {
            if one.has_too_much() {
                one.kill(Outcome::TooMuchOutput);
            } else {
                at_most(BETWEEN_LOOKS);
            }
        }
        if one.killed.is_none() {
            match one.stops.look(has_news) {
                Some(signal) => one.kill(Outcome::Stopped(signal)),
                None => one.stops.pause().into_iter().for_each(&mut at_most),
            }
        }
    }
    wait.map_or(PollTimeout::NONE, |wait| {
        let milliseconds = wait.as_nanos().div_ceil(1_000_000);
        PollTimeout::try_from(milliseconds.min(i32::MAX as u128) as i32).unwrap_or(PollTimeout::MAX)
    })
}

/// Reaps a launch that ended after `wall_ns`, and returns its measurements.
fn measure(one: &Running, wall_ns: u64) -> Measured {
    let pid = one.child.pid;
    let account = ended_process(pid);
    let ended_as = ProcessState::of(Pid::from_raw(pid));
    let kept_cores = keeps_cores(pid, &one.core);
    let own_priority = has_own_priority(pid);
    let Waited {
        status,
        usage,
        wrote_files,
    } = wait(pid, 0).unwrap_or_default();
    let all_ns = usage[0] + usage[1];
    let outcome = match one.killed {
        Some(outcome) => outcome,
        None if one.has_too_much() => Outcome::TooMuchOutput,
        None if libc::WIFSIGNALED(status) => Outcome::Signalled(libc::WTERMSIG(status)),
        None => Outcome::Exited(libc::WEXITSTATUS(status)),
    };
    Measured {
        wall_ns,
        usage,
        run_delay_ns: account.map_or(0, |account| account.delay_ns),
        keep_waiting: match &account {
            None => Some(KeepWaiting::Unread),
            Some(account) if own_priority || account.had_company(all_ns) => {
                Some(KeepWaiting::Concurrent)
            }
            Some(_) => None,
        },
        ended_as,
        kept_cores,
        wrote_files,
        ..Measured::nothing(outcome)
    }
}

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl Running {
    fn kill(&mut self, why: Outcome) {
        self.killed = Some(why);
        let _ = killpg(Pid::from_raw(self.child.pid), Signal::SIGKILL);
    }

    fn has_too_much(&self) -> bool {
        // SAFETY: the launcher's own memory file, which stays open until the launcher exits.
        let output = self.bounded.map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
        output.is_some_and(has_too_much)
    }
}

fn kill_all(running: &mut [Running], why: Outcome) {
    for one in running {
        if one.measured.is_none() && one.killed.is_none() {
            one.kill(why);
        }
    }
}

/// Returns the outcomes of a group whose launch at `place` failed before any ran.
fn only(place: usize, failure: Outcome, count: usize) -> Vec<Measured> {
    let mut all = vec![Measured::nothing(Outcome::Cancelled); count];
    all[place] = Measured::nothing(failure);
    all
}

/// Subtracts `before_ns`, the CPU time of a process before its program started, from its usage:
/// from the system time first, because most of `before_ns` was system time.
fn take_off(usage: &mut Usage, before_ns: u64) {
    let of_system = before_ns.min(usage[1]);
    usage[1] -= of_system;
    usage[0] = usage[0].saturating_sub(before_ns - of_system);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_before_the_program_is_taken_off_system_time_first() {
        let taken = |user, system, before| {
            let mut usage = [user, system, 9, 9, 9, 9, 9];
            take_off(&mut usage, before);
            (usage[0], usage[1])
        };
        assert_eq!(taken(50, 20, 15), (50, 5));
        assert_eq!(taken(50, 20, 30), (40, 0));
        assert_eq!(taken(5, 2, 30), (0, 0));
    }
}
