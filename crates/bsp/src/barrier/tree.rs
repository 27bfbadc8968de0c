//! The tree barrier: messages about arrivals are sent up a binomial tree of processes to the root, then release messages are sent
//! down the same tree.

use super::BarrierContext;
use crate::event::BarrierMessage;
use crate::leaving::LeavingProcesses;
use migsim_base::error::Error;
use migsim_base::units::Bytes;

/// Returns the parent of a process in the binomial tree with root 0: the process number with its lowest set bit cleared.
pub(super) fn parent(process: u32) -> u32 {
    process & (process - 1)
}

/// Returns the children of a process in the binomial tree whose root is process 0. The number of a child is the number of the
/// process with one more bit set, below its lowest set bit (any bit for the root).
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

/// Records that a part of the subtree of `process` has arrived: the process itself, or the whole subtree of a child. When the
/// whole subtree of `process` has arrived, the process notifies its parent; the root releases its children instead.
pub(super) fn record_subtree_arrival(
    gathered: &mut [u32],
    process: u32,
    processes: u32,
    bytes: Bytes,
    leaving: &mut LeavingProcesses,
    context: &mut BarrierContext<'_, '_>,
) -> Result<(), Error> {
    let count = &mut gathered[process as usize];
    *count += 1;
    let expected =
        1 + u32::try_from(children(process, processes).count()).expect("at most 32 children");
    if *count < expected {
        return Ok(());
    }
    *count = 0;
    if process != 0 {
        return context.send_between_processes(
            process,
            parent(process),
            bytes,
            BarrierMessage::ArrivalReport(process),
        );
    }
    leaving.push(0);
    release_children(0, processes, bytes, context)
}

/// Sends release messages to the children of a process.
pub(super) fn release_children(
    process: u32,
    processes: u32,
    bytes: Bytes,
    context: &mut BarrierContext<'_, '_>,
) -> Result<(), Error> {
    children(process, processes).try_for_each(|child| {
        context.send_between_processes(
            process,
            child,
            bytes,
            BarrierMessage::LeavePermission(child),
        )
    })
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
