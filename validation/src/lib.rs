//! What the programs of this workspace share.

pub mod answer;
pub mod bars;
pub mod binomial;
pub mod duo;
pub mod kept;
pub mod load;
pub mod machine;
pub mod page;
pub mod process;
pub mod programs;
pub mod routines;
pub mod workloads;
