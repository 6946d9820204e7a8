//! The sides of a comparison: the words of the command line, those of compare.py and a few more, and
//! what they stand for: files of one tool, read, or programs.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::path::Path;

use deadheat::parts::engine::{Ended, run_beside_the_answer};
use deadheat::parts::exit::Failure;
use deadheat::parts::format::{
    Found, TemporaryFile, files_in, found_at, read_criterion, read_results,
};
use deadheat::parts::model::{Program, Results};
use deadheat::parts::pairing::family;
use deadheat::parts::saved::{Side, name_alike, side_names_of, tell_recordings_apart};
use deadheat::parts::settings::program;
use deadheat::parts::terminal::to_stderr;

/// One side as it was named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedSide {
    /// Files, folders or programs; several files are pooled.
    pub named: Vec<String>,
    /// Which of its benchmarks are meant, a regular expression.
    pub filter: Option<String>,
}

impl NamedSide {
    fn new(named: &[String], filter: Option<&String>) -> Self {
        Self {
            named: named.to_vec(),
            filter: filter.cloned(),
        }
    }

    /// Reads the words: `[benchmarks] OLD NEW…`, `filters FILE OLD NEW` or
    /// `benchmarksfiltered OLD FILTER NEW FILTER`. One word alone is enough
    /// where a folder holds several recordings. The baseline comes first.
    pub fn of_words(words: &[String]) -> Result<Vec<Self>, Failure> {
        let usage = |told: &str| Err(Failure::Usage(told.to_owned()));
        let (mode, rest) = match words.split_first() {
            Some((mode, rest)) if MODES.contains(&mode.as_str()) => (mode.as_str(), rest),
            _ => ("benchmarks", words),
        };
        let filtered = |file: &String, filter| Self::new(std::slice::from_ref(file), Some(filter));
        match (mode, rest) {
            ("filters", [file, old, new]) => Ok(vec![filtered(file, old), filtered(file, new)]),
            ("filters", _) => {
                usage("filters takes a file or program and two filters: FILE OLD NEW")
            }
            ("benchmarksfiltered", [old, ours, new, theirs]) => {
                Ok(vec![filtered(old, ours), filtered(new, theirs)])
            }
            ("benchmarksfiltered", _) => usage(
                "benchmarksfiltered takes two files or programs, each with its filter: OLD FILTER \
                 NEW FILTER",
            ),
            (_, []) => usage(
                "there is nothing to compare\nhelp: name the files or programs, the baseline first",
            ),
            (_, files) => Ok(files.chunks(1).map(|file| Self::new(file, None)).collect()),
        }
    }

    /// Two sides of several files each, called so where one has none.
    pub fn pooled(called: [&str; 2], old: &[String], new: &[String]) -> Result<Vec<Self>, Failure> {
        let sides = called.into_iter().zip([old, new]);
        let side = |(called, files): (&str, &[String])| match files {
            [] => Err(Failure::Usage(format!(
                "{called} names no file: deadheat compare OLD… --against NEW…"
            ))),
            files => Ok(Self::new(files, None)),
        };
        sides.map(side).collect()
    }
}

/// The words of compare.py.
const MODES: [&str; 3] = ["benchmarks", "filters", "benchmarksfiltered"];

/// The sides that were named.
pub enum Sides {
    /// Two programs.
    Programs(Box<[ProgramSide; 2]>),
    /// Results, the baseline's first.
    Results(Vec<Side>),
}

/// One side that is a program.
pub struct ProgramSide {
    /// As it was named.
    pub named: String,
    pub program: Program,
    /// Which of its benchmarks are meant.
    pub filter: Option<String>,
}

/// Finds out what was named and reads what is data. Where only some of the
/// sides are programs these are run, one after the other, for their results.
pub fn read(
    request: &[NamedSide],
    baseline: Option<&str>,
    arguments: &[String],
    quiet: bool,
) -> Result<Sides, Failure> {
    if let Some(sides) = named_sets(request, baseline)? {
        return Ok(sides);
    }
    let as_named = request;
    let request = &folders_opened(request)?[..];
    let mut kinds = Vec::new();
    for entrant in request {
        let kind = |named: &String| kind_of(named, arguments);
        let of_entrant: Result<Vec<Kind>, _> = entrant.named.iter().map(kind).collect();
        kinds.push(of_entrant?);
    }
    if let ([old, new], None) = (&kinds[..], baseline)
        && let ([Kind::Program(old)], [Kind::Program(new)]) = (&old[..], &new[..])
    {
        let side = |entrant: &NamedSide, program: &Program| ProgramSide {
            named: entrant.named[0].clone(),
            program: program.clone(),
            filter: entrant.filter.clone(),
        };
        let sides = [side(&request[0], old), side(&request[1], new)];
        return Ok(Sides::Programs(Box::new(sides)));
    }
    let folder = |kinds: &Vec<Kind>| matches!(kinds[..], [Kind::Folder]);
    if let ([entrant], true) = (request, kinds.iter().all(folder)) {
        return criterion_sets(&entrant.named[0], &[baseline.unwrap_or("base")]);
    }
    if let Some(name) = baseline {
        return Err(Failure::Usage(format!(
            "--baseline {name}: only a single folder of criterion has saved baselines"
        )));
    }
    if let [alone] = as_named {
        return Err(Failure::Usage(format!(
            "{} is named alone\nhelp: name the files it is to be compared with, or give it to deadheat \
             analyze",
            alone.named.join(" ")
        )));
    }
    let mut read = Files::read(request, &kinds)?;
    let mut sides = Vec::new();
    for (entrant, kinds) in request.iter().zip(&kinds) {
        let filter = entrant.filter.as_deref();
        let mut files = Vec::new();
        for (named, kind) in entrant.named.iter().zip(kinds) {
            files.push(match kind {
                Kind::Folder => read_criterion(named, None).map_err(Failure::reading)?,
                Kind::Data => read.take(named),
                Kind::Program(program) => results_of_program(named, program, filter, quiet)?,
            });
        }
        sides.push(tell_recordings_apart(files));
    }
    name_alike(&mut sides);
    Ok(Sides::Results(named(as_named, sides)?))
}

/// The kind of thing that one name stands for.
enum Kind {
    Folder,
    Program(Program),
    Data,
}

fn kind_of(named: &str, arguments: &[String]) -> Result<Kind, Failure> {
    let started = |text: &str| -> Result<Kind, Failure> {
        let mut program = program(text)?;
        program.arguments.extend(arguments.iter().cloned());
        Ok(Kind::Program(program))
    };
    match found_at(named).map_err(Failure::reading)? {
        Found::Folder => Ok(Kind::Folder),
        Found::Program => started(named),
        Found::Data => Ok(Kind::Data),
        // Words, as in 'python3 bench.py'.
        Found::Nothing if named.contains(char::is_whitespace) => started(named),
        Found::Nothing => Err(Failure::Data(format!(
            "cannot read {named}: there is no such file, folder or program"
        ))),
    }
}

/// All files of data, each read once however often it is named: standard input
/// cannot be read twice.
struct Files {
    /// By name, with the number of times it is still asked for.
    read: HashMap<String, (Results, usize)>,
}

impl Files {
    /// Reads them side by side, one per core at a time.
    fn read(request: &[NamedSide], kinds: &[Vec<Kind>]) -> Result<Files, Failure> {
        let mut times: Vec<(&str, usize)> = Vec::new();
        for (entrant, kinds) in request.iter().zip(kinds) {
            let data = entrant.named.iter().zip(kinds);
            for (name, _) in data.filter(|(_, kind)| matches!(kind, Kind::Data)) {
                match times.iter_mut().find(|(known, _)| known == name) {
                    Some((_, times)) => *times += 1,
                    None => times.push((name, 1)),
                }
            }
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut read = HashMap::new();
        for some in times.chunks(cores) {
            let results: Vec<_> = std::thread::scope(|scope| {
                // This thread is one of them: what it lets go it can use again.
                let (mine, others) = some.split_at(1);
                let started: Vec<_> = others
                    .iter()
                    .map(|(name, _)| scope.spawn(move || read_results(name)))
                    .collect();
                let mine = mine
                    .iter()
                    .map(|(name, _)| catch_unwind(|| read_results(name)));
                let mine: Vec<_> = mine.collect();
                let joined = started.into_iter().map(|thread| thread.join());
                mine.into_iter().chain(joined).collect()
            });
            for ((name, times), results) in some.iter().zip(results) {
                let results = results
                    .map_err(|_| Failure::Internal(format!("reading {name} panicked")))?
                    .map_err(Failure::reading)?;
                read.insert((*name).to_owned(), (results, *times));
            }
        }
        Ok(Files { read })
    }

    /// The results of a file that was read.
    fn take(&mut self, name: &str) -> Results {
        match self.read.get_mut(name) {
            Some((results, times)) if *times > 1 => {
                *times -= 1;
                results.clone()
            }
            _ => {
                let last = self.read.remove(name);
                last.map_or_else(Results::default, |(results, _)| results)
            }
        }
    }
}

/// A folder that is none of criterion's stands for the files in it.
fn folders_opened(request: &[NamedSide]) -> Result<Vec<NamedSide>, Failure> {
    let mut opened = request.to_vec();
    for entrant in &mut opened {
        let mut named = Vec::new();
        for name in std::mem::take(&mut entrant.named) {
            let files = if Path::new(&name).is_dir() {
                files_in(&name).map_err(Failure::reading)?
            } else {
                None
            };
            match files {
                None => named.push(name),
                Some(files) => {
                    for file in files {
                        let file = file.into_os_string().into_string();
                        named.push(file.map_err(|file| {
                            Failure::Data(format!("{name}: {} is no UTF-8", file.display()))
                        })?);
                    }
                }
            }
        }
        entrant.named = named;
    }
    Ok(opened)
}

/// Saved baselines of a folder of criterion, where names follow it that are
/// no files; one alone stands beside what was measured last.
fn named_sets(request: &[NamedSide], baseline: Option<&str>) -> Result<Option<Sides>, Failure> {
    let plain = |side: &NamedSide| side.named.len() == 1 && side.filter.is_none();
    let names: Vec<&str> = request.iter().map(|side| side.named[0].as_str()).collect();
    let (Some((folder, sets)), true) = (names.split_first(), request.iter().all(plain)) else {
        return Ok(None);
    };
    let nothing = |name: &&str| !name.contains(['/', ' ']) && !Path::new(name).exists();
    let named = !sets.is_empty() && baseline.is_none() && sets.iter().all(nothing);
    if !named || !Path::new(folder).is_dir() {
        return Ok(None);
    }
    criterion_sets(folder, sets).map(Some)
}

/// Sets of one folder of criterion; a saved baseline alone stands beside what
/// was measured last.
fn criterion_sets(folder: &str, names: &[&str]) -> Result<Sides, Failure> {
    let newest = names.len() == 1;
    let names = names.iter().copied().chain(newest.then_some("new"));
    let set = |name: &str| -> Result<Side, Failure> {
        let results = read_criterion(folder, Some(name)).map_err(Failure::reading)?;
        Ok(Side {
            name: name.to_owned(),
            files: vec![results],
        })
    };
    Ok(Sides::Results(names.map(set).collect::<Result<_, _>>()?))
}

/// Gives every side its name, and applies the filters. Two families meet under
/// one name, as in compare.py.
fn named(request: &[NamedSide], files: Vec<Vec<Results>>) -> Result<Vec<Side>, Failure> {
    let paths: Vec<&[String]> = request.iter().map(|side| &side.named[..]).collect();
    let mut names = side_names_of(&paths);
    let filters: Vec<&str> = request.iter().filter_map(|s| s.filter.as_deref()).collect();
    let shown = match filters[..] {
        [old, new] => {
            if paths[0] == paths[1] && old != new {
                names = vec![old.to_owned(), new.to_owned()];
            }
            Some(format!("[{old} vs. {new}]"))
        }
        _ => None,
    };
    let mut sides = Vec::new();
    for ((mut files, name), entrant) in files.into_iter().zip(names).zip(request) {
        if let Some(filter) = &entrant.filter {
            for results in &mut files {
                let held = results.benchmarks.len();
                family(results, filter, shown.as_deref())?;
                if results.benchmarks.is_empty() {
                    return Err(Failure::Usage(format!(
                        "filter '{filter}' fits none of the {held} benchmarks of {}",
                        results.source
                    )));
                }
            }
        }
        sides.push(Side { name, files });
    }
    Ok(sides)
}

/// Runs a Google Benchmark executable and reads what it measured. What it
/// prints goes to standard error: standard output is for the answer.
fn results_of_program(
    named: &str,
    program: &Program,
    filter: Option<&str>,
    quiet: bool,
) -> Result<Results, Failure> {
    let file = TemporaryFile::create_in(std::env::temp_dir())
        .map_err(|error| Failure::Internal(error.to_string()))?;
    let mut arguments = program.arguments.clone();
    arguments.extend(filter.map(|filter| format!("--benchmark_filter={filter}")));
    arguments.push(format!("--benchmark_out={}", file.path().display()));
    arguments.push("--benchmark_out_format=json".to_owned());
    if !quiet {
        to_stderr("RUNNING", &format!("{named} {}", arguments.join(" ")));
    }
    let failed = |what: String| Failure::Contender(format!("'{named}' {what}"));
    let arguments: Vec<_> = arguments.into_iter().map(Into::into).collect();
    let ended = run_beside_the_answer(program.executable.as_os_str(), &arguments)
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    match ended {
        Ended::Exited(0) => {}
        Ended::Exited(code) => return Err(failed(format!("exited with code {code}"))),
        Ended::Killed(signal) => return Err(failed(format!("was killed by signal {signal}"))),
    }
    let mut results = read_results(file.path()).map_err(|error| {
        failed(format!(
            "left no results ({error}); only Google Benchmark executables can stand beside a file"
        ))
    })?;
    named.clone_into(&mut results.source);
    Ok(results)
}

/// Refuses results of two tools: they time differently, whatever their
/// benchmarks are called.
pub fn refuse_two_tools(sides: &[Side]) -> Result<(), Failure> {
    let mut files = sides.iter().flat_map(|side| &side.files);
    let Some(first) = files.next() else {
        return Ok(());
    };
    match files.find(|file| kind(file) != kind(first)) {
        None => Ok(()),
        Some(other) => Err(Failure::Data(format!(
            "{} was written by {} and {} by {}: results of two tools cannot be compared, for they \
             do not time the same",
            first.source, first.tool, other.source, other.tool
        ))),
    }
}

/// The name of the tool without its version.
fn kind(results: &Results) -> &str {
    let tool = &results.tool;
    let version = tool.find(|c: char| c.is_ascii_digit());
    tool[..version.unwrap_or(tool.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Result<Vec<NamedSide>, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        NamedSide::of_words(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_modes_of_compare_py_mean_the_same_here() {
        let entrant = |name: &str, filter: Option<&str>| NamedSide {
            named: vec![name.to_owned()],
            filter: filter.map(str::to_owned),
        };
        let plain = |names: &[&str]| -> Vec<NamedSide> {
            names.iter().map(|name| entrant(name, None)).collect()
        };
        let (f, g) = (entrant("a", Some("x")), entrant("a", Some("y")));
        assert_eq!(request("benchmarks a b").unwrap(), plain(&["a", "b"]));
        assert_eq!(request("a b c").unwrap(), plain(&["a", "b", "c"]));
        assert_eq!(
            request("target/criterion").unwrap(),
            plain(&["target/criterion"])
        );
        assert_eq!(request("filters a x y").unwrap(), [f.clone(), g.clone()]);
        let filtered = [f, entrant("b", Some("y"))];
        assert_eq!(request("benchmarksfiltered a x b y").unwrap(), filtered);
    }

    #[test]
    fn a_mode_without_its_words_says_which_it_takes() {
        for line in [
            "",
            "benchmarks",
            "filters a b",
            "filters a b c d",
            "benchmarksfiltered a",
        ] {
            assert!(request(line).is_err(), "{line}");
        }
        let files = ["a".to_owned()];
        assert!(NamedSide::pooled(["the baseline", "--against"], &[], &files).is_err());
    }

    fn side(tool: &str) -> Side {
        Side {
            name: tool.to_owned(),
            files: vec![Results::new(format!("{tool}.json"), tool)],
        }
    }

    #[test]
    fn versions_may_differ_and_tools_may_not() {
        assert!(
            refuse_two_tools(&[side("pyperf 2.0"), side("pyperf 2.6.0"), side("pyperf")]).is_ok()
        );
        let error = refuse_two_tools(&[side("pyperf 2.0"), side("hyperfine")]).unwrap_err();
        assert_eq!(error.code(), 4);
        assert!(error.to_string().contains("hyperfine.json by hyperfine"));
    }
}
