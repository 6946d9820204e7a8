//! Laws that must hold for every file of results that could be read.

use std::collections::HashSet;
use std::path::Path;

use deadheat_import::{
    ResultState, Results, SavedFormat, Side, Terms, join, read_results_from, saved_format, write_go,
};

/// Reads a text, where it is of this format, and looks at every value.
pub fn read_and_check(text: &[u8], format: SavedFormat) {
    let file = Path::new("fuzz");
    if saved_format(file, text).ok() != Some(format) {
        return;
    }
    match read_results_from(file, text) {
        Ok(results) => {
            check(&results);
            write_and_read(results);
        }
        // Every error says of which file it speaks.
        Err(error) => assert!(error.to_string().starts_with("fuzz"), "{error}"),
    }
}

fn check(results: &Results) {
    let mut names = HashSet::new();
    for benchmark in &results.benchmarks {
        assert!(names.insert(&benchmark.name), "{} twice", benchmark.name);
        let (rows, columns) = (benchmark.processes.len(), benchmark.metrics.len());
        assert_eq!(benchmark.values.len(), rows * columns);
        let metrics: HashSet<_> = benchmark.metrics.iter().collect();
        assert_eq!(metrics.len(), columns, "{:?}", benchmark.metrics);
        let sound = |value: &f64| value.is_finite() && *value >= 0.0;
        assert!(benchmark.values.iter().all(sound));
        // Processes are numbered from 0 without a gap.
        let seen: HashSet<u32> = benchmark.processes.iter().copied().collect();
        let last = benchmark.processes.iter().max();
        assert!(last.is_none_or(|last| seen.len() <= *last as usize + 1));
        match benchmark.state {
            ResultState::Measured => assert!(rows > 0 && columns > 0),
            ResultState::Summarised { .. } => assert_eq!(rows, 1),
            ResultState::Failed(_) | ResultState::Skipped(_) => assert_eq!(rows, 0),
        }
    }
}

/// Asserts that results which can be joined are read again after they were written as Go prints
/// them.
fn write_and_read(results: Results) {
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
    let Ok(run) = join(&[side("old"), side("new")], &terms) else {
        return;
    };
    let mut text = Vec::new();
    write_go(&run, &mut text, "fuzz.txt").expect("a Vec takes every write");
    if run
        .benchmarks
        .iter()
        .any(|samples| !samples.samples().is_empty())
    {
        let read = read_results_from(Path::new("fuzz"), &text);
        check(&read.unwrap_or_else(|error| panic!("{error}")));
    }
}
