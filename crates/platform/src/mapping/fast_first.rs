//! The mapping rule `fast-first`: places the processes one after the other, each on the host where it computes fastest.
//!
//! On a host with `c` cores of speed `s`, `n` processes and other work for `L` cores, each process computes at the speed
//! `s · min(1, c / (n + L))`. The next
//! process goes to the host where this speed is largest, with the process itself counted in `n`; among equally fast hosts, it
//! goes to the first. If all processes have equal work, no other placement makes the slowest process faster. A host with fast
//! cores may get more processes than cores before a slow core gets its first process.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Returns the number of processes that each host gets; `speed` returns the speed of each of a number of processes on a host
/// \[instructions/s\].
pub(super) fn processes_per_host(
    hosts: usize,
    speed: impl Fn(usize, usize) -> f64,
    processes: usize,
) -> Vec<usize> {
    let mut counts = vec![0_usize; hosts];
    // The bits of speeds have their order, since none is negative; of equally fast hosts, the first is the greatest.
    let place = |host: usize, placed: usize| (speed(host, placed + 1).to_bits(), Reverse(host));
    let mut places: BinaryHeap<_> = (0..hosts).map(|host| place(host, 0)).collect();
    for _ in 0..processes {
        let Some(mut best) = places.peek_mut() else {
            break;
        };
        let (_, Reverse(host)) = *best;
        counts[host] += 1;
        *best = place(host, counts[host]);
    }
    counts
}

#[cfg(test)]
mod tests {
    fn processes_per_host(hosts: &[(f64, u32)], processes: usize) -> Vec<usize> {
        let speed = |host: usize, count: usize| {
            let (speed, cores) = hosts[host];
            speed * (f64::from(cores) / count as f64).min(1.0)
        };
        super::processes_per_host(hosts.len(), speed, processes)
    }

    #[test]
    fn each_process_goes_where_it_computes_fastest() {
        // Two cores of speed 2, four of speed 3, one of speed 1.
        let hosts = [(2.0, 2), (3.0, 4), (1.0, 1)];
        assert_eq!(processes_per_host(&hosts, 3), [0, 3, 0]);
        // The fifth process would compute at 2, 3·4/5 = 2.4 or 1.
        assert_eq!(processes_per_host(&hosts, 5), [0, 5, 0]);
        // The sixth at 2, 3·4/6 = 2 or 1, and the seventh likewise: of equal hosts the first one is taken.
        assert_eq!(processes_per_host(&hosts, 7), [2, 5, 0]);
        // The eighth at 2·2/3 = 1.33, 2 or 1; then 3·4/7 = 1.71, 3·4/8 = 1.5, and 3·4/9 = 1.33, where the first host is equal.
        assert_eq!(processes_per_host(&hosts, 8), [2, 6, 0]);
        assert_eq!(processes_per_host(&hosts, 11), [3, 8, 0]);
        assert!(
            processes_per_host(&hosts, 0)
                .iter()
                .all(|count| *count == 0)
        );
    }

    #[test]
    fn equal_hosts_are_filled_in_their_order_and_then_loaded_evenly() {
        assert_eq!(processes_per_host(&[(1.0, 2); 3], 3), [2, 1, 0]);
        assert_eq!(processes_per_host(&[(1.0, 2); 3], 8), [3, 3, 2]);
        assert!(processes_per_host(&[], 4).is_empty());
    }
}
