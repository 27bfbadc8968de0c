//! The seam between migsim and an application: everything that an application returns is checked here once, in every build, so
//! that the simulation can rely on it.
//!
//! A plan with a wrong length, a process that does not exist or a quantity that is NaN, negative or infinite, and a panic of the
//! application, become the application's [failure](Workload::failure), which names the application, the superstep and the
//! process. The plan is then empty, and the run ends at this superstep.

use std::sync::OnceLock;

use super::case_change::other_methods;
use migsim_base::error::{Error, Problem, catch_panic};
use migsim_base::units::{Bytes, ProcessId};
use migsim_workloads::{ApplicationSize, Plan, PrescribedMigration, VtLabels, Workload};

/// An application whose answers are checked.
#[derive(Debug)]
pub(super) struct CheckedWorkload {
    original_workload: Box<dyn Workload>,
    name: &'static str,
    /// The processes of the application when it was created.
    processes: usize,
    /// The first fault of the application in this experiment.
    fault: OnceLock<Problem>,
}

impl CheckedWorkload {
    /// Checks what the application `name` says of itself, and returns the application with checked answers.
    ///
    /// # Errors
    /// The application has no process, or a quantity that is NaN, negative or infinite, or it panics.
    pub(super) fn new(name: &'static str, workload: Box<dyn Workload>) -> Result<Self, Problem> {
        let found = catch_panic(|| find_fault_of_size(&*workload));
        match found.unwrap_or_else(|text| Some(format!("it panics: {text}"))) {
            Some(fault) => Err(problem(name, "at its start", &fault)),
            None => Ok(Self {
                name,
                processes: workload.processes(),
                original_workload: workload,
                fault: OnceLock::new(),
            }),
        }
    }

    /// Calls the application; its panic, and what `check` finds in the answer, become its failure.
    fn ask<'s, R>(
        &'s self,
        place: impl FnOnce() -> String,
        call: impl FnOnce(&'s dyn Workload) -> R,
        check: impl FnOnce(&R) -> Option<String>,
    ) -> Option<R> {
        let answer = catch_panic(|| call(&*self.original_workload));
        let fault = match &answer {
            Ok(answer) => check(answer),
            Err(text) => Some(format!("it panics: {text}")),
        };
        if let Some(fault) = &fault {
            let _ = self.fault.set(problem(self.name, &place(), fault));
        }
        answer.ok().filter(|_| fault.is_none())
    }
}

fn problem(name: &str, place: &str, fault: &str) -> Problem {
    Problem::new(format!(
        "the application `{name}` has a fault {place}: {fault}"
    ))
    .key("workload.app")
    .hint(format!("correct the code of the application `{name}`"))
}

fn in_superstep(superstep: usize) -> String {
    format!("in superstep {}", superstep + 1)
}

/// Whether a quantity of an application can be simulated. Units turn NaN and infinity into the largest number in builds without
/// debug assertions.
fn is_amount(value: f64) -> bool {
    (0.0..f64::MAX).contains(&value)
}

/// Returns what is wrong with the size and the speed that an application states before it is run.
fn find_fault_of_size(workload: &dyn Workload) -> Option<String> {
    let (processes, cycles) = (workload.processes(), workload.cycles_per_instruction());
    if processes == 0 || u32::try_from(processes).is_err() {
        return Some(format!("it has {processes} processes"));
    }
    if !(cycles > 0.0 && is_amount(cycles)) {
        return Some(format!("it needs {cycles} cycles per instruction"));
    }
    let size = workload.extent();
    let is_right = is_amount(size.max_messages) && is_amount(size.data_bytes);
    (!is_right).then(|| format!("its size is {size:?}"))
}

/// Returns what is wrong with the plan of a superstep of `processes` processes. It is called in each superstep: what is right is
/// found in one pass.
fn find_fault_of_plan(plan: &Plan, processes: usize) -> Option<String> {
    if plan.work.len() != processes {
        let count = plan.work.len();
        return Some(format!(
            "the plan has the work of {count} processes instead of {processes}"
        ));
    }
    let works = plan.work.iter().all(|work| is_amount(work.get()));
    let is_right = |from: ProcessId, to: ProcessId, size: Bytes| {
        (from.index() < processes) & (to.index() < processes) & is_amount(size.get())
    };
    let mut messages = plan.messages.iter();
    if works && messages.all(|message| is_right(message.from, message.to, message.size)) {
        return None;
    }
    let work = plan.work.iter().position(|work| !is_amount(work.get()));
    if let Some(process) = work {
        let work = plan.work[process].get();
        return Some(format!(
            "the work of process {} is {work} instr",
            process + 1
        ));
    }
    let mut messages = plan.messages.iter();
    let wrong = messages.find(|message| !is_right(message.from, message.to, message.size))?;
    let (from, to) = (u64::from(wrong.from.0) + 1, u64::from(wrong.to.0) + 1);
    let size = wrong.size.get();
    Some(format!(
        "process {from} sends {size} B to process {to}, of {processes} processes"
    ))
}

impl Workload for CheckedWorkload {
    other_methods!();

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        let fill = |workload: &dyn Workload| {
            workload.fill(superstep, plan);
            find_fault_of_plan(plan, self.processes)
        };
        if self
            .ask(|| in_superstep(superstep), fill, Clone::clone)
            .is_none()
        {
            plan.clear(self.processes);
        }
    }

    fn repeats(&self, superstep: usize) -> bool {
        let repeats = |workload: &dyn Workload| workload.repeats(superstep);
        superstep > 0
            && self
                .ask(|| in_superstep(superstep), repeats, |_| None)
                .unwrap_or(false)
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        let check = |bytes: &Bytes| {
            (!is_amount(bytes.get())).then(|| format!("its memory is {} B", bytes.get()))
        };
        let place = || format!("in process {}", process.index() + 1);
        let memory = self.ask(place, |workload| workload.memory(process), check);
        memory.unwrap_or_default()
    }

    fn prescribed_moves(&self, superstep: usize) -> &[PrescribedMigration] {
        let is_wrong = |one: &&PrescribedMigration| {
            one.process.index() >= self.processes
                || !is_amount(one.transferred_bytes.get())
                || !is_amount(one.wait_after_transfer.get())
        };
        let moves = self.ask(
            || in_superstep(superstep),
            |workload| workload.prescribed_moves(superstep),
            |moves| {
                let wrong = moves.iter().find(is_wrong);
                wrong.map(|wrong| format!("it prescribes {wrong:?}"))
            },
        );
        moves.unwrap_or_default()
    }

    fn failure(&self) -> Option<Error> {
        let fault = self.fault.get().cloned().map(Error::SimulationFailure);
        fault.or_else(|| self.original_workload.failure())
    }

    fn uses_seed(&self) -> bool {
        self.original_workload.uses_seed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::Instructions;

    #[test]
    fn a_plan_is_refused_with_the_process_that_is_wrong() {
        let fault = |change: fn(&mut Plan)| {
            let mut plan = Plan::default();
            plan.clear(2);
            plan.send(0, 1, Bytes::of(8.0));
            change(&mut plan);
            find_fault_of_plan(&plan, 2).unwrap_or_default()
        };
        assert_eq!(fault(|_| {}), "");
        // What the units let pass, which is all in a build without debug assertions.
        let infinite = fault(|plan| plan.work[1] = Instructions::of(f64::INFINITY));
        assert!(
            infinite.starts_with("the work of process 2 is"),
            "{infinite}"
        );
        let negative = fault(|plan| plan.messages[0].size = Bytes::of(8.0) * -1.0);
        assert_eq!(
            negative,
            "process 1 sends -8 B to process 2, of 2 processes"
        );
        let absent = fault(|plan| plan.send(1, 2, Bytes::of(8.0)));
        assert_eq!(absent, "process 2 sends 8 B to process 3, of 2 processes");
        let short = fault(|plan| plan.work.truncate(1));
        assert_eq!(short, "the plan has the work of 1 processes instead of 2");
    }
}
