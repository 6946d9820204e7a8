//! The JSON of a checkup: `deadheat.doctor/1`, described by `docs/schema/doctor-1.schema.json`.

use deadheat_model::doctor::{
    Checkup, CoreWatch, Effect, Facts, Finding, Host, PinReason, Quota, Refused, TurboSwitch,
};
use deadheat_model::{Json, Object, Pinning};

use super::numbers::list;
use super::remedies::{remedy, start_with};
use super::{describe, headline, option};
use crate::glyphs::Glyphs;
use crate::json::{self, all};

const SCHEMA: &str = "deadheat.doctor/1";

/// Formats the checkup as JSON, indented by two spaces, with a final line break.
pub fn to_doctor_json(checkup: &Checkup) -> String {
    let machine = Object::new()
        .with("system", &checkup.system)
        .with("kernel", checkup.kernel.as_ref())
        .with("cpu", checkup.cpu.as_ref())
        .with("online", numbers(&checkup.online))
        .with("allowed", numbers(&checkup.allowed));
    let document = json::document(SCHEMA, &checkup.tool_version)
        .with("machine", machine)
        .with("pin", pin(&checkup.pinning))
        .with("measured_on", checkup.measured_on)
        .with("seconds", checkup.seconds)
        .with("fitness", checkup.fitness().name())
        .with("summary", headline(checkup))
        .with("first", checkup.first().map(|one| one.topic().name()))
        .with("cores", all(&checkup.cores, core))
        .with(
            "findings",
            all(&checkup.findings, |one| finding(one, checkup)),
        )
        .with("advice", advice(checkup));
    json::text(document)
}

fn core(watch: &CoreWatch) -> Object {
    Object::new()
        .with("core", watch.core)
        .with("seconds", watch.seconds)
        .with("taken_away_per_s", watch.taken_away)
        .with("longest_ns", watch.longest_ns)
        .with("lost", watch.lost)
        .with("waiting", watch.waiting)
        .with("stolen", watch.stolen)
        .with("interrupts_per_s", watch.interrupts)
        .with("isolated", watch.isolated)
}

fn finding(finding: &Finding, checkup: &Checkup) -> Object {
    let words = describe(finding, checkup, Glyphs::Unicode);
    let remedy = remedy(finding, checkup).map(|remedy| {
        Object::new()
            .with("words", remedy.words)
            .with("command", remedy.command)
    });
    Object::new()
        .with("topic", finding.topic().name())
        .with("state", finding.state.name())
        .with("is", words.fact)
        .with("does", words.effect)
        .with("matters", words.meaning)
        .with("mend", remedy)
        .with("effects", all(&finding.effects, effect))
        .with("not_measured", finding.not_measured.map(|why| why.name()))
        .with("facts", facts(&finding.facts))
}

fn effect(effect: &Effect) -> Object {
    Object::new()
        .with("name", effect.kind.name())
        .with("value", effect.value)
        .with("unit", effect.kind.unit().name())
}

fn facts(facts: &Facts) -> Object {
    let object = Object::new();
    match facts {
        Facts::Clock {
            source,
            fallback,
            kernel,
            available,
        } => object
            .with("source", source)
            .with("fallback", fallback.as_ref())
            .with("kernel", kernel.as_ref())
            .with("available", texts(available)),
        Facts::Governor {
            governors,
            driver,
            range_khz,
        } => object
            .with("governors", texts(governors))
            .with("driver", driver.as_ref())
            .with("lowest_khz", range_khz.map(|(low, _)| low))
            .with("highest_khz", range_khz.map(|(_, high)| high)),
        Facts::Speeds {
            fast,
            slow,
            slowest,
            avoided,
        } => object
            .with("fast", numbers(fast))
            .with("slow", numbers(slow))
            .with("slowest", *slowest)
            .with("avoided", *avoided),
        Facts::Turbo {
            on,
            switch,
            other_core,
        } => object
            .with("on", *on)
            .with("switch", switch.map(turbo_switch))
            .with("other_core", *other_core),
        Facts::Smt {
            active,
            siblings,
            siblings_busy,
        } => object
            .with("active", *active)
            .with("siblings", numbers(siblings))
            .with("siblings_busy", *siblings_busy),
        Facts::Steal { since_start } => object.with("since_start", *since_start),
        Facts::Load {
            one_minute,
            running,
            pressure,
            cores,
        } => object
            .with("one_minute", *one_minute)
            .with("running", *running)
            .with("pressure", *pressure)
            .with("cores", *cores),
        Facts::Isolation {
            isolated,
            tickless,
            reachable,
        } => object
            .with("isolated", numbers(isolated))
            .with("tickless", numbers(tickless))
            .with("reachable", *reachable),
        Facts::Interrupts {
            busiest,
            other_core,
        } => object
            .with(
                "busiest",
                busiest.as_ref().map(|line| {
                    Object::new()
                        .with("irq", &line.label)
                        .with("name", &line.name)
                        .with("per_s", line.per_second)
                }),
            )
            .with("other_core", *other_core),
        Facts::Sharing {
            core,
            loop_ms,
            scheduler,
            slices,
            forks,
            autogroup,
            nice,
            policy,
            real_time_share,
            flaws,
        } => {
            let flaws = flaws.iter().map(|flaw| Json::from(flaw.name()));
            object
                .with("core", *core)
                .with("loop_ms", *loop_ms)
                .with("scheduler", scheduler.map(|one| one.name()))
                .with("slices", *slices)
                .with("forks", *forks)
                .with("autogroup", *autogroup)
                .with("nice", *nice)
                .with("policy", policy.map(|one| one.name()))
                .with("real_time_share", *real_time_share)
                .with("flaws", Json::Row(flaws.collect()))
        }
        Facts::Aslr {
            setting,
            switched_off,
        } => object
            .with("setting", setting.map(u32::from))
            .with("switched_off", *switched_off),
        Facts::HugePages { enabled, defrag } => object
            .with("enabled", enabled.as_ref())
            .with("defrag", defrag.as_ref()),
        Facts::Swap { total, used } => object.with("total_bytes", *total).with("used_bytes", *used),
        Facts::Thermal { hottest, throttled } => object
            .with(
                "hottest",
                hottest.as_ref().map(|heat| {
                    Object::new()
                        .with("sensor", &heat.name)
                        .with("celsius", heat.celsius)
                        .with("critical_celsius", heat.critical)
                }),
            )
            .with("throttled", *throttled),
        Facts::Virtualisation { host } => {
            let (is_virtual, maker) = match host {
                Host::Hardware => (Some(false), None),
                Host::VirtualMachine(maker) => (Some(true), maker.as_ref()),
                Host::Unknown => (None, None),
            };
            object.with("virtual", is_virtual).with("maker", maker)
        }
        Facts::Container {
            kind,
            version,
            quota,
        } => object
            .with("kind", kind.as_ref())
            .with("cgroup", version.map(u32::from))
            .with("quota", quota.as_ref().map(self::quota)),
        Facts::Counters { paranoid, refused } => object.with("paranoid", *paranoid).with(
            "refused",
            refused.as_ref().map(|why| match why {
                Refused::NotPermitted => "not-permitted",
                Refused::NotThere => "not-there",
                Refused::NotBuilt => "not-built",
                Refused::Other(words) => words,
            }),
        ),
        Facts::Build { debug_assertions } => object.with("debug_assertions", *debug_assertions),
    }
}

fn turbo_switch(switch: TurboSwitch) -> &'static str {
    match switch {
        TurboSwitch::NoTurbo => "intel_pstate/no_turbo",
        TurboSwitch::Boost => "cpufreq/boost",
        TurboSwitch::BoostOfCores => "cpu*/cpufreq/boost",
    }
}

fn quota(quota: &Quota) -> Object {
    Object::new()
        .with("cores", quota.cores)
        .with("period_ms", quota.period_ms)
        .with("file", &quota.file)
}

fn advice(checkup: &Checkup) -> Object {
    let advice = &checkup.advice;
    let reason = match advice.reason {
        PinReason::Isolated => "isolated",
        PinReason::Quietest => "quietest",
        PinReason::Alike => "alike",
        PinReason::OnlyOne => "only-one",
        PinReason::NotCompared => "not-compared",
    };
    Object::new()
        .with("option", option(&advice.pinning))
        .with("pin", pin(&advice.pinning))
        .with("cores", numbers(&advice.cores))
        .with("reason", reason)
        .with("start_with", start_with(checkup))
}

fn pin(pinning: &Pinning) -> String {
    match pinning {
        Pinning::Inherit => "none".to_owned(),
        Pinning::Auto => "auto".to_owned(),
        Pinning::Cores(cores) => list(cores),
    }
}

fn numbers(numbers: &[u32]) -> Json {
    Json::Row(numbers.iter().map(|number| Json::from(*number)).collect())
}

fn texts(texts: &[String]) -> Json {
    Json::Row(texts.iter().map(Json::from).collect())
}
