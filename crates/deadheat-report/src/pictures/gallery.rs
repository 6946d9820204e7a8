//! All pictures of an analysis.

use deadheat_model::{Analysis, Comparison, Plots};

use super::scene::{Picture, Scene};
use super::{differences, distributions, forest};
use crate::glyphs::Glyphs;
use crate::names::labels;
use crate::sentences::Source;
use crate::suite;

/// Characters of a file name that are taken from a benchmark's name.
const STEM: usize = 40;

/// Columns that the name of a contender may take.
const LABEL: usize = 60;

/// A function that draws a plot of a comparison, where there is anything to draw.
type Draw = fn(&Scene<'_>, &Plots) -> Option<String>;

/// The plots of a comparison, each with the end of its file name.
const PLOTS: [(&str, Draw); 9] = [
    ("differences", differences::blocks),
    ("pairs", differences::pairs),
    ("replicates", differences::replicates),
    ("looks", differences::looks),
    ("histogram", distributions::histogram),
    ("densities", distributions::densities),
    ("violins", distributions::violins),
    ("ecdf", distributions::ecdf),
    ("quantiles", distributions::quantiles),
];

/// The plots of an analysis, one after the other, so that nobody has to hold them all: the suite,
/// then those of every comparison that has something to draw. What is missing makes no picture.
///
/// Names begin with the number of the comparison, the suite's with zeros: `00-suite`,
/// `03-sort-random-histogram`.
pub fn to_pictures(analysis: &Analysis) -> impl Iterator<Item = Picture> + '_ {
    let digits = analysis.comparisons.len().to_string().len().max(2);
    let suite = forest::pictures(analysis, &format!("{:0digits$}-suite", 0));
    let groups = suite::groups(&analysis.comparisons).into_iter();
    let source = Source::of(analysis);
    let scenes = groups
        .flat_map(move |group| scenes(group, source))
        .enumerate();
    let drawn = scenes.flat_map(move |(index, mut scene)| {
        scene.stem = format!("{:0digits$}{}", index + 1, scene.stem);
        of_one(&scene)
    });
    suite.into_iter().chain(drawn)
}

fn of_one(scene: &Scene<'_>) -> Vec<Picture> {
    let Some(plots) = &scene.comparison.plots else {
        return Vec::new();
    };
    let drawn = PLOTS.iter().filter_map(|(kind, draw)| {
        let name = format!("{}-{kind}", scene.stem);
        draw(scene, plots).map(|svg| Picture { name, svg })
    });
    drawn.collect()
}

fn scenes(group: &[Comparison], source: Source) -> impl Iterator<Item = Scene<'_>> {
    let labels = labels(&suite::names(group), LABEL, Glyphs::Unicode);
    let several = group.len() > 1;
    group.iter().enumerate().map(move |(index, comparison)| {
        let name = suite::title(comparison, Glyphs::Unicode);
        let candidate = labels.get(index + 1).cloned().unwrap_or_default();
        let stem = if several {
            stem(&format!("{name} {candidate}"))
        } else {
            stem(&name)
        };
        let title = match (suite::is_any_run(group, source), candidate.is_empty()) {
            (true, false) => format!("{candidate} against {}", labels[0]),
            (true, true) => labels[0].clone(),
            (false, _) => name,
        };
        Scene {
            comparison,
            title,
            baseline: labels[0].clone(),
            candidate,
            stem,
            source,
        }
    })
}

/// The part of a name that every file system takes, behind a hyphen; empty where there is none.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | '0'..='9' => stem.push(character),
            'A'..='Z' => stem.push(character.to_ascii_lowercase()),
            _ if !stem.is_empty() && !stem.ends_with('-') => stem.push('-'),
            _ => {}
        }
        if stem.len() == STEM {
            break;
        }
    }
    match stem.trim_end_matches('-') {
        "" => String::new(),
        stem => format!("-{stem}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_hold_nothing_that_a_file_system_minds() {
        assert_eq!(stem("Sort/Random (size=10)"), "-sort-random-size-10");
        assert_eq!(stem("../../etc/passwd\0"), "-etc-passwd");
        assert_eq!(stem("速い"), "");
        assert_eq!(stem("größer"), "-gr-er");
        assert_eq!(stem(&"x".repeat(500)).len(), STEM + 1);
    }
}
