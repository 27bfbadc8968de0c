//! The options of the policy `authors-2015`: the parameters of the authors' program, and its Sets (clusters).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{heuristic::Heuristic, potential::HostSet};
use crate::{View, strategy::range_problem};
use migsim_base::{
    error::{Problem, Result},
    units::{InstructionsPerSecond, Seconds},
};

/// A Set (cluster) as a deployment file of the authors' program describes it: its hosts and the power of each host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSet {
    /// The name of the platform's cluster that corresponds to this Set.
    pub cluster: String,
    /// The number of hosts of the Set that the manager of the Set knows, at least 1. These hosts are the first hosts of the
    /// cluster.
    pub hosts: u32,
    /// The computing power that the manager of the Set assumes for each of its hosts.
    pub power: InstructionsPerSecond,
}

/// The options of the policy `authors-2015`; the default values are the values of the recorded runs of the authors' program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Authors2015Config {
    /// The heuristic that chooses the processes that may migrate (candidates).
    pub heuristic: Heuristic,
    /// Number α of supersteps from one rescheduling call to the next, at least 1. It is constant, since the program computes a
    /// new α but does not use it.
    pub alpha: u32,
    /// Factor x of the heuristic `percentage`: a process is a candidate if its potential of migration is above x times the
    /// largest potential; in \[0, 1\].
    pub x: f64,
    /// D, the largest deviation of a process's time in a superstep from the mean time at which the process counts as balanced. It
    /// is a share of the mean, from 0 to 10, and affects only the record of a call, not its decision.
    pub d: f64,
    /// Largest relative difference between a value measured in a superstep (instructions or received bytes of a process) and its
    /// aged mean at which the value counts as regular. It is δ and β of the papers, in \[0, 1\].
    pub pattern_margin: f64,
    /// The Sets (clusters) in the order of their numbers. If the list is empty, each cluster of the platform is a Set with all
    /// its hosts and the speed of its first host.
    pub sets: Vec<DeclaredSet>,
}

/// The latency from the manager of a Set to itself \[s\]. Multiplied by the received bytes it is the term Mem, by which the program
/// penalises a process that stays in its Set; the program multiplies all other latencies by 0 bytes.
const OWN_LATENCY_S: f64 = 1e-6;

impl Default for Authors2015Config {
    fn default() -> Self {
        Self {
            heuristic: Heuristic::MigCube,
            alpha: 8,
            x: 0.2,
            d: 0.2,
            pattern_margin: 0.3,
            sets: Vec::new(),
        }
    }
}

impl Authors2015Config {
    /// Returns an error for each option that is out of range, with the key of the option.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |key: &str, is_right: bool, value: f64, range: &str| {
            problems.extend((!is_right).then(|| range_problem(key, value, range)));
        };
        for (key, value, most) in [
            ("x", self.x, 1.0),
            ("pattern_margin", self.pattern_margin, 1.0),
            ("d", self.d, 10.0),
        ] {
            let range = format!("from 0 to {most}");
            check(key, (0.0..=most).contains(&value), value, &range);
        }
        for (at, set) in self.sets.iter().enumerate() {
            let key = format!("sets[{at}].hosts");
            check(&key, set.hosts >= 1, set.hosts.into(), "at least 1");
        }
        check("alpha", self.alpha >= 1, self.alpha.into(), "at least 1");
        problems
    }
}

/// The Sets (clusters) of a run, and the clusters of the platform to which they belong.
#[derive(Clone, Debug)]
pub(super) struct Deployment {
    pub sets: Vec<HostSet>,
    /// The index of the platform's cluster that corresponds to each Set, by Set number.
    platform_cluster_indices: Vec<usize>,
}

impl Deployment {
    /// Creates the Sets of a run from the options: finds the cluster of the platform for each declared Set.
    ///
    /// # Errors
    /// No cluster has the name of a declared Set, a Set has more hosts than its cluster, or two Sets have the same cluster.
    pub(super) fn new(config: &Authors2015Config, view: &View<'_>) -> Result<Self> {
        let platform = view.platform;
        let mut sets = Vec::new();
        let mut clusters = Vec::new();
        let mut add = |cluster: usize, hosts: usize, power: InstructionsPerSecond| {
            clusters.push(cluster);
            sets.push(HostSet {
                host_count: hosts,
                power_per_host: power,
                own_latency: Seconds::of(OWN_LATENCY_S),
            });
        };
        if config.sets.is_empty() {
            for (index, cluster) in platform.clusters.iter().enumerate() {
                let first = platform.hosts[cluster.hosts.start as usize].speed;
                add(index, cluster.hosts.len(), first);
            }
        }
        for (at, declared) in config.sets.iter().enumerate() {
            let key = |key: &str| format!("policy.authors-2015.sets[{at}].{key}");
            let name = &declared.cluster;
            let Some(cluster) = platform.cluster_named(name) else {
                let names = platform.clusters.iter().map(|one| one.name.as_str());
                let problem =
                    Problem::unknown_name("cluster", name).with_known_names("clusters", names);
                return Err(problem.key(key("cluster")).into());
            };
            let cluster = cluster.index();
            let hosts = declared.hosts as usize;
            let all = platform.clusters[cluster].hosts.len();
            if config.sets[..at].iter().any(|set| set.cluster == *name) {
                let message = format!("the list `sets` names the cluster `{name}` twice");
                let problem = Problem::new(message).key(key("cluster"));
                return Err(problem.hint("name each cluster in one entry only").into());
            }
            if hosts > all {
                let message = format!(
                    "cluster `{name}` has {all} hosts, but `hosts` of its entry is {hosts}"
                );
                let problem = Problem::new(message).key(key("hosts"));
                return Err(problem.hint(format!("set `hosts` to at most {all}")).into());
            }
            add(cluster, hosts, declared.power);
        }
        Ok(Self {
            sets,
            platform_cluster_indices: clusters,
        })
    }

    /// Returns for each process the index of the Set in which the process is, and the index of the process's host within that
    /// Set.
    ///
    /// # Errors
    /// A process is in a cluster that is not declared as a Set.
    pub(super) fn sets_and_hosts_of_processes(
        &self,
        view: &View<'_>,
    ) -> Result<Vec<(usize, usize)>> {
        let place = |process: usize| {
            let cluster = view.cluster_of(process).index();
            let mut sets = self.platform_cluster_indices.iter();
            let set = sets.position(|&one| one == cluster);
            let cluster = &view.platform.clusters[cluster];
            let first = cluster.hosts.start as usize;
            let host = view.placement[process].index() - first;
            set.map(|set| (set, host)).ok_or_else(|| {
                let number = process + 1;
                let name = &cluster.name;
                let message =
                    format!("process p{number} is in cluster `{name}`, which `sets` does not list");
                Problem::new(message)
                    .key("policy.authors-2015.sets")
                    .hint(format!("add an entry for the cluster `{name}` to `sets`"))
                    .into()
            })
        };
        (0..view.processes()).map(place).collect()
    }

    /// Returns the index of the platform's cluster that corresponds to the Set with the index `set`.
    pub(super) fn cluster_of_set(&self, set: usize) -> usize {
        self.platform_cluster_indices[set]
    }
}
