//! Races two servers under load. Each side of a race is a worker, a process of its own that starts
//! one server, sends it bursts of requests with a load generator, and watches the server's
//! processes.

mod bottleneck;
mod burst;
mod command;
pub mod generators;
mod load;
mod placeholders;
mod run_burst;
mod run_command;
mod run_cores;
mod run_data;
mod run_keeper;
mod run_output;
mod run_processes;
mod run_progress;
mod run_server;
mod run_signal;
mod run_worker;

pub use command::{ServerOptions, WorkerArgs, load_words};
pub use load::Load;
pub use run_worker::work;
