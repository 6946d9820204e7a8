//! The metrics of a burst.

use deadheat::parts::engine::ValueReader;
use deadheat::parts::model::{Better, Metric, column_name};

use crate::generators::{Generator, Report};
use crate::load::Load;
use crate::run_processes::Used;

/// A server that is busy for a smaller share of a burst is not its bottleneck.
pub(crate) const BUSY: f64 = 0.8;

const LOST_TIME: &str = "processes of the server ended and no parent process waited for them, so \
                         their CPU time is unknown";
const NO_COUNT: &str = "the load command did not print the number of requests; leave out options such \
                        as -q and --csv, or read the number by --requests REGEX if the output has it \
                        in another form";

/// A metric of a burst.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    /// Elapsed time per request, or of the burst if requests are not counted.
    Wall,
    /// CPU time of the server per request.
    Cpu,
    Rate,
    Latency(String),
    PeakRss,
    VoluntarySwitches,
    InvoluntarySwitches,
    /// How busy the server was, in percent.
    Busy,
    /// A `--value`, by its index.
    Value(usize),
}

/// What a burst showed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Burst {
    wall_ns: f64,
    /// The part of the burst in which the generator sent requests.
    pub(crate) sending_ns: f64,
    requests: Option<f64>,
    report: Report,
    values: Vec<f64>,
    used: Used,
    /// The larger of two shares: the share of the sending time in which the busiest thread ran or
    /// waited for a core, and the share of the time of the server's cores that all threads together
    /// used.
    pub(crate) busy: f64,
}

impl Burst {
    /// Reads what the load generator printed.
    ///
    /// # Errors
    ///
    /// Fails if requests failed, or if a number is missing.
    pub(crate) fn read(
        load: &Load,
        [stdout, stderr]: [&str; 2],
        wall_ns: f64,
        used: Used,
        cores: usize,
    ) -> Result<Self, String> {
        let report = match load.generator {
            Some(generator) => generator.read(stdout, stderr)?,
            None => Report::default(),
        };
        if let Some((count, words)) = report.errors.iter().find(|(count, _)| *count > 0.0) {
            return Err(format!(
                "requests failed ({words}: {count}); a server that fails quickly would look faster"
            ));
        }
        let printed = format!("{stdout}\n{stderr}");
        let json = if stdout.trim().is_empty() {
            stderr
        } else {
            stdout
        };
        let read = |reader: &ValueReader| {
            let value = reader.read(if reader.is_pointer() { json } else { &printed });
            value.map_err(|why| format!("{}: {why}", reader.name()))
        };
        let values = load.values.iter().map(|(_, reader)| read(reader));
        let values = values.collect::<Result<Vec<f64>, String>>()?;
        let own = load.requests.as_ref().map(read);
        let requests = own.transpose()?.or(report.requests);
        if load.counts_requests() {
            match requests {
                Some(count) if count >= 1.0 => {}
                Some(_) => return Err("no request succeeded".to_owned()),
                None => return Err(NO_COUNT.to_owned()),
            }
        }
        // A generator takes time to start and to print; the server is idle then.
        let sending_ns = match (report.requests, report.rate) {
            (Some(count), Some(rate)) if rate > 0.0 => (count / rate * 1e9).min(wall_ns),
            _ => wall_ns,
        };
        let of_all = used.cpu_ns / (sending_ns * cores.max(1) as f64);
        let busy = (used.busiest_ns / sending_ns).max(of_all).min(1.0);
        if used.is_incomplete && load.counts_requests() {
            return Err(LOST_TIME.to_owned());
        }
        Ok(Self {
            wall_ns,
            sending_ns,
            requests,
            report,
            values,
            used,
            busy,
        })
    }

    /// Returns the value of a column; `None` if the generator did not print it this time.
    fn value(&self, column: &Column) -> Option<f64> {
        let per_request = |total: f64| total / self.requests.unwrap_or(1.0);
        Some(match column {
            Column::Wall => per_request(self.sending_ns),
            Column::Cpu => per_request(self.used.cpu_ns),
            Column::Rate => self.requests? / self.sending_ns * 1e9,
            Column::Latency(name) => {
                let mut all = self.report.latencies.iter();
                all.find(|(known, _)| known == name)?.1
            }
            Column::PeakRss => self.used.peak_rss_bytes,
            Column::VoluntarySwitches => per_request(self.used.switches[0]),
            Column::InvoluntarySwitches => per_request(self.used.switches[1]),
            Column::Busy => self.busy * 100.0,
            Column::Value(place) => *self.values.get(*place)?,
        })
    }

    /// Returns the values of all columns, in order.
    pub(crate) fn row(&self, load: &Load, columns: &[Column]) -> Result<Vec<f64>, String> {
        let value = |column: &Column| {
            let is_script = Generator::of_command(&load.load).is_none();
            let missing = || match (column, load.generator.map(Generator::options_for_all)) {
                (Column::Latency(name), Some(options)) if is_script && !options.is_empty() => {
                    format!("the latency {name} was not printed; it needs the option {options}")
                }
                (Column::Latency(name), _) => format!("the latency {name} was not printed"),
                _ => "a number in the output is not finite".to_owned(),
            };
            let value = self.value(column).filter(|value| value.is_finite());
            value.ok_or_else(missing)
        };
        columns.iter().map(value).collect()
    }

    /// Returns the elapsed time of the burst.
    pub(crate) fn wall_ns(&self) -> f64 {
        self.wall_ns
    }
}

impl Column {
    /// Returns the columns of a race of servers. `latencies` are the names of the latencies that the
    /// generator prints.
    pub(crate) fn of(load: &Load, latencies: &[&str]) -> Vec<Self> {
        let mut columns = vec![Column::Wall];
        if load.counts_requests() {
            columns.extend([Column::Cpu, Column::Rate]);
        }
        columns.extend(
            latencies
                .iter()
                .map(|name| Column::Latency((*name).to_owned())),
        );
        columns.extend([
            Column::PeakRss,
            Column::VoluntarySwitches,
            Column::InvoluntarySwitches,
            Column::Busy,
        ]);
        // A value of the user takes the place of a metric of the same name.
        columns.retain(|column| {
            let own = column.metric(load);
            let mut values = load.values.iter();
            !values.any(|(metric, _)| metric.name() == own.name())
        });
        columns.extend((0..load.values.len()).map(Column::Value));
        columns
    }

    /// Returns the metric of the column.
    pub(crate) fn metric(&self, load: &Load) -> Metric {
        match self {
            Column::Wall => Metric::Wall,
            Column::Cpu => Metric::Cpu,
            Column::Rate => Metric::named("requests/s", Better::More),
            Column::Latency(name) => {
                Metric::Custom(format!("latency_{}_ns", name.replace('.', "_")))
            }
            Column::PeakRss => Metric::PeakRss,
            Column::VoluntarySwitches => Metric::VoluntarySwitches,
            Column::InvoluntarySwitches => Metric::InvoluntarySwitches,
            Column::Busy => Metric::Custom("server_busy_percent".to_owned()),
            Column::Value(place) => load.values[*place].0.clone(),
        }
    }

    /// Returns the name of the column in messages of the worker protocol.
    pub(crate) fn name(&self, load: &Load) -> String {
        column_name(&self.metric(load)).into_owned()
    }
}
