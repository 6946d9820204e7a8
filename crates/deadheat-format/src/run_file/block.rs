//! The line of one block:
//! `{"block":[benchmark,replicate,index],"elapsed_ns":…,"primed":…,"samples":[[contender,flags,exit_code,iterations,value,…],…]}`.
//!
//! Written here, read in `decode.rs`.

use deadheat_model::BlockRecord;

use crate::number::{push_integer, push_value};

/// Appends the line of a block whose samples have `width` values each,
/// newline included.
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

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{ContenderId, Flags, Sample};

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
}
