//! The messages between deadheat and its launcher: fixed-size integers in native byte order,
//! because both are the same program.

use std::os::fd::BorrowedFd;

use deadheat_model::{AddressSpace, ExitPolicy};
use nix::errno::Errno;
use nix::unistd::{Whence, ftruncate, lseek, read, write};

use super::left_behind::ProcessName;
use crate::counters::COUNTER_COUNT;
use crate::observed::ProcessState;
use crate::run_delay::KeepWaiting;
use crate::usage::Usage;

/// The maximum number of launches in a request: a block of 64 slots and the discarded launch before
/// it.
pub(crate) const MAX_LAUNCHES: usize = 65;
const LAUNCH_BYTES: usize = 8;
pub(crate) const SHARING_BYTES: usize = 8;
/// Every message to the launcher starts with this many bytes.
pub(crate) const HEAD_BYTES: usize = 4;
pub(crate) const MAX_REQUEST_BYTES: usize =
    HEAD_BYTES + SHARING_BYTES + MAX_LAUNCHES * LAUNCH_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Run this many launches, one after the other. The [`Launch`]es follow.
    Run(usize),
    /// Like `Run`, but keep the standard error of the last launch.
    Rehearse(usize),
    /// Like `Rehearse`, but trace each launch.
    Trace(usize),
    /// Launch this many processes in groups of this size; each group runs side by side. A
    /// [`Sharing`] follows, then the [`Launch`]es.
    SideBySide(usize, usize),
    /// Start an image differently from now on. The number of the image and its [`Manner`] follow,
    /// then the path of the file to start, of this many bytes; an empty path restores the image's
    /// own program.
    Vary(u16),
    /// Kill the running launches. Has no effect if none runs, because a cancel may cross the reply.
    Cancel,
    /// The race is over: exit. Servers that hooks started keep running, unless a launch failed.
    Goodbye,
    /// A signal ended the race: kill the processes that hooks left running, and exit.
    BreakOff,
}

impl Head {
    pub(crate) fn encode(self) -> [u8; HEAD_BYTES] {
        let (tag, count) = match self {
            Head::Run(count) => (b'R', count as u8),
            Head::Rehearse(count) => (b'E', count as u8),
            Head::Trace(count) => (b'T', count as u8),
            Head::SideBySide(count, group) => return [b'S', count as u8, group as u8, 0],
            Head::Vary(length) => {
                let [low, high] = length.to_ne_bytes();
                return [b'V', 0, low, high];
            }
            Head::Cancel => (b'C', 0),
            Head::Goodbye => (b'G', 0),
            Head::BreakOff => (b'B', 0),
        };
        [tag, count, 0, 0]
    }

    pub(crate) fn decode(bytes: [u8; HEAD_BYTES]) -> Option<Self> {
        match bytes {
            [b'R', count, 0, 0] if usize::from(count) <= MAX_LAUNCHES => {
                Some(Head::Run(usize::from(count)))
            }
            [b'E', count, 0, 0] if usize::from(count) <= MAX_LAUNCHES => {
                Some(Head::Rehearse(usize::from(count)))
            }
            [b'T', count, 0, 0] if usize::from(count) <= MAX_LAUNCHES => {
                Some(Head::Trace(usize::from(count)))
            }
            [b'S', count, group, 0] if usize::from(count) <= MAX_LAUNCHES && group > 0 => {
                Some(Head::SideBySide(usize::from(count), usize::from(group)))
            }
            [b'V', 0, low, high] => Some(Head::Vary(u16::from_ne_bytes([low, high]))),
            [b'C', 0, 0, 0] => Some(Head::Cancel),
            [b'G', 0, 0, 0] => Some(Head::Goodbye),
            [b'B', 0, 0, 0] => Some(Head::BreakOff),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) image: u16,
    /// Index of the hook that runs before the launch, untimed; `NO_IMAGE` for none.
    pub(crate) prepare: u16,
    /// Index of the hook that runs after the launch, untimed; `NO_IMAGE` for none.
    pub(crate) conclude: u16,
    /// Bytes of padding in the environment.
    pub(crate) padding: u16,
}

/// The address randomisation and the `argv[0]` of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) fixed_addresses: bool,
    /// True if the path of the variant is also the name of the program (`argv[0]`).
    pub(crate) named_by_path: bool,
}

impl Manner {
    fn encode(self) -> u8 {
        u8::from(self.fixed_addresses) | u8::from(self.named_by_path) << 1
    }

    pub(crate) fn decode(byte: u8) -> Self {
        Self {
            fixed_addresses: byte & 1 != 0,
            named_by_path: byte & 2 != 0,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing {
    pub(crate) core: u16,
    /// The requested time slice in milliseconds; 0 for the kernel's default.
    pub(crate) slice_ms: u16,
    /// Milliseconds after which a trial is killed; 0 for a measured group. A trial has this limit
    /// because two commands may wait for each other forever. If one launch of a trial fails, the
    /// others run on, because a killed process leaves its locks behind.
    pub(crate) trial_ms: u32,
}

impl Sharing {
    pub(crate) fn encode(self) -> [u8; SHARING_BYTES] {
        let [core, slice] = [self.core, self.slice_ms].map(u16::to_ne_bytes);
        let mut bytes = [0; SHARING_BYTES];
        bytes[..2].copy_from_slice(&core);
        bytes[2..4].copy_from_slice(&slice);
        bytes[4..].copy_from_slice(&self.trial_ms.to_ne_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: [u8; SHARING_BYTES]) -> Self {
        Self {
            core: u16::from_ne_bytes([bytes[0], bytes[1]]),
            slice_ms: u16::from_ne_bytes([bytes[2], bytes[3]]),
            trial_ms: u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        }
    }
}

pub(crate) const NO_IMAGE: u16 = u16::MAX;

/// Writes a request into `buffer` and returns its length in bytes.
pub(crate) fn encode_request(
    head: Head,
    sharing: Option<Sharing>,
    launches: &[Launch],
    buffer: &mut [u8; MAX_REQUEST_BYTES],
) -> usize {
    assert!(
        launches.len() <= MAX_LAUNCHES,
        "a request holds at most {MAX_LAUNCHES} launches"
    );
    buffer[..HEAD_BYTES].copy_from_slice(&head.encode());
    let mut start = HEAD_BYTES;
    if let Some(sharing) = sharing {
        buffer[start..start + SHARING_BYTES].copy_from_slice(&sharing.encode());
        start += SHARING_BYTES;
    }
    for (launch, bytes) in launches
        .iter()
        .zip(buffer[start..].chunks_exact_mut(LAUNCH_BYTES))
    {
        let fields = [
            launch.image,
            launch.prepare,
            launch.conclude,
            launch.padding,
        ];
        for (field, target) in fields.iter().zip(bytes.chunks_exact_mut(2)) {
            target.copy_from_slice(&field.to_ne_bytes());
        }
    }
    start + launches.len() * LAUNCH_BYTES
}

/// Encodes a [`Head::Vary`] message; `None` if the path is longer than `u16::MAX` bytes.
pub(crate) fn encode_variant(image: u16, manner: Manner, path: &[u8]) -> Option<Vec<u8>> {
    let length = path.len().try_into().ok()?;
    let mut bytes = Head::Vary(length).encode().to_vec();
    bytes.extend_from_slice(&image.to_ne_bytes());
    bytes.push(manner.encode());
    bytes.extend_from_slice(path);
    Some(bytes)
}

pub(crate) fn decode_launch(body: &[u8], index: usize) -> Launch {
    let bytes = &body[index * LAUNCH_BYTES..(index + 1) * LAUNCH_BYTES];
    let field = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    Launch {
        image: field(0),
        prepare: field(2),
        conclude: field(4),
        padding: field(6),
    }
}

pub(crate) fn body_bytes(launches: usize) -> usize {
    launches * LAUNCH_BYTES
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Exited(i32),
    Signalled(i32),
    /// The process could not be started, with this error number.
    NotStarted(i32),
    /// The time limit was reached and the process killed.
    TimedOut,
    /// deadheat cancelled the launch, or another launch failed before.
    Cancelled,
    /// The input file could not be opened, with this error number.
    NoInput(i32),
    /// The output could not be opened, with this error number.
    NoOutput(i32),
    PrepareFailed(HookEnd),
    ConcludeFailed(HookEnd),
    /// The value file could not be removed before the launch or read after it, with this error
    /// number.
    NoValueFile(i32),
    /// The output or the value file was larger than `MOST_OUTPUT`.
    TooMuchOutput,
    /// This signal stopped the process; nothing continued it, and it was killed.
    Stopped(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookEnd {
    Exited(i32),
    Signalled(i32),
    NotStarted(i32),
    /// This signal stopped the hook; 0 if a process that the hook started was stopped.
    Stopped(i32),
    /// The hook exceeded its time limit and was killed.
    TimedOut,
}

impl HookEnd {
    /// Encodes the failure as one number. Exit codes are below 256, signals and error numbers below
    /// 65,536.
    fn code(self) -> i32 {
        match self {
            HookEnd::Exited(code) => code,
            HookEnd::Signalled(signal) => 1 << 16 | signal,
            HookEnd::NotStarted(errno) => 2 << 16 | errno,
            HookEnd::Stopped(signal) => 3 << 16 | signal,
            HookEnd::TimedOut => 4 << 16,
        }
    }

    fn from_code(code: i32) -> Self {
        let detail = code & 0xffff;
        match code >> 16 {
            1 => HookEnd::Signalled(detail),
            2 => HookEnd::NotStarted(detail),
            3 => HookEnd::Stopped(detail),
            4 => HookEnd::TimedOut,
            _ => HookEnd::Exited(detail),
        }
    }
}

impl Outcome {
    pub(crate) fn is_accepted_by(self, policy: &ExitPolicy) -> bool {
        matches!(self, Outcome::Exited(code) if policy.accepts(code))
    }

    fn code(self) -> (u64, i32) {
        match self {
            Outcome::Exited(code) => (0, code),
            Outcome::Signalled(signal) => (1, signal),
            Outcome::NotStarted(errno) => (2, errno),
            Outcome::TimedOut => (3, 0),
            Outcome::Cancelled => (4, 0),
            Outcome::NoInput(errno) => (5, errno),
            Outcome::NoOutput(errno) => (6, errno),
            Outcome::PrepareFailed(end) => (7, end.code()),
            Outcome::ConcludeFailed(end) => (8, end.code()),
            Outcome::NoValueFile(errno) => (9, errno),
            Outcome::TooMuchOutput => (10, 0),
            Outcome::Stopped(signal) => (11, signal),
        }
    }

    fn from_code(kind: u64, detail: i32) -> Option<Self> {
        Some(match kind {
            0 => Outcome::Exited(detail),
            1 => Outcome::Signalled(detail),
            2 => Outcome::NotStarted(detail),
            3 => Outcome::TimedOut,
            4 => Outcome::Cancelled,
            5 => Outcome::NoInput(detail),
            6 => Outcome::NoOutput(detail),
            7 => Outcome::PrepareFailed(HookEnd::from_code(detail)),
            8 => Outcome::ConcludeFailed(HookEnd::from_code(detail)),
            9 => Outcome::NoValueFile(detail),
            10 => Outcome::TooMuchOutput,
            11 => Outcome::Stopped(detail),
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) outcome: Outcome,
    pub(crate) wall_ns: u64,
    pub(crate) usage: Usage,
    /// Scheduling delay of the command, and of the launcher after the command's end, in
    /// nanoseconds.
    pub(crate) run_delay_ns: u64,
    /// The reason, if any, not to subtract the scheduling delay.
    pub(crate) keep_waiting: Option<KeepWaiting>,
    pub(crate) counters: [u64; COUNTER_COUNT],
    /// The name and addresses of the process at its end; `None` if unknown.
    pub(crate) ended_as: Option<ProcessState>,
    /// True if the main thread of the process was still restricted to the given cores when the
    /// process ended; `None` if unknown.
    pub(crate) kept_cores: Option<bool>,
    /// True if the process wrote to files on a disk.
    pub(crate) wrote_files: bool,
    /// The name of a process that the launch left running.
    pub(crate) left_behind: Option<ProcessName>,
}

/// The index of the usage among the words of an encoded [`Measured`], after the outcome (two words)
/// and the time.
const USAGE_AT: usize = 3;
/// The index of the scheduling delay, after the usage. The reason not to subtract the delay
/// follows.
const WAITING_AT: usize = USAGE_AT + size_of::<Usage>() / 8;
const COUNTERS_AT: usize = WAITING_AT + 2;
/// Index of the name and the state of the process, after the counters.
const STATE_AT: usize = COUNTERS_AT + COUNTER_COUNT;
const WROTE_AT: usize = STATE_AT + 3;
/// Index of the name of a process left running: two words, 0 if there was none.
const LEFT_AT: usize = WROTE_AT + 1;
const MEASURED_WORDS: usize = LEFT_AT + 2;
pub(crate) const MEASURED_BYTES: usize = MEASURED_WORDS * 8;

impl Measured {
    /// Returns measurements with this outcome and no values.
    pub(crate) fn nothing(outcome: Outcome) -> Self {
        Self {
            outcome,
            wall_ns: 0,
            usage: Usage::default(),
            run_delay_ns: 0,
            keep_waiting: None,
            counters: [0; COUNTER_COUNT],
            ended_as: None,
            kept_cores: None,
            wrote_files: false,
            left_behind: None,
        }
    }

    pub(crate) fn encode(&self, bytes: &mut [u8]) {
        let (kind, detail) = self.outcome.code();
        let mut words = [0; MEASURED_WORDS];
        words[..USAGE_AT].copy_from_slice(&[kind, i64::from(detail) as u64, self.wall_ns]);
        words[USAGE_AT..WAITING_AT].copy_from_slice(&self.usage);
        words[WAITING_AT] = self.run_delay_ns;
        words[WAITING_AT + 1] = match self.keep_waiting {
            None => 0,
            Some(KeepWaiting::Concurrent) => 1,
            Some(KeepWaiting::Unread) => 2,
        };
        words[COUNTERS_AT..STATE_AT].copy_from_slice(&self.counters);
        let state = encode_state(self.ended_as, self.kept_cores);
        words[STATE_AT..WROTE_AT].copy_from_slice(&state);
        words[WROTE_AT] = u64::from(self.wrote_files);
        words[LEFT_AT..].copy_from_slice(&encode_name(self.left_behind.unwrap_or_default()));
        for (word, target) in words.iter().zip(bytes.chunks_exact_mut(8)) {
            target.copy_from_slice(&word.to_ne_bytes());
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut words = [0; MEASURED_WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            let bytes = bytes.get(index * 8..index * 8 + 8)?;
            *word = u64::from_ne_bytes(bytes.try_into().ok()?);
        }
        let (ended_as, kept_cores) = decode_state(&words[STATE_AT..WROTE_AT])?;
        Some(Self {
            outcome: Outcome::from_code(words[0], words[1] as i32)?,
            wall_ns: words[2],
            usage: words[USAGE_AT..WAITING_AT].try_into().ok()?,
            run_delay_ns: words[WAITING_AT],
            keep_waiting: match words[WAITING_AT + 1] {
                0 => None,
                1 => Some(KeepWaiting::Concurrent),
                2 => Some(KeepWaiting::Unread),
                _ => return None,
            },
            counters: words[COUNTERS_AT..STATE_AT].try_into().ok()?,
            ended_as,
            kept_cores,
            wrote_files: words[WROTE_AT] == 1,
            left_behind: Some(decode_name([words[LEFT_AT], words[LEFT_AT + 1]]))
                .filter(|name| name[0] != 0),
        })
    }
}

fn encode_name(name: ProcessName) -> [u64; 2] {
    let half = |at: usize| u64::from_ne_bytes(std::array::from_fn(|byte| name[at + byte]));
    [half(0), half(8)]
}

fn decode_name([low, high]: [u64; 2]) -> ProcessName {
    let mut name = [0; 16];
    name[..8].copy_from_slice(&low.to_ne_bytes());
    name[8..].copy_from_slice(&high.to_ne_bytes());
    name
}

/// Encodes the name as two words, and four bits in a third: state known, addresses random, cores
/// known, cores kept.
fn encode_state(ended_as: Option<ProcessState>, kept_cores: Option<bool>) -> [u64; 3] {
    let [low, high] = encode_name(ended_as.map_or([0; 16], |state| state.name));
    let is_random = ended_as.is_some_and(|state| state.addresses == AddressSpace::Random);
    let bits = [
        ended_as.is_some(),
        is_random,
        kept_cores.is_some(),
        kept_cores == Some(true),
    ];
    let bits = bits.iter().enumerate();
    let bits = bits.map(|(place, bit)| u64::from(*bit) << place);
    [low, high, bits.sum()]
}

fn decode_state(words: &[u64]) -> Option<(Option<ProcessState>, Option<bool>)> {
    let [low, high, bits] = *words else {
        return None;
    };
    let bit = |place: u32| bits >> place & 1 == 1;
    let name = decode_name([low, high]);
    let addresses = if bit(1) {
        AddressSpace::Random
    } else {
        AddressSpace::Fixed
    };
    let ended_as = bit(0).then_some(ProcessState { name, addresses });
    Some((ended_as, bit(2).then(|| bit(3))))
}

/// Reads until the buffer is full. Returns false at the end of the file and on an error.
pub(super) fn read_exact(file: BorrowedFd<'_>, buffer: &mut [u8]) -> bool {
    let mut done = 0;
    while done < buffer.len() {
        match read(file, &mut buffer[done..]) {
            Ok(0) => return false,
            Ok(count) => done += count,
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Reads a memory file from its beginning; `None` on an error.
pub(super) fn read_all(file: BorrowedFd<'_>) -> Option<Vec<u8>> {
    lseek(file, 0, Whence::SeekSet).ok()?;
    let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        match read(file, &mut bytes) {
            Ok(0) => return Some(all),
            Ok(count) => all.extend_from_slice(&bytes[..count]),
            Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// Writes all bytes. Returns false on an error.
pub(super) fn write_all(file: BorrowedFd<'_>, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match write(file, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Truncates a memory file and rewinds it.
pub(super) fn empty(file: BorrowedFd<'_>) {
    let _ = ftruncate(file, 0);
    let _ = lseek(file, 0, Whence::SeekSet);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let launches = [
            Launch {
                image: 1,
                prepare: NO_IMAGE,
                conclude: 3,
                padding: 4095,
            },
            Launch {
                image: 0,
                prepare: 2,
                conclude: NO_IMAGE,
                padding: 0,
            },
        ];
        let mut buffer = [0; MAX_REQUEST_BYTES];
        let length = encode_request(Head::Run(launches.len()), None, &launches, &mut buffer);
        assert_eq!(length, HEAD_BYTES + body_bytes(2));
        assert_eq!(Head::decode([b'R', 2, 0, 0]), Some(Head::Run(2)));
        assert_eq!(decode_launch(&buffer[HEAD_BYTES..], 0), launches[0]);
        assert_eq!(decode_launch(&buffer[HEAD_BYTES..], 1), launches[1]);
    }

    #[test]
    fn launches_side_by_side_come_behind_what_they_share() {
        let sharing = Sharing {
            core: 300,
            slice_ms: 20,
            trial_ms: 70_000,
        };
        let launches = [Launch::default(); 2];
        let mut buffer = [0; MAX_REQUEST_BYTES];
        let head = Head::SideBySide(2, 2);
        let length = encode_request(head, Some(sharing), &launches, &mut buffer);
        assert_eq!(length, HEAD_BYTES + SHARING_BYTES + body_bytes(2));
        let sent = buffer[HEAD_BYTES..HEAD_BYTES + SHARING_BYTES].try_into();
        assert_eq!(Sharing::decode(sent.unwrap()), sharing);
    }

    #[test]
    fn every_message_head_is_read_as_it_was_written() {
        for head in [
            Head::Run(0),
            Head::Run(MAX_LAUNCHES),
            Head::Rehearse(3),
            Head::Trace(2),
            Head::SideBySide(4, 2),
            Head::Vary(0),
            Head::Vary(u16::MAX),
            Head::Cancel,
            Head::Goodbye,
            Head::BreakOff,
        ] {
            assert_eq!(Head::decode(head.encode()), Some(head));
        }
        assert_eq!(Head::decode([b'R', 200, 0, 0]), None);
        assert_eq!(Head::decode([b'S', 4, 0, 0]), None);
        assert_eq!(Head::decode([0; 4]), None);
    }

    #[test]
    fn every_outcome_survives_the_wire() {
        for outcome in [
            Outcome::Exited(-1),
            Outcome::Signalled(9),
            Outcome::NotStarted(2),
            Outcome::TimedOut,
            Outcome::Cancelled,
            Outcome::NoInput(2),
            Outcome::NoOutput(13),
            Outcome::PrepareFailed(HookEnd::Exited(255)),
            Outcome::PrepareFailed(HookEnd::NotStarted(2)),
            Outcome::ConcludeFailed(HookEnd::Signalled(9)),
            Outcome::NoValueFile(13),
            Outcome::TooMuchOutput,
            Outcome::Stopped(22),
            Outcome::PrepareFailed(HookEnd::Stopped(21)),
            Outcome::ConcludeFailed(HookEnd::TimedOut),
        ] {
            let mut measured = Measured::nothing(outcome);
            measured.wall_ns = u64::MAX;
            measured.keep_waiting = Some(KeepWaiting::Unread);
            measured.wrote_files = true;
            measured.left_behind = Some(*b"sleep\0\0\0\0\0\0\0\0\0\0\0");
            if let Some(last) = measured.counters.last_mut() {
                *last = 77;
            }
            let mut bytes = [0; MEASURED_BYTES];
            measured.encode(&mut bytes);
            assert_eq!(Measured::decode(&bytes), Some(measured));
        }
    }

    #[test]
    fn a_reply_that_makes_no_sense_is_not_believed() {
        assert_eq!(Measured::decode(&[0; 8]), None);
        assert_eq!(Measured::decode(&[255; MEASURED_BYTES]), None);
    }
}
