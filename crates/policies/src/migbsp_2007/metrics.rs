//! The metrics P, C and M of each process, its potential of migration to each cluster, and the selection of candidates (section
//! 2.3).
//!
//! ```text
//! IP(i)   = PTP(i) / max_i PTP(i)                (3)      P(i)   = Pproc(i) · IP(i)       (4)
//! IC(i,j) = PTC(i,j) / max_j PTC(i,j)            (5)      C(i,j) = Pcom(i,j) · IC(i,j)    (6)
//! IM(i)   = image(i) / max_i image(i)
//! IT(i,j) = transfer(i,j) / max_j transfer(i,j)           M(i,j) = IM(i) · IT(i,j)        (7)
//! PM(i,j) = P(i) + C(i,j) - M(i,j)           (8, 9), in [-1, 2]
//! ```
//! P stands for processing, C for communication and M for memory; PM(i,j) is the potential of migration of process i to cluster
//! j. PTP and PTC \[s\] are the forecasts of computation and communication time at the superstep of the call. Pproc and Pcom are
//! the regularities of algorithms 2 and 3. The image is the memory of a process in bytes, and the transfer time is half of the
//! time of a ping-pong \[s\]. All other values are dimensionless. An index is normalised over the processes (3, IM) or, for one
//! process, over the clusters (5, IT). Each value that equals the maximum gets 1 (w07-x08). If the maximum is 0, all indices are
//! 0.
//!
//! Misprints: the left side of equation 5 is IC(i,j), not IP(i,j) (w07-x02). The text after equation 7 means M(i,j), not IM(i,j)
//! (w07-x03). Algorithm 2 tests the forecast PI, not P (w07-x01).

use serde::Serialize;

use super::config::{MigBsp2007Config, OwnPartner};
use crate::{
    View,
    migbsp::{OwnCluster, forecast::Forecasts},
};
use migsim_base::{
    random::Stream,
    units::{ClusterId, HostId, Seconds},
};
use migsim_platform::Platform;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ProcessTerms {
    /// The number of the process, counted from 1.
    pub process: usize,
    /// PI(i), the predicted number of instructions that the process executes in a superstep.
    pub instructions: f64,
    /// PTP(i), the predicted computation time of the process in a superstep \[s\].
    pub compute_s: f64,
    pub p_proc: f64,
    pub ip: f64,
    /// P(i), the metric for processing, dimensionless: the larger, the more computation time the process needs.
    pub processing: f64,
    pub image_bytes: f64,
    pub im: f64,
}

/// PM(i,j), the potential of migration of a process to a cluster, with the metrics and forecasts from which it follows, as in the
/// decision record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct MigrationPotential<'a> {
    /// The number of the process, counted from 1.
    #[serde(rename = "process")]
    pub process_number: usize,
    /// The number of the cluster, counted from 0.
    #[serde(skip)]
    pub cluster_index: usize,
    pub cluster: &'a str,
    /// PC(i,j), the predicted bytes that the process exchanges with the cluster in a superstep.
    bytes: f64,
    /// PTC(i,j)
    communication_s: f64,
    /// Pcom(i,j), from 0 to 1
    p_com: f64,
    /// IC(i,j)
    ic: f64,
    /// transfer(i,j)
    transfer_s: f64,
    /// IT(i,j)
    it: f64,
    #[serde(flatten)]
    metrics: MigrationMetrics,
    pub potential: f64,
}

/// The three metrics of a process and a cluster: P(i) for processing, C(i,j) for communication and M(i,j) for memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MigrationMetrics {
    /// P(i), the metric for processing, dimensionless: the larger, the more computation time the process needs.
    pub processing: f64,
    /// C(i,j), the metric for communication, dimensionless: the larger, the more time the process communicates with the cluster.
    pub communication: f64,
    /// M(i,j), the metric for memory, dimensionless: the larger, the more a migration to the cluster costs.
    pub memory: f64,
}

impl MigrationMetrics {
    /// Returns PM(i,j) = P(i) + C(i,j) - M(i,j), the potential of migration, dimensionless (equation 9).
    pub fn potential(self) -> f64 {
        self.processing + self.communication - self.memory
    }
}

/// Returns each value divided by the largest value, dimensionless; all results are 0 if the largest value is 0. These are
/// equations 3 and 5, and the definitions of IM and IT.
pub fn relative_to_maximum(
    values: impl IntoIterator<Item = f64> + Clone,
) -> impl Iterator<Item = f64> {
    let largest = values.clone().into_iter().fold(0.0, f64::max);
    let relative = move |value| if largest > 0.0 { value / largest } else { 0.0 };
    values.into_iter().map(relative)
}

pub(super) fn process_terms(forecasts: &Forecasts, view: &View<'_>) -> Vec<ProcessTerms> {
    let all = 0..view.processes();
    let times = all
        .clone()
        .map(|process| forecasts.predicted_computation_time(process).get());
    let images = view.process_memory.iter().map(|image| image.get());
    all.zip(relative_to_maximum(times).zip(relative_to_maximum(images)))
        .map(|(process, (ip, im))| ProcessTerms {
            process: process + 1,
            instructions: forecasts.predicted_work(process).get(),
            compute_s: forecasts.predicted_computation_time(process).get(),
            p_proc: forecasts.computation_regularity(process),
            ip,
            processing: forecasts.computation_regularity(process) * ip,
            image_bytes: view.process_memory[process].get(),
            im,
        })
        .collect()
}

/// The potentials of migration PM(i,j) of a call.
#[derive(Debug, Default)]
pub(super) struct PotentialSummary<'a> {
    /// The highest PM of each process; if several PM are equal, the PM to the first of these clusters.
    pub best: Vec<MigrationPotential<'a>>,
    /// All PM, for the decision record; `None` if there are too many.
    pub listed: Option<Vec<MigrationPotential<'a>>>,
}

impl<'a> PotentialSummary<'a> {
    pub(super) fn new(
        config: &MigBsp2007Config,
        forecasts: &Forecasts,
        processes: &[ProcessTerms],
        view: &View<'a>,
        random: &mut Stream,
        most: usize,
    ) -> Self {
        let mut summary = Self {
            best: Vec::new(),
            listed: Some(Vec::new()),
        };
        for terms in processes {
            let row = potentials_of_process(config, forecasts, terms, view, random);
            summary.add_process(&row, most);
        }
        summary
    }

    fn add_process(&mut self, row: &[MigrationPotential<'a>], most: usize) {
        self.best.extend(row.iter().copied().reduce(
            |best: MigrationPotential<'a>, one: MigrationPotential<'a>| {
                if one.potential > best.potential {
                    one
                } else {
                    best
                }
            },
        ));
        if let Some(listed) = &mut self.listed {
            listed.extend_from_slice(row);
            if listed.len() > most {
                self.listed = None;
            }
        }
    }

    pub(super) fn highest(&self) -> Option<f64> {
        self.best.iter().map(|one| one.potential).reduce(f64::max)
    }

    /// Returns the highest PM of each process if it is above `threshold`, in decreasing order. Processes with equal PM are in
    /// increasing order of rank.
    pub(super) fn above(mut self, threshold: f64) -> Vec<MigrationPotential<'a>> {
        self.best.retain(|one| one.potential > threshold);
        // The sort is stable.
        self.best
            .sort_by(|a, b| b.potential.total_cmp(&a.potential));
        self.best
    }
}

/// Returns PM(i,j) of a process for all clusters, except those that it cannot reach.
fn potentials_of_process<'a>(
    config: &MigBsp2007Config,
    forecasts: &Forecasts,
    terms: &ProcessTerms,
    view: &View<'a>,
    random: &mut Stream,
) -> Vec<MigrationPotential<'a>> {
    let process = terms.process - 1;
    let clusters = &view.platform.clusters;
    let exchanges: Vec<_> = (0..clusters.len())
        .map(|cluster| forecasts.predicted_exchange(process, cluster))
        .collect();
    let transfers: Vec<Option<Seconds>> = (0..clusters.len())
        .map(|cluster| transfer_time(config, process, cluster, view, random))
        .collect();
    let times = exchanges.iter().map(|exchange| exchange.communication_time);
    let reached = transfers.iter().map(|time| time.map_or(0.0, Seconds::get));
    let indexes = relative_to_maximum(times).zip(relative_to_maximum(reached));
    let own = view.cluster_of(process).index();
    let potential = |(cluster, (ic, it)): (usize, (f64, f64))| {
        let transfer = transfers[cluster]?;
        if cluster == own && config.own_cluster == OwnCluster::Excluded {
            return None;
        }
        let exchange = exchanges[cluster];
        let metrics = MigrationMetrics {
            processing: terms.processing,
            communication: exchange.regularity * ic,
            memory: terms.im * it,
        };
        Some(MigrationPotential {
            process_number: terms.process,
            cluster_index: cluster,
            cluster: &clusters[cluster].name,
            bytes: exchange.exchanged_bytes,
            communication_s: exchange.communication_time,
            p_com: exchange.regularity,
            ic,
            transfer_s: transfer.get(),
            it,
            metrics,
            potential: metrics.potential(),
        })
    };
    indexes.enumerate().filter_map(potential).collect()
}

/// Returns transfer(i,j), half of the time of a ping-pong between the host of process i and the manager of cluster j; `None` if
/// there is no route (section 2.3.3).
///
/// In the own cluster of the process, the partner of the ping-pong is another host of this cluster, and the time is 0 if there is
/// no other host. The nominal routes are used, without other traffic. If the option `ping` replaces the size of the image, the
/// size is a factor that cancels in IT.
fn transfer_time(
    config: &MigBsp2007Config,
    process: usize,
    cluster: usize,
    view: &View<'_>,
    random: &mut Stream,
) -> Option<Seconds> {
    let platform = view.platform;
    let here = view.placement[process];
    let there = if view.cluster_of(process).index() == cluster {
        ping_pong_partner(config.own_partner, here, platform, random)
    } else {
        platform.manager_host(ClusterId::from_index(cluster))
    };
    if there == here {
        return Some(Seconds::default());
    }
    let size = config.ping.unwrap_or(view.process_memory[process]);
    let way = |from, to| {
        let route = platform.route(from, to)?;
        let transfer = platform
            .bottleneck_bandwidth(&route)
            .map_or_else(Seconds::default, |rate| size / rate);
        Some((platform.route_latency(&route) + transfer).get())
    };
    Some(Seconds::of(
        way(here, there)? / 2.0 + way(there, here)? / 2.0,
    ))
}

fn ping_pong_partner(
    choice: OwnPartner,
    here: HostId,
    platform: &Platform,
    random: &mut Stream,
) -> HostId {
    let hosts = &platform.clusters[platform.cluster_of(here).index()].hosts;
    let count = hosts.len();
    let away = match choice {
        OwnPartner::Random if count > 1 => 1 + random.draw_below(count - 1),
        OwnPartner::Next | OwnPartner::Random => 1,
    };
    let first = hosts.start as usize;
    HostId::from_index(first + (here.index() - first + away) % count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(processing: f64, communication: f64, memory: f64) -> MigrationMetrics {
        MigrationMetrics {
            processing,
            communication,
            memory,
        }
    }

    #[test]
    fn the_partner_is_the_next_host_of_the_cluster() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let mut random = Stream::new(1, migsim_base::random::StreamPurpose::PolicyDecisions);
        let mut next = |name: &str| {
            let here = platform.host_named(name).unwrap();
            let host = ping_pong_partner(OwnPartner::Next, here, &platform, &mut random);
            platform.hosts[host.index()].name.clone()
        };
        assert_eq!(
            [next("a-0"), next("a-5"), next("s-0")],
            ["a-1", "a-0", "s-0"]
        );
    }

    #[test]
    fn transfers_of_10_20_and_15_s_have_the_indexes_of_the_paper() {
        // w07-w01, section 2.3.3.
        let found: Vec<f64> = relative_to_maximum([10.0, 20.0, 15.0]).collect();
        assert_eq!(found, [0.5, 1.0, 0.75]);
    }

    #[test]
    fn the_potential_lies_between_minus_1_and_2() {
        // w07-w04, section 2.3.4.
        assert_eq!(metrics(0.0, 0.0, 1.0).potential(), -1.0);
        assert_eq!(metrics(1.0, 1.0, 0.0).potential(), 2.0);
    }
}
