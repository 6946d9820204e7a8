//! Before the plan is frozen: how long a block of commands takes. The launches that find it out are
//! those of the warm-up.

use std::time::{Duration, Instant};

use deadheat_model::{Plan, Workload};

use super::command::CommandContenders;
use crate::error::EngineError;
use crate::order::Schedule;

/// Time that further rounds of short commands may take. The first round finds programs and
/// libraries on the disk; as long as this is next to nothing, more of them are worth it.
const FURTHER: Duration = Duration::from_millis(20);
/// Further rounds at most.
const MOST_FURTHER: u32 = 8;

impl CommandContenders<'_> {
    /// Warms up the commands of a benchmark as the plan says, which then need no other warm-up, and
    /// returns the nanoseconds that a replicate will take on the user's own links, with what runs
    /// around each launch.
    ///
    /// `None` where nothing may be launched beforehand: without a warm-up, or with a `--setup` or
    /// `--cleanup`, which run once; and when so much time was over before the warm-up was.
    pub fn pilot(
        &mut self,
        plan: &Plan,
        benchmark: usize,
        limit: Option<Duration>,
    ) -> Result<Option<f64>, EngineError> {
        let of = &plan.benchmarks[benchmark];
        let has_hooks = of.contenders.iter().any(|contender| {
            matches!(&contender.workload, Workload::Command(command)
                if command.hooks.setup.is_some() || command.hooks.cleanup.is_some())
        });
        let slots = Schedule::new(plan).warm_up(benchmark);
        if slots.is_empty() || has_hooks {
            return Ok(None);
        }
        let contenders = of.contenders.len();
        let began = Instant::now();
        let mut round_ns = 0.0;
        let rounds = slots.chunks(contenders);
        let last = rounds.clone().next_back().unwrap_or(&[]);
        for round in rounds {
            if limit.is_some_and(|limit| began.elapsed() >= limit) {
                return Ok(None);
            }
            let began = Instant::now();
            self.launch_for_nothing(benchmark, round)?;
            round_ns = began.elapsed().as_nanos() as f64;
        }
        let further = Instant::now();
        let mut count = 0;
        while count < MOST_FURTHER
            && further.elapsed().as_nanos() as f64 + round_ns <= FURTHER.as_nanos() as f64
        {
            self.launch_for_nothing(benchmark, last)?;
            count += 1;
            round_ns = further.elapsed().as_nanos() as f64 / f64::from(count);
        }
        self.is_warm(benchmark);
        let blocks = f64::from(plan.blocks_per_replicate(benchmark));
        Ok(Some(blocks * rounds_in_block(contenders) * round_ns))
    }
}

/// Launches of a block, with the one that primes it, for every one of a round of all contenders.
fn rounds_in_block(contenders: usize) -> f64 {
    match contenders {
        0 | 1 => 1.0,
        2 => 2.5,
        more => 1.0 + 1.0 / more as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_so_many_launches_for_each_of_a_round() {
        // Four launches of two contenders and one that primes them.
        assert_eq!(rounds_in_block(2) * 2.0, 5.0);
        assert_eq!(rounds_in_block(4) * 4.0, 5.0);
        assert_eq!(rounds_in_block(1), 1.0);
    }
}
