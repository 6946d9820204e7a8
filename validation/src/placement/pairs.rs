//! The question how often a function is told apart from its twin: functions of many sizes and
//! shapes.

use deadheat_validation::prelude::*;
use deadheat_validation_kernels::kernels::{COMPILERS, PAIRS, pair};

use crate::Setting;
use crate::linked::Linked;
use crate::summary::Summary;

const ALPHA: f64 = 0.05;

/// Upper ends of sizes, in nanoseconds, and what they are called.
const SIZES: [(f64, &str); 4] = [
    (100.0, "up to 100 ns"),
    (1e3, "100 ns to 1 µs"),
    (1e4, "1 to 10 µs"),
    (f64::INFINITY, "above 10 µs"),
];

pub fn section(setting: &Setting) -> Section {
    let count = setting.count(PAIRS, 20);
    let names: Vec<String> = (0..count).map(pair).collect();
    let mut words = vec!["--seed", "1", "--exact"];
    words.extend(names.iter().map(String::as_str));
    let linked = Linked::plainly(setting);
    let neutral = linked.race(&words);
    let as_linked = linked.race_as_linked(&words);
    for races in [&neutral, &as_linked] {
        assert_eq!(races.len(), count, "every pair has an answer");
    }
    told(&neutral, &as_linked)
}

fn told(neutral: &[Race], as_linked: &[Race]) -> Section {
    let count = neutral.len();
    let allowed = binomial_bound(count as u64, ALPHA, 0.99);
    let mut text = format!(
        "## {count} functions against twins\n\n\
         In this section, {count} functions race against twins. The functions are random \
         combinations, from seeds, of one to three loops of arithmetic, branches, table look-ups, \
         strides, divisions, inner loops and choices. Each compiler compiles a third of the \
         functions. Each function is in one program twice, compiled from the same source. A \
         function and its twin do the same work, so every verdict of faster or slower is wrong. \
         Races use the defaults (alpha 5%, margin 1%). The user's own link is the one that cargo \
         makes by itself, without shuffling. At a true error rate of alpha, more than {allowed} \
         wrong verdicts in {count} races would occur in less than 1% of such experiments. \
         The columns are:\n\n\
         - *neutral*: each replicate runs on a neutral link, as in `cargo deadheat`.\n\
         - *as linked*: all replicates run on the link that cargo made, as in plain `cargo bench` \
         (`--placement own`).\n\
         - *95% bounds*: the Clopper–Pearson interval for the share of wrong verdicts.\n\
         - *change, %*: the lowest and the highest estimate.\n\n\
         | functions | pairs | neutral: faster or slower | 95% bounds | dead heat | too close to call | change, % | as linked: faster or slower | change, % |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let of_compiler = |name: &str, compiler: &str| name.ends_with(compiler);
    for compiler in COMPILERS {
        let chosen = |race: &&Race| of_compiler(&race.name, compiler);
        text += &row(compiler, neutral.iter().filter(chosen), as_linked.iter().filter(chosen));
    }
    let mut from = 0.0;
    for (to, size) in SIZES {
        // The same pairs on both sides, whatever the second run measured.
        let chosen: Vec<&str> = neutral
            .iter()
            .filter(|race| (from..to).contains(&race.baseline_ns))
            .map(|race| race.name.as_str())
            .collect();
        let chosen = |race: &&Race| chosen.contains(&race.name.as_str());
        text += &row(size, neutral.iter().filter(chosen), as_linked.iter().filter(chosen));
        from = to;
    }
    text += &row("all", neutral.iter(), as_linked.iter());
    text += "\n";
    let wrong: Vec<&Race> = neutral.iter().filter(|race| race.is_told_apart()).collect();
    if !wrong.is_empty() {
        let wrong = wrong.iter().map(|race| {
            format!("`{}` ({:.0} ns) {}%", race.name, race.baseline_ns, race.change.shown())
        });
        let wrong: Vec<String> = wrong.collect();
        let _ = writeln!(text, "Called different on neutral links: {}.\n", wrong.join("; "));
    }
    let share = |count: usize, of: usize| count as f64 / of as f64 * 100.0;
    let apart = wrong.len();
    let illusions = as_linked.iter().filter(|race| race.is_told_apart()).count();
    // A share above alpha is no proof that the rate is, and is not called
    // kept either without saying so.
    let remark = if share(apart, count) > ALPHA * 100.0 && apart as u64 <= allowed {
        ", above alpha, but within what chance allows"
    } else {
        ""
    };
    let bar = Bar::told(
        format!("{count} functions against twins: faster or slower (as linked: {illusions})"),
        format!("at most alpha = 5% (chance allows {allowed} of {count})"),
        format!("{apart} of {count} = {:.2}%{remark}", share(apart, count)),
        apart as u64 <= allowed,
    );
    Section { text, bars: vec![bar] }
}

fn row<'r>(
    what: &str,
    neutral: impl Iterator<Item = &'r Race>,
    as_linked: impl Iterator<Item = &'r Race>,
) -> String {
    let neutral: Vec<&Race> = neutral.collect();
    let as_linked: Vec<&Race> = as_linked.collect();
    if neutral.is_empty() {
        return String::new();
    }
    let count = neutral.len();
    let apart = |races: &[&Race]| races.iter().filter(|race| race.is_told_apart()).count();
    let wrong = apart(&neutral);
    let even = neutral.iter().filter(|race| race.verdict.as_deref() == Some("equivalent")).count();
    let (low, high) = share_bounds(wrong as u64, count as u64, 0.95);
    let range = |races: &[&Race]| Summary::of(races.iter().map(|race| race.change.percent)).range();
    format!(
        "| {what} | {count} | {wrong} ({:.1}%) | {:.1} to {:.1}% | {even} | {} | {} | {} ({:.1}%) | {} |\n",
        wrong as f64 / count as f64 * 100.0,
        low * 100.0,
        high * 100.0,
        count - wrong - even,
        range(&neutral),
        apart(&as_linked),
        apart(&as_linked) as f64 / count as f64 * 100.0,
        range(&as_linked),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_validation::answer::Change;
    use deadheat_validation::bars::table;

    fn races(apart: usize) -> Vec<Race> {
        let race = |number: usize| Race {
            name: pair(number),
            verdict: Some(if number < apart { "slower" } else { "equivalent" }.to_owned()),
            scope: "source".to_owned(),
            baseline_ns: 20.0 * (number + 1) as f64,
            change: Change {
                percent: if number < apart { 3.0 } else { 0.1 },
                interval: (0.0, 4.0),
            },
            replicates: 8,
            own: None,
        };
        (0..PAIRS).map(race).collect()
    }

    #[test]
    fn verdicts_are_counted_by_compiler_and_by_size() {
        let section = told(&races(3), &races(60));
        let text = &section.text;
        assert!(text.contains("| gcc | 67 | 1 (1.5%) |"), "{text}");
        assert!(text.contains("| up to 100 ns | 4 | 3 (75.0%) |"), "{text}");
        assert!(
            text.contains(
                "| all | 200 | 3 (1.5%) | 0.3 to 4.3% | 197 | 0 | +0.10 to +3.00 | 60 (30.0%) |"
            ),
            "{text}"
        );
        assert!(!text.contains("above 10"), "a row without pairs");
        assert!(text.contains("Called different on neutral links: `pair/000/gcc` (20 ns)"));
    }

    #[test]
    fn more_than_chance_allows_misses_the_bar() {
        assert!(
            table(&told(&races(18), &races(0)).bars)
                .contains("above alpha, but within what chance")
        );
        assert!(table(&told(&races(10), &races(0)).bars).contains("10 of 200 = 5.00% | met"));
        assert!(table(&told(&races(30), &races(0)).bars).contains("**missed**"));
    }
}
