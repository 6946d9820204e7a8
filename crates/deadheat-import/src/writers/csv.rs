//! Writes a run as tidy CSV: one row per sample.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use csv::Writer;
use deadheat_model::{Flags, HELP, Metric, Origin, Run, TextCells};

use deadheat_format::number::{push_integer, push_value};
use deadheat_format::{FormatError, benchmark_names, cannot_write, distinct_names};
use deadheat_model::csv_column_name;

/// Writes a run as tidy CSV; `name` is the name of the file in errors.
///
/// Leaves out exit codes, the plan and the environment; the samples read back unchanged. An
/// unpaired recording has no columns `block` and `slot`, so that it does not read back as a paired
/// one. A metric that a benchmark does not have, even the wall time, is an empty cell. `names`
/// selects how to write names that a spreadsheet would run as formulas.
pub fn write_csv(
    run: &Run,
    out: impl Write,
    name: impl AsRef<Path>,
    names: TextCells,
) -> Result<(), FormatError> {
    let name = name.as_ref();
    let others = others(run);
    if others.len() > MOST_METRICS {
        let count = others.len();
        let problem = format!(
            "the run has {count} metrics besides wall and CPU time, but a table can have at most \
             {MOST_METRICS}{HELP}use --json or the run file"
        );
        return Err(FormatError::whole(name, problem));
    }
    write_rows(run, out, &others, names).map_err(cannot_write(name))
}

/// Maximum number of columns for metrics. If each benchmark has metrics of its own, the table grows
/// with the square of the number of benchmarks: 3 MB of samples became 400 MB.
const MOST_METRICS: usize = 1024;

/// Returns the metrics that have a column each: all except wall and CPU time.
fn others(run: &Run) -> Vec<&Metric> {
    let recorded = &run.header.metrics;
    let mut known: HashSet<&Metric> = recorded.iter().chain([&Metric::Wall]).collect();
    let of_all = recorded.iter();
    let of_all = of_all.filter(|metric| !matches!(metric, Metric::Wall | Metric::Cpu));
    let benchmarks = &run.header.plan.benchmarks;
    let counters = benchmarks.iter().flat_map(|one| &one.counters);
    of_all
        .chain(counters.filter(|counter| known.insert(counter)))
        .collect()
}

fn write_rows(run: &Run, out: impl Write, others: &[&Metric], cells: TextCells) -> io::Result<()> {
    let recorded = &run.header.metrics;
    let paired = run.header.origin != Origin::UnpairedRecording;
    let cpu = recorded.contains(&Metric::Cpu);
    let benchmarks = &run.header.plan.benchmarks;
    let mut table = Table {
        writer: Writer::from_writer(out),
        number: Vec::new(),
    };

    table.text("benchmark")?;
    table.text("replicate")?;
    if paired {
        table.text("block")?;
        table.text("slot")?;
    }
    table.text("contender")?;
    table.text("role")?;
    table.text("iterations")?;
    table.text("wall_ns")?;
    if cpu {
        table.text("cpu_ns")?;
    }
    table.text("flags")?;
    for metric in others {
        table.text(&cells.cell(&csv_column_name(metric)))?;
    }
    table.end_row()?;

    let names = benchmark_names(benchmarks);
    for ((benchmark, samples), name) in benchmarks.iter().zip(&run.benchmarks).zip(&names) {
        let contenders = distinct_names(benchmark.contenders.iter().map(|c| c.name.clone()), " #");
        // Saved results may have no wall times.
        let wall = samples.column(&Metric::Wall);
        let own_cpu = samples.column(&Metric::Cpu);
        let others: Vec<Option<&[f64]>> =
            others.iter().map(|metric| samples.column(metric)).collect();
        let control = benchmark.control();
        for block in samples.blocks() {
            // Left out, because a reader would take the control for a candidate.
            let shown = |at: &usize| Some(samples.samples()[*at].contender) != control;
            for (slot, at) in block.range().filter(shown).enumerate() {
                let sample = &samples.samples()[at];
                table.text(&cells.cell(name))?;
                table.integer(block.replicate.into())?;
                if paired {
                    table.integer(block.index.into())?;
                    table.integer(slot as u64)?;
                }
                table.text(&cells.cell(&contenders[sample.contender.index()]))?;
                table.text(sample.contender.role().name())?;
                table.integer(sample.iterations)?;
                table.known(wall, at)?;
                if cpu {
                    table.known(own_cpu, at)?;
                }
                table.text(&flag_words(sample.flags))?;
                for other in &others {
                    table.known(*other, at)?;
                }
                table.end_row()?;
            }
        }
    }
    table.writer.flush()
}

struct Table<W: Write> {
    writer: Writer<W>,
    number: Vec<u8>,
}

impl<W: Write> Table<W> {
    fn text(&mut self, cell: &str) -> io::Result<()> {
        Ok(self.writer.write_field(cell)?)
    }

    fn integer(&mut self, number: u64) -> io::Result<()> {
        self.number.clear();
        push_integer(&mut self.number, number);
        Ok(self.writer.write_field(&self.number)?)
    }

    fn value(&mut self, value: f64) -> io::Result<()> {
        self.number.clear();
        push_value(&mut self.number, value);
        Ok(self.writer.write_field(&self.number)?)
    }

    /// Writes a value of a column, or an empty cell if the column is missing.
    fn known(&mut self, column: Option<&[f64]>, at: usize) -> io::Result<()> {
        match column {
            Some(column) => self.value(column[at]),
            None => self.text(""),
        }
    }

    fn end_row(&mut self) -> io::Result<()> {
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }
}

/// Returns the names of the flags, joined by `|`.
fn flag_words(flags: Flags) -> Cow<'static, str> {
    let words = [
        (Flags::PREEMPTED, "preempted"),
        (Flags::MIGRATED, "migrated"),
        (Flags::CONCURRENT, "concurrent"),
        (Flags::DELAY_UNREAD, "delay-unread"),
        (Flags::GPU_CLOCK, "gpu-clock"),
    ];
    let mut set = words.into_iter().filter(|(flag, _)| flags.holds(*flag));
    match (set.next(), set.next()) {
        (None, _) => "".into(),
        (Some((_, word)), None) => word.into(),
        (Some((_, first)), Some((_, second))) => set
            .fold(format!("{first}|{second}"), |all, (_, word)| {
                format!("{all}|{word}")
            })
            .into(),
    }
}
