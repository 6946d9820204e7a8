//! The share of a race of two builds that is not spent in samples.

use crate::{Setting, text};
use deadheat_validation::prelude::*;

/// Percent of the time that may go elsewhere.
const BAR: f64 = 25.0;

/// Seconds of a race, by what they went into.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spent {
    samples: f64,
    in_blocks: f64,
    between: f64,
    around: f64,
}

pub fn section(setting: &Setting) -> Section {
    let copy = setting.shop.scratched("copy");
    fs::copy(&setting.copies, &copy).expect("a copy");
    let races = setting.shop.count(6, 2);
    let (mut spent, mut seconds, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..races {
        let words = [text(&setting.copies), text(&copy), "--placement", "own"];
        let raced = setting.shop.race(&words);
        spent.push(Spent::of(&setting.shop.scratched("race.jsonl"), raced.seconds));
        seconds.push(raced.seconds);
        lengths.push(raced.in_samples / raced.samples as f64 * 1e6);
    }
    let shares = |part: fn(&Spent) -> f64| -> Vec<f64> {
        let of_all = spent.iter().zip(&seconds);
        of_all.map(|(spent, seconds)| 100.0 * part(spent) / seconds).collect()
    };
    let outside = shares(|spent| spent.in_blocks + spent.between + spent.around);
    let shown = |part| plain_spread(&shares(part), 1);
    Section {
        text: format!(
            "## Time outside the samples\n\n\
             A suite of nine functions in Rust, from 1 ns to 1 ms, raced against a copy of its \
             program {races} times. The races use the default settings, on the links as built \
             (`--placement own`). The section shows where the time of the whole process goes, from \
             start to exit. All figures are medians over the races, with the range in brackets. \
             {}% of the time is outside recorded samples. A suite takes {} s, and a sample lasts \
             {} µs.\n\n\
             | of the time | % |\n\
             | --- | --- |\n\
             | recorded samples | {} |\n\
             | in blocks, outside samples: priming, hand-overs, making inputs, records | {} |\n\
             | between replicates: ending two processes, moving the pages of their programs to new physical memory, starting and warming up the next two | {} |\n\
             | the clock, calibration runs and the answer | {} |\n\n",
            plain_spread(&outside, 1),
            plain_spread(&seconds, 2),
            plain_spread(&lengths, 0),
            shown(|spent| spent.samples),
            shown(|spent| spent.in_blocks),
            shown(|spent| spent.between),
            shown(|spent| spent.around),
        ),
        bars: vec![Bar::at_most(
            "time not spent in samples, whole suite, median",
            median(outside),
            BAR,
            1,
            "%",
        )],
    }
}

impl Spent {
    /// Of a run file, and of the seconds of the whole process.
    fn of(run: &Path, seconds: f64) -> Self {
        let run = fs::read_to_string(run).expect("a run file");
        let lines = run.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        Self::of_lines(&lines.collect::<Vec<Value>>(), seconds)
    }

    fn of_lines(lines: &[Value], seconds: f64) -> Self {
        let mut spent = Self::default();
        let mut before: Option<(Value, f64)> = None;
        let mut first_blocks = Vec::new();
        for line in lines.iter().filter(|line| line["block"].is_array()) {
            let [benchmark, replicate] = [0, 1].map(|place| line["block"][place].clone());
            let replicate = Value::from(vec![benchmark, replicate]);
            let end = line["elapsed_ns"].as_f64().expect("a time") / 1e9;
            let slots = line["samples"].as_array().expect("samples");
            // The wall time comes first among the metrics.
            let samples =
                slots.iter().map(|slot| slot[4].as_f64().expect("a wall time") / 1e9).sum::<f64>();
            spent.samples += samples;
            match &before {
                Some((same, last)) if *same == replicate => {
                    spent.in_blocks += end - last - samples;
                }
                last => {
                    let last = last.as_ref().map_or(0.0, |(_, last)| *last);
                    first_blocks.push(end - last - samples);
                }
            }
            before = Some((replicate, end));
        }
        // The first block of a replicate is primed and recorded like the others.
        let blocks = lines.iter().filter(|line| line["block"].is_array()).count();
        let others = (blocks - first_blocks.len()).max(1) as f64;
        let one = spent.in_blocks / others;
        spent.in_blocks += one * first_blocks.len() as f64;
        spent.between = first_blocks.iter().map(|time| time - one).sum();
        spent.around = seconds - before.map_or(0.0, |(_, end)| end);
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_second_goes_into_one_part() {
        let block = |place: [u32; 3], elapsed_ms: f64| {
            let slot = json!([0, 0, 0, 1, 1e6, 1e6]);
            json!({"block": place, "elapsed_ns": elapsed_ms * 1e6, "samples": [slot, slot]})
        };
        let lines = [
            json!({"deadheat": 1}),
            block([0, 0, 0], 13.0),
            block([0, 0, 1], 16.0),
            block([1, 0, 0], 26.0),
            block([1, 0, 1], 29.0),
            json!({"end": {}}),
        ];
        let spent = Spent::of_lines(&lines, 0.1);
        let ms = |seconds: f64| (seconds * 1e6).round() / 1e3;
        assert_eq!(ms(spent.samples), 8.0);
        assert_eq!(ms(spent.in_blocks), 4.0);
        assert_eq!(ms(spent.between), 17.0);
        assert_eq!(ms(spent.around), 71.0);
    }
}
