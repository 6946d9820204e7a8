//! criterion, asked as its manual says: a saved baseline, then the candidate.

use crate::observed::{Answer, Call, ran, rounded};
use crate::plan::{LESS, Pair};
use deadheat_validation::prelude::*;

pub struct Criterion<'a> {
    pub program: &'a Path,
    pub folder: &'a Path,
    pub quick: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Measured {
    /// Interval and estimate, in nanoseconds.
    time: [f64; 3],
    change: Option<Changed>,
}

#[derive(Clone, Debug, PartialEq)]
struct Changed {
    /// Interval and estimate, in percent.
    percent: [f64; 3],
    p: f64,
    said: String,
    call: Call,
}

impl Criterion<'_> {
    /// The candidate beside a saved baseline of the same ID, which criterion
    /// compares by itself. The seconds are of both processes.
    pub fn compare(&self, pair: Pair, seed: u64) -> Result<(Answer, f64), String> {
        let (before, first) = self.run(&[("pair", pair.0)], seed, "--save-baseline")?;
        let (after, second) = self.run(&[("pair", pair.1)], seed, "--baseline")?;
        let changed = after[0].change.clone().ok_or("no line of the change")?;
        let [low, change, high] = changed.percent;
        let answer = Answer {
            call: changed.call,
            said: changed.said,
            change,
            interval: Some((low, high)),
            more: json!({
                "p": changed.p,
                "ns": [shown(before[0].time), shown(after[0].time)],
            }),
        };
        Ok((answer, first + second))
    }

    /// The experiment of the article: the two functions with a known
    /// difference one after the other, then the other one first, each beside
    /// its own result of before. The answer is that of the first order, which
    /// a reader of the two intervals would give.
    pub fn both_orders(&self, seed: u64) -> Result<(Answer, f64), String> {
        let [more, less] = [(LESS.0, LESS.0), (LESS.1, LESS.1)];
        let (one, first) = self.run(&[more, less], seed, "--save-baseline")?;
        let (other, second) = self.run(&[less, more], seed, "--baseline")?;
        let again = |measured: &Measured| {
            let changed = measured.change.as_ref().ok_or("no line of the change")?;
            Ok::<Value, String>(json!({
                "call": changed.call.key(),
                "change": rounded(changed.percent[1]),
            }))
        };
        let answer = Answer {
            call: Call::of_intervals(one[0].time, one[1].time),
            said: "by the intervals".to_owned(),
            change: (one[1].time[1] / one[0].time[1] - 1.0) * 100.0,
            interval: None,
            more: json!({
                "other": {
                    "call": Call::of_intervals(other[1].time, other[0].time).key(),
                    "change": rounded((other[0].time[1] / other[1].time[1] - 1.0) * 100.0),
                },
                "again": [again(&other[1])?, again(&other[0])?],
                "ns": [
                    [shown(one[0].time), shown(one[1].time)],
                    [shown(other[1].time), shown(other[0].time)],
                ],
            }),
        };
        Ok((answer, first + second))
    }

    fn run(
        &self,
        functions: &[(&str, &str)],
        seed: u64,
        baseline: &str,
    ) -> Result<(Vec<Measured>, f64), String> {
        let home = self.folder.join("criterion");
        if baseline == "--save-baseline" {
            let _ = fs::remove_dir_all(&home);
        }
        let asked: Vec<String> = functions.iter().map(|(id, f)| format!("{id}={f}")).collect();
        let mut command = Command::new(self.program);
        command
            .args(["--bench", baseline, "before"])
            .env("CRITERION_HOME", &home)
            .env("DEADHEAT_BENCHMARKS", asked.join(","))
            .env("DEADHEAT_TEXT", seed.to_string())
            .env("NO_COLOR", "1")
            .current_dir(self.folder);
        if self.quick {
            let short = ["--warm-up-time", "0.2", "--measurement-time", "0.6"];
            command.args(short);
        }
        let ran = ran(&mut command, &[0])?;
        let read = |(id, _): &(&str, &str)| read(&ran.stdout, id);
        let measured: Result<Vec<Measured>, String> = functions.iter().map(read).collect();
        Ok((measured?, ran.seconds))
    }
}

fn shown(time: [f64; 3]) -> Value {
    json!(time.map(|ns| (ns * 10.0).round() / 10.0))
}

fn read(text: &str, id: &str) -> Result<Measured, String> {
    let missing = |what: &str| format!("no {what} of {id} in {text:?}");
    let own = |line: &&str| line.split_whitespace().next() == Some(id) && line.contains("time:");
    let mut lines = text.lines().skip_while(|line| !own(line));
    let first = lines.next().ok_or_else(|| missing("time"))?;
    let time = bracketed(first, &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]);
    let time = time.ok_or_else(|| missing("time"))?;
    let mut rest = lines.take_while(|line| !line.contains("time:"));
    let Some(line) = rest.find(|line| line.trim_start().starts_with("change:")) else {
        return Ok(Measured { time, change: None });
    };
    let p = line.split("(p = ").nth(1);
    let p = p.and_then(|p| p.split_whitespace().next()?.parse().ok());
    let said = rest.next().unwrap_or("").trim().to_owned();
    let call = match said.as_str() {
        "Performance has improved." => Call::Faster,
        "Performance has regressed." => Call::Slower,
        "No change in performance detected." | "Change within noise threshold." => Call::None,
        _ => return Err(missing("words on the change")),
    };
    Ok(Measured {
        time,
        change: Some(Changed {
            percent: bracketed(line, &[("%", 1.0)]).ok_or_else(|| missing("change"))?,
            p: p.ok_or_else(|| missing("p-value"))?,
            said,
            call,
        }),
    })
}

fn bracketed(line: &str, units: &[(&str, f64)]) -> Option<[f64; 3]> {
    let inside = line.split('[').nth(1)?.split(']').next()?;
    // It writes a minus sign and no hyphen.
    let mut rest = inside.replace('−', "-");
    let mut numbers = [0.0; 3];
    for number in &mut numbers {
        let text = rest.trim_start();
        let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c)))?;
        let value: f64 = text[..end].parse().ok()?;
        let after = text[end..].trim_start();
        let (unit, factor) = units.iter().find(|(unit, _)| after.starts_with(unit))?;
        *number = value * factor;
        rest = after[unit.len()..].to_owned();
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
std_4925                time:   [997.55 ns 1.5 µs 9.4839 µs]
                        change: [−39.689% −35.811% +31.445%] (p = 0.00 < 0.05)
                        Performance has improved.
Found 1 outliers among 100 measurements (1.00%)
  1 (1.00%) high mild
std_5000                time:   [11.426 µs 11.948 µs 12.514 µs]
pair                    time:   [11.426 ms 11.948 ms 12.514 ms]
                        change: [-0.1% +0.2% +0.3%] (p = 0.31 > 0.05)
                        No change in performance detected.
";

    #[test]
    fn times_have_units_and_changes_minus_signs() {
        let less = read(TEXT, "std_4925").unwrap();
        assert_eq!(less.time, [997.55, 1_500.0, 9_483.9]);
        let change = less.change.unwrap();
        assert_eq!(change.percent, [-39.689, -35.811, 31.445]);
        assert_eq!((change.p, change.call), (0.0, Call::Faster));
        let pair = read(TEXT, "pair").unwrap();
        assert_eq!(pair.time[2], 12_514_000.0);
        assert_eq!(pair.change.unwrap().call, Call::None);
    }

    #[test]
    fn a_change_belongs_to_the_benchmark_above_it() {
        assert_eq!(read(TEXT, "std_5000").unwrap().change, None);
        assert!(read(TEXT, "std").unwrap_err().contains("no time of std"));
    }
}
