//! The bias of sharing a core: pairs of programs that use caches differently, raced side by side and in
//! long races in turns.

use crate::observation::{Chosen, Observation};
use crate::{Row, Setting, not_measured, observed, told_errors};
use deadheat_validation::prelude::*;

/// Work of `memory.c`, and the bytes it uses.
type Work = (&'static str, u64);

#[derive(Clone, Copy)]
enum Amount {
    /// As much as takes the time of the baseline.
    EqualTime,
    /// The amount of the baseline.
    Equal,
    /// Some percent more than the baseline.
    More(u64),
}

struct Pair {
    name: &'static str,
    baseline: Work,
    candidate: Work,
    amount: Amount,
}

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

const fn pair(name: &'static str, baseline: Work, candidate: Work, amount: Amount) -> Pair {
    Pair { name, baseline, candidate, amount }
}

const fn more(name: &'static str, work: Work) -> Pair {
    pair(name, work, work, Amount::More(2))
}

const fn even(name: &'static str, baseline: Work, candidate: Work) -> Pair {
    pair(name, baseline, candidate, Amount::EqualTime)
}

const fn products(name: &'static str, bytes: u64, amount: Amount) -> Pair {
    pair(name, ("naive", bytes), ("blocked", bytes), amount)
}

const PAIRS: [Pair; 29] = [
    more("reads 16 KB, +2%", ("reads", 16 * KB)),
    more("reads 512 KB, +2%", ("reads", 512 * KB)),
    more("reads 8 MB, +2%", ("reads", 8 * MB)),
    more("reads 32 MB, +2%", ("reads", 32 * MB)),
    even("reads 16 KB, 512 KB", ("reads", 16 * KB), ("reads", 512 * KB)),
    even("reads 16 KB, 8 MB", ("reads", 16 * KB), ("reads", 8 * MB)),
    even("reads 512 KB, 8 MB", ("reads", 512 * KB), ("reads", 8 * MB)),
    even("reads 512 KB, 32 MB", ("reads", 512 * KB), ("reads", 32 * MB)),
    even("reads 8 MB, 32 MB", ("reads", 8 * MB), ("reads", 32 * MB)),
    more("chase 16 MB, +2%", ("chase", 16 * MB)),
    even("chase 256 KB, 1 MB", ("chase", 256 * KB), ("chase", MB)),
    even("chase 1 MB, 4 MB", ("chase", MB), ("chase", 4 * MB)),
    even("chase 1 MB, 16 MB", ("chase", MB), ("chase", 16 * MB)),
    more("stream 64 MB, +2%", ("stream", 64 * MB)),
    even("stream 256 KB, 4 MB", ("stream", 256 * KB), ("stream", 4 * MB)),
    even("stream 4 MB, 64 MB", ("stream", 4 * MB), ("stream", 64 * MB)),
    even("stream 4 MB, chase 1 MB", ("stream", 4 * MB), ("chase", MB)),
    products("products 0.1 MB, naive, blocked", 100 * KB, Amount::Equal),
    products("products 1 MB, naive, blocked", MB, Amount::Equal),
    products("products 8 MB, naive, blocked", 8 * MB, Amount::Equal),
    products("products 64 MB, naive, blocked", 64 * MB, Amount::Equal),
    products("products 1 MB, equal time", MB, Amount::EqualTime),
    products("products 8 MB, equal time", 8 * MB, Amount::EqualTime),
    more("join 1 MB, +2%", ("join", MB)),
    even("join 256 KB, 2 MB", ("join", 256 * KB), ("join", 2 * MB)),
    even("join 1 MB, 16 MB", ("join", MB), ("join", 16 * MB)),
    even("sort 1 MB, 8 MB", ("sort", MB), ("sort", 8 * MB)),
    more("sort 32 MB, +2%", ("sort", 32 * MB)),
    even("branches random, even", ("branchy", 0), ("even", 0)),
];

/// CPU time of a launch, unless its preparations take more than half of it.
const SECONDS: f64 = 0.06;
/// CPU time in which the work of a unit shows.
const SHOWS: f64 = 0.02;
const FIRST_AMOUNT: u64 = 100_000;
const LAUNCHES_TO_CALIBRATE: usize = 5;

/// Races of a pair, and launches of each side in one.
const RACES: usize = 3;
const LAUNCHES: [(&str, usize, usize); 2] = [("side-by-side", 60, 12), ("turns", 240, 12)];
const CHOICES: usize = 5;

const BIAS: f64 = 0.5;

/// The rows of all pairs that are wanted. Amounts of work come from a calibration that is kept, so
/// that later sittings race the same.
pub fn rows(setting: &Setting, wanted: &Wanted, kept: &mut Kept) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut program = None;
    for pair in &PAIRS {
        let names = ["side-by-side", "turns", "auto"].map(|how| row(how, pair.name));
        if !names.iter().any(|name| wanted.fits(name)) {
            continue;
        }
        let program = program.get_or_insert_with(|| compiled(setting));
        let amounts = amounts(program, pair, kept);
        let commands = [(pair.baseline, amounts[0]), (pair.candidate, amounts[1])]
            .map(|((kind, bytes), amount)| format!("{program} {kind} {bytes} {amount}"));
        for (arrangement, full, quick) in LAUNCHES {
            let launches = setting.workshop.count(full, quick).to_string();
            rows.push(Row::deadheat(
                row(arrangement, pair.name),
                RACES,
                false,
                &["--arrangement", arrangement, "--metric", "cpu", "-r", &launches],
                commands.clone(),
            ));
        }
        rows.push(Row::deadheat(row("auto", pair.name), CHOICES, false, &[], commands));
    }
    rows
}

fn row(how: &str, pair: &str) -> String {
    format!("bias {how} {pair}")
}

fn compiled(setting: &Setting) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/side_by_side/memory.c");
    let program = setting.workshop.scratched("memory");
    let mut compile = Command::new("cc");
    done(compile.args(["-O2", "-o"]).arg(&program).arg(source));
    text(&program).to_owned()
}

/// The amounts of both sides, kept or calibrated.
fn amounts(program: &str, pair: &Pair, kept: &mut Kept) -> [u64; 2] {
    let name = format!("bias amounts {}", pair.name);
    let wanted = [("row", name.as_str())];
    let before = kept.matching(&wanted).next();
    if let Some(amounts) = before.and_then(|line| read(&line["amounts"])) {
        return amounts;
    }
    eprintln!("  calibrating {} ...", pair.name);
    let sides = [pair.baseline, pair.candidate].map(|work| Calibration::new(program, work));
    let setup = match pair.amount {
        Amount::EqualTime => sides[0].setup.max(sides[1].setup),
        _ => sides[0].setup,
    };
    let seconds = SECONDS.max(2.0 * setup);
    let of = |side: &Calibration| ((seconds - side.setup) / side.each).max(1.0) as u64;
    let baseline = of(&sides[0]);
    let candidate = match pair.amount {
        Amount::EqualTime => of(&sides[1]),
        Amount::Equal => baseline,
        Amount::More(percent) => baseline + baseline * percent / 100,
    };
    kept.add(json!({"row": name, "amounts": [baseline, candidate]}));
    [baseline, candidate]
}

fn read(amounts: &Value) -> Option<[u64; 2]> {
    Some([amounts[0].as_u64()?, amounts[1].as_u64()?])
}

/// CPU seconds of some work: without any, and of each unit of it.
struct Calibration {
    setup: f64,
    each: f64,
}

impl Calibration {
    fn new(program: &str, (kind, bytes): Work) -> Self {
        let seconds = |amount: u64| {
            let words = [kind.to_owned(), bytes.to_string(), amount.to_string()];
            let words = words.each_ref().map(String::as_str);
            let launches = (0..LAUNCHES_TO_CALIBRATE).map(|_| cost(program, &words).cpu);
            launches.fold(f64::INFINITY, f64::min)
        };
        let setup = seconds(0);
        let mut amount = FIRST_AMOUNT;
        loop {
            let more = seconds(amount) - setup;
            if more >= SHOWS {
                let each = more / amount as f64;
                return Self { setup, each };
            }
            amount *= 4;
        }
    }
}

#[derive(Clone, Copy)]
struct Mean {
    percent: f64,
    error: f64,
}

impl Mean {
    /// All races of a row, weighted by their precision; `None` for no races.
    fn new(races: &[Observation]) -> Option<Self> {
        let mut sums = [0.0, 0.0];
        for one in races {
            let (low, high) = one.interval?;
            // A 95% interval of thirty replicates or more reaches two standard errors to either side.
            let weight = ((high - low) / 4.0).max(1e-3).powi(-2);
            sums[0] += weight;
            sums[1] += weight * one.percent;
        }
        (sums[0] > 0.0).then(|| Self { percent: sums[1] / sums[0], error: sums[0].powf(-0.5) })
    }

    fn minus(self, other: Self) -> Self {
        Self { percent: self.percent - other.percent, error: self.error.hypot(other.error) }
    }

    fn shown(self) -> String {
        format!("{:+.2} ± {:.2}", self.percent, self.error)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Finding {
    TurnsChosen,
    Within,
    /// Beyond half a point, by no more than two standard errors.
    Unclear,
    Beyond,
}

impl Finding {
    fn new(chosen: usize, bias: Mean) -> Self {
        let beyond = bias.percent.abs() - BIAS;
        match () {
            () if chosen == 0 => Self::TurnsChosen,
            () if beyond <= 0.0 => Self::Within,
            () if beyond <= 2.0 * bias.error => Self::Unclear,
            () => Self::Beyond,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::TurnsChosen => "turns chosen",
            Self::Within => "within half a point",
            Self::Unclear => "beyond half a point by no more than two standard errors",
            Self::Beyond => "**beyond half a point**",
        }
    }
}

pub fn section(kept: &Kept) -> Section {
    let heading = "Bias of sharing a core";
    let mut table = String::new();
    let mut findings = Vec::new();
    for pair in &PAIRS {
        let [beside, turns, auto] =
            ["side-by-side", "turns", "auto"].map(|how| observed(kept, &row(how, pair.name)));
        let Some((beside, turns)) = Mean::new(&beside).zip(Mean::new(&turns)) else {
            continue;
        };
        if auto.is_empty() {
            continue;
        }
        let bias = beside.minus(turns);
        let chosen = auto.iter().filter(|one| one.is_side_by_side()).count();
        let is_doubted = |one: &&Observation| one.chosen == Chosen::SideBySideWithDoubt;
        let finding = Finding::new(chosen, bias);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {chosen} of {} | {} | {} |",
            pair.name,
            turns.shown(),
            beside.shown(),
            bias.shown(),
            auto.len(),
            auto.iter().filter(is_doubted).count(),
            finding.word()
        );
        findings.push(finding);
    }
    if findings.is_empty() {
        return not_measured(heading);
    }
    let count = |wanted: Finding| findings.iter().filter(|one| **one == wanted).count();
    let bars = vec![Bar::told(
        "cache-heavy pairs: deadheat chose turns, or the bias is at most half a point",
        "every pair, within two standard errors",
        format!(
            "{} of {} pairs: turns for {}, bias within for {}, unclear for {}, beyond for {}",
            findings.len() - count(Finding::Beyond),
            findings.len(),
            count(Finding::TurnsChosen),
            count(Finding::Within),
            count(Finding::Unclear),
            count(Finding::Beyond)
        ),
        count(Finding::Beyond) == 0,
    )];
    let text = format!(
        "## {heading}\n\n\
         Programs that share a core also share its caches, so a race side by side could be biased. \
         This section races pairs of workloads of one C program \
         (`validation/src/side_by_side/memory.c`), by CPU time. A calibration on this machine sets \
         the amounts of work:\n\n\
         - In most pairs, both sides take equally long alone, about 60 ms.\n\
         - In pairs with *+2%*, the second side does 2% more.\n\
         - In pairs with products of matrices, the second side does as much work as the first, \
         unless the name has *equal time*.\n\n\
         The columns are:\n\n\
         - *in turns, %*: the mean change of {RACES} races of {} launches of each side with \
         `--arrangement turns --metric cpu`, ± its standard error. More precise races have more \
         weight in the mean. The standard error of a race is a quarter of the width of its 95% \
         interval.\n\
         - *side by side, %*: the same for {RACES} races of {} launches of each side with \
         `--arrangement side-by-side --metric cpu`.\n\
         - *bias, points*: *side by side* minus *in turns*.\n\
         - *side by side chosen*: races at default settings that ran side by side.\n\
         - *doubts*: the chosen races with a warning that a check with the commands in turns has \
         another result.\n\n\
         | pair | in turns, % | side by side, % | bias, points | side by side chosen | doubts | |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{table}\n{}",
        LAUNCHES[1].1,
        LAUNCHES[0].1,
        told_errors(kept, "bias ")
    );
    Section { text, bars }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Verdict;

    fn race(percent: f64, half: f64) -> Observation {
        Observation {
            verdict: Verdict::Open,
            chosen: Chosen::Turns,
            percent,
            interval: Some((percent - half, percent + half)),
            race_seconds: 1.0,
            whole_seconds: 1.0,
        }
    }

    #[test]
    fn precise_races_weigh_more() {
        let mean = Mean::new(&[race(1.0, 0.2), race(2.0, 0.4)]).unwrap();
        assert!((mean.percent - 1.2).abs() < 1e-9);
        assert!((mean.error - 0.1 / 1.25_f64.sqrt()).abs() < 1e-9);
        assert!(Mean::new(&[]).is_none());
    }

    #[test]
    fn a_bias_counts_only_where_races_run_side_by_side() {
        let bias = |percent| Mean { percent, error: 0.2 };
        assert!(Finding::new(0, bias(9.0)) == Finding::TurnsChosen);
        assert!(Finding::new(1, bias(-0.5)) == Finding::Within);
        assert!(Finding::new(1, bias(-0.8)) == Finding::Unclear);
        assert!(Finding::new(1, bias(1.0)) == Finding::Beyond);
    }
}
