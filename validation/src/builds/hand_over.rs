//! The cost of handing over from one worker to the other on one core.

use deadheat_validation::bars::{Bar, Section, spread};
use deadheat_validation::process::median;
use deadheat_validation::workers::{HAND_OVER_US, Pair, TURNS, Turned};

use crate::Setting;

pub fn section(setting: &Setting) -> Section {
    let blocks = setting.shop.count(200, 20);
    let mut pair = Pair::start(&setting.copies);
    let turned: Vec<Turned> = (0..blocks).map(|_| pair.turned()).collect();
    let all = |part: fn(&Turned) -> f64| turned.iter().map(part).collect::<Vec<f64>>();
    let difference = all(|turned| turned.handing_over());
    let cost = median(difference.iter().copied());
    Section {
        text: format!(
            "## Handing over\n\n\
             Two workers on one core take {TURNS} turns in a block; each turn is a sample of one empty call. When every turn \
             is the other's, one takes {} µs; when each takes its half in a row, {} µs. The difference is what handing over \
             takes, waking up included: {} µs. All are medians (ranges) over {blocks} blocks of each kind, alternating.\n\n",
            spread(&all(|turned| turned.alternating), 2),
            spread(&all(|turned| turned.in_a_row), 2),
            spread(&difference, 2),
        ),
        bars: vec![Bar::at_most(
            "handing over between two workers on one core",
            cost,
            HAND_OVER_US,
            2,
            "µs",
        )],
    }
}
