//! The tree of zones as a list, for people.

use super::{Point, Routing, ZoneId, Zones};
use crate::units::to_u32;

/// A zone, as it stands in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZoneOutline<'a> {
    /// Its name in the file.
    pub(crate) name: &'a str,
    /// How many zones it is in.
    pub(crate) depth: u32,
    /// How it finds routes, in `SimGrid`'s words.
    pub(crate) routing: &'static str,
    /// The hosts in it, and in it or the zones below it.
    pub(crate) own_hosts: usize,
    pub(crate) all_hosts: usize,
    /// The zones right below it.
    pub(crate) zones: usize,
}

impl Routing {
    /// The name in `SimGrid`'s files.
    fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "None",
            Self::Full(_) => "Full",
            Self::Floyd(_) => "Floyd",
            Self::Dijkstra(_) => "Dijkstra",
            Self::Star(_) => "Cluster",
            Self::Vivaldi(_) => "Vivaldi",
            Self::Torus(_) => "Torus",
            Self::FatTree(_) => "FatTree",
            Self::Dragonfly(_) => "Dragonfly",
        }
    }
}

impl Zones {
    /// All zones, each before those below it. `hosts` are the points of the hosts; other points are routers.
    pub(crate) fn outline(&self, hosts: &[Point]) -> Vec<ZoneOutline<'_>> {
        let mut own = vec![0; self.zones.len()];
        for &host in hosts {
            own[self.zone_of(host) as usize] += 1;
        }
        let mut all = own.clone();
        let mut below: Vec<Vec<ZoneId>> = vec![Vec::new(); self.zones.len()];
        // A zone has a larger number than the zone that holds it.
        for (at, zone) in self.zones.iter().enumerate().rev() {
            if let Some(place) = zone.place {
                all[place.zone as usize] += all[at];
                below[place.zone as usize].push(to_u32(at));
            }
        }
        let mut list = Vec::with_capacity(self.zones.len());
        let mut open: Vec<ZoneId> = Vec::from_iter((!self.zones.is_empty()).then_some(0));
        while let Some(id) = open.pop() {
            let (zone, at) = (self.zone(id), id as usize);
            list.push(ZoneOutline {
                name: &zone.name,
                depth: zone.depth,
                routing: zone.routing.name(),
                own_hosts: own[at],
                all_hosts: all[at],
                zones: below[at].len(),
            });
            open.extend_from_slice(&below[at]);
        }
        list
    }
}
