//! Pages to open: of the UTF-8 example, and of runs made out of it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A run file, line by line.
#[derive(Clone)]
pub struct RunFile {
    pub header: Value,
    pub records: Vec<Value>,
}

/// Six races of the UTF-8 example and their own links, recorded with
/// `cargo deadheat -p deadheat-examples --bench utf8 -- --max-replicates 8
/// --blocks 6 --seed 8`; times are rounded. There is every verdict but the
/// missing one, a dropped block, and a doubt or two.
pub fn utf8() -> RunFile {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/page/utf8.jsonl.gz");
    let packed = fs::File::open(&packed).unwrap();
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(packed);
    reader.read_to_string(&mut text).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    RunFile {
        header: lines.next().unwrap(),
        records: lines.collect(),
    }
}

impl RunFile {
    /// The benchmarks of the plan.
    pub fn benchmarks(&mut self) -> &mut Vec<Value> {
        let benchmarks = &mut self.header["plan"]["benchmarks"];
        benchmarks.as_array_mut().unwrap()
    }

    /// The same races once more and once more, until there are `count`; their
    /// own links are left away.
    pub fn times(mut self, count: usize) -> Self {
        let races = self.benchmarks().len() / 2;
        let once: Vec<Value> = self.benchmarks().drain(..).take(races).collect();
        let records = std::mem::take(&mut self.records);
        let (ends, records): (Vec<Value>, Vec<Value>) = records
            .into_iter()
            .partition(|record| record.get("end").is_some());
        for index in 0..count {
            let mut benchmark = once[index % races].clone();
            let name = benchmark["name"].as_str().unwrap();
            benchmark["name"] = format!("{name} no. {}", index / races).into();
            self.benchmarks().push(benchmark);
            for record in &records {
                let mut record = record.clone();
                let place = match record.get("block") {
                    Some(_) => "/block/0",
                    None => "/placed/benchmark",
                };
                let benchmark = record.pointer_mut(place).unwrap();
                if *benchmark == index % races {
                    *benchmark = index.into();
                    self.records.push(record);
                }
            }
        }
        self.records.extend(ends);
        self
    }

    /// Writes it.
    pub fn write(&self, path: &Path) {
        let lines = std::iter::once(&self.header).chain(&self.records);
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        fs::write(path, lines).unwrap();
    }

    /// Its page, in this folder.
    pub fn page(&self, folder: &Path) -> PathBuf {
        let run = folder.join("run.jsonl");
        self.write(&run);
        page_of(&run)
    }
}

/// The page of something recorded, beside it.
pub fn page_of(recorded: &Path) -> PathBuf {
    let page = recorded.with_extension("html");
    let done = Command::new(env!("CARGO_BIN_EXE_deadheat"))
        .arg("report")
        .arg(recorded)
        .arg("--html")
        .arg(&page)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    page
}
