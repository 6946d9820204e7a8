//! What a launch through the engine costs beside the bare system calls.
//!
//! `cargo bench -p deadheat-engine` prints the ratio of the two. Both sides
//! take turns block by block, so that a machine that speeds up or slows down
//! does so for both.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use deadheat_engine::{CommandContenders, CommandOptions, Contenders, Interrupts, Schedule};
use deadheat_model::{
    Benchmark, BlockRecord, CommandLine, Contender, Design, ExitPolicy, Hooks, Input, Looks,
    Metric, Output, Pinning, Plan, Workload,
};

const ROUNDS: u32 = 500;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let rounds = if std::env::args().any(|arg| arg == "--bench") {
        ROUNDS
    } else {
        5
    };
    let mut bare = BareThread::start();
    let interrupts = Interrupts::install().expect("signals can be taken over");
    let plan = plan();
    let options = CommandOptions {
        shown: 2,
        counters: true,
    };
    let mut contenders =
        CommandContenders::new(&plan, &options, &interrupts).expect("the launcher starts");
    let schedule = Schedule::new(&plan);
    let mut record = BlockRecord::default();
    let (mut engine, mut timed, mut raw) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut block = schedule.block(0, round, 0, None);
        block.prime = None;
        let mut run_engine = || {
            record.samples.clear();
            record.values.clear();
            let start = Instant::now();
            contenders.run(&block, &mut record).expect("`true` runs");
            engine.push(start.elapsed().as_secs_f64() / 4.0 * 1e6);
            let width = record.values.len() / 4;
            let wall: f64 = record.values.iter().step_by(width).sum();
            timed.push(wall / 4e3);
        };
        let mut run_raw = || raw.push(bare.four_launches());
        // Who goes first alternates, so that neither always follows the other.
        if round % 2 == 0 {
            run_engine();
            run_raw();
        } else {
            run_raw();
            run_engine();
        }
    }
    let ratios: Vec<f64> = engine.iter().zip(&raw).map(|(e, r)| e / r).collect();
    println!("launches of `true`, {rounds} rounds of 4 on each side");
    println!(
        "posix_spawn + wait4, per launch  {:8.1} us (median)",
        median(&raw)
    );
    println!(
        "engine, per launch               {:8.1} us (median)",
        median(&engine)
    );
    println!(
        "engine, as timed in the samples  {:8.1} us (median)",
        median(&timed)
    );
    println!(
        "engine / posix_spawn + wait4     {:8.4}    (median of {rounds} ratios)",
        median(&ratios)
    );
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The bare calls on a thread of their own, started before the engine settles
/// on one core: they shall have what any program has. The thread takes the
/// time itself, so handing over to it costs nothing that is counted.
struct BareThread {
    requests: Sender<()>,
    replies: Receiver<f64>,
}

impl BareThread {
    fn start() -> Self {
        let (requests, inbox) = channel();
        let (outbox, replies) = channel();
        std::thread::spawn(move || {
            let bare = Bare::new();
            for () in inbox {
                let start = Instant::now();
                for _ in 0..4 {
                    bare.launch();
                }
                let per_launch = start.elapsed().as_secs_f64() / 4.0 * 1e6;
                if outbox.send(per_launch).is_err() {
                    return;
                }
            }
        });
        Self { requests, replies }
    }

    fn four_launches(&mut self) -> f64 {
        self.requests.send(()).expect("the thread lives");
        self.replies.recv().expect("the thread answers")
    }
}

/// `true` through posix_spawn and wait4, with its streams on /dev/null.
struct Bare {
    program: CString,
    actions: libc::posix_spawn_file_actions_t,
}

unsafe extern "C" {
    static environ: *const *mut libc::c_char;
}

impl Bare {
    fn new() -> Self {
        let null = c"/dev/null";
        // SAFETY: the actions are initialised before they are used, and the
        // descriptor stays open for the life of the process.
        let actions = unsafe {
            let fd = libc::open(null.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
            let mut actions = std::mem::zeroed();
            libc::posix_spawn_file_actions_init(&mut actions);
            for stream in 0..3 {
                libc::posix_spawn_file_actions_adddup2(&mut actions, fd, stream);
            }
            actions
        };
        let program = ["/bin/true", "/usr/bin/true"]
            .into_iter()
            .find(|path| std::path::Path::new(path).exists())
            .expect("there is a `true`");
        Self {
            program: CString::new(program).expect("no NUL byte"),
            actions,
        }
    }

    fn launch(&self) {
        let mut argv = [self.program.as_ptr().cast_mut(), ptr::null_mut()];
        let mut pid = 0;
        let mut status = 0;
        // SAFETY: all pointers are valid for the call; rusage is plain data.
        unsafe {
            let failed = libc::posix_spawn(
                &mut pid,
                self.program.as_ptr(),
                &self.actions,
                ptr::null(),
                argv.as_mut_ptr(),
                environ,
            );
            assert_eq!(failed, 0, "posix_spawn");
            let mut usage = std::mem::zeroed();
            libc::wait4(pid, &mut status, 0, &mut usage);
        }
        assert_eq!(status, 0, "`true` succeeds");
    }
}

fn plan() -> Plan {
    let contender = || Contender {
        name: "true".to_owned(),
        workload: Workload::Command(Box::new(CommandLine {
            text: "true".to_owned(),
            words: vec!["true".to_owned()],
            input: Input::Null,
            output: Output::Null,
            timeout: None,
            exit_policy: ExitPolicy::ZeroOnly,
            hooks: Hooks::default(),
        })),
    };
    Plan {
        design: Design {
            margin: 0.01,
            alpha: 0.05,
            looks: Looks {
                at: vec![ROUNDS],
                levels: vec![0.05],
                weights: vec![1.0],
            },
            blocks_per_replicate: 1,
            warmup: 0,
            budget: None,
            judged: Metric::Wall,
            pinning: Pinning::Inherit,
        },
        seed: 1,
        benchmarks: vec![Benchmark {
            name: "true".to_owned(),
            parameters: vec![],
            contenders: vec![contender(), contender()],
            ..Benchmark::default()
        }],
    }
}
