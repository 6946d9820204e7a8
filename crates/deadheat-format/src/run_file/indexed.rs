//! An index of a run file: the positions of its blocks are held in memory, not their samples.
//! Several threads build it from the ends of lines and the first few numbers of each line.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use deadheat_model::{BlockRecord, Run, Samples};
use memchr::memchr_iter;

use super::block::{decode_compact, decode_head};
use super::reader::{Reading, Refusal, Widths, unknown_contender};
use crate::content::{Lines, in_parts, worthwhile_parts};
use crate::limits::{self, read_line};
use crate::platform::read_exact_at;

/// Number of bytes of a benchmark's blocks to read at once, unless a line is longer.
const STEP: u64 = 1 << 18;

const BEGINNING: &[u8] = b"{\"schema\":\"deadheat.run/";

/// A run file that was indexed once and whose samples are read on request, benchmark by benchmark,
/// from any number of threads.
///
/// Supports only files that deadheat wrote, whole or cut short. For any other file, and for a line
/// with an error, the functions return `None`; [`read_run`](crate::read_run) then reads the file or
/// reports the error.
#[derive(Debug)]
pub struct IndexedRun {
    file: File,
    run: Run,
    /// Positions of the blocks, by benchmark.
    stretches: Vec<Vec<Stretch>>,
    blocks: Vec<usize>,
    widths: Widths,
}

impl IndexedRun {
    /// Indexes a file with one thread per core. Returns `None` if only
    /// [`read_run`](crate::read_run) can read it: standard input (`-`), a pipe, a packed file, a
    /// run in another spelling, or a file with errors.
    pub fn open(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        Self::open_with(path, worthwhile_parts(path)?)
    }

    /// Indexes a file as [`IndexedRun::open`] does, with this number of threads; 0 means 1.
    pub fn open_with(path: impl AsRef<Path>, threads: usize) -> Option<Self> {
        let path = path.as_ref();
        // Checked before opening, because bytes that were read from a pipe are lost.
        if path == Path::new("-") || !fs::metadata(path).ok()?.is_file() {
            return None;
        }
        let file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        // `read_run` reports the error for a larger file.
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
        let room = AtomicU64::new(limits::most_memory_of_lines().ok()? / 2);
        let parts = in_parts(&file, lines, threads, |lines| {
            index(lines, &each_sample, &room)
        })?;
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

    /// Returns the run without its samples.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Converts this into the run without its samples.
    pub fn into_run(self) -> Run {
        self.run
    }

    /// Reads the samples of a benchmark. Returns `None` if one of its lines is not a valid block,
    /// or if the file was changed after it was indexed.
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
                read_exact_at(&self.file, &mut bytes, at).ok()?;
                let mut rest = &bytes[..];
                while let Some(len) = decode_compact(rest, |_| width, &mut block) {
                    if block.benchmark != benchmark
                        || unknown_contender(&block, planned).is_some()
                        || samples.not_before(&block).is_some()
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

    /// Reserves memory for the samples of a benchmark, assuming that all blocks have as many
    /// samples as the first one. Never reserves more than its lines can hold.
    fn reserve(&self, samples: &mut Samples, benchmark: usize, of_block: usize) {
        let lengths = self.stretches[benchmark].iter().map(|one| one.len as usize);
        let most = lengths.sum::<usize>() / LEAST_SAMPLE;
        let blocks = self.blocks[benchmark];
        samples.reserve(blocks, blocks.saturating_mul(of_block).min(most));
    }
}

/// Minimum number of bytes that a sample takes in a file: `[0,0,0,1],`.
const LEAST_SAMPLE: usize = 10;

/// Combines the indexes of all parts of a file.
struct Gathering<'a> {
    reading: Reading<'a>,
    stretches: Vec<Vec<Stretch>>,
    blocks: Vec<usize>,
    /// For each benchmark, the replicate of its last block so far.
    last: Vec<Option<u32>>,
    /// True if a line was not JSON, which is allowed only at the end of the file.
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
        for line in segment.lines.split_inclusive(|byte| *byte == b'\n') {
            self.line(line)?;
            // Only a line in `cut` may be garbage or resume the run.
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

    /// Reads a line that does not look like a block. Returns `None` if it has an error or is a
    /// block after all.
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

/// Maximum number of segments in a part. A line of 8 bytes can make a segment, which takes 20 times
/// as much memory. [`read_run`](crate::read_run), which reads all other files, keeps no segments.
const MOST_SEGMENTS: usize = 1 << 16;

/// Consecutive lines that are blocks of one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// Position of the first line, in bytes from the beginning of the file.
    at: u64,
    /// Length in bytes.
    len: u32,
}

impl Stretch {
    fn grow(&mut self, next: Stretch) -> bool {
        let follows = self.at + u64::from(self.len) == next.at;
        let sum = self.len.checked_add(next.len).filter(|_| follows);
        self.len = sum.unwrap_or(self.len);
        sum.is_some()
    }
}

fn push(stretches: &mut Vec<Stretch>, next: Stretch) {
    if !stretches.last_mut().is_some_and(|last| last.grow(next)) {
        stretches.push(next);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    blocks: usize,
    /// The replicate of the first block.
    first: u32,
    /// The replicate of the last block.
    last: u32,
    /// Number of blocks whose replicate differs from that of the block before.
    turns: u64,
    /// Number of launches, one per sample and one per priming. 0 if a process serves a whole
    /// replicate.
    launches: u64,
}

/// Consecutive lines of a run file. A segment ends with a line that changes the meaning of later
/// lines, such as the end of the run or its resumption, or where this thread's part of the file
/// ends.
#[derive(Debug, Default)]
struct Segment {
    /// Counts of the blocks, by benchmark.
    seen: HashMap<usize, Seen>,
    elapsed_ns: u64,
    /// Placements, observations and failures. Their order relative to the blocks does not matter.
    lines: Vec<u8>,
    /// The last line of the segment, if it is neither a block nor one of `lines`; `None` at the end
    /// of a part of the file.
    cut: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Index<'a> {
    /// For each benchmark, true if each of its samples is a process launch.
    each_sample: &'a [bool],
    /// Number of bytes of lines other than blocks that all parts together may still hold.
    room: &'a AtomicU64,
    segments: Vec<Segment>,
    segment: Segment,
    /// Positions of the blocks, by benchmark.
    stretches: Vec<Vec<Stretch>>,
    /// The last block line that was parsed; reused to save allocations.
    head: BlockRecord,
}

/// Indexes the lines of a part. Returns `None` if they cannot be read, form too many segments, or
/// do not fit into `room`.
fn index<'a>(lines: Lines<'_>, each_sample: &'a [bool], room: &'a AtomicU64) -> Option<Index<'a>> {
    let mut index = Index {
        each_sample,
        room,
        segments: Vec::new(),
        segment: Segment::default(),
        stretches: vec![Vec::new(); each_sample.len()],
        head: BlockRecord::default(),
    };
    lines.each(|line, at| {
        index.take(line, at)?;
        (index.segments.len() <= MOST_SEGMENTS).then_some(())
    })?;
    index.segments.push(std::mem::take(&mut index.segment));
    Some(index)
}

impl Index<'_> {
    /// Adds a line. Returns `None` if there is no room for it.
    fn take(&mut self, line: &[u8], at: u64) -> Option<()> {
        if self.take_block(line, at).is_some() || line.trim_ascii().is_empty() {
            return Some(());
        }
        let less = |room: u64| room.checked_sub(line.len() as u64);
        let relaxed = Ordering::Relaxed;
        self.room.fetch_update(relaxed, relaxed, less).ok()?;
        let heads = [&b"{\"placed\":"[..], b"{\"observed\":", b"{\"failed\":"];
        // A line without its newline may be incomplete.
        if line.ends_with(b"}\n") && heads.iter().any(|head| line.starts_with(head)) {
            self.segment.lines.extend_from_slice(line);
        } else {
            self.segment.cut = Some(line.to_vec());
            self.segments.push(std::mem::take(&mut self.segment));
        }
        Some(())
    }

    /// Adds a line if it begins and ends like a block that deadheat wrote.
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
            // Each sample is a list within the list.
            seen.launches += memchr_iter(b'[', rest).count() as u64 + u64::from(primed);
        }
        self.segment.elapsed_ns = self.segment.elapsed_ns.max(elapsed_ns);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_that_do_not_fit_into_memory_are_not_indexed() {
        let line = "{\"failed\":{\"benchmark\":0}}\n";
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(line.repeat(100).as_bytes()).unwrap();
        let bytes = 100 * line.len() as u64;
        let indexed = |room| {
            let room = AtomicU64::new(room);
            let read = |lines: Lines<'_>| index(lines, &[false], &room).map(|_| ());
            in_parts(&file, (0, bytes), 4, read).is_some()
        };
        assert!(indexed(bytes));
        assert!(!indexed(bytes - 1));
    }
}
