//! Refuses races of two programs, on systems other than Linux.

use deadheat::parts::exit::{Failure, Status};
use deadheat::parts::system::needs_linux;
use deadheat_options::bench_options::BenchOptions;

use super::sides::ProgramSide;

pub fn race_programs(
    programs: &[ProgramSide; 2],
    _names: &[String],
    _options: &BenchOptions,
) -> Result<Status, Failure> {
    let [old, new] = programs.each_ref().map(|side| &side.named);
    let race = format!("a race of {old} and {new}");
    Err(Failure::Usage(needs_linux(&race)))
}
