//! Hosts: the executions (computations of processes) on a host share the cores of the host equally.
//!
//! With speed s (the present speed, which the profile of the host may reduce), c cores and n executions, each execution
//! progresses at `s · min(1, c/n)`. Since all executions of a host progress at the same rate, it suffices to store one attained
//! service V \[instructions\] per host. An execution that starts at service V with work w ends when the service reaches V + w.
//! Cost: O(log n) to insert an execution, and one event per host.

use super::checks::{Fault, is_used_up};
use super::clock::SAME_DATE;
use super::queue::{EventQueue, Key};
use migsim_base::units::HostId;
use migsim_platform::Platform;

/// The computation of a process that runs on a host at present.
#[derive(Clone, Copy, Debug)]
struct Execution<T> {
    target: f64,
    token: T,
}

#[derive(Clone, Debug)]
struct Cpu<T> {
    /// Nominal speed of a core \[instructions/s\].
    speed: f64,
    /// Fraction of the nominal speed that is available at the present time, from 0 to 1.
    available: f64,
    /// Number of cores of the host.
    cores: f64,
    /// Instructions that each running execution would have executed if it had run since the host was last idle: V in the
    /// equations of the module \[instructions\].
    service: f64,
    /// Local time at which the attained service was last computed \[s\].
    updated: f64,
    /// The executions on the host, in decreasing order of the service at which they end. Among executions that end at the same
    /// service, those that started later come first, since executions are removed from the end of the list.
    running: Vec<Execution<T>>,
    event: Option<Key>,
    /// Integral of the available fraction of the speed over time, from the start of the run to the time `integrated_until` \[s\].
    availability_integral: f64,
    /// Absolute time up to which the available fraction of the speed has been integrated \[s\].
    integrated_until: f64,
}

impl<T> Cpu<T> {
    /// Returns the speed at which each execution on the host progresses \[instructions/s\].
    fn rate(&self) -> f64 {
        self.speed * self.available * (self.cores / self.running.len() as f64).min(1.0)
    }

    fn advance_to(&mut self, now: f64) {
        if self.running.is_empty() {
            self.service = 0.0;
        } else {
            self.service += self.rate() * (now - self.updated);
        }
        self.updated = now;
    }

    /// Changes the available fraction of the host's speed to `available` at the absolute time `absolute` \[s\].
    #[inline]
    fn set_available(&mut self, absolute: f64, available: f64) {
        self.availability_integral += self.available * (absolute - self.integrated_until);
        self.integrated_until = absolute;
        self.available = available;
    }
}

/// The processors of all hosts, with the executions that run on them.
#[derive(Clone, Debug)]
pub(super) struct Cpus<T> {
    cpus: Vec<Cpu<T>>,
    /// The first violated invariant of an execution; `None` if there is none.
    pub(super) fault: Option<Fault>,
}

impl<T: Copy> Cpus<T> {
    pub(super) fn new(platform: &Platform) -> Self {
        let idle = |host: &migsim_platform::Host| Cpu {
            speed: host.speed.get(),
            available: 1.0,
            cores: f64::from(host.cores),
            service: 0.0,
            updated: 0.0,
            running: Vec::new(),
            event: None,
            availability_integral: 0.0,
            integrated_until: 0.0,
        };
        Self {
            cpus: platform.hosts.iter().map(idle).collect(),
            fault: None,
        }
    }

    /// Starts an execution of `work` instructions on a host at local time `now` \[s\]; `token` identifies the execution when it
    /// ends.
    pub(super) fn start<E: Copy>(
        &mut self,
        host: usize,
        work: f64,
        token: T,
        now: f64,
        queue: &mut EventQueue<E>,
        event: E,
    ) {
        let cpu = &mut self.cpus[host];
        cpu.advance_to(now);
        let target = cpu.service + work;
        let place = cpu.running.partition_point(|other| other.target > target);
        cpu.running.insert(place, Execution { target, token });
        schedule(cpu, queue, event);
    }

    /// Ends the executions on a host whose end times count as simultaneous with local time `now` \[s\], and passes their tokens
    /// to `ended`.
    pub(super) fn finish<E: Copy>(
        &mut self,
        host: usize,
        now: f64,
        queue: &mut EventQueue<E>,
        event: E,
        mut ended: impl FnMut(T),
    ) {
        let cpu = &mut self.cpus[host];
        cpu.event = None; // it has just been popped
        let rate = cpu.rate();
        let first = cpu
            .running
            .last()
            .expect("a host with an event has an execution")
            .target;
        if cfg!(debug_assertions) {
            let done = cpu.service + rate * (now - cpu.updated);
            let is_right = is_used_up(first - done, first, rate, now);
            let fault = (!is_right).then(|| Fault::Work(HostId::from_index(host).0));
            self.fault = self.fault.or(fault);
        }
        cpu.service = first;
        cpu.updated = now;
        while let Some(next) = cpu.running.last() {
            if next.target > first && (next.target - first) / rate > SAME_DATE * now {
                break;
            }
            ended(next.token);
            cpu.running.pop();
        }
        schedule(cpu, queue, event);
    }

    /// Changes the available fraction of a host's speed to `available`, at an instant given both as local time `now` \[s\] and as
    /// absolute time `absolute` \[s\].
    #[inline]
    pub(super) fn set_available<E: Copy>(
        &mut self,
        host: usize,
        available: f64,
        (now, absolute): (f64, f64),
        queue: &mut EventQueue<E>,
        event: E,
    ) {
        let cpu = &mut self.cpus[host];
        cpu.advance_to(now);
        cpu.set_available(absolute, available);
        if cpu.event.is_some() || !cpu.running.is_empty() {
            schedule(cpu, queue, event);
        }
    }

    /// Returns a function that changes the available fraction of the speed of an idle host. The arguments of the function are the
    /// absolute time of the change \[s\] and the new fraction.
    pub(super) fn change_idle(&mut self, host: usize) -> impl FnMut(f64, f64) + '_ {
        let cpu = &mut self.cpus[host];
        |absolute, available| {
            debug_assert!(cpu.running.is_empty() && cpu.event.is_none(), "it is idle");
            cpu.set_available(absolute, available);
        }
    }

    /// Whether at least one execution runs on a host.
    pub(super) fn is_busy(&self, host: usize) -> bool {
        !self.cpus[host].running.is_empty()
    }

    /// Returns the fraction of a host's speed that is available at the present time, from 0 to 1.
    pub(super) fn available(&self, host: usize) -> f64 {
        self.cpus[host].available
    }

    /// Returns the integral over time of the available fraction of a host's speed, from the start of the run to the absolute time
    /// `absolute` \[s\].
    pub(super) fn availability_integral(&self, host: usize, absolute: f64) -> f64 {
        let cpu = &self.cpus[host];
        cpu.availability_integral + cpu.available * (absolute - cpu.integrated_until)
    }

    /// Returns the hosts that have executions although their speed is zero at the present time, so that no execution can end.
    pub(super) fn stopped(&self) -> impl Iterator<Item = usize> + '_ {
        let is_stopped = |cpu: &Cpu<T>| !cpu.running.is_empty() && cpu.rate() <= 0.0;
        (0..self.cpus.len()).filter(move |&host| is_stopped(&self.cpus[host]))
    }
}

/// Schedules the event of a host for the time at which the next execution ends, or cancels the event if no execution will end.
fn schedule<T, E: Copy>(cpu: &mut Cpu<T>, queue: &mut EventQueue<E>, event: E) {
    let date = cpu.running.last().map(|first| {
        let (left, rate) = ((first.target - cpu.service).max(0.0), cpu.rate());
        if left <= 0.0 {
            cpu.updated // nothing is left to do, even on a host that stands still
        } else if rate > 0.0 {
            cpu.updated + left / rate
        } else {
            f64::INFINITY
        }
    });
    match (cpu.event, date) {
        (Some(key), Some(date)) => queue.reschedule(key, date),
        (None, Some(date)) => cpu.event = Some(queue.push(date, event)),
        (Some(key), None) => {
            queue.cancel(key);
            cpu.event = None;
        }
        (None, None) => {}
    }
}
