//! The content that a run file keeps, and what becomes of it when things go wrong.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{block, blocks, controlled_header, end, function_block, function_header, header};
use deadheat_format::{FileProblem, FormatError, RunFileWriter, read_run, read_run_from};
use deadheat_model::{BenchmarkFailure, EndReason, RecordSink, Run, Workload};
use tempfile::TempDir;

/// The run as it should read back.
fn expected(blocks: &[deadheat_model::BlockRecord]) -> Run {
    let mut run = Run::new(header());
    for block in blocks {
        run.benchmarks[block.benchmark].push(block).unwrap();
        run.launches += block.samples.len() as u64 + u64::from(block.primed);
        run.elapsed_ns = block.elapsed_ns;
    }
    run
}

/// A folder with a run of `blocks()` that has no end line.
fn cut_run() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder/run.jsonl");
    let mut writer = RunFileWriter::create(&path, &header()).unwrap();
    assert_eq!(writer.path(), path);
    for block in blocks() {
        writer.block(&block).unwrap();
    }
    (folder, path)
}

fn append(path: &Path, bytes: &[u8]) {
    let mut content = fs::read(path).unwrap();
    content.extend_from_slice(bytes);
    fs::write(path, content).unwrap();
}

/// The run file with one line replaced, counted from 1.
fn with_line(number: usize, line: &str) -> Result<Run, FormatError> {
    let (_folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = content.lines().collect();
    lines[number - 1] = line;
    read_run_from((lines.join("\n") + "\n").as_bytes(), "run.jsonl")
}

#[test]
fn a_control_reads_back_and_what_cannot_be_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &controlled_header()).unwrap();
    writer.block(&block(0, 0, &[2, 0, 1])).unwrap();
    drop(writer);
    let run = read_run(&path).unwrap();
    assert_eq!(run.header, controlled_header());
    let [first, second] = &run.header.plan.benchmarks[..] else {
        panic!("{:?}", run.header.plan.benchmarks);
    };
    let controls = [first, second].map(|one| one.control().map(|id| id.index()));
    assert_eq!(controls, [Some(2), None]);
    // Taken up again it stays one.
    let mut writer = RunFileWriter::resume(&path, "0.1.1", None).unwrap();
    writer.block(&block(0, 1, &[0, 1, 2])).unwrap();
    drop(writer);
    let run = read_run(&path).unwrap();
    assert!(run.header.plan.benchmarks[0].control);
    let mut wrong = controlled_header();
    wrong.plan.benchmarks[0].contenders.swap(1, 2);
    let error = RunFileWriter::create(folder.path().join("no.jsonl"), &wrong).unwrap_err();
    assert!(
        error.to_string().contains("cannot have a control"),
        "{error}"
    );
}

#[test]
fn a_finished_run_reads_back_as_it_was() {
    let (_folder, path) = cut_run();
    fs::remove_file(&path).unwrap();
    let mut writer = RunFileWriter::create(&path, &header()).unwrap();
    for block in blocks() {
        writer.block(&block).unwrap();
    }
    let end = end(EndReason::Finished, 99);
    writer.end(&end).unwrap();
    let mut run = expected(&blocks());
    run.launches = 99;
    run.end = Some(end);
    assert_eq!(read_run(&path).unwrap(), run);
}

#[test]
fn every_block_is_on_disk_before_the_next_one_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &header()).unwrap();
    for (index, block) in blocks().iter().enumerate() {
        writer.block(block).unwrap();
        assert_eq!(read_run(&path).unwrap(), expected(&blocks()[..=index]));
    }
}

#[test]
fn a_run_that_was_killed_is_a_shorter_run_wherever_it_was_cut() {
    let (_folder, path) = cut_run();
    let content = fs::read(&path).unwrap();
    let first = content.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in first..content.len() {
        let run = read_run_from(&content[..cut], "run.jsonl").unwrap();
        let newlines = content[first..cut].iter().filter(|b| **b == b'\n').count();
        // A line that lacks nothing but its newline is whole.
        let whole = newlines + usize::from(content[cut] == b'\n' && content[cut - 1] == b'}');
        assert_eq!(run, expected(&blocks()[..whole]), "cut at {cut}");
    }
}

#[test]
fn a_run_that_was_killed_inside_its_header_is_no_run() {
    let (_folder, path) = cut_run();
    let content = fs::read(&path).unwrap();
    let error = read_run_from(&content[..100], "run.jsonl").unwrap_err();
    assert_eq!(
        error.to_string(),
        "run.jsonl:1: the header is cut off, so the file holds no run"
    );
    let error = read_run_from(&b""[..], "run.jsonl").unwrap_err();
    assert!(error.to_string().starts_with("run.jsonl is empty\nhelp: "));
}

#[test]
fn a_garbage_last_line_is_passed_over() {
    for garbage in [
        &b"\0\0\0\0\n"[..],
        b"{\"block\":[0,9\n",
        b"\xff\xfe",
        b"12\n\n",
    ] {
        let (_folder, path) = cut_run();
        append(&path, garbage);
        assert_eq!(read_run(&path).unwrap(), expected(&blocks()));
    }
}

#[test]
fn garbage_in_the_middle_is_an_error_that_names_its_line() {
    let error = with_line(3, "{\"block\":[0,1").unwrap_err();
    assert_eq!(error.line(), Some(3));
    assert!(
        error.to_string().starts_with("run.jsonl:3: not JSON: "),
        "{error}"
    );
    assert!(!error.is_write_error());
}

#[test]
fn a_block_that_cannot_be_is_an_error_that_names_its_place() {
    let line = |head: &str, rows: &str| {
        format!(r#"{{"block":{head},"elapsed_ns":1,"primed":false,"samples":[{rows}]}}"#)
    };
    for (line, expected) in [
        (
            line("[7,0,0]", "[0,0,0,1,1,1,1,1,1,1,1]"),
            "run.jsonl:4: a block of benchmark 7, but the plan has 2, numbered from 0",
        ),
        (
            line("[1,2,3]", "[3,0,0,1,1,1,1,1,1,1,1]"),
            "run.jsonl:4: benchmark 'three', replicate 2, block 3: \
             a sample of contender 3, but the plan has 3, numbered from 0",
        ),
        (
            line("[0,2,3]", "[0,0,0,1,1,1]"),
            "run.jsonl:4: benchmark 'sort': \
             replicate 2, block 3 has 2 values where 7 were expected",
        ),
        (
            line("[0,2,3]", "[0,0,0,1,1,-5,1,1,1,1,1]"),
            "run.jsonl:4: benchmark 'sort': \
             cpu of replicate 2, block 3, slot 0 (counted from 0) is -5; it must be finite and not negative",
        ),
        (
            line("[0,2,3]", "[0,0,0,0,1,1,1,1,1,1,1]"),
            "run.jsonl:4: benchmark 'sort': replicate 2, block 3, slot 0 (counted from 0) is a sample of 0 iterations",
        ),
    ] {
        let error = with_line(4, &line).unwrap_err();
        assert_eq!(error.to_string(), expected);
        // Such a line was not left by a kill, so it counts as the last one too.
        assert_eq!(with_line(6, &line).unwrap_err().line(), Some(6));
    }
}

#[test]
fn a_header_that_does_not_hold_is_an_error_that_names_the_field() {
    let (_folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap();
    for (field, broken, told) in [
        (
            "\"alpha\":0.05,",
            "",
            "the header is invalid: missing field `alpha`, at plan.design",
        ),
        (
            "\"warmup\":",
            "\"warmup\":-",
            "the header is invalid: expected a whole number within range, at plan.design.warmup",
        ),
        (
            "\"contenders\":[{\"name\":",
            "\"contenders\":[{\"named\":",
            "the header is invalid: missing field `name`, at plan.benchmarks[0].contenders[0]",
        ),
    ] {
        assert!(content.contains(field), "{field}");
        let content = content.replacen(field, broken, 1);
        let error = read_run_from(content.as_bytes(), "run.jsonl").unwrap_err();
        assert_eq!(error.to_string(), format!("run.jsonl:1: {told}"));
    }
}

#[test]
fn a_later_major_schema_is_refused_and_named() {
    let error = with_line(1, r#"{"schema":"deadheat.run/2","all":"new"}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "run.jsonl has schema deadheat.run/2: it needs a later deadheat; \
         this one reads deadheat.run/1"
    );
}

#[test]
fn unknown_fields_and_lines_of_a_later_minor_schema_are_passed_over() {
    let (_folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap();
    let content = content
        .replacen("deadheat.run/1\"", "deadheat.run/1.3\",\"new\":[1]", 1)
        .replacen("\"primed\"", "\"mood\":\"calm\",\"primed\"", 1)
        + "{\"weather\":{\"rain\":true}}\n";
    let run = read_run_from(content.as_bytes(), "run.jsonl").unwrap();
    assert_eq!(run, expected(&blocks()));
}

#[test]
fn two_runs_in_one_file_are_refused() {
    let (_folder, path) = cut_run();
    let content = fs::read(&path).unwrap();
    append(&path, &content);
    let error = read_run(&path).unwrap_err();
    assert_eq!(error.line(), Some(7));
    assert!(error.to_string().contains("a second header"), "{error}");
}

/// The blocks of each benchmark after which a run with these blocks says it was taken up again.
fn resumed_after(blocks: &[deadheat_model::BlockRecord]) -> Option<Vec<usize>> {
    let run = expected(blocks);
    Some(
        run.benchmarks
            .iter()
            .map(|samples| samples.blocks().len())
            .collect(),
    )
}

#[test]
fn a_run_taken_up_again_goes_on_behind_its_last_whole_line() {
    for torn in [&b""[..], b"{\"block\":[1,2,0],\"elap", b"\0\0\0\n"] {
        let (_folder, path) = cut_run();
        let whole = fs::read(&path).unwrap();
        append(&path, torn);
        let mut writer = RunFileWriter::resume(&path, "0.2.0", Some(1_709_300_000)).unwrap();
        let late = block(1, 2, &[0, 1, 2]);
        writer.block(&late).unwrap();

        let mut all = blocks();
        all.push(late);
        let mut run = expected(&all);
        run.resumed_at = resumed_after(&blocks());
        assert_eq!(read_run(&path).unwrap(), run);
        let content = fs::read(&path).unwrap();
        assert!(
            content.starts_with(&whole),
            "what was recorded stays as it is"
        );
        let marker = br#"{"resume":{"tool":{"version":"0.2.0"},"started_at":1709300000}}"#;
        assert!(content[whole.len()..].starts_with(marker));
    }
}

#[test]
fn a_run_that_lacks_only_its_last_newline_keeps_its_last_block() {
    let (_folder, path) = cut_run();
    let content = fs::read(&path).unwrap();
    fs::write(&path, &content[..content.len() - 1]).unwrap();
    drop(RunFileWriter::resume(&path, "0.2.0", None).unwrap());
    let mut run = expected(&blocks());
    run.resumed_at = resumed_after(&blocks());
    assert_eq!(read_run(&path).unwrap(), run);
}

#[test]
fn launches_count_on_from_the_last_end_line() {
    let (_folder, path) = cut_run();
    let mut writer = RunFileWriter::resume(&path, "0.1.0", None).unwrap();
    writer.end(&end(EndReason::Interrupted(2), 50)).unwrap();
    let run = read_run(&path).unwrap();
    assert_eq!(run.launches, 50);
    assert_eq!(run.end.unwrap().reason, EndReason::Interrupted(2));
    drop(writer);

    let mut writer = RunFileWriter::resume(&path, "0.1.0", None).unwrap();
    assert_eq!(read_run(&path).unwrap().end, None, "it goes on");
    writer.block(&block(1, 3, &[0, 1, 2])).unwrap();
    assert_eq!(read_run(&path).unwrap().launches, 50 + 3 + 1);
    let end = end(EndReason::Failed("'b' crashed".to_owned()), 60);
    writer.end(&end).unwrap();
    let run = read_run(&path).unwrap();
    assert_eq!((run.launches, run.end), (60, Some(end)));
    assert_eq!(run.resumed_at, resumed_after(&blocks()));
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let (_folder, path) = cut_run();
    let error = RunFileWriter::create(&path, &header()).unwrap_err();
    assert!(error.is_write_error());
    assert_eq!(error.file, path);
    assert!(error.to_string().contains("it exists already"), "{error}");
    assert_eq!(read_run(&path).unwrap(), expected(&blocks()));
}

#[test]
fn a_path_that_cannot_be_written_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = RunFileWriter::create(file.join("run.jsonl"), &header()).unwrap_err();
    assert!(error.is_write_error());
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_run_that_is_not_there_cannot_be_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let error = RunFileWriter::resume(folder.path().join("no.jsonl"), "0.1.0", None).unwrap_err();
    assert!(
        matches!(error.problem, FileProblem::CannotRead(_)),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn two_writers_cannot_record_into_one_file() {
    let (_folder, path) = cut_run();
    let first = RunFileWriter::resume(&path, "0.1.0", None).unwrap();
    let error = RunFileWriter::resume(&path, "0.1.0", None).unwrap_err();
    assert!(matches!(error.problem, FileProblem::InUse), "{error}");
    drop(first);
    RunFileWriter::resume(&path, "0.1.0", None).unwrap();
}

#[test]
fn a_block_that_could_not_be_read_back_is_not_written() {
    let (_folder, path) = cut_run();
    let before = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let mut writer = RunFileWriter::create(&path, &header()).unwrap();
    for block in blocks() {
        writer.block(&block).unwrap();
    }
    let mut not_a_number = block(0, 9, &[0, 1]);
    not_a_number.values[0] = f64::NAN;
    let mut narrow = block(0, 9, &[0, 1]);
    narrow.values.pop();
    let stranger = block(0, 9, &[0, 2]);
    for bad in [not_a_number, narrow, stranger] {
        let error = writer.block(&bad).unwrap_err();
        assert_eq!(error.place, path.display().to_string());
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// A folder with a run of functions that was killed in its second replicate,
/// after a benchmark had failed.
fn cut_run_of_functions() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &function_header()).unwrap();
    writer.failed(&failure(1)).unwrap();
    for index in 0..5 {
        writer.block(&function_block(0, index)).unwrap();
    }
    writer.block(&function_block(1, 0)).unwrap();
    (folder, path)
}

fn failure(benchmark: usize) -> BenchmarkFailure {
    BenchmarkFailure {
        benchmark,
        message: "'stable' panicked:\nout of cheese".to_owned(),
    }
}

#[test]
fn a_run_of_functions_reads_back_as_it_was() {
    let (_folder, path) = cut_run_of_functions();
    let run = read_run(&path).unwrap();
    assert_eq!(run.header, function_header());
    assert_eq!(run.failures, [failure(1)]);
    assert_eq!(run.benchmarks[0].blocks().len(), 6);
}

#[test]
fn what_a_pilot_found_of_inputs_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut header = function_header();
    header.plan.benchmarks[0].input_per_call = true;
    header.plan.benchmarks[0].notes = vec!["'loop' changes\nits input.".to_owned(), String::new()];
    drop(RunFileWriter::create(&path, &header).unwrap());
    assert_eq!(read_run(&path).unwrap().header, header);
}

#[test]
fn a_killed_run_of_functions_counts_a_worker_for_each_replicate() {
    let (_folder, path) = cut_run_of_functions();
    assert_eq!(read_run(&path).unwrap().launches, 2);
}

#[test]
fn a_failure_of_a_benchmark_the_plan_does_not_have_is_neither_written_nor_read() {
    let (_folder, path) = cut_run_of_functions();
    append(&path, b"{\"failed\":{\"benchmark\":2,\"message\":\"x\"}}\n");
    let error = read_run(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "run.jsonl:9: a failure of benchmark 2, but the plan has 2, numbered from 0"
        ),
        "{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let mut writer = RunFileWriter::create(&path, &function_header()).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(writer.failed(&failure(2)).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_failure_that_says_nothing_of_its_benchmark_is_an_error_that_names_its_line() {
    let error = with_line(3, r#"{"failed":{"message":"x"}}"#).unwrap_err();
    assert!(error.to_string().starts_with("run.jsonl:3: "), "{error}");
}

#[test]
fn a_function_without_threads_has_one_and_a_command_is_no_function() {
    let (_folder, path) = cut_run_of_functions();
    let content = fs::read_to_string(&path).unwrap();
    let first = content.lines().next().unwrap();
    let bare = first.replace(r#""iterations":1,"threads":1"#, r#""iterations":1"#);
    assert_ne!(bare, first);
    let run = read_run_from(bare.as_bytes(), "run.jsonl").unwrap();
    let Workload::Function(calls) = &run.header.plan.benchmarks[1].contenders[0].workload else {
        panic!("a function was written");
    };
    assert_eq!(calls.threads, 1);
    let both = first.replace(
        r#""function":{"iterations":1,"threads":1}"#,
        r#""command":{"text":"a","words":["a"]},"function":{"iterations":1}"#,
    );
    let error = read_run_from(both.as_bytes(), "run.jsonl").unwrap_err();
    assert_eq!(
        error.to_string(),
        "run.jsonl:1: contender 'stable' is more than one of command, function, worker, google_benchmark, criterion, divan, go, jmh, pyperf"
    );
}

#[test]
fn a_header_that_knows_nothing_of_functions_reads_as_before() {
    let (_folder, path) = cut_run();
    let content = fs::read_to_string(&path).unwrap();
    for word in ["function", "throughput", "clock", "debug_build", "failed"] {
        assert!(!content.contains(&format!("\"{word}\"")), "{word}");
    }
    let run = read_run(&path).unwrap();
    assert!(run.failures.is_empty() && run.header.environment.clock.is_none());
    assert!(!run.header.environment.debug_build);
}
