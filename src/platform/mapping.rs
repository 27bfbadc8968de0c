//! The first host of every process.
//!
//! The papers use the contiguous mapping (LU, Smith-Waterman) and written-out ones (Lattice Boltzmann).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;

use super::Platform;
use crate::error::{Error, Problem};
use crate::units::{ClusterId, HostId};

/// How processes are placed on hosts at first.
///
/// ```
/// use migsim::platform::{Mapping, open};
/// let platform = open("ufrgs")?.platform;
/// let hosts = Mapping::Contiguous.place(&platform, 200)?;
/// // As in the papers: p1-p20 on Labtec, p21-p36 on Corisco, and p175 on the first host again.
/// assert_eq!(platform.hosts[hosts[20].index()].name, "Corisco-0");
/// assert_eq!(platform.hosts[hosts[174].index()].name, "Labtec-0");
/// # Ok::<(), migsim::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// One process per host (not per core) in the order of the file; after the last host again from the first.
    #[default]
    Contiguous,
    /// Process p goes to cluster p mod clusters, to the next host there; after its last host again to its first.
    RoundRobin,
    /// Hosts in the order of the processes. An entry is a host (`ICE-3`), a range of hosts with both ends in the order of the
    /// platform (`ICE-0..ICE-4`), or a cluster (`ICE`), which means all its hosts. A host may appear several times.
    Explicit(Vec<String>),
}

/// Reads `contiguous`, `round-robin`, or a list of entries with commas between them.
impl FromStr for Mapping {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.trim() {
            "contiguous" => Self::Contiguous,
            "round-robin" => Self::RoundRobin,
            list => Self::Explicit(list.split(',').map(|name| name.trim().to_owned()).collect()),
        })
    }
}

impl Mapping {
    /// The host of each process.
    ///
    /// # Errors
    /// An explicit mapping names something unknown, or its hosts are not as many as the processes. The platform has no host.
    pub fn place(&self, platform: &Platform, processes: usize) -> Result<Vec<HostId>, Error> {
        let hosts = platform.hosts.len();
        if hosts == 0 {
            return Err(Problem::new("the platform has no hosts to place processes on").into());
        }
        match self {
            Self::Contiguous => Ok((0..processes)
                .map(|process| HostId::from_index(process % hosts))
                .collect()),
            Self::RoundRobin => Ok(round_robin(platform, processes)),
            Self::Explicit(entries) => explicit(platform, entries, processes),
        }
    }
}

fn round_robin(platform: &Platform, processes: usize) -> Vec<HostId> {
    let clusters = platform.clusters.len();
    (0..processes)
        .map(|process| {
            let hosts = &platform.clusters[process % clusters].hosts;
            let turn = (process / clusters) % hosts.len();
            HostId::from_index(hosts.start as usize + turn)
        })
        .collect()
}

fn explicit(
    platform: &Platform,
    entries: &[String],
    processes: usize,
) -> Result<Vec<HostId>, Error> {
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
    if !problems.is_empty() {
        return Err(Error::Input(crate::document::limited(problems)));
    }
    let count: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    if count != processes {
        return Err(Problem::new(format!(
            "the mapping names {count} hosts for {processes} processes"
        ))
        .hint("it names one host per process; a host may appear several times")
        .into());
    }
    Ok(ranges.into_iter().flatten().map(HostId).collect())
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
            .names_no("host")
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
mod tests {
    use super::*;

    /// Clusters a (2 hosts) and b (3 hosts).
    fn platform() -> Platform {
        let text = r#"{"schema": "migsim-platform-1", "name": "five", "clusters": [
            {"name": "a", "hosts": 2, "speed": "1 GHz", "cores": 4, "link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R"},
            {"name": "b", "hosts": 3, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "0 s"}, "router": "R"}]}"#;
        crate::platform::from_json("five.json", text)
            .unwrap()
            .platform
    }

    fn place(mapping: &str, processes: usize) -> Result<Vec<u32>, String> {
        let mapping: Mapping = mapping.parse().unwrap();
        match mapping.place(&platform(), processes) {
            Ok(hosts) => Ok(hosts.into_iter().map(|host| host.0).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn contiguous_fills_hosts_and_wraps_around() {
        assert_eq!(place("contiguous", 7).unwrap(), [0, 1, 2, 3, 4, 0, 1]);
        assert!(place("contiguous", 0).unwrap().is_empty());
    }

    #[test]
    fn round_robin_deals_to_clusters() {
        // a: 0 1, b: 2 3 4
        assert_eq!(place("round-robin", 8).unwrap(), [0, 2, 1, 3, 0, 4, 1, 2]);
    }

    #[test]
    fn explicit_names_hosts_ranges_and_clusters() {
        assert_eq!(place("b-2, a, b-0..b-1", 5).unwrap(), [4, 0, 1, 2, 3]);
        assert_eq!(place("a-0,a-0", 2).unwrap(), [0, 0]);
    }

    #[test]
    fn a_wrong_mapping_says_why() {
        let error = place("b-9,c", 2).unwrap_err();
        assert!(error.contains("unknown host `b-9`") && error.contains("unknown host `c`"));
        assert!(error.contains("known clusters and hosts: a, a-0, a-1, b, b-0, b-1, b-2"));
        let error = place("a", 3).unwrap_err();
        assert!(error.contains("names 2 hosts for 3 processes"), "{error}");
        let error = place("b-1..a-0", 2).unwrap_err();
        assert!(error.contains("write `a-0..b-1`"), "{error}");
        assert!(place("", 1).is_err() && place("..", 1).is_err());
    }
}
