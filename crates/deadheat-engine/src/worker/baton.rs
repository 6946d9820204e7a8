//! Taking turns with the processes of other builds, on one core: the baton between two of them, and
//! between more.
#![allow(unsafe_code)]

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The byte that is handed over. Nobody looks at it.
const BATON: u8 = b'|';

/// One process's ends of the two pipes that the baton goes through.
#[derive(Debug)]
pub(crate) struct Baton {
    pub(super) incoming: PipeReader,
    pub(super) outgoing: PipeWriter,
}

/// The other process is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeerGone;

impl Baton {
    /// The ends of two processes.
    pub(crate) fn pair() -> std::io::Result<[Baton; 2]> {
        let (to_first, from_second) = pipe()?;
        let (to_second, from_first) = pipe()?;
        let first = Baton {
            incoming: to_first,
            outgoing: from_first,
        };
        let second = Baton {
            incoming: to_second,
            outgoing: from_second,
        };
        Ok([first, second])
    }

    /// Waits until the other process hands over.
    pub(super) fn take(&mut self) -> Result<(), PeerGone> {
        let mut byte = [0];
        loop {
            match self.incoming.read(&mut byte) {
                Ok(1) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return Err(PeerGone),
            }
        }
        // Who has just written is awake and has yet to go to sleep. Were it to
        // do so in the middle of the sample, that would count as a pre-emption.
        std::thread::yield_now();
        Ok(())
    }

    /// Hands over.
    pub(super) fn pass(&mut self) -> Result<(), PeerGone> {
        self.outgoing.write_all(&[BATON]).map_err(|_| PeerGone)
    }
}

/// deadheat's ends of the batons of several processes.
#[derive(Debug)]
pub(crate) struct Relay {
    ends: Vec<End>,
    /// The turns of the block by process, those in a row as one.
    turns: Vec<usize>,
    /// The turn that is taken.
    at: usize,
    /// Processes that have yet to say that their input is there.
    unready: Vec<usize>,
}

#[derive(Debug)]
struct End {
    to: PipeWriter,
    from: PipeReader,
}

/// This process has closed its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed(pub(super) usize);

impl Relay {
    /// The relay between so many processes, and their ends.
    pub(crate) fn between(processes: usize) -> std::io::Result<(Self, Vec<Baton>)> {
        let mut ends = Vec::with_capacity(processes);
        let mut batons = Vec::with_capacity(processes);
        for _ in 0..processes {
            let (incoming, to) = pipe()?;
            let (from, outgoing) = pipe()?;
            set_nonblocking(&from)?;
            ends.push(End { to, from });
            batons.push(Baton { incoming, outgoing });
        }
        let relay = Self {
            ends,
            turns: Vec::new(),
            at: 0,
            unready: Vec::new(),
        };
        Ok((relay, batons))
    }

    /// Expects a block in which the processes have turns in this order.
    pub(crate) fn begin(&mut self, turns: impl IntoIterator<Item = usize>) {
        self.turns = turns.into_iter().collect();
        self.turns.dedup();
        self.at = 0;
        let first = self.turns.first().copied();
        self.unready = (0..self.ends.len())
            .filter(|process| Some(*process) != first)
            .collect();
    }

    /// Passes on what has been handed over.
    pub(super) fn advance(&mut self) -> Result<(), Closed> {
        while !self.unready.is_empty() {
            let mut late = Vec::new();
            for process in std::mem::take(&mut self.unready) {
                if !self.is_handed_over(process)? {
                    late.push(process);
                }
            }
            if !late.is_empty() {
                self.unready = late;
                return Ok(());
            }
            self.hand_over()?;
        }
        while let Some(process) = self.turns.get(self.at).copied() {
            if !self.is_handed_over(process)? {
                return Ok(());
            }
            self.at += 1;
            self.hand_over()?;
        }
        Ok(())
    }

    /// To whose turn it is, or, when all are over, to all who wait for that.
    fn hand_over(&mut self) -> Result<(), Closed> {
        let last = self.turns.last().copied();
        let whom = match self.turns.get(self.at) {
            Some(next) => vec![*next],
            None => (0..self.ends.len())
                .filter(|process| Some(*process) != last)
                .collect(),
        };
        for process in whom {
            let to = &mut self.ends[process].to;
            to.write_all(&[BATON]).map_err(|_| Closed(process))?;
        }
        Ok(())
    }

    fn is_handed_over(&mut self, process: usize) -> Result<bool, Closed> {
        let mut byte = [0];
        loop {
            match self.ends[process].from.read(&mut byte) {
                Ok(1) => return Ok(true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return Err(Closed(process)),
            }
        }
    }

    /// Where the baton is waited for.
    pub(super) fn awaited(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let taken = self.turns.get(self.at);
        let taken = taken.filter(|_| self.unready.is_empty());
        let whom = self.unready.iter().chain(taken);
        whom.map(|process| self.ends[*process].from.as_fd())
    }
}

/// Lets reading or writing fail where it would wait.
pub(super) fn set_nonblocking(end: &impl AsRawFd) -> std::io::Result<()> {
    // SAFETY: plain system call on a descriptor that is open.
    match unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_hands_over_the_other_takes() {
        let [mut one, mut other] = Baton::pair().unwrap();
        one.pass().unwrap();
        assert_eq!(other.take(), Ok(()));
        other.pass().unwrap();
        assert_eq!(one.take(), Ok(()));
    }

    #[test]
    fn nobody_waits_for_a_process_that_is_gone() {
        let [mut one, other] = Baton::pair().unwrap();
        drop(other);
        assert_eq!(one.take(), Err(PeerGone));
        assert_eq!(one.pass(), Err(PeerGone));
    }

    #[test]
    fn the_baton_goes_to_whose_turn_it_is_and_at_last_to_all() {
        let (mut relay, mut batons) = Relay::between(3).unwrap();
        relay.begin([1, 1, 0, 2]);
        assert_eq!(relay.awaited().count(), 2, "everyone but the first");
        batons[0].pass().unwrap();
        relay.advance().unwrap();
        assert_eq!(relay.awaited().count(), 1);
        batons[2].pass().unwrap();
        relay.advance().unwrap();
        for process in [1, 0, 2] {
            batons[process].take().unwrap();
            batons[process].pass().unwrap();
            relay.advance().unwrap();
        }
        assert_eq!(relay.awaited().count(), 0, "the block is over");
        for process in [0, 1] {
            batons[process].take().unwrap();
        }
    }

    #[test]
    fn who_closes_its_ends_is_known() {
        let (mut relay, mut batons) = Relay::between(3).unwrap();
        relay.begin([0, 1, 2]);
        batons.pop();
        assert_eq!(relay.advance(), Err(Closed(2)));
    }
}
