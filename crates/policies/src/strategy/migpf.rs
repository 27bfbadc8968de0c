//! After `MigPF` (da Rosa Righi et al., FGCS 78, 2018): up to n plans, of which a prediction function picks the best, if it beats staying.
//!
//! Known of the paper are its three ideas; the trigger has the first two (imbalance per processor, shorter intervals under imbalance).
//! Here is the third, with choices of ours. Processes are ranked by how much earlier they would end elsewhere:
//! `PM_i = t_now − min_h t_i(h)`, `t_i(h)` the time of host h with i on it. Plan k moves the first k of them, one after another, each to the
//! host that then ends first. The prediction function of a plan is a simulated superstep:
//!
//! `pf = max_h (b_h + Σ w_i/s_h) + max_h comm_h + moves/horizon`
//!
//! `comm_h` sums latency and bytes over bandwidth of the messages that host h sends to others; `moves` is the longest transfer of memory of a
//! host. The best plan is taken if its pf is below that of staying. Nothing beyond a host's memory. There is no program to compare with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::room::{Room, least};
use super::{Assignment, Instance, PriceOptions, Strategy, StrategyOptions, positive};
use migsim_base::error::Error;
use migsim_base::random::Stream;

/// The options, which are the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigPfOptions {
    /// Over how many supersteps the price of the moves is spread.
    pub horizon: f64,
}

impl Default for MigPfOptions {
    fn default() -> Self {
        Self { horizon: 10.0 }
    }
}

impl StrategyOptions for MigPfOptions {
    fn strategy(self) -> Result<Box<dyn Strategy>, Error> {
        positive([("horizon", self.horizon)])?;
        Ok(Box::new(self))
    }
}

impl Strategy for MigPfOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment, Error> {
        let works = instance.works();
        let mut load: Vec<f64> = (instance.host_times(&instance.current).iter())
            .map(|time| time.get())
            .collect();
        let after = |load: &[f64], process: usize, host: usize| {
            load[host] + works[process] / instance.speeds[host]
        };
        let others = |process: usize, room: &Room| {
            let from = room.places()[process];
            let all = 0..instance.hosts();
            let open = all.filter(|&host| host != from && room.fits(process, host));
            open.collect::<Vec<_>>()
        };
        let mut room = Room::new(instance);
        let mut ranked: Vec<(f64, usize)> = Vec::new();
        for process in 0..works.len() {
            let open = others(process, &room).into_iter();
            if let Some(host) = least(open, |host| after(&load, process, host)) {
                let gain = load[instance.current[process]] - after(&load, process, host);
                ranked.push((gain, process));
            }
        }
        ranked.retain(|(gain, _)| *gain > 0.0);
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut hosts = instance.current.clone();
        let mut best = self.predicted(instance, &hosts);
        let mut plans = 0;
        for (_, process) in ranked {
            let open = others(process, &room).into_iter();
            let Some(to) = least(open, |host| after(&load, process, host)) else {
                continue;
            };
            let from = room.places()[process];
            load[from] -= works[process] / instance.speeds[from];
            load[to] = after(&load, process, to);
            room.put(process, to);
            plans += 1;
            let predicted = self.predicted(instance, room.places());
            if predicted < best {
                best = predicted;
                hosts = room.places().to_vec();
            }
        }
        let size = (instance.processes() + instance.hosts() + instance.communication.len()) as u64;
        let mut assignment = Assignment::central(hosts, (plans + 1) * size);
        assignment
            .words
            .push(format!("the best of {plans} plans and staying"));
        Ok(assignment)
    }

    fn needs_communication(&self) -> bool {
        true
    }
}

impl MigPfOptions {
    /// The prediction function of an assignment \[s\].
    fn predicted(self, instance: &Instance<'_>, hosts: &[usize]) -> f64 {
        let prices = PriceOptions::default();
        let mut sent = vec![0.0; instance.hosts()];
        for row in &instance.communication {
            let [from, to] = [hosts[row.from], hosts[row.to]];
            if from != to {
                sent[from] += prices.latency(instance, from, to) * row.messages
                    + row.bytes.get() / prices.bandwidth(instance, from, to);
            }
        }
        let communication = sent.into_iter().fold(0.0, f64::max);
        instance.max_time(hosts).get()
            + communication
            + prices.moves(instance, hosts) / self.horizon
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assigned, instance};
    use super::*;
    use crate::strategy::Row;
    use migsim_base::units::Bytes;

    #[test]
    fn the_best_plan_is_taken_if_it_beats_staying() {
        let mut case = instance(&[1.0, 1.0], &[0, 0, 0, 0], &[1.0; 4]);
        assert_eq!(assigned(MigPfOptions::default(), &case), [1, 1, 0, 0]);
        // Messages that would take longer than the gain keep them together.
        case.communication = (0..4)
            .map(|from| Row {
                from,
                to: (from + 1) % 4,
                messages: 1.0,
                bytes: Bytes::of(1e9),
            })
            .collect();
        assert_eq!(assigned(MigPfOptions::default(), &case), [0; 4]);
    }
}
