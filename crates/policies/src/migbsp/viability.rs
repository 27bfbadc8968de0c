//! Placement and viability: the host for a candidate, and the test that its move pays.
//!
//! The manager of the preferred cluster offers the host with the largest `ICPU = peak · (1 - load)` that has memory for the process (2007
//! paper, section 2.4 and equation 10; ties: the lowest index). The candidate moves if `t1 > t2`: its predicted time where it is, and its
//! predicted time at the destination with the costs of migration. A host is reserved at once, so that the next candidate sees the
//! reservation.

use std::borrow::Cow;

use super::config::{
    FreeHost, FullCluster, HostLoad, MigBspConfig, OwnCluster, Sharing, Viability,
    ViabilityCommunication,
};
use super::forecast::Forecasts;
use super::groups::Groups;
use super::potential::{Potential, Potentials, route_between};
use crate::{Candidate, View};
use migsim_base::units::{Bytes, ClusterId, HostId, ProcessId, Seconds};

/// The processes and memory on each host, including the reservations of this call.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    /// Number of processes on each host, now and before the call.
    pub(super) mapped: Vec<u32>,
    before: Vec<u32>,
    active: Vec<u32>,
    /// `free_host: quiet`: number of processes that computed in the calling superstep or were sent there, and hosts with a computation
    /// within the memory.
    computing: Vec<u32>,
    is_remembered: Vec<bool>,
    memory: Vec<f64>,
    /// For each cluster, the memory of the last process that got an offer \[B\] and the offer, until a reservation there changes.
    offers: Vec<Option<(f64, Option<Offer>)>>,
    /// The candidates that move together.
    pub(super) groups: Groups,
}

impl Reservations {
    pub(super) fn new(config: &MigBspConfig, forecasts: &Forecasts, view: &View<'_>) -> Self {
        let hosts = view.platform.hosts.len();
        let is_remembered =
            |host: usize| forecasts.computed_recently(host, config.load_memory, view);
        let mut reservations = Self {
            mapped: vec![0; hosts],
            before: Vec::new(),
            active: vec![0; hosts],
            computing: vec![0; hosts],
            is_remembered: (0..hosts).map(is_remembered).collect(),
            memory: vec![0.0; hosts],
            offers: vec![None; view.platform.clusters.len()],
            groups: Groups::default(),
        };
        for (process, host) in view.placement.iter().enumerate() {
            reservations.add(process, *host, forecasts, view);
            reservations.computing[host.index()] += u32::from(is_computing(process, view));
        }
        reservations.before.clone_from(&reservations.mapped);
        reservations
    }

    fn add(&mut self, process: usize, host: HostId, forecasts: &Forecasts, view: &View<'_>) {
        self.mapped[host.index()] += 1;
        self.active[host.index()] += u32::from(forecasts.is_active(process));
        self.memory[host.index()] += view.memory[process].get();
    }

    fn take(&mut self, process: usize, host: HostId, forecasts: &Forecasts, view: &View<'_>) {
        self.mapped[host.index()] -= 1;
        self.active[host.index()] -= u32::from(forecasts.is_active(process));
        self.memory[host.index()] -= view.memory[process].get();
    }

    /// Moves the reservation of a process.
    fn relocate(&mut self, process: usize, to: HostId, forecasts: &Forecasts, view: &View<'_>) {
        let from = view.placement[process];
        self.take(process, from, forecasts, view);
        self.add(process, to, forecasts, view);
        self.computing[from.index()] -= u32::from(is_computing(process, view));
        self.computing[to.index()] += 1;
        for host in [from, to] {
            self.offers[view.platform.cluster_of(host).index()] = None;
        }
    }

    /// Returns the number of processes that count as being on a host.
    fn occupancy(&self, config: &MigBspConfig, host: usize) -> u32 {
        match config.free_host {
            FreeHost::Inactive => self.active[host],
            FreeHost::Quiet => self.computing[host].max(u32::from(self.is_remembered[host])),
            FreeHost::Any | FreeHost::Unmapped => self.mapped[host],
        }
    }

    /// Returns the numbers of processes that count as being on each host in the index of the clusters.
    pub(super) fn for_index(&self, config: &MigBspConfig) -> Vec<u32> {
        (0..self.mapped.len())
            .map(|host| self.occupancy(config, host))
            .collect()
    }
}

/// Whether a process computed in the superstep that has just ended.
fn is_computing(process: usize, view: &View<'_>) -> bool {
    view.measures.work[process].get() > 0.0
}

/// The data of a call: options, forecasts, view, and the number of supersteps over which times are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) config: &'a MigBspConfig,
    pub(super) forecasts: &'a Forecasts,
    pub(super) view: &'a View<'a>,
    pub(super) horizon: f64,
    /// PM(i,j): the alternatives if a cluster is full.
    pub(super) potentials: &'a Potentials<'a>,
}

/// The destination offered to a candidate, and the terms of t1 and t2, as in the decision record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weighing {
    pub(super) process: ProcessId,
    /// ICPU of the offered host [instructions/s], and the number of hosts of its cluster that could have taken the process.
    pub(super) power: f64,
    pub(super) offered: u32,
    /// Number of processes that count as being there.
    pub(super) residents: u32,
    /// The factor by which they slow the process, and an addition to it for the slowdown of these processes.
    pub(super) slowdown: [f64; 2],
    /// The computation in t1 = computation + communication on the present host.
    pub(super) stay_compute: f64,
    /// The computation in t2 = computation + communication there + transfer of the memory + operations of the move ([`Call::operations`]).
    pub(super) go_compute: f64,
    pub(super) go_transfer: Seconds,
    /// Communication on the present host and at the destination; none if it does not count.
    communication: Option<Box<(f64, f64)>>,
}

impl Weighing {
    /// Returns the properties by which hosts make a process equal offers.
    pub(super) fn equal_hosts(&self) -> (u64, u32) {
        (self.power.to_bits(), self.residents)
    }

    /// Returns the factor of the computation in t2.
    pub(super) fn slowdown(&self) -> f64 {
        self.slowdown[0] + self.slowdown[1]
    }

    /// Returns the communication in t1 and in t2.
    pub(super) fn communication(&self) -> (f64, f64) {
        self.communication.as_deref().copied().unwrap_or_default()
    }
}

/// The host that is offered to a process.
#[derive(Clone, Copy, Debug)]
struct Offer {
    host: HostId,
    power: f64,
    offered: u32,
}

/// Returns the reason for a process that would share its host with `residents` processes; it is newly formatted only for unusually many.
fn not_viable(residents: u32) -> Cow<'static, str> {
    macro_rules! reasons {
        ($($count:literal)*) => {
            [$(concat!("not viable: t1 <= t2 on a host shared with ", $count)),*]
        };
    }
    const REASONS: [&str; 16] = reasons!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    let known = REASONS.get((residents as usize).wrapping_sub(1));
    known.map_or_else(
        || format!("not viable: t1 <= t2 on a host shared with {residents}").into(),
        |reason| Cow::Borrowed(*reason),
    )
}

impl Call<'_> {
    /// Returns the price of a move besides the transfer of the memory.
    pub(super) fn operations(&self) -> Seconds {
        self.config.viability_cost
    }

    /// Returns t1 and t2.
    fn times(&self, weighing: &Weighing) -> (Seconds, Seconds) {
        let (talk_here, talk_there) = weighing.communication();
        let stay = (weighing.stay_compute + talk_here) * self.horizon;
        let there = (weighing.go_compute + talk_there) * self.horizon;
        let go = Seconds::of(there) + (self.operations() + weighing.go_transfer);
        (Seconds::of(stay), go)
    }

    /// Judges one candidate, and reserves its host if it moves; also returns the terms, if there are any.
    pub(super) fn judge(
        &self,
        candidate: &Potential,
        reservations: &mut Reservations,
    ) -> (Candidate, Option<Weighing>) {
        let process = candidate.process();
        let mut record = Candidate {
            process: ProcessId::from_index(process),
            from: self.view.placement[process],
            to_cluster: ClusterId::from_index(candidate.cluster()),
            to: None,
            score: candidate.value(),
            stay: None,
            go: None,
            accepted: false,
            reason: "".into(),
        };
        let Some((cluster, offer)) = self.destination(candidate, reservations) else {
            record.reason = if self.config.full_cluster == FullCluster::NextForGroup {
                "no cluster has room for all that want to go with it".into()
            } else {
                "no host of the cluster is free for it".into()
            };
            return (record, None);
        };
        let host = offer.host;
        record.to_cluster = ClusterId::from_index(cluster);
        record.to = Some(host);
        let residents = reservations.occupancy(self.config, host.index());
        if self.config.sharing == Sharing::Alone && residents > 0 {
            record.reason = "the host is not empty".into();
            return (record, None);
        }
        let weighing = self.weigh(process, offer, residents, reservations);
        let (stay, go) = self.times(&weighing);
        (record.stay, record.go) = (Some(stay), Some(go));
        let is_tested = self.config.viability == Viability::Tested;
        record.accepted = stay > go || !is_tested;
        if record.accepted {
            record.reason = if is_tested {
                "viable: t1 > t2".into()
            } else {
                "its PM decides: viability is not tested".into()
            };
            reservations.relocate(process, host, self.forecasts, self.view);
        } else if residents > 0 {
            record.reason = not_viable(residents);
        } else {
            record.reason = "not viable: t1 <= t2".into();
        }
        (record, Some(weighing))
    }

    /// Returns the cluster and host that are offered to a candidate.
    fn destination(
        &self,
        candidate: &Potential,
        reservations: &mut Reservations,
    ) -> Option<(usize, Offer)> {
        let process = candidate.process();
        if self.config.full_cluster == FullCluster::NextForGroup {
            let mut groups = std::mem::take(&mut reservations.groups);
            let cluster = groups.destination(candidate, self.view, |members| {
                let mut choices =
                    std::iter::once(candidate.cluster()).chain(self.others(candidate));
                choices.find(|&cluster| {
                    let offer = self.offer(process, cluster, reservations);
                    offer.is_some_and(|offer| offer.offered >= members)
                })
            });
            reservations.groups = groups;
            return Some((cluster?, self.offer(process, cluster?, reservations)?));
        }
        let mut offer = |cluster: usize| {
            self.offer(process, cluster, reservations)
                .map(|offer| (cluster, offer))
        };
        if let Some(found) = offer(candidate.cluster()) {
            return Some(found);
        }
        if self.config.full_cluster == FullCluster::Stay {
            return None;
        }
        self.others(candidate).into_iter().find_map(offer)
    }

    /// Returns the clusters of the other potentials of a candidate, in decreasing order of PM.
    fn others(&self, candidate: &Potential) -> Vec<usize> {
        let own = self.view.cluster_of(candidate.process()).index();
        let is_alternative = |other: &Potential| {
            other.cluster() != candidate.cluster()
                && (other.cluster() != own || self.config.own_cluster == OwnCluster::Within)
                && (other.value() > 0.0 || !self.config.only_positive)
        };
        let all = self.potentials.of(candidate.process());
        let mut others: Vec<Potential> = all.filter(is_alternative).collect();
        others.sort_by(|a, b| {
            b.value()
                .total_cmp(&a.value())
                .then(a.cluster().cmp(&b.cluster()))
        });
        others.iter().map(Potential::cluster).collect()
    }

    /// Returns the offer of `cluster`, which is the same for the next process of equal memory until a reservation there changes. A process
    /// that searches another host in its own cluster has an offer of its own.
    fn offer(
        &self,
        process: usize,
        cluster: usize,
        reservations: &mut Reservations,
    ) -> Option<Offer> {
        if self.view.cluster_of(process).index() == cluster {
            return self.best_host(process, cluster, reservations);
        }
        let memory = self.view.memory[process].get();
        match reservations.offers[cluster] {
            Some((of, offer)) if of == memory => offer,
            _ => {
                let offer = self.best_host(process, cluster, reservations);
                reservations.offers[cluster] = Some((memory, offer));
                offer
            }
        }
    }

    /// Returns the host of `cluster` with the largest ICPU among the free hosts with memory for the process, except its own host.
    fn best_host(
        &self,
        process: usize,
        cluster: usize,
        reservations: &Reservations,
    ) -> Option<Offer> {
        let view = self.view;
        let mut best: Option<(f64, u32)> = None;
        let mut offered = 0;
        for host in view.platform.clusters[cluster].hosts.clone() {
            let at = host as usize;
            if view.placement[process].index() == at {
                continue;
            }
            let residents = reservations.occupancy(self.config, at);
            if self.config.free_host != FreeHost::Any && residents > 0 {
                continue;
            }
            let needed = reservations.memory[at] + view.memory[process].get();
            if view.platform.hosts[at]
                .memory
                .is_some_and(|memory| needed > memory.get())
            {
                continue;
            }
            let left = view.platform.hosts[at].speed.get() * (1.0 - view.external_load[at]);
            let power = match self.config.host_load {
                HostLoad::External => left,
                HostLoad::WithProcesses => left / self.crowd(at, residents + 1),
            };
            offered += 1;
            if best.is_none_or(|(most, _)| power > most) {
                best = Some((power, host));
            }
        }
        best.map(|(power, host)| Offer {
            host: HostId(host),
            power,
            offered,
        })
    }

    /// Returns the factor by which each of `processes` on a host is slowed.
    fn crowd(&self, host: usize, processes: u32) -> f64 {
        (f64::from(processes) / f64::from(self.view.platform.hosts[host].cores)).max(1.0)
    }

    /// Computes t1 and t2 of `process` for the offered destination, where `residents` processes are.
    ///
    /// t1 is the measured time, less the effect of processes that no longer share the host, because they were assigned other hosts in this call.
    fn weigh(
        &self,
        process: usize,
        offer: Offer,
        residents: u32,
        reservations: &Reservations,
    ) -> Weighing {
        let host = offer.host;
        let Self {
            config,
            forecasts,
            view,
            ..
        } = *self;
        let shared = self.crowd(host.index(), residents + 1);
        let inflicted = match config.sharing {
            Sharing::Fair | Sharing::Alone => 0.0,
            // Each resident loses the difference, and their loss counts for the new process.
            Sharing::FairAndInflicted => {
                f64::from(residents) * (shared - self.crowd(host.index(), residents.max(1)))
            }
        };
        let slowdown = shared + inflicted;
        let communication = match config.viability_communication {
            ViabilityCommunication::Ignored => None,
            ViabilityCommunication::Uncontended => Some(Box::new(self.uncontended(process, host))),
        };
        let own = view.placement[process].index();
        let relief =
            self.crowd(own, reservations.mapped[own]) / self.crowd(own, reservations.before[own]);
        let transfer = if config.viability_transfer {
            let to = view.platform.cluster_of(host).index();
            self.potentials.transfer_time(process, to)
        } else {
            Seconds::default()
        };
        Weighing {
            process: ProcessId::from_index(process),
            power: offer.power,
            offered: offer.offered,
            residents,
            slowdown: [shared, inflicted],
            stay_compute: forecasts.compute(process).get() * relief,
            go_compute: view.execution_time(forecasts.work(process), host).get() * slowdown,
            go_transfer: transfer,
            communication,
        }
    }

    /// Returns two predicted communication times \[s\]: of a process on its present host, as measured, and of the same messages on the
    /// cluster of `host`. There each message takes its latency and is alone on its route.
    ///
    /// Both sums are over the same messages with the same clusters, aged alike. So, without contention, both sums of a process that stays
    /// in its cluster are equal. Messages of several sizes count with their mean size; a message inside a host counts as one between hosts.
    fn uncontended(&self, process: usize, host: HostId) -> (f64, f64) {
        let View {
            platform, network, ..
        } = *self.view;
        let to = platform.cluster_of(host).index();
        let mut sums = (0.0, 0.0);
        // They are sorted, so that sums do not depend on the order of entries; all other clusters add nothing.
        let mut partners: Vec<_> = self.forecasts.partners(process).collect();
        partners.sort_unstable_by_key(|(cluster, _)| *cluster);
        for (cluster, exchange) in partners {
            sums.0 += exchange.time;
            if exchange.messages > 0.0
                && let Some(route) = route_between(platform, cluster, to)
            {
                let size = Bytes::of(exchange.volume / exchange.messages);
                let (latency, rate) = (platform.latency(&route), platform.bottleneck(&route));
                sums.1 += exchange.messages * network.message_time(latency, rate, size).get();
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests;
