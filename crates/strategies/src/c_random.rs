//! Distributed c-random, after the PUB library: each host asks c random hosts for their loads, and sends one process to the asked
//! host with the smallest load if this load is clearly smaller than its own.
//!
//! Each host h asks `choices` (c) other hosts, drawn without replacement; m is the asked host with the smallest time (ties: the
//! lowest number). `L_h` is the time of host h in a superstep. If `L_m + margin < L_h`, the process of h with the lowest number
//! goes to m. All hosts decide from the times before the rescheduling call, so that many hosts may choose the same m; this is the
//! known weakness of the method. No host is filled beyond its memory.
//!
//! The original text (Bonorden, IPDPS 2007) was not accessible. The parameters are migsim's own, and there is no program with
//! which the decisions could be compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Gather, Instance, Strategy, StrategyOptions, check_not_negative,
    room::{TentativePlacement, candidate_with_min_key, draw_random_hosts},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `c-random`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CRandomOptions {
    /// Number c of other hosts that each host asks for their loads in a rescheduling call.
    pub choices: u32,
    /// Minimum difference of the times of two hosts \[s\]: a process moves to the asked host only if the time of its present host
    /// is larger by more than this difference.
    pub margin: f64,
}

impl Default for CRandomOptions {
    fn default() -> Self {
        Self {
            choices: 2,
            margin: 0.0,
        }
    }
}

impl StrategyOptions for CRandomOptions {
    fn check(&self) -> Result {
        check_not_negative([("margin", self.margin)])
    }
}

impl Strategy for CRandomOptions {
    fn assign(&mut self, instance: &Instance<'_>, random: &mut Stream) -> Result<Assignment> {
        let mut room = TentativePlacement::new(instance);
        for (host, own) in instance.processes_by_host().into_iter().enumerate() {
            let asked = draw_random_hosts(host, instance.host_count(), self.choices, random);
            let other = candidate_with_min_key(asked.into_iter(), None, |other| room.times[other]);
            let other = other.filter(|&other| room.times[other] + self.margin < room.times[host]);
            if let (Some(other), Some(&process)) = (other, own.first())
                && room.has_memory_for(process, other)
            {
                room.move_process(process, other);
            }
        }
        Ok(Assignment {
            assigned_hosts: room.hosts,
            operation_count: u64::from(self.choices),
            // The two messages are the question and the answer.
            communication_pattern: Gather::BetweenNeighbours {
                rounds: 2,
                max_messages_per_round: self.choices,
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
    fn one_process_goes_to_who_has_strictly_less() {
        // With two hosts, each asks the other.
        let options = CRandomOptions::default();
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 1], &[1.0; 4]);
        assert_eq!(decided_hosts(options, &case), [1, 0, 0, 1]);
        let equal = instance_without_background(&[1.0, 1.0], &[0, 1], &[1.0; 2]);
        assert_eq!(decided_hosts(options, &equal), [0, 1]);
        let margin = CRandomOptions {
            margin: 2.0,
            ..options
        };
        assert_eq!(decided_hosts(margin, &case), [0, 0, 0, 1]);
    }
}
