//! Receiver-initiated balancing (after Eager, Lazowska and Zahorjan 1986): a host with a small load takes one process from a host
//! with a large load.
//!
//! Receivers (thieves) are hosts with less than `(1 − tolerance)` times the average load, in random order. Each receiver probes
//! `probes` random hosts. Among the probed hosts that have at least two processes and more than `(1 + tolerance)` times the
//! average load, it selects the most loaded host. From this host it takes the process that reduces the larger of the two host
//! times most (ties: the lowest number), if any process does. Loads are updated after each transfer. No host is filled beyond its
//! memory. There is no program with which the decisions could be compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Gather, Instance, Strategy, StrategyOptions, check_not_negative,
    room::{TentativePlacement, candidate_with_min_key, draw_random_hosts, is_clearly_less},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `receiver-initiated`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReceiverInitiatedOptions {
    /// Number of random hosts that a receiver probes.
    pub probes: u32,
    /// Relative distance from the average load that the load of a host must exceed for the host to receive or to give a process.
    pub tolerance: f64,
}

impl Default for ReceiverInitiatedOptions {
    fn default() -> Self {
        Self {
            probes: 3,
            tolerance: 0.1,
        }
    }
}

impl StrategyOptions for ReceiverInitiatedOptions {
    fn check(&self) -> Result {
        check_not_negative([("tolerance", self.tolerance)])
    }
}

impl Strategy for ReceiverInitiatedOptions {
    fn assign(&mut self, instance: &Instance<'_>, random: &mut Stream) -> Result<Assignment> {
        let hosts = instance.host_count();
        let mut room = TentativePlacement::new(instance);
        let average = room.times.iter().sum::<f64>() / hosts.max(1) as f64;
        let mut thieves = draw_random_hosts(usize::MAX, hosts, u32::MAX, random);
        thieves.retain(|&host| room.times[host] < (1.0 - self.tolerance) * average);
        let mut operations = 0;
        for thief in thieves {
            let mut probed = draw_random_hosts(thief, hosts, self.probes, random);
            let place = &room.hosts;
            let own =
                |victim: usize| (0..place.len()).filter(move |&process| place[process] == victim);
            probed.retain(|&victim| {
                room.times[victim] > (1.0 + self.tolerance) * average
                    && own(victim).nth(1).is_some()
            });
            let victim = candidate_with_min_key(probed.into_iter(), None, |host| -room.times[host]);
            let Some(victim) = victim else { continue };
            let after = |process: usize| {
                let left = room.times[victim] - room.process_time(process, victim);
                f64::max(left, room.time_with(process, thief))
            };
            operations += own(victim).count() as u64;
            let open = own(victim).filter(|&process| room.has_memory_for(process, thief));
            let process = candidate_with_min_key(open, None, after)
                .filter(|&process| is_clearly_less(after(process), room.times[victim]));
            if let Some(process) = process {
                room.transfer(process, thief);
            }
        }
        Ok(Assignment {
            assigned_hosts: room.hosts,
            operation_count: operations,
            // The two messages are the probe and the answer.
            communication_pattern: Gather::BetweenNeighbours {
                rounds: 2,
                max_messages_per_round: self.probes,
            },
            remarks: Vec::new(),
        })
    }

    fn uses_random_numbers(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn an_idle_host_steals_what_helps_most() {
        // 6 against 0: max after stealing 3, 2, 1 is 3, 4, 5.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0], &[1.0, 3.0, 2.0]);
        let options = ReceiverInitiatedOptions::default();
        assert_eq!(decided_hosts(options, &case), [0, 1, 0]);
        // A single process is not stolen.
        let one = instance_without_background(&[1.0, 1.0], &[0], &[1.0]);
        assert_eq!(decided_hosts(options, &one), [0]);
    }
}
