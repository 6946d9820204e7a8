//! The line of one block:
//! `{"block":[benchmark,replicate,index],"elapsed_ns":…,"primed":…,"samples":[[contender,flags,exit_code,iterations,value,…],…]}`.
//!
//! A run may have 250,000 blocks, so they are written and read without a JSON tree, in exactly this
//! spelling. Any other spelling of the same JSON is read through the tree. A property test checks
//! that the two readers agree.

use deadheat_model::BlockRecord;
#[cfg(feature = "read")]
use deadheat_model::{ContenderId, Flags, Json, Object, Sample};

#[cfg(feature = "read")]
use crate::number::Scanner;
use crate::number::{push_integer, push_value};
#[cfg(feature = "read")]
use crate::wire::{Wire, WireError, or_else, or_missing, required};

/// Appends the line of a block whose samples have `width` values each, newline included.
pub(super) fn encode(block: &BlockRecord, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"block\":[");
    push_integer(out, block.benchmark as u64);
    out.push(b',');
    push_integer(out, block.replicate.into());
    out.push(b',');
    push_integer(out, block.index.into());
    out.extend_from_slice(b"],\"elapsed_ns\":");
    push_integer(out, block.elapsed_ns);
    out.extend_from_slice(b",\"primed\":");
    out.extend_from_slice(if block.primed { b"true" } else { b"false" });
    out.extend_from_slice(b",\"samples\":[");
    for (slot, sample) in block.samples.iter().enumerate() {
        out.extend_from_slice(if slot == 0 { b"[" } else { b",[" });
        push_integer(out, sample.contender.0.into());
        out.push(b',');
        push_integer(out, sample.flags.bits().into());
        out.push(b',');
        match sample.exit_code {
            None => out.extend_from_slice(b"null"),
            Some(code) => {
                if code < 0 {
                    out.push(b'-');
                }
                push_integer(out, code.unsigned_abs().into());
            }
        }
        out.push(b',');
        push_integer(out, sample.iterations);
        for value in &block.values[slot * width..(slot + 1) * width] {
            out.push(b',');
            push_value(out, *value);
        }
        out.push(b']');
    }
    out.extend_from_slice(b"]}\n");
}

/// Reads the block line at the beginning of `bytes`, if it is spelled exactly as `encode` writes
/// it, and returns its length in bytes, newline included. `width_of` returns the number of values
/// that each sample of a benchmark has.
///
/// `None` means only that the line is incomplete or spelled otherwise; `record` then holds a part
/// of it.
#[cfg(feature = "read")]
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
        scanner.byte(b'[')?;
        let contender = ContenderId(u8::try_from(scanner.integer()?).ok()?);
        scanner.byte(b',')?;
        let flags = flags_of(scanner.integer()?);
        scanner.byte(b',')?;
        let exit_code = match scanner.expect(b"null") {
            Some(()) => None,
            None => Some(i32::try_from(scanner.integer()?).ok()?),
        };
        scanner.byte(b',')?;
        let iterations = scanner.integer()?;
        for _ in 0..width {
            scanner.byte(b',')?;
            record.values.push(scanner.value()?);
        }
        scanner.byte(b']')?;
        record.samples.push(Sample {
            contender,
            flags,
            exit_code,
            iterations,
        });
        if scanner.byte(b',').is_none() {
            break;
        }
    }
    scanner.expect(b"]}\n")?;
    Some(bytes.len() - scanner.rest.len())
}

/// Reads the fields before the samples of a block line and returns the bytes after them.
#[cfg(feature = "read")]
pub(super) fn decode_head<'a>(bytes: &'a [u8], record: &mut BlockRecord) -> Option<&'a [u8]> {
    let mut scanner = Scanner { rest: bytes };
    scanner.expect(b"{\"block\":[")?;
    record.benchmark = usize::try_from(scanner.integer()?).ok()?;
    scanner.byte(b',')?;
    record.replicate = u32::try_from(scanner.integer()?).ok()?;
    scanner.byte(b',')?;
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

/// Reads a block from JSON in any spelling. The caller checks the total number of values.
#[cfg(feature = "read")]
pub(super) fn decode_json(
    block: &Object,
    width_of: impl Fn(usize) -> usize,
    record: &mut BlockRecord,
) -> Result<(), WireError> {
    let place = |json: &Json| match json.as_list() {
        Some([benchmark, replicate, index]) => Ok((
            Wire::from_json(benchmark)?,
            Wire::from_json(replicate)?,
            Wire::from_json(index)?,
        )),
        _ => Err(WireError::odd("[benchmark, replicate, index]")),
    };
    (record.benchmark, record.replicate, record.index) = or_missing(block, "block", place)?;
    record.elapsed_ns = required(block, "elapsed_ns")?;
    record.primed = or_else(block, "primed", || false)?;
    record.samples.clear();
    record.values.clear();
    let mut counts = Vec::new();
    or_missing(block, "samples", |json| {
        let rows = json.as_list().ok_or_else(|| WireError::odd("a list"))?;
        for (slot, row) in rows.iter().enumerate() {
            let count = take_row(row.as_list().unwrap_or_default(), record);
            counts.push(count.map_err(|error| error.inside(&format!("[{slot}]")))?);
        }
        Ok(())
    })?;
    let width = width_of(record.benchmark);
    match counts.iter().rposition(|found| *found != width) {
        // The wrong counts of two rows may add up to the right total.
        Some(slot) if record.values.len() == counts.len() * width => {
            Err(WireError::sentence(format!(
                "replicate {}, block {}, slot {slot} has {} values where {width} were expected",
                record.replicate, record.index, counts[slot]
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(feature = "read")]
fn take_row(list: &[Json], record: &mut BlockRecord) -> Result<usize, WireError> {
    let [contender, flags, exit_code, iterations, values @ ..] = list else {
        return Err(WireError::odd(
            "a sample: [contender, flags, exit_code, iterations, values…]",
        ));
    };
    record.samples.push(Sample {
        contender: ContenderId(Wire::from_json(contender)?),
        flags: flags_of(Wire::from_json(flags)?),
        exit_code: Wire::from_json(exit_code)?,
        iterations: Wire::from_json(iterations)?,
    });
    for value in values {
        record.values.push(Wire::from_json(value)?);
    }
    Ok(values.len())
}

/// Returns the flags in a number from a file, without bits that this version does not know.
#[cfg(feature = "read")]
fn flags_of(bits: u64) -> Flags {
    Flags::from_bits((bits & 0xff) as u8)
}

#[cfg(test)]
mod tests {
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

    fn by_tree(line: &[u8], width: usize) -> Option<BlockRecord> {
        let json = Json::parse(std::str::from_utf8(line).ok()?)?;
        let mut record = BlockRecord::default();
        decode_json(json.as_object()?, |_| width, &mut record).ok()?;
        Some(record)
    }

    fn by_scanner(line: &[u8], width: usize) -> Option<BlockRecord> {
        let mut record = BlockRecord::default();
        let len = decode_compact(line, |_| width, &mut record)?;
        assert_eq!(len, line.len(), "there is one line");
        Some(record)
    }

    #[test]
    fn a_block_is_written_as_documented() {
        let record = BlockRecord {
            benchmark: 1,
            replicate: 22,
            index: 3,
            primed: true,
            elapsed_ns: 456,
            samples: vec![
                Sample {
                    contender: ContenderId(0),
                    flags: Flags::PREEMPTED,
                    exit_code: Some(-7),
                    iterations: 10,
                },
                Sample {
                    contender: ContenderId(1),
                    flags: Flags::NONE,
                    exit_code: None,
                    iterations: 20,
                },
            ],
            values: vec![1417.0, 0.5, 1452.0, 1e300],
        };
        let mut line = Vec::new();
        encode(&record, 2, &mut line);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            r#"{"block":[1,22,3],"elapsed_ns":456,"primed":true,"samples":[[0,1,-7,10,1417,0.5],[1,0,null,20,1452,1e300]]}"#
                .to_owned()
                + "\n"
        );
    }

    #[test]
    fn what_is_too_rare_for_the_scanner_is_understood_by_tree() {
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
        assert_eq!(by_tree(&line, 1), Some(record));
    }

    #[test]
    fn another_spelling_of_a_block_is_understood_by_tree_alone() {
        let line = br#"{ "primed":false, "block":[0,0,0], "elapsed_ns":1, "note":"x", "samples":[[0,0,0,1,2.0]] }"#;
        assert_eq!(by_scanner(line, 1), None);
        assert_eq!(by_tree(line, 1).unwrap().values, [2.0]);
    }

    #[test]
    fn rows_of_uneven_width_are_refused_even_when_they_add_up() {
        let line = r#"{"block":[0,4,1],"elapsed_ns":1,"samples":[[0,0,0,1,5],[1,0,0,1,5,5,5]]}"#;
        let json = Json::parse(line).unwrap();
        let block = json.as_object().unwrap();
        let problem = decode_json(block, |_| 2, &mut BlockRecord::default()).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "replicate 4, block 1, slot 1 has 3 values where 2 were expected"
        );
    }

    proptest! {
        #[test]
        fn every_block_reads_back_to_itself((width, record) in block()) {
            let line = line(&record, width);
            prop_assert_eq!(by_scanner(&line, width), Some(record.clone()));
            prop_assert_eq!(by_tree(&line, width), Some(record));
        }

        #[test]
        fn what_the_scanner_reads_the_tree_reads_alike(
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
                prop_assert_eq!(Some(scanned), by_tree(&line, width));
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
            prop_assert_eq!(by_tree(torn, width), None);
        }
    }
}
