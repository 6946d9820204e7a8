//! The races of a suite, and their rows.

use crate::Setting;
use crate::sources::{Suite, Way};
use deadheat_validation::prelude::*;

pub struct Answer {
    /// Verdict and interval of each benchmark.
    pub rows: BTreeMap<String, (String, Option<[f64; 2]>)>,
    took: Duration,
    /// True if somebody stopped the race before all benchmarks had their turn.
    stopped: bool,
}

/// Only these of a suite are raced by a quick trial: names with this in them.
const FEW: &str = "1";

impl Answer {
    /// Races the last two commits of a package. `Err` is the end of what was said instead.
    pub fn of(setting: &Setting, package: &Path, way: Way<'_>) -> Result<Self, String> {
        // Without this option, `cargo deadheat` replaces criterion itself.
        let own: &[&str] = match way {
            Way::OneLine(_) => &[],
            Way::AsItIs => &["--criterion", "own"],
        };
        let deadheat = |words: &[&str]| {
            let mut command = Command::new(&setting.cargo_deadheat);
            command.args(["deadheat", "HEAD~1..HEAD"]).args(own).arg("--").args(words);
            command
        };
        let mut command = deadheat(&["--json", "--quiet"]);
        if setting.asked.quick {
            command.args([FEW, "--max-replicates", "6", "--budget", "20s"]);
        }
        // What is built is in the caches from the second time on.
        let raced = |command: &mut Command| {
            let output = command.current_dir(package).output().expect("cargo-deadheat runs");
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim_end().lines().last().unwrap_or_default().to_owned();
            serde_json::from_slice::<Value>(&output.stdout).map_err(|_| said)
        };
        let mut listing = deadheat(&["--list", "--quiet"]);
        let built = listing.current_dir(package).stdout(Stdio::null()).status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("it does not compile, or lists nothing".to_owned());
        }
        let began = Instant::now();
        let analysis = raced(&mut command)?;
        let took = began.elapsed();
        let rows = analysis["benchmarks"].as_array().into_iter().flatten();
        let row = |row: &Value| {
            let name = row["benchmark"].as_str()?.to_owned();
            let verdict = row["verdict"].as_str().unwrap_or("none").to_owned();
            let ci = row["ci"].as_array().map(|ends| [0, 1].map(|at| ends[at].as_f64()));
            let ci = ci.and_then(|[low, high]| Some([low?, high?]));
            Some((name, (verdict, ci)))
        };
        Ok(Self {
            rows: rows.filter_map(row).collect(),
            took,
            stopped: analysis["ended"] == "interrupted",
        })
    }

    /// The number of intervals that overlap with those of the other, of those that both have.
    pub fn agreement(&self, other: &Self) -> (usize, usize) {
        let both = self.rows.iter().filter_map(|(name, (_, one))| {
            let (_, other) = other.rows.get(name)?;
            Some(((*one)?, (*other)?))
        });
        both.fold((0, 0), |(agree, of), (one, other)| {
            let overlap = one[0].max(other[0]) <= one[1].min(other[1]);
            (agree + usize::from(overlap), of + 1)
        })
    }

    fn summary(&self) -> String {
        let count = |verdict: &str| {
            let verdicts = self.rows.values().map(|(verdict, _)| verdict);
            verdicts.filter(|one| *one == verdict).count()
        };
        let decided = ["faster", "slower", "equivalent"].map(count);
        let open = self.rows.len() - decided.iter().sum::<usize>();
        let [faster, slower, equal] = decided;
        let stopped = if self.stopped { " (stopped by hand before the others)" } else { "" };
        format!("{faster}, {slower}, {equal}, {open}; {:.0} s{stopped}", self.took.as_secs_f64())
    }
}

/// The time that criterion takes for both versions, or `None` where they do not build.
pub fn times_of_criterion(scratch: &Path, sides: &[PathBuf; 2]) -> Option<Duration> {
    let home = scratch.join("criterion");
    let bench = |side: &PathBuf, words: &[&str]| {
        let mut bench = Command::new("cargo");
        bench.args(["bench", "--quiet", "--benches"]).args(words);
        bench.env("CRITERION_HOME", &home).env("CARGO_TARGET_DIR", scratch.join("target"));
        bench.current_dir(side).stdout(Stdio::null()).stderr(Stdio::null());
        bench.status().is_ok_and(|status| status.success())
    };
    let mut took = Duration::ZERO;
    for side in sides {
        if !bench(side, &["--no-run"]) {
            return None;
        }
        let began = Instant::now();
        // A test executable of the library knows no option of criterion's.
        if !bench(side, &[]) {
            return None;
        }
        took += began.elapsed();
    }
    Some(took)
}

pub fn row(
    suite: &Suite,
    one_line: &Result<Answer, String>,
    as_it_is: &Result<Answer, String>,
    criterion: Option<Duration>,
) -> String {
    let told = |answer: &Result<Answer, String>| match answer {
        Ok(answer) => answer.summary(),
        Err(why) => format!("– ({})", why.replace('|', "/")),
    };
    let agree = match (one_line, as_it_is) {
        (Ok(one), Ok(other)) => {
            let (agree, of) = one.agreement(other);
            format!("{agree} of {of}")
        }
        _ => "–".to_owned(),
    };
    let benchmarks = one_line.as_ref().map_or(0, |answer| answer.rows.len());
    let compiles = if one_line.is_ok() { "yes" } else { "no" };
    let criterion =
        criterion.map_or("–".to_owned(), |took| format!("{:.0} s", took.as_secs_f64()));
    format!(
        "| {} {} and {} | {} | {benchmarks} | {compiles} | {} | {} | {agree} | {criterion} |\n",
        suite.name,
        suite.versions[0],
        suite.versions[1],
        suite.criterion,
        told(one_line),
        told(as_it_is),
    )
}
