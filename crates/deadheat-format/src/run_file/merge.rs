//! Merges the parts of a race that several machines raced into one run file.
//!
//! All parts of a race have the same plan, and each has its own replicates or benchmarks. Blocks
//! are therefore copied line by line, and only one part at a time is held in memory.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use deadheat_model::{
    Conditions, EndReason, Environment, HELP, Host, Json, LevelOverride, Looks, Merged,
    NeutralLinks, Object, Origin, Pinning, Plan, RecordSink as _, Run, RunEnd, RunHeader, Shard,
    ShardBy, Workload,
};

use super::RunFileWriter;
use super::reader::{next_line, read_header, refuse_plan, scan};
use crate::content::{self, BUFFER};
use crate::error::{FileProblem, FormatError, cannot_read, cannot_write};
use crate::temporary::ScratchFolder;
use crate::wire::Wire;

/// A part of a race: its file, its number, and the needed facts from its header. Whole headers are
/// not kept, because the plans of ten thousand parts would not fit into memory.
struct Part {
    file: PathBuf,
    shard: Shard,
    host: Host,
    governor: Option<String>,
    tick_ns: Option<f64>,
    /// The facts about the neutral links of all executables of this part; `None` if every
    /// executable has neutral links.
    without_links: Option<Vec<NeutralLinks>>,
}

/// Merges the parts of a race into the run file `target`, which must not exist yet. The order of
/// `files` does not matter. With `allow_missing`, leaves out missing and unfinished parts.
///
/// Errors name the file that does not match the others, and the difference.
pub fn merge_parts(
    files: &[PathBuf],
    target: &Path,
    allow_missing: bool,
) -> Result<(), FormatError> {
    let mut terms: Option<Terms> = None;
    let mut parts = Vec::new();
    for file in files {
        let (part, header) = part(file)?;
        match &terms {
            None => terms = Some(Terms::of(file, &header)),
            Some(terms) => terms.refuse_other(file, &header)?,
        }
        parts.push(part);
    }
    parts.sort_by(|a, b| (a.shard.index, &a.file).cmp(&(b.shard.index, &b.file)));
    let Some(first) = parts.first() else {
        return Err(FormatError::whole(target, "no part was given to merge"));
    };
    for two in parts.windows(2) {
        if two[0].shard.index == two[1].shard.index {
            let (part, other) = (two[1].shard.index, two[0].file.display());
            let problem =
                format!("holds part {part}, but so does {other}\nhelp: merge one of them");
            return Err(FormatError::whole(&two[1].file, problem));
        }
    }
    let count = first.shard.count;
    let here: HashSet<u32> = parts.iter().map(|part| part.shard.index).collect();
    let missing: Vec<u32> = (1..=count).filter(|index| !here.contains(index)).collect();
    if !missing.is_empty() && !allow_missing {
        let missing = some_of(&missing);
        let problem = format!(
            "is one of {count} parts, but {missing} missing\nhelp: --allow-missing merges the \
             parts that exist"
        );
        return Err(FormatError::whole(&first.file, problem));
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    // An existing run file is always whole, because a failed merge leaves none.
    if target.exists() {
        return Err(FileProblem::AlreadyExists.of(target));
    }
    let scratch = ScratchFolder::create_in(folder)?;
    let copies = scratch.path().join("blocks");
    let mut lines = Lines::create(&copies)?;
    let mut end = RunEnd {
        reason: EndReason::Finished,
        launches: 0,
        elapsed_ns: 0,
    };
    let mut taken: Vec<&Part> = Vec::new();
    for part in &parts {
        match lines.take(part)? {
            Ok(of_part) => {
                end.launches += of_part.launches;
                end.elapsed_ns = end.elapsed_ns.max(of_part.elapsed_ns);
                if of_part.reason == EndReason::Budget {
                    end.reason = EndReason::Budget;
                }
                taken.push(part);
            }
            Err(_) if allow_missing => {}
            Err(problem) => return Err(FormatError::whole(&part.file, problem)),
        }
    }
    let header = merged(&taken, target)?;
    let whole = scratch.path().join("run");
    let mut writer = RunFileWriter::create(&whole, &header)?;
    writer.append_lines_of(&copies)?;
    writer
        .end(&end)
        .map_err(|error| cannot_write(target)(error.source))?;
    drop(writer);
    // A rename, so that no reader sees half a file under this name.
    fs::rename(&whole, target).map_err(cannot_write(target))
}

/// Formats part numbers as the beginning of a sentence, such as `parts 2, 5 are`.
fn some_of(parts: &[u32]) -> String {
    const MOST: usize = 12;
    let named: Vec<String> = parts.iter().take(MOST).map(u32::to_string).collect();
    let named = named.join(", ");
    match (parts.len(), parts.len().saturating_sub(MOST)) {
        (1, _) => format!("part {named} is"),
        (_, 0) => format!("parts {named} are"),
        (_, more) => format!("parts {named} and {more} more are"),
    }
}

fn part(file: &Path) -> Result<(Part, RunHeader), FormatError> {
    let header = read_header(file)?;
    let shard = header.plan.design.shard;
    match shard.filter(|_| header.origin == Origin::Race) {
        Some(shard) => {
            let of = &header.environment;
            let part = Part {
                file: file.to_owned(),
                shard,
                host: Host {
                    shard: shard.index,
                    boot: of.boot.clone(),
                    system: of.system.clone(),
                    kernel: of.kernel.clone(),
                    cpu: of.cpu.clone(),
                    cores: of.cores,
                    started_at: header.started_at,
                    conditions: of.conditions.clone(),
                },
                governor: of.governor.clone(),
                tick_ns: header.tick_ns,
                without_links: Some(&of.neutral_links)
                    .filter(|links| links.iter().any(|one| one.made_by.is_err()))
                    .cloned(),
            };
            Ok((part, header))
        }
        None => Err(refuse_plan(file, &header).err().unwrap_or_else(|| {
            FormatError::whole(
                file,
                format!(
                    "holds a whole race, not a part: it was raced without --shard{HELP}deadheat \
                     analyze reads a whole race; to race parts, add --shard 1/2, --shard 2/2 and \
                     so on"
                ),
            )
        })),
    }
}

struct Terms {
    /// The file from which the common facts were read.
    file: PathBuf,
    version: String,
    shard: Option<Shard>,
    facts: Json,
    programs: Vec<(String, String)>,
}

impl Terms {
    fn of(file: &Path, header: &RunHeader) -> Self {
        let plan = alike(&header.plan);
        let facts = Object::new()
            .with("seed", plan.seed)
            .with("columns", header.metrics.to_json())
            .with("design", plan.design.to_json())
            .with("benchmarks", plan.benchmarks.to_json());
        Self {
            file: file.to_owned(),
            version: header.tool_version.clone(),
            shard: header.plan.design.shard,
            facts: facts.into(),
            programs: header.environment.programs.clone(),
        }
    }

    /// Fails for a part of another race.
    fn refuse_other(&self, file: &Path, header: &RunHeader) -> Result<(), FormatError> {
        let theirs = Self::of(file, header);
        let refused = |problem: String| {
            let ours = self.file.display();
            let problem = format!("is not a part of the same race as {ours}: {problem}");
            Err(FormatError::whole(file, problem))
        };
        if self.version != theirs.version {
            let (ours, theirs) = (&self.version, &theirs.version);
            return refused(format!(
                "it was raced by deadheat {theirs}, the other part by deadheat {ours}"
            ));
        }
        if let (Some(ours), Some(theirs)) = (self.shard, theirs.shard)
            && ours.count != theirs.count
        {
            return refused(format!(
                "it was raced with --shard {}/{}, the other part with --shard {}/{}{HELP}give all \
                 parts of a race the same number after the slash",
                theirs.index, theirs.count, ours.index, ours.count
            ));
        }
        if let Some(field) = difference(&self.facts, &theirs.facts) {
            let named = option_of(&field).map_or(String::new(), |flag| format!(" ({flag})"));
            return refused(format!(
                "{field}{named} differs\nhelp: race all parts with the same command line except \
                 for --shard and --save, or from one plan (deadheat plan)"
            ));
        }
        let contents = |of: &Self| -> Vec<String> {
            let programs = of.programs.iter();
            programs.map(|(_, digest)| digest.clone()).collect()
        };
        let both = (contents(self), contents(&theirs));
        if both.0 != both.1 {
            let alike = both.0.iter().zip(&both.1).take_while(|(a, b)| a == b);
            let place = alike.count();
            let named = theirs.programs.get(place).or(self.programs.get(place));
            let name = named.map_or("", |(name, _)| name);
            return refused(format!(
                "the content of the program '{name}' differs\nhelp: build it once, and race the \
                 same file on every machine"
            ));
        }
        Ok(())
    }
}

/// Returns the plan without the facts that differ from host to host: the number of the part, the
/// paths of programs, and the results of the pilot run on that host.
fn alike(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    if let Some(shard) = &mut plan.design.shard {
        shard.index = 1;
    }
    plan.design.pinning = Pinning::Inherit;
    let divided = plan
        .design
        .shard
        .is_some_and(|part| part.by == ShardBy::Benchmark);
    let alpha = plan.design.alpha;
    if divided {
        plan.design.looks = Looks::default();
    }
    for index in 0..plan.benchmarks.len() {
        // The length of a replicate determines which quantile is judged, so it must match.
        let of_quantile = plan.quantile(index).is_some();
        let benchmark = &mut plan.benchmarks[index];
        benchmark.blocks_per_replicate = benchmark.blocks_per_replicate.filter(|_| of_quantile);
        benchmark.without_warm_up = false;
        benchmark.input_per_call = false;
        benchmark.notes.clear();
        benchmark.one_input = false;
        // The pilot run on the machine that races the benchmark determines how many replicates fit
        // into the time.
        if divided {
            let own = benchmark.overrides.level.take();
            let own = own.filter(|level| level.alpha != alpha);
            benchmark.overrides.level = own.map(|level| LevelOverride {
                looks: Looks::default(),
                ..level
            });
        }
        for contender in &mut benchmark.contenders {
            let program = match &mut contender.workload {
                Workload::Worker(calls) => {
                    calls.calls.iterations = 1;
                    Some(&mut calls.program)
                }
                Workload::Harness(calls) => {
                    calls.repetitions = 1;
                    calls.warm_up = 0;
                    calls.planned_iterations = None;
                    Some(&mut calls.program)
                }
                _ => None,
            };
            if let Some(program) = program {
                program.directory = None;
                let name = program.executable.file_name().map(PathBuf::from);
                program.executable = name.unwrap_or_default();
            }
        }
    }
    plan
}

/// Returns the option that sets a field of a plan; `None` if several options or the programs
/// determine it.
fn option_of(field: &str) -> Option<&'static str> {
    let last = field.rsplit('.').next()?;
    match last {
        "seed" => Some("--seed"),
        "alpha" => Some("--alpha"),
        "margin" => Some("--margin"),
        "warmup" => Some("--warmup"),
        _ if last.starts_with("at[") => Some("--max-replicates"),
        _ => None,
    }
}

/// Returns the path of the first difference between two values; `None` if they are equal.
fn difference(ours: &Json, theirs: &Json) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let deeper = |name: String, inner: String| match inner.as_str() {
        "" => name,
        inner if inner.starts_with('[') => format!("{name}{inner}"),
        inner => format!("{name}.{inner}"),
    };
    if let (Some(ours), Some(theirs)) = (ours.as_object(), theirs.as_object()) {
        for (name, value) in ours.fields() {
            let inner = match theirs.get(name) {
                Some(other) => difference(value, other),
                None => Some(String::new()),
            };
            if let Some(inner) = inner {
                return Some(deeper(name.to_string(), inner));
            }
        }
        let mut others = theirs.fields();
        let other = others.find(|(name, _)| ours.get(name).is_none());
        return other.map(|(name, _)| name.to_string());
    }
    if let (Some(ours), Some(theirs)) = (ours.as_list(), theirs.as_list())
        && ours.len() == theirs.len()
    {
        let mut both = ours.iter().zip(theirs).enumerate();
        return both.find_map(|(place, (one, other))| {
            Some(deeper(format!("[{place}]"), difference(one, other)?))
        });
    }
    Some(String::new())
}

/// Collects the lines of all parts in one file, except headers, notes and ends.
struct Lines {
    file: io::BufWriter<fs::File>,
    path: PathBuf,
}

impl Lines {
    fn create(path: &Path) -> Result<Self, FormatError> {
        let file = fs::File::create(path).map_err(cannot_write(path))?;
        Ok(Self {
            file: io::BufWriter::new(file),
            path: path.to_owned(),
        })
    }

    /// Reads a part of a race, checks it, and copies its lines. `Ok(Err)` holds the reason why the
    /// part is not finished.
    fn take(&mut self, part: &Part) -> Result<Result<RunEnd, String>, FormatError> {
        let open = || content::open(&part.file).map_err(cannot_read(&part.file));
        let found = scan(BufReader::with_capacity(BUFFER, open()?), &part.file)?;
        refuse_foreign(part, &found.run)?;
        let end = match found.run.end.clone() {
            Some(_) if measured_nothing(&found.run) => {
                return Ok(Err(format!(
                    "part {} measured nothing{HELP}--allow-missing merges without it",
                    part.shard.index
                )));
            }
            Some(end) if matches!(end.reason, EndReason::Finished | EndReason::Budget) => end,
            end => {
                let why = match end.map(|end| end.reason) {
                    Some(EndReason::Failed(why)) => format!("failed: {why}"),
                    Some(EndReason::Interrupted(signal)) => {
                        format!("was stopped by signal {signal}")
                    }
                    _ => "is still racing, or was killed".to_owned(),
                };
                let index = part.shard.index;
                return Ok(Err(format!(
                    "part {index} is not finished: it {why}{HELP}run the same command again to \
                     finish it; --allow-missing merges without it"
                )));
            }
        };
        let mut reader = BufReader::with_capacity(BUFFER, open()?);
        let (mut line, mut read) = (Vec::new(), 0);
        while read < found.len {
            let bytes = next_line(&mut reader, &mut line).map_err(cannot_read(&part.file))?;
            if bytes == 0 {
                break;
            }
            let is_header = read == 0;
            read += bytes;
            // A line that begins as deadheat writes blocks is a block; any other line is parsed to
            // find out.
            let passed_on = line.starts_with(b"{\"block\":") || {
                let json = std::str::from_utf8(&line).ok().and_then(Json::parse);
                let fields = json.as_ref().and_then(Json::as_object);
                let has = |name| fields.is_some_and(|fields| fields.get(name).is_some());
                ["block", "placed", "observed", "failed", "resume"]
                    .into_iter()
                    .any(has)
            };
            if passed_on && !is_header {
                if !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                io::Write::write_all(&mut self.file, &line).map_err(cannot_write(&self.path))?;
            }
        }
        io::Write::flush(&mut self.file).map_err(cannot_write(&self.path))?;
        Ok(Ok(end))
    }
}

/// Returns true if a part has benchmarks to race, but neither a block nor a failure of any.
fn measured_nothing(run: &Run) -> bool {
    let plan = &run.header.plan;
    let has_some = plan.benchmarks.iter().any(|one| plan.races(one));
    let is_empty = run.benchmarks.iter().all(|of| of.blocks().is_empty());
    has_some && is_empty && run.failures.is_empty()
}

fn refuse_foreign(part: &Part, run: &Run) -> Result<(), FormatError> {
    let shard = part.shard;
    for (samples, benchmark) in run.benchmarks.iter().zip(&run.header.plan.benchmarks) {
        let mut replicates = samples.blocks().iter().map(|block| block.replicate);
        let foreign = match shard.by {
            ShardBy::Host => {
                let own = shard.first_replicate()..shard.first_replicate() + shard.replicates;
                replicates.find(|replicate| !own.contains(replicate))
            }
            ShardBy::Benchmark if run.header.plan.races(benchmark) => None,
            ShardBy::Benchmark => replicates.next(),
        };
        if let Some(replicate) = foreign {
            let (index, name) = (shard.index, &benchmark.name);
            return Err(FormatError::whole(
                &part.file,
                format!(
                    "benchmark '{name}', replicate {replicate} does not belong to part {index}"
                ),
            ));
        }
    }
    Ok(())
}

fn merged(parts: &[&Part], target: &Path) -> Result<RunHeader, FormatError> {
    let Some(first) = parts.first() else {
        return Err(FormatError::whole(target, "no part is finished"));
    };
    let Shard {
        count,
        by,
        replicates,
        ..
    } = first.shard;
    let mut header = read_header(&first.file)?;
    header.command = Vec::new();
    header.started_at = parts.iter().filter_map(|part| part.host.started_at).min();
    header.tick_ns = parts
        .iter()
        .filter_map(|part| part.tick_ns)
        .reduce(f64::max);
    let plan = &mut header.plan;
    plan.design.shard = None;
    match by {
        ShardBy::Host => {
            let all = |looks: &mut Looks| {
                looks
                    .at
                    .iter_mut()
                    .for_each(|at| *at = at.saturating_mul(count));
            };
            all(&mut plan.design.looks);
            for benchmark in &mut plan.benchmarks {
                if let Some(level) = &mut benchmark.overrides.level {
                    all(&mut level.looks);
                }
            }
        }
        // Each benchmark is taken from the part that raced it, together with the looks of that
        // part.
        ShardBy::Benchmark => {
            for part in parts {
                let theirs = read_header(&part.file)?.plan;
                for (index, ours) in plan.benchmarks.iter_mut().enumerate() {
                    if !theirs.races(&theirs.benchmarks[index]) {
                        continue;
                    }
                    *ours = theirs.benchmarks[index].clone();
                    ours.overrides.level = Some(LevelOverride {
                        alpha: theirs.alpha(index),
                        looks: theirs.looks(index).clone(),
                    });
                }
            }
        }
    }
    let environment = std::mem::take(&mut header.environment);
    let same = |fact: fn(&Part) -> &Option<String>| {
        let ours = fact(first);
        let alike = parts.iter().all(|part| fact(part) == ours);
        ours.clone().filter(|_| alike)
    };
    // A machine without a linker raced the programs as they were linked; the merged run keeps its
    // reason.
    let mut without = parts.iter().filter_map(|part| part.without_links.clone());
    let neutral_links = without.next().unwrap_or(environment.neutral_links);
    header.environment = Environment {
        neutral_links,
        kernel: same(|part| &part.host.kernel),
        cpu: same(|part| &part.host.cpu),
        governor: same(|part| &part.governor),
        merged: Some(Merged {
            count,
            by,
            replicates,
            hosts: parts.iter().map(|part| part.host.clone()).collect(),
        }),
        // These facts describe a single machine, so the merged run has none.
        boot: None,
        conditions: Conditions::default(),
        cores: None,
        load: None,
        pinned: Vec::new(),
        calibration: None,
        ..environment
    };
    Ok(header)
}
