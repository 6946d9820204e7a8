//! From the readings of a block to its record.

use deadheat_model::{Block, BlockRecord, Flags, Metric, Sample};

/// Fills in what was measured in the slots of a block: a value of each metric
/// for every slot.
pub(super) fn fill(
    record: &mut BlockRecord,
    block: &Block,
    values: &[f64],
    metrics: &[Metric],
    iterations: u64,
    threads: u32,
) {
    for (slot, values) in block.slots.iter().zip(values.chunks_exact(metrics.len())) {
        record.samples.push(Sample {
            contender: slot.contender,
            flags: evidence(values, metrics, threads),
            exit_code: None,
            iterations,
        });
        record.values.extend_from_slice(values);
    }
}

/// Evidence that something outside disturbed a sample. Threads that contend
/// are switched and moved by what they do themselves, so with several of them
/// it proves nothing.
fn evidence(values: &[f64], metrics: &[Metric], threads: u32) -> Flags {
    let seen = |metric: &Metric, flag: Flags| {
        let mut measured = metrics.iter().zip(values);
        match measured.any(|(other, count)| other == metric && *count > 0.0) && threads == 1 {
            true => flag,
            false => Flags::NONE,
        }
    };
    let preempted = seen(&Metric::InvoluntarySwitches, Flags::PREEMPTED);
    let migrated = seen(&Metric::Migrations, Flags::MIGRATED);
    Flags::from_bits(preempted.bits() | migrated.bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::Reading;

    #[test]
    fn evidence_is_read_where_it_stands() {
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
}
