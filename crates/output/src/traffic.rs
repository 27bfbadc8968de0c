//! Computes the traffic on each link for the table `links.csv`: after the run, from the messages of each superstep, the hosts of
//! the processes, and the routes.
//!
//! The traffic consists of the messages of the application and, if migrations are simulated as flows, of the memory of migrated
//! processes. Messages of barriers and rescheduling calls are not counted. Supersteps form groups of equal size, at most
//! [`MOST_GROUPS`] of them.

use std::io::{self, Write};

use serde::Deserialize;

use super::csv_guard::{deserialize_guarded, protect_formula_like_text};
use migsim_base::units::{HostId, LinkId};
use migsim_bsp::{MemoryTransfer, Scenario};
use migsim_experiment::{Experiment, Results, ScenarioRun};
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

/// Sums of bytes and flows on each link, with a list of the links that have any traffic.
#[derive(Debug, Default)]
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

/// Computes the number of supersteps in a group, such that there are at most [`MOST_GROUPS`] groups.
pub(super) fn supersteps_per_group(supersteps: usize) -> usize {
    supersteps.div_ceil(MOST_GROUPS).max(1)
}

/// Computes the traffic on the links in all scenarios, for each group of consecutive supersteps.
pub(super) fn compute_link_traffic(experiment: &Experiment, results: &Results) -> Vec<LinkTraffic> {
    let supersteps = experiment.workload.supersteps();
    let size = supersteps_per_group(supersteps);
    let mut walks: Vec<ScenarioTraffic<'_>> = results
        .scenario_runs
        .iter()
        .map(|run| ScenarioTraffic::new(experiment, run))
        .collect();
    let mut plan = Plan::default();
    for superstep in 0..supersteps {
        if superstep == 0 || !experiment.workload.repeats(superstep) {
            plan.clear(experiment.placement.len());
            experiment.workload.fill(superstep, &mut plan);
        }
        for at in 0..walks.len() {
            let (before, rest) = walks.split_at_mut(at);
            let walk = &mut rest[0];
            // If all processes are on the same hosts as in another scenario, the traffic is the same.
            let same = before.iter().find(|other| {
                !other.uses_traffic_of_other_scenario
                    && other.current_placement == walk.current_placement
            });
            walk.add_superstep_messages(&plan, same);
        }
        for walk in &mut walks {
            walk.apply_migrations_after_superstep(superstep);
        }
        if (superstep + 1) % size == 0 || superstep + 1 == supersteps {
            for walk in &mut walks {
                walk.finish_superstep_group(superstep / size * size, superstep);
            }
        }
    }
    walks
        .into_iter()
        .flat_map(|walk| walk.finished_rows)
        .collect()
}

/// State of the computation of the traffic of one scenario superstep by superstep: the current hosts of the processes, and the
/// sums for the current group of supersteps.
struct ScenarioTraffic<'a> {
    experiment: &'a Experiment,
    run: &'a ScenarioRun,
    current_placement: Vec<HostId>,
    migration_indices_by_superstep: Vec<usize>,
    applied_migration_count: usize,
    traffic_of_superstep: TrafficSums,
    uses_traffic_of_other_scenario: bool,
    traffic_of_group: TrafficSums,
    finished_rows: Vec<LinkTraffic>,
}

impl<'a> ScenarioTraffic<'a> {
    fn new(experiment: &'a Experiment, run: &'a ScenarioRun) -> Self {
        let mut order: Vec<usize> = (0..run.outcome.migrations.len()).collect();
        order.sort_by_key(|&at| run.outcome.migrations[at].superstep);
        Self {
            experiment,
            run,
            current_placement: experiment.placement.clone(),
            migration_indices_by_superstep: order,
            applied_migration_count: 0,
            traffic_of_superstep: TrafficSums::default(),
            uses_traffic_of_other_scenario: false,
            traffic_of_group: TrafficSums::default(),
            finished_rows: Vec::new(),
        }
    }

    fn add_superstep_messages(&mut self, plan: &Plan, same: Option<&Self>) {
        self.uses_traffic_of_other_scenario = same.is_some();
        if let Some(same) = same {
            self.traffic_of_group
                .add_traffic_sums(&same.traffic_of_superstep);
            return;
        }
        self.traffic_of_superstep.clear();
        for message in &plan.messages {
            let from = self.current_placement[message.from.index()];
            let to = self.current_placement[message.to.index()];
            for link in self.links_between(from, to) {
                self.traffic_of_superstep
                    .add_link_traffic(link, message.size.get(), 1);
            }
        }
        self.traffic_of_group
            .add_traffic_sums(&self.traffic_of_superstep);
    }

    fn links_between(&self, from: HostId, to: HostId) -> impl Iterator<Item = LinkId> + use<'a> {
        let platform = &self.experiment.platform.platform;
        let route = platform.route(from, to);
        let links = route.map_or_else(Vec::new, |route| route.links().collect());
        links.into_iter()
    }

    /// Applies the migrations after a superstep to the placement, and adds their traffic to the group of this superstep if
    /// migrations are simulated as flows.
    fn apply_migrations_after_superstep(&mut self, superstep: usize) {
        let is_flow = self.experiment.config.costs.migration.transfer == MemoryTransfer::Flow;
        while let Some(&at) = self
            .migration_indices_by_superstep
            .get(self.applied_migration_count)
        {
            let moved = &self.run.outcome.migrations[at];
            if moved.superstep > superstep {
                break;
            }
            if is_flow {
                for link in self.links_between(moved.from, moved.to) {
                    self.traffic_of_group
                        .add_link_traffic(link, moved.transferred_bytes.get(), 1);
                }
            }
            self.current_placement[moved.process.index()] = moved.to;
            self.applied_migration_count += 1;
        }
    }

    fn finish_superstep_group(&mut self, first: usize, last: usize) {
        let platform = &self.experiment.platform.platform;
        self.traffic_of_group.links_with_traffic.sort_unstable();
        for link in &self.traffic_of_group.links_with_traffic {
            let (bytes, flows) = self.traffic_of_group.bytes_and_flows_by_link[link.index()];
            let link = &platform.links[link.index()];
            self.finished_rows.push(LinkTraffic {
                scenario: self.run.scenario,
                first_superstep: first as u64 + 1,
                last_superstep: last as u64 + 1,
                link: link.name.clone(),
                bandwidth_bytes_per_s: link.bandwidth.get(),
                bytes,
                flows,
            });
        }
        self.traffic_of_group.clear();
    }
}

/// Writes the rows of traffic as the table `links.csv`.
pub(super) fn write_link_traffic(rows: &[LinkTraffic], out: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record([
        "scenario",
        "first_superstep",
        "last_superstep",
        "link",
        "bandwidth_bytes_per_s",
        "bytes",
        "flows",
    ])?;
    for row in rows {
        table.write_record([
            row.scenario.name(),
            &row.first_superstep.to_string(),
            &row.last_superstep.to_string(),
            &protect_formula_like_text(&row.link),
            &row.bandwidth_bytes_per_s.to_string(),
            &row.bytes.to_string(),
            &row.flows.to_string(),
        ])?;
    }
    table.flush()
}
