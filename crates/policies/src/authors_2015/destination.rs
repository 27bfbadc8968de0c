//! Destinations: each manager takes the candidates that prefer its Set, in increasing order of their numbers, and gives each the host with
//! the fewest processes.

use super::potential::Report;
use super::ranking::Wish;

/// A move that the managers decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The process, counted from 0.
    pub process: usize,
    /// The index of its new Set.
    pub set: usize,
    /// The index of the new host of the process in that Set.
    pub host: usize,
}

/// Assigns a host to each process in `movers` that prefers another Set than its own; Set 0 decides first.
///
/// `occupancy` has the number of processes on each declared host. If moves happen, a process that moves leaves its host at once and counts
/// twice on the new one: as a process that is there and as one that was sent there (a slip). Otherwise it counts once more, on the new host
/// alone. No host is ever full.
pub(super) fn destinations(
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
