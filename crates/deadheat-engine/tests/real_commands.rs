//! Launches real processes with the real launcher.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use deadheat_engine::{
    CommandContenders, CommandOptions, Contenders, EngineError, Interrupts, Schedule,
};
use deadheat_model::{
    BlockRecord, CommandLine, Contender, ExitPolicy, Flags, Hooks, Input, Metric, Output, Pinning,
    Plan, Waiting, Workload,
};
use deadheat_testing::runs::{benchmark, command, design, one_look};

/// Signal dispositions belong to the whole process, so the tests run one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn shell(script: &str) -> CommandLine {
    CommandLine {
        text: script.to_owned(),
        ..command(&["sh", "-c", script])
    }
}

fn plan(commands: Vec<CommandLine>) -> Plan {
    let contender = |command: CommandLine| Contender {
        name: command.text.clone(),
        workload: Workload::Command(Box::new(command)),
    };
    let contenders = commands.into_iter().map(contender).collect();
    Plan {
        design: design(one_look(6)),
        seed: 7,
        benchmarks: vec![benchmark("real", contenders)],
    }
}

/// Opens the benchmark, runs one block and closes it again.
fn one_block(plan: &Plan) -> Result<(Vec<Metric>, BlockRecord), EngineError> {
    run_one_block(plan, Vec::new)
}

/// Like [`one_block`], while this process holds the memory that `ballast` returns.
fn run_one_block(
    plan: &Plan,
    ballast: impl Fn() -> Vec<u8>,
) -> Result<(Vec<Metric>, BlockRecord), EngineError> {
    in_one_block(plan, ballast, |contenders, record| {
        (contenders.metrics().to_vec(), record)
    })
}

/// Opens the benchmark, runs one block and closes the benchmark. Returns the value of `result` for
/// the block.
fn in_one_block<T>(
    plan: &Plan,
    ballast: impl Fn() -> Vec<u8>,
    result: impl FnOnce(&mut CommandContenders<'_>, BlockRecord) -> T,
) -> Result<T, EngineError> {
    let _guard = ONE_AT_A_TIME
        .lock()
        .unwrap_or_else(|poison| poison.into_inner());
    let interrupts = Interrupts::install().unwrap();
    let options = CommandOptions {
        shown: 2,
        counters: true,
    };
    let mut contenders = CommandContenders::new(plan, &options, &interrupts)?;
    let ballast = std::hint::black_box(ballast());
    contenders.open(0)?;
    let mut record = BlockRecord::default();
    let block = Schedule::new(plan).block(0, 0, 0, None);
    let ran = contenders.run(&block, &mut record);
    let closed = contenders.close(0);
    drop(ballast);
    ran?;
    closed?;
    Ok(result(&mut contenders, record))
}

fn values(metrics: &[Metric], record: &BlockRecord, metric: &Metric) -> Vec<f64> {
    let column = metrics.iter().position(|m| m == metric).unwrap();
    record
        .values
        .iter()
        .skip(column)
        .step_by(metrics.len())
        .copied()
        .collect()
}

fn message(plan: &Plan) -> String {
    one_block(plan).unwrap_err().to_string()
}

#[test]
fn a_longer_sleep_takes_longer_and_little_cpu_time() {
    let plan = plan(vec![shell("exec sleep 0.01"), shell("exec sleep 0.2")]);
    let (metrics, record) = one_block(&plan).unwrap();
    let wall = values(&metrics, &record, &Metric::Wall);
    let cpu = values(&metrics, &record, &Metric::Cpu);
    for (slot, sample) in record.samples.iter().enumerate() {
        let at_least = if sample.contender.0 == 0 {
            0.01e9
        } else {
            0.2e9
        };
        assert!(wall[slot] >= at_least, "{wall:?}");
        assert!(cpu[slot] < wall[slot]);
        assert_eq!(sample.exit_code, Some(0));
    }
}

#[test]
fn the_peak_memory_is_that_of_the_command_and_not_of_deadheat() {
    let small = plan(vec![CommandLine {
        words: vec!["true".to_owned()],
        ..shell("true")
    }]);
    let (metrics, record) = run_one_block(&small, || vec![1u8; 60 << 20]).unwrap();
    let peak = values(&metrics, &record, &Metric::PeakRss)[0];
    // If the command were a child of this process, its peak would include the ballast.
    assert!(peak > 0.0 && peak < 20.0 * 1048576.0, "{peak}");
}

#[test]
fn a_command_and_its_hooks_run_in_the_folder_of_the_command_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("tool");
    std::fs::write(&tool, "#!/bin/sh\npwd > ran\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let inside = CommandLine {
        directory: Some(folder.path().to_owned()),
        hooks: Hooks {
            prepare: Some(["sh", "-c", "pwd > prepared"].map(str::to_owned).to_vec()),
            ..Hooks::default()
        },
        ..command(&["./tool"])
    };
    let here = std::env::current_dir().unwrap();
    one_block(&plan(vec![inside])).unwrap();
    for file in ["ran", "prepared"] {
        let written = std::fs::read_to_string(folder.path().join(file)).unwrap();
        let place = std::path::Path::new(written.trim()).canonicalize().unwrap();
        assert_eq!(place, folder.path().canonicalize().unwrap(), "{file}");
    }
    assert_eq!(std::env::current_dir().unwrap(), here);
    let nowhere = CommandLine {
        directory: Some(folder.path().join("gone")),
        ..command(&["true"])
    };
    let error = one_block(&plan(vec![nowhere])).unwrap_err().to_string();
    assert!(
        error.contains("does not exist") && error.contains("gone"),
        "{error}"
    );
}

#[test]
fn every_launch_has_an_environment_padding_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo ${{#DEADHEAT_PADDING}} >> {}", log.display());
    one_block(&plan(vec![shell(&script), shell(&script)])).unwrap();
    let text = std::fs::read_to_string(log).unwrap();
    let lengths: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    let expected = Schedule::new(&plan(vec![shell("a"), shell("b")])).block(0, 0, 0, None);
    let expected: Vec<u32> = expected
        .prime
        .iter()
        .chain(&expected.slots)
        .map(|slot| u32::from(slot.padding))
        .collect();
    assert_eq!(lengths, expected);
}

#[test]
fn a_missing_program_is_named() {
    let mut command = shell("x");
    command.words = vec!["deadheat-no-such-program".to_owned()];
    let text = message(&plan(vec![command]));
    assert!(
        text.contains("there is no program 'deadheat-no-such-program' in PATH"),
        "{text}"
    );
}

#[test]
fn an_exit_code_is_reported_unless_it_is_ignored() {
    let text = message(&plan(vec![shell("exit 3")]));
    assert!(text.contains("exited with code 3"), "{text}");
    assert!(
        text.contains("benchmark 'real', command 'exit 3' (replicate 0, block 0, slot 0)"),
        "{text}"
    );
    for policy in [ExitPolicy::Any, ExitPolicy::Also(vec![3])] {
        let tolerant = CommandLine {
            exit_policy: policy,
            ..shell("exit 3")
        };
        let (_, record) = one_block(&plan(vec![tolerant])).unwrap();
        assert_eq!(record.samples[0].exit_code, Some(3));
    }
}

#[test]
fn nothing_is_launched_after_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo x >> {}; exit 1", log.display());
    one_block(&plan(vec![shell(&script), shell(&script)])).unwrap_err();
    assert_eq!(std::fs::read_to_string(log).unwrap(), "x\n");
}

#[test]
fn a_death_by_signal_is_a_failure_even_when_exit_codes_are_ignored() {
    let crash = CommandLine {
        exit_policy: ExitPolicy::Any,
        ..shell("kill -SEGV $$")
    };
    let text = message(&plan(vec![crash]));
    assert!(text.contains("killed by signal 11 (SIGSEGV)"), "{text}");
}

#[test]
fn a_command_that_takes_too_long_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let script = format!("sleep 300 & echo $! > {}; wait", pid_file.display());
    let slow = CommandLine {
        timeout: Some(Duration::from_millis(300)),
        ..shell(&script)
    };
    let text = message(&plan(vec![slow]));
    assert!(text.contains("did not end within 300ms"), "{text}");
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        match std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
            Err(_) => true,
            Ok(stat) => stat.contains(") Z "),
        }
    });
    assert!(gone, "the grandchild {} lives on", pid.trim());
}

#[test]
fn hooks_run_around_every_launch_and_once_around_the_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let hook = |word: &str| {
        let script = format!("echo {word} >> {}", log.display());
        Some(["sh", "-c", &script].map(str::to_owned).to_vec())
    };
    let command = |word: &str| {
        let mut command = shell(&format!("echo {word} >> {}", log.display()));
        command.hooks = Hooks {
            setup: hook("setup"),
            prepare: hook("prepare"),
            conclude: hook("conclude"),
            cleanup: hook("cleanup"),
        };
        command
    };
    one_block(&plan(vec![command("run"), command("run")])).unwrap();
    let text = std::fs::read_to_string(log).unwrap();
    let around = "prepare\nrun\nconclude\n".repeat(5);
    assert_eq!(text, format!("setup\n{around}cleanup\n"));
}

#[test]
fn a_failing_hook_is_named_with_its_flag_and_what_it_said() {
    for (flag, pick) in [
        ("--setup", 0),
        ("--prepare", 1),
        ("--conclude", 2),
        ("--cleanup", 3),
    ] {
        let mut command = shell("true");
        let words = ["sh", "-c", "echo cannot mount >&2; exit 4"]
            .map(str::to_owned)
            .to_vec();
        let hooks = &mut command.hooks;
        let slot = [
            &mut hooks.setup,
            &mut hooks.prepare,
            &mut hooks.conclude,
            &mut hooks.cleanup,
        ];
        *slot.into_iter().nth(pick).unwrap() = Some(words);
        let text = message(&plan(vec![command]));
        assert!(text.contains(flag), "{text}");
        assert!(text.contains("exited with code 4: cannot mount"), "{text}");
    }
}

#[test]
fn output_through_a_pipe_is_read_to_its_end_and_input_comes_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    std::fs::write(&input, vec![b'x'; 1 << 20]).unwrap();
    let command = CommandLine {
        input: Input::File(input),
        output: Output::Pipe,
        ..shell("exec cat")
    };
    // This is more than a pipe can hold, so `cat` would block forever if the pipe were not read.
    let command = CommandLine {
        timeout: Some(Duration::from_secs(20)),
        ..command
    };
    one_block(&plan(vec![command.clone(), command])).unwrap();
}

#[test]
fn output_to_a_file_is_that_of_the_last_launch_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let command = CommandLine {
        output: Output::File(path.clone()),
        ..shell("echo once")
    };
    one_block(&plan(vec![command.clone(), command])).unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "once\n");
}

#[test]
fn files_that_cannot_be_opened_are_named_with_their_flag() {
    let missing = PathBuf::from("/no/such/folder/file");
    let input = CommandLine {
        input: Input::File(missing.clone()),
        ..shell("true")
    };
    let text = message(&plan(vec![input]));
    assert!(text.contains("--input '/no/such/folder/file'"), "{text}");
    let output = CommandLine {
        output: Output::File(missing),
        ..shell("true")
    };
    let text = message(&plan(vec![output]));
    assert!(text.contains("--output '/no/such/folder/file'"), "{text}");
}

#[test]
fn a_different_output_is_reported_with_its_first_differing_line() {
    let compared = |script: &str| CommandLine {
        output: Output::Compared,
        ..shell(script)
    };
    let same = plan(vec![
        compared("echo a; echo b"),
        compared("printf 'a\\nb\\n'"),
    ]);
    one_block(&same).unwrap();
    let text = message(&plan(vec![
        compared("echo a; echo b"),
        compared("echo a; echo c"),
    ]));
    assert!(
        text.contains("line 2 is \"c\", the baseline's is \"b\""),
        "{text}"
    );
}

#[test]
fn an_exit_code_unlike_the_baselines_is_reported_by_the_output_check() {
    let compared = |script: &str| CommandLine {
        output: Output::Compared,
        exit_policy: ExitPolicy::Any,
        ..shell(script)
    };
    let text = message(&plan(vec![compared("exit 1"), compared("exit 2")]));
    assert!(
        text.contains("exits with code 2, but 'exit 1' exits with 1"),
        "{text}"
    );
}

#[test]
fn pinned_commands_see_one_core() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!(
        "grep Cpus_allowed_list /proc/self/status > {}",
        log.display()
    );
    let mut plan = plan(vec![shell(&script)]);
    plan.design.pinning = Pinning::Auto;
    // Pinning moves the calling thread, so the block runs on a separate thread.
    std::thread::spawn(move || one_block(&plan).unwrap())
        .join()
        .unwrap();
    let text = std::fs::read_to_string(log).unwrap();
    let cores = text.split(':').nth(1).unwrap().trim();
    assert!(cores.parse::<u32>().is_ok(), "one core, not {cores}");
}

#[test]
fn a_process_of_its_own_has_no_company_and_one_with_children_has() {
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let plan = plan(vec![
        shell(busy),
        shell(&format!("({busy}) & wait")),
        shell("sleep 2 &"),
    ]);
    let (metrics, record) = one_block(&plan).unwrap();
    let wall = values(&metrics, &record, &Metric::Wall);
    let delay = values(&metrics, &record, &Metric::RunDelay);
    for (slot, sample) in record.samples.iter().enumerate() {
        if sample.flags.holds(Flags::DELAY_UNREAD) {
            return eprintln!("skipped: no schedstat here");
        }
        if sample.contender.0 > 0 {
            assert!(sample.flags.holds(Flags::CONCURRENT), "{slot}");
        }
        // A process that an earlier launch left running may disturb later launches, so only the
        // first slot is checked.
        if slot == 0 && sample.contender.0 == 0 {
            assert_eq!(sample.flags, Flags::NONE);
            assert!(delay[slot] < wall[slot]);
        }
    }
}

#[test]
fn waiting_of_a_command_with_another_priority_is_its_own() {
    let busy = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done";
    let niced = command(&["nice", "-n", "5", "sh", "-c", busy]);
    let batch = command(&["chrt", "--batch", "0", "sh", "-c", busy]);
    for other in [niced, batch] {
        let (_, record) = one_block(&plan(vec![shell(busy), other])).unwrap();
        for sample in &record.samples {
            if sample.flags.holds(Flags::DELAY_UNREAD) {
                return eprintln!("skipped: no schedstat here");
            }
            let is_other = sample.contender.0 > 0;
            assert_eq!(
                sample.flags.holds(Flags::CONCURRENT),
                is_other,
                "{sample:?}"
            );
        }
    }
}

#[test]
fn a_daemon_that_left_its_parents_in_two_steps_is_company_all_the_same() {
    // The first parent ends at once, so the launched shell has no child any more.
    let daemon = "( (exec sleep 2) >/dev/null 2>&1 & )";
    let plan = plan(vec![shell(daemon), shell(daemon)]);
    let (_, record) = one_block(&plan).unwrap();
    for sample in &record.samples {
        if sample.flags.holds(Flags::DELAY_UNREAD) {
            return eprintln!("skipped: no schedstat here");
        }
        assert!(sample.flags.holds(Flags::CONCURRENT), "{sample:?}");
    }
}

#[test]
fn waiting_that_is_kept_is_not_recorded() {
    let mut plan = plan(vec![shell("true"), shell("true")]);
    plan.design.waiting = Waiting::Keep;
    let (metrics, record) = one_block(&plan).unwrap();
    assert!(!metrics.contains(&Metric::RunDelay));
    assert!(record.samples.iter().all(|one| one.flags == Flags::NONE));
}

/// Returns the names of the processes that contenders left running, as observed in one block.
fn left_by(plan: &Plan) -> Vec<Option<String>> {
    let mut observed = in_one_block(plan, Vec::new, |contenders, _| contenders.observed()).unwrap();
    observed.sort_by_key(|one| one.contender);
    observed.dedup_by_key(|one| one.contender);
    let names = observed.into_iter().map(|one| one.process.left_behind);
    names.collect()
}

/// Returns the number of processes with this command line.
fn running(words: &str) -> usize {
    let mut count = 0;
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line: Vec<u8> = line
            .iter()
            .map(|b| if *b == 0 { b' ' } else { *b })
            .collect();
        count += usize::from(String::from_utf8_lossy(&line).trim() == words);
    }
    count
}

#[test]
fn processes_that_a_command_left_are_killed_at_the_end_of_its_launch_and_named() {
    for (seconds, script) in [
        ("3001.1", "sleep 3001.1 & :"),
        ("3001.2", "setsid -f sleep 3001.2"),
        (
            "3001.3",
            "(setsid sh -c '(exec sleep 3001.3) & sleep 0.01' &) ; :",
        ),
        (
            "3001.4",
            "trap '' TERM HUP; nohup sleep 3001.4 >/dev/null 2>&1 & exit 0",
        ),
    ] {
        let names = left_by(&plan(vec![shell(script), shell("true")]));
        assert!(names[0].is_some(), "{script}: {names:?}");
        assert_eq!(names[1], None, "{script}");
        assert_eq!(running(&format!("sleep {seconds}")), 0, "{script}");
    }
}

#[test]
fn a_process_that_ends_soon_after_its_command_is_not_reported() {
    let names = left_by(&plan(vec![shell("sleep 0.001 & :"), shell("true")]));
    assert_eq!(names, [None, None]);
}

#[test]
fn a_process_that_escaped_a_command_over_its_time_limit_is_killed() {
    let mut escapes = shell("setsid -f sleep 3002; sleep 100");
    escapes.timeout = Some(Duration::from_millis(300));
    let text = message(&plan(vec![escapes, shell("true")]));
    assert!(text.contains("did not end within"), "{text}");
    assert_eq!(running("sleep 3002"), 0);
}

#[test]
fn a_server_that_a_hook_started_lives_until_a_hook_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let words = |script: &str| {
        let script = script.replace("PID", pid.to_str().unwrap());
        Some(["sh", "-c", &script].map(str::to_owned).to_vec())
    };
    let mut served = shell(&format!("kill -0 $(cat {})", pid.display()));
    served.hooks = Hooks {
        prepare: words("sleep 3003 & echo $! > PID"),
        // If no process reaped the server, it would exist as a zombie forever.
        conclude: words("kill $(cat PID); while kill -0 $(cat PID); do sleep 0.01; done"),
        ..Hooks::default()
    };
    let names = left_by(&plan(vec![served.clone(), served]));
    assert_eq!(names, [None, None]);
    assert_eq!(running("sleep 3003"), 0);
}

/// Sets the hook of a command that the option `flag` sets.
fn with_hook(mut command: CommandLine, flag: &str, script: &str) -> CommandLine {
    let words = Some(["sh", "-c", script].map(str::to_owned).to_vec());
    let hooks = &mut command.hooks;
    match flag {
        "--setup" => hooks.setup = words,
        "--prepare" => hooks.prepare = words,
        "--conclude" => hooks.conclude = words,
        _ => hooks.cleanup = words,
    }
    command
}

#[test]
fn the_time_limit_ends_every_hook_and_what_it_started() {
    for (flag, seconds) in [
        ("--setup", "3004.1"),
        ("--prepare", "3004.2"),
        ("--conclude", "3004.3"),
        ("--cleanup", "3004.4"),
    ] {
        let script = format!("setsid -f sleep {seconds}; sleep 100");
        let mut command = with_hook(shell("true"), flag, &script);
        command.timeout = Some(Duration::from_millis(300));
        let text = message(&plan(vec![command]));
        assert!(text.contains(flag), "{text}");
        assert!(text.contains("did not end within 300ms"), "{text}");
        assert_eq!(running(&format!("sleep {seconds}")), 0, "{flag}");
    }
}

#[test]
fn a_server_of_a_hook_outlives_the_race_only_if_the_race_ends_well() {
    let script = "setsid -f sleep SECONDS; sleep 0.05";
    let started = |command, seconds| {
        with_hook(
            shell(command),
            "--setup",
            &script.replace("SECONDS", seconds),
        )
    };
    one_block(&plan(vec![started("true", "3005.1")])).unwrap();
    assert_eq!(running("sleep 3005.1"), 1);
    let done = std::process::Command::new("pkill")
        .args(["-fx", "sleep 3005.1"])
        .status();
    assert!(done.unwrap().success());
    for (command, seconds) in [("exit 3", "3005.2"), ("kill -9 $$", "3005.3")] {
        message(&plan(vec![started(command, seconds)]));
        assert_eq!(running(&format!("sleep {seconds}")), 0, "{command}");
    }
}

#[test]
fn a_fifo_as_input_or_output_is_refused_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let mut reads = shell("cat");
    reads.input = Input::File(fifo.clone());
    let text = message(&plan(vec![reads, shell("true")]));
    assert!(text.contains("it is a pipe"), "{text}");
    let mut writes = shell("echo");
    writes.output = Output::File(fifo.clone());
    let text = message(&plan(vec![writes, shell("true")]));
    assert!(text.contains("FIFO that no process reads"), "{text}");
}

#[test]
fn a_hook_of_a_launch_has_the_time_limit_of_the_launch() {
    let slow = || Some(["sleep", "100"].map(str::to_owned).to_vec());
    for (flag, hooks) in [
        (
            "--prepare",
            Hooks {
                prepare: slow(),
                ..Hooks::default()
            },
        ),
        (
            "--conclude",
            Hooks {
                conclude: slow(),
                ..Hooks::default()
            },
        ),
    ] {
        let mut hooked = shell("true");
        hooked.timeout = Some(Duration::from_millis(300));
        hooked.hooks = hooks;
        let text = message(&plan(vec![hooked, shell("true")]));
        let expected = format!("has a {flag} hook 'sleep 100' that did not end within 300ms");
        assert!(text.contains(&expected), "{text}");
    }
}
