use deadheat_model::{
    Analysis, Comparison, CounterAccess, Excuse, GateHit, LogRatio, NeutralLinks, Processes,
    RunHeader, Verdict,
};
use deadheat_report::to_page;
use proptest::prelude::*;

use crate::drawn::{drawn, header};
use crate::fixtures::*;
use crate::hostile;

/// The most that the page may hold before data, in bytes.
const BEFORE_DATA: usize = 700_000;

/// Elements that are never ended.
const VOID: [&str; 3] = ["meta", "input", "link"];

/// The text without everything from `begin` to `end`.
fn without(text: &str, begin: &str, end: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(begin) {
        let length = rest[at..].find(end).expect("what begins has an end");
        kept += &rest[..at];
        rest = &rest[at + length + end.len()..];
    }
    kept + rest
}

/// The page without its style and its scripts, and without the policy that
/// holds their hashes; data stay.
fn markup(analysis: &Analysis) -> String {
    markup_of(analysis, &header())
}

fn markup_of(analysis: &Analysis, header: &RunHeader) -> String {
    let page = to_page(analysis, header);
    let page = without(&page, "<style>", "</style>\n");
    let page = without(&page, "<script>", "</script>\n");
    without(&page, "<meta http-equiv", ">\n")
}

/// The same without data.
fn bare(analysis: &Analysis) -> String {
    without(&markup(analysis), "<script type", "</script>")
}

/// The names of all tags in their order, ends with their slash.
fn tags(markup: &str) -> Vec<(&str, &str)> {
    let mut tags = Vec::new();
    for part in markup.split('<').skip(1) {
        let (tag, _) = part
            .split_once('>')
            .expect("a tag ends before the next begins");
        let name = tag.split([' ', '\n']).next().unwrap_or("");
        tags.push((name.trim_end_matches('/'), tag));
    }
    tags
}

fn assert_balanced(markup: &str) {
    let mut open: Vec<&str> = Vec::new();
    for (name, tag) in tags(markup).into_iter().skip(1) {
        if let Some(ended) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(ended), "{open:?}");
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}

/// Every analysis there is, as it is and with plots.
fn all() -> impl Iterator<Item = Analysis> {
    everything()
        .into_iter()
        .flat_map(|analysis| [analysis.clone(), drawn(analysis)])
}

fn assert_golden(name: &str, analysis: &Analysis) {
    // A line per block element, so that a difference can be read.
    let text = bare(analysis);
    let text = text
        .replace("<tr", "\n<tr")
        .replace("<p ", "\n<p ")
        .replace("<figure", "\n<figure");
    insta::assert_snapshot!(name, text);
}

#[test]
fn a_race_as_a_page() {
    assert_golden("a_race_as_a_page", &drawn(race()));
}

#[test]
fn a_suite_as_a_page() {
    let mut suite = suite();
    suite.comparisons[2].suite.gate = Some(GateHit {
        rule: "slower".to_owned(),
        excuse: None,
        unproven: None,
    });
    assert_golden("a_suite_as_a_page", &suite);
}

#[test]
fn every_page_is_well_formed_and_has_no_number_twice() {
    for analysis in all() {
        let page = bare(&analysis);
        assert_balanced(&page);
        let mut ids: Vec<&str> = page
            .split(" id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "{ids:?}");
    }
}

#[test]
fn what_is_in_the_page_before_data_stays_small() {
    let empty = to_page(&analysis(vec![]), &header());
    assert!(empty.len() < BEFORE_DATA, "{} bytes", empty.len());
    let full = to_page(&drawn(race()), &header());
    let data = "<script type=\"application/json\"";
    let length: usize = full
        .split(data)
        .skip(1)
        .map(|rest| rest.find("</script>").unwrap())
        .sum();
    assert!(full.len() - length < BEFORE_DATA + 40_000);
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    for analysis in all() {
        let page = to_page(&analysis, &header());
        let style = page
            .split("<style>")
            .nth(1)
            .unwrap()
            .split("</style>")
            .next()
            .unwrap();
        assert!(!style.contains("url(") && !style.contains("@import"));
        for (name, tag) in tags(&bare(&analysis)) {
            // A link to a part of the page itself, for which a browser waits.
            let waits = tag == "link rel=\"expect\" href=\"#benchmarks\" blocking=\"render\"";
            assert!(
                waits
                    || ![
                        "link", "img", "iframe", "object", "embed", "base", "form", "source"
                    ]
                    .contains(&name),
                "{tag}"
            );
            assert!(!tag.contains(" src=") && !tag.contains(" on"), "{tag}");
            if let Some((_, target)) = tag.split_once(" href=\"") {
                assert!(target.starts_with('#'), "{tag}");
            }
        }
        assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"));
    }
}

#[test]
fn what_is_promised_of_a_benchmark_is_there() {
    let page = bare(&drawn(race()));
    for kind in [
        "differences",
        "scatter",
        "replicates",
        "looks",
        "histogram",
        "violin",
        "ecdf",
        "quantiles",
    ] {
        let figure = format!("<figure data-chart=\"{kind}\" data-of=\"0\">");
        let figure = page
            .split(&figure)
            .nth(1)
            .unwrap_or_else(|| panic!("{kind}"));
        let figure = figure.split("</figure>").next().unwrap();
        for part in [
            "<h5>",
            "<figcaption>",
            "role=\"img\" aria-label=\"",
            "<p class=\"words\">",
        ] {
            assert!(figure.contains(part), "{kind} has no {part}");
        }
    }
    for part in [
        "<section class=\"benchmark\" id=\"b0\" data-index=\"0\"",
        "<table id=\"overview\" class=\"intervals\">",
        "<tr data-verdict=\"slower\" data-index=\"0\"",
        "id=\"theme\"",
        "All metrics, by their typical values",
        "The two sides against each other",
        "<td>carry-over</td>",
        "4 blocks were left out",
        "A processor &lt;of&gt; some kind",
        "neutral links by LLD 14.0.6",
        "permission denied",
        "cores 2, 3",
        "6, 12, 40",
        "1 min 30 s",
        "Started 2026-03-01 12:34:56 UTC",
    ] {
        let part = part.replace("<td>carry-over</td>", "carry-over");
        assert!(page.contains(&part), "{part}");
    }
}

#[test]
fn the_hosts_of_a_race_have_a_row_each_and_the_verdict_stands_below() {
    let page = to_page(&over_hosts(), &header());
    for part in [
        "<h4>Hosts</h4>",
        "1: AMD EPYC &lt;7763&gt;",
        "6: Intel Xeon",
        "hosts like these</th>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        page.contains("at most 1.5 cores and 2.0 GiB"),
        "what was found there"
    );
    assert!(!page.contains("<b>2.4</b>") && !page.contains("aslr 5"));
    assert!(!to_page(&race(), &header()).contains("<h4>Hosts</h4>"));
    let left = to_page(&over_controlled_hosts(false), &header());
    assert!(left.contains("left out: +2.1") && left.contains("hosts like these</th>"));
    assert!(left.contains("1 of 6 hosts is left out"));
}

#[test]
fn a_race_of_commands_without_a_name_is_called_by_its_commands() {
    let mut race = race();
    race.comparisons[0].benchmark = "run".to_owned();
    let page = bare(&race);
    assert!(page.contains("<title>./new input against ./old input · deadheat</title>"));
    assert!(!page.contains("class=\"sides\""), "they are told already");
    assert!(!page.contains(">run<"));
    let mut three = three_contenders();
    three
        .comparisons
        .iter_mut()
        .for_each(|one| one.benchmark = "run".to_owned());
    assert!(bare(&three).contains("<h1>3 commands</h1>"));
    let mut alone = alone();
    alone.comparisons[0].benchmark = "run".to_owned();
    assert!(bare(&alone).contains("<h1><bdi>./old input</bdi></h1>"));
    // A function may well be called so.
    race.processes = Processes::Workers;
    assert!(bare(&race).contains("<h3 id=\"t0\"><bdi>run</bdi></h3>"));
}

#[test]
fn an_interval_that_says_nothing_leaves_the_axis_to_the_others_and_ends_in_arrows() {
    let marks = |page: &str| {
        let axis = page.split("<svg class=\"axis\"").nth(1).unwrap();
        axis.split("</svg>").next().unwrap().to_owned()
    };
    let sharp = comparison(Some(Verdict::Slower), 0.1012, 0.0025);
    let before = bare(&analysis(vec![sharp.clone()]));
    assert!(!before.contains("class=\"beyond\""));
    let mut blurred = comparison(None, 0.01, 0.0025);
    let estimate = blurred.estimate.as_mut().unwrap();
    let interval = estimate.interval.as_mut().unwrap();
    (interval.low, interval.high) = (LogRatio(-4.6), LogRatio(4.6));
    let page = bare(&analysis(vec![sharp, blurred]));
    // Both ends in the overview, and in the chart of the interval.
    assert_eq!(page.matches("class=\"beyond\"").count(), 4);
    let marks = marks(&page);
    assert!(!marks.contains("900%") && marks.contains("+20%"), "{marks}");
}

#[test]
fn the_headline_of_one_race_is_its_verdict_and_charts_follow_in_the_order_of_use() {
    let page = to_page(&drawn(race()), &header());
    let headline = "<h1 class=\"verdict\" data-verdict=\"slower\">";
    let (_, headline) = page
        .split_once(headline)
        .expect("a verdict as the headline");
    let (headline, _) = headline.split_once("</h1>").unwrap();
    assert!(headline.contains("+10.12% time</strong>"), "{headline}");
    assert!(!page.contains("<p class=\"verdict\""), "it is said once");
    assert!(page.contains("aria-labelledby=\"suite\" hidden>"));
    let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what}"));
    let order = [
        "<figure class=\"against\"",
        "<figure data-chart=\"histogram\"",
        "<figure data-chart=\"differences\"",
        "<details class=\"fold\"",
    ];
    assert!(order.map(at).is_sorted());
    let suite = bare(&suite());
    assert!(!suite.contains("<h1 class=\"verdict\"") && !suite.contains("\"suite\" hidden>"));
    let three = bare(&three_contenders());
    assert_eq!(three.matches("<p class=\"verdict\"").count(), 2);
}

#[test]
fn nothing_is_drawn_of_one_point() {
    let mut one = drawn(race());
    let plots = one.comparisons[0].plots.as_mut().unwrap();
    plots.looks.truncate(1);
    plots.replicates.truncate(1);
    plots.differences.as_mut().unwrap().points.truncate(1);
    plots.pairs.as_mut().unwrap().points.truncate(1);
    let page = bare(&one);
    for chart in ["looks", "replicates", "differences", "scatter"] {
        assert!(
            !page.contains(&format!("data-chart=\"{chart}\"")),
            "{chart}"
        );
    }
    assert!(page.contains("data-chart=\"histogram\""));
}

#[test]
fn the_command_is_what_a_shell_reads() {
    let page = bare(&race());
    let command = "deadheat run &#39;./old input&#39; &#39;./new input&#39; --seed 7";
    assert!(page.contains(&format!("<code id=\"command\">{command}</code>")));
    let mut header = header();
    header.command.clear();
    assert!(!to_page(&race(), &header).contains("id=\"command\""));
}

#[test]
fn a_suite_has_filters_and_rows_for_what_failed_and_was_left_out() {
    let mut suite = suite();
    suite.failures = with_failures().failures;
    suite.left_out = builds().left_out;
    let page = bare(&suite);
    assert!(page.contains("id=\"filter\"") && page.contains("id=\"verdicts\""));
    let count = |verdict: &str| {
        page.matches(&format!("<tr data-verdict=\"{verdict}\""))
            .count()
    };
    let found = [
        "faster",
        "slower",
        "equivalent",
        "inconclusive",
        "none",
        "failed",
        "left-out",
    ]
    .map(count);
    assert_eq!(found, [1, 1, 1, 1, 1, 2, 4]);
    assert!(page.contains("panicked: out of\\ncheese."));
    assert!(
        !bare(&race()).contains("id=\"filter\""),
        "one row needs no filter"
    );
}

#[test]
fn several_candidates_share_a_section_and_have_rows_and_charts_of_their_own() {
    let page = markup(&drawn(three_contenders()));
    assert_eq!(page.matches("<section class=\"benchmark\"").count(), 1);
    assert!(page.contains("href=\"#b0-1\"") && page.contains("id=\"b0-1\""));
    assert!(page.contains("data-of=\"0\"") && page.contains("data-of=\"1\""));
    assert!(page.contains("id=\"d0\"") && page.contains("id=\"d1\""));
}

#[test]
fn a_gate_is_red_until_everything_it_says_is_excused() {
    let hit = |excuse| GateHit {
        rule: "slower".to_owned(),
        excuse,
        unproven: None,
    };
    let excuse = Excuse {
        reason: "slower since it checks <more>".to_owned(),
        until: Some("2026-12-31".to_owned()),
    };
    let mut analysis = suite();
    assert!(!bare(&analysis).contains("data-gate"));
    analysis.comparisons[2].suite.gate = Some(hit(Some(excuse)));
    let page = bare(&analysis);
    assert!(page.contains("data-gate=\"green\"") && page.contains("excused until 2026-12-31"));
    assert!(page.contains("slower since it checks &lt;more&gt;"));
    analysis.comparisons[1].suite.gate = Some(hit(None));
    let page = bare(&analysis);
    assert!(page.contains("data-gate=\"red\"") && page.contains("1 rule broken"));
}

#[test]
fn what_cannot_be_drawn_has_a_sentence() {
    let figures = |page: &str| page.matches("<figure").count();
    let page = bare(&race());
    assert!(
        page.contains("The run file holds no data for charts of this benchmark")
            && figures(&page) == 1
    );
    let page = bare(&drawn(alone()));
    assert!(
        page.contains("The contender ran alone, so there are no differences to draw.")
            && figures(&page) == 4
    );
    let mut unpaired = drawn(recording());
    let plots = unpaired.comparisons[0].plots.as_mut().unwrap();
    (plots.differences, plots.pairs) = (None, None);
    plots.replicates.clear();
    plots.looks.clear();
    plots.baseline.normal_quantiles.clear();
    plots.candidate.as_mut().unwrap().normal_quantiles.clear();
    let page = bare(&unpaired);
    assert!(page.contains("there are no pairs to draw") && figures(&page) == 4);
    assert!(page.contains("Zeros forbid logarithms"));
    assert!(bare(&analysis(vec![])).contains("Nothing was measured"));
}

/// A column of numbers of one or two digits, as the scripts of the page read it: 90 signs are
/// digits, and a first one of 45 or more has another behind it.
fn scattered(column: &str) -> Vec<f64> {
    let signs: Vec<char> = (' '..='~')
        .filter(|sign| !"\"&<>\\".contains(*sign))
        .collect();
    assert_eq!(signs.len(), 90);
    let mut parts = column.splitn(3, ' ');
    let [middle, step] = [(); 2].map(|()| parts.next().unwrap().parse::<f64>().unwrap());
    let mut digits = parts.next().unwrap().chars();
    let mut next = || {
        let digit = digits.next()?;
        signs.iter().position(|sign| *sign == digit)
    };
    let mut values = Vec::new();
    while let Some(first) = next() {
        let number = match first {
            45..85 => 45 + (first - 45) * 90 + next().unwrap(),
            _ => first,
        } as f64;
        assert!(first < 85);
        let steps = if number % 2.0 == 0.0 {
            number / 2.0
        } else {
            -(number + 1.0) / 2.0
        };
        values.push(middle + steps * step);
    }
    values
}

#[test]
fn the_data_of_a_chart_are_what_the_plots_hold() {
    let analysis = drawn(race());
    let page = markup(&analysis);
    let data = page
        .split("id=\"d0\">")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let plots = analysis.comparisons[0].plots.as_ref().unwrap();
    let effects = scattered(data["differences"]["effect"].as_str().unwrap());
    let points = &plots.differences.as_ref().unwrap().points;
    assert_eq!(effects.len(), points.len());
    for (effect, point) in effects.into_iter().zip(points) {
        assert!((effect - point.effect.0).abs() < 1e-5, "{effect}");
    }
    assert_eq!(
        data["differences"]["marked"],
        serde_json::json!([[7, 1, 0, 1], [11, 0, 2, 0]])
    );
    // Six to a sign, the first in the lowest bit: 21.
    assert_eq!(data["differences"]["order"], "7".repeat(4));
    assert_eq!(data["looks"].as_array().unwrap().len(), 3);
    assert_eq!(
        (data["unit"].as_str(), data["factor"].as_f64()),
        (Some("µs"), Some(1000.0))
    );
    assert_eq!(data["distributions"][1]["curves"][1][0], "gumbel");
}

#[test]
fn verdicts_have_a_sign_and_a_word_beside_their_colour() {
    for (verdict, sign, word) in [
        (Verdict::Faster, "✔", "faster"),
        (Verdict::Slower, "✘", "slower"),
        (Verdict::Equivalent, "≈", "dead heat"),
        (Verdict::Inconclusive, "?", "too close to call"),
    ] {
        let page = bare(&analysis(vec![comparison(Some(verdict), 0.01, 0.002)]));
        let badge =
            format!("<span class=\"sign\" aria-hidden=\"true\">{sign}</span> {word}</span>");
        assert!(page.contains(&badge), "{word}");
    }
}

/// Names that want out of every context they stand in.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'-->]]></noscript></script></style><svg onload=alert(1)>",
    "a\nb\r\u{2028}c\u{0}",
    "\u{202e}\u{2066}מהיר\u{2069}\u{2069}",
    "&lt;b&gt;&#60;",
];

#[test]
fn hostile_names_stay_text() {
    let endless = "x".repeat(500);
    for name in HOSTILE.into_iter().chain([endless.as_str()]) {
        for analysis in hostile::named(name, name, name) {
            assert_harmless(&drawn(analysis));
        }
    }
}

#[test]
fn hostile_facts_of_a_run_stay_text() {
    for name in HOSTILE {
        let text = format!("{name}\u{1b}[31m\n::error::{name}");
        let mut header = header();
        header.tool_version = text.clone();
        header.command = vec![text.clone(); 3];
        let environment = &mut header.environment;
        environment.system = text.clone();
        environment.kernel = Some(text.clone());
        environment.cpu = Some(text.clone());
        environment.governor = Some(text.clone());
        environment.counters = Some(CounterAccess::Unavailable(text.clone()));
        environment.neutral_links = vec![NeutralLinks {
            executable: text.clone(),
            made_by: Err(text.clone()),
            unsectioned: vec![text.clone()],
            matched: Some(Err(text.clone())),
            random_addresses: true,
        }];
        let analysis = drawn(race());
        let page = markup_of(&analysis, &header);
        assert_page_is_harmless(&analysis, &page);
        let facts = page.split("<div class=\"facts\">").nth(1).unwrap();
        let facts = facts.split("</footer>").next().unwrap();
        assert!(!facts.contains(char::is_control), "{facts:?}");
    }
}

/// However the names are, the page has the elements it has with plain ones.
fn assert_harmless(analysis: &Analysis) {
    assert_page_is_harmless(analysis, &markup(analysis));
}

fn assert_page_is_harmless(analysis: &Analysis, page: &str) {
    assert_balanced(&without(page, "<script type", "</script>"));
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, analysis.comparisons.len(), "only data are left");
    assert!(!page.contains("<img") && !page.contains("<svg onload"));
    assert!(!page.contains([
        '\u{202e}', '\u{2066}', '\u{2068}', '\u{2069}', '\u{2028}', '\0', '\r'
    ]));
    for (name, tag) in tags(page) {
        // What is between quotes is a value, and no attribute.
        let attributes: String = tag.split('"').step_by(2).collect();
        assert!(!attributes.contains(" on"), "{name}: {tag}");
    }
    for data in page.split("<script type=\"application/json\"").skip(1) {
        let json = data
            .split_once('>')
            .unwrap()
            .1
            .split("</script>")
            .next()
            .unwrap();
        serde_json::from_str::<serde_json::Value>(json).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_name_becomes_markup(baseline in hostile::names(), candidate in hostile::names(), benchmark in hostile::names()) {
        for analysis in hostile::named(&baseline, &candidate, &benchmark) {
            assert_harmless(&drawn(analysis));
        }
    }
}

#[test]
fn of_thousands_of_benchmarks_those_that_changed_have_details() {
    let mut analysis = race();
    let one = analysis.comparisons[0].clone();
    let named = |number: usize| Comparison {
        benchmark: format!("benchmark {number}"),
        verdict: Some(match number % 1_000 {
            0 => Verdict::Slower,
            _ => Verdict::Equivalent,
        }),
        ..one.clone()
    };
    analysis.comparisons = (0..6_000).map(named).collect();
    let page = to_page(&analysis, &header());
    assert_eq!(page.matches("<section class=\"benchmark\"").count(), 6);
    assert_eq!(page.matches("<a href=\"#b").count(), 6);
    assert!(
        page.contains(" 5994 benchmarks"),
        "the number without details"
    );
    assert!(page.len() < 15_000_000, "{} bytes", page.len());
}
