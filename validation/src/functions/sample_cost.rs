//! The cost of a sample beyond the calls in it.

use std::fmt::Write as _;

use deadheat_validation::bars::{Bar, Section, spread, up};
use deadheat_validation::sample_cost::SampleCost;

use crate::Setting;

pub fn section(setting: &Setting) -> Section {
    let cost = SampleCost::measured(setting.count(20_000, 2_000), setting.count(21, 3));
    let (samples, clock) = (cost.samples, &cost.clocks[0]);
    let source = clock.source().name();
    let mut text = format!(
        "## The cost of a sample\n\n\
         Measured in this process with the parts that workers use, over {samples} samples; the clock is `{source}` \
         ({:.4} ns a tick), measured {} times.\n\n\
         | what | |\n| --- | --- |\n",
        clock.ns_per_tick(),
        cost.clocks.len(),
    );
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "| {what} | {value} |");
    };
    row(
        "clock readings of a sample, by construction",
        "2: `SampleClock::start` before the first call, `SampleClock::stop` after the last"
            .to_owned(),
    );
    row(
        "what two readings with nothing between them show, ns",
        spread(&cost.overheads, 2),
    );
    row(
        "what a sample of one empty call shows, median, ns",
        up(cost.shown, 2),
    );
    row("… beyond the two readings, ns", up(cost.beyond(), 2));
    row(
        "outside the timed region: the account of the thread, before and after, ns",
        up(cost.usage, 0),
    );
    row(
        "outside the timed region: all there is around an empty sample, ns",
        up(cost.around, 0),
    );
    row(
        &format!("allocations inside {samples} samples of the 25 µs function"),
        cost.allocations_inside.to_string(),
    );
    row(
        "… and around them, from before the first to after the last",
        cost.allocations_around.to_string(),
    );
    text += "\nThe account of the thread is CPU clock, page faults, context switches and core. It is read outside the \
             wall-clock readings and does not count as the sample's time.\n\n";
    let readings = Bar::told(
        "clock readings per sample",
        "at most 2",
        "2, by construction",
        true,
    );
    let mut bars = vec![readings];
    bars.extend(cost.bars());
    Section { text, bars }
}
