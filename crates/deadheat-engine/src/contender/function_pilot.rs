//! The calibration run of a function benchmark, before the plan is frozen: finds the number of
//! calls per sample and checks that its contenders run.

use std::time::{Duration, Instant};

use deadheat_model::Metric;

use super::process_layout::ProcessLayout;
use super::worker_session::{RunPosition, WorkerSession};
use super::workers::Workers;
use crate::error::EngineError;
use crate::function::Pilot;
use crate::function_failure::{FunctionError, FunctionFailure};
use crate::order::Moment;
use crate::worker::{Relay, Reply, Request, SEEDS};

/// The maximum number of trial blocks after the first.
const MOST_BLOCKS: u64 = 8;
/// The maximum number of blocks per replicate that a worker may suggest.
const MOST_SUGGESTED: u32 = 1_000;
/// The time in which all trial blocks of a benchmark must start. Benchmarks with longer blocks get
/// no trial, because the first block is cold and no time is left for another. A trial of a 20 ms
/// function took 80 ms and showed nothing.
const TRIAL: Duration = Duration::from_millis(40);

/// The results of the calibration run of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Piloted {
    /// The results of the workers.
    pub pilot: Pilot,
    /// The nanoseconds that the processes take before their first block. If several benchmarks
    /// share one start of the processes, only the share of this benchmark in that start counts.
    pub process_ns: f64,
    /// True if other benchmarks share the start of these processes.
    pub shares_start: bool,
}

impl Workers<'_> {
    pub(super) fn pilot(
        &mut self,
        index: usize,
        layout: &ProcessLayout,
        more: usize,
    ) -> Result<Piloted, EngineError> {
        let at = |index: usize| RunPosition {
            layout,
            moment: Moment::Pilot,
            place: [index as u64, u64::MAX, 0],
        };
        let position = at(index);
        let ahead = self.room_ahead(layout).min(more + 1);
        if ahead > 1 && !self.ahead.holds(position.place) {
            let places = index..index + ahead;
            self.start_ahead(places.map(|index| (at(index), None)).collect())?;
        }
        let waits = self.ahead.holds(position.place);
        if !waits {
            // The exit of the previous process must not count as a cost of this one.
            self.see_off();
        }
        let mut team = PilotTeam::default();
        let found = self.find_out(position, waits, &mut team);
        // Keeps a process that reported its own failure, because it may serve another benchmark.
        // Discards the processes of a failed block, because one of them may still wait for its
        // turn.
        let has_failed = team.sessions.iter().any(|session| session.has_failed);
        if !team.is_in_block && (found.is_ok() || has_failed) {
            self.keep(team.sessions, team.relay, (layout, position.place[1]));
        }
        found
    }

    /// Calibrates the benchmark, and adds the processes to `team` as they start.
    fn find_out(
        &mut self,
        position: RunPosition<'_>,
        waits: bool,
        team: &mut PilotTeam,
    ) -> Result<Piloted, EngineError> {
        let layout = position.layout;
        let began = Instant::now();
        let spent = self.one_start.spent();
        self.start_team(position, team)?;
        let shared = self.one_start.spent() - spent;
        let mut process = began.elapsed().saturating_sub(shared) + self.one_start.share(layout);
        if let (true, Some(startup)) = (waits, self.startup(layout)) {
            process += startup.took;
        }
        let process_ns = process.as_nanos() as f64;
        let least_ns = self.least_ns(layout);
        let mut found: Option<Pilot> = None;
        let mut notes = Vec::new();
        for session in &mut team.sessions {
            if session.has_failed {
                continue;
            }
            let request = Request::Calibrate {
                seed: self.input_seed(position.place),
                least_ns,
            };
            let asked = self.ask(session, position, &request);
            let Some(reply) = unless_it_reports_an_error(asked, &mut team.reported)? else {
                continue;
            };
            let mut pilot = match reply {
                Reply::Calibrated(pilot) if makes_sense(&pilot, layout) => pilot,
                reply => return Err(session.unexpected(position, &reply)),
            };
            notes.push(std::mem::take(&mut pilot.notes));
            found = Some(match found {
                None => pilot,
                Some(before) => beside(before, pilot),
            });
        }
        team.error()?;
        let mut pilot = found.expect("there is at least one process");
        pilot.notes = notes_of(notes, &layout.contenders);
        if layout.contenders.len() == 2 && pilot.blocks_ns.is_empty() {
            team.is_in_block = layout.takes_turns();
            self.try_blocks(&mut team.sessions, position, &mut pilot)?;
            team.is_in_block = false;
        }
        if layout.takes_turns() {
            self.note_used_pages(&team.sessions, position);
        }
        Ok(Piloted {
            pilot,
            process_ns,
            shares_start: self.one_start.serves(layout),
        })
    }

    /// Runs trial blocks like those of a race, each with a different input, up to the time limit.
    fn try_blocks(
        &self,
        team: &mut [WorkerSession],
        position: RunPosition<'_>,
        pilot: &mut Pilot,
    ) -> Result<(), EngineError> {
        let round_ns: f64 = pilot.call_ns.iter().sum::<f64>() * pilot.iterations as f64;
        let input_ns = pilot.input_ns.unwrap_or(0.0);
        if 2.0 * round_ns + input_ns >= TRIAL.as_nanos() as f64 {
            return Ok(());
        }
        let metrics = &self.options.metrics;
        let wall = metrics.iter().position(|metric| *metric == Metric::Wall);
        let trial = Instant::now();
        // The first block is not counted, because everything is cold.
        for index in 0..=MOST_BLOCKS {
            let [benchmark, replicate, _] = position.place;
            let position = RunPosition {
                place: [benchmark, replicate, index],
                ..position
            };
            let began = Instant::now();
            let order = [0, 1, 1, 0];
            let measured = self.block((team, None), position, pilot.iterations, None, &order)?;
            if index > 0 {
                let slots = measured.values.chunks_exact(metrics.len());
                let walls: Vec<f64> = slots.map(|slot| slot[wall.unwrap_or(0)]).collect();
                pilot.blocks_ns.extend(<[f64; 4]>::try_from(walls));
                let cost_ns = began.elapsed().as_nanos() as f64;
                let least = pilot
                    .block_cost_ns
                    .map_or(cost_ns, |least| least.min(cost_ns));
                pilot.block_cost_ns = Some(least);
            }
            if trial.elapsed() > TRIAL {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn smoke(&mut self, layout: &ProcessLayout) -> Result<(), EngineError> {
        let position = RunPosition {
            layout,
            moment: Moment::Pilot,
            place: [0, u64::MAX, 1],
        };
        let mut team = PilotTeam::default();
        self.start_team(position, &mut team)?;
        for session in &mut team.sessions {
            let seed = self.input_seed(position.place);
            let request = Request::Smoke { seed };
            match self.ask(session, position, &request)? {
                Reply::Sound => {}
                reply => return Err(session.unexpected(position, &reply)),
            }
        }
        self.keep(team.sessions, team.relay, (layout, position.place[1]));
        self.see_off();
        Ok(())
    }

    /// Starts and prepares the processes of a benchmark on the user's own links.
    fn start_team(
        &mut self,
        position: RunPosition<'_>,
        team: &mut PilotTeam,
    ) -> Result<(), EngineError> {
        self.settle(position)?;
        if let Some(kept) = self.take_kept(position)? {
            team.sessions = kept.team;
            team.relay = kept.relay;
            for session in &mut team.sessions {
                let prepared = self.prepare(session, position);
                unless_it_reports_an_error(prepared, &mut team.reported)?;
            }
            return Ok(());
        }
        let batons = position.batons()?;
        team.relay = batons.relay;
        for process_slot in 0..position.layout.process_slots.len() {
            let baton = batons.ends.get(process_slot);
            let is_first = process_slot == 0;
            let session = self.start(position, process_slot, None, (baton, is_first))?;
            team.sessions.push(session);
            let session = team.sessions.last_mut().expect("just added");
            let prepared = self.prepare(session, position);
            unless_it_reports_an_error(prepared, &mut team.reported)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct PilotTeam {
    sessions: Vec<WorkerSession>,
    relay: Option<Relay>,
    /// True during a block, when one process may wait for another.
    is_in_block: bool,
    /// The failures of processes whose functions report an error.
    reported: Vec<FunctionFailure>,
}

impl PilotTeam {
    /// Returns the first reported error. If all processes report one, the benchmark cannot run here
    /// and skips itself; an error of some processes is a difference between the contenders.
    fn error(&mut self) -> Result<(), EngineError> {
        let all_report = self.reported.len() == self.sessions.len();
        let Some(mut failure) = self.reported.drain(..).next() else {
            return Ok(());
        };
        if let FunctionError::ReportsError(error) = &failure.cause
            && all_report
        {
            failure.cause = FunctionError::Skipped(error.clone());
        }
        Err(EngineError::Function(Box::new(failure)))
    }
}

/// Moves the failure of a function that reports an error to `reported`, because the other processes
/// must show first whether they report one too. Returns `None` then.
fn unless_it_reports_an_error<T>(
    result: Result<T, EngineError>,
    reported: &mut Vec<FunctionFailure>,
) -> Result<Option<T>, EngineError> {
    match result {
        Err(EngineError::Function(failure))
            if matches!(failure.cause, FunctionError::ReportsError(_)) =>
        {
            reported.push(*failure);
            Ok(None)
        }
        result => result.map(Some),
    }
}

fn makes_sense(pilot: &Pilot, layout: &ProcessLayout) -> bool {
    let called = layout.called();
    let is_time = |ns: &f64| ns.is_finite() && *ns >= 0.0;
    // JSON readers represent integers up to this limit exactly.
    (1..=SEEDS).contains(&pilot.iterations)
        && pilot.call_ns.len() == called
        && pilot.call_ns.iter().all(is_time)
        && pilot.most_iterations != Some(0)
        && pilot.blocks_ns.as_flattened().iter().all(is_time)
        && pilot.block_cost_ns.as_ref().is_none_or(is_time)
        && pilot.input_ns.as_ref().is_none_or(is_time)
        && pilot.blocks.is_none_or(|blocks| blocks <= MOST_SUGGESTED)
}

/// Combines the results of two processes: the larger number of calls per sample, so that the sample
/// of the fastest contender is long enough.
fn beside(one: Pilot, other: Pilot) -> Pilot {
    let most = [one.most_iterations, other.most_iterations];
    let most = most.into_iter().flatten().min();
    Pilot {
        iterations: one
            .iterations
            .max(other.iterations)
            .min(most.unwrap_or(u64::MAX)),
        most_iterations: most,
        call_ns: one.call_ns.into_iter().chain(other.call_ns).collect(),
        blocks_ns: Vec::new(),
        block_cost_ns: None,
        warm_at_once: one.warm_at_once && other.warm_at_once,
        // Both sides must receive their inputs in the same way, otherwise their times are not
        // comparable.
        input_per_call: one.input_per_call || other.input_per_call,
        notes: Vec::new(),
        throughput: one
            .throughput
            .filter(|_| one.throughput == other.throughput),
        blocks: one.blocks.max(other.blocks),
        // The processes make their inputs one after the other on one core.
        input_ns: match one.input_per_call || other.input_per_call {
            true => None,
            false => [one.input_ns, other.input_ns]
                .into_iter()
                .flatten()
                .reduce(|a, b| a + b),
        },
    }
}

/// Merges the notes of all processes. A note of all processes appears once; a note of only some
/// gets the name of its contender.
fn notes_of(by_process: Vec<Vec<String>>, contenders: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for (process, contender) in by_process.iter().zip(contenders) {
        for note in process {
            if !by_process.iter().all(|other| other.contains(note)) {
                notes.push(format!("{contender}: {note}"));
            } else if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_of_one_process_names_its_contender_and_one_of_all_comes_once() {
        let names = ["old".to_owned(), "new".to_owned()];
        let notes = |of: &[&[&str]]| {
            let owned = |process: &&[&str]| process.iter().map(|note| note.to_string()).collect();
            notes_of(of.iter().map(owned).collect(), &names)
        };
        assert_eq!(
            notes(&[&["a", "b"], &["b", "c"]]),
            ["old: a", "b", "new: c"]
        );
        assert_eq!(notes(&[&["a", "b"]]), ["a", "b"]);
        assert_eq!(notes(&[&[], &["c"]]), ["new: c"]);
        assert!(notes(&[&[], &[]]).is_empty());
    }
}
