//! The words of the gates, in every shape of the answer.

use deadheat_model::{
    Analysis, Comparison, Confirmation, EndReason, Ending, Excuse, GateHit, Gates, Idle,
    IdleIgnore, InSuite, SuiteLevel, Unproven, Verdict,
};
use deadheat_report::{
    CommentOptions, ComparisonOptions, TextOptions, to_comment, to_comparison,
    to_comparison_markdown, to_json, to_junit, to_markdown, to_page, to_text,
};

use crate::{fixtures, saved};

fn hit(rule: &str, excuse: Option<(&str, Option<&str>)>) -> Option<GateHit> {
    Some(GateHit {
        rule: rule.to_owned(),
        excuse: excuse.map(|(reason, until)| Excuse {
            reason: reason.to_owned(),
            until: until.map(str::to_owned),
        }),
        unproven: None,
    })
}

fn idle(name: &str, rule: Option<&str>, line: u64, why: Idle) -> IdleIgnore {
    IdleIgnore {
        name: name.to_owned(),
        rule: rule.map(str::to_owned),
        line,
        why,
    }
}

/// A race that breaks rules, of which some are excused, by a rules file with
/// entries of every kind.
pub fn gated() -> Analysis {
    let one = |name: &str, gate| Comparison {
        benchmark: name.to_owned(),
        suite: InSuite {
            gate,
            ..fixtures::comparison(None, 0.05, 0.01).suite
        },
        ..fixtures::comparison(Some(Verdict::Slower), 0.05, 0.01)
    };
    let until = |until: &str, broken| Idle::Expired {
        until: until.to_owned(),
        broken,
    };
    Analysis {
        gates: Gates {
            asked: vec!["slower".to_owned()],
            config: Some("../deadheat.toml".to_owned()),
            suite: None,
            judged_nothing: false,
            allows_unjudged: false,
            idle: vec![
                idle("gone/*", None, 20, Idle::NoBenchmark),
                idle("sort", Some("slower"), 24, Idle::NothingBroken),
                idle("sort", None, 27, Idle::NothingBroken),
                idle("parse/json", None, 30, until("2026-01-31", true)),
                idle("parse/xml", None, 35, until("2026-02-28", false)),
            ],
        },
        ..fixtures::analysis(vec![
            one("parse/json", hit("slower", None)),
            one("parse/xml", hit("slower", None)),
            one(
                "hash/md5",
                hit("slower", Some(("rewritten in #123", Some("2026-12-31")))),
            ),
            one(
                "hash/sha1",
                hit("not-equivalent", Some(("nobody uses it.", None))),
            ),
            one("sort", None),
        ])
    }
}

/// All sentences about gates that a text holds, unwrapped.
fn said(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const SENTENCES: [&str; 9] = [
    "the run fails: 'parse/json' and 'parse/xml' break the rule 'slower'.",
    "'hash/md5' breaks the rule 'slower', which is excused until 2026-12-31: rewritten in",
    "'hash/sha1' breaks the rule 'not-equivalent', which is excused: nobody uses it.",
    "../deadheat.toml, line 20: no benchmark is called 'gone/",
    "../deadheat.toml, line 24: 'sort' does not break the rule 'slower' any more; remove its \
     excuse",
    "../deadheat.toml, line 27: 'sort' does not break a rule any more;",
    "line 30: the excuse of 'parse/json' expired after 2026-01-31; 'parse/json' still breaks a \
     rule, and this counts again.",
    "line 35: the excuse of 'parse/xml' expired after 2026-02-28, and it does not break a rule;",
    "rules come from ../deadheat.toml, unless the command line overrides them.",
];

#[test]
fn every_shape_for_people_says_the_same() {
    let compared = |analysis: Analysis| Analysis {
        sides: saved::two_files().sides,
        ..analysis
    };
    let options = ComparisonOptions::default();
    let texts = [
        to_text(&gated(), &TextOptions::default()),
        to_markdown(&gated()),
        to_comparison(&compared(gated()), &options),
        to_comparison_markdown(&compared(gated()), &options),
    ];
    for text in texts {
        let told = said(&text.replace("\n> ", "\n"));
        for sentence in SENTENCES {
            assert!(told.contains(sentence), "{sentence}\n{text}");
        }
    }
}

#[test]
fn what_fails_the_run_comes_first_and_is_marked() {
    let text = to_text(&gated(), &TextOptions::default());
    let fails = text.find("! the run fails").expect("it is said");
    let expired = text
        .find("warning: ../deadheat.toml, line 30")
        .expect("it is said");
    let excused = text
        .find("breaks the rule 'slower', which is excused")
        .expect("it is said");
    assert!(fails < expired && expired < excused, "{text}");
    let color = TextOptions {
        color: true,
        ..TextOptions::default()
    };
    assert!(to_text(&gated(), &color).contains("\u{1b}[31m!\u{1b}[0m the run fails"));
    assert!(to_markdown(&gated()).contains("\n- the run fails: "));
}

#[test]
fn without_rules_nothing_is_said_of_them() {
    for text in [
        to_text(&fixtures::suite(), &TextOptions::default()),
        to_markdown(&fixtures::suite()),
    ] {
        assert!(!text.contains("rule"), "{text}");
    }
}

#[test]
fn one_benchmark_that_breaks_a_rule_is_named_as_one_of_several_is() {
    let mut analysis = fixtures::race();
    for comparison in &mut analysis.comparisons {
        comparison.suite.gate = hit("slower", None);
    }
    let broken_by = |benchmark: &str, of_builds| {
        let mut analysis = analysis.clone();
        analysis.of_builds = of_builds;
        for comparison in &mut analysis.comparisons {
            benchmark.clone_into(&mut comparison.benchmark);
        }
        let text = said(&to_text(&analysis, &TextOptions::default()));
        let (_, broken) = text.split_once("the run fails: ").unwrap();
        let (broken, _) = broken.split_once(" breaks the rule ").unwrap();
        broken.to_owned()
    };
    assert_eq!(broken_by("sort", true), "'sort'");
    assert!(broken_by("sort", false).starts_with("'sort' ('"));
    // What `deadheat run` calls a race of any commands says nothing.
    assert!(!broken_by("run", false).contains("run"));
}

#[test]
fn the_json_holds_rules_excuses_and_idle_entries() {
    let json: serde_json::Value = serde_json::from_str(&to_json(&gated())).unwrap();
    assert_eq!(json["config"], "../deadheat.toml");
    let gate = |index: usize| json["benchmarks"][index]["gate"].to_string();
    assert_eq!(gate(0), r#"{"fails":true,"rule":"slower"}"#);
    assert_eq!(
        gate(2),
        r#"{"fails":false,"reason":"rewritten in #123","rule":"slower","until":"2026-12-31"}"#
    );
    assert_eq!(gate(4), "null");
    assert_eq!(json["idle_ignores"][3]["why"], "expired");
    assert_eq!(json["idle_ignores"][3]["broken"], true);
    assert_eq!(json["benchmarks"][0]["margin"], 0.01);
    assert_eq!(json["benchmarks"][0]["alpha"], 0.05);
}

#[test]
fn names_and_reasons_of_others_are_shown_as_text() {
    let mut analysis = gated();
    analysis.comparisons[2].suite.gate = hit(
        "slower",
        Some(("<script>alert(1)</script>\u{1b}[2J\n| [x](y)", None)),
    );
    analysis.gates.idle[0].name = "\u{202e}<img>".to_owned();
    let text = to_text(&analysis, &TextOptions::default());
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text}"
    );
    let markdown = to_markdown(&analysis);
    assert!(
        !markdown.contains("<script>") && !markdown.contains("<img>"),
        "{markdown}"
    );
}

/// A suite in which one benchmark is confirmed, one is not, and one is slower by itself only.
fn suite_of_doubts() -> Analysis {
    let one = |name: &str, unproven, agrees: Option<bool>| {
        let other = fixtures::comparison(Some(Verdict::Inconclusive), 0.004, 0.006);
        Comparison {
            benchmark: name.to_owned(),
            suite: InSuite {
                gate: hit("slower", None).map(|hit| GateHit { unproven, ..hit }),
                holds: unproven.is_none(),
                confirmation: agrees.map(|agrees| Confirmation {
                    verdict: other.verdict,
                    estimate: other.estimate,
                    alpha: 0.05,
                    agrees,
                }),
                ..other.suite
            },
            ..fixtures::comparison(Some(Verdict::Slower), 0.05, 0.01)
        }
    };
    Analysis {
        gates: Gates {
            asked: vec!["slower".to_owned()],
            suite: Some(SuiteLevel {
                comparisons: 3,
                detectable: Some(0.0131),
            }),
            ..Gates::default()
        },
        ..fixtures::analysis(vec![
            one("yes", None, Some(true)),
            one("no", Some(Unproven::SecondRace), Some(false)),
            one("weak", Some(Unproven::SuiteLevel), None),
        ])
    }
}

#[test]
fn a_second_race_and_the_level_of_the_suite_are_told_in_every_shape() {
    let analysis = suite_of_doubts();
    let sentences = [
        "the run fails: 'yes' (confirmed: +5.",
        ", then +0.4",
        "'no' (+5.",
        "breaks the rule 'slower', but the second race did not confirm this, so the run does not \
         fail for it.",
        "'weak' breaks the rule 'slower' if each comparison is judged by itself, but not after \
         correction for all 3 comparisons",
        "After the correction, the gate finds a change of +1.31% with 80% power. --confirm gives",
        "(by chance alone, fewer than 1 of 3 would change; 1 of the 3 changes holds after \
         correction for all 3 or confirmed by a second race)",
    ];
    for text in [
        to_text(&analysis, &TextOptions::default()),
        to_markdown(&analysis),
    ] {
        let told = said(&text.replace("\n> ", "\n").replace('\\', ""));
        for sentence in sentences {
            assert!(told.contains(sentence), "{sentence}\n{text}");
        }
    }
    let junit = to_junit(&analysis);
    for word in ["confirmed: +5.", "not confirmed: +5.", "unproven slower"] {
        assert!(junit.contains(word), "{word}\n{junit}");
    }
    let json: serde_json::Value = serde_json::from_str(&to_json(&analysis)).unwrap();
    let of = |index: usize| &json["benchmarks"][index];
    assert_eq!(of(0)["gate"]["fails"], true);
    assert_eq!(of(0)["confirmation"]["confirmed"], true);
    assert_eq!(of(1)["gate"]["unproven"], "second-race");
    assert_eq!(of(2)["gate"]["unproven"], "suite-level");
    assert_eq!(of(2)["gate"]["fails"], false);
    assert_eq!(json["gate_suite"]["comparisons"], 3);
}

#[test]
fn a_second_race_that_says_nothing_of_what_broke_a_rule_is_told_in_every_shape() {
    let ended = |reason| Some(Ending::Recorded(reason));
    let failure = EndReason::Failed("it panicked.\nat line 3".to_owned());
    for (second_race, how, kind) in [
        (
            ended(EndReason::Interrupted(2)),
            "was interrupted by SIGINT before",
            Some("interrupted"),
        ),
        (ended(failure), "failed before", Some("failed")),
        (Some(Ending::Cut), "was cut off before", Some("cut")),
        (ended(EndReason::Finished), "ended without", None),
    ] {
        let analysis = Analysis {
            second_race,
            ..suite_of_doubts()
        };
        let sentence = format!("the second race {how} a verdict on ");
        let comment = CommentOptions::default();
        for text in [
            to_text(&analysis, &TextOptions::default()),
            to_markdown(&analysis),
            to_comment(&analysis, None, &comment),
            to_page(&analysis, &fixtures::header()),
        ] {
            let told = said(&text.replace("\n> ", "\n").replace('\\', ""));
            assert!(told.contains(&sentence), "{sentence}\n{text}");
            // It was asked for already.
            assert!(!told.contains("--confirm races"), "{text}");
        }
        let junit = to_junit(&analysis);
        let is_error = junit.contains("name=\"the second race\"");
        assert_eq!(is_error, kind.is_some(), "{junit}");
        let json: serde_json::Value = serde_json::from_str(&to_json(&analysis)).unwrap();
        assert_eq!(json["second_race"]["ended"], kind.unwrap_or("finished"));
    }
    let failed = Analysis {
        second_race: ended(EndReason::Failed("it panicked.\nat line 3".to_owned())),
        ..suite_of_doubts()
    };
    let text = said(&to_text(&failed, &TextOptions::default()));
    let whole = "a verdict on 'weak', so the first race alone counts; the reason: it panicked. ";
    assert!(text.contains(whole), "{text}");
}

#[test]
fn a_second_race_with_a_verdict_on_everything_needs_no_word() {
    let mut analysis = suite_of_doubts();
    analysis.second_race = Some(Ending::Recorded(EndReason::Interrupted(2)));
    analysis.comparisons.truncate(2);
    let text = to_text(&analysis, &TextOptions::default());
    assert!(!text.contains("the second race was"), "{text}");
    assert!(!to_junit(&analysis).contains("name=\"the second race\""));
}
