//! The changes of capacity that profiles announce, in order of their absolute dates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::platform::{Platform, Profile};
use crate::units::{HostId, LinkId};

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The available fraction of a host's speed.
    Speed(HostId),
    /// The capacity of a link \[B/s\].
    Bandwidth(LinkId),
    /// The latency of a link \[s\].
    Latency(LinkId),
}

/// One change of capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// What changes.
    pub target: Target,
    /// The value that holds from now on.
    pub value: f64,
}

/// All profiles of a platform, each with its next change.
#[derive(Debug)]
pub struct Changes<'p> {
    /// Sorted once; equal dates come in this order.
    profiles: Vec<(Target, &'p Profile)>,
    /// (date in bits, profile, index of the step). Dates are not negative, so their bits sort as they do.
    next: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl<'p> Changes<'p> {
    /// The changes of `platform` from the start of the run on.
    pub fn new(platform: &'p Platform) -> Self {
        let mut profiles = Vec::new();
        for (index, host) in platform.hosts.iter().enumerate() {
            profiles.extend(
                host.speed_profile
                    .as_ref()
                    .map(|p| (Target::Speed(HostId::from_index(index)), p)),
            );
        }
        for (index, link) in platform.links.iter().enumerate() {
            let id = LinkId::from_index(index);
            profiles.extend(
                link.bandwidth_profile
                    .as_ref()
                    .map(|p| (Target::Bandwidth(id), p)),
            );
            profiles.extend(
                link.latency_profile
                    .as_ref()
                    .map(|p| (Target::Latency(id), p)),
            );
        }
        let mut changes = Self {
            profiles,
            next: BinaryHeap::new(),
        };
        for index in 0..changes.profiles.len() {
            changes.enqueue(index, 0);
        }
        changes
    }

    /// The absolute date of the next change \[s\]; infinite if there is none.
    pub fn next_date(&self) -> f64 {
        self.next
            .peek()
            .map_or(f64::INFINITY, |Reverse((date, ..))| f64::from_bits(*date))
    }

    /// Takes out the next change.
    pub fn pop(&mut self) -> Option<Change> {
        let Reverse((_, index, step)) = self.next.pop()?;
        self.enqueue(index, step + 1);
        let (target, profile) = self.profiles[index];
        profile
            .step(step)
            .map(|(_, value)| Change { target, value })
    }

    fn enqueue(&mut self, index: usize, step: usize) {
        if let Some((date, _)) = self.profiles[index].1.step(step) {
            self.next.push(Reverse((date.to_bits(), index, step)));
        }
    }
}
