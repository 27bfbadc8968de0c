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
use crate::View;
use crate::migbsp::OwnCluster;
use crate::migbsp::forecast::Forecasts;
use migsim_base::random::Stream;
use migsim_base::units::{Bytes, ClusterId, HostId, Seconds};
use migsim_platform::Platform;

/// The processing metric of a process and its relative memory, with the values from which they follow, as in the decision record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ProcessTerms {
    /// The number of the process, counted from 1.
    pub(super) process: usize,
    /// PI(i), the predicted number of instructions that the process executes in a superstep.
    pub(super) instructions: f64,
    /// PTP(i), the predicted computation time of the process in a superstep \[s\].
    pub(super) compute_s: f64,
    pub(super) p_proc: f64,
    pub(super) ip: f64,
    /// P(i), the metric for processing, dimensionless: the larger, the more computation time the process needs.
    pub(super) processing: f64,
    pub(super) image_bytes: f64,
    pub(super) im: f64,
}

/// PM(i,j), the potential of migration of a process to a cluster, with the metrics and forecasts from which it follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MigrationPotential {
    pub(super) process: usize,
    pub(super) cluster: usize,
    /// PC(i,j), the predicted bytes that the process exchanges with the cluster in a superstep.
    pub(super) predicted_bytes: Bytes,
    /// PTC(i,j), the predicted communication time of the process with the cluster in a superstep.
    pub(super) predicted_communication_time: Seconds,
    /// Pcom(i,j), the regularity of the communication of the process with the cluster, from 0 to 1.
    pub(super) communication_regularity: f64,
    /// IC(i,j), the communication time PTC with the cluster relative to the largest PTC of the process with any cluster,
    /// dimensionless.
    pub(super) communication_index: f64,
    /// Half of the time of a ping-pong between the process's host and the manager of the cluster; transfer(i,j) in the paper.
    pub(super) transfer_time: Seconds,
    /// IT(i,j), the transfer time to the cluster relative to the largest transfer time of the process, dimensionless.
    pub(super) transfer_index: f64,
    pub(super) metrics: MigrationMetrics,
}

/// The three metrics of a process and a cluster: P(i) for processing, C(i,j) for communication and M(i,j) for memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// Returns the processing metric P(i) and the relative memory IM(i) of each process, by process number.
pub(super) fn process_terms(forecasts: &Forecasts, view: &View<'_>) -> Vec<ProcessTerms> {
    let all = 0..view.processes();
    let times = all
        .clone()
        .map(|process| forecasts.predicted_computation_time(process).get());
    let images = view.process_memory.iter().map(|image| image.get());
    let both = relative_to_maximum(times).zip(relative_to_maximum(images));
    all.zip(both)
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

/// The highest potentials of migration PM(i,j) and, if there are few PM, a list of all PM, collected without storing each PM.
#[derive(Debug, Default)]
pub(super) struct PotentialSummary {
    /// The highest potential of migration PM of each process; if several PM are equal, the PM to the first of these clusters.
    highest_potentials: Vec<MigrationPotential>,
    /// The highest potential of migration PM of all processes; `None` if there is no PM.
    pub(super) highest_potential_value: Option<f64>,
    /// All potentials of migration PM, for the decision record; `None` if there are too many.
    pub(super) listed_potentials: Option<Vec<MigrationPotential>>,
}

impl PotentialSummary {
    /// Creates the summary of the potentials that the function `potentials` passes one by one to its argument. The summary stores
    /// every potential if there are at most `most` potentials.
    pub(super) fn from_potentials(
        potentials: impl FnOnce(&mut dyn FnMut(MigrationPotential)),
        most: usize,
    ) -> Self {
        let mut survey = Self {
            listed_potentials: Some(Vec::new()),
            ..Self::default()
        };
        potentials(&mut |potential| survey.add_potential(potential, most));
        survey
    }

    /// Adds a potential of migration to the summary. All potentials are discarded from the list if there are more than `most`.
    fn add_potential(&mut self, potential: MigrationPotential, most: usize) {
        let value = potential.metrics.potential();
        self.highest_potential_value = Some(
            self.highest_potential_value
                .map_or(value, |highest| highest.max(value)),
        );
        match self.highest_potentials.last_mut() {
            Some(last) if last.process == potential.process => {
                if value > last.metrics.potential() {
                    *last = potential;
                }
            }
            _ => self.highest_potentials.push(potential),
        }
        if let Some(listed) = &mut self.listed_potentials {
            listed.push(potential);
            if listed.len() > most {
                self.listed_potentials = None;
            }
        }
    }

    /// Returns the highest potential of migration PM of each process if it is above `threshold`, in decreasing order. Processes
    /// with equal PM are in increasing order of rank.
    pub(super) fn potentials_above_threshold(self, threshold: f64) -> Vec<MigrationPotential> {
        let mut best = self.highest_potentials;
        best.retain(|potential| potential.metrics.potential() > threshold);
        best.sort_by(|a, b| {
            let (a_pm, b_pm) = (a.metrics.potential(), b.metrics.potential());
            b_pm.total_cmp(&a_pm).then(a.process.cmp(&b.process))
        });
        best
    }
}

/// Computes the potential of migration PM(i,j) for all processes and clusters, and passes each PM to `each`, ordered by process
/// and then by cluster. A cluster that a process cannot reach is omitted.
pub(super) fn for_each_potential(
    config: &MigBsp2007Config,
    forecasts: &Forecasts,
    processes: &[ProcessTerms],
    view: &View<'_>,
    random: &mut Stream,
    each: &mut dyn FnMut(MigrationPotential),
) {
    let clusters = view.platform.clusters.len();
    for (process, terms) in processes.iter().enumerate() {
        let times = (0..clusters).map(|cluster| {
            forecasts
                .predicted_exchange(process, cluster)
                .communication_time
        });
        let transfers: Vec<Option<Seconds>> = (0..clusters)
            .map(|cluster| transfer_time(config, process, cluster, view, random))
            .collect();
        let reached = transfers.iter().map(|time| time.map_or(0.0, Seconds::get));
        let indexes = relative_to_maximum(times)
            .zip(relative_to_maximum(reached))
            .zip(&transfers);
        for (cluster, ((ic, it), transfer)) in indexes.enumerate() {
            let is_own = view.cluster_of(process).index() == cluster;
            let (Some(transfer), false) = (
                *transfer,
                is_own && config.own_cluster == OwnCluster::Excluded,
            ) else {
                continue;
            };
            let exchange = forecasts.predicted_exchange(process, cluster);
            let p_com = exchange.regularity;
            each(MigrationPotential {
                process,
                cluster,
                predicted_bytes: Bytes::of(exchange.exchanged_bytes),
                predicted_communication_time: Seconds::of(exchange.communication_time),
                communication_regularity: p_com,
                communication_index: ic,
                transfer_time: transfer,
                transfer_index: it,
                metrics: MigrationMetrics {
                    processing: terms.processing,
                    communication: p_com * ic,
                    memory: terms.im * it,
                },
            });
        }
    }
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
        let bottleneck = platform.bottleneck_bandwidth(&route);
        let transfer = bottleneck.map_or_else(Seconds::default, |rate| size / rate);
        Some((platform.route_latency(&route) + transfer).get())
    };
    Some(Seconds::of(
        way(here, there)? / 2.0 + way(there, here)? / 2.0,
    ))
}

/// Returns the host that is the partner of the host `here` in the ping-pong within its own cluster; `here` itself if the cluster
/// has no other host.
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

    fn potential(process: usize, cluster: usize, communication: f64) -> MigrationPotential {
        MigrationPotential {
            process,
            cluster,
            predicted_bytes: Bytes::default(),
            predicted_communication_time: Seconds::default(),
            communication_regularity: 1.0,
            communication_index: communication,
            transfer_time: Seconds::default(),
            transfer_index: 0.0,
            metrics: metrics(1.0, communication, 0.0),
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
    fn where_nothing_was_measured_all_indexes_are_0() {
        assert_eq!(
            relative_to_maximum([0.0, 0.0]).collect::<Vec<f64>>(),
            [0.0, 0.0]
        );
    }

    #[test]
    fn only_what_is_above_the_threshold_migrates() {
        // w07-w03, section 2.3.4: PM = 1 + C; 1.5 itself is not above 1.5.
        let all = [
            potential(0, 0, 0.25),
            potential(0, 1, 0.75),
            potential(1, 0, 0.5),
            potential(2, 0, 0.625),
            potential(3, 0, 0.75),
            potential(3, 1, 0.75),
        ];
        let survey = PotentialSummary::from_potentials(|each| all.into_iter().for_each(each), 5);
        assert_eq!(
            (survey.highest_potential_value, &survey.listed_potentials),
            (Some(1.75), &None)
        );
        let found = survey.potentials_above_threshold(1.5);
        let found: Vec<_> = found.iter().map(|p| (p.process, p.cluster)).collect();
        assert_eq!(found, [(0, 1), (3, 0), (2, 0)]);
    }

    #[test]
    fn the_potential_lies_between_minus_1_and_2() {
        // w07-w04, section 2.3.4.
        assert_eq!(metrics(0.0, 0.0, 1.0).potential(), -1.0);
        assert_eq!(metrics(1.0, 1.0, 0.0).potential(), 2.0);
    }
}
