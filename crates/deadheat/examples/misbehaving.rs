//! Benchmarks that misbehave in every possible way, for the tests of what a race does about them:
//! `tests/harness.rs`.
//!
//! Without filters, most of them fail, and none affects the others.

use std::fs::{File, OpenOptions, read_dir, read_link};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};
use std::thread;
use std::time::Duration;

use deadheat::{CountingAllocator, Suite};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn main() {
    if let Some(folder) = std::env::var_os("PRESENCE")
        && std::env::var_os("DEADHEAT_WORKER").is_some()
    {
        presence(Path::new(&folder));
    }
    deadheat::main(|suite| {
        well_behaved(suite);
        panics(suite);
        endings(suite);
        outputs(suite);
        leftovers(suite);
        if let Some(file) = std::env::var_os("SECOND_RUN_FILE") {
            second_race(suite, Path::new(&file).exists());
        }
        if std::env::var_os("MISBEHAVE_TWICE").is_some() {
            suite.benchmark("fine/work").baseline("again", || 1);
        }
        if let Some(lock) = std::env::var_os("MISBEHAVE_OWNED") {
            owns_a_lock(suite, lock.into());
        }
        if std::env::var_os("MISBEHAVE_RARELY").is_some() {
            rarely_slow(suite);
        }
    });
}

/// Notes in `presence.txt` if another worker is running when this one starts. With
/// `PRESENCE_ALONE`, this worker ends if another is running. With `PRESENCE_RESTLESS`, it works
/// while it waits.
fn presence(folder: &Path) {
    let open = |name: &str| {
        let options = OpenOptions::new().append(true).create(true).clone();
        options.open(folder.join(name)).unwrap()
    };
    let lock = open("presence.lock");
    let alone = lock.try_lock().is_ok();
    let note = if alone { "alone\n" } else { "together\n" };
    open("presence.txt").write_all(note.as_bytes()).unwrap();
    // The lock is held until the process ends.
    std::mem::forget(lock);
    if !alone && std::env::var_os("PRESENCE_ALONE").is_some() {
        eprintln!("somebody else is here");
        // The pipes are closed some time before the process ends.
        let open = read_dir("/proc/self/fd").unwrap();
        let names = open.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let numbers: Vec<i32> = names.map(|name| name.parse().unwrap()).collect();
        for number in numbers.into_iter().filter(|number| *number > 2) {
            // One of the numbers belonged to the listing of the folder, which is closed already.
            let _ = nix::unistd::close(number);
        }
        thread::sleep(Duration::from_millis(20));
        std::process::exit(9);
    }
    if std::env::var_os("PRESENCE_RESTLESS").is_some() {
        thread::spawn(|| {
            loop {
                black_box(work(20_000));
                thread::sleep(Duration::from_micros(300));
            }
        });
    }
}

/// A benchmark whose input takes a lock that its process holds until it has ended. The process
/// takes a while to end, because it has much memory to free.
fn owns_a_lock(suite: &mut Suite, lock: PathBuf) {
    std::mem::forget(black_box(vec![1_u8; 100 << 20]));
    static OWNED: OnceLock<File> = OnceLock::new();
    let input = move |_| {
        OWNED.get_or_init(|| {
            let file = File::create(&lock).unwrap();
            file.try_lock().expect("nobody else has the lock");
            file
        });
    };
    suite
        .benchmark("owned")
        .input(input)
        .baseline("one", |()| work(100))
        .candidate("other", |()| work(100));
}

fn work(steps: u64) -> u64 {
    (0..steps).fold(1, |sum: u64, step| black_box(sum.wrapping_mul(31) ^ step))
}

/// Takes so long that the warm-up is over after one round, which makes the first input of a block
/// predictable.
fn slow_work() {
    thread::sleep(Duration::from_millis(60));
}

fn well_behaved(suite: &mut Suite) {
    suite
        .benchmark("fine/work")
        .input(|seed| 200 + seed % 2)
        .baseline("once", |steps| work(*steps))
        .candidate("twice", |steps| work(2 * *steps));
    suite
        .benchmark("fine/allocating")
        .baseline("one box", || black_box(Box::new([1u8; 32])))
        .candidate("two boxes", || {
            drop(black_box(Box::new([2u8; 32])));
            black_box(Box::new([1u8; 32]))
        });
    suite
        .benchmark("fine/empty")
        .baseline("nothing", || ())
        .candidate("nothing either", || ());
    suite
        .benchmark("fine/loud")
        .baseline("words", || talk("words"))
        .candidate("other words", || talk("{\"other\": \"words\"}"));
    suite
        .benchmark("ignored")
        .ignored()
        .baseline("one", || work(100));
}

/// Prints from two threads, and reads standard input, which must be empty.
fn talk(words: &str) -> u64 {
    thread::scope(|scope| {
        scope.spawn(|| {
            println!("{words}");
            eprintln!("{words}");
        });
        println!("{words}");
        std::io::stdout().write_all(b"raw\n").unwrap();
    });
    let mut typed = String::new();
    std::io::stdin().read_to_string(&mut typed).unwrap();
    assert_eq!(typed, "");
    work(100)
}

fn panics(suite: &mut Suite) {
    suite
        .benchmark("panic/at-once")
        .baseline("calm", || work(100))
        .candidate("panicking", || -> u64 { panic!("no nerves at all") });
    // The warm-up and block 0 share the first input.
    static INPUTS: AtomicU64 = AtomicU64::new(0);
    suite
        .benchmark("panic/in-a-block")
        .input(|_| INPUTS.fetch_add(1, Ordering::Relaxed))
        .baseline("calm", |_| slow_work())
        .candidate("panicking", |input| {
            slow_work();
            assert!(*input < 1, "nerves until block 1");
        });
    suite
        .benchmark("panic/making-input")
        .input(|seed| -> u64 { panic!("no input from {seed}") })
        .baseline("calm", |steps| work(*steps))
        .candidate("calm too", |steps| work(*steps));
    suite
        .benchmark("panic/in-one-of-its-threads")
        .threads(2)
        .baseline("calm", |()| work(100))
        .candidate("panicking", |()| -> u64 { panic!("no nerves in a crew") });
}

fn endings(suite: &mut Suite) {
    suite
        .benchmark("end/hang")
        .baseline("quick", || work(100))
        .candidate("hanging", || -> u64 {
            loop {
                thread::sleep(Duration::from_secs(1_000));
            }
        });
    suite
        .benchmark("end/exit")
        .baseline("staying", || work(100))
        .candidate("leaving", || -> u64 { std::process::exit(7) });
    suite
        .benchmark("end/abort")
        .baseline("staying", || work(100))
        .candidate("aborting", || -> u64 { std::process::abort() });
    suite
        .benchmark("end/killed")
        .baseline("staying", || work(100))
        .candidate("killed", || {
            let this = std::process::id().to_string();
            let killed = deadheat_testing::kill(&["-KILL", &this]);
            unreachable!("still here: {killed}")
        });
    suite
        .benchmark("end/exit-with-a-child-at-the-pipes")
        .baseline("staying", || work(100))
        .candidate("leaving", || -> u64 {
            hand_all_pipes_on();
            std::process::exit(7)
        });
}

/// Calls with a slow path, taken once in fifty calls: five times as long in the baseline, ten times
/// in the candidate.
fn rarely_slow(suite: &mut Suite) {
    let path = |slow: u64| {
        let mut calls = 0;
        move || {
            calls += 1;
            work(if calls % 50 == 0 { slow } else { 1_000 })
        }
    };
    suite
        .benchmark("rarely/slow")
        .baseline("five times", path(5_000))
        .candidate("ten times", path(10_000));
    suite
        .benchmark("rarely/crowded")
        .threads(2)
        .baseline("two threads", |()| work(1_000))
        .candidate("two threads more", |()| work(1_000));
}

fn outputs(suite: &mut Suite) {
    suite
        .benchmark("output/differs")
        .input(|_| 100)
        .baseline("hundred", |steps| *steps)
        .candidate("hundred and one", |steps| *steps + 1)
        .check_outputs();
    static CALLS: AtomicU64 = AtomicU64::new(0);
    suite
        .benchmark("output/varies")
        .baseline("counting", || CALLS.fetch_add(1, Ordering::Relaxed))
        .candidate("counting too", || CALLS.fetch_add(1, Ordering::Relaxed))
        .check_outputs();
}

fn leftovers(suite: &mut Suite) {
    suite
        .benchmark("leaves/child-and-thread")
        .baseline("nothing left", || work(100))
        .candidate("leaving", || {
            static LEFT: Once = Once::new();
            LEFT.call_once(|| {
                start("sleep", "1000");
                thread::spawn(|| {
                    loop {
                        thread::park();
                    }
                });
            });
            work(100)
        });
    suite
        .benchmark("leaves/zombie")
        .baseline("nothing left", || work(100))
        .candidate("leaving", || {
            static LEFT: Once = Once::new();
            LEFT.call_once(|| start("true", ""));
            work(100)
        });
    suite
        .benchmark("leaves/child-and-goes-on")
        .ignored()
        .baseline("slow", slow_work)
        .candidate("leaving", || {
            static LEFT: Once = Once::new();
            LEFT.call_once(|| start("sleep", "1000"));
            slow_work();
        });
}

/// Benchmarks that behave differently in a second race, whose run file exists when its replicates
/// begin.
fn second_race(suite: &mut Suite, is_second: bool) {
    let factor = if is_second { 1 } else { 4 };
    suite
        .benchmark("second/calm")
        .input(|_| 200)
        .baseline("twice", |steps| work(2 * *steps))
        .candidate("slow at first", move |steps| work(factor * *steps));
    suite
        .benchmark("second/slower")
        .input(|_| 200)
        .baseline("once", |steps| work(*steps))
        .candidate("twice", |steps| work(2 * *steps));
    suite
        .benchmark("second/panics")
        .input(|_| 200)
        .baseline("calm", |steps| work(*steps))
        .candidate("panicking", move |steps| {
            assert!(!is_second, "no nerves for a second race");
            work(2 * *steps)
        });
    suite
        .benchmark("second/hangs")
        .input(|_| 200)
        .baseline("quick", |steps| work(*steps))
        .candidate("hanging", move |steps| {
            if is_second {
                thread::sleep(Duration::from_secs(1_000));
            }
            work(2 * *steps)
        });
    let patience = Duration::from_millis(if is_second { 100 } else { 4 });
    suite
        .benchmark("second/lasts")
        .baseline("short", || thread::sleep(Duration::from_millis(1)))
        .candidate("long", move || thread::sleep(patience));
}

/// Starts a program and does not wait for it.
#[expect(clippy::zombie_processes, reason = "that is what it is for")]
fn start(program: &str, argument: &str) {
    Command::new(program).arg(argument).spawn().unwrap();
}

/// Gives the write ends of all pipes of this process to children that stay, like a process that
/// forks without `exec`.
#[expect(clippy::zombie_processes, reason = "that is what it is for")]
fn hand_all_pipes_on() {
    for entry in read_dir("/proc/self/fd").unwrap() {
        let path = entry.unwrap().path();
        let target = read_link(&path).unwrap_or_default();
        if target.to_string_lossy().starts_with("pipe:") {
            // A pipe that another user made and this process inherited cannot be opened.
            let Ok(end) = OpenOptions::new().write(true).open(&path) else {
                continue;
            };
            let kept = Command::new("sleep")
                .arg("1000")
                .stdout(Stdio::from(end))
                .spawn();
            kept.unwrap();
        }
    }
}
