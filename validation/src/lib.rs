//! What the programs of this workspace share.

pub mod binomial;
pub mod machine;
pub mod process;
pub mod workloads;
