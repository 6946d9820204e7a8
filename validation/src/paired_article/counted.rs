//! Observations, counted.

use crate::evidence::Right;
use crate::observed::Call;
use crate::plan::{Subject, Tool, keys};
use deadheat_validation::prelude::*;

#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// `None` where it gave no answer.
    pub calls: Vec<Option<Call>>,
    /// In percent, of those that gave one.
    pub changes: Vec<f64>,
    /// Seconds of every observation.
    pub seconds: Vec<f64>,
    pub problems: Vec<String>,
}

impl Counted {
    pub fn of(kept: &Kept, tool: Tool, subject: Subject, condition: Condition) -> Self {
        let keys = keys((tool, subject, condition));
        Self::from_rows(kept.matching(&keys))
    }

    fn from_rows<'r>(rows: impl Iterator<Item = &'r Value>) -> Self {
        let mut counted = Self::default();
        for row in rows {
            counted.calls.push(call(&row["call"]));
            counted.changes.extend(row["change"].as_f64());
            counted.seconds.extend(row["seconds"].as_f64());
            let problem = row["problem"].as_str().map(str::to_owned);
            counted.problems.extend(problem);
        }
        counted
    }

    pub fn len(&self) -> usize {
        self.calls.len()
    }

    pub fn called(&self) -> usize {
        let told_apart = |call: &&Option<Call>| matches!(call, Some(Call::Faster | Call::Slower));
        self.calls.iter().filter(told_apart).count()
    }

    /// The number of times the answer was the right one; none is never right.
    pub fn right(&self, right: Right) -> usize {
        let holds = |call: &&Option<Call>| call.is_some_and(|call| right.holds(call));
        self.calls.iter().filter(holds).count()
    }

    pub fn wrong(&self, right: Right) -> usize {
        let claims = self.calls.iter().flatten().filter(|call| **call != Call::None);
        claims.filter(|call| !right.holds(**call)).count()
    }
}

pub fn call(value: &Value) -> Option<Call> {
    match value.as_str()? {
        "faster" => Some(Call::Faster),
        "slower" => Some(Call::Slower),
        _ => Some(Call::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn counted(calls: &[Value]) -> Counted {
        let row = |call: &Value| json!({"call": call, "change": 1.5, "seconds": 0.2});
        let rows: Vec<Value> = calls.iter().map(row).collect();
        Counted::from_rows(rows.iter())
    }

    #[test]
    fn no_answer_is_neither_right_nor_a_call() {
        let all = counted(&[json!("faster"), json!("slower"), json!("none"), Value::Null]);
        assert_eq!((all.len(), all.called()), (4, 2));
        assert_eq!((all.right(Right::Faster), all.wrong(Right::Faster)), (1, 1));
        assert_eq!((all.right(Right::NoCall), all.wrong(Right::NoCall)), (1, 2));
        assert_eq!((all.right(Right::EitherWay), all.wrong(Right::EitherWay)), (2, 0));
        assert_eq!(all.changes.len(), 4);
    }

    #[test]
    fn problems_are_told() {
        let rows = [json!({"call": null, "seconds": 180.0, "problem": "no answer"})];
        let all = Counted::from_rows(rows.iter());
        assert_eq!(all.problems, ["no answer"]);
        assert!(all.changes.is_empty());
    }
}
