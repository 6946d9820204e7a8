//! The worker of one side, by the protocol of `docs/protocol.md`. Each turn of a block is one burst
//! of load.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{HELP, Json, Object};
use nix::unistd::close;

use crate::bottleneck::Bottleneck;
use crate::burst::{Burst, Column};
use crate::command::WorkerArgs;
use crate::load::{CoreList, Load};
use crate::run_burst::burst;
use crate::run_cores::{Cores, hold};
use crate::run_keeper::{folder, is_kept, keep, outlive_signals};
use crate::run_processes::{adopt_orphans, end_all, ignores_children};
use crate::run_progress::Progress;
use crate::run_server::Server;

/// The version of the worker protocol.
const PROTOCOL: u64 = 2;
/// The maximum time between the end of a server and the end of the keeper, in milliseconds. The
/// removal of a large copy of `--data` takes seconds.
const LEAVES_LATER_MS: u128 = 60_000;

/// Serves one side of a race until deadheat ends it.
///
/// # Errors
///
/// Fails if an option is wrong, or if deadheat has not started this process as a worker.
pub fn work(args: &WorkerArgs) -> Result<Status, Failure> {
    if !is_kept() {
        let pipes = inherited_pipes().ok_or_else(not_a_worker)?;
        return keep(pipes);
    }
    // With another name than `deadheat`, this process survives `killall -9 deadheat` and ends its
    // server.
    let _ = nix::sys::prctl::set_name(c"dh-load");
    let (load, judged) = args.load()?;
    let pipes = Pipes::taken().ok_or_else(not_a_worker)?;
    let _outlived = outlive_signals()
        .map_err(|problem| Failure::Internal(format!("the signals were not handled: {problem}")))?;
    let mut worker = Worker::new(load, judged, pipes);
    worker.serve();
    drop(worker.running.take());
    Ok(Status::Done)
}

/// The pipes to deadheat and to the other worker.
struct Pipes {
    requests: Receiver<String>,
    replies: File,
    notes: Option<File>,
    baton: Option<(File, File)>,
}

impl Pipes {
    /// Opens the pipes that the environment names, so that processes started later inherit none of
    /// them; `None` if this process is not a worker.
    fn taken() -> Option<Self> {
        let [requests, replies, notes] = numbers("DEADHEAT_WORKER")?[..] else {
            return None;
        };
        let baton = match numbers("DEADHEAT_BATON").as_deref() {
            Some([from, to]) => Some((opened(*from, false)?, opened(*to, true)?)),
            _ => None,
        };
        let requests = opened(requests, false)?;
        let (sender, receiver) = channel();
        let read = move || {
            for line in BufReader::new(requests).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
            // deadheat has ended, or no longer waits for this process, perhaps in the middle of a burst
            // or while the server stops. No process and no folder may remain.
            end_all();
            remove_folder();
            // The other thread may have started or copied something meanwhile.
            end_all();
            remove_folder();
            std::process::exit(0);
        };
        thread::Builder::new().spawn(read).ok()?;
        Some(Self {
            requests: receiver,
            replies: opened(replies, true)?,
            notes: opened(notes, true),
            baton,
        })
    }
}

fn not_a_worker() -> Failure {
    Failure::Usage(format!(
        "this command is internal: deadheat starts it as a worker{HELP}deadheat load --server OLD \
         --server NEW -- LOAD races two servers"
    ))
}

/// Returns the descriptors that an environment variable lists.
fn numbers(variable: &str) -> Option<Vec<i32>> {
    let text = env::var(variable).ok()?;
    text.split(',').map(|fd| fd.parse().ok()).collect()
}

/// Returns the descriptors of all inherited pipes; `None` if this process is not a worker.
fn inherited_pipes() -> Option<Vec<i32>> {
    let mut pipes = numbers("DEADHEAT_WORKER")?;
    pipes.extend(numbers("DEADHEAT_BATON").unwrap_or_default());
    Some(pipes)
}

/// Removes the folder of this worker, for an exit without destructors.
fn remove_folder() {
    if let Ok(folder) = folder() {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Opens an inherited pipe once more, with close-on-exec, and closes the inherited descriptor.
fn opened(fd: i32, is_written: bool) -> Option<File> {
    let path = format!("/proc/self/fd/{fd}");
    let mut options = OpenOptions::new();
    let file = options
        .read(!is_written)
        .write(is_written)
        .open(path)
        .ok()?;
    close(fd).ok()?;
    Some(file)
}

/// A reply, or the problem of a request.
type Answer = Result<Json, Json>;

struct Worker {
    load: Load,
    pipes: Pipes,
    columns: Vec<Column>,
    bottleneck: Bottleneck,
    /// The metrics that the user chose, by the names of benchmarks.
    judged: Vec<(String, String)>,
    running: Option<(Server, Cores)>,
}

impl Worker {
    fn new(load: Load, judged: Vec<(String, String)>, pipes: Pipes) -> Self {
        let latencies = load
            .generator
            .map_or(&[][..], |one| one.latencies(&load.load));
        let columns = Column::of(&load, latencies);
        Self {
            bottleneck: Bottleneck::new(&load, &columns, None),
            judged,
            columns,
            load,
            pipes,
            running: None,
        }
    }

    fn serve(&mut self) {
        let metrics: Json = self
            .columns
            .iter()
            .map(|column| column.name(&self.load))
            .collect();
        let leaves = self.load.grace.as_millis() + LEAVES_LATER_MS;
        let hello = Object::new()
            .with("protocol", PROTOCOL)
            .with("worker", "deadheat load")
            .with("metrics", metrics)
            .with(
                "leaves_within_ms",
                u64::try_from(leaves).unwrap_or(u64::MAX),
            );
        let mut reply = Json::tagged("hello", hello);
        loop {
            let line = format!("{reply}\n");
            let is_failure = reply
                .as_object()
                .is_some_and(|said| said.get("failed").is_some());
            if is_failure {
                let _progress = Progress::noted(self.pipes.notes.as_ref());
                // As soon as deadheat reads the reply, it may kill this process.
                drop(self.running.take());
            }
            if self.pipes.replies.write_all(line.as_bytes()).is_err() || is_failure {
                return;
            }
            let Ok(request) = self.pipes.requests.recv() else {
                return;
            };
            let parsed = Json::parse(&request);
            let Some((kind, asked)) = parsed.as_ref().and_then(|json| json.as_object()?.only())
            else {
                return;
            };
            if kind == "bye" {
                return;
            }
            reply = self
                .answer(kind, asked.as_object())
                .unwrap_or_else(|problem| problem);
        }
    }

    fn answer(&mut self, kind: &str, asked: Option<&Object>) -> Answer {
        let known = asked.ok_or_else(out_of_turn)?;
        match kind {
            "list" => Ok(self.listed()),
            "prepare" if self.running.is_none() => self.prepare(known),
            "calibrate" => self.calibrate(),
            "warm_up" => {
                self.burst()?;
                Ok(Json::tagged("warm", Object::new().with("rounds", 1_u64)))
            }
            "block" => self.block(known),
            "smoke" => {
                self.burst()?;
                Ok(Json::tagged("sound", Object::new()))
            }
            _ => Err(out_of_turn()),
        }
    }

    fn listed(&self) -> Json {
        let names = self.load.names();
        let judged = self.bottleneck.usual_metric();
        let benchmarks = names
            .into_iter()
            .zip(&self.load.parameters)
            .map(|(name, values)| {
                let values = values.iter().map(|(name, value)| {
                    Json::List(vec![Json::Text(name.clone()), Json::Text(value.clone())])
                });
                // This worker divides the cores itself; with more than one thread, deadheat does not pin
                // it to one core.
                Json::from(
                    Object::new()
                        .with("name", name)
                        .with("parameters", Json::List(values.collect()))
                        .with("judged", judged)
                        .with("threads", 2_u64),
                )
            });
        let benchmarks = Json::List(benchmarks.collect());
        Json::tagged("listed", Object::new().with("benchmarks", benchmarks))
    }

    fn prepare(&mut self, asked: &Object) -> Answer {
        let name = asked
            .get("benchmark")
            .and_then(Json::as_text)
            .unwrap_or_default();
        let place = self.load.names().iter().position(|known| known == name);
        let Some(place) = place else {
            return Err(failed(Json::tagged("unknown", Object::new())));
        };
        if asked.get("callgrind").and_then(Json::as_bool) == Some(true) {
            let why = "is a server under load, whose instructions callgrind cannot count";
            return Err(refused(why.to_owned()));
        }
        let mut judged = self.judged.iter().filter(|(known, _)| known == name);
        let judged = judged.next().map(|(_, metric)| metric.as_str());
        self.bottleneck = Bottleneck::new(&self.load, &self.columns, judged);
        let cores = Cores::of(&self.load).map_err(refused)?;
        adopt_orphans()
            .and_then(|()| hold(&cores.generator))
            .map_err(|problem| refused(format!("was not started: {problem}")))?;
        let _progress = Progress::noted(self.pipes.notes.as_ref());
        let parameters = &self.load.parameters[place];
        let server = Server::start(&self.load, parameters, &cores).map_err(refused)?;
        if self.load.pause_idle {
            server.pause(true);
        }
        self.running = Some((server, cores));
        Ok(Json::tagged(
            "prepared",
            Object::new().with("renews_input", false),
        ))
    }

    fn burst(&mut self) -> Result<Burst, Json> {
        if let Some(notes) = &mut self.pipes.notes {
            let _ = notes.write(&[1]);
        }
        let (server, cores) = self.running.as_mut().ok_or_else(out_of_turn)?;
        burst(server, &self.load, cores).map_err(refused)
    }

    fn calibrate(&mut self) -> Answer {
        // The first burst warms the server up.
        self.burst()?;
        let burst = self.burst()?;
        burst.row(&self.load, &self.columns).map_err(refused)?;
        self.bottleneck.check_first(&burst).map_err(refused)?;
        let mut notes = self.bottleneck.notes(&burst);
        if self.load.counts_requests() && ignores_children() {
            notes.push(
                "The server ignores SIGCHLD, so the CPU time of its child processes that ended is not \
                 included."
                    .to_owned(),
            );
        }
        if let Some((_, cores)) = self
            .running
            .as_ref()
            .filter(|(_, cores)| cores.are_shared())
        {
            notes.push(format!(
                "The servers and the load generator shared cores ({}), so each slowed the other down.",
                CoreList(cores.servers.clone())
            ));
        }
        if self
            .running
            .as_ref()
            .is_some_and(|(server, _)| server.is_restless())
        {
            let advice = match self.load.pause_idle {
                true => "this work counts in its next burst",
                false => "the other server is under load then; --pause-idle stops the idle server",
            };
            notes.push(format!(
                "The server was still busy 0.5 s after a burst: {advice}."
            ));
        }
        let call_ns = Json::List(vec![Json::Number(burst.wall_ns())]);
        let said = Object::new()
            .with("iterations", 1_u64)
            .with("call_ns", call_ns)
            .with("most_iterations", 1_u64)
            .with("notes", notes.iter().collect::<Json>())
            .with_some("blocks", blocks_for(burst.wall_ns()));
        Ok(Json::tagged("calibrated", said))
    }

    /// Runs the turns of a block. Between the turns of two workers, a byte in a pipe says whose turn
    /// it is.
    fn block(&mut self, asked: &Object) -> Answer {
        let turns = asked
            .get("turns")
            .and_then(Json::as_list)
            .ok_or_else(out_of_turn)?;
        let own: Vec<bool> = turns.iter().map(|turn| *turn != Json::Null).collect();
        let unrecorded = asked.get("unrecorded").and_then(Json::as_u64).unwrap_or(0) as usize;
        let mut values = Vec::new();
        if own.first() == Some(&false) {
            self.pass_baton()?;
        }
        for at in 0..=own.len() {
            let is_own = own.get(at) == Some(&true);
            let was_own = at > 0 && own[at - 1];
            if (is_own || at == own.len()) && !was_own {
                self.await_baton()?;
            }
            if is_own {
                let burst = self.burst()?;
                if at >= unrecorded {
                    values.extend(burst.row(&self.load, &self.columns).map_err(refused)?);
                    self.bottleneck.check_next(&burst).map_err(refused)?;
                }
                if own.get(at + 1) != Some(&true) {
                    self.pass_baton()?;
                }
            }
        }
        let values = values.into_iter().map(Json::Number).collect();
        Ok(Json::tagged(
            "block",
            Object::new().with("values", Json::List(values)),
        ))
    }

    fn pass_baton(&mut self) -> Result<(), Json> {
        match &mut self.pipes.baton {
            Some((_, to)) => to.write_all(&[1]).map_err(|_| peer_gone()),
            None => Ok(()),
        }
    }

    fn await_baton(&mut self) -> Result<(), Json> {
        match &mut self.pipes.baton {
            Some((from, _)) => from.read_exact(&mut [0]).map_err(|_| peer_gone()),
            None => Ok(()),
        }
    }
}

/// Returns the number of blocks per replicate for bursts of this length; `None` for bursts so long
/// that a replicate gets one burst per server. Many short bursts in turns average out noise better
/// than a few long ones: on a virtual machine that its neighbours slowed by 20% for some tenths of a
/// second at a time, with one burst of 0.15 s per replicate, the interval of two equal servers was
/// ±15%.
fn blocks_for(burst_ns: f64) -> Option<u32> {
    /// The time of all bursts of a replicate.
    const BURSTS_NS: f64 = 2e9;
    const BURSTS_PER_BLOCK: f64 = 4.0;
    const MOST: f64 = 12.0;
    let blocks = (BURSTS_NS / (BURSTS_PER_BLOCK * burst_ns)).round();
    // Blocks come in pairs of both orders, so an odd number would favour one order.
    let even = |blocks: u32| if blocks > 1 { blocks & !1 } else { blocks };
    (blocks >= 1.0).then(|| even(blocks.min(MOST) as u32))
}

fn failed(problem: Json) -> Json {
    let said = Object::new()
        .with("contender", 0_u64)
        .with("problem", problem);
    Json::tagged("failed", said)
}

fn refused(why: String) -> Json {
    failed(Json::tagged("refused", why))
}

fn out_of_turn() -> Json {
    failed(Json::tagged("out_of_turn", Object::new()))
}

fn peer_gone() -> Json {
    failed(Json::tagged("peer_gone", Object::new()))
}
