//! Placement and viability: the choice of a host for each candidate, and the test whether the move shortens the predicted time of
//! the candidate.
//!
//! The manager of the preferred cluster offers the host with the largest `ICPU = peak · (1 - load)` that has memory for the
//! process (2007 paper, section 2.4 and equation 10; ties: the lowest index). The candidate moves if `t1 > t2`, where t1 is its
//! predicted time on the present host, and t2 its predicted time at the destination with the costs of migration. The destination
//! of an accepted candidate is reserved immediately, so that the next candidate takes the reservation into account.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    config::{FreeHost, MigBspConfig, OwnCluster, Sharing, ViabilityCommunication},
    forecast::Forecasts,
    potential::{MigrationPotential, PotentialComputation, manager_route},
};
use crate::{Candidate, View};
use migsim_base::units::{Bytes, ClusterId, HostId, ProcessId, Seconds};

/// Minimum ratio of the speed on another host of the cluster to the present speed of a process at which a run reports that the
/// process cannot move inside its cluster.
const KEPT_SPEED_RATIO: f64 = 10.0;

#[derive(Clone, Debug)]
pub(super) struct Reservations {
    pub(super) process_counts: Vec<u32>,
    process_counts_before_call: Vec<u32>,
    /// Number of processes on each host that have computed since the last call, including the moves that the call has decided so
    /// far.
    active_process_counts: Vec<u32>,
    /// Memory that the processes on each host use \[B\], including the moves that the call has decided so far.
    used_memory: Vec<f64>,
    /// The last offer of each cluster, with the memory of the process that received the offer \[B\]. An entry is valid until a
    /// reservation in the cluster changes.
    cluster_offers: Vec<Option<(f64, Option<HostOffer>)>>,
}

impl Reservations {
    pub(super) fn new(forecasts: &Forecasts, view: &View<'_>) -> Self {
        let hosts = view.platform.hosts.len();
        let mut reservations = Self {
            process_counts: vec![0; hosts],
            process_counts_before_call: Vec::new(),
            active_process_counts: vec![0; hosts],
            used_memory: vec![0.0; hosts],
            cluster_offers: vec![None; view.platform.clusters.len()],
        };
        for (process, host) in view.placement.iter().enumerate() {
            reservations.add_process(process, *host, forecasts, view);
        }
        reservations
            .process_counts_before_call
            .clone_from(&reservations.process_counts);
        reservations
    }

    fn add_process(
        &mut self,
        process: usize,
        host: HostId,
        forecasts: &Forecasts,
        view: &View<'_>,
    ) {
        self.process_counts[host.index()] += 1;
        self.active_process_counts[host.index()] += u32::from(forecasts.has_computed(process));
        self.used_memory[host.index()] += view.process_memory[process].get();
    }

    fn remove_process(
        &mut self,
        process: usize,
        host: HostId,
        forecasts: &Forecasts,
        view: &View<'_>,
    ) {
        self.process_counts[host.index()] -= 1;
        self.active_process_counts[host.index()] -= u32::from(forecasts.has_computed(process));
        self.used_memory[host.index()] -= view.process_memory[process].get();
    }

    pub(super) fn move_process(
        &mut self,
        process: usize,
        [from, to]: [HostId; 2],
        forecasts: &Forecasts,
        view: &View<'_>,
    ) {
        self.remove_process(process, from, forecasts, view);
        self.add_process(process, to, forecasts, view);
        for host in [from, to] {
            self.cluster_offers[view.platform.cluster_of(host).index()] = None;
        }
    }

    fn resident_count(&self, config: &MigBspConfig, host: usize) -> u32 {
        match config.free_host {
            FreeHost::Inactive => self.active_process_counts[host],
            FreeHost::Any | FreeHost::Unmapped => self.process_counts[host],
        }
    }

    pub(super) fn resident_counts(&self, config: &MigBspConfig) -> Vec<u32> {
        (0..self.process_counts.len())
            .map(|host| self.resident_count(config, host))
            .collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ViabilityTest<'a> {
    pub(super) config: &'a MigBspConfig,
    pub(super) forecasts: &'a Forecasts,
    pub(super) view: &'a View<'a>,
    pub(super) horizon_supersteps: f64,
    pub(super) candidates: &'a [MigrationPotential],
    /// The potentials of migration PM(i,j).
    pub(super) potentials: &'a PotentialComputation<'a>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CandidateTimes {
    /// The number of the process, counted from 1.
    process: usize,
    /// ICPU, the computing power of the offered host that its load leaves.
    pub(super) power_instructions_per_s: f64,
    pub(super) offered_hosts: u32,
    pub(super) residents: u32,
    /// The factor on the computation time because the process shares the offered host.
    pub(super) slowdown: f64,
    /// The part of the slowdown factor that accounts for the slowdown of the processes already on the destination; 0 in records
    /// of older runs without this value.
    #[serde(default)]
    pub(super) slowdown_inflicted: f64,
    pub(super) supersteps: f64,
    pub(super) stay_compute_s: f64,
    pub(super) stay_communication_s: f64,
    pub(super) go_compute_s: f64,
    pub(super) go_communication_s: f64,
    pub(super) go_transfer_s: f64,
    pub(super) go_operations_s: f64,
}

impl CandidateTimes {
    /// Returns t1 and t2, over the supersteps of the horizon.
    fn sums(&self) -> [Seconds; 2] {
        let stay = (self.stay_compute_s + self.stay_communication_s) * self.supersteps;
        let there = (self.go_compute_s + self.go_communication_s) * self.supersteps;
        let go = there + (self.go_operations_s + self.go_transfer_s);
        [stay, go].map(Seconds::of)
    }
}

#[derive(Clone, Copy, Debug)]
struct HostOffer {
    host: HostId,
    remaining_power: f64,
    free_host_count: u32,
}

impl ViabilityTest<'_> {
    /// Decides for each candidate in turn whether it moves, and reserves the destinations of those that do. Returns the records
    /// of the candidates, and the terms of t1 and t2 of those for which they were computed.
    pub(super) fn judge(
        &self,
        reservations: &mut Reservations,
    ) -> (Vec<Candidate>, Vec<CandidateTimes>) {
        let candidates = self.candidates.iter();
        let (judged, times): (Vec<_>, Vec<_>) = candidates
            .map(|candidate| self.judge_candidate(candidate, reservations))
            .unzip();
        (judged, times.into_iter().flatten().collect())
    }

    /// Counts the processes that stay because their own cluster has their highest PM, although another host of this cluster would
    /// be more than ten times as fast for them.
    pub(super) fn kept_process_count(
        &self,
        best: &[MigrationPotential],
        reservations: &Reservations,
    ) -> usize {
        if self.config.own_cluster != OwnCluster::Competes {
            return 0;
        }
        let fastest = self.potentials.best_host_powers();
        let is_kept = |one: &&MigrationPotential| {
            let speed = KEPT_SPEED_RATIO * self.potentials.present_speed(one.process());
            let offer = || self.best_host_offer(one.process(), one.cluster(), reservations);
            one.is_to_own_cluster()
                && one.computation_term > 0.0
                && fastest[one.cluster()] > speed
                && offer().is_some_and(|offer| offer.remaining_power > speed)
        };
        best.iter().filter(is_kept).count()
    }

    /// Returns the record of a candidate that stays, without a host.
    pub(super) fn staying_candidate(
        &self,
        candidate: &MigrationPotential,
        reason: Cow<'static, str>,
    ) -> Candidate {
        let process = candidate.process();
        Candidate {
            process: ProcessId::from_index(process),
            from: self.view.placement[process],
            to_cluster: ClusterId::from_index(candidate.cluster()),
            to: None,
            score: candidate.value(),
            stay: None,
            go: None,
            accepted: false,
            reason,
        }
    }

    pub(super) fn judge_candidate(
        &self,
        candidate: &MigrationPotential,
        reservations: &mut Reservations,
    ) -> (Candidate, Option<CandidateTimes>) {
        let process = candidate.process();
        let mut record = self.staying_candidate(candidate, "".into());
        let Some(offer) = self.host_offer(process, candidate.cluster(), reservations) else {
            record.reason = "no host of the cluster is free for the process".into();
            return (record, None);
        };
        let host = offer.host;
        record.to_cluster = self.view.platform.cluster_of(host);
        record.to = Some(host);
        let residents = reservations.resident_count(self.config, host.index());
        if self.config.sharing == Sharing::Alone && residents > 0 {
            record.reason = "the offered host already has a process".into();
            return (record, None);
        }
        let times = self.predict_times(process, offer, residents, reservations);
        let [stay, go] = times.sums();
        (record.stay, record.go) = (Some(stay), Some(go));
        record.accepted = stay > go;
        if record.accepted {
            reservations.move_process(process, [record.from, host], self.forecasts, self.view);
        }
        record.reason = match residents {
            _ if record.accepted => "viable: t1 > t2".into(),
            0 => "not viable: t1 <= t2".into(),
            _ => format!("not viable: t1 <= t2 on a host shared with {residents}").into(),
        };
        (record, Some(times))
    }

    /// Returns the host that `cluster` offers to a process; `None` if no host can take it.
    ///
    /// The offer is stored and reused for the next process with equal memory until a reservation in the cluster changes. For a
    /// process that is already in the cluster the offer is always computed.
    fn host_offer(
        &self,
        process: usize,
        cluster: usize,
        reservations: &mut Reservations,
    ) -> Option<HostOffer> {
        if self.view.cluster_of(process).index() == cluster {
            return self.best_host_offer(process, cluster, reservations);
        }
        let memory = self.view.process_memory[process].get();
        match reservations.cluster_offers[cluster] {
            Some((of, offer)) if of == memory => offer,
            _ => {
                let offer = self.best_host_offer(process, cluster, reservations);
                reservations.cluster_offers[cluster] = Some((memory, offer));
                offer
            }
        }
    }

    /// Returns the host of `cluster` with the largest ICPU (remaining computing power) that is free and has memory for the
    /// process; `None` if there is none. The present host of the process is excluded.
    fn best_host_offer(
        &self,
        process: usize,
        cluster: usize,
        reservations: &Reservations,
    ) -> Option<HostOffer> {
        let view = self.view;
        let mut best: Option<(f64, u32)> = None;
        let mut offered = 0;
        for host in view.platform.clusters[cluster].hosts.clone() {
            let at = host as usize;
            if view.placement[process].index() == at {
                continue;
            }
            let residents = reservations.resident_count(self.config, at);
            if self.config.free_host != FreeHost::Any && residents > 0 {
                continue;
            }
            let needed = reservations.used_memory[at] + view.process_memory[process].get();
            if view.platform.hosts[at]
                .memory
                .is_some_and(|memory| needed > memory.get())
            {
                continue;
            }
            let power = view.process_speed(HostId(host), f64::from(residents + 1));
            offered += 1;
            if best.is_none_or(|(most, _)| power > most) {
                best = Some((power, host));
            }
        }
        best.map(|(power, host)| HostOffer {
            host: HostId(host),
            remaining_power: power,
            free_host_count: offered,
        })
    }

    /// Returns the factor by which each of `processes` processes on a host is slower than one alone.
    fn sharing_slowdown(&self, host: usize, processes: u32) -> f64 {
        let slowdown = |count: f64| self.view.slowdown(HostId::from_index(host), count);
        slowdown(f64::from(processes)) / slowdown(1.0)
    }

    /// Computes the terms of t1 and t2 (the predicted times without and with the move) of `process` for the offered host.
    /// `residents` is the number of processes that count as being on this host.
    ///
    /// t1 is based on the predicted computation time, reduced if processes no longer share the present host because this call
    /// assigned them to other hosts.
    fn predict_times(
        &self,
        process: usize,
        offer: HostOffer,
        residents: u32,
        reservations: &Reservations,
    ) -> CandidateTimes {
        let host = offer.host;
        let (config, forecasts, view) = (self.config, self.forecasts, self.view);
        let shared = self.sharing_slowdown(host.index(), residents + 1);
        let inflicted = match config.sharing {
            Sharing::Fair | Sharing::Alone => 0.0,
            // Each resident loses the difference, and their loss counts for the new process.
            Sharing::FairAndInflicted => {
                f64::from(residents)
                    * (shared - self.sharing_slowdown(host.index(), residents.max(1)))
            }
        };
        let slowdown = shared + inflicted;
        let communication = match config.viability_communication {
            ViabilityCommunication::Ignored => (0.0, 0.0),
            ViabilityCommunication::Uncontended => {
                self.uncontended_communication_times(process, host)
            }
        };
        let own = view.placement[process].index();
        let relief = self.sharing_slowdown(own, reservations.process_counts[own])
            / self.sharing_slowdown(own, reservations.process_counts_before_call[own]);
        let transfer = if config.viability_transfer {
            let to = view.platform.cluster_of(host).index();
            self.potentials.transfer_time(process, to)
        } else {
            Seconds::default()
        };
        let there = view.execution_time(forecasts.predicted_work(process), host);
        CandidateTimes {
            process: process + 1,
            power_instructions_per_s: offer.remaining_power,
            offered_hosts: offer.free_host_count,
            residents,
            slowdown,
            slowdown_inflicted: inflicted,
            supersteps: self.horizon_supersteps,
            stay_compute_s: forecasts.predicted_computation_time(process).get() * relief,
            stay_communication_s: communication.0,
            go_compute_s: there.get() * slowdown,
            go_communication_s: communication.1,
            go_transfer_s: transfer.get(),
            go_operations_s: config.viability_cost.get(),
        }
    }

    /// Returns the predicted communication time of a process in a superstep \[s\], first on its present host and then from the
    /// cluster of `host`.
    ///
    /// The first time is the forecast from measured times. The second time assumes that each message takes its latency and is
    /// alone on its route. Both times are sums over the same messages with the same clusters, in which old supersteps lose weight
    /// in the same way. Therefore, without contention, both sums of a process that stays in its cluster are equal. Messages of
    /// several sizes count with their mean size; a message inside a host counts as one between hosts.
    pub(super) fn uncontended_communication_times(
        &self,
        process: usize,
        host: HostId,
    ) -> (f64, f64) {
        let View {
            platform, network, ..
        } = *self.view;
        let to = platform.cluster_of(host).index();
        let mut sums = (0.0, 0.0);
        // They are sorted, so that sums do not depend on the order of entries; all other clusters add nothing.
        let mut partners: Vec<_> = self
            .forecasts
            .exchange_forecasts_of_process(process)
            .collect();
        partners.sort_unstable_by_key(|(cluster, _)| *cluster);
        for (cluster, exchange) in partners {
            sums.0 += exchange.communication_time;
            if exchange.timed_messages > 0.0
                && let Some(route) = manager_route(platform, cluster, to)
            {
                let size = Bytes::of(exchange.timed_bytes / exchange.timed_messages);
                let (latency, rate) = (
                    platform.route_latency(&route),
                    platform.bottleneck_bandwidth(&route),
                );
                sums.1 += exchange.timed_messages * network.message_time(latency, rate, size).get();
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests;
