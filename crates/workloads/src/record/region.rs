//! Selects the operations of one region of a program, which the program marks with `MPI_Pcontrol`.

use std::collections::BTreeMap;

use super::read::{MessageSequence, Operation, ProcessRecord};
use migsim_base::error::{Problem, Result};

/// Returns the operations of each process inside the region with this name, or all operations if no name is given. A receive is
/// left out if its message was sent outside the region.
///
/// # Errors
/// No process of the run has a region with this name.
pub(super) fn operations_of_region(
    run: &[ProcessRecord],
    region: Option<&str>,
) -> Result<Vec<Vec<Operation>>> {
    let marked = run.iter().map(|record| record.operations(region));
    let marked: Vec<Vec<(Operation, bool)>> = marked.collect();
    if let Some(name) = region {
        let mut known: Vec<&str> = run.iter().flat_map(ProcessRecord::regions).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&name) {
            let problem = Problem::unknown_name("region", name).with_known_names("regions", known);
            return Err(problem.into());
        }
    }
    let mut sent: BTreeMap<MessageSequence, (usize, Vec<usize>)> = BTreeMap::new();
    for (operation, is_inside) in marked.iter().flatten() {
        if let Operation::Send(lane, _) = operation {
            let (count, inside) = sent.entry(*lane).or_default();
            inside.extend(is_inside.then_some(*count));
            *count += 1;
        }
    }
    let select = |(operation, is_inside): (Operation, bool)| match operation {
        _ if !is_inside => None,
        Operation::Receive(lane, nth) if region.is_some() => {
            let nth = sent
                .get(&lane)
                .map_or(&[][..], |(_, inside)| inside)
                .binary_search(&nth)
                .ok()?;
            Some(Operation::Receive(lane, nth))
        }
        other => Some(other),
    };
    let processes = marked.into_iter();
    Ok(processes
        .map(|all| all.into_iter().filter_map(select).collect())
        .collect())
}
