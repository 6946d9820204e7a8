//! One race: who runs it, what runs, and while what else goes on.

use crate::tools::Tool;

/// Link orders of the two copies.
pub const ORDERS: usize = 8;

/// The two sides of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// One function or command with itself.
    Same,
    /// Two copies of it.
    Copies,
    /// The candidate does exactly 1 % more.
    More,
}

/// The other work of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Idle,
    /// A busy loop for every core.
    Loaded,
}

/// A race to be run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Race {
    pub tool: Tool,
    pub case: Case,
    pub condition: Condition,
    /// From nought.
    pub repeat: usize,
    pub seed: u32,
}

impl Case {
    pub const ALL: [Self; 3] = [Self::Same, Self::Copies, Self::More];

    /// In raw data, and to the programs.
    pub fn key(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Copies => "copies",
            Self::More => "more",
        }
    }

    /// The true change, in percent.
    pub fn truth(self) -> f64 {
        match self {
            Self::Same | Self::Copies => 0.0,
            Self::More => 1.0,
        }
    }

    /// The work that a command is told to do more on its second side, in percent.
    pub fn more(self) -> &'static str {
        match self {
            Self::Same | Self::Copies => "0",
            Self::More => "1",
        }
    }
}

impl Condition {
    pub const ALL: [Self; 2] = [Self::Idle, Self::Loaded];

    /// In raw data and on the page.
    pub fn key(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Loaded => "loaded",
        }
    }
}

impl Race {
    /// The seed of the link order, of functions that are copies; nought for
    /// the link that cargo makes.
    pub fn order(&self) -> usize {
        match self.case {
            Case::Copies if !self.tool.is_of_commands() => self.repeat % ORDERS + 1,
            _ => 0,
        }
    }
}
