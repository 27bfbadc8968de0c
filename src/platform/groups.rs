//! The hosts that form a cluster: those of a zone, those of the zones below a level, or those of one name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Cluster, Host, Platform, Routes, Zones};
use crate::units::{ClusterId, HostId};

/// What makes hosts of nested zones a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The zone that holds them.
    Zones,
    /// The zone of this level that they are in; the root is level 0. Hosts of zones above the level form one cluster for each zone.
    Level(u32),
    /// Their names without the digits at the end and the separator before them.
    Names,
}

impl Platform {
    /// Forms the clusters anew: hosts are ordered by cluster, clusters by the first of their hosts. Nothing changes without zones.
    pub(crate) fn group(&mut self, grouping: Grouping) {
        let Routes::Zoned { zones, points } = &self.routes else {
            return;
        };
        let zones = Arc::clone(zones);
        let key = |host: &Host, point: u32| key(&zones, host, point, grouping);
        let mut ids: BTreeMap<String, usize> = BTreeMap::new();
        let mut members: Vec<(String, Vec<usize>)> = Vec::new();
        for (index, (host, &point)) in self.hosts.iter().zip(points).enumerate() {
            let name = key(host, point);
            let id = *ids.entry(name).or_insert_with_key(|name| {
                members.push((name.clone(), Vec::new()));
                members.len() - 1
            });
            members[id].1.push(index);
        }
        let points = points.clone();
        self.arrange(members, &zones, &points);
    }

    /// Orders the hosts by these clusters.
    fn arrange(&mut self, members: Vec<(String, Vec<usize>)>, zones: &Arc<Zones>, points: &[u32]) {
        let mut old: Vec<Option<Host>> = std::mem::take(&mut self.hosts)
            .into_iter()
            .map(Some)
            .collect();
        let mut order = Vec::with_capacity(points.len());
        self.clusters.clear();
        for (name, hosts) in members {
            let cluster = ClusterId::from_index(self.clusters.len());
            let start = HostId::from_index(self.hosts.len()).0;
            for index in hosts {
                let host = old[index].take().expect("a host belongs to one cluster");
                self.hosts.push(Host { cluster, ..host });
                order.push(points[index]);
            }
            let end = HostId::from_index(self.hosts.len()).0;
            self.clusters.push(Cluster {
                name,
                hosts: start..end,
            });
        }
        self.routes = Routes::Zoned {
            zones: Arc::clone(zones),
            points: order,
        };
    }
}

/// The name of the cluster of a host.
fn key(zones: &Zones, host: &Host, point: u32, grouping: Grouping) -> String {
    let zone = zones.zone_of(point);
    match grouping {
        Grouping::Zones => zones.zone(zone).name.clone(),
        Grouping::Level(level) => zones.zone(zones.ancestor(zone, level)).name.clone(),
        Grouping::Names => stem(&host.name).to_owned(),
    }
}

/// A name without the digits at its end and the separator before them.
fn stem(name: &str) -> &str {
    let stem = name
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches(['-', '_', '.', ':']);
    if stem.is_empty() { name } else { stem }
}
