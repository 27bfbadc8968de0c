//! Stores the work and messages of supersteps that are known before the run, in flat lists. Consecutive equal supersteps are
//! stored once.

use std::ops::Range;

use super::{ApplicationSize, Message, Plan};
use migsim_base::units::{Bytes, Instructions, ProcessId};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoredSupersteps {
    work_of_processes: Vec<(ProcessId, Instructions)>,
    messages: Vec<Message>,
    superstep_ranges: Vec<SuperstepRanges>,
    /// Changes of the memory of processes, ordered by superstep.
    memory_changes: Vec<(usize, ProcessId, Bytes)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SuperstepRanges {
    work_range: Range<usize>,
    message_range: Range<usize>,
}

impl StoredSupersteps {
    /// Returns the number of supersteps.
    pub(super) fn len(&self) -> usize {
        self.superstep_ranges.len()
    }

    /// Returns whether no superstep has been added yet.
    pub(super) fn is_empty(&self) -> bool {
        self.superstep_ranges.is_empty()
    }

    /// Reserves memory for `supersteps` more supersteps, without their work and messages.
    pub(super) fn reserve_supersteps(&mut self, supersteps: usize) {
        self.superstep_ranges.reserve_exact(supersteps);
    }

    /// Begins the next superstep, which is empty at first; work and messages are then added to it.
    pub(super) fn open_superstep(&mut self) {
        let behind = |count: usize| count..count;
        self.superstep_ranges.push(SuperstepRanges {
            work_range: behind(self.work_of_processes.len()),
            message_range: behind(self.messages.len()),
        });
    }

    pub(super) fn add_work(&mut self, process: ProcessId, work: Instructions) {
        self.work_of_processes.push((process, work));
        if let Some(last) = self.superstep_ranges.last_mut() {
            last.work_range.end = self.work_of_processes.len();
        }
    }

    pub(super) fn add_message(&mut self, message: Message) {
        self.messages.push(message);
        if let Some(last) = self.superstep_ranges.last_mut() {
            last.message_range.end = self.messages.len();
        }
    }

    /// Closes the superstep that was opened last. If its work equals the work of the superstep before, the work is stored only
    /// once; the same holds for its messages.
    pub(super) fn close_superstep(&mut self) {
        if let [.., before, last] = &mut *self.superstep_ranges {
            share_range_if_equal(
                &mut self.work_of_processes,
                &before.work_range,
                &mut last.work_range,
            );
            share_range_if_equal(
                &mut self.messages,
                &before.message_range,
                &mut last.message_range,
            );
        }
    }

    /// Sets the memory of the processes from statements (superstep, process, memory), each of which holds until the next
    /// statement about the process; the first one also holds before. `memory` gets the largest memory of each process.
    pub(super) fn set_memory(
        &mut self,
        mut statements: Vec<(usize, ProcessId, Bytes)>,
        memory: &mut [Option<Bytes>],
    ) {
        statements.sort_by_key(|statement| statement.0);
        for &(_, process, size) in &statements {
            let largest = &mut memory[process.index()];
            if Some(size) > *largest {
                *largest = Some(size);
            }
        }
        let mut present = vec![None; memory.len()];
        for (superstep, process, size) in statements {
            let before = present[process.index()].replace(size);
            if before.or(memory[process.index()]) != Some(size) {
                let from = before.map_or(0, |_| superstep);
                self.memory_changes.push((from, process, size));
            }
        }
        self.memory_changes.sort_by_key(|change| change.0);
    }

    pub(super) fn memory_changes(&self, superstep: usize) -> Vec<(ProcessId, Bytes)> {
        let all = &self.memory_changes;
        let first = all.partition_point(|change| change.0 < superstep);
        all[first..]
            .iter()
            .take_while(|change| change.0 == superstep)
            .map(|&(_, process, size)| (process, size))
            .collect()
    }

    pub(super) fn repeat_last_superstep(&mut self) {
        let last = self.superstep_ranges.last().cloned();
        self.superstep_ranges.extend(last);
    }

    /// Writes the work and the messages of a superstep into `plan` (the plan of one superstep), which must have been cleared.
    pub(super) fn fill_plan(&self, superstep: usize, plan: &mut Plan) {
        let step = &self.superstep_ranges[superstep];
        for (process, work) in &self.work_of_processes[step.work_range.clone()] {
            plan.work[process.index()] = *work;
        }
        plan.messages
            .extend_from_slice(&self.messages[step.message_range.clone()]);
    }

    pub(super) fn repeats_previous(&self, superstep: usize) -> bool {
        let before = superstep
            .checked_sub(1)
            .map(|before| &self.superstep_ranges[before]);
        before == Some(&self.superstep_ranges[superstep])
    }

    /// Returns an upper estimate of the size of the stored supersteps: the maximum number of messages in a superstep, and twice
    /// the size of all work and messages \[B\]. The factor 2 allows for unused capacity of the lists.
    pub(super) fn extent(&self) -> ApplicationSize {
        let messages = self
            .superstep_ranges
            .iter()
            .map(|step| step.message_range.len())
            .max();
        let records = (self.work_of_processes.len() * size_of::<(ProcessId, Instructions)>())
            as f64
            + (self.messages.len() * size_of::<Message>()) as f64
            + (self.memory_changes.len() * size_of::<(usize, ProcessId, Bytes)>()) as f64;
        ApplicationSize {
            max_messages: messages.unwrap_or(0) as f64,
            data_bytes: 2.0 * records,
        }
    }
}

/// Defines the methods of a [`Workload`](super::Workload) that stores its supersteps in the field `steps` ([`StoredSupersteps`])
/// and the memory of each process in the field `memory`.
macro_rules! recorded_methods {
    () => {
        fn processes(&self) -> usize {
            self.memory.len()
        }

        fn supersteps(&self) -> usize {
            self.steps.len()
        }

        fn fill(&self, superstep: usize, plan: &mut $crate::Plan) {
            self.steps.fill_plan(superstep, plan);
        }

        fn repeats(&self, superstep: usize) -> bool {
            self.steps.repeats_previous(superstep)
        }

        fn extent(&self) -> $crate::ApplicationSize {
            self.steps.extent()
        }

        fn memory(&self, process: migsim_base::units::ProcessId) -> migsim_base::units::Bytes {
            self.memory[process.index()].unwrap_or_default()
        }

        fn memory_changes(
            &self,
            superstep: usize,
        ) -> Vec<(migsim_base::units::ProcessId, migsim_base::units::Bytes)> {
            self.steps.memory_changes(superstep)
        }

        fn is_memory_known(&self, process: migsim_base::units::ProcessId) -> bool {
            self.memory[process.index()].is_some()
        }
    };
}
pub(super) use recorded_methods;

/// Removes the entries of the range `last` from the end of `records` if they equal the entries of the range `before`, and then
/// sets `last` to the range `before`.
fn share_range_if_equal<T: PartialEq>(
    records: &mut Vec<T>,
    before: &Range<usize>,
    last: &mut Range<usize>,
) {
    if records[before.clone()] == records[last.clone()] {
        records.truncate(last.start);
        *last = before.clone();
    }
}
