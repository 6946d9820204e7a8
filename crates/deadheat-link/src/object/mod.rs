//! What lies in objects, archives and executables.

mod align;
mod elf;

pub(crate) use align::{Problem, align};
pub(crate) use elf::is_executable;
