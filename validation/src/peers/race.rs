//! One race: who runs it, what runs, and while what else goes on.

use deadheat_validation::prelude::*;

use crate::tools::Tool;

/// Link orders of the two copies.
pub const ORDERS: usize = 8;

words! {
    pub enum Case {
        /// One function or command with itself.
        Same = "same",
        /// Two copies of it.
        Copies = "copies",
        /// The candidate does exactly 1% more.
        More = "more",
    }
}

/// What is raced; the cell of a table.
pub type Cell = (Tool, Condition, Case);

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

impl Race {
    pub fn order(&self) -> usize {
        match self.case {
            Case::Copies if !self.tool.is_of_commands() => self.repeat % ORDERS + 1,
            _ => 0,
        }
    }
}
