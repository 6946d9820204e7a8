//! Suites of criterion's that were written by others, at two versions each: whether they compile
//! with one line of `Cargo.toml` changed, what `cargo deadheat` says of them then, and what it says
//! of them unchanged, launch by launch; and how long each takes beside criterion itself.
//!
//! Writes `docs/validation/suites.md`. Takes some hours, most of which criterion takes, on a
//! machine that does nothing else; needs git and the network, and skips a suite by name that cannot
//! be fetched.

mod races;
mod sources;

use deadheat_validation::prelude::*;
use deadheat_validation::programs::all_built_by;

use races::{Answer, row, times_of_criterion};
use sources::{Origin, Suite, Way};

/// The suites, with two versions of each that have the same benchmarks.
const SUITES: [Suite; 6] = [
    Suite::published("itoa", ["1.0.17", "1.0.19"], "0.8"),
    Suite::published("ryu", ["1.0.21", "1.0.23"], "0.8"),
    Suite::published("hashbrown", ["0.17.0", "0.17.2"], "0.7"),
    Suite::published("base64", ["0.22.0", "0.22.1"], "0.4"),
    Suite::published("httparse", ["1.9.5", "1.10.1"], "0.3"),
    Suite {
        name: "aho-corasick",
        versions: ["0.7.18", "0.7.20"],
        criterion: "0.3",
        // Its suite is no part of what is published.
        origin: Origin::Git { url: "https://github.com/BurntSushi/aho-corasick", folder: "bench" },
    },
];

struct Setting {
    scratch: Scratch,
    stand_in: PathBuf,
    cargo_deadheat: PathBuf,
    asked: Wanted,
}

fn main() {
    let asked = Wanted::questions_from_command_line();
    let machine = machine();
    let root = repository();
    let scratch = Scratch::new("suites");
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "-p", "deadheat-cli", "--bins"]).current_dir(root);
    let built = all_built_by(&mut build);
    let cargo_deadheat = built.iter().find(|(name, _)| name == "cargo-deadheat");
    let setting = Setting {
        stand_in: root.join("crates/deadheat-criterion"),
        cargo_deadheat: cargo_deadheat.expect("it was built").1.clone(),
        scratch,
        asked,
    };
    let page = Page {
        title: "Criterion suites, with one line changed and unchanged",
        program: "suites",
        facts: &machine,
        quick: setting.asked.quick || !setting.asked.only.is_empty(),
    };
    let questions: &[Question<Setting>] = &[("suites of others", section)];
    page.write(root, &setting, questions);
}

/// A row for each suite.
fn section(setting: &Setting) -> Section {
    let asked = &setting.asked;
    let suites = SUITES.iter().filter(|suite| asked.fits(suite.name));
    let mut text = String::from(
        "## Third-party suites\n\nFor each suite, we made a repository with two commits, one for \
         each of two versions. `cargo deadheat HEAD~1..HEAD` compared these commits in two ways. \
         Both ways use neutral links, so both answers are about the source. The columns are:\n\n\
         - *benchmarks*: the benchmarks that raced with one line.\n\
         - *compiles with one line*: whether the suite compiles with `criterion = { package = \
         \"deadheat-criterion\" }` in `Cargo.toml`.\n\
         - *one line*: the verdicts and the time with this line.\n\
         - *as it is*: the verdicts and the time of the unchanged suite. deadheat races the \
         unchanged suite launch by launch, which needs criterion 0.5 or later.\n\
         - *intervals agree*: benchmarks whose intervals from the two ways overlap.\n\
         - *criterion* (last column): the time of criterion for both versions, one after the \
         other, without a comparison.\n\n\
         | suite | criterion | \
         benchmarks | compiles with one line | one line: faster, slower, dead heats, too close to call; time | as it is: the same \
         | intervals agree | criterion |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let (mut benchmarks, mut compiled, mut tried) = (0, 0, 0);
    let (mut agreeing, mut compared) = (0, 0);
    let mut skipped = String::new();
    for suite in suites {
        eprintln!("  {} {}", suite.name, suite.versions.join(" and "));
        let sides = match suite.fetched(&setting.scratch) {
            Ok(sides) => sides,
            Err(why) => {
                skipped +=
                    &format!("Skipped, because it could not be fetched ({why}): {}.\n", suite.name);
                continue;
            }
        };
        tried += 1;
        let raced = |way: Way<'_>| {
            let folder = suite.committed(&setting.scratch, &sides, way)?;
            Answer::of(setting, &folder, way)
        };
        let one_line = raced(Way::OneLine(&setting.stand_in));
        let as_it_is = if suite.races_as_it_is() {
            raced(Way::AsItIs)
        } else {
            Err(format!("criterion {}", suite.criterion))
        };
        let criterion = if suite.races_as_it_is() && !setting.asked.quick {
            times_of_criterion(&setting.scratch, &sides)
        } else {
            None
        };
        if let Ok(answer) = &one_line {
            compiled += 1;
            benchmarks += answer.rows.len();
            if let Ok(other) = &as_it_is {
                let (agree, of) = answer.agreement(other);
                agreeing += agree;
                compared += of;
            }
        }
        text += &row(suite, &one_line, &as_it_is, criterion);
    }
    if !skipped.is_empty() {
        text += &format!("\n{skipped}");
    }
    let mut bars = vec![Bar::share("suites that compile with one line", compiled, tried, 1.0)];
    if asked.only.is_empty() {
        let enough = benchmarks >= 40;
        bars.push(Bar::told("benchmarks", "at least 40", benchmarks.to_string(), enough));
    }
    if compared > 0 {
        bars.push(Bar::share(
            "intervals that agree with those of the unchanged suite",
            agreeing,
            compared,
            0.9,
        ));
    }
    Section { text, bars }
}
