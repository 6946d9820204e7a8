//! Explains why a race took longer than its budget. No block starts after the end of the budget,
//! but deadheat completes a calibration run, a warm-up, a hook or a block that has begun.

use std::time::Duration;

use deadheat_model::{
    BenchmarkFailure, BlockRecord, Observed, Placed, RecordSink, RunEnd, SinkError,
};
use deadheat_report::units::waiting;

/// A race that takes longer than this multiple of its budget reports the reason.
const TOLERATED: f64 = 1.2;

/// A record sink that passes all records on, and measures the times between the ends of blocks.
pub(super) struct TimedSink<'a> {
    sink: &'a mut dyn RecordSink,
    /// The start of the race, in nanoseconds on the clock of the run.
    began_ns: u64,
    /// The end of the last block, in nanoseconds on the clock of the run; `None` before the first
    /// block.
    last_ns: Option<u64>,
    /// The time from the start of the race to the end of the first block.
    first: Duration,
    /// The longest time between the ends of two consecutive blocks.
    longest: Duration,
    /// The time from the end of the last block to the end of the run.
    after: Duration,
}

impl<'a> TimedSink<'a> {
    pub(super) fn new(sink: &'a mut dyn RecordSink, began_ns: u64) -> Self {
        Self {
            sink,
            began_ns,
            last_ns: None,
            first: Duration::ZERO,
            longest: Duration::ZERO,
            after: Duration::ZERO,
        }
    }

    /// Returns a message with the reason if the race took more than 1.2 times its `budget`;
    /// otherwise `None`. `calibration` is the time that the calibration runs took.
    pub(super) fn overrun(
        &self,
        budget: Option<Duration>,
        calibration: Duration,
    ) -> Option<String> {
        let end_ns = self.last_ns.unwrap_or(self.began_ns) + nanoseconds(self.after);
        let raced = Duration::from_nanos(end_ns.saturating_sub(self.began_ns));
        let took = calibration + raced;
        // A resumed race has no new blocks if its --setup hook used the whole budget.
        let after = match self.last_ns {
            Some(_) => "the hooks after the last block",
            None => "the preparation before the first block",
        };
        let parts = [
            (self.first, "the first block, with its hooks and warm-up,"),
            (calibration, "the calibration runs"),
            (self.longest, "one block"),
            (self.after, after),
        ];
        let longest = parts.into_iter().max_by_key(|(time, _)| *time)?;
        overrun("race", took, budget?, longest)
    }
}

/// Returns a message if `whole`, such as "race", took more than 1.2 times its budget; otherwise
/// `None`. The message names the longest `part` of it.
pub fn overrun(
    whole: &str,
    took: Duration,
    budget: Duration,
    (longest, part): (Duration, &str),
) -> Option<String> {
    let is_over = took.as_secs_f64() > TOLERATED * budget.as_secs_f64();
    let told = |time: Duration| told(time.as_secs_f64());
    is_over.then(|| {
        format!(
            "the {whole} took {}, and its budget was {}: {part} took {}, and deadheat completes \
             what it has begun",
            told(took),
            told(budget),
            told(longest),
        )
    })
}

/// Formats a duration: in milliseconds if it is shorter than a second.
fn told(seconds: f64) -> String {
    match seconds < 0.995 {
        true => format!("{:.0} ms", seconds * 1e3),
        false => waiting(seconds),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl RecordSink for TimedSink<'_> {
    fn block(&mut self, block: &BlockRecord) -> Result<(), SinkError> {
        let since = Duration::from_nanos(
            block
                .elapsed_ns
                .saturating_sub(self.last_ns.unwrap_or(self.began_ns)),
        );
        match self.last_ns {
            None => self.first = since,
            Some(_) => self.longest = self.longest.max(since),
        }
        self.last_ns = Some(block.elapsed_ns);
        self.sink.block(block)
    }

    fn placed(&mut self, placed: &Placed) -> Result<(), SinkError> {
        self.sink.placed(placed)
    }

    fn observed(&mut self, observed: &Observed) -> Result<(), SinkError> {
        self.sink.observed(observed)
    }

    fn failed(&mut self, failure: &BenchmarkFailure) -> Result<(), SinkError> {
        self.sink.failed(failure)
    }

    fn end(&mut self, end: &RunEnd) -> Result<(), SinkError> {
        let last_ns = self.last_ns.unwrap_or(self.began_ns);
        self.after = Duration::from_nanos(end.elapsed_ns.saturating_sub(last_ns));
        self.sink.end(end)
    }
}

#[cfg(test)]
mod tests {
    use deadheat_model::{EndReason, Unrecorded};

    use super::*;

    /// Returns the message about a race with a budget of one second. `ends_ms` are the ends of its
    /// blocks in milliseconds, followed by the end of the race. The clock of the run starts at one
    /// minute, as in a resumed run.
    fn said(ends_ms: &[u64], calibration_ms: u64) -> Option<String> {
        let began_ns = 60_000_000_000;
        let at = |ms: u64| began_ns + ms * 1_000_000;
        let mut nowhere = Unrecorded;
        let mut sink = TimedSink::new(&mut nowhere, began_ns);
        let (end, blocks) = ends_ms.split_last().unwrap();
        for ms in blocks {
            let block = BlockRecord {
                elapsed_ns: at(*ms),
                ..BlockRecord::default()
            };
            sink.block(&block).unwrap();
        }
        let end = RunEnd {
            reason: EndReason::Budget,
            launches: 1,
            elapsed_ns: at(*end),
        };
        sink.end(&end).unwrap();
        let budget = Some(Duration::from_secs(1));
        sink.overrun(budget, Duration::from_millis(calibration_ms))
    }

    #[test]
    fn the_longest_part_of_a_race_that_overruns_its_budget_is_named() {
        for (ends_ms, calibration_ms, part) in [
            (
                &[3000, 3100, 3110][..],
                0,
                "the first block, with its hooks and warm-up, took 3.0 s",
            ),
            (&[100, 200, 210], 2500, "the calibration runs took 2.5 s"),
            (&[500, 2000, 2000], 0, "one block took 1.5 s"),
            (
                &[500, 600, 4000],
                100,
                "the hooks after the last block took 3.4 s",
            ),
            (
                &[5000],
                0,
                "the preparation before the first block took 5.0 s",
            ),
        ] {
            let text = said(ends_ms, calibration_ms).unwrap();
            assert!(
                text.contains(part) && text.contains("budget was 1.0 s"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_fifth_more_than_the_budget_needs_no_word() {
        assert_eq!(said(&[500, 1100, 1200], 0), None);
        assert!(said(&[500, 1100, 1210], 0).is_some());
    }
}
