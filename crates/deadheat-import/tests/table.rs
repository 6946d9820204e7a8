//! Tables that are held as columns, beside the same read row by row.

use std::fs;
use std::path::Path;

use deadheat_import::{RecordedTable, RecordingPlan, read_csv_from};
use deadheat_model::{Metric, Run};
use proptest::prelude::*;
use tempfile::NamedTempFile;

fn plan() -> RecordingPlan {
    RecordingPlan {
        margin: 0.01,
        alpha: 0.05,
        judged: Metric::Wall,
    }
}

fn written(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    fs::write(&file, text).unwrap();
    file
}

/// The run with all its samples, read at once in so many parts.
fn held(path: &Path, parts: usize) -> Option<Run> {
    let table = RecordedTable::open_with(path, &plan(), parts)?;
    let count = table.run().benchmarks.len();
    let samples = (0..count).map(|benchmark| table.take_samples(benchmark).unwrap());
    let samples = samples.collect();
    assert!(count == 0 || table.take_samples(0).is_none());
    let mut run = table.into_run();
    run.benchmarks = samples;
    Some(run)
}

/// A table of two contenders that take turns; the second benchmark has a counter of its own.
fn table(benchmarks: usize, replicates: usize, blocks: usize) -> Vec<Vec<String>> {
    let header =
        "benchmark,replicate,block,slot,contender,role,iterations,flags,wall_ns,cpu_ns,cells,host";
    let mut rows = vec![header.split(',').map(str::to_owned).collect()];
    for place in 0..benchmarks * replicates * blocks * 4 {
        let (slot, block) = (place % 4, place / 4);
        let (replicate, benchmark) = (block / blocks, block / blocks / replicates);
        let (contender, role) =
            [("old", "baseline"), ("new", "candidate")][slot.count_ones() as usize % 2];
        let cells = if benchmark == 1 { "7" } else { "" };
        let row = format!(
            "sort {benchmark},{},{},{slot},{contender},{role},{},{},{},{},{cells},here",
            replicate % replicates,
            block % blocks,
            10 + slot % 2,
            u8::from(place % 7 == 3),
            120_000.0 + (place * 7919 % 1000) as f64 / 7.0,
            120_000 + place * 31 % 977,
        );
        rows.push(row.split(',').map(str::to_owned).collect());
    }
    rows
}

fn text(rows: &[Vec<String>], end: &str) -> String {
    rows.iter().map(|row| row.join(",") + end).collect()
}

#[test]
fn a_table_in_its_order_is_held_as_columns() {
    for (end, parts) in [("\n", 1), ("\r\n", 2), ("\n", 3), ("\n", 7)] {
        for blocks in [1, 3] {
            let text = text(&table(3, 4, blocks), end);
            let file = written(&text);
            let run = read_csv_from(text.as_bytes(), file.path(), &plan()).unwrap();
            assert_eq!(run.benchmarks.len(), 3);
            assert_eq!(held(file.path(), parts), Some(run), "{parts} parts");
        }
    }
}

#[test]
fn a_table_without_blocks_is_held_in_any_order() {
    let mut rows = table(2, 3, 2);
    for row in &mut rows {
        row.remove(2);
    }
    rows[1..].reverse();
    let text = text(&rows, "\n");
    let file = written(&text);
    let run = read_csv_from(text.as_bytes(), file.path(), &plan()).unwrap();
    for parts in 1..4 {
        assert_eq!(held(file.path(), parts).as_ref(), Some(&run));
    }
}

#[test]
fn a_last_block_that_was_cut_off_is_left_out() {
    let rows = table(2, 2, 2);
    for cut in 1..7 {
        let text = text(&rows[..rows.len() - cut], "\n");
        let file = written(&text);
        let run = read_csv_from(text.as_bytes(), file.path(), &plan()).unwrap();
        assert_eq!(held(file.path(), 2), Some(run), "{cut} rows less");
    }
}

#[test]
fn what_is_not_in_order_or_not_plain_is_left_to_others() {
    let rows = table(1, 2, 2);
    let mut swapped = rows.clone();
    swapped.swap(2, 9);
    let mut quoted = rows.clone();
    quoted[3][11] = "\"he,re\"".to_owned();
    let mut twice = rows.clone();
    twice.insert(4, rows[4].clone());
    for rows in [swapped, quoted, twice] {
        assert_eq!(held(written(&text(&rows, "\n")).path(), 2), None);
    }
    assert_eq!(held(Path::new("-"), 1), None);
    assert_eq!(held(Path::new("/no/such/file"), 1), None);
    assert_eq!(held(written("{}").path(), 1), None);
    assert_eq!(
        held(written("Benchmark,contender,wall_ns\n").path(), 1),
        None
    );
}

/// Cells that are read in more than one way, or in none.
const ODD: [&str; 24] = [
    "",
    "0",
    "7",
    "007",
    "+3",
    " 5 ",
    "-0",
    "-1",
    "1e3",
    "1.50",
    "0.30000000000000004",
    "inf",
    "nan",
    "1e400",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "preempted|migrated",
    "candidate",
    "sort 1",
    "'=old",
    "é",
    "\"q\"",
];

/// Changes of a table: a cell, two rows, a row less, a row twice, a column less.
fn change(rows: &mut Vec<Vec<String>>, (kind, row, other, cell): (u8, usize, usize, usize)) {
    let (row, other) = (1 + row % (rows.len() - 1), 1 + other % (rows.len() - 1));
    let column = cell % rows[0].len();
    match kind {
        0..5 => rows[row][column] = ODD[other * 31 % ODD.len()].to_owned(),
        5 => rows.swap(row, other),
        6 if rows.len() > 2 => drop(rows.remove(row)),
        7 => rows.insert(other, rows[row].clone()),
        8 => rows.iter_mut().for_each(|row| drop(row.remove(column))),
        9 => {
            let odd = ODD[other * 31 % ODD.len()];
            rows[1..]
                .iter_mut()
                .for_each(|row| odd.clone_into(&mut row[column]));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_table_held_as_columns_is_the_one_read_row_by_row(
        size in (1..4_usize, 1..4_usize, 1..4_usize),
        changes in prop::collection::vec((0..14_u8, any::<usize>(), any::<usize>(), any::<usize>()), 0..4),
        crlf: bool,
        parts in 1..4_usize,
    ) {
        let wide = |(kind, row, other, cell): (u8, usize, usize, usize)| (kind, row >> 8, other >> 8, cell >> 8);
        let mut rows = table(size.0, size.1, size.2);
        changes.into_iter().for_each(|one| change(&mut rows, wide(one)));
        let text = text(&rows, if crlf { "\r\n" } else { "\n" });
        let file = written(&text);
        if let Some(held) = held(file.path(), parts) {
            let run = read_csv_from(text.as_bytes(), file.path(), &plan());
            prop_assert_eq!(Ok(held), run.map_err(|error| error.to_string()), "{}", text);
        }
    }
}
