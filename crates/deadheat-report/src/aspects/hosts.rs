//! Sentences, a table and JSON about the hosts of a run in which several machines raced.

use deadheat_model::{
    AcrossHosts, Comparison, Conditions, Disturbance, HostKind, HostRow, Json, Limits, LogRatio,
    Object,
};

use super::control::to_json as control_json;
use crate::cells::{change_cells, interval_head};
use crate::cost::{change_head, hosts_in_cost};
use crate::document::{Kind, Table};
use crate::glyphs::Glyphs;
use crate::json_parts::{all, ends, estimated, some};
use crate::names::{enumerated, gathered, shown, some_of};
use crate::units::{bytes, counted, effect, range, spread, two_digits};

const CPU: usize = 40;

/// Returns sentences about the hosts that the verdict covers, the differences between the hosts,
/// the hosts that are excluded or missing, and the change on each processor model if the models
/// differ.
pub(crate) fn sentences(comparison: &Comparison, glyphs: Glyphs) -> Vec<String> {
    let Some(across) = hosts_in_cost(comparison) else {
        return Vec::new();
    };
    let mut said = vec![whom(&across, glyphs)];
    said.extend(left_out(&across, glyphs));
    said.extend(kinds_apart(&across.kinds, glyphs));
    said.extend(missing(&across));
    said
}

/// Returns sentences about the hosts that all verdicts of a suite cover, which are the hosts of the
/// benchmark with the fewest hosts.
pub(crate) fn of_suite(comparisons: &[Comparison]) -> Vec<String> {
    let across = comparisons
        .iter()
        .filter_map(|one| one.aspects.hosts.as_ref());
    let Some(across) = across.min_by_key(|across| across.kept().count()) else {
        return Vec::new();
    };
    let mut said = vec![format!("{}.", scope(across, "each verdict is about"))];
    let without = |one: &&Comparison| {
        let across = one.aspects.hosts.as_ref();
        across.is_some_and(|across| across.hosts.iter().any(|host| host.left_out))
    };
    let without = comparisons.iter().filter(without).count();
    said.extend((without > 0).then(|| {
        let count = counted(
            without as u64,
            "comparison leaves out",
            "comparisons leave out",
        );
        format!("{count} hosts whose control differs from the baseline.")
    }));
    said.extend(missing(across));
    said
}

/// Returns the clause on the hosts that the verdict covers; `begins` is its first words.
fn scope(across: &AcrossHosts, begins: &str) -> String {
    let count = across.kept().count();
    match (across.like_these, count) {
        (true, _) => format!("{begins} all hosts that resemble these {count}"),
        (false, 1) => format!("{begins} this host only"),
        (false, _) => format!("{begins} these {count} hosts only"),
    }
}

/// Returns a sentence about the hosts whose control differs from the baseline, with the change of
/// each control, and whether these hosts are excluded; `None` if no control differs.
fn left_out(across: &AcrossHosts, glyphs: Glyphs) -> Option<String> {
    let told: Vec<&HostRow> = across.told_apart().collect();
    let named = |host: &&HostRow| {
        let parts: Vec<String> = host.parts.iter().map(u32::to_string).collect();
        let word = if parts.len() == 1 { "part" } else { "parts" };
        let estimate = host.control.as_ref().map(|control| &control.estimate);
        let [change, ends] = change_cells(estimate, glyphs);
        format!("{word} {}, {change} {ends}", some_of(&parts, PARTS))
    };
    let mut names: Vec<String> = told.iter().take(PARTS).map(named).collect();
    let more = told.len() - names.len();
    names.extend((more > 0).then(|| format!("{more} more")));
    let names = names.join("; ");
    let all = across.hosts.len();
    match (told.len(), told.iter().any(|host| host.left_out)) {
        (0, _) => None,
        (1, true) => Some(format!(
            "1 of {all} hosts is left out because its control, a second copy of the baseline, \
             differs from the baseline: {names}."
        )),
        (count, true) => Some(format!(
            "{count} of {all} hosts are left out because their controls, second copies of the \
             baseline, differ from the baseline: {names}."
        )),
        (count, false) => Some(format!(
            "on {count} of {all} hosts the control differs from the baseline; these are too many \
             to leave out, so all are kept: {names}."
        )),
    }
}

fn missing(across: &AcrossHosts) -> Option<String> {
    let parts: Vec<String> = across.missing.iter().map(u32::to_string).collect();
    let named = some_of(&parts, PARTS);
    match parts.len() {
        0 => None,
        1 => Some(format!("part {named} of the race is missing.")),
        _ => Some(format!("parts {named} of the race are missing.")),
    }
}

fn whom(across: &AcrossHosts, glyphs: Glyphs) -> String {
    let mut parts = vec![scope(across, "this verdict is about")];
    parts.extend(across.next_host.as_ref().map(|next| {
        let share = two_digits(next.confidence * 100.0);
        format!(
            "the next host is expected to show a change of {} (with {share}% probability)",
            range(next, glyphs)
        )
    }));
    match (across.p_differ, across.host_sd) {
        (Some(p), Some(sd)) if p <= DIFFERENT && sd.0 > 0.0 => {
            parts.push(format!("the hosts differ by {}", spread(sd, glyphs)));
        }
        (Some(_), _) => parts.push("any difference between hosts is below their noise".to_owned()),
        (None, _) => {}
    }
    parts.extend(across.hosts_to_settle.filter(|more| *more > 0).map(|more| {
        let more = counted(more as u64, "more host", "more hosts");
        format!("about {more} would settle the race")
    }));
    format!("{}.", parts.join("; "))
}

/// Maximum p-value at which answers report a difference between hosts.
const DIFFERENT: f64 = 0.05;

/// Returns a sentence with the change on each processor model, if the intervals of any two models
/// do not overlap; otherwise `None`.
fn kinds_apart(kinds: &[HostKind], glyphs: Glyphs) -> Option<String> {
    let apart = |one: &HostKind, other: &HostKind| {
        let both = one.interval.as_ref().zip(other.interval.as_ref());
        both.is_some_and(|(one, other)| one.high.0 < other.low.0 || other.high.0 < one.low.0)
    };
    let differ = |one: &HostKind| kinds.iter().any(|other| apart(one, other));
    if !kinds.iter().any(differ) {
        return None;
    }
    let kind = |kind: &HostKind| {
        let change = effect(kind.effect, kind.interval.as_ref(), glyphs);
        format!("{change} on {}", shown(&kind.cpu, CPU, glyphs))
    };
    let kinds: Vec<String> = kinds.iter().map(kind).collect();
    Some(format!(
        "the change depends on the processor: {}.",
        enumerated(&kinds)
    ))
}

const PARTS: usize = 12;

/// Returns the name of a host: the numbers of the parts of the race that it ran, and its processor
/// model.
pub(crate) fn name(host: &HostRow, glyphs: Glyphs) -> String {
    let parts: Vec<String> = host.parts.iter().map(u32::to_string).collect();
    let parts = some_of(&parts, PARTS);
    match &host.cpu {
        Some(cpu) => format!("{parts}: {}", shown(cpu, CPU, glyphs)),
        None => parts,
    }
}

/// A sentence lists at most `FOUND` disturbances of a host, each in at most `FOUND_WIDTH` columns.
const FOUND: usize = 4;
const FOUND_WIDTH: usize = 48;

/// Returns the limits of the host's container and the disturbances found on the host; empty if
/// there are none.
fn found_there(host: &HostRow, glyphs: Glyphs) -> String {
    let Conditions {
        limits,
        disturbances,
    } = &host.conditions;
    let mut most: Vec<String> = Vec::new();
    most.extend(limits.cores.map(|cores| {
        let count = plain_number(cores);
        format!("{count} {}", if count == "1" { "core" } else { "cores" })
    }));
    most.extend(limits.memory.map(bytes));
    let mut found: Vec<String> = Vec::new();
    found.extend((!most.is_empty()).then(|| format!("at most {}", most.join(" and "))));
    // The list and the width of its entries are limited, because a run file from outside may
    // contain any number of disturbances.
    found.extend(disturbances.iter().take(FOUND).map(|one| {
        let name = shown(&one.name, FOUND_WIDTH, glyphs);
        match one.found.as_str() {
            "" => name,
            found => format!("{name} ({})", shown(found, FOUND_WIDTH, glyphs)),
        }
    }));
    let more = disturbances.len().saturating_sub(FOUND);
    found.extend((more > 0).then(|| format!("{more} more")));
    found.join(", ")
}

/// Formats a whole number without decimals, and any other number with two significant digits.
fn plain_number(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e9 {
        format!("{value:.0}")
    } else {
        two_digits(value)
    }
}

const SENTENCES: usize = 8;

/// Returns sentences about the limits and disturbances of the hosts. Hosts with the same limits and
/// disturbances share a sentence.
pub(crate) fn found(comparison: &Comparison, glyphs: Glyphs) -> Vec<String> {
    let Some(across) = &comparison.aspects.hosts else {
        return Vec::new();
    };
    let found = across
        .hosts
        .iter()
        .map(|host| (found_there(host, glyphs), host));
    let groups = gathered(found.filter(|(found, _)| !found.is_empty()));
    let all: usize = across.hosts.iter().map(|host| host.parts.len()).sum();
    let sentence = |(found, hosts): &(String, Vec<&HostRow>)| {
        let parts = hosts.iter().flat_map(|host| &host.parts);
        let parts: Vec<String> = parts.map(u32::to_string).collect();
        match parts.len() {
            count if count == all => format!("conditions on all hosts: {found}."),
            1 => format!("conditions on the host of part {}: {found}.", parts[0]),
            _ => format!(
                "conditions on the hosts of parts {}: {found}.",
                some_of(&parts, PARTS)
            ),
        }
    };
    let mut said: Vec<String> = groups.iter().take(SENTENCES).map(sentence).collect();
    let more = groups.len() - said.len();
    said.extend((more > 0).then(|| {
        let more = counted(more as u64, "other finding", "other findings");
        format!("{more} on further hosts.")
    }));
    said
}

pub(crate) const CONTROL: &str = "control";

pub(crate) fn has_controls(across: &AcrossHosts) -> bool {
    across.hosts.iter().any(|host| host.control.is_some())
}

/// Formats the change of the host's control. A word before the change says if the control differs
/// from the baseline, or if the host is excluded for this reason.
pub(crate) fn control(host: &HostRow, glyphs: Glyphs) -> String {
    let Some(control) = &host.control else {
        return glyphs.nothing().to_owned();
    };
    let [change, _] = change_cells(Some(&control.estimate), glyphs);
    match (host.left_out, control.separated) {
        (true, _) => format!("left out: {change}"),
        (false, true) => format!("differs: {change}"),
        (false, false) => change,
    }
}

/// Returns a table with a row per host; `None` if a single machine raced.
pub(crate) fn table<'a>(comparison: &Comparison, glyphs: Glyphs) -> Option<Table<'a>> {
    let across = hosts_in_cost(comparison)?;
    let mut heads = vec![
        "parts: host".to_owned(),
        change_head([&comparison.terms.metric].into_iter()).to_owned(),
        interval_head([comparison.coverage()].into_iter()),
        "replicates".to_owned(),
    ];
    let controlled = has_controls(&across);
    heads.extend(controlled.then(|| CONTROL.to_owned()));
    let mut table = Table::new(Kind::Words, heads);
    table.caption = "Hosts, each by itself".to_owned();
    for host in &across.hosts {
        let mut cells = vec![name(host, glyphs)];
        cells.extend(change_cells(Some(&host.estimate), glyphs));
        cells.push(host.estimate.replicates.to_string());
        cells.extend(controlled.then(|| control(host, glyphs)));
        table.rows.push(cells.into());
    }
    Some(table)
}

pub(super) fn to_json(across: &AcrossHosts) -> Object {
    let parts = |parts: &[u32]| parts.iter().map(|part| Json::from(*part)).collect::<Json>();
    let host = |host: &HostRow| {
        let object = Object::new()
            .with("parts", parts(&host.parts))
            .with_some("cpu", host.cpu.as_ref());
        let object = estimated(object, &host.estimate)
            .with("replicates", host.estimate.replicates)
            .with("left_out", host.left_out)
            .with_some("control", host.control.as_ref().map(control_json));
        let Limits { cores, memory } = host.conditions.limits;
        let limits = Object::new()
            .with_some("cores", cores)
            .with_some("memory", memory);
        let is_limited = cores.is_some() || memory.is_some();
        let disturbance = |one: &Disturbance| {
            Object::new()
                .with("name", &one.name)
                .with("found", &one.found)
        };
        object
            .with_some("limits", is_limited.then_some(limits))
            .with_some(
                "disturbances",
                some(&host.conditions.disturbances, disturbance),
            )
    };
    let kind = |kind: &HostKind| {
        let interval = kind.interval.as_ref();
        Object::new()
            .with("cpu", &kind.cpu)
            .with("hosts", kind.hosts)
            .with("change", kind.effect.change())
            .with("ci", interval.map(ends))
    };
    Object::new()
        .with("like_these", across.like_these)
        .with("next_host", across.next_host.as_ref().map(ends))
        .with("q", across.q)
        .with("i_squared", across.i_squared)
        .with("p_differ", across.p_differ)
        .with("host_sd", across.host_sd.map(LogRatio::change))
        .with("hosts_to_settle", across.hosts_to_settle)
        .with("missing", parts(&across.missing))
        .with_some("kinds", some(&across.kinds, kind))
        .with("hosts", all(&across.hosts, host))
}
