//! A benchmark and its contenders, as the rows of a recording name them.

use std::path::Path;

use deadheat_model::{Benchmark, Contender, ContenderId, Plan, Role, Workload};

use crate::error::FormatError;

/// A benchmark as far as its rows tell.
#[derive(Debug)]
pub(super) struct RecordedBenchmark {
    pub(super) name: String,
    contenders: Vec<RecordedContender>,
}

#[derive(Debug)]
struct RecordedContender {
    name: String,
    role: Option<Role>,
}

impl RecordedBenchmark {
    pub(super) fn new(name: &str) -> Self {
        RecordedBenchmark {
            name: name.to_owned(),
            contenders: Vec::new(),
        }
    }

    /// The contender of that name, new or known, by order of appearance.
    /// `Err` names the column that does not fit and says why.
    pub(super) fn contender(
        &mut self,
        name: &str,
        role: Option<Role>,
    ) -> Result<usize, (&'static str, String)> {
        let known = self.contenders.iter().position(|c| c.name == name);
        let max = Plan::MAX_CONTENDERS;
        if known.is_none() && self.contenders.len() == max {
            let problem = format!("'{name}' is one more than the {max} that can race");
            return Err(("contender", problem));
        }
        let index = known.unwrap_or_else(|| {
            self.contenders.push(RecordedContender {
                name: name.to_owned(),
                role,
            });
            self.contenders.len() - 1
        });
        let contender = &mut self.contenders[index];
        match (contender.role, role) {
            (Some(before), Some(now)) if before != now => {
                let (now, before) = (now.name(), before.name());
                let problem = format!("'{name}' is {now} here and {before} in an earlier row");
                Err(("role", problem))
            }
            _ => {
                contender.role = contender.role.or(role);
                Ok(index)
            }
        }
    }

    /// The contender all others are compared against, by order of appearance.
    fn baseline(&self, file: &Path) -> Result<usize, FormatError> {
        if self.contenders.iter().all(|c| c.role.is_none()) {
            return Ok(0);
        }
        let is_baseline = |c: &RecordedContender| c.role == Some(Role::Baseline);
        let claims: Vec<usize> = (0..self.contenders.len())
            .filter(|index| is_baseline(&self.contenders[*index]))
            .collect();
        let found = match claims[..] {
            [one] => return Ok(one),
            [] => "no row has the role 'baseline'".to_owned(),
            [one, other, ..] => format!(
                "both '{}' and '{}' have the role 'baseline'",
                self.contenders[one].name, self.contenders[other].name
            ),
        };
        Err(FormatError::Baselines {
            file: file.to_owned(),
            benchmark: self.name.clone(),
            found,
        })
    }

    /// Where each contender sits in the plan, by order of appearance: the
    /// baseline first, the others after it as they came.
    pub(super) fn seats(&self, file: &Path) -> Result<Vec<ContenderId>, FormatError> {
        let baseline = self.baseline(file)?;
        let seat = |index: usize| match index {
            index if index == baseline => ContenderId::BASELINE,
            index if index < baseline => ContenderId(index as u8 + 1),
            index => ContenderId(index as u8),
        };
        Ok((0..self.contenders.len()).map(seat).collect())
    }

    /// The name of a contender that is not in `present`, a set of bits by
    /// order of appearance.
    pub(super) fn missing_from(&self, present: u64) -> Option<&str> {
        let absent = |index: &usize| present & 1 << index == 0;
        let index = (0..self.contenders.len()).find(absent)?;
        Some(&self.contenders[index].name)
    }

    /// The benchmark of the plan, its contenders in their seats.
    pub(super) fn planned(&self, seats: &[ContenderId]) -> Benchmark {
        let mut seated: Vec<_> = seats.iter().zip(&self.contenders).collect();
        seated.sort_by_key(|(seat, _)| **seat);
        let contender = |(_, recorded): (&ContenderId, &RecordedContender)| Contender {
            name: recorded.name.clone(),
            workload: Workload::Recording,
        };
        Benchmark {
            name: self.name.clone(),
            parameters: Vec::new(),
            contenders: seated.into_iter().map(contender).collect(),
            ..Benchmark::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_sits_first_and_the_others_keep_their_order() {
        let mut benchmark = RecordedBenchmark::new("b");
        for (name, role) in [
            ("x", Role::Candidate),
            ("y", Role::Baseline),
            ("z", Role::Candidate),
        ] {
            benchmark.contender(name, Some(role)).unwrap();
        }
        let seats = benchmark.seats(Path::new("a.csv")).unwrap();
        assert_eq!(seats, [1, 0, 2].map(ContenderId));
        let planned = benchmark.planned(&seats);
        let names: Vec<_> = planned.contenders.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["y", "x", "z"]);
    }

    #[test]
    fn a_contender_that_is_missing_is_named() {
        let mut benchmark = RecordedBenchmark::new("b");
        for name in ["x", "y"] {
            benchmark.contender(name, None).unwrap();
        }
        assert_eq!(benchmark.missing_from(0b01), Some("y"));
        assert_eq!(benchmark.missing_from(0b11), None);
    }
}
