//! One experiment: a routine run so many times in a fresh process, and the
//! figures deadheat has of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use deadheat::parts::analysis::{Options, analyse};
use deadheat::parts::format::read_run;
use deadheat::parts::model::{Family, Metric, Run};
use deadheat_validation::routines::chase::{self, LANES};
use serde_json::{Value, json};

/// A routine, by the name of its benchmark.
pub fn rows() -> Vec<String> {
    let computing = ["base64", "base64, 1,000 times", "UTF-8 to UTF-16"];
    let chases = LANES.into_iter().map(chase::name);
    computing
        .into_iter()
        .map(str::to_owned)
        .chain(chases)
        .collect()
}

/// The bench target, and where its run files go.
pub struct Experiments {
    pub program: PathBuf,
    pub scratch: PathBuf,
    /// Runs of a routine in one experiment.
    pub runs: usize,
}

impl Experiments {
    /// Measures one routine, and gives back the line to be kept.
    pub fn make(&self, row: &str, experiment: usize, seed: u64) -> Value {
        let path = self.scratch.join("run.jsonl");
        let _ = fs::remove_file(&path);
        let start = Instant::now();
        let output = Command::new(&self.program)
            .args(["--bench", "-q", "--no-config", "--max-replicates", "1"])
            .args(["--blocks", &self.runs.to_string()])
            .args(["--seed", &seed.to_string(), "--exact", row, "--save"])
            .arg(&path)
            .current_dir(&self.scratch)
            .output()
            .expect("the bench target runs");
        let seconds = start.elapsed().as_secs_f64();
        assert!(output.status.success(), "{row}: {output:?}");
        let mut line = told(&path);
        line["row"] = json!(row);
        line["experiment"] = json!(experiment);
        line["seed"] = json!(seed);
        line["seconds"] = json!(rounded(seconds, 3));
        line["last_cache"] = json!(last_cache());
        line
    }
}

/// The size of the cache before the memory, as the system has it: `32768K`.
fn last_cache() -> Option<String> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let size = |index: u32| fs::read_to_string(folder.join(format!("index{index}/size"))).ok();
    let last = (0..10).filter_map(size).next_back()?;
    Some(last.trim().to_owned())
}

/// The runs in the order they were made, and the figures.
fn told(path: &Path) -> Value {
    let run = read_run(path).unwrap_or_else(|error| panic!("{error}"));
    let analysis = analyse(&run, Options::default());
    let [comparison] = &analysis.comparisons[..] else {
        panic!("{}: {:?}", path.display(), analysis.failures);
    };
    let side = &comparison.baseline;
    let figures = comparison
        .figures
        .as_ref()
        .expect("figures of a contender alone");
    let figures = &figures.baseline;
    let digits = |number: Option<f64>| number.map(|number| rounded(number, 5));
    let fits: Vec<Value> = figures
        .fits
        .iter()
        .map(|fit| json!([fit.family.name(), rounded(fit.log_likelihood, 3)]))
        .collect();
    json!({
        "ns": runs(&run),
        "min": rounded(side.min, 1),
        "median": rounded(side.median, 1),
        "mean": rounded(side.mean, 1),
        "bottom": digits(figures.min_sigmas),
        "top": digits(figures.max_sigmas),
        "over": digits(figures.mean_over_min),
        "fits": fits,
        "w": digits(figures.shapiro_wilk.map(|tested| tested.statistic)),
        "p": figures.shapiro_wilk.map(|tested| tested.p),
    })
}

/// Nanoseconds of a call, run by run.
fn runs(run: &Run) -> Vec<f64> {
    let samples = &run.benchmarks[0];
    let wall = samples.column(&Metric::Wall).expect("wall times");
    let each = samples.samples().iter().zip(wall);
    each.map(|(sample, wall)| rounded(wall / sample.iterations as f64, 1))
        .collect()
}

fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10_f64.powi(digits);
    (value * factor).round() / factor
}

/// One experiment, as it was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    pub runs: usize,
    pub min: f64,
    pub median: f64,
    pub mean: f64,
    /// (mean − min)/sd, where the runs differ at all.
    pub bottom: Option<f64>,
    /// (max − mean)/sd.
    pub top: Option<f64>,
    /// (mean − min)/mean.
    pub over: Option<f64>,
    /// Families and log-likelihoods, the likeliest first.
    pub fits: Vec<(String, f64)>,
    /// Of Shapiro and Wilk's test that the logarithms are normal.
    pub p: Option<f64>,
}

impl Experiment {
    /// From a line that was kept; `None` for any other line.
    pub fn read(line: &Value) -> Option<Self> {
        let number = |key: &str| line[key].as_f64();
        let fit = |fit: &Value| Some((fit[0].as_str()?.to_owned(), fit[1].as_f64()?));
        Some(Self {
            runs: line["ns"].as_array()?.len(),
            min: number("min")?,
            median: number("median")?,
            mean: number("mean")?,
            bottom: number("bottom"),
            top: number("top"),
            over: number("over"),
            fits: line["fits"].as_array()?.iter().filter_map(fit).collect(),
            p: number("p"),
        })
    }

    /// The family under which the runs are the likeliest.
    pub fn best(&self) -> Option<&str> {
        self.fits.first().map(|(family, _)| family.as_str())
    }

    /// By how much the log-normal is likelier than the normal, in log units.
    pub fn log_normal_over_normal(&self) -> Option<f64> {
        let of = |family: Family| {
            let fit = self.fits.iter().find(|(name, _)| name == family.name());
            fit.map(|(_, likelihood)| *likelihood)
        };
        Some(of(Family::LogNormal)? - of(Family::Normal)?)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An experiment with these summaries.
    pub fn experiment(min: f64, median: f64, mean: f64) -> Experiment {
        Experiment {
            runs: 30,
            min,
            median,
            mean,
            bottom: Some(1.2),
            top: Some(3.4),
            over: Some((mean - min) / mean),
            fits: vec![
                ("gumbel".to_owned(), -10.0),
                ("log-normal".to_owned(), -11.0),
                ("normal".to_owned(), -12.5),
            ],
            p: Some(0.01),
        }
    }

    #[test]
    fn a_line_that_was_kept_is_read_back() {
        let line = json!({
            "row": "base64", "ns": [1.0, 2.0, 3.0], "min": 1.0, "median": 2.0, "mean": 2.0,
            "bottom": 1.0, "top": null, "over": 0.5,
            "fits": [["normal", -1.5], ["log-normal", -1.75]], "w": 0.9, "p": 0.04,
        });
        let read = Experiment::read(&line).unwrap();
        assert_eq!((read.runs, read.bottom, read.top), (3, Some(1.0), None));
        assert_eq!(read.best(), Some("normal"));
        assert_eq!(read.log_normal_over_normal(), Some(-0.25));
        assert_eq!(Experiment::read(&json!({"row": "base64"})), None);
    }

    #[test]
    fn there_is_a_row_for_every_number_of_lanes() {
        let rows = rows();
        assert_eq!(rows.len(), 3 + LANES.len());
        assert!(rows.contains(&chase::name(30)));
    }
}
