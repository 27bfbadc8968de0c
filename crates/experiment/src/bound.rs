//! A lower bound of the makespan under any policy: what the computation alone takes if processes may run anywhere, in pieces and for free.
//!
//! ```text
//! bound = Σ_t max( max_{k ≤ min(p, c)} W_k(t) / S_k ,  W_p(t) / S_c )
//! W_k(t)  the k largest works of superstep t together      S_k  the k fastest cores together, of c
//! ```
//! It is the optimum of the preemptive relaxation (Q|pmtn|Cmax; Horvath, Lam and Sethi 1977) of each superstep. Messages, barriers, calls,
//! migrations and what others take of the hosts only add to it, so that the makespan of any policy is at least as long. A profile that
//! speeds a host up counts with its largest value.

use super::resolve::Experiment;
use migsim_base::units::Seconds;
use migsim_platform::Host;
use migsim_workloads::Plan;

impl Experiment {
    /// The makespan that no policy can beat.
    pub fn lower_bound(&self) -> Seconds {
        let workload = self.workload.as_ref();
        let processes = workload.processes();
        let cores = fastest_cores(&self.platform.platform.hosts, processes);
        let mut plan = Plan::default();
        let (mut works, mut total, mut last) = (Vec::with_capacity(processes), 0.0, 0.0);
        for superstep in 0..workload.supersteps() {
            if superstep == 0 || !workload.repeats(superstep) {
                plan.clear(processes);
                workload.fill(superstep, &mut plan);
                works.clear();
                works.extend(plan.work.iter().map(|work| work.get()));
                last = of_superstep(&mut works, &cores) * workload.cycles_per_instruction();
            }
            total += last;
        }
        Seconds::of(total)
    }
}

/// The sums of the speeds of the fastest core, the fastest two, and so on [instructions/s], up to `most` cores; of all cores last if there are
/// fewer.
fn fastest_cores(hosts: &[Host], most: usize) -> Vec<f64> {
    let best = |host: &Host| {
        let profile = host.speed_profile.as_ref();
        let values = profile.map_or(&[][..], |profile| profile.once());
        let most = values.iter().map(|step| step.1).fold(1.0, f64::max);
        host.speed.get() * most
    };
    let mut speeds: Vec<f64> = hosts
        .iter()
        .flat_map(|host| std::iter::repeat_n(best(host), (host.cores as usize).min(most)))
        .collect();
    speeds.sort_unstable_by(|a, b| b.total_cmp(a));
    speeds.truncate(most);
    let mut sum = 0.0;
    for speed in &mut speeds {
        sum += *speed;
        *speed = sum;
    }
    speeds
}

/// The bound of one superstep: `max_k W_k / S_k`, where all works go to all cores if there are fewer cores than works.
fn of_superstep(works: &mut [f64], cores: &[f64]) -> f64 {
    works.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut bound) = (0.0, 0.0_f64);
    for (index, work) in works.iter().enumerate() {
        sum += work;
        match cores.get(index) {
            Some(speed) if index + 1 < cores.len() || works.len() <= cores.len() => {
                bound = bound.max(sum / speed);
            }
            _ => {}
        }
    }
    cores.last().map_or(bound, |all| bound.max(sum / all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_preemptive_schedule() {
        // Speeds 2 and 1, works 6, 3, 3: the largest alone takes 3 s, all of them 12 / 3 = 4 s.
        assert_eq!(of_superstep(&mut [3.0, 6.0, 3.0], &[2.0, 3.0]), 4.0);
        // 10 alone takes 5 s on the fastest core, longer than 12 / 3.
        assert_eq!(of_superstep(&mut [10.0, 2.0], &[2.0, 3.0]), 5.0);
        // One process has no use for the second core.
        assert_eq!(of_superstep(&mut [4.0], &[2.0]), 2.0);
        assert_eq!(of_superstep(&mut [], &[]), 0.0);
    }

    #[test]
    fn no_policy_is_faster() {
        use crate::{Layers, Limits, Progress};
        for (app, policy) in [("lu", "refine"), ("sw", "greedy"), ("synthetic", "migbsp")] {
            let settings = Layers::of([
                ("workload.app", app.into()),
                ("policy.name", policy.into()),
                ("costs.call.model", "none".into()),
                ("costs.move.transfer", "none".into()),
                ("costs.move.fixed", "0 s".into()),
            ]);
            let experiment = Experiment::load(&settings, Limits::default()).unwrap();
            let bound = experiment.lower_bound();
            let results = experiment.run(&Progress::default()).unwrap();
            for run in &results.runs {
                let makespan = run.outcome.makespan.get();
                assert!(
                    bound.get() > 0.0 && bound.get() <= makespan,
                    "{app}: {bound} {makespan}"
                );
            }
        }
    }
}
