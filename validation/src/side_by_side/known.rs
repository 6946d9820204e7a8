//! Changes of known size: how often they are found, and how often the interval covers them.

use crate::observation::{Observation, Verdict};
use crate::{Row, Setting, WEATHERS, not_measured, observed, told_errors};
use deadheat_validation::prelude::*;

struct Sought {
    name: &'static str,
    times: u32,
    percent: f64,
    /// Seconds of race time in which it is to be found.
    seconds: f64,
    options: &'static [&'static str],
    races: usize,
}

const SOUGHT: [Sought; 3] = [
    Sought { name: "20 ms +1%", times: 1, percent: 1.0, seconds: 5.0, options: &[], races: 60 },
    Sought { name: "100 ms +1%", times: 5, percent: 1.0, seconds: 5.0, options: &[], races: 60 },
    Sought {
        name: "100 ms +0.3%",
        times: 5,
        percent: 0.3,
        seconds: 60.0,
        // Within a margin of 1% such a change is a dead heat as soon as its interval is narrow.
        // The budget ends loaded races, of which a replicate takes longer.
        options: &["--margin", "0.1%", "--max-replicates", "150", "--budget", "59s"],
        races: 20,
    },
];

/// The share that must be found.
const FOUND: f64 = 0.95;

/// Changes whose size is to be covered, in percent.
const SIZES: [f64; 3] = [2.0, 5.0, 20.0];
const SIZE_RACES: usize = 40;
/// The steps of the baseline, in multiples of twelve million. Five of these take 100 ms.
const SIZE_TIMES: u32 = 5;
/// Metrics of the arrangements, in which start-up is measured.
const METRICS: [&str; 2] = ["cpu", "wall"];

pub fn rows(setting: &Setting) -> Vec<Row> {
    let command =
        |times: u32, percent: f64| format!("{} {percent} {times}", setting.busy.display());
    let mut rows = Vec::new();
    for (weather, is_loaded) in WEATHERS {
        for sought in &SOUGHT {
            rows.push(Row::deadheat(
                power_row(weather, sought.name),
                sought.races,
                is_loaded,
                sought.options,
                [0.0, sought.percent].map(|percent| command(sought.times, percent)),
            ));
        }
        for percent in SIZES {
            rows.push(Row::deadheat(
                size_row(weather, percent),
                SIZE_RACES,
                is_loaded,
                &[],
                [0.0, percent].map(|percent| command(SIZE_TIMES, percent)),
            ));
        }
    }
    for metric in METRICS {
        let launches = setting.workshop.count(200, 12).to_string();
        rows.push(Row::deadheat(
            start_up_row(metric),
            1,
            false,
            &["--arrangement", "turns", "--metric", metric, "-r", &launches],
            [0.0, -100.0].map(|percent| command(SIZE_TIMES, percent)),
        ));
    }
    rows
}

fn power_row(weather: &str, name: &str) -> String {
    format!("power {weather} {name}")
}

fn size_row(weather: &str, percent: f64) -> String {
    format!("size {weather} +{percent}%")
}

fn start_up_row(metric: &str) -> String {
    format!("size start-up {metric}")
}

pub fn power_section(kept: &Kept) -> Section {
    let heading = "Finding small changes";
    let mut bars = Vec::new();
    let mut table = String::new();
    for sought in &SOUGHT {
        for (weather, _) in WEATHERS {
            let races = observed(kept, &power_row(weather, sought.name));
            if races.is_empty() {
                continue;
            }
            let count =
                |is: &dyn Fn(&Observation) -> bool| races.iter().filter(|one| is(one)).count();
            let is_found = |one: &Observation| one.verdict == Verdict::Slower;
            let soon = count(&|one| is_found(one) && one.race_seconds <= sought.seconds);
            let seconds: Vec<f64> = races.iter().map(|one| one.whole_seconds).collect();
            let _ = writeln!(
                table,
                "| {}, {weather} | {} | {} | {} | {soon} in {} s | {} | {} | {} | {} |",
                sought.name,
                races.len(),
                count(&Observation::is_side_by_side),
                count(&is_found),
                sought.seconds,
                count(&|one| one.verdict == Verdict::Faster),
                count(&|one| one.verdict == Verdict::DeadHeat),
                count(&|one| one.verdict == Verdict::Open),
                spread(&seconds, 1)
            );
            bars.push(Bar::share(
                format!(
                    "{}, {weather}: slower within {} s of race time",
                    sought.name, sought.seconds
                ),
                soon,
                races.len(),
                FOUND,
            ));
        }
    }
    if table.is_empty() {
        return not_measured(heading);
    }
    let options: Vec<String> = SOUGHT
        .iter()
        .filter(|sought| !sought.options.is_empty())
        .map(|sought| format!("{} with `{}`", sought.name, sought.options.join(" ")))
        .collect();
    let text = format!(
        "## {heading}\n\n\
         The baseline is a program that does twelve million steps in registers (20 ms) or sixty \
         million (100 ms). The candidate is the same program with 1% or 0.3% more steps, so \
         *slower* is the right verdict. The time includes start-up, so the true changes are some \
         hundredths of a point smaller. All rows use default settings, except {}. The reason for \
         this exception is the default margin of 1%, with which a smaller change is a dead heat \
         once its interval lies within the margin. The columns are:\n\n\
         - *in time*: right verdicts within the given race time.\n\
         - *seconds*: the time of the whole process, median (range).\n\n\
         | what | races | side by side | slower | in time | faster | dead heats | too close to call | seconds |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n{table}\n{}",
        options.join(", "),
        told_errors(kept, "power ")
    );
    Section { text, bars }
}

fn start_up(kept: &Kept) -> [Option<f64>; 2] {
    METRICS.map(|metric| {
        let races = observed(kept, &start_up_row(metric));
        (!races.is_empty()).then(|| 1.0 + median(races.iter().map(|one| one.percent)) / 100.0)
    })
}

pub fn size_section(kept: &Kept) -> Section {
    let heading = "Covering known changes";
    let [cpu, wall] = start_up(kept);
    let mut table = String::new();
    let mut bars = Vec::new();
    for percent in SIZES {
        let (mut missed, mut all) = (0, 0);
        for (weather, _) in WEATHERS {
            let races = observed(kept, &size_row(weather, percent));
            if races.is_empty() {
                continue;
            }
            // Turns judge wall time.
            let truth = |one: &Observation| {
                let share = if one.is_side_by_side() { cpu } else { wall };
                percent * (1.0 - share.unwrap_or(0.0))
            };
            let covered = races.iter().filter(|one| one.covers(truth(one))).count();
            let errors = races.iter().map(|one| one.percent - truth(one));
            let errors: Vec<f64> = errors.collect();
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let square = errors.iter().map(|error| error.powi(2)).sum::<f64>();
            let half = races.iter().filter_map(|one| one.interval);
            let half = median(half.map(|(low, high)| (high - low) / 2.0));
            let _ = writeln!(
                table,
                "| +{percent}%, {weather} | {} | {} | {covered} | {mean:+.2} | {:.2} | {half:.2} | {} |",
                races.len(),
                races.iter().filter(|one| one.is_side_by_side()).count(),
                (square / errors.len() as f64).sqrt(),
                up(median(races.iter().map(|one| one.whole_seconds)), 1)
            );
            missed += races.len() - covered;
            all += races.len();
        }
        if all > 0 {
            bars.push(Bar::false_verdicts(
                format!("+{percent}%: intervals at stopping that miss the true change"),
                missed,
                all,
            ));
        }
    }
    if table.is_empty() {
        return not_measured(heading);
    }
    let share = |share: Option<f64>| {
        share
            .map_or("not measured, taken as 0".to_owned(), |share| format!("{:.2}%", share * 100.0))
    };
    let text = format!(
        "## {heading}\n\n\
         The program that takes 100 ms races against itself with more steps of its loop, at \
         default settings. The true change is the change in steps, reduced by the share of \
         start-up. A race in turns against the program without steps measured this share: {} of \
         CPU time, {} of wall time. The columns are:\n\n\
         - *covered*: races with an interval that contains the true change.\n\
         - *mean error*, *root mean square error*: of the estimates minus the true change, in \
         percentage points.\n\
         - *median half-width*: half the width of the interval, in percentage points.\n\n\
         | change | races | side by side | covered | mean error | root mean square error | median half-width | median seconds |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n{table}\n{}",
        share(cpu),
        share(wall),
        told_errors(kept, "size ")
    );
    Section { text, bars }
}
