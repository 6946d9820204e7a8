//! Tidy CSV, in and out.

#[path = "../../deadheat-format/tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{blocks, header};
use deadheat_format::{FileProblem, FormatError, RunFileWriter, read_run, write_export};
use deadheat_import::{Recording, RecordingPlan, read_csv_from, read_recording, write_csv};
use deadheat_model::TextCells;
use deadheat_model::{
    Benchmark, BlockRecord, Contender, ContenderId, Flags, Metric, Origin, RecordSink, Run, Sample,
    Workload,
};
use proptest::prelude::*;

#[test]
fn a_counter_that_only_some_benchmarks_have_comes_back_to_these() {
    let csv = fs::read_to_string(golden("programs.csv")).unwrap();
    let plan = RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    };
    let read = |csv: &str| read_csv_from(csv.as_bytes(), "run.csv", &plan);
    let run = read(&csv).unwrap();
    assert_eq!(run.header.metrics, [Metric::Wall, Metric::Cpu]);
    let cells = Metric::Custom("cells".to_owned());
    let counters = |run: &Run| -> Vec<usize> {
        let benchmarks = run.header.plan.benchmarks.iter();
        benchmarks.map(|one| one.counters.len()).collect()
    };
    assert_eq!(counters(&run), [0, 2, 0]);
    assert_eq!(run.benchmarks[1].column(&cells), Some(&[4096.5; 4][..]));
    let mut again = Vec::new();
    write_csv(&run, &mut again, "run.csv", TextCells::Guarded).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), csv);
    // Where a benchmark has it in some rows only, it is no metric.
    let torn = csv.replacen(",4096.5,4096.5\n", ",,4096.5\n", 1);
    assert_eq!(counters(&read(&torn).unwrap()), [0, 1, 0]);
    // A column of deadheat's own that is torn is an error with its place.
    let torn = torn.replacen("waited_ns", "user_ns", 1);
    let torn = torn.replacen(",,4096.5\n", ",4096.5,\n", 1);
    let error = read(&torn).unwrap_err().to_string();
    assert!(error.contains("user_ns"), "{error}");
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name)
}

fn plan() -> RecordingPlan {
    RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    }
}

fn read(text: &str) -> Result<Run, FormatError> {
    read_csv_from(text.as_bytes(), "a.csv", &plan())
}

fn message(text: &str) -> String {
    let error = read(text).unwrap_err();
    assert!(!error.is_write_error());
    error.to_string()
}

/// The contenders of a benchmark's samples, as letters, block by block.
fn order(run: &Run, benchmark: usize) -> String {
    let samples = &run.benchmarks[benchmark];
    let letter = |sample: &Sample| char::from(b'a' + sample.contender.0);
    let blocks = samples.blocks().iter();
    let blocks = blocks.map(|block| {
        samples.samples()[block.range()]
            .iter()
            .map(letter)
            .collect()
    });
    blocks.collect::<Vec<String>>().join(" ")
}

fn wall(run: &Run, benchmark: usize) -> &[f64] {
    run.benchmarks[benchmark].column(&Metric::Wall).unwrap()
}

const PAIRED: &str = "\
benchmark,replicate,block,slot,contender,role,iterations,wall_ns,cpu_ns,flags
s,5,1,0,new,candidate,10,1000,900,0
s,5,1,1,old,baseline,10,1100,950,preempted|migrated
s,3,0,1,old,baseline,10,1200,960,
s,3,0,0,new,candidate,10,1300,970,2
";

#[test]
fn rows_in_any_order_become_blocks_in_theirs() {
    let run = read(PAIRED).unwrap();
    assert_eq!(run.header.origin, Origin::PairedRecording);
    assert_eq!(order(&run, 0), "ba ba");
    assert_eq!(wall(&run, 0), [1300.0, 1200.0, 1000.0, 1100.0]);
    let samples = &run.benchmarks[0];
    assert_eq!(samples.samples()[0].flags, Flags::MIGRATED);
    assert_eq!(samples.samples()[3].flags, Flags::from_bits(3));
    assert_eq!(samples.samples()[0].iterations, 10);
    let replicates: Vec<_> = samples
        .blocks()
        .iter()
        .map(|b| (b.replicate, b.index))
        .collect();
    assert_eq!(replicates, [(3, 0), (5, 1)]);
    assert_eq!(run.header.metrics, [Metric::Wall, Metric::Cpu]);
    let contenders = &run.header.plan.benchmarks[0].contenders;
    assert_eq!(contenders[0].name, "old", "the role decides, not the order");
    let design = &run.header.plan.design;
    assert_eq!((design.margin, design.alpha), (0.01, 0.05));
    assert_eq!(
        (&design.looks.at[..], &design.looks.levels[..]),
        (&[2][..], &[0.05][..])
    );
}

#[test]
fn rows_without_a_place_are_unpaired() {
    let run = read("contender,benchmark,wall_ns\na,s,1\na,s,2\nb,s,3\na,t,4\n").unwrap();
    assert_eq!(run.header.origin, Origin::UnpairedRecording);
    assert_eq!(order(&run, 0), "a a b");
    let blocks = run.benchmarks[0].blocks().iter();
    let places: Vec<_> = blocks.map(|b| (b.replicate, b.index)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2)], "no process is made up");
    assert_eq!(run.header.plan.design.looks.at, [1]);
    assert_eq!(run.benchmarks[0].samples()[0].iterations, 1);
}

#[test]
fn an_unpaired_recording_keeps_the_replicates_it_names() {
    let run = read("benchmark,replicate,contender,wall_ns\ns,4,a,1\ns,4,b,2\ns,9,a,3\n").unwrap();
    assert_eq!(run.header.origin, Origin::UnpairedRecording);
    let blocks = run.benchmarks[0].blocks().iter();
    let places: Vec<_> = blocks.map(|b| (b.replicate, b.index, b.len)).collect();
    assert_eq!(places, [(4, 0, 1), (4, 1, 1), (9, 0, 1)]);
}

#[test]
fn rows_without_a_process_do_not_come_back_from_a_table_as_processes() {
    let run = read("benchmark,contender,wall_ns\ns,a,1\ns,b,3\ns,a,2\nt,a,4\n").unwrap();
    let mut text = Vec::new();
    write_csv(&run, &mut text, "b.csv", TextCells::Guarded).unwrap();
    let back = read_csv_from(&text[..], "b.csv", &plan()).unwrap();
    assert_eq!(back.benchmarks, run.benchmarks);
    assert_eq!(back.header.origin, Origin::UnpairedRecording);
}

#[test]
fn names_that_a_spreadsheet_would_run_are_guarded_and_read_back_as_they_were() {
    let table = "benchmark,contender,wall_ns,@rate\n=1+1,-x,1,5\n=1+1,''=y,3,6\n";
    let run = read(table).unwrap();
    let written = |cells| {
        let mut text = Vec::new();
        write_csv(&run, &mut text, "b.csv", cells).unwrap();
        String::from_utf8(text).unwrap()
    };
    let guarded = written(TextCells::Guarded);
    for cell in guarded.split([',', '\n']) {
        assert!(!cell.starts_with(['=', '+', '-', '@']), "{guarded}");
    }
    assert!(guarded.contains(",'@rate\n'=1+1,0,"), "{guarded}");
    let exact = written(TextCells::Exact);
    assert!(exact.contains(",@rate\n=1+1,0,"), "{exact}");
    let back = read_csv_from(guarded.as_bytes(), "b.csv", &plan()).unwrap();
    assert_eq!(back.header.plan.benchmarks, run.header.plan.benchmarks);
    assert_eq!(back.header.metrics, run.header.metrics);
}

#[test]
fn an_unpaired_recording_keeps_its_processes_in_a_run_file() {
    for table in [
        "benchmark,replicate,contender,wall_ns\ns,4,a,1\ns,4,b,2\ns,9,a,3\ns,9,a,5\n",
        "benchmark,contender,wall_ns\ns,a,1\ns,b,2\ns,a,3\n",
    ] {
        let run = read(table).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut writer = RunFileWriter::create(&path, &run.header).unwrap();
        let samples = &run.benchmarks[0];
        for span in samples.blocks() {
            let record = BlockRecord {
                replicate: span.replicate,
                index: span.index,
                samples: samples.samples()[span.range()].to_vec(),
                values: samples.column(&Metric::Wall).unwrap()[span.range()].to_vec(),
                ..BlockRecord::default()
            };
            writer.block(&record).unwrap();
        }
        let back = read_run(&path).unwrap();
        assert_eq!(back.benchmarks, run.benchmarks);
        assert_eq!(back.header, run.header);
    }
}

#[test]
fn quotes_line_ends_of_windows_and_a_byte_order_mark_are_understood() {
    let run =
        read("\u{feff}benchmark,contender,wall_ns\r\n\"a, \"\"b\"\"\",\"x\r\ny\", 1.5e3 \r\n")
            .unwrap();
    assert_eq!(run.header.plan.benchmarks[0].name, "a, \"b\"");
    assert_eq!(run.header.plan.benchmarks[0].contenders[0].name, "x\r\ny");
    assert_eq!(wall(&run, 0), [1500.0]);
}

#[test]
fn other_columns_are_metrics_when_they_hold_numbers() {
    let run = read(
        "benchmark,contender,wall_ns,peak_rss_bytes,user_ns,allocs,note,gaps\n\
         s,a,1,4096,,7,fast,1\ns,a,2,4096,,8,slow,\n",
    )
    .unwrap();
    let allocs = Metric::Custom("allocs".to_owned());
    assert_eq!(
        run.header.metrics,
        [Metric::Wall, Metric::PeakRss, allocs.clone()]
    );
    assert_eq!(run.benchmarks[0].column(&allocs), Some(&[7.0, 8.0][..]));
}

#[test]
fn a_last_block_that_was_cut_off_is_left_out() {
    let head = "benchmark,replicate,block,slot,contender,wall_ns\n";
    let rows = [
        "s,0,0,0,a,1\n",
        "s,0,0,1,b,1\n",
        "s,0,0,2,b,1\n",
        "s,0,0,3,a,1\n",
    ];
    let more = [
        "s,1,0,0,b,1\n",
        "s,1,0,1,a,1\n",
        "s,1,0,2,a,1\n",
        "s,1,0,3,b,1\n",
    ];
    for cut in 0..=4 {
        let text = head.to_owned() + &rows.concat() + &more[..cut].concat();
        let expected = if cut == 4 { "abba baab" } else { "abba" };
        assert_eq!(order(&read(&text).unwrap(), 0), expected, "{cut} rows");
    }
    let early = head.to_owned() + rows[0] + &more.concat();
    assert_eq!(
        message(&early),
        "a.csv:2: benchmark 's', replicate 0, block 0 has no sample of 'b'"
    );
}

#[test]
fn a_cell_that_cannot_be_is_an_error_that_names_its_place() {
    for (from, to, expected) in [
        (
            "1100",
            "-1",
            "a.csv:3: wall_ns of benchmark 's', replicate 5, block 1, slot 1: '-1' is negative",
        ),
        (
            "1100",
            "NaN",
            "a.csv:3: wall_ns of benchmark 's', replicate 5, block 1, slot 1: 'NaN' is not finite",
        ),
        (
            "1100",
            "",
            "a.csv:3: wall_ns of benchmark 's', replicate 5, block 1, slot 1: '' is not a number",
        ),
        (
            "970",
            "?",
            "a.csv:5: cpu_ns of benchmark 's', replicate 3, block 0, slot 0: '?' is not a number",
        ),
        (
            "970",
            "inf",
            "a.csv:5: cpu_ns of benchmark 's', replicate 3, block 0, slot 0: 'inf' is not finite",
        ),
        (
            "s,3,0,1",
            "s,3,x,1",
            "a.csv:4: block of benchmark 's', replicate 3: 'x' is not a whole number from 0 to 4294967295",
        ),
        (
            "10,1300",
            "0,1300",
            "a.csv:5: iterations of benchmark 's', replicate 3, block 0, slot 0: a sample needs at least one iteration",
        ),
        (
            "970,2",
            "970,x",
            "a.csv:5: flags of benchmark 's', replicate 3, block 0, slot 0: 'x' is not one of 'preempted', 'migrated', 'concurrent', \
             'delay-unread', 'gpu-clock'",
        ),
        (
            "new,candidate,10,1300",
            "new,baseline,10,1300",
            "a.csv:5: role of benchmark 's', replicate 3, block 0, slot 0: 'new' is baseline here and candidate in an earlier row",
        ),
        (
            "s,3,0,1",
            "s,5,1,1",
            "a.csv:4: benchmark 's', replicate 5, block 1, slot 1 was already given on line 3",
        ),
        (
            "970,2",
            "970",
            "a.csv:5: the row has 9 cells, but the header has 10",
        ),
    ] {
        assert_eq!(message(&PAIRED.replacen(from, to, 1)), expected);
    }
}

#[test]
fn one_contender_of_a_benchmark_must_be_its_baseline() {
    assert_eq!(
        message(&PAIRED.replace("candidate", "baseline")),
        "a.csv: benchmark 's' needs one baseline; both 'new' and 'old' have the role 'baseline'"
    );
    assert_eq!(
        message(&PAIRED.replace("baseline", "candidate")),
        "a.csv: benchmark 's' needs one baseline; no row has the role 'baseline'"
    );
    let run = read(&PAIRED.replace("baseline", "").replace("candidate", "")).unwrap();
    assert_eq!(run.header.plan.benchmarks[0].contenders[0].name, "new");
}

#[test]
fn more_contenders_than_can_race_are_refused() {
    let rows: String = (0..65).map(|n| format!("s,c{n},1\n")).collect();
    let text = "benchmark,contender,wall_ns\n".to_owned() + &rows;
    assert_eq!(
        message(&text),
        "a.csv:66: contender of benchmark 's': 'c64' exceeds the limit of 64 contenders"
    );
    let (fits, _) = text.rsplit_once("s,c64").unwrap();
    assert_eq!(
        read(fits).unwrap().header.plan.benchmarks[0]
            .contenders
            .len(),
        64
    );
}

#[test]
fn a_file_without_rows_or_without_a_needed_column_says_so() {
    assert!(message("").starts_with("a.csv is empty\nhelp: "));
    assert_eq!(
        message("benchmark,contender,wall_ns\n"),
        "a.csv has a header line but no rows"
    );
    assert_eq!(
        message("benchmark,contender,wall_time,x\n"),
        "a.csv:1: column wall_ns is missing\nhelp: the columns are benchmark, contender, wall_time, x; \
         tidy CSV needs benchmark, contender and wall_ns (docs/formats.md)"
    );
    for (header, advice) in [
        ("benchmark,contender,wall-ns", "rename 'wall-ns'?"),
        ("benchmark,contendr,wall_ns", "rename 'contendr'?"),
        ("Benchmark,contender,wall_ns", "rename 'Benchmark'?"),
    ] {
        let told = message(&format!("{header}\n"));
        assert!(told.contains(advice), "{told}");
    }
    let not_text = read_csv_from(
        &b"benchmark,contender,wall_ns\ns,\xff,1\n"[..],
        "a.csv",
        &plan(),
    );
    assert_eq!(
        not_text.unwrap_err().to_string(),
        "a.csv:2: column 2 is not UTF-8\nhelp: save the file as UTF-8, as `iconv -f LATIN1 -t UTF-8` does"
    );
}

#[test]
fn a_format_is_told_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("anything");
    let put = |content: &str| std::fs::write(&path, content).unwrap();

    let run = |path| match read_recording(path, &plan()).unwrap() {
        Recording::Run(run) => run,
        Recording::Results(results) => panic!("{results:?}"),
    };

    put(PAIRED);
    assert_eq!(run(&path).header.origin, Origin::PairedRecording);

    std::fs::remove_file(&path).unwrap();
    drop(deadheat_format::RunFileWriter::create(&path, &header()).unwrap());
    assert_eq!(run(&path).header, header());

    for foreign in [
        "{\n  \"context\": {}\n}\n",
        "[]",
        "{\"schema\":\"deadheat.analysis/1\"}",
    ] {
        put(foreign);
        let text = read_run(&path).unwrap_err().to_string();
        assert!(text.contains("is not a run file"), "{text}");
        assert!(text.contains("--save"), "{text}");
    }
    put("");
    for error in [
        read_run(&path).unwrap_err(),
        read_recording(&path, &plan()).unwrap_err(),
    ] {
        assert!(matches!(error.problem, FileProblem::Empty), "{error}");
    }
}

#[test]
fn a_run_without_wall_times_has_rows_without_them() {
    let mut header = header();
    header.metrics = vec![Metric::Cycles];
    let mut out = Vec::new();
    write_csv(&Run::new(header), &mut out, "b.csv", TextCells::Guarded).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("wall_ns,flags,cycles"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let mut run = Run::new(header());
    for block in blocks() {
        run.benchmarks[block.benchmark].push(&block).unwrap();
    }
    let error = write_export("/dev/full", |out| {
        write_csv(&run, out, "/dev/full", TextCells::Guarded)
    })
    .unwrap_err();
    assert!(error.is_write_error());
    assert!(
        error.to_string().starts_with("cannot write /dev/full: "),
        "{error}"
    );
}

/// A run of one to three benchmarks, paired or not, with any samples.
fn runs() -> impl Strategy<Value = Run> {
    let value = prop_oneof![(0u64..1 << 53).prop_map(|v| v as f64), 0.0..1e18f64];
    let sample = (0u8..4, 1u64..1 << 40, prop::collection::vec(value, 3));
    let block = prop::collection::vec(sample, 4);
    let benchmark = ("\\PC{0,8}", prop::collection::vec(block, 1..5));
    (any::<bool>(), prop::collection::vec(benchmark, 1..4)).prop_map(|(paired, benchmarks)| {
        let mut header = read(PAIRED).unwrap().header;
        header.metrics = vec![
            Metric::Wall,
            Metric::PeakRss,
            Metric::Custom("block".to_owned()),
        ];
        header.origin = match paired {
            true => Origin::PairedRecording,
            false => Origin::UnpairedRecording,
        };
        let contender = |name: &str| Contender {
            name: name.to_owned(),
            workload: Workload::Recording,
        };
        header.plan.benchmarks.clear();
        for (name, _) in &benchmarks {
            header.plan.benchmarks.push(Benchmark {
                name: name.clone(),
                parameters: vec![],
                contenders: vec![contender("same"), contender("same")],
                ..Benchmark::default()
            });
        }
        let mut run = Run::new(header);
        for (benchmark, (_, blocks)) in benchmarks.into_iter().enumerate() {
            for (replicate, samples) in blocks.into_iter().enumerate() {
                let mut record = BlockRecord {
                    benchmark,
                    replicate: replicate as u32 * 3,
                    ..BlockRecord::default()
                };
                for (slot, (flags, iterations, values)) in samples.into_iter().enumerate() {
                    record.samples.push(Sample {
                        contender: ContenderId(u8::from(slot == 1 || slot == 2)),
                        flags: Flags::from_bits(flags),
                        exit_code: None,
                        iterations,
                    });
                    record.values.extend(values);
                    if !paired {
                        run.benchmarks[benchmark].push(&record).unwrap();
                        record.samples.clear();
                        record.values.clear();
                        record.index += 1;
                    }
                }
                if paired {
                    run.benchmarks[benchmark].push(&record).unwrap();
                }
            }
        }
        run
    })
}

proptest! {
    #[test]
    fn what_was_written_reads_back_as_it_was(run in runs()) {
        let mut text = Vec::new();
        write_csv(&run, &mut text, "b.csv", TextCells::Guarded).unwrap();
        let back = read_csv_from(&text[..], "b.csv", &plan()).unwrap();
        prop_assert_eq!(back.benchmarks, run.benchmarks);
        prop_assert_eq!(back.header.metrics, run.header.metrics);
        prop_assert_eq!(back.header.origin, run.header.origin);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\PC|[,\"\r\n0-9]){0,80}") {
        let _ = read(&format!("benchmark,contender,wall_ns,x\n{text}"));
        let _ = read(&text);
    }
}
