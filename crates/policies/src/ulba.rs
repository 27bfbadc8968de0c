//! Anticipates load growth, after ULBA: hosts whose work grows unusually fast get less than their share, so that they do not
//! become the slowest hosts soon after the call.
//!
//! ```text
//! r_i      slope of the least-squares line through the works of process i since the last call, per superstep
//! WIR_h    workload increase rate of host h: Σ r_i / s_h over its processes        z_h = (WIR_h − mean) / standard deviation
//! host h is overloading if z_h > threshold        a = Σ s_h / Σ s_h' over overloading hosts h and all other hosts h'
//! f_h      1 − alpha on an overloading host, 1 + alpha·a on the others; the time of host h is to be f_h·T, T = Σ (work + b_h·s_h) / Σ s_h
//! ```
//! `s_h` is the speed and `b_h` the background load of host h; T is the time of all hosts if the load were balanced. On equal
//! hosts the factors `f_h` are the shares of the authors' program: (1 − α) and (1 + α·N/(P − N)) if N of P hosts are overloading.
//! The z-score of a host cannot exceed (P − 1)/√P: with the threshold 3 of that program, no host is overloading if there are
//! fewer than 11 hosts (cores), or if no work grows.
//!
//! The original program cuts a domain into stripes of these shares. Since processes cannot be divided, the following choices are
//! migsim's own. Hosts give processes away in the order of decreasing time over f, and only while this quotient is above T. They
//! first give the processes whose work grows least (ties: the process with the most work, then the lowest number), since an
//! overloading host should keep the growing work. A process goes to the host with enough memory whose time over f is smallest
//! after the move, if this is less than the quotient of the old host before the move. The work of a process is the value of its
//! least-squares line in the next superstep. The original program distributes the rates `r_i` by gossip; here the call gathers them
//! together with the loads.
//!
//! Source: Boulmier, Raynaud, Abdennadher and Chopard, On the benefits of anticipating load imbalance for performance
//! optimization of parallel applications, CLUSTER 2019; the authors' program (`ULBA`, now yalbb).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Decision, Policy, PolicyOptions, View,
    balancer::{BalancerNarrator, decide_by_assignment, movable_processes},
    explain::Narrator,
    strategy::{
        Assignment, Instance, TentativePlacement, candidate_with_min_key, is_clearly_less,
        range_problem, refuse_problems,
    },
    window::{Forecast, LoadWindow},
};
use migsim_base::{
    error::{Problem, Result},
    random::Stream,
};

/// The options of the policy `ulba`, which anticipates the growth of loads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UlbaOptions {
    /// Share α of the balanced load that is taken away from an overloading host (a host whose work grows unusually fast); at
    /// least 0 and below 1.
    pub alpha: f64,
    /// The z-score of the growth of work (distance from the mean in standard deviations) above which a host counts as
    /// overloading; not negative.
    pub threshold: f64,
}

impl Default for UlbaOptions {
    /// Returns the threshold of the authors' program, and 0.4 for α, which is migsim's choice since the program takes α as an
    /// argument.
    fn default() -> Self {
        Self {
            alpha: 0.4,
            threshold: 3.0,
        }
    }
}

impl PolicyOptions for UlbaOptions {
    const NEEDS_TRIGGER: bool = true;

    fn narrator() -> &'static dyn Narrator {
        &BalancerNarrator
    }

    fn policy(self) -> Result<Box<dyn Policy>> {
        let is_wrong = |(_, value, most): &(&str, f64, f64)| !(0.0..*most).contains(value);
        let problems: Vec<Problem> = [
            ("alpha", self.alpha, 1.0),
            ("threshold", self.threshold, f64::INFINITY),
        ]
        .into_iter()
        .filter(is_wrong)
        .map(|(key, value, most)| {
            let range = format!("at least 0 and below {most}");
            range_problem(key, value, &range).hint("choose a number in this range")
        })
        .collect();
        refuse_problems(problems)?;
        Ok(Box::new(Ulba {
            options: self,
            load_window: LoadWindow::with_forecast(Forecast::Linear),
        }))
    }
}

#[derive(Clone, Debug)]
struct Ulba {
    options: UlbaOptions,
    load_window: LoadWindow,
}

impl Policy for Ulba {
    fn copy(&self) -> Option<Box<dyn Policy>> {
        Some(Box::new(self.clone()))
    }

    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.load_window.observe(view, false);
        false
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision> {
        let rates: Vec<f64> = movable_processes(view)
            .into_iter()
            .map(|process| self.load_window.work_slope(process))
            .collect();
        let assign = |instance: &Instance<'_>| Ok(self.options.assign(instance, &rates));
        decide_by_assignment(view, &mut self.load_window, false, assign)
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

impl UlbaOptions {
    /// Returns the factor f of each host: after the call the time of the host should be f times the balanced time. `rates` has
    /// the growth of each process's work per superstep.
    fn host_factors(&self, instance: &Instance<'_>, rates: &[f64]) -> Vec<f64> {
        let count = instance.host_count() as f64;
        let mut wir = vec![0.0; instance.host_count()];
        for (rate, &host) in rates.iter().zip(&instance.current_hosts) {
            wir[host] += rate / instance.host_speeds[host];
        }
        let mean = wir.iter().sum::<f64>() / count;
        let variance = wir.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / count;
        let is_overloading = |host: usize| wir[host] - mean > self.threshold * variance.sqrt();
        let speeds = |is_wanted: bool| -> f64 {
            (0..wir.len())
                .filter(|&host| is_overloading(host) == is_wanted)
                .map(|host| instance.host_speeds[host])
                .sum()
        };
        let others = speeds(false).max(f64::MIN_POSITIVE); // rounding may leave no others among equal rates
        let gain = self.alpha * speeds(true) / others;
        (0..wir.len())
            .map(|host| {
                if is_overloading(host) {
                    1.0 - self.alpha
                } else {
                    1.0 + gain
                }
            })
            .collect()
    }

    /// Returns the assignment of all processes to hosts; `rates` has the growth of each process's work per superstep.
    fn assign(&self, instance: &Instance<'_>, rates: &[f64]) -> Assignment {
        let factors = self.host_factors(instance, rates);
        let aim = instance.balanced_time();
        let mut room = TentativePlacement::new(instance);
        let hosts = 0..instance.host_count();
        let mut donors: Vec<usize> = hosts.clone().collect();
        let relative_time = |host: &usize| room.times[*host] / factors[*host];
        donors.sort_by(|a, b| relative_time(b).total_cmp(&relative_time(a)));
        let lists = instance.processes_by_host();
        let mut tries = 0;
        for donor in donors {
            let mut list = lists[donor].clone();
            list.sort_by(|&a, &b| {
                rates[a].total_cmp(&rates[b]).then_with(|| {
                    instance.process_works[b]
                        .get()
                        .total_cmp(&instance.process_works[a].get())
                })
            });
            for process in list {
                let now = room.times[donor] / factors[donor];
                if now <= aim {
                    break;
                }
                let work = instance.process_works[process].get();
                let after = |host: usize| room.time_with(process, host) / factors[host];
                let is_open = |host: &usize| *host != donor && room.has_memory_for(process, *host);
                let open = hosts.clone().filter(is_open);
                tries += hosts.len() as u64;
                if let Some(host) = candidate_with_min_key(open, None, after)
                    .filter(|&host| work > 0.0 && is_clearly_less(after(host), now))
                {
                    room.transfer(process, host);
                }
            }
        }
        let overloading = factors.iter().filter(|factor| **factor < 1.0).count();
        let mut assignment =
            Assignment::from_central_decision(room.hosts, tries + rates.len() as u64);
        let cores = hosts.len();
        assignment.remarks.push(format!(
            "the work of {overloading} of {cores} cores grows unusually fast"
        ));
        assignment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::testing::instance_without_background;

    const OPTIONS: UlbaOptions = UlbaOptions {
        alpha: 0.5,
        threshold: 1.5,
    };

    #[test]
    fn a_host_that_overloads_gets_less_and_keeps_what_grows() {
        // Four like hosts; only process 0 grows. WIR 1, 0, 0, 0: mean 1/4, deviation √3/4, so that z_0 = √3 is above 1.5.
        let case = instance_without_background(&[1.0; 4], &[0, 0, 0, 0, 1, 2, 3], &[2.0; 7]);
        let rates = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        // (1 − 1/2) and (1 + 1/2 · 1/3)
        assert_eq!(
            OPTIONS.host_factors(&case, &rates),
            [0.5, 7.0 / 6.0, 7.0 / 6.0, 7.0 / 6.0]
        );
        // 8 s, to be 1.75 s: processes 1, 2 and 3 go, then the first host has 2 s, over 1/2 as much as 4 s; elsewhere it would be 6 · 6/7.
        assert_eq!(
            OPTIONS.assign(&case, &rates).assigned_hosts,
            [0, 1, 2, 3, 1, 2, 3]
        );
        // Without growth the shares are equal: two stay.
        assert_eq!(
            OPTIONS.assign(&case, &[0.0; 7]).assigned_hosts,
            [1, 2, 0, 0, 1, 2, 3]
        );
        // Below eleven hosts no z-score is above 3.
        assert_eq!(UlbaOptions::default().host_factors(&case, &rates), [1.0; 4]);
    }

    #[test]
    fn the_shares_add_up_on_unlike_hosts() {
        let case = instance_without_background(&[1.0, 2.0, 4.0], &[0, 1, 2], &[1.0; 3]);
        let options = UlbaOptions {
            threshold: 1.0,
            ..OPTIONS
        };
        let factors = options.host_factors(&case, &[0.0, 6.0, 0.0]);
        // 1/2 of 2, and 1 + 1/2 · 2/5 of 1 + 4.
        assert_eq!(factors, [1.2, 0.5, 1.2]);
        let wrong = UlbaOptions {
            alpha: 1.0,
            threshold: -1.0,
        };
        let error = wrong.policy().unwrap_err().to_string();
        assert!(
            error.contains("alpha") && error.contains("threshold"),
            "{error}"
        );
    }
}
