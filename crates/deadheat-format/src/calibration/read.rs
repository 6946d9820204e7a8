//! A calibration from its JSON. What later versions add is passed over.

use deadheat_model::{
    CalibratedKind, Calibration, CalibrationEnd, Detectable, Found, Json, KnownDifference,
    LogRatio, Machine, NoiseFloor, Object, Promise, RaceKind, ReplicateCost, Share, Tally,
};

use super::written::CALIBRATION_SCHEMA;

/// Why a text holds no calibration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It is something else, or cut off.
    NoCalibration,
    /// A later deadheat wrote it.
    Newer(String),
    /// This field is missing or holds something else than it should.
    Field(&'static str),
}

/// The calibration in a text.
pub(super) fn calibration(text: &str) -> Result<Calibration, Problem> {
    let json = Json::parse(text).ok_or(Problem::NoCalibration)?;
    let whole = json.as_object().ok_or(Problem::NoCalibration)?;
    match whole.get("schema").and_then(Json::as_text) {
        Some(CALIBRATION_SCHEMA) => {}
        Some(schema) if schema.starts_with("deadheat.calibration/") => {
            return Err(Problem::Newer(schema.to_owned()));
        }
        _ => return Err(Problem::NoCalibration),
    }
    let tool = object(whole, "tool")?;
    let kinds = list(whole, "kinds")?;
    Ok(Calibration {
        tool_version: text_of(tool, "version")?,
        started_at: whole.get("started_at").and_then(Json::as_u64),
        machine: machine(object(whole, "machine")?)?,
        seed: count(whole, "seed")?,
        alpha: number(whole, "alpha")?,
        margin: number(whole, "margin")?,
        max_replicates: small(whole, "max_replicates")?,
        quick: whole.get("quick").and_then(Json::as_bool).unwrap_or(false),
        debug_build: whole
            .get("debug_build")
            .and_then(Json::as_bool)
            .unwrap_or(false),
        kinds: kinds.iter().map(kind).collect::<Result<_, _>>()?,
        elapsed_seconds: number(whole, "elapsed_s")?,
        ending: match whole.get("ended").and_then(Json::as_text) {
            Some("finished") => CalibrationEnd::Finished,
            Some("budget") => CalibrationEnd::Budget,
            Some("interrupted") => CalibrationEnd::Interrupted(signal(whole)?),
            _ => return Err(Problem::Field("ended")),
        },
    })
}

fn signal(whole: &Object) -> Result<i32, Problem> {
    let signal = whole.get("signal").and_then(Json::as_u64);
    let signal = signal.and_then(|signal| i32::try_from(signal).ok());
    signal.ok_or(Problem::Field("signal"))
}

fn machine(machine: &Object) -> Result<Machine, Problem> {
    let text = |name: &str| machine.get(name)?.as_text().map(str::to_owned);
    Ok(Machine {
        system: text_of(machine, "system")?,
        kernel: text("kernel"),
        cpu: text("cpu"),
        cores: optional(machine, "cores", small)?,
        id: text("id"),
    })
}

fn kind(json: &Json) -> Result<CalibratedKind, Problem> {
    let kind = json.as_object().ok_or(Problem::Field("kinds"))?;
    let name = kind.get("kind").and_then(Json::as_text);
    let promise = |name: &'static str| {
        let value = kind.get(name).and_then(Json::as_text);
        value
            .and_then(Promise::from_name)
            .ok_or(Problem::Field(name))
    };
    let coverage = optional(kind, "coverage", shares)?;
    Ok(CalibratedKind {
        kind: name
            .and_then(RaceKind::from_name)
            .ok_or(Problem::Field("kind"))?,
        problem: kind
            .get("problem")
            .and_then(Json::as_text)
            .map(str::to_owned),
        planned: count(kind, "planned")?,
        baseline_ns: optional(kind, "baseline_ns", number)?,
        calls: tally(kind)?,
        false_calls: shares(kind, "false_calls")?,
        promise: promise("promise")?,
        noise: optional(kind, "noise", noise)?,
        cost: optional(kind, "replicate", cost)?,
        detectable: list(kind, "detectable")?
            .iter()
            .map(detectable)
            .collect::<Result<_, _>>()?,
        known: list(kind, "known")?
            .iter()
            .map(known)
            .collect::<Result<_, _>>()?,
        coverage,
        coverage_promise: match coverage {
            Some(_) => Some(promise("coverage_promise")?),
            None => None,
        },
    })
}

fn tally(of: &Object) -> Result<Tally, Problem> {
    let tally = object(of, "calls")?;
    Ok(Tally {
        faster: count(tally, "faster")?,
        slower: count(tally, "slower")?,
        equivalent: count(tally, "equivalent")?,
        inconclusive: count(tally, "inconclusive")?,
    })
}

/// A share and its bounds, under this name.
fn shares(of: &Object, name: &'static str) -> Result<Share, Problem> {
    let share = object(of, name)?;
    let share = Share {
        hits: count(share, "hits")?,
        of: count(share, "of")?,
        low: number(share, "low")?,
        high: number(share, "high")?,
    };
    let bounded = 0.0 <= share.low && share.low <= share.high && share.high <= 1.0;
    match bounded && share.hits <= share.of {
        true => Ok(share),
        false => Err(Problem::Field(name)),
    }
}

fn noise(of: &Object, name: &'static str) -> Result<NoiseFloor, Problem> {
    let noise = object(of, name)?;
    Ok(NoiseFloor {
        estimate: change(noise, "floor")?,
        half_width: optional(noise, "half_width", change)?,
        process: optional(noise, "process", change)?,
        block: optional(noise, "block", change)?,
    })
}

fn cost(of: &Object, name: &'static str) -> Result<ReplicateCost, Problem> {
    let cost = object(of, name)?;
    Ok(ReplicateCost {
        seconds: number(cost, "seconds")?,
        blocks: small(cost, "blocks")?,
    })
}

fn detectable(json: &Json) -> Result<Detectable, Problem> {
    let detectable = json.as_object().ok_or(Problem::Field("detectable"))?;
    let found = |of: &Object, name: &'static str| {
        let found = object(of, name)?;
        Ok(Found {
            replicates: small(found, "replicates")?,
            effect: change(found, "change")?,
        })
    };
    Ok(Detectable {
        budget_seconds: number(detectable, "budget_s")?,
        at_defaults: optional(detectable, "at_defaults", found)?,
        at_most: optional(detectable, "at_most", found)?,
    })
}

fn known(json: &Json) -> Result<KnownDifference, Problem> {
    let known = json.as_object().ok_or(Problem::Field("known"))?;
    Ok(KnownDifference {
        change: number(known, "change")?,
        calls: tally(known)?,
        right: shares(known, "right")?,
        wrong: count(known, "wrong")?,
        covered: optional(known, "covered", shares)?,
        estimate: optional(known, "estimate", change)?,
    })
}

/// What is there and not null.
fn optional<T>(
    of: &Object,
    name: &'static str,
    read: impl FnOnce(&Object, &'static str) -> Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    match of.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(_) => read(of, name).map(Some),
    }
}

fn object<'a>(of: &'a Object, name: &'static str) -> Result<&'a Object, Problem> {
    let value = of.get(name).and_then(Json::as_object);
    value.ok_or(Problem::Field(name))
}

fn list<'a>(of: &'a Object, name: &'static str) -> Result<&'a [Json], Problem> {
    let value = of.get(name).and_then(Json::as_list);
    value.ok_or(Problem::Field(name))
}

fn text_of(of: &Object, name: &'static str) -> Result<String, Problem> {
    let value = of.get(name).and_then(Json::as_text);
    value.map(str::to_owned).ok_or(Problem::Field(name))
}

fn count(of: &Object, name: &'static str) -> Result<u64, Problem> {
    let value = of.get(name).and_then(Json::as_u64);
    value.ok_or(Problem::Field(name))
}

fn small(of: &Object, name: &'static str) -> Result<u32, Problem> {
    u32::try_from(count(of, name)?).map_err(|_| Problem::Field(name))
}

fn number(of: &Object, name: &'static str) -> Result<f64, Problem> {
    let value = of.get(name).and_then(Json::as_number);
    let value = value.filter(|value| value.is_finite());
    value.ok_or(Problem::Field(name))
}

/// A relative change, above −100 %.
fn change(of: &Object, name: &'static str) -> Result<LogRatio, Problem> {
    let change = number(of, name)?;
    match change > -1.0 {
        true => Ok(LogRatio::from_change(change)),
        false => Err(Problem::Field(name)),
    }
}
