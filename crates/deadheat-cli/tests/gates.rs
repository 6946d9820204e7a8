//! Gates: which answers fail, by the command line and by `deadheat.toml`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Finished, Track, said, says, text};

const SHORT: &str = "sleep 0.01";
const LONG: &str = "sleep 0.03";

impl Track {
    fn rules(&self, rules: &str) {
        fs::write(self.path("deadheat.toml"), rules).unwrap();
    }

    /// Races two commands with a few more arguments.
    fn race(&self, args: &[&str], commands: [&str; 2]) -> Finished {
        let mut all = vec!["run", "-q"];
        all.extend(args);
        all.push("--");
        all.extend(commands);
        self.run(&all)
    }

    /// A recorded race in which the second command is slower.
    fn slower(&self) -> PathBuf {
        let save = self.path("slower.jsonl");
        let args = ["--save", text(&save), "--no-config", "--seed", "7"];
        self.race(&args, [SHORT, LONG]).succeeds();
        save
    }

    fn analyze(&self, args: &[&str]) -> Finished {
        let mut all = vec!["analyze"];
        all.extend(args);
        self.run(&all)
    }
}

#[test]
fn a_gate_is_red_for_a_slower_command_and_green_for_a_faster_one() {
    let track = Track::new();
    let red = track.race(&["--fail-on", "slower"], [SHORT, LONG]);
    says(
        &red,
        1,
        &["! the run fails: 'sleep 0.03' breaks the rule 'slower'."],
    );
    let green = track.race(&["--fail-on", "slower"], [LONG, SHORT]);
    green.succeeds();
    assert!(!said(&green).contains("the run fails"), "{green:?}");
}

#[test]
fn rules_are_found_from_a_folder_below() {
    let track = Track::new();
    track.rules("fail-on = [\"slower\"]\n");
    let below = track.path("a/b");
    fs::create_dir_all(&below).unwrap();
    let mut command = track.command();
    command.current_dir(&below);
    command.args(["run", "-q", "--json", "--", SHORT, LONG]);
    let red = Finished::from(command.output().unwrap());
    assert_eq!(red.code, Some(1), "{red:?}");
    let json = red.json();
    assert_eq!(json["config"], "../../deadheat.toml");
    assert_eq!(json["benchmarks"][0]["gate"]["rule"], "slower");
    assert_eq!(json["benchmarks"][0]["gate"]["fails"], true);
    let green = track.race(&[], [LONG, SHORT]);
    says(&green, 0, &["rules come from deadheat.toml,"]);
}

#[test]
fn the_command_line_wins_over_the_file() {
    let track = Track::new();
    let run = track.slower();
    let run = text(&run);
    track.rules("fail-on = [\"slower\"]\nmargin = \"30%\"\n");
    says(&track.analyze(&[run]), 1, &["breaks the rule 'slower'"]);
    track
        .analyze(&["--fail-on", "inconclusive", run])
        .succeeds();
    track.analyze(&["--no-config", run]).succeeds();
    let other = track.path("other.toml");
    fs::write(&other, "fail-on = \"not-equivalent\"\n").unwrap();
    let named = track.analyze(&["--config", text(&other), run]);
    says(
        &named,
        1,
        &["breaks the rule 'not-equivalent'", "other.toml"],
    );
    track
        .analyze(&["--config", "none.toml", run])
        .fails_with(2, &["--config", "none.toml"]);
    track
        .analyze(&["--config", "other.toml", "--no-config", run])
        .fails_with(2, &["--no-config"]);
    // Margins too, in a race: of all benchmarks, and of one.
    track.rules("margin = \"30%\"\n\n[[benchmark]]\nname = \"run\"\nmargin = \"40%\"\n");
    let args = ["--json", "-r", "12"];
    let json = track.race(&args, [SHORT, LONG]).succeeds().json();
    assert_eq!(
        (
            json["margin"].as_f64(),
            json["benchmarks"][0]["margin"].as_f64()
        ),
        (Some(0.3), Some(0.4))
    );
    let args = ["--json", "-r", "12", "--margin", "3%"];
    let json = track.race(&args, [SHORT, LONG]).succeeds().json();
    assert_eq!(
        (
            json["margin"].as_f64(),
            json["benchmarks"][0]["margin"].as_f64()
        ),
        (Some(0.03), Some(0.03))
    );
}

#[test]
fn a_margin_of_its_own_turns_slower_into_a_dead_heat() {
    let track = Track::new();
    let commands = ["sleep 0.020", "sleep 0.026"];
    let args = ["--json", "--fail-on", "slower"];
    let red = track.race(&args, commands);
    assert_eq!(red.code, Some(1), "{red:?}");
    assert_eq!(red.json()["benchmarks"][0]["verdict"], "slower");
    track.rules("[[benchmark]]\nname = \"r*\"\nmargin = \"90%\"\nalpha = 0.01\nbudget = \"30s\"\n");
    let save = track.path("run.jsonl");
    let args = ["--json", "--fail-on", "slower", "--save", text(&save)];
    let green = track.race(&args, commands);
    let json = green.succeeds().json();
    assert_eq!(json["benchmarks"][0]["verdict"], "equivalent");
    assert_eq!(json["benchmarks"][0]["alpha"], 0.01);
    // The race is judged by its own plan for ever.
    track.rules("[[benchmark]]\nname = \"*\"\nmargin = \"1%\"\n");
    let again = track.analyze(&["--json", "--no-config", text(&save)]);
    assert_eq!(again.succeeds().json()["benchmarks"], json["benchmarks"]);
    let again = track.analyze(&["--json", text(&save)]);
    assert_eq!(again.succeeds().json()["benchmarks"], json["benchmarks"]);
}

#[test]
fn an_excuse_holds_until_its_day_and_is_told() {
    let track = Track::new();
    let run = track.slower();
    let run = text(&run);
    let ignore = |rest: &str| {
        track.rules(&format!(
            "fail-on = [\"slower\"]\n\n[[ignore]]\nname = \"run\"\nreason = \"known, #123\"\n{rest}\n"
        ));
    };
    ignore("until = 2999-12-31");
    let excused =
        ["'sleep 0.03' breaks the rule 'slower', which is excused until 2999-12-31: known, #123."];
    says(&track.analyze(&[run]), 0, &excused);
    says(&track.race(&[], [SHORT, LONG]), 0, &excused);
    let json = track.analyze(&["--json", run]).succeeds().json();
    let gate = &json["benchmarks"][0]["gate"];
    assert_eq!(
        (gate["fails"].as_bool(), gate["until"].as_str()),
        (Some(false), Some("2999-12-31"))
    );
    ignore("until = \"2020-01-31\"");
    let over = [
        "breaks the rule 'slower'.",
        "warning: deadheat.toml, line 3: the excuse of 'run' expired after 2020-01-31; 'run' still \
         breaks a rule, and this counts again.",
    ];
    says(&track.analyze(&[run]), 1, &over);
    ignore("rule = \"inconclusive\"");
    let stale = [
        "the run fails",
        "line 3: 'run' does not break the rule 'inconclusive' any more; remove its excuse.",
    ];
    says(&track.analyze(&[run]), 1, &stale);
    ignore("");
    says(
        &track.analyze(&[run]),
        0,
        &["which is excused: known, #123."],
    );
}

#[test]
fn a_file_that_makes_no_sense_is_refused_before_anything_runs() {
    let track = Track::new();
    let ran = track.path("ran");
    let touch = format!("touch {}", text(&ran));
    for (rules, told) in [
        (
            "alpha = 0.05\n\nmargn = \"2%\"",
            "deadheat.toml, line 3, column 1: unknown key 'margn'\nhelp: did you mean 'margin'?",
        ),
        ("margin = 2", "margin must be above 0"),
        ("[[ignore]]\nname = \"a\"", "without a reason"),
        ("margin =", "not valid TOML"),
    ] {
        track.rules(rules);
        let done = track.race(&[], [&touch, "true"]);
        done.fails_with(2, &[told]);
        assert!(!ran.exists(), "{rules}");
        track.analyze(&["none.jsonl"]).fails_with(2, &[told]);
        track.run(&["bench", "true", "true"]).fails_with(2, &[told]);
        track
            .run(&["compare", "a.json", "b.json"])
            .fails_with(2, &[told]);
        track.run(&["rev", "HEAD"]).fails_with(2, &[told]);
    }
    track.race(&["--no-config"], [&touch, "true"]).succeeds();
}

#[test]
fn a_metric_nobody_measures_is_blamed_on_the_file_that_names_it() {
    let track = Track::new();
    track.rules("metric = \"elephants\"\n");
    track
        .race(&[], [SHORT, LONG])
        .fails_with(2, &["deadheat.toml: metric elephants", "unknown metric"]);
    track
        .race(&["--metric", "tigers"], [SHORT, LONG])
        .fails_with(2, &["--metric tigers"]);
    track.rules("[[benchmark]]\nname = \"run\"\nmetric = \"elephants\"\n");
    track.race(&[], [SHORT, LONG]).fails_with(
        2,
        &["benchmark 'run'", "elephants", "deadheat.toml", "wall"],
    );
}

#[test]
fn a_resumed_race_has_to_pass_the_gate_as_well() {
    let track = Track::new();
    let run = track.slower();
    track.rules("fail-on = \"slower\"\n");
    let resumed = track.run(&["run", "-q", "--max-replicates", "1", "--resume", text(&run)]);
    says(&resumed, 1, &["the run fails"]);
}

/// Folders of saved results of Google Benchmark, recorded in turns, that were
/// slower in the second.
fn saved() -> [String; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/in_turns");
    ["jun", "may"].map(|name| folder.join(name).display().to_string())
}

#[test]
fn one_saved_file_a_side_is_too_close_to_call_for_a_gate() {
    let track = Track::new();
    let [old, new] = saved().map(|folder| format!("{folder}/1.json"));
    let compare = |rule: &str| track.run(&["compare", &old, &new, "--fail-on", rule]);
    says(&compare("slower"), 2, &["2 without a verdict"]);
    says(&compare("inconclusive"), 1, &["the run fails"]);
}

#[test]
fn saved_results_are_filtered_judged_and_excused_too() {
    let track = Track::new();
    let [old, new] = saved();
    let compare = |args: &[&str]| {
        let mut all = vec!["compare", &old, &new];
        all.extend(args);
        track.run(&all)
    };
    let plain = compare(&["--fail-on", "slower", "--format", "json"]);
    assert_eq!(plain.code, Some(1), "{plain:?}");
    let json = plain.json();
    let rows = json["benchmarks"].as_array().unwrap();
    let broken: Vec<&str> = rows
        .iter()
        .filter(|row| row["verdict"] == "slower")
        .map(|row| row["benchmark"].as_str().unwrap())
        .collect();
    let name = broken[0];
    let quoted = format!("'{name}'");
    track.rules(&format!("fail-on = \"slower\"\nexclude = [{quoted}]\n"));
    let json = compare(&["--format", "json"]).json();
    assert_eq!(json["benchmarks"].as_array().unwrap().len(), rows.len() - 1);
    track.rules(&format!(
        "fail-on = \"slower\"\n[[benchmark]]\nname = {quoted}\nmargin = \"90%\"\n"
    ));
    let json = compare(&["--format", "json"]).json();
    let rows = json["benchmarks"].as_array().unwrap();
    let row = rows.iter().find(|row| row["benchmark"] == name).unwrap();
    assert_eq!(
        (row["verdict"].as_str(), row["margin"].as_f64()),
        (Some("equivalent"), Some(0.9))
    );
    let ignores =
        "[[ignore]]\nname = \"*\"\nreason = \"all\"\n[[ignore]]\nname = \"gone\"\nreason = \"x\"\n";
    track.rules(&format!("fail-on = \"slower\"\n{ignores}"));
    says(
        &compare(&[]),
        0,
        &[
            "which is excused: all.",
            "line 5: no benchmark is called 'gone';",
        ],
    );
    says(
        &compare(&["--format", "markdown"]),
        0,
        &["which is excused: all."],
    );
}

#[test]
fn rules_of_a_recording_are_those_of_the_file() {
    let track = Track::new();
    let run = track.slower();
    let csv = track.path("race.csv");
    track
        .analyze(&["--export-csv", text(&csv), text(&run)])
        .succeeds();
    track.rules("fail-on = \"slower\"\n[[benchmark]]\nname = \"run\"\nmetric = \"minor-faults\"\nmargin = \"40%\"\n");
    let json = track.analyze(&["--json", text(&csv)]).succeeds().json();
    let row = &json["benchmarks"][0];
    assert_eq!(
        (row["metric"].as_str(), row["margin"].as_f64()),
        (Some("minor-faults"), Some(0.4))
    );
    track.rules("[[benchmark]]\nname = \"run\"\nmetric = \"elephants\"\n");
    track
        .analyze(&["--json", text(&csv)])
        .fails_with(2, &["elephants", "'run'", "deadheat.toml", "race.csv"]);
}

/// A gate that judged nothing, by each way to get there.
#[test]
fn a_gate_that_could_judge_nothing_says_why_and_fails() {
    let track = Track::new();
    let gate = ["--no-config", "--fail-on", "slower"];
    let blind = |done: &Finished, why: &str| {
        done.fails_with(2, &["could judge no benchmark", why, "--allow-unjudged"]);
    };
    let few = [&gate[..], &["-r", "4"]].concat();
    blind(&track.race(&few, [SHORT, LONG]), "too few for a verdict");
    let late = [&gate[..], &["--budget", "1ms", "-w", "0"]].concat();
    blind(&track.race(&late, [LONG, LONG]), "");
    let alone = [
        "run",
        "-q",
        "--no-config",
        "--fail-on",
        "slower",
        "--",
        SHORT,
    ];
    blind(&track.run(&alone), "measured alone");
    let [comment, tests] = ["comment.md", "tests.xml"].map(|name| track.path(name));
    let reports = ["--junit", text(&tests), "--markdown", text(&comment)];
    blind(
        &track.race(&[&few[..], &reports].concat(), [SHORT, LONG]),
        "",
    );
    let [comment, tests] = [comment, tests].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(
        comment.contains("✘ **The gate is closed: it could judge no benchmark**"),
        "{comment}"
    );
    assert!(
        tests.contains("errors=\"1\"") && tests.contains("name=\"the gate\""),
        "{tests}"
    );
    let json = track.race(&[&few[..], &["--json"]].concat(), [SHORT, LONG]);
    blind(&json, "");
    assert_eq!(json.json()["benchmarks"][0]["unjudged"], true);
    let accepted = track.race(&[&few[..], &["--allow-unjudged"]].concat(), [SHORT, LONG]);
    accepted.succeeds();
    assert!(
        accepted
            .stderr
            .contains("--allow-unjudged lets the gate pass"),
        "{accepted:?}"
    );
    track.rules("fail-on = [\"slower\"]\nallow-unjudged = true\n");
    track.race(&["-r", "4"], [SHORT, LONG]).succeeds();
    let denied = track.race(&["-r", "4", "--allow-unjudged=false"], [SHORT, LONG]);
    denied.fails_with(2, &["could judge no benchmark"]);
    // A rule that a missing verdict breaks has judged.
    let strict = ["--no-config", "--fail-on", "inconclusive", "-r", "4"];
    says(&track.race(&strict, [SHORT, LONG]), 1, &["breaks the rule"]);
}

#[test]
fn what_a_gate_could_not_judge_is_named_and_skipped() {
    let track = Track::new();
    // One benchmark has six files a side, the other one.
    for number in 1..=6 {
        for side in ["old", "new"] {
            let few = if number == 1 {
                "BenchmarkFew-8 10 70 ns/op\n"
            } else {
                ""
            };
            let tenths = usize::from(side == "new");
            let line = format!("BenchmarkAll-8 10 5{number}.{tenths} ns/op\n{few}");
            fs::write(track.path(&format!("{side}{number}.txt")), line).unwrap();
        }
    }
    let files = |side: &str| {
        (1..=6)
            .map(|number| format!("{side}{number}.txt"))
            .collect::<Vec<_>>()
    };
    let (old, new) = (files("old"), files("new"));
    let mut args = vec![
        "compare",
        "--no-config",
        "--fail-on",
        "slower",
        "--junit",
        "t.xml",
    ];
    args.extend(old.iter().map(String::as_str));
    args.push("--against");
    args.extend(new.iter().map(String::as_str));
    let done = track.run(&args);
    says(
        &done,
        0,
        &["the gate could not judge 'Few-8', which has no verdict"],
    );
    let junit = fs::read_to_string(track.path("t.xml")).unwrap();
    assert!(junit.contains("type=\"unjudged\""), "{junit}");
}
