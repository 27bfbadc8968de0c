//! Computes when computations that share a host end, in a superstep whose result is computed directly without events.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::input::SuperstepInput;
use migsim_base::units::to_u32;
use migsim_engine::SAME_TIME_TOLERANCE;
use migsim_platform::Host;

/// Maximum number of changes of a host's speed in a superstep that is computed directly. With more changes, simulation by events
/// detects sooner that the run cannot continue.
const MAX_SPEED_CHANGES: usize = 1_000_000;

/// The computation of a process on its host in one superstep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Execution {
    /// Time at which the computation starts \[s\].
    pub(super) begin_time: f64,
    /// Work of the computation \[cycles\].
    pub(super) work: f64,
    pub(super) process: u32,
}

impl Execution {
    pub(super) fn compare_by_begin(&self, other: &Self) -> Ordering {
        let order = self.begin_time.total_cmp(&other.begin_time);
        order.then(self.process.cmp(&other.process))
    }
}

/// Returns the computation of process `process` in the superstep `input`, with its begin and its work.
pub(super) fn process_execution(input: &SuperstepInput<'_>, process: u32) -> Execution {
    let at = process as usize;
    Execution {
        begin_time: input.begin_times.get(at).copied().unwrap_or(0.0),
        work: input.plan.work[at].get() * input.cycles_per_instruction,
        process,
    }
}

/// The computations in progress on a host, ordered by the service at which each computation ends. Service is the number of cycles
/// that each computation in progress has received since time 0. It is stored as the bits of a floating-point number, which sort
/// like non-negative numbers.
pub(super) type RunningComputations = BinaryHeap<Reverse<(u64, u32)>>;

/// Computes when computations on one host end while the available fraction of the host's speed changes. The computations are in
/// the order of their starts; `changes` are times \[s\] and fractions, from time 0 on. Computations share the host as in
/// [`compute_ends_on_shared_host`]. Returns whether all computations end.
pub(super) fn compute_ends_on_changing_host(
    (executions, running): (&[Execution], &mut RunningComputations),
    host: &Host,
    changes: impl Iterator<Item = (f64, f64)>,
    computed: &mut [f64],
) -> bool {
    let (speed, cores) = (host.speed.get(), f64::from(host.cores));
    let mut changes = changes.peekable();
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
                return false;
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
            return false;
        }
    }
    true
}

/// Computes when computations on one host end that all begin at time 0. The list `works` contains the work \[cycles\] and the
/// process of each computation, in increasing order of work. While n computations are in progress, each has the speed `speed ·
/// min(1, cores/n)`.
pub(super) fn compute_ends_on_shared_host(
    works: &[(f64, u32)],
    speed: f64,
    cores: f64,
    computed: &mut [f64],
) {
    let (mut now, mut service, mut at) = (0.0, 0.0, 0);
    while at < works.len() {
        let rate = speed * (cores / (works.len() - at) as f64).min(1.0);
        let first = works[at].0;
        now += (first - service) / rate;
        service = first;
        while let Some(&(work, process)) = works.get(at) {
            if work > first && (work - first) / rate > SAME_TIME_TOLERANCE * now {
                break;
            }
            computed[process as usize] = now;
            at += 1;
        }
    }
}

/// Groups of processes, such as the processes on the same host, stored one after the other in one array.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcessGroups {
    members: Vec<u32>,
    /// For each group, the index in `members` at which the group ends.
    group_ends: Vec<u32>,
}

impl ProcessGroups {
    pub(super) fn clear(&mut self) {
        self.members.clear();
        self.group_ends.clear();
    }

    /// Adds a group with these processes.
    pub(super) fn push_group(&mut self, group: impl Iterator<Item = u32>) {
        self.members.extend(group);
        self.group_ends.push(to_u32(self.members.len()));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = &self.members[..];
        let mut from = 0;
        self.group_ends.iter().map(move |&end| {
            let (group, others) = rest.split_at((end - from) as usize);
            (rest, from) = (others, end);
            group
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ends of executions of these works \[s\] on a host of `speed` instructions per second.
    fn ends(works: &[f64], speed: f64) -> Vec<f64> {
        let works: Vec<(f64, u32)> = works.iter().copied().zip(0..).collect();
        let mut computed = vec![0.0; works.len()];
        compute_ends_on_shared_host(&works, speed, 1.0, &mut computed);
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
