//! Taking turns with the processes of other builds, on one core.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write, pipe};

/// What is handed over. Nobody looks at it.
pub(super) const BATON: u8 = b'|';

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
}
