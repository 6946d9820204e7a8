//! Sentences about warnings: what was observed, and what to do about it; and the order of warnings.

use deadheat_model::{ClockCause, Comparison, Metric, Observation, Side, Unit, Verdict, Warning};

use crate::aspects::dropped::{self, DISTURBED};
use crate::aspects::{placement, side_by_side};
use crate::document::{Note, Severity};
use crate::glyphs::Glyphs;
use crate::names::{enumerated, first_of, shown, texts};
use crate::processes;
use crate::sentences::{self, Source, observations};
use crate::surroundings;
use crate::units::{Precision, counted, p_is, quantity, share, two_digits};

/// A warning or a note as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarningText {
    /// True for a note, which only helps to read the result and gives no reason to doubt it.
    pub information: bool,
    /// The name of the warning in JSON.
    pub code: &'static str,
    /// The sentences.
    pub text: String,
}

impl WarningText {
    fn new(warning: &Warning, text: String) -> Self {
        Self {
            information: is_information(warning),
            code: warning.code(),
            text,
        }
    }

    /// Returns the warnings of a whole run, followed by its notes.
    pub(crate) fn of_run(warnings: &[Warning], source: Source, glyphs: Glyphs) -> Vec<Self> {
        let mut texts = Vec::with_capacity(warnings.len());
        for one in in_order(warnings) {
            texts.push(Self::new(one, sentence(one, None, source, glyphs)));
        }
        texts
    }

    pub(crate) fn notes(texts: Vec<Self>) -> Vec<Note> {
        let mut notes = Vec::with_capacity(texts.len());
        for one in texts {
            let severity = if one.information {
                Severity::Note
            } else {
                Severity::Warning
            };
            notes.push(Note::of(severity, one.text));
        }
        notes
    }

    /// Creates a warning that is not part of the analysis.
    pub fn doubt(code: &'static str, text: String) -> Self {
        Self {
            information: false,
            code,
            text,
        }
    }

    /// Creates a note that is not part of the analysis.
    pub fn note(code: &'static str, text: String) -> Self {
        Self {
            information: true,
            ..Self::doubt(code, text)
        }
    }
}

/// The largest change that we have measured from link order alone, as a share: two copies of a
/// branchy sum with twelve link orders (docs/validation/placement.md).
const LARGEST_BY_PLACEMENT: f64 = 0.46;

/// Returns true if the verdict is faster, slower or a dead heat.
pub(crate) fn is_decided(comparison: &Comparison) -> bool {
    let verdict = comparison.verdict;
    verdict.is_some_and(|verdict| verdict != Verdict::Inconclusive)
}

/// Returns true if a warning affects how the verdict is read, as most warnings do. Notes about the
/// link order count only if the link order could have caused the change. Notes about unmatched
/// builds count only if the race is too close to call. Notes about an early stop or missing
/// readings never count.
fn earns_its_place(warning: &Warning, comparison: &Comparison) -> bool {
    let could_be_placement = || {
        let effect = comparison.estimate.as_ref().map(|one| one.effect.change());
        is_decided(comparison)
            && effect.is_some_and(|by| by.abs() <= reach_of_placement(comparison))
    };
    match warning {
        Warning::EarlyStop { .. }
        | Warning::NoCounters { .. }
        | Warning::WaitingUnread { .. }
        | Warning::ClockFallback { .. } => false,
        Warning::BuildsUnmatched { .. } => comparison.verdict == Some(Verdict::Inconclusive),
        Warning::PlacementFixed { reason: None } | Warning::Unsectioned { .. } => {
            could_be_placement()
        }
        _ => true,
    }
}

/// Returns the largest change of this benchmark that code placement could cause. Placement changes
/// only CPU time, and not the time spent waiting.
fn reach_of_placement(comparison: &Comparison) -> f64 {
    let cpu = comparison
        .metrics
        .iter()
        .find(|row| row.metric == Metric::Cpu);
    let share = |cpu: &Side, wall: &Side| (cpu.median / wall.median).min(1.0);
    let busy = match (cpu, &comparison.terms.metric) {
        (Some(cpu), Metric::Wall) if comparison.baseline.median > 0.0 => {
            let candidate = cpu.candidate.as_ref().zip(comparison.candidate.as_ref());
            let candidate = candidate.filter(|(_, wall)| wall.median > 0.0);
            let candidate = candidate.map_or(0.0, |(cpu, wall)| share(cpu, wall));
            share(&cpu.baseline, &comparison.baseline).max(candidate)
        }
        _ => 1.0,
    };
    LARGEST_BY_PLACEMENT * busy
}

fn brief_sentence(warning: &Warning, of: &Comparison, source: Source, glyphs: Glyphs) -> String {
    match warning {
        Warning::PlacementFixed { reason } => {
            placement::fixed_briefly(reason.as_deref(), LARGEST_BY_PLACEMENT, source, glyphs)
        }
        other => sentence(other, Some(of), source, glyphs),
    }
}

/// Returns true for notes, which only help to read the result. Nearly every race has notes, for
/// example about an early stop, so notes must not hide the warnings.
pub fn is_information(warning: &Warning) -> bool {
    matches!(
        warning,
        Warning::EarlyStop { .. }
            | Warning::PlacementFixed { .. }
            | Warning::LinksRefused { .. }
            | Warning::OwnLinkApart { .. }
            | Warning::TurnsApart { .. }
            | Warning::BuildsUnmatched { .. }
            | Warning::Unsectioned { .. }
            | Warning::NoCounters { .. }
            | Warning::CountedByCallgrind
            | Warning::WaitingUnread { .. }
            | Warning::ClockFallback { .. }
    )
}

/// Returns the warnings first, then the notes, otherwise in their order.
pub fn in_order(warnings: &[Warning]) -> Vec<&Warning> {
    warnings_first(warnings.iter().collect(), |warning| is_information(warning))
}

/// Moves the notes behind the warnings; otherwise keeps the order. Partitioning takes 1/20 of the
/// machine code of a sort.
pub(crate) fn warnings_first<T>(all: Vec<T>, is_information: impl Fn(&T) -> bool) -> Vec<T> {
    let (information, mut ordered): (Vec<T>, Vec<T>) = all.into_iter().partition(is_information);
    ordered.extend(information);
    ordered
}

/// Returns the warnings of one benchmark, each once. A warning that does not apply to all
/// candidates names its candidates. `candidates` has the label of each comparison's candidate.
pub fn messages(
    comparisons: &[Comparison],
    candidates: &[&str],
    source: Source,
    glyphs: Glyphs,
) -> Vec<WarningText> {
    let all =
        |of: &Comparison, warning: &Warning| Some(sentence(warning, Some(of), source, glyphs));
    messages_in(comparisons, candidates, all)
}

/// Returns the warnings that affect how the verdict is read, in their short form; otherwise like
/// [`messages`].
pub(crate) fn brief_messages(
    comparisons: &[Comparison],
    candidates: &[&str],
    source: Source,
    glyphs: Glyphs,
) -> Vec<WarningText> {
    messages_in(comparisons, candidates, |comparison, warning| {
        earns_its_place(warning, comparison)
            .then(|| brief_sentence(warning, comparison, source, glyphs))
    })
}

/// Returns the warnings with the texts from `words`; warnings for which it returns `None` are
/// omitted.
fn messages_in(
    comparisons: &[Comparison],
    candidates: &[&str],
    words: impl Fn(&Comparison, &Warning) -> Option<String>,
) -> Vec<WarningText> {
    // The text, its candidates, and whether the text itself names them.
    let mut said: Vec<(WarningText, Vec<String>, bool)> = Vec::new();
    for (comparison, candidate) in comparisons.iter().zip(candidates) {
        for warning in in_order(&comparison.warnings) {
            let Some(text) = words(comparison, warning) else {
                continue;
            };
            let one = WarningText::new(warning, text);
            match said.iter_mut().find(|(other, ..)| *other == one) {
                Some((_, concerned, _))
                    if concerned.last().is_some_and(|last| last == candidate) => {}
                Some((_, concerned, _)) => concerned.push((*candidate).to_owned()),
                None => {
                    let named = matches!(
                        warning,
                        Warning::OptimisedAway { .. } | Warning::WorkerNote { .. }
                    );
                    said.push((one, vec![(*candidate).to_owned()], named));
                }
            }
        }
    }
    let mut texts = Vec::with_capacity(said.len());
    for (mut one, concerned, named) in said {
        if !named && concerned.len() != comparisons.len() {
            one.text = format!("'{}': {}", concerned.join("', '"), one.text);
        }
        texts.push(one);
    }
    warnings_first(texts, |one| one.information)
}

/// Formats counts of verdicts: "1 slower, 3 dead heats".
fn verdicts([faster, slower, even, open]: [usize; 4]) -> String {
    let even_words = if even == 1 { "dead heat" } else { "dead heats" };
    let all = [
        (faster, "faster"),
        (slower, "slower"),
        (even, even_words),
        (open, "too close to call"),
    ];
    let told = all.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    told.join(", ")
}

fn unit_of_work(source: Source) -> &'static str {
    match source {
        Source::Functions | Source::Programs => "call",
        Source::Servers => "burst",
        Source::Harness => "iteration",
        Source::Commands => "launch",
        Source::Recording => "sample",
    }
}

/// Joins advice into a sentence: " Judge CPU time (--metric cpu), or pin the contenders to one
/// core."; empty without advice.
fn one_of_these(advice: &[&str]) -> String {
    let advice: Vec<&str> = advice
        .iter()
        .copied()
        .filter(|one| !one.is_empty())
        .collect();
    let joined = advice.join(", or ");
    let mut letters = joined.chars();
    match letters.next() {
        Some(first) => format!(" {}{}.", first.to_ascii_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

/// Returns true if the race recorded CPU time, but judges another metric.
fn has_cpu_time(comparison: &Comparison) -> bool {
    let mut metrics = comparison.metrics.iter();
    comparison.terms.metric != Metric::Cpu && metrics.any(|row| row.metric == Metric::Cpu)
}

/// Returns a warning or note as sentences: what was observed, and what to do about it. `of` is the
/// comparison that it is about; `None` for a warning about the whole run.
pub fn sentence(
    warning: &Warning,
    of: Option<&Comparison>,
    source: Source,
    glyphs: Glyphs,
) -> String {
    let (judge_cpu, busy) = match of.is_some_and(has_cpu_time) {
        true => (
            "judge CPU time (--metric cpu)",
            " On a busy machine, judge CPU time (--metric cpu).",
        ),
        false => ("", ""),
    };
    let change = |value: f64| Precision::of(None).signed(value, glyphs);
    let or_go_on = source.resume().map_or_else(String::new, |command| {
        format!(", or continue with {command}")
    });
    let again = match source {
        Source::Recording => "Record more replicates and analyze them together.".to_owned(),
        Source::Commands => {
            format!("Allow more with -r, --max-replicates or --budget{or_go_on}.")
        }
        _ => format!("Allow more with --max-replicates or --budget{or_go_on}."),
    };
    let more_work = format!(
        "Give every {} more work, such as a larger input.",
        unit_of_work(source)
    );
    match warning {
        Warning::FewReplicates { have, need } => {
            let of_quantile = of.is_some_and(|one| one.terms.quantile.is_some());
            let again = match source {
                // The number of launches in a replicate depends on the quantile.
                Source::Commands if of_quantile => format!(
                    "Allow more: leave -r out, or raise -r, --max-replicates or --budget{or_go_on}."
                ),
                Source::Commands => format!(
                    "Allow more: -r {} for two commands (-r {need} for three or more), a higher \
                     --max-replicates in place of -r, or a higher --budget{or_go_on}.",
                    2 * need
                ),
                _ => again,
            };
            let measured = counted(*have as u64, "replicate was", "replicates were");
            format!("{measured} measured, and a verdict needs {need}. {again}")
        }
        Warning::SingleBlocks { replicates } => format!(
            "The recording has {replicates} replicates of one block each; with so few the \
             interval is a little too narrow (measured: 92% at 6 and 94% at 11 instead of \
             95%). Record more replicates, or more blocks in each."
        ),
        Warning::Provisional => format!(
            "There is one replicate only, so memory was laid out once and the verdict is \
             provisional. {again}"
        ),
        Warning::ZeroTimes { share: zeros } => format!(
            "{} of the values were zero and count as half a tick of the clock. {more_work}",
            share(*zeros)
        ),
        Warning::TooManyZeros { share: zeros } => format!(
            "{} of the values were zero, too many to form ratios. Judge a metric that is not zero \
             (--metric), or, if these are times, give every {} more work.",
            share(*zeros),
            unit_of_work(source)
        ),
        Warning::CoarseClock { ticks } => format!(
            "A sample lasts only {} of the clock, so rounding hides small changes. {more_work}",
            if *ticks < 1.5 {
                "one tick".to_owned()
            } else {
                format!("{ticks:.0} ticks")
            }
        ),
        Warning::Ties { share: ties } => format!(
            "In {} of the blocks both sides have the same value: the clock or counter is too \
             coarse for them. Give every {} more work, or judge another --metric.",
            share(*ties),
            unit_of_work(source)
        ),
        Warning::TimerLimited => format!(
            "The values show no scatter at all, so only the resolution of the clock sets the \
             interval. Give every {} more work.",
            unit_of_work(source)
        ),
        Warning::Bimodal => format!(
            "The replicates fall into groups that disagree, so the interval may be too narrow. \
             {}",
            source.pick(
                // deadheat already gives each of these processes a core, so pinning is not advised.
                "The layout of code and data in memory can cause that. Raise --max-replicates.",
                "Raise -r or --max-replicates, pin the contenders to one core with --pin auto, and \
                 add warm-up launches with -w.",
                "Record more replicates, on a machine that does nothing else.",
            )
        ),
        Warning::TailDiffers {
            baseline,
            candidate,
            mean_change,
        } => {
            let seen = if *baseline + *candidate > 0.0 {
                format!(
                    "{} of the baseline's samples and {} of the candidate's lie above three times \
                     the median of their side, and the mean",
                    share(*baseline),
                    share(*candidate)
                )
            } else {
                "the mean".to_owned()
            };
            let advice = source.pick(
                "",
                "; if the first launches are slow, warm up with -w",
                "; if the first samples are the slow ones, warm up before recording",
            );
            format!(
                "The tail differs: {seen} changed by {}. If the slow samples matter, compare the \
                 means too{advice}.",
                change(*mean_change)
            )
        }
        Warning::BlocksDropped {
            count,
            change_with_all,
            verdict_with_all,
        } => format!(
            "{} and the answer \"{}\", so {} on a quieter machine.",
            dropped::dropped(*count, DISTURBED, &change(*change_with_all)),
            sentences::verdict_word_of(*verdict_with_all),
            source.pick("race again", "race again with --pin auto", "record again")
        ),
        Warning::DisturbedUnevenly { p } => format!(
            "The two sides were disturbed at different rates ({}), so disturbed samples were \
             kept: a contender may itself cause the disturbance.{}",
            p_is(*p),
            one_of_these(&[
                judge_cpu,
                source.pick(
                    "",
                    "pin the contenders to one core with --pin auto",
                    "pin the contenders to one core",
                ),
            ])
        ),
        Warning::DisturbedTooOften { share: blocks } => format!(
            "{} of the blocks were disturbed by other work, too many to leave out, so all were \
             kept.{}",
            share(*blocks),
            one_of_these(&[
                "quieten the machine",
                source.pick("", "try --pin auto", ""),
                judge_cpu,
            ])
        ),
        Warning::CutShort {
            count,
            of,
            blocks,
            kept,
        } => sentences::cut_short((*count, *of), *blocks, *kept),
        Warning::GpuClock {
            count,
            of,
            blocks,
            kept,
        } => sentences::gpu_clock((*count, *of), *blocks, *kept),
        Warning::WaitingOfItsOwn {
            contenders,
            share: part,
        } => {
            let (own, whose, whom) = match contenders.len() {
                1 => ("its own", "its samples", "It"),
                _ => ("their own", "their samples", "They"),
            };
            format!(
                "'{}' had threads or child processes of {own}, or another priority (nice), in {} of \
                 {whose}. {whom} may have caused {own} waiting, so time spent waiting for a core is \
                 kept in all samples.{}",
                texts(contenders, &|name| shown(name, 60, glyphs)).join("' and '"),
                share(*part),
                busy
            )
        }
        Warning::WaitingUnread { share: part } => format!(
            "In {} of the samples the kernel's scheduling delay (/proc/thread-self/schedstat) was \
             unreadable, zero or decreasing, so it is not excluded.{}",
            share(*part),
            busy
        ),
        Warning::ProcessesDiffer { differences } => {
            let sentences = differences
                .iter()
                .map(|one| processes::difference(one, glyphs));
            sentences.collect::<Vec<_>>().join(" ")
        }
        Warning::LeftBehind { by, process } => format!(
            "{} left processes running ('{}'). deadheat killed them, because they would run during \
             the samples of the other side. If a server is to run during the whole race, start it \
             in --setup.",
            some_quoted(by, glyphs),
            shown(process, NAME, glyphs)
        ),
        Warning::BenchmarkDiffers {
            files,
            benches_from,
        } => surroundings::benchmark_differs(files, benches_from.as_deref(), glyphs),
        Warning::LinksRefused { seeds, reason } => placement::refused(seeds, reason, glyphs),
        Warning::BuildsUnmatched { reason } => placement::unmatched(reason.as_deref(), glyphs),
        Warning::OwnLinkApart { apart } => placement::apart(*apart),
        Warning::TurnsApart { apart } => side_by_side::turns_apart(*apart),
        Warning::ControlSeparated {
            benchmark,
            change,
            separated,
            of,
        } => control_separated((benchmark, *change), (*separated, *of), source, glyphs),
        Warning::Unsectioned { objects } => placement::unsectioned(objects, glyphs),
        Warning::PlacementFixed { reason } => placement::fixed(reason.as_deref(), source, glyphs),
        Warning::ClocksDisagree { wall, cpu, cause } => format!(
            "Wall time changed by {} and CPU time by {}: {}",
            change(*wall),
            change(*cpu),
            match cause {
                ClockCause::Preempted if source == Source::Recording =>
                    "wall time was disturbed, because other tasks used the core. Trust CPU time \
                     (--metric cpu), or record again on a quieter machine.",
                ClockCause::Preempted =>
                    "wall time was disturbed, because other tasks used the core. Trust CPU time \
                     (--metric cpu), or race again on a quieter machine.",
                ClockCause::Waited =>
                    "a contender waits, and CPU time does not count waiting. Trust wall time, and \
                     look for input, output, sleep and locks.",
                ClockCause::Unknown =>
                    "waiting, other tasks or parallel work explain the difference between the \
                     two. On a busy machine, trust CPU time (--metric cpu); on a quiet one, \
                     look for input, output and locks.",
            }
        ),
        Warning::EarlyStop {
            replicates,
            planned,
        } => format!(
            "The race was decided after {replicates} of at most {planned} replicates; an estimate \
             at an early stop slightly exaggerates the change. For a more exact estimate, {}.",
            source.pick(
                "raise --blocks",
                "set the number of launches with -r",
                "set the number of launches with -r",
            )
        ),
        Warning::BudgetSpent {
            replicates,
            planned,
        } => format!(
            "The time budget ended the race after {replicates} of at most {planned} replicates. \
             Raise --budget{or_go_on}."
        ),
        Warning::JudgedAnytime => "The run was interrupted, cut short or resumed, so the interval \
             is the wider one that holds at any time. A run that ends as planned gets a narrower \
             interval; --budget and --max-replicates set the plan."
            .to_owned(),
        Warning::Unpaired { each } => format!(
            "The samples do not record which were taken together. If one side ran after the other, \
             any drift of the machine counts as change, so every verdict is provisional. {} Interleave them: race the contenders with deadheat bench or \
             deadheat run, or record replicate, block and slot.",
            match each {
                Observation::File => "Each file counts as one observation, however much it holds.",
                Observation::Process =>
                    "Each process counts as one observation, however many samples it gave.",
                Observation::Sample =>
                    "They do not name their processes either, so the analysis assumes one process, with \
                     one memory layout, per side, and the interval allows for that.",
            }
        ),
        Warning::InTurns => "The files were recorded in turns, so each is compared with its \
             neighbour in time. The order within a pair was not random, so every verdict is \
             provisional."
            .to_owned(),
        Warning::FewObservations {
            baseline,
            candidate,
            need,
            each,
        } => match (baseline, candidate, each) {
            (1, 1, Observation::Process) => format!(
                "There is only one process per side, so the variation between processes is unknown, \
                 however many samples each gave. There is no interval and no verdict; {need} \
                 processes per side give both."
            ),
            (1, 1, Observation::File) => format!(
                "There is only one recording per side, so the variation from recording to recording is \
                 unknown, however many processes each holds. There is no interval and no verdict; \
                 {need} recordings per side give both."
            ),
            _ => format!(
                "{} were recorded, and a verdict needs {need} per side. Record more of them, the \
                 two sides in turns.",
                observations(*baseline, *candidate, *each)
            ),
        },
        Warning::StandsOut { z } => format!(
            "The distance of this change from the median of all rows is {} times the scatter of \
             the rows. One recording per side allows no verdict, but look at this row first.",
            two_digits(*z)
        ),
        Warning::StandsApart {
            file,
            rows,
            of,
            distance,
            without,
        } => format!(
            "{} differs from the other files of its side in {rows} of {} (median difference {}); \
             check what else ran while it was recorded. Without it: {}.",
            shown(file, 60, glyphs),
            counted(*of as u64, "row", "rows"),
            change(distance.change()),
            verdicts(*without),
        ),
        Warning::RecordedInOrder { first, last } => format!(
            "All files of '{}' were recorded before the first of '{}', so whatever changed on the \
             machine in between counts as change. Record the two in turns.",
            quoted(first, glyphs),
            quoted(last, glyphs)
        ),
        Warning::OnlySummaries { statistic } => format!(
            "At least one side keeps only its {}, a single number without its uncertainty. Save every repetition (Google Benchmark: without \
             --benchmark_report_aggregates_only; tinybench and Vitest 5: with retainSamples).",
            shown(statistic, 40, glyphs)
        ),
        Warning::DifferentMachines {
            baseline,
            candidate,
        } => format!(
            "The sides were not recorded on the same machine: {} and {}. The machines may cause \
             the difference.",
            quoted(baseline, glyphs),
            quoted(candidate, glyphs)
        ),
        Warning::DifferentTools {
            baseline,
            candidate,
        } => format!(
            "The sides were not recorded by the same tool and runtime: {} and {}. They may \
             measure time differently.",
            quoted(baseline, glyphs),
            quoted(candidate, glyphs)
        ),
        Warning::SameRecordings { by_criterion: true } => {
            "The values of both sides are equal, so the change is 0. criterion copies what it \
             measures to the set 'base' after every run. Save a baseline before the change \
             (cargo bench -- --save-baseline NAME) and name it: deadheat compare FOLDER NAME."
                .to_owned()
        }
        Warning::SameRecordings {
            by_criterion: false,
        } => "The values of both sides are equal, so the change is 0. If both sides are the same \
             recording, name two recordings."
            .to_owned(),
        Warning::SharedRecordings { files } => format!(
            "Both sides hold the {} of {}, which pulls the change towards 0. Name each \
             recording on one side only.",
            recordings(files),
            some_quoted(files, glyphs)
        ),
        Warning::CopiedRecordings { side, files } => format!(
            "Each recording counts once: other files of '{}' already hold the {} of {}.",
            quoted(side, glyphs),
            recordings(files),
            some_quoted(files, glyphs)
        ),
        Warning::RepeatedNames { names } => format!(
            "Several benchmarks of one file have the same name. Only their order pairs them with \
             those of other files: {}. Give each a name of its own.",
            some_quoted(names, glyphs)
        ),
        Warning::CpuScaling { sides } => format!(
            "CPU frequency scaling was on while {} recorded. Set the governor to performance, or \
             interleave the two sides.",
            were(sides, glyphs)
        ),
        Warning::DebugRecording { sides } => format!(
            "{} recorded with a debug build, so this may not be the code that you ship.",
            were(sides, glyphs)
        ),
        Warning::CountedByCallgrind => match source {
            Source::Commands => "Callgrind counted all instructions of each command and of the \
                 programs it executes. No time was measured, because a program runs many times \
                 slower under callgrind."
                .to_owned(),
            _ => "Callgrind counted all instructions. No time was measured, because a program runs \
                 many times slower under callgrind."
                .to_owned(),
        },
        Warning::NoCounters { reason } => format!(
            "Hardware counters could not be read ({}), so cycles and instructions are \
             missing.",
            shown(reason, 200, glyphs)
        ),
        Warning::ClockFallback { reason } => format!(
            "Samples were timed by the system clock instead of the processor's counter ({}). \
             Reading it takes longer, which shows in very short samples.",
            shown(reason, 200, glyphs)
        ),
        Warning::DebugBuild => "The code was built with debug assertions, so this is not the code that you ship. Build it with optimisation, as cargo bench does, and race again."
            .to_owned(),
        Warning::OptimisedAway { contender, ns } => format!(
            "{} of '{}' takes {}, less than a cycle of the processor, so the compiler has removed its work. {}",
            match source {
                Source::Harness => "An iteration",
                _ => "A call",
            },
            shown(contender, 60, glyphs),
            quantity(Unit::Nanoseconds, *ns, glyphs),
            match source {
                Source::Programs =>
                    "Hide its input from the compiler and use its result, as black_box \
                     does in Rust.",
                Source::Harness =>
                    "Pass its input and its result through benchmark::DoNotOptimize.",
                _ => "Pass its input through black_box, and return its result.",
            }
        ),
        Warning::WorkerNote { note } => shown(note, WORKER_NOTE, glyphs),
        Warning::StillWarming { change: by } => match source {
            Source::Servers => format!(
                "The first quarter of the bursts of a server differs from the last by {}, so the server \
                 was still warming up. More blocks in a replicate (--blocks) give that less weight.",
                change(*by)
            ),
            Source::Programs => format!(
                "The first quarter of the samples of a process differs from the last by {}, so the \
                 interpreter was still compiling or specialising the code. More blocks in a \
                 replicate (--blocks) give that less weight.",
                change(*by)
            ),
            _ => format!(
                "The first counted iterations differ from the later ones by {}, so the benchmark was \
                 still warming up. docs/suites.md explains how to lengthen the warm-up of JMH.",
                change(*by)
            ),
        },
        Warning::DirectionUnknown { metric } => format!(
            "It is unknown whether less or more of '{}' is better, so its change is neither faster nor \
             slower.",
            quoted(metric, glyphs)
        ),
        Warning::ExitCodesDiffer {
            baseline,
            candidate,
        } => format!(
            "{} of the baseline's launches and {} of the candidate's ended with an exit code other than 0, \
             so the two may not have done the same work.",
            share(*baseline),
            share(*candidate)
        ),
        Warning::ShortCommand { median_ns } => format!(
            "A launch takes only {}, so starting the process is a large part of what is timed. \
             Give the commands more work.",
            quantity(Unit::Nanoseconds, *median_ns, glyphs)
        ),
    }
}

/// Escapes and shortens a text from another program.
fn quoted(text: &str, glyphs: Glyphs) -> String {
    shown(text, 120, glyphs)
}

fn recordings(files: &[String]) -> &'static str {
    match files {
        [_] => "recording",
        _ => "recordings",
    }
}

/// Quotes the first names and counts the rest: "'a', 'b' and 3 more".
fn some_quoted(names: &[String], glyphs: Glyphs) -> String {
    let names = texts(names, &|name| format!("'{}'", quoted(name, glyphs)));
    first_of(names, NAMED)
}

/// Returns the sides with a verb: "'a' and 'b' were".
fn were(sides: &[String], glyphs: Glyphs) -> String {
    let quoted = texts(sides, &|side| format!("'{}'", quoted(side, glyphs)));
    let verb = if sides.len() == 1 { "was" } else { "were" };
    format!("{} {verb}", enumerated(&quoted))
}

/// Maximum width, in columns, of a message from a worker.
const WORKER_NOTE: usize = 600;

const NAME: usize = 80;

/// Returns the warning that a control differs from its baseline, and what to do about it.
fn control_separated(
    (benchmark, change): (&str, f64),
    (separated, of): (usize, usize),
    source: Source,
    glyphs: Glyphs,
) -> String {
    let name = shown(benchmark, NAME, glyphs);
    let change = Precision::of(None).signed(change, glyphs);
    let others = match (separated, of) {
        (_, 1) => String::new(),
        (1, of) => format!(", as the only one of {of} controls"),
        (separated, of) => format!(", and {separated} of {of} controls differ"),
    };
    let advice = match source {
        Source::Commands => {
            "Pin the commands to one core with --pin auto, stop other work on the machine, and \
             race \
             again"
        }
        _ => "Stop other work on the machine, and race again",
    };
    format!(
        "The baseline of '{name}' differs by {change} from a second copy of itself{others}. Chance \
         rarely explains that, so differences of this size prove nothing here, and every verdict \
         of this run is provisional. {advice}; deadheat doctor looks for the cause."
    )
}

/// Returns the remarks that an answer shows once instead of for every benchmark: notes that several
/// benchmarks share, and warnings that all share. A warning that does not apply to all benchmarks
/// stays with those to which it applies.
pub(crate) fn shared_warnings(doubts: &[Vec<WarningText>]) -> Vec<WarningText> {
    let mut shared: Vec<WarningText> = Vec::new();
    for one in doubts.iter().flatten() {
        if shared.contains(one) {
            continue;
        }
        let times = doubts.iter().filter(|group| group.contains(one)).count();
        let common = times > 1 && (one.information || times == doubts.len());
        if common {
            shared.push(one.clone());
        }
    }
    warnings_first(shared, |one| one.information)
}

/// Adds the titles of the benchmarks to shared remarks that do not apply to all of them.
pub(crate) fn attributed(
    shared: &[WarningText],
    doubts: &[Vec<WarningText>],
    titles: &[String],
) -> Vec<WarningText> {
    texts_of(shared, |one| {
        let concerned = titles.iter().zip(doubts);
        let concerned = concerned.filter(|(_, texts)| texts.contains(one));
        let concerned: Vec<&str> = concerned.map(|(title, _)| title.as_str()).collect();
        if concerned.len() == doubts.len() {
            one.text.clone()
        } else {
            format!("{}: {}", named(&concerned), one.text)
        }
    })
}

fn texts_of(all: &[WarningText], words: impl Fn(&WarningText) -> String) -> Vec<WarningText> {
    let mut texts = Vec::with_capacity(all.len());
    for one in all {
        let text = words(one);
        texts.push(WarningText {
            text,
            ..one.clone()
        });
    }
    texts
}

/// A sentence lists at most this many benchmarks.
const NAMED: usize = 4;

/// Merges the remarks on a suite that shows only one line per benchmark. Each remark appears once,
/// warnings first, with its benchmarks unless it applies to all. If the texts of one kind of
/// warning differ between benchmarks, only the first text is shown, with the titles of the other
/// benchmarks. A remark for which `holds_for_all` is true names no benchmarks, even if only some of
/// them report it.
pub(crate) fn merged_by_kind(
    benchmarks: &[(String, Vec<WarningText>)],
    holds_for_all: impl Fn(&WarningText) -> bool,
) -> Vec<WarningText> {
    let mut together: Vec<(WarningText, Vec<&str>, bool)> = Vec::new();
    for (title, texts) in benchmarks {
        for one in texts {
            match together.iter_mut().find(|(first, ..)| {
                first.code == one.code && (first.text == one.text || !is_of_groups(one))
            }) {
                Some((first, titles, differ)) => {
                    *differ |= first.text != one.text;
                    if titles.last() != Some(&title.as_str()) {
                        titles.push(title);
                    }
                }
                None => together.push((one.clone(), vec![title], false)),
            }
        }
    }
    let all = benchmarks.len();
    let mut merged = Vec::with_capacity(together.len());
    for (one, titles, differ) in together {
        let text = match (differ, &titles[..]) {
            (false, titles) if titles.len() == all || holds_for_all(&one) => one.text,
            (true, [first, others @ ..]) if !others.is_empty() => {
                let others = named(others);
                format!(
                    "'{first}': {} The same applies to {others} (-v shows the details).",
                    one.text
                )
            }
            (_, titles) => format!("{}: {}", named(titles), one.text),
        };
        merged.push(WarningText { text, ..one });
    }
    warnings_first(merged, |one| one.information)
}

/// Returns true for a kind of warning whose texts are not merged, because each text names the cause
/// for one group of benchmarks.
fn is_of_groups(one: &WarningText) -> bool {
    one.code == "benchmark-differs"
}

fn named(titles: &[&str]) -> String {
    first_of(texts(titles, &|title| format!("'{title}'")), NAMED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(information: bool, text: &str) -> WarningText {
        WarningText {
            information,
            code: if information { "note" } else { "doubt" },
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_suite_is_told_each_thing_once_and_of_whom() {
        let (note, doubt) = (told(true, "Linked once."), told(false, "Groups disagree."));
        let other = told(false, "Groups disagree by 3%.");
        let suite = |told: [Vec<WarningText>; 3]| {
            let titles = ["a", "b", "c"].map(str::to_owned);
            let told = titles.into_iter().zip(told).collect::<Vec<_>>();
            let told = merged_by_kind(&told, |one| one.information && one.text == "Linked once.");
            told.into_iter().map(|one| one.text).collect::<Vec<_>>()
        };
        let mixed = suite([vec![note.clone()], vec![doubt.clone(), note], vec![]]);
        assert_eq!(mixed, ["'b': Groups disagree.", "Linked once."]);
        let all = suite([
            vec![doubt.clone()],
            vec![doubt.clone()],
            vec![doubt.clone()],
        ]);
        assert_eq!(all, ["Groups disagree."]);
        let apart = told(true, "Your link differs.");
        let one_of_three = suite([vec![], vec![apart], vec![]]);
        assert_eq!(one_of_three, ["'b': Your link differs."]);
        let differ = suite([vec![doubt], vec![], vec![other]]);
        let words = ["'a': Groups disagree. The same applies to 'c' (-v shows the details)."];
        assert_eq!(differ, words);
    }

    #[test]
    fn what_concerns_some_benchmarks_only_stays_with_them() {
        let (note, doubt) = (told(true, "linked once"), told(false, "bimodal"));
        let all = told(false, "interrupted");
        let groups = [
            vec![doubt.clone(), note.clone(), all.clone()],
            vec![doubt, note.clone(), all.clone()],
            vec![all.clone()],
        ];
        let shared = shared_warnings(&groups);
        assert_eq!(shared, [all, note]);
        let titles = ["a", "b", "c"].map(str::to_owned);
        let told = attributed(&shared, &groups, &titles);
        let told: Vec<&str> = told.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(told, ["interrupted", "'a' and 'b': linked once"]);
    }

    #[test]
    fn one_benchmark_shares_nothing() {
        assert_eq!(shared_warnings(&[vec![told(true, "linked once")]]), []);
    }

    #[test]
    fn it_says_how_many_separated_where_there_are_several() {
        let told =
            |found, source| control_separated(("parse\n", 0.031), found, source, Glyphs::Ascii);
        let only = told((1, 1), Source::Functions);
        assert!(
            only.starts_with(
                "The baseline of 'parse\\n' differs by +3.10% from a second copy of itself. "
            ),
            "{only}"
        );
        assert!(!only.contains("--pin"), "{only}");
        let one = told((1, 12), Source::Functions);
        assert!(
            one.contains("itself, as the only one of 12 controls."),
            "{one}"
        );
        let some = told((3, 12), Source::Commands);
        assert!(some.contains("and 3 of 12 controls differ."), "{some}");
        assert!(some.contains("--pin auto"), "{some}");
    }
}
