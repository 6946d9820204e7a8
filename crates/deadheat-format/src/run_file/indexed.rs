//! A run file of which nothing is held but where everything stands.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use deadheat_model::{BlockRecord, Run, Samples};

use super::decode::decode_compact;
use super::index::{EachSample, Index, Segment, Stretch, index, next_line, push};
use super::part::Part;
use super::reader::{Reading, Refusal, Widths, stranger};
use crate::bounded::read_line;

/// Parts of a file smaller than this are not worth a thread.
const LEAST_PART: u64 = 1 << 20;

/// Bytes that are read at once, unless a line is longer.
const STEP: u64 = 1 << 18;

/// How a run file begins when deadheat wrote it.
const BEGINNING: &[u8] = b"{\"schema\":\"deadheat.run/";

/// A run file that was looked through once and whose samples are read when
/// they are asked for, benchmark by benchmark and from any number of threads.
///
/// It knows files as deadheat writes them, whole or cut short. Where it does
/// not know what to make of a file, or a line of it cannot hold, it says
/// `None`, and [`read_run`](crate::read_run) tells what is to be told.
#[derive(Debug)]
pub struct IndexedRun {
    file: File,
    run: Run,
    /// By benchmark.
    stretches: Vec<Vec<Stretch>>,
    blocks: Vec<usize>,
    widths: Widths,
}

impl IndexedRun {
    /// Looks through a file with as many threads as there are cores. `None`
    /// where it must be read in one go: standard input (`-`), a pipe, a packed
    /// file, anything but a run, a run spelled otherwise, or one with faults.
    pub fn open(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        let worth_it = fs::metadata(path).ok()?.len() / LEAST_PART;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self::open_with(path, cores.min(worth_it as usize))
    }

    /// The same with so many threads, and one at least.
    pub fn open_with(path: impl AsRef<Path>, threads: usize) -> Option<Self> {
        let path = path.as_ref();
        // Asked before it is opened: what is taken from a pipe is gone.
        if path == Path::new("-") || !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        let mut reader = BufReader::new(Part::new(&file, 0, size));
        if !reader.fill_buf().ok()?.starts_with(BEGINNING) {
            return None;
        }
        let mut header = Vec::new();
        read_line(&mut reader, &mut header).ok()?;
        let reading = Reading::begin(path, &header).ok()?;
        let benchmarks = &reading.run.header.plan.benchmarks;
        let each_sample: Vec<EachSample> = benchmarks
            .iter()
            .map(|benchmark| benchmark.processes_per_replicate().is_none())
            .collect();
        let parts = threads.max(1) as u64;
        let parts = in_parts(&file, header.len() as u64, size, parts, &each_sample)?;
        let found = Gathering::of(reading).all(parts)?;
        Some(Self {
            widths: Widths::of(&found.run.header),
            run: found.run,
            stretches: found.stretches,
            blocks: found.blocks,
            file,
        })
    }

    /// The run, with everything but its samples: each benchmark has none.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The run without its samples.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Reads the samples of a benchmark. `None` when one of its lines is not
    /// what it looked like, or the file was changed since.
    pub fn samples(&self, benchmark: usize) -> Option<Samples> {
        let planned = self.run.header.plan.benchmarks.get(benchmark)?;
        let width = self.widths.in_benchmark(benchmark);
        let mut samples = Samples::new(self.run.header.metrics_of(benchmark));
        let (mut bytes, mut block) = (Vec::new(), BlockRecord::default());
        for stretch in &self.stretches[benchmark] {
            let (mut at, end) = (stretch.at, stretch.at + u64::from(stretch.len));
            let mut step = STEP;
            while at < end {
                bytes.resize(step.min(end - at) as usize, 0);
                self.file.read_exact_at(&mut bytes, at).ok()?;
                let mut rest = &bytes[..];
                while let Some(len) = decode_compact(rest, |_| width, &mut block) {
                    if block.benchmark != benchmark || stranger(&block, planned).is_some() {
                        return None;
                    }
                    samples.push(&block).ok()?;
                    rest = &rest[len..];
                }
                let used = (bytes.len() - rest.len()) as u64;
                if used == 0 && step >= end - at {
                    return None;
                } else if used == 0 {
                    step *= 2;
                }
                at += used;
            }
        }
        (samples.blocks().len() == self.blocks[benchmark]).then_some(samples)
    }
}

/// Looks through a file in so many parts at once, behind a header of so many
/// bytes.
fn in_parts(
    file: &File,
    header: u64,
    size: u64,
    parts: u64,
    benchmarks: &[EachSample],
) -> Option<Vec<Index>> {
    let border = |part: u64| match part {
        0 => Some(header),
        part if part == parts => Some(size),
        part => next_line(file, header + (size - header) / parts * part, size),
    };
    thread::scope(|scope| {
        let mut found = Vec::new();
        for part in 0..parts {
            let lines = (border(part)?, border(part + 1)?);
            found.push(scope.spawn(move || index(file, lines, size, benchmarks)));
        }
        found.into_iter().map(|part| part.join().ok()?).collect()
    })
}

/// Puts the parts together.
struct Gathering<'a> {
    reading: Reading<'a>,
    stretches: Vec<Vec<Stretch>>,
    blocks: Vec<usize>,
    /// Of each benchmark, the replicate of its last block.
    last: Vec<Option<u32>>,
    /// A line was garbage: forgiven when nothing follows.
    garbage: bool,
}

/// The run without its samples, and where they stand.
struct Found {
    run: Run,
    stretches: Vec<Vec<Stretch>>,
    blocks: Vec<usize>,
}

impl<'a> Gathering<'a> {
    fn of(reading: Reading<'a>) -> Self {
        let benchmarks = reading.run.benchmarks.len();
        Self {
            reading,
            stretches: vec![Vec::new(); benchmarks],
            blocks: vec![0; benchmarks],
            last: vec![None; benchmarks],
            garbage: false,
        }
    }

    /// Takes all parts, in the order of the file.
    fn all(mut self, parts: Vec<Index>) -> Option<Found> {
        for part in parts {
            for (all, some) in self.stretches.iter_mut().zip(part.stretches) {
                some.into_iter().for_each(|stretch| push(all, stretch));
            }
            for segment in part.segments {
                self.segment(segment)?;
            }
        }
        Some(Found {
            run: self.reading.finish(),
            stretches: self.stretches,
            blocks: self.blocks,
        })
    }

    fn segment(&mut self, segment: Segment) -> Option<()> {
        if self.garbage && !(segment.lines.is_empty() && segment.seen.is_empty()) {
            return None;
        }
        let resumed = self.reading.run.resumed_at.is_some();
        for line in &segment.lines {
            self.line(line)?;
            // Only a line of its own may say that.
            if self.garbage || self.reading.run.resumed_at.is_some() != resumed {
                return None;
            }
        }
        let mut launched = 0;
        for (benchmark, seen) in &segment.seen {
            let planned = &self.reading.run.header.plan.benchmarks[*benchmark];
            let last = self.last[*benchmark].replace(seen.last);
            launched += match planned.processes_per_replicate() {
                Some(processes) => processes * (seen.turns + u64::from(last != Some(seen.first))),
                None => seen.launches,
            };
            self.blocks[*benchmark] += seen.blocks;
        }
        if !segment.seen.is_empty() {
            self.reading.count(launched, segment.elapsed_ns);
        }
        if let Some(cut) = &segment.cut {
            if self.garbage {
                return None;
            }
            self.line(cut)?;
            let resumed_at = &mut self.reading.run.resumed_at;
            if !resumed && resumed_at.is_some() {
                *resumed_at = Some(self.blocks.clone());
            }
        }
        Some(())
    }

    /// Takes a line that does not look like a block, and must be none.
    fn line(&mut self, line: &[u8]) -> Option<()> {
        match self.reading.take(line) {
            Ok(()) => {}
            Err(Refusal::Garbage(_)) => self.garbage = true,
            Err(Refusal::Error(_)) => return None,
        }
        let run = &self.reading.run;
        let taken = run.benchmarks.get(self.reading.block.benchmark);
        taken
            .is_none_or(|samples| samples.blocks().is_empty())
            .then_some(())
    }
}
