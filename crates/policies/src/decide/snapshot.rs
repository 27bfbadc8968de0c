//! The state at a barrier, read from a file of `migsim decide` or `migsim snapshot`, with checks of its values.

use serde::Deserialize;

use super::check::{AllowedRange, CaseCheck};
use crate::{
    CallProcedure,
    balancer::cancel_moves_without_memory,
    strategy::{Assignment, HostPaths, Instance, PairMessages},
};
use migsim_base::units::{Bytes, BytesPerSecond, Seconds};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UncheckedBarrier {
    speeds: Vec<f64>,
    #[serde(default)]
    background: Option<Vec<f64>>,
    current: Vec<u64>,
    #[serde(default)]
    work: Option<Vec<f64>>,
    #[serde(default)]
    time: Option<Vec<f64>>,
    #[serde(default)]
    communication: Vec<(u64, u64, f64, f64)>,
    #[serde(default)]
    memory: Vec<f64>,
    #[serde(default)]
    host_memory: Vec<Option<f64>>,
    #[serde(default)]
    clusters: Vec<u64>,
    #[serde(default)]
    latency: Option<HostPairValues>,
    #[serde(default)]
    bandwidth: Option<HostPairValues>,
    #[serde(default)]
    hosts: Vec<NamedHost>,
    #[serde(default)]
    processes: Vec<u64>,
    #[serde(default)]
    decisions: Vec<RecordedDecision>,
    /// The number of the superstep that ended at the barrier, counted from 1; it is accepted but not used.
    #[serde(default, rename = "superstep")]
    _superstep: Option<u64>,
}

/// A host of the platform: its name, and the number of consecutive hosts of the barrier that are its cores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedHost {
    name: String,
    cores: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedDecision {
    policy: String,
    assignment: Vec<u64>,
    #[serde(default)]
    procedure: Option<CallProcedure>,
}

/// The latency or the bandwidth between hosts: one value for all pairs, or a matrix with one row for each source host.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum HostPairValues {
    All(f64),
    Rows(Vec<Vec<f64>>),
}

impl HostPairValues {
    fn check_values(
        &self,
        check: &mut CaseCheck<'_>,
        key: &str,
        hosts: usize,
        range: AllowedRange,
    ) {
        match self {
            Self::All(value) => check.check_value(key, *value, range),
            Self::Rows(rows) => {
                check.check_length(key, rows.len(), hosts);
                for (at, row) in rows.iter().enumerate() {
                    check.check_list(&format!("{key}[{at}]"), row, Some(hosts), range);
                }
            }
        }
    }

    fn value(&self, from: usize, to: usize) -> f64 {
        match self {
            Self::All(value) => *value,
            Self::Rows(rows) => rows[from][to],
        }
    }
}

/// The state at a barrier that was read from a file and checked, so that strategies can decide on it.
#[derive(Clone, Debug)]
pub struct BarrierSnapshot {
    instance: Instance<'static>,
    paths_between_hosts: Option<PathsBetweenHosts>,
    /// The name of each host of the platform; empty if the file of the barrier names no hosts.
    host_names: Vec<String>,
    /// The index of the platform's host to which each core belongs; empty if the file of the barrier names no hosts.
    hosts_by_core: Vec<usize>,
    /// The number of each process in the run, counted from 1.
    process_numbers: Vec<u64>,
    recorded_decisions: Vec<(String, Assignment)>,
}

#[derive(Clone, Debug)]
struct PathsBetweenHosts {
    latency: HostPairValues,
    bandwidth: HostPairValues,
}

impl HostPaths for PathsBetweenHosts {
    fn latency(&self, from: usize, to: usize) -> Seconds {
        Seconds::of(self.latency.value(from, to))
    }

    fn bandwidth(&self, from: usize, to: usize) -> BytesPerSecond {
        BytesPerSecond::of(self.bandwidth.value(from, to))
    }
}

impl BarrierSnapshot {
    /// Returns the state at the barrier in the form in which strategies receive it, including latency and bandwidth between
    /// hosts.
    pub fn instance(&self) -> Instance<'_> {
        Instance {
            host_paths: self
                .paths_between_hosts
                .as_ref()
                .map(|links| links as &dyn HostPaths),
            ..self.instance.clone()
        }
    }

    /// Returns the number of the platform's hosts, or `None` if the file of the barrier names no hosts.
    ///
    /// If hosts are named, each host of the barrier is a core of a named host.
    pub fn named_host_count(&self) -> Option<usize> {
        (!self.host_names.is_empty()).then_some(self.host_names.len())
    }

    /// Returns the name of each policy whose decision is recorded in the file, with this decision.
    pub fn recorded_decisions(&self) -> &[(String, Assignment)] {
        &self.recorded_decisions
    }

    /// Returns whether the file has the decision of the policy with this name.
    pub fn has_decision_of(&self, name: &str) -> bool {
        self.recorded_decisions.iter().any(|(one, _)| one == name)
    }

    pub(super) fn cancel_moves_without_memory(&self, assignment: &mut Assignment) -> usize {
        let instance = &self.instance;
        if instance.host_memory.is_empty() || instance.process_memory.is_empty() {
            return 0;
        }
        let hosts = |cores: &[usize]| -> Vec<usize> {
            cores.iter().map(|core| self.host_of_core(*core)).collect()
        };
        let mut limits = vec![None; instance.host_count()];
        for (core, limit) in instance.host_memory.iter().enumerate() {
            limits[self.host_of_core(core)] = *limit;
        }
        let wanted = hosts(&assignment.assigned_hosts);
        let mut kept = wanted.clone();
        let current = hosts(&instance.current_hosts);
        let count =
            cancel_moves_without_memory(&mut kept, &current, &instance.process_memory, &limits);
        for process in (0..kept.len()).filter(|&process| kept[process] != wanted[process]) {
            assignment.assigned_hosts[process] = instance.current_hosts[process];
        }
        count
    }

    /// Returns the processes that move if `hosts` is their new assignment, each with its number (counted from 1) and the names of
    /// its old and new host.
    ///
    /// Moves between cores of one host are omitted.
    pub fn moves_with_host_names(&self, hosts: &[usize]) -> Vec<(u64, String, String)> {
        let moved = self
            .instance
            .current_hosts
            .iter()
            .zip(hosts)
            .enumerate()
            .filter(|(_, (old, new))| self.host_of_core(**old) != self.host_of_core(**new))
            .map(|(process, (&old, &new))| {
                let number = self.process_numbers.get(process).copied();
                let [from, to] = [old, new].map(|core| self.host_name_of_core(core));
                (number.unwrap_or(process as u64 + 1), from, to)
            });
        moved.collect()
    }

    /// Returns the index of the platform's host to which a core belongs. If the barrier does not name hosts, each core is a host.
    pub(super) fn host_of_core(&self, core: usize) -> usize {
        self.hosts_by_core.get(core).copied().unwrap_or(core)
    }

    fn host_name_of_core(&self, core: usize) -> String {
        self.host_names
            .get(self.host_of_core(core))
            .cloned()
            .unwrap_or_else(|| format!("host {core}"))
    }
}

fn to_seconds(list: &[f64]) -> Vec<Seconds> {
    list.iter().map(|&value| Seconds::of(value)).collect()
}

impl UncheckedBarrier {
    pub(super) fn into_snapshot(self) -> BarrierSnapshot {
        let hosts = self.speeds.len();
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let current: Vec<usize> = self.current.iter().map(|&host| index(host)).collect();
        let [time, work] = self.times_and_works(&current);
        let rows = self
            .communication
            .iter()
            .map(|&(from, to, messages, bytes)| PairMessages {
                from: index(from),
                to: index(to),
                message_count: messages,
                bytes: Bytes::of(bytes),
            });
        let limits = self.host_memory.iter().map(|limit| limit.map(Bytes::of));
        let clusters = self.clusters.iter().map(|&cluster| index(cluster));
        let instance = Instance {
            background_times: to_seconds(&self.background.unwrap_or_else(|| vec![0.0; hosts])),
            communication: rows.collect(),
            process_memory: self.memory.iter().map(|&bytes| Bytes::of(bytes)).collect(),
            host_memory: limits.collect(),
            cluster_of_host: clusters.collect(),
            host_speeds: self.speeds,
            current_hosts: current,
            process_times: time,
            process_works: work,
            host_paths: None,
        };
        let hosts_by_core = self
            .hosts
            .iter()
            .enumerate()
            .flat_map(|(host, named)| std::iter::repeat_n(host, index(named.cores)))
            .collect();
        let decided = self.decisions.into_iter().map(|one| {
            let procedure = one.procedure.unwrap_or_default();
            let decision = Assignment {
                assigned_hosts: one.assignment.into_iter().map(index).collect(),
                communication_pattern: procedure.gather,
                operation_count: procedure.operation_count,
                ..Assignment::default()
            };
            (one.policy, decision)
        });
        let links = self
            .latency
            .zip(self.bandwidth)
            .map(|(latency, bandwidth)| PathsBetweenHosts { latency, bandwidth });
        BarrierSnapshot {
            instance,
            paths_between_hosts: links,
            host_names: self.hosts.into_iter().map(|host| host.name).collect(),
            hosts_by_core,
            process_numbers: self.processes,
            recorded_decisions: decided.collect(),
        }
    }

    /// Returns the time and the work of each process in a superstep. A quantity that is missing in the file is computed from the
    /// other quantity and the speed of the process's host.
    fn times_and_works(&self, current: &[usize]) -> [Vec<Seconds>; 2] {
        let scaled = |list: &[f64], scale: fn(f64, f64) -> f64| {
            list.iter()
                .zip(current)
                .map(|(&value, &host)| Seconds::of(scale(value, self.speeds[host])))
                .collect::<Vec<_>>()
        };
        match (&self.time, &self.work) {
            (Some(time), Some(work)) => [to_seconds(time), to_seconds(work)],
            (None, Some(work)) => [scaled(work, |work, speed| work / speed), to_seconds(work)],
            (Some(time), None) => [to_seconds(time), scaled(time, |time, speed| time * speed)],
            (None, None) => [Vec::new(), Vec::new()],
        }
    }

    pub(super) fn check_values(&self, check: &mut CaseCheck<'_>) {
        let hosts = self.speeds.len();
        let processes = self.current.len();
        if hosts == 0 {
            check.add_problem(
                "speeds",
                "the barrier has no hosts".into(),
                "write in `speeds` one value for each host",
            );
        }
        check.check_list("speeds", &self.speeds, None, AllowedRange::Positive);
        if let Some(list) = &self.background {
            check.check_list("background", list, Some(hosts), AllowedRange::NotNegative);
        }
        for (key, list) in [("work", &self.work), ("time", &self.time)] {
            if let Some(list) = list {
                check.check_list(key, list, Some(processes), AllowedRange::NotNegative);
            }
        }
        if self.work.is_none() && self.time.is_none() {
            let hint = "write one of the two keys: `work` in seconds on a host of speed 1, or `time` in seconds on the present host";
            check.add_problem("", "the barrier has neither `work` nor `time`".into(), hint);
        }
        for (at, &host) in self.current.iter().enumerate() {
            let what = format!("process {at} is on");
            check.check_number(&format!("current[{at}]"), &what, host, "host", hosts);
        }
        self.check_communication(check);
        if !self.memory.is_empty() {
            let count = Some(processes);
            check.check_list("memory", &self.memory, count, AllowedRange::NotNegative);
        }
        if !self.host_memory.is_empty() {
            check.check_length("host_memory", self.host_memory.len(), hosts);
            for (at, limit) in self.host_memory.iter().enumerate() {
                let key = format!("host_memory[{at}]");
                check.check_value(&key, limit.unwrap_or(0.0), AllowedRange::NotNegative);
            }
        }
        if !self.clusters.is_empty() {
            check.check_length("clusters", self.clusters.len(), hosts);
            for (at, &cluster) in self.clusters.iter().enumerate() {
                if cluster >= hosts as u64 {
                    let key = format!("clusters[{at}]");
                    let hint = "count clusters from 0, and use at most as many clusters as hosts";
                    check.add_problem(&key, format!("`{key}` is {cluster}"), hint);
                }
            }
        }
        self.check_names(check);
        match (&self.latency, &self.bandwidth) {
            (Some(latency), Some(bandwidth)) => {
                latency.check_values(check, "latency", hosts, AllowedRange::NotNegative);
                bandwidth.check_values(check, "bandwidth", hosts, AllowedRange::Positive);
            }
            (None, None) => {}
            (latency, _) => {
                let mut keys = ["bandwidth", "latency"];
                if latency.is_some() {
                    keys.reverse();
                }
                let [given, missing] = keys;
                let message = format!("the barrier has `{given}`, but not `{missing}`");
                check.add_problem(given, message, "write both keys, or none of the two");
            }
        }
    }

    /// Adds a problem for each message entry with a process that does not exist, or with a negative number of messages or bytes.
    fn check_communication(&self, check: &mut CaseCheck<'_>) {
        let processes = self.current.len();
        for (at, &(from, to, messages, bytes)) in self.communication.iter().enumerate() {
            let key = format!("communication[{at}]");
            let what = format!("row {at} of `communication` names");
            for process in [from, to] {
                check.check_number(&key, &what, process, "process", processes);
            }
            for (place, value) in [(2, messages), (3, bytes)] {
                check.check_value(&format!("{key}[{place}]"), value, AllowedRange::NotNegative);
            }
        }
    }

    fn check_names(&self, check: &mut CaseCheck<'_>) {
        let (hosts, processes) = (self.speeds.len(), self.current.len());
        let cores = self.hosts.iter().map(|host| host.cores);
        let cores = cores.fold(0_u64, u64::saturating_add);
        if !self.hosts.is_empty() && cores != hosts as u64 {
            let message = format!(
                "the entries of `hosts` have together {cores} cores, but `speeds` has {hosts} values"
            );
            check.add_problem(
                "hosts",
                message,
                "write in `speeds` one value for each core",
            );
        }
        if !self.processes.is_empty() {
            check.check_length("processes", self.processes.len(), processes);
        }
        for (at, one) in self.decisions.iter().enumerate() {
            let key = format!("decisions[{at}].assignment");
            check.check_length(&key, one.assignment.len(), processes);
            if let Some(&host) = one.assignment.iter().find(|host| **host >= hosts as u64) {
                check.check_number(&key, "a process goes to", host, "host", hosts);
            }
        }
    }
}
