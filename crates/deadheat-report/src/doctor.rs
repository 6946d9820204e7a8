//! The text of a checkup of the machine: how good the machine is, which cores to race on, and for
//! each finding the facts, the measured effect, and its meaning for paired races.

mod facts;
mod json;
mod numbers;
mod remedies;

pub use json::to_doctor_json;

use deadheat_model::doctor::{
    Checkup, CoreWatch, Facts, Finding, Fitness, PinReason, State, Topic,
};
use deadheat_model::{Pinning, Verdict};

use crate::document::{Block, Content, Entry, Kind, Part, Table, Tone};
use crate::glyphs::Glyphs;
use crate::names::{enumerated, texts};
use crate::terminal::Terminal;
use crate::units::counted;
use facts::{effect, fact};
use numbers::{cores, count, list, share, time};
use remedies::{Remedy, remedy};

/// The width of the mark and the title of a finding, in columns.
const MARGIN: usize = 18;

/// The options for printing a checkup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoctorTextOptions {
    /// The maximum width in columns. Commands are never broken across lines.
    pub width: usize,
    /// True if marks and titles are coloured.
    pub color: bool,
    /// True if the text may contain characters other than ASCII.
    pub unicode: bool,
}

/// Formats a checkup as text: how good the machine is and what to do first, the findings from the
/// gravest to the harmless, and the recommended cores.
pub fn to_doctor_text(checkup: &Checkup, options: &DoctorTextOptions) -> String {
    let terminal = Terminal::new(options.width, options.color, options.unicode);
    terminal.render(&answer(checkup, terminal.glyphs))
}

fn answer<'a>(checkup: &Checkup, glyphs: Glyphs) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::heading(1, headline(checkup))];
    blocks.extend(first(checkup).map(|remedy| {
        let lead = "First:".to_owned();
        let tone = Tone::Verdict(Verdict::Inconclusive);
        let parts = remedy_parts(remedy, "");
        Block::of(Content::Entry(Entry {
            margin: lead.len() + 1,
            lead,
            tone,
            parts,
        }))
        .tight()
    }));
    blocks.push(Block::paragraph(machine(checkup, glyphs)));
    blocks.push(Block::paragraph(measured(checkup)).tight());
    for state in [State::Disturbs, State::Minor, State::Unknown, State::Fine] {
        let found = checkup.in_state(state);
        blocks.extend(Block::entries(found.map(|one| entry(one, checkup, glyphs))));
    }
    blocks.push(Block::table(table(checkup, glyphs)));
    blocks.push(Block::paragraph(format!("{}.", advice(checkup))));
    blocks.push(Block::of(Content::Code(example(checkup))).tight());
    blocks
}

/// Returns the remedy for the first disturbing finding that has one; `None` if no disturbing
/// finding has a remedy.
fn first(checkup: &Checkup) -> Option<Remedy> {
    let mut disturbing = checkup.in_state(State::Disturbs);
    disturbing.find_map(|finding| remedy(finding, checkup))
}

fn remedy_parts(remedy: Remedy, lead: &str) -> Vec<Part> {
    let words = Part::Words(format!("{lead}{}", remedy.words));
    let command = remedy.command.map(Part::Command);
    std::iter::once(words).chain(command).collect()
}

fn machine(checkup: &Checkup, glyphs: Glyphs) -> String {
    let separator = format!(" {} ", glyphs.separator());
    let mut parts = vec![
        format!("deadheat {}", checkup.tool_version),
        checkup.system.clone(),
    ];
    parts.extend(
        checkup
            .kernel
            .iter()
            .map(|kernel| format!("kernel {kernel}")),
    );
    parts.extend(checkup.cpu.clone());
    let number = |count: usize| counted(count as u64, "core", "cores");
    let [online, allowed] = [checkup.online.len(), checkup.allowed.len()];
    parts.push(match (online, allowed) {
        (0, 0) => "cores hidden".to_owned(),
        (0, allowed) => format!("{} for deadheat", number(allowed)),
        (online, 0) => number(online),
        (online, allowed) if online == allowed => number(online),
        (online, allowed) => format!("{allowed} of {online} cores for deadheat"),
    });
    parts.join(&separator)
}

fn entry(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> Entry {
    let words = describe(finding, checkup, glyphs);
    // A finding without a problem needs only one paragraph.
    let mut parts: Vec<Part> = if finding.state == State::Fine {
        let parts = [Some(words.fact), words.meaning, words.effect];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        vec![Part::Words(parts.join(" "))]
    } else {
        let parts = [Some(words.fact), words.effect, words.meaning];
        parts.into_iter().flatten().map(Part::Words).collect()
    };
    let remedies = remedy(finding, checkup).into_iter();
    parts.extend(remedies.flat_map(|remedy| remedy_parts(remedy, "Fix: ")));
    let (mark, tone) = mark(finding.state, glyphs);
    Entry {
        lead: format!("{mark} {}", title(finding.topic())),
        tone,
        margin: MARGIN,
        parts,
    }
}

/// Returns the mark of a state, one column wide, and its colour.
fn mark(state: State, glyphs: Glyphs) -> (&'static str, Tone) {
    let (unicode, ascii, like) = match state {
        State::Fine => ("✔", "+", Verdict::Faster),
        State::Minor => ("≈", "~", Verdict::Equivalent),
        State::Disturbs => ("✘", "x", Verdict::Slower),
        State::Unknown => ("?", "?", Verdict::Inconclusive),
    };
    (glyphs.choose(unicode, ascii), Tone::Verdict(like))
}

fn table<'a>(checkup: &Checkup, glyphs: Glyphs) -> Table<'a> {
    let nothing = || glyphs.nothing().to_owned();
    let heads = [
        "core",
        "taken away",
        "longest",
        "time lost",
        "other tasks",
        "interrupts",
    ];
    let mut table = Table::new(Kind::Words, heads);
    for watch in &checkup.cores {
        let core = match watch.core {
            Some(core) if watch.isolated => format!("{core} (set apart)"),
            Some(core) => core.to_string(),
            None => "any".to_owned(),
        };
        let interrupts = watch.interrupts.map(|rate| format!("{} /s", count(rate)));
        let cells = vec![
            core,
            format!("{} /s", count(watch.taken_away)),
            time(watch.longest_ns, glyphs),
            share(watch.lost),
            watch.waiting.map_or_else(nothing, share),
            interrupts.unwrap_or_else(nothing),
        ];
        table.rows.push(cells.into());
    }
    table
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FindingText {
    /// The facts that the system reports.
    fact: String,
    /// The measured effect on this machine, or the reason why it could not be measured.
    effect: Option<String>,
    meaning: Option<String>,
}

fn describe(finding: &Finding, checkup: &Checkup, glyphs: Glyphs) -> FindingText {
    FindingText {
        fact: fact(finding, checkup, glyphs),
        effect: effect(finding, checkup, glyphs),
        meaning: meaning(finding).map(str::to_owned),
    }
}

fn title(topic: Topic) -> &'static str {
    match topic {
        Topic::Container => "CPU quota",
        Topic::Steal => "steal time",
        Topic::Load => "load",
        Topic::Thermal => "heat",
        Topic::Swap => "swap",
        Topic::Interrupts => "interrupts",
        Topic::Sharing => "core sharing",
        Topic::Speeds => "core speeds",
        Topic::Governor => "frequency",
        Topic::Turbo => "turbo",
        Topic::Smt => "SMT",
        Topic::Aslr => "ASLR",
        Topic::Clock => "clock",
        Topic::HugePages => "huge pages",
        Topic::Isolation => "isolated cores",
        Topic::Counters => "counters",
        Topic::Virtualisation => "machine",
        Topic::Build => "this program",
    }
}

fn is_plural(topic: Topic) -> bool {
    matches!(
        topic,
        Topic::Interrupts | Topic::Speeds | Topic::HugePages | Topic::Isolation | Topic::Counters
    )
}

/// Returns the meaning of a finding for paired races; `None` if it has none.
fn meaning(finding: &Finding) -> Option<&'static str> {
    let fine = finding.state == State::Fine;
    let unknown = finding.state == State::Unknown;
    Some(match &finding.facts {
        // Random addresses are desirable, although they may seem to be a source of noise.
        Facts::Aslr {
            setting,
            switched_off,
        } => match setting {
            _ if *switched_off => ONE_LAYOUT,
            Some(2..) => {
                "That is good: every replicate is a new process with new addresses, so one lucky \
                 layout cannot decide."
            }
            None => return None,
            Some(0) => ONE_LAYOUT,
            Some(_) => {
                "The heap of all replicates is at one address, which may favour one side; \
                 pairing does not cancel that."
            }
        },
        _ if fine => return None,
        Facts::Thermal { .. } if unknown => "Heat shows as drift, which cancels in pairs.",
        Facts::Virtualisation { .. } => {
            "The host decides frequency, heat and other guests; only the measurements above show \
             them."
        }
        _ if unknown => return None,
        Facts::Clock { .. } => {
            "deadheat makes samples long enough for this clock, so verdicts hold; a sample of a \
             short function takes more calls."
        }
        Facts::Speeds { avoided: true, .. } => {
            "Races use only the fast cores, unless --pin lists others."
        }
        Facts::Speeds { .. } => {
            "Functions race on the fast cores. Commands may run on any core, so intervals widen."
        }
        Facts::Governor { .. } => {
            "Changes of the frequency that take longer than a block cancel in pairs; changes within a \
             block widen intervals."
        }
        Facts::Turbo { .. } => {
            "A constant load affects both sides of a pair alike and cancels; a varying load widens \
             intervals."
        }
        Facts::Smt { .. } => {
            "The other thread has no effect while it is idle; if its load varies, intervals widen."
        }
        Facts::Steal { .. } => {
            "Lost time affects only one side of a pair, so intervals widen, but verdicts hold."
        }
        Facts::Load { .. } => {
            "Other tasks affect either side of a pair at random, so intervals widen, but verdicts \
             hold. --metric cpu counts only the contender's own time."
        }
        Facts::Isolation { .. } => "Races do not need an isolated core, but end sooner on one.",
        Facts::Interrupts { .. } => {
            "Interrupts affect both sides of a pair equally often, so short samples scatter more, \
             but verdicts hold."
        }
        Facts::Sharing { .. } => {
            "Commands that race side by side share a core and are compared by their CPU time. \
             Functions, and commands in turns, do not need fair sharing."
        }
        Facts::HugePages { .. } => {
            "Which process gets huge pages is random for every replicate, so intervals widen, but \
             neither side is favoured."
        }
        Facts::Swap { .. } => "A wait for a page from disk spoils the sample in which it happens.",
        Facts::Thermal { .. } => {
            "Slow drift cancels in pairs; a processor that slows down in bursts widens intervals."
        }
        Facts::Container { .. } => {
            "A process over its quota pauses until the period ends, on either side: some samples \
             last \
             a whole period longer, and intervals are wide."
        }
        Facts::Counters { .. } => {
            "Verdicts do not need hardware counters, but cycles and instructions are missing from \
             the answer."
        }
        Facts::Build { .. } => {
            "The readings above come from a slow build of deadheat. Contenders are built \
             separately."
        }
    })
}

const ONE_LAYOUT: &str = "Replicates share addresses: a lucky or unlucky layout looks like a \
                          difference in the code, and pairing does not cancel it.";

fn headline(checkup: &Checkup) -> String {
    let named = disturbing(checkup);
    let unknown = checkup.in_state(State::Unknown).count();
    let hidden = match unknown {
        0 => String::new(),
        n => format!(" {} gave no result.", counted(n as u64, "check", "checks")),
    };
    match checkup.fitness() {
        Fitness::Good => {
            format!("This machine is good for measuring: nothing disturbs it.{hidden}")
        }
        Fitness::Fair => format!(
            "This machine is fair for measuring: {named}. Paired races cope with that, but take \
             longer for the same answer.{hidden}"
        ),
        Fitness::Poor => {
            let lost = checkup.watch().map_or(0.0, |watch| watch.lost);
            let also = if named.is_empty() {
                String::new()
            } else {
                format!("; {named}")
            };
            format!(
                "This machine is poor for measuring: {} of the time is lost to other work{also}. \
                 Paired races cope with that, but small differences will be too close to \
                 call.{hidden}",
                share(lost)
            )
        }
    }
}

/// Returns a clause that names the disturbances; empty if there are none.
fn disturbing(checkup: &Checkup) -> String {
    let topics: Vec<Topic> = checkup
        .in_state(State::Disturbs)
        .map(|one| one.topic())
        .collect();
    let titles = texts(&topics, &|topic| title(*topic).to_owned());
    match topics.as_slice() {
        [] => String::new(),
        [one] if !is_plural(*one) => format!("{} disturbs it", title(*one)),
        _ => format!("{} disturb it", enumerated(&titles)),
    }
}

/// Returns a sentence that states the core and the duration of doctor's measurements, and that
/// doctor changed no setting.
fn measured(checkup: &Checkup) -> String {
    let place = match checkup.measured_on {
        Some(core) => format!("on core {core}"),
        None => "on cores that the scheduler chose".to_owned(),
    };
    format!(
        "Measured for {:.1} s {place}. No setting was changed.",
        checkup.seconds
    )
}

fn advice(checkup: &Checkup) -> String {
    let advice = &checkup.advice;
    let option = option(&advice.pinning);
    let these = cores(&advice.cores);
    match advice.reason {
        PinReason::Isolated => format!("Race on {these}, which is isolated: {option}"),
        PinReason::Quietest => {
            let lost = |watch: Option<&CoreWatch>| share(watch.map_or(0.0, |watch| watch.lost));
            let chosen =
                |watch: &&CoreWatch| watch.core.is_some_and(|core| advice.cores.contains(&core));
            let others = checkup.cores.iter().filter(|watch| !chosen(watch));
            let next = others.min_by(|one, other| one.lost.total_cmp(&other.lost));
            format!(
                "Race on {these}: other work took {} of its time, and {} or more on the others: {option}",
                lost(checkup.cores.iter().find(chosen)),
                lost(next),
            )
        }
        PinReason::Alike => match advice.pinning {
            Pinning::Auto => format!(
                "No core is clearly quieter than the others: {option}, which pins commands to \
                 {these} and picks a random core for every replicate of functions"
            ),
            _ => format!("None of {these} is clearly quieter than the others: {option}"),
        },
        PinReason::OnlyOne => {
            format!("deadheat may use only {these}, so pinning would change nothing: {option}")
        }
        PinReason::NotCompared => match advice.pinning {
            Pinning::Auto => format!(
                "doctor did not compare cores, because of --pin none; without it, doctor compares \
                 them. Until then: {option}"
            ),
            _ => format!("doctor examined only {these}; to race there: {option}"),
        },
    }
}

fn example(checkup: &Checkup) -> String {
    let started = match remedies::start_with(checkup) {
        Some(taskset) => format!("{taskset} "),
        None => String::new(),
    };
    let option = option(&checkup.advice.pinning);
    format!("{started}deadheat run {option} -- './old' './new'")
}

fn option(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Inherit => "--pin none".to_owned(),
        Pinning::Auto => "--pin auto".to_owned(),
        Pinning::Cores(cores) => format!("--pin {}", list(cores)),
    }
}
