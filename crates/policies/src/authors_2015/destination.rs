//! Choice of destinations: the manager of each Set takes the candidates that prefer this Set, in increasing order of process
//! numbers, and assigns each one to the host with the fewest processes.

use super::potential::Report;
use super::ranking::Wish;

/// A migration that the manager of a Set decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The number of the process, counted from 0.
    pub process: usize,
    /// The index of the Set to which the process moves.
    pub set: usize,
    /// The index of the process's new host within that Set.
    pub host: usize,
}

/// Returns a host for each process in `movers` that prefers a Set other than its present one; the manager of Set 0 decides first.
///
/// `occupancy` is the number of processes on each declared host. If `moves_happen`, a process that moves is subtracted from its
/// old host immediately and counts twice on the new host: once as resident and once as sent (an error of the original program).
/// Otherwise it counts once on the new host and also remains counted on the old one. A host has no limit for its number of
/// processes.
pub(super) fn assign_destinations(
    reports: &[Report],
    wishes: &[Wish],
    movers: &[bool],
    mut occupancy: Vec<Vec<usize>>,
    moves_happen: bool,
) -> Vec<Move> {
    let mut moves = Vec::new();
    for set in 0..occupancy.len() {
        for wish in wishes {
            let process = wish.process;
            let report = &reports[process];
            if !movers[process] || wish.set != Some(set) || report.set == set {
                continue;
            }
            let hosts = occupancy[set].iter().enumerate();
            // Of equal hosts the first is taken.
            let Some((host, _)) = hosts.min_by_key(|&(_, &processes)| processes) else {
                continue;
            };
            occupancy[set][host] += if moves_happen { 2 } else { 1 };
            if moves_happen && let Some(left) = occupancy[report.set].get_mut(report.host) {
                *left -= 1;
            }
            moves.push(Move { process, set, host });
        }
    }
    moves
}
