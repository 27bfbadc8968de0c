//! The initial mapping: the host on which each process starts.
//!
//! | mapping | host of process p |
//! | --- | --- |
//! | `contiguous` | host p mod the number of hosts, whatever its cores: the mapping of the papers on LU and Smith-Waterman |
//! | `round-robin` | the next host of cluster p mod the number of clusters |
//! | `by-core` | the host of the next core: all cores of a host, then all cores of the next host |
//! | `by-speed` | hosts get shares of the processes in proportion to the speed at the start x cores |
//! | `fast-first` | the host where the process computes fastest by its speed at the start, given the hosts of the earlier processes: the default on platforms that belong to no paper |
//! | `by-core:epyc,old-3` | the host that the rule before the colon chooses among the listed clusters and hosts only |
//! | `ICE,Labtec-0..Labtec-4` | one process on each host of the list (the Lattice Boltzmann paper lists its hosts in this way) |
//! | `places.csv` | the host that a table assigns to the process: [`mod@file`] |
//!
//! A rule that has placed a process on its last host continues with its first host. If a host has too little memory left for a
//! process, the process goes to the host with enough memory on which it computes fastest. The
//! speed of a host at the start is what reservations and a profile leave that never change, shared with the other work that keeps
//! cores busy at the start of the run ([`Host::slowdown`]). Reservations that change do not count: on six cases of the suite lb-1,
//! starts by the reservation at time 0 took 0.6 to 363 % longer, since the first second says little about the rest. Other work
//! that changes counts with its first value: on drawn platforms starts that ignore it take 7 % longer.

mod fast_first;
mod file;

use std::{collections::BTreeMap, convert::Infallible, str::FromStr};

use super::{Host, Platform};
use migsim_base::{
    error::{Error, Problem, Result},
    units::{Bytes, ClusterId, HostId},
    words::format_count,
};

/// The initial placement of processes on hosts.
///
/// ```
/// use migsim_platform::{Mapping, open};
/// let platform = open("ufrgs")?.platform;
/// let hosts = Mapping::default().place(&platform, 200)?;
/// // As in the papers: p1-p20 on Labtec, p21-p36 on Corisco, and p175 on the first host again.
/// assert_eq!(platform.hosts[hosts[20].index()].name, "Corisco-0");
/// assert_eq!(platform.hosts[hosts[174].index()].name, "Labtec-0");
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Placement by a rule, on the hosts that the list names; on all hosts if the list is empty.
    Rule(MappingRule, Vec<String>),
    /// Placement on a list of hosts, in the order of the processes. An entry is a host (`ICE-3`), a range of hosts in the order
    /// of the platform including both ends (`ICE-0..ICE-4`), or a cluster (`ICE`) for all its hosts. A host may appear several
    /// times.
    Explicit(Vec<String>),
    /// Placement by the table in the file with this path.
    File(String),
}

/// Rule by which any number of processes are placed on hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingRule {
    /// One process per host (not per core) in the order of hosts in the platform file; after the last host, the placement
    /// continues with the first host.
    Contiguous,
    /// Process p goes to the next host of the cluster with index p modulo the number of clusters. After the last host of a
    /// cluster, the placement continues with the first host of that cluster.
    RoundRobin,
    /// Each host gets as many processes as it has cores, then the next host follows; after the last core, the placement continues
    /// with the first core.
    ByCore,
    /// Each host gets a number of processes in proportion to its speed at the start times its cores. Processes left over by rounding down go
    /// to the hosts with the largest remainders, and among equal remainders to the first hosts. The processes of a host are
    /// consecutive.
    BySpeed,
    /// Each process in turn goes to the host where it computes fastest: alone on a core, or with a share of the cores if the host
    /// then has more processes than cores. Among equally fast hosts, the first is taken. The processes of a host are consecutive.
    FastFirst,
}

impl MappingRule {
    /// All mapping rules; names of rules are looked up in this list, and messages name these rules.
    pub const ALL: [Self; 5] = [
        Self::Contiguous,
        Self::RoundRobin,
        Self::ByCore,
        Self::BySpeed,
        Self::FastFirst,
    ];

    /// Default rule on platforms that belong to no paper: the rule with the shortest makespan of scenario i (application only) on
    /// random platforms (`tests/starts.rs`).
    pub const DEFAULT: Self = Self::FastFirst;

    /// Returns the name of the rule, as written in a mapping.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::RoundRobin => "round-robin",
            Self::ByCore => "by-core",
            Self::BySpeed => "by-speed",
            Self::FastFirst => "fast-first",
        }
    }

    /// Returns the rule with the name `name`; `None` if no rule has this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    fn place_processes(
        self,
        platform: &Platform,
        hosts: &[HostId],
        processes: usize,
    ) -> Vec<HostId> {
        let host = |id: HostId| &platform.hosts[id.index()];
        let ids = hosts.iter().copied();
        match self {
            Self::Contiguous => ids.cycle().take(processes).collect(),
            Self::RoundRobin => place_round_robin(platform, hosts, processes),
            Self::ByCore => ids
                .flat_map(|id| std::iter::repeat_n(id, host(id).cores as usize))
                .cycle()
                .take(processes)
                .collect(),
            Self::BySpeed => {
                let free = FreeHosts::new(platform);
                let speed = |id: HostId| free.speed(id, f64::from(host(id).cores));
                let fastest = ids.clone().map(speed).fold(0.0, f64::max);
                // The unit is a power of two, so that nothing is rounded; sums in this unit stay finite.
                let unit = fastest.log2().floor().exp2();
                let power = |id| speed(id) / unit * f64::from(host(id).cores);
                repeat_hosts(hosts, &proportional_shares(ids.map(power), processes))
            }
            Self::FastFirst => {
                let free = FreeHosts::new(platform);
                let speed = |at: usize, count: usize| free.speed(hosts[at], count as f64);
                let counts = fast_first::processes_per_host(hosts.len(), speed, processes);
                repeat_hosts(hosts, &counts)
            }
        }
    }
}

impl Default for Mapping {
    fn default() -> Self {
        Self::Rule(MappingRule::Contiguous, Vec::new())
    }
}

/// Parses a mapping: a rule, alone or followed by `:` and a list of hosts; a file that ends with `.csv`; or a list of hosts. The
/// entries of a list are separated by commas.
impl FromStr for Mapping {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        let entries = |list: &str| list.split(',').map(|name| name.trim().to_owned()).collect();
        if let Some(rule) = MappingRule::from_name(text) {
            return Ok(Self::Rule(rule, Vec::new()));
        }
        if let Some((name, list)) = text.split_once(':')
            && let Some(rule) = MappingRule::from_name(name.trim_end())
        {
            return Ok(Self::Rule(rule, entries(list)));
        }
        if text.to_ascii_lowercase().ends_with(".csv") && !text.contains(',') {
            return Ok(Self::File(text.to_owned()));
        }
        Ok(Self::Explicit(entries(text)))
    }
}

impl Mapping {
    /// Returns the path of the table from which the mapping is read; `None` for a mapping by a rule or a list.
    pub fn table_file(&self) -> Option<&str> {
        match self {
            Self::File(path) => Some(path),
            Self::Rule(..) | Self::Explicit(_) => None,
        }
    }

    /// Returns the host on which each of `processes` processes without memory starts, in the order of processes.
    ///
    /// # Errors
    /// As [`Self::place_with_memory`].
    pub fn place(&self, platform: &Platform, processes: usize) -> Result<Vec<HostId>> {
        self.place_with_memory(platform, &vec![Bytes::default(); processes])
    }

    /// Returns the host on which each process starts; `memory` has the memory of each process.
    ///
    /// If the host that a rule chooses has too little memory left for a process, the process goes to the host with enough memory
    /// on which it computes fastest. It keeps its host if no host has enough.
    ///
    /// # Errors
    /// The mapping names an unknown host or cluster, or a wrong number of hosts; a file cannot be read; or the platform has no
    /// host.
    pub fn place_with_memory(&self, platform: &Platform, memory: &[Bytes]) -> Result<Vec<HostId>> {
        let processes = memory.len();
        if platform.hosts.is_empty() {
            return Err(
                Problem::new("the platform has no hosts to place processes on")
                    .hint("add a cluster with hosts to the platform")
                    .into(),
            );
        }
        match self {
            Self::Rule(rule, entries) => {
                let hosts = if entries.is_empty() {
                    (0..platform.hosts.len()).map(HostId::from_index).collect()
                } else {
                    hosts_of_entries(platform, entries)?
                };
                let places = rule.place_processes(platform, &hosts, processes);
                Ok(move_to_free_memory(platform, &hosts, memory, places))
            }
            Self::Explicit(entries) => hosts_of_explicit_mapping(platform, entries, processes),
            Self::File(path) => file::read_mapping_file(path, platform, processes),
        }
    }
}

/// What other programs leave of each host at the start of the run.
struct FreeHosts<'p> {
    platform: &'p Platform,
    /// The speed of a core \[instructions/s\] that a profile and reservations leave which never change; the nominal speeds if all
    /// hosts stand still.
    speeds: Vec<f64>,
    /// Number of cores that other work keeps busy at the start.
    busy_cores: Vec<f64>,
}

impl<'p> FreeHosts<'p> {
    fn new(platform: &'p Platform) -> Self {
        let hosts = platform.hosts.iter();
        let lasting = |host: &Host| {
            let mut steps = host.availability_over_time().into_iter().flatten();
            let share = match (steps.next(), steps.next()) {
                (Some((time, share)), None) if time <= 0.0 => share,
                _ => 1.0,
            };
            host.speed.get() * share
        };
        let busy = |host: &Host| {
            let mut steps = host.busy_cores_over_time().into_iter().flatten();
            steps
                .next()
                .filter(|(time, _)| *time <= 0.0)
                .map_or(host.busy_cores, |(_, busy)| busy)
        };
        let mut speeds: Vec<f64> = hosts.clone().map(lasting).collect();
        if speeds.iter().all(|speed| *speed <= 0.0) {
            speeds = hosts.clone().map(|host| host.speed.get()).collect();
        }
        let busy_cores = hosts.map(busy).collect();
        Self {
            platform,
            speeds,
            busy_cores,
        }
    }

    /// Returns the speed of each of `processes` processes on a host \[instructions/s\].
    fn speed(&self, host: HostId, processes: f64) -> f64 {
        let at = host.index();
        self.speeds[at] / self.platform.hosts[at].slowdown(processes, self.busy_cores[at])
    }
}

/// Moves each process for which its host has too little memory left to the host of `hosts` with enough memory on which it
/// computes fastest, the processes with the most memory first.
fn move_to_free_memory(
    platform: &Platform,
    hosts: &[HostId],
    memory: &[Bytes],
    mut places: Vec<HostId>,
) -> Vec<HostId> {
    let all = &platform.hosts;
    if all.iter().all(|host| host.memory.is_none()) {
        return places;
    }
    let free = FreeHosts::new(platform);
    let mut used = vec![Bytes::default(); all.len()];
    let mut counts = vec![0_u32; all.len()];
    let mut waiting: Vec<usize> = (0..places.len()).collect();
    waiting.sort_by(|a, b| memory[*b].get().total_cmp(&memory[*a].get()));
    for may_move in [false, true] {
        waiting.retain(|&process| {
            let needed = |host: HostId| used[host.index()] + memory[process];
            let has_room = |host: &HostId| {
                let memory = all[host.index()].memory;
                memory.is_none_or(|memory| needed(*host) <= memory)
            };
            let speed = |host: &HostId| free.speed(*host, f64::from(counts[host.index()] + 1));
            if !has_room(&places[process]) {
                if !may_move {
                    return true;
                }
                // Of equally fast hosts, the last in this order is taken.
                let fastest = hosts
                    .iter()
                    .rev()
                    .filter(|host| has_room(host))
                    .max_by(|a, b| speed(a).total_cmp(&speed(b)));
                places[process] = *fastest.unwrap_or(&places[process]);
            }
            let host = places[process];
            used[host.index()] = needed(host);
            counts[host.index()] += 1;
            false
        });
    }
    places
}

fn repeat_hosts(hosts: &[HostId], counts: &[usize]) -> Vec<HostId> {
    hosts
        .iter()
        .zip(counts)
        .flat_map(|(host, count)| std::iter::repeat_n(*host, *count))
        .collect()
}

/// Assigns the processes in turn to the clusters of `hosts`, in the order in which the clusters first appear; returns the host of
/// each process.
fn place_round_robin(platform: &Platform, hosts: &[HostId], processes: usize) -> Vec<HostId> {
    let mut turn_of: BTreeMap<ClusterId, usize> = BTreeMap::new();
    let mut clusters: Vec<Vec<HostId>> = Vec::new();
    for &host in hosts {
        let next = clusters.len();
        let turn = *turn_of.entry(platform.cluster_of(host)).or_insert(next);
        if turn == next {
            clusters.push(Vec::new());
        }
        clusters[turn].push(host);
    }
    (0..processes)
        .map(|process| {
            let hosts = &clusters[process % clusters.len()];
            hosts[process / clusters.len() % hosts.len()]
        })
        .collect()
}

/// Divides `count` into one whole number for each weight, in proportion to `weights` (Hamilton's method of the largest
/// remainders).
fn proportional_shares(weights: impl Iterator<Item = f64> + Clone, count: usize) -> Vec<usize> {
    let total: f64 = weights.clone().sum();
    let mut remainders = Vec::new();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the whole part is wanted; no quota is negative or above the count"
    )]
    let whole = |weight: f64| {
        let quota = weight * count as f64 / total;
        remainders.push(quota.fract());
        quota as usize
    };
    let mut shares: Vec<usize> = weights.map(whole).collect();
    let left = count.saturating_sub(shares.iter().sum());
    let mut by_remainder: Vec<usize> = (0..shares.len()).collect();
    // The sort is stable: of equal remainders the first stays first.
    by_remainder.sort_by(|a, b| remainders[*b].total_cmp(&remainders[*a]));
    for at in by_remainder.into_iter().cycle().take(left) {
        shares[at] += 1;
    }
    shares
}

fn hosts_of_explicit_mapping(
    platform: &Platform,
    entries: &[String],
    processes: usize,
) -> Result<Vec<HostId>> {
    let hosts = hosts_of_entries(platform, entries).map_err(|error| {
        let first = entries.first().map_or("", String::as_str);
        let is_word = entries.len() == 1 && !first.contains("..");
        let is_rule = first.contains(':') && hosts_of_entries(platform, &entries[..1]).is_err();
        if is_word || is_rule {
            return unknown_mapping_error(platform, first).into();
        }
        error
    })?;
    if hosts.len() == processes {
        return Ok(hosts);
    }
    Err(Problem::new(format!(
        "the mapping lists {}, but the application has {}",
        format_count(hosts.len(), "host"),
        format_count(processes, "process")
    ))
        .hint("list one host for each process (a host may be repeated), or write `by-core:` before the list to fill the cores of these hosts in turn")
        .into())
}

fn unknown_mapping_error(platform: &Platform, name: &str) -> Problem {
    let rule = name.split_once(':').map_or(name, |(rule, _)| rule);
    let rules = MappingRule::ALL.iter().map(|rule| rule.name());
    let clusters = platform.clusters.iter().map(|cluster| &*cluster.name);
    Problem::unknown_name("mapping", rule).with_known_names("mappings", rules.chain(clusters))
}

fn hosts_of_entries(platform: &Platform, entries: &[String]) -> Result<Vec<HostId>> {
    let names: BTreeMap<&str, u32> = platform
        .hosts
        .iter()
        .zip(0..)
        .map(|(host, id)| (host.name.as_str(), id))
        .collect();
    let mut ranges = Vec::with_capacity(entries.len());
    let mut problems = Vec::new();
    for entry in entries {
        match host_range_of_entry(platform, &names, entry) {
            Ok(range) => ranges.push(range),
            Err(problem) => problems.push(problem),
        }
    }
    Error::unless_empty(migsim_base::document::limit_problems(problems))
        .map(|()| ranges.into_iter().flatten().map(HostId).collect())
}

fn host_range_of_entry(
    platform: &Platform,
    names: &BTreeMap<&str, u32>,
    entry: &str,
) -> Result<std::ops::Range<u32>, Problem> {
    if let Some(&host) = names.get(entry) {
        return Ok(host..host + 1);
    }
    if let Some(ClusterId(cluster)) = platform.cluster_named(entry) {
        return Ok(platform.clusters[cluster as usize].hosts.clone());
    }
    let unknown = |name: &str| {
        Problem::new(format!("the mapping names the unknown host `{name}`"))
            .with_unknown_name("host", name)
            .with_known_names(
                "clusters and hosts",
                platform
                    .clusters
                    .iter()
                    .map(|cluster| &*cluster.name)
                    .chain(platform.hosts.iter().map(|host| &*host.name)),
            )
    };
    let Some((first, last)) = entry.split_once("..") else {
        return Err(unknown(entry));
    };
    let start = *names.get(first.trim()).ok_or_else(|| unknown(first))?;
    let end = *names.get(last.trim()).ok_or_else(|| unknown(last))?;
    if end < start {
        return Err(Problem::new(format!(
            "in the mapping, the range of hosts `{entry}` ends before its first host"
        ))
        .hint(format!("write `{}..{}`", last.trim(), first.trim())));
    }
    Ok(start..end + 1)
}

#[cfg(test)]
mod tests;
