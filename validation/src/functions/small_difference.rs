//! The question whether a difference of 0.1% is found.

use deadheat::parts::model::Verdict;
use deadheat_validation::prelude::*;
use deadheat_validation::workloads::ONE_THOUSANDTH;

use crate::Setting;

const SECONDS: f64 = 60.0;
const POWER: f64 = 0.9;

/// Options that a user would type who wants to know. The first is the shortest that does it; the
/// second gives every process more to say.
const WAYS: [&[&str]; 2] = [
    &["--margin", "0.05%", "--max-replicates", "88", "--budget", "55s"],
    &["--margin", "0.05%", "--max-replicates", "88", "--budget", "55s", "--blocks", "100"],
];

pub fn section(setting: &Setting) -> Section {
    let races = setting.count(20, 3);
    let mut text = format!(
        "## A difference of 0.1%\n\n\
         The baseline is the function of about 25 µs, and the candidate does exactly 0.1% more \
         steps. Each set of options has {races} races on idle cores. *Seconds* is the time of the \
         whole process, and *change* is the estimate of each race; both are given as median \
         (range).\n\n\
         | options | slower, which is right | dead heat or faster, which is wrong | seconds | change, % |\n\
         | --- | --- | --- | --- | --- |\n"
    );
    let mut bars = Vec::new();
    for way in WAYS {
        let runs: Vec<SuiteRun> = (0..races)
            .map(|_| setting.suite.race_named(&[ONE_THOUSANDTH.to_owned()], way))
            .collect();
        let right = count(runs.iter().map(SuiteRun::only), &[Verdict::Slower]);
        let wrong = count(runs.iter().map(SuiteRun::only), &[Verdict::Faster, Verdict::Equivalent]);
        let seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
        let percent: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.only().estimate)
            .map(|estimate| estimate.effect.change() * 100.0)
            .collect();
        let options = way.join(" ");
        let _ = writeln!(
            text,
            "| `{options}` | {right} of {races} | {wrong} | {} | {} |",
            spread(&seconds, 2),
            plain_spread(&percent, 3)
        );
        let found_in_time = runs
            .iter()
            .filter(|run| run.seconds <= SECONDS && run.only().verdict == Some(Verdict::Slower));
        let slowest = seconds.iter().copied().fold(0.0, f64::max);
        bars.push(Bar::share(
            format!(
                "0.1% found within {SECONDS} s by `{options}` (the longest took {} s)",
                up(slowest, 2)
            ),
            found_in_time.count(),
            races,
            POWER,
        ));
    }
    text += "\n";
    Section { text, bars }
}
