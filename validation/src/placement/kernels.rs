//! Two kernels against twins of theirs, under many orders of the user's link.

use deadheat_validation::prelude::*;
use deadheat_validation_kernels::kernels::{
    AROUND, COMPILERS, FEWER, KERNELS, MORE, SAME, more, same,
};

use crate::Setting;
use crate::linked::Linked;
use crate::summary::Summary;

const ORDERS: usize = 12;

/// The work that the candidate of every other race does more, in percent.
const TRUTH: f64 = 2.0;

/// The distance allowed between a neutral estimate of twins and nought, in percent.
fn tolerance(kernel: &str) -> f64 {
    if kernel == "hash" { 0.3 } else { 1.0 }
}

/// The options on the command line. The bars want 144 answers right at once, which an alpha of 5%
/// each would not give; and estimates to a few tenths of a percent take more than a verdict at the
/// default margin.
const WORDS: [&str; 6] = ["--alpha", "0.001", "--margin", "0.5%", "--blocks", "100"];

/// One kernel of one compiler under every order, the same race each time.
struct Row<'r> {
    compiler: &'r str,
    kernel: &'r str,
    races: Vec<&'r Race>,
}

pub fn section(setting: &Setting) -> Section {
    let orders = setting.count(ORDERS, 2);
    let under_orders: Vec<Vec<Race>> = (1..=orders)
        .map(|order| {
            eprintln!("  order {order} of {orders}");
            let names = COMPILERS.iter().flat_map(|compiler| {
                KERNELS
                    .iter()
                    .flat_map(move |kernel| [same(compiler, kernel), more(compiler, kernel)])
            });
            let names: Vec<String> = names.collect();
            let seed = order.to_string();
            let mut words = WORDS.to_vec();
            words.extend(["--seed", &seed, "--exact"]);
            words.extend(names.iter().map(String::as_str));
            let races = Linked::in_order(setting, order).race(&words);
            assert_eq!(races.len(), names.len(), "every race has an answer");
            races
        })
        .collect();
    let mut section = Section { text: introduction(orders), bars: Vec::new() };
    twins(&rows(&under_orders, same), &mut section);
    two_percent(&rows(&under_orders, more), &mut section);
    section.text += &raw(&under_orders);
    section
}

fn introduction(orders: usize) -> String {
    format!(
        "## Two kernels under {orders} link orders\n\n\
         This section has races between two copies of a function, and between functions that \
         differ by 2%, in programs with different link orders. The two functions (kernels) are a \
         hash similar to FNV that branches on its data, and a branching sum that reads every \
         seventh of 1,024 random words. gcc and clang compile both from C (`-O2 \
         -ffunction-sections`), and rustc compiles both from Rust. One program contains each of \
         these kernels twice, byte for byte the same at two addresses, among {AROUND} small \
         functions and all functions of the next section.\n\n\
         `cargo deadheat` links the program {orders} times, as if by {orders} users, from the same \
         objects and with the compilers' alignment: `-Wl,--shuffle-sections=.text*=1` to \
         `{orders}`, by lld. Each link races with `{}`. The targets above require 144 right \
         answers at once, so each race may be wrong in one of a thousand cases instead of one in \
         twenty.\n\n\
         The columns are:\n\n\
         - *own link*: the estimate of the race on the user's own link, which has no verdict.\n\
         - *neutral*: the estimate of the race on neutral links, which gives the verdict.\n\
         - *change*: the lowest and the highest estimate over the link orders, in percent.\n\
         - *sd*: the standard deviation of the estimates over the link orders.\n\
         - *0 outside its interval*: link orders in which the interval of the own link excludes \
         the true change, zero.\n\n",
        WORDS.join(" ")
    )
}

fn rows<'r>(under_orders: &'r [Vec<Race>], name: fn(&str, &str) -> String) -> Vec<Row<'r>> {
    let find = |name: String| {
        let races = under_orders.iter().map(move |races| {
            let found = races.iter().find(|race| race.name == name);
            found.unwrap_or_else(|| panic!("{name} was not raced"))
        });
        races.collect()
    };
    let pairs = COMPILERS
        .iter()
        .flat_map(|compiler| KERNELS.iter().map(move |kernel| (*compiler, *kernel)));
    pairs
        .map(|(compiler, kernel)| Row { compiler, kernel, races: find(name(compiler, kernel)) })
        .collect()
}

impl Row<'_> {
    fn neutral(&self) -> Summary {
        Summary::of(self.races.iter().map(|race| race.change.percent))
    }

    fn own(&self) -> Vec<Change> {
        let own = |race: &&Race| {
            race.own.unwrap_or_else(|| panic!("{}: nothing of the own link", race.name))
        };
        self.races.iter().map(own).collect()
    }

    fn count(&self, wanted: impl Fn(&Race) -> bool) -> usize {
        self.races.iter().filter(|race| wanted(race)).count()
    }
}

fn twins(rows: &[Row], section: &mut Section) {
    let _ = writeln!(
        section.text,
        "### Twins: {SAME} words on both sides\n\n\
         | kernel | own link: change | sd | 0 outside its interval | neutral: change | sd | dead heat | too close to call | faster or slower |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    for row in rows {
        let own = row.own();
        let own_summary = Summary::of(own.iter().map(|change| change.percent));
        let neutral = row.neutral();
        let _ = writeln!(
            section.text,
            "| {}, {} | {} | {:.2} | {} of {} | {} | {:.2} | {} | {} | {} |",
            row.kernel,
            row.compiler,
            own_summary.range(),
            own_summary.sd,
            own.iter().filter(|change| !change.covers(0.0)).count(),
            own.len(),
            neutral.range(),
            neutral.sd,
            row.count(|race| race.verdict.as_deref() == Some("equivalent")),
            row.count(|race| race.verdict.as_deref() == Some("inconclusive")),
            row.count(Race::is_told_apart),
        );
        let tolerance = tolerance(row.kernel);
        section.bars.push(Bar::told(
            format!(
                "{} twins by {}, {} link orders: neutral change (own link: {}%)",
                row.kernel,
                row.compiler,
                own.len(),
                own_summary.range()
            ),
            format!("within ±{tolerance}% in every case"),
            format!("{}%", neutral.range()),
            neutral.farthest(0.0) <= tolerance,
        ));
    }
    section.text += "\n";
    let races: usize = rows.iter().map(|row| row.races.len()).sum();
    let apart: usize = rows.iter().map(|row| row.count(Race::is_told_apart)).sum();
    section.bars.push(Bar::told(
        "twins under all link orders: faster or slower",
        "never",
        format!("{apart} of {races}"),
        apart == 0,
    ));
}

fn two_percent(rows: &[Row], section: &mut Section) {
    let _ = writeln!(
        section.text,
        "### Two percent more: {FEWER} words against {MORE}\n\n\
         | kernel | own link: change | sd | neutral: change | sd | slower, which is right | interval covers +{TRUTH}% |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    );
    let (mut races, mut found, mut covered) = (0, 0, 0);
    for row in rows {
        let own = Summary::of(row.own().iter().map(|change| change.percent));
        let neutral = row.neutral();
        let slower = row.count(|race| race.verdict.as_deref() == Some("slower"));
        let covers = row.count(|race| race.change.covers(TRUTH));
        let of = row.races.len();
        let _ = writeln!(
            section.text,
            "| {}, {} | {} | {:.2} | {} | {:.2} | {slower} of {of} | {covers} of {of} |",
            row.kernel,
            row.compiler,
            own.range(),
            own.sd,
            neutral.range(),
            neutral.sd,
        );
        races += of;
        found += slower;
        covered += covers;
    }
    section.text += "\n";
    section.bars.push(Bar::told(
        format!("{TRUTH}% more under all link orders: slower"),
        "in every case",
        format!("{found} of {races}"),
        found == races,
    ));
    section.bars.push(Bar::told(
        format!("… and the interval covers {TRUTH}%"),
        "in every case",
        format!("{covered} of {races}"),
        covered == races,
    ));
}

/// Every race of every order.
fn raw(under_orders: &[Vec<Race>]) -> String {
    let mut text = String::from(
        "<details>\n<summary>Every race of every link order: changes in percent with their intervals</summary>\n\n\
         | order | race | own link | neutral | verdict | replicates |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for (index, races) in under_orders.iter().enumerate() {
        for race in races {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                index + 1,
                race.name,
                race.own.map_or_else(String::new, |own| own.shown()),
                race.change.shown(),
                race.word(),
                race.replicates
            );
        }
    }
    text + "\n</details>\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(own: f64, neutral: f64, verdict: &str) -> Vec<Race> {
        let change = |percent: f64| Change { percent, interval: (percent - 0.2, percent + 0.2) };
        let mut races = Vec::new();
        for compiler in COMPILERS {
            for kernel in KERNELS {
                let race = |name, truth, verdict: &str| Race {
                    name,
                    verdict: Some(verdict.to_owned()),
                    scope: "source".to_owned(),
                    baseline_ns: 1e3,
                    change: change(neutral + truth),
                    replicates: 8,
                    own: Some(change(own + truth)),
                };
                races.push(race(same(compiler, kernel), 0.0, verdict));
                races.push(race(more(compiler, kernel), TRUTH, "slower"));
            }
        }
        races
    }

    fn judged(orders: &[Vec<Race>]) -> String {
        let mut section = Section { text: String::new(), bars: Vec::new() };
        twins(&rows(orders, same), &mut section);
        two_percent(&rows(orders, more), &mut section);
        deadheat_validation::bars::table(&section.bars) + &section.text + &raw(orders)
    }

    #[test]
    fn estimates_near_nought_keep_the_bars_whatever_the_own_link_shows() {
        let page = judged(&[order(-15.0, 0.1, "equivalent"), order(14.0, -0.1, "equivalent")]);
        assert!(page.contains("All 9 targets of the table below are met."), "{page}");
        assert!(page.contains(
            "| hash, gcc | -15.00 to +14.00 | 20.51 | 2 of 2 | -0.10 to +0.10 | 0.14 | 2 | 0 | 0 |"
        ));
        assert!(page.contains(
            "| sum, rustc | -13.00 to +16.00 | 20.51 | +1.90 to +2.10 | 0.14 | 2 of 2 | 2 of 2 |"
        ));
        assert!(page.contains(
            "| 2 | clang/hash/more | +16.00 [+15.80, +16.20] | +1.90 [+1.70, +2.10] | slower | 8 |"
        ));
    }

    #[test]
    fn one_estimate_too_far_off_misses_the_bar_of_the_hash_alone() {
        let page = judged(&[order(0.0, 0.15, "equivalent"), order(0.0, 0.4, "equivalent")]);
        // Three of the hash, and intervals that leave 2% out.
        assert!(page.contains("**4 of 9 targets missed.**"), "{page}");
    }

    #[test]
    fn twins_told_apart_once_miss_a_bar() {
        let page = judged(&[order(0.0, 0.0, "equivalent"), order(0.0, 0.0, "faster")]);
        assert!(page.contains("**1 of 9 targets missed.**"), "{page}");
        assert!(page.contains("| never | 6 of 12 | **missed** |"), "{page}");
    }
}
