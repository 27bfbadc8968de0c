//! Inform and transfer: hosts inform each other of their loads; then each host offers each of its processes to the host for which
//! the larger of the works of both hosts decreases most.
//!
//! The work of a host is `W = load + β·max(bytes in, bytes out)`, where only the bytes of messages between different hosts count.
//! A transfer of a process from host src to host dst has the gain `c = max(W_src, W_dst) before − after`; the process goes to the
//! known host with the largest c.
//!
//! The variant `ours` is migsim's own; the variant `lbaf-1.6` makes the same decisions as LBAF 1.6.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | `load` is the time of the host, including background load and speed; a transfer only if `c > 0`, heaviest process first in `decreasing`; no host beyond its memory; hosts by decreasing time |
//! | `lbaf-1.6` | `load = Σ work`, divided by the speed if `is_affine`; background load ignored; transfers that leave the larger work equal are accepted (`c ≥ 0`); the list of a host is consumed *from its end*, so that `decreasing` begins with the lightest process; only hosts that have processes when an iteration begins, by number |
//!
//! With `knowledge: gossip` each host knows only the hosts whose loads it has received in messages. There are `rounds` rounds,
//! and in each round a host sends a message to `fanout` random hosts. The destination is drawn from the known hosts with an
//! acceptable c, with probabilities proportional to `c − c_min`, or equal if all c are equal. The random numbers follow from the
//! seed of the policy, so that decisions agree with the original program only in distribution. Iterations stop early once all
//! hosts have equal works.
//!
//! Source: LB Analysis Framework (9615e7ab); Lifflander et al. 2021.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Assignment, Gather, Instance, Strategy, StrategyOptions, Variant, check_not_negative,
    load_blocks::LoadBlocks,
    room::{TentativePlacement, candidate_with_min_key, draw_random_hosts},
};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `inform-and-transfer`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InformAndTransferOptions {
    /// Variant of the strategy: `ours` is migsim's own, `lbaf-1.6` makes the same decisions as LBAF 1.6.
    pub edition: InformAndTransferEdition,
    /// Maximum number of iterations, in each of which all hosts inform each other and transfer processes.
    pub iterations: u32,
    /// Order in which a host offers its processes to other hosts.
    pub order: OfferOrder,
    /// Whether the work model is `AffineCombination`, `load / s_h + beta · bytes`, instead of `LoadOnly`; used by the variant
    /// `lbaf-1.6` only. Here `s_h` is the speed of the host.
    pub is_affine: bool,
    /// Cost β \[s/B\] of each byte that is sent between different hosts; with 0, messages are ignored.
    pub beta: f64,
    /// Hosts to which a host can offer processes because it knows their loads: all hosts, or only the hosts whose loads it has
    /// received in messages.
    pub knowledge: LoadKnowledge,
    /// Number of random hosts to which a host sends a message in each round; used with `knowledge: gossip`.
    pub fanout: u32,
    /// Number of rounds of messages in each iteration; used with `knowledge: gossip`.
    pub rounds: u32,
}

/// Variants of the strategy `inform-and-transfer`: `ours` is migsim's own variant, and every other variant makes the same
/// decisions as the program after which it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum InformAndTransferEdition {
    /// migsim's own variant: uses times of hosts, transfers a process only if the larger of the works of both hosts decreases,
    /// and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `InformAndTransfer` in LBAF 1.6, but with sets of hosts ordered by number, which the program
    /// leaves unordered.
    #[serde(rename = "lbaf-1.6")]
    Lbaf,
}

/// Order in which a host offers its processes to other hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OfferOrder {
    /// The process with the largest load on the host is offered first.
    #[default]
    Decreasing,
    /// The process with the smallest load on the host is offered first.
    Increasing,
    /// Processes whose load is at most the excess of the host over the average are offered first, by decreasing load; all other
    /// processes follow, by increasing load.
    FewestMigrations,
}

/// Hosts to which a host can offer processes because it knows their loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKnowledge {
    /// Each host knows the loads of all hosts; decisions need no random numbers.
    #[default]
    Full,
    /// Each host knows only the loads that other hosts have sent to it in messages (gossip).
    Gossip,
}

impl Default for InformAndTransferOptions {
    fn default() -> Self {
        Self {
            edition: InformAndTransferEdition::Ours,
            iterations: 4,
            order: OfferOrder::Decreasing,
            is_affine: false,
            beta: 0.0,
            knowledge: LoadKnowledge::Full,
            fanout: 2,
            rounds: 2,
        }
    }
}

impl StrategyOptions for InformAndTransferOptions {
    const VARIANTS: &'static [Variant] = &[
        Variant::new(
            "lbaf-1.6",
            r#"{ "edition": "lbaf-1.6" }"#,
            "lbaf-1.6.0/InformAndTransfer,decreasing_loads",
        ),
        Variant::new(
            "lbaf-1.6,increasing",
            r#"{ "edition": "lbaf-1.6", "order": "increasing" }"#,
            "lbaf-1.6.0/InformAndTransfer,increasing_loads",
        ),
        Variant::new(
            "lbaf-1.6,fewest-migrations",
            r#"{ "edition": "lbaf-1.6", "order": "fewest-migrations" }"#,
            "lbaf-1.6.0/InformAndTransfer,fewest_migrations",
        ),
        Variant::new(
            "lbaf-1.6,affine",
            r#"{ "edition": "lbaf-1.6", "is_affine": true, "beta": 1e-7 }"#,
            "lbaf-1.6.0/InformAndTransfer,decreasing_loads,AffineCombination",
        ),
        Variant::new("gossip", r#"{ "knowledge": "gossip" }"#, ""),
    ];

    fn check(&self) -> Result {
        check_not_negative([("beta", self.beta)])
    }
}

impl Strategy for InformAndTransferOptions {
    fn assign(&mut self, instance: &Instance<'_>, random: &mut Stream) -> Result<Assignment> {
        let mut state = TransferState::new(instance, *self);
        let mut operations = 0;
        for _ in 0..self.iterations {
            let known = self.draw_known_hosts(instance.host_count(), random);
            operations += state.transfer_from_all_hosts(known.as_deref(), random);
            if state.are_works_equal() {
                break;
            }
        }
        let gather = match self.knowledge {
            LoadKnowledge::Full => Gather::Central,
            LoadKnowledge::Gossip => Gather::BetweenNeighbours {
                rounds: self.rounds * self.iterations,
                max_messages_per_round: self.fanout,
            },
        };
        Ok(Assignment {
            assigned_hosts: state.placement.hosts,
            operation_count: operations,
            communication_pattern: gather,
            remarks: Vec::new(),
        })
    }

    fn needs_communication(&self) -> bool {
        self.beta > 0.0
    }

    fn uses_random_numbers(&self) -> bool {
        self.knowledge == LoadKnowledge::Gossip
    }
}

impl InformAndTransferOptions {
    /// Returns for each host the set of other hosts that it knows after the messages of an iteration; `None` if each host knows
    /// all other hosts.
    fn draw_known_hosts(&self, hosts: usize, random: &mut Stream) -> Option<Vec<BTreeSet<usize>>> {
        if self.knowledge == LoadKnowledge::Full {
            return None;
        }
        let mut known: Vec<BTreeSet<usize>> =
            (0..hosts).map(|host| BTreeSet::from([host])).collect();
        for _ in 0..self.rounds {
            let before = known.clone();
            for (sender, told) in before.iter().enumerate() {
                for receiver in draw_random_hosts(sender, hosts, self.fanout, random) {
                    known[receiver].extend(told);
                }
            }
        }
        for (host, set) in known.iter_mut().enumerate() {
            set.remove(&host);
        }
        Some(known)
    }
}

#[derive(Debug)]
struct TransferState<'a> {
    instance: &'a Instance<'a>,
    options: InformAndTransferOptions,
    /// Load of each process on a host of speed 1 \[s\].
    process_works: Vec<f64>,
    /// Load of each host, without the cost of messages \[s\].
    host_loads: Vec<f64>,
    processes_of_host: Vec<Vec<usize>>,
    message_indices: Vec<Vec<usize>>,
    received_and_sent_bytes: Vec<[f64; 2]>,
    placement: TentativePlacement<'a>,
    load_blocks: LoadBlocks,
}

impl<'a> TransferState<'a> {
    fn new(instance: &'a Instance<'a>, options: InformAndTransferOptions) -> Self {
        let mut state = Self {
            instance,
            options,
            process_works: instance.works_in_seconds(),
            host_loads: Vec::new(),
            processes_of_host: instance.processes_by_host(),
            message_indices: instance.message_indices(),
            received_and_sent_bytes: vec![[0.0; 2]; instance.host_count()],
            placement: TentativePlacement::new(instance),
            load_blocks: LoadBlocks::new(Vec::new(), Vec::new()),
        };
        state.host_loads = (0..instance.host_count())
            .map(|host| state.recompute_host_load(host))
            .collect();
        let speeds = instance.host_speeds.clone();
        state.load_blocks = LoadBlocks::new(state.host_loads.clone(), speeds);
        for row in &instance.communication {
            let [from, to] = [row.from, row.to].map(|process| instance.current_hosts[process]);
            if from != to {
                state.received_and_sent_bytes[to][0] += row.bytes.get();
                state.received_and_sent_bytes[from][1] += row.bytes.get();
            }
        }
        state
    }

    fn is_variant_lbaf(&self) -> bool {
        self.options.edition == InformAndTransferEdition::Lbaf
    }

    /// Returns the load of a host as the sum over its processes \[s\]. The sum includes the background load and is divided by the
    /// speed of the host, except in the variant `lbaf-1.6`, which ignores both.
    fn recompute_host_load(&self, host: usize) -> f64 {
        let own: f64 = self.processes_of_host[host]
            .iter()
            .map(|&process| self.process_works[process])
            .sum();
        if self.is_variant_lbaf() {
            own
        } else {
            self.instance.background_times[host].get() + own / self.instance.host_speeds[host]
        }
    }

    /// Returns the load of a process on a host \[s\], which depends on the speed of the host except in the variant `lbaf-1.6`.
    fn process_load(&self, process: usize, host: usize) -> f64 {
        if self.is_variant_lbaf() {
            self.process_works[process]
        } else {
            self.process_works[process] / self.instance.host_speeds[host]
        }
    }

    /// Returns W, the work of a host \[s\], given its load \[s\] and the bytes `volume` that the host receives from other hosts
    /// and sends to other hosts \[B\].
    fn host_work(&self, host: usize, load: f64, volume: [f64; 2]) -> f64 {
        let messages = self.options.beta * f64::max(volume[0], volume[1]);
        if self.is_variant_lbaf() && self.options.is_affine {
            1.0 / self.instance.host_speeds[host] * load + messages
        } else {
            load + messages
        }
    }

    fn work(&self, host: usize) -> f64 {
        self.host_work(
            host,
            self.host_loads[host],
            self.received_and_sent_bytes[host],
        )
    }

    fn are_works_equal(&self) -> bool {
        let works: Vec<f64> = (0..self.host_loads.len())
            .map(|host| self.work(host))
            .collect();
        let max = works.iter().copied().fold(0.0, f64::max);
        let average = works.iter().sum::<f64>() / works.len() as f64;
        max / average - 1.0 <= 0.0
    }

    fn transfer_from_all_hosts(
        &mut self,
        known: Option<&[BTreeSet<usize>]>,
        random: &mut Stream,
    ) -> u64 {
        let average = self.host_loads.iter().sum::<f64>() / self.host_loads.len() as f64;
        let mut donors: Vec<usize> = (0..self.host_loads.len()).collect();
        donors.retain(|&host| !self.processes_of_host[host].is_empty());
        if !self.is_variant_lbaf() {
            donors.sort_by(|&a, &b| self.host_loads[b].total_cmp(&self.host_loads[a]));
        }
        let mut offers = 0;
        for donor in donors {
            let mut order = self.processes_in_offer_order(donor, average);
            if self.is_variant_lbaf() {
                order.reverse(); // it takes the last first
            }
            for process in order {
                let hosts = known.map_or(self.host_loads.len() - 1, |known| known[donor].len());
                offers += hosts as u64;
                let target = match known {
                    Some(known) => self.draw_destination(process, donor, &known[donor], random),
                    None if self.is_variant_lbaf() || self.options.beta > 0.0 => {
                        self.best_destination(process, donor)
                    }
                    None => self.best_destination_by_load(process, donor),
                };
                if let Some(host) = target {
                    self.move_process(process, donor, host);
                }
            }
        }
        offers
    }

    /// Returns the processes of the host `donor` in the order that the option `order` specifies; `average` is the average load of
    /// hosts \[s\].
    fn processes_in_offer_order(&self, donor: usize, average: f64) -> Vec<usize> {
        let own = &self.processes_of_host[donor];
        let share = |process: usize| self.process_load(process, donor);
        let sorted = |mut list: Vec<usize>, is_falling: bool| {
            list.sort_by(|&a, &b| {
                let growing = share(a).total_cmp(&share(b));
                if is_falling {
                    growing.reverse()
                } else {
                    growing
                }
            });
            list
        };
        match self.options.order {
            OfferOrder::Decreasing => sorted(own.clone(), true),
            OfferOrder::Increasing => sorted(own.clone(), false),
            OfferOrder::FewestMigrations => {
                let excess = self.host_loads[donor] - average;
                let (fit, rest) = own.iter().partition(|&&process| share(process) <= excess);
                [sorted(fit, true), sorted(rest, false)].concat()
            }
        }
    }

    /// Returns the host to which a process of the host `donor` should move so that the larger work of the two hosts decreases
    /// most (ties: the lowest number). Returns `None` if no move is acceptable.
    fn best_destination(&self, process: usize, donor: usize) -> Option<usize> {
        let open = (0..self.host_loads.len())
            .filter(|&host| host != donor)
            .filter(|&host| self.has_memory_for(process, host));
        let host =
            candidate_with_min_key(open, None, |host| -self.transfer_gain(process, donor, host))?;
        self.is_acceptable_gain(self.transfer_gain(process, donor, host))
            .then_some(host)
    }

    /// Returns the same host as `best_destination` for the variant `ours` without messages. The larger work before a move is the
    /// work of the donor, since a move to a host with more work cannot decrease the larger work.
    fn best_destination_by_load(&self, process: usize, donor: usize) -> Option<usize> {
        let work = self.process_works[process];
        let load = self.host_loads[donor];
        let left = load - self.process_load(process, donor);
        let loss = |other: f64, speed: f64| -(load - f64::max(left, other + work / speed));
        let is_open = |host: usize| host != donor && self.placement.has_memory_for(process, host);
        let (host, loss) = self.load_blocks.host_with_min_key(loss, is_open)?;
        (-loss > 0.0).then_some(host)
    }

    /// Draws the destination of a process among the hosts that the host `donor` knows by gossip; `None` if no known host is
    /// acceptable. The probability of a host grows with the gain c, the decrease of the larger work.
    fn draw_destination(
        &self,
        process: usize,
        donor: usize,
        known: &BTreeSet<usize>,
        random: &mut Stream,
    ) -> Option<usize> {
        let gains = known
            .iter()
            .copied()
            .filter(|&host| self.has_memory_for(process, host))
            .map(|host| (host, self.transfer_gain(process, donor, host)));
        let taken: Vec<(usize, f64)> = gains.filter(|one| self.is_acceptable_gain(one.1)).collect();
        draw_host_by_gain(&taken, random)
    }

    fn has_memory_for(&self, process: usize, host: usize) -> bool {
        self.is_variant_lbaf() || self.placement.has_memory_for(process, host)
    }

    fn is_acceptable_gain(&self, gain: f64) -> bool {
        gain > 0.0 || (self.is_variant_lbaf() && gain >= 0.0)
    }

    /// Returns the gain c of a transfer: the decrease of the larger work of the hosts `from` and `to` if the process moves \[s\].
    fn transfer_gain(&self, process: usize, from: usize, to: usize) -> f64 {
        let volume = self.received_and_sent_bytes_after(process, from, to);
        let left = self.host_loads[from] - self.process_load(process, from);
        let received = self.host_loads[to] + self.process_load(process, to);
        let before = f64::max(self.work(from), self.work(to));
        let after = f64::max(
            self.host_work(from, left, volume[0]),
            self.host_work(to, received, volume[1]),
        );
        before - after
    }

    fn received_and_sent_bytes_after(
        &self,
        process: usize,
        from: usize,
        to: usize,
    ) -> [[f64; 2]; 2] {
        let mut volume = [
            self.received_and_sent_bytes[from],
            self.received_and_sent_bytes[to],
        ];
        for &at in &self.message_indices[process] {
            let row = self.instance.communication[at];
            let (other, incoming) = if row.to == process {
                (row.from, 0)
            } else {
                (row.to, 1)
            };
            if other == process {
                continue;
            }
            let place = self.placement.hosts[other];
            let bytes = row.bytes.get();
            if place == from {
                volume[0][1 - incoming] += bytes;
            } else {
                volume[0][incoming] -= bytes;
            }
            if place == to {
                volume[1][1 - incoming] -= bytes;
            } else {
                volume[1][incoming] += bytes;
            }
        }
        volume
    }

    fn move_process(&mut self, process: usize, from: usize, to: usize) {
        [
            self.received_and_sent_bytes[from],
            self.received_and_sent_bytes[to],
        ] = self.received_and_sent_bytes_after(process, from, to);
        self.processes_of_host[from].retain(|&other| other != process);
        self.processes_of_host[to].push(process);
        self.processes_of_host[to].sort_unstable();
        self.placement.move_process(process, to);
        for host in [from, to] {
            self.host_loads[host] = self.recompute_host_load(host);
            self.load_blocks.set_load(host, self.host_loads[host]);
        }
    }
}

/// Draws one of several hosts, given with their gains c; the probabilities are proportional to `c − c_min`, or equal if all c are
/// equal. A single host needs no random number; returns `None` if there is no host.
fn draw_host_by_gain(gains: &[(usize, f64)], random: &mut Stream) -> Option<usize> {
    if let [] | [_] = gains {
        return gains.first().map(|one| one.0);
    }
    let least = gains.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
    let total: f64 = gains.iter().map(|one| one.1 - least).sum();
    if total <= 0.0 {
        return Some(gains[random.draw_below(gains.len())].0);
    }
    let mut left = random.draw_from_zero_to_one() * total;
    for &(host, gain) in gains {
        left -= gain - least;
        if left < 0.0 {
            return Some(host);
        }
    }
    // The subtraction was rounded: take the last host with a positive probability.
    gains
        .iter()
        .rev()
        .find(|one| one.1 > least)
        .map(|one| one.0)
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{decided_hosts, instance_without_background},
        *,
    };

    #[test]
    fn only_what_lowers_the_larger_of_two_works_goes() {
        // 6 against 0: 3 goes (3 and 3); then nothing helps.
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0], &[3.0, 2.0, 1.0]);
        assert_eq!(
            decided_hosts(InformAndTransferOptions::default(), &case),
            [1, 0, 0]
        );
    }

    #[test]
    fn without_a_round_of_gossip_hosts_know_no_other_host() {
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0], &[3.0, 2.0, 1.0]);
        let silent = InformAndTransferOptions {
            knowledge: LoadKnowledge::Gossip,
            rounds: 0,
            ..InformAndTransferOptions::default()
        };
        assert_eq!(decided_hosts(silent, &case), [0, 0, 0]);
        let talking = InformAndTransferOptions {
            rounds: 1,
            ..silent
        };
        assert_eq!(decided_hosts(talking, &case), [1, 0, 0]);
    }
    #[test]
    fn gossip_draws_hosts_in_proportion_to_what_they_gain() {
        let mut random = Stream::new(1, migsim_base::random::StreamPurpose::PolicyDecisions);
        let mut shares = |gains: &[(usize, f64)]| {
            let mut counts = [0; 4];
            for _ in 0..4000 {
                counts[draw_host_by_gain(gains, &mut random).unwrap()] += 1;
            }
            counts
        };
        // c − c_min is 3, 1 and 0.
        let [never, quarter, most, other] = shares(&[(2, 4.0), (1, 2.0), (0, 1.0)]);
        assert_eq!((never, other), (0, 0));
        assert!((900..1100).contains(&quarter) && quarter + most == 4000);
        let equal = shares(&[(0, 2.0), (3, 2.0)]);
        assert!((1900..2100).contains(&equal[0]) && equal[0] + equal[3] == 4000);
        assert_eq!(draw_host_by_gain(&[], &mut random), None);
    }
}
