//! Whether a burst was limited by the server: a rate compares two servers only if it was.

use crate::burst::{BUSY, Burst, Column};
use crate::generators::Loop;
use crate::load::Load;

/// The judged metric, and the bursts so far.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    /// The column that is judged unless the user names another metric.
    usual: String,
    /// The name of the judged metric if it says something about the server only while the server is
    /// the bottleneck.
    limited: Option<String>,
    is_latency_of_closed_loop: bool,
    sum: f64,
    bursts: u32,
}

/// The mean of the bursts of a replicate is checked from this burst on.
const LEAST_BURSTS: u32 = 4;

impl Bottleneck {
    pub(crate) fn new(load: &Load, columns: &[Column], judged: Option<&str>) -> Self {
        let usual = match columns.contains(&Column::Cpu) {
            true => Column::Cpu,
            // The options ensure that there is a value if requests are not counted.
            false => Column::Value(0),
        };
        let named = |name: &str| {
            columns
                .iter()
                .find(|column| column.metric(load).name() == name)
        };
        let judged = judged.and_then(named).unwrap_or(&usual);
        let metric = judged.metric(load);
        let is_limited = match judged {
            Column::Wall | Column::Rate => true,
            Column::Value(_) => metric.unit().is_rate(),
            _ => false,
        };
        let is_closed = load
            .generator
            .is_some_and(|one| one.loop_of(&load.load) == Loop::Closed);
        Self {
            usual: usual.name(load),
            limited: is_limited.then(|| metric.name().to_owned()),
            is_latency_of_closed_loop: is_closed && matches!(judged, Column::Latency(_)),
            sum: 0.0,
            bursts: 0,
        }
    }

    /// Returns the column that is judged unless the user names a metric.
    pub(crate) fn usual_metric(&self) -> &str {
        &self.usual
    }

    /// Checks the burst of the calibration run.
    ///
    /// # Errors
    ///
    /// Fails if the race judges a rate, and the server was not the bottleneck.
    pub(crate) fn check_first(&self, burst: &Burst) -> Result<(), String> {
        self.check(burst.busy, BUSY)
    }

    /// Checks a recorded burst. A short disturbance does not end the race.
    ///
    /// # Errors
    ///
    /// Fails if the race judges a rate, and the server was idle for most of the burst, or not the
    /// bottleneck in the mean of several bursts.
    pub(crate) fn check_next(&mut self, burst: &Burst) -> Result<(), String> {
        self.sum += burst.busy;
        self.bursts += 1;
        self.check(burst.busy, BUSY / 2.0)?;
        match self.bursts >= LEAST_BURSTS {
            true => self.check(self.sum / f64::from(self.bursts), BUSY),
            false => Ok(()),
        }
    }

    fn check(&self, busy: f64, least: f64) -> Result<(), String> {
        match &self.limited {
            Some(metric) if busy < least => Err(format!(
                "was not the bottleneck: it was busy for {:.0}% of the time, and a verdict on \
                     {metric} needs {:.0}%; send more requests at once, give the generator more cores \
                     (--generator-cores), or judge the CPU time per request (--metric cpu)",
                (busy * 100.0).floor(),
                BUSY * 100.0
            )),
            _ => Ok(()),
        }
    }

    /// Returns sentences for the user about a burst.
    pub(crate) fn notes(&self, burst: &Burst) -> Vec<String> {
        let mut notes = Vec::new();
        if burst.busy < BUSY && self.limited.is_none() {
            notes.push(format!(
                "The server was busy for {:.0}% of the first burst, so the request rate is a property \
                 of the load generator, and does not compare the servers.",
                burst.busy * 100.0
            ));
        }
        if self.is_latency_of_closed_loop {
            notes.push(
                "The load generator waits for each reply before it sends the next request, so a slow \
                 reply delays later requests, and the latencies leave out this delay. wrk2, oha -q \
                 and k6 with constant-arrival-rate (which deadheat cannot see in a script) send requests \
                 at a fixed rate."
                    .to_owned(),
            );
        }
        notes
    }
}
