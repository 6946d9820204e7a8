//! A run file of which nothing is held but where everything stands: found by the ends of lines and
//! their first few numbers, in parts of the file at once.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use deadheat_model::{BlockRecord, Run, Samples};
use memchr::memchr_iter;

use super::block::{decode_compact, decode_head};
use super::reader::{Reading, Refusal, Widths, unknown_contender};
use crate::content::{Lines, in_parts, worthwhile_parts};
use crate::limits::{self, read_line};

/// Bytes of a benchmark that are read at once, unless a line is longer.
const STEP: u64 = 1 << 18;

/// The beginning of a run file as deadheat writes it.
const BEGINNING: &[u8] = b"{\"schema\":\"deadheat.run/";

/// A run file that was looked through once and whose samples are read when
/// they are asked for, benchmark by benchmark and from any number of threads.
///
/// It knows files as deadheat writes them, whole or cut short. Where it does
/// not know what to make of a file, or a line of it cannot hold, it says
/// `None`, and [`read_run`](crate::read_run) says what is wrong.
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
        Self::open_with(path, worthwhile_parts(path)?)
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
        // `read_run` says what is wrong with a larger one.
        if !limits::holds(size) {
            return None;
        }
        let mut reader = BufReader::new((&file).take(size));
        if !reader.fill_buf().ok()?.starts_with(BEGINNING) {
            return None;
        }
        let mut header = Vec::new();
        read_line(&mut reader, &mut header).ok()?;
        let reading = Reading::begin(path, &header).ok()?;
        let benchmarks = &reading.run.header.plan.benchmarks;
        let each_sample: Vec<bool> = benchmarks
            .iter()
            .map(|benchmark| benchmark.processes_per_replicate().is_none())
            .collect();
        let lines = (header.len() as u64, size);
        let parts = in_parts(&file, lines, threads, |lines| index(lines, &each_sample))?;
        let mut gathering = Gathering::of(reading);
        gathering.all(parts)?;
        let run = gathering.reading.finish();
        Some(Self {
            widths: Widths::of(&run.header),
            run,
            stretches: gathering.stretches,
            blocks: gathering.blocks,
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
                    if block.benchmark != benchmark || unknown_contender(&block, planned).is_some()
                    {
                        return None;
                    }
                    if samples.blocks().is_empty() {
                        self.reserve(&mut samples, benchmark, block.samples.len());
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

    /// Makes room for the samples of a benchmark whose first block has so many: mostly all blocks
    /// have. Never for more than its lines can hold.
    fn reserve(&self, samples: &mut Samples, benchmark: usize, of_block: usize) {
        let lengths = self.stretches[benchmark].iter().map(|one| one.len as usize);
        let most = lengths.sum::<usize>() / LEAST_SAMPLE;
        let blocks = self.blocks[benchmark];
        samples.reserve(blocks, blocks.saturating_mul(of_block).min(most));
    }
}

/// Bytes that a sample takes in a file at least: `[0,0,0,1],`.
const LEAST_SAMPLE: usize = 10;

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
    fn all(&mut self, parts: Vec<Index<'_>>) -> Option<()> {
        for part in parts {
            for (all, some) in self.stretches.iter_mut().zip(part.stretches) {
                some.into_iter().for_each(|stretch| push(all, stretch));
            }
            for segment in part.segments {
                self.segment(segment)?;
            }
        }
        Some(())
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

/// Segments of a part that are kept: each takes 20 times the memory of a line of 8 bytes.
/// [`read_run`](crate::read_run) keeps none.
const MOST_SEGMENTS: usize = 1 << 16;

/// Lines in a row that are blocks of one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// Where the first begins, in bytes from the beginning of the file.
    at: u64,
    /// Bytes.
    len: u32,
}

impl Stretch {
    /// Makes a line that follows a part of this stretch, if it does.
    fn grow(&mut self, next: Stretch) -> bool {
        let follows = self.at + u64::from(self.len) == next.at;
        let sum = self.len.checked_add(next.len).filter(|_| follows);
        self.len = sum.unwrap_or(self.len);
        sum.is_some()
    }
}

/// Adds a stretch to those before it.
fn push(stretches: &mut Vec<Stretch>, next: Stretch) {
    if !stretches.last_mut().is_some_and(|last| last.grow(next)) {
        stretches.push(next);
    }
}

/// Blocks of one benchmark in the order of the file, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    blocks: usize,
    /// The replicates of the first and of the last block.
    first: u32,
    last: u32,
    /// The number of blocks of another replicate than the block before.
    turns: u64,
    /// Launches that are no block's but its samples' and its priming's; not
    /// counted where a process serves a replicate.
    launches: u64,
}

/// Lines up to one that changes what the lines around it mean.
#[derive(Debug, Default)]
struct Segment {
    /// Blocks, by benchmark.
    seen: HashMap<usize, Seen>,
    elapsed_ns: u64,
    /// Placements and failures, which mean the same before and after a block.
    lines: Vec<Vec<u8>>,
    /// The last line of the segment, any other: unless it is the last of the part.
    cut: Option<Vec<u8>>,
}

/// The contents of a part of a run file.
#[derive(Debug)]
struct Index<'a> {
    /// Of each benchmark, whether each of its samples is a launch.
    each_sample: &'a [bool],
    segments: Vec<Segment>,
    /// The segment that the next line belongs to.
    segment: Segment,
    /// By benchmark.
    stretches: Vec<Vec<Stretch>>,
    /// Reused for every line.
    head: BlockRecord,
}

/// Looks through the lines of a part. `None` when they cannot be read.
fn index<'a>(lines: Lines<'_>, each_sample: &'a [bool]) -> Option<Index<'a>> {
    let mut index = Index {
        each_sample,
        segments: Vec::new(),
        segment: Segment::default(),
        stretches: vec![Vec::new(); each_sample.len()],
        head: BlockRecord::default(),
    };
    lines.each(|line, at| {
        index.take(line, at);
        (index.segments.len() <= MOST_SEGMENTS).then_some(())
    })?;
    index.segments.push(std::mem::take(&mut index.segment));
    Some(index)
}

impl Index<'_> {
    /// Takes a line that begins at `at`.
    fn take(&mut self, line: &[u8], at: u64) {
        if self.take_block(line, at).is_some() || line.trim_ascii().is_empty() {
            return;
        }
        let heads = [&b"{\"placed\":"[..], b"{\"observed\":", b"{\"failed\":"];
        // What lacks its newline may be torn.
        if line.ends_with(b"}\n") && heads.iter().any(|head| line.starts_with(head)) {
            self.segment.lines.push(line.to_vec());
        } else {
            self.segment.cut = Some(line.to_vec());
            self.segments.push(std::mem::take(&mut self.segment));
        }
    }

    /// Notes a line that begins and ends as deadheat writes a block.
    fn take_block(&mut self, line: &[u8], at: u64) -> Option<()> {
        let rest = decode_head(line, &mut self.head)?;
        let BlockRecord {
            benchmark,
            replicate,
            elapsed_ns,
            primed,
            ..
        } = self.head;
        let each_sample = *self.each_sample.get(benchmark)?;
        if !rest.ends_with(b"]]}\n") {
            return None;
        }
        let stretch = Stretch {
            at,
            len: u32::try_from(line.len()).ok()?,
        };
        push(&mut self.stretches[benchmark], stretch);
        let seen = self.segment.seen.entry(benchmark).or_insert(Seen {
            first: replicate,
            last: replicate,
            ..Seen::default()
        });
        seen.blocks += 1;
        seen.turns += u64::from(seen.last != replicate);
        seen.last = replicate;
        if each_sample {
            // Each is a list within the list.
            seen.launches += memchr_iter(b'[', rest).count() as u64 + u64::from(primed);
        }
        self.segment.elapsed_ns = self.segment.elapsed_ns.max(elapsed_ns);
        Some(())
    }
}
