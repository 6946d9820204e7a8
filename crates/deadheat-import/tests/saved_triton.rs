//! Tables of `triton.testing.perf_report`, genuine ones and broken ones.

use std::path::Path;

use deadheat_import::{
    ResultState, Results, SavedFormat, read_results, read_results_from, saved_format,
};
use deadheat_model::{Better, Metric, Unit};

fn golden(name: &str) -> Results {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/saved/triton");
    read_results(folder.join(name)).unwrap()
}

fn read(text: &str) -> Results {
    read_results_from(Path::new("a.csv"), text.as_bytes()).unwrap()
}

#[test]
fn every_cell_of_a_table_is_a_benchmark_with_its_parameters() {
    let (old, new) = (golden("old.csv"), golden("new.csv"));
    assert_eq!(old.benchmarks.len(), 8);
    assert_eq!(old.benchmarks[0].name, "Triton (size=4096)");
    assert_eq!(old.benchmarks[7].name, "Torch (size=32768)");
    for (one, other) in old.benchmarks.iter().zip(&new.benchmarks) {
        assert_eq!(one.name, other.name);
        assert_eq!(one.metrics, [Metric::Gpu]);
        assert!(matches!(one.state, ResultState::Summarised { .. }));
        let ratio = other.values[0] / one.values[0];
        assert!((0.969..0.971).contains(&ratio), "{ratio}");
    }
    // 0.0024096 ms.
    assert!((2_400.0..2_420.0).contains(&old.benchmarks[0].values[0]));
}

#[test]
fn rates_keep_their_unit_and_more_is_better() {
    let rates = golden("rates.csv");
    let metric = &rates.benchmarks[0].metrics[0];
    assert_eq!(
        (metric.name(), metric.unit()),
        ("GB/s", Unit::GigabytesPerSecond)
    );
    assert_eq!(metric.better(), Better::More);
}

#[test]
fn a_table_is_known_by_its_first_line_alone() {
    let known = |text: &str| saved_format(Path::new("x"), text.as_bytes()).ok();
    for text in ["N,Triton (ms)\n", "M,N,cuBLAS (TFLOPS),Triton (TFLOPS)\n1,"] {
        assert_eq!(known(text), Some(SavedFormat::TritonTable), "{text}");
    }
    for text in [
        "N,Triton,Torch\n1,2,3\n",
        "N,Triton (miles)\n",
        "Triton (ms)\n",
    ] {
        assert_ne!(known(text), Some(SavedFormat::TritonTable), "{text}");
    }
}

#[test]
fn cells_that_are_no_measurements_fail_alone() {
    let results = read("N,Triton (ms),Torch (ms)\n1,x,2\n2,-1,inf\n3,1\n");
    let failed = |index: usize| match &results.benchmarks[index].state {
        ResultState::Failed(why) => why.clone(),
        state => panic!("{state:?}"),
    };
    assert_eq!(failed(0), "'x' is not a measurement");
    assert_eq!(failed(2), "'-1' is not a measurement");
    assert_eq!(failed(3), "'inf' is not a measurement");
    assert_eq!(results.benchmarks[1].values, [2e6]);
    // The last row lacks a cell.
    assert_eq!(results.benchmarks.len(), 5);
}
