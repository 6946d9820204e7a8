//! The report of a calibration, from calibrations made by hand.

use deadheat_model::{
    CalibratedKind, Calibration, CalibrationEnd, Detectable, Found, KnownDifference, LogRatio,
    Machine, NoiseFloor, Promise, RaceKind, ReplicateCost, Share, Tally,
};
use deadheat_report::{CalibrationOptions, to_calibration_markdown, to_calibration_text};

fn effect(change: f64) -> LogRatio {
    LogRatio::from_change(change)
}

fn share(hits: u64, of: u64, low: f64, high: f64) -> Share {
    Share {
        hits,
        of,
        low,
        high,
    }
}

fn tally(called: u64, equivalent: u64, inconclusive: u64) -> Tally {
    Tally {
        faster: called / 2,
        slower: called - called / 2,
        equivalent,
        inconclusive,
    }
}

fn known(change: f64, right: Share, covered: Option<Share>) -> KnownDifference {
    KnownDifference {
        change,
        calls: tally(right.hits, right.of - right.hits, 0),
        right,
        wrong: 0,
        covered,
        estimate: Some(effect(change * 1.01)),
    }
}

fn detectable(budget_seconds: f64, fit: u32, default: Option<(u32, f64)>) -> Detectable {
    let found = |(replicates, change)| Found {
        replicates,
        effect: effect(change),
    };
    Detectable {
        budget_seconds,
        at_defaults: default.map(found),
        at_most: default.map(|(replicates, change)| {
            let fewer = (f64::from(replicates) / f64::from(fit)).sqrt();
            found((fit, change * fewer))
        }),
    }
}

fn functions() -> CalibratedKind {
    let covered = share(59, 60, 0.9106, 0.9996);
    CalibratedKind {
        kind: RaceKind::Functions,
        problem: None,
        planned: 300,
        baseline_ns: Some(52_140.0),
        calls: tally(1, 297, 2),
        false_calls: share(1, 300, 0.000_084_4, 0.018_43),
        promise: Promise::Kept,
        noise: Some(NoiseFloor {
            estimate: effect(0.0021),
            half_width: Some(effect(0.0043)),
            process: Some(effect(0.0014)),
            block: Some(effect(0.0057)),
        }),
        cost: Some(ReplicateCost {
            seconds: 0.0049,
            blocks: 20,
        }),
        detectable: vec![
            detectable(1.0, 204, Some((40, 0.0012))),
            detectable(10.0, 2040, Some((40, 0.0012))),
            detectable(60.0, 12244, Some((40, 0.0012))),
        ],
        known: vec![
            known(
                0.001,
                share(2, 30, 0.0082, 0.2207),
                Some(share(30, 30, 0.8843, 1.0)),
            ),
            known(
                0.02,
                share(30, 30, 0.8843, 1.0),
                Some(share(29, 30, 0.8278, 0.9992)),
            ),
        ],
        coverage: Some(covered),
        coverage_promise: Some(Promise::Open),
    }
}

fn commands() -> CalibratedKind {
    CalibratedKind {
        kind: RaceKind::Commands,
        planned: 120,
        baseline_ns: Some(3_214_000.0),
        calls: tally(0, 30, 90),
        false_calls: share(0, 120, 0.0, 0.030_27),
        noise: Some(NoiseFloor {
            estimate: effect(0.0112),
            half_width: Some(effect(0.0133)),
            process: None,
            block: Some(effect(0.021)),
        }),
        cost: Some(ReplicateCost {
            seconds: 0.0161,
            blocks: 1,
        }),
        detectable: vec![
            detectable(1.0, 62, Some((40, 0.0121))),
            detectable(10.0, 621, Some((40, 0.0121))),
            detectable(60.0, 3726, Some((40, 0.0121))),
        ],
        known: vec![
            known(0.001, share(0, 10, 0.0, 0.3085), None),
            known(0.02, share(9, 10, 0.555, 0.9975), None),
        ],
        coverage: None,
        coverage_promise: None,
        ..functions()
    }
}

fn calibration(kinds: Vec<CalibratedKind>) -> Calibration {
    Calibration {
        tool_version: "0.1.0".to_owned(),
        started_at: Some(1_795_312_800),
        machine: Machine {
            system: "linux x86_64".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            cpu: Some("A Processor @ 3.0 GHz".to_owned()),
            cores: Some(2),
            id: Some("cbf29ce484222325".to_owned()),
        },
        seed: 7,
        alpha: 0.05,
        margin: 0.01,
        max_replicates: 40,
        quick: false,
        debug_build: false,
        kinds,
        elapsed_seconds: 214.3,
        ending: CalibrationEnd::Finished,
    }
}

const OPTIONS: CalibrationOptions<'_> = CalibrationOptions {
    width: 80,
    color: false,
    unicode: true,
    outdated: &[],
};

fn text(calibration: &Calibration) -> String {
    to_calibration_text(calibration, &OPTIONS)
}

/// Without line breaks, so that a sentence is found wherever it is broken.
fn flat(calibration: &Calibration) -> String {
    let text = text(calibration);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_quiet_machine_in_unicode() {
    insta::assert_snapshot!(text(&calibration(vec![functions(), commands()])));
}

#[test]
fn a_quiet_machine_in_ascii_and_forty_columns() {
    let options = CalibrationOptions {
        width: 40,
        unicode: false,
        ..OPTIONS
    };
    let told = to_calibration_text(&calibration(vec![functions(), commands()]), &options);
    assert!(told.is_ascii(), "{told}");
    insta::assert_snapshot!(told);
}

#[test]
fn a_quiet_machine_as_markdown() {
    insta::assert_snapshot!(to_calibration_markdown(&calibration(vec![
        functions(),
        commands()
    ])));
}

#[test]
fn few_races_are_told_apart_from_a_bad_machine() {
    let few = CalibratedKind {
        calls: tally(0, 12, 0),
        false_calls: share(0, 12, 0.0, 0.2646),
        promise: Promise::Open,
        ..functions()
    };
    let told = flat(&calibration(vec![few]));
    assert!(
        told.contains("Verdicts on this machine show no problem"),
        "{told}"
    );
    assert!(
        told.contains("0 of 12 with functions (true rate at most 26%)"),
        "{told}"
    );
    assert!(!told.contains("chance alone"), "{told}");
    // What is sure of one kind is told beside.
    let few = CalibratedKind {
        calls: tally(0, 12, 0),
        false_calls: share(0, 12, 0.0, 0.2646),
        promise: Promise::Open,
        ..commands()
    };
    let told = flat(&calibration(vec![functions(), few]));
    assert!(
        told.contains("? Verdicts on functions can be trusted on this machine: of"),
        "{told}"
    );
    assert!(told.contains("Verdicts on commands"), "{told}");
}

#[test]
fn a_rate_above_alpha_that_chance_explains_is_told_as_that() {
    let unlucky = CalibratedKind {
        calls: tally(1, 11, 0),
        false_calls: share(1, 12, 0.0021, 0.3848),
        promise: Promise::Open,
        ..functions()
    };
    let told = flat(&calibration(vec![unlucky]));
    assert!(told.contains("show no problem"), "{told}");
    assert!(
        told.contains(
            "8.3% of races of functions were called faster or slower, more than the 5% accepted"
        ),
        "{told}"
    );
}

#[test]
fn a_rate_surely_above_alpha_is_not_to_be_believed() {
    let bad = CalibratedKind {
        calls: tally(40, 260, 0),
        false_calls: share(40, 300, 0.0971, 0.1772),
        promise: Promise::Broken,
        ..functions()
    };
    let calibration = calibration(vec![bad, commands()]);
    let told = flat(&calibration);
    assert!(
        told.contains(
            "Verdicts on functions cannot be trusted on this machine: 40 of 300 races of functions"
        ),
        "{told}"
    );
    assert!(
        told.contains("at least 9.7%, although only 5% are accepted"),
        "{told}"
    );
    assert!(told.contains("Verdicts on commands"), "{told}");
    let coloured = CalibrationOptions {
        color: true,
        ..OPTIONS
    };
    let told = to_calibration_text(&calibration, &coloured);
    assert!(told.contains("\u{1b}[31m✘\u{1b}[0m Verdicts on"), "{told}");
}

#[test]
fn intervals_that_miss_what_is_known_are_not_to_be_believed_either() {
    let bad = CalibratedKind {
        coverage: Some(share(40, 60, 0.5331, 0.7831)),
        coverage_promise: Some(Promise::Broken),
        ..functions()
    };
    let told = flat(&calibration(vec![bad]));
    assert!(
        told.contains("40 of 60 intervals of functions contain the known change"),
        "{told}"
    );
}

#[test]
fn what_was_not_raced_is_told_with_its_reason() {
    let missing = CalibratedKind {
        kind: RaceKind::Builds,
        problem: Some("the executable could not be copied: no room\u{7}".to_owned()),
        planned: 120,
        baseline_ns: None,
        calls: Tally::default(),
        false_calls: share(0, 0, 0.0, 1.0),
        promise: Promise::Open,
        noise: None,
        cost: None,
        detectable: Vec::new(),
        known: Vec::new(),
        coverage: None,
        coverage_promise: None,
    };
    let told = flat(&calibration(vec![functions(), missing.clone()]));
    assert!(
        told.contains("Builds were not raced: the executable could not be copied"),
        "{told}"
    );
    assert!(!told.contains('\u{7}'));
    assert!(
        told.contains("Verdicts can be trusted on this machine"),
        "{told}"
    );
    let nothing = flat(&calibration(vec![missing]));
    assert!(nothing.contains("no race ran to its end"), "{nothing}");
}

#[test]
fn how_it_ended_and_what_else_limits_it_is_told() {
    let limited = Calibration {
        ending: CalibrationEnd::Interrupted(2),
        quick: true,
        debug_build: true,
        machine: Machine {
            cores: Some(1),
            ..Machine::default()
        },
        ..calibration(vec![functions()])
    };
    let told = flat(&limited);
    for said in [
        "Interrupted by SIGINT after 3 min 34 s, when 300 of 300 races",
        "A quick calibration",
        "Only one core is available",
        "a debug build",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    let spent = Calibration {
        ending: CalibrationEnd::Budget,
        ..limited
    };
    assert!(flat(&spent).contains("raise it with --budget"));
    let mut cut = functions();
    cut.planned += 5;
    let cut = Calibration {
        ending: CalibrationEnd::Budget,
        ..calibration(vec![cut, functions()])
    };
    assert!(flat(&cut).contains("(functions: 300 of 305); raise it with --budget"));
}

#[test]
fn a_calibration_of_another_machine_says_so() {
    let options = CalibrationOptions {
        outdated: &["kernel", "processor"],
        ..OPTIONS
    };
    let told = to_calibration_text(&calibration(vec![functions()]), &options);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("made with another kernel, another processor"),
        "{told}"
    );
}

#[test]
fn a_difference_counts_as_found_only_when_all_larger_ones_are() {
    let mut odd = functions();
    odd.known = vec![
        known(0.01, share(30, 30, 0.88, 1.0), None),
        known(0.02, share(10, 30, 0.17, 0.53), None),
        known(0.05, share(30, 30, 0.88, 1.0), None),
    ];
    let told = flat(&calibration(vec![odd.clone()]));
    assert!(
        told.contains("find a change in this work of 5% or more"),
        "{told}"
    );
    odd.known.pop();
    let told = flat(&calibration(vec![odd]));
    assert!(
        told.contains("find none of the tried changes in this work"),
        "{told}"
    );
}
