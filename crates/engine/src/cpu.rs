//! Hosts: the executions (computations of processes) on a host share the cores of the host equally.
//!
//! With speed s (the present speed, which the profile of the host may reduce), c cores, n executions, and other work that keeps L
//! cores busy, each execution progresses at `s · min(1, c / (n + L))`: the system divides the cores equally among all that is
//! ready to run, and nothing runs on more than one core. Since all executions of a host progress at the same rate, it suffices to store one attained
//! service V \[instructions\] per host. An execution that starts at service V with work w ends when the service reaches V + w.
//!
//! Receives are executions that use the cores that other executions leave: with p of these, `c - p`, or c L / (p + L) if p + L
//! exceeds c.
//! Cost: O(log n) to insert an execution, and one event per host.

use super::{
    checks::{InvariantViolation, is_explained_by_rounding},
    clock::SAME_TIME_TOLERANCE,
    event::{Event, EventList},
    queue::EventKey,
};
use migsim_base::units::HostId;
use migsim_platform::{Host, Platform};

#[derive(Clone, Copy, Debug)]
struct Execution<T> {
    target_service: f64,
    token: T,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cpu<T> {
    /// Nominal speed of a core \[instructions/s\].
    core_speed: f64,
    /// Available fraction of the speed.
    available: Level,
    /// Number of cores that other work keeps busy.
    busy_cores: Level,
    core_count: f64,
    /// Number of executions that go first, which are not in the list.
    prior_executions: f64,
    /// Instructions that each running execution would have executed if it had run since the host was last idle: V in the
    /// equations of the module \[instructions\].
    attained_service: f64,
    /// Local time at which the attained service was last computed \[s\].
    last_update_time: f64,
    /// The executions on the host, in decreasing order of the service at which they end. Among executions that end at the same
    /// service, an execution that started later comes first, since executions are removed from the end of the list.
    executions: Vec<Execution<T>>,
    end_event: Option<EventKey>,
}

/// A quantity of a host that changes over time, and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    value: f64,
    /// Integral of the value from the start of the run to the time up to which the value has been integrated \[s\].
    integral: f64,
    /// Absolute time up to which the value has been integrated \[s\].
    integrated_until: f64,
}

impl Level {
    fn new(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// Integrates the value up to the absolute time `absolute` \[s\], and changes it.
    #[inline]
    fn integrate_and_set(&mut self, absolute: f64, value: f64) {
        self.integral = self.integral_until(absolute);
        self.integrated_until = absolute;
        self.value = value;
    }

    fn integral_until(&self, absolute: f64) -> f64 {
        self.integral + self.value * (absolute - self.integrated_until)
    }
}

/// What a host leaves to the application, apart from its nominal speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HostQuantity {
    /// The available fraction of the speed.
    Available,
    /// The number of cores that other work keeps busy.
    BusyCores,
}

impl<T: Copy> Cpu<T> {
    pub(super) fn new(host: &Host) -> Self {
        Self {
            core_speed: host.speed.get(),
            available: Level::new(1.0),
            busy_cores: Level::new(host.busy_cores),
            core_count: f64::from(host.cores),
            prior_executions: 0.0,
            attained_service: 0.0,
            last_update_time: 0.0,
            executions: Vec::new(),
            end_event: None,
        }
    }

    /// Makes these idle processors like those of `other`, at local time 0; their memory is used again.
    pub(super) fn reset_like<O>(&mut self, other: &Cpu<O>) {
        self.executions.clear();
        *self = Self {
            core_speed: other.core_speed,
            available: other.available,
            busy_cores: other.busy_cores,
            core_count: other.core_count,
            prior_executions: 0.0,
            executions: std::mem::take(&mut self.executions),
            attained_service: 0.0,
            last_update_time: 0.0,
            end_event: None,
        };
    }

    /// Returns the speed at which each execution on the host progresses \[instructions/s\].
    fn execution_rate(&self) -> f64 {
        let running = self.executions.len() as f64 + self.busy_cores.value;
        self.core_speed * self.available.value * (self.core_count_left() / running).min(1.0)
    }

    /// Returns the number of cores that the executions that go first leave.
    fn core_count_left(&self) -> f64 {
        let prior = self.prior_executions;
        let busy = self.busy_cores.value;
        if prior <= 0.0 {
            self.core_count
        } else if prior + busy <= self.core_count {
            self.core_count - prior
        } else {
            self.core_count * busy / (prior + busy)
        }
    }

    /// Whether each of `count` executions has a core to itself.
    pub(super) fn has_cores_for(&self, count: usize) -> bool {
        count as f64 + self.busy_cores.value <= self.core_count
    }

    /// Adds `more` to the number of executions that go first, at the local time `now` \[s\].
    pub(super) fn add_prior_executions(&mut self, more: f64, now: f64) {
        self.advance_to(now);
        self.prior_executions += more;
    }

    /// Returns the speed at which an execution progresses that is alone on the host \[instructions/s\].
    #[inline]
    pub(super) fn speed_of_one(&self) -> f64 {
        let speed = self.core_speed * self.available.value;
        if self.busy_cores.value <= 0.0 {
            return speed;
        }
        speed * (self.core_count / (1.0 + self.busy_cores.value)).min(1.0)
    }

    fn advance_to(&mut self, now: f64) {
        if !self.executions.is_empty() {
            self.attained_service += self.execution_rate() * (now - self.last_update_time);
        }
        self.last_update_time = now;
    }

    /// Starts an execution of `work` \[instructions\] at the local time `now` \[s\].
    pub(super) fn start_execution(&mut self, work: f64, token: T, now: f64) {
        self.advance_to(now);
        let target_service = self.attained_service + work;
        let list = &mut self.executions;
        let place = list.partition_point(|other| other.target_service > target_service);
        list.insert(
            place,
            Execution {
                target_service,
                token,
            },
        );
    }

    /// Returns the local time at which the next execution ends \[s\]; `None` without an execution.
    pub(super) fn next_end_time(&self) -> Option<f64> {
        self.executions.last().map(|first| {
            let left = (first.target_service - self.attained_service).max(0.0);
            let rate = self.execution_rate();
            if left <= 0.0 {
                self.last_update_time // nothing is left to do, even on a host that stands still
            } else if rate > 0.0 {
                self.last_update_time + left / rate
            } else {
                f64::INFINITY
            }
        })
    }

    /// Ends the executions that end at `now`, the time of the next end \[s\].
    pub(super) fn end_executions(&mut self, now: f64, mut ended: impl FnMut(T)) {
        let rate = self.execution_rate();
        self.attained_service = self
            .executions
            .last()
            .map_or(self.attained_service, |next| next.target_service);
        self.last_update_time = now;
        while let Some(next) = self.executions.last() {
            let left = next.target_service - self.attained_service;
            if left > 0.0 && left / rate > SAME_TIME_TOLERANCE * now {
                break;
            }
            ended(next.token);
            self.executions.pop();
        }
    }

    /// Changes a quantity of the host at the local time `now` \[s\].
    pub(super) fn set_quantity(&mut self, quantity: HostQuantity, value: f64, now: f64) {
        self.advance_to(now);
        self.level_mut(quantity).value = value;
    }

    #[inline]
    fn level_mut(&mut self, quantity: HostQuantity) -> &mut Level {
        match quantity {
            HostQuantity::Available => &mut self.available,
            HostQuantity::BusyCores => &mut self.busy_cores,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Cpus<T> {
    cpus: Vec<Cpu<T>>,
    /// The receives of each host; empty in a network whose messages take no processor time.
    receiving: Vec<Cpu<T>>,
    /// The first violated invariant of an execution; `None` if there is none.
    pub first_violation: Option<InvariantViolation>,
}

impl<T: Copy> Cpus<T> {
    pub(super) fn new(platform: &Platform, has_receives: bool) -> Self {
        let cpus: Vec<_> = platform.hosts.iter().map(Cpu::new).collect();
        Self {
            receiving: if has_receives {
                cpus.clone()
            } else {
                Vec::new()
            },
            cpus,
            first_violation: None,
        }
    }

    /// Starts an execution of `work` instructions on a host at local time `now` \[s\], or a receive; `token` identifies the
    /// execution when it ends.
    pub(super) fn start_execution(
        &mut self,
        (host, is_receive): (HostId, bool),
        work: f64,
        token: T,
        now: f64,
        events: &mut EventList<T>,
    ) {
        if is_receive {
            self.update_receives(host, now, events);
            let cpu = &mut self.receiving[host.index()];
            cpu.start_execution(work, token, now);
            schedule_next_end(cpu, Event::ReceiveEnd(host.0), events);
            return;
        }
        let cpu = &mut self.cpus[host.index()];
        cpu.start_execution(work, token, now);
        schedule_next_end(cpu, Event::ExecutionEnd(host.0), events);
        self.update_receives(host, now, events);
    }

    /// Gives the receives on a host the cores that its executions leave.
    fn update_receives(&mut self, host: HostId, now: f64, events: &mut EventList<T>) {
        let Some(receiving) = self.receiving.get_mut(host.index()) else {
            return;
        };
        let cpu = &self.cpus[host.index()];
        receiving.advance_to(now);
        (receiving.available, receiving.busy_cores) = (cpu.available, cpu.busy_cores);
        receiving.prior_executions = cpu.executions.len() as f64;
        schedule_next_end(receiving, Event::ReceiveEnd(host.0), events);
    }

    /// Ends the executions, or the receives, on a host whose end times count as simultaneous with local time `now` \[s\], and
    /// passes their tokens to `ended`.
    pub(super) fn end_executions(
        &mut self,
        (host, is_receive): (HostId, bool),
        now: f64,
        events: &mut EventList<T>,
        ended: impl FnMut(T),
    ) {
        let (cpu, event) = if is_receive {
            (&mut self.receiving[host.index()], Event::ReceiveEnd(host.0))
        } else {
            (&mut self.cpus[host.index()], Event::ExecutionEnd(host.0))
        };
        cpu.end_event = None; // it has just been popped
        if cfg!(debug_assertions)
            && let Some(first) = cpu.executions.last().map(|next| next.target_service)
        {
            let rate = cpu.execution_rate();
            let done = cpu.attained_service + rate * (now - cpu.last_update_time);
            let is_right = is_explained_by_rounding(first - done, first, rate, now);
            let fault = (!is_right).then_some(InvariantViolation::WorkNotConserved(host.0));
            self.first_violation = self.first_violation.or(fault);
        }
        cpu.end_executions(now, ended);
        if cpu.executions.is_empty() {
            cpu.attained_service = 0.0;
        }
        schedule_next_end(cpu, event, events);
        if !is_receive {
            self.update_receives(host, now, events);
        }
    }

    /// Changes a quantity of a host to `value`, at an instant given both as local time `now` \[s\] and as absolute time `absolute`
    /// \[s\].
    #[inline]
    pub(super) fn set_quantity(
        &mut self,
        host: HostId,
        (quantity, value): (HostQuantity, f64),
        (now, absolute): (f64, f64),
        events: &mut EventList<T>,
    ) {
        let cpu = &mut self.cpus[host.index()];
        cpu.advance_to(now);
        cpu.level_mut(quantity).integrate_and_set(absolute, value);
        if cpu.end_event.is_some() || !cpu.executions.is_empty() {
            schedule_next_end(cpu, Event::ExecutionEnd(host.0), events);
        }
        self.update_receives(host, now, events);
    }

    /// Returns a function that changes a quantity of an idle host. The arguments of the function are the absolute time of the
    /// change \[s\] and the new value.
    pub(super) fn setter_if_idle(
        &mut self,
        host: usize,
        quantity: HostQuantity,
    ) -> impl FnMut(f64, f64) + '_ {
        let cpu = &mut self.cpus[host];
        move |absolute, value| {
            debug_assert!(
                cpu.executions.is_empty() && cpu.end_event.is_none(),
                "it is idle"
            );
            cpu.level_mut(quantity).integrate_and_set(absolute, value);
        }
    }

    pub(super) fn is_busy(&self, host: usize) -> bool {
        let mut cpus = [self.cpus.get(host), self.receiving.get(host)].into_iter();
        cpus.any(|cpu| cpu.is_some_and(|cpu| !cpu.executions.is_empty()))
    }

    pub(super) fn cpu(&self, host: HostId) -> &Cpu<T> {
        &self.cpus[host.index()]
    }

    /// Returns the available fraction of the speed of a host and the number of its busy cores.
    pub(super) fn load_state(&self, host: usize) -> [f64; 2] {
        let cpu = &self.cpus[host];
        [cpu.available.value, cpu.busy_cores.value]
    }

    /// Returns the integrals over time \[s\] of the available fraction of a host's speed and of the number of its busy cores, from
    /// the start of the run to the absolute time `absolute` \[s\].
    pub(super) fn load_integrals(&self, host: usize, absolute: f64) -> [f64; 2] {
        let cpu = &self.cpus[host];
        [cpu.available, cpu.busy_cores].map(|level| level.integral_until(absolute))
    }

    /// Returns the hosts that have executions although their speed is zero at the present time, so that no execution can end.
    pub(super) fn hosts_with_stopped_executions(&self) -> impl Iterator<Item = usize> + '_ {
        let is_stopped = |cpu: &Cpu<T>| !cpu.executions.is_empty() && cpu.execution_rate() <= 0.0;
        let cpus = move |host| [self.cpus.get(host), self.receiving.get(host)];
        (0..self.cpus.len()).filter(move |&host| cpus(host).into_iter().flatten().any(is_stopped))
    }
}

/// Schedules the event of a host for the time at which the next execution ends, or cancels the event if no execution will end.
fn schedule_next_end<T: Copy>(cpu: &mut Cpu<T>, end: Event<T>, events: &mut EventList<T>) {
    match (cpu.end_event, cpu.next_end_time()) {
        (Some(key), Some(date)) => events.reschedule(key, date),
        (None, Some(date)) => cpu.end_event = Some(events.push(date, end)),
        (Some(key), None) => {
            events.cancel(key);
            cpu.end_event = None;
        }
        (None, None) => {}
    }
}
