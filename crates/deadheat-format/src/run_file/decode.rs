//! The line of one block, read.
//!
//! A run may hold 250,000 of them, so the exact shape that `encode` writes is
//! read back by a scanner of its own; any other spelling of the same JSON goes
//! through serde. A property test keeps the two in agreement.

use std::fmt;

use deadheat_model::{BlockRecord, ContenderId, Flags, Sample};
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

use super::scanner::Scanner;

/// Reads the line that `bytes` begin with, when it is a block in exactly the
/// shape that `encode` writes, and gives back its length, newline included.
/// `width_of` tells how many values the samples of a benchmark have.
///
/// `None` says nothing about the line but that it is spelled otherwise or not
/// whole; `record` then holds a part of it.
pub(super) fn decode_compact(
    bytes: &[u8],
    width_of: impl Fn(usize) -> usize,
    record: &mut BlockRecord,
) -> Option<usize> {
    record.samples.clear();
    record.values.clear();
    let mut scanner = Scanner {
        rest: decode_head(bytes, record)?,
    };
    let width = width_of(record.benchmark);
    loop {
        scanner.expect(b"[")?;
        let contender = ContenderId(u8::try_from(scanner.integer()?).ok()?);
        scanner.expect(b",")?;
        let flags = flags_of(scanner.integer()?);
        scanner.expect(b",")?;
        let exit_code = match scanner.expect(b"null") {
            Some(()) => None,
            None => Some(i32::try_from(scanner.integer()?).ok()?),
        };
        scanner.expect(b",")?;
        let iterations = scanner.integer()?;
        for _ in 0..width {
            scanner.expect(b",")?;
            record.values.push(scanner.value()?);
        }
        scanner.expect(b"]")?;
        record.samples.push(Sample {
            contender,
            flags,
            exit_code,
            iterations,
        });
        if scanner.expect(b",").is_none() {
            break;
        }
    }
    scanner.expect(b"]}\n")?;
    Some(bytes.len() - scanner.rest.len())
}

/// Reads what stands in front of the samples of such a line, and gives back
/// what follows.
pub(super) fn decode_head<'a>(bytes: &'a [u8], record: &mut BlockRecord) -> Option<&'a [u8]> {
    let mut scanner = Scanner { rest: bytes };
    scanner.expect(b"{\"block\":[")?;
    record.benchmark = usize::try_from(scanner.integer()?).ok()?;
    scanner.expect(b",")?;
    record.replicate = u32::try_from(scanner.integer()?).ok()?;
    scanner.expect(b",")?;
    record.index = u32::try_from(scanner.integer()?).ok()?;
    scanner.expect(b"],\"elapsed_ns\":")?;
    record.elapsed_ns = scanner.integer()?;
    scanner.expect(b",\"primed\":")?;
    record.primed = scanner.expect(b"true").is_some();
    if !record.primed {
        scanner.expect(b"false")?;
    }
    scanner.expect(b",\"samples\":[")?;
    Some(scanner.rest)
}

/// Reads a block from its JSON, however it was spelled. `Err` says in words
/// what is wrong. A number of values that does not fit is left to the model.
pub(super) fn decode_json(
    json: Value,
    width_of: impl Fn(usize) -> usize,
    record: &mut BlockRecord,
) -> Result<(), String> {
    let block = Block::deserialize(json).map_err(|error| error.to_string())?;
    (record.benchmark, record.replicate, record.index) = block.block;
    let width = width_of(record.benchmark);
    record.elapsed_ns = block.elapsed_ns;
    record.primed = block.primed;
    record.samples.clear();
    record.values.clear();
    let mut uneven = None;
    for (slot, row) in block.samples.into_iter().enumerate() {
        if row.values.len() != width {
            uneven = Some((slot, row.values.len()));
        }
        record.samples.push(row.sample);
        record.values.extend(row.values);
    }
    match uneven {
        // Two wrong rows may add up to the right number.
        Some((slot, found)) if record.values.len() == record.samples.len() * width => Err(format!(
            "replicate {}, block {}, slot {slot} has {found} values where {width} were expected",
            record.replicate, record.index
        )),
        _ => Ok(()),
    }
}

/// Flags from a number in a file. Bits this version does not know are dropped.
fn flags_of(bits: u64) -> Flags {
    Flags::from_bits((bits & 0xff) as u8)
}

#[derive(Deserialize)]
struct Block {
    block: (usize, u32, u32),
    elapsed_ns: u64,
    #[serde(default)]
    primed: bool,
    samples: Vec<Row>,
}

struct Row {
    sample: Sample,
    values: Vec<f64>,
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;

        impl<'de> Visitor<'de> for RowVisitor {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sample: [contender, flags, exit_code, iterations, values…]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Row, A::Error> {
                let missing = |place| A::Error::invalid_length(place, &RowVisitor);
                let contender = seq.next_element()?.ok_or_else(|| missing(0))?;
                let flags = seq.next_element()?.ok_or_else(|| missing(1))?;
                let exit_code = seq.next_element()?.ok_or_else(|| missing(2))?;
                let iterations = seq.next_element()?.ok_or_else(|| missing(3))?;
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(Row {
                    sample: Sample {
                        contender: ContenderId(contender),
                        flags: flags_of(flags),
                        exit_code,
                        iterations,
                    },
                    values,
                })
            }
        }

        deserializer.deserialize_seq(RowVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::encode;
    use super::*;
    use proptest::prelude::*;

    fn block() -> impl Strategy<Value = (usize, BlockRecord)> {
        let value = prop_oneof![
            (0u64..1 << 55).prop_map(|whole| whole as f64),
            0.0..1e9f64,
            0.0..f64::MAX,
            Just(f64::MIN_POSITIVE / 8.0),
        ];
        let sample = (any::<u8>(), 0u8..4, prop::option::of(0i32..), 1u64..1 << 62).prop_map(
            |(contender, flags, exit_code, iterations)| Sample {
                contender: ContenderId(contender),
                flags: Flags::from_bits(flags),
                exit_code,
                iterations,
            },
        );
        (1usize..6, 0usize..14).prop_flat_map(move |(slots, width)| {
            (
                Just(width),
                (
                    0usize..1000,
                    any::<u32>(),
                    any::<u32>(),
                    any::<bool>(),
                    0u64..1 << 62,
                ),
                prop::collection::vec(sample.clone(), slots),
                prop::collection::vec(value.clone(), slots * width),
            )
                .prop_map(|(width, head, samples, values)| {
                    let (benchmark, replicate, index, primed, elapsed_ns) = head;
                    let record = BlockRecord {
                        benchmark,
                        replicate,
                        index,
                        primed,
                        elapsed_ns,
                        samples,
                        values,
                    };
                    (width, record)
                })
        })
    }

    fn line(record: &BlockRecord, width: usize) -> Vec<u8> {
        let mut line = Vec::new();
        encode(record, width, &mut line);
        line
    }

    fn by_serde(line: &[u8], width: usize) -> Option<BlockRecord> {
        let json = serde_json::from_slice(line).ok()?;
        let mut record = BlockRecord::default();
        decode_json(json, |_| width, &mut record).ok()?;
        Some(record)
    }

    fn by_scanner(line: &[u8], width: usize) -> Option<BlockRecord> {
        let mut record = BlockRecord::default();
        let len = decode_compact(line, |_| width, &mut record)?;
        assert_eq!(len, line.len(), "there is one line");
        Some(record)
    }

    #[test]
    fn what_is_too_rare_for_the_scanner_is_understood_by_serde() {
        let record = BlockRecord {
            elapsed_ns: u64::MAX,
            samples: vec![Sample {
                contender: ContenderId(0),
                flags: Flags::NONE,
                exit_code: Some(i32::MIN),
                iterations: u64::MAX,
            }],
            values: vec![1.0],
            ..BlockRecord::default()
        };
        let line = line(&record, 1);
        assert_eq!(by_scanner(&line, 1), None);
        assert_eq!(by_serde(&line, 1), Some(record));
    }

    #[test]
    fn another_spelling_of_a_block_is_understood_by_serde_alone() {
        let line = br#"{ "primed":false, "block":[0,0,0], "elapsed_ns":1, "note":"x", "samples":[[0,0,0,1,2.0]] }"#;
        assert_eq!(by_scanner(line, 1), None);
        assert_eq!(by_serde(line, 1).unwrap().values, [2.0]);
    }

    #[test]
    fn rows_of_uneven_width_are_refused_even_when_they_add_up() {
        let json = serde_json::json!({
            "block": [0, 4, 1], "elapsed_ns": 1, "samples": [[0, 0, 0, 1, 5], [1, 0, 0, 1, 5, 5, 5]]
        });
        let problem = decode_json(json, |_| 2, &mut BlockRecord::default()).unwrap_err();
        assert_eq!(
            problem,
            "replicate 4, block 1, slot 1 has 3 values where 2 were expected"
        );
    }

    proptest! {
        #[test]
        fn every_block_reads_back_to_itself((width, record) in block()) {
            let line = line(&record, width);
            prop_assert_eq!(by_scanner(&line, width), Some(record.clone()));
            prop_assert_eq!(by_serde(&line, width), Some(record));
        }

        #[test]
        fn what_the_scanner_reads_serde_reads_alike(
            (width, record) in block(),
            place in any::<prop::sample::Index>(),
            byte in prop::sample::select(&b"0123456789.eE+-,[]{}\":tn \x00\xff"[..]),
            insert: bool,
        ) {
            let mut line = line(&record, width);
            let place = place.index(line.len());
            if insert {
                line.insert(place, byte);
            } else {
                line[place] = byte;
            }
            if let Some(scanned) = by_scanner(&line, width) {
                prop_assert_eq!(Some(scanned), by_serde(&line, width));
            }
        }

        #[test]
        fn a_torn_line_is_never_taken_for_a_block(
            (width, record) in block(),
            place in any::<prop::sample::Index>(),
        ) {
            let line = line(&record, width);
            let torn = &line[..place.index(line.len() - 1)];
            prop_assert_eq!(by_scanner(torn, width), None);
            prop_assert_eq!(by_serde(torn, width), None);
        }
    }
}
