//! Which: the potential of migration of each process to each cluster, and the candidates.
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

use super::config::{
    CandidateOrder, Heuristic, Horizon, IndexForm, MemoryOrigin, MemoryRate, MigBspConfig,
    OwnCluster, PotentialCommunication, SetIndex, ThresholdMeaning,
};
use super::forecast::Forecasts;
use crate::platform::{Platform, Route};
use crate::policy::View;
use crate::units::{BytesPerSecond, ClusterId, HostId, Seconds};

/// PM(i,j) and its terms, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Potential {
    pub(super) process: usize,
    pub(super) cluster: usize,
    /// Whether the process is there already.
    pub(super) is_own: bool,
    pub(super) compute: f64,
    pub(super) communication: f64,
    pub(super) memory: f64,
}

impl Potential {
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

/// PM of every process to every cluster it may want, by process, then by cluster.
pub(super) fn potentials(
    config: &MigBspConfig,
    horizon: f64,
    forecasts: &Forecasts,
    occupancy: &[u32],
    view: &View<'_>,
) -> Vec<Potential> {
    let powers = set_powers(config, occupancy, view);
    let best = powers.iter().copied().fold(0.0, f64::max);
    let backbone = backbone(config, view.platform);
    let mut all = Vec::new();
    for process in 0..view.processes() {
        let own = view.cluster_of(process).index();
        let here = speed_here(occupancy, process, view);
        for (cluster, &power) in powers.iter().enumerate() {
            if cluster == own && config.own_cluster == OwnCluster::Excluded {
                continue;
            }
            let index = match config.index_form {
                IndexForm::OfBest if best > 0.0 => power / best,
                IndexForm::GainOverSource if power > 0.0 => 1.0 - here / power,
                IndexForm::OfBest | IndexForm::GainOverSource => 0.0,
            };
            let compute =
                forecasts.regularity(process) * forecasts.compute(process).get() * index * horizon;
            let time = match config.potential_communication {
                PotentialCommunication::Counted => {
                    forecasts.communication(process, cluster).get() * horizon
                }
                PotentialCommunication::Ignored => 0.0,
            };
            let memory = memory_cost(config, backbone, forecasts, (process, cluster), view).get();
            all.push(Potential {
                process,
                cluster,
                is_own: cluster == own,
                compute,
                communication: forecasts.traffic_regularity(process, cluster) * time,
                memory,
            });
        }
    }
    all
}

/// The candidates, highest PM first, and the threshold that they passed \[s\].
pub(super) fn candidates(
    config: &MigBspConfig,
    potentials: &[Potential],
    processes: usize,
) -> (Vec<Potential>, Option<f64>) {
    let mut best: Vec<Potential> = Vec::new();
    for potential in potentials {
        match best.last_mut() {
            Some(last) if last.process == potential.process => {
                if potential.value() > last.value() {
                    *last = *potential;
                }
            }
            _ => best.push(*potential),
        }
    }
    if config.own_cluster == OwnCluster::Competes {
        best.retain(|potential| !potential.is_own);
    }
    best.sort_by(|a, b| {
        let by_rank = match config.candidate_order {
            CandidateOrder::PotentialHighestRank => b.process.cmp(&a.process),
            _ => a.process.cmp(&b.process),
        };
        b.value().total_cmp(&a.value()).then(by_rank)
    });
    let Some(highest) = best.first().map(Potential::value) else {
        return (Vec::new(), None);
    };
    if highest <= 0.0 && config.only_positive {
        return (Vec::new(), None);
    }
    match (config.heuristic, config.x_of) {
        (Heuristic::Two, _) => {
            best.truncate(1);
            (best, Some(highest))
        }
        (Heuristic::One, ThresholdMeaning::OfMaximum) => {
            // x · max for a positive maximum; as far below a negative one.
            let threshold = highest - (1.0 - config.x) * highest.abs();
            best.retain(|potential| potential.value() > threshold);
            (best, Some(threshold))
        }
        (Heuristic::One, ThresholdMeaning::OfProcesses) => {
            // A count of processes: the product is not negative and at most `processes`.
            let wanted = (config.x * processes as f64).floor();
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
            match config.set_index {
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
            }
        })
        .collect()
}

/// Mem(i,j); nothing for the cluster in which a process is, unless its transfer is counted from the initial one.
fn memory_cost(
    config: &MigBspConfig,
    backbone: Option<BytesPerSecond>,
    forecasts: &Forecasts,
    (process, to): (usize, usize),
    view: &View<'_>,
) -> Seconds {
    let own = view.cluster_of(process).index();
    if to == own && config.memory_origin == MemoryOrigin::Present {
        return Seconds::default();
    }
    let transfer = if config.memory_transfer {
        transfer_time(config, backbone, forecasts, (process, to), view)
    } else {
        Seconds::default()
    };
    let operations = if to == own {
        Seconds::default()
    } else {
        config.migration_operations
    };
    transfer + operations
}

/// The rate of `memory_rate: backbone`, if that is chosen and there is one: a search over all links, done once a call.
pub(super) fn backbone(config: &MigBspConfig, platform: &Platform) -> Option<BytesPerSecond> {
    match config.memory_rate {
        MemoryRate::Backbone => platform.backbone(),
        MemoryRate::Managers => None,
    }
}

/// M(i) · T(i,j): the time to send the memory of a process to a cluster, from where `memory_origin` says, at the rate of
/// [`backbone`] or else of the managers.
pub(super) fn transfer_time(
    config: &MigBspConfig,
    backbone: Option<BytesPerSecond>,
    forecasts: &Forecasts,
    (process, to): (usize, usize),
    view: &View<'_>,
) -> Seconds {
    let platform = view.platform;
    let from = match config.memory_origin {
        MemoryOrigin::Present => view.cluster_of(process).index(),
        MemoryOrigin::Initial => forecasts.initial_cluster(process),
    };
    // Without a route there is no rate; the move itself will name the missing route.
    let managers = || platform.bottleneck(&route_between(platform, from, to)?);
    backbone
        .or_else(managers)
        .map_or_else(Seconds::default, |rate| view.memory[process] / rate)
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

    fn potential(process: usize, cluster: usize, value: f64) -> Potential {
        Potential {
            process,
            cluster,
            is_own: false,
            compute: value,
            communication: 0.0,
            memory: 0.0,
        }
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
        let (found, threshold) = candidates(&MigBspConfig::default(), &all, 3);
        assert_eq!(threshold, Some(8.0));
        assert_eq!(
            found
                .iter()
                .map(|p| (p.process, p.cluster))
                .collect::<Vec<_>>(),
            [(2, 1), (0, 2)]
        );
    }

    #[test]
    fn no_positive_potential_means_no_candidate() {
        let all = [potential(0, 1, -3.0), potential(1, 1, -1.0)];
        assert_eq!(
            candidates(&MigBspConfig::default(), &all, 2),
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
        assert_eq!(candidates(&two, &all, 4).0, [all[2]]);
        let half = MigBspConfig {
            x: 0.5,
            x_of: ThresholdMeaning::OfProcesses,
            ..MigBspConfig::default()
        };
        assert_eq!(candidates(&half, &all, 4).0, [all[2], all[1]]);
    }

    /// The terms of all PM after one superstep: p1 on lan-0 and p2 on s-0, 1e6 instructions, 500 kB from p1 to p2 in 50 ms; p1 started on
    /// a-0.
    fn after_a_move(config: &MigBspConfig) -> Vec<Potential> {
        use crate::policy::Measures;
        use crate::units::{Bytes, Instructions};
        let platform = crate::platform::open("lbm").unwrap().platform;
        let host = |name: &str| platform.host_named(name).unwrap();
        let mut measures = Measures::default();
        measures.clear(2, 4);
        measures.work = vec![Instructions::of(1e6); 2];
        measures.compute = vec![Seconds::of(2e-3), Seconds::of(1e-3)];
        let bytes = Bytes::of(500e3);
        measures.traffic[3].sent = bytes;
        measures.traffic[3].send_time = Seconds::of(0.05);
        measures.traffic[4 + 2].received = bytes;
        measures.traffic[4 + 2].receive_time = Seconds::of(0.05);
        let idle = vec![0.0; platform.hosts.len()];
        let mut view = View {
            migrations_happen: true,
            platform: &platform,
            superstep: 0,
            now: crate::units::Time::ZERO,
            placement: &[host("a-0"), host("s-0")],
            measures: &measures,
            memory: &[bytes, bytes],
            external_load: &idle,
            cycles_per_instruction: 1.0,
        };
        let mut forecasts = Forecasts::default();
        forecasts.observe(config, 4, &view);
        let now = [host("lan-0"), host("s-0")];
        view.placement = &now;
        let occupancy = vec![0; platform.hosts.len()];
        potentials(config, 1.0, &forecasts, &occupancy, &view)
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
        // 500 kB from lan at 10 MB/s to n, a and s, and nothing to lan itself.
        assert_eq!(memory(&config), [0.05, 0.05, 0.0, 0.05]);
        // From a at 100 MB/s, at 10 MB/s to lan.
        config.memory_origin = MemoryOrigin::Initial;
        assert_eq!(memory(&config), [0.005, 0.005, 0.05, 0.005]);
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
}
