//! Changes the placement at the start so that each host has one process more or less.

use super::Amount;
use migsim_base::{error::Problem, units::HostId};

/// Places `amount` more processes on each host that has processes, or fewer if `amount` is negative; the order of processes and
/// of hosts stays the same.
///
/// A host keeps at least one process. Processes that do not fit on these hosts go to hosts that were empty, in the order of the
/// platform.
///
/// # Errors
/// There are not enough hosts.
pub(super) fn change_processes_per_host(
    amount: Amount,
    placement: &mut [HostId],
    hosts: usize,
) -> Result<(), Problem> {
    let Amount::ProcessCount(more) = amount else {
        return Ok(());
    };
    let mut residents = vec![0_u32; hosts];
    let mut order = Vec::new();
    for host in placement.iter() {
        if residents[host.index()] == 0 {
            order.push(*host);
        }
        residents[host.index()] += 1;
    }
    let least = order.iter().map(|host| residents[host.index()]).min();
    let empty = (0..hosts).filter(|host| residents[*host] == 0);
    let mut places = order
        .iter()
        .map(|host| (*host, residents[host.index()]))
        .chain(empty.map(|host| (HostId::from_index(host), least.unwrap_or(1))))
        .flat_map(|(host, count)| {
            let count = count.saturating_add_signed(more).max(1);
            std::iter::repeat_n(host, count as usize)
        });
    let placed: Vec<HostId> = places.by_ref().take(placement.len()).collect();
    if placed.len() < placement.len() {
        let message = "the platform has too few hosts to place one process less on each host";
        return Err(Problem::new(message)
            .hint("leave out this change, or run the experiment on a platform with more hosts"));
    }
    if placed == placement {
        let message = "no host can have one process more, since all processes are on one host";
        return Err(Problem::new(message).hint("leave out this change"));
    }
    placement.copy_from_slice(&placed);
    Ok(())
}
