//! Selection: the potential of migration (PM) of each process to each cluster, and the candidates.
//!
//! ```text
//! PM(i,j)   = Comp(i,j) + Comm(i,j) - Mem(i,j)          (LU paper, equation 1)
//! Comp(i,j) = Pcomp(i) · CTP(i) · ISet(i,j)             (Smith-Waterman paper on dynamic platforms, equation 2)
//! Comm(i,j) = Pcomm(i,j) · BTP(i,j)                     (equation 3)
//! Mem(i,j)  = M(i) · T(i,j) + Mig(i,j)                  (equation 4)
//! ```
//! All in seconds. ISet(j) is not defined there: it is made of the power of the clusters, relative to the best of them, or for each
//! process relative to its own host ([`IndexForm`]). Each process contributes its highest PM and the cluster of it; heuristic one takes all above `x · max PM`,
//! heuristic two the highest alone.

use std::cmp::Reverse;

use super::config::{
    Heuristic, Horizon, IndexForm, MemoryOrigin, MemoryRate, MigBspConfig, OwnCluster,
    PotentialCommunication, SetIndex, ThresholdMeaning,
};
use super::exchanges::Exchange;
use super::forecast::Forecasts;
use crate::View;
use migsim_base::units::{BytesPerSecond, ClusterId, HostId, ProcessId, Seconds, to_u32};
use migsim_platform::{Platform, Route};

/// The largest term of a PM \[s\]: three of them add up to a number, however fast a host or long a message is.
const LARGEST: f64 = 1e307;

/// PM(i,j) and its terms, in seconds: 32 B, since a call has one for each process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Potential {
    process: u32,
    /// Twice its number, and 1 if the process is there already.
    cluster: u32,
    pub(super) compute: f64,
    pub(super) communication: f64,
    pub(super) memory: f64,
}

impl Potential {
    /// Without terms.
    pub(super) fn of(process: usize, cluster: usize, is_own: bool) -> Self {
        Self {
            process: to_u32(process),
            cluster: to_u32(2 * cluster + usize::from(is_own)),
            compute: 0.0,
            communication: 0.0,
            memory: 0.0,
        }
    }

    pub(super) fn process(&self) -> usize {
        self.process as usize
    }

    pub(super) fn cluster(&self) -> usize {
        self.cluster as usize / 2
    }

    /// Whether the process is there already.
    pub(super) fn is_own(&self) -> bool {
        self.cluster % 2 == 1
    }

    /// PM(i,j) \[s\].
    pub(super) fn value(&self) -> f64 {
        self.compute + self.communication - self.memory
    }
}

/// The factor of a horizon: a number of supersteps.
pub(super) fn supersteps(horizon: Horizon, alpha: u64, next_alpha: u64) -> f64 {
    match horizon {
        Horizon::Superstep => 1.0,
        Horizon::Interval => alpha as f64,
        Horizon::NextInterval => next_alpha as f64,
    }
}

/// The terms of PM(i,j) in one call.
#[derive(Debug)]
pub(super) struct Potentials<'a> {
    config: &'a MigBspConfig,
    horizon: f64,
    forecasts: &'a Forecasts,
    occupancy: &'a [u32],
    view: &'a View<'a>,
    /// The power of each cluster, and the largest.
    powers: Vec<f64>,
    best: f64,
    /// The rate of `memory_rate: backbone`, if that is chosen and there is one: a search over all links, done once a call.
    backbone: Option<BytesPerSecond>,
}

impl<'a> Potentials<'a> {
    pub(super) fn new(
        config: &'a MigBspConfig,
        horizon: f64,
        forecasts: &'a Forecasts,
        occupancy: &'a [u32],
        view: &'a View<'a>,
    ) -> Self {
        let powers = set_powers(config, occupancy, view);
        Self {
            best: powers.iter().copied().fold(0.0, f64::max),
            backbone: match config.memory_rate {
                MemoryRate::Backbone => view.platform.backbone(),
                MemoryRate::Managers => None,
            },
            config,
            horizon,
            forecasts,
            occupancy,
            view,
            powers,
        }
    }

    /// The number of PM(i,j).
    pub(super) fn count(&self) -> usize {
        let excluded = usize::from(self.config.own_cluster == OwnCluster::Excluded);
        self.view.processes() * (self.powers.len() - excluded)
    }

    /// PM of a process to every cluster that it may want, by cluster.
    pub(super) fn of(&self, process: usize) -> impl Iterator<Item = Potential> {
        let subject = self.subject(process);
        let may_want = move |cluster: &usize| {
            *cluster != subject.own || self.config.own_cluster != OwnCluster::Excluded
        };
        let clusters = (0..self.powers.len()).filter(may_want);
        clusters.map(move |cluster| {
            let exchange = self.forecasts.exchange(process, cluster);
            let rate = self.rate(self.origin(process), cluster);
            self.at_rate(&subject, cluster, rate, exchange)
        })
    }

    /// What PM(i,j) needs of process i.
    #[inline]
    fn subject(&self, process: usize) -> Subject {
        let forecasts = self.forecasts;
        Subject {
            process,
            own: self.view.cluster_of(process).index(),
            compute: forecasts.regularity(process) * forecasts.compute(process).get(),
        }
    }

    /// PM(i,j) where memory comes to cluster j at this rate, and this exchange is foreseen.
    #[inline]
    fn at_rate(
        &self,
        subject: &Subject,
        cluster: usize,
        rate: Option<BytesPerSecond>,
        exchange: Exchange,
    ) -> Potential {
        let (config, horizon) = (self.config, self.horizon);
        let &Subject { process, own, .. } = subject;
        let power = self.powers[cluster];
        let index = match config.index_form {
            IndexForm::OfBest if self.best > 0.0 => power / self.best,
            IndexForm::GainOverSource if power > 0.0 => {
                (1.0 - speed_here(self.occupancy, process, self.view) / power).max(-LARGEST)
            }
            IndexForm::OfBest | IndexForm::GainOverSource => 0.0,
        };
        let compute = subject.compute * index * horizon;
        let time = match config.potential_communication {
            PotentialCommunication::Counted => (exchange.time * horizon).min(LARGEST),
            PotentialCommunication::Ignored => 0.0,
        };
        Potential {
            compute: compute.clamp(-LARGEST, LARGEST),
            communication: exchange.regularity * time,
            memory: (self.memory_cost(process, cluster == own, rate).get()).min(LARGEST),
            ..Potential::of(process, cluster, cluster == own)
        }
    }

    /// Mem(i,j); nothing for the cluster in which a process is, unless its transfer is counted from the initial one.
    #[inline]
    fn memory_cost(&self, process: usize, is_own: bool, rate: Option<BytesPerSecond>) -> Seconds {
        if is_own && self.config.memory_origin == MemoryOrigin::Present {
            return Seconds::default();
        }
        let transfer = if self.config.memory_transfer {
            self.transfer(process, rate)
        } else {
            Seconds::default()
        };
        let operations = if is_own {
            Seconds::default()
        } else {
            self.config.migration_operations
        };
        transfer + operations
    }

    /// M(i) · T(i,j): the time to send the memory of a process to a cluster, from where `memory_origin` says.
    pub(super) fn transfer_time(&self, process: usize, to: usize) -> Seconds {
        self.transfer(process, self.rate(self.origin(process), to))
    }

    /// Without a route there is no rate; the move itself will name the missing route.
    #[inline]
    fn transfer(&self, process: usize, rate: Option<BytesPerSecond>) -> Seconds {
        rate.map_or_else(Seconds::default, |rate| self.view.memory[process] / rate)
    }

    /// The rate at which memory is sent between two clusters: that of the backbone or else of their managers.
    fn rate(&self, from: usize, to: usize) -> Option<BytesPerSecond> {
        let platform = self.view.platform;
        let managers = || platform.bottleneck(&route_between(platform, from, to)?);
        self.backbone.or_else(managers)
    }

    /// The cluster from which the memory of a process is sent.
    fn origin(&self, process: usize) -> usize {
        match self.config.memory_origin {
            MemoryOrigin::Present => self.view.cluster_of(process).index(),
            MemoryOrigin::Initial => self.forecasts.initial_cluster(process),
        }
    }

    /// The highest PM of each process, of equal ones that of the first cluster, without a look at all clusters: see [`Row`]. The processes come
    /// in no particular order.
    ///
    /// ```text
    /// best(i) = max_j PM(i,j),   cost = origins · clusters + processes · (partners + classes)
    /// ```
    pub(super) fn best(&self) -> Vec<Potential> {
        let processes = self.view.processes();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.powers.len()];
        for process in 0..processes {
            members[self.origin(process)].push(ProcessId::from_index(process).0);
        }
        let mut best = Vec::with_capacity(processes);
        for (origin, members) in members.iter().enumerate() {
            let mut row = (!members.is_empty()).then(|| Row::new(self, origin));
            let of = |process: &u32| row.as_mut()?.best(self, *process);
            best.extend(members.iter().filter_map(of));
        }
        best
    }
}

/// A process in PM(i,j).
#[derive(Clone, Copy, Debug)]
struct Subject {
    process: usize,
    /// The cluster in which it is.
    own: usize,
    /// Pcomp(i) · CTP(i) \[s\].
    compute: f64,
}

/// The clusters as the processes of one origin see them.
///
/// Clusters to which memory goes at the same rate, and with which a process has exchanged nothing, have the same PM but for their power, and
/// with it PM does not fall, rounding included:
/// ```text
/// power(j) >= power(k)  =>  PM(i,j) >= PM(i,k),   equality if Pcomp(i) · CTP(i) = 0
/// ```
/// (but for the power 0, whose index is 0 in both forms: a class of its own). So in each class the first cluster that is neither its own nor a
/// partner is the only one of its power that a process has to look at, and it looks at lower powers only while rounding makes PM equal.
#[derive(Debug)]
struct Row {
    /// Per cluster.
    rates: Vec<Option<BytesPerSecond>>,
    classes: Vec<Class>,
    /// The last process that has looked at each cluster by itself.
    apart_for: Vec<u32>,
}

const NO_PROCESS: u32 = u32::MAX;

/// Clusters of one rate, by number, and the same by power: highest first, those of equal power by number.
#[derive(Debug, Default)]
struct Class {
    by_number: Vec<usize>,
    by_power: Vec<Vec<usize>>,
}

impl Row {
    fn new(all: &Potentials<'_>, origin: usize) -> Self {
        let clusters = 0..all.powers.len();
        let rates: Vec<_> = clusters.clone().map(|to| all.rate(origin, to)).collect();
        let mut ordered: Vec<usize> = clusters.collect();
        let key = |cluster: usize| {
            let rate = rates[cluster].map(|rate| rate.get().to_bits());
            (rate, all.powers[cluster] > 0.0)
        };
        ordered.sort_by_key(|&cluster| key(cluster));
        let classes = ordered.chunk_by(|&a, &b| key(a) == key(b));
        Self {
            classes: classes
                .map(|class| Class::new(class, &all.powers))
                .collect(),
            apart_for: vec![NO_PROCESS; rates.len()],
            rates,
        }
    }

    /// The highest PM of a process, of equal ones that of the first cluster.
    fn best(&mut self, all: &Potentials<'_>, process: u32) -> Option<Potential> {
        let subject = all.subject(process as usize);
        let own = subject.own;
        let may_stay = all.config.own_cluster != OwnCluster::Excluded;
        let mut best = may_stay.then(|| {
            let exchange = all.forecasts.exchange(subject.process, own);
            all.at_rate(&subject, own, self.rates[own], exchange)
        });
        self.apart_for[own] = process;
        // Where no communication is foreseen any more, a partner is like the others.
        for (cluster, exchange) in all.forecasts.partners(subject.process) {
            if cluster != own && exchange.time > 0.0 {
                self.apart_for[cluster] = process;
                let other = all.at_rate(&subject, cluster, self.rates[cluster], exchange);
                best = higher(best, other);
            }
        }
        for class in &self.classes {
            best = self
                .best_of_class(class, all, &subject, process)
                .into_iter()
                .fold(best, higher);
        }
        best
    }

    fn best_of_class(
        &self,
        class: &Class,
        all: &Potentials<'_>,
        subject: &Subject,
        process: u32,
    ) -> Option<Potential> {
        let none = all.forecasts.none();
        let first = |clusters: &[usize]| {
            let mut clusters = clusters.iter().copied();
            let cluster = clusters.find(|&cluster| self.apart_for[cluster] != process)?;
            Some(all.at_rate(subject, cluster, self.rates[cluster], none))
        };
        if subject.compute <= 0.0 {
            return first(&class.by_number);
        }
        let mut best: Option<Potential> = None;
        for potential in class.by_power.iter().filter_map(|power| first(power)) {
            if best.is_some_and(|best| potential.value() < best.value()) {
                break;
            }
            best = higher(best, potential);
        }
        best
    }
}

impl Class {
    fn new(clusters: &[usize], powers: &[f64]) -> Self {
        let mut by_power = clusters.to_vec();
        by_power.sort_by(|&a, &b| powers[b].total_cmp(&powers[a]));
        let groups = by_power.chunk_by(|&a, &b| powers[a].to_bits() == powers[b].to_bits());
        Self {
            by_number: clusters.to_vec(),
            by_power: groups.map(<[usize]>::to_vec).collect(),
        }
    }
}

/// The higher of two potentials of a process, of equal ones that of the first cluster.
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "what a fold needs")]
fn higher(best: Option<Potential>, other: Potential) -> Option<Potential> {
    let is_best = |best: &Potential| {
        let (a, b) = (best.value(), other.value());
        a > b || a == b && best.cluster() < other.cluster()
    };
    Some(best.filter(is_best).unwrap_or(other))
}

/// The highest PM of each process, of equal ones the first, from all of them by process.
pub(super) fn highest(potentials: &[Potential]) -> Vec<Potential> {
    let by_process = potentials.chunk_by(|a, b| a.process == b.process);
    let one = |all: &[Potential]| all.iter().copied().fold(None, higher);
    by_process.filter_map(one).collect()
}

/// The candidates, highest PM first, and the threshold that they passed \[s\]; `best` has the highest PM of each process, and ties go by
/// falling rank if `ties_fall`.
pub(super) fn candidates(
    config: &MigBspConfig,
    mut best: Vec<Potential>,
    processes: usize,
    ties_fall: bool,
) -> (Vec<Potential>, Option<f64>) {
    if config.own_cluster == OwnCluster::Competes {
        best.retain(|potential| !potential.is_own());
    }
    let highest = best.iter().map(Potential::value).max_by(f64::total_cmp);
    let Some(highest) = highest else {
        return (Vec::new(), None);
    };
    if highest <= 0.0 && config.only_positive {
        return (Vec::new(), None);
    }
    // No two are equal in this order: each has its process.
    let sort = |best: &mut [Potential]| {
        best.sort_by_cached_key(|potential| {
            let process = potential.process;
            let by_rank = if ties_fall { !process } else { process };
            (Reverse(ordinal(potential.value())), by_rank)
        });
    };
    match (config.heuristic, config.x_of) {
        (Heuristic::Two, _) => {
            best.retain(|potential| potential.value() >= highest);
            sort(&mut best);
            best.truncate(1);
            (best, Some(highest))
        }
        (Heuristic::One, ThresholdMeaning::OfMaximum) => {
            // x · max for a positive maximum; as far below a negative one.
            let threshold = highest - (1.0 - config.x) * highest.abs();
            best.retain(|potential| potential.value() > threshold);
            sort(&mut best);
            (best, Some(threshold))
        }
        (Heuristic::One, ThresholdMeaning::OfProcesses) => {
            // A count of processes: the product is not negative and at most `processes`.
            let wanted = (config.x * processes as f64).floor();
            sort(&mut best);
            best.retain(|potential| potential.value() > 0.0 || !config.only_positive);
            let mut kept = 0.0;
            best.retain(|_| {
                kept += 1.0;
                kept <= wanted
            });
            let last = best.last().map(Potential::value);
            (best, last)
        }
    }
}

/// A number that is larger where the value is, in the order of [`f64::total_cmp`].
fn ordinal(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    // Of negative ones the bits but the first rise as the value falls.
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The speed that a process gets on its host \[instr/s\]: the clock, less external load, shared by the processes there.
fn speed_here(occupancy: &[u32], process: usize, view: &View<'_>) -> f64 {
    let at = view.placement[process].index();
    let host = &view.platform.hosts[at];
    let crowd = (f64::from(occupancy[at]) / f64::from(host.cores)).max(1.0);
    host.speed.get() * (1.0 - view.external_load[at]) / crowd
}

/// The power of all clusters \[instr/s\].
fn set_powers(config: &MigBspConfig, occupancy: &[u32], view: &View<'_>) -> Vec<f64> {
    view.platform
        .clusters
        .iter()
        .map(|cluster| {
            let hosts = cluster.hosts.start as usize..cluster.hosts.end as usize;
            let count = hosts.len() as f64;
            let clock = |host: usize| view.platform.hosts[host].speed.get();
            let left = |host: usize| clock(host) * (1.0 - view.external_load[host]);
            let power: f64 = match config.set_index {
                SetIndex::MeanClock => hosts.map(clock).sum::<f64>() / count,
                SetIndex::MeanFreePower => {
                    hosts
                        .map(|host| left(host) / f64::from(occupancy[host] + 1))
                        .sum::<f64>()
                        / count
                }
                SetIndex::BestFreeHost => hosts
                    .filter(|&host| occupancy[host] == 0)
                    .map(left)
                    .fold(0.0, f64::max),
                SetIndex::BestHost => hosts
                    .map(|host| left(host) / f64::from(occupancy[host] + 1))
                    .fold(0.0, f64::max),
                SetIndex::AggregatePower => hosts.map(clock).sum(),
            };
            power.min(f64::MAX)
        })
        .collect()
}

/// The route between the managers of two clusters; inside one cluster, between its manager and the next host.
pub(super) fn route_between(platform: &Platform, from: usize, to: usize) -> Option<Route<'_>> {
    let manager = |cluster: usize| platform.manager(ClusterId::from_index(cluster));
    if from != to {
        return platform.route(manager(from), manager(to));
    }
    let hosts = &platform.clusters[from].hosts;
    let next = HostId(hosts.start + 1);
    (next.0 < hosts.end).then(|| platform.route(manager(from), next))?
}

#[cfg(test)]
mod tests {
    use super::super::config::CommunicationTime;
    use super::*;
    use crate::Measures;
    use crate::testing::view;
    use migsim_base::units::{Bytes, Instructions, InstructionsPerSecond};
    use proptest::prelude::*;

    fn potential(process: usize, cluster: usize, value: f64) -> Potential {
        Potential {
            compute: value,
            ..Potential::of(process, cluster, false)
        }
    }

    #[test]
    fn a_host_with_half_its_speed_taken_and_three_processes_on_two_cores_gives_each_a_third() {
        let mut platform = migsim_engine::testing::line(&[3e9], 1e6, 0.0);
        platform.hosts[0].cores = 2;
        let measures = Measures::default();
        let view = View {
            external_load: &[0.5],
            ..view(&platform, &[HostId(0)], &measures)
        };
        // 3e9 / 2 = 1.5e9, times 2 cores for 3 processes.
        assert_eq!(speed_here(&[3], 0, &view), 1e9);
        assert_eq!(speed_here(&[2], 0, &view), 1.5e9);
        assert_eq!(speed_here(&[1], 0, &view), 1.5e9);
    }

    #[test]
    fn heuristic_one_takes_all_above_x_times_the_highest() {
        // max = 10, x = 80 %: only values above 8 pass; 8 itself does not.
        let all = [
            potential(0, 1, 3.0),
            potential(0, 2, 9.0),
            potential(1, 1, 8.0),
            potential(2, 1, 10.0),
        ];
        let (found, threshold) = candidates(&MigBspConfig::default(), highest(&all), 3, false);
        assert_eq!(threshold, Some(8.0));
        assert_eq!(
            found
                .iter()
                .map(|p| (p.process(), p.cluster()))
                .collect::<Vec<_>>(),
            [(2, 1), (0, 2)]
        );
    }

    #[test]
    fn no_positive_potential_means_no_candidate() {
        let all = [potential(0, 1, -3.0), potential(1, 1, -1.0)];
        assert_eq!(
            candidates(&MigBspConfig::default(), highest(&all), 2, false),
            (Vec::new(), None)
        );
    }

    #[test]
    fn heuristic_two_takes_the_highest_alone_and_x_can_count_processes() {
        let all = [
            potential(0, 1, 3.0),
            potential(1, 1, 4.0),
            potential(2, 1, 5.0),
            potential(3, 1, 1.0),
        ];
        let two = MigBspConfig {
            heuristic: Heuristic::Two,
            ..MigBspConfig::default()
        };
        assert_eq!(candidates(&two, highest(&all), 4, false).0, [all[2]]);
        let half = MigBspConfig {
            x: 0.5,
            x_of: ThresholdMeaning::OfProcesses,
            ..MigBspConfig::default()
        };
        assert_eq!(
            candidates(&half, highest(&all), 4, false).0,
            [all[2], all[1]]
        );
    }

    /// The terms of all PM after one superstep: p1 on lan-0 and p2 on s-0, 1e6 instructions, 500 kB from p1 to p2 in 50 ms; p1 started on
    /// a-0.
    fn after_a_move(config: &MigBspConfig) -> Vec<Potential> {
        after_a_move_over(config, 1.0, 0)
    }

    /// The same over so many supersteps, with so many processes on each host.
    fn after_a_move_over(config: &MigBspConfig, horizon: f64, mapped: u32) -> Vec<Potential> {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let host = |name: &str| platform.host_named(name).unwrap();
        let mut measures = Measures::default();
        measures.clear(2);
        measures.work = vec![Instructions::of(1e6); 2];
        measures.compute = vec![Seconds::of(2e-3), Seconds::of(1e-3)];
        let bytes = Bytes::of(500e3);
        measures.traffic_mut(0, 3).sent = bytes;
        measures.traffic_mut(0, 3).send_time = Seconds::of(0.05);
        measures.traffic_mut(1, 2).received = bytes;
        measures.traffic_mut(1, 2).receive_time = Seconds::of(0.05);
        let idle = vec![0.0; platform.hosts.len()];
        let before = [host("a-0"), host("s-0")];
        let memory = [bytes, bytes];
        let mut view = View {
            memory: &memory,
            external_load: &idle,
            ..view(&platform, &before, &measures)
        };
        let mut forecasts = Forecasts::default();
        forecasts.observe(config, 4, &view);
        let now = [host("lan-0"), host("s-0")];
        view.placement = &now;
        let occupancy = vec![mapped; platform.hosts.len()];
        let all = Potentials::new(config, horizon, &forecasts, &occupancy, &view);
        assert_eq!(
            all.count(),
            (0..2).flat_map(|process| all.of(process)).count()
        );
        (0..2).flat_map(|process| all.of(process)).collect()
    }

    #[test]
    fn speeds_at_the_end_of_the_numbers_have_potentials_that_are_numbers() {
        let mut platform = migsim_platform::open("lbm").unwrap().platform;
        let (slow, fast) = (f64::MIN_POSITIVE, f64::MAX);
        for (host, speed) in platform
            .hosts
            .iter_mut()
            .zip([slow, fast, fast].iter().cycle())
        {
            host.speed = InstructionsPerSecond::new(*speed).unwrap();
        }
        let mut measures = Measures::default();
        measures.clear(2);
        measures.work = vec![Instructions::of(1e300); 2];
        measures.compute = vec![Seconds::of(f64::MAX), Seconds::of(1.0)];
        measures.traffic_mut(0, 1).sent = Bytes::of(f64::MAX);
        measures.traffic_mut(0, 1).send_time = Seconds::of(f64::MAX);
        let placement = [HostId(0), HostId(1)];
        let memory = [Bytes::of(f64::MAX); 2];
        let idle = vec![0.0; platform.hosts.len()];
        let view = View {
            memory: &memory,
            external_load: &idle,
            ..view(&platform, &placement, &measures)
        };
        let occupancy = vec![1; platform.hosts.len()];
        for set_index in [SetIndex::MeanClock, SetIndex::AggregatePower] {
            for index_form in [IndexForm::OfBest, IndexForm::GainOverSource] {
                let config = MigBspConfig {
                    set_index,
                    index_form,
                    ..MigBspConfig::default()
                };
                let mut forecasts = Forecasts::default();
                forecasts.observe(&config, 4, &view);
                let all = Potentials::new(&config, 1e9, &forecasts, &occupancy, &view);
                let values = (0..2).flat_map(|process| all.of(process));
                let mut finite = values.map(|potential| potential.value().is_finite());
                assert!(finite.all(|is| is), "{config:?}");
            }
        }
    }

    #[test]
    fn the_transfer_may_be_counted_from_the_first_cluster() {
        let memory = |config: &MigBspConfig| -> Vec<f64> {
            let all = after_a_move(config);
            all[..4].iter().map(|potential| potential.memory).collect()
        };
        let mut config = MigBspConfig {
            own_cluster: OwnCluster::Competes,
            ..MigBspConfig::default()
        };
        // 500 kB from lan at 9.96 MB/s to n, a and s, and nothing to lan itself.
        let (slow, fast) = (500e3 / 9.96e6, 500e3 / 99.6e6);
        assert_eq!(memory(&config), [slow, slow, 0.0, slow]);
        // From a at 99.6 MB/s, at 9.96 MB/s to lan.
        config.memory_origin = MemoryOrigin::Initial;
        assert_eq!(memory(&config), [fast, fast, slow, fast]);
    }

    #[test]
    fn received_messages_alone_may_make_the_communication() {
        let communication = |communication_time| -> Vec<f64> {
            let config = MigBspConfig {
                own_cluster: OwnCluster::Competes,
                communication_time,
                ..MigBspConfig::default()
            };
            let all = after_a_move(&config);
            all.iter()
                .map(|potential| potential.communication)
                .collect()
        };
        // p1 sends to s; p2 receives from lan.
        let both = [0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.05, 0.0];
        assert_eq!(communication(CommunicationTime::Larger), both);
        let one = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, 0.0];
        assert_eq!(communication(CommunicationTime::Received), one);
    }

    #[test]
    fn computation_and_communication_count_over_all_supersteps_ahead() {
        let config = MigBspConfig {
            own_cluster: OwnCluster::Competes,
            ..MigBspConfig::default()
        };
        let (one, ten) = (
            after_a_move_over(&config, 1.0, 0),
            after_a_move_over(&config, 10.0, 0),
        );
        // p1 sends to s for 50 ms in each.
        assert!((ten[3].communication - 0.5).abs() < 1e-12);
        for (one, ten) in one.iter().zip(&ten) {
            assert!((ten.compute - 10.0 * one.compute).abs() < 1e-12);
        }
    }

    #[test]
    fn where_no_host_of_any_cluster_is_free_computation_draws_nowhere() {
        for index_form in [IndexForm::OfBest, IndexForm::GainOverSource] {
            let config = MigBspConfig {
                set_index: SetIndex::BestFreeHost,
                index_form,
                ..MigBspConfig::default()
            };
            let all = after_a_move_over(&config, 1.0, 1);
            let compute: Vec<f64> = all.iter().map(|potential| potential.compute).collect();
            assert_eq!(compute, [0.0; 6], "{index_form:?}");
        }
    }

    #[test]
    fn where_x_counts_processes_those_that_gain_nothing_are_none_unless_they_may() {
        let all = [
            potential(0, 1, 1.0),
            potential(1, 1, 0.0),
            potential(2, 1, -1.0),
        ];
        let mut config = MigBspConfig {
            x: 1.0,
            x_of: ThresholdMeaning::OfProcesses,
            ..MigBspConfig::default()
        };
        assert_eq!(candidates(&config, highest(&all), 3, false).0, [all[0]]);
        config.only_positive = false;
        assert_eq!(candidates(&config, highest(&all), 3, false).0, all);
    }

    #[test]
    fn inside_a_cluster_bytes_go_from_its_manager_to_the_next_host() {
        use migsim_engine::testing::line;
        let platform = line(&[1e9; 3], 1e6, 0.0);
        let route = route_between(&platform, 0, 0).unwrap();
        let links: Vec<u32> = route.links().map(|link| link.0).collect();
        assert_eq!(links, [0, 1]);
        assert!(route_between(&line(&[1e9], 1e6, 0.0), 0, 0).is_none());
    }

    /// Twelve clusters of three hosts behind two kinds of links, with these speeds \[GHz\].
    fn twelve(speeds: &[u32]) -> migsim_platform::Platform {
        let cluster = |(at, speed): (usize, &u32)| {
            let bandwidth = 1 + at % 2;
            format!(
                r#"{{ "name": "c{at}", "hosts": 3, "speed": "{speed} GHz", "link": {{ "bandwidth": "{bandwidth} Gbps", "latency": "1 us" }}, "router": "r{at}" }}"#
            )
        };
        let link = |at: usize| {
            let bandwidth = 1 + at % 3;
            format!(
                r#"{{ "name": "up{at}", "from": "r{at}", "to": "core", "bandwidth": "{bandwidth}00 Mbps", "latency": "1 us" }}"#
            )
        };
        let clusters: Vec<_> = speeds.iter().enumerate().map(cluster).collect();
        let links: Vec<_> = (0..speeds.len()).map(link).collect();
        let text = format!(
            r#"{{ "schema": "migsim-platform-1", "name": "twelve", "clusters": [{}], "links": [{}] }}"#,
            clusters.join(","),
            links.join(",")
        );
        migsim_platform::from_json("twelve", &text)
            .unwrap()
            .platform
    }

    /// Options that change what PM(i,j) is made of.
    fn any_config() -> impl Strategy<Value = MigBspConfig> {
        let set_index = prop::sample::select(vec![
            SetIndex::MeanClock,
            SetIndex::MeanFreePower,
            SetIndex::BestFreeHost,
            SetIndex::BestHost,
            SetIndex::AggregatePower,
        ]);
        let index_form = prop::sample::select(vec![IndexForm::OfBest, IndexForm::GainOverSource]);
        let own = prop::sample::select(vec![OwnCluster::Excluded, OwnCluster::Competes]);
        let origin = prop::sample::select(vec![MemoryOrigin::Present, MemoryOrigin::Initial]);
        let rate = prop::sample::select(vec![MemoryRate::Managers, MemoryRate::Backbone]);
        (set_index, index_form, own, origin, rate, any::<bool>()).prop_map(
            |(set_index, index_form, own_cluster, memory_origin, memory_rate, memory_transfer)| {
                MigBspConfig {
                    set_index,
                    index_form,
                    memory_transfer,
                    memory_rate,
                    memory_origin,
                    own_cluster,
                    ..MigBspConfig::default()
                }
            },
        )
    }

    proptest! {
        #[test]
        fn the_best_is_found_without_a_look_at_all(
            config in any_config(),
            speeds in prop::collection::vec(1_u32..4, 12),
            places in prop::collection::vec((0_u32..36, 0_u32..36), 1..9),
            work in prop::collection::vec(prop::sample::select(vec![0.0, 1e-3, 1.0]), 27),
            messages in prop::collection::vec((0_usize..3, 0_usize..9, 0_usize..12, 0.0..0.2), 0..30),
            load in prop::collection::vec(prop::sample::select(vec![0.0, 0.25, 1.0]), 36),
        ) {
            let platform = twelve(&speeds);
            let count = places.len();
            let memory = vec![Bytes::of(1e6); count];
            let mut placement: Vec<HostId> = places.iter().map(|place| HostId(place.0)).collect();
            let mut forecasts = Forecasts::default();
            let mut occupancy = vec![0; platform.hosts.len()];
            let mut measures = Measures::default();
            for superstep in 0..3 {
                measures.clear(count);
                for process in 0..count {
                    measures.work[process] = Instructions::of(work[3 * process + superstep] * 1e9);
                    measures.compute[process] = Seconds::of(work[3 * process + superstep]);
                }
                for &(at, process, cluster, time) in &messages {
                    if at == superstep && process < count {
                        let with = measures.traffic_mut(process, cluster);
                        (with.sent, with.send_time) = (Bytes::of(1e3), Seconds::of(time));
                    }
                }
                let view = View { memory: &memory, external_load: &load, ..view(&platform, &placement, &measures) };
                forecasts.observe(&config, 4, &view);
            }
            for (process, place) in places.iter().enumerate() {
                placement[process] = HostId(place.1);
                occupancy[place.1 as usize] += 1;
            }
            let view = View { memory: &memory, external_load: &load, ..view(&platform, &placement, &measures) };
            let all = Potentials::new(&config, 1.0, &forecasts, &occupancy, &view);
            let every: Vec<Potential> = (0..count).flat_map(|process| all.of(process)).collect();
            let mut best = all.best();
            best.sort_by_key(|potential| potential.process);
            prop_assert_eq!(best, highest(&every));
        }
    }
}
