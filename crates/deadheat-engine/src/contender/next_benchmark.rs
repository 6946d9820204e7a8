//! From one benchmark of a replicate to the next, in processes that serve both.

use std::time::Duration;

use super::one_start::KeptTeam;
use super::process_layout::ProcessLayout;
use super::worker_session::{RunPosition, WorkerSession};
use super::workers::{START_UP, Workers};
use crate::error::EngineError;
use crate::worker::{Relay, Reply, ReplyLimits, Request};

impl Workers<'_> {
    /// Has a process that was just started import what its benchmarks need, where it is to serve
    /// several and can.
    pub(super) fn import(
        &mut self,
        session: &mut WorkerSession,
        position: RunPosition<'_>,
    ) -> Result<(), EngineError> {
        let program = position.layout.process_slots[session.process_slot].program;
        let may_fork = self.options.forks && session.forks && !self.options.callgrind;
        let Some(suite) = self.one_start.suite(program).filter(|_| may_fork) else {
            return Ok(());
        };
        if let Some(Some(_)) = self.one_start.forking.get(&program) {
            return Ok(());
        }
        let benchmarks = suite.clone();
        session.worker.ask(&Request::Import { benchmarks });
        let patience = ReplyLimits {
            each: self.options.timeout.map(|timeout| timeout.max(START_UP)),
            ..self.patience(1)
        };
        let team = std::slice::from_mut(session);
        match self
            .await_replies(team, None, position, patience)?
            .remove(0)
        {
            Reply::Imported { unforked } => {
                session.serves_many = unforked.is_none();
                self.one_start.forking.insert(program, unforked);
                Ok(())
            }
            reply => Err(session.unexpected(position, &reply)),
        }
    }

    /// Takes down what the start of a process took that others share; the first of a team starts
    /// a new account.
    pub(super) fn account_start(&mut self, session: &WorkerSession, took: Duration, first: bool) {
        if first {
            self.one_start.last_start = Duration::ZERO;
        }
        if session.serves_many {
            self.one_start.last_start += took;
            self.one_start.spent += took;
        }
    }

    /// Ends the benchmark of a team. Its processes serve the next one where all of them can;
    /// others are let go.
    pub(super) fn keep(
        &mut self,
        mut team: Vec<WorkerSession>,
        relay: Option<Relay>,
        (layout, replicate): (&ProcessLayout, u64),
    ) {
        if team.is_empty() || !team.iter().all(|session| session.serves_many) {
            return self.dismiss(team);
        }
        for session in &mut team {
            // One that said why it failed has ended the benchmark already.
            if !session.has_failed {
                session.worker.ask(&Request::Bye);
            }
        }
        self.one_start.kept.push(KeptTeam {
            replicate,
            programs: programs_of(layout),
            team,
            relay,
        });
    }

    /// The processes that serve another benchmark of this replicate, by process slot; `None` where
    /// new ones must be started.
    pub(super) fn take_kept(
        &mut self,
        position: RunPosition<'_>,
    ) -> Result<Option<KeptTeam>, EngineError> {
        let programs = programs_of(position.layout);
        let is_it =
            |kept: &KeptTeam| kept.replicate == position.place[1] && kept.programs == programs;
        let kept = &mut self.one_start.kept;
        let Some(at) = kept.iter().position(is_it) else {
            return Ok(None);
        };
        let mut kept = kept.swap_remove(at);
        let team = &mut kept.team;
        let replies = match self.await_replies(team, None, position, self.patience(1)) {
            Ok(replies) => replies,
            Err(EngineError::Interrupted) => return Err(EngineError::Interrupted),
            // One that does not come back from the benchmark before is nothing to this one.
            Err(_) => return Ok(None),
        };
        if !replies.iter().all(|reply| *reply == Reply::Over) {
            return Ok(None);
        }
        for session in team {
            session.worker.serves_itself();
            session.has_failed = false;
            session.ready = None;
            self.launched += 1;
            let draws = self.draws_of(position, session);
            (session.heap_bytes, session.stack_bytes) = draws;
        }
        Ok(Some(kept))
    }

    /// Lets processes go that serve no benchmark of this replicate.
    pub(super) fn dismiss_kept_of_others(&mut self, replicate: u64) {
        let kept = std::mem::take(&mut self.one_start.kept);
        for team in kept {
            match team.replicate == replicate {
                true => self.one_start.kept.push(team),
                false => self.dismiss(team.team),
            }
        }
    }

    /// Lets all go that wait for their next benchmark.
    pub(super) fn dismiss_kept(&mut self) {
        for team in std::mem::take(&mut self.one_start.kept) {
            self.dismiss(team.team);
        }
    }
}

fn programs_of(layout: &ProcessLayout) -> Vec<usize> {
    let slots = layout.process_slots.iter();
    slots.map(|slot| slot.program).collect()
}
