//! A policy whose rescheduling calls are requested by a trigger, or are skipped if the remaining supersteps cannot recover their
//! cost.
//!
//! Some triggers plan from the effect of a balancing. For such a trigger a first balancing takes place after the first superstep
//! with computation.
//!
//! The host times that a [`Trigger`] observes are computation times: `T_h = max compute_i` over the processes i of host h. At
//! most as many hosts as there are processes can be busy. Therefore the mean is `avg = Σ T_h / m` with `m = min(hosts,
//! processes)`, and the minimum is 0 if fewer than m hosts have a process.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Decision, Explain, Policy, View,
    explain::{REASON_KEY, TRIGGER_KEY},
    trigger::{ObservedSuperstep, Reason, Trigger},
};
use migsim_base::{
    error::{Error, Result},
    random::Stream,
    units::Seconds,
};

/// A policy together with the trigger that requests its rescheduling calls.
#[derive(Debug)]
pub struct TriggeredPolicy {
    /// The trigger that requests the rescheduling calls; `None` if the policy requests its calls itself.
    trigger: Option<Box<dyn Trigger>>,
    policy: Box<dyn Policy>,
    /// Whether a call is skipped if the remaining supersteps cannot recover its cost.
    skips_unprofitable_calls: bool,
    is_first_after_balancing: bool,
    /// Whether the run has had no superstep with computation and no requested call so far, so that a first balancing may still be
    /// needed.
    awaits_first_call: bool,
    trigger_error: Option<Error>,
    /// Why the trigger requested the call that is due; empty if the trigger does not tell.
    call_reason: Reason,
    /// The computation time of each host in the last superstep \[s\]; negative for hosts without a process.
    host_times: Vec<f64>,
}

impl TriggeredPolicy {
    /// Creates a policy whose rescheduling calls `trigger` requests; without a trigger, `policy` requests its calls itself. If
    /// `only_if_paid_back`, calls whose cost the remaining supersteps cannot recover are skipped.
    pub fn new(
        trigger: Option<Box<dyn Trigger>>,
        policy: Box<dyn Policy>,
        only_if_paid_back: bool,
    ) -> Self {
        Self {
            trigger,
            policy,
            skips_unprofitable_calls: only_if_paid_back,
            is_first_after_balancing: false,
            awaits_first_call: true,
            trigger_error: None,
            call_reason: Reason::default(),
            host_times: Vec::new(),
        }
    }

    /// Returns the host times of the superstep that has just ended and the cost of the last call, in the form in which triggers
    /// observe them.
    fn observed_superstep(&mut self, view: &View<'_>) -> ObservedSuperstep {
        let hosts = view.platform.hosts.len();
        super::resize_and_fill(&mut self.host_times, hosts, -1.0);
        for (host, compute) in view
            .placement
            .iter()
            .zip(&view.measurements.computation_times)
        {
            let time = &mut self.host_times[host.index()];
            *time = time.max(compute.get());
        }
        let mut busy = 0;
        let mut sum = 0.0;
        let mut max = 0.0_f64;
        let mut min = f64::INFINITY;
        for time in self.host_times.iter().copied().filter(|time| *time >= 0.0) {
            busy += 1;
            sum += time;
            max = max.max(time);
            min = min.min(time);
        }
        let usable = hosts.min(view.processes());
        ObservedSuperstep {
            superstep: view.superstep,
            max_host_time: Seconds::of(max),
            mean_host_time: Seconds::of(sum / usable.max(1) as f64),
            min_host_time: Seconds::of(if busy < usable { 0.0 } else { min }),
            balancing_cost: view.last_call_cost,
            is_first_after_balancing: self.is_first_after_balancing,
        }
    }
}

const FIRST_CALL_REASON: &str = "it plans from the effect of an earlier call, so that a first call follows the first superstep with computation";

#[derive(Debug)]
struct TriggeredExplanation {
    explanation: Option<Arc<dyn Explain>>,
    reason: Reason,
}

impl TriggeredExplanation {
    fn add_reason(&self, mut fields: Map<String, Value>) -> Map<String, Value> {
        let Reason { text, times } = &self.reason;
        let mut reason = Map::from_iter([(REASON_KEY.to_owned(), text.as_str().into())]);
        reason.extend(
            times
                .iter()
                .map(|(key, time)| ((*key).to_owned(), (*time).into())),
        );
        fields.insert(TRIGGER_KEY.to_owned(), reason.into());
        fields
    }
}

impl Explain for TriggeredExplanation {
    fn to_json(&self) -> Map<String, Value> {
        let inner = self.explanation.as_ref();
        self.add_reason(inner.map(|one| one.to_json()).unwrap_or_default())
    }

    fn outline(&self) -> Map<String, Value> {
        let inner = self.explanation.as_ref();
        self.add_reason(inner.map(|one| one.outline()).unwrap_or_default())
    }
}

impl Policy for TriggeredPolicy {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        let asks = self.policy.is_call_due(view); // it takes note of the superstep
        let observed = self.observed_superstep(view);
        let is_due = match &mut self.trigger {
            None => asks,
            Some(trigger) => {
                let is_due = trigger.is_due(&observed);
                self.trigger_error = trigger.failure();
                if self.trigger_error.is_some() {
                    return true;
                }
                let may_be_first = self.awaits_first_call && observed.max_host_time.get() > 0.0;
                let is_first = !is_due && may_be_first && trigger.prepare_first_balancing();
                if is_due {
                    self.call_reason = trigger.reason();
                } else if is_first {
                    self.call_reason = FIRST_CALL_REASON.to_owned().into();
                }
                is_due || is_first
            }
        };
        self.awaits_first_call &= observed.max_host_time.get() <= 0.0 && !is_due;
        self.is_first_after_balancing = is_due;
        let remaining = view.total_supersteps.saturating_sub(view.superstep + 1) as f64;
        let most = remaining * (observed.max_host_time.get() - observed.mean_host_time.get());
        is_due && !(self.skips_unprofitable_calls && most < observed.balancing_cost.get())
    }

    fn omit_terms(&mut self) {
        self.policy.omit_terms();
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision> {
        self.trigger_error.take().map_or(Ok(()), Err)?;
        let mut decision = self.policy.decide(view, random)?;
        let reason = std::mem::take(&mut self.call_reason);
        if self.trigger.is_some() {
            decision.explanation = Some(Arc::new(TriggeredExplanation {
                explanation: decision.explanation,
                reason,
            }));
        }
        Ok(decision)
    }

    fn uses_seed(&self) -> bool {
        self.policy.uses_seed()
    }

    fn memory(&self, pairs: f64, supersteps: f64) -> f64 {
        self.policy.memory(pairs, supersteps)
    }

    fn on_migrations_executed(&mut self, moved: usize) {
        if let Some(trigger) = &mut self.trigger {
            trigger.on_outcome(moved);
        }
        self.policy.on_migrations_executed(moved);
    }

    fn fault(&self) -> Option<String> {
        self.policy.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Measures, Never, testing,
        trigger::{
            EveryOptions, MarquezOptions, MetaBalancerOptions, ProcassiniOptions, TriggerOptions,
        },
    };
    use migsim_base::units::HostId;

    #[test]
    fn hosts_without_processes_count_as_far_as_processes_could_use_them() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let trigger = EveryOptions::default().trigger().unwrap();
        let mut triggered = TriggeredPolicy::new(Some(trigger), Box::new(Never::default()), false);
        let mut measures = Measures::default();
        measures.clear(3);
        for (process, time) in [3.0, 1.0, 5.0].into_iter().enumerate() {
            measures.computation_times[process] = Seconds::of(time);
        }
        let [a, b, c] = [0, 1, 2].map(HostId::from_index);
        let mut times = |placement: [HostId; 3]| {
            let observed =
                triggered.observed_superstep(&testing::test_view(&platform, &placement, &measures));
            [
                observed.max_host_time,
                observed.mean_host_time,
                observed.min_host_time,
            ]
            .map(Seconds::get)
        };
        assert_eq!(times([a, b, c]), [5.0, 3.0, 1.0]);
        assert_eq!(times([a, a, b]), [5.0, 8.0 / 3.0, 0.0]);
    }

    #[test]
    fn a_call_that_the_rest_of_the_run_cannot_pay_for_is_left_out() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let mut measures = Measures::default();
        measures.clear(2);
        measures.computation_times[0] = Seconds::of(3.0); // 2 s above the mean of 1.5 s and 0 s
        let placement = [0, 1].map(HostId::from_index);
        for (price, is_left_out, expected) in
            [(8.0, true, false), (7.0, true, true), (8.0, false, true)]
        {
            let every = EveryOptions {
                supersteps: std::num::NonZeroUsize::MIN,
                ..EveryOptions::default()
            };
            let never = Box::new(Never::default());
            let mut triggered =
                TriggeredPolicy::new(Some(every.trigger().unwrap()), never, is_left_out);
            let view = View {
                total_supersteps: 6, // 5 remain, with 1.5 s each at most
                last_call_cost: Seconds::of(price),
                ..testing::test_view(&platform, &placement, &measures)
            };
            assert_eq!(triggered.is_call_due(&view), expected);
        }
    }

    /// Returns the supersteps, counted from 0, after which a trigger requests calls while process 0 computes for `times` and process 1 for
    /// 1 s. A call costs 2 s.
    fn calls(options: impl TriggerOptions, times: &[f64]) -> Vec<usize> {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let placement = [0, 1].map(HostId::from_index);
        let never = Box::new(Never::default());
        let mut triggered = TriggeredPolicy::new(Some(options.trigger().unwrap()), never, false);
        let mut measures = Measures::default();
        let mut is_due = |(superstep, time): (usize, &f64)| {
            measures.clear(2);
            measures.computation_times = [*time, time.min(1.0)].map(Seconds::of).to_vec();
            let view = View {
                superstep,
                last_call_cost: Seconds::of(2.0),
                ..testing::test_view(&platform, &placement, &measures)
            };
            triggered.is_call_due(&view).then_some(superstep)
        };
        times.iter().enumerate().filter_map(&mut is_due).collect()
    }

    #[test]
    fn triggers_that_plan_from_a_balancing_get_a_first_one() {
        // A constant imbalance, for which neither trigger would ever request a call; the first superstep computes nothing.
        let times = [&[0.0][..], &[4.0; 9]].concat();
        assert_eq!(calls(ProcassiniOptions::default(), &times), [1]);
        assert_eq!(calls(MetaBalancerOptions::default(), &times), [1]);
        // Other triggers request calls themselves: each superstep exceeds a tolerance of 20 %, and the third ends a planned period.
        assert_eq!(calls(MarquezOptions::default(), &times[..4]), [1, 2, 3]);
        let every = EveryOptions {
            supersteps: std::num::NonZeroUsize::new(3).unwrap(),
            ..EveryOptions::default()
        };
        assert_eq!(calls(every, &times[..5]), [2]);
    }

    #[test]
    fn a_first_balancing_starts_the_plan_of_metabalancer() {
        // A balancing after the first superstep, a balanced superstep, then 2 s instead of 1 s: the first ratio is 1, and the lines through
        // five samples differ from it.
        let times = [&[4.0, 1.0][..], &[2.0; 9]].concat();
        let found = calls(MetaBalancerOptions::default(), &times);
        assert_eq!(found[0], 0);
        assert!(found.len() > 1 && found[1] >= 5, "{found:?}");
    }
}
