//! The simulation engine: starts activities, advances time and ends activities.
//!
//! There are three kinds of activity: an execution (computation) on a host, a flow between two hosts, and a waiting time. Each
//! activity has a token, by which the caller that started it recognises the activity. [`Simulation::next_ended`] advances to the
//! next time at which an activity ends and returns the tokens one by one. At each simulated time, activities end first, then
//! capacities change, then the caller reacts and starts new activities, and finally rates are computed.

mod direct;
mod errors;
mod packet;

use std::fmt;

use super::{
    activity::{ActivityEvent, MessageOptions},
    clock::{Clock, last_simultaneous_time},
    connections::MessageEnds,
    cpu::{Cpus, HostQuantity},
    event::{Event, EventList},
    model::NetworkModel,
    profile::{CapacityChange, CapacitySchedule, ChangingQuantity},
    transport::{Message, Transport, new_network, packet_count_if_too_large},
};
use direct::Direct;
pub use direct::{Activities, Evaluated};
use errors::{TIME_TOO_LARGE_HINT, TOO_MANY_CHANGES_HINT};
use migsim_base::{
    error::Result,
    units::{Bytes, HostId, Instructions, LinkId, Seconds, Time},
};
use migsim_platform::{Platform, Route};
pub use packet::Packet;

/// A simulation of the hosts and links of a platform. `T` is the type of the token by which the owner of an activity recognises
/// the activity.
#[derive(Debug)]
pub struct Simulation<'p, T> {
    platform: &'p Platform,
    clock: Clock,
    event_list: EventList<T>,
    cpus: Cpus<T>,
    network: Box<dyn Transport<T> + 'p>,
    capacity_schedule: CapacitySchedule,
    /// Tokens of the activities that have ended at the current time and have not been returned yet, in reverse order.
    ended_tokens: Vec<T>,
    started_flow_count: u64,
    direct: Option<Box<Direct>>,
    /// The links whose capacity or latency has changed since `direct` was last updated; at most as many as there are links.
    changed_links: Vec<LinkId>,
    /// Absolute time until which the bandwidth of no link changes \[s\]; a past time if this is not known.
    bandwidths_constant_until: f64,
    /// Maximum number of capacity changes in a row during which no activity ends: `MAX_CHANGES_WITHOUT_END`, or a smaller number
    /// in tests.
    max_changes_without_end: u64,
    /// Maximum number of changes of one capacity during which no activity uses it: `MAX_UNUSED_CHANGES`, or a smaller number in
    /// tests.
    max_unused_changes: u64,
    activities: Option<Vec<(Time, ActivityEvent<T>)>>,
}

/// Maximum number of capacity changes in a row while no activity progresses; a run with more changes ends with an error, because
/// it would never end otherwise.
const MAX_CHANGES_WITHOUT_PROGRESS: u64 = 1_000_000;
/// Maximum number of capacity changes in a row during which no activity ends. 20 million changes take ten seconds of computing time
/// if each changes the rates of flows.
const MAX_CHANGES_WITHOUT_END: u64 = 20_000_000;
/// Maximum number of changes of one capacity while no activity uses it; such changes take less computing time.
const MAX_UNUSED_CHANGES: u64 = 200_000_000;

impl<'p, T: Copy + 'p> Clone for Simulation<'p, T> {
    /// Returns a copy of the simulation, which continues independently from the present simulated time.
    fn clone(&self) -> Self {
        Self {
            platform: self.platform,
            clock: self.clock,
            event_list: self.event_list.clone(),
            cpus: self.cpus.clone(),
            network: self.network.boxed_clone(),
            capacity_schedule: self.capacity_schedule.clone(),
            ended_tokens: self.ended_tokens.clone(),
            direct: self.direct.clone(),
            changed_links: self.changed_links.clone(),
            activities: self.activities.clone(),
            ..*self
        }
    }
}

impl<'p, T: Copy + fmt::Debug + Send + 'p> Simulation<'p, T> {
    /// Creates a simulation of `platform` without activities, at time 0.
    pub fn new(platform: &'p Platform, model: NetworkModel) -> Self {
        let mut simulation = Self {
            platform,
            clock: Clock::default(),
            event_list: EventList::new(),
            cpus: Cpus::new(platform, model.has_processor_times()),
            network: new_network(platform, model),
            capacity_schedule: CapacitySchedule::new(platform),
            ended_tokens: Vec::new(),
            started_flow_count: 0,
            direct: None,
            changed_links: Vec::new(),
            bandwidths_constant_until: f64::NEG_INFINITY,
            max_changes_without_end: MAX_CHANGES_WITHOUT_END,
            max_unused_changes: MAX_UNUSED_CHANGES,
            activities: None,
        };
        // A change at time 0 holds for activities that start at time 0.
        while simulation.capacity_schedule.next_change_time() <= 0.0 {
            simulation.apply_next_change();
        }
        simulation
    }

    /// Lets [`Self::take_activities`] return the activities from now on.
    pub fn record_activities(&mut self) {
        self.activities = Some(Vec::new());
    }

    /// Returns the activities that have started or ended since the last call, in order, with their times.
    pub fn take_activities(&mut self) -> Vec<(Time, ActivityEvent<T>)> {
        self.activities
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    #[inline]
    fn record(&mut self, event: ActivityEvent<T>) {
        if let Some(activities) = &mut self.activities {
            activities.push((self.clock.now(), event));
        }
    }

    /// Returns the current instant of simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the current local time \[s\], which is counted from the last successful call of `try_move_time_origin_to_now` or
    /// from the start of the run.
    pub fn local_time(&self) -> f64 {
        self.clock.local_time()
    }

    /// Makes the current instant the zero of local time if no activity is in progress; returns whether the zero was moved.
    ///
    /// From then on the simulation depends only on the state of the platform, not on the time: equal activities have equal
    /// durations to the last bit.
    #[inline]
    pub fn try_move_time_origin_to_now(&mut self) -> bool {
        let is_idle = self.is_idle();
        if is_idle {
            let elapsed = self.clock.local_time();
            self.clock.move_origin_to_now();
            self.network.reset();
            self.network.network_state_mut().shift_time_origin(elapsed);
        }
        is_idle
    }

    /// Whether no activity is in progress.
    pub fn is_idle(&self) -> bool {
        self.event_list.is_empty()
            && self.ended_tokens.is_empty()
            && !self.network.has_unscheduled_ends()
    }

    /// Advances the simulated time by `duration` \[s\], in which `flows` flows took place that were computed without events;
    /// returns whether time was advanced. Time is not advanced if an activity is in progress or the new time would be infinite.
    pub fn try_advance_time(&mut self, duration: f64, flows: u64) -> bool {
        let date = self.clock.local_time() + duration;
        let can_pass = self.is_idle() && self.clock.is_absolute_time_finite(date);
        if can_pass {
            self.capacity_schedule.put_all_capacities_to_sleep();
            self.clock.advance_to(date);
            self.started_flow_count += flows;
        }
        can_pass
    }

    /// Starts an execution of `work` \[instructions\] on a host; the executions on a host share its cores.
    ///
    /// # Errors
    /// There are too many due changes of the host's speed to apply in reasonable time.
    pub fn execute(&mut self, host: HostId, work: Instructions, token: T) -> Result {
        self.start_execution((host, false), work, token)
    }

    /// Starts an execution on the cores of a host that its other executions leave, for messages that have been delivered; the
    /// network must have processor times.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub fn execute_receive(&mut self, host: HostId, work: Instructions, token: T) -> Result {
        self.start_execution((host, true), work, token)
    }

    fn start_execution(
        &mut self,
        (host, is_receive): (HostId, bool),
        work: Instructions,
        token: T,
    ) -> Result {
        self.record(ActivityEvent::Execution(host, token));
        if !self.capacity_schedule.is_empty() {
            self.apply_due_speed_changes(host)?;
            self.capacity_schedule.wake_host(host);
        }
        let now = self.clock.local_time();
        let place = (host, is_receive);
        self.cpus
            .start_execution(place, work.get(), token, now, &mut self.event_list);
        Ok(())
    }

    /// Starts a flow of `size` bytes from one host to another; `token` identifies the flow when it ends.
    ///
    /// # Errors
    /// The platform has no route between the hosts; or there are too many due changes of a bandwidth to apply in reasonable time.
    pub fn send(&mut self, from: HostId, to: HostId, size: Bytes, token: T) -> Result {
        self.send_message((from, to), size, MessageOptions::default(), token)
    }

    /// Starts a flow as [`Self::send`] does, with these options; `hosts` are the hosts of sender and receiver.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_message(
        &mut self,
        hosts: (HostId, HostId),
        size: Bytes,
        options: MessageOptions,
        token: T,
    ) -> Result {
        let ends = MessageEnds {
            hosts,
            processes: options.processes,
        };
        self.record(ActivityEvent::Message(ends, size, options, token));
        self.start_message(Message {
            platform: self.platform,
            ends,
            bytes: size.get(),
            has_handshake: options.has_handshake,
            added_delay: if options.is_delayed_by_ends {
                self.delay_by_ends(hosts, size)
            } else {
                0.0
            },
            delay_factor: options.delay_factor,
            token,
        })
    }

    fn start_message(&mut self, message: Message<'p, T>) -> Result {
        let Message { ends, token, .. } = message;
        let (from, to) = ends.hosts;
        let size = Bytes::of(message.bytes);
        self.started_flow_count += 1;
        let now = self.clock.local_time();
        if from == to && !self.platform.has_loopback_route(from) {
            let end = now
                + self
                    .network
                    .network_state()
                    .loopback_duration(size.get(), message.delay_factor)
                + message.added_delay * message.delay_factor;
            self.event_list.push(end, Event::WaitEnd(token));
            return Ok(());
        }
        let Some(route) = self.platform.route(from, to) else {
            return Err(self.no_route_error(from, to));
        };
        if self.capacity_schedule.has_varying_bandwidths() {
            self.wake_links_on_route(&route)?;
            if self.network.network_state().model.crosstraffic
                && let Some(back) = self.platform.route(to, from)
            {
                self.wake_links_on_route(&back)?;
            }
        }
        let model = &self.network.network_state().model;
        if model.queues
            && let Some(packets) = packet_count_if_too_large(model, size.get())
        {
            return Err(self.too_many_packets_error(size, packets));
        }
        self.network
            .start_message(&message, &route, now, &mut self.event_list);
        Ok(())
    }

    /// Adds a number of flows that were computed without events to the number of flows started.
    pub fn add_to_flow_count(&mut self, flows: u64) {
        self.started_flow_count += flows;
    }

    /// Starts a waiting time of the given duration; `token` identifies it when it ends.
    pub fn start_wait(&mut self, duration: Seconds, token: T) {
        self.record(ActivityEvent::Wait(token));
        self.event_list.push(
            self.clock.local_time() + duration.get(),
            Event::WaitEnd(token),
        );
    }

    /// Advances to the next time at which an activity ends, and returns the token of this activity; `None` if no activity is in
    /// progress. Activities that end at the same time are returned by successive calls.
    ///
    /// # Errors
    /// Activities are in progress, but none can ever end: a capacity is zero and does not change, or the time exceeds the largest
    /// number.
    pub fn next_ended(&mut self) -> Result<Option<T>> {
        let ended = self.find_next_ended()?;
        if let Some(token) = ended {
            self.record(ActivityEvent::End(token));
        }
        Ok(ended)
    }

    fn find_next_ended(&mut self) -> Result<Option<T>> {
        let mut changes = 0_u64;
        let mut idle_changes = 0_u64;
        loop {
            if let Some(token) = self.ended_tokens.pop() {
                return Ok(Some(token));
            }
            self.network
                .update_rates(self.clock.local_time(), &mut self.event_list);
            let end = self.network.next_unscheduled_end();
            let date = match self.event_list.next_event_time() {
                Some(date) => date.min(end),
                None if self.network.has_unscheduled_ends() => end,
                None => return Ok(None),
            };
            let change = self
                .clock
                .to_local(self.capacity_schedule.next_change_time());
            if !self.clock.is_absolute_time_finite(date.min(change)) {
                let what = "no computation or transfer in progress can ever end";
                return Err(self.stuck_simulation_error(what, TIME_TOO_LARGE_HINT));
            }
            if change >= date {
                self.clock.advance_to(date);
                self.end_activities_and_apply_changes(date);
                continue;
            }
            changes += 1;
            // While an activity progresses towards its end, a change does not count as idle.
            idle_changes = if date.is_finite() {
                0
            } else {
                idle_changes + 1
            };
            if idle_changes > MAX_CHANGES_WITHOUT_PROGRESS {
                let what = "no computation or transfer makes progress, although speeds and bandwidths keep changing";
                return Err(self.stuck_simulation_error(what, TOO_MANY_CHANGES_HINT));
            }
            if changes > self.max_changes_without_end {
                return Err(self.stuck_simulation_error(
                    "speeds or bandwidths change so often that no computation or transfer ends",
                    TOO_MANY_CHANGES_HINT,
                ));
            }
            self.clock.advance_to(change);
            // All changes of this time are applied before the links are shared again.
            let until = last_simultaneous_time(change);
            self.apply_next_change();
            while self
                .clock
                .to_local(self.capacity_schedule.next_change_time())
                <= until
            {
                changes += 1;
                self.apply_next_change();
            }
        }
    }

    /// Moves to `taken` those tokens of activities ended at the current time for which `wanted` returns true, in the order in
    /// which [`Self::next_ended`] would return them.
    pub fn take_ended_tokens(&mut self, wanted: impl Fn(&T) -> bool, taken: &mut Vec<T>) {
        let before = taken.len();
        taken.extend(self.ended_tokens.extract_if(.., |token| wanted(token)));
        taken[before..].reverse();
        for token in &taken[before..] {
            self.record(ActivityEvent::End(*token));
        }
    }

    /// Whether any activity has ended at the current time whose token has not been returned yet.
    pub fn has_unreturned_tokens(&self) -> bool {
        !self.ended_tokens.is_empty()
    }

    /// Returns a description of the first violated invariant of the engine; `None` in a correct program.
    pub fn describe_first_violation(&self) -> Option<String> {
        if self.clock.has_rejected_earlier_time() {
            return Some("time went back".to_owned());
        }
        let of_direct = self
            .direct
            .as_ref()
            .and_then(|direct| direct.first_violation());
        let fault = self
            .cpus
            .first_violation
            .or(self.network.first_violation())
            .or(of_direct);
        fault.map(|fault| fault.description(self.platform))
    }

    /// Returns the number of flows that have been started so far.
    pub fn started_flow_count(&self) -> u64 {
        self.started_flow_count
    }

    fn apply_due_speed_changes(&mut self, host: HostId) -> Result {
        let clock = self.clock;
        let until = last_simultaneous_time(clock.local_time());
        let is_due = |date| clock.to_local(date) <= until;
        let most = self.max_unused_changes;
        let mut count = 0;
        for quantity in [HostQuantity::Available, HostQuantity::BusyCores] {
            count += self.capacity_schedule.apply_due_changes_of_host(
                host,
                quantity,
                most.saturating_add(1),
                is_due,
                self.cpus.setter_if_idle(host.index(), quantity),
            );
        }
        if count > most {
            let name = &self.platform.hosts[host.index()].name;
            let what = format!("the speed of host `{name}` has changed");
            return Err(self.too_many_changes_error(&what, "no process computed there"));
        }
        Ok(())
    }

    /// Applies to a link the last change of its bandwidth up to the local time `until` \[s\], and returns the absolute time of
    /// the next change \[s\]. The link must have had no flow since the previous change.
    fn apply_last_due_bandwidth_change(&mut self, link: LinkId, until: f64) -> Result<f64> {
        let clock = self.clock;
        let is_due = |date| clock.to_local(date) <= until;
        let Ok(change) = self.capacity_schedule.take_last_due_change_of_link(
            link,
            self.max_unused_changes,
            is_due,
        ) else {
            let name = &self.platform.links[link.index()].name;
            let what = format!("the bandwidth of link `{name}` has changed");
            return Err(self.too_many_changes_error(&what, "it carried no flow"));
        };
        if let Some(change) = change {
            self.apply_capacity_change(change);
        }
        Ok(self.capacity_schedule.next_change_time_of_link(link))
    }

    /// Applies all due bandwidth changes to the links on a route, and wakes these links.
    fn wake_links_on_route(&mut self, route: &Route<'_>) -> Result {
        let until = last_simultaneous_time(self.clock.local_time());
        for link in route.links() {
            self.apply_last_due_bandwidth_change(link, until)?;
            self.capacity_schedule.wake_link(link);
        }
        Ok(())
    }

    /// Returns the means from the time of `since` until now of the available fraction of a host's speed and of the number of cores
    /// that other work keeps busy; 1 and the busy cores of the whole run if no time has passed.
    ///
    /// # Errors
    /// There are too many changes of the host to apply in reasonable time.
    pub fn mean_load_state(
        &mut self,
        host: HostId,
        since: AvailabilityIntervalStart,
    ) -> Result<[f64; 2]> {
        let now = self.start_availability_interval(host)?;
        let duration = now.start_time - since.start_time;
        if duration <= 0.0 {
            return Ok([1.0, self.platform.hosts[host.index()].busy_cores]);
        }
        Ok([0, 1].map(|at| (now.integrals[at] - since.integrals[at]) / duration))
    }

    /// Returns the fraction of a host's speed that is available at the present time, and the number of cores that other work keeps
    /// busy.
    ///
    /// # Errors
    /// As [`Self::mean_load_state`].
    pub fn load_state(&mut self, host: HostId) -> Result<[f64; 2]> {
        self.apply_due_speed_changes(host)?;
        Ok(self.cpus.load_state(host.index()))
    }

    /// Returns the start of an interval at the present time, from which [`Self::mean_load_state`] later computes the means.
    ///
    /// # Errors
    /// As [`Self::mean_load_state`].
    pub fn start_availability_interval(
        &mut self,
        host: HostId,
    ) -> Result<AvailabilityIntervalStart> {
        self.apply_due_speed_changes(host)?;
        let start_time = self.now().get();
        Ok(AvailabilityIntervalStart {
            start_time,
            integrals: self.cpus.load_integrals(host.index(), start_time),
        })
    }

    /// Returns the capacity \[B/s\] and the latency \[s\] of a link at the present time.
    pub fn capacity_and_latency(&self, link: LinkId) -> (f64, f64) {
        self.network
            .network_state()
            .capacity_and_latency(link.index())
    }

    /// Processes the next event of the event list, at the time `date`. Adds the tokens of executions that end to the list of
    /// ended activities; returns the token of any other activity that ends.
    #[inline]
    fn process_next_event(&mut self, date: f64) -> Option<T> {
        let (_, event) = self.event_list.pop()?;
        match event {
            Event::ExecutionEnd(host) | Event::ReceiveEnd(host) => {
                let ended = &mut self.ended_tokens;
                let place = (HostId(host), matches!(event, Event::ReceiveEnd(_)));
                self.cpus
                    .end_executions(place, date, &mut self.event_list, |token| {
                        ended.push(token);
                    });
                None
            }
            Event::NetworkStep(step) => {
                self.network
                    .perform_message_step(step, date, &mut self.event_list)
            }
            Event::WaitEnd(token) => Some(token),
        }
    }

    /// Ends all activities that end at the local time `date` \[s\], and applies the capacity changes of that time.
    fn end_activities_and_apply_changes(&mut self, date: f64) {
        let until = last_simultaneous_time(date);
        while self
            .event_list
            .next_event_time()
            .is_some_and(|next| next <= until)
        {
            let token = self.process_next_event(date);
            self.ended_tokens.extend(token);
        }
        if self.network.next_unscheduled_end() <= until {
            self.network
                .end_unscheduled_messages(date, &mut self.ended_tokens);
        }
        while self
            .clock
            .to_local(self.capacity_schedule.next_change_time())
            <= until
        {
            self.apply_next_change();
        }
        self.ended_tokens.reverse();
    }

    fn apply_next_change(&mut self) {
        let is_needed = |target| match target {
            ChangingQuantity::Host(host, _) => self.cpus.is_busy(host.index()),
            ChangingQuantity::Bandwidth(link) | ChangingQuantity::Latency(link) => {
                self.network.network_state().is_link_used(link.index())
            }
        };
        if let Some(change) = self.capacity_schedule.take_next_change(is_needed) {
            self.apply_capacity_change(change);
        }
    }

    fn apply_capacity_change(&mut self, change: CapacityChange) {
        let is_new = match change.changing_quantity {
            ChangingQuantity::Host(..) => true,
            ChangingQuantity::Bandwidth(link) => {
                self.capacity_and_latency(link).0 != change.new_value
            }
            ChangingQuantity::Latency(link) => {
                self.capacity_and_latency(link).1 != change.new_value
            }
        };
        if !is_new {
            return;
        }
        if let ChangingQuantity::Bandwidth(link) | ChangingQuantity::Latency(link) =
            change.changing_quantity
            && self.changed_links.len() < self.platform.links.len()
        {
            self.changed_links.push(link);
        }
        match change.changing_quantity {
            ChangingQuantity::Host(host, quantity) => {
                let dates = (self.clock.local_time(), change.time);
                let change = (quantity, change.new_value);
                self.cpus
                    .set_quantity(host, change, dates, &mut self.event_list);
            }
            ChangingQuantity::Bandwidth(link) => {
                self.network.set_capacity(
                    link.index(),
                    change.new_value,
                    self.clock.local_time(),
                    &mut self.event_list,
                );
            }
            ChangingQuantity::Latency(link) => {
                self.network.set_latency(
                    link.index(),
                    change.new_value,
                    self.clock.local_time(),
                    &mut self.event_list,
                );
            }
        }
    }
}

/// Start of an interval over which the load state of a host is averaged: a time, and the integrals up to this time.
#[derive(Clone, Copy, Debug, Default)]
pub struct AvailabilityIntervalStart {
    start_time: f64,
    integrals: [f64; 2],
}

#[cfg(test)]
mod tests;
