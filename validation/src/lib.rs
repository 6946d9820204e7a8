//! Parts that the programs of this workspace share.

pub mod answer;
pub mod bare;
pub mod bars;
pub mod binomial;
pub mod duo;
pub mod google_compare;
pub mod kept;
pub mod known;
pub mod launches;
pub mod load;
pub mod machine;
pub mod made_run;
pub mod page;
pub mod process;
pub mod programs;
pub mod progress;
pub mod race;
pub mod routines;
pub mod sample_cost;
pub mod suite_run;
pub mod twins;
pub mod workers;
pub mod workloads;
pub mod workshop;
