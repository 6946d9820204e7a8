//! The HTML page of a history. It has the levels of each benchmark's commits with their intervals,
//! its steps and plateaus, and the underlying races. It contains no script.
//!
//! Positions are in percent of the width, so a curve fits any screen.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use deadheat::parts::model::{Day, LogRatio};
use deadheat::parts::report::html::{Attribute, GLYPHS, Head, Text, foreign, isolated, table_head};
use deadheat::parts::report::sentences::metric;
use deadheat::parts::report::units::{Precision, counted, extent, sized, spread, two_digits};
use deadheat::parts::report::{Axis, escape, sentence_case};

use crate::timeline::{
    CommitOrder, History, Timeline, TimelineChange, TimelineCommit, TimelineRace,
};
use crate::words::{bisecting, changes, closure, heading, level, named, remarks};

/// The number of colours for machines; with more machines, colours are reused.
const COLOURS: usize = 6;

/// The free space above the curve, in percent of the height of the chart.
const ABOVE: f64 = 12.0;
/// The free space below the curve, in percent of the height of the chart.
const BELOW: f64 = 10.0;

/// If two steps are closer than this, in percent of the plot's width, only the larger one has its
/// size written next to it.
const APART: f64 = 13.0;

/// The smallest range of an axis, in percent.
const LEAST_SPAN: f64 = 1.0;

/// The links from the page of a history to other files.
#[derive(Clone, Debug, Default)]
pub struct HistoryLinks {
    /// The relative path from the page to the folder in which the relative paths of run files
    /// start.
    pub base: String,
    /// The relative paths from the page to the pages of races, by the paths of the run files.
    pub pages: BTreeMap<String, String>,
}

/// Returns the history as one HTML file, which loads nothing from a network.
pub fn to_history_page(history: &History, links: &HistoryLinks) -> String {
    let mut page = String::new();
    write(&mut page, history, links).expect("a String takes every write");
    page
}

fn write(out: &mut dyn Write, history: &History, links: &HistoryLinks) -> fmt::Result {
    let title = match &history.timelines[..] {
        [one] => isolated(&escape(&one.series.name(), GLYPHS)),
        all => counted(all.len() as u64, "benchmark", "benchmarks"),
    };
    Head {
        version: &history.tool_version,
        title: &format!("{title} over commits"),
        allows: ["", Head::IMAGES],
        style: include_str!("html.css"),
        more: "",
    }
    .write(out)?;
    write!(
        out,
        "<header><div class=\"bar\"><span class=\"mark\">deadheat</span></div>\
         <h1>{} over commits</h1><p class=\"tally\">{}</p></header>\n<main>\n",
        Text(&title),
        Text(heading(history, GLYPHS)),
    )?;
    machines(out, history)?;
    if history.timelines.len() > 1 {
        overview(out, history)?;
    }
    for (number, timeline) in history.timelines.iter().enumerate() {
        Series {
            number,
            timeline,
            history,
            links,
        }
        .write(out)?;
    }
    out.write_str("</main>\n<footer>")?;
    let remarks = remarks(history);
    if !remarks.is_empty() {
        out.write_str("<h2>How to read this</h2><ul class=\"notes\">")?;
        for remark in remarks {
            write!(out, "<li class=\"note\">{}</li>", Text(remark))?;
        }
        out.write_str("</ul>")?;
    }
    write!(
        out,
        "<p class=\"quiet\">Each race compared two commits on one machine at one time, so a new \
         machine does not cause a step in a curve. Levels are relative to the first commit shown. \
         deadheat {}</p></footer>\n</body>\n</html>\n",
        Text(&history.tool_version)
    )
}

fn machines(out: &mut dyn Write, history: &History) -> fmt::Result {
    if history.machines.len() < 2 {
        return Ok(());
    }
    out.write_str("<p class=\"machines\">")?;
    for number in 0..history.machines.len() {
        let colour = number % COLOURS;
        let label = foreign(&history.machine(number));
        write!(out, "<span class=\"m{colour}\"><i></i>{label}</span>")?;
    }
    out.write_str("</p>")
}

fn overview(out: &mut dyn Write, history: &History) -> fmt::Result {
    out.write_str("<h2>Benchmarks</h2>")?;
    let heads = [
        "benchmark",
        "level now",
        "interval",
        "steps",
        "creep",
        "races",
    ];
    table_head(out, ("Benchmarks", ""), heads)?;
    for (number, one) in history.timelines.iter().enumerate() {
        let (level, range) = one
            .commits
            .last()
            .map(|last| level(last, GLYPHS))
            .unwrap_or_default();
        write!(
            out,
            "<tr><th scope=\"row\"><a href=\"#s{number}\">{}</a></th><td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td><td>{}</td></tr>",
            foreign(&one.series.name()),
            Text(level),
            Text(range),
            one.steps.len(),
            one.creep.len(),
            one.races.len()
        )?;
    }
    out.write_str("</tbody></table></div>\n")
}

/// The section of the page about one benchmark.
struct Series<'a> {
    number: usize,
    timeline: &'a Timeline,
    history: &'a History,
    links: &'a HistoryLinks,
}

impl Series<'_> {
    fn write(&self, out: &mut dyn Write) -> fmt::Result {
        let (number, timeline) = (self.number, self.timeline);
        write!(
            out,
            "<section class=\"series\" id=\"s{number}\" aria-labelledby=\"t{number}\">\
             <h2 id=\"t{number}\">{}</h2><p class=\"quiet\">{} of {}, {}</p>",
            foreign(&timeline.series.name()),
            Text(escape(&metric(&timeline.series.metric, GLYPHS), GLYPHS)),
            counted(timeline.commits.len() as u64, "commit", "commits"),
            counted(timeline.races.len() as u64, "race", "races"),
        )?;
        self.chart(out)?;
        self.told(out)?;
        self.commits(out)?;
        self.races(out)?;
        out.write_str("</section>\n")
    }

    fn chart(&self, out: &mut dyn Write) -> fmt::Result {
        let commits = &self.timeline.commits;
        let axis = self.axis();
        let y = |percent: f64| {
            let share = (axis.high - percent) / (axis.high - axis.low);
            ABOVE + share * (100.0 - ABOVE - BELOW)
        };
        let count = commits.len() as f64;
        let x = |place: f64| 100.0 * (place + 0.5) / count;
        out.write_str("<div class=\"chart\"><svg class=\"labels\" aria-hidden=\"true\">")?;
        for (at, word) in &axis.ticks {
            write!(
                out,
                "<text x=\"92%\" y=\"{:.2}%\" dy=\".32em\">{word}</text>",
                y(*at)
            )?;
        }
        let about = format!(
            "Levels of {} over commits",
            escape(&self.timeline.series.name(), GLYPHS)
        );
        write!(
            out,
            "</svg><svg role=\"group\" aria-label=\"{}\">",
            Attribute(about)
        )?;
        for (at, _) in &axis.ticks {
            let class = if *at == 0.0 { "zero" } else { "grid" };
            line(out, class, (0.0, y(*at)), (100.0, y(*at)))?;
        }
        for (place, level) in self.plateaus() {
            let (first, last) = place;
            let (from, to) = (x(first as f64 - 0.4), x(last as f64 + 0.4));
            line(out, "plateau", (from, y(level)), (to, y(level)))?;
        }
        for (place, pair) in commits.windows(2).enumerate() {
            if pair[0].part == pair[1].part {
                let [from, to] = [&pair[0], &pair[1]].map(|one| y(percent(one.level.change())));
                let place = place as f64;
                line(out, "to-next", (x(place), from), (x(place + 1.0), to))?;
            }
        }
        let named = self.steps_named(&x);
        for (number, step) in self.timeline.steps.iter().enumerate() {
            let at = x(step.to as f64 - 0.5);
            mark(out, at, step, named.contains(&number))?;
        }
        for (place, one) in commits.iter().enumerate() {
            if one.accepted.is_some() {
                let at = x(place as f64 - 0.5);
                line(out, "accepted", (at, ABOVE * 0.7), (at, 100.0 - BELOW))?;
                write!(
                    out,
                    "<text class=\"accepted\" x=\"{at:.2}%\" y=\"4%\" text-anchor=\"middle\" \
                     dy=\".32em\">✓</text>"
                )?;
            }
            self.point(out, one, place, (x(place as f64), &y))?;
        }
        let ends = [(0, "start"), (commits.len() - 1, "end")];
        for (place, anchor) in ends.into_iter().take(commits.len().min(2)) {
            write!(
                out,
                "<text x=\"{}%\" y=\"98%\" text-anchor=\"{anchor}\">{}</text>",
                if place == 0 { 0 } else { 100 },
                foreign_in_svg(commits[place].commit.short())
            )?;
        }
        out.write_str("</svg></div>")
    }

    /// Returns an axis that shows all levels and most of their intervals.
    fn axis(&self) -> Axis {
        let commits = &self.timeline.commits;
        let levels = commits.iter().map(|one| percent(one.level.change()));
        let (mut low, mut high) = extent(levels.chain([0.0]));
        let reach = (high - low).max(0.5);
        for one in commits.iter().filter_map(|one| one.interval.as_ref()) {
            low = low.min(percent(one.low.change()).max(low - reach));
            high = high.max(percent(one.high.change()).min(high + reach));
        }
        // Without a smallest range, pure noise would look like large changes.
        let beside = ((high - low) * 0.05).max(0.5 * (LEAST_SPAN - high + low));
        Axis::changes((low - beside, high + beside), "")
    }

    /// Returns plateaus with their levels in percent, aligned with the curve of commits. Levels of
    /// plateaus are relative to the first plateau, and levels of commits to the first commit.
    fn plateaus(&self) -> Vec<((usize, usize), f64)> {
        let timeline = self.timeline;
        let mut shifts: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for flat in &timeline.plateaus {
            for one in &timeline.commits[flat.first..=flat.last] {
                let (sum, count) = shifts.entry(one.part).or_default();
                (*sum, *count) = (*sum + one.level.0 - flat.level.0, *count + 1.0);
            }
        }
        let placed = timeline.plateaus.iter().map(|flat| {
            let part = timeline.commits[flat.first].part;
            let (sum, count) = shifts[&part];
            let level = LogRatio(flat.level.0 + sum / count);
            ((flat.first, flat.last), percent(level.change()))
        });
        placed.collect()
    }

    /// Returns the steps whose sizes fit next to each other, the largest first.
    fn steps_named(&self, x: &dyn Fn(f64) -> f64) -> Vec<usize> {
        let steps = &self.timeline.steps;
        let mut largest: Vec<usize> = (0..steps.len()).collect();
        largest.sort_by(|a, b| {
            let [a, b] = [a, b].map(|number| steps[*number].effect.0.abs());
            b.total_cmp(&a)
        });
        let mut named: Vec<usize> = Vec::new();
        for number in largest {
            let at = |number: usize| x(steps[number].to as f64 - 0.5);
            if named
                .iter()
                .all(|other| (at(*other) - at(number)).abs() >= APART)
            {
                named.push(number);
            }
        }
        named
    }

    /// Writes a point for a commit with its interval, and a text that appears under the mouse
    /// pointer.
    fn point(
        &self,
        out: &mut dyn Write,
        one: &TimelineCommit,
        place: usize,
        (x, y): (f64, &dyn Fn(f64) -> f64),
    ) -> fmt::Result {
        let colour = one.machines.first().map_or(0, |machine| machine % COLOURS);
        let by_time = if one.order == CommitOrder::ByTime && self.history.has_git {
            " by-time"
        } else {
            ""
        };
        let number = self.number;
        write!(
            out,
            "<a href=\"#c{number}-{place}\" class=\"m{colour}{by_time}\"><title>{}: {}, {}</title>",
            foreign_in_svg(&named(&one.commit, GLYPHS)),
            Text(sized(one.level, one.interval.as_ref(), GLYPHS)),
            counted(one.races as u64, "race", "races"),
        )?;
        if let Some(range) = &one.interval {
            let [low, high] = [range.low, range.high].map(|end| {
                let end = y(percent(end.change()));
                end.clamp(ABOVE * 0.6, 100.0 - BELOW * 0.6)
            });
            line(out, "range", (x, low), (x, high))?;
        }
        let level = y(percent(one.level.change()));
        let radius = if self.timeline.commits.len() > 150 {
            2
        } else {
            4
        };
        write!(
            out,
            "<circle cx=\"{x:.2}%\" cy=\"{level:.2}%\" r=\"{radius}\"/></a>"
        )
    }

    /// Writes steps, creep and accepted steps, and whether the effects around loops of races add up
    /// to 0.
    fn told(&self, out: &mut dyn Write) -> fmt::Result {
        let timeline = self.timeline;
        out.write_str("<div class=\"told\">")?;
        for (kind, change, words) in changes(timeline, GLYPHS) {
            let class = if change.is_worse { "worse" } else { "better" };
            write!(
                out,
                "<p><b class=\"{class}\">{}</b> {}</p>",
                sentence_case(kind),
                Text(words)
            )?;
            if let Some(command) = bisecting(timeline, change) {
                write!(
                    out,
                    "<pre tabindex=\"0\"><code>{}</code></pre>",
                    Text(command)
                )?;
            }
        }
        for one in &timeline.commits {
            if let Some(why) = &one.accepted {
                let short = foreign(one.commit.short());
                write!(out, "<p><b>Accepted</b> {short}: {}</p>", foreign(why))?;
            }
        }
        let words = closure(&timeline.closure, self.history, GLYPHS);
        write!(
            out,
            "<p class=\"quiet\"><b>Check</b> {}</p></div>",
            Text(words)
        )
    }

    fn commits(&self, out: &mut dyn Write) -> fmt::Result {
        let (number, history) = (self.number, self.history);
        out.write_str("<details class=\"fold\"><summary>Commits</summary>")?;
        let heads = [
            "commit",
            "level",
            "interval",
            "races",
            "machines",
            "not raced before it",
            "date",
            "subject",
        ];
        table_head(out, ("Commits", ""), heads)?;
        for (place, one) in self.timeline.commits.iter().enumerate() {
            let (level, range) = level(one, GLYPHS);
            let unknown = if one.order == CommitOrder::ByTime && history.has_git {
                "?"
            } else {
                ""
            };
            let date = one.commit.committed_at.map(Day::of_unix_seconds);
            write!(
                out,
                "<tr id=\"c{number}-{place}\"><th scope=\"row\">{}{unknown}</th><td>{}</td>\
                 <td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{}\
                 </td></tr>",
                foreign(one.commit.short()),
                Text(level),
                Text(range),
                one.races,
                foreign(&history.machines_named(&one.machines)),
                one.skipped,
                date.map_or_else(String::new, |day| day.to_string()),
                foreign(&one.commit.subject),
            )?;
        }
        out.write_str("</tbody></table></div></details>")
    }

    fn races(&self, out: &mut dyn Write) -> fmt::Result {
        out.write_str("<details class=\"fold\"><summary>Races</summary>")?;
        let heads = ["from", "to", "change", "error", "machine", "run"];
        table_head(out, ("Races", ""), heads)?;
        for race in &self.timeline.races {
            let [from, to] = race.places.map(|place| match place {
                Some(place) => self.timeline.commits[place].commit.short(),
                None => "elsewhere",
            });
            write!(
                out,
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td class=\"words\">",
                foreign(from),
                foreign(to),
                Text(Precision::of(None).signed(race.effect.change(), GLYPHS)),
                Text(spread(LogRatio(race.se), GLYPHS)),
                foreign(&self.history.machine(race.machine)),
            )?;
            self.run(out, race)?;
            out.write_str("</td></tr>")?;
        }
        out.write_str("</tbody></table></div></details>")
    }

    /// Writes a link to the page of a race, unless the race has no page, and the path of the race's
    /// run file. The path is a link if the file is in a folder, and not on a git branch.
    fn run(&self, out: &mut dyn Write, race: &TimelineRace) -> fmt::Result {
        if let Some(page) = self.links.pages.get(&race.path) {
            write!(out, "<a href=\"{}\">page</a> · ", Attribute(encoded(page)))?;
        }
        let path = foreign(&race.path);
        // The path of a run on a git branch is `BRANCH:PATH`.
        if race.path.contains(':') {
            return write!(out, "{path}");
        }
        let target = match race.path.starts_with('/') {
            true => race.path.clone(),
            false => format!("{}{}", self.links.base, race.path),
        };
        write!(
            out,
            "<a href=\"{}\">{path}</a>",
            Attribute(encoded(&target))
        )
    }
}

/// Writes a step, with its size if `is_named`.
fn mark(out: &mut dyn Write, at: f64, step: &TimelineChange, is_named: bool) -> fmt::Result {
    let class = if step.is_worse { "step" } else { "step better" };
    line(out, class, (at, ABOVE * 0.7), (at, 100.0 - BELOW))?;
    if !is_named {
        return Ok(());
    }
    let change = step.effect.change();
    let anchor = match at {
        ..8.0 => "start",
        92.0.. => "end",
        _ => "middle",
    };
    write!(
        out,
        "<text class=\"{class}\" x=\"{at:.2}%\" y=\"4%\" dy=\".32em\" \
         text-anchor=\"{anchor}\">{}{}%</text>",
        GLYPHS.sign(change),
        two_digits(percent(change.abs()))
    )
}

/// Encodes a path for a URL. A URL that begins with two slashes would name another host, so the
/// path begins with one.
fn encoded(path: &str) -> String {
    let rest = path.trim_start_matches('/');
    let mut url = if rest.len() < path.len() { "/" } else { "" }.to_owned();
    for byte in rest.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(byte));
            }
            other => {
                let _ = write!(url, "%{other:02X}");
            }
        }
    }
    url
}

/// Returns escaped text for SVG, which lacks the `<bdi>` element.
fn foreign_in_svg(text: &str) -> Text<String> {
    Text(escape(text, GLYPHS))
}

fn percent(change: f64) -> f64 {
    100.0 * change
}

fn line(out: &mut dyn Write, class: &str, from: (f64, f64), to: (f64, f64)) -> fmt::Result {
    let ((x, y), (to_x, to_y)) = (from, to);
    write!(
        out,
        "<line class=\"{class}\" x1=\"{x:.2}%\" y1=\"{y:.2}%\" x2=\"{to_x:.2}%\" y2=\"{to_y:.2}%\"/>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_becomes_the_name_of_a_host() {
        for (path, url) in [
            ("//evil.example/x", "/evil.example/x"),
            ("///x", "/x"),
            ("/runs/a b", "/runs/a%20b"),
            ("runs//a", "runs//a"),
            ("\\\\evil", "%5C%5Cevil"),
            ("", ""),
        ] {
            assert_eq!(encoded(path), url);
        }
    }
}
