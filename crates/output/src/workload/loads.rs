//! Computes the total work and messages of each superstep of an application.

use migsim_experiment::Experiment;
use migsim_workloads::Plan;

/// Totals of the work and messages of all processes in one superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuperstepLoad {
    /// Sum of the work of all processes in the superstep \[instr\].
    pub total_work: f64,
    /// Imbalance of the work: the largest work of a process divided by the mean work of all processes, minus 1; 0 if no process
    /// has work.
    pub imbalance: f64,
    /// Number of messages that are sent in the superstep.
    pub message_count: usize,
    /// Sum of the sizes of all messages in the superstep \[B\].
    pub message_volume: f64,
    /// The h-relation of the superstep: the largest number of bytes that any process sends or receives \[B\].
    pub h_relation: f64,
}

/// Computes the total work and messages of each superstep of the application of an experiment.
pub fn superstep_loads(experiment: &Experiment) -> Vec<SuperstepLoad> {
    let workload = &experiment.workload;
    let processes = workload.processes();
    let mut plan = Plan::default();
    let mut sent = vec![0.0; processes];
    let mut received = vec![0.0; processes];
    let mut loads: Vec<SuperstepLoad> = Vec::with_capacity(workload.supersteps());
    for superstep in 0..workload.supersteps() {
        let last = loads.last().copied();
        if let Some(last) = last.filter(|_| workload.repeats(superstep)) {
            loads.push(last);
            continue;
        }
        plan.clear(processes);
        workload.fill(superstep, &mut plan);
        loads.push(superstep_load(&plan, &mut sent, &mut received));
    }
    loads
}

/// Computes the total work and messages of the superstep `plan`. `sent` and `received` are buffers with an entry per process.
fn superstep_load(plan: &Plan, sent: &mut [f64], received: &mut [f64]) -> SuperstepLoad {
    sent.fill(0.0);
    received.fill(0.0);
    let mut volume = 0.0;
    for message in &plan.messages {
        let size = message.size.get();
        sent[message.from.index()] += size;
        received[message.to.index()] += size;
        volume += size;
    }
    let works = plan.work.iter().map(|work| work.get());
    let (sum, largest) = works.fold((0.0, 0.0_f64), |(sum, most), work| {
        (sum + work, most.max(work))
    });
    let mean = sum / plan.work.len() as f64;
    SuperstepLoad {
        total_work: sum,
        imbalance: if mean > 0.0 {
            (largest / mean - 1.0).max(0.0)
        } else {
            0.0
        },
        message_count: plan.messages.len(),
        message_volume: volume,
        h_relation: sent.iter().chain(&*received).copied().fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::{Bytes, Instructions, ProcessId};
    use migsim_workloads::Message;

    #[test]
    fn a_plan_is_summed_up() {
        let message = |from, to, size| Message {
            from: ProcessId(from),
            to: ProcessId(to),
            size: Bytes::of(size),
        };
        let plan = Plan {
            work: [6.0, 2.0, 1.0].map(Instructions::of).to_vec(),
            messages: vec![message(0, 1, 10.0), message(0, 2, 5.0), message(1, 2, 12.0)],
        };
        // Process p1 sends 15, p3 receives 17; the mean work is 3.
        let expected = SuperstepLoad {
            total_work: 9.0,
            imbalance: 1.0,
            message_count: 3,
            message_volume: 27.0,
            h_relation: 17.0,
        };
        assert_eq!(
            superstep_load(&plan, &mut [0.0; 3], &mut [0.0; 3]),
            expected
        );
        let idle = Plan {
            work: vec![Instructions::default(); 3],
            messages: Vec::new(),
        };
        assert_eq!(
            superstep_load(&idle, &mut [9.0; 3], &mut [9.0; 3]),
            SuperstepLoad::default()
        );
    }
}
