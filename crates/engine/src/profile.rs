//! Changes of the capacities of hosts and links over time, which profiles and loads cause, in the order of absolute times.
//!
//! Only the next change of each capacity is stored. A host without executions sleeps, as does a link without flows. Changes of a
//! sleeping host or link are not in the heap; they are applied when the host or link is needed again. For a link that has slept,
//! only the last change is applied. Cost:
//! 10 ns per change of an awake capacity, plus the cost of computing the change.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{clock::Clock, cpu::HostQuantity};
use migsim_base::units::{HostId, LinkId, to_u32};
use migsim_platform::{BufferedSteps, Host, Link, Platform, ProfileSteps};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangingQuantity {
    Host(HostId, HostQuantity),
    /// The capacity of the link \[B/s\].
    Bandwidth(LinkId),
    /// The latency of the link \[s\].
    Latency(LinkId),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CapacityChange {
    /// Absolute time of the change \[s\], from which the new value applies.
    pub time: f64,
    /// The quantity of a host, the bandwidth or the latency that changes.
    pub changing_quantity: ChangingQuantity,
    /// The value after the change, in the unit of the quantity that changes.
    pub new_value: f64,
}

/// The future changes of all capacities of a platform that vary over time; for each capacity, the next change is stored.
#[derive(Clone, Debug)]
pub(crate) struct CapacitySchedule {
    varying_capacities: Vec<VaryingCapacity>,
    /// For each host, the indices of its availability and its busy cores in the list of varying capacities; `NONE` if a quantity
    /// does not vary.
    indices_of_host: Vec<[u32; 2]>,
    /// For each link, the index of its bandwidth in the list of varying capacities, or `NONE`; empty if no bandwidth varies.
    bandwidth_index_of_link: Vec<u32>,
    awake_capacities: BinaryHeap<Reverse<(u64, u32)>>,
}

#[derive(Clone, Debug)]
struct VaryingCapacity {
    changing_quantity: ChangingQuantity,
    /// Absolute time of the next change \[s\]; infinite after the last change.
    next_change_time: f64,
    next_value: f64,
    later_changes: ChangeSource,
    is_awake: bool,
}

#[derive(Clone, Debug)]
enum ChangeSource {
    Profile(ProfileSteps),
    Generated(Box<dyn BufferedSteps>),
}

const NO_CAPACITY: u32 = u32::MAX;

/// The quantities of a host, in the order of their indices.
const HOST_QUANTITIES: [HostQuantity; 2] = [HostQuantity::Available, HostQuantity::BusyCores];

impl ChangingQuantity {
    /// Whether changes of this quantity may be postponed while no activity uses the host or link.
    fn may_changes_be_postponed(self) -> bool {
        !matches!(self, Self::Latency(_))
    }
}

impl ChangeSource {
    fn from_host(host: &Host, quantity: HostQuantity) -> Option<Self> {
        match (quantity, &host.speed_profile, &*host.loads) {
            (HostQuantity::BusyCores, ..) => host.busy_cores_over_time().map(Self::Generated),
            (_, Some(profile), []) => Some(Self::Profile(profile.steps())),
            _ => host.availability_over_time().map(Self::Generated),
        }
    }

    fn from_link(link: &Link) -> Option<Self> {
        match (&link.bandwidth_profile, &*link.loads) {
            (Some(profile), []) => Some(Self::Profile(profile.steps())),
            _ => link.bandwidth_over_time().map(Self::Generated),
        }
    }

    fn next_change(&mut self) -> Option<(f64, f64)> {
        match self {
            Self::Profile(steps) => steps.next(),
            Self::Generated(steps) => steps.next(),
        }
    }

    /// Applies changes that have already been computed and are due, by calling `take(time, value)` for each, in order. Applies at
    /// most `most` changes, and returns their number.
    #[inline]
    fn take_computed_changes(
        &mut self,
        most: usize,
        is_due: impl Fn(f64) -> bool,
        mut take: impl FnMut(f64, f64),
    ) -> usize {
        let Self::Generated(steps) = self else {
            return 0;
        };
        let ahead = steps.computed_steps();
        let ahead = &ahead[..most.min(ahead.len())];
        let count = ahead.partition_point(|step| step.0.is_finite() && is_due(step.0));
        for &(date, value) in &ahead[..count] {
            take(date, value);
        }
        steps.skip_steps(count);
        count
    }
}

impl VaryingCapacity {
    fn new(target: ChangingQuantity, mut course: ChangeSource) -> Self {
        let (date, value) = course.next_change().unwrap_or((f64::INFINITY, 0.0));
        Self {
            changing_quantity: target,
            next_change_time: date,
            next_value: value,
            later_changes: course,
            is_awake: false,
        }
    }

    fn take_next_change(&mut self) -> CapacityChange {
        let change = CapacityChange {
            time: self.next_change_time,
            changing_quantity: self.changing_quantity,
            new_value: self.next_value,
        };
        (self.next_change_time, self.next_value) = self
            .later_changes
            .next_change()
            .unwrap_or((f64::INFINITY, 0.0));
        change
    }

    /// Removes all changes for which `is_due` returns true, and returns the last of them; at least one change must be due.
    /// Returns `None` if more than `most` changes would have to be computed one by one.
    fn take_last_due_change(
        &mut self,
        most: u64,
        is_due: impl Fn(f64) -> bool,
    ) -> Option<CapacityChange> {
        if let ChangeSource::Profile(steps) = &mut self.later_changes
            && let Some((date, value)) = steps.skip_to_last_due_step(&is_due)
        {
            (self.next_change_time, self.next_value) = (date, value);
        }
        for _ in 0..most {
            let change = self.take_next_change();
            if !(self.next_change_time.is_finite() && is_due(self.next_change_time)) {
                return Some(change);
            }
        }
        None
    }
}

impl CapacitySchedule {
    /// Creates the list of changes of all capacities of `platform` from the start of the run; all capacities are awake.
    pub(crate) fn new(platform: &Platform) -> Self {
        let mut changes = Self::from_varying_capacities(Vec::new());
        changes
            .indices_of_host
            .resize(platform.hosts.len(), [NO_CAPACITY; 2]);
        for (index, host) in platform.hosts.iter().enumerate() {
            for quantity in HOST_QUANTITIES {
                if let Some(course) = ChangeSource::from_host(host, quantity) {
                    changes.indices_of_host[index][quantity as usize] =
                        to_u32(changes.varying_capacities.len());
                    let target = ChangingQuantity::Host(HostId::from_index(index), quantity);
                    changes
                        .varying_capacities
                        .push(VaryingCapacity::new(target, course));
                }
            }
        }
        for (index, link) in platform.links.iter().enumerate() {
            let id = LinkId::from_index(index);
            if let Some(course) = ChangeSource::from_link(link) {
                changes
                    .bandwidth_index_of_link
                    .resize(platform.links.len(), NO_CAPACITY);
                changes.bandwidth_index_of_link[index] = to_u32(changes.varying_capacities.len());
                let target = ChangingQuantity::Bandwidth(id);
                changes
                    .varying_capacities
                    .push(VaryingCapacity::new(target, course));
            }
            if let Some(profile) = &link.latency_profile {
                let course = ChangeSource::Profile(profile.steps());
                changes
                    .varying_capacities
                    .push(VaryingCapacity::new(ChangingQuantity::Latency(id), course));
            }
        }
        changes.wake_all_capacities();
        changes
    }

    /// Creates the list of future changes of the bandwidths of the given links. Returns `None` if the bandwidth of any of these
    /// links depends on a load, whose changes are not known in advance.
    fn future_changes_of_links(&self, links: &[LinkId]) -> Option<Self> {
        let varying = |link: &LinkId| {
            let varying = self
                .varying_capacities
                .get(self.bandwidth_index_of_link[link.index()] as usize)?;
            let ChangeSource::Profile(steps) = &varying.later_changes else {
                return None;
            };
            Some(VaryingCapacity {
                later_changes: ChangeSource::Profile(steps.clone()),
                is_awake: false,
                ..*varying
            })
        };
        let mut changes =
            Self::from_varying_capacities(links.iter().map(varying).collect::<Option<_>>()?);
        changes.wake_all_capacities();
        Some(changes)
    }

    fn from_varying_capacities(varying: Vec<VaryingCapacity>) -> Self {
        Self {
            varying_capacities: varying,
            indices_of_host: Vec::new(),
            bandwidth_index_of_link: Vec::new(),
            awake_capacities: BinaryHeap::new(),
        }
    }

    fn wake_all_capacities(&mut self) {
        for place in 0..to_u32(self.varying_capacities.len()) {
            self.wake_capacity(place);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.varying_capacities.is_empty()
    }

    pub(crate) fn has_varying_bandwidths(&self) -> bool {
        !self.bandwidth_index_of_link.is_empty()
    }

    #[inline]
    pub(crate) fn has_varying_bandwidth(&self, link: LinkId) -> bool {
        let place = self.bandwidth_index_of_link.get(link.index());
        place.is_some_and(|place| *place != NO_CAPACITY)
    }

    /// Returns the absolute time of the next change of any awake capacity \[s\]; infinite if no awake capacity changes.
    pub(crate) fn next_change_time(&self) -> f64 {
        self.awake_capacities
            .peek()
            .map_or(f64::INFINITY, |Reverse((time, _))| f64::from_bits(*time))
    }

    /// Removes and returns the next change of an awake capacity; `None` if no awake capacity changes. The capacity then falls
    /// asleep, unless `is_needed` returns true for it or it never sleeps.
    pub(crate) fn take_next_change(
        &mut self,
        is_needed: impl FnOnce(ChangingQuantity) -> bool,
    ) -> Option<CapacityChange> {
        let Reverse((_, place)) = self.awake_capacities.pop()?;
        let varying = &mut self.varying_capacities[place as usize];
        let change = varying.take_next_change();
        let may_sleep = change.changing_quantity.may_changes_be_postponed();
        varying.is_awake = varying.next_change_time.is_finite()
            && (!may_sleep || is_needed(change.changing_quantity));
        if varying.is_awake {
            self.queue_capacity(place);
        }
        Some(change)
    }

    fn queue_capacity(&mut self, place: u32) {
        let time = self.varying_capacities[place as usize].next_change_time;
        self.awake_capacities.push(Reverse((time.to_bits(), place)));
    }

    /// Puts all capacities to sleep but latencies, which never sleep.
    pub(crate) fn put_all_capacities_to_sleep(&mut self) {
        let varying = &mut self.varying_capacities;
        self.awake_capacities.retain(|Reverse((_, place))| {
            let capacity = &mut varying[*place as usize];
            capacity.is_awake = !capacity.changing_quantity.may_changes_be_postponed();
            capacity.is_awake
        });
    }

    /// Applies the due changes of a quantity of a sleeping host by calling `take(time, value)` for each. Applies at most `most`
    /// changes, and returns their number.
    #[inline]
    pub(crate) fn apply_due_changes_of_host(
        &mut self,
        host: HostId,
        quantity: HostQuantity,
        most: u64,
        is_due: impl Fn(f64) -> bool,
        mut take: impl FnMut(f64, f64),
    ) -> u64 {
        let place = self.indices_of_host[host.index()][quantity as usize] as usize;
        let Some(varying) = self
            .varying_capacities
            .get_mut(place)
            .filter(|host| !host.is_awake)
        else {
            return 0;
        };
        let mut count = 0;
        let mut date = varying.next_change_time;
        let mut value = varying.next_value;
        while count < most && date.is_finite() && is_due(date) {
            take(date, value);
            count += 1;
            let left = usize::try_from(most - count).unwrap_or(usize::MAX);
            count += varying
                .later_changes
                .take_computed_changes(left, &is_due, &mut take) as u64;
            (date, value) = varying
                .later_changes
                .next_change()
                .unwrap_or((f64::INFINITY, 0.0));
        }
        (varying.next_change_time, varying.next_value) = (date, value);
        count
    }

    /// Removes the due changes of the bandwidth of a sleeping link, and returns the last of them; `None` if no change is due.
    ///
    /// # Errors
    /// More than `most` changes would have to be computed one by one.
    pub(crate) fn take_last_due_change_of_link(
        &mut self,
        link: LinkId,
        most: u64,
        is_due: impl Fn(f64) -> bool,
    ) -> Result<Option<CapacityChange>, TooManyChanges> {
        let Some(place) = self.bandwidth_index_of_link.get(link.index()) else {
            return Ok(None);
        };
        let varying = self.varying_capacities.get_mut(*place as usize);
        let is_taken = |varying: &&mut VaryingCapacity| {
            !varying.is_awake
                && varying.next_change_time.is_finite()
                && is_due(varying.next_change_time)
        };
        let change = varying
            .filter(is_taken)
            .map(|varying| varying.take_last_due_change(most, &is_due));
        change.map_or(Ok(None), |change| change.ok_or(TooManyChanges).map(Some))
    }

    /// Returns the absolute time of the next change of a quantity of a host \[s\]; infinite if none changes any more.
    pub(crate) fn next_change_time_of_host(&self, host: HostId) -> f64 {
        let [available, busy] = self.indices_of_host[host.index()];
        self.next_change_time_of_capacity(available)
            .min(self.next_change_time_of_capacity(busy))
    }

    /// Returns the future changes of the quantities of a host that have already been computed, in the order of their times, and
    /// the absolute time up to which this list is complete \[s\]. Each change is an absolute time \[s\], the quantity, and its
    /// value from then on.
    pub(crate) fn computed_changes_of_host(
        &self,
        host: HostId,
    ) -> (impl Iterator<Item = (f64, HostQuantity, f64)> + '_, f64) {
        let [available, busy] = self.indices_of_host[host.index()];
        let (available, until) = self.computed_changes(available);
        let (busy, busy_until) = self.computed_changes(busy);
        let mut available = available.peekable();
        let mut busy = busy.peekable();
        let changes = std::iter::from_fn(move || {
            let time = |next: Option<&(f64, f64)>| next.map_or(f64::INFINITY, |next| next.0);
            let is_busy = time(busy.peek()) < time(available.peek());
            let (quantity, next) = if is_busy {
                (HostQuantity::BusyCores, busy.next())
            } else {
                (HostQuantity::Available, available.next())
            };
            next.map(|(time, value)| (time, quantity, value))
        });
        (changes, until.min(busy_until))
    }

    fn computed_changes(&self, place: u32) -> (impl Iterator<Item = (f64, f64)> + '_, f64) {
        let varying = self.varying_capacities.get(place as usize);
        let next = varying.map(|varying| (varying.next_change_time, varying.next_value));
        let next = next.filter(|next| next.0.is_finite());
        let mut steps = None;
        let mut ahead = &[][..];
        let mut until = f64::INFINITY;
        match varying.map(|varying| &varying.later_changes) {
            Some(ChangeSource::Profile(profile)) => steps = Some(profile.clone()),
            Some(ChangeSource::Generated(generated)) => {
                ahead = generated.computed_steps();
                let last = ahead.last().copied().or(next);
                until = last.map_or(f64::INFINITY, |last| last.0);
            }
            None => {}
        }
        let then = ahead.iter().copied().chain(steps.into_iter().flatten());
        (next.into_iter().chain(then), until)
    }

    /// Returns the absolute time of the next change of a link's bandwidth \[s\]; infinite if the bandwidth does not change any
    /// more.
    pub(crate) fn next_change_time_of_link(&self, link: LinkId) -> f64 {
        let place = self.bandwidth_index_of_link.get(link.index());
        place.map_or(f64::INFINITY, |place| {
            self.next_change_time_of_capacity(*place)
        })
    }

    fn next_change_time_of_capacity(&self, place: u32) -> f64 {
        let varying = self.varying_capacities.get(place as usize);
        varying.map_or(f64::INFINITY, |varying| varying.next_change_time)
    }

    /// Wakes a host, so that changes of its speed are returned when their time has come.
    pub(crate) fn wake_host(&mut self, host: HostId) {
        for place in self.indices_of_host[host.index()] {
            self.wake_capacity_if_asleep(place);
        }
    }

    /// Wakes a link, so that changes of its bandwidth are returned when their time has come.
    pub(crate) fn wake_link(&mut self, link: LinkId) {
        self.wake_capacity_if_asleep(self.bandwidth_index_of_link[link.index()]);
    }

    fn wake_capacity_if_asleep(&mut self, place: u32) {
        if place != NO_CAPACITY && !self.varying_capacities[place as usize].is_awake {
            self.wake_capacity(place);
        }
    }

    fn wake_capacity(&mut self, place: u32) {
        let varying = &mut self.varying_capacities[place as usize];
        if varying.next_change_time.is_finite() {
            varying.is_awake = true;
            self.queue_capacity(place);
        }
    }
}

/// The future changes of the bandwidths of certain links, all of which can be computed in advance.
#[derive(Clone, Debug)]
pub(crate) struct BandwidthChanges {
    schedule: CapacitySchedule,
    clock: Clock,
    max_changes_left: usize,
}

const MAX_BANDWIDTH_CHANGES_PER_SUPERSTEP: usize = 1_000_000;

impl BandwidthChanges {
    /// Creates the list of changes of the bandwidths of the given links after the present time of `clock`. Returns `None` if the
    /// bandwidth of any of these links depends on a load.
    pub(crate) fn new(changes: &CapacitySchedule, links: &[LinkId], clock: Clock) -> Option<Self> {
        changes.future_changes_of_links(links).map(|changes| Self {
            schedule: changes,
            clock,
            max_changes_left: MAX_BANDWIDTH_CHANGES_PER_SUPERSTEP,
        })
    }

    /// Returns the local time of the next bandwidth change \[s\]; infinite after the last change.
    pub(crate) fn next_change_time(&self) -> f64 {
        if self.max_changes_left == 0 {
            return f64::INFINITY;
        }
        self.clock.to_local(self.schedule.next_change_time())
    }

    /// Removes and returns the bandwidth changes up to the local time `until` \[s\]; each is given by the number of the link and
    /// its new bandwidth \[B/s\].
    pub(crate) fn take_changes_until(&mut self, until: f64) -> impl Iterator<Item = (u32, f64)> {
        std::iter::from_fn(move || {
            if self.next_change_time() > until {
                return None;
            }
            self.max_changes_left -= 1;
            let change = self.schedule.take_next_change(|_| true)?;
            let ChangingQuantity::Bandwidth(link) = change.changing_quantity else {
                return None;
            };
            Some((link.0, change.new_value))
        })
    }
}

/// The error that more changes of a capacity are due than can be applied in reasonable time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooManyChanges;
