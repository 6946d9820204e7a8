//! The races that `functions`, `gate` and `tails` run: a bench target like anybody's.
//!
//! Both contenders of a race are of one type, so that they share their loop
//! and not only what is called in it.

use deadheat::suite::Benchmark;
use deadheat_examples::utf8::{LENGTH, std_count, std_count_rev, text};
use deadheat_validation::workloads::{
    BRANCHY, GATED, LONG_PERCENTS, LONGER_TAIL, ONE_TEN_THOUSANDTH, ONE_THOUSANDTH,
    RACES_OF_ONE_PERCENT, RACES_WITH_ITSELF, ROUNDS_WITH_THEMSELVES, Size, TWO_PERCENT, Visitor,
    branchy, gated, long, long_steps, of_the_gate, one_percent, rounds, steps, tailed, with_tail,
};

struct WithItself<'s>(Benchmark<'s>);

impl Visitor for WithItself<'_> {
    type Answer = ();

    fn visit<F: Fn(&u64) -> u64 + Copy + 'static>(self, call: F) {
        self.0.input(|seed| seed).baseline("one", call).candidate("the same", call);
    }
}

type Count = fn(&str) -> usize;

/// One closure for both sides, so that they share their loop.
fn on_text(count: Count) -> impl Fn(&String) -> usize + Copy {
    move |text| count(text)
}

fn main() {
    deadheat::main(|suite| {
        let mut more = |name: String, percent: f64| {
            suite
                .benchmark(name)
                .input(|seed| seed)
                .baseline("mixing", steps(0.0))
                .candidate("more mixing", steps(percent));
        };
        for number in 0..RACES_OF_ONE_PERCENT {
            more(one_percent(number), 1.0);
        }
        more(ONE_THOUSANDTH.to_owned(), 0.1);
        more(TWO_PERCENT.to_owned(), 2.0);
        for number in 0..GATED {
            let call = of_the_gate(number);
            WithItself(suite.benchmark(gated(number))).visit(call);
        }
        let tails = (0..RACES_WITH_ITSELF).map(|number| (tailed(number), 0.0));
        for (name, percent) in tails.chain([(LONGER_TAIL.to_owned(), 10.0)]) {
            suite
                .benchmark(name)
                .input(|seed| seed)
                .baseline("tail", with_tail(0.0))
                .candidate("other tail", with_tail(percent));
        }
        for (name, round) in [(ROUNDS_WITH_THEMSELVES, 0), (ONE_TEN_THOUSANDTH, 1)] {
            suite
                .benchmark(name)
                .input(|seed| seed)
                .baseline("rounds", rounds(0))
                .candidate("more rounds", rounds(round));
        }
        for percent in LONG_PERCENTS {
            suite
                .benchmark(long(percent))
                .input(|seed| seed)
                .baseline("mixing", long_steps(0.0))
                .candidate("more mixing", long_steps(f64::from(percent)));
        }
        for (name, count) in BRANCHY.into_iter().zip([std_count as Count, std_count_rev]) {
            for number in 0..RACES_WITH_ITSELF {
                suite
                    .benchmark(branchy(name, number))
                    .input(|seed| text(seed, LENGTH))
                    .baseline("one", on_text(count))
                    .candidate("the same", on_text(count));
            }
        }
        for size in Size::ALL {
            for number in 0..RACES_WITH_ITSELF {
                size.hand_to(WithItself(suite.benchmark(size.with_itself(number))));
            }
        }
    });
}
