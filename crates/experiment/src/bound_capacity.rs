//! The work that hosts can do for the application up to a time, under loads and profiles that change, for the lower bound of the
//! makespan.
//!
//! ```text
//! f_h(k, t) = s_h · a_h(t) · k · min(1, c_h / (k + L_h(t)))      speed of k processes on host h, concave in k
//! S(t)      = max Σ_h f_h(k_h, t), Σ_h k_h = k  <=  λ k + Σ_h max_j ( f_h(j, t) - λ j )     for every λ >= 0
//! ```
//! A superstep that cannot begin before time b and has the work W ends at the earliest when the integral of S from b on reaches W:
//! beginning later only leaves less. The bound on the right (weak duality) costs one step per host; λ follows its best value.

use std::{cmp::Reverse, collections::BinaryHeap};

use migsim_platform::{BufferedSteps, Host};

/// Number of changes of hosts after which the largest speeds count for the rest of the run.
const MAX_EVALUATIONS: usize = 20_000_000;

/// The integral over time of the largest total speed of some processes on some hosts.
#[derive(Debug)]
pub(super) struct CapacityIntegral {
    hosts: Vec<ChangingHost>,
    processes: f64,
    /// Times of the next changes, as bits, with host and quantity.
    next_changes: BinaryHeap<Reverse<(u64, usize, usize)>>,
    multiplier: f64,
    /// Largest total speed at any time \[instructions/s\].
    peak: f64,
    evaluations_left: usize,
    /// Time \[s\], integral up to it \[instructions\], and total speed from then on \[instructions/s\].
    steps: Vec<[f64; 3]>,
}

/// A host with its available fraction of the speed and its busy cores: the present values and the changes.
#[derive(Debug)]
struct ChangingHost {
    speed: f64,
    cores: f64,
    values: [f64; 2],
    next_values: [f64; 2],
    changes: [Option<Box<dyn BufferedSteps>>; 2],
}

impl ChangingHost {
    fn speed_of(&self, processes: f64) -> f64 {
        let [available, busy] = self.values;
        let slowdown = ((processes + busy) / self.cores).max(1.0);
        self.speed * available * processes / slowdown
    }

    /// Returns the largest value of `f(j) - λ j` for any number j of processes.
    fn surplus(&self, multiplier: f64, most: f64) -> f64 {
        let [available, busy] = self.values;
        let speed = self.speed * available;
        if multiplier >= speed {
            return 0.0;
        }
        let best = (speed * self.cores * busy / multiplier.max(1e-300)).sqrt() - busy;
        let count = best.max(self.cores - busy).clamp(0.0, most);
        self.speed_of(count) - multiplier * count
    }
}

impl CapacityIntegral {
    /// Creates the integral for `processes` processes on `hosts`, whose total speed is at most `peak` \[instructions/s\].
    pub(super) fn new<'h>(
        hosts: impl Iterator<Item = &'h Host>,
        processes: usize,
        peak: f64,
    ) -> Self {
        let mut new = Self {
            hosts: hosts
                .map(|host| ChangingHost {
                    speed: host.speed.get(),
                    cores: f64::from(host.cores),
                    values: [1.0, host.busy_cores],
                    next_values: [0.0; 2],
                    changes: [host.availability_over_time(), host.busy_cores_over_time()],
                })
                .collect(),
            processes: processes as f64,
            next_changes: BinaryHeap::new(),
            multiplier: peak / processes as f64 / 2.0,
            peak,
            evaluations_left: MAX_EVALUATIONS,
            steps: Vec::new(),
        };
        for host in 0..new.hosts.len() {
            (0..2).for_each(|quantity| new.schedule(host, quantity));
        }
        new.take_changes_of(0.0);
        let speed = new.total_speed();
        new.steps.push([0.0, 0.0, speed]);
        new
    }

    fn schedule(&mut self, host: usize, quantity: usize) {
        let changing = &mut self.hosts[host];
        let steps = changing.changes[quantity].as_mut();
        if let Some((time, value)) = steps.and_then(Iterator::next) {
            changing.next_values[quantity] = value;
            self.next_changes
                .push(Reverse((time.to_bits(), host, quantity)));
        }
    }

    /// Applies all changes up to a time \[s\].
    fn take_changes_of(&mut self, time: f64) {
        while let Some(&Reverse((bits, host, quantity))) = self.next_changes.peek() {
            if f64::from_bits(bits) > time {
                return;
            }
            self.next_changes.pop();
            let changing = &mut self.hosts[host];
            changing.values[quantity] = changing.next_values[quantity];
            self.schedule(host, quantity);
        }
    }

    fn total_speed(&mut self) -> f64 {
        if let [host] = &self.hosts[..] {
            return host.speed_of(self.processes);
        }
        let bound = |multiplier: f64| {
            let surplus = self
                .hosts
                .iter()
                .map(|host| host.surplus(multiplier, self.processes));
            self.processes * multiplier + surplus.sum::<f64>()
        };
        let tried = [0.8, 1.0, 1.25].map(|factor| factor * self.multiplier);
        let bounds = tried.map(bound);
        let best = (0..3)
            .min_by(|&a, &b| bounds[a].total_cmp(&bounds[b]))
            .unwrap_or(1);
        self.multiplier = tried[best];
        bounds[best].min(self.peak)
    }

    /// Appends the next change; returns false if nothing changes any more.
    fn extend(&mut self) -> bool {
        let Some(&Reverse((bits, ..))) = self.next_changes.peek() else {
            return false;
        };
        let time = f64::from_bits(bits);
        let [since, integral, speed] = self.steps[self.steps.len() - 1];
        let integral = integral + speed * (time - since);
        if self.evaluations_left < self.hosts.len() {
            self.next_changes.clear();
            self.steps.push([time, integral, self.peak]);
            return false;
        }
        self.evaluations_left -= self.hosts.len();
        self.take_changes_of(time);
        let speed = self.total_speed();
        self.steps.push([time, integral, speed]);
        true
    }

    /// Returns the shortest time in which `work` \[instructions\] can be done from the time `begin` on \[s\]; 0 if it is never done.
    pub(super) fn duration(&mut self, begin: f64, work: f64) -> f64 {
        while self.steps[self.steps.len() - 1][0] < begin && self.extend() {}
        let at = self.steps.partition_point(|step| step[0] <= begin) - 1;
        let [since, integral, speed] = self.steps[at];
        let goal = integral + speed * (begin - since) + work;
        while self.steps[self.steps.len() - 1][1] < goal && self.extend() {}
        let at = self.steps.partition_point(|step| step[1] < goal).max(1) - 1;
        let [since, integral, speed] = self.steps[at];
        if speed <= 0.0 || work <= 0.0 {
            return 0.0;
        }
        (since + (goal - integral) / speed - begin).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_platform::Profile;

    #[test]
    fn work_ends_when_the_integral_of_the_speed_reaches_it() {
        let mut hosts = migsim_platform::open("ufrgs").unwrap().platform.hosts;
        hosts.truncate(2);
        for host in &mut hosts {
            host.cores = 2;
            let half = Profile::new(vec![(1.0, 0.5)], None).unwrap();
            host.speed_profile = Some(half);
        }
        hosts[0].busy_cores = 2.0;
        let speed = hosts[0].speed.get();
        // 2 processes beside 2 busy cores on 2 cores: half a core each, then a quarter.
        let mut one = CapacityIntegral::new(hosts[..1].iter(), 2, 2.0 * speed);
        assert_eq!(one.duration(0.0, 0.5 * speed), 0.5);
        assert_eq!(one.duration(0.5, speed), 0.5 + 1.0);
        assert_eq!(one.duration(3.0, speed), 2.0);
        // 3 processes on both hosts: 2 on the second host and one at c / (1 + L) = 2/3 on the first.
        let best = (2.0 + 2.0 / 3.0) * speed;
        let mut both = CapacityIntegral::new(hosts.iter(), 3, 3.0 * speed);
        for _ in 0..30 {
            both.total_speed();
        }
        let found = both.total_speed();
        let ratio = found / best;
        assert!((1.0 - 1e-12..1.05).contains(&ratio), "{ratio}");
    }
}
