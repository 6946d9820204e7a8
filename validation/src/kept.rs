//! Raw data of a table that takes hours: kept in the repository, one line per observation, so that
//! a table can be made in several sittings and be made again from what was measured.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::machine::{cores, processor, sitting_facts};
use crate::options::Wanted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sittings {
    /// All on the same machine: the table measures its properties.
    OneMachine,
    /// On any machine: the table measures tools side by side, all of them within a turn, so each
    /// turn is whole.
    AnyMachine,
}

pub struct Kept {
    path: PathBuf,
    rows: Vec<Value>,
    before: usize,
    sittings: Vec<Value>,
    until: Option<Instant>,
    /// True if this sitting has a line of its own already.
    begun: bool,
    measures: bool,
    /// True if the file goes when this does.
    quick: bool,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.quick {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Kept {
    /// The observations kept below `root`, the repository, in
    /// `validation/data/TABLE.jsonl`; those of a quick trial are its own, in
    /// the folder for temporary files.
    pub fn open(root: &Path, table: &str, wanted: &Wanted, allowed: Sittings) -> Self {
        let path = if wanted.quick {
            let own = format!("deadheat-{table}-{}.jsonl", std::process::id());
            std::env::temp_dir().join(own)
        } else {
            root.join(format!("validation/data/{table}.jsonl"))
        };
        if wanted.quick || wanted.fresh && wanted.only.is_empty() {
            let _ = fs::remove_file(&path);
        } else if wanted.fresh {
            forget(&path, wanted);
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        if whole.len() < text.len() {
            // A sitting that was killed may have left half a line, to which
            // the next one must not be joined.
            fs::write(&path, whole).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        let mut rows = Vec::new();
        let mut sittings: Vec<Value> = Vec::new();
        for (number, line) in whole.lines().enumerate() {
            let value: Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), number + 1));
            match value.get("sitting") {
                Some(sitting) => sittings.push(sitting.clone()),
                None => rows.push(value),
            }
        }
        let same = allowed == Sittings::OneMachine && !wanted.page;
        if let Some(last) = sittings.last().filter(|_| same) {
            let here = (processor(), cores() as u64);
            let there = (last["processor"].as_str(), last["cores"].as_u64());
            assert!(
                there == (Some(here.0.as_str()), Some(here.1)),
                "{} was measured on {there:?}, this is {here:?}; --fresh forgets it",
                path.display()
            );
        }
        Self {
            path,
            before: rows.len(),
            rows,
            sittings,
            until: wanted.time.map(|time| Instant::now() + time),
            begun: false,
            measures: !wanted.page,
            quick: wanted.quick,
        }
    }

    pub fn rows(&self) -> &[Value] {
        &self.rows
    }

    pub fn count<V: AsRef<str>>(&self, wanted: &[(&str, V)]) -> usize {
        self.matching(wanted).count()
    }

    pub fn matching<'k, V: AsRef<str>>(
        &'k self,
        wanted: &'k [(&str, V)],
    ) -> impl Iterator<Item = &'k Value> {
        let fits = |row: &&Value| wanted.iter().all(|(key, value)| row[*key] == *value.as_ref());
        self.rows.iter().filter(fits)
    }

    pub fn of_this_sitting(&self) -> &[Value] {
        &self.rows[self.before..]
    }

    pub fn goes_on(&self) -> bool {
        self.measures && self.until.is_none_or(|until| Instant::now() < until)
    }

    pub fn add(&mut self, row: Value) {
        if !self.begun {
            self.begun = true;
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let sitting = json!({
                "unix_time": now.map_or(0, |time| time.as_secs()),
                "processor": processor(),
                "cores": cores(),
                "facts": sitting_facts(),
            });
            self.append(&json!({"sitting": sitting}));
            self.sittings.push(sitting);
        }
        self.append(&row);
        self.rows.push(row);
    }

    fn append(&self, value: &Value) {
        let folder = self.path.parent().expect("a file in a folder");
        fs::create_dir_all(folder).expect("a folder for the data");
        let mut options = OpenOptions::new();
        let file: Result<File, _> = options.create(true).append(true).open(&self.path);
        let written = file.and_then(|mut file| writeln!(file, "{value}"));
        written.unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
    }

    pub fn facts(&self) -> String {
        let mut facts: Vec<&str> = Vec::new();
        for sitting in &self.sittings {
            let one = sitting["facts"].as_str().unwrap_or("unknown");
            if !facts.contains(&one) {
                facts.push(one);
            }
        }
        let times = match self.sittings.len() {
            1 => "one sitting".to_owned(),
            n => format!("{n} sittings"),
        };
        format!(
            "{} observations of {times}; machine: {}. Raw data: `validation/data/{}`.",
            self.rows.len(),
            facts.join("; "),
            self.path.file_name().unwrap_or_default().to_string_lossy()
        )
    }
}

/// The number of observations of a row that are made by the end of a round: all that are wanted
/// are shared out evenly over the rounds. `early`, below their number, is how many of them each
/// observation is moved up by, at most, so that seldom ones need not all fall into one round.
pub fn by_the_end_of(round: usize, rounds: usize, wanted: usize, early: usize) -> usize {
    ((round + 1) * wanted + early) / rounds
}

/// Forgets the observations that are wanted anew: those whose texts hold the words.
fn forget(path: &Path, wanted: &Wanted) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let stays = |line: &&str| {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        let fields = value.as_object().into_iter().flatten();
        let texts: Vec<&str> = fields.filter_map(|(_, field)| field.as_str()).collect();
        texts.is_empty() || !wanted.fits(&texts.join(" "))
    };
    let left: String = text.lines().filter(stays).flat_map(|line| [line, "\n"]).collect();
    if left.len() < text.len() {
        fs::write(path, left).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::Sittings::{AnyMachine, OneMachine};
    use super::*;

    fn wanted(words: &[&str]) -> Result<Wanted, String> {
        Wanted::read(words.iter().map(|word| (*word).to_owned()), &crate::options::LONG)
    }

    #[test]
    fn a_table_goes_on_where_it_stopped_and_survives_half_a_line() {
        let root = std::env::temp_dir().join(format!("deadheat-kept-{}", std::process::id()));
        let all = wanted(&[]).unwrap();
        let mut kept = Kept::open(&root, "table", &all, OneMachine);
        assert!(kept.goes_on() && kept.rows().is_empty());
        kept.add(json!({"tool": "a", "seconds": 1.5}));
        kept.add(json!({"tool": "b", "seconds": 2.5}));
        let path = root.join("validation/data/table.jsonl");
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole + "{\"tool\": \"a\", \"sec").unwrap();
        let again = Kept::open(&root, "table", &all, OneMachine);
        assert!(fs::read_to_string(&path).unwrap().ends_with("\"tool\":\"b\"}\n"));
        assert_eq!(again.count(&[("tool", "a")]), 1);
        assert_eq!(again.rows().len(), 2);
        assert!(again.facts().starts_with("2 observations of one sitting; machine: "));
        let page = Kept::open(&root, "table", &wanted(&["--page"]).unwrap(), OneMachine);
        assert!(!page.goes_on() && page.rows().len() == 2);
        let fresh = Kept::open(&root, "table", &wanted(&["--fresh"]).unwrap(), OneMachine);
        assert!(fresh.rows().is_empty());
        let mut trial = Kept::open(&root, "table", &wanted(&["--quick"]).unwrap(), OneMachine);
        trial.add(json!({"tool": "a"}));
        let own = trial.path.clone();
        assert!(own.exists() && own != path);
        drop(trial);
        assert!(!own.exists());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn only_tools_side_by_side_are_measured_on_several_machines() {
        let root = std::env::temp_dir().join(format!("deadheat-kept-2-{}", std::process::id()));
        let all = wanted(&[]).unwrap();
        let path = root.join("validation/data/table.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let elsewhere =
            json!({"sitting": {"processor": "another", "cores": 99, "facts": "far away"}});
        fs::write(&path, format!("{elsewhere}\n{{\"tool\":\"a\"}}\n")).unwrap();
        let mut kept = Kept::open(&root, "table", &all, AnyMachine);
        assert_eq!((kept.rows().len(), kept.of_this_sitting().len()), (1, 0));
        kept.add(json!({"tool": "b"}));
        assert_eq!(kept.of_this_sitting(), [json!({"tool": "b"})]);
        assert!(kept.facts().contains("far away; "), "{}", kept.facts());
        fs::write(&path, format!("{elsewhere}\n")).unwrap();
        let refused = std::panic::catch_unwind(|| Kept::open(&root, "table", &all, OneMachine));
        assert!(refused.is_err());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_part_of_a_table_is_forgotten_and_the_rest_stays() {
        let root = std::env::temp_dir().join(format!("deadheat-kept-3-{}", std::process::id()));
        let mut kept = Kept::open(&root, "table", &wanted(&[]).unwrap(), OneMachine);
        for row in ["20 ms +1% idle", "20 ms +1% loaded", "100 µs +1% loaded"] {
            kept.add(json!({"row": row, "tool": "deadheat", "seconds": 1.5}));
        }
        drop(kept);
        let anew = wanted(&["--fresh", "--only", "20 ms loaded", "--races", "3"]).unwrap();
        assert_eq!((anew.of(30), anew.of(2)), (3, 2));
        let kept = Kept::open(&root, "table", &anew, OneMachine);
        let left: Vec<_> = kept.rows().iter().map(|row| row["row"].as_str()).collect();
        assert_eq!(left, [Some("20 ms +1% idle"), Some("100 µs +1% loaded")]);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn rounds_are_shared_evenly_and_come_to_what_is_wanted() {
        let rounds = 64;
        for (wanted, early) in [0, 1, 5, 10, 20, 60, 64]
            .map(|wanted| [(wanted, 0), (wanted, 40), (wanted, 63)])
            .concat()
        {
            let counts = (0..rounds).map(|round| by_the_end_of(round, rounds, wanted, early));
            let counts: Vec<usize> = counts.collect();
            assert_eq!(counts[rounds - 1], wanted);
            assert!(counts.windows(2).all(|pair| pair[1] - pair[0] <= 1));
            let half = counts[rounds / 2 - 1];
            assert!(half.abs_diff(wanted / 2) <= 1, "{half} of {wanted}");
        }
    }
}
