//! The cells of the table: a tool, a subject and a case, and how often each is observed.

use deadheat_validation::prelude::*;

use crate::suites::SUITES;

/// Rounds in which every tool gets its turn: those that are wanted less often sit out some of
/// them, evenly.
pub const ROUNDS: usize = 40;

/// The functions of `validation/python/subjects.py` by the time they take, and whether their work
/// grows with their input.
pub const FUNCTIONS: [(&str, bool); 10] = [
    ("adds", false),
    ("looks_up", false),
    ("matches", true),
    ("loops", true),
    ("parses", true),
    ("dumps", true),
    ("sorts", true),
    ("sines", true),
    ("counts", true),
    ("multiplies", true),
];

/// The function whose time hangs on the hash seed.
pub const HASHED: &str = "dispatches";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    pub name: &'static str,
    pub old: &'static str,
    pub new: &'static str,
}

pub const LIBRARIES: [Library; 2] = [
    Library { name: "packaging", old: "21.3", new: "26.0" },
    Library { name: "orjson", old: "3.10.11", new: "3.13.0" },
];

/// Files of `validation/python` that measure what deadheat itself costs.
pub const COSTS: [&str; 2] = ["loop", "start"];

words! {
    pub enum Tool {
        /// `deadheat.race`.
        Deadheat = "deadheat",
        PytestBenchmark = "pytest-benchmark",
        Timeit = "timeit",
        Pyperf = "pyperf",
        /// `deadheat bench` with two Pythons.
        Bench = "deadheat bench",
        /// `deadheat bench` of a suite.
        Suite = "deadheat suite",
        /// `deadheat bench` of a suite whose rows each start their own workers.
        Starts = "deadheat starts",
        /// The cost of deadheat itself.
        Cost = "cost",
    }
}

words! {
    pub enum Case {
        /// The same in another module, or in another environment.
        Same = "same",
        /// 1% more work.
        More = "more",
        /// The old version of a library and the new one.
        Versions = "versions",
        /// The same in another environment, in races of at most [`BRIEF`] replicates.
        Brief = "brief",
        /// Nothing is compared.
        Alone = "alone",
    }
}

/// The most replicates of a brief race: enough for four interim analyses, while rows that start their
/// own workers take no more than a minute or two.
pub const BRIEF: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub tool: Tool,
    pub subject: &'static str,
    pub case: Case,
}

impl Tool {
    pub const RACING: [Self; 4] =
        [Self::Deadheat, Self::PytestBenchmark, Self::Timeit, Self::Pyperf];

    fn races(self) -> [usize; 3] {
        match self {
            Self::Deadheat => [40, 20, 20],
            Self::PytestBenchmark | Self::Timeit => [3, 2, 4],
            Self::Pyperf => [1, 1, 1],
            Self::Bench | Self::Suite | Self::Starts | Self::Cost => [0; 3],
        }
    }
}

impl Case {
    pub fn module(self) -> &'static str {
        match self {
            Self::More => "more_of_it",
            Self::Same | Self::Versions | Self::Brief | Self::Alone => "copy_of_it",
        }
    }
}

impl Cell {
    /// Every cell of the table.
    pub fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        let mut put = |tool, subject, case| {
            cells.push(Self { tool, subject, case });
        };
        for tool in Tool::RACING {
            for (subject, grows) in FUNCTIONS {
                put(tool, subject, Case::Same);
                if grows {
                    put(tool, subject, Case::More);
                }
            }
            put(tool, HASHED, Case::Same);
        }
        put(Tool::Timeit, HASHED, Case::Alone);
        for library in LIBRARIES {
            put(Tool::Bench, library.name, Case::Same);
            put(Tool::Bench, library.name, Case::Versions);
            put(Tool::Suite, library.name, Case::Brief);
            put(Tool::Starts, library.name, Case::Brief);
        }
        for suite in SUITES {
            put(Tool::Suite, suite.name, Case::Same);
            put(Tool::Starts, suite.name, Case::Same);
        }
        put(Tool::PytestBenchmark, SUITES[0].name, Case::Same);
        for cost in COSTS {
            put(Tool::Cost, cost, Case::Alone);
        }
        cells
    }

    pub fn wanted(self, quick: bool) -> usize {
        let [same, more, hashed] = self.tool.races();
        let full = match (self.tool, self.case) {
            (Tool::Bench, Case::Same) => 2,
            (Tool::Bench, _) => 1,
            (Tool::Cost, _) => 3,
            (_, Case::Brief) => 15,
            (Tool::Suite, _) => 20,
            (Tool::Starts, _) => 4,
            (Tool::PytestBenchmark, _) if self.is_of_a_suite() => 4,
            // One for every hash seed.
            (_, Case::Alone) => 20,
            (_, Case::More) => more,
            _ if self.subject == HASHED => hashed,
            _ => same,
        };
        let tried = match self.tool {
            Tool::Deadheat | Tool::Cost => 1,
            Tool::Bench => usize::from(self.case == Case::Versions),
            Tool::Suite | Tool::Starts => usize::from(self.subject == "cattrs"),
            Tool::PytestBenchmark | Tool::Timeit => {
                usize::from(["loops", HASHED].contains(&self.subject))
            }
            Tool::Pyperf => usize::from(self.subject == "loops" && self.case == Case::More),
        };
        if quick { tried } else { full }
    }

    pub fn is_of_a_suite(self) -> bool {
        SUITES.iter().any(|suite| suite.name == self.subject)
    }

    pub fn keys(self) -> [(&'static str, &'static str); 3] {
        [("tool", self.tool.key()), ("subject", self.subject), ("case", self.case.key())]
    }

    pub fn is_of(self, row: &Value) -> bool {
        self.keys().iter().all(|(key, value)| row[*key] == **value)
    }

    pub fn wish(self, quick: bool) -> Wish<Self> {
        let keys = self.keys().map(|(key, value)| (key, value.to_owned())).to_vec();
        Wish { cell: self, keys, loaded: false, times: self.wanted(quick) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn races(tool: Tool, case: Case, functions: bool) -> usize {
        let fits = |cell: &&Cell| {
            (cell.tool, cell.case) == (tool, case)
                && (cell.subject != HASHED) == functions
                && !cell.is_of_a_suite()
        };
        let all = Cell::all();
        all.iter().filter(fits).map(|cell| cell.wanted(false)).sum()
    }

    #[test]
    fn ten_functions_race_their_copies_and_those_that_grow_race_more_work() {
        assert_eq!(races(Tool::Deadheat, Case::Same, true), 400);
        assert_eq!(races(Tool::Deadheat, Case::More, true), 160);
        assert_eq!(races(Tool::PytestBenchmark, Case::Same, true), 30);
        assert_eq!(races(Tool::Pyperf, Case::More, true), 8);
        assert_eq!(races(Tool::Timeit, Case::Same, false), 4);
    }

    #[test]
    fn every_cell_has_a_name_of_its_own_and_a_trial_asks_every_tool() {
        let mut names: Vec<String> =
            Cell::all().into_iter().map(|cell| cell.wish(false).name()).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let mut tools: Vec<Tool> = Cell::all()
            .into_iter()
            .filter(|cell| cell.wanted(true) > 0)
            .map(|cell| cell.tool)
            .collect();
        tools.sort();
        tools.dedup();
        assert_eq!(tools.len(), 8);
    }
}
