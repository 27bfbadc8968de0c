//! The engine: starts activities, advances time and completes activities.
//!
//! Three kinds of activity: an execution on a host, a flow between two hosts, a wait. Each carries a token of its owner;
//! [`Simulation::next_ended`] goes to the next date at which something ends and hands the tokens out one by one. The rule for equal
//! dates: everything that ends at a date ends, capacities change, then the owner reacts (starts new activities), then the
//! rates are computed.

use std::fmt;
use std::sync::Arc;

use super::clock::{Clock, until_within};
use super::cpu::Cpus;
use super::event::{Event, EventList};
use super::model::NetworkModel;
use super::profile::{Change, Changes, Target};
use super::transport::{Message, Transport, network_of, too_many_packets};
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, HostId, Instructions, LinkId, Seconds, Time};
use migsim_platform::{Platform, Route};

/// Until when capacities stay as they are, as local dates \[s\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// The capacity of hosts \[s\].
    pub hosts: f64,
    /// The capacity of links \[s\].
    pub links: f64,
}

/// A running simulation of hosts and links; `T` names an activity to its owner.
#[derive(Debug)]
pub struct Simulation<'p, T> {
    platform: &'p Platform,
    clock: Clock,
    queue: EventList<T>,
    cpus: Cpus<T>,
    network: Box<dyn Transport<T> + 'p>,
    changes: Changes,
    /// Tokens of the activities that have ended at the current date and were not handed out yet, last one first.
    ended: Vec<T>,
    flows: u64,
    /// How many changes of capacity were applied.
    changed: u64,
    /// Until when no bandwidth changes \[s\], absolute; of the past, if that is not known.
    links_keep: f64,
    /// [`MOST_CHANGES`]; fewer in tests.
    most_changes: u64,
}

/// Changes of capacity in a row, with nothing able to progress, after which the run counts as stuck.
const MOST_IDLE_CHANGES: u64 = 1_000_000;
/// Changes of capacity in a row without an end of anything, or while a host sleeps, after which a profile counts as too fine to be
/// simulated: some seconds of CPU.
const MOST_CHANGES: u64 = 200_000_000;

const TOO_FAR: &str = "the next date is too far away for a number: look for a tiny speed or bandwidth or a huge amount of work";
const TOO_OFTEN: &str = "give the profiles and loads longer periods, or look for a tiny speed or bandwidth or a huge amount of work";

impl<'p, T: Copy + fmt::Debug + Send + 'p> Simulation<'p, T> {
    /// A simulation of `platform` in which nothing happens yet.
    pub fn new(platform: &'p Platform, model: NetworkModel) -> Self {
        let mut simulation = Self {
            platform,
            clock: Clock::default(),
            queue: EventList::new(),
            cpus: Cpus::new(platform),
            network: network_of(platform, model),
            changes: Changes::new(platform),
            ended: Vec::new(),
            flows: 0,
            changed: 0,
            links_keep: f64::NEG_INFINITY,
            most_changes: MOST_CHANGES,
        };
        // A change at date 0 holds for what starts at date 0.
        while simulation.changes.next_date() <= 0.0 {
            simulation.apply_change();
        }
        simulation
    }

    /// The current instant.
    #[inline]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The last local date that counts as `date`.
    #[inline]
    fn same_until(&self, date: f64) -> f64 {
        until_within(date, self.network.state().model.same_date)
    }

    /// Seconds since the last [`Self::rebase`] (or the start).
    pub fn local_now(&self) -> f64 {
        self.clock.local()
    }

    /// Makes the current instant the zero of local time if nothing is in progress; returns whether it did.
    ///
    /// What follows then depends on the state of the platform only, not on the date: equal activities take equal times to
    /// the last bit.
    #[inline]
    pub fn rebase(&mut self) -> bool {
        let is_idle = self.is_idle();
        if is_idle {
            let elapsed = self.clock.local();
            self.clock.rebase();
            self.network.forget();
            self.network.state_mut().rebase(elapsed);
        }
        is_idle
    }

    /// Whether nothing is in progress.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.ended.is_empty() && !self.network.has_completions()
    }

    /// Until when (local dates, \[s\]) the speeds of `hosts`, and all latencies, stay as they are while nothing is in progress. What these
    /// hosts have is up to date then ([`Self::available`]). For bandwidths see [`Self::bandwidths_steady_until`].
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub fn steady_until(&mut self, hosts: &[HostId]) -> Result<Steady, Error> {
        if self.changes.is_empty() {
            return Ok(Steady {
                hosts: f64::INFINITY,
                links: f64::INFINITY,
            });
        }
        debug_assert!(self.is_idle(), "hosts that compute do not sleep");
        self.changes.let_sleep();
        let latencies = self.changes.next_date();
        let mut until = f64::INFINITY;
        for &host in hosts {
            self.refresh(host)?;
            until = until.min(self.changes.next_date_of(host));
        }
        Ok(Steady {
            hosts: self.clock.to_local(until),
            links: self.clock.to_local(latencies),
        })
    }

    /// The changes of a host that are still to come, as far as they are known beforehand: local date \[s\] and available fraction. Then the
    /// local date up to which they are all.
    pub fn known_changes(&self, host: HostId) -> (impl Iterator<Item = (f64, f64)> + '_, f64) {
        let clock = self.clock;
        let (changes, until) = self.changes.known_changes(host);
        let changes = changes.map(move |(date, value)| (clock.to_local(date), value));
        (changes, clock.to_local(until))
    }

    /// Whether the bandwidth of a link varies.
    pub fn has_varying_bandwidths(&self) -> bool {
        self.changes.has_links()
    }

    /// Until when (local date, \[s\]) no bandwidth changes on the routes between the `ends` of messages, or anywhere if that is longer or
    /// `ends` is none, while nothing is in progress; all links are up to date then ([`Self::link`]). If one changes up to local date `enough`,
    /// the date of that change is returned, and other links may be as they were.
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub fn bandwidths_steady_until(
        &mut self,
        ends: Option<impl Iterator<Item = (HostId, HostId)>>,
        enough: f64,
    ) -> Result<f64, Error> {
        debug_assert!(self.is_idle(), "links with flows do not sleep");
        let known = self.clock.to_local(self.links_keep);
        if known > enough.max(self.same_until(self.clock.local())) {
            return Ok(known);
        }
        self.changes.let_sleep();
        let platform = self.platform;
        let mut on_routes = f64::INFINITY;
        let has_ends = ends.is_some();
        let routes = ends.into_iter().flatten();
        for route in routes.filter_map(|(from, to)| platform.route(from, to)) {
            for link in route.links() {
                if !self.changes.varies(link) {
                    continue;
                }
                self.refresh_link(link)?;
                on_routes = on_routes.min(self.changes.next_date_of_link(link));
            }
            if self.clock.to_local(on_routes) <= enough {
                return Ok(self.clock.to_local(on_routes));
            }
        }
        self.links_keep = f64::NEG_INFINITY;
        let mut anywhere = f64::INFINITY;
        for link in (0..platform.links.len()).map(LinkId::from_index) {
            self.refresh_link(link)?;
            anywhere = anywhere.min(self.changes.next_date_of_link(link));
            if !has_ends && self.clock.to_local(anywhere) <= enough {
                return Ok(self.clock.to_local(anywhere));
            }
        }
        self.links_keep = anywhere;
        let until = if has_ends { on_routes } else { anywhere };
        Ok(self.clock.to_local(until))
    }

    /// How many changes of capacity have been applied: as long as they are as many, nothing has changed.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Lets time pass while nothing is in progress here: `flows` were simulated elsewhere. Hosts sleep meanwhile. Returns whether it did; a
    /// date that a number cannot hold is refused.
    pub fn pass(&mut self, duration: f64, flows: u64) -> bool {
        let date = self.clock.local() + duration;
        let can_pass = self.is_idle() && self.clock.can_reach(date);
        if can_pass {
            self.changes.let_sleep();
            self.clock.advance_to(date);
            self.flows += flows;
        }
        can_pass
    }

    /// With slow start: whether nothing has been sent between two hosts for a while at a local date \[s\], if nothing is until then.
    pub fn is_idle_between(&self, from: HostId, to: HostId, date: f64) -> bool {
        self.network.state().is_idle_between((from, to), date)
    }

    /// With slow start: a message between these hosts was simulated elsewhere, and ended at a local date \[s\].
    pub fn note_message(&mut self, ends: (HostId, HostId), date: f64) {
        if let Some(connection) = self.connection(ends) {
            self.note_connection(connection, date);
        }
    }

    /// With slow start: the connection between two hosts, if they are two.
    pub fn connection(&mut self, ends: (HostId, HostId)) -> Option<u32> {
        self.network.state_mut().connection(ends)
    }

    /// With slow start: a message of a connection was simulated elsewhere, and ended at a local date \[s\].
    pub fn note_connection(&mut self, connection: u32, date: f64) {
        self.network.state_mut().note_connection(connection, date);
    }

    /// With slow start: messages that come again and again were simulated elsewhere, and have ended or will. They are pairs of a message and its
    /// connection, of which each has one; `ends` has their local dates \[s\], and any numbers afterwards.
    pub fn note_all(&mut self, messages: &Arc<[(u32, u32)]>, ends: &mut Vec<f64>) {
        self.network.state_mut().note_all(messages, ends);
    }

    /// Starts an execution of `work` on a host, whose cores all executions on it share.
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub fn execute(&mut self, host: HostId, work: Instructions, token: T) -> Result<(), Error> {
        if !self.changes.is_empty() {
            self.refresh(host)?;
            self.changes.wake(host);
        }
        let now = self.clock.local();
        self.cpus.start(
            host.index(),
            work.get(),
            token,
            now,
            &mut self.queue,
            Event::Host(host.0),
        );
        Ok(())
    }

    /// Starts a flow between two hosts.
    ///
    /// # Errors
    /// The platform has no route between them; or as [`Self::refresh`].
    pub fn send(&mut self, from: HostId, to: HostId, size: Bytes, token: T) -> Result<(), Error> {
        self.send_message(from, to, (size, false), token)
    }

    /// The same; a message that `is_late` begins with a handshake, a round trip before its own way.
    pub fn send_message(
        &mut self,
        from: HostId,
        to: HostId,
        (size, is_late): (Bytes, bool),
        token: T,
    ) -> Result<(), Error> {
        self.flows += 1;
        let now = self.clock.local();
        let message = Message {
            platform: self.platform,
            from,
            to,
            bytes: size.get(),
            is_late,
            token,
        };
        if self.network.start_again(&message, now, &mut self.queue) {
            return Ok(());
        }
        if from == to && !self.platform.has_own_loopback(from) {
            let end = now + self.network.state().loopback_duration(size.get());
            self.queue.push(end, Event::Wait(token));
            return Ok(());
        }
        let Some(route) = self.platform.route(from, to) else {
            return Err(self.no_route(from, to));
        };
        if self.changes.has_links() {
            self.wake_links(&route)?;
            if self.network.state().model.crosstraffic
                && let Some(back) = self.platform.route(to, from)
            {
                self.wake_links(&back)?;
            }
        }
        let model = &self.network.state().model;
        if model.queues
            && let Some(packets) = too_many_packets(model, size.get())
        {
            return Err(self.endless_queue(size, packets));
        }
        self.network.start(&message, &route, now, &mut self.queue);
        Ok(())
    }

    /// So many flows are simulated elsewhere.
    pub fn count_flows(&mut self, flows: u64) {
        self.flows += flows;
    }

    /// Starts a wait.
    pub fn wait(&mut self, duration: Seconds, token: T) {
        self.queue
            .push(self.clock.local() + duration.get(), Event::Wait(token));
    }

    /// The next activity that ends, after going to its date; `None` if nothing is in progress.
    ///
    /// # Errors
    /// Activities are in progress, but none can ever end: a capacity of zero that does not change, or a date beyond what a number
    /// can hold.
    pub fn next_ended(&mut self) -> Result<Option<T>, Error> {
        let (mut changes, mut idle_changes) = (0_u64, 0_u64);
        loop {
            if let Some(token) = self.ended.pop() {
                return Ok(Some(token));
            }
            self.network.settle(self.clock.local(), &mut self.queue);
            if self.changes.is_empty() && !self.network.has_completions() {
                let Some(date) = self.queue.next_date() else {
                    return Ok(None);
                };
                if !self.clock.can_reach(date) {
                    return Err(self.starved("nothing in progress can ever end", TOO_FAR));
                }
                self.clock.advance_to(date);
                if let Some(token) = self.end_next(date) {
                    return Ok(Some(token));
                }
                continue;
            }
            let end = self.network.next_completion();
            let date = match self.queue.next_date() {
                Some(date) => date.min(end),
                None if self.network.has_completions() => end,
                None => return Ok(None),
            };
            let change = self.clock.to_local(self.changes.next_date());
            if !self.clock.can_reach(date.min(change)) {
                return Err(self.starved("nothing in progress can ever end", TOO_FAR));
            }
            if change >= date {
                self.clock.advance_to(date);
                self.end_all(date);
                continue;
            }
            changes += 1;
            // As long as something is on its way to its end, changes are only followed.
            idle_changes = if date.is_finite() {
                0
            } else {
                idle_changes + 1
            };
            if idle_changes > MOST_IDLE_CHANGES {
                let what = "nothing in progress gets on, however often capacities change";
                return Err(self.starved(what, TOO_OFTEN));
            }
            if changes > self.most_changes {
                return Err(self.starved("capacities change so often that nothing ends", TOO_OFTEN));
            }
            self.clock.advance_to(change);
            // All that change at this date, before the links are shared again.
            let until = self.same_until(change);
            self.apply_change();
            while self.clock.to_local(self.changes.next_date()) <= until {
                changes += 1;
                self.apply_change();
            }
        }
    }

    /// Adds to `taken` the activities that have ended at the current time and are `wanted`, in the order in which [`Self::next_ended`] would
    /// return them.
    pub fn take_ended(&mut self, wanted: impl Fn(&T) -> bool, taken: &mut Vec<T>) {
        let before = taken.len();
        taken.extend(self.ended.extract_if(.., |token| wanted(token)));
        taken[before..].reverse();
    }

    /// Whether activities that have ended at the current time were not returned yet.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// As the fluid network's, before anything starts.
    #[cfg(test)]
    pub(crate) fn use_levels_alone(&mut self) {
        let model = self.network.state().model.clone();
        let mut network = super::transport::FluidNetwork::new(self.platform, model);
        network.use_levels_alone();
        self.network = Box::new(network);
    }

    /// What went wrong first, in words; nothing ever should.
    pub fn fault(&self) -> Option<String> {
        if self.clock.went_back() {
            return Some("time went back".to_owned());
        }
        let fault = self.cpus.fault.or(self.network.fault());
        fault.map(|fault| fault.to_words(self.platform))
    }

    /// How many flows have been started.
    pub fn flows(&self) -> u64 {
        self.flows
    }

    /// Applies to a host the changes that have come while nothing ran there.
    ///
    /// # Errors
    /// They are so many that nobody can wait for them.
    pub fn refresh(&mut self, host: HostId) -> Result<(), Error> {
        let clock = self.clock;
        let until = self.same_until(clock.local());
        let is_due = |date| clock.to_local(date) <= until;
        let most = self.most_changes;
        let take = self.cpus.change_idle(host.index());
        let count = self
            .changes
            .take_due(host, most.saturating_add(1), is_due, take);
        self.changed += count;
        if count > most {
            let name = &self.platform.hosts[host.index()].name;
            let what = format!("the speed of host `{name}` has changed");
            return Err(self.too_many(&what, "nothing ran there"));
        }
        Ok(())
    }

    /// Applies to a link the last of the changes that have come while it had no flow.
    fn refresh_link(&mut self, link: LinkId) -> Result<(), Error> {
        let clock = self.clock;
        let until = self.same_until(clock.local());
        let is_due = |date| clock.to_local(date) <= until;
        let taken = self.changes.take_last_due(link, self.most_changes, is_due);
        let Ok(change) = taken else {
            let name = &self.platform.links[link.index()].name;
            let what = format!("the bandwidth of link `{name}` has changed");
            return Err(self.too_many(&what, "it had no flow"));
        };
        if let Some(change) = change {
            self.apply(change);
        }
        Ok(())
    }

    /// Brings the links of a route up to date and wakes them.
    fn wake_links(&mut self, route: &Route<'_>) -> Result<(), Error> {
        for link in route.links() {
            self.refresh_link(link)?;
            self.changes.wake_link(link);
        }
        Ok(())
    }

    fn too_many(&self, what: &str, meanwhile: &str) -> Error {
        let (most, now) = (self.most_changes, self.now());
        let problem = Problem::new(format!(
            "{what} more than {most} times up to {now} while {meanwhile}"
        ));
        Error::Run(problem.source(self.platform.name.clone()).hint(TOO_OFTEN))
    }

    /// The mean fraction of a host's speed that was available since `since`; 1 if it does not vary. Up to date after [`Self::refresh`].
    pub fn mean_availability(&self, host: HostId, since: Availability) -> f64 {
        let now = self.now().get();
        let duration = now - since.date;
        if duration > 0.0 {
            (self.cpus.availability(host.index(), now) - since.integral) / duration
        } else {
            1.0
        }
    }

    /// The fraction of a host's speed that is available now; 1 if it does not vary. Up to date after [`Self::refresh`].
    pub fn available(&self, host: HostId) -> f64 {
        self.cpus.available(host.index())
    }

    /// The capacity \[B/s\] and the latency \[s\] of a link now.
    pub fn link(&self, link: LinkId) -> (f64, f64) {
        self.network.state().link(link.index())
    }

    /// A mark from which [`Self::mean_availability`] can be asked later. Up to date after [`Self::refresh`].
    pub fn availability_mark(&self, host: HostId) -> Availability {
        let date = self.now().get();
        Availability {
            date,
            integral: self.cpus.availability(host.index(), date),
        }
    }

    /// Ends everything that ends at `date`, the date of the next event, while no capacity ever changes; returns the first token.
    #[inline]
    fn end_next(&mut self, date: f64) -> Option<T> {
        let until = self.same_until(date);
        let is_next = |queue: &EventList<T>| queue.next_date().is_some_and(|next| next <= until);
        let first = self.end_event(date);
        if self.ended.is_empty() && !is_next(&self.queue) {
            return first;
        }
        self.ended.extend(first);
        while is_next(&self.queue) {
            if let Some(token) = self.end_event(date) {
                self.ended.push(token);
            }
        }
        self.ended.reverse();
        self.ended.pop()
    }

    /// Takes out the next event. Executions that end are added to those that have ended; any other activity that ends is returned.
    #[inline]
    fn end_event(&mut self, date: f64) -> Option<T> {
        let (_, event) = self.queue.pop()?;
        match event {
            Event::Host(host) => {
                let at = (date, self.network.state().model.same_date);
                let ended = &mut self.ended;
                self.cpus
                    .finish(host as usize, at, &mut self.queue, event, |token| {
                        ended.push(token);
                    });
                None
            }
            Event::Network(step) => self.network.advance(step, date, &mut self.queue),
            Event::Wait(token) => Some(token),
        }
    }

    /// Ends everything that ends at `date`, and applies the changes of capacity of that date.
    fn end_all(&mut self, date: f64) {
        let until = self.same_until(date);
        while self.queue.next_date().is_some_and(|next| next <= until) {
            let token = self.end_event(date);
            self.ended.extend(token);
        }
        if self.network.next_completion() <= until {
            self.network.complete(date, &mut self.ended);
        }
        while self.clock.to_local(self.changes.next_date()) <= until {
            self.apply_change();
        }
        self.ended.reverse();
    }

    fn apply_change(&mut self) {
        let is_needed = |target| match target {
            Target::Speed(host) => self.cpus.is_busy(host.index()),
            Target::Bandwidth(link) | Target::Latency(link) => {
                self.network.state().is_used(link.index())
            }
        };
        if let Some(change) = self.changes.pop(is_needed) {
            self.apply(change);
        }
    }

    fn apply(&mut self, change: Change) {
        self.changed += 1;
        match change.target {
            Target::Speed(host) => {
                let dates = (self.clock.local(), change.date);
                self.cpus.set_available(
                    host.index(),
                    change.value,
                    dates,
                    &mut self.queue,
                    Event::Host(host.0),
                );
            }
            Target::Bandwidth(link) => {
                self.network.set_capacity(
                    link.index(),
                    change.value,
                    self.clock.local(),
                    &mut self.queue,
                );
            }
            Target::Latency(link) => {
                self.network.set_latency(
                    link.index(),
                    change.value,
                    self.clock.local(),
                    &mut self.queue,
                );
            }
        }
    }

    /// The error of a message of more packets than can be simulated one by one.
    fn endless_queue(&self, size: Bytes, packets: f64) -> Error {
        let problem = Problem::new(format!(
            "a message of {size} has {packets:.3e} packets, and each of them would wait in its queues"
        ));
        let hint = "leave `queues` off: flows cost the same whatever their size; or give messages fewer bytes, or `packet` more";
        Error::Run(problem.source(self.platform.name.clone()).hint(hint))
    }

    fn no_route(&self, from: HostId, to: HostId) -> Error {
        let name = |host: HostId| &self.platform.hosts[host.index()].name;
        let problem = Problem::new(format!(
            "no route from host `{}` to host `{}`",
            name(from),
            name(to)
        ));
        // It is the platform that is wrong, though only who sends can tell.
        let problem = problem.source(format!("platform `{}`", self.platform.name));
        problem
            .hint("add a route between them to the platform")
            .into()
    }

    /// The error of a run in which nothing ends; the hint is for one in which nothing stands still.
    fn starved(&self, what: &str, hint: &str) -> Error {
        let hosts = self
            .cpus
            .stopped()
            .map(|host| format!("host `{}`", self.platform.hosts[host].name));
        let links = self
            .network
            .state()
            .stopped()
            .map(|link| format!("link `{}`", self.platform.links[link].name));
        let stopped: Vec<String> = hosts.chain(links).take(6).collect();
        let problem =
            Problem::new(format!("{what} at {}", self.now())).source(self.platform.name.clone());
        Error::Run(if stopped.is_empty() {
            problem.hint(hint)
        } else {
            problem.hint(format!(
                "without capacity: {}; a profile sets it to 0 and never raises it",
                stopped.join(", ")
            ))
        })
    }
}

/// A date and the integral of a host's availability up to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Availability {
    date: f64,
    integral: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{flows, line, run};
    use migsim_base::units::BytesPerSecond;
    use migsim_platform::{ClusterPath, Routes};

    #[test]
    fn an_execution_takes_its_work_over_the_speed() {
        // 3e9 instructions at 1.5 GHz: 2 s.
        let platform = line(&[1.5e9, 1e9], 1e6, 1e-3);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation
            .execute(HostId(0), Instructions::new(3e9).unwrap(), 'a')
            .unwrap();
        assert_eq!(run(&mut simulation), [('a', 2.0)]);
        assert_eq!((simulation.flows(), simulation.fault()), (0, None));
    }

    #[test]
    fn two_executions_share_a_host_and_the_second_speeds_up_when_the_first_ends() {
        // 1e9 and 3e9 at 1 GHz: half each until 2 s, then the second has 2e9 left: 4 s.
        let platform = line(&[1e9], 1e6, 0.0);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation
            .execute(HostId(0), Instructions::new(3e9).unwrap(), 'b')
            .unwrap();
        simulation
            .execute(HostId(0), Instructions::new(1e9).unwrap(), 'a')
            .unwrap();
        assert_eq!(run(&mut simulation), [('a', 2.0), ('b', 4.0)]);
    }

    #[test]
    fn a_link_that_a_route_passes_twice_counts_twice() {
        // h0, l0, l2 twice, l1, h1: four latencies, and half of a capacity. 1 + 1e6 / 5e5 s.
        let mut platform = line(&[1e9; 3], 1e6, 0.25);
        let Routes::Clustered { pairs, links, .. } = &mut platform.routes else {
            unreachable!("a line has clusters");
        };
        links.extend([LinkId(2), LinkId(2)]);
        *pairs = vec![Some(ClusterPath {
            links: 0..2,
            latency: None,
        })];
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        let size = Bytes::new(1e6).unwrap();
        simulation.send(HostId(0), HostId(1), size, 'm').unwrap();
        assert_eq!(run(&mut simulation), [('m', 3.0)]);
        let mut paths = crate::PathTable::new(&platform, NetworkModel::default());
        let path = paths.find(&platform, HostId(0), HostId(1)).unwrap();
        let path = paths.get(path);
        assert_eq!((path.delay, path.rate_alone), (1.0, 5e5));
    }

    #[test]
    fn time_passes_only_while_nothing_is_in_progress_and_flows_are_counted() {
        let platform = line(&[1e9, 1e9], 1e6, 0.0);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        assert!(simulation.pass(2.0, 3));
        assert_eq!((simulation.local_now(), simulation.flows()), (2.0, 3));
        let size = Bytes::new(1e6).unwrap();
        simulation.send(HostId(0), HostId(1), size, 'a').unwrap();
        assert!(!simulation.pass(2.0, 3));
        assert_eq!((simulation.local_now(), simulation.flows()), (2.0, 4));
        assert_eq!(run(&mut simulation), [('a', 3.0)]);
        assert!(!simulation.pass(f64::INFINITY, 0));
    }

    #[test]
    fn two_cores_serve_two_executions_at_full_speed() {
        let mut platform = line(&[1e9], 1e6, 0.0);
        platform.hosts[0].cores = 2;
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        for name in ['a', 'b', 'c'] {
            simulation
                .execute(HostId(0), Instructions::new(2e9).unwrap(), name)
                .unwrap();
        }
        // Three on two cores: 2/3 of the speed each, 3 s.
        assert_eq!(run(&mut simulation), [('a', 3.0), ('b', 3.0), ('c', 3.0)]);
    }

    #[test]
    fn a_flow_waits_its_latency_then_moves_its_bytes() {
        // Two links of 1 ms and 1e6 B/s: 0.002 + 1e6/1e6.
        let platform = line(&[1e9, 1e9], 1e6, 1e-3);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation
            .send(HostId(0), HostId(1), Bytes::new(1e6).unwrap(), 'a')
            .unwrap();
        simulation
            .send(HostId(0), HostId(1), Bytes::default(), 'b')
            .unwrap();
        assert_eq!(run(&mut simulation), [('b', 0.002), ('a', 1.002)]);
    }

    #[test]
    fn flows_with_a_common_link_share_it_and_the_ideal_network_shares_nothing() {
        let platform = line(&[1e9; 3], 1e6, 0.0);
        let dates = |model| {
            let mut simulation = Simulation::new(&platform, model);
            simulation
                .send(HostId(0), HostId(1), Bytes::new(1e6).unwrap(), 'a')
                .unwrap();
            simulation
                .send(HostId(0), HostId(2), Bytes::new(2e6).unwrap(), 'b')
                .unwrap();
            run(&mut simulation)
        };
        // Half of 1e6 B/s each until a ends at 2 s; b then has 1e6 B left.
        assert_eq!(dates(NetworkModel::default()), [('a', 2.0), ('b', 3.0)]);
        assert_eq!(
            dates(NetworkModel::preset("ideal").unwrap()),
            [('a', 1.0), ('b', 2.0)]
        );
    }

    /// Flows of 1e6 B from host 0 to each other one, over links of 1e6 B/s and 1 ms each.
    fn star(platform: &migsim_platform::Platform, model: NetworkModel) -> Vec<(usize, f64)> {
        let mut simulation = Simulation::new(platform, model);
        for to in 1..platform.hosts.len() {
            simulation
                .send(
                    HostId(0),
                    HostId::from_index(to),
                    Bytes::new(1e6).unwrap(),
                    to,
                )
                .unwrap();
        }
        run(&mut simulation)
    }

    #[test]
    fn a_link_that_is_not_shared_gives_each_flow_its_whole_bandwidth() {
        let mut platform = line(&[1e9; 3], 1e6, 1e-3);
        for link in &mut platform.links {
            link.is_shared = false;
        }
        // 2 ms and 1 s for both, as if alone.
        let both = [(1, 1.002), (2, 1.002)];
        assert_eq!(star(&platform, NetworkModel::default()), both);
        // Only the link of host 0 is not shared: the others have one flow each, so nothing changes.
        platform.links[1].is_shared = true;
        platform.links[2].is_shared = true;
        assert_eq!(star(&platform, NetworkModel::default()), both);
    }

    #[test]
    fn a_flow_of_a_long_route_gets_less_of_a_shared_link() {
        // Latencies 2 and 100 ms: weighted, the first flow gets 50 times the share of the second.
        let mut platform = line(&[1e9; 3], 1e6, 1e-3);
        platform.links[2].latency = Seconds::new(0.099).unwrap();
        let weighted = star(&platform, NetworkModel::default());
        // 0.1 s; 0.902e6 B at 50/51 of 1e6 B/s.
        assert!(
            (weighted[0].1 - (0.1 + 0.902 * 51.0 / 50.0)).abs() < 1e-12,
            "{weighted:?}"
        );
    }

    #[test]
    fn equal_work_after_a_rebase_takes_equal_time_to_the_bit() {
        let platform = line(&[1.3e9, 0.7e9], 3e5, 1e-4);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        let mut durations = Vec::new();
        for _ in 0..100 {
            simulation
                .execute(HostId(0), Instructions::new(1e6 / 3.0).unwrap(), 'a')
                .unwrap();
            simulation
                .send(HostId(0), HostId(1), Bytes::new(12_345.0).unwrap(), 'b')
                .unwrap();
            while simulation.next_ended().unwrap().is_some() {}
            durations.push(simulation.local_now());
            assert!(simulation.rebase());
        }
        assert!(
            durations
                .iter()
                .all(|duration| duration.to_bits() == durations[0].to_bits())
        );
    }

    /// The local ends of messages, each sent when its sender has computed so long.
    fn local_ends(
        simulation: &mut Simulation<'_, (bool, usize)>,
        flows: &[(f64, u32, u32, f64)],
    ) -> Vec<u64> {
        for (at, &(seconds, from, ..)) in flows.iter().enumerate() {
            let work = Instructions::new(1e9 * seconds + 1e6).unwrap();
            simulation.execute(HostId(from), work, (false, at)).unwrap();
        }
        let mut ends = vec![0; flows.len()];
        while let Some((is_message, at)) = simulation.next_ended().unwrap() {
            if is_message {
                ends[at] = simulation.local_now().to_bits();
                continue;
            }
            let (_, from, to, bytes) = flows[at];
            let size = Bytes::new(bytes).unwrap();
            simulation
                .send(HostId(from), HostId(to), size, (true, at))
                .unwrap();
        }
        ends
    }

    proptest! {
        #[test]
        fn messages_after_a_rebase_end_to_the_bit_as_if_they_were_the_first(
            before in prop::collection::vec(flows(3), 1..4),
            flows in flows(3),
            narrow in prop_oneof![Just(1.0), Just(0.1)],
        ) {
            let mut platform = line(&[1e9; 8], 1e3, 1e-3);
            for link in &mut platform.links[2..4] {
                link.bandwidth = BytesPerSecond::new(1e3 * narrow).unwrap();
            }
            let model = NetworkModel::preset("lv08").unwrap();
            let first = local_ends(&mut Simulation::new(&platform, model), &flows);
            let mut simulation = Simulation::new(&platform, model);
            for flows in &before {
                local_ends(&mut simulation, flows);
                prop_assert!(simulation.rebase());
            }
            prop_assert_eq!(local_ends(&mut simulation, &flows), first);
        }
    }

    #[test]
    fn a_long_execution_under_a_fine_profile_is_not_stuck() {
        // Half of each 1 us at half speed: 3 s of work at 3/4 of the speed take 4 s, over 8 million changes.
        let mut platform = line(&[1e9], 1e6, 0.0);
        let steps = vec![(0.0, 1.0), (5e-7, 0.5)];
        platform.hosts[0].speed_profile =
            Some(migsim_platform::Profile::new(steps, Some(1e-6)).unwrap());
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation
            .execute(HostId(0), Instructions::new(3e9).unwrap(), 'a')
            .unwrap();
        let ended = run(&mut simulation);
        assert!((ended[0].1 - 4.0).abs() < 1e-6, "{ended:?}");
    }

    #[test]
    fn a_host_that_has_slept_has_the_speed_of_the_date() {
        let mut platform = line(&[1e9, 1e9], 1e6, 0.0);
        let steps = vec![(0.0, 0.5), (1.0, 0.25), (2.0, 1.0), (9.0, 0.5)];
        let profile = migsim_platform::Profile::new(steps, None).unwrap();
        platform.hosts[0].speed_profile = Some(profile);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation.wait(Seconds::of(1.5), 'a');
        assert_eq!(simulation.next_ended().unwrap(), Some('a'));
        // From 1.5 to 2 s a quarter of the speed, 0.125e9; the rest at full speed.
        simulation
            .execute(HostId(0), Instructions::new(1e9).unwrap(), 'b')
            .unwrap();
        assert_eq!(run(&mut simulation), [('b', 2.875)]);
        let since_start = Availability::default();
        // 1 s of 0.5, 1 s of 0.25, 0.875 s of 1.
        let mean = simulation.mean_availability(HostId(0), since_start);
        assert_eq!(mean, 1.625 / 2.875);
        // Asleep or not, what comes next is known.
        assert_eq!(simulation.steady_until(&[HostId(0)]).unwrap().hosts, 9.0);
        assert_eq!(
            simulation.steady_until(&[HostId(1)]).unwrap().hosts,
            f64::INFINITY
        );
    }

    /// A host with half of its speed in the second half of each second.
    fn slow_in_half_of_each_second(speed: f64) -> Platform {
        let mut platform = line(&[speed], 1e6, 0.0);
        let steps = vec![(0.0, 1.0), (0.5, 0.5)];
        platform.hosts[0].speed_profile =
            Some(migsim_platform::Profile::new(steps, Some(1.0)).unwrap());
        platform
    }

    #[test]
    fn an_execution_ends_through_as_many_changes_as_are_allowed_and_no_more() {
        // 4 and 2 instructions in the halves of each second: the one after n changes, that of date 0 not counted, does what is behind 3 n.
        let platform = slow_in_half_of_each_second(8.0);
        for (changes, is_refused) in [(101.0, false), (102.0, true)] {
            let mut simulation = Simulation::new(&platform, NetworkModel::default());
            simulation.most_changes = 101;
            let work = Instructions::new(3.0 * changes + 2.0).unwrap();
            simulation.execute(HostId(0), work, 'a').unwrap();
            let ended = simulation.next_ended();
            assert_eq!(simulation.changed(), 102, "{changes}");
            assert_eq!(ended.is_err(), is_refused, "{changes}");
        }
    }

    #[test]
    fn a_host_that_sleeps_through_more_changes_than_anybody_can_wait_for_is_an_error() {
        let platform = slow_in_half_of_each_second(1e9);
        // 2 changes a second, from 0 s on.
        for (until, is_refused) in [(50.0, false), (60.0, true), (1e254, true)] {
            let mut simulation = Simulation::<char>::new(&platform, NetworkModel::default());
            simulation.most_changes = 101;
            assert!(simulation.pass(until, 0));
            let done = simulation.refresh(HostId(0));
            assert_eq!(done.is_err(), is_refused, "{until}");
            if let Err(error) = done {
                let error = error.to_string();
                assert!(error.contains("the speed of host `h0`"), "{error}");
            }
        }
    }

    #[test]
    fn a_capacity_of_zero_for_ever_is_an_error() {
        let mut platform = line(&[1e9], 1e6, 0.0);
        platform.hosts[0].speed_profile =
            Some(migsim_platform::Profile::new(vec![(1.0, 0.0)], None).unwrap());
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation
            .execute(HostId(0), Instructions::new(2e9).unwrap(), 'a')
            .unwrap();
        let error = simulation.next_ended().unwrap_err().to_string();
        assert!(
            error.contains("can ever end") && error.contains("host `h0`"),
            "{error}"
        );
    }

    #[test]
    fn executions_end_apart_however_short_or_long_they_are() {
        // One and two units of work on a host: half of it each for two units of time, then the rest alone.
        let platform = line(&[1e9], 1e6, 0.0);
        let ends = |work: f64| {
            let mut simulation = Simulation::new(&platform, NetworkModel::default());
            for (name, times) in [('a', 1.0), ('b', 2.0)] {
                let work = Instructions::new(times * work).unwrap();
                simulation.execute(HostId(0), work, name).unwrap();
            }
            run(&mut simulation)
        };
        for (work, unit) in [(8.0, 8e-9), (2e15, 2e6)] {
            let found = ends(work);
            let [(first, a), (second, b)] = found[..] else {
                panic!("{found:?}");
            };
            assert_eq!((first, second), ('a', 'b'));
            assert!((a / unit - 2.0).abs() < 1e-12, "{a}");
            assert!((b / unit - 3.0).abs() < 1e-12, "{b}");
        }
    }

    #[test]
    fn an_empty_message_passes_a_link_that_is_down() {
        for latency in [0.0, 0.5] {
            let mut platform = line(&[1e9, 1e9], 1e6, latency);
            platform.links[0].bandwidth_profile =
                Some(migsim_platform::Profile::new(vec![(0.0, 0.0)], None).unwrap());
            let mut simulation = Simulation::new(&platform, NetworkModel::default());
            simulation.wait(Seconds::of(1.0), 'w');
            assert_eq!(simulation.next_ended().unwrap(), Some('w'));
            simulation
                .send(HostId(0), HostId(1), Bytes::default(), 'm')
                .unwrap();
            assert_eq!(run(&mut simulation), [('m', 1.0 + 2.0 * latency)]);
        }
    }

    #[test]
    fn what_stands_still_for_ever_is_named_if_something_waits_for_it() {
        let stop = || Some(migsim_platform::Profile::new(vec![(1.0, 0.0)], None).unwrap());
        let mut platform = line(&[1e9; 3], 1e6, 0.0);
        platform.hosts[0].speed_profile = stop();
        platform.hosts[1].speed_profile = stop();
        platform.links[0].bandwidth_profile = stop();
        platform.links[2].bandwidth_profile = stop();
        // Nothing runs on h1, and nothing crosses l2; l1 could move what l0 holds back.
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation
            .execute(HostId(0), Instructions::new(2e9).unwrap(), 'a')
            .unwrap();
        let size = Bytes::new(2e6).unwrap();
        simulation.send(HostId(0), HostId(1), size, 'm').unwrap();
        let error = simulation.next_ended().unwrap_err().to_string();
        for (name, is_told) in [
            ("h0", true),
            ("h1", false),
            ("l0", true),
            ("l1", false),
            ("l2", false),
        ] {
            assert_eq!(
                error.contains(&format!("`{name}`")),
                is_told,
                "{name}: {error}"
            );
        }
    }

    #[test]
    fn over_no_time_a_host_was_available() {
        let mut platform = line(&[1e9], 1e6, 0.0);
        let profile = migsim_platform::Profile::new(vec![(0.0, 0.5)], None).unwrap();
        platform.hosts[0].speed_profile = Some(profile);
        let simulation = Simulation::<char>::new(&platform, NetworkModel::default());
        let mark = simulation.availability_mark(HostId(0));
        assert_eq!(simulation.mean_availability(HostId(0), mark), 1.0);
    }

    #[test]
    fn a_bandwidth_that_changes_cuts_no_latency_short_where_weights_do_not_depend_on_it() {
        // 1 s of latency; then 1e6 B at 5e5 B/s, as the link is from 0.25 s on.
        let mut platform = line(&[1e9, 1e9], 1e6, 0.5);
        let profile = migsim_platform::Profile::new(vec![(0.25, 5e5)], None).unwrap();
        platform.links[0].bandwidth_profile = Some(profile);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        let size = Bytes::new(1e6).unwrap();
        simulation.send(HostId(0), HostId(1), size, 'm').unwrap();
        assert_eq!(run(&mut simulation), [('m', 3.0)]);
    }

    #[test]
    fn a_flow_that_has_lost_its_latency_shares_as_one_without() {
        // The first flow moves from 0.5 s on; at 1.5 s both have 1e6 B left, and half of 1e6 B/s each.
        let mut platform = line(&[1e9; 3], 1e6, 0.0);
        platform.links[0].latency = Seconds::of(0.5);
        let profile = migsim_platform::Profile::new(vec![(1.0, 0.0)], None).unwrap();
        platform.links[0].latency_profile = Some(profile);
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        let mut send = |to: u32, size: f64, name: char, until: f64| {
            let size = Bytes::new(size).unwrap();
            simulation.send(HostId(0), HostId(to), size, name).unwrap();
            if until > 0.0 {
                simulation.wait(Seconds::of(until), 'w');
                assert_eq!(simulation.next_ended().unwrap(), Some('w'));
            }
        };
        send(1, 2e6, 'a', 1.5);
        send(2, 1e6, 'b', 0.0);
        let found = run(&mut simulation);
        assert!(
            found.iter().all(|(_, date)| (date - 3.5).abs() < 1e-9),
            "{found:?}"
        );
    }
}
