//! A run file read benchmark by benchmark is the run that is read in one go,
//! and where it is not sure of that it says so.

mod common;

use std::fs;
use std::path::Path;

use common::{block, blocks, end, function_block, function_header, header};
use deadheat_format::{IndexedRun, RunFileWriter, read_run};
use deadheat_model::{BenchmarkFailure, EndReason, RecordSink, Run};
use proptest::prelude::*;

fn golden(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/golden").join(name)
}

/// The run, put together from its benchmarks; `None` where the index leaves it
/// to others.
fn by_benchmark(path: &Path, threads: usize) -> Option<Run> {
    let indexed = IndexedRun::open_with(path, threads)?;
    // Backwards: the order in which they are asked for does not matter.
    let count = indexed.run().header.plan.benchmarks.len();
    let mut samples: Vec<_> = (0..count).rev().map(|i| indexed.samples(i)).collect();
    samples.reverse();
    let mut run = indexed.into_run();
    assert!(run.benchmarks.iter().all(|none| none.blocks().is_empty()));
    run.benchmarks = samples.into_iter().collect::<Option<_>>()?;
    Some(run)
}

#[test]
fn golden_runs_read_alike_in_any_number_of_parts() {
    for name in [
        "run.jsonl",
        "functions.jsonl",
        "placements.jsonl",
        "programs.jsonl",
    ] {
        let whole = read_run(golden(name)).unwrap();
        for threads in [1, 2, 3, 7, 50] {
            let run = by_benchmark(&golden(name), threads);
            assert_eq!(run.as_ref(), Some(&whole), "{name} in {threads} parts");
        }
        let indexed = IndexedRun::open(golden(name)).unwrap();
        assert_eq!(indexed.run().header, whole.header);
    }
}

#[test]
fn a_run_cut_anywhere_reads_alike_or_is_left_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.jsonl");
    let content = fs::read(golden("placements.jsonl")).unwrap();
    let mut told = 0;
    for cut in 0..content.len() {
        fs::write(&path, &content[..cut]).unwrap();
        if let Some(run) = by_benchmark(&path, 1 + cut % 3) {
            assert_eq!(run, read_run(&path).unwrap(), "cut at {cut}");
            told += 1;
        }
    }
    let header = content.iter().position(|byte| *byte == b'\n').unwrap();
    // It hesitates only where a whole line lacks its newline.
    let lines = content.iter().filter(|byte| **byte == b'\n').count();
    assert!(told >= content.len() - header - lines, "{told}");
}

#[test]
fn a_line_longer_than_what_is_read_at_once_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let mut writer = RunFileWriter::create(&path, &header()).unwrap();
    let mut long = block(0, 0, &[0, 1, 1, 0]);
    let (samples, values) = (long.samples.clone(), long.values.clone());
    while long.samples.len() < 12_000 {
        long.samples.extend_from_slice(&samples);
        long.values.extend_from_slice(&values);
    }
    writer.block(&long).unwrap();
    writer.block(&block(0, 1, &[0, 1, 1, 0])).unwrap();
    assert!(fs::metadata(&path).unwrap().len() > 1 << 18);
    for threads in [1, 4] {
        assert_eq!(by_benchmark(&path, threads), Some(read_run(&path).unwrap()));
    }
}

#[test]
fn what_is_no_plain_run_file_is_left_to_others() {
    let folder = tempfile::tempdir().unwrap();
    assert!(IndexedRun::open(folder.path()).is_none(), "a folder");
    assert!(IndexedRun::open(folder.path().join("none")).is_none());
    assert!(IndexedRun::open("-").is_none(), "standard input");
    assert!(IndexedRun::open(golden("run.csv")).is_none());
    let spelled = folder.path().join("spelled.jsonl");
    let content = fs::read_to_string(golden("run.jsonl")).unwrap();
    fs::write(&spelled, content.replace("{\"block\":[", "{\"block\": [")).unwrap();
    assert!(read_run(&spelled).is_ok());
    assert!(IndexedRun::open(&spelled).is_none(), "spelled otherwise");
}

#[test]
fn a_file_that_changed_since_is_not_what_its_index_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    fs::copy(golden("run.jsonl"), &path).unwrap();
    let indexed = IndexedRun::open(&path).unwrap();
    assert!(indexed.samples(0).is_some());
    let mut content = fs::read(&path).unwrap();
    content.truncate(content.len() / 2);
    fs::write(&path, content).unwrap();
    assert!(indexed.samples(0).is_none() || indexed.samples(1).is_none());
}

/// A line of the random files, before it is written.
#[derive(Clone, Debug)]
enum Line {
    Block {
        benchmark: usize,
        replicate: u32,
    },
    Resume,
    End,
    Failed(usize),
    Text(&'static str),
    /// The line before it once more, with a byte replaced.
    Spoiled(prop::sample::Index, u8),
}

fn line() -> impl Strategy<Value = Line> {
    let text = prop::sample::select(
        &[
            "",
            " ",
            "{\"later\":[1]}",
            "{\"failed\":{\"benchmark\":0},\"resume\":{}}",
            "{\"failed\":{\"benchmark\":0},\"block\":[0,0,0],\"elapsed_ns\":1,\"samples\":[]}",
            "{\"block\":[0,0,0],\"elapsed_ns\":1,\"primed\":true,\"samples\":[]}",
            "{\"placed\":{",
        ][..],
    );
    prop_oneof![
        20 => (0usize..2, 0u32..3)
            .prop_map(|(benchmark, replicate)| Line::Block { benchmark, replicate }),
        1 => Just(Line::Resume),
        1 => Just(Line::End),
        1 => (0usize..3).prop_map(Line::Failed),
        1 => text.prop_map(Line::Text),
        1 => (any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(place, byte)| Line::Spoiled(place, byte)),
    ]
}

/// A file of functions or of commands, with such lines, and whether all of
/// them are as deadheat writes them.
fn file(functions: bool, lines: &[Line], path: &Path) -> bool {
    let _ = fs::remove_file(path);
    let header = if functions {
        function_header()
    } else {
        header()
    };
    let last_line = |of: &mut dyn FnMut(&mut RunFileWriter)| {
        let _ = fs::remove_file(path);
        of(&mut RunFileWriter::create(path, &header).unwrap());
        let text = fs::read(path).unwrap();
        let line = text[..text.len() - 1].iter().rposition(|b| *b == b'\n');
        text[line.unwrap() + 1..].to_vec()
    };
    let mut written = true;
    let mut found: Vec<Vec<u8>> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let bytes = match line {
            Line::Block {
                benchmark,
                replicate,
            } => {
                let benchmark = *benchmark % header.plan.benchmarks.len();
                let mut block = match functions {
                    true => function_block(*replicate, index as u32),
                    false => block(benchmark, *replicate, &[0, 1, 1, 0]),
                };
                block.elapsed_ns = (index as u64 * 7_919) % 1_000;
                last_line(&mut |writer| writer.block(&block).unwrap())
            }
            Line::Resume => b"{\"resume\":{\"tool\":{\"version\":\"0.2.0\"}}}\n".to_vec(),
            Line::End => {
                let end = end(EndReason::Finished, 99 + index as u64);
                last_line(&mut |writer| writer.end(&end).unwrap())
            }
            Line::Failed(benchmark) => {
                let failure = BenchmarkFailure {
                    benchmark: *benchmark % header.plan.benchmarks.len(),
                    message: "it \"panicked\"\n".to_owned(),
                };
                last_line(&mut |writer| writer.failed(&failure).unwrap())
            }
            Line::Text(text) => {
                written = false;
                format!("{text}\n").into_bytes()
            }
            Line::Spoiled(place, byte) => {
                written = false;
                let mut copy = found.last().cloned().unwrap_or_else(|| b"x\n".to_vec());
                let place = place.index(copy.len());
                copy[place] = *byte;
                copy
            }
        };
        found.push(bytes);
    }
    let _ = fs::remove_file(path);
    drop(RunFileWriter::create(path, &header).unwrap());
    let mut content = fs::read(path).unwrap();
    content.extend(found.into_iter().flatten());
    fs::write(path, content).unwrap();
    written
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_and_broken_files_read_alike(
        functions: bool,
        lines in prop::collection::vec(line(), 0..40),
        threads in 1usize..6,
        torn in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let written = file(functions, &lines, &path);
        if let Some(torn) = torn {
            let content = fs::read(&path).unwrap();
            fs::write(&path, &content[..torn.index(content.len())]).unwrap();
        }
        let run = by_benchmark(&path, threads);
        match read_run(&path) {
            Ok(whole) => {
                if written && torn.is_none() {
                    prop_assert_eq!(run.as_ref(), Some(&whole));
                } else if let Some(run) = run {
                    prop_assert_eq!(run, whole);
                }
            }
            Err(error) => prop_assert_eq!(run, None, "{}", error),
        }
    }
}

#[test]
fn blocks_of_all_benchmarks_in_any_order_find_their_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &header()).unwrap();
    let (first, second): (Vec<_>, Vec<_>) = blocks().into_iter().partition(|b| b.benchmark == 0);
    for block in second.iter().chain(&first) {
        writer.block(block).unwrap();
    }
    assert_eq!(by_benchmark(&path, 3), Some(read_run(&path).unwrap()));
}

#[test]
fn a_block_that_is_repeated_or_out_of_order_is_refused() {
    let [one, two] = [&blocks()[0], &blocks()[1]];
    for block in [one, two] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut writer = RunFileWriter::create(&path, &header()).unwrap();
        for block in [one, two, block] {
            writer.block(block).unwrap();
        }
        drop(writer);
        assert_eq!(by_benchmark(&path, 3), None);
        let error = read_run(&path).unwrap_err().to_string();
        assert!(
            error.contains("each block once, in ascending order"),
            "{error}"
        );
    }
}
