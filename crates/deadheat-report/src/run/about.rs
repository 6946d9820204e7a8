//! The facts about a run: the machine, the plan, the builds, the files, and the command that runs
//! the race again.

use deadheat_model::{
    Analysis, Better, CounterAccess, Metric, Origin, Output, Pinning, Plan, ResultSource,
    RunHeader, Waiting, Workload,
};

use crate::calibration::calibrated;
use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::processes::observed;
use crate::sentences;
use crate::units::{counted, share, two_digits, waiting};

const GLYPHS: Glyphs = Glyphs::Unicode;

/// At most this many contenders are described, because a suite may have hundreds.
const DESCRIBED: usize = 40;
/// Maximum width, in columns, of a fact.
const FACT: usize = 600;

/// A title, and facts as pairs of name and value, without markup.
pub(crate) struct FactGroup {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<(String, String)>,
}

impl FactGroup {
    fn new(title: &'static str) -> FactGroup {
        FactGroup {
            title,
            rows: Vec::new(),
        }
    }

    fn push(&mut self, name: &str, value: impl Into<String>) {
        let shown = |text: &str| shown(text, FACT, GLYPHS);
        self.rows.push((shown(name), shown(&value.into())));
    }

    fn push_some(&mut self, name: &str, value: Option<impl Into<String>>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }
}

pub(crate) fn about(analysis: &Analysis, header: &RunHeader) -> [FactGroup; 4] {
    [
        machine(analysis, header),
        plan(header),
        builds(analysis, header),
        files(analysis),
    ]
}

/// Returns the command that runs the race again; `None` if the run file has none.
pub(crate) fn command(header: &RunHeader) -> Option<String> {
    (!header.command.is_empty()).then(|| shell(&header.command))
}

pub(super) fn machine(analysis: &Analysis, header: &RunHeader) -> FactGroup {
    let environment = &header.environment;
    let mut facts = FactGroup::new("Machine");
    if !environment.system.is_empty() {
        facts.push("system", &environment.system);
    }
    facts.push_some("kernel", environment.kernel.as_ref());
    facts.push_some("processor", environment.cpu.as_ref());
    facts.push_some("cores", environment.cores.map(|cores| cores.to_string()));
    facts.push_some("governor", environment.governor.as_ref());
    facts.push_some("load at the start", environment.load.map(two_digits));
    if !environment.pinned.is_empty() {
        facts.push("pinned to", cores(&environment.pinned));
    }
    facts.push_some(
        "counters",
        environment.counters.as_ref().map(|access| match access {
            CounterAccess::Available => "recorded".to_owned(),
            CounterAccess::Unavailable(reason) => format!("not recorded: {reason}"),
        }),
    );
    if let Some(clock) = &environment.clock {
        let mut text = format!(
            "{}, resolution {} ns, reading it {} ns",
            clock.source,
            two_digits(clock.resolution_ns),
            two_digits(clock.overhead_ns)
        );
        if let Some(reason) = &clock.fallback {
            text += &format!(" ({reason})");
        }
        facts.push("clock", text);
    } else if let Some(tick) = header.tick_ns {
        facts.push(
            "clock",
            format!("of the system, resolution {} ns", two_digits(tick)),
        );
    }
    if environment.debug_build {
        facts.push("build", "with debug assertions");
    }
    let mut tools: Vec<String> = (analysis.sides.iter().flat_map(|side| &side.files))
        .map(|file| file.tool.clone())
        .filter(|tool| !tool.is_empty())
        .collect();
    tools.sort();
    tools.dedup();
    match header.tool_version.as_str() {
        "" => facts.push_some("measured by", (!tools.is_empty()).then(|| tools.join(", "))),
        version => facts.push("measured by", format!("deadheat {version}")),
    }
    facts.push("analysed by", format!("deadheat {}", analysis.tool_version));
    if let Some(note) = &analysis.calibration {
        let version = &note.tool_version;
        facts.push(
            "calibration",
            format!("{} (deadheat {version})", calibrated(note)),
        );
    }
    facts
}

fn cores(cores: &[u32]) -> String {
    let word = if cores.len() == 1 { "core" } else { "cores" };
    let cores: Vec<String> = cores.iter().map(u32::to_string).collect();
    format!("{word} {}", cores.join(", "))
}

pub(super) fn plan(header: &RunHeader) -> FactGroup {
    let design = &header.plan.design;
    let mut facts = FactGroup::new("Plan");
    let benchmarks = 0..header.plan.benchmarks.len();
    let judged = benchmarks.filter(|at| header.plan.benchmarks[*at].rerun.is_none());
    let judged = judged.map(|at| {
        let (metric, quantile) = (header.plan.judged(at), header.plan.quantile(at));
        sentences::judged(metric, quantile, GLYPHS)
    });
    let mut judged: Vec<String> = judged.collect();
    judged.sort();
    judged.dedup();
    if judged.is_empty() {
        judged.push(sentences::judged(&design.judged, design.quantile, GLYPHS));
    }
    facts.push("judged", judged.join(", "));
    for value in &design.values.read {
        let name = sentences::metric(&value.metric, GLYPHS);
        let file = design.values.file.as_ref();
        let from = file.map_or(String::new(), |file| format!(" in {}", file.display()));
        let more = value.metric.better() == Better::More;
        let better = if more { "; more is better" } else { "" };
        let found = format!("{}{from}{better}", value.pattern);
        facts.push(&format!("value {name}"), found);
    }
    facts.push("margin", format!("±{}", share(design.margin)));
    facts.push("chance of a wrong verdict", share(design.alpha));
    if header.origin != Origin::Race {
        return facts;
    }
    let plan = &header.plan;
    let at_most = range(plan, |index| plan.looks(index).max_replicates());
    let looks: Vec<String> = plan.all_looks().iter().map(u32::to_string).collect();
    facts.push("replicates at most", at_most);
    facts.push("replicates at each look", looks.join(", "));
    let blocks = range(plan, |index| plan.blocks_per_replicate(index));
    facts.push("blocks in a replicate", blocks);
    facts.push("warm-up launches", design.warmup.to_string());
    facts.push_some(
        "budget",
        design.budget.map(|budget| waiting(budget.as_secs_f64())),
    );
    facts.push(
        "pinning",
        match &design.pinning {
            Pinning::Inherit => "none: any core that deadheat itself may use".to_owned(),
            Pinning::Auto => "one core, chosen by deadheat".to_owned(),
            Pinning::Cores(chosen) => cores(chosen),
        },
    );
    if header.metrics.contains(&Metric::RunDelay) {
        let kept = design.waiting == Waiting::Keep;
        let what = if kept {
            "kept"
        } else {
            "excluded, unless a contender causes it"
        };
        facts.push("waiting for a core", what.to_owned());
    }
    facts.push("seed", header.plan.seed.to_string());
    facts
}

/// Formats a number that each benchmark has, which `number` returns; a range if the benchmarks have
/// different numbers.
fn range(plan: &Plan, number: impl Fn(usize) -> u32) -> String {
    // A plan without benchmarks takes the number of its design.
    let numbers = (0..plan.benchmarks.len().max(1)).map(number);
    let (least, most) = numbers.fold((u32::MAX, 0), |(least, most), number| {
        (least.min(number), most.max(number))
    });
    if least < most {
        format!("{least} to {most}")
    } else {
        most.to_string()
    }
}

/// Returns the command lines of the contenders, and the links of their programs.
fn builds(analysis: &Analysis, header: &RunHeader) -> FactGroup {
    let mut facts = FactGroup::new("Builds");
    let mut known: Vec<(String, String)> = Vec::new();
    for benchmark in &header.plan.benchmarks {
        for contender in &benchmark.contenders {
            let Some(text) = workload(&contender.workload) else {
                continue;
            };
            let row = (contender.name.clone(), text);
            if !known.contains(&row) {
                known.push(row);
            }
        }
        if known.len() > DESCRIBED {
            break;
        }
    }
    let more = known.len() > DESCRIBED;
    known.truncate(DESCRIBED);
    facts.rows.extend(known);
    if more {
        facts.push("and", "more, in the run file");
    }
    for (name, observed) in processes(analysis) {
        facts.push(&name, observed);
    }
    for links in &header.environment.neutral_links {
        let text = match &links.made_by {
            Ok(linker) => format!("neutral links by {linker}"),
            Err(reason) => format!("no neutral links: {reason}"),
        };
        facts.push(&links.executable, text);
        if links.random_addresses {
            let text = "matched, at random load addresses (this system cannot fix them)";
            facts.push(&links.executable, text.to_owned());
        }
        if !links.unsectioned.is_empty() {
            let count = links.unsectioned.len() as u64;
            let objects = counted(count, "object file has", "object files have");
            facts.push(
                &links.executable,
                format!("{objects} functions that neutral links cannot move"),
            );
        }
    }
    facts
}

fn processes(analysis: &Analysis) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for comparison in &analysis.comparisons {
        let sides = [Some(&comparison.baseline), comparison.candidate.as_ref()];
        let sides = sides.into_iter().flatten();
        for (side, process) in sides.zip(&comparison.aspects.processes) {
            let row = (
                format!("processes of {}", side.name),
                observed(process, GLYPHS),
            );
            if !rows.contains(&row) && rows.len() < DESCRIBED {
                rows.push(row);
            }
        }
    }
    rows
}

/// Returns the command line of a contender; `None` for functions and recordings.
fn workload(workload: &Workload) -> Option<String> {
    let program = |program: &deadheat_model::Program| {
        let executable = program.executable.to_string_lossy().into_owned();
        let words: Vec<String> = std::iter::once(executable)
            .chain(program.arguments.iter().cloned())
            .collect();
        match &program.directory {
            None => shell(&words),
            Some(directory) => format!("{} (in {})", shell(&words), directory.display()),
        }
    };
    match workload {
        Workload::Command(command) => {
            let mut text = shell(&command.words);
            match &command.output {
                Output::Null => {}
                Output::Pipe => text += " (output read from a pipe)",
                Output::Inherit => text += " (output shown)",
                Output::File(path) => text += &format!(" (output to {})", path.display()),
                Output::Compared => text += " (output compared)",
                Output::Read => text += " (output read for values)",
            }
            Some(text)
        }
        Workload::Function(_) | Workload::Recording => None,
        Workload::Worker(calls) => Some(program(&calls.program)),
        Workload::Harness(calls) => Some(program(&calls.program)),
    }
}

fn files(analysis: &Analysis) -> FactGroup {
    let mut facts = FactGroup::new("Files");
    for side in &analysis.sides {
        for file in &side.files {
            facts.push(&side.name, format!("{}: {}", file.source, origin(file)));
        }
    }
    facts
}

fn origin(file: &ResultSource) -> String {
    let facts = &file.facts;
    let cores = facts
        .cores
        .map(|cores| counted(cores.into(), "core", "cores"));
    let mut parts = vec![file.tool.clone()];
    let described = [
        &facts.runtime,
        &facts.system,
        &facts.cpu,
        &facts.host,
        &facts.date,
    ];
    parts.extend(described.into_iter().flatten().cloned());
    parts.extend(cores);
    if facts.debug_build == Some(true) {
        parts.push("debug build".to_owned());
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Joins the words of a command into one line, quoted for a shell.
pub fn shell(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "%+,-./:=@_".contains(c);
    let unseen = |c: char| c != ' ' && c.escape_debug().count() > 1 && !"'\"\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.chars().any(unseen) {
        // `$'…'` in bash, zsh and POSIX 2024 can show invisible characters as escapes.
        let escaped: String = word.chars().map(named).collect();
        format!("$'{escaped}'")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn named(character: char) -> String {
    match character {
        '\'' | '\\' => format!("\\{character}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        ' '..='~' => character.to_string(),
        control if control.is_ascii() => format!("\\x{:02x}", u32::from(control)),
        other if other.escape_debug().count() == 1 => other.to_string(),
        // Escapes of single bytes work in every locale.
        other => {
            let mut bytes = [0; 4];
            let bytes = other.encode_utf8(&mut bytes).bytes();
            bytes.map(|byte| format!("\\x{byte:02x}")).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        let words = ["deadheat", "run", "./a --b=1", "it's", "", "*", "größer"];
        let words = words.map(str::to_owned);
        assert_eq!(
            shell(&words),
            r"deadheat run './a --b=1' 'it'\''s' '' '*' 'größer'"
        );
    }

    #[test]
    fn what_cannot_be_seen_has_a_name_that_the_shell_reads_back() {
        let word = "a\n\u{1b}'\\\u{202e}".to_owned();
        assert_eq!(shell(&[word]), r"$'a\n\x1b\'\\\xe2\x80\xae'");
    }
}
