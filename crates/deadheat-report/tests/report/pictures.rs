use std::collections::HashSet;
use std::sync::Arc;

use deadheat_model::{Analysis, Distribution, LogRatio, Overall, Plots, Population};
use deadheat_report::{Glyphs, Picture, escape, to_pictures};
use proptest::prelude::*;
use resvg::usvg::{Node, Options, Tree, fontdb};
use roxmltree::Document;

use crate::fixtures::*;
use crate::hostile::names;
use crate::plotted::{POINTS, drawn, plots};

fn pictures(analysis: &Analysis) -> Vec<Picture> {
    to_pictures(analysis).collect()
}

fn names_of(pictures: &[Picture]) -> Vec<&str> {
    pictures
        .iter()
        .map(|picture| picture.name.as_str())
        .collect()
}

fn one<'a>(pictures: &'a [Picture], kind: &str) -> &'a Picture {
    let mut found = pictures.iter().filter(|one| one.name.ends_with(kind));
    found.next().unwrap_or_else(|| panic!("no {kind}"))
}

/// The document is well-formed, everything has a place, and lies on the sheet.
fn check(picture: &Picture) {
    let svg = &picture.svg;
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    let view = root.attribute("viewBox").unwrap();
    let sizes: Vec<f64> = view.split(' ').map(|size| size.parse().unwrap()).collect();
    let within = |place: f64, size: f64| {
        assert!(
            (-1.0..=size + 1.0).contains(&place),
            "{place} is off the sheet of {}",
            picture.name
        );
    };
    for node in document.descendants() {
        for (attribute, size) in [("x1", 2), ("x2", 2), ("cx", 2), ("x", 2)] {
            if let Some(value) = node.attribute(attribute) {
                within(value.parse().unwrap(), sizes[size]);
            }
        }
        for (attribute, size) in [("y1", 3), ("y2", 3), ("cy", 3), ("y", 3)] {
            if let Some(value) = node.attribute(attribute) {
                within(value.parse().unwrap(), sizes[size]);
            }
        }
        for point in node.attribute("points").unwrap_or("").split_whitespace() {
            let (x, y) = point.split_once(',').unwrap();
            within(x.parse().unwrap(), sizes[2]);
            within(y.parse().unwrap(), sizes[3]);
        }
    }
    check_words(picture, sizes[2], sizes[3]);
}

/// No word is cut by the edge of the sheet.
fn check_words(picture: &Picture, width: f64, height: f64) {
    let font = include_bytes!("../../assets/pictures/DejaVuSans-deadheat.ttf");
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font.to_vec());
    let options = Options {
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(&picture.svg, &options).unwrap();
    let mut words = 0;
    let mut groups = vec![tree.root()];
    while let Some(group) = groups.pop() {
        for node in group.children() {
            match node {
                Node::Group(inner) => groups.push(inner),
                Node::Text(text) => {
                    words += 1;
                    let place = text.abs_bounding_box();
                    let fits = place.left() >= 0.0
                        && place.top() >= 0.0
                        && f64::from(place.right()) <= width
                        && f64::from(place.bottom()) <= height;
                    assert!(fits, "{}: {place:?}", picture.name);
                }
                _ => {}
            }
        }
    }
    assert!(words > 3, "{} has no words", picture.name);
}

/// Elements of this name and colour.
fn count(picture: &Picture, element: &str, colour: &str) -> usize {
    let document = Document::parse(&picture.svg).unwrap();
    let coloured = |node: &roxmltree::Node<'_, '_>| {
        node.has_tag_name(element)
            && [node.attribute("fill"), node.attribute("stroke")].contains(&Some(colour))
    };
    document.descendants().filter(coloured).count()
}

#[test]
fn every_plot_there_is_becomes_a_picture_under_a_name_of_its_own() {
    let pictures = pictures(&drawn(suite()));
    let names = names_of(&pictures);
    assert_eq!(
        names[..10],
        [
            "00-suite",
            "01-sort-size-10-differences",
            "01-sort-size-10-pairs",
            "01-sort-size-10-replicates",
            "01-sort-size-10-looks",
            "01-sort-size-10-histogram",
            "01-sort-size-10-densities",
            "01-sort-size-10-violins",
            "01-sort-size-10-ecdf",
            "01-sort-size-10-quantiles",
        ]
    );
    assert_eq!(names.len(), 1 + 5 * 9);
    let different: HashSet<&&str> = names.iter().collect();
    assert_eq!(different.len(), names.len());
    pictures.iter().for_each(check);
}

#[test]
fn three_contenders_have_pictures_each_named_after_its_candidate() {
    let pictures = pictures(&drawn(three_contenders()));
    let names = names_of(&pictures);
    assert!(
        names.contains(&"01-old-against-new-new-input-pairs"),
        "{names:?}"
    );
    assert!(
        names.contains(&"02-old-against-new-newest-input-pairs"),
        "{names:?}"
    );
    pictures.iter().for_each(check);
}

#[test]
fn a_contender_alone_has_its_distribution_and_nothing_else() {
    let pictures = pictures(&drawn(alone()));
    let kinds = ["histogram", "densities", "violins", "ecdf", "quantiles"];
    let expected = kinds.map(|kind| format!("01-old-against-new-{kind}"));
    assert_eq!(names_of(&pictures), expected);
    pictures.iter().for_each(check);
}

#[test]
fn what_is_missing_makes_no_picture() {
    assert_eq!(pictures(&race()), []);
    let mut empty = race();
    let nothing = Plots {
        differences: None,
        pairs: None,
        replicates: vec![],
        looks: vec![],
        edges: vec![],
        baseline: Distribution::default(),
        candidate: Some(Distribution::default()),
    };
    empty.comparisons[0].plots = Some(Box::new(nothing));
    assert_eq!(pictures(&empty), []);
    let mut one = empty;
    let mut some = plots();
    some.edges.clear();
    some.pairs = None;
    some.candidate = None;
    some.looks.truncate(1);
    one.comparisons[0].plots = Some(Box::new(some));
    let left = pictures(&one);
    let kinds = names_of(&left);
    let kind = |name: &&str| name.rsplit('-').next().unwrap().to_owned();
    let kinds: Vec<String> = kinds.iter().map(kind).collect();
    assert_eq!(
        kinds,
        [
            "differences",
            "replicates",
            "looks",
            "violins",
            "ecdf",
            "quantiles"
        ]
    );
    left.iter().for_each(check);
}

#[test]
fn every_block_is_a_point_and_dropped_ones_are_crosses() {
    let pictures = pictures(&drawn(race()));
    let series = plots().differences.unwrap();
    let dropped = series.points.iter().filter(|point| point.dropped).count();
    let picture = one(&pictures, "differences");
    // One is beyond the edge and an arrow; two more circles explain the signs.
    let circles = count(picture, "circle", "#0072B2");
    assert_eq!(circles, POINTS as usize - dropped - 1 + 2);
    assert!(
        picture.svg.contains("; 1 beyond the edge"),
        "{}",
        picture.svg
    );
    // A cross has two strokes, and one explains them.
    let strokes = count(picture, "line", "#D55E00") + count(picture, "polyline", "#D55E00");
    assert_eq!(strokes, 2 * (dropped + 1));
    let pairs = one(&pictures, "pairs");
    assert_eq!(count(pairs, "circle", "#0072B2"), POINTS as usize / 2 + 1);
    assert_eq!(count(pairs, "polygon", "#D55E00"), POINTS as usize / 2 + 1);
    let replicates = one(&pictures, "replicates");
    assert_eq!(count(replicates, "circle", "#0072B2"), 8 + 1);
}

#[test]
fn axes_name_what_they_measure_and_in_which_unit() {
    let pictures = pictures(&drawn(race()));
    for (kind, words) in [
        (
            "differences",
            &["change", "block, in the order run", "+10%"][..],
        ),
        ("pairs", &["baseline: wall time per launch, µs", "700"]),
        ("looks", &["replicates looked at"]),
        (
            "histogram",
            &["samples", "wall time per launch, µs", "./old input"],
        ),
        ("densities", &["log-normal", "normal", "Gumbel"]),
        ("ecdf", &["50%", "samples at or below"]),
        ("quantiles", &["wall time per launch, µs (log)"]),
    ] {
        let picture = one(&pictures, kind);
        let document = Document::parse(&picture.svg).unwrap();
        let texts: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| node.text().map(str::trim))
            .collect();
        for word in words {
            assert!(texts.contains(word), "{kind} lacks {word}: {texts:?}");
        }
    }
}

#[test]
fn the_suite_as_a_forest() {
    let mut analysis = suite();
    analysis.failures = with_failures().failures;
    analysis.overall = vec![Overall {
        candidate: "new".to_owned(),
        benchmarks: 5,
        estimate: estimate(0.05, 0.02),
        population: Population::LikeThese,
    }];
    let pictures = pictures(&analysis);
    assert_eq!(names_of(&pictures), ["00-suite"]);
    check(&pictures[0]);
    insta::assert_snapshot!(pictures[0].svg);
}

#[test]
fn the_looks_of_a_race() {
    let pictures = pictures(&drawn(race()));
    insta::assert_snapshot!(one(&pictures, "looks").svg);
}

#[test]
fn many_benchmarks_fill_several_pages_of_rows() {
    let mut analysis = suite();
    let row = analysis.comparisons[0].clone();
    analysis.comparisons = (0..101)
        .map(|number| {
            let mut row = row.clone();
            row.benchmark = format!("benchmark {number}");
            row.details.parameters.clear();
            row
        })
        .collect();
    let pictures = pictures(&analysis);
    assert_eq!(
        names_of(&pictures),
        ["000-suite-1", "000-suite-2", "000-suite-3"]
    );
    pictures.iter().for_each(check);
    let rows = pictures
        .iter()
        .map(|page| page.svg.matches("faster").count());
    // Each page tells the count of all in its title and its head, too.
    assert_eq!(rows.sum::<usize>(), 101 + 2 * 3);
}

#[test]
fn a_picture_becomes_the_same_png_every_time() {
    let pictures = pictures(&drawn(race()));
    let picture = one(&pictures, "looks");
    let png = picture.png().unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (360 * 4, 252 * 4));
    assert_eq!(png, picture.png().unwrap());
    // Lines, points and letters make it larger than a white sheet.
    assert!(png.len() > 20_000, "{} bytes", png.len());
}

#[test]
fn a_broken_document_is_refused_by_name() {
    let broken = Picture {
        name: "03-sort-pairs".to_owned(),
        svg: "<svg".to_owned(),
    };
    let told = broken.png().unwrap_err().to_string();
    assert!(told.contains("'03-sort-pairs'"), "{told}");
}

#[test]
fn extreme_values_stay_on_the_sheet() {
    for scale in [1e-300, 1e-3, 1e12, 1e300] {
        let mut analysis = drawn(race());
        let plots = analysis.comparisons[0].plots.as_mut().unwrap();
        for pair in &mut plots.pairs.as_mut().unwrap().points {
            pair.baseline *= scale;
            pair.candidate = 0.0;
        }
        let series = plots.differences.as_mut().unwrap();
        for point in &mut series.points {
            point.effect = LogRatio((scale.log10() * 2.0).min(700.0));
        }
        plots.edges.iter_mut().for_each(|edge| *edge *= scale);
        plots.baseline.normal_quantiles = vec![(0.0, -700.0), (0.0, 700.0)];
        plots.baseline.ecdf = vec![(scale, 1.0)];
        plots.baseline.counts = vec![u32::MAX; 24];
        pictures(&analysis).iter().for_each(check);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_name_is_text_on_its_sheet(
        baseline in names(),
        candidate in names(),
        benchmark in names(),
    ) {
        let mut analysis = drawn(race());
        let comparison = &mut analysis.comparisons[0];
        comparison.benchmark = benchmark.clone();
        comparison.baseline.name = baseline;
        comparison.candidate.as_mut().unwrap().name = candidate;
        for picture in pictures(&analysis) {
            check(&picture);
            let safe = |c: char| c.is_ascii_alphanumeric() || c == '-';
            prop_assert!(picture.name.chars().all(safe), "{}", picture.name);
            let document = Document::parse(&picture.svg).unwrap();
            let title = document.root_element().first_element_child().unwrap();
            let shown = escape(&benchmark, Glyphs::Unicode);
            prop_assert!(title.text().unwrap().starts_with(&shown), "{:?}", title.text());
            for node in document.descendants().filter(|node| node.is_element()) {
                let known = ["svg", "title", "polygon", "polyline", "line", "circle", "text"];
                prop_assert!(known.contains(&node.tag_name().name()), "{:?}", node);
            }
        }
    }
}
