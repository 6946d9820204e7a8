//! Where the code lay, as a run file keeps it.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{end, fallen_back, function_block, placed, placed_header};
use deadheat_format::{RunFileWriter, read_run, read_run_from};
use deadheat_model::{EndReason, Placed, Placing, RecordSink, Run};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder with a run of two placed replicates that has no end line.
fn cut_run() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &placed_header()).unwrap();
    for (replicate, placed) in [placed(0, 0), fallen_back(0, 1)].iter().enumerate() {
        writer.placed(placed).unwrap();
        writer.block(&function_block(replicate as u32, 0)).unwrap();
    }
    (folder, path)
}

/// The result of reading the run with another line behind it.
fn with_line(line: &str) -> Result<Run, String> {
    let (_folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap() + line + "\n";
    read_run_from(content.as_bytes(), "run.jsonl").map_err(|error| error.to_string())
}

#[test]
fn placements_read_back_as_they_were() {
    let (_folder, path) = cut_run();
    let run = read_run(&path).unwrap();
    assert_eq!(run.header, placed_header());
    assert_eq!(run.placed, [placed(0, 0), fallen_back(0, 1)]);
    assert_eq!(run.benchmarks[0].blocks().len(), 2);
}

#[test]
fn a_run_without_placements_says_nothing_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    drop(RunFileWriter::create(&path, &common::function_header()).unwrap());
    let content = fs::read_to_string(&path).unwrap();
    for word in ["placed", "neutral_links", "own_link"] {
        assert!(!content.contains(word), "{word}");
    }
    let run = read_run(&path).unwrap();
    assert!(run.placed.is_empty() && run.header.environment.neutral_links.is_empty());
}

#[test]
fn a_run_that_was_cut_keeps_the_placements_before() {
    let (_folder, path) = cut_run();
    let content = fs::read(&path).unwrap();
    let first = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in first..content.len() {
        let run = read_run_from(&content[..cut], "run.jsonl").unwrap();
        let whole = read_run(&path).unwrap();
        let kept = run.placed.len();
        assert_eq!(run.placed, whole.placed[..kept], "cut at {cut}");
        // A placement comes before the block it belongs to.
        let blocks = run.benchmarks[0].blocks().len();
        assert!(kept == blocks || kept == blocks + 1, "cut at {cut}");
    }
}

#[test]
fn a_run_taken_up_again_keeps_its_placements_and_may_place_a_replicate_anew() {
    let (_folder, path) = cut_run();
    let before = fs::read(&path).unwrap();
    let mut writer = RunFileWriter::resume(&path, "0.2.0", None).unwrap();
    writer.placed(&placed(0, 1)).unwrap();
    writer.block(&function_block(1, 1)).unwrap();
    writer.end(&end(EndReason::Finished, 9)).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&before));
    let run = read_run(&path).unwrap();
    assert_eq!(run.placed, [placed(0, 0), fallen_back(0, 1), placed(0, 1)]);
}

#[test]
fn a_placement_that_cannot_be_is_an_error_that_names_its_place() {
    let line = |benchmark: usize, replicate: u32, contenders: &str| {
        format!(
            r#"{{"placed":{{"benchmark":{benchmark},"replicate":{replicate},"contenders":[{contenders}]}}}}"#
        )
    };
    for (line, expected) in [
        (
            line(9, 2, r#""own""#),
            "run.jsonl:6: a placement of benchmark 9, but the plan has 3, numbered from 0",
        ),
        (
            line(0, 2, r#""own""#),
            "run.jsonl:6: benchmark 'sum', replicate 2: \
             a placement of 1 contenders, but the plan has 2",
        ),
        (
            line(0, 1, r#""own","own""#),
            "run.jsonl:6: benchmark 'sum', replicate 1: \
             its placement was already given on line 4",
        ),
        (
            line(0, 2, r#""own","else""#),
            "run.jsonl:6: each entry of 'contenders' is \"own\", or an object with the 'seed' and \
             the 'hash' of a neutral link",
        ),
        (
            r#"{"placed":{"benchmark":0,"contenders":["own","own"]}}"#.to_owned(),
            "run.jsonl:6: missing field `replicate`",
        ),
    ] {
        assert_eq!(with_line(&line).unwrap_err(), expected);
    }
}

#[test]
fn unknown_fields_of_a_placement_are_passed_over() {
    let line = r#"{"placed":{"benchmark":1,"replicate":0,"page":4096,"contenders":["own",{"seed":5,"hash":"aa","page":1}]}}"#;
    let run = with_line(line).unwrap();
    let last = run.placed.last().unwrap();
    assert_eq!(last.benchmark, 1);
    assert_eq!(last.contenders[0], Placing::Own);
    assert!(!last.is_drawn(0, 1));
}

#[test]
fn a_placement_that_could_not_be_read_back_is_not_written() {
    let (_folder, path) = cut_run();
    let mut writer = RunFileWriter::resume(&path, "0.2.0", None).unwrap();
    let before = fs::read(&path).unwrap();
    let mut alone = placed(0, 2);
    alone.contenders.pop();
    for bad in [placed(3, 0), alone] {
        let error = writer.placed(&bad).unwrap_err();
        assert_eq!(error.place, path.display().to_string());
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_header_whose_own_link_stands_beside_nothing_is_neither_written_nor_read() {
    let (folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap();
    let bad = content.replacen(r#""own_link":{"of":0"#, r#""own_link":{"of":1"#, 1);
    assert_ne!(bad, content);
    let error = read_run_from(bad.as_bytes(), "run.jsonl").unwrap_err();
    assert_eq!(
        error.to_string(),
        "run.jsonl: benchmark 1 ('sum') cannot be a rerun of benchmark 1: \
         a rerun comes after the benchmark that it reruns (numbers start at 0)"
    );
    let mut header = placed_header();
    header.plan.benchmarks[2].rerun = header.plan.benchmarks[1].rerun;
    let path = folder.path().join("other.jsonl");
    assert!(RunFileWriter::create(&path, &header).is_err());
    assert!(!path.exists());
}

#[test]
fn links_made_by_nobody_and_for_no_reason_are_an_error_that_names_the_first_line() {
    let (_folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap();
    let bad = content.replacen(r#""linker":"LLD 14.0.6","#, "", 1);
    assert_ne!(bad, content);
    let error = read_run_from(bad.as_bytes(), "run.jsonl").unwrap_err();
    assert!(error.to_string().starts_with("run.jsonl:1: "), "{error}");
}

fn any_placed() -> impl Strategy<Value = Placed> {
    let placing = prop_oneof![
        Just(Placing::Own),
        (any::<u32>(), ".*").prop_map(|(seed, hash)| Placing::Neutral(
            deadheat_model::NeutralLink {
                seed,
                hash,
                matched: false
            }
        )),
    ];
    let refused = (any::<u32>(), ".*")
        .prop_map(|(seed, reason)| deadheat_model::RefusedLink { seed, reason });
    (
        0..2usize,
        any::<u32>(),
        prop::collection::vec(placing, 2),
        prop::collection::vec(refused, 0..3),
        prop::option::of(".*"),
    )
        .prop_map(
            |(benchmark, replicate, contenders, refused, fallen_back)| Placed {
                benchmark,
                replicate,
                contenders,
                refused,
                fallen_back,
            },
        )
}

proptest! {
    #[test]
    fn whatever_is_said_of_a_placement_reads_back(placed in any_placed()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut writer = RunFileWriter::create(&path, &placed_header()).unwrap();
        writer.placed(&placed).unwrap();
        prop_assert_eq!(read_run(&path).unwrap().placed, [placed]);
    }
}
