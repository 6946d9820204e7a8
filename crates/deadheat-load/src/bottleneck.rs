//! Checks whether the server was the bottleneck of a burst. Only then can request rates be compared.

use crate::burst::{BUSY, Burst, Column};
use crate::generators::Loop;
use crate::load::Load;

/// How busy the server was in the recorded bursts of a replicate, and whether that matters.
#[derive(Debug)]
pub(crate) struct Bottleneck {
    /// The column that is judged unless the user names another metric.
    usual: String,
    /// The name of the judged metric if it is valid only while the server is the bottleneck.
    limited: Option<String>,
    is_latency_of_closed_loop: bool,
    busy_ns: f64,
    sending_ns: f64,
}

/// The time of all recorded bursts from which their mean busy share is checked.
const LEAST_NS: f64 = 0.5e9;

impl Bottleneck {
    pub(crate) fn new(load: &Load, columns: &[Column], judged: Option<&str>) -> Self {
        let usual = match columns.contains(&Column::Cpu) {
            true => Column::Cpu,
            // The options ensure that there is a value if requests are not counted.
            false => {
                let values = load.values.iter();
                let cpu = values
                    .map(|one| one.0.name())
                    .position(|name| name == "cpu");
                Column::Value(cpu.unwrap_or(0))
            }
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
            busy_ns: 0.0,
            sending_ns: 0.0,
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
    /// Fails if the race judges a rate or the elapsed time, and the server was not the bottleneck.
    pub(crate) fn check_first(&self, burst: &Burst) -> Result<(), String> {
        self.check("the burst", burst.busy, BUSY)
    }

    /// Checks a recorded burst. A short disturbance does not end the race.
    ///
    /// # Errors
    ///
    /// Fails if the race judges a rate or the elapsed time, and the server was busy for too small a
    /// share of this burst, or on average over the bursts so far.
    pub(crate) fn check_next(&mut self, burst: &Burst) -> Result<(), String> {
        self.busy_ns += burst.busy * burst.sending_ns;
        self.sending_ns += burst.sending_ns;
        self.check("a burst", burst.busy, BUSY / 2.0)?;
        match self.sending_ns >= LEAST_NS {
            true => self.check("the bursts", self.busy_ns / self.sending_ns, BUSY),
            false => Ok(()),
        }
    }

    fn check(&self, of: &str, busy: f64, least: f64) -> Result<(), String> {
        match &self.limited {
            Some(metric) if busy < least => Err(format!(
                "was not the bottleneck: it was busy for {:.0}% of {of}, and a verdict on {metric} needs \
                 {:.0}%; use more concurrent connections, give the load generator more cores \
                 (--generator-cores), or compare the CPU time per request (--metric cpu)",
                (busy * 100.0).floor(),
                least * 100.0
            )),
            _ => Ok(()),
        }
    }

    /// Returns sentences for the user about a burst.
    pub(crate) fn notes(&self, burst: &Burst) -> Vec<String> {
        let mut notes = Vec::new();
        if burst.busy < BUSY && self.limited.is_none() {
            notes.push(format!(
                "The server was busy for only {:.0}% of the burst of the calibration run, so it may not \
                 have been the bottleneck: do not compare the request rates of the two servers.",
                burst.busy * 100.0
            ));
        }
        if self.is_latency_of_closed_loop {
            notes.push(
                "The load generator waits for each reply before it sends the next request, so a slow \
                 reply delays later requests, and the latencies do not include this delay. wrk2 -R, \
                 oha -q with --latency-correction, pgbench -R and k6 with an arrival-rate executor \
                 send requests at a fixed rate. If a k6 script already uses such an executor, ignore \
                 this message."
                    .to_owned(),
            );
        }
        notes
    }
}
