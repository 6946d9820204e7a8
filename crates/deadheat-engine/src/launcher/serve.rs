//! The main loop of the launcher process: read a request, launch, reply.
//!
//! All of this runs in a forked process. It allocates memory only to open hardware counters, to
//! list and kill children, to trace, to run groups side by side, and to change an image between
//! blocks.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::sys::signal::{SigHandler, Signal, killpg, signal};
use nix::sys::stat::{Mode, fstat, lstat};
use nix::unistd::{Pid, pipe2, read, unlink};

use super::child::{Spawner, WaitEnd, await_end, has_own_priority, has_too_much, kill_descendants};
use super::image::{EnvironmentImage, Image, OutputKind};
use super::left_behind::{children, kill_others, reap_others};
use super::stopped::{ChildNews, StopWatch};
use super::trace::Tracer;
use super::wire::{
    HEAD_BYTES, Head, HookEnd, Launch, MAX_LAUNCHES, MAX_REQUEST_BYTES, MEASURED_BYTES, Manner,
    Measured, NO_IMAGE, Outcome, SHARING_BYTES, Sharing, body_bytes, decode_launch, empty,
    read_exact, write_all,
};
use crate::counters::Counters;
use crate::observed::ProcessState;
use crate::run_delay::{KeepWaiting, OwnDelay, ended_process, forget, has_children};
use crate::usage::{Waited, wait};

pub(super) struct Server {
    pub(super) images: Vec<Image>,
    pub(super) env: EnvironmentImage,
    pub(super) spawner: Spawner,
    pub(super) requests: OwnedFd,
    pub(super) replies: OwnedFd,
    pub(super) null: OwnedFd,
    pub(super) news: ChildNews,
    pub(super) shown: RawFd,
    /// One memory file per launch of a block, for outputs to be compared.
    pub(super) captures: Vec<OwnedFd>,
    pub(super) hook_errors: OwnedFd,
    /// The standard error of the last command whose errors are kept.
    pub(super) command_errors: OwnedFd,
    /// True if the standard error of the launches of the current request is kept.
    pub(super) keeps_errors: bool,
    pub(super) want_counters: bool,
    /// The records of traced launches, each preceded by its length.
    pub(super) sightings: OwnedFd,
    /// True if the launches of the current request are traced.
    pub(super) traced: bool,
    pub(super) record: Vec<u8>,
    /// Processes that hooks left running.
    pub(super) daemons: Vec<Pid>,
    /// True if a launch or a hook failed. The hook that stops a daemon may then not have run.
    pub(super) has_failed: bool,
}

pub(super) struct Streams {
    pub(super) descriptors: [RawFd; 3],
    /// Both ends of the pipe for standard output; `None` if the output does not go into a pipe.
    pub(super) pipe: Option<(OwnedFd, OwnedFd)>,
    /// The input and output files, held open until the launch has started.
    _files: [Option<OwnedFd>; 2],
}

pub(super) enum Leave {
    Goodbye,
    /// A signal ended the race.
    BreakOff,
    /// deadheat died or sent an invalid message.
    Abandoned,
}

impl Server {
    /// Serves requests until deadheat ends the race or dies.
    pub(super) fn serve(mut self) {
        // If SIGCHLD was inherited as ignored, the kernel would discard the usage of ended
        // commands. Rust's runtime ignores SIGPIPE; commands must not inherit that.
        for number in [Signal::SIGCHLD, Signal::SIGPIPE] {
            // SAFETY: installs a default action, no handler of ours.
            let _ = unsafe { signal(number, SigHandler::SigDfl) };
        }
        forget();
        // `killall -9 deadheat` then kills only deadheat, and the launcher kills the commands.
        // SAFETY: the name is a string with a final NUL byte, which the kernel copies.
        unsafe { libc::prctl(libc::PR_SET_NAME, c"dh-launcher".as_ptr()) };
        // Orphans of a command become our children instead of init's, so that
        // they can be found and killed when deadheat dies.
        // SAFETY: prctl with constant arguments.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        let errno = match self.want_counters.then(Counters::open) {
            Some(Ok(_)) => 0,
            Some(Err(error)) => error.raw_os_error().unwrap_or(libc::EIO),
            None => libc::ENOSYS,
        };
        self.want_counters = errno == 0;
        if !write_all(self.replies.as_fd(), &errno.to_ne_bytes()) {
            return;
        }
        match self.answer_requests() {
            Leave::Goodbye if !self.has_failed => {}
            Leave::Goodbye | Leave::BreakOff => {
                kill_others(&[], false);
            }
            Leave::Abandoned => kill_descendants(),
        }
    }

    fn answer_requests(&mut self) -> Leave {
        let mut body = [0; MAX_REQUEST_BYTES];
        let mut reply = [0; MAX_LAUNCHES * MEASURED_BYTES];
        loop {
            let mut head = [0; HEAD_BYTES];
            if !read_exact(self.requests.as_fd(), &mut head) {
                return Leave::Abandoned;
            }
            let head = Head::decode(head);
            let traced = matches!(head, Some(Head::Trace(_)));
            self.keeps_errors = traced || matches!(head, Some(Head::Rehearse(_)));
            let (count, group) = match head {
                Some(Head::Run(count) | Head::Rehearse(count) | Head::Trace(count)) => {
                    (count, None)
                }
                Some(Head::SideBySide(count, group)) => (count, Some(group)),
                Some(Head::Vary(length)) => match self.vary(usize::from(length)) {
                    Some(()) => continue,
                    None => return Leave::Abandoned,
                },
                Some(Head::Cancel) => continue,
                Some(Head::Goodbye) => return Leave::Goodbye,
                Some(Head::BreakOff) => return Leave::BreakOff,
                None => return Leave::Abandoned,
            };
            let mut sharing = [0; SHARING_BYTES];
            if group.is_some() && !read_exact(self.requests.as_fd(), &mut sharing) {
                return Leave::Abandoned;
            }
            if !read_exact(self.requests.as_fd(), &mut body[..body_bytes(count)]) {
                return Leave::Abandoned;
            }
            if let Some(group) = group {
                let launches: Vec<Launch> = (0..count).map(|i| decode_launch(&body, i)).collect();
                let measured = match self.run_groups(Sharing::decode(sharing), group, &launches) {
                    Ok(measured) => measured,
                    Err(leave) => return leave,
                };
                let mut ended = launches.iter().zip(&measured);
                self.has_failed |= Sharing::decode(sharing).trial_ms == 0
                    && !ended
                        .all(|(launch, measured)| self.did_its_work(*launch, measured.outcome));
                let targets = reply.chunks_exact_mut(MEASURED_BYTES);
                for (measured, target) in measured.iter().zip(targets) {
                    measured.encode(target);
                }
                if !write_all(self.replies.as_fd(), &reply[..count * MEASURED_BYTES]) {
                    return Leave::Abandoned;
                }
                continue;
            }
            if traced {
                empty(self.sightings.as_fd());
            }
            self.traced = traced;
            let mut failed = false;
            for (index, target) in reply
                .chunks_exact_mut(MEASURED_BYTES)
                .take(count)
                .enumerate()
            {
                let launch = decode_launch(&body, index);
                let measured = if failed {
                    Measured::nothing(Outcome::Cancelled)
                } else {
                    match self.launch(index, launch) {
                        Ok(measured) => measured,
                        Err(leave) => return leave,
                    }
                };
                // After a failure the rest of the block is skipped: a command may take minutes.
                failed |= !self.did_its_work(launch, measured.outcome);
                if traced && !self.pass_on_record() {
                    return Leave::Abandoned;
                }
                measured.encode(target);
            }
            // A traced launch that fails is repeated without tracing.
            self.has_failed |= failed && !traced;
            if !write_all(self.replies.as_fd(), &reply[..count * MEASURED_BYTES]) {
                return Leave::Abandoned;
            }
        }
    }

    /// Writes the length and the record of a traced launch. Returns false on an error.
    fn pass_on_record(&mut self) -> bool {
        let record = std::mem::take(&mut self.record);
        let length = (record.len() as u32).to_ne_bytes();
        let sightings = self.sightings.as_fd();
        write_all(sightings, &length) && write_all(sightings, &record)
    }

    /// Reads the rest of a [`Head::Vary`] message and changes the image. Returns `None` if the
    /// message is invalid.
    fn vary(&mut self, length: usize) -> Option<()> {
        let mut image = [0; 2];
        let mut manner = [0];
        let mut path = vec![0; length];
        let requests = self.requests.as_fd();
        let parts = [&mut image[..], &mut manner[..], &mut path[..]];
        for part in parts {
            if !read_exact(requests, part) {
                return None;
            }
        }
        let variant = match length {
            0 => None,
            _ => Some(CString::new(path).ok()?),
        };
        let image = usize::from(u16::from_ne_bytes(image));
        let image = self.images.get_mut(image)?;
        image.vary(variant, Manner::decode(manner[0]));
        Some(())
    }

    pub(super) fn did_its_work(&self, launch: Launch, outcome: Outcome) -> bool {
        let image = self.images.get(usize::from(launch.image));
        match image {
            Some(image) => outcome.is_accepted_by(&image.exit_policy),
            None => matches!(outcome, Outcome::Exited(_)),
        }
    }

    /// Runs the command of a launch between its hooks.
    fn launch(&mut self, index: usize, launch: Launch) -> Result<Measured, Leave> {
        if let Some(failure) = self.hook(launch.prepare, Outcome::PrepareFailed)? {
            return Ok(Measured::nothing(failure));
        }
        if launch.image == NO_IMAGE {
            return Ok(Measured::nothing(Outcome::Exited(0)));
        }
        self.env.pad(launch.padding);
        let counters = self.want_counters.then(Counters::open);
        let mut measured = self.command(index, usize::from(launch.image))?;
        if let Some(Ok(counters)) = counters {
            measured.counters = counters.finish();
        }
        if matches!(measured.outcome, Outcome::Exited(_))
            && let Some(failure) = self.hook(launch.conclude, Outcome::ConcludeFailed)?
        {
            measured.outcome = failure;
        }
        Ok(measured)
    }

    /// Runs a hook, if there is one, and returns its failure. Keeps its standard error for the
    /// error message.
    pub(super) fn hook(
        &mut self,
        image: u16,
        failed: fn(HookEnd) -> Outcome,
    ) -> Result<Option<Outcome>, Leave> {
        if image == NO_IMAGE {
            return Ok(None);
        }
        let null = self.null.as_raw_fd();
        let errors = self.hook_errors.as_raw_fd();
        empty(self.hook_errors.as_fd());
        let traced = std::mem::take(&mut self.traced);
        let measured = self.process(usize::from(image), [null, null, errors], None)?;
        self.traced = traced;
        if !matches!(measured.outcome, Outcome::Exited(_)) {
            // A process that left the group of the hook was not killed with it.
            kill_others(&self.daemons, false);
        }
        self.daemons = children();
        Ok(match measured.outcome {
            Outcome::Exited(0) => None,
            Outcome::Exited(code) => Some(failed(HookEnd::Exited(code))),
            Outcome::Signalled(signal) => Some(failed(HookEnd::Signalled(signal))),
            Outcome::NotStarted(errno) => Some(failed(HookEnd::NotStarted(errno))),
            Outcome::Stopped(signal) => Some(failed(HookEnd::Stopped(signal))),
            Outcome::TimedOut => Some(failed(HookEnd::TimedOut)),
            other => Some(other),
        })
    }

    /// Runs an image with its streams, then kills the processes that it left running.
    fn command(&mut self, index: usize, image: usize) -> Result<Measured, Leave> {
        let streams = match self.open_streams(index, image)? {
            Ok(streams) => streams,
            Err(outcome) => return Ok(Measured::nothing(outcome)),
        };
        let mut descriptors = streams.descriptors;
        if self.keeps_errors && !matches!(self.images[image].output, OutputKind::Inherit) {
            empty(self.command_errors.as_fd());
            descriptors[2] = self.command_errors.as_raw_fd();
        }
        let mut measured = self.process(image, descriptors, streams.pipe)?;
        let ended_by_itself = matches!(measured.outcome, Outcome::Exited(_));
        let left = kill_others(&self.daemons, ended_by_itself);
        measured.left_behind = left.map(|left| left.name);
        self.keep_values(index, image, &mut measured);
        Ok(measured)
    }

    /// Opens the standard streams of an image for the launch at `index`, and removes the image's
    /// value file.
    pub(super) fn open_streams(
        &self,
        index: usize,
        image: usize,
    ) -> Result<Result<Streams, Outcome>, Leave> {
        let Some(wanted) = self.images.get(image) else {
            return Err(Leave::Abandoned);
        };
        let null = self.null.as_raw_fd();
        let input = match &wanted.input {
            None => None,
            Some(path) => match open_at_once(path, OFlag::O_RDONLY) {
                Ok(file) => Some(file),
                Err(errno) => return Ok(Err(Outcome::NoInput(errno as i32))),
            },
        };
        if let Some(path) = &wanted.value_file
            && let Err(errno) = remove(path)
        {
            return Ok(Err(Outcome::NoValueFile(errno as i32)));
        }
        let stdin = input.as_ref().map_or(null, AsRawFd::as_raw_fd);
        let (mut output, mut pipe) = (None, None);
        let descriptors = match &wanted.output {
            OutputKind::Null => [stdin, null, null],
            OutputKind::Inherit => [stdin, self.shown, libc::STDERR_FILENO],
            OutputKind::Captured | OutputKind::Read => {
                let capture = &self.captures[index % self.captures.len()];
                empty(capture.as_fd());
                [stdin, capture.as_raw_fd(), null]
            }
            OutputKind::File(path) => {
                match open_at_once(path, OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_TRUNC) {
                    Ok(file) => [stdin, output.insert(file).as_raw_fd(), null],
                    Err(errno) => return Ok(Err(Outcome::NoOutput(errno as i32))),
                }
            }
            OutputKind::Pipe => match pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK) {
                Ok((reader, writer)) => {
                    // Only our end must not block: O_NONBLOCK belongs to the
                    // open file, and the command must not see EAGAIN.
                    let _ = fcntl(&writer, FcntlArg::F_SETFL(OFlag::empty()));
                    let stdout = writer.as_raw_fd();
                    pipe = Some((reader, writer));
                    [stdin, stdout, null]
                }
                Err(errno) => return Ok(Err(Outcome::NoOutput(errno as i32))),
            },
        };
        Ok(Ok(Streams {
            descriptors,
            pipe,
            _files: [input, output],
        }))
    }

    /// Copies the value file of a launch at once, because the hook after the launch may remove it.
    pub(super) fn keep_values(&self, index: usize, image: usize, measured: &mut Measured) {
        if let Some(path) = &self.images[image].value_file
            && matches!(measured.outcome, Outcome::Exited(_))
        {
            let capture = &self.captures[index % self.captures.len()];
            if let Err(outcome) = keep(path, capture.as_fd()) {
                measured.outcome = outcome;
            }
        }
    }

    /// Launches an image, waits for its end, and measures the time in between.
    fn process(
        &mut self,
        image: usize,
        streams: [RawFd; 3],
        pipe: Option<(OwnedFd, OwnedFd)>,
    ) -> Result<Measured, Leave> {
        let Some(wanted) = self.images.get(image) else {
            return Err(Leave::Abandoned);
        };
        let limit = (wanted.timeout_ns > 0).then(|| Duration::from_nanos(wanted.timeout_ns));
        self.news.clear();
        let start = Instant::now();
        let child = match (self.spawner).spawn(wanted, &self.env, streams, self.traced) {
            Ok(child) => child,
            Err(errno) => return Ok(Measured::nothing(Outcome::NotStarted(errno))),
        };
        // Our copy of the writing end would keep the pipe open for ever.
        let reader = pipe.map(|(reader, _writer)| reader);
        let read = matches!(wanted.output, OutputKind::Read);
        // SAFETY: a stream that is read is a memory file, which stays open until the launcher
        // exits.
        let bounded = read.then(|| unsafe { BorrowedFd::borrow_raw(streams[1]) });
        let kept = streams[2] == self.command_errors.as_raw_fd();
        let mut tracer = child.traced.then(|| Tracer::new(child.pid));
        let mut orphans = false;
        let mut stops = StopWatch::new(child.pid, self.spawner.has_terminal(wanted));
        let own = OwnDelay::begin();
        let waited = await_end(
            (child.pid, &child.pidfd),
            &self.requests,
            (
                reader.as_ref(),
                bounded,
                kept.then(|| self.command_errors.as_fd()),
            ),
            start,
            limit,
            tracer.as_mut(),
            (&self.news, &mut stops, &mut orphans),
        );
        let wall_ns = start.elapsed().as_nanos() as u64;
        if !matches!(waited, WaitEnd::Ended) {
            let _ = killpg(Pid::from_raw(child.pid), Signal::SIGKILL);
            if let Some(tracer) = &mut tracer {
                tracer.see_off(&child.pidfd);
            }
        }
        self.record = tracer.map_or_else(Vec::new, Tracer::into_record);
        // With a pipe or a bounded output, the launcher also wakes while the command runs. Its own
        // scheduling delay would then include waits before the end of the command.
        let woken = reader.is_some() || bounded.is_some();
        let waking_ns = if woken { 0 } else { own.since() };
        let account = ended_process(child.pid);
        let ended_as = ProcessState::of(Pid::from_raw(child.pid));
        let kept_cores = self.spawner.keeps_cores(child.pid);
        let own_priority = has_own_priority(child.pid);
        let Waited {
            status,
            usage,
            wrote_files,
        } = wait(child.pid, 0).unwrap_or_default();
        // Orphans of the command that have ended meanwhile.
        orphans |= reap_others(|_| false);
        let all_ns = usage[0] + usage[1];
        let keep_waiting = match &account {
            None => Some(KeepWaiting::Unread),
            Some(_) if own_priority || orphans || has_children() => Some(KeepWaiting::Concurrent),
            Some(account) if account.had_company(all_ns) => Some(KeepWaiting::Concurrent),
            Some(_) => None,
        };
        let outcome = match waited {
            WaitEnd::TooMuch => Outcome::TooMuchOutput,
            WaitEnd::Ended if bounded.is_some_and(has_too_much) => Outcome::TooMuchOutput,
            WaitEnd::Ended if libc::WIFSIGNALED(status) => {
                Outcome::Signalled(libc::WTERMSIG(status))
            }
            WaitEnd::Ended => Outcome::Exited(libc::WEXITSTATUS(status)),
            WaitEnd::TooLong => Outcome::TimedOut,
            WaitEnd::Stopped(signal) => Outcome::Stopped(signal),
            WaitEnd::Cancelled => Outcome::Cancelled,
            WaitEnd::Abandoned => return Err(Leave::Abandoned),
        };
        Ok(Measured {
            wall_ns,
            usage,
            run_delay_ns: account.map_or(0, |account| account.delay_ns + waking_ns),
            keep_waiting,
            ended_as,
            kept_cores,
            wrote_files,
            ..Measured::nothing(outcome)
        })
    }
}

/// Opens an input or output file without blocking. A plain `open` of a FIFO waits until another
/// process opens the other end, and no signal or time limit reaches the launcher then. Fails with
/// `ESPIPE` for an input that is a pipe, because the first launch would read all of it, and with
/// `EISDIR` for a folder, which can be opened but not read.
fn open_at_once(path: &CStr, flags: OFlag) -> Result<OwnedFd, Errno> {
    let mode = Mode::from_bits_truncate(0o666);
    let file = open(path, flags | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK, mode)?;
    match fstat(&file)?.st_mode & libc::S_IFMT {
        libc::S_IFIFO if flags == OFlag::O_RDONLY => return Err(Errno::ESPIPE),
        libc::S_IFDIR => return Err(Errno::EISDIR),
        _ => {}
    }
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

/// Removes a value file, so that no values of an earlier launch are read. Fails for anything but a
/// regular file.
fn remove(path: &CStr) -> Result<(), Errno> {
    match lstat(path) {
        Err(Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno),
        Ok(found) if found.st_mode & libc::S_IFMT == libc::S_IFREG => unlink(path),
        Ok(_) => Err(Errno::EINVAL),
    }
}

fn keep(path: &CStr, capture: BorrowedFd<'_>) -> Result<(), Outcome> {
    const READ: OFlag = OFlag::O_RDONLY
        .union(OFlag::O_CLOEXEC)
        .union(OFlag::O_NONBLOCK);
    let unread = |errno: Errno| Outcome::NoValueFile(errno as i32);
    let file = open(path, READ, Mode::empty()).map_err(unread)?;
    empty(capture);
    let mut bytes = [0; 64 * 1024];
    loop {
        match read(&file, &mut bytes) {
            Ok(0) => return Ok(()),
            Ok(_) if has_too_much(capture) => return Err(Outcome::TooMuchOutput),
            Ok(count) if write_all(capture, &bytes[..count]) => {}
            Ok(_) => return Err(unread(Errno::EIO)),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(unread(errno)),
        }
    }
}
