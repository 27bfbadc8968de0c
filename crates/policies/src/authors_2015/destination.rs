//! Choice of destinations in the policy `authors-2015`: the manager of each Set assigns the candidates that prefer its Set to its
//! hosts with the fewest processes.
//!
//! Each manager takes its candidates in increasing order of process numbers.

use super::{potential::ProcessReport, ranking::SetPreference};

/// A migration that the manager of a Set (cluster) decided in a rescheduling call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The number of the process, counted from 0.
    pub process: usize,
    /// The index of the Set (cluster) to which the process moves.
    pub destination_set: usize,
    /// The index of the process's new host within the Set `set`.
    pub destination_host: usize,
}

/// Returns the migrations of a call: each process in `movers` that prefers another Set moves to a host of that Set. The managers
/// decide in increasing order of Sets.
///
/// `movers` states for each process whether it may move. `occupancy` is the number of processes on each declared host, by Set. If
/// `moves_happen`, a process that moves is subtracted from its old host immediately and counts twice on the new host: once as
/// resident and once as sent (an error of the original program). Otherwise the process counts once on the new host and also
/// remains counted on the old host. A host has no limit for its number of processes.
pub(super) fn assign_destinations(
    reports: &[ProcessReport],
    wishes: &[SetPreference],
    movers: &[bool],
    mut occupancy: Vec<Vec<usize>>,
    moves_happen: bool,
) -> Vec<Move> {
    let mut moves = Vec::new();
    for set in 0..occupancy.len() {
        for wish in wishes {
            let process = wish.process;
            let report = &reports[process];
            if !movers[process] || wish.preferred_set != Some(set) || report.present_set == set {
                continue;
            }
            let hosts = occupancy[set].iter().enumerate();
            // Of equal hosts the first is taken.
            let Some((host, _)) = hosts.min_by_key(|&(_, &processes)| processes) else {
                continue;
            };
            occupancy[set][host] += if moves_happen { 2 } else { 1 };
            if moves_happen
                && let Some(left) = occupancy[report.present_set].get_mut(report.host_index_in_set)
            {
                *left -= 1;
            }
            moves.push(Move {
                process,
                destination_set: set,
                destination_host: host,
            });
        }
    }
    moves
}
