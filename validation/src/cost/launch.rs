//! The cost of launching a command.

use deadheat::parts::model::Workload;
use deadheat_engine::{CommandContenders, CommandOptions, Interrupts};
use deadheat_testing::runs;
use deadheat_validation::bare::{BareThread, Way};
use deadheat_validation::launches::{by_deadheat, by_hyperfine, hyperfine_version};
use deadheat_validation::prelude::*;

use crate::blocks::{Blocks, plan};
use crate::in_turns::InTurns;

/// Launches of a block, and of every other way in a round.
const BLOCK: usize = 4;
const LAUNCHES: usize = 400;
/// The bar for a launch by the engine, as a ratio to the bare calls.
const RATIO: f64 = 1.1;

pub fn section(shop: &Workshop) -> Section {
    // Before the engine settles on one core.
    let bare = BareThread::start();
    let mut text = "## Launching a command\n\n".to_owned();
    let rounds = shop.count(500, 40);
    let interrupts = Interrupts::install().expect("signals can be taken over");
    let both = [("true", command()), ("true again", command())];
    let plan = plan("true", &both, rounds as u32 + 1, 1);
    let options = CommandOptions { shown: 2, counters: true };
    let engine = CommandContenders::new(&plan, &options, &interrupts);
    let mut engine = Blocks::new(&plan, engine.expect("the launcher starts"));
    let mut replicates = 0..;
    let measured =
        InTurns::beside("bare: `posix_spawn`, `wait4`", || bare.launches(Way::Spawn, BLOCK))
            .theirs("bare: `fork`, `execve`, `wait4`", || bare.launches(Way::Fork, BLOCK))
            .theirs("`std::process::Command`", by_the_library)
            .ours("deadheat's launcher, as its engine calls it", || {
                let replicate = replicates.next().expect("there is always one more");
                engine.run(replicate, 0) / BLOCK as f64 * 1e6
            })
            .run(rounds);
    drop(engine);
    drop(interrupts);
    let _ = write!(
        text,
        "Each method launches `true`, with its streams on /dev/null, and waits until it ends. The \
         times are in µs per launch, as median (range) over {rounds} rounds of {BLOCK} launches. \
         The methods take turns. deadheat's figures include reading the resource usage of each \
         process, and its hardware counters if they are accessible. They also include one request \
         and one reply per block between deadheat and its launcher. A `fork` takes longer in a \
         larger process.\n\n\
         {}",
        measured.table("launch", "µs", 0),
    );
    let bar = Bar::at_most(
        "a launch by deadheat / bare `posix_spawn` and `wait4`",
        measured.ratio(3, 0),
        RATIO,
        3,
        "",
    );
    text += &whole_tools(shop, &bare);
    Section { text, bars: vec![bar] }
}

fn whole_tools(shop: &Workshop, bare: &BareThread) -> String {
    let rounds = shop.count(21, 3);
    let save = shop.scratched("launches.jsonl");
    let each = |seconds: f64, launches: u64| seconds / launches as f64 * 1e6;
    let version = hyperfine_version();
    let mut ways =
        InTurns::beside("bare: `posix_spawn`, `wait4`", || bare.launches(Way::Spawn, LAUNCHES));
    if version.is_some() {
        ways = ways.theirs("`hyperfine -N -r 400 true`", || {
            each(by_hyperfine(LAUNCHES, &["true"]).wall, LAUNCHES as u64)
        });
    }
    let measured = ways
        .ours("`deadheat run -w 0 -r 400 -- true`", || {
            let (cost, launched) = by_deadheat(&shop.deadheat, &save, LAUNCHES, &["true"]);
            each(cost.wall, launched)
        })
        .run(rounds);
    let hyperfine = match version {
        Some(version) => format!("The other tool is {version}."),
        None => "hyperfine is not installed here.".to_owned(),
    };
    format!(
        "The next table has the cost of whole tools. Each tool makes {LAUNCHES} launches in a row, \
         and the times are per launch, from the start of the tool to its exit, as median (range) \
         over {rounds} rounds. The time of deadheat includes writing every sample to its run file. \
         {hyperfine}\n\n\
         {}",
        measured.table("tool", "µs", 0)
    )
}

fn by_the_library() -> f64 {
    let began = Instant::now();
    for _ in 0..BLOCK {
        let status = Command::new("true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "`true`");
    }
    began.elapsed().as_secs_f64() / BLOCK as f64 * 1e6
}

fn command() -> Workload {
    Workload::Command(Box::new(runs::command(&["true"])))
}
