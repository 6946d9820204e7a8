//! `deadheat load`, which races two servers under load.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use deadheat::parts::answer::to_stdout;
use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::model::{HELP, Program};
use deadheat::parts::pairing::Target;
use deadheat_load::ServerOptions;
use deadheat_load::generators::Generator;
use deadheat_options::bench_options::BenchOptions;
use deadheat_options::build_race::{BuildPrograms, race};
use deadheat_options::load::judged;
use deadheat_options::own_path::this_program;
use deadheat_options::races::tell_of_one;

use crate::bench::names_of_sides;
use crate::help;

pub const EXAMPLES: &str = "Examples:
  deadheat load --server './old --port {port}' --server './new --port {port}' \\
    -- wrk -t1 -c32 -d1s 'http://127.0.0.1:{port}/'
  deadheat load --server 'redis-server --port {port}' \\
    --server 'redis-server --port {port} --io-threads 2' -- redis-benchmark -p {port} -t get -n 10000
  deadheat load --server './old {port}' --server './new {port}' --ready 'http://127.0.0.1:{port}/health' \\
    --value 'requests/s=Rate: ([0-9.]+)' --higher-is-better requests/s -- ./load.sh {port}
  deadheat load --list-generators";

/// Options of `deadheat load`.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// The command that starts a server, run without a shell. Give the option twice: first for the
    /// baseline, then for the candidate. {port} is a free port, {socket} the path of a unix socket
    #[arg(
        long,
        value_name = "CMD",
        required_unless_present_any = ["resume", "list_generators"],
        help_heading = "Servers and load"
    )]
    server: Vec<String>,
    /// Race only combinations of parameters whose name, such as connections=8, contains this text
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// The load command, which sends one burst of requests to the server on {port}
    #[arg(
        last = true,
        value_name = "LOAD",
        required_unless_present_any = ["resume", "list_generators"]
    )]
    load: Vec<String>,
    #[command(flatten)]
    servers: ServerOptions,
    /// The name of a server in the answer; give it once per server, in the same order
    #[arg(short = 'n', long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// List the load generators whose output deadheat can read, and exit
    #[arg(long, help_heading = "Servers and load")]
    list_generators: bool,
    /// Continue a recorded race; its intervals become anytime-valid, which makes them wider
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    resume: Option<PathBuf>,
    /// With --resume: run the commands in the file even if another user or machine wrote it
    #[arg(long, requires = "resume", help_heading = "Files")]
    trust: bool,
    /// The options of the race and of the answer.
    #[command(flatten)]
    pub options: BenchOptions,
}

/// Races two servers.
pub fn load(args: LoadArgs) -> Result<Status, Failure> {
    let words = std::env::args().skip(1);
    if let Some(option) = help::useless_option("load", words) {
        return Err(Failure::Usage(format!(
            "{option}: races of servers do not have this option{HELP}leave it out"
        )));
    }
    if args.list_generators {
        to_stdout(&generators())?;
        return Ok(Status::Done);
    }
    let mut options = args.options;
    options.filters = args.filters;
    options.read_rules()?;
    if let Some(path) = args.resume {
        options.exports.check(Some(&path))?;
        options.answer.gate.whole = false;
        let outcome = options.resume(&path, args.trust)?;
        return tell_of_one(outcome, &options.answer, &options.exports);
    }
    let [old, new] = &args.server[..] else {
        return Err(Failure::Usage(format!(
            "--server was given {}{HELP}give it twice: the baseline's command, then the candidate's; \
             deadheat rev BASE --server CMD --load CMD races a server of two commits",
            match args.server.len() {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            }
        )));
    };
    let names = names_of_sides(&args.names, [old, new])?;
    let program = this_program()?;
    let worker = |server: &String| -> Result<Program, Failure> {
        Ok(Program {
            executable: program.clone(),
            arguments: args
                .servers
                .worker_arguments(server, &args.load, |name| judged(&options, name))?,
            directory: None,
        })
    };
    let target = Target {
        name: None,
        sides: [Some(worker(old)?), Some(worker(new)?)],
    };
    let entrants = BuildPrograms {
        targets: vec![target],
        names,
    };
    race(&entrants, &options).map(|done| done.status)
}

fn generators() -> String {
    let mut text = String::new();
    for generator in Generator::ALL {
        let _ = writeln!(text, "{:16} {}", generator.name(), generator.about());
    }
    text
}
