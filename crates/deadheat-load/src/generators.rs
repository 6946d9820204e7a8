//! Load generators: how they are recognised and what they print about a burst.

mod ab;
mod generator;
mod hey;
mod json;
mod k6;
mod memtier;
mod oha;
mod pgbench;
mod redis_benchmark;
mod report;
mod sysbench;
mod tally;
mod text;
mod words;
mod wrk;

pub use generator::{Generator, Loop};
pub use report::Report;

impl Generator {
    /// All generators.
    pub const ALL: [&Generator; 10] = [
        &wrk::WRK,
        &wrk::WRK2,
        &oha::OHA,
        &hey::HEY,
        &ab::AB,
        &k6::K6,
        &redis_benchmark::REDIS_BENCHMARK,
        &memtier::MEMTIER,
        &pgbench::PGBENCH,
        &sysbench::SYSBENCH,
    ];

    /// Returns the generator with this name or program name.
    pub fn named(name: &str) -> Option<&'static Generator> {
        let mut all = Generator::ALL.into_iter();
        let is_named = |one: &&Generator| one.name == name || one.programs.contains(&name);
        all.find(is_named)
    }

    /// Returns the generator that a command line starts, directly or by `env`, `taskset`, `nice`,
    /// `timeout` and similar programs.
    pub fn of_command(words: &[String]) -> Option<&'static Generator> {
        let at = words::program(words)?;
        let name = words::file_name(&words[at]);
        // The program that wrk2 builds is named `wrk`.
        if name == "wrk" && wrk::is_wrk2(&words[at + 1..]) {
            return Some(&wrk::WRK2);
        }
        let mut all = Generator::ALL.into_iter();
        all.find(|one| one.programs.contains(&name))
    }

    /// Adds options that deadheat needs to read the complete output, if they are missing. Returns the
    /// command line of another program unchanged.
    pub fn adapted(&self, mut words: Vec<String>) -> Vec<String> {
        let is_own = Generator::of_command(&words).is_some_and(|own| own.name == self.name);
        if let Some(program) = words::program(&words).filter(|_| is_own) {
            let (at, missing) = (self.missing)(&words[program + 1..]);
            let at = (program + 1).saturating_add(at).min(words.len());
            words.splice(at..at, missing.into_iter().map(str::to_owned));
        }
        words
    }
}
