//! The fifteen classes of attacks, each with the generator of its cases.

mod bounds;
mod branches;
mod checkout;
mod data;
mod effects;
mod identity;
mod leaks;
mod media;
mod numbers;
mod orphans;
mod roles;
mod starters;
mod temporary;
mod time;
mod words;

use deadheat_validation::bars::{Bar, Section};

use crate::Setting;
use crate::case::{Case, Found};
use crate::victim::{at_once, section};

/// Cases of a class at the same time.
const AT_ONCE: usize = 3;

/// Cases by which the program without defences must be found out.
const WEAK: usize = 40;

struct Class {
    what: &'static str,
    /// Cases of a full run, and of a quick one.
    cases: [usize; 2],
    check: fn(&mut Case) -> Found,
}

/// In the order of `gives_in.sh`.
const CLASSES: [Class; 15] = [
    class("data is never started", [100, 12], data::check),
    class("words of git", [80, 6], words::check),
    class("temporary files", [16, 2], temporary::check),
    class("state in a checkout", [60, 5], checkout::check),
    class("one file, two roles", [80, 8], roles::check),
    class("options without effect", [80, 8], effects::check),
    class("signals and time-outs", [40, 6], time::check),
    class("orphans", [20, 3], orphans::check),
    class("memory and time of readers", [60, 6], bounds::check),
    class("terminals, pages, logs", [120, 12], media::check),
    class("what leaves the machine", [60, 6], leaks::check),
    class("identity of what races", [60, 6], identity::check),
    class("branches, tags, indexes", [40, 4], branches::check),
    class("numbers", [60, 8], numbers::check),
    class("files that start programs", [60, 6], starters::check),
];

const fn class(what: &'static str, cases: [usize; 2], check: fn(&mut Case) -> Found) -> Class {
    Class { what, cases, check }
}

/// All classes, or the one class or case that was asked for.
pub fn classes(setting: &Setting) -> Section {
    let mut told = Vec::new();
    for (place, class) in CLASSES.iter().enumerate() {
        let Some(numbers) = numbers(setting, class) else {
            continue;
        };
        let outcome = at_once(AT_ONCE, &numbers, |number| attempt(setting, place, *number, None));
        eprintln!("  {}", outcome.line(class.what).trim());
        told.push((class.what.to_owned(), outcome));
    }
    section(
        "Fifteen classes",
        "Names, contents, structures and options are drawn for each case. The files of \
         `validation/src/attack/classes` say what is drawn, and what must hold. In every case, \
         deadheat must end within 30 s and 1 GiB, with an exit code of the case, and print no \
         control characters.",
        &told,
    )
}

fn numbers(setting: &Setting, class: &Class) -> Option<Vec<usize>> {
    let [full, quick] = class.cases;
    let all = (0..setting.shop.count(full, quick)).collect();
    match &setting.only {
        Some(only) if !class.what.contains(only.as_str()) && names_a_class(only) => None,
        _ => Some(setting.case.map_or(all, |case| vec![case])),
    }
}

/// Returns false for the name of a whole part, which asks for every class.
fn names_a_class(only: &str) -> bool {
    CLASSES.iter().any(|class| class.what.contains(only))
}

fn attempt(
    setting: &Setting,
    place: usize,
    number: usize,
    weak: Option<usize>,
) -> (String, Option<String>) {
    let class = &CLASSES[place];
    // What is drawn does not depend on what came before.
    let random = setting.random((10_000_000 * (place + 1) + number) as u64);
    let name = format!("class-{place}-{number}{}", if weak.is_some() { "-weak" } else { "" });
    let mut case = Case::new(setting, random, &name, weak);
    let finding = (class.check)(&mut case).err();
    let finding = finding.map(|finding| {
        let commands = case.commands.join(", then ");
        format!("{finding}; commands: {commands}")
    });
    let again =
        format!("`just attack --seed {} --only '{}' --case {number}`", setting.seed, class.what);
    (again, finding)
}

/// A program that lacks the defence of a class must be found out by the cases of that class.
pub fn self_test(setting: &Setting) -> Section {
    let mut missed = Vec::new();
    for (place, class) in CLASSES.iter().enumerate() {
        if numbers(setting, class).is_none() {
            continue;
        }
        let found =
            (0..WEAK).find(|number| attempt(setting, place, *number, Some(place + 1)).1.is_some());
        match found {
            Some(number) => eprintln!("  {}: found out by case {number}", class.what),
            None => missed.push(class.what),
        }
    }
    let measured = match missed.is_empty() {
        true => "all".to_owned(),
        false => format!("not {}", missed.join(", ")),
    };
    Section {
        text: "## Programs without a defence\n\nFor each class, deadheat runs in a script that lacks the \
               defence of this class (`validation/src/attack/gives_in.sh`). The class must report it.\n\n"
            .to_owned(),
        bars: vec![Bar::told("Programs without a defence", "all found out", measured, missed.is_empty())],
    }
}
