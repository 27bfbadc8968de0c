//! The changes of capacity that profiles and loads bring, in order of their absolute dates.
//!
//! Cost: 20 ns and what the step costs, in a heap of those that vary; only the next step of each is held.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::platform::{Platform, Steps};
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

/// All capacities of a platform that vary, each with its next change.
#[derive(Debug)]
pub struct Changes<'p> {
    /// Equal dates come in this order.
    varying: Vec<Varying<'p>>,
    /// (date in bits, place in `varying`). Dates are not negative, so their bits sort as they do.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

/// A capacity that varies.
#[derive(Debug)]
struct Varying<'p> {
    target: Target,
    /// Its value from its next change on.
    value: f64,
    steps: Box<dyn Steps + 'p>,
}

impl<'p> Changes<'p> {
    /// The changes of `platform` from the start of the run on.
    pub fn new(platform: &'p Platform) -> Self {
        let mut changes = Self {
            varying: Vec::new(),
            next: BinaryHeap::new(),
        };
        for (index, host) in platform.hosts.iter().enumerate() {
            changes.add(
                Target::Speed(HostId::from_index(index)),
                host.availability(),
            );
        }
        for (index, link) in platform.links.iter().enumerate() {
            let id = LinkId::from_index(index);
            changes.add(Target::Bandwidth(id), link.capacity());
            let latency: Option<Box<dyn Steps>> = match &link.latency_profile {
                Some(profile) => Some(Box::new(profile.steps())),
                None => None,
            };
            changes.add(Target::Latency(id), latency);
        }
        changes
    }

    fn add(&mut self, target: Target, steps: Option<Box<dyn Steps + 'p>>) {
        let Some(mut steps) = steps else {
            return;
        };
        if let Some((date, value)) = steps.next() {
            let place = self.varying.len();
            self.next.push(Reverse((date.to_bits(), place)));
            self.varying.push(Varying {
                target,
                value,
                steps,
            });
        }
    }

    /// The absolute date of the next change \[s\]; infinite if there is none.
    pub fn next_date(&self) -> f64 {
        self.next
            .peek()
            .map_or(f64::INFINITY, |Reverse((date, ..))| f64::from_bits(*date))
    }

    /// Takes out the next change.
    pub fn pop(&mut self) -> Option<Change> {
        let mut first = self.next.peek_mut()?;
        let Reverse((_, place)) = *first;
        let varying = &mut self.varying[place];
        let change = Change {
            target: varying.target,
            value: varying.value,
        };
        match varying.steps.next() {
            Some((date, value)) => {
                varying.value = value;
                *first = Reverse((date.to_bits(), place));
            }
            None => {
                PeekMut::pop(first);
            }
        }
        Some(change)
    }
}
