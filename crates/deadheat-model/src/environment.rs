//! Facts about the machine a run was measured on.

/// Whether hardware counters could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterAccess {
    /// They were recorded.
    Available,
    /// They were not, for this reason.
    Unavailable(String),
}

/// Facts about the machine; a fact that could not be learned is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Logical cores deadheat may use.
    pub cores: Option<u32>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Load average over one minute when the run began.
    pub load: Option<f64>,
    /// Cores the contenders were held on; empty when they were not pinned.
    pub pinned: Vec<u32>,
    /// Access to hardware counters; `None` when nobody asked.
    pub counters: Option<CounterAccess>,
}
