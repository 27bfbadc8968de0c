//! The potential of migration (PM) of each process to each cluster, and the selection of candidates.
//!
//! ```text
//! PM(i,j)   = Comp(i,j) + Comm(i,j) - Mem(i,j)          (LU paper, equation 1)
//! Comp(i,j) = Pcomp(i) · CTP(i) · ISet(i,j)             (Smith-Waterman paper on dynamic platforms, equation 2)
//! Comm(i,j) = Pcomm(i,j) · BTP(i,j)                     (equation 3)
//! Mem(i,j)  = M(i) · T(i,j) + Mig(i,j)                  (equation 4)
//! ```
//! CTP and BTP are the predicted times of computation and communication of process i, Pcomp and Pcomm their regularities, M(i)
//! the memory of the process, T(i,j) the transfer time per byte to cluster j, and Mig(i,j) the time of the operations of a move.
//! All terms are in seconds, each with a weight of 1 (or [`super::weights`]).
//!
//! The paper does not define ISet(j): here it is computed from the computing power of the clusters, relative to the best cluster,
//! or for each process relative to its present host ([`IndexForm`]). Of each process only its highest PM and the cluster of this
//! PM are used for the selection. Heuristic one selects all processes above `x · max PM`, heuristic two only the process with the
//! highest PM.

use std::collections::BTreeMap;

use super::{
    config::{
        Heuristic, IndexForm, MemoryOrigin, MemoryRate, MigBspConfig, OwnCluster, SetIndex,
        ThresholdMeaning,
    },
    exchanges::ExchangeForecast,
    forecast::{Forecasts, NO_EXCHANGE},
    weights::PotentialWeights,
};
use crate::View;
use migsim_base::units::{BytesPerSecond, ClusterId, HostId, ProcessId, Seconds, to_u32};
use migsim_platform::{Platform, Route};

/// Maximum of a term of PM, the potential of migration \[s\]. It keeps the sum of three terms finite, however fast a host or long
/// a message is.
const MAX_TERM: f64 = 1e307;

/// Maximum number of pairs of a process and a cluster for which a call computes and records every potential of migration PM(i,j).
///
/// With more pairs only the PM of candidates are recorded, and only the pairs that can affect the decision are visited. The
/// decision is the same, to the last bit.
pub(crate) const MAX_LISTED_PAIRS: usize = 20_000;

/// PM(i,j), the potential of migration of one process to one cluster, with its terms \[s\]. Numbers have 32 bits, since a call
/// stores one PM for each process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MigrationPotential {
    pub(super) process_number: u32,
    pub(super) cluster_number: u32,
    pub(super) own_cluster: u32,
    pub(super) computation_term: f64,
    pub(super) communication_term: f64,
    pub(super) memory_term: f64,
}

impl MigrationPotential {
    pub(super) fn process(&self) -> usize {
        self.process_number as usize
    }

    pub(super) fn cluster(&self) -> usize {
        self.cluster_number as usize
    }

    pub(super) fn is_to_own_cluster(&self) -> bool {
        self.cluster_number == self.own_cluster
    }

    /// Returns PM(i,j), the potential of migration \[s\]: Comp + Comm - Mem.
    pub(super) fn value(&self) -> f64 {
        self.computation_term + self.communication_term - self.memory_term
    }
}

/// Computes the potentials of migration PM(i,j) of all processes to all clusters in one rescheduling call.
#[derive(Debug)]
pub(super) struct PotentialComputation<'a> {
    config: &'a MigBspConfig,
    horizon_supersteps: f64,
    forecasts: &'a Forecasts,
    processes_per_host: &'a [u32],
    view: &'a View<'a>,
    /// The computing power of each cluster \[instr/s\], as the option `set_index` defines it.
    cluster_powers: Vec<f64>,
    max_cluster_power: f64,
    /// The bandwidth of the narrowest link between clusters; `None` if `memory_rate` is not `backbone` or there is no such link.
    /// It is stored because finding it needs a search over all links.
    backbone_bandwidth: Option<BytesPerSecond>,
    term_weights: [f64; 3],
}

impl<'a> PotentialComputation<'a> {
    pub(super) fn new(
        config: &'a MigBspConfig,
        horizon: f64,
        forecasts: &'a Forecasts,
        occupancy: &'a [u32],
        view: &'a View<'a>,
    ) -> Self {
        let powers = cluster_powers(config.set_index, occupancy, view);
        Self {
            max_cluster_power: powers.iter().copied().fold(0.0, f64::max),
            backbone_bandwidth: match config.memory_rate {
                MemoryRate::Backbone => view.platform.backbone_bandwidth(),
                MemoryRate::Managers => None,
            },
            config,
            horizon_supersteps: horizon,
            forecasts,
            processes_per_host: occupancy,
            view,
            cluster_powers: powers,
            term_weights: [1.0; 3],
        }
    }

    pub(super) fn with_weights(mut self, weights: &PotentialWeights) -> Self {
        self.term_weights = [weights.computation, weights.communication, weights.memory];
        self
    }

    /// Returns for each cluster the speed that its best host would give to one more process \[instr/s\].
    pub(super) fn best_host_powers(&self) -> Vec<f64> {
        cluster_powers(SetIndex::BestHost, self.processes_per_host, self.view)
    }

    /// Returns the speed that a process has on its present host \[instr/s\].
    pub(super) fn present_speed(&self, process: usize) -> f64 {
        present_speed(self.processes_per_host, process, self.view)
    }

    pub(super) fn pair_count(&self) -> usize {
        let excluded = usize::from(self.config.own_cluster == OwnCluster::Excluded);
        self.view.processes() * (self.cluster_powers.len() - excluded)
    }

    /// Returns the highest PM of each process that may move, and all PM of these processes unless there are too many.
    pub(super) fn best_and_listed(
        &self,
    ) -> (Vec<MigrationPotential>, Option<Vec<MigrationPotential>>) {
        let is_movable = |process: &usize| !self.view.is_pinned(*process);
        let processes = 0..self.view.processes();
        if processes.len() * self.cluster_powers.len() > MAX_LISTED_PAIRS {
            let mut best = self.best_potentials();
            best.retain(|potential| is_movable(&potential.process()));
            return (best, None);
        }
        let movable = processes.filter(is_movable);
        let all = movable.flat_map(|process| self.potentials_of_process(process));
        let all: Vec<MigrationPotential> = all.collect();
        (highest_potentials(&all), Some(all))
    }

    /// Returns the potentials of migration PM of a process to every possible cluster, in the order of clusters.
    pub(super) fn potentials_of_process(
        &self,
        process: usize,
    ) -> impl Iterator<Item = MigrationPotential> {
        let subject = self.process_data(process);
        let may_want = move |cluster: &usize| {
            *cluster != subject.present_cluster || self.config.own_cluster != OwnCluster::Excluded
        };
        let clusters = (0..self.cluster_powers.len()).filter(may_want);
        clusters.map(move |cluster| {
            let exchange = self.forecasts.predicted_exchange(process, cluster);
            let rate = self.memory_rate(self.memory_origin_cluster(process), cluster);
            self.potential_to_cluster(&subject, cluster, rate, exchange)
        })
    }

    #[inline]
    fn process_data(&self, process: usize) -> ProcessData {
        let forecasts = self.forecasts;
        ProcessData {
            process,
            present_cluster: self.view.cluster_of(process).index(),
            weighted_computation_time: forecasts.computation_regularity(process)
                * forecasts.predicted_computation_time(process).get(),
        }
    }

    /// Returns PM(i,j), the potential of migration of a process to cluster j.
    ///
    /// `rate` is the bandwidth at which the memory is sent to this cluster (`None` without a route), `exchange` the forecast of
    /// the process's communication with the cluster.
    #[inline]
    fn potential_to_cluster(
        &self,
        subject: &ProcessData,
        cluster: usize,
        rate: Option<BytesPerSecond>,
        exchange: ExchangeForecast,
    ) -> MigrationPotential {
        let (config, horizon) = (self.config, self.horizon_supersteps);
        let &ProcessData {
            process,
            present_cluster: own,
            ..
        } = subject;
        let power = self.cluster_powers[cluster];
        let index = match config.index_form {
            IndexForm::OfBest if self.max_cluster_power > 0.0 => power / self.max_cluster_power,
            IndexForm::GainOverSource if power > 0.0 => {
                (1.0 - self.present_speed(process) / power).max(-MAX_TERM)
            }
            IndexForm::OfBest | IndexForm::GainOverSource => 0.0,
        };
        let compute = subject.weighted_computation_time * index * horizon;
        let time = (exchange.communication_time * horizon).min(MAX_TERM);
        MigrationPotential {
            computation_term: self.term_weights[0] * compute.clamp(-MAX_TERM, MAX_TERM),
            communication_term: self.term_weights[1] * (exchange.regularity * time),
            memory_term: self.term_weights[2]
                * (self.memory_term(process, cluster == own, rate).get()).min(MAX_TERM),
            process_number: to_u32(process),
            cluster_number: to_u32(cluster),
            own_cluster: to_u32(own),
        }
    }

    /// Returns Mem(i,j), the time to transfer the memory and for the operations of a move \[s\]. If the process stays in its
    /// cluster, Mem is 0, unless the transfer is counted from the initial cluster.
    #[inline]
    fn memory_term(&self, process: usize, is_own: bool, rate: Option<BytesPerSecond>) -> Seconds {
        let stays = is_own && self.config.own_cluster != OwnCluster::Within;
        if stays && self.config.memory_origin == MemoryOrigin::Present {
            return Seconds::default();
        }
        let transfer = if self.config.memory_transfer {
            self.transfer_time_at_bandwidth(process, rate)
        } else {
            Seconds::default()
        };
        let operations = if stays {
            Seconds::default()
        } else {
            self.config.migration_operations
        };
        transfer + operations
    }

    /// Returns M(i) · T(i,j), the time to send the memory of a process to cluster `to` from the cluster that the option
    /// `memory_origin` determines.
    pub(super) fn transfer_time(&self, process: usize, to: usize) -> Seconds {
        self.transfer_time_at_bandwidth(
            process,
            self.memory_rate(self.memory_origin_cluster(process), to),
        )
    }

    /// Returns the time to send the memory of a process at the bandwidth `rate`. Without a route, `rate` is `None` and the time
    /// is 0, since the move itself will report the missing route.
    #[inline]
    fn transfer_time_at_bandwidth(&self, process: usize, rate: Option<BytesPerSecond>) -> Seconds {
        rate.map_or_else(Seconds::default, |rate| {
            self.view.process_memory[process] / rate
        })
    }

    /// Returns the bandwidth at which memory is sent from one cluster to another; `None` if there is no route.
    ///
    /// For `memory_rate: backbone` it is the bandwidth of the narrowest link between clusters (backbone). Without a backbone, for
    /// the other value of the option, and for a move inside a cluster, it is the bandwidth of the route between the managers of
    /// the clusters.
    fn memory_rate(&self, from: usize, to: usize) -> Option<BytesPerSecond> {
        let platform = self.view.platform;
        let managers = || platform.bottleneck_bandwidth(&manager_route(platform, from, to)?);
        let is_inside = from == to && self.config.own_cluster == OwnCluster::Within;
        self.backbone_bandwidth
            .filter(|_| !is_inside)
            .or_else(managers)
    }

    fn memory_origin_cluster(&self, process: usize) -> usize {
        match self.config.memory_origin {
            MemoryOrigin::Present => self.view.cluster_of(process).index(),
            MemoryOrigin::Initial => self.forecasts.initial_cluster(process),
        }
    }

    /// Returns the highest potential of migration PM of each process, without visiting all clusters. The processes are in no
    /// particular order.
    ///
    /// If several PM of a process are equal, the PM to the first of these clusters is returned. `DestinationOrder` describes the
    /// clusters that need not be visited. The cost is a number of visited clusters: origins are the clusters from which memory is
    /// sent, partners the clusters with which a process communicates, and classes the groups of clusters to which memory is sent
    /// at the same bandwidth.
    ///
    /// ```text
    /// best(i) = max_j PM(i,j),   cost = origins · clusters + processes · (partners + classes)
    /// ```
    pub(super) fn best_potentials(&self) -> Vec<MigrationPotential> {
        let processes = self.view.processes();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.cluster_powers.len()];
        for process in 0..processes {
            members[self.memory_origin_cluster(process)].push(ProcessId::from_index(process).0);
        }
        let mut best = Vec::with_capacity(processes);
        for (origin, members) in members.iter().enumerate() {
            let mut row = (!members.is_empty()).then(|| DestinationOrder::new(self, origin));
            let of = |process: &u32| row.as_mut()?.best_potential(self, *process);
            best.extend(members.iter().filter_map(of));
        }
        best
    }
}

/// The data of one process from which its potential of migration PM(i,j) to any cluster j is computed.
#[derive(Clone, Copy, Debug)]
struct ProcessData {
    process: usize,
    present_cluster: usize,
    /// Pcomp(i) · CTP(i), the regularity times the predicted computation time \[s\].
    weighted_computation_time: f64,
}

/// The clusters in the order in which processes have to consider them as destinations, for all processes whose memory is sent
/// from the same cluster (origin).
///
/// Consider the clusters to which memory is sent at the same bandwidth, and with which a process has exchanged nothing. The
/// potentials of migration PM to these clusters differ only because of their computing powers, and PM does not decrease with the
/// power, rounding included:
/// ```text
/// power(j) >= power(k)  =>  PM(i,j) >= PM(i,k),   equality if Pcomp(i) · CTP(i) = 0
/// ```
/// An exception is the power 0, whose index is 0 in both forms; clusters of power 0 are a separate class. So for each class and
/// power a process needs only the first cluster that is neither its present cluster nor a partner in communication. Clusters of
/// lower power are visited only while rounding makes the PM equal.
#[derive(Debug)]
struct DestinationOrder {
    memory_rates: Vec<Option<BytesPerSecond>>,
    cluster_classes: Vec<ClusterClass>,
    /// For each cluster, the last process that computed its PM to this cluster individually, because the process is in the
    /// cluster or communicates with it.
    last_individual_processes: Vec<u32>,
}

const NO_PROCESS: u32 = u32::MAX;

/// A class of clusters to which memory is sent at the same bandwidth: listed by number, and in groups of equal computing power,
/// the largest power first.
#[derive(Debug, Default)]
struct ClusterClass {
    clusters_by_number: Vec<usize>,
    clusters_by_power: Vec<Vec<usize>>,
}

impl DestinationOrder {
    fn new(all: &PotentialComputation<'_>, origin: usize) -> Self {
        let clusters = 0..all.cluster_powers.len();
        let rates: Vec<_> = clusters
            .clone()
            .map(|to| all.memory_rate(origin, to))
            .collect();
        let mut ordered: Vec<usize> = clusters.collect();
        let key = |cluster: usize| {
            let rate = rates[cluster].map(|rate| rate.get().to_bits());
            (rate, all.cluster_powers[cluster] > 0.0)
        };
        ordered.sort_by_key(|&cluster| key(cluster));
        let classes = ordered.chunk_by(|&a, &b| key(a) == key(b));
        Self {
            cluster_classes: classes
                .map(|class| ClusterClass::new(class, &all.cluster_powers))
                .collect(),
            last_individual_processes: vec![NO_PROCESS; rates.len()],
            memory_rates: rates,
        }
    }

    fn best_potential(
        &mut self,
        all: &PotentialComputation<'_>,
        process: u32,
    ) -> Option<MigrationPotential> {
        let subject = all.process_data(process as usize);
        let own = subject.present_cluster;
        let may_stay = all.config.own_cluster != OwnCluster::Excluded;
        let mut best = may_stay.then(|| {
            let exchange = all.forecasts.predicted_exchange(subject.process, own);
            all.potential_to_cluster(&subject, own, self.memory_rates[own], exchange)
        });
        self.last_individual_processes[own] = process;
        // A partner without a forecast of communication is like other clusters.
        for (cluster, exchange) in all.forecasts.exchange_forecasts_of_process(subject.process) {
            if cluster != own && exchange.communication_time > 0.0 {
                self.last_individual_processes[cluster] = process;
                let other = all.potential_to_cluster(
                    &subject,
                    cluster,
                    self.memory_rates[cluster],
                    exchange,
                );
                best = higher_potential(best, other);
            }
        }
        for class in &self.cluster_classes {
            best = self
                .best_potential_in_class(class, all, &subject, process)
                .into_iter()
                .fold(best, higher_potential);
        }
        best
    }

    fn best_potential_in_class(
        &self,
        class: &ClusterClass,
        all: &PotentialComputation<'_>,
        subject: &ProcessData,
        process: u32,
    ) -> Option<MigrationPotential> {
        let first = |clusters: &[usize]| {
            let mut clusters = clusters.iter().copied();
            let cluster =
                clusters.find(|&cluster| self.last_individual_processes[cluster] != process)?;
            Some(all.potential_to_cluster(
                subject,
                cluster,
                self.memory_rates[cluster],
                NO_EXCHANGE,
            ))
        };
        if subject.weighted_computation_time <= 0.0 {
            return first(&class.clusters_by_number);
        }
        let mut best: Option<MigrationPotential> = None;
        for potential in class
            .clusters_by_power
            .iter()
            .filter_map(|power| first(power))
        {
            if best.is_some_and(|best| potential.value() < best.value()) {
                break;
            }
            best = higher_potential(best, potential);
        }
        best
    }
}

impl ClusterClass {
    fn new(clusters: &[usize], powers: &[f64]) -> Self {
        let mut by_power = clusters.to_vec();
        by_power.sort_by(|&a, &b| powers[b].total_cmp(&powers[a]));
        let groups = by_power.chunk_by(|&a, &b| powers[a].to_bits() == powers[b].to_bits());
        Self {
            clusters_by_number: clusters.to_vec(),
            clusters_by_power: groups.map(<[usize]>::to_vec).collect(),
        }
    }
}

#[inline]
#[expect(clippy::unnecessary_wraps, reason = "what a fold needs")]
fn higher_potential(
    best: Option<MigrationPotential>,
    other: MigrationPotential,
) -> Option<MigrationPotential> {
    let is_best = |best: &MigrationPotential| {
        let (a, b) = (best.value(), other.value());
        a > b || a == b && best.cluster() < other.cluster()
    };
    Some(best.filter(is_best).unwrap_or(other))
}

/// Returns the highest potential of migration (PM) of each process from a list of all PM, which is ordered by process. If several
/// PM of a process are equal, only the first of these PM is returned.
pub(super) fn highest_potentials(potentials: &[MigrationPotential]) -> Vec<MigrationPotential> {
    let by_process = potentials.chunk_by(|a, b| a.process_number == b.process_number);
    let one = |all: &[MigrationPotential]| all.iter().copied().fold(None, higher_potential);
    by_process.filter_map(one).collect()
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Selection {
    pub(super) candidates: Vec<MigrationPotential>,
    pub(super) highest: Option<f64>,
    /// The highest PM among the processes that prefer another cluster, or that may move inside their present cluster.
    pub(super) highest_elsewhere: Option<f64>,
    /// The threshold that the PM of candidates exceed; `None` if no single threshold applies to all candidates.
    pub(super) threshold: Option<f64>,
}

/// Selects the candidates, in decreasing order of PM.
///
/// `best` has the highest PM of each process that may move, out of `processes` processes. Processes with equal PM are ordered by
/// decreasing rank if `ties_fall`, otherwise by increasing rank.
pub(super) fn select_candidates(
    config: &MigBspConfig,
    mut best: Vec<MigrationPotential>,
    processes: usize,
    ties_fall: bool,
) -> Selection {
    let value = MigrationPotential::value;
    let may_move = |one: &&MigrationPotential| {
        config.own_cluster == OwnCluster::Within || !one.is_to_own_cluster()
    };
    let elsewhere = best.iter().filter(may_move);
    let mut selection = Selection {
        highest: best.iter().map(value).reduce(f64::max),
        highest_elsewhere: elsewhere.map(value).reduce(f64::max),
        ..Selection::default()
    };
    if config.own_cluster == OwnCluster::Competes {
        best.retain(|potential| !potential.is_to_own_cluster());
    }
    let highest = best.iter().map(value).max_by(f64::total_cmp);
    let Some(highest) = highest.filter(|&value| value > 0.0) else {
        return selection;
    };
    // For the maximum max it is x · max, and max - (1 - x) · |max| if max is negative.
    let threshold_below = |highest: f64| highest - (1.0 - config.x) * highest.abs();
    let mut count = usize::MAX;
    match (config.heuristic, config.x_of) {
        (Heuristic::Two, _) => {
            best.retain(|potential| potential.value() >= highest);
            (count, selection.threshold) = (1, Some(highest));
        }
        (Heuristic::One, ThresholdMeaning::OfMaximum) => {
            let least = threshold_below(highest);
            best.retain(|potential| potential.value() > least);
            selection.threshold = Some(least);
        }
        (Heuristic::One, ThresholdMeaning::OfClusterMaximum) => {
            let mut highest: BTreeMap<u32, f64> = BTreeMap::new();
            for potential in &best {
                let of_cluster = highest.entry(potential.own_cluster);
                let of_cluster = of_cluster.or_insert(f64::NEG_INFINITY);
                *of_cluster = of_cluster.max(potential.value());
            }
            best.retain(|potential| {
                let highest = highest[&potential.own_cluster];
                highest > 0.0 && potential.value() > threshold_below(highest)
            });
        }
        (Heuristic::One, ThresholdMeaning::OfProcesses) => {
            best.retain(|potential| potential.value() > 0.0);
            let wanted = config.x * processes as f64;
            count = (1..=best.len())
                .take_while(|&count| count as f64 <= wanted)
                .count();
        }
    }
    best.sort_unstable_by(|a, b| {
        let by_rank = a.process_number.cmp(&b.process_number);
        let by_rank = if ties_fall {
            by_rank.reverse()
        } else {
            by_rank
        };
        b.value().total_cmp(&a.value()).then(by_rank)
    });
    best.truncate(count);
    if config.heuristic == Heuristic::One && config.x_of == ThresholdMeaning::OfProcesses {
        selection.threshold = best.last().map(value);
    }
    selection.candidates = best;
    selection
}

/// Returns the speed that a process has on its present host \[instr/s\]: the clock rate left by external load, divided among the
/// processes on the host.
fn present_speed(occupancy: &[u32], process: usize, view: &View<'_>) -> f64 {
    let host = view.placement[process];
    view.process_speed(host, f64::from(occupancy[host.index()]))
}

/// Returns the computing power of each cluster \[instr/s\], as the option `set_index` defines it; `occupancy` is the number of
/// processes on each host.
fn cluster_powers(index: SetIndex, occupancy: &[u32], view: &View<'_>) -> Vec<f64> {
    view.platform
        .clusters
        .iter()
        .map(|cluster| {
            let hosts = cluster.hosts.start as usize..cluster.hosts.end as usize;
            let count = hosts.len() as f64;
            let clock = |host: usize| view.platform.hosts[host].speed.get();
            let alone = |host: usize| view.process_speed(HostId::from_index(host), 1.0);
            let shared = |host: usize| {
                view.process_speed(HostId::from_index(host), f64::from(occupancy[host] + 1))
            };
            let power: f64 = match index {
                SetIndex::MeanClock => hosts.map(clock).sum::<f64>() / count,
                SetIndex::MeanFreePower => hosts.map(shared).sum::<f64>() / count,
                SetIndex::FreePowerSum => hosts.map(shared).sum(),
                SetIndex::BestFreeHost => hosts
                    .filter(|&host| occupancy[host] == 0)
                    .map(alone)
                    .fold(0.0, f64::max),
                SetIndex::BestHost => hosts.map(shared).fold(0.0, f64::max),
            };
            power.min(f64::MAX)
        })
        .collect()
}

/// Returns the route between the managers of two clusters, or `None` if there is no route. Inside one cluster it is the route
/// between the manager and the next host of the cluster.
pub(super) fn manager_route(platform: &Platform, from: usize, to: usize) -> Option<Route<'_>> {
    let manager = |cluster: usize| platform.manager_host(ClusterId::from_index(cluster));
    if from != to {
        return platform.route(manager(from), manager(to));
    }
    let hosts = &platform.clusters[from].hosts;
    let next = HostId(hosts.start + 1);
    (next.0 < hosts.end).then(|| platform.route(manager(from), next))?
}

#[cfg(test)]
mod tests;
