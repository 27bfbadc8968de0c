//! Changes of capacity by profiles and loads, in order of their absolute times.
//!
//! Only the next step of each is held. A host on which nothing runs sleeps: its changes are taken when somebody needs it again, all at
//! once and without the heap. Cost: 20 ns a change of those that are awake, and what its step costs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::platform::{Platform, Steps};
use crate::units::{HostId, LinkId, to_u32};

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// The available fraction of a host's speed.
    Speed(HostId),
    /// The capacity of a link \[B/s\].
    Bandwidth(LinkId),
    /// The latency of a link \[s\].
    Latency(LinkId),
}

/// One change of capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    /// Since when \[s\], absolute.
    pub date: f64,
    /// What changes.
    pub target: Target,
    /// The value that holds from now on.
    pub value: f64,
}

/// All capacities of a platform that vary, each with its next change.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Equal dates come in this order.
    varying: Vec<Varying>,
    /// Where in `varying` the speed of each host stands; `NONE`: it does not vary.
    of_host: Vec<u32>,
    /// (date in bits, place in `varying`) of those that are awake. Dates are not negative, so their bits sort as they do.
    next: BinaryHeap<Reverse<(u64, u32)>>,
    /// How many hosts are awake.
    awake: usize,
}

/// A capacity that varies.
#[derive(Debug)]
struct Varying {
    target: Target,
    /// Its next change: the date, infinite after the last one, and the value from then on.
    date: f64,
    value: f64,
    steps: Box<dyn Steps>,
    is_awake: bool,
}

const NONE: u32 = u32::MAX;

impl Varying {
    /// Takes its next change.
    fn advance(&mut self) -> Change {
        let change = Change {
            date: self.date,
            target: self.target,
            value: self.value,
        };
        (self.date, self.value) = self.steps.next().unwrap_or((f64::INFINITY, 0.0));
        change
    }
}

impl Changes {
    /// The changes of `platform` from the start of the run on; all are awake.
    pub(crate) fn new(platform: &Platform) -> Self {
        let mut changes = Self {
            varying: Vec::new(),
            of_host: vec![NONE; platform.hosts.len()],
            next: BinaryHeap::new(),
            awake: 0,
        };
        for (index, host) in platform.hosts.iter().enumerate() {
            if let Some(steps) = host.availability() {
                changes.of_host[index] = to_u32(changes.varying.len());
                changes.add(Target::Speed(HostId::from_index(index)), steps);
            }
        }
        for (index, link) in platform.links.iter().enumerate() {
            let id = LinkId::from_index(index);
            if let Some(steps) = link.capacity() {
                changes.add(Target::Bandwidth(id), steps);
            }
            if let Some(profile) = &link.latency_profile {
                changes.add(Target::Latency(id), Box::new(profile.steps()));
            }
        }
        for place in 0..changes.varying.len() {
            changes.rouse(place);
        }
        changes
    }

    fn add(&mut self, target: Target, mut steps: Box<dyn Steps>) {
        let (date, value) = steps.next().unwrap_or((f64::INFINITY, 0.0));
        self.varying.push(Varying {
            target,
            date,
            value,
            steps,
            is_awake: false,
        });
    }

    /// Whether nothing varies.
    pub(crate) fn is_empty(&self) -> bool {
        self.varying.is_empty()
    }

    /// The absolute date of the next change of those that are awake \[s\]; infinite if there is none.
    pub(crate) fn next_date(&self) -> f64 {
        self.next
            .peek()
            .map_or(f64::INFINITY, |Reverse((date, _))| f64::from_bits(*date))
    }

    /// Takes out the next change of those that are awake. It stays awake if `is_needed`, or is no host.
    pub(crate) fn pop(&mut self, is_needed: impl FnOnce(HostId) -> bool) -> Option<Change> {
        let mut first = self.next.peek_mut()?;
        let Reverse((_, place)) = *first;
        let varying = &mut self.varying[place as usize];
        let change = varying.advance();
        let host = match change.target {
            Target::Speed(host) => Some(host),
            Target::Bandwidth(_) | Target::Latency(_) => None,
        };
        if varying.date.is_finite() && host.is_none_or(is_needed) {
            *first = Reverse((varying.date.to_bits(), place));
        } else {
            PeekMut::pop(first);
            varying.is_awake = false;
            self.awake -= usize::from(host.is_some());
        }
        Some(change)
    }

    /// Lets all hosts sleep: their changes are not announced until they are woken.
    pub(crate) fn let_hosts_sleep(&mut self) {
        if self.awake == 0 {
            return;
        }
        let varying = &mut self.varying;
        self.next.retain(|Reverse((_, place))| {
            let varying = &mut varying[*place as usize];
            varying.is_awake = !matches!(varying.target, Target::Speed(_));
            varying.is_awake
        });
        self.awake = 0;
    }

    /// Takes the next change of a host that sleeps, if it `is_due`.
    pub(crate) fn take_due(
        &mut self,
        host: HostId,
        is_due: impl FnOnce(f64) -> bool,
    ) -> Option<Change> {
        let varying = self.varying.get_mut(self.of_host[host.index()] as usize)?;
        let is_taken = !varying.is_awake && varying.date.is_finite() && is_due(varying.date);
        is_taken.then(|| varying.advance())
    }

    /// The absolute date of the next change of a host \[s\]; infinite if there is none.
    pub(crate) fn next_date_of(&self, host: HostId) -> f64 {
        let varying = self.varying.get(self.of_host[host.index()] as usize);
        varying.map_or(f64::INFINITY, |varying| varying.date)
    }

    /// Wakes a host.
    pub(crate) fn wake(&mut self, host: HostId) {
        let place = self.of_host[host.index()];
        if place != NONE && !self.varying[place as usize].is_awake {
            self.rouse(place as usize);
        }
    }

    fn rouse(&mut self, place: usize) {
        let varying = &mut self.varying[place];
        if varying.date.is_finite() {
            varying.is_awake = true;
            let date = varying.date.to_bits();
            self.next.push(Reverse((date, to_u32(place))));
            self.awake += usize::from(matches!(varying.target, Target::Speed(_)));
        }
    }
}
