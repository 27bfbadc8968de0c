//! Computes when computations that share a host end, in a superstep whose result is computed directly without events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::input::SuperstepInput;
use migsim_base::units::HostId;
use migsim_engine::SAME_TIME_TOLERANCE;

/// Maximum number of changes of a host's speed in a superstep that is computed directly. With more changes, simulation by events
/// detects sooner that the run cannot continue.
const MAX_SPEED_CHANGES: usize = 1_000_000;

/// The computation of a process on its host in one superstep.
#[derive(Clone, Copy, Debug)]
struct Execution {
    /// Time at which the computation starts \[s\].
    begin_time: f64,
    /// Work of the computation \[cycles\].
    work: f64,
    process: u32,
}

/// The computations on one host; the memory is reused for each host.
#[derive(Clone, Debug, Default)]
pub(super) struct HostComputations {
    executions: Vec<Execution>,
    /// The computations in progress, by the bits of the service at which each ends. Service is the number of cycles that each
    /// computation in progress has received since time 0.
    running: BinaryHeap<Reverse<(u64, u32)>>,
}

impl HostComputations {
    /// Computes when the computations of a group of processes on one host end, while the available fraction of its speed changes
    /// at the given times \[s\]. With n computations in progress, each receives `speed · available · min(1, cores / n)`
    /// cycles per second. Returns the time of the last end, or `None` if some computation does not end.
    pub(super) fn compute_ends(
        &mut self,
        input: &SuperstepInput<'_>,
        group: &[(HostId, u32)],
        changes: impl Iterator<Item = (f64, f64)>,
        computed: &mut [f64],
    ) -> Option<f64> {
        let Self {
            executions,
            running,
        } = self;
        executions.clear();
        executions.extend(group.iter().map(|&(_, process)| Execution {
            begin_time: input.begin_time(process as usize),
            work: input.cycles(process as usize),
            process,
        }));
        executions.retain(|one| one.work > 0.0);
        executions.sort_by(|a, b| a.begin_time.total_cmp(&b.begin_time));
        if executions.is_empty() {
            return Some(f64::NEG_INFINITY);
        }
        let id = group[0].0;
        let host = &input.platform.hosts[id.index()];
        let available_now = std::iter::once((0.0, input.engine.available_fraction(id)));
        let mut changes = available_now.chain(changes).peekable();
        let (speed, cores) = (host.speed.get(), f64::from(host.cores));
        let mut coming = executions.iter().peekable();
        let mut left = MAX_SPEED_CHANGES;
        let (mut now, mut service, mut available) = (0.0, 0.0, 1.0);
        running.clear();
        while !running.is_empty() || coming.peek().is_some() {
            let rate = if running.is_empty() {
                0.0
            } else {
                speed * available * (cores / running.len() as f64).min(1.0)
            };
            let first = running.peek().map(|next| f64::from_bits(next.0.0));
            let end = match first {
                Some(first) if rate > 0.0 => now + (first - service) / rate,
                _ => f64::INFINITY,
            };
            let begin = coming.peek().map_or(f64::INFINITY, |next| next.begin_time);
            if let Some((date, value)) = changes.next_if(|change| change.0 < end.min(begin)) {
                service += rate * (date - now);
                (now, available) = (date, value);
                left -= 1;
                if left == 0 {
                    return None;
                }
            } else if let Some(next) =
                coming.next_if(|next| next.begin_time <= end && next.begin_time.is_finite())
            {
                service += rate * (next.begin_time - now);
                now = next.begin_time;
                let last: f64 = service + next.work;
                running.push(Reverse((last.to_bits(), next.process)));
            } else if let Some(first) = first.filter(|_| end.is_finite()) {
                (now, service) = (end, first);
                while let Some(&Reverse((last, process))) = running.peek() {
                    let last = f64::from_bits(last);
                    if last > first && (last - first) / rate > SAME_TIME_TOLERANCE * now {
                        break;
                    }
                    computed[process as usize] = now;
                    running.pop();
                }
            } else {
                return None;
            }
        }
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;
    use migsim_base::units::Instructions;
    use migsim_engine::testing::single_cluster_platform;
    use migsim_engine::{NetworkModel, NextChangeTimes, Simulation};

    /// Returns the ends of executions of these works \[s\] on a host of `speed` instructions per second.
    fn ends(works: &[f64], speed: f64) -> Vec<f64> {
        let platform = single_cluster_platform(&[speed], 1e3, 0.0);
        let plan = Plan {
            work: works.iter().map(|work| Instructions::of(*work)).collect(),
            ..Plan::default()
        };
        let input = SuperstepInput {
            platform: &platform,
            plan: &plan,
            placement: &vec![HostId(0); works.len()],
            cycles_per_instruction: 1.0,
            begin_times: &[],
            engine: &Simulation::new(&platform, NetworkModel::default()),
            constant_until: NextChangeTimes {
                of_host_speeds: f64::INFINITY,
                of_link_latencies: f64::INFINITY,
                of_link_capacities: f64::INFINITY,
            },
            varying_links: &[],
            has_computation_ends: false,
        };
        let group: Vec<_> = (0..)
            .take(works.len())
            .map(|process| (HostId(0), process))
            .collect();
        let mut computed = vec![0.0; works.len()];
        let mut computations = HostComputations::default();
        let last = computations.compute_ends(&input, &group, std::iter::empty(), &mut computed);
        assert_eq!(last, computed.last().copied());
        computed
    }

    #[test]
    fn executions_on_a_host_end_apart_however_short_or_long_they_are() {
        // Half of the host each for two units of time, then the second execution alone.
        for (work, speed) in [(8.0, 1e9), (2e15, 1e9), (1.0, 1e-8)] {
            let unit = work / speed;
            let found = ends(&[work, 2.0 * work], speed);
            assert!((found[0] / unit - 2.0).abs() < 1e-12, "{found:?}");
            assert!((found[1] / unit - 3.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn executions_that_differ_by_rounding_end_together() {
        let found = ends(&[1e9, 1e9 + 1e-6], 1e9);
        assert_eq!(found, [2.0, 2.0]);
    }
}
