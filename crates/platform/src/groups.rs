//! Forms clusters from the hosts of a platform of nested zones: by innermost zone, by zones of a given depth, by host name, or by
//! a table such as the following one.
//!
//! ```text
//! host,cluster
//! node-0,west
//! node-1,west
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    str::FromStr,
    sync::Arc,
};

use super::{
    Cluster, Host, Platform, Routes,
    row::{rows_below_heading, table_error},
};
use migsim_base::{
    document::{FileKind, read_text},
    error::{Error, Problem, Result},
    units::ClusterId,
};

/// The user's choice of how the hosts of a platform of nested zones are grouped into clusters (flag `--clusters`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostGrouping {
    /// Grouping by a rule, written `zone`, `level=1` or `name`.
    Rule(GroupingRule),
    /// Grouping by a table of hosts and clusters, in the file with this path.
    File(String),
}

impl FromStr for HostGrouping {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let level = text.strip_prefix("level=").map(str::parse);
        match (text, level) {
            ("zone", _) => Ok(Self::Rule(GroupingRule::InnermostZone)),
            ("name", _) => Ok(Self::Rule(GroupingRule::HostNamePrefix)),
            (_, Some(Ok(level))) => Ok(Self::Rule(GroupingRule::ZoneDepth(level))),
            (_, Some(Err(_))) => {
                let problem = Problem::new(format!(
                    "`{text}` has no whole number of at least 0 as the level of zones"
                ));
                Err(problem.hint("write a whole number, such as `level=1`, with which each zone directly inside the outermost zone becomes a cluster").into())
            }
            _ if text.contains(['.', '/']) => Ok(Self::File(text.to_owned())),
            _ => Err(Problem::unknown_name("rule for clusters", text)
                .with_known_names("rules", ["zone", "level=N", "name", "FILE.csv"])
                .into()),
        }
    }
}

impl HostGrouping {
    /// Returns the path of the table of hosts and clusters; `None` if the clusters follow a rule.
    pub fn table_file(&self) -> Option<&str> {
        match self {
            Self::Rule(_) => None,
            Self::File(file) => Some(file),
        }
    }

    /// Groups the hosts of a platform into clusters by this rule or table.
    ///
    /// # Errors
    /// The platform has no zones, or the table does not assign each host to exactly one cluster.
    pub fn apply_to(&self, platform: &mut Platform) -> Result {
        if platform.zones().is_none() {
            return Err(Problem::new(format!(
                "the hosts of the platform `{}` cannot be grouped into other clusters, since its file defines the clusters",
                platform.name
            ))
                .hint("leave out `--clusters`, which is only for platforms of SimGrid zones")
                .into());
        }
        match self {
            Self::Rule(grouping) => platform.group_hosts(*grouping),
            Self::File(file) => {
                let text = read_text(file)?;
                let names = read_cluster_names(&text, platform).map_err(|problems| {
                    let kind = FileKind::ClusterTable;
                    table_error(problems, &text, file, kind, "a table of hosts and their clusters")
                        .with_default_hint(
                            "begin the file with this heading, and write in each further line a host and the name of its cluster: `node-0,west`",
                        )
                })?;
                platform.group_by_cluster_names(names);
            }
        }
        Ok(())
    }
}

fn read_cluster_names(text: &str, platform: &Platform) -> Result<Vec<String>, Vec<Problem>> {
    let ids: BTreeMap<&str, usize> = platform
        .hosts
        .iter()
        .zip(0..)
        .map(|(host, index)| (&*host.name, index))
        .collect();
    let mut clusters: Vec<Option<String>> = vec![None; platform.hosts.len()];
    let mut problems = Vec::new();
    for row in rows_below_heading(text, ["host", "cluster"]).map_err(|problem| vec![problem])? {
        let problem = |message: String| row.problem_at_field(0, message);
        problems.push(match &row.fields[..] {
            [host, cluster] if !cluster.is_empty() => match ids.get(host.as_str()) {
                None => (problem(format!("unknown host `{host}`")))
                    .with_unknown_name("host", host)
                    .with_known_names("hosts", ids.keys().copied()),
                Some(&id) if clusters[id].is_some() => {
                    problem(format!("host `{host}` is assigned to a cluster twice"))
                        .hint("remove one of the lines of this host")
                }
                Some(&id) => {
                    clusters[id] = Some(cluster.to_owned());
                    continue;
                }
            },
            _ => problem("this line is not a host and a cluster, separated by a comma".to_owned())
                .hint("write a host and the name of its cluster: `node-0,west`"),
        });
    }
    let missing = clusters.iter().position(Option::is_none);
    if let Some(missing) = missing.filter(|_| problems.is_empty()) {
        let name = &platform.hosts[missing].name;
        let problem = Problem::new(format!("the table has no line for host `{name}`"));
        problems.push(problem.hint(format!(
            "add the line `{name},CLUSTER`, where CLUSTER is the name of its cluster"
        )));
    }
    if problems.is_empty() {
        Ok(clusters.into_iter().flatten().collect())
    } else {
        Err(problems)
    }
}

/// Rule by which the hosts of nested zones are grouped into clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupingRule {
    /// Hosts in the same innermost zone form a cluster.
    InnermostZone,
    /// Hosts in the same zone of this depth form a cluster; the root zone has depth 0. Hosts that lie directly in a zone of
    /// smaller depth form a cluster of that zone.
    ZoneDepth(u32),
    /// Hosts whose names are equal without the number of the host form a cluster.
    HostNamePrefix,
}

impl Platform {
    /// Groups the hosts into clusters by the rule `grouping`. Hosts are then ordered by cluster, and clusters by their first
    /// hosts. A platform without zones remains unchanged.
    pub fn group_hosts(&mut self, grouping: GroupingRule) {
        let Some((zones, points)) = self.zones() else {
            return;
        };
        let zone_name = |zone: u32| zones.zone(zone).name.clone();
        let zones_of_hosts = points.iter().map(|&point| zones.zone_of(point));
        let names = match grouping {
            GroupingRule::InnermostZone => zones_of_hosts.map(zone_name).collect(),
            GroupingRule::ZoneDepth(level) => zones_of_hosts
                .map(|zone| zone_name(zones.ancestor_at_depth(zone, level)))
                .collect(),
            GroupingRule::HostNamePrefix => names_without_host_numbers(&self.hosts),
        };
        self.group_by_cluster_names(names);
    }

    pub(super) fn group_by_cluster_names(&mut self, names: Vec<String>) {
        let Some((zones, points)) = self.zones() else {
            return;
        };
        let zones = Arc::clone(zones);
        let points = points.to_vec();
        let mut hosts: Vec<(Host, u32)> = self.hosts.drain(..).zip(points).collect();
        let mut ids: BTreeMap<String, ClusterId> = BTreeMap::new();
        self.clusters.clear();
        for ((host, _), name) in hosts.iter_mut().zip(names) {
            host.cluster = *ids.entry(name).or_insert_with_key(|name| {
                let name = name.clone();
                self.clusters.push(Cluster { name, hosts: 0..0 });
                ClusterId::from_index(self.clusters.len() - 1)
            });
        }
        hosts.sort_by_key(|(host, _)| host.cluster); // hosts of a cluster keep their order
        for (at, (host, _)) in (0..).zip(&hosts) {
            let range = &mut self.clusters[host.cluster.index()].hosts;
            let start = if range.end == 0 { at } else { range.start };
            *range = start..at + 1;
        }
        let host_or_router_ids;
        (self.hosts, host_or_router_ids) = hosts.into_iter().unzip();
        self.routes = Routes::Zoned {
            zones,
            host_or_router_ids,
        };
    }
}

fn numbers_in_name(name: &str) -> Vec<Range<usize>> {
    let mut numbers: Vec<Range<usize>> = Vec::new();
    for (at, _) in name.match_indices(|c: char| c.is_ascii_digit()) {
        match numbers.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end += 1,
            None => numbers.push(at..at + 1),
        }
    }
    numbers
}

/// Returns the position of the number of a host in its name: the number at the end of the name, or at the end of the part before
/// the domain. Without one, it is the last number that differs between hosts with otherwise equal names, if possible one before
/// the domain.
fn position_of_host_number(name: &str, differs: &[bool]) -> Option<Range<usize>> {
    let starts_domain = |at: usize| name[at + 1..].starts_with(char::is_alphabetic);
    let mut dots = name.match_indices('.').map(|(at, _)| at);
    let domain = dots.find(|&at| starts_domain(at)).unwrap_or(name.len());
    let numbers = numbers_in_name(name);
    let number_before = |end: usize| numbers.iter().find(|number| number.end == end);
    let different = || {
        numbers
            .iter()
            .zip(differs)
            .filter_map(|(at, differs)| differs.then_some(at))
    };
    number_before(name.len())
        .or_else(|| number_before(domain))
        .or_else(|| different().rfind(|number| number.start < domain))
        .or_else(|| different().next_back())
        .cloned()
}

/// Returns the name of the cluster of each host: the name of the host without its number and the separator before the number. A
/// domain is left out if the names of the clusters differ without it.
fn names_without_host_numbers(hosts: &[Host]) -> Vec<String> {
    let name_with_zeros = |name: &str| {
        let mut text = name.to_owned();
        for number in numbers_in_name(name).into_iter().rev() {
            text.replace_range(number, "0");
        }
        text
    };
    // For each name with zeros as numbers: the first host, and whether each number differs between hosts.
    let mut families: BTreeMap<String, (&str, Vec<bool>)> = BTreeMap::new();
    for Host { name, .. } in hosts {
        let numbers = numbers_in_name(name);
        let (first, differs) = families
            .entry(name_with_zeros(name))
            .or_insert_with(|| (name, vec![false; numbers.len()]));
        let pairs = numbers_in_name(first).into_iter().zip(numbers);
        for (differs, (a, b)) in differs.iter_mut().zip(pairs) {
            *differs |= first[a] != name[b];
        }
    }
    let is_separator = |c: char| c.is_whitespace() || "-_.:".contains(c);
    let parts = hosts.iter().map(|Host { name, .. }| {
        let number = position_of_host_number(name, &families[&name_with_zeros(name)].1)
            .unwrap_or(name.len()..name.len());
        (
            name[..number.start].trim_end_matches(is_separator),
            &name[number.end..],
        )
    });
    let parts: Vec<(&str, &str)> = parts.collect();
    let mut rests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (stem, rest) in &parts {
        rests.entry(stem).or_default().insert(rest);
    }
    let names = hosts.iter().zip(parts).map(|(host, (stem, rest))| {
        let is_domain_needed = !rest.starts_with('.') || rests[stem].len() > 1;
        let name = format!("{stem}{}", if is_domain_needed { rest } else { "" });
        let name = name.trim_matches(is_separator);
        (if name.is_empty() { &host.name } else { name }).to_owned()
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_simgrid;

    /// Returns a platform of zone `a` (hosts 0 and 1) and zone `b` (host 2) inside zone `in`, and host 3 in the root.
    fn nested() -> Platform {
        let host = |id: &str| format!("<host id='{id}' speed='1'/>");
        let zone =
            |id: &str, inside: &str| format!("<zone id='{id}' routing='None'>{inside}</zone>");
        let inner = zone("a", &(host("h-0") + &host("h-1"))) + &zone("b", &host("h-2"));
        let root = zone("root", &(zone("in", &inner) + &host("k-3")));
        from_simgrid("a.xml", &format!("<platform version='4'>{root}</platform>"))
            .unwrap()
            .platform
    }

    fn clusters(text: &str) -> Vec<(String, u32)> {
        let mut platform = nested();
        text.parse::<HostGrouping>()
            .unwrap()
            .apply_to(&mut platform)
            .unwrap();
        let size = |cluster: &Cluster| cluster.hosts.end - cluster.hosts.start;
        let all = platform.clusters.iter();
        all.map(|cluster| (cluster.name.clone(), size(cluster)))
            .collect()
    }

    fn named(list: &[(&str, u32)]) -> Vec<(String, u32)> {
        list.iter()
            .map(|&(name, size)| (name.to_owned(), size))
            .collect()
    }

    #[test]
    fn clusters_are_those_that_are_asked_for() {
        assert_eq!(clusters("zone"), named(&[("root", 1), ("a", 2), ("b", 1)]));
        assert_eq!(clusters("level=0"), named(&[("root", 4)]));
        assert_eq!(clusters("level=1"), named(&[("root", 1), ("in", 3)]));
        assert_eq!(clusters("name"), named(&[("k", 1), ("h", 3)]));
    }

    #[test]
    fn the_number_of_a_host_stands_anywhere_in_its_name() {
        let of = |names: &[&str]| {
            let host = |name: &&str| format!("<host id='{name}' speed='1'/>");
            let hosts: String = names.iter().map(host).collect();
            let zone = format!("<zone id='z' routing='None'>{hosts}</zone>");
            let text = format!("<platform version='4'>{zone}</platform>");
            let platform = from_simgrid("a.xml", &text).unwrap().platform;
            let clusters = platform.clusters.into_iter();
            let names: Vec<String> = clusters.map(|cluster| cluster.name).collect();
            names.join(" ")
        };
        assert_eq!(
            of(&["a-1.x5.org", "a-2.x5.org", "b-1.x5.org", "b-2.x5.org"]),
            "a b"
        );
        assert_eq!(
            of(&["a-1.x.fr", "a-2.x.fr", "a-1.y.fr", "a-2.y.fr"]),
            "a.x.fr a.y.fr"
        );
        assert_eq!(
            of(&["n-1.r1.org", "n-2.r1.org", "n-1.r2.org", "n-2.r2.org"]),
            "n.r1.org n.r2.org"
        );
        assert_eq!(of(&["host 1", "host 2"]), "host");
        assert_eq!(of(&["n-0.0", "n-0.1", "n-1.0", "n-1.1"]), "n-0 n-1");
        assert_eq!(of(&["c1-0", "c2-0"]), "c1 c2");
        assert_eq!(of(&["c1-0.x.fr", "c2-0.x.fr"]), "c1 c2");
        assert_eq!(of(&["x.y1-0", "x.y2-0"]), "x.y1 x.y2");
        assert_eq!(of(&["0-node", "1-node", "7", "8", "k-3"]), "node 7 8 k");
    }

    #[test]
    fn a_table_gives_each_host_a_cluster() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.csv");
        let file = path.to_str().unwrap();
        std::fs::write(
            &path,
            "# mine\nhost,cluster\nh-0,x\nh-2,x\nh-1,y\nk-3,\"y\"\n",
        )
        .unwrap();
        assert_eq!(clusters(file), named(&[("y", 2), ("x", 2)]));
    }
}
