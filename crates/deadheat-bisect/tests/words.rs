//! The report of a search for the commit that changed the time, from searches made by hand.

use std::path::Path;

use deadheat::parts::model::{LeftOutReason, LogRatio, Metric};
use deadheat::parts::report::{Glyphs, Terminal};
use deadheat_bisect::{
    BenchmarkChosen, BisectAnswer, BisectCommit, BisectEnd, BisectEvent, BisectLog, BisectPrior,
    BisectRequest, BisectStanding, Bisection, CommitBuilt, CommitDetails, CommitShare,
    CommitUnbuildable, CommitsBegun, CommitsRaced, OpenReason, OpenSearch, SeveralSteps,
    StepEstimate, UnmeasuredBenchmark, UnmeasuredReason,
};
use deadheat_bisect::{
    racing, story, to_bisect_json, to_bisect_markdown, to_bisect_page, to_bisect_text, was_cut,
};
use serde_json::Value;

fn change(change: f64) -> LogRatio {
    LogRatio::from_change(change)
}

fn share(first: usize, last: usize, probability: f64) -> CommitShare {
    CommitShare {
        first,
        last,
        probability,
    }
}

fn step(middle: f64) -> StepEstimate {
    StepEstimate {
        effect: change(middle),
        low: change(middle - 0.005),
        high: change(middle + 0.005),
    }
}

fn request() -> BisectRequest {
    let commit = |number: usize| BisectCommit {
        id: format!("{number}{}", "a".repeat(39)),
        committed_at: Some(1_709_210_096),
        subject: format!("Change <{number}>"),
        lines: None,
    };
    BisectRequest {
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_709_210_096),
        command: ["deadheat", "bisect", "v1..HEAD"]
            .map(str::to_owned)
            .to_vec(),
        good: "v1".to_owned(),
        bad: "HEAD".to_owned(),
        commits: (0..9).map(commit).collect(),
        aside: 2,
        judged: Metric::Wall,
        margin: change(0.01),
        alpha: 0.05,
        prior: BisectPrior::Uniform,
    }
}

fn standing(from: usize, to: usize) -> BisectStanding {
    let commits = (from + 1..=to).map(|commit| share(commit, commit, 0.96 / (to - from) as f64));
    BisectStanding {
        commits: commits.collect(),
        between: (from, to),
        held: 0.96,
        no_step: 0.01,
        several: 0.02,
        step: Some(step(0.021)),
        race: Some(step(0.02)),
        races_left: 3,
        seconds_left: 90.0,
    }
}

fn raced(from: usize, to: usize) -> BisectEvent {
    BisectEvent::Raced(CommitsRaced {
        from,
        to,
        benchmark: "parse".to_owned(),
        judged: None,
        effect: change(0.02),
        se: 0.002,
        df: 10.0,
        replicates: 11,
        seconds: 12.5,
        file: "run.jsonl".into(),
        was_cut: from > 0,
        is_placed: from > 0,
    })
}

fn bisection(answer: BisectAnswer, within: Option<(usize, usize)>) -> Bisection {
    let built = |commit, digest: &str| {
        BisectEvent::Built(CommitBuilt {
            commit,
            was_kept: commit == 4,
            seconds: 20.0,
            digest: Some(digest.to_owned()),
        })
    };
    let has_step = matches!(answer, BisectAnswer::Commits(_) | BisectAnswer::Open(_));
    let events = vec![
        (built(8, "c"), None),
        (built(0, "a"), None),
        (
            BisectEvent::Chosen(BenchmarkChosen {
                benchmark: "parse".to_owned(),
                called: vec!["print".to_owned()],
                changes: vec![change(-0.0312)],
                metrics: Vec::new(),
                is_slowdown: true,
                measured: 3,
                unmeasured: Vec::new(),
            }),
            None,
        ),
        (raced(0, 8), Some(standing(0, 8))),
        (built(4, "a"), None),
        (
            BisectEvent::Unbuildable(CommitUnbuildable {
                commit: 6,
                reason: "make: \u{1b}[31mno".to_owned(),
                seconds: 1.0,
            }),
            None,
        ),
        (BisectEvent::Resumed(None), None),
        (raced(4, 8), Some(standing(5, 7))),
        (
            BisectEvent::Ended(BisectEnd {
                answer,
                step: has_step.then(|| step(0.021)),
                within,
            }),
            None,
        ),
    ];
    let (events, standings) = events.into_iter().unzip();
    Bisection {
        log: BisectLog {
            request: request(),
            events,
        },
        standings,
        details: vec![CommitDetails {
            commit: 7,
            author: "Ada Lovelace".to_owned(),
            files: vec![
                ("src/parse.c".to_owned(), Some((38, 10))),
                ("logo.png".to_owned(), None),
            ],
        }],
        commands: vec![(
            "shows what the commit changes".to_owned(),
            "git show 7aaaaaaa".to_owned(),
        )],
    }
}

fn text(bisection: &Bisection) -> String {
    to_bisect_text(bisection, Terminal::new(100, false, false))
}

/// The first sentence, on one line.
fn sentence(answer: BisectAnswer, within: Option<(usize, usize)>) -> String {
    let text = text(&bisection(answer, within));
    let lines = text.lines().take_while(|line| !line.is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_culprit_is_named_with_all_that_it_rests_on() {
    insta::assert_snapshot!(text(&bisection(
        BisectAnswer::Commits(share(7, 7, 0.973)),
        None
    )));
}

#[test]
fn every_answer_has_its_sentence() {
    let one_of = sentence(BisectAnswer::Commits(share(5, 7, 0.9999)), None);
    let expected = "The step is at one of 3 commits, of which 2 do not build (over 99.9%): +2.10% \
                    time [+1.60%, +2.60%], slower: 5aaaaaaa, 6aaaaaaa and 7aaaaaaa";
    assert!(one_of.contains(expected), "{one_of}");
    let none = sentence(BisectAnswer::NoStep(0.962), None);
    assert!(
        none.contains(
            "There is no step of 0.5% or more between v1 (0aaaaaaa) and HEAD (8aaaaaaa) (96%)"
        ),
        "{none}"
    );
    let same = sentence(BisectAnswer::NoStep(1.0), None);
    assert!(same.contains("byte-identical"), "{same}");
    let several = SeveralSteps {
        from: 2,
        to: 4,
        probability: 0.98,
    };
    let several = sentence(BisectAnswer::NoSingleStep(several), None);
    assert!(
        several.contains("No single step explains the races (98%)"),
        "{several}"
    );
    assert!(
        several.contains("is between 2aaaaaaa and 4aaaaaaa"),
        "{several}"
    );
    let open = OpenSearch {
        reason: OpenReason::Budget,
        commits: vec![share(7, 7, 0.7), share(5, 6, 0.26)],
        no_step: 0.01,
        unmeasured: Vec::new(),
    };
    let open = sentence(BisectAnswer::Open(open), None);
    assert!(
        open.contains(
            "The search found no answer: the time budget was used up. If there is a step, it is \
             at one of \
             3 commits: 7aaaaaaa (70%) and 4aaaaaaa..6aaaaaaa (26%)"
        ),
        "{open}"
    );
    let within = sentence(BisectAnswer::Commits(share(7, 7, 0.97)), Some((4, 8)));
    assert!(
        within.contains("No single step explains all races"),
        "{within}"
    );
}

fn unmeasured(name: &str, reason: UnmeasuredReason) -> UnmeasuredBenchmark {
    UnmeasuredBenchmark {
        benchmark: name.to_owned(),
        reason,
    }
}

/// The text without its line breaks.
fn on_one_line(bisection: &Bisection) -> String {
    let text = text(bisection);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn benchmarks_without_a_result_are_named_and_no_step_is_said_of_the_others() {
    let only = LeftOutReason::OnlyIn("0aaaaaaa".to_owned());
    let twice = LeftOutReason::NotAlike("'8aaaaaaa' has 2 benchmarks of this name".to_owned());
    let failed = UnmeasuredReason::Failed("it exited with code 9".to_owned());
    let mut bisection = bisection(BisectAnswer::NoStep(0.962), None);
    for event in &mut bisection.log.events {
        if let BisectEvent::Chosen(chosen) = event {
            chosen.is_slowdown = false;
            chosen.unmeasured = vec![
                unmeasured("gone", UnmeasuredReason::LeftOut(only.clone())),
                unmeasured("twice", UnmeasuredReason::LeftOut(twice.clone())),
                unmeasured("broken", failed.clone()),
            ];
        }
    }
    let text = on_one_line(&bisection);
    for words in [
        "There is no step of 0.5% or more in the benchmarks that were measured between v1",
        "! benchmark 'broken' failed: it exited with code 9.",
        "note: 1 benchmark only in '0aaaaaaa': gone.",
        "note: 1 benchmark cannot be compared ('8aaaaaaa' has 2 benchmarks of this name): twice.",
        "note: Of the benchmarks that were measured, 'parse' changed most",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let story = story(&bisection, Glyphs::Ascii);
    assert!(
        story.contains("changed as well. benchmark 'broken' failed"),
        "{story}"
    );
    let json: Value = serde_json::from_str(&to_bisect_json(&bisection)).unwrap();
    let reasons = json["unmeasured"].as_array().unwrap().iter();
    let reasons: Vec<&str> = reasons.map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["only-in", "not-alike", "failed"]);
    assert!(validator().is_valid(&json), "{json:#}");
}

#[test]
fn a_first_race_that_was_too_short_names_some_benchmarks_and_no_commit() {
    let short =
        (0..8).map(|number| unmeasured(&format!("b{number}"), UnmeasuredReason::TooFewReplicates));
    let open = OpenSearch {
        reason: OpenReason::Budget,
        commits: vec![share(7, 7, 0.7)],
        no_step: 0.99,
        unmeasured: short.collect(),
    };
    let mut bisection = bisection(BisectAnswer::Open(open), None);
    let is_end = |event: &BisectEvent| matches!(event, BisectEvent::Ended(_));
    bisection.log.events.retain(is_end);
    bisection.standings = vec![None];
    let text = on_one_line(&bisection);
    assert!(
        text.contains("The search found no answer: the time budget was used up. The first race"),
        "{text}"
    );
    assert!(text.contains("'b4', 'b5' and 2 more"), "{text}");
    assert!(
        !text.contains("no step") && !text.contains("If there is"),
        "{text}"
    );
}

#[test]
fn other_metrics_than_time_are_told_by_their_name() {
    let mut bisection = bisection(BisectAnswer::Commits(share(7, 7, 0.97)), None);
    bisection.log.request.judged = Metric::Instructions;
    let text = text(&bisection);
    assert!(
        text.contains("+2.10% instructions [+1.60%, +2.60%], worse"),
        "{text}"
    );
}

#[test]
fn the_story_is_told_in_past_tense_and_escapes_what_others_wrote() {
    let bisection = bisection(BisectAnswer::Commits(share(7, 7, 0.973)), None);
    insta::assert_snapshot!(story(&bisection, Glyphs::Unicode));
}

#[test]
fn a_search_that_stopped_says_how_it_goes_on() {
    let mut bisection = bisection(BisectAnswer::NoStep(0.96), None);
    bisection.log.events.pop();
    assert!(story(&bisection, Glyphs::Unicode).ends_with("--resume continues it.\n"));
}

#[test]
fn what_is_said_on_the_way_names_the_sides_and_how_far_it_is() {
    let request = request();
    let line = racing(&request, (0, 8), None, Glyphs::Ascii);
    assert_eq!(
        line,
        "racing 8aaaaaaa against 0aaaaaaa, to see if there is any step"
    );
    let line = racing(&request, (4, 8), Some(&standing(4, 8)), Glyphs::Ascii);
    assert_eq!(
        line,
        "racing 8aaaaaaa against 4aaaaaaa; about 3 races left, 1 min 30 s"
    );
    let begun = CommitsBegun {
        from: 0,
        to: 8,
        file: "x".into(),
    };
    let counts = was_cut(&request, &begun, Some(9), Glyphs::Ascii);
    assert!(
        counts.contains("it counts with its 9 complete replicates"),
        "{counts}"
    );
    assert!(was_cut(&request, &begun, None, Glyphs::Ascii).contains("races it again if"));
}

#[test]
fn page_and_markdown_say_the_same_and_hold_no_markup_of_others() {
    let bisection = bisection(BisectAnswer::Commits(share(7, 7, 0.973)), None);
    let page = to_bisect_page(&bisection);
    assert!(
        page.contains("Change &lt;7&gt;") && !page.contains("<7>"),
        "{page}"
    );
    assert!(page.contains("src/parse.c") && page.contains("96%"));
    assert!(!page.contains("<script"));
    let markdown = to_bisect_markdown(&bisection);
    assert!(
        markdown.starts_with("## Which of 8 commits between v1"),
        "{markdown}"
    );
    assert!(markdown.contains("| raced | change |"), "{markdown}");
}

#[test]
fn the_json_of_every_answer_keeps_to_its_schema() {
    let validator = validator();
    let several = SeveralSteps {
        from: 2,
        to: 4,
        probability: 0.98,
    };
    let open = OpenSearch {
        reason: OpenReason::Races,
        commits: vec![share(7, 7, 0.7)],
        no_step: 0.01,
        unmeasured: Vec::new(),
    };
    for answer in [
        BisectAnswer::Commits(share(5, 7, 0.97)),
        BisectAnswer::NoStep(0.96),
        BisectAnswer::NoSingleStep(several),
        BisectAnswer::Open(open),
    ] {
        let json: Value =
            serde_json::from_str(&to_bisect_json(&bisection(answer, Some((4, 8))))).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&json)
            .map(|e| e.to_string())
            .collect();
        assert!(wrong.is_empty(), "{json:#}: {wrong:?}");
    }
    let json = to_bisect_json(&bisection(BisectAnswer::Commits(share(7, 7, 0.973)), None));
    insta::assert_snapshot!(json);
}

fn validator() -> jsonschema::Validator {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/bisect-answer-1.schema.json");
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    forbid_the_unnamed(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

/// Forbids every field that the schema does not name.
fn forbid_the_unnamed(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_the_unnamed);
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_the_unnamed),
        _ => {}
    }
}
