//! Of two processes that take turns, the one that is to blame.

use super::await_replies::WaitError;
use super::failure::FunctionCause;
use super::process::WorkerProcess;

/// Who is to blame when none of these workers comes back; `None` where that
/// cannot be known. Of two that take turns, one may only wait for the other.
pub(super) fn for_silence(workers: &mut [&mut WorkerProcess], silent: &[usize]) -> Option<usize> {
    if let [only] = silent {
        return Some(*only);
    }
    let stopped: Vec<bool> = silent.iter().map(|at| workers[*at].is_stopped()).collect();
    if let Some(found) = only_one(&stopped) {
        return Some(silent[found]);
    }
    // A system that knows of one only does not tell.
    let awaits: Option<Vec<bool>> = silent
        .iter()
        .map(|at| workers[*at].awaits_baton())
        .collect();
    if let Some(awaits) = awaits {
        let busy: Vec<bool> = awaits.iter().map(|awaits| !awaits).collect();
        if let Some(found) = only_one(&busy) {
            return Some(silent[found]);
        }
        if !busy.contains(&true) {
            return None;
        }
    }
    let called: Vec<bool> = silent
        .iter()
        .map(|at| workers[*at].last_called().is_some())
        .collect();
    only_one(&called).map(|found| silent[found])
}

/// The only one that answered, where all others wait to be handed the baton: it
/// left its turns out.
pub(super) fn for_answering_early(
    workers: &mut [&mut WorkerProcess],
    silent: &[usize],
) -> Option<usize> {
    let mut answered = (0..workers.len()).filter(|place| !silent.contains(place));
    let (early, None) = (answered.next()?, answered.next()) else {
        return None;
    };
    let waits = |place: &usize| workers[*place].awaits_baton() == Some(true);
    silent.iter().all(waits).then_some(early)
}

/// The death of one that ended. The other may have ended of it, and have been
/// noticed first.
pub(super) fn death(
    workers: &mut [&mut WorkerProcess],
    place: usize,
    cause: FunctionCause,
) -> WaitError {
    let mut found = WaitError::Cause {
        worker: place,
        cause: cause.clone(),
    };
    if cause.is_death() {
        let mut most = suspicion(&cause, workers[place].last_called().is_some());
        for (other, worker) in workers.iter_mut().enumerate() {
            let Some(cause) = worker.end().filter(|_| other != place) else {
                continue;
            };
            let suspicion = suspicion(&cause, worker.last_called().is_some());
            if suspicion > most {
                most = suspicion;
                found = WaitError::Cause {
                    worker: other,
                    cause,
                };
            }
        }
    }
    found
}

/// How likely it is that a process ended by its own fault, and not because the
/// other was gone.
fn suspicion(end: &FunctionCause, called: bool) -> u32 {
    match end {
        FunctionCause::Signalled(libc::SIGPIPE) => 0,
        _ if called => 3,
        FunctionCause::Signalled(_) => 2,
        _ => 1,
    }
}

/// Who is to blame when the worker at `place` says that the other is gone, and
/// no death is heard of.
pub(super) fn blame_for_lost_peer(
    workers: &[&mut WorkerProcess],
    place: usize,
) -> (usize, FunctionCause) {
    let other = (0..workers.len()).find(|other| *other != place);
    let holds = other.and_then(|other| workers[other].holds_baton());
    let said = |what: &str| {
        let said = format!("it says that the process it takes turns with is gone, {what}");
        FunctionCause::Protocol(said)
    };
    match (other, holds) {
        (Some(other), Some(false)) => (other, FunctionCause::BatonClosed),
        (Some(_), None) => (
            place,
            said("and that goes on: did one of the two close the baton?"),
        ),
        _ => (place, said("which is not so")),
    }
}

/// The place of the only `true`.
fn only_one(found: &[bool]) -> Option<usize> {
    let mut places = found.iter().enumerate().filter(|(_, yes)| **yes);
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ends_because_the_other_is_gone_is_suspected_least() {
        let bereft = suspicion(&FunctionCause::Signalled(libc::SIGPIPE), true);
        let left = suspicion(&FunctionCause::Exited(1), false);
        let killed = suspicion(&FunctionCause::Signalled(libc::SIGSEGV), false);
        let called = suspicion(&FunctionCause::Exited(0), true);
        assert!(bereft < left && left < killed && killed < called);
    }

    #[test]
    fn one_is_found_among_others_and_not_among_its_like() {
        assert_eq!(only_one(&[false, true]), Some(1));
        assert_eq!(only_one(&[true, true]), None);
        assert_eq!(only_one(&[false, false]), None);
    }
}
