//! Where in a run file the blocks of each benchmark stand: found by the ends of
//! lines and their first few numbers, in parts of the file at once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use deadheat_model::BlockRecord;
use memchr::{memchr, memchr_iter};

use super::decode::decode_head;
use super::part::Part;
use crate::bounded::read_line;

/// Bytes asked of the system at once.
const BUFFER: usize = 1 << 18;

/// Lines in a row that are blocks of one benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Where the first begins, in bytes from the beginning of the file.
    pub(super) at: u64,
    /// Bytes.
    pub(super) len: u32,
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
pub(super) fn push(stretches: &mut Vec<Stretch>, next: Stretch) {
    if !stretches.last_mut().is_some_and(|last| last.grow(next)) {
        stretches.push(next);
    }
}

/// Blocks of one benchmark in the order of the file, counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) blocks: usize,
    /// The replicates of the first and of the last block.
    pub(super) first: u32,
    pub(super) last: u32,
    /// How often a block was of another replicate than the one before it.
    pub(super) turns: u64,
    /// Launches that are no block's but its samples' and its priming's; not
    /// counted where a process serves a replicate.
    pub(super) launches: u64,
}

/// Lines up to one that changes what the lines around it mean.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// Blocks, by benchmark.
    pub(super) seen: HashMap<usize, Seen>,
    pub(super) elapsed_ns: u64,
    /// Placements and failures, which mean the same before and after a block.
    pub(super) lines: Vec<Vec<u8>>,
    /// The last line of the segment, any other: unless it is the last of the
    /// part.
    pub(super) cut: Option<Vec<u8>>,
}

/// What stands in a part of a run file.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) segments: Vec<Segment>,
    /// By benchmark.
    pub(super) stretches: Vec<Vec<Stretch>>,
}

/// How to count the launches of a benchmark: whether each sample was one.
pub(super) type EachSample = bool;

/// Looks through the lines that begin at `from` or later and before `to`, in a
/// file of so many bytes. `None` when it cannot be read.
pub(super) fn index(
    file: &File,
    (from, to): (u64, u64),
    size: u64,
    benchmarks: &[EachSample],
) -> Option<Index> {
    let mut reader = BufReader::with_capacity(BUFFER, Part::new(file, from, size));
    let mut indexing = Indexing {
        index: Index {
            segments: Vec::new(),
            stretches: vec![Vec::new(); benchmarks.len()],
        },
        segment: Segment::default(),
        benchmarks,
        head: BlockRecord::default(),
    };
    let (mut at, mut long) = (from, Vec::new());
    while at < to {
        let ahead = reader.fill_buf().ok()?;
        let bytes = match memchr(b'\n', ahead) {
            Some(end) => {
                indexing.take(&ahead[..=end], at);
                reader.consume(end + 1);
                end + 1
            }
            None => {
                long.clear();
                let bytes = read_line(&mut reader, &mut long).ok()?;
                indexing.take(&long, at);
                bytes
            }
        };
        if bytes == 0 {
            break;
        }
        at += bytes as u64;
    }
    let Indexing {
        mut index, segment, ..
    } = indexing;
    index.segments.push(segment);
    Some(index)
}

/// Where the first line at or behind a place begins, the file being so long;
/// `None` when it cannot be read.
pub(super) fn next_line(file: &File, place: u64, size: u64) -> Option<u64> {
    let before = place.checked_sub(1)?;
    let mut reader = BufReader::new(Part::new(file, before, size));
    Some(before + reader.skip_until(b'\n').ok()? as u64)
}

struct Indexing<'a> {
    index: Index,
    segment: Segment,
    benchmarks: &'a [EachSample],
    head: BlockRecord,
}

impl Indexing<'_> {
    /// Takes a line that begins at `at`.
    fn take(&mut self, line: &[u8], at: u64) {
        if self.take_block(line, at).is_some() || line.trim_ascii().is_empty() {
            return;
        }
        let told = [&b"{\"placed\":"[..], b"{\"failed\":"];
        // What lacks its newline may be torn.
        if line.ends_with(b"}\n") && told.iter().any(|head| line.starts_with(head)) {
            self.segment.lines.push(line.to_vec());
        } else {
            self.segment.cut = Some(line.to_vec());
            self.index.segments.push(std::mem::take(&mut self.segment));
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
        let each_sample = *self.benchmarks.get(benchmark)?;
        if !rest.ends_with(b"]]}\n") {
            return None;
        }
        let stretch = Stretch {
            at,
            len: u32::try_from(line.len()).ok()?,
        };
        push(&mut self.index.stretches[benchmark], stretch);
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
