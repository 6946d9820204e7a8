//! Writes the record of a search and reads it again, byte by byte.

use std::fs;
use std::path::Path;

use deadheat::parts::model::{LeftOutReason, LogRatio, Metric};
use deadheat_bisect::{
    BenchmarkChosen, BisectAnswer, BisectCommit, BisectEnd, BisectEvent, BisectLog, BisectPrior,
    BisectRequest, CommitBuilt, CommitShare, CommitUnbuildable, CommitsBegun, CommitsRaced,
    OpenReason, OpenSearch, SeveralSteps, StepEstimate, UnmeasuredBenchmark, UnmeasuredReason,
};
use deadheat_bisect::{BisectLogWriter, read_bisect_log};
use proptest::prelude::*;
use serde_json::{Value, json};

fn share(first: usize, last: usize, probability: f64) -> CommitShare {
    CommitShare {
        first,
        last,
        probability,
    }
}

fn unmeasured(name: &str, reason: UnmeasuredReason) -> UnmeasuredBenchmark {
    UnmeasuredBenchmark {
        benchmark: name.to_owned(),
        reason,
    }
}

fn ended(answer: BisectAnswer) -> BisectEvent {
    BisectEvent::Ended(BisectEnd {
        answer,
        step: None,
        within: None,
    })
}

/// Every kind of line, each answer included.
fn log() -> BisectLog {
    let commit = |number: u32| BisectCommit {
        id: format!("{number:040x}"),
        committed_at: (number > 1).then_some(1_709_210_096),
        subject: format!("commit {number}: \"x\""),
        lines: (number > 0).then_some(u64::from(number) * 10),
    };
    let built = |commit, digest: Option<&str>| {
        BisectEvent::Built(CommitBuilt {
            commit,
            was_kept: commit > 0,
            seconds: 2.5,
            digest: digest.map(str::to_owned),
        })
    };
    let begun = CommitsBegun {
        from: 0,
        to: 3,
        file: ".deadheat/runs/20240229-123456-00000007.jsonl".into(),
    };
    let raced = CommitsRaced {
        from: 0,
        to: 3,
        benchmark: "parse".to_owned(),
        judged: Some(Metric::Cpu),
        effect: LogRatio::from_change(0.0204),
        se: 0.0011,
        df: 10.0,
        replicates: 11,
        seconds: 4.25,
        file: begun.file.clone(),
        was_cut: true,
        is_placed: true,
    };
    BisectLog {
        request: BisectRequest {
            tool_version: "0.1.0".to_owned(),
            started_at: Some(1_709_210_096),
            command: ["deadheat", "bisect", "v1..HEAD"]
                .map(str::to_owned)
                .to_vec(),
            good: "v1".to_owned(),
            bad: "HEAD".to_owned(),
            commits: (0..4).map(commit).collect(),
            aside: 2,
            judged: Metric::Wall,
            margin: LogRatio::from_change(0.01),
            alpha: 0.05,
            prior: BisectPrior::Diff,
        },
        events: vec![
            built(3, Some("00ff")),
            built(0, None),
            BisectEvent::Begun(begun),
            BisectEvent::Resumed(Some(1_709_210_100)),
            BisectEvent::Chosen(BenchmarkChosen {
                benchmark: "parse".to_owned(),
                called: vec!["print".to_owned()],
                changes: vec![LogRatio::from_change(-0.0125)],
                metrics: vec![Metric::Wall],
                is_slowdown: true,
                measured: 2,
                unmeasured: vec![
                    unmeasured(
                        "hash",
                        UnmeasuredReason::LeftOut(LeftOutReason::OnlyIn("00000000".to_owned())),
                    ),
                    unmeasured("sort", UnmeasuredReason::Failed("it crashed".to_owned())),
                    unmeasured("scan", UnmeasuredReason::TooFewReplicates),
                ],
            }),
            BisectEvent::Raced(raced),
            BisectEvent::Unbuildable(CommitUnbuildable {
                commit: 2,
                reason: "`make` ended with exit status: 2".to_owned(),
                seconds: 0.5,
            }),
            ended(BisectAnswer::NoStep(0.96)),
            ended(BisectAnswer::NoSingleStep(SeveralSteps {
                from: 0,
                to: 1,
                probability: 0.98,
            })),
            ended(BisectAnswer::Open(OpenSearch {
                reason: OpenReason::Budget,
                commits: vec![share(2, 3, 0.7), share(1, 1, 0.25)],
                no_step: 0.01,
                unmeasured: vec![unmeasured("scan", UnmeasuredReason::TooFewReplicates)],
            })),
            BisectEvent::Resumed(None),
            BisectEvent::Ended(BisectEnd {
                answer: BisectAnswer::Commits(share(2, 3, 0.97)),
                step: Some(StepEstimate {
                    effect: LogRatio::from_change(0.0204),
                    low: LogRatio::from_change(0.018),
                    high: LogRatio::from_change(0.023),
                }),
                within: Some((1, 3)),
            }),
        ],
    }
}

fn written() -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search.jsonl");
    let log = log();
    let mut writer = BisectLogWriter::create(&path, &log.request).unwrap();
    for event in &log.events {
        writer.append(event).unwrap();
    }
    fs::read_to_string(&path).unwrap()
}

fn golden() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bisect.jsonl")
}

#[test]
fn a_search_is_written_as_before() {
    let text = written();
    if std::env::var_os("DEADHEAT_BLESS").is_some() {
        fs::write(golden(), &text).unwrap();
    }
    assert_eq!(fs::read_to_string(golden()).unwrap(), text);
}

#[test]
fn a_search_that_was_written_is_read_back() {
    let read = read_bisect_log(&golden()).unwrap();
    let expected = log();
    assert_eq!(read.events.len(), expected.events.len());
    assert_eq!(read.request.commits, expected.request.commits);
    // Changes go through one number more than effects do.
    let text = |log: &BisectLog| format!("{log:.9?}");
    assert_eq!(text(&read), text(&expected));
}

#[test]
fn every_line_of_a_record_keeps_to_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/bisect-1.schema.json");
    let mut schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    forbid_the_unnamed(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for line in written().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&line)
            .map(|e| e.to_string())
            .collect();
        assert!(wrong.is_empty(), "{line}: {wrong:?}");
        let mut odd = line.clone();
        odd["unheard-of"] = json!(1);
        assert!(!validator.is_valid(&odd), "{odd}");
    }
}

proptest! {
    #[test]
    fn a_damaged_record_is_read_as_far_as_it_is_whole_or_refused_with_its_file(
        at in 0.0..1.0_f64,
        byte: u8,
    ) {
        let mut bytes = written().into_bytes();
        let at = (at * bytes.len() as f64) as usize;
        bytes[at] = byte;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("search.jsonl");
        fs::write(&path, &bytes).unwrap();
        if let Err(error) = read_bisect_log(&path) {
            prop_assert!(error.to_string().contains("search.jsonl"), "{error}");
        }
        fs::write(&path, &bytes[..at]).unwrap();
        if let Ok(log) = read_bisect_log(&path) {
            prop_assert!(log.events.len() <= self::log().events.len());
        }
    }
}

/// Forbids every field that the schema does not name. Readers ignore such fields, and deadheat
/// writes none.
fn forbid_the_unnamed(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_the_unnamed);
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_the_unnamed),
        _ => {}
    }
}
