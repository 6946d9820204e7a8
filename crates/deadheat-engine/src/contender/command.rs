//! Contenders that are whole commands: every sample is one process.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deadheat_model::{
    AddressSpace, Block, BlockRecord, ContenderId, Flags, Metric, Observed, Output, Placed, Plan,
    Sample, SideBySide, Slot, Values, Waiting, Workload,
};

use super::command_launch::{
    BenchmarkImages, Difference, Once, cause_of, compare, hook_end, last_lines, launch, outline,
    tail,
};
use super::printed_value::ValueReader;
use super::witness::{Noticed, Witness};
use nix::unistd::Pid;

use super::side_by_side::{sharing, side_by_side};
use crate::affinity::{AffinityGuard, fastest_cores};
use crate::command_failure::{CommandError, ContenderFailure, StandardError};
use crate::counters::Counters;
use crate::error::EngineError;
use crate::executable::{Variant, find_executable};
use crate::interrupt::Interrupts;
use crate::launcher::image::MOST_OUTPUT;
use crate::launcher::wire::{Launch, MAX_LAUNCHES, Manner, Measured, NO_IMAGE, Outcome};
use crate::launcher::{Launcher, LauncherOptions};
use crate::machine::core_speed;
use crate::observed::{ProcessState, Sighting, Started};
use crate::order::{Moment, Schedule};
use crate::page_draws::PageDraws;
use crate::placement::{Flaw, Placements, StartsFrom};
use crate::random::{Purpose, stream};
use crate::run_delay::KeepWaiting;
use crate::session::Contenders;
use crate::usage::USAGE_METRICS;

/// Options of this deadheat process that are not part of the plan.
#[derive(Clone, Debug)]
pub struct CommandOptions {
    /// The file descriptor that receives the standard output of commands whose output is shown.
    pub shown: RawFd,
    /// True if hardware counters are read, if available.
    pub counters: bool,
}

/// The maximum duration of all additional warm-up rounds of short commands together. The first
/// round loads programs and libraries from disk; more rounds help, and within this limit they are
/// cheap.
const FURTHER: Duration = Duration::from_millis(20);
const MOST_FURTHER: u32 = 8;

/// The commands of a plan and the launcher that starts them.
pub struct CommandContenders<'a> {
    pub(super) launcher: Launcher,
    pub(super) interrupts: &'a Interrupts,
    pub(super) benchmarks: Vec<BenchmarkImages>,
    placements: Placements,
    /// The benchmark and the replicate that the current links were made for.
    entered: Option<(usize, u32)>,
    /// The current neutral link of each contender; `None` for the user's own executable.
    links: Vec<Option<Variant>>,
    placed: Option<Placed>,
    metrics: Vec<Metric>,
    pinned: Vec<u32>,
    with_delay: bool,
    /// True if callgrind counts the instructions of the launches. Launches are then neither padded
    /// nor given new pages.
    counted: bool,
    launches: Vec<Launch>,
    /// True if the last launch was not measured, so that its standard error was kept.
    is_rehearsed: bool,
    pub(super) launched: u64,
    /// The benchmarks that are already warmed up, so that the race skips their warm-up.
    pub(super) warm: Vec<usize>,
    values: PrintedValues,
    pub(super) seed: u64,
    pub(super) page_draws: PageDraws,
    pub(super) witness: Witness,
    /// The benchmarks whose contenders have been traced.
    pub(super) is_traced: Vec<usize>,
    /// The benchmarks whose contenders start without address randomisation.
    pub(super) fixes_addresses: Vec<usize>,
    /// The pairs (benchmark, contender) whose neutral links get their own path as `argv[0]`.
    named_by_link: Vec<(usize, usize)>,
    pub(super) side_by_side: HashMap<usize, SideBySide>,
    pub(super) shared_cores: Vec<u32>,
    /// The benchmark whose files last got new pages, and the paths of these files.
    drawn_files: Option<(usize, Vec<PathBuf>)>,
    /// Restores the affinity of this thread; dropped after the launcher.
    _settled: AffinityGuard,
}

struct Tried {
    /// The first difference from the output on the user's own link, if there is one.
    difference: Option<Difference>,
    /// The file that the process executed last, if it is not the link that was started.
    left_for: Option<PathBuf>,
}

struct PrintedValues {
    readers: Vec<ValueReader>,
    /// The `--value-file`; `None` for standard output.
    file: Option<PathBuf>,
    /// The output of the last launch, kept to reuse its buffer.
    bytes: Vec<u8>,
}

impl PrintedValues {
    fn new(plan: &Plan) -> Result<Self, EngineError> {
        let is_judged = |metric| {
            let mut benchmarks = 0..plan.benchmarks.len();
            benchmarks.any(|benchmark| plan.judged(benchmark) == metric)
        };
        let values = &plan.design.values;
        let readers = values.read.iter().map(|value| {
            ValueReader::new(value, is_judged(&value.metric)).map_err(|problem| {
                EngineError::Value {
                    name: value.metric.name().to_owned(),
                    problem,
                }
            })
        });
        Ok(Self {
            readers: readers.collect::<Result<_, _>>()?,
            file: values.file.clone(),
            bytes: Vec::new(),
        })
    }

    fn read(&mut self, capture: &OwnedFd, to: &mut Vec<f64>) -> Result<(), CommandError> {
        self.bytes.clear();
        let read = capture.try_clone().map(File::from).and_then(|mut file| {
            file.rewind()?;
            file.take(MOST_OUTPUT).read_to_end(&mut self.bytes)
        });
        read.map_err(|error| CommandError::NoOutput { path: None, error })?;
        let printed = String::from_utf8_lossy(&self.bytes);
        for reader in &self.readers {
            let value = reader.read(&printed);
            to.push(value.map_err(|problem| CommandError::NoValue {
                name: reader.name().to_owned(),
                problem,
                file: self.file.clone(),
                printed: outline(&printed),
            })?);
        }
        Ok(())
    }
}

/// The first metrics of a launch. The metrics of its [`Usage`](crate::usage::Usage) follow.
const TIMES: [Metric; 2] = [Metric::Wall, Metric::Cpu];

impl<'a> CommandContenders<'a> {
    /// Starts a launcher for all commands of `plan`.
    pub fn new(
        plan: &Plan,
        options: &CommandOptions,
        interrupts: &'a Interrupts,
    ) -> Result<Self, EngineError> {
        let mut images = Vec::new();
        let mut benchmarks = Vec::new();
        let values = PrintedValues::new(plan)?;
        for benchmark in &plan.benchmarks {
            let file = values.file.as_deref();
            benchmarks.push(BenchmarkImages::new(benchmark, file, &mut images)?);
        }
        if images.len() > usize::from(NO_IMAGE) {
            return Err(EngineError::TooManyCommands {
                found: images.len(),
                max: usize::from(NO_IMAGE),
            });
        }
        // One capture for each slot of a block, and one for its unrecorded launch.
        let captures = plan
            .benchmarks
            .iter()
            .zip(&benchmarks)
            .filter(|(_, images)| images.are_compared() || plan.design.values != Values::default())
            .map(|(benchmark, _)| benchmark.slots_per_block() + 1)
            .max()
            .unwrap_or(0);
        let settled = AffinityGuard::new(&plan.design.pinning)?;
        let launcher = Launcher::start(
            LauncherOptions {
                images,
                cpus: &settled.contenders,
                captures,
                shown: options.shown,
                want_counters: options.counters && !plan.design.callgrind,
            },
            interrupts,
        )?;
        let pinned = if settled.is_chosen {
            settled.contenders.clone()
        } else {
            Vec::new()
        };
        let counted = plan.design.callgrind;
        // Times under callgrind are meaningless.
        let mut metrics = if counted {
            Vec::new()
        } else {
            [&TIMES[..], &USAGE_METRICS[..]].concat()
        };
        let with_delay = plan.design.waiting == Waiting::Auto && !counted;
        if with_delay {
            metrics.push(Metric::RunDelay);
        }
        if launcher.counters().is_ok() && !counted {
            metrics.extend(Counters::METRICS);
        }
        metrics.extend(plan.design.values.read.iter().map(|one| one.metric.clone()));
        Ok(Self {
            launcher,
            interrupts,
            benchmarks,
            placements: Placements::default(),
            entered: None,
            links: Vec::new(),
            placed: None,
            metrics,
            pinned,
            with_delay,
            counted,
            launches: Vec::new(),
            is_rehearsed: false,
            launched: 0,
            warm: Vec::new(),
            values,
            seed: plan.seed,
            page_draws: PageDraws::default(),
            witness: Witness::default(),
            is_traced: Vec::new(),
            fixes_addresses: Vec::new(),
            named_by_link: Vec::new(),
            side_by_side: side_by_side(plan),
            shared_cores: fastest_cores(&settled.contenders, |core| {
                core_speed(Path::new("/"), core)
            }),
            drawn_files: None,
            _settled: settled,
        })
    }

    /// Returns the cores that commands are pinned to; empty if they are not pinned.
    pub fn pinned(&self) -> &[u32] {
        &self.pinned
    }

    /// Returns `Ok` if hardware counters are recorded, otherwise the reason why not.
    pub fn counters(&self) -> &Result<(), String> {
        self.launcher.counters()
    }

    /// Runs the hooks that run once per benchmark, such as `--setup`.
    fn run_once(
        &mut self,
        benchmark: usize,
        flag: &'static str,
        pick: fn(&BenchmarkImages) -> &[Once],
    ) -> Result<(), EngineError> {
        for index in 0..pick(&self.benchmarks[benchmark]).len() {
            let once = &pick(&self.benchmarks[benchmark])[index];
            let (contender, hook) = (once.contender, once.words.join(" "));
            // The hook runs as the `prepare` hook of an empty launch, which keeps its standard
            // error.
            let launch = Launch {
                image: NO_IMAGE,
                prepare: once.image,
                conclude: NO_IMAGE,
                padding: 0,
            };
            let outcome = self.launcher.run(&[launch], self.interrupts)?[0].outcome;
            let ended = match outcome {
                Outcome::Exited(0) => continue,
                Outcome::Cancelled => return Err(EngineError::Interrupted),
                Outcome::PrepareFailed(end) => {
                    let images = &self.benchmarks[benchmark];
                    let words = &pick(images)[index].words;
                    hook_end(end, words, &images.commands[contender])
                }
                other => format!("ended unexpectedly ({other:?})"),
            };
            let errors = tail(self.launcher.hook_errors());
            let cause = CommandError::Hook {
                flag,
                hook,
                ended,
                errors,
            };
            return Err(self.failure(benchmark, contender, Moment::Around, cause));
        }
        Ok(())
    }

    /// Returns an error if a slot's output or exit code differs from those of the block's first
    /// baseline.
    fn check_outputs(&self, block: &Block, record: &BlockRecord) -> Result<(), EngineError> {
        let images = &self.benchmarks[block.benchmark];
        if !images.are_compared() {
            return Ok(());
        }
        let offset = usize::from(block.prime.is_some());
        let Some(reference) = block
            .slots
            .iter()
            .position(|slot| slot.contender == ContenderId::BASELINE)
        else {
            return Ok(());
        };
        let baseline = &images.commands[0].text;
        for (index, slot) in block.slots.iter().enumerate() {
            let moment = Moment::of(block, Some(index));
            let fail = |cause| self.failure(block.benchmark, slot.contender.index(), moment, cause);
            let codes = [reference, index].map(|slot| record.samples[slot].exit_code.unwrap_or(0));
            if codes[0] != codes[1] {
                return Err(fail(CommandError::ExitDiffers {
                    baseline: baseline.clone(),
                    expected: codes[0],
                    found: codes[1],
                }));
            }
            let difference = self
                .difference(reference + offset, index + offset)
                .map_err(|error| fail(CommandError::NoOutput { path: None, error }))?;
            if let Some(difference) = difference {
                return Err(fail(CommandError::OutputDiffers {
                    baseline: baseline.clone(),
                    line: difference.line,
                    expected: difference.expected,
                    found: difference.found,
                }));
            }
        }
        Ok(())
    }

    /// Sets the neutral links from which the commands are launched.
    #[must_use]
    pub fn with_placements(mut self, placements: Placements) -> Self {
        self.placements = placements;
        self
    }

    /// At the first block of a replicate, prepares and tries the neutral links of the benchmark.
    /// Without links, its programs and libraries get new physical pages, except under callgrind.
    fn enter_replicate(&mut self, block: &Block) -> Result<(), EngineError> {
        let entered = Some((block.benchmark, block.replicate));
        if self.entered == entered {
            return Ok(());
        }
        if !self.placements.concerns(block.benchmark) {
            self.entered = entered;
            if !self.counted {
                self.redraw_pages(block);
            }
            return Ok(());
        }
        self.links = vec![None; self.benchmarks[block.benchmark].contenders.len()];
        let mut placements = std::mem::take(&mut self.placements);
        let placed = placements.enter_replicate(block, self, self.interrupts);
        self.placements = placements;
        self.placed = Some(placed?);
        self.entered = entered;
        Ok(())
    }

    fn redraw_pages(&mut self, block: &Block) {
        let known = self.drawn_files.take();
        let files = match known.filter(|(benchmark, _)| *benchmark == block.benchmark) {
            Some((_, files)) => files,
            None => self.own_files(block.benchmark),
        };
        if !files.is_empty() {
            let place = [block.benchmark as u64, u64::from(block.replicate), 0];
            let mut draw = stream(self.seed, Purpose::Pages, place);
            self.page_draws.redraw(&files, &mut draw);
        }
        self.drawn_files = Some((block.benchmark, files));
    }

    /// Returns the programs and libraries that only some commands of a benchmark use; empty if a
    /// program is not found. Called once per benchmark, because a search in a long `PATH` took 20
    /// µs.
    fn own_files(&self, benchmark: usize) -> Vec<PathBuf> {
        let commands = self.benchmarks[benchmark].commands.iter().enumerate();
        let programs: Option<Vec<_>> = commands
            .map(|(contender, command)| {
                let side = (benchmark, contender);
                let other = self.witness.other_file(side);
                let program = other.or_else(|| find_executable(command.program()?.to_str()?));
                Some((side, program?))
            })
            .collect();
        let programs = programs.unwrap_or_default();
        let sides = programs.iter().map(|(side, path)| (*side, path.as_path()));
        self.page_draws.own_files(sides)
    }

    /// Launches these slots and discards their times. Traces the slots of the first call for each
    /// benchmark, unless callgrind counts.
    pub(super) fn launch_for_nothing(
        &mut self,
        benchmark: usize,
        slots: &[Slot],
    ) -> Result<(), EngineError> {
        if !self.counted && !self.is_traced.contains(&benchmark) {
            self.is_traced.push(benchmark);
            if self.trace_all(benchmark, slots)? {
                return Ok(());
            }
        }
        for some in slots.chunks(MAX_LAUNCHES) {
            let images = &self.benchmarks[benchmark].contenders;
            self.launches.clear();
            self.launches
                .extend(some.iter().map(|slot| launch(images, slot)));
            self.launched += some.len() as u64;
            self.is_rehearsed = true;
            let measured = self.launcher.rehearse(&self.launches, self.interrupts)?;
            let measured = measured.to_vec();
            for (slot, measured) in some.iter().zip(&measured) {
                self.exit_code(benchmark, slot.contender, Moment::WarmUp, measured)?;
            }
        }
        Ok(())
    }

    /// Traces one launch of each slot. If a contender restarts itself at fixed addresses, all
    /// contenders of its benchmark start at fixed addresses from now on. Returns false if a launch
    /// fails, because tracing may be the cause; the caller then launches without tracing.
    fn trace_all(&mut self, benchmark: usize, slots: &[Slot]) -> Result<bool, EngineError> {
        let is_random = ended_at(ProcessState::of(Pid::this()).as_ref(), AddressSpace::Random);
        let mut fixing = Vec::new();
        for some in slots.chunks(MAX_LAUNCHES) {
            let images = &self.benchmarks[benchmark].contenders;
            let launches: Vec<Launch> = some.iter().map(|slot| launch(images, slot)).collect();
            self.launched += some.len() as u64;
            let (measured, seen) = self.launcher.trace(&launches, self.interrupts)?;
            for ((slot, measured), seen) in some.iter().zip(&measured).zip(&seen) {
                let command = &self.benchmarks[benchmark].commands[slot.contender.index()];
                match measured.outcome {
                    Outcome::Exited(code) if command.exit_policy.accepts(code) => {}
                    Outcome::Cancelled => return Err(EngineError::Interrupted),
                    _ => return Ok(false),
                }
                let program = command.program();
                let noticed = Noticed {
                    started: program.and_then(|program| Started::by(&program)),
                    seen: seen.as_ref(),
                    ..noticed(measured)
                };
                let of = (benchmark, slot.contender.index());
                let mapped = seen.as_ref().map(|seen| seen.mapped.clone());
                self.page_draws.note(of, mapped.unwrap_or_default());
                if is_random && ended_at(noticed.ended_as, AddressSpace::Fixed) {
                    fixing.push(of);
                }
                self.witness.remember(of, noticed);
            }
        }
        if !fixing.is_empty() {
            self.fix_addresses(benchmark)?;
        }
        fixing
            .into_iter()
            .for_each(|of| self.witness.fixes_addresses(of));
        Ok(true)
    }

    fn fix_addresses(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.fixes_addresses.push(benchmark);
        let manner = self.manner(benchmark, false);
        for images in &self.benchmarks[benchmark].contenders {
            for image in [Some(images.command), images.own].into_iter().flatten() {
                self.launcher.vary(image, manner, None)?;
            }
        }
        Ok(())
    }

    fn manner(&self, benchmark: usize, named_by_path: bool) -> Manner {
        Manner {
            fixed_addresses: self.fixes_addresses.contains(&benchmark),
            named_by_path,
        }
    }

    /// Marks the warm-up of a benchmark as complete.
    pub(super) fn is_warm(&mut self, benchmark: usize) {
        self.warm.push(benchmark);
    }

    fn failure(
        &self,
        benchmark: usize,
        contender: usize,
        moment: Moment,
        cause: CommandError,
    ) -> EngineError {
        let benchmark = &self.benchmarks[benchmark];
        let link = match moment {
            Moment::Block { .. } => self.links.get(contender).cloned().flatten(),
            _ => None,
        };
        let standard_error = match benchmark.commands[contender].output {
            Output::Inherit => StandardError::Shown,
            _ if self.is_rehearsed => {
                StandardError::Kept(last_lines(self.launcher.command_errors()))
            }
            _ => StandardError::Dropped,
        };
        EngineError::Contender(Box::new(ContenderFailure {
            benchmark: benchmark.name.clone(),
            command: benchmark.commands[contender].text.clone(),
            moment,
            cause,
            link,
            standard_error,
        }))
    }

    fn exit_code(
        &self,
        benchmark: usize,
        contender: ContenderId,
        moment: Moment,
        measured: &Measured,
    ) -> Result<i32, EngineError> {
        let command = &self.benchmarks[benchmark].commands[contender.index()];
        match measured.outcome {
            Outcome::Exited(code) if command.exit_policy.accepts(code) => Ok(code),
            outcome => match cause_of(
                outcome,
                command,
                self.values.file.as_deref(),
                self.launcher.hook_errors(),
            ) {
                Some(cause) => Err(self.failure(benchmark, contender.index(), moment, cause)),
                None => Err(EngineError::Interrupted),
            },
        }
    }

    /// Launches a contender on its current link and traces it. If outputs are compared, it first
    /// launches the user's own link and compares the two outputs.
    fn try_once(
        &mut self,
        block: &Block,
        contender: usize,
        link: Option<&Variant>,
    ) -> Result<Tried, EngineError> {
        let slot = Slot {
            contender: ContenderId(contender as u8),
            padding: 0,
        };
        let moment = Moment::of(block, None);
        let images = &self.benchmarks[block.benchmark].contenders;
        let placed = launch(images, &slot);
        let own = images[contender]
            .own
            .map(|image| Launch { image, ..placed });
        let launches: Vec<Launch> = own.into_iter().chain([placed]).collect();
        let of = (block.benchmark, contender);
        let (measured, left_for) = match self.traced(of, &launches, link)? {
            Some((measured, left_for)) => (measured, left_for),
            None => {
                self.launched += launches.len() as u64;
                self.is_rehearsed = true;
                let reply = self.launcher.rehearse(&launches, self.interrupts)?;
                (reply[launches.len() - 1], None)
            }
        };
        self.exit_code(block.benchmark, slot.contender, moment, &measured)?;
        let difference = match own {
            None => None,
            Some(_) => self.difference(0, 1).map_err(|error| {
                let cause = CommandError::NoOutput { path: None, error };
                self.failure(block.benchmark, contender, moment, cause)
            })?,
        };
        Ok(Tried {
            difference,
            left_for,
        })
    }

    /// Traces `launches`, the last of which is on `link`. Returns the result of the last launch,
    /// with the file that it executed last if this file is not the link. Returns `None` if
    /// callgrind counts, or if the launch failed, because tracing may be the cause.
    fn traced(
        &mut self,
        of: (usize, usize),
        launches: &[Launch],
        link: Option<&Variant>,
    ) -> Result<Option<(Measured, Option<PathBuf>)>, EngineError> {
        if self.counted {
            return Ok(None);
        }
        self.launched += launches.len() as u64;
        let (mut reply, mut seen) = self.launcher.trace(launches, self.interrupts)?;
        let (Some(last), seen) = (reply.pop(), seen.pop().flatten()) else {
            return Ok(None);
        };
        let command = &self.benchmarks[of.0].commands[of.1];
        match last.outcome {
            Outcome::Exited(code) if command.exit_policy.accepts(code) => {}
            _ if self.interrupts.requested().is_some() => return Err(EngineError::Interrupted),
            _ => return Ok(None),
        }
        let started = match link {
            Some(link) => Started::by(&link.executable),
            None => (command.program()).and_then(|program| Started::by(&program)),
        };
        let noticed = Noticed {
            started,
            seen: seen.as_ref(),
            ..noticed(&last)
        };
        self.witness.remember(of, noticed);
        let stays = |seen: &Sighting| started.is_some_and(|started| seen.executes(started));
        let left_for = seen.filter(|seen| link.is_some() && !stays(seen));
        Ok(Some((last, left_for.map(|seen| seen.path))))
    }

    fn difference(&self, expected: usize, found: usize) -> io::Result<Option<Difference>> {
        let output = |launch| {
            let capture = self.launcher.capture(launch).as_fd().try_clone_to_owned();
            capture.map(File::from)
        };
        compare(&output(expected)?, &output(found)?)
    }

    /// Warms up the commands of a benchmark as the plan requires, so that the race skips its
    /// warm-up. Returns the estimated duration of a replicate on the user's own links, in
    /// nanoseconds, including the hooks around each launch.
    ///
    /// Returns `None` if the plan has no warm-up, or has a `--setup` or `--cleanup`, because these
    /// run only once. No round of the warm-up starts after `limit`; with a limit of zero there is
    /// no warm-up and the result is `None`.
    pub fn pilot(
        &mut self,
        plan: &Plan,
        benchmark: usize,
        limit: Option<Duration>,
    ) -> Result<Option<f64>, EngineError> {
        let of = &plan.benchmarks[benchmark];
        let has_hooks = of.contenders.iter().any(|contender| {
            matches!(&contender.workload, Workload::Command(command)
                if command.hooks.setup.is_some() || command.hooks.cleanup.is_some())
        });
        let slots = Schedule::new(plan).warm_up(benchmark);
        if slots.is_empty() || has_hooks {
            return Ok(None);
        }
        let contenders = of.contenders.len();
        let began = Instant::now();
        let mut round_ns = 0.0;
        let rounds = slots.chunks(contenders);
        let last = rounds.clone().next_back().unwrap_or(&[]);
        let is_over = || limit.is_some_and(|limit| began.elapsed() >= limit);
        for round in rounds {
            if is_over() {
                break;
            }
            let began = Instant::now();
            self.launch_for_nothing(benchmark, round)?;
            round_ns = began.elapsed().as_nanos() as f64;
        }
        let further = Instant::now();
        let mut count = 0;
        while count < MOST_FURTHER
            && !is_over()
            && further.elapsed().as_nanos() as f64 + round_ns <= FURTHER.as_nanos() as f64
        {
            self.launch_for_nothing(benchmark, last)?;
            count += 1;
            round_ns = further.elapsed().as_nanos() as f64 / f64::from(count);
        }
        self.is_warm(benchmark);
        if round_ns == 0.0 {
            return Ok(None);
        }
        let blocks = f64::from(plan.blocks_per_replicate(benchmark));
        Ok(Some(blocks * rounds_in_block(contenders) * round_ns))
    }
}

impl Contenders for CommandContenders<'_> {
    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn open(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.run_once(benchmark, "--setup", |images| &images.setups)
    }

    fn warm_up(&mut self, benchmark: usize, slots: &[Slot]) -> Result<(), EngineError> {
        // Each block starts with an unrecorded launch, so the order of the warm-up does not matter.
        if self.warm.contains(&benchmark) {
            return Ok(());
        }
        self.launch_for_nothing(benchmark, slots)
    }

    fn run(&mut self, block: &Block, record: &mut BlockRecord) -> Result<(), EngineError> {
        self.enter_replicate(block)?;
        let images = &self.benchmarks[block.benchmark].contenders;
        self.launches.clear();
        self.launches
            .extend(block.prime.iter().map(|slot| launch(images, slot)));
        self.launches
            .extend(block.slots.iter().map(|slot| launch(images, slot)));
        if self.counted {
            self.launches
                .iter_mut()
                .for_each(|launch| launch.padding = 0);
        }
        self.launched += self.launches.len() as u64;
        self.is_rehearsed = false;
        let reply = match self.side_by_side.get(&block.benchmark) {
            Some(how) => {
                let core = self.shared_core(block)?;
                let group = self.benchmarks[block.benchmark].contenders.len();
                let sharing = sharing(*how, core);
                self.launcher
                    .run_side_by_side((sharing, group), &self.launches, self.interrupts)?
            }
            None => self.launcher.run(&self.launches, self.interrupts)?,
        };
        let mut measured = [Measured::nothing(Outcome::Cancelled); MAX_LAUNCHES];
        let measured = &mut measured[..self.launches.len()];
        measured.copy_from_slice(reply);

        let primed = usize::from(block.prime.is_some());
        if let Some(prime) = block.prime {
            self.exit_code(
                block.benchmark,
                prime.contender,
                Moment::of(block, None),
                &measured[0],
            )?;
        }
        // The failure that caused the cancellations, not a cancelled launch.
        let mut ended = block.slots.iter().zip(&measured[primed..]).enumerate();
        let failed = ended.find(|(_, (slot, measured))| {
            let command = &self.benchmarks[block.benchmark].commands[slot.contender.index()];
            measured.outcome != Outcome::Cancelled
                && !measured.outcome.is_accepted_by(&command.exit_policy)
        });
        if let Some((index, (slot, measured))) = failed {
            let moment = Moment::of(block, Some(index));
            self.exit_code(block.benchmark, slot.contender, moment, measured)?;
        }
        let with_counters = self.launcher.counters().is_ok() && !self.counted;
        for (index, (slot, measured)) in block.slots.iter().zip(&measured[primed..]).enumerate() {
            let code = self.exit_code(
                block.benchmark,
                slot.contender,
                Moment::of(block, Some(index)),
                measured,
            )?;
            let of = (block.benchmark, slot.contender.index());
            self.witness.note(of, block.replicate, noticed(measured));
            let waiting = measured.keep_waiting.filter(|_| self.with_delay);
            record.samples.push(Sample {
                contender: slot.contender,
                // Being started takes at least one involuntary switch (400 of 400 launches of
                // `true` had some), and child processes cause more. Such switches are therefore not
                // evidence of a disturbance.
                flags: waiting.map_or(Flags::NONE, KeepWaiting::flag),
                exit_code: Some(code),
                iterations: 1,
            });
            if !self.counted {
                let usage = measured.usage.map(|value| value as f64);
                // Adds whole nanoseconds, so that the sum is exact.
                let cpu_ns = (measured.usage[0] + measured.usage[1]) as f64;
                record.values.extend([measured.wall_ns as f64, cpu_ns]);
                record.values.extend(usage);
            }
            let delay = self.with_delay.then_some(measured.run_delay_ns as f64);
            record.values.extend(delay);
            if with_counters {
                record
                    .values
                    .extend(measured.counters.map(|count| count as f64));
            }
            if !self.values.readers.is_empty()
                && let Err(cause) = self
                    .values
                    .read(self.launcher.capture(primed + index), &mut record.values)
            {
                let moment = Moment::of(block, Some(index));
                return Err(self.failure(block.benchmark, slot.contender.index(), moment, cause));
            }
        }
        self.check_outputs(block, record)
    }

    fn placed(&mut self) -> Option<Placed> {
        self.placed.take()
    }

    fn observed(&mut self) -> Vec<Observed> {
        self.witness.take()
    }

    fn launched(&mut self) -> u64 {
        std::mem::take(&mut self.launched)
    }

    fn close(&mut self, benchmark: usize) -> Result<(), EngineError> {
        self.links.clear();
        self.run_once(benchmark, "--cleanup", |images| &images.cleanups)
    }
}

impl StartsFrom for CommandContenders<'_> {
    fn start_from(
        &mut self,
        benchmark: usize,
        contender: usize,
        link: Option<&Variant>,
    ) -> Result<(), EngineError> {
        let image = self.benchmarks[benchmark].contenders[contender].command;
        let file = link.map(|link| link.executable.as_path());
        let named_by_link = self.named_by_link.contains(&(benchmark, contender));
        let manner = self.manner(benchmark, named_by_link);
        self.launcher.vary(image, manner, file)?;
        self.links[contender] = link.cloned();
        Ok(())
    }

    /// Also treats a different output as a flaw of the link: if outputs are compared, the link must
    /// print what the user's own link prints.
    fn flaw(
        &mut self,
        block: &Block,
        contender: usize,
        link: &Variant,
    ) -> Result<Option<Flaw>, EngineError> {
        let of = (block.benchmark, contender);
        let failure = match self.try_once(block, contender, Some(link)) {
            Ok(Tried {
                left_for: Some(file),
                ..
            }) => {
                if self.named_by_link.contains(&of) {
                    // The file was detected on the neutral link, so the user's own link is traced
                    // again.
                    self.start_from(block.benchmark, contender, None)?;
                    self.try_once(block, contender, None)?;
                    let name = &self.benchmarks[block.benchmark].commands[contender].text;
                    return Ok(Some(Flaw::leaves_link(name, &file)));
                }
                self.named_by_link.push(of);
                self.start_from(block.benchmark, contender, Some(link))?;
                return self.flaw(block, contender, link);
            }
            Ok(Tried {
                difference: None, ..
            }) => return Ok(None),
            Ok(Tried {
                difference: Some(difference),
                ..
            }) => {
                let command = &self.benchmarks[block.benchmark].commands[contender];
                let line = |line: Option<String>| line.unwrap_or_else(|| "nothing".to_owned());
                return Ok(Some(Flaw::OfLink(format!(
                    "'{}' does not print the same output as your own link of the program: line {} \
                     is {}, not {}; to reproduce it, run {}",
                    command.text,
                    difference.line,
                    line(difference.found),
                    line(difference.expected),
                    link.executable.display()
                ))));
            }
            Err(EngineError::Contender(failure)) => failure,
            Err(error) => return Err(error),
        };
        self.start_from(block.benchmark, contender, None)?;
        match self.try_once(block, contender, None) {
            Err(EngineError::Contender(own))
                if own.cause.to_string() == failure.cause.to_string() =>
            {
                return Err(EngineError::Contender(own));
            }
            Ok(_) | Err(EngineError::Contender(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(Some(Flaw::OfLink(format!(
            "'{}' {}; this does not happen with your own link; to reproduce it, run {}",
            failure.command,
            failure.cause,
            link.executable.display()
        ))))
    }
}

fn ended_at(state: Option<&ProcessState>, addresses: AddressSpace) -> bool {
    state.is_some_and(|state| state.addresses == addresses)
}

fn noticed(measured: &Measured) -> Noticed<'_> {
    Noticed {
        ended_as: measured.ended_as.as_ref(),
        ended_there: measured.kept_cores,
        left_behind: measured.left_behind,
        ..Noticed::default()
    }
}

/// Returns the number of launches in a block, including the unrecorded one, divided by the number
/// of contenders.
fn rounds_in_block(contenders: usize) -> f64 {
    match contenders {
        0 | 1 => 1.0,
        2 => 2.5,
        more => 1.0 + 1.0 / more as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_so_many_launches_for_each_of_a_round() {
        // A block has four launches of two contenders and one unrecorded launch.
        assert_eq!(rounds_in_block(2) * 2.0, 5.0);
        assert_eq!(rounds_in_block(4) * 4.0, 5.0);
        assert_eq!(rounds_in_block(1), 1.0);
    }
}
