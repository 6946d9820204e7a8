//! The messages between a coordinator and its workers, over pipes of their own: one JSON object of
//! one key a line, `{"block":{"seed":7,…}}`, or `{"bye":{}}` where there is nothing more to say.
//! `docs/protocol.md` explains it to those who write a worker in another language.

#[cfg(feature = "commands")]
use deadheat_model::Harness;
use deadheat_model::{Json, Metric, Object, Throughput, column_name, metric_of_column};

use crate::function::Pilot;
use crate::run_delay::KeepWaiting;

/// The version both sides must speak.
pub(crate) const PROTOCOL: u32 = 2;

/// Seeds lie below this: every reader of JSON has such an integer exactly.
pub(crate) const SEEDS: u64 = 1 << 53;

/// A request of the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// Name the benchmarks.
    List,
    /// Import what these benchmarks need, and serve each of them in a process forked for it.
    Import { benchmarks: Vec<String> },
    /// Get a benchmark ready; once per process.
    Prepare(PrepareRequest),
    /// Find out how many calls make a sample, which should last this long.
    Calibrate { seed: u64, least_ns: f64 },
    /// Call every contender once on the input of this seed.
    Smoke { seed: u64 },
    /// Call the contenders in this order until they are warm, in the first round
    /// on the input of this seed.
    WarmUp {
        seed: u64,
        order: Vec<usize>,
        iterations: u64,
    },
    /// Run one block.
    Block(BlockRequest),
    /// The replicate is over.
    Bye,
}

/// The benchmark that a process is for, and what it is to find there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrepareRequest {
    pub(crate) benchmark: String,
    /// The only contender wanted, which is number 0 from then on.
    pub(crate) contender: Option<String>,
    /// The clock as the coordinator measured it.
    pub(crate) clock: String,
    /// Nanoseconds that reading the CPU clock shows of itself.
    pub(crate) cpu_overhead_ns: f64,
    /// Bytes of the heap to hold.
    pub(crate) heap_bytes: usize,
    /// Bytes to move the stack by.
    pub(crate) stack_bytes: usize,
    /// True where callgrind counts what samples execute, and the worker tells it where they begin
    /// and end.
    pub(crate) callgrind: bool,
    /// True if the pilot found that every call needs an input of its own.
    pub(crate) input_per_call: bool,
}

/// One block on the input of one seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockRequest {
    pub(crate) seed: u64,
    /// Calls in a recorded sample.
    pub(crate) iterations: u64,
    /// The contender of each turn; `None` is one in another process.
    pub(crate) turns: Vec<Option<usize>>,
    /// So many of the first turns are not recorded.
    pub(crate) unrecorded: usize,
    /// Calls in each of them.
    pub(crate) unrecorded_iterations: u64,
}

/// An answer of a worker; the first line comes unasked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// The worker is there.
    Hello {
        protocol: u32,
        /// Its name, for people.
        worker: String,
        /// The columns of its samples.
        metrics: Vec<Metric>,
        /// True if it can import once and serve each benchmark in a process forked then.
        forks: bool,
    },
    /// The benchmarks it can race.
    Listed(Vec<ListedBenchmark>),
    /// The benchmark is ready.
    Prepared {
        /// True if every block has an input of its own.
        renews_input: bool,
        /// The process forked for the benchmark, if there is one.
        process: Option<u32>,
    },
    /// Everything is imported.
    Imported {
        /// The reason why it forks no process, if it does not.
        unforked: Option<String>,
    },
    /// The process that was forked for a benchmark is gone.
    Over,
    /// The findings of a pilot.
    Calibrated(Pilot),
    /// Every contender was called and nothing happened.
    Sound,
    /// The contenders are warm.
    Warm {
        rounds: u64,
        /// The seed of the input that lies ready for a block, and that every
        /// contender has met.
        ready: Option<u64>,
    },
    /// The values of all recorded turns of this process, one after the other.
    Block {
        values: Vec<f64>,
        /// The reason, if any, to count the time they waited for a core.
        keep_waiting: Option<KeepWaiting>,
        /// By sample, whether the GPU was throttled or its clock stepped; empty if the worker does
        /// not say.
        gpu_clock: Vec<bool>,
    },
    /// The benchmark cannot go on.
    Failed {
        contender: Option<usize>,
        problem: Problem,
    },
}

/// The reason why a worker cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Problem {
    /// There is no such benchmark or contender in this program.
    Unknown,
    /// The request makes no sense here.
    OutOfTurn,
    /// The code panicked, with this message.
    Panicked(String),
    /// The code, of a language in which errors are raised, raised this one.
    Raised(String),
    /// The benchmark does not want to run here, for this reason.
    Skipped(String),
    /// The worker refuses the benchmark, because its times would be misleading.
    Refused(String),
    /// A candidate does not agree with the baseline, and how.
    OutputDiffers(Option<String>),
    /// A contender does not agree with itself, and how.
    OutputVaries(Option<String>),
    /// The process on the other end of the baton is gone.
    PeerGone,
}

/// The kind of a program, and the benchmarks it holds.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inspected {
    /// It speaks the worker protocol.
    Worker(WorkerListing),
    /// It is an executable of a harness that knows nothing of deadheat.
    Harness(HarnessListing),
}

/// The benchmarks of an executable of a harness.
#[cfg(feature = "commands")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HarnessListing {
    /// The harness.
    pub harness: Harness,
    /// The names of its benchmarks, in its order; one that stands there twice cannot be raced.
    pub names: Vec<String>,
    /// By which the program knows each of them.
    pub known_as: Vec<String>,
}

#[cfg(feature = "commands")]
impl HarnessListing {
    /// By which the program knows the benchmark of this name.
    pub fn known_as<'a>(&'a self, name: &'a str) -> &'a str {
        let mut both = self.names.iter().zip(&self.known_as);
        let found = both.find(|(one, _)| *one == name);
        found.map_or(name, |(_, known)| known)
    }
}

/// A worker's account of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerListing {
    /// Name and version, for people.
    pub worker: String,
    /// The metrics of its samples, in column order.
    pub metrics: Vec<Metric>,
    /// Its benchmarks, no two of the same name.
    pub benchmarks: Vec<ListedBenchmark>,
}

/// A benchmark as a worker lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedBenchmark {
    /// Its name.
    pub name: String,
    /// The names of its contenders, the baseline first; at least one.
    pub contenders: Vec<String>,
    /// Names and values of its parameters.
    pub parameters: Vec<(String, String)>,
    /// The work that one iteration gets done.
    pub throughput: Option<Throughput>,
    /// The metric that the verdict is about unless the user names one; `None` for the metric of the
    /// race.
    pub judged: Option<Metric>,
    /// Threads that call each contender at the same time.
    pub threads: u32,
    /// True if it is left out unless somebody asks for it.
    pub ignored: bool,
    /// What it is made of besides the code under test; empty if the worker does not say.
    pub sources: Vec<Source>,
}

/// A file that a benchmark is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, for people.
    pub file: String,
    /// Digests of what it holds of the benchmark. Two versions of a file are alike if they have one
    /// in common.
    pub digests: Vec<String>,
}

/// Notes that a worker may make of a benchmark; further ones are ignored.
const MOST_NOTES: usize = 16;

/// Characters shown of a reply that does not belong where it is said.
const SHOWN: usize = 100;

impl Request {
    /// The line, newline included.
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

    /// The request of a line; `None` when it is none.
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
    /// The line, newline included.
    pub(super) fn to_line(&self) -> String {
        let (kind, said) = match self {
            Reply::Hello {
                protocol,
                worker,
                metrics,
                forks,
            } => {
                let columns = metrics.iter().map(column_name);
                let columns: Json = columns.map(|column| column.into_owned()).collect();
                let said = Object::new()
                    .with("protocol", *protocol)
                    .with("worker", worker)
                    .with("metrics", columns)
                    .with_some("forks", forks.then_some(true));
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
                    .with_some("verb", problem.verb()),
            ),
        };
        line(kind, said)
    }

    /// The beginning of the line, for a message about it.
    pub(crate) fn said(&self) -> String {
        let line = self.to_line();
        let said = line.trim_end();
        match said.char_indices().nth(SHOWN) {
            None => said.to_owned(),
            Some((end, _)) => format!("{}...", &said[..end]),
        }
    }

    /// The reply of a line; `None` when it is none.
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
                // The first version says nothing else, and is to be told that
                // it is the first.
                worker: optional(said, "worker", text)?.unwrap_or_default(),
                metrics: optional(said, "metrics", |columns| list(columns, text))?
                    .unwrap_or_default()
                    .iter()
                    .map(|column| metric_of_column(column))
                    .collect(),
                forks: optional(said, "forks", Json::as_bool)?.unwrap_or(false),
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
                problem: Problem::from_json(said.get("problem")?, said.get("verb"))?,
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

    /// Everything but the name has a default.
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

    /// A list of the file and its digests.
    fn from_json(said: &Json) -> Option<Self> {
        let mut words = list(said, text)?.into_iter();
        Some(Self {
            file: words.next()?,
            digests: words.collect(),
        })
    }
}

impl Problem {
    /// The verb of a worker whose language raises errors.
    const RAISED: &str = "raised";

    /// The word for the failure in the worker's language, if it is not the problem's own.
    fn verb(&self) -> Option<&'static str> {
        matches!(self, Problem::Raised(_)).then_some(Self::RAISED)
    }

    fn to_json(&self) -> Json {
        let detailed = |word, detail: &Option<String>| {
            Json::tagged(word, Object::new().with_some("detail", detail.as_ref()))
        };
        match self {
            Problem::Panicked(text) | Problem::Raised(text) => Json::tagged("panicked", text),
            Problem::Skipped(reason) => Json::tagged("skipped", reason),
            Problem::Refused(reason) => Json::tagged("refused", reason),
            Problem::OutputDiffers(detail) => detailed("output_differs", detail),
            Problem::OutputVaries(detail) => detailed("output_varies", detail),
            Problem::Unknown => Json::tagged("unknown", Object::new()),
            Problem::OutOfTurn => Json::tagged("out_of_turn", Object::new()),
            Problem::PeerGone => Json::tagged("peer_gone", Object::new()),
        }
    }

    fn from_json(value: &Json, verb: Option<&Json>) -> Option<Self> {
        let (kind, said) = value.as_object()?.only()?;
        let raised = verb.and_then(Json::as_text) == Some(Self::RAISED);
        // Whatever else a worker writes there is passed over.
        let detail = || said.as_object()?.get("detail").and_then(text);
        Some(match kind {
            "panicked" if raised => Problem::Raised(text(said)?),
            "panicked" => Problem::Panicked(text(said)?),
            "skipped" => Problem::Skipped(text(said)?),
            "refused" => Problem::Refused(text(said)?),
            "output_differs" => Problem::OutputDiffers(detail()),
            "output_varies" => Problem::OutputVaries(detail()),
            "unknown" => Problem::Unknown,
            "out_of_turn" => Problem::OutOfTurn,
            "peer_gone" => Problem::PeerGone,
            _ => return None,
        })
    }
}

/// Reads a line of either side, and writes it again; returns false if what was written reads
/// differently. For the fuzz target of the protocol.
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

/// `None` when a field is there and neither null nor what `item` reads.
fn optional<T>(said: &Object, name: &str, item: impl Fn(&Json) -> Option<T>) -> Option<Option<T>> {
    match said.get(name) {
        None => Some(None),
        Some(value) => or_null(value, item),
    }
}

/// `None` when it is neither null nor what `item` reads.
fn or_null<T>(value: &Json, item: impl Fn(&Json) -> Option<T>) -> Option<Option<T>> {
    match value {
        Json::Null => Some(None),
        value => item(value).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line without its end, and nothing of it in the middle.
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
