//! The messages between a coordinator and its workers. Each line is a JSON object with one key,
//! such as `{"block":{"seed":7,…}}`, or `{"bye":{}}` for a message without fields.
//! `docs/protocol.md` documents the protocol for authors of workers in other languages.

use std::time::Duration;

#[cfg(feature = "commands")]
use deadheat_model::Harness;
use deadheat_model::{Json, Metric, Object, Throughput, column_name, metric_of_column};

use crate::function::Pilot;
use crate::run_delay::KeepWaiting;

/// The version of the protocol, which both sides must share.
pub(crate) const PROTOCOL: u32 = 2;

/// Exclusive upper bound of seeds: every JSON reader represents smaller integers exactly.
pub(crate) const SEEDS: u64 = 1 << 53;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// List the benchmarks.
    List,
    /// Import what these benchmarks need, and serve each of them in a process forked for it.
    Import { benchmarks: Vec<String> },
    /// Prepare a benchmark; sent once per process.
    Prepare(PrepareRequest),
    /// Find the number of calls in a sample that lasts at least `least_ns`.
    Calibrate { seed: u64, least_ns: f64 },
    /// Call every contender once on the input of this seed.
    Smoke { seed: u64 },
    /// Call the contenders in this order until they are warm. The first round uses the input of
    /// this seed.
    WarmUp {
        seed: u64,
        order: Vec<usize>,
        iterations: u64,
    },
    /// Run one block.
    Block(BlockRequest),
    /// The replicate is over; the worker exits.
    Bye,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrepareRequest {
    pub(crate) benchmark: String,
    /// The only contender to serve, which has index 0 from then on; `None` for all.
    pub(crate) contender: Option<String>,
    /// The clock to use for samples, with its measured properties, in the format of
    /// `SampleClock::to_words`.
    pub(crate) clock: String,
    /// Nanoseconds of CPU time that a pair of readings shows with nothing in between.
    pub(crate) cpu_overhead_ns: f64,
    /// Bytes of the heap to allocate first and to hold, so that later allocations move.
    pub(crate) heap_bytes: usize,
    /// Bytes to move the stack by.
    pub(crate) stack_bytes: usize,
    /// True if callgrind counts the instructions of samples, and the worker tells it where they
    /// begin and end.
    pub(crate) callgrind: bool,
    /// True if the calibration run found that every call needs a separate input.
    pub(crate) input_per_call: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRequest {
    pub(crate) seed: u64,
    /// The number of calls in a recorded sample.
    pub(crate) iterations: u64,
    /// The contender of each turn; `None` for a turn of another process.
    pub(crate) turns: Vec<Option<usize>>,
    /// The number of turns at the beginning of the block that are not recorded.
    pub(crate) unrecorded: usize,
    /// The number of calls in each turn that is not recorded.
    pub(crate) unrecorded_iterations: u64,
}

/// A reply of a worker. `Hello` comes first, without a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Hello {
        protocol: u32,
        worker: String,
        /// The metrics of the worker's samples, in column order.
        metrics: Vec<Metric>,
        /// True if the worker can import once and then serve each benchmark in a forked process.
        forks: bool,
        /// The time that the worker may take to exit after its last request; `None` for the default.
        leaves_within: Option<Duration>,
    },
    Listed(Vec<ListedBenchmark>),
    Prepared {
        renews_input: bool,
        /// The ID of the process forked for the benchmark, if there is one.
        process: Option<u32>,
    },
    /// The worker has imported what the benchmarks need.
    Imported {
        /// The reason why the worker does not fork processes, if it does not.
        unforked: Option<String>,
    },
    /// The process that was forked for a benchmark has ended.
    Over,
    Calibrated(Pilot),
    /// Every contender was called without a failure.
    Sound,
    Warm {
        rounds: u64,
        /// The seed of the input that is still prepared, so that a block with this seed need not
        /// prepare it again; `None` unless every contender was called on it.
        ready: Option<u64>,
    },
    /// The values of all recorded turns of this process, one after the other.
    Block {
        values: Vec<f64>,
        /// The reason, if any, not to subtract the scheduling delay.
        keep_waiting: Option<KeepWaiting>,
        /// For each sample, true if the GPU was throttled or its clock changed; empty if the worker
        /// does not report it.
        gpu_clock: Vec<bool>,
    },
    Failed {
        contender: Option<usize>,
        problem: Problem,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Problem {
    /// The program does not contain the requested benchmark or contender.
    Unknown,
    /// The request is not allowed at this point.
    OutOfTurn,
    Panicked(String),
    /// The code under test raised this error. Only workers in languages with exceptions send this.
    Raised(String),
    /// The benchmark skips itself here, for this reason.
    Skipped(String),
    /// The function reports this error. If all processes of the benchmark report an error, the
    /// benchmark is skipped.
    ReportsError(String),
    /// The worker refuses the benchmark, because its times would be misleading.
    Refused(String),
    /// The output of a candidate differs from the baseline's, with details.
    OutputDiffers(Option<String>),
    /// The output of a contender differs between calls, with details.
    OutputVaries(Option<String>),
    /// The process with which the worker takes turns is gone.
    PeerGone,
}

/// The kind of a program, with its benchmarks.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspected {
    /// The program implements the worker protocol.
    Worker(WorkerListing),
    /// The program is an executable of a benchmark harness that does not support deadheat.
    Harness(HarnessListing),
}

/// The benchmarks of an executable built with another benchmark harness.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarnessListing {
    /// The harness of the executable.
    pub harness: Harness,
    /// The names of the benchmarks, in the order of the harness. A benchmark whose name occurs
    /// twice cannot be raced.
    pub names: Vec<String>,
    /// The names that the program itself uses for the benchmarks in `names`, in the same order.
    pub known_as: Vec<String>,
}

#[cfg(feature = "commands")]
impl HarnessListing {
    /// Returns the name that the program itself uses for a benchmark.
    pub fn known_as<'a>(&'a self, name: &'a str) -> &'a str {
        let mut both = self.names.iter().zip(&self.known_as);
        let found = both.find(|(one, _)| *one == name);
        found.map_or(name, |(_, known)| known)
    }
}

/// The name, the metrics and the benchmarks of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerListing {
    /// The name and version of the worker, for messages.
    pub worker: String,
    /// The metrics of the worker's samples, in column order.
    pub metrics: Vec<Metric>,
    /// The benchmarks of the worker, which have distinct names.
    pub benchmarks: Vec<ListedBenchmark>,
}

/// A benchmark as a worker lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBenchmark {
    /// The name of the benchmark.
    pub name: String,
    /// The names of the contenders, the baseline first; at least one.
    pub contenders: Vec<String>,
    /// The names and values of the benchmark's parameters.
    pub parameters: Vec<(String, String)>,
    /// The work done by one iteration.
    pub throughput: Option<Throughput>,
    /// The metric that the verdict is about, unless the user names another metric; `None` for the
    /// metric that the race judges by default.
    pub judged: Option<Metric>,
    /// The number of threads that call each contender at the same time.
    pub threads: u32,
    /// True if the benchmark runs only on request.
    pub ignored: bool,
    /// The source files of the benchmark, except the code under test; empty if the worker does not
    /// report them.
    pub sources: Vec<Source>,
}

/// A source file of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the file, for messages.
    pub file: String,
    /// Digests of the content that belongs to the benchmark. Two versions of the file are
    /// considered equal if they share a digest.
    pub digests: Vec<String>,
}

/// The maximum number of notes about a benchmark from a worker; further notes are ignored.
const MOST_NOTES: usize = 16;

/// The maximum number of characters of an unexpected reply that a message quotes.
const SHOWN: usize = 100;

impl Request {
    pub(super) fn to_line(&self) -> String {
        let (kind, said) = match self {
            Request::List => ("list", Object::new()),
            Request::Prepare(prepare) => (
                "prepare",
                Object::new()
                    .with("benchmark", &prepare.benchmark)
                    .with("contender", prepare.contender.as_ref())
                    .with("clock", &prepare.clock)
                    .with("cpu_overhead_ns", prepare.cpu_overhead_ns)
                    .with("heap_bytes", prepare.heap_bytes)
                    .with("stack_bytes", prepare.stack_bytes)
                    .with_some("callgrind", prepare.callgrind.then_some(true))
                    .with_some("input_per_call", prepare.input_per_call.then_some(true)),
            ),
            Request::Import { benchmarks } => (
                "import",
                Object::new().with("benchmarks", benchmarks.iter().collect::<Json>()),
            ),
            Request::Calibrate { seed, least_ns } => (
                "calibrate",
                Object::new()
                    .with("seed", *seed)
                    .with("least_ns", *least_ns),
            ),
            Request::Smoke { seed } => ("smoke", Object::new().with("seed", *seed)),
            Request::WarmUp {
                seed,
                order,
                iterations,
            } => (
                "warm_up",
                Object::new()
                    .with("seed", *seed)
                    .with("order", order.iter().copied().collect::<Json>())
                    .with("iterations", *iterations),
            ),
            Request::Block(block) => (
                "block",
                Object::new()
                    .with("seed", block.seed)
                    .with("iterations", block.iterations)
                    .with("turns", block.turns.iter().copied().collect::<Json>())
                    .with("unrecorded", block.unrecorded)
                    .with("unrecorded_iterations", block.unrecorded_iterations),
            ),
            Request::Bye => ("bye", Object::new()),
        };
        line(kind, said)
    }

    /// Parses a line; `None` if it is not a request.
    pub(super) fn from_line(line: &[u8]) -> Option<Self> {
        let json = parse(line)?;
        let (kind, said) = json.as_object()?.only()?;
        match kind {
            "list" => return Some(Request::List),
            "bye" => return Some(Request::Bye),
            _ => {}
        }
        let said = said.as_object()?;
        Some(match kind {
            "prepare" => Request::Prepare(PrepareRequest {
                benchmark: text(said.get("benchmark")?)?,
                contender: optional(said, "contender", text)?,
                clock: text(said.get("clock")?)?,
                cpu_overhead_ns: said.get("cpu_overhead_ns")?.as_number()?,
                heap_bytes: place(said.get("heap_bytes")?)?,
                stack_bytes: place(said.get("stack_bytes")?)?,
                callgrind: said.get("callgrind").and_then(Json::as_bool) == Some(true),
                input_per_call: said.get("input_per_call").and_then(Json::as_bool) == Some(true),
            }),
            "import" => Request::Import {
                benchmarks: list(said.get("benchmarks")?, text)?,
            },
            "calibrate" => Request::Calibrate {
                seed: said.get("seed")?.as_u64()?,
                least_ns: said.get("least_ns")?.as_number()?,
            },
            "smoke" => Request::Smoke {
                seed: said.get("seed")?.as_u64()?,
            },
            "warm_up" => Request::WarmUp {
                seed: said.get("seed")?.as_u64()?,
                order: list(said.get("order")?, place)?,
                iterations: said.get("iterations")?.as_u64()?,
            },
            "block" => Request::Block(BlockRequest {
                seed: said.get("seed")?.as_u64()?,
                iterations: said.get("iterations")?.as_u64()?,
                turns: list(said.get("turns")?, |turn| or_null(turn, place))?,
                unrecorded: place(said.get("unrecorded")?)?,
                unrecorded_iterations: said.get("unrecorded_iterations")?.as_u64()?,
            }),
            _ => return None,
        })
    }
}

impl Reply {
    pub(super) fn to_line(&self) -> String {
        let (kind, said) = match self {
            Reply::Hello {
                protocol,
                worker,
                metrics,
                forks,
                leaves_within,
            } => {
                let columns = metrics.iter().map(column_name);
                let columns: Json = columns.map(|column| column.into_owned()).collect();
                let said = Object::new()
                    .with("protocol", *protocol)
                    .with("worker", worker)
                    .with("metrics", columns)
                    .with_some("forks", forks.then_some(true))
                    .with_some(
                        "leaves_within_ms",
                        leaves_within
                            .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
                    );
                ("hello", said)
            }
            Reply::Listed(benchmarks) => {
                let benchmarks: Json = benchmarks.iter().map(ListedBenchmark::to_json).collect();
                ("listed", Object::new().with("benchmarks", benchmarks))
            }
            Reply::Prepared {
                renews_input,
                process,
            } => (
                "prepared",
                Object::new()
                    .with("renews_input", *renews_input)
                    .with_some("process", *process),
            ),
            Reply::Imported { unforked } => (
                "imported",
                Object::new().with_some("unforked", unforked.as_ref()),
            ),
            Reply::Over => ("over", Object::new()),
            Reply::Calibrated(pilot) => {
                let blocks = pilot.blocks_ns.iter().map(|block| numbers(block)).collect();
                let notes = (!pilot.notes.is_empty()).then(|| pilot.notes.iter().collect::<Json>());
                let said = Object::new()
                    .with("iterations", pilot.iterations)
                    .with("most_iterations", pilot.most_iterations)
                    .with("call_ns", numbers(&pilot.call_ns))
                    .with("blocks_ns", Json::List(blocks))
                    .with("block_cost_ns", pilot.block_cost_ns)
                    .with_some("warm_at_once", pilot.warm_at_once.then_some(true))
                    .with_some("input_per_call", pilot.input_per_call.then_some(true))
                    .with_some("notes", notes)
                    .with_some("input_ns", pilot.input_ns)
                    .with_some("blocks", pilot.blocks)
                    .with_some("throughput", pilot.throughput.map(throughput_json));
                ("calibrated", said)
            }
            Reply::Sound => ("sound", Object::new()),
            Reply::Warm { rounds, ready } => {
                let said = Object::new().with("rounds", *rounds);
                let said = match ready {
                    Some(seed) => said.with("ready", *seed),
                    None => said,
                };
                ("warm", said)
            }
            Reply::Block {
                values,
                keep_waiting,
                gpu_clock,
            } => (
                "block",
                Object::new()
                    .with("values", numbers(values))
                    .with_some("keep_waiting", keep_waiting.map(KeepWaiting::word))
                    .with_some(
                        "gpu_clock",
                        (!gpu_clock.is_empty())
                            .then(|| gpu_clock.iter().copied().collect::<Json>()),
                    ),
            ),
            Reply::Failed { contender, problem } => (
                "failed",
                Object::new()
                    .with("contender", *contender)
                    .with("problem", problem.to_json())
                    .with_some("verb", problem.verb())
                    .with_some("skips", problem.skips()),
            ),
        };
        line(kind, said)
    }

    /// Returns the beginning of the line, for error messages.
    pub(crate) fn said(&self) -> String {
        let line = self.to_line();
        let said = line.trim_end();
        match said.char_indices().nth(SHOWN) {
            None => said.to_owned(),
            Some((end, _)) => format!("{}...", &said[..end]),
        }
    }

    /// Parses a line; `None` if it is not a reply.
    pub(super) fn from_line(line: &[u8]) -> Option<Self> {
        let json = parse(line)?;
        let (kind, said) = json.as_object()?.only()?;
        match kind {
            "sound" => return Some(Reply::Sound),
            "over" => return Some(Reply::Over),
            _ => {}
        }
        let said = said.as_object()?;
        Some(match kind {
            "hello" => Reply::Hello {
                protocol: said.get("protocol")?.as_u64()?.try_into().ok()?,
                // Version 1 of the protocol sends only its number. It must be readable, so that the
                // error can name it.
                worker: optional(said, "worker", text)?.unwrap_or_default(),
                metrics: optional(said, "metrics", |columns| {
                    list(columns, text).filter(|columns| columns.len() <= MOST_METRICS)
                })?
                .unwrap_or_default()
                .iter()
                .map(|column| metric_of_column(column))
                .collect(),
                forks: optional(said, "forks", Json::as_bool)?.unwrap_or(false),
                leaves_within: optional(said, "leaves_within_ms", Json::as_u64)?
                    .map(Duration::from_millis),
            },
            "listed" => Reply::Listed(list(said.get("benchmarks")?, ListedBenchmark::from_json)?),
            "prepared" => Reply::Prepared {
                renews_input: optional(said, "renews_input", Json::as_bool)?.unwrap_or(false),
                process: optional(said, "process", |number| {
                    u32::try_from(number.as_u64()?).ok()
                })?,
            },
            "imported" => Reply::Imported {
                unforked: optional(said, "unforked", text)?,
            },
            "calibrated" => Reply::Calibrated(Pilot {
                iterations: said.get("iterations")?.as_u64()?,
                most_iterations: optional(said, "most_iterations", Json::as_u64)?,
                call_ns: list(said.get("call_ns")?, Json::as_number)?,
                blocks_ns: optional(said, "blocks_ns", |blocks| {
                    list(blocks, |block| {
                        list(block, Json::as_number)?.try_into().ok()
                    })
                })?
                .unwrap_or_default(),
                block_cost_ns: optional(said, "block_cost_ns", Json::as_number)?,
                warm_at_once: optional(said, "warm_at_once", Json::as_bool)?.unwrap_or(false),
                input_per_call: optional(said, "input_per_call", Json::as_bool)?.unwrap_or(false),
                notes: {
                    let mut notes = optional(said, "notes", |notes| list(notes, text))?;
                    notes
                        .iter_mut()
                        .for_each(|notes| notes.truncate(MOST_NOTES));
                    notes.unwrap_or_default()
                },
                input_ns: optional(said, "input_ns", Json::as_number)?,
                blocks: optional(said, "blocks", |number| {
                    u32::try_from(number.as_u64()?)
                        .ok()
                        .filter(|blocks| *blocks > 0)
                })?,
                throughput: optional(said, "throughput", throughput_of)?,
            }),
            "warm" => Reply::Warm {
                rounds: said.get("rounds")?.as_u64()?,
                ready: optional(said, "ready", Json::as_u64)?,
            },
            "block" => Reply::Block {
                values: list(said.get("values")?, Json::as_number)?,
                keep_waiting: optional(said, "keep_waiting", |word| {
                    Some(KeepWaiting::of_word(word.as_text()?))
                })?,
                gpu_clock: optional(said, "gpu_clock", |all| list(all, Json::as_bool))?
                    .unwrap_or_default(),
            },
            "failed" => Reply::Failed {
                contender: optional(said, "contender", place)?,
                problem: Problem::from_json(said.get("problem")?, said)?,
            },
            _ => return None,
        })
    }
}

fn throughput_json(throughput: Throughput) -> Json {
    match throughput {
        Throughput::Bytes(bytes) => Json::tagged("bytes", bytes),
        Throughput::Items(items) => Json::tagged("items", items),
    }
}

fn throughput_of(said: &Json) -> Option<Throughput> {
    match said.as_object()?.only()? {
        ("bytes", bytes) => Some(Throughput::Bytes(bytes.as_u64()?)),
        ("items", items) => Some(Throughput::Items(items.as_u64()?)),
        _ => None,
    }
}

impl ListedBenchmark {
    fn to_json(&self) -> Json {
        let pair = |(name, value): &(String, String)| Json::from_iter([name, value]);
        Object::new()
            .with("name", &self.name)
            .with("contenders", self.contenders.iter().collect::<Json>())
            .with(
                "parameters",
                self.parameters.iter().map(pair).collect::<Json>(),
            )
            .with("throughput", self.throughput.map(throughput_json))
            .with_some(
                "judged",
                self.judged
                    .as_ref()
                    .map(|metric| column_name(metric).into_owned()),
            )
            .with("threads", self.threads)
            .with("ignored", self.ignored)
            .with_some(
                "sources",
                (!self.sources.is_empty())
                    .then(|| self.sources.iter().map(Source::to_json).collect::<Json>()),
            )
            .into()
    }

    /// Parses a listed benchmark. Every field except the name has a default.
    fn from_json(listed: &Json) -> Option<Self> {
        let said = listed.as_object()?;
        let name = text(said.get("name")?)?;
        let contenders = optional(said, "contenders", |names| list(names, text))?;
        let pair = |pair: &Json| {
            let [name, value]: [String; 2] = list(pair, text)?.try_into().ok()?;
            Some((name, value))
        };
        let threads = optional(said, "threads", Json::as_u64)?.unwrap_or(1);
        Some(Self {
            contenders: contenders.unwrap_or_else(|| vec![name.clone()]),
            parameters: optional(said, "parameters", |pairs| list(pairs, pair))?
                .unwrap_or_default(),
            throughput: optional(said, "throughput", throughput_of)?,
            judged: optional(said, "judged", |name| Some(metric_of_column(&text(name)?)))?,
            threads: u32::try_from(threads).ok()?,
            ignored: optional(said, "ignored", Json::as_bool)?.unwrap_or(false),
            sources: optional(said, "sources", |all| list(all, Source::from_json))?
                .unwrap_or_default(),
            name,
        })
    }
}

impl Source {
    fn to_json(&self) -> Json {
        let words = std::iter::once(&self.file).chain(&self.digests);
        words.collect()
    }

    /// Parses a list of strings: the name of the file and its digests.
    fn from_json(said: &Json) -> Option<Self> {
        let mut words = list(said, text)?.into_iter();
        Some(Self {
            file: words.next()?,
            digests: words.collect(),
        })
    }
}

impl Problem {
    /// The verb for a failure in a language with exceptions.
    const RAISED: &str = "raised";

    /// Returns the verb for this failure, if it differs from the default verb.
    fn verb(&self) -> Option<&'static str> {
        matches!(self, Problem::Raised(_)).then_some(Self::RAISED)
    }

    /// Returns the reason for which the benchmark is skipped if all processes report an error.
    fn skips(&self) -> Option<&String> {
        match self {
            Problem::ReportsError(error) => Some(error),
            _ => None,
        }
    }

    fn to_json(&self) -> Json {
        let detailed = |word, detail: &Option<String>| {
            Json::tagged(word, Object::new().with_some("detail", detail.as_ref()))
        };
        match self {
            Problem::Panicked(text) | Problem::Raised(text) => Json::tagged("panicked", text),
            Problem::Skipped(reason) => Json::tagged("skipped", reason),
            Problem::Refused(reason) => Json::tagged("refused", reason),
            Problem::ReportsError(error) => {
                Json::tagged("refused", format!("reports an error: {error}"))
            }
            Problem::OutputDiffers(detail) => detailed("output_differs", detail),
            Problem::OutputVaries(detail) => detailed("output_varies", detail),
            Problem::Unknown => Json::tagged("unknown", Object::new()),
            Problem::OutOfTurn => Json::tagged("out_of_turn", Object::new()),
            Problem::PeerGone => Json::tagged("peer_gone", Object::new()),
        }
    }

    /// Parses a problem, whose meaning other keys of `failed` may change.
    fn from_json(value: &Json, failed: &Object) -> Option<Self> {
        let (kind, said) = value.as_object()?.only()?;
        let raised = failed.get("verb").and_then(Json::as_text) == Some(Self::RAISED);
        let skips = failed.get("skips").and_then(text);
        // Other fields that a worker writes there are ignored.
        let detail = || said.as_object()?.get("detail").and_then(text);
        Some(match kind {
            "panicked" if raised => Problem::Raised(text(said)?),
            "panicked" => Problem::Panicked(text(said)?),
            "skipped" => Problem::Skipped(text(said)?),
            "refused" => match (skips, text(said)?) {
                (Some(error), _) => Problem::ReportsError(error),
                (None, reason) => Problem::Refused(reason),
            },
            "output_differs" => Problem::OutputDiffers(detail()),
            "output_varies" => Problem::OutputVaries(detail()),
            "unknown" => Problem::Unknown,
            "out_of_turn" => Problem::OutOfTurn,
            "peer_gone" => Problem::PeerGone,
            _ => return None,
        })
    }
}

/// Returns false if a line parses as a message that changes when it is encoded and parsed again.
/// For the fuzz target of the protocol.
#[doc(hidden)]
pub fn message_survives(line: &[u8]) -> bool {
    let request = Request::from_line(line)
        .is_none_or(|request| Request::from_line(request.to_line().as_bytes()) == Some(request));
    let reply = Reply::from_line(line)
        .is_none_or(|reply| Reply::from_line(reply.to_line().as_bytes()) == Some(reply));
    request && reply
}

fn parse(line: &[u8]) -> Option<Json> {
    Json::parse(std::str::from_utf8(line).ok()?)
}

fn line(kind: &'static str, said: Object) -> String {
    format!("{}\n", Json::tagged(kind, said))
}

/// The largest number of metrics of a worker. Each is compared with the others, and a worker with
/// 60,000 metrics took 40 s.
const MOST_METRICS: usize = 1024;

fn text(value: &Json) -> Option<String> {
    value.as_text().map(str::to_owned)
}

fn numbers(numbers: &[f64]) -> Json {
    numbers.iter().copied().collect()
}

fn place(value: &Json) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

fn list<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    value.as_list()?.iter().map(item).collect()
}

/// Parses an optional field with `item`: `Some(None)` if it is missing or null, `None` if it is
/// invalid.
fn optional<T>(said: &Object, name: &str, item: impl Fn(&Json) -> Option<T>) -> Option<Option<T>> {
    match said.get(name) {
        None => Some(None),
        Some(value) => or_null(value, item),
    }
}

/// Parses a value with `item`: `Some(None)` if it is null, `None` if it is invalid.
fn or_null<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Option<T>> {
    match value {
        Json::Null => Some(None),
        value => item(value).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Removes the newline, and asserts that the text has only one line.
    fn one_line(line: &str) -> &[u8] {
        let message = line.strip_suffix('\n').unwrap();
        assert!(!message.contains('\n'));
        message.as_bytes()
    }

    #[test]
    fn requests_are_lines_of_json_that_read_back() {
        let requests = [
            Request::Prepare(PrepareRequest {
                benchmark: "a \"b\"\n".to_owned(),
                contender: None,
                clock: "os".to_owned(),
                cpu_overhead_ns: 0.1 + 0.2,
                heap_bytes: 1,
                stack_bytes: 2,
                callgrind: true,
                input_per_call: false,
            }),
            Request::List,
            Request::Prepare(PrepareRequest {
                benchmark: String::new(),
                contender: Some("é\u{1}".to_owned()),
                clock: "tsc 1".to_owned(),
                cpu_overhead_ns: 0.0,
                heap_bytes: 0,
                stack_bytes: 0,
                callgrind: false,
                input_per_call: true,
            }),
            Request::Import {
                benchmarks: vec!["a/1".to_owned(), "b".to_owned()],
            },
            Request::Calibrate {
                seed: 1,
                least_ns: 0.5,
            },
            Request::Smoke { seed: 2 },
            Request::WarmUp {
                seed: 3,
                order: vec![1, 0],
                iterations: 4,
            },
            Request::Block(BlockRequest {
                seed: SEEDS - 1,
                iterations: 3,
                turns: vec![None, Some(0), Some(1), None],
                unrecorded: 2,
                unrecorded_iterations: 1,
            }),
            Request::Block(BlockRequest {
                seed: 0,
                iterations: 3,
                turns: vec![],
                unrecorded: 0,
                unrecorded_iterations: 3,
            }),
            Request::Bye,
        ];
        for request in requests {
            let line = request.to_line();
            assert_eq!(Request::from_line(one_line(&line)), Some(request), "{line}");
        }
    }

    #[test]
    fn a_request_is_written_as_any_language_would() {
        let request = Request::Smoke { seed: 7 };
        assert_eq!(request.to_line(), "{\"smoke\":{\"seed\":7}}\n");
        assert_eq!(Request::Bye.to_line(), "{\"bye\":{}}\n");
    }

    #[test]
    fn replies_are_lines_of_json_that_read_back() {
        let failed = |contender, problem| Reply::Failed { contender, problem };
        let replies = [
            Reply::Hello {
                protocol: 2,
                worker: "deadheat \"x\"".to_owned(),
                metrics: vec![Metric::Wall, Metric::Custom("wall".to_owned())],
                forks: true,
                leaves_within: Some(Duration::from_millis(7_000)),
            },
            Reply::Listed(vec![
                ListedBenchmark {
                    name: "sum/100".to_owned(),
                    contenders: vec!["loop".to_owned(), "fold".to_owned()],
                    parameters: vec![("length".to_owned(), "100".to_owned())],
                    throughput: Some(Throughput::Bytes(800)),
                    judged: Some(Metric::Manual),
                    threads: 4,
                    ignored: true,
                    sources: vec![Source {
                        file: "sums.py".to_owned(),
                        digests: vec!["0a".to_owned(), "1b".to_owned()],
                    }],
                },
                ListedBenchmark {
                    name: "x".to_owned(),
                    contenders: vec!["x".to_owned()],
                    parameters: vec![],
                    throughput: None,
                    judged: None,
                    threads: 1,
                    ignored: false,
                    sources: vec![],
                },
            ]),
            Reply::Prepared {
                renews_input: true,
                process: None,
            },
            Reply::Prepared {
                renews_input: false,
                process: Some(4_711),
            },
            Reply::Imported { unforked: None },
            Reply::Imported {
                unforked: Some("a thread".to_owned()),
            },
            Reply::Over,
            Reply::Calibrated(Pilot {
                iterations: 7,
                most_iterations: Some(9),
                call_ns: vec![0.1, 12.0],
                blocks_ns: vec![[1.0, 2.0, 3.0, 4.5]],
                block_cost_ns: None,
                warm_at_once: true,
                input_per_call: true,
                notes: vec!["\"a\" is\nsorted".to_owned(), String::new()],
                input_ns: Some(1.5),
                blocks: Some(4),
                throughput: Some(Throughput::Bytes(800)),
            }),
            Reply::Calibrated(Pilot {
                iterations: 7,
                most_iterations: None,
                call_ns: vec![],
                blocks_ns: vec![],
                block_cost_ns: Some(0.5),
                warm_at_once: false,
                input_per_call: false,
                notes: vec![],
                input_ns: None,
                blocks: None,
                throughput: None,
            }),
            Reply::Sound,
            Reply::Warm {
                rounds: 3,
                ready: None,
            },
            Reply::Warm {
                rounds: 1,
                ready: Some(9),
            },
            Reply::Block {
                values: vec![0.1, 1e300, 5e-324, 0.1 + 0.2, 9_007_199_254_740_993.0],
                keep_waiting: None,
                gpu_clock: vec![],
            },
            Reply::Block {
                values: vec![],
                keep_waiting: Some(KeepWaiting::Concurrent),
                gpu_clock: vec![],
            },
            Reply::Block {
                values: vec![1.0, 2.0],
                keep_waiting: Some(KeepWaiting::Unread),
                gpu_clock: vec![true, false],
            },
            failed(None, Problem::Unknown),
            failed(Some(1), Problem::OutOfTurn),
            failed(None, Problem::Panicked("at a.rs:1:\n\"no\"".to_owned())),
            failed(None, Problem::Skipped("no GPU".to_owned())),
            failed(Some(0), Problem::ReportsError("no GPU".to_owned())),
            failed(None, Problem::Raised("ValueError: no".to_owned())),
            failed(Some(0), Problem::Refused("returns a generator".to_owned())),
            failed(Some(2), Problem::OutputDiffers(None)),
            failed(Some(2), Problem::OutputDiffers(Some("1, not 2".to_owned()))),
            failed(Some(0), Problem::OutputVaries(None)),
            failed(Some(0), Problem::OutputVaries(Some("1, then 2".to_owned()))),
            failed(None, Problem::PeerGone),
        ];
        for reply in replies {
            let line = reply.to_line();
            assert_eq!(Reply::from_line(one_line(&line)), Some(reply), "{line}");
        }
    }

    #[test]
    fn what_a_worker_need_not_say_has_a_default() {
        let said = |line: &str| Reply::from_line(line.as_bytes());
        let listed = said(r#"{"listed":{"benchmarks":[{"name":"sum"}]}}"#);
        let Some(Reply::Listed(benchmarks)) = listed else {
            panic!("{listed:?}");
        };
        assert_eq!(benchmarks[0].contenders, ["sum"]);
        assert_eq!((benchmarks[0].threads, benchmarks[0].ignored), (1, false));
        let nothing = Reply::Prepared {
            renews_input: false,
            process: None,
        };
        assert_eq!(said(r#"{"prepared":{}}"#), Some(nothing));
        let calibrated = said(r#"{"calibrated":{"iterations":3,"call_ns":[2.5]}}"#);
        let Some(Reply::Calibrated(pilot)) = calibrated else {
            panic!("{calibrated:?}");
        };
        // A worker that is older, or of another language, is warmed up.
        assert_eq!((pilot.iterations, pilot.warm_at_once), (3, false));
        assert_eq!((pilot.input_per_call, pilot.notes), (false, vec![]));
    }

    #[test]
    fn the_first_version_of_a_hello_is_understood_as_far_as_to_refuse_it() {
        let hello = Reply::from_line(br#"{"hello":{"protocol":1}}"#);
        assert!(matches!(hello, Some(Reply::Hello { protocol: 1, .. })));
    }

    #[test]
    fn a_hello_with_more_metrics_than_a_worker_can_have_is_not_one() {
        let hello = |count: usize| {
            let metrics = vec!["wall_ns"; count];
            let line = format!(r#"{{"hello":{{"protocol":2,"metrics":{metrics:?}}}}}"#);
            Reply::from_line(line.as_bytes())
        };
        assert!(hello(MOST_METRICS).is_some());
        assert!(hello(MOST_METRICS + 1).is_none());
    }

    #[test]
    fn a_reply_is_written_as_any_language_would() {
        let reply = Reply::Failed {
            contender: None,
            problem: Problem::Panicked("no".to_owned()),
        };
        let line = r#"{"failed":{"contender":null,"problem":{"panicked":"no"}}}"#;
        assert_eq!(reply.to_line(), format!("{line}\n"));
        assert_eq!(Reply::Sound.to_line(), "{\"sound\":{}}\n");
    }

    #[test]
    fn what_is_no_message_is_not_taken_for_one() {
        for line in [
            "",
            "hello",
            "{}",
            "[]",
            "7",
            "\"sound",
            "\"loud\"",
            r#"{"hello":1}"#,
            r#"{"hello":{}}"#,
            r#"{"listed":{"benchmarks":[{}]}}"#,
            r#"{"listed":{"benchmarks":[{"name":"a","threads":-1}]}}"#,
            r#"{"listed":{"benchmarks":[{"name":"a","throughput":{"apples":1}}]}}"#,
            r#"{"hello":{"protocol":-1}}"#,
            r#"{"block":{"values":[1,null]}}"#,
            r#"{"block":{"values":7}}"#,
            r#"{"block":{"values":[1],"gpu_clock":[1]}}"#,
            r#"{"calibrated":{"iterations":1,"call_ns":[],"blocks_ns":[[1,2,3]],"block_cost_ns":null}}"#,
            r#"{"failed":{"contender":"a","problem":{"unknown":{}}}}"#,
            r#"{"failed":{"contender":1,"problem":{"bored":{}}}}"#,
        ] {
            assert_eq!(Reply::from_line(line.as_bytes()), None, "{line}");
        }
    }
}
