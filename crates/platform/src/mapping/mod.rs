//! The first host of every process.
//!
//! | mapping | where process p starts |
//! | --- | --- |
//! | `contiguous` | on host p mod hosts, one process per host, whatever its cores: the mapping of the papers on LU and Smith-Waterman |
//! | `round-robin` | in cluster p mod clusters, on the next host there |
//! | `by-core` | on the next core: all cores of a host, then those of the next one |
//! | `by-speed` | hosts get shares of the processes in proportion to speed x cores |
//! | `fast-first` | where it computes fastest, beside the processes before it: the default on platforms of no paper |
//! | `by-core:epyc,old-3` | a rule for these hosts alone |
//! | `ICE,Labtec-0..Labtec-4` | one process on each host of the list (the Lattice Boltzmann paper writes them out) |
//! | `places.csv` | as a table says: [`mod@file`] |
//!
//! A rule that comes to its last host begins again with the first one.

mod fast_first;
mod file;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;

use super::Platform;
pub(super) use file::Row;
use migsim_base::error::{Error, Problem};
use migsim_base::units::{ClusterId, HostId};
use migsim_base::words::counted;

/// How processes are placed on hosts at first.
///
/// ```
/// use migsim_platform::{Mapping, Rule, open};
/// let platform = open("ufrgs")?.platform;
/// let hosts = Mapping::default().place(&platform, 200)?;
/// // As in the papers: p1-p20 on Labtec, p21-p36 on Corisco, and p175 on the first host again.
/// assert_eq!(platform.hosts[hosts[20].index()].name, "Corisco-0");
/// assert_eq!(platform.hosts[hosts[174].index()].name, "Labtec-0");
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// By a rule, on the hosts of some entries as in a list; of none: on all hosts.
    Rule(Rule, Vec<String>),
    /// Hosts in the order of the processes. An entry is a host (`ICE-3`), a range of hosts with both ends in the order of the
    /// platform (`ICE-0..ICE-4`), or a cluster (`ICE`), which means all its hosts. A host may appear several times.
    Explicit(Vec<String>),
    /// As the table in a file says.
    File(String),
}

/// A rule that places any number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One process per host (not per core) in the order of the file; after the last host again from the first.
    Contiguous,
    /// Process p goes to cluster p mod clusters, to the next host there; after its last host again to its first.
    RoundRobin,
    /// As many processes on a host as it has cores, then on the next host; when all cores are taken, again from the first one.
    ByCore,
    /// Each host gets a share of the processes in proportion to its speed times its cores; what is left over from whole numbers goes to
    /// the largest remainders, of equal ones to the first hosts. The processes of a host are consecutive.
    BySpeed,
    /// Each process in turn goes to the host where it computes fastest: on a core of its own, or on a share of the cores if more processes
    /// than cores are there. Of equal hosts the first wins. The processes of a host are consecutive.
    FastFirst,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 5] = [
        Self::Contiguous,
        Self::RoundRobin,
        Self::ByCore,
        Self::BySpeed,
        Self::FastFirst,
    ];

    /// The start on platforms of no paper: of all rules the one with the shortest scenario i on drawn platforms (`tests/starts.rs`).
    pub const USUAL: Self = Self::FastFirst;

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::RoundRobin => "round-robin",
            Self::ByCore => "by-core",
            Self::BySpeed => "by-speed",
            Self::FastFirst => "fast-first",
        }
    }

    /// The rule of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// The hosts of `processes` processes, of `hosts`, of which there are some.
    fn place(
        self,
        platform: &Platform,
        hosts: impl Iterator<Item = HostId> + Clone,
        processes: usize,
    ) -> Vec<HostId> {
        let host = |id: HostId| &platform.hosts[id.index()];
        match self {
            Self::Contiguous => hosts.cycle().take(processes).collect(),
            Self::RoundRobin => round_robin(platform, hosts, processes),
            Self::ByCore => {
                let cores = |id| std::iter::repeat_n(id, host(id).cores as usize);
                hosts.flat_map(cores).cycle().take(processes).collect()
            }
            Self::BySpeed => {
                let speed = |id| host(id).speed.get();
                let fastest = hosts.clone().map(speed).fold(0.0, f64::max);
                // A power of two, so that nothing is rounded; sums in it stay numbers.
                let unit = fastest.log2().floor().exp2();
                let power = |id| speed(id) / unit * f64::from(host(id).cores);
                let shares = shares(hosts.clone().map(power), processes);
                in_order(hosts, &shares)
            }
            Self::FastFirst => {
                let places = hosts
                    .clone()
                    .map(|id| (host(id).speed.get(), host(id).cores));
                let places: Vec<(f64, u32)> = places.collect();
                in_order(hosts, &fast_first::counts(&places, processes))
            }
        }
    }
}

impl Default for Mapping {
    fn default() -> Self {
        Self::Rule(Rule::Contiguous, Vec::new())
    }
}

/// Reads the name of a rule, alone or with `:` and the entries that it is for, the name of a file that ends with `.csv`, or a list of
/// entries; with commas between entries.
impl FromStr for Mapping {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text = text.trim();
        let entries = |list: &str| list.split(',').map(|name| name.trim().to_owned()).collect();
        if let Some(rule) = Rule::named(text) {
            return Ok(Self::Rule(rule, Vec::new()));
        }
        if let Some((name, list)) = text.split_once(':')
            && let Some(rule) = Rule::named(name.trim_end())
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
    /// The file that it is read from, if any.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(path) => Some(path),
            Self::Rule(..) | Self::Explicit(_) => None,
        }
    }

    /// The host of each process.
    ///
    /// # Errors
    /// It names something unknown, or not as many hosts as there are processes. A file cannot be read. The platform has no host.
    pub fn place(&self, platform: &Platform, processes: usize) -> Result<Vec<HostId>, Error> {
        if platform.hosts.is_empty() {
            return Err(Problem::new("the platform has no hosts to place processes on").into());
        }
        match self {
            Self::Rule(rule, entries) if entries.is_empty() => {
                let hosts = (0..platform.hosts.len()).map(HostId::from_index);
                Ok(rule.place(platform, hosts, processes))
            }
            Self::Rule(rule, entries) => {
                let hosts = hosts_of_all(platform, entries)?;
                Ok(rule.place(platform, hosts.into_iter(), processes))
            }
            Self::Explicit(entries) => explicit(platform, entries, processes),
            Self::File(path) => file::place(path, platform, processes),
        }
    }
}

/// Each host as often as its count says.
fn in_order(hosts: impl Iterator<Item = HostId>, counts: &[usize]) -> Vec<HostId> {
    let placed = hosts.zip(counts);
    placed
        .flat_map(|(host, count)| std::iter::repeat_n(host, *count))
        .collect()
}

/// Deals processes to the clusters of `hosts`, in the order in which these first appear.
fn round_robin(
    platform: &Platform,
    hosts: impl Iterator<Item = HostId>,
    processes: usize,
) -> Vec<HostId> {
    let mut turn_of: BTreeMap<ClusterId, usize> = BTreeMap::new();
    let mut clusters: Vec<Vec<HostId>> = Vec::new();
    for host in hosts {
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

/// `count` things shared in proportion to `weights`, whole ones (Hamilton's method of the largest remainders).
fn shares(weights: impl Iterator<Item = f64> + Clone, count: usize) -> Vec<usize> {
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
    // The sort is stable: of equal remainders the first comes first.
    by_remainder.sort_by(|a, b| remainders[*b].total_cmp(&remainders[*a]));
    for at in by_remainder.into_iter().cycle().take(left) {
        shares[at] += 1;
    }
    shares
}

fn explicit(
    platform: &Platform,
    entries: &[String],
    processes: usize,
) -> Result<Vec<HostId>, Error> {
    let hosts = hosts_of_all(platform, entries).map_err(|error| {
        let first = entries.first().map_or("", String::as_str);
        let is_word = entries.len() == 1 && !first.contains("..");
        let is_rule = first.contains(':') && hosts_of_all(platform, &entries[..1]).is_err();
        if is_word || is_rule {
            return unknown_mapping(platform, first).into();
        }
        error
    })?;
    if hosts.len() == processes {
        return Ok(hosts);
    }
    let problem = Problem::new(format!(
        "the mapping names {} for {}",
        counted(hosts.len(), "host"),
        counted(processes, "process")
    ));
    Err(problem
        .hint("a list names one host per process, several times if need be; `by-core:` before it fills the cores of its hosts")
        .into())
}

/// A word that is no mapping at all.
fn unknown_mapping(platform: &Platform, name: &str) -> Problem {
    let rule = name.split_once(':').map_or(name, |(rule, _)| rule);
    let rules = Rule::ALL.iter().map(|rule| rule.name());
    let clusters = platform.clusters.iter().map(|cluster| &*cluster.name);
    Problem::unknown("mapping", rule).known("mappings", rules.chain(clusters))
}

/// The hosts of all entries, in order.
fn hosts_of_all(platform: &Platform, entries: &[String]) -> Result<Vec<HostId>, Error> {
    let names: BTreeMap<&str, u32> = (platform.hosts.iter().zip(0..))
        .map(|(host, id)| (host.name.as_str(), id))
        .collect();
    let mut ranges = Vec::with_capacity(entries.len());
    let mut problems = Vec::new();
    for entry in entries {
        match hosts_of(platform, &names, entry) {
            Ok(range) => ranges.push(range),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(ranges.into_iter().flatten().map(HostId).collect())
    } else {
        Err(Error::Input(migsim_base::document::limited(problems)))
    }
}

fn hosts_of(
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
        Problem::new(format!("unknown host `{name}` in the mapping"))
            .names_no("host", name)
            .known(
                "clusters and hosts",
                (platform.clusters.iter().map(|cluster| &*cluster.name))
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
            "the hosts `{entry}` of the mapping are in the wrong order"
        ))
        .hint(format!("write `{}..{}`", last.trim(), first.trim())));
    }
    Ok(start..end + 1)
}

#[cfg(test)]
mod tests;
