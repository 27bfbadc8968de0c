//! A policy whose calls another trigger asks for: any trigger drives any policy.
//!
//! The times of hosts that a [`Trigger`] sees are those of the computation: `T_h = max compute_i` over the processes i of host h. Of n hosts
//! only as many as there are processes can be busy, so that `avg = Σ T_h / m` with `m = min(hosts, processes)`, and `min = 0` if fewer
//! than m hosts have a process.

use super::trigger::{Observed, Trigger};
use super::{Decision, Policy, View};
use migsim_base::error::Error;
use migsim_base::random::Stream;
use migsim_base::units::Seconds;

/// A policy and the trigger that asks for its calls.
#[derive(Debug)]
pub struct Triggered {
    trigger: Box<dyn Trigger>,
    policy: Box<dyn Policy>,
    /// Whether a call is left out whose price the remaining supersteps cannot earn.
    only_if_paid_back: bool,
    is_first_after_balancing: bool,
    /// What the trigger could not say.
    failure: Option<Error>,
    /// The time of each host in the last superstep \[s\].
    times: Vec<f64>,
}

impl Triggered {
    /// The calls of `policy` come when `trigger` says so.
    pub fn new(
        trigger: Box<dyn Trigger>,
        policy: Box<dyn Policy>,
        only_if_paid_back: bool,
    ) -> Self {
        Self {
            trigger,
            policy,
            only_if_paid_back,
            is_first_after_balancing: false,
            failure: None,
            times: Vec::new(),
        }
    }

    /// The times of the hosts in the superstep that has just ended.
    fn observe(&mut self, view: &View<'_>) -> Observed {
        let hosts = view.platform.hosts.len();
        super::refill(&mut self.times, hosts, -1.0);
        for (host, compute) in view.placement.iter().zip(&view.measures.compute) {
            let time = &mut self.times[host.index()];
            *time = time.max(compute.get());
        }
        let (mut busy, mut sum, mut max, mut min) = (0, 0.0, 0.0_f64, f64::INFINITY);
        for time in self.times.iter().copied().filter(|time| *time >= 0.0) {
            busy += 1;
            sum += time;
            max = max.max(time);
            min = min.min(time);
        }
        let usable = hosts.min(view.processes());
        Observed {
            superstep: view.superstep,
            max: Seconds::of(max),
            avg: Seconds::of(sum / usable.max(1) as f64),
            min: Seconds::of(if busy < usable { 0.0 } else { min }),
            price: view.last_price,
            is_first_after_balancing: self.is_first_after_balancing,
        }
    }
}

impl Policy for Triggered {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.policy.is_call_due(view); // it takes note of the superstep
        let observed = self.observe(view);
        let is_due = self.trigger.is_due(&observed);
        self.is_first_after_balancing = is_due;
        self.failure = self.trigger.failure();
        if self.failure.is_some() {
            return true;
        }
        let remaining = view.supersteps.saturating_sub(view.superstep + 1) as f64;
        let most = remaining * (observed.max.get() - observed.avg.get());
        is_due && !(self.only_if_paid_back && most < observed.price.get())
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error> {
        self.failure.take().map_or(Ok(()), Err)?;
        self.policy.decide(view, random)
    }

    fn uses_seed(&self) -> bool {
        self.policy.uses_seed()
    }

    fn memory(&self, pairs: f64, supersteps: f64) -> f64 {
        self.policy.memory(pairs, supersteps)
    }

    fn on_outcome(&mut self, moved: usize) {
        self.trigger.on_outcome(moved);
        self.policy.on_outcome(moved);
    }

    fn fault(&self) -> Option<String> {
        self.policy.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trigger::{EveryOptions, TriggerOptions};
    use crate::{Measures, Never, testing};
    use migsim_base::units::HostId;

    #[test]
    fn hosts_without_processes_count_as_far_as_processes_could_use_them() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let trigger = EveryOptions::default().trigger().unwrap();
        let mut triggered = Triggered::new(trigger, Box::new(Never::default()), false);
        let mut measures = Measures::default();
        measures.clear(3);
        for (process, time) in [3.0, 1.0, 5.0].into_iter().enumerate() {
            measures.compute[process] = Seconds::of(time);
        }
        let [a, b, c] = [0, 1, 2].map(HostId::from_index);
        let mut times = |placement: [HostId; 3]| {
            let observed = triggered.observe(&testing::view(&platform, &placement, &measures));
            [observed.max, observed.avg, observed.min].map(Seconds::get)
        };
        assert_eq!(times([a, b, c]), [5.0, 3.0, 1.0]);
        assert_eq!(times([a, a, b]), [5.0, 8.0 / 3.0, 0.0]);
    }

    #[test]
    fn a_call_that_the_rest_of_the_run_cannot_pay_for_is_left_out() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let mut measures = Measures::default();
        measures.clear(2);
        measures.compute[0] = Seconds::of(3.0); // 2 s above the mean of 1.5 s and 0 s
        let placement = [0, 1].map(HostId::from_index);
        for (price, is_left_out, expected) in
            [(8.0, true, false), (7.0, true, true), (8.0, false, true)]
        {
            let every = EveryOptions {
                supersteps: std::num::NonZeroUsize::MIN,
                ..EveryOptions::default()
            };
            let never = Box::new(Never::default());
            let mut triggered = Triggered::new(every.trigger().unwrap(), never, is_left_out);
            let view = View {
                supersteps: 6, // 5 remain, with 1.5 s each at most
                last_price: Seconds::of(price),
                ..testing::view(&platform, &placement, &measures)
            };
            assert_eq!(triggered.is_call_due(&view), expected);
        }
    }
}
