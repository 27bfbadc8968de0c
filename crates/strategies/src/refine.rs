//! Refinement: processes move from overloaded to underloaded hosts until the load of every host is at most θ times the average
//! load. Bisection finds the smallest θ for which this succeeds.
//!
//! The variant `ours` is migsim's own; the variant `charm-6.10.2` makes the decisions of that program.
//!
//! | variant | rule |
//! |---|---|
//! | `ours` | average = the time of all hosts for freely divisible work; each try starts from the present placement; the best state found is kept (smallest maximum load, then fewest migrations); no host beyond its memory |
//! | `charm-6.10.2` | average of raw times; the state of the *last* try is kept, which may have failed, and the second try starts from the state that the first has left (`RefineLB`) |
//!
//! In one try, the most loaded host repeatedly gives the largest process with which some less loaded host stays below
//! `θ·average`; if there is no such process, the try fails. Source: Charm++ 6.10.2, `RefineLB`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::CharmHeap;
use super::room::{TentativePlacement, with_least_key};
use super::{Assignment, Instance, Strategy, StrategyOptions, Variant, check_positive};
use migsim_base::error::Error;
use migsim_base::random::Stream;

/// Options of the strategy `refine`; the type also implements the strategy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RefineOptions {
    /// Variant of the strategy: `ours` is migsim's own, `charm-6.10.2` makes the decisions of that program.
    pub edition: RefineEdition,
    /// Smallest limit θ of the load of a host that is tried, as a multiple of the average load.
    pub start: f64,
    /// Difference between consecutive limits θ of the load that are tried, as a multiple of the average load.
    pub step: f64,
}

/// Variants of the strategy `refine`: migsim's own, or one that makes the decisions of another program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RefineEdition {
    /// Compares times of hosts, keeps the best placement found, and respects the memory of hosts.
    #[default]
    #[serde(rename = "ours")]
    Ours,
    /// Makes the same decisions as `RefineLB` in Charm++ 6.10.2.
    #[serde(rename = "charm-6.10.2")]
    Charm6,
}

impl Default for RefineOptions {
    fn default() -> Self {
        Self {
            edition: RefineEdition::Ours,
            start: 1.05,
            step: 0.01,
        }
    }
}

impl StrategyOptions for RefineOptions {
    const VARIANTS: &'static [Variant] = &[Variant::new(
        "charm-6.10.2",
        r#"{ "edition": "charm-6.10.2" }"#,
        "charm-6.10.2/RefineLB",
    )];

    fn strategy(self) -> Result<Box<dyn Strategy>, Error> {
        check_positive([("start", self.start), ("step", self.step)])?;
        Ok(Box::new(self))
    }
}

impl Strategy for RefineOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment, Error> {
        let (hosts, operations) = match self.edition {
            RefineEdition::Ours => self.assign_ours(instance),
            RefineEdition::Charm6 => self.assign_charm6(instance),
        };
        Ok(Assignment::central(hosts, operations))
    }
}

impl RefineOptions {
    /// Returns the number of steps from the option `start` to the largest limit θ that may be needed, given the maximum and the
    /// average load.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded down as in the original; what is too large or negative ends at the bounds"
    )]
    fn max_steps(&self, max: f64, average: f64) -> u64 {
        let steps = (max / average - self.start) / self.step + 1.0;
        steps.min(STEP_LIMIT) as u64
    }

    /// Returns the limit θ of the load that is `steps` steps above the option `start`, as a multiple of the average load.
    fn threshold(&self, steps: u64) -> f64 {
        self.start + self.step * steps as f64
    }

    /// Decides as the variant `charm-6.10.2` (`RefineLB`); returns the host of each process and the number of operations.
    fn assign_charm6(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let mut state = Classic::new(instance);
        let max = state.load.iter().copied().fold(0.0, f64::max);
        let mut high = self.max_steps(max, state.average);
        if !state.refine(self.start) && state.refine(self.threshold(high)) {
            let mut low = 0;
            while high.saturating_sub(low) > 1 {
                let middle = u64::midpoint(low, high);
                state.reset();
                if state.refine(self.threshold(middle)) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        (state.host_of_process, state.operations)
    }

    /// Decides as the variant `ours` (keeps the best of all tries); returns the host of each process and the number of
    /// operations.
    fn assign_ours(&self, instance: &Instance<'_>) -> (Vec<usize>, u64) {
        let average = instance.balanced_time();
        let start = Try::new(instance);
        let max = start.max_load();
        if average <= 0.0 {
            return (start.room.into_hosts(), instance.hosts() as u64);
        }
        let (mut low, mut high) = (0, self.max_steps(max, average));
        let (mut best, mut operations) = (start, 0);
        let mut attempt = |steps: u64| {
            let mut state = Try::new(instance);
            let is_reached = state.refine(self.threshold(steps) * average);
            operations += state.operations;
            if (state.max_load(), state.moves) < (best.max_load(), best.moves) {
                best = state;
            }
            is_reached
        };
        if !attempt(0) && attempt(high) {
            while high.saturating_sub(low) > 1 {
                let middle = u64::midpoint(low, high);
                if attempt(middle) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        (best.room.into_hosts(), operations)
    }
}

/// Maximum number of steps of the limit θ; a larger number would overflow an integer of the original program.
const STEP_LIMIT: f64 = 2_147_483_647.0;

/// State of a decision of the variant `charm-6.10.2`, including values that the original program wrongly keeps between two tries.
#[derive(Debug)]
struct Classic<'a> {
    instance: &'a Instance<'a>,
    times: Vec<f64>,
    background: Vec<f64>,
    average: f64,
    /// For each host, the computation time of the processes on it \[s\].
    compute: Vec<f64>,
    /// For each host, the computation time of its processes plus its background load \[s\]. For a host without processes it is
    /// the value of an earlier try.
    load: Vec<f64>,
    /// The processes of each host; the process that was added last comes first.
    processes_of_host: Vec<Vec<usize>>,
    host_of_process: Vec<usize>,
    operations: u64,
}

impl<'a> Classic<'a> {
    fn new(instance: &'a Instance<'a>) -> Self {
        let (times, background) = (instance.times(), instance.backgrounds());
        let total = times.iter().sum::<f64>() + background.iter().sum::<f64>();
        let mut state = Self {
            instance,
            average: total / background.len() as f64,
            compute: Vec::new(),
            load: background.clone(),
            processes_of_host: Vec::new(),
            host_of_process: vec![0; times.len()],
            operations: 0,
            times,
            background,
        };
        state.reset();
        state
    }

    /// Moves all processes back to the hosts that they had at the rescheduling call, in the order of their numbers. Loads of
    /// hosts that get no process are not reset.
    fn reset(&mut self) {
        self.compute = vec![0.0; self.load.len()];
        self.processes_of_host = vec![Vec::new(); self.load.len()];
        for process in 0..self.times.len() {
            self.add_process(process, self.instance.current[process]);
        }
    }

    /// Returns the time of a process if it ran on the given host \[s\]: its measured time, scaled by the ratio of the speeds of
    /// the two hosts.
    fn time_on(&self, process: usize, host: usize) -> f64 {
        let speeds = &self.instance.speeds;
        self.times[process] * (speeds[self.instance.current[process]] / speeds[host])
    }

    fn add_process(&mut self, process: usize, host: usize) {
        self.host_of_process[process] = host;
        self.processes_of_host[host].insert(0, process);
        self.compute[host] += self.time_on(process, host);
        self.load[host] = self.compute[host] + self.background[host];
    }

    fn remove_process(&mut self, process: usize, host: usize) {
        self.processes_of_host[host].retain(|&other| other != process);
        self.compute[host] -= self.time_on(process, host);
        self.load[host] = self.compute[host] + self.background[host];
    }

    /// Moves processes from heavily to lightly loaded hosts until no host has more than `threshold` times the average load;
    /// returns whether this was achieved.
    fn refine(&mut self, threshold: f64) -> bool {
        let limit = threshold * self.average;
        let mut heavy = CharmHeap::default();
        let mut light = Vec::new();
        for host in 0..self.load.len() {
            if self.load[host] > limit {
                heavy.insert(host, |a, b| self.load[a] > self.load[b]);
            } else if self.load[host] < self.average {
                light.insert(0, host);
            }
        }
        while let Some(donor) = heavy.pop(|a, b| self.load[a] > self.load[b]) {
            let Some((process, receiver)) = self.best_move(donor, &light, limit) else {
                return false;
            };
            self.remove_process(process, donor);
            self.add_process(process, receiver);
            if self.load[receiver] > self.average {
                light.retain(|&host| host != receiver);
            }
            if self.load[donor] > limit {
                heavy.insert(donor, |a, b| self.load[a] > self.load[b]);
            } else if self.load[donor] < self.average {
                light.insert(0, donor);
            }
        }
        true
    }

    /// Returns the largest process of the host `donor` that some host of `light` can take and stay below the load `limit` \[s\],
    /// with that host. In case of ties it is the first pair found; `None` if there is no such process.
    fn best_move(&mut self, donor: usize, light: &[usize], limit: f64) -> Option<(usize, usize)> {
        let (mut largest, mut best) = (0.0, None);
        for &host in light {
            for &process in &self.processes_of_host[donor] {
                let time = self.times[process];
                if self.time_on(process, host) + self.load[host] < limit && time > largest {
                    (largest, best) = (time, Some((process, host)));
                }
            }
        }
        self.operations += (light.len() * self.processes_of_host[donor].len()) as u64;
        best
    }
}

/// State of one try of the variant `ours`, which moves processes until all host loads are below a limit.
#[derive(Debug)]
struct Try<'a> {
    instance: &'a Instance<'a>,
    works: Vec<f64>,
    load: Vec<f64>,
    processes_of_host: Vec<Vec<usize>>,
    room: TentativePlacement,
    moves: usize,
    operations: u64,
}

impl<'a> Try<'a> {
    fn new(instance: &'a Instance<'a>) -> Self {
        let load = instance.host_times(&instance.current);
        Self {
            instance,
            works: instance.works(),
            load: load.iter().map(|time| time.get()).collect(),
            processes_of_host: instance.processes_by_host(),
            room: TentativePlacement::new(instance),
            moves: 0,
            operations: 0,
        }
    }

    fn max_load(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    /// Repeatedly moves the largest process that fits from the most loaded host to the host that would finish it first, until no
    /// host has a load above `limit` \[s\]. Returns whether this was achieved.
    fn refine(&mut self, limit: f64) -> bool {
        loop {
            let donor = with_least_key(0..self.load.len(), |host| -self.load[host]);
            let Some(donor) = donor.filter(|&host| self.load[host] > limit) else {
                return true;
            };
            let Some((process, receiver)) = self.best_move(donor, limit) else {
                return false;
            };
            self.processes_of_host[donor].retain(|&other| other != process);
            self.processes_of_host[receiver].push(process);
            self.load[receiver] = self.load_after(process, receiver);
            // The sum is computed from scratch, so that no rounding error of moved processes remains.
            let own = self.processes_of_host[donor]
                .iter()
                .map(|&process| self.works[process]);
            self.load[donor] = self.instance.background[donor].get()
                + own.sum::<f64>() / self.instance.speeds[donor];
            self.room.put(process, receiver);
            self.moves += 1;
        }
    }

    fn load_after(&self, process: usize, host: usize) -> f64 {
        self.load[host] + self.works[process] / self.instance.speeds[host]
    }

    /// Returns the largest process of the host `donor` that another host can take without exceeding the load `limit` \[s\], and
    /// the host where the process finishes first. In case of ties it is the process with the lowest number; `None` if there is no
    /// such process.
    fn best_move(&mut self, donor: usize, limit: f64) -> Option<(usize, usize)> {
        let mut own = self.processes_of_host[donor].clone();
        own.sort_unstable_by(|&a, &b| self.works[b].total_cmp(&self.works[a]).then(a.cmp(&b)));
        for process in own {
            let work = self.works[process];
            self.operations += self.load.len() as u64;
            let open =
                (0..self.load.len()).filter(|&host| host != donor && self.room.fits(process, host));
            let host = with_least_key(open, |host| self.load_after(process, host));
            if let Some(host) = host
                && work > 0.0
                && self.load_after(process, host) <= limit
            {
                return Some((process, host));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assigned, instance};
    use super::*;

    #[test]
    fn the_best_state_is_kept_with_as_few_moves_as_it_takes() {
        // Average 4; host 0 has 6: moving 2 makes both equal.
        let case = instance(&[1.0, 1.0], &[0, 0, 0, 1], &[3.0, 2.0, 1.0, 2.0]);
        assert_eq!(assigned(RefineOptions::default(), &case), [0, 1, 0, 1]);
        // A host of speed 3 takes 3 of 4 parts: average 8/4 = 2, and 3 is the largest that it takes within 2.1.
        let unlike = instance(&[1.0, 3.0], &[0, 0, 0, 0], &[3.0, 2.0, 2.0, 1.0]);
        let hosts = assigned(RefineOptions::default(), &unlike);
        assert_eq!(unlike.max_time(&hosts).get(), 2.0);
    }
}
