//! Checkups made by hand: what a page says, and what programs are told.

use deadheat_model::Pinning;
use deadheat_model::doctor::{
    BusyLine, Checkup, CoreWatch, Effect, EffectKind, Facts, Finding, Host, NotMeasured, PinAdvice,
    PinReason, Policy, Quota, Refused, Scheduler, Sensor, SharingFlaw, State, Topic, TurboSwitch,
};
use deadheat_report::{DoctorTextOptions, to_doctor_json, to_doctor_text};
use serde_json::Value;

const SCHEMA: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/doctor-1.schema.json"
));

const UNICODE: DoctorTextOptions = DoctorTextOptions {
    width: 80,
    color: false,
    unicode: true,
};

fn finding(state: State, facts: Facts, effects: &[(EffectKind, f64)]) -> Finding {
    Finding {
        facts,
        state,
        effects: effects
            .iter()
            .map(|(kind, value)| Effect::new(*kind, *value).expect("a number"))
            .collect(),
        not_measured: None,
    }
}

fn not_measured(state: State, facts: Facts, why: NotMeasured) -> Finding {
    Finding {
        not_measured: Some(why),
        ..finding(state, facts, &[])
    }
}

fn core(number: u32, lost: f64, waiting: f64) -> CoreWatch {
    CoreWatch {
        core: Some(number),
        seconds: 0.512,
        taken_away: 312.4,
        longest_ns: 4_021_000.0,
        lost,
        waiting: Some(waiting),
        stolen: Some(0.0),
        interrupts: Some(1_020.3),
        isolated: false,
    }
}

/// A finding about sharing: difference, standard error, standard deviation, share of the first.
fn shared(scheduler: Option<Scheduler>, flaws: &[SharingFlaw], measured: [f64; 4]) -> Finding {
    let [difference, error, scatter, first] = measured;
    let state = match flaws {
        [] => State::Fine,
        [SharingFlaw::Nice] => State::Minor,
        _ => State::Disturbs,
    };
    finding(
        state,
        Facts::Sharing {
            core: Some(3),
            loop_ms: 8.0,
            scheduler,
            slices: scheduler == Some(Scheduler::Eevdf),
            forks: scheduler.is_none(),
            autogroup: Some(true),
            nice: Some(0),
            policy: Some(Policy::Other),
            real_time_share: Some(0.95),
            flaws: flaws.to_vec(),
        },
        &[
            (EffectKind::SharingPairs, 100.0),
            (EffectKind::SharingDifference, difference),
            (EffectKind::SharingError, error),
            (EffectKind::SharingScatter, scatter),
            (EffectKind::SharingFirst, first),
            (EffectKind::SharingSwitches, 164.0),
            (EffectKind::SharingTurn, 4.02e6),
        ],
    )
}

/// A laptop on which a build runs.
fn laptop() -> Checkup {
    let facts = vec![
        finding(
            State::Fine,
            Facts::Container {
                kind: None,
                version: Some(2),
                quota: None,
            },
            &[(EffectKind::QuotaThrottled, 0.0)],
        ),
        finding(
            State::Fine,
            Facts::Steal {
                since_start: Some(0.0),
            },
            &[(EffectKind::Stolen, 0.0)],
        ),
        finding(
            State::Disturbs,
            Facts::Load {
                one_minute: Some(3.17),
                running: Some(5),
                pressure: Some(0.2341),
                cores: 8,
            },
            &[(EffectKind::Waiting, 0.034)],
        ),
        finding(
            State::Minor,
            Facts::Thermal {
                hottest: Some(Sensor {
                    name: "coretemp Package id 0".to_owned(),
                    celsius: 71.0,
                    critical: Some(100.0),
                }),
                throttled: Some(9),
            },
            &[(EffectKind::ThrottleEvents, 0.0)],
        ),
        finding(
            State::Minor,
            Facts::Swap {
                total: Some(2 << 30),
                used: Some(300 << 20),
            },
            &[(EffectKind::SwappedPages, 0.0)],
        ),
        finding(
            State::Disturbs,
            Facts::Interrupts {
                busiest: Some(BusyLine {
                    label: "131".to_owned(),
                    name: "iwlwifi".to_owned(),
                    per_second: 410.0,
                }),
                other_core: Some(0),
            },
            &[
                (EffectKind::TakenAway, 312.4),
                (EffectKind::LongestAway, 4_021_000.0),
                (EffectKind::TimeLost, 0.049),
                (EffectKind::Interrupts, 1_020.3),
                (EffectKind::TimerInterrupts, 251.0),
                (EffectKind::DeviceInterrupts, 415.0),
            ],
        ),
        shared(Some(Scheduler::Eevdf), &[], [0.0002, 0.0003, 0.0031, 0.62]),
        finding(
            State::Minor,
            Facts::Governor {
                governors: vec!["powersave".to_owned()],
                driver: Some("intel_pstate".to_owned()),
                range_khz: Some((400_000, 4_700_000)),
            },
            &[
                (EffectKind::WorkSpread, 0.031),
                (EffectKind::WorkDrift, -0.0042),
            ],
        ),
        finding(
            State::Disturbs,
            Facts::Turbo {
                on: Some(true),
                switch: Some(TurboSwitch::NoTurbo),
                other_core: Some(0),
            },
            &[(EffectKind::OtherSlowdown, 0.124)],
        ),
        finding(
            State::Minor,
            Facts::Smt {
                active: Some(true),
                siblings: vec![7],
                siblings_busy: Some(0.03),
            },
            &[(EffectKind::SiblingSlowdown, 0.61)],
        ),
        not_measured(
            State::Fine,
            Facts::Aslr {
                setting: Some(2),
                switched_off: false,
            },
            NotMeasured::TakesProcesses,
        ),
        finding(
            State::Fine,
            Facts::Clock {
                source: "tsc".to_owned(),
                fallback: None,
                kernel: Some("tsc".to_owned()),
                available: vec!["tsc".to_owned(), "hpet".to_owned()],
            },
            &[
                (EffectKind::ClockResolution, 12.3),
                (EffectKind::ClockCost, 17.0),
                (EffectKind::SystemClockCost, 21.4),
            ],
        ),
        finding(
            State::Minor,
            Facts::HugePages {
                enabled: Some("always".to_owned()),
                defrag: Some("madvise".to_owned()),
            },
            &[
                (EffectKind::SmallPageRead, 81.2),
                (EffectKind::HugePageRead, 42.0),
            ],
        ),
        finding(
            State::Minor,
            Facts::Isolation {
                isolated: vec![],
                tickless: vec![],
                reachable: false,
            },
            &[(EffectKind::TimeLost, 0.049)],
        ),
        finding(
            State::Minor,
            Facts::Counters {
                paranoid: Some(4),
                refused: Some(Refused::NotPermitted),
            },
            &[],
        ),
        finding(
            State::Fine,
            Facts::Virtualisation {
                host: Host::Hardware,
            },
            &[],
        ),
        finding(
            State::Fine,
            Facts::Build {
                debug_assertions: false,
            },
            &[],
        ),
    ];
    Checkup {
        tool_version: "0.1.0".to_owned(),
        system: "linux x86_64".to_owned(),
        kernel: Some("6.8.0-45-generic".to_owned()),
        cpu: Some("Intel(R) Core(TM) i7-1165G7 @ 2.80GHz".to_owned()),
        online: (0..8).collect(),
        allowed: (0..8).collect(),
        pinning: Pinning::Auto,
        cores: vec![core(0, 0.092, 0.071), core(3, 0.049, 0.034)],
        measured_on: Some(3),
        seconds: 2.713,
        findings: facts,
        advice: PinAdvice {
            pinning: Pinning::Cores(vec![3]),
            cores: vec![3],
            reason: PinReason::Quietest,
            start_with: vec![],
        },
    }
}

/// A server with a core set apart, which deadheat was not started with.
fn server() -> Checkup {
    let mut checkup = laptop();
    let quiet = CoreWatch {
        taken_away: 1.9,
        longest_ns: 2_100.0,
        lost: 0.000_004,
        waiting: Some(0.0),
        interrupts: Some(1.0),
        isolated: true,
        ..core(3, 0.0, 0.0)
    };
    checkup.cores = vec![core(0, 0.01, 0.0), quiet];
    for one in &mut checkup.findings {
        if let Facts::Isolation {
            isolated,
            tickless,
            reachable,
        } = &mut one.facts
        {
            *isolated = vec![3];
            *tickless = vec![3];
            *reachable = true;
        }
        if one.state != State::Fine {
            one.state = State::Fine;
        }
    }
    checkup.advice = PinAdvice {
        pinning: Pinning::Cores(vec![3]),
        cores: vec![3],
        reason: PinReason::Isolated,
        start_with: vec![0, 3],
    };
    checkup
}

/// A container on one core with a quota, in which most files are hidden.
fn sandbox() -> Checkup {
    let hidden = |facts| not_measured(State::Unknown, facts, NotMeasured::Hidden);
    Checkup {
        kernel: None,
        cpu: None,
        online: vec![],
        allowed: vec![1],
        system: "linux aarch64".to_owned(),
        cores: vec![CoreWatch {
            waiting: None,
            stolen: None,
            interrupts: None,
            ..core(1, 0.41, 0.0)
        }],
        measured_on: Some(1),
        findings: vec![
            finding(
                State::Disturbs,
                Facts::Container {
                    kind: Some("docker".to_owned()),
                    version: Some(2),
                    quota: Some(Quota {
                        cores: 0.5,
                        period_ms: 100.0,
                        file: "/sys/fs/cgroup/cpu.max".to_owned(),
                    }),
                },
                &[(EffectKind::QuotaThrottled, 0.38)],
            ),
            hidden(Facts::Steal { since_start: None }),
            hidden(Facts::Load {
                one_minute: None,
                running: None,
                pressure: None,
                cores: 1,
            }),
            hidden(Facts::Thermal {
                hottest: None,
                throttled: None,
            }),
            hidden(Facts::Swap {
                total: None,
                used: None,
            }),
            finding(
                State::Disturbs,
                Facts::Interrupts {
                    busiest: None,
                    other_core: None,
                },
                &[(EffectKind::TimeLost, 0.41)],
            ),
            not_measured(
                State::Disturbs,
                Facts::Sharing {
                    core: Some(1),
                    loop_ms: 8.0,
                    scheduler: None,
                    slices: false,
                    forks: false,
                    autogroup: None,
                    nice: Some(-5),
                    policy: Some(Policy::Fifo),
                    real_time_share: Some(0.95),
                    flaws: vec![SharingFlaw::RealTime],
                },
                NotMeasured::TooBusy,
            ),
            finding(
                State::Fine,
                Facts::Governor {
                    governors: vec![],
                    driver: None,
                    range_khz: None,
                },
                &[
                    (EffectKind::WorkSpread, 0.004),
                    (EffectKind::WorkDrift, 0.0),
                ],
            ),
            not_measured(
                State::Unknown,
                Facts::Turbo {
                    on: None,
                    switch: None,
                    other_core: None,
                },
                NotMeasured::OneCore,
            ),
            finding(
                State::Unknown,
                Facts::Smt {
                    active: None,
                    siblings: vec![],
                    siblings_busy: None,
                },
                &[],
            ),
            not_measured(
                State::Disturbs,
                Facts::Aslr {
                    setting: Some(2),
                    switched_off: true,
                },
                NotMeasured::TakesProcesses,
            ),
            finding(
                State::Minor,
                Facts::Clock {
                    source: "os".to_owned(),
                    fallback: Some("the kernel keeps time by hpet".to_owned()),
                    kernel: Some("hpet".to_owned()),
                    available: vec!["hpet".to_owned()],
                },
                &[
                    (EffectKind::ClockResolution, 480.0),
                    (EffectKind::ClockCost, 510.0),
                    (EffectKind::SystemClockCost, 505.0),
                ],
            ),
            not_measured(
                State::Unknown,
                Facts::HugePages {
                    enabled: None,
                    defrag: None,
                },
                NotMeasured::TooLittleMemory,
            ),
            finding(
                State::Minor,
                Facts::Counters {
                    paranoid: Some(2),
                    refused: Some(Refused::NotPermitted),
                },
                &[],
            ),
            finding(
                State::Unknown,
                Facts::Virtualisation {
                    host: Host::Unknown,
                },
                &[],
            ),
            finding(
                State::Minor,
                Facts::Build {
                    debug_assertions: true,
                },
                &[],
            ),
        ],
        advice: PinAdvice {
            pinning: Pinning::Inherit,
            cores: vec![1],
            reason: PinReason::OnlyOne,
            start_with: vec![],
        },
        ..laptop()
    }
}

/// Nothing but the loop, wherever it was moved to.
fn wandering() -> Checkup {
    let mut watch = core(0, 0.004, 0.0);
    watch.core = None;
    let mut checkup = laptop();
    for one in &mut checkup.findings {
        match &mut one.facts {
            Facts::Virtualisation { host } => {
                *host = Host::VirtualMachine(Some("KVM".to_owned()));
                one.state = State::Minor;
            }
            Facts::Counters { refused, .. } => {
                *refused = Some(Refused::Other("too many files".to_owned()));
            }
            Facts::Aslr { setting, .. } => {
                *setting = Some(1);
                one.state = State::Minor;
            }
            Facts::Turbo { switch, .. } => *switch = Some(TurboSwitch::BoostOfCores),
            Facts::Smt { .. } => {
                one.effects.clear();
                one.not_measured = Some(NotMeasured::SiblingNotAllowed);
            }
            _ => {}
        }
    }
    Checkup {
        pinning: Pinning::Inherit,
        cores: vec![watch],
        measured_on: None,
        advice: PinAdvice {
            pinning: Pinning::Auto,
            cores: vec![],
            reason: PinReason::NotCompared,
            start_with: vec![],
        },
        ..checkup
    }
}

/// A machine with two slow cores and two fast ones.
fn hybrid(avoided: bool) -> Checkup {
    let facts = Facts::Speeds {
        fast: vec![2, 3],
        slow: vec![0, 1],
        slowest: Some(0.4355),
        avoided,
    };
    let mut checkup = server();
    checkup.findings.push(finding(State::Minor, facts, &[]));
    checkup
}

fn everything() -> [Checkup; 6] {
    let [kinds, frequencies] = [true, false].map(hybrid);
    [
        laptop(),
        server(),
        sandbox(),
        wandering(),
        kinds,
        frequencies,
    ]
}

#[test]
fn slow_cores_are_named_and_avoided_by_option_where_races_use_them() {
    let pages = [true, false].map(|avoided| {
        let page = to_doctor_text(&hybrid(avoided), &UNICODE);
        let (_, about) = page.split_once("core speeds").expect("it is on the page");
        let (about, _) = about.split_once("\n✔").expect("fine findings follow");
        about.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    assert_eq!(
        pages,
        [
            "Cores 0 and 1 are slow: down to 44% of the speed of cores 2 and 3. Races use only \
             the fast cores, unless --pin lists others.",
            "Cores 0 and 1 are slow: down to 44% of the speed of cores 2 and 3. Functions race \
             on the fast cores. Commands may run on any core, so intervals widen. Fix: Keep \
             commands on the fast cores. $ deadheat run --pin 2-3 -- './old' './new'",
        ]
    );
}

#[test]
fn a_laptop_that_is_busy() {
    insta::assert_snapshot!(to_doctor_text(&laptop(), &UNICODE));
}

#[test]
fn a_sandbox_in_ascii_on_a_wide_terminal() {
    let options = DoctorTextOptions {
        width: 110,
        color: false,
        unicode: false,
    };
    let text = to_doctor_text(&sandbox(), &options);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_server_with_a_core_set_apart_in_colour() {
    let options = DoctorTextOptions {
        color: true,
        ..UNICODE
    };
    let text = to_doctor_text(&server(), &options);
    insta::assert_snapshot!(text.replace('\u{1b}', "ESC"));
}

#[test]
fn the_headline_agrees_in_number_with_what_disturbs() {
    let page = |topics: &[Topic]| {
        let mut checkup = server();
        for one in &mut checkup.findings {
            if topics.contains(&one.topic()) {
                one.state = State::Disturbs;
            }
        }
        to_doctor_text(&checkup, &UNICODE)
    };
    let said = [
        (&[Topic::Load][..], ": load disturbs it."),
        (&[Topic::Interrupts], ": interrupts disturb it."),
        (
            &[Topic::Load, Topic::Interrupts],
            ": load and interrupts disturb it.",
        ),
    ];
    for (topics, words) in said {
        let text = page(topics);
        let first = text.lines().next().expect("a headline");
        assert!(first.contains(words), "{first}");
    }
}

#[test]
fn every_flaw_of_sharing_has_its_advice() {
    let flaws = [
        (SharingFlaw::RealTime, Scheduler::Eevdf),
        (SharingFlaw::OneAfterTheOther, Scheduler::Eevdf),
        (SharingFlaw::OneAfterTheOther, Scheduler::Cfs),
        (SharingFlaw::Biased, Scheduler::SchedExt),
        (SharingFlaw::Scattered, Scheduler::Cfs),
        (SharingFlaw::Nice, Scheduler::Eevdf),
    ];
    let pages = flaws.map(|(flaw, scheduler)| {
        let one = shared(Some(scheduler), &[flaw], [-0.008, 0.0011, 0.011, 0.97]);
        let mut checkup = server();
        checkup.findings = vec![one];
        let page = to_doctor_text(&checkup, &UNICODE);
        let (_, about) = page
            .split_once("core sharing    ")
            .expect("it is on the page");
        let (about, _) = about.split_once("\n\n").expect("the table follows");
        format!("{}\n{about}\n", flaw.name())
    });
    insta::assert_snapshot!(pages.concat());
}

#[test]
fn where_the_scheduler_decides_no_core_is_named() {
    insta::assert_snapshot!(to_doctor_text(&wandering(), &UNICODE));
}

#[test]
fn lines_keep_to_the_width_but_for_commands_that_have_no_place_to_break() {
    for checkup in everything() {
        for width in [60, 80, 120] {
            let text = to_doctor_text(&checkup, &DoctorTextOptions { width, ..UNICODE });
            let mut continued = false;
            for line in text.lines() {
                let command = line.trim_start().starts_with("$ ") || continued;
                continued = command && line.ends_with('|');
                // The table of cores has cells that cannot be broken further.
                assert!(
                    line.chars().count() <= width || (command && width < 80),
                    "{width}: {line}"
                );
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn nothing_that_mends_is_missing_where_something_disturbs() {
    for checkup in everything() {
        let value: Value = serde_json::from_str(&to_doctor_json(&checkup)).unwrap();
        for one in value["findings"].as_array().unwrap() {
            let mend = !one["mend"].is_null();
            match one["state"].as_str().unwrap() {
                "disturbs" => assert!(mend && !one["matters"].is_null(), "{one:#}"),
                "fine" | "unknown" => assert!(!mend, "{one:#}"),
                _ => {}
            }
        }
    }
}

#[test]
fn mends_never_come_without_sudo_where_they_write_to_the_system() {
    for checkup in everything() {
        let text = to_doctor_text(&checkup, &UNICODE);
        for line in text.lines().filter(|line| line.contains("tee /")) {
            assert!(line.contains("sudo tee"), "{line}");
        }
    }
}

/// The published schema, and no field beyond it: what is written is described.
fn strict() -> Value {
    fn close(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let kinds = fields.get("type").map(Value::to_string);
                let is_object = kinds.is_some_and(|kinds| kinds.contains("object"));
                if is_object && fields.contains_key("properties") {
                    fields.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
                fields.values_mut().for_each(close);
            }
            Value::Array(values) => values.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = serde_json::from_str(SCHEMA).expect("it is JSON");
    close(&mut schema);
    schema
}

#[test]
fn everything_that_is_written_is_described_by_the_schema() {
    let validator = jsonschema::validator_for(&strict()).expect("the schema is one");
    for checkup in everything() {
        let value = serde_json::from_str(&to_doctor_json(&checkup)).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
    }
}

#[test]
fn the_schema_refuses_what_breaks_the_promise() {
    let validator = jsonschema::validator_for(&strict()).expect("the schema is one");
    let sound: Value = serde_json::from_str(&to_doctor_json(&laptop())).unwrap();
    assert!(validator.is_valid(&sound));
    for (pointer, wrong) in [
        ("/schema", Value::from("deadheat.doctor/2")),
        ("/fitness", Value::from("splendid")),
        ("/first", Value::from("dust")),
        ("/cores", Value::Array(vec![])),
        ("/cores/0/lost", Value::from(1.5)),
        ("/findings/2/state", Value::from("odd")),
        ("/findings/2/effects/0/unit", Value::from("furlong")),
        ("/findings/2/effects/0/value", Value::Null),
        ("/findings/2/facts/cores", Value::from("eight")),
        ("/findings/2/facts", serde_json::json!({})),
        ("/findings/4/facts/total_bytes", Value::from(-1)),
        ("/advice/reason", Value::from("mood")),
    ] {
        let mut broken = sound.clone();
        *broken.pointer_mut(pointer).expect("the field is written") = wrong;
        assert!(!validator.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn programs_are_told_what_people_are() {
    let value: Value = serde_json::from_str(&to_doctor_json(&laptop())).unwrap();
    assert_eq!(value["fitness"], "fair");
    assert_eq!(value["first"], "load");
    assert_eq!(value["advice"]["option"], "--pin 3");
    assert_eq!(value["advice"]["start_with"], Value::Null);
    let load = &value["findings"][2];
    assert_eq!(load["effects"][0]["name"], "waiting");
    assert_eq!(load["effects"][0]["value"], 0.034);
    assert_eq!(load["facts"]["running"], 5);
    let server: Value = serde_json::from_str(&to_doctor_json(&server())).unwrap();
    assert_eq!(server["advice"]["start_with"], "taskset -c 0,3");
    assert_eq!(server["fitness"], "good");
    let sandbox: Value = serde_json::from_str(&to_doctor_json(&sandbox())).unwrap();
    assert_eq!(sandbox["fitness"], "poor");
    assert_eq!(sandbox["machine"]["kernel"], Value::Null);
}
