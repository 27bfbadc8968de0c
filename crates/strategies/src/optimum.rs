//! Bounds with which the results of all strategies are compared: a lower bound for instances of any size, the best assignment of
//! few processes, and the best schedule over few windows of supersteps.

use super::{Instance, room::TentativePlacement};

/// Returns a lower bound of the largest host time in a superstep \[s\], for any assignment of the processes of an instance.
///
/// The bound comes from the preemptive relaxation: a process may be divided, but its parts may not run on two hosts at the same
/// time. The bound T satisfies `T ≥ b_h`, and for each k the k largest works fit into the capacity of k hosts until T: `Σ_{k
/// largest} w ≤ Σ_{k best} s_h·(T − b_h)`. Here w is the work of a process, and `b_h` and `s_h` are background load and speed of
/// host h. Without background load the bound is `max(max_{k<P} Σ_{k largest} w / Σ_{k fastest} s, Σ w / Σ s)` for P hosts
/// (Q|pmtn|Cmax).
pub fn host_time_lower_bound(instance: &Instance<'_>) -> f64 {
    let mut works = instance.works_in_seconds();
    works.sort_by(|a, b| b.total_cmp(a));
    let background = instance.background_times_in_seconds();
    let busiest = background.iter().copied().fold(0.0, f64::max);
    if busiest > 0.0 {
        return host_time_lower_bound_with_background(instance, &works, &background, busiest);
    }
    let mut speeds = instance.host_speeds.clone();
    speeds.sort_by(|a, b| b.total_cmp(a));
    let mut work = 0.0;
    let mut speed = 0.0;
    let mut bound = 0.0;
    for (at, fastest) in speeds.iter().enumerate() {
        let is_last = at + 1 == speeds.len();
        let taken = works.get(at).copied().unwrap_or(0.0);
        work += taken;
        speed += fastest;
        let rest: f64 = if is_last {
            works.iter().skip(at + 1).sum()
        } else {
            0.0
        };
        bound = f64::max(bound, (work + rest) / speed);
    }
    bound
}

/// Number of bisection steps that find the lower bound with background load; it suffices for the last bit of the result.
const MAX_BISECTION_STEPS: u32 = 100;

fn host_time_lower_bound_with_background(
    instance: &Instance<'_>,
    works: &[f64],
    background: &[f64],
    busiest: f64,
) -> f64 {
    let fits = |time: f64| {
        let mut free: Vec<f64> = background
            .iter()
            .zip(&instance.host_speeds)
            .map(|(load, speed)| speed * (time - load).max(0.0))
            .collect();
        free.sort_by(|a, b| b.total_cmp(a));
        let mut work = 0.0;
        let mut room = 0.0;
        for (at, more) in free.iter().enumerate() {
            room += more;
            work += works.get(at).copied().unwrap_or(0.0);
            if work > room {
                return false;
            }
        }
        works.iter().sum::<f64>() <= room
    };
    if fits(busiest) {
        return busiest;
    }
    let slowest = instance
        .host_speeds
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    let mut low = busiest;
    let mut high = busiest + works.iter().sum::<f64>() / slowest;
    for _ in 0..MAX_BISECTION_STEPS {
        let middle = f64::midpoint(low, high);
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// Returns the smallest possible maximum host time \[s\], and an assignment that achieves it; `None` if there are more than
/// `most` possible assignments.
///
/// If several assignments achieve this time, the function returns the assignment with the fewest migrations, and among these the
/// first. No host is filled beyond its memory, unless its memory is already exceeded.
pub fn optimal_assignment(instance: &Instance<'_>, most: u64) -> Option<(f64, Vec<usize>)> {
    let present = instance.max_host_time(&instance.current_hosts).get();
    AssignmentSearch::run(instance, most, present, false)
}

/// Returns the smallest possible maximum host time \[s\] and the first assignment that achieves it; `None` if there are more than
/// `most` possible assignments. In the order of assignments, the host of process 0 varies slowest. Numbers of migrations and
/// limits of memory are ignored.
pub(super) fn first_optimal_assignment(
    instance: &Instance<'_>,
    most: u64,
) -> Option<(f64, Vec<usize>)> {
    AssignmentSearch::run(instance, most, f64::INFINITY, true)
}

#[derive(Debug)]
struct AssignmentSearch<'a> {
    instance: &'a Instance<'a>,
    process_works: Vec<f64>,
    host_loads: Vec<f64>,
    tried_host_of_process: Vec<usize>,
    /// The smallest maximum host time found so far \[s\], and the number of migrations of the assignment that achieves it.
    best_time_and_moves: (f64, usize),
    best_host_of_process: Vec<usize>,
    takes_first_optimum: bool,
}

impl<'a> AssignmentSearch<'a> {
    /// Searches for an assignment whose maximum host time is at most `time`; returns `None` if there are more than `most` possible
    /// assignments.
    fn run(
        instance: &'a Instance<'a>,
        most: u64,
        time: f64,
        takes_first_optimum: bool,
    ) -> Option<(f64, Vec<usize>)> {
        let hosts = instance.host_count() as u64;
        let count = hosts.checked_pow(u32::try_from(instance.process_count()).ok()?)?;
        let mut search = (1..=most).contains(&count).then(|| Self {
            instance,
            process_works: instance.works_in_seconds(),
            host_loads: instance.background_times_in_seconds(),
            tried_host_of_process: vec![0; instance.process_count()],
            best_time_and_moves: (time, 0),
            best_host_of_process: instance.current_hosts.clone(),
            takes_first_optimum,
        })?;
        search.try_hosts_from_process(0, 0);
        Some((search.best_time_and_moves.0, search.best_host_of_process))
    }

    fn try_hosts_from_process(&mut self, process: usize, moves: usize) {
        let Some(&work) = self.process_works.get(process) else {
            let max = self.host_loads.iter().copied().fold(0.0, f64::max);
            let is_better = (max, moves) < self.best_time_and_moves
                && (self.takes_first_optimum || self.fits_in_memory());
            if is_better {
                self.best_time_and_moves = (max, moves);
                self.best_host_of_process
                    .clone_from(&self.tried_host_of_process);
            }
            return;
        };
        for host in 0..self.host_loads.len() {
            let before = self.host_loads[host];
            self.host_loads[host] = before + work / self.instance.host_speeds[host];
            if self.host_loads[host] <= self.best_time_and_moves.0 {
                self.tried_host_of_process[process] = host;
                let is_move = usize::from(
                    !self.takes_first_optimum && host != self.instance.current_hosts[process],
                );
                self.try_hosts_from_process(process + 1, moves + is_move);
            }
            self.host_loads[host] = before;
        }
    }

    fn fits_in_memory(&self) -> bool {
        let mut room = TentativePlacement::new(self.instance);
        for (process, &host) in self.tried_host_of_process.iter().enumerate() {
            room.move_process(process, host);
        }
        self.tried_host_of_process
            .iter()
            .zip(&self.instance.current_hosts)
            .all(|(&new, &old)| new == old || !room.exceeds_memory(new))
    }
}

/// Returns the smallest total time of a schedule \[s\], and the assignment in each window. A schedule chooses one of `states`
/// assignments in each of `windows` windows of supersteps.
///
/// `V_{k−1}(x) = min_y R(x, y) + D_k(y) + V_k(y)`: `V_k(x)` is the time after window k if x is its assignment, `D_k(y)` the time
/// of window k under the assignment y (`time`), and R(x, y) the cost of changing from x to y before the window (`price`). Window
/// 0 runs under the assignment `start`. The computing time is O(windows · states²).
pub fn optimal_schedule(
    windows: usize,
    states: usize,
    start: usize,
    time: impl Fn(usize, usize) -> f64,
    price: impl Fn(usize, usize) -> f64,
) -> (f64, Vec<usize>) {
    if windows == 0 {
        return (0.0, Vec::new());
    }
    // The time after window k, by the state in it; and the next state.
    let mut after = vec![vec![0.0; states]; windows];
    let mut next = vec![vec![0; states]; windows];
    for window in (1..windows).rev() {
        for from in 0..states {
            let mut best = (f64::INFINITY, from);
            for (to, rest) in after[window].iter().enumerate() {
                let total = price(from, to) + time(window, to) + rest;
                if total < best.0 {
                    best = (total, to);
                }
            }
            (after[window - 1][from], next[window - 1][from]) = best;
        }
    }
    let mut path = vec![start];
    for window in 0..windows - 1 {
        path.push(next[window][path[window]]);
    }
    (time(0, start) + after[0][start], path)
}

#[cfg(test)]
mod tests {
    use super::{super::testing::instance_without_background, *};
    use migsim_base::units::{Bytes, Seconds};

    #[test]
    fn the_bound_is_the_longest_of_all_that_must_fit() {
        // Σw/Σs = 10/2; the largest work alone: 4/1; two largest on two hosts: 7/2.
        assert_eq!(
            host_time_lower_bound(&instance_without_background(
                &[1.0, 1.0],
                &[0, 0, 0, 0],
                &[4.0, 3.0, 2.0, 1.0]
            )),
            5.0
        );
        assert_eq!(
            host_time_lower_bound(&instance_without_background(
                &[2.0, 1.0],
                &[0, 0],
                &[9.0, 0.0]
            )),
            4.5
        );
        assert_eq!(
            host_time_lower_bound(&instance_without_background(&[1.0, 1.0], &[], &[])),
            0.0
        );
        let mut loaded = instance_without_background(&[1.0, 1.0], &[0, 0], &[2.0, 2.0]);
        loaded.background_times[0] = Seconds::of(1.0);
        // One host is available from 1 on, the other from 0: 4 + 1 = 2T.
        assert!((host_time_lower_bound(&loaded) - 2.5).abs() < 1e-12);
        loaded.background_times[0] = Seconds::of(100.0);
        assert_eq!(host_time_lower_bound(&loaded), 100.0);
    }

    #[test]
    fn the_optimum_moves_as_few_as_it_can() {
        let case = instance_without_background(&[1.0, 1.0], &[0, 0, 0, 0], &[4.0, 3.0, 2.0, 1.0]);
        assert_eq!(optimal_assignment(&case, 16), Some((5.0, vec![0, 1, 1, 0])));
        assert_eq!(optimal_assignment(&case, 15), None);
        let mut full = case.clone();
        full.process_memory = vec![Bytes::of(1.0); 4];
        full.host_memory = vec![None, Some(Bytes::of(1.0))];
        // Host 1 takes one process: the largest.
        assert_eq!(optimal_assignment(&full, 16), Some((6.0, vec![1, 0, 0, 0])));
        assert_eq!(
            optimal_assignment(&instance_without_background(&[1.0], &[], &[]), 16),
            Some((0.0, Vec::new()))
        );
    }

    #[test]
    fn the_best_schedule_is_the_least_of_all() {
        let time = |window: usize, state: usize| ((window * 5 + state * 3) % 7) as f64;
        let price = |from: usize, to: usize| if from == to { 0.0 } else { (from + to) as f64 };
        let (total, path) = optimal_schedule(4, 3, 1, time, price);
        let cost = |path: &[usize]| {
            let moves = path
                .windows(2)
                .map(|pair| price(pair[0], pair[1]))
                .sum::<f64>();
            let times = path
                .iter()
                .enumerate()
                .map(|(window, &state)| time(window, state));
            moves + times.sum::<f64>()
        };
        let mut least = f64::INFINITY;
        for code in 0..27 {
            least = least.min(cost(&[1, code % 3, code / 3 % 3, code / 9]));
        }
        assert_eq!((total, cost(&path)), (least, least));
        assert_eq!(optimal_schedule(0, 3, 1, time, price), (0.0, Vec::new()));
    }
}
