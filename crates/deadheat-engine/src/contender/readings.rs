//! From the readings of a block to its record.

use deadheat_model::{Block, BlockRecord, Flags, Sample};

/// Where the evidence of disturbance stands among the values of a sample.
const INVOLUNTARY: usize = 5;
const MIGRATIONS: usize = 6;

/// Fills in what was measured in the slots of a block: `width` values each.
pub(super) fn fill(
    record: &mut BlockRecord,
    block: &Block,
    values: &[f64],
    width: usize,
    iterations: u64,
    threads: u32,
) {
    for (slot, values) in block.slots.iter().zip(values.chunks_exact(width)) {
        record.samples.push(Sample {
            contender: slot.contender,
            flags: evidence(values, threads),
            exit_code: None,
            iterations,
        });
        record.values.extend_from_slice(values);
    }
}

/// Evidence that something outside disturbed a sample. Threads that contend
/// are switched and moved by what they do themselves, so with several of them
/// it proves nothing.
fn evidence(values: &[f64], threads: u32) -> Flags {
    let seen = |at: usize, flag: Flags| match values.get(at) {
        Some(count) if *count > 0.0 && threads == 1 => flag,
        _ => Flags::NONE,
    };
    let preempted = seen(INVOLUNTARY, Flags::PREEMPTED);
    let migrated = seen(MIGRATIONS, Flags::MIGRATED);
    Flags::from_bits(preempted.bits() | migrated.bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Reading;
    use deadheat_model::Metric;

    #[test]
    fn evidence_is_read_where_it_stands() {
        assert_eq!(Reading::METRICS[INVOLUNTARY], Metric::InvoluntarySwitches);
        assert_eq!(Reading::METRICS[MIGRATIONS], Metric::Migrations);
        let reading = Reading {
            involuntary_switches: 1,
            ..Reading::default()
        };
        assert_eq!(evidence(&reading.values(), 1), Flags::PREEMPTED);
        assert_eq!(evidence(&reading.values(), 4), Flags::NONE);
        let reading = Reading {
            migrations: 1,
            ..Reading::default()
        };
        assert_eq!(evidence(&reading.values(), 1), Flags::MIGRATED);
    }
}
