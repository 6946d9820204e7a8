//! Assigns the contenders of a function benchmark to the processes that call them.

use deadheat_model::{Benchmark, ContenderId, Program, Workload};

use crate::executable::Executable;
use crate::function_failure::FunctionError;
use crate::worker::WorkerProgram;

#[derive(Clone, Debug, Default)]
pub(super) struct ProcessLayout {
    pub(super) name: String,
    /// The names of the benchmark's contenders, the baseline first.
    pub(super) contenders: Vec<String>,
    /// The processes of a replicate: either one that calls all contenders, or one per contender.
    pub(super) process_slots: Vec<ProcessSlot>,
    /// The number of calls per sample and thread.
    pub(super) iterations: u64,
    pub(super) threads: u32,
    /// True if the benchmark always uses the user's own links, because it is a rerun.
    pub(super) own_link: bool,
    /// True if processes take their first block without a warm-up.
    pub(super) without_warm_up: bool,
    /// True if every call of a function gets a new input.
    pub(super) input_per_call: bool,
    /// True if all blocks of a replicate share one input.
    pub(super) one_input: bool,
    /// True if the benchmark races in rounds with others and shares their processes.
    pub(super) in_rounds: bool,
    /// The contender that calls the baseline again in the same process, as a control.
    copy: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessSlot {
    pub(super) program: usize,
    /// The name by which the program knows the benchmark.
    pub(super) benchmark: String,
    /// The program's name for the only contender to prepare; `None` for all.
    pub(super) contender: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Programs {
    own: Option<WorkerProgram>,
    shown: bool,
    known: Vec<Known>,
}

/// A program and the state of its file when it was first used.
#[derive(Clone, Debug)]
struct Known {
    program: WorkerProgram,
    /// The number of the replicate's process that runs the program.
    process: usize,
    /// The identity of the file; `None` for the program that races its own functions, and if the
    /// file cannot be identified.
    file: Option<Executable>,
}

impl Programs {
    /// Creates an empty list. `own` runs the functions for which the plan names no program. If
    /// `shown` is true, the output of the other programs is shown.
    pub(super) fn new(own: Option<WorkerProgram>, shown: bool) -> Self {
        Self {
            own,
            shown,
            known: Vec::new(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &WorkerProgram> {
        self.known.iter().map(|known| &known.program)
    }

    /// Returns true if `program` is the one that races its own functions, not one that the plan
    /// names.
    pub(super) fn is_own(&self, program: &WorkerProgram) -> bool {
        self.own.as_ref() == Some(program)
    }

    pub(super) fn get(&self, index: usize) -> &WorkerProgram {
        &self.known[index].program
    }

    /// Returns the index of a program in `known`, and adds the program if it is new. `process` is
    /// the number of the replicate's process that runs it. The same file in two processes counts as
    /// two programs, because each process gets its own neutral links.
    fn index_of(&mut self, program: WorkerProgram, process: usize) -> usize {
        let same = |known: &Known| known.program == program && known.process == process;
        if let Some(known) = self.known.iter().position(same) {
            return known;
        }
        let file = if self.is_own(&program) {
            None
        } else {
            Executable::at(&program.executable).ok()
        };
        self.known.push(Known {
            program,
            process,
            file,
        });
        self.known.len() - 1
    }

    /// Returns an error if the file of the program was replaced, because the race would mix the
    /// replicates of two builds.
    pub(super) fn check(&self, index: usize) -> Result<(), FunctionError> {
        match &self.known[index].file {
            None => Ok(()),
            Some(file) => file.check().map_err(FunctionError::NotStarted),
        }
    }

    fn of_user(&self, program: &Program) -> WorkerProgram {
        WorkerProgram {
            executable: program.executable.clone(),
            arguments: program.arguments.iter().map(Into::into).collect(),
            directory: program.directory.clone(),
            shown: self.shown,
        }
    }
}

impl ProcessLayout {
    /// Returns the layout of a benchmark of the plan, or `None` if its contenders are not
    /// functions.
    pub(super) fn of(benchmark: &Benchmark, programs: &mut Programs) -> Option<Self> {
        let calls = benchmark
            .contenders
            .iter()
            .find_map(|c| c.workload.calls())?;
        let mut process_slots: Vec<(usize, ProcessSlot)> = Vec::new();
        for contender in &benchmark.contenders {
            let (process, process_slot) = match &contender.workload {
                Workload::Function(_) => {
                    let own = programs.own.clone()?;
                    let process_slot = ProcessSlot {
                        program: programs.index_of(own, 0),
                        benchmark: benchmark.name.clone(),
                        contender: None,
                    };
                    (0, process_slot)
                }
                Workload::Worker(calls) => {
                    let program = programs.of_user(&calls.program);
                    let process_slot = ProcessSlot {
                        program: programs.index_of(program, calls.process),
                        benchmark: calls.benchmark.clone(),
                        contender: Some(calls.contender.clone()),
                    };
                    (calls.process, process_slot)
                }
                _ => return None,
            };
            match process_slots
                .iter_mut()
                .find(|(other, _)| *other == process)
            {
                // Prepares all contenders, numbered as in the program.
                Some((_, shared)) => shared.contender = None,
                None => process_slots.push((process, process_slot)),
            }
        }
        let shared = process_slots.len() == 1;
        // Processes that take turns must have one contender each.
        if !shared && process_slots.len() != benchmark.contenders.len() {
            return None;
        }
        let copy = benchmark.control().map(ContenderId::index);
        Some(Self {
            copy: copy.filter(|_| shared),
            name: benchmark.name.clone(),
            contenders: benchmark
                .contenders
                .iter()
                .map(|c| c.name.clone())
                .collect(),
            process_slots: process_slots
                .into_iter()
                .map(|(_, process_slot)| process_slot)
                .collect(),
            iterations: calls.iterations,
            threads: calls.threads,
            own_link: benchmark.rerun.is_some(),
            without_warm_up: benchmark.without_warm_up,
            input_per_call: benchmark.input_per_call,
            one_input: benchmark.one_input,
            in_rounds: false,
        })
    }

    /// Returns true if each contender has a separate process.
    pub(super) fn takes_turns(&self) -> bool {
        self.process_slots.len() > 1
    }

    /// Returns the number of contenders that each process knows.
    pub(super) fn called(&self) -> usize {
        if self.takes_turns() {
            1
        } else {
            self.contenders.len() - usize::from(self.copy.is_some())
        }
    }

    pub(super) fn process_slot_of(&self, contender: usize) -> usize {
        if self.takes_turns() { contender } else { 0 }
    }

    pub(super) fn program_of(&self, contender: usize) -> usize {
        self.process_slots[self.process_slot_of(contender)].program
    }

    /// Returns the contender that a process knows as `number`.
    pub(super) fn contender_of(&self, process_slot: usize, number: usize) -> usize {
        if self.takes_turns() {
            process_slot
        } else {
            number
        }
    }

    /// Returns the contender of a process that calls only one; `None` if all contenders share a
    /// process.
    pub(super) fn only_contender(&self, process_slot: usize) -> Option<usize> {
        self.takes_turns().then_some(process_slot)
    }

    /// Returns the contenders of a process in the order of their warm-up for a block with these
    /// slots: the contender of the first slot comes last.
    pub(super) fn warm_up_order(&self, process_slot: usize, slots: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        for called in self.turns_of(process_slot, slots).into_iter().flatten() {
            if !order.contains(&called) {
                order.push(called);
            }
        }
        order.reverse();
        order
    }

    /// Translates an order of contenders into the numbers by which one process knows them; `None`
    /// for turns of other processes.
    pub(super) fn turns_of(&self, process_slot: usize, order: &[usize]) -> Vec<Option<usize>> {
        let turn = |contender: &usize| {
            if self.takes_turns() {
                (*contender == process_slot).then_some(0)
            } else if self.copy == Some(*contender) {
                Some(0)
            } else {
                Some(*contender)
            }
        };
        order.iter().map(turn).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_model::{Contender, FunctionCalls, WorkerCalls};

    fn benchmark(workloads: Vec<Workload>) -> Benchmark {
        let named = workloads.into_iter().zip(["old", "new", "third"]);
        Benchmark {
            name: "sum".to_owned(),
            contenders: named
                .map(|(workload, name)| Contender {
                    name: name.to_owned(),
                    workload,
                })
                .collect(),
            ..Benchmark::default()
        }
    }

    fn worker(executable: &str, process: usize) -> Workload {
        Workload::Worker(Box::new(WorkerCalls {
            program: Program {
                executable: executable.into(),
                ..Program::default()
            },
            process,
            benchmark: "sum".to_owned(),
            contender: "fold".to_owned(),
            calls: FunctionCalls::default(),
        }))
    }

    #[test]
    fn two_builds_take_turns_and_are_two_programs_even_when_they_are_one_file() {
        let mut programs = Programs::default();
        let pair = benchmark(vec![worker("/a", 0), worker("/a", 1)]);
        let layout = ProcessLayout::of(&pair, &mut programs).unwrap();
        assert!(layout.takes_turns());
        let process_slots: Vec<usize> = layout
            .process_slots
            .iter()
            .map(|process_slot| process_slot.program)
            .collect();
        assert_eq!(process_slots, [0, 1]);
        assert_eq!(layout.process_slots[1].contender.as_deref(), Some("fold"));
        let turns = layout.turns_of(1, &[1, 0, 0, 1]);
        assert_eq!(turns, [Some(0), None, None, Some(0)]);
        assert_eq!(layout.warm_up_order(1, &[1, 0, 0, 1]), [0]);
        assert_eq!(
            (layout.process_slot_of(1), layout.contender_of(1, 0)),
            (1, 1)
        );
    }

    #[test]
    fn contenders_of_one_process_are_all_got_ready() {
        let mut programs = Programs::default();
        let alone = benchmark(vec![worker("/a", 0), worker("/a", 0), worker("/a", 0)]);
        let layout = ProcessLayout::of(&alone, &mut programs).unwrap();
        assert_eq!(
            (layout.process_slots.len(), programs.iter().count()),
            (1, 1)
        );
        assert_eq!(layout.process_slots[0].contender, None);
        assert_eq!(layout.turns_of(0, &[2, 0]), [Some(2), Some(0)]);
        assert_eq!(
            (layout.process_slot_of(2), layout.contender_of(0, 2)),
            (0, 2)
        );
        assert_eq!(layout.warm_up_order(0, &[2, 0, 1]), [1, 0, 2]);
    }

    #[test]
    fn a_control_is_the_baseline_reruns_or_a_process_of_its_own() {
        let mut programs = Programs::default();
        let mut alone = benchmark(vec![worker("/a", 0), worker("/a", 0)]);
        alone.add_control();
        let layout = ProcessLayout::of(&alone, &mut programs).unwrap();
        assert_eq!(layout.turns_of(0, &[2, 0, 1]), [Some(0), Some(0), Some(1)]);
        assert_eq!((layout.called(), layout.contenders.len()), (2, 3));
        assert_eq!(layout.warm_up_order(0, &[2, 0, 1]), [1, 0]);
        let mut pair = benchmark(vec![worker("/b", 0), worker("/c", 1)]);
        pair.add_control();
        let layout = ProcessLayout::of(&pair, &mut programs).unwrap();
        assert_eq!(layout.turns_of(2, &[2, 0, 1]), [Some(0), None, None]);
        assert_eq!((layout.called(), layout.process_slots.len()), (1, 3));
        let programs: Vec<usize> = layout
            .process_slots
            .iter()
            .map(|process_slot| process_slot.program)
            .collect();
        assert_eq!(programs, [1, 2, 3], "linked anew for itself");
    }

    #[test]
    fn what_is_not_called_has_no_lineup() {
        let recording = benchmark(vec![Workload::Recording, Workload::Recording]);
        assert!(ProcessLayout::of(&recording, &mut Programs::default()).is_none());
        let crowd = benchmark(vec![worker("/a", 0), worker("/a", 0), worker("/b", 1)]);
        assert!(ProcessLayout::of(&crowd, &mut Programs::default()).is_none());
    }
}
