//! Computes the traffic on each link for the table `links.csv`: after the run, from the messages of each superstep, the hosts of
//! the processes, and the routes.
//!
//! The traffic consists of the messages of the application and, if migrations are simulated as flows, of the memory of migrated
//! processes. Messages of barriers and rescheduling calls are not counted. Supersteps form groups of equal size, at most
//! [`MOST_GROUPS`] of them.

use serde::Deserialize;

use super::csv_guard::{CsvColumn, deserialize_guarded, protect_formula_like_text};
use migsim_base::units::{Bytes, HostId, LinkId};
use migsim_bsp::{MemoryTransfer, MigrationRecord, Scenario};
use migsim_experiment::{Experiment, Results, ScenarioRun};
use migsim_platform::{Platform, Route};
use migsim_workloads::Plan;

/// Maximum number of groups of supersteps; the traffic is the sum over the supersteps of a group.
pub(super) const MOST_GROUPS: usize = 256;

/// Traffic on a link in a group of consecutive supersteps: a row of `links.csv`. Links without traffic have no row.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct LinkTraffic {
    /// Scenario to which the traffic belongs.
    pub scenario: Scenario,
    /// First superstep of the group, counted from 1.
    pub first_superstep: u64,
    /// Last superstep of the group, counted from 1. The migrations between this superstep and the next are part of the group.
    pub last_superstep: u64,
    /// Name of the link on the platform.
    #[serde(deserialize_with = "deserialize_guarded")]
    pub link: String,
    /// Nominal bandwidth of the link \[B/s\].
    pub bandwidth_bytes_per_s: f64,
    /// Number of bytes that crossed the link, as the sum of both directions \[B\].
    pub bytes: f64,
    /// Number of messages and migrations that crossed the link, as the sum of both directions.
    pub flows: u64,
}

/// The columns of the table `links.csv`.
pub(super) const LINK_COLUMNS: [CsvColumn<LinkTraffic>; 7] = [
    ("scenario", |row| row.scenario.name().into()),
    ("first_superstep", |row| row.first_superstep.to_string()),
    ("last_superstep", |row| row.last_superstep.to_string()),
    ("link", |row| protect_formula_like_text(&row.link).into()),
    ("bandwidth_bytes_per_s", |row| {
        row.bandwidth_bytes_per_s.to_string()
    }),
    ("bytes", |row| row.bytes.to_string()),
    ("flows", |row| row.flows.to_string()),
];

/// Sums of bytes and flows on each link, with a list of the links that have any traffic.
#[derive(Default)]
struct TrafficSums {
    bytes_and_flows_by_link: Vec<(f64, u64)>,
    links_with_traffic: Vec<LinkId>,
}

impl TrafficSums {
    fn add_link_traffic(&mut self, link: LinkId, bytes: f64, flows: u64) {
        let at = link.index();
        if self.bytes_and_flows_by_link.len() <= at {
            self.bytes_and_flows_by_link.resize(at + 1, (0.0, 0));
        }
        let sum = &mut self.bytes_and_flows_by_link[at];
        if sum.1 == 0 {
            self.links_with_traffic.push(link);
        }
        *sum = (sum.0 + bytes, sum.1 + flows);
    }

    fn add_flow(&mut self, platform: &Platform, from: HostId, to: HostId, size: Bytes) {
        for link in platform.route(from, to).iter().flat_map(Route::links) {
            self.add_link_traffic(link, size.get(), 1);
        }
    }

    fn add_traffic_sums(&mut self, other: &Self) {
        for &link in &other.links_with_traffic {
            let (bytes, flows) = other.bytes_and_flows_by_link[link.index()];
            self.add_link_traffic(link, bytes, flows);
        }
    }

    fn clear(&mut self) {
        for link in self.links_with_traffic.drain(..) {
            self.bytes_and_flows_by_link[link.index()] = (0.0, 0);
        }
    }
}

pub(super) fn supersteps_per_group(supersteps: usize) -> usize {
    supersteps.div_ceil(MOST_GROUPS).max(1)
}

pub(super) fn compute_link_traffic(experiment: &Experiment, results: &Results) -> Vec<LinkTraffic> {
    results
        .scenario_runs
        .iter()
        .flat_map(|run| traffic_of_scenario(experiment, run))
        .collect()
}

fn traffic_of_scenario(experiment: &Experiment, run: &ScenarioRun) -> Vec<LinkTraffic> {
    let platform = &experiment.platform.platform;
    let supersteps = experiment.workload.supersteps();
    let size = supersteps_per_group(supersteps);
    let migrations_are_flows = experiment.config.costs.migration.transfer == MemoryTransfer::Flow;
    let mut migrations: Vec<&MigrationRecord> = run.outcome.migrations.iter().collect();
    migrations.sort_by_key(|moved| moved.superstep);
    let mut migrations = migrations.into_iter().peekable();
    let mut placement = experiment.placement.clone();
    let mut plan = Plan::default();
    let mut own = TrafficSums::default();
    let mut group = TrafficSums::default();
    let mut rows = Vec::new();
    for superstep in 0..supersteps {
        let repeats = superstep > 0 && experiment.workload.repeats(superstep);
        if !repeats {
            plan.clear(placement.len());
            experiment.workload.fill(superstep, &mut plan);
        }
        own.clear();
        for message in &plan.messages {
            let [from, to] = [message.from, message.to].map(|process| placement[process.index()]);
            own.add_flow(platform, from, to, message.size);
        }
        group.add_traffic_sums(&own);
        while let Some(moved) = migrations.next_if(|moved| moved.superstep <= superstep) {
            if migrations_are_flows {
                group.add_flow(platform, moved.from, moved.to, moved.transferred_bytes);
            }
            placement[moved.process.index()] = moved.to;
        }
        if (superstep + 1) % size == 0 || superstep + 1 == supersteps {
            group.links_with_traffic.sort_unstable();
            rows.extend(group.links_with_traffic.iter().map(|link| {
                let (bytes, flows) = group.bytes_and_flows_by_link[link.index()];
                let link = &platform.links[link.index()];
                LinkTraffic {
                    scenario: run.scenario,
                    first_superstep: (superstep / size * size) as u64 + 1,
                    last_superstep: superstep as u64 + 1,
                    link: link.name.clone(),
                    bandwidth_bytes_per_s: link.bandwidth.get(),
                    bytes,
                    flows,
                }
            }));
            group.clear();
        }
    }
    rows
}
