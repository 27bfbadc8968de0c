//! The tree barrier: messages about arrivals are sent up a binomial tree of processes to the root, then release messages are sent
//! down the same tree.

use super::context::Context;
use crate::event::BarrierMessage;
use migsim_base::error::Result;

#[derive(Clone, Debug)]
pub(super) struct TreeBarrier {
    /// For each process, how many of itself and its children have arrived with their subtrees.
    arrived: Vec<usize>,
}

pub(super) fn parent(process: u32) -> u32 {
    process & (process - 1)
}

fn children(process: u32, processes: u32) -> impl Iterator<Item = u32> {
    let bits = if process == 0 {
        u32::BITS
    } else {
        process.trailing_zeros()
    };
    (0..bits)
        .map(move |bit| process | (1 << bit))
        .take_while(move |&child| child < processes)
}

impl TreeBarrier {
    pub(super) fn new(processes: u32) -> Self {
        Self {
            arrived: vec![0; processes as usize],
        }
    }

    pub(super) fn record_arrival(&mut self, process: u32, context: &mut Context<'_, '_>) -> Result {
        let arrived = &mut self.arrived[process as usize];
        *arrived += 1;
        if *arrived <= children(process, context.processes).count() {
            return Ok(());
        }
        *arrived = 0;
        if process != 0 {
            let message = BarrierMessage::ArrivalReport(process);
            return context.send(process, parent(process), message);
        }
        context.leaving.push_back(0);
        release_children(0, context)
    }
}

pub(super) fn release_children(process: u32, context: &mut Context<'_, '_>) -> Result {
    children(process, context.processes)
        .try_for_each(|child| context.send(process, child, BarrierMessage::LeavePermission(child)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_but_the_root_has_one_parent_that_knows_it() {
        for processes in 1..70 {
            for process in 1..processes {
                assert!(children(parent(process), processes).any(|child| child == process));
            }
            let edges: usize = (0..processes)
                .map(|process| children(process, processes).count())
                .sum();
            assert_eq!(edges, processes as usize - 1);
        }
    }
}
