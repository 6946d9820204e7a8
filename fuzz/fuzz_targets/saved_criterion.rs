//! The files of a set of criterion, and what is written of the answer for other
//! services. The first byte says which of the files the rest is.
#![no_main]

use std::path::Path;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::model::{Metric, Run};
use deadheat_import::{
    GoogleSide, ResultBenchmark, ResultState, Results, Side, Terms, join, read_criterion_set,
    read_results_from, write_bmf, write_google_benchmark, write_smaller_is_better,
};
use libfuzzer_sys::fuzz_target;

const ID: &[u8] = br#"{"full_id":"g/f/1","throughput":{"Bytes":1024}}"#;
const SAMPLES: &[u8] = br#"{"iters":[1,2],"times":[3,4]}"#;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, text)) = bytes.split_first() else {
        return;
    };
    let folder = Path::new("g/f/1/new");
    let read = match *which {
        b'b' => read_criterion_set(folder, text, Some(SAMPLES), None),
        b'e' => read_criterion_set(folder, ID, None, Some(text)),
        _ => read_criterion_set(folder, ID, Some(text), None),
    };
    match read {
        Ok(benchmark) => check(benchmark),
        // Every error says of which file it speaks.
        Err(error) => assert!(error.to_string().starts_with("g/f/1/new/"), "{error}"),
    }
});

fn check(benchmark: ResultBenchmark) {
    let (rows, columns) = (benchmark.processes.len(), benchmark.metrics.len());
    assert_eq!(benchmark.values.len(), rows * columns);
    let sound = |value: &f64| value.is_finite() && *value >= 0.0;
    assert!(benchmark.values.iter().all(sound));
    match benchmark.state {
        ResultState::Measured => assert!(rows > 0 && columns > 0),
        ResultState::Summarised { .. } => assert_eq!(rows, 1),
        ResultState::Failed(_) | ResultState::Skipped(_) => assert_eq!(rows, 0),
    }
    let mut results = Results::new("fuzz", "criterion");
    results.push(benchmark);
    let side = |name: &str| Side {
        name: name.to_owned(),
        files: vec![results.clone()],
    };
    let terms = Terms {
        margin: 0.01,
        alpha: 0.05,
        metric: None,
        rules: Vec::new(),
    };
    if let Ok(run) = join(&[side("old"), side("new")], &terms) {
        write(&run);
    }
}

/// Whatever was read can be written, as JSON without a number that is none.
fn write(run: &Run) {
    // What cannot be compared has no times.
    if !run.header.records(&Metric::Wall) {
        return;
    }
    let analysis = analyse(run, Options::default());
    let whole = "a Vec takes every write";
    let mut texts = [const { Vec::new() }; 3];
    let [bmf, smaller, google] = &mut texts;
    write_bmf(&analysis, bmf, "fuzz").expect(whole);
    write_smaller_is_better(&analysis, smaller, "fuzz").expect(whole);
    write_google_benchmark(run, GoogleSide::Candidate, &mut *google, "fuzz").expect(whole);
    read_results_from(Path::new("fuzz"), google).expect("what was written is read");
    for text in texts {
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        let null = |line: &str| line.trim_end_matches(',').ends_with(": null");
        assert!(!text.lines().any(null), "{text}");
    }
}
