//! A recording of a program, converted from a trace to lists: the work and the messages of each superstep.

use std::collections::BTreeMap;

use crate::trace::Trace;
use crate::{Plan, Workload};
use migsim_base::units::ProcessId;

/// A recording of a program that ran with a certain number of processes.
#[derive(Clone, Debug)]
pub(super) struct RecordedRun {
    /// Name of the file of the recording.
    pub(super) file_name: String,
    /// Number of processes of the recorded run.
    pub(super) process_count: usize,
    /// The recorded supersteps, in order.
    pub(super) supersteps: Vec<RecordedSuperstep>,
    /// Memory of each process \[B\]; `None` if the recording does not state it.
    pub(super) memory_of_process: Vec<Option<f64>>,
}

/// A recorded superstep: the work and the messages of its processes.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedSuperstep {
    /// Work of each process \[instructions\].
    pub(super) work_of_process: Vec<f64>,
    /// Sizes of the messages \[B\] for each pair of a sender and a receiver.
    pub(super) message_sizes_by_pair: BTreeMap<(usize, usize), Vec<f64>>,
}

impl RecordedRun {
    /// Converts a trace into lists of work and messages per superstep; `name` is the name of its file.
    pub(super) fn from_trace(name: &str, trace: &Trace) -> Self {
        let processes = trace.processes();
        let mut plan = Plan::default();
        let mut steps = Vec::new();
        for superstep in 0..trace.supersteps() {
            plan.clear(processes);
            trace.fill(superstep, &mut plan);
            let mut step = RecordedSuperstep {
                work_of_process: plan.work.iter().map(|work| work.get()).collect(),
                message_sizes_by_pair: BTreeMap::new(),
            };
            for message in &plan.messages {
                let ends = (message.from.index(), message.to.index());
                step.message_sizes_by_pair
                    .entry(ends)
                    .or_default()
                    .push(message.size.get());
            }
            steps.push(step);
        }
        let memory = (0..processes).map(ProcessId::from_index);
        let memory = memory.map(|process| {
            trace
                .is_memory_known(process)
                .then(|| trace.memory(process).get())
        });
        Self {
            file_name: name.to_owned(),
            process_count: processes,
            supersteps: steps,
            memory_of_process: memory.collect(),
        }
    }

    /// Returns the work of each process, summed over a range of supersteps \[instructions\].
    pub(super) fn total_work_by_process(&self, supersteps: std::ops::Range<usize>) -> Vec<f64> {
        let mut work = vec![0.0; self.process_count];
        for step in &self.supersteps[supersteps] {
            for (sum, one) in work.iter_mut().zip(&step.work_of_process) {
                *sum += one;
            }
        }
        work
    }
}
