//! Functions from a nanosecond to a second, beside a plain loop.

use deadheat::Compare;
use deadheat::parts::model::{Verdict, Workload};
use deadheat_validation::prelude::*;
use deadheat_validation::workloads::{Size, Visitor};

use crate::Setting;
use deadheat_validation::suite_run::word;

/// The distance between the two beyond which the figure makes no sense, as a share.
const AGREEMENT: f64 = 0.05;

/// A batch of the plain loop, in nanoseconds.
const BATCH_NS: f64 = 200_000.0;

pub fn section(setting: &Setting) -> Section {
    let mut text = String::from(
        "## Functions of all sizes\n\n\
         Each function races against itself, in two ways. First, deadheat (`deadheat::compare`) \
         and a plain loop with `std::time::Instant` and `black_box` take turns in one process. The \
         ratio is deadheat's median divided by the median of the plain loop, as median (range) \
         over rounds. Second, deadheat races the function in separate processes, as `cargo bench` \
         does. All columns after *rounds* come from this race. The race uses the default settings; \
         only the race of the function of one second is shorter, with `--max-replicates 6`.\n\n\
         | function | plain loop, ns | ratio | rounds | race: median, ns | iterations | blocks | replicates | seconds | verdict |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mut bars = Vec::new();
    for size in Size::ALL {
        if setting.asked.quick && size == Size::Second {
            continue;
        }
        eprintln!("  {}", size.name());
        let rounds = match size {
            Size::Second => 1,
            _ => setting.count(11, 3),
        };
        let Beside { plain_ns, ratios } = size.hand_to(InTurns { size, rounds });
        let words: &[&str] = match size {
            Size::Second => &["--max-replicates", "6"],
            _ => &[],
        };
        let run = setting.suite.race_named(&[size.with_itself(0)], words);
        let only = run.only();
        let planned = &run.run.header.plan.benchmarks[0];
        let iterations = match &planned.contenders[0].workload {
            Workload::Function(calls) => calls.iterations,
            _ => 0,
        };
        let estimate = only.estimate.as_ref();
        let (blocks, replicates) =
            estimate.map_or((0, 0), |estimate| (estimate.blocks, estimate.replicates));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {rounds} | {} | {iterations} | {blocks} | {replicates} | {} | {} |",
            size.name(),
            digits(plain_ns),
            plain_spread(&ratios, 4),
            digits(only.baseline.median),
            up(run.seconds, 2),
            word(only),
        );
        let ratio = median(ratios);
        bars.push(Bar::told(
            format!("a function of {}: deadheat / plain loop", size.name()),
            format!("within {:.0}%", AGREEMENT * 100.0),
            format!("{ratio:.4}, against itself {}", word(only)),
            (ratio - 1.0).abs() <= AGREEMENT
                && matches!(only.verdict, Some(Verdict::Equivalent | Verdict::Inconclusive)),
        ));
    }
    text += "\n";
    Section { text, bars }
}

/// The measurements of the plain loop, and the ratios beside deadheat's.
struct Beside {
    plain_ns: f64,
    ratios: Vec<f64>,
}

struct InTurns {
    size: Size,
    rounds: usize,
}

impl Visitor for InTurns {
    type Answer = Beside;

    fn visit<F: Fn(&u64) -> u64 + Copy + 'static>(self, call: F) -> Beside {
        let mut plain = Vec::new();
        let mut ratios = Vec::new();
        let batches = match self.size {
            Size::Second => 2,
            _ => 301,
        };
        for round in 0..self.rounds {
            let before = plain_loop(call, self.size.ns(), batches);
            let analysis = Compare::new()
                .budget(Duration::from_millis(300))
                .seed(round as u64)
                .run_with(|seed| seed, call, call);
            let after = plain_loop(call, self.size.ns(), batches);
            let beside = (before + after) / 2.0;
            plain.push(beside);
            ratios.push(analysis.comparisons[0].baseline.median / beside);
        }
        Beside { plain_ns: median(plain), ratios }
    }
}

/// Nanoseconds per call, median over batches, the first of which does not
/// count.
fn plain_loop<F: Fn(&u64) -> u64>(call: F, about_ns: f64, batches: usize) -> f64 {
    let calls = (BATCH_NS / about_ns).ceil() as u64;
    let input = 1_u64;
    let batch = || {
        let start = Instant::now();
        for _ in 0..calls {
            black_box(call(black_box(&input)));
        }
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    batch();
    median((1..batches).map(|_| batch()))
}

fn digits(ns: f64) -> String {
    match ns {
        small if small < 100.0 => format!("{small:.3}"),
        middling if middling < 1e5 => format!("{middling:.1}"),
        large => format!("{large:.0}"),
    }
}
