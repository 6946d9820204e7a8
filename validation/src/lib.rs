//! What the programs of this workspace share.

pub mod answer;
pub mod bars;
pub mod binomial;
pub mod google_compare;
pub mod kept;
pub mod load;
pub mod machine;
pub mod page;
pub mod process;
pub mod programs;
pub mod progress;
pub mod race;
pub mod workloads;
pub mod workshop;
