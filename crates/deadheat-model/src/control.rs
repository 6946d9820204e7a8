//! The control of a benchmark: the baseline raced against a second copy of itself, in the same
//! blocks.

use crate::estimate::Estimate;
use crate::plan::{Benchmark, Contender, PlanError};
use crate::schedule::ContenderId;
use crate::workload::Workload;

/// The outcome of the baseline against its second copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The change from the baseline to its copy, which is none in truth. Its interval is as sure as
    /// that of a candidate that is alone.
    pub estimate: Estimate,
    /// True if the two are told apart, paid for by all controls of the run.
    pub separated: bool,
}

impl Benchmark {
    /// The second copy of the baseline, if there is one.
    pub fn control(&self) -> Option<ContenderId> {
        let last = self.contenders.len().checked_sub(1)?;
        self.control.then_some(ContenderId(last as u8))
    }

    /// Contenders that are raced for their own sake: the baseline and the candidates.
    pub fn rivals(&self) -> usize {
        let copies = usize::from(self.control);
        self.contenders.len().saturating_sub(copies)
    }

    /// Adds a second copy of the baseline as last contender, unless there is one already. Where
    /// contenders have processes of their own, so has the copy.
    pub fn add_control(&mut self) {
        let Some(baseline) = self.contenders.first().filter(|_| !self.control) else {
            return;
        };
        let mut workload = baseline.workload.clone();
        let others = self.processes().unwrap_or(0);
        if let (Workload::Worker(calls), 1..) = (&mut workload, others) {
            calls.process = others + 1;
        }
        let name = self.name_of_control(&baseline.name);
        self.contenders.push(Contender { name, workload });
        self.control = true;
    }

    /// The highest number of a process that a contender is called in.
    fn processes(&self) -> Option<usize> {
        let process = |contender: &Contender| match &contender.workload {
            Workload::Worker(calls) => Some(calls.process),
            _ => None,
        };
        self.contenders.iter().filter_map(process).max()
    }

    /// `NAME (control)`, or with a number where somebody is called that.
    fn name_of_control(&self, baseline: &str) -> String {
        let taken = |name: &String| self.contenders.iter().any(|other| other.name == *name);
        let numbered = |number: usize| match number {
            1 => format!("{baseline} (control)"),
            number => format!("{baseline} (control {number})"),
        };
        let mut names = (1..).map(numbered).filter(|name| !taken(name));
        names.next().unwrap_or_default()
    }

    /// Checks that the last contender can be a copy of the first.
    pub(crate) fn validate_control(&self) -> Result<(), PlanError> {
        let problem = match (&self.contenders[..], self.control) {
            (_, false) => return Ok(()),
            ([baseline, .., copy], true) if alike(&baseline.workload, &copy.workload) => {
                return Ok(());
            }
            ([_, .., _], true) => "its last contender does something else than its first",
            (_, true) => "it has one contender only",
        };
        Err(PlanError::Control {
            benchmark: self.name.clone(),
            problem,
        })
    }
}

/// Returns true if two contenders do the same, in whichever process.
fn alike(one: &Workload, other: &Workload) -> bool {
    match (one, other) {
        (Workload::Worker(one), Workload::Worker(other)) => {
            let mut moved = other.clone();
            moved.process = one.process;
            *one == moved
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{FunctionCalls, WorkerCalls};

    fn worker(name: &str, process: usize) -> Contender {
        Contender {
            name: name.to_owned(),
            workload: Workload::Worker(Box::new(WorkerCalls {
                process,
                benchmark: "sum".to_owned(),
                ..WorkerCalls::default()
            })),
        }
    }

    fn benchmark(contenders: Vec<Contender>) -> Benchmark {
        Benchmark {
            name: "sum".to_owned(),
            contenders,
            ..Benchmark::default()
        }
    }

    fn processes(benchmark: &Benchmark) -> Vec<usize> {
        let process = |contender: &Contender| match &contender.workload {
            Workload::Worker(calls) => calls.process,
            other => panic!("{other:?}"),
        };
        benchmark.contenders.iter().map(process).collect()
    }

    #[test]
    fn the_copy_of_a_build_has_a_process_of_its_own_and_is_no_candidate() {
        let mut pair = benchmark(vec![worker("old", 0), worker("new", 1)]);
        assert_eq!((pair.control(), pair.rivals()), (None, 2));
        pair.add_control();
        assert_eq!(processes(&pair), [0, 1, 2]);
        assert_eq!(pair.contenders[2].name, "old (control)");
        assert_eq!(pair.control(), Some(ContenderId(2)));
        assert_eq!(pair.candidates().collect::<Vec<_>>(), [ContenderId(1)]);
        assert_eq!(
            (pair.rivals(), pair.processes_per_replicate()),
            (2, Some(3))
        );
        assert_eq!(pair.validate_control(), Ok(()));
        let once = pair.clone();
        pair.add_control();
        assert_eq!(pair, once, "one is enough");
    }

    #[test]
    fn where_all_share_a_process_the_copy_does_so_too() {
        let mut alone = benchmark(vec![worker("loop", 0), worker("fold", 0)]);
        alone.add_control();
        assert_eq!(processes(&alone), [0, 0, 0]);
        let function = Contender {
            name: "loop".to_owned(),
            workload: Workload::Function(FunctionCalls::default()),
        };
        let mut own = benchmark(vec![function]);
        own.add_control();
        assert_eq!(own.contenders[1].workload, own.contenders[0].workload);
        assert_eq!((own.candidates().count(), own.slots_per_block()), (0, 4));
    }

    #[test]
    fn no_two_contenders_have_the_same_name() {
        let mut taken = benchmark(vec![worker("a", 0), worker("a (control)", 1)]);
        taken.add_control();
        assert_eq!(taken.contenders[2].name, "a (control 2)");
        let mut nobody = benchmark(Vec::new());
        nobody.add_control();
        assert_eq!(nobody, benchmark(Vec::new()));
    }

    #[test]
    fn what_is_no_copy_of_the_baseline_is_no_control() {
        let mut other = worker("b", 2);
        if let Workload::Worker(calls) = &mut other.workload {
            calls.contender = "another".to_owned();
        }
        for (contenders, problem) in [
            (vec![worker("a", 0), other], "something else"),
            (vec![worker("a", 0)], "one contender only"),
        ] {
            let wrong = Benchmark {
                control: true,
                ..benchmark(contenders)
            };
            let error = wrong.validate_control().unwrap_err().to_string();
            assert!(
                error.contains(problem) && error.contains("'sum'"),
                "{error}"
            );
        }
    }
}
