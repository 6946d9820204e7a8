//! What is told of the hosts of a run that several machines raced.

use deadheat_model::{AcrossHosts, Comparison, HostKind, HostRow};

use crate::cells::{change_cells, interval_head};
use crate::document::{Kind, Table};
use crate::enumeration::{enumerated, some_of};
use crate::glyphs::Glyphs;
use crate::names::shown;
use crate::units::{counted, effect, range, spread, two_digits};

/// Columns that the model of a processor may take.
const CPU: usize = 40;

/// The hosts that a verdict speaks of and how far they differ; and, where their processors are of
/// several models that differ, what each says.
pub(crate) fn sentences(comparison: &Comparison, glyphs: Glyphs) -> Vec<String> {
    let Some(across) = &comparison.hosts else {
        return Vec::new();
    };
    let mut said = vec![whom(across, glyphs)];
    said.extend(kinds_apart(&across.kinds, glyphs));
    said.extend(missing(across));
    said
}

/// The hosts that the verdicts of a suite speak of, once for all: those of the benchmark that was
/// raced on the fewest.
pub(crate) fn of_suite(comparisons: &[Comparison]) -> Vec<String> {
    let across = comparisons.iter().filter_map(|one| one.hosts.as_ref());
    let Some(across) = across.min_by_key(|across| across.hosts.len()) else {
        return Vec::new();
    };
    let mut said = vec![format!("{}.", scope(across, "each speaks"))];
    said.extend(missing(across));
    said
}

/// The hosts that a verdict speaks of; `begins` is how the sentence does.
fn scope(across: &AcrossHosts, begins: &str) -> String {
    let count = across.hosts.len();
    match (across.like_these, count) {
        (true, _) => format!("{begins} of hosts like these {count}"),
        (false, 1) => format!("{begins} of this host, and of no others"),
        (false, _) => format!("{begins} of these {count} hosts, and of no others"),
    }
}

fn missing(across: &AcrossHosts) -> Option<String> {
    let parts: Vec<String> = across.missing.iter().map(u32::to_string).collect();
    let named = some_of(&parts, PARTS);
    match parts.len() {
        0 => None,
        1 => Some(format!("part {named} is missing.")),
        _ => Some(format!("parts {named} are missing.")),
    }
}

fn whom(across: &AcrossHosts, glyphs: Glyphs) -> String {
    let mut parts = vec![scope(across, "this speaks")];
    parts.extend(across.next_host.as_ref().map(|next| {
        let share = two_digits(next.confidence * 100.0);
        format!("the next one shows {} ({share} %)", range(next, glyphs))
    }));
    match (across.p_differ, across.host_sd) {
        (Some(p), Some(sd)) if p <= DIFFERENT && sd.0 > 0.0 => {
            parts.push(format!("they differ by {}", spread(sd, glyphs)));
        }
        (Some(_), _) => parts.push("they differ by less than their noise shows".to_owned()),
        (None, _) => {}
    }
    parts.extend(across.hosts_to_settle.filter(|more| *more > 0).map(|more| {
        let more = counted(more as u64, "more host", "more hosts");
        format!("about {more} would settle it")
    }));
    format!("{}.", parts.join("; "))
}

/// From this p-value on hosts are told to differ.
const DIFFERENT: f64 = 0.05;

/// Models of processors whose intervals lie apart, each with its change.
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
        "it depends on the processor: {}.",
        enumerated(&kinds)
    ))
}

/// Numbers of parts that are named.
const PARTS: usize = 12;

/// The name of a host: the numbers of its parts, and its processor.
pub(crate) fn name(host: &HostRow, glyphs: Glyphs) -> String {
    let parts: Vec<String> = host.parts.iter().map(u32::to_string).collect();
    let parts = some_of(&parts, PARTS);
    match &host.cpu {
        Some(cpu) => format!("{parts}: {}", shown(cpu, CPU, glyphs)),
        None => parts,
    }
}

/// A row per host; `None` for a run of one.
pub(crate) fn table<'a>(comparison: &Comparison, glyphs: Glyphs) -> Option<Table<'a>> {
    let across = comparison.hosts.as_ref()?;
    let mut table = Table::new(
        Kind::Words,
        [
            "part: host".to_owned(),
            "change".to_owned(),
            interval_head([comparison.coverage()].into_iter()),
            "replicates".to_owned(),
        ],
    );
    table.caption = "Hosts, each by itself".to_owned();
    for host in &across.hosts {
        let mut cells = vec![name(host, glyphs)];
        cells.extend(change_cells(Some(&host.estimate), glyphs));
        cells.push(host.estimate.replicates.to_string());
        table.rows.push(cells.into());
    }
    Some(table)
}
