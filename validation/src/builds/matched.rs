//! Two builds on matched links and on independent ones: what the interval gains, whether added code
//! is taken for a difference, and what a matched link costs.

use crate::{Setting, text};
use deadheat_validation::prelude::*;

/// The standard error on matched links at equal time, in those on independent ones.
const GAIN: f64 = 0.7;

const COST: f64 = 1.3;

const BATCH: u32 = 6;

/// Races of this many replicates to the end: no look is passed at such a level, and the half-width
/// of the interval is the same multiple of the standard error in all of them.
const TO_THE_END: [&str; 4] = ["--alpha", "1e-9", "--max-replicates", "24"];

pub fn section(setting: &Setting) -> Section {
    let build = |name: &str, defines: &[&str]| {
        // Other questions have programs called `old`.
        let folder = format!("matched-{name}");
        fs::create_dir_all(setting.shop.scratched(&folder)).expect("a folder");
        let words: Vec<&str> = ["-pthread"].iter().chain(defines).copied().collect();
        (setting.shop).compile("matched.c", &format!("{folder}/matched"), &words, true)
    };
    let old = build("old", &[]);
    let grown = build("grown", &["-DGROWN"]);
    let slower = build("slower", &["-DGROWN", "-DPERCENT=1"]);
    let one_old = build("one-old", &["-DONE_INPUT"]);
    let one_grown = build("one-grown", &["-DONE_INPUT", "-DGROWN"]);
    let one_slower = build("one-slower", &["-DONE_INPUT", "-DGROWN", "-DPERCENT=1"]);
    let mut section = Section {
        text: "## Matched links\n\n\
               The raced function has many branches, and its program contains three hundred other \
               functions. The newer build differs from the older build in the other functions: one \
               of them is larger, and two are new. All three precede the raced function. *Matched* \
               links are the default, *independent* links are `--placement independent`, and the \
               single link *as built* is `--placement own`.\n\n"
            .to_owned(),
        bars: Vec::new(),
    };
    section.text += "In the first table, the candidate does 1% more work than the baseline. Every \
    race has 24 replicates and does not end early. The races on the three kinds of links take \
    turns. The *error* is half the width of the interval. For the column *at equal time*, the \
    error is multiplied by the square root of the seconds, and divided by the median of this \
    product on independent links.\n\n\
    On the single link *as built*, code layout does not vary between replicates. The measured \
    change then includes the effect of one fixed layout. If all blocks have the same input, most \
    of the error on independent links comes from code layout. With a new input in every block, the \
    branch predictor must learn every input, so the blocks scatter more.\n\n\
    | input | links | races | error, points, median (range) | at equal time | seconds | change, % |\n\
    | --- | --- | --- | --- | --- | --- | --- |\n";
    gain(setting, &mut section, "one", &one_old, &one_slower);
    gain(setting, &mut section, "new in every block", &old, &slower);
    section.text += "\n\
                     In the second table, the raced function is unchanged, and code was added in \
                     front of it. The races use the default settings, and so matched links. \
                     *Loaded* means that every core also runs a busy loop.\n\n\
                     | input | | races | faster or slower, which is wrong | dead heat | too close to call | change, % | seconds |\n\
                     | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    in_every_weather(|weather| {
        let one = ("one", weather, 400);
        false_verdicts(setting, &mut section, one, [&one_old, &one_grown]);
    });
    let new = ("new in every block", "idle", 200);
    false_verdicts(setting, &mut section, new, [&old, &grown]);
    section.text += "\n";
    cost(setting, &mut section, &old, &grown);
    section
}

/// Half the width of the interval, in percent.
fn error(raced: &Raced) -> f64 {
    let (low, high) = raced.rows[0].change.interval;
    (high - low) / 2.0
}

fn at_equal_time(raced: &Raced) -> f64 {
    error(raced) * raced.seconds.sqrt()
}

/// The change of the only benchmark, in percent.
fn change(raced: &Raced) -> f64 {
    raced.rows[0].change.percent
}

fn spread(raced: &[Raced], figure: impl Fn(&Raced) -> f64) -> String {
    let figures: Vec<f64> = raced.iter().map(figure).collect();
    plain_spread(&figures, 2)
}

/// The kinds of links, and the words for them.
const LINKS: [(&str, &str); 3] =
    [("matched", "neutral"), ("independent", "independent"), ("as built", "own")];

fn gain(setting: &Setting, section: &mut Section, input: &str, old: &Path, new: &Path) {
    let races = setting.shop.count(30, 3);
    let mut raced: [Vec<Raced>; 3] = Default::default();
    for round in 0..races {
        // In turns, so that no mood of the machine belongs to one of them.
        for kind in (0..LINKS.len()).map(|turn| (round + turn) % LINKS.len()) {
            let mut words = vec![text(old), text(new), "--placement", LINKS[kind].1];
            words.extend(TO_THE_END);
            raced[kind].push(setting.shop.race(&words));
        }
    }
    let [matched, independent, _] = &raced;
    let unit = median(independent.iter().map(at_equal_time));
    for ((what, _), raced) in LINKS.iter().zip(&raced) {
        let _ = writeln!(
            section.text,
            "| {input} | {what} | {races} | {} | {} | {} | {} |",
            spread(raced, error),
            spread(raced, |raced| at_equal_time(raced) / unit),
            spread(raced, |raced| raced.seconds),
            spread(raced, change)
        );
    }
    let ratio = median(matched.iter().map(at_equal_time)) / unit;
    section.bars.push(Bar::told(
        format!(
            "two builds, +1%, input: {input}: standard error at equal time, matched / independent"
        ),
        format!("at most {GAIN}"),
        up(ratio, 2),
        ratio <= GAIN,
    ));
}

fn false_verdicts(
    setting: &Setting,
    section: &mut Section,
    (input, weather, races): (&str, &str, usize),
    builds: [&Path; 2],
) {
    let races = setting.shop.count(races, 5);
    let raced: Vec<Raced> = (0..races).map(|_| setting.shop.race(&builds.map(text))).collect();
    let count = |verdict: &str| {
        let verdicts = raced.iter().map(|raced| raced.rows[0].verdict.as_deref());
        verdicts.filter(|told| *told == Some(verdict)).count()
    };
    let wrong = raced.iter().filter(|raced| raced.rows[0].is_told_apart()).count();
    let _ = writeln!(
        section.text,
        "| {input} | {weather} | {races} | {wrong} | {} | {} | {} | {} |",
        count("equivalent"),
        count("inconclusive"),
        spread(&raced, change),
        spread(&raced, |raced| raced.seconds)
    );
    section.bars.push(Bar::false_verdicts(
        format!(
            "code added before an unchanged function, input: {input}, {weather}: called faster or slower"
        ),
        wrong,
        races,
    ));
}

fn cost(setting: &Setting, section: &mut Section, old: &Path, grown: &Path) {
    let object = |program: &Path| program.with_extension("o");
    let elsewhere: PathBuf = setting.shop.scratched("linked");
    let own = || {
        let began = Instant::now();
        for _ in 0..BATCH {
            let mut link = Command::new("taskset");
            link.args(["-c", "0", "gcc", "-pthread"]).arg(object(old));
            let linked = link.arg("-o").arg(&elsewhere).status();
            assert!(linked.expect("gcc is there").success());
        }
        began.elapsed().as_secs_f64()
    };
    let mut seeds = 1_500_000_000..;
    let mut neutral = || {
        let began = Instant::now();
        let mut ask = Command::new("taskset");
        ask.args(["-c", "0"]).arg(&setting.shop.deadheat);
        ask.arg("placements").arg(old).arg("--beside").arg(grown);
        ask.args(seeds.by_ref().take(BATCH as usize).map(|seed: u32| seed.to_string()));
        let answer = ask.output().expect("links can be asked for").stdout;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let took = began.elapsed().as_secs_f64();
        assert!(answer.contains("\"matched\":true"), "{answer}");
        assert_eq!(answer.matches("{\"placed\"").count(), BATCH as usize, "{answer}");
        took
    };
    own();
    neutral();
    let rounds = setting.shop.count(15, 3);
    let ratios: Vec<f64> = (0..rounds).map(|_| neutral() / own()).collect();
    let _ = writeln!(
        section.text,
        "The last table has the time that deadheat takes for {BATCH} matched links, divided by the \
         time that gcc takes for {BATCH} links of the same program as usual, both on one core. The \
         ratio is given as median (range).\n\n\
         | {BATCH} matched links / {BATCH} of the user's own, one core | rounds |\n| --- | --- |\n| {} | {rounds} |\n",
        plain_spread(&ratios, 2)
    );
    let ratio = median(ratios.iter().copied());
    section.bars.push(Bar::told(
        format!("{BATCH} matched links / {BATCH} of the user's own, median"),
        format!("at most {COST}"),
        up(ratio, 2),
        ratio <= COST,
    ));
}
