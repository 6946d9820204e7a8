//! Analyses recorded data with little memory. A run file is loaded one benchmark at a time, and a
//! table is held as compact columns; anything else is read as a whole.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use deadheat::parts::analysis::{Options, Part, PerBenchmarkAnalysis, RerunSamples, analyse};
use deadheat::parts::answer::Answer;
use deadheat::parts::exit::Failure;
use deadheat::parts::rules::Rules;
use deadheat::parts::with_second_race_of;
use deadheat_format::IndexedRun;
use deadheat_model::{Analysis, Origin, PlanError, RerunKind, Run, Samples};

use crate::csv_rows::RecordingPlan;
use crate::readers::{Recording, files_in, read_criterion, read_recording};
use crate::sides::{alone, warn_of_unread, without_results};
use crate::table::RecordedTable;
use crate::terms::{self, Terms, keep_selected, tell_of_left_out};

/// A file of recorded data, ready to be analysed.
#[derive(Debug)]
pub struct Recorded<'a> {
    path: PathBuf,
    rules: &'a Rules,
    held: Held,
}

#[derive(Debug)]
enum Held {
    /// The positions of the samples in the file; the samples are read on request.
    Index(Box<IndexedRun>),
    Table(Box<RecordedTable>),
    Whole(Box<Run>),
}

impl<'a> Recorded<'a> {
    /// Opens a run file or a table, and loads its samples one benchmark at a time. Any other source is
    /// read whole: results of another tool, a compressed file, a pipe, `-` for standard input. `rules`
    /// apply to sources without a plan.
    pub fn open(path: impl AsRef<Path>, rules: &'a Rules) -> Result<Self, Failure> {
        let path = path.as_ref();
        // Recordings get rules that depend on their content, so only races are indexed.
        let raced = |index: &IndexedRun| index.run().header.origin == Origin::Race;
        if let Some(index) = IndexedRun::open(path).filter(raced) {
            return Ok(Self::of(path, rules, Held::Index(Box::new(index))));
        }
        if let Some(mut table) = RecordedTable::open(path, &plan(rules)) {
            govern(rules, table.run_mut(), path)?;
            return Ok(Self::of(path, rules, Held::Table(Box::new(table))));
        }
        Self::read(path, rules)
    }

    /// Reads the file with all its samples.
    pub fn read(path: impl AsRef<Path>, rules: &'a Rules) -> Result<Self, Failure> {
        let path = path.as_ref();
        let usage = |error: Failure| match error {
            Failure::Usage(text) => Failure::Usage(rules.blamed(text)),
            other => other,
        };
        let mut run = match recording(path, rules)? {
            Recording::Run(run) => run,
            Recording::Results(mut results) => {
                warn_of_unread([&*results]);
                let held = results.benchmarks.len();
                tell_of_left_out(keep_selected(rules, &mut results));
                if results.benchmarks.is_empty() && held > 0 {
                    return Err(Failure::Usage(format!(
                        "include and exclude of the rules file select none of the {held} \
                         benchmarks of {}",
                        path.display()
                    )));
                }
                Box::new(alone(*results, &Terms::new(rules)).map_err(usage)?)
            }
        };
        govern(rules, &mut run, path)?;
        Ok(Self::of(path, rules, Held::Whole(run)))
    }

    fn of(path: &Path, rules: &'a Rules, held: Held) -> Self {
        Self {
            path: path.to_owned(),
            rules,
            held,
        }
    }

    /// Returns the run. It has all its samples after [`Recorded::read`], otherwise possibly none.
    pub fn run(&self) -> &Run {
        match &self.held {
            Held::Index(index) => index.run(),
            Held::Table(table) => table.run(),
            Held::Whole(run) => run,
        }
    }

    /// Analyses the data, on all cores if the samples are not loaded yet. The result equals that of
    /// [`analyse`]. The returned run has its samples only if they were loaded before.
    pub fn analyse(self, options: Options) -> Result<(Run, Analysis), Failure> {
        let found = match &self.held {
            Held::Index(index) => per_benchmark(index.run(), |one| index.samples(one), options),
            Held::Table(table) => {
                per_benchmark(table.run(), |one| table.take_samples(one), options)
            }
            Held::Whole(_) => None,
        };
        let run = match (self.held, found) {
            (Held::Index(index), Some(analysis)) => return Ok((index.into_run(), analysis)),
            (Held::Table(table), Some(analysis)) => return Ok((table.into_run(), analysis)),
            (Held::Whole(run), _) => run,
            // Reading the whole file reports the error in it.
            (_, None) => match Self::read(&self.path, self.rules)?.held {
                Held::Whole(run) => run,
                Held::Index(index) => Box::new(index.into_run()),
                Held::Table(table) => Box::new(table.into_run()),
            },
        };
        let analysis = analyse(&run, options);
        Ok((*run, analysis))
    }

    /// Analyses the data for a report, together with the second race if there was one, and applies
    /// the report's gate. The returned run has its samples only if they were loaded before.
    pub fn answer(self, answer: &Answer, options: Options) -> Result<(Run, Analysis), Failure> {
        let path = self.path.clone();
        let (run, first) = self.analyse(options)?;
        let analysis = with_second_race_of(&run, &path, first)?;
        Ok((run, answer.gate.judge(analysis)))
    }
}

/// Refuses a folder of result files, because a single recording is expected.
///
/// # Errors
///
/// [`Failure::Data`] for a folder of result files, or a folder that cannot be read.
pub fn refuse_folder_of_files(path: &Path) -> Result<(), Failure> {
    if !path.is_dir() || files_in(path).map_err(Failure::reading)?.is_none() {
        return Ok(());
    }
    Err(Failure::Data(format!(
        "{} is a folder of files\nhelp: name one of its files, or compare two such folders: \
         deadheat \
         compare OLD NEW",
        path.display()
    )))
}

fn recording(path: &Path, rules: &Rules) -> Result<Recording, Failure> {
    if !path.is_dir() {
        return read_recording(path, &plan(rules)).map_err(Failure::reading);
    }
    refuse_folder_of_files(path)?;
    let results = read_criterion(path, None).map_err(Failure::reading)?;
    Ok(Recording::Results(Box::new(results)))
}

fn plan(rules: &Rules) -> RecordingPlan {
    let settings = rules.settings();
    RecordingPlan {
        margin: settings.margin(),
        alpha: settings.alpha(),
        judged: settings.judged(),
    }
}

fn govern(rules: &Rules, run: &mut Run, path: &Path) -> Result<(), Failure> {
    terms::govern(rules, run, path)?;
    run.header.plan.validate().map_err(|error| match error {
        // Only the command line or `deadheat.toml` sets these numbers.
        PlanError::OutOfRange { .. } => Failure::Usage(error.to_string()),
        PlanError::Empty => {
            let tool = run.sides.iter().flat_map(|side| &side.files).next();
            let tool = tool.map_or("", |file| &file.tool);
            without_results(&path.display().to_string(), tool)
        }
        error => Failure::Data(format!("{}: {error}", path.display())),
    })
}

/// Loads and analyses the samples benchmark by benchmark. Each core takes the next benchmark.
/// Returns `None` if the samples of a benchmark cannot be read.
fn per_benchmark(
    run: &Run,
    samples_of: impl Fn(usize) -> Option<Samples> + Sync,
    options: Options,
) -> Option<Analysis> {
    let per_benchmark = PerBenchmarkAnalysis::new(run, options);
    let reruns = run.header.plan.reruns();
    let benchmarks = 0..run.header.plan.benchmarks.len();
    let answered: Vec<usize> = benchmarks
        .filter(|benchmark| per_benchmark.has_answer(*benchmark))
        .collect();
    let next = AtomicUsize::new(0);
    let some_of_them = || -> Option<Vec<(usize, Part)>> {
        let mut parts = Vec::new();
        while let Some(benchmark) = answered.get(next.fetch_add(1, Ordering::Relaxed)) {
            let samples = samples_of(*benchmark)?;
            let of_kind = |kind| match reruns.get(&(*benchmark, kind)) {
                Some(index) => samples_of(*index).map(|samples| Some((*index, samples))),
                None => Some(None),
            };
            let (own_link, turns) = (of_kind(RerunKind::OwnLink)?, of_kind(RerunKind::Turns)?);
            let reruns = RerunSamples {
                own_link: own_link.as_ref().map(|(index, own)| (*index, own)),
                turns: turns.as_ref().map(|(index, own)| (*index, own)),
            };
            let part = per_benchmark.benchmark(*benchmark, &samples, reruns);
            parts.push((*benchmark, part));
        }
        Some(parts)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(answered.len());
    let found: Option<Vec<Vec<(usize, Part)>>> = thread::scope(|scope| {
        // The current thread works, too.
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(some_of_them)).collect();
        let mine = some_of_them();
        let theirs = others.into_iter().map(|other| match other.join() {
            Ok(parts) => parts,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        theirs.chain([mine]).collect()
    });
    let mut parts: Vec<(usize, Part)> = found?.into_iter().flatten().collect();
    parts.sort_unstable_by_key(|(benchmark, _)| *benchmark);
    Some(per_benchmark.gather(parts.into_iter().map(|(_, part)| part).collect()))
}
