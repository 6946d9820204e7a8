//! What is said of the machine as a whole, and which cores to race on.

use deadheat_model::Pinning;
use deadheat_model::doctor::{Checkup, CoreWatch, Fitness, PinReason, State, Topic};

use super::findings::{is_plural, title};
use super::mends;
use super::numbers::{cores, list, share};
use crate::enumeration::enumerated;
use crate::units::counted;

/// How good the machine is, in one sentence or two.
pub(super) fn headline(checkup: &Checkup) -> String {
    let named = disturbing(checkup);
    let unknown = checkup.in_state(State::Unknown).count();
    let hidden = match unknown {
        0 => String::new(),
        n => format!(
            " {} could not be found out.",
            counted(n as u64, "thing", "things")
        ),
    };
    match checkup.fitness() {
        Fitness::Good => {
            format!("This machine is good for measuring: nothing disturbs.{hidden}")
        }
        Fitness::Fair => format!(
            "This machine is fair for measuring: {named}. Races in pairs stand it, but take longer \
             for the same answer.{hidden}"
        ),
        Fitness::Poor => {
            let lost = checkup.watch().map_or(0.0, |watch| watch.lost);
            let also = match named.is_empty() {
                true => String::new(),
                false => format!("; {named}"),
            };
            format!(
                "This machine is poor for measuring: {} of the time is lost to others{also}. Races \
                 in pairs stand it, but small differences will be too close to call.{hidden}",
                share(lost)
            )
        }
    }
}

/// What disturbs, as the main clause of a sentence; empty where nothing does.
fn disturbing(checkup: &Checkup) -> String {
    let topics: Vec<Topic> = checkup
        .in_state(State::Disturbs)
        .map(|one| one.topic())
        .collect();
    let titles: Vec<&str> = topics.iter().copied().map(title).collect();
    match topics.as_slice() {
        [] => String::new(),
        [one] if !is_plural(*one) => format!("{} disturbs", title(*one)),
        _ => format!("{} disturb", enumerated(&titles)),
    }
}

/// Where, how long, and that nothing was changed.
pub(super) fn measured(checkup: &Checkup) -> String {
    let place = match checkup.measured_on {
        Some(core) => format!("on core {core}"),
        None => "wherever the scheduler put it".to_owned(),
    };
    format!(
        "Measured for {:.1} s {place}. Nothing was changed.",
        checkup.seconds
    )
}

/// Which cores to race on, and why.
pub(super) fn advice(checkup: &Checkup) -> String {
    let advice = &checkup.advice;
    let option = option(&advice.pinning);
    let these = cores(&advice.cores);
    match advice.reason {
        PinReason::Isolated => format!("Race on {these}, which is set apart: {option}"),
        PinReason::Quietest => {
            let lost = |watch: Option<&CoreWatch>| share(watch.map_or(0.0, |watch| watch.lost));
            let chosen =
                |watch: &&CoreWatch| watch.core.is_some_and(|core| advice.cores.contains(&core));
            let others = checkup.cores.iter().filter(|watch| !chosen(watch));
            let next = others.min_by(|one, other| one.lost.total_cmp(&other.lost));
            format!(
                "Race on {these}, which lost {} of the time where others lost {} and more: {option}",
                lost(checkup.cores.iter().find(chosen)),
                lost(next),
            )
        }
        PinReason::Alike => match advice.pinning {
            Pinning::Auto => format!(
                "No core is clearly quieter than the others: {option}, which holds commands on \
                 {these} and draws a core for every replicate of functions"
            ),
            _ => format!("None of {these} is clearly quieter than the others: {option}"),
        },
        PinReason::OnlyOne => {
            format!("There is only {these}, and nothing to choose: {option}")
        }
        PinReason::NotCompared => match advice.pinning {
            Pinning::Auto => format!(
                "Cores were not compared; without --pin none, doctor compares them. Until then: {option}"
            ),
            _ => format!("Only {these} was looked at: {option}"),
        },
    }
}

/// A race that does as advised.
pub(super) fn example(checkup: &Checkup) -> String {
    let started = match mends::start_with(checkup) {
        Some(taskset) => format!("{taskset} "),
        None => String::new(),
    };
    let option = option(&checkup.advice.pinning);
    format!("{started}deadheat run {option} -- './old' './new'")
}

/// The option for these cores.
pub(super) fn option(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Inherit => "--pin none".to_owned(),
        Pinning::Auto => "--pin auto".to_owned(),
        Pinning::Cores(cores) => format!("--pin {}", list(cores)),
    }
}
