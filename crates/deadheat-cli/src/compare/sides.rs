//! The sides of a comparison. Reads the words of the command line, which extend those of
//! compare.py, and the result files or programs that they name.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::path::{Path, is_separator};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use deadheat::parts::exit::Failure;
use deadheat::parts::format::content::plain_size;
use deadheat::parts::format::limits::{Allowance, files_at_once};
use deadheat::parts::format::{Found, found_at, read_header, refuse_plan, similar_file};
use deadheat::parts::model::{HELP, Program, suggestion};
use deadheat::parts::settings::program;
use deadheat_import::{
    Results, Side, family, files_in, name_alike, read_criterion, read_results, side_names_of,
    tell_recordings_apart,
};

/// A side of a comparison, as the user named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedSide {
    /// Files, folders or programs; several files are pooled.
    pub named: Vec<String>,
    /// A regular expression that selects benchmarks of this side.
    pub filter: Option<String>,
}

impl NamedSide {
    fn new(named: &[String], filter: Option<&String>) -> Self {
        Self {
            named: named.to_vec(),
            filter: filter.cloned(),
        }
    }

    /// Reads the words `[benchmarks] OLD NEW…`, `filters FILE OLD NEW` or
    /// `benchmarksfiltered OLD FILTER NEW FILTER`, the baseline first. A single word is enough if
    /// it names a folder with several recordings.
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

    /// Returns two sides of several files each. `called` has the names of the sides, for the error
    /// about a side without files.
    pub fn pooled(called: [&str; 2], old: &[String], new: &[String]) -> Result<Vec<Self>, Failure> {
        let sides = called.into_iter().zip([old, new]);
        let side = |(called, files): (&str, &[String])| match files {
            [] => Err(Failure::Usage(format!(
                "{called} has no file{HELP}name the files of the baseline first: deadheat compare OLD… \
                 --against NEW…"
            ))),
            files => Ok(Self::new(files, None)),
        };
        sides.map(side).collect()
    }
}

/// The modes of compare.py.
const MODES: [&str; 3] = ["benchmarks", "filters", "benchmarksfiltered"];

pub enum Sides {
    Programs(Box<[ProgramSide; 2]>),
    /// Results, the baseline's first.
    Results(Vec<Side>),
}

pub struct ProgramSide {
    /// The program as the user named it, with its arguments.
    pub named: String,
    pub program: Program,
    /// A regular expression that selects benchmarks of this side.
    pub filter: Option<String>,
}

/// Reads the named results, or returns the two named programs. Starts no program, and refuses a
/// program next to results.
pub fn read(
    request: &[NamedSide],
    baseline: Option<&str>,
    arguments: &[String],
) -> Result<Sides, Failure> {
    if let Some(sides) = named_sets(request, baseline)? {
        return Ok(sides);
    }
    if let Some((file, families)) = families_of_one_file(request) {
        return Err(Failure::Data(format!(
            "cannot read {}: no such file, folder or program{HELP}to compare benchmarks \
             of one file: deadheat compare filters {file} {}",
            families[0],
            families.join(" ")
        )));
    }
    let as_named = request;
    let (request, kinds) = folders_opened(request, arguments)?;
    let request = &request[..];
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
            "--baseline {name}: only a single folder of criterion has saved baselines{HELP}name \
             the file of the baseline first: deadheat compare OLD NEW"
        )));
    }
    if let [alone] = as_named {
        return Err(Failure::Usage(format!(
            "{} is the only file\nhelp: name the files to compare it with, or give it to deadheat \
             analyze",
            alone.named.join(" ")
        )));
    }
    refuse_programs(request, &kinds)?;
    if !arguments.is_empty() {
        return Err(Failure::Usage(format!(
            "the words after -- are for programs that race: these are saved results{HELP}leave \
             them out"
        )));
    }
    let memory = Allowance::of_results().map_err(|error| Failure::Usage(error.to_string()))?;
    let memory = Mutex::new(memory);
    let mut read = Files::read(request, &kinds, &memory)?;
    let mut sides = Vec::new();
    for (entrant, kinds) in request.iter().zip(&kinds) {
        let mut files = Vec::new();
        for (named, kind) in entrant.named.iter().zip(kinds) {
            files.push(match kind {
                Kind::Folder => {
                    let results = read_criterion(named, None).map_err(Failure::reading)?;
                    take_memory(&memory, &results, 1)?;
                    results
                }
                Kind::Data | Kind::Program(_) => read.take(named),
            });
        }
        sides.push(tell_recordings_apart(files));
    }
    name_alike(&mut sides);
    Ok(Sides::Results(named(as_named, sides)?))
}

/// Returns a file and two other words, if the words are not files and look like names of the file's
/// benchmarks.
fn families_of_one_file(request: &[NamedSide]) -> Option<(&str, [&str; 2])> {
    let [file, old, new] = request else {
        return None;
    };
    let plain = |side: &NamedSide| side.named.len() == 1 && side.filter.is_none();
    let is_word = |side: &NamedSide| {
        let name = &side.named[0];
        plain(side)
            && !name.contains(['.', '*', ' '])
            && instead_of(name).is_none()
            && !Path::new(name).exists()
    };
    let is_file = plain(file) && Path::new(&file.named[0]).is_file();
    (is_file && is_word(old) && is_word(new))
        .then(|| (&*file.named[0], [&*old.named[0], &*new.named[0]]))
}

/// The kind of object that a name refers to.
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
        Found::Program if is_called_a_result(named) => Ok(Kind::Data),
        Found::Program => started(named),
        Found::Data => Ok(Kind::Data),
        Found::Nothing if !names_files(named, ' ') && named.contains(char::is_whitespace) => {
            // A command with arguments, as in 'python3 bench.py'.
            started(named)
        }
        Found::Nothing => {
            let help = instead_of(named).map_or_else(String::new, |help| format!("{HELP}{help}"));
            Err(Failure::Data(format!(
                "cannot read {named}: no such file, folder or program{help}"
            )))
        }
    }
}

/// Returns true if `name` is like that of a file of results or of its backup, such as `a.json.old`.
/// Such a file is never started as a program, whatever it contains.
pub fn is_called_a_result(name: &str) -> bool {
    const ENDINGS: [&str; 17] = [
        "json", "jsonl", "ndjson", "csv", "tsv", "txt", "log", "hlog", "xml", "html", "md", "toml",
        "yaml", "yml", "bak", "gz", "zst",
    ];
    let name = Path::new(name).file_name().and_then(|name| name.to_str());
    let mut endings = name.unwrap_or_default().split('.').skip(1);
    endings.any(|ending| {
        let ending = ending.trim_end_matches('~').to_lowercase();
        ENDINGS.contains(&ending.as_str())
    })
}

/// Refuses a program next to results, because comparing saved results never starts a program.
fn refuse_programs(request: &[NamedSide], kinds: &[Vec<Kind>]) -> Result<(), Failure> {
    let names = request.iter().flat_map(|side| &side.named);
    let all: Vec<(&String, &Kind)> = names.zip(kinds.iter().flatten()).collect();
    let is_program = |kind: &Kind| matches!(kind, Kind::Program(_));
    let Some((program, _)) = all.iter().find(|(_, kind)| is_program(kind)) else {
        return Ok(());
    };
    let why = match all.iter().find(|(_, kind)| !is_program(kind)) {
        Some((results, _)) => format!("'{program}' is a program, and {results} holds results"),
        None => format!("'{program}' is a program, and the command line names no other"),
    };
    Err(Failure::Usage(format!(
        "{why}: deadheat compare reads results, and starts programs only to race two of them\
         {HELP}race two programs: deadheat bench OLD NEW\
         {HELP}or record results first, as in ./bench --benchmark_out=new.json for Google Benchmark"
    )))
}

/// Returns true if `text` consists of several parts and all of them are files.
fn names_files(text: &str, separator: char) -> bool {
    let mut parts = text.split(separator).filter(|part| !part.is_empty());
    text.contains(separator) && parts.all(|part| Path::new(part).exists())
}

/// Returns what the user probably meant by a word that is neither a file nor a program.
fn instead_of(named: &str) -> Option<String> {
    if let Some(mode) = suggestion(named, MODES) {
        return Some(format!("did you mean '{mode}'?"));
    }
    if names_files(named, ',') || names_files(named, ' ') {
        return Some("name each file as a separate word, without quotes or commas".to_owned());
    }
    if ["vs", "vs.", "and", "against", "to", "with"].contains(&named) {
        return Some(
            "name only the files, the baseline first: deadheat compare OLD NEW".to_owned(),
        );
    }
    if named.contains(['*', '?']) {
        return Some("no file matches this pattern".to_owned());
    }
    similar_file(Path::new(named)).map(|similar| format!("did you mean '{similar}'?"))
}

/// Refuses a plan, which lists the benchmarks of a race but has no results.
fn refuse_plan_of(name: &str, results: &Results) -> Result<(), Failure> {
    if name == "-" || !results.tool.starts_with("deadheat ") {
        return Ok(());
    }
    match read_header(name) {
        Ok(header) => refuse_plan(name, &header).map_err(Failure::reading),
        Err(_) => Ok(()),
    }
}

/// Subtracts the memory of `results` from what is left for the command, once for each of the
/// `times` that the user named the file.
fn take_memory(memory: &Mutex<Allowance>, results: &Results, times: usize) -> Result<(), Failure> {
    let mut left = memory.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = left.take(results.memory().saturating_mul(times as u64));
    taken.map_err(|error| Failure::Data(format!("cannot compare these files: {error}")))
}

/// All files of results, each read once even if it is named several times, because standard input
/// cannot be read twice.
struct Files {
    /// The results by file name, with the number of requests for them that are still to come.
    read: HashMap<String, (Results, usize)>,
}

impl Files {
    /// Reads the files in parallel, at most one per core, and fewer if their size requires it.
    /// Takes the estimated memory of the results from the allowance `memory`.
    fn read(
        request: &[NamedSide],
        kinds: &[Vec<Kind>],
        memory: &Mutex<Allowance>,
    ) -> Result<Files, Failure> {
        let mut times: Vec<(&str, usize)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (entrant, kinds) in request.iter().zip(kinds) {
            let data = entrant.named.iter().zip(kinds);
            for (name, _) in data.filter(|(_, kind)| matches!(kind, Kind::Data)) {
                let place = *places.entry(name).or_insert_with(|| {
                    times.push((name, 0));
                    times.len() - 1
                });
                times[place].1 += 1;
            }
        }
        let next = AtomicUsize::new(0);
        // An unreadable file stops all threads. Every file before it was already taken by a thread,
        // so the first unreadable file is always the one reported.
        let some_of_them = || {
            let mut read = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some((name, named)) = times.get(place) else {
                    return read;
                };
                let results = catch_unwind(|| read_results(name))
                    .map_err(|_| Failure::Internal(format!("reading {name} panicked")))
                    .and_then(|results| results.map_err(Failure::reading))
                    .and_then(|results| refuse_plan_of(name, &results).map(|()| results))
                    .and_then(|results| take_memory(memory, &results, *named).map(|()| results));
                if results.is_err() {
                    next.fetch_max(times.len(), Ordering::Relaxed);
                }
                read.push((place, results));
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let sizes = times.iter().map(|(name, _)| plain_size(name));
        let largest = sizes.map(|size| size.unwrap_or(u64::MAX)).max();
        let at_once = files_at_once(largest.unwrap_or(0));
        let threads = cores.min(at_once).min(times.len());
        let mut all = std::thread::scope(|scope| {
            // This thread reads files, too, so that it can reuse the memory that it frees.
            let others = 1..threads;
            let others: Vec<_> = others.map(|_| scope.spawn(some_of_them)).collect();
            let mut all = some_of_them();
            for other in others {
                match other.join() {
                    Ok(some) => all.extend(some),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        all.sort_unstable_by_key(|(place, _)| *place);
        let mut read = HashMap::new();
        for (place, results) in all {
            let (name, times) = times[place];
            read.insert(name.to_owned(), (results?, times));
        }
        Ok(Files { read })
    }

    /// Returns the results of a file, and frees them with the last request.
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

/// Returns the names of each side with their kinds. A folder that criterion did not write is
/// replaced by its files. These files count as results whatever they contain, because the user did
/// not name them as programs.
fn folders_opened(
    request: &[NamedSide],
    arguments: &[String],
) -> Result<(Vec<NamedSide>, Vec<Vec<Kind>>), Failure> {
    let mut opened = request.to_vec();
    let mut kinds = Vec::new();
    for entrant in &mut opened {
        let mut named = Vec::new();
        let mut of_entrant = Vec::new();
        for name in std::mem::take(&mut entrant.named) {
            let files = if Path::new(&name).is_dir() {
                files_in(&name).map_err(Failure::reading)?
            } else {
                None
            };
            let Some(files) = files else {
                of_entrant.push(kind_of(&name, arguments)?);
                named.push(name);
                continue;
            };
            for file in files {
                let file = file.into_os_string().into_string();
                named.push(file.map_err(|file| {
                    Failure::Data(format!("{name}: {} is not UTF-8", file.display()))
                })?);
                of_entrant.push(Kind::Data);
            }
        }
        entrant.named = named;
        kinds.push(of_entrant);
    }
    Ok((opened, kinds))
}

/// Returns saved baselines if the user named a criterion folder and then words that are not files.
/// A single baseline is compared with the latest measurement.
fn named_sets(request: &[NamedSide], baseline: Option<&str>) -> Result<Option<Sides>, Failure> {
    let plain = |side: &NamedSide| side.named.len() == 1 && side.filter.is_none();
    let names: Vec<&str> = request.iter().map(|side| side.named[0].as_str()).collect();
    let (Some((folder, sets)), true) = (names.split_first(), request.iter().all(plain)) else {
        return Ok(None);
    };
    let is_part_of_a_path = |c: char| c == ' ' || is_separator(c);
    let nothing = |name: &&str| !name.contains(is_part_of_a_path) && !Path::new(name).exists();
    let named = !sets.is_empty() && baseline.is_none() && sets.iter().all(nothing);
    if !named || !Path::new(folder).is_dir() {
        return Ok(None);
    }
    criterion_sets(folder, sets).map(Some)
}

/// Reads saved baselines of a criterion folder. A single baseline is compared with the latest
/// measurement.
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

/// Names the sides and applies their filters. As in compare.py, two families get the same benchmark
/// names.
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
                let names = some_names(results);
                family(results, filter, shown.as_deref())?;
                if results.benchmarks.is_empty() {
                    let names = names.join(", ");
                    return Err(Failure::Usage(format!(
                        "filter '{filter}' matches no benchmark of {}{HELP}its benchmarks are \
                         {names}",
                        results.source
                    )));
                }
            }
        }
        sides.push(Side { name, files });
    }
    Ok(sides)
}

/// Returns the first benchmark names of a file, for error messages.
pub fn some_names(results: &Results) -> Vec<String> {
    const MOST: usize = 5;
    let first = results.benchmarks.iter().take(MOST);
    let mut names: Vec<String> = first.map(|one| format!("'{}'", one.name)).collect();
    if results.benchmarks.len() > MOST {
        names.push("…".to_owned());
    }
    names
}

pub fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// Refuses results of different tools: tools time differently, even if their benchmarks have the
/// same names.
pub fn refuse_two_tools(sides: &[Side]) -> Result<(), Failure> {
    let mut files = sides.iter().flat_map(|side| &side.files);
    let Some(first) = files.next() else {
        return Ok(());
    };
    match files.find(|file| kind(file) != kind(first)) {
        None => Ok(()),
        Some(other) => Err(Failure::Data(format!(
            "{} was written by {} and {} by {}: results of two tools cannot be compared, because \
             the tools time different things{HELP}record both sides with one tool, or race the two: \
             deadheat run for commands, deadheat bench for programs with benchmarks",
            first.source, first.tool, other.source, other.tool
        ))),
    }
}

/// Returns the name of the tool without its version.
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
    fn results_and_their_backups_are_never_programs() {
        for name in [
            "a.json",
            "out/a.JSON",
            "a.json.old",
            "a.csv~",
            "a.json.tmp",
            "a.txt.gz",
        ] {
            assert!(is_called_a_result(name), "{name}");
        }
        for name in [
            "bench",
            "bench.old",
            "bench-1.2",
            "json",
            "a.json/bench",
            "sum.md5",
        ] {
            assert!(!is_called_a_result(name), "{name}");
        }
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
