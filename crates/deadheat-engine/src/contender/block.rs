//! Runs a block of functions: sends it to the processes of a replicate and turns their replies into
//! samples.

use deadheat_model::{Block, BlockRecord, Flags, Metric, Sample, column_name};

use super::worker_session::{RunPosition, WorkerSession};
use super::workers::Workers;
use crate::error::EngineError;
use crate::function::primes;
use crate::function_failure::FunctionError;
use crate::run_delay::KeepWaiting;
#[cfg(feature = "commands")]
use crate::valgrind::instructions_of_samples;
use crate::worker::{BlockRequest, Relay, Reply, Request};

/// If processes take turns, an unrecorded sample has this many times fewer calls than a recorded
/// one, because it only brings the input and the code back into the caches. If a recorded sample
/// has fewer calls than this number, unrecorded samples are left out, because they would take half
/// of the time. Both sides then start equally cold.
const PRIMES_SHORTER: u64 = 10;

pub(super) struct Measured {
    /// The values of all metrics of the run, slot by slot.
    pub(super) values: Vec<f64>,
    /// The reason why the time includes the slots' scheduling delay, if it does.
    pub(super) keep_waiting: Option<KeepWaiting>,
    /// By slot, true if the GPU was throttled or its clock changed; empty if no worker reports it.
    pub(super) gpu_clock: Vec<bool>,
}

impl Measured {
    pub(super) fn record(
        &self,
        metrics: &[Metric],
        block: &Block,
        iterations: u64,
        threads: u32,
        record: &mut BlockRecord,
    ) {
        let waiting = if threads > 1 {
            Flags::CONCURRENT
        } else {
            self.keep_waiting.map_or(Flags::NONE, KeepWaiting::flag)
        };
        let samples = self.values.chunks_exact(metrics.len());
        for (index, (slot, values)) in block.slots.iter().zip(samples).enumerate() {
            let gpu = match self.gpu_clock.get(index) {
                Some(true) => Flags::GPU_CLOCK,
                _ => Flags::NONE,
            };
            record.samples.push(Sample {
                contender: slot.contender,
                flags: evidence(values, metrics, threads).and(waiting).and(gpu),
                exit_code: None,
                iterations,
            });
        }
        record.values.extend_from_slice(&self.values);
    }
}

impl Workers<'_> {
    pub(super) fn block(
        &self,
        (team, mut relay): (&mut [WorkerSession], Option<&mut Relay>),
        position: RunPosition<'_>,
        iterations: u64,
        prime: Option<usize>,
        slots: &[usize],
    ) -> Result<Measured, EngineError> {
        let layout = position.layout;
        let renewed = !layout.one_input && team.iter().any(|session| session.renews_input);
        let unrecorded_iterations = if layout.takes_turns() {
            iterations / PRIMES_SHORTER
        } else {
            iterations
        };
        let [benchmark, replicate, block] = position.place;
        let seed = self.input_seed(match layout.one_input {
            true => [benchmark, replicate, 0],
            false => [benchmark, replicate, block],
        });
        let mut known = true;
        for session in team.iter_mut() {
            // A prepared input serves one block.
            known &= session.ready.take() == Some(seed);
        }
        let mut order: Vec<usize> = if known || unrecorded_iterations == 0 {
            Vec::new()
        } else {
            primes(renewed, prime, slots).collect()
        };
        let unrecorded = order.len();
        order.extend_from_slice(slots);
        let process_slot_of = |contender: &usize| layout.process_slot_of(*contender);
        if let Some(relay) = &mut relay {
            relay.begin(order.iter().map(process_slot_of));
        }
        for session in team.iter_mut() {
            session.worker.ask(&Request::Block(BlockRequest {
                seed,
                iterations,
                turns: layout.turns_of(session.process_slot, &order),
                unrecorded,
                unrecorded_iterations,
            }));
        }
        // Making the input counts as one sample, and so does each turn.
        let samples = order.len() as u32 + 1;
        let replies = self.await_replies(team, relay, position, self.patience(samples))?;
        // Indexed by process slot, like `team`.
        let mut taken = Vec::with_capacity(team.len());
        let mut keep_waiting = None;
        for (session, reply) in team.iter_mut().zip(replies) {
            let own = |slot: &&usize| process_slot_of(slot) == session.process_slot;
            let turns = slots.iter().filter(own).count();
            let own = session
                .samples(&reply, turns)
                .map_err(|cause| session.failure(position, None, cause))?;
            keep_waiting = keep_waiting.or(own.keep_waiting);
            taken.push((own.values.into_iter(), own.gpu_clock.into_iter()));
        }
        let width = self.options.metrics.len();
        let mut values = Vec::with_capacity(slots.len() * width);
        let mut gpu_clock = Vec::new();
        for slot in slots {
            let (own, clock) = &mut taken[process_slot_of(slot)];
            values.extend(own.by_ref().take(width));
            gpu_clock.push(clock.next().unwrap_or(false));
        }
        Ok(Measured {
            values,
            keep_waiting,
            gpu_clock,
        })
    }
}

impl WorkerSession {
    /// Extracts the metrics of the run from a worker's reply. Fails if the reply is not a block of
    /// `turns` samples.
    fn samples(&self, reply: &Reply, turns: usize) -> Result<Measured, FunctionError> {
        let wrong = |said: String| Err(FunctionError::Protocol(said));
        let Reply::Block {
            values,
            keep_waiting,
            gpu_clock,
        } = reply
        else {
            return wrong(format!(
                "it answers {} when asked for a block",
                reply.said()
            ));
        };
        let width = self.measured.len();
        if values.len() != turns * width {
            return wrong(format!(
                "it answers with {} values for {turns} samples of {width} metrics each",
                values.len()
            ));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite() || *v < 0.0) {
            return wrong(format!(
                "{} of sample {} of a block is {}; values must be finite and not negative",
                column_name(&self.measured[at % width]),
                at / width + 1,
                values[at]
            ));
        }
        if !gpu_clock.is_empty() && gpu_clock.len() != turns {
            return wrong(format!(
                "it reports the GPU's clock for {} of {turns} samples",
                gpu_clock.len()
            ));
        }
        #[cfg(feature = "commands")]
        if let Some(folder) = &self.counts {
            return Ok(Measured {
                values: instructions_of_samples(folder, turns)?,
                keep_waiting: None,
                gpu_clock: Vec::new(),
            });
        }
        let samples = values.chunks_exact(width);
        let of_the_run = samples.flat_map(|sample| self.columns.iter().map(|at| sample[*at]));
        Ok(Measured {
            values: of_the_run.collect(),
            keep_waiting: *keep_waiting,
            gpu_clock: gpu_clock.clone(),
        })
    }
}

/// Returns the flags of outside disturbances of a sample. With several threads it returns none,
/// because threads that contend cause switches and migrations themselves.
fn evidence(values: &[f64], metrics: &[Metric], threads: u32) -> Flags {
    let seen = |metric: &Metric, flag: Flags| {
        let mut measured = metrics.iter().zip(values);
        if measured.any(|(other, count)| other == metric && *count > 0.0) && threads == 1 {
            flag
        } else {
            Flags::NONE
        }
    };
    let preempted = seen(&Metric::InvoluntarySwitches, Flags::PREEMPTED);
    let migrated = seen(&Metric::Migrations, Flags::MIGRATED);
    Flags::from_bits(preempted.bits() | migrated.bits())
}

#[cfg(test)]
mod tests {
    use deadheat_model::{ContenderId, Slot};

    use super::*;
    use crate::clock::Reading;

    #[test]
    fn flags_switches_and_migrations_of_a_single_thread() {
        let found =
            |reading: Reading, threads| evidence(&reading.values(), &Reading::METRICS, threads);
        let reading = Reading {
            involuntary_switches: 1,
            ..Reading::default()
        };
        assert_eq!(found(reading, 1), Flags::PREEMPTED);
        assert_eq!(found(reading, 4), Flags::NONE);
        let reading = Reading {
            migrations: 1,
            ..Reading::default()
        };
        assert_eq!(found(reading, 1), Flags::MIGRATED);
        assert_eq!(evidence(&[1.0], &[Metric::Migrations], 1), Flags::MIGRATED);
        assert_eq!(evidence(&[1.0], &[Metric::Wall], 1), Flags::NONE);
    }

    #[test]
    fn flags_only_samples_in_which_the_clock_of_the_gpu_changed() {
        let slot = |contender| Slot {
            contender: ContenderId(contender),
            padding: 0,
        };
        let block = Block {
            benchmark: 0,
            replicate: 0,
            index: 0,
            prime: None,
            slots: vec![slot(0), slot(1)],
        };
        for (gpu_clock, flags) in [
            (vec![], [Flags::NONE; 2]),
            (vec![false, true], [Flags::NONE, Flags::GPU_CLOCK]),
            (vec![true, true], [Flags::GPU_CLOCK; 2]),
        ] {
            let measured = Measured {
                values: vec![1.0, 2.0],
                keep_waiting: None,
                gpu_clock,
            };
            let mut record = BlockRecord::default();
            measured.record(&[Metric::Gpu], &block, 3, 1, &mut record);
            let found: Vec<Flags> = record.samples.iter().map(|sample| sample.flags).collect();
            assert_eq!(found, flags);
        }
    }
}
