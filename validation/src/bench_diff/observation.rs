//! One comparison by one tool, as it is kept.

use serde_json::{Value, json};

use crate::comparison::{Comparison, short};

#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    pub row: String,
    pub tool: String,
    pub repeat: usize,
    pub seed: u64,
    /// Seconds from the start of the process to its end.
    pub wall: f64,
    pub found: Comparison,
}

impl Observation {
    /// `None` of a line that is something else.
    pub fn read(value: &Value) -> Option<Self> {
        Some(Self {
            row: value["row"].as_str()?.to_owned(),
            tool: value["tool"].as_str()?.to_owned(),
            repeat: value["repeat"].as_u64()? as usize,
            seed: value["seed"].as_u64()?,
            wall: value["wall"].as_f64()?,
            found: Comparison::read(value)?,
        })
    }

    pub fn write(&self) -> Value {
        let mut value = self.found.write();
        value["row"] = json!(self.row);
        value["tool"] = json!(self.tool);
        value["repeat"] = json!(self.repeat);
        value["seed"] = json!(self.seed);
        value["wall"] = json!(short(self.wall));
        value
    }

    pub fn place(&self) -> (String, usize, String) {
        (self.row.clone(), self.repeat, self.tool.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Times;

    #[test]
    fn a_line_is_read_back_and_other_lines_are_passed_over() {
        let times = Times { median: 1e5, mean: 1.5e5 };
        let observation = Observation {
            row: "100 µs +1% idle".into(),
            tool: "traditional".into(),
            repeat: 7,
            seed: 123_456,
            wall: 0.25,
            found: Comparison {
                slower: times,
                quicker: times,
                estimate: None,
                said: None,
                p: None,
                replicates: None,
            },
        };
        let written = observation.write();
        assert_eq!(Observation::read(&written).as_ref(), Some(&observation));
        assert!(written.to_string().len() < 200, "{written}");
        let other = json!({"calibrated": "100 µs", "rounds": 1900});
        assert_eq!(Observation::read(&other), None);
    }
}
